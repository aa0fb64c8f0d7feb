//! Entries of system calls.

use isochrone_ctf::plan::EventPlan;
use isochrone_ctf::{Event, FieldRef, Trace};
use isochrone_strace::{Arguments, hexadecimal};

use super::catalog::{self, Call, EffectKind, OnExec};
use super::effect::{Created, Effect, Opener, Paired, Sharing, Use, clone_flag, open_flag};
use super::fields::{Fields, Numbers, Raw, Source, number, word_bits};
use super::{Entry, EpollChange, Object, numbers};
use crate::id::Name;

/// `AT_FDCWD`: paths begin at the current working directory.
const AT_FDCWD: i64 = -100;
/// Flags of a socket's type.
const SOCK_CLOEXEC: i64 = 0o200_0000;
/// The type without its flags.
const SOCK_TYPE: i64 = 0xf;
/// `MAP_SHARED`, also a bit of `MAP_SHARED_VALIDATE`.
const MAP_SHARED: i64 = 1;
/// `PROT_WRITE`.
const PROT_WRITE: i64 = 2;
/// `MAP_ANONYMOUS`: the descriptor is ignored.
const MAP_ANONYMOUS: i64 = 0x20;

/// Commands of `fcntl`.
const F_DUPFD: i64 = 0;
const F_SETFD: i64 = 2;
const F_DUPFD_CLOEXEC: i64 = 1030;
/// Commands of `ioctl`.
const FIONCLEX: i64 = 0x5450;
const FIOCLEX: i64 = 0x5451;

/// Decodes the entries of one event class.
#[derive(Debug)]
pub struct EntryDecoder {
    name: Name,
    /// The effect of the call, if it concerns files or threads.
    call: Option<(Call, Opener, Fields)>,
    /// For calls without an event class of their own.
    unknown: Option<Unknown>,
    /// How the arguments are shown, if they are wanted.
    arguments: Option<Arguments>,
}

/// The fields of `syscall_entry_unknown`.
#[derive(Debug)]
struct Unknown {
    id: FieldRef,
    arguments: Option<FieldRef>,
    narrow: bool,
}

impl EntryDecoder {
    /// Makes a decoder for an event class of a stream (by its index in [`Trace::streams`]); `None`: its
    /// events are no entries of calls. `with_arguments`: whether [`Entry::arguments`] are wanted.
    pub fn new(trace: &Trace, stream: usize, class: &EventPlan, with_arguments: bool) -> Option<Self> {
        let (name, compat) = call_of_entry(class.name.as_deref()?)?;
        let stream = trace.stream_plan(stream);
        let unknown = if name == "unknown" {
            let id = class.payload_field(stream, &["id"])?;
            let narrow = compat || word_bits(class) == Some(32);
            Some(Unknown { id, arguments: class.payload_field(stream, &["args"]), narrow })
        } else {
            None
        };
        let call = catalog::find(name).map(|call| {
            let fields = Fields::find(stream, class, call.fields);
            let tells_address = matches!(call.what, EffectKind::Connect | EffectKind::Bind);
            let fields = if tells_address { fields.with_address(stream, class) } else { fields };
            let waits = matches!(call.what, EffectKind::Poll | EffectKind::EpollControl);
            let fields = if waits { fields.with_waited(stream, class) } else { fields };
            (call, catalog::opener(name), fields)
        });
        let arguments = with_arguments.then(|| Arguments::of_entry(name, class));
        Some(Self { name: name.into(), call, unknown, arguments })
    }

    /// Decodes an event of the class.
    #[inline]
    pub fn decode(&self, event: &Event<'_>) -> Entry {
        if let Some(unknown) = &self.unknown {
            return unknown.decode(event, self.arguments.is_some());
        }
        let effect = match &self.call {
            None => Effect::Nothing,
            Some((call, opener, fields)) => effect(call, *opener, &fields.of(event)),
        };
        let arguments = self.arguments.as_ref().map(|arguments| arguments.values(event));
        Entry { name: self.name.clone(), effect, arguments }
    }
}

