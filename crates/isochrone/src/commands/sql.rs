//! `isochrone sql`: runs the program `isochrone-sql`, which is a crate of its own because it takes long to
//! build. `isochrone index --parquet` and `on_cluster.rs` run it, too.

use std::env;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::arguments::{Index, Sql};
use crate::output::Console;

/// The name of the program.
const PROGRAM: &str = "isochrone-sql";

/// Replaces this process by [`program`].
///
/// # Errors
/// There is none, or it cannot be started.
pub(crate) fn run(arguments: &Sql, console: &Console) -> anyhow::Result<()> {
    Err(replaced("isochrone sql", &arguments.arguments, console))
}

/// `isochrone index --parquet`: replaces this process by [`program`], which knows the tables.
///
/// # Errors
/// There is none, or it cannot be started.
pub(super) fn write_parquet(arguments: &Index, directory: &Path, console: &Console) -> anyhow::Result<()> {
    let mut options: Vec<OsString> = vec!["--parquet".into(), directory.into()];
    options.extend(arguments.events.then(|| "--events".into()));
    options.extend(arguments.no_sync.then(|| "--no-sync".into()));
    if let Some(sync) = &arguments.sync {
        options.extend(["--sync".into(), sync.into()]);
    }
    if let Some(threads) = arguments.threads {
        options.extend(["--threads".into(), threads.to_string().into()]);
    }
    options.push("--".into());
    options.extend(arguments.traces.iter().map(OsString::from));
    Err(replaced("isochrone index --parquet", &options, console))
}

/// Replaces this process by [`program`]; returns why that fails. `command`: the command that needs it.
fn replaced(command: &str, arguments: &[OsString], console: &Console) -> anyhow::Error {
    let program = program();
    let quiet = console.is_quiet().then_some("--quiet");
    let error = Command::new(&program).args(quiet).args(arguments).exec();
    not_started(command, &program, error)
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
