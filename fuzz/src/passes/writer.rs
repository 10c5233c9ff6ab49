//! What is known while a program is written: the names in scope with their types, what was said before, and how much more may be
//! said.
//!
//! Invariants:
//! - Every expression has its type by construction. Extents are the two sizes `n` and `m`, or one, two or three, so that arrays
//!   fit each other where their extents are the same words.
//! - Text of an expression is one atom or stands in brackets: it can stand everywhere.
//! - A name is bound once in a program, and what uses a name up uses a copy that nobody else names.
//! - Only what [`Writer::risk`] writes can end the program, or not end: all other places lie inside, and divisors are not 0.

use crate::author::late;
use crate::generate;
use galopvm_base::ElemType;
use galopvm_testkit::Random;
use std::ops::Range;

/// The extents of arrays, by name. The first two come with the arguments, and may be 0.
pub const SIZES: [&str; 5] = ["n", "m", "1", "2", "3"];

/// Operations, each with one that takes and gives the same.
const NEAR: [(&str, &str); 9] = [
    (" + ", " - "),
    (" - ", " + "),
    (" * ", " + "),
    (".min ", ".max "),
    (".max ", ".min "),
    (" <= ", " >= "),
    (" == ", " != "),
    (" && ", " || "),
    ("(+)", "(*)"),
];

/// A number or an array of numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ty {
    pub elem: ElemType,
    /// Its extents, by number of the size, outermost first.
    pub dims: Vec<usize>,
}

impl Ty {
    pub fn scalar(elem: ElemType) -> Ty {
        Ty { elem, dims: Vec::new() }
    }

    /// An array of these.
    pub fn many(&self, dim: usize) -> Ty {
        Ty { elem: self.elem, dims: [&[dim], &self.dims[..]].concat() }
    }

    /// What an array consists of.
    pub fn row(&self) -> Ty {
        Ty { elem: self.elem, dims: self.dims.get(1..).unwrap_or_default().to_vec() }
    }

    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    pub fn is_scalar(&self) -> bool {
        self.dims.is_empty()
    }

    pub fn text(&self) -> String {
        let dims: String = self.dims.iter().map(|dim| format!("[{}]", SIZES[*dim])).collect();
        format!("{dims}{}", self.elem)
    }
}

/// Something with a name.
#[derive(Clone)]
pub struct Var {
    pub name: String,
    pub ty: Ty,
    /// Names that come later have greater numbers.
    serial: usize,
    /// The size that it is below, of numbers that count.
    pub below: Option<usize>,
}

/// An expression that was written before, to be written again where it has the same meaning.
struct Said {
    ty: Ty,
    text: String,
    /// The names from outside that it uses.
    free: Vec<usize>,
    /// Places of it that can end the program.
    risks: usize,
}

/// A function of the program: what it takes besides sizes and a number.
#[derive(Clone)]
pub struct Helper {
    pub name: String,
    pub params: Vec<Ty>,
    pub result: Ty,
}

/// The state of writing.
pub struct Writer<'r> {
    pub random: &'r mut Random,
    vars: Vec<Var>,
    said: Vec<Said>,
    /// The first names of the bodies around that are executed several times.
    levels: Vec<usize>,
    /// Names that are not used: of the innermost such body, while something is written that does not depend on it.
    hidden: Range<usize>,
    /// Sizes that are known not to be 0 here.
    pub filled: Vec<usize>,
    next: usize,
    /// How many more expressions the statement may have.
    pub budget: usize,
    indent: usize,
    /// Places that can end the program: those there are, and how many there may be.
    pub risks: usize,
    pub most_risks: usize,
    pub helpers: Vec<Helper>,
    /// How many derivatives are around.
    pub deriving: usize,
    /// The program has derivatives.
    pub derives: bool,
}

