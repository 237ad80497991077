//! Requests that are not limited at all.

use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;

use crate::client_ip::{ClientIp, NotANetwork, networks_of};
use crate::path::normalized_path;
use crate::view::{RequestView, has};

/// Which requests are let through without being counted.
pub(crate) enum Skip<R: ?Sized> {
    Preflight,
    Paths(Vec<String>),
    Clients { client: ClientIp, networks: Vec<IpNet> },
    By(Arc<dyn Fn(&R) -> bool + Send + Sync>),
}

impl<R: ?Sized> Skip<R> {
    pub(crate) fn paths<'a>(paths: impl IntoIterator<Item = &'a str>) -> Self {
        Self::Paths(paths.into_iter().map(normalized_path).collect())
    }

    pub(crate) fn clients<'a>(
        client: ClientIp,
        networks: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, NotANetwork> {
        Ok(Self::Clients { client, networks: networks_of(networks)? })
    }

    /// Whether this request is one of them.
    pub(crate) fn covers(&self, request: &R, view: &dyn RequestView) -> bool {
        match self {
            // What a browser asks before it asks: the standard tells it by these three.
            Self::Preflight => {
                view.method() == "OPTIONS"
                    && has(view, "origin")
                    && has(view, "access-control-request-method")
            }
            Self::Paths(paths) => {
                let path = view.path();
                // Nearly every path is normal.
                paths.iter().any(|skipped| skipped == path) || {
                    let path = normalized_path(path);
                    paths.contains(&path)
                }
            }
            Self::Clients { client, networks } => {
                let is_listed =
                    |address: IpAddr| networks.iter().any(|network| network.contains(&address));
                client.address(view).is_some_and(is_listed)
            }
            Self::By(skips) => skips(request),
        }
    }
}
