//! Numbers that a device does not keep: where subnormal floats become zero, a shader notes that one was met, and somebody else does the
//! launch again.
//!
//! Numbers are looked at where they come from (buffers, constants, operations on bits) and where arithmetic makes them; so everything
//! in between, comparisons for one, can rely on meeting none.

use super::{BinOp, Code, Format, Ty, UnOp, Val};

impl Code {
    fn keeps(&self, ty: Ty) -> bool {
        self.lost.is_none() || !matches!(ty, Ty::F32 | Ty::F64) || self.ieee(ty).subnormals
    }

    fn note(&mut self, bad: Val) {
        let Some(cell) = self.lost else { return };
        let before = self.get(cell);
        let now = self.bin(BinOp::LOr, before, bad);
        self.set(cell, now);
    }

    /// A float from elsewhere comes in: noted if it is subnormal and the device does not keep such.
    pub fn admit(&mut self, a: Val) {
        let ty = self.ty(a);
        if self.keeps(ty) {
            return;
        }
        let f = Format::of(ty);
        let (least, zero) = (self.constant(f.bits, 1 << f.fraction), self.constant(f.bits, 0));
        let size = self.magnitude(a);
        let is_small = self.bin(BinOp::Ult, size, least);
        let is_something = self.bin(BinOp::Ne, size, zero);
        let bad = self.bin(BinOp::LAnd, is_small, is_something);
        self.note(bad);
    }

    /// The same for a conversion from the other width: what it comes from is not zero, and it is small or already gone.
    pub(super) fn admit_converted(&mut self, from: Val, to: Val) {
        let ty = self.ty(to);
        if self.keeps(ty) || self.ty(from) == ty {
            return;
        }
        let bad = self.small_of(to, &[from]);
        self.note(bad);
    }

    /// The same for a sum, difference or product.
    pub(super) fn admit_computed(&mut self, op: BinOp, a: Val, b: Val, result: Val) {
        if !matches!(op, BinOp::FAdd | BinOp::FSub | BinOp::FMul) || self.keeps(self.ty(result)) {
            return;
        }
        let f = Format::of(self.ty(result));
        // No product by a constant beyond one is smaller than its other factor. A sum with a constant is a multiple of what its last
        // digit counts: nothing or a usual number, but for the smallest constants.
        let enough =
            if op == BinOp::FMul { f.power(0) } else { f.power(2 * i64::from(f.fraction) - f.bias() as i64) };
        if [a, b].iter().any(|v| self.as_const(*v).is_some_and(|bits| bits & !f.sign >= enough)) {
            return;
        }
        if op == BinOp::FMul {
            let bad = self.small_of(result, &[a, b]);
            return self.note(bad);
        }
        let zero = self.constant(f.bits, 0);
        let (first, second) = (self.un(UnOp::BitsOf, a), self.un(UnOp::BitsOf, b));
        let flip = self.constant(f.bits, if op == BinOp::FAdd { f.sign } else { 0 });
        let other = self.bin(BinOp::Xor, second, flip);
        let differ = self.bin(BinOp::Ne, first, other);
        let (sizes, more) = (self.magnitude(a), self.magnitude(b));
        let sizes = self.bin(BinOp::Or, sizes, more);
        let is_something = self.bin(BinOp::Ne, sizes, zero);
        let is_small = self.small_of(result, &[]);
        let bad = self.bin(BinOp::LAnd, differ, is_something);
        let bad = self.bin(BinOp::LAnd, bad, is_small);
        self.note(bad);
    }

    /// Whether the result is below every usual number although none of these is zero.
    fn small_of(&mut self, result: Val, from: &[Val]) -> Val {
        let f = Format::of(self.ty(result));
        let least = self.constant(f.bits, 1 << f.fraction);
        let size = self.magnitude(result);
        let mut bad = self.bin(BinOp::Ult, size, least);
        for operand in from {
            let zero = self.constant(Format::of(self.ty(*operand)).bits, 0);
            let size = self.magnitude(*operand);
            let is_something = self.bin(BinOp::Ne, size, zero);
            bad = self.bin(BinOp::LAnd, bad, is_something);
        }
        bad
    }

    /// Whether a number was met that the device does not keep; nothing if it keeps all.
    pub fn has_lost(&mut self) -> Option<Val> {
        let lost = self.lost?;
        Some(self.get(lost))
    }
}
