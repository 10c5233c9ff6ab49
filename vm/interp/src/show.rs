//! What programs show while they run, and what hosts tell them: `trace` and `param`.

use crate::{Adviser, Interpreter, Outcome, Registers};
use galopvm_bytecode::{BlockId, Form, Instr, Operand, Purpose};
use galopvm_data::Value;
use galopvm_data::{Style, write_form};
use galopvm_store::error::CallSite;
use std::io::{self, Write};
use std::sync::Arc;

/// Receives what programs show.
pub type ShowSink = Arc<dyn Fn(&Shown<'_>) + Send + Sync>;

/// Something that a program shows.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// What the program calls it; else where it stands.
    pub label: &'a str,
    /// What it is shown for.
    pub purpose: Purpose,
    /// Where a debugger may stop: that place, then the calls that it is inside of, innermost first.
    pub trace: &'a [CallSite],
    /// Of what values of the machine the value is made.
    pub form: &'a Form,
    /// Those values.
    pub values: &'a [Value],
}

impl Shown<'_> {
    /// Writes the value as Futhark's interpreter does, but on one line.
    pub fn write_value(&self, out: &mut dyn Write) -> io::Result<()> {
        write_form(out, self.form, self.values, Style::Bare)
    }
}

/// What the host gives to an execution besides arguments.
#[derive(Clone, Copy, Default)]
pub struct Host<'a> {
    /// Tuning parameters that have values.
    pub params: &'a [(String, i64)],
    /// Who is shown what the program shows.
    pub shows: Option<&'a ShowSink>,
}

impl<'a, A: Adviser<'a>> Interpreter<'a, A> {
    pub(super) fn show_instruction(
        &mut self,
        registers: &mut Registers<'a>,
        block: BlockId,
        index: usize,
        instr: &'a Instr,
    ) -> Outcome<()> {
        match instr {
            Instr::Param { given, value, name } => {
                let found = self.host.params.iter().rev().find(|(other, _)| other == name);
                registers.set_bits(given.0, u64::from(found.is_some()));
                registers.set_bits(value.0, found.map_or(0, |(_, value)| *value as u64));
                Ok(())
            }
            Instr::Trace { label, form, purpose, values } => {
                let (Some(sink), Some(purpose)) = (self.host.shows, Purpose::of_number(*purpose)) else {
                    return Ok(());
                };
                if purpose == Purpose::Nan && !makes_nan(registers, values) {
                    return Ok(());
                }
                let values: Vec<Value> = values.iter().map(|operand| registers.value(*operand)).collect();
                let elements: i64 = values
                    .iter()
                    .filter_map(Value::as_array)
                    .map(|a| a.elements())
                    .fold(0, i64::saturating_add);
                self.pay(elements.max(0) as u64)?;
                let trace =
                    if purpose.stops() { self.back_trace(registers, block, index) } else { Vec::new() };
                let place;
                let label = if label.is_empty() {
                    place = self.place_text(registers, block, index);
                    &place
                } else {
                    label
                };
                sink(&Shown { label, purpose, trace: &trace, form, values: &values });
                Ok(())
            }
            _ => unreachable!("only these instructions come here"),
        }
    }

    /// Where an instruction comes from, then the calls that it is inside of.
    fn back_trace(&self, registers: &Registers<'a>, block: BlockId, index: usize) -> Vec<CallSite> {
        let mut trace = Vec::new();
        self.trace(&mut trace, registers.code, &registers.code.blocks[block], index);
        for (code, (block, index)) in self.callers.iter().rev() {
            self.trace(&mut trace, code, &code.blocks[*block], *index);
        }
        trace
    }

    fn place_text(&self, registers: &Registers<'a>, block: BlockId, index: usize) -> String {
        let place = registers.code.blocks[block].place(index);
        let file = place.and_then(|p| self.module.files.get(p.file as usize)).cloned();
        CallSite { function: registers.code.name.clone(), file, place }.to_string()
    }
}

/// Whether the first of some scalars is NaN and no other one is.
fn makes_nan(registers: &Registers<'_>, values: &[Operand]) -> bool {
    let mut are_nan = values.iter().map(|operand| {
        let scalar = registers.scalar(operand.reg);
        scalar.ty.is_float() && scalar.as_f64().is_nan()
    });
    are_nan.next() == Some(true) && !are_nan.any(|is_nan| is_nan)
}
