//! A connection to a relay daemon: commands and their answers.

use std::io::{self, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::LiveError;
use super::wire::{
    CLIENT_COMMAND, Command, FLAG_NEW_METADATA, FLAG_NEW_STREAM, IndexEntry, Request, SEEK_BEGINNING,
    Session, StreamEntry, VERSION, long, short,
};
use crate::metadata::MAX_METADATA;

/// A relay daemon that says nothing for so long is not there any more.
const READ_TIMEOUT: Duration = Duration::from_secs(20);
/// How often it is seen whether a caller has asked to end, at least.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(200);
/// How long one try to connect may take: the next one follows at once.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// This many bytes a packet has at most: it is in memory as a whole.
const MAX_PACKET_BYTES: u64 = 256 << 20;
/// More sessions or streams than these are nonsense.
pub(super) const MAX_ENTRIES: u32 = 1 << 16;

pub(super) const TOO_MUCH_METADATA: &str = "more metadata than are read of a trace";

/// A connection of a viewer.
#[derive(Debug)]
pub struct Connection {
    address: String,
    stream: BufReader<InterruptibleStream>,
}

/// A stream of bytes that is waited for so long, and no longer than a caller wants.
#[derive(Debug)]
struct InterruptibleStream {
    stream: TcpStream,
    is_stopped: Arc<AtomicBool>,
}

impl Read for InterruptibleStream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let begin = Instant::now();
        loop {
            refuse_stopped(&self.is_stopped)?;
            match self.stream.read(into) {
                Err(error) if is_wait(&error) && begin.elapsed() < READ_TIMEOUT => {}
                read => return read,
            }
        }
    }
}

/// Whether a call of the system has only taken its time.
fn is_wait(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Another kind than `Interrupted`, after which all readers try again.
fn refuse_stopped(is_stopped: &AtomicBool) -> io::Result<()> {
    match is_stopped.load(Ordering::Relaxed) {
        true => Err(io::Error::new(io::ErrorKind::ConnectionAborted, "it was asked to end")),
        false => Ok(()),
    }
}

/// Connects to one of the addresses of a name.
fn connect(place: &SocketAddr, is_stopped: &AtomicBool) -> io::Result<TcpStream> {
    let begin = Instant::now();
    loop {
        refuse_stopped(is_stopped)?;
        match TcpStream::connect_timeout(place, CONNECT_TIMEOUT) {
            Err(error) if is_wait(&error) && begin.elapsed() < READ_TIMEOUT => {}
            connected => return connected,
        }
    }
}

/// What becomes of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// A packet: offset and size in bytes, end in cycles.
    Packet { offset: u64, bytes: u32, end: u64 },
    /// Nothing is there yet.
    Later,
    /// Nothing was recorded up to this time, cycles.
    Quiet(u64),
    /// The stream has ended.
    Over,
}

/// Whether something else has to be asked first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Needs {
    pub(super) metadata: bool,
    pub(super) streams: bool,
}

impl Needs {
    fn of(flags: u32) -> Self {
        Self { metadata: flags & FLAG_NEW_METADATA != 0, streams: flags & FLAG_NEW_STREAM != 0 }
    }
}

impl Connection {
    /// Connects to a relay daemon, `host:port`. Nothing is waited for any more once `is_stopped` says so:
    /// then the connection is lost.
    ///
    /// # Errors
    /// Nobody answers, or it is none that speaks version 2.
    pub fn open(address: &str, is_stopped: &Arc<AtomicBool>) -> Result<Self, LiveError> {
        let failed = |source| LiveError::Connection { address: address.to_owned(), source };
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for place in address.to_socket_addrs().map_err(failed)? {
            match connect(&place, is_stopped) {
                Ok(stream) => {
                    stream.set_read_timeout(Some(STOP_POLL_INTERVAL)).map_err(failed)?;
                    stream.set_write_timeout(Some(READ_TIMEOUT)).map_err(failed)?;
                    // Commands are short, and each waits for its answer.
                    stream.set_nodelay(true).map_err(failed)?;
                    let patient = InterruptibleStream { stream, is_stopped: Arc::clone(is_stopped) };
                    let mut made = Self { address: address.to_owned(), stream: BufReader::new(patient) };
                    made.greet()?;
                    return Ok(made);
                }
                Err(error) => last = error,
            }
        }
        Err(failed(last))
    }

    fn greet(&mut self) -> Result<(), LiveError> {
        let (major, minor) = VERSION;
        let hello = Request::new(Command::Connect).long(0).short(major).short(minor).short(CLIENT_COMMAND);
        let theirs = self.ask(hello, |from| {
            let _ = long(from)?;
            let (major, _, _) = (short(from)?, short(from)?, short(from)?);
            Ok(major)
        })?;
        if theirs != major {
            return Err(self.protocol("a version of the protocol other than 2"));
        }
        // Sessions are attached to one of the viewer's own.
        let status = self.ask(Request::new(Command::CreateSession), short)?;
        match status {
            1 => Ok(()),
            _ => Err(self.refused("it makes no session for viewers")),
        }
    }

    /// The relay daemon's address.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The sessions there are.
    ///
    /// # Errors
    /// The connection is lost, or what comes is not understood.
    pub fn sessions(&mut self) -> Result<Vec<Session>, LiveError> {
        let count = self.ask(Request::new(Command::ListSessions), short)?;
        self.limit(count)?;
        (0..count).map(|_| self.receive(Session::read)).collect()
    }

