//! The reference page of the instructions, made from the table.

use crate::op::Opcode;
use std::fmt::Write;

/// `docs/reference/instructions.md`, whole.
pub fn instruction_page() -> String {
    let mut page = String::from(
        "# Instructions\n\n\
         Generated from the table in `vm/bytecode/src/op.rs`; do not edit.\n\n\
         | code | mnemonic | fields | effect | meaning |\n\
         |---|---|---|---|---|\n",
    );
    for row in Opcode::rows() {
        let fields: Vec<String> =
            row.fields.iter().map(|(name, role)| format!("{name}: {}", role.name())).collect();
        let _ = writeln!(
            page,
            "| {:#04x} | `{}` | {} | {} | {} |",
            row.code,
            row.mnemonic,
            fields.join(", "),
            row.effect.name(),
            row.doc
        );
    }
    page
}
