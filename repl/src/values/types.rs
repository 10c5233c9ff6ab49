//! The types that the entry points of a program mention.
//!
//! Bytecode has the text of each type and the number of values that it consists of. The text is read again here. What it
//! does not tell, as a type that a module hides, is opaque; and so is whatever would not have just these values.
//!
//! Invariant: `Type::parts` of a type of an entry point are the types of the machine's values there.

use super::declared::Declared;
use bumpalo::Bump;
use galopvm::{ElemType, Entry, ValueType};
use galopvm_base::Sources;
use galopvm_bytecode::{EntryValue, Module, VerifiedModule};
use galopvm_frontend::syntax::ast::{ExpKind, Number, SizeExp, TypeArg, TypeExp, TypeExpKind};
use galopvm_frontend::syntax::parse_scheme;
use std::collections::HashMap;
use std::sync::Arc;

/// Types that nest deeper are opaque.
const DEEPEST: usize = 100;

/// A type by its name.
#[derive(PartialEq, Debug)]
pub struct Type {
    /// In the notation of the language, without sizes; or what the source calls it.
    pub name: String,
    /// Whether that is what the source calls it.
    pub is_named: bool,
    /// What its values are.
    pub shape: Shape,
}

/// What the values of a type are.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    /// Numbers and truth values.
    Scalar(ElemType),
    /// Arrays with a dimension for each extent, which is 0 where the type does not say it; the elements are no arrays.
    Array(Vec<i64>, Arc<Type>),
    /// Named fields; those of tuples are named by numbers from 0.
    Record(Vec<(String, Arc<Type>)>),
    /// One of several constructors, and the slots in which their payloads lie.
    Sum(Vec<Constructor>, Vec<Slot>),
    /// Values of these types, of which nothing else is known.
    Opaque(Vec<ValueType>),
}

/// A place for a part of a payload.
#[derive(Clone, PartialEq, Debug)]
pub struct Slot {
    /// The type of what lies there.
    pub ty: ValueType,
    /// What lies there if the constructor has no use for it: an array of these extents.
    pub extents: Vec<i64>,
}

/// A constructor of a sum.
#[derive(Clone, PartialEq, Debug)]
pub struct Constructor {
    /// Its name, without the mark.
    pub name: String,
    /// What it holds.
    pub payload: Vec<Arc<Type>>,
    /// The slot of each part of the payload.
    pub slots: Vec<usize>,
}

impl Type {
    /// The types of the values that a value of this type consists of.
    pub fn parts(&self) -> Vec<ValueType> {
        let mut parts = Vec::new();
        self.add_parts(0, &mut parts);
        parts
    }

    /// Those of an array of so many dimensions with such elements.
    fn add_parts(&self, above: u8, out: &mut Vec<ValueType>) {
        let raised = |ty: &ValueType| ValueType { rank: ty.rank.saturating_add(above), ..*ty };
        match &self.shape {
            Shape::Scalar(elem) => out.push(ValueType { elem: *elem, rank: above }),
            Shape::Array(extents, element) => {
                element.add_parts(above.saturating_add(rank_of(extents)), out);
            }
            // An array of empty tuples still has a length.
            Shape::Record(fields) if fields.is_empty() && above > 0 => {
                out.push(ValueType { elem: ElemType::Bool, rank: above });
            }
            Shape::Record(fields) => fields.iter().for_each(|(_, ty)| ty.add_parts(above, out)),
            Shape::Sum(_, slots) => {
                out.push(ValueType { elem: ElemType::I8, rank: above });
                out.extend(slots.iter().map(|slot| raised(&slot.ty)));
            }
            Shape::Opaque(parts) => out.extend(parts.iter().map(raised)),
        }
    }

    /// Whether values of the other type are values of this one, whatever the two are called.
    pub fn takes(&self, other: &Type) -> bool {
        match (&self.shape, &other.shape) {
            (Shape::Scalar(a), Shape::Scalar(b)) => a == b,
            (Shape::Array(a, of), Shape::Array(b, other)) => a.len() == b.len() && of.takes(other),
            (Shape::Record(a), Shape::Record(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && a.1.takes(&b.1))
            }
            (Shape::Sum(a, _), Shape::Sum(b, _)) => {
                let same = |(a, b): (&Constructor, &Constructor)| {
                    a.name == b.name
                        && a.payload.len() == b.payload.len()
                        && a.payload.iter().zip(&b.payload).all(|(a, b)| a.takes(b))
                };
                a.len() == b.len() && a.iter().zip(b).all(same)
            }
            // What is hidden is only what it is called.
            (Shape::Opaque(a), Shape::Opaque(b)) => self.name == other.name && a == b,
            _ => false,
        }
    }

