//! `guard`: under which conditions two views with parameters are disjoint.

use crate::case::{Case, Outcome, Section};
use galopvm_lmad::{Parametric, Polynomial, disjoint_guards};

/// What this group takes.
pub const LINES: &[(&str, usize)] = &[("guard", 1)];

/// Takes what is said of guards.
pub fn run(section: &Section, case: &Case) -> Outcome {
    match section.kind() {
        Some("guard") => Outcome::each(section, |_| parametric_guards(case).map(Some)),
        _ => Outcome::not_mine(section),
    }
}

/// The guards under which the two views of the first `disjoint` line are disjoint.
fn parametric_guards(case: &Case) -> Result<String, String> {
    let text = case.text("EXPECT disjoint").ok_or("no views")?;
    let line = text.lines().next().ok_or("no views")?.trim();
    let (quantified, views) =
        line.strip_prefix("forall ").and_then(|l| l.split_once(" ; ")).ok_or("no forall")?;
    let (bindings, _) = quantified.split_once(" where ").unwrap_or((quantified, ""));
    let mut names = Vec::new();
    let mut positive = Vec::new();
    for binding in bindings.split(", ") {
        let (name, range) = binding.split_once(" in ").ok_or("no range")?;
        if range.starts_with('1') {
            positive.push(names.len());
        }
        names.push(name);
    }
    // What the environment gives is a parameter, too.
    positive.push(names.len());
    names.push("n");
    let (views, _) = views.split_once(" => ").ok_or("no verdict")?;
    let (a, b) = views.split_once(" # ").ok_or("no pair")?;
    let (a, b) = (parametric(a, &names)?, parametric(b, &names)?);
    let guards = disjoint_guards(&a, &b, &positive).ok_or("no guard")?;
    Ok(guards.iter().map(|guard| guard.text(&names)).collect::<Vec<_>>().join(" ; "))
}

/// `r0*n+c0 + {(h:n),(w:1)}`
fn parametric(text: &str, names: &[&str]) -> Result<Parametric, String> {
    let (offset, dims) = text.split_once(" + {").ok_or("no dimensions")?;
    let polynomial = |text: &str| {
        text.split('+').try_fold(Polynomial::default(), |sum, product| {
            let factors = product.split('*').try_fold(Polynomial::number(1), |all, factor| {
                let name = names.iter().position(|name| *name == factor);
                let factor = match name {
                    Some(at) => Polynomial::parameter(at),
                    None => Polynomial::number(factor.parse().map_err(|_| format!("`{factor}`?"))?),
                };
                Ok::<_, String>(all.times(&factor))
            })?;
            Ok::<_, String>(sum.plus(&factors, 1))
        })
    };
    let dims = dims
        .trim_end_matches('}')
        .split("),(")
        .map(|dim| {
            let (size, stride) = dim.trim_matches(['(', ')']).split_once(':').ok_or("no stride")?;
            Ok((polynomial(size)?, polynomial(stride)?))
        })
        .collect::<Result<Vec<_>, String>>()?;
    Ok(Parametric { offset: polynomial(offset)?, dims })
}
