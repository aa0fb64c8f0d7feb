//! Why a table cannot be read.

use datafusion::error::DataFusionError;
use isochrone_store::StoreError;

/// Why a table cannot be read. DataFusion carries it as an external error.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Columns do not have the types that they should have.
    #[error("{table}: {source}")]
    Columns {
        /// The table.
        table: String,
        /// What Arrow says.
        source: datafusion::arrow::error::ArrowError,
    },
    /// There are no events of a name.
    #[error("no event in the traces is called `{name}`")]
    UnknownEvent {
        /// The name.
        name: String,
        /// All names.
        known: Vec<String>,
    },
}

impl From<QueryError> for DataFusionError {
    fn from(error: QueryError) -> Self {
        Self::External(Box::new(error))
    }
}
