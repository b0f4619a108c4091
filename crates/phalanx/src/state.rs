//! States: what a program is doing, such as showing a menu or playing, and what follows when that changes.
//!
//! ```text
//!   NextState<S>  --set-->  StateTransition  -->  State<S>, PreviousState<S>
//!
//!   DependentTransitions   new values: roots first, then the states that depend on them
//!   ExitSchedules          OnExit(old): those that depend on others first; then `DespawnOnExit` and its kin
//!   TransitionSchedules    OnTransition { exited, entered }; then `DespawnWhen` and its kin
//!   EnterSchedules         `DespawnOnEnter` and its kin; OnEnter(new): roots first
//! ```
//!
//! A state is a resource. A *sub-state* exists while another state has a certain value, a *computed state* follows from
//! others. States change before `PreStartup` and after `PreUpdate`, and nowhere else: a state that is set while states
//! change, as in its own `OnEnter`, changes in the next frame.

use std::fmt::Debug;
use std::hash::Hash;

pub use condition::{in_state, state_changed, state_exists};
#[doc(hidden)]
pub use plugin::KnownStates;
pub use plugin::{NoSuchState, StatesPlugin};
pub use resources::{NextState, PreviousState, State};
#[cfg(feature = "serde")]
pub use saving::StateSaving;
pub use scoped::{
    DespawnOnEnter, DespawnOnExit, DespawnWhen, DisableOnEnter, DisableOnExit, DisableWhen, EnableOnEnter,
    EnableOnExit, EnableWhen,
};
pub use source::StateSet;
pub use transition::{
    EnterSchedules, ExitSchedules, OnEnter, OnExit, OnTransition, StateTransition, StateTransitionEvent,
    StateTransitionSystems, TransitionSchedules, last_transition,
};

mod condition;
mod plugin;
mod resources;
#[cfg(feature = "serde")]
mod saving;
mod scoped;
mod source;
mod transition;

/// The values of a state: `#[derive(States)]` on an enum or a struct.
///
/// See [the module](self) for what states do.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(States, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
/// enum Screen {
///     #[default]
///     Menu,
///     Game,
/// }
///
/// #[derive(Component)]
/// struct Unit;
///
/// fn start(mut next: ResMut<NextState<Screen>>) {
///     next.set(Screen::Game);
/// }
/// fn spawn(mut commands: Commands) {
///     commands.spawn((Unit, DespawnOnExit(Screen::Game)));
/// }
/// fn count(units: Query<&Unit>) {
///     assert_eq!(units.count(), 1);
/// }
///
/// let mut app = App::new();
/// app.init_state::<Screen>();
/// app.add_systems(Update, start.run_if(in_state(Screen::Menu)));
/// app.add_systems(OnEnter(Screen::Game), spawn);
/// app.add_systems(Update, count.run_if(in_state(Screen::Game)));
/// app.step(0.1);
/// assert_eq!(*app.world().resource::<State<Screen>>(), Screen::Menu);
/// app.step(0.1);
/// assert_eq!(*app.world().resource::<State<Screen>>(), Screen::Game);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state",
    label = "cannot be used as a state",
    note = "add `#[derive(States, Clone, Debug, PartialEq, Eq, Hash)]` to `{Self}`"
)]
pub trait States: Send + Sync + Clone + Eq + Hash + Debug + 'static {
    /// One more than that of the states it depends on; 1 when there are none.
    const DEPENDENCY_DEPTH: usize = 1;

    /// How the state is saved, with `#[states(save)]`.
    #[cfg(feature = "serde")]
    #[doc(hidden)]
    fn saving() -> Option<StateSaving> {
        None
    }
}

/// States that [`NextState`] can change: all but computed ones. Implemented by the derives.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state that can be set",
    label = "cannot be set",
    note = "add `#[derive(States)]` or `#[derive(SubStates)]` to `{Self}`; a computed state follows from others, set those"
)]
pub trait FreelyMutableState: States {}

/// A state that exists while others have certain values, and can be set while it does.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(States, Clone, Debug, Default, PartialEq, Eq, Hash)]
/// enum Screen {
///     #[default]
///     Menu,
///     Game,
/// }
///
/// #[derive(SubStates, Clone, Debug, Default, PartialEq, Eq, Hash)]
/// #[source(Screen = Screen::Game)]
/// enum Turn {
///     #[default]
///     Mine,
///     Theirs,
/// }
///
/// let mut app = App::new();
/// app.init_state::<Screen>().add_sub_state::<Turn>();
/// app.step(0.1);
/// assert!(!app.world().contains_resource::<State<Turn>>());
/// app.world_mut().resource_mut::<NextState<Screen>>().set(Screen::Game);
/// app.step(0.1);
/// assert_eq!(*app.world().resource::<State<Turn>>(), Turn::Mine);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a sub-state",
    label = "cannot be used as a sub-state",
    note = "add `#[derive(SubStates)]` and `#[source(Other = Other::Value)]` to `{Self}`"
)]
pub trait SubStates: FreelyMutableState {
    /// The state it depends on, or a tuple of several; `Option<S>` for one that may be missing.
    type SourceStates: StateSet;

    /// The first value, or `None` while the state does not exist. Asked when one of the others changes.
    fn should_exist(sources: Self::SourceStates) -> Option<Self>;
}

/// A state whose value follows from others.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(States, Clone, Debug, Default, PartialEq, Eq, Hash)]
/// enum Screen {
///     #[default]
///     Menu,
///     Level(u32),
/// }
///
/// #[derive(Clone, Debug, PartialEq, Eq, Hash)]
/// struct InGame;
///
/// impl ComputedStates for InGame {
///     type SourceStates = Screen;
///
///     fn compute(screen: Screen) -> Option<Self> {
///         matches!(screen, Screen::Level(_)).then_some(Self)
///     }
/// }
///
/// let mut app = App::new();
/// app.insert_state(Screen::Level(3)).add_computed_state::<InGame>();
/// app.step(0.1);
/// assert!(app.world().contains_resource::<State<InGame>>());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a computed state",
    label = "cannot be used as a computed state",
    note = "implement `ComputedStates` for `{Self}`"
)]
pub trait ComputedStates: Send + Sync + Clone + Eq + Hash + Debug + 'static {
    /// The state it follows from, or a tuple of several; `Option<S>` for one that may be missing.
    type SourceStates: StateSet;

    /// Whether `OnExit` and `OnEnter` run also when the value stays the same. States that follow from several others
    /// never do that.
    const ALLOW_SAME_STATE_TRANSITIONS: bool = true;

    /// The value, or `None` while the state does not exist. Asked when one of the others changes.
    fn compute(sources: Self::SourceStates) -> Option<Self>;

    /// How the state is saved: not at all, unless set as in
    /// `Some(StateSaving::computed::<Self>(|| "game.InGame".into(), 1))`. One that is not saved comes back when a state
    /// changes from which it follows.
    #[cfg(feature = "serde")]
    fn saving() -> Option<StateSaving> {
        None
    }
}

#[diagnostic::do_not_recommend]
impl<S: ComputedStates> States for S {
    const DEPENDENCY_DEPTH: usize = S::SourceStates::SET_DEPENDENCY_DEPTH + 1;

    #[cfg(feature = "serde")]
    fn saving() -> Option<StateSaving> {
        <S as ComputedStates>::saving()
    }
}
