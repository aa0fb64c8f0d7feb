//! `isochrone order`: two instants, each of a host, given by their times or by events.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;
use isochrone_periods::Condition;

use super::ReportFormat;
use super::time::{TimeArg, Zone};

/// `isochrone order`: two instants, and the clocks of their times.
#[derive(Debug, Args)]
pub(crate) struct Order {
    /// A host and a time, once or twice: in any form in which a command prints a time (06:11:25.5, 2026-11-20 06:11:25.5, Unix seconds
    /// with a decimal point, Unix nanoseconds), or RFC 3339. Times are those of the common clock, as `isochrone events` prints them
    /// for several hosts, unless --own or --raw is given. Those of a list of messages are as the list has them
    #[arg(value_names = ["HOST", "TIME"], num_args = 1.., required_unless_present = "events", allow_negative_numbers = true)]
    pub(crate) instants: Vec<String>,
    /// An event instead of a HOST and a TIME, once or twice: its host, and what identifies it. WHICH is its name, or a condition as of
    /// `isochrone events --where` ('h1:$event == "net_*" && len > 1000'); followed by `@TIME`, the event of that
    /// time, as `isochrone events` prints it, to the nanosecond; followed by `#N`, the N-th such event of the host. Needs --traces
    #[arg(long = "event", value_name = "HOST:WHICH", value_parser = EventArg::parse, requires = "traces")]
    pub(crate) events: Vec<EventArg>,
    /// Traces of the hosts, which are synchronized unless --sync is given
    #[arg(long, value_name = "TRACE", num_args = 1.., required_unless_present_any = ["sync", "messages"])]
    pub(crate) traces: Vec<PathBuf>,
    /// The corrections, as written by `isochrone sync -o`
    #[arg(long, value_name = "FILE")]
    pub(crate) sync: Option<PathBuf>,
    /// A list of messages, as of `isochrone sync --messages`, instead of traces
    #[arg(long, value_name = "FILE", conflicts_with_all = ["traces", "sync"])]
    pub(crate) messages: Option<PathBuf>,
    /// Times are those of each host's own wall clock, as in its log files
    #[arg(long, conflicts_with = "raw")]
    pub(crate) own: bool,
    /// Times are raw values of the hosts' own clocks in ns (time since boot), without offsets
    #[arg(long)]
    pub(crate) raw: bool,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
    #[command(flatten)]
    pub(crate) zone: Zone,
}

/// An event of a host, by what identifies it.
#[derive(Debug, Clone)]
pub(crate) struct EventArg {
    /// As it was typed.
    pub(crate) text: String,
    pub(crate) host: String,
    pub(crate) condition: Condition,
    /// When it happened.
    pub(crate) at: Option<TimeArg>,
    /// Its number among those that match, from 1 on.
    pub(crate) number: Option<NonZeroU64>,
}

impl EventArg {
    /// Reads `HOST:NAME`, `HOST:CONDITION`, each optionally followed by `@TIME` or `#N`.
    fn parse(text: &str) -> Result<Self, String> {
        let (host, which) = text
            .split_once(':')
            .filter(|(host, which)| !host.is_empty() && !which.is_empty())
            .ok_or("not of the form HOST:NAME, HOST:NAME@TIME or HOST:CONDITION")?;
        let (which, number) = match which.rsplit_once('#') {
            Some((which, number))
                if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                (which, Some(number.parse().map_err(|_| format!("#{number}: events are counted from 1 on"))?))
            }
            _ => (which, None),
        };
        let (which, at) = match which.rsplit_once('@') {
            // A text in a condition may contain `@`.
            Some((which, time)) if !time.contains('"') => (which, Some(TimeArg::parse(time)?)),
            _ => (which, None),
        };
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_:.*?-".contains(&byte);
        let condition = match which.trim() {
            "" => return Err("the event has no name: HOST:NAME".to_owned()),
            name if name.bytes().all(is_name) => Condition::parse(&format!("$event == \"{name}\"")),
            condition => Condition::parse(condition),
        };
        let condition = condition.map_err(|error| error.to_string())?;
        Ok(Self { text: text.to_owned(), host: host.to_owned(), condition, at, number })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_named() {
        let check = |text: &str, host: &str, at: Option<i128>, number: Option<u64>| {
            let read = EventArg::parse(text).unwrap();
            let at_ns = read.at.map(|at| at.unix(None).unwrap().0);
            assert_eq!(
                (read.host.as_str(), at_ns, read.number.map(NonZeroU64::get)),
                (host, at, number),
                "{text}"
            );
        };
        check("h1:net_dev_xmit", "h1", None, None);
        check("h1:lttng_ust_tracef:event@12.5", "h1", Some(12_500_000_000), None);
        check("h1:sched_*#3", "h1", None, Some(3));
        check("h1:sched_switch@2026-11-20T05:54:01Z#2", "h1", Some(1_795_154_041_000_000_000), Some(2));
        check("web-1:$event == \"sched_switch\" && next_tid == 9", "web-1", None, None);
        check("h1:comm == \"a@b#3\"", "h1", None, None);
        check("h1:next_tid == 9 #2", "h1", None, Some(2));
        for wrong in ["h1", ":x", "h1:", "h1:x@soon", "h1:x#0", "h1:@12.5", "h1:tid ==", "h1:a b"] {
            assert!(EventArg::parse(wrong).is_err(), "{wrong}");
        }
    }
}
