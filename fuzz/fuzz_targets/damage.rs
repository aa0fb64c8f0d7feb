//! What becomes of a file: other bytes at a place, and an end that is missing.

/// Where the bytes go, how many are replaced, how many are left of the file after that, and the bytes.
pub type Damage<'b> = (u32, u8, Option<u32>, &'b [u8]);

/// A file after that.
pub fn damaged(whole: &[u8], (at, replaced, left, bytes): Damage<'_>) -> Vec<u8> {
    let mut file = whole.to_vec();
    let at = at as usize % (whole.len() + 1);
    let end = whole.len().min(at + usize::from(replaced));
    file.splice(at..end, bytes.iter().copied());
    if let Some(left) = left {
        file.truncate(left as usize % (file.len() + 1));
    }
    file
}
