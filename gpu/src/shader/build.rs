//! Writing a shader: typed helpers that fold the trivial cases and keep the blocks open while they grow.

use super::{BinOp, Binding, BufferDecl, Builtin, Cell, Op, Shader, Shared, Stm, Ty, UnOp, Val, Width};
use crate::info::Ieee;
use std::collections::HashMap;

/// A shader being written.
pub struct Code {
    shader: Shader,
    consts: HashMap<(Ty, u64), Val>,
    /// The other way round.
    const_bits: HashMap<Val, u64>,
    /// What was zero-extended to make a value.
    extended: HashMap<Val, Val>,
    /// Something written so far may set the trap cell.
    pub may_trap: bool,
    /// How the device computes with singles and with doubles.
    singles: Ieee,
    doubles: Ieee,
    /// Whether a number was met that the device does not keep, if there are such.
    pub(super) lost: Option<Cell>,
    /// What asks again behind a loop whether it is over, if anything has to.
    doubt: Option<Doubt>,
    has_doubted: bool,
    /// The blocks around the place of writing, outermost first; the last one is written to.
    blocks: Vec<Vec<Stm>>,
}

/// The device may end a loop before its condition says so. Compilers take the condition for false behind the loop, and whatever they
/// move there is computed from that, so it is computed anew from values that they cannot know to be those of the loop.
#[derive(Clone, Copy)]
struct Doubt {
    /// True, which no compiler knows.
    veil: Val,
    /// Whether cells are read through the veil.
    is_veiled: bool,
    /// Whether some loop was not over.
    early: Cell,
}

impl Code {
    /// An empty shader with workgroups of this size.
    pub fn new(group_size: u32) -> Code {
        Code {
            shader: Shader { group_size, ..Shader::default() },
            consts: HashMap::new(),
            const_bits: HashMap::new(),
            extended: HashMap::new(),
            may_trap: false,
            singles: Ieee::ALL,
            doubles: Ieee::ALL,
            lost: None,
            doubt: None,
            has_doubted: false,
            blocks: vec![Vec::new()],
        }
    }

    /// From here on, singles and doubles are computed as a device does it that is not everywhere as IEEE 754 says.
    pub fn computes_as(&mut self, singles: Ieee, doubles: Ieee) {
        (self.singles, self.doubles) = (singles, doubles);
        if !(singles.subnormals && doubles.subnormals) {
            let (lost, no) = (self.cell(Ty::Bool), self.truth(false));
            self.set(lost, no);
            self.lost = Some(lost);
        }
    }

    /// How the device computes with floats of this type.
    pub fn ieee(&self, ty: Ty) -> Ieee {
        if ty == Ty::F64 { self.doubles } else { self.singles }
    }

    /// The finished shader. Blocks still open are closed as plain statements.
    pub fn finish(mut self) -> Shader {
        self.shader.body = self.blocks.into_iter().flatten().collect();
        self.shader
    }

    /// Declares the next storage buffer.
    pub fn buffer(&mut self, width: Width, written: bool) -> Binding {
        self.shader.buffers.push(BufferDecl { width, written })
    }

    /// Declares a local variable.
    pub fn cell(&mut self, ty: Ty) -> Cell {
        self.shader.cells.push(ty)
    }

    /// Declares a workgroup array.
    pub fn shared(&mut self, ty: Ty, len: u32) -> Shared {
        self.shader.shared.push((ty, len))
    }

    /// The type of a value.
    pub fn ty(&self, val: Val) -> Ty {
        self.shader.vals[val]
    }

    /// The bits of a constant, if it is one.
    pub fn as_const(&self, val: Val) -> Option<u64> {
        self.const_bits.get(&val).copied()
    }

    /// A constant.
    pub fn constant(&mut self, ty: Ty, bits: u64) -> Val {
        let bits = if ty.width() == 64 { bits } else { bits & ((1 << ty.width()) - 1) };
        if let Some(known) = self.consts.get(&(ty, bits)) {
            return *known;
        }
        let val = self.shader.vals.push(ty);
        self.shader.consts.push((val, bits));
        self.consts.insert((ty, bits), val);
        self.const_bits.insert(val, bits);
        val
    }

    /// A truth value.
    pub fn truth(&mut self, value: bool) -> Val {
        self.constant(Ty::Bool, u64::from(value))
    }

    /// A single.
    pub fn f32(&mut self, value: f32) -> Val {
        self.constant(Ty::F32, u64::from(value.to_bits()))
    }

    /// A double.
    pub fn f64(&mut self, value: f64) -> Val {
        self.constant(Ty::F64, value.to_bits())
    }

    /// A constant of a float type.
    pub fn float(&mut self, ty: Ty, value: f64) -> Val {
        if ty == Ty::F64 { self.f64(value) } else { self.f32(value as f32) }
    }

    fn push(&mut self, stm: Stm) {
        if self.blocks.is_empty() {
            self.blocks.push(Vec::new());
        }
        if let Some(block) = self.blocks.last_mut() {
            block.push(stm);
        }
    }