    /// The word of the protocol for what the type is.
    pub fn kind(&self) -> &'static str {
        match self.shape {
            Shape::Scalar(_) => "primitive",
            Shape::Array(..) => "array",
            Shape::Record(_) => "record",
            Shape::Sum(..) => "sum",
            Shape::Opaque(_) => "opaque",
        }
    }

    /// A scalar type.
    pub fn scalar(elem: ElemType) -> Arc<Type> {
        Type::unnamed(elem.name().into(), Shape::Scalar(elem))
    }

    /// The type of arrays with more dimensions.
    pub fn array(extents: &[i64], element: &Arc<Type>) -> Arc<Type> {
        if extents.is_empty() {
            return element.clone();
        }
        if let Shape::Array(inner, element) = &element.shape {
            return Type::array(&[extents, inner].concat(), element);
        }
        let brackets = "[]".repeat(extents.len());
        let name = match element.shape {
            Shape::Sum(..) if !element.is_named => format!("{brackets}({})", element.name),
            _ => format!("{brackets}{}", element.name),
        };
        Type::unnamed(name, Shape::Array(extents.to_vec(), element.clone()))
    }

    /// A type that is called by its structure.
    fn unnamed(name: String, shape: Shape) -> Arc<Type> {
        Arc::new(Type { name, is_named: false, shape })
    }

    /// A record; a tuple if the fields are numbered.
    pub(super) fn record(fields: Vec<(String, Arc<Type>)>) -> Arc<Type> {
        let tuple = fields.iter().enumerate().all(|(k, (name, _))| *name == k.to_string());
        let items: Vec<String> = (fields.iter())
            .map(|(name, ty)| if tuple { ty.name.clone() } else { format!("{name}: {}", ty.name) })
            .collect();
        let items = items.join(", ");
        let name = if tuple { format!("({items})") } else { format!("{{{items}}}") };
        Type::unnamed(name, Shape::Record(fields))
    }

    /// What parts are where they are not in use: an array of these extents for each.
    pub(super) fn part_extents(&self, above: &[i64], out: &mut Vec<Vec<i64>>) {
        match &self.shape {
            Shape::Array(extents, element) => element.part_extents(&[above, extents].concat(), out),
            Shape::Record(fields) if !fields.is_empty() => {
                fields.iter().for_each(|(_, ty)| ty.part_extents(above, out));
            }
            Shape::Sum(_, slots) => {
                out.push(above.to_vec());
                out.extend(slots.iter().map(|slot| [above, &slot.extents].concat()));
            }
            Shape::Opaque(parts) => {
                out.extend(parts.iter().map(|ty| [above, &vec![0; ty.rank.into()]].concat()));
            }
            Shape::Record(_) if above.is_empty() => {}
            Shape::Scalar(_) | Shape::Record(_) => out.push(above.to_vec()),
        }
    }

    /// A sum. Constructors share slots where they hold scalars of one type; arrays have slots of their own.
    fn sum(constructors: Vec<(String, Vec<Arc<Type>>)>) -> Arc<Type> {
        let mut slots: Vec<Slot> = Vec::new();
        let mut all = Vec::new();
        for (name, payload) in constructors {
            let mut own: Vec<usize> = Vec::new();
            let mut extents = Vec::new();
            payload.iter().for_each(|ty| ty.part_extents(&[], &mut extents));
            for (ty, extents) in payload.iter().flat_map(|ty| ty.parts()).zip(extents) {
                let shared = |k: &usize| ty.is_scalar() && slots[*k].ty == ty && !own.contains(k);
                let slot = (0..slots.len()).find(shared).unwrap_or(slots.len());
                if slot == slots.len() {
                    slots.push(Slot { ty, extents });
                }
                own.push(slot);
            }
            all.push(Constructor { name, payload, slots: own });
        }
        Type::of_constructors(all, slots)
    }

    /// A sum of these constructors, whose payloads lie in these slots.
    pub(super) fn of_constructors(constructors: Vec<Constructor>, slots: Vec<Slot>) -> Arc<Type> {
        let argument = |ty: &Arc<Type>| match ty.shape {
            Shape::Sum(..) if !ty.is_named => format!(" ({})", ty.name),
            _ => format!(" {}", ty.name),
        };
        let text = |constructor: &Constructor| {
            let payload: String = constructor.payload.iter().map(argument).collect();
            format!("#{}{payload}", constructor.name)
        };
        let names: Vec<String> = constructors.iter().map(text).collect();
        Type::unnamed(names.join(" | "), Shape::Sum(constructors, slots))
    }
}

