//! The binary on captures and on lists of messages.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// Numbers of a TCP segment, made by hand: Ethernet, IPv4, TCP and ten bytes.
fn segment(from: u8, to: u8, seq: u32) -> Vec<u8> {
    let mac = |host: u8| [2, 0, 0, 0, 0, host];
    let ip = [0x45, 0, 0, 50, 1, (seq / 10) as u8, 0, 0, 64, 6, 0, 0, 10, 0, 0, from, 10, 0, 0, to];
    let tcp = [&[4, 0, 0, 80][..], &seq.to_be_bytes(), &[0, 0, 0, 1, 0x50, 0x10, 1, 0, 0, 0, 0, 0]].concat();
    [&mac(to)[..], &mac(from), &[8, 0], &ip, &tcp, &[7; 10]].concat()
}

/// A capture of `host` (1 or 2) of an exchange between two; the clock of the second is half a second ahead.
fn capture(directory: &Path, name: &str, host: u8) -> PathBuf {
    let mut file = [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 65_535, 1].map(u32::to_le_bytes).concat();
    let mut record = |at: u32, frame: &[u8]| {
        let at = at + if host == 2 { 500_000_000 } else { 0 };
        let length = frame.len() as u32;
        file.extend([1_795_154_041, at, length, length].map(u32::to_le_bytes).concat());
        file.extend(frame);
    };
    for count in 0..100 {
        let (from, to) = if count % 2 == 0 { (1, 2) } else { (2, 1) };
        let delay = if host == to { 20_000 } else { 0 };
        record(count * 1_000_000 + delay, &segment(from, to, count * 10));
    }
    record(200_000_000, &segment(host, 9, 0));
    let path = directory.join(name);
    fs::write(&path, file).unwrap();
    path
}

struct Run {
    code: i32,
    out: String,
    said: String,
}

fn run(arguments: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone")).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code().unwrap(), out: text(output.stdout), said: text(output.stderr) }
}

fn shop(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop").join(name).display().to_string()
}

#[test]
fn captures_alone_are_synchronized_and_described() {
    let directory = TempDir::new().unwrap();
    let paths = [capture(directory.path(), "web1.pcap", 1), capture(directory.path(), "web2.pcap", 2)];
    let [a, b] = paths.each_ref().map(|path| path.to_str().unwrap());
    let found = run(&["sync", "--reference", "web1", a, b]);
    assert_eq!(found.code, 0, "{}", found.said);
    assert!(found.out.starts_with("2 hosts on the clock of web1, by 100 messages; "), "{}", found.out);
    assert!(found.out.contains("500.0 ms ahead"), "{}", found.out);
    let note = "captured on an end host, whose address is 02:00:00:00:00:01";
    assert!(found.said.contains(note), "{}", found.said);
    // What the user says counts.
    let other = run(&["sync", "--captured", "web1=way", a, b]);
    assert!(other.said.contains("counts as received, and not as sent on (as you say)"), "{}", other.said);
    let condition = ", and if sent frames of web1 and web2 are stamped before they leave.";
    assert!(found.out.contains(condition), "{}", found.out);
    let late = run(&["sync", "--captured", "web1=late:300us", a, b]);
    let condition = ", and if sent frames of web1 are stamped at most 300.0 µs after they left, and sent frames of web2 are stamped before they leave.";
    assert!(late.out.contains(condition), "{}", late.out);
    let inline = run(&["sync", "--captured", "web1=inline", a, b]);
    assert!(
        inline.out.contains(", and if frames of web1 are sent on after they are stamped"),
        "{}",
        inline.out
    );
    let wrong = run(&["sync", "--captured", "web1=somewhere", a, b]);
    assert_eq!(wrong.code, 2);
    assert!(
        wrong.said.contains("neither `way` nor `inline` nor an Ethernet or IP address"),
        "{}",
        wrong.said
    );

    let text = run(&["info", a]);
    assert_eq!(text.code, 0);
    let lines: Vec<&str> = text.out.lines().collect();
    assert_eq!(lines[0], format!("{a}: web1, capture"));
    assert!(lines[2].ends_with("101 packets, 8,104 bytes"), "{}", text.out);
    let json: Value =
        serde_json::from_str(&run(&["info", "--format", "json", a, &shop("client")]).out).unwrap();
    let captured = &json["captures"][0];
    assert_eq!((&captured["kind"], &captured["host"]), (&"capture".into(), &"web1".into()));
    assert_eq!((&captured["packets"], &captured["bytes"]), (&101.into(), &8104.into()));
    assert_eq!(captured["begin_ns"], 1_795_154_041_000_000_000_i64);
    assert_eq!(captured["end_ns"], 1_795_154_041_200_000_000_i64);
    assert_eq!(json["traces"].as_array().unwrap().len(), 1);
}

