//! The bytes of vector instructions: one [`Row`] describes an instruction for all three encodings.
//!
//! SSE, VEX and EVEX forms of an instruction share prefix class, opcode map and opcode byte; they differ in how the
//! operands and the vector length are packed around them. dynasm knows no EVEX, so all three are made here.

use crate::lir::Addr;
use smallvec::SmallVec;

/// Mandatory prefix of an instruction, in the two-bit code of VEX and EVEX.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Prefix {
    /// None.
    None = 0,
    /// 66
    P66 = 1,
    /// F3
    F3 = 2,
    /// F2
    F2 = 3,
}

/// Opcode map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Map {
    /// 0F
    M0F = 1,
    /// 0F 38
    M38 = 2,
    /// 0F 3A
    M3A = 3,
}

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// Mandatory prefix.
    pub prefix: Prefix,
    /// Opcode map.
    pub map: Map,
    /// Opcode byte.
    pub opcode: u8,
    /// The W bit in EVEX and, unless `vex_w0`, in VEX.
    pub w: bool,
    /// W is 0 in the VEX form whatever the EVEX form has.
    pub vex_w0: bool,
}

/// A row whose VEX form has the same W.
pub const fn row(prefix: Prefix, map: Map, opcode: u8, w: u8) -> Row {
    Row { prefix, map, opcode, w: w != 0, vex_w0: false }
}

/// A row whose VEX form has W = 0.
pub const fn row_w0(prefix: Prefix, map: Map, opcode: u8, w: u8) -> Row {
    Row { prefix, map, opcode, w: w != 0, vex_w0: true }
}

/// How an instruction is packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Legacy, two operands; 128 bits.
    Sse,
    /// Three operands, 16 registers, 128 or 256 bits.
    Vex,
    /// Three operands, 32 registers, masks, up to 512 bits.
    Evex,
}

/// Vector length, in the two-bit code of EVEX.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Length {
    /// 128 bits, and scalars.
    L128 = 0,
    /// 256 bits.
    L256 = 1,
    /// 512 bits.
    L512 = 2,
}

impl Length {
    /// Bytes of a register of this length.
    pub fn bytes(self) -> usize {
        16 << self as usize
    }
}

/// The operand that can be a register or memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// A register of any kind, by number.
    Reg(u8),
    /// `[rip + disp]`: so many bytes behind the instruction.
    Behind(i32),
    /// `[base + disp]`
    Base {
        /// General register.
        base: u8,
        /// Bytes.
        disp: i32,
    },
    /// `[base + index * scale + disp]`; the index is a vector register in gathers.
    Indexed {
        /// General register.
        base: u8,
        /// General or vector register.
        index: u8,
        /// 1, 2, 4 or 8.
        scale: u8,
        /// Bytes.
        disp: i32,
    },
}

impl Place {
    /// The operand of an address whose base and index are in these registers; the index may be missing as the address
    /// says.
    pub fn of(addr: Addr, base: u8, index: u8) -> Place {
        match addr.scale {
            0 => Place::Base { base, disp: addr.disp },
            scale => Place::Indexed { base, index, scale, disp: addr.disp },
        }
    }
}

/// An instruction with its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instr {
    /// What.
    pub row: Row,
    /// How long.
    pub length: Length,
    /// The operand in ModRM.reg, or an opcode extension.
    pub reg: u8,
    /// The extra operand of three-operand forms; none: 0, which encodes as all ones.
    pub extra: u8,
    /// The operand in ModRM.rm.
    pub place: Place,
    /// Mask register; 0: no mask. EVEX only.
    pub mask: u8,
    /// Lanes that are off become zero instead of staying. EVEX only.
    pub zero: bool,
    /// Immediate byte.
    pub imm: Option<u8>,
    /// The index is a vector register.
    pub vector_index: bool,
    /// The memory operand is one element, for all lanes. EVEX only.
    pub broadcast: bool,
}

/// Bytes of one instruction.
pub type Bytes = SmallVec<[u8; 16]>;

