//! Which values a list of patterns leaves unmatched: a pure function from patterns and a type to witnesses.
//!
//! The patterns are the rows of a matrix, the parts still to be looked at its columns. The first column is split by
//! the alternatives its type has; a column in which no row decides anything is passed over. What no row is left for
//! is a witness.
//!
//! Invariants:
//! - A witness is a pattern that matches at least one value and that no row matches.
//! - The work is bounded: past [`MOST_CELLS`] the answer is [`TooIntricate`], never a guess.

use crate::types::Type;
use galopvm_base::ElemType;
use std::borrow::Cow;
use std::fmt;
use std::rc::Rc;

/// How many witnesses are looked for.
pub const MOST_WITNESSES: usize = 8;
/// How many cells of matrices are looked at.
const MOST_CELLS: usize = 4_000_000;

/// A pattern, reduced to what decides about a match.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape<'a> {
    /// A name or `_`.
    Any,
    /// `true` or `false`.
    Bool(bool),
    /// A number: whatever the others are, some value is left.
    Literal,
    /// `#c p q`.
    Constr(&'a str, Vec<Shape<'a>>),
    /// A tuple or record, in any order.
    Fields(Vec<(Cow<'a, str>, Shape<'a>)>),
}

impl Shape<'_> {
    /// Matches every value.
    pub fn irrefutable(&self) -> bool {
        match self {
            Shape::Any => true,
            Shape::Bool(_) | Shape::Literal | Shape::Constr(..) => false,
            Shape::Fields(fields) => fields.iter().all(|(_, shape)| shape.irrefutable()),
        }
    }
}

/// A pattern for values that are left over.
#[derive(Clone, PartialEq, Debug)]
pub enum Witness {
    /// Any value, or some that no row names.
    Any,
    /// A truth value.
    Bool(bool),
    /// A constructor.
    Constr(Rc<str>, Vec<Witness>),
    /// A tuple or record.
    Fields(Vec<(Rc<str>, Witness)>),
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Witness::Any => write!(f, "_"),
            Witness::Bool(value) => write!(f, "{value}"),
            Witness::Constr(name, payload) => {
                write!(f, "#{name}")?;
                payload.iter().try_for_each(|part| match part {
                    Witness::Constr(_, inner) if !inner.is_empty() => write!(f, " ({part})"),
                    _ => write!(f, " {part}"),
                })
            }
            Witness::Fields(fields) => {
                let tuple =
                    fields.len() != 1 && fields.iter().enumerate().all(|(i, (n, _))| **n == *i.to_string());
                write!(f, "{}", if tuple { "(" } else { "{" })?;
                for (i, (name, part)) in fields.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    if tuple { write!(f, "{comma}{part}") } else { write!(f, "{comma}{name} = {part}") }?;
                }
                write!(f, "{}", if tuple { ")" } else { "}" })
            }
        }
    }
}

/// The patterns are too many and too mixed to say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooIntricate;

/// At most [`MOST_WITNESSES`] patterns for values of the type that none of the rows matches.
pub fn unmatched(rows: &[Shape], ty: &Type) -> Result<Vec<Witness>, TooIntricate> {
    if rows.iter().any(Shape::irrefutable) {
        return Ok(Vec::new());
    }
    let matrix = rows.iter().map(|row| vec![row]).collect();
    let mut search = Search { cells: MOST_CELLS };
    let found = search.missing(matrix, &mut vec![ty.clone()])?;
    // Columns are stored last first, and so are witnesses; there is one column here.
    let mut witnesses: Vec<Witness> = Vec::new();
    for witness in found.into_iter().filter_map(|mut columns| columns.pop()) {
        if !witnesses.contains(&witness) {
            witnesses.push(witness);
        }
    }
    Ok(witnesses)
}

static ANY: Shape<'static> = Shape::Any;

struct Search {
    cells: usize,
}

/// Rows with the next column at their end.
type Matrix<'p> = Vec<Vec<&'p Shape<'p>>>;

impl Search {
    /// Witnesses for the columns of the matrix, the next column last.
    fn missing(&mut self, rows: Matrix, types: &mut Vec<Type>) -> Result<Vec<Vec<Witness>>, TooIntricate> {
        if rows.is_empty() {
            return Ok(vec![vec![Witness::Any; types.len()]]);
        }
        self.cells = self.cells.checked_sub(rows.len() * (types.len() + 1)).ok_or(TooIntricate)?;
        let Some(ty) = types.pop() else { return Ok(Vec::new()) };
        let found = self.split(rows, &ty, types);
        types.push(ty);
        found
    }

