//! The dispatch loop.

use super::code::{Ins, Op, typed_instructions};
use super::functions;
use super::operands::{Cell, Input, extent_mismatch};
use super::unit::{Access, Assertion, Unit};
use crate::array::view;
use crate::error::{RuntimeError, Trap};
use crate::interpret::Interpreter;
use crate::interpret::control::assert_message;
use galopvm_base::scalar::{Native, ScalarTrap, convert_inlined};
use galopvm_base::{Bits, ElemType, Scalar, ScalarOp};
use galopvm_lmad::Lmad;
use smallvec::SmallVec;

/// As many slots as a 16-bit number can name, so that naming one needs no check.
pub(in crate::interpret) type Slots = [Bits; 1 << 16];

type Failure = Box<RuntimeError>;

/// A failure, at an instruction.
pub(super) type Stopped = (usize, Failure);

macro_rules! machine {
    (($self:ident $unit:ident $slots:ident $inputs:ident $cells:ident)
     binary { $($binary:ident $bop:ident $bty:ident $brust:ident,)+ }
     unary { $($unary:ident $uop:ident $uty:ident $urust:ident,)+ }
     compare { $($compare:ident $unless:ident $again:ident $cop:ident $cty:ident $crust:ident,)+ }
     convert { $($convert:ident $from:ident $to:ident,)+ }) => {{
        let code = &$unit.code[..];
        let mut left = $self.until_look;
        let mut at = 0usize;
        macro_rules! get {
            ($slot:expr) => {
                $slots[usize::from($slot)]
            };
        }
        macro_rules! set {
            ($slot:expr, $bits:expr) => {
                $slots[usize::from($slot)] = $bits
            };
        }
        macro_rules! stop {
            ($error:expr) => {{
                $self.until_look = left;
                return Err((at - 1, $error));
            }};
        }
        macro_rules! pay {
            () => {{
                let cost = u64::from(code[at].a);
                match left.checked_sub(cost) {
                    Some(rest) => left = rest,
                    None => {
                        $self.until_look = left;
                        if let Err(error) = $self.pay(cost) {
                            return Err((at - 1, error));
                        }
                        left = $self.until_look;
                    }
                }
            }};
        }
        macro_rules! holds {
            ($op:ident $rust:ident, $a:expr, $b:expr) => {
                <$rust as Native>::binary(ScalarOp::$op, <$rust>::of_bits(get!($a)), <$rust>::of_bits(get!($b)))
                    .is_ok_and(|bits| bits != 0)
            };
        }
        macro_rules! load {
            ($ins:ident $arrays:ident $width:literal) => {{
                let (array, index) = (&$arrays[usize::from($ins.b)], get!($ins.c));
                match array.element::<$width>(index) {
                    Some(bits) => set!($ins.a, bits),
                    None => stop!(outside(array.view(), &[], &[index as i64])),
                }
            }};
        }
        macro_rules! load_at {
            ($ins:ident $arrays:ident) => {{
                let access = &$unit.accesses[usize::from($ins.b)];
                let array = &$arrays[usize::from(access.base)];
                match place(array.view(), access, $slots) {
                    Some(place) => set!($ins.a, array.element_at(place)),
                    None => stop!(outside_at(array.view(), access, $slots)),
                }
            }};
        }
        macro_rules! store {
            ($ins:ident $width:literal) => {{
                let (cell, index) = (&mut $cells[usize::from($ins.a)], get!($ins.b));
                if !cell.store::<$width>(index, get!($ins.c)) {
                    stop!(outside(cell.view(), &[], &[index as i64]));
                }
            }};
        }
        loop {
            let ins = code[at];
            at += 1;
            match ins.op {
                Op::Data => {}
                Op::End => {
                    $self.until_look = left;
                    return Ok(());
                }
                Op::Move => set!(ins.a, get!(ins.b)),
                Op::Jump => at = usize::from(ins.c),
                Op::Unless => {
                    if get!(ins.a) == 0 {
                        at = usize::from(ins.c);
                    }
                }
                Op::Again => {
                    pay!();
                    at = if get!(ins.a) != 0 { usize::from(ins.c) } else { at + 1 };
                }
                Op::Count => {
                    pay!();
                    let next = get!(ins.a) as i64 + 1;
                    set!(ins.a, next as u64);
                    at = if next < get!(ins.b) as i64 { usize::from(ins.c) } else { at + 1 };
                }
                Op::Call1 => set!(ins.a, $unit.unary[usize::from(ins.c)](get!(ins.b))),
                Op::Call2 => {
                    let function = $unit.binary[usize::from(code[at].a)];
                    at += 1;
                    match function(get!(ins.b), get!(ins.c)) {
                        Ok(bits) => set!(ins.a, bits),
                        Err(trap) => {
                            at -= 1;
                            stop!(no_value(trap))
                        }
                    }
                }
                Op::Call3 => {
                    let Ins { a, b, .. } = code[at];
                    at += 1;
                    let (op, ty) = $unit.ternary[usize::from(a)];
                    set!(ins.a, functions::ternary(op, ty, [get!(ins.b), get!(ins.c), get!(b)]));
                }
                Op::Select => {
                    let otherwise = get!(code[at].a);
                    at += 1;
                    set!(ins.a, if get!(ins.b) != 0 { get!(ins.c) } else { otherwise });
                }
                Op::Load1 => load!(ins $inputs 1),
                Op::Load2 => load!(ins $inputs 2),
                Op::Load4 => load!(ins $inputs 4),
                Op::Load8 => load!(ins $inputs 8),
                Op::LoadAt => load_at!(ins $inputs),
                Op::Inside => {
                    let access = &$unit.accesses[usize::from(ins.b)];
                    let view = $inputs[usize::from(access.base)].view();
                    if place(view, access, $slots).is_none() {
                        stop!(outside_at(view, access, $slots));
                    }
                }
                Op::Fetch1 => load!(ins $cells 1),
                Op::Fetch2 => load!(ins $cells 2),
                Op::Fetch4 => load!(ins $cells 4),
                Op::Fetch8 => load!(ins $cells 8),
                Op::FetchAt => load_at!(ins $cells),
                Op::Store1 => store!(ins 1),
                Op::Store2 => store!(ins 2),
                Op::Store4 => store!(ins 4),
                Op::Store8 => store!(ins 8),
                Op::StoreAt => {
                    let access = &$unit.accesses[usize::from(ins.b)];
                    let cell = &mut $cells[usize::from(access.base)];
                    match place(cell.view(), access, $slots) {
                        Some(place) => cell.store_at(place, get!(ins.c)),
                        None => stop!(outside_at(cell.view(), access, $slots)),
                    }
                }
                Op::Assert => {
                    if get!(ins.a) == 0 {
                        stop!(failed(&$unit.assertions[usize::from(ins.b)], $slots));
                    }
                }
                Op::Width => {
                    let width = get!(ins.a) as i64;
                    if width < 0 {
                        stop!(negative_width(width));
                    }
                }
                Op::Extent => {
                    if get!(ins.a) != get!(ins.b) {
                        stop!(extent_mismatch(get!(ins.a) as i64, get!(ins.b) as i64));
                    }
                }
                $(Op::$binary => {
                    match <$brust as Native>::binary(
                        ScalarOp::$bop,
                        <$brust>::of_bits(get!(ins.b)),
                        <$brust>::of_bits(get!(ins.c)),
                    ) {
                        Ok(bits) => set!(ins.a, bits),
                        Err(trap) => stop!(no_value(trap)),
                    }
                })+
                $(Op::$unary => {
                    set!(ins.a, <$urust as Native>::unary(ScalarOp::$uop, <$urust>::of_bits(get!(ins.b))));
                })+
                $(Op::$compare => set!(ins.a, Bits::from(holds!($cop $crust, ins.b, ins.c))),
                Op::$unless => {
                    if !holds!($cop $crust, ins.a, ins.b) {
                        at = usize::from(ins.c);
                    }
                }
                Op::$again => {
                    pay!();
                    at = if holds!($cop $crust, ins.a, ins.b) { usize::from(ins.c) } else { at + 1 };
                })+
                $(Op::$convert => {
                    set!(ins.a, convert_inlined(ElemType::$from, ElemType::$to, get!(ins.b)));
                })+
            }
        }
    }};
}

