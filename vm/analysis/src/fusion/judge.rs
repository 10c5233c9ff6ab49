//! Whether a fusion is right, and whether it pays. The answers say what the change needs, or why not.

use super::known::{Known, body_nodes};
use super::price::{ACCESS, BESIDE_A_WRITE, Sizes, Unwritten};
use super::prove::Prover;
use super::reads::{Round, Site, Uses, Way, covers, uses};
use super::reason::Reason;
use super::traps::exp_is_safe;
use super::view::shape_of;
use super::{MOST_NODES, MOST_RESULTS};
use galopvm_kir::walk::Part;
use galopvm_kir::{ArrayOp, Axis, Body, Exp, Region, Rhs, Stm, VarId};
use galopvm_lmad::Polynomial;
use std::collections::{BTreeMap, BTreeSet};

/// A statement as a kernel: what it computes for each place of some axes.
#[derive(Clone, Debug)]
pub(super) struct Maker {
    pub axes: Vec<Axis>,
    pub body: Body,
}

/// A place where elements are computed, for the reads at the same index.
#[derive(Clone, Debug)]
pub(super) struct Copy {
    pub way: Way,
    pub stm: usize,
    pub index: Vec<Exp>,
    pub around: Vec<Round>,
    pub sites: Vec<Site>,
}

/// A fusion that is right: a statement is computed where others read it.
#[derive(Clone, Debug)]
pub(super) struct Fuse {
    pub maker: Maker,
    /// By reading statement.
    pub copies: BTreeMap<usize, Vec<Copy>>,
    /// Views that are no longer needed.
    pub views: BTreeSet<VarId>,
}

/// A join that is right.
#[derive(Clone, Debug)]
pub(super) struct Join {
    /// The joined statement stands where the second stood, not where the first did.
    pub late: bool,
    /// Reads of the first's results by the second.
    pub sites: Vec<Site>,
    /// Results of the first that nobody else reads; what is read of them has a name after the change.
    pub unread: BTreeSet<VarId>,
    /// Arrays that both read at the same place.
    pub shared: BTreeSet<VarId>,
    /// How many bytes each iteration need not load and store.
    pub bytes: u64,
}

/// A statement as a kernel; an array of numbers in order or of copies is one, too. The names of new axes are added to
/// the region.
pub(super) fn maker(region: &mut Region, stm: &Stm) -> Option<Maker> {
    let mut axis = |bound: &Exp| {
        let ty = galopvm_kir::Type::scalar(galopvm_base::ElemType::I64);
        Axis { var: region.fresh("at", Some(ty)), bound: bound.clone() }
    };
    match &stm.rhs {
        Rhs::Kernel { axes, body } => Some(Maker { axes: axes.clone(), body: body.clone() }),
        Rhs::Array(ArrayOp::Iota(extent)) => {
            let axis = axis(extent);
            let results = vec![Exp::Var(axis.var)];
            Some(Maker { axes: vec![axis], body: Body { stms: Vec::new(), results } })
        }
        Rhs::Array(ArrayOp::Replicate { shape, value }) => {
            let axes = shape.iter().map(&mut axis).collect();
            Some(Maker { axes, body: Body { stms: Vec::new(), results: vec![value.clone()] } })
        }
        _ => None,
    }
}

