//! What is accepted but deserves a warning.
//!
//! Invariant: a warning is given once for a place, however often the definition was elaborated.

use super::parts::{Part, bind_parts, exp_parts, pat_parts, type_parts};
use crate::names::Res;
use crate::syntax::ast::*;
use crate::types::{Checker, Type};
use galopvm_base::{Diagnostic, ElemType, Span};
use std::collections::HashSet;

/// The warnings about all definitions of the user's program that have been checked.
pub fn warnings(checker: &mut Checker<'_, '_, '_>) -> Vec<Diagnostic> {
    let mut found = std::mem::take(&mut checker.warnings);
    let globals: Vec<_> = checker.names.globals.iter().filter(|g| g.user).copied().collect();
    for global in globals {
        let main = global.bind.keyword == ValKeyword::Entry || global.bind.name.text == "main";
        let mut walk = Walk {
            checker,
            bound: Vec::new(),
            used: HashSet::new(),
            outer: HashSet::new(),
            found: Vec::new(),
        };
        if main {
            global.bind.params.iter().for_each(|pat| walk.outer_names(pat));
        }
        bind_parts(global.bind, &mut |part| walk.part(part));
        walk.unused();
        found.append(&mut walk.found);
    }
    let mut seen = HashSet::new();
    found.retain(|w| seen.insert((w.span, w.message.clone())));
    found.sort_by_key(|w| (w.span.file.0, w.span.start));
    found
}

struct Walk<'c, 'a, 'n, 's> {
    checker: &'c Checker<'a, 'n, 's>,
    /// Names bound, and whether they are types.
    bound: Vec<(Name<'a>, bool)>,
    used: HashSet<NodeId>,
    /// Parameters of an entry point: nobody knows them before the program runs.
    outer: HashSet<NodeId>,
    found: Vec<Diagnostic>,
}

impl<'a> Walk<'_, 'a, '_, '_> {
    fn part(&mut self, part: Part<'a>) {
        match part {
            Part::Exp(exp) => {
                self.look(exp);
                exp_parts(exp, &mut |part| self.part(part));
            }
            Part::Pat(pat) => pat_parts(pat, &mut |part| self.part(part)),
            Part::Type(ty) => {
                self.look_at_type(ty);
                type_parts(ty, &mut |part| self.part(part));
            }
            Part::Bound(name) => self.bound.push((name, false)),
            Part::Param(TypeParam::Size(name)) => self.bound.push((*name, false)),
            Part::Param(TypeParam::Type(_, name)) => self.bound.push((*name, true)),
            Part::Use(id) => {
                if let Some(Res::Local(id) | Res::TypeParam(id)) = self.res(id) {
                    self.used.insert(id);
                }
            }
        }
    }

    fn res(&self, id: NodeId) -> Option<Res> {
        self.checker.names.uses.get(&id).map(|used| used.res)
    }

    fn ty(&self, id: NodeId) -> Option<&Type> {
        self.checker.types.get(&id)
    }

    fn warn(&mut self, span: Span, text: impl Into<String>) -> &mut Diagnostic {
        let last = self.found.len();
        self.found.push(Diagnostic::warning(span, text));
        &mut self.found[last]
    }

    fn outer_names(&mut self, pat: &'a Pat<'a>) {
        pat_parts(pat, &mut |part| match part {
            Part::Pat(inner) => self.outer_names(inner),
            Part::Bound(name) => {
                self.outer.insert(name.at.id);
            }
            _ => {}
        });
    }

    fn unused(&mut self) {
        for (name, is_type) in std::mem::take(&mut self.bound) {
            if self.used.contains(&name.at.id) || name.text.starts_with('_') {
                continue;
            }
            let what = if is_type { "type" } else { "name" };
            let text = format!("Unused {what} \"{}\".", name.text);
            let warning = self.warn(name.at.span, text);
            if !is_type {
                warning.hints.push(format!("if it is to stay, call it `_{}`", name.text));
            }
        }
    }

    fn look_at_type(&mut self, ty: &'a TypeExp<'a>) {
        if let TypeExpKind::Unique(inner) = ty.kind
            && let Some(meant) = self.ty(inner.at.id)
            && !may_be_array(meant)
        {
            let text = format!("Declaring \"{}\" as unique has no effect.", self.checker.vars.show(meant));
            self.warn(ty.at.span, text).hints.push("leave out the `*`: only arrays are shared".into());
        }
    }

    fn look(&mut self, exp: &'a Exp<'a>) {
        match exp.kind {
            ExpKind::BinOp(op, left, _) => {
                if matches!(self.res(op.at.id), Some(Res::Operator("==" | "!=")))
                    && matches!(self.ty(left.at.id), Some(Type::Array(..)))
                {
                    let text = format!(
                        "Comparing arrays with \"{}\" is deprecated and will stop working in a future revision of \
                         the language.",
                        op.name.text()
                    );
                    let warning = self.warn(op.at.span, text);
                    warning.hints.push("compare the elements: `and (map2 (==) xs ys)`".into());
                }
            }
            ExpKind::Apply(head, args) => self.look_at_call(head, args),
            ExpKind::Index(_, dims) => {
                for dim in dims {
                    if let DimIndex::Slice(from, to, step) = dim
                        && step.is_none_or(|step| is_one(step))
                    {
                        [from, to].into_iter().flatten().for_each(|e| self.look_at_size(e));
                    }
                }
            }
            ExpKind::Range { first, second, kind, last } => {
                if matches!(self.ty(first.at.id), Some(Type::Prim(ElemType::I64)))
                    && second.is_none()
                    && kind != RangeKind::Downto
                {
                    [first, last].into_iter().for_each(|e| self.look_at_size(e));
                }
                if second.is_some_and(|second| is_same(self, first, second)) {
                    let text = "First and second element of range are identical, this will produce an empty array.";
                    self.warn(exp.at.span, text);
                }
            }
            ExpKind::Var(name) => {
                if name.parts[0].text == "intrinsics" && matches!(self.res(exp.at.id), Some(Res::Intrinsic(_))) {
                    let text = "Using intrinsic functions directly can easily crash the compiler or result in wrong \
                                code generation.";
                    self.warn(exp.at.span, text);
                }
            }
            ExpKind::Attr(attr, inner) => self.look_at_attribute(&attr, inner),
            _ => {}
        }
    }

