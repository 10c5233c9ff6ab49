//! Module types: read over an abstract module, or matched against a module.

use super::expression::below;
use crate::names::{Functor, FunctorBody, ModType, ModVal, Res, Scope, View};
use crate::syntax::ast::*;
use crate::types::{
    Anonymous, Checker, Instance, Opaque, Scheme, SchemeParam, Size, Type, TypeArgument, TypeBinding,
    scheme_param,
};
use galopvm_base::{Diagnostic, Span};
use std::rc::Rc;

/// What a module type is read over.
pub(super) enum Source<'a> {
    /// Any module that matches it; its types are called after this name.
    Abstract(String),
    /// A module.
    Module {
        module: Rc<ModVal<'a>>,
        /// The module as the module type shows it with its types left clear; with it, types become abstract.
        clear: Option<Rc<ModVal<'a>>>,
        span: Span,
        /// The names of the modules inside of which this is, with dots.
        path: String,
    },
}

impl<'a> Source<'a> {
    pub fn clear(module: Rc<ModVal<'a>>, span: Span) -> Source<'a> {
        Source::Module { module, clear: None, span, path: String::new() }
    }

    pub fn sealed(module: Rc<ModVal<'a>>, clear: Rc<ModVal<'a>>, span: Span, path: String) -> Source<'a> {
        Source::Module { module, clear: Some(clear), span, path }
    }

    fn path(&self, name: &str) -> String {
        match self {
            Source::Abstract(path) | Source::Module { path, .. } if path.is_empty() => name.to_string(),
            Source::Abstract(path) | Source::Module { path, .. } => format!("{path}.{name}"),
        }
    }

    /// The same for a module inside.
    fn inner(&self, name: &str) -> Option<Source<'a>> {
        let member = |module: &ModVal<'a>| match module {
            ModVal::Struct(scope) => scope.modules.get(name).cloned(),
            _ => None,
        };
        Some(match self {
            Source::Abstract(_) => Source::Abstract(self.path(name)),
            Source::Module { module, clear, span, .. } => Source::Module {
                module: member(module)?,
                clear: match clear {
                    Some(clear) => Some(member(clear)?),
                    None => None,
                },
                span: *span,
                path: self.path(name),
            },
        })
    }
}

/// `with t = ..`, for the type at this path.
struct Refinement {
    path: Vec<String>,
    binding: TypeBinding,
    span: Span,
    used: bool,
}

impl<'a> Checker<'a, '_, '_> {
    /// Some module of this type.
    pub(super) fn abstract_module(&mut self, ty: &ModType<'a>, name: &str) -> Rc<ModVal<'a>> {
        self.match_module(ty, &Source::Abstract(name.to_string()))
    }

    /// A module as a module type shows it.
    pub(super) fn match_module(&mut self, ty: &ModType<'a>, source: &Source<'a>) -> Rc<ModVal<'a>> {
        if matches!(source, Source::Module { module, .. } if matches!(**module, ModVal::Error)) {
            return Rc::new(ModVal::Error);
        }
        let outer = self.names.capture();
        self.names.leave(ty.frame.clone());
        let mut refinements = Vec::new();
        let module = self.module_type(ty.exp, source, &mut refinements);
        self.names.leave(outer);
        Rc::new(module)
    }

