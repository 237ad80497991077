//! A request of the `http` crate as the limits see it.

use std::net::{IpAddr, SocketAddr};

use gorl_http::RequestView;
use http::request::Parts;

/// The address at the other end of the connection, for a server that gorl does not know.
///
/// Put it into the extensions of each request, before the layer:
///
/// ```
/// use gorl_tower::Peer;
///
/// let mut request = http::Request::new(());
/// request.extensions_mut().insert(Peer([203, 0, 113, 7].into()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

/// The head of a request.
pub(crate) struct View<'a>(pub(crate) &'a Parts);

impl RequestView for View<'_> {
    fn method(&self) -> &str {
        self.0.method.as_str()
    }

    fn path(&self) -> &str {
        self.0.uri.path()
    }

    fn route(&self) -> Option<&str> {
        #[cfg(feature = "axum")]
        if let Some(matched) = self.0.extensions.get::<axum::extract::MatchedPath>() {
            return Some(matched.as_str());
        }
        None
    }

    fn peer(&self) -> Option<IpAddr> {
        let extensions = &self.0.extensions;
        if let Some(Peer(address)) = extensions.get() {
            return Some(*address);
        }
        #[cfg(feature = "axum")]
        {
            use axum::extract::connect_info::{ConnectInfo, MockConnectInfo};
            if let Some(ConnectInfo(address)) = extensions.get::<ConnectInfo<SocketAddr>>() {
                return Some(address.ip());
            }
            if let Some(MockConnectInfo(address)) = extensions.get::<MockConnectInfo<SocketAddr>>()
            {
                return Some(address.ip());
            }
        }
        #[cfg(feature = "tonic")]
        {
            use tonic::transport::server::TcpConnectInfo;
            let told = extensions.get::<TcpConnectInfo>().and_then(TcpConnectInfo::remote_addr);
            if let Some(address) = told {
                return Some(address.ip());
            }
        }
        extensions.get::<SocketAddr>().map(SocketAddr::ip)
    }

    fn visit_header(&self, name: &str, visit: &mut dyn FnMut(&[u8])) {
        for value in self.0.headers.get_all(name) {
            visit(value.as_bytes());
        }
    }

    fn peer_help(&self) -> &'static str {
        "with axum, enable the feature `axum` of gorl-tower and serve with \
         `into_make_service_with_connect_info::<SocketAddr>()`; with tonic, enable the feature `tonic`; \
         with another server, put a `gorl_tower::Peer` into the extensions of each request"
    }
}
