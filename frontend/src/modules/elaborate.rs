//! Declarations, in order.

use crate::names::{AbbrId, Functor, FunctorBody, Global, GlobalId, Loaded, ModType, ModVal, Res, Scope};
use crate::syntax::ast::*;
use crate::syntax::parse_prog;
use crate::types::{Anonymous, Checker, Type, TypeBinding, scheme_param};
use galopvm_base::{Diagnostic, IdMap, Span};
use std::rc::Rc;

/// What elaborating a file gave.
#[derive(Default)]
pub struct Elaborated<'a> {
    /// The names it defines for others.
    pub scope: Scope<'a>,
    /// The definitions that stand at its top, in order.
    pub definitions: Vec<GlobalId>,
}

/// Names that a list of declarations has defined so far, by namespace.
#[derive(Default)]
struct Seen<'a> {
    terms: IdMap<&'a str, Span>,
    types: IdMap<&'a str, Span>,
    module_types: IdMap<&'a str, Span>,
}

/// Where declarations stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// At the top of the program's own file.
    Root,
    /// At the top of an imported file.
    Imported,
    /// In a module.
    Module,
}

impl<'a> Checker<'a, '_, '_> {
    /// Elaborates and checks a file. Its names stay in sight.
    pub fn file(&mut self, prog: &Prog<'a>) -> Elaborated<'a> {
        for dec in prog.decs {
            if let DecKind::Val(bind) = dec.kind {
                self.names.later.insert(bind.name.text, bind.name.at.span);
            }
        }
        let mut out = Elaborated::default();
        self.decs(prog.decs, &mut out, Place::Root);
        self.names.later.clear();
        out
    }

    pub(super) fn decs(&mut self, decs: &'a [Dec<'a>], out: &mut Elaborated<'a>, place: Place) {
        let mut seen = Seen::default();
        for dec in decs {
            self.dec(dec, out, &mut seen, place, true);
        }
    }

    fn twice(&mut self, what: &str, name: &Name<'a>, before: Option<Span>) {
        if let Some(before) = before {
            let text = format!(
                "Duplicate definition of {what} {}. Previously defined at {}.",
                name.text,
                self.names.sources.place(before)
            );
            self.report(Diagnostic::error(name.at.span, text).with_place(before, "first defined here"));
        }
    }

    fn dec(
        &mut self,
        dec: &'a Dec<'a>,
        out: &mut Elaborated<'a>,
        seen: &mut Seen<'a>,
        place: Place,
        exported: bool,
    ) {
        match dec.kind {
            DecKind::Val(bind) => {
                self.twice("term", &bind.name, seen.terms.insert(bind.name.text, bind.name.at.span));
                if bind.keyword == ValKeyword::Entry && place == Place::Module {
                    let text = "Entry points may not be declared inside modules.";
                    self.report(Diagnostic::error(bind.name.at.span, text).with_hint("write `def`"));
                }
                let id = self.names.globals.push(Global { bind, attrs: dec.attrs, user: true });
                self.names.later.remove(bind.name.text);
                let before = self.names.diagnostics.len();
                self.global(id);
                // What an error leaves open is no news about the entry point.
                let sound = self.names.diagnostics.len() == before;
                let is_entry = bind.keyword == ValKeyword::Entry && place != Place::Module;
                if sound && (is_entry || bind.name.text == "main" && place == Place::Root) {
                    self.entry_point(id);
                }
                self.names.frame.scope.term(bind.name.text, Res::Global(id));
                if exported {
                    out.scope.term(bind.name.text, Res::Global(id));
                }
                out.definitions.push(id);
            }
            DecKind::Type(bind) => {
                self.twice("type", &bind.name, seen.types.insert(bind.name.text, bind.name.at.span));
                let binding = self.type_binding(bind);
                let id = self.named_type(bind.name, binding);
                self.names.frame.scope.types.insert(bind.name.text, id);
                if exported {
                    out.scope.types.insert(bind.name.text, id);
                }
            }
            DecKind::Module(bind) => {
                self.twice("module", &bind.name, seen.terms.insert(bind.name.text, bind.name.at.span));
                let module = self.module_binding(bind);
                self.names.frame.scope.module(bind.name.text, module.clone());
                if exported {
                    out.scope.module(bind.name.text, module);
                }
            }
            DecKind::ModType { name, def } => {
                self.twice("module type", &name, seen.module_types.insert(name.text, name.at.span));
                let ty = Rc::new(ModType { exp: def, frame: self.names.capture() });
                // Read once for its own errors.
                self.abstract_module(&ty, name.text);
                self.names.frame.scope.module_types.insert(name.text, ty.clone());
                if exported {
                    out.scope.module_types.insert(name.text, ty);
                }
            }
            DecKind::Open(exp) => {
                let module = self.module_exp(exp);
                self.open_module(&module, exp.at.span, out, exported);
            }
            DecKind::Import(path) => {
                let module = self.import(path, dec.at.span);
                self.open_module(&module, dec.at.span, out, false);
            }
            DecKind::Local(inner) => self.dec(inner, out, seen, place, false),
        }
    }

