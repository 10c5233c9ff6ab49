//! A column program at work.

use super::BLOCK;
use super::program::{Column, Gathered, Input, Line, Number, Once, Place, Program, Step};
use crate::interpret::Registers;
use galopvm_base::Bits;
use galopvm_base::scalar::{convert, eval};
use galopvm_bytecode::Operand;
use galopvm_lmad::Dim;
use galopvm_store::array::Array;
use galopvm_store::memory::Block;
use galopvm_vector::loops;
use smallvec::SmallVec;
use std::ops::Range;

/// A program with all that is the same for all rows.
pub(super) struct Running<'v> {
    program: &'v Program,
    numbers: Vec<Bits>,
    inputs: SmallVec<[Rows<'v>; 4]>,
    arrays: &'v [Array],
    registers: &'v Registers<'v>,
    buffers: Vec<Vec<u8>>,
    /// The first row of the block, and how many there are.
    start: i64,
    len: usize,
}

/// The part of each result that a block of rows gives.
pub(super) type Outputs<'o> = SmallVec<[&'o mut [u8]; 4]>;

/// A program at a block of rows.
struct AtBlock<'r, 'v, 'o> {
    running: &'r mut Running<'v>,
    outputs: Outputs<'o>,
}

/// The rows of an input, which are scalars.
struct Rows<'v> {
    /// Its bytes are looked at anew each time: results may be stored in the same block between two blocks of rows.
    block: &'v Block,
    offset: i64,
    stride: i64,
    /// The rows that there are.
    all: Range<i64>,
    /// Those among the rows of the block, counted from its first.
    inside: Range<usize>,
    /// The bytes of the rows of the block, where they lie one after the other.
    here: Option<Range<usize>>,
    staging: Vec<u8>,
}

impl<'v> Running<'v> {
    /// Sets a program up for blocks of at most so many rows; nothing if it traps before it looks at rows. `first` is the
    /// row of the whole operator that is row 0 of the arrays. Buffers of earlier programs may be used again.
    pub(super) fn new(
        program: &'v Program,
        registers: &'v Registers<'v>,
        (arrays, first): (&'v [Array], i64),
        rows: usize,
        mut buffers: Vec<Vec<u8>>,
    ) -> Result<Running<'v>, Vec<Vec<u8>>> {
        let rows = rows.min(BLOCK);
        let Some(numbers) = numbers(program, registers, arrays, first) else { return Err(buffers) };
        if buffers.len() < program.buffers {
            buffers.resize_with(program.buffers, Vec::new);
        }
        for buffer in &mut buffers[..program.buffers] {
            if buffer.len() < rows * 8 {
                buffer.resize(rows * 8, 0);
            }
        }
        for (number, column) in &program.splats {
            let width = program.widths[usize::from(*column)];
            if let Place::Buffer(buffer) = program.places[usize::from(*column)] {
                let buffer = &mut buffers[usize::from(buffer)][..rows * width];
                loops::splat(buffer, width, numbers[usize::from(*number)]);
            }
        }
        let input = |input: &Input| match input {
            Input::Rows(k) => Rows::of(&arrays[usize::from(*k)]),
            Input::View { array, index } => {
                let (source, row, dims) = gathered(registers, arrays, *array);
                Rows::of_view(source, row, dims.iter().zip(index), &numbers)
            }
        };
        let inputs = program.inputs.iter().map(input).collect();
        Ok(Running { program, numbers, inputs, arrays, registers, buffers, start: 0, len: 0 })
    }

    /// The buffers, for the next program.
    pub(super) fn into_buffers(self) -> Vec<Vec<u8>> {
        self.buffers
    }

    /// Computes `len` rows from `start` on; their results go to the outputs, which have that many rows. False: some row
    /// traps, or may do so.
    pub(super) fn block(&mut self, start: i64, len: usize, outputs: Outputs<'_>) -> bool {
        (self.start, self.len) = (start, len);
        let program = self.program;
        let inputs = self.look_at_inputs();
        let mut at_block = AtBlock { running: self, outputs };
        inputs && program.steps.iter().all(|step| at_block.step(step))
    }

    /// The column of a result that is no output.
    pub(super) fn result(&self, k: usize) -> &[u8] {
        self.read(self.program.results[k])
    }

    fn read(&self, column: Column) -> &[u8] {
        let bytes = self.len * self.program.widths[usize::from(column)];
        match self.program.places[usize::from(column)] {
            Place::Buffer(k) => &self.buffers[usize::from(k)][..bytes],
            Place::Input(k) => {
                let rows = &self.inputs[usize::from(k)];
                match &rows.here {
                    Some(here) => &rows.block.bytes()[here.clone()],
                    None => &rows.staging,
                }
            }
            // Outputs are with the block.
            Place::Output(_) => &[],
        }
    }

