//! Which series there are after a story, with their values, and that they do not grow with the keys.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use gorl::{
    Ask, AsyncLimiter, AsyncResourceLimiter, Breaker, DecideError, Decision, FailurePolicy,
    ManualClock, MultiPolicy, Policy, Request, ResourceLimiter, ResourcePolicies, Store,
    StoreError, StoreErrorKind,
};
use gorl_metrics::{Metrics, NAMES};
use metrics_util::debugging::{DebugValue, DebuggingRecorder};

/// What was counted, by name and labels; gauges and counters by value, histograms by how many.
fn recorded(story: impl FnOnce(Metrics)) -> BTreeMap<String, f64> {
    let recorder = DebuggingRecorder::new();
    metrics::with_local_recorder(&recorder, || story(Metrics::new()));
    let snapshot = recorder.snapshotter().snapshot().into_vec();
    let series = snapshot.into_iter().map(|(key, _, _, value)| {
        let key = key.key();
        let labels: Vec<_> =
            key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let value = match value {
            DebugValue::Counter(count) => count as f64,
            DebugValue::Gauge(value) => value.into_inner(),
            DebugValue::Histogram(values) => values.len() as f64,
        };
        (format!("{} {}", key.name(), labels.join(",")), value)
    });
    series.collect()
}

fn fixed(limit: u64) -> Policy {
    Policy::fixed_window(limit, Duration::from_secs(86_400 * 1_000)).expect("a valid policy")
}

/// A store that is gone.
struct Gone;

impl Store for Gone {
    async fn decide(&self, _: Request<'_>) -> Result<Decision, DecideError> {
        Err(StoreError::new(StoreErrorKind::Unavailable).into())
    }

