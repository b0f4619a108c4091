//! Sets of systems with their configuration.
//!
//! `configure_sets(Update, (Input, Physics).chain())` orders all systems of one set before those of the other. A
//! set may lie in another, and its condition is evaluated once for all its systems. Tuples keep their structure: in
//! `((A, B), C).chain()` both `A` and `B` come before `C`, and a condition of a tuple is evaluated once for all its sets.

use crate::system::{ConditionShape, SystemCondition};

use super::ambiguity::Excepted;
use super::config::BoxedCondition;
use super::graph::Hop;
use super::label::{IntoSystemSet, SetId, SystemSet};

#[derive(Clone)]
pub(crate) struct SetConfig {
    pub(crate) set: SetId,
    pub(crate) before: Vec<(SetId, Hop)>,
    pub(crate) after: Vec<(SetId, Hop)>,
    pub(crate) within: Vec<SetId>,
    pub(crate) ambiguous: Excepted,
}

pub(crate) enum Tree {
    One { config: Box<SetConfig>, conditions: Vec<BoxedCondition> },
    Many { parts: Vec<Tree>, chained: Option<Hop>, conditions: Vec<BoxedCondition> },
}

impl Tree {
    fn each(&mut self, f: &mut impl FnMut(&mut SetConfig)) {
        match self {
            Self::One { config, .. } => f(config),
            Self::Many { parts, .. } => parts.iter_mut().for_each(|part| part.each(f)),
        }
    }

    /// The conditions of each single set.
    fn each_conditions(&mut self, f: &mut impl FnMut(&mut Vec<BoxedCondition>)) {
        match self {
            Self::One { conditions, .. } => f(conditions),
            Self::Many { parts, .. } => parts.iter_mut().for_each(|part| part.each_conditions(f)),
        }
    }
}

/// Sets, configured.
pub struct SetConfigs(pub(crate) Tree);

/// Sets of systems that can be configured.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(SystemSet, Clone, PartialEq, Eq, Hash, Debug)] struct Physics;
/// # #[derive(SystemSet, Clone, PartialEq, Eq, Hash, Debug)] struct Drawing;
/// let mut app = App::new();
/// app.configure_sets(Update, Drawing.after(Physics));
/// app.configure_sets(Update, Physics.run_if(|| true));
/// ```
pub trait IntoSetConfigs<Marker>: Sized {
    /// The sets, configured.
    fn into_set_configs(self) -> SetConfigs;

    /// Their systems run before those of another set, or of a function, which see what they did by commands.
    fn before<M>(self, set: impl IntoSystemSet<M>) -> SetConfigs {
        let set = set.into_set();
        each(self.into_set_configs(), |config| config.before.push((set.clone(), Hop::After)))
    }

    /// Their systems run after those of another set, or of a function, and see what these did by commands.
    fn after<M>(self, set: impl IntoSystemSet<M>) -> SetConfigs {
        let set = set.into_set();
        each(self.into_set_configs(), |config| config.after.push((set.clone(), Hop::After)))
    }

    /// As [`before`](Self::before), without a sync point: commands may be applied later.
    fn before_ignore_deferred<M>(self, set: impl IntoSystemSet<M>) -> SetConfigs {
        let set = set.into_set();
        each(self.into_set_configs(), |config| config.before.push((set.clone(), Hop::AfterUnsynced)))
    }

    /// As [`after`](Self::after), without a sync point: commands may be applied later.
    fn after_ignore_deferred<M>(self, set: impl IntoSystemSet<M>) -> SetConfigs {
        let set = set.into_set();
        each(self.into_set_configs(), |config| config.after.push((set.clone(), Hop::AfterUnsynced)))
    }

    /// As [`before`](Self::before), but only between systems that conflict, or of which the earlier one has commands.
    fn before_weak<M>(self, set: impl IntoSystemSet<M>) -> SetConfigs {
        let set = set.into_set();
        each(self.into_set_configs(), |config| config.before.push((set.clone(), Hop::Weak)))
    }

    /// As [`after`](Self::after), but only between systems that conflict, or of which the earlier one has commands.
    fn after_weak<M>(self, set: impl IntoSystemSet<M>) -> SetConfigs {
        let set = set.into_set();
        each(self.into_set_configs(), |config| config.after.push((set.clone(), Hop::Weak)))
    }

