//! Places where a debugger may stop since an operation has made NaN: behind each operation that gives a float.

use super::ir::*;
use galopvm_base::IdVec;
use galopvm_bytecode::{Form, Purpose, ValueType};

/// Lets a debugger stop wherever an operation makes NaN of operands that are none.
pub fn watch_nan(program: &mut Program) {
    for fun in program.funs.iter_mut() {
        watch(&fun.vars, &mut fun.body);
    }
}

fn watch(vars: &IdVec<Var, ValueType>, block: &mut Block) {
    let mut stms = Vec::with_capacity(block.stms.len());
    for mut stm in std::mem::take(&mut block.stms) {
        stm.op.blocks_mut().into_iter().for_each(|inner| watch(vars, inner));
        let look = look_at(vars, &stm);
        stms.push(stm);
        stms.extend(look);
    }
    block.stms = stms;
}

/// The statement that looks at what an operation has made, if that may be NaN.
fn look_at(vars: &IdVec<Var, ValueType>, stm: &Stm) -> Option<Stm> {
    let (Op::Op1 { .. } | Op::Op2 { .. } | Op::Op3 { .. }, [made]) = (&stm.op, &stm.defs[..]) else {
        return None;
    };
    if !vars[*made].elem.is_float() {
        return None;
    }
    let mut values = vec![Atom::Var(*made)];
    stm.op.atoms(&mut |operand| values.push(operand));
    let (form, purpose) = (Form::Value(0), Purpose::Nan.number());
    let op = Op::Trace { label: String::new(), form, purpose, values };
    Some(Stm::new(Vec::new(), op, stm.origin))
}
