//! More parameters, and what a system is made of.

use std::rc::Rc;

use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
struct Health(i32);
#[derive(Resource, Default, Debug, PartialEq)]
struct Score(i32);
#[derive(Message, Debug, Clone, PartialEq, Default)]
struct Hit(i32);

#[test]
fn param_non_send() {
    fn read(window: NonSend<Rc<i32>>, mut score: ResMut<Score>) {
        score.0 += **window;
    }
    fn write(mut window: NonSendMut<Rc<i32>>, _: NonSendMarker) {
        *Rc::get_mut(&mut window).unwrap() += 1;
    }
    let mut app = App::new();
    app.world_mut().insert_non_send(Rc::new(1));
    app.init_resource::<Score>().add_systems(Update, (write, read).chain());
    app.update();
    assert_eq!(app.world().resource::<Score>().0, 2);
}

#[test]
fn param_parallel_commands() {
    fn spawn(healths: Query<&Health>, commands: ParallelCommands) {
        healths.par_iter().for_each(|health| {
            commands.command_scope(|mut commands| {
                commands.spawn(Health(health.0 + 10));
            });
        });
    }
    let mut world = World::new();
    world.spawn_batch((0..3).map(Health));
    world.run_system_once(spawn).unwrap();
    assert_eq!(world.entity_count(), 6);
}

#[test]
fn param_message_mutator() {
    fn double(mut hits: MessageMutator<Hit>) {
        assert_eq!((hits.len(), hits.is_empty()), (2, false));
        for hit in hits.read() {
            hit.0 *= 2;
        }
    }
    fn sum(mut hits: PopulatedMessageReader<Hit>, mut score: ResMut<Score>) {
        score.0 = hits.read().map(|hit| hit.0).sum();
    }
    let mut app = App::new();
    app.insert_resource(Score(-1)).add_systems(Update, (double.run_if(on_message::<Hit>), sum).chain());
    app.update();
    assert_eq!(app.world().resource::<Score>().0, -1);
    app.world_mut().write_message_batch([Hit(1), Hit(2)]);
    app.update();
    assert_eq!(app.world().resource::<Score>().0, 6);
}

#[test]
fn param_system_state() {
    let mut world = World::new();
    world.insert_resource(Score(1));
    world.spawn(Health(2));
    let mut state = SystemState::<(Query<&Health>, ResMut<Score>, Commands)>::new(&mut world);
    let sum = state.get_mut(&mut world, |(healths, mut score, mut commands)| {
        score.0 += healths.iter().map(|health| health.0).sum::<i32>();
        commands.spawn_empty();
        score.0
    });
    assert_eq!((sum.unwrap(), world.entity_count()), (3, 2));
}

#[test]
fn param_builders() {
    fn count(mut runs: Local<i32>, mut score: ResMut<Score>, more: Vec<Local<i32>>) {
        *runs += 1;
        score.0 = *runs + more.iter().map(|value| **value).sum::<i32>();
    }
    let mut world = World::new();
    world.init_resource::<Score>();
    let system = (LocalBuilder(5), ParamBuilder, vec![LocalBuilder(10), LocalBuilder(20)])
        .build_state(&mut world)
        .build_system(count);
    world.run_system_once(system).unwrap();
    assert_eq!(world.resource::<Score>().0, 36);
}

#[test]
fn system_with_input() {
    fn push(InMut(list): InMut<Vec<i32>>, mut score: ResMut<Score>) {
        list.push(1);
        score.0 = i32::try_from(list.len()).unwrap();
    }
    let mut app = App::new();
    app.init_resource::<Score>();
    app.add_systems(Update, push.with_input(vec![7]));
    app.update();
    app.update();
    assert_eq!(app.world().resource::<Score>().0, 3);
    app.world_mut().run_system_once(push.with_input_from::<Vec<i32>>()).unwrap();
    assert_eq!(app.world().resource::<Score>().0, 1);
}

#[test]
fn system_into_system() {
    fn nothing() {}
    let mut world = World::new();
    let mut system = IntoSystem::into_system(nothing);
    system.initialize(&mut world).unwrap();
    assert_eq!(nothing.system_type_id(), IntoSystem::into_system(nothing).system_type_id());
}

#[test]
fn reader_read_with_id() {
    fn read(mut hits: MessageReader<Hit>) -> Vec<u64> {
        hits.read_with_id().map(|(_, id)| id.get()).collect()
    }
    let mut world = World::new();
    world.write_message_batch([Hit(1), Hit(2)]);
    assert_eq!(world.run_system_once(read).unwrap(), [0, 1]);
}

#[test]
fn messages_methods() {
    let mut messages = Messages::<Hit>::default();
    let mut cursor = messages.get_cursor();
    let first = messages.write(Hit(1));
    messages.write_batch([Hit(2), Hit(3)]);
    messages.write_default();
    assert_eq!((messages.len(), messages.is_empty()), (4, false));
    assert_eq!(cursor.read(&messages).map(|hit| hit.0).sum::<i32>(), 6);
    assert_eq!(messages.get_message(first), Some((&Hit(1), first)));
    assert_eq!(messages.get_cursor_current().len(&messages), 0);
    messages.update();
    messages.write(Hit(9));
    assert_eq!(messages.iter_current_update_messages().collect::<Vec<_>>(), [&Hit(9)]);
    assert_eq!(messages.update_drain().count(), 4);
    assert_eq!(messages.oldest_message_count(), 4);
    assert_eq!(messages.drain().collect::<Vec<_>>(), [Hit(9)]);
    messages.write(Hit(1));
    messages.clear();
    assert!(messages.is_empty());
}

#[test]
fn system_results() {
    fn parse(mut score: ResMut<Score>) -> Result {
        score.0 = "7".parse()?;
        let _: u8 = "x".parse().context("a number").ignore()?;
        Ok(())
    }
    fn fails() -> Result<(), BevyError> {
        Err("no reason".into())
    }
    let mut app = App::new();
    app.init_resource::<Score>().add_systems(Update, parse);
    app.update();
    assert_eq!(app.world().resource::<Score>().0, 7);
    let error = fails().with_severity(Severity::Warning).unwrap_err();
    assert_eq!((error.severity(), error.to_string()), (Severity::Warning, "no reason".to_owned()));
    assert!(None::<u8>.context("nothing there").is_err());
}

#[test]
fn derive_deref() {
    #[derive(Component, Deref, DerefMut)]
    struct Bag(Vec<i32>);
    let mut world = World::new();
    let mut entity = world.spawn(Bag(Vec::new()));
    entity.get_mut::<Bag>().unwrap().push(3);
    assert_eq!(entity.get::<Bag>().unwrap().len(), 1);
}
