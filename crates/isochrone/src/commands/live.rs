//! `isochrone live`: events of sessions that are being recorded, from LTTng's relay daemons.

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
use isochrone_experiment::{LiveEvents, read_clocks};
use isochrone_sync::unfinished::UnfinishedDirectory;

use super::host_selection;
use super::live_page::LivePage;
use super::signals::stop_on_signals;
use crate::ExitStatus;
use crate::arguments::{EventFormat, Live, Place};
use crate::output::{self, tell};
use crate::render::complaints;
use crate::render::events::{Printer, Style};
use crate::render::plain::{Plain, plain};

/// How often connections that were lost are tried again.
const TRY_AGAIN: Duration = Duration::from_millis(500);
/// How long to wait, at least and at most, where nothing was new.
const WAIT: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));

/// A session that is followed, and its connection if that is lost.
struct Followed {
    address: String,
    session: LiveSession,
    lost: Option<Lost>,
    is_over: bool,
}

/// A connection that was lost.
struct Lost {
    since: Instant,
    next_try: Instant,
}

/// What was printed so far.
struct Printed {
    style: Style,
    last_time: Option<i128>,
    /// Events that are still wanted.
    left: u64,
    is_first: bool,
}

pub(crate) fn run(arguments: &Live, quiet: bool) -> anyhow::Result<ExitStatus> {
    anyhow::ensure!(
        !arguments.date || arguments.format == EventFormat::Text,
        "--date applies to --format text only: the others have whole times"
    );
    let named: Vec<(&Place, &(String, String))> =
        arguments.sessions.iter().filter_map(|place| Some((place, place.session.as_ref()?))).collect();
    let is_stopped = stop_on_signals()?;
    if named.is_empty() {
        return list(&arguments.sessions, &is_stopped);
    }
    anyhow::ensure!(
        named.len() == arguments.sessions.len(),
        "name a session of each relay daemon, or of none to list them: net://HOST/host/HOSTNAME/SESSION"
    );
    let clocks = arguments.sync.as_deref().map(read_clocks).transpose()?;
    // Removed when this function is left, by a signal too; what a killed process left is removed by the next one.
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
    for (number, (place, (host, name))) in named.iter().enumerate() {
        let own = directory.join(number.to_string());
        let session = Connection::open(&place.address, &is_stopped)
            .and_then(|connection| LiveSession::attach(connection, host, name, &own, Arc::clone(&room)));
        if is_stopped.load(Ordering::Relaxed) {
            return Ok(ExitStatus::Done);
        }
        let session = session.map_err(|error| in_words(&error))?;
        followed.push(Followed { address: place.address.clone(), session, lost: None, is_over: false });
    }
    let open = |listen| LivePage::open(listen, &directory, arguments.sync.as_deref());
    let page = arguments.listen.map(open).transpose()?;
    if !quiet && followed.len() > 1 && clocks.is_none() {
        tell!("note: each host is on its own clock: the order of events of different hosts means nothing");
    }
    let style = Style { format: arguments.format, bounds: false, date: arguments.date };
    let left = arguments.limit.map_or(u64::MAX, NonZeroU64::get);
    let printed = Printed { style, last_time: None, left, is_first: true };
    let has_come = page.as_ref().map(|page| |bytes| page.has_come(bytes));
    let has_come = has_come.as_ref().map(|has_come| has_come as &dyn Fn(u64));
    let patience = Patience { reconnect: arguments.reconnect, is_stopped: &is_stopped };
    let ending = follow(&mut followed, LiveEvents::new(clocks), printed, patience, has_come, quiet)?;
    if let Some(page) = page {
        page.end(&is_stopped);
    }
    Ok(ending)
}

/// How long to go on.
#[derive(Clone, Copy)]
struct Patience<'p> {
    /// Without a connection.
    reconnect: Duration,
    /// Somebody has asked to end.
    is_stopped: &'p Arc<AtomicBool>,
}

