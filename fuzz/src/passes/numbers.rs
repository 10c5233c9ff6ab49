//! Expressions that are numbers: arithmetic, branches, elements, loops, sums, and what can end the program.

use super::writer::{SIZES, Ty, Writer};
use crate::generate;
use galopvm_base::ElemType;

impl Writer<'_> {
    /// An expression of an element type that is more than a name.
    pub fn number(&mut self, elem: ElemType) -> String {
        let ty = Ty::scalar(elem);
        match self.random.below(22) {
            0..5 => self.arithmetic(elem),
            5 => self.of_one(elem),
            6 => self.branch(&ty),
            7 => self.branches(elem),
            8..11 => self.element(elem),
            11..14 => self.sum(elem),
            14 => self.counted_loop(&[ty]),
            15 => self.conditional_loop(&[ty]),
            16 => self.named(&ty),
            17 => self.one_of_many(&ty),
            18 => self.helped(&ty),
            19 | 20 => self.risk(elem),
            _ => self.derivative(&ty).unwrap_or_else(|| self.arithmetic(elem)),
        }
    }

    fn arithmetic(&mut self, elem: ElemType) -> String {
        if elem == ElemType::Bool {
            if self.random.one_in(3) {
                let (a, b) = (self.condition(), self.condition());
                let sign = *self.random.pick(&["&&", "||", "==", "!="]);
                return format!("({a} {sign} {b})");
            }
            let of = Ty::scalar(self.elem());
            let (a, b) = (self.exp(&of), self.exp(&of));
            let sign = *self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
            return format!("({a} {sign} {b})");
        }
        let ty = Ty::scalar(elem);
        let (a, b) = (self.exp(&ty), self.exp(&ty));
        match self.random.below(9) {
            0 => format!("({elem}.min {a} {b})"),
            1 => format!("({elem}.max {a} {b})"),
            2 if elem.is_int() => format!("({a} / ({b} | 1{elem}))"),
            3 if elem.is_int() => format!("({a} {} {b})", self.random.pick(&["&", "|", "^"])),
            4 if elem.is_int() => format!("({a} >> ({b} & 3{elem}))"),
            2 => format!("({a} / {b})"),
            _ => format!("({a} {} {b})", self.random.pick(&["+", "-", "*"])),
        }
    }

    /// What is made of one number, of another type perhaps.
    fn of_one(&mut self, elem: ElemType) -> String {
        if elem == ElemType::Bool {
            return format!("(!{})", self.condition());
        }
        if self.random.one_in(2) {
            let from = self.elem();
            let a = self.exp(&Ty::scalar(from));
            return if from == elem { a } else { format!("({elem}.{from} {a})") };
        }
        let a = self.exp(&Ty::scalar(elem));
        let names: &[&str] =
            if elem.is_float() { &["abs", "neg", "sin", "tanh", "floor"] } else { &["abs", "neg", "sgn"] };
        format!("({elem}.{} {a})", self.random.pick(names))
    }

    /// One of two values.
    pub fn branch(&mut self, ty: &Ty) -> String {
        let condition = self.condition();
        let (yes, no) = (self.exp(ty), self.exp(ty));
        format!("(if {condition} then {yes} else {no})")
    }

    /// Two values that are nearly the same, or two branches that are taken together, made of the same values.
    fn branches(&mut self, elem: ElemType) -> String {
        let ty = Ty::scalar(elem);
        if elem != ElemType::Bool && self.random.one_in(3) {
            let first = match self.random.below(3) {
                0 => self.counted_loop(&[ty]),
                1 => self.sum(elem),
                _ => self.exp(&ty),
            };
            let second = self.nearly(first.clone());
            return format!("({first} - {second})");
        }
        let condition = self.condition();
        let values = [self.exp(&ty), self.exp(&ty)];
        let mut one = || {
            let [yes, no] = [0, 1].map(|k| values[(k + self.random.below(2)) % 2].clone());
            format!("(if {condition} then {yes} else {no})")
        };
        let (first, second) = (one(), one());
        let sign = if elem == ElemType::Bool { "==" } else { *self.random.pick(&["+", "-", "*"]) };
        // The one that is in the way of the other.
        let between = self.exp(&ty);
        match elem {
            ElemType::Bool => format!("(({first} {sign} {second}) && {between})"),
            _ => format!("({first} {sign} {second} + {between})"),
        }
    }

    /// A value with a name of its own.
    pub fn named(&mut self, ty: &Ty) -> String {
        let of = self.ty();
        let value = self.exp(&of);
        let mark = self.vars().len();
        let name = self.bind(&of);
        let rest = self.exp(ty);
        self.forget(mark);
        format!("(let {name} = {value} in {rest})")
    }

    /// One of several values that are made together.
    pub fn one_of_many(&mut self, ty: &Ty) -> String {
        let mut other = self.ty();
        if self.random.one_in(2) {
            other.dims.clone_from(&ty.dims);
        }
        let which = self.random.below(2);
        let types = if which == 0 { [ty.clone(), other] } else { [other, ty.clone()] };
        format!("({}.{which})", self.tuple(&types))
    }

    /// A call of a function of the program.
    pub fn helped(&mut self, ty: &Ty) -> String {
        let fitting: Vec<_> = self.helpers.iter().filter(|helper| helper.result == *ty).cloned().collect();
        if fitting.is_empty() {
            return self.branch(ty);
        }
        let helper = self.random.pick(&fitting).clone();
        let args: Vec<String> = helper.params.iter().map(|param| self.exp(param)).collect();
        format!("({} n m {})", helper.name, args.join(" "))
    }

    /// A place in a dimension, if that is known to have some.
    pub fn place(&mut self, dim: usize) -> Option<String> {
        if !self.random.one_in(3)
            && let Some(counter) = self.some(|var| var.below == Some(dim))
        {
            return Some(counter.name);
        }
        if let (2.., true) = (dim, self.random.one_in(2)) {
            return Some(self.random.below(dim - 1).to_string());
        }
        let number = if self.random.one_in(3) {
            self.exp(&Ty::scalar(ElemType::I64))
        } else {
            self.leaf(&Ty::scalar(ElemType::I64))
        };
        self.is_filled(dim).then(|| format!("({number} % {})", SIZES[dim]))
    }

    fn element(&mut self, elem: ElemType) -> String {
        match self.some(|var| var.ty.elem == elem && !var.ty.is_scalar()) {
            Some(array) => self.part(&array.name, &array.ty, &Ty::scalar(elem)),
            None => self.arithmetic(elem),
        }
    }

    /// A row or element of an array.
    pub fn part(&mut self, array: &str, of: &Ty, ty: &Ty) -> String {
        let dims = &of.dims[..of.rank() - ty.rank()];
        let places: Option<Vec<String>> = dims.iter().map(|dim| self.place(*dim)).collect();
        if let Some(places) = places {
            return format!("{array}[{}]", places.join(", "));
        }
        // Where there are no rows something else is taken.
        let empty: Vec<usize> = dims.iter().copied().filter(|dim| !self.is_filled(*dim)).collect();
        let tests: Vec<String> = empty.iter().map(|dim| format!("{} > 0", SIZES[*dim])).collect();
        let known = self.filled.len();
        self.filled.extend(empty);
        let places: Vec<String> =
            dims.iter().map(|dim| self.place(*dim).unwrap_or_else(|| "0".into())).collect();
        self.filled.truncate(known);
        let other = self.leaf(ty);
        format!("(if {} then {array}[{}] else {other})", tests.join(" && "), places.join(", "))
    }

    /// An operator on numbers that may be combined in any grouping, and where it begins.
    pub fn operator(&mut self, elem: ElemType) -> (String, String) {
        let (op, neutral) = match (elem, self.random.below(4)) {
            (ElemType::Bool, 0 | 1) => ("(&&)".to_string(), "true".to_string()),
            (ElemType::Bool, _) => ("(||)".into(), "false".into()),
            (_, 0) => ("(+)".into(), format!("0{elem}")),
            // The last one that is large: whose turn it is matters.
            (_, 1) => {
                let (v, w) = (self.own_name(), self.own_name());
                let op = format!("(\\{v} {w} -> if {w} >= 2{elem} then {w} else {v})");
                (op, self.leaf(&Ty::scalar(elem)))
            }
            _ => generate::operator(self.random, elem),
        };
        // Where it begins is not always what changes nothing: then somebody sees that it is combined.
        if self.random.one_in(4) { (op, self.leaf(&Ty::scalar(elem))) } else { (op, neutral) }
    }

    fn sum(&mut self, elem: ElemType) -> String {
        let (op, neutral) = self.operator(elem);
        let dim = self.dim();
        let array = self.exp(&Ty::scalar(elem).many(dim));
        match self.random.below(6) {
            0 if elem == ElemType::I64 => format!("(length {array})"),
            2 => {
                let (v, w) = (self.own_name(), self.own_name());
                let one = Ty::scalar(elem);
                let rows = self.map(dim, &[one.clone(), one]);
                format!("(let ({v}, {w}) = unzip {rows} in reduce {op} {neutral} (map2 {op} {v} {w}))")
            }
            1 => {
                let (v, w) = (self.own_name(), self.own_name());
                let condition = self.condition();
                format!(
                    "(reduce {op} {neutral} (map2 (\\{v} {w} -> if {condition} then {v} else {w}) {array} (reverse {array})))"
                )
            }
            _ => format!("(reduce {op} {neutral} {array})"),
        }
    }

    /// Something that ends the program for some numbers, or does not end for some.
    pub fn risk(&mut self, elem: ElemType) -> String {
        let ty = Ty::scalar(elem);
        if self.risks >= self.most_risks {
            return self.branch(&ty);
        }
        self.risks += 1;
        let value = self.exp(&ty);
        let number = self.leaf(&Ty::scalar(ElemType::I64));
        match self.random.below(8) {
            0 if elem.is_int() => {
                let divisor = self.leaf(&ty);
                format!("({value} {} {divisor})", self.random.pick(&["/", "%"]))
            }
            1 => format!("(let _ = replicate (({number} & 7) - 1) {value} in {value})"),
            2 if elem == ElemType::I64 => format!("(length (iota (({number} & 7) - 1)))"),
            3 if self.random.one_in(3) => {
                let condition = self.condition();
                let name = self.own_name();
                format!("(loop {name} = {value} while {condition} do {name})")
            }
            4..7 => {
                let fits = |ty: &Ty| ty.elem == elem && ty.rank() == 1;
                match self.some(|var| fits(&var.ty)) {
                    Some(array) if self.random.one_in(3) => {
                        let other = self.leaf(&Ty::scalar(ElemType::I64));
                        let (array, low) = (array.name, format!("({number} & 3)"));
                        format!("(let _ = {array}[{low}:({other} & 3)] in {value})")
                    }
                    Some(array) => format!("{}[{number}]", array.name),
                    None => format!("(assert {} {value})", self.condition()),
                }
            }
            _ => format!("(assert {} {value})", self.condition()),
        }
    }
}
