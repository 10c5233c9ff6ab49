//! Decisions of the analyses, which must be proved, and wrong ones, which must be refused. Regions are the golden cases,
//! recorded ones, and random ones of the tests of the analyses; so is the machine that says which decisions are wrong.

#[allow(dead_code, reason = "the tests of the analyses use the rest")]
#[path = "../../../analysis/tests/cases/case.rs"]
mod case;
mod decided;
#[allow(dead_code, reason = "the tests of the analyses use the rest")]
#[path = "../../../analysis/tests/cases/inplace.rs"]
mod inplace;
#[allow(dead_code, unused_imports, reason = "the tests of the analyses use the rest")]
#[path = "../../../analysis/tests/cases/machine/mod.rs"]
mod machine;
mod recorded;
mod right;
mod wrong;