    fn module_type(
        &mut self,
        exp: &'a ModTypeExp<'a>,
        source: &Source<'a>,
        refinements: &mut Vec<Refinement>,
    ) -> ModVal<'a> {
        match exp.kind {
            ModTypeExpKind::Var(name) => {
                let Some(ty) = self.module_type_name(&name) else { return ModVal::Error };
                let outer = self.names.capture();
                self.names.leave(ty.frame.clone());
                let module = self.module_type(ty.exp, source, refinements);
                self.names.leave(outer);
                module
            }
            ModTypeExpKind::Parens(inner) => self.module_type(inner, source, refinements),
            ModTypeExpKind::Specs(specs) => {
                if let Source::Module { module, span, .. } = source
                    && matches!(**module, ModVal::Functor(_))
                {
                    let text = "Cannot match parametric module with non-parametric module type.";
                    self.report(Diagnostic::error(*span, text).with_place(exp.at.span, "the Module type"));
                    return ModVal::Error;
                }
                let outer = self.names.capture();
                self.duplicate_specs(specs);
                let mut out = Scope::default();
                for spec in specs {
                    self.spec(spec, source, refinements, &mut out);
                }
                self.names.leave(outer);
                ModVal::Struct(out)
            }
            ModTypeExpKind::With(inner, name, params, ty) => {
                self.names.resolve_type(params, ty);
                self.type_params(params);
                let def = self.type_exp(ty, Anonymous::Keep);
                let binding = TypeBinding {
                    params: params.iter().map(scheme_param).collect(),
                    ty: def,
                    lifted: Lifted::Full,
                };
                let path: Vec<String> = name.parts.iter().map(|p| p.text.to_string()).collect();
                refinements.push(Refinement { path, binding, span: name.span(), used: false });
                let place = refinements.len() - 1;
                let refined = self.refined_types.len();
                let module = self.module_type(inner, source, refinements);
                self.refined_types.truncate(refined);
                let refinement = refinements.remove(place);
                if !refinement.used {
                    let text = format!("\"{}\" is not an abstract type in the module type.", name.text());
                    self.report(Diagnostic::error(refinement.span, text));
                }
                module
            }
            ModTypeExpKind::Arrow(name, param, result) => {
                let frame = self.names.capture();
                let param_type = Rc::new(ModType { exp: param, frame: frame.clone() });
                let result_type = Rc::new(ModType { exp: result, frame });
                let unnamed = Name { text: "_", at: exp.at };
                let param = name.unwrap_or(unnamed);
                let body = match source {
                    Source::Abstract(_) => FunctorBody::Abstract(result_type),
                    Source::Module { module, span, .. } => {
                        let ModVal::Functor(functor) = &**module else {
                            let text = "Cannot match non-parametric module with parametric module type.";
                            self.report(
                                Diagnostic::error(*span, text).with_place(exp.at.span, "the Module type"),
                            );
                            return ModVal::Error;
                        };
                        // Must work for every argument that the module type allows.
                        self.abstract_types += 1;
                        let arg = self.abstract_module(&param_type, param.text);
                        let given = self.apply_functor(functor, arg.clone(), *span);
                        let shown = below(&result_type, param.text, arg);
                        self.match_module(&shown, &Source::clear(given, *span));
                        FunctorBody::Seen(module.clone(), result_type)
                    }
                };
                ModVal::Functor(Functor { param, param_type, body })
            }
        }
    }

    fn module_type_name(&mut self, name: &QualName<'a>) -> Option<Rc<ModType<'a>>> {
        let last = name.last();
        let found = if name.parts.len() == 1 {
            self.names.find_module_type(last.text).or_else(|| self.prelude_module_type(last.text))
        } else {
            match &*self.names.module_path(name)? {
                ModVal::Struct(scope) => scope.module_types.get(last.text).cloned(),
                _ => None,
            }
        };
        if found.is_none() {
            let text = format!("Unknown module type \"{}\"", name.text());
            self.report(Diagnostic::error(name.span(), text).with_label("no module type of this name"));
        }
        found
    }

    /// A module type of the prelude.
    fn prelude_module_type(&mut self, name: &str) -> Option<Rc<ModType<'a>>> {
        if self.names.prelude_scope.is_some() {
            return None;
        }
        let text = galopvm_stdlib::MODULE_TYPES;
        let file = self.names.sources.add("prelude/math.fut", text);
        let parsed = crate::syntax::parse_prog(self.names.arena, file, text, self.names.next_id);
        self.names.next_id = parsed.next_id;
        let prog: &'a Prog<'a> = self.names.arena.alloc(parsed.tree);
        let mut scope = Scope::default();
        let outer = self.names.capture();
        self.names.frame = crate::names::Frame::default();
        for dec in prog.decs {
            if let DecKind::ModType { name, def } = dec.kind {
                let ty = Rc::new(ModType { exp: def, frame: self.names.capture() });
                self.names.frame.scope.module_types.insert(name.text, ty.clone());
                scope.module_types.insert(name.text, ty);
            }
        }
        self.names.leave(outer);
        self.names.prelude_scope = Some(scope);
        self.names.find_module_type(name)
    }

    fn spec(
        &mut self,
        spec: &'a Spec<'a>,
        source: &Source<'a>,
        refinements: &mut Vec<Refinement>,
        out: &mut Scope<'a>,
    ) {
        match spec.kind {
            SpecKind::Type(lifted, name, params) => {
                let binding = self.abstract_type(lifted, &name, params, source, refinements);
                let is_refined = refinements.iter().any(|r| r.path.len() == 1 && r.path[0] == name.text);
                let id = self.named_type(name, binding);
                if is_refined {
                    self.refined_types.push(id);
                }
                self.names.frame.scope.types.insert(name.text, id);
                out.types.insert(name.text, id);
            }
            SpecKind::TypeAbbr(bind) => {
                let binding = self.type_binding(bind);
                if let Source::Module { module, span, clear: None, .. } = source {
                    self.match_type(module, &bind.name, &binding, *span, source, false);
                }
                let id = self.named_type(bind.name, binding);
                self.names.frame.scope.types.insert(bind.name.text, id);
                out.types.insert(bind.name.text, id);
            }
            SpecKind::Val(name, params, ty) => {
                if let Some(res) = self.spec_value(&name, params, ty, source) {
                    // Sizes of types further down may mention it.
                    self.names.frame.scope.term(name.text, res);
                    out.term(name.text, res);
                }
            }
            SpecKind::Module(name, ty) => {
                let Some(inner) = source.inner(name.text) else {
                    if let Source::Module { span, .. } = source {
                        let text = format!(
                            "Module does not define a module named \"{}\", which the module type requires.",
                            source.path(name.text)
                        );
                        self.report(Diagnostic::error(*span, text).with_place(name.at.span, "required here"));
                    }
                    return;
                };
                let mut below: Vec<Refinement> = Vec::new();
                let mut places = Vec::new();
                for (i, refinement) in refinements.iter().enumerate() {
                    if refinement.path.len() > 1 && refinement.path[0] == name.text {
                        below.push(Refinement {
                            path: refinement.path[1..].to_vec(),
                            binding: refinement.binding.clone(),
                            span: refinement.span,
                            used: false,
                        });
                        places.push(i);
                    }
                }
                let module = Rc::new(self.module_type(ty, &inner, &mut below));
                for (inner, place) in below.iter().zip(places) {
                    refinements[place].used |= inner.used;
                }
                self.names.frame.scope.module(name.text, module.clone());
                out.module(name.text, module);
            }
            SpecKind::Include(ty) => {
                if let ModVal::Struct(scope) = self.module_type(ty, source, refinements) {
                    self.warn_of_shadowing(ty.at.span, &scope);
                    self.names.frame.scope.include(&scope);
                    out.include(&scope);
                }
            }
        }
    }

    /// Warns of abstract types that take the names of types in sight.
    fn warn_of_shadowing(&mut self, span: Span, scope: &Scope<'a>) {
        for (name, id) in &scope.types {
            let is_abstract =
                self.bindings.get(id).is_some_and(|binding| matches!(binding.ty, Type::Opaque(..)));
            let known = self.names.frame.chain().any(|frame| frame.scope.types.contains_key(name));
            if is_abstract && known {
                let text = format!("Inclusion shadows type \"{name}\".");
                // A module type is read again wherever it is used.
                if !self.names.diagnostics.iter().any(|d| d.span == span && d.message == text) {
                    self.report(Diagnostic::warning(span, text).with_label("has a type of the same name"));
                }
            }
        }
    }

    /// Refuses names that are specified twice; what is included may be specified again.
    fn duplicate_specs(&mut self, specs: &'a [Spec<'a>]) {
        let mut seen: Vec<(&str, &'a str, Span)> = Vec::new();
        for spec in specs {
            let (what, name) = match spec.kind {
                SpecKind::Type(_, name, _) => ("type", name),
                SpecKind::TypeAbbr(bind) => ("type", bind.name),
                SpecKind::Val(name, ..) => ("term", name),
                SpecKind::Module(name, _) => ("term", name),
                SpecKind::Include(_) => continue,
            };
            if let Some((.., before)) = seen.iter().find(|(w, n, _)| *w == what && *n == name.text) {
                let text = format!("Duplicate definition of {what} {} in the module type.", name.text);
                self.report(
                    Diagnostic::error(name.at.span, text).with_place(*before, "first specified here"),
                );
            }
            seen.push((what, name.text, name.at.span));
        }
    }

    /// The type that a module type leaves abstract.
    fn abstract_type(
        &mut self,
        lifted: Lifted,
        name: &Name<'a>,
        params: &'a [TypeParam<'a>],
        source: &Source<'a>,
        refinements: &mut [Refinement],
    ) -> TypeBinding {
        self.type_params(params);
        let own: Rc<[SchemeParam]> = params.iter().map(scheme_param).collect();
        let open = TypeBinding { params: own.clone(), ty: Type::Error, lifted };
        let refined = refinements.iter_mut().rev().find(|r| r.path.len() == 1 && r.path[0] == name.text);
        if let Some(refinement) = refined {
            refinement.used = true;
            let (binding, span) = (refinement.binding.clone(), refinement.span);
            if !same_params(&own, &binding.params) {
                let show = |params: &[SchemeParam]| match params.len() {
                    0 => "no type parameters".to_string(),
                    n => format!("{n} type parameters"),
                };
                let text = format!(
                    "Cannot refine a type having {} with a type having {}.",
                    show(&own),
                    show(&binding.params)
                );
                self.report(Diagnostic::error(span, text).with_place(name.at.span, "the type"));
                return open;
            }
            if let Source::Module { module, span, clear: None, .. } = source {
                self.match_type(module, name, &binding, *span, source, false);
            }
            return TypeBinding { lifted, ..binding };
        }
        let definition = match source {
            Source::Abstract(_) => None,
            Source::Module { module, span, clear, .. } => {
                let Some(binding) = self.match_type(module, name, &open, *span, source, true) else {
                    return open;
                };
                if clear.is_none() {
                    self.abstract_types += 1;
                    return binding;
                }
                Some(binding)
            }
        };
        let id = self.vars.opaques.push(Opaque { name: source.path(name.text), lifted, definition });
        let args = own.iter().map(|param| match *param {
            SchemeParam::Type(id, _) => TypeArgument::Type(Type::Param(id)),
            SchemeParam::Size(id) => TypeArgument::Size(Size::Name(id)),
        });
        TypeBinding { params: own.clone(), ty: Type::Opaque(id, args.collect()), lifted }
    }

    /// The type of this name in a module, which must be the one asked for (or any, for an abstract type).
    fn match_type(
        &mut self,
        module: &ModVal<'a>,
        name: &Name<'a>,
        wanted: &TypeBinding,
        span: Span,
        source: &Source<'a>,
        any: bool,
    ) -> Option<TypeBinding> {
        let shown = source.path(name.text);
        let found = match self.names.module_type_of(module, name.text) {
            Some(Res::Abbr(id)) => self.bindings.get(&id).cloned(),
            Some(Res::Prim(ty)) => {
                Some(TypeBinding { params: Rc::from([]), ty: Type::Prim(ty), lifted: Lifted::No })
            }
            _ => None,
        };
        let Some(found) = found else {
            let text =
                format!("Module does not define a type named \"{shown}\", which the module type requires.");
            self.report(Diagnostic::error(span, text).with_place(name.at.span, "required here"));
            return None;
        };
        let lifted_too_far = found.lifted > wanted.lifted;
        let same = same_params(&wanted.params, &found.params);
        let equal = any
            || same && {
                let args: Vec<TypeArgument> = wanted
                    .params
                    .iter()
                    .map(|param| match *param {
                        SchemeParam::Type(id, _) => TypeArgument::Type(Type::Param(id)),
                        SchemeParam::Size(id) => TypeArgument::Size(Size::Name(id)),
                    })
                    .collect();
                let have = self.expand(&found, &args);
                self.vars.unify(&wanted.ty, &have).is_ok()
            };
        let params = self.show_params(&wanted.params);
        if any && !self.constructive(&found) {
            let text = format!(
                "Type \"type {shown}{params} = {}\" cannot be made abstract because a size parameter is not used constructively as an array size in the definition.",
                self.vars.show(&found.ty)
            );
            self.report(Diagnostic::error(span, text).with_place(name.at.span, "abstract here"));
        }
        if !same || !equal || any && lifted_too_far {
            let want = if any { String::new() } else { format!(" = {}", self.vars.show(&wanted.ty)) };
            let lifted = if any && lifted_too_far { " (a non-lifted type)" } else { "" };
            let text = format!(
                "Module defines \"type{} {shown}{} = {}\" but module type requires \"type{} {shown}{params}{want}\"{lifted}.",
                mark(found.lifted),
                self.show_params(&found.params),
                self.vars.show(&found.ty),
                mark(wanted.lifted),
            );
            self.report(Diagnostic::error(span, text).with_place(name.at.span, "required here"));
            return None;
        }
        Some(found)
    }

    fn show_params(&self, params: &[SchemeParam]) -> String {
        let shown = params.iter().map(|param| {
            let name = self.vars.names.get(&param.id()).map_or("_", String::as_str);
            match param {
                SchemeParam::Size(_) => format!(" [{name}]"),
                SchemeParam::Type(_, lifted) => format!(" '{}{name}", mark(*lifted)),
            }
        });
        shown.collect()
    }

    /// True if every size parameter is the size of some array in the type.
    fn constructive(&self, binding: &TypeBinding) -> bool {
        let mut witnesses = Vec::new();
        self.witnesses(&binding.ty, &mut witnesses);
        binding.params.iter().all(|param| match param {
            SchemeParam::Size(id) => witnesses.contains(id),
            SchemeParam::Type(..) => true,
        })
    }

    /// Names that are whole sizes of arrays of a value of the type.
    pub(crate) fn witnesses(&self, ty: &Type, out: &mut Vec<NodeId>) {
        match self.vars.resolve(ty) {
            Type::Array(size, elem) => {
                if let Size::Name(id) = self.vars.resolve_size(&size) {
                    out.push(id);
                }
                self.witnesses(&elem, out);
            }
            Type::Exists(_, inner) => self.witnesses(&inner, out),
            Type::Record(fields) => fields.iter().for_each(|(_, t)| self.witnesses(t, out)),
            Type::Opaque(_, args) => args.iter().for_each(|arg| match arg {
                TypeArgument::Size(size) => {
                    if let Size::Name(id) = self.vars.resolve_size(size) {
                        out.push(id);
                    }
                }
                // Whether a value has any such part is not known.
                TypeArgument::Type(_) => {}
            }),
            _ => {}
        }
    }

    /// A value that a module type asks for.
    fn spec_value(
        &mut self,
        name: &Name<'a>,
        params: &'a [TypeParam<'a>],
        ty: &'a TypeExp<'a>,
        source: &Source<'a>,
    ) -> Option<Res> {
        self.names.resolve_type(params, ty);
        self.type_params(params);
        let written = ty;
        let ty = self.type_exp(written, Anonymous::Infer);
        let mut all: Vec<SchemeParam> = params.iter().map(scheme_param).collect();
        let mut open = Vec::new();
        self.vars.free_sizes(&ty, &mut open);
        let anonymous = self.leaves_sizes_open(written, false);
        self.close_sizes(open, &mut all);
        let scheme = Scheme { params: all.into(), ty: self.vars.zonk(&ty) };
        if anonymous && matches!(source, Source::Abstract(_)) {
            let text = format!(
                "All function parameters must have non-anonymous sizes in the type of \"{}\".",
                name.text
            );
            self.report(
                Diagnostic::error(name.at.span, text)
                    .with_hint(format!("add size parameters: `val {} [n] : [n]t -> ..`", name.text)),
            );
        }
        let target = match source {
            Source::Abstract(_) => None,
            Source::Module { module, span, clear: None, .. } => {
                let Some(res) = self.names.module_term(module, name.text) else {
                    let text = format!(
                        "Module does not define a value named \"{}\", but module type requires \"val {0} : {}\".",
                        source.path(name.text),
                        self.vars.show(&scheme.ty)
                    );
                    self.report(Diagnostic::error(*span, text).with_place(name.at.span, "required here"));
                    return None;
                };
                let instance = self.match_value(name, &scheme, res, *span, source);
                // A number that sizes may mention stays itself.
                if matches!(scheme.ty, Type::Prim(_)) {
                    return Some(res);
                }
                Some((res, instance))
            }
            Source::Module { clear: Some(clear), .. } => match self.names.module_term(clear, name.text)? {
                Res::View(id) => {
                    let clear = self.names.views[id].clone();
                    clear
                        .target
                        .map(|(res, instance)| (res, renamed(&self.vars, instance, &clear.scheme, &scheme)))
                }
                res => Some((res, Instance::default())),
            },
        };
        let id = self.vars.fresh_name(name.text);
        let view = View { id, name: name.text.to_string(), span: name.at.span, scheme, target };
        Some(Res::View(self.names.views.push(view)))
    }

    /// True if the type of a value, as written, has sizes that nobody names. Those that `with` brings into it are
    /// parameters of the value.
    fn leaves_sizes_open(&self, ty: &TypeExp<'a>, in_result: bool) -> bool {
        let inside = |ty: &TypeExp<'a>| self.leaves_sizes_open(ty, in_result);
        match ty.kind {
            TypeExpKind::Var(name) => {
                let res = self.names.uses.get(&name.parts[0].at.id).map(|u| u.res);
                let Some(Res::Abbr(id)) = res else { return false };
                let hides = |id| self.bindings.get(id).is_some_and(|binding| self.hides_sizes(&binding.ty));
                !in_result && !self.refined_types.contains(&id) && hides(&id)
            }
            TypeExpKind::Parens(inner) | TypeExpKind::Unique(inner) => inside(inner),
            TypeExpKind::Tuple(items) => items.iter().any(inside),
            TypeExpKind::Record(fields) => fields.iter().any(|(_, ty)| inside(ty)),
            TypeExpKind::Sum(cs) => cs.iter().flat_map(|(_, payload)| payload.iter()).any(inside),
            TypeExpKind::Array(size, elem) => !in_result && size.size.is_none() || inside(elem),
            TypeExpKind::Arrow(_, from, to) => {
                self.leaves_sizes_open(from, false) || self.leaves_sizes_open(to, true)
            }
            TypeExpKind::Exists(_, inner) => !in_result || inside(inner),
            TypeExpKind::Apply(head, arg) => {
                inside(head)
                    || match arg {
                        TypeArg::Type(ty) => inside(ty),
                        TypeArg::Size(size) => !in_result && size.size.is_none(),
                    }
            }
            TypeExpKind::Error => false,
        }
    }

    /// What the parameters of a module's value are, in terms of those that the module type gives it.
    fn match_value(
        &mut self,
        name: &Name<'a>,
        wanted: &Scheme,
        res: Res,
        span: Span,
        source: &Source<'a>,
    ) -> Instance {
        let scheme = self.scheme_of(res, span);
        let (found, mut instance) = self.vars.instantiate(&scheme, span, name.text);
        let clash = self.vars.unify(&wanted.ty, &found);
        let unique = crate::consume::marks_fit(&self.vars.zonk(&wanted.ty), &self.vars.zonk(&scheme.ty));
        if clash.is_err() || !unique {
            let shown = source.path(name.text);
            let why = match clash {
                Err(clash) => self.reason(&clash),
                Ok(()) => "Uniqueness does not match: the module's value is consuming more, or gives less, than the module type says.".into(),
            };
            let text = format!(
                "Module type specifies \"val {shown}{} : {}\" but module provides \"val {shown}{} : {}\". {why}",
                self.show_params(&wanted.params),
                self.vars.show(&wanted.ty),
                self.show_params(&scheme.params),
                self.vars.show(&scheme.ty)
            );
            self.report(Diagnostic::error(span, text).with_place(name.at.span, "specified here"));
        }
        instance.types.iter_mut().for_each(|(_, t)| *t = self.vars.zonk(t));
        instance.sizes.iter_mut().for_each(|(_, s)| *s = self.vars.zonk_size(s));
        instance
    }
}

