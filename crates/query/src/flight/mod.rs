//! The tables for other programs: an Arrow Flight SQL server, to which ADBC and JDBC drivers connect.
//!
//! The protocol is that of the library `arrow-flight`; its requests are answered here: statements by
//! [`service`], the catalog by [`catalog`]. A client gets the same tables and functions as the prompt, and
//! can only read. The server keeps nothing for a client: a statement that was prepared travels in its handle
//! ([`prepared`]). Access is decided by [`Door`] and [`Token`].

mod catalog;
mod prepared;
mod service;
mod token;

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;
use arrow_flight::flight_service_server::FlightServiceServer;
use datafusion::execution::context::SessionContext;
use tokio::net::TcpListener;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

use crate::cluster::Door;
use crate::shutdown::ended;
use crate::traced::Traced;
use service::Service;
pub(crate) use token::Token;

/// Answers clients until a signal ends the process: those with a certificate, or with the token where there
/// are no certificates. `ready` is called with the address to connect to, when they can come.
///
/// # Errors
/// The address cannot be listened on, or would let everybody in.
pub(crate) async fn serve(
    context: SessionContext,
    traced: Option<Arc<Traced>>,
    listen: SocketAddr,
    door: &Door,
    token: Token,
    quiet: bool,
    ready: impl FnOnce(&str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    door.guards(listen)?;
    let listener = TcpListener::bind(listen).await.with_context(|| format!("cannot listen on {listen}"))?;
    let listen = listener.local_addr()?;
    let service = Service::new(context, traced, quiet)?;
    // As drivers write it.
    let scheme = if door.is_locked() { "grpc+tls" } else { "grpc" };
    ready(&format!("{scheme}://{listen}"))?;
    door.server(Server::builder())?
        .add_service(FlightServiceServer::with_interceptor(service, move |call| token.check(call)))
        .serve_with_incoming_shutdown(TcpIncoming::from(listener).with_nodelay(Some(true)), ended())
        .await
        .with_context(|| format!("cannot serve on {listen}"))
}
