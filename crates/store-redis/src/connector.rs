//! How a connection is made: straight to a server, or to the one that sentinels name.

use std::time::Duration;

use gorl_core::StoreErrorKind;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisError, Value};
use tokio::time::timeout;

use crate::address::{Address, Node};
use crate::failure::Failure;

/// Where connections lead.
#[derive(Clone)]
pub(crate) enum Connector {
    /// To one server.
    Server(Box<Client>),
    /// To the master of that name.
    Sentinels(Sentinels),
}

/// Sentinels, and the master that they are asked for each time.
#[derive(Clone)]
pub(crate) struct Sentinels {
    /// Where to ask.
    pub(crate) at: Vec<Client>,
    pub(crate) master: String,
    pub(crate) nodes: Node,
}

impl Connector {
    /// A new connection, within the deadline.
    pub(crate) async fn connect(
        &self,
        config: &AsyncConnectionConfig,
        deadline: Duration,
    ) -> Result<MultiplexedConnection, Failure> {
        let connecting = async {
            match self {
                Self::Server(client) => to_server(client, config).await,
                Self::Sentinels(sentinels) => sentinels.connect(config, deadline).await,
            }
        };
        let made = timeout(deadline, connecting).await;
        made.unwrap_or_else(|_| Err(Failure::timeout("connecting to Redis", deadline)))
    }

    /// Whether a connection tells that it ends.
    pub(crate) fn tells_its_end(&self) -> bool {
        match self {
            Self::Server(client) => {
                client.get_connection_info().redis_settings().protocol().supports_resp3()
            }
            Self::Sentinels(_) => true,
        }
    }
}

async fn to_server(
    client: &Client,
    config: &AsyncConnectionConfig,
) -> Result<MultiplexedConnection, Failure> {
    client.get_multiplexed_async_connection_with_config(config).await.map_err(unreachable)
}

impl Sentinels {
    /// Asks one sentinel after the other, until one names a node that says that it is a master: a
    /// sentinel that was cut off names the master of before.
    async fn connect(
        &self,
        config: &AsyncConnectionConfig,
        deadline: Duration,
    ) -> Result<MultiplexedConnection, Failure> {
        // One that does not answer leaves time for the others.
        let each = deadline / u32::try_from(self.at.len() + 1).unwrap_or(u32::MAX);
        let mut why = Failure::new(StoreErrorKind::Unavailable, "there is no sentinel to ask");
        for sentinel in &self.at {
            let asked = timeout(each, self.ask(sentinel, config)).await;
            match asked.unwrap_or_else(|_| Err(Failure::timeout("asking a sentinel", each))) {
                Ok(connection) => return Ok(connection),
                Err(failure) => why = failure,
            }
        }
        Err(why)
    }

    async fn ask(
        &self,
        sentinel: &Client,
        config: &AsyncConnectionConfig,
    ) -> Result<MultiplexedConnection, Failure> {
        let mut asked = to_server(sentinel, &without_deadlines()).await?;
        let mut question = redis::cmd("SENTINEL");
        question.arg("GET-MASTER-ADDR-BY-NAME").arg(&self.master);
        let told: Option<Address> = question.query_async(&mut asked).await.map_err(unreachable)?;
        let Some(address) = told else {
            let message = format!("no sentinel knows a master named \"{}\"", self.master);
            return Err(Failure::new(StoreErrorKind::Unavailable, message));
        };
        let mut connection = to_server(&self.nodes.client(&address)?, config).await?;
        let role: Value =
            redis::cmd("ROLE").query_async(&mut connection).await.map_err(unreachable)?;
        if is_master(&role) {
            return Ok(connection);
        }
        let message = "the node that the sentinels name is not the master yet";
        Err(Failure::new(StoreErrorKind::Unavailable, message))
    }
}

fn is_master(role: &Value) -> bool {
    let Value::Array(parts) = role else {
        return false;
    };
    match parts.first() {
        Some(Value::BulkString(name)) => name == b"master",
        Some(Value::SimpleString(name)) => name == "master",
        _ => false,
    }
}

/// How many commands may wait for the connection's writer before callers wait for each other.
const COMMANDS_QUEUED: usize = 1024;

/// How to connect without deadlines of the client's own; those of this crate apply.
pub(crate) fn without_deadlines() -> AsyncConnectionConfig {
    AsyncConnectionConfig::new()
        .set_connection_timeout(None)
        .set_response_timeout(None)
        .set_pipeline_buffer_size(COMMANDS_QUEUED)
}

/// The failure to connect, which is always one of availability unless it is about the options.
fn unreachable(error: RedisError) -> Failure {
    let mut failure = Failure::from(error);
    if failure.kind == StoreErrorKind::Other {
        failure.kind = StoreErrorKind::Unavailable;
    }
    failure
}
