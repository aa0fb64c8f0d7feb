//! Why a recording cannot be turned into a trace.

use std::io;

use crate::bytes::Cut;

/// Why a recording cannot be turned into a trace. The caller knows its path.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Read(#[from] io::Error),
    /// The file ends before what it says is in it.
    #[error("it is cut, or damaged: {what} at byte {offset} is not all there")]
    Cut {
        /// What was read.
        what: &'static str,
        /// Where it starts in the file.
        offset: u64,
    },
    /// It is of a version that is not known.
    #[error("version {0} of trace.dat is not known: 6 and 7 are")]
    Version(String),
    /// It is compressed by something that is not known.
    #[error("compression by `{0}` is not known: zstd and zlib are")]
    Compression(String),
    /// A part cannot be unpacked, or is larger than what a tracer writes.
    #[error("{what} at byte {offset} cannot be unpacked: {why}")]
    Unpack {
        /// What was read.
        what: &'static str,
        /// Where it starts in the file.
        offset: u64,
        /// Why.
        why: String,
    },
    /// Its clock does not count time.
    #[error(
        "its clock is `{0}`, which is not known to count time: record with `trace-cmd record -C mono` \
         or `perf record -k CLOCK_MONOTONIC`"
    )]
    Clock(String),
    /// Its buffers were stamped by several clocks.
    #[error("its buffers have several clocks, `{0}` and `{1}`: their times cannot be compared")]
    Clocks(String, String),
    /// Its events do not say what a trace is made of.
    #[error("its events do not say {0}: record with `perf record -a -T --sample-cpu`")]
    Unsaid(&'static str),
    /// It has nothing that a trace is made of.
    #[error("no event in it was recorded by a tracepoint or a probe of the kernel, or by sampling")]
    NoEvents,
    /// A record of a file of spans cannot be read.
    #[error("the record at byte {offset} cannot be read as OpenTelemetry's spans: {why}")]
    Spans {
        /// Where it begins in the file.
        offset: u64,
        /// Why.
        why: String,
    },
    /// There are none in a file of them.
    #[error("no span in it has a begin and an end")]
    NoSpans,
    /// They are of more hosts than there can be.
    #[error("its spans are of more than {0} hosts")]
    ManyHosts(usize),
    /// A file is another one when it is read again.
    #[error("it was changed while it was read")]
    Changed,
    /// perf's file cannot be read.
    #[error("cannot be read as perf.data: {0}")]
    Perf(String),
    /// The trace cannot be written.
    #[error(transparent)]
    Write(#[from] isochrone_ctf::Error),
    /// An event or a packet cannot be written.
    #[error("cannot be written as CTF: {0}")]
    Encode(#[from] isochrone_ctf::write::EncodeError),
}

impl From<linux_perf_data::Error> for ImportError {
    fn from(error: linux_perf_data::Error) -> Self {
        Self::Perf(error.to_string())
    }
}

impl Cut {
    /// What it is that is cut, and where that starts in the file.
    pub(crate) fn of(self, what: &'static str, offset: u64) -> ImportError {
        let Self = self;
        ImportError::Cut { what, offset }
    }
}
