//! What this machine is, as plans want to know it.

use galopvm_kir::{CpuMode, Machine};
use std::path::Path;

/// The number of hardware threads this process may use.
pub fn hardware_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// The numbers of this machine, or as much of it as is asked for.
pub fn detect(cpu: CpuMode, threads: Option<usize>) -> Machine {
    let usual = Machine::default();
    Machine {
        cpu,
        threads: threads.unwrap_or_else(hardware_threads).max(1),
        l1_bytes: cache_bytes(1).unwrap_or(usual.l1_bytes),
        l2_bytes: cache_bytes(2).unwrap_or(usual.l2_bytes),
        ..usual
    }
}

/// Bytes of the first processor's data cache of a level, where the system tells.
fn cache_bytes(level: u32) -> Option<usize> {
    (0..8).find_map(|index| {
        let folder = format!("/sys/devices/system/cpu/cpu0/cache/index{index}");
        let read = |name: &str| std::fs::read_to_string(Path::new(&folder).join(name)).ok();
        let wanted = read("level")?.trim() == level.to_string() && read("type")?.trim() != "Instruction";
        if wanted { size(read("size")?.trim()) } else { None }
    })
}

/// Sizes as the system writes them: `32K`, `1M`, `512`.
fn size(text: &str) -> Option<usize> {
    let (digits, unit) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        b'G' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<usize>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("48K"), Some(48 << 10));
        assert_eq!(size("2M"), Some(2 << 20));
        assert_eq!(size("512"), Some(512));
        assert_eq!(size("K"), None);
        assert_eq!(size(""), None);
    }

    #[test]
    fn a_machine_has_caches_and_threads() {
        let machine = detect(CpuMode::Scalar, None);
        assert!(machine.threads >= 1 && machine.l1_bytes >= 1 << 10 && machine.l2_bytes >= machine.l1_bytes);
        assert_eq!(detect(CpuMode::Scalar, Some(0)).threads, 1);
    }
}
