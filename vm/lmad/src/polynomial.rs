//! Polynomials over numbered parameters, with what can be said of their signs.

use std::collections::{BTreeMap, BTreeSet};

/// A sum of products of parameters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Polynomial {
    /// The parameters of each product in order, and how often it is taken; never 0 times.
    terms: BTreeMap<Vec<usize>, i64>,
}

impl Polynomial {
    /// A number.
    pub fn number(value: i64) -> Polynomial {
        let terms = if value == 0 { BTreeMap::new() } else { BTreeMap::from([(Vec::new(), value)]) };
        Polynomial { terms }
    }

    /// A parameter.
    pub fn parameter(number: usize) -> Polynomial {
        Polynomial { terms: BTreeMap::from([(vec![number], 1)]) }
    }

    /// The sum with a multiple of another one; coefficients saturate.
    pub fn plus(&self, other: &Polynomial, times: i64) -> Polynomial {
        let mut terms = self.terms.clone();
        for (product, count) in &other.terms {
            let sum = terms.entry(product.clone()).or_insert(0);
            *sum = sum.saturating_add(count.saturating_mul(times));
        }
        terms.retain(|_, count| *count != 0);
        Polynomial { terms }
    }

    /// The product.
    pub fn times(&self, other: &Polynomial) -> Polynomial {
        let mut all = Polynomial::default();
        for (a, x) in &self.terms {
            for (b, y) in &other.terms {
                let mut product = [a.as_slice(), b].concat();
                product.sort_unstable();
                let term = Polynomial { terms: BTreeMap::from([(product, x.saturating_mul(*y))]) };
                all = all.plus(&term, 1);
            }
        }
        all
    }

    /// The single products it is a sum of.
    pub fn summands(&self) -> impl Iterator<Item = Polynomial> {
        self.terms
            .iter()
            .map(|(product, count)| Polynomial { terms: BTreeMap::from([(product.clone(), *count)]) })
    }

    /// How often each product is taken.
    pub fn coefficients(&self) -> impl Iterator<Item = i64> {
        self.terms.values().copied()
    }

    /// The same with other numbers of its parameters.
    pub fn renamed(&self, number: &dyn Fn(usize) -> usize) -> Polynomial {
        let mut terms = BTreeMap::new();
        for (product, count) in &self.terms {
            let mut product: Vec<usize> = product.iter().map(|parameter| number(*parameter)).collect();
            product.sort_unstable();
            let sum = terms.entry(product).or_insert(0i64);
            *sum = sum.saturating_add(*count);
        }
        terms.retain(|_, count| *count != 0);
        Polynomial { terms }
    }

    /// Whether the coefficient of a single product is negative.
    pub fn is_negative_product(&self) -> bool {
        self.terms.len() == 1 && self.terms.values().all(|count| *count < 0)
    }

    /// The parameters in it, each once, in order.
    pub fn parameters(&self) -> BTreeSet<usize> {
        self.terms.keys().flatten().copied().collect()
    }

    /// The number of parameters in the longest product.
    pub fn degree(&self) -> usize {
        self.terms.keys().map(Vec::len).max().unwrap_or(0)
    }

    /// The quotient of a single product by another, if there is one.
    pub fn divided(&self, by: &Polynomial) -> Option<Polynomial> {
        let ([(product, count)], [(divisor, by)]) = (&self.entries()[..], &by.entries()[..]) else {
            return None;
        };
        let mut rest = (*product).clone();
        for parameter in divisor.iter() {
            let at = rest.iter().position(|other| other == parameter)?;
            rest.remove(at);
        }
        (*by != 0 && *count % *by == 0).then(|| Polynomial { terms: BTreeMap::from([(rest, count / by)]) })
    }

    fn entries(&self) -> Vec<(&Vec<usize>, i64)> {
        self.terms.iter().map(|(product, count)| (product, *count)).collect()
    }

    /// Whether it is 0 or more whenever all parameters are, and those in `positive` are 1 or more. `false` says
    /// nothing.
    pub fn is_not_negative(&self, positive: &[usize]) -> bool {
        // A parameter of 1 or more is 1 plus one of 0 or more.
        let mut shifted = self.clone();
        for parameter in positive {
            let mut all = Polynomial::default();
            for (product, count) in &shifted.terms {
                let mut term = Polynomial::number(*count);
                for factor in product {
                    let mut factor_or_more = Polynomial::parameter(*factor);
                    if factor == parameter {
                        factor_or_more = factor_or_more.plus(&Polynomial::number(1), 1);
                    }
                    term = term.times(&factor_or_more);
                }
                all = all.plus(&term, 1);
            }
            shifted = all;
        }
        shifted.terms.values().all(|count| *count >= 0)
    }

    /// The value for numbers in place of parameters; nothing if one is missing or on overflow.
    pub fn value(&self, numbers: &[i64]) -> Option<i64> {
        self.terms.iter().try_fold(0i64, |sum, (product, count)| {
            let value = product.iter().try_fold(*count, |value, at| value.checked_mul(*numbers.get(*at)?))?;
            sum.checked_add(value)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_and_signs() {
        let (n, w) = (Polynomial::parameter(0), Polynomial::parameter(1));
        let one = Polynomial::number(1);
        let p = n.plus(&w, -2).plus(&one, 3);
        assert_eq!(p.value(&[10, 4]), Some(5));
        assert_eq!(p.value(&[10]), None);
        assert_eq!(p.plus(&p, -1), Polynomial::default());
        assert_eq!(n.times(&w).plus(&n, 1), n.times(&w.plus(&one, 1)));
        assert_eq!(n.times(&w).plus(&one, 1).parameters().into_iter().collect::<Vec<_>>(), [0, 1]);
        let below = w.plus(&one, -1);
        assert!(!below.is_not_negative(&[]) && below.is_not_negative(&[1]));
        assert_eq!(n.times(&w).divided(&w), Some(n.clone()));
        assert_eq!(n.divided(&w), None);
    }
}
