//! Which chunks of a host are next: of one session, of several one after the other, of several at a time.
//!
//! All sessions of a host are one recording. Each rotates when it likes, so a piece of the host ends where the first of them has turned to
//! its next chunk: the chunks of the others go on beyond it, and are opened again with the next piece. A session that begins after
//! another one has ended goes on for it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use isochrone_time::RawNs;

use super::chunks::Opened;
use super::journal::Done;

/// A piece of a host that can be mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ready {
    /// Up to which raw time, ns; `None`: to the end, as nothing comes after it.
    pub(super) to: Option<RawNs>,
    /// The chunks that are needed for it, beside those before.
    pub(super) opened: Vec<PathBuf>,
    /// Those of which all has been mapped then: session, number and path.
    pub(super) passed: Vec<(PathBuf, u64, PathBuf)>,
    /// Sessions that others go on for.
    pub(super) ended: Vec<PathBuf>,
    /// Numbers of chunks that did not come, by session: from, and up to one that is there.
    pub(super) given_up: Vec<(PathBuf, (u64, u64))>,
}

/// What is known of waiting.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    /// Nothing more will come.
    pub(super) is_last: bool,
    /// It has been waited long enough for what is missing.
    pub(super) is_over: bool,
    /// What is before the first chunk of a session that is there is not waited for: if it comes, all is
    /// mapped again.
    pub(super) has_any_start: bool,
}

/// A session of which chunks wait.
#[derive(Debug)]
struct Session<'o> {
    first: &'o Opened,
    next: Option<&'o Opened>,
    /// The next chunk is of another session, which goes on for this one.
    is_succeeded: bool,
}

/// The next piece of a host whose chunks `waiting` are sorted by time and which has been mapped as `done` says. `None`: something is still to
/// come before. `O(n log n)` in the chunks that wait.
pub(super) fn ready(waiting: &[Opened], done: &Done, how: Waiting) -> Option<Ready> {
    let mut by_session: BTreeMap<&Path, Vec<&Opened>> = BTreeMap::new();
    for chunk in waiting {
        by_session.entry(&chunk.chunk.session).or_default().push(chunk);
    }
    for chunks in by_session.values_mut() {
        chunks.sort_by_key(|chunk| chunk.chunk.number);
    }
    let sessions: Vec<Session<'_>> = by_session
        .values()
        .filter_map(|chunks| {
            let (first, own) = (*chunks.first()?, chunks.get(1).copied());
            let later =
                || by_session.iter().filter(|(path, _)| done.is_new(path)).filter_map(|(_, all)| all.first());
            let successor =
                || later().copied().filter(|other| other.begin >= first.end && other.chunk != first.chunk);
            let next = own.or_else(|| successor().min_by_key(|other| (other.begin, &other.chunk)));
            Some(Session { first, next, is_succeeded: own.is_none() && next.is_some() })
        })
        .collect();
    let to = sessions.iter().filter_map(|session| Some(session.next?.switched)).min()?;
    let is_before = |chunk: &&Opened| chunk.begin < to;
    for session in sessions.iter().filter(|session| is_before(&session.first)) {
        // Whatever a session has not brought yet may belong to the piece.
        let number = session.first.chunk.number;
        let is_next = session.next.is_some_and(|next| {
            next.chunk.session == session.first.chunk.session && next.chunk.number == number + 1
        });
        let path = &session.first.chunk.session;
        let is_start = how.has_any_start && done.is_new(path);
        let is_due = (is_start || number == done.next(path)) && is_next;
        if !is_due && !how.is_last && !how.is_over {
            return None;
        }
    }
    let is_silent = |path: &&Path| !by_session.contains_key(*path);
    let mut ended: Vec<PathBuf> = Vec::new();
    for path in done.running().filter(is_silent) {
        if !how.is_last && !how.is_over {
            return None;
        }
        ended.push(path.to_owned());
    }
    let passed: Vec<&Session<'_>> =
        sessions.iter().filter(|session| session.next.is_some_and(|next| next.switched <= to)).collect();
    let mut given_up = Vec::new();
    for &Session { first, next, .. } in &passed {
        let (path, number) = (&first.chunk.session, first.chunk.number);
        if !(how.has_any_start && done.is_new(path)) {
            given_up.push((path.clone(), (done.next(path), number)));
        }
        if let Some(next) = next.filter(|next| next.chunk.session == *path) {
            given_up.push((path.clone(), (number + 1, next.chunk.number)));
        }
    }
    given_up.retain(|(_, (from, to))| from < to);
    ended.extend(passed.iter().filter(|it| it.is_succeeded).map(|it| it.first.chunk.session.clone()));
    let mut opened: Vec<PathBuf> =
        waiting.iter().filter(is_before).map(|chunk| chunk.chunk.path.clone()).collect();
    // That a stream goes on is only known by its next chunk.
    let goes_on = sessions.iter().filter(|session| is_before(&session.first));
    opened.extend(goes_on.filter_map(|session| Some(session.next?.chunk.path.clone())));
    opened.sort_unstable();
    opened.dedup();
    let passed = passed.iter().map(|it| &it.first.chunk);
    let passed = passed.map(|it| (it.session.clone(), it.number, it.path.clone())).collect();
    Some(Ready { to: Some(to), opened, passed, ended, given_up })
}

