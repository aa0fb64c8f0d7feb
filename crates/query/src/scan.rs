//! Reading a table piece by piece: the table provider of all tables, and the node of a plan that reads.
//!
//! A [`Table`] chooses its pieces by the conditions of a query. The plan is a unary node, [`ScanExec`], over
//! a list of pieces in memory (one row a piece): a plan is spread over threads or processes by cutting that
//! list, and no piece is read twice.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{Array, RecordBatch, RecordBatchOptions, UInt32Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{
    Boundedness, ChildrenPropertiesMode, EmissionType, ReplaceChildrenOptions,
};
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, Partitioning, PlanProperties,
};
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::Sender;

use crate::pruning::Pruner;
use crate::tables::Named;

/// Rows of a batch that is given out, about.
pub(crate) const BATCH_ROWS: usize = 8192;

/// A part of a table that is read by itself: of a host or trace, perhaps a part of it such as a stream, the
/// items `from..to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) of: u32,
    pub(crate) part: u32,
    pub(crate) from: u32,
    pub(crate) to: u32,
}

/// What of its pieces a query needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Selection {
    /// All that they hold.
    All,
    /// Events of these names.
    Events(Vec<String>),
    /// By host: what overlaps a window of raw time, ns.
    Windows(Vec<Option<isochrone_time::Window<isochrone_time::RawNs>>>),
}

/// The pieces that a query needs.
#[derive(Debug)]
pub(crate) struct Chosen {
    /// Each with its approximate number of bytes.
    pub(crate) pieces: Vec<(Piece, u64)>,
    /// Number of items (packets, batches) of the table.
    pub(crate) all: u64,
    /// What of them.
    pub(crate) selection: Selection,
}

/// A table.
pub(crate) trait Table: fmt::Debug + Send + Sync {
    /// Its columns.
    fn schema(&self) -> SchemaRef;

    /// What a query with these conditions has to read.
    fn choose(&self, pruner: &Pruner) -> Result<Chosen>;

    /// What plans show of it.
    fn describe(&self, selection: &Selection) -> String;

    /// Reads the rows of a piece. `columns`: indices in the schema.
    fn read(
        &self,
        piece: Piece,
        selection: &Selection,
        columns: &[usize],
        out: &mut Output<'_>,
    ) -> Result<()>;
}

/// Where rows go, and what has been read for them.
#[derive(Debug)]
pub(crate) struct Output<'s> {
    sender: &'s Sender<Result<RecordBatch>>,
    schema: SchemaRef,
    items: Count,
    bytes: Count,
    rows: Count,
}

/// No more rows are needed.
#[derive(Debug)]
pub(crate) struct Stopped;

impl Output<'_> {
    /// An item (a packet, a batch of a file) of `bytes` bytes is going to be read.
    pub(crate) fn reads(&self, items: usize, bytes: u64) {
        self.items.add(items);
        self.bytes.add(bytes as usize);
    }

    /// Rows that were looked at (events, rows of a file).
    pub(crate) fn looks_at(&self, rows: usize) {
        self.rows.add(rows);
    }

    /// Gives out rows: the requested columns, `rows` long each.
    pub(crate) fn send(
        &mut self,
        columns: Vec<Arc<dyn Array>>,
        rows: usize,
    ) -> Result<std::result::Result<(), Stopped>> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(SchemaRef::clone(&self.schema), columns, &options)?;
        Ok(self.sender.blocking_send(Ok(batch)).map_err(|_| Stopped))
    }
}

/// A table for DataFusion.
#[derive(Debug)]
pub(crate) struct Provider(pub(crate) Named);

#[async_trait]
impl TableProvider for Provider {
    fn schema(&self) -> SchemaRef {
        self.0.table.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    /// Conditions choose pieces; which rows of these are wanted is decided after.
    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (table, schema) = (Arc::clone(&self.0.table), self.0.table.schema());
        let pruner = Pruner::new(state, &schema, filters)?;
        // A look at the headers of all packets, or at tables of threads.
        let chosen = tokio::task::spawn_blocking(move || table.choose(&pruner)).await;
        let Chosen { pieces, all, selection } = match chosen {
            Ok(chosen) => chosen?,
            Err(error) => return internal_err!("the pieces of a table cannot be chosen: {error}"),
        };
        let partitions = spread(&pieces, state.config().target_partitions());
        let leaf = MemorySourceConfig::try_new_exec(&partitions, piece_schema(), None)?;
        let columns = projection.cloned().unwrap_or_else(|| (0..schema.fields().len()).collect());
        let scanned = Scanned { named: self.0.clone(), selection, columns, all };
        Ok(Arc::new(ScanExec::new(Arc::new(scanned), leaf)?))
    }
}

/// The columns of a piece in a plan.
fn piece_schema() -> SchemaRef {
    let field = |name| Field::new(name, DataType::UInt32, false);
    Arc::new(Schema::new(["of", "part", "from", "to"].map(field).to_vec()))
}

/// Fewer bytes than these are not worth a thread.
const MIN_PARTITION_BYTES: u64 = 1 << 18;

