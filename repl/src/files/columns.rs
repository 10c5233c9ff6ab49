//! Tables as arrays: a column for each vector, or all columns as the rows of a matrix.
//!
//! Columns go by name where the header names the vectors that are wanted, else in their order, and then there are as many as
//! vectors. Elements are counted in the session's memory, and there is room for no more of them than the text can have.

use super::table::{Cell, Table, shortened};
use super::{Problem, cell};
use crate::wanted::Leaf;
use galopvm::{Array, Block, ElemType, Memory, Scalar, Value};
use galopvm_lmad::Lmad;

/// Arrays of the first of the values that are wanted, as many as the table has.
pub fn read(memory: &Memory, table: &Table<'_>, wanted: &[Leaf]) -> Result<Vec<Value>, Problem> {
    let Some(first) = wanted.first() else {
        return Err(Problem::of_file("no value is expected that this table could be", ""));
    };
    match first.ty.rank {
        1 => {
            let vectors: Vec<&Leaf> = wanted.iter().take_while(|leaf| leaf.ty.rank == 1).collect();
            let picked = picked(table, &vectors)?;
            let sinks =
                picked.iter().zip(&vectors).map(|(column, leaf)| Sink::new(leaf.ty.elem, vec![*column]));
            filled(memory, table, sinks.collect(), 1)
        }
        2 => filled(memory, table, vec![Sink::new(first.ty.elem, (0..table.width).collect())], 2),
        _ => Err(Problem::of_file(
            format!("a table cannot be {}", described(first)),
            "a column is a vector such as []f64, and all columns are a matrix such as [][]f64",
        )),
    }
}

/// Arrays of all columns, each of the type that its cells have: integers, floats or truth values.
pub fn read_naturally(memory: &Memory, table: &Table<'_>) -> Result<Vec<Value>, Problem> {
    let mut elems: Vec<Option<ElemType>> = vec![None; table.width];
    let (mut rows, mut cells) = (table.rows(), Vec::new());
    while rows.next(&mut cells)? {
        for (k, Cell { text, at }) in cells.iter().enumerate() {
            let found = cell::natural(text, table.decimal_comma(), elems[k]);
            elems[k] = Some(found.ok_or_else(|| {
                let others = elems[k].map_or("number or truth value", |elem| elem.name());
                let message = format!("`{}` is no {others}, in {}", shortened(text), table.column_name(k));
                Problem::at(*at, message, "a column holds numbers only, or true and false only")
            })?);
        }
    }
    let sinks = elems.iter().enumerate().map(|(k, elem)| Sink::new(elem.unwrap_or(ElemType::F64), vec![k]));
    filled(memory, table, sinks.collect(), 1)
}

fn described(leaf: &Leaf) -> String {
    match leaf.path.as_str() {
        "" => format!("a value of type {}", leaf.ty),
        path => format!("`{path}` of type {}", leaf.ty),
    }
}

/// The column of each vector, from the first one on.
fn picked(table: &Table<'_>, vectors: &[&Leaf]) -> Result<Vec<usize>, Problem> {
    let named = |leaf: &Leaf| {
        let header = table.header.as_deref().unwrap_or_default();
        leaf.names().find_map(|name| header.iter().position(|column| column == name))
    };
    let found: Vec<Option<usize>> = vectors.iter().map(|leaf| named(leaf)).collect();
    let Some(last) = found.iter().rposition(Option::is_some) else {
        // What is left over comes from another file.
        return match vectors.len() {
            count if count >= table.width => Ok((0..table.width).collect()),
            count => Err(Problem::of_file(
                format!(
                    "this table has {} columns, but {} taken, and no name of a column says which",
                    table.width,
                    if count == 1 { "one vector is".into() } else { format!("{count} vectors are") },
                ),
                "a first line with the names of the columns picks those of the parameters; [][]f64 takes all columns",
            )),
        };
    };
    let column = |k: usize| {
        found[k].ok_or_else(|| {
            let names: Vec<String> =
                table.header.iter().flatten().take(20).map(|name| shortened(name)).collect();
            Problem::of_file(
                format!(
                    "there is no column for {}, but one for {}",
                    described(vectors[k]),
                    described(vectors[last])
                ),
                format!("the columns are {}", names.join(", ")),
            )
        })
    };
    (0..=last).map(column).collect()
}

/// An array in the making.
struct Sink {
    elem: ElemType,
    /// The columns that it takes, in order.
    columns: Vec<usize>,
}

impl Sink {
    fn new(elem: ElemType, columns: Vec<usize>) -> Sink {
        Sink { elem, columns }
    }

    fn row_bytes(&self) -> usize {
        self.columns.len() * self.elem.bytes()
    }
}

