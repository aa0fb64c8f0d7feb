//! Options that several commands have.

use std::fmt;
use std::str::FromStr;

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use isochrone_experiment::{ReadError, TimeBase};

use super::time::{TimeArg, Zone};

/// The clock of times. Several hosts are synchronized by default.
#[derive(Debug, Clone, Args)]
pub struct Clock {
    /// Use the corrections in this file, written by `isochrone sync -o` [default: several hosts are
    /// synchronized]
    #[arg(long, value_name = "FILE", conflicts_with = "no_sync", help_heading = "Times")]
    pub sync: Option<PathBuf>,
    /// Leave each host on its own clock
    #[arg(long, help_heading = "Times")]
    pub no_sync: bool,
}

impl Clock {
    /// The time base. A file is read now, before any trace is.
    ///
    /// # Errors
    /// The file is not a `sync.json`.
    pub fn time_base(&self) -> Result<TimeBase, ReadError> {
        match &self.sync {
            Some(path) => TimeBase::read(path),
            None if self.no_sync => Ok(TimeBase::Own),
            None => Ok(TimeBase::Usual),
        }
    }
}

/// A time range.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct TimeWindow {
    /// Start of the time range, in any form in which times are printed (06:11:25.5, 2026-11-20 06:11:25.5,
    /// Unix seconds with a decimal point, Unix nanoseconds), RFC 3339, or relative: `+2s` after the start
    /// of the traces, `-1s` before their end
    #[arg(
        long,
        value_name = "TIME",
        value_parser = TimeArg::parse,
        allow_hyphen_values = true,
        help_heading = "Filters"
    )]
    pub(crate) begin: Option<TimeArg>,
    /// End of the time range, which is not part of it
    #[arg(
        long,
        value_name = "TIME",
        value_parser = TimeArg::parse,
        allow_hyphen_values = true,
        help_heading = "Filters"
    )]
    pub(crate) end: Option<TimeArg>,
}

/// The number of a thread or of a process, and its host where there are several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostNumber {
    pub(crate) host: Option<String>,
    pub(crate) number: i32,
}

impl HostNumber {
    /// Reads `842` or `web:842`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (host, number) = match text.rsplit_once(':') {
            Some((host, number)) => (Some(host.to_owned()), number),
            None => (None, text),
        };
        let number = number.parse().map_err(|_| {
            "not a number of a thread or a process: 842, or web:842 for the host web".to_owned()
        })?;
        Ok(Self { host, number })
    }

    /// Whether it is a number of a host.
    pub(crate) fn is(&self, host: &str, number: i64) -> bool {
        i64::from(self.number) == number && self.host.as_ref().is_none_or(|of| of == host)
    }

    /// Those of any host, and those of one.
    pub(crate) fn apart(all: &[Self]) -> (Vec<i32>, Vec<(String, i32)>) {
        let anywhere = all.iter().filter(|it| it.host.is_none()).map(|it| it.number);
        let of_hosts = all.iter().filter_map(|it| Some((it.host.clone()?, it.number)));
        (anywhere.collect(), of_hosts.collect())
    }
}

impl fmt::Display for HostNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(host) = &self.host {
            write!(f, "{host}:")?;
        }
        write!(f, "{}", self.number)
    }
}

/// Threads, by number or name.
#[derive(Debug, Clone, Args)]
pub(crate) struct Threads {
    /// Only these threads, by number, as in 842, or web:842 of one host
    #[arg(
        long = "tid",
        value_name = "TID",
        value_delimiter = ',',
        value_parser = HostNumber::parse,
        help_heading = "Filters"
    )]
    pub(crate) tids: Vec<HostNumber>,
    /// Only the threads of these processes, by number, as in 842, or web:842 of one host
    #[arg(
        long = "pid",
        value_name = "PID",
        value_delimiter = ',',
        value_parser = HostNumber::parse,
        help_heading = "Filters"
    )]
    pub(crate) pids: Vec<HostNumber>,
    /// Only threads with these names; `*` stands for anything, `?` for one character
    #[arg(long = "procname", value_name = "NAME", value_delimiter = ',', help_heading = "Filters")]
    pub(crate) procnames: Vec<String>,
}

