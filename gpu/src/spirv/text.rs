//! SPIR-V as text.

use rspirv::binary::Disassemble;

/// What a line that starts a stage in a listing begins with.
pub const STAGE: &str = "; stage ";

/// The text of a module.
pub fn print(words: &[u32]) -> Result<String, String> {
    let module = rspirv::dr::load_words(words).map_err(|e| e.to_string())?;
    Ok(module.disassemble() + "\n")
}
