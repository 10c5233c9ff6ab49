//! A machine on paper, with few registers and without vectors, whose code is text: what any assembler is given.

use super::assemble;
use crate::lir::{Bin, Change, Class, Lane, Mem, Op, check, parse};
use crate::target::{Assembler, ResultPlace, Target, lacks};
use galopvm_kir::{Refusal, Vectors};
use regalloc2::{MachineEnv, PReg, PRegSet, RegClass};
use std::fmt::Write;

#[derive(Debug)]
struct Paper;

fn registers(class: RegClass, numbers: std::ops::Range<usize>) -> PRegSet {
    numbers.map(|number| PReg::new(number, class)).collect()
}

impl Target for Paper {
    fn name(&self) -> &'static str {
        "paper"
    }

    fn vectors(&self) -> Vectors {
        Vectors { lanes: 1, registers: 2, masks: false, fma: true }
    }

    fn has_bin(&self, _: Bin, _: Lane) -> bool {
        false
    }

    fn has_change(&self, _: Change, _: Lane, _: Lane) -> bool {
        false
    }

    fn has_masked(&self, _: Mem) -> bool {
        false
    }

    fn has_quick_gather(&self, _: Mem) -> bool {
        false
    }

    fn registers(&self) -> MachineEnv {
        MachineEnv {
            preferred_regs_by_class: [
                registers(RegClass::Int, 1..5),
                registers(RegClass::Float, 1..3),
                PRegSet::empty(),
            ],
            non_preferred_regs_by_class: [PRegSet::empty(); 3],
            scratch_by_class: [Some(PReg::new(0, RegClass::Int)), Some(PReg::new(0, RegClass::Float)), None],
            fixed_stack_slots: Vec::new(),
        }
    }

    fn result(&self, op: Op) -> ResultPlace {
        match op {
            Op::AluImm(..) => ResultPlace::Replacing(0),
            Op::Choose => ResultPlace::Apart,
            Op::HelpScalar(_) => ResultPlace::In(PReg::new(1, RegClass::Int)),
            _ => ResultPlace::Anywhere,
        }
    }

    fn call_clobbers(&self, _: Op) -> PRegSet {
        registers(RegClass::Int, 2..5)
    }

    fn slot_words(&self, _: Class) -> usize {
        1
    }

    fn assembler(&self, blocks: usize, spill_words: usize) -> Box<dyn Assembler> {
        Box::new(Pen { text: format!("blocks {blocks}, slots {spill_words}\n") })
    }

    fn disassemble(&self, header: &str, code: &[u8]) -> String {
        format!("; {header}\n{}", String::from_utf8_lossy(code))
    }
}

struct Pen {
    text: String,
}

impl Pen {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.text, "{line}").expect("text takes everything");
    }
}

impl Assembler for Pen {
    fn enter(&mut self) {
        self.line(format_args!("enter"));
    }

    fn begin(&mut self, number: usize) {
        self.line(format_args!("{number}:"));
    }

    fn jump(&mut self, to: usize) {
        self.line(format_args!("  jump {to}"));
    }

    fn branch(&mut self, branch: Op, args: &[u8], holds: bool, to: usize) -> Result<(), Refusal> {
        let name = branch.to_string();
        let name = name.split(".block").next().unwrap_or_default();
        self.line(format_args!("  {name} {args:?} {holds}: {to}"));
        Ok(())
    }

    fn op(&mut self, op: Op, out: Option<u8>, args: &[u8]) -> Result<(), Refusal> {
        if let Op::Splat(_) = op {
            return Err(lacks(op));
        }
        match out {
            Some(out) => self.line(format_args!("  r{out} = {op} {args:?}")),
            None => self.line(format_args!("  {op} {args:?}")),
        }
        Ok(())
    }

    fn copy(&mut self, class: Class, to: u8, from: u8) -> Result<(), Refusal> {
        self.line(format_args!("  {} r{to} = r{from}", class.name()));
        Ok(())
    }

