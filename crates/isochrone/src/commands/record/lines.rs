//! Lines about hosts: what they are, how their recording stands, round trips between them.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use isochrone_record::remote::RemoteError;
use isochrone_record::script::{Kept, MAX_BUFFER};
use isochrone_record::session::{Host, Probes, Status};
use isochrone_record::target::Target;

use crate::arguments::Record;
use crate::output::{Console, note};
use crate::render::figures;
use crate::render::plain::{Plain, plain};

/// A line of a host while it is recorded.
const TEMPLATE: &str = " {prefix} {bar:26} {msg}";

/// What hosts are, and below each what is missing, with the line that mends it.
pub(super) fn of_checks(connected: &[(Target, Result<Host, RemoteError>)]) -> Vec<String> {
    let names = connected.iter().map(|(target, _)| plain(&target.name).to_string());
    let names: Vec<String> = names.collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (name, (_, host)) in names.iter().zip(connected) {
        let start = format!(" {name:width$}  ");
        let host = match host {
            Ok(host) => host,
            Err(error) => {
                lines.push(format!("{start}{}", Plain(error)));
                lines.extend(mend(error, name).map(|mend| format!(" {:width$}    → {mend}", "")));
                continue;
            }
        };
        let state = if host.checked.is_ready() { "ready" } else { "not ready" };
        lines.push(format!("{start}{}: {state}", plain(&host.checked.system)));
        for finding in &host.checked.findings {
            let kind = if finding.is_fatal { "" } else { "note: " };
            lines.push(format!(" {:width$}    {kind}{}", "", plain(&finding.what)));
            lines.extend(finding.mend.iter().map(|mend| format!(" {:width$}    → {}", "", plain(mend))));
        }
    }
    lines
}

/// What to type where a host cannot be logged into.
fn mend(error: &RemoteError, name: &str) -> Option<String> {
    let RemoteError::Ended(said) = error else { return None };
    let has = |words: &str| said.contains(words);
    if has("Permission denied") {
        return Some(format!("ssh-copy-id {name}     (a key that needs no password, or one in ssh-agent)"));
    }
    has("Host key verification failed").then(|| format!("ssh {name}     (once, to see and keep its key)"))
}

/// What to do about lost events.
pub(super) fn lost(lost: u64, buffer: u64) -> String {
    let larger = (buffer * 2).min(MAX_BUFFER);
    let size = if larger >> 20 > 0 { format!("{}M", larger >> 20) } else { format!("{}K", larger >> 10) };
    let advice = match larger > buffer {
        true => format!("a larger buffer next time (--buffer {size})"),
        false => "less next time (--cpu, --request or --disk)".to_owned(),
    };
    format!("{} lost: {advice}", figures::count(lost))
}

/// What the round trips came to.
pub(super) fn of_probes(probes: &Probes) -> String {
    let trips = probes.pairs.iter().map(|(_, trips)| trips);
    let least = trips.clone().filter_map(|trips| trips.least_ns);
    let range = least.clone().min().zip(least.max());
    let (count, bytes) =
        trips.fold((0, 0), |(count, bytes), trips| (count + trips.count, bytes + trips.bytes()));
    let shown = |ns: u64| figures::duration(ns.try_into().unwrap_or(i64::MAX));
    let range = match range {
        Some((least, most)) if least == most => format!(", least {}", shown(least)),
        Some((least, most)) => format!(", least of a pair {} to {}", shown(least), shown(most)),
        None => String::new(),
    };
    let pairs = figures::plural(probes.pairs.len(), "pair");
    let trips = figures::plural(count, "round trip");
    format!("probes between {pairs} of hosts: {trips}, {}{range}", figures::bytes(bytes as f64))
}

/// The lines of hosts on a terminal; elsewhere one note.
pub(super) struct Lines {
    bars: Vec<ProgressBar>,
    probes: Option<ProgressBar>,
    /// What Ctrl-C does.
    end: &'static str,
    _all: MultiProgress,
}

impl Lines {
    pub(super) fn new(hosts: &[Host], arguments: &Record, console: &Console) -> Self {
        let time = arguments.time;
        let end = match arguments.kept() {
            Kept::Last => "Ctrl-C takes the snapshot and collects it",
            Kept::All | Kept::InChunks(_) => "Ctrl-C stops and collects",
        };
        let is_shown = std::io::stderr().is_terminal() && !console.is_quiet();
        let target = if is_shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let all = MultiProgress::with_draw_target(target);
        if !is_shown {
            let hosts = figures::plural(hosts.len(), "host");
            let time = time.map_or(String::new(), |time| format!(" for {} s", time.as_secs_f64()));
            note!(console, "recording {hosts}{time}; {end}");
        }
        let names: Vec<String> = hosts.iter().map(|host| plain(&host.target.name).to_string()).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let style = |template| {
            let style = ProgressStyle::with_template(template);
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            style.progress_chars("█▉▊▋▌▍▎▏░")
        };
        let bar = |name: &String| {
            let length = time.map_or(1, |time| time.as_millis().try_into().unwrap_or(u64::MAX));
            let bar = all.add(ProgressBar::new(length.max(1)));
            bar.set_style(style(TEMPLATE));
            bar.set_prefix(format!("{name:width$}"));
            bar
        };
        let bars = names.iter().map(bar).collect();
        let probes = is_shown.then(|| {
            let line = all.add(ProgressBar::new(1));
            line.set_style(style(" {msg}"));
            line.set_message(end);
            line
        });
        Self { bars, probes, end, _all: all }
    }

    /// Shows how it stands after some time.
    pub(super) fn show(
        &self,
        status: &[Result<Status, RemoteError>],
        buffer: u64,
        after: Duration,
        probes: Option<&Probes>,
    ) {
        for (bar, status) in self.bars.iter().zip(status) {
            bar.set_position(after.as_millis().try_into().unwrap_or(u64::MAX));
            let text = match status {
                Ok(status) => {
                    let events = status.events.map(|events| format!("{} events", figures::count(events)));
                    let bytes = status.bytes.map(|bytes| figures::bytes(bytes as f64));
                    let lost = match status.lost {
                        Some(0) => Some("0 lost".to_owned()),
                        Some(events) => Some(lost(events, buffer)),
                        None => None,
                    };
                    [Some(format!("{} s", after.as_secs())), events, bytes, lost]
                        .into_iter()
                        .flatten()
                        .collect::<Vec<_>>()
                        .join("   ")
                }
                Err(error) => Plain(error).to_string(),
            };
            bar.set_message(text);
        }
        if let Some((line, probes)) = self.probes.as_ref().zip(probes) {
            line.set_message(format!("{}     {}", of_probes(probes), self.end));
        }
    }

    /// Leaves the lines as they are.
    pub(super) fn finish(self) {
        self.bars.iter().for_each(ProgressBar::abandon);
        if let Some(line) = self.probes {
            line.finish_and_clear();
        }
    }
}