/// The arrays, of this rank, with the elements of the table.
fn filled(memory: &Memory, table: &Table<'_>, sinks: Vec<Sink>, rank: u8) -> Result<Vec<Value>, Problem> {
    let most = table.most_rows();
    let mut blocks = Vec::new();
    for sink in &sinks {
        blocks.push(room(memory, most.saturating_mul(sink.row_bytes()))?);
    }
    let mut places: Vec<&mut [u8]> = blocks.iter_mut().filter_map(Block::bytes_mut).collect();
    let comma = table.decimal_comma();
    let (mut rows, mut cells, mut count) = (table.rows(), Vec::new(), 0);
    while rows.next(&mut cells)? {
        for (sink, place) in sinks.iter().zip(&mut places) {
            let width = sink.elem.bytes();
            let Some(row) = place.get_mut(count * sink.row_bytes()..(count + 1) * sink.row_bytes()) else {
                return Err(Problem::of_file("this table changed while it was read", ""));
            };
            for (element, column) in row.chunks_exact_mut(width).zip(&sink.columns) {
                let scalar = number(table, &cells, *column, sink.elem, comma)?;
                element.copy_from_slice(&scalar.bits.to_le_bytes()[..width]);
            }
        }
        count += 1;
    }
    let array = |(block, sink): (Block, &Sink)| {
        let shape = [count as i64, sink.columns.len() as i64];
        let lmad = Lmad::row_major(&shape[..usize::from(rank)]);
        Array::from_block(block, sink.elem, lmad).map(Value::Array)
    };
    let arrays: Option<Vec<Value>> = blocks.into_iter().zip(&sinks).map(array).collect();
    arrays.ok_or_else(|| Problem::of_file("this table is too large", ""))
}

fn number(
    table: &Table<'_>,
    cells: &[Cell<'_>],
    column: usize,
    elem: ElemType,
    comma: bool,
) -> Result<Scalar, Problem> {
    let Some(Cell { text, at }) = cells.get(column) else {
        return Err(Problem::of_file("this table changed while it was read", ""));
    };
    cell::scalar(text, elem, comma).map_err(|refused| {
        let message = format!("{}, in {}", refused.message, table.column_name(column));
        Problem::at(*at, message, refused.hint)
    })
}

/// A block of this size for elements.
pub fn room(memory: &Memory, bytes: usize) -> Result<Block, Problem> {
    memory.block(bytes).map_err(|error| Problem::of_file(error.to_string(), "--max-memory allows more"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use galopvm::ValueType;

    fn leaf(path: &str, elem: ElemType, rank: u8) -> Leaf {
        Leaf { ty: ValueType { elem, rank }, path: path.into() }
    }

    fn read_text(text: &str, wanted: &[Leaf]) -> Result<String, String> {
        let memory = Memory::default();
        let table = Table::of(&memory, text.as_bytes()).map_err(|problem| problem.message)?;
        let values = read(&memory, &table, wanted).map_err(|problem| problem.message)?;
        Ok(values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn columns_go_by_name_or_in_order() {
        let wanted =
            [leaf("p.x", ElemType::F64, 1), leaf("p.n", ElemType::U8, 1), leaf("m", ElemType::I32, 2)];
        let of = |text: &str| read_text(text, &wanted);
        assert_eq!(of("n,x,rest\n1,2.5,a\n2,3,b\n").as_deref(), Ok("[2.5f64, 3f64] [1u8, 2u8]"));
        assert_eq!(of("x\n1\n").as_deref(), Ok("[1f64]"));
        assert_eq!(of("a,b\n1,2\n").as_deref(), Ok("[1f64] [2u8]"));
        assert_eq!(of("1\n2\n").as_deref(), Ok("[1f64, 2f64]"));
        assert_eq!(of("n,x\n").as_deref(), Ok("empty([0]f64) empty([0]u8)"));
        assert!(of("1,2,3\n").is_err_and(|why| why.contains("3 columns, but 2 vectors are taken")));
        assert!(of("n,y\n1,2\n").is_err_and(|why| why.contains("no column for `p.x`")));
        assert!(of("x,n\n1,256\n").is_err_and(|why| why.contains("in column 2 (`n`)")));
        assert_eq!(read_text("a,b\n1,2\n3,4\n", &wanted[2..]).as_deref(), Ok("[[1i32, 2i32], [3i32, 4i32]]"));
        assert!(read_text("1\n", &[leaf("k", ElemType::I32, 0)]).is_err());
    }

    #[test]
    fn columns_have_types_of_their_own() {
        let table = Table::of(&Memory::default(), b"1,2,true\n3,4.5,false\n").expect("a table");
        let values = read_naturally(&Memory::default(), &table).expect("numbers");
        let text: Vec<String> = values.iter().map(ToString::to_string).collect();
        assert_eq!(text, ["[1i64, 3i64]", "[2f64, 4.5f64]", "[true, false]"]);
    }

    #[test]
    fn memory_is_bounded() {
        let memory = Memory::new(Some(1 << 20));
        let text = "1\n".repeat(1 << 18);
        let table = Table::of(&memory, text.as_bytes()).expect("a table");
        assert!(read(&memory, &table, &[leaf("", ElemType::F64, 1)]).is_err());
    }
}
