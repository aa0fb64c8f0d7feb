//! `isochrone live` against relay daemons that are broken or mean harm: what is lost is said, it ends when it is asked to, and what it takes has a limit.

#![cfg(unix)]

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What a relay daemon does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// It gives a trace as it is.
    Right,
    /// One of its packets has another magic number.
    Magic,
    /// It gives no metadata.
    NoMetadata,
    /// It announces metadata in one directory, and packets in another.
    Apart,
    /// It announces the same packet for ever.
    Same,
    /// It says nothing once it has announced a session.
    Silent,
    /// It gives packets for ever.
    Endless,
    /// It gives metadata for ever.
    EndlessMetadata,
}

/// A relay daemon with one session, `s`, of one stream of a host of the shop. Gives the session's address.
fn relay_of(way: Way, host: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("net://{}/host/{host}/s", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // It ends with the connection.
            thread::spawn(move || answer(way, host, stream));
        }
    });
    address
}

fn relay(way: Way) -> String {
    relay_of(way, "client")
}

fn answer(way: Way, host: &str, mut stream: TcpStream) -> std::io::Result<()> {
    let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop").join(host).join("kernel");
    let (metadata, stream_file) = (fs::read(shop.join("metadata"))?, fs::read(shop.join("ch_0"))?);
    let (mut packets, mut rest) = (Vec::new(), &stream_file[..]);
    while !rest.is_empty() {
        let size = u64::from_le_bytes(rest[56..64].try_into().unwrap()) / 8;
        let (packet, behind) = rest.split_at(size as usize);
        packets.push(packet);
        rest = behind;
    }
    let longs = |words: &[u64]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
    let shorts = |words: &[u32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
    let text = |text: &str, size| [text.as_bytes(), &vec![0; size - text.len()]].concat();
    let entry = |id: u64, is_metadata: u32, path: &str, file: &str| {
        [longs(&[id, 1]), shorts(&[is_metadata]), text(path, 4096), text(file, 255)].concat()
    };
    let index = |offset: u64, packet: &[u8], status: u32| {
        let bytes = packet.len() as u64;
        [longs(&[offset, bytes * 8, bytes * 8, 0, 1, 0, 0]), shorts(&[status, 0])].concat()
    };
    let (mut place, mut offset, mut has_metadata) = (0, 0, false);
    loop {
        let mut head = [0; 16];
        stream.read_exact(&mut head)?;
        let mut rest = vec![0; u64::from_be_bytes(head[..8].try_into().unwrap()) as usize];
        stream.read_exact(&mut rest)?;
        let said = match u32::from_be_bytes(head[8..12].try_into().unwrap()) {
            1 => [longs(&[1]), shorts(&[2, 4, 1])].concat(),
            8 => shorts(&[1]),
            2 => {
                [shorts(&[1]), longs(&[1]), shorts(&[100_000, 0, 2]), text(host, 64), text("s", 255)].concat()
            }
            3 => {
                let path = if way == Way::Apart { "other" } else { "k" };
                [shorts(&[1, 2]), entry(1, 1, path, "metadata"), entry(2, 0, "k", "ch_0")].concat()
            }
            _ if way == Way::Silent => continue,
            6 if way == Way::EndlessMetadata => {
                [longs(&[1 << 20]), shorts(&[1]), vec![b' '; 1 << 20]].concat()
            }
            6 if has_metadata || way == Way::NoMetadata => [longs(&[0]), shorts(&[2])].concat(),
            6 => {
                has_metadata = true;
                [longs(&[metadata.len() as u64]), shorts(&[1]), metadata.clone()].concat()
            }
            4 if way == Way::Same => index(0, packets[0], 1),
            4 if way != Way::Endless && place >= packets.len() => index(0, &[], 3),
            4 => index(offset, packets[place % packets.len()], 1),
            5 => {
                let mut packet = packets[place % packets.len()].to_vec();
                if way == Way::Magic && place == 1 {
                    packet[..4].fill(0);
                }
                place += 1;
                offset += packet.len() as u64;
                [shorts(&[1, packet.len() as u32, 0]), packet].concat()
            }
            7 => shorts(&[4, 0]),
            _ => shorts(&[0]),
        };
        stream.write_all(&said)?;
    }
}

fn live(way: Way, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    command.args(["live", "--reconnect", "1s"]).args(options).arg(relay(way));
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

#[test]
fn what_is_lost_is_said() {
    let check = |way: Way, options: &[&str], status: i32, expect: &str| {
        let Output { status: ended, stderr, .. } = live(way, options).output().unwrap();
        let said = String::from_utf8(stderr).unwrap();
        assert!(ended.code() == Some(status) && said.contains(expect), "{way:?}: {ended} {said}");
    };
    check(Way::Right, &[], 0, "");
    check(Way::Magic, &[], 1, "ch_0: packet 1, byte ");
    check(Way::Magic, &["-q"], 1, "its magic number is 0x0");
    check(Way::NoMetadata, &[], 1, "its metadata was not received");
    check(Way::Apart, &[], 1, "its metadata was not received");
    check(Way::Endless, &["--keep-at-most", "20MiB"], 1, "more has come than the 20971520 bytes");
    check(Way::EndlessMetadata, &[], 2, "more metadata than are read");
}

#[test]
fn what_is_lost_is_what_events_say_of_it() {
    let directory = tempfile::tempdir().unwrap();
    let kept = directory.path().join("kept");
    let lines = |output: Output| {
        let said = String::from_utf8(output.stderr).unwrap();
        let mut lines: Vec<String> =
            said.lines().filter(|line| line.starts_with("warning: ")).map(str::to_owned).collect();
        lines.sort();
        (output.status.code(), lines)
    };
    let said = lines(live(Way::Magic, &["--keep", kept.to_str().unwrap()]).output().unwrap());
    let events = Command::new(env!("CARGO_BIN_EXE_isochrone")).args(["events"]).arg(&kept).output();
    assert_eq!(said, lines(events.unwrap()));
}

/// Several hosts are synchronized on the way: when all has come, times and bounds are those of whole traces.
#[test]
fn several_hosts_are_on_one_clock() {
    let directory = tempfile::tempdir().unwrap();
    let kept = directory.path().join("kept");
    let sessions = ["client", "app", "db"].map(|host| relay_of(Way::Right, host));
    let isochrone = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_isochrone")).args(arguments).output().unwrap();
        (output.status.code(), output.stdout, String::from_utf8(output.stderr).unwrap())
    };
    let sessions = sessions.each_ref().map(String::as_str);
    for options in [&["--bounds"][..], &["--format", "json", "--bounds"], &["--no-sync"]] {
        let live = ["live", "--keep", kept.to_str().unwrap()];
        let (status, live, said) = isochrone(&[&live, options, &sessions].concat());
        assert_eq!(status, Some(0), "{said}");
        let is_synchronized = !options.contains(&"--no-sync");
        assert_eq!(said.contains("times of 3 hosts are synchronized"), is_synchronized, "{said}");
        let (_, events, _) = isochrone(&[&["events", "-q"], options, &[kept.to_str().unwrap()]].concat());
        assert!(live == events && !live.is_empty(), "{options:?}");
        fs::remove_dir_all(&kept).unwrap();
    }
    // Hosts that exchange no messages are waited for, and then on their own clocks.
    let alone = [relay_of(Way::Right, "client"), relay_of(Way::Right, "db")];
    let (status, out, said) = isochrone(&["live", &alone[0], &alone[1]]);
    assert!(status == Some(1) && !out.is_empty(), "{said}");
    assert!(said.contains("no usable chain of messages ties h1 and h3 together"), "{said}");
}

#[test]
fn it_ends_when_it_is_asked_to() {
    for way in [Way::Same, Way::Silent, Way::Endless] {
        let mut child = live(way, &[]).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_secs(2));
        assert!(child.try_wait().unwrap().is_none(), "{way:?}");
        let asked = Instant::now();
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let ended = child.wait().unwrap();
        assert!(ended.code().is_some(), "{way:?}: {ended}");
        assert!(asked.elapsed() < Duration::from_secs(5), "{way:?}: {:?}", asked.elapsed());
    }
}
