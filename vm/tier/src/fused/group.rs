//! From a part of a block and the verdicts of fusion to a group.
//!
//! The verdicts are about all operators of the part. A group takes those that have to do with the first one: what it was
//! put into, what else was put there, and so on; and, as further kernels, the operators whose results these need.

use super::step::{Parts, is_operator, step};
use super::{Fate, Group, Line, lets};
use crate::sentence::Sentence;
use galopvm_analysis::fusion::{Fused, Fusion, FusionLine, Fusions, Reason, Word, fuse};
use galopvm_bytecode::RegId;
use galopvm_kir::{Observed, Region, Stm, VarId};
use galopvm_lift::{Binding, Sequence};
use std::collections::BTreeSet;

/// The group that starts with the first operator of a part, or why that runs by itself. Scans run with their readers if they are
/// `fed`.
pub fn group(sequence: &Sequence, observed: &Observed, from: usize, fed: bool) -> Result<Group, String> {
    let whole = &sequence.lifted;
    let Fused { mut fusions, region: after, is_for_sizes } = fuse(&whole.region, observed);
    fusions.lines.retain(|line| fed || !matches!(line.fusion, Fusion::Feed(..)));
    let before = whole.region.region();
    let (lines, links) = told(sequence, before, &fusions);
    let mut covered = BTreeSet::from([from]);
    covered.extend(links.iter().filter(|link| link.contains(&from)).flatten());
    if covered.len() < 2 {
        let kept = lines.into_iter().find(|(at, line)| *at == from && line.fate == Fate::Kept);
        return Err(
            kept.map_or_else(|| "nothing to be fused with".into(), |(_, line)| line.reason.to_string())
        );
    }
    let parts = Parts::new(sequence, after.region());
    let stms = || after.region().body.stms.iter().enumerate().filter(|(_, stm)| is_operator(stm));
    let own = |stm: &Stm, covered: &BTreeSet<usize>| !parts.origins(stm).is_disjoint(covered);
    // What the kernels of the group need from other operators of the part has to run, too; and an operator runs with
    // the group as a whole, or not at all.
    loop {
        let known = covered.len();
        for (at, stm) in stms().filter(|(_, stm)| own(stm, &covered)).collect::<Vec<_>>() {
            covered.extend(parts.origins(stm));
            for operator in parts.needs(at)?.operators {
                covered.extend(parts.origins(&after.region().body.stms[operator]));
            }
        }
        for link in links.iter().filter(|link| !link.is_disjoint(&covered)).collect::<Vec<_>>() {
            covered.extend(link);
        }
        if covered.len() == known {
            break;
        }
    }
    // A function that is called is passed by as a whole: what may fail in it must be part of a kernel.
    let mut carried_out: BTreeSet<usize> = BTreeSet::new();
    for (at, _) in stms().filter(|(_, stm)| own(stm, &covered)) {
        carried_out.extend(parts.needs(at)?.lets);
    }
    let is_lost = |(at, stm): (usize, &Stm)| !carried_out.contains(&at) && own(stm, &covered);
    if parts.unused().any(is_lost) {
        return Err("a function that is called may fail in something that no kernel needs".into());
    }
    // What repeats a value for an operator of the group alone is read by nobody any more.
    covered.extend(
        sequence
            .repeated
            .iter()
            .filter(|(_, reader)| covered.contains(reader))
            .map(|(at, _)| *at)
            .collect::<Vec<_>>(),
    );
    let feeds = feeds(&fusions, before, after.region());
    let feed_of = |at| feeds.iter().find(|(_, reader)| *reader == at).map(|(scan, _)| *scan);
    let is_feed = |at| feeds.iter().any(|(scan, _)| *scan == at);
    let mut steps = Vec::new();
    for (at, _) in stms().filter(|(at, stm)| own(stm, &covered) && !is_feed(*at)) {
        steps.push(step(&parts, feed_of(at), at)?);
    }
    if let Some((_, others)) = steps.split_last_mut() {
        others.iter_mut().for_each(|step| step.over.fill(None));
    }
    // What nothing of the part reads is no result, but the code may still look at it: a slice of it that nobody uses.
    let made: BTreeSet<RegId> = steps.iter().flat_map(|step| step.results.iter().copied()).collect();
    let by_kernels: BTreeSet<RegId> = parts.made().collect();
    let mut unmade = Vec::new();
    for (_, var) in before.vars.iter_ids() {
        let (Some(reg), Some(at)) =
            (sequence.registers.get(var.name.as_str()), sequence.origins.get(var.name.as_str()))
        else {
            continue;
        };
        if covered.contains(at) && !made.contains(reg) {
            match var.ty.as_ref().filter(|ty| !ty.is_scalar()) {
                Some(ty) => unmade.push((*reg, ty.elem, ty.shape.clone())),
                None if by_kernels.contains(reg) => {}
                None => return Err("a scalar that nothing makes any more".into()),
            }
        }
    }
    let lines = lines.into_iter().filter(|(at, _)| covered.contains(at)).map(|(_, line)| line).collect();
    let is_fused = whole.region.region().params.len() == after.region().params.len();
    Ok(Group {
        for_sizes: (is_for_sizes && is_fused).then(|| after.region().clone()),
        sizes: lets(&whole.region),
        whole: whole.clone(),
        is_fed: !feeds.is_empty(),
        steps,
        covered: covered.into_iter().collect(),
        unmade,
        lines,
    })
}

