//! The types of fields that instructions are made of.
//!
//! Each type encodes, decodes, prints, parses and visits itself. Text: `r7` a register, `r7!` its last use,
//! `b2` a block, `@3` a function, `(..)` a list, types and scalar operations by name, constants as scalars, strings
//! quoted.

use crate::form::Form;
use crate::parts::Parts;
use crate::role::Role;
use crate::text::{Reader, TextError};
use crate::wire::{Decoder, Encoder, WireError};
use galopvm_base::{ElemType, Scalar, ScalarOp, define_id};
use smallvec::SmallVec;

define_id!(
    /// A register of a function.
    pub struct RegId, "r"
);
define_id!(
    /// A code block of a function.
    pub struct BlockId, "b"
);
define_id!(
    /// A function of a module.
    pub struct FuncId, "@"
);

/// A register that the instruction defines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Def(pub RegId);

/// A register that the instruction uses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Operand {
    /// The register.
    pub reg: RegId,
    /// No later use on any path: the value may be taken.
    pub last: bool,
}

impl Operand {
    /// A use that is not (known to be) the last.
    pub fn new(reg: RegId) -> Operand {
        Operand { reg, last: false }
    }

    /// The last use.
    pub fn last(reg: RegId) -> Operand {
        Operand { reg, last: true }
    }
}

/// One dimension of a slice. Ranges follow Futhark: `start:end:step`, end exclusive; a missing step is 1; missing
/// bounds are the whole dimension in the direction of the step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SliceDim {
    /// One index; the dimension vanishes.
    At(Operand),
    /// A range.
    Range {
        /// First index.
        start: Option<Operand>,
        /// Index before which to stop.
        end: Option<Operand>,
        /// Distance; zero is a trap.
        step: Option<Operand>,
    },
}

/// Receives the fields of an instruction, in order. Lists are visited element by element.
pub trait FieldVisitor {
    /// A definition.
    fn def(&mut self, _def: Def) {}
    /// A use.
    fn operand(&mut self, _role: Role, _operand: Operand) {}
    /// A reference to a block.
    fn block(&mut self, _role: Role, _block: BlockId) {}
    /// A reference to a function.
    fn function(&mut self, _function: FuncId) {}
}

