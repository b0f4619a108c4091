//! What is wrong with a state is said at the state.

use phalanx::prelude::*;

#[derive(States, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Screen {
    #[default]
    Menu,
    Game,
}

// A sub-state says on what it depends.
#[derive(SubStates, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Alone;

// And only once.
#[derive(SubStates, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[source(Screen = Screen::Menu)]
#[source(Screen = Screen::Game)]
struct Twice;

// As a pattern.
#[derive(SubStates, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[source(Screen)]
struct Patternless;

// A plain type is no state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Plain;

// A computed state follows from others, and cannot be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Computed;
impl ComputedStates for Computed {
    type SourceStates = Screen;
    fn compute(_: Screen) -> Option<Self> {
        None
    }
}

fn main() {
    let mut app = App::new();
    app.init_state::<Plain>();
    app.add_systems(OnEnter(Plain), || {});
    app.insert_state(Computed);
    app.add_sub_state::<Screen>();
}
