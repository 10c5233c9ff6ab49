//! Roles: what a field is to its instruction.
//!
//! The opcode table gives each field a role, not a type. A form of code says with which type it writes each role down
//! ([`types`] for bytecode; core has a module of the same kind), and what follows from roles alone is said once: how a
//! field is encoded and written, which type an operand must have, what an operator goes over, and what the parameters of a
//! block are given (`parts.rs`).

macro_rules! roles {
    ($($role:ident $word:literal $doc:literal;)+) => {
        /// What a field is to its instruction.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Role {
            $(#[doc = $doc] $role),+
        }

        impl Role {
            /// The words in reference pages.
            pub const fn name(self) -> &'static str {
                match self { $(Role::$role => $word),+ }
            }
        }
    };
}

roles! {
    // Definitions. What has a word of its own says how the results follow from the other fields.
    Def "def" "A result.";
    Turned "turned array" "All elements of the array, its dimensions in another order or backwards: a view.";
    Measured "extent seen" "An extent of the array.";
    Seen "part seen" "What is seen of the array: an element, or a view.";
    Joined "results of either block" "Results that either block gives.";
    Carried "carried values" "What a loop carries, at its end.";
    Returned "results of the function" "What a function gives.";
    Never "results without a value" "Registers that never get a value.";
    Made "arrays of rows" "Arrays with what the block gives for each row.";
    Totals "totals" "All rows, combined: like the neutral elements.";
    Prefixes "arrays of totals" "Arrays with the totals so far for each row.";
    Changed "changed arrays" "The destinations, changed.";
    Chosen "numbers, arrays" "Numbers of rows, then as many arrays as are gone over.";
    // What is known before anything runs
    Constant "constant" "A constant.";
    Operation "operation" "A scalar operation.";
    Type "type" "An element type.";
    Number "number" "A number: of a dimension, of dimensions, of classes.";
    Numbers "numbers" "Numbers of dimensions.";
    Text "text" "A name or a message.";
    Form "form" "How a value of the language is made of values.";
    Function "function" "A function.";
    // Operands
    Value "value" "A value: it changes elements, and nothing else.";
    Values "values" "Values.";
    Args "arguments" "What a function is given.";
    Condition "condition" "A truth value that decides what is executed.";
    Claim "claim" "A truth value without which the program ends.";
    Extent "extent" "A number of rows, or of rounds.";
    Extents "extents" "Extents of the result.";
    Position "position" "An i64 that says which elements are meant.";
    Positions "positions" "Numbers that say which elements are meant.";
    Slice "slice" "Which part of an array is meant, by dimensions.";
    Array "array" "An array.";
    Arrays "arrays" "Arrays.";
    Width "width" "The number of rows that an operator goes over.";
    Rows "rows of arrays" "Arrays that an operator goes over, row by row.";
    Neutral "neutral elements" "Neutral elements of the operator's block.";
    Dests "destinations" "Arrays that are changed, in place if nobody else holds them.";
    Index "arrays of positions" "Arrays of the positions that are written, row by row.";
    Written "rows to write" "Arrays of what is written, row by row.";
    Initial "initial values" "What a loop carries, at its start.";
    // Blocks
    Branch "block" "A block that is executed once or not at all; it takes nothing.";
    Round "body" "The body of a loop: it takes the counter, if there is one, and what is carried.";
    Test "condition" "The condition of a loop: it takes what is carried.";
    Items "block over rows" "A block that takes a row of each array.";
    Combine "operator" "A block that takes two of what it gives.";
    Pass "block over rows" "A block that takes the destinations and a row of each array, and gives the destinations.";
}

/// The types of the fields of a form of code by their roles, for all roles but those of definitions: given are its types of
/// a value, of an array, of one dimension of a slice, and of a block.
#[macro_export]
macro_rules! field_types {
    ($value:ty, $array:ty, $slice:ty, $block:ty) => {
        pub type Constant = galopvm_base::Scalar;
        pub type Operation = galopvm_base::ScalarOp;
        pub type Type = galopvm_base::ElemType;
        pub type Number = u32;
        pub type Numbers = Vec<u32>;
        pub type Text = String;
        pub type Form = $crate::form::Form;
        pub type Function = $crate::field::FuncId;
        pub type Value = $value;
        pub type Values = Vec<$value>;
        pub type Args = Vec<$value>;
        pub type Condition = $value;
        pub type Claim = $value;
        pub type Extent = $value;
        pub type Extents = Vec<$value>;
        pub type Position = $value;
        pub type Positions = Vec<$value>;
        pub type Slice = Vec<$slice>;
        pub type Array = $array;
        pub type Arrays = Vec<$array>;
        pub type Width = $value;
        pub type Rows = Vec<$array>;
        pub type Neutral = Vec<$value>;
        pub type Dests = Vec<$array>;
        pub type Index = Vec<$array>;
        pub type Written = Vec<$array>;
        pub type Initial = Vec<$value>;
        pub type Branch = $block;
        pub type Round = $block;
        pub type Test = $block;
        pub type Items = $block;
        pub type Combine = $block;
        pub type Pass = $block;
    };
}

