//! `isochrone live`: events of sessions that are being recorded, from LTTng's relay daemons.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use isochrone_ctf::live::{Connection, LiveError, LiveSession, LiveTrace, Room};
use isochrone_experiment::{LiveBase, LiveEvents, read_clocks};
use isochrone_unfinished::UnfinishedDirectory;

use super::live_clocks::LiveClocks;
use super::live_page::LivePage;
use super::signals::stop_on_signals;
use super::{events, host_selection};
use crate::arguments::{EventFormat, Live, SessionUrl};
use crate::output::{self, Console, eprint_line, note, warn_partial};
use crate::render::complaints;
use crate::render::events::{Last, Printer, Style};
use crate::render::plain::{Plain, plain};

/// Interval of attempts to connect again.
const RECONNECT_INTERVAL: Duration = Duration::from_millis(500);
/// Shortest and longest wait where nothing was new.
const WAIT: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));

/// A session that is followed.
struct Followed {
    address: String,
    session: LiveSession,
    /// Its connection, if that was lost.
    lost: Option<Lost>,
    is_over: bool,
}

/// A connection that was lost.
struct Lost {
    since: Instant,
    next_try: Instant,
}

/// State of the output.
struct Printed {
    style: Style,
    last: Last,
    /// Number of events still to print.
    left: u64,
    is_first: bool,
}

pub(crate) fn run(arguments: &Live, console: &Console) -> anyhow::Result<()> {
    anyhow::ensure!(!arguments.date || arguments.format == EventFormat::Text, events::DATE_OF_TEXT);
    let named: Vec<(&SessionUrl, &(String, String))> =
        arguments.sessions.iter().filter_map(|url| Some((url, url.session.as_ref()?))).collect();
    let is_stopped = stop_on_signals()?;
    if named.is_empty() {
        return list(&arguments.sessions, &is_stopped);
    }
    anyhow::ensure!(
        named.len() == arguments.sessions.len(),
        "name a session of each relay daemon, or of none to list them: net://HOST/host/HOSTNAME/SESSION"
    );
    let hosts = named.iter().map(|(_, (host, _))| host).collect::<BTreeSet<_>>().len();
    let (base, mut clocks) = match &arguments.clock.sync {
        Some(path) => (LiveBase::Kept(read_clocks(path)?), None),
        None if arguments.clock.no_sync || hosts == 1 => (LiveBase::Own, None),
        None => (LiveBase::OnTheWay, Some(LiveClocks::new(hosts, arguments.wait_sync))),
    };
    anyhow::ensure!(!arguments.bounds || !matches!(base, LiveBase::Own), host_selection::NO_BOUNDS);
    // Removed at the end, also by a signal; what a killed process left is removed by the next one.
    let (_temporary, directory) = match &arguments.keep {
        Some(kept) => {
            make_empty(kept)?;
            (None, kept.clone())
        }
        None => {
            let made = UnfinishedDirectory::temporary("isochrone-live").context("no temporary directory")?;
            let path = made.path().to_owned();
            (Some(made), path)
        }
    };
    let room = Arc::new(Room::new(arguments.keep_at_most.unwrap_or(u64::MAX)));
    let mut followed = Vec::with_capacity(named.len());
    for (number, (url, (host, name))) in named.iter().enumerate() {
        let own = directory.join(number.to_string());
        let session = Connection::open(&url.address, &is_stopped)
            .and_then(|connection| LiveSession::attach(connection, host, name, &own, Arc::clone(&room)));
        if is_stopped.load(Ordering::Relaxed) {
            return Ok(());
        }
        let session = session.map_err(|error| live_error(&error))?;
        followed.push(Followed { address: url.address.clone(), session, lost: None, is_over: false });
    }
    let open = |listen| LivePage::open(listen, &directory, &arguments.clock);
    let page = arguments.listen.map(open).transpose()?;
    if hosts > 1 && arguments.clock.no_sync {
        note!(
            console,
            "each host is on its own clock: the order of events of different hosts is meaningless"
        );
    }
    let style =
        Style { format: arguments.format, bounds: arguments.bounds, date: arguments.date, explains: false };
    let left = arguments.limit.map_or(u64::MAX, NonZeroU64::get);
    let printed = Printed { style, last: Last::default(), left, is_first: true };
    let run = Run { reconnect: arguments.reconnect, is_stopped: &is_stopped, page: page.as_ref(), console };
    run.follow(&mut followed, LiveEvents::new(base), clocks.as_mut(), printed)?;
    if let Some(page) = page {
        page.end(&is_stopped);
    }
    Ok(())
}

