//! One walk over expressions, patterns and types, for everything that looks at them without changing them.
//!
//! A visitor says what it does at the nodes it is interested in and calls the `walk_` function of the node to go on
//! below; what it says nothing about is walked over. At expressions it only says whether to go on, so that chains of
//! `let`s and operators are walked along, not down. Module expressions are not entered.

use super::ast::*;

/// Something that looks at a tree.
pub trait Visit<'a> {
    /// An expression; true if the walk goes on to its parts.
    fn see(&mut self, _: &Exp<'a>) -> bool {
        true
    }

    /// An expression and its parts.
    fn exp(&mut self, exp: &Exp<'a>) {
        if self.see(exp) {
            walk_exp(self, exp);
        }
    }

    /// A pattern, wherever it stands.
    fn pat(&mut self, pat: &Pat<'a>) {
        walk_pat(self, pat);
    }

    /// A type as written.
    fn type_exp(&mut self, ty: &TypeExp<'a>) {
        walk_type(self, ty);
    }

    /// A definition or local function.
    fn bind(&mut self, bind: &ValBind<'a>) {
        walk_bind(self, bind);
    }
}

/// Parameters, result type and body.
pub fn walk_bind<'a, V: Visit<'a> + ?Sized>(visitor: &mut V, bind: &ValBind<'a>) {
    bind.params.iter().for_each(|p| visitor.pat(p));
    bind.result.iter().for_each(|t| visitor.type_exp(t));
    visitor.exp(bind.body);
}

/// The parts of a pattern.
pub fn walk_pat<'a, V: Visit<'a> + ?Sized>(visitor: &mut V, pat: &Pat<'a>) {
    match pat.kind {
        PatKind::Id(_) | PatKind::Wildcard | PatKind::Lit(_) => {}
        PatKind::Parens(inner) | PatKind::Attr(_, inner) => visitor.pat(inner),
        PatKind::Tuple(items) | PatKind::Constr(_, items) => items.iter().for_each(|p| visitor.pat(p)),
        PatKind::Record(fields) => fields.iter().for_each(|(_, p)| visitor.pat(p)),
        PatKind::Ascript(inner, ty) => {
            visitor.pat(inner);
            visitor.type_exp(ty);
        }
    }
}

/// The parts of a type, with the expressions that are its sizes.
pub fn walk_type<'a, V: Visit<'a> + ?Sized>(visitor: &mut V, ty: &TypeExp<'a>) {
    match ty.kind {
        TypeExpKind::Var(_) | TypeExpKind::Error => {}
        TypeExpKind::Parens(inner) | TypeExpKind::Unique(inner) | TypeExpKind::Exists(_, inner) => {
            visitor.type_exp(inner);
        }
        TypeExpKind::Tuple(items) => items.iter().for_each(|t| visitor.type_exp(t)),
        TypeExpKind::Record(fields) => fields.iter().for_each(|(_, t)| visitor.type_exp(t)),
        TypeExpKind::Array(size, inner) => {
            size.size.iter().for_each(|e| visitor.exp(e));
            visitor.type_exp(inner);
        }
        TypeExpKind::Apply(head, arg) => {
            visitor.type_exp(head);
            match arg {
                TypeArg::Size(size) => size.size.iter().for_each(|e| visitor.exp(e)),
                TypeArg::Type(ty) => visitor.type_exp(ty),
            }
        }
        TypeExpKind::Arrow(_, from, to) => {
            visitor.type_exp(from);
            visitor.type_exp(to);
        }
        TypeExpKind::Sum(clauses) => {
            clauses.iter().flat_map(|(_, payload)| payload.iter()).for_each(|t| visitor.type_exp(t));
        }
    }
}