/// A type of fields.
pub(crate) trait Field: Sized {
    fn encode(&self, out: &mut Encoder<'_>);
    fn decode(input: &mut Decoder<'_>) -> Result<Self, WireError>;
    fn print(&self) -> String;
    fn parse(input: &mut Reader<'_>) -> Result<Self, TextError>;
    fn visit(&self, _role: Role, _visitor: &mut dyn FieldVisitor) {}
    fn operands_mut<'f>(&'f mut self, _out: &mut Vec<&'f mut Operand>) {}
    /// Says which part of the instruction the field is.
    #[inline(always)]
    fn part<'f>(&'f self, _role: Role, _parts: &mut Parts<'f>) {}
}

/// Definitions, which text writes in front of the mnemonic.
pub(crate) trait Defines: Field {
    fn from_defs(defs: &mut std::vec::IntoIter<Def>) -> Option<Self>;
}

impl Field for Def {
    fn encode(&self, out: &mut Encoder<'_>) {
        out.number(self.0.0 as u64);
    }
    fn decode(input: &mut Decoder<'_>) -> Result<Def, WireError> {
        Ok(Def(RegId(input.small()?)))
    }
    fn print(&self) -> String {
        self.0.to_string()
    }
    fn parse(input: &mut Reader<'_>) -> Result<Def, TextError> {
        input.id("r").map(|n| Def(RegId(n)))
    }
    fn visit(&self, _: Role, visitor: &mut dyn FieldVisitor) {
        visitor.def(*self);
    }
}

impl Defines for Def {
    fn from_defs(defs: &mut std::vec::IntoIter<Def>) -> Option<Def> {
        defs.next()
    }
}

impl Field for Vec<Def> {
    fn encode(&self, out: &mut Encoder<'_>) {
        out.list(self, Field::encode);
    }
    fn decode(input: &mut Decoder<'_>) -> Result<Self, WireError> {
        input.list(Field::decode)
    }
    fn print(&self) -> String {
        list_text(self)
    }
    fn parse(input: &mut Reader<'_>) -> Result<Self, TextError> {
        input.list(Field::parse)
    }
    fn visit(&self, _: Role, visitor: &mut dyn FieldVisitor) {
        self.iter().for_each(|d| visitor.def(*d));
    }
    #[inline(always)]
    fn part<'f>(&'f self, _: Role, parts: &mut Parts<'f>) {
        parts.dsts = self;
    }
}

impl Defines for Vec<Def> {
    fn from_defs(defs: &mut std::vec::IntoIter<Def>) -> Option<Self> {
        Some(defs.collect())
    }
}

impl Field for Operand {
    fn encode(&self, out: &mut Encoder<'_>) {
        out.number((self.reg.0 as u64) << 1 | self.last as u64);
    }
    fn decode(input: &mut Decoder<'_>) -> Result<Operand, WireError> {
        let word = input.number()?;
        let reg = u32::try_from(word >> 1).map_err(|_| input.error("register number too large"))?;
        Ok(Operand { reg: RegId(reg), last: word & 1 != 0 })
    }
    fn print(&self) -> String {
        format!("{}{}", self.reg, if self.last { "!" } else { "" })
    }
    fn parse(input: &mut Reader<'_>) -> Result<Operand, TextError> {
        let reg = RegId(input.id("r")?);
        Ok(Operand { reg, last: input.accept("!") })
    }
    fn visit(&self, role: Role, visitor: &mut dyn FieldVisitor) {
        visitor.operand(role, *self);
    }
    fn operands_mut<'f>(&'f mut self, out: &mut Vec<&'f mut Operand>) {
        out.push(self);
    }
    #[inline(always)]
    fn part<'f>(&'f self, role: Role, parts: &mut Parts<'f>) {
        match role {
            Role::Width => parts.width = Some(*self),
            Role::Extent => parts.extent = Some(*self),
            _ => {}
        }
    }
}

impl Field for SliceDim {
    fn encode(&self, out: &mut Encoder<'_>) {
        match self {
            SliceDim::At(index) => {
                out.byte(0);
                index.encode(out);
            }
            SliceDim::Range { start, end, step } => {
                let parts = [start, end, step];
                let present = parts.iter().enumerate().map(|(k, p)| (p.is_some() as u8) << k).sum::<u8>();
                out.byte(0x80 | present);
                parts.iter().filter_map(|p| p.as_ref()).for_each(|p| p.encode(out));
            }
        }
    }
    fn decode(input: &mut Decoder<'_>) -> Result<SliceDim, WireError> {
        let tag = input.byte()?;
        if tag == 0 {
            return Ok(SliceDim::At(Field::decode(input)?));
        }
        if tag & !0x87 != 0 || tag & 0x80 == 0 {
            return Err(input.error("unknown kind of slice dimension"));
        }
        let mut part = |k: u8| if tag & (1 << k) != 0 { Operand::decode(input).map(Some) } else { Ok(None) };
        Ok(SliceDim::Range { start: part(0)?, end: part(1)?, step: part(2)? })
    }
    fn print(&self) -> String {
        let part = |p: &Option<Operand>| p.as_ref().map_or(String::new(), Field::print);
        match self {
            SliceDim::At(index) => index.print(),
            SliceDim::Range { start, end, step } => format!("{}:{}:{}", part(start), part(end), part(step)),
        }
    }
    fn parse(input: &mut Reader<'_>) -> Result<SliceDim, TextError> {
        let part = |input: &mut Reader<'_>| {
            if input.peek_is(":") || input.peek_is(",") || input.peek_is(")") || !input.peek_id("r") {
                Ok(None)
            } else {
                Operand::parse(input).map(Some)
            }
        };
        let start = part(input)?;
        if !input.accept(":") {
            return start.map(SliceDim::At).ok_or_else(|| input.error("an index or a range is missing"));
        }
        let end = part(input)?;
        input.expect(":")?;
        Ok(SliceDim::Range { start, end, step: part(input)? })
    }
    fn visit(&self, role: Role, visitor: &mut dyn FieldVisitor) {
        match self {
            SliceDim::At(index) => visitor.operand(role, *index),
            SliceDim::Range { start, end, step } => {
                [start, end, step].into_iter().flatten().for_each(|o| visitor.operand(role, *o));
            }
        }
    }
    fn operands_mut<'f>(&'f mut self, out: &mut Vec<&'f mut Operand>) {
        match self {
            SliceDim::At(index) => out.push(index),
            SliceDim::Range { start, end, step } => out.extend([start, end, step].into_iter().flatten()),
        }
    }
}

