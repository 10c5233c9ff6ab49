//! Producers first: a fresh result may be born in the layout that its consumer wishes.
//!
//! Births of a result are compared with copying it: where it is born, along which lane of its producer, and what each
//! run of the consumer then costs. What a loop carries may take a layout this way, once, if the initial value
//! and the value of each round both accept it.

use super::class::{Class, class};
use super::cost::Pricing;
use super::order::{order_text, wish};
use crate::index::{Role, Row};
use galopvm_kir::{Body, Exp, Region, Rhs, VarId};
use galopvm_lmad::Lmad;

/// One way to give a consumer what it reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Birth {
    /// The order in which the result is born, if not its own.
    pub order: Option<Vec<usize>>,
    /// A copy is made for the consumer.
    pub copied: bool,
    /// The lane of the producer.
    pub lane: VarId,
    /// Paid once.
    pub once: Vec<u64>,
    /// Paid in each run of the consumer.
    pub each: u64,
    /// What it is, in words.
    pub words: String,
}

impl Birth {
    /// The time of all with so many runs of the consumer.
    pub fn total(&self, runs: u64) -> u64 {
        self.once.iter().copied().fold(self.each.saturating_mul(runs), u64::saturating_add)
    }

    /// The parts of one run: `2097152 + 8388608`.
    pub fn text(&self) -> String {
        let parts: Vec<String> = self.once.iter().chain([&self.each]).map(u64::to_string).collect();
        parts.join(" + ")
    }
}

/// The letter of the k-th option.
fn letter(k: usize) -> String {
    format!("({})", char::from(b'a' + (k % 26) as u8))
}

/// The options in words: `options for Y : (a) row-major, kernel 2 strided ; (b) row-major + manifest`.
pub fn births_text(region: &Region, array: VarId, births: &[Birth]) -> String {
    let each = births.iter().enumerate().map(|(k, birth)| format!("{} {}", letter(k), birth.words));
    format!("options for {} : {}", region.name_of(array), each.collect::<Vec<_>>().join(" ; "))
}

/// Their times: `(a) 2097152 + 8388608 ; (b) 2097152 + 3670016 + 1048576`.
pub fn times_text(births: &[Birth]) -> String {
    let each = births.iter().enumerate().map(|(k, birth)| format!("{} {}", letter(k), birth.text()));
    each.collect::<Vec<_>>().join(" ; ")
}

/// The best one for so many runs of the consumer; the first of equals.
pub fn choose(births: &[Birth], runs: u64) -> Option<usize> {
    (0..births.len()).min_by_key(|k| births[*k].total(runs))
}

/// The choice for some numbers of runs: `choose (b) when R = 1 ; (b) when R = 20`.
pub fn choose_text(births: &[Birth], runs: &[u64]) -> String {
    let each = runs
        .iter()
        .filter_map(|runs| choose(births, *runs).map(|k| format!("{} when R = {runs}", letter(k))));
    format!("choose {}", each.collect::<Vec<_>>().join(" ; "))
}

