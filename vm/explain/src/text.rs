//! The facts for people: the source line first, then what was decided, why, and what it saves, in plain words. What the analyses say in
//! their own words comes behind all of it (`exact.rs`).

use super::document::{
    Applied, Copying, Decision, Document, FusedPart, Kernel, LayoutCopy, OperatorPart, Part, Placed, Placing,
    PointOperand, RegionPart, ReuseResult, Spot,
};
use super::words::bytes;
use galopvm_tier::fused::Fate;
use galopvm_tier::told::small_inputs;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Operations of all operators together, and bytes of the largest array, from which inputs are not small.
const MUCH_WORK: u64 = 1 << 20;
const MANY_BYTES: i64 = 1 << 20;

/// Bytes that were not copied, and that were, at all points together.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Totals {
    pub saved: i64,
    pub left: i64,
    /// Of `left`, what there is a place for that was not used.
    pub possible: i64,
}

impl Document {
    /// What all points save and copy, as far as it is known.
    pub(super) fn totals(&self) -> Totals {
        // One copy may be a point of a function, of a loop in it, and of the rounds of that.
        let mut found: BTreeMap<(&Spot, usize), Totals> = BTreeMap::new();
        let mut totals = Totals::default();
        for part in &self.parts {
            let Part::Region(region) = part else { continue };
            for point in &region.points {
                for (k, operand) in point.operands.iter().enumerate() {
                    let all = operand.total().unwrap_or(0);
                    let sums = match &point.spot {
                        Some(spot) => found.entry((spot, k)).or_default(),
                        None => &mut totals,
                    };
                    let add = |sum: &mut i64| {
                        *sum = if point.spot.is_some() { all.max(*sum) } else { sum.saturating_add(all) };
                    };
                    match (operand.in_place, operand.applied.times) {
                        (true, 1..) => add(&mut sums.saved),
                        (true, 0) => [&mut sums.left, &mut sums.possible].into_iter().for_each(add),
                        (false, _) => add(&mut sums.left),
                    }
                }
            }
        }
        for sums in found.values() {
            match sums.saved {
                0 => {
                    totals.left = totals.left.saturating_add(sums.left);
                    totals.possible = totals.possible.saturating_add(sums.possible);
                }
                saved => totals.saved = totals.saved.saturating_add(saved),
            }
        }
        totals
    }

    /// Bytes of results of maps that were written over arrays, and that were not, counted with the largest of each.
    fn results(&self) -> (i64, i64) {
        let (mut over, mut fresh) = (0i64, 0i64);
        for part in &self.parts {
            let Part::Operator(operator) = part else { continue };
            for result in &operator.reuse {
                let times = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
                let all = |count| result.bytes.unwrap_or(0).saturating_mul(times(count));
                let executions: u64 = result.happened.iter().map(|(_, count)| count).sum();
                over = over.saturating_add(all(result.over));
                fresh = fresh.saturating_add(all(executions.saturating_sub(result.over)));
            }
        }
        (over, fresh)
    }

    /// Whether decisions for larger inputs may be others than these: work that pays for a question is seen in both its measures.
    fn is_small(&self) -> bool {
        let work = |part: &Part| match part {
            Part::Operator(operator) => operator.work.saturating_mul(operator.executions),
            Part::Region(_) | Part::Fused(_) => 0,
        };
        let arrays = |part: &Part| match part {
            Part::Operator(operator) => operator.arrays.iter().filter_map(|array| array.bytes).max(),
            Part::Region(region) => region.arrays.iter().filter_map(|array| array.bytes).max(),
            Part::Fused(_) => None,
        };
        self.parts.iter().map(work).fold(0, u64::saturating_add) < MUCH_WORK
            && self.parts.iter().filter_map(arrays).max().unwrap_or(0) < MANY_BYTES
    }

