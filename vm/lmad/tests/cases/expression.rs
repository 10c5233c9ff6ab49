//! The little expression language of the golden cases: integers, views, lists and the operations of the algebra,
//! evaluated while they are read.

use std::collections::HashMap;
use std::fmt;

use galopvm_lmad::{Dim, Lmad, copy_class, map_transpose};

/// Names and what they stand for.
pub type Environment = HashMap<String, Value>;

/// What an expression stands for.
#[derive(Clone, Debug)]
pub enum Value {
    Int(i64),
    View(Lmad),
    /// A tuple or a list.
    List(Vec<Value>),
    /// An answer that is only compared as text.
    Text(String),
    /// An operation without result.
    Nothing,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(number) => write!(f, "{number}"),
            Value::View(view) => write!(f, "{view}"),
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(Value::to_string).collect();
                write!(f, "({})", items.join(", "))
            }
            Value::Text(text) => f.write_str(text),
            Value::Nothing => f.write_str("none"),
        }
    }
}

impl Value {
    pub fn int(&self) -> Result<i64, String> {
        match self {
            Value::Int(number) => Ok(*number),
            other => Err(format!("{other} is not a number")),
        }
    }

    pub fn view(&self) -> Result<&Lmad, String> {
        match self {
            Value::View(view) => Ok(view),
            other => Err(format!("{other} is not a view")),
        }
    }

    fn list(&self) -> Result<&[Value], String> {
        match self {
            Value::List(items) => Ok(items),
            other => Err(format!("{other} is not a list")),
        }
    }

    fn ints(&self) -> Result<Vec<i64>, String> {
        self.list()?.iter().map(Value::int).collect()
    }

    fn axes(&self) -> Result<Vec<usize>, String> {
        self.list()?.iter().map(Value::axis).collect()
    }

    fn axis(&self) -> Result<usize, String> {
        usize::try_from(self.int()?).map_err(|error| error.to_string())
    }
}

/// Reads and evaluates all of `text`.
pub fn evaluate(text: &str, names: &Environment) -> Result<Value, String> {
    let mut reader = Reader { text, names };
    let value = reader.either()?;
    if reader.rest().is_empty() { Ok(value) } else { Err(format!("left over: {}", reader.text)) }
}

/// Whether a comparison holds.
type Holds = fn(&i64, &i64) -> bool;

/// The comparisons; a sign comes before the signs that start it.
const COMPARISONS: [(&str, Holds); 6] =
    [("<=", i64::le), (">=", i64::ge), ("==", i64::eq), ("!=", i64::ne), ("<", i64::lt), (">", i64::gt)];

struct Reader<'a> {
    /// What is not read yet.
    text: &'a str,
    names: &'a Environment,
}

