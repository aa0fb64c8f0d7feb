//! What is written never replaces what is read, a file of a store, or what is no file; and whoever is killed leaves nothing for ever.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

fn shop() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop").canonicalize().unwrap()
}

/// A command that runs in a directory, with a cache and temporary files of its own there.
fn isochrone(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    fs::create_dir_all(root.join("tmp")).unwrap();
    command.args(arguments).current_dir(root).env("XDG_CACHE_HOME", root.join("cache"));
    command.env("TMPDIR", root.join("tmp"));
    command
}

/// Runs a command that must end well.
#[track_caller]
fn run(root: &Path, arguments: &[&str]) {
    let run = isochrone(root, arguments).output().unwrap();
    assert!(run.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
}

/// All files below a directory with their content, but for the cache.
fn tree(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true if path.ends_with("cache") || path.ends_with("tmp") => {}
                true => open.push(path),
                false => drop(all.insert(path.clone(), fs::read(&path).unwrap())),
            }
        }
    }
    all
}

/// A directory with a writable copy of the example, a store of it, pieces of it, and corrections.
fn inputs() -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for host in ["client", "app", "db"] {
        let to = root.path().join("shop").join(host).join("kernel");
        fs::create_dir_all(&to).unwrap();
        for file in ["metadata", "ch_0"] {
            fs::copy(shop().join(host).join("kernel").join(file), to.join(file)).unwrap();
        }
    }
    run(root.path(), &["index", "-q", "-o", "st", "shop"]);
    run(root.path(), &["map", "-q", "spans", "shop", "-o", "spans.piece"]);
    run(root.path(), &["sync", "-q", "shop", "-o", "s.json"]);
    root
}

#[test]
fn no_command_writes_over_what_it_reads() {
    let root = inputs();
    let at = |name: &str| root.path().join(name);
    fs::hard_link(at("shop/db/kernel/ch_0"), at("hard")).unwrap();
    fs::hard_link(at("st/0-h1/slices.arrow"), at("hard.arrow")).unwrap();
    symlink("st/store.json", at("to_manifest")).unwrap();
    symlink("shop/client/kernel/ch_0", at("to_stream")).unwrap();
    let before = tree(root.path());
    let check = |arguments: &[&str], told: &str| {
        let run = isochrone(root.path(), arguments).output().unwrap();
        let said = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(told), "{arguments:?} does not say `{told}` but: {said}");
        assert!(tree(root.path()) == before, "{arguments:?}");
    };
    let commands: [&[&str]; 7] = [
        &["summary", "-q"],
        &["export", "-q", "--to", "chrome"],
        &["export", "-q", "--to", "openmetrics"],
        &["sync", "-q"],
        &["map", "-q", "cputop"],
        &["map", "-q", "spans"],
        &["watch", "-q", "cputop", "--once"],
    ];
    for command in commands {
        let output = if command[0] == "watch" { "--metrics-file" } else { "-o" };
        let with = |input: &str, file: &str, told: &str| {
            check(&[command, &[input, output, file]].concat(), told);
        };
        for file in ["shop/client/kernel/ch_0", "shop/client/kernel/new", "to_stream", "hard"] {
            with("shop", file, "belongs to the trace");
        }
        // Of a store that nobody reads here.
        for file in ["st/store.json", "st/new", "st/0-h1/slices.arrow", "st/0-h1/new", "to_manifest"] {
            with("shop", file, "belongs to the store");
        }
    }
    // A store and pieces stand for their traces.
    for command in [
        &["summary", "-q", "st"][..],
        &["sync", "-q", "st"],
        &["export", "-q", "--to", "chrome", "spans.piece"],
    ] {
        check(&[command, &["-o", "shop/client/kernel/ch_0"]].concat(), "belongs to the trace");
    }
    check(&["summary", "-q", "st", "-o", "hard.arrow"], "it is an input");
    check(&["summary", "-q", "--store", "st", "shop", "-o", "hard.arrow"], "it is an input");
    check(&["summary", "-q", "--sync", "s.json", "shop", "-o", "s.json"], "it is an input");
    check(&["export", "-q", "--to", "chrome", "spans.piece", "-o", "spans.piece"], "it is an input");
    check(&["merge", "-q", "spans.piece", "-o", "spans.piece"], "it is an input");
    check(&["sync", "-q", "shop", "--html", "st/store.json"], "--html: cannot write st/store.json");
    check(&["sync", "-q", "shop", "-o", "new", "--html", "./new"], "-o and --html are one file");
}

