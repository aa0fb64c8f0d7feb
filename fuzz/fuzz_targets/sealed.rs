//! A file of `isochrone_pipeline::piece_file` whose version, form and checksum are right, whatever is in it.

use isochrone_pipeline::piece_file::{VERSION, checksum};

/// Bytes before the head: `ISOPIECE`, the version, the form, the sizes of head and body, the checksum.
const PREFIX: usize = 44;

/// A file made so of a damaged one: what the damage is in, head or body, is longer or shorter then. `None`: it ends before its head.
pub fn sealed(whole: &[u8], damaged: &[u8], form: u64) -> Option<Vec<u8>> {
    let (prefix, rest) = damaged.split_at_checked(PREFIX)?;
    let size = |at: usize| prefix[at..at + 8].try_into().map(u64::from_le_bytes).map(|size| size as usize);
    let (head, body) = (size(20).ok()?, size(28).ok()?);
    let same = whole.iter().zip(damaged).take_while(|(a, b)| a == b).count();
    let is_in_body = same.checked_sub(PREFIX).is_some_and(|same| same >= head);
    let head = if is_in_body { head.min(rest.len()) } else { rest.len().saturating_sub(body) };
    let (head, body) = rest.split_at(head);
    let mut sealed = b"ISOPIECE".to_vec();
    sealed.extend(VERSION.to_le_bytes());
    for word in [form, head.len() as u64, body.len() as u64, checksum(&[head, body])] {
        sealed.extend(word.to_le_bytes());
    }
    sealed.extend(rest);
    Some(sealed)
}
