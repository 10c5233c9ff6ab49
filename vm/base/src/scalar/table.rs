//! **The** scalar-operation table. A new operation is a new row here plus its arm in `eval.rs`.

use super::value::Scalar;
use crate::elem::ElemType;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

/// The element types an operation accepts. All operands have the same type, except as `operand_type` says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Domain {
    /// All integers.
    Int,
    /// All floats.
    Float,
    /// Integers and floats.
    Num,
    /// Integers and bool.
    Logic,
    /// Bool alone.
    Bool,
    /// Unsigned integers as wide as a float.
    Word,
    /// Every type.
    Any,
}

impl Domain {
    /// True if the operation exists on this type.
    pub const fn contains(self, ty: ElemType) -> bool {
        let is_bool = matches!(ty, ElemType::Bool);
        match self {
            Domain::Int => ty.is_int(),
            Domain::Float => ty.is_float(),
            Domain::Num => !is_bool,
            Domain::Logic => ty.is_int() || is_bool,
            Domain::Bool => is_bool,
            Domain::Word => matches!(ty, ElemType::U16 | ElemType::U32 | ElemType::U64),
            Domain::Any => true,
        }
    }

    /// The name used in reference pages.
    pub const fn name(self) -> &'static str {
        match self {
            Domain::Int => "integers",
            Domain::Float => "floats",
            Domain::Num => "numbers",
            Domain::Logic => "integers, bool",
            Domain::Bool => "bool",
            Domain::Word => "u16, u32, u64",
            Domain::Any => "all",
        }
    }
}

/// The type of an operation's result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultType {
    /// The operand type.
    Same,
    /// Always this type.
    Fixed(ElemType),
    /// The unsigned integer as wide as the operand type.
    Word,
    /// The float as wide as the operand type.
    FloatOfWord,
}

/// The neutral element of an associative operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Identity {
    /// 0, or false.
    Zero,
    /// 1, or true.
    One,
    /// All bits set, or true.
    Ones,
    /// The greatest value (infinity for floats).
    Greatest,
    /// The least value (minus infinity for floats).
    Least,
}

impl Identity {
    /// The neutral element in a type.
    pub fn of(self, ty: ElemType) -> Scalar {
        let bits = match self {
            Identity::Zero => 0,
            Identity::One => return Scalar::from_int(ty, 1),
            Identity::Ones => u64::MAX,
            Identity::Greatest | Identity::Least if ty.is_float() => {
                let infinity = if self == Identity::Greatest { f64::INFINITY } else { f64::NEG_INFINITY };
                return Scalar::from_f64(ty, infinity);
            }
            Identity::Greatest if ty.is_signed() => ty.mask() >> 1,
            Identity::Greatest => u64::MAX,
            Identity::Least if ty.is_signed() => 1 << (ty.bits() - 1),
            Identity::Least => 0,
        };
        Scalar::new(ty, bits)
    }
}

/// How exact an operation is on floats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precision {
    /// Correctly rounded or exact: every tier agrees bit for bit.
    Exact,
    /// From a mathematical library: tiers may differ by a few units in the last place.
    Library,
}

/// What can go wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TrapRule {
    /// Nothing.
    Never,
    /// The second operand is an integer zero.
    ZeroDivisor,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The operation.
    pub op: ScalarOp,
    /// The name in every text form.
    pub name: &'static str,
    /// The infix spelling in KIR text and in Futhark, if there is one.
    pub infix: Option<&'static str>,
    /// Number of operands, 1 to 3.
    pub arity: u8,
    /// The types it exists on.
    pub domain: Domain,
    /// The type of its result.
    pub result: ResultType,
    /// Mathematically associative (floats: up to rounding, the contract of `reduce`).
    pub associative: bool,
    /// Commutative.
    pub commutative: bool,
    /// Neutral element, if there is one.
    pub identity: Option<Identity>,
    /// Exactness on floats.
    pub precision: Precision,
    /// For a function of a library: no greater error was found on `f64`, in units in the last place of the true value; on `f32`
    /// and `f16` it is below 0.501.
    pub error: Option<f64>,
    /// What can go wrong.
    pub trap: TrapRule,
    /// One line for the reference page.
    pub doc: &'static str,
}

macro_rules! algebra {
    (none) => {
        (false, false, None)
    };
    (comm) => {
        (false, true, None)
    };
    (assoc) => {
        (true, false, None)
    };
    (monoid $id:ident) => {
        (true, true, Some(Identity::$id))
    };
}

macro_rules! infix {
    (-) => {
        None
    };
    ($text:literal) => {
        Some($text)
    };
}

macro_rules! error {
    (-) => {
        None
    };
    ($units:literal) => {
        Some($units)
    };
}

