//! Saves in files: pieces with checksums, put in place as a whole, and files of what changed since.
//!
//! ```text
//!   file     "PHALANX" | form | base checksum | piece | piece | ... | end
//!   piece    length, checksum, key and content                        end    length zero, checksum of all before
//! ```
//!
//! A file is written beside its place, synced, and renamed: a process that is killed meanwhile leaves the old file or the new
//! one. What it leaves beside is removed by the next write: the lock of an unfinished file says whether a process is at
//! it. A delta has those pieces that are not in its base with the same checksum, and the head, which says what belongs
//! to the save. Reading checks every piece, and that a delta follows the file before it.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashMap;

use super::chunk::{Chunks, Key, Part};
use super::error::LoadError;
use super::filter::{SaveFilter, SaveReport};
use super::plan::{Plan, Source};
use super::registry::SaveRegistry;
use super::{build, compact, decode};
use crate::codec::{Reader, put_varint};
use crate::world::World;
use phalanx_store::{BLOCK_ROWS, Tick, entity_map_scope};

const MAGIC: &[u8; 8] = b"PHALANX\x01";

/// Why a file cannot be written or read.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileError {
    /// The file system refuses.
    Io(io::Error),
    /// A value cannot be saved.
    Save(String),
    /// The file is damaged, or cannot be loaded.
    Load(LoadError),
    /// The world to be filled has had entities.
    HadEntities,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the file cannot be used: {error}"),
            Self::HadEntities => f.write_str(
                "the world has had entities, whose ids the save may use: fill it before the first one is spawned and \
                 the first frame runs, or load into it with a `Loader`",
            ),
            Self::Save(message) => write!(f, "the world cannot be saved: {message}"),
            Self::Load(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FileError {}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<LoadError> for FileError {
    fn from(error: LoadError) -> Self {
        Self::Load(error)
    }
}

/// What was written to a file: what a later delta is compared with.
#[derive(Clone, Debug)]
pub struct FileMark {
    /// The checksum of the last file of the chain.
    chain: u64,
    pieces: HashMap<Key, u64>,
    report: SaveReport,
    /// How many pieces were written.
    written: usize,
    /// What the world was like: which one it is, with the number of restores, and its clock.
    branch: (u64, u64),
    tick: Tick,
    /// Where the values of parts stood in the world.
    sources: HashMap<Part, Source>,
}

impl FileMark {
    /// What is in the save, and what is not.
    pub fn report(&self) -> &SaveReport {
        &self.report
    }

    /// How many pieces the file has: for a delta, how many had changed.
    pub fn pieces_written(&self) -> usize {
        self.written
    }

    /// The checksum of a piece, if nothing of it was written since. Ticks of another branch say nothing.
    fn unwritten(&self, plan: &Plan<'_>, source: Source, key: Key) -> Option<u64> {
        let same = self.branch == plan.world.branch() && self.sources.get(&key.part) == Some(&source);
        let sum = self.pieces.get(&key).filter(|_| same)?;
        plan.is_older(source, key.block as usize, self.tick).then_some(*sum)
    }
}

impl World {
    /// Writes everything that can be saved to a file, in the place of one that is there.
    ///
    /// A crash at any moment leaves the old file or the new one, and perhaps an unfinished one beside it
    /// (`name.1234-0.new`), which the next write of the same file removes.
    ///
    /// # Errors
    /// When a value cannot be saved, or the file system fails; an old file is as it was.
    pub fn write_file(&self, path: impl AsRef<Path>) -> Result<FileMark, FileError> {
        self.write_pieces(path.as_ref(), None)
    }

    /// Writes what changed since another file was written, to a file of its own. [`World::read_files`] needs both.
    ///
    /// Blocks of tables that were not written since are not looked at. The directory of entities, sparse components,
    /// resources, and components without ticks are encoded and compared by their checksums; after a restore, everything
    /// is.
    ///
    /// # Errors
    /// As for [`World::write_file`].
    pub fn write_delta(&self, path: impl AsRef<Path>, since: &FileMark) -> Result<FileMark, FileError> {
        self.write_pieces(path.as_ref(), Some(since))
    }

    fn write_pieces(&self, path: &Path, since: Option<&FileMark>) -> Result<FileMark, FileError> {
        let plan = Plan::new(self, &SaveFilter::new());
        plan.check().map_err(FileError::Save)?;
        let (mut pieces, mut sources) = (HashMap::new(), HashMap::new());
        let mut written = 0;
        let chain = replace_file(path, |out| {
            out.put(MAGIC)?;
            out.put(&since.map_or(0, |since| since.chain).to_le_bytes())?;
            for key in plan.keys() {
                if let Some(source) = plan.source(key.part) {
                    sources.insert(key.part, source);
                    let known = since.and_then(|since| since.unwritten(&plan, source, key));
                    if let Some(sum) = known {
                        pieces.insert(key, sum);
                        continue;
                    }
                }
                let mut bytes = Vec::new();
                key.write(&mut bytes);
                bytes.extend(plan.piece(key).map_err(|error| FileError::Save(error.to_string()))?);
                let sum = checksum(&bytes);
                pieces.insert(key, sum);
                if key.part != Part::Head && since.is_some_and(|since| since.pieces.get(&key) == Some(&sum)) {
                    continue;
                }
                written += 1;
                let mut head = Vec::new();
                put_varint(&mut head, bytes.len() as u64);
                head.extend_from_slice(&sum.to_le_bytes());
                out.put(&head)?;
                out.put(&bytes)?;
            }
            out.put(&[0])?;
            let sum = out.sum;
            out.put(&sum.to_le_bytes())?;
            Ok(sum)
        })?;
        let (branch, tick) = (self.branch(), self.read_change_tick());
        Ok(FileMark { chain, pieces, report: plan.report, written, branch, tick, sources })
    }

    /// Makes a world of a file.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or cannot be loaded; see [`World::load`].
    pub fn read_file(path: impl AsRef<Path>, registry: &SaveRegistry) -> Result<Self, FileError> {
        Self::read_files([path], registry)
    }

    /// Makes a world of a file and the deltas that were written after it, in their order.
    ///
    /// # Errors
    /// As for [`World::read_file`], and when a delta does not follow the file before it.
    pub fn read_files<P: AsRef<Path>>(
        paths: impl IntoIterator<Item = P>,
        registry: &SaveRegistry,
    ) -> Result<Self, FileError> {
        Ok(world_of(read_chunks(paths)?, registry)?)
    }

    /// As [`World::read_files`], from what the files hold: for saves that are part of the program, or that came by
    /// another way than the file system.
    ///
    /// # Errors
    /// When the bytes are damaged, or cannot be loaded; see [`World::load`].
    pub fn read_file_bytes<B: AsRef<[u8]>>(
        files: impl IntoIterator<Item = B>,
        registry: &SaveRegistry,
    ) -> Result<Self, LoadError> {
        let (mut chain, mut pieces) = (0, HashMap::new());
        for (at, bytes) in files.into_iter().enumerate() {
            let read = read_pieces(bytes.as_ref(), chain, &mut pieces);
            chain = read.map_err(|message| LoadError::invalid(format_args!("file {at}"), message))?;
        }
        world_of(collect(pieces)?, registry)
    }

    /// Fills this world from a file, with the ids and orders of the saved one: for an app whose systems and resources are
    /// there before its entities.
    ///
    /// # Errors
    /// As for [`World::read_file`], and when the world has had entities. After an error it has none.
    pub fn fill_from_file(
        &mut self,
        path: impl AsRef<Path>,
        registry: &SaveRegistry,
    ) -> Result<(), FileError> {
        if self.entities().slots() > 0 || self.entities().needs_flush() {
            return Err(FileError::HadEntities);
        }
        let chunks = read_chunks([path])?;
        let filled = entity_map_scope(None, || {
            let decoded = decode::decode(compact::read(chunks)?, registry, self.read_change_tick())?;
            build::fill(self, decoded, registry)
        });
        if filled.is_err() {
            self.clear_entities();
        }
        Ok(filled?)
    }
}

/// Makes a world of the pieces of a save.
fn world_of(chunks: Chunks, registry: &SaveRegistry) -> Result<World, LoadError> {
    entity_map_scope(None, || {
        let now = phalanx_store::Store::new().tick();
        build::build(decode::decode(compact::read(chunks)?, registry, now)?, registry)
    })
}

/// The pieces of a file and its deltas.
fn read_chunks<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Chunks, FileError> {
    let mut chain = 0;
    let mut pieces: HashMap<Key, Vec<u8>> = HashMap::new();
    for path in paths {
        let bytes = std::fs::read(path.as_ref()).map_err(|error| with_path(&error, path.as_ref()))?;
        let place = path.as_ref().display();
        let place = format!("file {place}");
        chain =
            read_pieces(&bytes, chain, &mut pieces).map_err(|message| LoadError::invalid(place, message))?;
    }
    Ok(collect(pieces)?)
}

/// The pieces that the last head lists; others belonged to rows that are gone.
fn collect(mut pieces: HashMap<Key, Vec<u8>>) -> Result<Chunks, LoadError> {
    let mut chunks = Chunks::default();
    let Some(head) = pieces.remove(&Part::Head.block(0)) else {
        return Err(LoadError::invalid("the files", "there is none, or the first one has no head"));
    };
    let parts = compact::parts_of(&head)?;
    let mut pieces: Vec<(Key, Vec<u8>)> = pieces.into_iter().collect();
    pieces.sort_unstable_by_key(|(key, _)| *key);
    for (key, bytes) in pieces {
        let rows = parts.get(&key.part).copied().unwrap_or(0);
        if u64::from(key.block) < rows.div_ceil(BLOCK_ROWS as u64) {
            chunks.insert(key, bytes)?;
        }
    }
    chunks.insert(Part::Head.block(0), head)?;
    Ok(chunks)
}

/// Adds the pieces of a file, in the place of older ones. Returns the checksum that the next file must name.
fn read_pieces(bytes: &[u8], chain: u64, pieces: &mut HashMap<Key, Vec<u8>>) -> Result<u64, String> {
    let mut reader = Reader::new(bytes);
    let text = |error: crate::codec::CodecError| error.to_string();
    if reader.array::<8>().map_err(text)? != *MAGIC {
        return Err("it is no save of a world".to_owned());
    }
    let base = u64::from_le_bytes(reader.array().map_err(text)?);
    if base != chain {
        return Err("it was written after another file than the one before it".to_owned());
    }
    let mut seen = hashbrown::HashSet::new();
    loop {
        let before = reader.position();
        let len = reader.count().map_err(text)?;
        if len == 0 {
            let all = checksum(&bytes[..=before]);
            let sum = u64::from_le_bytes(reader.array().map_err(text)?);
            reader.finish().map_err(text)?;
            return if sum == all { Ok(sum) } else { Err("its checksum is wrong".to_owned()) };
        }
        let sum = u64::from_le_bytes(reader.array().map_err(text)?);
        let piece = reader.take(len).map_err(text)?;
        if checksum(piece) != sum {
            return Err(format!("the piece at byte {before} does not have its checksum"));
        }
        let mut inner = Reader::new(piece);
        let key = Key::read(&mut inner).map_err(text)?;
        if !seen.insert(key) {
            return Err(format!("{key} is there twice"));
        }
        pieces.insert(key, piece[inner.position()..].to_vec());
    }
}

/// A file that is being written, with the checksum of what was written.
struct Output {
    file: io::BufWriter<File>,
    sum: u64,
}

impl Output {
    fn put(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.sum = add_to_checksum(self.sum, bytes);
        Ok(self.file.write_all(bytes)?)
    }
}

/// The error of the file system with the path it is about, which it does not tell itself.
fn with_path(error: &io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// What the names of unfinished files end with, after the name of the file, a process and a number.
const UNFINISHED: &str = ".new";

/// Makes the file that becomes the one at `path`, and holds its lock: a process that finds it locked leaves it alone.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or_else(|| io::Error::other("the path names no file"))?;
    loop {
        let mut beside = name.to_owned();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        beside.push(format!(".{}-{number}{UNFINISHED}", std::process::id()));
        let beside = path.with_file_name(beside);
        let file = File::create(&beside)?;
        // Where there are no locks, nothing is cleared up.
        let _ = file.try_lock();
        // Another process may have taken it for a leftover before it was locked.
        if beside.exists() {
            return Ok((beside, file));
        }
    }
}

/// Removes unfinished files of `path` that were left by processes which ended meanwhile: their locks are free.
fn remove_leftovers(path: &Path) {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let Ok(files) = std::fs::read_dir(directory.unwrap_or_else(|| Path::new("."))) else { return };
    let Some(own) = path.file_name().and_then(|name| name.to_str()) else { return };
    let is_leftover = |name: &str| {
        let middle = name.strip_prefix(own)?.strip_prefix('.')?.strip_suffix(UNFINISHED)?;
        let (process, number) = middle.split_once('-')?;
        (process.parse::<u32>().is_ok() && number.parse::<u64>().is_ok()).then_some(())
    };
    for file in files.flatten() {
        if file.file_name().to_str().and_then(is_leftover).is_some()
            && let Ok(open) = File::open(file.path())
            && open.try_lock().is_ok()
        {
            let _ = std::fs::remove_file(file.path());
        }
    }
}

/// Writes a file beside its place, and puts it there when all of it is on the disk.
fn replace_file<T>(
    path: &Path,
    write: impl FnOnce(&mut Output) -> Result<T, FileError>,
) -> Result<T, FileError> {
    let (beside, file) = create_beside(path).map_err(|error| with_path(&error, path))?;
    let result = (|| {
        let mut out = Output { file: io::BufWriter::new(file), sum: EMPTY_SUM };
        let written = write(&mut out)?;
        out.file.flush()?;
        out.file.get_ref().sync_all()?;
        std::fs::rename(&beside, path).map_err(|error| with_path(&error, path))?;
        drop(out);
        // The name is on the disk when the directory is; not every system lets a directory be opened.
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if let Ok(directory) = File::open(directory.unwrap_or_else(|| Path::new("."))) {
            let _ = directory.sync_all();
        }
        remove_leftovers(path);
        Ok(written)
    })();
    if result.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    result
}

const EMPTY_SUM: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a with 64 bits, a byte at a time: it finds damage, not malice.
fn add_to_checksum(sum: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(sum, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn checksum(bytes: &[u8]) -> u64 {
    add_to_checksum(EMPTY_SUM, bytes)
}
