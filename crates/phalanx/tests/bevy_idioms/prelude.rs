//! What else the prelude names: parameters, derives, and what they are used with.

use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
struct Health(i32);
#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
struct Armor(i32);
#[derive(Resource, Default, Debug, PartialEq)]
struct Score(i32);
#[derive(Message, Debug, Clone, PartialEq)]
struct Hit(i32);

#[test]
fn param_res() {
    fn read(score: Res<Score>) {
        assert_eq!(score.0, 4);
    }
    let mut app = App::new();
    app.insert_resource(Score(4)).add_systems(Update, read);
    app.update();
}

#[test]
fn param_res_mut() {
    fn write(mut score: ResMut<Score>) {
        score.0 += 1;
    }
    let mut app = App::new();
    app.insert_resource(Score(4)).add_systems(Update, write);
    app.update();
    assert_eq!(app.world().resource::<Score>().0, 5);
}

#[test]
fn param_option() {
    fn read(score: Option<Res<Score>>) {
        assert!(score.is_none());
    }
    let mut app = App::new();
    app.add_systems(Update, read);
    app.update();
}

#[test]
fn param_local() {
    fn system(mut runs: Local<i32>, mut score: ResMut<Score>) {
        *runs += 1;
        score.0 = *runs;
    }
    let mut app = App::new();
    app.init_resource::<Score>().add_systems(Update, system);
    app.update();
    app.update();
    assert_eq!(app.world().resource::<Score>().0, 2);
}

#[test]
fn param_set() {
    fn system(mut set: ParamSet<(Query<&mut Health>, Query<&Health, With<Armor>>)>) {
        for mut health in &mut set.p0() {
            health.0 += 1;
        }
        assert_eq!(set.p1().single().unwrap().0, 3);
    }
    let mut app = App::new();
    app.world_mut().spawn((Health(2), Armor(1)));
    app.world_mut().spawn(Health(5));
    app.add_systems(Update, system);
    app.update();
}

#[test]
fn param_messages() {
    fn send(mut writer: MessageWriter<Hit>) {
        writer.write(Hit(1));
        writer.write_batch([Hit(2), Hit(3)]);
    }
    fn receive(mut reader: MessageReader<Hit>, mut score: ResMut<Score>) {
        assert_eq!(reader.len(), 3);
        score.0 += reader.read().map(|hit| hit.0).sum::<i32>();
        assert!(reader.is_empty());
    }
    let mut app = App::new();
    app.init_resource::<Score>().add_systems(Update, (send, receive).chain());
    app.update();
    assert_eq!(app.world().resource::<Score>().0, 6);
}

#[test]
fn param_world() {
    fn exclusive(world: &mut World) {
        world.spawn(Health(1));
    }
    fn look(world: &World) {
        assert!(world.component_id::<Health>().is_some());
    }
    let mut app = App::new();
    app.add_systems(Update, (exclusive, look).chain());
    app.update();
}

#[test]
fn res_change_detection() {
    fn watch(mut score: ResMut<Score>, mut seen: Local<Vec<(bool, bool)>>) {
        seen.push((score.is_added(), score.is_changed()));
        score.set_if_neq(Score(1));
        if seen.len() == 3 {
            assert_eq!(*seen, [(true, true), (false, false), (false, true)]);
        }
    }
    let mut app = App::new();
    app.insert_resource(Score(1)).add_systems(Update, watch);
    app.update();
    app.update();
    app.world_mut().resource_mut::<Score>().0 = 1;
    app.update();
}

#[test]
fn system_input() {
    fn add((In(a), In(b)): (In<i32>, In<i32>), score: Res<Score>) -> i32 {
        a + b + score.0
    }
    fn length(InRef(text): InRef<str>) -> usize {
        text.len()
    }
    fn double(InMut(n): InMut<i32>) {
        *n *= 2;
    }
    fn spawn(In(health): In<Health>, world: &mut World) -> Entity {
        world.spawn(health).id()
    }
    let mut world = World::new();
    world.insert_resource(Score(1));
    assert_eq!(world.run_system_once_with(add, (2, 3)).unwrap(), 6);
    assert_eq!(world.run_system_once_with(length, "four").unwrap(), 4);
    let mut n = 4;
    world.run_system_once_with(double, &mut n).unwrap();
    assert_eq!(n, 8);
    let e = world.run_system_once_with(spawn, Health(3)).unwrap();
    assert_eq!(world.get::<Health>(e), Some(&Health(3)));
}

