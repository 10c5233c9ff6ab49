//! Facts of a recorded function or loop: its arrays, what copies, where everything lies.

use super::document::{
    Applied, ArrayFact, Copying, LayoutCopy, Placed, Placing, PointOperand, Reason, RegionPart, Spot,
    WebEntry,
};
use super::kept::{KeptRegion, Ran, Setting};
use super::names::{Names, Origin, renamed};
use super::operators::layout_copy;
use super::words;
use galopvm_analysis::circuit::{self, Circuits, Facts, Inside, Outcome, Place, PointKind, Source};
use galopvm_analysis::index::{Table, table};
use galopvm_analysis::layout::{Pricing, Profile};
use galopvm_analysis::strategy;
use galopvm_bytecode::{FuncId, Scope};
use galopvm_kir::text::{print_region, print_type};
use galopvm_kir::{CheckedRegion, Exp, Observed, ObservedParam, Region, VarId, check};
use galopvm_lift::region::Recorded;
use galopvm_lmad::Lmad;
use std::collections::BTreeMap;

/// A region that could not be recorded.
pub(super) fn refused_part(setting: &Setting<'_>, kept: &KeptRegion, reason: &str) -> RegionPart {
    let function = setting.module.functions.get(kept.function).map_or_else(String::new, |f| f.name.clone());
    let spot = kept.place.and_then(|place| setting.lines.spot(setting.module, place));
    RegionPart {
        spot: match kept.scope {
            Scope::Function => spot.map(|spot| setting.lines.definition(spot, &function)),
            _ => spot,
        },
        function,
        scope: match kept.scope {
            Scope::Function => "function",
            Scope::Loop { .. } => "loop",
            Scope::Round { .. } => "round",
        },
        refused: Some(reason.into()),
        micros: kept.micros,
        arrays: Vec::new(),
        points: Vec::new(),
        strategy: Vec::new(),
        layouts: Vec::new(),
        plan: Vec::new(),
        blocks: 0,
        applied: Applied::default(),
        moved: Vec::new(),
        kir: String::new(),
    }
}

/// A region with its verdicts.
pub(super) fn region_part(
    setting: &Setting<'_>,
    kept: &KeptRegion,
    recorded: &Recorded,
    circuits: &Circuits,
    ran: &Ran,
) -> RegionPart {
    let mut part = refused_part(setting, kept, "");
    part.refused = None;
    let own = recorded.registers.iter().map(|(var, reg)| (var, (kept.function, *reg)));
    let made: BTreeMap<VarId, _> = own.chain(recorded.inner.iter().map(|(var, at)| (var, *at))).collect();
    let mut names: BTreeMap<FuncId, Names> = BTreeMap::new();
    for (function, _) in made.values() {
        if !names.contains_key(function) {
            names.extend(setting.names(*function).map(|known| (*function, known)));
        }
    }
    let origin = |(var, (function, reg)): (&VarId, &(FuncId, _))| {
        names.get(function).map(|names| (*var, names.of(*reg)))
    };
    let origins: BTreeMap<VarId, Origin> = made.iter().filter_map(origin).collect();
    // The region's own names first: those of called functions make way.
    let (first, last): (Vec<_>, Vec<_>) = origins.iter().partition(|(var, _)| recorded.registers.has(**var));
    let named = first.into_iter().chain(last).filter_map(|(var, origin)| Some((*var, origin.name.clone()?)));
    // Other names change nothing; the old ones will do if that is wrong.
    let region = check(renamed(recorded.region.region(), named)).unwrap_or_else(|_| recorded.region.clone());
    let code = region.region();
    let facts = table(&region, &recorded.observed);
    let profile = Profile::default();
    let pricing = Pricing {
        table: &facts,
        costs: setting.costs,
        target: setting.target,
        profile: &profile,
        sharing: 1,
    };
    let view = View {
        origins: &origins,
        ran,
        recorded,
        code,
        facts: Facts::of(code, &recorded.observed),
        table: &facts,
        pricing: &pricing,
        circuits,
    };
    part.arrays = view.arrays();
    part.points = view.points();
    part.plan = view.plan();
    part.blocks = circuits.blocks();
    part.applied = Applied { times: ran.planned, not: ran.reasons() };
    let moved = recorded.registers.iter().filter(|(_, reg)| ran.moved.contains(reg));
    part.moved = moved.map(|(var, _)| code.name_of(var).to_string()).collect();
    (part.strategy, part.layouts) = view.strategy(setting, &region);
    part.kir = print_region(code);
    part
}

