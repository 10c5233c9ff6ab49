//! The parallel operators, row after row.
//!
//! Results are written into their arrays row by row; the shape of array rows is that of the first one, or, if there
//! is none, what can be known without executing the block.

use crate::Way;
use crate::arrays::mismatch;
use crate::machine::Entry;
use crate::strands::{Accumulators, Strands, strands};
use crate::{Adviser, Interpreter, Outcome, Registers};
use galopvm_base::ElemType;
use galopvm_bytecode::{BlockId, Operand, Operator, RegId, Role};
use galopvm_store::array::{Array, copy_elements, move_elements, store};
use galopvm_store::error::{Trap, in_row};
use galopvm_store::memory::Memory;
use smallvec::SmallVec;

/// Arrays that an operator reads or makes.
pub type Arrays = SmallVec<[Array; 2]>;

/// Bytes of the rows that are values on their way, and of the pieces in which results are made: they stay in the cache.
pub const PIECE: usize = 64 << 10;

/// The result arrays while they are made.
struct Outputs {
    width: i64,
    /// For results with scalar rows: which one, and its array.
    scalars: SmallVec<[(usize, Array); 4]>,
    /// For results with array rows: which one, its element type, and its array as soon as there was a row.
    arrays: SmallVec<[(usize, ElemType, Option<Array>); 2]>,
}

/// Where scalar rows go: the bytes of the arrays in [`Outputs::scalars`].
type Targets<'o> = SmallVec<[(usize, usize, &'o mut [u8]); 4]>;

