//! Reads the tables of a directory of Parquet, on a disk or in a bucket: no traces and no store are needed.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, StringArray};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::config::TableParquetOptions;
use datafusion::common::{Result, ScalarValue};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::execution::context::{SessionConfig, SessionContext};
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::prefix::PrefixStore;
use object_store::{ObjectStore, ObjectStoreExt, RetryConfig};

use super::manifest::{self, Manifest};
use super::shape::Shape;
use crate::functions;
use crate::pruning::{Pruner, Ranges};

/// What addresses of directories in a bucket begin with.
const BUCKETS: &str = "s3://";

/// What a session calls the directory.
const URL: &str = "isochrone://parquet";

/// How often a request to a bucket is made again.
const TRIES: usize = 4;

/// How long one is made again.
const PATIENCE: Duration = Duration::from_secs(30);

/// Whether a path names a directory of Parquet: one in a bucket, or one with a list of its files.
pub(crate) fn is_one(path: &Path) -> bool {
    in_bucket(path).is_some() || path.join(manifest::FILE).is_file()
}

/// The bucket of an address, and what names in it begin with: `traces` and `shop` of `s3://traces/shop`.
/// `None` of a path on a disk.
pub(super) fn in_bucket(path: &Path) -> Option<(&str, &str)> {
    let address = path.to_str()?.strip_prefix(BUCKETS)?;
    Some(address.split_once('/').unwrap_or((address, "")))
}

/// The files of a directory, or the objects of a bucket; the environment has how it is reached.
fn store(path: &Path) -> anyhow::Result<Arc<dyn ObjectStore>> {
    let Some((bucket, prefix)) = in_bucket(path) else {
        return Ok(Arc::new(LocalFileSystem::new_with_prefix(path)?));
    };
    anyhow::ensure!(!bucket.is_empty(), "the address of a bucket is s3://BUCKET/PREFIX");
    let retry = RetryConfig { max_retries: TRIES, retry_timeout: PATIENCE, ..RetryConfig::default() };
    let store = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry).build()?;
    Ok(Arc::new(PrefixStore::new(store, ObjectPath::parse(prefix)?)))
}

/// A directory of Parquet, with the list of its files.
pub(crate) struct Directory {
    store: Arc<dyn ObjectStore>,
    shown: String,
    manifest: Manifest,
}

impl Directory {
    /// Opens one: reads the list of its files.
    ///
    /// # Errors
    /// It cannot be reached, or has no list of its files.
    pub(crate) async fn open(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display().to_string();
        let store = store(path).with_context(|| format!("cannot read {shown}"))?;
        let list = async {
            // An error of a store has its sources in its own words.
            let words = |error: object_store::Error| anyhow::anyhow!("{error}");
            let found = store.get(&ObjectPath::from(manifest::FILE)).await.map_err(words)?;
            let size = found.meta.size;
            anyhow::ensure!(size <= manifest::MAX_BYTES, "it has {size} bytes, which no list of files has");
            Manifest::of_text(&found.bytes().await.map_err(words)?)
        };
        let manifest = list.await.with_context(|| {
            format!("cannot read {} of {shown}, which `isochrone index --parquet` writes", manifest::FILE)
        })?;
        Ok(Self { store, shown, manifest })
    }

    /// A session that has its tables, and the functions that need no clocks. `threads`: number of threads
    /// that read; `None`: that of the cores.
    ///
    /// # Errors
    /// Its tables are those of another version, or a path in its list is none.
    pub(crate) fn session(&self, threads: Option<NonZeroUsize>) -> anyhow::Result<SessionContext> {
        let mut config = SessionConfig::new().with_information_schema(true);
        if let Some(threads) = threads {
            config = config.with_target_partitions(threads.get());
        }
        let context = SessionContext::new_with_config(config);
        let url = ObjectStoreUrl::parse(URL)?;
        context.register_object_store(url.as_ref(), Arc::clone(&self.store));
        for (shape, table) in self.manifest.shapes().with_context(|| self.shown.clone())? {
            let mut files = Vec::with_capacity(table.files.len());
            for file in &table.files {
                let mut read = PartitionedFile::new(String::new(), file.bytes);
                // As it is: it is encoded already, and must not lead out of the directory.
                read.object_meta.location =
                    ObjectPath::parse(&file.path).with_context(|| self.shown.clone())?;
                read.partition_values = vec![ScalarValue::Utf8(file.host.clone())];
                files.push(read);
            }
            let name = shape.name;
            let columns = TableSchema::builder(shape.file_schema())
                .with_table_partition_cols(vec![shape.key_field()])
                .build();
            let table = ParquetTable { url: url.clone(), shape, columns, files };
            context.register_table(name, Arc::new(table))?;
        }
        for function in functions::without_clocks() {
            context.register_udf(function);
        }
        Ok(context)
    }
}

/// A table of a directory.
struct ParquetTable {
    url: ObjectStoreUrl,
    shape: Shape,
    /// The columns as files have them: the first, which is in their paths, is the last.
    columns: TableSchema,
    files: Vec<PartitionedFile>,
}

impl fmt::Debug for ParquetTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParquetTable").field("shape", &self.shape).finish_non_exhaustive()
    }
}

#[async_trait]
impl TableProvider for ParquetTable {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.shape.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    /// Conditions choose files, row groups and pages; which rows of these are wanted is decided after.
    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let pruner = Pruner::new(state, &self.shape.schema, filters)?;
        let host = |file: &PartitionedFile| match file.partition_values.first() {
            Some(ScalarValue::Utf8(host)) => host.clone(),
            _ => None,
        };
        let hosts: ArrayRef = Arc::new(self.files.iter().map(host).collect::<StringArray>());
        let kept = pruner.kept(&Ranges::of(self.files.len()).with(self.shape.key, Arc::clone(&hosts), hosts));
        let kept = self.files.iter().zip(kept).filter(|(_, kept)| *kept);
        let kept: Vec<PartitionedFile> = kept.map(|(file, _)| file.clone()).collect();
        let all = self.shape.schema.fields().len();
        let columns = projection.cloned().unwrap_or_else(|| (0..all).collect());
        if kept.is_empty() {
            return Ok(Arc::new(EmptyExec::new(Arc::new(self.shape.schema.project(&columns)?))));
        }
        let options = TableParquetOptions {
            global: state.config_options().execution.parquet.clone(),
            ..TableParquetOptions::default()
        };
        let source = ParquetSource::new(self.columns.clone()).with_table_parquet_options(options);
        let in_file = columns.into_iter().map(|column| column.checked_sub(1).unwrap_or(all - 1)).collect();
        let scan = FileScanConfigBuilder::new(self.url.clone(), Arc::new(source))
            .with_file_groups(FileGroup::new(kept).split_files(state.config().target_partitions()))
            .with_projection_indices(Some(in_file))?
            .with_limit(limit)
            .build();
        Ok(DataSourceExec::from_data_source(scan))
    }
}
