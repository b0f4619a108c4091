//! The two strategies, and pools with many components: the same behaviour, other memory.

use phalanx::pool::Declares;
use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct C<const N: usize>(u64);

#[derive(Pool)]
struct Inline60 {
    f0: C<0>,
    f1: C<1>,
    f2: Option<C<2>>,
    f3: Option<C<3>>,
    f4: Option<C<4>>,
    f5: Option<C<5>>,
    f6: Option<C<6>>,
    f7: Option<C<7>>,
    f8: Option<C<8>>,
    f9: Option<C<9>>,
    f10: Option<C<10>>,
    f11: Option<C<11>>,
    f12: Option<C<12>>,
    f13: Option<C<13>>,
    f14: Option<C<14>>,
    f15: Option<C<15>>,
    f16: Option<C<16>>,
    f17: Option<C<17>>,
    f18: Option<C<18>>,
    f19: Option<C<19>>,
    f20: Option<C<20>>,
    f21: Option<C<21>>,
    f22: Option<C<22>>,
    f23: Option<C<23>>,
    f24: Option<C<24>>,
    f25: Option<C<25>>,
    f26: Option<C<26>>,
    f27: Option<C<27>>,
    f28: Option<C<28>>,
    f29: Option<C<29>>,
    f30: Option<C<30>>,
    f31: Option<C<31>>,
    f32: Option<C<32>>,
    f33: Option<C<33>>,
    f34: Option<C<34>>,
    f35: Option<C<35>>,
    f36: Option<C<36>>,
    f37: Option<C<37>>,
    f38: Option<C<38>>,
    f39: Option<C<39>>,
    f40: Option<C<40>>,
    f41: Option<C<41>>,
    f42: Option<C<42>>,
    f43: Option<C<43>>,
    f44: Option<C<44>>,
    f45: Option<C<45>>,
    f46: Option<C<46>>,
    f47: Option<C<47>>,
    f48: Option<C<48>>,
    f49: Option<C<49>>,
    f50: Option<C<50>>,
    f51: Option<C<51>>,
    f52: Option<C<52>>,
    f53: Option<C<53>>,
    f54: Option<C<54>>,
    f55: Option<C<55>>,
    f56: Option<C<56>>,
    f57: Option<C<57>>,
    f58: Option<C<58>>,
    f59: Option<C<59>>,
}

#[derive(Pool)]
#[pool(storage = "boxed")]
struct Boxed60 {
    f0: C<0>,
    f1: C<1>,
    f2: Option<C<2>>,
    f3: Option<C<3>>,
    f4: Option<C<4>>,
    f5: Option<C<5>>,
    f6: Option<C<6>>,
    f7: Option<C<7>>,
    f8: Option<C<8>>,
    f9: Option<C<9>>,
    f10: Option<C<10>>,
    f11: Option<C<11>>,
    f12: Option<C<12>>,
    f13: Option<C<13>>,
    f14: Option<C<14>>,
    f15: Option<C<15>>,
    f16: Option<C<16>>,
    f17: Option<C<17>>,
    f18: Option<C<18>>,
    f19: Option<C<19>>,
    f20: Option<C<20>>,
    f21: Option<C<21>>,
    f22: Option<C<22>>,
    f23: Option<C<23>>,
    f24: Option<C<24>>,
    f25: Option<C<25>>,
    f26: Option<C<26>>,
    f27: Option<C<27>>,
    f28: Option<C<28>>,
    f29: Option<C<29>>,
    f30: Option<C<30>>,
    f31: Option<C<31>>,
    f32: Option<C<32>>,
    f33: Option<C<33>>,
    f34: Option<C<34>>,
    f35: Option<C<35>>,
    f36: Option<C<36>>,
    f37: Option<C<37>>,
    f38: Option<C<38>>,
    f39: Option<C<39>>,
    f40: Option<C<40>>,
    f41: Option<C<41>>,
    f42: Option<C<42>>,
    f43: Option<C<43>>,
    f44: Option<C<44>>,
    f45: Option<C<45>>,
    f46: Option<C<46>>,
    f47: Option<C<47>>,
    f48: Option<C<48>>,
    f49: Option<C<49>>,
    f50: Option<C<50>>,
    f51: Option<C<51>>,
    f52: Option<C<52>>,
    f53: Option<C<53>>,
    f54: Option<C<54>>,
    f55: Option<C<55>>,
    f56: Option<C<56>>,
    f57: Option<C<57>>,
    f58: Option<C<58>>,
    f59: Option<C<59>>,
}

