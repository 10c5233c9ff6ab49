//! Every point of a region in turn, the last ones first: whether what it copies can be built in place.

use super::apart::is_injective;
use super::conflict::{self, PAIR_TESTS, Tests, Witness};
use super::facts::{Array, Facts, Point, PointKind, Source};
use super::moving::{Along, Moving};
use super::part::{Part, own};
use super::place::{self, Places, Settled, forward_of, is_used_after};
use super::price::pays;
use super::scene::Scene;
use super::verdict::{Entry, Operand, Outcome, Place, Reason};
use super::web::Web;
use crate::Effort;
use crate::affine::Form;
use crate::layout::Pricing;
use galopvm_kir::{Observed, Region, VarId};
use galopvm_lmad::copy_class;
use std::collections::BTreeSet;
use std::fmt::Write;

/// What became of a region's points.
#[derive(Clone, Debug)]
pub struct Circuits {
    /// One for each point, in the order in which they were decided.
    pub outcomes: Vec<Outcome>,
    /// Where each array lies now.
    pub places: Places,
    /// The number of arrays that still get a block of their own in each round of a loop or kernel.
    pub remade: usize,
    /// What the region does with arrays, with everything that copies known to copy.
    pub(crate) facts: Facts,
}

/// Decides every point of a region by what is legal.
pub fn circuits(region: &Region, observed: &Observed) -> Circuits {
    circuits_within(region, observed, None, Effort::Quick, Witness::Least)
}

/// Decides every point of a region by what is legal and pays: a copy that is saved against accesses that get dearer.
pub fn circuits_priced(region: &Region, observed: &Observed, pricing: &Pricing<'_>) -> Circuits {
    circuits_within(region, observed, Some(pricing), Effort::Quick, Witness::Least)
}

/// Decides every point of a region, by the price too if there are prices. Which place is named where one speaks against
/// moving an array changes no verdict.
pub fn circuits_within(
    region: &Region,
    observed: &Observed,
    pricing: Option<&Pricing<'_>>,
    effort: Effort,
    witness: Witness,
) -> Circuits {
    let Settled { facts, places, indices } = Settled::of(region, observed);
    let tests = Tests { left: PAIR_TESTS * effort.times() as u32, witness };
    let scene = Scene::new(&facts, &indices, places);
    let mut solver = Solver { scene, facts: &facts, tests, pricing };
    // What is copied later decides where what is copied earlier goes.
    let outcomes = facts.points.iter().rev().map(|point| solver.point(point)).collect();
    let places = solver.scene.into_places();
    let remade = |(var, array): &(&VarId, &Array)| {
        matches!(array.source, Source::Fresh | Source::Kernel(_) | Source::Manifest(_))
            && facts.bodies.around(array.position).any(|(_, inside)| inside.repeats())
            && places.get(var).is_some_and(|place| place.block == **var)
    };
    let remade = facts.arrays.iter().filter(remade).count();
    Circuits { outcomes, places, remade, facts }
}

/// A region as it is written: nothing is decided, and every array lies where it is made.
pub fn unmoved(region: &Region, observed: &Observed) -> Circuits {
    let Settled { facts, places, .. } = Settled::of(region, observed);
    Circuits { outcomes: Vec::new(), places, remade: 0, facts }
}

struct Solver<'a> {
    facts: &'a Facts,
    pricing: Option<&'a Pricing<'a>>,
    scene: Scene<'a>,
    tests: Tests,
}

