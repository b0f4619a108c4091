//! What the user reads when the battle is over: numbers, what each storage was used for, and the digest.
//!
//! The digest is the world's own, over all components and resources: two runs with the same digest ended in the same
//! world, bit for bit. The schedule can be drawn without other programs.

use std::io::{self, Write};
use std::time::Duration;

use phalanx::prelude::*;

use crate::battle::{Arrow, Burning, Tally, Wounded, count};

/// Writes the summary. Fails when it is not read, as when the output is a closed pipe.
pub fn summary(
    out: &mut impl Write,
    app: &App,
    before: [usize; 3],
    updated: usize,
    took: Duration,
) -> io::Result<()> {
    let world = app.world();
    let after = count(world);
    writeln!(out, "               soldiers   archers    medics")?;
    writeln!(out, "at first     {:>10}{:>10}{:>10}", before[0], before[1], before[2])?;
    writeln!(out, "at the end   {:>10}{:>10}{:>10}", after[0], after[1], after[2])?;
    let tally = world.resource::<Tally>();
    writeln!(
        out,
        "\n{} hits, {} arrows, {} + {} dead, {} recruits, {} times healed, {} times on fire",
        tally.hits,
        tally.arrows,
        tally.deaths[0],
        tally.deaths[1],
        tally.recruits,
        tally.healed,
        tally.ignited
    )?;
    writeln!(
        out,
        "now {} are wounded, {} burn, {} arrows fly",
        world.view_filtered::<(), With<Wounded>>().count(),
        world.view_filtered::<(), With<Burning>>().count(),
        world.view_filtered::<(), With<Arrow>>().count()
    )?;
    writeln!(out, "\nphase            runs     ms each   slowest systems, ms each")?;
    for phase in app.timings().iter().filter(|phase| phase.runs > 0 && !phase.systems.is_empty()) {
        let each = |total: Duration, runs: u64| total.as_secs_f64() * 1e3 / runs.max(1) as f64;
        let mut systems = phase.systems.clone();
        systems.sort_by_key(|system| std::cmp::Reverse(system.total));
        let slowest: Vec<String> = systems
            .iter()
            .take(3)
            .map(|system| format!("{} {:.3}", system.system, each(system.total, system.runs)))
            .collect();
        writeln!(
            out,
            "{:<14}{:>7}{:>12.3}   {}",
            phase.phase,
            phase.runs,
            each(phase.total, phase.runs),
            slowest.join(", ")
        )?;
    }
    storages(out, world)?;
    let seconds = took.as_secs_f64();
    writeln!(
        out,
        "\n{updated} entity updates in {seconds:.2} s: {:.1} million per second",
        updated as f64 / seconds / 1e6
    )?;
    writeln!(out, "digest: {}", world.digest())?;
    Ok(())
}

/// What each storage was used for, and what it cost.
fn storages(out: &mut impl Write, world: &World) -> io::Result<()> {
    let stats = world.stats();
    let (mut fields, mut whole, mut pools, mut sparse) =
        (Use::default(), Use::default(), Use::default(), Use::default());
    // The first pool is that of all entities without a pool of their own.
    for pool in &stats.pools[1..] {
        let own = stats.archetypes.iter().filter(|archetype| pool.archetypes.contains(&archetype.id));
        pools.add(pool.name, own.map(|archetype| archetype.bytes).sum());
    }
    let general =
        stats.archetypes.iter().filter(|archetype| stats.pools[0].archetypes.contains(&archetype.id));
    for column in general.flat_map(|archetype| &archetype.columns) {
        // Tags take no memory.
        if column.bytes > 0 {
            let own = if column.field.is_empty() { &mut whole } else { &mut fields };
            own.add(&column.component, column.bytes);
        }
    }
    for set in &stats.sets {
        sparse.add(&set.component, set.page_bytes + set.row_bytes);
    }
    writeln!(out, "\nstorage             bytes   for")?;
    for (storage, used, why) in [
        ("fields", fields, "a column per field, walked as slices"),
        ("whole values", whole, "a column per component"),
        ("sparse set", sparse, "comes and goes, and no row moves"),
        ("pool", pools, "one closed kind of entities, spawned and despawned all the time"),
    ] {
        if used.bytes > 0 {
            writeln!(out, "{storage:<14}{:>11}   {}: {why}", used.bytes, used.names())?;
        }
    }
    let tables = stats.archetypes.iter().filter(|archetype| archetype.entities > 0).count();
    writeln!(out, "{tables} tables; {} times one entity came into another table", stats.moves)
}

