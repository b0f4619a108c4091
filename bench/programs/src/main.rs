//! Programs that run on bevy_ecs and on Phalanx, and must do the same.
//!
//! ```text
//! phalanx-programs                  the programs written for both, 2,000 random ones, and 1,000 random stories of each kind
//! phalanx-programs --seeds 10000    more of them
//! phalanx-programs --seed 17        this one, made small if it differs
//! phalanx-programs --print          what the programs written for both print
//! ```

mod apps;
mod bevy_app;
mod random;
mod stories;
mod topics;

use stories::About;

fn main() {
    let mut seeds = 0..2000;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|text| text.parse().ok());
        match argument.as_str() {
            "--seeds" => seeds = 0..number().expect("`--seeds` needs a number"),
            "--seed" => {
                let seed = number().expect("`--seed` needs a number");
                seeds = seed..seed + 1;
            }
            "--print" => {
                topics::ALL.iter().for_each(|(name, _, ours)| println!("{name}\n{}", ours()));
                return;
            }
            other => panic!("unknown option {other}: see the first lines of the program"),
        }
    }
    let (topics, differing_topics) = topics::compare();
    println!("programs written for both: {topics} compared, {differing_topics} differ");
    // Panics of programs are caught and compared; their texts would hide the report.
    std::panic::set_hook(Box::new(|_| ()));
    let compared = random::compare(seeds.clone(), 3);
    println!(
        "random programs: {} compared, with {} systems that ran {} times and took {} steps; {} differ",
        compared.programs, compared.systems, compared.runs, compared.steps, compared.differing
    );
    // Half as many of each kind.
    let half = seeds.start..seeds.end.max(2).div_ceil(2).max(seeds.start + 1);
    let mut differing = compared.differing + differing_topics;
    for (about, name) in
        [(About::Reactions, "hooks and observers"), (About::Hierarchy, "parents and children")]
    {
        let compared = stories::compare(about, half.clone(), 3);
        println!(
            "random stories of {name}: {} compared, with {} steps that wrote {} lines; {} differ",
            compared.stories, compared.steps, compared.lines, compared.differing
        );
        differing += compared.differing;
    }
    std::process::exit(i32::from(differing > 0));
}

#[cfg(test)]
mod tests {
    #[test]
    fn programs_written_for_both_print_the_same() {
        let (programs, differing) = super::topics::compare();
        assert!(programs > 0 && differing == 0, "{differing} of {programs} differ");
    }

    #[test]
    fn random_programs_do_the_same() {
        let compared = super::random::compare(0..200, 1);
        assert!(compared.runs > 1000, "only {} runs of systems were compared", compared.runs);
        assert_eq!(compared.differing, 0);
    }

    #[test]
    fn random_stories_are_the_same() {
        for about in [super::About::Reactions, super::About::Hierarchy] {
            let compared = super::stories::compare(about, 0..200, 1);
            assert!(compared.lines > 5000, "only {} lines were compared", compared.lines);
            assert_eq!(compared.differing, 0, "{about:?}");
        }
    }
}
