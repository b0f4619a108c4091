//! The bundle types a world has met.
//!
//! A bundle's components are registered and checked for repetition once; from then on the bundle is a
//! small number, and transitions are arrays indexed by it. A single component finds its number through
//! its first column, any other bundle through a small direct-mapped cache of type ids: no hash on the way.

use std::any::TypeId;
use std::fmt;

use hashbrown::HashMap;
use phalanx_store::Init;

use crate::bundle::{Bundle, BundleKey};
use crate::registry::{ComponentId, Components, RegisterError};
use crate::signature::Signature;

/// The number of a bundle type in one world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BundleId(u32);

impl BundleId {
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Why a bundle cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BundleError {
    /// A component occurs twice.
    Repeated {
        /// The bundle's type.
        bundle: &'static str,
        /// The component's name.
        component: String,
    },
    /// A component cannot be registered.
    Register(RegisterError),
}

impl fmt::Display for BundleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repeated { bundle, component } => {
                write!(f, "bundle `{bundle}` has component `{component}` twice: remove one of them")
            }
            Self::Register(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BundleError {}

impl From<RegisterError> for BundleError {
    fn from(error: RegisterError) -> Self {
        Self::Register(error)
    }
}

pub(crate) struct BundleInfo {
    /// The components in tables.
    pub(crate) signature: Signature,
    /// The components in sparse sets.
    pub(crate) sparse: Signature,
    /// What must be added in tables.
    pub(crate) required: Vec<(ComponentId, Init)>,
    /// What must be added in sparse sets.
    pub(crate) required_sparse: Vec<(ComponentId, Init)>,
    /// Whether nothing goes into tables, nothing must come along, and there is no listener.
    pub(crate) only_sparse: bool,
    /// Whether nothing must come along into sets, and there is no listener: rows are all there is to it.
    pub(crate) plain: bool,
    /// The components that come, those that are required included, that have listeners.
    pub(crate) heard: Signature,
    /// The relation of the bundle itself whose lists are all that listens; `None` with other listeners, or where there are
    /// several.
    pub(crate) link: Option<ComponentId>,
}

impl BundleInfo {
    fn new(ids: &[ComponentId], components: &Components) -> Self {
        let is_sparse = |id: ComponentId| components.info(id).is_sparse();
        let (required_sparse, required) =
            components.requirements(ids).into_iter().partition(|(id, _)| is_sparse(*id));
        Self {
            only_sparse: false,
            plain: false,
            heard: Signature::empty(),
            link: None,
            signature: ids.iter().copied().filter(|&id| !is_sparse(id)).collect(),
            sparse: ids.iter().copied().filter(|&id| is_sparse(id)).collect(),
            required,
            required_sparse,
        }
    }

    /// Works out anew which of the components have listeners, and what follows from that.
    fn update_heard(&mut self, heard: &Signature, quiet: &[ComponentId]) {
        self.heard = self.kept().union(&self.kept_sparse()).intersection(heard);
        let silent = self.heard.is_empty();
        self.plain = silent && self.required_sparse.is_empty();
        self.only_sparse = self.plain && self.required.is_empty() && self.signature.is_empty();
        self.update_link(quiet);
    }

    /// Works out anew whether a link is all that has to be followed.
    fn update_link(&mut self, quiet: &[ComponentId]) {
        let link = quiet.iter().copied().find(|&link| self.heard == Signature::empty().with(link));
        self.link = link.filter(|&link| self.sparse.has(link) && self.required_sparse.is_empty());
    }

    /// The components of the bundle itself, in tables and in sets.
    pub(crate) fn explicit(&self) -> Signature {
        self.signature.union(&self.sparse)
    }

    /// What is kept in tables where this bundle is: it, and what it requires.
    pub(crate) fn kept(&self) -> Signature {
        self.signature.union(&self.required.iter().map(|(id, _)| *id).collect())
    }

    /// As [`BundleInfo::kept`], in sparse sets.
    pub(crate) fn kept_sparse(&self) -> Signature {
        self.sparse.union(&self.required_sparse.iter().map(|(id, _)| *id).collect())
    }
}

const CACHED: usize = 64;

/// In the array by column: the bundle is plain.
const PLAIN: u32 = 1 << 31;

fn by_column_entry(id: BundleId, plain: bool) -> u32 {
    (id.0 + 1) | if plain { PLAIN } else { 0 }
}

pub(crate) struct Bundles {
    infos: Vec<BundleInfo>,
    /// Indexed by a component's first column: the bundle of that component alone, plus one, and whether it is plain.
    by_column: Vec<u32>,
    by_type: HashMap<TypeId, BundleId>,
    /// Bundles of values whose types are erased, by their components in ascending order.
    by_ids: HashMap<Box<[ComponentId]>, BundleId>,
    /// The bundles met last, and whether each is plain.
    cache: [Option<(TypeId, BundleId, bool)>; CACHED],
    /// The components that have listeners.
    heard: Signature,
    /// The relations whose lists alone listen to them.
    quiet: Vec<ComponentId>,
}

impl Bundles {
    pub(crate) fn new() -> Self {
        Self {
            infos: Vec::new(),
            by_column: Vec::new(),
            by_type: HashMap::new(),
            by_ids: HashMap::new(),
            cache: [None; CACHED],
            heard: Signature::empty(),
            quiet: Vec::new(),
        }
    }

    /// Tells all bundles which relations are followed by their lists alone.
    pub(crate) fn set_quiet(&mut self, quiet: Vec<ComponentId>) {
        self.infos.iter_mut().for_each(|info| info.update_link(&quiet));
        self.quiet = quiet;
    }

    pub(crate) fn info(&self, id: BundleId) -> &BundleInfo {
        &self.infos[id.index()]
    }

    /// Updates all bundles with the components that have listeners.
    pub(crate) fn set_heard(&mut self, heard: Signature) {
        self.infos.iter_mut().for_each(|info| info.update_heard(&heard, &self.quiet));
        self.heard = heard;
        self.cache = [None; CACHED];
        for entry in self.by_column.iter_mut().filter(|entry| **entry != 0) {
            let id = BundleId((*entry & !PLAIN) - 1);
            *entry = by_column_entry(id, self.infos[id.index()].plain);
        }
    }

    /// What is known of the bundle with this number.
    pub(crate) fn info_at(&self, index: usize) -> &BundleInfo {
        &self.infos[index]
    }

    /// Whether the component with this first column was met alone, goes into a set, and brings nothing along.
    pub(crate) fn is_lone_sparse(&self, column: usize) -> bool {
        let met = self.by_column.get(column).and_then(|entry| (entry & !PLAIN).checked_sub(1));
        met.is_some_and(|id| self.info(BundleId(id)).only_sparse)
    }

    /// Whether a bundle was met that brings the component.
    pub(crate) fn brings(&self, id: ComponentId) -> bool {
        self.infos.iter().any(|info| info.kept().has(id) || info.kept_sparse().has(id))
    }

    /// The bundle's number, if it was met before.
    #[inline]
    pub(crate) fn find(&mut self, key: BundleKey) -> Option<BundleId> {
        self.find_plain(key).map(|(id, _)| id)
    }

    /// The bundle's number, if it was met before, and whether it is [plain](BundleInfo::plain): found beside the number,
    /// so that a change without listeners reads nothing else of the bundle.
    #[inline]
    pub(crate) fn find_plain(&mut self, key: BundleKey) -> Option<(BundleId, bool)> {
        match key {
            BundleKey::AnyComponent(column) => match self.by_column.get(column.index()) {
                None | Some(0) => None,
                Some(entry) => Some((BundleId((entry & !PLAIN) - 1), entry & PLAIN != 0)),
            },
            BundleKey::Type(type_id) => match &self.cache[cache_line(type_id)] {
                Some((known, id, plain)) if *known == type_id => Some((*id, *plain)),
                _ => self.find_uncached(type_id),
            },
        }
    }

    #[cold]
    fn find_uncached(&mut self, type_id: TypeId) -> Option<(BundleId, bool)> {
        let id = self.by_type.get(&type_id).copied()?;
        let plain = self.info(id).plain;
        self.cache[cache_line(type_id)] = Some((type_id, id, plain));
        Some((id, plain))
    }

    pub(crate) fn register<B: Bundle>(
        &mut self,
        components: &mut Components,
    ) -> Result<BundleId, BundleError> {
        if let Some(id) = self.find(B::bundle_key()) {
            return Ok(id);
        }
        let mut ids = Vec::new();
        B::register(components, &mut ids)?;
        self.add(B::bundle_key(), std::any::type_name::<B>(), &ids, components)
    }

    fn add(
        &mut self,
        key: BundleKey,
        bundle: &'static str,
        ids: &[ComponentId],
        components: &Components,
    ) -> Result<BundleId, BundleError> {
        if let Some((_, id)) = ids.iter().enumerate().find(|&(at, id)| ids[..at].contains(id)) {
            let component = components.info(*id).name().to_owned();
            return Err(BundleError::Repeated { bundle, component });
        }
        let id = self.push(ids, components);
        let entry = by_column_entry(id, self.info(id).plain);
        match key {
            BundleKey::AnyComponent(column) => {
                if self.by_column.len() <= column.index() {
                    self.by_column.resize(column.index() + 1, 0);
                }
                self.by_column[column.index()] = entry;
            }
            BundleKey::Type(type_id) => {
                self.by_type.insert(type_id, id);
            }
        }
        Ok(id)
    }

    /// The bundle of some components, in ascending order and each once, whose values come without their types.
    pub(crate) fn register_ids(&mut self, ids: &[ComponentId], components: &Components) -> BundleId {
        debug_assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?} are in order, each once");
        if let Some(&id) = self.by_ids.get(ids) {
            return id;
        }
        let id = self.push(ids, components);
        self.by_ids.insert(ids.into(), id);
        id
    }

    /// Gives the next number to a bundle of components.
    fn push(&mut self, ids: &[ComponentId], components: &Components) -> BundleId {
        let id = BundleId(u32::try_from(self.infos.len()).expect("fewer than 2^32 bundle types"));
        assert!(id.0 < PLAIN - 1, "fewer than 2^31 bundle types");
        let mut info = BundleInfo::new(ids, components);
        info.update_heard(&self.heard, &self.quiet);
        self.infos.push(info);
        id
    }
}

/// Type ids are hashes already: any bits of one will do.
#[inline]
fn cache_line(type_id: TypeId) -> usize {
    struct Bits(u64);
    impl std::hash::Hasher for Bits {
        fn finish(&self) -> u64 {
            self.0
        }
        fn write(&mut self, bytes: &[u8]) {
            self.0 = bytes.iter().fold(self.0, |bits, &byte| (bits << 8) | u64::from(byte));
        }
        fn write_u64(&mut self, bits: u64) {
            self.0 = bits;
        }
    }
    let mut bits = Bits(0);
    std::hash::Hash::hash(&type_id, &mut bits);
    usize::try_from(bits.0 % CACHED as u64).expect("a remainder is smaller than its divisor")
}
