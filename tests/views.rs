//! Views: what is only read through slices, transposes, reversals and LMADs is never copied, in the interpreter.
//!
//! A program's entry points are called with arrays of their types, and the copies that the session counted are compared
//! with what a comment in front of the entry point says, in the words of `--stats`.

use galopvm::{BackendChoice, Engine, Program, Session, Value};
use galopvm_bytecode::ValueType;

/// Nothing is copied by these: views are passed on, read, and given back.
const READ_ONLY: &str = "
entry transposed [n] [m] (a: [n][m]i64) = transpose a
entry sliced [n] [m] (a: [n][m]i64) = a[::-1, 1:]
entry row_of_transposed [n] [m] (a: [n][m]i64) = (transpose a)[1]
entry reversed_transposed [n] [m] (a: [n][m]i64) = reverse (transpose a)
entry flattened [n] [m] (a: [n][m]i64) = flatten a
entry unflattened (a: [12]i64) : [3][4]i64 = unflatten (a :> [3 * 4]i64)
entry flattened_columns (a: [4][6]i64) = unflatten (transpose (a[:, ::2]) :> [1 * 3][4]i64)
entry sums_of_columns [n] [m] (a: [n][m]i64) = map i64.sum (transpose a)
entry column [n] [m] (a: [n][m]i64) = map (\\r -> r[1]) (reverse a)
entry rows_reversed [n] [m] (a: [n][m]i64) = map (\\r -> r[::-1] :> [m]i64) a
entry rows_transposed [n] [m] [k] (a: [n][m][k]i64) = map transpose a
entry rows_turned [n] [m] [k] (a: [n][m][k]i64) = map (\\r -> map reverse (transpose r)) a
entry rows_swapped [n] [m] (a: [n][m]i64) (b: [n][m]i64) = map (\\(x, y) -> (reverse y, x)) (zip a b)
entry stencil [n] (a: [n]i64) = map3 (\\l c r -> l + c + r) a (reverse a) (a[::-1] :> [n]i64)
entry part_of_part [n] (a: [n]i64) = take 3 (drop 2 a)
entry nothing_added [n] (a: [n]i64) = concat (concat [] a) []
entry branches [n] (a: [n][n]i64) = if n > 2 then transpose a else reverse a
entry looped [n] (a: [n][n]i64) = loop b = a for _i < 3 do transpose b
entry read_in_loop [n] [m] (a: [n][m]i64) = let b = transpose a in loop s = 0 for i < m do s + b[i, 0]
entry rows_in_loop [n] [m] (a: [n][m]i64) = loop s = 0 for r in transpose a do s + r[0]
entry product [n] (a: [n]i64) (b: [n]i64) = i64.sum (map2 (*) (reverse a) (reverse b))
entry tuple [n] [m] (a: [n][m]i64) = (a, transpose a, a[0], a[:, 0])
entry blocks [n] (a: [n]i64) = intrinsics.flat_index_3d a 1 2 3 2 2 2 1
entry diagonal [n] (a: [n][n]i64) = i64.sum (map (\\x -> x[0]) (intrinsics.flat_index_2d (flatten a) 0 n (n + 1) 1 1))
entry compared [n] [m] (a: [n][m]i64) = map2 (\\x y -> all (\\(p, q) -> p <= q) (zip x y)) a (reverse a)
entry matched [n] (a: [n]i64) = match head a case 1 -> a[1:] case _ -> a[:n - 1]
";

/// Each of these has to copy, once: why is said behind its name.
const COPYING: &[(&str, &str)] = &[
    ("def main [n] [m] (a: [n][m]i64) = flatten (transpose a)", "no one LMAD: transpose 1"),
    ("def main [n] [m] (a: [n][m]i64) = flatten (a[:, 1:])", "no one LMAD: rows 1"),
    ("def main [n] [m] (a: [n][m]i64) = manifest (transpose a)", "asked for: transpose 1"),
    ("def main [n] (a: [n]i64) = (copy a, a)", "asked for, and both are values: memcpy 1"),
    ("def main (a: *[]i64) = (a[1:], a with [0] = 2)", "two values: memcpy 1"),
    ("def main [n] (a: [n]i64) = concat a[:1] a[1:]", "two parts: memcpy 2"),
    ("def main [n] (a: *[n]i64) = a with [1:] = copy a[:n - 1]", "copied, and put back: memcpy 2"),
];

/// An array with so many rows, if it has two dimensions.
fn argument(session: &Session, ty: ValueType, rows: i64) -> Value {
    let shape: Vec<i64> = match ty.rank {
        1 => vec![12],
        2 => vec![rows, 6],
        rank => vec![6; usize::from(rank)],
    };
    let elements: Vec<i64> = (0..shape.iter().product::<i64>()).collect();
    Value::Array(session.array(&elements, &shape).expect("an array"))
}

/// Calls every entry point; the name, and what was copied.
fn copies(text: &str) -> Vec<(String, String)> {
    let program = Program::from_source("views.fut", text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let engine = Engine::builder().backend(BackendChoice::Interp).build();
    let entries = program.entries().iter();
    let call = |entry: &galopvm::Entry| {
        let mut session = engine.session(&program);
        let rows = if entry.params.iter().any(|p| p.ty == "[4][6]i64") { 4 } else { 6 };
        let types = session.argument_types(entry);
        let args = types.into_iter().map(|ty| argument(&session, ty, rows)).collect();
        let before = session.memory_stats();
        let results =
            session.call_values(&entry.name, args).unwrap_or_else(|e| panic!("{}: {e}", entry.name));
        // Writing results is reading them.
        results.iter().for_each(|value| drop(value.to_string()));
        let after = session.memory_stats();
        let kinds = ["memcpy", "rows", "transpose", "strided"].into_iter().enumerate();
        let counted =
            kinds.map(|(k, kind)| (kind, after.copies[k] - before.copies[k])).filter(|(_, n)| *n > 0);
        let said: Vec<String> = counted.map(|(kind, n)| format!("{kind} {n}")).collect();
        (entry.name.clone(), said.join(", "))
    };
    entries.map(call).collect()
}

#[test]
fn what_is_only_read_is_not_copied() {
    let copied: Vec<_> = copies(READ_ONLY).into_iter().filter(|(_, said)| !said.is_empty()).collect();
    assert!(copied.is_empty(), "{copied:?}");
}

#[test]
fn copies_are_made_where_they_must_be() {
    for (text, said) in COPYING {
        let (_, found) = copies(text).remove(0);
        assert!(said.ends_with(&format!(": {found}")), "{text}: found {found}, expected {said}");
    }
}
