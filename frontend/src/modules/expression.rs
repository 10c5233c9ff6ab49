//! Module expressions and applications of parametric modules.

use super::elaborate::{Elaborated, Place};
use super::signature::Source;
use crate::names::{Frame, Functor, FunctorBody, ModType, ModVal, Scope};
use crate::syntax::ast::*;
use crate::syntax::parse_module_at;
use crate::types::Checker;
use galopvm_base::{Diagnostic, Span};
use std::rc::Rc;

impl<'a> Checker<'a, '_, '_> {
    pub(super) fn module_exp(&mut self, exp: &'a ModExp<'a>) -> Rc<ModVal<'a>> {
        match exp.kind {
            ModExpKind::Var(name) => self.module_name(&name),
            ModExpKind::Parens(inner) => self.module_exp(inner),
            ModExpKind::Decs(decs) => {
                let outer = self.names.capture();
                let mut out = Elaborated::default();
                self.decs(decs, &mut out, Place::Module);
                self.names.leave(outer);
                Rc::new(ModVal::Struct(out.scope))
            }
            ModExpKind::Import(path) => self.import(path, exp.at.span),
            ModExpKind::Apply(function, arg) => {
                let function = self.module_exp(function);
                let given = self.module_exp(arg);
                match &*function {
                    ModVal::Functor(functor) => self.apply_functor(functor, given, arg.at.span),
                    ModVal::Error => function,
                    _ => {
                        self.report(
                            Diagnostic::error(exp.at.span, "Cannot apply non-parametric module.")
                                .with_hint("only a module with parameters can be applied"),
                        );
                        Rc::new(ModVal::Error)
                    }
                }
            }
            ModExpKind::Ascript(inner, sig) => {
                let module = self.module_exp(inner);
                self.ascribe(module, sig, inner.at.span)
            }
            ModExpKind::Lambda(param, param_type, sig, body) => {
                let frame = self.names.capture();
                let functor = Functor {
                    param,
                    param_type: Rc::new(ModType { exp: param_type, frame: frame.clone() }),
                    body: FunctorBody::Written { rest: &[], sig, body, frame },
                };
                self.check_functor(&functor);
                Rc::new(ModVal::Functor(functor))
            }
        }
    }

    fn module_name(&mut self, name: &QualName<'a>) -> Rc<ModVal<'a>> {
        let last = name.last();
        if name.parts[0].text == "intrinsics" {
            let text = "The 'intrinsics' module may not be used in module expressions.";
            self.report(Diagnostic::error(name.span(), text));
            return Rc::new(ModVal::Error);
        }
        let found = if name.parts.len() == 1 {
            self.names.find_module(last.text)
        } else {
            match self.names.module_path(name) {
                Some(outer) => match &*outer {
                    ModVal::Struct(scope) => scope.modules.get(last.text).cloned(),
                    _ => None,
                },
                None => return Rc::new(ModVal::Error),
            }
        };
        found.unwrap_or_else(|| {
            let text = format!("Unknown module \"{}\"", name.text());
            self.report(
                Diagnostic::error(name.span(), text).with_label("no module of this name is in sight"),
            );
            Rc::new(ModVal::Error)
        })
    }

    /// Shows a module through a module type.
    pub(super) fn ascribe(
        &mut self,
        module: Rc<ModVal<'a>>,
        sig: &'a ModTypeExp<'a>,
        span: Span,
    ) -> Rc<ModVal<'a>> {
        let ty = ModType { exp: sig, frame: self.names.capture() };
        self.seal(module, &ty, span)
    }

    /// A module seen through a module type: its abstract types are new.
    pub(super) fn seal(&mut self, module: Rc<ModVal<'a>>, ty: &ModType<'a>, span: Span) -> Rc<ModVal<'a>> {
        if matches!(*module, ModVal::Error) {
            return module;
        }
        let before = self.names.diagnostics.len();
        let outer = std::mem::take(&mut self.abstract_types);
        let clear = self.match_module(ty, &Source::clear(module.clone(), span));
        let hides = std::mem::replace(&mut self.abstract_types, outer) > 0;
        // Where nothing is abstract, the module as it is shown is the module as it is.
        if self.names.diagnostics.len() > before || !hides {
            return clear;
        }
        let path = self.module_path.join(".");
        self.match_module(ty, &Source::sealed(module, clear, span, path))
    }

    /// Checks a parametric module by itself.
    pub(super) fn check_functor(&mut self, functor: &Functor<'a>) {
        let arg = self.abstract_module(&functor.param_type, functor.param.text);
        let FunctorBody::Written { rest, sig, body, frame } = &functor.body else { return };
        let outer = self.names.capture();
        self.names.leave(frame.clone());
        self.names.frame.scope.module(functor.param.text, arg);
        for (param, param_type) in *rest {
            let ty = ModType { exp: param_type, frame: self.names.capture() };
            let arg = self.abstract_module(&ty, param.text);
            self.names.frame.scope.module(param.text, arg);
        }
        let module = self.module_exp(body);
        if let Some(sig) = *sig {
            self.ascribe(module, sig, body.at.span);
        }
        self.names.leave(outer);
    }

    /// A parametric module applied to an argument that matches its parameter, or a message.
    pub(super) fn apply_functor(
        &mut self,
        functor: &Functor<'a>,
        arg: Rc<ModVal<'a>>,
        span: Span,
    ) -> Rc<ModVal<'a>> {
        if matches!(*arg, ModVal::Error) {
            return arg;
        }
        let before = self.names.diagnostics.len();
        let arg = self.match_module(&functor.param_type, &Source::clear(arg, span));
        if self.names.diagnostics.len() > before {
            return Rc::new(ModVal::Error);
        }
        let name = functor.param.text;
        match &functor.body {
            FunctorBody::Written { rest, sig, body, frame } => {
                let outer = self.names.capture();
                self.names.leave(frame.clone());
                self.names.frame.scope.module(name, arg);
                let result = self.functor_result(rest, *sig, body, span);
                self.names.leave(outer);
                result
            }
            FunctorBody::Seen(inner, ty) => {
                let ModVal::Functor(inner) = &**inner else { return Rc::new(ModVal::Error) };
                let result = self.apply_functor(inner, arg.clone(), span);
                self.seal(result, &below(ty, name, arg), span)
            }
            FunctorBody::Abstract(ty) => self.abstract_module(&below(ty, name, arg), name),
        }
    }

    fn functor_result(
        &mut self,
        rest: &'a [(Name<'a>, ModTypeExp<'a>)],
        sig: Option<&'a ModTypeExp<'a>>,
        body: &'a ModExp<'a>,
        span: Span,
    ) -> Rc<ModVal<'a>> {
        if let Some(((param, param_type), rest)) = rest.split_first() {
            let frame = self.names.capture();
            return Rc::new(ModVal::Functor(Functor {
                param: *param,
                param_type: Rc::new(ModType { exp: param_type, frame: frame.clone() }),
                body: FunctorBody::Written { rest, sig, body, frame },
            }));
        }
        let file = body.at.span.file;
        let text = self.names.sources.text(file).to_string();
        let parsed = parse_module_at(self.names.arena, file, &text, body.at.span.start, self.names.next_id);
        self.names.next_id = parsed.next_id;
        // Its errors have been reported when the module was checked by itself.
        let Some(copy) = parsed.tree.filter(|_| parsed.diagnostics.is_empty()) else {
            return Rc::new(ModVal::Error);
        };
        let before = self.names.diagnostics.len();
        self.applications += 1;
        let module = self.module_exp(copy);
        self.applications -= 1;
        let module = match sig {
            Some(sig) => self.ascribe(module, sig, span),
            None => module,
        };
        self.once(before);
        module
    }

    /// Drops messages that say again what was said before, at the same place.
    fn once(&mut self, before: usize) {
        let new = self.names.diagnostics.split_off(before);
        for diagnostic in new {
            let said = self.names.diagnostics.iter().any(|d| d.span == diagnostic.span);
            if !said {
                self.names.diagnostics.push(diagnostic);
            }
        }
    }
}

/// A module type that also sees a parameter.
pub(super) fn below<'a>(ty: &ModType<'a>, name: &'a str, arg: Rc<ModVal<'a>>) -> ModType<'a> {
    let mut scope = Scope::default();
    scope.module(name, arg);
    ModType { exp: ty.exp, frame: Rc::new(Frame { scope, parent: Some(ty.frame.clone()) }) }
}
