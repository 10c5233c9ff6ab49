//! The text form of core.

use super::ir::*;
use galopvm_base::{ElemType, IdVec, Scalar, ScalarOp, scalar::parse_scalar};
use galopvm_bytecode::{EntryValue, Form, FuncId, ValueType, opcode_table};
use std::fmt::Write;

/// A program as text.
pub fn print(program: &Program) -> String {
    let mut out = String::new();
    for entry in &program.entries {
        let values = |values: &[EntryValue]| {
            let items: Vec<String> =
                values.iter().map(|v| format!("{:?} {:?} {}", v.name, v.ty, v.values)).collect();
            format!("({})", items.join(", "))
        };
        let _ = writeln!(
            out,
            "entry {:?} {} {} -> {}",
            entry.name,
            entry.function,
            values(&entry.params),
            values(&entry.results)
        );
    }
    for (id, fun) in program.funs.iter_ids() {
        let types: Vec<String> = fun.results.iter().map(ValueType::to_string).collect();
        let _ = write!(
            out,
            "fun {id} {:?} {} -> ({}) ",
            fun.name,
            params(fun, &fun.body.params),
            types.join(", ")
        );
        block(&mut out, fun, &fun.body, 0);
        out.push('\n');
    }
    out
}

fn params(fun: &Fun, vars: &[Var]) -> String {
    let items: Vec<String> = vars.iter().map(|v| typed(&fun.vars, *v)).collect();
    format!("({})", items.join(", "))
}

fn typed(vars: &IdVec<Var, ValueType>, var: Var) -> String {
    match vars.get(var) {
        Some(ty) => format!("{var}: {ty}"),
        None => format!("{var}: ?"),
    }
}

fn block(out: &mut String, fun: &Fun, block_: &Block, indent: usize) {
    out.push_str("{\n");
    for stm in &block_.stms {
        pad(out, indent + 1);
        let defs: Vec<String> = stm.defs.iter().map(|v| typed(&fun.vars, *v)).collect();
        if !defs.is_empty() {
            out.push_str(&defs.join(", "));
            out.push_str(" = ");
        }
        out.push_str(if stm.sure { "sure " } else { "" });
        op(out, fun, &stm.op, indent + 1);
        out.push('\n');
    }
    pad(out, indent + 1);
    let _ = writeln!(out, "=> {}", atoms(&block_.results));
    pad(out, indent);
    out.push('}');
}

fn pad(out: &mut String, indent: usize) {
    for _ in 0..indent {
        out.push_str("  ");
    }
}

fn scalar(value: Scalar) -> String {
    let text = value.to_string();
    // A NaN with a payload has no literal.
    if parse_scalar(&text) == Some(value) { text } else { format!("bits {} {:#x}", value.ty, value.bits) }
}

fn atom(atom: &Atom) -> String {
    match atom {
        Atom::Const(value) => scalar(*value),
        Atom::Var(var) => var.to_string(),
    }
}

fn atoms(items: &[Atom]) -> String {
    let items: Vec<String> = items.iter().map(atom).collect();
    format!("({})", items.join(", "))
}

macro_rules! printing {
    ($($code:literal $variant:ident $mnemonic:literal $effect:ident
       [$($def:ident : $gives:ident),*] { $($field:ident : $role:ident),* } $doc:literal;)+) => {
        /// The mnemonic, then the fields in their order.
        fn op(out: &mut String, fun: &Fun, op: &Op, indent: usize) {
            match op {
                $(Op::$variant { $($field),* } => {
                    out.push_str($mnemonic);
                    $(
                        out.push(' ');
                        $field.print(out, (fun, indent));
                    )*
                })+
            }
        }
    };
}

opcode_table!(printing);

/// How a type of fields is written, in a function, so far from the margin.
trait Printed {
    fn print(&self, out: &mut String, place: (&Fun, usize));
}

macro_rules! printed_as {
    ($($type:ty: |$value:ident| $text:expr;)+) => {
        $(impl Printed for $type {
            fn print(&self, out: &mut String, _: (&Fun, usize)) {
                let $value = self;
                out.push_str(&$text);
            }
        })+
    };
}

printed_as! {
    Scalar: |value| scalar(*value);
    ScalarOp: |op| op.to_string();
    ElemType: |ty| ty.to_string();
    u32: |number| number.to_string();
    String: |text| format!("{text:?}");
    Form: |form| format!("{:?}", form.to_string());
    FuncId: |function| function.to_string();
    Atom: |value| atom(value);
    Var: |var| var.to_string();
    SliceDim: |dim| {
        let part = |a: &Option<Atom>| a.as_ref().map_or("_".to_string(), atom);
        match dim {
            SliceDim::At(a) => atom(a),
            SliceDim::Range(a, b, c) => format!("{}:{}:{}", part(a), part(b), part(c)),
        }
    };
}

impl<T: Printed> Printed for Vec<T> {
    fn print(&self, out: &mut String, place: (&Fun, usize)) {
        out.push('(');
        for (k, item) in self.iter().enumerate() {
            out.push_str(if k > 0 { ", " } else { "" });
            item.print(out, place);
        }
        out.push(')');
    }
}

impl Printed for Block {
    fn print(&self, out: &mut String, (fun, indent): (&Fun, usize)) {
        if !self.params.is_empty() {
            out.push_str(&params(fun, &self.params));
            out.push(' ');
        }
        block(out, fun, self, indent);
    }
}
