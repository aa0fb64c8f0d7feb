//! `isochrone sql`: hands over to the program `isochrone-sql`, which is built apart because it takes long to build.

use std::env;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
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
    let beside = env::current_exe().ok().map(|own| own.with_file_name(PROGRAM));
    let program = beside.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(PROGRAM));
    let quiet = quiet.then_some("--quiet");
    // It comes back only where that fails.
    let error = Command::new(&program).args(quiet).args(&arguments.arguments).exec();
    match error.kind() {
        ErrorKind::NotFound => anyhow::bail!(
            "`isochrone sql` needs the program {PROGRAM}, which is neither beside isochrone nor in PATH; to build and install it, in \
             a copy of the sources: cargo install --path crates/query"
        ),
        _ => Err(anyhow::Error::new(error).context(format!("cannot start {}", program.display()))),
    }
}
