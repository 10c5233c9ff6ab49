//! The prelude in Futhark and the table of intrinsics.
//!
//! Invariants:
//! - Every name a program sees without defining it is a row of [`INTRINSICS`], a member of a scalar module
//!   ([`member`]), or a definition in the prelude's text; nothing is known to the compiler by name alone.
//! - The prelude is text: the front end parses it at start and checks only what a program uses.
#![forbid(unsafe_code)]

mod intrinsics;
mod scalars;

pub use intrinsics::{
    INTRINSICS, Intrinsic, Lowering, Scope, intrinsic, intrinsics_page, qualified_intrinsic,
};
pub use scalars::{Member, member, member_names, operator, word_type};

/// The definitions every program sees.
pub const PRELUDE: &str = include_str!("../prelude/prelude.fut");

/// The module types of the scalar modules: `from_prim`, `numeric`, `integral`, `real`, `float`.
pub const MODULE_TYPES: &str = include_str!("../prelude/math.fut");

/// The functions of the scalar modules that are made of others; `$T` stands for the module's type, `$W` for the unsigned
/// integer as wide, and the sections are opened by lines `-- numbers`, `-- integers`, `-- floats`.
const SCALAR: &str = include_str!("../prelude/scalar.fut");

/// The text of the prelude's definition of a scalar module's member, if it is defined there.
pub fn scalar_definition(ty: galopvm_base::ElemType, name: &str) -> Option<String> {
    let head = format!("def {name} ");
    let mut applies = false;
    for line in SCALAR.lines() {
        match line {
            "-- numbers" => applies = ty != galopvm_base::ElemType::Bool,
            "-- integers" => applies = ty.is_int(),
            "-- floats" => applies = ty.is_float(),
            _ if applies && line.starts_with(&head) => {
                return Some(line.replace("$T", ty.name()).replace("$W", word_type(ty).name()));
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use galopvm_base::{ElemType, ScalarOp};

    #[test]
    fn names_are_unique() {
        for (i, row) in INTRINSICS.iter().enumerate() {
            assert!(INTRINSICS[..i].iter().all(|r| r.name != row.name), "{} twice", row.name);
        }
    }

    #[test]
    fn arity_counts_the_outer_arrows() {
        for (name, arity) in [
            ("map", 2),
            ("reduce", 3),
            ("zip5", 5),
            ("iota", 1),
            ("flatmap", 2),
            ("with_vjp", 3),
            ("flat_index_4d", 10),
        ] {
            assert_eq!(qualified_intrinsic(name).map(Intrinsic::arity), Some(arity), "{name}");
        }
    }

    /// The `val`s of a module type of `math.fut`, with those it includes.
    fn promised(module_type: &str) -> Vec<&'static str> {
        let head = format!("module type {module_type} = {{");
        let body = MODULE_TYPES
            .split_once(&head)
            .and_then(|(_, rest)| rest.split_once("\n}"))
            .map_or("", |(b, _)| b);
        let mut names = Vec::new();
        for line in body.lines().map(str::trim) {
            if let Some(included) = line.strip_prefix("include ") {
                names.extend(promised(included));
            } else if let Some(spec) = line.strip_prefix("val ") {
                names.extend(spec.split([' ', '(', ')']).find(|word| !word.is_empty()));
            }
        }
        names
    }

    #[test]
    fn modules_keep_what_their_types_promise() {
        for ty in ElemType::ALL {
            let module_type = match ty {
                ElemType::Bool => "from_prim",
                _ if ty.is_int() => "integral",
                _ => "float",
            };
            let (mut promised, mut there) = (promised(module_type), member_names(ty));
            promised.sort_unstable();
            promised.dedup();
            there.sort_unstable();
            assert_eq!(there, promised, "{ty}");
            for name in there {
                let known = member(ty, name).is_some() || scalar_definition(ty, name).is_some();
                assert!(known, "{ty}.{name} is nowhere");
            }
        }
    }

    #[test]
    fn members_come_from_the_tables() {
        assert_eq!(member(ElemType::F32, "sqrt"), Some(Member::Op(ScalarOp::Sqrt)));
        assert_eq!(member(ElemType::I32, "sqrt"), None);
        assert_eq!(member(ElemType::I32, "+"), Some(Member::Op(ScalarOp::Add)));
        assert_eq!(member(ElemType::I32, "add"), None);
        assert_eq!(member(ElemType::U8, "f64"), Some(Member::From(ElemType::F64)));
        assert_eq!(member(ElemType::F64, "to_i64"), Some(Member::To(ElemType::I64)));
        assert_eq!(member(ElemType::Bool, "max"), None);
        assert_eq!(member(ElemType::F32, "select"), None);
        assert!(scalar_definition(ElemType::F32, "sum").is_some_and(|d| d.contains("[n]f32")));
        assert!(scalar_definition(ElemType::I32, "recip").is_none());
    }
}
