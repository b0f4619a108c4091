//! Messages kept whole and field by field: the same facts for both, and what `columns` adds.
//!
//! `both_layouts!` runs one list of tests over a message of each layout; the tests below it are about the
//! slices and rows of `layout = "soa"`.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use phalanx::messages::{Cursor, Messages};
use phalanx::prelude::*;

#[derive(Resource, Default)]
struct Log(Vec<Vec<u32>>);

/// Counts itself by the reference it holds, and may panic when dropped.
struct Counted(#[allow(dead_code, reason = "held to be counted")] Arc<()>, bool);
impl Drop for Counted {
    fn drop(&mut self) {
        assert!(!self.1, "told to panic");
    }
}

macro_rules! both_layouts {
    ($($layout:tt $module:ident)*) => {
        $(mod $module {
            use super::*;

            #[derive(Message, Debug)]
            #[message(layout = $layout)]
            struct Hit {
                number: u32,
                name: String,
            }

            #[derive(Message)]
            #[message(layout = $layout)]
            struct Heavy {
                _first: Counted,
                _second: Counted,
            }

            fn hit(number: u32) -> Hit {
                Hit { number, name: format!("hit {number}") }
            }
            fn hits(numbers: &[u32]) -> impl Iterator<Item = Hit> {
                numbers.iter().map(|number| hit(*number))
            }
            fn app() -> App {
                let mut app = App::new();
                app.init_resource::<Log>();
                app
            }
            fn log(app: &App) -> &[Vec<u32>] {
                &app.world().resource::<Log>().0
            }
            fn write(numbers: &'static [u32]) -> impl FnMut(MessageWriter<Hit>) {
                move |mut writer| writer.write_batch(hits(numbers))
            }
            fn read(mut reader: MessageReader<Hit>, mut log: ResMut<Log>) {
                log.0.push(reader.read().map(|hit| hit.number.to_owned()).collect());
                assert!(reader.is_empty());
            }
            fn read_columns(mut reader: MessageReader<Hit>, mut log: ResMut<Log>) {
                let (unread, columns) = (reader.len(), reader.columns());
                assert_eq!((columns.len(), reader.len()), (unread, 0));
                assert!(columns.iter().all(|hit| *hit.name == format!("hit {}", hit.number)));
                log.0.push(columns.iter().map(|hit| hit.number.to_owned()).collect());
            }
            fn heavy(count: &Arc<()>, panics: [bool; 2]) -> Heavy {
                let [first, second] = panics.map(|panics| Counted(Arc::clone(count), panics));
                Heavy { _first: first, _second: second }
            }

            // Hazard 59.
            #[test]
            fn a_reader_sees_each_message_once_and_misses_none() {
                let mut app = app();
                app.add_systems(Update, (write(&[1, 2]), read, read_columns, write(&[3])).chain());
                app.add_systems(PostUpdate, (read, read_columns).chain());
                (0..2).for_each(|_| app.step(0.1));
                let first = [vec![1, 2], vec![1, 2], vec![1, 2, 3], vec![1, 2, 3]];
                // What came behind the first readers reaches them in the next frame.
                let second = [vec![3, 1, 2], vec![3, 1, 2], vec![1, 2, 3], vec![1, 2, 3]];
                assert_eq!(log(&app), [first, second].concat());
            }

            // Hazard 59: one cursor for both ways of reading.
            #[test]
            fn columns_go_on_where_reading_stopped() {
                let mut app = app();
                app.world_mut().messages_mut().write_batch(hits(&[1, 2, 3]));
                app.add_systems(Update, |mut reader: MessageReader<Hit>, mut log: ResMut<Log>| {
                    log.0.push(reader.read().take(1).map(|hit| hit.number.to_owned()).collect());
                    log.0.push(reader.columns().iter().map(|hit| hit.number.to_owned()).collect());
                    assert_eq!((reader.read().count(), reader.columns().len()), (0, 0));
                });
                app.step(0.1);
                assert_eq!(log(&app), [vec![1], vec![2, 3]]);
            }

            #[test]
            fn kept_messages_of_several_frames_are_one_piece() {
                let mut app = app();
                app.world_mut().messages_mut::<Hit>().set_keep(2);
                let mut frame = 0;
                app.add_systems(Update, move |mut writer: MessageWriter<Hit>| {
                    frame += 1;
                    writer.write_batch(hits(&[10 * frame, 10 * frame + 1]));
                });
                app.add_systems(PostUpdate, read_columns.run_if(|time: Res<Time>| time.frame() % 4 == 0));
                (0..8).for_each(|_| app.step(0.1));
                assert_eq!(log(&app), [[20, 21, 30, 31, 40, 41], [60, 61, 70, 71, 80, 81]]);
            }

            #[test]
            fn messages_of_startup_live_through_the_first_update() {
                let mut app = app();
                app.add_systems(Startup, write(&[7]));
                app.add_systems(Update, (read, read_columns).chain());
                (0..2).for_each(|_| app.step(0.1));
                assert_eq!(log(&app), [vec![7], vec![7], vec![], vec![]]);
            }

            // Hazard 60.
            #[test]
            fn unread_messages_do_not_grow_without_bound() {
                for keep in 0..3 {
                    let mut messages = Messages::with_keep(keep);
                    for _ in 0..100 {
                        messages.write_batch(hits(&[1, 2]));
                        assert!(messages.len() <= 2 * (keep + 1));
                        messages.update();
                    }
                    assert_eq!((messages.len(), messages.as_columns().len()), (2 * keep, 2 * keep));
                }
            }

            #[test]
            fn messages_are_found_drained_and_cleared() {
                let mut messages = Messages::new();
                let mut cursor = Cursor::default();
                let id = messages.write(hit(1));
                messages.write_batch(hits(&[2, 3]));
                assert_eq!(messages.get_message(id).map(|(hit, _)| hit.number.to_owned()), Some(1));
                assert!(messages.iter().rev().map(|hit| hit.number.to_owned()).eq([3, 2, 1]));
                assert!(messages.drain().map(|hit| (hit.number, hit.name.len())).eq([(1, 5), (2, 5), (3, 5)]));
                assert!(messages.get_message(id).is_none() && messages.is_empty());
                messages.write(hit(4));
                messages.clear();
                assert_eq!(messages.write(hit(5)).get(), 4);
                assert!(messages.read(&mut cursor).map(|hit| hit.number.to_owned()).eq([5]));
                assert!(messages.columns(&mut cursor).is_empty());
            }

            #[test]
            fn each_message_is_dropped_once_even_when_a_part_panics() {
                let count = Arc::new(());
                for keep in 0..2 {
                    let mut messages = Messages::with_keep(keep);
                    for panics in [[false, false], [true, false], [false, false]] {
                        messages.write(heavy(&count, panics));
                    }
                    let mut ended = 0;
                    while !messages.is_empty() {
                        ended += usize::from(catch_unwind(AssertUnwindSafe(|| messages.update())).is_err());
                    }
                    assert_eq!((ended, Arc::strong_count(&count)), (1, 1));
                    // The channel goes on with all its parts equally long.
                    for _ in 0..3 {
                        messages.write(heavy(&count, [false, false]));
                        assert_eq!(messages.iter().count(), messages.drain().count());
                        messages.write(heavy(&count, [false, false]));
                        messages.update();
                    }
                    drop(messages);
                    assert_eq!(Arc::strong_count(&count), 1);
                }
            }

            #[test]
            fn commands_and_worlds_write_messages_too() {
                let mut app = app();
                app.world_mut().write_message(hit(1));
                app.add_systems(PreUpdate, |mut commands: Commands| commands.write_message(hit(2)));
                app.add_systems(Update, read_columns);
                app.step(0.1);
                assert_eq!(log(&app), [[1, 2]]);
            }
        })*
    };
}
both_layouts!("whole" whole "soa" soa);

#[derive(Message, Debug, PartialEq, Clone)]
#[message(layout = "soa")]
struct Shot {
    who: Entity,
    damage: f32,
    by: Option<String>,
}

fn shot(damage: f32) -> Shot {
    Shot { who: Entity::PLACEHOLDER, damage, by: None }
}

// O-249, O-252, O-254, O-255: an array per field, which is the channel's own.
#[test]
fn each_field_is_one_slice_of_the_channels_own_memory() {
    let mut world = World::new();
    world.messages_mut().write_batch([1.0, 2.0, 3.0].map(shot));
    let own = world.messages::<Shot>().expect("written").as_columns().damage.as_ptr().addr();
    world
        .run_system_once(move |mut shots: MessageReader<Shot>| {
            let ShotSlices { who, damage, by } = shots.columns();
            assert_eq!(
                (who, damage, by),
                (&[Entity::PLACEHOLDER; 3][..], &[1.0, 2.0, 3.0][..], &[None, None, None][..])
            );
            assert_eq!(damage.as_ptr().addr(), own);
        })
        .unwrap();
}

// The memory of two frames takes turns.
#[test]
fn frames_of_messages_allocate_nothing_once_there_is_room() {
    let mut messages = Messages::with_keep(0);
    let places: Vec<[usize; 2]> = (0..8)
        .map(|_| {
            messages.write_batch([1.0, 2.0, 3.0].map(shot));
            let ShotSlices { who, damage, .. } = messages.as_columns();
            let place = [who.as_ptr().addr(), damage.as_ptr().addr()];
            messages.update();
            place
        })
        .collect();
    assert!(places.iter().zip(&places[2..]).all(|(one, two)| one == two), "{places:?}");
}

#[test]
fn a_message_read_from_columns_is_a_struct_of_references() {
    let mut messages = Messages::new();
    let mut cursor = Cursor::default();
    messages.write_batch([1.0, 2.0].map(shot));
    let all: Vec<ShotRef<'_>> = messages.read(&mut cursor).collect();
    assert_eq!((all.len(), *all[1].damage, all[0].get()), (2, 2.0, shot(1.0)));
    let ShotRef { who, damage, by } = all[0];
    assert_eq!((*who, *damage, by), (Entity::PLACEHOLDER, 1.0, &None));
    let text = format!("{messages:?}");
    assert!(text.starts_with("Messages { first: 0, live: [ShotRef { who: "), "{text}");
}

// The slices borrow the channel, not the reader.
#[test]
fn slices_may_be_held_while_the_reader_goes_on() {
    let mut world = World::new();
    world.messages_mut().write_batch([1.0, 2.0].map(shot));
    world
        .run_system_once(|mut shots: MessageReader<Shot>| {
            let first = shots.columns();
            let second = shots.columns();
            assert_eq!((first.len(), second.len(), first.get(1).map(|shot| *shot.damage)), (2, 0, Some(2.0)));
        })
        .unwrap();
}

#[test]
fn more_than_twelve_fields_one_field_and_parameters_are_columns_too() {
    #[derive(Message)]
    #[message(layout = "soa")]
    struct Wide<T: Copy> {
        a: T,
        b: u8,
        c: u8,
        d: u8,
        e: u8,
        f: u8,
        g: u8,
        h: u8,
        i: u8,
        j: u8,
        k: u8,
        l: u8,
        m: u8,
        r#type: [T; 2],
    }
    #[derive(Message)]
    #[message(layout = "soa")]
    struct Narrow {
        only: u16,
    }
    let mut world = World::new();
    let (b, c, d, e, f, g, h, i, j, k, l, m) = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    for a in [1.5, 2.5] {
        world.write_message(Wide { a, b, c, d, e, f, g, h, i, j, k, l, m, r#type: [a; 2] });
    }
    world.write_message(Narrow { only: 7 });
    let wide = world.messages::<Wide<f64>>().expect("written").as_columns();
    assert_eq!((wide.a, wide.m, wide.r#type), (&[1.5, 2.5][..], &[12, 12][..], &[[1.5; 2], [2.5; 2]][..]));
    assert_eq!(world.messages::<Narrow>().expect("written").as_columns().only, [7]);
}
