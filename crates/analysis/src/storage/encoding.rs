//! Appends values to bytes, in the form of `postcard`: what rows are kept in ([`crate::Rows`],
//! [`crate::LogRows`]).

use postcard::ser_flavors::Flavor;
use serde::Serialize;

/// Appends what `postcard` writes to a buffer.
struct Appender<'b>(&'b mut Vec<u8>);

/// Maximum number of bytes that are pushed one by one, as numbers have: to copy them takes a call, which
/// costs more.
const MAX_PUSHED: usize = 10;

impl Flavor for Appender<'_> {
    type Output = ();

    #[inline]
    fn try_extend(&mut self, data: &[u8]) -> postcard::Result<()> {
        if data.len() <= MAX_PUSHED {
            for &byte in data {
                self.0.push(byte);
            }
        } else {
            self.0.extend_from_slice(data);
        }
        Ok(())
    }

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

/// Appends a value, all of whose parts can be serialized.
#[inline]
pub(crate) fn append(value: &(impl Serialize + ?Sized), bytes: &mut Vec<u8>) {
    let written = postcard::serialize_with_flavor(value, Appender(bytes));
    debug_assert!(written.is_ok(), "{written:?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_postcard_writes() {
        let check = |value: &(u64, i128, Option<f64>, &str)| {
            let mut bytes = vec![7];
            append(value, &mut bytes);
            assert_eq!(bytes[1..], postcard::to_stdvec(value).unwrap(), "{value:?}");
        };
        check(&(0, 0, None, ""));
        check(&(300, i128::MIN, Some(0.5), "a text that is longer than a number"));
        check(&(u64::MAX, i128::MAX, None, "ten bytes."));
    }
}
