//! Stores in which something is not what was written: they are refused in words, or what is shown is what the whole store shows. In the
//! cache they are made anew.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use isochrone_store::Store;
use serde_json::Value;

/// Commands that read a store; between them, all of its tables but sums (`crates/store/tests/it/sums.rs`).
const COMMANDS: [&[&str]; 7] = [
    &["states", "--format", "csv"],
    &["critical-path", "--format", "csv"],
    &["accounting", "--format", "csv"],
    &["blocking", "--format", "csv"],
    &["ipc", "--format", "csv"],
    &["export", "--to", "chrome"],
    &["analyze", "fds", "--at", "06:11:25.5", "--format", "csv"],
];

fn shop() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop").canonicalize().unwrap()
}

/// Runs the binary with a cache of its own.
fn isochrone(cache: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    command.env("XDG_CACHE_HOME", cache).args(arguments).arg("-q").arg(shop()).output().unwrap()
}

/// Random numbers that are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) as usize % end
    }
}

/// Files of a directory and of those in it, in the order of their names.
fn files(directory: &Path) -> Vec<PathBuf> {
    let inside = |directory: &Path| {
        let mut all: Vec<PathBuf> =
            fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        all.sort_unstable();
        all
    };
    let each = |path: PathBuf| if path.is_dir() { inside(&path) } else { vec![path] };
    inside(directory).into_iter().flat_map(each).collect()
}

/// Damages bytes in one of several ways: they are others then.
fn damage(bytes: &mut Vec<u8>, numbers: &mut Numbers) -> String {
    let at = numbers.below(bytes.len());
    // What says where everything is lies at the end.
    let at = if numbers.below(3) == 0 { bytes.len() - 1 - at % bytes.len().min(600) } else { at };
    match numbers.below(4) {
        0 => {
            bytes.truncate(at);
            format!("cut at {at}")
        }
        1 => {
            let end = bytes.len().min(at + 1 + numbers.below(512));
            bytes[at..end].fill(0);
            format!("{at}..{end} zero")
        }
        _ => {
            let bit = numbers.below(8);
            bytes[at] ^= 1 << bit;
            format!("bit {bit} of {at}")
        }
    }
}

#[test]
fn damaged_stores_are_refused_or_show_the_same() {
    let root = tempfile::tempdir().unwrap();
    let (cache, store) = (root.path().join("cache"), root.path().join("a.store"));
    let path = store.to_str().unwrap();
    assert!(isochrone(&cache, &["index", "-o", path]).status.success());
    let show = |command: &[&str]| isochrone(&cache, &[command, &["--store", path]].concat());
    let expect = COMMANDS.map(show);
    assert!(expect.iter().all(|output| output.status.success() && output.stdout.len() > 100));
    let (all, mut numbers, mut refused) = (files(&store), Numbers(7), 0);
    for number in 0..210 {
        // The manifest more often than by chance.
        let file = match number % 10 {
            0 => store.join("store.json"),
            _ => all[numbers.below(all.len())].clone(),
        };
        let whole = fs::read(&file).unwrap();
        let mut bytes = whole.clone();
        let what = damage(&mut bytes, &mut numbers);
        if bytes == whole {
            continue;
        }
        fs::write(&file, &bytes).unwrap();
        if !file.ends_with("store.json") {
            let found = Store::open(&store).and_then(|store| store.verify());
            let found = found.expect_err("it is damaged").to_string();
            assert!(found.contains(file.to_str().unwrap()), "{}: {what}: {found}", file.display());
        }
        let (command, expect) = (COMMANDS[number % COMMANDS.len()], &expect[number % COMMANDS.len()]);
        let found = show(command);
        let said = String::from_utf8_lossy(&found.stderr);
        let told = || format!("{command:?}: {}: {what}: {:?}: {said}", file.display(), found.status);
        match found.status.code() {
            Some(0) => assert!(found.stdout == expect.stdout, "{}", told()),
            Some(2) => {
                refused += 1;
                assert!(said.contains(file.file_name().unwrap().to_str().unwrap()), "{}", told());
                assert!(expect.stdout.starts_with(&found.stdout), "{}", told());
            }
            _ => panic!("{}", told()),
        }
        fs::write(&file, whole).unwrap();
    }
    assert!(refused > 50, "{refused}");
    assert!(Store::open(&store).unwrap().verify().is_ok());
}

#[test]
fn a_damaged_store_in_the_cache_is_made_anew() {
    let root = tempfile::tempdir().unwrap();
    let cache = root.path().join("cache");
    let commands = &COMMANDS[..5];
    let expect: Vec<Output> = commands.iter().map(|command| isochrone(&cache, command)).collect();
    let [store] =
        &fs::read_dir(cache.join("isochrone")).unwrap().map(|it| it.unwrap().path()).collect::<Vec<_>>()[..]
    else {
        panic!("not one store");
    };
    let (mut numbers, mut made_anew) = (Numbers(11), 0);
    for number in 0..40 {
        let all = files(store);
        let file =
            if number % 10 == 0 { store.join("store.json") } else { all[numbers.below(all.len())].clone() };
        let mut bytes = fs::read(&file).unwrap();
        let what = damage(&mut bytes, &mut numbers);
        fs::write(&file, &bytes).unwrap();
        let place = number % commands.len();
        let found = isochrone(&cache, commands[place]);
        let said = String::from_utf8_lossy(&found.stderr);
        assert!(found.status.success(), "{}: {what}: {said}", file.display());
        assert!(found.stdout == expect[place].stdout, "{}: {what}: {said}", file.display());
        made_anew += usize::from(Store::open(store).is_ok_and(|store| store.verify().is_ok()));
    }
    assert!(made_anew > 10, "{made_anew}");
    assert_eq!(fs::read_dir(cache.join("isochrone")).unwrap().count(), 1);
}

