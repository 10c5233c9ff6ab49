//! Records, tuples, sums and arrays of them from text, in the notation of the language.
//!
//! A value of such a type may as well be given part by part, as programs take it: then nothing here is asked.

use super::{Constructor, Shape, Slot, Type, parts};
use galopvm::data::{DataError, Reader};
use galopvm::{Memory, Value};
use std::sync::Arc;

type Parts = Result<Vec<Value>, DataError>;

/// Whether a value of a type comes next as a whole, and not the first of its parts.
pub fn is_whole(ty: &Type, reader: &mut Reader<'_>) -> bool {
    let rest = reader.rest();
    match &ty.shape {
        Shape::Scalar(_) => false,
        Shape::Opaque(_) => rest.starts_with(b"("),
        Shape::Record(_) => matches!(rest, [b'{', ..] | [b'(', ..]),
        Shape::Sum(..) => matches!(rest, [b'#', ..] | [b'(', ..]),
        Shape::Array(_, element) => !matches!(element.shape, Shape::Scalar(_)) && has_whole_elements(rest),
    }
}

/// Whether the elements of the array that comes next are written as wholes. An array without any is one if no other
/// array follows, which would be the next part.
fn has_whole_elements(text: &[u8]) -> bool {
    let mut open = 0usize;
    let mut rest = text.iter().filter(|byte| !byte.is_ascii_whitespace());
    for byte in rest.by_ref() {
        match byte {
            b'[' => open += 1,
            b']' if open > 1 => open -= 1,
            b']' => return !matches!(rest.next(), Some(b'[' | b'e')),
            b',' if open > 0 => {}
            _ => return open > 0 && matches!(byte, b'{' | b'(' | b'#'),
        }
    }
    false
}

/// Reads a value of a type: its parts.
pub fn whole(memory: &Memory, ty: &Type, reader: &mut Reader<'_>) -> Parts {
    let start = reader.place();
    match &ty.shape {
        Shape::Scalar(_) => simple(ty, reader),
        Shape::Array(_, element) if matches!(element.shape, Shape::Scalar(_)) => simple(ty, reader),
        Shape::Array(extents, element) => {
            let rows = parts::Rows::of(element).map_err(|why| reader.error(start, why))?;
            let mut levels = Levels { memory, element, shape: vec![None; extents.len()], rows };
            levels.read(0, reader)?;
            // Of rows that are not there, the type may know the extents.
            let shape = levels.shape.iter().zip(extents);
            let shape: Vec<i64> = shape.map(|(found, known)| found.unwrap_or(*known)).collect();
            levels.rows.into_array(memory, &shape).map_err(|why| reader.error(start, why))
        }
        Shape::Record(_) if ty.name.starts_with('{') => record(memory, ty, reader),
        Shape::Record(fields) => tuple(memory, fields.iter().map(|(_, ty)| ty), ty, reader),
        Shape::Sum(constructors, slots) => {
            let mut open = 0;
            while reader.takes(b'(') {
                open += 1;
            }
            let value = sum(memory, ty, constructors, slots, reader)?;
            for _ in 0..open {
                reader.expect(b')', "`)`")?;
            }
            Ok(value)
        }
        Shape::Opaque(parts) => {
            let types: Vec<Arc<Type>> = parts
                .iter()
                .map(|ty| Type::array(&vec![0; ty.rank.into()], &Type::scalar(ty.elem)))
                .collect();
            tuple(memory, types.iter(), ty, reader)
        }
    }
}

/// A value of the machine.
fn simple(ty: &Type, reader: &mut Reader<'_>) -> Parts {
    // In parentheses stand the negative arguments of constructors.
    let in_parentheses = reader.takes(b'(');
    match reader.value(ty.parts().first().copied())? {
        Some(value) => {
            if in_parentheses {
                reader.expect(b')', "`)`")?;
            }
            Ok(vec![value])
        }
        None => Err(reader.unexpected(&format!("a value of type {}", ty.name))),
    }
}

/// `{x = 1f32, y = 2i32}`, in any order.
fn record(memory: &Memory, ty: &Type, reader: &mut Reader<'_>) -> Parts {
    let Shape::Record(fields) = &ty.shape else { return Ok(Vec::new()) };
    let mut found: Vec<Option<Vec<Value>>> = vec![None; fields.len()];
    reader.expect(b'{', &format!("a record {}", ty.name))?;
    while reader.peek() != Some(b'}') {
        if found.iter().any(Option::is_some) {
            reader.expect(b',', "`,` or `}`")?;
        }
        let start = reader.place();
        let name = reader.name();
        let Some(k) = fields.iter().position(|(field, _)| field == name) else {
            let what = match name {
                "" => "the name of a field is expected here".into(),
                name => format!("there is no field `{name}`"),
            };
            return Err(reader.error(start, format!("{what}: the type is {}", ty.name)));
        };
        if found[k].is_some() {
            return Err(reader.error(start, format!("the field `{name}` comes twice")));
        }
        reader.expect(b'=', "`=`")?;
        found[k] = Some(whole(memory, &fields[k].1, reader)?);
    }
    let end = reader.place();
    reader.expect(b'}', "`}`")?;
    let mut all = Vec::new();
    for (value, (name, _)) in found.into_iter().zip(fields) {
        let missing = || reader.error(end, format!("the field `{name}` is missing: the type is {}", ty.name));
        all.extend(value.ok_or_else(missing)?);
    }
    Ok(all)
}

