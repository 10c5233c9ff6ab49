//! Operators over rows, as the shadow executes them: one row after the other.

use super::arrays::elements;
use super::evaluate::Evaluator;
use super::plain::Plain;
use super::{Halt, Held, Step, agree};
use galopvm_base::{Bits, ElemType};
use galopvm_bytecode::{BlockId, Def, Instr, Operand, RegId};
use smallvec::SmallVec;

/// Rows with which it is tried whether a neutral element is one.
const TRIED: i64 = 8;

/// The rows of a result.
struct Rows {
    elem: ElemType,
    /// The shape of each row, as soon as there was one.
    shape: Option<SmallVec<[i64; 4]>>,
    elements: Vec<Bits>,
}

impl Rows {
    fn new(elem: ElemType) -> Rows {
        Rows { elem, shape: None, elements: Vec::new() }
    }

    fn push(&mut self, row: &Plain) -> Step<()> {
        if self.shape.get_or_insert_with(|| row.shape()) != &row.shape() {
            return Err(Halt::Trap);
        }
        self.elements.extend(row.moved());
        Ok(())
    }

    /// The array; the program alone knows the shape of rows that there are none of.
    fn finish(self, count: i64) -> Step<Plain> {
        let row = self.shape.ok_or(Halt::Unknown)?;
        let shape: SmallVec<[i64; 4]> = [count].into_iter().chain(row).collect();
        Ok(Plain::new(self.elem, &shape, self.elements))
    }
}

