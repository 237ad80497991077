//! The limits of a service: which requests they are for, and what is answered.

use std::sync::Arc;

use gorl::{CostExceedsLimit, Decision};
use smallvec::SmallVec;

use crate::answer::{Answer, BodyStyle, Refusal};
use crate::asked::{Cause, Decided, Plan};
use crate::client_ip::{ClientIp, NotANetwork};
use crate::decider::Decider;
use crate::figures::Told;
use crate::grpc;
use crate::header_styles::{FieldValue, HeaderStyles};
use crate::key_source::{Found, KeySource, MissingKey};
use crate::limit::{About, Limit};
use crate::passed::Passed;
use crate::skip::Skip;
use crate::tally::{Event, Outcome, Tally};
use crate::view::RequestView;

/// The limits of a service, and what is answered to those who exceed them. `R` is the request of the
/// framework.
///
/// Of several limits all must admit; see [`Plan::decide`].
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gorl::{Limiter, Policy};
/// use gorl_http::{ClientIp, HeaderStyles, KeySource, Limit, RateLimit};
///
/// let per_second = Limiter::new(Policy::token_bucket(10, Duration::from_secs(1))?);
/// let per_day = Limiter::new(Policy::fixed_window(5_000, Duration::from_secs(86_400))?);
/// let client = || KeySource::client_ip(ClientIp::peer());
/// let rate_limit = RateLimit::<()>::new(Limit::new("burst", per_second, client()))
///     .and(Limit::new("day", per_day, client()))
///     .skip_preflight()
///     .skip_paths(["/healthz"])
///     .headers(HeaderStyles::PLAIN.and(HeaderStyles::STRUCTURED));
/// # Ok::<(), gorl::PolicyError>(())
/// ```
pub struct RateLimit<R: ?Sized> {
    limits: Vec<Limit<R>>,
    skipped: Vec<Skip<R>>,
    headers: HeaderStyles,
    body: BodyStyle,
    refuse: Option<Refuse<R>>,
    observer: Option<Observer>,
}

