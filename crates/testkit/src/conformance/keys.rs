//! Keys: any bytes are one, and no two are mixed up.

use std::time::Duration;

use gorl_core::Strategy;

use super::failure::Failure;
use super::harness::{Harness, OwnedKey, OwnedPart};

/// Bytes that have broken stores: empty, control characters, no UTF-8, two spellings of one
/// letter, what databases and patterns treat as special, and a mebibyte.
fn odd_bytes() -> Vec<Vec<u8>> {
    let mut odd: Vec<Vec<u8>> = [
        "",
        "\0",
        "\0\0",
        "\n",
        "\r\n",
        " ",
        "\t",
        "🚦",
        "\u{e9}",
        "e\u{301}",
        "*",
        "{a}",
        "a:b",
        "%00",
        "'; DROP TABLE",
        "../..",
        "\u{202e}",
        "\u{feff}",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect();
    odd.extend([vec![0xff], vec![0xff; 16], vec![0xc3, 0x28], vec![b'x'; 1 << 20]]);
    let mut nearly_the_same = vec![b'x'; 1 << 20];
    nearly_the_same[(1 << 20) - 1] = b'y';
    odd.push(nearly_the_same);
    odd
}

/// Each odd key, alone and as a part, has a budget of its own: one, and no more.
pub(super) fn odd_keys(harness: &Harness<'_>) -> Result<(), Box<Failure>> {
    for strategy in Strategy::ALL {
        let policy = harness.policy(strategy, 1, Duration::from_secs(60));
        let base = harness.key(strategy.as_str());
        let alone = odd_bytes().into_iter().map(|odd| OwnedKey::of([OwnedPart::bytes(odd)]));
        let parts = odd_bytes().into_iter().map(|odd| base.with([OwnedPart::bytes(odd)]));
        let keys: Vec<OwnedKey> = alone.chain(parts).collect();
        let mut trial = harness.round_trial(&policy);
        // Without a namespace these keys may be left over from the strategy before.
        for key in &keys {
            harness.forget(key)?;
        }
        trial.wait(u128::from(policy.window_ticks()) * 3);
        for allowed in [true, false] {
            for key in &keys {
                let seen = trial.take(&policy, key, 1)?.map(|figures| figures.allowed);
                trial.expect("one each", &Some(allowed), &seen)?;
            }
        }
    }
    Ok(())
}

/// Keys that a careless encoding would mix up.
pub(super) fn separation(harness: &Harness<'_>) -> Result<(), Box<Failure>> {
    let bytes = |parts: &[&str]| parts.iter().map(OwnedPart::bytes).collect::<Vec<_>>();
    let v4 = [1, 2, 3, 4].into();
    let mapped = std::net::Ipv4Addr::new(1, 2, 3, 4).to_ipv6_mapped().into();
    let pairs = [
        (bytes(&["a:b", "c"]), bytes(&["a", "b:c"])),
        (bytes(&["ab", "c"]), bytes(&["a", "bc"])),
        (bytes(&["abc"]), bytes(&["ab", "c"])),
        (bytes(&["a", ""]), bytes(&["", "a"])),
        (bytes(&["a"]), bytes(&["a", ""])),
        (bytes(&["a\0b"]), bytes(&["a", "b"])),
        (bytes(&["a", "b"]), bytes(&["b", "a"])),
        (bytes(&["a"]), bytes(&["A"])),
        (bytes(&["a"]), bytes(&["a "])),
        (bytes(&["5"]), vec![OwnedPart::Unsigned(5)]),
        (vec![OwnedPart::Unsigned(5)], vec![OwnedPart::Negative(5)]),
        (vec![OwnedPart::Unsigned(1)], vec![OwnedPart::Unsigned(1 << 64)]),
        (bytes(&["\u{5}"]), vec![OwnedPart::Unsigned(5)]),
        (bytes(&["1.2.3.4"]), vec![OwnedPart::Ip(v4)]),
        (vec![OwnedPart::Ip(mapped)], vec![OwnedPart::Ip(v4)]),
        (vec![OwnedPart::Unsigned(0x0102_0304)], vec![OwnedPart::Ip(v4)]),
    ];
    for strategy in Strategy::ALL {
        let policy = harness.policy(strategy, 2, Duration::from_secs(60));
        for (index, (left, right)) in pairs.iter().enumerate() {
            let base = harness.key(format!("{strategy} {index}"));
            let (left, right) = (base.with(left.clone()), base.with(right.clone()));
            let mut trial = harness.round_trial(&policy);
            for key in [&left, &right, &left, &right, &left, &right] {
                trial.take(&policy, key, 1)?;
            }
        }
    }
    Ok(())
}
