//! One limit: what it is called, who is counted, by which limiter, and when it applies.

use std::borrow::Cow;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use gorl::{Decision, Limiter};

use crate::asked::Asked;
use crate::decider::{Decider, ResourceDecider};
use crate::key::RequestKey;
use crate::key_source::{Found, KeySource, MissingKey};
use crate::tally::{Counters, Outcome};
use crate::view::RequestView;

/// What becomes of a request whose key cannot be had.
///
/// There is no way to count it for nobody in particular by accident.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnMissing {
    /// It is answered with an error: 500 if the set-up is to blame, otherwise 400.
    #[default]
    Reject,
    /// This limit does not apply to it.
    Skip,
    /// It is counted for this key, with all others that have none.
    Fallback(RequestKey),
}

/// A limit on requests. `R` is the request of the framework.
///
/// The name is part of the key, and so is the name of the resource or tier that was chosen: two
/// limits never share a count, even in one store. So the key that `limiter.reset` takes is
/// `("name", …)`, followed by the parts of the [`KeySource`].
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gorl::{Limiter, Policy};
/// use gorl_http::{ClientIp, KeySource, Limit};
///
/// // Three failed log-ins a minute, from one network.
/// let limiter = Limiter::new(Policy::sliding_window(3, Duration::from_secs(60))?);
/// let limit = Limit::<()>::new("log-in", limiter, KeySource::client_ip(ClientIp::peer()))
///     .charge_if(|status| status == 401);
/// # Ok::<(), gorl::PolicyError>(())
/// ```
pub struct Limit<R: ?Sized> {
    deciders: Deciders<R>,
    key: KeySource<R>,
    on_missing: OnMissing,
    applies: Option<Test<R>>,
    cost: Option<Cost<R>>,
    about: Arc<About>,
}

/// A question about a request.
type Test<R> = Arc<dyn Fn(&R) -> bool + Send + Sync>;

/// What a request costs.
type Cost<R> = Arc<dyn Fn(&R) -> u32 + Send + Sync>;

/// What the limiter for a request is called by.
type Choice<R> = Arc<dyn Fn(&R) -> Option<Cow<'static, str>> + Send + Sync>;

/// Which resource a request is for.
type Resource<R> = Arc<dyn Fn(&R, &dyn RequestView) -> Option<Cow<'static, str>> + Send + Sync>;

/// A question about a response, by its status.
pub(crate) type StatusTest = Arc<dyn Fn(u16) -> bool + Send + Sync>;

/// What is known of a limit without its request.
#[derive(Clone)]
pub(crate) struct About {
    pub(crate) name: Cow<'static, str>,
    pub(crate) is_shadow: bool,
    pub(crate) charge_if: Option<StatusTest>,
    pub(crate) counters: Arc<Counters>,
}

impl About {
    /// What a decision makes of a request.
    pub(crate) const fn outcome(&self, decision: &Decision) -> Outcome {
        match (decision.is_allowed(), self.is_shadow) {
            (true, _) => Outcome::Allowed,
            (false, true) => Outcome::ShadowDenied,
            (false, false) => Outcome::Denied,
        }
    }
}

/// Which limiter decides.
enum Deciders<R: ?Sized> {
    One(Decider),
    Chosen { by: Chooser<R>, of: HashMap<String, Decider>, otherwise: Option<Decider> },
    Resources { limiter: ResourceDecider, resource: Resource<R> },
}

/// How a limiter is chosen: what it is called by.
enum Chooser<R: ?Sized> {
    Route,
    By(Choice<R>),
}