#[derive(Pool)]
struct Wide {
    f0: C<0>,
    f1: Option<C<1>>,
    f2: Option<C<2>>,
    f3: Option<C<3>>,
    f4: Option<C<4>>,
    f5: Option<C<5>>,
    f6: Option<C<6>>,
    f7: Option<C<7>>,
    f8: Option<C<8>>,
    f9: Option<C<9>>,
    f10: Option<C<10>>,
    f11: Option<C<11>>,
    f12: Option<C<12>>,
    f13: Option<C<13>>,
    f14: Option<C<14>>,
    f15: Option<C<15>>,
    f16: Option<C<16>>,
    f17: Option<C<17>>,
    f18: Option<C<18>>,
    f19: Option<C<19>>,
    f20: Option<C<20>>,
    f21: Option<C<21>>,
    f22: Option<C<22>>,
    f23: Option<C<23>>,
    f24: Option<C<24>>,
    f25: Option<C<25>>,
    f26: Option<C<26>>,
    f27: Option<C<27>>,
    f28: Option<C<28>>,
    f29: Option<C<29>>,
    f30: Option<C<30>>,
    f31: Option<C<31>>,
    f32: Option<C<32>>,
    f33: Option<C<33>>,
    f34: Option<C<34>>,
    f35: Option<C<35>>,
    f36: Option<C<36>>,
    f37: Option<C<37>>,
    f38: Option<C<38>>,
    f39: Option<C<39>>,
    f40: Option<C<40>>,
    f41: Option<C<41>>,
    f42: Option<C<42>>,
    f43: Option<C<43>>,
    f44: Option<C<44>>,
    f45: Option<C<45>>,
    f46: Option<C<46>>,
    f47: Option<C<47>>,
    f48: Option<C<48>>,
    f49: Option<C<49>>,
    f50: Option<C<50>>,
    f51: Option<C<51>>,
    f52: Option<C<52>>,
    f53: Option<C<53>>,
    f54: Option<C<54>>,
    f55: Option<C<55>>,
    f56: Option<C<56>>,
    f57: Option<C<57>>,
    f58: Option<C<58>>,
    f59: Option<C<59>>,
    f60: Option<C<60>>,
    f61: Option<C<61>>,
    f62: Option<C<62>>,
    f63: Option<C<63>>,
    f64: Option<C<64>>,
    f65: Option<C<65>>,
    f66: Option<C<66>>,
    f67: Option<C<67>>,
    f68: Option<C<68>>,
    f69: Option<C<69>>,
}

fn inline60() -> Inline60 {
    Inline60 {
        f0: C(0),
        f1: C(1),
        f2: None,
        f3: None,
        f4: None,
        f5: None,
        f6: None,
        f7: None,
        f8: None,
        f9: None,
        f10: None,
        f11: None,
        f12: None,
        f13: None,
        f14: None,
        f15: None,
        f16: None,
        f17: None,
        f18: None,
        f19: None,
        f20: None,
        f21: None,
        f22: None,
        f23: None,
        f24: None,
        f25: None,
        f26: None,
        f27: None,
        f28: None,
        f29: None,
        f30: None,
        f31: None,
        f32: None,
        f33: None,
        f34: None,
        f35: None,
        f36: None,
        f37: None,
        f38: None,
        f39: None,
        f40: None,
        f41: None,
        f42: None,
        f43: None,
        f44: None,
        f45: None,
        f46: None,
        f47: None,
        f48: None,
        f49: None,
        f50: None,
        f51: None,
        f52: None,
        f53: None,
        f54: None,
        f55: None,
        f56: None,
        f57: None,
        f58: None,
        f59: None,
    }
}

