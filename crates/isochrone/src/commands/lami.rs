//! The questions that a consumer of LAMI asks beside the results: which version, what tables, whether a trace will do, how far the work is.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use isochrone_analysis::{AnalysisKind, Recorded};
use isochrone_export::lami;

use crate::arguments::{Analyze, TableFormat};
use crate::output;

/// Checks that what only this format has goes with it, and what it has not does not. Then answers what needs no trace: whether that was asked.
pub(super) fn answer(arguments: &Analyze, names: &[&str]) -> anyhow::Result<bool> {
    let own = [
        ("--metadata", arguments.metadata),
        ("--mi-version", arguments.mi_version),
        ("--test-compatibility", arguments.test_compatibility),
        ("--output-progress", arguments.output_progress),
    ];
    if arguments.format != TableFormat::Lami {
        for (option, is_given) in own {
            anyhow::ensure!(!is_given, "{option} needs --format lami");
        }
        return Ok(false);
    }
    for (option, is_given) in [("--table", arguments.table.is_some()), ("--bounds", arguments.bounds)] {
        anyhow::ensure!(!is_given, "{option} does not apply to --format lami");
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

/// Checks that a host has the events that an analysis lives on.
pub(super) fn check_compatible(kinds: &[AnalysisKind], hosts: &[Recorded<'_>]) -> anyhow::Result<()> {
    for need in kinds.iter().filter_map(|kind| kind.needs().first()) {
        let is_met = hosts.iter().any(|host| host.events.iter().any(|name| need.is_met_by(name)));
        anyhow::ensure!(is_met, "{}", need.what());
    }
    Ok(())
}

/// Lines of progress before the document, one for each percent.
pub(super) struct ProgressLines {
    whole: u64,
    done: AtomicU64,
    told: AtomicU64,
}

impl ProgressLines {
    /// Of so many bytes.
    pub(super) fn over(whole: u64) -> Self {
        Self { whole: whole.max(1), done: AtomicU64::new(0), told: AtomicU64::new(0) }
    }

    /// So many more bytes have been read.
    pub(super) fn add(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let percent = (u128::from(done) * 100 / u128::from(self.whole)).min(99) as u64;
        if self.told.fetch_max(percent, Ordering::Relaxed) < percent {
            // A reader that has stopped is noticed when the document is written.
            let _ = output::print(|stdout| Ok(writeln!(stdout, "0.{percent:02} reading")?));
        }
    }
}
