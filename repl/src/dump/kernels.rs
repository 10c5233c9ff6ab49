//! Stages of kernels that were launched.

use super::program::same;
use super::{Args, Dumped, REFUSED, Stage, heading, refused};
use crate::failure::Failure;
use crate::input::{self, Values};
use galopvm::{Backend, BackendChoice, Engine, Program, Route, Session};
use galopvm_gpu::spirv::text as spirv;
use galopvm_jit::{X86Backend, check_lir, listing};
use galopvm_kir::text::{parse_plan, print_plan};
use galopvm_kir::{CheckedLaunch, Compiled, Listing, Refusal, Region, RunError, Unit};
use galopvm_tier::Version;
use std::sync::Arc;

/// Runs the entry point with every kernel compiled, and shows what was made.
pub fn dump(
    args: &Args,
    stage: Stage,
    program: &Program,
    values: Option<&Values>,
) -> Result<Dumped, Failure> {
    debug_assert!(stage.is_observed());
    let mut builder = Engine::builder().switches(args.off.switches());
    builder = match stage {
        Stage::Spirv => builder.own_backend(Arc::new(Listed { kind: Listing::Spirv, route: args.route })),
        Stage::Glsl => builder.own_backend(Arc::new(Listed { kind: Listing::Glsl, route: Route::Glsl })),
        Stage::Lir | Stage::Asm => builder.backend(BackendChoice::X86),
        _ => builder.own_backend(Arc::new(Planned)),
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
    let arguments = input::arguments_of(&session, &entry, values)?;
    session.call_values(&args.entry, arguments)?;
    Ok(of_session(stage, &session))
}

/// What was made of the kernels that a session has launched.
pub fn of_session(stage: Stage, session: &Session) -> Dumped {
    let mut text: String = session.engine().notes().iter().map(|note| format!("note: {note}\n")).collect();
    let mut back = Ok(Some(0));
    for site in session.sites().iter().filter(|site| site.profile.executions > 0) {
        text.push_str(&heading(&site.name));
        match &site.lifted {
            Some(Ok(lifted)) if !site.versions.is_empty() => {
                for version in &site.versions {
                    let part = match stage {
                        Stage::Plan => plan(lifted.region.region(), version),
                        Stage::Lir => text_of(version, Listing::Lir),
                        Stage::Asm => text_of(version, Listing::Asm),
                        Stage::Spirv => text_of(version, Listing::Spirv),
                        _ => text_of(version, Listing::Glsl),
                    };
                    back = back.and_then(|known: Option<usize>| {
                        let region = lifted.region.region();
                        let lines = if part.starts_with(REFUSED) {
                            Some(0)
                        } else {
                            parsed_back(stage, region, version, &part)?
                        };
                        Ok(known.zip(lines).map(|(known, lines)| known + lines))
                    });
                    text.push_str(&part);
                }
            }
            Some(Err(refusal)) => text.push_str(&refused(&refusal.reason)),
            _ => text.push_str(&format!("interpreted: {}\n", site.profile.reason)),
        }
    }
    Dumped { text, back: back.transpose() }
}

/// The number of lines of a kernel's text that parsed back to the same thing; nothing if this build cannot tell.
fn parsed_back(
    stage: Stage,
    region: &Region,
    version: &Version,
    part: &str,
) -> Result<Option<usize>, String> {
    match stage {
        Stage::Plan => {
            let plan = parse_plan(region, part).map_err(|error| error.to_string())?;
            let lines = same(part, &print_plan(region, &plan))?;
            if plan == *version.plan.plan() { Ok(Some(lines)) } else { Err("it is another plan".into()) }
        }
        Stage::Lir => check_lir(part).map(Some),
        Stage::Asm => {
            let again = listing::parse(part)?
                .iter()
                .map(|(header, code)| listing::disassemble(header, code))
                .collect::<String>();
            same(part, &again).map(Some)
        }
        Stage::Spirv => {
            let words = spirv::parse_stages(part).map_err(|error| error.to_string())?;
            let printed: Result<Vec<String>, String> =
                words.iter().map(|words| spirv::print(words)).collect();
            let body: String =
                part.lines().filter(|l| !l.starts_with(spirv::STAGE)).map(|l| format!("{l}\n")).collect();
            same(&body, &printed?.concat()).map(Some)
        }
        _ => glsl_back(version, part),
    }
}

/// GLSL reads back by compiling it: to the words that its kernel runs as.
#[cfg(feature = "shaderc")]
fn glsl_back(version: &Version, part: &str) -> Result<Option<usize>, String> {
    let words = spirv::parse_stages(&text_of(version, Listing::Spirv)).map_err(|error| error.to_string())?;
    let shaders: Vec<&str> =
        part.split("// stage ").skip(1).filter_map(|s| s.split_once('\n')).map(|s| s.1).collect();
    if shaders.len() != words.len() {
        return Err(format!("{} shaders for {} stages", shaders.len(), words.len()));
    }
    for (shader, words) in shaders.iter().zip(&words) {
        if galopvm_gpu::glsl::compile::words_of_text(shader, &galopvm_gpu::Features::all())
            .map_err(|error| error.to_string())?
            != *words
        {
            return Err("it compiles to other words".into());
        }
    }
    Ok(Some(part.lines().count()))
}

#[cfg(not(feature = "shaderc"))]
fn glsl_back(_: &Version, _: &str) -> Result<Option<usize>, String> {
    Ok(None)
}

fn plan(region: &Region, version: &Version) -> String {
    print_plan(region, version.plan.plan())
}

fn text_of(version: &Version, kind: Listing) -> String {
    let code = version.code.as_ref().and_then(|(_, code)| code.listing(kind));
    code.unwrap_or_else(|| {
        let reasons: Vec<String> =
            version.refusals.iter().map(|(name, reason)| refused(&format!("{name}: {reason}"))).collect();
        reasons.concat()
    })
}

/// Takes every kernel, so that each has a plan.
struct Planned;

impl Backend for Planned {
    fn name(&self) -> &'static str {
        "reference"
    }

    fn compile(&self, unit: Unit<'_>) -> Result<Arc<dyn Compiled>, Refusal> {
        Ok(executable(unit))
    }
}

