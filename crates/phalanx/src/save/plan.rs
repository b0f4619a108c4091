//! What is to be saved of a world: its parts in the order in which a save tells them.
//!
//! Archetypes stand in the order of their creation, also those without rows, so that those of the loaded world come in
//! the same order. Where components are left out, archetypes that differ only in those become one. Nothing is written
//! here: `compact` and `readable` do that.

use std::any::type_name;
use std::borrow::Cow;

use hashbrown::HashSet;
use phalanx_store::{DirectoryState, Entity, SlotState, TableId, Tick};

use super::chunk::Part;
use super::filter::{SaveFilter, SaveReport};
use super::kept::KeptComponents;
use crate::codec::{CodecError, Halt, ValueSink};
use crate::component::{LeftOut, Track};
use crate::messages::{ChannelState, MessageSaving};
use crate::pool::{PoolId, PoolRecord};
use crate::registry::{ComponentId, ComponentInfo};
use crate::resources::ResourceSaving;
use crate::schedule::Schedules;
use crate::schema::Schema;
use crate::state::KnownStates;
use crate::world::World;

pub(super) struct Plan<'w> {
    pub(super) world: &'w World,
    pub(super) components: Vec<ComponentPlan<'w>>,
    /// The pools, General excepted, in order of registration.
    pub(super) pools: Vec<&'static str>,
    pub(super) directory: DirectoryState,
    pub(super) tables: Vec<TablePlan>,
    pub(super) sets: Vec<SetPlan>,
    pub(super) groups: Vec<GroupPlan>,
    pub(super) resources: Vec<(Cow<'static, str>, ResourceSaving)>,
    pub(super) messages: Vec<(Cow<'static, str>, MessageSaving, ChannelState)>,
    pub(super) kept: Vec<KeptPlan<'w>>,
    pub(super) report: SaveReport,
    left_out: LeftOut,
}

/// Where the values of a piece stand in the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Source {
    table: TableId,
    component: Option<ComponentId>,
}

/// A component that is saved.
pub(super) struct ComponentPlan<'w> {
    pub(super) info: &'w ComponentInfo,
    pub(super) version: u32,
}

pub(super) struct TablePlan {
    /// The position among the pools plus one; 0 for General.
    pub(super) pool: usize,
    /// Positions among the components.
    pub(super) components: Vec<usize>,
    pub(super) entities: Vec<Entity>,
    /// The one table of the world whose rows these are, in their order; nothing where several became one, or rows are
    /// left out.
    pub(super) source: Option<TableId>,
}

pub(super) struct SetPlan {
    pub(super) component: usize,
    pub(super) entities: Vec<Entity>,
    /// The rows that are holes, the last one filled first.
    pub(super) holes: Vec<u32>,
}

pub(super) struct GroupPlan {
    pub(super) owned: Vec<usize>,
    pub(super) seen: Vec<usize>,
    pub(super) without: Vec<usize>,
    /// The order of members, where no owned set tells it.
    pub(super) order: Option<Vec<Entity>>,
}

/// Values of a component that this program does not know.
pub(super) struct KeptPlan<'w> {
    pub(super) name: &'w str,
    pub(super) version: u32,
    pub(super) readable: bool,
    pub(super) values: Vec<(Entity, &'w crate::codec::Data)>,
}

impl<'w> Plan<'w> {
    pub(super) fn new(world: &'w World, filter: &SaveFilter<'_>) -> Self {
        let mut plan = Self {
            world,
            components: Vec::new(),
            pools: world.archetypes.pools().iter().skip(1).map(PoolRecord::name).collect(),
            directory: world.store.entities().directory_state(),
            tables: Vec::new(),
            sets: Vec::new(),
            groups: Vec::new(),
            resources: Vec::new(),
            messages: Vec::new(),
            kept: Vec::new(),
            report: SaveReport::default(),
            left_out: LeftOut::new(),
        };
        let left_out = plan.leave_entities_out(filter);
        let index = plan.add_components(filter);
        plan.add_tables(&index, &left_out);
        plan.add_sets(&index, &left_out);
        plan.add_groups(&index, &left_out);
        plan.add_resources(filter);
        plan.add_messages(filter);
        plan.add_kept(&left_out);
        plan.left_out = left_out;
        plan
    }

    /// # Errors
    /// When what is written could not be loaded, because names are not unique.
    pub(super) fn check(&self) -> Result<(), String> {
        let resources = self.resources.iter().map(|(name, _)| ("resources", &**name));
        let messages = self.messages.iter().map(|(name, ..)| ("messages", &**name));
        let mut names = HashSet::new();
        match resources.chain(messages).find(|&named| !names.insert(named)) {
            Some((kind, name)) => Err(format!(
                "two {kind} are called `{name}`, so that they could not be loaded: give one of them another name"
            )),
            None => Ok(()),
        }
    }

