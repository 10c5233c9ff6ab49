//! The walk over expressions: what each shares, uses and consumes.

use super::aliases::Aliases;
use super::scope::Binding;
use super::tree::{Marks, Tree, Value};
use super::{Walk, report};
use crate::syntax::ast::*;
use galopvm_base::Span;
use std::rc::Rc;

impl<'a> Walk<'_, 'a, '_, '_> {
    /// An expression's value.
    pub(super) fn exp(&mut self, exp: &'a Exp<'a>) -> Value {
        match exp.kind {
            ExpKind::Literal(_) | ExpKind::Number(_) | ExpKind::String(..) => self.fresh(exp.at.id),
            ExpKind::Hole | ExpKind::Error | ExpKind::SectionPath(_) => {
                if let ExpKind::SectionPath(steps) = exp.kind {
                    self.steps(steps);
                }
                self.fresh(exp.at.id)
            }
            ExpKind::Var(name) => {
                let value = self.occurrence(exp.at.id, exp.at.span, name.parts);
                self.fit_value(exp, value)
            }
            ExpKind::Section(op) => {
                let value = self.occurrence(op.at.id, op.at.span, op.name.parts);
                self.fit_value(exp, value)
            }
            ExpKind::Parens(inner) | ExpKind::QualParens(_, inner) | ExpKind::Attr(_, inner) => {
                self.exp(inner)
            }
            ExpKind::Coerce(inner, written) | ExpKind::Ascript(inner, written) => {
                let value = self.exp(inner);
                if value.has_function() {
                    let wanted = self.shape(exp.at.id).fill(&false).written(written);
                    self.check_functions(inner, &wanted, None);
                }
                value
            }
            ExpKind::Tuple(items) => Tree::tuple(items.iter().map(|item| self.exp(item)).collect()),
            ExpKind::Record(fields) => self.record(exp, fields),
            ExpKind::Array(items) => {
                let consumes =
                    |item: &&Exp<'_>| !matches!(item.kind, ExpKind::Literal(_) | ExpKind::Number(_));
                items.iter().filter(consumes).for_each(|item| drop(self.exp(item)));
                self.fresh(exp.at.id)
            }
            ExpKind::Project(inner, field) => {
                let value = self.exp(inner);
                match value.field(field.text) {
                    Some(part) => part.clone(),
                    None => self.fresh(exp.at.id).adding(&value.aliases()),
                }
            }
            ExpKind::Index(inner, dims) => {
                let value = self.exp(inner);
                self.dims(dims);
                self.fresh(exp.at.id).adding(&value.aliases())
            }
            ExpKind::Apply(head, args) => self.apply(exp, head, args),
            ExpKind::BinOp(..) => self.operators(exp),
            ExpKind::Negate(inner) | ExpKind::Not(inner) => {
                self.exp(inner);
                self.fresh(exp.at.id)
            }
            ExpKind::Lambda(params, written, body) => {
                let result = self.result_shape(exp.at.id, params.len(), body);
                self.function_value(params, written, body, result)
            }
            ExpKind::SectionLeft(op, arg) | ExpKind::SectionRight(op, arg) => {
                let function = self.occurrence(op.at.id, op.at.span, op.name.parts);
                let arg = self.exp(arg);
                self.fresh(exp.at.id).adding(&function.aliases().union(&arg.aliases()))
            }
            ExpKind::If(condition, yes, no) => {
                self.exp(condition);
                let yes = self.contain(|walk| walk.exp(yes));
                let no = self.contain(|walk| walk.exp(no));
                self.branches(exp, vec![yes, no])
            }
            ExpKind::Match(value, cases) => {
                let value = self.exp(value);
                let cases = cases.iter().map(|(pat, body)| {
                    self.contain(|walk| {
                        let names = walk.bind_pat(pat, value.clone());
                        let result = walk.exp(body);
                        names.into_iter().for_each(|name| walk.leave(name));
                        result
                    })
                });
                let cases = cases.collect();
                self.branches(exp, cases)
            }
            ExpKind::Let { .. } | ExpKind::LetFun { .. } | ExpKind::LetWith { .. } => {
                let (mut body, mut names) = (exp, Vec::new());
                while let Some(next) = self.let_head(body, &mut names) {
                    body = next;
                }
                let result = self.exp(body);
                names.into_iter().rev().for_each(|name| self.leave(name));
                result
            }
            ExpKind::Update(old, steps, value) => self.update(exp, old, steps, value),
            ExpKind::Loop { pat, init, ref form, body } => self.loop_exp(pat, init, form, body),
            ExpKind::Constr(name, args) => {
                let payloads: Rc<[Value]> = args.iter().map(|arg| self.exp(arg)).collect();
                let shape = self.fresh(exp.at.id);
                if matches!(shape, Tree::Sum(_)) {
                    return shape.with_constructor(name, payloads);
                }
                let all = payloads.iter().fold(Aliases::default(), |all, part| all.union(&part.aliases()));
                shape.adding(&all)
            }
            ExpKind::Range { first, second, kind: _, last } => {
                for part in [Some(first), second, Some(last)].into_iter().flatten() {
                    self.exp(part);
                }
                self.fresh(exp.at.id)
            }
            ExpKind::Assert(condition, value) => {
                self.exp(condition);
                self.exp(value)
            }
        }
    }

    /// What a `let` binds, which is then in scope for the body that it gives.
    fn let_head(&mut self, exp: &'a Exp<'a>, names: &mut Vec<NodeId>) -> Option<&'a Exp<'a>> {
        match exp.kind {
            ExpKind::Let { sizes: _, pat, value, body } => {
                let given = self.shape(value.at.id);
                let value = self.let_value(value);
                self.pat_sizes(pat);
                self.check_pat_functions(pat, &given);
                names.extend(self.bind_pat(pat, value));
                Some(body)
            }
            ExpKind::LetFun { fun, body } => {
                let result = self.shape(fun.body.at.id);
                let value = self.function_value(fun.params, fun.result, fun.body, result);
                self.enter(&fun.name, value, Binding::Function, false);
                names.push(fun.name.at.id);
                Some(body)
            }
            ExpKind::LetWith { name, old, steps, value, body } => {
                self.update(exp, old, steps, value);
                let shape = self.shape(old.at.id);
                let value = shape.fresh().naming(name.at.id, &mut self.paths);
                self.enter(&name, value, Binding::Let, true);
                names.push(name.at.id);
                Some(body)
            }
            _ => None,
        }
    }

    /// A value with the shape of the expression's type.
    fn fit_value(&self, exp: &Exp<'a>, value: Value) -> Value {
        match (&value, self.checker.types.get(exp.at.id)) {
            (Tree::Scalar | Tree::Array(_) | Tree::Function(..), _) | (_, None) => value,
            (_, Some(ty)) => value.fit(&Marks::of(ty)),
        }
    }

    fn record(&mut self, exp: &'a Exp<'a>, fields: &'a [(Name<'a>, Option<Exp<'a>>)]) -> Value {
        let shape = self.shape(exp.at.id);
        let mut parts: Vec<(Rc<str>, Value)> = Vec::new();
        for (name, value) in fields {
            let value = match value {
                Some(value) => self.exp(value),
                None => {
                    let value = self.occurrence(name.at.id, name.at.span, std::slice::from_ref(name));
                    match shape.field(name.text) {
                        Some(shape) => value.fit(shape),
                        None => value,
                    }
                }
            };
            parts.push((name.text.into(), value));
        }
        Tree::record(parts)
    }

    /// The value of a `let`. A function that was made by consuming something could be called twice.
    fn let_value(&mut self, exp: &'a Exp<'a>) -> Value {
        let (value, consumed) = self.contain(|walk| walk.exp(exp));
        if let Some((_, place)) = consumed.first()
            && value.has_function()
        {
            let ty = self.show_type(exp.at.id);
            self.report(report::function_binding_consumes(exp.at.span, &ty, *place));
        }
        self.consume(consumed);
        value
    }

    /// What is known after one of several branches.
    fn branches(&mut self, exp: &Exp<'a>, branches: Vec<(Value, Vec<(NodeId, Span)>)>) -> Value {
        let mut result: Option<Value> = None;
        let mut lost: Vec<(NodeId, Span)> = Vec::new();
        for (value, consumed) in branches {
            result = Some(match result {
                Some(other) => other.or(&value),
                None => value,
            });
            lost.extend(consumed);
        }
        let shape = self.shape(exp.at.id);
        let result = result.map_or_else(|| shape.fresh(), |value| value.fit(&shape));
        let result = match lost.is_empty() {
            true => result,
            false => {
                result.map(&mut |part: &Aliases| part.filter(|a| lost.iter().all(|(var, _)| *var != a.var)))
            }
        };
        self.consume(lost);
        result
    }

    /// `old with steps = value`, without the rest.
    fn update(
        &mut self,
        exp: &'a Exp<'a>,
        old: &'a Exp<'a>,
        steps: &'a [Step<'a>],
        value: &'a Exp<'a>,
    ) -> Value {
        self.steps(steps);
        let new = self.exp(value);
        let whole = self.exp(old);
        if !steps.iter().any(|step| matches!(step, Step::Index(_))) {
            return replace_field(&whole, steps, new);
        }
        let aliases = whole.aliases();
        if aliases.meets(&new.aliases()) {
            let text = |span| self.checker.names.sources.snippet(span).to_string();
            let (array, part) = (text(old.at.span), text(value.at.span));
            self.report(report::update_overlaps(value.at.span, old.at.span, &array, &part));
        }
        let span = if matches!(exp.kind, ExpKind::Update(..)) { exp.at.span } else { old.at.span };
        self.consume_aliases(span, &aliases);
        whole.fill(&Aliases::default())
    }

    fn steps(&mut self, steps: &'a [Step<'a>]) {
        for step in steps {
            if let Step::Index(dims) = step {
                self.dims(dims);
            }
        }
    }

    fn dims(&mut self, dims: &'a [DimIndex<'a>]) {
        for dim in dims {
            match dim {
                DimIndex::Fix(index) => drop(self.exp(index)),
                DimIndex::Slice(from, to, step) => {
                    for part in [from, to, step].into_iter().flatten() {
                        self.exp(part);
                    }
                }
            }
        }
    }

    /// The shape of what a lambda gives after its parameters.
    fn result_shape(&self, lambda: NodeId, params: usize, body: &Exp<'a>) -> Marks {
        let mut shape = self.shape(lambda);
        for _ in 0..params {
            match shape {
                Tree::Function(_, signature) => shape = signature.result.clone(),
                _ => return self.shape(body.at.id),
            }
        }
        shape.fill(&false)
    }
}

/// A record with the field at a path replaced.
fn replace_field(whole: &Value, steps: &[Step], new: Value) -> Value {
    let Some((Step::Field(name), rest)) = steps.split_first() else { return new };
    match whole.field(name.text) {
        Some(part) => whole.with_field(name.text, replace_field(part, rest, new)),
        None => whole.adding(&new.aliases()),
    }
}
