//! Reductions of what one operation makes of two rows, as a loop of their own: matrix products are made of them.
//!
//! One table gives the loop for a combination of operations and type. Each row of the operator keeps the order of its
//! sum; several rows are summed side by side, in registers of the processor.

use super::program::{Across, Lane, Number, Step, View};
use super::run::Running;
use galopvm_base::scalar::Native;
use galopvm_base::{ElemType, ScalarOp};
use galopvm_bytecode::{BlockId, Function, Instr, Operator, RegId};

/// A row, or the same row for all lanes.
#[derive(Clone, Copy)]
pub(super) struct Source<'r> {
    bytes: &'r [u8],
    /// The first element, and how far the next one is.
    at: i64,
    step: i64,
}

/// Combines accumulators, lane by lane, with so many elements of two rows.
type Run = fn(&mut [u8], i64, Source<'_>, Source<'_>);

/// The loops for rows that differ from lane to lane: the first, the second, both.
type Runs = [Run; 3];

/// A reduction.
#[derive(Debug)]
pub(super) struct Dot {
    runs: Runs,
    accumulator: Lane,
    pub(super) width: Number,
    a: View,
    b: View,
    /// What a turn costs.
    pub(super) cost: u64,
    /// The same as a loop of steps, for rows that lie in another way.
    pub(super) turns: Step,
}

/// The operation that a block with one instruction does on its two parameters; whether it takes them in order.
fn operation(function: &Function, block: BlockId) -> Option<(ScalarOp, ElemType, bool)> {
    let block = &function.blocks[block];
    let ([a, b], [result]) = (&block.params[..], &block.results[..]) else { return None };
    match &block.code[..] {
        [Instr::Op2 { dst, op, ty, a: x, b: y }] if dst.0 == result.reg => {
            let operands: [RegId; 2] = [x.reg, y.reg];
            let in_order = operands == [*a, *b];
            (in_order || operands == [*b, *a]).then_some((*op, *ty, in_order))
        }
        _ => None,
    }
}

/// The loops of an operator, and whether the rows are its operands in order.
pub(super) fn loops(function: &Function, operator: &Operator<'_>) -> Option<(Runs, bool)> {
    let (map, ty, in_order) = operation(function, operator.items?)?;
    let (op, other, true) = operation(function, operator.combine?)? else { return None };
    (ty == other).then_some((runs(map, op, ty)?, in_order))
}

macro_rules! table {
    ($map:ident $op:ident $ty:ident: [$($m:ident)+] $ops:tt $types:tt) => {
        match $map {
            $(ScalarOp::$m => table!(@ $op $ty $m $ops $types),)+
            _ => None,
        }
    };
    (@ $op:ident $ty:ident $m:ident [$($o:ident)+] $types:tt) => {
        match $op {
            $(ScalarOp::$o => table!(@@ $ty $m $o $types),)+
            _ => None,
        }
    };
    (@@ $ty:ident $m:ident $o:ident [$($elem:ident $rust:ident $bytes:literal)+]) => {
        match $ty {
            $(ElemType::$elem => {
                const MAP: u8 = ScalarOp::$m as u8;
                const OP: u8 = ScalarOp::$o as u8;
                Some([
                    both::<$rust, $bytes, MAP, OP, true, false> as Run,
                    both::<$rust, $bytes, MAP, OP, false, true>,
                    both::<$rust, $bytes, MAP, OP, true, true>,
                ])
            })+
            _ => None,
        }
    };
}

fn runs(map: ScalarOp, op: ScalarOp, ty: ElemType) -> Option<Runs> {
    table!(map op ty: [Mul Add Sub] [Add Min Max] [F32 f32 4 F64 f64 8 I32 i32 4 I64 i64 8])
}

/// Lanes that are kept in registers: as many as fit half of them.
const TOGETHER: usize = 32;

fn both<T: Native + Copy, const W: usize, const MAP: u8, const OP: u8, const A: bool, const B: bool>(
    accumulators: &mut [u8],
    count: i64,
    a: Source<'_>,
    b: Source<'_>,
) {
    let (accumulators, _) = accumulators.as_chunks_mut::<W>();
    let (groups, rest) = accumulators.as_chunks_mut::<TOGETHER>();
    let grouped = groups.len() * TOGETHER;
    for (k, group) in groups.iter_mut().enumerate() {
        lanes::<T, W, MAP, OP, A, B, TOGETHER>(group, k * TOGETHER, count, a, b);
    }
    let (groups, rest) = rest.as_chunks_mut::<8>();
    let more = groups.len() * 8;
    for (k, group) in groups.iter_mut().enumerate() {
        lanes::<T, W, MAP, OP, A, B, 8>(group, grouped + k * 8, count, a, b);
    }
    for (k, one) in rest.iter_mut().enumerate() {
        lanes::<T, W, MAP, OP, A, B, 1>(std::array::from_mut(one), grouped + more + k, count, a, b);
    }
}

