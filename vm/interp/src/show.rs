//! What programs show while they run, and what hosts tell them: `trace` and `param`.

use crate::{Adviser, Interpreter, Outcome, Registers};
use galopvm_bytecode::{BlockId, Form, Instr};
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
    /// Whether a debugger would stop here; else the value alone is of interest.
    pub stops: bool,
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
            Instr::Trace { label, form, stops, values } => {
                let values: Vec<Value> = values.iter().map(|operand| registers.value(*operand)).collect();
                let Some(sink) = self.host.shows else { return Ok(()) };
                let elements: i64 = values
                    .iter()
                    .filter_map(Value::as_array)
                    .map(|a| a.elements())
                    .fold(0, i64::saturating_add);
                self.pay(elements.max(0) as u64)?;
                let place;
                let label = if label.is_empty() {
                    place = self.place_text(registers, block, index);
                    &place
                } else {
                    label
                };
                sink(&Shown { label, stops: *stops != 0, form, values: &values });
                Ok(())
            }
            _ => unreachable!("only these instructions come here"),
        }
    }

    fn place_text(&self, registers: &Registers<'a>, block: BlockId, index: usize) -> String {
        let place = registers.code.blocks[block].place(index);
        let file = place.and_then(|p| self.module.files.get(p.file as usize)).cloned();
        CallSite { function: registers.code.name.clone(), file, place }.to_string()
    }
}