/// The types of one entry point.
pub struct EntryTypes {
    /// Its name.
    pub name: String,
    /// Each parameter: whether it is consumed, and its type.
    pub params: Vec<(bool, Arc<Type>)>,
    /// Each component of the result: whether it is known to be unique, and its type.
    pub results: Vec<(bool, Arc<Type>)>,
    /// The result as one value.
    pub output: Arc<Type>,
}

/// All types that the entry points of a program mention, with the types inside of them.
pub struct Types {
    entries: Vec<EntryTypes>,
    /// In the order in which they are mentioned.
    all: Vec<Arc<Type>>,
}

impl Types {
    /// The types of this program. Those that its source has names for are called by them, if the source is there.
    pub fn of(program: &VerifiedModule, source: Option<&str>) -> Types {
        let program = program.module();
        let arena = Bump::new();
        let mut declared = Declared::of(&arena, source);
        let mut reading = Reading::default();
        for entry in &program.entries {
            each_value(program, entry, &mut |value, parts| reading.learn(value, parts));
        }
        let mut types = Types { entries: Vec::new(), all: Vec::new() };
        for entry in &program.entries {
            let mut found = Vec::new();
            each_value(program, entry, &mut |value, parts| found.push(reading.value(value, parts)));
            let mut results = found.split_off(entry.params.len());
            let count = results.len();
            found.iter_mut().enumerate().for_each(|(k, (_, ty))| *ty = declared.param(&entry.name, k, ty));
            for (k, (_, ty)) in results.iter_mut().enumerate() {
                *ty = declared.result(&entry.name, k, count, ty);
            }
            let output = match results.as_slice() {
                [(_, single)] => single.clone(),
                several => {
                    let fields = several.iter().enumerate().map(|(k, (_, ty))| (k.to_string(), ty.clone()));
                    declared.output(&entry.name, Type::record(fields.collect()))
                }
            };
            if output.is_named {
                // A tuple with a name is one result, whose components are not told apart.
                results = vec![(results.iter().all(|(unique, _)| *unique), output.clone())];
            }
            found.iter().chain(&results).for_each(|(_, ty)| types.mention(ty));
            types.mention(&output);
            types.entries.push(EntryTypes { name: entry.name.clone(), params: found, results, output });
        }
        types
    }

    fn mention(&mut self, ty: &Arc<Type>) {
        if self.all.iter().any(|known| known.name == ty.name) {
            return;
        }
        self.all.push(ty.clone());
        match &ty.shape {
            Shape::Scalar(_) | Shape::Opaque(_) => {}
            Shape::Array(extents, element) => {
                self.mention(element);
                // What such an array is taken apart into.
                if let Shape::Record(fields) = &element.shape {
                    fields.iter().for_each(|(_, field)| self.mention(&Type::array(extents, field)));
                }
            }
            Shape::Record(fields) => fields.iter().for_each(|(_, field)| self.mention(field)),
            Shape::Sum(constructors, _) => {
                constructors.iter().flat_map(|c| &c.payload).for_each(|ty| self.mention(ty));
            }
        }
    }

    /// All entry points, in source order.
    pub fn entries(&self) -> &[EntryTypes] {
        &self.entries
    }

    /// All types.
    pub fn all(&self) -> &[Arc<Type>] {
        &self.all
    }

    /// The type of this name. Scalars are there in any program.
    pub fn named(&self, name: &str) -> Option<Arc<Type>> {
        let mentioned = self.all.iter().find(|ty| ty.name == name).cloned();
        mentioned.or_else(|| name.parse().ok().map(Type::scalar))
    }
}