macro_rules! result_type {
    (Same) => {
        ResultType::Same
    };
    (Word) => {
        ResultType::Word
    };
    (FloatOfWord) => {
        ResultType::FloatOfWord
    };
    ($ty:ident) => {
        ResultType::Fixed(ElemType::$ty)
    };
}

macro_rules! scalar_ops {
    ($($variant:ident $name:literal $infix:tt $arity:literal $domain:ident $result:ident
       [$($algebra:tt)+] $precision:ident $error:tt $trap:ident $doc:literal;)+) => {
        /// A scalar operation. The discriminants are part of the `.gbc` format: new rows go at the end.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[repr(u8)]
        pub enum ScalarOp {
            $(#[doc = $doc] $variant),+
        }

        impl ScalarOp {
            /// Every operation, in the order of their codes.
            pub const ALL: &'static [ScalarOp] = &[$(ScalarOp::$variant),+];

            /// The operation's row.
            pub const fn info(self) -> &'static OpInfo {
                &ROWS[self as usize]
            }
        }

        static ROWS: &[OpInfo] = &[$({
            let (associative, commutative, identity) = algebra!($($algebra)+);
            OpInfo {
                op: ScalarOp::$variant,
                name: $name,
                infix: infix!($infix),
                arity: $arity,
                domain: Domain::$domain,
                result: result_type!($result),
                associative,
                commutative,
                identity,
                precision: Precision::$precision,
                error: error!($error),
                trap: TrapRule::$trap,
                doc: $doc,
            }
        }),+];
    };
}

