//! How long tests of random histories run.
//!
//! A part of the steps finds what a change broke; all of them are for CI and for a long look. So `cargo test` takes the
//! usual number, `PHALANX_MODEL_STEPS=full` the full one, and `PHALANX_MODEL_STEPS=n` any other.
#![allow(dead_code, reason = "not every test program has a choice of seeds")]

/// How many random steps a test takes.
pub fn model_steps(usual: usize, full: usize) -> usize {
    match std::env::var("PHALANX_MODEL_STEPS") {
        Ok(text) if text == "full" => full,
        Ok(text) => {
            text.parse().unwrap_or_else(|_| panic!("PHALANX_MODEL_STEPS is a number or `full`, not `{text}`"))
        }
        Err(_) => usual,
    }
}

/// A number that the environment may set.
pub fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")))
}
