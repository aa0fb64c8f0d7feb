//! Decoders against scripted traces of all generations.

use isochrone_ctf::Trace;
use isochrone_strace::{ArgumentValues, CallLine, CallResult, error_in};
use isochrone_testkit::{FieldValue, Generation, KernelScript};

use super::{
    Address, Created, Effect, Entry, EntryDecoder, EpollChange, EpollReady, Exit, ExitDecoder, ExitOutput,
    Object, Opener, Paired, Sharing, Use, WaitedSet, clone_flag, open_flag,
};

/// Arguments as text.
fn text(arguments: Option<&ArgumentValues>) -> Option<String> {
    arguments.map(ToString::to_string)
}

/// Decodes the events of a script.
fn decoded(
    generation: Generation,
    bits: u32,
    emit: impl FnOnce(&mut KernelScript),
) -> Vec<Result<Entry, Exit>> {
    let directory = tempfile::tempdir().unwrap();
    let mut script = KernelScript::new("h", generation).bits(bits);
    script.process(10, "sh").runs(0, 10);
    emit(&mut script);
    script.write(directory.path()).unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    let decode = |event: isochrone_ctf::Event<'_>| {
        if let Some(decoder) = EntryDecoder::new(&trace, 0, event.class(), true) {
            return Some(Ok(decoder.decode(&event)));
        }
        ExitDecoder::new(&trace, 0, event.class(), true).map(|decoder| Err(decoder.decode(&event)))
    };
    trace.events(0).filter_map(decode).collect()
}

fn entry(generation: Generation, bits: u32, call: &str, fields: &[(&str, FieldValue)]) -> Entry {
    let all = decoded(generation, bits, |script| {
        script.at(100).enter(call, fields);
    });
    all.into_iter().next().unwrap().unwrap()
}

fn exit(generation: Generation, bits: u32, call: &str, ret: i64, fields: &[(&str, FieldValue)]) -> Exit {
    let all = decoded(generation, bits, |script| {
        script.at(100).exit_with(call, ret, fields);
    });
    all.into_iter().next().unwrap().unwrap_err()
}

