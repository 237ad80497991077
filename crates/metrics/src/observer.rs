//! Decisions, failures and the breaker, as metrics.

use std::sync::Arc;
use std::time::Duration;

use gorl::{BreakerState, Observed, Observer, Origin, StoreErrorKind};
use metrics::{
    Counter, Histogram, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge,
    histogram,
};

use crate::by_name::ByName;

/// An [`Observer`] that counts on the [`metrics`] facade.
///
/// A clone counts the same. The handles of a resource are made when it is first heard of, and kept: a
/// decision looks nothing up in the recorder.
#[derive(Clone)]
pub struct Metrics {
    pub(crate) shared: Arc<Shared>,
}

#[derive(Default)]
pub(crate) struct Shared {
    resources: ByName<Handles>,
    /// Requests over HTTP, by limit and outcome.
    #[cfg(feature = "http")]
    pub(crate) http: ByName<ByName<Counter>>,
}

/// The metrics of one resource that each decision touches.
struct Handles {
    /// By origin, allowed and denied.
    decisions: [[Counter; 2]; ORIGINS.len()],
    duration: Histogram,
    /// Denials by the limit that binds.
    denials: ByName<Counter>,
}

/// The origins of decisions, as labels; what a later version adds counts as the first.
const ORIGINS: [&str; 4] = ["store", "denial_cache", "local", "open"];

impl Metrics {
    /// Counts on the recorder that is installed now, and tells it what the metrics mean.
    #[must_use]
    pub fn new() -> Self {
        describe();
        Self { shared: Arc::default() }
    }

    fn handles(&self, resource: &str) -> Arc<Handles> {
        self.shared.resources.get(resource, || Handles::new(resource))
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Observer for Metrics {
    fn decided(&self, observed: &Observed<'_>) {
        let handles = self.handles(observed.resource);
        let origin = match observed.decision.origin() {
            Origin::DenialCache => 1,
            Origin::Local(_) => 2,
            Origin::Open(_) => 3,
            _ => 0,
        };
        handles.decisions[origin][usize::from(!observed.is_allowed)].increment(1);
        handles.duration.record(observed.latency);
        if !observed.is_allowed && !observed.limit.is_empty() {
            let Observed { resource, limit, .. } = *observed;
            let denials = handles.denials.get(limit, || {
                let labels = [("resource", owned(resource)), ("limit", owned(limit))];
                counter!("gorl_denials_by_limit_total", &labels)
            });
            denials.increment(1);
        }
    }

    fn failed(&self, resource: &str, kind: StoreErrorKind, latency: Duration) {
        self.handles(resource).duration.record(latency);
        let labels = [("resource", owned(resource)), ("kind", owned(kind.as_str()))];
        counter!("gorl_failures_total", &labels).increment(1);
    }

    fn store_error(&self, resource: &str, kind: StoreErrorKind) {
        let labels = [("resource", owned(resource)), ("kind", owned(kind.as_str()))];
        counter!("gorl_store_errors_total", &labels).increment(1);
    }

    fn breaker_changed(&self, resource: &str, state: BreakerState) {
        let labels = [("resource", owned(resource)), ("state", owned(state.as_str()))];
        counter!("gorl_breaker_changes_total", &labels).increment(1);
        set_breaker(resource, state);
    }
}

impl Handles {
    fn new(resource: &str) -> Self {
        let decisions = |origin: &'static str, outcome: &'static str| {
            let labels = [
                ("resource", owned(resource)),
                ("outcome", owned(outcome)),
                ("origin", owned(origin)),
            ];
            counter!("gorl_decisions_total", &labels)
        };
        Self {
            decisions: ORIGINS
                .map(|origin| ["allowed", "denied"].map(|outcome| decisions(origin, outcome))),
            duration: histogram!("gorl_decision_duration_seconds", "resource" => owned(resource)),
            denials: ByName::default(),
        }
    }
}

/// Says where the breaker of a limiter stands.
pub(crate) fn set_breaker(resource: &str, state: BreakerState) {
    let value = match state {
        BreakerState::Closed => 0.0,
        BreakerState::Probing => 1.0,
        _ => 2.0,
    };
    gauge!("gorl_breaker_state", "resource" => owned(resource)).set(value);
}

pub(crate) fn owned(text: &str) -> String {
    text.to_owned()
}

/// Tells the recorder what the metrics mean.
fn describe() {
    describe_counter!(
        "gorl_decisions_total",
        Unit::Count,
        "Decisions by resource, outcome and origin."
    );
    describe_counter!(
        "gorl_denials_by_limit_total",
        Unit::Count,
        "Denials of resources with several limits, by the limit that binds."
    );
    describe_histogram!(
        "gorl_decision_duration_seconds",
        Unit::Seconds,
        "How long a decision took."
    );
    describe_counter!(
        "gorl_failures_total",
        Unit::Count,
        "Requests that ended with the store's error."
    );
    describe_counter!("gorl_store_errors_total", Unit::Count, "Failures of the store, by kind.");
    describe_gauge!("gorl_breaker_state", Unit::Count, "0 closed, 1 probing, 2 open.");
    describe_counter!(
        "gorl_breaker_changes_total",
        Unit::Count,
        "Changes of the breaker to a state."
    );
    describe_gauge!("gorl_keys", Unit::Count, "Keys in memory.");
    describe_gauge!("gorl_memory_bytes", Unit::Bytes, "Bytes that the keys in memory take.");
    describe_counter!(
        "gorl_evictions_total",
        Unit::Count,
        "Keys that still counted and were given up for lack of room."
    );
    describe_gauge!(
        "gorl_unknown_resources",
        Unit::Count,
        "Resources without a policy that are counted apart."
    );
    describe_counter!(
        "gorl_http_requests_total",
        Unit::Count,
        "Requests over HTTP, by limit and outcome."
    );
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}
