//! Whose address a request has, behind proxies that are known and trusted.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

use crate::forwarded::{Hop, address, forwarded, x_forwarded_for};
use crate::view::RequestView;

/// How a client's address is found.
///
/// By default it is the peer's, and no header is believed: anybody can send one. Behind a proxy
/// every request has the proxy's address, so say which proxies there are:
///
/// ```
/// use gorl_http::ClientIp;
///
/// let client = ClientIp::behind(["10.0.0.0/8", "2001:db8:1::/48"])?;
/// # Ok::<(), gorl_http::NotANetwork>(())
/// ```
///
/// Then the proxies' reports are read from the nearest on: the client is the first address that is
/// not a trusted proxy's. What a client adds to the report itself stands behind that and is never
/// read. If a trusted proxy reports something that is no address, that proxy counts as the client:
/// such requests share its count, and nobody escapes by it.
///
/// # Addresses
///
/// Of an IPv6 address the first 64 bits count, since a household has at least so many addresses;
/// [`ipv6_prefix`](Self::ipv6_prefix) sets another length. An IPv4 address that is written as an
/// IPv6 address is the IPv4 address. Ports never count.
#[derive(Clone, Debug)]
pub struct ClientIp {
    trust: Trust,
    report: Report,
    ipv4_prefix: u8,
    ipv6_prefix: u8,
}

#[derive(Clone, Debug)]
enum Trust {
    Nobody,
    Networks(Vec<IpNet>),
    Hops(usize),
}

/// Where proxies report whom they speak for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Report {
    XForwardedFor,
    Forwarded,
    /// A header with one address, which the proxy sets whatever the client sent.
    Single(String),
}

/// A text that should be a network is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a network; write an address, or one with a prefix such as 10.0.0.0/8")]
pub struct NotANetwork(String);

/// What a household gets at least.
const IPV6_PREFIX: u8 = 64;

impl ClientIp {
    /// The peer's own address.
    #[must_use]
    pub const fn peer() -> Self {
        Self {
            trust: Trust::Nobody,
            report: Report::XForwardedFor,
            ipv4_prefix: 32,
            ipv6_prefix: IPV6_PREFIX,
        }
    }

    /// The address that proxies in these networks report: addresses, or networks such as
    /// `10.0.0.0/8`.
    ///
    /// # Errors
    ///
    /// If one of them is no network.
    pub fn behind<'a>(networks: impl IntoIterator<Item = &'a str>) -> Result<Self, NotANetwork> {
        let trust = Trust::Networks(networks_of(networks)?);
        Ok(Self { trust, ..Self::peer() })
    }

    /// The address that the outermost of so many proxies reports, where their addresses are not
    /// known in advance. With 1 it is the last that is reported.
    ///
    /// This believes that every request has come through all of them: see to it that the service
    /// cannot be reached otherwise. With 0 it is the peer's.
    #[must_use]
    pub fn behind_hops(proxies: usize) -> Self {
        Self { trust: Trust::Hops(proxies), ..Self::peer() }
    }

    /// Reads the standard's `Forwarded` (RFC 7239) in place of `X-Forwarded-For`.
    ///
    /// Only one of them is ever read. A proxy that sets one passes on what the client wrote in the
    /// other.
    #[must_use]
    pub fn by_forwarded(mut self) -> Self {
        self.report = Report::Forwarded;
        self
    }

    /// Reads one address from a header that the nearest proxy sets, such as `CF-Connecting-IP`,
    /// `True-Client-IP` or `X-Real-IP`.
    #[must_use]
    pub fn by_header(mut self, name: &str) -> Self {
        self.report = Report::Single(name.to_ascii_lowercase());
        self
    }

    /// How many leading bits of an IPv6 address count, 128 at most. The default is 64.
    #[must_use]
    pub const fn ipv6_prefix(mut self, bits: u8) -> Self {
        self.ipv6_prefix = if bits > 128 { 128 } else { bits };
        self
    }

    /// How many leading bits of an IPv4 address count, 32 at most. The default is 32.
    #[must_use]
    pub const fn ipv4_prefix(mut self, bits: u8) -> Self {
        self.ipv4_prefix = if bits > 32 { 32 } else { bits };
        self
    }

    /// The client's address, whole. `None` if the server does not tell the peer's.
    pub fn address(&self, view: &dyn RequestView) -> Option<IpAddr> {
        let peer = view.peer()?.to_canonical();
        Some(match &self.trust {
            Trust::Nobody | Trust::Hops(0) => peer,
            Trust::Networks(networks) => {
                let is_trusted =
                    |address: IpAddr| networks.iter().any(|network| network.contains(&address));
                self.first_untrusted(view, peer, is_trusted)
            }
            Trust::Hops(hops) => {
                let mut left = *hops;
                // The peer is the first of them.
                self.first_untrusted(view, peer, |_| {
                    let is_one = left > 0;
                    left = left.saturating_sub(1);
                    is_one
                })
            }
        })
    }

    /// The part of the client's address that counts.
    pub fn network(&self, view: &dyn RequestView) -> Option<IpAddr> {
        self.address(view).map(|address| self.network_of(address))
    }

    /// The leading bits that count of an address, the rest zero.
    #[must_use]
    pub fn network_of(&self, address: IpAddr) -> IpAddr {
        match address.to_canonical() {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.ipv4_prefix)).unwrap_or(0);
                IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & mask))
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.ipv6_prefix)).unwrap_or(0);
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
            }
        }
    }

    /// Goes from the peer outwards for as long as who is there is trusted.
    fn first_untrusted(
        &self,
        view: &dyn RequestView,
        peer: IpAddr,
        mut is_trusted: impl FnMut(IpAddr) -> bool,
    ) -> IpAddr {
        if !is_trusted(peer) {
            return peer;
        }
        let mut client = peer;
        let mut follow = |hops: &mut dyn Iterator<Item = Hop>| {
            for hop in hops {
                let Some(address) = hop else { return true };
                client = address;
                if !is_trusted(address) {
                    return true;
                }
            }
            false
        };
        let mut lines: smallvec::SmallVec<[smallvec::SmallVec<[u8; 64]>; 2]> =
            smallvec::SmallVec::new();
        let name = match &self.report {
            Report::XForwardedFor => "x-forwarded-for",
            Report::Forwarded => "forwarded",
            Report::Single(name) => name,
        };
        view.visit_header(name, &mut |line| lines.push(line.into()));
        if let Report::Single(_) = self.report {
            // More than one line is not what such a proxy sends.
            if let [line] = &*lines
                && let Some(address) = std::str::from_utf8(line).ok().and_then(address)
            {
                return address;
            }
            return peer;
        }
        for line in lines.iter().rev() {
            let ended = match self.report {
                Report::Forwarded => follow(&mut forwarded(line)),
                _ => follow(&mut x_forwarded_for(line)),
            };
            if ended {
                break;
            }
        }
        client
    }
}