/// Gives the rows of the table to a macro, after tokens of the caller's, for code that is made from it.
#[doc(hidden)]
#[macro_export]
macro_rules! scalar_op_table {
    ([$($then:tt)+] $($before:tt)*) => { $($then)+! { $($before)*
    // variant  name     infix arity domain result  algebra          precision error trap
    Add       "add"      "+"   2 Num   Same [monoid Zero]     Exact   -   Never "Sum; integers wrap.";
    Sub       "sub"      "-"   2 Num   Same [none]            Exact   -   Never "Difference; integers wrap.";
    Mul       "mul"      "*"   2 Num   Same [monoid One]      Exact   -   Never "Product; integers wrap.";
    Div       "div"      "/"   2 Num   Same [none]            Exact   -   ZeroDivisor "Quotient; integers round towards minus infinity.";
    Mod       "mod"      "%"   2 Num   Same [none]            Exact   -   ZeroDivisor "Remainder of `div`; floats: the remainder that has the sign of the dividend (C's fmod).";
    Quot      "quot"     "//"  2 Int   Same [none]            Exact   -   ZeroDivisor "Quotient rounded towards zero.";
    Rem       "rem"      "%%"  2 Int   Same [none]            Exact   -   ZeroDivisor "Remainder of `quot`.";
    Pow       "pow"      "**"  2 Num   Same [none]            Library 0.6 Never "Power; integers wrap, a negative integer exponent counts as unsigned; with the exponent 2 the product a * a.";
    Min       "min"      -     2 Any   Same [monoid Greatest] Exact   -   Never "The lesser; a NaN gives way to the other operand, and -0.0 is less than 0.0.";
    Max       "max"      -     2 Any   Same [monoid Least]    Exact   -   Never "The greater; a NaN gives way to the other operand, and -0.0 is less than 0.0.";
    And       "and"      "&"   2 Logic Same [monoid Ones]     Exact   -   Never "Bitwise and; logical and.";
    Or        "or"       "|"   2 Logic Same [monoid Zero]     Exact   -   Never "Bitwise or; logical or.";
    Xor       "xor"      "^"   2 Logic Same [monoid Zero]     Exact   -   Never "Bitwise exclusive or; inequality of truth values.";
    Shl       "shl"      "<<"  2 Int   Same [none]            Exact   -   Never "Shift left by an unsigned count; a count of the width or more gives 0.";
    Shr       "shr"      ">>"  2 Int   Same [none]            Exact   -   Never "Shift right, signed types arithmetically; a large count leaves only sign bits.";
    Ushr      "ushr"     ">>>" 2 Int   Same [none]            Exact   -   Never "Shift right with zeros; a count of the width or more gives 0.";
    Eq        "eq"       "=="  2 Any   Bool [comm]            Exact   -   Never "Equality; NaN equals nothing.";
    Ne        "ne"       "!="  2 Any   Bool [comm]            Exact   -   Never "Inequality.";
    Lt        "lt"       "<"   2 Any   Bool [none]            Exact   -   Never "Less; false is less than true.";
    Le        "le"       "<="  2 Any   Bool [none]            Exact   -   Never "Less or equal.";
    Gt        "gt"       ">"   2 Any   Bool [none]            Exact   -   Never "Greater.";
    Ge        "ge"       ">="  2 Any   Bool [none]            Exact   -   Never "Greater or equal.";
    Neg       "neg"      -     1 Num   Same [none]            Exact   -   Never "Negation; integers wrap.";
    Not       "not"      -     1 Logic Same [none]            Exact   -   Never "All bits flipped; logical not.";
    Abs       "abs"      -     1 Num   Same [none]            Exact   -   Never "Absolute value; the least signed integer stays.";
    Sgn       "sgn"      -     1 Num   Same [none]            Exact   -   Never "Sign: -1, 0 or 1; NaN stays NaN.";
    Popc      "popc"     -     1 Int   I32  [none]            Exact   -   Never "Number of set bits.";
    Clz       "clz"      -     1 Int   I32  [none]            Exact   -   Never "Number of leading zero bits.";
    Ctz       "ctz"      -     1 Int   I32  [none]            Exact   -   Never "Number of trailing zero bits; the width for 0.";
    MulHi     "mul_hi"   -     2 Int   Same [comm]            Exact   -   Never "High half of the double-width product.";
    Sqrt      "sqrt"     -     1 Float Same [none]            Exact   -   Never "Square root.";
    Floor     "floor"    -     1 Float Same [none]            Exact   -   Never "Greatest whole number not above.";
    Ceil      "ceil"     -     1 Float Same [none]            Exact   -   Never "Least whole number not below.";
    Trunc     "trunc"    -     1 Float Same [none]            Exact   -   Never "Rounded towards zero.";
    Round     "round"    -     1 Float Same [none]            Exact   -   Never "Nearest whole number, ties to even.";
    IsNan     "isnan"    -     1 Float Bool [none]            Exact   -   Never "True for NaN.";
    IsInf     "isinf"    -     1 Float Bool [none]            Exact   -   Never "True for both infinities.";
    CopySign  "copysign" -     2 Float Same [none]            Exact   -   Never "Magnitude of the first, sign of the second.";
    Fma       "fma"      -     3 Float Same [none]            Exact   -   Never "a*b+c, rounded once.";
    Select    "select"   -     3 Any   Same [none]            Exact   -   Never "The second operand where the first (a bool) is true, else the third.";
    Rsqrt     "rsqrt"    -     1 Float Same [none]            Exact   -   Never "1/sqrt(x), both steps rounded.";
    Cbrt      "cbrt"     -     1 Float Same [none]            Library 0.6 Never "Cube root.";
    Exp       "exp"      -     1 Float Same [none]            Library 1.0 Never "Exponential.";
    Log       "log"      -     1 Float Same [none]            Library 0.8 Never "Natural logarithm.";
    Log2      "log2"     -     1 Float Same [none]            Library 1.6 Never "Logarithm to base 2.";
    Log10     "log10"    -     1 Float Same [none]            Library 0.7 Never "Logarithm to base 10.";
    Log1p     "log1p"    -     1 Float Same [none]            Library 0.8 Never "log(1 + x), exact near 0.";
    Sin       "sin"      -     1 Float Same [none]            Library 0.8 Never "Sine.";
    Cos       "cos"      -     1 Float Same [none]            Library 0.8 Never "Cosine.";
    Tan       "tan"      -     1 Float Same [none]            Library 1.5 Never "Tangent.";
    Asin      "asin"     -     1 Float Same [none]            Library 0.9 Never "Arc sine.";
    Acos      "acos"     -     1 Float Same [none]            Library 0.9 Never "Arc cosine.";
    Atan      "atan"     -     1 Float Same [none]            Library 2.0 Never "Arc tangent.";
    Sinh      "sinh"     -     1 Float Same [none]            Library 1.9 Never "Hyperbolic sine.";
    Cosh      "cosh"     -     1 Float Same [none]            Library 1.3 Never "Hyperbolic cosine.";
    Tanh      "tanh"     -     1 Float Same [none]            Library 1.6 Never "Hyperbolic tangent.";
    Asinh     "asinh"    -     1 Float Same [none]            Library 1.8 Never "Inverse hyperbolic sine.";
    Acosh     "acosh"    -     1 Float Same [none]            Library 1.3 Never "Inverse hyperbolic cosine.";
    Atanh     "atanh"    -     1 Float Same [none]            Library 1.7 Never "Inverse hyperbolic tangent.";
    Gamma     "gamma"    -     1 Float Same [none]            Library 0.8 Never "Gamma function.";
    Lgamma    "lgamma"   -     1 Float Same [none]            Library 1.1 Never "Logarithm of the gamma function's magnitude.";
    Erf       "erf"      -     1 Float Same [none]            Library 1.0 Never "Error function.";
    Erfc      "erfc"     -     1 Float Same [none]            Library 0.9 Never "Complementary error function.";
    Atan2     "atan2"    -     2 Float Same [none]            Library 1.5 Never "Angle of the point (second, first).";
    Hypot     "hypot"    -     2 Float Same [comm]            Library 1.1 Never "Length of the vector (a, b).";
    ToBits    "to_bits"  -     1 Float Word [none]            Exact   -   Never "The bits of a float as an unsigned integer of its width.";
    FromBits  "from_bits" -    1 Word  FloatOfWord [none]     Exact   -   Never "The float that has these bits.";
    NextAfter "nextafter" -    2 Float Same [none]            Exact   -   Never "The next number of the type from the first towards the second; the second where they are equal.";
    Scale     "scale"    -     2 Float Same [none]            Exact   -   Never "a * 2^b rounded once, for whole b (a fraction is dropped).";
    } };
}

