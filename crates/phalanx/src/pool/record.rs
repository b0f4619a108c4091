//! What a world knows of its pools: names, declared components, and the archetypes of each.
//!
//! ```text
//!   masks   [ 0b011, 0b111, .. ]     pool-local bits of each archetype; matching reads only these
//!   ids     [   4,     7,   .. ]     index for index beside them: the archetype
//! ```
//!
//! Both arrays are in order of creation. A pool archetype is found by scanning the masks, beginning with
//! the last hit: pools have few archetypes, and no hash is computed. [`General`](super::General) has no masks:
//! its archetypes are found by signature. Sparse components have a slot, but their bit is never set here.

use std::sync::atomic::{AtomicU64, Ordering};

use phalanx_store::{AnyColId, Edge, Init, TableShape};

use super::masks::{Masks, Test};
use super::{PoolId, Strategy};
use crate::archetype::ArchetypeId;
use crate::registry::{ComponentId, Components};
use crate::signature::Signature;

/// How a value of a pool's struct gets into a row.
pub(crate) struct SpawnEdge {
    /// The components that the value has.
    pub(crate) presence: u128,
    pub(crate) edge: Edge,
    /// The way on from there, where components are added that others require.
    pub(crate) then: Option<Edge>,
    /// What must be added in sparse sets.
    pub(crate) required_sparse: Vec<(ComponentId, Init)>,
    /// The components that come, that have listeners.
    pub(crate) heard: Signature,
}

impl SpawnEdge {
    /// Whether something is added that does not stand in the first row.
    pub(crate) fn adds(&self) -> bool {
        self.then.is_some() || !self.required_sparse.is_empty()
    }
}

/// Why a pool forbids a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The pool does not declare the component.
    Undeclared(PoolId, ComponentId),
    /// The pool requires the component.
    Required(PoolId, ComponentId),
}

/// What a pool says of itself when it is registered.
pub(crate) struct Registration {
    pub(crate) name: &'static str,
    pub(crate) strategy: Strategy,
    pub(crate) tag: AnyColId,
    /// In slot order.
    pub(crate) declared: Vec<ComponentId>,
    pub(crate) required: u128,
}

/// One pool of a world.
pub struct PoolRecord {
    id: PoolId,
    name: &'static str,
    strategy: Strategy,
    tag: AnyColId,
    declared: Vec<ComponentId>,
    allowed: Signature,
    required: Signature,
    /// The required components in tables.
    required_mask: u128,
    masks: Masks,
    ids: Vec<ArchetypeId>,
    /// Where tables keep the headers of the declared columns.
    shape: TableShape,
    /// Where the last search ended.
    last: usize,
    pub(crate) spawns: Vec<SpawnEdge>,
}

impl PoolRecord {
    fn new(id: PoolId, registration: Registration, components: &Components) -> Self {
        let Registration { name, strategy, tag, declared, required } = registration;
        let has = |mask: u128, slot: usize| mask & (1 << slot) != 0;
        let in_tables = (0..declared.len()).filter(|&slot| !components.info(declared[slot]).is_sparse());
        let table_mask = in_tables.fold(0, |mask, slot| mask | (1u128 << slot));
        Self {
            id,
            name,
            strategy,
            tag,
            allowed: declared.iter().copied().collect(),
            required: (0..declared.len())
                .filter(|&slot| has(required, slot))
                .map(|slot| declared[slot])
                .collect(),
            required_mask: required & table_mask,
            masks: if declared.len() > 64 { Masks::Wide(Vec::new()) } else { Masks::Narrow(Vec::new()) },
            shape: shape(strategy, &declared, components),
            declared,
            ids: Vec::new(),
            last: 0,
            spawns: Vec::new(),
        }
    }

    /// The pool's id.
    pub fn id(&self) -> PoolId {
        self.id
    }

    /// The pool's name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// How its archetypes keep their columns.
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// The declared components, in slot order; none for `General`, which allows everything.
    pub fn declared(&self) -> &[ComponentId] {
        &self.declared
    }

    /// The components that every entity of the pool has.
    pub fn required(&self) -> &Signature {
        &self.required
    }

    /// Whether entities of the pool may have a component.
    pub fn allows(&self, id: ComponentId) -> bool {
        self.id == PoolId::GENERAL || self.allowed.has(id)
    }

    /// The archetypes of the pool, in order of creation.
    pub fn archetypes(&self) -> &[ArchetypeId] {
        &self.ids
    }

    /// The bytes of the masks, which queries of the pool read.
    pub fn mask_bytes(&self) -> usize {
        self.masks.bytes()
    }

    pub(crate) fn shape(&self) -> &TableShape {
        &self.shape
    }

