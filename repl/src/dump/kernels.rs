//! Stages of kernels that were launched.

use super::program::same;
use super::{Args, Dumped, Stage, heading, refused};
use crate::failure::Failure;
use crate::input::{self, Input};
use galopvm::{Backend, BackendChoice, Engine, Program, Route};
use galopvm_kir::text::{parse_plan, print_plan};
use galopvm_kir::{Compiled, Launch, Listing, Reference, Refusal, RunError, Unit};
use galopvm_runtime::tier::Version;
use std::sync::Arc;

/// Runs the entry point with every kernel compiled, and shows what was made.
pub fn dump(args: &Args, stage: Stage, program: &Program, values: &Option<Input>) -> Result<Dumped, Failure> {
    debug_assert!(stage.is_observed());
    let mut builder = Engine::builder();
    builder = match stage {
        Stage::Spirv => builder.own_backend(Arc::new(Listed { kind: Listing::Spirv, route: args.route })),
        Stage::Glsl => builder.own_backend(Arc::new(Listed { kind: Listing::Glsl, route: Route::Glsl })),
        Stage::Asm => builder.backend(BackendChoice::X86),
        // Any back end will do, and this one refuses nothing.
        _ => builder.backend(BackendChoice::Reference),
    };
    if let Some(cpu) = args.cpu {
        builder = builder.cpu(cpu);
    }
    if let Some(threads) = args.threads {
        builder = builder.threads(threads);
    }
    let engine = builder.build();
    let mut session = engine.session(program);
    let entry = session.entry(&args.entry)?.clone();
    let arguments = input::arguments_of(&session, &entry, values.as_ref())?;
    session.call_values(&args.entry, arguments)?;
    let mut text: String = engine.notes().iter().map(|note| format!("note: {note}\n")).collect();
    let mut back = Ok(0);
    for site in session.sites().iter().filter(|site| site.profile.executions > 0) {
        text.push_str(&heading(&site.name));
        match &site.lifted {
            Some(Ok(lifted)) if !site.versions.is_empty() => {
                for version in &site.versions {
                    let part = match stage {
                        Stage::Plan => plan(lifted.region.region(), version),
                        Stage::Asm => listing(version, Listing::Asm),
                        Stage::Spirv => listing(version, Listing::Spirv),
                        _ => listing(version, Listing::Glsl),
                    };
                    if stage == Stage::Plan {
                        back = back.and_then(|count| {
                            let region = lifted.region.region();
                            let plan = parse_plan(region, &part).map_err(|error| error.to_string())?;
                            let lines = same(&part, &print_plan(region, &plan))?;
                            if plan == *version.plan.plan() {
                                Ok(count + lines)
                            } else {
                                Err(format!("{} has another plan", site.name))
                            }
                        });
                    }
                    text.push_str(&part);
                }
            }
            Some(Err(refusal)) => text.push_str(&refused(&refusal.reason)),
            _ => text.push_str(&format!("interpreted: {}\n", site.profile.reason)),
        }
    }
    Ok(Dumped { text, back: (stage == Stage::Plan).then_some(back) })
}

fn plan(region: &galopvm_kir::Region, version: &Version) -> String {
    print_plan(region, version.plan.plan())
}

fn listing(version: &Version, kind: Listing) -> String {
    let code = version.code.as_ref().and_then(|(_, code)| code.listing(kind));
    code.unwrap_or_else(|| {
        let reasons: Vec<String> =
            version.refusals.iter().map(|(name, reason)| refused(&format!("{name}: {reason}"))).collect();
        reasons.concat()
    })
}

/// Shows kernels as the Vulkan back end would compile them, on any machine; they run on the reference evaluator.
struct Listed {
    kind: Listing,
    route: Route,
}

/// A kernel with its text.
struct Shown {
    code: Arc<dyn Compiled>,
    kind: Listing,
    text: String,
}

impl Backend for Listed {
    fn name(&self) -> &'static str {
        "vulkan"
    }

    fn compile(&self, unit: Unit<'_>) -> Result<Arc<dyn Compiled>, Refusal> {
        let text = galopvm_gpu::listing(unit, self.kind, self.route)?;
        Ok(Arc::new(Shown { code: Reference.compile(unit)?, kind: self.kind, text }))
    }
}

impl Compiled for Shown {
    fn run(&self, launch: &mut Launch<'_>) -> Result<(), RunError> {
        self.code.run(launch)
    }

    fn listing(&self, kind: Listing) -> Option<String> {
        (kind == self.kind).then(|| self.text.clone())
    }
}