/// The type of a field of an instruction, by its role.
#[allow(missing_docs, reason = "they are the roles")]
pub mod types {
    use crate::field::{self, BlockId, Operand, SliceDim};

    field_types!(Operand, Operand, SliceDim, BlockId);

    pub type Def = field::Def;
    pub type Turned = field::Def;
    pub type Measured = field::Def;
    pub type Seen = field::Def;
    pub type Joined = Vec<field::Def>;
    pub type Carried = Vec<field::Def>;
    pub type Returned = Vec<field::Def>;
    pub type Never = Vec<field::Def>;
    pub type Made = Vec<field::Def>;
    pub type Totals = Vec<field::Def>;
    pub type Prefixes = Vec<field::Def>;
    pub type Changed = Vec<field::Def>;
    pub type Chosen = Vec<field::Def>;
}

impl Role {
    /// The first of some.
    pub(crate) const fn first(roles: &[Role]) -> Option<Role> {
        match roles {
            [first, ..] => Some(*first),
            [] => None,
        }
    }

    /// Whether results of this role only show an array.
    pub const fn is_view(self) -> bool {
        matches!(self, Role::Turned | Role::Seen)
    }

    /// Whether results of this role are told of an array without a look at its elements.
    pub const fn is_told(self) -> bool {
        self.is_view() || matches!(self, Role::Measured)
    }

    /// Whether the array that a result is told of comes first.
    pub(crate) const fn tells_of_first(gives: &[Role], fields: &[Role]) -> bool {
        match (gives, fields) {
            (_, [Role::Array, ..]) | ([], _) => true,
            ([result, ..], _) => !result.is_told(),
        }
    }

    /// Whether a scalar can change more than elements: what is executed, how often, how large or where a result is.
    #[rustfmt::skip]
    pub const fn is_shaping(self) -> bool {
        use Role::*;
        match self {
            Condition | Extent | Extents | Position | Positions | Slice | Width | Args => true,
            // Scalars that become elements, or that end the program.
            Value | Values | Claim | Neutral | Written => false,
            // What they are next is up to the block that takes them.
            Initial => false,
            // Arrays.
            Array | Arrays | Rows | Dests | Index => false,
            // No operands.
            Def | Turned | Measured | Seen | Joined | Carried | Returned | Never | Made | Totals | Prefixes | Changed | Chosen
            | Constant | Operation | Type | Number | Numbers | Text | Form | Function
            | Branch | Round | Test | Items | Combine | Pass => false,
        }
    }

    /// Whether a block is a piece of its own that is executed for rows, in any order.
    pub const fn is_for_rows(self) -> bool {
        matches!(self, Role::Items | Role::Combine | Role::Pass)
    }

    /// Whether it is the role of a block.
    pub(crate) const fn is_block(self) -> bool {
        use Role::{Branch, Combine, Items, Pass, Round, Test};
        matches!(self, Branch | Round | Test | Items | Combine | Pass)
    }

    /// The place of [`Parts`](crate::Parts) that a field of this role has to itself, if it has one: a number of its own.
    const fn single(self) -> Option<u8> {
        use Role::{Combine, Dests, Extent, Initial, Items, Neutral, Pass, Rows, Values, Width, Written};
        match self {
            Written => Some(Values as u8),
            Width | Extent | Initial | Neutral | Rows | Dests | Values | Items | Combine | Pass => {
                Some(self as u8)
            }
            _ => None,
        }
    }

    /// Whether fields of these roles can be told apart again: at most so many blocks, and no two that share a place.
    pub(crate) const fn can_be_parts(roles: &[Role], most_blocks: usize) -> bool {
        let (mut k, mut blocks) = (0, 0);
        while k < roles.len() {
            blocks += roles[k].is_block() as usize;
            let mut other = 0;
            while other < k {
                if let (Some(a), Some(b)) = (roles[k].single(), roles[other].single())
                    && a == b
                {
                    return false;
                }
                other += 1;
            }
            k += 1;
        }
        blocks <= most_blocks
    }
}
