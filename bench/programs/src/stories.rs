//! Random stories: changes of one world after another, with hooks and observers, or with parents and children.
//!
//! A story is a list of steps. After each of them the whole world is written down; what hooks and observers get is
//! written down as it comes, and some of them queue a step of their own. Observers are of all entities or of one, some
//! have a condition, some are removed; an event goes on to parents; a component lies in a sparse set. Both libraries must
//! write the same.
//!
//! What `docs/from-bevy.md` lists as different is left out: each recorded step is followed by a function, so that nothing is
//! merged; no event has two observers of the same component; and links that would close a cycle are not made. In which
//! order the components of one change are announced differs as well: of those that observe one event, one at most
//! queues a step, and what they write is compared without regard to their order.

mod sides;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::random::generate::Random;

/// How many components, events in the life of a component, and bundles there are.
pub const COMPONENTS: usize = 3;
pub const EVENTS: usize = 5;
pub const BUNDLES: usize = 6;
/// How many steps the hooks and observers of one step may cause.
pub const FUEL: u32 = 8;

#[derive(Clone, Debug)]
pub struct Story {
    /// By component and event; without one there is no hook.
    pub hooks: [[Option<Effect>; EVENTS]; COMPONENTS],
    /// The same, for observers.
    pub observers: [[Option<Effect>; EVENTS]; COMPONENTS],
    /// What observers of the two events of the program do.
    pub on_quake: Option<Effect>,
    pub on_hit: Option<Effect>,
    pub steps: Vec<Step>,
}

/// What a hook or observer does beside writing down that it was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Nothing,
    Queue(Op),
}

/// One step, done to the world at once or recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub op: Op,
    pub recorded: bool,
}

/// What is done. Entities are chosen by number among those that live; zero is the entity that a hook or observer was
/// called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Spawn {
        bundle: usize,
        value: i32,
    },
    Batch {
        count: usize,
        value: i32,
    },
    Insert {
        who: usize,
        bundle: usize,
        value: i32,
    },
    InsertIfNew {
        who: usize,
        bundle: usize,
        value: i32,
    },
    Remove {
        who: usize,
        bundle: usize,
    },
    Retain {
        who: usize,
        bundle: usize,
    },
    Clear {
        who: usize,
    },
    Despawn {
        who: usize,
    },
    Quake {
        value: i32,
    },
    Hit {
        who: usize,
        value: i32,
    },
    /// The entity gets an observer of its own, of one event.
    Observe {
        who: usize,
        event: usize,
    },
    /// One of the observers of components is removed.
    Forget {
        which: usize,
    },
    /// An event that goes on to parents.
    Call {
        who: usize,
    },
    Link {
        who: usize,
        parent: usize,
    },
    Unlink {
        who: usize,
    },
    AddChildren {
        who: usize,
        children: [usize; 2],
    },
    InsertChildren {
        who: usize,
        at: usize,
        children: [usize; 2],
    },
    ReplaceChildren {
        who: usize,
        children: [usize; 2],
    },
    DetachChildren {
        who: usize,
        children: [usize; 2],
    },
    DetachAll {
        who: usize,
    },
    DespawnChildren {
        who: usize,
    },
    WithChild {
        who: usize,
        value: i32,
    },
    /// A tree of three, as one bundle.
    SpawnTree {
        value: i32,
    },
}

/// What stories are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    Reactions,
    Hierarchy,
}

fn generate(seed: u64, about: About) -> Story {
    let mut random = Random::new(seed ^ 0x5_7041);
    let random = &mut random;
    let reacts = about == About::Reactions;
    let mut effects = |percent: usize| {
        [[(); EVENTS]; COMPONENTS].map(|events| events.map(|()| effect(random, reacts, percent)))
    };
    let (mut hooks, mut observers) = (effects(35), effects(45));
    for event in 0..EVENTS {
        only_one_queues(&mut hooks, event);
        only_one_queues(&mut observers, event);
    }
    let (on_quake, on_hit) = (effect(random, reacts, 60), effect(random, reacts, 60));
    let length = 4 + random.below(14);
    let steps = (0..length)
        .map(|_| Step {
            op: if reacts { change(random) } else { family(random) },
            recorded: random.chance(40),
        })
        .collect();
    Story { hooks, observers, on_quake, on_hit, steps }
}

/// Leaves one effect at most among those of an event.
fn only_one_queues(effects: &mut [[Option<Effect>; EVENTS]; COMPONENTS], event: usize) {
    let mut found = false;
    for effect in effects.iter_mut().map(|effects| &mut effects[event]) {
        if matches!(effect, Some(Effect::Queue(_))) && std::mem::replace(&mut found, true) {
            *effect = Some(Effect::Nothing);
        }
    }
}

/// The lines, those that several components wrote for one event in a fixed order.
fn ordered(mut lines: Vec<String>) -> Vec<String> {
    // `  hook: add 0 of ..`: who, and the event.
    let event = |line: &String| {
        let mut words = line.strip_prefix("  ")?.splitn(3, ' ');
        let who = words.next().filter(|who| who.ends_with(':'))?;
        Some((who.to_owned(), words.next()?.to_owned()))
    };
    let mut start = 0;
    for end in 1..=lines.len() {
        if end == lines.len() || event(&lines[end]).is_none() || event(&lines[end]) != event(&lines[start]) {
            lines[start..end].sort();
            start = end;
        }
    }
    lines
}

