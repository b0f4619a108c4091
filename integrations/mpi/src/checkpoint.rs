//! Checkpoints of all ranks, from which any number of ranks can go on.
//!
//! ```text
//!   frame-000000120.new/rank-0 ..        while it is written
//!   frame-000000120/rank-0 .. rank-3     the rows that each rank owned, and messages that waited
//!   frame-000000120/manifest             length and hash of each file
//!   frame-000000120.old/                 one of the same frame that is replaced, until the new one has its name
//! ```
//!
//! A folder gets its name when all of it is on the disk, so a rank that dies at any moment leaves the last checkpoint
//! whole. Whoever looks for one reads all of its files, and takes the one before it where they are not those that the
//! manifest tells of.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use phalanx::prelude::*;

use crate::cluster::Cluster;
use crate::error::ClusterError;
use crate::messages::{Letter, Outbox};
use crate::transport::Transport;
use crate::wire::{Reader, hash, put, put_bytes};

const FORM: &str = "phalanx-mpi checkpoint 2";

/// The newest checkpoint in a folder that is whole, and its frame. Every file is read and compared with the manifest; a
/// checkpoint that is damaged is passed over.
///
/// # Errors
/// When the folder cannot be read.
pub fn latest_checkpoint(folder: &Path) -> Result<Option<(u64, PathBuf)>, ClusterError> {
    let fail = |error: std::io::Error| ClusterError::file(folder, error);
    let mut found: Vec<(u64, bool, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(name) = name.strip_prefix("frame-") else { continue };
        let (frame, replaced) = name.strip_suffix(".old").map_or((name, false), |frame| (frame, true));
        if let Ok(frame) = frame.parse() {
            found.push((frame, !replaced, path));
        }
    }
    found.sort_unstable();
    let whole = found.into_iter().rev().find(|(frame, _, place)| {
        Manifest::read(place).is_ok_and(|manifest| {
            let file = |(rank, told): (usize, &(u64, u64))| read_told(place, rank, *told).is_ok();
            manifest.frame == *frame && manifest.files.iter().enumerate().all(file)
        })
    });
    Ok(whole.map(|(frame, _, place)| (frame, place)))
}

/// The file of a rank, if it is the one that the manifest tells of.
fn read_told(place: &Path, rank: usize, told: (u64, u64)) -> Result<Vec<u8>, ClusterError> {
    let path = place.join(format!("rank-{rank}"));
    let bytes = fs::read(&path).map_err(|error| ClusterError::file(&path, error))?;
    if (bytes.len() as u64, hash(&bytes)) != told {
        return Err(ClusterError::file(&path, "it is not the file that the manifest tells of"));
    }
    Ok(bytes)
}

/// What a manifest says.
struct Manifest {
    frame: u64,
    next_id: u64,
    /// The length and hash of each rank's file.
    files: Vec<(u64, u64)>,
}

impl Manifest {
    fn read(place: &Path) -> Result<Self, ClusterError> {
        let path = place.join("manifest");
        let text = fs::read_to_string(&path).map_err(|error| ClusterError::file(&path, error))?;
        Self::parse(&text).ok_or_else(|| ClusterError::file(&path, "it is not a manifest"))
    }

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

/// Waits until the names within a folder are on the disk.
fn sync_folder(path: &Path) -> Result<(), ClusterError> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(|error| ClusterError::file(path, error))
}

/// Removes a folder with all that is in it, if there is one.
fn remove_folder(path: &Path) -> Result<(), ClusterError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(ClusterError::file(path, error)),
        _ => Ok(()),
    }
}

/// Gives a checkpoint its name once all of it is on the disk. At each moment one of the two that have, or had, this name
/// can be found.
fn publish(new: &Path, place: &Path, old: &Path) -> Result<(), ClusterError> {
    let rename = |from: &Path, to: &Path| fs::rename(from, to).map_err(|error| ClusterError::file(to, error));
    if place.exists() {
        // What was left of an earlier exchange of names is older than what stands there.
        remove_folder(old)?;
        rename(place, old)?;
    }
    rename(new, place)?;
    if let Some(folder) = place.parent() {
        sync_folder(folder)?;
    }
    remove_folder(old)
}