impl Unknown {
    #[cold]
    fn decode(&self, event: &Event<'_>, is_kept: bool) -> Entry {
        let id = number(event, &self.id).unwrap_or(-1) as i32;
        let name = numbers::name(id, self.narrow);
        let arguments = self.arguments.as_ref().map(|field| Numbers::read(event, field)).unwrap_or_default();
        let effect = match catalog::find(&name) {
            None => Effect::Nothing,
            Some(call) => {
                let from = Raw { arguments: &arguments, places: call.places };
                effect(&call, catalog::opener(&name), &from)
            }
        };
        let all = || hexadecimal(arguments.values.get(..arguments.count).unwrap_or_default());
        Entry { name, effect, arguments: is_kept.then(all) }
    }
}

/// The call whose entries are the events of a name, and whether 32-bit programs make it on a 64-bit machine:
/// `syscall_entry_openat`, `sys_open` of LTTng up to 2.2, `compat_` before either.
///
/// ```
/// use isochrone_kernel::calls::call_of_entry;
/// assert_eq!(call_of_entry("compat_syscall_entry_openat"), Some(("openat", true)));
/// assert_eq!(call_of_entry("syscall_exit_openat"), None);
/// ```
pub fn call_of_entry(class: &str) -> Option<(&str, bool)> {
    let (rest, compat) = match class.strip_prefix("compat_") {
        Some(rest) => (rest, true),
        None => (class, false),
    };
    let name = rest.strip_prefix("syscall_entry_").or_else(|| rest.strip_prefix("sys_"))?;
    Some((name, compat))
}

/// The effect of a call with its arguments; `opener`: its name, if it makes descriptors.
fn effect(call: &Call, opener: Opener, from: &impl Source) -> Effect {
    known_effect(call, opener, from).unwrap_or_default()
}

