//! Loops: a parameter is consumed by a turn if the body consumes it, unless its type says otherwise.

use super::aliases::Aliases;
use super::apply::call_result;
use super::function::last_part;
use super::scope::{Binding, Origin, RegionKind};
use super::tree::{Marks, Tree, Value};
use super::{Walk, report};
use crate::names::Res;
use crate::syntax::ast::*;
use galopvm_base::Span;
use std::rc::Rc;

impl<'a> Walk<'_, 'a, '_, '_> {
    /// `loop pat = init form do body`.
    pub(super) fn loop_exp(
        &mut self,
        pat: &'a Pat<'a>,
        init: Option<&'a Exp<'a>>,
        form: &'a LoopForm<'a>,
        body: &'a Exp<'a>,
    ) -> Value {
        match form {
            LoopForm::For(_, bound) => drop(self.exp(bound)),
            LoopForm::ForIn(_, array) => drop(self.exp(array)),
            LoopForm::While(_) => {}
        }
        let first = self.entries.len();
        let seen = self.seen.len();
        let names = self.pat_names(pat);
        let (value, consumed) = self.region(RegionKind::Loop, |walk| {
            let mut bound = Vec::new();
            walk.pat_sizes(pat);
            // Whatever the body consumes of its parameters it may: that decides which are consumed.
            let marks = walk.pat_marks(pat, &|_| true);
            walk.bind_marks(pat, &marks, Binding::LoopParam, &mut bound);
            walk.turn(form, &mut bound);
            let result = walk.contain(|walk| {
                if let LoopForm::While(condition) = form {
                    walk.exp(condition);
                }
                let shape = walk.shape(pat.at.id);
                walk.exp(body).fit(&shape)
            });
            bound.into_iter().for_each(|name| walk.leave(name));
            result
        });
        let free = self.free_since(seen, first);
        let marks = self.settle_params(
            last_part(body).at.span,
            pat,
            &names,
            consumed.iter().map(|(var, _)| *var).collect(),
            &value,
        );
        let (arg, consumed) = self.contain(|walk| match init {
            Some(init) => walk.own_argument(init, Some(&marks)),
            None => {
                let value = walk.implicit_init(pat);
                walk.own_value(pat.at.span, pat.at.id, value, Vec::new(), Some(&marks))
            }
        });
        for (var, place_of_use) in free {
            let aliases = self.entries[&var].value.aliases();
            let lost = consumed.iter().find(|(lost, _)| aliases.mentions(*lost) && self.is_bound(*lost));
            if let Some((_, place)) = lost {
                let diagnostic = report::loop_uses_initial(place_of_use, &self.describe(var), *place);
                self.report(diagnostic);
            }
        }
        self.consume(consumed);
        let made = self.make(Origin::Loop);
        loop_result(&made, &marks, &arg).or(&value)
    }

    /// What a turn binds besides the parameters.
    fn turn(&mut self, form: &'a LoopForm<'a>, bound: &mut Vec<NodeId>) {
        if let LoopForm::ForIn(pat, _) = form {
            self.pat_sizes(pat);
            let marks = self.shape(pat.at.id).fill(&false);
            self.bind_marks(pat, &marks, Binding::Turn, bound);
        }
    }

    fn pat_names(&self, pat: &'a Pat<'a>) -> Vec<NodeId> {
        let mut bound = Vec::new();
        super::pat::match_pat(pat, &self.shape(pat.at.id), &mut bound);
        bound.into_iter().map(|b| b.id).collect()
    }

    /// The initial value of a loop whose parameters name it.
    fn implicit_init(&mut self, pat: &'a Pat<'a>) -> Value {
        match pat.kind {
            PatKind::Id(_) => match self.checker.names.uses.get(&pat.at.id).map(|used| used.res) {
                Some(Res::Local(local)) => self.local(local, pat.at.id, pat.at.span),
                Some(res) => self.global(res, pat.at.id, &[]),
                None => self.fresh(pat.at.id),
            },
            PatKind::Parens(inner) | PatKind::Attr(_, inner) | PatKind::Ascript(inner, _) => {
                self.implicit_init(inner)
            }
            PatKind::Tuple(items) => Tree::tuple(items.iter().map(|p| self.implicit_init(p)).collect()),
            PatKind::Record(items) => {
                Tree::record(items.iter().map(|(n, p)| (Rc::from(n.text), self.implicit_init(p))).collect())
            }
            PatKind::Wildcard | PatKind::Lit(_) | PatKind::Constr(..) => self.fresh(pat.at.id),
        }
    }

    /// Which parameters are consumed: those that the body consumes, and those that get the memory of one of them in
    /// the next turn. What is written of a parameter counts only as long as nothing else is found out: that is how
    /// Futhark does it. Reports new values of consumed parameters that are not the turn's own.
    fn settle_params(
        &mut self,
        span: Span,
        pat: &'a Pat<'a>,
        names: &[NodeId],
        mut consumed: Vec<NodeId>,
        value: &Value,
    ) -> Marks {
        let mut before = self.pat_marks(pat, &|_| false);
        let mut first = true;
        loop {
            let is_consumed = |id| consumed.contains(&id);
            let marks = match first {
                true => self.pat_marks(pat, &is_consumed),
                false => self.pat_marks_found(pat, &is_consumed),
            };
            let mut turn = NextTurn { span, names, consumed: Aliases::default(), kept: Aliases::default() };
            self.next_turn(pat, &marks, value, &mut turn);
            let known = consumed.len();
            for alias in turn.consumed.iter() {
                if !consumed.contains(&alias.var) {
                    consumed.push(alias.var);
                }
            }
            if consumed.len() == known && marks == before {
                return marks;
            }
            before = marks;
            first = false;
        }
    }

    /// Goes through the parameters and their values for the next turn.
    fn next_turn(&mut self, pat: &'a Pat<'a>, marks: &Marks, value: &Value, turn: &mut NextTurn) {
        match pat.kind {
            PatKind::Id(name) => {
                self.next_value(name, marks.any_unique(), &value.aliases(), pat.at.span, turn)
            }
            PatKind::Parens(inner) | PatKind::Ascript(inner, _) | PatKind::Attr(_, inner) => {
                self.next_turn(inner, marks, value, turn);
            }
            PatKind::Tuple(items) => {
                if let (Tree::Record(marks), Tree::Record(values)) = (marks, value) {
                    for ((item, (_, marks)), (_, value)) in items.iter().zip(marks.iter()).zip(values.iter())
                    {
                        self.next_turn(item, marks, value, turn);
                    }
                }
            }
            PatKind::Record(items) => {
                // In the order of the type, as everywhere.
                let mut items: Vec<_> = items.iter().collect();
                items.sort_by(|(a, _), (b, _)| crate::types::field_order(a.text, b.text));
                for (name, item) in items {
                    if let (Some(marks), Some(value)) = (marks.field(name.text), value.field(name.text)) {
                        self.next_turn(item, marks, value, turn);
                    }
                }
            }
            PatKind::Wildcard | PatKind::Lit(_) | PatKind::Constr(..) => {}
        }
    }

    fn next_value(&mut self, name: &str, consumed: bool, aliases: &Aliases, at: Span, turn: &mut NextTurn) {
        if consumed {
            let foreign = aliases.iter().find(|a| self.is_bound(a.var) && !turn.names.contains(&a.var));
            if let Some(foreign) = foreign {
                self.report(report::loop_value_of_outside(turn.span, name, &self.name(foreign.var), at));
            }
        }
        if aliases.meets(&turn.consumed) {
            self.report(report::loop_value_consumed(turn.span, name, at));
        }
        if consumed && (aliases.meets(&turn.consumed) || aliases.meets(&turn.kept)) {
            self.report(report::loop_value_returned_before(turn.span, name, at));
        }
        let side = if consumed { &mut turn.consumed } else { &mut turn.kept };
        *side = side.union(aliases);
    }
}

/// The values for the next turn seen so far.
struct NextTurn<'p> {
    span: Span,
    /// The loop's parameters.
    names: &'p [NodeId],
    /// What those of consumed parameters share.
    consumed: Aliases,
    /// What the others share.
    kept: Aliases,
}

/// What a loop gives of its initial value: consumed parts are its own.
fn loop_result(made: &Aliases, marks: &Marks, arg: &Value) -> Value {
    match (marks, arg) {
        (Tree::Record(marks), Tree::Record(args)) if marks.len() == args.len() => Tree::Record(
            marks
                .iter()
                .zip(args.iter())
                .map(|((n, m), (_, a))| (n.clone(), loop_result(made, m, a)))
                .collect(),
        ),
        _ => call_result(made, marks, marks.any_unique(), arg),
    }
}
