//! Wrong decisions are refused. Decisions of the analyses are damaged; what gives another result in some order, by the
//! machine that executes regions, is truly wrong.

use crate::case;
use crate::decided::home;
use crate::machine::{Layout, TOO_LONG, Way, agree, run};
use galopvm_analysis::affine::Form;
use galopvm_analysis::circuit::{Circuits, Moving, Place, Places, circuits};
use galopvm_analysis::memory::{Home, IN_TURN, schedule};
use galopvm_check::{Budget, Decisions, Memory, Verdict, check};
use galopvm_kir::{CheckedRegion, Observed, Rhs, VarId};
use galopvm_testkit::regions::{constructs, parts};
use galopvm_testkit::{Random, rounds};
use std::collections::BTreeMap;

/// Orders in which a difference is looked for, for each of some inputs.
const ORDERS: u64 = 12;

/// A kind of damage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Damage {
    /// A place is one element off.
    Shifted,
    /// Two strides are exchanged, or one turned round.
    Turned,
    /// An array is built in the block of another one.
    Elsewhere,
    /// An array is built where another one lies.
    Same,
    /// A size is too large.
    Large,
    /// An update does not copy.
    InPlace,
    /// Two blocks share memory.
    Packed,
    /// A block's life ends early, so that one that is made meanwhile takes its place.
    Ended,
    /// A result is written over an array.
    Over,
    /// An array and all that share its memory are built where the analyses say that they cannot be.
    Forced,
}

const ALL: [Damage; 10] = [
    Damage::Shifted,
    Damage::Turned,
    Damage::Elsewhere,
    Damage::Same,
    Damage::Large,
    Damage::InPlace,
    Damage::Packed,
    Damage::Ended,
    Damage::Over,
    Damage::Forced,
];

/// Sizes and strides of a view.
fn axes(view: &Moving) -> Vec<(Form, Form)> {
    view.axes().collect()
}

fn moved(offset: &Form, axes: Vec<(Form, Form)>) -> Moving {
    Moving::new(offset.clone(), axes)
}