    /// The last column, of this type, split by its alternatives; `rest` are the types of the others.
    fn split(
        &mut self,
        rows: Matrix,
        ty: &Type,
        rest: &mut Vec<Type>,
    ) -> Result<Vec<Vec<Witness>>, TooIntricate> {
        let decides = |row: &Vec<&Shape>| !matches!(row.last(), None | Some(Shape::Any));
        match ty {
            // Something else is wrong with the program, and a message has been given.
            Type::Error | Type::Var(_) => Ok(Vec::new()),
            Type::Record(fields) if rows.iter().any(decides) => {
                let parts = |shape: &'_ Shape| match shape {
                    Shape::Fields(_) | Shape::Any => true,
                    Shape::Bool(_) | Shape::Literal | Shape::Constr(..) => false,
                };
                let expand = |row: &Vec<_>| {
                    expand(row, parts, &|shape, i| part_named(shape, &fields[i].0), fields.len())
                };
                let inner = rows.iter().filter_map(expand).collect();
                let types = fields.iter().rev().map(|(_, t)| t.clone());
                let found = self.within(inner, types, rest)?;
                let fold = |parts: Vec<Witness>| {
                    Witness::Fields(fields.iter().map(|(n, _)| n.clone()).zip(parts).collect())
                };
                Ok(folded(found, fields.len(), fold))
            }
            Type::Sum(constructors) if rows.iter().any(decides) => {
                let mut all = Vec::new();
                for (name, payload) in constructors.iter() {
                    let is_it = |shape: &'_ Shape| match shape {
                        Shape::Any => true,
                        Shape::Constr(c, args) => **c == **name && args.len() == payload.len(),
                        Shape::Bool(_) | Shape::Literal | Shape::Fields(_) => false,
                    };
                    let expand = |row: &Vec<_>| expand(row, is_it, &argument, payload.len());
                    let inner = rows.iter().filter_map(expand).collect();
                    let types = payload.iter().rev().cloned();
                    let found = self.within(inner, types, rest)?;
                    all.extend(folded(found, payload.len(), |parts| Witness::Constr(name.clone(), parts)));
                    if all.len() >= MOST_WITNESSES {
                        break;
                    }
                }
                all.truncate(MOST_WITNESSES);
                Ok(all)
            }
            Type::Prim(ElemType::Bool) if rows.iter().any(decides) => {
                let mut all = Vec::new();
                for value in [false, true] {
                    let is_it =
                        |shape: &'_ Shape| matches!(shape, Shape::Any) || *shape == Shape::Bool(value);
                    let expand = |row: &Vec<_>| expand(row, is_it, &argument, 0);
                    let found = self.missing(rows.iter().filter_map(expand).collect(), rest)?;
                    all.extend(folded(found, 0, |_| Witness::Bool(value)));
                }
                all.truncate(MOST_WITNESSES);
                Ok(all)
            }
            // Nothing was said about this column, or numbers were: some number is always left, and what holds for it
            // holds for the named ones, whose rows only come on top.
            _ => {
                let pass = |row: &Vec<_>| expand(row, |shape| matches!(shape, Shape::Any), &argument, 0);
                let found = self.missing(rows.iter().filter_map(pass).collect(), rest)?;
                Ok(folded(found, 0, |_| Witness::Any))
            }
        }
    }

    /// Witnesses with the parts of a column as columns of their own.
    fn within(
        &mut self,
        rows: Matrix,
        parts: impl Iterator<Item = Type>,
        rest: &mut Vec<Type>,
    ) -> Result<Vec<Vec<Witness>>, TooIntricate> {
        let outer = rest.len();
        rest.extend(parts);
        let found = self.missing(rows, rest);
        rest.truncate(outer);
        found
    }
}

/// The row with the parts of its last cell in its place, the first part last; none if the cell does not fit.
fn expand<'p>(
    row: &[&'p Shape<'p>],
    fits: impl Fn(&'p Shape<'p>) -> bool,
    part: &dyn Fn(&'p Shape<'p>, usize) -> &'p Shape<'p>,
    parts: usize,
) -> Option<Vec<&'p Shape<'p>>> {
    let (last, before) = row.split_last()?;
    fits(last).then(|| before.iter().copied().chain((0..parts).rev().map(|i| part(last, i))).collect())
}

fn argument<'p>(shape: &'p Shape<'p>, index: usize) -> &'p Shape<'p> {
    match shape {
        Shape::Constr(_, args) => args.get(index).unwrap_or(&ANY),
        _ => &ANY,
    }
}

fn part_named<'p>(shape: &'p Shape<'p>, name: &str) -> &'p Shape<'p> {
    match shape {
        Shape::Fields(fields) => fields.iter().find(|(n, _)| *n == name).map_or(&ANY, |(_, p)| p),
        _ => &ANY,
    }
}

/// The last `parts` witnesses of each list, the first part last, made one.
fn folded(
    found: Vec<Vec<Witness>>,
    parts: usize,
    fold: impl Fn(Vec<Witness>) -> Witness,
) -> Vec<Vec<Witness>> {
    let one = |mut columns: Vec<Witness>| {
        let mut inner = columns.split_off(columns.len() - parts);
        inner.reverse();
        columns.push(fold(inner));
        columns
    };
    found.into_iter().map(one).collect()
}
