//! Public query data over a component that is not public.

pub mod game {
    use phalanx::prelude::{Component, QueryData};

    #[derive(Component)]
    struct Secret(u8);

    #[derive(QueryData)]
    pub struct Told {
        secret: &'static Secret,
    }
}

fn main() {}
