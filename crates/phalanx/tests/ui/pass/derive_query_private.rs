//! Private query data over a private component, and public query data over a public one.

pub mod game {
    use phalanx::prelude::{Component, QueryData};

    #[derive(Component)]
    struct Secret(u8);

    #[derive(Component)]
    pub struct Open(u8);

    #[derive(QueryData)]
    struct Kept {
        secret: &'static Secret,
    }

    #[derive(QueryData)]
    pub struct Told {
        open: &'static Open,
    }

    pub fn sum(world: &phalanx::World) -> u8 {
        let secrets = world.view::<Kept>().into_iter().map(|item| item.secret.0);
        secrets.chain(world.view::<Told>().into_iter().map(|item| item.open.0)).sum()
    }
}

pub fn main() {
    let world = phalanx::World::new();
    assert_eq!(game::sum(&world), 0);
    let _ = world.view::<game::Told>().into_iter().next().map(|item| item.open);
}