/// `(1f32, 2i32)`
fn tuple<'t>(
    memory: &Memory,
    items: impl Iterator<Item = &'t Arc<Type>>,
    ty: &Type,
    reader: &mut Reader<'_>,
) -> Parts {
    reader.expect(b'(', &format!("a tuple {}", ty.name))?;
    let mut all = Vec::new();
    for (k, item) in items.enumerate() {
        if k > 0 {
            reader.expect(b',', "`,`")?;
        }
        all.extend(whole(memory, item, reader)?);
    }
    reader.expect(b')', "`)`")?;
    Ok(all)
}

/// `#square 2f32`
fn sum(
    memory: &Memory,
    ty: &Type,
    constructors: &[Constructor],
    slots: &[Slot],
    reader: &mut Reader<'_>,
) -> Parts {
    reader.expect(b'#', &format!("a constructor of {}", ty.name))?;
    let start = reader.place();
    let name = reader.name();
    let Some(number) = constructors.iter().position(|constructor| constructor.name == name) else {
        return Err(
            reader.error(start, format!("there is no constructor `#{name}`: the type is {}", ty.name))
        );
    };
    let constructor = &constructors[number];
    let mut payload = Vec::new();
    for item in &constructor.payload {
        payload.extend(whole(memory, item, reader)?);
    }
    parts::construct(memory, number, constructor, slots, &payload).map_err(|why| reader.error(start, why))
}

/// An array in the making.
struct Levels<'t> {
    memory: &'t Memory,
    element: &'t Type,
    /// What is known of the extents.
    shape: Vec<Option<i64>>,
    rows: parts::Rows,
}

impl Levels<'_> {
    /// What stands in a pair of brackets below so many others.
    fn read(&mut self, depth: usize, reader: &mut Reader<'_>) -> Result<(), DataError> {
        reader.expect(b'[', "`[`")?;
        let mut count = 0;
        while reader.peek() != Some(b']') {
            if count > 0 {
                reader.expect(b',', "`,` or `]`")?;
            }
            let start = reader.place();
            if depth + 1 < self.shape.len() {
                self.read(depth + 1, reader)?;
            } else {
                let element = whole(self.memory, self.element, reader)?;
                self.rows.push(&element).map_err(|why| reader.error(start, why))?;
            }
            count += 1;
        }
        let end = reader.place();
        reader.expect(b']', "`]`")?;
        match self.shape[depth].replace(count) {
            Some(extent) if extent != count => {
                Err(reader
                    .error(end, format!("this row has {count} elements, the rows before it have {extent}")))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Random, Types, write};
    use super::*;
    use galopvm::Program;
    use galopvm::data::Style;
    use galopvm_testkit::rounds;

    const TYPES: &str = "\
module m : {type t val mk : i32 -> t} = {type t = (i32, [2]f32) def mk (x: i32) = (x, [1f32, 2f32])}
entry main [n] (a: {x: f32, y: (i8, bool)}) (b: (u64, {s: [2]f64})) (c: #a f32 ([3]i16) | #b {p: i32} | #c)
  (d: [n]{k: i32, v: [2](bool, f16)}) (e: [n][2](#only i64 | #two (#in u8 | #out) f32)) (f: [2]((), i32)) = n
";

    /// Reads a text as one value of a type.
    fn read(memory: &Memory, ty: &Type, text: &[u8]) -> Result<Vec<Value>, DataError> {
        let mut reader = Reader::new(memory, text);
        assert!(is_whole(ty, &mut reader) || !text.starts_with(b"{"), "{}", String::from_utf8_lossy(text));
        let value = whole(memory, ty, &mut reader)?;
        reader.end()?;
        Ok(value)
    }

    #[test]
    fn what_is_written_is_read_back_and_what_is_damaged_is_explained() {
        let memory = Memory::default();
        let types =
            Types::of(Program::from_source("types.fut", TYPES).expect("a right program").module(), None);
        let params = &types.entries()[0].params;
        assert_eq!(params.len(), 6);
        let mut damage = galopvm_testkit::Random::new(3);
        for round in 0..rounds(300) {
            for (_, ty) in params {
                let value = Random::new(round, 5).value(&memory, ty).expect("no type is opaque");
                let mut text = Vec::new();
                write(&mut text, ty, &value, Style::Program).expect("memory takes everything");
                assert_eq!(
                    read(&memory, ty, &text).as_ref(),
                    Ok(&value),
                    "{}",
                    String::from_utf8_lossy(&text)
                );
                // What is read of damaged text is a value of the type.
                let at = damage.below(text.len());
                match damage.below(3) {
                    0 => text.truncate(at),
                    1 => drop(text.remove(at)),
                    _ => text[at] = *damage.pick(b"{}()[]#,= -x1\"\0"),
                }
                let Ok(parts) = whole(&memory, ty, &mut Reader::new(&memory, &text)) else { continue };
                assert_eq!(parts.iter().map(Value::ty).collect::<Vec<_>>(), ty.parts());
            }
        }
    }
}
