//! A private component with a private type, and a public one that is kept whole.

mod inner {
    use phalanx::prelude::Component;

    pub struct Hidden(pub u8);
    struct Own(u8);

    #[derive(Component)]
    #[component(layout = "soa")]
    pub struct Shown {
        hidden: Hidden,
    }

    #[derive(Component)]
    #[component(layout = "soa")]
    struct Private {
        own: Own,
    }

    #[derive(Component)]
    pub struct Whole {
        own: Own,
    }

    pub fn make() -> (Shown, u8, Whole) {
        (Shown { hidden: Hidden(1) }, Private { own: Own(2) }.own.0, Whole { own: Own(3) })
    }

    pub fn sum(shown: &Shown, whole: &Whole) -> u8 {
        shown.hidden.0 + whole.own.0
    }
}

pub fn main() {
    let (shown, _, whole) = inner::make();
    inner::sum(&shown, &whole);
}
