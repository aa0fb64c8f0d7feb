//! The script that runs on a host: choices, lists of events, and `host.sh`, which is the same for all.

use std::fmt::Write as _;
use std::time::Duration;

use crate::recipe::{Purpose, Recipe, USER_CONTEXTS, USER_EVENTS};

/// What runs on every host.
const HOST: &str = include_str!("host.sh");
/// The programs that it runs, by their names there.
const PROGRAMS: [(&str, &str); 5] = [
    ("read_btf", include_str!("read_btf.py")),
    ("respond_in_python", include_str!("respond.py")),
    ("respond_in_perl", include_str!("respond.pl")),
    ("probe_in_python", include_str!("probe.py")),
    ("probe_in_perl", include_str!("probe.pl")),
];

/// The smallest buffer for one CPU, bytes.
pub const MIN_BUFFER: u64 = 64 << 10;
/// The largest one.
pub const MAX_BUFFER: u64 = 1 << 30;

/// Which tracer records a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tracer {
    /// LTTng: its kernel modules, and programs with its tracepoints.
    Lttng,
    /// The kernel's own tracer, by `trace-cmd`.
    Ftrace,
}

impl Tracer {
    /// As scripts know it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lttng => "lttng",
            Self::Ftrace => "ftrace",
        }
    }
}

/// What a host keeps of what it records, until it is collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kept {
    /// All, as one trace.
    #[default]
    All,
    /// All, in chunks of so much time.
    InChunks(Duration),
    /// The end of it, in its buffers alone: a flight recorder.
    Last,
}

/// What the script of a host is made of.
#[derive(Debug, Clone)]
pub struct Script<'s> {
    /// The name of the session, unlike any other on the host.
    pub session: &'s str,
    /// What LTTng records.
    pub recipe: &'s Recipe,
    /// What the kernel's own tracer records.
    pub purpose: Purpose,
    /// The buffer of each CPU, bytes: a power of two from [`MIN_BUFFER`] to [`MAX_BUFFER`].
    pub buffer: u64,
    /// What is kept: the kernel's own tracer keeps all.
    pub kept: Kept,
}

impl Script<'_> {
    /// The script up to what it does.
    fn head(&self) -> String {
        let Self { session, recipe, purpose, buffer, kept } = self;
        let yes = |is: bool| if is { "yes" } else { "no" };
        let mut text = String::from("set -eu\n\n");
        let mut set = |name: &str, value: &str| {
            // Writing to a text does not fail.
            let _ = writeln!(text, "{name}={}", quote(value));
        };
        set("session", session);
        set("wants_kernel", yes(recipe.has_kernel()));
        set("wants_user", yes(recipe.has_user_space));
        set("part", &(buffer / 4).to_string());
        set("buffer_kb", &(buffer >> 10).to_string());
        let chunk = match kept {
            Kept::InChunks(time) => time.as_micros().to_string(),
            Kept::All | Kept::Last => String::new(),
        };
        set("chunk_us", &chunk);
        set("wants_snapshot", yes(*kept == Kept::Last));
        set("ftrace_systems", &purpose.systems().join(" "));
        for (name, program) in PROGRAMS {
            set(name, program);
        }
        let mut function = |name: &str, lines: Vec<String>| {
            let lines = if lines.is_empty() { vec![":".to_owned()] } else { lines };
            let _ = writeln!(text, "\n{name}() {{");
            for line in lines {
                let _ = writeln!(text, "    {line}");
            }
            text.push_str("}\n");
        };
        let enable = |channel: &str, event: &str| {
            format!("attempt client enable-event --session=\"$session\" --channel={channel} {event}")
        };
        let context = |channel: &str, contexts: &str| {
            format!("attempt client add-context --session=\"$session\" --channel={channel} {contexts}")
        };
        let kernel = recipe.kernel_events.iter().map(|event| enable("kernel", event));
        let contexts = recipe.kernel_contexts.iter().map(|it| context("kernel", it));
        function("kernel_events", kernel.chain(contexts).collect());
        function("user_events", vec![enable("user", USER_EVENTS), context("user", USER_CONTEXTS)]);
        text.push('\n');
        text
    }

    /// The script that is spoken to by lines.
    pub fn for_talk(&self) -> String {
        format!("{}{HOST}case ${{2:-}} in\nclean) ;;\n*) talk ;;\nesac\n", self.head())
    }

    /// The script that is run by hand on each host: it records with a tracer for so many seconds, or until it
    /// is interrupted, and writes the recording to its stdout, packed.
    pub fn alone(&self, tracer: Tracer, seconds: Option<u64>) -> String {
        let seconds = seconds.map_or("-1".to_owned(), |seconds| seconds.to_string());
        let then = match tracer {
            Tracer::Lttng => "then `isochrone sync` reads the files of all hosts",
            Tracer::Ftrace => "unpack each into a directory of its own, and name these to `isochrone sync`",
        };
        format!(
            "#!/bin/sh\n# Records this host. As root, on each host at the same time:\n\
             #     sh record.sh > \"$(uname -n).tar.zst\"\n\
             # It ends by Ctrl-C or by itself; {then}.\n\
             {}{HOST}alone {} {seconds}\n",
            self.head(),
            tracer.name(),
        )
    }
}