impl<T: Transport> Cluster<T> {
    /// Writes a checkpoint of all ranks, between two frames: before [`Cluster::exchange`], on every rank. The folder must be
    /// one that all ranks see. A checkpoint of the same frame is replaced.
    ///
    /// # Errors
    /// When a rank is gone or a file cannot be written. The last checkpoint is whole then.
    pub fn checkpoint(&mut self, world: &mut World, folder: &Path) -> Result<(), ClusterError> {
        self.name_newborn(world)?;
        let mut bytes = Vec::new();
        let entities: Vec<Entity> = self.owned(world).into_iter().map(|(_, entity)| entity).collect();
        self.types.refuse(world, &entities)?;
        self.types.pack_whole(world, &entities, &mut bytes);
        let outbox = world.get_resource::<Outbox>();
        outbox.iter().flat_map(|outbox| outbox.letters()).for_each(|letter| letter.write(&mut bytes));
        let name = format!("frame-{:09}", self.frame);
        let [place, new, old] = ["", ".new", ".old"].map(|end| folder.join(format!("{name}{end}")));
        if self.rank() == 0 {
            // What a run that died left behind.
            remove_folder(&new)?;
            fs::create_dir_all(&new).map_err(|error| ClusterError::file(&new, error))?;
        }
        // Nobody writes before the folder is there.
        self.transport.gather(Vec::new())?;
        write_synced(&new.join(format!("rank-{}", self.rank())), &bytes)?;
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
            write_synced(&new.join("manifest"), manifest.text().as_bytes())?;
            sync_folder(&new)?;
            publish(&new, &place, &old)?;
        }
        // Nobody goes on before it has its name.
        self.transport.gather(Vec::new()).map(|_| ())
    }

    /// Goes on from the newest checkpoint in a folder that is whole, and returns its frame; `None` where there is none. Rank
    /// 0 looks for it ([`latest_checkpoint`]), so that all go on from the same one.
    ///
    /// # Errors
    /// When a rank is gone, or a file cannot be read.
    pub fn restart_latest(&mut self, world: &mut World, folder: &Path) -> Result<Option<u64>, ClusterError> {
        let mut told = Vec::new();
        if self.rank() == 0
            && let Some((_, place)) = latest_checkpoint(folder)?
        {
            let name = place.file_name().unwrap_or_default().to_string_lossy();
            put_bytes(&mut told, name.as_bytes());
        }
        let parts = self.transport.gather(told)?;
        if parts[0].is_empty() {
            return Ok(None);
        }
        let mut reader = Reader::new(&parts[0], "the checkpoint that rank 0 found");
        let name = String::from_utf8_lossy(reader.bytes()?).into_owned();
        self.restart(world, &folder.join(name))?;
        Ok(Some(self.frame))
    }

    /// Goes on from a checkpoint, which may have been written by another number of ranks. The world must have no entities
    /// with a [`GlobalId`](crate::GlobalId).
    ///
    /// # Errors
    /// When a rank is gone, or a file cannot be read or is not the one that the manifest tells of.
    pub fn restart(&mut self, world: &mut World, place: &Path) -> Result<(), ClusterError> {
        let manifest = Manifest::read(place)?;
        (self.frame, self.next_id) = (manifest.frame, manifest.next_id);
        for (rank, told) in manifest.files.iter().enumerate() {
            if rank % self.ranks() == self.rank() {
                let bytes = read_told(place, rank, *told)?;
                self.load(world, &bytes, place.join(format!("rank-{rank}")).display().to_string())?;
            }
        }
        // Before anyone moves: who has no place goes with whom it is linked to.
        self.relink(world)?;
        self.rebalance(world)?;
        self.migrate(world)
    }

    fn load(&self, world: &mut World, bytes: &[u8], source: String) -> Result<(), ClusterError> {
        let mut reader = Reader::new(bytes, source);
        self.types.unpack_whole(world, &mut reader)?;
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