    /// Writes the values of these entities.
    pub(super) fn write_values(
        &self,
        component: usize,
        entities: &[Entity],
        sink: &mut ValueSink<'_>,
    ) -> Result<(), Halt> {
        let info = self.components[component].info;
        if let Some(saving) = info.saving() {
            return (saving.write)(&self.world.store, entities, &self.left_out, sink);
        }
        let names: Vec<&str> = info.schema().into_iter().flat_map(Schema::field_names).collect();
        let mut fields = Vec::new();
        for &entity in entities {
            fields.clear();
            for &name in &names {
                let value = self.world.get_field(entity, info.id(), name);
                fields.push((name, value.map_err(|error| Halt::Failed(CodecError::new(error)))?));
            }
            sink.push_fields(&fields)?;
        }
        Ok(())
    }

    /// Whose values a piece holds: a table, and the component unless it is the owners. Only of these the store knows when
    /// they were written.
    pub(super) fn source(&self, part: Part) -> Option<Source> {
        let (table, component) = match part {
            Part::Owners(at) => (&self.tables[at as usize], None),
            Part::Column(at, column) => {
                let table = &self.tables[at as usize];
                let info = self.components[table.components[column as usize]].info;
                // Without ticks it is not known.
                (info.track() != Track::None).then_some((table, Some(info.id())))?
            }
            _ => return None,
        };
        Some(Source { table: table.source?, component })
    }

    /// Whether nothing of a block was written at a tick or after it.
    pub(super) fn is_older(&self, source: Source, block: usize, tick: Tick) -> bool {
        let store = &self.world.store;
        let columns = source.component.map_or(&[][..], |id| self.world.components.info(id).columns());
        let mut columns = columns.iter().filter(|column| !column.is_virtual());
        store.rows_tick(source.table, block).is_some_and(|rows| rows < tick)
            && columns
                .all(|&column| store.column_tick(source.table, column, block).is_some_and(|at| at < tick))
    }

    /// An entity that is not saved is dead in the save, and its slot the last one to be used again.
    fn leave_entities_out(&mut self, filter: &SaveFilter<'_>) -> LeftOut {
        let mut left_out = LeftOut::new();
        self.report.entities = self.directory.slots.iter().filter(|slot| is_alive(**slot)).count();
        let Some(keep) = filter.entity_filter() else { return left_out };
        for entity in self.world.store.entities().iter() {
            if keep(self.world.entity(entity)) {
                continue;
            }
            left_out.insert(entity);
            let slot = &mut self.directory.slots[entity.index() as usize];
            // No living entity has the last generation.
            let next = entity.generation() + 1;
            if next + 1 == u32::MAX {
                *slot = SlotState::Retired;
            } else {
                *slot = SlotState::Free(next);
                self.directory.free.push(entity.index());
            }
        }
        self.report.entities -= left_out.len();
        self.report.entities_left_out = left_out.len();
        left_out
    }

    /// Adds the components that are saved. Returns the position of each, by its id.
    fn add_components(&mut self, filter: &SaveFilter<'_>) -> Vec<Option<usize>> {
        let version = |info: &ComponentInfo| {
            let version = match (info.saving(), info.schema()) {
                (Some(saving), _) => Some(saving.version),
                (None, Some(_)) => Some(1),
                (None, None) => None,
            };
            version.filter(|_| filter.has_component(info))
        };
        let mut index = Vec::new();
        for info in self.world.components.iter() {
            // Half of a relation means nothing without the other.
            let other = self.world.other_half(info.id()).map(|other| self.world.components.info(other));
            let version = version(info).filter(|_| other.is_none_or(|other| version(other).is_some()));
            index.push(version.map(|version| {
                self.components.push(ComponentPlan { info, version });
                self.components.len() - 1
            }));
        }
        index
    }

    fn add_tables(&mut self, index: &[Option<usize>], left_out: &LeftOut) {
        let archetypes = &self.world.archetypes;
        let mut lacking = Vec::new();
        let mut ids: Vec<_> = archetypes.iter().collect();
        ids.sort_by_key(|&id| archetypes.age(id));
        for id in ids {
            let (pool, signature) = (archetypes.pool_of(id), archetypes.signature(id));
            let Some(table) = archetypes.table(id).filter(|table| table.has_rows()) else { continue };
            let all = self.world.store.table_entities(table);
            let mut components: Vec<usize> = signature.iter().filter_map(|id| index[id.index()]).collect();
            components.sort_unstable();
            if !all.is_empty() {
                lacking.extend(signature.iter().filter(|id| index[id.index()].is_none()));
            }
            if components.is_empty() && pool == PoolId::GENERAL {
                continue;
            }
            let whole = left_out.is_empty();
            let kept = all.iter().copied().filter(|entity| whole || !left_out.contains(entity));
            let same = |known: &&mut TablePlan| known.pool == pool.index() && known.components == components;
            if let Some(known) = self.tables.iter_mut().find(same) {
                known.entities.extend(kept);
                known.source = None;
                continue;
            }
            let (pool, entities, source) = (pool.index(), kept.collect(), whole.then_some(table));
            self.tables.push(TablePlan { pool, components, entities, source });
        }
        self.leave_components_out(lacking);
    }

