//! Messages about consumption.
//!
//! The sentences are those that users of Futhark know, so that what its documentation says about them can be found.

use super::function::Clash;
use super::scope::{Binding, Entry, RegionKind};
use super::tree::Tree;
use galopvm_base::{Diagnostic, Span};

/// Where the language's documentation explains an error.
fn explained(diagnostic: Diagnostic, section: &str) -> Diagnostic {
    diagnostic.with_hint(format!("see https://futhark.readthedocs.io/en/latest/error-index.html#{section}"))
}

pub(super) fn use_after_consume(span: Span, what: &str, used: Option<&str>, consumed: Span) -> Diagnostic {
    let label = match used {
        Some(used) => format!("`{used}` may be the same memory"),
        None => "used after that".to_string(),
    };
    let diagnostic = Diagnostic::error(span, format!("Using {what}, but this was consumed before"))
        .with_label(label)
        .with_place(consumed, "consumed here")
        .with_hint("consume a copy instead, made with `copy`, or use it before it is consumed");
    explained(diagnostic, "use-after-consume")
}

pub(super) fn not_consumable(span: Span, entry: &Entry, starred: &str) -> Diagnostic {
    let Entry { name, span: bound, .. } = *entry;
    let copy = match entry.value {
        Tree::Function(..) => "a `copy` of what it gives".to_string(),
        _ => format!("`copy {name}`"),
    };
    let diagnostic =
        Diagnostic::error(span, format!("Consuming variable \"{name}\", which is not consumable"))
            .with_label("consumed here");
    let diagnostic = match entry.binding {
        Binding::Param => diagnostic
            .with_place(bound, "belongs to the caller, who may use it again")
            .with_hint(format!("declare the parameter {starred}, or consume {copy}")),
        Binding::LoopParam => diagnostic
            .with_place(bound, "its type says that a turn does not consume it")
            .with_hint(format!("declare it {starred}, or consume {copy}")),
        Binding::Turn => diagnostic
            .with_place(bound, "part of the array that the loop goes through")
            .with_hint(format!("consume {copy}")),
        Binding::Let | Binding::Function => {
            diagnostic.with_place(bound, "bound here").with_hint(format!("consume {copy}"))
        }
    };
    explained(diagnostic, "not-consumable")
}

pub(super) fn consumes_outer(span: Span, name: &str, bound: Span, region: Option<RegionKind>) -> Diagnostic {
    let diagnostic =
        Diagnostic::error(span, format!("Consuming variable \"{name}\", which is not consumable"))
            .with_label("consumed here");
    let diagnostic = match region {
        Some(RegionKind::Loop) => diagnostic
            .with_place(bound, "bound outside of the loop, whose next turn would find it consumed")
            .with_hint(format!("make `{name}` a parameter of the loop, or consume `copy {name}`")),
        Some(RegionKind::Size) => diagnostic
            .with_place(bound, "bound outside of the size, which is no step of the program")
            .with_hint(format!("consume `copy {name}`, or bind the size with `let` before")),
        _ => diagnostic
            .with_place(bound, "bound outside of the function, which may be called many times")
            .with_hint(format!("pass `{name}` as a parameter marked `*`, or consume `copy {name}`")),
    };
    explained(diagnostic, "not-consumable")
}

pub(super) fn consumes_global(span: Span, name: &str, defined: Option<Span>) -> Diagnostic {
    let mut diagnostic =
        Diagnostic::error(span, format!("Consuming variable \"{name}\", which is not consumable"))
            .with_label("consumed here")
            .with_hint(format!("everyone may use a definition: consume `copy {name}`"));
    if let Some(place) = defined {
        diagnostic = diagnostic.with_place(place, "defined here");
    }
    explained(diagnostic, "not-consumable")
}

pub(super) fn result_of_param(span: Span, name: &str, bound: Span, starred: &str) -> Diagnostic {
    let text = format!("Unique-typed return value is aliased to \"{name}\", which is not consumable");
    let diagnostic = Diagnostic::error(span, text)
        .with_label("the result is said to share memory with nothing")
        .with_place(bound, "belongs to the caller, who may use it again")
        .with_hint(format!("give a `copy`, or declare the parameter {starred}"));
    explained(diagnostic, "return-aliased")
}

pub(super) fn result_shared(span: Span) -> Diagnostic {
    let text = "A unique-typed component of the return value is aliased to some other component";
    let diagnostic = Diagnostic::error(span, text)
        .with_label("two parts of this may be the same memory")
        .with_hint("give a `copy` of one of them");
    explained(diagnostic, "unique-return-aliased")
}

pub(super) fn result_of_global(span: Span, name: &str) -> Diagnostic {
    let text = format!("Function result aliases the free variable \"{name}\"");
    let diagnostic = Diagnostic::error(span, text)
        .with_label(format!("may be the memory of `{name}`"))
        .with_hint("give a `copy`: a function's result may share memory only with its arguments");
    explained(diagnostic, "alias-free-variable")
}