    pub(crate) fn tag(&self) -> AnyColId {
        self.tag
    }

    /// The bit of a component.
    fn bit(&self, id: ComponentId) -> Option<u128> {
        self.declared.iter().position(|&declared| declared == id).map(|slot| 1 << slot)
    }

    /// The bits of a set of components; `None` when one is not declared.
    fn mask(&self, signature: &Signature) -> Option<u128> {
        signature.iter().try_fold(0, |mask, id| Some(mask | self.bit(id)?))
    }

    /// The components whose bits are set.
    pub(crate) fn components(&self, mask: u128) -> impl Iterator<Item = ComponentId> + '_ {
        (0..self.declared.len()).filter(move |&slot| mask & (1 << slot) != 0).map(|slot| self.declared[slot])
    }

    pub(crate) fn find(&self, signature: &Signature) -> Option<ArchetypeId> {
        let mask = self.mask(signature)?;
        if self.last < self.masks.len() && self.masks.get(self.last) == mask {
            return Some(self.ids[self.last]);
        }
        self.masks.position(mask).map(|at| self.ids[at])
    }

    /// Lets the next search begin at an archetype.
    pub(crate) fn remember(&mut self, id: ArchetypeId) {
        // Those of General are found by hash.
        if self.id != PoolId::GENERAL && self.ids.get(self.last) != Some(&id) {
            self.last = self.ids.iter().position(|&known| known == id).unwrap_or(0);
        }
    }

    pub(crate) fn add(&mut self, id: ArchetypeId, signature: &Signature) {
        if self.id != PoolId::GENERAL {
            let mask = self.mask(signature).expect("archetypes of a pool have declared components only");
            self.masks.push(mask);
        }
        self.last = self.ids.len();
        self.ids.push(id);
    }

    fn retain(&mut self, lives: impl Fn(ArchetypeId) -> bool) {
        if self.id != PoolId::GENERAL {
            let mut ids = self.ids.iter();
            self.masks.retain(|| ids.next().is_some_and(|&id| lives(id)));
        }
        self.ids.retain(|&id| lives(id));
        self.last = 0;
    }

    fn forget_archetypes(&mut self) {
        self.ids.clear();
        self.masks.clear();
        self.last = 0;
    }

    /// Whether a bundle with these components may come.
    pub(crate) fn admits<'a>(&self, sets: impl IntoIterator<Item = &'a Signature>) -> Result<(), Refusal> {
        if self.id == PoolId::GENERAL {
            return Ok(());
        }
        match sets.into_iter().flatten().find(|&id| !self.allows(id)) {
            Some(id) => Err(Refusal::Undeclared(self.id, id)),
            None => Ok(()),
        }
    }

    /// Whether these components may go.
    pub(crate) fn releases<'a>(&self, sets: impl IntoIterator<Item = &'a Signature>) -> Result<(), Refusal> {
        match sets.into_iter().flatten().find(|&id| self.required.has(id)) {
            Some(id) => Err(Refusal::Required(self.id, id)),
            None => Ok(()),
        }
    }

    /// What decides whether an archetype of the pool has all of `all` and none of `none`.
    pub(crate) fn test(&self, all: &Signature, none: &Signature) -> Test {
        let Some(wanted) = self.mask(all) else { return Test::Never };
        // What the pool does not declare, its entities lack anyway.
        let excluded = none.iter().filter_map(|id| self.bit(id)).fold(0, |mask, bit| mask | bit);
        if excluded & self.required_mask != 0 {
            return Test::Never;
        }
        match (wanted & !self.required_mask, excluded) {
            (0, 0) => Test::Always,
            _ => Test::Bits { mask: wanted | excluded, wanted },
        }
    }

    fn check(&self, signature_of: impl Fn(ArchetypeId) -> Signature) -> Result<(), String> {
        let name = self.name;
        if self.id == PoolId::GENERAL {
            return Ok(());
        }
        if self.masks.len() != self.ids.len() {
            return Err(format!(
                "pool `{name}` has {} masks for {} archetypes",
                self.masks.len(),
                self.ids.len()
            ));
        }
        for (at, &id) in self.ids.iter().enumerate() {
            let signature = signature_of(id);
            if self.mask(&signature) != Some(self.masks.get(at)) {
                return Err(format!("{id:?} of pool `{name}` is not what its mask says"));
            }
            if self.masks.get(at) & self.required_mask != self.required_mask {
                return Err(format!("{id:?} of pool `{name}` lacks a required component"));
            }
        }
        Ok(())
    }
}

