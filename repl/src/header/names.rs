//! The types of a program's entry points as C knows them.
//!
//! The machine's types have structure and no names. What a signature calls a type, and what the definitions of the source call its
//! fields, becomes its name in C, as with Futhark; what has no name in the source gets one from its structure.
//!
//! Invariants: names in C are different; a type is in the table after all that it is made of; a name never changes what a
//! value consists of, which only the type says.

use crate::values::{Shape, Type, Types, rank_of};
use bumpalo::Bump;
use galopvm::ElemType;
use galopvm_base::Sources;
use galopvm_frontend::syntax::ast::{
    DecKind, Pat, PatKind, TypeArg, TypeBind, TypeExp, TypeExpKind, ValBind,
};
use galopvm_frontend::syntax::parse_prog;
use std::collections::HashMap;
use std::sync::Arc;

/// Names of types from their structure are at most so long, and definitions stand for others at most so often.
const LONGEST: usize = 60;
const DEEPEST: usize = 100;

/// A type in C, by its place in the table.
pub type Number = usize;

/// A type in C.
pub struct Named {
    /// Its name after `futhark_`, or that of the scalar.
    pub c: String,
    /// What the source calls it.
    pub source: String,
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

/// The signatures and definitions of a source text.
struct Written<'a> {
    types: HashMap<&'a str, &'a TypeBind<'a>>,
    entries: HashMap<&'a str, &'a ValBind<'a>>,
}

/// Entry points with the names of their parameters and attributes; bytecode has no text.
pub fn table(program: &galopvm::Program, text: Option<&str>) -> Table {
    let arena = Bump::new();
    let mut written = Written { types: HashMap::new(), entries: HashMap::new() };
    if let Some(text) = text {
        let mut sources = Sources::new();
        let file = sources.add("a program", text);
        for dec in parse_prog(&arena, file, text, 0).tree.decs {
            match dec.kind {
                DecKind::Type(bind) => _ = written.types.insert(bind.name.text, bind),
                DecKind::Val(bind) => _ = written.entries.insert(bind.name.text, bind),
                _ => {}
            }
        }
    }
    let mut table = Table::default();
    for (entry, machine) in Types::of(program.module()).entries().iter().zip(program.entries()) {
        let bind = written.entries.get(entry.name.as_str()).copied();
        let params =
            entry.params.iter().zip(&machine.params).enumerate().map(|(k, ((consumed, ty), param))| {
                let said = bind.and_then(|bind| bind.params.get(k)).and_then(type_of);
                (param.name.clone(), *consumed, table.enter(ty, said, &written))
            });
        let params = params.collect();
        let unique = matches!(&entry.results[..], [(true, _)]);
        let output = (unique, table.enter(&entry.output, bind.and_then(|bind| bind.result), &written));
        table.entries.push(NamedEntry {
            name: entry.name.clone(),
            params,
            output,
            results: entry.results.len(),
        });
    }
    table
}

/// What a pattern says of its type.
fn type_of<'a>(pattern: &Pat<'a>) -> Option<&'a TypeExp<'a>> {
    match pattern.kind {
        PatKind::Ascript(_, ty) => Some(ty),
        PatKind::Parens(inner) | PatKind::Attr(_, inner) => type_of(inner),
        _ => None,
    }
}

/// A type expression without what says nothing of its structure.
fn bare<'a>(mut exp: &'a TypeExp<'a>) -> &'a TypeExp<'a> {
    while let TypeExpKind::Parens(inner) | TypeExpKind::Unique(inner) | TypeExpKind::Exists(_, inner) =
        exp.kind
    {
        exp = inner;
    }
    exp
}

impl<'a> Written<'a> {
    /// What a name without arguments stands for.
    fn definition(&self, exp: &TypeExp<'a>) -> Option<&'a TypeExp<'a>> {
        let TypeExpKind::Var(name) = exp.kind else { return None };
        let [name] = name.parts else { return None };
        let bind = self.types.get(name.text).filter(|bind| bind.params.is_empty());
        bind.map(|bind| bare(bind.def))
    }

