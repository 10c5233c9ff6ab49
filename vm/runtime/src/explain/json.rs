//! The facts for tools: one JSON document. `docs/explain.md` has its schema.

use super::document::{
    Access, Applied, ArrayFact, Copying, Decision, Document, FusedFact, FusedPart, Kernel, LayoutCopy,
    OperatorPart, Part, Placed, PointOperand, Reason, RegionPart, ReuseFact, ReuseResult, Spot, WebEntry,
};
use galopvm_base::Json;

impl Document {
    /// All facts. With `kernels` the regions' kernel IR as well.
    pub fn json(&self, kernels: bool) -> Json {
        let totals = self.totals();
        Json::Object(vec![
            ("version", 1u32.into()),
            ("program", (&self.program).into()),
            ("entry", (&self.entry).into()),
            ("input", (&self.input).into()),
            ("target", self.target.into()),
            ("off", self.off.iter().copied().collect()),
            ("bytes_saved", totals.saved.into()),
            ("bytes_copied", totals.left.into()),
            ("bytes_not_saved", totals.possible.into()),
            ("decisions", self.decisions.iter().map(decision).collect()),
            (
                "parts",
                self.parts
                    .iter()
                    .map(|part| match part {
                        Part::Region(region) => region_json(region, kernels),
                        Part::Operator(operator) => operator_json(operator, kernels),
                        Part::Fused(fused) => fused_json(fused),
                    })
                    .collect(),
            ),
        ])
    }
}

fn spot(spot: Option<&Spot>) -> Json {
    let Some(spot) = spot else { return Json::Null };
    Json::Object(vec![
        ("file", (&spot.file).into()),
        ("line", spot.line.into()),
        ("column", spot.column.into()),
        ("end_line", spot.end_line.into()),
        ("end_column", spot.end_column.into()),
        ("source", spot.source.as_ref().into()),
        ("inlined", spot.inlined.as_ref().into()),
    ])
}

fn reason(reason: &Reason) -> Json {
    Json::Object(vec![("plain", (&reason.plain).into()), ("exact", (&reason.exact).into())])
}

/// Reasons with how often each was one.
fn counted(reasons: &[(Reason, u64)]) -> Json {
    let one = |(why, count): &(Reason, u64)| {
        Json::Object(vec![("count", (*count).into()), ("reason", reason(why))])
    };
    reasons.iter().map(one).collect()
}