/// An instance in terms of another scheme with the same parameters.
fn renamed(vars: &crate::types::Vars, mut instance: Instance, from: &Scheme, to: &Scheme) -> Instance {
    let types: Vec<(NodeId, Type)> =
        from.params.iter().zip(to.params.iter()).map(|(a, b)| (a.id(), Type::Param(b.id()))).collect();
    let size = |id: NodeId| {
        from.params.iter().zip(to.params.iter()).find(|(a, _)| a.id() == id).map(|(_, b)| Size::Name(b.id()))
    };
    for (_, ty) in &mut instance.types {
        *ty = vars.replace_sizes(&vars.substitute(ty, &types), &size);
    }
    for (_, s) in &mut instance.sizes {
        *s = vars.map_size(s, &mut |part| match part {
            Size::Name(id) => size(*id),
            _ => None,
        });
    }
    instance
}

fn same_params(a: &[SchemeParam], b: &[SchemeParam]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(x, y)| match (x, y) {
            (SchemeParam::Size(_), SchemeParam::Size(_)) => true,
            (SchemeParam::Type(_, l), SchemeParam::Type(_, m)) => l <= m,
            _ => false,
        })
}

fn mark(lifted: Lifted) -> &'static str {
    match lifted {
        Lifted::No => "",
        Lifted::Size => "~",
        Lifted::Full => "^",
    }
}