impl<'r> Writer<'r> {
    pub fn new(random: &'r mut Random) -> Writer<'r> {
        let most_risks = *random.pick(&[0, 0, 1, 1, 1, 2, 5]);
        let derives = random.one_in(3);
        Writer {
            random,
            vars: Vec::new(),
            said: Vec::new(),
            levels: Vec::new(),
            hidden: 0..0,
            filled: vec![2, 3, 4],
            next: 0,
            budget: 0,
            indent: 1,
            risks: 0,
            most_risks,
            helpers: Vec::new(),
            deriving: 0,
            derives,
        }
    }

    /// Forgets all names: another function begins.
    pub fn begin(&mut self) {
        self.vars.clear();
    }

    /// Something from outside under its name.
    pub fn given(&mut self, name: &str, ty: Ty) {
        self.next += 1;
        self.vars.push(Var { name: name.into(), ty, serial: self.next, below: None });
    }

    /// A new name.
    pub fn bind(&mut self, ty: &Ty) -> String {
        self.bind_below(ty, None)
    }

    /// A new name for a number that is below a size.
    pub fn bind_below(&mut self, ty: &Ty, below: Option<usize>) -> String {
        self.next += 1;
        let name = format!("v{}", self.next);
        self.vars.push(Var { name: name.clone(), ty: ty.clone(), serial: self.next, below });
        name
    }

    /// A new name that is used by whoever asked only.
    pub fn own_name(&mut self) -> String {
        self.next += 1;
        format!("t{}", self.next)
    }

    /// Opens a body that is executed several times.
    pub fn open(&mut self) -> usize {
        self.levels.push(self.next + 1);
        self.vars.len()
    }

    /// Closes it: its names are gone.
    pub fn close(&mut self, mark: usize) {
        self.levels.pop();
        self.vars.truncate(mark);
    }

    /// Whether what is written is in such a body.
    pub fn is_repeated(&self) -> bool {
        !self.levels.is_empty()
    }

    /// Names from this one on are gone.
    pub fn forget(&mut self, mark: usize) {
        self.vars.truncate(mark);
    }

    /// The names in scope.
    pub fn vars(&self) -> &[Var] {
        &self.vars
    }

    /// One of the names that may be used and fit.
    pub fn some(&mut self, fits: impl Fn(&Var) -> bool) -> Option<Var> {
        let hidden = self.hidden.clone();
        late(self.random, &self.vars, |var| !hidden.contains(&var.serial) && fits(var)).cloned()
    }

    pub fn is_filled(&self, dim: usize) -> bool {
        self.filled.contains(&dim)
    }

    pub fn elem(&mut self) -> ElemType {
        use ElemType::{Bool, F32, F64, I32, I64, U8};
        *self.random.pick(&[I64, I64, I64, I64, F64, F64, F64, F32, F32, I32, I32, U8, Bool, Bool])
    }

    pub fn dim(&mut self) -> usize {
        *self.random.pick(&[0, 0, 0, 1, 1, 1, 2, 3, 4, 4])
    }

    pub fn ty(&mut self) -> Ty {
        let rank = *self.random.pick(&[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3]);
        Ty { elem: self.elem(), dims: (0..rank).map(|_| self.dim()).collect() }
    }

    /// An expression of a type.
    pub fn exp(&mut self, ty: &Ty) -> String {
        if self.budget == 0 {
            return self.leaf(ty);
        }
        self.budget -= 1;
        if self.random.one_in(4)
            && let Some(text) = self.said_before(ty)
        {
            return text;
        }
        if self.random.one_in(6) {
            return self.leaf(ty);
        }
        let risks = self.risks;
        let outer = self.hidden.clone();
        if let Some(first) = self.levels.last()
            && outer.is_empty()
            && self.random.one_in(4)
        {
            self.hidden = *first..self.next + 1;
        }
        let text = if ty.is_scalar() { self.number(ty.elem) } else { self.array(ty) };
        self.hidden = outer;
        self.remember(ty, &text, self.risks - risks);
        text
    }

    /// What holds or not: mostly something that was asked before, so that branches are taken together.
    pub fn condition(&mut self) -> String {
        let bool = Ty::scalar(ElemType::Bool);
        if self.random.one_in(2)
            && let Some(text) = self.said_before(&bool)
        {
            return text;
        }
        if self.random.one_in(3) { self.leaf(&bool) } else { self.exp(&bool) }
    }

    /// An expression without parts.
    pub fn leaf(&mut self, ty: &Ty) -> String {
        if !self.random.one_in(8)
            && let Some(var) = self.some(|var| var.ty == *ty)
        {
            return var.name;
        }
        if !ty.is_scalar() {
            if self.random.one_in(2) {
                return self.numbered(ty);
            }
            let row = self.leaf(&ty.row());
            return match ty.dims[0] {
                dim @ 2.. if !self.random.one_in(3) => format!("[{}]", vec![row; dim - 1].join(", ")),
                dim => format!("(replicate {} {row})", SIZES[dim]),
            };
        }
        let number = self.some(|var| var.ty.is_scalar() && var.ty.elem != ElemType::Bool);
        match number {
            Some(var) if ty.elem == ElemType::Bool => {
                let sign = *self.random.pick(&["<", ">", "==", ">="]);
                format!("({} {sign} {})", var.name, generate::literal(self.random, var.ty.elem))
            }
            Some(var) if !self.random.one_in(3) && var.ty.elem != ty.elem => {
                format!("({}.{} {})", ty.elem, var.ty.elem, var.name)
            }
            _ => generate::literal(self.random, ty.elem),
        }
    }

    /// An array whose elements tell where they are.
    fn numbered(&mut self, ty: &Ty) -> String {
        let names: Vec<String> = ty.dims.iter().map(|_| self.own_name()).collect();
        let place: Vec<String> =
            names.iter().zip([7, 3, 1, 2]).map(|(name, by)| format!("{name} * {by}")).collect();
        let place = place.join(" + ");
        let mut text = match ty.elem {
            ElemType::I64 => place,
            ElemType::Bool => format!("({place}) % 3 == 0"),
            elem => format!("{elem}.i64 ({place})"),
        };
        for (name, dim) in names.iter().zip(&ty.dims).rev() {
            text = format!("(tabulate {} (\\{name} -> {text}))", SIZES[*dim]);
        }
        text
    }

    fn remember(&mut self, ty: &Ty, text: &str, risks: usize) {
        if text.len() < 6 || text.len() > 160 {
            return;
        }
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
        let used = self.vars.iter().filter(|var| words.contains(&var.name.as_str()));
        let free = used.map(|var| var.serial).collect();
        self.said.push(Said { ty: ty.clone(), text: text.into(), free, risks });
    }

    /// An expression of a type that was written before, if it can be written here.
    fn said_before(&mut self, ty: &Ty) -> Option<String> {
        let visible: Vec<usize> =
            self.vars.iter().map(|var| var.serial).filter(|serial| !self.hidden.contains(serial)).collect();
        // A place modulo a size is one only where there are some.
        let empty: Vec<String> =
            (0..2).filter(|dim| !self.is_filled(*dim)).map(|dim| format!("% {}", SIZES[dim])).collect();
        let room = self.most_risks - self.risks.min(self.most_risks);
        let fits = |said: &Said| {
            said.ty == *ty
                && said.risks <= room
                && said.free.iter().all(|serial| visible.contains(serial))
                && !empty.iter().any(|word| said.text.contains(word))
        };
        let said = late(self.random, &self.said, fits)?;
        self.risks += said.risks;
        let text = said.text.clone();
        Some(if self.random.one_in(4) { self.nearly(text) } else { text })
    }

    /// An expression that differs in one operation: whoever takes equal ones for one has to tell them apart. No place and no
    /// number of rounds is told by any of these words.
    pub fn nearly(&mut self, text: String) -> String {
        let known: Vec<_> = NEAR.iter().filter(|(word, _)| text.contains(word)).collect();
        if known.is_empty() {
            return text;
        }
        let (word, other) = **self.random.pick(&known);
        let places: Vec<usize> = text.match_indices(word).map(|(at, _)| at).collect();
        let at = *self.random.pick(&places);
        [&text[..at], other, &text[at + word.len()..]].concat()
    }

    /// The beginning of a line.
    fn pad(&self) -> String {
        " ".repeat(2 * self.indent)
    }

    /// Statements, and values of these types behind them.
    pub fn body(&mut self, types: &[Ty]) -> String {
        let mark = self.vars.len();
        self.indent += 1;
        let count = if self.budget < 4 { 0 } else { *self.random.pick(&[0, 0, 1, 2]) };
        let text: String = (0..count).map(|_| self.statement()).collect();
        let result = self.values(types);
        let pad = self.pad();
        self.indent -= 1;
        self.vars.truncate(mark);
        if text.is_empty() { result } else { format!("\n{text}{pad}in {result}") }
    }

    /// Values of these types: one, or a tuple.
    pub fn values(&mut self, types: &[Ty]) -> String {
        match types {
            [ty] => self.exp(ty),
            _ if self.budget > 4 && self.random.one_in(3) => self.tuple(types),
            _ => self.separate(types),
        }
    }

    /// A tuple of expressions that have nothing to do with each other.
    pub fn separate(&mut self, types: &[Ty]) -> String {
        let values: Vec<String> = types.iter().map(|ty| self.exp(ty)).collect();
        format!("({})", values.join(", "))
    }

    /// Names for values of these types, as a pattern.
    pub fn pattern(&mut self, types: &[Ty]) -> String {
        let names: Vec<String> = types.iter().map(|ty| self.bind(ty)).collect();
        if let [name] = &names[..] { name.clone() } else { format!("({})", names.join(", ")) }
    }

    /// A line, or more, that gives something a name.
    pub fn statement(&mut self) -> String {
        let pad = self.pad();
        if self.budget > 6 && self.random.one_in(10) {
            return self.used_up(&pad);
        }
        let types: Vec<Ty> = match self.random.below(10) {
            0..3 => {
                let (first, mut second) = (self.ty(), self.ty());
                // Mostly they can come out of one operator.
                if !self.random.one_in(3) {
                    second.dims.clone_from(&first.dims);
                }
                let mut types = vec![first, second];
                if self.random.one_in(4) {
                    types.push(types[0].clone());
                }
                types
            }
            _ => vec![self.ty()],
        };
        let value = match &types[..] {
            [ty] if self.random.one_in(4) => self.derivative(ty).unwrap_or_else(|| self.exp(ty)),
            [ty] => self.exp(ty),
            _ => self.tuple(&types),
        };
        let pattern = self.pattern(&types);
        format!("{pad}let {pattern} = {value}\n")
    }

    /// An array that is changed in its place, after something was made of it: nobody names it behind that.
    fn used_up(&mut self, pad: &str) -> String {
        let ty = self.ty().many(self.random.below(2));
        let (copied, row) = (self.exp(&ty), self.exp(&ty.row()));
        let mark = self.vars.len();
        let array = self.bind(&ty);
        let mut text = format!("{pad}let {array} = copy {copied}\n");
        let mut made = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            let number = Ty::scalar(self.elem());
            // Rows of numbers are no views of it.
            let (of, value) = match self.random.below(3) {
                0 => (number.clone(), self.exp(&number)),
                _ => {
                    let dim = ty.dims[0];
                    let rows = std::slice::from_ref(&number);
                    (number.many(dim), self.map_over(vec![(array.clone(), ty.clone())], dim, rows))
                }
            };
            let name = self.bind(&of);
            text += &format!("{pad}let {name} = {value}\n");
            made.extend(self.vars.last().cloned());
        }
        let changed = match self.place(ty.dims[0]) {
            Some(place) => format!("{array} with [{place}] = {row}"),
            None => {
                let (name, size, at) = (self.own_name(), SIZES[ty.dims[0]], self.own_name());
                format!("loop {name} = {array} for {at} < {size} do {name} with [{at}] = {row}")
            }
        };
        self.vars.truncate(mark);
        let names = made.iter().map(|var: &Var| var.name.clone()).collect();
        self.vars.extend(made);
        let made: Vec<String> = names;
        let name = self.bind(&ty);
        text += &format!("{pad}let {name} = {changed}\n");
        // What was made before comes together only now.
        if let Some(array) = self.some(|var| var.ty.rank() == 1 && made.contains(&var.name)) {
            let (op, neutral) = self.operator(array.ty.elem);
            let sum = self.bind(&array.ty.row());
            text += &format!("{pad}let {sum} = reduce {op} {neutral} {}\n", array.name);
            self.vars.retain(|var| var.name != array.name);
        }
        text
    }
}
