//! Which filters a new archetype may match.
//!
//! Each alternative of a filter is listed under one of the components it asks for: the one under which fewest are
//! listed. So a new archetype concerns only what is listed under its own components, and under none at all.

use crate::query::condition::Filter;
use crate::registry::ComponentId;
use crate::signature::Signature;
use crate::steps;

/// Filters, numbered in the order they were added, by what they wait for.
#[derive(Default)]
pub(super) struct Watch {
    /// Indexed by component.
    by_component: Vec<Vec<usize>>,
    /// Those that ask for no component.
    anything: Vec<usize>,
    /// Beside the filters: the last archetype for which each was named, so that none is named twice.
    named: Vec<u64>,
    asked: u64,
}

impl Watch {
    pub(super) fn add(&mut self, filter: &Filter) {
        let number = self.named.len();
        self.named.push(0);
        for required in filter.required() {
            let listed = |id: usize| self.by_component.get(id).map_or(0, Vec::len);
            let list = match required.iter().map(ComponentId::index).min_by_key(|&id| listed(id)) {
                None => &mut self.anything,
                Some(id) => {
                    if self.by_component.len() <= id {
                        self.by_component.resize_with(id + 1, Vec::new);
                    }
                    &mut self.by_component[id]
                }
            };
            if list.last() != Some(&number) {
                list.push(number);
            }
        }
    }

    /// The filters that an archetype with these components may match.
    pub(super) fn candidates(&mut self, signature: &Signature) -> Vec<usize> {
        self.asked += 1;
        let Self { by_component, anything, named, asked } = self;
        let lists = signature.iter().filter_map(|id| by_component.get(id.index()));
        let all = lists.chain([&*anything]).flatten().copied();
        all.filter(|&number| {
            steps::count();
            std::mem::replace(&mut named[number], *asked) != *asked
        })
        .collect()
    }
}
