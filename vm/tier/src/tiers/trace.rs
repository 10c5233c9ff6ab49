//! Events of tiering, one line each.

use crate::fused::Line;
use crate::profile::SiteName;
use galopvm_kir::{Plan, VerifiedRegion};
use std::fmt;
use std::sync::Arc;

/// Receives events.
pub type TraceSink = Arc<dyn Fn(&Event<'_>) + Send + Sync>;

/// Something that happened at a site.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields say what they are")]
pub enum Event<'a> {
    /// The operator became a kernel.
    Lifted { site: SiteName, region: &'a VerifiedRegion },
    /// The loop is done in blocks of so many rounds.
    InBlocks { site: SiteName, rounds: u32, reason: &'a str },
    /// The operator cannot be a kernel.
    NotLifted { site: SiteName, reason: &'a str },
    /// Decisions were taken.
    Planned { site: SiteName, plan: &'a Plan },
    /// A back end does not take the kernel, or failed to run it.
    Refused { site: SiteName, backend: &'a str, reason: &'a str },
    /// A back end made code, or had made it for somebody else.
    Compiled { site: SiteName, backend: &'a str, micros: u64, is_shared: bool },
    /// Code ran.
    Launched { site: SiteName, backend: &'a str, micros: u64, work: u64 },
    /// The operator runs together with others.
    Fused { site: SiteName, line: &'a Line },
    /// It does not.
    Alone { site: SiteName, reason: &'a str },
    /// The interpreter has to.
    FellBack { site: SiteName, reason: &'a str },
}

impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Lifted { site, region } => {
                let (params, reads) = (region.region().params.len(), region.region().reads);
                write!(f, "{site}: lifted, {params} parameters, {reads} reads")
            }
            Event::InBlocks { site, rounds, reason } => {
                write!(f, "{site}: in blocks of {rounds} rounds: {reason}")
            }
            Event::NotLifted { site, reason } => write!(f, "{site}: not lifted: {reason}"),
            Event::Planned { site, plan } => {
                write!(f, "{site}: planned")?;
                for (k, line) in plan.lines.iter().enumerate() {
                    let comma = if k == 0 { ":" } else { "," };
                    write!(f, "{comma} {} ({})", line.decision.word(), line.reason)?;
                }
                Ok(())
            }
            Event::Refused { site, backend, reason } => write!(f, "{site}: {backend} refused: {reason}"),
            Event::Compiled { site, backend, micros, is_shared } => {
                let how = if *is_shared { "code found" } else { "compiled" };
                write!(f, "{site}: {backend} {how} in {micros} us")
            }
            Event::Launched { site, backend, micros, work } => {
                write!(f, "{site}: {backend} launched, {work} operations in {micros} us")
            }
            Event::Fused { site, line } => write!(f, "{site}: fused: {line}"),
            Event::Alone { site, reason } => write!(f, "{site}: not fused: {reason}"),
            Event::FellBack { site, reason } => write!(f, "{site}: interpreted: {reason}"),
        }
    }
}
