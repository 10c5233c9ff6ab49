//! Shader to GLSL text.
//!
//! Spells out what `crate::shader` says and decides nothing. Float values are declared `precise`, which forbids
//! contraction.

use crate::shader::{BinOp, Builtin, Op, Shader, Stm, Ty, UnOp, Val, Width};
use std::fmt::Write;

/// The GLSL text of a shader.
pub fn text(shader: &Shader) -> String {
    let mut p = Printer { shader, out: String::new(), depth: 1 };
    p.head();
    p.out.push_str("void main() {\n");
    for (cell, ty) in shader.cells.iter_ids() {
        p.line(&format!("{} {cell};", name(*ty)));
    }
    p.block(&shader.body);
    p.out.push_str("}\n");
    p.out
}

fn name(ty: Ty) -> &'static str {
    match ty {
        Ty::Bool => "bool",
        Ty::B32 => "uint",
        Ty::B64 => "uint64_t",
        Ty::F32 => "float",
        Ty::F64 => "double",
    }
}

fn signed(ty: Ty) -> &'static str {
    if ty == Ty::B64 { "int64_t" } else { "int" }
}

fn stored(width: Width) -> &'static str {
    match width {
        Width::W8 => "uint8_t",
        Width::W16 => "uint16_t",
        Width::W32 => "uint",
        Width::W64 => "uint64_t",
    }
}

struct Printer<'a> {
    shader: &'a Shader,
    out: String,
    depth: usize,
}

