//! `isochrone record` and `isochrone probe`: hosts over `ssh`, from the check to the first look.

mod lines;
mod result;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use isochrone_analysis::RECIPE;
use isochrone_record::checks::{FTRACE_KEEPS_ALL, Wanted};
use isochrone_record::probe::{TRIPS_AT_ENDS, TRIPS_BETWEEN};
use isochrone_record::recipe::{Purpose, Recipe};
use isochrone_record::remote::{RemoteError, Way};
use isochrone_record::script::{Kept, Script, Tracer};
use isochrone_record::session::{self, Host, Probes, Status};
use isochrone_record::target::{Target, targets};

use super::signals::stop_on_signals;
use crate::arguments::{Probe, Record, WayOptions};
use crate::output::{self, Console, eprint_line, note, warn_partial, warning};
use crate::render::figures;
use crate::render::plain::{Plain, plain};
use lines::Lines;

/// How often hosts are asked how they stand.
const STATUS_INTERVAL: Duration = Duration::from_secs(2);
/// How often hosts send each other packets.
const PROBE_INTERVAL: Duration = Duration::from_secs(5);
/// How often it is checked whether this process was told to end.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Records hosts.
pub(crate) fn run(arguments: &Record, console: &Console) -> anyhow::Result<()> {
    let purpose = arguments.what.purpose();
    let recipe = Recipe::new(&RECIPE, purpose);
    let session = format!("isochrone-{}-{}", jiff::Timestamp::now().as_second(), std::process::id());
    let (buffer, kept) = (arguments.buffer, arguments.kept());
    let tracer = arguments.tracer.map(Tracer::from);
    anyhow::ensure!(kept == Kept::All || tracer != Some(Tracer::Ftrace), FTRACE_KEEPS_ALL);
    let script = Script { session: &session, recipe: &recipe, purpose, buffer, kept };
    if arguments.print {
        let script = Script { session: "isochrone-by-hand", ..script };
        let tracer = tracer.unwrap_or(Tracer::Lttng);
        let seconds = arguments.time.map(|time| time.as_secs().max(1));
        output::print(|stdout| Ok(stdout.write_all(script.alone(tracer, seconds).as_bytes())?))?;
        return Ok(());
    }
    for skipped in &arguments.skip {
        let is_named = arguments.hosts.contains(skipped);
        anyhow::ensure!(is_named, "--skip {}: there is no such host", plain(skipped));
    }
    let names: Vec<String> =
        arguments.hosts.iter().filter(|host| !arguments.skip.contains(host)).cloned().collect();
    anyhow::ensure!(!names.is_empty(), "no host is left to record");
    let targets = targets(&names)?;
    let has_others = targets.len() > 1;
    let wanted = Wanted { tracer, has_kernel: recipe.has_kernel(), buffer, has_others, kept };
    let way = way(&arguments.way, purpose != Purpose::UserSpace);
    let directory = match &arguments.output {
        Some(path) => Some(Directory::new(path)?),
        None => None,
    };
    // Nothing is left on the hosts: a signal ends the recording, and never this process at once.
    let is_stopped = stop_on_signals()?;
    let is_stopped = || is_stopped.load(Ordering::Relaxed);
    let connected = session::connect(targets, &way, &script.for_talk(), &wanted);
    let hosts = ready(connected, arguments.check, console)?;
    let Some(directory) = directory else { return Ok(()) };
    anyhow::ensure!(!is_stopped(), "stopped before anything was recorded");
    let mut recording = Recording { hosts, arguments, console, probes: None };
    recording.start()?;
    recording.until_stopped(&is_stopped)?;
    let hosts = recording.stop()?;
    drop(recording);
    let ports = hosts.iter().filter_map(Host::port).collect();
    result::collect(hosts, ports, &directory, console)
}