/// The scans that run with a reader, each with that one: statements of the region's own body after its fusions, which keep names.
fn feeds(fusions: &Fusions, before: &Region, after: &Region) -> Vec<(usize, usize)> {
    let binder = |var: &VarId| {
        let is_first =
            |stm: &Stm| stm.pat.first().is_some_and(|first| after.name_of(*first) == before.name_of(*var));
        after.body.stms.iter().position(is_first)
    };
    let feed = |line: &FusionLine| match &line.fusion {
        Fusion::Feed(scan, reader) => Some((binder(scan)?, binder(reader)?)),
        _ => None,
    };
    fusions.lines.iter().filter_map(feed).collect()
}

/// A reason of the analysis about registers instead of names.
fn sentence(sequence: &Sequence, region: &Region, fusions: &Fusions, reason: &Reason) -> Sentence {
    let register = |var: VarId| match region.params.iter().position(|param| *param == var) {
        Some(at) => match sequence.lifted.bindings[at] {
            Binding::Array(reg) | Binding::Scalar(reg) => Some(reg),
            Binding::Extent { .. } => None,
        },
        None => sequence.registers.get(fusions.name(region, var)).copied(),
    };
    reason.words().iter().fold(Sentence::default(), |sentence, word| match word {
        Word::Text(text) => sentence.text(text),
        Word::Name(var) => match register(*var) {
            Some(reg) => sentence.register(reg),
            None => sentence.text(fusions.name(region, *var)),
        },
    })
}

/// The verdicts in terms of registers, each with the operator that it is about; and which operators they put together.
fn told(
    sequence: &Sequence,
    region: &Region,
    fusions: &Fusions,
) -> (Vec<(usize, Line)>, Vec<BTreeSet<usize>>) {
    let origin = |var: &VarId| sequence.origins.get(region.name_of(*var)).copied();
    let register = |var: &VarId| sequence.registers.get(region.name_of(*var)).copied();
    let (mut told, mut links) = (Vec::new(), Vec::new());
    for line in &fusions.lines {
        let (made, fate, others) = match &line.fusion {
            Fusion::Fuse(made, readers) => {
                (made, Fate::Computed(readers.iter().filter_map(register).collect()), readers.clone())
            }
            Fusion::Join(made, other) => {
                let fate = register(other).map_or(Fate::Kept, Fate::Joined);
                (made, fate, vec![*other])
            }
            Fusion::Feed(made, reader) => {
                let fate = register(reader).map_or(Fate::Kept, Fate::Fed);
                (made, fate, vec![*reader])
            }
            Fusion::Turn(made) => (made, Fate::Turned, Vec::new()),
            Fusion::Keep(made) => (made, Fate::Kept, Vec::new()),
        };
        let Some(at) = origin(made) else { continue };
        if !others.is_empty() {
            links.push(others.iter().filter_map(origin).chain([at]).collect());
        }
        if let Some(made) = register(made) {
            let reason = sentence(sequence, region, fusions, &line.reason);
            told.push((at, Line { made, fate, reason, saving: line.saving }));
        }
    }
    (told, links)
}