    fn emit(&mut self, ty: Ty, op: Op) -> Val {
        let val = self.shader.vals.push(ty);
        self.push(Stm::Let(val, op));
        val
    }

    /// Applies an operation to one value.
    pub fn un(&mut self, op: UnOp, a: Val) -> Val {
        let from = self.ty(a);
        let ty = match op {
            UnOp::Not => Ty::Bool,
            UnOp::FromSigned(to)
            | UnOp::FromUnsigned(to)
            | UnOp::ToSigned(to)
            | UnOp::ToUnsigned(to)
            | UnOp::Float(to) => to,
            UnOp::ZeroExtend => Ty::B64,
            UnOp::Narrow | UnOp::BitCount | UnOp::HighBit | UnOp::LowBit => Ty::B32,
            UnOp::BitsOf => from.bits(),
            UnOp::OfBits => {
                if from == Ty::B64 {
                    Ty::F64
                } else {
                    Ty::F32
                }
            }
            _ => from,
        };
        if let Some(bits) = self.as_const(a) {
            let folded = match op {
                UnOp::Not => Some(bits ^ 1),
                UnOp::ZeroExtend | UnOp::BitsOf | UnOp::OfBits | UnOp::Narrow => Some(bits),
                _ => None,
            };
            if let Some(bits) = folded {
                return self.constant(ty, bits);
            }
        }
        match (op, self.extended.get(&a)) {
            (UnOp::Narrow, Some(narrow)) => *narrow,
            (UnOp::ZeroExtend, _) => {
                let wide = self.emit(ty, Op::Un(op, a));
                self.extended.insert(wide, a);
                wide
            }
            _ => {
                let value = self.emit(ty, Op::Un(op, a));
                if matches!(op, UnOp::Float(_)) {
                    self.admit_converted(a, value);
                }
                value
            }
        }
    }

    /// The `B32` that a `B64` is the zero-extension of, if it is known to be one.
    pub fn low_half(&mut self, wide: Val) -> Option<Val> {
        match self.as_const(wide) {
            Some(bits) => u32::try_from(bits).ok().map(|bits| self.constant(Ty::B32, u64::from(bits))),
            None => self.extended.get(&wide).copied(),
        }
    }

    /// Applies an operation to two values.
    pub fn bin(&mut self, op: BinOp, a: Val, b: Val) -> Val {
        let (ca, cb) = (self.as_const(a), self.as_const(b));
        match (op, ca, cb) {
            (BinOp::Add, Some(0), _) | (BinOp::Mul, Some(1), _) => return b,
            (BinOp::Add | BinOp::Sub | BinOp::Shl | BinOp::ShrS | BinOp::ShrU, _, Some(0)) => return a,
            (BinOp::Mul, _, Some(1)) => return a,
            (BinOp::Mul, Some(0), _) => return a,
            (BinOp::Mul, _, Some(0)) => return b,
            (BinOp::Add, Some(x), Some(y)) => return self.constant(self.ty(a), x.wrapping_add(y)),
            (BinOp::Sub, Some(x), Some(y)) => return self.constant(self.ty(a), x.wrapping_sub(y)),
            (BinOp::Mul, Some(x), Some(y)) => return self.constant(self.ty(a), x.wrapping_mul(y)),
            (BinOp::Eq, Some(x), Some(y)) => return self.truth(x == y),
            (BinOp::Ne, Some(x), Some(y)) => return self.truth(x != y),
            (BinOp::LAnd, Some(1), _) | (BinOp::LOr, Some(0), _) => return b,
            (BinOp::LAnd, _, Some(1)) | (BinOp::LOr, _, Some(0)) => return a,
            (BinOp::LAnd, Some(0), _) | (BinOp::LOr, Some(1), _) => return a,
            (BinOp::LAnd, _, Some(0)) | (BinOp::LOr, _, Some(1)) => return b,
            _ => {}
        }
        let ty = match op {
            BinOp::Eq
            | BinOp::Ne
            | BinOp::Slt
            | BinOp::Sle
            | BinOp::Ult
            | BinOp::Ule
            | BinOp::FEq
            | BinOp::FLt
            | BinOp::FLe => Ty::Bool,
            _ => self.ty(a),
        };
        let value = self.emit(ty, Op::Bin(op, a, b));
        self.admit_computed(op, a, b, value);
        value
    }

    /// `b` where `a` is true, else `c`.
    pub fn select(&mut self, a: Val, b: Val, c: Val) -> Val {
        match self.as_const(a) {
            Some(0) => c,
            Some(_) => b,
            None if b == c => b,
            None => self.emit(self.ty(b), Op::Select(a, b, c)),
        }
    }

    /// An element of a buffer.
    pub fn load(&mut self, buffer: Binding, index: Val) -> Val {
        let ty = self.shader.buffers[buffer].width.ty();
        self.emit(ty, Op::Load(buffer, index))
    }

    /// Writes an element of a buffer.
    pub fn store(&mut self, buffer: Binding, index: Val, value: Val) {
        self.push(Stm::Store(buffer, index, value));
    }