impl Pricing<'_> {
    /// The ways to have a fresh result born, for its first consumer.
    pub fn births(&self, region: &Region, array: VarId) -> Option<Vec<Birth>> {
        let table = self.table;
        let kernels = self.kernels();
        let number = |kernel: VarId| kernels.iter().position(|other| *other == kernel).map(|k| k + 1);
        let write = table.rows.iter().position(|row| row.array == array && row.role == Role::Fresh)?;
        let read = table.reads().find(|row| row.array == array)?;
        let (producer, consumer) = (table.kernel(&table.rows[write])?, table.kernel(read)?);
        let (producing, consuming) = (number(producer)?, number(consumer)?);
        let consumer_lane = self.lane_axes(consumer).pop()?;
        let shape = table.array(array)?.shape.as_ref()?;
        let order = wish(table, read, self.target).order;
        let wished = Lmad::manifest(shape, &order);
        let now = self.access_now(read, consumer_lane);
        let then = self.access(read, consumer_lane, Some(&wished)).time;
        let others = |lane: VarId| -> u64 {
            let rows = self.rows_of(producer).into_iter().filter(|row| *row != write);
            rows.map(|row| self.access_now(&table.rows[row], lane).time).fold(0, u64::saturating_add)
        };
        let lanes = self.lane_axes(producer);
        let usual =
            |lane: &VarId| others(*lane).saturating_add(self.access_now(&table.rows[write], *lane).time);
        // The last of equals is the declared innermost one.
        let best = lanes.iter().copied().rev().min_by_key(usual)?;
        let elements = table.array(array)?.elements()?.unsigned_abs();
        let cost = self.copy(elements, table.array(array)?.element_bytes().unsigned_abs());
        let strided = matches!(now.class, Class::Gather(_) | Class::Tile(_) | Class::Data);
        let as_it_is = if strided { format!(", kernel {consuming} strided") } else { String::new() };
        let mut births = vec![
            Birth {
                order: None,
                copied: false,
                lane: best,
                once: vec![usual(&best)],
                each: now.time,
                words: format!("row-major{as_it_is}"),
            },
            Birth {
                order: None,
                copied: true,
                lane: best,
                once: vec![usual(&best), cost],
                each: then,
                words: "row-major + manifest".into(),
            },
        ];
        for lane in lanes {
            let written = self.access(&table.rows[write], lane, Some(&wished));
            let mut once_strided: Vec<String> = self
                .rows_of(producer)
                .into_iter()
                .map(|row| &table.rows[row])
                .filter(|row| !matches!(row.role, Role::Fresh))
                .filter(|row| strides(class(table, row, lane)))
                .map(|row| format!("{} {} strided once", region.name_of(row.array), verb(row)))
                .collect();
            if strides(written.class) {
                once_strided.push(format!("{} written strided once", region.name_of(array)));
            }
            let name = match order.as_slice() {
                [1, 0] => "column-major".into(),
                other => order_text(other),
            };
            births.push(Birth {
                order: Some(order.clone()),
                copied: false,
                lane,
                once: vec![others(lane), written.time],
                each: then,
                words: format!(
                    "born {name}, kernel {producing} lane {} ({})",
                    region.name_of(lane),
                    if once_strided.is_empty() { "nothing strided".into() } else { once_strided.join(", ") }
                ),
            });
        }
        Some(births)
    }
}

fn strides(class: Class) -> bool {
    matches!(class, Class::Gather(_) | Class::Tile(_) | Class::Data)
}

fn verb(row: &Row) -> &'static str {
    if matches!(row.role, Role::Read(_)) { "read" } else { "written" }
}

/// Whether an array can be asked to lie differently where it is made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Acceptance {
    /// These fresh results take the layout; a copy of each of these others is made once, before the loop.
    Accepts {
        /// Results of kernels.
        born: Vec<VarId>,
        /// Initial values that somebody else made.
        copied: Vec<VarId>,
    },
    /// This array is made by something that knows one layout only.
    Refuses(VarId),
}

/// Who would have to make an array in another layout, so that nobody copies it in each round.
pub fn acceptance(region: &Region, array: VarId) -> Acceptance {
    let mut born = Vec::new();
    let mut copied = Vec::new();
    if region.params.contains(&array) {
        return Acceptance::Accepts { born, copied: vec![array] };
    }
    match sources(&region.body, array) {
        Some(Sources::Fresh) => born.push(array),
        Some(Sources::Carried { init, next }) => {
            for (source, is_initial) in [(init, true), (next, false)] {
                match source {
                    // Handed on as it is.
                    Some(source) if source == array => {}
                    Some(source) => match sources(&region.body, source) {
                        Some(Sources::Fresh) => born.push(source),
                        _ if is_initial => copied.push(source),
                        _ => return Acceptance::Refuses(source),
                    },
                    None => return Acceptance::Refuses(array),
                }
            }
        }
        None => return Acceptance::Refuses(array),
    }
    Acceptance::Accepts { born, copied }
}

/// What makes an array.
enum Sources {
    Fresh,
    Carried { init: Option<VarId>, next: Option<VarId> },
}

fn sources(body: &Body, array: VarId) -> Option<Sources> {
    let name = |exp: Option<&Exp>| match exp {
        Some(Exp::Var(var)) => Some(*var),
        _ => None,
    };
    let mut found = None;
    body.visit_stms(&mut |stm| {
        if matches!(stm.rhs, Rhs::Kernel { .. }) && stm.pat.contains(&array) {
            found = Some(Sources::Fresh);
        }
        if let Rhs::For { carried, init, body, .. } | Rhs::While { carried, init, body, .. } = &stm.rhs
            && let Some(k) = carried.iter().position(|var| *var == array)
        {
            found = Some(Sources::Carried { init: name(init.get(k)), next: name(body.results.get(k)) });
        }
    });
    found
}
