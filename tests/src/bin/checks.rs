//! A process that checks one key many times: for tests of what many processes share.
//!
//! `checks URL STRATEGY LIMIT COUNT`: asks COUNT times, ten at a time, under LIMIT in ten years, and
//! prints how many were admitted.
#![forbid(unsafe_code)]

use std::error::Error;
use std::time::Duration;

use gorl::{AsyncLimiter, Policy, RedisStore, Strategy};

/// How many ask at a time.
const TASKS: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, strategy, limit, count] = &*words else {
        return Err("usage: checks URL STRATEGY LIMIT COUNT".into());
    };
    let window = Duration::from_secs(3_650 * 86_400);
    let policy = Policy::new(strategy.parse::<Strategy>()?, limit.parse()?, window)?;
    let count: usize = count.parse()?;
    let runtime = gorl_tests::runtime();
    let store = RedisStore::builder(url).command_timeout(Duration::from_secs(60)).connect();
    let limiter = AsyncLimiter::new(policy, runtime.block_on(store)?);
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| {
            let limiter = limiter.clone();
            let own = count / TASKS + usize::from(task < count % TASKS);
            runtime.spawn(async move {
                let mut admitted = 0;
                for _ in 0..own {
                    admitted += u32::from(limiter.check("k").await?.is_allowed());
                }
                Ok::<u32, gorl::StoreError>(admitted)
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
