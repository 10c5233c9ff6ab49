//! Operators that choose rows, histograms and scatters: what their blocks do.

use super::Generator;
use galopvm_base::ElemType;
use std::fmt::Write;

impl Generator {
    /// Arrays to go over, of rows that are mostly scalars, and their number of rows.
    fn rows(&mut self) -> (Vec<(u32, ElemType, usize)>, u32) {
        let mut arrays = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            let (elem, rank) = (self.elem(), 1 + usize::from(self.random.one_in(4)));
            let reg = self.param(elem, rank);
            arrays.push((reg, elem, rank));
        }
        let width = self.reg();
        let _ = writeln!(self.body, "  r{width} : i64 = dim r{} 0", arrays[0].0);
        (arrays, width)
    }

    /// A filter or a partition.
    pub fn selection(&mut self) {
        self.nests = self.random.one_in(3);
        self.surroundings();
        let (arrays, width) = self.rows();
        let params: Vec<(ElemType, usize)> = arrays.iter().map(|(_, elem, rank)| (*elem, rank - 1)).collect();
        let classes = self.random.below(4);
        let answer = if classes == 0 { ElemType::Bool } else { ElemType::I64 };
        let block = self.block(&params, &[answer]);
        let list: Vec<String> = arrays.iter().map(|(reg, ..)| format!("r{reg}")).collect();
        let types = std::iter::repeat_n("i64".to_string(), classes.max(1))
            .chain(arrays.iter().map(|(_, elem, rank)| format!("{}{elem}", "[]".repeat(*rank))));
        let mut dsts = Vec::new();
        for ty in types.collect::<Vec<_>>() {
            let reg = self.reg();
            dsts.push(format!("r{reg} : {ty}"));
            self.results.push((reg, ty));
        }
        let name = if classes == 0 { "filter".to_string() } else { format!("partition {classes}") };
        let line = format!("{name} r{width} ({}) b{block}", list.join(", "));
        let _ = writeln!(self.body, "  {} = {line} @ 0 1:1-1:9", dsts.join(", "));
    }

    /// Indices made of others, mostly inside of a dimension.
    fn mostly_inside(&mut self, index: u32, width: u32, array: u32, dim: usize) -> u32 {
        let (extent, one, bound) = (self.reg(), self.reg(), self.reg());
        let _ = writeln!(self.body, "  r{extent} : i64 = dim r{array} {dim}");
        let _ = writeln!(self.body, "  r{one} : i64 = const 1i64");
        let _ = writeln!(self.body, "  r{bound} : i64 = op2 add i64 r{extent} r{one}");
        let (block, param, inside, made) = (self.next_block(), self.reg(), self.reg(), self.reg());
        let code = format!("  r{inside} : i64 = op2 mod i64 r{param} r{bound}\n");
        self.blocks.insert(block, format!("b{block} (r{param} : i64):\n{code}  => (r{inside})\n"));
        let _ = writeln!(self.body, "  r{made} : []i64 = map r{width} (r{index}) b{block}");
        made
    }

    /// A histogram of scalars, in one dimension or two.
    pub fn histogram(&mut self) {
        self.surroundings();
        let depth = 1 + usize::from(self.random.one_in(3));
        let combined: Vec<ElemType> = (0..1 + self.random.below(2)).map(|_| self.elem()).collect();
        let index: Vec<u32> = (0..depth).map(|_| self.param(ElemType::I64, 1)).collect();
        let values: Vec<u32> = combined.iter().map(|elem| self.param(*elem, 1)).collect();
        let width = self.reg();
        let _ = writeln!(self.body, "  r{width} : i64 = dim r{} 0", index[0]);
        let (mut dests, mut dsts) = (Vec::new(), Vec::new());
        // Destinations must agree in extents: all but the first are like it.
        let first = self.param(combined[0], depth);
        for elem in &combined {
            let ty = format!("{}{elem}", "[]".repeat(depth));
            let (start, copy) = (self.scalar_in_body(*elem), self.reg());
            if dests.is_empty() {
                let _ = writeln!(self.body, "  r{copy} : {ty} = copy r{first}");
            } else {
                let mut row = format!("r{start}");
                for dim in (0..depth).rev() {
                    let extent = self.reg();
                    let _ = writeln!(self.body, "  r{extent} : i64 = dim r{first} {dim}");
                    let made = if dim == 0 { copy } else { self.reg() };
                    let ty = format!("{}{elem}", "[]".repeat(depth - dim));
                    let _ = writeln!(self.body, "  r{made} : {ty} = replicate r{extent} {row}");
                    row = format!("r{made}");
                }
            }
            dests.push(format!("r{copy}!"));
            let reg = self.reg();
            dsts.push(format!("r{reg} : {ty}"));
            self.results.push((reg, ty));
        }
        let index: Vec<u32> = index
            .into_iter()
            .enumerate()
            .map(|(dim, array)| self.mostly_inside(array, width, first, dim))
            .collect();
        let (neutral, op) = if self.random.one_in(3) {
            self.combination_in_body(&combined)
        } else {
            let neutral: Vec<String> =
                combined.iter().map(|elem| format!("r{}", self.scalar_in_body(*elem))).collect();
            let params: Vec<(ElemType, usize)> =
                combined.iter().chain(&combined).map(|elem| (*elem, 0)).collect();
            (neutral.join(", "), self.block(&params, &combined))
        };
        let list = |regs: &[u32]| regs.iter().map(|reg| format!("r{reg}")).collect::<Vec<_>>().join(", ");
        let dests = dests.join(", ");
        let operands = format!("({dests}) ({neutral}) ({}) ({})", list(&index), list(&values));
        let _ = writeln!(self.body, "  {} = hist r{width} {operands} b{op} @ 0 1:1-1:9", dsts.join(", "));
    }

    /// A scatter of scalars or rows, into an array that may or may not be written where it lies.
    pub fn scatter(&mut self) {
        self.surroundings();
        let elem = self.elem();
        let rank = 1 + usize::from(self.random.one_in(3));
        let ty = format!("{}{elem}", "[]".repeat(rank));
        let (index, first) = (self.param(ElemType::I64, 1), self.param(elem, rank));
        let width = self.reg();
        let _ = writeln!(self.body, "  r{width} : i64 = dim r{index} 0");
        let index = self.mostly_inside(index, width, first, 0);
        let values = if rank == 1 { self.param(elem, 1) } else { self.reg() };
        if rank == 2 {
            // Rows of the same extent.
            let turned = self.reg();
            let _ = writeln!(self.body, "  r{turned} : {ty} = reverse r{first} 0");
            let _ = writeln!(self.body, "  r{values} : {ty} = copy r{turned}!");
        }
        let dest = match self.random.below(4) {
            0 => format!("r{first}!"),
            1 => {
                self.results.push((first, ty.clone()));
                format!("r{first}")
            }
            2 => {
                let other = self.reg();
                let _ = writeln!(self.body, "  r{other} : {ty} = copy r{first}");
                format!("r{other}!")
            }
            _ => {
                let other = self.reg();
                let _ = writeln!(self.body, "  r{other} : {ty} = reverse r{first}! 0");
                format!("r{other}!")
            }
        };
        let made = self.reg();
        let line = format!("scatter r{width} ({dest}) (r{index}) (r{values})");
        let _ = writeln!(self.body, "  r{made} : {ty} = {line} @ 0 1:1-1:9");
        self.results.push((made, ty));
    }
}
