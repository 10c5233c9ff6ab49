//! The syntax tree as canonical Futhark source text, which parses back to an equal tree.
//!
//! Parentheses are nodes of the tree, so no precedence is decided here; only layout and the spaces that keep
//! tokens apart.

use super::ast::*;
use std::fmt::Write;

mod modules;

/// A file as canonical source text.
pub fn print_prog(prog: &Prog) -> String {
    let mut printer = Printer { out: String::new(), indent: 0 };
    for (i, dec) in prog.decs.iter().enumerate() {
        if i > 0 {
            printer.out.push('\n');
        }
        printer.dec(dec);
        printer.out.push('\n');
    }
    printer.out
}

/// An expression as canonical source text.
pub fn print_exp(exp: &Exp) -> String {
    let mut printer = Printer { out: String::new(), indent: 0 };
    printer.exp(exp);
    printer.out
}

/// A type as canonical source text.
pub fn print_type(ty: &TypeExp) -> String {
    let mut printer = Printer { out: String::new(), indent: 0 };
    printer.type_exp(ty);
    printer.out
}

struct Printer {
    out: String,
    indent: usize,
}

impl Printer {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn line(&mut self) {
        self.out.push('\n');
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
    }

    fn deeper(&mut self, inner: impl FnOnce(&mut Self)) {
        self.indent += 1;
        inner(self);
        self.indent -= 1;
    }

