//! `:grad F X`: the gradient of a function with one float as its result, by both modes, and compared with differences.
//!
//! The function is derived by its last argument. What is evaluated is an expression of the language which is made
//! here from the two: the engine does all the work, and the same limits hold as for every other evaluation.

use super::display::value_text;
use super::evaluation::{Evaluated, Expression};
use super::numbers::{self, Parts};
use super::{Repl, print};
use crate::failure::{complaint, say};
use bumpalo::Bump;
use galopvm::{ElemType, Value};
use galopvm_base::{Sources, Span};
use galopvm_bytecode::Form;
use galopvm_frontend::syntax::ast::ExpKind;
use galopvm_frontend::syntax::parse_expression;
use std::io;

/// Most components in which the modes, and differences, are compared: each costs executions of the function.
const COMPARED: i64 = 64;

/// Of the greatest component of a gradient, what is as good as nothing in another one.
const NEGLIGIBLE: f64 = 1e-3;

/// A function and what it is applied to, as they were typed.
struct Application<'a> {
    function: &'a str,
    argument: &'a str,
}

/// A comparison of a gradient's components with what was found in another way.
struct Comparison {
    /// How many were compared.
    compared: usize,
    /// The greatest difference, of all that can be compared.
    apart: f64,
    /// How many differ by more than rounding explains.
    wrong: usize,
    /// Of those, the one that differs most: which it is, the gradient's number, the other one.
    worst: Option<(String, f64, f64)>,
    /// How many are no finite numbers, and cannot be compared.
    infinite: usize,
    /// How many cannot be compared since the other way has not come near to any number.
    unsettled: usize,
}

impl Repl {
    /// Shows the gradient of an application by its last argument, and whether all ways to it agree.
    pub(super) fn gradient(&mut self, text: &str) -> io::Result<()> {
        let Some(ty) = self.compile(Expression::typed(text), false).map(|evaluation| evaluation.ty) else {
            return Ok(());
        };
        let complain = |message: String, hint: &str| {
            say(&complaint(&message, hint));
            Ok(())
        };
        let Some(application) = application(text) else {
            return complain(
                format!("`{text}` is not a function applied to an argument"),
                ":grad f x is the gradient of f at x; write (\\x -> ..) x where the function has no name",
            );
        };
        let Some(elem) = ty.parse().ok().filter(|elem: &ElemType| elem.is_float()) else {
            return if ty.contains("->") {
                complain(
                    format!("`{text}` is still a function: {ty}"),
                    "give it all its arguments; the gradient is that by the last one",
                )
            } else if ty.parse::<ElemType>().is_ok() {
                complain(
                    format!("`{text}` is {ty}, and only floats have a gradient"),
                    "numbers without a type may be integers: write 2.0 or 2f64 in the place of 2",
                )
            } else {
                complain(
                    format!("`{text}` is {ty}, and only one float has a gradient"),
                    "add the results up, as in (\\x -> f64.sum (f x)) x; `jvp` and `vjp` derive other results",
                )
            };
        };
        let at = application.value();
        let Some(Evaluated { form, values, .. }) = self.value(Expression::made(text, &at)) else {
            return Ok(());
        };
        let point = match &form {
            Form::Tuple(parts) => parts.get(1),
            _ => None,
        };
        let Some(form) = point else { return complain(format!("`{text}` has no gradient"), "") };
        let point = Parts { form, values: &values };
        let elems = numbers::leaves(form).map(|leaves| {
            leaves.iter().filter_map(|slot| values.get(*slot as usize)).map(Value::elem).collect::<Vec<_>>()
        });
        match elems.as_ref().map(|elems| elems.iter().find(|elem| !elem.is_float())) {
            Some(None) => {}
            Some(Some(elem)) => {
                return complain(
                    format!(
                        "`{}` holds values of type {elem}, and only floats have a gradient",
                        application.argument
                    ),
                    "give the function its other arguments first: :grad (f n) x is the gradient by x",
                );
            }
            None => {
                return complain(
                    format!("`{}` holds a sum, and only floats have a gradient", application.argument),
                    "derive by what is in the constructor",
                );
            }
        }
        let is_double = elem == ElemType::F64 && elems.iter().flatten().all(|elem| *elem == ElemType::F64);
        self.compared(text, &application, elem, point, is_double)
    }