/// One group of columns per declared component; none for sparse ones, which are not in tables.
fn shape(strategy: Strategy, declared: &[ComponentId], components: &Components) -> TableShape {
    let infos = declared.iter().map(|&id| components.info(id));
    let groups: Vec<&[AnyColId]> =
        infos.map(|info| if info.is_sparse() { &[][..] } else { info.columns() }).collect();
    match strategy {
        Strategy::Inline => TableShape::inline(&groups),
        Strategy::Boxed => TableShape::boxed(&groups),
    }
}

/// The pools of one world.
pub struct Pools {
    records: Vec<PoolRecord>,
    /// Indexed by the column that marks a pool: its id plus one.
    by_tag: Vec<u32>,
    /// How many masks were compared with those of a query.
    checks: AtomicU64,
}

impl Pools {
    pub(crate) fn new() -> Self {
        let mut pools = Self { records: Vec::new(), by_tag: Vec::new(), checks: AtomicU64::new(0) };
        let general = Registration {
            name: "General",
            strategy: Strategy::Inline,
            tag: super::pooled().any(),
            declared: Vec::new(),
            required: 0,
        };
        pools.add(general, &Components::default());
        pools
    }

    pub(crate) fn add(&mut self, registration: Registration, components: &Components) -> PoolId {
        let id = PoolId(u32::try_from(self.records.len()).expect("fewer than 2^32 pools"));
        let at = registration.tag.index();
        if self.by_tag.len() <= at {
            self.by_tag.resize(at + 1, 0);
        }
        self.by_tag[at] = id.0 + 1;
        self.records.push(PoolRecord::new(id, registration, components));
        id
    }

    /// How many pools are registered, `General` included.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Never true: `General` always exists.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// All pools in order of registration, `General` first.
    pub fn iter(&self) -> impl Iterator<Item = &PoolRecord> {
        self.records.iter()
    }

    /// What is known of a pool.
    pub fn get(&self, id: PoolId) -> Option<&PoolRecord> {
        self.records.get(id.index())
    }

    /// The id of a pool, if it is registered: one array read.
    #[inline]
    pub fn id<P: super::Pool>(&self) -> Option<PoolId> {
        if P::IS_GENERAL { Some(PoolId::GENERAL) } else { self.by_key(super::key::<P>()) }
    }

    #[inline]
    pub(crate) fn by_key(&self, key: AnyColId) -> Option<PoolId> {
        match self.by_tag.get(key.index()) {
            None | Some(0) => None,
            Some(id) => Some(PoolId(id - 1)),
        }
    }

    pub(crate) fn record(&self, id: PoolId) -> &PoolRecord {
        &self.records[id.index()]
    }

    pub(crate) fn record_mut(&mut self, id: PoolId) -> &mut PoolRecord {
        &mut self.records[id.index()]
    }

    /// Whether an archetype of the pool passes a test.
    pub(crate) fn passes(&self, pool: PoolId, id: ArchetypeId, test: Test) -> bool {
        let record = self.record(pool);
        match record.ids.iter().position(|&known| known == id) {
            Some(at) => self.pass(record, at, test),
            None => false,
        }
    }

    /// The archetypes of the pool that pass a test, in order of creation.
    pub(crate) fn passing(&self, pool: PoolId, test: Test) -> impl Iterator<Item = ArchetypeId> + '_ {
        let record = self.record(pool);
        let all = if test == Test::Never { 0 } else { record.ids.len() };
        (0..all).filter(move |&at| self.pass(record, at, test)).map(|at| record.ids[at])
    }

    fn pass(&self, record: &PoolRecord, at: usize, test: Test) -> bool {
        match test {
            Test::Never => false,
            Test::Always => true,
            Test::Bits { mask, wanted } => {
                self.checks.fetch_add(1, Ordering::Relaxed);
                record.masks.get(at) & mask == wanted
            }
        }
    }

    /// How many masks of archetypes were compared with those of queries so far.
    pub fn mask_checks(&self) -> u64 {
        self.checks.load(Ordering::Relaxed)
    }

    /// Forgets how values get into rows, which ends when tables are dropped.
    /// Forgets which archetypes there are: they are about to be added anew.
    pub(crate) fn forget_archetypes(&mut self) {
        self.records.iter_mut().for_each(PoolRecord::forget_archetypes);
    }

    /// Forgets the archetypes that do not live any more.
    pub(crate) fn retain(&mut self, lives: impl Fn(ArchetypeId) -> bool) {
        self.records.iter_mut().for_each(|record| record.retain(&lives));
    }

    pub(crate) fn forget_edges(&mut self) {
        self.records.iter_mut().for_each(|record| record.spawns.clear());
    }

    pub(crate) fn check(&self, signature_of: impl Fn(ArchetypeId) -> Signature) -> Result<(), String> {
        self.records.iter().try_for_each(|record| record.check(&signature_of))
    }
}