/// Components of one storage, and their bytes.
#[derive(Default)]
struct Use {
    components: std::collections::BTreeSet<String>,
    bytes: usize,
}

impl Use {
    fn add(&mut self, component: &str, bytes: usize) {
        self.components.insert(component.rsplit("::").next().unwrap_or(component).replace("demo.", ""));
        self.bytes += bytes;
    }

    fn names(&self) -> String {
        self.components.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
    }
}

/// Draws the phases of a frame that have systems, one below the other; what stands in one column of a phase may run side
/// by side.
pub fn write_picture(app: &App, file: &str) -> io::Result<()> {
    let once = ["PreStartup", "Startup", "PostStartup"];
    let phases = app.phase_views().filter(|(_, view)| !view.is_empty());
    let phases =
        phases.map(|(label, view)| Ok((label.to_string(), view.to_svg().map_err(io::Error::other)?)));
    let mut phases: Vec<(String, String)> = phases.collect::<io::Result<_>>()?;
    phases.retain(|(name, _)| !once.contains(&name.as_str()));
    let size = |svg: &str, name: &str| -> usize {
        let value = svg.split_once(&format!("{name}=\"")).and_then(|(_, rest)| rest.split('"').next());
        value.and_then(|text| text.parse().ok()).unwrap_or(0)
    };
    const TITLE: usize = 28;
    let width = phases.iter().map(|(_, svg)| size(svg, "width")).max().unwrap_or(0);
    let height: usize = phases.iter().map(|(_, svg)| size(svg, "height") + TITLE).sum();
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let mut y = 0;
    for (name, svg) in &phases {
        picture += &format!("<text x=\"12\" y=\"{}\" font-size=\"16\">{name}</text>\n", y + 20);
        picture += &format!("<g transform=\"translate(0 {})\">\n{svg}</g>\n", y + TITLE);
        y += size(svg, "height") + TITLE;
    }
    std::fs::write(file, picture + "</svg>\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battle;
    use crate::options::Options;
    use phalanx::schedule::Threads;

    /// An output that is not read any more.
    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_closed_pipe_is_an_error_and_no_panic() {
        let app = battle::app(&Options { entities: 10, ..Options::default() });
        let error = summary(&mut Closed, &app, [0; 3], 0, Duration::from_secs(1)).expect_err("nobody reads");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn the_picture_shows_all_phases_of_a_frame() {
        let app = battle::app(&Options { entities: 10, ..Options::default() });
        let file = std::env::temp_dir().join(format!("phalanx-demo-{}.svg", std::process::id()));
        write_picture(&app, file.to_str().expect("a plain path")).expect("it can be drawn");
        let picture = std::fs::read_to_string(&file).expect("it was written");
        std::fs::remove_file(&file).expect("it is ours");
        for name in [
            "FixedUpdate",
            "PreUpdate",
            "Update",
            "PostUpdate",
            "Last",
            "walk_x",
            "survey",
            "aim",
            "tally",
            "end",
        ] {
            assert!(picture.contains(name), "the picture lacks {name}");
        }
    }

    #[test]
    fn the_digest_is_the_same_for_every_number_of_threads_and_differs_by_seed() {
        let fought = |seed, threads| {
            let options = Options { seed, threads, frames: 0, entities: 3000, ..Options::default() };
            let mut app = battle::app(&options);
            (0..30).for_each(|_| app.step(1.0 / 60.0));
            app.world().digest()
        };
        let serial = fought(5, Threads::Serial);
        assert_eq!(serial, fought(5, Threads::N(2)));
        assert_eq!(serial, fought(5, Threads::N(8)));
        assert_ne!(serial, fought(6, Threads::Serial));
    }
}
