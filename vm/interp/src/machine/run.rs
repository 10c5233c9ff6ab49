//! Execution: every instruction is a function that ends by calling the next one.
//!
//! An optimising compiler makes jumps of these calls, so that a step costs one indirect jump of its own. Nothing depends
//! on that: after [`SLICE`] operations the chain of calls ends and goes on from the driver, so that it is never
//! deeper than a few times that.

use super::code::{Ins, Op, typed_instructions};
use super::functions;
use super::operands::{Cell, Input, extent_mismatch};
use super::unit::{Access, Unit};
use crate::control::assert_message;
use crate::{Adviser, Interpreter};
use galopvm_base::scalar::{Native, ScalarTrap, convert_inlined};
use galopvm_base::{Bits, ElemType, Scalar, ScalarOp};
use galopvm_lmad::Lmad;
use galopvm_store::array::view;
use galopvm_store::error::{RuntimeError, Trap};
use smallvec::SmallVec;
use std::fmt;

/// As many slots as a 16-bit number can name, so that naming one needs no check.
pub type Slots = [Bits; 1 << 16];

/// Operations of turns between two returns to the driver.
const SLICE: u64 = 1024;

/// Instructions without a turn between two returns to the driver.
const STRAIGHT: usize = 1024;

/// An instruction, ready for execution.
#[derive(Clone, Copy)]
pub(super) struct Word {
    run: Run,
    operands: Operands,
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.operands)
    }
}

/// Four operands in one number, so that they travel in a register.
#[derive(Clone, Copy, Debug)]
struct Operands(u64);

impl Operands {
    #[inline(always)]
    fn a(self) -> usize {
        usize::from(self.0 as u16)
    }
    #[inline(always)]
    fn b(self) -> usize {
        usize::from((self.0 >> 16) as u16)
    }
    #[inline(always)]
    fn c(self) -> usize {
        usize::from((self.0 >> 32) as u16)
    }
    #[inline(always)]
    fn d(self) -> usize {
        usize::from((self.0 >> 48) as u16)
    }
}

/// The function of an instruction: the rest of the code behind it, its operands, and the operations left for turns. It
/// says where the driver should go on.
type Run = fn(&mut Context<'_>, &mut Slots, &[Word], Operands, u64) -> usize;

/// What instructions see besides slots.
struct Context<'r> {
    unit: &'r Unit,
    inputs: &'r [Input<'r>],
    cells: &'r mut [Cell],
    /// On return to the driver: operations left, and what has to be paid for to go on.
    left: u64,
    due: u64,
    failure: Option<Box<RuntimeError>>,
}

/// "Go on nowhere": the end, or a failure.
const NOWHERE: usize = usize::MAX;

/// A failure, at an instruction.
pub(super) type Stopped = (usize, Box<RuntimeError>);

/// The code in the form that is executed. Where two instructions are often neighbours, the function of the first does
/// the second as well; the second has its own word all the same, so that nothing moves.
pub(super) fn words(code: &[Ins]) -> Vec<Word> {
    let word = |(at, ins): (usize, &Ins)| Word {
        run: code.get(at + 1).and_then(|next| pair(ins, next)).unwrap_or_else(|| run_of(ins.op)),
        operands: Operands(
            u64::from(ins.a) | u64::from(ins.b) << 16 | u64::from(ins.c) << 32 | u64::from(ins.d) << 48,
        ),
    };
    code.iter().enumerate().map(word).collect()
}

/// The function that does two neighbours at once, if there is one.
fn pair(first: &Ins, second: &Ins) -> Option<Run> {
    if second.op == Op::Count {
        return functions_by_name::counted_run(first.op);
    }
    let (first_op, second_op) = (first.op, second.op);
    if second.b == first.a {
        chains!(first_op second_op before)
    } else if second.c == first.a {
        chains!(first_op second_op after)
    } else {
        None
    }
}

