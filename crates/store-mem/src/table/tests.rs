//! The table against a map, in few groups and with keys that crowd into the same ones.

use std::collections::HashMap;

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use super::*;

/// Keys that a test knows, more than the largest table has slots.
const KEYS: u64 = 60;

const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/proptest-regressions/table.txt");

#[derive(Clone, Debug)]
enum Op {
    Put(u64),
    Set(u64, u32),
    Remove(u64),
}

/// A fingerprint whose home is the first group, the last one or one between. Neighbours agree in
/// one of the two words, so that it takes both to tell them apart.
fn print(key: u64) -> Fingerprint {
    let base = match key % 4 {
        0 => 0,
        1 | 2 => u64::MAX - (1 << 20),
        _ => u64::MAX / 2,
    };
    let [place, rest] = if key < KEYS / 2 { [key / 8, key] } else { [key, key / 8] };
    Fingerprint { place: (base + 2 * place) | 1, rest: (rest + 1) << SHARD_BITS | key }
}

/// Puts come first in a story's choice, so that tables fill up.
fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        4 => (0..KEYS).prop_map(Op::Put),
        1 => (0..KEYS, any::<u32>()).prop_map(|(key, count)| Op::Set(key, count)),
        3 => (0..KEYS).prop_map(Op::Remove),
    ];
    prop::collection::vec(op, 0..200)
}

fn entry(key: u64, count: u32) -> Entry {
    let policy = PolicyId::try_from(key * 1_000).expect("the keys are few");
    Entry::new(print(key), policy, State { at: key, a: count, b: !count })
}

/// Does one step on both, and returns whether the table had room where it was needed.
fn apply(table: &mut Table, map: &mut HashMap<u64, Entry>, op: &Op) {
    match *op {
        Op::Put(key) if !map.contains_key(&key) => {
            let slot = table.put(entry(key, 0));
            assert_eq!(slot.is_some(), map.len() < table.slots(), "only a full table has no room");
            if slot.is_some() {
                map.insert(key, entry(key, 0));
            }
        }
        Op::Set(key, count) if map.contains_key(&key) => {
            let slot = table.find(print(key)).expect("the map has it");
            table.set(slot, entry(key, count));
            map.insert(key, entry(key, count));
        }
        Op::Remove(key) if map.remove(&key).is_some() => {
            let slot = table.find(print(key)).expect("the map has it");
            table.remove(slot);
        }
        _ => {}
    }
}

fn assert_same(table: &Table, map: &HashMap<u64, Entry>) {
    assert_eq!(table.len(), map.len());
    for key in 0..KEYS {
        let found = table.find(print(key)).map(|slot| table.entry(slot));
        assert_eq!(found.as_ref(), map.get(&key), "key {key}");
    }
    let seen: usize = (0..table.groups()).map(|group| table.group(group).count()).sum();
    assert_eq!(seen, map.len(), "an entry lies behind an empty slot of its group, or twice");
}

fn config() -> ProptestConfig {
    let long = std::env::var("GORL_LONG").is_ok_and(|value| value == "1");
    ProptestConfig {
        cases: if long { 100_000 } else { 1_000 },
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(SEEDS))),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_table_holds_what_a_map_holds(slots in 1..25_usize, ops in ops()) {
        let mut table = Table::with_slots(slots);
        let mut map = HashMap::new();
        for op in &ops {
            apply(&mut table, &mut map, op);
            assert_same(&table, &map);
        }
        // What has been removed leaves nothing behind that a later search would walk over.
        for key in 0..KEYS {
            apply(&mut table, &mut map, &Op::Remove(key));
            assert_same(&table, &map);
        }
        prop_assert!(table.words.iter().all(|word| *word == 0));
    }
}

#[test]
fn a_full_table_refuses_one_more_and_is_searched_to_an_end() {
    let mut table = Table::with_slots(8);
    for key in 0..8 {
        assert!(table.put(entry(key, 1)).is_some());
    }
    assert_eq!(table.put(entry(8, 1)), None);
    assert_eq!(table.find(print(8)), None);
    for key in 0..8 {
        assert!(table.find(print(key)).is_some());
    }
}

#[test]
fn a_table_without_slots_is_empty() {
    let mut table = Table::with_slots(0);
    assert_eq!((table.len(), table.slots(), table.bytes()), (0, 0, 0));
    assert_eq!(table.find(print(1)), None);
    assert_eq!(table.put(entry(1, 1)), None);
}

#[test]
fn groups_lie_on_pairs_of_cache_lines() {
    for slots in [1, 4, 5, 1_000] {
        let table = Table::with_slots(slots);
        let address = table.words[table.start..].as_ptr() as usize;
        assert_eq!(address % GROUP_BYTES, 0);
        assert!(table.slots() >= slots && table.slots() < slots + GROUP);
    }
}
