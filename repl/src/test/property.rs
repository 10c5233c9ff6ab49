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
/// Size of them, unless the attribute says another.
const SIZE: i64 = 100;
/// Tries to make a counterexample smaller.
const SMALLER: u64 = 200;

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
        let entry = entry.ok_or_else(|| format!("`{name}` is not an entry point."))?;
        let [(_, ty)] = entry.params.as_slice() else {
            return Err(format!("`{name}` takes {} arguments: a property takes one.", entry.params.len()));
        };
        if entry.output.name != "bool" {
            return Err(format!("`{name}` gives a {}: a property gives a bool.", entry.output.name));
        }
        let wishes = self.wishes(name)?;
        let mut trial = Trial { session, name, ty, wishes: &wishes };
        let size = wishes.size.unwrap_or(SIZE);
        for k in 0..CANDIDATES {
            // Small ones first.
            let own = (size * (k as i64 + 1) / CANDIDATES as i64).min(size);
            let seed = self.seed.wrapping_add(k);
            let candidate = trial.candidate(own, seed)?;
            if !trial.holds(&candidate)? {
                let found = trial.smaller(candidate, own, seed)?;
                return Err(format!(
                    "`{name}` is false of:\n  {}\n  (size {own}, seed {seed})",
                    shown(ty, &found)
                ));
            }
        }
        Ok(())
    }

    fn wishes(&self, name: &str) -> Result<Wishes, String> {
        let attribute =
            self.attributes.get(name).into_iter().flatten().find_map(|text| text.strip_prefix("prop"));
        let Some(arguments) = attribute else {
            return Err(format!("`{name}` has no attribute `#[prop]`."));
        };
        let inside = arguments.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or("");
        let mut wishes = Wishes::default();
        for wish in inside.split(", ").filter(|wish| !wish.is_empty()) {
            let (word, argument) = wish.trim_end_matches(')').split_once('(').unwrap_or((wish, ""));
            match word {
                "gen" => wishes.generator = Some(argument.into()),
                "shrink" => wishes.shrinker = Some(argument.into()),
                "size" => wishes.size = argument.parse().ok(),
                _ => return Err(format!("`#[prop]` has `gen`, `shrink` and `size`, but no `{word}`.")),
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
        self.session.call_values(entry, arguments).map_err(|error| format!("{entry}: {}", message(&error)))
    }

    fn candidate(&mut self, size: i64, seed: u64) -> Result<Vec<Value>, String> {
        let Some(generator) = &self.wishes.generator else {
            let memory = self.session.memory().clone();
            return Random::new(seed, size).value(&memory, self.ty);
        };
        let seed = Value::Scalar(Scalar::new(ElemType::U64, seed));
        let arguments = vec![Value::Scalar(Scalar::i64(size)), seed];
        self.call(generator, arguments)
    }

    fn holds(&mut self, candidate: &[Value]) -> Result<bool, String> {
        let found = self
            .call(self.name, candidate.to_vec())
            .map_err(|wrong| format!("{wrong}\nThe argument was:\n  {}", shown(self.ty, candidate)))?;
        Ok(found.first().and_then(Value::as_scalar).is_none_or(|truth| truth.bits != 0))
    }

    /// A smaller argument that the property is false of, if one is found.
    fn smaller(&mut self, mut found: Vec<Value>, size: i64, seed: u64) -> Result<Vec<Value>, String> {
        if let Some(shrinker) = &self.wishes.shrinker {
            for k in 0..SMALLER {
                let random = Value::Scalar(Scalar::new(ElemType::U64, seed.wrapping_add(k)));
                let smaller = self.call(shrinker, [found.clone(), vec![random]].concat())?;
                if !self.holds(&smaller)? {
                    found = smaller;
                }
            }
            return Ok(found);
        }
        for smaller in 0..size {
            for k in 0..(SMALLER / size as u64).max(3) {
                let candidate = self.candidate(smaller, seed.wrapping_add(k))?;
                if !self.holds(&candidate)? {
                    return Ok(candidate);
                }
            }
        }
        Ok(found)
    }
}
