//! Types and sizes as messages and reference texts show them, in Futhark's own notation.

use super::ty::{Size, SizeHead, Type, TypeArgument};
use super::vars::{Vars, set_members, type_set};
use galopvm_base::ElemType;
use std::rc::Rc;

/// How messages call a set of scalar types.
pub fn set_name(set: u16) -> String {
    let mut members = set_members(set);
    match (members.next(), members.next()) {
        (Some(only), None) => only.name().to_string(),
        _ if set & type_set(ElemType::is_int) == 0 => "a float type".into(),
        _ if set & type_set(ElemType::is_float) == 0 => "an integer type".into(),
        _ if set & type_set(|t| t == ElemType::Bool) == 0 => "a number type".into(),
        _ => "a scalar type".into(),
    }
}

fn constructors(cs: &[(Rc<str>, Rc<[Type]>)], vars: &Vars) -> String {
    let shown = cs.iter().map(|(name, payload)| {
        let payload: String = payload.iter().map(|t| format!(" {}", vars.show_argument(t))).collect();
        format!("#{name}{payload}")
    });
    shown.collect::<Vec<_>>().join(" | ")
}

impl Vars {
    /// A type as messages show it.
    pub fn show(&self, ty: &Type) -> String {
        match self.resolve_unique(ty) {
            Type::Prim(prim) => prim.name().to_string(),
            Type::Var(var) => match self.free(var) {
                Some((constraint, _)) => match (constraint.set, constraint.fields.as_slice()) {
                    (Some(set), _) => set_name(set),
                    (None, fields @ [_, ..]) => {
                        let names: Vec<String> =
                            fields.iter().map(|(n, t)| format!("{n}: {}", self.show(t))).collect();
                        format!("{{{}, ..}}", names.join(", "))
                    }
                    (None, []) if !constraint.constructors.is_empty() => {
                        format!("{} | ..", constructors(&constraint.constructors, self))
                    }
                    (None, []) => "_".into(),
                },
                None => "?".into(),
            },
            Type::Param(id) => self.names.get(&id).cloned().unwrap_or_else(|| format!("a{}", id.0)),
            Type::Opaque(id, args) => {
                let mut text = self.opaques[id].name.clone();
                for arg in args.iter() {
                    text.push(' ');
                    match arg {
                        TypeArgument::Type(t) => text.push_str(&self.show_argument(t)),
                        TypeArgument::Size(s) => text.push_str(&format!("[{}]", self.show_size(s))),
                    }
                }
                text
            }
            Type::Array(size, elem) => format!("[{}]{}", self.show_size(&size), self.show_argument(&elem)),
            Type::Record(fields) if Type::is_tuple(&fields) => {
                let items: Vec<String> = fields.iter().map(|(_, t)| self.show(t)).collect();
                format!("({})", items.join(", "))
            }
            Type::Record(fields) => {
                let items: Vec<String> =
                    fields.iter().map(|(n, t)| format!("{n}: {}", self.show(t))).collect();
                format!("{{{}}}", items.join(", "))
            }
            Type::Sum(cs) => constructors(&cs, self),
            Type::Arrow(name, from, to) => {
                let mentioned = name.filter(|id| self.mentions_name(&to, *id));
                let from = match mentioned.and_then(|id| self.names.get(&id)) {
                    Some(name) => format!("({name}: {})", self.show(&from)),
                    None => match self.resolve_unique(&from) {
                        Type::Arrow(..) | Type::Sum(_) => format!("({})", self.show(&from)),
                        _ => self.show(&from),
                    },
                };
                format!("{from} -> {}", self.show(&to))
            }
            Type::Exists(ids, inner) => {
                let names: String = ids
                    .iter()
                    .map(|id| format!("[{}]", self.names.get(id).map_or("", String::as_str)))
                    .collect();
                format!("?{names}.{}", self.show(&inner))
            }
            Type::Unique(inner) => format!("*{}", self.show(&inner)),
            Type::Error => "?".into(),
        }
    }

    /// A type in a place that needs parentheses around all but the simplest.
    fn show_argument(&self, ty: &Type) -> String {
        match self.resolve_unique(ty) {
            Type::Arrow(..) | Type::Sum(_) | Type::Exists(..) => format!("({})", self.show(ty)),
            Type::Opaque(_, args) if !args.is_empty() => format!("({})", self.show(ty)),
            _ => self.show(ty),
        }
    }

    /// A size as types show it; unknown ones are empty.
    pub fn show_size(&self, size: &Size) -> String {
        match self.resolve_size(size) {
            Size::Any => String::new(),
            Size::Var(var) => match self.free_size(var) {
                Some((origin, _)) => origin.name.clone().unwrap_or_default(),
                None => String::new(),
            },
            Size::Const(n) => n.to_string(),
            Size::Name(id) => self.names.get(&id).cloned().unwrap_or_default(),
            Size::Exp(exp) => {
                let part = |i: usize| {
                    let Some(arg) = exp.args.get(i) else { return String::new() };
                    let arg = self.resolve_size(arg);
                    match (self.show_size(&arg), &arg) {
                        (text, _) if text.is_empty() => "_".into(),
                        (text, Size::Exp(inner)) if needs_parens(&exp.head, &inner.head) => {
                            format!("({text})")
                        }
                        (text, _) => text,
                    }
                };
                let all =
                    |from: usize, by: &str| (from..exp.args.len()).map(part).collect::<Vec<_>>().join(by);
                match &exp.head {
                    SizeHead::Operator(op) => format!("{} {op} {}", part(0), part(1)),
                    SizeHead::Global(_, _, name) => name.to_string(),
                    SizeHead::Apply => all(0, " "),
                    SizeHead::Field(name) => format!("{}.{name}", part(0)),
                    SizeHead::Index => format!("{}[{}]", part(0), all(1, ", ")),
                    SizeHead::Literal(scalar) => scalar.to_string(),
                    SizeHead::Tuple => format!("({})", all(0, ", ")),
                    SizeHead::Record(names) => {
                        let fields: Vec<String> =
                            names.iter().enumerate().map(|(i, n)| format!("{n} = {}", part(i))).collect();
                        format!("{{{}}}", fields.join(", "))
                    }
                    SizeHead::Array => format!("[{}]", all(0, ", ")),
                    SizeHead::If => format!("if {} then {} else {}", part(0), part(1), part(2)),
                    SizeHead::Negate => format!("-{}", part(0)),
                    SizeHead::Not => format!("!{}", part(0)),
                }
            }
        }
    }
}

fn needs_parens(outer: &SizeHead, inner: &SizeHead) -> bool {
    let strength = |op: &str| match op {
        "*" | "/" | "%" | "//" | "%%" => 2,
        "+" | "-" => 1,
        _ => 0,
    };
    match (outer, inner) {
        (SizeHead::Operator(o), SizeHead::Operator(i)) => strength(o) > strength(i),
        (SizeHead::Tuple | SizeHead::Record(_) | SizeHead::Array | SizeHead::Index, _) => false,
        (_, SizeHead::Operator(_) | SizeHead::Apply | SizeHead::If | SizeHead::Negate | SizeHead::Not) => {
            true
        }
        _ => false,
    }
}