impl<'a> Reader<'a> {
    fn rest(&mut self) -> &'a str {
        self.text = self.text.trim_start();
        self.text
    }

    fn take(&mut self, sign: &str) -> bool {
        let rest = self.rest().strip_prefix(sign);
        self.text = rest.unwrap_or(self.text);
        rest.is_some()
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        if self.take(sign) { Ok(()) } else { Err(format!("expected '{sign}' before: {}", self.text)) }
    }

    /// The longest run of such characters.
    fn word(&mut self, accept: fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let (word, after) = rest.split_at(rest.find(|c| !accept(c)).unwrap_or(rest.len()));
        self.text = after;
        word
    }

    fn either(&mut self) -> Result<Value, String> {
        let mut value = self.both()?;
        while self.take("||") {
            let right = self.both()?;
            value = Value::Int(i64::from(value.int()? != 0 || right.int()? != 0));
        }
        Ok(value)
    }

    fn both(&mut self) -> Result<Value, String> {
        let mut value = self.comparison()?;
        while self.take("&&") {
            let right = self.comparison()?;
            value = Value::Int(i64::from(value.int()? != 0 && right.int()? != 0));
        }
        Ok(value)
    }

    fn comparison(&mut self) -> Result<Value, String> {
        let left = self.sum()?;
        if self.rest().starts_with("<-") {
            return Ok(left);
        }
        for (sign, holds) in COMPARISONS {
            if self.take(sign) {
                let right = self.sum()?;
                return Ok(Value::Int(i64::from(holds(&left.int()?, &right.int()?))));
            }
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<Value, String> {
        let mut value = self.product()?;
        loop {
            if self.take("+") {
                if self.take("{") {
                    return self.axes_after(value.int()?);
                }
                let right = self.product()?.int()?;
                value = Value::Int(value.int()? + right);
            } else if self.take("-") {
                let right = self.product()?.int()?;
                value = Value::Int(value.int()? - right);
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<Value, String> {
        let mut value = self.atom()?;
        loop {
            let operation: fn(i64, i64) -> Option<i64> = if self.take("*") {
                i64::checked_mul
            } else if self.take("/") {
                i64::checked_div_euclid
            } else if self.take("%") {
                i64::checked_rem_euclid
            } else {
                return Ok(value);
            };
            let right = self.atom()?.int()?;
            value = Value::Int(operation(value.int()?, right).ok_or("no such number")?);
        }
    }

    /// The axes of a view literal, after its opening brace.
    fn axes_after(&mut self, offset: i64) -> Result<Value, String> {
        let mut dims = Vec::new();
        while !self.take("}") {
            self.expect("(")?;
            let size = self.either()?.int()?;
            self.expect(":")?;
            dims.push(Dim::new(size, self.either()?.int()?));
            self.expect(")")?;
            self.take(",");
        }
        Ok(Value::View(Lmad::new(offset, dims)))
    }

    fn atom(&mut self) -> Result<Value, String> {
        if self.take("-") {
            return Ok(Value::Int(-self.atom()?.int()?));
        }
        if self.take("!") {
            return Ok(Value::Int(i64::from(self.atom()?.int()? == 0)));
        }
        if self.take("[") {
            return Ok(Value::List(self.items("]")?.0));
        }
        if self.take("(") {
            let (mut items, commas) = self.items(")")?;
            return Ok(if commas == 0 && items.len() == 1 { items.remove(0) } else { Value::List(items) });
        }
        let digits = self.word(|c| c.is_ascii_digit());
        if !digits.is_empty() {
            return digits.parse().map(Value::Int).map_err(|error| format!("{digits}: {error}"));
        }
        let name = self.word(|c| c.is_ascii_alphanumeric() || c == '_');
        if name.is_empty() {
            return Err(format!("expected an expression before: {}", self.text));
        }
        if self.take("(") { self.call(name) } else { self.named(name) }
    }

    fn named(&self, name: &str) -> Result<Value, String> {
        self.names.get(name).cloned().ok_or_else(|| format!("unknown name {name}"))
    }

    /// Values up to the closing sign, and how many commas stood between or after them.
    fn items(&mut self, close: &str) -> Result<(Vec<Value>, usize), String> {
        let (mut items, mut commas) = (Vec::new(), 0);
        while !self.take(close) {
            items.push(self.either()?);
            if self.take(",") {
                commas += 1;
            } else {
                self.expect(close)?;
                break;
            }
        }
        Ok((items, commas))
    }

    /// An operation, or a view at an index, after its opening parenthesis.
    fn call(&mut self, name: &str) -> Result<Value, String> {
        if name == "copy" {
            let target = self.either()?;
            self.expect("<-")?;
            let source = self.either()?;
            self.expect(")")?;
            return Ok(Value::Text(copy_class(target.view()?, source.view()?).to_string()));
        }
        let (arguments, _) = self.items(")")?;
        let optional = |view: Option<Lmad>| view.map_or(Value::Nothing, Value::View);
        Ok(match (name, &arguments[..]) {
            ("rowmajor", sizes) => {
                let sizes: Vec<i64> = sizes.iter().map(Value::int).collect::<Result<_, _>>()?;
                Value::View(Lmad::row_major(&sizes))
            }
            ("manifest", [shape, perm]) => Value::View(Lmad::manifest(&shape.ints()?, &perm.axes()?)),
            ("L", [offset, dims]) => {
                let pair = |pair: &Value| match pair.ints()?[..] {
                    [size, stride] => Ok(Dim::new(size, stride)),
                    _ => Err(format!("{pair} is not (size,stride)")),
                };
                let dims: Vec<Dim> = dims.list()?.iter().map(pair).collect::<Result<_, _>>()?;
                Value::View(Lmad::new(offset.int()?, dims))
            }
            ("fix", [view, axis, at]) => Value::View(view.view()?.fix(axis.axis()?, at.int()?)),
            ("slice", [view, slices]) => Value::View(slice(view.view()?, slices.list()?)?),
            ("lslice", [view, slice]) => Value::View(view.view()?.slice_lmad(slice.view()?)),
            ("permute", [view, perm]) => Value::View(view.view()?.permute(&perm.axes()?)),
            ("reverse", [view, axis]) => Value::View(view.view()?.reverse(axis.axis()?)),
            ("reshape", [view, shape]) => optional(view.view()?.reshape(&shape.ints()?)),
            ("flatten", [view]) => optional(view.view()?.flatten()),
            ("set", [view]) => optional(view.view()?.set_form()),
            ("inj", [view]) => Value::Text(view.view()?.is_injective().to_string()),
            ("bounds", [view]) => match view.view()?.bounds() {
                Some((low, high)) => Value::Text(format!("{low}..{high}")),
                None => Value::Nothing,
            },
            ("maptr", [perm]) => match map_transpose(&perm.axes()?) {
                Some((kept, run, rest)) => {
                    Value::List([kept, run, rest].map(|count| Value::Int(count as i64)).to_vec())
                }
                None => Value::Nothing,
            },
            (name, index) => {
                let index: Vec<i64> = index.iter().map(Value::int).collect::<Result<_, _>>()?;
                Value::Int(self.named(name)?.view()?.place(&index))
            }
        })
    }
}

/// One slice per axis: an index, or (start, count, step).
fn slice(view: &Lmad, slices: &[Value]) -> Result<Lmad, String> {
    if slices.len() != view.rank() {
        return Err(format!("{} slices of {} axes", slices.len(), view.rank()));
    }
    let (mut view, mut axis) = (view.clone(), 0);
    for slice in slices {
        match slice {
            Value::Int(at) => view = view.fix(axis, *at),
            triplet => {
                let [start, count, step] = triplet.ints()?[..] else {
                    return Err(format!("{triplet} is not (start,count,step)"));
                };
                view = view.triplet(axis, start, count, step);
                axis += 1;
            }
        }
    }
    Ok(view)
}
