//! Guesses the effect of calls of which only the exit was seen, from their names and results.

use super::super::returned::Returned;
use super::Machine;
use super::calls::{created, ends, peer};
use crate::calls::{ExitOutput, Opener, Paired, created_by};
use crate::id::Name;
use crate::span::Spans;
use crate::span::file::{FileKind, Socket};

impl Machine {
    /// Applies a call of this name whose arguments are unknown. What it made exists, with the kind that the
    /// name implies; of its effect on other descriptors nothing is known.
    pub(super) fn guess(&mut self, call: &Returned<'_>, name: &str, spans: &mut impl Spans) {
        let &Returned { thread, at, ret, output, .. } = call;
        if ret < 0 {
            return;
        }
        if matches!(name, "execve" | "execveat") {
            return self.exec(thread, at, spans);
        }
        let Some(call) = Opener::find(name) else { return };
        let kind = match call {
            // Not every result of these is a new descriptor.
            Opener::Fcntl | Opener::Fcntl64 | Opener::Signalfd | Opener::Signalfd4 => return,
            Opener::Pipe | Opener::Pipe2 | Opener::Socketpair => {
                let ExitOutput::Pair(first, second) = *output else { return };
                for (fd, kind) in pair(call, first, second) {
                    let file = self.new_file(thread, at, call, kind, Name::default());
                    self.open(thread, fd.into(), file, spans);
                }
                return;
            }
            Opener::Accept | Opener::Accept4 => {
                FileKind::Socket(Box::new(Socket { peer: peer(output), ..Socket::default() }))
            }
            Opener::Socket => FileKind::Socket(Box::default()),
            Opener::Dup | Opener::Dup2 | Opener::Dup3 | Opener::PidfdGetfd => FileKind::Unknown,
            Opener::Open
            | Opener::Openat
            | Opener::Openat2
            | Opener::Creat
            | Opener::OpenByHandle
            | Opener::OpenTree => FileKind::File,
            call => created_by(call.name()).map_or(FileKind::Other, |what| created(&what).0),
        };
        if let (Opener::Dup2 | Opener::Dup3, Ok(fd)) = (call, i32::try_from(ret)) {
            self.replace(thread, fd, at, spans);
        }
        let file = self.new_file(thread, at, call, kind, Name::default());
        self.open(thread, ret, file, spans);
    }
}

/// The kinds of two descriptors that a call has made.
fn pair(call: Opener, first: i32, second: i32) -> [(i32, FileKind); 2] {
    if call != Opener::Socketpair {
        return ends(Paired::Pipe, first, second);
    }
    [(first, second), (second, first)].map(|(fd, other)| {
        (fd, FileKind::Socket(Box::new(Socket { other: Some(other), ..Socket::default() })))
    })
}