impl Printer<'_> {
    fn head(&mut self) {
        let s = self.shader;
        self.out.push_str("#version 450\n");
        for (used, extension) in [
            (s.uses(Ty::B64) || s.stores(Width::W64), "GL_EXT_shader_explicit_arithmetic_types_int64"),
            (s.stores(Width::W8), "GL_EXT_shader_8bit_storage"),
            (s.stores(Width::W16), "GL_EXT_shader_16bit_storage"),
        ] {
            if used {
                let _ = writeln!(self.out, "#extension {extension} : require");
            }
        }
        let _ = writeln!(self.out, "layout(local_size_x = {}) in;", s.group_size);
        for (binding, decl) in s.buffers.iter_ids() {
            let access = if decl.written { "" } else { "readonly " };
            let _ = writeln!(
                self.out,
                "layout(std430, set = 0, binding = {}) {access}buffer B{} {{ {} data[]; }} {binding};",
                binding.0,
                binding.0,
                stored(decl.width),
            );
        }
        for (id, (ty, len)) in s.shared.iter_ids() {
            let _ = writeln!(self.out, "shared {} {id}[{len}];", name(*ty));
        }
    }

    fn line(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn block(&mut self, stms: &[Stm]) {
        for stm in stms {
            self.stm(stm);
        }
    }

    fn inside(&mut self, stms: &[Stm]) {
        self.depth += 1;
        self.block(stms);
        self.depth -= 1;
    }

    /// A value in an expression: its name, or the constant it is.
    fn val(&self, val: Val) -> String {
        let Ok(at) = self.shader.consts.binary_search_by_key(&val, |(v, _)| *v) else {
            return val.to_string();
        };
        constant(self.shader.vals[val], self.shader.consts[at].1)
    }

    fn stm(&mut self, stm: &Stm) {
        match stm {
            Stm::Let(val, op) => {
                let ty = self.shader.vals[*val];
                let precise = if matches!(ty, Ty::F32 | Ty::F64) { "precise " } else { "" };
                let text = format!("{precise}{} {val} = {};", name(ty), self.op(op));
                self.line(&text);
            }
            Stm::Set(cell, value) => {
                let text = format!("{cell} = {};", self.val(*value));
                self.line(&text);
            }
            Stm::Store(buffer, index, value) => {
                let width = self.shader.buffers[*buffer].width;
                let value = match width {
                    Width::W8 | Width::W16 => format!("{}({})", stored(width), self.val(*value)),
                    Width::W32 | Width::W64 => self.val(*value),
                };
                let text = format!("{buffer}.data[{}] = {value};", self.val(*index));
                self.line(&text);
            }
            Stm::SetShared(array, index, value) => {
                let text = format!("{array}[{}] = {};", self.val(*index), self.val(*value));
                self.line(&text);
            }
            Stm::Raise(flag) => self.line(&format!("atomicOr({flag}.data[0], 1u);")),
            Stm::Barrier => self.line("barrier();"),
            Stm::If(cond, then, otherwise) => {
                let text = format!("if ({}) {{", self.val(*cond));
                self.line(&text);
                self.inside(then);
                if !otherwise.is_empty() {
                    self.line("} else {");
                    self.inside(otherwise);
                }
                self.line("}");
            }
            Stm::While(before, cond, body) => {
                self.line("while (true) {");
                self.inside(before);
                let text = format!("  if (!{}) break;", self.val(*cond));
                self.line(&text);
                self.inside(body);
                self.line("}");
            }
        }
    }

    fn op(&self, op: &Op) -> String {
        match op {
            Op::Un(op, a) => self.unary(*op, *a),
            Op::Bin(op, a, b) => self.binary(*op, *a, *b),
            Op::Select(a, b, c) => format!("{} ? {} : {}", self.val(*a), self.val(*b), self.val(*c)),
            Op::Load(buffer, index) => {
                let place = format!("{buffer}.data[{}]", self.val(*index));
                match self.shader.buffers[*buffer].width {
                    Width::W8 | Width::W16 => format!("uint({place})"),
                    Width::W32 | Width::W64 => place,
                }
            }
            Op::Get(cell) => cell.to_string(),
            Op::GetShared(array, index) => format!("{array}[{}]", self.val(*index)),
            Op::Builtin(Builtin::Local) => "gl_LocalInvocationIndex".into(),
            Op::Builtin(Builtin::GroupX) => "gl_WorkGroupID.x".into(),
            Op::Builtin(Builtin::GroupY) => "gl_WorkGroupID.y".into(),
            Op::Builtin(Builtin::GroupsX) => "gl_NumWorkGroups.x".into(),
        }
    }

    fn unary(&self, op: UnOp, a: Val) -> String {
        let from = self.shader.vals[a];
        let a = self.val(a);
        match op {
            UnOp::Not => format!("!{a}"),
            UnOp::Flip => format!("~{a}"),
            UnOp::FNeg => format!("-{a}"),
            UnOp::FAbs => format!("abs({a})"),
            UnOp::Floor => format!("floor({a})"),
            UnOp::Ceil => format!("ceil({a})"),
            UnOp::Trunc => format!("trunc({a})"),
            UnOp::RoundEven => format!("roundEven({a})"),
            UnOp::Sqrt => format!("sqrt({a})"),
            UnOp::FromSigned(to) => format!("{}({}({a}))", name(to), signed(from)),
            UnOp::FromUnsigned(to) | UnOp::Float(to) | UnOp::ToUnsigned(to) => format!("{}({a})", name(to)),
            UnOp::ToSigned(to) => format!("{}({}({a}))", name(to), signed(to)),
            UnOp::ZeroExtend => format!("uint64_t({a})"),
            UnOp::Narrow => format!("uint({a})"),
            UnOp::BitsOf if from == Ty::F64 => format!("doubleBitsToUint64({a})"),
            UnOp::BitsOf => format!("floatBitsToUint({a})"),
            UnOp::OfBits if from == Ty::B64 => format!("uint64BitsToDouble({a})"),
            UnOp::OfBits => format!("uintBitsToFloat({a})"),
            UnOp::BitCount => format!("uint(bitCount({a}))"),
            UnOp::HighBit => format!("uint(findMSB({a}))"),
            UnOp::LowBit => format!("uint(findLSB({a}))"),
        }
    }

    fn binary(&self, op: BinOp, a: Val, b: Val) -> String {
        let ty = self.shader.vals[a];
        let (a, b) = (self.val(a), self.val(b));
        let (plain, sign) = (name(ty), signed(ty));
        let infix = match op {
            BinOp::SDiv => return format!("{plain}({sign}({a}) / {sign}({b}))"),
            BinOp::ShrS => return format!("{plain}({sign}({a}) >> {sign}({b}))"),
            BinOp::Slt => return format!("{sign}({a}) < {sign}({b})"),
            BinOp::Sle => return format!("{sign}({a}) <= {sign}({b})"),
            BinOp::Add | BinOp::FAdd => "+",
            BinOp::Sub | BinOp::FSub => "-",
            BinOp::Mul | BinOp::FMul => "*",
            BinOp::UDiv | BinOp::FDiv => "/",
            BinOp::URem => "%",
            BinOp::And => "&",
            BinOp::Or => "|",
            BinOp::Xor => "^",
            BinOp::Shl => "<<",
            BinOp::ShrU => ">>",
            BinOp::Eq | BinOp::FEq => "==",
            BinOp::Ne => "!=",
            BinOp::Ult | BinOp::FLt => "<",
            BinOp::Ule | BinOp::FLe => "<=",
            BinOp::LAnd => "&&",
            BinOp::LOr => "||",
            BinOp::LXor => "^^",
        };
        format!("{a} {infix} {b}")
    }
}

fn constant(ty: Ty, bits: u64) -> String {
    match ty {
        Ty::Bool => (bits != 0).to_string(),
        Ty::B32 => format!("{}u", bits as u32),
        Ty::B64 => format!("{bits}ul"),
        Ty::F32 => format!("uintBitsToFloat({}u)", bits as u32),
        Ty::F64 => format!("uint64BitsToDouble({bits}ul)"),
    }
}