/// Whether the results of a statement can be computed where they are read.
pub(super) fn judge_fuse(
    region: &Region,
    body: &Body,
    at: usize,
    maker: Maker,
    known: &mut Known,
) -> Result<Fuse, Reason> {
    let stm = &body.stms[at];
    let Uses { users, views, held } = uses(region, body, at, maker.axes.len(), known);
    if held {
        return Err(Reason::Held());
    }
    if users.is_empty() {
        return Err(Reason::Unread());
    }
    let mut read: BTreeMap<usize, Vec<Site>> = BTreeMap::new();
    for (user, sites) in users {
        read.insert(user, sites?);
    }
    let is_safe = known.cannot_trap(region, stm, &maker);
    let prover = &mut known.prover;
    if matches!(stm.rhs, Rhs::Array(_)) {
        for axis in &maker.axes {
            let bound = prover.polynomial(&axis.bound);
            if !prover.is_not_negative(&bound) {
                return Err(Reason::ExtentMayBeNegative());
            }
        }
    }
    if !is_safe {
        let covering: Vec<VarId> = read
            .values()
            .flatten()
            .filter(|site| covers(site, &maker.axes, prover))
            .map(|site| site.of)
            .collect();
        if covering.is_empty() {
            return Err(Reason::MayTrap());
        }
        let mark = prover.mark();
        prover.enter(&maker.axes);
        let results = stm.pat.iter().zip(&maker.body.results);
        let lost = results
            .filter(|(var, _)| !covering.contains(var))
            .any(|(_, exp)| !exp_is_safe(region, exp, prover));
        prover.forget(mark);
        if lost {
            return Err(Reason::ResultMayTrap());
        }
    }
    for user in read.keys() {
        if let Some((array, by)) = updated_between(region, body, at, *user, known) {
            return Err(Reason::Updated(array, by));
        }
    }
    let copies: BTreeMap<usize, Vec<Copy>> =
        read.into_iter().map(|(user, sites)| (user, copies(user, sites))).collect();
    let own = body_nodes(&maker.body);
    for (user, copies) in &copies {
        let nodes = known.mention(&body.stms[*user]).nodes + copies.len() * own;
        if nodes > MOST_NODES {
            let reader = body.stms[*user].pat[0];
            return Err(Reason::TooLarge(reader, nodes as u64, MOST_NODES as u64));
        }
    }
    Ok(Fuse { maker, copies, views })
}

/// Reads at one index share a computation, if one of the places sees the other.
fn copies(user: usize, mut sites: Vec<Site>) -> Vec<Copy> {
    sites.sort_by_key(|site| (site.way.len(), site.stm));
    let mut copies: Vec<Copy> = Vec::new();
    for site in sites {
        debug_assert!(site.way.first().is_some_and(|(stm, _)| *stm == user));
        let place_in = |way: &Way| site.way.get(way.len()).map_or(site.stm, |(stm, _)| *stm);
        let seen = copies.iter().position(|copy| {
            copy.index == site.index && site.way.starts_with(&copy.way) && copy.stm <= place_in(&copy.way)
        });
        match seen {
            Some(k) => copies[k].sites.push(site),
            None => copies.push(Copy {
                way: site.way.clone(),
                stm: site.stm,
                index: site.index.clone(),
                around: site.around.clone(),
                sites: vec![site],
            }),
        }
    }
    copies
}

/// What a fusion saves, and whether it does so for the observed sizes only; an error if it computes more than it saves.
/// `in_kernel`: the body is part of a kernel, and runs in turn as it is.
pub(super) fn price_fuse(
    region: &Region,
    body: &Body,
    at: usize,
    fuse: &Fuse,
    (sizes, in_kernel): (&Sizes, bool),
    prover: &mut Prover,
) -> Result<(Unwritten, bool), Reason> {
    let axes = &fuse.maker.axes;
    let elements = sizes.runs(axes);
    let made = extent_of(axes, prover);
    let mut runs = 0u64;
    let mut assumed = !sizes.are_known(axes);
    let (mut loads, mut load_bytes) = (0u64, 0u64);
    let mut is_in_place = true;
    for copy in fuse.copies.values().flatten() {
        let around: Vec<Axis> = copy.around.iter().filter_map(Round::axis).cloned().collect();
        // The same places, as often as not, whatever the sizes are.
        let same = extent_of(&around, prover) == made && !copy.around.contains(&Round::While);
        is_in_place &= same;
        runs = runs.saturating_add(if same { elements } else { sizes.runs_around(&copy.around) });
        for site in &copy.sites {
            let times = sizes.runs_around(&site.read_around);
            let bytes = region.vars[site.of].ty.as_ref().map_or(0, |ty| ty.elem.bytes() as u64);
            loads = loads.saturating_add(times);
            load_bytes = load_bytes.saturating_add(times.saturating_mul(bytes));
            assumed |= site.read_around.iter().any(|round| match round.axis() {
                Some(axis) => !sizes.are_known(std::slice::from_ref(axis)),
                None => *round == Round::While,
            });
        }
    }
    let cost = sizes.cost_over(region, axes, &fuse.maker.body);
    // What ran in parallel would run in turn.
    let in_turn = |copy: &Copy| {
        copy.around.iter().any(|round| matches!(round, Round::Loop(_) | Round::While))
            && !copy.around.iter().any(|round| matches!(round, Round::Axis(_)))
    };
    for (user, copies) in &fuse.copies {
        let most = match &body.stms[*user].rhs {
            Rhs::Scatter { .. } => BESIDE_A_WRITE,
            _ => 2 * ACCESS,
        };
        if !in_kernel && cost.work > most && copies.iter().any(in_turn) {
            return Err(Reason::InTurn(body.stms[*user].pat[0], cost.work));
        }
    }
    let before = elements
        .saturating_mul(cost.work.saturating_add(ACCESS))
        .saturating_add(loads.saturating_mul(ACCESS));
    let after = runs.saturating_mul(cost.work);
    if runs > elements && after > before {
        return Err(Reason::TooDear(runs, elements, cost.work));
    }
    let mut stores = 0u64;
    for var in &body.stms[at].pat {
        let Some(ty) = &region.vars[*var].ty else { continue };
        stores = stores.saturating_add(sizes.elements(&ty.shape).saturating_mul(ty.elem.bytes() as u64));
    }
    let again = runs.saturating_sub(elements).saturating_mul(cost.bytes);
    let bytes = stores.saturating_add(load_bytes).saturating_sub(again);
    // Once for each element, or as little as a load, or so often and so much for all sizes alike.
    let is_once = is_in_place && fuse.copies.values().flatten().count() == 1;
    let is_straight = fuse.maker.body.stms.iter().all(|stm| matches!(stm.rhs, Rhs::Exps(_)));
    let is_for_sizes = !(is_once || is_straight && (is_in_place || cost.work <= ACCESS));
    Ok((Unwritten { bytes, assumed: assumed.then_some(elements) }, is_for_sizes))
}

