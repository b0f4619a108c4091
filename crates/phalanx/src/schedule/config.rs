//! Systems with what is said about them: order, sets, conditions, hooks.
//!
//! Everything a user can add is an [`IntoSystemConfigs`]: a function, something already configured, or a tuple of
//! such. What is said about a tuple holds for each part of it, but a condition is asked once for all.
//!
//! An order also says what is visible: commands of the earlier system are applied before the later one runs, unless
//! the order is one of those that end in `_ignore_deferred`.

use crate::system::{BoxedSystem, Finish, IntoSystem, ParamConflict, System, SystemOutput};
use crate::world::World;

use super::graph::Hop;
use super::label::{IntoSystemSet, SetId};

/// A condition as a schedule keeps it.
pub(crate) type BoxedCondition = Box<dyn System<In = (), Out = bool>>;
type Hook = Box<dyn FnOnce(&mut World) + Send>;

/// What runs when a system comes and goes.
#[derive(Default)]
pub(crate) struct Hooks {
    pub(crate) added: Option<Hook>,
    pub(crate) removed: Option<Hook>,
    pub(crate) dispose: Option<Hook>,
}

pub(crate) struct NodeConfig {
    pub(crate) system: BoxedSystem,
    pub(crate) name: Option<String>,
    pub(crate) sets: Vec<SetId>,
    pub(crate) before: Vec<(SetId, Hop)>,
    pub(crate) after: Vec<(SetId, Hop)>,
    pub(crate) conditions: Vec<BoxedCondition>,
    pub(crate) hooks: Hooks,
}

pub(crate) enum Config {
    One(Box<NodeConfig>),
    Many { parts: Vec<Config>, chained: Option<Hop>, conditions: Vec<BoxedCondition> },
}

impl Config {
    fn each(&mut self, f: &mut impl FnMut(&mut NodeConfig)) {
        match self {
            Self::One(node) => f(node),
            Self::Many { parts, .. } => parts.iter_mut().for_each(|part| part.each(f)),
        }
    }

    pub(crate) fn initialize(&mut self, world: &mut World) -> Result<(), ParamConflict> {
        match self {
            Self::One(node) => {
                node.conditions.iter_mut().try_for_each(|condition| condition.initialize(world))?;
                node.system.initialize(world)
            }
            Self::Many { parts, conditions, .. } => {
                conditions.iter_mut().try_for_each(|condition| condition.initialize(world))?;
                parts.iter_mut().try_for_each(|part| part.initialize(world))
            }
        }
    }
}

/// Systems, configured.
pub struct SystemConfigs(pub(crate) Config);

/// Systems that can be added to a schedule, with what is said about them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a system, nor a tuple of systems",
    label = "cannot be added to a schedule",
    note = "a system is a function whose parameters are system parameters; it returns nothing or `Result<(), E>`"
)]
pub trait IntoSystemConfigs<Marker>: Sized {
    /// The systems, configured.
    fn into_configs(self) -> SystemConfigs;

    /// They run before the systems of a set, or those of a function, which see what they did by commands.
    fn before<M>(self, set: impl IntoSystemSet<M>) -> SystemConfigs {
        let set = set.into_set();
        each(self.into_configs(), |node| node.before.push((set.clone(), Hop::After)))
    }

    /// They run after the systems of a set, or those of a function, and see what these did by commands.
    fn after<M>(self, set: impl IntoSystemSet<M>) -> SystemConfigs {
        let set = set.into_set();
        each(self.into_configs(), |node| node.after.push((set.clone(), Hop::After)))
    }

    /// As [`before`](Self::before), without a sync point: commands may be applied later.
    fn before_ignore_deferred<M>(self, set: impl IntoSystemSet<M>) -> SystemConfigs {
        let set = set.into_set();
        each(self.into_configs(), |node| node.before.push((set.clone(), Hop::AfterUnsynced)))
    }

    /// As [`after`](Self::after), without a sync point: commands may be applied later.
    fn after_ignore_deferred<M>(self, set: impl IntoSystemSet<M>) -> SystemConfigs {
        let set = set.into_set();
        each(self.into_configs(), |node| node.after.push((set.clone(), Hop::AfterUnsynced)))
    }

    /// They belong to a set.
    fn in_set<M>(self, set: impl IntoSystemSet<M>) -> SystemConfigs {
        let set = set.into_set();
        each(self.into_configs(), |node| node.sets.push(set.clone()))
    }

