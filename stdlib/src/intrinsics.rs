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
    /// A value, row-major.
    Manifest,
    /// The outer dimension moved round.
    Rotate,
    /// The argument itself.
    Identity,
    /// The argument itself, which is shown to whoever listens.
    Trace,
    /// The argument itself; where a debugger stops.
    Break,
    /// Values written at positions of so many dimensions; positions outside are ignored.
    Scatter(u8),
    /// Values combined into the elements at positions of so many dimensions.
    Hist(u8),
    /// The elements for which a predicate holds.
    Filter,
    /// The elements for which a predicate holds, and the others.
    Partition,
    /// The elements for which one, the other, and none of two predicates holds.
    Partition2,
    /// The arrays a function gives for each element, one after the other.
    FlatMap,
    /// An accumulator over an array is filled by a function; writes replace.
    AccScatter,
    /// An accumulator over an array is filled by a function; writes combine.
    AccHist,
    /// One write to an accumulator.
    AccWrite,
    /// A view with so many dimensions, each with an extent and a stride, of a flat array.
    FlatIndex(u8),
    /// A flat array with such a view of it replaced.
    FlatUpdate(u8),
    /// A function's value and its derivative in one direction.
    Jvp,
    /// A function's value and its transposed derivative applied to one adjoint.
    Vjp,
    /// As `Jvp`, for an array of directions.
    Jmp,
    /// As `Vjp`, for an array of adjoints.
    Mjp,
    /// A function that brings its own transposed derivative.
    WithVjp,
}

/// Who can name an intrinsic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scope {
    /// Every program, by its plain name.
    Prelude,
    /// Only as `intrinsics.name`.
    Qualified,
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
    /// Who can name it.
    pub scope: Scope,
    /// One line for the reference page.
    pub doc: &'static str,
}

impl Intrinsic {
    /// How many arguments it takes: the arrows of its type that are in no brackets.
    pub fn arity(&self) -> usize {
        let (mut depth, mut arity) = (0, 0);
        let bytes = self.scheme.as_bytes();
        for (i, byte) in bytes.iter().enumerate() {
            match byte {
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth -= 1,
                b'-' if depth == 0 && bytes.get(i + 1) == Some(&b'>') => arity += 1,
                _ => {}
            }
        }
        arity
    }
}

macro_rules! intrinsics {
    ($($scope:ident { $($name:literal $lowering:ident $(($rank:literal))? $scheme:literal $doc:literal;)+ })+) => {
        /// Every intrinsic.
        pub static INTRINSICS: &[Intrinsic] = &[$($(Intrinsic {
            name: $name, scheme: $scheme, lowering: Lowering::$lowering$(($rank))?, scope: Scope::$scope, doc: $doc,
        }),+),+];
    };
}

