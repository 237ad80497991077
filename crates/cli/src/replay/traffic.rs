//! The arrivals of a log in order of its clock, with their keys numbered.

use indexmap::IndexSet;

/// Requests in time order, and for each key its own requests in time order.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    at_ns: Vec<u64>,
    key: Vec<u32>,
    names: IndexSet<Box<[u8]>>,
    with_resource: bool,
    /// Positions in `at_ns`, those of one key together and in order.
    grouped: Vec<u32>,
    /// Where each key's group starts, and after the last the end of all.
    starts: Vec<u32>,
    also: Vec<Column>,
}

/// The keys of the requests under limits that count by something else than the key.
#[derive(Clone, Debug, Default)]
struct Column {
    /// For each request, in time order once that is known.
    key: Vec<u32>,
    names: IndexSet<Box<[u8]>>,
}

/// Stands for the key of a request that has none in a column. No key has this number, for there are
/// fewer requests.
const NO_KEY: u32 = u32::MAX;

/// Collects requests as a log has them, which is in no order to rely on.
#[derive(Debug)]
pub(crate) struct TrafficBuilder {
    arrivals: Vec<(u64, u32)>,
    names: IndexSet<Box<[u8]>>,
    with_resource: bool,
    name: Vec<u8>,
    also: Vec<Column>,
}

/// There are more requests or keys than 32 bits can number.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {} requests are too many to replay at once", u32::MAX)]
pub(crate) struct TooMany;

impl TrafficBuilder {
    /// Requests have a resource or not, and in each of so many columns a further key.
    pub(crate) fn new(with_resource: bool, columns: usize) -> Self {
        Self {
            arrivals: Vec::new(),
            names: IndexSet::new(),
            with_resource,
            name: Vec::new(),
            also: vec![Column::default(); columns],
        }
    }

    pub(crate) fn push(&mut self, at_ns: u64, key: &[u8], resource: &[u8]) -> Result<(), TooMany> {
        if self.arrivals.len() >= u32::MAX as usize {
            return Err(TooMany);
        }
        self.name.clear();
        if self.with_resource {
            // The length in front keeps ("a", "bc") and ("ab", "c") two keys.
            let length = u32::try_from(resource.len()).map_err(|_| TooMany)?;
            self.name.extend(length.to_le_bytes());
            self.name.extend(resource);
        }
        self.name.extend(key);
        let number = number(&mut self.names, &self.name)?;
        self.arrivals.push((at_ns, number));
        Ok(())
    }

    /// The key in a column of the request that was pushed last; to be called once for each column.
    pub(crate) fn push_also(&mut self, column: usize, key: Option<&[u8]>) -> Result<(), TooMany> {
        let column = &mut self.also[column];
        let number = key.map_or(Ok(NO_KEY), |key| number(&mut column.names, key))?;
        column.key.push(number);
        Ok(())
    }

    /// Orders the requests by time; those of one instant stay in the order of the log.
    pub(crate) fn build(mut self) -> Traffic {
        if !self.also.is_empty() {
            let mut order: Vec<u32> = (0..).take(self.arrivals.len()).collect();
            order.sort_by_key(|&at| self.arrivals[at as usize].0);
            for column in &mut self.also {
                column.key = order.iter().map(|&at| column.key[at as usize]).collect();
            }
        }
        self.arrivals.sort_by_key(|&(at_ns, _)| at_ns);
        let (at_ns, key): (Vec<u64>, Vec<u32>) = self.arrivals.into_iter().unzip();
        let mut starts = vec![0_u32; self.names.len() + 1];
        for &number in &key {
            starts[number as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut grouped = vec![0_u32; key.len()];
        for (position, &number) in (0_u32..).zip(&key) {
            let slot = &mut next[number as usize];
            grouped[*slot as usize] = position;
            *slot += 1;
        }
        Traffic {
            at_ns,
            key,
            names: self.names,
            with_resource: self.with_resource,
            grouped,
            starts,
            also: self.also,
        }
    }
}

/// The number of a name, which is new if the name is.
fn number(names: &mut IndexSet<Box<[u8]>>, name: &[u8]) -> Result<u32, TooMany> {
    let number = match names.get_index_of(name) {
        Some(number) => number,
        None => names.insert_full(name.into()).0,
    };
    u32::try_from(number).map_err(|_| TooMany)
}

impl Traffic {
    pub(crate) fn requests(&self) -> usize {
        self.at_ns.len()
    }

    pub(crate) fn keys(&self) -> usize {
        self.names.len()
    }

    /// The instants of the first and the last request; zero when there are none.
    pub(crate) fn span(&self) -> (u64, u64) {
        let end = |edge: Option<&u64>| edge.copied().unwrap_or_default();
        (end(self.at_ns.first()), end(self.at_ns.last()))
    }

    /// When and for which key each request came, in time order.
    pub(crate) fn arrivals(&self) -> impl ExactSizeIterator<Item = (u64, u32)> + '_ {
        self.at_ns.iter().copied().zip(self.key.iter().copied())
    }

    /// The bytes under which the limiter counts a key; different for different keys.
    pub(crate) fn counted_as(&self, key: u32) -> &[u8] {
        self.names.get_index(key as usize).map_or(&[], |name| name)
    }

    /// How many keys a column has, or how many there are if none is named.
    pub(crate) fn keys_under(&self, column: Option<usize>) -> usize {
        column.map_or(self.keys(), |column| self.also[column].names.len())
    }

    /// The key in a column of the request at this position, if it has one.
    pub(crate) fn key_under(&self, column: Option<usize>, position: usize) -> Option<u32> {
        let keys = column.map_or(&self.key, |column| &self.also[column].key);
        Some(keys[position]).filter(|&key| key != NO_KEY)
    }

    /// The bytes of a key in a column.
    pub(crate) fn counted_under(&self, column: Option<usize>, key: u32) -> &[u8] {
        let names = column.map_or(&self.names, |column| &self.also[column].names);
        names.get_index(key as usize).map_or(&[], |name| name)
    }

    /// The key as the log has it, and its resource when resources are counted apart.
    pub(crate) fn name(&self, key: u32) -> (&[u8], Option<&[u8]>) {
        let name = self.counted_as(key);
        if !self.with_resource {
            return (name, None);
        }
        let Some((length, rest)) = name.split_first_chunk::<4>() else {
            return (name, None);
        };
        let (resource, key) = rest.split_at(rest.len().min(u32::from_le_bytes(*length) as usize));
        (key, Some(resource))
    }

    /// The positions of a key's requests among all, in time order.
    pub(crate) fn positions(&self, key: u32) -> &[u32] {
        let key = key as usize;
        let (Some(&from), Some(&to)) = (self.starts.get(key), self.starts.get(key + 1)) else {
            return &[];
        };
        &self.grouped[from as usize..to as usize]
    }

    /// The instant of the request at this position.
    pub(crate) fn at(&self, position: u32) -> u64 {
        self.at_ns[position as usize]
    }

    /// The instants of a key's requests in order.
    pub(crate) fn times(&self, key: u32) -> impl Iterator<Item = u64> + '_ {
        self.positions(key).iter().map(|&position| self.at(position))
    }