#[inline(always)]
fn value<T: Native, const W: usize>(bytes: [u8; W]) -> T {
    let mut all = [0; 8];
    all[..W].copy_from_slice(&bytes);
    T::of_bits(u64::from_le_bytes(all))
}

#[inline(always)]
fn apply<T: Native, const OP: u8>(a: T, b: T) -> T {
    // Operations of the table always have a value.
    T::of_bits(T::binary(const { ScalarOp::ALL[OP as usize] }, a, b).unwrap_or(0))
}

#[inline(always)]
fn lanes<T, const W: usize, const MAP: u8, const OP: u8, const A: bool, const B: bool, const N: usize>(
    accumulators: &mut [[u8; W]; N],
    first: usize,
    count: i64,
    a: Source<'_>,
    b: Source<'_>,
) where
    T: Native + Copy,
{
    let mut sums: [T; N] = accumulators.map(value::<T, W>);
    let (a_elements, b_elements) = (a.bytes.as_chunks::<W>().0, b.bytes.as_chunks::<W>().0);
    let (mut a_at, mut b_at) = (a.at, b.at);
    if A {
        a_at += first as i64;
    }
    if B {
        b_at += first as i64;
    }
    for _ in 0..count {
        let a_values: [[u8; W]; N] = match element::<W, N, A>(a_elements, a_at) {
            Some(values) => values,
            None => return,
        };
        let b_values: [[u8; W]; N] = match element::<W, N, B>(b_elements, b_at) {
            Some(values) => values,
            None => return,
        };
        for k in 0..N {
            let item = apply::<T, MAP>(value(a_values[k]), value(b_values[k]));
            sums[k] = apply::<T, OP>(sums[k], item);
        }
        a_at = a_at.wrapping_add(a.step);
        b_at = b_at.wrapping_add(b.step);
    }
    for (bytes, sum) in accumulators.iter_mut().zip(sums) {
        bytes.copy_from_slice(&sum.to_bits().to_le_bytes()[..W]);
    }
}

/// `N` adjacent elements, or one for all.
#[inline(always)]
fn element<const W: usize, const N: usize, const MANY: bool>(
    elements: &[[u8; W]],
    at: i64,
) -> Option<[[u8; W]; N]> {
    let rest = elements.get(at as usize..)?;
    if MANY { rest.first_chunk::<N>().copied() } else { rest.first().map(|one| [*one; N]) }
}

impl Dot {
    /// The reduction of two rows of vectors.
    pub(super) fn new(
        (runs, in_order): (Runs, bool),
        [first, second]: [&View; 2],
        accumulator: Lane,
        width: Number,
        cost: u64,
        turns: Step,
    ) -> Dot {
        let (a, b) = if in_order { (first, second) } else { (second, first) };
        Dot { runs, accumulator, width, a: a.clone(), b: b.clone(), cost, turns }
    }

    fn source<'r>(&self, run: &'r Running<'_>, view: &View) -> Source<'r> {
        Source {
            bytes: run.bases.bytes(run.base(view)),
            at: run.int(view.offset),
            step: run.int(view.dims[0].1),
        }
    }

    /// Whether a row differs from lane to lane; nothing if lanes do not lie side by side.
    fn is_many(run: &Running<'_>, view: &View) -> Option<bool> {
        match view.across {
            Across::Same => Some(false),
            Across::Stride(stride) => match run.int(stride) {
                0 => Some(false),
                1 => Some(true),
                _ => None,
            },
            Across::Each(_) => None,
        }
    }

    fn choose(&self, run: &Running<'_>) -> Option<Run> {
        match (Self::is_many(run, &self.a)?, Self::is_many(run, &self.b)?) {
            (true, false) => Some(self.runs[0]),
            (false, true) => Some(self.runs[1]),
            (true, true) => Some(self.runs[2]),
            (false, false) => None,
        }
    }

    /// Whether the rows lie so that the loop is for them.
    pub(super) fn fits(&self, run: &Running<'_>) -> bool {
        self.choose(run).is_some()
    }

    /// Combines so many elements from the row's element `from` on.
    pub(super) fn execute(&self, run: &mut Running<'_>, from: i64, count: i64) {
        let Some(function) = self.choose(run) else { return };
        let mut sums = std::mem::take(&mut run.lanes[self.accumulator as usize]);
        let bytes = run.len * self.a.width();
        let at = |source: Source<'_>| source.at.wrapping_add(from.wrapping_mul(source.step));
        let (mut a, mut b) = (self.source(run, &self.a), self.source(run, &self.b));
        (a.at, b.at) = (at(a), at(b));
        function(&mut sums[..bytes], count, a, b);
        run.lanes[self.accumulator as usize] = sums;
    }
}