#[test]
fn system_pipe() {
    fn read(score: Res<Score>) -> i32 {
        score.0
    }
    fn write(In(value): In<i32>, mut score: ResMut<Score>) {
        score.0 = value * 10;
    }
    let mut app = App::new();
    app.insert_resource(Score(4)).add_systems(Update, read.pipe(write));
    app.update();
    assert_eq!(app.world().resource::<Score>().0, 40);
}

#[test]
fn system_map() {
    fn read(score: Res<Score>) -> Result<i32, String> {
        if score.0 > 0 { Ok(score.0) } else { Err("no score".to_owned()) }
    }
    let mut app = App::new();
    app.init_resource::<Score>().add_systems(Update, read.map(drop));
    app.update();
}

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(track = "row")]
struct Watched(i32);

#[test]
fn changes_of_components() {
    fn system(mut all: Query<&mut Watched>, mut score: ResMut<Score>) {
        for mut watched in &mut all {
            assert!(watched.is_added() && watched.is_changed());
            assert_eq!(watched.added(), watched.last_changed());
            assert_eq!(watched.replace_if_neq(Watched(1)), None);
            assert_eq!(watched.replace_if_neq(Watched(2)), Some(Watched(1)));
            assert!(watched.last_changed() > watched.added());
        }
        assert_eq!(score.replace_if_neq(Score(5)), Some(Score(0)));
    }
    let mut app = App::new();
    app.init_resource::<Score>().add_systems(Update, system);
    app.world_mut().spawn(Watched(1));
    app.update();
    assert_eq!(app.world().resource::<Score>().0, 5);
}

#[test]
fn reader_clear() {
    fn send(mut hits: MessageWriter<Hit>) {
        hits.write(Hit(1));
    }
    fn forget(mut hits: MessageReader<Hit>, mut score: ResMut<Score>) {
        hits.clear();
        score.0 += i32::from(hits.is_empty());
    }
    let mut app = App::new();
    app.init_resource::<Score>().add_systems(Update, (send, forget).chain());
    app.update();
    assert_eq!(app.world().resource::<Score>().0, 1);
}

#[test]
fn writer_write_default() {
    #[derive(Message, Default)]
    struct Tick;
    fn send(mut ticks: MessageWriter<Tick>) {
        ticks.write_default();
    }
    fn count(mut ticks: MessageReader<Tick>, mut score: ResMut<Score>) {
        for _ in ticks.read() {
            score.0 += 1;
        }
    }
    let mut app = App::new();
    app.init_resource::<Score>().add_systems(Update, (send, count).chain());
    app.update();
    app.update();
    assert_eq!(app.world().resource::<Score>().0, 2);
}

#[test]
fn param_derived() {
    #[derive(SystemParam)]
    struct Scores<'w, 's> {
        healths: Query<'w, 's, &'static Health>,
        score: ResMut<'w, Score>,
        runs: Local<'s, i32>,
    }
    fn system(mut scores: Scores) {
        *scores.runs += 1;
        scores.score.0 = scores.healths.iter().map(|health| health.0).sum::<i32>() * *scores.runs;
    }
    let mut app = App::new();
    app.world_mut().spawn(Health(4));
    app.init_resource::<Score>().add_systems(Update, system);
    app.update();
    app.update();
    assert_eq!(app.world().resource::<Score>().0, 8);
}

#[test]
fn data_derived() {
    #[derive(QueryData)]
    struct Body {
        health: &'static Health,
        armor: Option<&'static Armor>,
    }
    #[derive(QueryFilter)]
    struct Armored(With<Armor>);
    fn system(bodies: Query<Body>, armored: Query<(), Armored>) {
        let sum: i32 = bodies.iter().map(|body| body.health.0 + body.armor.map_or(0, |armor| armor.0)).sum();
        assert_eq!((sum, armored.iter().count()), (16, 1));
    }
    let mut app = App::new();
    app.world_mut().spawn((Health(1), Armor(10)));
    app.world_mut().spawn(Health(5));
    app.add_systems(Update, system);
    app.update();
}

