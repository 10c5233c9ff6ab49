//! Types of the built-in operators and of the members of scalar modules.

use super::vars::{Constraint, type_set};
use super::{Checker, Type};
use galopvm_base::{ElemType, ScalarOp, Span};
use galopvm_stdlib::Member;

impl Checker<'_, '_, '_> {
    /// The operand types an operator of the language accepts, if it is overloaded.
    pub(super) fn operand_set(op: &str) -> Option<u16> {
        Some(match op {
            "+" | "-" | "*" | "/" | "%" | "**" => type_set(|t| t != ElemType::Bool),
            "//" | "%%" | "&" | "|" | "^" | "<<" | ">>" | ">>>" => type_set(ElemType::is_int),
            "<" | "<=" | ">" | ">=" => type_set(|_| true),
            _ => return None,
        })
    }

    /// True for operators whose result is a truth value.
    pub(super) fn compares(op: &str) -> bool {
        matches!(op, "==" | "!=" | "<" | "<=" | ">" | ">=")
    }

    /// An operator as a function, for sections and arguments.
    pub(super) fn operator_type(&mut self, op: &str, span: Span) -> Type {
        if let Some(set) = Self::operand_set(op) {
            let operand = self.vars.one_of(set, span);
            let result = if Self::compares(op) { Type::BOOL } else { operand.clone() };
            return Type::arrow(operand.clone(), Type::arrow(operand, result));
        }
        match op {
            "==" | "!=" => {
                let equality = Constraint { equality: true, ..Constraint::default() };
                let operand = self.vars.constrained(equality, span);
                Type::arrow(operand.clone(), Type::arrow(operand, Type::BOOL))
            }
            "&&" | "||" => Type::arrow(Type::BOOL, Type::arrow(Type::BOOL, Type::BOOL)),
            "!" => {
                let operand = self.vars.one_of(logic(), span);
                Type::arrow(operand.clone(), operand)
            }
            "|>" | "<|" => {
                let (from, to) = (self.vars.fresh(span), self.vars.fresh(span));
                let function = Type::arrow(from.clone(), to.clone());
                if op == "|>" {
                    Type::arrow(from, Type::arrow(function, to))
                } else {
                    Type::arrow(function, Type::arrow(from, to))
                }
            }
            _ => Type::Error,
        }
    }

    /// The type of a member of a scalar module.
    pub(super) fn member_type(&mut self, ty: ElemType, member: Member) -> Type {
        match member {
            Member::Const(scalar) => Type::Prim(scalar.ty),
            Member::From(from) => Type::arrow(Type::Prim(from), Type::Prim(ty)),
            Member::To(to) => Type::arrow(Type::Prim(ty), Type::Prim(to)),
            Member::Op(op) => {
                let operands = (0..op.arity()).rev().map(|i| operand_type(op, i, ty));
                operands.fold(Type::Prim(op.result_type(ty)), |to, from| Type::arrow(from, to))
            }
        }
    }
}

fn operand_type(op: ScalarOp, index: usize, ty: ElemType) -> Type {
    Type::Prim(op.operand_type(index, ty))
}

/// What `!` accepts.
pub(super) fn logic() -> u16 {
    type_set(|t| t.is_int() || t == ElemType::Bool)
}
