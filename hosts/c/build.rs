//! The name under which programs look for the shared library.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libgalopvm.so.0");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
