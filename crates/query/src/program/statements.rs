//! Statements, one after the other.

use std::sync::Arc;

use anyhow::Context;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::context::SessionContext;
use datafusion::sql::parser::{DFParser, Statement};
use isochrone::shared::{self, ExitStatus};
use tokio::runtime::Runtime;

use super::output::Target;
use super::words::explain;
use crate::traced::Traced;

/// What runs statements.
pub(super) struct Asker<'o> {
    pub(super) context: SessionContext,
    pub(super) runtime: Runtime,
    /// The traces, unless a directory of Parquet is asked.
    pub(super) traced: Option<Arc<Traced>>,
    pub(super) target: Target<'o>,
    pub(super) ending: ExitStatus,
    pub(super) quiet: bool,
}

impl Asker<'_> {
    /// Runs all statements of a text, and writes their answers.
    ///
    /// # Errors
    /// One is wrong, or its answer cannot be written. Those before it have been answered.
    pub(super) fn ask_all(&mut self, text: &str) -> anyhow::Result<()> {
        let statements = DFParser::parse_sql(text).map_err(|error| explain(&error, &self.context))?;
        for statement in statements {
            self.ask(statement)?;
        }
        Ok(())
    }

    fn ask(&mut self, statement: Statement) -> anyhow::Result<()> {
        let answer = self.runtime.block_on(answer(&self.context, statement));
        let stream = answer.map_err(|error| explain(&error, &self.context))?;
        let has_columns = !stream.schema().fields().is_empty();
        let batches = Batches { runtime: &self.runtime, context: &self.context, stream };
        if has_columns {
            self.target.write(batches, self.quiet)?;
        } else {
            // What makes a view or sets an option has no answer, but has to be run.
            for batch in batches {
                batch?;
            }
        }
        let lost = self.traced.as_ref().map(|traced| traced.take_complaints()).unwrap_or_default();
        self.ending = self.ending.max(shared::show_lost(&lost, self.quiet));
        Ok(())
    }
}

async fn answer(
    context: &SessionContext,
    statement: Statement,
) -> Result<SendableRecordBatchStream, DataFusionError> {
    let plan = context.state().statement_to_plan(statement).await?;
    context.execute_logical_plan(plan).await?.execute_stream().await
}

/// An answer, batch by batch.
pub(super) struct Batches<'a> {
    runtime: &'a Runtime,
    context: &'a SessionContext,
    pub(super) stream: SendableRecordBatchStream,
}

impl Iterator for Batches<'_> {
    type Item = anyhow::Result<datafusion::arrow::array::RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        use futures::StreamExt;
        let batch = self.runtime.block_on(self.stream.next())?;
        Some(batch.map_err(|error| explain(&error, self.context)).context("the answer is not complete"))
    }
}
