//! What metadata mean, kept once for all traces that have the same: the chunks of a rotated session.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use isochrone_diagnostic::Diagnostic;

use super::event_times::TimeRule;
use crate::error::Error;
use crate::metadata::Metadata;
use crate::metadata_text;
use crate::plan::Plan;
use crate::schema::{CUT_OF, Schema};

/// Metadata that were understood before, for opening many traces: those whose metadata are equal as texts
/// share schema and plan. The metadata of a kernel with all its system calls take some megabytes, and a
/// session that is rotated has them in each chunk.
///
/// Everything is kept as long as this is. May be used by several threads at a time.
///
/// ```no_run
/// use isochrone_ctf::{Schemas, Trace, find_traces};
///
/// let schemas = Schemas::default();
/// let found = find_traces("session".as_ref())?;
/// let traces = found.traces.iter().map(|path| Trace::open_with(path, &schemas));
/// let traces = traces.collect::<Result<Vec<_>, _>>()?;
/// # Ok::<(), isochrone_ctf::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Schemas {
    hasher: RandomState,
    /// By the hashes of their texts.
    known: Mutex<HashMap<u64, Vec<Arc<ParsedMetadata>>>>,
}

/// A text of metadata, and what it means.
#[derive(Debug)]
pub(super) struct ParsedMetadata {
    pub(super) text: String,
    pub(super) schema: Schema,
    pub(super) plan: Plan,
    /// By stream class.
    pub(super) time_rules: Vec<TimeRule>,
    /// What is odd about the text. The paths are those of the first file that had it.
    warnings: Vec<Diagnostic>,
}

impl Schemas {
    /// What metadata mean, and what is odd about them and about their file. Linear in the text, also where it
    /// is known.
    pub(super) fn understand(
        &self,
        mut metadata: Metadata,
        path: &Path,
    ) -> Result<(Arc<ParsedMetadata>, Vec<Diagnostic>), Error> {
        let hash = self.hasher.hash_one(&metadata.text);
        let understood = match self.find(hash, &metadata.text) {
            Some(known) => known,
            // Not while others wait: they may have other metadata.
            None => self.keep(hash, ParsedMetadata::new(std::mem::take(&mut metadata.text), path)?),
        };
        metadata.check(&understood.schema, &understood.text);
        let warnings = understood.warnings.iter().cloned();
        let warnings = warnings.map(|warning| Diagnostic { path: path.to_owned(), ..warning });
        let notes = metadata.notes.into_iter().map(|message| Diagnostic::note(path, message));
        let notes = notes.chain(warnings).collect();
        Ok((understood, notes))
    }

    fn find(&self, hash: u64, text: &str) -> Option<Arc<ParsedMetadata>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&hash)?.iter().find(|known| known.text == text).cloned()
    }

    /// Keeps what was understood, unless another thread was faster.
    fn keep(&self, hash: u64, new: ParsedMetadata) -> Arc<ParsedMetadata> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let same_hash = known.entry(hash).or_default();
        if let Some(same) = same_hash.iter().find(|known| known.text == new.text) {
            return Arc::clone(same);
        }
        let new = Arc::new(new);
        same_hash.push(Arc::clone(&new));
        new
    }
}

impl ParsedMetadata {
    fn new(text: String, path: &Path) -> Result<Self, Error> {
        let (schema, mut warnings) = metadata_text::schema(&text, path)?;
        if let Some(words) = schema.environment_text(CUT_OF) {
            warnings.push(Diagnostic::note(path, format!("a part of another trace: {words}")));
        }
        let plan = Plan::compile(&schema);
        let time_rules = schema.streams.iter().map(|class| TimeRule::of(&schema, class)).collect();
        Ok(Self { text, schema, plan, time_rules, warnings })
    }
}
