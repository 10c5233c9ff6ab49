//! Building low IR: one value per distinct computation, placed as far out as it may stand.
//!
//! The builder knows the nest of open *scopes*. A pure instruction goes to the outermost scope that has all its
//! operands (loop-invariant code motion by construction) and is made once (value numbering by construction):
//! - out of a `Loop`, everything pure moves, array reads too: the body of an open loop runs at least once;
//! - out of a `Guard` (the test whether a loop runs at all) pure work moves, array reads do not;
//! - what is read through a `version` of an address stays behind that, wherever else it may go;
//! - out of a `Branch` only trivial work moves, so that the side not taken costs nothing; but index arithmetic does where it leaves
//!   a loop as well: it is done once for all turns.

use super::{Block, Class, Code, Effect, Extent, Inst, Label, Op, Reg};
use galopvm_base::TypedId;
use smallvec::SmallVec;
use std::collections::HashMap;

/// What a scope is, see the module's description.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// The function.
    Root,
    /// The body of a loop.
    Loop,
    /// Code that runs if a loop runs at all.
    Guard,
    /// One side of an `if`.
    Branch,
}

struct Open {
    kind: Scope,
    /// The block that was current when the scope was opened: work moved out of the scope goes to its end.
    outside: Label,
    /// What was numbered in the scope, to be forgotten when it closes.
    keys: Vec<Key>,
}

type Key = (Op, SmallVec<[Reg; 4]>);

/// A call of a helper on all lanes takes as long as so many instructions.
const HELP_WEIGHT: u32 = 400;

/// A call that is made rarely counts for so many: where it is made often, questions to the host are this much rarer.
const RARELY: u32 = 8;

/// Builds one [`Code`].
pub struct Builder {
    code: Code,
    current: Label,
    scopes: Vec<Open>,
    numbered: HashMap<Key, Reg>,
    levels: Vec<u32>,
    /// About how many instructions were appended; helpers count for what they do.
    weight: u32,
}

impl Builder {
    /// An empty function whose masks have the given class.
    pub fn new(masks: Class) -> Builder {
        let mut builder = Builder {
            code: Code::new(masks),
            current: Label(0),
            scopes: Vec::new(),
            numbered: HashMap::new(),
            levels: Vec::new(),
            weight: 0,
        };
        let entry = builder.block();
        builder.start(entry);
        builder.scopes.push(Open { kind: Scope::Root, outside: entry, keys: Vec::new() });
        builder
    }

    /// The weight of everything appended so far.
    pub fn weight(&self) -> u32 {
        self.weight
    }

    /// The finished function.
    pub fn finish(self) -> Code {
        self.code
    }

    /// A new block, not yet placed.
    pub fn block(&mut self) -> Label {
        self.code.blocks.push(Block::default());
        Label::from_index(self.code.blocks.len() - 1)
    }

    /// Places a block after the ones placed before and appends to it from now on.
    pub fn start(&mut self, label: Label) {
        self.code.order.push(label);
        self.current = label;
    }

    /// The block that is being appended to.
    pub fn current(&self) -> Label {
        self.current
    }

    /// Opens a scope; work that leaves it goes to the end of `outside`.
    pub fn open_from(&mut self, kind: Scope, outside: Label) {
        self.scopes.push(Open { kind, outside, keys: Vec::new() });
    }

    /// Closes the innermost scope: its values may not be used any more.
    pub fn close(&mut self) {
        if let Some(scope) = self.scopes.pop() {
            for key in scope.keys {
                self.numbered.remove(&key);
            }
        }
    }

    fn register(&mut self, class: Class, level: usize) -> Reg {
        self.code.classes.push(class);
        self.levels.push(level as u32);
        Reg::from_index(self.code.classes.len() - 1)
    }

    /// A parameter of a block, in the innermost open scope.
    pub fn param(&mut self, label: Label, class: Class) -> Reg {
        let reg = self.register(class, self.scopes.len() - 1);
        self.code.blocks[label.index()].params.push(reg);
        reg
    }

    /// The class of a register.
    pub fn class(&self, reg: Reg) -> Class {
        self.code.classes[reg.index()]
    }