    /// They run only if a condition holds. For several systems it is asked once, before the first of them.
    fn run_if<M>(self, condition: impl IntoSystem<(), bool, M>) -> SystemConfigs {
        let condition: BoxedCondition = Box::new(condition.into_system());
        let mut configs = self.into_configs();
        match &mut configs.0 {
            Config::One(node) => node.conditions.push(condition),
            Config::Many { conditions, .. } => conditions.push(condition),
        }
        configs
    }

    /// Each part of the tuple runs after the part before it, and sees what that did by commands.
    fn chain(self) -> SystemConfigs {
        chained(self.into_configs(), Hop::After)
    }

    /// As [`chain`](Self::chain), without sync points: commands may be applied later.
    fn chain_ignore_deferred(self) -> SystemConfigs {
        chained(self.into_configs(), Hop::AfterUnsynced)
    }

    /// Another name than that of the function.
    fn named(self, name: impl Into<String>) -> SystemConfigs {
        let name = name.into();
        each(self.into_configs(), |node| node.name = Some(name.clone()))
    }

    /// Runs a function when the system is added. Of several systems, the first has it.
    fn on_added(self, hook: impl FnOnce(&mut World) + Send + 'static) -> SystemConfigs {
        let mut hook: Option<Hook> = Some(Box::new(hook));
        each(self.into_configs(), move |node| node.hooks.added = hook.take().or(node.hooks.added.take()))
    }

    /// Runs a function when the system is removed. Of several systems, the first has it.
    fn on_removed(self, hook: impl FnOnce(&mut World) + Send + 'static) -> SystemConfigs {
        let mut hook: Option<Hook> = Some(Box::new(hook));
        each(self.into_configs(), move |node| node.hooks.removed = hook.take().or(node.hooks.removed.take()))
    }

    /// Runs a function when the app ends. Of several systems, the first has it.
    fn on_dispose(self, hook: impl FnOnce(&mut World) + Send + 'static) -> SystemConfigs {
        let mut hook: Option<Hook> = Some(Box::new(hook));
        each(self.into_configs(), move |node| node.hooks.dispose = hook.take().or(node.hooks.dispose.take()))
    }
}

fn each(mut configs: SystemConfigs, mut f: impl FnMut(&mut NodeConfig)) -> SystemConfigs {
    configs.0.each(&mut f);
    configs
}

fn chained(mut configs: SystemConfigs, hop: Hop) -> SystemConfigs {
    if let Config::Many { chained, .. } = &mut configs.0 {
        *chained = Some(hop);
    }
    configs
}

impl IntoSystemConfigs<()> for SystemConfigs {
    fn into_configs(self) -> SystemConfigs {
        self
    }
}

/// Marks single systems.
#[doc(hidden)]
pub struct IsSystem;

impl<Out: SystemOutput, M, S: IntoSystem<(), Out, M>> IntoSystemConfigs<(IsSystem, Out, M)> for S {
    fn into_configs(self) -> SystemConfigs {
        SystemConfigs(Config::One(Box::new(NodeConfig {
            system: Box::new(Finish(self.into_system())),
            name: None,
            sets: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
            conditions: Vec::new(),
            hooks: Hooks::default(),
        })))
    }
}

/// Marks tuples.
#[doc(hidden)]
pub struct IsTuple;

macro_rules! configs_tuple {
    ($(($name:ident $marker:ident))*) => {
        impl<$($name, $marker),*> IntoSystemConfigs<(IsTuple, $($marker,)*)> for ($($name,)*)
        where
            $($name: IntoSystemConfigs<$marker>),*
        {
            #[allow(non_snake_case)]
            fn into_configs(self) -> SystemConfigs {
                let ($($name,)*) = self;
                let parts = vec![$($name.into_configs().0),*];
                SystemConfigs(Config::Many { parts, chained: None, conditions: Vec::new() })
            }
        }
    };
}

macro_rules! each_length {
    ($(($name:ident $marker:ident))*) => {
        each_length!(@shrink [] $(($name $marker))*);
    };
    (@shrink [$(($name:ident $marker:ident))*]) => {
        configs_tuple!($(($name $marker))*);
    };
    (@shrink [$(($name:ident $marker:ident))*] ($next:ident $with:ident) $($rest:tt)*) => {
        configs_tuple!($(($name $marker))*);
        each_length!(@shrink [$(($name $marker))* ($next $with)] $($rest)*);
    };
}
each_length!((S1 M1) (S2 M2) (S3 M3) (S4 M4) (S5 M5) (S6 M6) (S7 M7) (S8 M8) (S9 M9) (S10 M10) (S11 M11)
    (S12 M12) (S13 M13) (S14 M14) (S15 M15) (S16 M16) (S17 M17) (S18 M18) (S19 M19) (S20 M20));
