//! Where the key of a request comes from.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::client_ip::ClientIp;
use crate::key::RequestKey;
use crate::path::normalized_path;
use crate::view::{RequestView, Several, single};

/// A key that is still being found out.
pub(crate) type Pending = Pin<Box<dyn Future<Output = Option<RequestKey>> + Send>>;

/// A closure that finds a key.
type Find<R, K> = Arc<dyn Fn(&R) -> K + Send + Sync>;

/// Where the key of a request comes from. `R` is the request of the framework.
///
/// What cannot be had is never replaced by something that others share; see
/// [`Limit::on_missing`](crate::Limit::on_missing).
///
/// # Examples
///
/// ```
/// use gorl_http::{ClientIp, KeySource};
///
/// // A user of a tenant, or a network of a client behind our proxies.
/// let tenant = KeySource::<()>::header("x-tenant").and(KeySource::client_ip(ClientIp::behind(["10.0.0.0/8"])?));
/// # Ok::<(), gorl_http::NotANetwork>(())
/// ```
pub struct KeySource<R: ?Sized> {
    parts: Vec<Source<R>>,
}

enum Source<R: ?Sized> {
    ClientIp(ClientIp),
    Header { name: String, is_secret: bool },
    BearerToken,
    Path,
    Route,
    Method,
    Fixed(&'static str),
    By(Find<R, Option<RequestKey>>),
    ByAsync(Find<R, Pending>),
}

/// A key, or what will be one.
pub(crate) enum Found {
    Now(RequestKey),
    /// Parts, some of which are being found out.
    Later(Vec<Part>),
}

pub(crate) enum Part {
    Known(RequestKey),
    Pending(Pending),
}

/// Why there is no key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MissingKey {
    /// The server does not tell the address at the other end of the connection. This is a fault of
    /// how the service is set up, and not of the request.
    #[error("the address of the peer is not known; {0}")]
    Peer(&'static str),
    /// The router does not tell which route matched. This, too, is a fault of the set-up.
    #[error("the route that matched is not known; add the layer inside of the router")]
    Route,
    /// The request has no such header.
    #[error("the request has no header {0}")]
    Header(String),
    /// The request has several values of a header where one is meant.
    #[error("the request has more than one header {0}")]
    Ambiguous(String),
    /// A closure found no key.
    #[error("the request does not tell who is asking")]
    Unknown,
}

impl MissingKey {
    /// Whether the service is to blame, and not the request.
    #[must_use]
    pub const fn is_fault_of_set_up(&self) -> bool {
        matches!(self, Self::Peer(_) | Self::Route)
    }
}

impl<R: ?Sized> KeySource<R> {
    /// The address of the client.
    #[must_use]
    pub fn client_ip(client: ClientIp) -> Self {
        Self::from(Source::ClientIp(client))
    }

    /// The value of a header, such as an API key. What is stored is a digest of it.
    ///
    /// A client may send any value. So limit what nobody has yet checked by another key as well, such
    /// as the client's address.
    #[must_use]
    pub fn header(name: &str) -> Self {
        Self::from(Source::Header { name: name.to_ascii_lowercase(), is_secret: true })
    }

    /// The value of a header that is no secret, such as a tenant's name, as it is.
    #[must_use]
    pub fn plain_header(name: &str) -> Self {
        Self::from(Source::Header { name: name.to_ascii_lowercase(), is_secret: false })
    }

    /// The token of `Authorization: Bearer`. What is stored is a digest of it. The scheme may be in
    /// any case, so it takes no part.
    #[must_use]
    pub fn bearer_token() -> Self {
        Self::from(Source::BearerToken)
    }

    /// The path, [normalized](crate::normalized_path) as a router sees it.
    ///
    /// Whoever asks for made-up paths makes up keys. Where routes have patterns,
    /// [`route`](Self::route) is the better choice.
    #[must_use]
    pub fn path() -> Self {
        Self::from(Source::Path)
    }

    /// The pattern of the route that matched, such as `/users/{id}`.
    #[must_use]
    pub fn route() -> Self {
        Self::from(Source::Route)
    }

    /// The method.
    #[must_use]
    pub fn method() -> Self {
        Self::from(Source::Method)
    }

    /// One key for everybody: the limit is that of the whole service.
    #[must_use]
    pub fn everybody() -> Self {
        Self::from(Source::Fixed("everybody"))
    }

    /// What a closure finds in the request, such as the user that an earlier layer has put into its
    /// extensions.
    pub fn by<K: Into<RequestKey>>(find: impl Fn(&R) -> Option<K> + Send + Sync + 'static) -> Self {
        Self::from(Source::By(Arc::new(move |request| find(request).map(Into::into))))
    }

