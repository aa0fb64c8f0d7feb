//! Questions in SQL: `isochrone-sql` answers them from the store that is shown, as a program of its own, so
//! that this one needs no engine for SQL. Browsers cannot ask one that listens: they speak no gRPC.
//!
//! Only statements that read are passed on. Used by: the requests of the page.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::error::{ApiError, Result};

/// Rows of one answer, and its bytes.
const MAX_ROWS: usize = 10_000;
const MAX_BYTES: usize = 16 << 20;

/// What is kept of the words of an error.
const MAX_WORDS: u64 = 4000;

/// Beginnings of statements that read.
const READS: [&str; 5] = ["select", "with", "values", "show", "describe"];

/// How the program is started.
#[derive(Debug, Clone, Default)]
pub struct SqlProgram {
    /// The program; empty: there is none.
    pub program: PathBuf,
    /// Options for whose clock times are on.
    pub options: Vec<OsString>,
}

/// Rows of an answer, each an object of JSON with its columns in order.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) rows: Vec<String>,
    /// Whether these are all.
    pub(crate) is_whole: bool,
}

/// A process that is ended with what waits for it.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether a text is one statement that reads.
fn is_read(text: &str) -> bool {
    let text = text.trim().trim_end_matches(';');
    let first = text.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    READS.iter().any(|it| first.eq_ignore_ascii_case(it)) && !text.contains(';')
}

impl SqlProgram {
    /// Answers a question about a store. It is ended when this is dropped.
    ///
    /// # Errors
    /// The statement does more than read, it is wrong, or there is no such program.
    pub(crate) async fn ask(&self, question: &str, store: PathBuf) -> Result<Rows> {
        if !is_read(question) {
            let why = "one statement that reads, please: SELECT, WITH, VALUES, SHOW or DESCRIBE, without `;`";
            return Err(ApiError::wrong(why));
        }
        let mut command = Command::new(&self.program);
        command.args(["--quiet", "--format", "jsonl", "--command", question]).args(&self.options);
        command.arg("--").arg(store);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| match error.kind() {
            ErrorKind::NotFound => ApiError::missing(
                "there is no `isochrone-sql` beside isochrone or in PATH: docs/sql.md says how it is built",
            ),
            _ => ApiError::internal(format!("{}: {error}", self.program.display())),
        })?;
        let pipes = child.stdout.take().zip(child.stderr.take());
        let (stdout, stderr) = pipes.ok_or_else(|| ApiError::internal("it has no output"))?;
        let mut running = Running(child);
        let words = tokio::task::spawn_blocking(move || {
            let mut words = String::new();
            // What is no text says nothing.
            let _ = stderr.take(MAX_WORDS).read_to_string(&mut words);
            words
        });
        let read = tokio::task::spawn_blocking(move || read(BufReader::new(stdout)));
        let broken = |_| ApiError::internal("its output could not be read");
        let rows = read.await.map_err(broken)?;
        let rows =
            rows.map_err(|error| ApiError::internal(format!("its output could not be read: {error}")))?;
        if !rows.is_whole {
            return Ok(rows);
        }
        let words = words.await.map_err(broken)?;
        match running.0.wait() {
            // 1: something of the traces was refused.
            Ok(status) if matches!(status.code(), Some(0 | 1)) => Ok(rows),
            _ => Err(ApiError::wrong(words.trim().trim_start_matches("isochrone-sql: ").to_owned())),
        }
    }
}

/// The rows that come, as many as fit into an answer.
fn read(mut from: impl BufRead) -> io::Result<Rows> {
    let mut all = Rows::default();
    let mut bytes = 0;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 {
            all.is_whole = true;
            return Ok(all);
        }
        bytes += line.len();
        if all.rows.len() == MAX_ROWS || bytes > MAX_BYTES {
            return Ok(all);
        }
        if !line.trim().is_empty() {
            all.rows.push(line.trim().to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_reads_is_passed_on() {
        for text in [
            "SELECT 1",
            " with a AS (SELECT 1) SELECT * FROM a;",
            "show tables",
            "DESCRIBE fds",
            "values (1)",
        ] {
            assert!(is_read(text), "{text}");
        }
        for text in [
            "",
            "COPY fds TO 'x'",
            "select 1; COPY fds TO 'x'",
            "CREATE VIEW a AS SELECT 1",
            "EXPLAIN ANALYZE COPY fds TO 'x'",
            "selects",
        ] {
            assert!(!is_read(text), "{text}");
        }
    }

    #[test]
    fn rows_come_as_they_are_as_many_as_fit() {
        let rows = read("{\"b\":1,\"a\":2}\n\n{}\n".as_bytes()).unwrap();
        assert_eq!(
            (rows.rows.as_slice(), rows.is_whole),
            (&["{\"b\":1,\"a\":2}".to_owned(), "{}".to_owned()][..], true)
        );
        let many = read("{}\n".repeat(MAX_ROWS + 1).as_bytes()).unwrap();
        assert_eq!((many.rows.len(), many.is_whole), (MAX_ROWS, false));
        assert!(read("{}\n".repeat(MAX_ROWS).as_bytes()).unwrap().is_whole);
        // What cannot be read is no end.
        assert!(read(&b"{}\n\xff\n"[..]).is_err());
    }
}