scalar_op_table!([scalar_ops]);

impl ScalarOp {
    /// The name in every text form.
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// Number of operands.
    pub const fn arity(self) -> usize {
        self.info().arity as usize
    }

    /// The code stored in `.gbc` files.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The operation with this code, if there is one.
    pub fn from_code(code: u8) -> Option<ScalarOp> {
        ScalarOp::ALL.get(code as usize).copied()
    }

    /// The operation with this infix spelling, if there is one.
    pub fn from_infix(text: &str) -> Option<ScalarOp> {
        ScalarOp::ALL.iter().copied().find(|op| op.info().infix == Some(text))
    }

    /// The type of operand `index` when the operation works on `ty`.
    pub fn operand_type(self, index: usize, ty: ElemType) -> ElemType {
        if self == ScalarOp::Select && index == 0 { ElemType::Bool } else { ty }
    }

    /// The type of the result when the operation works on `ty`.
    pub const fn result_type(self, ty: ElemType) -> ElemType {
        match self.info().result {
            ResultType::Same => ty,
            ResultType::Fixed(fixed) => fixed,
            ResultType::Word => match ty.bytes() {
                1 => ElemType::U8,
                2 => ElemType::U16,
                4 => ElemType::U32,
                _ => ElemType::U64,
            },
            ResultType::FloatOfWord => match ty.bytes() {
                1 | 2 => ElemType::F16,
                4 => ElemType::F32,
                _ => ElemType::F64,
            },
        }
    }

    /// True if the operation exists on this type.
    pub const fn accepts(self, ty: ElemType) -> bool {
        self.info().domain.contains(ty)
    }

    /// True if the operation can trap on this type.
    pub const fn can_trap(self, ty: ElemType) -> bool {
        ty.is_int() && matches!(self.info().trap, TrapRule::ZeroDivisor)
    }

    /// True if every tier computes the same bits on this type.
    pub const fn is_exact(self, ty: ElemType) -> bool {
        !ty.is_float() || matches!(self.info().precision, Precision::Exact)
    }

    /// What the operation costs on this type, in additions.
    pub const fn weight(self, ty: ElemType) -> u64 {
        match self {
            _ if matches!(self.info().precision, Precision::Library) => 16,
            ScalarOp::Div | ScalarOp::Mod | ScalarOp::Quot | ScalarOp::Rem if ty.is_int() => 8,
            ScalarOp::Div | ScalarOp::Mod | ScalarOp::Sqrt | ScalarOp::Rsqrt => 4,
            _ => 1,
        }
    }

    /// True if a reduction with this operator on this type gives the same bits in any order.
    pub const fn order_free(self, ty: ElemType) -> bool {
        self.info().associative && (!ty.is_float() || matches!(self, ScalarOp::Min | ScalarOp::Max))
    }
}

impl fmt::Display for ScalarOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ScalarOp {
    type Err = ();

    fn from_str(text: &str) -> Result<ScalarOp, ()> {
        let found = BY_NAME.binary_search_by_key(&text, |op| op.name());
        found.map(|at| BY_NAME[at]).map_err(drop)
    }
}

/// All operations in the order of their names: text of programs is full of them.
static BY_NAME: LazyLock<Vec<ScalarOp>> = LazyLock::new(|| {
    let mut all = ScalarOp::ALL.to_vec();
    all.sort_unstable_by_key(|op| op.name());
    all
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_codes_are_unique_and_round_trip() {
        for (code, op) in ScalarOp::ALL.iter().enumerate() {
            assert_eq!(op.info().op, *op);
            assert_eq!(ScalarOp::from_code(code as u8), Some(*op));
            assert_eq!(op.name().parse(), Ok(*op));
            if let Some(infix) = op.info().infix {
                assert_eq!(ScalarOp::from_infix(infix), Some(*op));
            }
        }
    }
}
