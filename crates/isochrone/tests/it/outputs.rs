//! What is written: files are whole or not there, never over an input, and do not depend on who reads the report; results
//! do not depend on who reads what is said beside them.

#![allow(clippy::print_stderr)] // A test says what it saw.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use tempfile::TempDir;

fn shop() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop").canonicalize().unwrap()
}

fn isochrone(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    command.args(arguments);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// All files below a directory with their content, hidden ones too.
fn tree(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                all.insert(path.strip_prefix(directory).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    all
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

/// Runs `sync -o s.json --write out` again and again and kills it each time at another instant. What has its name then is
/// as it should be, and nothing else is taken for a trace.
fn killed(traces: &[&Path], kills: u32) {
    let root = TempDir::new().unwrap();
    let command = |run: &Path| {
        fs::create_dir(run).unwrap();
        let mut command = isochrone(&["sync", "-q", "-o", "s.json", "--write", "out"]);
        command.args(traces).current_dir(run).stdout(Stdio::null());
        command
    };
    let whole = root.path().join("whole");
    let begun = Instant::now();
    assert!(command(&whole).status().unwrap().success());
    let time = begun.elapsed();
    let (json, copies) = (fs::read(whole.join("s.json")).unwrap(), tree(&whole.join("out")));
    let roots = names(&whole.join("out"));
    let mut ends = BTreeMap::new();
    for number in 0..kills {
        let run = root.path().join(number.to_string());
        let mut child = command(&run).spawn().unwrap();
        let part = f64::from(number + 1) / f64::from(kills);
        std::thread::sleep(time.mul_f64(1.1 * part));
        child.kill().unwrap();
        let ended = child.wait().unwrap().success();
        let written = run.join("s.json");
        assert!(!written.exists() || fs::read(&written).unwrap() == json, "{part}");
        let found = names(&run.join("out"));
        let (hidden, shown): (Vec<_>, Vec<_>) = found.into_iter().partition(|name| name.starts_with('.'));
        assert!(hidden.iter().all(|name| name.starts_with(".copies.partial-")), "{hidden:?}");
        for name in &shown {
            assert!(roots.contains(name), "{name}");
            assert!(
                tree(&run.join("out").join(name)) == tree(&whole.join("out").join(name)),
                "{part}: {name}"
            );
        }
        assert!(!ended || tree(&run.join("out")) == copies);
        let info = isochrone(&["info", "-q", run.to_str().unwrap()]).output().unwrap();
        assert_eq!(info.status.code(), Some(if shown.is_empty() { 2 } else { 0 }), "{}", text(&info.stderr));
        let end = (written.exists(), hidden.len(), shown.len());
        *ends.entry(end).or_insert(0) += 1;
        fs::remove_dir_all(&run).unwrap();
    }
    eprintln!("(sync.json, hidden directories, copies) after {kills} kills within {time:?}: {ends:?}");
}

#[test]
fn a_killed_run_leaves_whole_files_or_none() {
    killed(&["client", "app", "db"].map(|name| shop().join(name)).each_ref().map(PathBuf::as_path), 12);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn a_killed_run_over_a_real_cluster_leaves_whole_files_or_none() {
    let shared = crate::common::shared();
    let kills = std::env::var("ISOCHRONE_KILLS").map_or(4, |kills| kills.parse().unwrap());
    killed(
        &["h1", "h2"].map(|name| shared.join("data/vm/web2").join(name)).each_ref().map(PathBuf::as_path),
        kills,
    );
}

/// Runs a command whose files may not grow beyond so many blocks of 512 bytes.
fn limited(blocks: u32, directory: &Path, arguments: &[&str]) -> Output {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_isochrone")]).args(arguments);
    command.current_dir(directory).output().unwrap()
}

#[test]
fn what_does_not_fit_the_disk_leaves_all_as_it_was() {
    let root = TempDir::new().unwrap();
    let shop = shop();
    let shop = shop.to_str().unwrap();
    let arguments = ["sync", shop, "-o", "s.json", "--write", "out"];
    fs::write(root.path().join("s.json"), "former").unwrap();
    let refused = limited(4, root.path(), &arguments);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("isochrone: cannot write s.json: File too large"));
    assert_eq!(text(&fs::read(root.path().join("s.json")).unwrap()), "former");
    assert_eq!(names(root.path()), ["s.json"]);
    assert!(
        text(&refused.stdout).starts_with("3 hosts on the clock of "),
        "the result is shown all the same"
    );

    let refused = limited(256, root.path(), &arguments);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("cannot be written: File too large"), "{}", text(&refused.stderr));
    assert!(text(&fs::read(root.path().join("s.json")).unwrap()).starts_with("{\n  \"version\": 2"));
    assert_eq!(names(&root.path().join("out")), [""; 0]);
    assert!(text(&refused.stdout).starts_with("3 hosts on the clock of "));

    // A second try is not in the way of the first.
    let written = isochrone(&arguments).current_dir(root.path()).output().unwrap();
    assert!(written.status.success(), "{}", text(&written.stderr));
    assert_eq!(names(&root.path().join("out")), ["shop_"]);
}

#[test]
fn inputs_are_not_written_over() {
    let root = TempDir::new().unwrap();
    let at = |name: &str| root.path().join(name);
    for host in ["client", "app"] {
        fs::create_dir_all(at(host).join("kernel")).unwrap();
        for file in ["metadata", "ch_0"] {
            fs::copy(shop().join(host).join("kernel").join(file), at(host).join("kernel").join(file))
                .unwrap();
        }
    }
    fs::write(at("m.txt"), "2\n0 1 5 7\n1 0 8 9\n").unwrap();
    fs::hard_link(at("client/kernel/ch_0"), at("hard")).unwrap();
    std::os::unix::fs::symlink("m.txt", at("link")).unwrap();
    let before = tree(root.path());
    let check = |arguments: &[&str], told: &str| {
        let run = isochrone(arguments).current_dir(root.path()).output().unwrap();
        let said = text(&run.stderr);
        assert_eq!((run.status.code(), text(&run.stdout).as_str()), (Some(2), ""), "{arguments:?}: {said}");
        assert!(said.contains(told), "{arguments:?} does not say `{told}` but: {said}");
        assert!(tree(root.path()) == before, "{arguments:?}");
    };
    for output in ["client/kernel/ch_0", "client/kernel/new", "app/../client/kernel/metadata", "hard"] {
        check(
            &["sync", "client", "app", "-o", output],
            &format!("cannot write {output}: it belongs to the trace client/kernel, which is an input"),
        );
    }
    for output in ["m.txt", "link", "./m.txt"] {
        let told = format!("cannot write {output}: it is an input");
        check(&["sync", "--messages", "m.txt", "-o", output], &told);
    }
    check(&["sync", "client", "app", "-o", "app"], "cannot write app: is a directory");
    check(&["sync", "client", "app", "-o", "none/s.json"], "cannot write there: none is not a directory");
}

#[test]
fn packets_that_are_not_in_a_copy_are_named() {
    let root = TempDir::new().unwrap();
    for host in ["client", "app"] {
        let kernel = root.path().join(host).join("kernel");
        fs::create_dir_all(&kernel).unwrap();
        for file in ["metadata", "ch_0"] {
            fs::copy(shop().join(host).join("kernel").join(file), kernel.join(file)).unwrap();
        }
    }
    // The begin of the second packet, at a time that no clock shows.
    let stream = root.path().join("app/kernel/ch_0");
    let mut bytes = fs::read(&stream).unwrap();
    bytes[(1 << 20) + 32..][..8].copy_from_slice(&(u64::MAX - 7).to_le_bytes());
    fs::write(&stream, bytes).unwrap();
    let command = ["sync", "-q", "client", "app", "--write", "out"];
    let run = isochrone(&command).current_dir(root.path()).output().unwrap();
    let said = text(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{said}");
    let told = "warning: app/kernel/ch_0: packet 1, byte 1048576: the rest of the packet is skipped: the time of \
                18446744073709551608 cycles has no place on the new clock: 14238 events are not in the copy\n";
    assert!(said.contains(told), "{said}");

    // What could not be read has been told, and is not told again.
    OpenOptions::new().write(true).open(&stream).unwrap().set_len(1_500_000).unwrap();
    let mut bytes = fs::read(&stream).unwrap();
    bytes.truncate(1 << 20);
    // Its content ends a byte before its last event does.
    let content = u64::from_le_bytes(bytes[48..56].try_into().unwrap());
    bytes[48..56].copy_from_slice(&(content - 8).to_le_bytes());
    fs::write(&stream, bytes).unwrap();
    let command = ["sync", "-q", "client", "app", "--write", "again"];
    let run = isochrone(&command).current_dir(root.path()).output().unwrap();
    let said = text(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{said}");
    assert_eq!(said.matches("app/kernel/ch_0: packet 0").count(), 1, "{said}");
    assert!(root.path().join("again/app_/kernel/metadata").is_file());
}

#[test]
fn odd_lists_of_messages() {
    let root = TempDir::new().unwrap();
    let messages = "2\n0 1 5 70\n1 0 80 99\n0 1 100 170\n1 0 180 199\n";
    let check = |list: &[u8], status: i32, told: &str| {
        fs::write(root.path().join("m.txt"), list).unwrap();
        let run = isochrone(&["sync", "-q", "--messages", "m.txt", "--format", "json"])
            .current_dir(root.path())
            .output()
            .unwrap();
        let said = text(&run.stderr);
        assert_eq!(run.status.code(), Some(status), "{said}");
        assert_eq!(said, told);
        text(&run.stdout)
    };
    let plain = check(messages.as_bytes(), 0, "");
    assert_eq!(check(format!("\u{feff}{messages}").as_bytes(), 0, ""), plain);
    let utf_16: Vec<u8> = messages.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let told = "isochrone: m.txt: it is UTF-16: write it as UTF-8, as `iconv -f UTF-16 -t UTF-8` does\n";
    check(&[b"\xff\xfe", &utf_16[..]].concat(), 2, told);
    check(&utf_16, 2, told);
    let far = format!("{messages}0 1 3000000000000000000 7\n1 0 5 99999999999999999999\n");
    let told = "warning: list m.txt: 2 messages are left out for their times, the first in line 6: `3000000000000000000` is \
                beyond ± 2^61 ns (73 years)\n";
    let json: serde_json::Value = serde_json::from_str(&check(far.as_bytes(), 1, told)).unwrap();
    let mut expect: serde_json::Value = serde_json::from_str(&plain).unwrap();
    expect["links"][0]["messages"]["dropped"] = 2.into();
    assert_eq!((&json["clocks"], &json["links"]), (&expect["clocks"], &expect["links"]));
    assert_eq!((&json["refused"][0]["what"], &json["refused"][0]["name"]), (&"list".into(), &"m.txt".into()));
    let told = "isochrone: m.txt:2: `3000000000000000000` is beyond ± 2^61 ns (73 years)\n";
    check(b"2\n0 1 3000000000000000000 7\n", 2, told);
}

/// Each command, after a `sync.json` was written.
fn commands(json: &str) -> Vec<Vec<String>> {
    let shop = shop().to_str().unwrap().to_owned();
    let kernel = format!("{shop}/app/kernel");
    let commands: [&[&str]; 12] = [
        &["info", &shop],
        &["info", "--format", "json", &shop],
        &["events", "--host", "h1", &shop],
        &["dump", &kernel],
        &["analyze", "cputop", &shop],
        &["analyze", "syscalls", "--format", "csv", &shop],
        &["analyze", "cputop", "--format", "json", &shop],
        &["sync", &shop],
        &["sync", "--format", "json", &shop],
        &["convert", "--sync", json, "--from", "h1", "1795155030.5"],
        &["order", "--own", "--sync", json, "h1", "1795155030.5", "h2", "1795155090.6"],
        &["--help"],
    ];
    commands.iter().map(|command| command.iter().map(|&part| part.to_owned()).collect()).collect()
}

fn full() -> File {
    OpenOptions::new().write(true).open("/dev/full").unwrap()
}

/// A pipe that nobody reads.
fn broken_pipe() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[test]
fn results_do_not_depend_on_who_reads_what() {
    let root = TempDir::new().unwrap();
    let json = root.path().join("s.json");
    let json = json.to_str().unwrap();
    assert!(
        isochrone(&["sync", "-q", shop().to_str().unwrap(), "-o", json]).output().unwrap().status.success()
    );
    for command in commands(json) {
        let run = |stdout: Stdio, stderr: Stdio| {
            let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
            isochrone(&arguments).stdout(stdout).stderr(stderr).output().unwrap()
        };
        let usual = run(Stdio::piped(), Stdio::piped());
        assert_eq!(usual.status.code(), Some(0), "{command:?}: {}", text(&usual.stderr));
        for stderr in [full().into(), broken_pipe()] {
            let unheard = run(Stdio::piped(), stderr);
            assert_eq!(unheard.status.code(), Some(0), "{command:?}");
            assert!(unheard.stdout == usual.stdout, "{command:?}");
        }
        let unread = run(broken_pipe(), Stdio::piped());
        assert_eq!(unread.status.code(), Some(0), "{command:?}: {}", text(&unread.stderr));
        let refused = run(full().into(), Stdio::piped());
        assert_eq!(refused.status.code(), Some(2), "{command:?}");
        let said = text(&refused.stderr);
        let last = said.lines().last().unwrap_or_default();
        let expect = match said.contains("help") {
            true => "isochrone: the help cannot be written: No space left on device",
            false => "isochrone: cannot write to stdout: No space left on device",
        };
        assert_eq!(last, expect, "{command:?}: {said}");
        assert_eq!(run(full().into(), full().into()).status.code(), Some(2), "{command:?}");
    }
    let wrong = |arguments: &[&str]| isochrone(arguments).stderr(full()).status().unwrap().code();
    assert_eq!(wrong(&["info", "/no/such/trace"]), Some(2));
    assert_eq!(wrong(&["no-such-command"]), Some(2));
}

#[test]
fn damage_is_reported_to_nobody_and_the_rest_is_shown() {
    let root = TempDir::new().unwrap();
    let kernel = root.path().join("app/kernel");
    fs::create_dir_all(&kernel).unwrap();
    for file in ["metadata", "ch_0"] {
        fs::copy(shop().join("app/kernel").join(file), kernel.join(file)).unwrap();
    }
    OpenOptions::new().write(true).open(kernel.join("ch_0")).unwrap().set_len(1_500_000).unwrap();
    let kernel = kernel.to_str().unwrap();
    for command in [["info", kernel], ["events", kernel], ["dump", kernel], ["sync", kernel]] {
        let usual = isochrone(&command).output().unwrap();
        let unheard = isochrone(&command).stderr(full()).output().unwrap();
        assert_eq!((usual.status.code(), unheard.status.code()), (Some(1), Some(1)), "{command:?}");
        assert!(!usual.stdout.is_empty() && usual.stdout == unheard.stdout, "{command:?}");
        let unread = isochrone(&command).stdout(broken_pipe()).output().unwrap();
        assert_eq!(unread.status.code(), Some(1), "{command:?}");
    }
}

#[test]
fn files_are_written_though_nobody_reads_the_report() {
    for format in ["text", "json"] {
        let root = TempDir::new().unwrap();
        let shop = shop();
        let mut command = isochrone(&[
            "sync",
            shop.to_str().unwrap(),
            "--format",
            format,
            "-o",
            "s.json",
            "--write",
            "out",
        ]);
        let run = command.current_dir(root.path()).stdout(broken_pipe()).output().unwrap();
        assert_eq!(run.status.code(), Some(0));
        assert!(text(&run.stderr).contains("3 traces with "), "{}", text(&run.stderr));
        assert_eq!(names(root.path()), ["out", "s.json"]);
        assert_eq!(names(&root.path().join("out")), ["shop_"]);
    }
}

/// Whatever command writes: nothing that it reads is replaced, by whatever name, and a pipe stays a pipe.
#[test]
fn pieces_and_figures_never_replace_what_is_read() {
    let root = TempDir::new().unwrap();
    let there = root.path();
    let copied =
        Command::new("cp").arg("-r").args([&shop().join("client"), &there.join("client")]).status().unwrap();
    assert!(copied.success());
    let path = |name: &str| there.join(name).to_str().unwrap().to_owned();
    let (traces, stream, one) = (path("client"), path("client/kernel/ch_0"), path("one.piece"));
    fs::hard_link(&stream, path("linked")).unwrap();
    std::os::unix::fs::symlink(&stream, path("symbolic")).unwrap();
    assert!(isochrone(&["map", "-q", "cputop", &traces, "-o", &one]).status().unwrap().success());
    fs::hard_link(&one, path("one.again")).unwrap();
    let before = tree(there);
    let refused = |arguments: &[&str]| {
        let output = isochrone(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains("an input"), "{arguments:?}: {}", text(&output.stderr));
    };
    for name in [stream.clone(), path("linked"), path("symbolic")] {
        refused(&["map", "cputop", &traces, "-o", &name]);
        refused(&["map", "spans", &traces, "-o", &name]);
        refused(&["watch", "cputop", "--once", "--metrics-file", &name, &traces]);
    }
    refused(&["merge", &one, "-o", &path("one.again")]);
    assert_eq!(tree(there), before);
    let pipe = path("pipe");
    nix::unistd::mkfifo(pipe.as_str(), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).unwrap()
    });
    assert!(isochrone(&["map", "-q", "cputop", &traces, "-o", &pipe]).status().unwrap().success());
    assert_eq!(reader.join().unwrap(), fs::read(&one).unwrap());
    assert!(std::os::unix::fs::FileTypeExt::is_fifo(&fs::metadata(&pipe).unwrap().file_type()));
}

/// Whoever interrupts the making of a store finds nothing of it, whenever that is; what a killed process left in the cache goes with the
/// next store there.
#[test]
#[cfg(unix)]
fn an_interrupted_index_leaves_nothing() {
    let root = TempDir::new().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = isochrone(arguments);
        command.arg(shop()).env("XDG_CACHE_HOME", root.path().join("cache"));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let store = root.path().join("stores/shop");
    fs::create_dir(root.path().join("stores")).unwrap();
    let index = ["index", "-q", "-o", store.to_str().unwrap()];
    let begin = Instant::now();
    assert!(run(&index).status().unwrap().success());
    let whole = begin.elapsed();
    fs::remove_dir_all(&store).unwrap();
    let mut interrupted = 0;
    for number in 0..20u32 {
        let mut child = run(&index).spawn().unwrap();
        std::thread::sleep(whole * number / 20);
        let signal = ["-INT", "-TERM"][number as usize % 2];
        let _ = Command::new("kill").args([signal, &child.id().to_string()]).status();
        interrupted += u32::from(child.wait().unwrap().code().is_none());
        assert!(names(&root.path().join("stores")).iter().all(|name| name == "shop"), "{number}");
        let _ = fs::remove_dir_all(&store);
    }
    assert!(interrupted > 5, "{interrupted}");
    fs::create_dir_all(root.path().join("cache/isochrone/.0123456789abcdef.partial/0-h1")).unwrap();
    assert!(run(&["states", "-q"]).status().unwrap().success());
    let left = names(&root.path().join("cache/isochrone"));
    assert!(left.len() == 1 && !left[0].starts_with('.'), "{left:?}");
}