impl Field for BlockId {
    fn encode(&self, out: &mut Encoder<'_>) {
        out.number(self.0 as u64);
    }
    fn decode(input: &mut Decoder<'_>) -> Result<BlockId, WireError> {
        Ok(BlockId(input.small()?))
    }
    fn print(&self) -> String {
        self.to_string()
    }
    fn parse(input: &mut Reader<'_>) -> Result<BlockId, TextError> {
        input.id("b").map(BlockId)
    }
    fn visit(&self, role: Role, visitor: &mut dyn FieldVisitor) {
        visitor.block(role, *self);
    }
    #[inline(always)]
    fn part<'f>(&'f self, role: Role, parts: &mut Parts<'f>) {
        parts.blocks.push(role, *self);
    }
}

impl Field for FuncId {
    fn encode(&self, out: &mut Encoder<'_>) {
        out.number(self.0 as u64);
    }
    fn decode(input: &mut Decoder<'_>) -> Result<FuncId, WireError> {
        Ok(FuncId(input.small()?))
    }
    fn print(&self) -> String {
        self.to_string()
    }
    fn parse(input: &mut Reader<'_>) -> Result<FuncId, TextError> {
        input.id("@").map(FuncId)
    }
    fn visit(&self, _: Role, visitor: &mut dyn FieldVisitor) {
        visitor.function(*self);
    }
}

impl Field for ElemType {
    fn encode(&self, out: &mut Encoder<'_>) {
        out.byte(self.code());
    }
    fn decode(input: &mut Decoder<'_>) -> Result<ElemType, WireError> {
        let code = input.byte()?;
        ElemType::from_code(code).ok_or_else(|| input.error(format!("unknown element type {code}")))
    }
    fn print(&self) -> String {
        self.to_string()
    }
    fn parse(input: &mut Reader<'_>) -> Result<ElemType, TextError> {
        input.named("an element type")
    }
}

impl Field for ScalarOp {
    fn encode(&self, out: &mut Encoder<'_>) {
        out.byte(self.code());
    }
    fn decode(input: &mut Decoder<'_>) -> Result<ScalarOp, WireError> {
        let code = input.byte()?;
        ScalarOp::from_code(code).ok_or_else(|| input.error(format!("unknown scalar operation {code}")))
    }
    fn print(&self) -> String {
        self.to_string()
    }
    fn parse(input: &mut Reader<'_>) -> Result<ScalarOp, TextError> {
        input.named("a scalar operation")
    }
}

impl Field for Scalar {
    fn encode(&self, out: &mut Encoder<'_>) {
        let index = out.constant(*self);
        out.number(index);
    }
    fn decode(input: &mut Decoder<'_>) -> Result<Scalar, WireError> {
        let index = input.number()?;
        input.constant(index)
    }
    fn print(&self) -> String {
        // A NaN with a payload is written by its bits, so that text keeps every value.
        let text = self.to_string();
        if galopvm_base::scalar::parse_scalar(&text) == Some(*self) {
            text
        } else {
            format!("bits {} {:#x}", self.ty, self.bits)
        }
    }
    fn parse(input: &mut Reader<'_>) -> Result<Scalar, TextError> {
        input.scalar()
    }
}

impl Field for u32 {
    fn encode(&self, out: &mut Encoder<'_>) {
        out.number(*self as u64);
    }
    fn decode(input: &mut Decoder<'_>) -> Result<u32, WireError> {
        input.small()
    }
    fn print(&self) -> String {
        self.to_string()
    }
    fn parse(input: &mut Reader<'_>) -> Result<u32, TextError> {
        input.number()
    }
}