/// Who makes the response to a request that is not served.
type Refuse<R> = Arc<dyn Fn(&R, &Refusal<'_>) -> Answer + Send + Sync>;

/// Who wants to know of every request under every limit.
type Observer = Arc<dyn Fn(&Event<'_>) + Send + Sync>;

/// How a request goes on.
pub enum Begin {
    /// It is not limited.
    Unlimited,
    /// What becomes of it is known already.
    Settled(Verdict),
    /// The limits have to be asked.
    Ask(Box<Plan>),
}

/// What becomes of a request.
pub enum Verdict {
    /// It is served; this tells what its response is to say.
    Pass(Passed),
    /// It is not served. The figures, if there are some, go into the response's extensions.
    Stop(Answer, Option<Told>),
}

impl<R: ?Sized> RateLimit<R> {
    /// One limit.
    #[must_use]
    pub fn new(limit: Limit<R>) -> Self {
        Self {
            limits: vec![limit],
            skipped: Vec::new(),
            headers: HeaderStyles::default(),
            body: BodyStyle::default(),
            refuse: None,
            observer: None,
        }
    }

    /// One limit for each address that requests come from, which is called `default`.
    ///
    /// Behind a proxy all requests come from the proxy: then make a limit whose key is that of a
    /// [`ClientIp`] behind it.
    #[must_use]
    pub fn per_ip(decider: impl Into<Decider>) -> Self {
        Self::new(Limit::new("default", decider, KeySource::client_ip(ClientIp::peer())))
    }

    /// One more limit, which has to admit as well.
    #[must_use]
    pub fn and(mut self, limit: Limit<R>) -> Self {
        self.limits.push(limit);
        self
    }

    /// Lets through what browsers ask before a request of another origin: `OPTIONS` with `Origin` and
    /// `Access-Control-Request-Method`. Other `OPTIONS` requests count.
    #[must_use]
    pub fn skip_preflight(mut self) -> Self {
        self.skipped.push(Skip::Preflight);
        self
    }

    /// Lets through requests for these paths, such as those of health checks, however they are
    /// written.
    #[must_use]
    pub fn skip_paths<'a>(mut self, paths: impl IntoIterator<Item = &'a str>) -> Self {
        self.skipped.push(Skip::paths(paths));
        self
    }

    /// Lets through clients in these networks.
    ///
    /// # Errors
    ///
    /// If one of them is no network.
    pub fn skip_clients<'a>(
        mut self,
        client: ClientIp,
        networks: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, NotANetwork> {
        self.skipped.push(Skip::clients(client, networks)?);
        Ok(self)
    }

    /// Lets through the requests that a closure says.
    #[must_use]
    pub fn skip(mut self, skips: impl Fn(&R) -> bool + Send + Sync + 'static) -> Self {
        self.skipped.push(Skip::By(Arc::new(skips)));
        self
    }

    /// Which header fields tell clients their figures.
    #[must_use]
    pub const fn headers(mut self, styles: HeaderStyles) -> Self {
        self.headers = styles;
        self
    }

    /// What the body is of a response to a request that is not served.
    #[must_use]
    pub const fn body(mut self, style: BodyStyle) -> Self {
        self.body = style;
        self
    }

    /// Makes the response to a request that is not served. `Retry-After` and the figures are added to
    /// it, as far as it has none.
    #[must_use]
    pub fn on_refused(
        mut self,
        refuse: impl Fn(&R, &Refusal<'_>) -> Answer + Send + Sync + 'static,
    ) -> Self {
        self.refuse = Some(Arc::new(refuse));
        self
    }

    /// Tells a closure of every request under every limit, for metrics and logs. It is called while
    /// the request waits, so it should be quick.
    #[must_use]
    pub fn observe(mut self, observer: impl Fn(&Event<'_>) + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// What became of the requests, by the names of the limits.
    pub fn tallies(&self) -> impl Iterator<Item = (&str, Tally)> {
        self.limits.iter().map(|limit| (&*limit.about().name, limit.about().counters.read()))
    }

    /// What is to be asked about a request.
    pub fn begin(&self, request: &R, view: &dyn RequestView) -> Begin {
        if self.skipped.iter().any(|skip| skip.covers(request, view)) {
            return Begin::Unlimited;
        }
        if let [limit] = &*self.limits
            && limit.about().charge_if.is_none()
        {
            return self.begin_one(limit, request, view);
        }
        let mut asked = SmallVec::new();
        for limit in &self.limits {
            match limit.ask(request, view) {
                Ok(Some(one)) => asked.push(one),
                Ok(None) => {}
                Err(missing) => {
                    return Begin::Settled(self.without_key(
                        limit.about(),
                        &missing,
                        request,
                        view,
                    ));
                }
            }
        }
        if asked.is_empty() { Begin::Unlimited } else { Begin::Ask(Box::new(Plan::new(asked))) }
    }

    /// The usual case, without a plan: one limit, whose limiter answers at once.
    fn begin_one(&self, limit: &Limit<R>, request: &R, view: &dyn RequestView) -> Begin {
        let about = limit.about();
        if let Some((limiter, client)) = limit.of_client(view) {
            // The same key, without one to be made.
            let answer = limiter.check_n((&*about.name, client), limit.cost_of(request));
            return self.settle_one(about, answer, request, view);
        }
        let Some((decider, start)) = limit.decider(request, view) else {
            return Begin::Unlimited;
        };
        let on_missing = limit.missing(&start);
        let key = match limit.key(start, &on_missing, request, view) {
            Ok(Some(key)) => key,
            Ok(None) => return Begin::Unlimited,
            Err(missing) => {
                return Begin::Settled(self.without_key(about, &missing, request, view));
            }
        };
        let cost = limit.cost_of(request);
        let (Some(limiter), Found::Now(key)) = (decider.here(), &key) else {
            let asked = limit.asked(decider, key, on_missing, cost);
            return Begin::Ask(Box::new(Plan::of_one(asked)));
        };
        self.settle_one(about, limiter.check_n(key, cost), request, view)
    }

    /// What becomes of a request of which its one limit has said this.
    fn settle_one(
        &self,
        about: &About,
        answer: Result<Decision, CostExceedsLimit>,
        request: &R,
        view: &dyn RequestView,
    ) -> Begin {
        let limit = &*about.name;
        Begin::Settled(match answer {
            Ok(decision) => {
                self.note(about, about.outcome(&decision), Some(&decision));
                let told = || Told::of_one(about, &decision);
                if decision.is_allowed() || about.is_shadow {
                    let told = if self.headers.is_none() { None } else { told() };
                    Verdict::Pass(Passed::settled(told, self.headers))
                } else {
                    let refusal = Refusal::Denied { limit, decision: &decision };
                    self.stop(&refusal, told(), request, view)
                }
            }
            Err(error) => {
                self.note(about, Outcome::TooCostly, None);
                self.stop(&Refusal::TooCostly { limit, error: &error }, None, request, view)
            }
        })
    }

    /// What becomes of a request of which the limits have said this.
    pub fn verdict(&self, request: &R, view: &dyn RequestView, decided: Decided) -> Verdict {
        if let Some(trouble) = &decided.trouble {
            let (limit, about) = (&*trouble.about.name, &trouble.about);
            return match &trouble.cause {
                Cause::Key(missing) => self.without_key(about, missing, request, view),
                Cause::Cost(error) => {
                    self.note(about, Outcome::TooCostly, None);
                    self.stop(&Refusal::TooCostly { limit, error }, None, request, view)
                }
                Cause::Store(error) => {
                    let times = self.note(about, Outcome::Failed, None);
                    if times.is_power_of_two() {
                        let error: &dyn std::error::Error = error;
                        tracing::warn!(limit, times, error, "requests are refused");
                    }
                    self.stop(&Refusal::Store { limit, error }, None, request, view)
                }
            };
        }
        let is_denied = decided.is_denied();
        for answered in &decided.answers {
            // What others denied is theirs.
            if !is_denied || !answered.decision.is_allowed() {
                let outcome = answered.about.outcome(&answered.decision);
                self.note(&answered.about, outcome, Some(&answered.decision));
            }
        }
        let told = || Told::of(&decided.answers);
        if is_denied {
            let denials = decided.answers.iter().filter(|answered| answered.denies());
            if let Some(longest) = denials.max_by_key(|denial| denial.decision.retry_after()) {
                let (limit, decision) = (&*longest.about.name, &longest.decision);
                return self.stop(&Refusal::Denied { limit, decision }, told(), request, view);
            }
        }
        let told = if self.headers.is_none() { None } else { told() };
        Verdict::Pass(Passed::new(decided, told, self.headers))
    }

    fn stop(
        &self,
        refusal: &Refusal<'_>,
        told: Option<Told>,
        request: &R,
        view: &dyn RequestView,
    ) -> Verdict {
        Verdict::Stop(self.refuse(refusal, told.as_ref(), request, view), told)
    }

    fn refuse(
        &self,
        refusal: &Refusal<'_>,
        told: Option<&Told>,
        request: &R,
        view: &dyn RequestView,
    ) -> Answer {
        let mut answer = match &self.refuse {
            Some(refuse) => refuse(request, refusal),
            None => refusal.answer(self.body, grpc::is_grpc(view)),
        };
        if let Some(seconds) = refusal.retry_after() {
            answer.field_unless_set("retry-after", seconds.to_string());
        }
        if let Some(told) = told {
            self.headers.write(told, &mut |field, value| {
                let text = match value {
                    FieldValue::Number(number) => number.to_string(),
                    FieldValue::Text(text) => text,
                };
                answer.field_unless_set(field.name(), text);
            });
        }
        answer
    }

    fn without_key(
        &self,
        about: &About,
        missing: &MissingKey,
        request: &R,
        view: &dyn RequestView,
    ) -> Verdict {
        let times = self.note(about, Outcome::WithoutKey, None);
        // Each request may come to this, so it is told the 1st, 2nd, 4th, 8th … time.
        if missing.is_fault_of_set_up() && times.is_power_of_two() {
            tracing::error!(limit = &*about.name, times, "requests are refused: {missing}");
        }
        let refusal = Refusal::WithoutKey { limit: &about.name, missing };
        self.stop(&refusal, None, request, view)
    }

    /// Counts an outcome and tells of it; how often it has come.
    fn note(&self, about: &About, outcome: Outcome, decision: Option<&Decision>) -> u64 {
        let times = about.counters.note(outcome, decision);
        if let Some(observer) = &self.observer {
            observer(&Event { limit: &about.name, outcome, decision });
        }
        times
    }
}

impl<R: ?Sized> std::fmt::Debug for RateLimit<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RateLimit")
            .field("limits", &self.limits)
            .field("headers", &self.headers)
            .field("body", &self.body)
            .finish_non_exhaustive()
    }
}