/// The same capture with every frame changed.
fn changed(path: &Path, name: &str, change: impl Fn(&mut Vec<u8>)) -> PathBuf {
    let file = fs::read(path).unwrap();
    let (mut new, mut rest) = (file[..24].to_vec(), &file[24..]);
    while let Some((head, after)) = rest.split_at_checked(16) {
        let length = u32::from_le_bytes(*head[8..].first_chunk().unwrap()) as usize;
        let mut frame = after[..length].to_vec();
        change(&mut frame);
        new.extend(&head[..8]);
        new.extend((frame.len() as u32).to_le_bytes());
        new.extend((length as u32).to_le_bytes());
        new.extend(frame);
        rest = &after[length..];
    }
    let path = path.with_file_name(name);
    fs::write(&path, new).unwrap();
    path
}

#[test]
fn what_cannot_be_matched_is_named_wherever_packets_are_counted() {
    let directory = TempDir::new().unwrap();
    let paths = [capture(directory.path(), "web1.pcap", 1), capture(directory.path(), "web2.pcap", 2)];
    let check = |change: &dyn Fn(&mut Vec<u8>), holds: &str, why: &str| {
        let made = [changed(&paths[0], "x.pcap", change), changed(&paths[1], "y.pcap", change)];
        let [a, b] = made.each_ref().map(|path| path.to_str().unwrap());
        let found = run(&["sync", "--captured", "x=way", a, b]);
        assert_eq!(found.code, 1);
        let told = format!("x is tied to no other host and keeps its own time: {why}");
        assert!(found.out.contains(&told) && !found.out.contains("exchanged no packet"), "{}", found.out);
        assert!(found.said.contains(&format!("{b}: {why}")), "{}", found.said);
        let dry = run(&["sync", "--dry-run", a, b]);
        assert!(dry.said.contains(&format!("{a}: {why}")), "{}", dry.said);
        assert!(
            dry.out.lines().any(|line| line.starts_with("  x ") && line.contains(" 101 ")),
            "{}",
            dry.out
        );
        let info = run(&["info", a]);
        assert!(info.out.contains(&format!("  holds        {holds}\n")), "{}", info.out);
        info.out
    };
    let only = "none of its 101 packets can be matched (only TCP, UDP and ICMP echoes are)";
    check(&|frame| frame[23] = 50, "101 ESP", &format!("{only}: 101 ESP"));
    check(
        &|frame| frame[12..14].copy_from_slice(&[0x88, 0xe5]),
        "101 MACsec",
        &format!("{only}: 101 MACsec"),
    );
    let cut = "all 101 packets hold only 40 bytes of each frame, less than their headers: record with -s 96";
    let why = format!("none of its 101 packets can be matched: {cut}");
    let info = check(&|frame| frame.truncate(40), "101 cut TCP", &why);
    assert!(info.contains(cut), "{info}");
    let info = run(&["info", changed(&paths[0], "z.pcap", |frame| frame[..12].fill(0)).to_str().unwrap()]);
    let zero = "all 101 frames are of the loopback device (both addresses are zero) and are left out";
    assert!(info.out.contains(zero) && !info.out.contains("nothing was captured"), "{}", info.out);
}

