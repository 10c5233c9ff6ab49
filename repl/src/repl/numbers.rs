//! Values as numbers: what of a value counts as one, which part of it each is, and all of an array in order.

use galopvm::{ElemType, Scalar, Value};
use galopvm_bytecode::Form;

/// Most elements that are looked at one by one.
const MOST: i64 = 1 << 26;

/// A number as a double; integers above 2^53 are rounded. True is one, false is zero.
pub fn of_scalar(scalar: Scalar) -> f64 {
    match scalar.ty {
        ty if ty.is_float() => scalar.as_f64(),
        ElemType::U64 => scalar.bits as f64,
        _ => scalar.as_i64() as f64,
    }
}

/// The numbers of a value in row-major order.
pub fn all(value: &Value) -> Vec<f64> {
    match value {
        Value::Scalar(scalar) => vec![of_scalar(*scalar)],
        Value::Array(array) => {
            array.iter_bits().map(|bits| of_scalar(Scalar::new(array.elem(), bits))).collect()
        }
    }
}

/// Says why not all of some values can be looked at here, if they are too many: the engine's limit of memory does not hold here.
pub fn few_enough(values: &[Value]) -> Result<(), String> {
    let elements = values.iter().filter_map(Value::as_array).map(|array| array.elements());
    let count = elements.fold(0i64, i64::saturating_add);
    match count > MOST {
        true => {
            Err(format!("it has {count} elements, and at most {MOST} are drawn: take a part, as in x[::100]"))
        }
        false => Ok(()),
    }
}

/// The extents of a value; none if it is a scalar.
pub fn shape(value: &Value) -> Vec<i64> {
    value.as_array().map_or(Vec::new(), |array| array.shape().to_vec())
}

/// The values that a form is made of, in order; nothing if it holds a sum, which is not made of numbers alone.
pub fn leaves(form: &Form) -> Option<Vec<u32>> {
    let all = |parts: &mut dyn Iterator<Item = &Form>| -> Option<Vec<u32>> {
        Some(parts.map(leaves).collect::<Option<Vec<_>>>()?.concat())
    };
    match form {
        Form::Value(slot) => Some(vec![*slot]),
        Form::Tuple(items) => all(&mut items.iter()),
        Form::Record(fields) => all(&mut fields.iter().map(|(_, form)| form)),
        Form::Array(_, element) => leaves(element),
        Form::Sum(..) => None,
    }
}

/// A value with the form that says of what it is made: numbers, counted row by row, field by field.
#[derive(Clone, Copy)]
pub struct Parts<'a> {
    pub form: &'a Form,
    pub values: &'a [Value],
}

impl Parts<'_> {
    /// How many numbers there are in a part that lies below so many dimensions.
    pub fn count(&self, form: &Form, depth: usize) -> i64 {
        match form {
            Form::Value(slot) => self.extents(*slot).iter().skip(depth).product(),
            Form::Tuple(items) => items.iter().map(|item| self.count(item, depth)).sum(),
            Form::Record(fields) => fields.iter().map(|(_, field)| self.count(field, depth)).sum(),
            Form::Array(slot, element) => self.extent(*slot, depth) * self.count(element, depth + 1),
            Form::Sum(..) => 0,
        }
    }

    /// The extents of one of the values.
    pub fn extents(&self, slot: u32) -> Vec<i64> {
        self.values.get(slot as usize).map_or(Vec::new(), shape)
    }

    fn extent(&self, slot: u32, depth: usize) -> i64 {
        self.extents(slot).get(depth).copied().unwrap_or(0)
    }

    /// The number at a place in the order, and how one writes which it is: `.weights[2][0]`.
    pub fn number(&self, at: i64) -> (f64, String) {
        let (mut index, mut name) = (Vec::new(), String::new());
        let slot = self.find(self.form, at, &mut index, &mut name);
        let number = match slot.and_then(|slot| self.values.get(slot as usize)) {
            Some(Value::Scalar(scalar)) => of_scalar(*scalar),
            Some(Value::Array(array)) => array.get(&index).map_or(f64::NAN, of_scalar),
            None => f64::NAN,
        };
        (number, name)
    }

    fn find(&self, form: &Form, at: i64, index: &mut Vec<i64>, name: &mut String) -> Option<u32> {
        let depth = index.len();
        match form {
            Form::Value(slot) => {
                let extents = self.extents(*slot);
                for k in depth..extents.len() {
                    let below: i64 = extents.iter().skip(k + 1).product();
                    let i = (at / below.max(1)) % extents[k].max(1);
                    index.push(i);
                    name.push_str(&format!("[{i}]"));
                }
                Some(*slot)
            }
            Form::Array(slot, element) => {
                let below = self.count(element, depth + 1).max(1);
                let i = (at / below).min(self.extent(*slot, depth));
                index.push(i);
                name.push_str(&format!("[{i}]"));
                self.find(element, at % below, index, name)
            }
            Form::Tuple(items) => {
                let fields = items.iter().enumerate().map(|(k, item)| (k.to_string(), item));
                self.find_in(&mut fields.into_iter(), at, index, name)
            }
            Form::Record(fields) => {
                self.find_in(&mut fields.iter().map(|(name, field)| (name.clone(), field)), at, index, name)
            }
            Form::Sum(..) => None,
        }
    }

    fn find_in(
        &self,
        fields: &mut dyn Iterator<Item = (String, &Form)>,
        mut at: i64,
        index: &mut Vec<i64>,
        name: &mut String,
    ) -> Option<u32> {
        for (field, form) in fields {
            let count = self.count(form, index.len());
            if at < count {
                name.push_str(&format!(".{field}"));
                return self.find(form, at, index, name);
            }
            at -= count;
        }
        None
    }
}

/// A number for people: six digits, or four and a power of ten.
pub fn short(number: f64) -> String {
    let trimmed = |text: String| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    };
    match number.abs() {
        0.0 => "0".into(),
        size @ 1e-4..1e6 => {
            trimmed(format!("{number:.*}", (5 - size.log10().floor() as i32).max(0) as usize))
        }
        _ => {
            let text = format!("{number:.3e}");
            let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
            format!("{}e{power}", trimmed(digits.into()))
        }
    }
}

#[test]
fn numbers_are_short() {
    let shown: Vec<String> =
        [0.0, 1.0, -0.5, 99.0, 1234.5678, 123456.0, 1e6, 1.5e-7, -1e300, 0.1 + 0.2].map(short).to_vec();
    assert_eq!(shown, ["0", "1", "-0.5", "99", "1234.57", "123456", "1e6", "1.5e-7", "-1e300", "0.3"]);
}