fn extent_of(axes: &[Axis], prover: &mut Prover) -> Polynomial {
    axes.iter().fold(Polynomial::number(1), |product, axis| product.times(&prover.polynomial(&axis.bound)))
}

/// An array that a statement reads and that is updated between two statements, and by which.
fn updated_between(
    region: &Region,
    body: &Body,
    from: usize,
    to: usize,
    known: &mut Known,
) -> Option<(VarId, VarId)> {
    // A loop that reads may update, too.
    let end = to + usize::from(body.stms[to].rhs.parallel_axes().is_empty());
    let between = &body.stms[from + 1..end];
    let mut updates: Vec<(VarId, VarId)> = Vec::new();
    for stm in between {
        if !known.mention(stm).updates {
            continue;
        }
        let mut see = |stm: &Stm| match &stm.rhs {
            Rhs::Update { array, .. } => updates.push((*array, stm.pat[0])),
            Rhs::Scatter { arrays, .. } => {
                updates.extend(arrays.iter().copied().zip(stm.pat.iter().copied()));
            }
            _ => {}
        };
        see(stm);
        stm.rhs.each_part(&mut |part| {
            if let Part::Body(inner) = part {
                inner.visit_stms(&mut see);
            }
        });
    }
    if updates.is_empty() {
        return None;
    }
    let mut roots: BTreeMap<VarId, VarId> = BTreeMap::new();
    body.visit_stms(&mut |stm| {
        let of = match &stm.rhs {
            Rhs::Exps(exps) => match exps.as_slice() {
                [Exp::Var(var)] => Some(*var),
                [Exp::Read(read)] => Some(read.array),
                _ => None,
            },
            Rhs::Array(ArrayOp::View { array: Exp::Var(var), .. }) => Some(*var),
            // What a loop carries starts as its initial value.
            Rhs::For { carried, init, .. } | Rhs::While { carried, init, .. } => {
                for (var, exp) in carried.iter().zip(init) {
                    if let Exp::Var(other) = exp {
                        let root = roots.get(other).copied().unwrap_or(*other);
                        roots.insert(*var, root);
                    }
                }
                None
            }
            _ => None,
        };
        if let (Some(of), [var]) = (of, stm.pat.as_slice()) {
            let root = roots.get(&of).copied().unwrap_or(of);
            roots.insert(*var, root);
        }
    });
    let root = |var: VarId| roots.get(&var).copied().unwrap_or(var);
    let read: BTreeSet<VarId> = body.stms[from]
        .free_vars()
        .into_iter()
        .filter(|var| !shape_of(region, *var).is_empty())
        .map(root)
        .collect();
    updates.into_iter().map(|(array, by)| (root(array), by)).find(|(array, _)| read.contains(array))
}