/// For two neighbours where the second uses the result of the first: the instance of a function for both.
macro_rules! chains {
    ($first:ident $second:ident $function:ident) => {
        None.or_else(|| chain!($first $second $function [AddI64 SubI64 MulI64 AndI64 XorI64 ShrI64]
                               [AddI64 SubI64 MulI64 AndI64 XorI64 ShrI64 ModI64 RemI64]))
            .or_else(|| chain!($first $second $function [AddI32 SubI32 MulI32 AndI64 XorI64 ShrI32]
                               [AddI32 SubI32 MulI32 AndI64 XorI64 ShrI32 ModI32 RemI32]))
            .or_else(|| chain!($first $second $function [AddF64 SubF64 MulF64] [AddF64 SubF64 MulF64]))
            .or_else(|| chain!($first $second $function [AddF32 SubF32 MulF32] [AddF32 SubF32 MulF32]))
    };
}

macro_rules! chain {
    ($first:ident $second:ident $function:ident [$($f:ident)+] $seconds:tt) => {
        match $first {
            $(Op::$f => chain!(@ $second $function $f $seconds),)+
            _ => None,
        }
    };
    (@ $second:ident $function:ident $f:ident [$($s:ident)+]) => {
        match $second {
            $(Op::$s => Some($function::<functions_by_name::$f, functions_by_name::$s> as Run),)+
            _ => None,
        }
    };
}
use {chain, chains};

impl<'a, A: Adviser<'a>> Interpreter<'a, A> {
    /// Executes a unit whose slots, inputs and cells are set up.
    pub(super) fn execute(
        &mut self,
        unit: &Unit,
        slots: &mut Slots,
        inputs: &[Input<'_>],
        cells: &mut [Cell],
    ) -> Result<(), Stopped> {
        let mut context = Context { unit, inputs, cells, left: 0, due: 0, failure: None };
        let mut at = 0;
        loop {
            let budget = self.until_look.min(SLICE);
            // What is due is paid for already; the instruction will take it again.
            let left = budget + context.due;
            (context.left, context.due) = (left, 0);
            let next = proceed(&mut context, slots, unit.words.get(at..).unwrap_or(&[]), left);
            self.until_look -= budget.saturating_sub(context.left);
            if let Some(failure) = context.failure.take() {
                return Err((next, failure));
            }
            if next == NOWHERE {
                return Ok(());
            }
            at = next;
            self.pay(context.due).map_err(|error| (at, error))?;
        }
    }
}

/// The next instruction.
#[inline(always)]
fn proceed(cx: &mut Context<'_>, slots: &mut Slots, code: &[Word], left: u64) -> usize {
    match code.split_first() {
        Some((word, rest)) => (word.run)(cx, slots, rest, word.operands, left),
        None => finish(cx, left),
    }
}

/// Goes on at another instruction.
#[inline(always)]
fn jump(cx: &mut Context<'_>, slots: &mut Slots, to: usize, left: u64) -> usize {
    let unit = cx.unit;
    proceed(cx, slots, unit.words.get(to..).unwrap_or(&[]), left)
}

#[inline(always)]
fn finish(cx: &mut Context<'_>, left: u64) -> usize {
    cx.left = left;
    NOWHERE
}

/// The place of the instruction in front of the rest of the code.
fn place_before(cx: &Context<'_>, rest: &[Word]) -> usize {
    cx.unit.words.len() - rest.len() - 1
}

/// Back to the driver: the turn that ends here cannot be paid for.
#[cold]
#[inline(never)]
fn owe(cx: &mut Context<'_>, rest: &[Word], left: u64, due: u64) -> usize {
    (cx.left, cx.due) = (left, due);
    place_before(cx, rest)
}

#[cold]
#[inline(never)]
fn fail(cx: &mut Context<'_>, rest: &[Word], left: u64, failure: Box<RuntimeError>) -> usize {
    cx.left = left;
    cx.failure = Some(failure);
    place_before(cx, rest)
}

/// A typed binary operation on bits.
trait Step {
    fn apply(a: Bits, b: Bits) -> Result<Bits, ScalarTrap>;
}

fn binary<S: Step>(cx: &mut Context<'_>, slots: &mut Slots, rest: &[Word], o: Operands, left: u64) -> usize {
    match S::apply(slots[o.b()], slots[o.c()]) {
        Ok(bits) => slots[o.a()] = bits,
        Err(trap) => return no_value(cx, rest, left, trap),
    }
    proceed(cx, slots, rest, left)
}

