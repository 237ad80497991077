//! Keys: any bytes are one, and no two are mixed up.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use gorl::{Key, Limiter, Policy};
use gorl_core::Strategy;

/// A limiter that admits one to each key.
fn one_each(strategy: Strategy) -> Limiter {
    Limiter::new(Policy::new(strategy, 1, Duration::from_secs(3_600)).expect("a policy"))
}

fn once(limiter: &Limiter, key: impl Key + Copy) {
    assert!(limiter.check(key).is_allowed());
    assert!(!limiter.check(key).is_allowed());
}

#[test]
fn r89_parts_are_not_glued_and_kinds_are_told_apart() {
    for strategy in Strategy::ALL {
        let limiter = one_each(strategy);
        once(&limiter, ("a:b", "c"));
        once(&limiter, ("a", "b:c"));
        once(&limiter, ("ab", "c"));
        once(&limiter, ("a", "bc"));
        once(&limiter, "abc");
        once(&limiter, ("a", "b", "c"));
        once(&limiter, IpAddr::V4(Ipv4Addr::new(1, 2, 3, 4)));
        once(&limiter, "1.2.3.4");
        once(&limiter, Ipv4Addr::new(1, 2, 3, 4).to_ipv6_mapped());
        once(&limiter, 5_u64);
        once(&limiter, "5");
        once(&limiter, -5_i64);
        assert_eq!(limiter.len(), 12);
    }
}

#[test]
fn r89_one_address_in_its_two_types_is_one_key() {
    let limiter = one_each(Strategy::FixedWindow);
    let address = Ipv4Addr::new(1, 2, 3, 4);
    assert!(limiter.check(address).is_allowed());
    assert!(!limiter.check(IpAddr::V4(address)).is_allowed());
}

#[test]
fn r91_odd_keys_are_keys() {
    let long = vec![b'x'; 1 << 20];
    let odd: [&[u8]; 10] = [
        b"",
        b"\0",
        b"\n",
        b" ",
        &[0xff; 8],
        "🚦".as_bytes(),
        "\u{e9}".as_bytes(),
        "e\u{301}".as_bytes(),
        &long,
        &long[1..],
    ];
    for strategy in Strategy::ALL {
        let limiter = one_each(strategy);
        for key in odd {
            once(&limiter, key);
        }
        assert_eq!(limiter.len(), odd.len());
    }
}
