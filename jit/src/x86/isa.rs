//! What each instruction set can do, and its registers.

use super::emitter::Emitter;
use super::listing::disassemble;
use super::mode::CpuMode;
use crate::lir::{Bin, Change, Class, Lane, Mem, Op};
use crate::target::{Assembler, ResultPlace, Target};
use galopvm_kir::Vectors;
use regalloc2::{MachineEnv, PReg, PRegSet, RegClass};

/// General registers that emission may overwrite within an instruction: rax, rcx, rdx.
pub const INT_SCRATCH: [u8; 3] = [0, 1, 2];
/// The register that holds the launch record: r15. (rsp and rbp keep the frame.)
pub const RECORD: u8 = 15;
/// General registers that a called function may overwrite, without those for emission.
const CALLER_SAVED: [u8; 6] = [6, 7, 8, 9, 10, 11];
/// General registers that a function has to leave as they were, without those with a purpose of their own.
const CALLEE_SAVED: [u8; 4] = [3, 12, 13, 14];
/// The mask register that emission may overwrite within an instruction.
pub const MASK_SCRATCH: u8 = 7;

/// An instruction set with its register shapes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Isa {
    /// Which one.
    pub mode: CpuMode,
}

impl Isa {
    /// The greatest set that this processor has and `wanted` allows.
    pub fn of(wanted: CpuMode) -> Isa {
        Isa { mode: wanted.min(detect()) }
    }

    /// True for AVX-512.
    pub fn is_512(self) -> bool {
        self.mode == CpuMode::Avx512
    }

    /// Vector registers that emission may overwrite within an instruction: the last ones.
    pub fn vec_scratch(self) -> [u8; 3] {
        if self.is_512() { [29, 30, 31] } else { [13, 14, 15] }
    }

    fn vecs(self) -> impl Iterator<Item = PReg> {
        (0..self.vectors().registers).map(|r| PReg::new(r, RegClass::Float))
    }

    /// The first one stands for "no mask" in instructions.
    fn mask_registers(self) -> impl Iterator<Item = PReg> {
        let count = if self.is_512() { MASK_SCRATCH as usize } else { 1 };
        (1..count).map(|r| PReg::new(r, RegClass::Vector))
    }
}

fn ints(regs: &[u8]) -> PRegSet {
    regs.iter().map(|r| PReg::new(usize::from(*r), RegClass::Int)).collect()
}

