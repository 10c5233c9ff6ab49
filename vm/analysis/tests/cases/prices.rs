//! Layout decisions: prices of accesses and copies, gates, the choice of the lane, switching on and off.

use crate::case::Outcome;
use crate::layout::Tabled;
use galopvm_analysis::layout::{
    Candidate, Class, Copy, Costs, Means, PartCopy, Pricing, Profile, Target, Verdict, pays, plain_text,
    price_text, ties_text, transform, transform_with_parts,
};
use galopvm_kir::VarId;
use galopvm_testkit::cases::{Case, Section};

/// What this group takes.
pub const LINES: &[(&str, usize)] = &[
    ("cost gpu", 14),
    ("cost cpu", 9),
    ("runtime", 15),
    ("manifest-hysteresis", 1),
    ("transform gpu", 25),
    ("transform parts gpu", 9),
];

/// A case with everything that prices need.
pub struct Priced {
    /// The table.
    pub tabled: Tabled,
    costs: Costs,
    profile: Profile,
}

impl Priced {
    /// Of a case, with the usual costs and no profile.
    pub fn new(case: &Case) -> Result<Priced, String> {
        Ok(Priced { tabled: Tabled::new(case)?, costs: Costs::default(), profile: Profile::default() })
    }

    /// Prices on a target.
    pub fn on(&self, target: Target) -> Pricing<'_> {
        Pricing { table: &self.tabled.table, costs: &self.costs, target, profile: &self.profile, sharing: 1 }
    }

    /// The number of a row by its title.
    pub fn row_number(&self, title: &str) -> Result<usize, String> {
        let rows = &self.tabled.table.rows;
        let found = rows.iter().position(|row| row.title(self.tabled.code()) == title);
        found.ok_or_else(|| format!("no access {title}"))
    }

    /// The only kernel.
    pub fn kernel(&self) -> Result<VarId, String> {
        self.on(Target::Gpu).kernels().first().copied().ok_or_else(|| "no kernel".into())
    }

    /// A copy for one access.
    fn copy(&self, target: Target, title: &str, order: &[usize], lane: VarId) -> Result<Copy, String> {
        let candidate = Candidate { order: order.to_vec(), generic: false };
        let row = self.row_number(title)?;
        let copy = self.on(target).copy_for(&[row], lane, &candidate, &Means::default());
        copy.ok_or_else(|| "the array is not known".into())
    }

    /// The first access of the region along the outermost variable of its kernel, in the layout that its nest wishes.
    fn first_wish(&self, target: Target, runs: u64) -> Result<Verdict, String> {
        let t = &self.tabled;
        let row = t.table.rows.first().ok_or("no access")?;
        let lane = self.kernel()?;
        let order = galopvm_analysis::layout::wish(&t.table, row, Target::Gpu).order;
        let mut copy = self.copy(target, &row.title(t.code()), &order, lane)?;
        copy.question.runs = runs;
        Ok(copy.question.judge())
    }
}

/// Takes `cost`, `runtime` and `manifest-hysteresis`.
pub fn run(section: &Section, case: &Case) -> Outcome {
    match section.kind().unwrap_or_default() {
        "cost gpu" => Outcome::each(section, |line| cost(line, case, Target::Gpu).map(Some)),
        "cost cpu" => Outcome::each(section, |line| cost(line, case, Target::Cpu).map(Some)),
        "runtime" => Outcome::each(section, |line| runtime(line, case)),
        "transform gpu" => Outcome::whole(section, transformed(case)),
        "transform parts gpu" => Outcome::whole(section, with_parts(case)),
        "manifest-hysteresis" => Outcome::each(section, |line| Ok(Some(hysteresis(line)))),
        _ => Outcome::not_mine(section),
    }
}

fn order(text: &str) -> Result<Vec<usize>, String> {
    let digits = text.trim_start_matches('(').trim_end_matches(')').split(',');
    digits.map(|digit| digit.parse().map_err(|e| format!("{digit}: {e}"))).collect()
}

