//! `galopvm doctor`: what this machine offers, what will be used, and why not the rest.
//!
//! - `facts.rs`: what there is. `page.rs`: the same for people. `document.rs`: the same for programs.
//! - `measure.rs`: what the cost model counts with, measured. `costs.rs`: where that is kept, and what is used of it.

mod costs;
mod document;
mod facts;
mod measure;
mod page;

use crate::failure::{Failure, Outcome};
use crate::settings::Settings;
use facts::Facts;
use std::io::Write;

/// Show what this machine offers, what will be used, and why not the rest
///
/// With --calibrate, what accesses to memory cost on this machine is measured and kept in the user's cache folder;
/// galopvm counts with it from then on when it decides how arrays should lie in memory. Results of programs stay the same.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  galopvm doctor
  galopvm doctor --json                           the same for programs
  galopvm doctor --calibrate                      measure this machine; takes some seconds
  galopvm doctor --reset                          forget what was measured
  galopvm doctor --backend vulkan --route glsl    what these options would lead to
  GALOPVM_VULKAN_DEVICE=cpu galopvm doctor        with another device

Exit codes: 0 success, 1 this machine cannot be measured, 2 a mistake on the command line, or a file that cannot be written.")]
pub struct Args {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Measure what accesses to memory cost, and keep it; best done when nothing else runs
    #[arg(long)]
    calibrate: bool,
    /// Forget what was measured of this machine
    #[arg(long, conflicts_with = "calibrate")]
    reset: bool,
    #[command(flatten)]
    settings: Settings,
}

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    let timings = if args.calibrate {
        Some(costs::calibrate(&args.settings)?)
    } else {
        if args.reset {
            costs::reset()?;
        }
        None
    };
    let facts = Facts::collect(&args.settings);
    let text = if args.json {
        format!("{}\n", document::of(&facts, timings.as_ref()))
    } else if args.calibrate || args.reset {
        page::costs(&facts, timings.as_ref())
    } else {
        page::all(&facts)
    };
    std::io::stdout().lock().write_all(text.as_bytes()).map_err(Failure::Output)
}
