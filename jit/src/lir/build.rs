//! Building low IR: one value per distinct computation, placed as far out as it may stand.
//!
//! An operation is first asked what it comes to (`fold.rs`). The builder knows the nest of open *scopes*. A pure instruction goes to the outermost scope that has all its
//! operands (loop-invariant code motion by construction) and is made once (value numbering by construction):
//! - out of a `Loop`, everything pure moves, array reads too: the body of an open loop runs at least once;
//! - out of a `Guard` (the test whether a loop runs at all) pure work moves, array reads do not;
//! - what is read through a `version` of an address stays behind that, wherever else it may go;
//! - out of a `Branch` only trivial work moves, so that the side not taken costs nothing; but index arithmetic does where it leaves
//!   a loop as well: it is done once for all turns.

use super::fold::{Folded, Made, Origins};
use super::{Bin, Block, Class, Code, Effect, Extent, Inst, Label, Mem, Op, Reg, Width};
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
    keys: Vec<Made>,
}

/// A call of a helper on all lanes takes as long as so many instructions.
const HELP_WEIGHT: u32 = 400;

/// A call that is made rarely counts for so many: where it is made often, questions to the host are this much rarer.
const RARELY: u32 = 8;

/// Builds one [`Code`].
pub struct Builder {
    code: Code,
    current: Label,
    scopes: Vec<Open>,
    numbered: HashMap<Made, Reg>,
    /// How registers were made, see `fold.rs`.
    made: Vec<Option<Made>>,
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
            made: Vec::new(),
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
        self.made.push(None);
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
        let (op, args) = match self.folded(op, args) {
            Folded::Reg(reg) => return reg,
            Folded::Op(op, args) => (op, args),
        };
        if let Some((op, args)) = self.long_load(op, &args) {
            return self.op_here(op, &args);
        }
        let class = self.result_class(op);
        let top = self.scopes.len() - 1;
        if !op.effect().is_movable() {
            let reg = self.register(class, top);
            self.append(self.current, Inst { op, out: Some(reg), args });
            return reg;
        }
        let key: Made = (op, args);
        if let Some(&reg) = self.numbered.get(&key) {
            return reg;
        }
        let needed = key.1.iter().map(|a| self.levels[a.index()] as usize).max().unwrap_or(0);
        let level = self.outermost(op, needed);
        let place = if level == top { self.current } else { self.scopes[level + 1].outside };
        let reg = self.register(class, level);
        if op.effect() != Effect::Reads {
            self.made[reg.index()] = Some(key.clone());
        }
        self.append(place, Inst { op, out: Some(reg), args: key.1.clone() });
        self.scopes[level].keys.push(key.clone());
        self.numbered.insert(key, reg);
        reg
    }

    /// What an operation comes to in the end.
    fn folded(&self, op: Op, args: &[Reg]) -> Folded {
        let origins = Origins { made: &self.made, masks: self.code.masks };
        let (mut op, mut args) = (op, SmallVec::from_slice(args));
        loop {
            match origins.folded(op, &args) {
                None => return Folded::Op(op, args),
                Some(Folded::Op(other, others)) => (op, args) = (other, others),
                Some(reg) => return reg,
            }
        }
    }

    /// What was done last in the current block, latest first, but for what only makes constants and the like.
    fn just_done(&self) -> impl Iterator<Item = &Inst> {
        let insts = self.code.blocks[self.current.index()].insts.iter().rev();
        insts.filter(|inst| inst.op.effect() != Effect::Trivial)
    }

    /// The extension of a number that was read just now, as a read of its own.
    fn long_load(&self, op: Op, args: &[Reg]) -> Option<Made> {
        let last = self.just_done().next()?;
        match (op, last.op) {
            (Op::Extend(Mem::B32), Op::Load(Mem::B32, addr)) if last.out == Some(args[0]) => {
                Some((Op::LoadLong(addr), last.args.clone()))
            }
            _ => None,
        }
    }

    /// A store of what was read there just now and changed, as one operation.
    fn update(&self, op: Op, args: &[Reg]) -> Option<Made> {
        let (mem, addr, width) = match op {
            Op::Store(Mem::B32, addr) => (Mem::B32, addr, Width::W32),
            Op::Store(Mem::B64, addr) => (Mem::B64, addr, Width::W64),
            _ => return None,
        };
        let mut before = self.just_done();
        let (change, read) = (before.next()?, before.next()?);
        let place = &args[1..];
        if read.op != Op::Load(mem, addr) || read.args.as_slice() != place || change.out != Some(args[0]) {
            return None;
        }
        let (old, operands) = (read.out?, change.args.as_slice());
        let (bin, op, by) = match (change.op, operands) {
            (Op::Alu(bin, of), &[a, by]) if of == width && a == old => {
                (bin, Op::Update(bin, width, addr), Some(by))
            }
            (Op::Alu(bin, of), &[by, b]) if of == width && b == old && bin != Bin::Sub => {
                (bin, Op::Update(bin, width, addr), Some(by))
            }
            (Op::AluImm(bin, of, number), &[a]) if of == width && a == old => {
                (bin, Op::UpdateImm(bin, width, number, addr), None)
            }
            _ => return None,
        };
        let is_one = matches!(bin, Bin::Add | Bin::Sub | Bin::And | Bin::Or | Bin::Xor);
        is_one.then(|| (op, by.into_iter().chain(place.iter().copied()).collect()))
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
        let Folded::Op(op, args) = self.folded(op, args) else { return };
        let (op, args) = self.update(op, &args).unwrap_or((op, args));
        self.append(self.current, Inst { op, out: None, args });
    }

    /// Ends the current block.
    pub fn end(&mut self, op: Op, args: &[Reg]) {
        self.end_of(self.current, op, args);
    }

    /// Ends a block. Instructions that move out of scopes may still be put in front of its end.
    pub fn end_of(&mut self, label: Label, op: Op, args: &[Reg]) {
        let Folded::Op(op, args) = self.folded(op, args) else { return };
        let block = &mut self.code.blocks[label.index()];
        debug_assert!(block.end.is_none(), "a block ends twice");
        block.end = Some(Inst { op, out: None, args });
    }

    /// The scope in which a register is defined; 0 is the function's own.
    pub fn level(&self, reg: Reg) -> u32 {
        self.levels[reg.index()]
    }

    /// An instruction with a result that stays where it is, but is made once only.
    pub fn op_here(&mut self, op: Op, args: &[Reg]) -> Reg {
        let (op, args) = match self.folded(op, args) {
            Folded::Reg(reg) => return reg,
            Folded::Op(op, args) => (op, args),
        };
        let key: Made = (op, args);
        if let Some(&reg) = self.numbered.get(&key) {
            return reg;
        }
        let (class, top) = (self.result_class(op), self.scopes.len() - 1);
        let reg = self.register(class, top);
        self.append(self.current, Inst { op, out: Some(reg), args: key.1.clone() });
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
