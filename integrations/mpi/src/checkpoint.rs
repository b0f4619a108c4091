//! Checkpoints of all ranks, from which any number of ranks can go on.
//!
//! ```text
//!   frame-000000120/rank-0 .. rank-3     the rows that each rank owned, and messages that waited
//!   frame-000000120/manifest             written last, and renamed into place: without it there is no checkpoint
//! ```
//!
//! A rank that dies at any moment leaves the last checkpoint with a manifest whole. Files are checked by their length and
//! a hash, which the manifest tells.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use phalanx::prelude::*;

use crate::cluster::Cluster;
use crate::error::ClusterError;
use crate::ids::GlobalId;
use crate::messages::{Letter, Outbox};
use crate::transport::Transport;
use crate::wire::{Reader, hash, put};

const FORM: &str = "phalanx-mpi checkpoint 1";

/// The newest checkpoint in a folder that is whole, and its frame.
///
/// # Errors
/// When the folder cannot be read.
pub fn latest_checkpoint(folder: &Path) -> Result<Option<(u64, PathBuf)>, ClusterError> {
    let fail = |error: std::io::Error| ClusterError::file(folder, error);
    let mut found: Option<(u64, PathBuf)> = None;
    for entry in fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let frame = name.strip_prefix("frame-").and_then(|frame| frame.parse::<u64>().ok());
        let Some(frame) = frame.filter(|_| path.join("manifest").is_file()) else { continue };
        if found.as_ref().is_none_or(|(newest, _)| *newest < frame) {
            found = Some((frame, path));
        }
    }
    Ok(found)
}

/// What a manifest says.
struct Manifest {
    frame: u64,
    next_id: u64,
    /// The length and hash of each rank's file.
    files: Vec<(u64, u64)>,
}

impl Manifest {
    fn text(&self) -> String {
        let mut text =
            format!("{FORM}\nframe {}\nnext_id {}\nranks {}\n", self.frame, self.next_id, self.files.len());
        for (rank, (len, hash)) in self.files.iter().enumerate() {
            let _ = writeln!(text, "rank-{rank} {len} {hash:016x}");
        }
        text.push_str("end\n");
        text
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        (lines.next()? == FORM).then_some(())?;
        let frame = lines.next()?.strip_prefix("frame ")?.parse().ok()?;
        let next_id = lines.next()?.strip_prefix("next_id ")?.parse().ok()?;
        let ranks: usize = lines.next()?.strip_prefix("ranks ")?.parse().ok()?;
        let mut files = Vec::new();
        for rank in 0..ranks {
            let (len, hash) = lines.next()?.strip_prefix(&format!("rank-{rank} "))?.split_once(' ')?;
            files.push((len.parse().ok()?, u64::from_str_radix(hash, 16).ok()?));
        }
        (lines.next()? == "end").then_some(Self { frame, next_id, files })
    }
}

/// Writes a file and waits until it is on the disk.
fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), ClusterError> {
    let write = || {
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(|error| ClusterError::file(path, error))
}

impl<T: Transport> Cluster<T> {
    /// Writes a checkpoint of all ranks, between two frames: before [`Cluster::exchange`], on every rank. The folder must be
    /// one that all ranks see.
    ///
    /// # Errors
    /// When a rank is gone or a file cannot be written. The last checkpoint is whole then.
    pub fn checkpoint(&mut self, world: &mut World, folder: &Path) -> Result<(), ClusterError> {
        self.name_newborn(world)?;
        let mut bytes = Vec::new();
        let entities: Vec<Entity> = self.owned(world).into_iter().map(|(_, entity)| entity).collect();
        self.types.pack(world, &entities, false, &mut bytes);
        let outbox = world.get_resource::<Outbox>();
        outbox.iter().flat_map(|outbox| outbox.letters()).for_each(|letter| letter.write(&mut bytes));
        let place = folder.join(format!("frame-{:09}", self.frame));
        fs::create_dir_all(&place).map_err(|error| ClusterError::file(&place, error))?;
        write_synced(&place.join(format!("rank-{}", self.rank())), &bytes)?;
        let mut told = Vec::new();
        put(&mut told, bytes.len() as u64);
        put(&mut told, hash(&bytes));
        let mut files = Vec::new();
        // Who hears of a file knows that it is on the disk.
        for (rank, part) in self.transport.gather(told)?.iter().enumerate() {
            let mut reader = Reader::new(part, format!("what rank {rank} says of its checkpoint"));
            files.push((reader.number()?, reader.number()?));
        }
        if self.rank() == 0 {
            let manifest = Manifest { frame: self.frame, next_id: self.next_id, files };
            let (new, path) = (place.join("manifest.new"), place.join("manifest"));
            write_synced(&new, manifest.text().as_bytes())?;
            fs::rename(&new, &path).map_err(|error| ClusterError::file(&path, error))?;
            let synced = File::open(&place).and_then(|folder| folder.sync_all());
            synced.map_err(|error| ClusterError::file(&place, error))?;
        }
        // Nobody goes on before the manifest is there.
        self.transport.gather(Vec::new()).map(|_| ())
    }

    /// Goes on from a checkpoint, which may have been written by another number of ranks. The world must have no entities
    /// with a [`GlobalId`].
    ///
    /// # Errors
    /// When a rank is gone, or a file cannot be read or is not the one that the manifest tells of.
    pub fn restart(&mut self, world: &mut World, place: &Path) -> Result<(), ClusterError> {
        let path = place.join("manifest");
        let text = fs::read_to_string(&path).map_err(|error| ClusterError::file(&path, error))?;
        let manifest = Manifest::parse(&text);
        let manifest = manifest.ok_or_else(|| ClusterError::file(&path, "it is not a manifest"))?;
        (self.frame, self.next_id) = (manifest.frame, manifest.next_id);
        for (rank, told) in manifest.files.iter().enumerate() {
            if rank % self.ranks() == self.rank() {
                self.load(world, &place.join(format!("rank-{rank}")), *told)?;
            }
        }
        self.rebalance(world)?;
        self.migrate(world)
    }

    fn load(&self, world: &mut World, path: &Path, told: (u64, u64)) -> Result<(), ClusterError> {
        let bytes = fs::read(path).map_err(|error| ClusterError::file(path, error))?;
        if (bytes.len() as u64, hash(&bytes)) != told {
            return Err(ClusterError::file(path, "it is not the file that the manifest tells of"));
        }
        let mut reader = Reader::new(&bytes, path.display().to_string());
        let spawn = |world: &mut World, _: GlobalId| world.spawn_empty().id();
        self.types.unpack(world, &mut reader, false, spawn)?;
        world.flush();
        let mut letters = Vec::new();
        while !reader.is_empty() {
            letters.push(Letter::read(&mut reader)?);
        }
        if !letters.is_empty() {
            let mut outbox = world.remove_resource::<Outbox>().unwrap_or_default();
            outbox.put_back(letters);
            world.insert_resource(outbox);
        }
        Ok(())
    }
}