    /// The content of a cell.
    pub fn get(&mut self, cell: Cell) -> Val {
        let ty = self.shader.cells[cell];
        let value = self.emit(ty, Op::Get(cell));
        match self.doubt {
            Some(Doubt { veil, is_veiled: true, .. }) => {
                let other = self.constant(ty, 0);
                self.select(veil, value, other)
            }
            _ => value,
        }
    }

    /// Fills a cell.
    pub fn set(&mut self, cell: Cell, value: Val) {
        self.push(Stm::Set(cell, value));
    }

    /// An element of a workgroup array.
    pub fn get_shared(&mut self, array: Shared, index: Val) -> Val {
        let (ty, _) = self.shader.shared[array];
        self.emit(ty, Op::GetShared(array, index))
    }

    /// Writes an element of a workgroup array.
    pub fn set_shared(&mut self, array: Shared, index: Val, value: Val) {
        self.push(Stm::SetShared(array, index, value));
    }

    /// A number of the invocation.
    pub fn builtin(&mut self, which: Builtin) -> Val {
        self.emit(Ty::B32, Op::Builtin(which))
    }

    /// Raises the flag in a buffer.
    pub fn raise(&mut self, flag: Binding) {
        self.push(Stm::Raise(flag));
    }

    /// Waits for the workgroup.
    pub fn barrier(&mut self) {
        self.push(Stm::Barrier);
    }

    /// Puts all blocks but the outermost aside. What is written until [`Code::resume`] comes before the statement
    /// being written there, and its values can be used from then on in every block.
    pub fn suspend(&mut self) -> Vec<Vec<Stm>> {
        self.blocks.split_off(self.blocks.len().min(1))
    }

    /// Goes on where [`Code::suspend`] stopped.
    pub fn resume(&mut self, inner: Vec<Vec<Stm>>) {
        self.blocks.extend(inner);
    }

    /// Computes something at the start, see [`Code::suspend`].
    pub fn at_entry<T>(&mut self, write: impl FnOnce(&mut Code) -> T) -> T {
        let inner = self.suspend();
        let answer = write(self);
        self.resume(inner);
        answer
    }

    /// Starts a block.
    pub fn open(&mut self) {
        self.blocks.push(Vec::new());
    }

    /// Ends the block started last and gives its statements.
    pub fn close(&mut self) -> Vec<Stm> {
        self.blocks.pop().unwrap_or_default()
    }

    /// Two ways, of blocks written before.
    pub fn branch(&mut self, cond: Val, then: Vec<Stm>, otherwise: Vec<Stm>) {
        if then.is_empty() && otherwise.is_empty() {
            return;
        }
        self.push(Stm::If(cond, then, otherwise));
    }

    /// One way, written by `body`.
    pub fn when(&mut self, cond: Val, body: impl FnOnce(&mut Code)) {
        self.open();
        body(self);
        let then = self.close();
        self.branch(cond, then, Vec::new());
    }

    /// A loop: `test` computes whether to go on, `body` is what is done then.
    pub fn while_(&mut self, test: impl Fn(&mut Code) -> Val, body: impl FnOnce(&mut Code)) {
        let done = loop_of(self, &mut |c| c, &mut |c| Ok::<Val, std::convert::Infallible>(test(c)), |c| {
            body(c);
            Ok(())
        });
        let Ok(()) = done;
    }

    /// From here on it is asked behind loops whether they are over. `veil` is true, and comes from where no compiler sees it.
    pub fn doubt_loops(&mut self, veil: Val) {
        let (early, no) = (self.cell(Ty::Bool), self.truth(false));
        self.set(early, no);
        self.doubt = Some(Doubt { veil, is_veiled: false, early });
    }

    /// Whether some loop that was written so far ended although its condition was true; nothing if that cannot be.
    pub fn ended_early(&mut self) -> Option<Val> {
        let early = self.doubt.filter(|_| self.has_doubted)?.early;
        Some(self.get(early))
    }
}

/// A loop in something that has code in it: `test` computes whether to go on, also when it is asked again behind the loop; `body` is what
/// is done then.
pub fn loop_of<L, E>(
    writer: &mut L,
    code: &mut dyn FnMut(&mut L) -> &mut Code,
    test: &mut dyn FnMut(&mut L) -> Result<Val, E>,
    body: impl FnOnce(&mut L) -> Result<(), E>,
) -> Result<(), E> {
    code(writer).open();
    let cond = test(writer)?;
    let before = code(writer).close();
    code(writer).open();
    body(writer)?;
    let block = code(writer).close();
    code(writer).push(Stm::While(before, cond, block));
    let Some(doubt) = code(writer).doubt else { return Ok(()) };
    code(writer).doubt = Some(Doubt { is_veiled: true, ..doubt });
    let goes_on = test(writer)?;
    let c = code(writer);
    (c.doubt, c.has_doubted) = (Some(doubt), true);
    let before = c.get(doubt.early);
    let now = c.bin(BinOp::LOr, before, goes_on);
    c.set(doubt.early, now);
    Ok(())
}
