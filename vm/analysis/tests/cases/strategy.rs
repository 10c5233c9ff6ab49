//! Strategies: restriction triples, their combination, the choice in a kernel and over a sequence of kernels.

use crate::case::Outcome;
use crate::prices::Priced;
use galopvm_analysis::Effort;
use galopvm_analysis::layout::producer::{births_text, choose_text, times_text};
use galopvm_analysis::layout::{Means, Target};
use galopvm_analysis::strategy::kernel::{
    choice_text, interchange_text, moved_text, satisfied_text, strategy_of,
};
use galopvm_analysis::strategy::{
    Access, Kernel, Lane, Problem, Restriction, access_strategies, kernel_strategies, solve,
};
use galopvm_kir::{Region, VarId};
use galopvm_testkit::cases::{Case, Section};

/// What this group takes.
pub const LINES: &[(&str, usize)] = &[
    ("strategies", 10),
    ("strategies x", 6),
    ("strategies y", 2),
    ("strategies z", 3),
    ("combine", 6),
    ("choice", 6),
    ("dp", 9),
];

/// Takes `strategies`, `combine`, `choice` and `dp`.
pub fn run(section: &Section, case: &Case) -> Outcome {
    let kind = section.kind().unwrap_or_default();
    match kind.split_once(' ').unwrap_or((kind, "")) {
        ("strategies", access) => set(section, strategies(case, access)),
        ("combine", "") => {
            let mut axes = Vec::new();
            let mut names = Names(Region::default());
            Outcome::each(section, |line| combine(line, &mut names, &mut axes).map(Some))
        }
        ("choice", "") => Outcome::each(section, |line| choice(line, case).map(Some)),
        ("dp", "") if case.sections.iter().any(|s| s.body.contains("layouts :")) => sequence(section),
        ("dp", "") => Outcome::each(section, |line| births(line, case)),
        _ => Outcome::not_mine(section),
    }
}

/// The section as a set; `none` stands for the empty one.
fn set(section: &Section, computed: Result<Vec<String>, String>) -> Outcome {
    let mut section = section.clone();
    section.lines.sort_by(|a, b| a.text.cmp(&b.text));
    let computed = computed.map(|mut lines| {
        lines.sort();
        if lines.is_empty() { vec!["none".to_string()] } else { lines }
    });
    Outcome::whole(&section, computed)
}

fn strategies(case: &Case, access: &str) -> Result<Vec<String>, String> {
    let priced = Priced::new(case)?;
    let t = &priced.tabled;
    let found = if access.is_empty() {
        kernel_strategies(&priced.on(Target::Gpu), priced.kernel()?)
    } else {
        let row = t.table.rows.iter().find(|row| row.name(t.code()) == access).ok_or("no such access")?;
        access_strategies(&t.table, row)
    };
    Ok(found.iter().map(|strategy| strategy.text(t.code())).collect())
}

/// Names that are made as they come up.
struct Names(Region);

impl Names {
    fn get(&mut self, name: &str) -> VarId {
        let found = self.0.vars.iter_ids().find(|(_, var)| var.name == name).map(|(id, _)| id);
        found.unwrap_or_else(|| self.0.fresh(name, None))
    }

    /// `{in k; out i,j; bias->2}`
    fn restriction(&mut self, text: &str) -> Result<Restriction, String> {
        let inner = text.trim().trim_start_matches('{').trim_end_matches('}');
        let parts: Vec<&str> = inner.split(';').map(str::trim).collect();
        let [lane, out, maps] = parts[..] else { return Err(format!("no demand: {text}")) };
        let lane = lane.strip_prefix("in ").ok_or("no lane")?;
        let out = out.strip_prefix("out ").ok_or("no out")?;
        let mut restriction = Restriction::default();
        if lane != "-" {
            restriction.lane = Some(self.get(lane));
        }
        restriction.out = out.split(',').filter(|name| *name != "-").map(|name| self.get(name)).collect();
        for map in maps.split_whitespace().filter(|map| *map != "-") {
            let (array, dim) = map.split_once("->").ok_or("no map")?;
            restriction.inner.insert(self.get(array), dim.parse().map_err(|e| format!("{dim}: {e}"))?);
        }
        Ok(restriction)
    }
}

/// `vars i,j,k`, then `{..} + {..} => {..}` or `=> fail why`.
fn combine(line: &str, names: &mut Names, axes: &mut Vec<VarId>) -> Result<String, String> {
    if let Some(vars) = line.strip_prefix("vars ") {
        *axes = vars.split(',').map(|name| names.get(name)).collect();
        let known: Vec<&str> = axes.iter().map(|axis| names.0.name_of(*axis)).collect();
        return Ok(format!("vars {}", known.join(",")));
    }
    let (sum, _) = line.split_once(" => ").ok_or("no =>")?;
    let (a, b) = sum.split_once(" + ").ok_or("no +")?;
    let (a, b) = (names.restriction(a)?, names.restriction(b)?);
    let result = match a.combine(&b, axes) {
        Ok(both) => both.text(&names.0),
        Err(conflict) => conflict.text(&names.0),
    };
    Ok(format!("{} + {} => {result}", a.text(&names.0), b.text(&names.0)))
}

