//! The change: copies into other layouts are made, and accesses go to them.
//!
//! Accesses are renamed one by one, not array by array, so that two uses of one array may have two layouts. A copy
//! is made at the outermost place where its array is known and where it is not made more often than the branches
//! around the accesses allow (a branch is left only if it was seen to be taken at least half the time), hence
//! outside every loop that does not change the array, and never inside a kernel. Accesses through views are renamed
//! in the view, or in a copy of the view if somebody else uses it too.
//!
//! A copy of a part is a copy of a view of that part; accesses to it start where the part starts. Only direct accesses
//! are sent to a part.
//!
//! The meaning stays: a layout is no part of a value. Requests that cannot be met are left out.

use super::choice::Copy;
use super::cost::Profile;
use super::part::PartCopy;
use crate::index::{Role, Row, Table};
use galopvm_base::{ElemType, ScalarOp};
use galopvm_kir::text::print_statements;
use galopvm_kir::walk::{Part, PartMut};
use galopvm_kir::{ArrayOp, Body, DimIndex, Exp, Index, Read, ReadId, Region, Rhs, Stm, Type, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// The way to a body: statements, and which of their bodies.
pub(crate) type Way = Vec<(usize, usize)>;

/// A place in front of a statement (or of the results) of a body.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Site {
    pub way: Way,
    pub stm: usize,
}

/// Where things are in a region.
#[derive(Default)]
struct Map {
    reads: BTreeMap<ReadId, Site>,
    definitions: BTreeMap<VarId, Site>,
    /// For bodies: a parallel statement is around them; the first name of the `if` that they are a side of.
    parallel: BTreeSet<Way>,
    branches: BTreeMap<Way, (VarId, bool)>,
    uses: BTreeMap<VarId, usize>,
}

/// The region with these copies made and used; its text form needs no types.
pub fn transform(region: &Region, table: &Table, copies: &[&Copy], profile: &Profile) -> Region {
    transform_with_parts(region, table, copies, &[], profile)
}

/// The region with these copies, and these copies of parts, made and used.
pub fn transform_with_parts(
    region: &Region,
    table: &Table,
    copies: &[&Copy],
    parts: &[&PartCopy],
    profile: &Profile,
) -> Region {
    let mut map = Map::default();
    map.body(&region.body, &Vec::new(), false);
    let mut change = Change { map, region: region.clone(), before: BTreeMap::new(), after: BTreeMap::new() };
    for copy in copies {
        change.copy(table, copy, None, profile);
    }
    for part in parts {
        change.copy(table, &part.copy, Some(&part.part), profile);
    }
    let Change { before, after, mut region, .. } = change;
    let body = std::mem::take(&mut region.body);
    region.body = rebuilt(body, &Vec::new(), &before, &after);
    region.renumbered()
}

/// The statements of a region without types, as case files write them.
pub fn plain_text(region: &Region) -> String {
    let mut plain = region.clone();
    plain.vars.iter_mut().for_each(|var| var.ty = None);
    print_statements(&plain)
}

impl Map {
    fn body(&mut self, body: &Body, way: &Way, parallel: bool) {
        if parallel {
            self.parallel.insert(way.clone());
        }
        for (stm, here) in body.stms.iter().enumerate() {
            let site = Site { way: way.clone(), stm };
            here.pat.iter().for_each(|var| {
                self.definitions.insert(*var, site.clone());
            });
            let parallel = parallel || !here.rhs.parallel_axes().is_empty();
            let mut number = 0;
            here.rhs.each_part(&mut |part| match part {
                Part::Exp(exp) => self.exp(exp, &site),
                Part::Use(var) => *self.uses.entry(var).or_default() += 1,
                // Known in the body that comes next.
                Part::Bind(var) => {
                    let inside: Way = way.iter().copied().chain([(stm, number)]).collect();
                    self.definitions.insert(var, Site { way: inside, stm: 0 });
                }
                Part::Body(inner) => {
                    let inside: Way = way.iter().copied().chain([(stm, number)]).collect();
                    if let (Rhs::If { .. }, Some(var)) = (&here.rhs, here.pat.first()) {
                        self.branches.insert(inside.clone(), (*var, number == 0));
                    }
                    self.body(inner, &inside, parallel);
                    number += 1;
                }
            });
        }
        let end = Site { way: way.clone(), stm: body.stms.len() };
        body.results.iter().for_each(|exp| self.exp(exp, &end));
    }

