//! Systems with their configuration: order, sets, conditions, hooks.
//!
//! Everything a user can add is an [`IntoSystemConfigs`]: a function, something already configured, or a tuple of
//! such. Configuration of a tuple holds for each part of it, but a condition is evaluated once for all.
//!
//! An order also says what is visible: commands of the earlier system are applied before the later one runs, unless
//! the order is one of those that end in `_ignore_deferred`.

use std::marker::PhantomData;

use crate::system::{BoxedSystem, ConditionShape, ParamConflict, System, SystemCondition, SystemOutput};
use crate::world::World;

use super::ambiguity::Excepted;
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
    pub(crate) ambiguous: Excepted,
    pub(crate) hooks: Hooks,
}

pub(crate) enum Config {
    One(Box<NodeConfig>),
    Many { parts: Vec<Config>, chained: Option<Hop>, conditions: Vec<BoxedCondition> },
}

impl Config {
    /// How many systems there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Many { parts, .. } => parts.iter().map(Self::len).sum(),
        }
    }

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

/// Systems that can be added to a schedule, with their configuration.
///
/// Functions whose parameters are system parameters, other systems, and tuples of up to 20 of them. What can be
/// configured is in [`ConfigureSystems`].
///
/// ```
/// # use phalanx::prelude::*;
/// fn input() {}
/// fn movement() {}
/// fn draw() {}
///
/// let mut app = App::new();
/// app.add_systems(Update, ((input, movement).chain(), draw.after(movement)).run_if(|| true));
/// app.step(0.1);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a system, nor a tuple of systems",
    label = "cannot be added to a schedule",
    note = "a system is a function whose parameters are system parameters; it returns nothing or `Result<(), E>`"
)]
pub trait IntoSystemConfigs<Marker>: ConfigureSystems<Marker> {
    /// The systems, configured.
    fn into_configs(self) -> SystemConfigs;
}

/// The configuration of systems: their order, their sets, when they run.
///
/// Everything that is written like a system has these methods, so that the compiler can say what is wrong with the
/// one that is none.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a system, nor a tuple of systems",
    label = "cannot be added to a schedule",
    note = "a system is a function with up to 16 parameters; more go into a tuple or a `#[derive(SystemParam)]` struct",
    note = "a tuple has up to 20 systems: put more into tuples inside the tuple"
)]
pub trait ConfigureSystems<Marker>: Sized {
    /// They run before the systems of a set, or those of a function, which see what they did by commands.
    fn before<M>(self, set: impl IntoSystemSet<M>) -> SystemConfigs
    where
        Self: IntoSystemConfigs<Marker>,
    {
        let set = set.into_set();
        each(self.into_configs(), |node| node.before.push((set.clone(), Hop::After)))
    }

    /// They run after the systems of a set, or those of a function, and see what these did by commands.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Resource, Default)]
    /// # struct Frames(u32);
    /// fn input() {}
    /// fn movement() {}
    ///
    /// let mut app = App::new();
    /// app.add_systems(Update, (movement.after(input), input));
    /// ```
    fn after<M>(self, set: impl IntoSystemSet<M>) -> SystemConfigs
    where
        Self: IntoSystemConfigs<Marker>,
    {
        let set = set.into_set();
        each(self.into_configs(), |node| node.after.push((set.clone(), Hop::After)))
    }

    /// As [`before`](Self::before), without a sync point: commands may be applied later.
    fn before_ignore_deferred<M>(self, set: impl IntoSystemSet<M>) -> SystemConfigs
    where
        Self: IntoSystemConfigs<Marker>,
    {
        let set = set.into_set();
        each(self.into_configs(), |node| node.before.push((set.clone(), Hop::AfterUnsynced)))
    }

    /// As [`after`](Self::after), without a sync point: commands may be applied later.
    fn after_ignore_deferred<M>(self, set: impl IntoSystemSet<M>) -> SystemConfigs
    where
        Self: IntoSystemConfigs<Marker>,
    {
        let set = set.into_set();
        each(self.into_configs(), |node| node.after.push((set.clone(), Hop::AfterUnsynced)))
    }

    /// As [`before`](Self::before), but only where it matters: before those systems that conflict with them, and before
    /// all if they have commands.
    fn before_weak<M>(self, set: impl IntoSystemSet<M>) -> SystemConfigs
    where
        Self: IntoSystemConfigs<Marker>,
    {
        let set = set.into_set();
        each(self.into_configs(), |node| node.before.push((set.clone(), Hop::Weak)))
    }