    /// They lie in another set.
    fn in_set<M>(self, set: impl IntoSystemSet<M>) -> SetConfigs {
        let set = set.into_set();
        each(self.into_set_configs(), |config| config.within.push(set.clone()))
    }

    /// Each part of the tuple comes after the part before it, and sees what that did by commands.
    fn chain(self) -> SetConfigs {
        chained(self.into_set_configs(), Hop::After)
    }

    /// As [`chain`](Self::chain), without sync points: commands may be applied later.
    fn chain_ignore_deferred(self) -> SetConfigs {
        chained(self.into_set_configs(), Hop::AfterUnsynced)
    }

    /// As [`chain`](Self::chain), but only between systems that conflict, or of which the earlier one has commands.
    fn chain_weak(self) -> SetConfigs {
        chained(self.into_set_configs(), Hop::Weak)
    }

    /// The order of their systems relative to those of another set, or of a function, does not matter though they
    /// conflict: no [ambiguity](super::Ambiguity) is reported.
    fn ambiguous_with<M>(self, set: impl IntoSystemSet<M>) -> SetConfigs {
        let set = set.into_set();
        each(self.into_set_configs(), |config| config.ambiguous.with.push(set.clone()))
    }

    /// The order of their systems relative to all others does not matter.
    fn ambiguous_with_all(self) -> SetConfigs {
        each(self.into_set_configs(), |config| config.ambiguous.all = true)
    }

    /// The systems of each of them run only if the condition holds, which is evaluated once per set.
    fn distributive_run_if<M>(
        self,
        condition: impl ConditionShape<M> + SystemCondition<M> + Clone,
    ) -> SetConfigs {
        let mut configs = self.into_set_configs();
        configs.0.each_conditions(&mut |conditions| {
            conditions.push(Box::new(condition.clone().into_condition()));
        });
        configs
    }

    /// Their systems run only if a condition holds. For several sets it is evaluated once, before the first system of
    /// them.
    fn run_if<M>(self, condition: impl ConditionShape<M> + SystemCondition<M>) -> SetConfigs {
        let condition: BoxedCondition = Box::new(condition.into_condition());
        let mut configs = self.into_set_configs();
        let (Tree::One { conditions, .. } | Tree::Many { conditions, .. }) = &mut configs.0;
        conditions.push(condition);
        configs
    }
}

fn each(mut configs: SetConfigs, mut f: impl FnMut(&mut SetConfig)) -> SetConfigs {
    configs.0.each(&mut f);
    configs
}

fn chained(mut configs: SetConfigs, hop: Hop) -> SetConfigs {
    if let Tree::Many { chained, .. } = &mut configs.0 {
        *chained = Some(hop);
    }
    configs
}

impl IntoSetConfigs<()> for SetConfigs {
    fn into_set_configs(self) -> SetConfigs {
        self
    }
}

/// Marks single sets.
#[doc(hidden)]
pub struct IsSet;

impl<S: SystemSet> IntoSetConfigs<IsSet> for S {
    fn into_set_configs(self) -> SetConfigs {
        let config = SetConfig {
            set: self.set(),
            before: Vec::new(),
            after: Vec::new(),
            within: Vec::new(),
            ambiguous: Excepted::default(),
        };
        SetConfigs(Tree::One { config: Box::new(config), conditions: Vec::new() })
    }
}

macro_rules! sets_tuple {
    ($(($name:ident $marker:ident))*) => {
        impl<$($name: IntoSetConfigs<$marker>, $marker),*> IntoSetConfigs<($($marker,)*)> for ($($name,)*) {
            #[allow(non_snake_case)]
            fn into_set_configs(self) -> SetConfigs {
                let ($($name,)*) = self;
                let parts = vec![$($name.into_set_configs().0),*];
                SetConfigs(Tree::Many { parts, chained: None, conditions: Vec::new() })
            }
        }
    };
}
sets_tuple!((A M1));
sets_tuple!((A M1) (B M2));
sets_tuple!((A M1) (B M2) (C M3));
sets_tuple!((A M1) (B M2) (C M3) (D M4));
sets_tuple!((A M1) (B M2) (C M3) (D M4) (E M5));
sets_tuple!((A M1) (B M2) (C M3) (D M4) (E M5) (F M6));
sets_tuple!((A M1) (B M2) (C M3) (D M4) (E M5) (F M6) (G M7));
sets_tuple!((A M1) (B M2) (C M3) (D M4) (E M5) (F M6) (G M7) (H M8));
