//! Lifted regions against the interpreter: every function of the golden files, with small random arguments. Its
//! operators are lifted and evaluated by the reference evaluator; what the interpreter computes must come out, and
//! where the interpreter stops with an error the region must trap or refuse the launch.

use crate::{assembled, title_and_code};
use galopvm_base::scalar::eval;
use galopvm_base::{ElemType, Scalar};
use galopvm_bytecode::module::BODY;
use galopvm_bytecode::{FuncId, Function, Instr, RegId, VerifiedModule};
use galopvm_kir::evaluate::{Reference, Trial, Value};
use galopvm_kir::{Backend, Machine, RunError, Unit, VerifiedPlan};
use galopvm_lift::{Binding, lift};
use galopvm_runtime::{Array, Options, Session};
use galopvm_testkit::{Layout, Random, files, read};
use std::collections::BTreeMap;

/// Rounds for each function.
const ROUNDS: u32 = 300;

/// A value: sizes and extents are one of two numbers, so that they often agree.
fn any_value(random: &mut Random, elem: ElemType, rank: usize, sizes: [i64; 2]) -> Value {
    let mut size = || sizes[usize::from(random.below(8) == 0)];
    if rank == 0 && elem == ElemType::I64 {
        return Value::int(size());
    }
    let shape: Vec<i64> = (0..rank).map(|_| size().max(0)).collect();
    let elements = shape.iter().product::<i64>();
    let data = (0..elements)
        .map(|_| match elem {
            // Often an index, sometimes just outside.
            ty if ty.is_int() => {
                Scalar::from_int(ty, random.below(6) as i64 - i64::from(random.below(8) == 0)).bits
            }
            ElemType::Bool => random.below(2),
            ty => Scalar::from_f64(ty, random.below(16) as f64 / 4.0 - 2.0).bits,
        })
        .collect();
    Value::new(elem, shape, data)
}

fn to_runtime(session: &Session, value: &Value) -> galopvm_runtime::Value {
    let Value::Array(array) = value else {
        return Scalar::new(value.elem(), value.data()[0]).into();
    };
    let bytes: Vec<u8> =
        array.data.iter().flat_map(|bits| bits.to_le_bytes()[..array.elem.bytes()].to_vec()).collect();
    let mut block = session.memory().block(bytes.len()).expect("memory");
    block.bytes_mut().expect("a fresh block")[..bytes.len()].copy_from_slice(&bytes);
    let lmad = galopvm_lmad::Lmad::row_major(&array.shape);
    Array::from_block(block, array.elem, lmad).expect("a view of its own block").into()
}

fn from_runtime(value: &galopvm_runtime::Value) -> Value {
    match value {
        galopvm_runtime::Value::Scalar(scalar) => Value::Scalar(*scalar),
        galopvm_runtime::Value::Array(array) => {
            Value::new(array.elem(), array.shape().to_vec(), array.iter_bits().collect())
        }
    }
}

/// Why the lifted code gives no value.
#[derive(Debug)]
enum NoValue {
    /// The region, or its launch, leaves the decision to the interpreter.
    Left,
    /// The function has instructions that this test does not execute.
    Unsupported(String),
}

/// The body of a function, its operators by way of their regions.
fn by_regions(module: &VerifiedModule, id: FuncId, args: &[Value]) -> Result<Vec<Value>, NoValue> {
    let function = &module.module().functions[id];
    let mut regs: BTreeMap<RegId, Value> =
        function.params.iter().copied().zip(args.iter().cloned()).collect();
    for (index, instr) in function.blocks[BODY].code.iter().enumerate() {
        match instr {
            Instr::Const { dst, value } => drop(regs.insert(dst.0, Value::Scalar(*value))),
            Instr::Dim { dst, array, dim } => {
                let extent = regs[&array.reg].shape()[*dim as usize];
                regs.insert(dst.0, Value::int(extent));
            }
            Instr::Iota { dst, ty, count, start, step } => {
                let int = |reg: RegId| Scalar::new(ElemType::I64, regs[&reg].data()[0]).as_i64();
                let (count, start, step) = (int(count.reg), int(start.reg), int(step.reg));
                if count < 0 {
                    return Err(NoValue::Left);
                }
                let data = (0..count).map(|k| Scalar::from_int(*ty, start + k * step).bits).collect();
                regs.insert(dst.0, Value::new(*ty, vec![count], data));
            }
            Instr::Op2 { dst, op, ty, a, b } => {
                let bits = [regs[&a.reg].data()[0], regs[&b.reg].data()[0]];
                let value = eval(*op, *ty, &bits).map_err(|_| NoValue::Left)?;
                regs.insert(dst.0, Value::Scalar(Scalar::new(op.result_type(*ty), value)));
            }
            Instr::Map { dsts, .. }
            | Instr::Reduce { dsts, .. }
            | Instr::Scan { dsts, .. }
            | Instr::Redomap { dsts, .. }
            | Instr::Scatter { dsts, .. }
            | Instr::Hist { dsts, .. } => {
                let results = launch(module, id, index, &regs)?;
                regs.extend(dsts.iter().map(|d| d.0).zip(results));
            }
            other => return Err(NoValue::Unsupported(other.row().mnemonic.into())),
        }
    }
    Ok(function.blocks[BODY].results.iter().map(|r| regs[&r.reg].clone()).collect())
}