/// How often a decision was applied, and why not; nothing if there was none.
fn applied(applied: &Applied, is_decided: bool) -> [(&'static str, Json); 2] {
    match is_decided {
        true => [("applied", applied.times.into()), ("not_applied", counted(&applied.not))],
        false => [("applied", Json::Null), ("not_applied", Json::Null)],
    }
}

fn decision(decision: &Decision) -> Json {
    let mut fields = vec![
        ("place", spot(decision.spot.as_ref())),
        ("kind", decision.kind.into()),
        ("what", (&decision.what).into()),
        ("bytes_saved", decision.bytes.into()),
    ];
    fields.extend(applied(&decision.applied, true));
    Json::Object(fields)
}

fn lies(place: &(String, String)) -> Json {
    Json::Object(vec![("block", (&place.0).into()), ("view", (&place.1).into())])
}

fn kernel_ir(kir: &str, wanted: bool) -> Option<(&'static str, Json)> {
    wanted.then(|| ("kir", kir.into()))
}

fn region_json(region: &RegionPart, kernels: bool) -> Json {
    let mut fields = vec![
        ("kind", Json::from("region")),
        ("place", spot(region.spot.as_ref())),
        ("function", (&region.function).into()),
        ("scope", region.scope.into()),
        ("refused", region.refused.as_ref().into()),
    ];
    if region.refused.is_none() {
        fields.extend([
            ("arrays", region.arrays.iter().map(array).collect()),
            ("points", region.points.iter().map(point).collect()),
            ("plan", region.plan.iter().map(placed).collect()),
            ("blocks", region.blocks.into()),
            ("moved", region.moved.iter().collect()),
            ("strategy", region.strategy.iter().collect()),
            ("layouts", region.layouts.iter().map(layout).collect()),
        ]);
        fields.extend(applied(&region.applied, true));
        fields.extend(kernel_ir(&region.kir, kernels));
    }
    Json::Object(fields)
}

fn array(array: &ArrayFact) -> Json {
    Json::Object(vec![
        ("name", (&array.name).into()),
        ("register", array.register.as_ref().into()),
        ("type", (&array.ty).into()),
        ("bytes", array.bytes.into()),
        ("outside", array.outside.into()),
        ("other_holders", array.others.into()),
        ("view", array.view.as_ref().into()),
        ("place", spot(array.spot.as_ref())),
    ])
}

fn point(point: &Copying) -> Json {
    Json::Object(vec![
        ("place", spot(point.spot.as_ref())),
        ("kind", point.kind.into()),
        ("target", (&point.target).into()),
        ("operands", point.operands.iter().map(operand).collect()),
        ("along", point.web.iter().map(along).collect()),
        ("hoisted_before", point.hoisted_before.as_ref().into()),
        ("double_buffer", point.double_buffer.as_ref().into()),
        ("copied_first", point.copied_first.as_ref().into()),
        ("exact", point.exact.lines().collect()),
    ])
}

fn operand(operand: &PointOperand) -> Json {
    let mut fields = vec![
        ("array", operand.array.as_ref().into()),
        ("last_use", operand.last_use.into()),
        ("in_place", operand.in_place.into()),
        ("lies", operand.place.as_ref().map(lies).into()),
        ("reason", operand.reason.as_ref().map(reason).into()),
        ("bytes", operand.bytes.into()),
        ("least_bytes", operand.least.into()),
        ("times", operand.times.into()),
        ("bytes_in_all", operand.total().into()),
        ("price", operand.price.into()),
        ("copy", operand.class.as_ref().into()),
    ];
    fields.extend(applied(&operand.applied, operand.in_place));
    Json::Object(fields)
}

fn along(entry: &WebEntry) -> Json {
    Json::Object(vec![
        ("array", (&entry.array).into()),
        ("lies", entry.place.as_ref().ok().map(lies).into()),
        ("reason", entry.place.as_ref().err().map(reason).into()),
    ])
}

fn placed(placed: &Placed) -> Json {
    let mut fields = vec![
        ("array", (&placed.array).into()),
        ("place", spot(placed.spot.as_ref())),
        ("decision", placed.kind.into()),
        ("block", (&placed.block).into()),
        ("view", (&placed.view).into()),
        ("bytes", placed.bytes.into()),
        ("repeated", placed.repeated.into()),
    ];
    fields.extend(applied(&placed.applied, placed.kind == "built-in"));
    Json::Object(fields)
}

fn layout(copy: &LayoutCopy) -> Json {
    Json::Object(vec![
        ("array", (&copy.array).into()),
        ("order", (&copy.order).into()),
        ("accesses", copy.accesses.iter().collect()),
        ("cost", copy.cost.into()),
        ("before", copy.before.into()),
        ("after", copy.after.into()),
        ("least_runs", copy.least_runs.into()),
        ("bytes", copy.bytes.into()),
        ("made", copy.made.into()),
        ("reason", reason(&copy.reason)),
    ])
}

fn declined((form, why): &(&'static str, String)) -> Json {
    Json::Object(vec![("form", (*form).into()), ("reason", why.into())])
}

fn operator_json(operator: &OperatorPart, kernels: bool) -> Json {
    let mut fields = vec![
        ("kind", Json::from("operator")),
        ("place", spot(operator.spot.as_ref())),
        ("operator", operator.operator.into()),
        ("executions", operator.executions.into()),
        ("width", operator.width.into()),
        ("work", operator.work.into()),
        ("tier", (&operator.tier).into()),
        ("tier_reason", (&operator.tier_reason).into()),
        ("interpreted_by", operator.form.form.into()),
        ("declined", operator.form.declined.iter().map(declined).collect()),
        ("refused", operator.refused.as_ref().into()),
    ];
    if operator.refused.is_none() {
        let decision = |(decision, why): &(String, String)| {
            Json::Object(vec![("decision", decision.into()), ("reason", why.into())])
        };
        fields.extend([
            ("arrays", operator.arrays.iter().map(array).collect()),
            ("kernels", operator.kernels.iter().map(kernel).collect()),
            ("reuse", operator.reuse.iter().map(reuse_result).collect()),
            ("relaid", operator.relaid.iter().map(|fact| fact.json()).collect()),
            ("plan", operator.plan.iter().map(decision).collect()),
        ]);
        fields.extend(kernel_ir(&operator.kir, kernels));
    }
    Json::Object(fields)
}

fn fused_json(fused: &FusedPart) -> Json {
    let fact = |fact: &FusedFact| {
        Json::Object(vec![
            ("made", (&fact.made).into()),
            ("place", spot(fact.spot.as_ref())),
            ("fate", fact.fate.into()),
            ("others", fact.others.iter().collect()),
            ("reason", (&fact.reason).into()),
        ])
    };
    Json::Object(vec![
        ("kind", Json::from("fused")),
        ("place", spot(fused.spot.as_ref())),
        ("launches", fused.launches.into()),
        ("operators", fused.facts.iter().map(fact).collect()),
    ])
}

fn kernel(kernel: &Kernel) -> Json {
    let lane = |lane: &super::document::Lane| {
        Json::Object(vec![
            ("variable", (&lane.variable).into()),
            ("time", lane.time.into()),
            ("transposes", lane.transposes.into()),
            ("copies", (&lane.copies).into()),
        ])
    };
    let birth = |(array, order): &(String, String)| {
        Json::Object(vec![("array", array.into()), ("order", order.into())])
    };
    Json::Object(vec![
        ("accesses", kernel.accesses.iter().map(access).collect()),
        ("lanes", kernel.lanes.iter().map(lane).collect()),
        ("layouts", kernel.layouts.iter().map(layout).collect()),
        ("born", kernel.born.iter().map(birth).collect()),
        ("strategies", kernel.strategies.iter().collect()),
        ("strategy", (&kernel.strategy).into()),
    ])
}

fn access(access: &Access) -> Json {
    let against = |(letter, words): &(char, &'static str)| {
        Json::Object(vec![("letter", letter.to_string().into()), ("plain", (*words).into())])
    };
    Json::Object(vec![
        ("array", (&access.array).into()),
        ("name", (&access.name).into()),
        ("write", access.write.into()),
        ("index", (&access.index).into()),
        ("class", (&access.class).into()),
        ("time", access.time.into()),
        ("wish", access.wish.as_ref().into()),
        ("against", access.against.iter().map(against).collect()),
    ])
}

fn reuse_result(result: &ReuseResult) -> Json {
    Json::Object(vec![
        ("result", (&result.result).into()),
        ("bytes", result.bytes.into()),
        ("arrays", result.arrays.iter().map(reuse_fact).collect()),
        ("choice", result.choice.as_ref().into()),
        ("happened", counted(&result.happened)),
    ])
}

fn reuse_fact(fact: &ReuseFact) -> Json {
    Json::Object(vec![
        ("array", (&fact.array).into()),
        ("rds", (&fact.read).into()),
        ("cds", (&fact.copied).into()),
        ("mod", (&fact.changed).into()),
        ("candidate", fact.candidate.into()),
        ("reason", reason(&fact.reason)),
    ])
}