/// Visits the parameters, then the results of an entry point, each with the types of its values.
fn each_value(program: &Module, entry: &Entry, visit: &mut dyn FnMut(&EntryValue, &[ValueType])) {
    let function = program.functions.get(entry.function);
    let params: Vec<ValueType> =
        function.map_or(Vec::new(), |f| f.params.iter().map(|p| f.regs[*p]).collect());
    let results = function.map_or(&[][..], |f| f.results.as_slice());
    for (values, mut types) in [(&entry.params, params.as_slice()), (&entry.results, results)] {
        for value in values {
            let (own, rest) = types.split_at((value.values as usize).min(types.len()));
            visit(value, own);
            types = rest;
        }
    }
}

/// What is known while the texts of types are read.
#[derive(Default)]
struct Reading {
    /// What hidden types consist of, by name.
    hidden: HashMap<String, Vec<ValueType>>,
}

impl Reading {
    /// Learns what a hidden type consists of that stands alone.
    fn learn(&mut self, value: &EntryValue, parts: &[ValueType]) {
        let arena = Bump::new();
        let Some((_, exp)) = parsed(&arena, &value.ty) else { return };
        if let Some(name) = hidden_name(exp, DEEPEST) {
            self.hidden.entry(name).or_insert_with(|| parts.to_vec());
        }
    }

    /// Whether a value is unique, and its type.
    fn value(&self, value: &EntryValue, parts: &[ValueType]) -> (bool, Arc<Type>) {
        let arena = Bump::new();
        let unique = value.ty.starts_with('*');
        let read = parsed(&arena, &value.ty).and_then(|(unique, exp)| Some((unique, self.ty(exp, DEEPEST)?)));
        match read.filter(|(_, ty)| ty.parts() == parts) {
            Some(read) => read,
            None => {
                let name = without_sizes(value.ty.trim_start_matches('*'));
                (unique, Type::unnamed(name, Shape::Opaque(parts.to_vec())))
            }
        }
    }

    /// What one item of a payload says: texts of sums have no parentheses around arrays, so that the items after one seem
    /// to be arguments of its element. Scalars, records and tuples take none.
    fn payload(&self, exp: &TypeExp<'_>, deepest: usize) -> Option<Vec<Arc<Type>>> {
        let (mut sizes, head, arguments) = spine(exp);
        let takes_none = match head.kind {
            TypeExpKind::Record(_) | TypeExpKind::Tuple(_) => true,
            _ => named(head, deepest).is_some_and(|name| name.parse::<ElemType>().is_ok()),
        };
        if arguments.is_empty() || !takes_none {
            return Some(vec![self.ty(exp, deepest)?]);
        }
        let mut items = vec![Type::array(&sizes, &self.ty(head, deepest)?)];
        sizes.clear();
        for argument in arguments {
            match argument {
                TypeArg::Size(size) => sizes.push(written(&size)),
                TypeArg::Type(ty) => {
                    items.push(Type::array(&std::mem::take(&mut sizes), &self.ty(ty, deepest)?))
                }
            }
        }
        Some(items)
    }

    /// The type that an expression says, if that is known.
    fn ty(&self, exp: &TypeExp<'_>, deepest: usize) -> Option<Arc<Type>> {
        let below = deepest.checked_sub(1)?;
        let payload = |types: &[TypeExp<'_>]| -> Option<Vec<Arc<Type>>> {
            let items: Option<Vec<Vec<Arc<Type>>>> = types.iter().map(|ty| self.payload(ty, below)).collect();
            Some(items?.concat())
        };
        Some(match &exp.kind {
            TypeExpKind::Parens(inner) | TypeExpKind::Unique(inner) | TypeExpKind::Exists(_, inner) => {
                self.ty(inner, below)?
            }
            TypeExpKind::Tuple(items) => {
                let items: Option<Vec<_>> = items
                    .iter()
                    .enumerate()
                    .map(|(k, ty)| Some((k.to_string(), self.ty(ty, below)?)))
                    .collect();
                Type::record(items?)
            }
            TypeExpKind::Record(fields) => {
                let fields: Option<Vec<_>> = fields
                    .iter()
                    .map(|(name, ty)| Some((name.text.to_string(), self.ty(ty, below)?)))
                    .collect();
                Type::record(fields?)
            }
            TypeExpKind::Array(size, element) => Type::array(&[written(size)], &self.ty(element, below)?),
            TypeExpKind::Sum(constructors) => {
                let constructors: Option<Vec<_>> = constructors
                    .iter()
                    .map(|(name, types)| Some((name.text.to_string(), payload(types)?)))
                    .collect();
                Type::sum(constructors?)
            }
            TypeExpKind::Var(_) | TypeExpKind::Apply(..) => {
                let name = named(exp, below)?;
                if let Ok(elem) = name.parse() {
                    return Some(Type::scalar(elem));
                }
                let shape = Shape::Opaque(self.hidden.get(&name)?.clone());
                Type::unnamed(name, shape)
            }
            TypeExpKind::Arrow(..) | TypeExpKind::Error => return None,
        })
    }
}

