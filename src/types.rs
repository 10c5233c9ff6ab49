//! Types of the language as Rust knows them before a program does: what arguments and results of Rust types are, so that
//! an entry point can be checked once and not in each call.
//!
//! Sizes are no part of a type, but for those that a Rust type has itself. The order of fields and constructors is that of
//! their names, as in programs.

use galopvm_base::ElemType;
use std::fmt;

/// A type of the language.
///
/// ```
/// use galopvm::{ElemType, Type};
///
/// let point = Type::read("{x: f32, y: f32}");
/// assert_eq!(point, Type::record(vec![("y".into(), Type::Scalar(ElemType::F32)), ("x".into(), Type::Scalar(ElemType::F32))]));
/// let maybe = Type::sum(vec![("some".into(), vec![point.clone()]), ("none".into(), vec![])]);
/// assert_eq!(maybe.to_string(), "#none | #some {x: f32, y: f32}");
/// // An array of records is an array for each field.
/// let points = Type::array(&[0], point);
/// assert_eq!(points.values(), Some(vec![(ElemType::F32, vec![0]); 2]));
/// ```
#[derive(Clone, PartialEq, Debug)]
pub enum Type {
    /// Not known before the call, as that of a [`Value`](crate::Value).
    Any,
    /// A number or truth value.
    Scalar(ElemType),
    /// Arrays with a dimension for each extent, which is 0 where the Rust type does not say it; the elements are no arrays.
    Array(Vec<i64>, Box<Type>),
    /// Tuples.
    Tuple(Vec<Type>),
    /// Records, by the names of the fields.
    Record(Vec<(String, Type)>),
    /// Sums, by the names of the constructors, with what they hold.
    Sum(Vec<(String, Vec<Type>)>),
}

impl Type {
    /// Arrays of such elements, which may be arrays.
    pub fn array(extents: &[i64], element: Type) -> Type {
        match element {
            Type::Array(inner, element) => Type::Array([extents, &inner].concat(), element),
            element => Type::Array(extents.to_vec(), Box::new(element)),
        }
    }

    /// A record with these fields in any order.
    pub fn record(mut fields: Vec<(String, Type)>) -> Type {
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        Type::Record(fields)
    }

    /// A sum of these constructors in any order.
    pub fn sum(mut constructors: Vec<(String, Vec<Type>)>) -> Type {
        constructors.sort_by(|a, b| a.0.cmp(&b.0));
        Type::Sum(constructors)
    }

    /// The types of the values that one of this type consists of, each with its extents, which are 0 where they are not known; nothing if
    /// the type is not known.
    pub fn values(&self) -> Option<Vec<(ElemType, Vec<i64>)>> {
        let own = |leaf: Leaf| leaf.is_of_elements.then_some((leaf.elem, leaf.extents));
        Some(self.leaves(&[])?.into_iter().filter_map(own).collect())
    }

    /// How many values one of this type consists of; one, where that is not known.
    pub(crate) fn count(&self) -> usize {
        self.count_below(false)
    }

    fn count_below(&self, is_in_array: bool) -> usize {
        match self {
            Type::Any | Type::Scalar(_) => 1,
            Type::Array(_, element) => element.count_below(true),
            Type::Tuple(items) if items.is_empty() => usize::from(is_in_array),
            Type::Tuple(items) => items.iter().map(|ty| ty.count_below(is_in_array)).sum(),
            Type::Record(fields) => fields.iter().map(|(_, ty)| ty.count_below(is_in_array)).sum(),
            Type::Sum(constructors) => Slots::of(constructors).map_or(1, |slots| 1 + slots.all.len()),
        }
    }

    /// The parts of an array of these extents with such elements; nothing if the type is not known.
    pub(crate) fn leaves(&self, above: &[i64]) -> Option<Vec<Leaf>> {
        let mut leaves = Vec::new();
        self.add_leaves(above, above.len(), &mut leaves)?;
        Some(leaves)
    }

