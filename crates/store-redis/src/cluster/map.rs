//! Which node has which slots, as the nodes tell it.

use redis::Value;

use crate::address::Address;
use crate::slot::SLOTS;

/// The owner of each slot, and the nodes that are known.
#[derive(Clone, Debug)]
pub(crate) struct SlotMap {
    /// For each slot the place of its owner among the nodes.
    owners: Vec<Option<u16>>,
    /// Masters and replicas.
    nodes: Vec<Address>,
}

impl SlotMap {
    /// A map of nothing.
    pub(crate) fn empty() -> Self {
        Self { owners: vec![None; SLOTS], nodes: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Who has a slot.
    pub(crate) fn owner(&self, slot: u16) -> Option<&Address> {
        let place = (*self.owners.get(usize::from(slot))?)?;
        self.nodes.get(usize::from(place))
    }

    /// Every node that is known.
    pub(crate) fn nodes(&self) -> Vec<Address> {
        self.nodes.clone()
    }

    /// Notes that a slot has another owner.
    pub(crate) fn moved(&mut self, slot: u16, owner: &Address) {
        let place = self.place(owner);
        if let Some(known) = self.owners.get_mut(usize::from(slot)) {
            *known = place;
        }
    }

    /// Reads the answer to `CLUSTER SLOTS`: for each range its first and last slot, its master, and
    /// its replicas. A node that does not know its host means the one that was `asked`.
    pub(crate) fn read(
        told: &Value,
        asked: &str,
        reachable: impl Fn(&str, u16) -> Address,
    ) -> Option<Self> {
        let Value::Array(ranges) = told else {
            return None;
        };
        let mut map = Self::empty();
        for range in ranges {
            let Value::Array(parts) = range else {
                return None;
            };
            let [Value::Int(first), Value::Int(last), nodes @ ..] = &**parts else {
                return None;
            };
            let (first, last) = (usize::try_from(*first).ok()?, usize::try_from(*last).ok()?);
            let mut nodes = nodes.iter().filter_map(|node| {
                let (host, port) = node_address(node)?;
                let host = host.filter(|host| !matches!(&**host, "" | "?"));
                Some(host.map_or_else(|| (asked.to_owned(), port), |host| reachable(&host, port)))
            });
            let owner = map.place(&nodes.next()?);
            map.owners.get_mut(first..=last)?.fill(owner);
            for replica in nodes {
                map.place(&replica);
            }
        }
        (!map.is_empty()).then_some(map)
    }

    /// The place of a node, which is new or known.
    fn place(&mut self, node: &Address) -> Option<u16> {
        let place = self.nodes.iter().position(|known| known == node).unwrap_or_else(|| {
            self.nodes.push(node.clone());
            self.nodes.len() - 1
        });
        u16::try_from(place).ok()
    }
}

/// Host, if the node knows it, and port.
fn node_address(node: &Value) -> Option<(Option<String>, u16)> {
    let Value::Array(parts) = node else {
        return None;
    };
    let [host, Value::Int(port), ..] = &**parts else {
        return None;
    };
    let host = match host {
        Value::BulkString(host) => Some(String::from_utf8(host.clone()).ok()?),
        Value::SimpleString(host) => Some(host.clone()),
        Value::Nil => None,
        _ => return None,
    };
    Some((host, u16::try_from(*port).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    fn node(host: Value, port: i64) -> Value {
        Value::Array(vec![host, Value::Int(port), text("id"), Value::Array(vec![])])
    }

    fn range(first: i64, last: i64, nodes: Vec<Value>) -> Value {
        let mut parts = vec![Value::Int(first), Value::Int(last)];
        parts.extend(nodes);
        Value::Array(parts)
    }

    fn as_told(host: &str, port: u16) -> Address {
        (host.to_owned(), port)
    }

    #[test]
    fn the_first_node_of_a_range_owns_it() {
        let told = Value::Array(vec![
            range(0, 99, vec![node(text("a"), 1), node(text("r"), 2)]),
            range(200, 16_383, vec![node(Value::Nil, 3)]),
        ]);
        let mut map = SlotMap::read(&told, "asked", as_told).expect("a map");
        assert_eq!(map.owner(99), Some(&("a".into(), 1)));
        assert_eq!(map.owner(100), None);
        assert_eq!(map.owner(16_383), Some(&("asked".into(), 3)));
        assert_eq!(map.nodes().len(), 3);
        map.moved(100, &("b".into(), 4));
        assert_eq!(map.owner(100), Some(&("b".into(), 4)));
        assert_eq!(map.owner(101), None);
    }

    #[test]
    fn addresses_can_be_mapped() {
        let told = Value::Array(vec![range(0, 0, vec![node(text("10.0.0.1"), 1)])]);
        let map = SlotMap::read(&told, "asked", |_, port| ("outside".into(), port + 1));
        assert_eq!(map.expect("a map").owner(0), Some(&("outside".into(), 2)));
    }

    #[test]
    fn an_answer_that_is_none_makes_no_map() {
        let beyond = range(0, 16_384, vec![node(text("a"), 1)]);
        let strange = [Value::Nil, Value::Array(vec![]), Value::Array(vec![Value::Int(1)])];
        for told in strange.into_iter().chain([Value::Array(vec![beyond])]) {
            assert!(SlotMap::read(&told, "asked", as_told).is_none(), "{told:?}");
        }
    }
}