    fn look_at_inputs(&mut self) -> bool {
        let columns = self.program.places.iter().zip(&self.program.widths);
        for (place, width) in columns {
            let Place::Input(k) = place else { continue };
            if !self.inputs[usize::from(*k)].look(self.start, self.len, *width) {
                return false;
            }
        }
        true
    }
}

impl<'v> Rows<'v> {
    fn of(array: &'v Array) -> Rows<'v> {
        let view = array.lmad();
        let stride = view.dims.first().map_or(0, |dim| dim.stride);
        Rows {
            block: array.block(),
            offset: view.offset,
            stride,
            all: i64::MIN..i64::MAX,
            inside: 0..0,
            here: None,
            staging: Vec::new(),
        }
    }

    /// Elements at indices that are lines. `row` is how far apart rows are.
    fn of_view<'d>(
        array: &'v Array,
        row: i64,
        index: impl Iterator<Item = (&'d Dim, &'d Line)>,
        numbers: &[Bits],
    ) -> Rows<'v> {
        let mut rows = Rows { stride: row, ..Rows::of(array) };
        for (dim, line) in index {
            let (start, step) =
                (numbers[usize::from(line.start)] as i64, numbers[usize::from(line.step)] as i64);
            rows.offset = rows.offset.wrapping_add(start.wrapping_mul(dim.stride));
            rows.stride = rows.stride.wrapping_add(step.wrapping_mul(dim.stride));
            let inside = inside(start, step, dim.size);
            rows.all = rows.all.start.max(inside.start)..rows.all.end.min(inside.end);
        }
        rows
    }

    /// Brings the rows of a block together, those that there are; others become 0. False: that cannot be.
    fn look(&mut self, start: i64, len: usize, width: usize) -> bool {
        let end = start + len as i64;
        let (from, to) = (self.all.start.clamp(start, end), self.all.end.clamp(start, end));
        self.inside = (from - start) as usize..(to.max(from) - start) as usize;
        let first = self.offset.wrapping_add(from.wrapping_mul(self.stride));
        if (self.stride == 1 || len == 1) && self.inside.len() == len {
            let first = (first as usize).wrapping_mul(width);
            let here = first..first.wrapping_add(len * width);
            let is_there = self.block.bytes().get(here.clone()).is_some();
            self.here = is_there.then_some(here);
            return is_there;
        }
        self.here = None;
        self.staging.resize(len * width, 0);
        let part = self.inside.start * width..self.inside.end * width;
        if part.len() < self.staging.len() {
            self.staging.fill(0);
        }
        loops::strided(&mut self.staging[part], width, self.block.bytes(), first, self.stride);
        true
    }
}

/// The rows for which a line is inside a dimension, without wrapping.
fn inside(start: i64, step: i64, size: i64) -> Range<i64> {
    let (start, step, size) = (i128::from(start), i128::from(step), i128::from(size));
    // The first row at which a growing line reaches a number.
    let reaches = |start: i128, step: i128, number: i128| {
        let row = (number - start + step - 1).div_euclid(step);
        i64::try_from(row).unwrap_or(if row < 0 { i64::MIN } else { i64::MAX })
    };
    match step {
        0 if (0..size).contains(&start) => i64::MIN..i64::MAX,
        0 => 0..0,
        1.. => reaches(start, step, 0)..reaches(start, step, size),
        _ => reaches(-start, -step, 1 - size)..reaches(-start, -step, 1),
    }
}

/// An array that is read at indices, how far apart its rows are, and the dimensions that the indices are for.
fn gathered<'v>(
    registers: &'v Registers<'v>,
    arrays: &'v [Array],
    array: Gathered,
) -> (&'v Array, i64, &'v [Dim]) {
    match array {
        Gathered::Free(reg) => {
            let source = registers.array(Operand::new(reg));
            (source, 0, &source.lmad().dims)
        }
        Gathered::Rows(k) => {
            let source = &arrays[usize::from(k)];
            let (rows, dims) = source.lmad().dims.split_first().expect("what an operator goes over has rows");
            (source, rows.stride, dims)
        }
    }
}

