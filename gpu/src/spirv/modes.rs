//! Execution modes that make the device's floats behave as IEEE says: subnormals, infinities, NaNs and signed
//! zeros are kept where the device can promise it.

use crate::info::Features;
use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{Capability, ExecutionMode, Op};

/// Adds the modes for the float widths the module has.
pub fn preserve(module: &mut Module, features: &Features) {
    let Some(entry) = module.entry_points.first() else { return };
    let Some(main) = entry.operands.iter().find(|o| matches!(o, Operand::IdRef(_))).cloned() else { return };
    let widths: Vec<u32> = module
        .types_global_values
        .iter()
        .filter(|i| i.class.opcode == Op::TypeFloat)
        .filter_map(|i| if let Some(Operand::LiteralBit32(w)) = i.operands.first() { Some(*w) } else { None })
        .collect();
    let mut wanted = Vec::new();
    for width in widths {
        let (denorm, exact) = match width {
            32 => (features.denorm32, features.exact32),
            64 => (features.denorm64, features.exact64),
            _ => (false, false),
        };
        if denorm {
            wanted.push((ExecutionMode::DenormPreserve, Capability::DenormPreserve, width));
        }
        if exact {
            wanted.push((
                ExecutionMode::SignedZeroInfNanPreserve,
                Capability::SignedZeroInfNanPreserve,
                width,
            ));
        }
    }
    if wanted.is_empty() {
        return;
    }
    let extension = Operand::LiteralString("SPV_KHR_float_controls".into());
    if !module.extensions.iter().any(|i| i.operands.first() == Some(&extension)) {
        module.extensions.push(Instruction::new(Op::Extension, None, None, vec![extension]));
    }
    for (mode, capability, width) in wanted {
        let capability = Operand::Capability(capability);
        if !module.capabilities.iter().any(|i| i.operands.first() == Some(&capability)) {
            module.capabilities.push(Instruction::new(Op::Capability, None, None, vec![capability]));
        }
        module.execution_modes.push(Instruction::new(
            Op::ExecutionMode,
            None,
            None,
            vec![main.clone(), Operand::ExecutionMode(mode), Operand::LiteralBit32(width)],
        ));
    }
}