/// The places with a damage, if there is something to damage.
fn damaged(
    region: &CheckedRegion,
    circuits: &Circuits,
    random: &mut Random,
    damage: Damage,
) -> Option<Layout> {
    let code = region.region();
    let params = &code.params;
    let made: Vec<(VarId, Place)> = circuits
        .places
        .iter()
        .filter(|(var, _)| !params.contains(var))
        .map(|(var, place)| (*var, place.clone()))
        .collect();
    let mut pick = |count: usize| (count > 0).then(|| random.below(count as u64) as usize);
    let mut layout = Layout::placed(&circuits.places);
    // The names that show an array go where it goes.
    let mut with = |changes: &[(VarId, Place)]| {
        let all = circuits.places.iter().map(|(var, place)| (*var, place.clone()));
        layout.places = Some(all.chain(changes.iter().cloned()).collect::<Places>());
    };
    match damage {
        Damage::Packed | Damage::Ended => {
            let mut layout = Layout::packed(code, circuits);
            let schedule = schedule(code, circuits, 1);
            let bytes = |at: usize| {
                let made = &schedule.blocks[at].0;
                made.lifetime.size as usize * made.element_bytes
            };
            let packed: Vec<usize> = (0..schedule.blocks.len())
                .filter(|at| matches!(schedule.blocks[*at].1, Home::Entry { .. }) && bytes(*at) > 0)
                .collect();
            let b = packed[pick(packed.len())?];
            let (born, dead) = schedule.blocks[b].0.span;
            let meanwhile = |at: &usize| {
                let made = schedule.blocks[*at].0.span.0;
                damage == Damage::Packed || born < made && made <= dead
            };
            let packed: Vec<usize> = packed.into_iter().filter(meanwhile).collect();
            let a = packed[pick(packed.len())?];
            let to = *layout.slots.get(&schedule.blocks[b].0.array)?;
            layout.slots.insert(schedule.blocks[a].0.array, to);
            layout.bytes = layout.bytes.max(to + bytes(a));
            return (a != b).then_some(layout);
        }
        Damage::Over => {
            let kernels = code.body.stms.iter().filter(|stm| matches!(stm.rhs, Rhs::Kernel { .. }));
            let results: Vec<VarId> = kernels.flat_map(|stm| stm.pat.iter().copied()).collect();
            let result = results[pick(results.len())?];
            let shape = |var: VarId| code.vars[var].ty.as_ref().map(|ty| (ty.elem, ty.shape.clone()));
            let before: Vec<VarId> = circuits
                .places
                .iter()
                .map(|(var, _)| *var)
                .filter(|var| *var < result && shape(*var) == shape(result))
                .collect();
            layout.forced = BTreeMap::from([(result, before[pick(before.len())?])]);
            return Some(layout);
        }
        Damage::Forced => {
            let operands = circuits.outcomes.iter().flat_map(|outcome| &outcome.operands);
            let refused: Vec<_> =
                operands.map(|operand| &operand.refused).filter(|all| !all.is_empty()).collect();
            let refused = refused[pick(refused.len())?];
            // What was put into a block that is elsewhere now stays outside.
            let gone = |block: &VarId| refused.iter().any(|(var, _)| var == block);
            let places = circuits.places.iter().map(|(var, place)| (*var, place.clone()));
            let left = places.filter(|(_, place)| !gone(&place.block));
            layout.places = Some(left.chain(refused.iter().cloned()).collect());
            return Some(layout);
        }
        _ => {}
    }
    let (var, place) = made[pick(made.len())?].clone();
    let new = match damage {
        Damage::Shifted => {
            let by = [1, -1, 2][pick(3)?];
            let offset = place.view.offset.plus(&Form::constant(by))?;
            Place { block: place.block, view: moved(&offset, axes(&place.view)) }
        }
        Damage::Turned => {
            let mut axes = axes(&place.view);
            if axes.len() > 1 && pick(2)? == 0 {
                let stride = axes[0].1.clone();
                axes[0].1 = std::mem::replace(&mut axes[1].1, stride);
                Place { block: place.block, view: moved(&place.view.offset, axes) }
            } else {
                Place { block: place.block, view: place.view.reverse()? }
            }
        }
        Damage::Elsewhere => {
            let (_, other) = made[pick(made.len())?].clone();
            let offset = Form::constant(pick(4)? as i64);
            Place { block: other.block, view: moved(&offset, axes(&place.view)) }
        }
        Damage::Same => {
            let size = |view: &Moving| view.axes().map(|(size, _)| size).collect::<Vec<_>>();
            let all: Vec<(VarId, Place)> =
                circuits.places.iter().map(|(var, place)| (*var, place.clone())).collect();
            let alike: Vec<Place> = all
                .into_iter()
                .filter(|(other, at)| *other != var && size(&at.view) == size(&place.view) && *at != place)
                .map(|(_, place)| place)
                .collect();
            alike[pick(alike.len())?].clone()
        }
        Damage::Large => {
            let mut axes = axes(&place.view);
            let at = pick(axes.len())?;
            axes[at].0 = axes[at].0.plus(&Form::constant(1))?;
            Place { block: place.block, view: moved(&place.view.offset, axes) }
        }
        Damage::InPlace => {
            let mut updates = Vec::new();
            code.body.visit_stms(&mut |stm| {
                if let Rhs::Update { array, .. } = &stm.rhs {
                    updates.push((stm.pat[0], *array));
                }
            });
            updates.retain(|(var, array)| circuits.places.get(var) != circuits.places.get(array));
            let (var, array) = updates[pick(updates.len())?];
            // With it, all that lie in its block for the same reason.
            let (from, to) = (circuits.places.get(&var)?.clone(), circuits.places.get(&array)?.clone());
            let all = made.iter().filter(|(_, place)| *place == from);
            let changes: Vec<(VarId, Place)> = all.map(|(other, _)| (*other, to.clone())).collect();
            with(&changes);
            return Some(layout);
        }
        Damage::Packed | Damage::Ended | Damage::Over | Damage::Forced => return None,
    };
    if new == place {
        return None;
    }
    // With it, those that are equal to it, half of the time.
    let also = pick(2)? == 0;
    let all = made.iter().filter(|(other, at)| *other == var || also && *at == place);
    let changes: Vec<(VarId, Place)> = all.map(|(other, _)| (*other, new.clone())).collect();
    with(&changes);
    Some(layout)
}

/// What the machine is told.
fn decided_places(layout: &Layout) -> Decisions {
    let mut decisions = Decisions::default();
    for (var, place) in layout.places.iter().flat_map(Places::iter) {
        decisions.homes.insert(*var, home(place.block, &place.view));
    }
    for (var, slot) in &layout.slots {
        decisions.memory.insert(*var, Memory::At { memory: 0, first: *slot as i64 });
    }
    for var in &layout.turns {
        decisions.memory.insert(*var, Memory::InTurn(IN_TURN as u32));
    }
    decisions.over.extend(layout.forced.iter().map(|(var, array)| (*var, *array)));
    decisions
}

/// Whether some order gives another result, or writes or reads outside a block; nothing if it takes too long.
fn is_wrong(region: &CheckedRegion, observed: &Observed, layout: &Layout) -> Option<bool> {
    let layout = Layout { trusted: true, ..layout.clone() };
    for inputs in 0..3 {
        let way = Way { inputs, limit: 400_000, ..Way::default() };
        let plain = run(region, observed, &Layout::default(), way).ok()?;
        for order in 1..=ORDERS {
            match run(region, observed, &layout, Way { order, ..way }) {
                Ok(other) if agree(&plain, &other) => {}
                Ok(_) => return Some(true),
                Err(error) if error.starts_with("place ") => return Some(true),
                Err(error) if error == TOO_LONG => return None,
                // The decisions contradict themselves.
                Err(_) => return None,
            }
        }
    }
    Some(false)
}