/// A line of `choice`, part by part.
fn choice(line: &str, case: &Case) -> Result<String, String> {
    let priced = Priced::new(case)?;
    let (t, gpu, kernel) = (&priced.tabled, priced.on(Target::Gpu), priced.kernel()?);
    let strategies = kernel_strategies(&gpu, kernel);
    match line.split_whitespace().next() {
        Some("satisfied") => return Ok(satisfied_text(t.code(), &gpu, kernel)),
        Some("transposes") => return Ok(moved_text(t.code(), &t.table, &strategies)),
        _ => {}
    }
    let choices = gpu.lane_choices(kernel, &Means::default());
    let best = choices.first().ok_or("no lane")?;
    let strategy = strategy_of(&strategies, best.lane);
    let mut parts = vec![choice_text(t.code(), &strategies, best)];
    // The first part has semicolons of its own.
    let rest = line.rsplit_once('}').map_or("", |(_, rest)| rest);
    for part in rest.split(" ; ").map(str::trim).filter(|part| !part.is_empty()) {
        parts.push(match part.split_whitespace().next() {
            Some("lane") => format!("lane {}", t.code().name_of(best.lane)),
            Some("manifest") => best.copies_text(t.code()),
            Some("interchange") => interchange_text(t.code(), &gpu, kernel, best.lane),
            Some("transposes") => {
                format!("transposes {}", strategy.ok_or("no strategy")?.transposed().count())
            }
            _ => return Err(format!("cannot be read: {part}")),
        });
    }
    Ok(parts.join(" ; "))
}

/// Two kernels whose costs are given: the lines `layouts`, `kernel` and `manifest` are the problem, the others
/// follow from it.
fn sequence(section: &Section) -> Outcome {
    let mut problem = Problem { initial: vec![Some(0)], copy: vec![Vec::new()], kernels: Vec::new() };
    Outcome::each(section, |line| {
        let (head, rest) = line.split_once(" : ").ok_or("cannot be read")?;
        let number = |text: &str| text.trim().parse::<u64>().map_err(|e| format!("{text}: {e}"));
        match head.split_whitespace().next() {
            Some("layouts") => {
                problem.copy[0] = vec![0; rest.split(',').count()];
                Ok(Some(line.to_string()))
            }
            Some("kernel") => {
                let mut time = vec![u64::MAX; problem.copy[0].len()];
                let mut order = Vec::new();
                for part in rest.split(" ; ") {
                    let (layout, cost) = part.split_once(" cost ").ok_or("no cost")?;
                    let layout = number(layout)? as usize;
                    *time.get_mut(layout).ok_or("no such layout")? = number(cost)?;
                    order.push(layout);
                }
                let lane = Lane { reads: vec![Access { array: 0, time }], ..Lane::default() };
                problem.kernels.push(Kernel { lanes: vec![lane], dead: Vec::new(), runs: 1 });
                Ok(Some(line.to_string()))
            }
            Some("manifest") => {
                let cost = number(rest)?;
                problem.copy[0].iter_mut().for_each(|copy| *copy = cost);
                Ok(Some(line.to_string()))
            }
            Some("state") => {
                let kernel = head.split_whitespace().next_back().ok_or("no kernel")?;
                Ok(Some(solve(&problem, Effort::Quick).states_text(number(kernel)? as usize)))
            }
            Some("best") => {
                let (least, greedy) = (brute_force(&problem), greedy(&problem));
                Ok(Some(format!(
                    "{} ; brute force {least} ; greedy {greedy}",
                    solve(&problem, Effort::Quick).text()
                )))
            }
            _ => Ok(None),
        }
    })
}

/// One array, one read in each kernel: every sequence of layouts.
fn brute_force(problem: &Problem) -> u64 {
    fn go(problem: &Problem, kernel: usize, held: &[usize]) -> u64 {
        let Some(here) = problem.kernels.get(kernel) else { return 0 };
        let options = here.lanes[0].reads[0].time.iter().enumerate().map(|(layout, time)| {
            let mut next = held.to_vec();
            let copy = if held.contains(&layout) { 0 } else { problem.copy[0][layout] };
            next.push(layout);
            time + copy + go(problem, kernel + 1, &next)
        });
        options.min().unwrap_or(0)
    }
    go(problem, 0, &[0])
}

/// Kernel by kernel the first of the cheapest layouts.
fn greedy(problem: &Problem) -> u64 {
    let (mut held, mut total) = (vec![0], 0);
    for kernel in &problem.kernels {
        let cost = |layout: usize| {
            let copy = if held.contains(&layout) { 0 } else { problem.copy[0][layout] };
            kernel.lanes[0].reads[0].time[layout] + copy
        };
        let layout = (0..problem.copy[0].len()).min_by_key(|layout| cost(*layout)).unwrap_or(0);
        total += cost(layout);
        held.push(layout);
    }
    total
}

/// The births of the fresh array of a case.
fn births(line: &str, case: &Case) -> Result<Option<String>, String> {
    let priced = Priced::new(case)?;
    let (t, gpu) = (&priced.tabled, priced.on(Target::Gpu));
    let read = |array: &VarId| t.table.reads().any(|row| row.array == *array);
    let array = t.table.writes().map(|row| row.array).find(read).ok_or("nothing fresh is read")?;
    let births = gpu.births(t.code(), array).ok_or("no births")?;
    Ok(match line.split_whitespace().next() {
        Some("options") => Some(births_text(t.code(), array, &births)),
        Some("gpu") => Some(format!("gpu bytes, one run : {}", times_text(&births))),
        Some("choose") => {
            let runs = line.split("R = ").skip(1).map(|part| part.split(' ').next().unwrap_or_default());
            let runs: Result<Vec<u64>, _> = runs.map(str::parse).collect();
            Some(choose_text(&births, &runs.map_err(|e| e.to_string())?))
        }
        _ => None,
    })
}
