//! Packets and files that an index lists and that are not there, and what lies in the place of a file.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use isochrone_ctf::index::{self, IndexEntry};
use isochrone_ctf::{Loss, Lost, MissingFile, Trace};

use super::{ALL, PACKET, Packet, check_trace, events_of, good_metadata, stream};
use crate::common::{read, write};

/// Entries of the good stream.
fn entries() -> Vec<IndexEntry> {
    let entry = |number: u64| IndexEntry {
        offset: number * PACKET,
        total_bits: PACKET * 8,
        content_bits: Packet::good(number).content,
        begin: number * 1000,
        end: number * 1000 + 900,
        discarded: number,
        sequence: number,
        stream: 7,
        ..IndexEntry::default()
    };
    (0..4).map(entry).collect()
}

/// The good stream's index in version 1.0.
fn old_index() -> Vec<u8> {
    let new = index::write(&entries());
    let mut old = [&new[..8], &0_u32.to_be_bytes(), &56_u32.to_be_bytes()].concat();
    old.extend(new[16..].chunks(72).flat_map(|entry| &entry[..56]));
    old
}

const MISSING: MissingFile = MissingFile {
    file: String::new(),
    stream_class: 0,
    stream_id: Some(7),
    stream: None,
    packets: 4,
    begin: 0,
    end: 3900,
    discarded: 3,
    sequence: Some((0, 3)),
};

#[test]
fn a_file_that_lacks_its_last_packets() {
    let good = stream(0, |_| ());
    let whole = index::write(&entries());
    let check =
        |row: &str, bytes: &[u8], index: &[u8], packets: &[u64], diagnostics: &[&str], expect: &[Loss]| {
            let files = [("s", bytes), ("index/s.idx", index)];
            let trace = write(&good_metadata(), &files);
            check_trace(row, &good_metadata(), &files, &events_of(packets), diagnostics);
            let trace = Trace::open(trace.path()).unwrap();
            assert_eq!(trace.losses(0), expect, "{row}");
            assert_eq!(trace.missing_files(), [], "{row}");
        };
    let lost = |packets: u64, after: usize| {
        let (begin, end) = (Some(after as u64 * 1000 - 100), Some(3900));
        [Loss { lost: Lost::Packets(packets), before_packet: after, begin, end }]
    };
    let gone = |packets: u64, offset: u64| match packets {
        1 => format!("Loss s byte {offset}: the last packet that the index lists is lost"),
        _ => {
            format!("Loss s byte {offset}: from here on, {packets} packets that the index lists are lost")
        }
    };
    check("whole", &good, &whole, &ALL, &[], &[]);
    check("cut at a border", &good[..256], &whole, &[0, 1], &[&gone(2, 256)], &lost(2, 2));
    check("index 1.0", &good[..384], &old_index(), &[0, 1, 2], &[&gone(1, 384)], &lost(1, 3));
    let cut = "Loss s packet 2 byte 256: the last 100 bytes of the file are skipped: a packet of 128 bytes was cut off";
    check("cut in a packet", &good[..356], &whole, &[0, 1], &[cut, &gone(2, 256)], &lost(2, 2));
    let no_size = stream(2, |packet| packet.total = 0);
    let tail = "Loss s packet 2 byte 256: the last 256 bytes of the file are skipped: a packet of 0 bits is impossible";
    check("no size", &no_size, &whole, &[0, 1], &[tail, &gone(2, 256)], &lost(2, 2));
    let no_magic = stream(3, |packet| packet.magic = 0);
    let skipped = "Loss s packet 3 byte 384: packet skipped: its magic number is 0x0, not 0xc1fc1fc1";
    check("skipped", &no_magic, &whole, &[0, 1, 2], &[skipped, &gone(1, 384)], &lost(1, 3));
    // What disagrees before, or cannot be a packet, proves nothing.
    let note = |entry: usize| {
        format!("Note index/s.idx: index not used: entry {entry} disagrees with the packets of s")
    };
    let change = |number: usize, change: fn(&mut IndexEntry)| {
        let mut entries = entries();
        change(&mut entries[number]);
        index::write(&entries)
    };
    check("entry 1", &good[..256], &change(1, |entry| entry.end += 1), &[0, 1], &[&note(1)], &[]);
    check("offset", &good[..256], &change(3, |entry| entry.offset += 8), &[0, 1], &[&note(2)], &[]);
    check("size", &good[..256], &change(2, |entry| entry.total_bits = 0), &[0, 1], &[&note(2)], &[]);
    check("content", &good[..256], &change(2, |entry| entry.content_bits = 2048), &[0, 1], &[&note(2)], &[]);
    check("times", &good[..256], &change(3, |entry| entry.end = 0), &[0, 1], &[&note(2)], &[]);
    check("class", &good[..256], &change(3, |entry| entry.stream_class = 5), &[0, 1], &[&note(2)], &[]);
}

/// What there is to say of the good trace with something else in the place of its file, or beside it.
#[track_caller]
fn check_place(row: &str, make: impl Fn(&Path), diagnostics: &[&str], missing: &[MissingFile]) {
    let files = [("t", stream(0, |_| ())), ("index/s.idx", index::write(&entries()))];
    let files = files.each_ref().map(|(name, bytes)| (*name, bytes.as_slice()));
    let trace = write(&good_metadata(), &files);
    make(trace.path());
    let reading = read(trace.path()).unwrap();
    assert_eq!(reading.events, events_of(&ALL), "{row}");
    assert_eq!(reading.diagnostics, diagnostics, "{row}");
    assert_eq!(Trace::open(trace.path()).unwrap().missing_files(), missing, "{row}");
}

