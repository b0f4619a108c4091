// A story, told with whatever library the including module uses. It sees that library's prelude.

#[derive(Component)]
struct Key(u32);
#[derive(Component)]
struct A(i32);
#[derive(Component)]
struct B(i32);
#[derive(Component)]
#[component(storage = "SparseSet")]
struct D(i32);

#[derive(Event)]
struct Quake(i32);
#[derive(EntityEvent)]
struct Hit {
    entity: Entity,
    value: i32,
}

#[derive(EntityEvent)]
#[entity_event(propagate, auto_propagate)]
struct Call {
    entity: Entity,
}

#[derive(Resource)]
struct Script(Arc<Story>);
#[derive(Resource, Default)]
struct Book {
    lines: Vec<String>,
    fuel: u32,
    keys: u32,
    /// Those that have an observer of their own.
    observed: Vec<Entity>,
    /// The observers of components that were not removed.
    listeners: Vec<Listener>,
}

const NAMES: [&str; EVENTS] = ["add", "insert", "discard", "remove", "despawn"];

/// Tells a story, and returns what was written down.
pub fn run(story: &Story) -> Vec<String> {
    let mut world = World::new();
    world.insert_resource(Script(Arc::new(story.clone())));
    world.init_resource::<Book>();
    listen(&mut world, story);
    for step in &story.steps {
        world.resource_mut::<Book>().lines.push(format!("{step:?}"));
        world.resource_mut::<Book>().fuel = FUEL;
        act(&mut world, step.op, None, step.recorded);
        world.flush();
        dump(&mut world);
    }
    std::mem::take(&mut world.resource_mut::<Book>().lines)
}

/// Writes down that a hook or observer was called, and what it queues, if anything.
fn heard(book: &mut Book, script: &Script, effect: Option<Effect>, text: String) -> Option<Op> {
    let _ = script;
    book.lines.push(text);
    match effect {
        Some(Effect::Queue(op)) if book.fuel > 0 => {
            book.fuel -= 1;
            Some(op)
        }
        _ => None,
    }
}

fn hook<const COMPONENT: usize, const EVENT: usize>(mut world: DeferredWorld, context: HookContext) {
    let entity = context.entity;
    let key = world.get::<Key>(entity).map(|key| key.0);
    let value = match COMPONENT {
        0 => world.get::<A>(entity).map(|value| value.0),
        1 => world.get::<B>(entity).map(|value| value.0),
        _ => world.get::<D>(entity).map(|value| value.0),
    };
    let text = format!("  hook: {} {COMPONENT} of {key:?}: {value:?}", NAMES[EVENT]);
    let script = Script(Arc::clone(&world.resource::<Script>().0));
    let effect = script.0.hooks[COMPONENT][EVENT];
    let op = heard(&mut world.resource_mut::<Book>(), &script, effect, text);
    if let Some(op) = op {
        world.commands().queue(move |world: &mut World| act(world, op, Some(entity), false));
    }
}