impl Target for Isa {
    fn name(&self) -> &'static str {
        self.mode.name()
    }

    fn vectors(&self) -> Vectors {
        self.mode.vectors()
    }

    fn has_bin(&self, bin: Bin, lane: Lane) -> bool {
        match bin {
            Bin::Add | Bin::Sub | Bin::Mul | Bin::And | Bin::Or | Bin::Xor | Bin::AndNot => true,
            Bin::Div | Bin::FMin | Bin::FMax => lane.is_float(),
            Bin::MinU | Bin::MaxU | Bin::Sar => lane == Lane::I32 || self.is_512() && lane == Lane::I64,
            Bin::MinS | Bin::MaxS | Bin::Shl | Bin::Shr => !lane.is_float(),
        }
    }

    fn has_change(&self, change: Change, from: Lane, to: Lane) -> bool {
        match change {
            Change::Extend | Change::ExtendZero | Change::Float => true,
            Change::Signed => self.is_512() || from != Lane::I64 && to != Lane::I64,
            Change::Unsigned => self.is_512(),
        }
    }

    fn has_masked(&self, mem: Mem) -> bool {
        mem.bytes() >= 4 || self.is_512()
    }

    fn has_quick_gather(&self, mem: Mem) -> bool {
        mem.bytes() >= 4 && self.is_512()
    }

    fn registers(&self) -> MachineEnv {
        let scratch = |r: u8, class| Some(PReg::new(r as usize, class));
        MachineEnv {
            preferred_regs_by_class: [
                ints(&CALLER_SAVED),
                self.vecs().collect(),
                self.mask_registers().collect(),
            ],
            non_preferred_regs_by_class: [ints(&CALLEE_SAVED), PRegSet::empty(), PRegSet::empty()],
            scratch_by_class: [
                scratch(INT_SCRATCH[0], RegClass::Int),
                scratch(self.vec_scratch()[0], RegClass::Float),
                scratch(MASK_SCRATCH, RegClass::Vector),
            ],
            fixed_stack_slots: Vec::new(),
        }
    }

    fn result(&self, op: Op) -> ResultPlace {
        match op {
            // The addend's register is replaced.
            Op::Fma(..) => ResultPlace::Replacing(2),
            // The value stays where it is unless it is mended.
            Op::Mend(..) => ResultPlace::Replacing(0),
            // The other lanes stay as they are.
            Op::VMasked(..) => ResultPlace::Replacing(1),
            Op::Help(..) => ResultPlace::In(HELP_RESULT),
            // These write their result before they have read all operands.
            Op::Gather(_) | Op::GatherEach(_) => ResultPlace::Apart,
            // These read all operands first, or bring what they still need to registers of their own.
            Op::Int(_)
            | Op::Word(_)
            | Op::Alu(..)
            | Op::AluImm(..)
            | Op::Extend(_)
            | Op::Quot(..)
            | Op::Rem(..)
            | Op::MulHigh(..)
            | Op::Set(..)
            | Op::SetFloat(..)
            | Op::Choose
            | Op::ChooseIf(..)
            | Op::ChooseFloat
            | Op::Lea(_)
            | Op::Load(..)
            | Op::LoadLong(_)
            | Op::LoadFloat(..)
            | Op::ToFloat(_)
            | Op::FromFloat(_)
            | Op::IntToFloat(..)
            | Op::FloatToInt(..)
            | Op::Constant(..)
            | Op::V(..)
            | Op::VConst(..)
            | Op::Sqrt(..)
            | Op::Round(..)
            | Op::Splat(_)
            | Op::SplatFloat(_)
            | Op::LoadSplat(..)
            | Op::Iota(..)
            | Op::Cmp(..)
            | Op::Test(..)
            | Op::Blend(_)
            | Op::VShiftImm(..)
            | Op::VMulHigh(_)
            | Op::Convert(..)
            | Op::Widen(..)
            | Op::Narrow(..)
            | Op::ConvertFloat(..)
            | Op::MoveDown(_)
            | Op::MoveUp(_)
            | Op::SplatLast(_)
            | Op::Alternate(_)
            | Op::Reverse(_)
            | Op::VLoad(..)
            | Op::VLoadMask(..)
            | Op::LoadSpaced(_)
            | Op::MaskAll
            | Op::MaskLogic(_)
            | Op::MaskHalf(_)
            | Op::MaskJoin
            | Op::HelpScalar(_)
            | Op::Room(_)
            | Op::Version => ResultPlace::Anywhere,
            // These have no result.
            Op::Store(..)
            | Op::Update(..)
            | Op::UpdateImm(..)
            | Op::StoreFloat(..)
            | Op::VStore(..)
            | Op::VStoreMask(..)
            | Op::Prefetch(_)
            | Op::ScatterEach(_)
            | Op::StoreSpaced(_)
            | Op::Poll(_)
            | Op::PollAt(..)
            | Op::Jump(_)
            | Op::BranchIf(..)
            | Op::BranchIfImm(..)
            | Op::BranchBool(..)
            | Op::BranchAny(..)
            | Op::Return
            | Op::Trap => ResultPlace::Anywhere,
        }
    }

    fn call_clobbers(&self, op: Op) -> PRegSet {
        let mut set = ints(&CALLER_SAVED);
        for reg in self.vecs().chain(self.mask_registers()) {
            set.add(reg);
        }
        if let ResultPlace::In(result) = self.result(op) {
            set.remove(result);
        }
        set
    }

    /// Scalar code keeps the low 64 bits of vector registers.
    fn slot_words(&self, class: Class) -> usize {
        match class {
            Class::Vec if self.mode != CpuMode::Scalar => self.vectors().bytes() / 8,
            Class::Vec | Class::Int | Class::Mask => 1,
        }
    }

    fn assembler(&self, blocks: usize, spill_words: usize) -> Box<dyn Assembler> {
        Box::new(Emitter::new(*self, blocks, spill_words))
    }

    fn disassemble(&self, header: &str, code: &[u8]) -> String {
        disassemble(header, code)
    }
}

/// The vector register that a helper's result is loaded into.
const HELP_RESULT: PReg = PReg::new(0, RegClass::Float);

#[cfg(target_arch = "x86_64")]
fn detect() -> CpuMode {
    let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let avx512 = avx2
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    match (avx512, avx2) {
        (true, _) => CpuMode::Avx512,
        (false, true) => CpuMode::Avx2,
        _ => CpuMode::Scalar,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> CpuMode {
    CpuMode::Scalar
}