    fn exp(&mut self, exp: &Exp, site: &Site) {
        exp.visit(&mut |part| match part {
            Exp::Read(read) => {
                self.reads.insert(read.id, site.clone());
                *self.uses.entry(read.array).or_default() += 1;
            }
            Exp::Var(var) => *self.uses.entry(*var).or_default() += 1,
            _ => {}
        });
    }

    /// How many bodies of a way are entered at least half the times that they could be, or are inside a parallel
    /// statement: the copy may be made in front of them.
    fn depth(&self, way: &Way, from: usize, profile: &Profile) -> Option<usize> {
        let outside =
            (from..=way.len()).take_while(|depth| !self.parallel.contains(&way[..*depth])).last()?;
        let rare = |depth: usize| match self.branches.get(&way[..depth]) {
            Some((branch, side)) => profile.share(*branch, *side).is_none_or(|share| share < 500),
            None => false,
        };
        Some((from + 1..=outside).rev().find(|depth| rare(*depth)).unwrap_or(from))
    }
}

/// Accesses that share a copy made in one body.
struct Group<'a> {
    /// The first statement of the body that needs it.
    stm: usize,
    accesses: Vec<(ReadId, &'a Row)>,
}

struct Change {
    map: Map,
    region: Region,
    /// Statements to add in front of others, and after others.
    before: BTreeMap<Site, Vec<Stm>>,
    after: BTreeMap<Site, Vec<Stm>>,
}

