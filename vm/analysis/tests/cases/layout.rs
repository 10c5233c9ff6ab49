//! Layout analysis: index tables, wished layouts, lane classes.

use crate::case::{Outcome, region};
use galopvm_analysis::index::{Row, Table, table};
use galopvm_analysis::layout::{Target, class, class_text, wish, wish_text};
use galopvm_kir::{CheckedRegion, Region, VarId};
use galopvm_testkit::cases::{Case, Section};

/// What this group takes.
pub const LINES: &[(&str, usize)] =
    &[("class", 40), ("index", 43), ("layout cpu", 27), ("layout gpu", 40), ("levels", 1), ("writes", 2)];

/// A case and its index table.
pub struct Tabled {
    /// The input.
    pub region: CheckedRegion,
    /// Its table.
    pub table: Table,
}

impl Tabled {
    /// Of a case.
    pub fn new(case: &Case) -> Result<Tabled, String> {
        let (region, observed) = region(case)?;
        let table = table(&region, &observed);
        Ok(Tabled { region, table })
    }

    /// The region.
    pub fn code(&self) -> &Region {
        self.region.region()
    }

    /// A name.
    pub fn var(&self, name: &str) -> Result<VarId, String> {
        let found = self.code().vars.iter_ids().find(|(_, var)| var.name == name);
        found.map(|(id, _)| id).ok_or_else(|| format!("no name {name}"))
    }

    /// The row that is called like this: `A x0`.
    pub fn row(&self, title: &str) -> Result<&Row, String> {
        let found = self.table.rows.iter().find(|row| row.title(self.code()) == title);
        found.ok_or_else(|| format!("no access {title}"))
    }
}

/// Takes what the table, the wishes and the classes say.
pub fn run(section: &Section, case: &Case) -> Outcome {
    let lines = |lines: &dyn Fn(&Tabled) -> Vec<String>| {
        Outcome::whole(section, Tabled::new(case).map(|tabled| lines(&tabled)))
    };
    match section.kind().unwrap_or_default() {
        "index" => lines(&|t| t.table.reads().map(|row| row.text(&t.table, &t.region)).collect()),
        "writes" => lines(&|t| t.table.writes().map(|row| row.text(&t.table, &t.region)).collect()),
        "levels" => lines(&|t| vec![t.table.levels_text(t.code())]),
        "layout gpu" => lines(&|t| wishes(t, Target::Gpu)),
        "layout cpu" => lines(&|t| wishes(t, Target::Cpu)),
        "class" => Outcome::each(section, |line| lane_class(line, case).map(Some)),
        _ => Outcome::not_mine(section),
    }
}

fn wishes(t: &Tabled, target: Target) -> Vec<String> {
    t.table.reads().map(|row| wish_text(t.code(), row, &wish(&t.table, row, target))).collect()
}

/// `A x lane i = class`
fn lane_class(line: &str, case: &Case) -> Result<String, String> {
    let (title, rest) = line.split_once(" lane ").ok_or("no lane")?;
    let (lane, _) = rest.split_once(" = ").ok_or("no class")?;
    let t = Tabled::new(case)?;
    let (row, lane) = (t.row(title)?, t.var(lane)?);
    Ok(class_text(t.code(), row, lane, class(&t.table, row, lane)))
}
