//! Which of the chunks that are not needed any more are deleted: by their age, and by what all of them take.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Which chunks are deleted of those that have been mapped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// Those that are this old; `None`: none for their age.
    pub age: Option<Duration>,
    /// The oldest ones, until all that have been mapped take no more than so many bytes; `None`: however much they take.
    pub bytes: Option<u64>,
}

/// A chunk that may go.
#[derive(Debug)]
struct Candidate {
    written: SystemTime,
    path: PathBuf,
    bytes: u64,
}

impl Retention {
    /// Deletes those of some chunks that are not to be kept. What cannot be deleted now is found again at the next look.
    pub(super) fn delete(self, chunks: Vec<PathBuf>) {
        if self == Self::default() {
            return;
        }
        let candidate = |path: PathBuf| {
            let written = fs::metadata(&path).and_then(|it| it.modified()).ok()?;
            let bytes = if self.bytes.is_some() { size(&path) } else { 0 };
            Some(Candidate { written, path, bytes })
        };
        let chunks = chunks.into_iter().filter_map(candidate).collect();
        for path in self.chosen(chunks, SystemTime::now()) {
            // Chunks are directories, pieces are files.
            let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
        }
    }

    /// Those that are to be deleted, the oldest first.
    fn chosen(self, mut chunks: Vec<Candidate>, now: SystemTime) -> Vec<PathBuf> {
        chunks.sort_by(|a, b| (a.written, &a.path).cmp(&(b.written, &b.path)));
        let mut left: u64 = chunks.iter().map(|chunk| chunk.bytes).sum();
        let is_old = |chunk: &Candidate| {
            let age = now.duration_since(chunk.written).unwrap_or_default();
            self.age.is_some_and(|most| age >= most)
        };
        let mut chosen = Vec::new();
        for chunk in chunks {
            if is_old(&chunk) || self.bytes.is_some_and(|most| left > most) {
                left -= chunk.bytes;
                chosen.push(chunk.path);
            }
        }
        chosen
    }
}

/// Bytes of a file, or of all files below a directory.
pub(super) fn size(directory: &Path) -> u64 {
    if let Ok(it) = fs::metadata(directory)
        && it.is_file()
    {
        return it.len();
    }
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let of_entry = |entry: fs::DirEntry| match entry.metadata() {
        Ok(it) if it.is_dir() => size(&entry.path()),
        Ok(it) => it.len(),
        Err(_) => 0,
    };
    entries.map(of_entry).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_and_then_the_oldest_go() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1000);
        // By age in seconds and bytes.
        let check = |retention: Retention, chunks: &[(u64, u64)], expect: &[u64]| {
            let candidate = |&(age, bytes): &(u64, u64)| Candidate {
                written: now - Duration::from_secs(age),
                path: PathBuf::from(age.to_string()),
                bytes,
            };
            let chosen = retention.chosen(chunks.iter().map(candidate).collect(), now);
            let expect: Vec<PathBuf> = expect.iter().map(|age| PathBuf::from(age.to_string())).collect();
            assert_eq!(chosen, expect, "{retention:?}");
        };
        let age = |seconds| Some(Duration::from_secs(seconds));
        let chunks = [(10, 5), (30, 5), (20, 5)];
        check(Retention { age: age(20), bytes: None }, &chunks, &[30, 20]);
        check(Retention { age: None, bytes: Some(10) }, &chunks, &[30]);
        check(Retention { age: None, bytes: Some(15) }, &chunks, &[]);
        check(Retention { age: age(30), bytes: Some(9) }, &chunks, &[30, 20]);
        check(Retention { age: None, bytes: Some(0) }, &chunks, &[30, 20, 10]);
        check(Retention { age: age(5), bytes: Some(100) }, &chunks, &[30, 20, 10]);
        check(Retention { age: age(5), bytes: None }, &[], &[]);
    }

    #[test]
    fn the_size_is_that_of_all_files() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("kernel")).unwrap();
        fs::write(directory.path().join("kernel/ch_0"), [0; 100]).unwrap();
        fs::write(directory.path().join("metadata"), [0; 20]).unwrap();
        assert_eq!(size(directory.path()), 120);
        assert_eq!(size(Path::new("/no/such")), 0);
    }
}