    /// What a closure finds out about the request in some time, as by asking somebody else. It takes
    /// out of the request what it needs, for it may not hold on to it.
    pub fn by_async<K, F>(find: impl Fn(&R) -> F + Send + Sync + 'static) -> Self
    where
        K: Into<RequestKey>,
        F: Future<Output = Option<K>> + Send + 'static,
    {
        Self::from(Source::ByAsync(Arc::new(move |request| {
            let found = find(request);
            Box::pin(async move { found.await.map(Into::into) })
        })))
    }

    /// This and another: the pair is the key.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.parts.extend(other.parts);
        self
    }

    fn from(source: Source<R>) -> Self {
        Self { parts: vec![source] }
    }

    /// What finds the key, if that is the client's address and nothing else.
    pub(crate) fn client_alone(&self) -> Option<&ClientIp> {
        match &*self.parts {
            [Source::ClientIp(client)] => Some(client),
            _ => None,
        }
    }

    /// The key of a request, after `begin`.
    pub(crate) fn find(
        &self,
        begin: RequestKey,
        request: &R,
        view: &dyn RequestView,
    ) -> Result<Found, MissingKey> {
        let mut key = begin;
        let mut parts = Vec::new();
        for source in &self.parts {
            match source.find(request, view)? {
                Part::Known(known) => key = key.and_all(known),
                pending @ Part::Pending(_) => {
                    parts.push(Part::Known(std::mem::take(&mut key)));
                    parts.push(pending);
                }
            }
        }
        if parts.is_empty() {
            return Ok(Found::Now(key));
        }
        parts.push(Part::Known(key));
        Ok(Found::Later(parts))
    }
}

impl Found {
    /// The key, once it is found out.
    pub(crate) async fn settle(self) -> Result<RequestKey, MissingKey> {
        match self {
            Self::Now(key) => Ok(key),
            Self::Later(parts) => {
                let mut key = RequestKey::default();
                for part in parts {
                    key = key.and_all(match part {
                        Part::Known(known) => known,
                        Part::Pending(pending) => pending.await.ok_or(MissingKey::Unknown)?,
                    });
                }
                Ok(key)
            }
        }
    }
}

impl<R: ?Sized> Source<R> {
    fn find(&self, request: &R, view: &dyn RequestView) -> Result<Part, MissingKey> {
        let key = match self {
            Self::ClientIp(client) => {
                let network = client.network(view);
                RequestKey::of(network.ok_or(MissingKey::Peer(view.peer_help()))?)
            }
            Self::Header { name, is_secret: true } => {
                header(view, name, |value| Some(digest(value)))?
            }
            Self::Header { name, is_secret: false } => {
                header(view, name, |value| Some(RequestKey::of(value)))?
            }
            Self::BearerToken => header(view, "authorization", |value| bearer(value).map(digest))?,
            Self::Path => RequestKey::of_text(normalized_path(view.path())),
            Self::Route => RequestKey::of(view.route().ok_or(MissingKey::Route)?),
            Self::Method => RequestKey::of(view.method()),
            Self::Fixed(text) => RequestKey::of_static(text),
            Self::By(find) => find(request).ok_or(MissingKey::Unknown)?,
            Self::ByAsync(find) => return Ok(Part::Pending(find(request))),
        };
        Ok(Part::Known(key))
    }
}

/// The key in a header of which there must be one.
fn header(
    view: &dyn RequestView,
    name: &str,
    read: impl Fn(&[u8]) -> Option<RequestKey>,
) -> Result<RequestKey, MissingKey> {
    match single(view, name, read) {
        Ok(Some(Some(key))) => Ok(key),
        Ok(_) => Err(MissingKey::Header(name.to_owned())),
        Err(Several) => Err(MissingKey::Ambiguous(name.to_owned())),
    }
}

/// 128 bits of a secret's SHA-256: nobody comes from them to the secret, or to another with the same.
fn digest(secret: &[u8]) -> RequestKey {
    let digest: [u8; 32] = Sha256::digest(secret).into();
    let (first, _) = digest.split_first_chunk::<16>().unwrap_or((&[0; 16], &[]));
    RequestKey::of(u128::from_be_bytes(*first))
}

/// The token after the scheme.
fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = value.split_at_checked(7)?;
    let token = token.trim_ascii();
    (scheme.eq_ignore_ascii_case(b"bearer ") && !token.is_empty()).then_some(token)
}

impl<R: ?Sized> Clone for KeySource<R> {
    fn clone(&self) -> Self {
        Self { parts: self.parts.clone() }
    }
}

