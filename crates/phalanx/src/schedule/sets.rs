//! Sets of systems with what is said about them.
//!
//! `configure_sets(Update, (Input, Physics).chain())` orders all systems of one set before those of the other. A
//! set may lie in another, and its condition is asked once for all its systems.

use crate::system::IntoSystem;

use super::config::BoxedCondition;
use super::label::{IntoSystemSet, SetId, SystemSet};

pub(crate) struct SetConfig {
    pub(crate) set: SetId,
    pub(crate) before: Vec<SetId>,
    pub(crate) after: Vec<SetId>,
    pub(crate) within: Vec<SetId>,
    pub(crate) conditions: Vec<BoxedCondition>,
}

/// Sets, configured.
pub struct SetConfigs(pub(crate) Vec<SetConfig>);

/// Sets of systems that can be configured.
pub trait IntoSetConfigs<Marker>: Sized {
    /// The sets, configured.
    fn into_set_configs(self) -> SetConfigs;

    /// Their systems run before those of another set, or of a function.
    fn before<M>(self, set: impl IntoSystemSet<M>) -> SetConfigs {
        let set = set.into_set();
        each(self.into_set_configs(), |config| config.before.push(set.clone()))
    }

    /// Their systems run after those of another set, or of a function.
    fn after<M>(self, set: impl IntoSystemSet<M>) -> SetConfigs {
        let set = set.into_set();
        each(self.into_set_configs(), |config| config.after.push(set.clone()))
    }

    /// They lie in another set.
    fn in_set<M>(self, set: impl IntoSystemSet<M>) -> SetConfigs {
        let set = set.into_set();
        each(self.into_set_configs(), |config| config.within.push(set.clone()))
    }

    /// Each set comes after the one before it.
    fn chain(self) -> SetConfigs {
        let mut configs = self.into_set_configs();
        for at in 1..configs.0.len() {
            let before = configs.0[at - 1].set.clone();
            configs.0[at].after.push(before);
        }
        configs
    }

    /// Their systems run only if a condition holds. Of several sets, the first has it.
    fn run_if<M>(self, condition: impl IntoSystem<(), bool, M>) -> SetConfigs {
        let mut condition: Option<BoxedCondition> = Some(Box::new(condition.into_system()));
        each(self.into_set_configs(), |config| config.conditions.extend(condition.take()))
    }
}

fn each(mut configs: SetConfigs, f: impl FnMut(&mut SetConfig)) -> SetConfigs {
    configs.0.iter_mut().for_each(f);
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
        SetConfigs(vec![SetConfig {
            set: self.set(),
            before: Vec::new(),
            after: Vec::new(),
            within: Vec::new(),
            conditions: Vec::new(),
        }])
    }
}

macro_rules! sets_tuple {
    ($(($name:ident $marker:ident))*) => {
        impl<$($name: IntoSetConfigs<$marker>, $marker),*> IntoSetConfigs<($($marker,)*)> for ($($name,)*) {
            #[allow(non_snake_case)]
            fn into_set_configs(self) -> SetConfigs {
                let ($($name,)*) = self;
                let mut all = Vec::new();
                $(all.extend($name.into_set_configs().0);)*
                SetConfigs(all)
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
