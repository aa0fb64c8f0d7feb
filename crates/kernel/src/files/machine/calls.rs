//! Executes system calls that succeeded.

use super::super::open::{About, OpenFile};
use super::super::returned::{OneUse, Returned, UseOutcome};
use super::Machine;
use super::tables::emit;
use crate::calls::{Created, Effect, ExitOutput, Opener, Paired, Sharing, WaitedSet, clone_flag, open_flag};
use crate::id::{Name, ThreadId, Time};
use crate::span::file::{ClosedBy, FileKind, OpenedBy, Socket};
use crate::span::{Mapped, Mapping, Poll, Spans};

/// `CLOSE_RANGE_UNSHARE`.
const RANGE_UNSHARE: u32 = 2;
/// `CLOSE_RANGE_CLOEXEC`.
const RANGE_CLOEXEC: u32 = 4;

impl Machine {
    /// Applies the effect of a call that returned.
    pub(super) fn call(&mut self, call: &Returned<'_>, effect: &Effect, spans: &mut impl Spans) {
        let &Returned { thread, at, ret, output, flow, .. } = call;
        match *effect {
            // Counted elsewhere, or nothing to count.
            Effect::Nothing
            | Effect::Clone { .. }
            | Effect::Use { .. }
            | Effect::Transfer { .. }
            | Effect::Object { .. }
            | Effect::Poll { .. } => {}
            Effect::EpollControl { set, fd, change } => {
                if let Some(file) = self.file(thread, set, at) {
                    file.touch(thread, at);
                    file.about.kind = FileKind::Epoll;
                    file.watched.get_or_insert_default().change(fd, at, change);
                }
                // It is open, whether or not it was seen before.
                self.file(thread, fd, at);
            }
            Effect::EpollWait { set } => self.waited(call, set, spans),
            Effect::Open { call, dir, ref path, flags } => {
                let name = self.resolved(thread, dir, path);
                let kind =
                    if flags & open_flag::DIRECTORY != 0 { FileKind::Directory } else { FileKind::File };
                let close_on_exec = flags & open_flag::CLOEXEC != 0;
                let file = OpenFile { close_on_exec, ..self.new_file(thread, at, call, kind, name) };
                self.open(thread, ret, file, spans);
            }
            Effect::Create { call, ref what, close_on_exec } => {
                let (kind, name) = created(what);
                let file = OpenFile { close_on_exec, ..self.new_file(thread, at, call, kind, name) };
                self.open(thread, ret, file, spans);
            }
            Effect::Pair { call, what, close_on_exec } => {
                if let ExitOutput::Pair(first, second) = *output {
                    for (fd, kind) in ends(what, first, second) {
                        let file = OpenFile {
                            close_on_exec,
                            ..self.new_file(thread, at, call, kind, Name::default())
                        };
                        self.open(thread, fd.into(), file, spans);
                    }
                }
            }
            Effect::Close { fd } => {
                let end = self.doubts.end(at, ClosedBy::Close, thread);
                let place = self.table_of(thread);
                if fd < 0 {
                    return;
                }
                let table = self.tables.at_mut(place);
                // It was open, whether or not it was seen before.
                let file = table.files.remove(fd);
                let file = file.unwrap_or_else(|| OpenFile::sighted(at, end.losses));
                if table.is_stray {
                    self.doubts.stray(fd, at);
                }
                emit(file, fd, table.owner(), end, &self.doubts, spans);
            }
            Effect::CloseRange { first, last, flags } => {
                self.close_range(thread, at, [first, last], flags, spans);
            }
            Effect::Duplicate { call, fd, to, close_on_exec } => {
                if to == Some(fd) {
                    return self.touch(thread, fd, at);
                }
                let opened_by = OpenedBy::Call(call);
                let Some(copy) = self.file(thread, fd, at).map(|file| {
                    file.touch(thread, at);
                    OpenFile { close_on_exec, ..file.copy(thread, at, opened_by) }
                }) else {
                    return;
                };
                if let Some(to) = to {
                    self.replace(thread, to, at, spans);
                }
                self.open(thread, ret, copy, spans);
            }
            Effect::CloseOnExec { fd, on } => {
                if let Some(file) = self.file(thread, fd, at) {
                    file.touch(thread, at);
                    file.close_on_exec = on;
                }
            }
            Effect::Connect { fd, peer } => {
                self.socket(thread, fd, at, |socket| socket.peer = peer);
                if let (Some(file), Some(flow)) = (self.file(thread, fd, at), flow) {
                    file.sent(at, flow);
                }
            }
            Effect::Bind { fd, local } => self.socket(thread, fd, at, |socket| socket.local = local),
            Effect::Listen { fd } => self.socket(thread, fd, at, |socket| socket.is_listening = true),
            Effect::Accept { call, fd, close_on_exec } => {
                let mut like = Socket::default();
                self.socket(thread, fd, at, |socket| {
                    socket.is_listening = true;
                    like = *socket;
                });
                let socket = Socket { peer: peer(output), is_listening: false, other: None, ..like };
                let kind = FileKind::Socket(Box::new(socket));
                let file =
                    OpenFile { close_on_exec, ..self.new_file(thread, at, call, kind, Name::default()) };
                self.open(thread, ret, file, spans);
            }
            Effect::Map { fd, bytes, sharing } => self.map(call, (fd, bytes, sharing), spans),
            Effect::Unmap { address, bytes } => {
                spans.mapping(&Mapping { thread, at, address, bytes, what: Mapped::Nothing });
            }
            Effect::Unshare { flags } => {
                if flags & clone_flag::FILES != 0 {
                    self.unshare(thread, at);
                }
            }
            Effect::Exec => self.exec(thread, at, spans),
        }
    }

