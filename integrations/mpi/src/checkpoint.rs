//! Checkpoints of all ranks, from which any number of ranks can go on.
//!
//! ```text
//!   frame-000000100/rank-0 .. rank-3     the rows that each rank owned, and messages that waited
//!   frame-000000100/manifest             length and hash of each file
//!   frame-000000120/rank-0 .. rank-3     what became another since frame 100: rows that came, went and changed
//!   frame-000000120/manifest             the same, and that frame 100 is its base
//!   frame-000000140.new/rank-0 ..        while it is written
//!   frame-000000120.old/                 one of the same frame that is replaced, until the new one has its name
//! ```
//!
//! Each rank writes its difference from what it wrote last; every so often, and after a restart, all write all they have. A
//! folder gets its name when all of it is on the disk, the manifest last, so a rank that dies at any moment leaves the last
//! checkpoint whole. Looking for one reads all of its files and of those it stands on, and takes the one before it where
//! they are not those that the manifests tell of.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use phalanx::prelude::*;

use self::manifest::{Manifest, chain, is_whole, name_of, read_told};
use crate::cluster::Cluster;
use crate::error::ClusterError;
use crate::ids::GlobalId;
use crate::messages::{Letter, Outbox};
use crate::sent::{self, Sent};
use crate::transport::Transport;
use crate::types::unpack_rows;
use crate::wire::{Reader, hash, put, put_bytes};

mod manifest;

/// What the last checkpoint of this rank holds, so that the next one can be a difference from it.
pub(crate) struct Saved {
    folder: PathBuf,
    frame: u64,
    /// How many differences it stands on.
    depth: u64,
    rows: Sent,
    /// The hash of its manifest, which rank 0 knows.
    manifest: u64,
}