impl AtBlock<'_, '_, '_> {
    fn read(&self, column: Column) -> &[u8] {
        match self.running.program.places[usize::from(column)] {
            Place::Output(k) => &*self.outputs[usize::from(k)],
            _ => self.running.read(column),
        }
    }

    /// Writes a column, while others are read.
    fn write(&mut self, column: Column, f: impl FnOnce(&Self, &mut [u8]) -> bool) -> bool {
        let bytes = self.running.len * self.running.program.widths[usize::from(column)];
        match self.running.program.places[usize::from(column)] {
            Place::Buffer(k) => {
                let mut buffer = std::mem::take(&mut self.running.buffers[usize::from(k)]);
                let done = f(self, &mut buffer[..bytes]);
                self.running.buffers[usize::from(k)] = buffer;
                done
            }
            Place::Output(k) => {
                let output = std::mem::take(&mut self.outputs[usize::from(k)]);
                let done = f(self, output);
                self.outputs[usize::from(k)] = output;
                done
            }
            Place::Input(_) => false,
        }
    }

    fn step(&mut self, step: &Step) -> bool {
        match *step {
            Step::One { run, dst, a } => self.write(dst, |now, out| {
                run(out, now.read(a));
                true
            }),
            Step::Two { run, dst, a, b, .. } => {
                self.write(dst, |now, out| !run(out, now.read(a), now.read(b)))
            }
            Step::Three { run, dst, a, b, c } => self.write(dst, |now, out| {
                run(out, now.read(a), now.read(b), now.read(c));
                true
            }),
            Step::Copy { dst, a } => self.write(dst, |now, out| {
                out.copy_from_slice(now.read(a));
                true
            }),
            Step::Count { dst, line } => {
                let number = |number: Number| self.running.numbers[usize::from(number)] as i64;
                let (start, step) = (number(line.start), number(line.step));
                let start = start.wrapping_add(self.running.start.wrapping_mul(step));
                self.write(dst, |_, out| {
                    loops::count(out, start, step);
                    true
                })
            }
            Step::Inside { input, mask } => {
                let Range { start, end } = self.running.inputs[usize::from(input)].inside;
                let wanted = |rows: &[u8]| rows.iter().any(|counts| *counts != 0);
                match mask.map(|mask| self.read(mask)) {
                    None => start == 0 && end == self.running.len,
                    Some(mask) => !wanted(&mask[..start]) && !wanted(&mask[end..]),
                }
            }
            Step::Check { cond, mask } => !loops::fails(self.read(cond), mask.map(|mask| self.read(mask))),
            Step::Gather { dst, places, array, ref index, mask } => {
                self.gather(dst, places, array, index, mask)
            }
        }
    }

    fn gather(
        &mut self,
        dst: Column,
        places: Column,
        array: Gathered,
        index: &[Column],
        mask: Option<Column>,
    ) -> bool {
        let (source, rows, dims) = gathered(self.running.registers, self.running.arrays, array);
        let width = source.elem().bytes();
        if let (Gathered::Free(_), [dim @ Dim { stride: 0.., .. }], [index]) = (array, dims, index) {
            let from = (source.lmad().offset as usize).wrapping_mul(width);
            let bytes = source.block().bytes().get(from..).unwrap_or(&[]);
            return self.write(dst, |now, out| {
                let mask = mask.map(|mask| now.read(mask));
                !loops::pick(out, width, bytes, now.read(*index), mask, *dim)
            });
        }
        let inside = self.write(places, |now, out| {
            let mut place = source.lmad().offset.wrapping_add(now.running.start.wrapping_mul(rows));
            for out in out.as_chunks_mut::<8>().0 {
                *out = place.to_le_bytes();
                place = place.wrapping_add(rows);
            }
            index.iter().zip(dims).all(|(index, Dim { size, stride })| {
                let mask = mask.map(|mask| now.read(mask));
                !loops::advance(out, now.read(*index), mask, *size, *stride)
            })
        });
        inside
            && self.write(dst, |now, out| {
                loops::gather(out, width, source.block().bytes(), now.read(places));
                true
            })
    }
}

/// What is computed once, if it can be.
fn numbers(program: &Program, registers: &Registers<'_>, arrays: &[Array], first: i64) -> Option<Vec<Bits>> {
    let mut numbers: Vec<Bits> = vec![0; program.numbers];
    let at = |number: &Number| usize::from(*number);
    for (reg, number) in &program.free {
        numbers[at(number)] = registers.bits(Operand::new(*reg));
    }
    if let Some(number) = &program.first {
        numbers[at(number)] = first as Bits;
    }
    for (number, bits) in &program.constants {
        numbers[at(number)] = *bits;
    }
    for once in &program.once {
        let (dst, bits) = match once {
            Once::Op { op, ty, dst, args } => {
                let args: SmallVec<[Bits; 3]> = args.iter().map(|a| numbers[at(a)]).collect();
                (dst, eval(*op, *ty, &args).ok()?)
            }
            Once::Convert { from, to, dst, a } => (dst, convert(*from, *to, numbers[at(a)])),
            Once::Extent { dst, array, dim } => {
                let size = match array {
                    Gathered::Free(reg) => {
                        registers.array(Operand::new(*reg)).lmad().dims[*dim as usize].size
                    }
                    Gathered::Rows(k) => arrays[usize::from(*k)].lmad().dims[*dim as usize + 1].size,
                };
                (dst, size as Bits)
            }
            Once::Element { dst, array, index } => {
                let array = registers.array(Operand::new(*array));
                let index: SmallVec<[i64; 4]> = index.iter().map(|i| numbers[at(i)] as i64).collect();
                (dst, array.get(&index)?.bits)
            }
        };
        numbers[at(dst)] = bits;
    }
    Some(numbers)
}
