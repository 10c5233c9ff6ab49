//! The record of a region: for each of its registers, where the array lives that comes into it.
//!
//! Everybody who wants to know where something is made, stays or lies asks this record; what the analyses say goes into it
//! when it is written (`build.rs` says what lies in which block, `homes.rs` where the memory of blocks is), and nothing is
//! kept beside it.
//!
//! Invariants: a register has one residence. Two that differ cannot both be written down: what says so is not believed at
//! all. A block that is another register's to make is in the record with all registers that lie in it. Only blocks have
//! memory: what is made in the block of another array has none of its own.

use galopvm_analysis::circuit::Moving;
use galopvm_base::ElemType;
use galopvm_bytecode::RegId;
use galopvm_kir::VarId;
use std::collections::HashMap;

/// Where the arrays of a region live that share blocks.
#[derive(Debug, Default)]
pub(in crate::optimizer) struct Record {
    residents: HashMap<RegId, Resident>,
    blocks: HashMap<VarId, BlockRecord>,
}

/// Where the array of one register lives.
#[derive(Clone, Debug)]
pub(super) struct Resident {
    pub block: VarId,
    pub view: Moving,
    pub comes: Comes,
}

/// How an array comes to its residence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comes {
    /// It is there when the region begins, or lies where its instruction finds it.
    Found,
    /// Its instruction makes it in the block of another array.
    Moved,
    /// Its instruction makes the block, unless something had to be made in there before.
    Owner,
    /// An update leaves it there, although a part of it is made already.
    Updated,
}

/// What is decided about a block, by the array that it is made for.
#[derive(Debug, Default)]
struct BlockRecord {
    /// The registers that lie in it.
    members: Vec<RegId>,
    /// What it is made for, if it may have to exist before the instruction that it is for.
    early: Option<(ElemType, Vec<i64>)>,
    /// Where its memory is; nothing if it is taken when it is needed.
    home: Option<Home>,
}

/// Where the memory of a block is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Home {
    pub place: Place,
    pub bytes: usize,
}

/// The place of a block's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// At this byte of the region's block.
    At(usize),
    /// In one of two blocks, which the values of a register take in turn.
    InTurn(RegId),
}

impl Record {
    /// Writes down that a register lives there; false if the record says something else.
    #[must_use]
    pub(super) fn settle(&mut self, reg: RegId, resident: Resident) -> bool {
        if let Some(known) = self.residents.get(&reg) {
            return known.block == resident.block
                && known.view == resident.view
                && known.comes == resident.comes;
        }
        self.blocks.entry(resident.block).or_default().members.push(reg);
        self.residents.insert(reg, resident);
        true
    }

    /// Writes down what a block is made for that something else is made in before.
    pub(super) fn make_early(&mut self, block: VarId, elem: ElemType, shape: Vec<i64>) {
        self.blocks.entry(block).or_default().early = Some((elem, shape));
    }

    /// Writes down where the memory of a block is, which is made for the array of a register; false if the record says that
    /// this one is made in another block, or has other memory.
    #[must_use]
    pub(super) fn move_in(&mut self, block: VarId, reg: RegId, home: Home) -> bool {
        if self.resident(reg).is_some_and(|resident| resident.comes == Comes::Moved) {
            return false;
        }
        let known = &mut self.blocks.entry(block).or_default().home;
        known.replace(home).is_none()
    }

    /// Where the memory of a block is, if that is decided.
    pub(super) fn home(&self, block: VarId) -> Option<Home> {
        self.blocks.get(&block)?.home
    }

    /// All blocks whose memory is decided.
    pub(super) fn homes(&self) -> impl Iterator<Item = (VarId, Home)> {
        self.blocks.iter().filter_map(|(block, record)| Some((*block, record.home?)))
    }

    /// Where a register's array lives.
    pub(super) fn resident(&self, reg: RegId) -> Option<&Resident> {
        self.residents.get(&reg)
    }

    /// Whether a register's array is made where the record says, and not where its instruction likes.
    pub(super) fn is_made_there(&self, reg: RegId) -> bool {
        self.resident(reg).is_some_and(|resident| matches!(resident.comes, Comes::Moved | Comes::Owner))
    }

    /// The registers that lie in a block, with their views.
    pub(super) fn members(&self, block: VarId) -> impl Iterator<Item = (RegId, &Moving)> {
        let members = self.blocks.get(&block).map_or(&[][..], |block| &block.members);
        members.iter().filter_map(|reg| Some((*reg, &self.residents.get(reg)?.view)))
    }

    /// The element type and the extents that a block is made for, if it may have to be made early.
    pub(super) fn early(&self, block: VarId) -> Option<(ElemType, &[i64])> {
        self.blocks.get(&block)?.early.as_ref().map(|(elem, shape)| (*elem, &shape[..]))
    }

    /// The registers that are made in a block of another one.
    pub(super) fn moved(&self) -> impl Iterator<Item = RegId> {
        let moved = |(reg, resident): (&RegId, &Resident)| (resident.comes == Comes::Moved).then_some(*reg);
        self.residents.iter().filter_map(moved)
    }

    /// Whether no array lies in the block of another one.
    pub(super) fn has_no_residents(&self) -> bool {
        self.residents.is_empty()
    }

    /// About how many words of memory it takes.
    pub(super) fn words(&self) -> usize {
        let of_residents: usize = self.residents.values().map(|resident| 24 + 8 * resident.view.rank()).sum();
        of_residents + 16 * self.blocks.len()
    }
}
