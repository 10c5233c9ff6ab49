//! What the analyses say in their own words, behind the plain ones: arrays with their registers, exact verdicts, index tables, prices,
//! strategies, plans, kernel IR. `glossary.rs` explains the words.

use super::document::{ArrayFact, Document, Kernel, OperatorPart, Part, Placing, RegionPart, ReuseResult};
use super::text::Page;
use super::words::bytes;
use std::collections::BTreeMap;

/// Most members of a set of places that are shown.
const MOST_MEMBERS: usize = 6;

impl Page {
    /// What was found about all parts, if there is anything. With `kernels` the kernel IR as well.
    pub(super) fn exact(&mut self, document: &Document, kernels: bool) {
        let mut is_begun = false;
        for part in &document.parts {
            let has_more = match part {
                Part::Region(region) => region.refused.is_none(),
                Part::Operator(operator) => operator.refused.is_none(),
                Part::Fused(_) => false,
            };
            if !has_more {
                continue;
            }
            if !std::mem::replace(&mut is_begun, true) {
                self.gap();
                self.line(0, "In the words of the analyses, which `galopvm words` explains:".into());
                self.line(0, format!("prices are estimates for a {}, in {}", document.target, self.unit));
            }
            match part {
                Part::Region(region) => self.exact_region(region, kernels),
                Part::Operator(operator) => self.exact_operator(operator, kernels),
                Part::Fused(_) => {}
            }
        }
    }

    fn exact_region(&mut self, region: &RegionPart, kernels: bool) {
        self.heading(region.spot.as_ref(), "", &format!("{} {}", region.scope, region.function));
        self.arrays(&region.arrays);
        if !region.points.is_empty() {
            self.line(1, "copies (short-circuiting)".into());
            for point in &region.points {
                point.exact.lines().for_each(|line| self.line(2, line.into()));
            }
        }
        let built: Vec<_> = region.plan.iter().filter(|placed| placed.kind == Placing::BuiltIn).collect();
        if !built.is_empty() {
            self.line(1, "places".into());
            for placed in built {
                self.line(2, format!("{} in {} at {}", placed.array, placed.block, placed.view));
            }
        }
        if !region.strategy.is_empty() {
            self.line(
                1,
                format!("lanes and layouts of all kernels together (strategy), total in {}", self.unit),
            );
            region.strategy.iter().for_each(|line| self.line(2, line.clone()));
            for copy in &region.layouts {
                self.line(2, format!("{} into layout {}: {}", copy.array, copy.order, copy.reason.exact));
            }
        }
        if kernels {
            self.kernel_ir(&region.kir);
        }
    }

    fn arrays(&mut self, arrays: &[ArrayFact]) {
        if arrays.is_empty() {
            return;
        }
        self.line(1, "arrays".into());
        let name = |array: &ArrayFact| match &array.register {
            Some(register) if *register != array.name => format!("{} ({register})", array.name),
            _ => array.name.clone(),
        };
        let width = |text: &dyn Fn(&ArrayFact) -> usize| arrays.iter().map(text).max().unwrap_or(0);
        let (names, types) = (width(&|a| name(a).chars().count()), width(&|a| a.ty.chars().count()));
        for array in arrays {
            let size = array.bytes.map_or("size not known".into(), bytes);
            let origin = match (array.outside, &array.spot, &array.excerpt) {
                (true, None, _) => "from outside".to_string(),
                (true, Some(spot), _) => format!("from outside, line {}", spot.line),
                (false, Some(spot), Some(excerpt)) => format!("line {}: {excerpt}", spot.line),
                (false, Some(spot), None) => format!("line {}", spot.line),
                (false, None, _) => String::new(),
            };
            let view = array.view.as_ref().map_or(String::new(), |view| format!(", lies as {view}"));
            let held = match array.others {
                None | Some(0) => String::new(),
                Some(1) => ", held by 1 other".into(),
                // The count has an end, and where a block is never given away it counts as held by as many.
                Some(n) if n >= u32::MAX - 1 => ", held outside".into(),
                Some(n) => format!(", held by {n} others"),
            };
            let (name, ty) = (name(array), &array.ty);
            self.line(2, format!("{name:names$}  {ty:types$}  {size:>12}  {origin}{view}{held}"));
        }
    }