/// By kind: wrong ones that were refused, missed, too large; of those not seen to be wrong, proved and refused; and how
/// many of the first were refused for an element that is not there.
type Counts = BTreeMap<Damage, [usize; 6]>;

fn damage_all(
    region: &CheckedRegion,
    observed: &Observed,
    random: &mut Random,
    counts: &mut Counts,
    missed: &mut Vec<String>,
    name: &str,
) {
    let circuits = circuits(region.region(), observed);
    for damage in ALL {
        let Some(layout) = damaged(region, &circuits, random, damage) else { continue };
        let Some(wrong) = is_wrong(region, observed, &layout) else { continue };
        let decisions = decided_places(&layout);
        let verdict = check(region, observed, &decisions, Budget::default());
        by_sets_is_right(region, observed, &decisions, name);
        let counts = counts.entry(damage).or_default();
        match (wrong, &verdict) {
            (true, Verdict::Refused(violation)) => {
                counts[0] += 1;
                let by_element = ["should be at place", "in no order"];
                counts[5] += usize::from(by_element.iter().any(|words| violation.text.contains(words)));
            }
            (true, Verdict::TooLarge(_)) => counts[2] += 1,
            (true, Verdict::Proved) => {
                counts[1] += 1;
                let before = decided_places(&Layout::placed(&circuits.places));
                let mut changed = String::new();
                for (var, home) in &decisions.homes {
                    if before.homes.get(var) != Some(home) {
                        changed += &format!("{}: {home:?}\n", region.region().name_of(*var));
                    }
                }
                missed.push(format!(
                    "{name} {damage:?}\n{changed}{:?} {:?}\n{}{}",
                    decisions.over,
                    decisions.memory,
                    galopvm_kir::text::print_region(region.region()),
                    circuits.text(region.region())
                ));
            }
            (false, Verdict::Refused(_)) => counts[4] += 1,
            (false, _) => counts[3] += 1,
        }
    }
}

/// What sets say is what elements say.
fn by_sets_is_right(region: &CheckedRegion, observed: &Observed, decisions: &Decisions, name: &str) {
    let all = Budget::default();
    let by_sets = check(region, observed, decisions, Budget { elements: 0, ..all });
    let by_elements = check(region, observed, decisions, Budget { questions: 0, ..all });
    let contradict = matches!(
        (&by_sets, &by_elements),
        (Verdict::Proved, Verdict::Refused(_)) | (Verdict::Refused(_), Verdict::Proved)
    );
    assert!(!contradict, "{name}: {by_sets:?} by sets, {by_elements:?} by elements");
}

#[test]
fn wrong_decisions_are_refused() {
    let rounds = rounds(250);
    let (mut counts, mut missed) = (Counts::new(), Vec::new());
    for seed in 0..rounds {
        for (kind, written) in [("constructs", constructs::written(seed)), ("parts", parts::written(seed))] {
            let (env, text) = written;
            let (region, observed) = case::region_of(&env, &text).expect("a region");
            let mut random = Random::new(seed);
            let name = format!("{kind} {seed}");
            damage_all(&region, &observed, &mut random, &mut counts, &mut missed, &name);
        }
    }
    let mut refused = 0;
    for (damage, [right, missed, large, proved, strict, by_element]) in &counts {
        println!(
            "{damage:?}: of wrong ones {right} refused ({by_element} for an element), {missed} missed, {large} too large; of others {proved} not refused, {strict} refused"
        );
        refused += right;
        assert!(rounds < 250 || *right >= 10, "{damage:?}");
    }
    assert!(
        missed.is_empty(),
        "{} missed\n{}",
        missed.len(),
        missed.iter().take(3).cloned().collect::<Vec<_>>().join("\n\n")
    );
    assert!(rounds < 250 || refused >= 200, "{refused}");
}

#[test]
fn a_refusal_says_where_what_is_lost() {
    let env = "size n = 4, i = 1
        array xs : [n][n]f32 rc 1";
    let text = "let ys = kernel j < n do let v : f32 = f(j) in v
         let zs = kernel j2 < n do let w = xs[i, j2] in w
         let xs2 = xs with [i, 0 :+ n * 1] = ys";
    let (region, observed) = case::region_of(env, text).expect("a region");
    let circuits = circuits(region.region(), &observed);
    let named = |name: &str| {
        let named = region.region().vars.iter_ids().find(|(_, var)| var.name == name);
        named.map(|(var, _)| var).expect("a name")
    };
    let mut decisions = decided_places(&Layout::placed(&circuits.places));
    let row = vec![(Form::constant(4), Form::constant(1))];
    decisions.homes.insert(named("ys"), home(named("xs"), &moved(&Form::constant(4), row)));
    let verdict = check(&region, &observed, &decisions, Budget::default());
    let Verdict::Refused(violation) = verdict else { panic!("{verdict:?}") };
    let words = "at `w`, j2 = 0: element 0 of `xs` should be at place 4 of the block of `xs`, \
                 where is element 0 of what `ys` made";
    assert_eq!(violation.text, words);
}