    /// Derives in both modes, and shows what comes of it.
    fn compared(
        &mut self,
        text: &str,
        application: &Application<'_>,
        elem: ElemType,
        point: Parts<'_>,
        is_double: bool,
    ) -> io::Result<()> {
        let count = point.count(point.form, 0);
        let compared: Vec<i64> = match count {
            ..=COMPARED => (0..count).collect(),
            _ => (0..COMPARED).map(|k| k * count / COMPARED).collect(),
        };
        // The cube root of the unit of rounding, where truncation and rounding are about the same; around large numbers it has
        // to be more, since they are far from each other.
        let at: Vec<f64> = compared.iter().map(|k| point.number(*k).0.abs()).collect();
        let step = |x: &f64| if x.is_finite() { f64::EPSILON.cbrt() * x.sqrt().max(1.0) } else { 1.0 };
        let steps: Vec<f64> = at.iter().map(step).collect();
        let derived = application.derived(&point, &compared, is_double.then_some(&steps));
        let Some(derived) = self.value(Expression::made(text, &derived)) else { return Ok(()) };
        let Form::Tuple(parts) = &derived.form else { return Ok(()) };
        let part = |k: usize| parts.get(k).map(|form| Parts { form, values: &derived.values });
        let all = |k: usize| {
            part(k)
                .map_or(Vec::new(), |part| (0..part.count(part.form, 0)).map(|k| part.number(k).0).collect())
        };
        let (Some(value), Some(gradient)) = (part(0), part(1)) else { return Ok(()) };
        print(&format!("value: {}", value_text(value.form, value.values)))?;
        print(&format!("gradient by vjp: {}", value_text(gradient.form, gradient.values)))?;
        if count == 0 {
            return Ok(());
        }
        let found: Vec<(f64, String)> = compared.iter().map(|k| gradient.number(*k)).collect();
        let greatest = found.iter().map(|(g, _)| g.abs()).filter(|g| g.is_finite()).fold(0.0, f64::max);
        let scale = |a: f64, b: f64| a.abs().max(b.abs()).max(NEGLIGIBLE * greatest);
        let among = match count == compared.len() as i64 {
            true => String::new(),
            false => format!(" (looked at: {} of {count} components)", compared.len()),
        };
        let forward: Vec<f64> = all(2);
        let rounding = match elem {
            ElemType::F64 if is_double => 1e-8,
            ElemType::F16 => 5e-2,
            _ => 1e-3,
        };
        let modes = compare(&found, &forward, |_, a, b| Some(rounding * scale(a, b)));
        print(&format!("{}{among}", modes.text("jvp")))?;
        if !is_double {
            return print(
                "differences: not looked at, since they are too coarse with fewer digits than f64 has",
            );
        }
        let values: [Vec<f64>; 4] = [3, 4, 5, 6].map(all);
        let slope =
            |k: usize, [after, before]: [usize; 2], h: f64| (values[after][k] - values[before][k]) / h;
        let coarse: Vec<f64> = (0..steps.len()).map(|k| slope(k, [0, 1], 2.0 * steps[k])).collect();
        let fine: Vec<f64> = (0..steps.len()).map(|k| slope(k, [2, 3], steps[k])).collect();
        // How far differences may be from a derivative: by how much half the step changes them, and by the rounding of the
        // values and of the places. Where half the step changes them a lot, they say nothing.
        let tolerance = |k: usize, a: f64, b: f64| {
            let size = values.iter().map(|values| values[k].abs()).fold(0.0, f64::max);
            let noise = 128.0 * f64::EPSILON * (size + at[k] * a.abs()) / steps[k];
            let unsettled = (coarse[k] - fine[k]).abs();
            let is_settled = at[k].is_finite() && unsettled <= 0.01 * scale(a, b) + noise;
            is_settled.then_some(1e-5 * scale(a, b) + 2.0 * unsettled + noise)
        };
        print(&format!("{}{among}", compare(&found, &fine, tolerance).text("central differences")))
    }
}