    async fn decide_all(
        &self,
        _: &[Request<'_>],
        _: &mut [Option<Decision>],
    ) -> Result<(), DecideError> {
        Err(StoreError::new(StoreErrorKind::Unavailable).into())
    }
}

/// A store that is gone, and then says nothing.
#[derive(Default)]
struct Hangs {
    hangs: AtomicBool,
}

impl Store for Hangs {
    async fn decide(&self, _: Request<'_>) -> Result<Decision, DecideError> {
        if self.hangs.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
        Err(StoreError::new(StoreErrorKind::Unavailable).into())
    }
}

#[test]
fn decisions_are_counted_by_resource_outcome_and_origin() {
    let two = MultiPolicy::named("a", fixed(9)).and_then(|one| one.and("b", fixed(1)));
    let policies = ResourcePolicies::new(fixed(2)).resource("two", two.expect("two names"));
    let series = recorded(|metrics| {
        let limiter =
            ResourceLimiter::builder(policies).observer(metrics.clone()).capacity(2).build();
        for resource in ["x", "y", "two"] {
            for _ in 0..3 {
                let _ = limiter.check(resource, "a");
            }
        }
        assert!(limiter.check_n("x", "a", 100).is_err(), "which is no decision");
        metrics.publish("main", &limiter);
    });
    let of = |name: &str| series.get(name).copied();
    assert_eq!(of("gorl_decisions_total resource=default,outcome=allowed,origin=store"), Some(4.0));
    assert_eq!(of("gorl_decisions_total resource=default,outcome=denied,origin=store"), Some(2.0));
    assert_eq!(of("gorl_decisions_total resource=two,outcome=allowed,origin=store"), Some(1.0));
    assert_eq!(of("gorl_denials_by_limit_total resource=two,limit=b"), Some(2.0));
    assert_eq!(of("gorl_decision_duration_seconds resource=two"), Some(3.0));
    assert_eq!(of("gorl_keys limiter=main"), Some(4.0));
    assert_eq!(of("gorl_unknown_resources limiter=main"), Some(2.0));
    assert_eq!(of("gorl_evictions_total limiter=main"), Some(0.0));
    assert!(of("gorl_memory_bytes limiter=main").is_some_and(|bytes| bytes > 0.0));
}

#[test]
fn a_store_that_is_gone_is_told_with_the_breaker() {
    let series = recorded(|metrics| {
        let clock = Arc::new(ManualClock::new(1_000_000_000_000));
        let limiter = |name, failure| {
            AsyncLimiter::builder(fixed(2))
                .failure_policy(failure)
                .breaker(Breaker::new().failures(2).wait(Duration::from_secs(1)))
                .clock(Arc::clone(&clock))
                .observer(name, metrics.clone())
                .build(Gone)
        };
        let (closed, open) =
            (limiter("closed", FailurePolicy::Closed), limiter("open", FailurePolicy::Open));
        pollster::block_on(async {
            for _ in 0..3 {
                assert!(closed.check("a").await.is_err());
                assert!(open.check("a").await.is_ok_and(|decision| decision.is_degraded()));
            }
            clock.advance(Duration::from_secs(1));
            // The probe fails.
            assert!(closed.check("a").await.is_err());
        });
    });
    let of = |name: &str| series.get(name).copied();
    assert_eq!(of("gorl_store_errors_total resource=closed,kind=unavailable"), Some(3.0));
    assert_eq!(of("gorl_store_errors_total resource=closed,kind=circuit_open"), Some(1.0));
    assert_eq!(of("gorl_failures_total resource=closed,kind=unavailable"), Some(3.0));
    assert_eq!(of("gorl_failures_total resource=closed,kind=circuit_open"), Some(1.0));
    assert_eq!(of("gorl_failures_total resource=open,kind=unavailable"), None);
    assert_eq!(of("gorl_decisions_total resource=open,outcome=allowed,origin=open"), Some(3.0));
    assert_eq!(of("gorl_breaker_changes_total resource=closed,state=open"), Some(2.0));
    assert_eq!(of("gorl_breaker_changes_total resource=closed,state=probing"), Some(1.0));
    assert_eq!(of("gorl_breaker_state resource=closed"), Some(2.0));
}

#[test]
fn r88_a_hundred_thousand_keys_and_resources_make_no_more_series() {
    let of = |keys: u32| {
        let policies = ResourcePolicies::new(fixed(1)).resource("login", fixed(1));
        recorded(|metrics| {
            let store = gorl::MemoryStore::new();
            let limiter =
                AsyncResourceLimiter::builder(policies).observer(metrics.clone()).build(store);
            for key in 0..keys {
                for resource in ["login", &format!("made up {key}")] {
                    let _ = pollster::block_on(limiter.check(resource, key)).expect("an answer");
                }
            }
            metrics.publish_async("main", &limiter);
        })
    };
    let (few, many) = (of(2), of(100_000));
    assert_eq!(few.keys().collect::<Vec<_>>(), many.keys().collect::<Vec<_>>());
    let counted = many["gorl_decisions_total resource=login,outcome=allowed,origin=store"];
    assert!((counted - 100_000.0).abs() < 0.5);
}

#[test]
fn the_dashboard_shows_metrics_that_exist_and_leaves_none_out() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/grafana/gorl.json");
    let text = std::fs::read_to_string(path).expect("the dashboard");
    let dashboard: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let mut shown = BTreeSet::new();
    for panel in panels {
        let targets = panel["targets"].as_array().expect("each panel asks for something");
        for target in targets {
            let expression = target["expr"].as_str().expect("an expression");
            let words = expression.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            let names: Vec<_> = words.filter(|word| word.starts_with("gorl_")).collect();
            assert!(!names.is_empty(), "{expression}");
            // A histogram is asked for by its parts.
            shown.extend(names.into_iter().map(|name| {
                let histogram =
                    ["_bucket", "_sum", "_count"].iter().find_map(|part| name.strip_suffix(part));
                histogram.unwrap_or(name).to_owned()
            }));
        }
    }
    assert_eq!(shown, NAMES.map(str::to_owned).into_iter().collect::<BTreeSet<_>>());
}

#[test]
fn the_table_of_the_documentation_names_every_metric() {
    let source = include_str!("../src/lib.rs");
    for name in NAMES {
        assert!(source.contains(&format!("//! | `{name}` |")), "{name}");
    }
}

#[test]
fn failures_of_several_limiters_asked_together_are_counted_as_those_of_one() {
    let series = recorded(|metrics| {
        let store: Arc<dyn gorl::DynStore> = Arc::new(Gone);
        let limiter = |name| {
            let builder = AsyncLimiter::builder(fixed(2)).without_breaker();
            builder.observer(name, metrics.clone()).build_over(Arc::clone(&store))
        };
        let (first, second) = (limiter("first"), limiter("second"));
        let asks = [&first, &second].map(|limiter| Ask { limiter, key: &"a", cost: 1 });
        assert!(pollster::block_on(AsyncLimiter::check_all(&asks)).is_err());
        assert_eq!((first.stats().failed, second.stats().failed), (1, 0));
    });
    let of = |name: &str| series.get(name).copied();
    assert_eq!(of("gorl_failures_total resource=first,kind=unavailable"), Some(1.0));
    assert_eq!(of("gorl_failures_total resource=second,kind=unavailable"), None);
}

