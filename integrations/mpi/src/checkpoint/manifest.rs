//! What a manifest says, and the chain of checkpoints that one stands on.
//!
//! ```text
//!   phalanx-mpi checkpoint 3
//!   frame 120
//!   next_id 400
//!   base 100 5f0c..      the checkpoint that the files are differences from, by the hash of its manifest; `whole` without one
//!   ranks 4
//!   rank-0 2310 91ab..   length and hash of each file
//!   ..
//!   end
//! ```
//!
//! A base is named by its hash, so a checkpoint whose base was replaced by another one of the same frame is not taken for whole.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::ClusterError;
use crate::wire::hash;

const FORM: &str = "phalanx-mpi checkpoint 3";

/// See the module.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) frame: u64,
    pub(super) next_id: u64,
    /// The frame of the checkpoint that files are differences from, and the hash of its manifest.
    pub(super) base: Option<(u64, u64)>,
    /// The length and hash of each rank's file.
    pub(super) files: Vec<(u64, u64)>,
}

impl Manifest {
    /// The manifest of a folder, and its hash.
    pub(super) fn read(place: &Path) -> Result<(Self, u64), ClusterError> {
        let path = place.join("manifest");
        let text = fs::read_to_string(&path).map_err(|error| ClusterError::file(&path, error))?;
        let parsed = Self::parse(&text).ok_or_else(|| ClusterError::file(&path, "it is not a manifest"))?;
        Ok((parsed, hash(text.as_bytes())))
    }

    pub(super) fn text(&self) -> String {
        let base = self.base.map_or("whole".to_owned(), |(frame, hash)| format!("base {frame} {hash:016x}"));
        let mut text = format!(
            "{FORM}\nframe {}\nnext_id {}\n{base}\nranks {}\n",
            self.frame,
            self.next_id,
            self.files.len()
        );
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
        let base = match lines.next()? {
            "whole" => None,
            line => {
                let (frame, hash) = line.strip_prefix("base ")?.split_once(' ')?;
                Some((frame.parse().ok()?, u64::from_str_radix(hash, 16).ok()?))
            }
        };
        let ranks: usize = lines.next()?.strip_prefix("ranks ")?.parse().ok()?;
        let mut files = Vec::new();
        for rank in 0..ranks {
            let (len, hash) = lines.next()?.strip_prefix(&format!("rank-{rank} "))?.split_once(' ')?;
            files.push((len.parse().ok()?, u64::from_str_radix(hash, 16).ok()?));
        }
        (lines.next()? == "end").then_some(Self { frame, next_id, base, files })
    }
}

/// The name of a checkpoint's folder.
pub(super) fn name_of(frame: u64) -> String {
    format!("frame-{frame:09}")
}

/// A checkpoint, and those that it stands on: the first is whole, each other one is a difference from the one before.
pub(super) fn chain(place: &Path) -> Result<Vec<(PathBuf, Manifest)>, ClusterError> {
    let (manifest, _) = Manifest::read(place)?;
    let mut chain = vec![(place.to_owned(), manifest)];
    while let Some((frame, wanted)) = chain.last().and_then(|(_, last)| last.base) {
        let (above, last) = chain.last().expect("it has a base");
        // Frames fall, so a chain has an end.
        if frame >= last.frame {
            return Err(ClusterError::file(above, "it stands on a later frame"));
        }
        let folder = place.parent().unwrap_or(Path::new(""));
        // A base that is being replaced is there by its other name.
        let named = ["", ".old"].map(|end| folder.join(format!("{}{end}", name_of(frame))));
        let found = named.into_iter().find_map(|place| {
            let (manifest, hash) = Manifest::read(&place).ok()?;
            let fits = hash == wanted && manifest.frame == frame && manifest.files.len() == last.files.len();
            fits.then_some((place, manifest))
        });
        let missing =
            || ClusterError::file(above, format_args!("it stands on frame {frame}, which is not there"));
        chain.push(found.ok_or_else(missing)?);
    }
    chain.reverse();
    Ok(chain)
}

/// The file of a rank, if it is the one that the manifest tells of.
pub(super) fn read_told(place: &Path, rank: usize, told: (u64, u64)) -> Result<Vec<u8>, ClusterError> {
    let path = place.join(format!("rank-{rank}"));
    let bytes = fs::read(&path).map_err(|error| ClusterError::file(&path, error))?;
    if (bytes.len() as u64, hash(&bytes)) != told {
        return Err(ClusterError::file(&path, "it is not the file that the manifest tells of"));
    }
    Ok(bytes)
}

/// Whether a checkpoint and all that it stands on are whole: every file is read.
pub(super) fn is_whole(place: &Path, frame: u64) -> bool {
    chain(place).is_ok_and(|chain| {
        let whole = |(place, manifest): &(PathBuf, Manifest)| {
            let file = |(rank, told): (usize, &(u64, u64))| read_told(place, rank, *told).is_ok();
            manifest.files.iter().enumerate().all(file)
        };
        chain.last().is_some_and(|(_, newest)| newest.frame == frame) && chain.iter().all(whole)
    })
}
