// A program, built with whatever library the including module uses. It sees that library's prelude, and beside it:
// `Systems` and `Sets`, the types of configured systems and sets; `tracked!`, which declares a component with change
// detection; `see!` and `collect!`, queries of a world; `Host`, a world with a schedule.

tracked! { struct A(i32); }
tracked! { struct B(i32); }
tracked! { struct D(i32); }
tracked! { struct Key(u32); }

#[derive(Resource, Clone, PartialEq, Debug)]
struct First(i32);
#[derive(Resource, Clone, PartialEq, Debug)]
struct Second(i32);
#[derive(Resource)]
struct Frame(usize);
#[derive(Resource)]
struct Shared(Log);
#[derive(Message)]
struct Ping(i32);
#[derive(Message)]
struct Pong(i32);

#[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
struct Own(usize);
#[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
struct Named(usize);

/// Runs a program, and returns what happened.
pub fn run(program: &Program) -> Trace {
    let log = Log::default();
    let mut host = Host::new();
    host.world.insert_resource(Shared(log.clone()));
    for tree in &program.configured {
        host.configure(sets(tree, program, &log));
    }
    for tree in &program.added {
        let configs = systems(tree, program, &log);
        host.add(configs);
    }
    for (frame, ops) in program.frames.iter().enumerate() {
        log.begin_frame(frame);
        host.world.insert_resource(Frame(frame));
        for op in ops {
            act(*op, Who::World, &mut host.world, &log);
        }
        // What waits in the world's commands is applied by the next schedule here, and at the next change of the world
        // in bevy.
        host.world.flush();
        host.run();
        dump(&mut host.world, &log);
        host.end_frame();
    }
    log.take()
}

fn systems(tree: &Tree, program: &Program, log: &Log) -> Systems {
    let mut configs = match &tree.part {
        Part::One(index) => system(*index, &program.systems[*index], log).in_set(Own(*index)),
        Part::Tuple { parts, chained } => {
            let parts = parts.iter().map(|part| systems(part, program, log)).collect();
            let tuple = tuple!(parts);
            match chained {
                None => tuple,
                Some(Hop::Sync) => tuple.chain(),
                Some(Hop::Ignore) => tuple.chain_ignore_deferred(),
            }
        }
    };
    say!(configs, tree, program, log);
    configs
}

fn sets(tree: &Tree, program: &Program, log: &Log) -> Sets {
    let mut configs = match &tree.part {
        Part::One(index) => set_configs(Named(*index)),
        Part::Tuple { parts, chained } => {
            let parts = parts.iter().map(|part| sets(part, program, log)).collect();
            let tuple = set_tuple!(parts);
            match chained {
                None => tuple,
                Some(Hop::Sync) => tuple.chain(),
                Some(Hop::Ignore) => tuple.chain_ignore_deferred(),
            }
        }
    };
    say!(configs, tree, program, log);
    configs
}

/// The parameters of a system that looks.
macro_rules! looks {
    () => {
        (
            (Query<(&Key, &A)>, Query<(&Key, &B)>, Query<(&Key, &D)>),
            (
                Query<(&Key, &A), Changed<A>>,
                Query<(&Key, &B), Changed<B>>,
                Query<(&Key, &D), Changed<D>>,
            ),
            (Query<(&Key, &A), Added<A>>, Query<(&Key, &B), Added<B>>, Query<(&Key, &D), Added<D>>),
            (Query<(&Key, &A), Spawned>, Query<(&Key, &B), Spawned>, Query<(&Key, &D), Spawned>),
            (
                Query<(&Key, &A, Has<B>)>,
                Query<(&Key, &B), Without<D>>,
                Query<(&Key, Option<&D>), With<A>>,
            ),
            (Option<Res<First>>, Option<Res<Second>>),
            (MessageReader<Ping>, MessageReader<Pong>),
            Local<u32>,
        )
    };
}

