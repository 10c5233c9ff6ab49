//! **The** table of intrinsics: functions that the compiler translates itself.
//!
//! A row gives a name, its type scheme in Futhark's own notation, how it is translated, and a line of
//! documentation. The checker reads the scheme, the core builder the translation, the reference page all of it.

use std::fmt::Write;

/// How a use of an intrinsic becomes core.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Lowering {
    /// The operator of this name; its function argument becomes the body.
    Map,
    /// A reduction.
    Reduce,
    /// Inclusive prefixes of a reduction.
    Scan,
    /// Arrays of equal length become one array of tuples; nothing is copied.
    Zip,
    /// The reverse.
    Unzip,
    /// The i64 numbers from 0.
    Iota,
    /// Copies of a value.
    Replicate,
    /// A view with the outer two dimensions swapped.
    Transpose,
    /// The outer two dimensions become one.
    Flatten,
    /// The outer dimension becomes two.
    Unflatten,
    /// One array after the other.
    Concat,
    /// The extent of the outer dimension.
    Length,
    /// A value with memory of its own.
    Copy,
    /// The argument itself.
    Identity,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Intrinsic {
    /// The name in source programs.
    pub name: &'static str,
    /// Type parameters, colon, type.
    pub scheme: &'static str,
    /// Its translation.
    pub lowering: Lowering,
    /// One line for the reference page.
    pub doc: &'static str,
}

macro_rules! intrinsics {
    ($($name:literal $lowering:ident $scheme:literal $doc:literal;)+) => {
        /// Every intrinsic.
        pub static INTRINSICS: &[Intrinsic] = &[$(Intrinsic {
            name: $name, scheme: $scheme, lowering: Lowering::$lowering, doc: $doc,
        }),+];
    };
}

intrinsics! {
    "map" Map "'a 'x [n] : (f: a -> x) -> (as: [n]a) -> *[n]x" "Applies a function to every element.";
    "reduce" Reduce "'a [n] : (op: a -> a -> a) -> (ne: a) -> (as: [n]a) -> a"
        "Combines all elements with an associative operator that has the given neutral element.";
    "reduce_comm" Reduce "'a [n] : (op: a -> a -> a) -> (ne: a) -> (as: [n]a) -> a"
        "As `reduce`; the operator is also commutative.";
    "scan" Scan "'a [n] : (op: a -> a -> a) -> (ne: a) -> (as: [n]a) -> *[n]a"
        "All inclusive prefixes of `reduce`.";
    "zip" Zip "'a 'b [n] : (as: [n]a) -> (bs: [n]b) -> *[n](a, b)" "An array of pairs from two arrays.";
    "zip2" Zip "'a 'b [n] : (as: [n]a) -> (bs: [n]b) -> *[n](a, b)" "As `zip`.";
    "zip3" Zip "'a 'b 'c [n] : (as: [n]a) -> (bs: [n]b) -> (cs: [n]c) -> *[n](a, b, c)"
        "An array of triples from three arrays.";
    "zip4" Zip "'a 'b 'c 'd [n] : (as: [n]a) -> (bs: [n]b) -> (cs: [n]c) -> (ds: [n]d) -> *[n](a, b, c, d)"
        "An array of quadruples from four arrays.";
    "zip5" Zip
        "'a 'b 'c 'd 'e [n] : (as: [n]a) -> (bs: [n]b) -> (cs: [n]c) -> (ds: [n]d) -> (es: [n]e) -> *[n](a, b, c, d, e)"
        "An array of quintuples from five arrays.";
    "unzip" Unzip "'a 'b [n] : (xs: [n](a, b)) -> ([n]a, [n]b)" "Two arrays from an array of pairs.";
    "unzip2" Unzip "'a 'b [n] : (xs: [n](a, b)) -> ([n]a, [n]b)" "As `unzip`.";
    "unzip3" Unzip "'a 'b 'c [n] : (xs: [n](a, b, c)) -> ([n]a, [n]b, [n]c)" "Three arrays from an array of triples.";
    "unzip4" Unzip "'a 'b 'c 'd [n] : (xs: [n](a, b, c, d)) -> ([n]a, [n]b, [n]c, [n]d)"
        "Four arrays from an array of quadruples.";
    "unzip5" Unzip "'a 'b 'c 'd 'e [n] : (xs: [n](a, b, c, d, e)) -> ([n]a, [n]b, [n]c, [n]d, [n]e)"
        "Five arrays from an array of quintuples.";
    "iota" Iota ": (n: i64) -> *[n]i64" "The numbers from 0 below `n`.";
    "replicate" Replicate "'t : (n: i64) -> (x: t) -> *[n]t" "An array of `n` copies of a value.";
    "transpose" Transpose "[n] [m] 't : (a: [n][m]t) -> [m][n]t" "The outer two dimensions swapped; a view.";
    "flatten" Flatten "[n] [m] 't : (xs: [n][m]t) -> [n * m]t" "The outer two dimensions made one.";
    "unflatten" Unflatten "'t [n] [m] : (xs: [n * m]t) -> [n][m]t"
        "The outer dimension made two; their extents come from the type.";
    "concat" Concat "[n] [m] 't : (xs: [n]t) -> (ys: [m]t) -> *[n + m]t" "One array after the other.";
    "length" Length "[n] 't : (xs: [n]t) -> i64" "The number of elements.";
    "copy" Copy "'t : (x: t) -> *t" "The same value in memory of its own.";
    "manifest" Copy "'t : (x: t) -> *t" "The same value, row-major in memory of its own.";
    "opaque" Identity "'t : (x: t) -> t" "The same value; a hint not to look through.";
}

/// The row of this name.
pub fn intrinsic(name: &str) -> Option<&'static Intrinsic> {
    INTRINSICS.iter().find(|row| row.name == name)
}

/// `docs/reference/intrinsics.md`, whole.
pub fn intrinsics_page() -> String {
    let mut page = String::from(
        "# Intrinsics\n\n\
         Generated from the table in `stdlib/src/intrinsics.rs`; do not edit.\n\n\
         | name | type | translation | meaning |\n\
         |---|---|---|---|\n",
    );
    for row in INTRINSICS {
        let lowering = format!("{:?}", row.lowering).to_lowercase();
        let _ = writeln!(
            page,
            "| `{}` | `{}` | {lowering} | {} |",
            row.name,
            row.scheme.trim_start_matches(": "),
            row.doc
        );
    }
    page
}