/// Compares components with what they should be, but for a tolerance that may depend on which it is; nothing is told of those
/// without one.
fn compare(
    found: &[(f64, String)],
    others: &[f64],
    tolerance: impl Fn(usize, f64, f64) -> Option<f64>,
) -> Comparison {
    let mut comparison =
        Comparison { compared: 0, apart: 0.0, wrong: 0, worst: None, infinite: 0, unsettled: 0 };
    let mut most = 0.0;
    for (k, ((gradient, name), other)) in found.iter().zip(others).enumerate() {
        let is_same = gradient == other || (gradient.is_nan() && other.is_nan());
        if !is_same && (!gradient.is_finite() || !other.is_finite()) {
            comparison.infinite += 1;
            continue;
        }
        let tolerance = if is_same { Some(0.0) } else { tolerance(k, *gradient, *other) };
        let Some(tolerance) = tolerance else {
            comparison.unsettled += 1;
            continue;
        };
        comparison.compared += 1;
        if is_same {
            continue;
        }
        let apart = (gradient - other).abs();
        comparison.apart = comparison.apart.max(apart);
        if apart > tolerance {
            comparison.wrong += 1;
            if apart > most {
                most = apart;
                comparison.worst = Some((name.clone(), *gradient, *other));
            }
        }
    }
    comparison
}

impl Comparison {
    /// What it says of another way to the gradient.
    fn text(&self, way: &str) -> String {
        let mut text = match &self.worst {
            Some((name, gradient, other)) => {
                let at = if name.is_empty() { String::new() } else { format!(" at {name}") };
                let often =
                    if self.wrong == 1 { String::new() } else { format!(" in {} components", self.wrong) };
                let [by, other, gradient] = [gradient - other, *other, *gradient].map(numbers::short);
                let by = by.trim_start_matches('-');
                format!("{way}: DISAGREES{often}, by {by}{at}: {other} instead of {gradient}")
            }
            None if self.compared == 0 => format!("{way}: not compared"),
            None if self.apart == 0.0 => format!("{way}: the same"),
            None => format!("{way}: agrees, at most {:.1e} apart", self.apart),
        };
        for (count, what) in [(self.infinite, "not finite"), (self.unsettled, "too rough to tell")] {
            if count > 0 {
                text.push_str(&format!("; {count} {what}"));
            }
        }
        text
    }
}

/// The function and the last argument of an application.
fn application(text: &str) -> Option<Application<'_>> {
    let (function, argument) = galopvm_frontend::stack::with_room(|| {
        let arena = Bump::new();
        let file = Sources::new().add("", text);
        let mut exp = parse_expression(&arena, file, text, 0).tree;
        while let ExpKind::Parens(inner) = exp.kind {
            exp = inner;
        }
        match exp.kind {
            ExpKind::Apply(_, arguments) => {
                let argument = arguments.last()?.at.span;
                Some((Span { end: argument.start, ..exp.at.span }, argument))
            }
            _ => None,
        }
    })??;
    let at = |span: Span| text.get(span.start as usize..span.end as usize).map(str::trim);
    Some(Application { function: at(function)?, argument: at(argument)? })
}