/// `[2]f32 i32`: the sizes of an array, and below them a type with its arguments.
fn spine<'e, 'a>(exp: &'e TypeExp<'a>) -> (Vec<i64>, &'e TypeExp<'a>, Vec<TypeArg<'a>>) {
    let (mut sizes, mut head, mut arguments) = (Vec::new(), exp, Vec::new());
    while let TypeExpKind::Array(size, element) = &head.kind {
        sizes.push(written(size));
        head = element;
    }
    while let TypeExpKind::Apply(function, argument) = &head.kind {
        arguments.push(*argument);
        head = function;
    }
    arguments.reverse();
    (sizes, head, arguments)
}

/// A size that is written as a number, else 0.
fn written(size: &SizeExp<'_>) -> i64 {
    match size.size.map(|exp| exp.kind) {
        Some(ExpKind::Number(Number::Int(number))) => i64::try_from(number).unwrap_or(0),
        Some(ExpKind::Literal(scalar)) if scalar.ty == ElemType::I64 => scalar.as_i64().max(0),
        _ => 0,
    }
}

/// Dimensions of an array type. More than there are ranks makes no difference: such types have no values.
pub fn rank_of(extents: &[i64]) -> u8 {
    u8::try_from(extents.len()).unwrap_or(u8::MAX)
}

/// Whether a type is unique, and its expression; nothing if the text is no type.
fn parsed<'a>(arena: &'a Bump, text: &str) -> Option<(bool, &'a TypeExp<'a>)> {
    let scheme = format!(": {}", without_marks(text));
    let mut sources = Sources::new();
    let file = sources.add("a type", scheme.as_str());
    let parsed = parse_scheme(arena, file, &scheme, 0);
    let (_, exp) = parsed.tree.filter(|_| parsed.diagnostics.is_empty())?;
    Some((text.starts_with('*'), exp))
}

/// A type without the marks of what is unique, which texts of consumed sums have before their arrays, too; sizes stay as they are.
fn without_marks(text: &str) -> String {
    let mut open = 0usize;
    let mut is_mark = |c: char| {
        open = open + usize::from(c == '[') - usize::from(c == ']' && open > 0);
        c == '*' && open == 0
    };
    text.chars().filter(|c| !is_mark(*c)).collect()
}

/// The name of a type that a module hides, if an expression is one.
fn hidden_name(exp: &TypeExp<'_>, deepest: usize) -> Option<String> {
    match exp.kind {
        TypeExpKind::Parens(inner) | TypeExpKind::Exists(_, inner) => {
            hidden_name(inner, deepest.checked_sub(1)?)
        }
        TypeExpKind::Var(_) | TypeExpKind::Apply(..) => {
            named(exp, deepest).filter(|name| name.parse::<ElemType>().is_err())
        }
        _ => None,
    }
}

/// `m.t`, `m.t []`: the name of a type with its arguments.
fn named(exp: &TypeExp<'_>, deepest: usize) -> Option<String> {
    match &exp.kind {
        TypeExpKind::Var(name) => Some(name.text()),
        TypeExpKind::Apply(function, argument) => {
            let function = named(function, deepest.checked_sub(1)?)?;
            match argument {
                TypeArg::Size(_) => Some(format!("{function} []")),
                TypeArg::Type(argument) => Some(format!("{function} {}", named(argument, deepest - 1)?)),
            }
        }
        TypeExpKind::Parens(inner) => named(inner, deepest.checked_sub(1)?),
        _ => None,
    }
}

