//! Modules as module types show them, for readers: everything that a module defines, with types.

use crate::names::{AbbrId, Functor, ModVal, Res, Scope};
use crate::syntax::ast::{Lifted, ModExp};
use crate::syntax::is_operator;
use crate::types::{Checker, Scheme, SchemeParam, Type};
use galopvm_base::{ElemType, Span};

impl<'a> Checker<'a, '_, '_> {
    /// What a module expression defines, by name.
    pub fn module_type_text(&mut self, exp: &'a ModExp<'a>) -> String {
        let module = self.module_exp(exp);
        let messages = self.names.diagnostics.len();
        let text = self.module_text(&module, exp.at.span, 0);
        // What is only looked at here is no news.
        self.names.diagnostics.truncate(messages);
        text
    }

    fn module_text(&mut self, module: &ModVal<'a>, span: Span, depth: usize) -> String {
        let lines = match module {
            ModVal::Struct(scope) => self.scope_lines(scope, span, depth),
            ModVal::Scalar(ty) => self.scalar_lines(*ty, span),
            ModVal::Functor(functor) => return self.functor_text(functor, span, depth),
            ModVal::Error => return "?".into(),
        };
        if lines.is_empty() {
            return "{}".into();
        }
        let margin = "  ".repeat(depth);
        let lines: String = lines.iter().map(|line| format!("{margin}  {line}\n")).collect();
        format!("{{\n{lines}{margin}}}")
    }

    fn functor_text(&mut self, functor: &Functor<'a>, span: Span, depth: usize) -> String {
        let name = functor.param.text;
        let argument = self.abstract_module(&functor.param_type, name);
        let result = self.apply_functor(functor, argument.clone(), span);
        let argument = self.module_text(&argument, span, depth);
        format!("({name}: {argument}) -> {}", self.module_text(&result, span, depth))
    }

    fn scope_lines(&mut self, scope: &Scope<'a>, span: Span, depth: usize) -> Vec<String> {
        let mut lines: Vec<String> = scope.opened.iter().map(|ty| format!("include {ty}")).collect();
        let mut types: Vec<_> = scope.types.iter().map(|(name, id)| (*name, *id)).collect();
        types.sort_unstable_by_key(|(name, _)| *name);
        lines.extend(types.into_iter().map(|(name, id)| self.type_line(name, id)));
        let mut terms: Vec<_> = scope.terms.iter().map(|(name, res)| (*name, *res)).collect();
        terms.sort_unstable_by_key(|(name, _)| *name);
        for (name, res) in terms {
            let scheme = self.scheme_of(res, span);
            lines.push(self.value_line(name, &scheme));
        }
        let mut modules: Vec<_> =
            scope.modules.iter().map(|(name, module)| (*name, module.clone())).collect();
        modules.sort_unstable_by_key(|(name, _)| *name);
        for (name, module) in modules {
            lines.push(format!("module {name} : {}", self.module_text(&module, span, depth + 1)));
        }
        let mut module_types: Vec<&str> = scope.module_types.keys().copied().collect();
        module_types.sort_unstable();
        lines.extend(module_types.into_iter().map(|name| format!("module type {name}")));
        lines
    }

    fn scalar_lines(&mut self, ty: ElemType, span: Span) -> Vec<String> {
        let mut names = galopvm_stdlib::member_names(ty);
        names.sort_unstable();
        let mut lines = vec![format!("type t = {ty}")];
        for name in names {
            let scheme = self.names.member(ty, name).map(|res: Res| self.scheme_of(res, span));
            lines.extend(scheme.map(|scheme| self.value_line(name, &scheme)));
        }
        lines
    }

    fn value_line(&self, name: &str, scheme: &Scheme) -> String {
        let name = if is_operator(name) { format!("({name})") } else { name.to_string() };
        format!("val {name}{} : {}", self.params_text(&scheme.params), self.vars.show(&scheme.ty))
    }

    fn type_line(&self, name: &str, id: AbbrId) -> String {
        let Some(binding) = self.bindings.get(&id) else { return format!("type {name}") };
        let mark = lifted_mark(binding.lifted);
        let head = format!("type{mark} {name}{}", self.params_text(&binding.params));
        match self.vars.resolve(&binding.ty) {
            // Its own name says nothing about an abstract type.
            Type::Opaque(..) => head,
            ty => format!("{head} = {}", self.vars.show(&ty)),
        }
    }

    fn params_text(&self, params: &[SchemeParam]) -> String {
        let name = |id| self.vars.names.get(id).map_or("_", String::as_str);
        let shown = params.iter().map(|param| match param {
            SchemeParam::Size(id) => format!(" [{}]", name(id)),
            SchemeParam::Type(id, lifted) => format!(" '{}{}", lifted_mark(*lifted), name(id)),
        });
        shown.collect()
    }
}

fn lifted_mark(lifted: Lifted) -> &'static str {
    match lifted {
        Lifted::No => "",
        Lifted::Size => "~",
        Lifted::Full => "^",
    }
}