/// One step that looks; nothing for other steps.
macro_rules! look {
    ($looks:ident, $op:expr) => {{
        let (all, changed, added, spawned, pairs, resources, messages, _) = &mut $looks;
        match $op {
            Op::See { component: 0 } => Some(listed(all.0.iter().map(|(key, c)| (key.0, c.0)))),
            Op::See { component: 1 } => Some(listed(all.1.iter().map(|(key, c)| (key.0, c.0)))),
            Op::See { .. } => Some(listed(all.2.iter().map(|(key, c)| (key.0, c.0)))),
            Op::SeeChanged { component: 0 } => Some(listed(changed.0.iter().map(|(key, c)| (key.0, c.0)))),
            Op::SeeChanged { component: 1 } => Some(listed(changed.1.iter().map(|(key, c)| (key.0, c.0)))),
            Op::SeeChanged { .. } => Some(listed(changed.2.iter().map(|(key, c)| (key.0, c.0)))),
            Op::SeeAdded { component: 0 } => Some(listed(added.0.iter().map(|(key, c)| (key.0, c.0)))),
            Op::SeeAdded { component: 1 } => Some(listed(added.1.iter().map(|(key, c)| (key.0, c.0)))),
            Op::SeeAdded { .. } => Some(listed(added.2.iter().map(|(key, c)| (key.0, c.0)))),
            Op::SeeSpawned { component: 0 } => Some(listed(spawned.0.iter().map(|(key, c)| (key.0, c.0)))),
            Op::SeeSpawned { component: 1 } => Some(listed(spawned.1.iter().map(|(key, c)| (key.0, c.0)))),
            Op::SeeSpawned { .. } => Some(listed(spawned.2.iter().map(|(key, c)| (key.0, c.0)))),
            Op::SeePair { pair: 0 } => Some(listed(pairs.0.iter().map(|(key, a, b)| (key.0, (a.0, b))))),
            Op::SeePair { pair: 1 } => Some(listed(pairs.1.iter().map(|(key, b)| (key.0, b.0)))),
            Op::SeePair { .. } => Some(listed(pairs.2.iter().map(|(key, d)| (key.0, d.map(|d| d.0))))),
            Op::SeeResource { resource: 0 } => {
                Some(format!("{:?}", resources.0.as_ref().map(|r| (r.0, r.is_changed(), r.is_added()))))
            }
            Op::SeeResource { .. } => {
                Some(format!("{:?}", resources.1.as_ref().map(|r| (r.0, r.is_changed(), r.is_added()))))
            }
            Op::Receive { message: 0 } => {
                Some(format!("{:?}", messages.0.read().map(|message| message.0).collect::<Vec<_>>()))
            }
            Op::Receive { .. } => {
                Some(format!("{:?}", messages.1.read().map(|message| message.0).collect::<Vec<_>>()))
            }
            _ => None,
        }
    }};
}

/// What a query yielded, by key.
fn listed<T: Ord + std::fmt::Debug>(rows: impl Iterator<Item = (u32, T)>) -> String {
    let mut rows: Vec<_> = rows.collect();
    rows.sort_unstable();
    format!("{rows:?}")
}

/// A function that only says that it ran.
fn reports<const INDEX: usize>(log: Res<Shared>) {
    log.0.begin(INDEX);
}

fn system(index: usize, spec: &SystemSpec, log: &Log) -> Systems {
    let (ops, log, who) = (spec.ops.clone(), log.clone(), Who::System(index));
    match spec.kind {
        Kind::Look => (move |mut looks: looks!()| {
            log.begin(index);
            *looks.7 += 1;
            log.say(who, format!("run {}", *looks.7));
            for op in &ops {
                let seen = look!(looks, *op).expect("such a system only looks");
                log.say(who, format!("{op:?}: {seen}"));
            }
        })
        .into_configs(),
        Kind::Write => {
            (move |(mut a, mut b, mut d): (
                Query<(&Key, &mut A)>,
                Query<(&Key, &mut B)>,
                Query<(&Key, &mut D)>,
            ),
                   (mut first, mut second): (Option<ResMut<First>>, Option<ResMut<Second>>),
                   (mut ping, mut pong): (MessageWriter<Ping>, MessageWriter<Pong>)| {
                log.begin(index);
                for op in &ops {
                    match *op {
                        Op::Add { component: 0, odd, value } => add!(&mut a, odd, value),
                        Op::Add { component: 1, odd, value } => add!(&mut b, odd, value),
                        Op::Add { odd, value, .. } => add!(&mut d, odd, value),
                        Op::AddResource { resource: 0, value } => first.iter_mut().for_each(|r| r.0 += value),
                        Op::AddResource { value, .. } => second.iter_mut().for_each(|r| r.0 += value),
                        Op::SetResource { resource: 0, value } => {
                            first.iter_mut().for_each(|r| {
                                r.set_if_neq(First(value));
                            });
                        }
                        Op::SetResource { value, .. } => {
                            second.iter_mut().for_each(|r| {
                                r.set_if_neq(Second(value));
                            });
                        }
                        Op::Send { message: 0, value } => {
                            ping.write(Ping(value));
                        }
                        Op::Send { value, .. } => {
                            pong.write(Pong(value));
                        }
                        _ => unreachable!("such a system only writes"),
                    }
                }
            })
            .into_configs()
        }
        Kind::Command => (move |mut commands: Commands, keys: Query<(Entity, &Key)>| {
            log.begin(index);
            let keys = keys.iter().map(|(entity, key)| (key.0, entity)).collect();
            for op in &ops {
                command(*op, who, &mut commands, &keys, &log);
            }
        })
        .into_configs(),
        Kind::LookCommand => {
            (move |mut commands: Commands, keys: Query<(Entity, &Key)>, mut looks: looks!()| {
                log.begin(index);
                let keys = keys.iter().map(|(entity, key)| (key.0, entity)).collect();
                for op in &ops {
                    match look!(looks, *op) {
                        Some(seen) => log.say(who, format!("{op:?}: {seen}")),
                        None => command(*op, who, &mut commands, &keys, &log),
                    }
                }
            })
            .into_configs()
        }
        Kind::Function => with_function!(index, function => function.into_configs()),
        Kind::Apply => ApplyDeferred.into_configs(),
        Kind::Exclusive => (move |world: &mut World| {
            log.begin(index);
            for op in &ops {
                act(*op, who, world, &log);
            }
        })
        .into_configs(),
    }
}