impl Solver<'_> {
    fn point(&mut self, point: &Point) -> Outcome {
        let mut outcome = Outcome {
            target: point.target,
            implicit: matches!(point.kind, PointKind::Row(_)),
            operands: Vec::new(),
            entries: Vec::new(),
            hoisted_before: None,
            double_buffer: None,
            copied_first: None,
        };
        let own = self.scene.places().get(&point.target).is_some_and(|place| place.block == point.target);
        let mut made = Vec::new();
        for k in (0..point.operands.len()).rev() {
            let operand = self.operand(point, k, &mut outcome, &mut made);
            outcome.operands.insert(0, operand);
        }
        if own && !outcome.implicit {
            // Whatever is made first needs the block.
            let Facts { arrays, bodies, .. } = self.facts;
            let first =
                made.into_iter().min_by_key(|var| arrays.get(var).map(|array| bodies.path(array.position)));
            outcome.hoisted_before = first;
        }
        outcome
    }

    fn operand(&mut self, point: &Point, k: usize, outcome: &mut Outcome, made: &mut Vec<VarId>) -> Operand {
        let array = point.operands[k];
        let mut operand =
            Operand { array, last_use: false, copy: None, in_place: false, refused: Vec::new() };
        let Some(array) = array else { return operand };
        let repeated = point.operands[k + 1..].contains(&Some(array));
        operand.last_use = !repeated && self.is_last_use(array, point);
        let target = self.place(point, k);
        let depends = self.parent(point);
        let web = if repeated {
            Err(Reason::NotLastUse)
        } else {
            let place = target.as_ref().map_err(Clone::clone);
            let web = place.and_then(|place| self.web(point, array, place, operand.last_use));
            web.and_then(|web| match self.speaks_against(point, array, &web) {
                None => Ok(web),
                Some(reason) => {
                    operand.refused = web.places();
                    Err(reason)
                }
            })
        };
        match web {
            Ok(mut web) => {
                operand.in_place = true;
                made.append(&mut web.made);
                let live = std::mem::take(&mut web.live);
                for (var, place) in web.into_places() {
                    self.scene.place(var, place.clone());
                    outcome.entries.push(Entry { array: var, outcome: Ok(place), depends });
                }
                outcome.entries.extend(live.into_iter().map(|(var, while_made)| Entry {
                    array: var,
                    outcome: Err(Reason::LiveRange(while_made)),
                    depends: None,
                }));
            }
            Err(reason) => {
                match reason {
                    Reason::LoopInputLive(..) => outcome.double_buffer = Some(array),
                    Reason::NotUnique => outcome.copied_first = self.could_go_into_a_copy(point, array),
                    _ => {}
                }
                if !repeated {
                    outcome.entries.push(Entry { array, outcome: Err(reason), depends: None });
                }
            }
        }
        if !operand.in_place {
            let lmad = |place: &Place| place.view.lmad();
            let from = self.scene.places().get(&array).and_then(lmad);
            let to = target.ok().as_ref().and_then(lmad);
            operand.copy = to.zip(from).map(|(to, from)| {
                let class = copy_class(&to, &from);
                (to, from, class)
            });
        }
        operand
    }

    /// The array that the target's own place depends on, if it was moved.
    fn parent(&self, point: &Point) -> Option<VarId> {
        let place = self.scene.places().get(&point.target)?;
        let source = &self.facts.arrays.get(&point.target)?.source;
        let fresh = matches!(source, Source::Fresh | Source::Kernel(_) | Source::Manifest(_));
        (fresh && place.block != point.target).then_some(point.target)
    }

    fn is_last_use(&self, array: VarId, point: &Point) -> bool {
        let names = forward_of(self.facts, array, true);
        !is_used_after(self.facts, &names, point.position)
    }

    /// The place in the target's block that operand `k` goes to.
    fn place(&self, point: &Point, k: usize) -> Result<Place, Reason> {
        let whole = self.scene.places().get(&point.target).ok_or(Reason::IxfnNotAvailable(None))?;
        let unknown = Reason::IxfnNotAvailable(None);
        let view = match &point.kind {
            PointKind::Copy | PointKind::Manifest => whole.view.clone(),
            PointKind::Concat => {
                let rows = |array: &Option<VarId>| {
                    let shape = self.facts.arrays.get(&(*array)?)?.shape.as_ref()?;
                    shape.first().cloned()
                };
                let mut start = Form::default();
                for operand in &point.operands[..k] {
                    let rows = rows(operand).ok_or(unknown.clone())?;
                    start = start.plus(&rows).ok_or(unknown.clone())?;
                }
                let count = rows(&point.operands[k]).ok_or(unknown.clone())?;
                let part = Along { start, open: vec![(Some(count), Form::constant(1))] };
                whole.view.index(&[part]).ok_or(unknown)?
            }
            PointKind::Row(vars) => match place::parts(&whole.view, &own(vars)).as_deref_mut() {
                Some([view]) => std::mem::take(view),
                _ => return Err(unknown),
            },
            PointKind::Update(part) => {
                let part = self.scene.indices.part(*part);
                match place::parts(&whole.view, part).as_deref_mut() {
                    Some([view]) => std::mem::take(view),
                    _ => {
                        let var = match part {
                            Part::Unknown(var) => *var,
                            _ => None,
                        };
                        return Err(Reason::IxfnNotAvailable(var));
                    }
                }
            }
        };
        Ok(Place { block: whole.block, view })
    }

    /// The arrays that move when `array` is built in its place, if they can.
    fn web(&mut self, point: &Point, array: VarId, place: &Place, last_use: bool) -> Result<Web, Reason> {
        if !last_use {
            return Err(Reason::NotLastUse);
        }
        let source = self.facts.arrays.get(&point.target).map(|array| &array.source);
        if matches!(point.kind, PointKind::Update(_)) && !matches!(source, Some(Source::Update(_))) {
            // What is updated is used later, so the update copies all of it.
            return Err(Reason::NotLastUse);
        }
        let shape = self.facts.arrays.get(&array).and_then(|array| array.shape.as_ref());
        if shape.is_some_and(|shape| !shape.iter().cloned().eq(place.view.axes().map(|(size, _)| size))) {
            return Err(Reason::OtherShape);
        }
        if !is_injective(&place.view, self.facts) {
            return Err(Reason::NotInjective);
        }
        self.is_unique(place.block)?;
        let web = Web::of(self.facts, self.scene.places(), array, place, point.position)?;
        self.in_scope(&web)?;
        Ok(web)
    }

    /// A place that is used, or the price.
    fn speaks_against(&mut self, point: &Point, array: VarId, web: &Web) -> Option<Reason> {
        let used = self.clash(point, web);
        used.or_else(|| self.pricing.and_then(|pricing| pays(pricing, web, array).err()))
    }

    fn clash(&mut self, point: &Point, web: &Web) -> Option<Reason> {
        conflict::find(&mut self.scene, web, point.position, &mut self.tests)
    }

    /// Whether the update of a block that others hold, which copies it, could copy it before the array is made, so
    /// that this is built in the copy.
    fn could_go_into_a_copy(&mut self, point: &Point, array: VarId) -> Option<VarId> {
        let PointKind::Update(part) = &point.kind else { return None };
        let target = self.facts.arrays.get(&point.target)?;
        let copy = Moving::row_major(target.shape.as_ref()?)?;
        let [view] = &mut place::parts(&copy, self.scene.indices.part(*part))?[..] else { return None };
        let place = Place { block: point.target, view: std::mem::take(view) };
        let web = Web::of(self.facts, self.scene.places(), array, &place, point.position).ok()?;
        self.in_scope(&web).ok()?;
        self.clash(point, &web).is_none().then_some(array)
    }

    /// A block from outside the region must be held by nobody else.
    fn is_unique(&self, block: VarId) -> Result<(), Reason> {
        let param = self.facts.arrays.get(&block).is_some_and(|array| array.source == Source::Param);
        match self.facts.observed(block) {
            Some((_, 1)) => Ok(()),
            None if !param => Ok(()),
            _ => Err(Reason::NotUnique),
        }
    }

    /// The block can exist where the web is made: it comes from outside, or its size is known by then.
    fn in_scope(&self, web: &Web) -> Result<(), Reason> {
        let block = self.facts.arrays.get(&web.block).ok_or(Reason::BlockNotInScope)?;
        let known = |var: &VarId| {
            let made = self.facts.arrays.get(var);
            made.is_some_and(|made| self.facts.bodies.lies_in(made.position, block.position.body))
        };
        let sized = block.shape.as_ref().is_some_and(|shape| {
            matches!(block.source, Source::Param) || shape.iter().all(|size| size.terms().is_empty())
        });
        if web.made.iter().all(known) && sized { Ok(()) } else { Err(Reason::BlockNotInScope) }
    }
}

