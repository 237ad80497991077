//! The header fields that tell a client its figures, in each of the ways that clients know.

use crate::figures::{Line, Told};

/// Which header fields tell a client its figures. Any of them, and any together.
///
/// `Retry-After` belongs to a denial whatever is chosen here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HeaderStyles {
    plain: bool,
    prefixed: bool,
    structured: bool,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldValue {
    /// A number, to be written in decimal.
    Number(u64),
    /// Printable ASCII.
    Text(String),
}

/// A header field that tells a client its figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Field {
    /// `RateLimit-Limit`
    Limit,
    /// `RateLimit-Remaining`
    Remaining,
    /// `RateLimit-Reset`
    Reset,
    /// `X-RateLimit-Limit`
    XLimit,
    /// `X-RateLimit-Remaining`
    XRemaining,
    /// `X-RateLimit-Reset`
    XReset,
    /// `RateLimit-Policy`
    Policy,
    /// `RateLimit`
    Service,
}

impl Field {
    /// Every field. The place of one is its number, as in `Field::Limit as usize`.
    pub const ALL: [Self; 8] = [
        Self::Limit,
        Self::Remaining,
        Self::Reset,
        Self::XLimit,
        Self::XRemaining,
        Self::XReset,
        Self::Policy,
        Self::Service,
    ];

    /// The name, in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Limit => "ratelimit-limit",
            Self::Remaining => "ratelimit-remaining",
            Self::Reset => "ratelimit-reset",
            Self::XLimit => "x-ratelimit-limit",
            Self::XRemaining => "x-ratelimit-remaining",
            Self::XReset => "x-ratelimit-reset",
            Self::Policy => "ratelimit-policy",
            Self::Service => "ratelimit",
        }
    }
}

impl HeaderStyles {
    /// No fields.
    pub const NONE: Self = Self { plain: false, prefixed: false, structured: false };

    /// `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset`, as `GoRL` has them: the last in
    /// seconds from now. This is the default.
    pub const PLAIN: Self = Self { plain: true, ..Self::NONE };

    /// The same under the names `X-RateLimit-…`.
    pub const PREFIXED: Self = Self { prefixed: true, ..Self::NONE };

    /// `RateLimit-Policy` and `RateLimit` as structured fields, by the IETF's draft
    /// `draft-ietf-httpapi-ratelimit-headers`, revision 11: one item a limit, the tightest first.
    pub const STRUCTURED: Self = Self { structured: true, ..Self::NONE };

    /// These and others.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            plain: self.plain || other.plain,
            prefixed: self.prefixed || other.prefixed,
            structured: self.structured || other.structured,
        }
    }

    /// Writes the fields of these styles. Each is to take the place of one that is there.
    pub(crate) fn write(self, told: &Told, field: &mut dyn FnMut(Field, FieldValue)) {
        let tightest = &told.tightest;
        let mut three = |names: [Field; 3]| {
            field(names[0], FieldValue::Number(tightest.limit.into()));
            field(names[1], FieldValue::Number(tightest.remaining.into()));
            field(names[2], FieldValue::Number(tightest.reset));
        };
        if self.plain {
            three([Field::Limit, Field::Remaining, Field::Reset]);
        }
        if self.prefixed {
            three([Field::XLimit, Field::XRemaining, Field::XReset]);
        }
        if self.structured {
            field(Field::Policy, FieldValue::Text(list(told, policy)));
            field(Field::Service, FieldValue::Text(list(told, service)));
        }
    }

    pub(crate) const fn is_none(self) -> bool {
        !(self.plain || self.prefixed || self.structured)
    }
}

impl Default for HeaderStyles {
    fn default() -> Self {
        Self::PLAIN
    }
}

/// A structured list (RFC 9651).
fn list(told: &Told, item: fn(&Line) -> String) -> String {
    told.lines().map(item).collect::<Vec<_>>().join(", ")
}

/// `"name";q=100;w=60`: the quota, and the seconds in which it refills.
fn policy(line: &Line) -> String {
    let window = line.window.map_or(String::new(), |window| format!(";w={window}"));
    format!("{};q={}{window}", quoted(&line.name), line.limit)
}

/// `"name";r=50;t=30`: what remains, and the seconds until there is more: of a denial the wait.
fn service(line: &Line) -> String {
    let seconds = line.retry.unwrap_or(line.reset);
    format!("{};r={};t={seconds}", quoted(&line.name), line.remaining)
}

/// A string of a structured field, which holds printable ASCII alone.
fn quoted(name: &str) -> String {
    let mut quoted = String::with_capacity(name.len() + 2);
    quoted.push('"');
    for character in name.chars() {
        match character {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(character);
            }
            ' '..='~' => quoted.push(character),
            _ => quoted.push('?'),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::{FieldValue, HeaderStyles};
    use crate::figures::{Line, Told};

    fn line(name: &'static str, remaining: u32, retry: Option<u64>) -> Line {
        Line {
            name: name.into(),
            is_denied: retry.is_some(),
            limit: 100,
            remaining,
            reset: 30,
            window: Some(60),
            retry,
        }
    }

    fn fields(styles: HeaderStyles, mut lines: Vec<Line>) -> Vec<String> {
        let mut fields = Vec::new();
        let told = Told { tightest: lines.remove(0), others: lines };
        styles.write(&told, &mut |field, value| {
            let name = field.name();
            fields.push(match value {
                FieldValue::Number(number) => format!("{name}: {number}"),
                FieldValue::Text(text) => format!("{name}: {text}"),
            });
        });
        fields
    }

    #[test]
    fn the_place_of_a_field_is_its_number() {
        for (place, field) in super::Field::ALL.into_iter().enumerate() {
            assert_eq!(field as usize, place);
        }
    }

    #[test]
    fn each_style_has_its_fields() {
        let lines = || vec![line("per user", 50, None)];
        assert_eq!(
            fields(HeaderStyles::default(), lines()),
            ["ratelimit-limit: 100", "ratelimit-remaining: 50", "ratelimit-reset: 30"]
        );
        assert_eq!(
            fields(HeaderStyles::PREFIXED, lines()),
            ["x-ratelimit-limit: 100", "x-ratelimit-remaining: 50", "x-ratelimit-reset: 30"]
        );
        assert_eq!(
            fields(HeaderStyles::STRUCTURED, lines()),
            [r#"ratelimit-policy: "per user";q=100;w=60"#, r#"ratelimit: "per user";r=50;t=30"#]
        );
        assert_eq!(fields(HeaderStyles::NONE, lines()), [""; 0]);
        let all = HeaderStyles::PLAIN.and(HeaderStyles::PREFIXED).and(HeaderStyles::STRUCTURED);
        assert_eq!(fields(all, lines()).len(), 8);
    }

    #[test]
    fn every_limit_has_an_item_and_no_name_breaks_the_field() {
        let lines = vec![line("a\"b\\", 0, Some(7)), line("grün\r\n", 9, None)];
        assert_eq!(
            fields(HeaderStyles::STRUCTURED, lines),
            [
                r#"ratelimit-policy: "a\"b\\";q=100;w=60, "gr?n??";q=100;w=60"#,
                r#"ratelimit: "a\"b\\";r=0;t=7, "gr?n??";r=9;t=30"#,
            ]
        );
    }
}
