//! The chunks of a rotated session as one trace, for people.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use super::summary::{StreamInfo, TraceInfo, sort_classes};

/// The traces, with all chunks of a session joined at the position of the first of them.
pub(crate) fn joined<'t>(traces: &[TraceInfo<'t>]) -> Vec<TraceInfo<'t>> {
    let mut sessions: Vec<Vec<&TraceInfo<'t>>> = Vec::new();
    for trace in traces {
        match sessions.iter_mut().find(|session| are_of_one(session[0], trace)) {
            Some(session) => session.push(trace),
            None => sessions.push(vec![trace]),
        }
    }
    sessions.iter().map(|chunks| session(chunks)).collect()
}

/// Whether two traces are chunks of one session: the same tracer wrote both, by the same clock.
fn are_of_one(a: &TraceInfo<'_>, b: &TraceInfo<'_>) -> bool {
    a.uuid.is_some() && a.uuid == b.uuid && a.host == b.host && a.domain == b.domain && a.clocks == b.clocks
}

fn session<'t>(chunks: &[&TraceInfo<'t>]) -> TraceInfo<'t> {
    let mut all = chunks[0].clone();
    for chunk in &chunks[1..] {
        all.totals.add(&chunk.totals);
        all.losses.extend(&chunk.losses);
        all.diagnostics.extend_from_slice(&chunk.diagnostics);
        all.pid_namespaces.extend(&chunk.pid_namespaces);
        all.network = (all.network.0 + chunk.network.0, all.network.1 + chunk.network.1);
        all.empty_files.extend(&chunk.empty_files);
        for stream in &chunk.stream_list {
            add_stream(&mut all.stream_list, stream);
        }
        for class in &chunk.event_classes {
            match all.event_classes.iter_mut().find(|known| (known.id, known.name) == (class.id, class.name))
            {
                Some(known) => {
                    known.count += class.count;
                    known.bytes += class.bytes;
                }
                None => all.event_classes.push(class.clone()),
            }
        }
    }
    sort_classes(&mut all.event_classes);
    if chunks.len() > 1 {
        // Files that no chunk has packets in.
        let full: HashSet<&str> = all.stream_list.iter().map(|stream| stream.file).collect();
        all.empty_files.retain(|name| !full.contains(name));
        all.empty_files.sort_unstable();
        all.empty_files.dedup();
        all.path = pattern(&chunks.iter().map(|chunk| Path::new(&chunk.path)).collect::<Vec<_>>());
    }
    all.streams = all.stream_list.len();
    all.chunks = chunks.len();
    all
}

fn add_stream<'t>(all: &mut Vec<StreamInfo<'t>>, stream: &StreamInfo<'t>) {
    let is_it = |known: &&mut StreamInfo<'_>| {
        (known.class_id, known.stream_id, known.file) == (stream.class_id, stream.stream_id, stream.file)
    };
    let Some(known) = all.iter_mut().find(is_it) else {
        all.push(stream.clone());
        return;
    };
    known.totals.add(&stream.totals);
}

/// Several paths as one: what they have in common at either end, with `*` for the rest.
fn pattern(paths: &[&Path]) -> String {
    let parts: Vec<Vec<Component<'_>>> = paths.iter().map(|path| path.components().collect()).collect();
    let (first, others) = (&parts[0], &parts[1..]);
    let shortest = parts.iter().map(Vec::len).min().unwrap_or(0);
    let is_common =
        |at: &dyn Fn(&[Component<'_>]) -> Option<PathBuf>| others.iter().all(|part| at(part) == at(first));
    let nth =
        |index: usize| move |part: &[Component<'_>]| part.get(index).map(|c| PathBuf::from(c.as_os_str()));
    let last = |index: usize| {
        move |part: &[Component<'_>]| {
            part.len().checked_sub(index + 1).map(|at| PathBuf::from(part[at].as_os_str()))
        }
    };
    let before = (0..shortest).take_while(|&index| is_common(&nth(index))).count();
    let after = (0..shortest - before).take_while(|&index| is_common(&last(index))).count();
    let mut path: PathBuf = first[..before].iter().collect();
    path.push("*");
    path.extend(&first[first.len() - after..]);
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_their_ends_in_common() {
        let check = |paths: &[&str], expect: &str| {
            let paths: Vec<&Path> = paths.iter().map(Path::new).collect();
            assert_eq!(pattern(&paths), expect);
        };
        check(&["s/archives/1-0/kernel", "s/archives/2-1/kernel"], "s/archives/*/kernel");
        check(
            &["/s/archives/1/ust/uid/0/64-bit", "/s/archives/2/ust/uid/0/64-bit"],
            "/s/archives/*/ust/uid/0/64-bit",
        );
        check(&["a", "b"], "*");
        check(&["a/kernel", "kernel"], "*/kernel");
        check(&["s/1", "s/2", "s/1"], "s/*");
    }
}