fn launch(
    module: &VerifiedModule,
    id: FuncId,
    index: usize,
    regs: &BTreeMap<RegId, Value>,
) -> Result<Vec<Value>, NoValue> {
    let lifted = lift(module, id, BODY, index).map_err(|refusal| NoValue::Unsupported(refusal.reason))?;
    let bound = |binding: &Binding| match binding {
        Binding::Scalar(reg) | Binding::Array(reg) => regs[reg].clone(),
        Binding::Extent { array, dim } => Value::int(regs[array].shape()[*dim as usize]),
    };
    let values: Vec<Value> = lifted.bindings.iter().map(bound).collect();
    let params = &lifted.region.region().params;
    let scalar = |var| {
        let at = params.iter().position(|p| *p == var)?;
        if let Value::Scalar(value) = &values[at] { Some(*value) } else { None }
    };
    if !lifted.admits(&scalar) {
        return Err(NoValue::Left);
    }
    let trial = Trial::new(&lifted.region, &values, |shape| Layout::Contiguous.view(shape))
        .map_err(|_| NoValue::Left)?;
    let observed = trial.observed();
    let machine = Machine::default();
    // The plan's claims are about exactly this launch: the reference back end ignores them, so check them here.
    let plan = galopvm_analysis::decide(&lifted.region, &observed, &machine);
    let plan = VerifiedPlan::new(plan, lifted.region.region()).expect("a plan for this region");
    let unit = Unit { name: "", region: &lifted.region, plan: &plan, observed: &observed, machine: &machine };
    let code = Reference.compile(unit).expect("the reference takes everything");
    match trial.run(&*code) {
        Ok(values) => Ok(values),
        Err(RunError::Trap | RunError::Failed(_) | RunError::TooLarge(_) | RunError::Stopped) => {
            Err(NoValue::Left)
        }
    }
}

fn arguments(function: &Function, random: &mut Random) -> Vec<Value> {
    let first = random.below(6) as i64;
    let second = random.below(5) as i64 - i64::from(random.below(4) == 0);
    let value = |reg: &RegId| {
        let ty = function.regs[*reg];
        any_value(random, ty.elem, ty.rank as usize, [first, second])
    };
    function.params.iter().map(value).collect()
}

#[test]
fn regions_mean_what_the_interpreter_computes() {
    let mut random = Random::new(1);
    for file in files("tests/golden/lift", "txt") {
        if file.ends_with("refused.txt") {
            continue;
        }
        let module = assembled(title_and_code(&read(&file)).1);
        for id in module.module().functions.ids() {
            let function = &module.module().functions[id];
            if !function.blocks[BODY].code.iter().any(|instr| instr.is_parallel()) {
                continue;
            }
            let mut agreed = 0;
            for _ in 0..ROUNDS {
                let args = arguments(function, &mut random);
                let mut session = Session::new(module.clone(), Options::default());
                let given = args.iter().map(|a| to_runtime(&session, a)).collect();
                let expected = session.call_function(id, given);
                match (expected, by_regions(&module, id, &args)) {
                    (Ok(expected), Ok(found)) => {
                        let expected: Vec<Value> = expected.iter().map(from_runtime).collect();
                        assert_eq!(found, expected, "{} of {args:?}", function.name);
                        agreed += 1;
                    }
                    (Err(error), Ok(found)) => {
                        panic!("{} of {args:?}: {found:?}, but the interpreter says {error}", function.name)
                    }
                    (_, Err(NoValue::Left)) => {}
                    (_, Err(NoValue::Unsupported(what))) => panic!("{}: {what}", function.name),
                }
            }
            assert!(agreed >= ROUNDS / 20, "{}: only {agreed} rounds had a value", function.name);
        }
    }
}
