//! Facts of a parallel operator: its accesses, lanes, layouts, strategies, reuse and plan.

use super::document::{Access, Kernel, Lane, LayoutCopy, OperatorPart, Reason, ReuseFact, ReuseResult};
use super::kept::{Happened, KeptOperator, Setting};
use super::names::{Names, renamed};
use super::regions::{array_fact, size_in_bytes};
use super::words;
use galopvm_analysis::index::{Role, Table, table};
use galopvm_analysis::layout::{Candidate, Copy, Pricing, Profile, Verdict, order_text, wish};
use galopvm_analysis::plan;
use galopvm_analysis::reuse::{self, Effort};
use galopvm_analysis::strategy::{kernel, kernel_strategies};
use galopvm_bytecode::RegId;
use galopvm_kir::text::{print_decision, print_region};
use galopvm_kir::{CheckedRegion, Exp, Observed, PlanLine, Region, Rhs, VarId, check};
use galopvm_lift::{Binding, Lifted};
use galopvm_tier::Site;
use galopvm_tier::SiteProfile;
use std::collections::BTreeMap;

/// How often what became of a result.
type Counts = BTreeMap<Happened, u64>;

/// An operator with the numbers of its largest execution.
pub(super) fn operator_part<'h>(
    setting: &Setting<'_>,
    site: Site,
    kept: &KeptOperator,
    profile: Option<&SiteProfile>,
    happened: &dyn Fn(usize) -> Option<&'h Counts>,
) -> OperatorPart {
    let code = setting.module.functions.get(site.function);
    let place = code.and_then(|code| code.blocks.get(site.block)?.place(site.index));
    let mut part = OperatorPart {
        spot: place.and_then(|place| setting.lines.spot(setting.module, place)),
        place: kept.place.clone(),
        operator: kept.operator,
        executions: profile.map_or(0, |profile| profile.executions + profile.grouped),
        width: kept.width,
        work: kept.work,
        tier: profile.map_or_else(String::new, |profile| profile.tier.to_string()),
        tier_reason: profile.map_or_else(String::new, |profile| profile.reason.clone()),
        form: kept.form,
        refused: None,
        arrays: Vec::new(),
        kernels: Vec::new(),
        reuse: Vec::new(),
        relaid: Vec::new(),
        plan: Vec::new(),
        kir: String::new(),
    };
    let Some(names) = setting.names(site.function) else { return part };
    match &kept.kernel {
        Err(reason) => part.refused = Some(reason.clone()),
        Ok((lifted, observed)) => describe(setting, &names, lifted, observed, happened, &mut part),
    }
    part
}

fn describe<'h>(
    setting: &Setting<'_>,
    names: &Names,
    lifted: &Lifted,
    observed: &Observed,
    happened: &dyn Fn(usize) -> Option<&'h Counts>,
    part: &mut OperatorPart,
) {
    let original = lifted.region.region();
    let bound = original.params.iter().zip(&lifted.bindings);
    let registers: BTreeMap<VarId, RegId> = bound
        .filter_map(|(var, binding)| match binding {
            Binding::Array(reg) | Binding::Scalar(reg) => Some((*var, *reg)),
            Binding::Extent { .. } => None,
        })
        .collect();
    // Other names change nothing.
    let named = registers.iter().filter_map(|(var, reg)| Some((*var, names.of(*reg).name?)));
    let Ok(region) = check(renamed(original, named)) else { return };
    let code = region.region();
    for (var, binding) in code.params.iter().zip(&lifted.bindings) {
        if let Binding::Array(reg) = binding {
            let register = Some(reg.to_string());
            part.arrays.push(array_fact(code, observed, *var, register, names.of(*reg), None));
        }
    }
    let facts = table(&region, observed);
    let profile = Profile::default();
    let pricing = Pricing {
        table: &facts,
        costs: setting.costs,
        target: setting.target,
        profile: &profile,
        sharing: 1,
    };
    part.kernels = pricing
        .kernels()
        .into_iter()
        .map(|kernel| kernel_facts(setting, &region, &pricing.shared(kernel), kernel))
        .collect();
    part.reuse = reuse_results(names, code, observed, &facts, lifted, happened);
    let plan = plan::decide(&region, observed, setting.machine);
    let line = |line: &PlanLine| (print_decision(code, &line.decision), line.reason.clone());
    part.plan = plan.lines.iter().map(line).collect();
    part.kir = print_region(code);
}

