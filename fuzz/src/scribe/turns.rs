//! Loops over the places of an array that write each from places nearby: what an earlier turn has written, what a later one will,
//! and what none does.

use super::{Held, SIZES, Scribe};
use crate::author::Elem;

impl Scribe<'_> {
    /// Places from the first one on, one after the other.
    pub(super) fn turns(&mut self, array: &Held) {
        let (elem, dims) = (array.elem, array.dims.clone());
        if dims.len() > 2 {
            return self.whole(array);
        }
        let target = self.taken(array);
        let other = match self.like(elem, &dims) {
            Some(other) => other.name,
            None => {
                let exp = self.tabulated(elem, &dims);
                self.made(elem, dims.clone(), &exp).name
            }
        };
        match dims[..] {
            [d] => {
                let value = self.turn(elem, &other, |at| format!("[{at}]"));
                let n = SIZES[d];
                let body = format!("s with [i + 1] = {value}");
                self.made(elem, dims, &format!("loop s = {target} for i < {n} - 2 do {body}"));
            }
            [d, e] => {
                let row = ["i + 1", "i", "0"][self.random.below(3)];
                let value = self.turn(elem, &other, |at| match at {
                    // Of the row that is written, or of another one.
                    "i + 1" | "i" | "i + 2" => format!("[i + 1, {}]", at.replace('i', "j")),
                    at => format!("[{row}, {}]", at.replace('i', "j")),
                });
                let (n, m) = (SIZES[d], SIZES[e]);
                let body = format!("loop s for j < {m} - 2 do s with [i + 1, j + 1] = {value}");
                self.made(elem, dims, &format!("loop s = {target} for i < {n} - 1 do {body}"));
            }
            _ => {}
        }
    }

    /// What a turn writes at the place after `i`, from the array itself and another one.
    fn turn(&mut self, elem: Elem, other: &str, place: impl Fn(&str) -> String) -> String {
        let near = |at: &str| format!("s{}", place(at));
        let own = match self.random.below(6) {
            0 => format!("{other}{}", place("i + 1")),
            1 => near("i + 2"),
            2 => format!("({} + {other}{})", near("i + 1"), place("i")),
            3 => format!(
                "(if {other}{} > {} then {} else {})",
                place("i"),
                elem.of_int("2"),
                near("i + 2"),
                near("i + 1")
            ),
            4 => near("( i )"),
            _ => elem.of_int("i * 5 % 11"),
        };
        let (before, word, by) = (near("i"), elem.word(), elem.of_int("k % 5"));
        match self.random.below(8) {
            0 => own,
            1 => format!("{before} + {own}"),
            2 => format!("{word}.min ({before} + {by}) {own}"),
            3 if !elem.is_float() => format!("{before} * {own}"),
            4 if !elem.is_float() => format!("({before} ^ {own})"),
            5 => format!("{own} - {before}"),
            _ => format!("{word}.max {own} ({before} - {by})"),
        }
    }
}