#[test]
fn a_manifest_says_what_was_written() {
    let root = tempfile::tempdir().unwrap();
    let (cache, store) = (root.path().join("cache"), root.path().join("a.store"));
    let path = store.to_str().unwrap();
    assert!(isochrone(&cache, &["index", "-o", path]).status.success());
    let manifest = store.join("store.json");
    let whole: Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    let show = || isochrone(&cache, &["accounting", "--store", path]);
    let check = |change: &dyn Fn(&mut Value)| {
        let mut changed = whole.clone();
        change(&mut changed);
        fs::write(&manifest, serde_json::to_vec(&changed).unwrap()).unwrap();
        let output = show();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("store.json: ") && output.stdout.is_empty(), "{said}");
    };
    assert!(show().status.success());
    check(&|it| it["hosts"] = Value::Array(Vec::new()));
    check(&|it| drop(it["hosts"].as_array_mut().unwrap().pop()));
    check(&|it| it["hosts"][0]["range"] = serde_json::json!([0, 1]));
    check(&|it| it["hosts"][0]["range"] = Value::Null);
    check(&|it| it["hosts"][0]["id"] = it["hosts"][1]["id"].clone());
    check(&|it| it["hosts"][0]["offset_ns"] = 7.into());
    check(&|it| it["hosts"][0]["directory"] = it["hosts"][1]["directory"].clone());
    check(&|it| it["hosts"][0]["directory"] = "../elsewhere".into());
    check(&|it| it["hosts"][0]["levels"] = 0.into());
    check(&|it| it["hosts"][0]["cpus"] = serde_json::json!([7]));
    check(&|it| it["are_clocks_all"] = (!it["are_clocks_all"].as_bool().unwrap()).into());
    check(&|it| it["clocks"] = Value::Null);
    check(&|it| it["messages"] = Value::Null);
    check(&|it| it["crc32"] = "00000000".into());
}

/// What `view` says of an experiment once it is open, or cannot be opened, and something else is so.
fn viewed(options: &[&str], cache: &Path, is_so: impl Fn() -> bool) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    command.env("XDG_CACHE_HOME", cache).args(["view", "-q", "--no-open", "--listen", "127.0.0.1:0"]);
    let mut child =
        command.args(options).arg(shop()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut address = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
    let address = address.trim().trim_start_matches("http://").split('/').next().unwrap().to_owned();
    let begun = Instant::now();
    let answer = loop {
        let mut connection = TcpStream::connect(&address).unwrap();
        write!(connection, "GET /api/experiment HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut text = String::new();
        connection.read_to_string(&mut text).unwrap();
        let json = &text[text.find('{').unwrap()..=text.rfind('}').unwrap()];
        let answer: Value = serde_json::from_str(json).unwrap();
        if ["ready", "failed"].contains(&answer["stage"]["name"].as_str().unwrap()) && is_so() {
            break answer;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "{answer}");
        std::thread::sleep(Duration::from_millis(50));
    };
    child.kill().unwrap();
    child.wait().unwrap();
    answer
}

#[test]
fn a_page_of_a_damaged_store_is_there_or_says_why_not() {
    let root = tempfile::tempdir().unwrap();
    let (cache, store) = (root.path().join("cache"), root.path().join("a.store"));
    assert!(isochrone(&cache, &["index", "-o", store.to_str().unwrap()]).status.success());
    let flip = |table: &Path| {
        let mut bytes = fs::read(table).unwrap();
        let at = bytes.len() / 2;
        bytes[at] ^= 1;
        fs::write(table, bytes).unwrap();
    };
    let (table, named) = (store.join("0-h1/threads.arrow"), ["--store", store.to_str().unwrap()]);
    flip(&table);
    let answer = viewed(&named, &cache, || true);
    assert_eq!(answer["stage"]["name"], "ready", "{answer}");
    assert_eq!(answer["hosts"].as_array().unwrap().len(), 3);
    assert!(Store::open(&store).unwrap().verify().is_ok(), "it was made anew");
    // It cannot be made anew without the loss of something.
    fs::write(store.join("notes"), "precious").unwrap();
    flip(&table);
    let answer = viewed(&named, &cache, || true);
    assert_eq!(answer["stage"]["name"], "failed", "{answer}");
    assert!(
        answer["stage"]["message"].as_str().unwrap().contains("threads.arrow: other bytes than were written"),
        "{answer}"
    );
    assert_eq!(fs::read_to_string(store.join("notes")).unwrap(), "precious");
    // What nothing needs at first is found in the cache while the page is there, and made anew with the next one.
    assert!(isochrone(&cache, &["states"]).status.success());
    let store = fs::read_dir(cache.join("isochrone")).unwrap().next().unwrap().unwrap().path();
    flip(&store.join("0-h1/slices.arrow"));
    let answer = viewed(&[], &cache, || !store.join("store.json").exists());
    assert_eq!(answer["stage"]["name"], "ready", "{answer}");
    viewed(&[], &cache, || true);
    assert!(Store::open(&store).unwrap().verify().is_ok());
}
