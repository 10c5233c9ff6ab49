//! How the guard of a version is asked: its predicates one by one, until that takes more than a hundredth of the work
//! behind it. Then those that code is only better with (how lanes lie, alignment), and that held in each of the last
//! runs, are asked all at once: their classes are packed into bytes and compared with the bytes that the code was made
//! for. What safety depends on (types, shared blocks, sole and injective targets) is always asked by itself. No
//! predicate is ever left out.
//!
//! Text: `one by one : type 0, block 0 ; packed : lane 0.0 unit, aligned 0 ; 3 questions, 12 ns of 1000`.

use super::signature::{Guard, Lane, Signature};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// Nanoseconds of a question: a load, a comparison, a branch.
pub const QUESTION: u64 = 4;

/// Runs in which a predicate has to hold before it is packed.
pub const STEADY_RUNS: u32 = 64;

/// One predicate of a guard, about an array argument.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Predicate {
    /// Its rank and element type.
    Type(usize),
    /// Which arguments share its block.
    Block(usize),
    /// It is injective and held by nobody else.
    Written(usize),
    /// How the lanes of an access lie.
    Lane(usize, usize, Lane),
    /// It is aligned.
    Aligned(usize),
}

impl Predicate {
    /// Whether code is wrong, not just worse, where it does not hold.
    pub fn is_for_safety(self) -> bool {
        matches!(self, Predicate::Type(_) | Predicate::Block(_) | Predicate::Written(_))
    }

    /// Whether a launch has it.
    pub fn holds(self, guard: &Guard, signature: &Signature) -> bool {
        let array = |k: usize| signature.arrays.get(k);
        match self {
            Predicate::Type(k) => array(k).is_some_and(|array| {
                guard.types.get(k) == Some(&(array.rank, array.elem))
                    && guard.lanes.get(k).map(Vec::len) == Some(array.lanes.len())
            }),
            Predicate::Block(k) => array(k).map(|array| array.block) == guard.blocks.get(k).copied(),
            Predicate::Written(k) => array(k).is_some_and(|array| array.injective && array.sole),
            Predicate::Lane(..) | Predicate::Aligned(_) => self.class(signature) == Some(self.wanted()),
        }
    }

    /// The class that a launch has where this asks for one.
    fn class(self, signature: &Signature) -> Option<u8> {
        match self {
            Predicate::Lane(k, access, _) => {
                signature.arrays.get(k)?.lanes.get(access).map(|lane| *lane as u8)
            }
            Predicate::Aligned(k) => signature.arrays.get(k).map(|array| u8::from(array.aligned)),
            Predicate::Type(_) | Predicate::Block(_) | Predicate::Written(_) => None,
        }
    }

    /// The class that this asks for.
    fn wanted(self) -> u8 {
        match self {
            Predicate::Lane(_, _, lane) => lane as u8,
            _ => 1,
        }
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Predicate::Type(k) => write!(f, "type {k}"),
            Predicate::Block(k) => write!(f, "block {k}"),
            Predicate::Written(k) => write!(f, "written {k}"),
            Predicate::Aligned(k) => write!(f, "aligned {k}"),
            Predicate::Lane(k, access, lane) => {
                let lane = match lane {
                    Lane::Unit => "unit",
                    Lane::Reversed => "reversed",
                    Lane::Same => "broadcast",
                    Lane::Other => "other",
                };
                write!(f, "lane {k}.{access} {lane}")
            }
        }
    }
}

impl Guard {
    /// The predicates, those that safety depends on first.
    pub fn predicates(&self) -> Vec<Predicate> {
        let arrays = 0..self.types.len();
        let mut all: Vec<Predicate> =
            arrays.clone().flat_map(|k| [Predicate::Type(k), Predicate::Block(k)]).collect();
        all.extend(arrays.clone().filter(|k| self.written[*k]).map(Predicate::Written));
        for k in arrays.clone() {
            let lanes = self.lanes[k].iter().enumerate();
            all.extend(lanes.filter_map(|(access, lane)| Some(Predicate::Lane(k, access, (*lane)?))));
        }
        all.extend(arrays.filter(|k| self.aligned[*k]).map(Predicate::Aligned));
        all
    }
}

/// How long each predicate of a guard has held.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Steady {
    runs: BTreeMap<Predicate, u32>,
}

impl Steady {
    /// Notes a run.
    pub fn note(&mut self, guard: &Guard, signature: &Signature) {
        for predicate in guard.predicates() {
            let runs = self.runs.entry(predicate).or_default();
            *runs = if predicate.holds(guard, signature) { (*runs + 1).min(STEADY_RUNS) } else { 0 };
        }
    }

    /// Whether a predicate held in each of the last runs.
    pub fn is_steady(&self, predicate: Predicate) -> bool {
        self.runs.get(&predicate) == Some(&STEADY_RUNS)
    }
}

/// How a guard is asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checks {
    /// One by one, in this order.
    pub single: Vec<Predicate>,
    /// All at once.
    pub packed: Vec<Predicate>,
    /// The bytes that they are compared with.
    expected: Vec<u8>,
    /// Nanoseconds of a run behind the guard.
    pub work: u64,
}