#[test]
fn what_has_no_breaker_has_no_state_of_one() {
    let series = recorded(|metrics| {
        let policies = ResourcePolicies::new(fixed(2)).resource("login", fixed(1));
        let limiter = ResourceLimiter::builder(policies).observer(metrics).build();
        assert!(limiter.check("login", "a").is_allowed());
    });
    let breakers: Vec<_> = series.keys().filter(|name| name.contains("breaker")).collect();
    assert!(breakers.is_empty(), "{breakers:?}");
}

#[test]
fn the_state_of_a_breaker_is_published_whoever_changed_it() {
    let series = recorded(|metrics| {
        let breaker = Arc::new(Breaker::new().failures(1));
        let limiter = |name| {
            let builder = AsyncLimiter::builder(fixed(2)).breaker(Arc::clone(&breaker));
            builder.observer(name, metrics.clone()).build(Gone)
        };
        let (loud, silent) = (limiter("loud"), limiter("silent"));
        assert!(pollster::block_on(loud.check("a")).is_err());
        metrics.publish_breaker("silent", silent.breaker().expect("a breaker"));
    });
    let of = |name: &str| series.get(name).copied();
    assert_eq!(of("gorl_breaker_state resource=loud"), Some(2.0));
    assert_eq!(of("gorl_breaker_state resource=silent"), Some(2.0));
    // It is one change, which is counted once.
    assert_eq!(of("gorl_breaker_changes_total resource=loud,state=open"), Some(1.0));
    assert_eq!(of("gorl_breaker_changes_total resource=silent,state=open"), None);
}

#[test]
fn a_probe_that_is_given_up_leaves_no_wrong_state() {
    let series = recorded(|metrics| {
        let clock = Arc::new(ManualClock::new(1_000_000_000_000));
        let store = Arc::new(Hangs::default());
        let limiter = AsyncLimiter::builder(fixed(2))
            .breaker(Breaker::new().failures(1).wait(Duration::from_secs(1)))
            .clock(Arc::clone(&clock))
            .observer("login", metrics.clone())
            .build_over(Arc::clone(&store) as Arc<dyn gorl::DynStore>);
        assert!(pollster::block_on(limiter.check("a")).is_err());
        clock.advance(Duration::from_secs(1));
        store.hangs.store(true, Ordering::Relaxed);
        let mut probe = Box::pin(limiter.check("a"));
        let polled = probe.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending());
        drop(probe);
        metrics.publish_breaker("login", limiter.breaker().expect("a breaker"));
    });
    let of = |name: &str| series.get(name).copied();
    assert_eq!(of("gorl_breaker_changes_total resource=login,state=probing"), Some(1.0));
    assert_eq!(of("gorl_breaker_state resource=login"), Some(2.0));
}

/// A request of which only the address is known.
#[cfg(feature = "http")]
struct Asked(std::net::IpAddr);

#[cfg(feature = "http")]
impl gorl_http::RequestView for Asked {
    fn method(&self) -> &'static str {
        "GET"
    }

    fn path(&self) -> &'static str {
        "/"
    }

    fn route(&self) -> Option<&str> {
        None
    }

    fn peer(&self) -> Option<std::net::IpAddr> {
        Some(self.0)
    }

    fn visit_header(&self, _: &str, _: &mut dyn FnMut(&[u8])) {}

    fn peer_help(&self) -> &'static str {
        "it is known"
    }
}

#[cfg(feature = "http")]
#[test]
fn requests_over_http_are_counted_by_limit_and_outcome() {
    let series = recorded(|metrics| {
        let limiter = gorl::Limiter::new(fixed(1));
        let observer = metrics.clone();
        let limits = gorl_http::RateLimit::<Asked>::per_ip(limiter)
            .observe(move |event| observer.http(event));
        for client in [1, 1, 2, 1] {
            let asked = Asked(std::net::Ipv4Addr::from_bits(client).into());
            let _ = limits.begin(&asked, &asked);
        }
    });
    let of = |name: &str| series.get(name).copied();
    assert_eq!(of("gorl_http_requests_total limit=default,outcome=allowed"), Some(2.0));
    assert_eq!(of("gorl_http_requests_total limit=default,outcome=denied"), Some(2.0));
    assert_eq!(series.len(), 2, "{series:?}");
}
