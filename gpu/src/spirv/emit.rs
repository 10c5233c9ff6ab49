//! Shader to SPIR-V 1.3.
//!
//! Spells out what `crate::shader` says and decides nothing. Every float operation is decorated `NoContraction`.

use crate::info::Features;
use crate::shader::{BinOp, Binding, Builtin, Op, Shader, Shared, Stm, Ty, UnOp, Val, Width};
use galopvm_base::TypedId;
use rspirv::binary::Assemble;
use rspirv::dr::{self, InsertPoint, Instruction, Operand};
use rspirv::spirv::{
    self, AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl,
    GlslStd450Op, LoopControl, MemoryModel, SelectionControl, StorageClass,
};
use std::collections::HashMap;

/// The words of a shader.
pub fn words(shader: &Shader, features: &Features) -> Result<Vec<u32>, String> {
    let mut module = module(shader).map_err(|e| format!("emitting SPIR-V: {e:?}"))?;
    super::modes::preserve(&mut module, features);
    Ok(module.assemble())
}

type Emitted<T> = Result<T, dr::Error>;

/// A type, with those that only memory has.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Mem {
    Reg(Ty),
    Small(Width),
}

struct Emitter<'a> {
    shader: &'a Shader,
    b: dr::Builder,
    types: HashMap<Mem, u32>,
    pointers: HashMap<(StorageClass, u32), u32>,
    /// The SPIR-V id of each value.
    ids: Vec<Option<u32>>,
    cells: Vec<u32>,
    shared: Vec<u32>,
    buffers: Vec<u32>,
    builtins: HashMap<&'static str, u32>,
    ext: u32,
    zero: u32,
}

fn module(shader: &Shader) -> Emitted<dr::Module> {
    let mut e = Emitter {
        shader,
        b: dr::Builder::new(),
        types: HashMap::new(),
        pointers: HashMap::new(),
        ids: vec![None; shader.vals.len()],
        cells: Vec::new(),
        shared: Vec::new(),
        buffers: Vec::new(),
        builtins: HashMap::new(),
        ext: 0,
        zero: 0,
    };
    e.b.set_version(1, 3);
    e.capabilities();
    e.ext = e.b.ext_inst_import("GLSL.std.450");
    e.b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
    let uint = e.ty(Ty::B32);
    e.zero = e.b.constant_bit32(uint, 0);
    e.constants();
    e.globals();
    e.main()?;
    Ok(e.b.module())
}

