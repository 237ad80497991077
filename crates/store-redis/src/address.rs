//! Where servers are: URLs for every topology, and the addresses that servers tell.

use gorl_core::StoreErrorKind;
use redis::{Client, ConnectionAddr, IntoConnectionInfo, ProtocolVersion};

use crate::failure::Failure;

/// A host and a port.
pub(crate) type Address = (String, u16);

/// What a URL names.
pub(crate) enum Place {
    /// One server.
    Server(Client),
    /// The master that sentinels agree on.
    Sentinels { at: Vec<Address>, master: String, nodes: Node },
    /// A cluster, of which some nodes are known.
    Cluster { at: Vec<Address>, nodes: Node },
}

/// How nodes are reached whose address is told by others: all but that address.
#[derive(Clone)]
pub(crate) struct Node {
    /// `redis` or `rediss`.
    scheme: &'static str,
    /// What stands before the host, with its `@`, as the URL had it.
    credentials: String,
    /// What stands after it, with its slash.
    database: String,
    certificates: Certificates,
}

/// PEM files for TLS, if they are not those of the system.
#[derive(Clone, Default)]
pub(crate) struct Certificates {
    #[cfg(feature = "tls")]
    pub(crate) authority: Option<Vec<u8>>,
    /// Certificate and key by which the client shows who it is.
    #[cfg(feature = "tls")]
    pub(crate) client: Option<(Vec<u8>, Vec<u8>)>,
}

pub(crate) const REDIS_PORT: u16 = 6_379;
pub(crate) const SENTINEL_PORT: u16 = 26_379;

/// Reads a URL. What is wrong with one is not repeated: it may hold a password.
pub(crate) fn place(url: &str, certificates: Certificates) -> Result<Place, Failure> {
    let Some((scheme, rest)) = url.split_once("://") else {
        return server(url, &certificates);
    };
    let (kind, encrypted) = match scheme {
        "redis+sentinel" | "redis+cluster" => (scheme, "redis"),
        "rediss+sentinel" | "rediss+cluster" => (scheme, "rediss"),
        _ => return server(url, &certificates),
    };
    let (credentials, rest) = match rest.rsplit_once('@') {
        Some((credentials, rest)) => (format!("{credentials}@"), rest),
        None => (String::new(), rest),
    };
    let (hosts, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut node = Node { scheme: encrypted, credentials, database: String::new(), certificates };
    if kind.ends_with("cluster") {
        if !matches!(path, "" | "0") {
            return Err(wrong("a cluster has no database but 0"));
        }
        return Ok(Place::Cluster { at: addresses(hosts, REDIS_PORT)?, nodes: node.checked()? });
    }
    let (master, database) = path.split_once('/').unwrap_or((path, ""));
    if master.is_empty() {
        return Err(wrong(
            "the URL must name the master: redis+sentinel://HOST[:PORT],…/MASTER[/DB]",
        ));
    }
    node.database = format!("/{database}");
    let at = addresses(hosts, SENTINEL_PORT)?;
    Ok(Place::Sentinels { at, master: master.to_owned(), nodes: node.checked()? })
}

fn server(url: &str, certificates: &Certificates) -> Result<Place, Failure> {
    open(url, certificates).map(Place::Server)
}

/// A client that speaks RESP3, in which the end of a connection is told at once.
fn open(url: &str, certificates: &Certificates) -> Result<Client, Failure> {
    let info = url.into_connection_info().map_err(|_| wrong(URL_EXPECTED))?;
    let redis = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
    let info = info.set_redis_settings(redis);
    if matches!(info.addr(), ConnectionAddr::TcpTls { .. }) {
        return with_tls(info, certificates);
    }
    Client::open(info).map_err(|_| wrong(URL_EXPECTED))
}

#[cfg(feature = "tls")]
fn with_tls(info: redis::ConnectionInfo, certificates: &Certificates) -> Result<Client, Failure> {
    use redis::{ClientTlsConfig, TlsCertificates};
    // Where a program has several providers or none, making a configuration panics unless one was
    // named. If one was, it stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let Certificates { authority, client } = certificates.clone();
    let of_client = client.as_ref().map(|(certificate, _)| certificate);
    if [authority.as_ref(), of_client].into_iter().flatten().any(|pem| !is_certificate(pem)) {
        return Err(wrong(
            "a certificate must be given as PEM, as in `-----BEGIN CERTIFICATE-----`",
        ));
    }
    let client_tls =
        client.map(|(client_cert, client_key)| ClientTlsConfig { client_cert, client_key });
    let made = Client::build_with_tls(info, TlsCertificates { client_tls, root_cert: authority });
    made.map_err(|error| {
        Failure::new(StoreErrorKind::Other, format!("the certificates cannot be used: {error}"))
    })
}

#[cfg(feature = "tls")]
fn is_certificate(pem: &[u8]) -> bool {
    let begins = b"-----BEGIN CERTIFICATE-----";
    pem.windows(begins.len()).any(|bytes| bytes == begins)
}

#[cfg(not(feature = "tls"))]
fn with_tls(_: redis::ConnectionInfo, _: &Certificates) -> Result<Client, Failure> {
    let message = "this build has no TLS: enable the feature `tls` of gorl-store-redis, or \
                   `redis-tls` of gorl";
    Err(Failure::new(StoreErrorKind::Unsupported, message))
}

impl Node {
    /// The client for a node. Its own credentials apply to no sentinel.
    pub(crate) fn client(&self, (host, port): &Address) -> Result<Client, Failure> {
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        let Self { scheme, credentials, database, certificates } = self;
        open(&format!("{scheme}://{credentials}{host}:{port}{database}"), certificates)
    }

    /// The same, with other credentials and no database.
    pub(crate) fn for_sentinels(&self, credentials: Option<&str>) -> Self {
        let credentials = credentials.map(|given| format!("{given}@")).unwrap_or_default();
        Self { credentials, database: String::new(), ..self.clone() }
    }

    /// Itself, if its parts make URLs.
    fn checked(self) -> Result<Self, Failure> {
        self.client(&("localhost".to_owned(), 1)).map(|_| self)
    }
}

fn addresses(hosts: &str, port: u16) -> Result<Vec<Address>, Failure> {
    hosts.split(',').map(|host| address(host, port).ok_or_else(|| wrong(HOSTS_EXPECTED))).collect()
}

/// `HOST`, `HOST:PORT`, `[V6]` or `[V6]:PORT`.
pub(crate) fn address(text: &str, port: u16) -> Option<Address> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => match rest.split_once(']')? {
            (host, "") => (host, port),
            (host, rest) => (host, rest.strip_prefix(':')?.parse().ok()?),
        },
        None => match text.split_once(':') {
            Some((host, port)) => (host, port.parse().ok()?),
            None => (text, port),
        },
    };
    (!host.is_empty()).then(|| (host.to_owned(), port))
}

