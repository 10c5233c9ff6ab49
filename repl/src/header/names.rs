//! The types of a program's entry points as C knows them.
//!
//! A type that the source has a name for has that name in C, as with Futhark; any other one gets a name from its structure.
//!
//! Invariants: names in C are different; a type is in the table after all that it is made of.

use crate::values::{Shape, Type, Types, rank_of};
use galopvm::ElemType;
use std::collections::HashMap;
use std::sync::Arc;

/// Names of types are at most so long.
const LONGEST: usize = 60;

/// A type in C, by its place in the table.
pub type Number = usize;

/// A type in C.
pub struct Named {
    /// Its name after `futhark_`, or that of the scalar.
    pub c: String,
    /// What it consists of.
    pub ty: Arc<Type>,
    /// What can be done with its values.
    pub kind: Kind,
}

/// What can be done with the values of a type.
pub enum Kind {
    /// A number or truth value, which C has itself.
    Scalar(ElemType),
    /// An array of scalars.
    Array(ElemType, u8),
    /// An array of other elements; if these are records, with the array of each field.
    Rows(u8, Number, Vec<(String, Number)>),
    /// A record or tuple.
    Record(Vec<(String, Number)>),
    /// A sum, with what each constructor holds.
    Sum(Vec<Vec<Number>>),
    /// Nothing is known of it.
    Opaque,
}

/// An entry point in C.
pub struct NamedEntry {
    /// Its name in the source.
    pub name: String,
    /// The name of each parameter, whether it is consumed, and its type.
    pub params: Vec<(String, bool, Number)>,
    /// Whether the result is unique, and its type.
    pub output: (bool, Number),
    /// How many results the machine gives for it.
    pub results: usize,
}

/// The types and the entry points of a program.
#[derive(Default)]
pub struct Table {
    /// The types.
    pub types: Vec<Named>,
    /// The entry points, in source order.
    pub entries: Vec<NamedEntry>,
    by_name: HashMap<String, Number>,
}

/// The types and entry points of a program; bytecode has no names of types, its source has.
pub fn table(program: &galopvm::Program, source: Option<&str>) -> Table {
    let mut table = Table::default();
    let types = Types::of(program.module(), source);
    for (entry, machine) in types.entries().iter().zip(program.entries()) {
        let params = entry.params.iter().zip(&machine.params);
        let params =
            params.map(|((consumed, ty), param)| (param.name.clone(), *consumed, table.enter(ty))).collect();
        let unique = matches!(&entry.results[..], [(true, _)]);
        let output = (unique, table.enter(&entry.output));
        let results = machine.results.len();
        table.entries.push(NamedEntry { name: entry.name.clone(), params, output, results });
    }
    table
}

impl Table {
    /// A type by its place.
    pub fn named(&self, number: Number) -> &Named {
        &self.types[number]
    }

    /// The place of a type.
    fn enter(&mut self, ty: &Arc<Type>) -> Number {
        match &ty.shape {
            Shape::Scalar(elem) => self.put(elem.name().into(), ty, Kind::Scalar(*elem)),
            Shape::Array(extents, element) => {
                let rank = rank_of(extents);
                if let Shape::Scalar(elem) = element.shape {
                    return self.put(format!("{}_{rank}d", elem.name()), ty, Kind::Array(elem, rank));
                }
                let inner = self.enter(element);
                let mut fields = Vec::new();
                if let Shape::Record(all) = &element.shape {
                    for (field, ty) in all {
                        fields.push((field.clone(), self.enter(&Type::array(extents, ty))));
                    }
                }
                let structure = format!("arr{rank}d_{}", self.types[inner].word());
                self.put_opaque(structure, ty, Kind::Rows(rank, inner, fields))
            }
            Shape::Record(fields) => {
                let inside: Vec<(String, Number)> =
                    fields.iter().map(|(field, ty)| (field.clone(), self.enter(ty))).collect();
                let is_tuple = inside.iter().enumerate().all(|(k, (field, _))| *field == k.to_string());
                let mut structure = if is_tuple { format!("tup{}", inside.len()) } else { "rec".into() };
                for (field, ty) in &inside {
                    let field = if is_tuple { String::new() } else { format!("_{field}") };
                    structure += &format!("{field}_{}", self.types[*ty].word());
                }
                self.put_opaque(structure, ty, Kind::Record(inside))
            }
            Shape::Sum(constructors, _) => {
                let mut structure = "sum".to_string();
                let mut inside = Vec::new();
                for constructor in constructors {
                    let payload: Vec<Number> = constructor.payload.iter().map(|ty| self.enter(ty)).collect();
                    structure += &format!("_{}", constructor.name);
                    payload.iter().for_each(|ty| structure += &format!("_{}", self.types[*ty].word()));
                    inside.push(payload);
                }
                self.put_opaque(structure, ty, Kind::Sum(inside))
            }
            Shape::Opaque(_) => self.put_opaque(ty.name.clone(), ty, Kind::Opaque),
        }
    }

    /// Puts a type under the name that the source has for it, or else one from its structure.
    fn put_opaque(&mut self, structure: String, ty: &Arc<Type>, kind: Kind) -> Number {
        let name = if ty.is_named { &ty.name } else { &structure };
        self.put(opaque(name), ty, kind)
    }

    /// Puts a type under a name, unless it is there; another type of this name gets a number behind it.
    fn put(&mut self, c: String, ty: &Arc<Type>, kind: Kind) -> Number {
        let mut name = c.clone();
        let mut next = 2;
        while let Some(known) = self.by_name.get(&name) {
            if self.types[*known].ty.name == ty.name {
                return *known;
            }
            name = format!("{c}_{next}");
            next += 1;
        }
        let number = self.types.len();
        self.by_name.insert(name.clone(), number);
        self.types.push(Named { c: name, ty: ty.clone(), kind });
        number
    }
}

impl Named {
    /// The name as part of that of a type that is made of it.
    fn word(&self) -> String {
        match self.kind {
            Kind::Array(elem, rank) => format!("arr{rank}d_{}", elem.name()),
            _ => self.c.strip_prefix("opaque_").unwrap_or(&self.c).into(),
        }
    }
}

/// The name of a type that C does not know; long ones end in a number that stands for the rest.
fn opaque(name: &str) -> String {
    let word = word(name);
    if word.len() <= LONGEST {
        return format!("opaque_{word}");
    }
    let rest = word
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("opaque_{}_{rest:016x}", &word[..LONGEST - 17])
}

/// A name as part of one in C, which has letters, digits and underscores.
pub fn word(name: &str) -> String {
    let letter = |c: char| match c {
        c if c.is_ascii_alphanumeric() || c == '_' => c.to_string(),
        '\'' => "zq".into(),
        ' ' | '.' => "_".into(),
        c => format!("z{:x}", u32::from(c)),
    };
    name.chars().map(letter).collect()
}