#[test]
fn entries_are_the_same_in_all_generations() {
    let check = |call: &str, fields: &[(&str, FieldValue)], effect: &Effect, line: &str| {
        for generation in Generation::ALL {
            for bits in [32, 64] {
                let entry = entry(generation, bits, call, fields);
                assert_eq!(entry.name, call, "{generation:?} {bits}");
                assert_eq!(entry.effect, *effect, "{call} {generation:?} {bits}");
                assert_eq!(
                    text(entry.arguments.as_ref()).as_deref(),
                    Some(line),
                    "{call} {generation:?} {bits}"
                );
            }
        }
    };
    let at = |dir, path: &str, flags| Effect::Open { call: Opener::Openat, dir, path: path.into(), flags };
    check(
        "openat",
        &[("dfd", (-100).into()), ("filename", "/a\n\"b".into()), ("flags", 0o200_0000.into())],
        &at(None, "/a\n\"b", open_flag::CLOEXEC),
        r#"AT_FDCWD, "/a\n\"b", O_RDONLY|O_CLOEXEC"#,
    );
    check(
        "openat",
        &[("dfd", 7.into()), ("filename", "x".into()), ("flags", 0o1101.into()), ("mode", 0o644.into())],
        &at(Some(7), "x", 0o1101),
        r#"7, "x", O_WRONLY|O_CREAT|O_TRUNC, 0644"#,
    );
    let long = "y".repeat(100);
    let open = Effect::Open { call: Opener::Open, dir: None, path: (&long).into(), flags: 2 };
    let shown = format!("\"{}\"..., O_RDWR", "y".repeat(64));
    check("open", &[("filename", long.as_str().into()), ("flags", 2.into())], &open, &shown);
    check("close", &[("fd", 3.into())], &Effect::Close { fd: 3 }, "3");
    let duplicate = |call, to, close_on_exec| Effect::Duplicate { call, fd: 3, to, close_on_exec };
    check("dup", &[("fildes", 3.into())], &duplicate(Opener::Dup, None, false), "3");
    check(
        "dup2",
        &[("oldfd", 3.into()), ("newfd", 4.into())],
        &duplicate(Opener::Dup2, Some(4), false),
        "3, 4",
    );
    check(
        "dup3",
        &[("oldfd", 3.into()), ("newfd", 4.into()), ("flags", 0o200_0000.into())],
        &duplicate(Opener::Dup3, Some(4), true),
        "3, 4, O_CLOEXEC",
    );
    let fcntl = |cmd: i64, arg: i64| [("fd", 3.into()), ("cmd", cmd.into()), ("arg", arg.into())];
    check("fcntl", &fcntl(1030, 0), &duplicate(Opener::Fcntl, None, true), "3, F_DUPFD_CLOEXEC, 0");
    check("fcntl", &fcntl(2, 1), &Effect::CloseOnExec { fd: 3, on: true }, "3, F_SETFD, 1");
    let used = Effect::Use { fd: 3, what: Use::Other };
    check("fcntl", &fcntl(3, 0), &used, "3, F_GETFL, 0");
    let ioctl = |cmd: i64, arg: i64| [("fd", 3.into()), ("cmd", cmd.into()), ("arg", arg.into())];
    check("ioctl", &ioctl(0x5451, 0), &Effect::CloseOnExec { fd: 3, on: true }, "3, FIOCLEX, NULL");
    check("ioctl", &ioctl(0x5401, 16), &used, "3, TCGETS, 0x10");
    let kind = 1 | 0o200_0000;
    let socket = |family: i64| [("family", family.into()), ("type", kind.into()), ("protocol", 6.into())];
    check(
        "socket",
        &socket(2),
        &Effect::Create {
            call: Opener::Socket,
            what: Created::Socket { family: 2, kind: 1, protocol: 6 },
            close_on_exec: true,
        },
        "AF_INET, SOCK_STREAM|SOCK_CLOEXEC, 6",
    );
    check("listen", &[("fd", 3.into()), ("backlog", 5.into())], &Effect::Listen { fd: 3 }, "3, 5");
    let event = Effect::Create { call: Opener::Eventfd2, what: Created::Event, close_on_exec: true };
    check(
        "eventfd2",
        &[("count", 0.into()), ("flags", 0o200_4000.into())],
        &event,
        "0, EFD_NONBLOCK|EFD_CLOEXEC",
    );
    check(
        "lseek",
        &[("fd", 3.into()), ("offset", (-8).into()), ("whence", 2.into()), ("origin", 2.into())],
        &used,
        "3, -8, SEEK_END",
    );
    let unshare = Effect::Unshare { flags: clone_flag::FILES };
    check("unshare", &[("unshare_flags", 0x400.into())], &unshare, "CLONE_FILES");
    let object = |object| Effect::Object { object, fd: None };
    let signal = |number, to| object(Object::Signal { number, to });
    let kill = |pid: i64, sig: i64| [("pid", pid.into()), ("sig", sig.into())];
    check("kill", &kill(10, 15), &signal(15, Some(10)), "10, SIGTERM");
    check("kill", &kill(-1, 9), &signal(9, None), "-1, SIGKILL");
    check("kill", &kill(10, 0), &Effect::Nothing, "10, 0");
    let tgkill = [("tgid", 10.into()), ("pid", 11.into()), ("sig", 10.into())];
    check("tgkill", &tgkill, &signal(10, Some(11)), "10, 11, SIGUSR1");
    check("flock", &[("fd", 3.into()), ("cmd", 2.into())], &used, "3, 2");
    let semop = [("semid", 7.into()), ("tsops", 64.into()), ("nsops", 1.into())];
    check("semop", &semop, &object(Object::Semaphores(7)), "7, 0x40, 1");
    check("getpid", &[], &Effect::Nothing, "");
}

