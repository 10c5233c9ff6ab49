//! Guards: comparisons of parameters under which two views over these parameters have no place in common, by the
//! spread condition (see `spread.rs`). Code compiled for one set of numbers asks them about the next.
//!
//! Parameters are 0 or more, and those that are sizes 1 or more (a view without indices needs no guard).

use crate::polynomial::Polynomial;
use crate::view::{Dim, Lmad};

/// A view over parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parametric {
    /// Place of the element whose indices are all 0.
    pub offset: Polynomial,
    /// Size and stride of each axis; strides are positive.
    pub dims: Vec<(Polynomial, Polynomial)>,
}

impl Parametric {
    /// The view for numbers in place of parameters.
    pub fn lmad(&self, numbers: &[i64]) -> Option<Lmad> {
        let dim = |(size, stride): &(Polynomial, Polynomial)| {
            Some(Dim::new(size.value(numbers)?.max(0), stride.value(numbers)?))
        };
        let dims = self.dims.iter().map(dim).collect::<Option<Vec<_>>>()?;
        Some(Lmad::new(self.offset.value(numbers)?, dims))
    }
}

/// Comparisons, one of which must hold: each polynomial is 0 or more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Guard {
    /// One of them is 0 or more.
    pub alternatives: Vec<Polynomial>,
}

impl Guard {
    /// Whether it holds for numbers in place of the parameters.
    pub fn holds(&self, numbers: &[i64]) -> bool {
        self.alternatives.iter().any(|p| p.value(numbers).is_some_and(|value| value >= 0))
    }
}

impl Guard {
    /// The guard in text, `r0 + h <= r1 || r1 + k <= r0`.
    pub fn text(&self, names: &[&str]) -> String {
        let comparison = |p: &Polynomial| {
            let (plus, minus) = p.sides();
            format!("{} <= {}", minus.text(names), plus.text(names))
        };
        self.alternatives.iter().map(comparison).collect::<Vec<_>>().join(" || ")
    }
}

/// An interval over parameters.
type Interval = (Polynomial, Polynomial);

/// Guards that together make two views disjoint; nothing if the condition cannot be put into comparisons.
/// `positive` are the parameters that are 1 or more.
pub fn disjoint_guards(a: &Parametric, b: &Parametric, positive: &[usize]) -> Option<Vec<Guard>> {
    let mut strides: Vec<Polynomial> = vec![Polynomial::number(1)];
    for (_, stride) in a.dims.iter().chain(&b.dims) {
        if !strides.contains(stride) {
            strides.push(stride.clone());
        }
    }
    strides.sort_by_key(Polynomial::degree);
    let mut left = intervals(a, &strides);
    let mut right = intervals(b, &strides);
    for term in a.offset.plus(&b.offset, -1).summands() {
        let (side, term) = if term.is_negative_product() {
            (&mut right, Polynomial::default().plus(&term, -1))
        } else {
            (&mut left, term)
        };
        move_on(side, &term, &strides);
    }
    let one = Polynomial::number(1);
    let mut guards: Vec<Guard> = Vec::new();
    let (mut most_left, mut most_right) = (Polynomial::default(), Polynomial::default());
    for (k, stride) in strides.iter().enumerate() {
        for most in [&most_left, &most_right] {
            // The stride is greater than what is below it.
            let condition = stride.plus(most, -1).plus(&one, -1);
            if k > 0 && !condition.is_not_negative(positive) && !implied(&condition, &guards, positive) {
                guards.push(Guard { alternatives: vec![condition] });
            }
        }
        let (l, r) = (&left[k], &right[k]);
        most_left = most_left.plus(&stride.times(&l.1.plus(&r.0, -1)), 1);
        most_right = most_right.plus(&stride.times(&r.1.plus(&l.0, -1)), 1);
    }
    let mut alternatives = Vec::new();
    for (l, r) in left.iter().zip(&right).rev() {
        for apart in [r.0.plus(&l.1, -1).plus(&one, -1), l.0.plus(&r.1, -1).plus(&one, -1)] {
            if apart.is_not_negative(positive) {
                // These intervals never have anything in common.
                return Some(guards);
            }
            let never = Polynomial::default().plus(&apart, -1).plus(&one, -1);
            if !never.is_not_negative(positive) && !implied(&never, &guards, positive) {
                alternatives.push(apart);
            }
        }
    }
    if alternatives.is_empty() {
        return None;
    }
    guards.push(Guard { alternatives });
    Some(guards)
}

