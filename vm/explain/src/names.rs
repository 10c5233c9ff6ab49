//! What people call things: places with their source lines, and names of registers.
//!
//! The bytecode has no names for values. A parameter of an entry point is called as its source says, the result of an
//! expression that is bound by `let` or `loop` as the text before it says; all others keep the register's number.

use super::document::Spot;
use galopvm_bytecode::{BlockId, CodeBlock, Function, Instr, Module, Place, RegId, Role, field::Fields};
use galopvm_kir::text::as_name;
use galopvm_kir::{Region, VarId};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// Longest excerpt of the source.
const MOST_SHOWN: usize = 60;

/// The lines of source files.
pub(super) struct Lines<'a> {
    read: &'a dyn Fn(&str) -> Option<String>,
    known: RefCell<HashMap<String, Vec<String>>>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(read: &'a dyn Fn(&str) -> Option<String>) -> Lines<'a> {
        Lines { read, known: RefCell::default() }
    }

    /// A line of a file, counted from 1.
    fn line(&self, file: &str, line: u32) -> Option<String> {
        let mut known = self.known.borrow_mut();
        let lines = known.entry(file.into()).or_insert_with(|| {
            (self.read)(file).map_or(Vec::new(), |text| text.lines().map(str::to_string).collect())
        });
        lines.get((line as usize).checked_sub(1)?).cloned()
    }

    /// A place with its source line.
    pub(super) fn spot(&self, module: &Module, place: Place) -> Option<Spot> {
        let file = module.files.get(place.file as usize)?;
        let outer = module.call_chain(place).last().filter(|outer| *outer != place);
        let inlined = outer.and_then(|outer| {
            let file = module.files.get(outer.file as usize)?;
            Some(format!("{file}:{}:{}", outer.start.line, outer.start.column))
        });
        Some(Spot {
            file: file.clone(),
            line: place.start.line,
            column: place.start.column,
            end_line: place.end.line,
            end_column: place.end.column,
            source: self.line(file, place.start.line).map(|line| line.trim_end().to_string()),
            inlined,
        })
    }

    /// The line in which a function is defined, at or above a place in it; else that place.
    pub(super) fn definition(&self, spot: Spot, name: &str) -> Spot {
        let begins = |line: &str| {
            ["entry ", "def ", "let "].iter().any(|word| {
                let rest = line.strip_prefix(word).and_then(|rest| rest.trim_start().strip_prefix(name));
                rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || "_'".contains(c)))
            })
        };
        let numbered = (1..=spot.line).rev().map(|number| (number, self.line(&spot.file, number)));
        let found =
            numbered.filter_map(|(number, line)| Some((number, line?))).find(|(_, l)| begins(l.trim_start()));
        let Some((number, line)) = found else { return spot };
        let end = line.chars().count().max(1) as u32;
        let column = 1 + line.chars().take_while(|c| c.is_whitespace()).count() as u32;
        let source = Some(line.trim_end().to_string());
        Spot { line: number, column, end_line: number, end_column: end, source, ..spot }
    }

    /// The text of a place, on one line.
    fn excerpt(&self, spot: &Spot) -> Option<String> {
        let line = spot.source.as_deref()?;
        let from = (spot.column as usize).checked_sub(1)?;
        let to = if spot.end_line == spot.line { spot.end_column as usize } else { usize::MAX };
        let text: String = line.chars().take(to).skip(from).collect();
        let more = spot.end_line != spot.line || text.chars().count() > MOST_SHOWN;
        let shown: String = text.trim_end().chars().take(MOST_SHOWN).collect();
        (!shown.is_empty()).then(|| if more { format!("{shown} ..") } else { shown })
    }

    /// The names that the text before a place binds to it: `let NAME =`, on the same line or the one before.
    fn bound_names(&self, spot: &Spot) -> Vec<String> {
        let Some(line) = spot.source.as_deref() else { return Vec::new() };
        let before: String = line.chars().take((spot.column as usize).saturating_sub(1)).collect();
        let before = match before.trim().is_empty() {
            true => spot.line.checked_sub(1).and_then(|line| self.line(&spot.file, line)).unwrap_or_default(),
            false => before,
        };
        let after = before.rsplit("let ").next().filter(|_| before.contains("let "));
        after.and_then(|pattern| pattern.trim_end().strip_suffix('=')).map_or(Vec::new(), pattern_names)
    }

    /// The names that a loop carries: `loop NAME = ..`, `loop (A, B) = ..`, `loop NAME for ..`.
    fn carried_names(&self, spot: &Spot) -> Vec<String> {
        let Some(line) = spot.source.as_deref() else { return Vec::new() };
        let text: String = line.chars().skip((spot.column as usize).saturating_sub(1)).collect();
        let Some(rest) = text.strip_prefix("loop ") else { return Vec::new() };
        let end = [" =", " for ", " while "].iter().filter_map(|word| rest.find(word)).min();
        end.map_or(Vec::new(), |end| pattern_names(&rest[..end]))
    }
}

/// The names of a pattern of names, without types; nothing if it is anything else.
fn pattern_names(pattern: &str) -> Vec<String> {
    let inner = pattern.trim();
    let inner = inner.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(inner);
    let is_name = |name: &str| {
        name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '\'')
    };
    let names: Vec<String> = inner
        .split(',')
        .map(|part| part.split(':').next().unwrap_or_default().trim().trim_start_matches('*'))
        .map(|name| name.split(" [").next().unwrap_or_default().trim().to_string())
        .collect();
    if names.iter().all(|name| is_name(name)) { names } else { Vec::new() }
}