/// How a guard is asked in front of so many nanoseconds of work.
pub fn checks(guard: &Guard, steady: &Steady, work: u64) -> Checks {
    let all = guard.predicates();
    let questions = all.len() as u64;
    let pack = |predicate: &Predicate| !predicate.is_for_safety() && steady.is_steady(*predicate);
    let dear = questions.saturating_mul(QUESTION).saturating_mul(100) > work;
    let (packed, single): (Vec<_>, Vec<_>) = all.into_iter().partition(|predicate| dear && pack(predicate));
    let expected = packed.iter().map(|predicate| predicate.wanted()).collect();
    Checks { single, packed, expected, work }
}

impl Checks {
    /// The number of questions: one for all that is packed.
    pub fn questions(&self) -> u64 {
        self.single.len() as u64 + u64::from(!self.packed.is_empty())
    }

    /// Whether a launch may enter; the same answer as [`Guard::holds`].
    pub fn hold(&self, guard: &Guard, signature: &Signature) -> bool {
        guard.types.len() == signature.arrays.len()
            && self.single.iter().all(|predicate| predicate.holds(guard, signature))
            && self.packed.iter().map(|predicate| predicate.class(signature)).eq(self
                .expected
                .iter()
                .copied()
                .map(Some))
    }
}

impl fmt::Display for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |predicates: &[Predicate]| {
            let words: Vec<String> = predicates.iter().map(Predicate::to_string).collect();
            words.join(", ")
        };
        let mut text = format!("one by one : {}", list(&self.single));
        if !self.packed.is_empty() {
            let _ = write!(text, " ; packed : {}", list(&self.packed));
        }
        let questions = self.questions();
        write!(f, "{text} ; {questions} questions, {} ns of {}", questions * QUESTION, self.work)
    }
}

#[cfg(test)]
mod tests {
    use super::super::signature::{ArrayClass, guard_for};
    use super::*;
    use galopvm_base::ElemType;

    fn signature(random: &mut impl FnMut(u64) -> u64) -> Signature {
        let lanes = [Lane::Unit, Lane::Unit, Lane::Reversed, Lane::Same, Lane::Other];
        let arrays = (0..2)
            .map(|k| ArrayClass {
                rank: 1 + usize::from(random(9) == 0),
                elem: ElemType::F32,
                lanes: (0..2).map(|_| lanes[random(5) as usize]).collect(),
                aligned: random(3) > 0,
                injective: random(9) > 0,
                dense: true,
                block: if random(9) > 0 { k } else { 0 },
                sole: random(5) > 0,
            })
            .collect();
        Signature { arrays, sizes: Vec::new() }
    }

    fn random(mut state: u64) -> impl FnMut(u64) -> u64 {
        move |limit| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % limit
        }
    }

    #[test]
    fn packing_changes_no_answer() {
        let mut random = random(7);
        let (mut packed, mut entered) = (0, 0);
        for _ in 0..3000 {
            let made_for = signature(&mut random);
            let guard = guard_for(&made_for, &[random(2) == 0, random(2) == 0]);
            let mut steady = Steady::default();
            for run in 0..70 {
                let seen = if run % 40 == random(40) { signature(&mut random) } else { made_for.clone() };
                steady.note(&guard, &seen);
            }
            let checks = checks(&guard, &steady, 100 + random(4000));
            packed += checks.packed.len();
            for _ in 0..8 {
                let mut seen = made_for.clone();
                let other = signature(&mut random);
                if random(3) == 0 {
                    seen.arrays[0].lanes = other.arrays[0].lanes.clone();
                }
                if random(4) == 0 {
                    seen.arrays[1] = other.arrays[1].clone();
                }
                assert_eq!(checks.hold(&guard, &seen), guard.holds(&seen), "{checks}");
                entered += usize::from(guard.holds(&seen));
            }
            assert!(checks.packed.iter().all(|predicate| !predicate.is_for_safety()));
        }
        assert!(packed > 1000 && entered > 1000, "{packed} {entered}");
    }

    #[test]
    fn a_hundredth_of_the_work() {
        let mut seen = signature(&mut random(1));
        for array in &mut seen.arrays {
            (array.rank, array.aligned, array.injective, array.sole) = (1, true, true, true);
            array.lanes = vec![Lane::Unit, Lane::Same];
        }
        (seen.arrays[0].block, seen.arrays[1].block) = (0, 1);
        let guard = guard_for(&seen, &[false, true]);
        let mut steady = Steady::default();
        for run in 0..STEADY_RUNS + 2 {
            if run == 1 {
                // Once, one access was another one.
                let mut other = seen.clone();
                other.arrays[1].lanes[1] = Lane::Other;
                steady.note(&guard, &other);
            } else if run != 2 {
                steady.note(&guard, &seen);
            }
        }
        let safe = "type 0, block 0, type 1, block 1, written 1";
        assert_eq!(
            checks(&guard, &steady, 4400).to_string(),
            format!(
                "one by one : {safe}, lane 0.0 unit, lane 0.1 broadcast, lane 1.0 unit, lane 1.1 broadcast, \
                 aligned 0, aligned 1 ; 11 questions, 44 ns of 4400"
            )
        );
        assert_eq!(
            checks(&guard, &steady, 4000).to_string(),
            format!(
                "one by one : {safe}, lane 1.1 broadcast ; packed : lane 0.0 unit, lane 0.1 broadcast, \
                 lane 1.0 unit, aligned 0, aligned 1 ; 7 questions, 28 ns of 4000"
            )
        );
    }
}
