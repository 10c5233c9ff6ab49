//! The reference page of the scalar operations, made from the table.

use crate::elem::ElemType;
use crate::scalar::{Precision, ResultType, ScalarOp, TrapRule};
use std::fmt::Write;

/// `docs/reference/scalar-operations.md`, whole.
pub fn scalar_page() -> String {
    let mut page = String::from(
        "# Scalar operations\n\n\
         Generated from the table in `vm/base/src/scalar/table.rs`; do not edit.\n\n\
         On floats an operation is exact or correctly rounded, or it is a function of a library. For those the number is \
         the largest error on `f64`, in units in the last place of the true value: no greater one was found among at least \
         100,000 arguments, the hard ones among them. On `f32` and `f16` none was found above 0.501. Shaders \
         have forms of their own, which are within a few units, or leave the function to the other tiers.\n\n\
         | code | name | infix | operands | on | result | algebra | floats | traps | meaning |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for op in ScalarOp::ALL {
        let row = op.info();
        let result = match row.result {
            ResultType::Same => "same",
            ResultType::Fixed(ty) => ty.name(),
            ResultType::Word => "unsigned of the width",
            ResultType::FloatOfWord => "float of the width",
        };
        let mut algebra = Vec::new();
        if row.associative {
            algebra.push("associative".to_string());
        }
        if row.commutative {
            algebra.push("commutative".to_string());
        }
        if let Some(identity) = row.identity {
            algebra.push(format!("neutral {}", format!("{identity:?}").to_lowercase()));
        }
        let floats = match row.precision {
            _ if !row.domain.contains(ElemType::F32) => String::new(),
            Precision::Exact => "exact".to_string(),
            Precision::Library => {
                row.error.map_or("library".to_string(), |units| format!("library, {units:.1}"))
            }
        };
        let traps = match row.trap {
            TrapRule::Never => "",
            TrapRule::ZeroDivisor => "integer zero divisor",
        };
        let infix = row.infix.map_or(String::new(), |text| format!("`{}`", text.replace('|', "\\|")));
        let _ = writeln!(
            page,
            "| {} | `{}` | {infix} | {} | {} | {result} | {} | {floats} | {traps} | {} |",
            op.code(),
            row.name,
            row.arity,
            row.domain.name(),
            algebra.join(", "),
            row.doc,
        );
    }
    page
}
