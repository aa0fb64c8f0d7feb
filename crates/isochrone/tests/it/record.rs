//! `isochrone record` over a real `ssh` to a daemon that the test starts, with LTTng's own daemon, tracing
//! programs alone: what is collected is what was recorded, whatever goes wrong is said, and nothing is left
//! on the host.
//!
//! It needs Debian's openssh-server, openssh-client, lttng-tools and liblttng-ust-dev. Ignored where these
//! are not installed; with `ISOCHRONE_REQUIRE_LTTNG` set, as in `.ci/run`, they must be.

use std::fs::{self, File};
use std::io::Read as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use isochrone_analysis::RECIPE;

use crate::live::{ALONE, PROGRAM, Running, wait_for};

/// A machine that is reached over ssh: this one. Its temporary files are in a directory of its own.
struct Machine {
    directory: tempfile::TempDir,
    daemons: Vec<Running>,
    _alone: MutexGuard<'static, ()>,
}

impl Machine {
    /// Starts its ssh daemon. `variables`: of the environment there.
    fn start(variables: &str) -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        for name in ["there", "home"] {
            fs::create_dir(path(name)).unwrap();
        }
        for key in ["host_key", "key", "other_key"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(path(key))
                .status();
            assert!(made.unwrap().success());
        }
        fs::copy(path("key.pub"), path("authorized_keys")).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let shown = |name: &str| path(name).display().to_string();
        let public = fs::read_to_string(path("host_key.pub")).unwrap();
        fs::write(path("known_hosts"), format!("[127.0.0.1]:{port} {public}")).unwrap();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\n\
             PidFile none\nUsePAM no\nStrictModes no\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n\
             SetEnv TMPDIR={} LTTNG_HOME={} {variables}\n",
            shown("host_key"),
            shown("authorized_keys"),
            shown("there"),
            shown("home"),
        );
        fs::write(path("sshd_config"), config).unwrap();
        let hosts = format!(
            "Host web1 app1\n Port {port}\n IdentityFile {}\n\
             Host refused\n Port {port}\n IdentityFile {}\nHost gone\n Port 1\n\
             Host *\n HostName 127.0.0.1\n IdentitiesOnly yes\n IdentityAgent none\n\
             UserKnownHostsFile {}\n GlobalKnownHostsFile none\n",
            shown("key"),
            shown("other_key"),
            shown("known_hosts"),
        );
        fs::write(path("ssh_config"), hosts).unwrap();
        // Where it separates its privileges, as root.
        let _ = fs::create_dir_all("/run/sshd");
        let log = File::create(path("sshd.log")).unwrap();
        let daemon = Command::new("/usr/sbin/sshd")
            .args(["-D", "-e", "-f"])
            .arg(path("sshd_config"))
            .stderr(log)
            .spawn();
        let machine = Self { directory, daemons: vec![Running(daemon.unwrap())], _alone: alone };
        wait_for("the ssh daemon", || {
            let ssh = machine.ssh();
            let ssh: Vec<&str> = ssh.split(' ').collect();
            let reached = Command::new(ssh[0])
                .args(&ssh[1..])
                .args(["-o", "BatchMode=yes", "web1", "true"])
                .stderr(Stdio::null())
                .status();
            reached.unwrap().success()
        });
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn ssh(&self) -> String {
        format!("ssh -F {}", self.path("ssh_config").display())
    }

    /// LTTng's daemon.
    fn with_daemon(self) -> Self {
        let machine = self.running("lttng-sessiond".as_ref(), "--no-kernel");
        wait_for("the session daemon", || machine.sessions().is_some());
        machine
    }

    /// A program that records lines, for a minute at least.
    fn with_program(self) -> Self {
        let (source, program) = (self.path("program.c"), self.path("program"));
        fs::write(&source, PROGRAM).unwrap();
        let mut compiler = Command::new("cc");
        compiler.arg("-o").arg(&program).arg(&source).args(["-llttng-ust", "-ldl", "-lpthread"]);
        assert!(compiler.status().unwrap().success());
        self.running(&program, "60000")
    }

    /// Starts a program that ends with the test.
    fn running(mut self, program: &Path, argument: &str) -> Self {
        let log = File::create(self.path("program.log")).unwrap();
        let mut command = Command::new(program);
        command.arg(argument).env("LTTNG_HOME", self.path("home")).stderr(log);
        self.daemons.insert(0, Running(command.spawn().unwrap()));
        self
    }

    /// What `lttng list` says; `None`: no daemon runs.
    fn sessions(&self) -> Option<String> {
        let listed = Command::new("lttng")
            .args(["--no-sessiond", "list"])
            .env("LTTNG_HOME", self.path("home"))
            .output()
            .unwrap();
        listed.status.success().then(|| String::from_utf8_lossy(&listed.stdout).into_owned())
    }

    /// `isochrone record` of some hosts.
    fn record(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
        command.args(["record", "--ssh", &self.ssh()]).args(arguments);
        command.env("TMPDIR", self.path("there")).env("LTTNG_HOME", self.path("home"));
        command
    }

    fn output(&self) -> String {
        self.path("run").display().to_string()
    }

    /// What is on the host of a recording: files, sessions, processes.
    fn left(&self) -> String {
        let files = fs::read_dir(self.path("there"))
            .unwrap()
            .map(|entry| entry.unwrap().path().display().to_string());
        let sessions = self.sessions().unwrap_or_default();
        let sessions = sessions.lines().filter(|line| line.contains("isochrone-")).map(str::to_owned);
        let there = self.path("there").display().to_string();
        let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| {
            let line = fs::read(entry.unwrap().path().join("cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            line.contains(&there).then_some(line)
        });
        files.chain(sessions).chain(processes).collect::<Vec<_>>().join("\n")
    }

    /// Waits until nothing of a recording is left on the host.
    fn is_clean(&self) {
        for _ in 0..600 {
            if self.left().is_empty() {
                return;
            }
            thread::sleep(Duration::from_millis(100));
        }
        panic!("left on the host: {}", self.left());
    }
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// How many events of a class `isochrone events` shows of a directory.
fn events(directory: &Path) -> usize {
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .args(["events", "-q", "--no-sync"])
        .arg(directory)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    String::from_utf8_lossy(&output.stdout).matches("lttng_ust_tracef:event").count()
}

#[test]
#[cfg_attr(not(lttng), ignore = "needs openssh-server and LTTng")]
fn hosts_are_recorded_over_ssh_and_without() {
    let machine = Machine::start("").with_daemon().with_program();
    let run = machine.output();
    let output =
        machine.record(&["web1", "app1", ".", "--user-space", "--for", "2s", "-o", &run]).output().unwrap();
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    for words in
        [" web1  ", ": ready\n", "recorded to ", ", 3 hosts\n", "next: isochrone ", "probes between 3 pairs"]
    {
        assert!(text.contains(words), "`{words}` is not in: {text}");
    }
    for host in ["web1", "app1", "localhost"] {
        // Two threads record 1,000 events a second each, where the machine has time for it.
        let count = events(&Path::new(&run).join(host));
        assert!(count > 200, "{host}: {count} events");
    }
    let names: Vec<_> = fs::read_dir(&run).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    machine.is_clean();
    // Nothing is written over.
    let again = machine.record(&["web1", "--user-space", "--for", "1s", "-o", &run]).output().unwrap();
    assert!(again.status.code() == Some(2) && said(&again).contains("is not empty"), "{}", said(&again));
}

/// Starts a recording, and waits until it says so.
fn recording(mut command: Command, words: &str) -> (Running, String) {
    let mut recording = Running(command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap());
    let stderr = recording.0.stderr.as_mut().unwrap();
    let mut text = String::new();
    while !text.contains(words) {
        let mut part = [0; 1 << 10];
        let read = stderr.read(&mut part).unwrap();
        assert!(read > 0, "{text}");
        text.push_str(&String::from_utf8_lossy(&part[..read]));
    }
    (recording, text)
}

fn interrupt(recording: &Running) {
    let interrupted = Command::new("kill").args(["-INT", &recording.0.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
}

/// Ctrl-C stops and collects; a daemon that was started for the recording ends with it.
#[test]
#[cfg_attr(not(lttng), ignore = "needs openssh-server and LTTng")]
fn interrupted_is_collected() {
    let machine = Machine::start("");
    let run = machine.output();
    let command = machine.record(&["web1", "--user-space", "-o", &run]);
    let (mut recording, text) = recording(command, "Ctrl-C stops and collects");
    assert!(machine.sessions().unwrap_or_default().contains("isochrone-"));
    interrupt(&recording);
    // No program has recorded anything: there is nothing to read, which is said.
    assert!(matches!(recording.status(), Some(0 | 1)), "{text}");
    assert!(Path::new(&run).join("web1").is_dir());
    machine.is_clean();
    assert_eq!(machine.sessions(), None, "the daemon that the recording started still runs");
}

/// The traces below a directory.
fn traces(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut below = vec![directory.to_owned()];
    while let Some(path) = below.pop() {
        if path.join("metadata").is_file() {
            found.push(path);
            continue;
        }
        let inside = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        below.extend(inside.filter(|path| path.is_dir()));
    }
    found.sort();
    found
}

/// A rotated session: each host has its chunks, which are read as one trace, without a hole between them.
#[test]
#[cfg_attr(not(lttng), ignore = "needs openssh-server and LTTng")]
fn chunks_are_collected_in_order() {
    let machine = Machine::start("").with_daemon().with_program();
    let run = machine.output();
    let arguments = ["web1", "app1", "--user-space", "--rotate", "1s", "--for", "5s", "-o", &run];
    let output = machine.record(&arguments).output().unwrap();
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    for host in ["web1", "app1"] {
        let directory = Path::new(&run).join(host);
        let chunks = traces(&directory);
        assert!(chunks.len() >= 3, "{host}: {chunks:?}");
        assert!(chunks.iter().all(|chunk| chunk.starts_with(directory.join("archives"))), "{chunks:?}");
        let of_chunks: usize = chunks.iter().map(|chunk| events(chunk)).sum();
        assert!(of_chunks > 200, "{host}: {of_chunks} events");
        assert_eq!(events(&directory), of_chunks, "{host}");
    }
    let piece = machine.path("piece").display().to_string();
    for command in [&["watch", "cputop", "--once"][..], &["map", "cputop", "-o", &piece]] {
        let mut program = Command::new(env!("CARGO_BIN_EXE_isochrone"));
        let output = program.args(command).arg(Path::new(&run).join("web1")).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{command:?}: {}", said(&output));
    }
    machine.is_clean();
}

/// A flight recorder: nothing is on the disk until it is interrupted, then the last of what happened is.
#[test]
#[cfg_attr(not(lttng), ignore = "needs openssh-server and LTTng")]
fn a_snapshot_has_the_last_moments() {
    let machine = Machine::start("").with_daemon().with_program();
    let run = machine.output();
    let arguments = ["web1", "app1", "--user-space", "--snapshot", "--buffer", "64K", "-o", &run];
    let command = machine.record(&arguments);
    let (mut recording, mut text) = recording(command, "Ctrl-C takes the snapshot and collects it");
    // Long enough for the buffers to be overwritten.
    thread::sleep(Duration::from_secs(3));
    interrupt(&recording);
    let status = recording.status();
    recording.0.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(status, Some(0), "{text}");
    for host in ["web1", "app1"] {
        let directory = Path::new(&run).join(host);
        let snapshots = traces(&directory);
        assert_eq!(snapshots.len(), 1, "{snapshots:?}");
        let count = events(&directory);
        // Of some 6,000 events, each of 60 bytes or so.
        assert!((50..4_000).contains(&count), "{host}: {count} events");
    }
    machine.is_clean();
}

/// What the kernel's own tracer cannot do is said before anything starts.
#[test]
fn ftrace_takes_no_snapshots() {
    for how in [&["--snapshot"][..], &["--rotate", "30s"]] {
        for what in [&["--print"][..], &["web1", "-o", "run"]] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
            let arguments = [&["record", "--tracer", "ftrace"], how, what].concat();
            let output = command.args(&arguments).output().unwrap();
            let text = said(&output);
            assert!(output.status.code() == Some(2), "{arguments:?}: {text}");
            assert!(text.contains("records from start to end: --rotate and"), "{text}");
        }
    }
}

/// Whoever records is killed, or the connection is: the host notices, and cleans up.
#[test]
#[cfg_attr(not(lttng), ignore = "needs openssh-server and LTTng")]
fn a_lost_connection_leaves_nothing() {
    let machine = Machine::start("").with_daemon().with_program();
    for what in ["isochrone", "script"] {
        let run = machine.path(what).display().to_string();
        let mut recording = machine.record(&["web1", "--user-space", "-o", &run]);
        let mut recording = recording.stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        wait_for("the session", || machine.sessions().unwrap_or_default().contains("isochrone-"));
        if what == "isochrone" {
            recording.kill().unwrap();
        } else {
            // The script itself, and nothing that it could do about it.
            let there = machine.path("there").display().to_string();
            let script = format!("pkill -KILL -f '^sh {there}/isochrone[.][A-Za-z0-9]*/script'");
            wait_for("the start", || machine.left().contains("/script"));
            thread::sleep(Duration::from_secs(1));
            assert!(Command::new("sh").args(["-c", &script]).status().unwrap().success());
        }
        let status = recording.wait().unwrap();
        assert!(!status.success(), "{what}");
        machine.is_clean();
    }
}

#[test]
#[cfg_attr(not(lttng), ignore = "needs openssh-server and LTTng")]
fn what_goes_wrong_is_said() {
    let machine = Machine::start("");
    let run = machine.output();
    for (hosts, words) in [
        (&["gone"][..], &["Connection refused", "gone is not ready"][..]),
        (&["web1", "gone"], &["--skip gone records the others"]),
        (&["refused"], &["Permission denied", "ssh-copy-id refused"]),
        (&["--", "-oProxyCommand=true"], &["`-oProxyCommand=true` is not the name of a host"]),
        (&["web1", "web1"], &["web1 is given twice"]),
        (&["web1", "--skip", "db1"], &["--skip db1: there is no such host"]),
    ] {
        let arguments = [&["--user-space", "--for", "1s", "-o", &run], hosts].concat();
        let output = machine.record(&arguments).output().unwrap();
        let text = said(&output);
        assert_eq!(output.status.code(), Some(2), "{hosts:?}: {text}");
        for word in words {
            assert!(text.contains(word), "{hosts:?}: `{word}` is not in: {text}");
        }
        assert!(!Path::new(&run).exists(), "{hosts:?}");
        machine.is_clean();
    }
    // What is missing is also the whole answer.
    let output = machine.record(&["--check", "web1", "gone"]).output().unwrap();
    assert!(output.status.code() == Some(2) && said(&output).contains("kernel"), "{}", said(&output));
}

/// A directory with all programs but some.
fn programs_without(left_out: &[&str]) -> tempfile::TempDir {
    let programs = tempfile::tempdir().unwrap();
    for entry in fs::read_dir("/usr/bin").unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if !left_out.contains(&name) {
            std::os::unix::fs::symlink(&path, programs.path().join(name)).unwrap();
        }
    }
    programs
}

#[test]
#[cfg_attr(not(lttng), ignore = "needs openssh-server and LTTng")]
fn a_host_without_a_tracer_is_not_ready() {
    let programs = programs_without(&["lttng", "lttng-sessiond", "trace-cmd"]);
    let machine = Machine::start(&format!("PATH={}", programs.path().display()));
    let run = machine.output();
    let output = machine.record(&["web1", "--user-space", "--for", "1s", "-o", &run]).output().unwrap();
    let text = said(&output);
    assert!(output.status.code() == Some(2) && text.contains("LTTng is not installed\n"), "{text}");
    assert!(text.contains("→ ") && text.contains("lttng-tools"), "{text}");
    // Where the kernel's own tracer is there, it lacks what reads its buffers: the shell's `dd` waits.
    let waits = "#!/bin/sh\ncase \"$*\" in *nonblock*) exit 1 ;; esac\nexec /usr/bin/dd \"$@\"\n";
    let dd = programs.path().join("dd");
    fs::remove_file(&dd).unwrap();
    fs::write(&dd, waits).unwrap();
    fs::set_permissions(&dd, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let ftrace = machine.record(&["web1", "--tracer", "ftrace", "--for", "1s", "-o", &run]).output().unwrap();
    assert_eq!(ftrace.status.code(), Some(2), "{}", said(&ftrace));
    machine.is_clean();
}

/// Without trace-cmd, the pages of an instance become a file as trace-cmd writes it: it prints the same
/// events, and the threads that were there are listed. Nothing is left of the instance.
#[test]
#[cfg_attr(not(all(tracefs, trace_cmd)), ignore = "needs root, the kernel's own tracer, and trace-cmd")]
fn the_kernels_own_tracer_needs_no_program() {
    let programs = programs_without(&["trace-cmd", "lttng", "lttng-sessiond"]);
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path().join("run");
    let isochrone = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
        command.args(arguments).env("XDG_CACHE_HOME", directory.path().join("cache"));
        command.env("PATH", programs.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let run = run.to_str().unwrap();
    isochrone(&["record", ".", "--tracer", "ftrace", "--cpu", "--for", "2s", "-o", run]);
    let file = format!("{run}/localhost/trace.dat");
    let printed = Command::new("trace-cmd").args(["report", "-i", &file]).output().unwrap();
    // The first line has the number of CPUs.
    let printed = String::from_utf8_lossy(&printed.stdout).lines().count() - 1;
    let counts = isochrone(&["events", "-q", "--count", "--format", "json", run]);
    let count = |line: &str| -> u64 {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        // What the list of threads becomes is no event of the file.
        let is_listed = line["event"].as_str().unwrap().starts_with("lttng_statedump_");
        if is_listed { 0 } else { line["count"].as_u64().unwrap() }
    };
    let counted: u64 = counts.lines().map(count).sum();
    assert!(printed > 100 && counted == printed as u64, "{printed}: {counts}");
    // The threads of this process are among those that are listed, with their process.
    let pid = std::process::id();
    let list = fs::read_to_string(format!("{file}.threads")).unwrap();
    assert!(list.lines().any(|line| line.starts_with(&format!("{pid} {pid} "))), "{list}");
    let threads = isochrone(&["cputop", "-q", "--format", "csv", run]);
    assert!(threads.contains(&format!(",{pid},")), "{threads}");
    assert_eq!(fs::read_dir("/sys/kernel/tracing/instances").unwrap().count(), 0);
}

/// A disk that is too small is found before, and one that fills up ends the recording.
#[test]
#[cfg_attr(not(lttng), ignore = "needs openssh-server and LTTng")]
fn full_disks_are_noticed() {
    // Its `df` says what the test wants.
    let programs = programs_without(&["df"]);
    let (df, free) = (programs.path().join("df"), programs.path().join("free"));
    fs::write(&df, format!("#!/bin/sh\necho; echo disk 1 1 $(cat {})\n", free.display())).unwrap();
    fs::set_permissions(&df, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let machine = Machine::start(&format!("PATH={}", programs.path().display())).with_daemon().with_program();
    let run = machine.output();
    fs::write(&free, "1024").unwrap();
    let small = machine.record(&["web1", "--user-space", "--for", "60s", "-o", &run]).output().unwrap();
    let text = said(&small);
    assert!(small.status.code() == Some(2) && text.contains("only 1 MiB are free in "), "{text}");
    assert!(!Path::new(&run).exists());
    fs::write(&free, "9000000").unwrap();
    let mut filled = machine.record(&["web1", "--user-space", "--for", "60s", "-o", &run]);
    let filled = filled.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("the session", || machine.sessions().unwrap_or_default().contains("[active]"));
    thread::sleep(Duration::from_secs(1));
    fs::write(&free, "1024").unwrap();
    let filled = filled.wait_with_output().unwrap();
    let text = said(&filled);
    assert!(filled.status.code() == Some(1), "{text}");
    assert_eq!(text.matches("is nearly full: the recording is stopped").count(), 1, "{text}");
    assert!(events(&Path::new(&run).join("web1")) > 0, "{text}");
    machine.is_clean();
}

/// What `isochrone record --print` prints.
fn print(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .args(["record", "--print"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// The script that is printed is one, and enables what the tutorial does.
#[test]
fn the_printed_script_is_the_recipe() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("record.sh");
    let choices: [&[&str]; 8] = [
        &[],
        &["--request"],
        &["--cpu"],
        &["--disk"],
        &["--user-space", "--for", "2s"],
        &["--tracer", "ftrace"],
        &["--snapshot"],
        &["--rotate", "30s"],
    ];
    for arguments in choices {
        fs::write(&file, print(arguments)).unwrap();
        assert!(Command::new("sh").arg("-n").arg(&file).status().unwrap().success(), "{arguments:?}");
    }
    let all = print(&[]);
    for line in RECIPE {
        let events = line
            .strip_prefix("lttng enable-event ")
            .or_else(|| line.strip_prefix("lttng add-context "))
            .unwrap();
        assert!(all.contains(&format!(" --channel=kernel {events}\n")), "{line}");
    }
    let head = |script: String| script.split_once("\n# Runs on a host").unwrap().0.to_owned();
    let without_programs = |script: &str| {
        let (before, rest) = script.split_once("read_btf=").unwrap();
        let (_, after) = rest.split_once("\nkernel_events").unwrap();
        format!("{before}…\nkernel_events{after}")
    };
    insta::assert_snapshot!("printed_lttng", without_programs(&head(all)));
    insta::assert_snapshot!(
        "printed_ftrace",
        print(&["--tracer", "ftrace", "--cpu", "--for", "30s"]).lines().last().unwrap()
    );
}

/// Run by hand, it writes what `isochrone` reads.
#[test]
#[cfg_attr(not(lttng), ignore = "needs openssh-server and LTTng")]
fn the_printed_script_records() {
    let machine = Machine::start("").with_daemon().with_program();
    for how in [&[][..], &["--snapshot"], &["--rotate", "1s"]] {
        let script = print(&[&["--user-space", "--for", "3s"], how].concat());
        fs::write(machine.path("record.sh"), script).unwrap();
        let packed = machine.path("packed.tar.zst");
        let recorded = Command::new("sh")
            .arg(machine.path("record.sh"))
            .env("TMPDIR", machine.path("there"))
            .env("LTTNG_HOME", machine.path("home"))
            .stdout(File::create(&packed).unwrap())
            .output()
            .unwrap();
        assert!(recorded.status.success(), "{}", said(&recorded));
        assert!(events(&packed) > 100, "{how:?}");
        machine.is_clean();
    }
}

#[test]
#[cfg_attr(not(lttng), ignore = "needs openssh-server and LTTng")]
fn hosts_send_each_other_packets() {
    let machine = Machine::start("");
    let probe = |hosts: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
        command.args(["probe", "--ssh", &machine.ssh(), "--trips", "20"]).args(hosts).output().unwrap()
    };
    let output = probe(&["web1", "app1"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.starts_with("web1 – app1: 20 round trips, least "), "{text}");
    assert_eq!(probe(&["web1", "gone"]).status.code(), Some(2));
    machine.is_clean();
}
