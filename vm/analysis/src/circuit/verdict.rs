//! What becomes of an array that is made to be copied, and why; in text.

use super::moving::Moving;
use galopvm_kir::{Region, VarId};
use galopvm_lmad::{CopyClass, Lmad};
use std::fmt::Write;

/// Why an array cannot be built in the place it is copied to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// It, or the array it is copied into, is used afterwards.
    NotLastUse,
    /// Somebody else holds the block.
    NotUnique,
    /// The block does not exist yet where the array is made, or the array is not made here.
    BlockNotInScope,
    /// Its size changes from one round of a loop to the next.
    SizeVariant,
    /// The first array is more than what the second one shows of it.
    NotInvertible(VarId, VarId),
    /// The place depends on a value that is not known where the array is made.
    IxfnNotAvailable(Option<VarId>),
    /// A place is used by name of the target between being written and being copied.
    Overlap(Box<Overlap>),
    /// As `Overlap`, by another iteration.
    OverlapLater {
        /// The iteration variable.
        var: VarId,
        /// The iteration that writes.
        at: i64,
        /// The other one comes later; if not, they are in no order.
        later: bool,
        /// A common place, the least one as far as sets are small.
        witness: i64,
    },
    /// The block is used at a place that is not known.
    UseUnknown(VarId),
    /// Both sides of an `if` exist before it.
    TwoLiveSources,
    /// The array is still needed while this one is made.
    LiveRange(VarId),
    /// The value that the loop carries is still read where its next value is made.
    LoopInputLive(VarId, VarId),
    /// Its extents are not those of the place: the program ends where it would be copied, or before.
    OtherShape,
    /// Two indices of the place are one.
    NotInjective,
    /// The tests were too many or too hard.
    Budget,
    /// It is copied into a layout that was chosen for its readers, and would lose that.
    LayoutChosen(VarId),
    /// The strided accesses cost more than the copy.
    Unprofitable {
        /// Cost of the copy.
        saved: i64,
        /// What the accesses cost more.
        added: i64,
    },
}

/// What is written and what is used of a block, at a common place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Overlap {
    /// The array that is built, and what of the block is written.
    pub write: (VarId, Moving),
    /// The array of the target, and what of the block is used.
    pub used: (VarId, Moving),
    /// A common place, the least one as far as sets are small.
    pub witness: i64,
}

impl Reason {
    /// The verdict word with its arguments.
    pub fn text(&self, region: &Region) -> String {
        let name = |var: &VarId| region.name_of(*var);
        match self {
            Reason::NotLastUse => "not-last-use".into(),
            Reason::NotUnique => "not-unique".into(),
            Reason::BlockNotInScope => "block-not-in-scope".into(),
            Reason::SizeVariant => "size-variant".into(),
            Reason::NotInvertible(a, b) => format!("not-invertible({},{})", name(a), name(b)),
            Reason::IxfnNotAvailable(None) => "ixfn-not-available".into(),
            Reason::IxfnNotAvailable(Some(x)) => format!("ixfn-not-available({})", name(x)),
            Reason::Overlap(overlap) => {
                let Overlap { write: (w, what), used: (u, part), witness } = &**overlap;
                let (what, part) = (what.text(region), part.text(region));
                format!("overlap(write {} {what}, use {} {part}, witness {witness})", name(w), name(u))
            }
            Reason::OverlapLater { var, at, later, witness } => {
                let other = if *later { "later-use" } else { "other-iteration" };
                format!("overlap({other}, {}={at}, witness {witness})", name(var))
            }
            Reason::UseUnknown(array) => format!("use-unknown({})", name(array)),
            Reason::TwoLiveSources => "two-live-sources".into(),
            Reason::LiveRange(array) => format!("live-range({})", name(array)),
            Reason::LoopInputLive(a, b) => format!("loop-input-live({},{})", name(a), name(b)),
            Reason::OtherShape => "other-shape".into(),
            Reason::NotInjective => "not-injective".into(),
            Reason::Budget => "budget".into(),
            Reason::LayoutChosen(array) => format!("layout-chosen({})", name(array)),
            Reason::Unprofitable { saved, added } => format!("unprofitable({saved}, {added})"),
        }
    }
}

/// Where an array lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The array that the block was made for.
    pub block: VarId,
    /// How the array lies in it.
    pub view: Moving,
}

/// What becomes of one array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The array.
    pub array: VarId,
    /// Where it is built, or why it is not built there.
    pub outcome: Result<Place, Reason>,
    /// The array whose own place this one depends on.
    pub depends: Option<VarId>,
}

