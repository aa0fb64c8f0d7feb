//! `isochrone sql`: hands over to the program `isochrone-sql`, which is built apart because it takes long to build. `on_cluster.rs` calls it, too.

use std::env;
use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::ExitStatus;
use crate::arguments::Sql;

/// The name of the program.
const PROGRAM: &str = "isochrone-sql";

/// Becomes `isochrone-sql`: the one beside this program, else one that PATH has.
///
/// # Errors
/// There is none, or it cannot be started.
pub(crate) fn run(arguments: &Sql, quiet: bool) -> anyhow::Result<ExitStatus> {
    let program = program();
    let quiet = quiet.then_some("--quiet");
    // It comes back only where that fails.
    let error = Command::new(&program).args(quiet).args(&arguments.arguments).exec();
    Err(not_started("isochrone sql", &program, error))
}

/// `isochrone-sql`: the one beside this program, else the one that PATH has.
pub(super) fn program() -> PathBuf {
    let beside = env::current_exe().ok().map(|own| own.with_file_name(PROGRAM));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(PROGRAM))
}

/// Why it cannot be started. `command`: what needs it.
pub(super) fn not_started(command: &str, program: &Path, error: io::Error) -> anyhow::Error {
    match error.kind() {
        ErrorKind::NotFound => anyhow::anyhow!(
            "`{command}` needs the program {PROGRAM}, which is neither beside isochrone nor in PATH; to build and install it, in \
             a copy of the sources: cargo install --path crates/query"
        ),
        _ => anyhow::Error::new(error).context(format!("cannot start {}", program.display())),
    }
}
