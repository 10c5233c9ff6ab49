//! A second execution beside the first one that knows nothing of memory, to find decisions about memory that are wrong.
//!
//! Here an array is a list of elements that nobody else holds, and instructions are executed one after the other, row by
//! row: no views of shared blocks, no places, no copies that are left out, no kernels. Before an instruction runs, the
//! shadow executes it, and every element that it reads is compared with what the array of the running program has there.
//! Afterwards the scalars that it defined, and the arrays whose elements it computed, are compared with what the
//! shadow found. The results of a call are compared as a whole. Whoever is wrong - an analysis, a tier, an update in
//! place - is found at the first read of the element that is wrong, not in a result that happens to show it.
//!
//! - `plain.rs`: arrays of the shadow. `evaluate.rs`: scalars, branches, loops, calls. `arrays.rs`, `operators.rs`,
//!   `index_space.rs`: the other instructions. `agree.rs`: what counts as the same. `sensitivity.rs`: how far roundings bring a result.
//! - `optimizer/shadowed.rs`: where the running program stops for it.
//!
//! What is compared when:
//! - Branches, loops and calls that the program executes block by block are gone through together with it; any other
//!   instruction with everything in it is one step.
//! - Moving an element (a view, a copy, an update's value, a row of a result) reads nothing: an analysis may have left it
//!   out, and the place may by right have another value when nobody looks at the element again.
//! - Operators that may be re-associated and library functions give floats that differ a little; the shadow goes on with
//!   those of the program, also where it moves them only, and with its own where an element is no such float. They differ more only
//!   where the instruction makes more of its roundings.
//! - Where a neutral element is none, nobody can tell how often back ends take it: a result of theirs that differs is taken
//!   over. The interpreter takes it once.
//!
//! Invariant: the shadow holds no block of the program, so that the counts of holders are what they are without it.

mod agree;
mod arrays;
mod evaluate;
mod index_space;
mod operators;
mod plain;
mod sensitivity;

use evaluate::{Evaluator, Real};
use galopvm_base::{Bits, TypedId};
use galopvm_bytecode::field::Fields;
use galopvm_bytecode::{Function, Instr, Module, Operand, RegId};
use galopvm_data::Value;
use galopvm_interp::Registers;
use plain::Plain;
use sensitivity::{Inputs, Rough};

/// Steps - instructions, and elements moved or compared - that the shadow takes for one call from outside; the rest of a
/// longer call runs alone.
const MOST_STEPS: u64 = 200_000_000;

/// What the shadow did.
#[derive(Clone, Copy, Default, Debug)]
pub struct ShadowFigures {
    /// Elements and scalars that were compared.
    pub compared: u64,
    /// Instructions whose results were taken over from the program, since the shadow could not tell them.
    pub taken_over: u64,
    /// Calls that were too long for it.
    pub given_up: u64,
}

/// The value of a register.
#[derive(Clone)]
enum Held {
    Scalar(Bits),
    Array(Plain),
}

/// Why the shadow does not finish an instruction.
enum Halt {
    /// The program has to end here with an error.
    Trap,
    /// It cannot tell: an extent that only the program knows, or too much work.
    Unknown,
    /// The program has another value in its memory than it should have.
    Wrong(String),
}

type Step<T> = Result<T, Halt>;

/// What the shadow found for an instruction that is about to run.
pub(crate) struct Foreseen {
    outcome: Result<(), Halt>,
    /// Whether the language leaves open what its results are.
    is_open: bool,
    /// Whether it goes over what the program has computed inexactly, without having it in memory.
    is_rough: bool,
    /// What it read, if it may be done in another order.
    inputs: Option<Inputs>,
}

/// The execution beside the program's.
#[derive(Default)]
pub(crate) struct Shadow {
    /// The registers of each call, innermost last.
    frames: Vec<Vec<Option<Held>>>,
    /// Arrays that the program has somewhat otherwise, and nowhere in memory.
    rough: Vec<Rough>,
    /// Whether the program is inside an instruction that is one step of the shadow.
    is_inside: bool,
    left: u64,
    figures: ShadowFigures,
}

impl Shadow {
    /// Whether it goes along with the program now.
    pub(crate) fn is_beside(&self) -> bool {
        !self.is_inside && !self.frames.is_empty()
    }

    /// The program goes into an instruction that is one step here, or comes back.
    pub(crate) fn set_inside(&mut self, is_inside: bool) {
        self.is_inside = is_inside;
    }

    pub(crate) fn figures(&self) -> ShadowFigures {
        self.figures
    }

