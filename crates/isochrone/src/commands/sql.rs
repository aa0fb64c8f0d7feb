//! `isochrone sql`: runs the program `isochrone-sql`, which is a crate of its own because it takes long to build. `on_cluster.rs` runs it, too.

use std::env;
use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::arguments::Sql;
use crate::output::Console;

/// The name of the program.
const PROGRAM: &str = "isochrone-sql";

/// Replaces this process by [`program`].
///
/// # Errors
/// There is none, or it cannot be started.
pub(crate) fn run(arguments: &Sql, console: &Console) -> anyhow::Result<()> {
    let program = program();
    let quiet = console.is_quiet().then_some("--quiet");
    // It returns only where that fails.
    let error = Command::new(&program).args(quiet).args(&arguments.arguments).exec();
    Err(not_started("isochrone sql", &program, error))
}

/// `isochrone-sql` in the directory of this program, else in PATH.
pub(super) fn program() -> PathBuf {
    let sibling = env::current_exe().ok().map(|own| own.with_file_name(PROGRAM));
    sibling.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(PROGRAM))
}

/// Why it cannot be started. `command`: the command that needs it.
pub(super) fn not_started(command: &str, program: &Path, error: io::Error) -> anyhow::Error {
    match error.kind() {
        ErrorKind::NotFound => anyhow::anyhow!(
            "`{command}` needs the program {PROGRAM}, which is neither in the directory of isochrone nor in PATH; to build and install it, in \
             a copy of the sources: cargo install --path crates/query"
        ),
        _ => anyhow::Error::new(error).context(format!("cannot start {}", program.display())),
    }
}