/// An address as a server tells it, where the port comes after the last colon.
pub(crate) fn told(text: &str) -> Option<Address> {
    let (host, port) = text.rsplit_once(':')?;
    Some((host.to_owned(), port.parse().ok()?))
}

fn wrong(message: &str) -> Failure {
    Failure::new(StoreErrorKind::Other, message)
}

const URL_EXPECTED: &str = "the URL must be redis://[USER:PASSWORD@]HOST[:PORT][/DB], rediss:// \
                            for TLS, unix:PATH, redis+sentinel://HOST[:PORT],…/MASTER[/DB] or \
                            redis+cluster://HOST[:PORT],…";

const HOSTS_EXPECTED: &str = "the URL must list hosts as HOST[:PORT], separated by commas";

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> Result<Place, Failure> {
        place(url, Certificates::default())
    }

    #[test]
    fn every_topology_has_a_url() {
        for url in ["redis://h/", "redis://u:p@h:1/2", "unix:///run/redis.sock", "redis://[::1]:1/"]
        {
            assert!(matches!(read(url), Ok(Place::Server(_))), "{url}");
        }
        let Ok(Place::Sentinels { at, master, nodes }) =
            read("redis+sentinel://u:p%40@a,b:1,[::1]:2/main/3")
        else {
            panic!("sentinels")
        };
        assert_eq!(at, [("a".into(), 26_379), ("b".into(), 1), ("::1".into(), 2)]);
        assert_eq!(master, "main");
        let client = nodes.client(&("::1".to_owned(), 7)).expect("a client");
        let settings = client.get_connection_info().redis_settings();
        assert_eq!((settings.username(), settings.password()), (Some("u"), Some("p@")));
        assert_eq!(settings.db(), 3);
        let Ok(Place::Cluster { at, .. }) = read("redis+cluster://a:1,b") else {
            panic!("cluster")
        };
        assert_eq!(at, [("a".into(), 1), ("b".into(), 6_379)]);
    }

    #[test]
    fn a_url_that_is_none_is_an_error_without_what_it_says() {
        for url in [
            "",
            "secret",
            "http://secret@h/",
            "redis+sentinel://secret@h",
            "redis+sentinel://secret@h:x/m",
            "redis+sentinel://secret@/m",
            "redis+sentinel://secret@h/m/x",
            "redis+cluster://secret@h/1",
            "redis+cluster://secret@",
            "redis+cluster://secret@h,,h",
        ] {
            let failure = read(url).err().unwrap_or_else(|| panic!("{url} is none"));
            assert!(!failure.to_string().contains("secret"), "{failure}");
        }
    }

    #[test]
    fn addresses_that_servers_tell() {
        assert_eq!(told("10.0.0.1:7000"), Some(("10.0.0.1".into(), 7_000)));
        assert_eq!(told("::1:7000"), Some(("::1".into(), 7_000)));
        assert_eq!(told(":7000"), Some((String::new(), 7_000)));
        assert_eq!(told("7000"), None);
    }
}
