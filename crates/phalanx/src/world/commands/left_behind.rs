//! Commands that a panic left behind, and how deep in a chain of reactions they were queued.
//!
//! They are applied by the next flush, when the chain is gone that they were queued in. So each says how deep that was, and
//! as many causes precede what it makes happen: a chain that panics at each link comes to its limit as any other.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::queue::{Queue, Step};
use crate::world::World;

impl Queue {
    /// Notes that commands were queued at this depth, except where it is known that they were deeper.
    fn note_depth(&mut self, depth: usize) {
        if depth == 0 {
            return;
        }
        self.has_depths = true;
        // A chain of more is not within reach of any stack.
        let depth = u16::try_from(depth).unwrap_or(u16::MAX);
        self.steps.iter_mut().for_each(|step| step.depth = step.depth.max(depth));
    }
}

impl World {
    /// Keeps what is left of commands after a panic in one of them, in a chain that began with so many causes.
    #[cold]
    pub(super) fn leave_behind(&mut self, mut work: Queue, began: usize) {
        let Self { commands, reactions, .. } = self;
        if !commands.queue.has_depths {
            // Where the panic is handled further out, they are noted already.
            reactions.note_chain();
        }
        commands.queue.note_depth(reactions.chain_depth());
        work.note_depth(began);
        work.append(&mut commands.queue);
        commands.queue = work;
        reactions.shorten_chain(began);
    }

    /// Carries commands out as parts of the chain that they were queued in.
    pub(super) fn at_depth(&mut self, step: Step, apply: impl FnOnce(&mut Self)) {
        let (before, depth) = (self.reactions.chain_depth(), usize::from(step.depth));
        if depth <= before {
            return apply(self);
        }
        // What was queued meanwhile by commands that were less deep stays as deep as it is.
        let mut waiting = std::mem::take(&mut self.commands.queue);
        self.reactions.lengthen_chain(depth);
        let outcome = catch_unwind(AssertUnwindSafe(|| apply(self)));
        // What these queued is applied later in this flush, or by the next one after a panic.
        self.commands.queue.note_depth(depth);
        self.reactions.shorten_chain(before);
        waiting.append(&mut self.commands.queue);
        self.commands.queue = waiting;
        if let Err(panic) = outcome {
            resume_unwind(panic);
        }
    }
}
