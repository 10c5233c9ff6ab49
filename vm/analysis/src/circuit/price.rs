//! What building an array in its place saves, against what its accesses cost more there.

use super::moving::Moving;
use super::verdict::Reason;
use super::web::Web;
use crate::index::Kind;
use crate::layout::Pricing;
use galopvm_kir::VarId;

/// Whether the copy of `array` costs more than all accesses to the web cost more in their new places. Each access is
/// priced along the innermost parallel axis around it; what is not known costs the same on both sides.
pub fn pays(pricing: &Pricing<'_>, web: &Web, array: VarId) -> Result<(), Reason> {
    let Some(info) = pricing.table.array(array) else { return Ok(()) };
    let elements = info.elements().unwrap_or(0).max(0);
    let saved = pricing.copy(elements.unsigned_abs(), info.element_bytes().unsigned_abs());
    let (mut before, mut after) = (0u64, 0u64);
    // Distances between lanes do not depend on where a view moves.
    for row in &pricing.table.rows {
        let Some(new) = web.view(row.array).and_then(Moving::still) else { continue };
        let parallel =
            |var: &&VarId| pricing.table.axis(**var).is_some_and(|axis| axis.kind == Kind::Parallel);
        let Some(lane) = row.nest.iter().rev().find(parallel) else { continue };
        before = before.saturating_add(pricing.access_now(row, *lane).time);
        after = after.saturating_add(pricing.access(row, *lane, Some(&new)).time);
    }
    let added = after.saturating_sub(before);
    if saved > added { Ok(()) } else { Err(Reason::Unprofitable { saved: clip(saved), added: clip(added) }) }
}

fn clip(cost: u64) -> i64 {
    i64::try_from(cost).unwrap_or(i64::MAX)
}