fn kernel_facts(
    setting: &Setting<'_>,
    region: &CheckedRegion,
    pricing: &Pricing<'_>,
    kernel: VarId,
) -> Kernel {
    let code = region.region();
    let facts = pricing.table;
    let rows = pricing.rows_of(kernel);
    let choices = pricing.lane_choices(kernel, &setting.means);
    let lane = choices.first().map(|choice| choice.lane);
    let mut accesses = Vec::new();
    let mut layouts: Vec<LayoutCopy> = Vec::new();
    for number in &rows {
        let row = &facts.rows[*number];
        let read = matches!(row.role, Role::Read(_));
        let wished = read.then(|| wish(facts, row, pricing.target));
        let price = lane.map(|lane| pricing.access_now(row, lane));
        accesses.push(Access {
            array: code.name_of(row.array).into(),
            name: row.name(code),
            write: !read,
            index: row.index_text(facts, region),
            class: price.map_or_else(String::new, |price| price.class.to_string()),
            time: price.map_or(0, |price| price.time),
            wish: wished.as_ref().map(|wish| order_text(&wish.order)),
            against: wished
                .iter()
                .flat_map(|wish| &wish.against)
                .map(|condition| (condition.letter(), words::condition(*condition)))
                .collect(),
        });
        // What a layout would be worth that is wished for and not taken.
        let taken = choices.first().is_some_and(|best| best.copies().any(|c| c.rows.contains(number)));
        let open = wished.filter(|wish| wish.against.is_empty() && !taken);
        if let (Some(wish), Some(lane)) = (open, lane) {
            let candidate = Candidate { order: wish.order, generic: false };
            let copy = pricing.copy_for(&[*number], lane, &candidate, &setting.means);
            layouts.extend(copy.map(|copy| layout_copy(code, facts, &copy)));
        }
    }
    let mut born = Vec::new();
    if let Some(best) = choices.first() {
        layouts.extend(best.copies().map(|copy| layout_copy(code, facts, copy)));
        let births = best.born.iter();
        born.extend(births.map(|(array, order)| (code.name_of(*array).into(), order_text(order))));
    }
    let strategies = kernel_strategies(pricing, kernel);
    let strategy = choices.first().map(|best| kernel::choice_text(code, &strategies, best));
    let lanes = choices.iter().map(|choice| Lane {
        variable: code.name_of(choice.lane).into(),
        time: choice.time,
        transposes: choice.transposes,
        copies: choice.copies_text(code),
    });
    Kernel {
        accesses,
        lanes: lanes.collect(),
        layouts,
        born,
        strategies: strategies.iter().map(|strategy| strategy.text(code)).collect(),
        strategy: strategy.unwrap_or_default(),
    }
}

/// A copy into another layout with its verdict.
pub(super) fn layout_copy(code: &Region, facts: &Table, copy: &Copy) -> LayoutCopy {
    LayoutCopy {
        array: code.name_of(copy.array).into(),
        order: order_text(&copy.order),
        accesses: copy.rows.iter().map(|row| facts.rows[*row].name(code)).collect(),
        cost: copy.question.cost,
        before: copy.question.before,
        after: copy.question.after,
        least_runs: copy.question.min_runs(),
        bytes: copy.question.bytes,
        made: copy.verdict == Verdict::Manifest,
        reason: Reason { plain: words::layout(copy.verdict).into(), exact: copy.verdict.to_string() },
    }
}

fn reuse_results<'h>(
    names: &Names,
    code: &Region,
    observed: &Observed,
    facts: &Table,
    lifted: &Lifted,
    happened: &dyn Fn(usize) -> Option<&'h Counts>,
) -> Vec<ReuseResult> {
    let mut results = Vec::new();
    for (k, exp) in code.body.results.iter().enumerate() {
        let Exp::Var(result) = exp else { continue };
        let stm = code.body.stms.iter().find(|stm| stm.pat.contains(result));
        let Some(stm) = stm.filter(|stm| matches!(stm.rhs, Rhs::Kernel { .. })) else { continue };
        let position = stm.pat.iter().position(|var| var == result).unwrap_or(0);
        let analysed = reuse::analyse(code, observed, stm, position, Effort::Thorough);
        let arrays = analysed.iter().flat_map(|reuse| &reuse.arrays).map(|array| ReuseFact {
            array: code.name_of(array.array).into(),
            read: array.read.to_string(),
            copied: array.copied.to_string(),
            changed: array.changed.to_string(),
            candidate: array.verdict == reuse::Verdict::Candidate,
            reason: Reason { plain: words::reuse(array.verdict), exact: array.verdict.to_string() },
        });
        let choice = analysed.as_ref().and_then(|reuse| reuse::choose(reuse.candidates()));
        let named = |reg: RegId| {
            let at = lifted.bindings.iter().position(|binding| *binding == Binding::Array(reg));
            let var = at.and_then(|at| code.params.get(at));
            let own = || names.of(reg).name.unwrap_or_else(|| reg.to_string());
            var.map_or_else(own, |var| code.name_of(*var).to_string())
        };
        let is_over = |what: &Happened| matches!(what, Happened::Over(_));
        let over = happened(k).into_iter().flatten().filter(|(what, _)| is_over(what)).map(|(_, n)| n).sum();
        let told = happened(k).into_iter().flatten().map(|(what, count)| {
            let reason = match what {
                Happened::Over(reg) => {
                    Reason { plain: format!("written over {}", named(*reg)), exact: "in place".into() }
                }
                Happened::No => Reason {
                    plain: "a block of its own: no array that dies here may be written over".into(),
                    exact: "fresh".into(),
                },
                Happened::Unasked(why) => {
                    let (plain, exact) = words::unasked(*why);
                    Reason { plain: format!("a block of its own: {plain}"), exact: exact.into() }
                }
            };
            (reason, *count)
        });
        let shape = facts.array(*result).and_then(|info| Some((info.shape.as_ref()?, info.elem)));
        results.push(ReuseResult {
            result: code.name_of(*result).into(),
            bytes: shape.map(|(shape, elem)| size_in_bytes(shape, elem.bytes())),
            arrays: arrays.collect(),
            choice: choice.map(|choice| code.name_of(choice.array).into()),
            happened: told.collect(),
            over,
        });
    }
    results
}
