//! What a request gets that is not served: status, fields and body, whatever the framework.

use std::borrow::Cow;

use gorl::{CostExceedsLimit, Decision, StoreError};
use serde_json::{Value, json};

use crate::figures::whole_seconds;
use crate::grpc;
use crate::key_source::MissingKey;

/// Why a request is not served.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Refusal<'a> {
    /// A limit denied it; of several, the one that takes longest to admit it.
    Denied {
        /// The limit's name.
        limit: &'a str,
        /// Its decision.
        decision: &'a Decision,
    },
    /// The store had no answer, and the failure policy has none in its place.
    Store {
        /// The limit's name.
        limit: &'a str,
        /// What went wrong.
        error: &'a StoreError,
    },
    /// Whom to count it for is not known.
    WithoutKey {
        /// The limit's name.
        limit: &'a str,
        /// What is missing.
        missing: &'a MissingKey,
    },
    /// It costs more than the limit can ever admit.
    TooCostly {
        /// The limit's name.
        limit: &'a str,
        /// By how much.
        error: &'a CostExceedsLimit,
    },
}

/// The response to a request that is not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Header fields, their names in lower case.
    pub fields: Vec<(Cow<'static, str>, String)>,
    /// The body.
    pub body: String,
}

/// What the body of such a response is, if no handler makes one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BodyStyle {
    /// A problem as JSON (RFC 9457), of the types that the IETF's draft on rate limits names.
    #[default]
    Problem,
    /// A JSON object with `error` and, for a denial, `retry_after` in seconds.
    Json,
    /// Nothing.
    Empty,
}

impl Refusal<'_> {
    /// The status: 429 for a denial, 503 for a store without an answer, 500 if the set-up is to
    /// blame, otherwise 400.
    #[must_use]
    pub const fn status(&self) -> u16 {
        match self {
            Self::Denied { .. } => 429,
            Self::Store { .. } => 503,
            Self::WithoutKey { missing, .. } if missing.is_fault_of_set_up() => 500,
            Self::WithoutKey { .. } | Self::TooCostly { .. } => 400,
        }
    }

    /// The name of the limit.
    #[must_use]
    pub const fn limit(&self) -> &str {
        match self {
            Self::Denied { limit, .. }
            | Self::Store { limit, .. }
            | Self::WithoutKey { limit, .. }
            | Self::TooCostly { limit, .. } => limit,
        }
    }

    /// The seconds until it pays to ask again, rounded up and never zero. Only a denial has some.
    #[must_use]
    pub fn retry_after(&self) -> Option<u64> {
        match self {
            Self::Denied { decision, .. } => Some(whole_seconds(decision.retry_after()).max(1)),
            _ => None,
        }
    }

    /// What a client is told. A store's error says nothing of where the store is.
    #[must_use]
    pub fn detail(&self) -> String {
        match self {
            Self::Denied { .. } => {
                let seconds = self.retry_after().unwrap_or(1);
                format!("too many requests; try again in {seconds} s")
            }
            Self::Store { .. } => "the limit cannot be checked now".to_owned(),
            Self::WithoutKey { missing, .. } => missing.to_string(),
            Self::TooCostly { error, .. } => error.to_string(),
        }
    }

    const fn title(&self) -> &'static str {
        match self {
            Self::Denied { .. } => "Too Many Requests",
            Self::Store { .. } => "Service Unavailable",
            Self::WithoutKey { missing, .. } if missing.is_fault_of_set_up() => {
                "Internal Server Error"
            }
            Self::WithoutKey { .. } | Self::TooCostly { .. } => "Bad Request",
        }
    }

    /// The usual response.
    pub(crate) fn answer(&self, style: BodyStyle, is_grpc: bool) -> Answer {
        if is_grpc {
            return grpc::answer(self);
        }
        match style {
            BodyStyle::Empty => Answer::new(self.status()),
            BodyStyle::Json => {
                let error = match self {
                    Self::Denied { .. } => "rate limit exceeded".to_owned(),
                    _ => self.detail(),
                };
                let mut body = json!({ "error": error });
                if let Some(seconds) = self.retry_after() {
                    body["retry_after"] = seconds.into();
                }
                Answer::new(self.status()).json("application/json", &body)
            }
            BodyStyle::Problem => {
                let mut problem = json!({
                    "type": "about:blank",
                    "title": self.title(),
                    "status": self.status(),
                    "detail": self.detail(),
                });
                if let Some(seconds) = self.retry_after() {
                    problem["type"] = QUOTA_EXCEEDED.into();
                    problem["violated-policies"] = json!([self.limit()]);
                    problem["retry_after"] = seconds.into();
                }
                Answer::new(self.status()).json("application/problem+json", &problem)
            }
        }
    }
}

/// The problem type of the IETF's draft, revision 11.
const QUOTA_EXCEEDED: &str = "https://iana.org/assignments/http-problem-types#quota-exceeded";

impl Answer {
    /// A response without fields and body.
    #[must_use]
    pub const fn new(status: u16) -> Self {
        Self { status, fields: Vec::new(), body: String::new() }
    }

    /// With a header field, in place of one that it has.
    #[must_use]
    pub fn field(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) -> Self {
        let name = Cow::Owned(name.into().to_ascii_lowercase());
        self.fields.retain(|(known, _)| *known != name);
        self.fields.push((name, value.into()));
        self
    }

    /// With a text as its body.
    #[must_use]
    pub fn text(self, body: impl Into<String>) -> Self {
        let mut answer = self.field("content-type", "text/plain; charset=utf-8");
        answer.body = body.into();
        answer
    }

    /// With JSON of a content type as its body.
    #[must_use]
    pub fn json(self, content_type: &'static str, body: &Value) -> Self {
        let mut answer = self.field("content-type", content_type);
        answer.body = body.to_string();
        answer
    }

    /// With a field, unless it has one.
    pub(crate) fn field_unless_set(&mut self, name: &'static str, value: String) {
        if !self.fields.iter().any(|(known, _)| known == name) {
            self.fields.push((Cow::Borrowed(name), value));
        }
    }
}