/// Spreads pieces over at most `max` partitions, in their order, by their bytes.
fn spread(pieces: &[(Piece, u64)], max: usize) -> Vec<Vec<RecordBatch>> {
    let total: u64 = pieces.iter().map(|(_, bytes)| bytes).sum();
    let wanted = usize::try_from(total / MIN_PARTITION_BYTES).unwrap_or(max).clamp(1, max.max(1));
    let share = total.div_ceil(wanted as u64).max(1);
    let mut partitions: Vec<Vec<Piece>> = vec![Vec::new(); wanted];
    let mut before = 0;
    for (piece, bytes) in pieces {
        let partition = usize::try_from(before / share).unwrap_or(0).min(wanted - 1);
        partitions[partition].push(*piece);
        before += bytes;
    }
    partitions.into_iter().map(|pieces| vec![batch(&pieces)]).collect()
}

fn batch(pieces: &[Piece]) -> RecordBatch {
    let column = |part: fn(&Piece) -> u32| -> Arc<dyn Array> {
        Arc::new(pieces.iter().map(part).collect::<UInt32Array>())
    };
    let columns = vec![
        column(|piece| piece.of),
        column(|piece| piece.part),
        column(|piece| piece.from),
        column(|piece| piece.to),
    ];
    RecordBatch::try_new(piece_schema(), columns).unwrap_or_else(|_| RecordBatch::new_empty(piece_schema()))
}

/// The pieces of a batch.
fn pieces(batch: &RecordBatch) -> Result<Vec<Piece>> {
    let columns: Option<Vec<&UInt32Array>> =
        batch.columns().iter().map(|column| column.as_any().downcast_ref()).collect();
    let Some([of, part, from, to]) = columns.as_deref().and_then(|columns| columns.first_chunk()) else {
        return internal_err!("a list of pieces has other columns");
    };
    let piece =
        |row| Piece { of: of.value(row), part: part.value(row), from: from.value(row), to: to.value(row) };
    Ok((0..batch.num_rows()).map(piece).collect())
}

/// What of a table is read.
#[derive(Debug)]
pub(crate) struct Scanned {
    /// The table.
    pub(crate) named: Named,
    /// What of its pieces.
    pub(crate) selection: Selection,
    /// Indices in the schema of the table.
    pub(crate) columns: Vec<usize>,
    /// Items of the table in all.
    pub(crate) all: u64,
}

/// Reads the pieces that its input lists.
#[derive(Debug)]
pub(crate) struct ScanExec {
    pub(crate) scanned: Arc<Scanned>,
    input: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl ScanExec {
    /// Reads what `input` lists.
    ///
    /// # Errors
    /// The table has no such columns.
    pub(crate) fn new(scanned: Arc<Scanned>, input: Arc<dyn ExecutionPlan>) -> Result<Self> {
        let schema: SchemaRef = Arc::new(scanned.named.table.schema().project(&scanned.columns)?);
        let partitions = input.output_partitioning().partition_count();
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(SchemaRef::clone(&schema)),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ));
        Ok(Self { scanned, input, schema, properties, metrics: ExecutionPlanMetricsSet::new() })
    }
}

impl DisplayAs for ScanExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<&str> = self.schema.fields().iter().map(|field| field.name().as_str()).collect();
        write!(
            f,
            "ScanExec: {}, columns=[{}]",
            self.scanned.named.table.describe(&self.scanned.selection),
            columns.join(", ")
        )
    }
}

impl ExecutionPlan for ScanExec {
    fn name(&self) -> &'static str {
        "ScanExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    /// Its input is cut as it is: another cut would only cost.
    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let [input] = children.as_slice() else { return internal_err!("ScanExec has one input") };
        Ok(Arc::new(Self::new(Arc::clone(&self.scanned), Arc::clone(input))?))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let count = |name: &'static str| MetricBuilder::new(&self.metrics).counter(name, partition);
        let (items, bytes, rows) = (count("items_read"), count("bytes_read"), count("rows_read"));
        if partition == 0 {
            count("items_in_table").add(self.scanned.all as usize);
        }
        let mut input = self.input.execute(partition, context)?;
        let mut stream = RecordBatchReceiverStream::builder(SchemaRef::clone(&self.schema), 2);
        let (sender, schema) = (stream.tx(), SchemaRef::clone(&self.schema));
        let scanned = Arc::clone(&self.scanned);
        stream.spawn(async move {
            while let Some(listed) = input.next().await {
                let (scanned, sender) = (Arc::clone(&scanned), sender.clone());
                let (schema, items, bytes, rows) =
                    (SchemaRef::clone(&schema), items.clone(), bytes.clone(), rows.clone());
                let listed = pieces(&listed?)?;
                let read = move || {
                    let mut out = Output { sender: &sender, schema, items, bytes, rows };
                    listed.into_iter().try_for_each(|piece| {
                        if out.sender.is_closed() {
                            return Ok(());
                        }
                        scanned.named.table.read(piece, &scanned.selection, &scanned.columns, &mut out)
                    })
                };
                match tokio::task::spawn_blocking(read).await {
                    Ok(done) => done?,
                    Err(error) => return internal_err!("a thread that read a table ended: {error}"),
                }
            }
            Ok(())
        });
        Ok(stream.build())
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}