/// Sends packets between hosts that are being recorded otherwise.
pub(crate) fn probe(arguments: &Probe, console: &Console) -> anyhow::Result<()> {
    let targets = targets(&arguments.hosts)?;
    let recipe = Recipe::new(&[], Purpose::UserSpace);
    let (purpose, kept) = (Purpose::UserSpace, Kept::All);
    let script = Script { session: "isochrone-probe", recipe: &recipe, purpose, buffer: 1 << 20, kept };
    let wanted = Wanted { tracer: None, has_kernel: false, buffer: 0, has_others: true, kept };
    let connected = session::connect(targets, &way(&arguments.way, false), &script.for_talk(), &wanted);
    let mut hosts = Vec::new();
    for (target, host) in connected {
        hosts.push(host.with_context(|| plain(&target.name).to_string())?);
    }
    let (mut probes, missing) = Probes::start(&mut hosts);
    for (number, why) in missing {
        warn_partial!(console, "{}: {}", plain(&hosts[number].target.name), plain(&why));
    }
    anyhow::ensure!(!probes.pairs.is_empty(), "no two hosts answer packets");
    probes.send(&mut hosts, arguments.trips);
    output::print(|stdout| {
        for ((a, b), trips) in &probes.pairs {
            let [a, b] = [a, b].map(|number| plain(&hosts[*number].target.name));
            let least = trips.least_ns.map_or("none came back".to_owned(), |least| {
                format!("least {}", figures::duration(least.try_into().unwrap_or(i64::MAX)))
            });
            let count = figures::plural(trips.count, "round trip");
            writeln!(stdout, "{a} – {b}: {count}, {least}, {}", figures::bytes(trips.bytes() as f64))?;
        }
        Ok(())
    })?;
    console.partial_if(probes.pairs.iter().any(|(_, trips)| trips.count < u64::from(arguments.trips)));
    Ok(())
}

fn way(options: &WayOptions, wants_root: bool) -> Way {
    Way { ssh: options.ssh.0.clone(), on_host: options.on_host.clone(), wants_root }
}

/// The directory of a recording, which is removed again where it stays empty.
struct Directory {
    path: PathBuf,
    is_new: bool,
}