#[test]
fn a_store_replaces_nothing_but_a_store() {
    let root = inputs();
    let index = || isochrone(root.path(), &["index", "-q", "-o", "st", "shop"]).output().unwrap();
    for file in ["st/notes", "st/0-h1/notes", "st/.hidden", "st/mine/notes"] {
        let file = root.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "precious").unwrap();
        let refused = index();
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains("belongs to none"), "{said}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
        assert!(root.path().join("st/store.json").is_file());
        fs::remove_file(&file).unwrap();
    }
    fs::remove_dir(root.path().join("st/mine")).unwrap();
    // A damaged one is a store.
    fs::write(root.path().join("st/store.json"), "{").unwrap();
    assert!(index().status.success());
    run(root.path(), &["summary", "-q", "st", "-o", "page.html"]);
}

#[test]
fn what_is_no_file_is_written_to_and_stays() {
    let root = inputs();
    let pipe = root.path().join("pipe");
    for arguments in [
        &["sync", "-q", "shop", "-o"][..],
        &["map", "-q", "cputop", "shop", "-o"],
        &["export", "-q", "--to", "openmetrics", "shop", "-o"],
    ] {
        let output = |path: &str| isochrone(root.path(), &[arguments, &[path]].concat()).output().unwrap();
        assert!(output("whole").status.success());
        assert!(output("/dev/null").status.success());
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = {
            let pipe = pipe.clone();
            std::thread::spawn(move || {
                let mut all = Vec::new();
                File::open(pipe).unwrap().read_to_end(&mut all).unwrap();
                all
            })
        };
        assert!(output("pipe").status.success());
        assert!(reader.join().unwrap() == fs::read(root.path().join("whole")).unwrap(), "{arguments:?}");
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
        fs::remove_file(&pipe).unwrap();
    }
}

/// What is hidden in a directory.
fn hidden(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).into_iter().flatten().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).filter(|name| name.contains(".partial-")).collect()
}

/// Waits until something hidden is in a directory; `false` if the command ends before.
fn has_begun(child: &mut Child, directory: &Path) -> bool {
    while hidden(directory).is_empty() {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

#[test]
fn who_is_killed_leaves_nothing_for_ever() {
    let root = inputs();
    let out = root.path().join("out");
    fs::create_dir(&out).unwrap();
    let commands: [&[&str]; 2] =
        [&["export", "-q", "--to", "chrome", "st", "-o", "out/a"], &["sync", "-q", "shop", "--write", "out"]];
    for arguments in commands {
        for signal in ["INT", "TERM", "KILL"] {
            let mut was_seen = false;
            for _ in 0..12 {
                let mut command = isochrone(root.path(), arguments);
                let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
                let has_begun = has_begun(&mut child, &out);
                if has_begun {
                    let (signal, process) = (format!("-{signal}"), child.id().to_string());
                    let _ = Command::new("kill").args([signal, process]).stderr(Stdio::null()).status();
                }
                let ended = child.wait().unwrap();
                if signal != "KILL" {
                    assert_eq!(hidden(&out), [""; 0], "{arguments:?}: {signal} {ended:?}");
                }
                was_seen |= has_begun && !ended.success();
                let _ = fs::remove_dir_all(out.join("shop_"));
                if was_seen && signal == "KILL" {
                    break;
                }
            }
            assert!(was_seen, "{arguments:?} is never killed while it writes");
        }
        // What SIGKILL left goes with the next one, and what a living process writes stays.
        assert_eq!(hidden(&out).len(), 1);
        let left = out.join(&hidden(&out)[0]);
        let held = File::open(&left).unwrap();
        held.lock().unwrap();
        run(root.path(), arguments);
        assert!(left.exists(), "it is locked");
        let _ = fs::remove_dir_all(out.join("shop_"));
        drop(held);
        run(root.path(), arguments);
        assert_eq!(hidden(&out), [""; 0]);
        let _ = fs::remove_dir_all(out.join("shop_"));
    }
}

/// Where nobody listens: `live` makes its directory and ends.
#[test]
fn the_next_live_removes_what_a_killed_one_left() {
    let root = tempfile::tempdir().unwrap();
    let left = |name: &str| {
        let directory = root.path().join("tmp").join(name);
        fs::create_dir_all(directory.join("0")).unwrap();
        directory
    };
    let (gone, alive, other) =
        (left("isochrone-liveaBc123"), left("isochrone-liveaBc124"), left("isochrone-livelong"));
    let held = File::open(&alive).unwrap();
    held.lock().unwrap();
    let begun = Instant::now();
    let status = isochrone(root.path(), &["live", "net://127.0.0.1:1/host/a/b"]).output().unwrap().status;
    assert!(begun.elapsed() < Duration::from_secs(60));
    assert_eq!(status.code(), Some(2));
    assert!(!gone.exists() && alive.exists() && other.exists());
    assert_eq!(fs::read_dir(root.path().join("tmp")).unwrap().count(), 2);
}