    /// All facts. With `kernels` the regions' kernel IR as well.
    pub fn text(&self, kernels: bool) -> String {
        let unit = if self.target == "gpu" { "bytes moved" } else { "cycles" };
        let mut page = Page { text: String::new(), unit };
        page.line(0, format!("{}, entry point {}, {}", self.program, self.entry, self.input));
        if self.is_small() {
            page.line(0, small_inputs("for larger ones other things may be decided"));
        }
        if !self.off.is_empty() {
            page.line(0, format!("switched off, so shown but not done: {}", self.off.join(", ")));
        }
        let totals = self.totals();
        if totals != Totals::default() {
            let (saved, left) = (bytes(totals.saved), bytes(totals.left));
            let possible = match totals.possible {
                0 => String::new(),
                possible => format!(", {} of them although a place was found", bytes(possible)),
            };
            page.line(0, format!("copies of whole arrays: {saved} saved, {left} made{possible}"));
        }
        let (over, fresh) = self.results();
        if (over, fresh) != (0, 0) {
            let (over, fresh) = (bytes(over), bytes(fresh));
            page.line(
                0,
                format!("results of maps: {over} over arrays that die, {fresh} in blocks of their own"),
            );
        }
        page.decisions(&self.decisions);
        for part in &self.parts {
            match part {
                Part::Region(region) => page.region(region),
                Part::Operator(operator) => page.operator(operator),
                Part::Fused(fused) => page.fused(fused),
            }
        }
        if self.parts.is_empty() && self.decisions.is_empty() {
            page.line(0, "nothing was executed that could be explained".into());
        }
        page.exact(self, kernels);
        page.text
    }
}

/// What was written so far.
pub(super) struct Page {
    text: String,
    /// What prices count.
    pub(super) unit: &'static str,
}

impl Page {
    pub(super) fn line(&mut self, depth: usize, text: String) {
        let _ = writeln!(self.text, "{:width$}{}", "", text.trim_end(), width = 2 * depth);
    }

    /// An empty line.
    pub(super) fn gap(&mut self) {
        self.text.push('\n');
    }

    /// The heading of a part: the place, and the source line under it.
    pub(super) fn heading(&mut self, spot: Option<&Spot>, place: &str, what: &str) {
        self.gap();
        match spot {
            Some(spot) => {
                let inlined = spot.inlined.as_ref().map_or(String::new(), |at| format!(", called at {at}"));
                self.line(0, format!("==== {}:{}:{} {what}{inlined}", spot.file, spot.line, spot.column));
            }
            None => self.line(0, format!("==== {place} {what}")),
        }
        self.source(0, spot);
    }

    /// A source line with its number.
    fn source(&mut self, depth: usize, spot: Option<&Spot>) {
        if let Some(Spot { line, source: Some(source), .. }) = spot {
            self.line(depth, format!("{line:4} | {}", source.trim_start()));
        }
    }

    fn decisions(&mut self, decisions: &[Decision]) {
        if !decisions.is_empty() {
            self.gap();
            self.line(0, "==== decisions".into());
        }
        let mut last = None;
        for decision in decisions {
            if last != Some(&decision.spot) {
                self.source(0, decision.spot.as_ref());
                last = Some(&decision.spot);
            }
            self.line(1, format!("{}: {}", decision.kind, decision.what));
            self.applied(2, &decision.applied, decision.bytes);
        }
    }

    /// Whether a decision was applied, and what that saved; or why not.
    fn applied(&mut self, depth: usize, applied: &Applied, bytes_saved: Option<u64>) {
        let saved = bytes_saved.and_then(|all| i64::try_from(all).ok());
        let saved = saved.map_or(String::new(), |all| format!(", which saved {}", bytes(all)));
        if applied.times > 0 {
            self.line(depth, format!("applied {}{saved}", times(applied.times)));
        }
        self.not_applied(depth, applied);
        if applied.times == 0 && applied.not.is_empty() {
            self.line(depth, "not applied: it did not run".into());
        }
    }

    fn not_applied(&mut self, depth: usize, applied: &Applied) {
        for (reason, count) in &applied.not {
            self.line(depth, format!("not applied {}: {}", times(*count), reason.plain));
        }
    }