#[test]
fn generations_differ() {
    let read = [("fd", 3.into()), ("count", 100.into()), ("buf", 4096.into())];
    let check = |generation, call: &str, fields: &[(&str, FieldValue)], effect: &Effect, line: &str| {
        let entry = entry(generation, 64, call, fields);
        assert_eq!(entry.name, call.trim_start_matches("compat_"));
        assert_eq!(
            (&entry.effect, text(entry.arguments.as_ref()).as_deref()),
            (effect, Some(line)),
            "{call} {generation:?}"
        );
    };
    let used = |what| Effect::Use { fd: 3, what };
    check(Generation::V2_1, "read", &read, &used(Use::Read), "3, 0x1000, 100");
    check(Generation::V2_13, "read", &read, &used(Use::Read), "3, 100");
    check(Generation::V2_13, "compat_read", &read, &used(Use::Read), "3, 100");
    check(Generation::V2_13, "write", &read, &used(Use::Write), "3, 0x1000, 100");
    let flags: i64 = 0x3d_0f00;
    let clone = Effect::Clone { flags: Some(flags as u64) };
    let shown = "CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM|CLONE_SETTLS|\
                 CLONE_PARENT_SETTID|CLONE_CHILD_CLEARTID, NULL, NULL, NULL";
    let fields = |name| {
        let zero = || FieldValue::from(0);
        [(name, flags.into()), ("newsp", zero()), ("parent_tid", zero()), ("child_tid", zero())]
    };
    check(Generation::V2_1, "clone", &fields("clone_flags"), &clone, shown);
    check(Generation::V2_13, "clone", &fields("flags"), &clone, shown);
    let map = |flags: i64, fd: i64| {
        [
            ("addr", 0.into()),
            ("len", 10.into()),
            ("prot", 3.into()),
            ("flags", flags.into()),
            ("fd", fd.into()),
        ]
    };
    let mapped = |fd| Effect::Map { fd, bytes: Some(10), sharing: Sharing::Private };
    let line = "NULL, 10, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0";
    check(Generation::V2_13, "mmap", &map(0x22, -1), &mapped(None), line);
    let line = "NULL, 10, PROT_READ|PROT_WRITE, MAP_PRIVATE, 3, 0";
    check(Generation::V2_13, "mmap", &map(2, 3), &mapped(Some(3)), line);
}

#[test]
fn calls_without_a_class_are_known_by_number() {
    let check = |call: &str, fields: &[(&str, FieldValue)], expect: &Effect| {
        for generation in [Generation::V2_13, Generation::V2_14] {
            let entry = entry(generation, 64, call, fields);
            assert_eq!(entry.name, call);
            assert_eq!(entry.effect, *expect, "{call} {generation:?}");
        }
    };
    let range = Effect::CloseRange { first: 3, last: u32::MAX, flags: 0 };
    check("close_range", &[("fd", 3.into()), ("max_fd", u32::MAX.into())], &range);
    let process = Effect::Create { call: Opener::PidfdOpen, what: Created::Process(77), close_on_exec: true };
    check("pidfd_open", &[("pid", 77.into())], &process);
    let by_descriptor = |sig: i64| [("pidfd", 3.into()), ("sig", sig.into())];
    let signal = Effect::Object { object: Object::Signal { number: 15, to: None }, fd: Some(3) };
    check("pidfd_send_signal", &by_descriptor(15), &signal);
    check("pidfd_send_signal", &by_descriptor(0), &Effect::Use { fd: 3, what: Use::Other });
    check("clone3", &[], &Effect::Clone { flags: None });
    check("vfork", &[], &Effect::Clone { flags: Some(clone_flag::VM | clone_flag::VFORK) });
    check("execveat", &[], &Effect::Exec);
    let exit = exit(Generation::V2_13, 64, "close_range", 0, &[]);
    assert_eq!(exit.name.as_deref(), Some("close_range"));
}