macro_rules! listen_to {
    ($world:ident, $story:ident, $component:ident $number:literal) => {{
        // Registered in their order, in which they are announced.
        $world.register_component::<$component>();
        let hooks = &$story.hooks[$number];
        {
        #[allow(unused_mut)]
        let mut known = $world.register_component_hooks::<$component>();
        if hooks[0].is_some() {
            known.on_add(hook::<$number, 0>);
        }
        if hooks[1].is_some() {
            known.on_insert(hook::<$number, 1>);
        }
        if hooks[2].is_some() {
            known.on_discard(hook::<$number, 2>);
        }
        if hooks[3].is_some() {
            known.on_remove(hook::<$number, 3>);
        }
        if hooks[4].is_some() {
            known.on_despawn(hook::<$number, 4>);
        }
        }
        observe_one!($world, $story, $component $number, Add 0);
        observe_one!($world, $story, $component $number, Insert 1);
        observe_one!($world, $story, $component $number, Discard 2);
        observe_one!($world, $story, $component $number, Remove 3);
        observe_one!($world, $story, $component $number, Despawn 4);
    }};
}
macro_rules! observe_one {
    ($world:ident, $story:ident, $component:ident $number:literal, $event:ident $which:literal) => {
        if $story.observers[$number][$which].is_some() {
            let added = listener($world.add_observer(
                |on: On<$event<$component>>,
                 all: Query<(&Key, &$component)>,
                 script: Res<Script>,
                 mut book: ResMut<Book>,
                 mut commands: Commands| {
                    let entity = on.entity;
                    let seen = all.get(entity).ok().map(|(key, value)| (key.0, value.0));
                    let text = format!("  observer: {} {} of {seen:?}", NAMES[$which], $number);
                    if let Some(op) = heard(&mut book, &script, script.0.observers[$number][$which], text) {
                        commands.queue(move |world: &mut World| act(world, op, Some(entity), false));
                    }
                },
            ));
            $world.resource_mut::<Book>().listeners.push(added);
        }
    };
}
/// Whether the earth quakes so that it is heard.
fn is_heard(book: Res<Book>) -> bool {
    book.keys % 3 != 0
}
fn quaked(on: On<Quake>, script: Res<Script>, mut book: ResMut<Book>, mut commands: Commands) {
    if let Some(op) = heard(&mut book, &script, script.0.on_quake, format!("  quake {}", on.0)) {
        commands.queue(move |world: &mut World| act(world, op, None, false));
    }
}
/// Calls climb as far as the first entity whose key is divisible by four.
fn called(mut on: On<Call>, all: Query<&Key>, mut book: ResMut<Book>) {
    let key = |entity: Entity| all.get(entity).ok().map(|key| key.0);
    let (at, from) = (key(on.entity), key(on.original_event_target()));
    book.lines.push(format!("  call {at:?} from {from:?}"));
    if at.is_some_and(|key| key % 4 == 0) {
        on.propagate(false);
    }
}
fn listen(world: &mut World, story: &Story) {
    world.register_component::<Key>();
    listen_to!(world, story, A 0);
    listen_to!(world, story, B 1);
    listen_to!(world, story, D 2);
    world.add_observer(called);
    if story.on_quake.is_some() {
        world.add_observer(Observer::new(quaked).run_if(is_heard));
    }
    if story.on_hit.is_some() {
        world.add_observer(
            |on: On<Hit>,
             all: Query<&Key>,
             script: Res<Script>,
             mut book: ResMut<Book>,
             mut commands: Commands| {
                let entity = on.entity;
                let text = format!("  hit {:?} by {}", all.get(entity).ok().map(|key| key.0), on.value);
                if let Some(op) = heard(&mut book, &script, script.0.on_hit, text) {
                    commands.queue(move |world: &mut World| act(world, op, Some(entity), false));
                }
            },
        );
    }
}

/// Uses the bundle with a number.
macro_rules! bundled {
    ($which:expr, $value:expr, $bundle:ident => $use:expr) => {{
        let value: i32 = $value;
        match $which % BUNDLES {
            0 => {
                let $bundle = A(value);
                $use;
            }
            1 => {
                let $bundle = B(value);
                $use;
            }
            2 => {
                let $bundle = D(value);
                $use;
            }
            3 => {
                let $bundle = (A(value), B(value + 1));
                $use;
            }
            4 => {
                let $bundle = (B(value), D(value + 1));
                $use;
            }
            _ => {
                let $bundle = (A(value), B(value + 1), D(value + 2));
                $use;
            }
        }
    }};
}
/// Uses the type of the bundle with a number.
macro_rules! typed {
    ($which:expr, $bundle:ident => $use:expr) => {
        match $which % BUNDLES {
            0 => {
                type $bundle = A;
                $use;
            }
            1 => {
                type $bundle = B;
                $use;
            }
            2 => {
                type $bundle = D;
                $use;
            }
            3 => {
                type $bundle = (A, B);
                $use;
            }
            4 => {
                type $bundle = (B, D);
                $use;
            }
            _ => {
                type $bundle = (A, B, D);
                $use;
            }
        }
    };
}
/// A step on an entity: at once, or recorded and applied.
macro_rules! on_entity {
    ($world:ident, $entity:expr, $recorded:expr, $one:ident => $use:expr) => {
        if $recorded {
            let mut commands = $world.commands();
            let mut entity = commands.entity($entity);
            let $one = &mut entity;
            $use;
            commands.queue(|_: &mut World| ());
            $world.flush();
        } else {
            let mut entity = $world.entity_mut($entity);
            let $one = &mut entity;
            $use;
        }
    };
}
fn key(world: &mut World) -> Key {
    let mut book = world.resource_mut::<Book>();
    book.keys += 1;
    Key(book.keys)
}

/// Those that live, by key.
fn living(world: &mut World) -> BTreeMap<u32, Entity> {
    world.query::<(Entity, &Key)>().iter(world).map(|(entity, key)| (key.0, entity)).collect()
}

