//! Generated loops whose rounds change parts of one array: eliminations, updates of some rank, and what is nearly one of them but reads
//! or changes other places.

use crate::Random;

/// A generated loop.
pub struct Sweeps {
    /// A region with the parameters `n` rounds, `h`, `m` and `w` extents, the array `A : [h][m][w]` or, without `h`, `[m][w]`, and
    /// `C : [m][w]`.
    pub text: String,
    /// The element type.
    pub elem: &'static str,
    /// Whether there are several matrices.
    pub is_batch: bool,
}

/// The parts of a loop's text.
struct Maker<'r> {
    random: &'r mut Random,
    elem: &'static str,
    batch: bool,
    text: String,
    /// The array as it is now.
    now: String,
    names: usize,
}

/// A loop over so many dimensions of elements of a type.
pub fn sweeps(random: &mut Random) -> Sweeps {
    let elem = *random.pick(&["f32", "f32", "f64", "i32", "i64", "u8"]);
    let is_batch = random.one_in(4);
    let shape = if is_batch { "[h][m][w]" } else { "[m][w]" };
    let mut maker = Maker { random, elem, batch: is_batch, text: String::new(), now: "y".into(), names: 0 };
    maker.round();
    let (body, last) = (maker.text, maker.now);
    let h = if is_batch { "h : i64, " } else { "" };
    let text = format!(
        "region r (n : i64, {h}m : i64, w : i64, A : {shape}{elem}, C : [m][w]{elem})
        let r : {shape}{elem} = loop y : {shape}{elem} = A for k < n do
{body}          in {last}
        in r"
    );
    Sweeps { text, elem, is_batch }
}

impl Maker<'_> {
    fn line(&mut self, text: &str) {
        self.text.push_str(&format!("          {text}\n"));
    }

    fn name(&mut self, letter: &str) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    /// The round's number and a small number.
    fn near(&mut self, most: i64) -> String {
        match self.random.between(0, most) {
            0 => "k".into(),
            shift => format!("k+{shift}"),
        }
    }

    /// An index of the array, for the operator that the last name belongs to.
    fn at(&self, row: &str, column: &str) -> String {
        match self.batch {
            true => format!("[b{}, {row}, {column}]", self.names),
            false => format!("[{row}, {column}]"),
        }
    }

    fn round(&mut self) {
        // Mostly what is an elimination: lines at the round's number, and all behind them.
        let usual = !self.random.one_in(3);
        let most = if usual { 0 } else { 2 };
        let (row, column) = (self.near(most), self.near(most));
        let begin = |maker: &mut Self| if usual { 1 } else { maker.random.between(0, 2) };
        let (top, left) = (begin(self), begin(self));
        if self.random.one_in(2) {
            self.lines(&row, &column, top);
        }
        if self.random.one_in(3) {
            self.scalar(&row, &column);
        }
        self.rest(&row, &column, (top, left));
        if self.random.one_in(6) {
            self.rest(&row, &column, (top, left));
        }
    }

    /// A scalar of the round.
    fn scalar(&mut self, row: &str, column: &str) {
        if self.batch {
            return;
        }
        let (name, at) = (self.name("x"), self.at(row, column));
        self.line(&format!("let {name} : {} = {}{at}", self.elem, self.now));
    }

    /// A change of a part of a column.
    fn lines(&mut self, row: &str, column: &str, top: i64) {
        let (new, made, elem) = (self.name("y"), self.name("z"), self.elem);
        let number = self.names;
        let own = self.at(&format!("k+{top}+i{number}"), column);
        let pivot = self.at(row, column);
        let op = *self.random.pick(&["/", "*", "+", "-"]);
        let now = self.now.clone();
        let value = format!("{now}{own} {op} {now}{pivot}");
        let (axes, shape, part) = match self.batch {
            true => (format!("b{number} < h, "), "[h]", "0 :+ h * 1, "),
            false => (String::new(), "", ""),
        };
        let axes = format!("{axes}i{number} < m-(k+{top})");
        self.line(&format!("let {made} : {shape}[m-(k+{top})]{elem} = kernel {axes} do in {value}"));
        let array = if self.batch { "[h][m][w]" } else { "[m][w]" };
        self.line(&format!(
            "let {new} : {array}{elem} = {now} with [{part}k+{top} :+ (m-(k+{top})) * 1, {column}] = {made}"
        ));
        self.now = new;
    }

    /// A change of what is right of and below some element, or of all.
    fn rest(&mut self, row: &str, column: &str, (top, left): (i64, i64)) {
        let (new, made, elem, now) = (self.name("y"), self.name("z"), self.elem, self.now.clone());
        let number = self.names;
        let (i, j) = (format!("i{number}"), format!("j{number}"));
        let is_all = self.random.one_in(8);
        let part = |first: i64, extent: &str| match is_all {
            true => ("0".to_string(), extent.to_string()),
            false => (format!("k+{first}"), format!("{extent}-(k+{first})")),
        };
        let ((from, rows), (begin, columns)) = (part(top, "m"), part(left, "w"));
        let own = self.at(&format!("{from}+{i}"), &format!("{begin}+{j}"));
        let mut value = format!("{now}{own}");
        for _ in 0..1 + self.random.below(2) {
            let reads = [
                format!("{now}{}", self.at(row, &format!("{begin}+{j}"))),
                format!("{now}{}", self.at(&format!("{from}+{i}"), column)),
                format!("{now}{}", self.at(row, column)),
                format!("C[{from}+{i}, {begin}+{j}]"),
                format!("C[{from}+{i}, {column}]"),
                format!("C[{row}, {begin}+{j}]"),
            ];
            let ops = ["*", "+", "-"];
            let (a, b) = (self.random.pick(&reads).clone(), self.random.pick(&reads).clone());
            let (one, two) = (*self.random.pick(&ops), *self.random.pick(&ops));
            value = format!("({value} {one} ({a} {two} {b}))");
        }
        if self.random.one_in(12) {
            value = format!("({value} / {now}{own})");
        }
        let (axes, shape, slice) = match self.batch {
            true => (format!("b{number} < h, "), "[h]", "0 :+ h * 1, "),
            false => (String::new(), "", ""),
        };
        let axes = format!("{axes}{i} < {rows}, {j} < {columns}");
        self.line(&format!("let {made} : {shape}[{rows}][{columns}]{elem} = kernel {axes} do in {value}"));
        let array = if self.batch { "[h][m][w]" } else { "[m][w]" };
        self.line(&format!(
            "let {new} : {array}{elem} = {now} with [{slice}{from} :+ ({rows}) * 1, {begin} :+ ({columns}) * 1] = {made}"
        ));
        self.now = new;
    }
}
