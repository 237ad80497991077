//! Which of a cluster's slots a key belongs to.
//!
//! <https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#key-distribution-model>

/// How many slots a cluster has.
pub(crate) const SLOTS: usize = 16_384;

/// The slot of a key: of what stands between its first brace and the next closing one, if that is
/// not empty, and else of all of it.
pub(crate) fn slot_of(key: &[u8]) -> u16 {
    let tagged = key.iter().position(|byte| *byte == b'{').and_then(|open| {
        let rest = key.get(open + 1..)?;
        let close = rest.iter().position(|byte| *byte == b'}')?;
        rest.get(..close).filter(|tag| !tag.is_empty())
    });
    crc16(tagged.unwrap_or(key)) % 16_384
}

/// CRC-16/XMODEM: polynomial 0x1021, starting from zero.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc: u16, byte| {
        let [high, _] = crc.to_be_bytes();
        (crc << 8) ^ TABLE[usize::from(high ^ byte)]
    })
}

const TABLE: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte: u16 = 0;
    while byte < 256 {
        let mut crc = byte << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 };
            bit += 1;
        }
        table[byte as usize] = crc;
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_the_specification() {
        assert_eq!(crc16(b"123456789"), 0x31c3);
        // As `CLUSTER KEYSLOT` says.
        for (key, slot) in
            [("foo", 12_182), ("somekey", 11_058), ("", 0), ("{user1000}.following", 3_443)]
        {
            assert_eq!(slot_of(key.as_bytes()), slot, "{key}");
        }
    }

    #[test]
    fn a_tag_alone_decides() {
        assert_eq!(slot_of(b"{user1000}.following"), slot_of(b"user1000"));
        assert_eq!(slot_of(b"foo{bar}{zap}"), slot_of(b"bar"));
        assert_eq!(slot_of(b"foo{{bar}}zap"), slot_of(b"{bar"));
        for untagged in ["foo{}{bar}", "foo{bar", "foo}bar{"] {
            assert_eq!(slot_of(untagged.as_bytes()), crc16(untagged.as_bytes()) % 16_384);
        }
    }
}
