//! Writing regions: one statement per line, two blanks per body, no redundant parentheses.

use super::expression::{infix_level, level};
use crate::ir::*;
use crate::types::elem_of;
use galopvm_base::{ElemType, Scalar, ScalarOp};
use std::fmt::Write;

/// A region with its header; parses back to the same region if its ids are in text order
/// ([`Region::renumbered`]).
pub fn print_region(region: &Region) -> String {
    let mut printer = Printer::new(region);
    printer.out.push_str("region ");
    if !region.name.is_empty() {
        let _ = write!(printer.out, "{} ", region.name);
    }
    printer.out.push('(');
    printer.typed_names(&region.params);
    printer.out.push_str(")\n");
    printer.statements(&region.body, 0);
    if !region.body.results.is_empty() {
        printer.results(&region.body, 0);
    }
    printer.out
}

/// The statements of a region without the header, as case files have them.
pub fn print_statements(region: &Region) -> String {
    let mut printer = Printer::new(region);
    printer.statements(&region.body, 0);
    if !region.body.results.is_empty() {
        printer.results(&region.body, 0);
    }
    printer.out
}

/// An expression of a region.
pub fn print_exp(region: &Region, exp: &Exp) -> String {
    let mut printer = Printer::new(region);
    printer.exp(exp, level::OR, Style::Spaced);
    printer.out
}

/// An expression of a region without blanks, as it stands in an index.
pub fn print_index_exp(region: &Region, exp: &Exp) -> String {
    let mut printer = Printer::new(region);
    printer.exp(exp, level::OR, Style::Tight);
    printer.out
}

/// A type, `[n][m]f32`.
pub fn print_type(region: &Region, ty: &Type) -> String {
    let mut printer = Printer::new(region);
    printer.ty(ty);
    printer.out
}

/// Blanks around infix signs: in statements, not in indices.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    Spaced,
    Tight,
}

struct Printer<'a> {
    region: &'a Region,
    out: String,
}

