//! Statements about arrays as they are: copies, views, updates of parts, and loops that carry them.

use super::{Held, SIZES, Scribe};

impl Scribe<'_> {
    /// Element by element.
    pub(super) fn whole(&mut self, array: &Held) {
        let (elem, dims, a) = (array.elem, array.dims.clone(), array.name.clone());
        let step = self.step(elem);
        let other = self.like(elem, &dims).map_or(a.clone(), |held| held.name);
        let exp = match self.random.below(4) {
            0 => format!("{} {a}", Self::mapped(&step, dims.len())),
            1 if dims.len() == 1 => format!("map2 (\\x y -> x + y) {a} {other}"),
            1 if dims.len() == 2 => format!("map2 (map2 (\\x y -> x - y)) {a} {other}"),
            2 => format!("copy {a}"),
            3 => self.tabulated(elem, &dims),
            _ => format!("{} {other}", Self::mapped(&step, dims.len())),
        };
        self.made(elem, dims, &exp);
    }

    /// Another view of an array, or what only types take for a new one: the compiler drops maps that change nothing.
    pub(super) fn view(&mut self, array: &Held) {
        let (a, dims) = (array.name.clone(), array.dims.clone());
        let (dims, exp) = match (dims.len(), self.random.below(5)) {
            (1, _) => (dims, format!("reverse {a}")),
            (_, 0 | 1) => {
                let mut turned = dims;
                turned.swap(0, 1);
                (turned, format!("transpose {a}"))
            }
            (_, 2) => {
                let at = self.below(dims[0]);
                (dims[1..].to_vec(), format!("{a}[{at}]"))
            }
            (2, 3) => {
                let at = self.below(dims[1]);
                (vec![dims[0]], format!("{a}[:, {at}]"))
            }
            (3, 3) => (vec![dims[0], dims[2], dims[1]], format!("map transpose {a}")),
            // Round in a circle, which is not its own opposite.
            (3, _) if self.random.one_in(2) => {
                (vec![dims[2], dims[0], dims[1]], format!("transpose (map transpose {a})"))
            }
            _ => (dims, format!("{a}[::-1]")),
        };
        if self.random.one_in(3) {
            let same = Self::mapped("\\e -> e", dims.len());
            self.made(array.elem, dims, &format!("{same} ({exp})"));
        } else {
            self.seen(array, dims, &exp);
        }
    }

    /// A part is replaced by what is computed from the array itself or another one.
    pub(super) fn update(&mut self, array: &Held) {
        let (elem, dims, word) = (array.elem, array.dims.clone(), array.elem.word());
        let step = match self.random.one_in(4) {
            true => format!("\\e -> {}", self.pointed_at(elem, "e", None)),
            false => self.step(elem),
        };
        let source = self.like(elem, &dims).map_or(array.name.clone(), |held| held.name);
        let (index, value) = match (dims.len(), self.random.below(4)) {
            (1, 0) => (self.below(dims[0]), format!("({step}) {source}[{}]", self.below(dims[0]))),
            (1, _) => {
                let (low, high) = self.part(dims[0]);
                // The part itself, backwards, or as many elements that lie further on or before.
                let from = match self.random.below(4) {
                    0 => format!("{source}[{low}:{high}]"),
                    1 => format!("reverse {source}[{low}:{high}]"),
                    2 => format!("{source}[{} - ({high} - {low}):]", SIZES[dims[0]]),
                    _ => format!("{source}[:{high} - {low}]"),
                };
                let value = format!("map ({step}) ({from}) :> [{high} - {low}]{word}");
                (format!("{low}:{high}"), value)
            }
            (2, 0) => {
                let (to, from) = (self.below(dims[0]), self.below(dims[0]));
                (to, format!("map ({step}) {source}[{from}]"))
            }
            (2, 1) => {
                let (to, from) = (self.below(dims[1]), self.below(dims[1]));
                (format!(":, {to}"), format!("map ({step}) {source}[:, {from}]"))
            }
            (2, _) => {
                let ((low, high), (left, right)) = (self.part(dims[0]), self.part(dims[1]));
                let part = match self.random.below(3) {
                    0 => format!("{source}[{low}:{high}, {left}:{right}]"),
                    1 => format!("{source}[:{high} - {low}, {left}:{right}]"),
                    _ => format!("{source}[{low}:{high}, {} - ({right} - {left}):]", SIZES[dims[1]]),
                };
                let value = format!("map (map ({step})) {part} :> [{high} - {low}][{right} - {left}]{word}");
                (format!("{low}:{high}, {left}:{right}"), value)
            }
            (_, 0) => {
                let (i, j, from) = (self.below(dims[0]), self.below(dims[1]), self.below(dims[0]));
                (format!("{i}, {j}"), format!("map ({step}) {source}[{from}, {j}]"))
            }
            (_, _) => {
                let (to, from) = (self.below(dims[0]), self.below(dims[0]));
                (to, format!("map (map ({step})) {source}[{from}]"))
            }
        };
        let new = self.name();
        self.line(&format!("let {new} = {value}"));
        let target = self.taken(array);
        self.made(elem, dims, &format!("{target} with [{index}] = {new}"));
    }

    /// An update of an array and what shows its elements as they were become parts of one array, or of rows of one.
    pub(super) fn before_and_after(&mut self, array: &Held) {
        let (elem, dims) = (array.elem, array.dims.clone());
        let (a, size) = (array.name.clone(), SIZES[dims[0]]);
        let view = match self.random.below(3) {
            0 => a.clone(),
            1 => format!("(reverse {a})"),
            _ => format!("{a}[::-1]"),
        };
        let before = self.name();
        self.line(&format!("let {before} = {} {view}", Self::mapped("\\e -> e", dims.len())));
        let (to, from) = (self.below(dims[0]), self.below(dims[0]));
        let (index, value) = match self.random.below(3) {
            0 => (to, format!("copy {before}[{from}]")),
            1 => (format!("0:{size}"), before.clone()),
            _ => {
                let (low, high) = self.part(dims[0]);
                (format!("{low}:{high}"), format!("{before}[{size} - ({high} - {low}):]"))
            }
        };
        let new = self.name();
        self.line(&format!("let {new} = {value}"));
        let target = self.taken(array);
        let after = self.name();
        self.line(&format!("let {after} = {target} with [{index}] = {new}"));
        let (first, second) = if self.random.one_in(2) { (before, after) } else { (after, before) };
        let exp = match self.random.below(3) {
            0 => format!("({first} ++ {second})[:{size}]"),
            1 => format!("({first} ++ {second})[{size}:]"),
            _ => format!("let both = [{first}, {second}] in both[k % 2]"),
        };
        self.made(elem, dims, &exp);
    }

    /// A loop that carries an array, of its own or one that is used again, with statements inside.
    pub(super) fn rounds(&mut self, array: &Held) {
        if self.depth > 1 {
            return;
        }
        let (elem, dims) = (array.elem, array.dims.clone());
        let ty = Self::ty(elem, &dims);
        let is_own = !self.random.one_in(3);
        let bound = match self.random.below(6) {
            0 | 1 => "k % 4".into(),
            2 => "q % 5".into(),
            3 => "3".into(),
            4 => "m".into(),
            _ => {
                let (bound, number) = (self.name(), self.told_by(array));
                self.line(&format!("let {bound} = {number} % 4"));
                bound
            }
        };
        let is_while = self.random.one_in(5);
        let (start, star) = if is_own { (self.taken(array), "*") } else { (array.name.clone(), "") };
        let (carried, counter, result) = (self.name(), self.name(), self.name());
        let (named, head) = match is_while {
            true => (
                format!("({result}, _)"),
                format!(
                    "loop ({carried}, {counter}): ({star}{ty}, i64) = ({start}, 0) while {counter} < {bound} do"
                ),
            ),
            false => {
                (result.clone(), format!("loop {carried}: {star}{ty} = {start} for {counter} < {bound} do"))
            }
        };
        self.line(&format!("let {named} ="));
        self.indent += 1;
        self.line(&head);
        self.indent += 1;
        self.depth += 1;
        let outer = self.held.clone();
        self.held.iter_mut().for_each(|held| held.own = false);
        let inner = self.hold(&carried, elem, dims.clone(), is_own);
        let before = self.text.len();
        let steps = self.random.below(3);
        (0..steps).for_each(|_| self.statement());
        let word = if self.text[before..].contains("let") { "in " } else { "" };
        let found = self.some(|held| held.elem == elem && held.dims == dims && held.own);
        let body = match (found, self.random.below(4)) {
            (Some(held), 0) => held.name,
            // One element decides all of the next ones: what is carried is read no more when they are made.
            (found, 3) => {
                let name = found.map_or(inner.name, |held| held.name);
                let places: Vec<String> = dims.iter().map(|dim| self.below(*dim)).collect();
                let made = self.tabulated(elem, &dims);
                let mapped = Self::mapped("\\e -> e + one", dims.len());
                format!("let one = {name}[{}] in {mapped} ({made})", places.join(", "))
            }
            (Some(held), 1) if held.dims.len() == 1 => {
                let at = self.below(dims[0]);
                format!(
                    "{} with [({at} + {counter}) % {}] = {}",
                    held.name,
                    SIZES[dims[0]],
                    elem.of_int(&counter)
                )
            }
            (Some(held), _) if held.dims.len() == 2 => {
                let row = format!("({counter} + 1) % {}", SIZES[dims[0]]);
                let step = self.step(elem);
                format!(
                    "let r = map ({step}) {}[{counter} % {}] in {} with [{row}] = r",
                    held.name, SIZES[dims[0]], held.name
                )
            }
            (found, choice) => {
                let name = found.map_or(inner.name, |held| held.name);
                let step = self.step(elem);
                match choice {
                    // Rows read what others write.
                    1 if dims.len() == 1 => format!("map2 (\\x y -> x - y) {name} (reverse {name})"),
                    1 if dims.len() == 2 => format!("map2 (map2 (\\x y -> x - y)) {name} (reverse {name})"),
                    _ => format!("{} {name}", Self::mapped(&step, dims.len())),
                }
            }
        };
        match is_while {
            true => self.line(&format!("{word}(let next = {body} in (next, {counter} + 1))")),
            false => self.line(&format!("{word}{body}")),
        }
        self.indent -= 2;
        self.depth -= 1;
        self.held = outer;
        let other =
            if !is_own && self.random.one_in(2) { Some(array.clone()) } else { self.like(elem, &dims) };
        match other {
            // It is copied, and used no more.
            Some(mut other) if self.random.one_in(2) => {
                if other.name == array.name && self.random.one_in(2) {
                    // The first value is read once more before.
                    let exp = format!("{} {}", Self::mapped(&self.step(elem), dims.len()), other.name);
                    other = self.made(elem, dims.clone(), &exp);
                }
                let (size, from) = (SIZES[dims[0]], self.random.below(2));
                let exp = format!("({result} ++ {})[{from}:{from} + {size}]", other.name);
                self.made(elem, dims, &exp);
            }
            _ if is_own => drop(self.hold(&result, elem, dims, true)),
            // After no round it is the first value.
            _ => self.held.push(Held { name: result, own: false, ..array.clone() }),
        }
    }
}
