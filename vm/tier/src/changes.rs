//! Which elements of an array a map changes when it is written over it, as rows to go over.
//!
//! The analysis of reuse gives places, counted row-major. Here they become rows and, in each row, columns: a part of a
//! matrix is a number of rows in equal distances, each with a number of columns in equal distances, which may begin further
//! left or right from row to row (a rectangle, a column, a diagonal). Places that are not of this form are not told.

use galopvm_lmad::{Dim, Lmad, Overlap, Union, disjoint};

/// Parts at most: each one is a pass over its rows.
const MOST_PARTS: usize = 4;

/// Some rows, or columns: the first one, how many there are, and how far they are from each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rows {
    /// The first one.
    pub first: i64,
    /// How many.
    pub count: i64,
    /// How far they are from each other.
    pub step: i64,
}

impl Rows {
    /// All of so many.
    pub fn all(count: i64) -> Rows {
        Rows { first: 0, count, step: 1 }
    }

    /// Whether these are all of so many.
    pub fn is_all(&self, count: i64) -> bool {
        *self == Rows::all(count)
    }

    /// The numbers of the rows.
    pub fn numbers(self) -> impl Iterator<Item = i64> {
        (0..self.count).map(move |k| self.first + k * self.step)
    }
}

/// A part of a vector or matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Its rows.
    pub rows: Rows,
    /// The columns of the first row; nothing in a vector.
    pub columns: Option<Rows>,
    /// By how much they move from one row to the next.
    pub shift: i64,
}

impl Part {
    /// The columns of row number `k` of the part.
    pub fn columns_of(&self, k: i64) -> Option<Rows> {
        self.columns.map(|columns| Rows { first: columns.first + k * self.shift, ..columns })
    }

    fn count(&self) -> i64 {
        self.rows.count * self.columns.map_or(1, |columns| columns.count)
    }
}

/// The elements that a map changes; no element is in two parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Changes(Vec<Part>);

impl Changes {
    /// The places of a set in an array of this shape; nothing if they are all of it, or have another form.
    pub fn of(changed: &Union, shape: &[i64]) -> Option<Changes> {
        let members = changed.members();
        let is_apart = |k: usize| members[..k].iter().all(|m| disjoint(m, &members[k]) == Overlap::Disjoint);
        if members.len() > MOST_PARTS || !(0..members.len()).all(is_apart) {
            return None;
        }
        let parts = members.iter().filter(|member| !member.is_empty());
        let parts: Vec<Part> = parts.map(|member| part(member, shape)).collect::<Option<_>>()?;
        let changes = Changes(parts);
        (changes.count() < Lmad::row_major(shape).elements()).then_some(changes)
    }

    /// These elements of a vector.
    pub fn rows(rows: Rows) -> Changes {
        Changes(vec![Part { rows, columns: None, shift: 0 }])
    }

    /// The number of elements.
    pub fn count(&self) -> i64 {
        self.0.iter().map(Part::count).sum()
    }

    /// The parts.
    pub fn parts(&self) -> &[Part] {
        &self.0
    }
}

fn part(places: &Lmad, shape: &[i64]) -> Option<Part> {
    let mut first = places.offset;
    let mut dims: Vec<Dim> = Vec::new();
    for dim in places.dims.iter().filter(|dim| dim.size > 1) {
        // Upwards.
        first += (dim.size - 1) * dim.stride.min(0);
        dims.push(Dim::new(dim.size, dim.stride.abs()));
    }
    match *shape {
        [_] if dims.len() <= 1 => {
            let (count, step) = dims.first().map_or((1, 1), |dim| (dim.size, dim.stride));
            Some(Part { rows: Rows { first, count, step }, columns: None, shift: 0 })
        }
        [rows, columns] => {
            if let [Dim { size, stride: 1 }] = dims[..]
                && size > columns
                && first % columns == 0
                && size % columns == 0
            {
                dims = vec![Dim::new(size / columns, columns), Dim::new(columns, 1)];
            }
            matrix_part(first, &dims, rows, columns)
        }
        _ => None,
    }
}