/// One operand of a point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operand {
    /// The array, if it is a name.
    pub array: Option<VarId>,
    /// Whether the point is its last use.
    pub last_use: bool,
    /// The copy that remains: how it lies in the target, where it comes from, the kind of copy.
    pub copy: Option<(Lmad, Lmad, CopyClass)>,
    /// Whether it is built in its place, so that nothing is copied.
    pub in_place: bool,
    /// Where it and what moves with it would lie, if a used place or the price alone speaks against it.
    pub refused: Vec<(VarId, Place)>,
}

/// A statement that would copy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The array that is copied into.
    pub target: VarId,
    /// The end of a kernel's body, where a row becomes part of the result.
    pub implicit: bool,
    /// What is copied.
    pub operands: Vec<Operand>,
    /// What became of the operands and of the arrays they are made from.
    pub entries: Vec<Entry>,
    /// The array before whose making the target's block must exist already, if that is new.
    pub hoisted_before: Option<VarId>,
    /// Blocks that a loop needs in turn, because its input is still read while its next value is made.
    pub double_buffer: Option<VarId>,
    /// The operand that could be built in the copy which the update of a shared block makes, if that is made first.
    pub copied_first: Option<VarId>,
}

impl Outcome {
    /// Whether nothing is left to copy.
    pub fn is_no_op(&self) -> bool {
        self.operands.iter().all(|operand| operand.in_place)
    }

    /// Whether something is copied that could turn out to be built in place if a part of the region is seen by itself, with
    /// more numbers known. What is used afterwards is so there as well, and rows follow the array that they are rows of.
    pub fn is_open(&self) -> bool {
        let is_open = |operand: &Operand| !operand.in_place && (operand.last_use || operand.array.is_none());
        !self.implicit && self.operands.iter().any(is_open)
    }

    /// The verdicts in text, a line for each.
    pub fn text(&self, region: &Region) -> String {
        let name = |var: VarId| region.name_of(var);
        let mut text = String::new();
        let repeated = self.operands.iter().enumerate().any(|(k, operand)| {
            self.operands[..k].iter().any(|other| other.array.is_some() && other.array == operand.array)
        });
        let operands: Vec<String> = self
            .operands
            .iter()
            .enumerate()
            .filter_map(|(k, operand)| {
                let who = match operand.array {
                    Some(array) if !repeated => name(array).to_string(),
                    Some(_) => format!("operand {k}"),
                    None => return None,
                };
                Some(format!("{who} last-use {}", if operand.last_use { "yes" } else { "no" }))
            })
            .collect();
        let implicit = if self.implicit { " implicit" } else { "" };
        let _ = writeln!(text, "point {}{implicit} : {}", name(self.target), operands.join(" ; "));
        for entry in &self.entries {
            let verdict = match &entry.outcome {
                Ok(place) => {
                    let depends = entry.depends.map_or(String::new(), |on| format!(" if {}", name(on)));
                    format!("yes block {} lmad {}{depends}", name(place.block), place.view.text(region))
                }
                Err(reason) => format!("no reason {}", reason.text(region)),
            };
            let _ = writeln!(text, "{} -> {verdict}", name(entry.array));
        }
        if let Some(result) = self.double_buffer {
            let _ = writeln!(text, "double-buffer {} : blocks 2 ; allocs-per-iteration 0", name(result));
        }
        if let Some(array) = self.copied_first {
            let _ = writeln!(
                text,
                "or circuit {} into the block of {} when that copy is hoisted before {}",
                name(array),
                name(self.target),
                name(array)
            );
        }
        if self.is_no_op() {
            let _ = writeln!(text, "{} : no-op", name(self.target));
        }
        if let Some(before) = self.hoisted_before {
            let _ = writeln!(text, "alloc {} hoisted before {}", name(self.target), name(before));
        }
        let copies: Vec<_> = self.operands.iter().filter_map(|operand| operand.copy.as_ref()).collect();
        for (to, from, class) in &copies {
            let target = name(self.target);
            let (to, from) = (slice_text(to), slice_text(from));
            let _ =
                writeln!(text, "copies {} : {target}{to} from {target}{from} ; class {class}", copies.len());
        }
        text
    }
}

/// A view as an index: `[0 :+ 7 * 1]`, or an LMAD slice.
fn slice_text(view: &Lmad) -> String {
    match view.dims[..] {
        [dim] => format!("[{} :+ {} * {}]", view.offset, dim.size, dim.stride),
        _ => format!("[[{view}]]"),
    }
}