    fn open_module(&mut self, module: &ModVal<'a>, span: Span, out: &mut Elaborated<'a>, exported: bool) {
        match module {
            ModVal::Struct(scope) => {
                self.names.frame.scope.include(scope);
                if exported {
                    out.scope.include(scope);
                }
            }
            ModVal::Scalar(ty) => {
                // Names of a scalar module are found by asking it: a frame of its own keeps them below later ones.
                let outer = self.names.capture();
                self.names.leave(outer);
                self.names.frame.scope.opened.push(*ty);
                if exported {
                    out.scope.opened.push(*ty);
                }
                let outer = self.names.capture();
                self.names.leave(outer);
            }
            ModVal::Functor(_) => {
                self.report(Diagnostic::error(span, "Cannot open a parametric module: apply it first."));
            }
            ModVal::Error => {}
        }
    }

    /// A name for a type.
    pub(super) fn named_type(&mut self, name: Name<'a>, binding: TypeBinding) -> AbbrId {
        let id = self.names.abbrs.push(name);
        self.bindings.insert(id, binding);
        id
    }

    /// What `type t 'a [n] = ..` says.
    pub(super) fn type_binding(&mut self, bind: &'a TypeBind<'a>) -> TypeBinding {
        self.names.resolve_type(bind.params, bind.def);
        self.type_params(bind.params);
        let marked = self.type_exp(bind.def, Anonymous::Keep);
        let mut ty = self.without_marks(&marked);
        let span = bind.def.at.span;
        if self.too_large(span, &ty) {
            ty = Type::Error;
        }
        for param in bind.params {
            if let TypeParam::Size(name) = param
                && !self.vars.mentions_name(&ty, name.at.id)
            {
                let text = format!("Size parameter \"[{}]\" unused.", name.text);
                self.report(
                    Diagnostic::error(name.at.span, text).with_hint("use it as the size of an array"),
                );
            }
        }
        // What the body of a parametric module declares was checked for every argument.
        let lifted = if self.applications > 0 { Lifted::No } else { self.lifted_of(bind.def) };
        let hides = self.applications == 0 && self.hides_sizes(&ty);
        if bind.lifted != Lifted::Full && lifted == Lifted::Full {
            let text = "Non-lifted type abbreviations may not contain functions.";
            self.report(Diagnostic::error(span, text).with_hint("consider using `type^`"));
        } else if bind.lifted == Lifted::No && (lifted == Lifted::Size || hides) {
            let text = format!(
                "Non-size-lifted type abbreviations may not contain size-lifted types or existential sizes \
                 (anonymous-nonconstructive): \"{}\".",
                bind.name.text
            );
            self.report(
                Diagnostic::error(span, text).with_hint("consider using `type~`, or size parameters"),
            );
        }
        if self.anonymous_parameter(&ty, false) {
            let text = "Type abbreviation contains an anonymous size not used constructively as an array size \
                        (anonymous-nonconstructive).";
            self.report(
                Diagnostic::error(span, text).with_hint("give the size a name: `(n: i64) -> [n]t -> ..`"),
            );
        }
        TypeBinding { params: bind.params.iter().map(scheme_param).collect(), ty, lifted: bind.lifted }
    }

    /// How far a written type is lifted. A name has the degree that its declaration says, whatever it stands for.
    fn lifted_of(&self, ty: &TypeExp<'a>) -> Lifted {
        match ty.kind {
            TypeExpKind::Var(name) => match self.names.uses.get(&name.parts[0].at.id).map(|u| u.res) {
                Some(Res::Abbr(id)) => self.bindings.get(&id).map_or(Lifted::No, |binding| binding.lifted),
                Some(Res::TypeParam(id)) => self.vars.lifted.get(&id).copied().unwrap_or(Lifted::No),
                _ => Lifted::No,
            },
            TypeExpKind::Parens(inner) | TypeExpKind::Unique(inner) => self.lifted_of(inner),
            TypeExpKind::Tuple(items) => self.most_lifted(items),
            TypeExpKind::Record(fields) => self.most_lifted(fields.iter().map(|(_, ty)| ty)),
            TypeExpKind::Sum(constructors) => {
                self.most_lifted(constructors.iter().flat_map(|(_, payload)| payload.iter()))
            }
            // Elements of arrays are never lifted: that is checked where the array type is read.
            TypeExpKind::Array(..) | TypeExpKind::Error => Lifted::No,
            TypeExpKind::Arrow(..) => Lifted::Full,
            TypeExpKind::Exists(_, inner) => self.lifted_of(inner).max(Lifted::Size),
            TypeExpKind::Apply(inner, arg) => {
                let arg = match arg {
                    TypeArg::Type(ty) => self.lifted_of(ty),
                    TypeArg::Size(_) => Lifted::No,
                };
                self.lifted_of(inner).max(arg)
            }
        }
    }