    fn commas<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.put(", ");
            }
            each(self, item);
        }
    }

    fn dec(&mut self, dec: &Dec) {
        if let Some(doc) = dec.doc.0 {
            for line in doc.lines() {
                self.put(line.trim());
                self.line();
            }
        }
        for attr in dec.attrs {
            self.attr(attr);
            self.line();
        }
        match dec.kind {
            DecKind::Val(bind) => {
                self.put(if bind.keyword == ValKeyword::Entry { "entry " } else { "def " });
                self.val_bind(bind);
            }
            DecKind::Type(bind) => self.type_bind(bind),
            DecKind::Module(bind) => {
                self.put("module ");
                self.put(bind.name.text);
                for (name, sig) in bind.params {
                    self.put(" ");
                    self.mod_param(name, sig);
                }
                if let Some(sig) = bind.sig {
                    self.put(" : ");
                    self.mod_type(sig);
                }
                self.put(" = ");
                self.mod_exp(bind.def);
            }
            DecKind::ModType { name, def } => {
                self.put("module type ");
                self.put(name.text);
                self.put(" = ");
                self.mod_type(def);
            }
            DecKind::Open(module) => {
                self.put("open ");
                self.mod_exp(module);
            }
            DecKind::Import(file) => {
                let _ = write!(self.out, "import {file:?}");
            }
            DecKind::Local(inner) => {
                self.put("local ");
                self.dec(inner);
            }
        }
    }

    fn val_bind(&mut self, bind: &ValBind) {
        self.binder(bind.name.text);
        self.type_params(bind.type_params);
        for param in bind.params {
            self.put(" ");
            self.pat(param);
        }
        if let Some(ty) = bind.result {
            self.put(" : ");
            self.type_exp(ty);
        }
        self.put(" =");
        self.deeper(|p| {
            p.line();
            p.exp(bind.body);
        });
    }

    /// A name being bound; operators in parentheses.
    fn binder(&mut self, name: &str) {
        if is_operator(name) {
            let _ = write!(self.out, "({name})");
        } else {
            self.put(name);
        }
    }

    fn type_params(&mut self, params: &[TypeParam]) {
        for param in params {
            match param {
                TypeParam::Size(name) => {
                    let _ = write!(self.out, " [{}]", name.text);
                }
                TypeParam::Type(lifted, name) => {
                    let mark = match lifted {
                        Lifted::No => "",
                        Lifted::Size => "~",
                        Lifted::Full => "^",
                    };
                    let _ = write!(self.out, " '{mark}{}", name.text);
                }
            }
        }
    }

    fn type_bind(&mut self, bind: &TypeBind) {
        self.put("type");
        self.lifted(bind.lifted);
        self.put(" ");
        self.put(bind.name.text);
        self.type_params(bind.params);
        self.put(" = ");
        self.type_exp(bind.def);
    }

    fn lifted(&mut self, lifted: Lifted) {
        self.put(match lifted {
            Lifted::No => "",
            Lifted::Size => "~",
            Lifted::Full => "^",
        });
    }

    fn size(&mut self, size: &SizeExp) {
        self.put("[");
        if let Some(exp) = size.size {
            self.exp(exp);
        }
        self.put("]");
    }

    fn type_exp(&mut self, ty: &TypeExp) {
        match ty.kind {
            TypeExpKind::Var(name) => self.put(&name.text()),
            TypeExpKind::Parens(inner) => {
                self.put("(");
                self.type_exp(inner);
                self.put(")");
            }
            TypeExpKind::Tuple(items) => {
                self.put("(");
                self.commas(items, |p, t| p.type_exp(t));
                self.put(if items.len() == 1 { ",)" } else { ")" });
            }
            TypeExpKind::Record(fields) => {
                self.put("{");
                self.commas(fields, |p, (name, t)| {
                    p.put(name.text);
                    p.put(": ");
                    p.type_exp(t);
                });
                self.put("}");
            }
            TypeExpKind::Array(size, inner) => {
                self.size(&size);
                self.type_exp(inner);
            }
            TypeExpKind::Unique(inner) => {
                self.put("*");
                self.type_exp(inner);
            }
            TypeExpKind::Apply(head, arg) => {
                self.type_exp(head);
                self.put(" ");
                match arg {
                    TypeArg::Size(size) => self.size(&size),
                    TypeArg::Type(ty) => self.type_exp(ty),
                }
            }
            TypeExpKind::Arrow(name, domain, result) => {
                if let Some(name) = name {
                    self.put("(");
                    self.put(name.text);
                    self.put(": ");
                    self.type_exp(domain);
                    self.put(")");
                } else {
                    self.type_exp(domain);
                }
                self.put(" -> ");
                self.type_exp(result);
            }
            TypeExpKind::Sum(clauses) => {
                for (i, (name, payload)) in clauses.iter().enumerate() {
                    if i > 0 {
                        self.put(" | ");
                    }
                    self.put("#");
                    self.put(name.text);
                    for ty in *payload {
                        self.put(" ");
                        self.type_exp(ty);
                    }
                }
            }
            TypeExpKind::Exists(sizes, inner) => {
                self.put("?");
                for name in sizes {
                    let _ = write!(self.out, "[{}]", name.text);
                }
                self.put(".");
                self.type_exp(inner);
            }
            TypeExpKind::Error => self.put("?"),
        }
    }

    fn pat(&mut self, pat: &Pat) {
        match pat.kind {
            PatKind::Id(name) => self.binder(name),
            PatKind::Wildcard => self.put("_"),
            PatKind::Parens(inner) => {
                self.put("(");
                self.pat(inner);
                self.put(")");
            }
            PatKind::Tuple(items) => {
                self.put("(");
                self.commas(items, |p, item| p.pat(item));
                self.put(if items.len() == 1 { ",)" } else { ")" });
            }
            PatKind::Record(fields) => {
                self.put("{");
                self.commas(fields, |p, (name, field)| {
                    p.put(name.text);
                    match field.kind {
                        PatKind::Id(id) if id == name.text => {}
                        PatKind::Ascript(Pat { kind: PatKind::Id(id), .. }, ty) if *id == name.text => {
                            p.put(": ");
                            p.type_exp(ty);
                        }
                        _ => {
                            p.put(" = ");
                            p.pat(field);
                        }
                    }
                });
                self.put("}");
            }
            PatKind::Ascript(inner, ty) => {
                self.pat(inner);
                self.put(": ");
                self.type_exp(ty);
            }
            PatKind::Lit(exp) => self.exp(exp),
            PatKind::Constr(name, args) => {
                self.put("#");
                self.put(name);
                for arg in args {
                    self.put(" ");
                    self.pat(arg);
                }
            }
            PatKind::Attr(attr, inner) => {
                self.attr(&attr);
                self.put(" ");
                self.pat(inner);
            }
        }
    }

    fn attr(&mut self, attr: &Attr) {
        self.put("#[");
        self.attr_info(attr);
        self.put("]");
    }

    fn attr_info(&mut self, attr: &Attr) {
        self.put(attr.name);
        if let Some(args) = attr.args {
            self.put("(");
            self.commas(args, |p, arg| p.attr_info(arg));
            self.put(")");
        }
    }

    fn op(&mut self, op: &OpName) {
        if op.backticks {
            let _ = write!(self.out, "`{}`", op.name.text());
        } else {
            self.put(&op.name.text());
        }
    }

    fn exp(&mut self, exp: &Exp) {
        match exp.kind {
            ExpKind::Literal(scalar) => {
                // A negative literal can only have been written as a bit pattern.
                let negative = scalar.ty.is_signed() && scalar.as_i64() < 0;
                let text =
                    if negative { format!("{:#x}{}", scalar.bits, scalar.ty) } else { scalar.to_string() };
                // A float literal beyond its type's range is an infinity, which only an exponent spells.
                match text.split_once(".inf") {
                    Some((ty, _)) => {
                        let _ = write!(self.out, "1e9999{ty}");
                    }
                    None => self.put(&text),
                }
            }
            ExpKind::Number(Number::Int(value)) => {
                let _ = write!(self.out, "{value}");
            }
            ExpKind::Number(Number::Float(text)) => self.put(text),
            ExpKind::String(_, text) => self.put(text),
            ExpKind::Var(name) => self.put(&name.text()),
            ExpKind::Hole | ExpKind::Error => self.put("???"),
            ExpKind::Parens(inner) => {
                self.put("(");
                self.deeper(|p| p.exp(inner));
                self.put(")");
            }
            ExpKind::QualParens(name, inner) => {
                self.put(&name.text());
                self.put(".(");
                self.exp(inner);
                self.put(")");
            }
            ExpKind::Tuple(items) => {
                self.put("(");
                self.commas(items, |p, item| p.exp(item));
                self.put(if items.len() == 1 { ",)" } else { ")" });
            }
            ExpKind::Record(fields) => {
                self.put("{");
                self.commas(fields, |p, (name, value)| {
                    p.put(name.text);
                    if let Some(value) = value {
                        p.put(" = ");
                        p.exp(value);
                    }
                });
                self.put("}");
            }
            ExpKind::Array(items) => {
                self.put("[");
                self.commas(items, |p, item| p.exp(item));
                self.put("]");
            }
            ExpKind::Project(inner, field) => {
                self.exp(inner);
                self.put(".");
                self.put(field.text);
            }
            ExpKind::Index(inner, dims) => {
                self.exp(inner);
                self.dims(dims);
            }
            ExpKind::Apply(head, args) => {
                self.exp(head);
                for arg in args {
                    self.put(" ");
                    self.exp(arg);
                }
            }
            ExpKind::BinOp(..) => {
                let (mut first, mut rest) = (exp, Vec::new());
                while let ExpKind::BinOp(op, left, right) = &first.kind {
                    rest.push((op, right));
                    first = left;
                }
                self.exp(first);
                for (op, right) in rest.into_iter().rev() {
                    self.put(" ");
                    self.op(op);
                    self.put(" ");
                    self.exp(right);
                }
            }
            ExpKind::Negate(inner) => self.prefix("-", inner),
            ExpKind::Not(inner) => self.prefix("!", inner),
            ExpKind::Lambda(params, result, body) => {
                self.put("\\");
                for (i, param) in params.iter().enumerate() {
                    if i > 0 {
                        self.put(" ");
                    }
                    self.pat(param);
                }
                if let Some(ty) = result {
                    self.put(" : ");
                    self.type_exp(ty);
                }
                self.put(" -> ");
                self.block(body);
            }
            ExpKind::Section(op) => {
                self.put("(");
                self.op(&op);
                self.put(")");
            }
            ExpKind::SectionLeft(op, inner) => {
                self.put("(");
                self.exp(inner);
                self.put(" ");
                self.op(&op);
                self.put(")");
            }
            ExpKind::SectionRight(op, inner) => {
                self.put("(");
                self.op(&op);
                self.put(" ");
                self.exp(inner);
                self.put(")");
            }
            ExpKind::SectionPath(steps) => {
                self.put("(");
                for (i, step) in steps.iter().enumerate() {
                    match step {
                        Step::Index(dims) => {
                            self.put(if i == 0 { "." } else { "" });
                            self.dims(dims);
                        }
                        Step::Field(name) => {
                            self.put(".");
                            self.put(name.text);
                        }
                    }
                }
                self.put(")");
            }
            ExpKind::If(condition, yes, no) => {
                self.put("if ");
                self.exp(condition);
                self.put(" then ");
                self.block(yes);
                if is_block(yes) || is_block(no) {
                    self.line();
                    self.put("else ");
                } else {
                    self.put(" else ");
                }
                if matches!(no.kind, ExpKind::If(..)) { self.exp(no) } else { self.block(no) }
            }
            ExpKind::Let { .. } | ExpKind::LetFun { .. } | ExpKind::LetWith { .. } => {
                let mut body = exp;
                while let Some(next) = self.let_head(body) {
                    self.line();
                    body = next;
                }
                self.put("in ");
                self.exp(body);
            }
            ExpKind::Loop { pat, init, form, body } => {
                self.put("loop ");
                self.pat(pat);
                if let Some(init) = init {
                    self.put(" = ");
                    self.exp(init);
                }
                match form {
                    LoopForm::For(name, bound) => {
                        let _ = write!(self.out, " for {} < ", name.text);
                        self.exp(bound);
                    }
                    LoopForm::ForIn(element, array) => {
                        self.put(" for ");
                        self.pat(element);
                        self.put(" in ");
                        self.exp(array);
                    }
                    LoopForm::While(condition) => {
                        self.put(" while ");
                        self.exp(condition);
                    }
                }
                self.put(" do");
                self.deeper(|p| {
                    p.line();
                    p.exp(body);
                });
            }
            ExpKind::Match(subject, cases) => {
                self.put("match ");
                self.exp(subject);
                for (pat, value) in cases {
                    self.line();
                    self.put("case ");
                    self.pat(pat);
                    self.put(" -> ");
                    self.block(value);
                }
            }
            ExpKind::Constr(name, args) => {
                self.put("#");
                self.put(name);
                for arg in args {
                    self.put(" ");
                    self.exp(arg);
                }
            }
            ExpKind::Range { first, second, kind, last } => {
                self.exp(first);
                if let Some(second) = second {
                    self.put("..");
                    self.exp(second);
                }
                self.put(match kind {
                    RangeKind::Inclusive => "...",
                    RangeKind::Upto => "..<",
                    RangeKind::Downto => "..>",
                });
                self.exp(last);
            }
            ExpKind::Update(inner, steps, value) => {
                self.exp(inner);
                self.put(" with ");
                for (i, step) in steps.iter().enumerate() {
                    match step {
                        Step::Index(dims) => self.dims(dims),
                        Step::Field(field) => {
                            self.put(if i == 0 { "" } else { "." });
                            self.put(field.text);
                        }
                    }
                }
                self.put(" = ");
                self.exp(value);
            }
            ExpKind::Assert(condition, value) => {
                self.put("assert ");
                self.exp(condition);
                self.put(" ");
                self.exp(value);
            }
            ExpKind::Ascript(inner, ty) => {
                self.exp(inner);
                self.put(" : ");
                self.type_exp(ty);
            }
            ExpKind::Coerce(inner, ty) => {
                self.exp(inner);
                self.put(" :> ");
                self.type_exp(ty);
            }
            ExpKind::Attr(attr, inner) => {
                self.attr(&attr);
                self.put(" ");
                self.exp(inner);
            }
        }
    }

    fn prefix(&mut self, op: &str, inner: &Exp) {
        self.put(op);
        if matches!(inner.kind, ExpKind::Negate(_) | ExpKind::Not(_)) {
            self.put(" ");
        }
        self.exp(inner);
    }

    /// An expression that begins a line of its own if it takes several.
    fn block(&mut self, exp: &Exp) {
        if is_block(exp) {
            self.deeper(|p| {
                p.line();
                p.exp(exp);
            });
        } else {
            self.exp(exp);
        }
    }

    /// `let .. = ..`; its body.
    fn let_head<'e>(&mut self, exp: &'e Exp<'e>) -> Option<&'e Exp<'e>> {
        match exp.kind {
            ExpKind::Let { sizes, pat, value, body } => {
                self.put("let ");
                for name in sizes {
                    let _ = write!(self.out, "[{}] ", name.text);
                }
                self.pat(pat);
                self.put(" = ");
                self.block(value);
                Some(body)
            }
            ExpKind::LetFun { fun, body } => {
                self.put("let ");
                self.val_bind(fun);
                Some(body)
            }
            ExpKind::LetWith { name, steps, value, body, .. } => {
                self.put("let ");
                self.put(name.text);
                for step in steps {
                    match step {
                        Step::Index(dims) => self.dims(dims),
                        Step::Field(field) => {
                            self.put(".");
                            self.put(field.text);
                        }
                    }
                }
                self.put(" = ");
                self.block(value);
                Some(body)
            }
            _ => None,
        }
    }

    fn dims(&mut self, dims: &[DimIndex]) {
        self.put("[");
        self.commas(dims, |p, dim| match dim {
            DimIndex::Fix(index) => p.exp(index),
            DimIndex::Slice(from, to, step) => {
                if let Some(from) = from {
                    p.exp(from);
                }
                p.put(":");
                if let Some(to) = to {
                    p.exp(to);
                }
                if let Some(step) = step {
                    p.put(":");
                    p.exp(step);
                }
            }
        });
        self.put("]");
    }
}

/// True for names that must be written in parentheses when bound.
pub fn is_operator(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// Expressions that take several lines.
fn is_block(exp: &Exp) -> bool {
    match exp.kind {
        ExpKind::Let { .. } | ExpKind::LetFun { .. } | ExpKind::LetWith { .. } => true,
        ExpKind::Loop { .. } | ExpKind::Match(..) => true,
        ExpKind::If(_, yes, no) => is_block(yes) || is_block(no),
        _ => false,
    }
}
