//! What becomes of a file: other bytes from a place on, and an end that is missing.

/// Where the bytes go, how many are left of the file after that, and the bytes.
pub type Damage<'b> = (u32, Option<u32>, &'b [u8]);

/// A file after that. Bytes behind its end make it longer.
pub fn damaged(whole: &[u8], (at, left, bytes): Damage<'_>) -> Vec<u8> {
    let mut file = whole.to_vec();
    let at = at as usize % (whole.len() + 1);
    file.resize(whole.len().max(at + bytes.len()), 0);
    file[at..at + bytes.len()].copy_from_slice(bytes);
    if let Some(left) = left {
        file.truncate(left as usize % (file.len() + 1));
    }
    file
}