impl Field for String {
    fn encode(&self, out: &mut Encoder<'_>) {
        let index = out.string(self);
        out.number(index);
    }
    fn decode(input: &mut Decoder<'_>) -> Result<String, WireError> {
        let index = input.number()?;
        input.string(index)
    }
    fn print(&self) -> String {
        format!("{self:?}")
    }
    fn parse(input: &mut Reader<'_>) -> Result<String, TextError> {
        input.quoted()
    }
}

impl Field for Form {
    fn encode(&self, out: &mut Encoder<'_>) {
        self.to_string().encode(out);
    }
    fn decode(input: &mut Decoder<'_>) -> Result<Form, WireError> {
        String::decode(input)?.parse().map_err(|error: String| input.error(error))
    }
    fn print(&self) -> String {
        format!("{:?}", self.to_string())
    }
    fn parse(input: &mut Reader<'_>) -> Result<Form, TextError> {
        input.quoted()?.parse().map_err(|error: String| input.error(error))
    }
}

/// A type whose lists are fields.
pub(crate) trait Item: Field {
    /// Says which part of the instruction a list is.
    #[inline(always)]
    fn list_part<'f>(_list: &'f [Self], _role: Role, _parts: &mut Parts<'f>) {}
}

impl Item for Operand {
    #[inline(always)]
    fn list_part<'f>(list: &'f [Self], role: Role, parts: &mut Parts<'f>) {
        match role {
            Role::Initial => parts.initial = list,
            Role::Neutral => parts.neutral = list,
            Role::Rows => parts.rows = list,
            Role::Dests => parts.dests = list,
            Role::Values | Role::Written => parts.values = list,
            _ => {}
        }
    }
}

impl Item for SliceDim {}

impl Item for u32 {}

impl<T: Item> Field for Vec<T> {
    fn encode(&self, out: &mut Encoder<'_>) {
        out.list(self, Field::encode);
    }
    fn decode(input: &mut Decoder<'_>) -> Result<Self, WireError> {
        input.list(Field::decode)
    }
    fn print(&self) -> String {
        list_text(self)
    }
    fn parse(input: &mut Reader<'_>) -> Result<Self, TextError> {
        input.list(Field::parse)
    }
    fn visit(&self, role: Role, visitor: &mut dyn FieldVisitor) {
        self.iter().for_each(|item| item.visit(role, visitor));
    }
    fn operands_mut<'f>(&'f mut self, out: &mut Vec<&'f mut Operand>) {
        self.iter_mut().for_each(|item| item.operands_mut(out));
    }
    #[inline(always)]
    fn part<'f>(&'f self, role: Role, parts: &mut Parts<'f>) {
        T::list_part(self, role, parts);
    }
}

fn list_text<T: Field>(items: &[T]) -> String {
    let parts: Vec<String> = items.iter().map(Field::print).collect();
    format!("({})", parts.join(", "))
}

/// Collects what an instruction defines, uses and refers to.
#[derive(Default, Debug)]
pub struct Fields {
    /// Definitions, in order.
    pub defs: SmallVec<[Def; 2]>,
    /// Uses, in order.
    pub operands: SmallVec<[Operand; 4]>,
    /// Blocks, in order.
    pub blocks: SmallVec<[BlockId; 2]>,
    /// Functions, in order.
    pub functions: SmallVec<[FuncId; 1]>,
}

impl FieldVisitor for Fields {
    fn def(&mut self, def: Def) {
        self.defs.push(def);
    }
    fn operand(&mut self, _: Role, operand: Operand) {
        self.operands.push(operand);
    }
    fn block(&mut self, _: Role, block: BlockId) {
        self.blocks.push(block);
    }
    fn function(&mut self, function: FuncId) {
        self.functions.push(function);
    }
}

impl Fields {
    /// The fields of an instruction.
    pub fn of(instr: &crate::op::Instr) -> Fields {
        let mut fields = Fields::default();
        instr.visit(&mut fields);
        fields
    }
}
