//! What code must be like before registers are allocated for it.
//!
//! Proved: blocks are complete, and are reached; operands and results are as many and of the classes that the table of
//! operations says; a register is defined once, and on every way to each of its uses; jumps pass what their targets
//! take, and nothing else goes to a block with parameters. Not proved: that addresses lie in arrays, that divisors are
//! not zero, that a target has an instruction for an operation.

use super::parse::parse;
use super::{Block, Class, Code, Effect, Inst, Label, Op, Reg};
use galopvm_base::TypedId;

/// Nothing if the code is right and its text reads back to it; else what is wrong.
pub fn check(code: &Code) -> Result<(), String> {
    verify(code)?;
    let text = code.to_string();
    let again = parse(&text)?;
    let same = |label: &Label| code.blocks[label.index()] == again.blocks[label.index()];
    if again.order != code.order || !code.order.iter().all(same) || again.to_string() != text {
        return Err("the text reads back to other code".into());
    }
    Ok(())
}

/// The number of lines of a listing - code under header lines that begin with `; ` - if all its code reads, is right, and
/// prints to the same lines; else what is wrong.
pub fn check_listing(listing: &str) -> Result<usize, String> {
    let (mut again, mut text) = (String::new(), String::new());
    let mut lines = listing.lines().peekable();
    while let Some(line) = lines.next() {
        match line.strip_prefix("; ") {
            Some(_) => again.push_str(&format!("{line}\n")),
            None => text.push_str(&format!("{line}\n")),
        }
        if lines.peek().is_none_or(|next| next.starts_with("; ")) {
            let code = parse(&std::mem::take(&mut text))?;
            check(&code)?;
            again.push_str(&code.to_string());
        }
    }
    if again == listing {
        Ok(listing.lines().count())
    } else {
        Err("the text reads back to other code".into())
    }
}

/// Nothing if the code is right; else the block, the instruction and what is wrong with it.
pub fn verify(code: &Code) -> Result<(), String> {
    let verifier = Verifier::new(code)?;
    for (k, &label) in code.order.iter().enumerate() {
        let block = &code.blocks[label.index()];
        for (at, inst) in block.insts.iter().chain(&block.end).enumerate() {
            let checked = verifier.inst(inst, at < block.insts.len());
            let checked = checked.and_then(|()| verifier.uses(inst, k, at));
            checked.map_err(|what| format!("{label}: `{}`: {what}", code.line(inst)))?;
        }
    }
    Ok(())
}

/// Where a register is defined: the position of the block, and the number of the instruction. Parameters come before
/// all instructions.
type Definition = (usize, Option<usize>);

struct Verifier<'a> {
    code: &'a Code,
    definitions: Vec<Option<Definition>>,
    /// For the block at each position: the position of the last block that every way to it goes through.
    dominators: Vec<usize>,
}

