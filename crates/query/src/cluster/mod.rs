//! Queries on a cluster: a scheduler, executors on many machines, and a session that uses them, by Ballista.
//!
//! A table travels as its name and where its traces are ([`codec`]); what reads it is the same node as here
//! ([`crate::scan`]), over a list of pieces, and each executor gets a part of them. All machines need the
//! same files at the same paths. Executors fetch their work from the [`mod@scheduler`], so that connections
//! to them are only for their results ([`mod@executor`]). Access is decided in [`door`].

mod codec;
mod door;
mod executor;
mod map;
mod placement;
mod scheduler;

use std::sync::Arc;

use anyhow::Context;
use ballista::prelude::SessionContextExt;
use ballista_core::extension::SessionConfigExt;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::context::{SessionConfig, SessionContext};

use crate::session::register;
use crate::traced::Traced;
use codec::{Known, LogicalCodec, PhysicalCodec};

pub(crate) use door::Door;
pub(crate) use executor::{Executor, executor};
pub(crate) use map::map;
pub(crate) use scheduler::scheduler;

/// The largest message that the parts of a cluster send each other, bytes: a list of the packets of a very
/// large experiment is some of them.
const MAX_MESSAGE_BYTES: u32 = 64 << 20;

/// Plans that change while they run do not recover from the loss of an executor in Ballista 55: the stage
/// that it had is never tried again.
const ADAPTIVE: &str = "ballista.planner.adaptive.enabled";

/// How a session of a cluster is set up, on all of its machines alike.
fn config(known: &Arc<Known>, door: &Door) -> SessionConfig {
    let config = SessionConfig::new_with_ballista()
        .set_bool(ADAPTIVE, false)
        .with_ballista_logical_extension_codec(Arc::new(LogicalCodec::new(known)))
        .with_ballista_physical_extension_codec(Arc::new(PhysicalCodec::new(known)))
        .with_ballista_grpc_client_max_message_size(MAX_MESSAGE_BYTES as usize)
        .with_ballista_use_tls(door.is_locked());
    match door.endpoint() {
        Some(unlock) => config.with_ballista_override_create_grpc_client_endpoint(unlock),
        None => config,
    }
}

/// A session whose questions a cluster answers. `scheduler`: its `HOST:PORT`.
///
/// # Errors
/// The scheduler does not answer.
pub(crate) async fn session(
    traced: &Arc<Traced>,
    scheduler: &str,
    door: &Door,
) -> anyhow::Result<SessionContext> {
    let known = Arc::new(Known::with(traced)?);
    let context = remote(&known, scheduler, door, None).await?;
    // Ballista has replaced all functions by its own.
    register(&context, traced)?;
    Ok(context)
}

/// A session of a cluster without tables. `tasks`: maximum number of parts of a scan; `None`: the number of
/// the cluster.
async fn remote(
    known: &Arc<Known>,
    scheduler: &str,
    door: &Door,
    tasks: Option<usize>,
) -> anyhow::Result<SessionContext> {
    let config = config(known, door);
    let config = match tasks {
        Some(tasks) => config.with_target_partitions(tasks),
        None => config,
    };
    let state = SessionStateBuilder::new().with_config(config).with_default_features().build();
    let scheme = if door.is_locked() { "https" } else { "http" };
    let unreachable = || format!("{scheduler}: no scheduler of a cluster answers there");
    // Ballista connects at the first query, and words the error less well.
    tokio::net::TcpStream::connect(scheduler).await.with_context(unreachable)?;
    SessionContext::remote_with_state(&format!("{scheme}://{scheduler}"), state)
        .await
        .with_context(unreachable)
}
