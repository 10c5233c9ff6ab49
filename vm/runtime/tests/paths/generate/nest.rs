//! Operators whose blocks make arrays: inner operators, views, fresh arrays, updates, branches and loops with arrays.

use super::Generator;
use galopvm_base::ElemType;
use std::fmt::Write;

/// An array register: number, element type, rank.
type Held = (u32, ElemType, usize);

fn ty(elem: ElemType, rank: usize) -> String {
    format!("{}{elem}", "[]".repeat(rank))
}

impl Generator {
    /// A map over one to three arrays whose block makes arrays.
    pub fn nest(&mut self) {
        self.nests = true;
        self.budget = 12;
        self.surroundings();
        let mut arrays = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            let (elem, rank) = (self.elem(), 1 + self.random.below(3));
            let reg = self.param(elem, rank);
            arrays.push((reg, elem, rank));
        }
        let width = self.reg();
        let _ = writeln!(self.body, "  r{width} : i64 = dim r{} 0", arrays[0].0);
        let params: Vec<(ElemType, usize)> = arrays.iter().map(|(_, elem, rank)| (*elem, rank - 1)).collect();
        let (block, results) = self.array_block(&params, 8);
        let mut dsts = Vec::new();
        for (elem, rank) in results {
            let (reg, ty) = (self.reg(), ty(elem, rank + 1));
            self.results.push((reg, ty.clone()));
            dsts.push(format!("r{reg} : {ty}"));
        }
        let list: Vec<String> = arrays.iter().map(|(reg, ..)| format!("r{reg}")).collect();
        let line = format!("map r{width} ({}) b{block}", list.join(", "));
        let _ = writeln!(self.body, "  {} = {line} @ 0 1:1-1:9", dsts.join(", "));
    }

    /// A block with results of any rank; gives their types.
    fn array_block(&mut self, params: &[(ElemType, usize)], most: usize) -> (u32, Vec<(ElemType, usize)>) {
        let block = self.next_block();
        let outer = (self.scalars.clone(), self.arrays.clone());
        let mut names = Vec::new();
        for (elem, rank) in params {
            let reg = self.reg();
            names.push(format!("r{reg} : {}", ty(*elem, *rank)));
            match rank {
                0 => self.scalars.push((reg, *elem)),
                _ => self.arrays.push((reg, *elem, *rank)),
            }
        }
        let mut code = String::new();
        let length = 2 + self.random.below(most);
        self.code(&mut code, length);
        let (mut results, mut types) = (Vec::new(), Vec::new());
        for _ in 0..1 + self.random.below(2) {
            let made = self.arrays.get(outer.1.len()..).filter(|made| !made.is_empty()).map(<[Held]>::to_vec);
            match made {
                Some(made) if !self.random.one_in(3) => {
                    let (reg, elem, rank) = made[made.len() - 1 - self.random.below(made.len().min(3))];
                    results.push(format!("r{reg}"));
                    types.push((elem, rank));
                }
                _ => {
                    let elem = self.elem();
                    results.push(format!("r{}", self.some_scalar(&mut code, elem)));
                    types.push((elem, 0));
                }
            }
        }
        (self.scalars, self.arrays) = outer;
        let text = format!("b{block} ({}):\n{code}  => ({})\n", names.join(", "), results.join(", "));
        self.blocks.insert(block, text);
        (block, types)
    }

    fn made(&mut self, elem: ElemType, rank: usize) -> u32 {
        let reg = self.reg();
        self.arrays.push((reg, elem, rank));
        reg
    }

    fn some_array(&mut self) -> Held {
        let there = self.arrays.clone();
        let first = if self.random.one_in(2) { there.len() / 2 } else { 0 };
        *self.random.pick(&there[first..])
    }

    /// A count: small, or an extent.
    fn some_count(&mut self, code: &mut String) -> u32 {
        let reg = self.reg();
        if self.arrays.is_empty() || self.random.one_in(2) {
            let _ = writeln!(code, "  r{reg} : i64 = const {}i64", self.random.below(4));
        } else {
            let (array, _, rank) = self.some_array();
            let _ = writeln!(code, "  r{reg} : i64 = dim r{array} {}", self.random.below(rank));
        }
        reg
    }

    /// One instruction, or a few, that make an array or look at one.
    pub(super) fn array_instruction(&mut self, code: &mut String) {
        if self.arrays.is_empty() {
            let (count, elem) = (self.some_count(code), self.elem());
            let value = self.some_scalar(code, elem);
            let reg = self.made(elem, 1);
            let _ = writeln!(code, "  r{reg} : []{elem} = replicate r{count} r{value}");
            return;
        }
        match self.random.below(15) {
            0..=2 => self.inner_operator(code),
            3 => {
                let count = self.some_count(code);
                let start = self.some_scalar(code, ElemType::I32);
                let step = self.some_scalar(code, ElemType::I32);
                // Steps that differ from row to row are rare in programs.
                let step = if self.random.one_in(3) { step } else { start };
                let reg = self.made(ElemType::I32, 1);
                let _ = writeln!(code, "  r{reg} : []i32 = iota i32 r{count} r{start} r{step} @ 0 6:1-6:2");
            }
            4 => self.replicated(code),
            5 => self.sliced(code),
            6 => {
                let (array, elem, rank) = self.some_array();
                let reg = self.made(elem, rank);
                let ty = ty(elem, rank);
                let dim = self.random.below(rank);
                let _ = match rank {
                    2 if self.random.one_in(2) => writeln!(code, "  r{reg} : {ty} = permute r{array} (1, 0)"),
                    _ => writeln!(code, "  r{reg} : {ty} = reverse r{array} {dim}"),
                };
            }
            7 => {
                let (array, elem, rank) = self.some_array();
                let amount = self.some_scalar(code, ElemType::I64);
                let (reg, ty, dim) = (self.made(elem, rank), ty(elem, rank), self.random.below(rank));
                let _ = writeln!(code, "  r{reg} : {ty} = rotate r{array} {dim} r{amount}");
            }
            8 => self.reshaped(code),
            9 => {
                let (array, elem, rank) = self.some_array();
                let (reg, ty) = (self.made(elem, rank), ty(elem, rank));
                let _ = writeln!(code, "  r{reg} : {ty} = concat (r{array}, r{array}) 0 @ 0 6:1-6:2");
            }
            10 => {
                let elem = self.elem();
                let rows: Vec<String> = (0..1 + self.random.below(3))
                    .map(|_| format!("r{}", self.some_scalar(code, elem)))
                    .collect();
                let reg = self.made(elem, 1);
                let _ = writeln!(code, "  r{reg} : []{elem} = array {elem} 1 ({})", rows.join(", "));
            }
            11 | 12 => self.updated(code),
            13 => self.branch_of_arrays(code),
            _ => self.loop_of_arrays(code),
        }
    }

    fn inner_operator(&mut self, code: &mut String) {
        let (array, elem, rank) = self.some_array();
        let width = self.reg();
        let _ = writeln!(code, "  r{width} : i64 = dim r{array} 0");
        if rank > 1 || self.random.one_in(2) {
            let mut arrays = vec![(array, elem, rank)];
            // The same number of rows: another one of the same array.
            if self.random.one_in(3) {
                let reg = self.made(elem, rank);
                let _ = writeln!(code, "  r{reg} : {} = reverse r{array} 0", ty(elem, rank));
                arrays.push((reg, elem, rank));
            }
            let params: Vec<(ElemType, usize)> = arrays.iter().map(|(_, e, r)| (*e, r - 1)).collect();
            let list: Vec<String> = arrays.iter().map(|(reg, ..)| format!("r{reg}")).collect();
            let list = list.join(", ");
            if rank == 1 && self.random.one_in(3) {
                let (neutral, op) = self.combination(code, &[elem]);
                let map = self.block(&params, &[elem]);
                let reg = self.define(elem);
                let line = format!("redomap r{width} ({neutral}) ({list}) b{map} b{op}");
                let _ = writeln!(code, "  r{reg} : {elem} = {line}");
                return;
            }
            let (block, results) = self.array_block(&params, 3);
            let dsts: Vec<String> = results
                .into_iter()
                .map(|(elem, rank)| format!("r{} : {}", self.made(elem, rank + 1), ty(elem, rank + 1)))
                .collect();
            let _ = writeln!(code, "  {} = map r{width} ({list}) b{block} @ 0 2:1-2:9", dsts.join(", "));
            return;
        }
        let (neutral, op) = self.combination(code, &[elem]);
        if self.random.one_in(2) {
            let reg = self.made(elem, 1);
            let _ = writeln!(code, "  r{reg} : []{elem} = scan r{width} ({neutral}) (r{array}) b{op}");
        } else {
            let reg = self.define(elem);
            let _ = writeln!(code, "  r{reg} : {elem} = reduce r{width} ({neutral}) (r{array}) b{op}");
        }
    }

    fn replicated(&mut self, code: &mut String) {
        let count = self.some_count(code);
        let (array, elem, rank) = self.some_array();
        if rank == 1 && self.random.one_in(3) {
            let reg = self.made(elem, 2);
            let _ = writeln!(code, "  r{reg} : [][]{elem} = replicate r{count} r{array} @ 0 6:1-6:2");
            return;
        }
        let elem = self.elem();
        let value = self.some_scalar(code, elem);
        let reg = self.made(elem, 1);
        let _ = writeln!(code, "  r{reg} : []{elem} = replicate r{count} r{value} @ 0 6:1-6:2");
    }

    fn sliced(&mut self, code: &mut String) {
        let (array, elem, rank) = self.some_array();
        let end = self.some_index(code, array, 0);
        let range = match self.random.below(3) {
            0 => format!("{end}::"),
            1 => format!(":{end}:"),
            _ => "::".to_string(),
        };
        let dims = match rank {
            1 => range,
            _ if self.random.one_in(2) => format!("{range}, ::"),
            _ => {
                let at = self.some_index(code, array, 1);
                let reg = self.made(elem, rank - 1);
                let _ = writeln!(
                    code,
                    "  r{reg} : {} = slice r{array} ({range}, {at}) @ 0 5:1-5:2",
                    ty(elem, rank - 1)
                );
                return;
            }
        };
        let reg = self.made(elem, rank);
        let _ = writeln!(code, "  r{reg} : {} = slice r{array} ({dims}) @ 0 5:1-5:2", ty(elem, rank));
    }

    fn reshaped(&mut self, code: &mut String) {
        let (array, elem, rank) = self.some_array();
        let mut total = self.reg();
        let _ = writeln!(code, "  r{total} : i64 = dim r{array} 0");
        for dim in 1..rank {
            let (extent, product) = (self.reg(), self.reg());
            let _ = writeln!(code, "  r{extent} : i64 = dim r{array} {dim}");
            let _ = writeln!(code, "  r{product} : i64 = op2 mul i64 r{total} r{extent}");
            total = product;
        }
        let one = self.reg();
        let _ = writeln!(code, "  r{one} : i64 = const 1i64");
        let (shape, rank) = match self.random.below(3) {
            0 => (format!("r{total}"), 1),
            1 => (format!("r{one}, r{total}"), 2),
            _ => (format!("r{total}, r{one}"), 2),
        };
        let reg = self.made(elem, rank);
        let _ = writeln!(code, "  r{reg} : {} = reshape r{array} ({shape}) @ 0 6:1-6:2", ty(elem, rank));
    }

    /// A copy of an array with something replaced.
    fn updated(&mut self, code: &mut String) {
        let (array, elem, rank) = self.some_array();
        let (copy, ty) = (self.reg(), ty(elem, rank));
        let _ = writeln!(code, "  r{copy} : {ty} = copy r{array}");
        let mut last = copy;
        for _ in 0..1 + self.random.below(2) {
            let reg = self.reg();
            if self.random.one_in(4) {
                let end = self.some_index(code, array, 0);
                let part = self.reg();
                let _ = writeln!(code, "  r{part} : {ty} = slice r{array} (:{end}:) @ 0 5:1-5:2");
                let _ = writeln!(code, "  r{reg} : {ty} = update r{last}! (:{end}:) r{part} @ 0 4:4-4:5");
            } else {
                let indices: Vec<String> = (0..rank).map(|d| self.some_index(code, last, d)).collect();
                let value = self.some_scalar(code, elem);
                let indices = indices.join(", ");
                let _ = writeln!(code, "  r{reg} : {ty} = update r{last}! ({indices}) r{value} @ 0 4:4-4:5");
            }
            last = reg;
        }
        self.arrays.push((last, elem, rank));
    }

    /// A block without parameters that gives an array of this type.
    fn arm(&mut self, (array, elem, rank): Held) -> u32 {
        let block = self.next_block();
        let outer = (self.scalars.clone(), self.arrays.clone());
        let mut code = String::new();
        self.code(&mut code, 2);
        let result = match self.random.below(13) {
            0..=3 => array,
            4 => {
                // Another size than the other side's, mostly.
                let reg = self.reg();
                let _ = writeln!(
                    code,
                    "  r{reg} : {} = concat (r{array}, r{array}) 0 @ 0 6:1-6:2",
                    ty(elem, rank)
                );
                reg
            }
            5..=8 => {
                let reg = self.reg();
                let _ = writeln!(code, "  r{reg} : {} = reverse r{array} 0", ty(elem, rank));
                reg
            }
            _ => {
                self.arrays = vec![(array, elem, rank)];
                self.updated(&mut code);
                self.arrays.last().map_or(array, |last| last.0)
            }
        };
        (self.scalars, self.arrays) = outer;
        self.blocks.insert(block, format!("b{block} ():\n{code}  => (r{result})\n"));
        block
    }

    fn branch_of_arrays(&mut self, code: &mut String) {
        let cond = self.some_scalar(code, ElemType::Bool);
        let held = self.some_array();
        let (then, otherwise) = (self.arm(held), self.arm(held));
        let reg = self.made(held.1, held.2);
        let _ = writeln!(code, "  r{reg} : {} = if r{cond} b{then} b{otherwise}", ty(held.1, held.2));
    }

    /// A loop that carries an array and a scalar.
    fn loop_of_arrays(&mut self, code: &mut String) {
        let (array, elem, rank) = self.some_array();
        let ty = ty(elem, rank);
        let (bound, start) = (self.some_count(code), self.some_scalar(code, elem));
        let block = self.next_block();
        let outer = (self.scalars.clone(), self.arrays.clone());
        let (counter, carried, sum) = (self.reg(), self.reg(), self.reg());
        self.scalars.push((counter, ElemType::I64));
        self.scalars.push((sum, elem));
        self.arrays.push((carried, elem, rank));
        let mut inner = String::new();
        self.code(&mut inner, 2);
        let indices: Vec<String> = (0..rank).map(|d| self.some_index(&mut inner, carried, d)).collect();
        let value = self.some_scalar(&mut inner, elem);
        let next = self.some_scalar(&mut inner, elem);
        let result = if self.random.one_in(4) {
            carried
        } else {
            let new = self.reg();
            if self.random.one_in(8) {
                // It grows from round to round.
                let _ = writeln!(inner, "  r{new} : {ty} = concat (r{carried}, r{array}) 0 @ 0 6:1-6:2");
            } else if self.random.one_in(3) {
                let _ = writeln!(inner, "  r{new} : {ty} = reverse r{carried} 0");
            } else {
                let indices = indices.join(", ");
                let update = format!("update r{carried}! ({indices}) r{value} @ 0 4:4-4:5");
                let _ = writeln!(inner, "  r{new} : {ty} = {update}");
            }
            new
        };
        (self.scalars, self.arrays) = outer;
        let head = format!("b{block} (r{counter} : i64, r{carried} : {ty}, r{sum} : {elem})");
        self.blocks.insert(block, format!("{head}:\n{inner}  => (r{result}!, r{next})\n"));
        let (last, scalar) = (self.made(elem, rank), self.define(elem));
        let init = self.reg();
        let _ = writeln!(code, "  r{init} : {ty} = copy r{array}");
        let line = format!("for r{bound} (r{init}!, r{start}) b{block}");
        let _ = writeln!(code, "  r{last} : {ty}, r{scalar} : {elem} = {line} @ 0 3:1-3:2");
    }
}
