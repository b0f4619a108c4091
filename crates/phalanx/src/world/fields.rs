//! Fields of whole components, text, and default values, by run-time id.
//!
//! [`World::get_field`] and [`World::set_field`] lead here for components that are not kept by fields. Everything is
//! checked before anything is written, as for components made from a schema.

use std::any::Any;
use std::fmt;

use phalanx_store::{AnyColId, ColId, Edge, Entity, Existing, Init};

use super::reactions::Changes;
use super::{FieldError, NotInPool, World};
use crate::archetype::ArchetypeId;
use crate::component::Layout;
use crate::fields::{DebugFn, WholeValue, set_value, value_of};
use crate::registry::{ComponentId, ComponentInfo};
use crate::signature::Signature;
use crate::value::Value;

/// A component of an entity, to be printed with `{:?}`.
#[derive(Clone, Copy)]
pub struct ComponentDebug<'w> {
    world: &'w World,
    entity: Entity,
    column: AnyColId,
    debug: DebugFn,
}

impl fmt::Debug for ComponentDebug<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.debug)(&self.world.store, self.entity, self.column, f)
    }
}

impl World {
    /// A component of an entity as text, where its type has [`Debug`](fmt::Debug) and is kept as whole values; else `None`.
    pub fn component_debug(&self, entity: Entity, id: ComponentId) -> Option<ComponentDebug<'_>> {
        let info = self.component_of(entity, id).ok()?;
        let debug = info.value().and_then(WholeValue::debug)?;
        Some(ComponentDebug { world: self, entity, column: info.columns()[0], debug })
    }

    /// Reads a field that is a `String`.
    ///
    /// # Errors
    /// Says whether entity, component, field or type is wrong.
    pub fn get_field_text(&self, entity: Entity, id: ComponentId, field: &str) -> Result<&str, FieldError> {
        let info = self.component_of(entity, id)?;
        if let Some(column) = text_column(info, field) {
            let text = self.store.value(entity, column);
            return Ok(text.expect("the entity has the component's columns"));
        }
        let at = whole_field(info, field)?;
        let text = self.whole_part(info, entity, at).downcast_ref::<String>();
        text.map(String::as_str).ok_or_else(|| not_text(info, field))
    }

    /// Writes a field that is a `String`.
    ///
    /// # Errors
    /// Says whether entity, component, field or type is wrong; then nothing is written.
    pub fn set_field_text(
        &mut self,
        entity: Entity,
        id: ComponentId,
        field: &str,
        text: impl Into<String>,
    ) -> Result<(), FieldError> {
        let info = self.component_of(entity, id)?;
        let changed = info.changed_column();
        let text = text.into();
        let place = match text_column(info, field) {
            Some(column) => self.store.value_mut(entity, column),
            None => {
                let at = whole_field(info, field)?;
                if !self.whole_part(info, entity, at).is::<String>() {
                    return Err(not_text(info, field));
                }
                self.whole_part_mut(entity, id, at).downcast_mut::<String>()
            }
        };
        *place.expect("the entity has the component, and the field is text") = text;
        if let Some(changed) = changed {
            self.stamp(entity, changed);
        }
        Ok(())
    }

    /// Inserts the default value of a component that the entity lacks, with what it requires: of a tag, a run-time
    /// component, or a type that has `Default`. Nothing happens when the entity has it.
    ///
    /// # Errors
    /// When the entity is dead, the id is unknown, the type has no default value, or the entity's pool forbids it.
    pub fn insert_default(&mut self, entity: Entity, id: ComponentId) -> Result<(), FieldError> {
        if self.archetype_of(entity).is_none() {
            return Err(FieldError::NoSuchEntity { entity });
        }
        let info = self.components.get_info(id).ok_or(FieldError::NoSuchComponent { id })?;
        if info.schema().is_some() {
            return self.insert_dynamic(entity, id, &[]);
        }
        let defaults = info.defaults().to_vec();
        if defaults.is_empty() {
            return Err(FieldError::NoDefault { component: info.name().to_owned() });
        }
        let mut coming = self.components.requirements(&[id]);
        coming.extend(defaults.into_iter().map(|init| (id, init)));
        coming.retain(|(id, _)| self.component_of(entity, *id).is_err());
        let from = self.archetype_of(entity).ok_or(FieldError::NoSuchEntity { entity })?;
        let pool = self.archetypes.pools().record(self.archetypes.pool_of(from));
        if let Some((id, _)) = coming.iter().find(|(id, _)| !pool.allows(*id)) {
            let component = self.components.info(*id).name().to_owned();
            return Err(FieldError::NotInPool(NotInPool { entity, pool: pool.name(), component }));
        }
        let ids: Signature = coming.iter().map(|(id, _)| *id).collect();
        let changes = Changes::coming(ids.intersection(self.reactions.heard()));
        self.announced(entity, &changes, |world| {
            world.grouped(entity, |world| world.put_defaults(entity, from, coming));
        });
        Ok(())
    }

    /// Gives an entity components that it lacks, each made by its function.
    fn put_defaults(&mut self, entity: Entity, from: ArchetypeId, coming: Vec<(ComponentId, Init)>) {
        let (sparse, rows): (Vec<_>, Vec<_>) =
            coming.into_iter().partition(|(id, _)| self.set_of(*id).is_some());
        if !rows.is_empty() {
            let (ids, inits): (Vec<ComponentId>, Vec<Init>) = rows.into_iter().unzip();
            let signature = self.archetypes.signature(from).union(&ids.into_iter().collect());
            let target = self.archetype(self.archetypes.pool_of(from), signature);
            let edge: Edge = self.edge(from, target, |store, source, target| {
                store.insert_edge::<()>(source, target, (), &inits)
            });
            self.store
                .insert(entity, &edge, (), Existing::Keep)
                .expect("the entity stands where the edge begins");
        }
        for (id, init) in sparse {
            let set = self.set_of(id).expect("partitioned by this");
            self.store.set_insert_made(set, entity, &[init]).expect("a component's values are its columns");
        }
    }

    /// A field of a whole component.
    pub(super) fn get_whole_field(
        &self,
        info: &ComponentInfo,
        entity: Entity,
        field: &str,
    ) -> Result<Value, FieldError> {
        let at = whole_field(info, field)?;
        value_of(self.whole_part(info, entity, at)).ok_or_else(|| not_scalar(info, field))
    }

    /// Writes a field of a whole component.
    pub(super) fn set_whole_field(
        &mut self,
        entity: Entity,
        id: ComponentId,
        field: &str,
        value: Value,
    ) -> Result<(), FieldError> {
        let info = self.component_of(entity, id)?;
        let at = whole_field(info, field)?;
        let now = value_of(self.whole_part(info, entity, at)).ok_or_else(|| not_scalar(info, field))?;
        let (expected, given) = (now.field_type(), value.field_type());
        let wrong = FieldError::WrongType {
            component: info.name().to_owned(),
            field: field.to_owned(),
            expected,
            given,
        };
        if expected != given {
            return Err(wrong);
        }
        let changed = info.changed_column();
        if !set_value(self.whole_part_mut(entity, id, at), value) {
            return Err(wrong);
        }
        if let Some(changed) = changed {
            self.stamp(entity, changed);
        }
        Ok(())
    }

    fn whole_part(&self, info: &ComponentInfo, entity: Entity, at: usize) -> &dyn Any {
        let part = info.value().and_then(|value| value.field(&self.store, entity, info.columns()[0], at));
        part.expect("the entity has the component, and the component the field")
    }

    fn whole_part_mut(&mut self, entity: Entity, id: ComponentId, at: usize) -> &mut dyn Any {
        let info = self.components.info(id);
        let value = info.value().expect("the field was found in it");
        let part = value.field_mut(&mut self.store, entity, info.columns()[0], at);
        part.expect("the entity has the component, and the component the field")
    }
}

