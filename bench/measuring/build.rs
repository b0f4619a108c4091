//! Tells the program which compiler built it, for the head of its tables.

use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let output = Command::new(rustc).arg("--version").output();
    let version = output.ok().and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    println!("cargo:rustc-env=MEASURING_RUSTC={}", version.trim());
    println!("cargo:rerun-if-changed=build.rs");
}