/// A binary operation, and the `count` behind it.
fn counted<S: Step>(cx: &mut Context<'_>, slots: &mut Slots, rest: &[Word], o: Operands, left: u64) -> usize {
    match S::apply(slots[o.b()], slots[o.c()]) {
        Ok(bits) => slots[o.a()] = bits,
        Err(trap) => return no_value(cx, rest, left, trap),
    }
    let Some((word, rest)) = rest.split_first() else { return finish(cx, left) };
    count(cx, slots, rest, word.operands, left)
}

/// A binary operation, and one behind it that has the result as its first operand.
fn before<F: Step, S: Step>(
    cx: &mut Context<'_>,
    slots: &mut Slots,
    rest: &[Word],
    o: Operands,
    left: u64,
) -> usize {
    let first = match F::apply(slots[o.b()], slots[o.c()]) {
        Ok(bits) => bits,
        Err(trap) => return no_value(cx, rest, left, trap),
    };
    slots[o.a()] = first;
    let Some((word, rest)) = rest.split_first() else { return finish(cx, left) };
    let o = word.operands;
    match S::apply(first, slots[o.c()]) {
        Ok(bits) => slots[o.a()] = bits,
        Err(trap) => return no_value(cx, rest, left, trap),
    }
    proceed(cx, slots, rest, left)
}

/// A binary operation, and one behind it that has the result as its second operand.
fn after<F: Step, S: Step>(
    cx: &mut Context<'_>,
    slots: &mut Slots,
    rest: &[Word],
    o: Operands,
    left: u64,
) -> usize {
    let first = match F::apply(slots[o.b()], slots[o.c()]) {
        Ok(bits) => bits,
        Err(trap) => return no_value(cx, rest, left, trap),
    };
    slots[o.a()] = first;
    let Some((word, rest)) = rest.split_first() else { return finish(cx, left) };
    let o = word.operands;
    match S::apply(slots[o.b()], first) {
        Ok(bits) => slots[o.a()] = bits,
        Err(trap) => return no_value(cx, rest, left, trap),
    }
    proceed(cx, slots, rest, left)
}

