//! The machine's instructions: an operation and four 16-bit operands, mostly slots of a flat frame of 64-bit words.
//!
//! Slots hold [`Bits`](galopvm_base::Bits). One table gives the instructions for frequent operations on frequent
//! types; every other operation is a call of a function that knows its type. Since bits above a type's width are zero,
//! one instruction often serves several types ([`canonical`]).

use galopvm_base::{ElemType, ScalarOp};

/// An instruction. What `a` to `d` are depends on the operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ins {
    pub(super) op: Op,
    pub(super) a: u16,
    pub(super) b: u16,
    pub(super) c: u16,
    pub(super) d: u16,
}

/// Gives the table of typed instructions to a macro, after tokens of the caller's.
macro_rules! typed_instructions {
    ($then:ident $($before:tt)*) => { $then! { $($before)*
        // Result in `a`, operands in `b` and `c`.
        binary {
            AddI64 Add I64 i64, AddI32 Add I32 i32, AddF64 Add F64 f64, AddF32 Add F32 f32,
            SubI64 Sub I64 i64, SubI32 Sub I32 i32, SubF64 Sub F64 f64, SubF32 Sub F32 f32,
            MulI64 Mul I64 i64, MulI32 Mul I32 i32, MulF64 Mul F64 f64, MulF32 Mul F32 f32,
            DivI64 Div I64 i64, DivI32 Div I32 i32, DivF64 Div F64 f64, DivF32 Div F32 f32,
            ModI64 Mod I64 i64, ModI32 Mod I32 i32,
            QuotI64 Quot I64 i64, QuotI32 Quot I32 i32,
            RemI64 Rem I64 i64, RemI32 Rem I32 i32,
            MinI64 Min I64 i64, MinI32 Min I32 i32, MinU64 Min U64 u64, MinF64 Min F64 f64, MinF32 Min F32 f32,
            MaxI64 Max I64 i64, MaxI32 Max I32 i32, MaxU64 Max U64 u64, MaxF64 Max F64 f64, MaxF32 Max F32 f32,
            AndI64 And I64 i64, OrI64 Or I64 i64, XorI64 Xor I64 i64,
            ShlI64 Shl I64 i64, ShlI32 Shl I32 i32,
            ShrI64 Shr I64 i64, ShrI32 Shr I32 i32, ShrU64 Shr U64 u64,
            EqF64 Eq F64 f64, EqF32 Eq F32 f32, NeF64 Ne F64 f64, NeF32 Ne F32 f32,
        }
        // Result in `a`, operand in `b`.
        unary {
            NegI64 Neg I64 i64, NegI32 Neg I32 i32, NegF64 Neg F64 f64, NegF32 Neg F32 f32,
            AbsF64 Abs F64 f64, AbsF32 Abs F32 f32, SqrtF64 Sqrt F64 f64, SqrtF32 Sqrt F32 f32,
            NotBool Not Bool bool,
        }
        // Three forms: result in `a`, operands in `b` and `c`; jump to `c` unless `a` and `b` compare so; jump back to
        // `c` if they do, where `d` is what the turn costs.
        compare {
            LtI64 UnlessLtI64 AgainLtI64 Lt I64 i64, LtI32 UnlessLtI32 AgainLtI32 Lt I32 i32,
            LtU64 UnlessLtU64 AgainLtU64 Lt U64 u64,
            LtF64 UnlessLtF64 AgainLtF64 Lt F64 f64, LtF32 UnlessLtF32 AgainLtF32 Lt F32 f32,
            LeI64 UnlessLeI64 AgainLeI64 Le I64 i64, LeI32 UnlessLeI32 AgainLeI32 Le I32 i32,
            LeU64 UnlessLeU64 AgainLeU64 Le U64 u64,
            LeF64 UnlessLeF64 AgainLeF64 Le F64 f64, LeF32 UnlessLeF32 AgainLeF32 Le F32 f32,
            EqI64 UnlessEqI64 AgainEqI64 Eq I64 i64,
            NeI64 UnlessNeI64 AgainNeI64 Ne I64 i64,
        }
        // Result in `a`, operand in `b`.
        convert {
            I32ToI64 I32 I64, I64ToI32 I64 I32, I32ToF64 I32 F64, I64ToF64 I64 F64, I32ToF32 I32 F32,
            I64ToF32 I64 F32, F32ToF64 F32 F64, F64ToF32 F64 F32, F64ToI64 F64 I64, F32ToI32 F32 I32,
        }
    } };
}
pub(super) use typed_instructions;

