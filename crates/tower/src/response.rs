//! Responses: those that are refusals, and the fields of those that are served.

use gorl_http::{Answer, FieldValue, Passed, Told};
use http::{HeaderName, HeaderValue, Response, StatusCode};

use crate::body::LimitedBody;

/// The response to a request that is not served.
pub(crate) fn refused<B>(answer: Answer, told: Option<Told>) -> Response<LimitedBody<B>> {
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
    if let Some(told) = told {
        response.extensions_mut().insert(told);
    }
    response
}

/// A response of the service within, with the fields of the limits.
pub(crate) fn served<B>(response: Response<B>, passed: Passed) -> Response<LimitedBody<B>> {
    let mut response = response.map(LimitedBody::served);
    let inner = response.extensions_mut().remove::<Told>();
    let headers = response.headers_mut();
    let told = passed.write(inner.as_ref(), &mut |name, value| {
        let value = match value {
            FieldValue::Number(number) => HeaderValue::from(number),
            FieldValue::Text(text) => match HeaderValue::try_from(text) {
                Ok(value) => value,
                Err(_) => return,
            },
        };
        headers.insert(HeaderName::from_static(name), value);
    });
    if let Some(told) = told.or(inner) {
        response.extensions_mut().insert(told);
    }
    response
}