    /// A descriptor that a call has just made.
    #[inline]
    pub(super) fn new_file(
        &self,
        thread: ThreadId,
        at: Time,
        call: Opener,
        kind: FileKind,
        name: Name,
    ) -> OpenFile {
        let made = (kind == FileKind::Memory).then_some(at);
        let about = About { thread: None, kind, name, made };
        OpenFile::new(thread, at, OpenedBy::Call(call), about, self.doubts.losses_at(at))
    }

    /// Closes a descriptor whose number is reused.
    pub(super) fn replace(&mut self, thread: ThreadId, fd: i32, at: Time, spans: &mut impl Spans) {
        let end = self.doubts.end(at, ClosedBy::Replaced, thread);
        let place = self.table_of(thread);
        self.tables.at_mut(place).close(fd, end, &self.doubts, spans);
    }

    /// Adds a descriptor to its table. If the number was open, its close was not seen.
    pub(super) fn open(&mut self, thread: ThreadId, fd: i64, file: OpenFile, spans: &mut impl Spans) {
        let Some(fd) = i32::try_from(fd).ok().filter(|&fd| fd >= 0) else { return };
        let unseen = self.doubts.end(file.begin, ClosedBy::Unseen, thread);
        let place = self.table_of(thread);
        let table = self.tables.at_mut(place);
        if table.is_stray {
            self.doubts.stray(fd, file.begin);
        }
        table.open(fd, file, unseen, &self.doubts, spans);
    }

    /// Memory was mapped.
    fn map(
        &mut self,
        call: &Returned<'_>,
        (fd, bytes, sharing): (Option<i32>, Option<u64>, Sharing),
        spans: &mut impl Spans,
    ) {
        let &Returned { thread, at, ret, .. } = call;
        let what = match fd {
            None => Mapped::Anonymous { made: (sharing != Sharing::Private).then_some(at), sharing },
            Some(fd) => {
                self.use_once(OneUse { thread, at, fd, outcome: UseOutcome::Other, flow: None });
                let losses = self.doubts.losses_at(at);
                let file = self.file(thread, fd, at).filter(|file| file.losses == losses);
                let (name, made) =
                    file.map(|file| (file.about.name.clone(), file.about.made)).unwrap_or_default();
                Mapped::File { name, made, sharing }
            }
        };
        if let Some(bytes) = bytes {
            spans.mapping(&Mapping { thread, at, address: ret as u64, bytes, what });
        }
    }

    fn touch(&mut self, thread: ThreadId, fd: i32, at: Time) {
        if let Some(file) = self.file(thread, fd, at) {
            file.touch(thread, at);
        }
    }

    /// A wait for the descriptors of a set returned.
    fn waited(&mut self, call: &Returned<'_>, set: i32, spans: &mut impl Spans) {
        let &Returned { thread, at, ret, output, .. } = call;
        self.touch(thread, set, at);
        let ExitOutput::EpollReady(ready) = output else { return };
        let files = &self.table(thread).files;
        let watched = files.get(set).and_then(|file| file.watched.as_deref());
        let opened = |fd| files.get(fd).map(|file| file.begin);
        let waited = watched.map(|watched| watched.waited(opened)).unwrap_or_default();
        let count = u32::try_from(ret).unwrap_or_default();
        let ready = watched.map(|watched| watched.ready(ready, count));
        let ready = ready.unwrap_or_else(|| WaitedSet { count, ..WaitedSet::default() });
        spans.poll(&Poll { thread, at, set: Some(set), waited, ready });
    }

