//! A line on stdout for each piece that was mapped in place: for people, or as the journal has it.

use std::io::Write as _;
use std::time::SystemTime;

use isochrone_experiment::PieceRecord;
use isochrone_time::UnixNs;

use crate::output;
use crate::render::plain::plain;
use crate::render::{figures, time};

/// What prints a line for each piece.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lines {
    /// Whether they are those of the journal.
    pub(super) is_json: bool,
}

impl Lines {
    /// A line of the journal, if these are printed.
    pub(super) fn journal_line(self, line: &str) {
        if self.is_json {
            print(line);
        }
    }

    /// A piece was handed over, or is where it is to be; `line`: of the journal.
    pub(super) fn handed_over(self, record: &PieceRecord, line: &str, how: &str) {
        if self.is_json {
            return print(line);
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let PieceRecord { piece, host, chunk_bytes, piece_bytes, cpu_ms } = record;
        print(&format!(
            "{}  {}  {} → {}, {:.2} s of CPU time  {}{how}",
            time::full(UnixNs(i128::from(now.as_secs()) * 1_000_000_000)).trim_end_matches(".000000000"),
            plain(host),
            figures::bytes(*chunk_bytes as f64),
            figures::bytes(*piece_bytes as f64),
            *cpu_ms as f64 / 1e3,
            plain(piece),
        ));
    }
}

/// Prints a line. A reader that has stopped does not stop the mapping.
fn print(line: &str) {
    let _ = output::print(|out| Ok(writeln!(out, "{line}")?));
}
