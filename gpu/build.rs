//! With the feature `shaderc`: finds the static libraries shaderc needs and adds those it does not carry itself.
//!
//! Debian's `libshaderc_combined.a` holds shaderc alone, so glslang's and SPIRV-Tools' archives must follow.
//! Without the libraries the build stops here with advice; the `shaderc-sys` crate would otherwise try to build
//! them from source, which takes cmake and some twenty minutes.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What shaderc's archive needs, each before what it needs itself. The flag: it exists in some releases only.
const ARCHIVES: [(&str, bool); 9] = [
    ("SPIRV", false),
    ("glslang", false),
    ("MachineIndependent", true),
    ("GenericCodeGen", true),
    ("OGLCompiler", true),
    ("OSDependent", true),
    ("glslang-default-resource-limits", true),
    ("SPIRV-Tools-opt", false),
    ("SPIRV-Tools", false),
];

const SHADERC: &str = "libshaderc_combined.a";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=SHADERC_LIB_DIR");
    println!("cargo:rerun-if-env-changed=CC");
    if env::var_os("CARGO_FEATURE_SHADERC").is_none() {
        return;
    }
    let folders = candidates();
    let Some(folder) = folders.iter().find(|f| f.join(SHADERC).is_file()) else {
        let searched: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
        fail(&format!("{SHADERC} is in none of: {}", searched.join(", ")));
    };
    println!("cargo:rerun-if-changed={}", folder.join(SHADERC).display());
    println!("cargo:rustc-link-search=native={}", folder.display());
    for (name, optional) in ARCHIVES {
        if folder.join(format!("lib{name}.a")).is_file() {
            println!("cargo:rustc-link-lib=static:-bundle={name}");
        } else if !optional {
            fail(&format!("lib{name}.a is not in {}", folder.display()));
        }
    }
    println!("cargo:rustc-link-lib=stdc++");
}

/// Where the libraries may be, the explicit folder first.
fn candidates() -> Vec<PathBuf> {
    if let Some(folder) = env::var_os("SHADERC_LIB_DIR") {
        return vec![PathBuf::from(folder)];
    }
    let mut folders = Vec::new();
    // The C compiler knows its library folders for whatever architecture this is.
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".into());
    if let Ok(output) = Command::new(compiler).arg(format!("-print-file-name={SHADERC}")).output() {
        // It answers the bare name when it finds nothing.
        let answer = String::from_utf8_lossy(&output.stdout);
        if let Some(folder) = Path::new(answer.trim()).parent().filter(|f| f.is_absolute()) {
            folders.push(folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf()));
        }
    }
    let arch = env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    folders.push(format!("/usr/lib/{arch}-linux-gnu").into());
    folders.extend(["/usr/lib64", "/usr/lib", "/usr/local/lib"].map(PathBuf::from));
    folders
}

fn fail(why: &str) -> ! {
    eprintln!(
        "\nerror: the feature `shaderc` needs shaderc's, glslang's and SPIRV-Tools' static libraries: {why}"
    );
    eprintln!(
        "help: on Debian run `tests/setup.sh`, which installs them; elsewhere set SHADERC_LIB_DIR to their folder"
    );
    eprintln!("help: without the feature the Vulkan back end needs no system package\n");
    std::process::exit(1);
}