#[test]
fn data_ref() {
    fn system(all: Query<(Ref<Watched>, Entity)>, mut seen: Local<Vec<bool>>) {
        seen.extend(all.iter().map(|(watched, _)| watched.is_changed()));
        if seen.len() == 2 {
            assert_eq!(*seen, [true, false]);
        }
    }
    let mut app = App::new();
    app.world_mut().spawn(Watched(1));
    app.add_systems(Update, system);
    app.update();
    app.update();
}

#[test]
fn param_single() {
    fn raise(mut health: Single<&mut Health, With<Armor>>) {
        health.0 += 1;
    }
    fn look(only: Option<Single<&Health>>, mut score: ResMut<Score>) {
        score.0 += only.map_or(10, |health| health.0);
    }
    let mut app = App::new();
    app.init_resource::<Score>().add_systems(Update, (raise, look).chain());
    app.update();
    assert_eq!(app.world().resource::<Score>().0, 10, "no match: one is skipped, the other gets none");
    let knight = app.world_mut().spawn((Health(2), Armor(1))).id();
    app.update();
    assert_eq!(app.world().resource::<Score>().0, 13);
    app.world_mut().spawn((Health(5), Armor(1)));
    app.update();
    assert_eq!(app.world().get::<Health>(knight), Some(&Health(3)), "several matches");
}

#[test]
fn param_populated() {
    fn count(all: Populated<&Health, With<Armor>>, mut score: ResMut<Score>) {
        score.0 += i32::try_from(all.iter().count()).unwrap() + 10;
    }
    let mut app = App::new();
    app.init_resource::<Score>().add_systems(Update, count);
    app.update();
    assert_eq!(app.world().resource::<Score>().0, 0);
    app.world_mut().spawn((Health(2), Armor(1)));
    app.update();
    assert_eq!(app.world().resource::<Score>().0, 11);
}

#[test]
fn param_if() {
    #[derive(Resource)]
    struct Bonus(i32);
    fn add(bonus: If<Res<Bonus>>, mut score: ResMut<Score>) {
        score.0 += bonus.0.0;
    }
    let mut app = App::new();
    app.init_resource::<Score>().add_systems(Update, add);
    app.update();
    app.insert_resource(Bonus(5));
    app.update();
    assert_eq!(app.world().resource::<Score>().0, 5);
}

#[test]
fn param_result() {
    #[derive(Resource)]
    struct Bonus;
    fn add(bonus: Result<Res<Bonus>, phalanx::error::ParamError>, mut score: ResMut<Score>) {
        score.0 += if bonus.is_ok() { 10 } else { 1 };
    }
    let mut app = App::new();
    app.init_resource::<Score>().add_systems(Update, add);
    app.update();
    app.insert_resource(Bonus);
    app.update();
    assert_eq!(app.world().resource::<Score>().0, 11);
}

#[test]
fn param_system_name() {
    fn quixote(name: SystemName) -> bool {
        name.name() == "quixote" && name.ends_with('e')
    }
    assert!(World::new().run_system_once(quixote).unwrap());
}

#[test]
fn param_system_change_tick() {
    fn ticks(ticks: SystemChangeTick, mut seen: Local<Option<Tick>>, mut score: ResMut<Score>) {
        assert!(ticks.this_run().is_after(ticks.last_run()));
        if *seen == Some(ticks.last_run()) {
            score.0 += 1;
        }
        *seen = Some(ticks.this_run());
    }
    let mut app = App::new();
    app.init_resource::<Score>().add_systems(Update, ticks);
    app.update();
    app.update();
    assert_eq!(app.world().resource::<Score>().0, 1);
}

#[test]
fn param_deferred() {
    #[derive(Default)]
    struct Sum(i32);
    impl SystemBuffer for Sum {
        fn apply(&mut self, _: &phalanx::system::SystemMeta, world: &mut World) {
            let units = world.view::<&Health>().count();
            world.resource_mut::<Score>().0 += std::mem::take(&mut self.0) + i32::try_from(units).unwrap();
        }
    }
    fn spawn(mut commands: Commands) {
        commands.spawn(Health(1));
    }
    fn gather(mut sum: Deferred<Sum>) {
        sum.0 += 10;
    }
    fn after(score: Res<Score>) {
        assert_eq!(score.0, 11, "applied at the sync point, behind the commands before");
    }
    let mut app = App::new();
    app.init_resource::<Score>().add_systems(Update, (spawn, gather, after).chain());
    app.update();
    assert_eq!(app.world().resource::<Score>().0, 11);
}
