//! Maps pieces of a trace in separate processes and merges the files: any bracketing gives the same digest.
//!
//! ```text
//! map_merge map DIRECTORY FROM TO FILE     FROM, TO: raw ns, or - for the begin and the end
//! map_merge merge FILE FILE FILE           left, right, both
//! map_merge digest FILE
//! ```
#![allow(clippy::print_stdout)] // An example shows what it does.

use std::error::Error;
use std::fs::File;
use std::path::Path;

use isochrone_ctf::{Trace, find_traces};
use isochrone_hosts::Hosts;
use isochrone_kernel::{HalfSyscall, PartialState, Slice, Spans, Syscall, ThreadAliases, Unknown};
use isochrone_pipeline::piece_file::{self, Header};
use isochrone_pipeline::{Border, Cuts, Piece, Plan, run};
use isochrone_time::RawNs;
use serde::{Deserialize, Serialize};

/// Files of another form are refused. An example that reads its own files needs only one.
const FORM: u64 = 1;

/// A consumer that counts.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Tally {
    slices: u64,
    slice_ns: i64,
    unknown_ns: i64,
    calls: u64,
    call_ns: i64,
    half_calls: u64,
}

impl Spans for Tally {
    fn slice(&mut self, slice: &Slice) {
        self.slices += 1;
        self.slice_ns += slice.end - slice.begin;
    }

    fn unknown(&mut self, unknown: &Unknown) {
        self.unknown_ns += unknown.end - unknown.begin;
    }

    fn syscall(&mut self, call: &Syscall<'_>) {
        self.calls += 1;
        self.call_ns += call.end - call.begin;
    }

    fn half_syscall(&mut self, _: &HalfSyscall<'_>) {
        self.half_calls += 1;
    }

    fn rename(&mut self, _: &ThreadAliases) {}

    fn absorb(&mut self, right: Self) {
        self.slices += right.slices;
        self.slice_ns += right.slice_ns;
        self.unknown_ns += right.unknown_ns;
        self.calls += right.calls;
        self.call_ns += right.call_ns;
        self.half_calls += right.half_calls;
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["map", directory, from, to, out] => {
            let border = |text: &str, open| match text {
                "-" => Ok(open),
                number => number.parse().map(RawNs).map(Border::At),
            };
            let piece = Piece { from: border(from, Border::Begin)?, to: border(to, Border::End)? };
            map(Path::new(directory), piece, Path::new(out))
        }
        ["merge", left, right, out] => merge(Path::new(left), Path::new(right), Path::new(out)),
        ["digest", file] => {
            let (header, chunk) = piece_file::read::<Header, PartialState<Tally>>(Path::new(file), FORM)?;
            let (events, bytes) = (header.report.events, postcard::to_stdvec(&(header, chunk))?);
            println!("{:016x} {events} events", piece_file::checksum(&[&bytes]));
            Ok(())
        }
        _ => Err("one of: map DIRECTORY FROM TO FILE, merge FILE FILE FILE, digest FILE".into()),
    }
}

/// Maps a piece of the one host below a directory.
fn map(directory: &Path, piece: Piece, out: &Path) -> Result<(), Box<dyn Error>> {
    let found = find_traces(directory)?;
    let traces = found.traces.iter().map(|path| Trace::open(path)).collect::<Result<Vec<_>, _>>()?;
    let hosts = Hosts::group(&traces);
    let [host] = &hosts.hosts[..] else { return Err("there is not one host".into()) };
    let cuts = [piece.from, piece.to].into_iter().filter(|border| matches!(border, Border::At(_)));
    let plan = Plan::new(host, &Cuts::At(cuts.map(Border::time).collect())).within(piece);
    let plan = plan.ok_or("the piece is within a gap")?;
    let part = run(host, &plan, 1, Tally::default, None)?;
    piece_file::write(&mut File::create(out)?, out, FORM, &Header::new(host, &part), &part.model)?;
    Ok(())
}

fn merge(left: &Path, right: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let (left, first) = piece_file::read::<Header, PartialState<Tally>>(left, FORM)?;
    let (right, second) = piece_file::read::<Header, PartialState<Tally>>(right, FORM)?;
    let header = left.merged(right).ok_or("the pieces are no neighbours")?;
    piece_file::write(&mut File::create(out)?, out, FORM, &header, &first.merge(second)?)?;
    Ok(())
}
