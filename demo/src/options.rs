//! What the command line says.
//!
//! Every option has a default, so that the plain program shows something. Unknown words and numbers that make no sense
//! are errors that say what is expected.

use phalanx::schedule::Threads;

pub const HELP: &str = "\
A battle of two armies, to show Phalanx at work.

usage: demo [OPTIONS]

  --seed N        the battle to be fought            (default 1)
  --frames N      how many frames it lasts           (default 300)
  --threads N     0: as many as the machine offers, 1: one after the other, N: that many (default 0)
  --entities N    how many fight at the beginning    (default 100000)
  --picture FILE  write the schedule of a frame as an SVG picture
  --help          show this

The same seed, frames and entities give the same `digest:` line for every number of threads.
";

/// The battle to be fought.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    pub seed: u64,
    pub frames: u32,
    pub threads: Threads,
    pub entities: u32,
    pub picture: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 1, frames: 300, threads: Threads::Auto, entities: 100_000, picture: None }
    }
}

impl Options {
    /// `None` when help is asked for.
    pub fn from_args(mut args: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let mut options = Self::default();
        while let Some(arg) = args.next() {
            if arg == "--help" || arg == "-h" {
                return Ok(None);
            }
            let value = args.next().ok_or_else(|| format!("{arg} needs a value"));
            match arg.as_str() {
                "--seed" => options.seed = number(&arg, &value?)?,
                "--frames" => options.frames = number(&arg, &value?)?,
                "--entities" => options.entities = number(&arg, &value?)?,
                "--threads" => {
                    options.threads = match number(&arg, &value?)? {
                        0 => Threads::Auto,
                        1 => Threads::Serial,
                        count => Threads::N(count),
                    }
                }
                "--picture" => options.picture = Some(value?),
                _ => return Err(format!("unknown option `{arg}`")),
            }
        }
        Ok(Some(options))
    }
}

fn number<T: std::str::FromStr>(option: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{option} needs a number, not `{text}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Option<Options>, String> {
        Options::from_args(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_are_read_and_the_rest_keeps_its_default() {
        assert_eq!(parse(""), Ok(Some(Options::default())));
        let given = parse("--seed 7 --threads 3 --picture a.svg").expect("well formed").expect("no help");
        assert_eq!((given.seed, given.threads, given.frames), (7, Threads::N(3), Options::default().frames));
        assert_eq!(given.picture.as_deref(), Some("a.svg"));
        assert_eq!(parse("--frames 3 --help"), Ok(None));
    }

    #[test]
    fn nonsense_is_an_error_that_says_what_is_expected() {
        assert!(parse("--frames many").is_err_and(|error| error.contains("--frames")));
        assert!(parse("--seed").is_err_and(|error| error.contains("value")));
        assert!(parse("--fast yes").is_err_and(|error| error.contains("--fast")));
    }
}