macro_rules! operations {
    (binary { $($binary:ident $bop:ident $bty:ident $brust:ident,)+ }
     unary { $($unary:ident $uop:ident $uty:ident $urust:ident,)+ }
     compare { $($compare:ident $unless:ident $again:ident $cop:ident $cty:ident $crust:ident,)+ }
     convert { $($convert:ident $from:ident $to:ident,)+ }) => {
        /// An operation of the machine.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u16)]
        pub(super) enum Op {
            /// The end of the code.
            End,
            /// Cuts the chain of calls.
            Pause,
            /// `a` becomes `b`.
            Move,
            /// Goes on at `c`.
            Jump,
            /// Goes on at `c` unless `a` is true.
            Unless,
            /// Goes back to `c` if `a` is true; `d` is the cost of the turn.
            Again,
            /// Adds 1 to `a`, and goes back to `c` if it is below `b`; `d` is the cost of the turn.
            Count,
            /// `a` becomes function `c` of `b`.
            Call1,
            /// `a` becomes function `d` of `b` and `c`.
            Call2,
            /// `a` becomes the ternary operation `d` of `b`, `c` and the slot that the operation's entry names.
            Call3,
            /// `a` becomes `c` if `b` is true, else `d`.
            Select,
            /// `a` becomes element `c` of vector `b`, whose elements have 1, 2, 4 or 8 bytes.
            Load1,
            Load2,
            Load4,
            Load8,
            /// `a` becomes the element that access `b` says.
            LoadAt,
            /// The indices of access `b` must be inside.
            Inside,
            /// `a` becomes element `c` of the vector in cell `b`.
            Fetch1,
            Fetch2,
            Fetch4,
            Fetch8,
            /// `a` becomes the element of a cell that access `b` says.
            FetchAt,
            /// Element `b` of the vector in cell `a` becomes `c`.
            Store1,
            Store2,
            Store4,
            Store8,
            /// The element of a cell that access `b` says becomes `c`.
            StoreAt,
            /// Goes on at `c` if the place of a cell that access `b` says is not inside.
            Within,
            /// `a` must be true, else assertion `b` has failed.
            Assert,
            /// An operator of `a` turns: not a negative number.
            Width,
            /// The extent `b` must be the number of turns `a`.
            Extent,
            $(#[doc = stringify!($binary)] $binary,)+
            $(#[doc = stringify!($unary)] $unary,)+
            $(#[doc = stringify!($compare)] $compare, #[doc = stringify!($unless)] $unless,
              #[doc = stringify!($again)] $again,)+
            $(#[doc = stringify!($convert)] $convert,)+
        }

        impl Op {
            /// The instruction of a binary operation that does not compare.
            pub(super) fn binary(op: ScalarOp, ty: ElemType) -> Option<Op> {
                match (op, ty) {
                    $((ScalarOp::$bop, ElemType::$bty) => Some(Op::$binary),)+
                    _ => None,
                }
            }

            /// The instruction of a unary operation.
            pub(super) fn unary(op: ScalarOp, ty: ElemType) -> Option<Op> {
                match (op, ty) {
                    $((ScalarOp::$uop, ElemType::$uty) => Some(Op::$unary),)+
                    _ => None,
                }
            }

            /// The instruction of a comparison.
            pub(super) fn compare(op: ScalarOp, ty: ElemType) -> Option<Op> {
                match (op, ty) {
                    $((ScalarOp::$cop, ElemType::$cty) => Some(Op::$compare),)+
                    _ => None,
                }
            }

            /// For a comparison: the jumps if it does not hold, and back if it does.
            pub(super) fn jumps(self) -> Option<(Op, Op)> {
                match self {
                    $(Op::$compare => Some((Op::$unless, Op::$again)),)+
                    _ => None,
                }
            }

            /// The instruction of a conversion.
            pub(super) fn convert(from: ElemType, to: ElemType) -> Option<Op> {
                match (from, to) {
                    $((ElemType::$from, ElemType::$to) => Some(Op::$convert),)+
                    _ => None,
                }
            }
        }
    };
}

typed_instructions!(operations);

/// The type that an operation can as well be done on, the instructions being for few types: operands and results have
/// the same bits.
pub(super) fn canonical(op: ScalarOp, ty: ElemType) -> ElemType {
    use ScalarOp::*;
    let whole = ty.is_int() || ty == ElemType::Bool;
    let unsigned = ty.is_unsigned() || ty == ElemType::Bool;
    match (op, ty) {
        (And | Or | Xor | Eq | Ne, _) if whole => ElemType::I64,
        (Lt | Le | Min | Max, _) if unsigned => ElemType::U64,
        (Shr | Ushr, _) if unsigned && ty.bits() == 64 => ElemType::U64,
        (Add | Sub | Mul | Shl | Neg, ElemType::U64) => ElemType::I64,
        (Add | Sub | Mul | Shl | Neg, ElemType::U32) => ElemType::I32,
        _ => ty,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use galopvm_base::scalar::{eval1, eval2};

    #[test]
    fn canonical_types_mean_the_same() {
        let odd = [
            0u64,
            1,
            2,
            3,
            31,
            63,
            64,
            0x7f,
            0x80,
            0xff,
            0x7fff,
            0x7fff_ffff,
            0x8000_0000,
            1 << 63,
            u64::MAX,
        ];
        for &op in ScalarOp::ALL {
            for ty in ElemType::ALL.into_iter().filter(|t| op.accepts(*t)) {
                let other = canonical(op, ty);
                for a in odd.map(|x| x & ty.mask()) {
                    for b in odd.map(|x| x & ty.mask()) {
                        match op.arity() {
                            1 => assert_eq!(eval1(op, ty, a), eval1(op, other, a), "{op} {ty}"),
                            2 if ty.is_float() => {}
                            2 => assert_eq!(eval2(op, ty, a, b), eval2(op, other, a, b), "{op} {ty} {a} {b}"),
                            _ => {}
                        }
                    }
                }
            }
        }
    }
}
