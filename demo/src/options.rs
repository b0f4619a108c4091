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
  --threads N     0: as many as the machine offers, 1: one after the other, N: that many, at most 256 (default 0)
  --entities N    how many fight at the beginning    (default 100000, at most 10000000)
  --rewind N      at the end, take the last N frames back and run them again: the digest is the same (at most --frames)
  --picture FILE  write the systems of a frame as a picture, FILE.svg
  --inspect       watch the battle in a browser: it goes on until the program is stopped
  --load FILE     begin with a battle that was saved
  --save FILE     save the battle at its end
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
    pub rewind: u32,
    pub picture: Option<String>,
    pub inspect: bool,
    pub load: Option<String>,
    pub save: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 1,
            frames: 300,
            threads: Threads::Auto,
            entities: 100_000,
            rewind: 0,
            picture: None,
            inspect: false,
            load: None,
            save: None,
        }
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
            if arg == "--inspect" {
                options.inspect = true;
                continue;
            }
            let value = args.next().ok_or_else(|| format!("{arg} needs a value"));
            match arg.as_str() {
                "--seed" => options.seed = number(&arg, &value?)?,
                "--frames" => options.frames = number(&arg, &value?)?,
                "--entities" => options.entities = at_most(10_000_000, &arg, number(&arg, &value?)?)?,
                "--threads" => {
                    options.threads = match at_most(256, &arg, number(&arg, &value?)?)? {
                        0 => Threads::Auto,
                        1 => Threads::Serial,
                        count => Threads::N(count as usize),
                    }
                }
                "--rewind" => options.rewind = number(&arg, &value?)?,
                "--picture" => options.picture = Some(svg_file(&arg, value?)?),
                "--load" => options.load = Some(value?),
                "--save" => options.save = Some(value?),
                _ => return Err(format!("unknown option `{arg}`")),
            }
        }
        options.check()?;
        Ok(Some(options))
    }

    /// What cannot be done together is refused, not left out.
    fn check(&self) -> Result<(), String> {
        if self.inspect && (self.rewind > 0 || self.save.is_some()) {
            let option = if self.rewind > 0 { "--rewind" } else { "--save" };
            return Err(format!(
                "{option} needs a battle that ends, and with --inspect it goes on until the program is stopped"
            ));
        }
        if self.rewind > self.frames {
            let Self { rewind, frames, .. } = self;
            return Err(format!(
                "--rewind {rewind} is more than the {frames} frames that are run: see --frames"
            ));
        }
        Ok(())
    }
}

fn number<T: std::str::FromStr>(option: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{option} needs a number, not `{text}`"))
}

/// Far more than makes sense gets an answer, not an hour of waiting.
fn at_most(limit: u32, option: &str, number: u64) -> Result<u32, String> {
    let small = u32::try_from(number).ok().filter(|&number| number <= limit);
    small.ok_or_else(|| format!("{option} takes at most {limit}, not {number}"))
}

fn svg_file(option: &str, file: String) -> Result<String, String> {
    if std::path::Path::new(&file).extension().is_some_and(|end| end.eq_ignore_ascii_case("svg")) {
        Ok(file)
    } else {
        Err(format!("{option} writes SVG: name the file `{file}.svg`"))
    }
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
        let given = parse("--seed 7 --threads 3 --picture a.svg --load a --save b");
        let given = given.expect("well formed").expect("no help");
        assert_eq!((given.load.as_deref(), given.save.as_deref()), (Some("a"), Some("b")));
        assert_eq!((given.seed, given.threads, given.frames), (7, Threads::N(3), Options::default().frames));
        assert_eq!(given.picture.as_deref(), Some("a.svg"));
        assert!(
            parse("--inspect --seed 7")
                .is_ok_and(|given| given.is_some_and(|given| given.inspect && given.seed == 7))
        );
        assert_eq!(parse("--frames 3 --help"), Ok(None));
    }

    #[test]
    fn nonsense_is_an_error_that_says_what_is_expected() {
        assert!(parse("--frames many").is_err_and(|error| error.contains("--frames")));
        assert!(parse("--seed").is_err_and(|error| error.contains("value")));
        assert!(parse("--fast yes").is_err_and(|error| error.contains("--fast")));
        assert!(parse("--threads 100000").is_err_and(|error| error.contains("at most 256")));
        assert!(parse("--entities 1000000000").is_err_and(|error| error.contains("at most 10000000")));
        assert!(parse("--entities -3").is_err_and(|error| error.contains("a number")));
        assert!(parse("--frames 10 --rewind 11").is_err_and(|error| error.contains("10 frames")));
        assert!(parse("--load a --rewind 301").is_err_and(|error| error.contains("300 frames")));
        assert!(parse("--rewind 10 --frames 10").is_ok());
        assert!(parse("--inspect --save a").is_err_and(|error| error.contains("--save needs")));
        assert!(parse("--rewind 3 --inspect").is_err_and(|error| error.contains("--rewind needs")));
        assert!(parse("--picture frame.png").is_err_and(|error| error.contains("frame.png.svg")));
    }
}