/// The text of a type without what stands in brackets.
fn without_sizes(text: &str) -> String {
    let mut open = 0usize;
    let mut kept = String::new();
    for c in text.chars() {
        open -= usize::from(c == ']' && open > 0);
        if open == 0 && !c.is_control() && c != '"' {
            kept.push(c);
        }
        open += usize::from(c == '[');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use galopvm::Program;

    /// The types of entry points, a line for each type: its kind, its name, and what it consists of.
    fn shown(source: &str) -> String {
        let program = Program::from_source("p.fut", source).expect("a right program");
        let types = Types::of(program.module(), None);
        let line = |ty: &Arc<Type>| {
            let parts: Vec<String> = ty.parts().iter().map(ValueType::to_string).collect();
            format!("{} {} = {}", ty.kind(), ty.name, parts.join(" "))
        };
        types.all().iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn scalars_and_arrays_have_their_names() {
        assert_eq!(
            shown("entry main [n] (x: *[n][2]f32) (y: bool): []i64 = [n]"),
            "array [][]f32 = [][]f32\nprimitive f32 = f32\nprimitive bool = bool\narray []i64 = []i64\nprimitive i64 = i64"
        );
    }

    #[test]
    fn records_tuples_and_arrays_of_them_consist_of_their_fields() {
        assert_eq!(
            shown("entry main [n] (x: [n]{a: i32, b: (bool, [2]u8)}) = (x, ())"),
            "array []{a: i32, b: (bool, []u8)} = []i32 []bool [][]u8\n\
             record {a: i32, b: (bool, []u8)} = i32 bool []u8\n\
             primitive i32 = i32\n\
             record (bool, []u8) = bool []u8\n\
             primitive bool = bool\n\
             array []u8 = []u8\n\
             primitive u8 = u8\n\
             array []i32 = []i32\n\
             array [](bool, []u8) = []bool [][]u8\n\
             array []bool = []bool\n\
             array [][]u8 = [][]u8\n\
             record () = \n\
             record ([]{a: i32, b: (bool, []u8)}, ()) = []i32 []bool [][]u8"
        );
        assert!(
            shown("entry main (x: i32): [2]() = [(), ()]").ends_with("array []() = []bool\nrecord () = ")
        );
    }

    #[test]
    fn constructors_of_sums_share_scalars() {
        let rows = shown("entry main (x: #a ([]{p: i32, q: f32}) i32 bool | #b ([2](u8, u8)) i8) = [x]");
        let sum = "#a []{p: i32, q: f32} i32 bool | #b [](u8, u8) i8";
        assert!(rows.contains(&format!("sum {sum} = i8 []i32 []f32 i32 bool []u8 []u8 i8\n")), "{rows}");
        let consumed = shown("entry main [n] [m] (x: *(#a ([n * m]u8) i8 | #b)) (_: [n][m]i8): i64 = n");
        assert!(consumed.starts_with("sum #a []u8 i8 | #b = i8 []u8 i8\n"), "{consumed}");
        let text = shown("entry main (x: #a i32 | #b ([2]f32) i32 i32 | #c {q: i32, r: f32} | #d) = [x]");
        let sum = "#a i32 | #b []f32 i32 i32 | #c {q: i32, r: f32} | #d";
        assert!(text.contains(&format!("sum {sum} = i8 i32 []f32 i32 f32\n")), "{text}");
        assert!(text.contains(&format!("array []({sum}) = []i8 []i32 [][]f32 []i32 []f32")), "{text}");
    }

    #[test]
    fn what_modules_hide_is_opaque() {
        let hidden = "module m : { type t val mk : i32 -> t val un : t -> i32 } = \
                      { type t = (i32, f32) def mk (x: i32) = (x, 1f32) def un (t: t) = t.0 }\n";
        let text = shown(&format!("{hidden}entry mk (x: i32) = m.mk x\nentry both (x: m.t) = (x, [x])"));
        assert!(text.contains("opaque m.t = i32 f32"), "{text}");
        assert!(text.contains("record (m.t, []m.t) = i32 f32 []i32 []f32"), "{text}");
        // Never seen alone.
        let text = shown(&format!("{hidden}entry main (x: (m.t, bool)) = m.un x.0"));
        assert!(text.contains("opaque (m.t, bool) = i32 f32 bool"), "{text}");
    }
}