    fn load(&mut self, class: Class, to: u8, slot: usize) -> Result<(), Refusal> {
        self.line(format_args!("  {} r{to} = slot {slot}", class.name()));
        Ok(())
    }

    fn store(&mut self, class: Class, from: u8, slot: usize) -> Result<(), Refusal> {
        if class == Class::Vec {
            return Err(lacks("a vector in the frame"));
        }
        self.line(format_args!("  {} slot {slot} = r{from}", class.name()));
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<u8>, Refusal> {
        Ok(self.text.into_bytes())
    }
}

fn on_paper(text: &str) -> Result<String, Refusal> {
    let code = parse(text).expect("it reads");
    assert_eq!(check(&code), Ok(()), "{code}");
    let bytes = assemble(&code, &Paper)?;
    Ok(String::from_utf8(bytes).expect("it is text"))
}

#[test]
fn what_follows_is_not_jumped_to_and_what_only_jumps_on_is_jumped_past() {
    let text = "\
masks vec
block0:
  %0:int = word.0
  %1:int = word.1
  branch_if.lt.w64.block1.block2 %0 %1
block1:
  jump.block3
block2:
  branch_bool.block4.block5 %0
block4:
  jump.block3
block5:
  trap
block3:
  %2:int = alu.add.w64 %0 %1
  store.b64.+0 %2 %0
  return
";
    let expected = "\
blocks 6, slots 0
enter
0:
  r1 = word.0 []
  r2 = word.1 []
  branch_if.lt.w64 [1, 2] true: 5
1:
2:
  branch_bool [1] true: 5
3:
4:
  trap []
5:
  r2 = alu.add.w64 [1, 2]
  store.b64.+0 [2, 1]
  return []
";
    assert_eq!(on_paper(text).expect("it has code"), expected);
}

#[test]
fn loops_pass_their_parameters_and_results_are_where_the_target_wants_them() {
    let text = "\
masks vec
block0:
  %0:int = word.0
  %1:int = int.7
  jump.block1 %0
block1 %2:int:
  %3:int = alu_imm.add.w64.8 %2
  branch_if.lt.w64.block2.block3 %3 %1
block2:
  jump.block1 %3
block3:
  %4:int = help_scalar.pow:i64 %3 %1
  %5:int = choose %4 %3 %1
  store.b64.+0 %5 %0
  return
";
    let expected = "\
blocks 4, slots 3
enter
0:
  r2 = word.0 []
  int slot 0 = r2
  r2 = int.7 []
  int r3 = slot 0
1:
  r3 = alu_imm.add.w64.8 [3]
  branch_if.lt.w64 [3, 2] false: 3
2:
  int slot 1 = r2
  int slot 2 = r3
  jump 1
3:
  int slot 1 = r2
  int slot 2 = r3
  r1 = help_scalar.pow:i64 [3, 2]
  int r3 = slot 2
  int r4 = slot 1
  r2 = choose [1, 3, 4]
  int r1 = slot 0
  store.b64.+0 [2, 1]
  return []
";
    assert_eq!(on_paper(text).expect("it has code"), expected);
}

#[test]
fn what_the_assembler_lacks_is_refused() {
    let text = "masks vec\nblock0:\n  %0:int = word.0\n  %1:vec = splat.i32 %0\n  store_float.f32.+0 %1 %0\n  return\n";
    let refused = on_paper(text).expect_err("there are no vectors");
    assert!(refused.to_string().contains("no machine code for Splat(I32)"), "{refused}");
}

#[test]
fn what_cannot_be_moved_is_refused() {
    let text = "\
masks vec
block0:
  %0:int = word.0
  %1:vec = load_float.f32.+0 %0
  %2:vec = load_float.f32.+4 %0
  %3:vec = load_float.f32.+8 %0
  %4:vec = v.add.f32.one %1 %2
  %5:vec = v.add.f32.one %4 %3
  %6:vec = v.mul.f32.one %5 %1
  store_float.f32.+0 %6 %0
  return
";
    let refused = on_paper(text).expect_err("there are two registers for three floats");
    assert!(refused.to_string().contains("a vector in the frame"), "{refused}");
}