/// The newest checkpoint in a folder that is whole, and its frame. Every file is read and compared with the manifest, and so
/// are those of the checkpoints that it stands on; one that is damaged is passed over.
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
    let whole = found.into_iter().rev().find(|(frame, _, place)| is_whole(place, *frame));
    Ok(whole.map(|(frame, _, place)| (frame, place)))
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
    /// After the first one, each rank writes what became another since the last ([`Cluster::whole_every`]): such a checkpoint
    /// stands on those before it, whose folders must stay.
    ///
    /// # Errors
    /// When a rank is gone or a file cannot be written. The last checkpoint is whole then.
    pub fn checkpoint(&mut self, world: &mut World, folder: &Path) -> Result<(), ClusterError> {
        self.name_newborn(world)?;
        // Without one that was written to its end, the next is whole.
        let base = self.saved.take().filter(|base| {
            base.folder == folder && base.frame < self.frame && base.depth + 1 < self.whole_every
        });
        let [place, new, old] = ["", ".new", ".old"].map(|end| folder.join(name_of(self.frame) + end));
        if self.rank() == 0 {
            // What a run that died left behind.
            remove_folder(&new)?;
            fs::create_dir_all(&new).map_err(|error| ClusterError::file(&new, error))?;
        }
        // No rank writes before the folder is there, and all write differences, or none does.
        let able = self.transport.gather(vec![u8::from(base.is_some())])?.iter().all(|part| part == &[1]);
        let mut saved = base.filter(|_| able);
        let (depth, base) =
            saved.as_ref().map_or((0, None), |base| (base.depth + 1, Some((base.frame, base.manifest))));
        let mut rows = saved.take().map(|base| base.rows).unwrap_or_default();
        let bytes = self.pack_checkpoint(world, &mut rows)?;
        write_synced(&new.join(format!("rank-{}", self.rank())), &bytes)?;
        self.stats.checkpoint_bytes += bytes.len() as u64;
        let mut told = Vec::new();
        put(&mut told, bytes.len() as u64);
        put(&mut told, hash(&bytes));
        let mut files = Vec::new();
        // A rank that gets the name of a file knows that it is on the disk.
        for (rank, part) in self.transport.gather(told)?.iter().enumerate() {
            let mut reader = Reader::new(part, format!("what rank {rank} says of its checkpoint"));
            files.push((reader.number()?, reader.number()?));
        }
        let mut manifest = 0;
        if self.rank() == 0 {
            let text = Manifest { frame: self.frame, next_id: self.next_id, base, files }.text();
            manifest = hash(text.as_bytes());
            write_synced(&new.join("manifest"), text.as_bytes())?;
            sync_folder(&new)?;
            publish(&new, &place, &old)?;
        }
        // No rank goes on before it has its name.
        self.transport.gather(Vec::new())?;
        self.saved = Some(Saved { folder: folder.to_owned(), frame: self.frame, depth, rows, manifest });
        Ok(())
    }

    /// What this rank owns, as a difference from `rows`, which become what it owns now; and messages that wait.
    fn pack_checkpoint(&self, world: &World, rows: &mut Sent) -> Result<Vec<u8>, ClusterError> {
        let owned = self.owned(world);
        let entities: Vec<Entity> = owned.iter().map(|(_, entity)| *entity).collect();
        self.types.refuse(world, &entities)?;
        let entries = self.types.row_entries();
        let hashes = sent::hashes(world, &entities, &entries);
        let here: Vec<(GlobalId, usize)> = owned.iter().enumerate().map(|(at, (id, _))| (*id, at)).collect();
        let difference = rows.replace(&here, &hashes, entries.len());
        let mut bytes = Vec::new();
        put_bytes(&mut bytes, &difference.pack(world, &entities, &entries));
        let outbox = world.get_resource::<Outbox>();
        outbox.iter().flat_map(|outbox| outbox.letters()).for_each(|letter| letter.write(&mut bytes));
        Ok(bytes)
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
    /// with a [`GlobalId`].
    ///
    /// Entities that came and went between the checkpoints that this one stands on do so while it is read: hooks and
    /// observers are called for them.
    ///
    /// # Errors
    /// When a rank is gone, or a file cannot be read or is not the one that the manifest tells of.
    pub fn restart(&mut self, world: &mut World, place: &Path) -> Result<(), ClusterError> {
        self.saved = None;
        let chain = chain(place)?;
        let (_, newest) = chain.last().expect("a chain has its checkpoint");
        (self.frame, self.next_id) = (newest.frame, newest.next_id);
        for rank in (self.rank()..newest.files.len()).step_by(self.ranks()) {
            // An entity that went from one rank to another is in the files of both: ids belong to one of them.
            let mut known = HashMap::new();
            let mut letters = Vec::new();
            for (place, manifest) in &chain {
                let bytes = read_told(place, rank, manifest.files[rank])?;
                let source = place.join(format!("rank-{rank}")).display().to_string();
                letters = self.load(world, &mut known, &mut Reader::new(&bytes, source))?;
            }
            // Those of earlier checkpoints have been delivered.
            if !letters.is_empty() {
                let mut outbox = world.remove_resource::<Outbox>().unwrap_or_default();
                outbox.put_back(letters);
                world.insert_resource(outbox);
            }
        }
        // Before any entity moves: one without a place goes with the one it is linked to.
        self.relink(world)?;
        self.rebalance(world)?;
        self.migrate(world)
    }

    /// Applies a rank's file to what was read of those before, and returns the messages that waited.
    fn load(
        &self,
        world: &mut World,
        known: &mut HashMap<GlobalId, Entity>,
        reader: &mut Reader<'_>,
    ) -> Result<Vec<Letter>, ClusterError> {
        let mut rows = reader.part()?;
        if !rows.is_empty() {
            for _ in 0..rows.count()? {
                let gone = known.remove(&GlobalId(rows.number()?));
                world.despawn(gone.ok_or_else(|| rows.error("a row is to go that was never there"))?);
            }
            let entries = self.types.row_entries();
            for _ in 0..rows.count()? {
                let changed = sent::chosen(&entries, rows.number()?);
                unpack_rows(world, &mut rows, &changed, |world, id| {
                    *known.entry(id).or_insert_with(|| world.spawn_empty().id())
                })?;
                world.flush();
            }
        }
        let mut letters = Vec::new();
        while !reader.is_empty() {
            letters.push(Letter::read(reader)?);
        }
        Ok(letters)
    }
}
