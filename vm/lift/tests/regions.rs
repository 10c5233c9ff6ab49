//! Functions as regions: what is recorded where sizes are not known beforehand. Bytecode text in, kernel IR out.

use galopvm_base::Scalar;
use galopvm_bytecode::{FuncId, Module, RegId, Scope, text, verify};
use galopvm_kir::text::print_region;
use galopvm_lift::region::{RecordRefusal, Recorded, Seen, record};
use galopvm_lmad::Lmad;

/// Records the first function; arrays have `extents`, scalars the number 3.
fn recorded(module: &Module, extents: &[i64]) -> Result<Recorded, RecordRefusal> {
    let code = &module.functions[FuncId(0)];
    let value = |reg: RegId| {
        let ty = code.regs[reg];
        if ty.is_scalar() {
            return Some(Seen::Scalar(Scalar::from_int(ty.elem, 3)));
        }
        let lmad = Lmad::row_major(&extents[..usize::from(ty.rank)]);
        let block_elements = lmad.elements();
        Some(Seen::Array { elem: ty.elem, lmad, block: reg.0 as usize, block_elements, references: 1 })
    };
    record(module, FuncId(0), Scope::Function, &value)
}

fn region_of(program: &str, extents: &[i64]) -> String {
    let module = verify(text::parse(program).expect("assembly")).expect("a right program");
    let recorded = recorded(module.module(), extents).unwrap_or_else(|refusal| panic!("{refusal}"));
    let circuits = galopvm_analysis::circuit::circuits(recorded.region.region(), &recorded.observed);
    format!("{}{}", print_region(recorded.region.region()), circuits.text(recorded.region.region()))
}

/// A text whose further lines are indented like the code around it.
fn plain(text: &str) -> String {
    let left = text.lines().skip(1).map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let line =
        |line: &str| format!("{}\n", line.get(left..).filter(|_| line.starts_with(' ')).unwrap_or(line));
    text.lines().map(line).collect()
}

fn is_recorded_as(program: &str, extents: &[i64], expected: &str) {
    let found = region_of(&format!("module\n{}", plain(program)), extents);
    assert_eq!(found, plain(expected), "\n{found}");
}

#[test]
fn a_loop_carries_the_sizes_that_change() {
    is_recorded_as(
        "fn @0 \"grow\" (r0 : []i32, r1 : i64) -> ([]i32)
         b0 ():
           r2 : []i32 = for r1! (r0) b1
           r3 : []i32 = concat (r2!, r0!) 0
           => (r3!)
         b1 (r4 : i64, r5 : []i32):
           r6 : []i32 = concat (r5!, r0) 0
           => (r6!)",
        &[5],
        "region grow (r0 : [5]i32)
         let (r2 : [t5]i32, t5 : i64) =
           loop (r5 : [t2]i32, t2 : i64) = (r0, 5) for r4 < 3 do
             let r6 : [t2+5]i32 = concat r5 r0
             in (r6, t2 + 5)
         let r3 : [t5+5]i32 = concat r2 r0
         let t8 : i64 = result(r3)
         in t8
         point r3 : r2 last-use yes ; r0 last-use yes
         r0 -> no reason ixfn-not-available
         r2 -> no reason ixfn-not-available
         point r6 : r5 last-use yes ; r0 last-use no
         r0 -> no reason ixfn-not-available
         r5 -> no reason ixfn-not-available
         order :  ; allocs 0
         allocs 0 ; copies 4
         per-iteration allocs 0",
    );
}

#[test]
fn a_size_that_is_the_same_in_each_round_is_not_carried() {
    is_recorded_as(
        "fn @0 \"same\" (r0 : []i32, r1 : i64) -> ([]i32)
         b0 ():
           r2 : []i32 = for r1! (r0!) b1
           => (r2!)
         b1 (r3 : i64, r4 : []i32):
           r5 : i64 = dim r4 0
           r6 : []i32 = map r5! (r4!) b2
           => (r6!)
         b2 (r7 : i32):
           r8 : i32 = op2 add i32 r7 r7
           => (r8!)",
        &[5],
        "region same (r0 : [5]i32)
         let r2 : [5]i32 =
           loop r4 : [5]i32 = r0 for r3 < 3 do
             let r6 : [5]i32 =
               kernel row2 < 5 do
                 let r7 : i32 = r4[row2]
                 let r8 : i32 = r7 + r7
                 in r8
             in r6
         in r2
         order :  ; allocs 0
         allocs 0 ; copies 0
         per-iteration allocs 1",
    );
}