    /// Updates a socket.
    fn socket(&mut self, thread: ThreadId, fd: i32, at: Time, change: impl FnOnce(&mut Socket)) {
        let Some(file) = self.file(thread, fd, at) else { return };
        file.touch(thread, at);
        if file.about.kind == FileKind::Unknown {
            file.about.kind = FileKind::Socket(Box::default());
        }
        if let FileKind::Socket(socket) = &mut file.about.kind {
            change(socket);
        }
    }

    fn close_range(
        &mut self,
        thread: ThreadId,
        at: Time,
        range: [u32; 2],
        flags: u32,
        spans: &mut impl Spans,
    ) {
        if flags & RANGE_UNSHARE != 0 {
            self.unshare(thread, at);
        }
        let [Ok(first), last] = range.map(i32::try_from) else { return };
        let last = last.unwrap_or(i32::MAX);
        if first > last {
            return;
        }
        let end = self.doubts.end(at, ClosedBy::CloseRange, thread);
        let place = self.table_of(thread);
        let table = self.tables.at_mut(place);
        if flags & RANGE_CLOEXEC != 0 {
            let all = table.files.unordered_mut();
            all.filter(|(fd, _)| (first..=last).contains(fd)).for_each(|(_, file)| file.close_on_exec = true);
            return;
        }
        if table.is_stray {
            self.doubts.stray_range(at);
        }
        table.close_all(|fd, _| (first..=last).contains(&fd), end, &self.doubts, spans);
    }

    /// The name of a file that is opened by a path.
    fn resolved(&mut self, thread: ThreadId, dir: Option<i32>, path: &str) -> Name {
        let Some(dir) = dir.filter(|_| !path.is_empty() && !path.starts_with('/')) else {
            return path.into();
        };
        let name = self.table(thread).files.get(dir).map_or("", |file| file.about.name.as_str());
        match name.strip_suffix('/').unwrap_or(name) {
            root if name.starts_with('/') => compact_str::format_compact!("{root}/{path}"),
            _ => compact_str::format_compact!("fd {dir} → {path}"),
        }
    }
}

/// Kind and name of what has no path.
pub(super) fn created(what: &Created) -> (FileKind, Name) {
    let kind = match *what {
        Created::Socket { family, kind, protocol } => FileKind::Socket(Box::new(Socket {
            family: Some(family),
            kind: Some(kind),
            protocol: Some(protocol),
            ..Socket::default()
        })),
        Created::Memory(ref name) => {
            return (FileKind::Memory, compact_str::format_compact!("/memfd:{name}"));
        }
        Created::Queue(ref name) => return (FileKind::Queue, name.clone()),
        Created::Event => FileKind::Event,
        Created::Epoll => FileKind::Epoll,
        Created::Timer => FileKind::Timer,
        Created::Signal => FileKind::Signal,
        Created::Inotify => FileKind::Inotify,
        Created::Fanotify => FileKind::Fanotify,
        Created::UserFault => FileKind::UserFault,
        Created::Perf => FileKind::Perf,
        Created::Process(pid) => FileKind::Process(pid),
        Created::Ring => FileKind::Ring,
        Created::Other => FileKind::Other,
    };
    (kind, Name::default())
}

/// The peer of an accepted socket.
pub(super) fn peer(output: &ExitOutput) -> Option<crate::calls::Address> {
    match output {
        ExitOutput::Peer(peer) => Some(*peer),
        _ => None,
    }
}

/// The kinds of two descriptors that are connected.
pub(super) fn ends(what: Paired, first: i32, second: i32) -> [(i32, FileKind); 2] {
    [(first, second, true), (second, first, false)].map(|(fd, other, is_read)| {
        let kind = match what {
            Paired::Pipe => FileKind::Pipe { is_read: Some(is_read), other: Some(other) },
            Paired::Sockets { family, kind, protocol } => FileKind::Socket(Box::new(Socket {
                family: Some(family),
                kind: Some(kind),
                protocol: Some(protocol),
                other: Some(other),
                ..Socket::default()
            })),
        };
        (fd, kind)
    })
}