fn pick(world: &mut World, who: usize, same: Option<Entity>) -> Option<Entity> {
    let living: Vec<Entity> = living(world).into_values().collect();
    match same.filter(|_| who == 0) {
        Some(same) => living.contains(&same).then_some(same),
        None => (!living.is_empty()).then(|| living[who % living.len()]),
    }
}

/// Different entities of which none is `who`, nor above it: to become its children.
fn children_of(world: &mut World, who: Entity, chosen: [usize; 2]) -> Vec<Entity> {
    let mut found = Vec::new();
    for number in chosen {
        let Some(child) = pick(world, number, None) else { continue };
        if !found.contains(&child) && !is_above(world, child, who) {
            found.push(child);
        }
    }
    found
}

/// Whether one is the other, or above it.
fn is_above(world: &World, one: Entity, other: Entity) -> bool {
    let mut at = Some(other);
    while let Some(entity) = at {
        if entity == one {
            return true;
        }
        at = world.get::<ChildOf>(entity).map(|link| link.parent());
    }
    false
}

fn act(world: &mut World, op: Op, same: Option<Entity>, recorded: bool) {
    match op {
        Op::Spawn { bundle, value } => {
            let key = key(world);
            bundled!(bundle, value, bundle => if recorded {
                world.commands().spawn((key, bundle));
                world.flush();
            } else {
                world.spawn((key, bundle));
            });
        }
        Op::Batch { count, value } => {
            let keys: Vec<Key> = (0..count).map(|_| key(world)).collect();
            let batch = keys.into_iter().map(move |key| (key, A(value)));
            if recorded {
                world.commands().spawn_batch(batch.collect::<Vec<_>>());
                world.flush();
            } else {
                world.spawn_batch(batch);
            }
        }
        Op::Quake { value } => {
            if recorded {
                world.commands().trigger(Quake(value));
            } else {
                world.trigger(Quake(value));
            }
            world.flush();
        }
        Op::Forget { which } => {
            let mut book = world.resource_mut::<Book>();
            if !book.listeners.is_empty() {
                let at = which % book.listeners.len();
                let gone = book.listeners.remove(at);
                forget(world, gone);
            }
        }
        Op::SpawnTree { value } => {
            let keys = [key(world), key(world), key(world), key(world)];
            let [one, two, three, four] = keys;
            world.spawn((one, A(value), children![two, (three, children![four])]));
        }
        _ => act_on_one(world, op, same, recorded),
    }
}

fn act_on_one(world: &mut World, op: Op, same: Option<Entity>, recorded: bool) {
    let who = match op {
        Op::Insert { who, .. }
        | Op::InsertIfNew { who, .. }
        | Op::Remove { who, .. }
        | Op::Retain { who, .. }
        | Op::Clear { who }
        | Op::Despawn { who }
        | Op::Hit { who, .. }
        | Op::Observe { who, .. }
        | Op::Call { who }
        | Op::Link { who, .. }
        | Op::Unlink { who }
        | Op::AddChildren { who, .. }
        | Op::InsertChildren { who, .. }
        | Op::ReplaceChildren { who, .. }
        | Op::DetachChildren { who, .. }
        | Op::DetachAll { who }
        | Op::DespawnChildren { who }
        | Op::WithChild { who, .. } => who,
        Op::Spawn { .. } | Op::Batch { .. } | Op::Quake { .. } | Op::SpawnTree { .. } | Op::Forget { .. } => {
            return;
        }
    };
    let Some(entity) = pick(world, who, same) else { return };
    match op {
        Op::Insert { bundle, value, .. } => {
            bundled!(bundle, value, bundle => on_entity!(world, entity, recorded, one => { one.insert(bundle); }));
        }
        Op::InsertIfNew { bundle, value, .. } => {
            bundled!(bundle, value, bundle => on_entity!(world, entity, recorded, one => { one.insert_if_new(bundle); }));
        }
        Op::Remove { bundle, .. } => {
            typed!(bundle, Bundled => on_entity!(world, entity, recorded, one => { one.remove::<Bundled>(); }));
        }
        // In bevy it loses its own observer, too.
        Op::Retain { .. } if world.resource::<Book>().observed.contains(&entity) => {}
        Op::Retain { bundle, .. } => {
            typed!(bundle, Bundled => on_entity!(world, entity, recorded, one => { one.retain::<(Key, Bundled)>(); }));
        }
        // Its key goes as well: no later step chooses it.
        Op::Clear { .. } => on_entity!(world, entity, recorded, one => { one.clear(); }),
        Op::Despawn { .. } => {
            if recorded {
                world.commands().entity(entity).despawn();
                world.flush();
            } else {
                world.despawn(entity);
            }
        }
        Op::Hit { value, .. } => {
            if recorded {
                world.commands().trigger(Hit { entity, value });
            } else {
                world.trigger(Hit { entity, value });
            }
            world.flush();
        }
        Op::Observe { event, .. } => {
            world.resource_mut::<Book>().observed.push(entity);
            observe_own(world, entity, event);
        }
        Op::Call { .. } => {
            if recorded {
                world.commands().trigger(Call { entity });
            } else {
                world.trigger(Call { entity });
            }
            world.flush();
        }
        _ => relate(world, entity, op, recorded),
    }
}

