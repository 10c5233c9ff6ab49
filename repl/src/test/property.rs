//! Properties: entry points that have to be true of every argument.
//!
//! Arguments are random values of the parameter's type, or what the generator of `#[prop(gen(f))]` makes of a size and a seed.
//! One that the property is false of is made smaller: by the shrinker of `#[prop(shrink(f))]`, else by trying smaller sizes
//! first, with smaller numbers in them.

use crate::failure::message;
use crate::values::{Attributes, Random, Type, Types, attributes, shown};
use galopvm::{ElemType, Program, Scalar, Session, Value};
use std::sync::Arc;

/// Arguments tried.
const CANDIDATES: u64 = 100;
/// Size of the greatest of them, unless the attribute says another.
const SIZE: i64 = 50;
/// Tries in a row that make a counterexample no smaller, after which it is as small as it gets.
const VAIN: u64 = 100;
/// Steps of a shrinker in all: one that goes on and on has made something small enough.
const STEPS: u64 = 10_000;

/// The properties of a program.
pub struct Properties {
    attributes: Attributes,
    seed: u64,
}

/// What the attribute of a property says.
#[derive(Default)]
struct Wishes {
    generator: Option<String>,
    shrinker: Option<String>,
    size: Option<i64>,
}

impl Properties {
    /// Those of a source text; nothing is read if none is asked for.
    pub fn of(source: &str, names: &[String], seed: u64) -> Properties {
        let attributes = if names.is_empty() { Attributes::default() } else { attributes(source) };
        Properties { attributes, seed }
    }

    /// Looks for an argument that a property is false of.
    pub fn test(&self, session: &mut Session, program: &Program, name: &str) -> Result<(), String> {
        let types = Types::of(program.module(), None);
        let entry = types.entries().iter().find(|entry| entry.name == name);
        let entry = entry.ok_or_else(|| {
            format!("Property {name} is not an entry point: write `entry` in place of `def`.")
        })?;
        let [(_, ty)] = entry.params.as_slice() else {
            return Err(format!(
                "Property {name} takes {} arguments: a property takes one.",
                entry.params.len()
            ));
        };
        if entry.output.name != "bool" {
            return Err(format!("Property {name} gives {}: a property gives bool.", entry.output.name));
        }
        let wishes = self.wishes(name)?;
        let (size, seed) = ("i64", "u64");
        for (role, helper, wanted) in [
            ("Generator", &wishes.generator, [size, seed, &ty.name]),
            ("Shrinker", &wishes.shrinker, [&ty.name, seed, &ty.name]),
        ] {
            let Some(helper) = helper else { continue };
            let found = types.entries().iter().find(|entry| entry.name == *helper);
            let found = found.ok_or_else(|| match self.attributes.contains_key(helper) {
                true => format!(
                    "{role} {helper} of property {name} is not an entry point: write `entry` in place of `def`."
                ),
                false => format!("{role} {helper} of property {name}: there is no such function."),
            })?;
            let has: Vec<&str> =
                found.params.iter().map(|(_, ty)| &*ty.name).chain([&*found.output.name]).collect();
            if has != wanted {
                let (wanted, has) = (wanted.join(" -> "), has.join(" -> "));
                return Err(format!(
                    "{role} {helper} of property {name} has the wrong type.\nExpected: {wanted}\nActual:   {has}"
                ));
            }
        }
        let mut trial = Trial { session, name, ty, wishes: &wishes };
        let size = wishes.size.unwrap_or(SIZE);
        for k in 0..CANDIDATES {
            // Small ones first.
            let own = (size * (k as i64 + 1) / CANDIDATES as i64).min(size);
            let seed = self.seed.wrapping_add(k);
            let candidate = trial.candidate(own, seed)?;
            let (found, before, below) = match trial.holds(&candidate) {
                Ok(true) => continue,
                Ok(false) => {
                    let (found, note) = trial.smaller(candidate, own, seed);
                    (found, note, String::new())
                }
                Err(error) => (candidate, String::new(), format!("\n{error}")),
            };
            let tests = if k == 1 { "test" } else { "tests" };
            return Err(format!(
                "Property {name} (size={own}, seed={seed}) failed after {k} {tests}:\n{before}Counterexample: {}{below}",
                shown(ty, &found)
            ));
        }
        Ok(())
    }

