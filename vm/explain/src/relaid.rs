//! What became of the wishes of operators for arrays in other layouts: how often a copy was given, and why not.

use super::document::Reason;
use super::names::Names;
use super::words;
use galopvm_analysis::layout::order_text;
use galopvm_base::Json;
use galopvm_bytecode::RegId;
use galopvm_tier::told::{RelaidAnswer, RelaidSeen};
use std::collections::BTreeMap;

/// Why.
fn reason(answer: RelaidAnswer) -> Reason {
    let (plain, exact) = match answer {
        RelaidAnswer::Made => ("a copy was made", "made".into()),
        RelaidAnswer::Kept => ("a copy was there already", "kept".into()),
        RelaidAnswer::No(verdict) => (words::layout(verdict), verdict.to_string()),
        RelaidAnswer::Measured => {
            ("executed without, to measure or since it was no better with it", "measured".into())
        }
        RelaidAnswer::NoMemory => ("there was no memory for a copy", "no-memory".into()),
        RelaidAnswer::Little => {
            ("what is saved is little beside all that the interpreter does", "little".into())
        }
        RelaidAnswer::Lane => ("what is saved is less than the lane costs that it is for", "lane".into()),
    };
    Reason { plain: plain.into(), exact }
}

/// What was told of one operator: for each array and layout the answers, with counts.
#[derive(Default)]
pub(super) struct Relaid(BTreeMap<Wish, Answers>);

/// A register, and the order in which its array should lie.
type Wish = (RegId, Vec<usize>);

/// How often each answer was given.
type Answers = Vec<(RelaidAnswer, u64)>;

impl Relaid {
    pub(super) fn keep(&mut self, seen: &RelaidSeen<'_>) {
        let answers = self.0.entry((seen.register, seen.order.to_vec())).or_default();
        match answers.iter_mut().find(|(answer, _)| *answer == seen.answer) {
            Some((_, count)) => *count += 1,
            None => answers.push((seen.answer, 1)),
        }
    }

    pub(super) fn facts(&self, names: &Names) -> Vec<RelaidFact> {
        let fact = |((reg, order), answers): (&Wish, &Answers)| RelaidFact {
            array: names.of(*reg).name.unwrap_or_else(|| reg.to_string()),
            order: order_text(order),
            happened: answers.iter().map(|(answer, count)| (reason(*answer), *count)).collect(),
        };
        self.0.iter().map(fact).collect()
    }
}

/// What became of the wish for an array in another layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RelaidFact {
    /// The array.
    pub array: String,
    /// Its dimensions, outermost in memory first.
    pub order: String,
    /// What happened at the executions, with counts.
    pub happened: Vec<(Reason, u64)>,
}

impl RelaidFact {
    /// Lines for people.
    pub(super) fn lines(&self) -> Vec<String> {
        let line = |(reason, count): &(Reason, u64)| {
            let times = if *count == 1 { "once".into() } else { format!("{count} times") };
            format!("{} in layout {}, {times}: {}", self.array, self.order, reason.plain)
        };
        self.happened.iter().map(line).collect()
    }

    pub(super) fn json(&self) -> Json {
        let happened = |(reason, count): &(Reason, u64)| {
            let reason = [("plain", (&reason.plain).into()), ("exact", (&reason.exact).into())];
            Json::Object(vec![("count", (*count).into()), ("reason", Json::Object(reason.into()))])
        };
        Json::Object(vec![
            ("array", (&self.array).into()),
            ("order", (&self.order).into()),
            ("happened", self.happened.iter().map(happened).collect()),
        ])
    }
}