#[test]
fn sides_of_different_sizes_give_their_sizes() {
    is_recorded_as(
        "fn @0 \"sides\" (r0 : []bool, r1 : []i32) -> ([]i32)
         b0 ():
           r2 : i64 = const 0i64
           r3 : bool = index r0! (r2!)
           r4 : []i32 = if r3! b1 b2
           => (r4!)
         b1 ():
           r5 : []i32 = concat (r1, r1) 0
           => (r5!)
         b2 ():
           r6 : []i32 = copy r1
           => (r6!)",
        &[4],
        "region sides (r0 : [4]bool, r1 : [4]i32)
         let r3 : bool = r0[0]
         let (r4 : [t9]i32, t9 : i64) =
           if r3 then
             let r5 : [8]i32 = concat r1 r1
             let t5 : i64 = 8
             let t6 : [t5]i32 = r5
             in (t6, t5)
           else
             let r6 : [4]i32 = copy r1
             let t7 : i64 = 4
             let t8 : [t7]i32 = r6
             in (t8, t7)
         let t11 : i64 = result(r4)
         in t11
         point r6 : r1 last-use yes
         r1 -> no reason block-not-in-scope
         copies 1 : r6[0 :+ 4 * 1] from r6[0 :+ 4 * 1] ; class memcpy(4)
         point r5 : operand 0 last-use no ; operand 1 last-use yes
         r1 -> no reason block-not-in-scope
         copies 2 : r5[0 :+ 4 * 1] from r5[0 :+ 4 * 1] ; class memcpy(4)
         copies 2 : r5[4 :+ 4 * 1] from r5[0 :+ 4 * 1] ; class memcpy(4)
         order :  ; allocs 2
         allocs 2 ; copies 3
         per-iteration allocs 0",
    );
}

#[test]
fn of_a_known_condition_one_side_is_recorded() {
    is_recorded_as(
        "fn @0 \"known\" (r0 : i64, r1 : []i32) -> ([]i32)
         b0 ():
           r2 : i64 = const 3i64
           r3 : bool = op2 eq i64 r0! r2!
           r4 : []i32 = if r3! b1 b2
           => (r4!)
         b1 ():
           r5 : []i32 = concat (r1, r1) 0
           => (r5!)
         b2 ():
           => (r1)",
        &[4],
        "region known (r1 : [4]i32)
         let r5 : [8]i32 = concat r1 r1
         let r4 : [8]i32 = r5
         in r4
         point r5 : operand 0 last-use no ; operand 1 last-use yes
         r1 -> no reason block-not-in-scope
         copies 2 : r5[0 :+ 4 * 1] from r5[0 :+ 4 * 1] ; class memcpy(4)
         copies 2 : r5[4 :+ 4 * 1] from r5[0 :+ 4 * 1] ; class memcpy(4)
         order :  ; allocs 1
         allocs 1 ; copies 2
         per-iteration allocs 0",
    );
}

#[test]
fn a_side_that_fails_has_no_size() {
    is_recorded_as(
        "fn @0 \"fails\" (r0 : []bool, r1 : []i32) -> ([]i32)
         b0 ():
           r2 : i64 = const 0i64
           r3 : bool = index r0! (r2!)
           r4 : []i32 = if r3! b1 b2
           => (r4!)
         b1 ():
           => (r1)
         b2 ():
           r5 : []i32 = fail \"no\" ()
           => (r5!)",
        &[4],
        "region fails (r0 : [4]bool, r1 : [4]i32)
         let r3 : bool = r0[0]
         let r4 : [4]i32 =
           if r3 then
             in r1
           else
             let t3 : i64 = size()
             let r5 : [t3]i32 = call fail() [t3]
             let t5 : i64 = t3
             let t6 : [t5]i32 = r5
             in t6
         in r4
         order :  ; allocs 0
         allocs 0 ; copies 0
         per-iteration allocs 0",
    );
}

#[test]
fn rows_whose_size_is_known_inside_only_have_some_size() {
    is_recorded_as(
        "fn @0 \"rows\" (r0 : []i64) -> ([][]i64)
         b0 ():
           r1 : i64 = dim r0 0
           r2 : [][]i64 = map r1! (r0) b1
           => (r2!)
         b1 (r3 : i64):
           r4 : i64 = const 0i64
           r5 : i64 = index r0 (r4!)
           r6 : []i64 = replicate r5! r3
           => (r6!)",
        &[2],
        "region rows (r0 : [2]i64)
         let t5 : i64 = size()
         let r2 : [2][t5]i64 =
           kernel row1 < 2 do
             let r3 : i64 = r0[row1]
             let r5 : i64 = r0[0]
             let r6 : [r5]i64 = replicate [r5] r3
             in r6
         let t7 : i64 = result(r2)
         in t7
         point r2 implicit : r6 last-use yes
         r6 -> no reason ixfn-not-available
         order :  ; allocs 0
         allocs 0 ; copies 1
         per-iteration allocs 0",
    );
}