impl Interpreter<'_> {
    /// Executes a unit whose slots, inputs and cells are set up.
    #[inline(never)]
    pub(super) fn execute(
        &mut self,
        unit: &Unit,
        slots: &mut Slots,
        inputs: &[Input<'_>],
        cells: &mut [Cell],
    ) -> Result<(), Stopped> {
        typed_instructions!(machine (self unit slots inputs cells))
    }
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
fn no_value(trap: ScalarTrap) -> Failure {
    Trap::new(trap.to_string()).into()
}

#[cold]
fn negative_width(width: i64) -> Failure {
    Trap::new(format!("An operator cannot have {width} iterations.")).into()
}

/// The message of indices that are not inside, behind others that are.
#[cold]
fn outside(view: &Lmad, lead: &[i64], index: &[i64]) -> Failure {
    let part = lead.iter().fold(view.clone(), |view, i| view.fix(0, *i));
    let message = view::place(&part, index.iter().copied()).err().unwrap_or_default();
    Trap::new(message).into()
}

#[cold]
fn outside_at(view: &Lmad, access: &Access, slots: &Slots) -> Failure {
    let index: SmallVec<[i64; 4]> = access.index.iter().map(|slot| slots[usize::from(*slot)] as i64).collect();
    let (lead, index) = index.split_at(access.lead);
    outside(view, lead, index)
}

#[cold]
fn failed(assertion: &Assertion, slots: &Slots) -> Failure {
    let args = assertion.args.iter().map(|(slot, ty)| Scalar::new(*ty, slots[usize::from(*slot)]));
    Trap::new(assert_message(&assertion.message, args)).into()
}
