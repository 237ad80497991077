//! Which resource a request is for: patterns of method and path, the most specific first.

use std::cmp::Reverse;
use std::collections::HashMap;

/// Patterns and the resources that they name.
///
/// A pattern is a path, with a method before it or for all methods. `{name}` stands for one segment,
/// `{*name}` at the end for all that are left, even none. The most specific pattern of those that match
/// wins, whatever their order: segment by segment, one that is written out goes before one that
/// stands for any, and that before one that stands for the rest; of two with the same path the one with
/// the method wins.
///
/// # Examples
///
/// ```
/// use gorl_config::Routes;
///
/// let routes = Routes::new([
///     ("/{*rest}", "pages"),
///     ("/users/{id}", "users"),
///     ("/users/me", "me"),
///     ("POST /users/me", "change-me"),
/// ])?;
/// assert_eq!(routes.find("GET", "/users/me"), Some("me"));
/// assert_eq!(routes.find("POST", "/users/me"), Some("change-me"));
/// assert_eq!(routes.find("POST", "/users/7"), Some("users"));
/// assert_eq!(routes.find("GET", "/"), Some("pages"));
/// # Ok::<(), gorl_config::RouteError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes {
    /// The most specific first.
    routes: Vec<Route>,
}

/// A pattern that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RouteError {
    /// The pattern is no method and path.
    #[error(
        "`{pattern}` is no route: write a path such as `/users/{{id}}`, with a method before it if it is for one only, as in `POST /login`"
    )]
    NoRoute {
        /// The pattern.
        pattern: String,
    },
    /// A segment has braces in it and is no parameter.
    #[error(
        "`{segment}` is no segment: write text, `{{name}}` for any one, or `{{*name}}` at the end for all that are left"
    )]
    Segment {
        /// The pattern.
        pattern: String,
        /// The segment.
        segment: String,
    },
    /// Another pattern matches exactly the same requests.
    #[error("`{pattern}` matches the same requests as `{other}`; remove one of the two")]
    Twice {
        /// The pattern.
        pattern: String,
        /// The one before it.
        other: String,
    },
}

impl RouteError {
    /// The pattern that cannot be used.
    #[must_use]
    pub fn pattern(&self) -> &str {
        match self {
            Self::NoRoute { pattern }
            | Self::Segment { pattern, .. }
            | Self::Twice { pattern, .. } => pattern,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Route {
    method: Option<String>,
    segments: Vec<Segment>,
    pattern: String,
    resource: String,
}

/// What a segment of a path must be, the least specific last.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Segment {
    Text(String),
    Any,
    Rest,
}

impl Routes {
    /// The routes of patterns and resources.
    ///
    /// # Errors
    ///
    /// [`RouteError`] for the first pattern that cannot be used.
    pub fn new<'a>(
        routes: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, RouteError> {
        let mut all = Self::default();
        let mut seen = HashMap::new();
        for (pattern, resource) in routes {
            let route = Route::new(pattern, resource)?;
            let matched = (route.method.clone(), route.segments.clone());
            if let Some(other) = seen.insert(matched, pattern) {
                let (pattern, other) = (pattern.to_owned(), other.to_owned());
                return Err(RouteError::Twice { pattern, other });
            }
            all.routes.push(route);
        }
        all.routes.sort_by(|a, b| a.rank().cmp(&b.rank()));
        Ok(all)
    }

    /// The resource of a request, if a pattern matches it.
    ///
    /// The path is taken without what makes no difference to a router: a query, empty segments and a
    /// slash at the end. Escapes are not resolved: give the path as the router sees it, or the route that
    /// it matched.
    #[must_use]
    pub fn find(&self, method: &str, path: &str) -> Option<&str> {
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let found = self.routes.iter().find(|route| route.matches(method, &segments));
        found.map(|route| &*route.resource)
    }

    /// Patterns and resources, the most specific first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.routes.iter().map(|route| (&*route.pattern, &*route.resource))
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.routes.is_empty()
    }
}

impl Route {
    fn new(pattern: &str, resource: &str) -> Result<Self, RouteError> {
        let wrong = || RouteError::NoRoute { pattern: pattern.to_owned() };
        let (method, path) = match pattern.split_once(' ') {
            Some((method, path)) => (Some(method), path.trim_start()),
            None => (None, pattern),
        };
        let is_method = |method: &str| {
            !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase())
        };
        let is_path = path.starts_with('/') && !path.contains([' ', '?', '#']);
        if !is_path || !method.is_none_or(is_method) {
            return Err(wrong());
        }
        let wrong_segment = |segment: &str| {
            let (pattern, segment) = (pattern.to_owned(), segment.to_owned());
            RouteError::Segment { pattern, segment }
        };
        let mut segments = Vec::new();
        for segment in path.split('/').filter(|segment| !segment.is_empty()) {
            if segments.last() == Some(&Segment::Rest) {
                return Err(wrong_segment(segment));
            }
            segments.push(Segment::new(segment).ok_or_else(|| wrong_segment(segment))?);
        }
        let method = method.map(str::to_owned);
        Ok(Self { method, segments, pattern: pattern.to_owned(), resource: resource.to_owned() })
    }