    /// An instruction with a result.
    pub fn op(&mut self, op: Op, args: &[Reg]) -> Reg {
        let class = self.result_class(op);
        let top = self.scopes.len() - 1;
        if !op.effect().is_movable() {
            let reg = self.register(class, top);
            self.append(self.current, Inst { op, out: Some(reg), args: args.into() });
            return reg;
        }
        let key: Key = (op, args.into());
        if let Some(&reg) = self.numbered.get(&key) {
            return reg;
        }
        let needed = args.iter().map(|a| self.levels[a.index()] as usize).max().unwrap_or(0);
        let level = self.outermost(op, needed);
        let place = if level == top { self.current } else { self.scopes[level + 1].outside };
        let reg = self.register(class, level);
        self.append(place, Inst { op, out: Some(reg), args: args.into() });
        self.scopes[level].keys.push(key.clone());
        self.numbered.insert(key, reg);
        reg
    }

    /// The outermost scope that an instruction may stand in, whose operands are there from a scope on.
    fn outermost(&self, op: Op, needed: usize) -> usize {
        let is_index = matches!(op, Op::Alu(..) | Op::AluImm(..) | Op::Lea(..) | Op::Set(..));
        let (mut level, mut may_stand) = (self.scopes.len() - 1, self.scopes.len() - 1);
        // A branch is left on trust: that a loop is left further out.
        let mut on_trust = false;
        while level > needed {
            let kind = self.scopes[level].kind;
            let may_leave = match kind {
                Scope::Root => false,
                Scope::Loop => true,
                Scope::Guard => op.effect() != Effect::Reads,
                Scope::Branch => {
                    on_trust |= op.effect() != Effect::Trivial;
                    op.effect() == Effect::Trivial || is_index
                }
            };
            if !may_leave {
                break;
            }
            level -= 1;
            on_trust &= kind != Scope::Loop;
            if !on_trust {
                may_stand = level;
            }
        }
        may_stand
    }

    /// An instruction without result that does not end the block.
    pub fn act(&mut self, op: Op, args: &[Reg]) {
        self.append(self.current, Inst { op, out: None, args: args.into() });
    }

    /// Ends the current block.
    pub fn end(&mut self, op: Op, args: &[Reg]) {
        self.end_of(self.current, op, args);
    }

    /// Ends a block. Instructions that move out of scopes may still be put in front of its end.
    pub fn end_of(&mut self, label: Label, op: Op, args: &[Reg]) {
        let block = &mut self.code.blocks[label.index()];
        debug_assert!(block.end.is_none(), "a block ends twice");
        block.end = Some(Inst { op, out: None, args: args.into() });
    }

    /// The scope in which a register is defined; 0 is the function's own.
    pub fn level(&self, reg: Reg) -> u32 {
        self.levels[reg.index()]
    }

    /// An instruction with a result that stays where it is, but is made once only.
    pub fn op_here(&mut self, op: Op, args: &[Reg]) -> Reg {
        let key: Key = (op, args.into());
        if let Some(&reg) = self.numbered.get(&key) {
            return reg;
        }
        let (class, top) = (self.result_class(op), self.scopes.len() - 1);
        let reg = self.register(class, top);
        self.append(self.current, Inst { op, out: Some(reg), args: args.into() });
        self.scopes[top].keys.push(key.clone());
        self.numbered.insert(key, reg);
        reg
    }

    /// An integer constant.
    pub fn int(&mut self, value: i64) -> Reg {
        self.op(Op::Int(value), &[])
    }

    fn append(&mut self, label: Label, inst: Inst) {
        let of_call = |extent| if extent == Extent::All { HELP_WEIGHT } else { HELP_WEIGHT / 8 };
        self.weight += match inst.op.effect() {
            Effect::Calls(extent) => of_call(extent),
            Effect::MayCall(extent) => of_call(extent) / RARELY,
            _ => 1,
        };
        self.code.blocks[label.index()].insts.push(inst);
    }

    /// The class of an operation's result; operations without one are appended by [`Builder::act`].
    fn result_class(&self, op: Op) -> Class {
        debug_assert!(op.result().is_some(), "{op} has no result");
        op.result().map_or(Class::Int, |kind| kind.class(self.code.masks))
    }
}