impl Default for ClientIp {
    fn default() -> Self {
        Self::peer()
    }
}

/// Networks, from addresses and from networks as they are usually written.
pub(crate) fn networks_of<'a>(
    texts: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<IpNet>, NotANetwork> {
    let network = |text: &str| {
        let trimmed = text.trim();
        let network = trimmed.parse::<IpNet>().ok();
        let network = network.or_else(|| trimmed.parse::<IpAddr>().ok().map(IpNet::from));
        network.map(canonical).ok_or_else(|| NotANetwork(text.to_owned()))
    };
    texts.into_iter().map(network).collect()
}

/// A network of mapped IPv4 addresses as the IPv4 network: addresses are compared in that form.
fn canonical(network: IpNet) -> IpNet {
    if let IpNet::V6(v6) = network
        && let Some(address) = v6.addr().to_ipv4_mapped()
        && let Some(bits) = v6.prefix_len().checked_sub(96)
        && let Ok(v4) = ipnet::Ipv4Net::new(address, bits)
    {
        return IpNet::V4(v4);
    }
    network
}

#[cfg(test)]
mod tests {
    use super::ClientIp;
    use crate::view::test::Asked;

    fn client(client: &ClientIp, asked: &Asked) -> String {
        client.address(asked).expect("a peer").to_string()
    }

    #[test]
    fn r93_nobody_is_believed_by_default() {
        let asked = Asked::from("10.0.0.1")
            .with("x-forwarded-for", "1.2.3.4")
            .with("forwarded", "for=1.2.3.4")
            .with("x-real-ip", "1.2.3.4");
        assert_eq!(client(&ClientIp::peer(), &asked), "10.0.0.1");
    }

