//! Handing pieces over: a command for each of them, one at a time in the order of mapping, again until it
//! succeeds.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use isochrone_experiment::{Entry, PieceJournal, PieceRecord};

use super::CHECK_INTERVAL;
use super::lines::Lines;
use super::watch_error;
use crate::arguments::ExecCommand;
use crate::output::{Console, note, warn_partial, warning};
use crate::render::figures;
use crate::render::plain::Plain;

/// Delay before a command is tried again for the first time.
const FIRST_DELAY: Duration = Duration::from_secs(1);

/// What hands pieces over.
#[derive(Debug)]
pub(super) struct HandOver {
    pub(super) command: ExecCommand,
    /// The directory of the pieces.
    pub(super) out: PathBuf,
    pub(super) journal: Arc<Mutex<PieceJournal>>,
    /// Longest delay before a command is tried again.
    pub(super) longest_delay: Duration,
    /// Whether a command that fails is left to the next process.
    pub(super) is_once: bool,
    /// Whether pieces that were handed over are deleted.
    pub(super) deletes: bool,
    pub(super) lines: Lines,
    pub(super) console: Console,
    pub(super) is_stopped: Arc<AtomicBool>,
}

impl HandOver {
    /// Hands over pieces as they come, until there are no more or this process is to end.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub(super) fn run(&self, pieces: &Receiver<PieceRecord>) -> anyhow::Result<()> {
        for record in pieces {
            let mut attempts = 0;
            let mut delay = FIRST_DELAY.min(self.longest_delay);
            while !self.is_stopped.load(Ordering::Relaxed) {
                if !self.out.join(&record.piece).is_file() {
                    self.lose(&record)?;
                    break;
                }
                attempts += 1;
                let Err(why) = self.run_command(&record) else {
                    self.done(&record, attempts)?;
                    break;
                };
                // A signal that ends this process ends the command, too.
                if self.is_stopped.load(Ordering::Relaxed) {
                    return Ok(());
                }
                self.report(&record, &why, delay);
                if self.is_once {
                    break;
                }
                self.wait(delay);
                delay = (delay * 2).min(self.longest_delay);
            }
        }
        Ok(())
    }

    fn journal(&self) -> MutexGuard<'_, PieceJournal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the command for a piece. Its output is on stderr: stdout has lines on pieces.
    fn run_command(&self, record: &PieceRecord) -> Result<(), String> {
        let (program, arguments) = self.command.of(&self.out.join(&record.piece));
        let status = Command::new(program).args(arguments).stdin(Stdio::null()).stdout(io::stderr()).status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("{program}: {status}")),
            Err(error) => Err(format!("{program}: {error}")),
        }
    }

    fn done(&self, record: &PieceRecord, attempts: u32) -> anyhow::Result<()> {
        let piece = record.piece.clone();
        let line = self.journal().record(Entry::HandedOver { piece, attempts }).map_err(watch_error)?;
        let again = if attempts > 1 { format!(" at attempt {attempts}") } else { String::new() };
        self.lines.handed_over(record, &line, &again);
        if self.deletes {
            delete(&self.out.join(&record.piece), &self.console);
        }
        Ok(())
    }

    /// The file of a piece is gone.
    fn lose(&self, record: &PieceRecord) -> anyhow::Result<()> {
        let piece = record.piece.clone();
        let line = self.journal().record(Entry::Lost { piece }).map_err(watch_error)?;
        self.lines.journal_line(&line);
        warn_partial!(
            &self.console,
            "{}: it is gone, and was not handed over; its chunk is mapped again if it is there",
            Plain(self.out.join(&record.piece).display())
        );
        Ok(())
    }

    fn report(&self, record: &PieceRecord, why: &str, delay: Duration) {
        let waiting = figures::plural(self.journal().waiting().len() as u64, "piece");
        let next = match self.is_once {
            true => "the next run tries again".to_owned(),
            false => format!("next attempt in {} s", delay.as_secs_f64()),
        };
        self.console.partial_if(self.is_once);
        warning!("{}: {}: {waiting} to hand over; {next}", Plain(&record.piece), Plain(why));
    }

    fn wait(&self, delay: Duration) {
        let start = Instant::now();
        while !self.is_stopped.load(Ordering::Relaxed) {
            let Some(left) = delay.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) else {
                return;
            };
            thread::sleep(left.min(CHECK_INTERVAL));
        }
    }
}

/// Deletes a piece that was handed over, if it is there.
pub(super) fn delete(piece: &std::path::Path, console: &Console) {
    match fs::remove_file(piece) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            note!(console, "{}: cannot be deleted: {}", Plain(piece.display()), Plain(error));
        }
        _ => {}
    }
}
