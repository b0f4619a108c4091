//! Loops over rows, one at a time: `bench/count-rows` runs this under callgrind.
//!
//! ```text
//! phalanx-rows --list                      case, line and rows of each loop
//! phalanx-rows CASE LINE ITERATIONS        runs that loop so often
//! ```
//!
//! Every line of a case does the same with the same rows, by the same macro from [`body`].

use std::process::ExitCode;

mod bevy;
mod body;
mod hand;
mod hecs;
mod phalanx;

/// One loop of one library.
pub struct Line {
    /// What is done.
    pub case: &'static str,
    /// What does it, and from where.
    pub line: &'static str,
    /// Makes the world, runs the loop so often and returns the sum of what was written.
    pub run: fn(usize) -> f64,
}

fn main() -> ExitCode {
    let lines: Vec<Line> =
        [hand::lines(), hecs::lines(), bevy::lines(), phalanx::lines()].into_iter().flatten().collect();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["--list"] => {
            for line in &lines {
                println!("{} {} {}", line.case, line.line, body::rows(line.case));
            }
            ExitCode::SUCCESS
        }
        [case, name, iterations] => {
            let line = lines.iter().find(|line| line.case == case && line.line == name);
            let (Some(line), Ok(iterations)) = (line, iterations.parse()) else {
                eprintln!("no such loop: {case} {name} {iterations}");
                return ExitCode::FAILURE;
            };
            println!("{}", (line.run)(iterations));
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("usage: phalanx-rows --list | CASE LINE ITERATIONS");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_case_write_the_same() {
        let lines: Vec<Line> =
            [hand::lines(), hecs::lines(), bevy::lines(), phalanx::lines()].into_iter().flatten().collect();
        for line in &lines {
            let first = lines.iter().find(|other| other.case == line.case).expect("itself");
            assert_eq!((first.run)(3), (line.run)(3), "{} {} and {}", line.case, first.line, line.line);
            assert_ne!((line.run)(1), (line.run)(3), "{} {}", line.case, line.line);
        }
    }
}