    /// The structure that an expression says, if it says one.
    fn structure(&self, exp: &'a TypeExp<'a>) -> &'a TypeExp<'a> {
        let mut exp = bare(exp);
        for _ in 0..DEEPEST {
            let Some(definition) = self.definition(exp) else { break };
            exp = definition;
        }
        exp
    }

    /// The elements of arrays of so many dimensions.
    fn element(&self, exp: &'a TypeExp<'a>, rank: u8) -> Option<&'a TypeExp<'a>> {
        let mut exp = bare(exp);
        for _ in 0..rank {
            let TypeExpKind::Array(_, element) = self.structure(exp).kind else { return None };
            exp = bare(element);
        }
        Some(exp)
    }
}

/// The name that an expression is, with its arguments but for sizes.
fn name_of(exp: &TypeExp<'_>) -> Option<String> {
    match bare(exp).kind {
        TypeExpKind::Var(name) => Some(name.parts.iter().map(|part| part.text).collect::<Vec<_>>().join(".")),
        TypeExpKind::Apply(head, TypeArg::Size(_)) => name_of(head),
        TypeExpKind::Apply(head, TypeArg::Type(argument)) => {
            Some(format!("{} {}", name_of(head)?, name_of(argument)?))
        }
        _ => None,
    }
}

impl Table {
    /// A type by its place.
    pub fn named(&self, number: Number) -> &Named {
        &self.types[number]
    }