impl Instr {
    /// An unmasked instruction without immediate.
    pub fn new(row: Row, length: Length, reg: u8, extra: u8, place: Place) -> Instr {
        Instr {
            row,
            length,
            reg,
            extra,
            place,
            mask: 0,
            zero: false,
            imm: None,
            vector_index: false,
            broadcast: false,
        }
    }

    /// The bytes of the instruction in a form. The SSE form has no extra operand: `reg` is the first source too.
    pub fn bytes(&self, form: Form) -> Bytes {
        let mut out = Bytes::new();
        match form {
            Form::Sse => self.sse_prefix(&mut out),
            Form::Vex => self.vex_prefix(&mut out),
            Form::Evex => super::evex::prefix(self, &mut out),
        }
        out.push(self.row.opcode);
        mod_rm(&mut out, self.reg, self.place, form != Form::Evex);
        out.extend(self.imm);
        out
    }

    /// Bit 3 of ModRM.reg, of the index (or bit 4 of a register in rm), and of the base (or register in rm).
    pub(super) fn high_bits(&self) -> (u8, u8, u8) {
        let (x, b) = match self.place {
            Place::Reg(reg) => (reg >> 4 & 1, reg >> 3 & 1),
            Place::Behind(_) => (0, 0),
            Place::Base { base, .. } => (0, base >> 3 & 1),
            Place::Indexed { base, index, .. } => (index >> 3 & 1, base >> 3 & 1),
        };
        (self.reg >> 3 & 1, x, b)
    }

    fn sse_prefix(&self, out: &mut Bytes) {
        match self.row.prefix {
            Prefix::None => {}
            Prefix::P66 => out.push(0x66),
            Prefix::F3 => out.push(0xf3),
            Prefix::F2 => out.push(0xf2),
        }
        let (r, x, b) = self.high_bits();
        let w = (self.row.w && !self.row.vex_w0) as u8;
        let rex = w << 3 | r << 2 | x << 1 | b;
        if rex != 0 {
            out.push(0x40 | rex);
        }
        out.push(0x0f);
        match self.row.map {
            Map::M0F => {}
            Map::M38 => out.push(0x38),
            Map::M3A => out.push(0x3a),
        }
    }

    fn vex_prefix(&self, out: &mut Bytes) {
        let (r, x, b) = self.high_bits();
        let w = (self.row.w && !self.row.vex_w0) as u8;
        let long = (self.length != Length::L128) as u8;
        out.push(0xc4);
        out.push((r ^ 1) << 7 | (x ^ 1) << 6 | (b ^ 1) << 5 | self.row.map as u8);
        out.push(w << 7 | (!self.extra & 15) << 3 | long << 2 | self.row.prefix as u8);
    }
}

fn mod_rm(out: &mut Bytes, reg: u8, place: Place, short: bool) {
    let reg = (reg & 7) << 3;
    // EVEX scales 8-bit displacements by the operand size; only 32-bit ones are used there.
    let mode = |base: u8, disp: i32| match disp {
        0 if base & 7 != 5 => 0u8,
        _ if short && i8::try_from(disp).is_ok() => 1,
        _ => 2,
    };
    let push_disp = |out: &mut Bytes, mode: u8, disp: i32| match mode {
        0 => {}
        1 => out.push(disp as u8),
        _ => out.extend(disp.to_le_bytes()),
    };
    match place {
        Place::Reg(rm) => out.push(0xc0 | reg | rm & 7),
        Place::Behind(disp) => {
            out.push(reg | 5);
            out.extend(disp.to_le_bytes());
        }
        Place::Base { base, disp } => {
            let mode = mode(base, disp);
            out.push(mode << 6 | reg | base & 7);
            if base & 7 == 4 {
                out.push(0x24);
            }
            push_disp(out, mode, disp);
        }
        Place::Indexed { base, index, scale, disp } => {
            let mode = mode(base, disp);
            out.push(mode << 6 | reg | 4);
            out.push((scale.trailing_zeros() as u8) << 6 | (index & 7) << 3 | base & 7);
            push_disp(out, mode, disp);
        }
    }
}