/// The column of a field of a component that is kept by fields, if it is a `String`.
fn text_column(info: &ComponentInfo, field: &str) -> Option<ColId<String>> {
    info.field(field).filter(|_| info.layout() == Layout::Fields)?.column().typed()
}

/// The position of a field of a whole value.
fn whole_field(info: &ComponentInfo, field: &str) -> Result<usize, FieldError> {
    let found = info.named_fields().position(|known| known.name == field);
    found.filter(|_| info.value().is_some()).ok_or_else(|| match found {
        Some(_) => not_text(info, field),
        None => unknown_field(info, field),
    })
}

/// The error for a field that is not there.
pub(super) fn unknown_field(info: &ComponentInfo, field: &str) -> FieldError {
    let known: Vec<&str> = info.named_fields().map(|field| field.name).collect();
    let known = if known.is_empty() { "no fields of its own".to_owned() } else { known.join(", ") };
    FieldError::UnknownField { component: info.name().to_owned(), field: field.to_owned(), known }
}

fn not_scalar(info: &ComponentInfo, field: &str) -> FieldError {
    let type_name =
        info.named_fields().find(|known| known.name == field).map_or("?", |known| known.type_name);
    FieldError::NotScalar { component: info.name().to_owned(), field: field.to_owned(), type_name }
}

fn not_text(info: &ComponentInfo, field: &str) -> FieldError {
    let type_name =
        info.named_fields().find(|known| known.name == field).map_or("?", |known| known.type_name);
    FieldError::NotText { component: info.name().to_owned(), field: field.to_owned(), type_name }
}