/// The indices of an array.
pub fn walk_dims<'a, V: Visit<'a> + ?Sized>(visitor: &mut V, dims: &[DimIndex<'a>]) {
    for dim in dims {
        match dim {
            DimIndex::Fix(index) => visitor.exp(index),
            DimIndex::Slice(from, to, step) => {
                [from, to, step].into_iter().flatten().for_each(|e| visitor.exp(e));
            }
        }
    }
}

fn walk_steps<'a, V: Visit<'a> + ?Sized>(visitor: &mut V, steps: &[Step<'a>]) {
    for step in steps {
        match step {
            Step::Index(dims) => walk_dims(visitor, dims),
            Step::Field(_) => {}
        }
    }
}

/// The parts of an expression that was seen.
pub fn walk_exp<'a, V: Visit<'a> + ?Sized>(visitor: &mut V, exp: &Exp<'a>) {
    let mut next = walk_parts(visitor, exp);
    while let Some(body) = next.filter(|body| visitor.see(body)) {
        next = walk_parts(visitor, body);
    }
}

/// The parts but for the body of a `let`, which is given back.
fn walk_parts<'e, 'a, V: Visit<'a> + ?Sized>(visitor: &mut V, exp: &'e Exp<'a>) -> Option<&'e Exp<'a>> {
    match exp.kind {
        ExpKind::Literal(_)
        | ExpKind::Number(_)
        | ExpKind::String(..)
        | ExpKind::Var(_)
        | ExpKind::Hole
        | ExpKind::Section(_)
        | ExpKind::Error => {}
        ExpKind::Parens(inner)
        | ExpKind::QualParens(_, inner)
        | ExpKind::Project(inner, _)
        | ExpKind::Negate(inner)
        | ExpKind::Not(inner)
        | ExpKind::SectionLeft(_, inner)
        | ExpKind::SectionRight(_, inner)
        | ExpKind::Attr(_, inner) => visitor.exp(inner),
        ExpKind::Tuple(items) | ExpKind::Array(items) | ExpKind::Constr(_, items) => {
            items.iter().for_each(|e| visitor.exp(e));
        }
        ExpKind::Record(fields) => {
            fields.iter().filter_map(|(_, value)| value.as_ref()).for_each(|e| visitor.exp(e));
        }
        ExpKind::Index(array, dims) => {
            visitor.exp(array);
            walk_dims(visitor, dims);
        }
        ExpKind::Apply(function, args) => {
            visitor.exp(function);
            args.iter().for_each(|e| visitor.exp(e));
        }
        ExpKind::BinOp(_, left, right) => {
            let (mut first, mut rights) = (left, vec![right]);
            let mut seen = visitor.see(first);
            while let (true, ExpKind::BinOp(_, left, right)) = (seen, first.kind) {
                rights.push(right);
                first = left;
                seen = visitor.see(first);
            }
            if seen {
                walk_exp(visitor, first);
            }
            rights.into_iter().rev().for_each(|e| visitor.exp(e));
        }
        ExpKind::Assert(condition, value) => {
            visitor.exp(condition);
            visitor.exp(value);
        }
        ExpKind::Lambda(params, result, body) => {
            params.iter().for_each(|p| visitor.pat(p));
            result.iter().for_each(|t| visitor.type_exp(t));
            visitor.exp(body);
        }
        ExpKind::SectionPath(steps) => walk_steps(visitor, steps),
        ExpKind::If(condition, yes, no) => {
            [condition, yes, no].into_iter().for_each(|e| visitor.exp(e));
        }
        ExpKind::Let { pat, value, body, .. } => {
            visitor.pat(pat);
            visitor.exp(value);
            return Some(body);
        }
        ExpKind::LetFun { fun, body } => {
            visitor.bind(fun);
            return Some(body);
        }
        ExpKind::LetWith { old, steps, value, body, .. } => {
            visitor.exp(old);
            walk_steps(visitor, steps);
            visitor.exp(value);
            return Some(body);
        }
        ExpKind::Loop { pat, init, form, body } => {
            visitor.pat(pat);
            init.iter().for_each(|e| visitor.exp(e));
            match form {
                LoopForm::For(_, bound) => visitor.exp(bound),
                LoopForm::ForIn(element, array) => {
                    visitor.pat(element);
                    visitor.exp(array);
                }
                LoopForm::While(condition) => visitor.exp(condition),
            }
            visitor.exp(body);
        }
        ExpKind::Match(subject, cases) => {
            visitor.exp(subject);
            for (pat, body) in cases {
                visitor.pat(pat);
                visitor.exp(body);
            }
        }
        ExpKind::Range { first, second, last, .. } => {
            visitor.exp(first);
            second.iter().for_each(|e| visitor.exp(e));
            visitor.exp(last);
        }
        ExpKind::Update(value, steps, new) => {
            visitor.exp(value);
            walk_steps(visitor, steps);
            visitor.exp(new);
        }
        ExpKind::Ascript(inner, ty) | ExpKind::Coerce(inner, ty) => {
            visitor.exp(inner);
            visitor.type_exp(ty);
        }
    }
    None
}
