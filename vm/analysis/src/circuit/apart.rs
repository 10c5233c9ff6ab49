//! Whether two moving views of one block are apart, dimension by dimension of the block.
//!
//! `meeting` (in `vm/lmad`) knows iteration variables by their ranges alone. Where the range of one depends on another, or the size
//! of a view does, as in a triangle that gets smaller from round to round, it sees iterations that there are not. Here
//! such bounds are kept as forms. A place of the block is written as an index of each of its dimensions, which is
//! possible in one way only while the inner indices stay inside of theirs; then two views are apart if they are in one dimension.
//!
//! Everything is a bound of an affine form over all iterations: variables are eliminated from the innermost one on, each by
//! its least or greatest value over those further out. So bounds may be too wide, but never too narrow.
//!
//! Invariant: `true` is a proof; `false` says nothing.

use super::facts::Facts;
use super::moving::Moving;
use crate::affine::Form;
use galopvm_kir::VarId;
use galopvm_lmad::{Dim, Lmad, Order};
use smallvec::{SmallVec, smallvec};

/// An iteration variable of the first view or of the second one. What both are in the same iteration of is the first one's.
type Counter = (VarId, bool);

/// An affine form over the variables of two views.
#[derive(Clone, Debug, Default)]
struct Sum {
    constant: i128,
    terms: SmallVec<[(Counter, i128); 4]>,
}

impl Sum {
    fn add(&mut self, counter: Counter, by: i128) {
        match self.terms.iter_mut().find(|(known, _)| *known == counter) {
            Some((_, coefficient)) => *coefficient += by,
            None => self.terms.push((counter, by)),
        }
    }

    fn plus(&mut self, other: &Sum, scale: i128) {
        self.constant += other.constant * scale;
        other.terms.iter().for_each(|(counter, by)| self.add(*counter, by * scale));
    }
}

/// From where to where a view reaches in one dimension of its block.
#[derive(Clone, Debug, Default)]
struct Reach {
    low: Sum,
    high: Sum,
}

/// A block's dimensions with the iterations that two views of it are seen in.
struct Block<'a> {
    facts: &'a Facts,
    orders: &'a [(VarId, Order)],
    /// The distance of neighbours in each dimension, falling; each is a multiple of the next one, the last one is 1.
    strides: SmallVec<[i64; 4]>,
}

/// Whether no place of `first` is one of `second` in iterations that lie to each other as `orders` has it; any if not listed.
/// `block` is how the block as a whole lies.
pub(super) fn are_apart(
    facts: &Facts,
    block: &Moving,
    (first, second): (&Moving, &Moving),
    orders: &[(VarId, Order)],
) -> bool {
    let Some(strides) = block.still().and_then(|block| nested(&block)) else { return false };
    let block = Block { facts, orders, strides };
    let reaches = block.reaches(first, false).zip(block.reaches(second, true));
    let Some((first, second)) = reaches else { return false };
    first.iter().zip(&second).any(|(a, b)| block.is_below(&a.high, &b.low) || block.is_below(&b.high, &a.low))
}

/// The strides of a view whose dimensions lie inside of each other, and 1.
fn nested(view: &Lmad) -> Option<SmallVec<[i64; 4]>> {
    let dims = view.dims.iter().filter(|dim| dim.size != 1 && dim.stride != 0);
    let mut strides: SmallVec<[i64; 4]> = dims.map(|dim| dim.stride.saturating_abs()).collect();
    strides.push(1);
    strides.sort_unstable_by_key(|stride| std::cmp::Reverse(*stride));
    strides.dedup();
    strides.windows(2).all(|pair| pair[0] % pair[1] == 0).then_some(strides)
}

/// Whether no two indices of a view are one place, whatever its sizes are at most.
pub(super) fn is_injective(view: &Moving, facts: &Facts) -> bool {
    let most = |(size, stride): (Form, Form)| {
        let (_, most) = size.interval(&facts.ranges)?;
        Some(Dim::new(i64::try_from(most).ok()?, stride.number()?))
    };
    let dims = view.axes().map(most).collect::<Option<SmallVec<[Dim; 4]>>>();
    dims.is_some_and(|dims| Lmad::new(0, dims).is_injective())
}

