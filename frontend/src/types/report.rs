//! Messages about types that do not fit.

use super::show::set_name;
use super::unify::Clash;
use super::vars::type_set;
use super::{Checker, Size, Type};
use crate::habits;
use crate::syntax::ast::NodeId;
use galopvm_base::{Diagnostic, ElemType, Span};
use std::rc::Rc;

/// What is being checked: how a message about a mismatch begins.
#[derive(Clone, Debug)]
pub(crate) enum Context {
    /// An argument of a function.
    Apply {
        /// The function as written.
        function: String,
        /// Where it stands.
        place: Span,
    },
    /// A written type.
    Ascription(Span),
    /// The result of a function with a written result type.
    Body(Option<Span>),
    /// The other branch of an `if` or `match`.
    Branch(Span),
    /// One turn of a loop against its parameters.
    LoopBody(Span),
    /// The first values of a loop against its parameters.
    LoopInitial(Span),
    /// A pattern against its value.
    Pattern,
    /// The new part of a record or array.
    Update(Span),
    /// The other elements of an array.
    Element(Span),
    /// A size in a type.
    Size,
    /// A condition, an operand: what it is.
    Being(&'static str),
    /// The same, with the place of the other side.
    With(&'static str, Span),
}

impl Context {
    /// Where the operator or function stands.
    fn place(&self) -> Option<Span> {
        match self {
            Context::Apply { place, .. } => Some(*place),
            _ => None,
        }
    }
}

fn join(names: &[Rc<str>], prefix: &str) -> String {
    let mut names = names.to_vec();
    names.sort();
    names.iter().map(|n| format!("{prefix}{n}")).collect::<Vec<_>>().join(", ")
}

/// True for `+`, not for names and expressions.
fn is_operator(function: &str) -> bool {
    function.starts_with(|c| "+-*/%=!><|&^".contains(c))
}

/// How a number becomes one of another type. What loses something is said with that; the other operand of an operator may be
/// the one to convert.
fn conversion(want: ElemType, have: ElemType, operator: bool) -> Option<String> {
    use ElemType::Bool;
    let wider = want.bits() > have.bits();
    let loses = |what: String| match operator {
        true => format!("convert what it meets: `{have}.{want} e`; `{want}.{have} e` would {what}"),
        false => format!("`{want}.{have} e` converts it, and would {what}"),
    };
    Some(match (want, have) {
        (Bool, _) => "a number is no truth value: compare it, `e != 0`".into(),
        (_, Bool) if want.is_float() => return None,
        (_, Bool) => format!("convert it: `{want}.bool e` is 0 or 1"),
        _ if want.is_float() && (have.is_int() || wider) => format!("convert it: `{want}.{have} e`"),
        _ if want.is_float() => loses("round it".into()),
        _ if have.is_float() => loses("cut off its fraction".into()),
        _ if wider && (want.is_signed() || !have.is_signed()) => format!("convert it: `{want}.{have} e`"),
        _ if want.bits() < have.bits() => loses(format!("keep {} bits only", want.bits())),
        _ => format!("`{want}.{have} e` has the same bits, read as another number if the first one is set"),
    })
}

impl Checker<'_, '_, '_> {
    /// A piece of the source on one line, short enough for a message.
    pub(super) fn snippet(&self, span: Span) -> String {
        const LONGEST: usize = 60;
        let text: String = self.names.sources.snippet(span).split_whitespace().collect::<Vec<_>>().join(" ");
        match text.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}...", &text[..end]),
            None => text,
        }
    }

    /// Says that a value has another type than the one wanted.
    pub(crate) fn mismatch(
        &mut self,
        span: Span,
        wanted: &Type,
        found: &Type,
        clash: &Clash,
        context: &Context,
    ) {
        let (wanted, found) = (self.vars.zonk(wanted), self.vars.zonk(found));
        let (want, have) = (self.vars.show(&wanted), self.vars.show(&found));
        let head = match context {
            Context::Apply { function, .. } => {
                format!("Cannot apply \"{function}\" to \"{}\" (invalid type).", self.snippet(span))
            }
            Context::Ascription(_) => {
                "Expression does not have expected type from explicit ascription.".into()
            }
            Context::Body(_) => "Function body does not have expected type.".into(),
            Context::Branch(_) => "Branches differ in type.".into(),
            Context::LoopBody(_) => "Loop body does not have expected type.".into(),
            Context::LoopInitial(_) => "Initial loop values do not have expected type.".into(),
            Context::Pattern => {
                format!("Pattern \"{}\" cannot match value of type {have}.", self.snippet(span))
            }
            Context::Update(_) => "Type of new value does not match the part that is replaced.".into(),
            Context::Element(_) => "Array elements differ in type.".into(),
            Context::Size => "Array size is not of type i64.".into(),
            Context::Being(what) | Context::With(what, _) => {
                format!("Expression does not have the type of {what}.")
            }
        };
        let reason = self.reason(clash);
        let mut diagnostic = Diagnostic::error(span, format!("{head} {reason}"))
            .with_label(format!("expected `{want}`, found `{have}`"));
        let applied = match context {
            Context::Apply { function, .. } => Some(function.as_str()),
            _ => None,
        };
        let operator = applied.is_some_and(is_operator);
        diagnostic = self.hinted(diagnostic, &wanted, &found, clash, applied);
        diagnostic = match context {
            Context::Apply { place, .. } => {
                diagnostic.with_place(*place, if operator { "the operator" } else { "the function" })
            }
            Context::Ascription(place) => diagnostic.with_place(*place, "the type written here"),
            Context::Body(Some(place)) => diagnostic.with_place(*place, "the result type written here"),
            Context::Branch(place) => diagnostic.with_place(*place, "the other branch"),
            Context::LoopBody(place) | Context::LoopInitial(place) => {
                diagnostic.with_place(*place, "the parameters of the loop")
            }
            Context::Update(place) => diagnostic.with_place(*place, "what is updated"),
            Context::Element(place) => diagnostic.with_place(*place, "the first element"),
            Context::With(_, place) => diagnostic.with_place(*place, "because of this"),
            Context::Body(None) | Context::Pattern | Context::Size | Context::Being(_) => diagnostic,
        };
        diagnostic = self.with_guess(diagnostic, &wanted, &found, context);
        self.report(diagnostic);
    }

    /// Different names in two sizes that are spelled alike.
    fn namesakes(&self, a: &Size, b: &Size) -> Option<(NodeId, NodeId)> {
        let names = |size: &Size| {
            let mut names = Vec::new();
            self.vars.each_part(size, &mut |part| {
                if let Size::Name(id) = part {
                    names.push(*id);
                }
            });
            names
        };
        let others = names(b);
        let spelled = |id: &NodeId| self.vars.names.get(id);
        names(a).into_iter().find_map(|id| {
            let namesake = others.iter().find(|other| **other != id && spelled(other) == spelled(&id));
            namesake.map(|other| (id, *other))
        })
    }

    /// Tells of a definition that is part of the clash and has its type by default only.
    fn with_guess(
        &self,
        diagnostic: Diagnostic,
        wanted: &Type,
        found: &Type,
        context: &Context,
    ) -> Diagnostic {
        let (at, operator) = (diagnostic.span, context.place());
        let takes_part = |used: &Span| {
            let is_operand = operator.is_some_and(|operator| {
                let between = Span { start: used.end, end: operator.start, ..operator };
                used.file == operator.file
                    && used.end <= operator.start
                    && self
                        .names
                        .sources
                        .snippet(between)
                        .trim_matches([' ', '\n', '\t', '\r', ')'])
                        .is_empty()
            });
            let is_inside = used.file == at.file && at.start <= used.start && used.end <= at.end;
            is_operand || is_inside
        };
        let guess = self.pending.guessed.iter().rev().find_map(|(used, id)| {
            let (place, ty) = self.guesses[id];
            let clashes = [wanted, found].iter().any(|side| matches!(side, Type::Prim(prim) if *prim == ty));
            (clashes && takes_part(used)).then_some((place, ty, id))
        });
        let Some((place, ty, id)) = guess else { return diagnostic };
        let name = self.names.globals[*id].bind.name.text;
        diagnostic
            .with_place(
                place,
                format!("nothing says what type this number has: `{name}` got {ty} by default"),
            )
            .with_hint(format!("write the type of `{name}`"))
    }

    pub(crate) fn reason(&self, clash: &Clash) -> String {
        let vars = &self.vars;
        match clash {
            Clash::Shape(a, b) => {
                format!("Cannot unify \"{}\" with \"{}\": types do not match.", vars.show(a), vars.show(b))
            }
            Clash::Size(a, b) => {
                format!("Sizes \"{}\" and \"{}\" do not match.", vars.show_size(a), vars.show_size(b))
            }
            Clash::Infinite(ty) => {
                format!("Occurs check: a type would contain itself, as \"{}\" does here.", vars.show(ty))
            }
            Clash::NotOneOf(set, ty) => {
                format!("Cannot unify \"{}\" with {}.", vars.show(ty), set_name(*set))
            }
            Clash::NoField(name, ty) => match vars.resolve(ty) {
                Type::Record(_) => {
                    format!("Cannot unify record type: \"{}\" has no field \"{name}\".", vars.show(ty))
                }
                _ => format!(
                    "Cannot unify \"{}\" with type that must be a record with field \"{name}\".",
                    vars.show(ty)
                ),
            },
            Clash::Fields(names) => {
                format!("Cannot unify record types: unshared fields: {}.", join(names, ""))
            }
            Clash::In(name, inner) => {
                format!("When matching types of record field \"{name}\": {}", self.reason(inner))
            }
            Clash::Cycle(size) => {
                format!(
                    "Occurs check: a size would contain itself, as \"{}\" does here.",
                    vars.show_size(size)
                )
            }
            Clash::NotSum(ty) => {
                format!("Cannot unify type with constructors, a sum type, with \"{}\".", vars.show(ty))
            }
            Clash::Constructors(names) => {
                format!("Cannot unify type with constructors. Unshared constructors: {}.", join(names, "#"))
            }
            Clash::Arity(name) => format!("Constructors #{name} differ in arity."),
            Clash::Equality(ty) => {
                format!("Type \"{}\" does not support equality.", vars.show(ty))
            }
            Clash::Functional(ty) => {
                format!("Type \"{}\" found to be functional: no function type may stand here.", vars.show(ty))
            }
            Clash::Anonymous(ty) => {
                format!("Cannot use a type containing anonymous sizes here: \"{}\".", vars.show(ty))
            }
            Clash::Scope(id, ty) => {
                let name = vars.names.get(id).cloned().unwrap_or_default();
                format!(
                    "\"{name}\" would enter the type \"{}\" of something bound further out (scope-violation).",
                    vars.show(ty)
                )
            }
            Clash::Bound(id) => {
                let name = vars.names.get(id).cloned().unwrap_or_default();
                format!("Size \"{name}\" is bound inside of a function type and not known outside of it.")
            }
        }
    }

    fn hinted(
        &self,
        diagnostic: Diagnostic,
        wanted: &Type,
        found: &Type,
        clash: &Clash,
        applied: Option<&str>,
    ) -> Diagnostic {
        let vars = &self.vars;
        let operator = applied.is_some_and(is_operator);
        match (clash, vars.resolve(wanted), vars.resolve(found)) {
            (_, Type::Prim(want), Type::Prim(have)) => match conversion(want, have, operator) {
                Some(hint) => diagnostic.with_hint(hint),
                None => diagnostic,
            },
            (Clash::NotOneOf(set, _), Type::Prim(want), Type::Var(_))
                if operator && want.is_int() && *set == type_set(ElemType::is_float) =>
            {
                diagnostic.with_hint(format!("an integer becomes a float so: `f64.{want} e`"))
            }
            (_, Type::Prim(_) | Type::Var(_), Type::Array(..))
            | (_, Type::Array(..), Type::Prim(_) | Type::Var(_))
                if operator =>
            {
                diagnostic.with_hint(habits::of_elements(applied.unwrap_or_default()))
            }
            (_, Type::Record(fields), Type::Prim(_) | Type::Var(_) | Type::Array(..))
                if applied.is_some() && fields.len() > 1 && Type::is_tuple(&fields) =>
            {
                diagnostic.with_hint("it takes a tuple, which is written `(a, b)`")
            }
            (_, Type::Prim(_) | Type::Array(..), Type::Record(fields))
                if applied.is_some() && !operator && fields.len() > 1 && Type::is_tuple(&fields) =>
            {
                diagnostic.with_hint("this is one tuple; several arguments follow each other, `f a b`")
            }
            (Clash::Size(a, b), _, _) => {
                let mut diagnostic = diagnostic;
                for size in [a, b] {
                    if let Size::Name(id) = vars.resolve_size(size)
                        && let Some(unknown) = vars.unknowns.get(&id)
                        && unknown.span.end > unknown.span.start
                    {
                        let name = vars.show_size(size);
                        diagnostic = diagnostic
                            .with_place(unknown.span, format!("\"{name}\" is {} here", unknown.text));
                    }
                }
                if let Some((id, other)) = self.namesakes(a, b) {
                    let name = vars.names.get(&id).cloned().unwrap_or_default();
                    for (id, which) in [(id, "one"), (other, "the other")] {
                        if let Some(place) = vars.places.get(&id) {
                            diagnostic = diagnostic.with_place(*place, format!("{which} `{name}`"));
                        }
                    }
                }
                diagnostic.with_hint(format!(
                    "if they are always equal, say so: `e :> {}` checks it at run time",
                    vars.show(wanted)
                ))
            }
            (_, Type::Arrow(..), Type::Prim(_) | Type::Array(..))
            | (_, Type::Prim(_) | Type::Array(..), Type::Arrow(..)) => {
                diagnostic.with_hint("is an argument missing, or one too many?")
            }
            _ => diagnostic,
        }
    }
}