    fn region(&mut self, region: &RegionPart) {
        self.heading(region.spot.as_ref(), "", &format!("{} {}", region.scope, region.function));
        if let Some(reason) = &region.refused {
            return self.line(1, format!("not recorded: {reason}"));
        }
        if region.points.is_empty() {
            self.line(1, "copies: none of whole arrays".into());
        } else {
            self.line(1, "copies, unless an array is built where it is copied to".into());
            region.points.iter().for_each(|point| self.point(point));
        }
        if !region.plan.is_empty() {
            self.line(1, "where arrays lie".into());
            self.plan(&region.plan);
            if region.plan.iter().any(|placed| placed.kind == Placing::BuiltIn) {
                let applied = &region.applied;
                match applied.times {
                    0 => self.applied(2, applied, None),
                    often => {
                        let moved = region.moved.join(", ");
                        self.line(2, format!("applied {}, to {moved}", times(often)));
                        self.not_applied(2, applied);
                    }
                }
            }
        }
        if !region.layouts.is_empty() {
            self.line(1, "layouts for all operators together".into());
            self.layouts(&region.layouts);
        }
    }

    fn point(&mut self, point: &Copying) {
        self.source(2, point.spot.as_ref());
        let what = match point.kind {
            "row" => format!("a row becomes part of {}", point.target),
            "concatenation" => format!("concatenation to {}", point.target),
            "update" => format!("update of a part, giving {}", point.target),
            "layout" => format!("change of layout, giving {}", point.target),
            _ => format!("copy to {}", point.target),
        };
        self.line(3, what);
        for operand in &point.operands {
            self.operand(operand);
        }
        for entry in &point.web {
            match &entry.place {
                Ok((block, _)) => self.line(4, format!("with it {}: built in {block}", entry.array)),
                Err(reason) => self.line(4, format!("but not {}: {}", entry.array, reason.plain)),
            }
        }
        if let Some(before) = &point.hoisted_before {
            self.line(4, format!("memory for {} is taken before {before} is made", point.target));
        }
        if let Some(result) = &point.double_buffer {
            self.line(4, format!("{result} takes two blocks in turn, none in each round"));
        }
        if let Some(array) = &point.copied_first {
            self.line(
                4,
                format!("if the update's own copy were made before {array}, {array} could be built in it"),
            );
        }
    }

    fn operand(&mut self, operand: &PointOperand) {
        let name = operand.array.as_deref().unwrap_or("a value");
        let often = match operand.times {
            Some(1) => String::new(),
            Some(times) => format!(", {times} times"),
            None => ", as often as the loop goes round".into(),
        };
        let size = match (operand.least, operand.bytes) {
            (Some(least), Some(most)) if least < most => format!("{} to {}", bytes(least), bytes(most)),
            (_, Some(most)) => bytes(most),
            _ => "an unknown number of bytes".into(),
        };
        let price = operand.price.map_or(String::new(), |price| format!(" (about {price} {})", self.unit));
        if operand.in_place {
            let place = operand.place.as_ref().map_or(String::new(), |(block, _)| format!(" in {block}"));
            self.line(4, format!("{name}: built in place{place}"));
            self.line(5, format!("saves a copy of {size}{price}{often}"));
            self.applied(5, &operand.applied, None);
            return;
        }
        let why = operand.reason.as_ref().map_or("", |reason| &reason.plain);
        self.line(4, format!("{name}: copied: {why}"));
        self.line(5, format!("copies {size}{price}{often}"));
    }

    fn plan(&mut self, plan: &[Placed]) {
        let names = plan.iter().map(|placed| placed.array.chars().count()).max().unwrap_or(0);
        for placed in plan {
            let size = placed.bytes.map_or(String::new(), |size| format!(", {}", bytes(size)));
            let again = if placed.repeated { ", in each round" } else { "" };
            let how = match placed.kind {
                Placing::Fresh => format!("a block of its own{size}{again}"),
                Placing::BuiltIn => format!("built in {}", placed.block),
                Placing::InPlace => format!("written over {}", placed.block),
                Placing::Copied => format!("a copy that is then changed{size}{again}"),
            };
            let line = placed.spot.as_ref().map_or(String::new(), |spot| format!("  (line {})", spot.line));
            self.line(2, format!("{:names$}  {how}{line}", placed.array));
        }
    }

    fn layouts(&mut self, layouts: &[LayoutCopy]) {
        for copy in layouts {
            let LayoutCopy { array, order, cost, before, after, reason, .. } = copy;
            let verb = if copy.made { "is copied" } else { "is not copied" };
            self.line(2, format!("{array} {verb} into layout {order}: {}", reason.plain));
            let runs = match copy.least_runs {
                Some(1) => ", pays from the first run".into(),
                Some(runs) => format!(", pays from {runs} runs"),
                None => ", never pays".into(),
            };
            let size = i64::try_from(copy.bytes).unwrap_or(i64::MAX);
            self.line(
                3,
                format!(
                    "the copy: {}, about {cost} {unit}; what reads it: about {before} {unit} without, {after} with it{runs}",
                    bytes(size),
                    unit = self.unit,
                ),
            );
        }
    }