/// Adds to the values with even, or odd, keys.
macro_rules! add {
    ($query:expr, $odd:expr, $value:expr) => {
        for (key, mut component) in $query {
            if (key.0 % 2 == 1) == $odd {
                component.0 += $value;
            }
        }
    };
}
use add;

/// Entities by key.
type Keys = BTreeMap<u32, Entity>;

/// The n-th entity of a family, counted round and round.
fn nth(keys: &Keys, family: usize, nth: usize) -> Option<Entity> {
    let of_family: Vec<Entity> =
        keys.iter().filter(|(key, _)| family_of(**key) == family).map(|(_, entity)| *entity).collect();
    (!of_family.is_empty()).then(|| of_family[nth % of_family.len()])
}

fn command(op: Op, who: Who, commands: &mut Commands, keys: &Keys, log: &Log) {
    match op {
        Op::Spawn { family, components, value } => {
            let key = Key(log.key(who, family));
            if components == 7 {
                commands.spawn((key, A(value), B(value + 1), D(value + 2)));
            } else {
                let mut entity = commands.spawn(key);
                if components & 1 != 0 {
                    entity.insert(A(value));
                }
                if components & 2 != 0 {
                    entity.insert(B(value + 1));
                }
                if components & 4 != 0 {
                    entity.insert(D(value + 2));
                }
            }
        }
        Op::Insert { family, nth: n, component, value } => {
            if let Some(entity) = nth(keys, family, n) {
                match component {
                    0 => commands.entity(entity).insert(A(value)),
                    1 => commands.entity(entity).insert(B(value)),
                    _ => commands.entity(entity).insert(D(value)),
                };
            }
        }
        Op::InsertIfNew { family, nth: n, component, value } => {
            if let Some(entity) = nth(keys, family, n) {
                match component {
                    0 => commands.entity(entity).insert_if_new(A(value)),
                    1 => commands.entity(entity).insert_if_new(B(value)),
                    _ => commands.entity(entity).insert_if_new(D(value)),
                };
            }
        }
        Op::Remove { family, nth: n, component } => {
            if let Some(entity) = nth(keys, family, n) {
                match component {
                    0 => commands.entity(entity).remove::<A>(),
                    1 => commands.entity(entity).remove::<B>(),
                    _ => commands.entity(entity).remove::<D>(),
                };
            }
        }
        Op::Despawn { family, nth: n } => {
            if let Some(entity) = nth(keys, family, n) {
                commands.entity(entity).despawn();
            }
        }
        Op::TryDespawn { family, nth: n } => {
            if let Some(entity) = nth(keys, family, n) {
                commands.entity(entity).try_despawn();
                commands.entity(entity).try_despawn();
                commands.entity(entity).try_insert(A(0));
            }
        }
        Op::Replace { family, nth: n, component, value } => {
            if let Some(entity) = nth(keys, family, n) {
                match component {
                    0 => commands.entity(entity).remove::<A>().insert(A(value)),
                    1 => commands.entity(entity).remove::<B>().insert(B(value)),
                    _ => commands.entity(entity).remove::<D>().insert(D(value)),
                };
            }
        }
        Op::InsertAll { family, nth: n, value } => {
            if let Some(entity) = nth(keys, family, n) {
                commands.entity(entity).insert((A(value), B(value), D(value)));
            }
        }
        Op::SpawnBatch { family, count, value } => {
            let keys: Vec<u32> = (0..count).map(|_| log.key(who, family)).collect();
            commands.spawn_batch(keys.into_iter().map(move |key| (Key(key), A(value), B(value))));
        }
        Op::SendLater { message: 0, value } => {
            commands.write_message(Ping(value));
        }
        Op::SendLater { value, .. } => {
            commands.write_message(Pong(value));
        }
        Op::InsertResource { resource: 0, value } => commands.insert_resource(First(value)),
        Op::InsertResource { value, .. } => commands.insert_resource(Second(value)),
        Op::RemoveResource { resource: 0 } => commands.remove_resource::<First>(),
        Op::RemoveResource { .. } => commands.remove_resource::<Second>(),
        Op::Queue { resource, value } => commands.queue(move |world: &mut World| {
            add_resource(world, resource, value);
        }),
        _ => unreachable!("not a command: {op:?}"),
    }
}