impl Change {
    /// The place where the first name on the way to an access is used or made.
    fn site<'a>(&'a self, row: &Row, read: ReadId) -> Option<&'a Site> {
        match row.views.first() {
            Some(view) => self.map.definitions.get(view),
            None => self.map.reads.get(&read),
        }
    }

    fn copy(&mut self, table: &Table, copy: &Copy, part: Option<&[(i64, i64)]>, profile: &Profile) {
        let definition = self.map.definitions.get(&copy.array).cloned();
        let from = definition.as_ref().map_or(0, |site| site.way.len());
        let mut groups: BTreeMap<Way, Group<'_>> = BTreeMap::new();
        let mut wanted: Vec<(usize, Site, ReadId, &Row)> = Vec::new();
        for row in copy.rows.iter().filter_map(|row| table.rows.get(*row)) {
            let Role::Read(read) = row.role else { continue };
            if part.is_some() && !row.views.is_empty() {
                continue;
            }
            let (Some(site), Some(at)) = (self.site(row, read), self.map.reads.get(&read)) else { continue };
            let Some(depth) = self.map.depth(&site.way, from, profile) else { continue };
            // Behind a rare branch that the view itself is not behind.
            if self.map.depth(&at.way, from, profile).is_none_or(|deeper| deeper > site.way.len()) {
                continue;
            }
            wanted.push((depth, site.clone(), read, row));
        }
        wanted.sort_by_key(|(depth, ..)| *depth);
        for (depth, site, read, row) in wanted {
            let shared =
                (from..=depth).map(|depth| site.way[..depth].to_vec()).find(|way| groups.contains_key(way));
            let way = shared.unwrap_or_else(|| site.way[..depth].to_vec());
            let stm = site.way.get(way.len()).map_or(site.stm, |(stm, _)| *stm);
            let group = groups.entry(way).or_insert(Group { stm, accesses: Vec::new() });
            group.stm = group.stm.min(stm);
            group.accesses.push((read, row));
        }
        for (way, Group { stm, accesses }) in groups {
            let site = Site { way, stm };
            let from = match part {
                Some(part) => self.part_of(copy.array, part, &site),
                None => copy.array,
            };
            let ty = self.region.vars[from].ty.clone();
            let name = format!("{}'", self.region.name_of(copy.array));
            let renamed = self.region.fresh(&name, ty);
            let rhs = Rhs::Manifest { perm: copy.order.clone(), array: from };
            self.before.entry(site).or_default().push(Stm { pat: vec![renamed], rhs });
            if let Some(part) = part {
                self.start_at(&accesses, part);
            }
            self.rename(copy.array, renamed, &accesses);
        }
    }

    /// A name for a rectangle of an array.
    fn part_of(&mut self, array: VarId, part: &[(i64, i64)], site: &Site) -> VarId {
        let elem = self.region.vars[array].ty.as_ref().map(|ty| ty.elem);
        let shape = part.iter().map(|(_, count)| Exp::int(*count)).collect();
        let ty = elem.map(|elem| Type { elem, shape });
        let name = self.region.fresh(&format!("{}_part", self.region.name_of(array)), ty);
        let slice = |&(start, count): &(i64, i64)| DimIndex::Slice {
            start: Exp::int(start),
            count: Exp::int(count),
            step: Exp::int(1),
        };
        let id = ReadId(self.region.reads);
        self.region.reads += 1;
        let read = Read { id, array, index: Index::Dims(part.iter().map(slice).collect()) };
        let stm = Stm { pat: vec![name], rhs: Rhs::Exps(vec![Exp::Read(read)]) };
        self.before.entry(site.clone()).or_default().push(stm);
        name
    }

    /// Lets accesses count from the beginning of a part.
    fn start_at(&mut self, accesses: &[(ReadId, &Row)], part: &[(i64, i64)]) {
        let ids: BTreeSet<ReadId> = accesses.iter().map(|(read, _)| *read).collect();
        self.region.body.visit_exps_mut(&mut |exp| {
            exp.visit_mut(&mut |inner| {
                let Exp::Read(Read { id, index: Index::Dims(dims), .. }) = inner else { return };
                if !ids.contains(id) {
                    return;
                }
                for (dim, (start, _)) in dims.iter_mut().zip(part) {
                    if let DimIndex::At(at) = dim
                        && *start != 0
                    {
                        let whole = std::mem::replace(at, Exp::int(0));
                        *at = Exp::Op(ScalarOp::Sub, ElemType::I64, vec![whole, Exp::int(*start)]);
                    }
                }
            });
        });
    }

    /// Sends accesses to another array.
    fn rename(&mut self, array: VarId, renamed: VarId, accesses: &[(ReadId, &Row)]) {
        let direct: BTreeSet<ReadId> =
            accesses.iter().filter(|(_, row)| row.views.is_empty()).map(|(read, _)| *read).collect();
        self.set_arrays(&direct, renamed);
        // Chains of views, each with the accesses that end there.
        let mut parents: BTreeMap<VarId, VarId> = BTreeMap::new();
        let mut ends: BTreeMap<VarId, BTreeSet<ReadId>> = BTreeMap::new();
        let mut order: Vec<VarId> = Vec::new();
        for (read, row) in accesses {
            let mut parent = array;
            for view in &row.views {
                parents.insert(*view, parent);
                parent = *view;
                if !order.contains(view) {
                    order.push(*view);
                }
            }
            if parent != array {
                ends.entry(parent).or_default().insert(*read);
            }
        }
        // From the last views back: a view goes along if all its uses do.
        let mut along: BTreeMap<VarId, bool> = BTreeMap::new();
        for view in order.iter().rev() {
            let moved =
                parents.iter().filter(|(child, parent)| *parent == view && along.get(child) == Some(&true));
            let uses = ends.get(view).map_or(0, BTreeSet::len) + moved.count();
            along.insert(*view, self.map.uses.get(view) == Some(&uses));
        }
        let mut now: BTreeMap<VarId, VarId> = BTreeMap::from([(array, renamed)]);
        for view in order {
            let (Some(parent), Some(site)) = (parents.get(&view), self.map.definitions.get(&view).cloned())
            else {
                continue;
            };
            let to = now.get(parent).copied().unwrap_or(*parent);
            if along.get(&view) == Some(&true) {
                if let Some(stm) = statement_mut(&mut self.region.body, &site)
                    && let Some(exp) = view_exp_mut(stm, view)
                {
                    redirect(exp, *parent, to);
                }
                continue;
            }
            let Some(mut stm) = statement_mut(&mut self.region.body, &site).cloned() else { continue };
            let Some(exp) = view_exp_mut(&mut stm, view) else { continue };
            redirect(exp, *parent, to);
            if let (Rhs::Exps(exps), Some(k)) = (&stm.rhs, stm.pat.iter().position(|var| *var == view)) {
                stm.rhs = Rhs::Exps(vec![exps[k].clone()]);
            }
            let ty = self.region.vars[view].ty.clone();
            let name = format!("{}'", self.region.name_of(view));
            let copy = self.region.fresh(&name, ty);
            stm.pat = vec![copy];
            self.after.entry(site).or_default().push(stm);
            now.insert(view, copy);
            if let Some(reads) = ends.get(&view) {
                self.set_arrays(reads, copy);
            }
        }
    }

    fn set_arrays(&mut self, reads: &BTreeSet<ReadId>, array: VarId) {
        self.region.body.visit_exps_mut(&mut |exp| {
            exp.visit_mut(&mut |part| {
                if let Exp::Read(read) = part
                    && reads.contains(&read.id)
                {
                    read.array = array;
                }
            });
        });
    }
}