#[test]
fn files_of_other_tools_are_named() {
    let directory = TempDir::new().unwrap();
    for (name, head, expect) in [
        ("x.zip", &b"PK\x03\x04"[..], "cannot be unpacked: invalid Zip archive"),
        ("trace.dat", b"\x17\x08Dtracing6", "it is cut, or damaged: the start of the file at byte 0"),
        ("perf.data", b"PERFILE2", "it is cut, or damaged: the head of the file at byte 0"),
    ] {
        let path = directory.path().join(name);
        fs::write(&path, head).unwrap();
        let found = run(&["info", path.to_str().unwrap()]);
        assert_eq!(found.code, 2);
        assert!(found.said.contains(expect), "{}", found.said);
    }
}

#[test]
fn captures_have_no_events() {
    let directory = TempDir::new().unwrap();
    let path = capture(directory.path(), "web1.pcap", 1);
    let path = path.to_str().unwrap();
    for command in ["events", "dump"] {
        let found = run(&[command, path]);
        assert_eq!((found.code, found.out.as_str()), (2, ""));
        let expect = format!(
            "isochrone: {path}: a packet capture, which holds packets for `isochrone sync` and no events\n"
        );
        assert_eq!(found.said, expect);
    }
    let both = run(&["events", "--event", "no_such_event", path, &shop("client")]);
    assert_eq!((both.code, both.out.as_str()), (0, ""), "{}", both.said);
    for told in ["it has no events to show; left out\n", "no event in the traces is called `no_such_event`\n"]
    {
        assert!(both.said.contains(told), "{}", both.said);
    }
}

#[test]
fn no_copies_of_captures_are_written() {
    let directory = TempDir::new().unwrap();
    let path = capture(directory.path(), "web1.pcap", 1);
    let copies = directory.path().join("copies");
    let shown = |path: &Path| path.to_str().unwrap().to_owned();
    // Even where a capture is the reference of an island.
    let arguments = ["sync", &shop("client"), &shop("app"), &shown(&path), "--write", &shown(&copies)];
    let found = run(&arguments);
    assert_eq!(found.code, 1, "{}", found.said);
    assert!(found.said.contains("no copy of a capture is written"), "{}", found.said);
    let mut names: Vec<_> = fs::read_dir(&copies).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["app_", "client_"]);
}

#[test]
fn lists_of_messages() {
    let directory = TempDir::new().unwrap();
    let list = directory.path().join("list.txt");
    fs::write(
        &list,
        "# two hosts\n2\n0 1 0.000010 0.500030001\n1 0 500040000 60001\n0 1 1.0 1.50002\n1 0 1.6 1.10002\n",
    )
    .unwrap();
    let list = list.to_str().unwrap();
    let found = run(&["sync", "--messages", list, "--reference", "0", "--format", "json"]);
    assert_eq!((found.code, found.said.as_str()), (0, ""));
    let json: Value = serde_json::from_str(&found.out).unwrap();
    assert_eq!((&json["clocks"][1]["id"], &json["clocks"][1]["host"]), (&"1".into(), &"1".into()));
    assert_eq!(json["links"][0]["messages"]["a_to_b"], 2);
    let text = run(&["sync", "--messages", list]);
    assert!(text.out.starts_with("2 hosts on the clock of "), "{}", text.out);
    for wrong in
        [&["sync"][..], &["sync", "--messages", list, "web/"], &["sync", "--messages", list, "--write", "x"]]
    {
        assert_eq!(run(wrong).code, 2, "{wrong:?}");
    }
    let absent = run(&["sync", "--messages", "absent.txt"]);
    assert_eq!(absent.code, 2);
    assert!(absent.said.starts_with("isochrone: absent.txt: cannot be read: "), "{}", absent.said);
}