/// `A x0 lane i : class ..` or `manifest A (1,0) : cost .. ; x0 lane i : ..`
fn cost(line: &str, case: &Case, target: Target) -> Result<String, String> {
    let priced = Priced::new(case)?;
    let t = &priced.tabled;
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        ["manifest", array, layout, ":", "cost", _, ";", access, "lane", lane, ..] => {
            let lane = t.var(lane)?;
            let copy = priced.copy(target, &format!("{array} {access}"), &order(layout)?, lane)?;
            Ok(copy.text(t.code(), &t.table, lane))
        }
        [array, access, "lane", lane, ":", ..] => {
            let (row, lane) = (t.row(&format!("{array} {access}"))?, t.var(lane)?);
            Ok(price_text(t.code(), row, lane, &priced.on(target).access_now(row, lane)))
        }
        _ => Err("cannot be read".into()),
    }
}

/// The input with the copies that pay on a GPU.
fn transformed(case: &Case) -> Result<Vec<String>, String> {
    let priced = Priced::new(case)?;
    let (t, gpu) = (&priced.tabled, priced.on(Target::Gpu));
    let choices = gpu.lane_choices(priced.kernel()?, &Means::default());
    let copies: Vec<&Copy> = choices.first().ok_or("no lane")?.copies().collect();
    let changed = transform(t.code(), &t.table, &copies, &priced.profile);
    Ok(plain_text(&changed).lines().map(|line| line.trim().to_string()).collect())
}

/// The input with the copies of parts that pay on a GPU in as many runs as the first comment says.
fn with_parts(case: &Case) -> Result<Vec<String>, String> {
    let mut priced = Priced::new(case)?;
    let runs = case.text("EXPECT transform parts gpu").and_then(|text| text.trim().strip_prefix("-- runs "));
    let runs =
        runs.and_then(|text| text.split_whitespace().next()?.parse().ok()).ok_or("no number of runs")?;
    for row in &priced.tabled.table.rows {
        priced.profile.reads.insert(row.array, runs);
    }
    let (t, gpu, kernel) = (&priced.tabled, priced.on(Target::Gpu), priced.kernel()?);
    let parts = gpu.parts_of(&gpu.rows_of(kernel), kernel, &Means::default());
    let parts: Vec<&PartCopy> = parts.iter().collect();
    let changed = transform_with_parts(t.code(), &t.table, &[], &parts, &priced.profile);
    Ok(plain_text(&changed).lines().map(|line| line.trim().to_string()).collect())
}

/// What the run-time decision says, one form for each line.
fn runtime(line: &str, case: &Case) -> Result<Option<String>, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        ["ties", ":", ..] => return Ok(Some(ties_text())),
        ["runs", runs, ":", "manifest", ..] => return runs_line(line, runs, case).map(Some),
        _ => {}
    }
    let priced = Priced::new(case)?;
    let (t, gpu) = (&priced.tabled, priced.on(Target::Gpu));
    let best = |target| -> Result<_, String> {
        let choices = priced.on(target).lane_choices(priced.kernel()?, &Means::default());
        choices.into_iter().next().ok_or_else(|| "no lane".to_string())
    };
    Ok(Some(match words[..] {
        // Of both targets.
        ["lane", "=", ..] => {
            let (gpu, cpu) = (best(Target::Gpu)?.text(t.code()), best(Target::Cpu)?.text(t.code()));
            if gpu == cpu { gpu } else { format!("gpu {gpu}, cpu {cpu}") }
        }
        ["lane", _, ":", ..] => gpu.classes_text(t.code(), priced.kernel()?),
        ["choose", "lane", ..] => {
            let choices = gpu.lane_choices(priced.kernel()?, &Means::default());
            let [first, second, ..] = &choices[..] else { return Err("no choice".into()) };
            let kernel = priced.kernel()?;
            format!(
                "choose lane {} ; result of cost: {} against {}",
                t.code().name_of(first.lane),
                gpu.strided_text(kernel, first.lane),
                gpu.strided_text(kernel, second.lane)
            )
        }
        ["hoist", "=", ..] => {
            let row = t.table.rows.first().ok_or("no access")?;
            let hoist = gpu.hoist(row).ok_or("nothing to hoist out of")?;
            format!("hoist = before loop {} ; R = {}", t.code().name_of(hoist), gpu.runs(row))
        }
        [_, _, ":", "period", ..] => {
            let period = |title: &str| -> Result<String, String> {
                let period = gpu.period(t.row(title)?, priced.kernel()?).ok_or("no period")?;
                Ok(format!("{title} : period {period}"))
            };
            let titles = line.split(" ; ").filter_map(|part| part.split(" : ").next());
            titles.map(period).collect::<Result<Vec<_>, _>>()?.join(" ; ")
        }
        // However often it runs.
        [array, access, ":", "manifest", "never"] => {
            let title = format!("{array} {access}");
            let layout = galopvm_analysis::layout::wish(&t.table, t.row(&title)?, Target::Gpu).order;
            let mut copy = priced.copy(Target::Gpu, &title, &layout, priced.kernel()?)?;
            copy.question.runs = u64::MAX;
            format!("{title} : {}", copy.question.judge())
        }
        ["gpu", array, access, ":", "class", ..] => {
            let title = format!("{array} {access}");
            let (row, lane) = (t.row(&title)?, priced.kernel()?);
            let layout = galopvm_analysis::layout::wish(&t.table, row, Target::Gpu).order;
            let copy = priced.copy(Target::Gpu, &title, &layout, lane)?;
            format!("gpu {title} : class {} ; {}", gpu.access_now(row, lane).class, copy.verdict)
        }
        _ => return Ok(None),
    }))
}