/// Steps from place to place, from the first one on, as steps in a matrix of so many rows and columns: of the two ways to read
/// each distance the one that stays in the matrix.
fn matrix_part(first: i64, dims: &[Dim], rows: i64, columns: i64) -> Option<Part> {
    let (row, column) = (first.checked_div(columns)?, first.checked_rem(columns)?);
    let ways = |dim: &Dim| {
        let (down, right) = (dim.stride / columns, dim.stride % columns);
        [(down, right), (down + 1, right - columns)]
    };
    let stays = |steps: &[(i64, i64)]| {
        let moves = || {
            steps.iter().zip(dims).map(|((down, right), dim)| ((dim.size - 1) * down, (dim.size - 1) * right))
        };
        let left: i64 = moves().map(|(_, right)| right.min(0)).sum();
        let right: i64 = moves().map(|(_, right)| right.max(0)).sum();
        let down: i64 = moves().map(|(down, _)| down).sum();
        column + left >= 0 && column + right < columns && row + down < rows
    };
    let candidates: Vec<Vec<(i64, i64)>> = match dims {
        [] => vec![Vec::new()],
        [a] => ways(a).map(|a| vec![a]).to_vec(),
        [a, b] => ways(a).into_iter().flat_map(|a| ways(b).map(|b| vec![a, b])).collect(),
        _ => return None,
    };
    let steps = candidates.into_iter().find(|steps| stays(steps))?;
    let mut part = Part {
        rows: Rows { first: row, count: 1, step: 1 },
        columns: Some(Rows { first: column, count: 1, step: 1 }),
        shift: 0,
    };
    let (mut has_rows, mut has_columns) = (false, false);
    for ((down, right), dim) in steps.into_iter().zip(dims) {
        let columns = part.columns.as_mut()?;
        let known = if down == 0 { &mut has_columns } else { &mut has_rows };
        if std::mem::replace(known, true) {
            return None;
        }
        if down == 0 {
            (columns.count, columns.step) = (dim.size, right);
        } else {
            (part.rows.count, part.rows.step) = (dim.size, down);
            part.shift = right;
        }
    }
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places of the parts, in order.
    fn places(changes: &Changes, columns: i64) -> Vec<i64> {
        let mut places = Vec::new();
        for part in changes.parts() {
            for (k, row) in part.rows.numbers().enumerate() {
                match part.columns_of(k as i64) {
                    Some(inner) => places.extend(inner.numbers().map(|column| row * columns + column)),
                    None => places.push(row),
                }
            }
        }
        places.sort_unstable();
        places
    }

    fn agrees(offset: i64, dims: &[(i64, i64)], shape: &[i64]) {
        let dims = dims.iter().map(|(size, stride)| Dim::new(*size, *stride)).collect();
        let view = Lmad { offset, dims };
        let changes =
            Changes::of(&Union::of([&view]), shape).unwrap_or_else(|| panic!("{view} in {shape:?}"));
        let mut all: Vec<i64> = view.places().collect();
        all.sort_unstable();
        assert_eq!(
            places(&changes, *shape.last().expect("a dimension")),
            all,
            "{view} in {shape:?}: {changes:?}"
        );
    }

    #[test]
    fn rectangles_columns_and_diagonals_become_parts() {
        let shape = [7, 9];
        agrees(11, &[(4, 9), (5, 1)], &shape);
        agrees(13, &[(5, 9)], &shape);
        agrees(4, &[(5, 8)], &shape);
        agrees(0, &[(7, 10)], &shape);
        agrees(62, &[(4, -10)], &shape);
        agrees(18, &[(27, 1)], &shape);
        agrees(2, &[(3, 18), (3, 3)], &shape);
        agrees(5, &[(3, 8), (2, 1)], &shape);
        agrees(40, &[], &shape);
        agrees(3, &[(4, 5)], &[20]);
        agrees(19, &[(4, -5)], &[20]);
    }

    #[test]
    fn other_places_are_not_told() {
        let union = |views: &[Lmad]| Union::of(views);
        let view = |offset, dims: &[(i64, i64)]| Lmad {
            offset,
            dims: dims.iter().map(|(size, stride)| Dim::new(*size, *stride)).collect(),
        };
        // All of it, around a corner, parts that meet, more dimensions.
        assert_eq!(Changes::of(&union(&[view(0, &[(63, 1)])]), &[7, 9]), None);
        assert_eq!(Changes::of(&union(&[view(5, &[(12, 1)])]), &[7, 9]), None);
        assert_eq!(Changes::of(&union(&[view(0, &[(4, 2)]), view(1, &[(3, 3)])]), &[20]), None);
        assert_eq!(Changes::of(&union(&[view(0, &[(4, 1)])]), &[2, 3, 4]), None);
    }
}