/// What is known of a register.
#[derive(Clone, Debug, Default)]
pub(super) struct Origin {
    /// Its name in the source.
    pub name: Option<String>,
    /// Where it is made.
    pub spot: Option<Spot>,
    /// The expression that makes it.
    pub excerpt: Option<String>,
}

/// Names of the registers of a function.
pub(super) struct Names {
    origins: HashMap<RegId, Origin>,
}

impl Names {
    pub(super) fn new(module: &Module, code: &Function, lines: &Lines<'_>) -> Names {
        let mut origins: HashMap<RegId, Origin> = HashMap::new();
        let found = module.functions.iter_ids().find(|(_, other)| std::ptr::eq(*other, code));
        let entry = module.entries.iter().find(|entry| found.is_some_and(|(id, _)| id == entry.function));
        let mut names = entry.into_iter().flat_map(|entry| &entry.params).flat_map(|param| {
            (0..param.values).map(|k| match param.values {
                1 => param.name.clone(),
                _ => format!("{}_{k}", param.name),
            })
        });
        for param in &code.params {
            let name = names.next().filter(|name| !name.is_empty());
            origins.insert(*param, Origin { name, ..Origin::default() });
        }
        let bound = binders(code);
        for (id, block) in code.blocks.iter_ids() {
            for (index, instr) in block.code.iter().enumerate() {
                let place = block.place(index);
                let binds = place.is_some_and(|place| bound.get(&start_of(place)) == Some(&(id, index)));
                define(module, code, lines, place, binds, instr, &mut origins);
            }
        }
        Names { origins }
    }

    /// What is known of a register.
    pub(super) fn of(&self, reg: RegId) -> Origin {
        self.origins.get(&reg).cloned().unwrap_or_default()
    }

    /// What a register is called: as in the source, where that is known.
    pub(super) fn called(&self, reg: RegId) -> String {
        let name = self.origins.get(&reg).and_then(|origin| origin.name.clone());
        name.unwrap_or_else(|| reg.to_string())
    }
}

/// A region some of whose variables are called otherwise.
pub(super) fn renamed(region: &Region, names: impl Iterator<Item = (VarId, String)>) -> Region {
    let mut region = region.clone();
    let mut taken: HashSet<String> = region.vars.iter().map(|var| var.name.to_string()).collect();
    for (var, name) in names {
        let name = as_name(&name);
        let numbered = (2..).map(|k| format!("{name}_{k}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name));
        if let (Some(free), Some(known)) = (free, region.vars.get_mut(var)) {
            taken.insert(free.clone());
            known.name = free.into();
        }
    }
    region
}

/// File, first line, first column.
type Start = (u32, u32, u32);

fn start_of(place: Place) -> Start {
    (place.file, place.start.line, place.start.column)
}

/// Of the instructions that begin at one place, the one that is the whole expression: the longest, outermost, last one.
fn binders(code: &Function) -> HashMap<Start, (BlockId, usize)> {
    let mut best = HashMap::new();
    for (id, block) in code.blocks.iter_ids() {
        for (index, place) in block.places.iter().enumerate() {
            let Some(place) = place else { continue };
            let key = (place.end.line, place.end.column, std::cmp::Reverse(id), index);
            let known = best.entry(start_of(*place)).or_insert((key, (id, index)));
            if known.0 < key {
                *known = (key, (id, index));
            }
        }
    }
    best.into_iter().map(|(start, (_, at))| (start, at)).collect()
}

/// Notes what an instruction defines, in its blocks' parameters as well.
fn define(
    module: &Module,
    code: &Function,
    lines: &Lines<'_>,
    place: Option<Place>,
    binds: bool,
    instr: &Instr,
    origins: &mut HashMap<RegId, Origin>,
) {
    let spot = place.and_then(|place| lines.spot(module, place));
    let excerpt = spot.as_ref().and_then(|spot| lines.excerpt(spot));
    let fields = Fields::of(instr);
    let bound = spot.as_ref().filter(|_| binds).map_or(Vec::new(), |spot| lines.bound_names(spot));
    let origin = |name: Option<&String>| Origin {
        name: name.filter(|name| *name != "_").cloned(),
        spot: spot.clone(),
        excerpt: excerpt.clone(),
    };
    let carried = match (instr.gives(), &spot) {
        (Some(Role::Carried), Some(spot)) => lines.carried_names(spot),
        _ => Vec::new(),
    };
    let own = if bound.len() == fields.defs.len() { &bound } else { &carried };
    for (k, def) in fields.defs.iter().enumerate() {
        let name = own.get(k).filter(|_| own.len() == fields.defs.len());
        origins.entry(def.0).or_insert_with(|| origin(name));
    }
    for block in fields.blocks {
        let params: &[RegId] = code.blocks.get(block).map_or(&[], |block: &CodeBlock| &block.params);
        let counter = usize::from(matches!(instr, Instr::For { .. }));
        for (k, param) in params.iter().enumerate() {
            let fits = carried.len() + counter == params.len();
            let name = k.checked_sub(counter).and_then(|k| carried.get(k)).filter(|_| fits);
            origins.entry(*param).or_insert_with(|| origin(name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::pattern_names;

    #[test]
    fn patterns_of_names() {
        assert_eq!(pattern_names(" cells "), ["cells"]);
        assert_eq!(pattern_names("(a, b': [n]i32, _)"), ["a", "b'", "_"]);
        assert!(pattern_names("{x, y}").is_empty());
        assert!(pattern_names("((a, b), c)").is_empty());
        assert!(pattern_names("f x").is_empty());
    }
}
