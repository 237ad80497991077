//! A process that asks two limits at once, many times: for tests of what many processes share.
//!
//! `both URL STRATEGY USER COUNT`: asks COUNT times, ten at a time, for USER under 150 and for all users
//! under 500 in ten years, and prints how many were admitted.
#![forbid(unsafe_code)]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use gorl::{Ask, AsyncLimiter, Decision, DynStore, Policy, RedisStore, Strategy};

/// How many ask at a time.
const TASKS: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, strategy, user, count] = &*words else {
        return Err("usage: both URL STRATEGY USER COUNT".into());
    };
    let strategy = strategy.parse::<Strategy>()?;
    let window = Duration::from_secs(3_650 * 86_400);
    let count: usize = count.parse()?;
    let runtime = gorl_tests::runtime();
    let store = RedisStore::builder(url).command_timeout(Duration::from_secs(60)).connect();
    let store: Arc<dyn DynStore> = Arc::new(runtime.block_on(store)?);
    let limiter = |limit| -> Result<AsyncLimiter, Box<dyn Error>> {
        Ok(AsyncLimiter::over(Policy::new(strategy, limit, window)?, Arc::clone(&store)))
    };
    let (own, all) = (limiter(150)?, limiter(500)?);
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| {
            let (own, all) = (own.clone(), all.clone());
            let user = ("user", user.clone());
            let count = count / TASKS + usize::from(task < count % TASKS);
            runtime.spawn(async move {
                let everybody = ("all", String::new());
                let mut admitted = 0;
                for _ in 0..count {
                    let own = Ask { limiter: &own, key: &user, cost: 1 };
                    let all = Ask { limiter: &all, key: &everybody, cost: 1 };
                    // Half of them name the two the other way round.
                    let asks = if task % 2 == 0 { [own, all] } else { [all, own] };
                    let decisions = AsyncLimiter::check_all(&asks).await?;
                    admitted += u32::from(decisions.iter().all(Decision::is_allowed));
                }
                Ok::<u32, gorl::DecideError>(admitted)
            })
        })
        .collect();
    let mut admitted = 0;
    for task in tasks {
        admitted += runtime.block_on(task)??;
    }
    println!("{admitted}");
    Ok(())
}
