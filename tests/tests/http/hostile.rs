//! Fields that nobody should send: they break nothing, open nothing, and reach nobody else's count.

use gorl_http::ClientIp;

use super::{Adaptor, Connection, Keyed, Setup};

/// Reports of whom a request is from, none of which a proxy would write.
fn inventions() -> Vec<Vec<u8>> {
    let mut inventions: Vec<Vec<u8>> = [
        "",
        ",",
        ",,,,",
        " ",
        "unknown",
        "_gazonk",
        "\"",
        "\"\"\"",
        "for=",
        "for=\"",
        "[::1",
        "::1]",
        "[]",
        "999.1.1.1",
        "1.2.3",
        "1.2.3.4.5",
        "0x7f.1",
        "2130706433",
        "127.1",
        "localhost",
        "::ffff:999.1.1.1",
        "fe80::1%eth0",
        "1.2.3.4:99999",
        "1.2.3.4:",
        "[::1]:x",
        "1.2.3.4;5.6.7.8",
        "NaN",
        "-1",
        "%31.2.3.4",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect();
    inventions.push(vec![0xff, 0xfe, 0xc3, 0x28]);
    inventions.push("１.２.３.４".as_bytes().to_vec());
    inventions.push(b"1.1.1.1, ".repeat(700));
    inventions.push(vec![b'a'; 7_000]);
    inventions.push(vec![b','; 7_000]);
    inventions.push(b"\"".repeat(3_001));
    inventions
}

#[test]
fn what_a_client_invents_is_counted_for_the_client() {
    for adaptor in Adaptor::ALL {
        for by_standard in [false, true] {
            let name = if by_standard { "forwarded" } else { "x-forwarded-for" };
            let mut behind = ClientIp::behind(["127.0.0.1"]).expect("a network");
            if by_standard {
                behind = behind.by_forwarded();
            }
            let setup = Setup::fixed(1_000).by(Keyed::Client(behind));
            let server = adaptor.serve(&setup);
            let real = if by_standard { "for=203.0.113.7" } else { "203.0.113.7" };
            let mut left = 1_000;
            for invention in inventions() {
                // The nearest proxy adds whom it speaks for, to the line or as another.
                let mut line = invention.clone();
                line.extend_from_slice(format!(", {real}").as_bytes());
                for fields in
                    [vec![(name, &*line)], vec![(name, &*invention), (name, real.as_bytes())]]
                {
                    let response = Connection::open(server.address).ask("GET", "/", &fields);
                    left -= 1;
                    assert_eq!(response.status, 200, "{adaptor:?} {invention:?}");
                    let remaining = response.number("ratelimit-remaining");
                    assert_eq!(remaining, left, "{adaptor:?} {:?}", String::from_utf8_lossy(&line));
                }
            }
        }
    }
}

#[test]
fn what_is_no_address_at_all_is_counted_for_the_proxy() {
    for adaptor in Adaptor::ALL {
        let behind = ClientIp::behind(["127.0.0.1"]).expect("a network");
        let server = adaptor.serve(&Setup::fixed(3).by(Keyed::Client(behind)));
        let reports = ["unknown", "é", "", "1.2.3", "_x"];
        let statuses = reports.map(|report| {
            let fields: [(&str, &[u8]); 1] = [("x-forwarded-for", report.as_bytes())];
            Connection::open(server.address).ask("GET", "/", &fields).status
        });
        assert_eq!(statuses, [200, 200, 200, 429, 429]);
    }
}

#[test]
fn odd_keys_have_a_budget_each() {
    for adaptor in Adaptor::ALL {
        let server = adaptor.serve(&Setup::fixed(1).by(Keyed::ApiKey));
        for invention in inventions().into_iter().filter(|key| !key.is_empty() && **key != b" "[..])
        {
            let ask = || {
                let fields: [(&str, &[u8]); 1] = [("x-api-key", &invention)];
                Connection::open(server.address).ask("GET", "/", &fields).status
            };
            assert_eq!([ask(), ask()], [200, 429], "{adaptor:?} {invention:?}");
        }
    }
}