impl<R: ?Sized> Limit<R> {
    /// A limit by one limiter for all requests.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        decider: impl Into<Decider>,
        key: KeySource<R>,
    ) -> Self {
        Self::over(name.into(), Deciders::One(decider.into()), key)
    }

    /// A limit by a limiter for each route, by its pattern, such as `/users/{id}`. A route that has
    /// none gets `otherwise`, with a count of its own, or is not limited.
    pub fn by_route<D: Into<Decider>>(
        name: impl Into<Cow<'static, str>>,
        of: impl IntoIterator<Item = (&'static str, D)>,
        otherwise: Option<Decider>,
        key: KeySource<R>,
    ) -> Self {
        Self::chosen(name.into(), Chooser::Route, of, otherwise, key)
    }

    /// A limit by a limiter for each tier, such as `free` and `paid`, which a closure finds in the
    /// request. A tier that has none gets `otherwise`, with a count of its own, or is not limited; so
    /// does a request without a tier.
    ///
    /// The closure's answers should be few: each is counted apart.
    pub fn by_tier<D: Into<Decider>>(
        name: impl Into<Cow<'static, str>>,
        tier: impl Fn(&R) -> Option<Cow<'static, str>> + Send + Sync + 'static,
        of: impl IntoIterator<Item = (&'static str, D)>,
        otherwise: Option<Decider>,
        key: KeySource<R>,
    ) -> Self {
        Self::chosen(name.into(), Chooser::By(Arc::new(tier)), of, otherwise, key)
    }

    /// A limit by a limiter that has policies by resource, such as one that `gorl-config` makes. A
    /// closure finds the resource in the request; a request without one is not limited.
    ///
    /// Where a resource has several policies the structured header fields have an item for each.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use gorl::{Policy, ResourceLimiter, ResourcePolicies};
    /// use gorl_http::{ClientIp, KeySource, Limit};
    ///
    /// let minute = Duration::from_secs(60);
    /// let policies = ResourcePolicies::new(Policy::sliding_window(100, minute)?)
    ///     .resource("/login", Policy::sliding_window(5, minute)?);
    /// // By the route that matched; requests that match none share the default policy.
    /// let limit = Limit::<()>::by_resource(
    ///     "api",
    ///     ResourceLimiter::new(policies),
    ///     |_, view| Some(view.route().unwrap_or("no route").to_owned().into()),
    ///     KeySource::client_ip(ClientIp::peer()),
    /// );
    /// # Ok::<(), gorl::PolicyError>(())
    /// ```
    pub fn by_resource(
        name: impl Into<Cow<'static, str>>,
        limiter: impl Into<ResourceDecider>,
        resource: impl Fn(&R, &dyn RequestView) -> Option<Cow<'static, str>> + Send + Sync + 'static,
        key: KeySource<R>,
    ) -> Self {
        let (limiter, resource) = (limiter.into(), Arc::new(resource));
        Self::over(name.into(), Deciders::Resources { limiter, resource }, key)
    }

    /// Only for some requests: those of a method, say.
    #[must_use]
    pub fn only(mut self, applies: impl Fn(&R) -> bool + Send + Sync + 'static) -> Self {
        self.applies = Some(Arc::new(applies));
        self
    }

    /// What a request costs. By default one.
    ///
    /// A cost above the limit's capacity can never be admitted: the request is answered with 400.
    #[must_use]
    pub fn cost(mut self, cost: impl Fn(&R) -> u32 + Send + Sync + 'static) -> Self {
        self.cost = Some(Arc::new(cost));
        self
    }

    /// Charges only requests whose response has such a status: `|status| status == 401` for failed
    /// log-ins, `|status| status < 500` so that the service's own failures cost nothing.
    ///
    /// A call of gRPC counts by the [status that its code is paired
    /// with](crate::http_status_of_grpc), if it fails before there is a message.
    ///
    /// The cost is taken before the request is served and given back if it is not to be charged, so
    /// that many at once cannot all pass before the first is counted. A request that its client
    /// gives up stays charged.
    #[must_use]
    pub fn charge_if(mut self, charged: impl Fn(u16) -> bool + Send + Sync + 'static) -> Self {
        Arc::make_mut(&mut self.about).charge_if = Some(Arc::new(charged));
        self
    }

    /// What becomes of a request whose key cannot be had. By default it is answered with an error.
    #[must_use]
    pub fn on_missing(mut self, on_missing: OnMissing) -> Self {
        self.on_missing = on_missing;
        self
    }

    /// Decides and counts, and never denies: to see what a new limit would do.
    #[must_use]
    pub fn shadow(mut self, is_shadow: bool) -> Self {
        Arc::make_mut(&mut self.about).is_shadow = is_shadow;
        self
    }

    fn chosen<D: Into<Decider>>(
        name: Cow<'static, str>,
        by: Chooser<R>,
        of: impl IntoIterator<Item = (&'static str, D)>,
        otherwise: Option<Decider>,
        key: KeySource<R>,
    ) -> Self {
        let of = of.into_iter().map(|(name, decider)| (name.to_owned(), decider.into())).collect();
        Self::over(name, Deciders::Chosen { by, of, otherwise }, key)
    }

    fn over(name: Cow<'static, str>, deciders: Deciders<R>, key: KeySource<R>) -> Self {
        let about = About {
            name,
            is_shadow: false,
            charge_if: None,
            counters: Arc::new(Counters::default()),
        };
        Self {
            deciders,
            key,
            on_missing: OnMissing::default(),
            applies: None,
            cost: None,
            about: Arc::new(about),
        }
    }

    pub(crate) fn about(&self) -> &Arc<About> {
        &self.about
    }

    /// What is to be asked about a request; nothing if the limit does not apply.
    pub(crate) fn ask(
        &self,
        request: &R,
        view: &dyn RequestView,
    ) -> Result<Option<Asked>, MissingKey> {
        let Some((decider, start)) = self.decider(request, view) else {
            return Ok(None);
        };
        let on_missing = self.missing(&start);
        let key = self.key(start, &on_missing, request, view)?;
        let cost = self.cost_of(request);
        Ok(key.map(|key| self.asked(decider, key, on_missing, cost)))
    }

    /// The limiter and the client's network, in the most usual case: a limiter of this process for
    /// all requests, that counts by address. With the name they make the key.
    pub(crate) fn of_client(&self, view: &dyn RequestView) -> Option<(&Limiter, IpAddr)> {
        let (Deciders::One(decider), None) = (&self.deciders, &self.applies) else {
            return None;
        };
        Some((decider.here()?, self.key.client_alone()?.network(view)?))
    }

    pub(crate) fn asked(
        &self,
        decider: Decider,
        key: Found,
        on_missing: OnMissing,
        cost: u32,
    ) -> Asked {
        let about = Arc::clone(&self.about);
        Asked { decider, key, on_missing, cost, about }
    }

    /// The limiter for a request, if the limit applies, and what its key begins with.
    pub(crate) fn decider(
        &self,
        request: &R,
        view: &dyn RequestView,
    ) -> Option<(Decider, RequestKey)> {
        if self.applies.as_ref().is_some_and(|applies| !applies(request)) {
            return None;
        }
        let start = match &self.about.name {
            Cow::Borrowed(name) => RequestKey::of_static(name),
            Cow::Owned(name) => RequestKey::of(&**name),
        };
        let (by, of, otherwise) = match &self.deciders {
            Deciders::One(decider) => return Some((decider.clone(), start)),
            Deciders::Resources { limiter, resource } => {
                let resource = resource(request, view)?;
                return Some((Decider::of_resource(limiter, &resource), start));
            }
            Deciders::Chosen { by, of, otherwise } => (by, of, otherwise),
        };
        let name = match by {
            Chooser::Route => view.route().map(Cow::Borrowed),
            Chooser::By(choose) => choose(request),
        };
        let known = name.as_deref().and_then(|name| of.get(name));
        let decider = known.or(otherwise.as_ref())?;
        // A number tells a resource without a name from one that is called nothing.
        let start = match name {
            Some(name) => start.and(&*name),
            None => start.and(0_u8),
        };
        Some((decider.clone(), start))
    }

    /// The key of a request; nothing if the limit does not apply for lack of one.
    pub(crate) fn key(
        &self,
        start: RequestKey,
        on_missing: &OnMissing,
        request: &R,
        view: &dyn RequestView,
    ) -> Result<Option<Found>, MissingKey> {
        match (self.key.find(start, request, view), on_missing) {
            (Ok(key), _) => Ok(Some(key)),
            // Two values are no lack of one: whoever sends them is up to something.
            (Err(missing @ MissingKey::Ambiguous(_)), _) | (Err(missing), OnMissing::Reject) => {
                Err(missing)
            }
            (Err(_), OnMissing::Fallback(key)) => Ok(Some(Found::Now(key.clone()))),
            (Err(_), OnMissing::Skip) => Ok(None),
        }
    }

    pub(crate) fn cost_of(&self, request: &R) -> u32 {
        self.cost.as_ref().map_or(1, |cost| cost(request))
    }

    /// What to do without a key, where another is counted under what the key would begin with.
    pub(crate) fn missing(&self, start: &RequestKey) -> OnMissing {
        match &self.on_missing {
            OnMissing::Fallback(key) => {
                OnMissing::Fallback(start.clone().and("without").and_all(key.clone()))
            }
            other => other.clone(),
        }
    }
}

impl<R: ?Sized> std::fmt::Debug for Limit<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Limit")
            .field("name", &self.about.name)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