intrinsics! {
    Prelude {
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
        "manifest" Manifest "'t : (x: t) -> *t" "The same value, row-major in memory.";
        "rotate" Rotate "[n] 't : (r: i64) -> (a: [n]t) -> *[n]t"
            "Element `i` of the result is element `i + r` (round the end).";
        "opaque" Identity "'t : (x: t) -> t" "The same value; a hint not to look through.";
        "trace" Trace "'t : (x: t) -> t" "The same value, which is shown on standard error.";
        "break" Break "'t : (x: t) -> t" "The same value; a place where the prompt says so and shows it.";
        "jvp2" Jvp "'a 'b : (f: a -> b) -> (x: a) -> (x': a) -> (b, b)"
            "The value of `f` at `x` and its derivative in direction `x'`.";
        "vjp2" Vjp "'a 'b : (f: a -> b) -> (x: a) -> (y': b) -> (b, a)"
            "The value of `f` at `x` and its transposed derivative applied to `y'`.";
        "jmp2" Jmp "'a 'b [n] : (f: a -> b) -> (x: a) -> (x': [n]a) -> (b, *[n]b)" "As `jvp2`, for an array of directions.";
        "mjp2" Mjp "'a 'b [n] : (f: a -> b) -> (x: a) -> (y': [n]b) -> (b, *[n]a)" "As `vjp2`, for an array of adjoints.";
        "with_vjp" WithVjp "'a 'b : (f: a -> b) -> (f': b -> b -> a) -> (x: a) -> b"
            "`f x`; `f' res adj` is the transposed derivative that `vjp` is to use.";
        "flatmap" FlatMap
            "'a 'b 'c [n] : (f: a -> ?[k].([k]b, c)) -> (as: [n]a) -> ?[m].(*[n]i64, *[m]bool, *[n]i64, *[m]b, *[n]c)"
            "The arrays that `f` gives, one after the other: their lengths, where each begins (flags), their offsets, their elements, and the second results.";
        "scatter" Scatter(1) "'t [k] [n] : (dest: *[k]t) -> (is: [n]i64) -> (vs: [n]t) -> *[k]t"
            "Writes values at positions; positions outside are ignored.";
        "scatter_2d" Scatter(2) "'t [k] [n] [l] : (dest: *[k][n]t) -> (is: [l](i64, i64)) -> (vs: [l]t) -> *[k][n]t"
            "As `scatter`, for positions of two dimensions.";
        "scatter_3d" Scatter(3)
            "'t [k] [n] [o] [l] : (dest: *[k][n][o]t) -> (is: [l](i64, i64, i64)) -> (vs: [l]t) -> *[k][n][o]t"
            "As `scatter`, for positions of three dimensions.";
        "reduce_by_index" Hist(1)
            "'a [k] [n] : (dest: *[k]a) -> (f: a -> a -> a) -> (ne: a) -> (is: [n]i64) -> (as: [n]a) -> *[k]a"
            "Combines values into the elements at positions; positions outside are ignored.";
        "reduce_by_index_2d" Hist(2)
            "'a [k] [n] [m] : (dest: *[k][m]a) -> (f: a -> a -> a) -> (ne: a) -> (is: [n](i64, i64)) -> (as: [n]a) -> *[k][m]a"
            "As `reduce_by_index`, for positions of two dimensions.";
        "reduce_by_index_3d" Hist(3)
            "'a [k] [n] [m] [l] : (dest: *[k][m][l]a) -> (f: a -> a -> a) -> (ne: a) -> (is: [n](i64, i64, i64)) -> (as: [n]a) -> *[k][m][l]a"
            "As `reduce_by_index`, for positions of three dimensions.";
        "filter" Filter "[n] 'a : (p: a -> bool) -> (as: [n]a) -> ?[k].*[k]a"
            "The elements for which the predicate holds, in order.";
        "partition" Partition "[n] 'a : (p: a -> bool) -> (as: [n]a) -> ?[k].([k]a, [n - k]a)"
            "The elements for which the predicate holds, and the others.";
        "partition2" Partition2
            "[n] 'a : (p: a -> bool) -> (q: a -> bool) -> (as: [n]a) -> ?[k][l].([k]a, [l]a, [n - k - l]a)"
            "The elements for which the first predicate holds, those for which only the second does, and the others.";
    }
    Qualified {
        "scatter_stream" AccScatter
            "'a 'b [k] [n] : (dest: *[k]a) -> (f: *intrinsics.acc ([k]a) -> b -> intrinsics.acc ([k]a)) -> (bs: [n]b) -> *[k]a"
            "Runs `f` with an accumulator over `dest` for every element; writes replace.";
        "hist_stream" AccHist
            "'a 'b [k] [n] : (dest: *[k]a) -> (op: a -> a -> a) -> (ne: a) -> (f: *intrinsics.acc ([k]a) -> b -> intrinsics.acc ([k]a)) -> (bs: [n]b) -> *[k]a"
            "As `scatter_stream`; writes combine with the operator.";
        "acc_write" AccWrite "[k] 'a : (acc: *intrinsics.acc ([k]a)) -> (i: i64) -> (v: a) -> *intrinsics.acc ([k]a)"
            "Writes one element of an accumulator.";
        "flat_index_2d" FlatIndex(2)
            "'a [n] : (as: [n]a) -> (offset: i64) -> (n1: i64) -> (s1: i64) -> (n2: i64) -> (s2: i64) -> ?[m][k].[m][k]a"
            "A view of a flat array: from an offset, an extent and a stride for each of two dimensions.";
        "flat_index_3d" FlatIndex(3)
            "'a [n] : (as: [n]a) -> (offset: i64) -> (n1: i64) -> (s1: i64) -> (n2: i64) -> (s2: i64) -> (n3: i64) -> (s3: i64) -> ?[m][k][l].[m][k][l]a"
            "As `flat_index_2d`, with three dimensions.";
        "flat_index_4d" FlatIndex(4)
            "'a [n] : (as: [n]a) -> (offset: i64) -> (n1: i64) -> (s1: i64) -> (n2: i64) -> (s2: i64) -> (n3: i64) -> (s3: i64) -> (n4: i64) -> (s4: i64) -> ?[m][k][l][p].[m][k][l][p]a"
            "As `flat_index_2d`, with four dimensions.";
        "flat_update_2d" FlatUpdate(2)
            "'a [n] [k] [l] : (as: *[n]a) -> (offset: i64) -> (s1: i64) -> (s2: i64) -> (v: [k][l]a) -> *[n]a"
            "A flat array with the view from an offset with these strides replaced.";
        "flat_update_3d" FlatUpdate(3)
            "'a [n] [k] [l] [p] : (as: *[n]a) -> (offset: i64) -> (s1: i64) -> (s2: i64) -> (s3: i64) -> (v: [k][l][p]a) -> *[n]a"
            "As `flat_update_2d`, with three dimensions.";
        "flat_update_4d" FlatUpdate(4)
            "'a [n] [k] [l] [p] [q] : (as: *[n]a) -> (offset: i64) -> (s1: i64) -> (s2: i64) -> (s3: i64) -> (s4: i64) -> (v: [k][l][p][q]a) -> *[n]a"
            "As `flat_update_2d`, with four dimensions.";
    }
}

/// The row of this name, if every program can name it.
pub fn intrinsic(name: &str) -> Option<&'static Intrinsic> {
    qualified_intrinsic(name).filter(|row| row.scope == Scope::Prelude)
}

/// The row that `intrinsics.name` means.
pub fn qualified_intrinsic(name: &str) -> Option<&'static Intrinsic> {
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
        let qualifier = if row.scope == Scope::Qualified { "intrinsics." } else { "" };
        let _ = writeln!(
            page,
            "| `{qualifier}{}` | `{}` | {lowering} | {} |",
            row.name,
            row.scheme.trim_start_matches(": "),
            row.doc
        );
    }
    page
}