    fn wishes(&self, name: &str) -> Result<Wishes, String> {
        let attribute =
            self.attributes.get(name).into_iter().flatten().find_map(|text| text.strip_prefix("prop"));
        let Some(arguments) = attribute else {
            return Err(format!("Property {name} has no attribute `#[prop]`."));
        };
        let inside = arguments.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or("");
        let mut wishes = Wishes::default();
        for wish in inside.split(", ").filter(|wish| !wish.is_empty()) {
            let (word, argument) = wish.trim_end_matches(')').split_once('(').unwrap_or((wish, ""));
            match word {
                "gen" => wishes.generator = Some(argument.into()),
                "shrink" => wishes.shrinker = Some(argument.into()),
                "size" => wishes.size = argument.parse().ok(),
                _ => {
                    return Err(format!(
                        "`#[prop]` of {name} has `gen`, `shrink` and `size`, but no `{word}`."
                    ));
                }
            }
        }
        Ok(wishes)
    }
}

/// A property with its way to arguments.
struct Trial<'t> {
    session: &'t mut Session,
    name: &'t str,
    ty: &'t Arc<Type>,
    wishes: &'t Wishes,
}

impl Trial<'_> {
    fn call(&mut self, entry: &str, arguments: Vec<Value>) -> Result<Vec<Value>, String> {
        self.session.call_values(entry, arguments).map_err(|error| message(&error))
    }

    fn candidate(&mut self, size: i64, seed: u64) -> Result<Vec<Value>, String> {
        let Some(generator) = &self.wishes.generator else {
            let memory = self.session.memory().clone();
            return Random::new(seed, size).value(&memory, self.ty);
        };
        let arguments =
            vec![Value::Scalar(Scalar::i64(size)), Value::Scalar(Scalar::new(ElemType::U64, seed))];
        let made = self.call(generator, arguments);
        made.map_err(|wrong| {
            format!("Generator {generator} failed with size={size} and seed={seed}:\n{wrong}")
        })
    }

    fn holds(&mut self, candidate: &[Value]) -> Result<bool, String> {
        let found = self.call(self.name, candidate.to_vec())?;
        Ok(found.first().and_then(Value::as_scalar).is_none_or(|truth| truth.bits != 0))
    }

    /// A smaller argument that the property is false of, if one is found, and what is to be said about that.
    fn smaller(&mut self, found: Vec<Value>, size: i64, seed: u64) -> (Vec<Value>, String) {
        let Some(shrinker) = &self.wishes.shrinker else {
            return (self.of_less_size(found, size, seed), String::new());
        };
        match self.shrunk(shrinker, found.clone(), seed) {
            Ok(smaller) => (smaller, String::new()),
            Err(wrong) => {
                let note =
                    format!("Shrinker {shrinker} failed, smaller sizes were tried instead:\n{wrong}\n");
                (self.of_less_size(found, size, seed), note)
            }
        }
    }

    /// What the shrinker makes of an argument, step by step.
    fn shrunk(&mut self, shrinker: &str, mut found: Vec<Value>, seed: u64) -> Result<Vec<Value>, String> {
        let (mut vain, mut numbers) = (0, Random::new(seed, 0));
        for _ in 0..STEPS {
            let random = Value::Scalar(Scalar::new(ElemType::U64, numbers.bits()));
            let smaller = self.call(shrinker, [found.clone(), vec![random]].concat())?;
            if self.holds(&smaller)? {
                vain += 1;
            } else {
                (found, vain) = (smaller, 0);
            }
            if vain == VAIN {
                break;
            }
        }
        Ok(found)
    }

    /// The first argument of a size below this one that the property is false of; one that makes it end with an error is none.
    fn of_less_size(&mut self, found: Vec<Value>, size: i64, seed: u64) -> Vec<Value> {
        for smaller in 0..size {
            for k in 0..(VAIN / size as u64).max(3) {
                match self.candidate(smaller, seed.wrapping_add(k)) {
                    Ok(candidate) if self.holds(&candidate) == Ok(false) => return candidate,
                    _ => {}
                }
            }
        }
        found
    }
}
