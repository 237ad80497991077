//! The usual ways to limit over Redis, as people write them: what gorl is measured beside.

use std::time::Duration;

use bb8::{ManageConnection, Pool};
use redis::aio::MultiplexedConnection;
use redis::{Client, RedisError, Script};

/// A token bucket in a hash, in floating point, by the server's clock.
pub(crate) const BUCKET_IN_A_HASH: &str = r"
local capacity, rate = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(bucket[1]) or capacity, tonumber(bucket[2]) or now
tokens = math.min(capacity, tokens + math.max(0, now - at) * rate)
local allowed = 0
if tokens >= 1 then
  tokens = tokens - 1
  allowed = 1
end
redis.call('HSET', KEYS[1], 'tokens', tokens, 'at', now)
redis.call('EXPIRE', KEYS[1], math.ceil(capacity / rate) * 2)
return { allowed, tostring(tokens) }
";

/// A token bucket in two keys, each read and set with an expiry: the shape that `GoRL` has.
pub(crate) const BUCKET_IN_TWO_KEYS: &str = r"
local capacity, rate = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local tokens = tonumber(redis.call('GET', KEYS[1])) or capacity
local at = tonumber(redis.call('GET', KEYS[2])) or now
tokens = math.min(capacity, tokens + math.max(0, now - at) * rate)
local allowed = 0
if tokens >= 1 then
  tokens = tokens - 1
  allowed = 1
end
local ttl = math.ceil(capacity / rate) * 2
redis.call('SET', KEYS[1], tokens, 'EX', ttl)
redis.call('SET', KEYS[2], now, 'EX', ttl)
return { allowed, tostring(tokens) }
";

/// The generic cell rate algorithm: one instant in one key, in floating point.
pub(crate) const GCRA: &str = r"
local burst, rate = tonumber(ARGV[1]), tonumber(ARGV[2])
local interval = 1 / rate
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local arrival = math.max(tonumber(redis.call('GET', KEYS[1])) or now, now)
local next = arrival + interval
local allow_at = next - burst * interval
if now < allow_at then
  return { 0, tostring(allow_at - now) }
end
redis.call('SET', KEYS[1], next, 'EX', math.ceil(next - now) + 1)
return { 1, '0' }
";

/// How connections are made for the pool, and tested at each check-out, as the usual crate does.
pub(crate) struct Manager(Client);

impl ManageConnection for Manager {
    type Connection = MultiplexedConnection;
    type Error = RedisError;

    async fn connect(&self) -> Result<Self::Connection, Self::Error> {
        self.0.get_multiplexed_async_connection().await
    }

    async fn is_valid(&self, connection: &mut Self::Connection) -> Result<(), Self::Error> {
        redis::cmd("PING").query_async(connection).await
    }

    fn has_broken(&self, _connection: &mut Self::Connection) -> bool {
        false
    }
}

/// The size that people give a pool who have thought of it.
pub(crate) const POOL: u32 = 32;

/// A pool as it comes, with room for a burst.
pub(crate) async fn pool(client: Client) -> anyhow::Result<Pool<Manager>> {
    let builder = Pool::builder().max_size(POOL).connection_timeout(Duration::from_secs(30));
    Ok(builder.build(Manager(client)).await?)
}

/// Calls a script of a bucket; whether it admitted.
pub(crate) async fn bucket(
    connection: &mut MultiplexedConnection,
    script: &Script,
    keys: &[String],
    limit: u32,
) -> anyhow::Result<bool> {
    let mut call = script.prepare_invoke();
    for key in keys {
        call.key(key);
    }
    let rate = f64::from(limit) / 3_600.0;
    let (allowed, _): (u32, String) = call.arg(limit).arg(rate).invoke_async(connection).await?;
    Ok(allowed == 1)
}