impl<'a> Verifier<'a> {
    fn new(code: &'a Code) -> Result<Verifier<'a>, String> {
        let positions = positions(code)?;
        let mut definitions = vec![None; code.classes.len()];
        for (k, label) in code.order.iter().enumerate() {
            let block = &code.blocks[label.index()];
            let params = block.params.iter().map(|reg| (*reg, (k, None)));
            let results = block.insts.iter().enumerate();
            let results = results.filter_map(|(at, inst)| Some((inst.out?, (k, Some(at)))));
            for (reg, definition) in params.chain(results) {
                let place = definitions.get_mut(reg.index()).ok_or_else(|| format!("{reg} has no class"))?;
                if place.replace(definition).is_some() {
                    return Err(format!("{label}: {reg} is defined twice"));
                }
            }
        }
        let follow: Vec<Vec<usize>> = code
            .order
            .iter()
            .map(|label| code.blocks[label.index()].end.iter().flat_map(|end| end.op.targets()))
            .map(|targets| targets.map(|label| positions[label.index()]).collect())
            .collect();
        let dominators = dominators(&follow);
        if let Some(k) = dominators.iter().position(|dominator| *dominator == UNREACHED) {
            return Err(format!("{} is never reached", code.order[k]));
        }
        Ok(Verifier { code, definitions, dominators })
    }

    /// Operands, result, and what a target takes.
    fn inst(&self, inst: &Inst, is_inside: bool) -> Result<(), String> {
        match (inst.op.effect(), is_inside) {
            (Effect::Ends, true) => return Err("it ends a block and stands inside one".into()),
            (Effect::Ends, false) | (_, true) => {}
            (_, false) => return Err("it does not end a block and stands at the end of one".into()),
        }
        let class = |reg: &Reg| self.code.classes.get(reg.index()).copied();
        let expected = |kinds: &mut dyn Iterator<Item = super::op::Kind>| -> Vec<Class> {
            kinds.map(|kind| kind.class(self.code.masks)).collect()
        };
        let operands = expected(&mut inst.op.operands().into_iter());
        let operands = match inst.op {
            Op::Jump(to) => self.code.blocks[to.index()].params.iter().filter_map(class).collect(),
            _ => operands,
        };
        fits("operands", inst.args.iter().filter_map(class).collect(), operands)?;
        let result = expected(&mut inst.op.result().into_iter());
        fits("results", inst.out.iter().filter_map(class).collect(), result)?;
        let takes = |label: &Label| !self.code.blocks[label.index()].params.is_empty();
        match inst.op.targets().iter().find(|label| takes(label)) {
            Some(label) if !matches!(inst.op, Op::Jump(_)) => Err(format!("{label} takes parameters")),
            _ => Ok(()),
        }
    }

    /// Every operand is defined on every way to the instruction.
    fn uses(&self, inst: &Inst, position: usize, at: usize) -> Result<(), String> {
        for reg in &inst.args {
            let Some(Some((block, place))) = self.definitions.get(reg.index()) else {
                return Err(format!("{reg} is not defined"));
            };
            let is_before = match *block == position {
                true => place.is_none_or(|place| place < at),
                false => self.dominates(*block, position),
            };
            if !is_before {
                return Err(format!("{reg} is not defined on every way to here"));
            }
        }
        Ok(())
    }

    fn dominates(&self, dominator: usize, mut block: usize) -> bool {
        while block != dominator && block != 0 {
            block = self.dominators[block];
        }
        block == dominator
    }
}

fn fits(what: &str, are: Vec<Class>, should_be: Vec<Class>) -> Result<(), String> {
    let words = |classes: &[Class]| classes.iter().map(|class| class.name()).collect::<Vec<_>>().join(", ");
    if are == should_be {
        return Ok(());
    }
    Err(format!("the {what} are ({}), not ({})", words(&are), words(&should_be)))
}

/// The position of each block in memory; all blocks that are gone to are there, and complete.
fn positions(code: &Code) -> Result<Vec<usize>, String> {
    let mut positions = vec![usize::MAX; code.blocks.len()];
    for (k, label) in code.order.iter().enumerate() {
        let place = positions.get_mut(label.index()).ok_or_else(|| format!("there is no {label}"))?;
        if std::mem::replace(place, k) != usize::MAX {
            return Err(format!("{label} is placed twice"));
        }
    }
    let entry = code.order.first().ok_or("there are no blocks")?;
    if !code.blocks[entry.index()].params.is_empty() {
        return Err(format!("{entry} takes parameters and is the entry"));
    }
    for label in &code.order {
        let Block { end: Some(end), .. } = &code.blocks[label.index()] else {
            return Err(format!("{label} has no end"));
        };
        for target in end.op.targets() {
            if positions.get(target.index()).is_none_or(|k| *k == usize::MAX) {
                return Err(format!("{label} goes to {target}, which is not there"));
            }
            if target == *entry {
                return Err(format!("{label} goes to the entry"));
            }
        }
    }
    Ok(positions)
}

/// The dominator of a block that no way leads to.
const UNREACHED: usize = usize::MAX;

/// The immediate dominator of each block, given what may follow each; block 0 is the entry and its own.
fn dominators(follow: &[Vec<usize>]) -> Vec<usize> {
    let order = after_all_that_follow(follow);
    let mut number = vec![0; follow.len()];
    order.iter().enumerate().for_each(|(k, block)| number[*block] = k);
    let mut dominators = vec![UNREACHED; follow.len()];
    dominators[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for &block in order.iter().rev() {
            for &next in &follow[block] {
                let mut merged = block;
                let mut known = dominators[next];
                while known != UNREACHED && merged != known {
                    match number[merged] < number[known] {
                        true => merged = dominators[merged],
                        false => known = dominators[known],
                    }
                }
                changed |= dominators[next] != merged;
                dominators[next] = merged;
            }
        }
    }
    dominators
}

/// The blocks that the entry leads to, each behind all that follow it but for the ways back of loops.
fn after_all_that_follow(follow: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; follow.len()];
    // Blocks, and how many of those that follow have been gone to.
    let mut open = vec![(0, 0)];
    seen[0] = true;
    while let Some((block, gone)) = open.last_mut() {
        match follow[*block].get(*gone) {
            Some(&next) => {
                *gone += 1;
                if !std::mem::replace(&mut seen[next], true) {
                    open.push((next, 0));
                }
            }
            None => {
                order.push(*block);
                open.pop();
            }
        }
    }
    order
}