/// Traces, and how they are read, of commands that read a store.
#[derive(Debug, Args)]
pub(crate) struct Sources {
    /// Traces of the hosts, or a store of them
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) clock: Clock,
    #[command(flatten)]
    pub(crate) zone: Zone,
    #[command(flatten)]
    pub(crate) window: TimeWindow,
    #[command(flatten)]
    pub(crate) store: StoreOptions,
}

impl Sources {
    /// All files and directories that are read, which no output may replace.
    pub(crate) fn inputs(&self) -> Vec<PathBuf> {
        [&self.traces[..], self.clock.sync.as_slice(), self.store.store.as_slice()].concat()
    }
}

/// The store, and how it is built.
#[derive(Debug, Args)]
pub(crate) struct StoreOptions {
    /// The store to use, built by `isochrone index -o` [default: in the cache, built if it is missing or
    /// stale]
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Number of cores to use [default: all]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) threads: Option<NonZeroUsize>,
}

/// The files of a machine's certificate, in PEM.
#[derive(Debug, Clone, Default, Args)]
pub struct Keys {
    /// The certificate of this machine, PEM; with it, all connections of a cluster are encrypted and need a
    /// certificate
    #[arg(long, value_name = "FILE", requires_all = ["key", "ca"], help_heading = "Cluster")]
    pub cert: Option<PathBuf>,
    /// The private key of the certificate, PEM
    #[arg(long, value_name = "FILE", requires = "cert", help_heading = "Cluster")]
    pub key: Option<PathBuf>,
    /// The authority that signed the certificates of all machines of the cluster, PEM
    #[arg(long, value_name = "FILE", requires = "cert", help_heading = "Cluster")]
    pub ca: Option<PathBuf>,
}

/// A cluster that maps pieces of traces.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Cluster {
    /// Let a cluster read the traces: the HOST:PORT of its scheduler (`isochrone-sql scheduler`), whose
    /// executors have the traces at the same paths; the result is the same. TRACE of the form MACHINE:PATH
    /// lies on one machine alone: the executor of that name maps it there, and no trace is read here
    #[arg(long, value_name = "HOST:PORT", help_heading = "Cluster")]
    pub(crate) cluster: Option<String>,
    #[command(flatten)]
    pub(crate) keys: Keys,
}

impl Cluster {
    /// The same options for `isochrone-sql`.
    pub(crate) fn options(&self) -> Vec<OsString> {
        let Self { cluster, keys: Keys { cert, key, ca } } = self;
        let mut options = Vec::new();
        if let Some(cluster) = cluster {
            options.extend(["--cluster".into(), cluster.into()]);
        }
        for (option, file) in [("--cert", cert), ("--key", key), ("--ca", ca)] {
            if let Some(file) = file {
                options.extend([option.into(), file.into()]);
            }
        }
        options
    }
}

/// Parses a number from 1 on.
pub(super) fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "not a number from 1 on".to_owned())
}

/// Parses an address with its port, or a port of this machine.
pub(super) fn listen(text: &str) -> Result<SocketAddr, String> {
    let of_port = |port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    text.parse().or_else(|_| text.parse().map(of_port)).map_err(|_| {
        "not an address with a port, as in 127.0.0.1:8191 or [::1]:8191, or a port of this machine, as in \
         8191"
            .to_owned()
    })
}

/// Parses a number.
pub(super) fn number<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "not a number".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_to_listen_on() {
        let check = |text, expect: Option<&str>| {
            assert_eq!(listen(text).ok(), expect.map(|it| it.parse().unwrap()), "{text}");
        };
        check("127.0.0.1:8191", Some("127.0.0.1:8191"));
        check("[::1]:8191", Some("[::1]:8191"));
        check("8191", Some("127.0.0.1:8191"));
        check("localhost:8191", None);
        check("70000", None);
    }

    #[test]
    fn numbers_of_hosts() {
        let check = |text, expect: Option<(Option<&str>, i32)>| {
            let expect = expect.map(|(host, number)| HostNumber { host: host.map(str::to_owned), number });
            assert_eq!(HostNumber::parse(text).ok(), expect, "{text}");
        };
        check("842", Some((None, 842)));
        check("web:842", Some((Some("web"), 842)));
        check("a:b:1", Some((Some("a:b"), 1)));
        check("web:", None);
        check("web", None);
    }
}