    /// A call from outside begins.
    pub(crate) fn begin(&mut self, code: &Function, args: &[Value]) {
        (self.left, self.is_inside) = (MOST_STEPS, false);
        self.frames = vec![vec![None; code.regs.len()]];
        self.rough.clear();
        for (param, arg) in code.params.iter().zip(args) {
            let held = match arg {
                Value::Scalar(scalar) => Held::Scalar(scalar.bits),
                Value::Array(array) => Held::Array(Plain::of(array, *param)),
            };
            self.set(*param, held);
        }
    }

    /// It cannot go along any longer.
    fn give_up(&mut self) {
        if !self.frames.is_empty() {
            self.figures.given_up += 1;
        }
        self.frames.clear();
    }

    fn set(&mut self, reg: RegId, held: Held) {
        if let Some(place) = self.frames.last_mut().and_then(|frame| frame.get_mut(reg.index())) {
            *place = Some(held);
        }
    }

    fn take(&mut self, operand: Operand) -> Option<Held> {
        let place = self.frames.last_mut()?.get_mut(operand.reg.index())?;
        if operand.last { place.take() } else { place.clone() }
    }

    /// Registers get the values of operands, as if all at once.
    pub(crate) fn moves(&mut self, from: &[Operand], to: impl IntoIterator<Item = RegId>) {
        let values: Vec<Option<Held>> = from.iter().map(|operand| self.take(*operand)).collect();
        self.put(values, to);
    }

    fn put(&mut self, values: Vec<Option<Held>>, to: impl IntoIterator<Item = RegId>) {
        for (reg, value) in to.into_iter().zip(values) {
            match value {
                Some(Held::Array(array)) => self.set(reg, Held::Array(array.living_in(reg))),
                Some(scalar) => self.set(reg, scalar),
                None => return self.give_up(),
            }
        }
    }

    /// A register gets a number.
    pub(crate) fn counts(&mut self, reg: RegId, number: i64) {
        self.set(reg, Held::Scalar(number as Bits));
    }

    /// A call begins.
    pub(crate) fn enters(&mut self, callee: &Function, args: &[Operand]) {
        let values: Vec<Option<Held>> = args.iter().map(|arg| self.take(*arg)).collect();
        self.frames.push(vec![None; callee.regs.len()]);
        self.put(values, callee.params.iter().copied());
    }

    /// A call ends.
    pub(crate) fn leaves(&mut self, results: &[Operand], to: impl IntoIterator<Item = RegId>) {
        let values: Vec<Option<Held>> = results.iter().map(|result| self.take(*result)).collect();
        self.frames.pop();
        self.rough.retain(|rough| rough.place.0 <= self.frames.len());
        if !self.frames.is_empty() {
            self.put(values, to);
        }
    }

    /// Executes an instruction that is about to run; what it reads is compared if `looks`. Back ends may execute it, and combine in
    /// another order, if `reorders`.
    pub(crate) fn foresees(
        &mut self,
        module: &Module,
        real: &Registers<'_>,
        instr: &Instr,
        looks: bool,
        reorders: bool,
    ) -> Foreseen {
        let calls = self.frames.len();
        let Some(frame) = self.frames.last_mut() else {
            return Foreseen { outcome: Err(Halt::Unknown), is_open: false, is_rough: false, inputs: None };
        };
        let mut rough: Vec<&Rough> = Vec::new();
        if !self.rough.is_empty() {
            real.code.each_use(instr, &mut |reg| {
                rough.extend(self.rough.iter().filter(|rough| rough.place == (calls, reg)));
            });
        }
        let is_rough = !rough.is_empty();
        let inputs = Inputs::of(real, instr, frame, &rough);
        let real = Real { registers: real, looks };
        let mut evaluator = Evaluator::new(module, real, frame, (&mut self.left, &mut self.figures.compared));
        let outcome = evaluator.instruction(instr);
        Foreseen { outcome, is_open: reorders && evaluator.open, is_rough, inputs }
    }

    /// Compares what an instruction defined with what was found before: arrays only if `looks`. The error says what is wrong.
    pub(crate) fn compares(
        &mut self,
        module: &Module,
        real: &Registers<'_>,
        instr: &Instr,
        foreseen: Foreseen,
        looks: bool,
    ) -> Result<(), String> {
        let dsts = Fields::of(instr).defs;
        match foreseen.outcome {
            Err(Halt::Wrong(what)) => return Err(what),
            Err(Halt::Trap) => return Err("It has to end with an error, and goes on.".into()),
            Err(Halt::Unknown) => {
                if self.left == 0 {
                    self.give_up();
                } else {
                    self.figures.taken_over += 1;
                    dsts.iter().for_each(|dst| self.take_over(real, dst.0));
                }
                return Ok(());
            }
            Ok(()) => {}
        }
        let is_computed = looks && agree::computes(real, instr);
        let mut outcome = Ok(());
        for dst in &dsts {
            let mut compare = || self.compare_one(module, real, instr, (dst.0, is_computed), &foreseen);
            outcome = outcome.and_then(|()| compare());
        }
        if outcome.is_err() && foreseen.is_open {
            self.figures.taken_over += 1;
            dsts.iter().for_each(|dst| self.take_over(real, dst.0));
            return Ok(());
        }
        outcome
    }