    #[test]
    fn the_first_that_is_not_trusted_is_the_client() {
        let trusting = ClientIp::behind(["10.0.0.0/8", "192.0.2.1"]).expect("networks");
        for (peer, report, expected) in [
            ("10.0.0.1", "1.1.1.1, 203.0.113.7", "203.0.113.7"),
            ("10.0.0.1", "1.1.1.1, 203.0.113.7, 192.0.2.1, 10.9.9.9", "203.0.113.7"),
            ("198.51.100.1", "203.0.113.7", "198.51.100.1"),
            ("::ffff:10.0.0.1", "203.0.113.7:99", "203.0.113.7"),
            // Somebody within: all that is known is trusted.
            ("10.0.0.1", "10.0.0.2, 10.0.0.3", "10.0.0.2"),
            ("10.0.0.1", "", "10.0.0.1"),
            ("10.0.0.1", "203.0.113.7, unknown", "10.0.0.1"),
            ("10.0.0.1", "203.0.113.7, unknown, 10.0.0.5", "10.0.0.5"),
        ] {
            let asked = Asked::from(peer).with("x-forwarded-for", report);
            assert_eq!(client(&trusting, &asked), expected, "{peer} {report}");
        }
        assert_eq!(client(&trusting, &Asked::from("10.0.0.1")), "10.0.0.1");
    }

    #[test]
    fn several_lines_are_one_list() {
        let trusting = ClientIp::behind(["10.0.0.0/8"]).expect("networks");
        let asked = Asked::from("10.0.0.1")
            .with("x-forwarded-for", "1.1.1.1")
            .with("x-forwarded-for", "203.0.113.7, 10.0.0.2")
            .with("x-forwarded-for", "10.0.0.3");
        assert_eq!(client(&trusting, &asked), "203.0.113.7");
    }

    #[test]
    fn hops_are_counted_from_the_peer() {
        let asked = Asked::from("10.0.0.1").with("x-forwarded-for", "1.1.1.1, 2.2.2.2, 3.3.3.3");
        for (hops, expected) in
            [(0, "10.0.0.1"), (1, "3.3.3.3"), (2, "2.2.2.2"), (3, "1.1.1.1"), (9, "1.1.1.1")]
        {
            assert_eq!(client(&ClientIp::behind_hops(hops), &asked), expected, "{hops}");
        }
    }

    #[test]
    fn only_the_header_that_was_chosen_is_read() {
        let asked = Asked::from("10.0.0.1")
            .with("x-forwarded-for", "1.1.1.1")
            .with("forwarded", "for=2.2.2.2")
            .with("cf-connecting-ip", "3.3.3.3");
        let trusting = ClientIp::behind(["10.0.0.0/8"]).expect("networks");
        assert_eq!(client(&trusting, &asked), "1.1.1.1");
        assert_eq!(client(&trusting.clone().by_forwarded(), &asked), "2.2.2.2");
        let single = trusting.by_header("CF-Connecting-IP");
        assert_eq!(client(&single, &asked), "3.3.3.3");
        let twice = asked.with("cf-connecting-ip", "4.4.4.4");
        assert_eq!(client(&single, &twice), "10.0.0.1");
    }

    #[test]
    fn r97_addresses_of_a_network_are_one_and_the_next_is_another() {
        let network = |client: ClientIp, text: &str| {
            client.network(&Asked::from(text)).expect("a peer").to_string()
        };
        assert_eq!(network(ClientIp::peer(), "2001:db8:0:1:ffff::9"), "2001:db8:0:1::");
        assert_eq!(network(ClientIp::peer(), "2001:db8:0:2::9"), "2001:db8:0:2::");
        assert_eq!(network(ClientIp::peer().ipv6_prefix(48), "2001:db8:0:2::9"), "2001:db8::");
        assert_eq!(network(ClientIp::peer().ipv6_prefix(128), "2001:db8::9"), "2001:db8::9");
        assert_eq!(network(ClientIp::peer().ipv6_prefix(0), "2001:db8::9"), "::");
        assert_eq!(network(ClientIp::peer(), "::ffff:203.0.113.7"), "203.0.113.7");
        assert_eq!(network(ClientIp::peer().ipv4_prefix(24), "203.0.113.7"), "203.0.113.0");
        assert_eq!(network(ClientIp::peer().ipv4_prefix(0), "203.0.113.7"), "0.0.0.0");
    }

    #[test]
    fn what_is_no_network_is_named() {
        for text in ["", "10.0.0.0/33", "10.0.0", "example.org", "10.0.0.0/8 "] {
            let built = ClientIp::behind(["192.0.2.0/24", text]);
            match built {
                Ok(_) => assert_eq!(text.trim(), "10.0.0.0/8"),
                Err(error) => assert!(error.to_string().contains(&format!("\"{text}\""))),
            }
        }
    }

    #[test]
    fn a_mapped_network_is_the_network_of_version_4() {
        let trusting = ClientIp::behind(["::ffff:10.0.0.0/104"]).expect("a network");
        let asked = Asked::from("10.0.0.1").with("x-forwarded-for", "203.0.113.7");
        assert_eq!(client(&trusting, &asked), "203.0.113.7");
    }
}
