//! What the system can still give.
//!
//! Systems promise more memory than they have, and end a process that takes them at their word. So large storage is
//! only asked for when it is really there.

use std::fs;

/// Storage of at least this size is only taken if the system has it.
pub(super) const ASK_FROM: usize = 32 << 20;

/// What is left to others: a part of all memory, and at least so much.
const LEFT_PART: u64 = 64;
const LEFT_LEAST: u64 = 96 << 20;

/// Bytes that the system can give without moving other programs out, and without the process being ended; nothing where it
/// does not say.
pub fn available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let figure = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    };
    let left = (figure("MemTotal")? / LEFT_PART).max(LEFT_LEAST);
    let available = figure("MemAvailable")?.saturating_sub(left);
    Some(group().map_or(available, |group| group.min(available)))
}

/// What the control group of the process may still take, if it has a limit. What the group holds of files can be given up.
fn group() -> Option<u64> {
    let figure =
        |name: &str| fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse::<u64>().ok();
    let (limit, now) = (figure("memory.max")?, figure("memory.current")?);
    let statistics = fs::read_to_string("/sys/fs/cgroup/memory.stat").ok()?;
    let files = statistics.lines().find_map(|line| line.strip_prefix("inactive_file ")?.parse::<u64>().ok());
    Some((limit - limit / LEFT_PART).saturating_sub(now.saturating_sub(files.unwrap_or(0))))
}

/// Whether so much can be taken.
pub(super) fn has(size: usize) -> bool {
    size < ASK_FROM || available().is_none_or(|bytes| size as u64 <= bytes)
}