impl<R: ?Sized> Clone for Source<R> {
    fn clone(&self) -> Self {
        match self {
            Self::ClientIp(client) => Self::ClientIp(client.clone()),
            Self::Header { name, is_secret } => {
                Self::Header { name: name.clone(), is_secret: *is_secret }
            }
            Self::BearerToken => Self::BearerToken,
            Self::Path => Self::Path,
            Self::Route => Self::Route,
            Self::Method => Self::Method,
            Self::Fixed(text) => Self::Fixed(text),
            Self::By(find) => Self::By(Arc::clone(find)),
            Self::ByAsync(find) => Self::ByAsync(Arc::clone(find)),
        }
    }
}

impl<R: ?Sized> std::fmt::Debug for KeySource<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = |source: &Source<R>| match source {
            Source::ClientIp(_) => "client_ip",
            Source::Header { .. } => "header",
            Source::BearerToken => "bearer_token",
            Source::Path => "path",
            Source::Route => "route",
            Source::Method => "method",
            Source::Fixed(_) => "everybody",
            Source::By(_) => "by",
            Source::ByAsync(_) => "by_async",
        };
        f.debug_list().entries(self.parts.iter().map(name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{ClientIp, Found, KeySource, MissingKey, RequestKey};
    use crate::view::test::Asked;

    fn key(source: &KeySource<Asked>, asked: &Asked) -> Result<RequestKey, MissingKey> {
        match source.find(RequestKey::default(), asked, asked)? {
            Found::Now(key) => Ok(key),
            later @ Found::Later(_) => pollster::block_on(later.settle()),
        }
    }

    #[test]
    fn a_secret_is_not_in_the_key_and_tells_callers_apart() {
        let asked = |secret: &str| Asked::from("10.0.0.1").with("x-api-key", secret);
        let source = KeySource::header("X-Api-Key");
        let one = key(&source, &asked("secret-1")).expect("a key");
        assert_eq!(one, key(&source, &asked("secret-1")).expect("a key"));
        assert_ne!(one, key(&source, &asked("secret-2")).expect("a key"));
        assert!(!format!("{one:?}").contains("secret"));
        let odd = Asked::from("10.0.0.1").with("x-api-key", [0xff, 0x00, 0x80].repeat(9_000));
        assert!(key(&source, &odd).is_ok());
    }

    #[test]
    fn a_header_that_is_missing_or_doubled_is_no_key() {
        let source = KeySource::header("x-api-key");
        let none = Asked::from("10.0.0.1");
        assert_eq!(key(&source, &none), Err(MissingKey::Header("x-api-key".into())));
        let two = none.with("x-api-key", "a").with("x-api-key", "b");
        assert_eq!(key(&source, &two), Err(MissingKey::Ambiguous("x-api-key".into())));
    }

    #[test]
    fn a_token_is_the_same_whatever_its_scheme_looks_like() {
        let source = KeySource::bearer_token();
        let asked = |value: &str| Asked::from("10.0.0.1").with("authorization", value);
        let one = key(&source, &asked("Bearer abc")).expect("a token");
        for value in ["bearer abc", "BEARER  abc", "bEaReR abc "] {
            assert_eq!(key(&source, &asked(value)).as_ref(), Ok(&one), "{value}");
        }
        for value in ["", "Bearer", "Bearer ", "Basic abc", "abc", "Bear\u{e9}r abc"] {
            assert!(key(&source, &asked(value)).is_err(), "{value}");
        }
    }

    #[test]
    fn r99_an_address_that_is_not_known_is_an_error_that_says_what_to_do() {
        let asked = Asked { peer: None, ..Asked::from("10.0.0.1") };
        let error = key(&KeySource::client_ip(ClientIp::peer()), &asked).expect_err("no peer");
        assert!(error.is_fault_of_set_up());
        assert!(error.to_string().contains("say who is asking"), "{error}");
    }

    #[test]
    fn parts_are_kept_apart_and_in_order() {
        let path = |path: &str| Asked { path: path.to_owned(), ..Asked::from("10.0.0.1") };
        let source = KeySource::by(|asked: &Asked| Some(asked.path.len() as u64))
            .and(KeySource::by_async(|asked: &Asked| {
                let path = asked.path.clone();
                async move { (path != "/none").then_some(path) }
            }))
            .and(KeySource::method());
        let expected = RequestKey::of(2_u64).and("/a").and("GET");
        assert_eq!(key(&source, &path("/a")), Ok(expected));
        assert_eq!(key(&source, &path("/none")), Err(MissingKey::Unknown));
    }
}