    /// Attaches a session from its start; gives its streams.
    pub(super) fn attach(&mut self, session: u64) -> Result<Vec<StreamEntry>, LiveError> {
        let request = Request::new(Command::Attach).long(session).long(0).short(SEEK_BEGINNING);
        let (status, count) = self.ask(request, |from| Ok((short(from)?, short(from)?)))?;
        match status {
            1 => self.streams(count),
            2 => Err(self.refused("another viewer is attached to the session")),
            4 => Err(self.refused("the session is not a live one: create it with `lttng create --live`")),
            _ => Err(self.refused("the session cannot be attached")),
        }
    }

    /// The streams that are new; `None`: the session has ended.
    pub(super) fn new_streams(&mut self, session: u64) -> Result<Option<Vec<StreamEntry>>, LiveError> {
        let request = Request::new(Command::NewStreams).long(session);
        let (status, count) = self.ask(request, |from| Ok((short(from)?, short(from)?)))?;
        match status {
            1 => self.streams(count).map(Some),
            2 => Ok(Some(Vec::new())),
            4 => Ok(None),
            _ => Err(self.refused("it does not say which streams are new")),
        }
    }

    fn streams(&mut self, count: u32) -> Result<Vec<StreamEntry>, LiveError> {
        self.limit(count)?;
        (0..count).map(|_| self.receive(StreamEntry::read)).collect()
    }

    /// What comes next of a stream.
    pub(super) fn next(&mut self, stream: u64) -> Result<(Next, Needs), LiveError> {
        let request = Request::new(Command::NextIndex).long(stream);
        let index = self.ask(request, IndexEntry::read)?;
        let next = match index.status {
            1 => {
                let bytes = Some(index.packet_bits.div_ceil(8)).filter(|&bytes| bytes <= MAX_PACKET_BYTES);
                let bytes = bytes.ok_or_else(|| self.protocol("a packet of more than 256 MiB"))? as u32;
                Next::Packet { offset: index.offset, bytes, end: index.end }
            }
            2 => Next::Later,
            5 => Next::Quiet(index.end),
            3 | 6 => Next::Over,
            _ => return Err(self.refused("it cannot say what comes next of a stream")),
        };
        Ok((next, Needs::of(index.flags)))
    }

    /// The bytes of a packet, into a buffer; `Err` in the inner result: what has to be asked first.
    pub(super) fn packet(
        &mut self,
        stream: u64,
        (offset, bytes): (u64, u32),
        into: &mut Vec<u8>,
    ) -> Result<Result<(), Needs>, LiveError> {
        let request = Request::new(Command::Packet).long(stream).long(offset).short(bytes);
        let (status, length, flags) =
            self.ask(request, |from| Ok((short(from)?, short(from)?, short(from)?)))?;
        match status {
            1 if length == bytes => self.bytes(length.into(), into).map(Ok),
            1 => Err(self.protocol("a packet of another size")),
            _ if flags != 0 => Ok(Err(Needs::of(flags))),
            2 => Ok(Err(Needs::default())),
            _ => Err(self.refused("it does not give a packet that it has announced")),
        }
    }

    /// The metadata of a trace that are new, into a buffer. Says whether there were any.
    pub(super) fn metadata(&mut self, stream: u64, into: &mut Vec<u8>) -> Result<bool, LiveError> {
        let request = Request::new(Command::Metadata).long(stream);
        let (length, status) = self.ask(request, |from| Ok((long(from)?, short(from)?)))?;
        match status {
            1 if length <= MAX_METADATA => self.bytes(length, into).map(|()| length > 0),
            1 => Err(self.protocol(TOO_MUCH_METADATA)),
            // There are none that are new; or, where a session is being torn down, none at all any more.
            _ => Ok(false),
        }
    }

    fn bytes(&mut self, count: u64, into: &mut Vec<u8>) -> Result<(), LiveError> {
        into.clear();
        // Memory comes with the bytes, whatever their number was said to be.
        let read = (&mut self.stream).take(count).read_to_end(into);
        match read {
            Ok(read) if read as u64 == count => Ok(()),
            Ok(_) => Err(self.lost(io::ErrorKind::UnexpectedEof.into())),
            Err(error) => Err(self.lost(error)),
        }
    }

    fn ask<T>(
        &mut self,
        request: Request,
        answer: impl FnOnce(&mut BufReader<InterruptibleStream>) -> io::Result<T>,
    ) -> Result<T, LiveError> {
        let sent = self.stream.get_mut().stream.write_all(&request.bytes());
        sent.map_err(|error| self.lost(error))?;
        self.receive(answer)
    }

    fn receive<T>(
        &mut self,
        answer: impl FnOnce(&mut BufReader<InterruptibleStream>) -> io::Result<T>,
    ) -> Result<T, LiveError> {
        answer(&mut self.stream).map_err(|error| self.lost(error))
    }

    fn limit(&self, count: u32) -> Result<(), LiveError> {
        match count <= MAX_ENTRIES {
            true => Ok(()),
            false => Err(self.protocol("a list of more entries than there can be")),
        }
    }

    fn lost(&self, source: io::Error) -> LiveError {
        LiveError::Connection { address: self.address.clone(), source }
    }

    pub(super) fn protocol(&self, what: &'static str) -> LiveError {
        LiveError::Protocol { address: self.address.clone(), what }
    }

    fn refused(&self, what: &'static str) -> LiveError {
        LiveError::Refused { address: self.address.clone(), what }
    }
}
