//! Who is counted: one or several parts, each kept apart from the others.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// One part of a key, borrowed from its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part<'a> {
    /// Any bytes; text is its UTF-8 bytes.
    Bytes(&'a [u8]),
    /// An integer that is not negative.
    Unsigned(u128),
    /// A negative integer, by its absolute value.
    Negative(u128),
    /// An address; an IPv4 address is a kind of its own, never the IPv6 address that maps it.
    Ip(IpAddr),
}

/// A key as its parts, the form in which a store receives it.
///
/// Two keys are the same exactly when their parts are, one by one: `("a", "b:c")` and
/// `("a:b", "c")` are different, as are the text `"1.2.3.4"` and the address, or `"5"` and `5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyRef<'a> {
    parts: &'a [Part<'a>],
}

impl<'a> KeyRef<'a> {
    /// The key made of `parts`, in this order.
    #[must_use]
    pub const fn new(parts: &'a [Part<'a>]) -> Self {
        Self { parts }
    }

    /// The parts, in order.
    #[inline]
    #[must_use]
    pub const fn parts(self) -> &'a [Part<'a>] {
        self.parts
    }
}

/// What can be one part of a key.
pub trait KeyPart {
    /// The part, borrowed.
    fn part(&self) -> Part<'_>;
}

/// What can be a key: any [`KeyPart`], or a tuple of two to four of them. Nothing is allocated.
///
/// # Examples
///
/// ```
/// use gorl_core::{Key, Part};
///
/// assert_eq!("user-1".parts().as_ref(), [Part::Bytes(b"user-1")]);
/// assert_eq!(("tenant", 7_u64).parts().as_ref(), [Part::Bytes(b"tenant"), Part::Unsigned(7)]);
/// ```
pub trait Key {
    /// The array of parts. It may be held while a store is awaited, so it can change threads.
    type Parts<'a>: AsRef<[Part<'a>]> + Send
    where
        Self: 'a;

    /// The key's parts, borrowed.
    fn parts(&self) -> Self::Parts<'_>;
}

impl<K: Key + ?Sized> Key for &K {
    type Parts<'a>
        = K::Parts<'a>
    where
        Self: 'a;

    #[inline]
    fn parts(&self) -> Self::Parts<'_> {
        (**self).parts()
    }
}

impl<P: KeyPart + ?Sized> KeyPart for &P {
    #[inline]
    fn part(&self) -> Part<'_> {
        (**self).part()
    }
}

/// Makes a type a part and, alone, a key.
macro_rules! part {
    ($($type:ty, $self:ident => $part:expr;)*) => { $(
        impl KeyPart for $type {
            #[inline]
            fn part(&self) -> Part<'_> {
                let $self = self;
                $part
            }
        }

        impl Key for $type {
            type Parts<'a>
                = [Part<'a>; 1]
            where
                Self: 'a;

            #[inline]
            fn parts(&self) -> [Part<'_>; 1] {
                [self.part()]
            }
        }
    )* };
}

part! {
    str, text => Part::Bytes(text.as_bytes());
    [u8], bytes => Part::Bytes(bytes);
    u8, n => Part::Unsigned(u128::from(*n));
    u16, n => Part::Unsigned(u128::from(*n));
    u32, n => Part::Unsigned(u128::from(*n));
    u64, n => Part::Unsigned(u128::from(*n));
    usize, n => Part::Unsigned(*n as u128);
    u128, n => Part::Unsigned(*n);
    i8, n => signed(i128::from(*n));
    i16, n => signed(i128::from(*n));
    i32, n => signed(i128::from(*n));
    i64, n => signed(i128::from(*n));
    isize, n => signed(*n as i128);
    i128, n => signed(*n);
    IpAddr, address => Part::Ip(*address);
    Ipv4Addr, address => Part::Ip(IpAddr::V4(*address));
    Ipv6Addr, address => Part::Ip(IpAddr::V6(*address));
}

#[cfg(feature = "std")]
part! {
    std::string::String, text => Part::Bytes(text.as_bytes());
    std::vec::Vec<u8>, bytes => Part::Bytes(bytes);
    std::boxed::Box<str>, text => Part::Bytes(text.as_bytes());
    std::sync::Arc<str>, text => Part::Bytes(text.as_bytes());
    std::borrow::Cow<'_, str>, text => Part::Bytes(text.as_bytes());
}

impl<const N: usize> KeyPart for [u8; N] {
    #[inline]
    fn part(&self) -> Part<'_> {
        Part::Bytes(self)
    }
}

impl<const N: usize> Key for [u8; N] {
    type Parts<'a> = [Part<'a>; 1];

    #[inline]
    fn parts(&self) -> [Part<'_>; 1] {
        [self.part()]
    }
}

/// Makes a tuple of parts a key.
macro_rules! tuple {
    ($count:literal: $($name:ident)*) => {
        impl<$($name: KeyPart),*> Key for ($($name,)*) {
            type Parts<'a> = [Part<'a>; $count] where Self: 'a;

            #[inline]
            fn parts(&self) -> [Part<'_>; $count] {
                #[allow(non_snake_case)]
                let ($($name,)*) = self;
                [$($name.part()),*]
            }
        }
    };
}

tuple!(2: A B);
tuple!(3: A B C);
tuple!(4: A B C D);

#[inline]
const fn signed(n: i128) -> Part<'static> {
    if n < 0 { Part::Negative(n.unsigned_abs()) } else { Part::Unsigned(n.unsigned_abs()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_is_the_same_key_in_every_type_that_holds_it() {
        assert_eq!(5_u8.parts(), 5_i64.parts());
        assert_eq!((-1_i8).parts(), [Part::Negative(1)]);
        assert_ne!((-1_i128).parts(), u128::MAX.parts());
    }

    #[test]
    fn text_an_address_and_a_number_are_different_keys() {
        let address: IpAddr = "1.2.3.4".parse().unwrap();
        assert_ne!(address.parts(), "1.2.3.4".parts());
        assert_ne!(5_u64.parts(), "5".parts());
        assert_eq!("ab".parts(), [b'a', b'b'].parts());
    }
}
