//! Plans in text: one decision per line, with its reason after a colon. Names, not numbers, except for reads,
//! which have no names.

use super::ParseError;
use super::parse::Parser;
use crate::ir::{ReadId, Region, VarId};
use crate::plan::{Decision, Plan, PlanLine, decision_table};
use galopvm_base::Pos;
use std::fmt::Write;

/// An operand of a decision: in text, it follows the word or the operand before it.
trait DecisionOperand: Sized {
    fn print(&self, region: &Region, text: &mut String);
    fn parse(parser: &mut Parser, region: &Region) -> Result<Self, ParseError>;
}

impl DecisionOperand for VarId {
    fn print(&self, region: &Region, text: &mut String) {
        text.push(' ');
        match region.vars.get(*self) {
            Some(var) => text.push_str(&var.name),
            None => text.push_str(&self.to_string()),
        }
    }

    fn parse(parser: &mut Parser, region: &Region) -> Result<VarId, ParseError> {
        known_name(parser, region)
    }
}

impl DecisionOperand for ReadId {
    fn print(&self, _: &Region, text: &mut String) {
        let _ = write!(text, " {self}");
    }

    fn parse(parser: &mut Parser, _: &Region) -> Result<ReadId, ParseError> {
        let mark = parser.mark();
        let word = parser.word("a read")?;
        let number = word.strip_prefix("read").and_then(|digits| digits.parse().ok());
        number.map(ReadId).ok_or_else(|| parser.error_at(mark, format!("`{word}` is not a read")))
    }
}

/// As many as there are until the end.
impl<T: DecisionOperand> DecisionOperand for Vec<T> {
    fn print(&self, region: &Region, text: &mut String) {
        self.iter().for_each(|operand| operand.print(region, text));
    }

    fn parse(parser: &mut Parser, region: &Region) -> Result<Vec<T>, ParseError> {
        let mut operands = Vec::new();
        while parser.expect_end().is_err() {
            operands.push(T::parse(parser, region)?);
        }
        Ok(operands)
    }
}

macro_rules! numbers {
    ($($ty:ty)*) => {
        $(impl DecisionOperand for $ty {
            fn print(&self, _: &Region, text: &mut String) {
                let _ = write!(text, " {self}");
            }

            fn parse(parser: &mut Parser, _: &Region) -> Result<$ty, ParseError> {
                let mark = parser.mark();
                let number = parser.plain_number()?;
                <$ty>::try_from(number).map_err(|_| parser.error_at(mark, "the number is too large"))
            }
        })*
    };
}

numbers!(u32 u64);

macro_rules! decision_text {
    ($($variant:ident $word:literal $once:ident $claim:ident ($($field:ident : $ty:ty),*) $doc:literal;)+) => {
        /// The text of a decision for a region.
        pub fn print_decision(region: &Region, decision: &Decision) -> String {
            let mut text = decision.word().to_string();
            match decision {
                $(Decision::$variant($($field),*) => { $($field.print(region, &mut text);)* })+
            }
            text
        }

        fn parse_decision(region: &Region, text: &str) -> Result<Decision, ParseError> {
            let mut parser = Parser::new(text)?;
            let mark = parser.mark();
            let word = parser.word("a decision")?;
            let decision = match word.as_str() {
                $($word => Decision::$variant($(<$ty>::parse(&mut parser, region)?),*),)+
                other => return Err(parser.error_at(mark, format!("`{other}` is not a decision"))),
            };
            parser.expect_end()?;
            Ok(decision)
        }
    };
}

decision_table!(decision_text);

/// The text of a plan for a region.
pub fn print_plan(region: &Region, plan: &Plan) -> String {
    let mut text = String::from("plan\n");
    for line in &plan.lines {
        let _ = writeln!(text, "  {} : {}", print_decision(region, &line.decision), line.reason);
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

fn known_name(parser: &mut Parser, region: &Region) -> Result<VarId, ParseError> {
    let mark = parser.mark();
    let name = parser.word("a name of the region")?;
    let found = region.vars.iter_ids().find(|(_, var)| var.name == *name.as_str());
    found.map(|(id, _)| id).ok_or_else(|| parser.error_at(mark, format!("the region has no name `{name}`")))
}
