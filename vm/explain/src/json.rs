//! The facts for tools: one JSON document. `docs/explain.md` has its schema. Each function takes its facts apart as a whole, so
//! that the compiler asks here for a new one.

use super::document::{
    Access, Applied, ArrayFact, Copying, Decision, Document, FusedFact, FusedPart, Kernel, Lane, LayoutCopy,
    OperatorPart, Part, Placed, Placing, PointOperand, Reason, RegionPart, ReuseFact, ReuseResult, Spot,
    WebEntry,
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
            ("decisions", self.decisions.iter().map(decision_json).collect()),
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

fn spot_json(spot: Option<&Spot>) -> Json {
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

fn reason_json(reason: &Reason) -> Json {
    let Reason { plain, exact } = reason;
    Json::Object(vec![("plain", plain.into()), ("exact", exact.into())])
}

/// Reasons with how often each was one.
fn counted(reasons: &[(Reason, u64)]) -> Json {
    let one = |(why, count): &(Reason, u64)| {
        Json::Object(vec![("count", (*count).into()), ("reason", reason_json(why))])
    };
    reasons.iter().map(one).collect()
}

/// How often a decision was applied, and why not; nothing if there was none.
fn applied_json(applied: &Applied, is_decided: bool) -> [(&'static str, Json); 2] {
    match is_decided {
        true => [("applied", applied.times.into()), ("not_applied", counted(&applied.not))],
        false => [("applied", Json::Null), ("not_applied", Json::Null)],
    }
}

fn decision_json(decision: &Decision) -> Json {
    let Decision { spot, kind, what, applied, bytes } = decision;
    let mut fields = vec![
        ("place", spot_json(spot.as_ref())),
        ("kind", (*kind).into()),
        ("what", what.into()),
        ("bytes_saved", (*bytes).into()),
    ];
    fields.extend(applied_json(applied, true));
    Json::Object(fields)
}

fn lies(place: &(String, String)) -> Json {
    Json::Object(vec![("block", (&place.0).into()), ("view", (&place.1).into())])
}

fn kernel_ir(kir: &str, wanted: bool) -> Option<(&'static str, Json)> {
    wanted.then(|| ("kir", kir.into()))
}

fn region_json(region: &RegionPart, with_kernels: bool) -> Json {
    let RegionPart {
        spot,
        function,
        scope,
        refused,
        micros: _,
        arrays,
        points,
        strategy,
        layouts,
        plan,
        blocks,
        applied,
        moved,
        kir,
    } = region;
    let mut fields = vec![
        ("kind", Json::from("region")),
        ("place", spot_json(spot.as_ref())),
        ("function", function.into()),
        ("scope", (*scope).into()),
        ("refused", refused.as_ref().into()),
    ];
    if refused.is_none() {
        fields.extend([
            ("arrays", arrays.iter().map(array_json).collect()),
            ("points", points.iter().map(point_json).collect()),
            ("plan", plan.iter().map(placed_json).collect()),
            ("blocks", (*blocks).into()),
            ("moved", moved.iter().collect()),
            ("strategy", strategy.iter().collect()),
            ("layouts", layouts.iter().map(layout_json).collect()),
        ]);
        fields.extend(applied_json(applied, true));
        fields.extend(kernel_ir(kir, with_kernels));
    }
    Json::Object(fields)
}

fn array_json(array: &ArrayFact) -> Json {
    let ArrayFact { name, register, ty, bytes, spot, excerpt: _, outside, others, view } = array;
    Json::Object(vec![
        ("name", name.into()),
        ("register", register.as_ref().into()),
        ("type", ty.into()),
        ("bytes", (*bytes).into()),
        ("outside", (*outside).into()),
        ("other_holders", (*others).into()),
        ("view", view.as_ref().into()),
        ("place", spot_json(spot.as_ref())),
    ])
}

fn point_json(point: &Copying) -> Json {
    let Copying { spot, kind, target, operands, web, hoisted_before, double_buffer, copied_first, exact } =
        point;
    Json::Object(vec![
        ("place", spot_json(spot.as_ref())),
        ("kind", (*kind).into()),
        ("target", target.into()),
        ("operands", operands.iter().map(operand_json).collect()),
        ("along", web.iter().map(along_json).collect()),
        ("hoisted_before", hoisted_before.as_ref().into()),
        ("double_buffer", double_buffer.as_ref().into()),
        ("copied_first", copied_first.as_ref().into()),
        ("exact", exact.lines().collect()),
    ])
}

fn operand_json(operand: &PointOperand) -> Json {
    let PointOperand { array, last_use, in_place, place, reason, applied, bytes, least, times, price, class } =
        operand;
    let mut fields = vec![
        ("array", array.as_ref().into()),
        ("last_use", (*last_use).into()),
        ("in_place", (*in_place).into()),
        ("lies", place.as_ref().map(lies).into()),
        ("reason", reason.as_ref().map(reason_json).into()),
        ("bytes", (*bytes).into()),
        ("least_bytes", (*least).into()),
        ("times", (*times).into()),
        ("bytes_in_all", operand.total().into()),
        ("price", (*price).into()),
        ("copy", class.as_ref().into()),
    ];
    fields.extend(applied_json(applied, *in_place));
    Json::Object(fields)
}

fn along_json(entry: &WebEntry) -> Json {
    let WebEntry { array, place } = entry;
    Json::Object(vec![
        ("array", array.into()),
        ("lies", place.as_ref().ok().map(lies).into()),
        ("reason", place.as_ref().err().map(reason_json).into()),
    ])
}

fn placed_json(placed: &Placed) -> Json {
    let Placed { array, spot, kind, block, view, bytes, repeated, applied } = placed;
    let mut fields = vec![
        ("array", array.into()),
        ("place", spot_json(spot.as_ref())),
        ("decision", kind.name().into()),
        ("block", block.into()),
        ("view", view.into()),
        ("bytes", (*bytes).into()),
        ("repeated", (*repeated).into()),
    ];
    fields.extend(applied_json(applied, *kind == Placing::BuiltIn));
    Json::Object(fields)
}

fn layout_json(copy: &LayoutCopy) -> Json {
    let LayoutCopy { array, order, accesses, cost, before, after, least_runs, bytes, made, reason } = copy;
    Json::Object(vec![
        ("array", array.into()),
        ("order", order.into()),
        ("accesses", accesses.iter().collect()),
        ("cost", (*cost).into()),
        ("before", (*before).into()),
        ("after", (*after).into()),
        ("least_runs", (*least_runs).into()),
        ("bytes", (*bytes).into()),
        ("made", (*made).into()),
        ("reason", reason_json(reason)),
    ])
}

fn declined(form: &'static str, why: &str) -> Json {
    Json::Object(vec![("form", form.into()), ("reason", why.into())])
}

fn operator_json(operator: &OperatorPart, with_kernels: bool) -> Json {
    let OperatorPart {
        spot,
        place: _,
        operator,
        executions,
        width,
        work,
        tier,
        tier_reason,
        form,
        refused,
        arrays,
        kernels,
        reuse,
        relaid,
        plan,
        kir,
    } = operator;
    let mut fields = vec![
        ("kind", Json::from("operator")),
        ("place", spot_json(spot.as_ref())),
        ("operator", (*operator).into()),
        ("executions", (*executions).into()),
        ("width", (*width).into()),
        ("work", (*work).into()),
        ("tier", tier.into()),
        ("tier_reason", tier_reason.into()),
        ("interpreted_by", form.name.into()),
        ("declined", form.declined.map(|(form, why)| declined(form, &why.to_string())).into_iter().collect()),
        ("refused", refused.as_ref().into()),
    ];
    if refused.is_none() {
        let planned = |(decision, why): &(String, String)| {
            Json::Object(vec![("decision", decision.into()), ("reason", why.into())])
        };
        fields.extend([
            ("arrays", arrays.iter().map(array_json).collect()),
            ("kernels", kernels.iter().map(kernel_json).collect()),
            ("reuse", reuse.iter().map(reuse_result).collect()),
            ("relaid", relaid.iter().map(|fact| fact.json()).collect()),
            ("plan", plan.iter().map(planned).collect()),
        ]);
        fields.extend(kernel_ir(kir, with_kernels));
    }
    Json::Object(fields)
}

fn fused_json(fused: &FusedPart) -> Json {
    let FusedPart { spot, launches, facts } = fused;
    let fact = |FusedFact { made, spot, fate, reason }: &FusedFact| {
        Json::Object(vec![
            ("made", made.into()),
            ("place", spot_json(spot.as_ref())),
            ("fate", fate.word().into()),
            ("others", fate.others().iter().collect()),
            ("reason", reason.into()),
        ])
    };
    Json::Object(vec![
        ("kind", Json::from("fused")),
        ("place", spot_json(spot.as_ref())),
        ("launches", (*launches).into()),
        ("operators", facts.iter().map(fact).collect()),
    ])
}

fn kernel_json(kernel: &Kernel) -> Json {
    let Kernel { accesses, lanes, layouts, born, strategies, strategy } = kernel;
    let lane = |Lane { variable, time, transposes, copies }: &Lane| {
        Json::Object(vec![
            ("variable", variable.into()),
            ("time", (*time).into()),
            ("transposes", (*transposes).into()),
            ("copies", copies.into()),
        ])
    };
    let birth = |(array, order): &(String, String)| {
        Json::Object(vec![("array", array.into()), ("order", order.into())])
    };
    Json::Object(vec![
        ("accesses", accesses.iter().map(access_json).collect()),
        ("lanes", lanes.iter().map(lane).collect()),
        ("layouts", layouts.iter().map(layout_json).collect()),
        ("born", born.iter().map(birth).collect()),
        ("strategies", strategies.iter().collect()),
        ("strategy", strategy.into()),
    ])
}

fn access_json(access: &Access) -> Json {
    let Access { array, name, write, index, class, time, wish, against } = access;
    let condition = |(letter, words): &(char, &'static str)| {
        Json::Object(vec![("letter", letter.to_string().into()), ("plain", (*words).into())])
    };
    Json::Object(vec![
        ("array", array.into()),
        ("name", name.into()),
        ("write", (*write).into()),
        ("index", index.into()),
        ("class", class.into()),
        ("time", (*time).into()),
        ("wish", wish.as_ref().into()),
        ("against", against.iter().map(condition).collect()),
    ])
}

fn reuse_result(result: &ReuseResult) -> Json {
    let ReuseResult { result, bytes, arrays, choice, happened, over: _ } = result;
    Json::Object(vec![
        ("result", result.into()),
        ("bytes", (*bytes).into()),
        ("arrays", arrays.iter().map(reuse_fact).collect()),
        ("choice", choice.as_ref().into()),
        ("happened", counted(happened)),
    ])
}

fn reuse_fact(fact: &ReuseFact) -> Json {
    let ReuseFact { array, read, copied, changed, candidate, reason } = fact;
    Json::Object(vec![
        ("array", array.into()),
        ("rds", read.into()),
        ("cds", copied.into()),
        ("mod", changed.into()),
        ("candidate", (*candidate).into()),
        ("reason", reason_json(reason)),
    ])
}