    /// Adds the parts of arrays of these extents, of which so many are those of the array around the element that is asked for.
    fn add_leaves(&self, above: &[i64], outer: usize, out: &mut Vec<Leaf>) -> Option<()> {
        let leaf =
            |elem, inner: &[i64]| Leaf { elem, extents: [above, inner].concat(), is_of_elements: true };
        match self {
            Type::Any => return None,
            Type::Scalar(elem) => out.push(leaf(*elem, &[])),
            Type::Array(extents, element) => {
                return element.add_leaves(&[above, extents].concat(), outer, out);
            }
            // An array of empty tuples still has a length.
            Type::Tuple(items) if items.is_empty() && !above.is_empty() => {
                out.push(Leaf { is_of_elements: above.len() > outer, ..leaf(ElemType::Bool, &[]) });
            }
            Type::Tuple(items) => return items.iter().try_for_each(|ty| ty.add_leaves(above, outer, out)),
            Type::Record(fields) => {
                return fields.iter().try_for_each(|(_, ty)| ty.add_leaves(above, outer, out));
            }
            Type::Sum(constructors) => {
                out.push(leaf(ElemType::I8, &[]));
                out.extend(Slots::of(constructors)?.all.iter().map(|(elem, extents)| leaf(*elem, extents)));
            }
        }
        Some(())
    }

    /// Whether the type of a parameter or result, as a program writes it, is this one.
    pub(crate) fn is(&self, written: &str) -> bool {
        self.takes(&Type::read(written))
    }

    /// Whether all values of the other type are of this one.
    fn takes(&self, other: &Type) -> bool {
        let each = |a: &[Type], b: &[Type]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.takes(b));
        match (self, other) {
            (Type::Any, _) => true,
            (Type::Scalar(a), Type::Scalar(b)) => a == b,
            (Type::Array(a, of), Type::Array(b, other)) => a.len() == b.len() && of.takes(other),
            (Type::Tuple(a), Type::Tuple(b)) => each(a, b),
            (Type::Record(a), Type::Record(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && a.1.takes(&b.1))
            }
            (Type::Sum(a), Type::Sum(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && each(&a.1, &b.1))
            }
            _ => false,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Any => f.write_str("_"),
            Type::Scalar(elem) => f.write_str(elem.name()),
            Type::Array(extents, element) => {
                extents.iter().try_for_each(|_| f.write_str("[]"))?;
                match **element {
                    Type::Sum(_) => write!(f, "({element})"),
                    _ => write!(f, "{element}"),
                }
            }
            Type::Tuple(items) => {
                let items: Vec<String> = items.iter().map(Type::to_string).collect();
                write!(f, "({})", items.join(", "))
            }
            Type::Record(fields) => {
                let fields: Vec<String> = fields.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
                write!(f, "{{{}}}", fields.join(", "))
            }
            Type::Sum(constructors) => {
                let constructor = |(name, payload): &(String, Vec<Type>)| {
                    let item = |ty: &Type| match ty {
                        Type::Sum(_) => format!(" ({ty})"),
                        _ => format!(" {ty}"),
                    };
                    format!("#{name}{}", payload.iter().map(item).collect::<String>())
                };
                let constructors: Vec<String> = constructors.iter().map(constructor).collect();
                f.write_str(&constructors.join(" | "))
            }
        }
    }
}

/// A type as a program writes it, without the marks of what is consumed and without sizes.
pub(crate) fn without_sizes(written: &str) -> String {
    let mut text = String::new();
    let mut depth = 0usize;
    for c in written.chars() {
        match c {
            '[' => {
                depth += 1;
                text.push_str(if depth == 1 { "[" } else { "" });
            }
            ']' => {
                depth = depth.saturating_sub(1);
                text.push_str(if depth == 0 { "]" } else { "" });
            }
            '*' => {}
            c if depth == 0 => text.push(c),
            _ => {}
        }
    }
    text
}