impl<'a, A: Adviser<'a>> Interpreter<'a, A> {
    /// Interprets an operator.
    pub fn interpret_operator(
        &mut self,
        registers: &mut Registers<'a>,
        at: (BlockId, usize),
        width: i64,
        operator: &Operator<'_>,
    ) -> Outcome<()> {
        self.make_delayed(registers, operator.arrays)?;
        let inputs = inputs(registers, width, operator.arrays)?;
        self.interpret_rows(registers, at, width, operator, inputs)
    }

    /// Interprets an operator over so many rows of these arrays.
    pub fn interpret_rows(
        &mut self,
        registers: &mut Registers<'a>,
        (block, index): (BlockId, usize),
        width: i64,
        operator: &Operator<'_>,
        inputs: Arrays,
    ) -> Outcome<()> {
        if operator.is_map() {
            let results = self.all_rows(registers, (block, index), width, operator.last_block(), &inputs)?;
            operator.dsts.iter().zip(results).for_each(|(dst, array)| registers.set_array(dst.0, array));
            return Ok(());
        }
        let in_strands = strands(registers, (block, index), width);
        match in_strands {
            Some(strands) => {
                self.adviser.executed(Way::Strands);
                let (at, inputs) = ((block, index), &inputs);
                if self.reduce_in_strands(registers, at, width, operator, inputs, strands)? {
                    return Ok(());
                }
            }
            None => {
                if let Some(unit) = self.forms.unit(registers, block, index) {
                    let entry = Entry::of_rows(width, &inputs);
                    if self.enter_unit(registers, unit, operator.dsts, &entry)? {
                        return Ok(());
                    }
                }
            }
        }
        self.adviser.executed(Way::Blocks);
        match operator.gives {
            Role::Prefixes => self.scan(registers, width, operator, &inputs),
            _ => self.reduce(registers, width, operator, &inputs, in_strands),
        }
    }

    /// What the block of the operator at a place of the code makes of all rows of arrays.
    pub(super) fn all_rows(
        &mut self,
        registers: &mut Registers<'a>,
        (block, index): (BlockId, usize),
        width: i64,
        body: BlockId,
        inputs: &[Array],
    ) -> Outcome<Arrays> {
        if let Some(unit) = self.forms.unit(registers, block, index)
            && let Some(results) = self.unit_rows(registers, unit, &Entry::of_rows(width, inputs))?
        {
            return Ok(results);
        }
        self.adviser.executed(Way::Blocks);
        self.map(registers, width, body, inputs)
    }

    fn map(
        &mut self,
        registers: &mut Registers<'a>,
        width: i64,
        body: BlockId,
        inputs: &[Array],
    ) -> Outcome<Arrays> {
        let block = &registers.code.blocks[body];
        let scope = &registers.prepared.blocks[body].arrays;
        let mut outputs = self.outputs(registers, width, &block.results)?;
        let Outputs { scalars, arrays, .. } = &mut outputs;
        let mut targets = targets(scalars);
        for i in 0..width {
            set_rows(registers, &block.params, inputs, i);
            self.block(registers, body).map_err(|error| in_row(error, i))?;
            put_scalars(registers, &mut targets, i, &block.results);
            self.put_arrays(registers, arrays, width, i, &block.results)?;
            registers.release(scope);
        }
        drop(targets);
        self.finish(registers, body, outputs, inputs)
    }

    fn reduce(
        &mut self,
        registers: &mut Registers<'a>,
        width: i64,
        operator: &Operator<'_>,
        inputs: &[Array],
        strands: Option<&Strands>,
    ) -> Outcome<()> {
        let body = operator.last_block();
        let block = &registers.code.blocks[body];
        let scope = &registers.prepared.blocks[body].arrays;
        let (accumulators, items) = block.params.split_at(operator.neutral.len());
        let dsts = operator.dsts.iter().map(|d| d.0);
        if registers.prepared.blocks[body].scalar_results {
            let neutral = operator.neutral.iter().map(|operand| registers.bits(*operand));
            let mut values = Accumulators::new(strands, neutral);
            for i in 0..width {
                match operator.items {
                    Some(map) => self.mapped_rows(registers, map, items, inputs, i)?,
                    None => set_rows(registers, items, inputs, i),
                }
                for (reg, bits) in accumulators.iter().zip(values.of_row(i)) {
                    registers.set_bits(*reg, bits);
                }
                self.block(registers, body).map_err(|error| in_row(error, i))?;
                values.put(i, block.results.iter().map(|result| registers.bits(*result)));
                registers.release(scope);
            }
            dsts.zip(values.finish(strands)).for_each(|(dst, bits)| registers.set_bits(dst, bits));
            return Ok(());
        }
        let mut values = registers.take_all(operator.neutral);
        for i in 0..width {
            registers.put_all(accumulators.iter().copied(), values);
            set_rows(registers, items, inputs, i);
            self.block(registers, body).map_err(|error| in_row(error, i))?;
            values = registers.take_all(&block.results);
            registers.release(scope);
        }
        registers.put_all(dsts, values);
        Ok(())
    }

    /// Puts what a block makes of row `i` of each array, which are scalars, into registers.
    fn mapped_rows(
        &mut self,
        registers: &mut Registers<'a>,
        map: BlockId,
        items: &[RegId],
        inputs: &[Array],
        i: i64,
    ) -> Outcome<()> {
        let block = &registers.code.blocks[map];
        let scope = &registers.prepared.blocks[map].arrays;
        set_rows(registers, &block.params, inputs, i);
        self.block(registers, map).map_err(|error| in_row(error, i))?;
        registers.move_scalars(&block.results, items.iter().copied());
        registers.release(scope);
        Ok(())
    }

    fn scan(
        &mut self,
        registers: &mut Registers<'a>,
        width: i64,
        operator: &Operator<'_>,
        inputs: &[Array],
    ) -> Outcome<()> {
        let body = operator.last_block();
        let block = &registers.code.blocks[body];
        let scope = &registers.prepared.blocks[body].arrays;
        let (accumulators, items) = block.params.split_at(operator.neutral.len());
        let mut values = registers.take_all(operator.neutral);
        let kept = operator.kept(&block.results);
        let mut outputs = self.outputs(registers, width, kept)?;
        let Outputs { scalars, arrays, .. } = &mut outputs;
        let mut targets = targets(scalars);
        // Each prefix is used twice: as a row of the result and as the next accumulator.
        let shared: SmallVec<[Operand; 4]> = kept.iter().map(|o| Operand::new(o.reg)).collect();
        for i in 0..width {
            registers.put_all(accumulators.iter().copied(), values);
            set_rows(registers, items, inputs, i);
            self.block(registers, body).map_err(|error| in_row(error, i))?;
            put_scalars(registers, &mut targets, i, &shared);
            self.put_arrays(registers, arrays, width, i, &shared)?;
            values = registers.take_all(&block.results);
            registers.release(scope);
        }
        if width == 0 {
            // Rows have the shape of the neutral elements.
            registers.put_all(accumulators.iter().copied(), values);
            for (k, elem, array) in arrays {
                let row = registers.array(Operand::new(accumulators[*k])).shape();
                *array = Some(rows(self.memory, *elem, 0, &row)?);
            }
            registers.release(scope);
        }
        drop(targets);
        let results = self.finish(registers, body, outputs, inputs)?;
        operator.dsts.iter().zip(results).for_each(|(dst, array)| registers.set_array(dst.0, array));
        Ok(())
    }

    fn outputs(&mut self, registers: &Registers<'a>, width: i64, results: &[Operand]) -> Outcome<Outputs> {
        let mut outputs = Outputs { width, scalars: SmallVec::new(), arrays: SmallVec::new() };
        for (k, operand) in results.iter().enumerate() {
            let elem = registers.elem(operand.reg);
            if registers.is_array(operand.reg) {
                outputs.arrays.push((k, elem, None));
            } else {
                outputs.scalars.push((k, rows(self.memory, elem, width, &[])?));
            }
        }
        Ok(outputs)
    }

    /// Writes row `i` of each result with array rows.
    fn put_arrays(
        &mut self,
        registers: &mut Registers<'a>,
        outputs: &mut [(usize, ElemType, Option<Array>)],
        width: i64,
        i: i64,
        results: &[Operand],
    ) -> Outcome<()> {
        for (k, elem, output) in outputs {
            let row = registers.take(results[*k]);
            self.pay_elements(row.elements())?;
            let array = match output {
                Some(array) => array,
                none => none.insert(rows(self.memory, *elem, width, &row.shape())?),
            };
            if array.lmad().dims.iter().skip(1).map(|d| d.size).ne(row.shape()) {
                return Err(Trap::new(mismatch("Rows of a result", &array.shape()[1..], &row.shape())).into());
            }
            let view = array.lmad().fix(0, i);
            let target = array.block_mut().bytes_mut().expect("nobody else has seen a result in the making");
            let (source, width) = (row.block().bytes(), elem.bytes());
            // A small row is a value on its way, not a copy.
            if row.elements() as usize * width <= PIECE {
                move_elements(self.memory, target, &view, source, row.lmad(), width)?;
            } else {
                copy_elements(self.memory, target, &view, source, row.lmad(), width)?;
            }
        }
        Ok(())
    }

    /// The results, in order.
    fn finish(
        &mut self,
        registers: &Registers<'a>,
        body: BlockId,
        outputs: Outputs,
        inputs: &[Array],
    ) -> Outcome<Arrays> {
        let mut results: SmallVec<[(usize, Array); 4]> = outputs.scalars;
        for (k, elem, array) in outputs.arrays {
            let array = match array {
                Some(array) => array,
                None => {
                    // There was no row.
                    let params = inputs.iter().map(|input| input.shape()[1..].into());
                    let row = self.row_shape(registers, body, k, params);
                    rows(self.memory, elem, outputs.width, &row)?
                }
            };
            results.push((k, array));
        }
        results.sort_unstable_by_key(|(k, _)| *k);
        Ok(results.into_iter().map(|(_, array)| array).collect())
    }
}