impl Block<'_> {
    /// How far a view reaches in each dimension; nothing if that cannot be said, or if a place may be written in two ways.
    fn reaches(&self, view: &Moving, second: bool) -> Option<SmallVec<[Reach; 4]>> {
        let mut reaches: SmallVec<[Reach; 4]> = smallvec![Reach::default(); self.strides.len()];
        for (var, coefficient) in view.offset.terms() {
            for (reach, digit) in reaches.iter_mut().zip(self.digits(*coefficient)) {
                reach.low.add(self.counter(*var, second), digit);
            }
        }
        for (reach, digit) in reaches.iter_mut().zip(self.digits(view.offset.constant)) {
            reach.low.constant = digit;
            reach.high = reach.low.clone();
        }
        for (size, stride) in view.axes() {
            let last = self.sum(&size.minus(&Form::constant(1))?, second);
            for (reach, digit) in reaches.iter_mut().zip(self.digits(stride.number()?)) {
                let end = if digit < 0 { &mut reach.low } else { &mut reach.high };
                end.plus(&last, digit);
            }
        }
        self.carry(&mut reaches)?;
        Some(reaches)
    }

    /// A number as so many of each stride, all of its sign.
    fn digits(&self, number: i64) -> SmallVec<[i128; 4]> {
        let mut rest = number;
        let digit = |stride: &i64| {
            let digit = rest / stride;
            rest %= stride;
            i128::from(digit)
        };
        self.strides.iter().map(digit).collect()
    }

    /// Moves whole rows from each dimension to the one around it, so that the least index is inside; nothing if the greatest
    /// one is not then.
    fn carry(&self, reaches: &mut [Reach]) -> Option<()> {
        for k in (1..reaches.len()).rev() {
            let extent = i128::from(self.strides[k - 1] / self.strides[k]);
            let mut backwards = Sum::default();
            backwards.plus(&reaches[k].low, -1);
            let least = -self.greatest(backwards)?;
            let rows = least.div_euclid(extent);
            for (reach, by) in [(k, -rows * extent), (k - 1, rows)] {
                reaches[reach].low.constant += by;
                reaches[reach].high.constant += by;
            }
            if self.greatest(reaches[k].high.clone())? >= extent {
                return None;
            }
        }
        Some(())
    }

    /// Whether one form is below another one in all iterations.
    fn is_below(&self, low: &Sum, high: &Sum) -> bool {
        let mut distance = low.clone();
        distance.plus(high, -1);
        self.greatest(distance).is_some_and(|greatest| greatest < 0)
    }

    fn counter(&self, var: VarId, second: bool) -> Counter {
        (var, second && self.order(var) != Order::Same)
    }

    fn order(&self, var: VarId) -> Order {
        self.orders.iter().find(|(other, _)| *other == var).map_or(Order::Any, |(_, order)| *order)
    }

    fn sum(&self, form: &Form, second: bool) -> Sum {
        let term = |(var, by): &(VarId, i64)| (self.counter(*var, second), i128::from(*by));
        let mut sum = Sum { constant: form.constant.into(), ..Sum::default() };
        form.terms().iter().map(term).for_each(|(counter, by)| sum.add(counter, by));
        sum
    }

    /// A bound of a form over all iterations; nothing if there is none.
    fn greatest(&self, mut sum: Sum) -> Option<i128> {
        loop {
            sum.terms.retain(|(_, by)| *by != 0);
            // The innermost variable, of the second view before the first: bounds are over what is further out.
            let depth = |((var, second), _): &(Counter, i128)| (self.facts.depth(*var), *second);
            let Some(at) = (0..sum.terms.len()).max_by_key(|at| depth(&sum.terms[*at])) else {
                return Some(sum.constant);
            };
            let (counter, by) = sum.terms.swap_remove(at);
            let end = if by > 0 { self.last(counter)? } else { self.first(counter)? };
            sum.plus(&end, by);
            if sum.constant.abs() > 1 << 100 || sum.terms.iter().any(|(_, by)| by.abs() > 1 << 60) {
                return None;
            }
        }
    }

    /// The least value of a variable.
    fn first(&self, (var, second): Counter) -> Option<Sum> {
        let low = Sum { constant: self.facts.range(var)?.low.into(), ..Sum::default() };
        Some(match (second, self.order(var)) {
            (true, Order::Later) => beside(var, 1),
            _ => low,
        })
    }

    /// The greatest value of a variable.
    fn last(&self, (var, second): Counter) -> Option<Sum> {
        if second && self.order(var) == Order::Earlier {
            return Some(beside(var, -1));
        }
        Some(match self.facts.last(var) {
            Some(last) => self.sum(last, second),
            None => Sum { constant: self.facts.range(var)?.high.into(), ..Sum::default() },
        })
    }
}

/// The first view's value of a variable, and so much more.
fn beside(var: VarId, by: i128) -> Sum {
    Sum { constant: by, terms: smallvec![((var, false), 1)] }
}