/// As [`effect`]; `None` if required arguments are missing.
#[inline]
fn known_effect(call: &Call, opener: Opener, from: &impl Source) -> Option<Effect> {
    let fd = |slot| from.number(slot).map(|fd| fd as i32).filter(|&fd| fd >= 0);
    let flags = |slot| from.number(slot).unwrap_or_default();
    Some(match call.what {
        EffectKind::Use(what) => Effect::Use { fd: fd(0)?, what },
        EffectKind::Poll => Effect::Poll { asked: from.asked()? },
        EffectKind::EpollControl => match (fd(2), EpollChange::of(from.number(1)?, from.epoll_event())) {
            (Some(other), Some(change)) => Effect::EpollControl { set: fd(0)?, fd: other, change },
            _ => Effect::Use { fd: fd(0)?, what: Use::Other },
        },
        EffectKind::EpollWait => Effect::EpollWait { set: fd(0)? },
        EffectKind::Map => {
            let fd = fd(0).filter(|_| flags(1) & MAP_ANONYMOUS == 0);
            let bytes = from.number(2).map(|bytes| bytes as u64);
            let sharing = match (flags(1) & MAP_SHARED != 0, flags(3) & PROT_WRITE != 0) {
                (false, _) => Sharing::Private,
                (true, false) => Sharing::ReadOnly,
                (true, true) => Sharing::Shared,
            };
            Effect::Map { fd, bytes, sharing }
        }
        EffectKind::Unmap => Effect::Unmap { address: from.number(0)? as u64, bytes: from.number(1)? as u64 },
        EffectKind::Close => Effect::Close { fd: fd(0)? },
        EffectKind::Open => {
            let dir = from.number(0).filter(|&dir| dir != AT_FDCWD).map(|dir| dir as i32);
            Effect::Open { call: opener, dir, path: from.text(1), flags: flags(2) as u32 }
        }
        EffectKind::Create(ref what, on_exec) => creation(what, on_exec, opener, from),
        EffectKind::Socket => {
            let close_on_exec = flags(1) & SOCK_CLOEXEC != 0;
            let (family, kind, protocol) = socket(from);
            Effect::Create { call: opener, what: Created::Socket { family, kind, protocol }, close_on_exec }
        }
        EffectKind::Socketpair => {
            let close_on_exec = flags(1) & SOCK_CLOEXEC != 0;
            let (family, kind, protocol) = socket(from);
            Effect::Pair { call: opener, what: Paired::Sockets { family, kind, protocol }, close_on_exec }
        }
        EffectKind::Pipe => Effect::Pair {
            call: opener,
            what: Paired::Pipe,
            close_on_exec: flags(0) as u32 & open_flag::CLOEXEC != 0,
        },
        EffectKind::CloseRange => Effect::CloseRange {
            first: from.number(0)? as u32,
            last: from.number(1)? as u32,
            flags: flags(2) as u32,
        },
        EffectKind::Duplicate => Effect::Duplicate {
            call: opener,
            fd: fd(0)?,
            to: fd(1),
            close_on_exec: flags(2) as u32 & open_flag::CLOEXEC != 0,
        },
        EffectKind::Fcntl => match from.number(1)? {
            command @ (F_DUPFD | F_DUPFD_CLOEXEC) => Effect::Duplicate {
                call: opener,
                fd: fd(0)?,
                to: None,
                close_on_exec: command == F_DUPFD_CLOEXEC,
            },
            F_SETFD => Effect::CloseOnExec { fd: fd(0)?, on: flags(2) & 1 != 0 },
            _ => Effect::Use { fd: fd(0)?, what: Use::Other },
        },
        EffectKind::Ioctl => match from.number(1)? {
            command @ (FIOCLEX | FIONCLEX) => Effect::CloseOnExec { fd: fd(0)?, on: command == FIOCLEX },
            _ => Effect::Use { fd: fd(0)?, what: Use::Other },
        },
        EffectKind::Connect => Effect::Connect { fd: fd(0)?, peer: from.address() },
        EffectKind::Bind => Effect::Bind { fd: fd(0)?, local: from.address() },
        EffectKind::Listen => Effect::Listen { fd: fd(0)? },
        EffectKind::Accept => {
            Effect::Accept { call: opener, fd: fd(0)?, close_on_exec: flags(1) & SOCK_CLOEXEC != 0 }
        }
        EffectKind::Transfer => Effect::Transfer { from: fd(0)?, to: fd(1)? },
        EffectKind::Clone => Effect::Clone { flags: from.number(0).map(|flags| flags as u64) },
        EffectKind::Fork => Effect::Clone { flags: Some(0) },
        EffectKind::Vfork => Effect::Clone { flags: Some(clone_flag::VM | clone_flag::VFORK) },
        EffectKind::Unshare => Effect::Unshare { flags: from.number(0)? as u64 },
        EffectKind::Exec => Effect::Exec,
        EffectKind::Futex => {
            Effect::Object { object: Object::futex(from.number(0)?, from.number(1)?)?, fd: None }
        }
        EffectKind::Signal => {
            Effect::Object { object: Object::signal(from.number(1)?, from.number(0))?, fd: None }
        }
        EffectKind::SignalByDescriptor => match from.number(1).and_then(|it| Object::signal(it, None)) {
            Some(object) => Effect::Object { object, fd: Some(fd(0)?) },
            None => Effect::Use { fd: fd(0)?, what: Use::Other },
        },
        EffectKind::ById(object) => Effect::Object { object: object(from.number(0)? as i32), fd: None },
    })
}

/// Family, type and protocol of a socket.
fn socket(from: &impl Source) -> (u16, u16, u16) {
    let number = |slot| from.number(slot).unwrap_or_default();
    (number(0) as u16, (number(1) & SOCK_TYPE) as u16, number(2) as u16)
}

/// The effect of a call that makes a descriptor without a path.
fn creation(what: &Created, on_exec: OnExec, call: Opener, from: &impl Source) -> Effect {
    let number = |slot| from.number(slot).map(|number| number as i32);
    let what = match what {
        Created::Signal => match number(1).filter(|&fd| fd >= 0) {
            // The descriptor gets other signals; no new one is made.
            Some(fd) => return Effect::Use { fd, what: Use::Other },
            None => Created::Signal,
        },
        Created::Memory(_) => Created::Memory(from.text(1)),
        Created::Queue(_) => Created::Queue(from.text(1)),
        Created::Process(_) => Created::Process(number(1).unwrap_or_default()),
        what => what.clone(),
    };
    let close_on_exec = match on_exec {
        OnExec::Flag(bit) => from.number(0).unwrap_or_default() as u32 & bit != 0,
        OnExec::Close => true,
        OnExec::Keep => false,
    };
    Effect::Create { call, what, close_on_exec }
}
