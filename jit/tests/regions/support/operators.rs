//! Associative operators whose order shows, and arrays that show it.

use super::{Arg, Layout, Random, SIZES, value_of};
use galopvm_base::ElemType;

/// An operator over some components of a type: its text, with `TY` for the type.
pub struct Operator {
    /// What it does.
    pub name: &'static str,
    /// One for each component.
    pub neutral: &'static [&'static str],
    /// Of `a0, ..` and `b0, ..`.
    pub body: &'static str,
}

pub const OPERATORS: &[Operator] = &[
    Operator {
        name: "the last one",
        neutral: &["0TY", "0TY"],
        body: "in (select(b1 == 0TY, a0, b0), a1 | b1)",
    },
    Operator {
        name: "the first that is not neutral",
        neutral: &["0TY", "0TY"],
        body: "let (x : TY, y : TY) = if a0 == 0TY && a1 == 0TY then in (b0, b1) else in (a0, a1) in (x, y)",
    },
    Operator {
        name: "affine maps, one after the other",
        neutral: &["1TY", "0TY"],
        body: "in (a0 * b0, a1 * b0 + b1)",
    },
    Operator {
        name: "sums of segments",
        neutral: &["0TY", "0TY"],
        body: "let s : TY = select(b1 != 0TY, b0, a0 + b0) in (s, a1 | b1)",
    },
    Operator {
        name: "products of matrices",
        neutral: &["1TY", "0TY", "0TY", "1TY"],
        body: "in (a0 * b0 + a1 * b2, a0 * b1 + a1 * b3, a2 * b0 + a3 * b2, a2 * b1 + a3 * b3)",
    },
    Operator {
        name: "the greatest with the least number",
        neutral: &["LEAST", "MOST"],
        body: "let c : bool = a0 > b0 || a0 == b0 && a1 < b1 in (select(c, a0, b0), select(c, a1, b1))",
    },
    Operator {
        name: "greatest common divisors",
        neutral: &["0TY"],
        body: "let (x : TY, y : TY) = loop (x1 : TY, y1 : TY) = (a0, b0) while y1 != 0TY do in (y1, x1 % y1) in abs(x)",
    },
];

impl Operator {
    /// A region that folds arrays.
    pub fn reduction(&self, ty: ElemType) -> String {
        self.region("red", "TY", ty)
    }

    /// A region of all prefixes.
    pub fn scan(&self, ty: ElemType) -> String {
        self.region("scan", "[n]TY", ty)
    }

    fn region(&self, word: &str, result: &str, ty: ElemType) -> String {
        let (least, most) = match ty {
            ElemType::I8 => ("-128i8", "127i8"),
            ElemType::I16 => ("-32768i16", "32767i16"),
            ElemType::I32 => ("-2147483648i32", "2147483647i32"),
            ElemType::I64 => ("-9223372036854775808i64", "9223372036854775807i64"),
            ElemType::U32 => ("0u32", "4294967295u32"),
            _ => ("0u64", "18446744073709551615u64"),
        };
        let numbers = || 0..self.neutral.len();
        let list = |one: &dyn Fn(usize) -> String| numbers().map(one).collect::<Vec<_>>().join(", ");
        format!(
            "region fold (n : i64, {})
            let ({}) = {word} i < n do in ({}) by ({}) ({}) do {}
            in ({})",
            list(&|k| format!("A{k} : [n]TY")),
            list(&|k| format!("r{k} : {result}")),
            list(&|k| format!("A{k}[i]")),
            list(&|k| format!("a{k} : TY = {}", self.neutral[k])),
            list(&|k| format!("b{k} : TY")),
            self.body,
            list(&|k| format!("r{k}")),
        )
        .replace("LEAST", least)
        .replace("MOST", most)
        .replace("TY", &ty.to_string())
    }
}

pub const TYPES: [ElemType; 6] =
    [ElemType::I8, ElemType::I16, ElemType::I32, ElemType::I64, ElemType::U32, ElemType::U64];

/// Many zeros and few different numbers, so that there are ties and neutral elements.
pub fn small(ty: ElemType, n: usize, layout: Layout, random: &mut Random) -> Arg {
    let (lmad, elements) = layout.view(&[n as i64]);
    let one = |random: &mut Random| match random.below(4) {
        0 => value_of(ty, random),
        1 | 2 => 0,
        _ if ty.is_float() => value_of(ty, random),
        _ => random.below(5) as u64 & ty.mask(),
    };
    Arg::Array(ty, (0..elements).map(|_| one(random)).collect(), lmad)
}

/// Sizes around vectors, blocks and pieces.
pub fn sizes() -> impl Iterator<Item = usize> {
    SIZES.into_iter().chain([127, 1024, 1025, 5000])
}
