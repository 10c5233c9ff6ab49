//! How far the results of an instruction move if floats are rounded otherwise.
//!
//! Another order of operations gives other roundings, and what a program makes of these can be anything: a sum that cancels out is
//! nothing but the roundings of its parts. The instruction is executed again from what it read, with the last digit of each float
//! that it computes one up or down by chance.

use super::evaluate::{Evaluator, Real};
use super::plain::Plain;
use super::{Held, Step};
use galopvm_base::{Bits, ElemType, Scalar, TypedId};
use galopvm_bytecode::field::Fields;
use galopvm_bytecode::{Instr, Module, RegId};
use galopvm_interp::Registers;

/// Executions with other roundings. One alone may happen to come out near by.
const RUNS: usize = 3;
/// An order of operations moves a result at most so many times as far as the last digits do.
const FACTOR: f64 = 64.0;

/// The registers of a call.
type Frame = Vec<Option<Held>>;

/// An array that the program has rounded somewhat otherwise, and has nowhere in memory: a fused operator computes it where the next
/// one reads it.
pub(super) struct Rough {
    /// The number of calls, and the register.
    pub place: (usize, RegId),
    /// What it is with other roundings, by execution.
    shaken: Vec<Option<Plain>>,
}

impl Rough {
    pub fn new(place: (usize, RegId), shaken: Option<Shaken>) -> Rough {
        let array = |frame: Option<Frame>| match frame?.swap_remove(place.1.index()) {
            Some(Held::Array(array)) => Some(array),
            _ => None,
        };
        let frames = shaken.map_or_else(Vec::new, |shaken| shaken.0);
        Rough { place, shaken: frames.into_iter().map(array).collect() }
    }
}

/// What an instruction reads.
pub(super) struct Inputs {
    held: Vec<(RegId, Held)>,
    /// Those of the arrays in `held` that are rough, by execution.
    rough: Vec<Vec<(RegId, Plain)>>,
}

impl Inputs {
    /// Those of an instruction that is about to run, if it has anything in it that could be done in another order, or goes over what is
    /// rough.
    pub fn of(
        registers: &Registers<'_>,
        instr: &Instr,
        frame: &[Option<Held>],
        rough: &[&Rough],
    ) -> Option<Inputs> {
        let fields = Fields::of(instr);
        if fields.blocks.is_empty() && fields.functions.is_empty() && rough.is_empty() {
            return None;
        }
        let mut regs = Vec::new();
        registers.code.each_use(instr, &mut |reg| regs.push(reg));
        regs.sort_unstable();
        regs.dedup();
        let held = |reg: RegId| Some((reg, frame[reg.index()].clone()?));
        let in_run = |run: usize| {
            let shaken = |rough: &&Rough| Some((rough.place.1, rough.shaken.get(run)?.clone()?));
            rough.iter().filter_map(shaken).collect()
        };
        Some(Inputs {
            held: regs.into_iter().filter_map(held).collect(),
            rough: (0..RUNS).map(in_run).collect(),
        })
    }

    /// The registers after executions with other roundings, each of which may take so many steps.
    pub fn rounded_otherwise(
        &self,
        module: &Module,
        registers: &Registers<'_>,
        instr: &Instr,
        steps: u64,
    ) -> Shaken {
        let real = Real { registers, looks: false };
        let run = |number: usize| -> Step<Frame> {
            let mut frame = vec![None; registers.code.regs.len()];
            for (reg, held) in &self.held {
                frame[reg.index()] = Some(held.clone());
            }
            for (reg, array) in &self.rough[number] {
                frame[reg.index()] = Some(Held::Array(array.clone()));
            }
            let (mut left, mut compared) = (steps, 0);
            let mut evaluator = Evaluator::new(module, real, &mut frame, (&mut left, &mut compared));
            evaluator.shake(number as u64);
            evaluator.instruction(instr)?;
            Ok(frame)
        };
        // Where other roundings end in an error, they tell nothing about the result.
        Shaken((0..RUNS).map(|number| run(number).ok()).collect())
    }
}

/// What came out with other roundings.
pub(super) struct Shaken(Vec<Option<Frame>>);

impl Shaken {
    /// How far a scalar may be from this one.
    pub fn slack(&self, reg: RegId, elem: ElemType, bits: Bits) -> f64 {
        let others = self.0.iter().flatten().filter_map(|frame| match &frame[reg.index()] {
            Some(Held::Scalar(other)) => Some(*other),
            _ => None,
        });
        others.map(|other| apart(elem, bits, other)).fold(0.0, f64::max) * FACTOR
    }

    /// How far each element of an array, in row-major order, may be from that of this one.
    pub fn slacks(&self, reg: RegId, array: &Plain) -> Vec<f64> {
        let mut slacks = vec![0.0f64; array.view.elements() as usize];
        for frame in self.0.iter().flatten() {
            let Some(Held::Array(other)) = &frame[reg.index()] else { continue };
            if other.shape() != array.shape() {
                continue;
            }
            for (slack, (a, b)) in slacks.iter_mut().zip(array.moved().zip(other.moved())) {
                *slack = slack.max(apart(array.elem, a, b) * FACTOR);
            }
        }
        slacks
    }
}

/// How far two floats are apart: not at all if one of them is no number.
fn apart(elem: ElemType, a: Bits, b: Bits) -> f64 {
    let apart = (Scalar::new(elem, a).as_f64() - Scalar::new(elem, b).as_f64()).abs();
    if apart.is_finite() { apart } else { 0.0 }
}

/// Numbers by chance: which floats go up, and which down.
#[derive(Clone, Copy)]
pub(super) struct Chance(u64);

impl Chance {
    pub fn new(number: u64) -> Chance {
        Chance(number)
    }

    /// The float beside this one.
    pub fn beside(&mut self, elem: ElemType, bits: Bits) -> Bits {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let float = Scalar::new(elem, bits).as_f64();
        if float == 0.0 || !float.is_finite() {
            return bits;
        }
        // Of one sign, so that the next number of bits is the next float away from zero.
        let up = self.0 >> 63 == 1;
        let beside = if up { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
        beside & elem.mask()
    }
}
