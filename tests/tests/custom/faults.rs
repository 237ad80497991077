//! Custom stores whose server is gone, comes back, or holds what gorl did not write.

use std::time::Duration;

use gorl::{AsyncLimiter, Breaker, Cas, FailurePolicy, Policy, StoreErrorKind};
use gorl_tests::{MemcachedServer, PostgresServer, runtime};

use crate::memcached_backend::Memcached;
use crate::postgres_backend::Postgres;

fn policy() -> Policy {
    Policy::fixed_window(1, Duration::from_secs(86_400 * 365)).unwrap()
}

#[test]
fn memcached_that_is_gone_is_an_error_of_its_kind_or_what_the_failure_policy_says() {
    let mut server = MemcachedServer::start();
    let deadline = Duration::from_secs(5);
    let store = || Cas::new(Memcached::new(server.address(), deadline));
    let closed = AsyncLimiter::new(policy(), store());
    let open = AsyncLimiter::builder(policy())
        .failure_policy(FailurePolicy::Open)
        .breaker(Breaker::new().failures(2))
        .build(store());
    runtime().block_on(async {
        assert!(closed.check("a").await.unwrap().is_allowed());
        assert!(!open.check("a").await.unwrap().is_allowed(), "they share the count");
        server.stop();
        // A connection that broke, then one that is refused.
        for _ in 0..2 {
            let error = closed.check("a").await.unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error:?}");
        }
        for _ in 0..4 {
            let decision = open.check("a").await.unwrap();
            assert!(decision.is_allowed() && decision.is_degraded());
        }
        assert_eq!(open.stats().errors(StoreErrorKind::CircuitOpen), 2);
    });
}

#[test]
fn postgresql_that_is_gone_is_unavailable() {
    let mut server = PostgresServer::start();
    let limiter = AsyncLimiter::new(
        policy(),
        Cas::new(Postgres::new(server.config(), Duration::from_secs(5))),
    );
    runtime().block_on(async {
        assert!(limiter.check("a").await.unwrap().is_allowed());
        server.stop();
        for _ in 0..2 {
            let error = limiter.check("a").await.unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error:?}");
        }
    });
}

#[test]
fn a_value_that_gorl_did_not_write_is_named_and_left_alone() {
    let server = PostgresServer::start();
    let postgres = || Postgres::new(server.config(), Duration::from_secs(5));
    let limiter = AsyncLimiter::new(policy(), Cas::new(postgres()));
    runtime().block_on(async {
        assert!(limiter.check("b").await.unwrap().is_allowed());
        let (client, connection) =
            tokio_postgres::connect(&server.config(), tokio_postgres::NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        let changed =
            client.execute("UPDATE gorl_states SET value = 'not ours'", &[]).await.unwrap();
        assert_eq!(changed, 1);
        let error = limiter.check("b").await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::ForeignValue);
        let source = std::error::Error::source(&error).unwrap().to_string();
        assert!(source.contains("\"gorl:fw1:b\"") && source.contains("8 bytes"), "{source}");
        let row = client.query_one("SELECT value FROM gorl_states", &[]).await.unwrap();
        assert_eq!(row.get::<_, &[u8]>(0), b"not ours");
        drop(client);
        connection.await.unwrap().unwrap();
    });
}

#[test]
fn rows_at_rest_are_deleted_when_asked_for() {
    let server = PostgresServer::start();
    let backend = Postgres::new(server.config(), Duration::from_secs(5));
    let limiter = Cas::new(backend);
    runtime().block_on(async {
        let (client, connection) =
            tokio_postgres::connect(&server.config(), tokio_postgres::NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        assert_eq!(limiter.backend().forget_expired().await.unwrap(), 0);
        let insert = "INSERT INTO gorl_states VALUES ('old', '', now() - interval '1 s'), \
                      ('new', '', now() + interval '1 h')";
        client.execute(insert, &[]).await.unwrap();
        assert_eq!(limiter.backend().forget_expired().await.unwrap(), 1);
        drop(client);
        connection.await.unwrap().unwrap();
    });
}
