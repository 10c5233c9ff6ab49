//! Whether blocks of rounds give the same as the rounds, one after the other.

use super::Reason;
use super::facts::{Place, Round, Span, Sweep};
use crate::affine::Form;
use galopvm_kir::{VarId, VerifiedRegion};

/// What is known of the dimensions of the array.
pub(super) struct Blocking {
    pub dims: Vec<Dim>,
}

/// A dimension of the array.
pub(super) struct Dim {
    /// The lines that are read in it.
    pub lines: Option<Lines>,
    /// The range that sweeps change, from the last line of a block on where lines are read; none if all of them stay in lines.
    pub range: Option<(Form, Form)>,
}

/// Lines of a round, as distances from its number.
#[derive(Clone, Copy)]
pub(super) struct Lines {
    /// The first place that a round reads or changes.
    pub first: i64,
    /// The last line.
    pub last: i64,
}

/// What a sweep does in a dimension.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// It stays in the lines of the block.
    Lines,
    /// It goes on behind them, or there are no lines.
    Beyond,
}

/// The dimensions of the array, if blocks of rounds give the same.
pub(super) fn judge(region: &VerifiedRegion, round: &Round) -> Result<Blocking, Reason> {
    let counter = round.axis.var;
    let rank = region.type_of(round.carried).rank();
    let mut dims = Vec::with_capacity(rank);
    for dim in 0..rank {
        let lines = lines(round, dim)?;
        dims.push(Dim { lines, range: range(round, dim, lines)? });
    }
    for place in round.places.values() {
        stays(place, round, counter)?;
    }
    let blocking = Blocking { dims };
    let goes_beyond =
        |sweep: &Sweep| (0..rank).all(|dim| blocking.reach(sweep, dim, counter) == Reach::Beyond);
    if round.sweeps().any(goes_beyond) { Ok(blocking) } else { Err(Reason::Nothing) }
}

impl Blocking {
    /// What a sweep does in a dimension.
    pub fn reach(&self, sweep: &Sweep, dim: usize, counter: VarId) -> Reach {
        match (self.dims[dim].lines, distance(&sweep.part[dim].high, counter)) {
            (Some(_), Some(_)) => Reach::Lines,
            _ => Reach::Beyond,
        }
    }
}

/// The constant in a form that is the round's number and a constant.
fn distance(form: &Form, counter: VarId) -> Option<i64> {
    form.minus(&Form::variable(counter))?.number()
}

/// The lines of a dimension. What sweeps change in it begins at most one place behind the last of them, and moves with them.
fn lines(round: &Round, dim: usize) -> Result<Option<Lines>, Reason> {
    let shifts = || round.places.values().flat_map(Place::lines).filter(|line| line.0 == dim);
    let Some(last) = shifts().map(|line| line.1).max() else { return Ok(None) };
    let mut first = shifts().map(|line| line.1).min().unwrap_or(last);
    for sweep in round.sweeps() {
        let low = distance(&sweep.part[dim].low, round.axis.var).ok_or(Reason::Begin)?;
        if low > last + 1 {
            return Err(Reason::Begin);
        }
        first = first.min(low);
    }
    if first < 0 { Err(Reason::Front) } else { Ok(Some(Lines { first, last })) }
}

/// The range of a dimension that sweeps change, which is the same for all that do not stay in lines.
fn range(round: &Round, dim: usize, lines: Option<Lines>) -> Result<Option<(Form, Form)>, Reason> {
    let counter = round.axis.var;
    let mut range: Option<(Form, Form)> = None;
    for sweep in round.sweeps() {
        let Span { low, high, .. } = &sweep.part[dim];
        if let Some(lines) = lines {
            match distance(high, counter) {
                Some(end) if end <= lines.last + 1 => continue,
                Some(_) => return Err(Reason::End),
                None => {}
            }
        } else if low.coefficient(counter) != 0 {
            return Err(Reason::End);
        }
        if high.coefficient(counter) != 0 {
            return Err(Reason::End);
        }
        match &range {
            None => range = Some((low.clone(), high.clone())),
            // Where lines are read, what is left of a range begins behind them.
            Some((from, to)) if to == high && (lines.is_some() || from == low) => {}
            Some(_) => return Err(Reason::End),
        }
    }
    Ok(range)
}

/// A line that is read stays as it is for the rest of the block: whatever is changed later in the round, or in later rounds, lies
/// behind it in one of the dimensions.
fn stays(place: &Place, round: &Round, counter: VarId) -> Result<(), Reason> {
    if place.lines().next().is_none() {
        return Ok(());
    }
    for (number, sweep) in round.sweeps().enumerate() {
        // Of the sweeps before the read only those of the next round come later.
        let next = i64::from(number < place.version);
        let is_behind = |(dim, line): (usize, i64)| {
            distance(&sweep.part[dim].low, counter).is_some_and(|low| low + next > line)
        };
        if !place.lines().any(is_behind) {
            return Err(Reason::Line);
        }
    }
    Ok(())
}