/// Defines functions of instructions; the body sees everything, and `next!` goes on behind.
macro_rules! instructions {
    ($($(#[$attribute:meta])* $name:ident ($cx:ident $slots:ident $rest:ident $o:ident $left:ident) $body:block)+) => {
        $($(#[$attribute])*
        fn $name($cx: &mut Context<'_>, $slots: &mut Slots, $rest: &[Word], $o: Operands, $left: u64) -> usize {
            $body
        })+
    };
}

macro_rules! end_turn {
    ($cx:ident $slots:ident $rest:ident $o:ident $left:ident, $again:expr) => {
        match $left.checked_sub($o.d() as u64) {
            None => owe($cx, $rest, $left, $o.d() as u64),
            Some(left) => {
                if $again {
                    jump($cx, $slots, $o.c(), left)
                } else {
                    proceed($cx, $slots, $rest, left)
                }
            }
        }
    };
}

instructions! {
    end(cx _slots _rest _o left) { finish(cx, left) }
    pause(cx _slots rest _o left) {
        (cx.left, cx.due) = (left, 0);
        cx.unit.words.len() - rest.len()
    }
    copy(cx slots rest o left) {
        slots[o.a()] = slots[o.b()];
        proceed(cx, slots, rest, left)
    }
    go(cx slots _rest o left) { jump(cx, slots, o.c(), left) }
    unless(cx slots rest o left) {
        if slots[o.a()] == 0 { jump(cx, slots, o.c(), left) } else { proceed(cx, slots, rest, left) }
    }
    again(cx slots rest o left) { end_turn!(cx slots rest o left, slots[o.a()] != 0) }
    #[inline(always)]
    count(cx slots rest o left) {
        end_turn!(cx slots rest o left, {
            // The counter was below a bound.
            let next = (slots[o.a()] as i64).wrapping_add(1);
            slots[o.a()] = next as u64;
            next < slots[o.b()] as i64
        })
    }
    call1(cx slots rest o left) {
        slots[o.a()] = cx.unit.unary[o.c()](slots[o.b()]);
        proceed(cx, slots, rest, left)
    }
    call2(cx slots rest o left) {
        match cx.unit.binary[o.d()](slots[o.b()], slots[o.c()]) {
            Ok(bits) => slots[o.a()] = bits,
            Err(trap) => return no_value(cx, rest, left, trap),
        }
        proceed(cx, slots, rest, left)
    }
    call3(cx slots rest o left) {
        let (op, ty, c) = cx.unit.ternary[o.d()];
        slots[o.a()] = functions::ternary(op, ty, slots[o.b()], slots[o.c()], slots[usize::from(c)]);
        proceed(cx, slots, rest, left)
    }
    select(cx slots rest o left) {
        slots[o.a()] = if slots[o.b()] != 0 { slots[o.c()] } else { slots[o.d()] };
        proceed(cx, slots, rest, left)
    }
    load_at(cx slots rest o left) {
        let access = &cx.unit.accesses[o.b()];
        let input = &cx.inputs[usize::from(access.base)];
        match place(input.view(), access, slots) {
            Some(place) => slots[o.a()] = input.element_at(place),
            None => return outside_at(cx, slots, rest, left, o.b()),
        }
        proceed(cx, slots, rest, left)
    }
    inside(cx slots rest o left) {
        let access = &cx.unit.accesses[o.b()];
        if place(cx.inputs[usize::from(access.base)].view(), access, slots).is_none() {
            return outside_at(cx, slots, rest, left, o.b());
        }
        proceed(cx, slots, rest, left)
    }
    fetch_at(cx slots rest o left) {
        let access = &cx.unit.accesses[o.b()];
        let cell = &cx.cells[usize::from(access.base)];
        match place(cell.view(), access, slots) {
            Some(place) => slots[o.a()] = cell.element_at(place),
            None => return outside_cell_at(cx, slots, rest, left, o.b()),
        }
        proceed(cx, slots, rest, left)
    }
    store_at(cx slots rest o left) {
        let access = &cx.unit.accesses[o.b()];
        let cell = &mut cx.cells[usize::from(access.base)];
        match place(cell.view(), access, slots) {
            Some(place) => cell.store_at(place, slots[o.c()]),
            None => return outside_cell_at(cx, slots, rest, left, o.b()),
        }
        proceed(cx, slots, rest, left)
    }
    within(cx slots rest o left) {
        let access = &cx.unit.accesses[o.b()];
        match place(cx.cells[usize::from(access.base)].view(), access, slots) {
            Some(_) => proceed(cx, slots, rest, left),
            None => jump(cx, slots, o.c(), left),
        }
    }
    assert(cx slots rest o left) {
        if slots[o.a()] == 0 {
            return failed_assertion(cx, slots, rest, left, o.b());
        }
        proceed(cx, slots, rest, left)
    }
    width(cx slots rest o left) {
        let width = slots[o.a()] as i64;
        if width < 0 {
            return negative_width(cx, rest, left, width);
        }
        proceed(cx, slots, rest, left)
    }
    extent(cx slots rest o left) {
        if slots[o.a()] != slots[o.b()] {
            return wrong_extent(cx, rest, left, slots[o.a()] as i64, slots[o.b()] as i64);
        }
        proceed(cx, slots, rest, left)
    }
}

fn load<const W: usize>(
    cx: &mut Context<'_>,
    slots: &mut Slots,
    rest: &[Word],
    o: Operands,
    left: u64,
) -> usize {
    match cx.inputs[o.b()].element::<W>(slots[o.c()]) {
        Some(bits) => slots[o.a()] = bits,
        None => return outside(cx, rest, left, o.b(), slots[o.c()] as i64),
    }
    proceed(cx, slots, rest, left)
}

fn fetch<const W: usize>(
    cx: &mut Context<'_>,
    slots: &mut Slots,
    rest: &[Word],
    o: Operands,
    left: u64,
) -> usize {
    match cx.cells[o.b()].element::<W>(slots[o.c()]) {
        Some(bits) => slots[o.a()] = bits,
        None => return outside_cell(cx, rest, left, o.b(), slots[o.c()] as i64),
    }
    proceed(cx, slots, rest, left)
}

fn store<const W: usize>(
    cx: &mut Context<'_>,
    slots: &mut Slots,
    rest: &[Word],
    o: Operands,
    left: u64,
) -> usize {
    if !cx.cells[o.a()].store::<W>(slots[o.b()], slots[o.c()]) {
        return outside_cell(cx, rest, left, o.a(), slots[o.b()] as i64);
    }
    proceed(cx, slots, rest, left)
}

macro_rules! typed {
    (binary { $($binary:ident $bop:ident $bty:ident $brust:ident,)+ }
     unary { $($unary:ident $uop:ident $uty:ident $urust:ident,)+ }
     compare { $($compare:ident $unless:ident $again:ident $cop:ident $cty:ident $crust:ident,)+ }
     convert { $($convert:ident $from:ident $to:ident,)+ }) => {
        /// The functions of typed instructions, each under the name of its instruction.
        #[allow(non_snake_case, reason = "they are named as the variants of `Op` are")]
        mod functions_by_name {
            use super::*;

            instructions! {
                $($unary(cx slots rest o left) {
                    slots[o.a()] = <$urust as Native>::unary(ScalarOp::$uop, <$urust>::of_bits(slots[o.b()]));
                    proceed(cx, slots, rest, left)
                })+
                $($compare(cx slots rest o left) {
                    slots[o.a()] = Bits::from(holds::<$crust>(ScalarOp::$cop, slots[o.b()], slots[o.c()]));
                    proceed(cx, slots, rest, left)
                }
                $unless(cx slots rest o left) {
                    if holds::<$crust>(ScalarOp::$cop, slots[o.a()], slots[o.b()]) {
                        proceed(cx, slots, rest, left)
                    } else {
                        jump(cx, slots, o.c(), left)
                    }
                }
                $again(cx slots rest o left) {
                    end_turn!(cx slots rest o left, holds::<$crust>(ScalarOp::$cop, slots[o.a()], slots[o.b()]))
                })+
                $($convert(cx slots rest o left) {
                    slots[o.a()] = convert_inlined(ElemType::$from, ElemType::$to, slots[o.b()]);
                    proceed(cx, slots, rest, left)
                })+
            }

            $(pub(super) struct $binary;
            impl Step for $binary {
                #[inline(always)]
                fn apply(a: Bits, b: Bits) -> Result<Bits, ScalarTrap> {
                    <$brust as Native>::binary(ScalarOp::$bop, <$brust>::of_bits(a), <$brust>::of_bits(b))
                }
            })+

            /// A binary operation and the end of a turn behind it.
            pub(super) fn counted_run(op: Op) -> Option<Run> {
                match op {
                    $(Op::$binary => Some(counted::<$binary>),)+
                    _ => None,
                }
            }

            pub(super) fn typed_run(op: Op) -> Run {
                match op {
                    $(Op::$binary => binary::<$binary>,)+
                    $(Op::$unary => $unary,)+
                    $(Op::$compare => $compare, Op::$unless => $unless, Op::$again => $again,)+
                    $(Op::$convert => $convert,)+
                    _ => end,
                }
            }
        }
    };
}

typed_instructions!(typed);

/// The function of an instruction.
fn run_of(op: Op) -> Run {
    match op {
        Op::End => end,
        Op::Pause => pause,
        Op::Move => copy,
        Op::Jump => go,
        Op::Unless => unless,
        Op::Again => again,
        Op::Count => count,
        Op::Call1 => call1,
        Op::Call2 => call2,
        Op::Call3 => call3,
        Op::Select => select,
        Op::Load1 => load::<1>,
        Op::Load2 => load::<2>,
        Op::Load4 => load::<4>,
        Op::Load8 => load::<8>,
        Op::LoadAt => load_at,
        Op::Inside => inside,
        Op::Fetch1 => fetch::<1>,
        Op::Fetch2 => fetch::<2>,
        Op::Fetch4 => fetch::<4>,
        Op::Fetch8 => fetch::<8>,
        Op::FetchAt => fetch_at,
        Op::Store1 => store::<1>,
        Op::Store2 => store::<2>,
        Op::Store4 => store::<4>,
        Op::Store8 => store::<8>,
        Op::StoreAt => store_at,
        Op::Within => within,
        Op::Assert => assert,
        Op::Width => width,
        Op::Extent => extent,
        typed => functions_by_name::typed_run(typed),
    }
}

/// Whether two values compare so.
#[inline(always)]
fn holds<T: Native>(op: ScalarOp, a: Bits, b: Bits) -> bool {
    T::binary(op, T::of_bits(a), T::of_bits(b)).is_ok_and(|bits| bits != 0)
}

/// The place that an access means, if its indices are inside.
#[inline]
fn place(view: &Lmad, access: &Access, slots: &Slots) -> Option<i64> {
    let mut place = view.offset;
    for (dim, slot) in view.dims.iter().zip(&access.index) {
        let index = slots[usize::from(*slot)];
        if index >= dim.size as u64 {
            return None;
        }
        place = place.wrapping_add((index as i64).wrapping_mul(dim.stride));
    }
    Some(place)
}

#[cold]
#[inline(never)]
fn no_value(cx: &mut Context<'_>, rest: &[Word], left: u64, trap: ScalarTrap) -> usize {
    fail(cx, rest, left, Trap::new(trap.to_string()).into())
}

#[cold]
#[inline(never)]
fn negative_width(cx: &mut Context<'_>, rest: &[Word], left: u64, width: i64) -> usize {
    fail(cx, rest, left, Trap::new(format!("An operator cannot have {width} iterations.")).into())
}

#[cold]
#[inline(never)]
fn wrong_extent(cx: &mut Context<'_>, rest: &[Word], left: u64, width: i64, extent: i64) -> usize {
    fail(cx, rest, left, extent_mismatch(width, extent))
}

/// The failure of indices that are not inside, behind others that are.
fn not_inside(view: &Lmad, lead: &[i64], index: &[i64]) -> Box<RuntimeError> {
    let part = lead.iter().fold(view.clone(), |view, i| view.fix(0, *i));
    let message = view::place(&part, index.iter().copied()).err().unwrap_or_default();
    Trap::new(message).into()
}

#[cold]
#[inline(never)]
fn outside(cx: &mut Context<'_>, rest: &[Word], left: u64, input: usize, index: i64) -> usize {
    let failure = not_inside(cx.inputs[input].view(), &[], &[index]);
    fail(cx, rest, left, failure)
}

#[cold]
#[inline(never)]
fn outside_cell(cx: &mut Context<'_>, rest: &[Word], left: u64, cell: usize, index: i64) -> usize {
    let failure = not_inside(cx.cells[cell].view(), &[], &[index]);
    fail(cx, rest, left, failure)
}

fn not_inside_at(view: &Lmad, access: &Access, slots: &Slots) -> Box<RuntimeError> {
    let index: SmallVec<[i64; 4]> =
        access.index.iter().map(|slot| slots[usize::from(*slot)] as i64).collect();
    let (lead, index) = index.split_at(access.lead);
    not_inside(view, lead, index)
}

#[cold]
#[inline(never)]
fn outside_at(cx: &mut Context<'_>, slots: &Slots, rest: &[Word], left: u64, access: usize) -> usize {
    let access = &cx.unit.accesses[access];
    let failure = not_inside_at(cx.inputs[usize::from(access.base)].view(), access, slots);
    fail(cx, rest, left, failure)
}

#[cold]
#[inline(never)]
fn outside_cell_at(cx: &mut Context<'_>, slots: &Slots, rest: &[Word], left: u64, access: usize) -> usize {
    let access = &cx.unit.accesses[access];
    let failure = not_inside_at(cx.cells[usize::from(access.base)].view(), access, slots);
    fail(cx, rest, left, failure)
}

#[cold]
#[inline(never)]
fn failed_assertion(
    cx: &mut Context<'_>,
    slots: &Slots,
    rest: &[Word],
    left: u64,
    assertion: usize,
) -> usize {
    let assertion = &cx.unit.assertions[assertion];
    let args = assertion.args.iter().map(|(slot, ty)| Scalar::new(*ty, slots[usize::from(*slot)]));
    fail(cx, rest, left, Trap::new(assert_message(&assertion.message, args)).into())
}

/// Whether the chain of calls has to be cut before an instruction.
pub(super) fn wants_pause(at: usize) -> bool {
    at % STRAIGHT == STRAIGHT - 1
}
