//! Responses: those that are refusals, and the fields of those that are served.

use gorl_http::{Answer, Field, FieldValue, Passed, Told, http_status_of_grpc};
use http::{HeaderName, HeaderValue, Response, StatusCode};

use crate::body::LimitedBody;

/// The names of the fields that tell figures, by their places.
static NAMES: [HeaderName; Field::ALL.len()] = [
    name(Field::Limit),
    name(Field::Remaining),
    name(Field::Reset),
    name(Field::XLimit),
    name(Field::XRemaining),
    name(Field::XReset),
    name(Field::Policy),
    name(Field::Service),
];

const fn name(field: Field) -> HeaderName {
    HeaderName::from_static(field.name())
}

/// A mark of a request that is limited further out, whose response has to carry its figures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Within;

/// The status of a response, for one of gRPC that of its code.
pub(crate) fn status_of<B>(response: &Response<B>) -> u16 {
    let code = response.headers().get("grpc-status").and_then(|code| code.to_str().ok());
    match code.and_then(|code| code.parse().ok()) {
        Some(code) => http_status_of_grpc(code),
        None => response.status().as_u16(),
    }
}

/// The response to a request that is not served.
pub(crate) fn refused<B>(
    answer: Answer,
    told: Option<Told>,
    is_within: bool,
) -> Response<LimitedBody<B>> {
    let mut response = Response::new(LimitedBody::refused(answer.body));
    // Handlers of users make these; what is no status or field is left out rather than a panic.
    *response.status_mut() =
        StatusCode::from_u16(answer.status).unwrap_or(StatusCode::TOO_MANY_REQUESTS);
    for (name, value) in answer.fields {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::try_from(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    carry(&mut response, told, is_within);
    response
}

/// A response of the service within, with the fields of the limits.
pub(crate) fn served<B>(
    response: Response<B>,
    passed: Passed,
    is_within: bool,
) -> Response<LimitedBody<B>> {
    let mut response = response.map(LimitedBody::served);
    let inner = response.extensions_mut().remove::<Told>();
    let headers = response.headers_mut();
    let told = passed.write(inner.as_ref(), &mut |field, value| {
        let value = match value {
            FieldValue::Number(number) => HeaderValue::from(number),
            FieldValue::Text(text) => match HeaderValue::try_from(text) {
                Ok(value) => value,
                Err(_) => return,
            },
        };
        headers.insert(NAMES[field as usize].clone(), value);
    });
    carry(&mut response, told.or(inner), is_within);
    response
}

fn carry<B>(response: &mut Response<B>, told: Option<Told>, is_within: bool) {
    if let Some(told) = told.filter(|_| is_within) {
        response.extensions_mut().insert(told);
    }
}

#[cfg(test)]
mod tests {
    use super::{Field, NAMES};

    #[test]
    fn every_field_has_its_name() {
        for field in Field::ALL {
            assert_eq!(NAMES[field as usize], field.name());
        }
    }
}
