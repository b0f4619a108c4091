//! The twin of `ui/states.rs`: states as they should be.

use phalanx::prelude::*;

#[derive(States, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Screen {
    #[default]
    Menu,
    Game,
}

#[derive(SubStates, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[source(Screen = Screen::Menu | Screen::Game)]
struct Sub;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Computed;
impl ComputedStates for Computed {
    type SourceStates = (Screen, Option<Sub>);
    fn compute(_: Self::SourceStates) -> Option<Self> {
        Some(Self)
    }
}

pub fn main() {
    let mut app = App::new();
    app.init_state::<Screen>().add_sub_state::<Sub>().add_computed_state::<Computed>();
    app.add_systems(OnEnter(Computed), || {});
    app.step(0.1);
}
