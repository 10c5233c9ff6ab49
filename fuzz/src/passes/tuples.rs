//! Expressions that are several values at once: rows that come apart, loops that carry several things, operators on pairs. Some of
//! the values depend on rows and rounds, some do not, and some nobody looks at.

use super::writer::{SIZES, Ty, Writer};
use galopvm_base::ElemType;

impl Writer<'_> {
    /// A tuple of values of two or three types.
    pub fn tuple(&mut self, types: &[Ty]) -> String {
        let dim = types[0].dims.first().copied();
        let are_rows = dim.is_some() && types.iter().all(|ty| ty.dims.first() == dim.as_ref());
        let are_pairs = types.len() == 2 && types[0].dims == types[1].dims;
        match (self.random.below(8), dim) {
            (0 | 1, Some(dim)) if are_rows => {
                let rows: Vec<Ty> = types.iter().map(Ty::row).collect();
                let map = self.map(dim, &rows);
                format!("({} {map})", unzip(types.len()))
            }
            (2, Some(dim)) if are_pairs && types[0].rank() == 1 => {
                let (operator, neutral) = self.on_pairs(types[0].elem, types[1].elem);
                let pairs = self.pairs(dim, types);
                format!("(unzip (scan {operator} {neutral} {pairs}))")
            }
            (0..4, None) if are_pairs => {
                let (operator, neutral) = self.on_pairs(types[0].elem, types[1].elem);
                let dim = self.dim();
                let pairs = self.pairs(dim, &[types[0].many(dim), types[1].many(dim)]);
                format!("(reduce {operator} {neutral} {pairs})")
            }
            (3, _) => {
                let condition = self.condition();
                let (yes, no) = (self.values(types), self.values(types));
                format!("(if {condition} then {yes} else {no})")
            }
            (4, _) => self.conditional_loop(types),
            (5 | 6, _) => self.counted_loop(types),
            _ => self.separate(types),
        }
    }

    /// An array of pairs, by the types of the arrays of both.
    fn pairs(&mut self, dim: usize, types: &[Ty]) -> String {
        if self.random.one_in(2) {
            let rows: Vec<Ty> = types.iter().map(Ty::row).collect();
            return self.map(dim, &rows);
        }
        let arrays: Vec<String> = types.iter().map(|ty| self.exp(ty)).collect();
        format!("(zip {})", arrays.join(" "))
    }

    /// A `map` over a dimension whose rows come to values of these types, in brackets.
    pub fn map(&mut self, dim: usize, rows: &[Ty]) -> String {
        self.map_over(Vec::new(), dim, rows)
    }

    /// As `map`, over these arrays at least.
    pub fn map_over(&mut self, mut inputs: Vec<(String, Ty)>, dim: usize, rows: &[Ty]) -> String {
        for _ in inputs.len()..*self.random.pick(&[0, 1, 1, 1, 2, 2, 3]) {
            let again =
                (!inputs.is_empty() && self.random.one_in(5)).then(|| self.random.pick(&inputs).clone());
            let known = self.some(|var| var.ty.dims.first() == Some(&dim));
            inputs.push(match (again, known) {
                (Some(input), _) => input,
                (_, Some(var)) if !self.random.one_in(4) => (var.name, var.ty),
                _ => {
                    let rank = *self.random.pick(&[0, 0, 0, 1]);
                    let row = Ty { elem: self.elem(), dims: (0..rank).map(|_| self.dim()).collect() };
                    let ty = row.many(dim);
                    (self.exp(&ty), ty)
                }
            });
        }
        let mark = self.open();
        let known = self.filled.len();
        self.filled.push(dim);
        let is_counted = inputs.is_empty() || self.random.one_in(5);
        let mut params: Vec<String> = inputs.iter().map(|(_, ty)| self.bind(&ty.row())).collect();
        let mut arrays: Vec<String> = inputs.into_iter().map(|(text, _)| text).collect();
        if is_counted {
            params.push(self.bind_below(&Ty::scalar(ElemType::I64), Some(dim)));
            arrays.push(format!("(iota {})", SIZES[dim]));
        }
        let body = self.body(rows);
        self.filled.truncate(known);
        self.close(mark);
        match params.len() {
            1 => format!("(map (\\{} -> {body}) {})", params[0], arrays[0]),
            2 if self.random.one_in(3) => {
                format!("(map (\\({}) -> {body}) (zip {}))", params.join(", "), arrays.join(" "))
            }
            count => format!("(map{count} (\\{} -> {body}) {})", params.join(" "), arrays.join(" ")),
        }
    }

    /// A loop that counts its rounds, or takes a row in each.
    pub fn counted_loop(&mut self, types: &[Ty]) -> String {
        let first = self.separate_or_one(types);
        let over = self.some(|var| !var.ty.is_scalar());
        let bound = self.leaf(&Ty::scalar(ElemType::I64));
        let mark = self.open();
        let known = self.filled.len();
        let pattern = self.pattern(types);
        let number = Ty::scalar(ElemType::I64);
        let rounds = match (self.random.below(4), over) {
            (0, Some(array)) => {
                self.filled.push(array.ty.dims[0]);
                format!("for {} in {}", self.bind(&array.ty.row()), array.name)
            }
            (1, _) => {
                let dim = self.dim();
                self.filled.push(dim);
                format!("for {} < {}", self.bind_below(&number, Some(dim)), SIZES[dim])
            }
            (2, _) => format!("for {} < ({bound} & 3)", self.bind(&number)),
            _ => format!("for {} < {}", self.bind(&number), self.random.below(4)),
        };
        let body = self.body(types);
        self.filled.truncate(known);
        self.close(mark);
        format!("(loop {pattern} = {first} {rounds} do {body})")
    }

    /// A loop that goes on as long as something holds, for some rounds at most.
    pub fn conditional_loop(&mut self, types: &[Ty]) -> String {
        let first = self.separate_or_one(types);
        let mark = self.open();
        let pattern = self.pattern(types);
        let count = self.own_name();
        let condition = self.condition();
        let most = self.random.below(4);
        let body = self.body(types);
        self.close(mark);
        let out = self.own_name();
        // A third component counts, and is dropped behind the loop.
        format!(
            "(let ({out}, _) = loop ({pattern}, {count}) = ({first}, 0i64) while {count} < {most} && {condition} do (({body}), {count} + 1) in {out})"
        )
    }

    fn separate_or_one(&mut self, types: &[Ty]) -> String {
        if let [ty] = types { self.exp(ty) } else { self.separate(types) }
    }

    /// An operator on pairs that may be combined in any grouping, and where it begins.
    fn on_pairs(&mut self, first: ElemType, second: ElemType) -> (String, String) {
        let names: Vec<String> = (0..4).map(|_| self.own_name()).collect();
        let [a, b, c, d] = &names[..] else { unreachable!("there are four names") };
        let ((op, neutral), (other, its)) = (self.operator(first), self.operator(second));
        let function = match self.random.below(4) {
            0 if first == ElemType::Bool && second != ElemType::Bool => {
                let neutral = format!("(false, 0{second})");
                return (
                    format!("(\\({a}, {b}) ({c}, {d}) -> ({a} || {c}, if {c} then {d} else {b} + {d}))"),
                    neutral,
                );
            }
            1 if first == second && first != ElemType::Bool => {
                let neutral = format!("(1{first}, 0{first})");
                return (format!("(\\({a}, {b}) ({c}, {d}) -> ({a} * {c}, {b} * {c} + {d}))"), neutral);
            }
            2 if first != ElemType::Bool => {
                let neutral = format!("({first}.lowest, {its})");
                return (
                    format!("(\\({a}, {b}) ({c}, {d}) -> if {a} < {c} then ({c}, {d}) else ({a}, {b}))"),
                    neutral,
                );
            }
            _ => format!("(\\({a}, {b}) ({c}, {d}) -> ({op} {a} {c}, {other} {b} {d}))"),
        };
        (function, format!("({neutral}, {its})"))
    }
}

fn unzip(count: usize) -> &'static str {
    if count == 2 { "unzip" } else { "unzip3" }
}