impl Application<'_> {
    /// The definitions of all that is made: the argument, and the function with an argument that it may consume.
    fn definitions(&self) -> String {
        format!(
            "let grad'x = {} let grad'g = {} let grad'f = \\grad'p -> grad'g (copy grad'p) in ",
            self.argument, self.function
        )
    }

    /// Text for the value of the application, and of the argument with the type that it has there.
    fn value(&self) -> String {
        format!("{} (grad'f grad'x, grad'x)", self.definitions())
    }

    /// Text for: value, gradient, directional derivatives in some components, and the values a step and half a step after and
    /// before.
    fn derived(&self, point: &Parts<'_>, components: &[i64], steps: Option<&Vec<f64>>) -> String {
        let each =
            |of: &dyn Fn(&str, &str) -> String| changed(point, point.form, (0, 0), "grad'x", "grad'k", of);
        let direction = each(&|_, which| format!("(if {which} == 0 then 1 else 0)"));
        let moved =
            |sign: char| each(&|x, which| format!("({x} {sign} (if {which} == 0 then grad'h else 0))"));
        let list = |items: Vec<String>| match items.is_empty() {
            true => "(map i64.i64 (iota 0))".to_string(),
            false => format!("[{}]", items.join(", ")),
        };
        let components = list(components.iter().map(|k| format!("{k}i64")).collect());
        let mut text = format!(
            "{} let (grad'y, grad'd) = vjp2 grad'f grad'x 1 in \
             (grad'y, grad'd, map (\\grad'k -> jvp grad'f grad'x {direction}) {components}",
            self.definitions()
        );
        if let Some(steps) = steps.filter(|steps| !steps.is_empty()) {
            for part in [1.0, 0.5] {
                let steps = list(steps.iter().map(|h| format!("{:e}f64", h * part)).collect());
                for sign in ['+', '-'] {
                    let moved = moved(sign);
                    text.push_str(&format!(
                        ", map2 (\\grad'k grad'h -> grad'f {moved}) {components} {steps}"
                    ));
                }
            }
        }
        text + ")"
    }
}

/// Text that makes a value like `x` of which each number is what `number` makes of it and of how far it is from the one that
/// is meant. It lies below so many dimensions, and so many variables were named already.
fn changed(
    point: &Parts<'_>,
    form: &Form,
    (depth, named): (usize, usize),
    x: &str,
    which: &str,
    number: &dyn Fn(&str, &str) -> String,
) -> String {
    let rows = |count: i64, row: &dyn Fn(&str, &str) -> String| {
        let (i, v) = (format!("grad'i{named}"), format!("grad'v{named}"));
        let row = row(&v, &format!("({which} - {i} * {count})"));
        format!("(map2 (\\{i} {v} -> {row}) (indices {x}) {x})")
    };
    let below = (depth + 1, named + 1);
    let fields = |parts: &mut dyn Iterator<Item = (String, &Form)>| -> Vec<(String, String)> {
        let mut before = 0;
        let mut made = Vec::new();
        for (name, part) in parts {
            let which = format!("({which} - {before})");
            made.push((
                name.clone(),
                changed(point, part, (depth, named), &format!("({x}.{name})"), &which, number),
            ));
            before += point.count(part, depth);
        }
        made
    };
    match form {
        Form::Value(slot) if point.extents(*slot).len() > depth => {
            let count = point.extents(*slot).iter().skip(depth + 1).product();
            rows(count, &|row, which| changed(point, form, below, row, which, number))
        }
        Form::Array(_, element) => {
            let count = point.count(element, depth + 1);
            rows(count, &|row, which| changed(point, element, below, row, which, number))
        }
        Form::Tuple(items) => {
            let made = fields(&mut items.iter().enumerate().map(|(k, item)| (k.to_string(), item)));
            format!("({})", made.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(", "))
        }
        Form::Record(named) => {
            let made = fields(&mut named.iter().map(|(name, field)| (name.clone(), field)));
            let made: Vec<String> = made.into_iter().map(|(name, text)| format!("{name} = {text}")).collect();
            format!("{{{}}}", made.join(", "))
        }
        Form::Value(_) | Form::Sum(..) => number(x, which),
    }
}
