//! Scans that run in one loop with what reads their prefixes, so that no array of them is made.
//!
//! Invariants: a statement is fed by one scan, and reads others where they lie. A scatter is not fed by a scan that reads what
//! the scatter changes: for the two to run together that would have to be copied.

use super::lines::{Fusion, FusionLine};
use super::price::{Sizes, Unwritten};
use super::reason::Reason;
use galopvm_base::TypedId;
use galopvm_kir::kernel::Feed;
use galopvm_kir::{Region, Rhs, Stm, VarId};
use std::collections::BTreeSet;

/// The scans of a region's own body that feed statements; names below `own` are the region's before it was changed.
pub(super) fn feeds(region: &Region, own: usize, sizes: &Sizes) -> Vec<FusionLine> {
    let mut fed: BTreeSet<VarId> = BTreeSet::new();
    let mut lines = Vec::new();
    for (at, scan) in region.body.stms.iter().enumerate() {
        let is_own = |stm: &Stm| stm.pat.first().is_some_and(|var| var.index() < own);
        let feeds = |reader: &&Stm| {
            is_own(reader) && Feed::of(region, scan, reader).is_some() && !changes_what(reader, scan)
        };
        let Some(reader) = region.body.stms[at + 1..].iter().find(feeds) else { continue };
        if is_own(scan) && fed.insert(reader.pat[0]) {
            let fusion = Fusion::Feed(scan.pat[0], reader.pat[0]);
            let saving = Some(unwritten(region, scan, sizes).told());
            lines.push(FusionLine { fusion, reason: Reason::Reads(reads(scan, reader)), saving });
        }
    }
    lines
}

/// Whether a scatter changes an array that a scan reads.
fn changes_what(scatter: &Stm, scan: &Stm) -> bool {
    let read = scan.free_vars();
    matches!(&scatter.rhs, Rhs::Scatter { arrays, .. } if arrays.iter().any(|array| read.contains(array)))
}

/// How often the code of a reader reads prefixes.
fn reads(scan: &Stm, reader: &Stm) -> u64 {
    let mut count = 0;
    reader.rhs.each_use(&mut |var| count += u64::from(scan.pat.contains(&var)));
    count
}

/// The prefixes, written once and read once.
fn unwritten(region: &Region, scan: &Stm, sizes: &Sizes) -> Unwritten {
    let axes = scan.rhs.axes();
    let elements = sizes.runs(axes);
    let bytes_of = |var: &VarId| region.vars[*var].ty.as_ref().map_or(0, |ty| 2 * ty.elem.bytes() as u64);
    let bytes: u64 = scan.pat.iter().map(bytes_of).sum();
    let assumed = (!sizes.are_known(axes)).then_some(elements);
    Unwritten { bytes: elements.saturating_mul(bytes), assumed }
}
