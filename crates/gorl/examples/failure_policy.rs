//! What a limiter answers while its store is gone, under each failure policy.
//!
//! ```text
//! cargo run --example failure_policy
//! ```

use std::error::Error;
use std::num::NonZeroU32;
use std::time::Duration;

use gorl::{
    AsyncLimiter, BreakerState, DecideError, Decision, FailurePolicy, Origin, Policy, Request,
    Store, StoreError, StoreErrorKind,
};

/// A store that is never there.
struct Gone;

impl Store for Gone {
    async fn decide(&self, _request: Request<'_>) -> Result<Decision, DecideError> {
        Err(StoreError::new(StoreErrorKind::Unavailable).into())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    pollster::block_on(async {
        let policy = Policy::token_bucket(100, Duration::from_secs(60))?;

        // Closed: the error is returned, and the caller decides what it means.
        let limiter = AsyncLimiter::new(policy, Gone);
        let error = limiter.check("user-1").await.expect_err("nobody answers");
        println!("closed: {error}");
        assert_eq!(error.kind(), StoreErrorKind::Unavailable);

        // Open: admitted, marked, and without figures, since nobody counted.
        let limiter = AsyncLimiter::builder(policy).failure_policy(FailurePolicy::Open).build(Gone);
        let decision = limiter.check("user-1").await?;
        println!("open:   allowed {}, figures {:?}", decision.is_allowed(), decision.figures());
        assert!(decision.is_allowed() && decision.figures().is_none());

        // Local: this process counts its share, here a quarter of the limit.
        let instances = NonZeroU32::new(4).ok_or("some")?;
        let limiter = AsyncLimiter::builder(policy)
            .failure_policy(FailurePolicy::local(instances))
            .build(Gone);
        for left in (0..25).rev() {
            assert_eq!(limiter.check("user-1").await?.remaining(), left);
        }
        let denied = limiter.check("user-1").await?;
        println!("local:  denied after 25, retry after {:?}", denied.retry_after());
        assert!(!denied.is_allowed());

        // After five failures in a row the breaker is open, and the store is left alone.
        assert_eq!(denied.origin(), Origin::Local(StoreErrorKind::CircuitOpen));
        assert_eq!(limiter.breaker().map(gorl::Breaker::state), Some(BreakerState::Open));
        println!("{:#?}", limiter.stats());
        Ok(())
    })
}