#[test]
fn addresses_are_decoded() {
    let v4 = |a: u8| FieldValue::Array([10, 0, 0, a].map(FieldValue::from).into());
    let v6 = || FieldValue::Array([0xfe80_u16, 0, 0, 0, 0, 0, 0, 1].map(FieldValue::from).into());
    let none = || FieldValue::Array(Vec::new());
    let address = |family: i64, v4: FieldValue, v6: FieldValue| {
        [("fd", 3.into()), ("family", family.into()), ("dport", 80.into()), ("v4addr", v4), ("v6addr", v6)]
    };
    let check = |fields: &[(&str, FieldValue)], peer: Address, line: &str| {
        let entry = entry(Generation::V2_13, 64, "connect", fields);
        assert_eq!(entry.effect, Effect::Connect { fd: 3, peer: Some(peer) });
        assert_eq!(text(entry.arguments.as_ref()).as_deref(), Some(line));
    };
    let ip = Address::Ip { ip: [10, 0, 0, 2].into(), port: 80 };
    check(&address(2, v4(2), none()), ip, "3, AF_INET 10.0.0.2:80");
    let ip = Address::Ip { ip: [0xfe80_u16, 0, 0, 0, 0, 0, 0, 1].into(), port: 80 };
    check(&address(10, none(), v6()), ip, "3, AF_INET6 [fe80::1]:80");
    check(&address(1, none(), none()), Address::Family(1), "3, AF_UNIX");

    let peer = [("family", 2.into()), ("sport", 4711.into()), ("v4addr", v4(9))];
    let accepted = exit(Generation::V2_13, 64, "accept4", 5, &peer);
    assert_eq!(accepted.output, ExitOutput::Peer(Address::Ip { ip: [10, 0, 0, 9].into(), port: 4711 }));
    assert_eq!(text(accepted.arguments.as_ref()).as_deref(), Some("AF_INET 10.0.0.9:4711"));
    assert_eq!(exit(Generation::V2_13, 64, "accept4", -11, &peer).output, ExitOutput::Nothing);
    assert_eq!(exit(Generation::V2_13, 64, "accept", 5, &[]).output, ExitOutput::Nothing);
    // Old tracers record no peer.
    assert_eq!(
        entry(Generation::V2_1, 64, "connect", &[("fd", 3.into())]).effect,
        Effect::Connect { fd: 3, peer: None }
    );
}

#[test]
fn pairs_and_results_are_decoded() {
    let pair = FieldValue::Array(vec![3.into(), 4.into()]);
    for generation in [Generation::V2_8, Generation::V2_13] {
        let output = exit(generation, 64, "pipe2", 0, &[("fildes", pair.clone())]);
        assert_eq!(
            (output.output, text(output.arguments.as_ref()).as_deref()),
            (ExitOutput::Pair(3, 4), Some("[3, 4]"))
        );
    }
    let sockets = Paired::Sockets { family: 1, kind: 2, protocol: 0 };
    let fields = [("family", 1.into()), ("type", 2.into()), ("protocol", 0.into())];
    let effect = entry(Generation::V2_13, 64, "socketpair", &fields).effect;
    assert_eq!(effect, Effect::Pair { call: Opener::Socketpair, what: sockets, close_on_exec: false });

    let check = |generation, bits, call, ret, expect| {
        let exit = exit(generation, bits, call, ret, &[]);
        assert_eq!((exit.ret, error_in(exit.ret).map(i64::from)), expect, "{call} {generation:?} {bits}");
    };
    check(Generation::V2_13, 64, "mmap", 0x7f00_0000_1000, (0x7f00_0000_1000, None));
    check(Generation::V2_13, 64, "mmap", -12, (-12, Some(12)));
    check(Generation::V2_13, 32, "mmap", 0xb770_0000, (0xb770_0000, None));
    check(Generation::V2_13, 32, "mmap", -12, (-12, Some(12)));
    check(Generation::V2_1, 32, "read", -9, (-9, Some(9)));
    assert_eq!(exit(Generation::V2_1, 64, "read", 5, &[]).name, None);
    assert_eq!(exit(Generation::V2_13, 64, "compat_read", 5, &[]).name.as_deref(), Some("read"));
}

#[test]
fn whole_calls_are_lines() {
    let all = decoded(Generation::V2_13, 64, |script| {
        let pollfd = || FieldValue::Array(Vec::new());
        script.at(100).enter("poll", &[("timeout_msecs", 5.into()), ("nfds", 0.into()), ("fds", pollfd())]);
        script.at(110).exit("poll", 0);
        script.at(120).enter("openat", &[("dfd", (-100).into()), ("filename", "/x".into())]);
        script.at(130).exit("openat", -2);
        let set = || FieldValue::Array(vec![0x28.into(), 1.into()]);
        let none = || FieldValue::Array(Vec::new());
        let sets = [("n", 9.into()), ("readfds", set()), ("writefds", none()), ("exceptfds", none())];
        script.at(160).enter("select", &sets);
        script.at(170).exit_with("select", 1, &[("readfds", FieldValue::Array(vec![8.into()]))]);
    });
    let line = |pair: &[Result<Entry, Exit>]| {
        let (Ok(entry), Err(exit)) = (&pair[0], &pair[1]) else { panic!("{pair:?}") };
        let (name, result) = (Some(entry.name.as_str()), CallResult::Returned(exit.ret));
        let line =
            CallLine { name, given: entry.arguments.as_ref(), filled: exit.arguments.as_ref(), result };
        line.to_string()
    };
    let lines: Vec<String> = all.chunks(2).map(line).collect();
    assert_eq!(
        lines,
        [
            "poll(5, 0, []) = 0",
            "openat(AT_FDCWD, \"/x\", O_RDONLY) = -1 ENOENT (No such file or directory)",
            "select(9, NULL, [3 5 8], [], [], readfds=[3]) = 1",
        ]
    );
}