    fn compare_one(
        &mut self,
        module: &Module,
        real: &Registers<'_>,
        instr: &Instr,
        (reg, is_computed): (RegId, bool),
        Foreseen { is_rough, inputs, .. }: &Foreseen,
    ) -> Result<(), String> {
        let (elem, is_rough, steps) = (real.elem(reg), *is_rough, self.left);
        let shaken = || inputs.as_ref().map(|inputs| inputs.rounded_otherwise(module, real, instr, steps));
        let is_inexact = || is_rough || agree::is_inexact(module, real.code, instr);
        let here = (self.frames.len(), reg);
        self.rough.retain(|rough| rough.place != here);
        match self.take(Operand::last(reg)) {
            Some(Held::Scalar(bits)) => {
                self.figures.compared += 1;
                let found = real.bits(Operand::new(reg));
                let slack = || shaken().map_or(0.0, |shaken| shaken.slack(reg, elem, bits));
                let is_right = agree::is_same(elem, bits, found)
                    || is_inexact()
                        && (agree::is_close(elem, bits, found, 0.0)
                            || agree::is_close(elem, bits, found, slack()));
                if !is_right {
                    let (wanted, found) = (agree::text(elem, bits), agree::text(elem, found));
                    return Err(format!("{reg} is {found} and has to be {wanted}."));
                }
                self.set(reg, Held::Scalar(found));
            }
            Some(Held::Array(array)) => {
                let mut array = array.living_in(reg);
                if let Some(found) = real.array_of(reg).filter(|found| !found.is_unmade()) {
                    let differs = |array: &Plain| is_computed.then(|| array.differs_from(found)).flatten();
                    if is_computed {
                        self.figures.compared += found.elements() as u64;
                    }
                    let may_take =
                        if is_computed { differs(&array).is_some() } else { array.shape() == found.shape() };
                    if may_take && is_inexact() {
                        array.take_close(found, &[]);
                        if array.differs_from(found).is_some()
                            && let Some(shaken) = shaken()
                        {
                            array.take_close(found, &shaken.slacks(reg, &array));
                        }
                    }
                    if let Some(difference) = differs(&array) {
                        return Err(difference.text(elem, reg));
                    }
                } else if is_rough || elem.is_float() && is_inexact() {
                    self.rough.push(Rough::new(here, shaken()));
                }
                self.set(reg, Held::Array(array));
            }
            None => {}
        }
        Ok(())
    }

    /// Goes on with the program's value.
    fn take_over(&mut self, real: &Registers<'_>, reg: RegId) {
        if !real.is_array(reg) {
            self.set(reg, Held::Scalar(real.bits(Operand::new(reg))));
            return;
        }
        match real.array_of(reg).filter(|array| !array.is_unmade()) {
            Some(array) => self.set(reg, Held::Array(Plain::of(array, reg))),
            None => self.give_up(),
        }
    }

    /// What is wrong if the program ends with an error at an instruction.
    pub(crate) fn fails(&mut self, foreseen: Foreseen) -> Option<String> {
        match foreseen.outcome {
            Err(Halt::Wrong(what)) => Some(what),
            Err(Halt::Trap | Halt::Unknown) => None,
            Ok(()) if foreseen.is_open => None,
            Ok(()) => Some("It ends with an error that it has not.".into()),
        }
    }

    /// Compares the results of a call from outside, which ends with that.
    pub(crate) fn ends(&mut self, real: &Registers<'_>, results: &[Operand]) -> Result<(), String> {
        if !self.is_beside() {
            return Ok(());
        }
        for result in results {
            let (reg, elem) = (result.reg, real.elem(result.reg));
            match self.take(Operand::new(reg)) {
                Some(Held::Scalar(bits)) if !agree::is_same(elem, bits, real.bits(*result)) => {
                    let (wanted, found) = (agree::text(elem, bits), agree::text(elem, real.bits(*result)));
                    return Err(format!("The result {reg} is {found} and has to be {wanted}."));
                }
                Some(Held::Array(array)) => {
                    let Some(found) = real.array_of(reg) else { continue };
                    self.figures.compared += found.elements() as u64;
                    if let Some(difference) = array.differs_from(found) {
                        return Err(format!("Of a result: {}", difference.text(elem, reg)));
                    }
                }
                _ => {}
            }
        }
        self.frames.clear();
        Ok(())
    }
}
