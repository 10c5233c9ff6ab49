//! What this machine is, as plans want to know it.
//!
//! ```
//! use galopvm::{CpuMode, machine};
//!
//! let found = machine::detect(CpuMode::Avx2.vectors(), None);
//! assert_eq!(found.threads, machine::hardware_threads());
//! println!("{}: {} caches", machine::processor_name().unwrap_or_default(), machine::caches().len());
//! // Machines of one kind have one signature.
//! assert_eq!(machine::signature(), machine::signature());
//! ```

use galopvm_kir::{Machine, Vectors};
use std::io::Read;
use std::path::Path;

/// The number of hardware threads this process may use.
pub fn hardware_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// The numbers of this machine, or as much of it as is asked for.
pub fn detect(vectors: Vectors, threads: Option<usize>) -> Machine {
    let (usual, mut caches) = (Machine::default(), [None; 2]);
    // Every start comes by here: what plans do not ask for is not read.
    for cache in listed_caches() {
        if let Some(known) = caches.get_mut((cache.level as usize).wrapping_sub(1)) {
            *known = known.or(Some(cache.bytes));
        }
        if caches.iter().all(Option::is_some) {
            break;
        }
    }
    Machine {
        vectors,
        threads: threads.unwrap_or_else(hardware_threads).max(1),
        l1_bytes: caches[0].unwrap_or(usual.l1_bytes),
        l2_bytes: caches[1].unwrap_or(usual.l2_bytes),
        ..usual
    }
}

/// A cache of the first processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cache {
    /// 1 is the nearest.
    pub level: u32,
    /// How much it holds.
    pub bytes: usize,
}

/// The caches for data of the first processor, nearest first, where the system tells.
pub fn caches() -> Vec<Cache> {
    let mut caches: Vec<Cache> = listed_caches().collect();
    caches.sort_by_key(|cache| cache.level);
    caches
}

/// The same in the system's order, which is that of levels on systems that we know; read one after the other.
fn listed_caches() -> impl Iterator<Item = Cache> {
    let caches = (0..16).map_while(|index| {
        let folder = format!("/sys/devices/system/cpu/cpu0/cache/index{index}");
        let read = |name: &str| std::fs::read_to_string(Path::new(&folder).join(name)).ok();
        if read("type")?.trim() == "Instruction" {
            return Some(None);
        }
        let (level, bytes) = (read("level")?.trim().parse().ok()?, size(read("size")?.trim())?);
        Some(Some(Cache { level, bytes }))
    });
    caches.flatten()
}

/// What the system calls the processor.
pub fn processor_name() -> Option<String> {
    // The first processor is enough, and with hundreds of them the whole text takes long to make.
    let mut text = Vec::new();
    std::fs::File::open("/proc/cpuinfo").ok()?.take(4096).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let field = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.split_once(':').map(|(_, value)| value.trim().to_string())
    };
    field("model name").or_else(|| field("Processor")).filter(|name| !name.is_empty())
}

/// A line that tells this kind of machine from others whose processors go by the same name.
pub fn signature() -> String {
    let name = processor_name().unwrap_or_else(|| format!("unknown {}", std::env::consts::ARCH));
    let caches = caches().into_iter().map(|cache| format!(", L{} {}K", cache.level, cache.bytes >> 10));
    caches.fold(name, |text, cache| text + &cache)
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
    fn a_signature_is_one_line_and_stays() {
        assert_eq!(signature(), signature());
        assert!(!signature().contains('\n') && !signature().is_empty());
        assert!(caches().is_sorted_by_key(|cache| cache.level));
    }

    #[test]
    fn a_machine_has_caches_and_threads() {
        let machine = detect(Vectors::NONE, None);
        assert!(machine.threads >= 1 && machine.l1_bytes >= 1 << 10 && machine.l2_bytes >= machine.l1_bytes);
        assert_eq!(detect(Vectors::NONE, Some(0)).threads, 1);
    }
}
