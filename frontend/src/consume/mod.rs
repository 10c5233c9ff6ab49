//! Consumption: no value is used after it was consumed, and nothing is consumed that someone else may use.
//!
//! One walk over a definition whose types are known. Each expression gives a [`Value`]: its shape, and at each place
//! that may be memory the variables that memory may be shared with. Updates and arguments of parameters marked `*`
//! consume all the variables a value shares.
//!
//! Invariants:
//! - The walk never changes the types of expressions; it only adds diagnostics, and tells which parts of a result
//!   are unique if the result type was not written.
//! - A variable counts as in scope while its binder is being walked. A set may mention variables that are out of
//!   scope: then it says that two values share the same memory, but consuming is no business of the variable's owner.
//! - What is consumed is known along one path of execution: branches start from the same state, and what any of them
//!   consumes is consumed after them.

mod aliases;
mod apply;
mod exp;
mod function;
mod loops;
mod pat;
mod report;
mod scope;
mod tree;

use crate::names::GlobalId;
use crate::syntax::ast::*;
use crate::types::{Checker, Type};
use aliases::Paths;
use galopvm_base::Span;
use scope::{Definition, Entry, Origin, Region};
use std::collections::HashMap;
use tree::Marks;

/// The walk over one definition.
struct Walk<'c, 'a, 'n, 's> {
    checker: &'c mut Checker<'a, 'n, 's>,
    /// Local bindings seen so far.
    entries: HashMap<NodeId, Entry<'a>>,
    /// Results of calls and loops, which have names only here.
    made: HashMap<NodeId, Origin<'a>>,
    /// Definitions whose memory something shares.
    definitions: HashMap<NodeId, Definition>,
    /// What was consumed on the way here, and where.
    consumed: HashMap<NodeId, Span>,
    /// The keys of `consumed`, in order.
    log: Vec<NodeId>,
    /// Local variables observed, in order, and where.
    seen: Vec<(NodeId, Span)>,
    /// Functions and loops that the walk is inside of.
    regions: Vec<Region>,
    paths: Paths,
    reported: Vec<(Span, String)>,
    /// The places of consumption that a message has named.
    told: Vec<Span>,
}

impl<'c, 'a, 'n, 's> Walk<'c, 'a, 'n, 's> {
    fn new(checker: &'c mut Checker<'a, 'n, 's>) -> Self {
        Walk {
            checker,
            entries: HashMap::new(),
            made: HashMap::new(),
            definitions: HashMap::new(),
            consumed: HashMap::new(),
            log: Vec::new(),
            seen: Vec::new(),
            regions: Vec::new(),
            paths: Paths::default(),
            reported: Vec::new(),
            told: Vec::new(),
        }
    }
}

/// Checks a definition of type `ty`; gives the type with marks as written, and on those parts of a result whose type
/// was not written that share nothing with the caller's values. What is `broken` by other errors gets no more of them.
pub fn check_bind(checker: &mut Checker<'_, '_, '_>, id: GlobalId, ty: &Type, broken: bool) -> Type {
    let global = checker.names.globals[id];
    let bind = global.bind;
    let mut result = ty;
    for _ in bind.params {
        match result {
            Type::Arrow(_, _, to) => result = to,
            _ => break,
        }
    }
    let told = checker.names.diagnostics.len();
    let mut walk = Walk::new(checker);
    let (params, marks) = walk.function(bind.params, bind.result, bind.body, Marks::of(result));
    if let Some(written) = bind.result
        && bind.params.is_empty()
        && marks.any_unique()
    {
        walk.report(report::unique_constant(written.at.span));
    }
    if broken || !global.user || checker.applications > 0 {
        checker.names.diagnostics.truncate(told);
    }
    // Of a broken result nobody knows what it shares: that is no reason to refuse its uses.
    let unknown = broken && bind.result.is_none() && !bind.params.is_empty();
    let marks = if unknown { marks.fill(&true) } else { marks };
    mark_function(ty, &params, &marks)
}

/// Checks an expression that is not part of a definition.
pub fn check_exp<'a>(checker: &mut Checker<'a, '_, '_>, exp: &'a Exp<'a>) {
    Walk::new(checker).exp(exp);
}

/// True if a value with the marks of `found` may be shown with those of `wanted`: functions in it consume no more, and
/// their results share no more.
pub fn marks_fit(wanted: &Type, found: &Type) -> bool {
    function::clash_in(&Marks::of(wanted), &Marks::of(found), true).is_none()
}

/// A function type with marks on its parameters and on what it gives.
fn mark_function(ty: &Type, params: &[Marks], result: &Marks) -> Type {
    match (ty, params.split_first()) {
        (Type::Arrow(name, from, to), Some((first, rest))) => {
            Type::Arrow(*name, first.mark(from).into(), mark_function(to, rest, result).into())
        }
        (Type::Exists(sizes, inner), Some(_)) => {
            Type::Exists(sizes.clone(), mark_function(inner, params, result).into())
        }
        _ => result.mark(ty),
    }
}
