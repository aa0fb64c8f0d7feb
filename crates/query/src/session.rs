//! A session of DataFusion that has the traces as tables, and the functions.

use std::num::NonZeroUsize;
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::execution::context::{SessionConfig, SessionContext};

use crate::events::EventFunction;
use crate::functions;
use crate::scan::Provider;
use crate::tables::{self, Named, TableName};
use crate::traced::Traced;

/// A session on traces. `threads`: number of threads that read; `None`: that of the cores.
///
/// # Errors
/// None in practice: see the tables.
pub fn session(traced: &Arc<Traced>, threads: Option<NonZeroUsize>) -> Result<SessionContext> {
    let mut config = SessionConfig::new().with_information_schema(true);
    if let Some(threads) = threads {
        config = config.with_target_partitions(threads.get());
    }
    let context = SessionContext::new_with_config(config);
    register(&context, traced)?;
    Ok(context)
}

/// Gives a session its tables and functions.
///
/// # Errors
/// None in practice: see the tables.
pub(crate) fn register(context: &SessionContext, traced: &Arc<Traced>) -> Result<()> {
    for name in tables::names() {
        let table = Named::new(traced, TableName::Stored(name.to_owned()))?;
        context.register_table(name, Arc::new(Provider(table)))?;
    }
    context.register_table("events", Arc::new(Provider(Named::new(traced, TableName::Events)?)))?;
    context.register_udtf("events", Arc::new(EventFunction(Arc::clone(traced))));
    for function in functions::all(traced) {
        context.register_udf(function);
    }
    Ok(())
}