    /// As [`after`](Self::after), but only where it matters: after those systems that conflict with them or have commands.
    fn after_weak<M>(self, set: impl IntoSystemSet<M>) -> SystemConfigs
    where
        Self: IntoSystemConfigs<Marker>,
    {
        let set = set.into_set();
        each(self.into_configs(), |node| node.after.push((set.clone(), Hop::Weak)))
    }

    /// They belong to a set.
    fn in_set<M>(self, set: impl IntoSystemSet<M>) -> SystemConfigs
    where
        Self: IntoSystemConfigs<Marker>,
    {
        let set = set.into_set();
        each(self.into_configs(), |node| node.sets.push(set.clone()))
    }

    /// They run only if a condition holds. For several systems it is evaluated once, before the first of them.
    ///
    /// A function whose first parameter is [`On`](crate::system::On) becomes an [`Observer`](crate::system::Observer)
    /// that runs only then.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Resource, Default)]
    /// # struct Frames(u32);
    /// fn count(mut frames: ResMut<Frames>) {
    ///     frames.0 += 1;
    /// }
    ///
    /// let mut app = App::new();
    /// app.init_resource::<Frames>();
    /// app.add_systems(Update, count.run_if(|frames: Res<Frames>| frames.0 < 2));
    /// (0..5).for_each(|_| app.step(0.1));
    /// assert_eq!(app.world().resource::<Frames>().0, 2);
    /// ```
    fn run_if<M, Configs>(self, condition: impl ConditionShape<M> + SystemCondition<M>) -> Configs
    where
        Self: RunIf<Marker, Configs>,
    {
        self.with_condition(condition)
    }

    /// Each part of the tuple runs after the part before it, and sees what that did by commands.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Resource, Default)]
    /// # struct Frames(u32);
    /// fn input() {}
    /// fn movement() {}
    /// fn draw() {}
    ///
    /// let mut app = App::new();
    /// app.add_systems(Update, (input, movement, draw).chain()); // each sees what the one before queued
    /// ```
    fn chain(self) -> SystemConfigs
    where
        Self: IntoSystemConfigs<Marker>,
    {
        chained(self.into_configs(), Hop::After)
    }

    /// As [`chain`](Self::chain), without sync points: commands may be applied later.
    fn chain_ignore_deferred(self) -> SystemConfigs
    where
        Self: IntoSystemConfigs<Marker>,
    {
        chained(self.into_configs(), Hop::AfterUnsynced)
    }

    /// As [`chain`](Self::chain), but only where it matters: between systems that conflict, or of which the earlier one has
    /// commands.
    fn chain_weak(self) -> SystemConfigs
    where
        Self: IntoSystemConfigs<Marker>,
    {
        chained(self.into_configs(), Hop::Weak)
    }

    /// Each of them runs only if the condition holds, which each evaluates for itself.
    fn distributive_run_if<M>(
        self,
        condition: impl ConditionShape<M> + SystemCondition<M> + Clone,
    ) -> SystemConfigs
    where
        Self: IntoSystemConfigs<Marker>,
    {
        each(self.into_configs(), |node| node.conditions.push(Box::new(condition.clone().into_condition())))
    }

    /// Their order relative to the systems of a set, or those of a function, does not matter though they conflict: no
    /// [ambiguity](super::Ambiguity) is reported.
    fn ambiguous_with<M>(self, set: impl IntoSystemSet<M>) -> SystemConfigs
    where
        Self: IntoSystemConfigs<Marker>,
    {
        let set = set.into_set();
        each(self.into_configs(), |node| node.ambiguous.with.push(set.clone()))
    }

    /// Their order relative to all others does not matter.
    fn ambiguous_with_all(self) -> SystemConfigs
    where
        Self: IntoSystemConfigs<Marker>,
    {
        each(self.into_configs(), |node| node.ambiguous.all = true)
    }

    /// Another name than that of the function.
    fn named(self, name: impl Into<String>) -> SystemConfigs
    where
        Self: IntoSystemConfigs<Marker>,
    {
        let name = name.into();
        each(self.into_configs(), |node| node.name = Some(name.clone()))
    }