impl Printer<'_> {
    fn new(region: &Region) -> Printer<'_> {
        Printer { region, out: String::new() }
    }

    fn line(&mut self, indent: usize) {
        for _ in 0..indent {
            self.out.push_str("  ");
        }
    }

    fn name(&mut self, var: VarId) {
        match self.region.vars.get(var) {
            Some(known) => self.out.push_str(&known.name),
            None => self.out.push_str(&var.to_string()),
        }
    }

    fn separated<T>(&mut self, items: &[T], separator: &str, mut show: impl FnMut(&mut Self, &T)) {
        for (k, item) in items.iter().enumerate() {
            if k > 0 {
                self.out.push_str(separator);
            }
            show(self, item);
        }
    }

    fn typed_name(&mut self, var: VarId) {
        self.name(var);
        if let Some(ty) = self.region.vars.get(var).and_then(|v| v.ty.as_ref()) {
            self.out.push_str(" : ");
            self.ty(ty);
        }
    }

    fn typed_names(&mut self, vars: &[VarId]) {
        self.separated(vars, ", ", |p, var| p.typed_name(*var));
    }

    fn ty(&mut self, ty: &Type) {
        self.extents(&ty.shape);
        self.out.push_str(ty.elem.name());
    }

    fn extents(&mut self, extents: &[Exp]) {
        for extent in extents {
            self.out.push('[');
            self.exp(extent, level::OR, Style::Tight);
            self.out.push(']');
        }
    }

    fn statements(&mut self, body: &Body, indent: usize) {
        for stm in &body.stms {
            self.line(indent);
            self.out.push_str("let ");
            self.pattern(&stm.pat);
            self.out.push_str(" =");
            self.rhs(&stm.rhs, indent);
        }
    }

    fn pattern(&mut self, pat: &[VarId]) {
        match pat {
            [var] => self.typed_name(*var),
            _ => {
                self.out.push('(');
                self.typed_names(pat);
                self.out.push(')');
            }
        }
    }

    fn values(&mut self, values: &[Exp]) {
        match values {
            [value] => self.exp(value, level::OR, Style::Spaced),
            _ => {
                self.out.push('(');
                self.separated(values, ", ", |p, value| p.exp(value, level::OR, Style::Spaced));
                self.out.push(')');
            }
        }
    }

    fn results(&mut self, body: &Body, indent: usize) {
        self.line(indent);
        self.out.push_str("in ");
        self.values(&body.results);
        self.out.push('\n');
    }

    fn body(&mut self, body: &Body, indent: usize) {
        self.statements(body, indent);
        self.results(body, indent);
    }

    fn axes(&mut self, axes: &[Axis]) {
        self.separated(axes, ", ", |p, axis| {
            p.name(axis.var);
            p.out.push_str(" < ");
            p.exp(&axis.bound, level::ADD, Style::Spaced);
        });
    }

    fn combine(&mut self, combine: &Combine, indent: usize) {
        self.line(indent);
        self.out.push_str("by (");
        for (k, (var, neutral)) in combine.acc.iter().zip(&combine.neutral).enumerate() {
            if k > 0 {
                self.out.push_str(", ");
            }
            self.typed_name(*var);
            self.out.push_str(" = ");
            self.exp(neutral, level::OR, Style::Spaced);
        }
        self.out.push_str(") (");
        self.typed_names(&combine.item);
        self.out.push_str(") do\n");
        self.body(&combine.body, indent + 1);
    }

    /// The right side after ` =`, with its line ends.
    fn rhs(&mut self, rhs: &Rhs, indent: usize) {
        let inner = indent + 1;
        match rhs {
            Rhs::Exps(_) | Rhs::Update { .. } | Rhs::Manifest { .. } | Rhs::Array { .. } => {
                self.out.push(' ')
            }
            Rhs::Kernel { .. }
            | Rhs::Reduce { .. }
            | Rhs::Scan { .. }
            | Rhs::Scatter { .. }
            | Rhs::For { .. }
            | Rhs::While { .. }
            | Rhs::If { .. } => {
                self.out.push('\n');
                self.line(inner);
            }
        }
        match rhs {
            Rhs::Exps(exps) => {
                self.values(exps);
                self.out.push('\n');
            }
            Rhs::Kernel { axes, body } => {
                self.out.push_str("kernel ");
                self.axes(axes);
                self.out.push_str(" do\n");
                self.body(body, inner + 1);
            }
            Rhs::Reduce { axes, body, combine } => {
                self.out.push_str("red ");
                self.axes(axes);
                self.out.push_str(" do\n");
                self.body(body, inner + 1);
                self.combine(combine, inner);
            }
            Rhs::Scan { axis, body, combine } => {
                self.out.push_str("scan ");
                self.axes(std::slice::from_ref(axis));
                self.out.push_str(" do\n");
                self.body(body, inner + 1);
                self.combine(combine, inner);
            }
            Rhs::For { carried, init, axis, body } => {
                self.out.push_str("loop ");
                if !carried.is_empty() || !init.is_empty() {
                    self.pattern(carried);
                    self.out.push_str(" = ");
                    self.values(init);
                    self.out.push_str(" for ");
                }
                self.axes(std::slice::from_ref(axis));
                self.out.push_str(" do\n");
                self.body(body, inner + 1);
            }
            Rhs::While { carried, init, cond, body } => {
                self.out.push_str("loop ");
                self.pattern(carried);
                self.out.push_str(" = ");
                self.values(init);
                self.out.push_str(" while ");
                self.exp(cond, level::OR, Style::Spaced);
                self.out.push_str(" do\n");
                self.body(body, inner + 1);
            }
            Rhs::If { cond, then, otherwise } => {
                self.out.push_str("if ");
                self.exp(cond, level::OR, Style::Spaced);
                self.out.push_str(" then\n");
                self.body(then, inner + 1);
                self.line(inner);
                self.out.push_str("else\n");
                self.body(otherwise, inner + 1);
            }
            Rhs::Update { array, index, value } => {
                self.name(*array);
                self.out.push_str(" with ");
                self.index(index);
                self.out.push_str(" = ");
                self.exp(value, level::OR, Style::Spaced);
                self.out.push('\n');
            }
            Rhs::Manifest { perm, array } => {
                self.out.push_str("manifest(");
                self.perm(perm);
                self.out.push_str(", ");
                self.name(*array);
                self.out.push_str(")\n");
            }
            Rhs::Scatter { arrays, axes, body, combine } => {
                self.out.push_str(if combine.is_some() { "hist " } else { "scatter " });
                match arrays.as_slice() {
                    [array] => self.name(*array),
                    _ => {
                        self.out.push('(');
                        self.separated(arrays, ", ", |p, array| p.name(*array));
                        self.out.push(')');
                    }
                }
                self.out.push(' ');
                self.axes(axes);
                self.out.push_str(" do\n");
                self.body(body, inner + 1);
                if let Some(combine) = combine {
                    self.combine(combine, inner);
                }
            }
            Rhs::Array(op) => {
                self.array_op(op);
                self.out.push('\n');
            }
        }
    }

    fn array_op(&mut self, op: &ArrayOp) {
        self.out.push_str(op.word());
        self.out.push(' ');
        match op {
            ArrayOp::Concat { .. } | ArrayOp::Copy(_) => {}
            ArrayOp::Scratch { shape, elem } => {
                self.extents(shape);
                self.out.push(' ');
                self.out.push_str(elem.name());
                return;
            }
            ArrayOp::Iota(extent) => return self.extents(std::slice::from_ref(extent)),
            ArrayOp::Call { function, args, shape } => {
                self.call(function, args, Style::Spaced);
                self.out.push(' ');
                return self.extents(shape);
            }
            ArrayOp::Replicate { shape, .. } => {
                self.extents(shape);
                self.out.push(' ');
            }
            ArrayOp::View { change, .. } => match change {
                ViewChange::Rearrange(perm) => {
                    self.perm(perm);
                    self.out.push(' ');
                }
                ViewChange::Reshape(shape) => {
                    self.extents(shape);
                    self.out.push(' ');
                }
                ViewChange::Transpose | ViewChange::Reverse | ViewChange::Flatten => {}
            },
            ArrayOp::Reduce { op, .. } => {
                self.out.push_str(op.info().infix.unwrap_or(op.name()));
                self.out.push(' ');
            }
        }
        let mut first = true;
        op.each_operand(&mut |operand| {
            if !std::mem::take(&mut first) {
                self.out.push(' ');
            }
            self.exp(operand, level::ATOM, Style::Spaced);
        });
    }

    fn perm(&mut self, perm: &[usize]) {
        self.out.push('(');
        self.separated(perm, ",", |p, dim| p.out.push_str(&dim.to_string()));
        self.out.push(')');
    }

    fn constant(&mut self, value: Scalar) {
        if value.ty == ElemType::I64 {
            self.out.push_str(&value.plain());
        } else {
            let _ = write!(self.out, "{value}");
        }
    }

    /// The sign of an operation between its operands, if it has one.
    fn infix(&self, op: ScalarOp, args: &[Exp]) -> Option<&'static str> {
        // Where the type is not known yet, the logical spelling: texts by hand know no bitwise operations.
        let logical = || {
            args.iter().find_map(|arg| elem_of(&self.region.vars, arg)).is_none_or(|ty| ty == ElemType::Bool)
        };
        match op {
            ScalarOp::And if logical() => Some("&&"),
            ScalarOp::Or if logical() => Some("||"),
            _ if args.len() == 2 => op.info().infix,
            _ => None,
        }
    }

    /// An expression where signs must bind at least as tightly as `least`.
    fn exp(&mut self, exp: &Exp, least: u8, style: Style) {
        match exp {
            Exp::Const(value) => self.constant(*value),
            Exp::Var(var) => self.name(*var),
            Exp::Op(op, _, args) => self.op(*op, args, least, style),
            Exp::Convert(ty, arg) => {
                let _ = write!(self.out, "to_{ty}(");
                self.exp(arg, level::OR, style);
                self.out.push(')');
            }
            Exp::Read(read) => {
                self.name(read.array);
                self.index(&read.index);
            }
            Exp::Opaque(name, args) => self.call(name, args, style),
        }
    }

    fn call(&mut self, name: &str, args: &[Exp], style: Style) {
        self.out.push_str(name);
        self.out.push('(');
        self.separated(args, ", ", |p, arg| p.exp(arg, level::OR, style));
        self.out.push(')');
    }

    fn op(&mut self, op: ScalarOp, args: &[Exp], least: u8, style: Style) {
        if let (Some(sign), [left, right]) = (self.infix(op, args), args) {
            let binds = infix_level(sign).unwrap_or(level::OR);
            if binds < least {
                self.out.push('(');
            }
            // Comparisons do not chain, so neither side may be one.
            let left_least = if binds == level::COMPARE { binds + 1 } else { binds };
            self.exp(left, left_least, style);
            let blank = if style == Style::Spaced { " " } else { "" };
            let _ = write!(self.out, "{blank}{sign}{blank}");
            self.right_operand(right, binds + 1, style);
            if binds < least {
                self.out.push(')');
            }
            return;
        }
        let sign = match (op, args) {
            // `-1` is a constant, so the negation of a constant needs its word.
            (ScalarOp::Neg, [Exp::Const(_)]) => None,
            (ScalarOp::Neg, [_]) => Some("-"),
            (ScalarOp::Not, [arg]) if self.region.exp_type(arg).is_none_or(|ty| ty == ElemType::Bool) => {
                Some("!")
            }
            _ => None,
        };
        match (sign, args) {
            (Some(sign), [arg]) => {
                self.out.push_str(sign);
                self.right_operand(arg, level::ATOM, style);
            }
            _ => self.call(op.name(), args, style),
        }
    }

    /// An operand after a sign; `--` would start a comment.
    fn right_operand(&mut self, exp: &Exp, least: u8, style: Style) {
        let start = self.out.len();
        self.exp(exp, least, style);
        if self.out[start..].starts_with('-') && self.out[..start].ends_with('-') {
            self.out.insert(start, '(');
            self.out.push(')');
        }
    }

    fn index(&mut self, index: &Index) {
        match index {
            Index::Dims(dims) => {
                self.out.push('[');
                self.separated(dims, ", ", |p, dim| match dim {
                    DimIndex::At(at) => p.exp(at, level::OR, Style::Tight),
                    DimIndex::Slice { start, count, step } => {
                        p.exp(start, level::OR, Style::Tight);
                        p.out.push_str(" :+ ");
                        p.exp(count, level::ATOM, Style::Tight);
                        p.out.push_str(" * ");
                        p.exp(step, level::ATOM, Style::Tight);
                    }
                });
                self.out.push(']');
            }
            Index::Lmad { offset, dims } => {
                self.out.push_str("[[");
                self.exp(offset, level::ADD, Style::Tight);
                self.out.push_str(" + {");
                self.separated(dims, ",", |p, (extent, stride)| {
                    p.out.push('(');
                    p.exp(extent, level::OR, Style::Tight);
                    p.out.push(':');
                    p.exp(stride, level::OR, Style::Tight);
                    p.out.push(')');
                });
                self.out.push_str("}]]");
            }
        }
    }
}