/// Descriptors and events of a set.
fn shown(set: &WaitedSet) -> (Vec<(i32, u32)>, u32) {
    (set.first.iter().map(|waited| (waited.fd, waited.events)).collect(), set.count)
}

#[test]
fn waits_tell_their_descriptors() {
    let fd = |fd: i32, events: u32| FieldValue::Array(vec![fd.into(), events.into()]);
    let asked = FieldValue::Array(vec![fd(3, 1), fd(5, 5)]);
    let ready = FieldValue::Array(vec![fd(5, 4)]);
    let bits = |bytes: &[u8]| FieldValue::Array(bytes.iter().map(|&byte| byte.into()).collect());
    let sets = [("n", 11.into()), ("readfds", bits(&[8, 4])), ("writefds", bits(&[8]))];
    let event = FieldValue::Array(vec![FieldValue::Array(vec![0xbeef.into(), 7.into()]), 1.into()]);
    for generation in [Generation::V2_13, Generation::V2_14] {
        let poll = entry(generation, 64, "poll", &[("nfds", 2.into()), ("fds", asked.clone())]);
        let Effect::Poll { asked } = poll.effect else { panic!("{poll:?}") };
        assert_eq!(shown(&asked), (vec![(3, 1), (5, 5)], 2));
        let exit = |call, ret, fields: &[(&str, FieldValue)]| exit(generation, 64, call, ret, fields).output;
        let ExitOutput::Ready(output) = exit("poll", 1, &[("fds", ready.clone())]) else { panic!() };
        assert_eq!(shown(&output), (vec![(5, 4)], 1));
        assert_eq!(exit("poll", 0, &[]), ExitOutput::Nothing);
        let Effect::Poll { asked } = entry(generation, 64, "select", &sets).effect else { panic!() };
        assert_eq!(shown(&asked), (vec![(3, 5), (10, 1)], 2));

        let fields = [("epfd", 4.into()), ("op_enum", 1.into()), ("fd", 7.into()), ("event", event.clone())];
        let change = EpollChange::Set { events: 1, data: Some(0xbeef) };
        let effect = entry(generation, 64, "epoll_ctl", &fields).effect;
        assert_eq!(effect, Effect::EpollControl { set: 4, fd: 7, change });
        let effect = entry(generation, 64, "epoll_wait", &[("epfd", 4.into())]).effect;
        assert_eq!(effect, Effect::EpollWait { set: 4 });
        let output = exit("epoll_wait", 1, &[("fds", FieldValue::Array(vec![event.clone()]))]);
        assert_eq!(output, ExitOutput::EpollReady([EpollReady { data: 0xbeef, events: 1 }].into()));
    }
    // Old tracers record the address of the descriptors, not the descriptors.
    for generation in [Generation::V2_1, Generation::V2_8] {
        assert_eq!(entry(generation, 64, "poll", &[("nfds", 2.into())]).effect, Effect::Nothing);
    }
    let fields = [("epfd", 4.into()), ("op", 3.into()), ("fd", 7.into())];
    let change = EpollChange::Set { events: 0, data: None };
    let effect = entry(Generation::V2_5, 64, "epoll_ctl", &fields).effect;
    assert_eq!(effect, Effect::EpollControl { set: 4, fd: 7, change });
}

#[test]
fn other_events_are_no_calls() {
    let directory = tempfile::tempdir().unwrap();
    let mut script = KernelScript::new("h", Generation::V2_13);
    script.process(10, "sh");
    script.at(100).switch(0, 10);
    script.write(directory.path()).unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    for event in trace.events(0) {
        let class = event.class();
        assert!(EntryDecoder::new(&trace, 0, class, true).is_none());
        assert!(ExitDecoder::new(&trace, 0, class, true).is_none());
    }
}