fn boxed60() -> Boxed60 {
    Boxed60 {
        f0: C(0),
        f1: C(1),
        f2: None,
        f3: None,
        f4: None,
        f5: None,
        f6: None,
        f7: None,
        f8: None,
        f9: None,
        f10: None,
        f11: None,
        f12: None,
        f13: None,
        f14: None,
        f15: None,
        f16: None,
        f17: None,
        f18: None,
        f19: None,
        f20: None,
        f21: None,
        f22: None,
        f23: None,
        f24: None,
        f25: None,
        f26: None,
        f27: None,
        f28: None,
        f29: None,
        f30: None,
        f31: None,
        f32: None,
        f33: None,
        f34: None,
        f35: None,
        f36: None,
        f37: None,
        f38: None,
        f39: None,
        f40: None,
        f41: None,
        f42: None,
        f43: None,
        f44: None,
        f45: None,
        f46: None,
        f47: None,
        f48: None,
        f49: None,
        f50: None,
        f51: None,
        f52: None,
        f53: None,
        f54: None,
        f55: None,
        f56: None,
        f57: None,
        f58: None,
        f59: None,
    }
}

fn wide() -> Wide {
    Wide {
        f0: C(0),
        f1: None,
        f2: None,
        f3: None,
        f4: None,
        f5: None,
        f6: None,
        f7: None,
        f8: None,
        f9: None,
        f10: None,
        f11: None,
        f12: None,
        f13: None,
        f14: None,
        f15: None,
        f16: None,
        f17: None,
        f18: None,
        f19: None,
        f20: None,
        f21: None,
        f22: None,
        f23: None,
        f24: None,
        f25: None,
        f26: None,
        f27: None,
        f28: None,
        f29: None,
        f30: None,
        f31: None,
        f32: None,
        f33: None,
        f34: None,
        f35: None,
        f36: None,
        f37: None,
        f38: None,
        f39: None,
        f40: None,
        f41: None,
        f42: None,
        f43: None,
        f44: None,
        f45: None,
        f46: None,
        f47: None,
        f48: None,
        f49: None,
        f50: None,
        f51: None,
        f52: None,
        f53: None,
        f54: None,
        f55: None,
        f56: None,
        f57: None,
        f58: None,
        f59: None,
        f60: None,
        f61: None,
        f62: None,
        f63: None,
        f64: None,
        f65: None,
        f66: None,
        f67: None,
        f68: None,
        f69: None,
    }
}

// Z-018, Z-022, Z-023, Z-036, Z-118: what a record costs follows from the strategy, not from the rows.
#[test]
fn boxed_records_cost_a_quarter_of_inline_ones_where_few_components_are_there() {
    let mut world = World::new();
    let (inline, boxed) = (world.spawn_in(inline60()), world.spawn_in(boxed60()));
    let bytes = |world: &World, name: &str| {
        let stats = world.stats();
        stats.pools.into_iter().find(|pool| pool.name == name).map(|pool| pool.record_bytes).unwrap()
    };
    let (inline_bytes, boxed_bytes) = (bytes(&world, "Inline60")[0], bytes(&world, "Boxed60")[0]);
    assert!(boxed_bytes * 4 < inline_bytes, "{boxed_bytes} of {inline_bytes} bytes");
    world.spawn_batch_in((0..500).map(|_| inline60()));
    world.spawn_batch_in((0..500).map(|_| boxed60()));
    assert_eq!((bytes(&world, "Inline60")[0], bytes(&world, "Boxed60")[0]), (inline_bytes, boxed_bytes));
    // An optional component takes a header in a boxed record; in an inline one it has its place already.
    world.pool_mut::<Inline60>().insert(inline, C::<30>(1)).unwrap();
    world.pool_mut::<Boxed60>().insert(boxed, C::<30>(1)).unwrap();
    let (more_inline, more_boxed) = (bytes(&world, "Inline60")[1], bytes(&world, "Boxed60")[1]);
    assert!(more_boxed > boxed_bytes && more_boxed < more_inline);
    world.check().unwrap();
}

