//! Expressions that are arrays: maps, views, prefixes, sums of rows, updates of copies, computed places, parts put together.

use super::writer::{SIZES, Ty, Writer};
use galopvm_base::ElemType;

impl Writer<'_> {
    /// An array of a type that is more than a name.
    pub fn array(&mut self, ty: &Ty) -> String {
        let dim = ty.dims[0];
        match self.random.below(28) {
            26 | 27 if ty.rank() > 1 => self.view(ty),
            0..7 => self.map(dim, &[ty.row()]),
            7 | 8 => self.view(ty),
            9 => self.prefixes(ty),
            10 => self.sum_of_rows(ty),
            11 => self.branch(ty),
            12 | 13 => self.counted_loop(std::slice::from_ref(ty)),
            14 => self.conditional_loop(std::slice::from_ref(ty)),
            15 => self.updated(ty),
            16 | 17 => self.filled_in_rounds(ty),
            18 => self.at_computed_places(ty),
            19 => self.put_together(ty),
            20 => self.one_of_many(ty),
            21 => self.named(ty),
            22 => self.row_of_more(ty),
            23 => self.helped(ty),
            24 if dim >= 2 => {
                let row = ty.row();
                let rows: Vec<String> = (1..dim).map(|_| self.exp(&row)).collect();
                format!("[{}]", rows.join(", "))
            }
            24 => {
                let row = self.exp(&ty.row());
                format!("(replicate {} {row})", SIZES[dim])
            }
            _ => self.derivative(ty).unwrap_or_else(|| self.map(dim, &[ty.row()])),
        }
    }

    /// Another view of an array, or of each of its rows.
    fn view(&mut self, ty: &Ty) -> String {
        let swapped = |at: usize| {
            let mut dims = ty.dims.clone();
            dims.swap(at, at + 1);
            Ty { elem: ty.elem, dims }
        };
        let name = self.own_name();
        match (self.random.below(10), ty.rank()) {
            (0 | 1, 2..) => format!("(transpose {})", self.exp(&swapped(0))),
            (2 | 3, 3..) => format!("(map (\\{name} -> transpose {name}) {})", self.exp(&swapped(1))),
            (4 | 9, 3..) => {
                format!("(map (\\{name} -> reverse (transpose {name})) {})", self.exp(&swapped(1)))
            }
            (4, 2..) => format!("(map reverse {})", self.exp(ty)),
            (5, 2) => {
                let array = self.exp(ty);
                format!("(unflatten (reverse (flatten {array})))")
            }
            (6, 3) => {
                let array = self.exp(&swapped(1));
                format!("(map (\\{name} -> unflatten (flatten (transpose {name}))) {array})")
            }
            (5 | 8, 3) => {
                let array = self.exp(ty);
                format!("(map (\\{name} -> unflatten (reverse (flatten {name}))) {array})")
            }
            (7, _) => {
                let by = self.leaf(&Ty::scalar(ElemType::I64));
                format!("(rotate {by} {})", self.exp(ty))
            }
            (8, _) => {
                let (a, b) = (self.exp(ty), self.exp(ty));
                self.sized(&format!("({a} ++ {b})[::2]"), ty)
            }
            (9, _) => {
                let array = self.exp(ty);
                self.sized(&format!("(let {name} = {array} ++ {array} in {name}[::-2])"), ty)
            }
            _ => format!("(reverse {})", self.exp(ty)),
        }
    }

    /// What rows are combined with, and where that begins.
    fn row_operator(&mut self, row: &Ty) -> (String, String) {
        let (mut op, neutral) = self.operator(row.elem);
        let mut first = neutral;
        for dim in row.dims.iter().rev() {
            op = match self.random.below(5) {
                0 => {
                    let (v, w) = (self.own_name(), self.own_name());
                    format!("(\\{v} {w} -> map2 {op} {v} {w})")
                }
                1 => {
                    let (v, w, i) = (self.own_name(), self.own_name(), self.own_name());
                    let size = SIZES[*dim];
                    format!("(\\{v} {w} -> map (\\{i} -> {op} {v}[{i}] {w}[{i}]) (iota {size}))")
                }
                _ => format!("(map2 {op})"),
            };
            first = format!("(replicate {} {first})", SIZES[*dim]);
        }
        if !row.is_scalar() && self.random.one_in(3) {
            first = self.exp(row);
        }
        (op, first)
    }

    fn prefixes(&mut self, ty: &Ty) -> String {
        let (op, first) = self.row_operator(&ty.row());
        let array = self.exp(ty);
        format!("(scan {op} {first} {array})")
    }

    fn sum_of_rows(&mut self, ty: &Ty) -> String {
        let (op, first) = self.row_operator(ty);
        let dim = self.dim();
        let array = self.exp(&ty.many(dim));
        format!("(reduce {op} {first} {array})")
    }

    /// A row of an array of one dimension more.
    fn row_of_more(&mut self, ty: &Ty) -> String {
        let fits = |of: &Ty| of.rank() == ty.rank() + 1 && of.elem == ty.elem && of.dims[1..] == ty.dims;
        match self.some(|var| fits(&var.ty)) {
            Some(var) => self.part(&var.name, &var.ty, ty),
            None => self.view(ty),
        }
    }

    /// A copy of which an element, a row or a part is another.
    fn updated(&mut self, ty: &Ty) -> String {
        let array = self.exp(ty);
        let (copy, again) = (self.own_name(), self.own_name());
        let dim = ty.dims[0];
        let Some(place) = self.place(dim) else { return self.filled_in_rounds(ty) };
        let row = self.exp(&ty.row());
        match self.random.below(3) {
            0 => {
                let (other, there) = (self.exp(&ty.row()), self.place(dim).unwrap_or_else(|| place.clone()));
                format!(
                    "(let {copy} = copy {array} in let {again} = {copy} with [{place}] = {row} in {again} with [{there}] = {other})"
                )
            }
            1 => {
                let other = self.exp(ty);
                format!("((copy {array}) with [:{place}] = {other}[:{place}])")
            }
            _ => format!("((copy {array}) with [{place}] = {row})"),
        }
    }

    /// A copy that a loop fills place by place, out of what it holds already.
    fn filled_in_rounds(&mut self, ty: &Ty) -> String {
        let array = self.exp(ty);
        let (carried, dim) = (self.own_name(), ty.dims[0]);
        let mark = self.open();
        let known = self.filled.len();
        self.filled.push(dim);
        let at = self.bind_below(&Ty::scalar(ElemType::I64), Some(dim));
        let mut before = String::new();
        if let [_] = ty.dims[..] {
            let element = self.bind(&Ty::scalar(ty.elem));
            before = format!("let {element} = {carried}[({at} + 1) % {}] in ", SIZES[dim]);
        }
        let row = self.exp(&ty.row());
        self.filled.truncate(known);
        self.close(mark);
        format!(
            "(loop {carried} = copy {array} for {at} < {} do {before}{carried} with [{at}] = {row})",
            SIZES[dim]
        )
    }

    /// Values that go where other numbers say, some of them nowhere.
    fn at_computed_places(&mut self, ty: &Ty) -> String {
        let (target, dim) = (self.exp(ty), self.dim());
        let mut values = ty.clone();
        values.dims[0] = dim;
        let places = match self.random.below(3) {
            0 => self.exp(&Ty { elem: ElemType::I64, dims: vec![dim] }),
            _ => format!("(map (\\i -> i * {} - 1) (iota {}))", 1 + self.random.below(3), SIZES[dim]),
        };
        let values = self.exp(&values);
        let (op, neutral) = self.operator(ty.elem);
        match (self.random.below(4), ty.rank()) {
            (0, 1) => format!("(reduce_by_index (copy {target}) {op} {neutral} {places} {values})"),
            (1, 1) => format!("(hist {op} {neutral} {} {places} {values})", SIZES[ty.dims[0]]),
            // Of two values for one place either may stay: places differ from each other.
            _ => {
                let places = format!("(map (\\i -> i * 2 - 1) (iota {}))", SIZES[dim]);
                format!("(scatter (copy {target}) {places} {values})")
            }
        }
    }

    /// Parts of arrays, one behind the other.
    fn put_together(&mut self, ty: &Ty) -> String {
        let (name, array) = (self.own_name(), self.exp(ty));
        let size = SIZES[ty.dims[0]];
        let number = self.leaf(&Ty::scalar(ElemType::I64));
        let other = self.own_name();
        match self.random.below(3) {
            0 if ty.rank() == 1 => {
                let mark = self.open();
                let element = self.bind(&ty.row());
                let test = self.condition();
                self.close(mark);
                let parts = format!(
                    "(let ({name}, {other}) = partition (\\{element} -> {test}) {array} in {name} ++ {other})"
                );
                self.sized(&parts, ty)
            }
            1 => {
                let last = self.exp(ty);
                let parts =
                    format!("(let {name} = {number} % (1+{size}) in {array}[:{name}] ++ {last}[{name}:])");
                self.sized(&parts, ty)
            }
            _ => self.sized(&format!("(let {name} = {array} ++ {array} in {name}[{size}:])"), ty),
        }
    }

    /// An array whose type does not tell that it has as many rows as it has. In bodies that may be executed never it is taken row by
    /// row, since an operator over no rows does not know what its rows would be like.
    fn sized(&mut self, array: &str, ty: &Ty) -> String {
        if !self.is_repeated() {
            return format!("({array} :> {})", ty.text());
        }
        let (name, i) = (self.own_name(), self.own_name());
        format!("(let {name} = {array} in tabulate {} (\\{i} -> {name}[{i}]))", SIZES[ty.dims[0]])
    }
}