fn statement_mut<'a>(body: &'a mut Body, site: &Site) -> Option<&'a mut Stm> {
    let mut body = body;
    for (stm, number) in &site.way {
        body = inner_body(&mut body.stms.get_mut(*stm)?.rhs, *number)?;
    }
    body.stms.get_mut(site.stm)
}

fn inner_body(rhs: &mut Rhs, number: usize) -> Option<&mut Body> {
    let (mut found, mut count) = (None, 0);
    rhs.each_part_mut(&mut |part| {
        if let PartMut::Body(body) = part {
            if count == number {
                found = Some(body);
            }
            count += 1;
        }
    });
    found
}

/// The expression that a view is of.
fn view_exp_mut(stm: &mut Stm, view: VarId) -> Option<&mut Exp> {
    let k = stm.pat.iter().position(|var| *var == view)?;
    match &mut stm.rhs {
        Rhs::Exps(exps) => exps.get_mut(k),
        Rhs::Array(ArrayOp::View { array, .. }) => Some(array),
        _ => None,
    }
}

fn redirect(exp: &mut Exp, from: VarId, to: VarId) {
    match exp {
        Exp::Var(var) if *var == from => *var = to,
        Exp::Read(read) if read.array == from => read.array = to,
        _ => {}
    }
}

/// A body, at the end of a way, with statements added.
pub(crate) fn rebuilt(
    body: Body,
    way: &Way,
    before: &BTreeMap<Site, Vec<Stm>>,
    after: &BTreeMap<Site, Vec<Stm>>,
) -> Body {
    let mut stms = Vec::new();
    let count = body.stms.len();
    let added = |map: &BTreeMap<Site, Vec<Stm>>, stm: usize| {
        map.get(&Site { way: way.clone(), stm }).cloned().unwrap_or_default()
    };
    for (k, mut stm) in body.stms.into_iter().enumerate() {
        let mut number = 0;
        stm.rhs.each_part_mut(&mut |part| {
            if let PartMut::Body(inner) = part {
                let inside: Way = way.iter().copied().chain([(k, number)]).collect();
                *inner = rebuilt(std::mem::take(inner), &inside, before, after);
                number += 1;
            }
        });
        stms.extend(added(before, k));
        stms.push(stm);
        stms.extend(added(after, k));
    }
    stms.extend(added(before, count));
    Body { stms, results: body.results }
}