/// The last piece of a host of which nothing more comes.
pub(super) fn rest(waiting: &[Opened]) -> Ready {
    let passed =
        waiting.iter().map(|it| &it.chunk).map(|it| (it.session.clone(), it.number, it.path.clone()));
    Ready {
        to: None,
        opened: waiting.iter().map(|chunk| chunk.chunk.path.clone()).collect(),
        passed: passed.collect(),
        ended: waiting.iter().map(|chunk| chunk.chunk.session.clone()).collect(),
        given_up: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::chunks::Chunk;
    use super::super::journal::Recent;
    use super::*;

    /// A chunk as `a0:10-20`: session, number, begin and end.
    fn chunk(text: &str) -> Opened {
        let (name, times) = text.split_once(':').unwrap();
        let (begin, end) = times.split_once('-').unwrap();
        let (begin, end) = (RawNs(begin.parse().unwrap()), RawNs(end.parse().unwrap()));
        let (session, number) = (PathBuf::from(&name[..1]), name[1..].parse().unwrap());
        let chunk = Chunk { session, number, path: PathBuf::from(name) };
        let (host, name) = (String::new(), String::new());
        Opened { chunk, host, name, begin, switched: begin, end, offset_ns: 0 }
    }

    /// What is mapped next, as `10 [a0 a1] a0`: up to when, of which chunks, and which are done then.
    fn check(done: &[&str], waiting: &[&str], how: Waiting, expect: Option<&str>) {
        let mut known = Done::default();
        for text in done {
            let Opened { chunk, end, .. } = chunk(text);
            known.pass(
                chunk.session.clone(),
                chunk.number,
                Recent { session: chunk.session, path: chunk.path, to: end },
            );
        }
        let mut chunks: Vec<Opened> = waiting.iter().map(|text| chunk(text)).collect();
        chunks.sort_by_key(|it| (it.switched, it.begin, it.chunk.clone()));
        let shown = ready(&chunks, &known, how).map(|ready| {
            let names = |paths: Vec<&PathBuf>| {
                paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
            };
            let passed = names(ready.passed.iter().map(|(.., path)| path).collect());
            let mut shown =
                format!("{} [{}] {passed}", ready.to.unwrap(), names(ready.opened.iter().collect()));
            for (session, (from, to)) in ready.given_up {
                shown += &format!(", no {}{from}..{to}", session.display());
            }
            if !ready.ended.is_empty() {
                shown += &format!(", over: {}", names(ready.ended.iter().collect()));
            }
            shown
        });
        assert_eq!(shown.as_deref(), expect, "{done:?} {waiting:?}");
    }

    const MORE: Waiting = Waiting { is_last: false, is_over: false, has_any_start: false };
    const OVER: Waiting = Waiting { is_over: true, ..MORE };
    const ANY: Waiting = Waiting { has_any_start: true, ..MORE };

    #[test]
    fn one_session() {
        check(&[], &[], MORE, None);
        check(&[], &["a0:0-10"], MORE, None);
        check(&[], &["a0:0-10", "a1:10-20"], MORE, Some("10 [a0 a1] a0"));
        check(&["a0:0-10"], &["a1:10-20", "a2:20-30", "a3:30-40"], MORE, Some("20 [a1 a2] a1"));
        // One is missing: at first it is waited for.
        check(&["a0:0-10"], &["a2:20-30", "a3:30-40"], MORE, None);
        check(&["a0:0-10"], &["a2:20-30", "a3:30-40"], OVER, Some("30 [a2 a3] a2, no a1..2"));
        check(&["a0:0-10"], &["a1:10-20", "a3:30-40"], OVER, Some("30 [a1 a3] a1, no a2..3"));
        // It begins with any chunk where all is mapped again if one before comes.
        check(&[], &["a7:70-80", "a8:80-90"], MORE, None);
        check(&[], &["a7:70-80", "a8:80-90"], OVER, Some("80 [a7 a8] a7, no a0..7"));
        check(&[], &["a7:70-80", "a8:80-90"], ANY, Some("80 [a7 a8] a7"));
        check(&[], &["a7:70-80", "a9:90-99"], ANY, None);
        check(&["a0:0-10"], &["a2:20-30", "a3:30-40"], ANY, None);
    }

    #[test]
    fn one_session_after_the_other() {
        check(&["a0:0-10"], &["a1:10-20", "b0:50-60"], MORE, None);
        check(&["a0:0-10"], &["a1:10-20", "b0:50-60"], OVER, Some("50 [a1 b0] a1, over: a"));
        // The next one has been there before: it does not go on for this one.
        check(&["a0:0-10", "b0:0-9"], &["a1:10-20", "b2:25-30"], OVER, None);
    }

    #[test]
    fn two_sessions_at_a_time() {
        let waiting = ["a0:0-10", "a1:10-20", "b0:1-16", "b1:16-31"];
        check(&[], &waiting, MORE, Some("10 [a0 a1 b0 b1] a0"));
        check(&["a0:0-10"], &waiting[1..], MORE, None);
        let waiting = ["a1:10-20", "a2:20-30", "b0:1-16", "b1:16-31"];
        check(&["a0:0-10"], &waiting, MORE, Some("16 [a1 a2 b0 b1] b0"));
        // Of one of them nothing has come yet.
        check(&["a0:0-10", "b0:1-16"], &["a1:10-20", "a2:20-30"], MORE, None);
        check(&["a0:0-10", "b0:1-16"], &["a1:10-20", "a2:20-30"], OVER, Some("20 [a1 a2] a1, over: b"));
    }
}