fn effect(random: &mut Random, reacts: bool, percent: usize) -> Option<Effect> {
    if !reacts || !random.chance(percent) {
        return None;
    }
    Some(if random.chance(40) { Effect::Queue(change(random)) } else { Effect::Nothing })
}

fn change(random: &mut Random) -> Op {
    let (who, bundle, value) = (random.below(5), random.below(BUNDLES), random.value());
    match random.below(21) {
        0..4 => Op::Spawn { bundle, value },
        4 => Op::Batch { count: random.below(4), value },
        5..9 => Op::Insert { who, bundle, value },
        9 => Op::InsertIfNew { who, bundle, value },
        10..13 => Op::Remove { who, bundle },
        13 => Op::Retain { who, bundle },
        14 => Op::Clear { who },
        15..17 => Op::Despawn { who },
        17 => Op::Quake { value },
        18 => Op::Hit { who, value },
        19 => Op::Observe { who, event: random.below(4) },
        _ => Op::Forget { which: random.below(15) },
    }
}

fn family(random: &mut Random) -> Op {
    let (who, value) = (1 + random.below(8), random.value());
    let children = [1 + random.below(8), 1 + random.below(8)];
    match random.below(22) {
        20..22 => Op::Call { who },
        0..4 => Op::Spawn { bundle: random.below(BUNDLES), value },
        4 => Op::SpawnTree { value },
        5 => Op::WithChild { who, value },
        6..9 => Op::Link { who, parent: children[0] },
        9 => Op::Unlink { who },
        10..13 => Op::AddChildren { who, children },
        13..15 => Op::InsertChildren { who, at: random.below(4), children },
        15 => Op::ReplaceChildren { who, children },
        16 => Op::DetachChildren { who, children },
        17 => Op::DetachAll { who },
        18 => Op::Despawn { who },
        _ => Op::DespawnChildren { who },
    }
}

/// The lines that both wrote, or the first that differ.
fn difference(story: &Story) -> Result<usize, String> {
    let run = |run: fn(&Story) -> Vec<String>| {
        catch_unwind(AssertUnwindSafe(|| run(story))).map_err(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            text.or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("a panic without text")
                .to_owned()
        })
    };
    match (run(sides::bevy::run), run(sides::phalanx::run)) {
        (Ok(bevy), Ok(ours)) => {
            let (bevy, ours) = (ordered(bevy), ordered(ours));
            if bevy == ours {
                return Ok(ours.len());
            }
            let at = bevy.iter().zip(&ours).take_while(|(one, other)| one == other).count();
            let told = |lines: &[String]| {
                lines[at.saturating_sub(4).min(lines.len())..lines.len().min(at + 6)].join("\n    ")
            };
            Err(format!("  bevy:\n    {}\n  phalanx:\n    {}", told(&bevy), told(&ours)))
        }
        (bevy, ours) => Err(format!("bevy: {:?}\nphalanx: {:?}", bevy.err(), ours.err())),
    }
}

/// How much was compared.
#[derive(Default)]
pub struct Compared {
    pub stories: u64,
    pub steps: usize,
    pub lines: usize,
    pub differing: usize,
}

/// Compares the stories of many seeds. Some that differ are shown, made small.
pub fn compare(about: About, seeds: std::ops::Range<u64>, show: usize) -> Compared {
    let mut compared = Compared { stories: seeds.end - seeds.start, ..Compared::default() };
    for seed in seeds {
        let story = generate(seed, about);
        compared.steps += story.steps.len();
        match difference(&story) {
            Ok(lines) => compared.lines += lines,
            Err(_) => {
                compared.differing += 1;
                if compared.differing <= show {
                    let small = shrink(story);
                    let text = difference(&small).expect_err("only differing stories are kept");
                    println!("{about:?}, seed {seed}\n{small:?}\n{text}\n");
                }
            }
        }
    }
    compared
}

/// A smaller story that still differs.
fn shrink(mut story: Story) -> Story {
    loop {
        let smaller = smaller(&story).into_iter().find(|next| difference(next).is_err());
        match smaller {
            Some(next) => story = next,
            None => return story,
        }
    }
}

fn smaller(story: &Story) -> Vec<Story> {
    let mut found = Vec::new();
    let mut with = |change: &dyn Fn(&mut Story)| {
        let mut next = story.clone();
        change(&mut next);
        found.push(next);
    };
    for at in 0..story.steps.len() {
        with(&|next| {
            next.steps.remove(at);
        });
        if story.steps[at].recorded {
            with(&|next| next.steps[at].recorded = false);
        }
    }
    for component in 0..COMPONENTS {
        for event in 0..EVENTS {
            if story.hooks[component][event].is_some() {
                with(&|next| next.hooks[component][event] = None);
            }
            if story.observers[component][event].is_some() {
                with(&|next| next.observers[component][event] = None);
            }
        }
    }
    if story.on_quake.is_some() {
        with(&|next| next.on_quake = None);
    }
    if story.on_hit.is_some() {
        with(&|next| next.on_hit = None);
    }
    found
}
