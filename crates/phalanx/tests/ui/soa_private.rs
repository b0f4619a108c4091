//! The columns of a public component are public, and so must be the types of its fields.

mod inner {
    use phalanx::prelude::Component;

    struct Hidden(u8);

    #[derive(Component)]
    #[component(layout = "soa")]
    pub struct Shown {
        hidden: Hidden,
    }
}

fn main() {}