    /// An argument that the sizes of the result mention.
    fn look_at_call(&mut self, head: &'a Exp<'a>, args: &'a [Exp<'a>]) {
        let vars = &self.checker.vars;
        let mut rest = self.ty(head.at.id).cloned();
        let mut sizes = Vec::new();
        for arg in args {
            let Some(Type::Arrow(name, _, to)) = rest.map(|ty| vars.resolve(&ty)) else { break };
            if name.is_some_and(|name| vars.mentions_name(&to, name)) {
                sizes.push(arg);
            }
            rest = Some(match &*to {
                Type::Exists(_, inner) => (**inner).clone(),
                other => other.clone(),
            });
        }
        sizes.into_iter().for_each(|arg| self.look_at_size(arg));
    }

    /// An expression whose value is the size of an array.
    fn look_at_size(&mut self, exp: &'a Exp<'a>) {
        if binds(exp) {
            self.warn(exp.at.span, "Size expression with binding is replaced by unknown size.")
                .hints
                .push("bind it with `let` before, and use the name".into());
        }
    }

    fn look_at_attribute(&mut self, attr: &Attr<'a>, exp: &'a Exp<'a>) {
        match (attr.name, attr.args) {
            ("unroll", None) => {
                if let ExpKind::Loop { form, .. } = &exp.kind {
                    let unknown = match form {
                        LoopForm::For(_, bound) => self.is_outer(bound),
                        LoopForm::ForIn(..) => false,
                        LoopForm::While(_) => true,
                    };
                    if unknown {
                        let text = "#[unroll] on loop with unknown number of iterations.";
                        self.warn(exp.at.span, text);
                    }
                }
            }
            ("warn", Some([Attr { name: "safety_checks", .. }])) => {
                let mut search = Search { checker: self.checker, seen: HashSet::new(), found: None };
                search.exp(exp);
                if let Some(place) = search.found {
                    self.warn(exp.at.span, "Safety check required at run time.")
                        .labels
                        .push(galopvm_base::diagnostic::Label { span: place, text: "checked here".into() });
                }
            }
            _ => {}
        }
    }

    /// True for a parameter of an entry point.
    fn is_outer(&self, exp: &Exp<'a>) -> bool {
        matches!(self.res(exp.at.id), Some(Res::Local(id)) if self.outer.contains(&id))
    }
}

fn is_one(exp: &Exp) -> bool {
    match exp.kind {
        ExpKind::Literal(scalar) => scalar.as_f64() == 1.0,
        ExpKind::Number(Number::Int(value)) => value == 1,
        _ => false,
    }
}

fn is_same(walk: &Walk, a: &Exp, b: &Exp) -> bool {
    match (a.kind, b.kind) {
        (ExpKind::Var(_), ExpKind::Var(_)) => {
            matches!((walk.res(a.at.id), walk.res(b.at.id)), (Some(Res::Local(x)), Some(Res::Local(y))) if x == y)
                && a.kind == b.kind
        }
        (ExpKind::Literal(_), ExpKind::Literal(_)) | (ExpKind::Number(_), ExpKind::Number(_)) => a.kind == b.kind,
        _ => false,
    }
}

/// True if something is bound inside of the expression.
fn binds<'a>(exp: &'a Exp<'a>) -> bool {
    let mut found = false;
    exp_parts(exp, &mut |part| match part {
        Part::Exp(inner) => found |= binds(inner),
        Part::Pat(_) | Part::Bound(_) => found = true,
        _ => {}
    });
    found
}

/// True if values of the type may share memory.
fn may_be_array(ty: &Type) -> bool {
    match ty {
        Type::Prim(_) | Type::Arrow(..) => false,
        Type::Record(fields) => fields.iter().any(|(_, t)| may_be_array(t)),
        Type::Sum(constructors) => constructors.iter().flat_map(|(_, ts)| ts.iter()).any(may_be_array),
        Type::Unique(inner) | Type::Exists(_, inner) => may_be_array(inner),
        _ => true,
    }
}

/// The search for something that is checked when the program runs, also in the functions that are called.
struct Search<'c, 'a, 'n, 's> {
    checker: &'c Checker<'a, 'n, 's>,
    seen: HashSet<NodeId>,
    found: Option<Span>,
}

impl<'a> Search<'_, 'a, '_, '_> {
    fn exp(&mut self, exp: &'a Exp<'a>) {
        if self.found.is_some() {
            return;
        }
        if matches!(exp.kind, ExpKind::Index(..) | ExpKind::Coerce(..) | ExpKind::Assert(..)) {
            self.found = Some(exp.at.span);
            return;
        }
        exp_parts(exp, &mut |part| match part {
            Part::Exp(inner) => self.exp(inner),
            Part::Use(id) => {
                if let Some(Res::Global(id)) = self.checker.names.uses.get(&id).map(|used| used.res) {
                    let global = self.checker.names.globals[id];
                    if global.user && self.seen.insert(global.bind.name.at.id) {
                        self.exp(global.bind.body);
                    }
                }
            }
            _ => {}
        });
    }
}
