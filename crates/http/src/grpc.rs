//! Refusals as gRPC has them: a response of trailers alone, with the status and when to try again.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use crate::answer::{Answer, Refusal};
use crate::view::{RequestView, single};

/// Codes of gRPC.
const INVALID_ARGUMENT: u8 = 3;
const RESOURCE_EXHAUSTED: u8 = 8;
const INTERNAL: u8 = 13;
const UNAVAILABLE: u8 = 14;

/// Whether a request is one of gRPC, by its content type. gRPC-Web, which reads its status from the
/// body, is not.
pub(crate) fn is_grpc(view: &dyn RequestView) -> bool {
    let is_its = |value: &[u8]| {
        let rest = value.strip_prefix(b"application/grpc");
        rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';')))
    };
    single(view, "content-type", is_its) == Ok(Some(true))
}

/// The status of HTTP that says what a code of gRPC says, as Google's `rpc/code.proto` pairs them. A
/// code that is not known says as much as `UNKNOWN`.
///
/// A response of gRPC has status 200 whatever became of the call. By this a condition on the status,
/// as in [`Limit::charge_if`](crate::Limit::charge_if), means the same for both.
///
/// # Examples
///
/// ```
/// assert_eq!(gorl_http::http_status_of_grpc(0), 200);
/// assert_eq!(gorl_http::http_status_of_grpc(16), 401); // UNAUTHENTICATED
/// ```
#[must_use]
pub const fn http_status_of_grpc(code: u32) -> u16 {
    match code {
        0 => 200,
        1 => 499,
        3 | 9 | 11 => 400,
        4 => 504,
        5 => 404,
        6 | 10 => 409,
        7 => 403,
        8 => 429,
        12 => 501,
        14 => 503,
        16 => 401,
        _ => 500,
    }
}

/// The response to a call that is not served.
pub(crate) fn answer(refusal: &Refusal<'_>) -> Answer {
    let code = match refusal.status() {
        429 => RESOURCE_EXHAUSTED,
        503 => UNAVAILABLE,
        500 => INTERNAL,
        _ => INVALID_ARGUMENT,
    };
    let detail = refusal.detail();
    let mut answer = Answer::new(200)
        .field("content-type", "application/grpc")
        .field("grpc-status", code.to_string())
        .field("grpc-message", percent_encoded(&detail));
    if let Refusal::Denied { decision, .. } = refusal {
        let wait = decision.retry_after();
        let millis = u64::try_from(wait.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
        let status = status(code, &detail, &retry_info(wait));
        answer = answer
            .field("grpc-retry-pushback-ms", millis.to_string())
            .field("grpc-status-details-bin", STANDARD_NO_PAD.encode(status));
    }
    answer
}

/// The message as gRPC sends it: printable ASCII, the rest and `%` escaped.
fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' '..=b'~' if byte != b'%' => encoded.push(char::from(byte)),
            _ => encoded.push_str(percent_encoding::percent_encode_byte(byte)),
        }
    }
    encoded
}

/// A `google.rpc.Status` with one detail, encoded by protocol buffers.
fn status(code: u8, message: &str, retry_info: &[u8]) -> Vec<u8> {
    let mut any = Vec::new();
    bytes(&mut any, 1, b"type.googleapis.com/google.rpc.RetryInfo");
    bytes(&mut any, 2, retry_info);
    let mut status = Vec::new();
    number(&mut status, 1, code.into());
    bytes(&mut status, 2, message.as_bytes());
    bytes(&mut status, 3, &any);
    status
}

/// A `google.rpc.RetryInfo`: its one field is a `google.protobuf.Duration`.
fn retry_info(wait: std::time::Duration) -> Vec<u8> {
    let mut duration = Vec::new();
    number(&mut duration, 1, wait.as_secs());
    number(&mut duration, 2, wait.subsec_nanos().into());
    let mut info = Vec::new();
    bytes(&mut info, 1, &duration);
    info
}

/// A field that is a number; zero is left out, as the encoding has it.
fn number(out: &mut Vec<u8>, field: u8, value: u64) {
    if value > 0 {
        out.push(field << 3);
        varint(out, value);
    }
}

/// A field that is bytes, a text or a message.
fn bytes(out: &mut Vec<u8>, field: u8, value: &[u8]) {
    out.push(field << 3 | 2);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::{is_grpc, percent_encoded, retry_info, status};
    use crate::view::test::Asked;
    use std::time::Duration;

    #[test]
    fn a_call_is_told_by_its_content_type() {
        let asked = |value: &str| Asked::from("10.0.0.1").with("content-type", value);
        for value in ["application/grpc", "application/grpc+proto", "application/grpc;x"] {
            assert!(is_grpc(&asked(value)), "{value}");
        }
        for value in ["", "application/grpc-web", "application/grpcx", "application/json"] {
            assert!(!is_grpc(&asked(value)), "{value}");
        }
        assert!(!is_grpc(&Asked::from("10.0.0.1")));
    }

    #[test]
    fn messages_are_encoded_as_protocol_buffers_are() {
        // 300 = 0b10_0101100: low seven bits first.
        let info = retry_info(Duration::new(300, 5));
        assert_eq!(info, [0x0a, 5, 0x08, 0xac, 0x02, 0x10, 5]);
        assert_eq!(retry_info(Duration::ZERO), [0x0a, 0]);
        let status = status(8, "m", &info);
        assert_eq!(status[..5], [0x08, 8, 0x12, 1, b'm']);
        assert_eq!(status[5..7], [0x1a, 2 + 40 + 2 + 7]);
        assert!(status.ends_with(&info));
    }

    #[test]
    fn a_message_is_printable() {
        assert_eq!(percent_encoded("50 % ü\n"), "50 %25 %C3%BC%0A");
    }
}
