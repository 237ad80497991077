//! What a case wants limited, for whichever framework.

use std::sync::Arc;
use std::time::Duration;

use gorl::{
    AsyncLimiter, AsyncResourceLimiter, Limiter, ManualClock, MemoryStore, Policy, ResourceLimiter,
    ResourcePolicies,
};
use gorl_http::{
    BodyStyle, ClientIp, Decider, HeaderStyles, KeySource, Limit, OnMissing, RateLimit,
    ResourceDecider, normalized_path,
};

/// Limits that are the same whatever the framework.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) policies: Vec<(&'static str, Policy)>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) key: Keyed,
    pub(crate) on_missing: OnMissing,
    pub(crate) styles: HeaderStyles,
    pub(crate) body: BodyStyle,
    pub(crate) skips_preflight: bool,
    pub(crate) skipped_paths: Vec<&'static str>,
    pub(crate) skipped_clients: Vec<&'static str>,
    pub(crate) charge_if: Option<fn(u16) -> bool>,
    pub(crate) is_shadow: bool,
    /// The limiter in place of those in memory.
    pub(crate) shared: Option<AsyncLimiter>,
    /// Limits by resource, which the path is, in place of the policies.
    pub(crate) resources: Option<ResourcePolicies>,
}

/// Who is counted.
#[derive(Clone)]
pub(crate) enum Keyed {
    Peer,
    Client(ClientIp),
    ApiKey,
    Path,
    RouteAndPeer,
    Everybody,
}

/// An instant of our days, at the beginning of a minute.
pub(crate) const START: u64 = 1_800_000_000_000_000_000;

impl Setup {
    /// `limit` in a minute for each peer.
    pub(crate) fn fixed(limit: u64) -> Self {
        Self::of(Policy::fixed_window(limit, Duration::from_secs(60)).expect("a valid policy"))
    }

    pub(crate) fn of(policy: Policy) -> Self {
        Self {
            policies: vec![("test", policy)],
            clock: Arc::new(ManualClock::new(START)),
            key: Keyed::Peer,
            on_missing: OnMissing::default(),
            styles: HeaderStyles::default(),
            body: BodyStyle::default(),
            skips_preflight: false,
            skipped_paths: Vec::new(),
            skipped_clients: Vec::new(),
            charge_if: None,
            is_shadow: false,
            shared: None,
            resources: None,
        }
    }

    pub(crate) fn by(mut self, key: Keyed) -> Self {
        self.key = key;
        self
    }

    pub(crate) fn advance(&self, time: Duration) {
        self.clock.advance(time);
    }

    pub(crate) fn limits<R: ?Sized + 'static>(&self) -> RateLimit<R> {
        let limit = |(name, policy): &(&'static str, Policy)| {
            if let Some(resources) = &self.resources {
                return Limit::by_resource(
                    *name,
                    self.resource_decider(resources),
                    |_, view| Some(normalized_path(view.path()).into()),
                    self.key.source(),
                );
            }
            let decider = match &self.shared {
                Some(limiter) => Decider::from(limiter.clone()),
                None => {
                    let builder = Limiter::builder(*policy).clock(Arc::clone(&self.clock));
                    Decider::from(builder.build())
                }
            };
            let mut limit = Limit::new(*name, decider, self.key.source())
                .on_missing(self.on_missing.clone())
                .shadow(self.is_shadow);
            if let Some(charge_if) = self.charge_if {
                limit = limit.charge_if(charge_if);
            }
            limit
        };
        let mut limits = self.policies.iter().map(limit);
        let first = RateLimit::new(limits.next().expect("a limit"));
        let mut limits = limits
            .fold(first, RateLimit::and)
            .headers(self.styles)
            .body(self.body)
            .skip_paths(self.skipped_paths.iter().copied());
        if self.skips_preflight {
            limits = limits.skip_preflight();
        }
        let clients = self.skipped_clients.iter().copied();
        limits.skip_clients(ClientIp::peer(), clients).expect("networks")
    }
}

impl Setup {
    /// Limits by resource that answer at once, or are waited for if anything is.
    fn resource_decider(&self, policies: &ResourcePolicies) -> ResourceDecider {
        if self.is_shadow {
            let store = MemoryStore::builder().clock(Arc::clone(&self.clock)).build();
            return AsyncResourceLimiter::new(policies.clone(), store).into();
        }
        ResourceLimiter::builder(policies.clone()).clock(Arc::clone(&self.clock)).build().into()
    }
}

impl Keyed {
    fn source<R: ?Sized>(&self) -> KeySource<R> {
        let peer = || KeySource::client_ip(ClientIp::peer());
        match self {
            Self::Peer => peer(),
            Self::Client(client) => KeySource::client_ip(client.clone()),
            Self::ApiKey => KeySource::header("x-api-key"),
            Self::Path => KeySource::path(),
            Self::RouteAndPeer => KeySource::route().and(peer()),
            Self::Everybody => KeySource::everybody(),
        }
    }
}