/// Whether two statements of a body, in this order, can become one; no reason if they are too different. `used`: what
/// happens to the results of the first one.
pub(super) fn judge_join(
    region: &Region,
    body: &Body,
    (first, used): (usize, &Uses),
    second: usize,
    known: &mut Known,
) -> Option<Join> {
    let (a, b) = (&body.stms[first], &body.stms[second]);
    let (axes, other_axes) = (a.rhs.parallel_axes(), b.rhs.parallel_axes());
    let same_axes =
        axes.len() == other_axes.len() && axes.iter().zip(other_axes).all(|(x, y)| x.bound == y.bound);
    let same_kind = match (&a.rhs, &b.rhs) {
        _ if !same_axes => false,
        (Rhs::Kernel { .. }, Rhs::Kernel { .. }) => true,
        (Rhs::Reduce { combine: x, .. }, Rhs::Reduce { combine: y, .. })
        | (Rhs::Scan { combine: x, .. }, Rhs::Scan { combine: y, .. }) => {
            // Operators that are no scalar operations would slow down those that are.
            x.scalar_ops().is_some() == y.scalar_ops().is_some()
        }
        _ => false,
    };
    if !same_kind || a.pat.len() + b.pat.len() > MOST_RESULTS {
        return None;
    }
    let theirs = known.mention(b);
    if known.mention(a).nodes + theirs.nodes > MOST_NODES {
        return None;
    }
    let sites: &[Site] = match used.users.get(&second) {
        Some(Ok(sites)) => sites,
        Some(Err(_)) => return None,
        None => &[],
    };
    let kernel = matches!(a.rhs, Rhs::Kernel { .. });
    let at_home = |site: &Site| {
        kernel
            && site.direct
            && site.rest.is_empty()
            && site.index.iter().zip(other_axes).all(|(at, axis)| *at == Exp::Var(axis.var))
    };
    let is_result = |var: &VarId| a.pat.contains(var) || used.views.contains(var);
    if theirs.used().iter().any(is_result) {
        // Views inside the second statement would lose their array.
        let mut mentioned = 0;
        b.rhs.each_use(&mut |var| {
            mentioned += usize::from(is_result(&var));
        });
        if mentioned != sites.len() || !sites.iter().all(at_home) {
            return None;
        }
    } else if !sites.is_empty() {
        return None;
    }
    let unread: BTreeSet<VarId> = sites
        .iter()
        .map(|site| site.of)
        .filter(|var| !is_used_apart(body, (first, second), *var, known))
        .collect();
    let (shared, mut bytes) = shared_reads(region, a, b, known);
    for var in sites.iter().map(|site| &site.of).chain(&unread) {
        bytes += region.vars[*var].ty.as_ref().map_or(0, |ty| ty.elem.bytes() as u64);
    }
    if shared.is_empty() && sites.is_empty() {
        return None;
    }
    let between = &body.stms[first + 1..second];
    let late = !between.iter().any(|stm| known.mention(stm).used().iter().any(is_result))
        && updated_between(region, body, first, second, known).is_none();
    if !late {
        let needed = b.free_vars();
        if between.iter().flat_map(|stm| &stm.pat).any(|var| needed.contains(var)) {
            return None;
        }
    }
    Some(Join { late, sites: sites.to_vec(), unread, shared, bytes })
}

/// Whether a name is used by anything but two statements of its body.
fn is_used_apart(body: &Body, both: (usize, usize), name: VarId, known: &mut Known) -> bool {
    let mut used = false;
    body.results.iter().for_each(|exp| exp.each_use(&mut |var| used |= var == name));
    let others = body.stms.iter().enumerate().filter(|(number, _)| *number != both.0 && *number != both.1);
    used || others.into_iter().any(|(_, stm)| known.mention(stm).uses(name))
}

/// Arrays that both statements read at the same place in each iteration; the bytes that these are.
fn shared_reads(region: &Region, a: &Stm, b: &Stm, known: &mut Known) -> (BTreeSet<VarId>, u64) {
    let (mut shared, mut bytes) = (BTreeSet::new(), 0);
    let (mine, theirs) = (known.mention(a), known.mention(b));
    let is_array = |var: &VarId| !shape_of(region, *var).is_empty();
    if !mine.used().iter().any(|var| theirs.uses(*var) && is_array(var)) {
        return (shared, bytes);
    }
    let (mine, theirs) = (known.places(region, a), known.places(region, b));
    for (array, _) in mine.intersection(&theirs) {
        shared.insert(*array);
        bytes += region.vars[*array].ty.as_ref().map_or(0, |ty| ty.elem.bytes() as u64);
    }
    (shared, bytes)
}