/// An array of a region.
pub(super) fn array_fact(
    code: &Region,
    observed: &Observed,
    var: VarId,
    register: Option<String>,
    origin: Origin,
    shape: Option<Vec<i64>>,
) -> ArrayFact {
    let at = code.params.iter().position(|param| *param == var);
    let seen = at.and_then(|at| observed.params.get(at));
    let (view, others, shape) = match seen {
        Some(ObservedParam::Array { lmad, references, .. }) => {
            let whole = Lmad::row_major(&lmad.shape());
            let view = (*lmad != whole).then(|| lmad.to_string());
            (view, Some(references.saturating_sub(1)), Some(lmad.shape().to_vec()))
        }
        _ => (None, None, shape),
    };
    let ty = code.vars.get(var).and_then(|var| var.ty.as_ref());
    let elem = ty.map(|ty| ty.elem);
    let text = match (&shape, ty) {
        (Some(shape), Some(ty)) => {
            let extents: String = shape.iter().map(|extent| format!("[{extent}]")).collect();
            format!("{extents}{}", ty.elem)
        }
        (None, Some(ty)) => print_type(code, ty),
        (_, None) => String::new(),
    };
    let bytes = shape.zip(elem).map(|(shape, elem)| size_in_bytes(&shape, elem.bytes()));
    ArrayFact {
        name: code.name_of(var).into(),
        register,
        ty: text,
        bytes,
        spot: origin.spot,
        excerpt: origin.excerpt,
        outside: at.is_some(),
        others,
        view,
    }
}

/// Bytes of an array of this shape.
pub(super) fn size_in_bytes(shape: &[i64], width: usize) -> i64 {
    shape.iter().fold(width as i64, |bytes, extent| bytes.saturating_mul((*extent).max(0)))
}

struct View<'a> {
    origins: &'a BTreeMap<VarId, Origin>,
    ran: &'a Ran,
    recorded: &'a Recorded,
    code: &'a Region,
    facts: Facts,
    table: &'a Table,
    pricing: &'a Pricing<'a>,
    circuits: &'a Circuits,
}