/// What executes a kernel of which only the text is wanted: machine code, or else the interpreter. The reference
/// evaluator would take its time over sizes as programs have them.
fn executable(unit: Unit<'_>) -> Arc<dyn Compiled> {
    X86Backend::default().compile(unit).unwrap_or_else(|_| Arc::new(Interpreted))
}

/// A kernel that leaves its work to the interpreter.
struct Interpreted;

impl Compiled for Interpreted {
    fn run_until(&self, _: CheckedLaunch<'_, '_>, _: &(dyn Fn() -> bool + Sync)) -> Result<(), RunError> {
        Err(RunError::Trap)
    }

    fn listing(&self, _: Listing) -> Option<String> {
        None
    }
}

/// Shows kernels as the Vulkan back end would compile them, on any machine.
struct Listed {
    kind: Listing,
    route: Route,
}

/// A kernel with its texts.
struct Shown {
    code: Arc<dyn Compiled>,
    texts: Vec<(Listing, String)>,
}

impl Backend for Listed {
    fn name(&self) -> &'static str {
        "vulkan"
    }

    fn compile(&self, unit: Unit<'_>) -> Result<Arc<dyn Compiled>, Refusal> {
        let mut texts = vec![(self.kind, galopvm_gpu::listing(unit, self.kind, self.route)?)];
        if self.kind == Listing::Glsl && self.route.is_built_in() {
            texts.push((Listing::Spirv, galopvm_gpu::listing(unit, Listing::Spirv, self.route)?));
        }
        Ok(Arc::new(Shown { code: executable(unit), texts }))
    }
}

impl Compiled for Shown {
    fn run_until(
        &self,
        launch: CheckedLaunch<'_, '_>,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), RunError> {
        self.code.run_until(launch, stop)
    }

    fn listing(&self, kind: Listing) -> Option<String> {
        self.texts.iter().find(|(of, _)| *of == kind).map(|(_, text)| text.clone())
    }
}
