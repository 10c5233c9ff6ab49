//! Calls: what the arguments lose and what the result shares with them.

use super::aliases::Aliases;
use super::scope::Origin;
use super::tree::{Marks, Signature, Tree, Value};
use super::{Walk, report};
use crate::names::Res;
use crate::syntax::ast::*;
use galopvm_base::Span;
use std::rc::Rc;

/// An argument that was walked before.
pub(super) struct Argument {
    span: Span,
    value: Value,
}

/// What an argument gives, and what it consumed.
type Given = (Value, Vec<(NodeId, Span)>);

impl<'a> Walk<'_, 'a, '_, '_> {
    /// `f x y`.
    pub(super) fn apply(&mut self, exp: &'a Exp<'a>, head: &'a Exp<'a>, args: &'a [Exp<'a>]) -> Value {
        let function = self.exp(head);
        let name = function_name(head);
        let mut params: Vec<Option<Marks>> = Vec::new();
        let mut rest = None;
        if let Tree::Function(_, signature) = &function {
            rest = Some(signature.clone());
        }
        for _ in args {
            params.push(rest.as_ref().map(|signature| signature.param.clone()));
            rest = match rest.as_ref().map(|signature| &signature.result) {
                Some(Tree::Function(_, next)) => Some(next.clone()),
                _ => None,
            };
        }
        // Arguments are evaluated from right to left.
        let mut done: Vec<Argument> = Vec::new();
        for (arg, param) in args.iter().zip(&params).rev() {
            let given = self.contain(|walk| walk.exp(arg));
            let value = self.argument(arg, given, param.as_ref(), &done, name);
            done.insert(0, Argument { span: arg.at.span, value });
        }
        let values: Vec<Value> = done.into_iter().map(|arg| arg.value).collect();
        self.call(exp.at.id, name, &function, &values)
    }

    /// `x + y`. Operators that group to the left are gone along in a loop, from the first operand.
    pub(super) fn operators(&mut self, exp: &'a Exp<'a>) -> Value {
        let (mut first, mut rest) = (exp, Vec::new());
        while let ExpKind::BinOp(op, left, right) = first.kind {
            rest.push((first.at.id, op, left, right));
            first = left;
        }
        let mut given = self.contain(|walk| walk.exp(first));
        while let Some((id, op, left, right)) = rest.pop() {
            if rest.is_empty() {
                return self.binary(id, &op, (left, given), right);
            }
            given = self.contain(|walk| walk.binary(id, &op, (left, given), right));
        }
        given.0
    }

    fn binary(
        &mut self,
        exp: NodeId,
        op: &OpName<'a>,
        (left, given): (&'a Exp<'a>, Given),
        right: &'a Exp<'a>,
    ) -> Value {
        let function = self.operator(exp, op, left, right);
        let (mut first, mut second) = (None, None);
        if let Tree::Function(_, signature) = &function {
            first = Some(signature.param.clone());
            if let Tree::Function(_, signature) = &signature.result {
                second = Some(signature.param.clone());
            }
        }
        let x = self.argument(left, given, first.as_ref(), &[], Some(op.name));
        let before = Argument { span: left.at.span, value: x };
        let given = self.contain(|walk| walk.exp(right));
        let y = self.argument(right, given, second.as_ref(), std::slice::from_ref(&before), Some(op.name));
        self.call(exp, Some(op.name), &function, &[before.value, y])
    }

    /// An operator as a function.
    fn operator(&mut self, exp: NodeId, op: &OpName<'a>, left: &Exp<'a>, right: &Exp<'a>) -> Value {
        let used = self.checker.names.uses.get(&op.at.id).map(|used| used.res);
        let Some(Res::Operator(spelling)) = used else {
            return self.occurrence(op.at.id, op.at.span, op.name.parts);
        };
        let plain = |id| self.shape(id).fill(&false);
        let arrow = |param, result| Tree::Function(false, Rc::new(Signature { param, result }));
        let marks = match spelling {
            "|>" => {
                let function = arrow(plain(left.at.id), plain(exp));
                arrow(plain(left.at.id), arrow(function, plain(exp)))
            }
            "<|" => {
                let function = arrow(plain(right.at.id), plain(exp));
                arrow(function, arrow(plain(right.at.id), plain(exp)))
            }
            _ => arrow(Tree::Scalar, arrow(Tree::Scalar, Tree::Scalar)),
        };
        marks.fresh()
    }

    /// What a call gives.
    fn call(&mut self, exp: NodeId, name: Option<QualName<'a>>, function: &Value, args: &[Value]) -> Value {
        let shape = self.shape(exp);
        if matches!(shape, Tree::Scalar) {
            return Tree::Scalar;
        }
        let made = self.make(Origin::Call(name));
        let Tree::Function(..) = function else {
            let shared = args.iter().fold(made, |all, arg| all.union(&arg.aliases()));
            return shape.fill(&shared);
        };
        let mut result = function.adding(&made);
        for arg in args {
            if let Tree::Function(captured, signature) = &result {
                result = call_result(captured, &signature.result, signature.consumes(), arg);
            }
        }
        result.fit(&shape)
    }

    /// An argument for a parameter; those before it were walked earlier.
    fn argument(
        &mut self,
        arg: &'a Exp<'a>,
        (value, consumed): Given,
        param: Option<&Marks>,
        before: &[Argument],
        function: Option<QualName<'a>>,
    ) -> Value {
        let whole = param.is_some_and(Marks::any_unique);
        let marks = whole.then(|| self.shape(arg.at.id).fill(&true));
        let value = self.own_value(arg.at.span, arg.at.id, value, consumed, marks.as_ref());
        if let Some(param) = param {
            let name = function.map(|name| name.text());
            self.check_functions(arg, param, Some(name.as_deref().unwrap_or("this function")));
        }
        if whole {
            let aliases = value.aliases().filter(|alias| self.is_bound(alias.var));
            let other = before.iter().find_map(|other| {
                let theirs = other.value.aliases();
                aliases.iter().find(|alias| theirs.mentions(alias.var)).map(|alias| (alias.var, other.span))
            });
            if let Some((var, place)) = other {
                self.report(report::argument_shared(arg.at.span, &self.name(var), place));
            }
        }
        value
    }

    /// An argument, of a function or a loop, that is consumed where marked.
    pub(super) fn own_argument(&mut self, arg: &'a Exp<'a>, marks: Option<&Marks>) -> Value {
        let (value, consumed) = self.contain(|walk| walk.exp(arg));
        self.own_value(arg.at.span, arg.at.id, value, consumed, marks)
    }

    /// A value given for something that is consumed where marked; computing it consumed `consumed`.
    pub(super) fn own_value(
        &mut self,
        span: Span,
        id: NodeId,
        value: Value,
        consumed: Vec<(NodeId, Span)>,
        marks: Option<&Marks>,
    ) -> Value {
        if let Some((_, place)) = consumed.first()
            && value.has_function()
        {
            let ty = self.show_type(id);
            self.report(report::function_argument_consumes(span, &ty, *place));
        }
        self.consume(consumed);
        if let Some(marks) = marks
            && marks.any_unique()
        {
            let mut parts = Vec::new();
            value.parts(&mut parts);
            let mut seen = Aliases::default();
            let mut shared = false;
            for part in parts {
                shared |= part.meets(&seen);
                seen = seen.union(&part);
            }
            if shared {
                self.report(report::argument_shares_itself(span));
            }
            let lost = consumed_part(marks, &value);
            self.consume_aliases(span, &lost);
        }
        value
    }

    /// The type of an expression, for messages.
    pub(super) fn show_type(&self, id: NodeId) -> String {
        self.checker.types.get(id).map_or(String::new(), |ty| self.checker.vars.show(ty))
    }
}

/// What is consumed of a value given for something with these marks.
fn consumed_part(marks: &Marks, value: &Value) -> Aliases {
    match (marks, value) {
        (Tree::Record(marks), Tree::Record(fields)) if marks.len() == fields.len() => marks
            .iter()
            .zip(fields.iter())
            .fold(Aliases::default(), |all, ((_, m), (_, v))| all.union(&consumed_part(m, v))),
        _ if marks.any_unique() => value.aliases(),
        _ => Aliases::default(),
    }
}

/// What a function that has captured `captured` gives for an argument: unique parts share nothing, others whatever
/// the function and an argument that is not consumed share.
pub(super) fn call_result(captured: &Aliases, result: &Marks, consumes: bool, arg: &Value) -> Value {
    let shared = if consumes { captured.clone() } else { captured.union(&arg.aliases()) };
    result.map(&mut |unique| if *unique { Aliases::default() } else { shared.clone() })
}

/// What a message calls a function.
fn function_name<'a>(head: &'a Exp<'a>) -> Option<QualName<'a>> {
    match head.kind {
        ExpKind::Var(name) => Some(name),
        ExpKind::Apply(head, _) => function_name(head),
        _ => None,
    }
}
