//! Responses: those that are refusals, and the fields of those that are served.

use actix_web::HttpResponse;
use actix_web::body::BoxBody;
use actix_web::dev::ServiceResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, HeaderValue};
use gorl_http::{Answer, FieldValue, Passed, Told};

/// A mark of a request that is limited further out, whose response has to carry its figures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Within;

/// The response to a request that is not served.
pub(crate) fn refused(answer: Answer, told: Option<Told>) -> HttpResponse<BoxBody> {
    // Handlers of users make these; what is no status or field is left out rather than a panic.
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::TOO_MANY_REQUESTS);
    let mut response = HttpResponse::with_body(status, BoxBody::new(answer.body));
    for (name, value) in answer.fields {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(&value)) {
            response.headers_mut().insert(name, value);
        }
    }
    if let Some(told) = told {
        response.extensions_mut().insert(told);
    }
    response
}

/// Writes the fields of the limits into a response of the service within.
pub(crate) fn served<B>(response: &mut ServiceResponse<B>, passed: Passed, is_within: bool) {
    let inner = response.response_mut().extensions_mut().remove::<Told>();
    let headers = response.headers_mut();
    let told = passed.write(inner.as_ref(), &mut |field, value| {
        let value = match value {
            FieldValue::Number(number) => HeaderValue::from(number),
            FieldValue::Text(text) => match HeaderValue::from_str(&text) {
                Ok(value) => value,
                Err(_) => return,
            },
        };
        headers.insert(HeaderName::from_static(field.name()), value);
    });
    if let Some(told) = told.or(inner).filter(|_| is_within) {
        response.response_mut().extensions_mut().insert(told);
    }
}