/// A run of the command.
#[derive(Clone, Copy)]
struct Run<'r> {
    /// Maximum time without a connection.
    reconnect: Duration,
    /// Whether the process was told to end.
    is_stopped: &'r Arc<AtomicBool>,
    /// Serves what has been received.
    page: Option<&'r LivePage>,
    console: &'r Console,
}

impl Run<'_> {
    /// Follows sessions until all have ended, stdout is closed and there is no page, or the process is told to end.
    fn follow(
        self,
        followed: &mut [Followed],
        mut events: LiveEvents,
        mut clocks: Option<&mut LiveClocks>,
        mut printed: Printed,
    ) -> anyhow::Result<()> {
        let mut is_printed = true;
        let timers = followed.iter().map(|it| u64::from(it.session.timer_us()));
        let wait = Duration::from_micros(timers.min().unwrap_or(0) / 4).clamp(WAIT.0, WAIT.1);
        loop {
            let mut bytes = 0;
            for one in followed.iter_mut().filter(|one| !one.is_over) {
                bytes += one.receive(self);
            }
            if let Some(page) = self.page {
                page.add_received(bytes);
            }
            let is_over = followed.iter().all(|one| one.is_over);
            let is_last = is_over || self.is_stopped.load(Ordering::Relaxed);
            let growing: Vec<LiveTrace> = followed.iter().flat_map(|one| one.session.traces()).collect();
            let is_known = !followed.iter().any(|one| one.session.has_unread());
            if let Some(clocks) = clocks.as_deref_mut().filter(|_| is_printed) {
                clocks.add_received(bytes);
                match is_over {
                    true => clocks.finish(&growing, &mut events, self.console),
                    false => clocks.advance(&growing, is_known, &mut events, self.console),
                }
            }
            if is_printed && !print(&mut events, &growing, is_known, &mut printed)? {
                if self.page.is_none() {
                    break;
                }
                is_printed = false;
            }
            if is_last {
                break;
            }
            if bytes == 0 {
                thread::sleep(wait);
            }
        }
        if let Some(clocks) = clocks {
            clocks.report(&events, self.console);
        }
        for path in events.uncorrected() {
            host_selection::warn_uncorrected(path.display(), self.console);
        }
        for directory in followed.iter().flat_map(|one| one.session.unreadable()) {
            warn_partial!(self.console, "{}: its metadata was not received", Plain(directory.display()));
        }
        for diagnostics in events.of_traces().chain([events.diagnostics()]) {
            complaints::show(diagnostics, self.console);
        }
        Ok(())
    }
}

/// Prints what is ready; returns whether more is wanted.
fn print(
    events: &mut LiveEvents,
    growing: &[LiveTrace],
    is_known: bool,
    printed: &mut Printed,
) -> anyhow::Result<bool> {
    let mut is_read = true;
    events.read(growing, is_known, |traces, clocks, ready| {
        let written = output::print(|stdout| {
            let mut printer = match printed.is_first {
                true => Printer::new(printed.style, traces, clocks, &mut *stdout),
                false => Printer::continued(printed.style, printed.last, traces, clocks, &mut *stdout),
            };
            while printed.left > 0
                && let Some((source, unix, event)) = ready.next()
            {
                printer.event(source, unix, &event)?;
                printed.left -= 1;
            }
            printed.last = printer.finish()?;
            printed.is_first = false;
            Ok(())
        })?;
        is_read = written.is_some() && printed.left > 0;
        anyhow::Ok(())
    })?;
    Ok(is_read)
}