#[test]
fn files_that_are_not_there() {
    let gone = "Loss s: there is no such stream file, and its index lists 4 packets";
    let unread = "Loss s: nothing of it could be read, and its index lists 4 packets";
    let missing = || [MissingFile { file: "s".to_owned(), ..MISSING }];
    check_place("no file", |_| (), &[gone], &missing());
    let emptied = "Loss s byte 0: from here on, 4 packets that the index lists are lost";
    check_place("an empty file", |path| fs::write(path.join("s"), "").unwrap(), &[emptied], &missing());
    let dangling = "Loss s: cannot be read: it is a link to a file that is not there";
    check_place(
        "a dangling link",
        |path| symlink("/gone", path.join("s")).unwrap(),
        &[dangling, gone],
        &missing(),
    );
    let looped = "Loss s: cannot be read: Too many levels of symbolic links (os error 40)";
    check_place(
        "a link to itself",
        |path| symlink("s", path.join("s")).unwrap(),
        &[looped, gone],
        &missing(),
    );
    let device = "Loss s: cannot be read: it is a device, not a file";
    check_place(
        "a device",
        |path| symlink("/dev/zero", path.join("s")).unwrap(),
        &[device, unread],
        &missing(),
    );
    let pipe = "Loss s: cannot be read: it is a named pipe, not a file";
    let mkfifo = |path: &Path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    check_place("a named pipe", |path| mkfifo(&path.join("s")), &[pipe, unread], &missing());
    check_place("a directory", |path| fs::create_dir(path.join("s")).unwrap(), &[unread], &missing());
    let old = |path: &Path| fs::write(path.join("index/s.idx"), old_index()).unwrap();
    let unnumbered = MissingFile { file: "s".to_owned(), stream_id: None, sequence: None, ..MISSING };
    check_place("index 1.0", old, &[gone], &[unnumbered]);
    let empty = |path: &Path| fs::write(path.join("index/s.idx"), index::write(&[])).unwrap();
    check_place("an index of nothing", empty, &[], &[]);
    let two = |path: &Path| {
        let mut entries = entries();
        entries[3].stream = 8;
        fs::write(path.join("index/s.idx"), index::write(&entries)).unwrap();
    };
    let [first] = missing();
    let first = MissingFile { packets: 3, end: 2900, discarded: 2, sequence: Some((0, 2)), ..first };
    let second = MissingFile {
        stream_id: Some(8),
        packets: 1,
        begin: 3000,
        sequence: Some((3, 3)),
        ..missing()[0].clone()
    };
    check_place("two streams", two, &[gone], &[first, second]);
}

#[test]
fn indexes_that_cannot_be_read() {
    let check = |row: &str, make: &dyn Fn(&Path), diagnostics: &[&str]| {
        let make = |path: &Path| {
            fs::remove_file(path.join("index/s.idx")).unwrap();
            make(&path.join("index"));
        };
        check_place(row, make, diagnostics, &[]);
    };
    let mkfifo = |path: &Path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    let pipe = "Note index/t.idx: index not used: cannot be read: it is a named pipe, not a file";
    check("a named pipe", &|index| mkfifo(&index.join("t.idx")), &[pipe]);
    let orphan = "Note index/u.idx: index not used: cannot be read: it is a named pipe, not a file";
    check("a named pipe without a file", &|index| mkfifo(&index.join("u.idx")), &[orphan]);
    let garbage = "Note index/u.idx: index not used: it has no stream file, and it does not begin with the magic number of an \
                   index";
    check("garbage", &|index| fs::write(index.join("u.idx"), [1; 50]).unwrap(), &[garbage]);
    let impossible =
        "Note index/u.idx: index not used: it has no stream file, and its entries are impossible";
    let late = || index::write(&entries()[1..]);
    check(
        "entries that do not begin at 0",
        &|index| fs::write(index.join("u.idx"), late()).unwrap(),
        &[impossible],
    );
    let others: &dyn Fn(&Path) = &|index| {
        fs::write(index.join(".u.idx"), late()).unwrap();
        fs::write(index.join("u.old"), late()).unwrap();
    };
    check("other files", others, &[]);
}

#[test]
fn names_that_are_not_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let trace =
        write(&good_metadata(), &[("s", &stream(0, |_| ())), ("index/s.idx", &index::write(&entries()))]);
    let (name, index) = (OsStr::from_bytes(b"ch\xff"), OsStr::from_bytes(b"index/ch\xff.idx"));
    fs::rename(trace.path().join("s"), trace.path().join(name)).unwrap();
    fs::rename(trace.path().join("index/s.idx"), trace.path().join(index)).unwrap();
    let reading = read(trace.path()).unwrap();
    assert_eq!((reading.events, reading.diagnostics), (events_of(&ALL), Vec::new()));
    let trace = Trace::open(trace.path()).unwrap();
    assert_eq!(trace.streams()[0].file, "ch\u{fffd}");
    assert_eq!(trace.packet_path(&trace.streams()[0].packets[0]), trace.path().join(name));
}
