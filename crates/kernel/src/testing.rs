//! A consumer that records the spans it gets as text, for the tests of this crate.

use crate::id::{ThreadAliases, ThreadId};
use crate::span::{Slice, Spans, Unknown};

/// The spans, one line each.
#[derive(Debug, Default)]
pub(crate) struct SpanLines(Vec<String>);

impl SpanLines {
    pub(crate) fn sorted(mut self) -> Vec<String> {
        self.0.sort();
        self.0
    }
}

fn shown(thread: ThreadId) -> String {
    match thread {
        ThreadId::Idle(_) => "idle".to_owned(),
        ThreadId::Thread { tid, .. } => tid.to_string(),
        ThreadId::Unidentified { cpu, .. } => format!("whoever on {cpu}"),
    }
}

impl Spans for SpanLines {
    fn slice(&mut self, it: &Slice) {
        self.0.push(format!("slice cpu {} {} {}..{}", it.cpu, shown(it.thread), it.begin, it.end));
    }

    fn unknown(&mut self, it: &Unknown) {
        let thread = it.thread.map_or("-".to_owned(), shown);
        self.0.push(format!("unknown cpu {} {thread} {}..{}", it.cpu, it.begin, it.end));
    }

    fn rename(&mut self, _: &ThreadAliases) {}

    fn absorb(&mut self, mut right: Self) {
        self.0.append(&mut right.0);
    }
}
