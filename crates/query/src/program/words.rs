//! What is wrong with a statement, in words, with the names that may have been meant.

use anyhow::anyhow;
use datafusion::common::SchemaError;
use datafusion::error::DataFusionError;
use datafusion::execution::context::SessionContext;
use isochrone::shared::{did_you_mean, plain};

use crate::error::QueryError;

/// Explains an error.
pub(crate) fn explain(error: &DataFusionError, context: &SessionContext) -> anyhow::Error {
    match error.find_root() {
        DataFusionError::SchemaError(wrong, _) => match &**wrong {
            SchemaError::FieldNotFound { field, valid_fields } => {
                let known: Vec<&str> = valid_fields.iter().map(|field| field.name.as_str()).collect();
                let near = did_you_mean(&field.name, known.iter().copied());
                let list = match near.is_empty() && !known.is_empty() {
                    true => format!("; there are {}", known.join(", ")),
                    false => near,
                };
                anyhow!("there is no column `{}`{}", plain(&field.name), plain(&list))
            }
            SchemaError::AmbiguousReference { field } => anyhow!(
                "several tables have a column `{0}`: name the one that is meant, as in t.{0}",
                plain(&field.name)
            ),
            other => anyhow!("{}", plain(&other.to_string())),
        },
        DataFusionError::External(source) => match source.downcast_ref::<QueryError>() {
            Some(QueryError::UnknownEvent { name, known }) => anyhow!(
                "no event in the traces is called `{}`{}",
                plain(name),
                plain(&did_you_mean(name, known.iter().map(String::as_str)))
            ),
            _ => anyhow!("{source}"),
        },
        DataFusionError::SQL(wrong, _) => {
            let text = wrong.to_string();
            anyhow!("not SQL that is understood: {}", text.trim_start_matches("sql parser error: "))
        }
        DataFusionError::Plan(text) => of_plan(text, context),
        other => anyhow!("{}", other.message()),
    }
}

/// What could not be planned.
fn of_plan(text: &str, context: &SessionContext) -> anyhow::Error {
    let text = text.split(DataFusionError::BACK_TRACE_SEP).next().unwrap_or(text);
    let named = text.strip_prefix("table '").and_then(|rest| rest.strip_suffix("' not found"));
    if let Some(path) = named {
        let name = path.rsplit('.').next().unwrap_or(path);
        let known = table_names(context);
        let near = did_you_mean(name, known.iter().map(String::as_str));
        let list = if near.is_empty() { "; SHOW TABLES lists all" } else { "" };
        return anyhow!("there is no table `{}`{}{list}", plain(name), plain(&near));
    }
    anyhow!("{text}")
}

/// The names of all tables.
pub(super) fn table_names(context: &SessionContext) -> Vec<String> {
    let catalogs = context.catalog_names().into_iter().filter_map(|name| context.catalog(&name));
    let schemas = catalogs.flat_map(|catalog| {
        let names = catalog.schema_names().into_iter().filter(|name| name != "information_schema");
        names.filter_map(|name| catalog.schema(&name)).collect::<Vec<_>>()
    });
    schemas.flat_map(|schema| schema.table_names()).collect()
}