impl Circuits {
    /// The verdicts in text.
    pub fn text(&self, region: &Region) -> String {
        let mut text = String::new();
        self.outcomes.iter().for_each(|outcome| text.push_str(&outcome.text(region)));
        let mut order: Vec<&str> = Vec::new();
        for outcome in &self.outcomes {
            for operand in outcome.operands.iter().rev().filter(|operand| operand.in_place) {
                order.extend(operand.array.map(|array| region.name_of(array)));
            }
        }
        let copies = self.copies();
        let _ = writeln!(text, "order : {} ; allocs {}", order.join(", "), self.blocks());
        let _ = writeln!(text, "allocs {} ; copies {copies}", self.blocks());
        let _ = writeln!(text, "per-iteration allocs {}", self.remade);
        text
    }

    /// Whether some point was refused because the answer would have cost too much: more effort may change it.
    pub fn is_bounded(&self) -> bool {
        let entries = self.outcomes.iter().flat_map(|outcome| &outcome.entries);
        entries.into_iter().any(|entry| entry.outcome == Err(Reason::Budget))
    }

    /// The number of copies that are left at the points.
    pub fn copies(&self) -> usize {
        let left = |outcome: &Outcome| outcome.operands.iter().filter(|operand| !operand.in_place).count();
        self.outcomes.iter().map(left).sum()
    }

    /// The number of blocks that the targets of points and what is built in them lie in.
    pub fn blocks(&self) -> usize {
        let mut blocks = BTreeSet::new();
        for outcome in &self.outcomes {
            blocks.extend(self.places.get(&outcome.target).map(|place| place.block));
            for operand in outcome.operands.iter().filter(|operand| operand.in_place) {
                let place = operand.array.and_then(|array| self.places.get(&array));
                blocks.extend(place.map(|place| place.block));
            }
        }
        blocks.len()
    }
}
