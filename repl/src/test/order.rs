//! In which order programs are tested: those that seem to have the most to do come first, so that no thread is left alone with one
//! of them when all others are done.

use crate::dataset;
use crate::spec::{Given, parse};
use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};

/// Inputs of which a program has fewer numbers than this say nothing of its time.
const FEW: u64 = 1 << 16;

/// Programs with large inputs first, the others in their order.
pub fn longest_first(mut programs: Vec<PathBuf>) -> Vec<PathBuf> {
    programs.sort_by_cached_key(|program| Reverse(Some(likely_work(program)).filter(|work| *work >= FEW)));
    programs
}

/// About how many numbers the cases of a program are given.
fn likely_work(program: &Path) -> u64 {
    let Ok(spec) = fs::read_to_string(program).map_err(drop).and_then(|text| parse(&text).map_err(drop))
    else {
        return 0;
    };
    let beside = |name: &str| program.parent().unwrap_or(Path::new("")).join(name);
    let numbers = spec.cases.iter().map(|case| match &case.given {
        Given::Random(types) => types.split_whitespace().map(elements).fold(0, u64::saturating_add),
        Given::File(name) | Given::ScriptFile(name) => {
            fs::metadata(beside(name)).map_or(0, |file| file.len())
        }
        Given::Values(text) | Given::Script(text) => (text.len() as u64).max(extents(text)),
    });
    numbers.fold(0, u64::saturating_add)
}

/// How many elements a random value of a type has.
fn elements(ty: &str) -> u64 {
    let shape = dataset::parse_type(ty).map_or_else(|_| Vec::new(), |(_, shape)| shape);
    shape.iter().map(|extent| extent.unsigned_abs()).fold(1, u64::saturating_mul)
}

/// The sum of the numbers in a text that may be extents.
fn extents(text: &str) -> u64 {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    let numbers = words.filter_map(|word| word.strip_suffix("i64")?.parse::<u64>().ok());
    numbers.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::{elements, extents, longest_first};
    use std::fs;

    #[test]
    fn elements_of_types() {
        let types = ["i64", "[10]f32", "[3][4]u8", "[n]i32", "[9223372036854775807][4]i8"];
        assert_eq!(types.map(elements), [1, 10, 12, 1, u64::MAX]);
    }

    #[test]
    fn extents_in_texts() {
        let texts = ["2i64 1100i64 1 10", "[1i64, -5i64, 2i32]", "f 7i64 (iota 3)", ""];
        assert_eq!(texts.map(extents), [1102, 1, 7, 0]);
    }

    #[test]
    fn large_inputs_come_first_and_others_stay() {
        let folder = std::env::temp_dir().join(format!("galopvm-order-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let inputs =
            [("a", "{ 1i64 }"), ("b", "random { [70000]f32 }"), ("c", "{ 3i64 }"), ("d", "{ 80000i64 }")];
        let programs = inputs.map(|(name, input)| {
            let path = folder.join(name).with_extension("fut");
            let (words, values) = input.split_at(input.find('{').unwrap_or(0));
            fs::write(&path, format!("-- ==\n-- {words} input {values}\n")).expect("a file");
            path
        });
        let names = longest_first(programs.to_vec());
        let names: Vec<_> = names.iter().filter_map(|path| path.file_stem()?.to_str()).collect();
        assert_eq!(names, ["d", "b", "a", "c"]);
        fs::remove_dir_all(folder).expect("the folder is there");
    }
}
