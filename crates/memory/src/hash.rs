/// A 64-bit hash that is the same on every machine and in every release, since its values are stored: FNV-1a
/// (Fowler, Noll, Vo) with the finaliser of splitmix64, which spreads what FNV leaves in the low bits.
pub(crate) struct Hash64(u64);

impl Hash64 {
    pub(crate) fn new() -> Self {
        Hash64(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn write(mut self, bytes: &[u8]) -> Self {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self
    }

    /// Writes a text and its end, so that two texts in a row have only one reading.
    pub(crate) fn write_text(self, text: &str) -> Self {
        self.write(text.as_bytes()).write(&[0xff])
    }

    pub(crate) fn finish(self) -> u64 {
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }
}