/// The command for a host's shell, whichever that is: makes a temporary directory (below `on_host`, where
/// that is given), reads a script of so many bytes from its stdin, runs it, as root where that is wanted and
/// possible without a password, and removes the directory. Where the script was killed, it is run again, to
/// remove what it made.
pub fn bootstrap(script: &str, on_host: Option<&str>, wants_root: bool) -> String {
    let below = match on_host {
        Some(directory) => quote(directory),
        None => "\"${TMPDIR:-/var/tmp}\"".to_owned(),
    };
    let root = match wants_root {
        true => "if test \"$(id -u)\" != 0 && sudo -n true 2>/dev/null; then root=\"sudo -n\"; fi; ",
        false => "",
    };
    let length = script.len();
    let text = format!(
        "umask 077; d=$(mktemp -d {below}/isochrone.XXXXXX) || exit 1; \
         trap \"rm -rf \\\"\\$d\\\"\" EXIT; trap \"exit 1\" HUP INT TERM; trap \"\" PIPE; \
         dd bs=1 count={length} of=\"$d/script\" 2>/dev/null; \
         test \"$(wc -c <\"$d/script\")\" -eq {length} || exit 1; root=; {root}\
         $root sh \"$d/script\" \"$d\" \"${{SSH_CONNECTION:-}}\"; s=$?; \
         if test -e \"$d/state\"; then $root sh \"$d/script\" \"$d\" clean; fi; exit $s"
    );
    format!("sh -c {}", quote(&text))
}

/// One argument for a shell, whatever is in it.
pub fn quote(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-=+:,@%".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn arguments_stay_what_they_are() {
        for text in
            ["", "a", "a b", "it's", "$(touch x)", "`x`", "\\", "\"", "a\nb", "'", "''", "*", "~", "!x"]
        {
            let output =
                Command::new("sh").args(["-c", &format!("printf %s {}", quote(text))]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), text, "{}", quote(text));
        }
    }

    /// The script arrives whole, with what stands behind it on stdin, and leaves nothing.
    #[test]
    fn scripts_arrive() {
        let directory = tempfile::tempdir().unwrap();
        let below = directory.path().join("it's here");
        std::fs::create_dir(&below).unwrap();
        let script = "read -r line; printf '%s|%s' \"$line\" \"${1##*/}\"\n";
        let run = |sent: &str| {
            let command = bootstrap(script, below.to_str(), false);
            let mut child = Command::new("sh")
                .args(["-c", &command])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            child.stdin.take().unwrap().write_all(sent.as_bytes()).unwrap();
            let output = child.wait_with_output().unwrap();
            assert_eq!(std::fs::read_dir(&below).unwrap().count(), 0);
            (String::from_utf8(output.stdout).unwrap(), output.status.success())
        };
        let (said, is_good) = run(&format!("{script}a line\n"));
        assert!(is_good && said.starts_with("a line|isochrone."), "{said}");
        assert_eq!(run(&script[..20]), (String::new(), false));
    }
}
