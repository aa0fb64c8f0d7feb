//! The prompt: a person types statements, which may have several lines and end with `;`.

use std::path::PathBuf;

use anyhow::Context as _;
use isochrone::shared;
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Editor, Helper};

use super::PROGRAM;
use super::statements::Asker;
use super::words::table_names;

/// What can be typed besides SQL.
const HELP: &str = "Statements end with `;` and may have several lines. Tab completes names of tables and columns.\n\
    SHOW TABLES;             the tables\n\
    DESCRIBE syscalls;       the columns of one\n\
    SELECT * FROM hosts;     what is known of the hosts and their clocks\n\
    help, quit";

/// Runs what a person types, until the end of the input. Errors are printed, and the next statement follows.
///
/// # Errors
/// The terminal cannot be used.
pub(super) fn run(asker: &mut Asker<'_>) -> anyhow::Result<()> {
    let mut editor: Editor<Names, FileHistory> = Editor::new().context("the terminal cannot be used")?;
    editor.set_helper(Some(Names::new(asker)));
    let history = history_file();
    if let Some(path) = &history {
        // There is none the first time.
        let _ = editor.load_history(path);
    }
    loop {
        let line = match editor.readline("isochrone> ") {
            Ok(line) => line,
            // What was typed is given up.
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error).context("the terminal cannot be read"),
        };
        let text = line.trim();
        match text.trim_end_matches(';').trim().to_lowercase().as_str() {
            "" => continue,
            "quit" | "exit" | "\\q" => break,
            "help" | "\\?" | "\\h" => {
                shared::print(|out| Ok(std::io::Write::write_all(out, format!("{HELP}\n").as_bytes())?))?;
                continue;
            }
            _ => {}
        }
        // A history that cannot be kept is no reason to stop.
        let _ = editor.add_history_entry(text);
        if let Err(error) = asker.ask_all(text) {
            shared::complain(PROGRAM, &error);
        }
    }
    if let Some(path) = history {
        let _ = path.parent().map(std::fs::create_dir_all);
        let _ = editor.save_history(&path);
    }
    Ok(())
}

/// Where the history is kept: `$XDG_STATE_HOME/isochrone`, else `~/.local/state/isochrone`.
fn history_file() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")))?;
    Some(state.join("isochrone").join("sql-history"))
}

/// Names that Tab completes, and where a statement ends.
struct Names(Vec<String>);

impl Names {
    fn new(asker: &Asker<'_>) -> Self {
        let mut names = table_names(&asker.context);
        let providers = names
            .clone()
            .into_iter()
            .filter_map(|name| asker.runtime.block_on(asker.context.table_provider(name)).ok());
        let schemas: Vec<_> = providers.map(|table| table.schema()).collect();
        names.extend(schemas.iter().flat_map(|schema| schema.fields()).map(|field| field.name().clone()));
        names.sort_unstable();
        names.dedup();
        Self(names)
    }
}

impl Completer for Names {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = line.get(..position).unwrap_or_default();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let begin = before.rfind(|c| !is_part(c)).map_or(0, |at| at + 1);
        let word = before.get(begin..).unwrap_or_default().to_lowercase();
        let fits = self.0.iter().filter(|name| !word.is_empty() && name.starts_with(&word));
        let pair = |name: &String| Pair { display: name.clone(), replacement: name.clone() };
        Ok((begin, fits.map(pair).collect()))
    }
}

impl Validator for Names {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let text = context.input().trim();
        let is_word = ["", "quit", "exit", "help", "\\q", "\\?", "\\h"].contains(&text);
        Ok(match is_word || text.ends_with(';') {
            true => ValidationResult::Valid(None),
            false => ValidationResult::Incomplete,
        })
    }
}

impl Hinter for Names {
    type Hint = String;
}
impl Highlighter for Names {}
impl Helper for Names {}
