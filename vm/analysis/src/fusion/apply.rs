//! The region after a decision. Each line is judged again, by what the lines before it made of the region; one that is
//! not right, or reads otherwise than it says, changes nothing. What pays is not asked.

use super::decide::{finished, give_axes, inside};
use super::inline::inline;
use super::join::join;
use super::judge::{judge_fuse, judge_join, maker};
use super::known::Known;
use super::lines::{Fusion, FusionLine, Fusions};
use super::reads::uses;
use super::reason::Reason;
use super::turn::{judge_turn, turn};
use galopvm_kir::{Body, CheckedRegion, Region, VarId};

/// The region with these fusions made.
pub fn apply(region: &CheckedRegion, fusions: &Fusions) -> CheckedRegion {
    let mut change = Change { known: Known::new(region.region()), region: region.region().clone() };
    let mut body = std::mem::take(&mut change.region.body);
    let mut made = false;
    for line in &fusions.lines {
        made |= change.line(&mut body, line);
    }
    if !made {
        return region.clone();
    }
    change.region.body = body;
    finished(region, change.region)
}

struct Change {
    /// The region without its body.
    region: Region,
    known: Known,
}

impl Change {
    fn line(&mut self, body: &mut Body, line: &FusionLine) -> bool {
        let name = match &line.fusion {
            Fusion::Fuse(name, _) | Fusion::Join(name, _) | Fusion::Turn(name) => name,
            Fusion::Feed(..) | Fusion::Keep(_) => return false,
        };
        if let Some(at) = body.stms.iter().position(|stm| stm.pat.contains(name)) {
            return match &line.fusion {
                Fusion::Fuse(_, readers) => self.fuse(body, at, readers),
                Fusion::Join(_, second) => self.join(body, at, *second),
                Fusion::Turn(_) => self.turn(body, at, &line.reason),
                Fusion::Feed(..) | Fusion::Keep(_) => false,
            };
        }
        let mut made = false;
        for stm in &mut body.stms {
            inside(&mut stm.rhs, self, &|change| &mut change.known.prover, &mut |change, inner| {
                made = made || change.line(inner, line);
            });
        }
        made
    }

    fn fuse(&mut self, body: &mut Body, at: usize, readers: &[VarId]) -> bool {
        let Some(made) = maker(&mut self.region, &body.stms[at]) else { return false };
        let before = give_axes(&mut self.region, body, at);
        for (number, _) in &before {
            self.known.changed(&self.region, &body.stms[*number]);
        }
        let fuse = judge_fuse(&self.region, body, at, made, &mut self.known);
        let as_said = |users: Vec<&usize>| {
            users.len() == readers.len()
                && users.iter().zip(readers).all(|(user, name)| body.stms[**user].pat.contains(name))
        };
        match fuse.ok().filter(|fuse| as_said(fuse.copies.keys().collect())) {
            Some(fuse) => {
                let changed = inline(&mut self.region, body, at, fuse);
                self.changed(body, &changed);
                true
            }
            None => {
                for (number, stm) in before {
                    body.stms[number] = stm;
                    self.known.changed(&self.region, &body.stms[number]);
                }
                false
            }
        }
    }

    fn join(&mut self, body: &mut Body, first: usize, second: VarId) -> bool {
        let Some(second) = body.stms.iter().position(|stm| stm.pat.contains(&second)) else { return false };
        if second <= first {
            return false;
        }
        let axes = body.stms[first].rhs.parallel_axes().len();
        let used = uses(&self.region, body, first, axes, &mut self.known);
        let Some(found) = judge_join(&self.region, body, (first, &used), second, &mut self.known) else {
            return false;
        };
        let name = join(&mut self.region, body, first, second, &found);
        self.changed(body, &[name]);
        true
    }

    fn turn(&mut self, body: &mut Body, user: usize, reason: &Reason) -> bool {
        let Reason::Alike(array) = reason else { return false };
        let Some(at) = body.stms[..user].iter().position(|stm| stm.pat.contains(array)) else { return false };
        let Some(made) = maker(&mut self.region, &body.stms[at]) else { return false };
        let found = judge_turn(&self.region, body, (at, &made.axes), user, &mut self.known);
        let Some(first) = found else { return false };
        let name = body.stms[user].pat[0];
        let mut names = turn(&mut self.region, body, user, first);
        names.push(name);
        self.changed(body, &names);
        true
    }

    fn changed(&mut self, body: &Body, names: &[VarId]) {
        for stm in body.stms.iter().filter(|stm| stm.pat.iter().any(|var| names.contains(var))) {
            self.known.changed(&self.region, stm);
        }
    }
}