impl Followed {
    /// Receives what is new: a number of bytes. An error is reported, and ends the session.
    fn receive(&mut self, run: Run<'_>) -> u64 {
        if self.lost.is_some() {
            self.connect_again(run);
            return 0;
        }
        match self.session.poll() {
            Ok(progress) => {
                self.is_over = progress.is_over;
                return progress.bytes;
            }
            Err(LiveError::Connection { .. }) if run.is_stopped.load(Ordering::Relaxed) => {}
            Err(error @ LiveError::Connection { .. }) => {
                note!(run.console, "{}: {}; connecting again", plain(&self.session.label()), Plain(&error));
                let now = Instant::now();
                self.lost = Some(Lost { since: now, next_try: now });
            }
            Err(error) => self.give_up(&error, run.console),
        }
        0
    }

    fn connect_again(&mut self, run: Run<'_>) {
        let Some(lost) = &mut self.lost else { return };
        if Instant::now() < lost.next_try {
            return;
        }
        lost.next_try = Instant::now() + RECONNECT_INTERVAL;
        let since = lost.since;
        let connection = Connection::open(&self.address, run.is_stopped);
        match connection.and_then(|connection| self.session.reattach(connection)) {
            Ok(()) => self.lost = None,
            // A session that has ended does not come back. Other errors may pass: the relay daemon lets one viewer have a session at a
            // time, and notices only after a while that the connection was lost.
            Err(LiveError::Connection { .. }) if run.is_stopped.load(Ordering::Relaxed) => {}
            Err(error)
                if since.elapsed() < run.reconnect && !matches!(error, LiveError::NoSession { .. }) => {}
            // Whether all of it was received is unknown.
            Err(error) => self.give_up(&error, run.console),
        }
    }

    fn give_up(&mut self, error: &LiveError, console: &Console) {
        let label = self.session.label();
        warn_partial!(console, "{}: {}; what was received until then is shown", plain(&label), Plain(error));
        self.session.give_up();
        self.is_over = true;
    }
}

/// Lists the sessions of relay daemons.
fn list(daemons: &[SessionUrl], is_stopped: &Arc<AtomicBool>) -> anyhow::Result<()> {
    for SessionUrl { address, .. } in daemons {
        let sessions = Connection::open(address, is_stopped).and_then(|mut connection| connection.sessions());
        if is_stopped.load(Ordering::Relaxed) {
            break;
        }
        let sessions = sessions.map_err(|error| live_error(&error))?;
        if sessions.is_empty() {
            // Also where notes are unwanted: it is the result.
            eprint_line!("note: {}: no sessions", plain(address));
        }
        output::print(|stdout| {
            for session in &sessions {
                let (host, name) = (plain(&session.host), plain(&session.name));
                let (streams, timer) = (session.streams, session.timer_us / 1000);
                writeln!(
                    stdout,
                    "net://{address}/host/{host}/{name}  ({streams} streams, every {timer} ms)"
                )?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

fn make_empty(directory: &Path) -> anyhow::Result<()> {
    let shown = Plain(directory.display());
    fs::create_dir_all(directory).with_context(|| format!("{shown}"))?;
    let is_empty = fs::read_dir(directory).with_context(|| format!("{shown}"))?.next().is_none();
    anyhow::ensure!(is_empty, "{shown}: is not empty");
    Ok(())
}

/// An error with the names, which come from the relay daemon, escaped.
fn live_error(error: &LiveError) -> anyhow::Error {
    match error {
        LiveError::NoSession { address, name, known } if known.is_empty() => {
            anyhow::anyhow!("{}: there is no session {}, and no other", plain(address), plain(name))
        }
        LiveError::NoSession { address, name, known } => {
            let known: Vec<_> = known.iter().map(|name| plain(name)).collect();
            anyhow::anyhow!(
                "{}: there is no session {}; there are {}",
                plain(address),
                plain(name),
                known.join(", ")
            )
        }
        other => anyhow::anyhow!("{}", Plain(other)),
    }
}
