//! Plans in text: one decision per line, with its reason after a colon. Names, not numbers, except for reads,
//! which have no names.

use super::ParseError;
use super::parse::Parser;
use crate::ir::{ReadId, Region, VarId};
use crate::plan::{Decision, Plan, PlanLine};
use galopvm_base::Pos;
use std::fmt::Write;

/// The text of a plan for a region.
pub fn print_plan(region: &Region, plan: &Plan) -> String {
    let mut text = String::from("plan\n");
    for line in &plan.lines {
        let name = |var: VarId| region.vars.get(var).map_or_else(|| var.to_string(), |v| v.name.to_string());
        let decision = match &line.decision {
            Decision::Threads(var) => format!("threads {}", name(*var)),
            Decision::Lane(var) => format!("lane {}", name(*var)),
            Decision::Groups(var, groups) => format!("groups {} {groups}", name(*var)),
            Decision::Tile(var, rows) => format!("tile {} {rows}", name(*var)),
            Decision::Stream(bytes) => format!("stream {bytes}"),
            Decision::Unchecked(reads) => {
                reads.iter().fold("unchecked".to_string(), |t, read| format!("{t} {read}"))
            }
            Decision::Fresh(var) => format!("fresh {}", name(*var)),
        };
        let _ = writeln!(text, "  {decision} : {}", line.reason);
    }
    text
}

/// Reads the text of a plan for a region.
pub fn parse_plan(region: &Region, text: &str) -> Result<Plan, ParseError> {
    let mut plan = Plan::default();
    let mut header = false;
    for (k, line) in text.lines().enumerate() {
        let number = u32::try_from(k + 1).unwrap_or(u32::MAX);
        let error = |message: String| ParseError { pos: Pos { line: number, column: 1 }, message };
        if line.trim().is_empty() {
            continue;
        }
        if !header {
            if line.trim() != "plan" {
                return Err(error("expected `plan`".into()));
            }
            header = true;
            continue;
        }
        let Some((decision, reason)) = line.split_once(" : ") else {
            return Err(error("expected a decision, ` : ` and its reason".into()));
        };
        let decision = parse_decision(region, decision)
            .map_err(|e| ParseError { pos: Pos { line: number, ..e.pos }, ..e })?;
        plan.lines.push(PlanLine { decision, reason: reason.to_string() });
    }
    if header {
        Ok(plan)
    } else {
        Err(ParseError { pos: Pos { line: 1, column: 1 }, message: "expected `plan`".into() })
    }
}

fn parse_decision(region: &Region, text: &str) -> Result<Decision, ParseError> {
    let mut parser = Parser::new(text)?;
    let mark = parser.mark();
    let kind = parser.word("a decision")?;
    let decision = match kind.as_str() {
        "threads" => Decision::Threads(known_name(&mut parser, region)?),
        "lane" => Decision::Lane(known_name(&mut parser, region)?),
        "groups" => Decision::Groups(known_name(&mut parser, region)?, number(&mut parser)?),
        "tile" => Decision::Tile(known_name(&mut parser, region)?, number(&mut parser)?),
        "stream" => Decision::Stream(number(&mut parser)?),
        "fresh" => Decision::Fresh(known_name(&mut parser, region)?),
        "unchecked" => {
            let mut reads = Vec::new();
            while parser.expect_end().is_err() {
                let mark = parser.mark();
                let word = parser.word("a read")?;
                let number = word.strip_prefix("read").and_then(|digits| digits.parse().ok());
                reads.push(ReadId(
                    number.ok_or_else(|| parser.error_at(mark, format!("`{word}` is not a read")))?,
                ));
            }
            Decision::Unchecked(reads)
        }
        other => return Err(parser.error_at(mark, format!("`{other}` is not a decision"))),
    };
    parser.expect_end()?;
    Ok(decision)
}

fn number<N: TryFrom<usize>>(parser: &mut Parser) -> Result<N, ParseError> {
    let mark = parser.mark();
    N::try_from(parser.plain_number()?).map_err(|_| parser.error_at(mark, "the number is too large"))
}

fn known_name(parser: &mut Parser, region: &Region) -> Result<VarId, ParseError> {
    let mark = parser.mark();
    let name = parser.word("a name of the region")?;
    let found = region.vars.iter_ids().find(|(_, var)| var.name == *name.as_str());
    found.map(|(id, _)| id).ok_or_else(|| parser.error_at(mark, format!("the region has no name `{name}`")))
}
