//! The text form of core.

use super::ir::*;
use galopvm_base::{IdVec, Scalar, scalar::parse_scalar};
use galopvm_bytecode::{EntryValue, ValueType};
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

fn vars(items: &[Var]) -> String {
    let items: Vec<String> = items.iter().map(Var::to_string).collect();
    format!("({})", items.join(", "))
}

fn numbers(items: &[u32]) -> String {
    let items: Vec<String> = items.iter().map(u32::to_string).collect();
    format!("({})", items.join(", "))
}

fn dims(items: &[SliceDim]) -> String {
    let part = |a: &Option<Atom>| a.as_ref().map_or("_".to_string(), atom);
    let items: Vec<String> = items
        .iter()
        .map(|dim| match dim {
            SliceDim::At(a) => atom(a),
            SliceDim::Range(a, b, c) => format!("{}:{}:{}", part(a), part(b), part(c)),
        })
        .collect();
    format!("[{}]", items.join(", "))
}

fn op(out: &mut String, fun: &Fun, op: &Op, indent: usize) {
    let nested = |out: &mut String, b: &Block| {
        if b.params.is_empty() {
            out.push(' ');
        } else {
            let _ = write!(out, " {} ", params(fun, &b.params));
        }
        block(out, fun, b, indent);
    };
    match op {
        Op::Scalar(op, ty, args) => {
            let _ = write!(out, "scalar {op} {ty} {}", atoms(args));
        }
        Op::Convert(from, to, a) => {
            let _ = write!(out, "convert {from} {to} {}", atom(a));
        }
        Op::If(cond, yes, no) => {
            let _ = write!(out, "if {}", atom(cond));
            nested(out, yes);
            nested(out, no);
        }
        Op::For { bound, init, body } => {
            let _ = write!(out, "for {} {}", atom(bound), atoms(init));
            nested(out, body);
        }
        Op::While { init, cond, body } => {
            let _ = write!(out, "while {}", atoms(init));
            nested(out, cond);
            nested(out, body);
        }
        Op::Call(function, args) => {
            let _ = write!(out, "call {function} {}", atoms(args));
        }
        Op::Assert(cond, message, args) => {
            let _ = write!(out, "assert {} {message:?} {}", atom(cond), atoms(args));
        }
        Op::Fail(message, args) => {
            let _ = write!(out, "fail {message:?} {}", atoms(args));
        }
        Op::Trace { label, form, stops, values } => {
            let stops = u32::from(*stops);
            let _ = write!(out, "trace {label:?} {:?} {stops} {}", form.to_string(), atoms(values));
        }
        Op::Param(name) => {
            let _ = write!(out, "param {name:?}");
        }
        Op::Dim(v, dim) => {
            let _ = write!(out, "dim {v} {dim}");
        }
        Op::Index(v, index) => {
            let _ = write!(out, "index {v} {}", atoms(index));
        }
        Op::Slice(v, slice) => {
            let _ = write!(out, "slice {v} {}", dims(slice));
        }
        Op::Update(v, slice, value) => {
            let _ = write!(out, "update {v} {} {}", dims(slice), atom(value));
        }
        Op::Permute(v, perm) => {
            let _ = write!(out, "permute {v} {}", numbers(perm));
        }
        Op::Reverse(v, dim) => {
            let _ = write!(out, "reverse {v} {dim}");
        }
        Op::Reshape(v, shape) => {
            let _ = write!(out, "reshape {v} {}", atoms(shape));
        }
        Op::Concat(arrays, dim) => {
            let _ = write!(out, "concat {} {dim}", vars(arrays));
        }
        Op::Replicate(count, value) => {
            let _ = write!(out, "replicate {} {}", atom(count), atom(value));
        }
        Op::Iota { ty, count, start, step } => {
            let _ = write!(out, "iota {ty} {} {} {}", atom(count), atom(start), atom(step));
        }
        Op::Array(ty, rank, rows) => {
            let _ = write!(out, "array {ty} {rank} {}", atoms(rows));
        }
        Op::Copy(v) => {
            let _ = write!(out, "copy {v}");
        }
        Op::Manifest(v) => {
            let _ = write!(out, "manifest {v}");
        }
        Op::Rotate(v, dim, amount) => {
            let _ = write!(out, "rotate {v} {dim} {}", atom(amount));
        }
        Op::Equal(a, b) => {
            let _ = write!(out, "equal {a} {b}");
        }
        Op::FlatIndex { array, offset, sizes, strides } => {
            let _ = write!(out, "flat_index {array} {} {} {}", atom(offset), atoms(sizes), atoms(strides));
        }
        Op::FlatUpdate { array, offset, strides, value } => {
            let _ = write!(out, "flat_update {array} {} {} {value}", atom(offset), atoms(strides));
        }
        Op::Scatter { width, dests, index, values } => {
            let _ = write!(out, "scatter {} {} {} {}", atom(width), vars(dests), vars(index), vars(values));
        }
        Op::Hist { width, dests, neutral, index, values, op } => {
            let _ = write!(
                out,
                "hist {} {} {} {} {}",
                atom(width),
                vars(dests),
                atoms(neutral),
                vars(index),
                vars(values)
            );
            nested(out, op);
        }
        Op::Filter { width, arrays, body } => {
            let _ = write!(out, "filter {} {}", atom(width), vars(arrays));
            nested(out, body);
        }
        Op::Partition { classes, width, arrays, body } => {
            let _ = write!(out, "partition {classes} {} {}", atom(width), vars(arrays));
            nested(out, body);
        }
        Op::Stream { width, accs, arrays, body } => {
            let _ = write!(out, "stream {} {} {}", atom(width), vars(accs), vars(arrays));
            nested(out, body);
        }
        Op::AccWrite { accs, index, values, op } => {
            let _ = write!(out, "acc_write {} {} {}", vars(accs), atoms(index), atoms(values));
            nested(out, op);
        }
        Op::Map { width, arrays, body } => {
            let _ = write!(out, "map {} {}", atom(width), vars(arrays));
            nested(out, body);
        }
        Op::Reduce { width, neutral, arrays, body } => {
            let _ = write!(out, "reduce {} {} {}", atom(width), atoms(neutral), vars(arrays));
            nested(out, body);
        }
        Op::Scan { width, neutral, arrays, body } => {
            let _ = write!(out, "scan {} {} {}", atom(width), atoms(neutral), vars(arrays));
            nested(out, body);
        }
        Op::Redomap { width, neutral, arrays, map, op } => {
            let _ = write!(out, "redomap {} {} {}", atom(width), atoms(neutral), vars(arrays));
            nested(out, map);
            nested(out, op);
        }
    }
}
