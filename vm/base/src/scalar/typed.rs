//! Functions for a scalar operation on a type, chosen once instead of at every execution.
//!
//! One macro goes over the rows of the scalar-operation table: for an operation and a type it gives the instance of a
//! generic function `f::<T, O, OP>` (operand type, result type, operation). What the instance does is the table's meaning
//! ([`Native`](super::Native)) with the operation as a constant.

use super::ScalarOp;

/// The operation of a constant parameter.
pub const fn operation(code: u8) -> ScalarOp {
    ScalarOp::ALL[code as usize]
}

/// The instance of a generic function for an operation of this arity on a type; nothing if there is no such operation.
#[macro_export]
macro_rules! typed_function {
    ($arity:tt $function:ident $op:ident $ty:ident) => {
        $crate::scalar_op_table!([$crate::typed_rows] ($arity $function $op $ty))
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! typed_rows {
    (($want:tt $function:ident $op:ident $ty:ident)
     $($variant:ident $name:literal $infix:tt $arity:tt $domain:ident $result:ident
       [$($algebra:tt)+] $precision:ident $error:tt $trap:ident $doc:literal;)+) => {
        match $op {
            $($crate::ScalarOp::$variant => $crate::typed_row!($want $arity $domain $function $ty $result $variant),)+
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! typed_row {
    (1 1 $domain:ident $($rest:ident)+) => { $crate::typed_domain!($domain $($rest)+) };
    (2 2 $domain:ident $($rest:ident)+) => { $crate::typed_domain!($domain $($rest)+) };
    (3 3 $domain:ident $($rest:ident)+) => { $crate::typed_domain!($domain $($rest)+) };
    ($($other:tt)+) => { None };
}

#[doc(hidden)]
#[macro_export]
macro_rules! typed_domain {
    (Int $($rest:ident)+) => {
        $crate::typed_types!($($rest)+, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64)
    };
    (Float $($rest:ident)+) => { $crate::typed_types!($($rest)+, F16 f16, F32 f32, F64 f64) };
    (Num $($rest:ident)+) => {
        $crate::typed_types!($($rest)+, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
                     F16 f16, F32 f32, F64 f64)
    };
    (Logic $($rest:ident)+) => {
        $crate::typed_types!($($rest)+, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, Bool bool)
    };
    (Word $($rest:ident)+) => { $crate::typed_types!($($rest)+, U16 u16, U32 u32, U64 u64) };
    (Bool $($rest:ident)+) => { $crate::typed_types!($($rest)+, Bool bool) };
    (Any $($rest:ident)+) => {
        $crate::typed_types!($($rest)+, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
                     F16 f16, F32 f32, F64 f64, Bool bool)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! typed_types {
    ($function:ident $ty:ident $result:ident $variant:ident, $($elem:ident $rust:ident),+) => {
        match $ty {
            $($crate::ElemType::$elem => {
                Some($function::<$rust, $crate::typed_result!($result $rust), { $crate::ScalarOp::$variant as u8 }>)
            })+
            #[allow(unreachable_patterns, reason = "some operations exist on every type")]
            _ => None,
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! typed_result {
    (Same $rust:ident) => {
        $rust
    };
    (Bool $rust:ident) => {
        bool
    };
    (I32 $rust:ident) => {
        i32
    };
    (Word f16) => {
        u16
    };
    (Word f32) => {
        u32
    };
    (Word f64) => {
        u64
    };
    (FloatOfWord u16) => {
        f16
    };
    (FloatOfWord u32) => {
        f32
    };
    (FloatOfWord u64) => {
        f64
    };
}

/// The instance of a generic function `f::<T, O>` for a conversion.
#[macro_export]
macro_rules! typed_conversion {
    ($function:ident $from:ident $to:ident) => {
        $crate::typed_conversion!(@ $function $from $to, (I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
                          F16 f16, F32 f32, F64 f64, Bool bool))
    };
    (@ $function:ident $from:ident $to:ident, ($($elem:ident $rust:ident),+)) => {
        match $from {
            $($crate::ElemType::$elem => $crate::typed_conversion!(@@ $function $rust $to)),+
        }
    };
    (@@ $function:ident $rust:ident $to:ident) => {
        match $to {
            $crate::ElemType::I8 => $function::<$rust, i8>,
            $crate::ElemType::I16 => $function::<$rust, i16>,
            $crate::ElemType::I32 => $function::<$rust, i32>,
            $crate::ElemType::I64 => $function::<$rust, i64>,
            $crate::ElemType::U8 => $function::<$rust, u8>,
            $crate::ElemType::U16 => $function::<$rust, u16>,
            $crate::ElemType::U32 => $function::<$rust, u32>,
            $crate::ElemType::U64 => $function::<$rust, u64>,
            $crate::ElemType::F16 => $function::<$rust, f16>,
            $crate::ElemType::F32 => $function::<$rust, f32>,
            $crate::ElemType::F64 => $function::<$rust, f64>,
            $crate::ElemType::Bool => $function::<$rust, bool>,
        }
    };
}