/// `runs 7 : manifest no`, `runs 8 : manifest cpu (..)`, `runs 11 : manifest gpu no`: the targets on which the access
/// is copied after so many runs; "no" alone of all targets.
fn runs_line(line: &str, runs: &str, case: &Case) -> Result<String, String> {
    let priced = Priced::new(case)?;
    let runs: u64 = runs.parse().map_err(|e| format!("{runs}: {e}"))?;
    let copied = |target| Ok::<_, String>(priced.first_wish(target, runs)? == Verdict::Manifest);
    let (gpu, cpu) = (copied(Target::Gpu)?, copied(Target::Cpu)?);
    let (_, claim) = line.split_once("manifest ").ok_or("no claim")?;
    let found = match claim {
        "gpu no" if !gpu => claim.to_string(),
        "gpu" if gpu => claim.to_string(),
        _ if gpu && cpu => "gpu, cpu".into(),
        _ if gpu => "gpu".into(),
        _ if cpu => format!("cpu ({})", lanes_of_copy(&priced, runs)?),
        _ => "no".into(),
    };
    Ok(format!("runs {runs} : manifest {found}"))
}

/// Along which variables of the nest the first access is copied on the CPU, and along which it needs no copy.
fn lanes_of_copy(priced: &Priced, runs: u64) -> Result<String, String> {
    let t = &priced.tabled;
    let row = t.table.rows.first().ok_or("no access")?;
    let layout = galopvm_analysis::layout::wish(&t.table, row, Target::Gpu).order;
    let (mut copied, mut fine) = (Vec::new(), Vec::new());
    for lane in &row.nest {
        let mut copy = priced.copy(Target::Cpu, &row.title(t.code()), &layout, *lane)?;
        copy.question.runs = runs;
        match copy.question.judge() {
            Verdict::Manifest => copied.push(t.code().name_of(*lane)),
            _ if priced.on(Target::Cpu).access_now(row, *lane).class == Class::Unit => {
                fine.push(t.code().name_of(*lane));
            }
            _ => {}
        }
    }
    Ok(format!("lane {} only; lane {} needs none", copied.join(", "), fine.join(", ")))
}

/// A copy that is judged again and again, as the ratio of benefit and cost changes.
fn hysteresis(line: &str) -> String {
    let mut held = false;
    let mut steps = Vec::new();
    for step in line.trim_start_matches("benefit*R / cost : ").split(" ; ") {
        let ratio = step.split(" -> ").next().unwrap_or_default();
        let hundredths: u128 = ratio.replace('.', "").parse().unwrap_or_default();
        let on = pays(hundredths, 100, held);
        let threshold = |held| {
            let least = (0..200).find(|gain| pays(*gain, 100, held)).unwrap_or_default();
            format!("threshold {}.{:02}", least / 100, least % 100)
        };
        // A threshold is told when it is first passed.
        let first = |word: &str| steps.iter().all(|step: &String| !step.contains(word));
        let text = match (held, on) {
            (false, true) if first("on (") => format!("on ({})", threshold(false)),
            (false, true) => "on".into(),
            (true, false) if first("off (") => format!("off ({})", threshold(true)),
            (true, false) => "off".into(),
            (true, true) => "stays on".into(),
            (false, false) => "stays off".into(),
        };
        held = on;
        steps.push(format!("{ratio} -> {text}"));
    }
    format!("benefit*R / cost : {}", steps.join(" ; "))
}