#[test]
fn a_call_of_a_function_inside_itself_may_give_anything() {
    is_recorded_as(
        "fn @0 \"again\" (r0 : []i32, r1 : []bool) -> ([]i32)
         b0 ():
           r2 : i64 = const 0i64
           r3 : bool = index r1 (r2!)
           r4 : []i32 = if r3! b1 b2
           => (r4!)
         b1 ():
           r5 : []i32 = call @0 (r0, r1)
           => (r5!)
         b2 ():
           => (r0)",
        &[4],
        "region again (r1 : [4]bool, r0 : [4]i32)
         let r3 : bool = r1[0]
         let (r4 : [t9]i32, t9 : i64) =
           if r3 then
             let t3 : i64 = size()
             let r5 : [t3]i32 = again(r0, r1)
             let t5 : i64 = t3
             let t6 : [t5]i32 = r5
             in (t6, t5)
           else
             let t7 : i64 = 4
             let t8 : [t7]i32 = r0
             in (t8, t7)
         let t11 : i64 = result(r4)
         in t11
         order :  ; allocs 0
         allocs 0 ; copies 0
         per-iteration allocs 0",
    );
}

#[test]
fn a_slice_with_an_unknown_step_has_some_size() {
    is_recorded_as(
        "fn @0 \"strided\" (r0 : []i64) -> ([]i64)
         b0 ():
           r1 : i64 = const 0i64
           r2 : i64 = index r0 (r1)
           r3 : []i64 = slice r0 (r1::r2)
           r4 : i64 = const 2i64
           r5 : []i64 = slice r0 (r2!::r4!)
           r6 : []i64 = concat (r3!, r5!) 0
           => (r6!)",
        &[9],
        "region strided (r0 : [9]i64)
         let r2 : i64 = r0[0]
         let t2 : i64 = size()
         let r3 : [t2]i64 = r0[0 :+ t2 * r2]
         let r5 : [(9-r2+1)/2]i64 = r0[r2 :+ ((9-r2+1)/2) * 2]
         let r6 : [t2+(9-r2+1)/2]i64 = concat r3 r5
         let t6 : i64 = result(r6)
         in t6
         point r6 : r3 last-use yes ; r5 last-use yes
         r5 -> no reason ixfn-not-available
         r3 -> no reason ixfn-not-available
         order :  ; allocs 0
         allocs 0 ; copies 2
         per-iteration allocs 0",
    );
}

#[test]
fn what_is_looked_at_is_used_there_and_parameters_of_the_host_are_unknown() {
    is_recorded_as(
        "fn @0 \"traced\" (r0 : []i32) -> ([]i32)
         b0 ():
           r1 : bool, r2 : i64 = param \"n\"
           r3 : i64 = const 4i64
           r4 : []i32 = map r3 (r0) b1
           trace \"t\" \"0\" 0 (r2)
           trace \"u\" \"0\" 0 (r4)
           r5 : []i32 = concat (r4!, r0!) 0
           => (r5!)
         b1 (r6 : i32):
           r7 : i32 = op2 add i32 r6 r6
           => (r7!)",
        &[4],
        "region traced (r0 : [4]i32)
         let r1 : bool = param()
         let r2 : i64 = param()
         let r4 : [4]i32 =
           kernel row1 < 4 do
             let r6 : i32 = r0[row1]
             let r7 : i32 = r6 + r6
             in r7
         let t7 : i64 = trace(r2)
         let t8 : i64 = trace(r4)
         let r5 : [8]i32 = concat r4 r0
         in r5
         point r5 : r4 last-use yes ; r0 last-use yes
         r0 -> no reason block-not-in-scope
         r4 -> yes block r5 lmad 0 + {(4:1)}
         alloc r5 hoisted before r4
         copies 1 : r5[4 :+ 4 * 1] from r5[0 :+ 4 * 1] ; class memcpy(4)
         order : r4 ; allocs 1
         allocs 1 ; copies 1
         per-iteration allocs 0",
    );
}