impl Evaluator<'_> {
    pub(super) fn operator(&mut self, instr: &Instr) -> Step<()> {
        match instr {
            Instr::Map { dsts, width, arrays, body } => {
                let rows = self.rows(*width, arrays)?;
                let results = self.each_row(&rows, *body)?;
                self.set_arrays(dsts, results);
                Ok(())
            }
            Instr::Reduce { dsts, width, neutral, arrays, body } => {
                self.combine(dsts, *width, (neutral, arrays), (None, *body))
            }
            Instr::Redomap { dsts, width, neutral, arrays, map, op } => {
                self.combine(dsts, *width, (neutral, arrays), (Some(*map), *op))
            }
            Instr::Scan { dsts, width, neutral, arrays, body } => {
                self.prefixes(dsts, *width, (neutral, arrays), *body)
            }
            Instr::Filter { dsts, width, arrays, body } => {
                self.choose(dsts, *width, (arrays, *body), 1, |answer| if answer == 0 { 1 } else { 0 })
            }
            Instr::Partition { dsts, classes, width, arrays, body } => {
                let last = Bits::from(*classes).saturating_sub(1);
                self.choose(dsts, *width, (arrays, *body), *classes as usize, |answer| answer.min(last))
            }
            _ => Err(Halt::Unknown),
        }
    }

    /// The arrays that an operator goes over, with the number of their rows.
    pub(super) fn rows(&mut self, width: Operand, arrays: &[Operand]) -> Step<(i64, Vec<Plain>)> {
        let width = self.int(width)?;
        let arrays = self.arrays(arrays)?;
        if width < 0 || arrays.iter().any(|array| array.view.dims[0].size != width) {
            return Err(Halt::Trap);
        }
        Ok((width, arrays))
    }

    fn set_arrays(&mut self, dsts: &[Def], arrays: Vec<Plain>) {
        dsts.iter().zip(arrays).for_each(|(dst, array)| self.set_array(dst.0, array));
    }

    /// What a block makes of each row.
    fn each_row(&mut self, (width, arrays): &(i64, Vec<Plain>), body: BlockId) -> Step<Vec<Plain>> {
        let results = self.results(body);
        let mut made = self.results_in_rows(results);
        for i in 0..*width {
            self.set_rows(self.params(body), arrays, i)?;
            self.block(body)?;
            self.push_rows(results, &mut made)?;
        }
        made.into_iter().map(|rows| rows.finish(*width)).collect()
    }

    fn results_in_rows(&self, results: &[Operand]) -> Vec<Rows> {
        let of = |result: &Operand| {
            let mut rows = Rows::new(self.elem(result.reg));
            rows.shape = (!self.is_array(result.reg)).then(SmallVec::new);
            rows
        };
        results.iter().map(of).collect()
    }

    fn push_rows(&mut self, results: &[Operand], made: &mut [Rows]) -> Step<()> {
        for (result, rows) in results.iter().zip(made) {
            if self.is_array(result.reg) {
                let row = self.array(*result)?;
                self.pay(row.view.elements())?;
                rows.push(&row)?;
            } else {
                rows.elements.push(self.bits(*result)?);
            }
        }
        Ok(())
    }

    fn combine(
        &mut self,
        dsts: &[Def],
        width: Operand,
        (neutral, arrays): (&[Operand], &[Operand]),
        (map, op): (Option<BlockId>, BlockId),
    ) -> Step<()> {
        let (width, arrays) = self.rows(width, arrays)?;
        let (accumulators, items) = self.params(op).split_at(neutral.len());
        let start = self.all_held(neutral.iter().map(|operand| operand.reg))?;
        self.moves(neutral, accumulators.iter().copied())?;
        for i in 0..width {
            if i < TRIED {
                self.tries_neutral(&start, op, (map, &arrays, i))?;
            }
            self.set_items(map, items, &arrays, i)?;
            self.block(op)?;
            self.moves(self.results(op), accumulators.iter().copied())?;
        }
        self.moves(&uses(accumulators), dsts.iter().map(|dst| dst.0))
    }

    /// Puts what is combined in row `i` into registers.
    fn set_items(&mut self, map: Option<BlockId>, items: &[RegId], arrays: &[Plain], i: i64) -> Step<()> {
        let Some(map) = map else { return self.set_rows(items, arrays, i) };
        self.set_rows(self.params(map), arrays, i)?;
        self.block(map)?;
        self.moves(self.results(map), items.iter().copied())
    }

    fn all_held(&self, regs: impl Iterator<Item = RegId>) -> Step<Vec<Held>> {
        regs.map(|reg| self.held(reg).cloned()).collect()
    }

    /// Where what is given as neutral element is none, the result depends on how often it is taken, which the language leaves
    /// open.
    fn tries_neutral(
        &mut self,
        neutral: &[Held],
        op: BlockId,
        (map, arrays, i): (Option<BlockId>, &[Plain], i64),
    ) -> Step<()> {
        let (accumulators, items) = self.params(op).split_at(neutral.len());
        let before = self.all_held(accumulators.iter().copied())?;
        self.set_items(map, items, arrays, i)?;
        let given = self.all_held(items.iter().copied())?;
        accumulators.iter().zip(neutral).for_each(|(reg, held)| self.hold(*reg, held.clone()));
        let mut is_neutral = true;
        match self.block(op) {
            // A neutral element gives the item, whatever it is.
            Err(Halt::Trap) => is_neutral = false,
            outcome => outcome?,
        }
        for (result, item) in self.results(op).iter().zip(given) {
            let elem = self.elem(result.reg);
            if let (Held::Scalar(item), true) = (item, is_neutral && !elem.is_float()) {
                is_neutral = agree::is_same(elem, self.bits(*result)?, item);
            }
        }
        self.open |= !is_neutral;
        accumulators.iter().zip(before).for_each(|(reg, held)| self.hold(*reg, held));
        Ok(())
    }

    fn prefixes(
        &mut self,
        dsts: &[Def],
        width: Operand,
        (neutral, arrays): (&[Operand], &[Operand]),
        body: BlockId,
    ) -> Step<()> {
        let (width, arrays) = self.rows(width, arrays)?;
        let (accumulators, items) = self.params(body).split_at(neutral.len());
        let results = self.results(body);
        let kept = &results[..dsts.len().min(results.len())];
        let mut made = self.results_in_rows(kept);
        for (rows, operand) in made.iter_mut().zip(neutral).filter(|(rows, _)| rows.shape.is_none()) {
            rows.shape = Some(self.array(*operand)?.shape());
        }
        let start = self.all_held(neutral.iter().map(|operand| operand.reg))?;
        self.moves(neutral, accumulators.iter().copied())?;
        for i in 0..width {
            if i < TRIED {
                self.tries_neutral(&start, body, (None, &arrays, i))?;
            }
            self.set_rows(items, &arrays, i)?;
            self.block(body)?;
            self.push_rows(kept, &mut made)?;
            self.moves(results, accumulators.iter().copied())?;
        }
        let made = made.into_iter().map(|rows| rows.finish(width)).collect::<Step<Vec<Plain>>>()?;
        self.set_arrays(dsts, made);
        Ok(())
    }

    /// Rows by class: how many are in each of the first `counted` ones, then the rows of these, in order.
    fn choose(
        &mut self,
        dsts: &[Def],
        width: Operand,
        (arrays, body): (&[Operand], BlockId),
        counted: usize,
        class: impl Fn(Bits) -> Bits,
    ) -> Step<()> {
        let rows = self.rows(width, arrays)?;
        let answers = match rows.0 {
            0 => Vec::new(),
            _ => self.each_row(&rows, body)?.swap_remove(0).moved().map(class).collect::<Vec<Bits>>(),
        };
        let of_class = |wanted: usize| {
            let is_in = move |(_, class): &(usize, &Bits)| **class == wanted as Bits;
            answers.iter().enumerate().filter(is_in).map(|(row, _)| row as i64)
        };
        let (counts, results) = dsts.split_at(counted);
        for (wanted, dst) in counts.iter().enumerate() {
            self.set_bits(dst.0, of_class(wanted).count() as Bits);
        }
        let chosen: Vec<i64> = (0..counted).flat_map(of_class).collect();
        for (dst, array) in results.iter().zip(&rows.1) {
            let mut shape = array.shape();
            shape[0] = chosen.len() as i64;
            self.pay(elements(&shape)?)?;
            let rows = chosen.iter().map(|row| array.seen(array.view.fix(0, *row)));
            let elements = rows.flat_map(|row| row.moved().collect::<Vec<Bits>>()).collect();
            self.set_array(dst.0, Plain::new(array.elem, &shape, elements));
        }
        Ok(())
    }
}

/// Registers as operands.
fn uses(regs: &[RegId]) -> Vec<Operand> {
    regs.iter().map(|reg| Operand::new(*reg)).collect()
}
