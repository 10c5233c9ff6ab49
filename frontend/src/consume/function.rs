//! Functions: parameters, results, and what a result may share with whom.

use super::aliases::{Alias, Aliases};
use super::report;
use super::scope::{Bound, RegionKind};
use super::tree::{Marks, Signature, Tree, Value};
use super::{Walk, pat::match_pat};
use crate::syntax::ast::*;
use galopvm_base::Span;
use std::rc::Rc;

impl<'a> Walk<'_, 'a, '_, '_> {
    /// A function's body in the scope of its parameters. Gives the marks of the parameters and of the result;
    /// `result` has the shape of the result.
    pub(super) fn function(
        &mut self,
        params: &'a [Pat<'a>],
        written: Option<&'a TypeExp<'a>>,
        body: &'a Exp<'a>,
        result: Marks,
    ) -> (Vec<Marks>, Marks) {
        self.region(RegionKind::Function, |walk| {
            let mut names = Vec::new();
            let marks: Vec<Marks> = params.iter().map(|pat| walk.bind_param(pat, &mut names)).collect();
            let ((value, wanted), _) = walk.contain(|walk| {
                let value = walk.exp(body);
                let value = value.fit(&result);
                let wanted = written.map(|ty| result.fill(&false).written(ty));
                if let Some(wanted) = &wanted {
                    walk.check_functions(last_part(body), wanted, None);
                }
                (value, wanted)
            });
            let mut bound = Vec::new();
            params.iter().zip(&marks).for_each(|(pat, marks)| match_pat(pat, marks, &mut bound));
            let result = match wanted {
                Some(wanted) => {
                    walk.check_result(last_part(body).at.span, &bound, &wanted, &value);
                    wanted
                }
                None => {
                    walk.check_result(last_part(body).at.span, &bound, &result.fill(&false), &value);
                    infer_result(&bound, &result, &value, &|var| walk.is_bound(var), params.is_empty())
                }
            };
            if !params.is_empty() {
                walk.check_globals(last_part(body).at.span, &value);
            }
            names.into_iter().for_each(|name| walk.leave(name));
            (marks, result)
        })
    }

    /// A function as a value: it shares what its free variables share.
    pub(super) fn function_value(
        &mut self,
        params: &'a [Pat<'a>],
        written: Option<&'a TypeExp<'a>>,
        body: &'a Exp<'a>,
        result: Marks,
    ) -> Value {
        let (seen, first) = (self.seen.len(), self.entries.len());
        let (marks, result) = self.function(params, written, body, result);
        let mut captured = Aliases::default();
        for (var, _) in self.free_since(seen, first) {
            captured = captured.union(&self.entries[&var].value.aliases());
        }
        let arrow = |result, param| Tree::Function(false, Rc::new(Signature { param, result }));
        let ty = marks.into_iter().rev().fold(result, arrow);
        ty.fresh().adding(&captured)
    }

    /// Unique parts of a result may share nothing with other parts, nor with what a caller keeps.
    fn check_result(&mut self, span: Span, params: &[Bound<'a, bool>], wanted: &Marks, value: &Value) {
        let mut parts = Vec::new();
        result_parts(wanted, value, &mut parts);
        let (mut unique, mut plain) = (Aliases::default(), Aliases::default());
        for (is_unique, aliases) in parts {
            if aliases.meets(&unique) || is_unique && aliases.meets(&plain) {
                self.report(report::result_shared(span));
            }
            if !is_unique {
                plain = plain.union(&aliases);
                continue;
            }
            unique = unique.union(&aliases);
            let kept = params.iter().find(|p| !p.tree.all_unique() && aliases.mentions(p.id));
            if let Some(param) = kept {
                let starred = self.starred(param.id);
                self.report(report::result_of_param(span, param.name, param.span, &starred));
            }
        }
    }

    fn check_globals(&mut self, span: Span, value: &Value) {
        let aliases = value.array_aliases();
        let global = aliases.iter().find(|alias| self.is_global(alias.var));
        if let Some(Alias { var, .. }) = global {
            self.report(report::result_of_global(span, &self.name(var)));
        }
    }

    /// A function given where one of another type is wanted may not consume more, nor promise less. What counts is
    /// its type: a result that turns out to be unique is not one that was promised.
    pub(super) fn check_functions(&mut self, given: &Exp<'a>, wanted: &Marks, applied: Option<&str>) {
        let (span, given) = (given.at.span, given.at.id);
        if wanted.has_function()
            && let Some(clash) = clash_in(wanted, &self.shape(given), true)
        {
            self.report(report::function_mismatch(span, clash, applied));
        }
    }

    /// The same for the types written in a pattern that is matched with a value of this shape.
    pub(super) fn check_pat_functions(&mut self, pat: &'a Pat<'a>, given: &Marks) {
        if !given.has_function() {
            return;
        }
        match pat.kind {
            PatKind::Ascript(_, written) => {
                let wanted = self.shape(pat.at.id).written(written);
                if let Some(clash) = clash_in(&wanted, given, true) {
                    self.report(report::function_mismatch(pat.at.span, clash, None));
                }
            }
            PatKind::Parens(inner) | PatKind::Attr(_, inner) => self.check_pat_functions(inner, given),
            PatKind::Tuple(items) => {
                if let Tree::Record(fields) = given {
                    items.iter().zip(fields.iter()).for_each(|(p, (_, t))| self.check_pat_functions(p, t));
                }
            }
            PatKind::Record(items) => {
                for (name, item) in items {
                    if let Some(part) = given.field(name.text) {
                        self.check_pat_functions(item, part);
                    }
                }
            }
            PatKind::Id(_) | PatKind::Wildcard | PatKind::Lit(_) | PatKind::Constr(..) => {}
        }
    }
}

