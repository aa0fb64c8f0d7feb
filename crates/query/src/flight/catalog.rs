//! What there is to ask, for clients that list it: catalogs, schemas, tables, and what the server can do.

use arrow_flight::error::FlightError;
use arrow_flight::sql::metadata::{SqlInfoData, SqlInfoDataBuilder};
use arrow_flight::sql::{
    CommandGetCatalogs, CommandGetDbSchemas, CommandGetTableTypes, CommandGetTables, SqlInfo,
    SqlSupportedTransaction,
};
use datafusion::arrow::array::RecordBatch;
use datafusion::datasource::TableType;
use datafusion::execution::context::SessionContext;

use crate::program::PROGRAM;

/// All kinds of tables that DataFusion has.
const TABLE_TYPES: [TableType; 3] = [TableType::Base, TableType::View, TableType::Temporary];

/// What drivers call a kind of tables.
fn name_of(kind: TableType) -> &'static str {
    match kind {
        TableType::Base => "TABLE",
        TableType::View => "VIEW",
        TableType::Temporary => "LOCAL TEMPORARY",
    }
}

/// What the server is.
///
/// # Errors
/// None in practice.
pub(super) fn server() -> Result<SqlInfoData, FlightError> {
    let mut facts = SqlInfoDataBuilder::new();
    facts.append(SqlInfo::FlightSqlServerName, PROGRAM);
    facts.append(SqlInfo::FlightSqlServerVersion, env!("CARGO_PKG_VERSION"));
    facts.append(SqlInfo::FlightSqlServerReadOnly, true);
    facts.append(SqlInfo::FlightSqlServerSql, true);
    facts.append(SqlInfo::FlightSqlServerSubstrait, false);
    facts.append(SqlInfo::FlightSqlServerTransaction, SqlSupportedTransaction::None as i32);
    facts.append(SqlInfo::FlightSqlServerCancel, false);
    facts.append(SqlInfo::FlightSqlServerBulkIngestion, false);
    facts.append(SqlInfo::SqlIdentifierQuoteChar, "\"");
    facts.build()
}

/// The catalogs of a session.
pub(super) fn catalogs(
    context: &SessionContext,
    command: CommandGetCatalogs,
) -> Result<RecordBatch, FlightError> {
    let mut rows = command.into_builder();
    for catalog in context.catalog_names() {
        rows.append(catalog);
    }
    rows.build()
}

/// The schemas of the catalogs.
pub(super) fn schemas(
    context: &SessionContext,
    command: CommandGetDbSchemas,
) -> Result<RecordBatch, FlightError> {
    let mut rows = command.into_builder();
    for (catalog, schema) in all_schemas(context) {
        rows.append(catalog, schema);
    }
    rows.build()
}

/// The tables of the schemas, with their columns where they are asked for.
pub(super) async fn tables(
    context: &SessionContext,
    command: CommandGetTables,
) -> Result<RecordBatch, FlightError> {
    let mut rows = command.into_builder();
    for (catalog, schema) in all_schemas(context) {
        let Some(provider) = context.catalog(&catalog).and_then(|provider| provider.schema(&schema)) else {
            continue;
        };
        for name in provider.table_names() {
            let table =
                provider.table(&name).await.map_err(|error| FlightError::ExternalError(error.into()))?;
            if let Some(table) = table {
                rows.append(&catalog, &schema, &name, name_of(table.table_type()), &table.schema())?;
            }
        }
    }
    rows.build()
}

/// The kinds of tables.
pub(super) fn table_types(command: CommandGetTableTypes) -> Result<RecordBatch, FlightError> {
    let mut rows = command.into_builder();
    for kind in TABLE_TYPES {
        rows.append(name_of(kind));
    }
    rows.build()
}

/// All schemas with the names of their catalogs.
fn all_schemas(context: &SessionContext) -> impl Iterator<Item = (String, String)> + use<'_> {
    context.catalog_names().into_iter().flat_map(|catalog| {
        let names = context.catalog(&catalog).map(|provider| provider.schema_names()).unwrap_or_default();
        names.into_iter().map(move |schema| (catalog.clone(), schema))
    })
}