/// The bytes of a header with the size, the drop, the type and the id of its values beside their pointer.
const HEADER: usize = 40;
/// The bytes of a pointer.
const POINTER: usize = 8;

// Z-017, Z-018, Z-022, Z-023: the bytes of a record, exactly.
#[test]
fn a_record_takes_a_header_for_each_declared_component_or_a_pointer_and_those_there_are() {
    let mut world = World::new();
    let (inline, boxed) = (world.spawn_in(inline60()), world.spawn_in(boxed60()));
    world.pool_mut::<Inline60>().insert(inline, (C::<30>(1), C::<31>(1))).unwrap();
    world.pool_mut::<Boxed60>().insert(boxed, (C::<30>(1), C::<31>(1))).unwrap();
    let stats = world.stats();
    let bytes = |name: &str| &stats.pools.iter().find(|pool| pool.name == name).unwrap().record_bytes;
    // Beside either: a list of the columns that are there, two at first and then four.
    assert_eq!(bytes("Inline60"), &[60 * HEADER + 2 * POINTER, 60 * HEADER + 4 * POINTER]);
    assert_eq!(
        bytes("Boxed60"),
        &[60 * POINTER + 2 * (HEADER + POINTER), 60 * POINTER + 4 * (HEADER + POINTER)]
    );
}

// Z-121: the page that recommends a strategy says what is measured here.
#[test]
fn what_is_recommended_follows_from_the_bytes_of_records() {
    let mut world = World::new();
    let (inline, boxed) = (world.spawn_in(inline60()), world.spawn_in(boxed60()));
    world.pool_mut::<Inline60>().insert(inline, C::<30>(1)).unwrap();
    world.pool_mut::<Boxed60>().insert(boxed, C::<30>(1)).unwrap();
    let stats = world.stats();
    let bytes = |name: &str| {
        let records = &stats.pools.iter().find(|pool| pool.name == name).unwrap().record_bytes;
        // With two components and with three: what each one takes that is there, and what each one that is declared.
        let present = records[1] - records[0];
        (present, (records[0] - 2 * present) / 60)
    };
    let ((inline_present, inline_declared), (boxed_present, boxed_declared)) =
        (bytes("Inline60"), bytes("Boxed60"));
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/pools-measured.md");
    let page = std::fs::read_to_string(page).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    let says = |text: &str| assert!(page.contains(text), "the page does not say: {text}");
    says(&format!(
        "inline spends {inline_declared} bytes per declared component and {inline_present} per present one, \
         boxed {boxed_declared} per declared and {boxed_present} per present one"
    ));
    // Where inline and boxed take the same, in tenths of what is declared.
    assert_eq!((inline_declared - boxed_declared) * 10 / (boxed_present - inline_present), 8);
    says("the two meet where four of five are present");
    let of = |present: usize, declared: usize, each: (usize, usize)| present * each.0 + declared * each.1;
    let few = |each| of(2, 60, each);
    assert!(few((boxed_present, boxed_declared)) * 4 < few((inline_present, inline_declared)));
    says("with two of sixty less than a quarter of inline");
    says("| 30 and more, few of them present, many archetypes | boxed: a quarter to a third of the memory |");
}