    /// Runs a function when the system is added. Of several systems, the first has it.
    fn on_added(self, hook: impl FnOnce(&mut World) + Send + 'static) -> SystemConfigs
    where
        Self: IntoSystemConfigs<Marker>,
    {
        let mut hook: Option<Hook> = Some(Box::new(hook));
        each(self.into_configs(), move |node| node.hooks.added = hook.take().or(node.hooks.added.take()))
    }

    /// Runs a function when the system is removed. Of several systems, the first has it.
    fn on_removed(self, hook: impl FnOnce(&mut World) + Send + 'static) -> SystemConfigs
    where
        Self: IntoSystemConfigs<Marker>,
    {
        let mut hook: Option<Hook> = Some(Box::new(hook));
        each(self.into_configs(), move |node| node.hooks.removed = hook.take().or(node.hooks.removed.take()))
    }

    /// Runs a function when the app ends. Of several systems, the first has it.
    fn on_dispose(self, hook: impl FnOnce(&mut World) + Send + 'static) -> SystemConfigs
    where
        Self: IntoSystemConfigs<Marker>,
    {
        let mut hook: Option<Hook> = Some(Box::new(hook));
        each(self.into_configs(), move |node| node.hooks.dispose = hook.take().or(node.hooks.dispose.take()))
    }
}

/// What can run under a condition, and what that makes of it: systems and observers.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a system nor an observer",
    label = "cannot have a condition",
    note = "a system is a function whose parameters are system parameters; the first parameter of an observer is `On<..>`"
)]
pub trait RunIf<Marker, Configs> {
    /// It runs only if the condition holds.
    fn with_condition<M>(self, condition: impl ConditionShape<M> + SystemCondition<M>) -> Configs;
}

impl<Marker, S: IntoSystemConfigs<Marker>> RunIf<Marker, SystemConfigs> for S {
    fn with_condition<M>(self, condition: impl ConditionShape<M> + SystemCondition<M>) -> SystemConfigs {
        let condition: BoxedCondition = Box::new(condition.into_condition());
        let mut configs = self.into_configs();
        match &mut configs.0 {
            Config::One(node) => node.conditions.push(condition),
            Config::Many { conditions, .. } => conditions.push(condition),
        }
        configs
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

impl ConfigureSystems<()> for SystemConfigs {}
impl IntoSystemConfigs<()> for SystemConfigs {
    fn into_configs(self) -> SystemConfigs {
        self
    }
}

/// Marks single systems that are no functions.
#[doc(hidden)]
pub struct IsSystem;

impl<S: System> ConfigureSystems<IsSystem> for S {}
impl<S: System<In = (), Out: SystemOutput>> IntoSystemConfigs<IsSystem> for S {
    fn into_configs(self) -> SystemConfigs {
        single(self)
    }
}

/// One system, not configured yet.
pub(crate) fn single<Out: SystemOutput>(system: impl System<In = (), Out = Out>) -> SystemConfigs {
    single_boxed(Out::boxed(system))
}

fn single_boxed(system: BoxedSystem) -> SystemConfigs {
    SystemConfigs(Config::One(Box::new(NodeConfig {
        system,
        name: None,
        sets: Vec::new(),
        before: Vec::new(),
        after: Vec::new(),
        conditions: Vec::new(),
        ambiguous: Excepted::default(),
        hooks: Hooks::default(),
    })))
}

/// Marks tuples.
#[doc(hidden)]
pub struct IsTuple;

macro_rules! configs_tuple {
    ($(($name:ident $marker:ident))*) => {
        impl<$($name: ConfigureSystems<$marker>, $marker),*> ConfigureSystems<(IsTuple, $($marker,)*)>
            for ($($name,)*)
        {
        }
        impl<$($name: IntoSystemConfigs<$marker>, $marker),*> IntoSystemConfigs<(IsTuple, $($marker,)*)>
            for ($($name,)*)
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

/// A tuple with more systems than there may be.
#[doc(hidden)]
pub struct TooManySystems<T>(PhantomData<T>);

/// Holds for no type.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "this tuple has more than 20 systems",
    label = "too many systems",
    note = "put some of them into a tuple inside the tuple: `((a, b, c), d, e, ..)`; in a chain, `((a, b, c).chain(), d, e, ..).chain()`"
)]
pub trait AtMostTwentySystems {}

macro_rules! too_many_systems {
    ($(($name:ident $marker:ident))*) => {
        impl<$($name: ConfigureSystems<$marker>, $marker),*> ConfigureSystems<(IsTuple, $($marker,)*)>
            for ($($name,)*)
        {
        }
        impl<$($name: ConfigureSystems<$marker>, $marker),*> IntoSystemConfigs<(IsTuple, $($marker,)*)>
            for ($($name,)*)
        where
            TooManySystems<Self>: AtMostTwentySystems,
        {
            fn into_configs(self) -> SystemConfigs {
                unreachable!("there is no such impl")
            }
        }
    };
}
too_many_systems!((S1 M1) (S2 M2) (S3 M3) (S4 M4) (S5 M5) (S6 M6) (S7 M7) (S8 M8) (S9 M9) (S10 M10) (S11 M11)
    (S12 M12) (S13 M13) (S14 M14) (S15 M15) (S16 M16) (S17 M17) (S18 M18) (S19 M19) (S20 M20) (S21 M21));