impl Emitter<'_> {
    fn capabilities(&mut self) {
        let s = self.shader;
        self.b.capability(Capability::Shader);
        for (used, capability) in [
            (s.uses(Ty::B64) || s.stores(Width::W64), Capability::Int64),
            (s.uses(Ty::F64), Capability::Float64),
            (s.stores(Width::W8), Capability::StorageBuffer8BitAccess),
            (s.stores(Width::W16), Capability::StorageBuffer16BitAccess),
        ] {
            if used {
                self.b.capability(capability);
            }
        }
        if s.stores(Width::W8) {
            self.b.extension("SPV_KHR_8bit_storage");
        }
    }

    fn mem(&mut self, mem: Mem) -> u32 {
        if let Some(id) = self.types.get(&mem) {
            return *id;
        }
        let id = match mem {
            Mem::Reg(Ty::Bool) => self.b.type_bool(),
            Mem::Reg(Ty::B32) => self.b.type_int(32, 0),
            Mem::Reg(Ty::B64) => self.b.type_int(64, 0),
            Mem::Reg(Ty::F32) => self.b.type_float(32, None),
            Mem::Reg(Ty::F64) => self.b.type_float(64, None),
            Mem::Small(width) => self.b.type_int(width.bytes() * 8, 0),
        };
        self.types.insert(mem, id);
        id
    }

    fn ty(&mut self, ty: Ty) -> u32 {
        self.mem(Mem::Reg(ty))
    }

    fn stored(&mut self, width: Width) -> u32 {
        match width {
            Width::W32 | Width::W64 => self.ty(width.ty()),
            small => self.mem(Mem::Small(small)),
        }
    }

    fn pointer(&mut self, class: StorageClass, to: u32) -> u32 {
        if let Some(id) = self.pointers.get(&(class, to)) {
            return *id;
        }
        let id = self.b.type_pointer(None, class, to);
        self.pointers.insert((class, to), id);
        id
    }

    fn constants(&mut self) {
        for (val, bits) in &self.shader.consts {
            let ty = self.shader.vals[*val];
            let id = self.ty(ty);
            self.ids[val.index()] = Some(match ty {
                Ty::Bool if *bits != 0 => self.b.constant_true(id),
                Ty::Bool => self.b.constant_false(id),
                Ty::B32 | Ty::F32 => self.b.constant_bit32(id, *bits as u32),
                Ty::B64 | Ty::F64 => self.b.constant_bit64(id, *bits),
            });
        }
    }

    fn globals(&mut self) {
        // One block type per width and mutability, as the decorations sit on its member.
        let mut blocks: HashMap<(Width, bool), u32> = HashMap::new();
        let mut arrays: HashMap<Width, u32> = HashMap::new();
        for (number, decl) in self.shader.buffers.iter().enumerate() {
            let element = self.stored(decl.width);
            let array = *arrays.entry(decl.width).or_insert_with(|| {
                let array = self.b.type_runtime_array(element);
                let stride = Operand::LiteralBit32(decl.width.bytes());
                self.b.decorate(array, Decoration::ArrayStride, [stride]);
                array
            });
            let block = *blocks.entry((decl.width, decl.written)).or_insert_with(|| {
                let id = self.b.id();
                self.b.type_struct_id(Some(id), [array]);
                self.b.decorate(id, Decoration::Block, []);
                self.b.member_decorate(id, 0, Decoration::Offset, [Operand::LiteralBit32(0)]);
                if !decl.written {
                    self.b.member_decorate(id, 0, Decoration::NonWritable, []);
                }
                id
            });
            let pointer = self.pointer(StorageClass::StorageBuffer, block);
            let variable = self.b.variable(pointer, None, StorageClass::StorageBuffer, None);
            self.b.decorate(variable, Decoration::DescriptorSet, [Operand::LiteralBit32(0)]);
            self.b.decorate(variable, Decoration::Binding, [Operand::LiteralBit32(number as u32)]);
            self.buffers.push(variable);
        }
        for (ty, len) in self.shader.shared.iter() {
            let element = self.ty(*ty);
            let uint = self.ty(Ty::B32);
            let count = self.b.constant_bit32(uint, *len);
            let array = self.b.type_array(element, count);
            let pointer = self.pointer(StorageClass::Workgroup, array);
            let variable = self.b.variable(pointer, None, StorageClass::Workgroup, None);
            self.shared.push(variable);
        }
    }

    /// The input variable behind a builtin; vectors are shared by their components.
    fn input(&mut self, name: &'static str, builtin: BuiltIn, vector: bool) -> u32 {
        if let Some(id) = self.builtins.get(name) {
            return *id;
        }
        let uint = self.ty(Ty::B32);
        let ty = if vector { self.b.type_vector(uint, 3) } else { uint };
        let pointer = self.pointer(StorageClass::Input, ty);
        let variable = self.b.variable(pointer, None, StorageClass::Input, None);
        self.b.decorate(variable, Decoration::BuiltIn, [Operand::BuiltIn(builtin)]);
        self.builtins.insert(name, variable);
        variable
    }

    fn main(&mut self) -> Emitted<()> {
        let void = self.b.type_void();
        let signature = self.b.type_function(void, []);
        // Input variables must be global: make them before the function starts.
        let mut which = Vec::new();
        crate::shader::for_each_op(&self.shader.body, &mut |_, op| {
            if let Op::Builtin(b) = op {
                which.push(*b);
            }
        });
        for builtin in which {
            self.builtin_variable(builtin);
        }
        let main = self.b.begin_function(void, None, FunctionControl::NONE, signature)?;
        self.b.begin_block(None)?;
        for ty in self.shader.cells.iter() {
            let element = self.ty(*ty);
            let pointer = self.pointer(StorageClass::Function, element);
            let cell = self.b.variable(pointer, None, StorageClass::Function, None);
            self.cells.push(cell);
        }
        let shader = self.shader;
        self.block(&shader.body)?;
        self.b.ret()?;
        self.b.end_function()?;
        let mut inputs: Vec<u32> = self.builtins.values().copied().collect();
        inputs.sort_unstable();
        self.b.entry_point(ExecutionModel::GLCompute, main, "main", inputs);
        self.b.execution_mode(main, ExecutionMode::LocalSize, [self.shader.group_size, 1, 1]);
        Ok(())
    }

    fn builtin_variable(&mut self, which: Builtin) -> u32 {
        match which {
            Builtin::Local => self.input("local", BuiltIn::LocalInvocationIndex, false),
            Builtin::GroupX | Builtin::GroupY => self.input("group", BuiltIn::WorkgroupId, true),
            Builtin::GroupsX => self.input("groups", BuiltIn::NumWorkgroups, true),
        }
    }

    fn block(&mut self, stms: &[Stm]) -> Emitted<()> {
        for stm in stms {
            self.stm(stm)?;
        }
        Ok(())
    }

    fn id(&self, val: Val) -> u32 {
        // The builder of shaders defines every value before it is used.
        self.ids.get(val.index()).copied().flatten().unwrap_or(self.zero)
    }

    fn instruction(&mut self, op: spirv::Op, ty: u32, operands: Vec<Operand>) -> Emitted<u32> {
        let id = self.b.id();
        let instruction = Instruction::new(op, Some(ty), Some(id), operands);
        self.b.insert_into_block(InsertPoint::End, instruction)?;
        Ok(id)
    }

    fn stm(&mut self, stm: &Stm) -> Emitted<()> {
        match stm {
            Stm::Let(val, op) => {
                let id = self.op(self.shader.vals[*val], op)?;
                self.ids[val.index()] = Some(id);
            }
            Stm::Set(cell, value) => {
                let value = self.id(*value);
                self.b.store(self.cells[cell.index()], value, None, [])?;
            }
            Stm::Store(buffer, index, value) => {
                let width = self.shader.buffers[*buffer].width;
                let mut value = self.id(*value);
                if width.bytes() < 4 {
                    let small = self.stored(width);
                    value = self.instruction(spirv::Op::UConvert, small, vec![Operand::IdRef(value)])?;
                }
                let place = self.element(*buffer, *index)?;
                self.b.store(place, value, None, [])?;
            }
            Stm::SetShared(array, index, value) => {
                let place = self.shared_element(*array, *index)?;
                let value = self.id(*value);
                self.b.store(place, value, None, [])?;
            }
            Stm::Raise(flag) => {
                let uint = self.ty(Ty::B32);
                let pointer = self.pointer(StorageClass::StorageBuffer, uint);
                let place =
                    self.b.access_chain(pointer, None, self.buffers[flag.index()], [self.zero, self.zero])?;
                let one = self.b.constant_bit32(uint, 1);
                self.b.atomic_or(uint, None, place, one, self.zero, one)?;
            }
            Stm::Barrier => {
                let uint = self.ty(Ty::B32);
                let workgroup = self.b.constant_bit32(uint, spirv::Scope::Workgroup as u32);
                let semantics =
                    spirv::MemorySemantics::ACQUIRE_RELEASE | spirv::MemorySemantics::WORKGROUP_MEMORY;
                let semantics = self.b.constant_bit32(uint, semantics.bits());
                self.b.control_barrier(workgroup, workgroup, semantics)?;
            }
            Stm::If(cond, then, otherwise) => {
                let (yes, no, after) = (self.b.id(), self.b.id(), self.b.id());
                let cond = self.id(*cond);
                self.b.selection_merge(after, SelectionControl::NONE)?;
                self.b.branch_conditional(cond, yes, no, [])?;
                for (label, stms) in [(yes, then), (no, otherwise)] {
                    self.b.begin_block(Some(label))?;
                    self.block(stms)?;
                    self.b.branch(after)?;
                }
                self.b.begin_block(Some(after))?;
            }
            Stm::While(before, cond, body) => {
                let [header, test, inside, next, after] = [(); 5].map(|()| self.b.id());
                self.b.branch(header)?;
                self.b.begin_block(Some(header))?;
                self.b.loop_merge(after, next, LoopControl::NONE, [])?;
                self.b.branch(test)?;
                self.b.begin_block(Some(test))?;
                self.block(before)?;
                let cond = self.id(*cond);
                self.b.branch_conditional(cond, inside, after, [])?;
                self.b.begin_block(Some(inside))?;
                self.block(body)?;
                self.b.branch(next)?;
                self.b.begin_block(Some(next))?;
                self.b.branch(header)?;
                self.b.begin_block(Some(after))?;
            }
        }
        Ok(())
    }

    fn element(&mut self, buffer: Binding, index: Val) -> Emitted<u32> {
        let element = self.stored(self.shader.buffers[buffer].width);
        let pointer = self.pointer(StorageClass::StorageBuffer, element);
        let index = self.id(index);
        self.b.access_chain(pointer, None, self.buffers[buffer.index()], [self.zero, index])
    }

    fn shared_element(&mut self, array: Shared, index: Val) -> Emitted<u32> {
        let element = self.ty(self.shader.shared[array].0);
        let pointer = self.pointer(StorageClass::Workgroup, element);
        let index = self.id(index);
        self.b.access_chain(pointer, None, self.shared[array.index()], [index])
    }

    fn op(&mut self, ty: Ty, op: &Op) -> Emitted<u32> {
        let result = self.ty(ty);
        match op {
            Op::Un(op, a) => self.unary(ty, *op, self.id(*a)),
            Op::Bin(op, a, b) => {
                let (a, b) = (Operand::IdRef(self.id(*a)), Operand::IdRef(self.id(*b)));
                let id = self.instruction(binary_opcode(*op), result, vec![a, b])?;
                if matches!(op, BinOp::FAdd | BinOp::FSub | BinOp::FMul | BinOp::FDiv) {
                    self.b.decorate(id, Decoration::NoContraction, []);
                }
                Ok(id)
            }
            Op::Select(a, b, c) => {
                let operands = [a, b, c].map(|v| Operand::IdRef(self.id(*v)));
                self.instruction(spirv::Op::Select, result, operands.to_vec())
            }
            Op::Load(buffer, index) => {
                let width = self.shader.buffers[*buffer].width;
                let place = self.element(*buffer, *index)?;
                let stored = self.stored(width);
                let value = self.b.load(stored, None, place, None, [])?;
                if width.bytes() < 4 {
                    return self.instruction(spirv::Op::UConvert, result, vec![Operand::IdRef(value)]);
                }
                Ok(value)
            }
            Op::Get(cell) => self.b.load(result, None, self.cells[cell.index()], None, []),
            Op::GetShared(array, index) => {
                let place = self.shared_element(*array, *index)?;
                self.b.load(result, None, place, None, [])
            }
            Op::Builtin(which) => {
                let variable = self.builtin_variable(*which);
                let component = match which {
                    Builtin::Local => return self.b.load(result, None, variable, None, []),
                    Builtin::GroupX | Builtin::GroupsX => 0,
                    Builtin::GroupY => 1,
                };
                let vector = self.b.type_vector(result, 3);
                let value = self.b.load(vector, None, variable, None, [])?;
                self.b.composite_extract(result, None, value, [component])
            }
        }
    }

    fn unary(&mut self, ty: Ty, op: UnOp, a: u32) -> Emitted<u32> {
        let result = self.ty(ty);
        let opcode = match op {
            UnOp::Not => spirv::Op::LogicalNot,
            UnOp::Flip => spirv::Op::Not,
            UnOp::FNeg => spirv::Op::FNegate,
            UnOp::FromSigned(_) => spirv::Op::ConvertSToF,
            UnOp::FromUnsigned(_) => spirv::Op::ConvertUToF,
            UnOp::ToSigned(_) => spirv::Op::ConvertFToS,
            UnOp::ToUnsigned(_) => spirv::Op::ConvertFToU,
            UnOp::Float(_) => spirv::Op::FConvert,
            UnOp::ZeroExtend | UnOp::Narrow => spirv::Op::UConvert,
            UnOp::BitsOf | UnOp::OfBits => spirv::Op::Bitcast,
            UnOp::BitCount => spirv::Op::BitCount,
            UnOp::FAbs => return self.extended(result, GlslStd450Op::FAbs, a),
            UnOp::Floor => return self.extended(result, GlslStd450Op::Floor, a),
            UnOp::Ceil => return self.extended(result, GlslStd450Op::Ceil, a),
            UnOp::Trunc => return self.extended(result, GlslStd450Op::Trunc, a),
            UnOp::RoundEven => return self.extended(result, GlslStd450Op::RoundEven, a),
            UnOp::Sqrt => return self.extended(result, GlslStd450Op::Sqrt, a),
            UnOp::HighBit => return self.extended(result, GlslStd450Op::FindUMsb, a),
            UnOp::LowBit => return self.extended(result, GlslStd450Op::FindILsb, a),
        };
        self.instruction(opcode, result, vec![Operand::IdRef(a)])
    }

    fn extended(&mut self, ty: u32, op: GlslStd450Op, a: u32) -> Emitted<u32> {
        self.b.ext_inst(ty, None, self.ext, op as u32, [Operand::IdRef(a)])
    }
}