    fn kernel_ir(&mut self, kir: &str) {
        self.line(1, "kernel IR".into());
        for line in kir.lines() {
            self.line(2, line.to_string());
        }
    }

    fn exact_operator(&mut self, part: &OperatorPart, kernels: bool) {
        self.heading(part.spot.as_ref(), &part.place, part.operator);
        self.arrays(&part.arrays);
        part.kernels.iter().for_each(|kernel| self.exact_kernel(kernel));
        part.reuse.iter().for_each(|result| self.exact_reuse(result));
        if !part.plan.is_empty() {
            self.line(1, "plan for back ends".into());
            for (decision, reason) in &part.plan {
                self.line(2, format!("{decision}: {reason}"));
            }
        }
        if kernels {
            self.kernel_ir(&part.kir);
        }
    }

    fn exact_kernel(&mut self, kernel: &Kernel) {
        self.line(1, "accesses (index table): index, how lanes lie, price, layout that is asked for".into());
        let mut letters: BTreeMap<char, &str> = BTreeMap::new();
        for access in &kernel.accesses {
            let verb = if access.write { "writes" } else { "reads" };
            self.line(2, format!("{} {verb} {}: {}", access.name, access.array, access.index));
            let wish = match &access.wish {
                None => String::new(),
                Some(order) if access.against.is_empty() => format!("; asks for layout {order}"),
                Some(order) => {
                    letters.extend(access.against.iter().copied());
                    let against: Vec<String> =
                        access.against.iter().map(|(letter, _)| letter.to_string()).collect();
                    format!("; layout {order} is refused [{}]", against.join(","))
                }
            };
            self.line(3, format!("{}, {} {}{wish}", access.class, access.time, self.unit));
        }
        for (letter, meaning) in letters {
            self.line(2, format!("[{letter}]: {meaning}"));
        }
        for copy in &kernel.layouts {
            let accesses = copy.accesses.join(", ");
            self.line(
                2,
                format!("{} in layout {} for {accesses}: {}", copy.array, copy.order, copy.reason.exact),
            );
        }
        self.line(1, "lanes, the best one first".into());
        for lane in &kernel.lanes {
            self.line(2, format!("{}: {} {}, {}", lane.variable, lane.time, self.unit, lane.copies));
        }
        if !kernel.strategies.is_empty() {
            self.line(1, "strategies that make every access cheap".into());
            kernel.strategies.iter().for_each(|strategy| self.line(2, strategy.clone()));
        }
        if !kernel.strategy.is_empty() {
            self.line(2, kernel.strategy.clone());
        }
    }

    fn exact_reuse(&mut self, result: &ReuseResult) {
        if result.arrays.is_empty() {
            return;
        }
        self.line(1, format!("{} over an array (reuse)", result.result));
        for array in &result.arrays {
            self.line(2, format!("over {}: {}", array.array, array.reason.exact));
            if array.reason.exact.ends_with("data-index") {
                continue;
            }
            self.line(3, format!("read by other iterations (RDS): {}", shortened(&array.read)));
            self.line(3, format!("copied from itself       (CDS): {}", shortened(&array.copied)));
            self.line(3, format!("changed                  (MOD): {}", shortened(&array.changed)));
        }
    }
}

/// A union of views with its first members; JSON has all of them.
fn shortened(set: &str) -> String {
    let members: Vec<&str> = set.split(" U ").collect();
    match members.len() {
        0..=MOST_MEMBERS => set.into(),
        n => format!("{} U .. ({n} in all)", members[..MOST_MEMBERS].join(" U ")),
    }
}