    /// All keys by number.
    pub(crate) fn all_keys(&self) -> impl Iterator<Item = u32> + use<> {
        0..u32::try_from(self.keys()).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_in_time_order_and_ties_keep_the_order_of_the_log() {
        let mut builder = TrafficBuilder::new(false, 0);
        for (at, key) in [(5, "a"), (3, "b"), (5, "c"), (3, "a"), (5, "b")] {
            builder.push(at, key.as_bytes(), b"").unwrap();
        }
        let traffic = builder.build();
        let order: Vec<_> =
            traffic.arrivals().map(|(at, key)| (at, traffic.counted_as(key))).collect();
        assert_eq!(order, [(3, &b"b"[..]), (3, b"a"), (5, b"a"), (5, b"c"), (5, b"b")]);
        assert_eq!(traffic.positions(0), [1, 2]);
        assert_eq!(traffic.times(1).collect::<Vec<_>>(), [3, 5]);
        assert_eq!((traffic.requests(), traffic.keys(), traffic.span()), (5, 3, (3, 5)));
    }

    #[test]
    fn keys_of_columns_follow_their_requests_into_time_order() {
        let mut builder = TrafficBuilder::new(false, 2);
        for (at, user) in [(5, Some(&b"ann"[..])), (3, None), (5, Some(b"bob")), (1, Some(b"ann"))]
        {
            builder.push(at, b"a", b"").unwrap();
            builder.push_also(0, Some(b"")).unwrap();
            builder.push_also(1, user).unwrap();
        }
        let traffic = builder.build();
        let users: Vec<_> = (0..4).map(|at| traffic.key_under(Some(1), at)).collect();
        assert_eq!(users, [Some(0), None, Some(0), Some(1)]);
        assert_eq!(traffic.counted_under(Some(1), 1), b"bob");
        let counts = [None, Some(0), Some(1)].map(|column| traffic.keys_under(column));
        assert_eq!(counts, [1, 1, 2]);
        assert_eq!(traffic.key_under(None, 3), Some(0));
    }

    #[test]
    fn resources_and_keys_never_run_together() {
        let mut builder = TrafficBuilder::new(true, 0);
        builder.push(0, b"c", b"ab").unwrap();
        builder.push(0, b"bc", b"a").unwrap();
        builder.push(0, b"c", b"ab").unwrap();
        let traffic = builder.build();
        assert_eq!(traffic.keys(), 2);
        assert_eq!(traffic.name(0), (&b"c"[..], Some(&b"ab"[..])));
        assert_eq!(traffic.name(1), (&b"bc"[..], Some(&b"a"[..])));
    }

    #[test]
    fn no_traffic_is_no_trouble() {
        let traffic = TrafficBuilder::new(false, 0).build();
        assert_eq!((traffic.requests(), traffic.keys(), traffic.span()), (0, 0, (0, 0)));
        assert_eq!(traffic.positions(0), [0_u32; 0]);
    }
}
