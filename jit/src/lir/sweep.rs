//! Removing instructions whose results nobody uses.

use super::Code;
use galopvm_base::TypedId;

/// Removes them, and what only they used.
pub fn sweep(code: &mut Code) {
    let mut uses = vec![0u32; code.classes.len()];
    for block in &code.blocks {
        for inst in block.insts.iter().chain(&block.end) {
            for arg in &inst.args {
                uses[arg.index()] += 1;
            }
        }
    }
    // Users come after what they use, but for jumps back, which count as users for ever.
    for label in code.order.clone().into_iter().rev() {
        let block = &mut code.blocks[label.index()];
        let mut keep = vec![true; block.insts.len()];
        for (k, inst) in block.insts.iter().enumerate().rev() {
            if inst.op.effect().is_removable() && inst.out.is_some_and(|out| uses[out.index()] == 0) {
                keep[k] = false;
                for arg in &inst.args {
                    uses[arg.index()] -= 1;
                }
            }
        }
        let mut keep = keep.into_iter();
        block.insts.retain(|_| keep.next().unwrap_or(true));
    }
}
