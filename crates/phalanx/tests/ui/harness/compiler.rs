//! Starts the compiler on a case, with the library that this program is linked with.
//!
//! Cargo has built the library already, and says where: the same call that built this program finds nothing to do. A package
//! of its own, checked by cargo, would compile the library and all it depends on twice more.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The packages' common folder.
pub fn workspace() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).expect("the package stands in `crates`").to_owned()
}

/// What a case is compiled with.
pub struct Compiler {
    library: PathBuf,
    scratch: PathBuf,
}

impl Compiler {
    /// Asks cargo for the library.
    pub fn new() -> Self {
        let this = std::env::current_exe().expect("the path of this program");
        // `TARGET/PROFILE/deps/ui-0123`.
        let target = this.ancestors().nth(3).expect("programs stand in a target directory");
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.current_dir(env!("CARGO_MANIFEST_DIR")).args(["test", "--offline", "--quiet", "-p", "phalanx"]);
        cargo.args([
            "--test",
            "ui",
            "--no-run",
            "--message-format=json",
            "--no-default-features",
            "--features",
        ]);
        let features = [
            ("default", cfg!(feature = "default")),
            ("parallel", cfg!(feature = "parallel")),
            ("trace", cfg!(feature = "trace")),
            ("ctrl_c", cfg!(feature = "ctrl_c")),
        ];
        let features: Vec<&str> = features.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect();
        cargo.arg(features.join(",")).arg("--target-dir").arg(target);
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        let output = cargo.output().expect("cargo can be started");
        let said = String::from_utf8(output.stderr).expect("cargo speaks UTF-8");
        assert!(output.status.success(), "cargo does not find the library:\n{said}");
        let artifacts = String::from_utf8(output.stdout).expect("cargo speaks UTF-8");
        let library = artifacts.lines().find_map(library).expect("cargo names the library");
        let scratch = target.join("tests/ui");
        std::fs::create_dir_all(&scratch).expect("a folder below the target directory");
        Self { library, scratch }
    }

    /// What the compiler says of a case, a path in the workspace; `Ok` when it compiles.
    pub fn check(&self, case: &str) -> Result<String, String> {
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        // The library's sources, which messages quote, are known by their paths from here.
        rustc.current_dir(workspace()).arg(case);
        rustc.args(["--edition", "2024", "--emit", "metadata", "--verbose", "--allow", "dead_code"]);
        rustc.args(["--error-format", "json", "--diagnostic-width", "140"]);
        rustc.arg("--out-dir").arg(&self.scratch);
        let dependencies = self.library.parent().expect("a library stands in a folder");
        rustc.arg("-L").arg(format!("dependency={}", dependencies.display()));
        rustc.arg("--extern").arg(format!("phalanx={}", self.library.display()));
        let output = rustc.output().expect("the compiler can be started");
        let said = String::from_utf8(output.stderr).expect("the compiler speaks UTF-8");
        // Some derives are told the same twice, of the same place.
        let mut texts: Vec<String> = Vec::new();
        for text in said.lines().filter_map(rendered) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        if output.status.success() { Ok(texts.concat()) } else { Err(texts.concat()) }
    }
}

/// The library's path, if the line of cargo's messages tells of it.
fn library(message: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    let target = &message["target"];
    if message["reason"] != "compiler-artifact" || target["name"] != "phalanx" || target["kind"][0] != "lib" {
        return None;
    }
    let files = message["filenames"].as_array()?.iter().filter_map(serde_json::Value::as_str);
    files.map(PathBuf::from).find(|path| path.extension().is_some_and(|end| end == "rlib"))
}

/// The text of one of the compiler's messages, if it is about the case and not only a summary.
fn rendered(message: &str) -> Option<String> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    let summary =
        message["level"] == "failure-note" || message["message"].as_str()?.starts_with("aborting due to ");
    if summary { None } else { message["rendered"].as_str().map(str::to_owned) }
}
