//! Parameters of one's own, and parameters that conflict with each other.
//!
//! Run with `cargo run -p phalanx --example param_set`.

use phalanx::prelude::*;

#[derive(Component, Debug)]
struct Gold(u32);
#[derive(Component)]
struct King;
#[derive(Resource)]
struct TaxRate(u32);

/// Several parameters under one name.
#[derive(SystemParam)]
struct Treasury<'w, 's> {
    rate: Res<'w, TaxRate>,
    king: Query<'w, 's, &'static mut Gold, With<King>>,
}

fn salary(mut treasury: Treasury) {
    let rate = treasury.rate.0;
    if let Ok(mut gold) = treasury.king.single_mut() {
        gold.0 -= rate;
    }
}

// Both queries write `Gold`, and the king is in both; in a set they are used one at a time. With `Without<King>` in the
// first, they could be parameters of their own.
fn tax(mut all: ParamSet<(Query<&mut Gold>, Query<&mut Gold, With<King>>)>, rate: Res<TaxRate>) {
    let mut taken = 0;
    for mut gold in &mut all.p0() {
        let part = gold.0 * rate.0 / 100;
        gold.0 -= part;
        taken += part;
    }
    if let Ok(mut king) = all.p1().single_mut() {
        king.0 += taken;
    }
}

fn main() {
    let mut app = App::new();
    app.insert_resource(TaxRate(10)).add_systems(Update, (tax, salary).chain());
    app.world_mut().spawn_batch((1..=4).map(|n| Gold(n * 100)));
    let king = app.world_mut().spawn((Gold(0), King)).id();
    app.step(0.1);
    println!("the king has {:?}", app.world().get::<Gold>(king));
    assert_eq!(app.world().get::<Gold>(king).map(|gold| gold.0), Some(90));
}