/// The places that scalar rows are written to.
fn targets(outputs: &mut [(usize, Array)]) -> Targets<'_> {
    fn target((k, array): &mut (usize, Array)) -> (usize, usize, &mut [u8]) {
        let width = array.elem().bytes();
        (*k, width, array.block_mut().bytes_mut().expect("nobody else has seen a result in the making"))
    }
    outputs.iter_mut().map(target).collect()
}

/// Writes row `i` of each result with scalar rows.
#[inline]
fn put_scalars(registers: &Registers<'_>, targets: &mut Targets<'_>, i: i64, results: &[Operand]) {
    for (k, width, bytes) in targets {
        store(bytes, *width, i, registers.bits(results[*k]));
    }
}

/// A fresh array of rows.
fn rows(memory: &Memory, elem: ElemType, width: i64, row: &[i64]) -> Outcome<Array> {
    let shape: SmallVec<[i64; 4]> = [width].iter().chain(row).copied().collect();
    Ok(Array::fresh(memory, elem, &shape)?)
}

/// The arrays that an operator goes over, which must have as many rows as it says.
pub fn inputs(registers: &mut Registers<'_>, width: i64, arrays: &[Operand]) -> Outcome<Arrays> {
    for operand in arrays {
        let shape = registers.array(*operand).shape();
        if shape[0] != width {
            return Err(Trap::new(mismatch("Arrays of an operator", &[width], &shape[..1])).into());
        }
    }
    Ok(arrays.iter().map(|operand| registers.take(*operand)).collect())
}

/// Puts row `i` of each array into a register.
#[inline]
pub fn set_rows(registers: &mut Registers<'_>, params: &[RegId], inputs: &[Array], i: i64) {
    for (param, input) in params.iter().zip(inputs) {
        if registers.is_array(*param) {
            registers.set_array(*param, input.row(i));
        } else {
            let view = input.lmad();
            registers.set_bits(*param, input.load(view.offset + i * view.dims[0].stride));
        }
    }
}