/// An observer of one entity. What it writes about components has the form of what those of all entities write.
fn observe_own(world: &mut World, entity: Entity, event: usize) {
    macro_rules! of {
        ($event:ident $component:ident, $text:literal) => {
            |on: On<$event<$component>>, all: Query<(&Key, &$component)>, mut book: ResMut<Book>| {
                let seen = all.get(on.entity).ok().map(|(key, value)| (key.0, value.0));
                book.lines.push(format!("  observer: {} of {seen:?}, its own", $text));
            }
        };
    }
    let mut entity = world.entity_mut(entity);
    match event {
        0 => {
            entity.observe(of!(Insert A, "insert 0"));
        }
        1 => {
            entity.observe(of!(Remove B, "remove 1"));
        }
        2 => {
            entity.observe(of!(Despawn D, "despawn 2"));
        }
        _ => {
            entity.observe(|on: On<Hit>, mut book: ResMut<Book>| {
                book.lines.push(format!("  its own observer: {}", on.value));
            });
        }
    }
}

fn relate(world: &mut World, entity: Entity, op: Op, recorded: bool) {
    match op {
        Op::Link { parent, .. } => {
            let Some(parent) = pick(world, parent, None) else { return };
            if !is_above(world, entity, parent) {
                on_entity!(world, entity, recorded, one => { one.insert(ChildOf(parent)); });
            }
        }
        Op::Unlink { .. } => on_entity!(world, entity, recorded, one => { one.remove::<ChildOf>(); }),
        Op::AddChildren { children, .. } => {
            let children = children_of(world, entity, children);
            on_entity!(world, entity, recorded, one => { one.add_children(&children); });
        }
        Op::InsertChildren { at, children, .. } => {
            let children = children_of(world, entity, children);
            on_entity!(world, entity, recorded, one => { one.insert_children(at, &children); });
        }
        Op::ReplaceChildren { children, .. } => {
            // In bevy a child of another parent stays in the list of that one.
            let mut children = children_of(world, entity, children);
            children.retain(|child| world.get::<ChildOf>(*child).is_none_or(|link| link.parent() == entity));
            on_entity!(world, entity, recorded, one => { one.replace_children(&children); });
        }
        Op::DetachChildren { children, .. } => {
            let children = children_of(world, entity, children);
            on_entity!(world, entity, recorded, one => { one.detach_children(&children); });
        }
        Op::DetachAll { .. } => on_entity!(world, entity, recorded, one => { one.detach_all_children(); }),
        Op::DespawnChildren { .. } => on_entity!(world, entity, recorded, one => { one.despawn_children(); }),
        Op::WithChild { value, .. } => {
            let key = key(world);
            on_entity!(world, entity, recorded, one => { one.with_child((key, B(value))); });
        }
        _ => unreachable!("the others are no links: {op:?}"),
    }
}

/// The whole world after a step.
fn dump(world: &mut World) {
    let living = living(world);
    let name = |world: &World, entity: Entity| world.get::<Key>(entity).map_or(0, |key| key.0);
    for (key, entity) in living {
        let a = world.get::<A>(entity).map(|value| value.0);
        let b = world.get::<B>(entity).map(|value| value.0);
        let d = world.get::<D>(entity).map(|value| value.0);
        let parent = world.get::<ChildOf>(entity).map(|link| name(world, link.parent()));
        let children = world.get::<Children>(entity);
        let children = children.map(|list| list.iter().map(|child| name(world, child)).collect::<Vec<_>>());
        let line = format!("{key}: {a:?} {b:?} {d:?}, below {parent:?}, above {children:?}");
        world.resource_mut::<Book>().lines.push(line);
    }
}