/// A part of an array.
pub(crate) struct Leaf {
    /// Its element type.
    pub elem: ElemType,
    /// Its extents, 0 where they are not known.
    pub extents: Vec<i64>,
    /// Whether an element of the array has this part, too.
    pub is_of_elements: bool,
}

/// Where the payloads of a sum's constructors lie. They share places for scalars of one type; arrays have places of their own.
pub(crate) struct Slots {
    /// What each place holds, with the extents of what lies there if it is not in use.
    pub all: Vec<(ElemType, Vec<i64>)>,
    /// The places of each constructor's payload.
    pub of: Vec<Vec<usize>>,
}

impl Slots {
    /// Those of the constructors of a sum, which are in order; nothing if a type is not known.
    pub fn of(constructors: &[(String, Vec<Type>)]) -> Option<Slots> {
        let mut slots = Slots { all: Vec::new(), of: Vec::new() };
        for (_, payload) in constructors {
            let mut own: Vec<usize> = Vec::new();
            for ty in payload {
                for value in ty.values()? {
                    let shared = |k: &usize| value.1.is_empty() && slots.all[*k] == value && !own.contains(k);
                    let slot = (0..slots.all.len()).find(shared).unwrap_or(slots.all.len());
                    if slot == slots.all.len() {
                        slots.all.push(value);
                    }
                    own.push(slot);
                }
            }
            slots.of.push(own);
        }
        Some(slots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_compared_with_what_programs_write() {
        let scalar = Type::Scalar;
        let point =
            Type::record(vec![("y".into(), scalar(ElemType::F64)), ("x".into(), scalar(ElemType::F32))]);
        assert!(point.is("{x: f32, y: f64}") && !point.is("{x: f64, y: f64}") && !point.is("{x: f32}"));
        assert!(Type::array(&[0, 0], point.clone()).is("*[n + f [m]][3]{x: f32, y: f64}"));
        let sum = Type::sum(vec![("a".into(), vec![Type::array(&[0], scalar(ElemType::U8))])]);
        assert!(sum.is("*#a *[n * m]u8"));
        assert!(!Type::array(&[0], point.clone()).is("[][]{x: f32, y: f64}"));
        let sum = Type::sum(vec![
            ("some".into(), vec![point.clone(), Type::sum(vec![("a".into(), vec![])])]),
            ("none".into(), vec![]),
        ]);
        assert_eq!(sum.to_string(), "#none | #some {x: f32, y: f64} (#a)");
        assert!(sum.is("#none | #some {x: f32, y: f64} (#a)"));
        assert!(Type::array(&[0], sum.clone()).is("[3](#none | #some {x: f32, y: f64} (#a))"));
        let pair = Type::Tuple(vec![Type::Any, Type::Tuple(vec![])]);
        assert!(pair.is("([2](i32, bool), ())") && pair.is("(m.t, ())") && !pair.is("(m.t, i32)"));
        assert!(Type::Any.is("#a i32 | #b") && !scalar(ElemType::I32).is("i64"));
    }

    #[test]
    fn constructors_share_places_of_scalars() {
        let of = |types: &[ElemType]| types.iter().copied().map(Type::Scalar).collect::<Vec<_>>();
        let (i, b) = (ElemType::I32, ElemType::Bool);
        let rows = Type::array(&[2], Type::Scalar(i));
        let slots = Slots::of(&[
            ("a".into(), of(&[i, i])),
            ("b".into(), vec![rows.clone(), Type::Scalar(b), Type::Scalar(i)]),
            ("c".into(), vec![rows, Type::Scalar(b)]),
        ]);
        let slots = slots.unwrap();
        assert_eq!(slots.of, [vec![0, 1], vec![2, 3, 0], vec![4, 3]]);
        assert_eq!(slots.all[2], (i, vec![2]));
    }
}
