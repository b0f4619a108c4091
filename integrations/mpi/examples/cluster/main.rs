//! A model on as many ranks as `mpirun` starts, with checkpoints, and going on from one.
//!
//! ```text
//! mpirun -n 4 cluster boids --frames 300 --checkpoint run --every 50
//! mpirun -n 3 cluster boids --frames 300 --restart run
//! ```

use std::path::PathBuf;

use phalanx_mpi::{ClusterError, MpiTransport, Transport, run_mpi};

mod models;
use models::{Frame, Model, app, cluster, populate, summary};

struct Options {
    model: Model,
    agents: u64,
    frames: u64,
    checkpoint: Option<PathBuf>,
    every: u64,
    restart: Option<PathBuf>,
    /// A rank that kills itself, and in which frame: to see what is left then.
    die: Option<(usize, u64)>,
    /// The largest piece that is sent at once.
    limit: usize,
}

fn options() -> Result<Options, String> {
    let mut arguments = std::env::args().skip(1);
    let model = match arguments.next().as_deref() {
        Some("boids") => Model::Boids,
        Some("epidemic") => Model::Epidemic,
        _ => return Err("name a model: boids or epidemic".into()),
    };
    let mut options = Options {
        model,
        agents: 400,
        frames: 300,
        checkpoint: None,
        every: 50,
        restart: None,
        die: None,
        limit: phalanx_mpi::MAX_PIECE,
    };
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(format!("{name} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{name} needs a number, not {value}"));
        match name.as_str() {
            "--agents" => options.agents = number()?,
            "--frames" => options.frames = number()?,
            "--every" => options.every = number()?.max(1),
            "--limit" => options.limit = usize::try_from(number()?).map_err(|error| error.to_string())?,
            "--checkpoint" => options.checkpoint = Some(value.into()),
            "--restart" => options.restart = Some(value.into()),
            "--die" => {
                let (rank, frame) = value.split_once('@').ok_or("--die needs rank@frame")?;
                let parse = |text: &str| text.parse::<u64>().map_err(|_| "--die needs rank@frame".to_owned());
                let rank = usize::try_from(parse(rank)?).map_err(|error| error.to_string())?;
                options.die = Some((rank, parse(frame)?));
            }
            _ => return Err(format!("unknown option {name}")),
        }
    }
    Ok(options)
}

fn run(options: &Options, transport: MpiTransport) -> Result<(), ClusterError> {
    let transport = transport.with_limit(options.limit);
    let (rank, ranks) = (transport.rank(), transport.ranks());
    let mut app = app(options.model);
    let mut cluster = cluster(options.model, transport, options.agents);
    match &options.restart {
        Some(folder) => {
            let found = cluster.restart_latest(app.world_mut(), folder)?;
            let frame = found.ok_or_else(|| ClusterError::File {
                path: folder.display().to_string(),
                message: "there is no checkpoint that is whole".into(),
            })?;
            app.world_mut().insert_resource(Frame(frame));
            if rank == 0 {
                println!("{ranks} ranks go on from frame {frame}");
            }
        }
        None => populate(options.model, &cluster, app.world_mut(), options.agents),
    }
    // The frame that the run begins with needs no checkpoint: it comes from one, or can be made again.
    let begun = cluster.frame();
    while cluster.frame() < options.frames {
        let frame = cluster.frame();
        if let Some(folder) =
            options.checkpoint.as_ref().filter(|_| frame > begun && frame.is_multiple_of(options.every))
        {
            cluster.checkpoint(app.world_mut(), folder)?;
        }
        if options.die == Some((rank, frame)) {
            eprintln!("rank {rank} dies in frame {frame}, as it was told");
            std::process::abort();
        }
        cluster.exchange(app.world_mut())?;
        app.step(0.02);
    }
    let line = summary(&mut cluster, app.world())?;
    let stats = cluster.stats();
    if rank == 0 {
        println!("{line}");
        eprintln!("{ranks} ranks, rank 0: {stats:?}");
    }
    Ok(())
}

fn main() {
    let options = options().unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(2)
    });
    run_mpi(|transport| run(&options, transport));
}
