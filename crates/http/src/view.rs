//! What the limits see of a request, whatever the framework.

use std::net::IpAddr;

/// A request as the limits see it. Each framework's crate implements it for its own requests.
pub trait RequestView {
    /// The method, as it was sent.
    fn method(&self) -> &str;

    /// The path, as it was sent, without the query.
    fn path(&self) -> &str;

    /// The pattern of the route that matched, such as `/users/{id}`, if the router tells.
    fn route(&self) -> Option<&str>;

    /// The address at the other end of the connection, if the server tells.
    fn peer(&self) -> Option<IpAddr>;

    /// Visits the value of each line of a header, in their order. The name is in lower case.
    fn visit_header(&self, name: &str, visit: &mut dyn FnMut(&[u8]));

    /// What somebody has to do who finds that [`peer`](Self::peer) is `None`.
    fn peer_help(&self) -> &'static str;
}

/// The one value of a header, none, or the fact that there are several.
pub(crate) fn single<T>(
    view: &dyn RequestView,
    name: &str,
    read: impl Fn(&[u8]) -> T,
) -> Result<Option<T>, Several> {
    let (mut found, mut lines) = (None, 0);
    view.visit_header(name, &mut |value| {
        lines += 1;
        if lines == 1 {
            found = Some(read(value));
        }
    });
    if lines > 1 { Err(Several) } else { Ok(found) }
}

/// A header came more than once where one value is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Several;

/// Whether a header came at all.
pub(crate) fn has(view: &dyn RequestView, name: &str) -> bool {
    let mut found = false;
    view.visit_header(name, &mut |_| found = true);
    found
}

#[cfg(test)]
pub(crate) mod test {
    use super::{IpAddr, RequestView};

    /// A request of a test's own.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct Asked {
        pub(crate) method: &'static str,
        pub(crate) path: String,
        pub(crate) route: Option<&'static str>,
        pub(crate) peer: Option<IpAddr>,
        pub(crate) headers: Vec<(&'static str, Vec<u8>)>,
    }

    impl Asked {
        pub(crate) fn from(peer: &str) -> Self {
            let peer = Some(peer.parse().expect("an address"));
            Self { method: "GET", path: "/".to_owned(), peer, ..Self::default() }
        }

        pub(crate) fn with(mut self, name: &'static str, value: impl AsRef<[u8]>) -> Self {
            self.headers.push((name, value.as_ref().to_vec()));
            self
        }
    }

    impl RequestView for Asked {
        fn method(&self) -> &str {
            self.method
        }

        fn path(&self) -> &str {
            &self.path
        }

        fn route(&self) -> Option<&str> {
            self.route
        }

        fn peer(&self) -> Option<IpAddr> {
            self.peer
        }

        fn visit_header(&self, name: &str, visit: &mut dyn FnMut(&[u8])) {
            for (this, value) in &self.headers {
                if *this == name {
                    visit(value);
                }
            }
        }

        fn peer_help(&self) -> &'static str {
            "say who is asking"
        }
    }
}