pub(super) fn unique_constant(span: Span) -> Diagnostic {
    Diagnostic::error(span, "A top-level constant cannot have a unique type")
        .with_label("marked `*`")
        .with_hint("leave out the `*`: every use of a constant is the same memory")
}

pub(super) fn update_overlaps(span: Span, array: Span, array_text: &str, value_text: &str) -> Diagnostic {
    let text = format!(
        "Source array for in-place update `{}` might alias update value `{}`",
        one_line(array_text),
        one_line(value_text)
    );
    Diagnostic::error(span, text)
        .with_label("may be a part of the array that is written to")
        .with_place(array, "written to")
        .with_hint("use `copy` to remove aliases from the value")
}

/// A source text as a part of a sentence.
fn one_line(text: &str) -> String {
    const LONGEST: usize = 40;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    line.chars().take(LONGEST).chain("...".chars()).collect()
}

pub(super) fn argument_shares_itself(span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error(span, "Argument passed for consuming parameter is self-aliased")
        .with_label("two parts of this may be the same memory")
        .with_hint("pass a `copy` of one of them");
    explained(diagnostic, "self-aliasing-arg")
}

pub(super) fn argument_shared(span: Span, name: &str, other: Span) -> Diagnostic {
    Diagnostic::error(span, format!("Argument is consumed, but aliases \"{name}\", as another argument does"))
        .with_label("consumed")
        .with_place(other, format!("may also be the memory of `{name}`"))
        .with_hint("pass a `copy` for one of them")
}

pub(super) fn function_argument_consumes(span: Span, ty: &str, place: Span) -> Diagnostic {
    let text = format!("Argument of functional type `{ty}` contains consumption, which is not allowed");
    let diagnostic = Diagnostic::error(span, text)
        .with_label("a function that could be called many times")
        .with_place(place, "consumed here, once")
        .with_hint("consume a `copy` inside a lambda: each call then makes its own");
    explained(diagnostic, "consuming-argument")
}

pub(super) fn function_binding_consumes(span: Span, ty: &str, place: Span) -> Diagnostic {
    let text = format!(
        "Let-bound expression of higher-order type `{ty}` contains consumption, which is not allowed"
    );
    let diagnostic = Diagnostic::error(span, text)
        .with_label("a function that could be called many times")
        .with_place(place, "consumed here, once")
        .with_hint("consume a `copy`, or apply the function to all of its arguments");
    explained(diagnostic, "contains-consumption")
}

pub(super) fn function_mismatch(span: Span, clash: Clash, applied: Option<&str>) -> Diagnostic {
    let start = match applied {
        Some(name) => format!("Cannot apply \"{name}\" to this function"),
        None => "This function does not have expected type".to_string(),
    };
    match clash {
        Clash::Consumes => explained(
            Diagnostic::error(span, format!("{start}: the parameters differ in consuming their arguments"))
                .with_label("consumes an argument that is to be kept")
                .with_hint("use a function that does not consume, or one that consumes a `copy`"),
            "unify-consuming-param",
        ),
        Clash::Aliases => explained(
            Diagnostic::error(span, format!("{start}: the results have incompatible uniqueness"))
                .with_label("its result may share memory, but is wanted without aliases")
                .with_hint("write the type of its result with `*`, and give a `copy` where it shares memory"),
            "unify-return-uniqueness",
        ),
    }
}

pub(super) fn loop_uses_initial(span: Span, what: &str, place: Span) -> Diagnostic {
    let text = format!("Loop uses {what} (or an alias), but this is consumed by the initial loop argument");
    Diagnostic::error(span, text)
        .with_label("used by each turn")
        .with_place(place, "consumed here, before the first turn")
        .with_hint("start the loop with a `copy`, or make it use its parameter")
}

pub(super) fn loop_value_of_outside(span: Span, param: &str, outer: &str, at: Span) -> Diagnostic {
    let text = format!("Return value for consuming loop parameter \"{param}\" aliases \"{outer}\"");
    let diagnostic = Diagnostic::error(span, text)
        .with_label(format!("the next turn would consume `{outer}`"))
        .with_place(at, "consumed by each turn")
        .with_hint(format!("give a `copy` of `{outer}`"));
    explained(diagnostic, "consuming-loop-param-aliases")
}

pub(super) fn loop_value_consumed(span: Span, param: &str, at: Span) -> Diagnostic {
    let text = format!("Return value for loop parameter \"{param}\" aliases other consumed loop parameter");
    let diagnostic = Diagnostic::error(span, text)
        .with_label("the next turn would find it consumed")
        .with_place(at, "this parameter")
        .with_hint("give a `copy` for one of them");
    explained(diagnostic, "loop-parameter-aliases-other")
}

pub(super) fn loop_value_returned_before(span: Span, param: &str, at: Span) -> Diagnostic {
    let text =
        format!("Return value for consuming loop parameter \"{param}\" aliases previously returned value");
    let diagnostic = Diagnostic::error(span, text)
        .with_label("two values for the next turn may be the same memory")
        .with_place(at, "consumed by each turn")
        .with_hint("give a `copy` for one of them");
    explained(diagnostic, "aliases-previously-returned")
}