    fn add_sets(&mut self, index: &[Option<usize>], left_out: &LeftOut) {
        let mut lacking = Vec::new();
        for info in self.world.components.iter().filter(|info| info.is_sparse()) {
            let Some(set) = self.world.set_of(info.id()) else { continue };
            let store = &self.world.store;
            let Some(component) = index[info.id().index()] else {
                lacking.extend((store.set_len(set) > 0).then_some(info.id()));
                continue;
            };
            let all = store.set_entities(set).iter().copied();
            let whole = left_out.is_empty();
            let keeps = |entity| info.saving().is_none_or(|saving| (saving.keeps)(store, entity, left_out));
            let there = all.filter(|&entity| {
                entity != Entity::PLACEHOLDER && (whole || !left_out.contains(&entity) && keeps(entity))
            });
            self.sets.push(SetPlan {
                component,
                entities: there.collect(),
                holes: if whole { store.set_hole_rows(set).to_vec() } else { Vec::new() },
            });
        }
        self.leave_components_out(lacking);
    }

    fn leave_components_out(&mut self, mut ids: Vec<ComponentId>) {
        ids.sort_unstable();
        ids.dedup();
        let names = ids.iter().map(|&id| self.world.components.info(id).name().to_owned());
        self.report.components_left_out.extend(names);
    }

    fn add_groups(&mut self, index: &[Option<usize>], left_out: &LeftOut) {
        for group in self.world.saved_groups() {
            let saved = |ids: &[ComponentId]| -> Option<Vec<usize>> {
                ids.iter().map(|id| index[id.index()]).collect()
            };
            match (saved(&group.owned), saved(&group.seen), saved(&group.without)) {
                (Some(owned), Some(seen), Some(without)) => {
                    let there = group.members.iter().copied().filter(|member| !left_out.contains(member));
                    let order = owned.is_empty().then(|| there.collect());
                    self.groups.push(GroupPlan { owned, seen, without, order });
                }
                _ => self.report.groups_left_out.push(group.name),
            }
        }
    }

    fn add_resources(&mut self, filter: &SaveFilter<'_>) {
        for (name, saving, there) in self.world.resources.iter_saving() {
            // Systems are code, and so is which states there are: the app that loads has its own.
            let of_code =
                [type_name::<KeptComponents>(), type_name::<Schedules>(), type_name::<KnownStates>()];
            match saving {
                _ if !there || of_code.contains(&name) => {}
                Some(saving) if filter.has_resources() => self.resources.push((saving.name(), saving)),
                _ => self.report.resources_left_out.push(name.to_owned()),
            }
        }
    }

    fn add_messages(&mut self, filter: &SaveFilter<'_>) {
        for (name, saving, live) in self.world.messages.iter_saving() {
            let state = saving.and_then(|saving| Some((saving, (saving.state)(&self.world.messages)?)));
            match state {
                Some((saving, state)) if filter.has_messages() => {
                    self.messages.push((saving.name(), saving, state));
                }
                _ if live => self.report.messages_left_out.push(name.to_owned()),
                _ => {}
            }
        }
    }

    fn add_kept(&mut self, left_out: &LeftOut) {
        let Some(kept) = self.world.get_resource::<KeptComponents>() else { return };
        for component in kept.iter() {
            let there =
                |&&(entity, _): &&(Entity, _)| self.world.contains(entity) && !left_out.contains(&entity);
            let values = component.values.iter().filter(there).map(|(entity, data)| (*entity, data));
            self.kept.push(KeptPlan {
                name: &component.name,
                version: component.version,
                readable: component.readable,
                values: values.collect(),
            });
        }
    }

    /// The living entities without a row.
    pub(super) fn rowless(&self) -> Vec<Entity> {
        let mut has_row = vec![false; self.directory.slots.len()];
        for entity in self.tables.iter().flat_map(|table| &table.entities) {
            has_row[entity.index() as usize] = true;
        }
        let alive = (0u32..).zip(&self.directory.slots).filter_map(|(index, slot)| match slot {
            SlotState::Alive(generation) if !has_row[index as usize] => Some(id(index, *generation)),
            _ => None,
        });
        alive.flatten().collect()
    }
}

fn is_alive(slot: SlotState) -> bool {
    matches!(slot, SlotState::Alive(_))
}

/// The id with this index and generation.
pub(super) fn id(index: u32, generation: u32) -> Option<Entity> {
    Entity::from_bits(u64::from(generation.checked_add(1)?) << 32 | u64::from(index))
}
