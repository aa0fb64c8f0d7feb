//! Names that steer a terminal or look like lines of their own: none of it reaches a terminal.

use std::fs;
use std::path::Path;

use assert_cmd::Command;

/// As the metadata spell it: sets a title, and goes on in another line.
const IN_TSDL: &str = r"\033]0;PWN\007\nnote: fake line";
/// As it is shown.
const SHOWN: &str = r"\u{1b}]0;PWN\u{7}\nnote: fake line";

/// Writes a copy of one of the example's traces whose host has such a name behind its own, and so has one kind of its events.
fn hostile_copy(name: &str, host: &str, to: &Path) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop").join(name).join("kernel");
    fs::create_dir_all(to).unwrap();
    fs::copy(from.join("ch_0"), to.join("ch_0")).unwrap();
    let packets = fs::read(from.join("metadata")).unwrap();
    let mut text = Vec::new();
    let mut rest = packets.as_slice();
    while !rest.is_empty() {
        let size = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap()) as usize / 8;
        text.extend_from_slice(&rest[37..size(24)]);
        rest = &rest[size(28)..];
    }
    let text = String::from_utf8(text).unwrap();
    let own = format!("hostname = \"{host}\"");
    assert!(text.contains(&own) && text.contains("name = \"sched_switch\""));
    let text = text.replace(&own, &format!("hostname = \"{host}{IN_TSDL}\""));
    let text = text.replace("name = \"sched_switch\"", &format!("name = \"sched_switch{IN_TSDL}\""));
    fs::write(to.join("metadata"), text).unwrap();
    fs::write(to.join("\u{1b}]0;FILE\u{7}\nwarning: x"), [b'?'; 100]).unwrap();
}

/// Runs a command. What it says has no control characters but line feeds, and no line that it does not mean.
fn check(directory: &Path, arguments: &[&str], status: i32, expect: &[&str]) -> String {
    let mut command = Command::cargo_bin("isochrone").unwrap();
    let output = command.current_dir(directory).args(arguments).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {err}");
    for (said, text) in [("stdout", &out), ("stderr", &err)] {
        let control = text.chars().find(|&c| c.is_control() && c != '\n');
        assert_eq!(control, None, "{arguments:?}, {said}: {text}");
        let forged =
            text.lines().find(|line| line.starts_with("note: fake") || line.starts_with("warning: x"));
        assert_eq!(forged, None, "{arguments:?}, {said}: {text}");
    }
    for text in expect {
        assert!(out.contains(text) || err.contains(text), "{arguments:?} does not say `{text}`: {out}{err}");
    }
    out
}

#[test]
fn no_command_passes_control_characters_on() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    hostile_copy("client", "h1", &at.join("a"));
    hostile_copy("app", "h2", &at.join("b"));
    let host = format!("h1{SHOWN}");
    let file = r"\u{1b}]0;FILE\u{7}\nwarning: x";
    let event = format!(" sched_switch{SHOWN}: ");
    check(at, &["events", "a", "b"], 1, &[&host, &event, file]);
    check(at, &["sync", "a", "b", "-o", "s.json"], 1, &[&host, &format!("{host} – h2{SHOWN}"), file]);
    check(at, &["info", "a"], 1, &[&host, &format!("sched_switch{SHOWN} "), file]);
    check(at, &["analyze", "cputop,schedlog", "a", "b"], 1, &[&host, file]);
    check(at, &["events", "--host", "h9", "a"], 2, &["no host is called `h9`; there are ", &host]);
    let unknown = ["convert", "--sync", "s.json", "--from", "h\u{9b}9", "5"];
    check(at, &unknown, 2, &[r"no host is called `h\u{9b}9`; there are ", &host]);
    let name = "h1\u{1b}]0;PWN\u{7}\nnote: fake line";
    check(
        at,
        &["convert", "--sync", "s.json", "--from", name, "--raw", "5"],
        0,
        &[&format!("{host} 5 ns = ")],
    );
    // Other programs get what is there.
    let json = check(at, &["events", "--format", "json", "a"], 1, &[]);
    assert!(json.contains(r"h1\u001b]0;PWN\u0007\nnote: fake line"));
}

#[test]
fn errors_keep_their_lines_apart() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path().join("a\nnote: fake line");
    fs::create_dir(&at).unwrap();
    fs::write(at.join("metadata"), "/* CTF 1.8 */ trace { major = \"\n\u{1b}[31m\"; };").unwrap();
    check(directory.path(), &["info", "."], 2, &["a\\nnote: fake line"]);
    check(directory.path(), &["info", "a\nnote: fake line"], 2, &[]);
    check(directory.path(), &["dump", "a\nnote: fake line"], 2, &[]);
}
