//! What consumers of LAMI request besides results: the version, the tables, whether traces are compatible, and progress.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use isochrone_analysis::{AnalysisKind, Recorded};
use isochrone_export::lami;

use crate::arguments::{Analyze, Applies, TableFormat};
use crate::output;

/// Checks the options of this format, then answers what needs no trace; returns whether that was requested.
pub(super) fn answer(arguments: &Analyze, names: &[&str]) -> anyhow::Result<bool> {
    if arguments.format != TableFormat::Lami {
        if let Some(option) = arguments.given.iter().find(|option| option.applies == Applies::Lami) {
            anyhow::bail!("{} needs --format lami", option.name);
        }
        return Ok(false);
    }
    if let Some(option) = arguments.given.iter().find(|it| ["--table", "--bounds"].contains(&it.name)) {
        anyhow::bail!("{} does not apply to --format lami", option.name);
    }
    let [name] = *names else { anyhow::bail!("--format lami takes one analysis at a time") };
    let Some(metadata) = lami::metadata(name, env!("CARGO_PKG_VERSION")) else {
        let all = lami::analyses().collect::<Vec<_>>().join(", ");
        anyhow::bail!("--format lami does not apply to {name}; it applies to {all}");
    };
    if arguments.mi_version {
        let (major, minor) = lami::VERSION;
        output::print(|stdout| Ok(writeln!(stdout, "{major}.{minor}")?))?;
    } else if arguments.metadata {
        output::print(|stdout| {
            serde_json::to_writer(&mut *stdout, &metadata)?;
            Ok(writeln!(stdout)?)
        })?;
    }
    Ok(arguments.mi_version || arguments.metadata)
}

/// Checks that a host has the first event that each analysis needs.
pub(super) fn check_compatible(kinds: &[AnalysisKind], hosts: &[Recorded<'_>]) -> anyhow::Result<()> {
    for need in kinds.iter().filter_map(|kind| kind.needs().first()) {
        let is_met = hosts.iter().any(|host| host.events.iter().any(|name| need.is_met_by(name)));
        anyhow::ensure!(is_met, "{}", need.what());
    }
    Ok(())
}

/// Lines of progress before the document, one for each percent.
pub(super) struct ProgressLines {
    total: u64,
    done: AtomicU64,
    printed: AtomicU64,
}

impl ProgressLines {
    /// Of a number of bytes.
    pub(super) fn over(total: u64) -> Self {
        Self { total: total.max(1), done: AtomicU64::new(0), printed: AtomicU64::new(0) }
    }

    /// Adds bytes that have been read.
    pub(super) fn add(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let percent = (u128::from(done) * 100 / u128::from(self.total)).min(99) as u64;
        if self.printed.fetch_max(percent, Ordering::Relaxed) < percent {
            // A reader that has stopped is noticed when the document is written.
            let _ = output::print(|stdout| Ok(writeln!(stdout, "0.{percent:02} reading")?));
        }
    }
}
