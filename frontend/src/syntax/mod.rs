//! Source text to syntax tree, and back to canonical source text.

pub mod ast;
mod lex;
mod parser;
mod print;
mod token;
pub mod visit;

pub use lex::lex;
pub use parser::{MAX_DEPTH, Parsed, parse_expression, parse_module_at, parse_prog, parse_scheme};
pub use print::{is_operator, print_exp, print_prog, print_type};
pub use token::{Token, TokenKind};