/// Follows sessions until all have ended, nobody reads on, or somebody stops it. `has_come` gets the bytes that come: for those who read them
/// beside what is printed.
fn follow(
    followed: &mut [Followed],
    mut events: LiveEvents,
    mut printed: Printed,
    patience: Patience<'_>,
    has_come: Option<&dyn Fn(u64)>,
    quiet: bool,
) -> anyhow::Result<ExitStatus> {
    let (mut ending, mut is_printed) = (ExitStatus::Done, true);
    let timers = followed.iter().map(|it| u64::from(it.session.timer_us()));
    let wait = Duration::from_micros(timers.min().unwrap_or(0) / 4).clamp(WAIT.0, WAIT.1);
    loop {
        let mut bytes = 0;
        for one in followed.iter_mut().filter(|one| !one.is_over) {
            let (taken, here) = one.look(patience, quiet);
            bytes += taken;
            ending = ending.max(here);
        }
        if let Some(has_come) = has_come {
            has_come(bytes);
        }
        let is_last = followed.iter().all(|one| one.is_over) || patience.is_stopped.load(Ordering::Relaxed);
        let growing: Vec<LiveTrace> = followed.iter().flat_map(|one| one.session.traces()).collect();
        let is_known = !followed.iter().any(|one| one.session.has_unread());
        if is_printed && !print(&mut events, &growing, is_known, &mut printed)? {
            // One reader that has enough costs the others nothing.
            if has_come.is_none() {
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
    for path in events.uncorrected() {
        ending = ending.max(host_selection::leave_out_unsynchronized(path.display()));
    }
    for one in followed.iter() {
        for directory in one.session.unreadable() {
            let directory = directory.display();
            tell!("warning: {}: no metadata came for what is in it", Plain(directory));
            ending = ExitStatus::Partly;
        }
    }
    for diagnostics in events.of_traces().chain([events.diagnostics()]) {
        ending = ending.max(complaints::show(diagnostics, quiet));
    }
    Ok(ending)
}

/// Prints what is ready. `false`: that is enough.
fn print(
    events: &mut LiveEvents,
    growing: &[LiveTrace],
    is_known: bool,
    printed: &mut Printed,
) -> anyhow::Result<bool> {
    let mut is_read = true;
    events.read(growing, is_known, |traces, ready| {
        let written = output::print(|stdout| {
            let mut printer = match printed.is_first {
                true => Printer::new(printed.style, traces, None, &mut *stdout),
                false => Printer::going_on(printed.style, printed.last_time, traces, None, &mut *stdout),
            };
            while printed.left > 0
                && let Some((source, unix_ns, event)) = ready.next()
            {
                printer.event(source, unix_ns, &event)?;
                printed.left -= 1;
            }
            printed.last_time = printer.finish()?;
            printed.is_first = false;
            Ok(())
        })?;
        is_read = written.is_some() && printed.left > 0;
        anyhow::Ok(())
    })?;
    Ok(is_read)
}

impl Followed {
    /// Takes what is new of it: so many bytes. What goes wrong is told, and costs the rest of the session.
    fn look(&mut self, patience: Patience<'_>, quiet: bool) -> (u64, ExitStatus) {
        if self.lost.is_some() {
            return (0, self.connect_again(patience));
        }
        match self.session.poll() {
            Ok(progress) => {
                self.is_over = progress.is_over;
                (progress.bytes, ExitStatus::Done)
            }
            Err(LiveError::Connection { .. }) if patience.is_stopped.load(Ordering::Relaxed) => {
                (0, ExitStatus::Done)
            }
            Err(error @ LiveError::Connection { .. }) => {
                if !quiet {
                    tell!("note: {}: {}; connecting again", plain(&self.session.label()), Plain(&error));
                }
                let now = Instant::now();
                self.lost = Some(Lost { since: now, next_try: now });
                (0, ExitStatus::Done)
            }
            Err(error) => (0, self.give_up(&error)),
        }
    }

    fn connect_again(&mut self, Patience { reconnect, is_stopped }: Patience<'_>) -> ExitStatus {
        let Some(lost) = &mut self.lost else { return ExitStatus::Done };
        if Instant::now() < lost.next_try {
            return ExitStatus::Done;
        }
        lost.next_try = Instant::now() + TRY_AGAIN;
        let since = lost.since;
        let connection = Connection::open(&self.address, is_stopped);
        match connection.and_then(|connection| self.session.reattach(connection)) {
            Ok(()) => {
                self.lost = None;
                ExitStatus::Done
            }
            // A session that is gone does not come back. All else may get better: the relay daemon notices only after a while that
            // the connection that was lost is not there any more, and lets one viewer have a session at a time.
            Err(LiveError::Connection { .. }) if is_stopped.load(Ordering::Relaxed) => ExitStatus::Done,
            Err(error) if since.elapsed() < reconnect && !matches!(error, LiveError::NoSession { .. }) => {
                ExitStatus::Done
            }
            // Nobody knows whether all of it has come.
            Err(error) => self.give_up(&error),
        }
    }

    fn give_up(&mut self, error: &LiveError) -> ExitStatus {
        let label = self.session.label();
        tell!("warning: {}: {}; what has come until then is shown", plain(&label), Plain(error));
        self.end();
        ExitStatus::Partly
    }

    fn end(&mut self) {
        self.session.give_up();
        self.is_over = true;
    }
}

/// Lists the sessions of relay daemons.
fn list(places: &[Place], is_stopped: &Arc<AtomicBool>) -> anyhow::Result<ExitStatus> {
    for Place { address, .. } in places {
        let sessions = Connection::open(address, is_stopped).and_then(|mut connection| connection.sessions());
        if is_stopped.load(Ordering::Relaxed) {
            break;
        }
        let sessions = sessions.map_err(|error| in_words(&error))?;
        if sessions.is_empty() {
            tell!("note: {}: no sessions", plain(address));
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
    Ok(ExitStatus::Done)
}

fn make_empty(directory: &Path) -> anyhow::Result<()> {
    let shown = Plain(directory.display());
    fs::create_dir_all(directory).with_context(|| format!("{shown}"))?;
    let is_empty = fs::read_dir(directory).with_context(|| format!("{shown}"))?.next().is_none();
    anyhow::ensure!(is_empty, "{shown}: is not empty");
    Ok(())
}

/// Names come from the relay daemon.
fn in_words(error: &LiveError) -> anyhow::Error {
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
