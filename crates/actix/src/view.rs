//! A request of actix-web as the limits see it.

use std::net::IpAddr;

use actix_web::dev::ServiceRequest;
use gorl_http::RequestView;

/// The request, and the route that it matches, which actix-web makes anew each time it is asked.
pub(crate) struct View<'a> {
    request: &'a ServiceRequest,
    route: Option<String>,
}

impl<'a> View<'a> {
    pub(crate) fn of(request: &'a ServiceRequest) -> Self {
        Self { request, route: request.match_pattern() }
    }
}

impl RequestView for View<'_> {
    fn method(&self) -> &str {
        self.request.method().as_str()
    }

    fn path(&self) -> &str {
        self.request.path()
    }

    fn route(&self) -> Option<&str> {
        self.route.as_deref()
    }

    fn peer(&self) -> Option<IpAddr> {
        self.request.peer_addr().map(|address| address.ip())
    }

    fn visit_header(&self, name: &str, visit: &mut dyn FnMut(&[u8])) {
        for value in self.request.headers().get_all(name) {
            visit(value.as_bytes());
        }
    }

    fn peer_help(&self) -> &'static str {
        "serve over TCP, or count by another key: a socket of the file system has no addresses"
    }
}
