//! Arrays as tables: a column for each vector, or for each column of a matrix; scalars are a table of one row.
//!
//! Where all columns have names, the first line says them. Numbers are written so that the same are read back.

use galopvm::{Array, Scalar, Value, ValueType};
use std::io::{self, Write};

/// Whether values of these types can be the columns of one table.
pub fn fits(types: &[ValueType]) -> bool {
    let all = |rank: u8| types.iter().all(|ty| ty.rank == rank);
    !types.is_empty() && (all(0) || all(1) || (types.len() == 1 && types[0].rank == 2))
}

/// The length of the columns; an error if they differ.
pub fn rows(values: &[Value]) -> Result<i64, String> {
    let length = |value: &Value| value.as_array().map_or(1, |array| array.shape()[0]);
    let lengths: Vec<i64> = values.iter().map(length).collect();
    match lengths.iter().find(|length| **length != lengths[0]) {
        Some(other) => {
            let first = lengths[0];
            Err(format!("columns of {first} and of {other} elements are no table"))
        }
        None => Ok(lengths.first().copied().unwrap_or(0)),
    }
}

/// Writes a table of values that fit and are of the same length; each with its name, which may be empty.
pub fn write(out: &mut dyn Write, separator: u8, columns: &[(String, Value)], rows: i64) -> io::Result<()> {
    if columns.iter().all(|(name, _)| !name.is_empty()) {
        row(out, separator, columns.len(), |k| columns[k].0.clone())?;
    }
    let at = |array: &Array, index: &[i64]| array.get(index).map_or_else(String::new, Scalar::plain);
    if let [(_, Value::Array(matrix))] = columns
        && matrix.rank() == 2
    {
        let width = matrix.shape()[1];
        return (0..rows)
            .try_for_each(|i| row(out, separator, width as usize, |k| at(matrix, &[i, k as i64])));
    }
    (0..rows).try_for_each(|i| {
        row(out, separator, columns.len(), |k| match &columns[k].1 {
            Value::Scalar(scalar) => scalar.plain(),
            Value::Array(array) => at(array, &[i]),
        })
    })
}

fn row(out: &mut dyn Write, separator: u8, width: usize, cell: impl Fn(usize) -> String) -> io::Result<()> {
    for k in 0..width {
        if k > 0 {
            out.write_all(&[separator])?;
        }
        out.write_all(cell(k).as_bytes())?;
    }
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use galopvm::{Memory, data};

    fn table(names: &[&str], text: &str) -> Result<String, String> {
        let values = data::read_values(&Memory::default(), text.as_bytes()).expect("values");
        let rows = rows(&values)?;
        let names = names.iter().map(ToString::to_string).chain(std::iter::repeat(String::new()));
        let mut out = Vec::new();
        write(&mut out, b',', &names.zip(values).collect::<Vec<_>>(), rows).expect("memory");
        Ok(String::from_utf8(out).expect("text"))
    }

    #[test]
    fn vectors_are_columns_and_a_matrix_is_all_of_them() {
        assert_eq!(table(&["x", "n"], "[0.1, f64.nan] [1, -2]").as_deref(), Ok("x,n\n0.1,1\nnan,-2\n"));
        assert_eq!(table(&[], "[[1u8, 2u8], [3u8, 4u8]]").as_deref(), Ok("1,2\n3,4\n"));
        assert_eq!(table(&[], "1 true").as_deref(), Ok("1,true\n"));
        assert_eq!(table(&["x"], "empty([0]f32)").as_deref(), Ok("x\n"));
        assert!(table(&[], "[1] [1, 2]").is_err());
    }
}
