//! Instructions taken apart by the roles of their fields: what an operator goes over and gives, and what the parameters of
//! a block are given. A new operator is taken apart by its row of the table.

use crate::field::{BlockId, Def, Operand};
use crate::module::Function;
use crate::op::Instr;
use crate::role::Role;
use smallvec::SmallVec;

/// The fields of an instruction by role; what it does not have is empty.
#[derive(Default, Debug)]
pub struct Parts<'i> {
    /// What it defines, if that is a list.
    pub dsts: &'i [Def],
    /// The number of rows.
    pub width: Option<Operand>,
    /// Another number of rows, or of rounds.
    pub extent: Option<Operand>,
    /// What a loop carries at its start.
    pub initial: &'i [Operand],
    /// Neutral elements.
    pub neutral: &'i [Operand],
    /// Arrays whose rows are gone over.
    pub rows: &'i [Operand],
    /// Arrays that are changed.
    pub dests: &'i [Operand],
    /// Values, of whatever kind.
    pub values: &'i [Operand],
    /// Blocks, with what they are for.
    pub blocks: Blocks,
}

/// The blocks of an instruction with their roles.
#[derive(Clone, Copy, Default, Debug)]
pub struct Blocks {
    first: Option<(Role, BlockId)>,
    second: Option<(Role, BlockId)>,
}

impl Blocks {
    /// No instruction has more: a row of the table with more does not compile.
    pub(crate) const MOST: usize = 2;

    /// One more.
    #[inline(always)]
    pub(crate) fn push(&mut self, role: Role, block: BlockId) {
        let place = if self.first.is_none() { &mut self.first } else { &mut self.second };
        *place = Some((role, block));
    }

    /// In order.
    #[inline(always)]
    pub fn iter(&self) -> impl Iterator<Item = (Role, BlockId)> + use<> {
        self.first.into_iter().chain(self.second)
    }
}

impl<'i> Parts<'i> {
    /// The operator over rows that has these parts, if an instruction that gives such results is one.
    #[inline(always)]
    pub(crate) fn operator(self, gives: Option<Role>) -> Option<Operator<'i>> {
        let gives = gives?;
        if !matches!(gives, Role::Made | Role::Totals | Role::Prefixes | Role::Chosen) {
            return None;
        }
        let (items, combine) = (self.block(Role::Items), self.block(Role::Combine));
        let (width, first) = (self.width?, items.or(combine)?);
        let Parts { dsts, neutral, rows: arrays, .. } = self;
        Some(Operator { gives, dsts, width, neutral, arrays, items, combine, first })
    }

    /// What accumulators are like: the neutral elements, or the values where nothing else is combined.
    pub fn accumulators(&self) -> &'i [Operand] {
        if self.neutral.is_empty() && self.rows.is_empty() { self.values } else { self.neutral }
    }

    /// The block with a role.
    #[inline(always)]
    pub fn block(&self, role: Role) -> Option<BlockId> {
        let Blocks { first, second } = self.blocks;
        let of =
            |place: Option<(Role, BlockId)>| place.filter(|(own, _)| *own == role).map(|(_, block)| block);
        of(first).or(of(second))
    }
}

/// An operator over rows whose result is made of what its blocks give: `map`, reductions, `scan`, `filter`, `partition`.
#[derive(Clone, Debug)]
pub struct Operator<'i> {
    /// How its results follow from the rest.
    pub gives: Role,
    /// Its results.
    pub dsts: &'i [Def],
    /// The number of rows.
    pub width: Operand,
    /// Neutral elements, for what combines.
    pub neutral: &'i [Operand],
    /// The arrays that it goes over.
    pub arrays: &'i [Operand],
    /// The block that takes rows, if there is one; without it, the rows are combined as they are.
    pub items: Option<BlockId>,
    /// The block that combines, if there is one.
    pub combine: Option<BlockId>,
    /// The first of these two.
    first: BlockId,
}

impl Operator<'_> {
    /// Its blocks, in the order in which a row goes through them.
    pub fn blocks(&self) -> impl Iterator<Item = BlockId> + use<> {
        self.items.into_iter().chain(self.combine)
    }

    /// The block whose results are the rows, the totals, or the choices.
    pub fn last_block(&self) -> BlockId {
        self.combine.unwrap_or(self.first)
    }

    /// What makes the items of a reduction, by itself.
    pub fn items_alone(&self) -> Option<Self> {
        let first = self.items?;
        Some(Operator { gives: Role::Made, dsts: &[], neutral: &[], combine: None, first, ..self.clone() })
    }

    /// Whether its last block gives something for each row, and not only the totals in the end.
    pub fn has_rows(&self) -> bool {
        self.gives != Role::Totals
    }

    /// Of what its last block gives, what goes into rows of its results: a scan may keep the prefixes of its first components only.
    pub fn kept<'b>(&self, results: &'b [Operand]) -> &'b [Operand] {
        match self.gives {
            Role::Prefixes => &results[..self.dsts.len().min(results.len())],
            _ => results,
        }
    }

    /// Whether its results are what the last block gives for rows that know nothing of each other: a `map`.
    pub fn is_map(&self) -> bool {
        self.gives == Role::Made
    }

    /// Whether the rows of its results are what the last block gives.
    pub fn makes_rows(&self) -> bool {
        matches!(self.gives, Role::Made | Role::Prefixes)
    }
}

/// What a parameter of a block is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Given {
    /// The number of the round.
    Counter,
    /// A value like this one.
    Like(Operand),
    /// A row of an array.
    Row(Operand),
    /// What a block gives at this position.
    Result(BlockId, usize),
}

/// What the parameters of one block are given.
pub type GivenAll = SmallVec<[Given; 6]>;

impl Instr {
    /// What the parameters of its blocks are given.
    pub fn given(&self, function: &Function) -> SmallVec<[(BlockId, GivenAll); 2]> {
        let parts = self.parts();
        let like = |operands: &[Operand]| operands.iter().map(|o| Given::Like(*o)).collect::<GivenAll>();
        let rows = || parts.rows.iter().map(|o| Given::Row(*o));
        let combined = parts.accumulators();
        let of = |role: Role| match role {
            Role::Round => {
                let counter = parts.extent.map(|_| Given::Counter);
                counter.into_iter().chain(like(parts.initial)).collect()
            }
            Role::Test => like(parts.initial),
            Role::Items => rows().collect(),
            Role::Pass => like(parts.dests).into_iter().chain(rows()).collect(),
            Role::Combine => {
                let mut all = like(combined);
                match parts.block(Role::Items).and_then(|items| Some((items, function.blocks.get(items)?))) {
                    Some((items, code)) => {
                        all.extend((0..code.results.len()).map(|k| Given::Result(items, k)));
                    }
                    None if parts.rows.is_empty() => all.extend(like(combined)),
                    None => all.extend(rows()),
                }
                all
            }
            // A branch takes nothing; the other roles are not those of blocks.
            _ => GivenAll::new(),
        };
        parts.blocks.iter().map(|(role, block)| (block, of(role))).collect()
    }
}