fn add_resource(world: &mut World, resource: usize, value: i32) {
    match resource {
        0 => {
            if let Some(mut resource) = world.get_resource_mut::<First>() {
                resource.0 += value;
            }
        }
        _ => {
            if let Some(mut resource) = world.get_resource_mut::<Second>() {
                resource.0 += value;
            }
        }
    }
}

/// One step on a whole world: at once, except `Queue`, which waits in the world's commands.
fn act(op: Op, who: Who, world: &mut World, log: &Log) {
    let keys: Keys = collect!(world, (Entity, &Key), (), |(entity, key)| (key.0, entity));
    match op {
        Op::See { component: 0 } => log.say(who, format!("{op:?}: {}", see!(world, A, ()))),
        Op::See { component: 1 } => log.say(who, format!("{op:?}: {}", see!(world, B, ()))),
        Op::See { .. } => log.say(who, format!("{op:?}: {}", see!(world, D, ()))),
        Op::SeeChanged { component: 0 } => log.say(who, format!("{op:?}: {}", see!(world, A, Changed<A>))),
        Op::SeeChanged { component: 1 } => log.say(who, format!("{op:?}: {}", see!(world, B, Changed<B>))),
        Op::SeeChanged { .. } => log.say(who, format!("{op:?}: {}", see!(world, D, Changed<D>))),
        Op::SeeAdded { component: 0 } => log.say(who, format!("{op:?}: {}", see!(world, A, Added<A>))),
        Op::SeeAdded { component: 1 } => log.say(who, format!("{op:?}: {}", see!(world, B, Added<B>))),
        Op::SeeAdded { .. } => log.say(who, format!("{op:?}: {}", see!(world, D, Added<D>))),
        Op::SeeSpawned { component: 0 } => log.say(who, format!("{op:?}: {}", see!(world, A, Spawned))),
        Op::SeeSpawned { component: 1 } => log.say(who, format!("{op:?}: {}", see!(world, B, Spawned))),
        Op::SeeSpawned { .. } => log.say(who, format!("{op:?}: {}", see!(world, D, Spawned))),
        Op::SeePair { pair: 0 } => log.say(who, format!("{op:?}: {}", see!(world, A, With<B>))),
        Op::SeePair { pair: 1 } => log.say(who, format!("{op:?}: {}", see!(world, B, Without<D>))),
        Op::SeePair { .. } => log.say(who, format!("{op:?}: {}", see!(world, D, With<A>))),
        Op::SeeResource { resource: 0 } => {
            log.say(who, format!("{op:?}: {:?}", world.get_resource::<First>().map(|r| r.0)));
        }
        Op::SeeResource { .. } => {
            log.say(who, format!("{op:?}: {:?}", world.get_resource::<Second>().map(|r| r.0)));
        }
        Op::Add { component, odd, value } => {
            for (key, entity) in keys {
                if (key % 2 == 1) == odd {
                    match component {
                        0 => world.get_mut::<A>(entity).iter_mut().for_each(|c| c.0 += value),
                        1 => world.get_mut::<B>(entity).iter_mut().for_each(|c| c.0 += value),
                        _ => world.get_mut::<D>(entity).iter_mut().for_each(|c| c.0 += value),
                    }
                }
            }
        }
        Op::AddResource { resource, value } => add_resource(world, resource, value),
        Op::SetResource { resource: 0, value } => {
            if let Some(mut resource) = world.get_resource_mut::<First>() {
                resource.0 = value;
            }
        }
        Op::SetResource { value, .. } => {
            if let Some(mut resource) = world.get_resource_mut::<Second>() {
                resource.0 = value;
            }
        }
        Op::Send { message: 0, value } => {
            world.write_message(Ping(value));
        }
        Op::Send { value, .. } => {
            world.write_message(Pong(value));
        }
        Op::Receive { .. } => unreachable!("a world has no reader"),
        Op::Spawn { family, components, value } => {
            let mut entity = world.spawn(Key(log.key(who, family)));
            if components & 1 != 0 {
                entity.insert(A(value));
            }
            if components & 6 == 6 {
                entity.insert((B(value + 1), D(value + 2)));
            } else if components & 2 != 0 {
                entity.insert(B(value + 1));
            } else if components & 4 != 0 {
                entity.insert(D(value + 2));
            }
        }
        Op::Insert { family, nth: n, component, value } => {
            if let Some(entity) = nth(&keys, family, n) {
                match component {
                    0 => world.entity_mut(entity).insert(A(value)).id(),
                    1 => world.entity_mut(entity).insert(B(value)).id(),
                    _ => world.entity_mut(entity).insert(D(value)).id(),
                };
            }
        }
        Op::InsertIfNew { family, nth: n, component, value } => {
            if let Some(entity) = nth(&keys, family, n) {
                match component {
                    0 => world.entity_mut(entity).insert_if_new(A(value)).id(),
                    1 => world.entity_mut(entity).insert_if_new(B(value)).id(),
                    _ => world.entity_mut(entity).insert_if_new(D(value)).id(),
                };
            }
        }
        Op::Remove { family, nth: n, component } => {
            if let Some(entity) = nth(&keys, family, n) {
                match component {
                    0 => world.entity_mut(entity).remove::<A>().id(),
                    1 => world.entity_mut(entity).remove::<B>().id(),
                    _ => world.entity_mut(entity).remove::<D>().id(),
                };
            }
        }
        Op::Despawn { family, nth: n } | Op::TryDespawn { family, nth: n } => {
            if let Some(entity) = nth(&keys, family, n) {
                world.despawn(entity);
            }
        }
        Op::Replace { family, nth: n, component, value } => {
            if let Some(entity) = nth(&keys, family, n) {
                match component {
                    0 => world.entity_mut(entity).remove::<A>().insert(A(value)).id(),
                    1 => world.entity_mut(entity).remove::<B>().insert(B(value)).id(),
                    _ => world.entity_mut(entity).remove::<D>().insert(D(value)).id(),
                };
            }
        }
        Op::InsertAll { family, nth: n, value } => {
            if let Some(entity) = nth(&keys, family, n) {
                world.entity_mut(entity).insert((A(value), B(value), D(value)));
            }
        }
        Op::SpawnBatch { family, count, value } => {
            let keys: Vec<u32> = (0..count).map(|_| log.key(who, family)).collect();
            world.spawn_batch(keys.into_iter().map(move |key| (Key(key), A(value), B(value))));
        }
        Op::SendLater { message: 0, value } => {
            world.commands().write_message(Ping(value));
        }
        Op::SendLater { value, .. } => {
            world.commands().write_message(Pong(value));
        }
        Op::InsertResource { resource: 0, value } => {
            world.insert_resource(First(value));
        }
        Op::InsertResource { value, .. } => {
            world.insert_resource(Second(value));
        }
        Op::RemoveResource { resource: 0 } => {
            world.remove_resource::<First>();
        }
        Op::RemoveResource { .. } => {
            world.remove_resource::<Second>();
        }
        Op::Queue { resource, value } => world.commands().queue(move |world: &mut World| {
            add_resource(world, resource, value);
        }),
    }
}

/// The whole world after a frame.
fn dump(world: &mut World, log: &Log) {
    log.say(Who::End, format!("A {}", see!(world, A, ())));
    log.say(Who::End, format!("B {}", see!(world, B, ())));
    log.say(Who::End, format!("D {}", see!(world, D, ())));
    let keys: Keys = collect!(world, (Entity, &Key), (), |(entity, key)| (key.0, entity));
    log.say(Who::End, format!("alive {:?}", keys.keys().collect::<Vec<_>>()));
    let first = world.get_resource::<First>().map(|r| r.0);
    let second = world.get_resource::<Second>().map(|r| r.0);
    log.say(Who::End, format!("resources {first:?} {second:?}"));
}
