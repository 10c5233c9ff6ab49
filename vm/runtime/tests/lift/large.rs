//! Lifts of code that is as large or as deep as it likes: an answer or a refusal, never an overflow.

use crate::assembled;
use galopvm_bytecode::module::BODY;
use galopvm_bytecode::{BlockId, FuncId};
use galopvm_lift::lift;
use std::fmt::Write;

/// A map over rows whose block has these lines; they may use `r1` (the matrix), `r3` (the row) and define registers
/// from `r4` on. The blocks that follow are given whole.
fn outcome(lines: &str, result: &str, blocks: &str) -> Result<usize, String> {
    let text = format!(
        "module\nfn @0 \"f\" (r0 : i64, r1 : [][]i64) -> ([]i64)\nb0 ():\n  r2 : []i64 = map r0 (r1) b1\n  => (r2)\n\
         b1 (r3 : []i64):\n{lines}  => ({result})\n{blocks}"
    );
    let module = assembled(&text);
    lift(&module, FuncId(0), BODY, 0).map(|l| l.region.region().vars.len()).map_err(|e| e.reason)
}

/// Lines for registers from `r4` on, each made from the one before, and the number of the last.
fn chain(length: u32, line: impl Fn(u32, u32) -> String) -> (String, u32) {
    let mut text = String::new();
    for k in 0..length {
        let (from, to) = (k + 3, k + 4);
        let _ = writeln!(text, "  {}", line(from, to));
    }
    (text, length + 3)
}

#[test]
fn long_chains_of_views() {
    for length in [10, 3000] {
        let (mut lines, last) = chain(length, |from, to| format!("r{to} : []i64 = reverse r{from} 0"));
        let _ = write!(
            lines,
            "  r{} : i64 = const 0i64\n  r{} : i64 = index r{last} (r{})\n",
            last + 1,
            last + 2,
            last + 1
        );
        outcome(&lines, &format!("r{}", last + 2), "").expect("a region");
        outcome(
            &lines.replace("[]i64 = reverse", "[]i64 = slice").replace(" 0\n", " (r0:r0:)\n"),
            &format!("r{}", last + 2),
            "",
        )
        .expect("a region");
    }
}

#[test]
fn long_chains_of_operations() {
    let (lines, last) = chain(3000, |from, to| match from {
        3 => format!("r{to} : i64 = const 7i64"),
        4 => format!("r{to} : i64 = dim r3 0"),
        _ => format!("r{to} : i64 = op2 add i64 r{from} r{from}"),
    });
    outcome(&lines, &format!("r{last}"), "").expect("a region");
    let (lines, last) = chain(9000, |from, to| match from {
        3 => format!("r{to} : i64 = const 7i64"),
        _ => format!("r{to} : i64 = op2 add i64 r{from} r{from}"),
    });
    assert!(outcome(&lines, &format!("r{last}"), "").is_err_and(|reason| reason.contains("instructions")));
}

#[test]
fn long_chains_of_operators() {
    for (length, fits) in [(20, true), (1000, true), (5000, false)] {
        let mut lines = String::from("  r4 : i64 = dim r3 0\n  r5 : i64 = const 0i64\n");
        let mut blocks = String::new();
        let mut row = 3;
        let mut next = 6;
        for k in 0..length {
            let _ = writeln!(lines, "  r{next} : []i64 = map r4 (r{row}) b{}", k + 3);
            row = next;
            next += 1;
        }
        let _ = writeln!(lines, "  r{next} : i64 = reduce r4 (r5) (r{row}) b2");
        let result = next;
        let _ = write!(blocks, "b2 (r{} : i64, r{} : i64):\n  => (r{})\n", next + 1, next + 2, next + 2);
        next += 3;
        for k in 0..length {
            let _ = write!(blocks, "b{} (r{next} : i64):\n  => (r{next})\n", k + 3);
            next += 1;
        }
        let outcome = outcome(&lines, &format!("r{result}"), &blocks);
        assert_eq!(outcome.is_ok(), fits, "{outcome:?}");
    }
}

#[test]
fn deep_nests_of_loops() {
    // Each condition is a loop of its own, lifted twice: the number of instructions is limited.
    for (depth, fits) in [(3, true), (40, false)] {
        let mut blocks = String::new();
        let mut lines = String::from("  r4 : i64 = dim r3 0\n");
        let mut next = 5;
        let (mut cond, mut free) = (2, 2);
        let head = format!("  r{next} : i64 = while (r4) b{cond} b{}\n", cond + 1);
        lines += &head;
        let result = next;
        next += 1;
        for level in 0..depth {
            let (a, b, c, d) = (next, next + 1, next + 2, next + 3);
            next += 4;
            let inner = if level + 1 < depth {
                format!("  r{b} : i64 = while (r{a}) b{} b{}\n", cond + 2, cond + 3)
            } else {
                format!("  r{b} : i64 = op2 add i64 r{a} r4\n")
            };
            let _ = write!(
                blocks,
                "b{cond} (r{a} : i64):\n{inner}  r{c} : bool = op2 lt i64 r{b} r4\n  => (r{c})\n"
            );
            let _ = write!(blocks, "b{} (r{d} : i64):\n  => (r{d})\n", cond + 1);
            cond += 2;
            free += 2;
        }
        assert_eq!(BlockId(free), BlockId(cond));
        let outcome = outcome(&lines, &format!("r{result}"), &blocks);
        assert_eq!(outcome.is_ok(), fits, "{outcome:?}");
    }
}
