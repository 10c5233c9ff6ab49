//! Columns of Apache Arrow as arguments and results: of every type, parts of others, lists of lists, and where nothing is copied.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, UInt8Type};
use arrow_array::*;
use galopvm::{Engine, Program, Session, Value, f16};
use std::sync::Arc;

fn session(source: &str) -> Session {
    let program = Program::from_source("test.fut", source).unwrap();
    Engine::new().session(&program)
}

#[test]
fn every_type_goes_in_and_comes_out() {
    macro_rules! columns {
        ($($ty:ty, $name:literal, $values:expr;)+) => {$({
            let mut session = session(&format!(
                "entry view [n] (xs: [n]{0}): [n]{0} = xs
                 entry back [n] (xs: [n]{0}): [n]{0} = xs[::-1]
                 entry fresh [n] (xs: [n]{0}): [n]{0} = map2 (\\x b -> if b then x else xs[0]) xs (replicate n true)", $name));
            let elements = $values;
            let reversed: Vec<_> = elements.iter().rev().copied().collect();
            let (column, reversed) = (<$ty>::from(elements.to_vec()), <$ty>::from(reversed));
            for name in ["view", "fresh"] {
                assert_eq!(session.call::<$ty>(name, (&column,)).unwrap(), column);
                assert_eq!(session.call::<$ty>(name, (column.slice(1, 2),)).unwrap(), column.slice(1, 2));
                assert_eq!(session.call::<$ty>(name, (column.slice(3, 0),)).unwrap(), column.slice(3, 0));
                let any: ArrayRef = Arc::new(column.slice(1, 3));
                assert_eq!(&session.call::<ArrayRef>(name, (&any,)).unwrap(), &any);
                assert_eq!(&session.call::<ArrayRef>(name, (any.as_ref(),)).unwrap(), &any);
            }
            assert_eq!(session.call::<$ty>("back", (column,)).unwrap(), reversed);
        })+};
    }
    columns! {
        Int8Array, "i8", [-128i8, 127, 0, 1];
        Int16Array, "i16", [-32768i16, 32767, 0, 1];
        Int32Array, "i32", [i32::MIN, i32::MAX, 0, 1];
        Int64Array, "i64", [i64::MIN, i64::MAX, 0, 1];
        UInt8Array, "u8", [0u8, 255, 2, 1];
        UInt16Array, "u16", [0u16, 65535, 2, 1];
        UInt32Array, "u32", [0u32, u32::MAX, 2, 1];
        UInt64Array, "u64", [0u64, u64::MAX, 2, 1];
        Float16Array, "f16", [1.5, -2.0, 0.25, 65504.0].map(f16::from_f32);
        Float32Array, "f32", [1.5f32, f32::INFINITY, f32::MIN_POSITIVE, -0.0];
        Float64Array, "f64", [1.5f64, f64::INFINITY, 5e-324, -0.0];
        BooleanArray, "bool", [true, false, false, true];
    }
}

/// Lists of two lists of three numbers from 0 on, so many.
fn lists(count: i32) -> ArrayRef {
    let lists = (0..2 * count).map(|row| Some((0..3).map(move |k| Some(3 * row + k))));
    let inner = FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(lists, 3);
    let field = arrow_schema::Field::new_list_field(inner.data_type().clone(), true);
    Arc::new(FixedSizeListArray::new(Arc::new(field), 2, Arc::new(inner), None))
}

#[test]
fn lists_of_one_length_are_rows() {
    let mut session = session(
        "entry sums [n][k][m] (xs: [n][k][m]i32): [n]i32 = map (\\x -> i32.sum (flatten x)) xs
         entry same [n][k][m] (xs: [n][k][m]i32): [n][k][m]i32 = xs
         entry turned [n][k][m] (xs: [n][k][m]i32): [k][n][m]i32 = transpose xs
         entry kept [n][m] (xs: [n][m]bool) = xs
         entry empty (n: i64) (m: i64): [n][m]bool = replicate n (replicate m true)",
    );
    let column = lists(4);
    let sums: Int32Array = session.call("sums", (&column,)).unwrap();
    assert_eq!(sums.values(), &[15, 51, 87, 123]);
    let part = column.slice(2, 2);
    assert_eq!(session.call::<Int32Array>("sums", (part,)).unwrap().values(), &[87, 123]);
    assert_eq!(session.call::<Int32Array>("sums", (column.slice(1, 0),)).unwrap().len(), 0);

    let same: ArrayRef = session.call("same", (column.as_ref(),)).unwrap();
    let inner = same.as_fixed_size_list().values().as_fixed_size_list();
    assert_eq!(
        (same.len(), inner.len(), inner.value(3).as_primitive::<Int32Type>().values().to_vec()),
        (4, 8, vec![9, 10, 11])
    );
    // What goes in again is the same.
    let again: galopvm::Array = session.call("same", (&same,)).unwrap();
    assert_eq!((again.shape().as_slice(), again.to_vec::<i32>()), (&[4, 2, 3][..], Some((0..24).collect())));

    let turned: ArrayRef = session.call("turned", (&column,)).unwrap();
    let numbers = turned.as_fixed_size_list().values().as_fixed_size_list().values().clone();
    let expected: Vec<i32> =
        (0..2).flat_map(|k| (0..4).flat_map(move |n| (0..3).map(move |m| 6 * n + 3 * k + m))).collect();
    assert_eq!(numbers.as_primitive::<Int32Type>().values().to_vec(), expected);

    for (rows, width) in [(0, 3), (3, 0), (0, 0), (2, 70)] {
        let empty: ArrayRef = session.call("empty", (rows as i64, width as i64)).unwrap();
        let lists = empty.as_fixed_size_list();
        assert_eq!(
            (lists.len(), lists.value_length(), lists.values().len()),
            (rows, width as i32, rows * width)
        );
        assert_eq!(lists.values().as_boolean().true_count(), rows * width);
        let again: galopvm::Array = session.call("kept", (&empty,)).unwrap();
        assert_eq!(again.shape().as_slice(), [rows as i64, width as i64]);
    }
    let wide = session.give(Vec::<bool>::new(), &[0, 1 << 40]).unwrap();
    let error = session.call::<ArrayRef>("kept", (wide,)).unwrap_err();
    assert_eq!(error.to_string(), "lists of the shape [0][1099511627776] are longer than Arrow's can be");
}

#[test]
fn nothing_is_copied_that_needs_not_be() {
    let mut session = session(
        "entry same [n] (xs: [n]f64) = xs
         entry double [n] (xs: [n]f64): [n]f64 = map (* 2) xs
         entry grown [n] (xs: *[n]f64): [n]f64 = xs with [0] = 7
         entry rows [n] (xs: [n][2]f64) = xs",
    );
    let column = Float64Array::from(vec![1.0; 5000]);
    let before = (session.memory_stats().allocations, session.memory_stats().copies);
    let part: Float64Array = session.call("same", (column.slice(10, 4000),)).unwrap();
    assert_eq!(part.values().as_ptr(), column.values()[10..].as_ptr());
    let field = Arc::new(arrow_schema::Field::new_list_field(arrow_schema::DataType::Float64, true));
    let lists = FixedSizeListArray::new(field, 2, Arc::new(column.clone()), None);
    let rows: ArrayRef = session.call("rows", (lists.slice(100, 1000),)).unwrap();
    let place = rows.as_fixed_size_list().values().as_primitive::<Float64Type>().values().as_ptr();
    assert_eq!(place, column.values()[200..].as_ptr());
    assert_eq!((session.memory_stats().allocations, session.memory_stats().copies), before);
    // A result lies where the program made it: one block, which is there as long as the column.
    let doubled: Float64Array = session.call("double", (&column,)).unwrap();
    let stats = session.memory_stats();
    assert_eq!((stats.allocations, stats.copies), (before.0 + 1, before.1));
    drop(session);
    assert_eq!(doubled.values().iter().sum::<f64>(), 10_000.0);
}

#[test]
fn what_is_lent_does_not_change() {
    let mut session = session("entry grown [n] (xs: *[n]f64): [n]f64 = xs with [0] = 7");
    let column = Float64Array::from(vec![1.0, 2.0]);
    let grown: Float64Array = session.call("grown", (&column,)).unwrap();
    assert_eq!((column.values().to_vec(), grown.values().to_vec()), (vec![1.0, 2.0], vec![7.0, 2.0]));
}

#[test]
fn what_is_no_array_is_an_error() {
    let mut session = session("entry f [n] (xs: [n]u8): i64 = n");
    let mut message = |column: &dyn Array| session.call::<i64>("f", (column,)).unwrap_err().to_string();
    assert_eq!(
        message(&UInt8Array::from(vec![Some(1), None])),
        "a column with a null is no array: fill it or leave it out before"
    );
    assert_eq!(
        message(&BooleanArray::from(vec![None, None, Some(true)])),
        "a column with 2 nulls is no array: fill them or leave them out before"
    );
    assert_eq!(
        message(&Date32Array::from(vec![1])),
        "a column of type Date32 is no array of numbers or truth values; reinterpret_cast::<Int32Type>() has its numbers"
    );
    assert_eq!(
        message(&StringArray::from(vec!["a"])),
        "a column of type Utf8 is no array of numbers or truth values"
    );
    assert_eq!(message(&Int8Array::from(vec![1])), "Argument 1 (`xs`) of `f` has type []i8, expected []u8.");
    let error = session.call::<UInt8Array>("f", (UInt8Array::from(vec![1]),)).unwrap_err();
    assert_eq!(error.to_string(), "the value is a i64, not a []u8");
    assert_eq!(session.call::<i64>("f", (PrimitiveArray::<UInt8Type>::from(vec![1, 2]),)).unwrap(), 2);
}

#[test]
fn the_columns_of_a_batch_are_arguments_by_name() {
    let mut session = session(
        "entry worth [n] (price: [n]f64) (size: [n]i64): f64 = f64.sum (map2 (\\p s -> p * f64.i64 s) price size)",
    );
    let size: ArrayRef = Arc::new(Int64Array::from(vec![1, 4]));
    let price: ArrayRef = Arc::new(Float64Array::from(vec![10.0, 0.5]));
    let batch =
        RecordBatch::try_from_iter([("name", size.clone()), ("size", size.clone()), ("price", price)])
            .unwrap();
    let arguments =
        |session: &Session, batch| galopvm::arrow::arguments(batch, session.entry("worth").unwrap());
    let values: Vec<Value> = arguments(&session, &batch).unwrap();
    assert_eq!(session.call::<f64>("worth", values).unwrap(), 12.0);
    let batch = batch.project(&[0, 1]).unwrap();
    let error = arguments(&session, &batch).unwrap_err();
    assert_eq!(error.to_string(), "there is no column `price`; there are name, size");
    let nulls: ArrayRef = Arc::new(Float64Array::from(vec![None, Some(0.5)]));
    let batch = RecordBatch::try_from_iter([("size", size), ("price", nulls)]).unwrap();
    let error = arguments(&session, &batch).unwrap_err();
    assert_eq!(
        error.to_string(),
        "column `price`: a column with a null is no array: fill it or leave it out before"
    );
}
