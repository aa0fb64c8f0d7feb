//! A file of `isochrone_pipeline::store` whose version, form and checksum are right, whatever is in it.

use isochrone_pipeline::store::{VERSION, checksum};

/// Bytes before the head: `ISOPIECE`, the version, the form, the sizes of head and body, the checksum.
const PREFIX: usize = 44;

/// A file made so. `None`: it ends in what comes before its head.
pub fn sealed(file: &[u8], form: u64) -> Option<Vec<u8>> {
    let (prefix, rest) = file.split_at_checked(PREFIX)?;
    let size = u64::from_le_bytes(prefix[20..28].try_into().ok()?);
    let (head, body) = rest.split_at((size as usize).min(rest.len()));
    let mut sealed = b"ISOPIECE".to_vec();
    sealed.extend(VERSION.to_le_bytes());
    for word in [form, head.len() as u64, body.len() as u64, checksum(&[head, body])] {
        sealed.extend(word.to_le_bytes());
    }
    sealed.extend(rest);
    Some(sealed)
}
