//! A host that is spoken to: a script at the other end of one connection, by lines, each answer within a
//! time.
//!
//! The connection is `ssh`, or a shell of this machine. Dropping it ends the recording: the script at the
//! other end sees the end of its stdin, stops, and removes what it made.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::script::bootstrap;
use crate::target::Target;

/// Options that `ssh` gets before those of the user: it never asks, and notices when the other end is gone.
const SSH_OPTIONS: [&str; 9] = [
    "-T",
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=10",
    "-o",
    "ServerAliveInterval=10",
    "-o",
    "ServerAliveCountMax=3",
];
/// A line that is longer is none of the script's.
const MAX_LINE: u64 = 64 << 10;
/// Of what `ssh` says, the last part is kept.
const MAX_SAID: usize = 4 << 10;
/// How long a host may take to remove what it made, when its connection is dropped.
const END_TIME: Duration = Duration::from_secs(20);

/// Why a host cannot be spoken to, or did not do what it was told.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// The program of the connection does not start.
    #[error("{program} cannot be run: {source}")]
    Program {
        /// Its name.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// The connection ended.
    #[error("{0}")]
    Ended(String),
    /// Something failed on the host.
    #[error("{0}")]
    Failed(String),
    /// No answer came in time.
    #[error("no answer within {} s to `{asked}`", after.as_secs())]
    Silent {
        /// What was asked.
        asked: String,
        /// The time.
        after: Duration,
    },
    /// The recording cannot be written here.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
}

/// How to reach hosts.
#[derive(Debug, Clone)]
pub struct Way {
    /// The program and its first arguments: `ssh`, or another one that takes the same.
    pub ssh: Vec<String>,
    /// Where hosts keep the recording until it is collected; `None`: their `TMPDIR`, or `/var/tmp`.
    pub on_host: Option<String>,
    /// Whether the script runs as root, where that is possible without a password.
    pub wants_root: bool,
}

/// What a host answers: values by key, in order; a key may be there more than once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answers(pub Vec<(String, String)>);

impl Answers {
    /// The first value of a key. Linear.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// The number of a key.
    pub fn number(&self, key: &str) -> Option<u64> {
        self.get(key)?.parse().ok()
    }