    /// The place of a type that the source writes so, if it is known how.
    fn enter<'a>(&mut self, ty: &Arc<Type>, said: Option<&'a TypeExp<'a>>, written: &Written<'a>) -> Number {
        let name = said.and_then(name_of);
        let structure = said.map(|exp| written.structure(exp).kind);
        match &ty.shape {
            Shape::Scalar(elem) => self.put(elem.name().into(), ty.name.clone(), ty, Kind::Scalar(*elem)),
            Shape::Array(extents, _) => {
                let said = said.and_then(|exp| written.element(exp, rank_of(extents)));
                self.enter_array(ty, name, said, written)
            }
            Shape::Record(fields) => {
                let field = |(k, (field, ty)): (usize, &(String, Arc<Type>))| {
                    let said = structure.and_then(|structure| field_of(structure, k, field));
                    (field.clone(), self.enter(ty, said, written))
                };
                let inside: Vec<(String, Number)> = fields.iter().enumerate().map(field).collect();
                let is_tuple = inside.iter().enumerate().all(|(k, (field, _))| *field == k.to_string());
                let word = |(field, ty): &(String, Number)| match is_tuple {
                    true => format!("_{}", self.types[*ty].structural()),
                    false => format!("_{field}_{}", self.types[*ty].structural()),
                };
                let head = if is_tuple { format!("tup{}", inside.len()) } else { "rec".into() };
                let structural = head + &inside.iter().map(word).collect::<String>();
                let text = |(field, ty): &(String, Number)| match is_tuple {
                    true => self.types[*ty].source.clone(),
                    false => format!("{field}: {}", self.types[*ty].source),
                };
                let source = inside.iter().map(text).collect::<Vec<_>>().join(", ");
                let source = if is_tuple { format!("({source})") } else { format!("{{{source}}}") };
                self.put_said(name, structural, source, ty, Kind::Record(inside))
            }
            Shape::Sum(constructors, _) => {
                let mut structural = "sum".to_string();
                let mut source = Vec::new();
                let mut inside = Vec::new();
                for constructor in constructors {
                    let said = match structure {
                        Some(TypeExpKind::Sum(all)) => {
                            all.iter().find(|said| said.0.text == constructor.name).map(|said| said.1)
                        }
                        _ => None,
                    };
                    let said = said.filter(|payload| payload.len() == constructor.payload.len());
                    let item = |(k, ty)| self.enter(ty, said.map(|payload| &payload[k]), written);
                    let payload: Vec<Number> = constructor.payload.iter().enumerate().map(item).collect();
                    structural += &format!("_{}", constructor.name);
                    let mut text = format!("#{}", constructor.name);
                    for ty in &payload {
                        let item = &self.types[*ty];
                        structural += &format!("_{}", item.structural());
                        text += &match item.source.contains(" | ") {
                            true => format!(" ({})", item.source),
                            false => format!(" {}", item.source),
                        };
                    }
                    source.push(text);
                    inside.push(payload);
                }
                self.put_said(name, structural, source.join(" | "), ty, Kind::Sum(inside))
            }
            Shape::Opaque(_) => self.put_said(name, ty.name.clone(), ty.name.clone(), ty, Kind::Opaque),
        }
    }

    /// The place of an array type, of whose elements the source says so much.
    fn enter_array<'a>(
        &mut self,
        ty: &Arc<Type>,
        name: Option<String>,
        said: Option<&'a TypeExp<'a>>,
        written: &Written<'a>,
    ) -> Number {
        let Shape::Array(extents, element) = &ty.shape else { return self.enter(ty, said, written) };
        let rank = rank_of(extents);
        if let Shape::Scalar(elem) = element.shape {
            let kind = Kind::Array(elem, rank);
            return self.put(format!("{}_{rank}d", elem.name()), ty.name.clone(), ty, kind);
        }
        let inner = self.enter(element, said, written);
        let mut fields = Vec::new();
        if let Shape::Record(all) = &element.shape {
            for (k, (field, ty)) in all.iter().enumerate() {
                let said = said.and_then(|exp| field_of(written.structure(exp).kind, k, field));
                let said = match &ty.shape {
                    Shape::Array(extents, _) => said.and_then(|exp| written.element(exp, rank_of(extents))),
                    _ => said,
                };
                let rows = self.enter_array(&Type::array(extents, ty), None, said, written);
                fields.push((field.clone(), rows));
            }
        }
        let (c, source) = match name {
            Some(name) => (name.clone(), name),
            None => {
                let inner = &self.types[inner];
                let brackets = "[]".repeat(rank.into());
                let source = match inner.source.starts_with('#') {
                    true => format!("{brackets}({})", inner.source),
                    false => format!("{brackets}{}", inner.source),
                };
                (format!("arr{rank}d_{}", inner.structural()), source)
            }
        };
        self.put(opaque(&c), source, ty, Kind::Rows(rank, inner, fields))
    }

    /// Puts a type under the name that the source has for it, or else one from its structure.
    fn put_said(
        &mut self,
        name: Option<String>,
        structural: String,
        source: String,
        ty: &Arc<Type>,
        kind: Kind,
    ) -> Number {
        match name {
            Some(name) => self.put(opaque(&name), name, ty, kind),
            None => self.put(opaque(&structural), source, ty, kind),
        }
    }

    /// Puts a type under a name, unless it is there; another type of this name gets a number behind it.
    fn put(&mut self, c: String, source: String, ty: &Arc<Type>, kind: Kind) -> Number {
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
        let source = if next == 2 { source } else { format!("{source} {}", next - 1) };
        self.types.push(Named { c: name, source, ty: ty.clone(), kind });
        number
    }
}

/// What an expression says of a field.
fn field_of<'a>(structure: TypeExpKind<'a>, number: usize, name: &str) -> Option<&'a TypeExp<'a>> {
    match structure {
        TypeExpKind::Record(fields) => fields.iter().find(|field| field.0.text == name).map(|field| &field.1),
        TypeExpKind::Tuple(items) => items.get(number),
        _ => None,
    }
}

impl Named {
    /// The name as part of that of a type that is made of it.
    fn structural(&self) -> String {
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