impl View<'_> {
    fn name(&self, var: VarId) -> String {
        self.code.name_of(var).into()
    }

    fn origin(&self, var: VarId) -> Origin {
        self.origins.get(&var).cloned().unwrap_or_default()
    }

    /// Whether some of these arrays, which have a place together, were made in it.
    fn applied(&self, together: &[VarId]) -> Applied {
        let registers = || together.iter().filter_map(|var| self.recorded.registers.get(*var));
        let mut not = self.ran.reasons();
        if registers().any(|reg| self.ran.moved.contains(reg)) {
            return Applied { times: self.ran.planned, not };
        }
        let makers = together.iter().any(|var| self.recorded.makers.has(*var));
        match not.first() {
            _ if !makers => not = vec![(words::not_moved(true), 1)],
            _ if self.ran.planned > 0 => not = vec![(words::not_moved(false), self.ran.planned)],
            _ => {}
        }
        Applied { times: 0, not }
    }

    fn shape(&self, var: VarId) -> Option<Vec<i64>> {
        let shape = self.facts.arrays.get(&var)?.shape.as_ref()?;
        shape.iter().map(|extent| extent.number()).collect()
    }

    /// The greatest size that an array has.
    fn bytes(&self, var: VarId) -> Option<i64> {
        self.sizes(var).map(|(_, most)| most)
    }

    /// The least and the greatest size that an array has in all rounds of the loops around it.
    fn sizes(&self, var: VarId) -> Option<(i64, i64)> {
        let width = self.code.vars.get(var)?.ty.as_ref()?.elem.bytes();
        let (mut least, mut most) = (Vec::new(), Vec::new());
        for extent in self.facts.arrays.get(&var)?.shape.as_ref()? {
            let (low, high) = extent.interval(&self.facts.ranges)?;
            least.push(i64::try_from(low).ok()?);
            most.push(i64::try_from(high).ok()?);
        }
        Some((size_in_bytes(&least, width), size_in_bytes(&most, width)))
    }

    /// The arrays that the region is given, makes, or copies.
    fn arrays(&self) -> Vec<ArrayFact> {
        let shown = self.facts.arrays.iter().filter(|(var, array)| {
            let point =
                || self.facts.points.iter().any(|p| p.target == **var || p.operands.contains(&Some(**var)));
            !matches!(array.source, Source::View(..)) || point()
        });
        let fact = |var: VarId| {
            let register = self.recorded.registers.get(var).map(ToString::to_string);
            array_fact(self.code, &self.recorded.observed, var, register, self.origin(var), self.shape(var))
        };
        shown.map(|(var, _)| fact(*var)).collect()
    }

    /// The points in program order; verdicts come in the opposite one.
    fn points(&self) -> Vec<Copying> {
        let outcomes = self.circuits.outcomes.iter().rev();
        let points: Vec<Copying> = self
            .facts
            .points
            .iter()
            .zip(outcomes)
            .map(|(point, outcome)| self.point(point, outcome))
            .collect();
        points
    }

    fn point(&self, point: &circuit::Point, outcome: &Outcome) -> Copying {
        let mut around = self.facts.bodies.around(point.position);
        let times = around.try_fold(1u64, |times, (_, inside)| match inside {
            Inside::Loop(Some(var)) => Some(times.saturating_mul(self.table.trips(*var))),
            Inside::Kernel(vars) => {
                Some(vars.iter().fold(times, |times, var| times.saturating_mul(self.table.trips(*var))))
            }
            Inside::Loop(None) | Inside::Operator => None,
            Inside::Branch(_) => Some(times),
        });
        let operands = outcome.operands.iter().map(|operand| self.operand(operand, outcome, times)).collect();
        let is_operand = |var: VarId| outcome.operands.iter().any(|operand| operand.array == Some(var));
        let web = outcome.entries.iter().filter(|entry| !is_operand(entry.array)).map(|entry| WebEntry {
            array: self.name(entry.array),
            place: match &entry.outcome {
                Ok(place) => Ok(self.place(place)),
                Err(reason) => Err(self.reason(reason)),
            },
        });
        // What a row of an operator's result is made by stands inside; the operator itself is the place.
        let spot = self.origin(outcome.target).spot;
        let spot = match point.kind {
            PointKind::Row(_) => {
                outcome.operands.iter().find_map(|operand| self.origin(operand.array?).spot).or(spot)
            }
            _ => spot,
        };
        Copying {
            spot,
            kind: words::point(&point.kind),
            target: self.name(outcome.target),
            operands,
            web: web.collect(),
            hoisted_before: outcome.hoisted_before.map(|var| self.name(var)),
            double_buffer: outcome.double_buffer.map(|var| self.name(var)),
            copied_first: outcome.copied_first.map(|var| self.name(var)),
            exact: outcome.text(self.code),
        }
    }

    fn place(&self, place: &Place) -> (String, String) {
        (self.name(place.block), place.view.text(self.code))
    }

    fn reason(&self, reason: &circuit::Reason) -> Reason {
        Reason { plain: words::circuit(reason, self.code), exact: reason.text(self.code) }
    }

    fn operand(&self, operand: &circuit::Operand, outcome: &Outcome, times: Option<u64>) -> PointOperand {
        let entry = outcome.entries.iter().find(|entry| operand.array == Some(entry.array));
        let sizes = operand.array.and_then(|array| self.sizes(array));
        let bytes = sizes.map(|(_, most)| most);
        let reason = match entry.map(|entry| &entry.outcome) {
            Some(Err(reason)) => Some(self.reason(reason)),
            Some(Ok(_)) => None,
            None if operand.array.is_none() => {
                Some(Reason { plain: "it is no array of its own".into(), exact: "no-name".into() })
            }
            None if operand.in_place => None,
            None => Some(Reason {
                plain: "the same array goes in once more after it".into(),
                exact: "not-last-use".into(),
            }),
        };
        let price = || {
            let elem = self.code.vars.get(operand.array?)?.ty.as_ref()?.elem;
            let width = elem.bytes() as u64;
            Some(self.pricing.copy(bytes?.unsigned_abs() / width.max(1), width))
        };
        PointOperand {
            array: operand.array.map(|array| self.name(array)),
            last_use: operand.last_use,
            in_place: operand.in_place,
            place: entry.and_then(|entry| entry.outcome.as_ref().ok()).map(|place| self.place(place)),
            reason,
            applied: match operand.in_place {
                true => {
                    let placed = outcome.entries.iter().filter(|entry| entry.outcome.is_ok());
                    self.applied(&placed.map(|entry| entry.array).collect::<Vec<_>>())
                }
                false => Applied::default(),
            },
            bytes,
            least: sizes.map(|(least, _)| least),
            times,
            price: price(),
            class: operand.copy.as_ref().map(|(_, _, class)| class.to_string()),
        }
    }

    /// Where each array that the region makes or changes lies.
    fn plan(&self) -> Vec<Placed> {
        let mut plan = Vec::new();
        for (var, array) in self.facts.arrays.iter() {
            let Some(place) = self.circuits.places.get(var) else { continue };
            let own = place.block == *var;
            let kind = match &array.source {
                Source::Fresh | Source::Kernel(_) | Source::Manifest(_) => {
                    if own {
                        Placing::Fresh
                    } else {
                        Placing::BuiltIn
                    }
                }
                Source::Update(_) | Source::Filled(_) => {
                    if own {
                        Placing::Copied
                    } else {
                        Placing::InPlace
                    }
                }
                Source::Param
                | Source::View(..)
                | Source::Branches(..)
                | Source::Carried(..)
                | Source::LoopResult(_)
                | Source::Unknown => continue,
            };
            let mut around = self.facts.bodies.around(array.position);
            let repeated = around.any(|(_, inside)| inside.repeats());
            let (block, view) = self.place(place);
            plan.push(Placed {
                array: self.name(*var),
                spot: self.origin(*var).spot,
                kind,
                block,
                view,
                bytes: self.bytes(*var),
                repeated,
                applied: if kind == Placing::BuiltIn { self.applied(&[*var]) } else { Applied::default() },
            });
        }
        plan.sort_by_key(|placed| placed.spot.as_ref().map(|s: &Spot| (s.file.clone(), s.line, s.column)));
        plan
    }

    /// Lanes and layouts for all kernels of the region together.
    fn strategy(&self, setting: &Setting<'_>, region: &CheckedRegion) -> (Vec<String>, Vec<LayoutCopy>) {
        if self.pricing.kernels().is_empty() {
            return (Vec::new(), Vec::new());
        }
        let result = |exp: &Exp| if let Exp::Var(var) = exp { Some(*var) } else { None };
        let results: Vec<VarId> = region.region().body.results.iter().filter_map(result).collect();
        let choice = strategy::decide(self.pricing, &results, &setting.means);
        let lines = choice.text(self.code, self.pricing).lines().map(str::to_string).collect();
        let copies = choice.copies.iter().chain(&choice.left);
        (lines, copies.map(|copy| layout_copy(self.code, self.table, copy)).collect())
    }
}