    /// What is smaller is more specific.
    fn rank(&self) -> (&[Segment], bool, Reverse<usize>) {
        (&self.segments, self.method.is_none(), Reverse(self.segments.len()))
    }

    fn matches(&self, method: &str, path: &[&str]) -> bool {
        if self.method.as_ref().is_some_and(|own| own != method) {
            return false;
        }
        let mut path = path.iter();
        for segment in &self.segments {
            match (segment, path.next()) {
                (Segment::Rest, _) => return true,
                (Segment::Any, Some(_)) => {}
                (Segment::Text(text), Some(given)) if text == given => {}
                _ => return false,
            }
        }
        path.next().is_none()
    }
}

impl Segment {
    fn new(text: &str) -> Option<Self> {
        let inside = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
        let is_name = |name: &str| !name.is_empty() && !name.contains(['{', '}', '*']);
        match inside {
            Some(name) if name.strip_prefix('*').is_some_and(is_name) => Some(Self::Rest),
            Some(name) if is_name(name) => Some(Self::Any),
            None if !text.contains(['{', '}', '*']) => Some(Self::Text(text.to_owned())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_wins_whatever_the_order() {
        let mut patterns = vec![
            ("/{*rest}", "rest"),
            ("/a/{*rest}", "a-rest"),
            ("/a/{id}", "a-any"),
            ("/a/b", "a-b"),
            ("/{any}/b", "any-b"),
            ("/a/{id}/c", "a-any-c"),
            ("GET /a/b", "get-a-b"),
            ("GET /{*rest}", "get-rest"),
        ];
        for _ in 0..patterns.len() {
            patterns.rotate_left(1);
            let routes = Routes::new(patterns.clone()).unwrap();
            for (method, path, expected) in [
                ("GET", "/a/b", "get-a-b"),
                ("POST", "/a/b", "a-b"),
                ("POST", "/a/x", "a-any"),
                ("POST", "/a/x/c", "a-any-c"),
                ("POST", "/a/x/d", "a-rest"),
                ("POST", "/a", "a-rest"),
                ("POST", "/x/b", "any-b"),
                ("POST", "/x", "rest"),
                ("GET", "/x", "get-rest"),
                ("GET", "/", "get-rest"),
                ("GET", "//a//b/?x=/y", "get-a-b"),
            ] {
                assert_eq!(routes.find(method, path), Some(expected), "{method} {path}");
            }
        }
        let one = Routes::new([("/a", "a")]).unwrap();
        assert_eq!(one.find("GET", "/A"), None);
        assert_eq!(one.find("GET", "/a/b"), None);
    }

    #[test]
    fn what_is_no_pattern_says_so() {
        for pattern in ["", "a", "get /a", "GET", "GET a", " /a", "/a b", "/a?x"] {
            assert!(
                matches!(Routes::new([(pattern, "r")]), Err(RouteError::NoRoute { .. })),
                "{pattern}"
            );
        }
        for pattern in ["/{}", "/{*}", "/a{b}", "/*", "/{*rest}/x", "/{a", "/{a}{b}"] {
            assert!(
                matches!(Routes::new([(pattern, "r")]), Err(RouteError::Segment { .. })),
                "{pattern}"
            );
        }
        let error = Routes::new([("/a/{x}", "r"), ("/a/{y}/", "s")]).unwrap_err();
        assert!(error.to_string().contains("`/a/{y}/` matches the same requests as `/a/{x}`"));
    }
}