// Z-034.
#[test]
fn a_mask_takes_eight_bytes_or_sixteen() {
    assert_eq!(size_of_val(&Inline60::REQUIRED), 8);
    assert_eq!(size_of_val(&Wide::REQUIRED), 16);
    let mut world = World::new();
    let narrow = world.spawn_in(inline60());
    let broad = world.spawn_in(wide());
    let bytes = |world: &World| {
        let stats = world.stats();
        let of = |name| stats.pools.iter().find(|pool| pool.name == name).map(|pool| pool.mask_bytes);
        (of("Inline60").unwrap(), of("Wide").unwrap())
    };
    let (few_narrow, few_broad) = bytes(&world);
    assert_eq!((few_narrow % 8, few_broad % 16), (0, 0));
    // Room for masks doubles: with thirty-three archetypes there is room for as many at least, and for twice at most.
    macro_rules! grow {
        ($($n:literal)*) => { $(
            world.insert(narrow, C::<$n>(1)).unwrap();
            world.insert(broad, C::<$n>(1)).unwrap();
        )* };
    }
    grow!(2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33);
    let (narrow, broad) = bytes(&world);
    assert!((33 * 8..=66 * 8).contains(&narrow), "{narrow}");
    assert!((33 * 16..=66 * 16).contains(&broad), "{broad}");
}

// Z-019, Z-024, Z-060, Z-065, Z-076: one program, two strategies, the same world.
#[test]
fn both_strategies_behave_alike() {
    let mut world = World::new();
    let inline: Vec<Entity> = world.spawn_batch_in((0..20).map(|_| inline60())).collect();
    let boxed: Vec<Entity> = world.spawn_batch_in((0..20).map(|_| boxed60())).collect();
    for (n, (&i, &b)) in (0..).zip(inline.iter().zip(&boxed)) {
        world.insert(i, (C::<0>(n), C::<59>(n))).unwrap();
        world.insert(b, (C::<0>(n), C::<59>(n))).unwrap();
        if n % 3 == 0 {
            world.remove::<C<59>>(i).unwrap();
            world.remove::<C<59>>(b).unwrap();
        }
        if n % 7 == 6 {
            world.despawn(i);
            world.despawn(b);
        }
    }
    fn rows<P: Pool + Declares<C<0>> + Declares<C<59>>>(world: &World) -> Vec<(u64, Option<u64>)> {
        let query = world.pool::<P>().query::<(&C<0>, Option<&C<59>>)>();
        query.iter().map(|(zero, last)| (zero.0, last.map(|last| last.0))).collect()
    }
    assert_eq!(rows::<Inline60>(&world), rows::<Boxed60>(&world));
    assert_eq!(rows::<Inline60>(&world).len(), 18);
    world.check().unwrap();
}

// Z-034, Z-090: more than 64 components need wide masks, and nothing else changes.
#[test]
fn masks_of_more_than_64_components_are_wide() {
    const REQUIRED: u128 = Wide::REQUIRED;
    assert_eq!((REQUIRED, Wide::DECLARED.count_ones()), (1, 70));
    assert_eq!(<Wide as Declares<C<69>>>::SLOT, 69);
    let mut world = World::new();
    let entity = world.spawn_in(Wide { f64: Some(C(1)), f69: Some(C(2)), ..wide() });
    let other = world.spawn_in(Wide { f69: Some(C(3)), ..wide() });
    world.spawn_in(wide());
    assert_eq!(world.get::<C<69>>(entity), Some(&C(2)));
    let high: Vec<Entity> = world.view_filtered::<Entity, (InPool<Wide>, With<C<69>>)>().iter().collect();
    assert_eq!(high, [entity, other]);
    assert_eq!(world.view_filtered::<Entity, (InPool<Wide>, With<C<69>>, Without<C<64>>)>().count(), 1);
    world.pool_mut::<Wide>().remove::<C<64>>(entity).unwrap();
    assert_eq!(world.archetype_of(entity), world.archetype_of(other));
    let stats = world.stats();
    assert!(stats.pools[1].mask_bytes >= 3 * size_of::<u128>());
    world.check().unwrap();
}
