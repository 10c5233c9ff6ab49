//! What a text defines that can be named: values, types, modules with what is in them.
//!
//! Told by the syntax alone, which is there even if something is wrong with a definition: a module has the names that are written
//! in it, or those of its module type.

use bumpalo::Bump;
use galopvm_base::Sources;
use galopvm_frontend::syntax::ast::{
    Dec, DecKind, ModBind, ModExp, ModExpKind, ModTypeExp, ModTypeExpKind, QualName, Spec, SpecKind,
};
use galopvm_frontend::syntax::parse_prog;
use std::collections::{BTreeMap, BTreeSet};

/// How many files may import each other in a row; those that go round end here.
const IMPORTS: usize = 8;

/// What a module, or a file, contains.
#[derive(Clone, Default)]
pub struct Outline {
    pub values: BTreeSet<String>,
    pub types: BTreeSet<String>,
    pub modules: BTreeMap<String, Outline>,
    /// What modules with parameters make.
    makers: BTreeMap<String, Outline>,
    module_types: BTreeMap<String, Outline>,
}

impl Outline {
    /// What a text defines.
    pub fn of(text: &str) -> Outline {
        let outline = || Walk { around: vec![Outline::default()], files: 0 }.file(text);
        galopvm_frontend::stack::with_room(outline).unwrap_or_default()
    }

    /// The module behind a path `m.n`.
    pub fn module(&self, path: &str) -> Option<&Outline> {
        path.split('.').try_fold(self, |module, name| module.modules.get(name))
    }

    fn include(&mut self, other: Outline) {
        self.values.extend(other.values);
        self.types.extend(other.types);
        self.modules.extend(other.modules);
        self.makers.extend(other.makers);
        self.module_types.extend(other.module_types);
    }
}

/// Goes through declarations.
struct Walk {
    /// What has been seen of the modules around, innermost last.
    around: Vec<Outline>,
    /// How many files import the one that is read.
    files: usize,
}

impl Walk {
    fn file(&mut self, text: &str) -> Outline {
        let arena = Bump::new();
        let file = Sources::new().add("", text);
        let parsed = parse_prog(&arena, file, text, 0);
        self.decs(parsed.tree.decs)
    }

    /// What a file contains that is imported by its name without ending; nothing if it cannot be read, which is told
    /// elsewhere.
    fn import(&mut self, name: &str) -> Outline {
        if self.files == IMPORTS {
            return Outline::default();
        }
        let Ok(text) = std::fs::read_to_string(format!("{name}.fut")) else { return Outline::default() };
        Walk { around: Vec::new(), files: self.files + 1 }.file(&text)
    }

    fn decs(&mut self, decs: &[Dec<'_>]) -> Outline {
        self.around.push(Outline::default());
        for dec in decs {
            self.dec(dec);
        }
        self.around.pop().unwrap_or_default()
    }

    fn dec(&mut self, dec: &Dec<'_>) {
        let mut found = Outline::default();
        match dec.kind {
            DecKind::Val(bind) => drop(found.values.insert(bind.name.text.into())),
            DecKind::Type(bind) => drop(found.types.insert(bind.name.text.into())),
            DecKind::Module(bind) => {
                let name = bind.name.text.to_string();
                let inside = self.module(bind);
                let place = if bind.params.is_empty() { &mut found.modules } else { &mut found.makers };
                place.insert(name, inside);
            }
            DecKind::ModType { name, def } => {
                let promised = self.promised(def);
                found.module_types.insert(name.text.into(), promised);
            }
            DecKind::Open(exp) => found = self.exp(exp),
            DecKind::Import(name) => found = self.import(name),
            // What is local to a file that is imported, or to a module, cannot be named here.
            DecKind::Local(inner) if self.files == 0 && self.around.len() == 2 => return self.dec(inner),
            DecKind::Local(_) => {}
        }
        if let Some(here) = self.around.last_mut() {
            here.include(found);
        }
    }

    fn module(&mut self, bind: &ModBind<'_>) -> Outline {
        let mut params = Outline::default();
        for (name, ty) in bind.params {
            let promised = self.promised(ty);
            params.modules.insert(name.text.into(), promised);
        }
        self.around.push(params);
        let inside = match bind.sig {
            Some(ty) => self.promised(ty),
            None => self.exp(bind.def),
        };
        self.around.pop();
        inside
    }

    fn exp(&mut self, exp: &ModExp<'_>) -> Outline {
        match exp.kind {
            ModExpKind::Var(name) => self.find(name, |outline| &outline.modules),
            ModExpKind::Parens(inner) => self.exp(inner),
            ModExpKind::Decs(decs) => self.decs(decs),
            ModExpKind::Import(name) => self.import(name),
            ModExpKind::Apply(maker, _) => match maker.kind {
                ModExpKind::Var(name) => self.find(name, |outline| &outline.makers),
                _ => self.exp(maker),
            },
            ModExpKind::Ascript(_, ty) | ModExpKind::Lambda(_, _, Some(ty), _) => self.promised(ty),
            ModExpKind::Lambda(_, _, None, body) => self.exp(body),
        }
    }

    /// What modules of a module type have.
    fn promised(&mut self, ty: &ModTypeExp<'_>) -> Outline {
        match ty.kind {
            ModTypeExpKind::Var(name) => self.find(name, |outline| &outline.module_types),
            ModTypeExpKind::Parens(inner)
            | ModTypeExpKind::With(inner, ..)
            | ModTypeExpKind::Arrow(_, _, inner) => self.promised(inner),
            ModTypeExpKind::Specs(specs) => {
                let mut outline = Outline::default();
                for spec in specs {
                    self.spec(spec, &mut outline);
                }
                outline
            }
        }
    }

    fn spec(&mut self, spec: &Spec<'_>, outline: &mut Outline) {
        match spec.kind {
            SpecKind::Val(name, ..) => drop(outline.values.insert(name.text.into())),
            SpecKind::TypeAbbr(bind) => drop(outline.types.insert(bind.name.text.into())),
            SpecKind::Type(_, name, _) => drop(outline.types.insert(name.text.into())),
            SpecKind::Module(name, ty) => {
                let promised = self.promised(ty);
                outline.modules.insert(name.text.into(), promised);
            }
            SpecKind::Include(ty) => {
                let promised = self.promised(ty);
                outline.include(promised);
            }
        }
    }

    /// What a name means, in the innermost module around that knows it.
    fn find(&self, name: QualName<'_>, table: fn(&Outline) -> &BTreeMap<String, Outline>) -> Outline {
        let Some((last, path)) = name.parts.split_last() else { return Outline::default() };
        let in_one = |outline: &Outline| {
            let module = path.iter().try_fold(outline, |module, part| module.modules.get(part.text))?;
            table(module).get(last.text).cloned()
        };
        self.around.iter().rev().find_map(in_one).unwrap_or_default()
    }
}
