//! `interference`, `colours`, `packing`, `memory`: blocks that share memory, and loops that use blocks in turn.

use crate::case::{Outcome, region};
use galopvm_analysis::circuit::circuits;
use galopvm_analysis::memory::{
    Lifetime, colours, interference_text, loop_blocks, pack, pack_by_size, schedule,
};
use galopvm_kir::{ObservedParam, Rhs};
use galopvm_testkit::cases::{Case, Section, all};

/// What this group takes.
pub const LINES: &[(&str, usize)] =
    &[("interference", 2), ("colours", 2), ("packing", 2), ("packing with retry", 2), ("memory", 2)];

/// Takes what is said of memory.
pub fn run(section: &Section, case: &Case) -> Outcome {
    let whole = |text: Result<String, String>| {
        Outcome::whole(section, text.map(|text| text.lines().map(str::to_string).collect()))
    };
    match section.kind() {
        Some("interference") => whole(blocks(case).map(|blocks| interference_text(&blocks))),
        Some("colours") => whole(blocks(case).map(|blocks| colours(&blocks).text(&blocks))),
        Some("packing") => whole(blocks(case).map(|blocks| pack_by_size(&blocks, 1).text(&blocks))),
        Some("packing with retry") => whole(blocks(case).map(|blocks| pack(&blocks, 1).text(&blocks))),
        Some("memory") => Outcome::whole(section, buffers(case)),
        _ => Outcome::not_mine(section),
    }
}

/// The blocks of a case, as its `interference` section lists them: `nodes a:[0,2] 400 ; b:[1,4] 100`.
fn blocks(case: &Case) -> Result<Vec<Lifetime>, String> {
    let text = case.text("EXPECT interference").ok_or("no interference section")?;
    let nodes = text.lines().find_map(|line| line.trim().strip_prefix("nodes ")).ok_or("no nodes")?;
    let node = |node: &str| {
        let (name, rest) = node.split_once(":[")?;
        let (interval, size) = rest.split_once("] ")?;
        let (from, to) = interval.split_once(',')?;
        let name = name.trim().to_string();
        Some(Lifetime {
            name,
            size: size.trim().parse().ok()?,
            from: from.parse().ok()?,
            to: to.parse().ok()?,
        })
    };
    nodes.split(" ; ").map(node).collect::<Option<Vec<_>>>().ok_or_else(|| "no list of nodes".into())
}

/// The blocks of the loop of a case.
fn buffers(case: &Case) -> Result<Vec<String>, String> {
    let (region, observed) = region(case)?;
    let code = region.region();
    let Some(Rhs::For { axis, .. }) = code.body.stms.last().map(|stm| &stm.rhs) else {
        return Err("no loop".into());
    };
    let lookup = |var| {
        let k = code.params.iter().position(|param| *param == var)?;
        match observed.params.get(k)? {
            ObservedParam::Scalar(value) => Some(*value),
            ObservedParam::Array { .. } => None,
        }
    };
    let rounds = galopvm_kir::types::scalar_value(&axis.bound, &lookup).ok_or("no number of rounds")?;
    let text = loop_blocks(rounds.as_i64() as u64).to_string();
    let lines: Vec<&str> = text.lines().collect();
    Ok(vec![lines[..3].join(" ; "), lines[3..].join(" ; ")])
}

#[test]
fn blocks_of_regions() {
    let text = |name: &str| {
        let case = all().into_iter().find(|case| case.name == name).expect("the case");
        let (region, observed) = region(&case).expect("a region");
        let moved = circuits(region.region(), &observed);
        schedule(region.region(), &moved, 64).to_string()
    };
    // Everything but the array in between is built in the block from outside; that one is made once for the loop.
    assert_eq!(
        text("s_fig5b_loop"),
        "asq 24 : at 0, for statements 1 to 1, once for all rounds\n\
         total 24 ; live at most 24 at statement 1 ; side by side 24\n"
    );
    assert_eq!(
        text("s_fig5b_stencil_no"),
        "as0 24 : at 0, for statements 0 to 2\n\
         bsq 24 : 2 blocks in turn\n\
         total 24 ; live at most 24 at statement 0 ; side by side 24\n"
    );
    assert_eq!(
        text("m_double_buffer"),
        "y 4000 : 2 blocks in turn\ntotal 0 ; live at most 0 at statement 0 ; side by side 0\n"
    );
    // What nobody needs at the same time lies at the same place.
    assert_eq!(
        text("s_fig4b_not_invertible"),
        "as0 64 : at 0, for statements 0 to 3\n\
         total 64 ; live at most 64 at statement 0 ; side by side 64\n"
    );
}