fn intervals(view: &Parametric, strides: &[Polynomial]) -> Vec<Interval> {
    strides
        .iter()
        .map(|stride| {
            let sizes = view.dims.iter().filter(|(_, other)| other == stride);
            let last = sizes.fold(Polynomial::default(), |sum, (size, _)| {
                sum.plus(size, 1).plus(&Polynomial::number(1), -1)
            });
            (Polynomial::default(), last)
        })
        .collect()
}

/// Moves a side on by a product of parameters, in the greatest stride that divides it.
fn move_on(side: &mut [Interval], term: &Polynomial, strides: &[Polynomial]) {
    for (interval, stride) in side.iter_mut().zip(strides).rev() {
        if let Some(count) = term.divided(stride) {
            interval.0 = interval.0.plus(&count, 1);
            interval.1 = interval.1.plus(&count, 1);
            return;
        }
    }
}

/// Whether a polynomial is 0 or more because that of one guard is.
fn implied(p: &Polynomial, guards: &[Guard], positive: &[usize]) -> bool {
    guards.iter().any(|guard| match &guard.alternatives[..] {
        [known] => p.plus(known, -1).is_not_negative(positive),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Overlap, disjoint};

    const NAMES: [&str; 7] = ["r0", "h", "c0", "w", "r1", "k", "n"];

    /// Sums of products of names and numbers, without parentheses.
    fn polynomial(text: &str) -> Polynomial {
        text.split('+').fold(Polynomial::default(), |sum, term| {
            let product = term.split('*').fold(Polynomial::number(1), |product, factor| {
                let known = NAMES.iter().position(|name| *name == factor);
                let number = || Polynomial::number(factor.parse().unwrap());
                product.times(&known.map_or_else(number, Polynomial::parameter))
            });
            sum.plus(&product, 1)
        })
    }

    fn view(offset: &str, dims: &[(&str, &str)]) -> Parametric {
        let dims = dims.iter().map(|(size, stride)| (polynomial(size), polynomial(stride))).collect();
        Parametric { offset: polynomial(offset), dims }
    }

    #[test]
    fn a_tile_and_a_band_of_rows() {
        let tile = view("r0*n+c0", &[("h", "n"), ("w", "1")]);
        let band = view("r1*n", &[("k", "n"), ("n", "1")]);
        let sizes = [1, 3, 5, 6];
        let guards = disjoint_guards(&tile, &band, &sizes).unwrap();
        let text: Vec<String> = guards.iter().map(|guard| guard.text(&NAMES)).collect();
        assert_eq!(text.join(" ; "), "c0 + w <= n ; r0 + h <= r1 || r1 + k <= r0");
        // Whenever the guards hold, the sets are disjoint; and often they do.
        let mut held = 0;
        for code in 0..4i64.pow(7) {
            let mut numbers: Vec<i64> = (0..7).map(|k| code / 4i64.pow(k) % 4).collect();
            sizes.iter().for_each(|size| numbers[*size] += 1);
            if guards.iter().all(|guard| guard.holds(&numbers)) {
                let (a, b) = (tile.lmad(&numbers).unwrap(), band.lmad(&numbers).unwrap());
                assert_eq!(disjoint(&a, &b), Overlap::Disjoint, "{a} # {b}");
                held += 1;
            }
        }
        assert!(held > 500, "{held}");
    }

    #[test]
    fn rows_of_different_iterations_need_no_guard() {
        let row = view("r0*n", &[("n", "1")]);
        let next = view("r0*n+n", &[("n", "1")]);
        assert_eq!(disjoint_guards(&row, &next, &[6]), Some(Vec::new()));
        assert_eq!(disjoint_guards(&row, &row, &[6]), None);
    }
}
