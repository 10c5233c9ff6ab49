//! Text in, text out: every printed region parses back to itself.

use galopvm_kir::text::{parse_region, print_region};
use galopvm_kir::{types, verify};

const ROW_SUMS: &str = "\
region row_sums (n : i64, m : i64, A : [n][m]f32)
let r : [n]f32 =
  kernel i < n do
    let s : f32 =
      red j < m do
        let x : f32 = A[i, j]
        in x
      by (a : f32 = 0.0f32) (b : f32) do
        in a + b
    in s
in r
";

#[test]
fn a_typed_region_prints_as_it_was_written() {
    let region = parse_region(ROW_SUMS).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(print_region(&region), ROW_SUMS);
    let verified = verify(region.clone()).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(verified.region(), &region);
    assert_eq!(verified.results()[0].shape.len(), 1);
    assert_eq!(region.parallel_axes().len(), 2);
}

#[test]
fn types_that_were_left_out_come_back() {
    let mut untyped = ROW_SUMS.to_string();
    for (with, without) in [
        ("r : [n]f32 =", "r ="),
        ("s : f32", "s"),
        ("x : f32", "x"),
        ("a : f32 = 0.0f32", "a = 0"),
        ("b : f32", "b"),
    ] {
        untyped = untyped.replace(with, without);
    }
    let mut region = parse_region(&untyped).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(print_region(&region), untyped);
    types::infer(&mut region);
    assert_eq!(print_region(&region), ROW_SUMS);
}