    /// All values of a key.
    pub fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

/// What comes from the other end.
enum Heard {
    Line(String),
    /// The recording follows.
    Data(BufReader<ChildStdout>),
}

/// A connection to a host.
#[derive(Debug)]
pub struct Remote {
    child: Child,
    stdin: Option<ChildStdin>,
    heard: Receiver<Heard>,
    said: Option<JoinHandle<String>>,
}

impl Remote {
    /// Connects to a host and sends it the script. It has not answered yet.
    ///
    /// # Errors
    /// The program of the connection cannot be run.
    pub fn open(target: &Target, way: &Way, script: &str) -> Result<Self, RemoteError> {
        let started = bootstrap(script, way.on_host.as_deref(), way.wants_root);
        let mut command = match way.ssh.split_first() {
            Some((program, first)) if !target.is_local => {
                let mut command = Command::new(program);
                command.args(first).args(SSH_OPTIONS).arg(&target.name).arg(started);
                command
            }
            _ => {
                let mut command = Command::new("sh");
                command.arg("-c").arg(started);
                command
            }
        };
        // Ctrl-C is for this process, which stops the recording and collects.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command.spawn().map_err(|source| RemoteError::Program { program, source })?;
        let (sender, heard) = channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || listen(BufReader::new(stdout), &sender));
        }
        let said = child.stderr.take().map(|stderr| thread::spawn(move || last_words(stderr)));
        let mut stdin = child.stdin.take();
        // A connection that is refused takes nothing; why is in what it says.
        let _ = stdin.as_mut().map(|stdin| stdin.write_all(script.as_bytes()));
        Ok(Self { child, stdin, heard, said })
    }

    /// Sends a line and waits for its answers.
    ///
    /// # Errors
    /// The connection is gone, the answer is an error, or it does not come in time.
    pub fn ask(&mut self, line: &str, patience: Duration) -> Result<Answers, RemoteError> {
        self.send(line);
        let deadline = Instant::now() + patience;
        let mut answers = Answers::default();
        loop {
            match self.next(line, patience, deadline)? {
                Heard::Line(line) => match line.split_once('=') {
                    Some(("end", _)) => return Ok(answers),
                    Some(("error", why)) => return Err(RemoteError::Failed(why.to_owned())),
                    Some((key, value)) => answers.0.push((key.to_owned(), value.to_owned())),
                    // Not the script's: a shell that greets.
                    None => {}
                },
                Heard::Data(_) => return Err(RemoteError::Failed("data came unasked".to_owned())),
            }
        }
    }

    /// Tells the host to send what it recorded, and writes that to a file, packed as it comes: a tar file,
    /// which may be compressed by Zstandard. Returns its bytes. The connection is over then, and the host is
    /// clean.
    ///
    /// # Errors
    /// The file cannot be written, or the host could not send all.
    pub fn collect(mut self, file: &Path, patience: Duration) -> Result<u64, RemoteError> {
        self.send("collect");
        let deadline = Instant::now() + patience;
        let mut stream = loop {
            match self.next("collect", patience, deadline)? {
                Heard::Data(stream) => break stream,
                Heard::Line(line) => {
                    if let Some(why) = line.strip_prefix("error=") {
                        return Err(RemoteError::Failed(why.to_owned()));
                    }
                }
            }
        };
        let failed = |source| RemoteError::Write { path: file.display().to_string(), source };
        let mut out = File::create_new(file).map_err(failed)?;
        let bytes = io::copy(&mut stream, &mut out).map_err(failed)?;
        let status = self.child.wait().map_err(|error| RemoteError::Ended(error.to_string()))?;
        match status.success() {
            true => Ok(bytes),
            false => {
                Err(RemoteError::Ended(format!("not all of the recording came: {}", self.ended(status))))
            }
        }
    }

    fn send(&mut self, line: &str) {
        // A connection that is gone says so itself.
        let _ = self.stdin.as_mut().map(|stdin| writeln!(stdin, "{line}"));
    }

    fn next(&mut self, asked: &str, patience: Duration, deadline: Instant) -> Result<Heard, RemoteError> {
        match self.heard.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(heard) => Ok(heard),
            Err(RecvTimeoutError::Timeout) => {
                Err(RemoteError::Silent { asked: asked.to_owned(), after: patience })
            }
            Err(RecvTimeoutError::Disconnected) => {
                self.stdin = None;
                let status = self.child.wait().map_err(|error| RemoteError::Ended(error.to_string()))?;
                Err(RemoteError::Ended(self.ended(status)))
            }
        }
    }

    /// Why the connection ended: what its program said last.
    fn ended(&mut self, status: ExitStatus) -> String {
        let said = self.said.take().and_then(|said| said.join().ok()).unwrap_or_default();
        let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        match lines.as_slice() {
            [] => format!("the connection ended ({status})"),
            lines => lines[lines.len().saturating_sub(3)..].join("; "),
        }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.stdin = None;
        let deadline = Instant::now() + END_TIME;
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Passes on lines, until the recording follows or the other end is gone.
fn listen(mut stream: BufReader<ChildStdout>, sender: &Sender<Heard>) {
    loop {
        let mut line = Vec::new();
        match stream.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
            Ok(1..) => {}
            _ => return,
        }
        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
        if line.starts_with("data=") {
            // Nobody waits for it any more: then it is dropped.
            let _ = sender.send(Heard::Data(stream));
            return;
        }
        if sender.send(Heard::Line(line)).is_err() {
            return;
        }
    }
}

/// The end of what a program says.
fn last_words(mut stderr: impl Read) -> String {
    let (mut said, mut part) = (Vec::new(), [0; 1 << 10]);
    while let Ok(read @ 1..) = stderr.read(&mut part) {
        said.extend_from_slice(&part[..read]);
        let more = said.len().saturating_sub(MAX_SAID);
        said.drain(..more);
    }
    String::from_utf8_lossy(&said).into_owned()
}