    fn most_lifted<'t>(&self, types: impl IntoIterator<Item = &'t TypeExp<'a>>) -> Lifted
    where
        'a: 't,
    {
        types.into_iter().map(|ty| self.lifted_of(ty)).max().unwrap_or(Lifted::No)
    }

    /// True if a type has sizes that each of its values chooses. Those of an abstract type are its own business.
    pub(super) fn hides_sizes(&self, ty: &Type) -> bool {
        use crate::types::{Size, TypeArgument};
        match self.vars.resolve(ty) {
            Type::Array(Size::Any, _) | Type::Exists(..) => true,
            Type::Array(_, elem) => self.hides_sizes(&elem),
            Type::Record(fields) => fields.iter().any(|(_, t)| self.hides_sizes(t)),
            Type::Sum(cs) => cs.iter().flat_map(|(_, ts)| ts.iter()).any(|t| self.hides_sizes(t)),
            Type::Opaque(_, args) => args.iter().any(|arg| match arg {
                TypeArgument::Type(t) => self.hides_sizes(t),
                TypeArgument::Size(s) => matches!(s, Size::Any),
            }),
            _ => false,
        }
    }

    /// True if a function in the type takes an array of a size that is not named.
    fn anonymous_parameter(&self, ty: &Type, inside: bool) -> bool {
        use crate::types::Size;
        match self.vars.resolve(ty) {
            Type::Array(size, elem) => {
                inside && matches!(size, Size::Any) || self.anonymous_parameter(&elem, inside)
            }
            Type::Arrow(_, from, to) => {
                self.anonymous_parameter(&from, true) || self.anonymous_parameter(&to, false)
            }
            Type::Record(fields) => fields.iter().any(|(_, t)| self.anonymous_parameter(t, inside)),
            Type::Exists(_, inner) => self.anonymous_parameter(&inner, inside),
            _ => false,
        }
    }

    fn module_binding(&mut self, bind: &'a ModBind<'a>) -> Rc<ModVal<'a>> {
        let Some(((param, param_type), rest)) = bind.params.split_first() else {
            self.module_path.push(bind.name.text.to_string());
            let mut module = self.module_exp(bind.def);
            if let Some(sig) = bind.sig {
                module = self.ascribe(module, sig, bind.def.at.span);
            }
            self.module_path.pop();
            return module;
        };
        let frame = self.names.capture();
        let functor = Functor {
            param: *param,
            param_type: Rc::new(ModType { exp: param_type, frame: frame.clone() }),
            body: FunctorBody::Written { rest, sig: bind.sig, body: bind.def, frame },
        };
        self.check_functor(&functor);
        Rc::new(ModVal::Functor(functor))
    }

    /// The module that a file is.
    pub(super) fn import(&mut self, name: &str, span: Span) -> Rc<ModVal<'a>> {
        let path = self.names.import_path(span, name);
        match self.names.files.get(&path) {
            Some(Some(module)) => return module.clone(),
            Some(None) => {
                let text = format!("Import \"{name}\" is a circle: the file imports itself");
                self.report(Diagnostic::error(span, text));
                return Rc::new(ModVal::Error);
            }
            None => {}
        }
        let (file, text) = match self.names.load(&path) {
            Loaded::File(file, text) => (file, text),
            Loaded::Outside => {
                let text =
                    format!("Import \"{name}\" lies outside of the folder that imports are confined to");
                let folder = self.names.confined.as_deref().filter(|f| !f.as_os_str().is_empty());
                let folder = folder.map_or_else(|| ".".into(), |folder| folder.display().to_string());
                self.report(
                    Diagnostic::error(span, text)
                        .with_label(format!("looked for {path}"))
                        .with_hint(format!("only files in {folder} may be imported; links are followed")),
                );
                return Rc::new(ModVal::Error);
            }
            Loaded::Missing(reason) => {
                let text = format!("Could not find import \"{name}\": {reason}");
                self.report(
                    Diagnostic::error(span, text)
                        .with_label(format!("looked for {path}"))
                        .with_hint("the name is relative to this file, without `.fut`"),
                );
                return Rc::new(ModVal::Error);
            }
        };
        self.names.files.insert(path.clone(), None);
        let parsed = parse_prog(self.names.arena, file, &text, self.names.next_id);
        self.names.next_id = parsed.next_id;
        self.names.diagnostics.extend(parsed.diagnostics);
        let prog: &'a Prog<'a> = self.names.arena.alloc(parsed.tree);
        let outer = self.names.capture();
        let later = std::mem::take(&mut self.names.later);
        // A file sees only the prelude and what it imports.
        self.names.frame = crate::names::Frame::default();
        let mut out = Elaborated::default();
        self.decs(prog.decs, &mut out, Place::Imported);
        self.names.later = later;
        self.names.leave(outer);
        let module = Rc::new(ModVal::Struct(out.scope));
        self.names.files.insert(path, Some(module.clone()));
        module
    }
}
