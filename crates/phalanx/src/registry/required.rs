//! Which components others require.
//!
//! Requirements may be added until they matter, but never twice for a pair, and never in a cycle. What a component
//! requires directly is kept with it; what follows from that is worked out when a bundle is first met.

use phalanx_store::Init;

use super::{ComponentId, Components, RequiredComponentsError};

impl Components {
    /// Adds a component that another one requires.
    ///
    /// # Errors
    /// When it does already, or the two would require each other.
    pub(crate) fn add_requirement(
        &mut self,
        of: ComponentId,
        required: ComponentId,
        init: Init,
    ) -> Result<(), RequiredComponentsError> {
        let names = |this: &Self| (this.info(of).name().to_owned(), this.info(required).name().to_owned());
        if self.info(of).required().any(|known| known == required) {
            let (component, required) = names(self);
            return Err(RequiredComponentsError::Duplicate { component, required });
        }
        if of == required || self.requirements(&[required]).iter().any(|(id, _)| *id == of) {
            let (component, required) = names(self);
            return Err(RequiredComponentsError::Cycle { component, required });
        }
        self.infos[of.index()].required.push((required, init));
        Ok(())
    }

    /// What `ids` require beyond themselves: nearest requirement first, and the first function for a
    /// component wins.
    pub(crate) fn requirements(&self, ids: &[ComponentId]) -> Vec<(ComponentId, Init)> {
        let mut found: Vec<(ComponentId, Init)> = Vec::new();
        let mut wave: Vec<ComponentId> = ids.to_vec();
        while !wave.is_empty() {
            let mut next = Vec::new();
            for (id, init) in wave.iter().flat_map(|&id| &self.info(id).required) {
                if !ids.contains(id) && found.iter().all(|(known, _)| known != id) {
                    found.push((*id, init.clone()));
                    next.push(*id);
                }
            }
            wave = next;
        }
        found
    }
}