impl Directory {
    fn new(path: &Path) -> anyhow::Result<Self> {
        let is_new = !path.exists();
        let shown = || Plain(path.display()).to_string();
        fs::create_dir_all(path).with_context(|| format!("{} cannot be made", shown()))?;
        let mut inside = fs::read_dir(path).with_context(|| format!("cannot read {}", shown()))?;
        anyhow::ensure!(inside.next().is_none(), "{} is not empty: nothing is written over", shown());
        Ok(Self { path: path.to_owned(), is_new })
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if self.is_new {
            // It is not empty where something was recorded.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// Shows what hosts are and what is missing, and returns them where all are ready.
fn ready(
    connected: Vec<(Target, Result<Host, RemoteError>)>,
    is_result: bool,
    console: &Console,
) -> anyhow::Result<Vec<Host>> {
    let lines = lines::of_checks(&connected);
    if is_result {
        output::print(|stdout| lines.iter().try_for_each(|line| Ok(writeln!(stdout, "{line}")?)))?;
    }
    let is_ready = |host: &Result<Host, RemoteError>| host.as_ref().is_ok_and(|host| host.checked.is_ready());
    let not_ready: Vec<String> = connected
        .iter()
        .filter(|(_, host)| !is_ready(host))
        .map(|(target, _)| plain(&target.name).to_string())
        .collect();
    if !is_result && (!console.is_quiet() || !not_ready.is_empty()) {
        for line in &lines {
            eprint_line!("{line}");
        }
    }
    let (count, skips) = (connected.len(), not_ready.join(" --skip "));
    match not_ready.as_slice() {
        [] => Ok(connected.into_iter().filter_map(|(_, host)| host.ok()).collect()),
        [one] if count > 1 => Err(anyhow::anyhow!("{one} is not ready; --skip {skips} records the others")),
        [one] => Err(anyhow::anyhow!("{one} is not ready")),
        several if several.len() < count => {
            Err(anyhow::anyhow!("{} are not ready; --skip {skips} records the others", several.join(", ")))
        }
        _ => Err(anyhow::anyhow!("no host is ready")),
    }
}

/// A recording that goes on.
struct Recording<'r> {
    hosts: Vec<Host>,
    arguments: &'r Record,
    console: &'r Console,
    probes: Option<Probes>,
}

impl Recording<'_> {
    /// Starts the tracers of all hosts: where one does not start, none is recorded.
    fn start(&mut self) -> anyhow::Result<()> {
        let started = session::start(&mut self.hosts);
        for (host, status) in self.hosts.iter().zip(started) {
            let name = plain(&host.target.name);
            let status = status.with_context(|| format!("{name} does not start"))?;
            for warning in &status.warnings {
                warning!("{name}: {}", plain(warning));
            }
        }
        if self.hosts.len() > 1 && !self.arguments.no_probe {
            let (mut probes, missing) = Probes::start(&mut self.hosts);
            for (number, why) in missing {
                note!(self.console, "{}: {}", plain(&self.hosts[number].target.name), plain(&why));
            }
            probes.send(&mut self.hosts, TRIPS_AT_ENDS);
            self.probes = (!probes.pairs.is_empty()).then_some(probes);
        }
        Ok(())
    }

    /// Shows how it stands, until it is over: told to stop, at its time, or because of what hosts say.
    fn until_stopped(&mut self, is_stopped: &dyn Fn() -> bool) -> anyhow::Result<()> {
        let begin = Instant::now();
        let lines = Lines::new(&self.hosts, self.arguments, self.console);
        let (mut asked, mut probed) = (begin, begin);
        let is_over = || self.arguments.time.is_some_and(|time| begin.elapsed() >= time);
        while !is_stopped() && !is_over() {
            thread::sleep(CHECK_INTERVAL);
            if asked.elapsed() >= STATUS_INTERVAL {
                asked = Instant::now();
                let status = session::status(&mut self.hosts);
                lines.show(&status, self.arguments.buffer, begin.elapsed(), self.probes.as_ref());
                let is_full = self.is_disk_full(&status);
                self.drop_failed(&status)?;
                if is_full {
                    break;
                }
            }
            if probed.elapsed() >= PROBE_INTERVAL
                && let Some(probes) = &mut self.probes
            {
                probed = Instant::now();
                probes.send(&mut self.hosts, TRIPS_BETWEEN);
            }
        }
        lines.finish();
        Ok(())
    }

    /// Goes on without hosts that failed.
    fn drop_failed(&mut self, status: &[Result<Status, RemoteError>]) -> anyhow::Result<()> {
        for (host, status) in self.hosts.iter().zip(status) {
            if let Err(error) = status {
                let name = plain(&host.target.name);
                warn_partial!(self.console, "{name}: {}: it is not recorded", Plain(error));
            }
        }
        let mut good = status.iter().map(Result::is_ok);
        let before = self.hosts.len();
        self.hosts.retain(|_| good.next().unwrap_or(false));
        if self.hosts.len() < before {
            // Numbers of hosts are others now.
            self.probes = None;
        }
        anyhow::ensure!(!self.hosts.is_empty(), "no host is left: nothing was recorded");
        Ok(())
    }

    /// Whether the disk of a host is nearly full, which is said.
    fn is_disk_full(&self, status: &[Result<Status, RemoteError>]) -> bool {
        let is_full = |status: &Result<Status, RemoteError>| status.as_ref().is_ok_and(Status::is_disk_full);
        let full = self.hosts.iter().zip(status).find(|(_, status)| is_full(status));
        if let Some((host, _)) = full {
            let name = plain(&host.target.name);
            warn_partial!(self.console, "the disk of {name} is nearly full: the recording is stopped");
        }
        full.is_some()
    }

    /// Stops the tracers; the hosts that have something to collect.
    fn stop(&mut self) -> anyhow::Result<Vec<Host>> {
        if let Some(mut probes) = self.probes.take() {
            probes.send(&mut self.hosts, TRIPS_AT_ENDS);
            note!(self.console, "{}", lines::of_probes(&probes));
        }
        let stopped = session::stop(&mut self.hosts);
        let buffer = self.arguments.buffer;
        for (host, status) in self.hosts.iter().zip(&stopped) {
            let warnings = status.iter().flat_map(|status| &status.warnings);
            for warning in warnings {
                warn_partial!(self.console, "{}: {}", plain(&host.target.name), plain(warning));
            }
            let lost = status.as_ref().map_or(0, |status| status.lost.unwrap_or(0));
            if lost > 0 {
                let name = plain(&host.target.name);
                warn_partial!(self.console, "{name}: {}", lines::lost(lost, buffer));
            }
        }
        self.drop_failed(&stopped)?;
        Ok(std::mem::take(&mut self.hosts))
    }
}