/// The part of an expression that gives its value.
pub(super) fn last_part<'e, 'a>(exp: &'e Exp<'a>) -> &'e Exp<'a> {
    let mut last = exp;
    loop {
        last = match last.kind {
            ExpKind::Let { body, .. } | ExpKind::LetFun { body, .. } | ExpKind::LetWith { body, .. } => body,
            ExpKind::Parens(inner) => inner,
            _ => return last,
        };
    }
}

/// How a function's uniqueness does not fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Clash {
    /// It consumes what must be kept.
    Consumes,
    /// Its result may have aliases where none are allowed.
    Aliases,
}

fn clash(wanted: &Signature, given: &Signature, straight: bool) -> Option<Clash> {
    let (more, less) = if straight { (given, wanted) } else { (wanted, given) };
    if more.consumes() && !less.consumes() {
        return Some(Clash::Consumes);
    }
    if less.result.any_unique() && !more.result.any_unique() && !matches!(more.result, Tree::Scalar) {
        return Some(Clash::Aliases);
    }
    clash_in(&wanted.param, &given.param, !straight)
        .or_else(|| clash_in(&wanted.result, &given.result, straight))
}

/// How the functions in a value do not fit; `straight` unless they are parameters of functions.
pub(super) fn clash_in(wanted: &Marks, given: &Marks, straight: bool) -> Option<Clash> {
    match (wanted, given) {
        (Tree::Function(_, wanted), Tree::Function(_, given)) => clash(wanted, given, straight),
        (Tree::Record(wanted), Tree::Record(given)) if wanted.len() == given.len() => {
            wanted.iter().zip(given.iter()).find_map(|((_, w), (_, g))| clash_in(w, g, straight))
        }
        _ => None,
    }
}

/// The parts of a result that may be unique each for itself.
fn result_parts(wanted: &Marks, value: &Value, out: &mut Vec<(bool, Aliases)>) {
    match (wanted, value) {
        (Tree::Record(wanted), Tree::Record(fields)) if wanted.len() == fields.len() => {
            wanted.iter().zip(fields.iter()).for_each(|((_, w), (_, v))| result_parts(w, v, out));
        }
        _ => out.push((wanted.any_unique(), value.aliases())),
    }
}

/// The unique parts of a result whose type was not written: those that share nothing but consumed parameters, and
/// nothing with another part.
fn infer_result(
    params: &[Bound<bool>],
    shape: &Marks,
    value: &Value,
    is_bound: &dyn Fn(NodeId) -> bool,
    constant: bool,
) -> Marks {
    if constant {
        return shape.fill(&false);
    }
    let mut uses = Vec::new();
    count_uses(value, &mut uses);
    uses.sort_unstable();
    let shared: Vec<NodeId> = uses.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    let consumed = |var| params.iter().any(|p| p.id == var && p.tree.any_unique());
    let is_unique = |part: &Value| {
        part.array_aliases().iter().all(|alias| !is_bound(alias.var) || consumed(alias.var))
            && !part.aliases().iter().any(|alias| shared.contains(&alias.var))
    };
    mark_unique(shape, value, &is_unique)
}

/// Each variable once for each part that shares it; twice for a part of a type that is not known.
fn count_uses(value: &Value, out: &mut Vec<NodeId>) {
    let vars = |aliases: &Aliases| {
        let mut vars: Vec<NodeId> = aliases.iter().map(|alias| alias.var).collect();
        vars.dedup();
        vars
    };
    match value {
        Tree::Record(fields) => fields.iter().for_each(|(_, part)| count_uses(part, out)),
        Tree::Hidden(aliases) => {
            out.extend(vars(aliases));
            out.extend(vars(aliases));
        }
        other => out.extend(vars(&other.aliases())),
    }
}

fn mark_unique(shape: &Marks, value: &Value, is_unique: &dyn Fn(&Value) -> bool) -> Marks {
    match (shape, value) {
        (Tree::Record(shapes), Tree::Record(fields)) if shapes.len() == fields.len() => Tree::Record(
            shapes
                .iter()
                .zip(fields.iter())
                .map(|((n, s), (_, v))| (n.clone(), mark_unique(s, v, is_unique)))
                .collect(),
        ),
        (Tree::Sum(shapes), Tree::Sum(constructors)) if shapes.len() == constructors.len() => Tree::Sum(
            shapes
                .iter()
                .zip(constructors.iter())
                .map(|((n, ss), (_, vs))| {
                    (n.clone(), ss.iter().zip(vs.iter()).map(|(s, v)| mark_unique(s, v, is_unique)).collect())
                })
                .collect(),
        ),
        _ => shape.fill(&is_unique(value)),
    }
}