    fn operator(&mut self, part: &OperatorPart) {
        let OperatorPart {
            spot,
            place,
            operator,
            executions,
            width,
            work,
            tier,
            tier_reason,
            form,
            refused,
            kernels,
            reuse,
            relaid,
            ..
        } = part;
        self.heading(spot.as_ref(), place, operator);
        let often = times(*executions);
        let who = if tier == "interp" { "the interpreter" } else { tier };
        let why = match tier_reason.as_str() {
            "" => String::new(),
            why => format!(" ({why})"),
        };
        self.line(
            1,
            format!(
                "executed {often}, by {who}{why}; the largest had {width} iterations and about {work} operations",
            ),
        );
        let declined = form.declined.iter().map(|(form, why)| format!("not {form}: {why}"));
        let declined: Vec<String> = declined.collect();
        let declined = if declined.is_empty() { String::new() } else { format!("; {}", declined.join("; ")) };
        self.line(1, format!("the interpreter takes {}{declined}", form.name));
        if let Some(reason) = refused {
            return self.line(1, format!("no kernel: {reason}"));
        }
        kernels.iter().for_each(|kernel| self.kernel(kernel));
        if !relaid.is_empty() {
            self.line(1, "arrays in other layouts, at the executions".into());
            relaid.iter().flat_map(|fact| fact.lines()).for_each(|line| self.line(2, line));
        }
        reuse.iter().for_each(|result| self.reuse(result));
    }

    fn fused(&mut self, fused: &FusedPart) {
        self.heading(fused.spot.as_ref(), "", "fused");
        let times = if fused.launches == 1 { "once".into() } else { format!("{} times", fused.launches) };
        self.line(1, format!("operators that run together, {times}"));
        for fact in &fused.facts {
            let what = match &fact.fate {
                Fate::Joined(other) => format!("{} and {other} are computed together", fact.made),
                Fate::Fed(reader) => format!("{} is read by {reader} as it is computed", fact.made),
                Fate::Turned => {
                    format!("{} is computed for all iterations of its first axes at a time", fact.made)
                }
                Fate::Kept => format!("{} is made", fact.made),
                Fate::Computed(readers) => {
                    let reads = if readers.len() == 1 { "reads" } else { "read" };
                    format!("{} is computed where {} {reads} it", fact.made, readers.join(" and "))
                }
            };
            self.line(2, format!("{what}: {}", fact.reason));
            self.source(3, fact.spot.as_ref());
        }
    }

    fn kernel(&mut self, kernel: &Kernel) {
        if !kernel.layouts.is_empty() || !kernel.born.is_empty() {
            self.line(1, "layouts".into());
            self.layouts(&kernel.layouts);
            for (array, order) in &kernel.born {
                self.line(2, format!("{array} is made in layout {order}, in which its writes are cheaper"));
            }
        }
    }

    fn reuse(&mut self, result: &ReuseResult) {
        let size = result.bytes.map_or(String::new(), |size| format!(" of {}", bytes(size)));
        self.line(1, format!("may {}{size} be written over an array?", result.result));
        if result.arrays.is_empty() {
            self.line(2, "the kernel reads no array of its type".into());
        }
        for array in &result.arrays {
            let verdict = if array.candidate { "yes" } else { "no" };
            self.line(2, format!("over {}: {verdict}: {}", array.array, array.reason.plain));
        }
        if let Some(choice) = &result.choice {
            let saved = result.bytes.map_or(String::new(), |size| format!(", which saves {}", bytes(size)));
            self.line(2, format!("choice: {choice}, where it is not needed afterwards{saved}"));
        }
        for (reason, count) in &result.happened {
            self.line(2, format!("{}: {}", times(*count), reason.plain));
        }
    }
}

/// A number of times for people.
fn times(count: u64) -> String {
    if count == 1 { "once".into() } else { format!("{count} times") }
}