fn binary_opcode(op: BinOp) -> spirv::Op {
    match op {
        BinOp::Add => spirv::Op::IAdd,
        BinOp::Sub => spirv::Op::ISub,
        BinOp::Mul => spirv::Op::IMul,
        BinOp::SDiv => spirv::Op::SDiv,
        BinOp::UDiv => spirv::Op::UDiv,
        BinOp::URem => spirv::Op::UMod,
        BinOp::And => spirv::Op::BitwiseAnd,
        BinOp::Or => spirv::Op::BitwiseOr,
        BinOp::Xor => spirv::Op::BitwiseXor,
        BinOp::Shl => spirv::Op::ShiftLeftLogical,
        BinOp::ShrS => spirv::Op::ShiftRightArithmetic,
        BinOp::ShrU => spirv::Op::ShiftRightLogical,
        BinOp::Eq => spirv::Op::IEqual,
        BinOp::Ne => spirv::Op::INotEqual,
        BinOp::Slt => spirv::Op::SLessThan,
        BinOp::Sle => spirv::Op::SLessThanEqual,
        BinOp::Ult => spirv::Op::ULessThan,
        BinOp::Ule => spirv::Op::ULessThanEqual,
        BinOp::LAnd => spirv::Op::LogicalAnd,
        BinOp::LOr => spirv::Op::LogicalOr,
        BinOp::LXor => spirv::Op::LogicalNotEqual,
        BinOp::FAdd => spirv::Op::FAdd,
        BinOp::FSub => spirv::Op::FSub,
        BinOp::FMul => spirv::Op::FMul,
        BinOp::FDiv => spirv::Op::FDiv,
        BinOp::FEq => spirv::Op::FOrdEqual,
        BinOp::FLt => spirv::Op::FOrdLessThan,
        BinOp::FLe => spirv::Op::FOrdLessThanEqual,
    }
}
