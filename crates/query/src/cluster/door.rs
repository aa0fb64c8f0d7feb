//! Access to the parts of a cluster: programs on this machine, or those with a certificate that one authority
//! has signed (mutual TLS).
//!
//! What a cluster runs reads files and uses CPU time, so nothing listens beyond this machine without
//! certificates.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use ballista_core::extension::EndpointOverrideFn;
use isochrone::shared::Keys;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity, Server, ServerTlsConfig};

/// What decides which programs may connect.
#[derive(Clone, Default)]
pub(crate) struct Door(Option<Arc<Lock>>);

struct Lock {
    identity: Identity,
    authority: Certificate,
}

impl Door {
    /// As the arguments say.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(crate) fn new(keys: &Keys) -> anyhow::Result<Self> {
        let read =
            |path: &Path| std::fs::read(path).with_context(|| format!("cannot read {}", path.display()));
        let (Some(cert), Some(key), Some(ca)) = (&keys.cert, &keys.key, &keys.ca) else {
            return Ok(Self::default());
        };
        let identity = Identity::from_pem(read(cert)?, read(key)?);
        Ok(Self(Some(Arc::new(Lock { identity, authority: Certificate::from_pem(read(ca)?) }))))
    }

    /// Whether only those with a certificate get in.
    pub(crate) fn is_locked(&self) -> bool {
        self.0.is_some()
    }

    /// That an address may be listened on.
    ///
    /// # Errors
    /// Everybody could connect to it.
    pub(crate) fn guards(&self, listen: SocketAddr) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.is_locked() || listen.ip().is_loopback(),
            "{listen}: others than this machine could connect; to let in those with a certificate, give --cert, --key and --ca"
        );
        Ok(())
    }

    /// A server with this door.
    ///
    /// # Errors
    /// The certificate or the key is none.
    pub(crate) fn server(&self, server: Server) -> anyhow::Result<Server> {
        let Some(lock) = &self.0 else { return Ok(server) };
        let tls = ServerTlsConfig::new()
            .identity(lock.identity.clone())
            .client_ca_root(lock.authority.clone())
            .client_auth_optional(false);
        server.tls_config(tls).context("the certificate or the key cannot be used")
    }

    /// How clients of such servers connect; `None`: as they do.
    pub(crate) fn endpoint(&self) -> Option<EndpointOverrideFn> {
        let lock = Arc::clone(self.0.as_ref()?);
        Some(Arc::new(move |endpoint: Endpoint| {
            let uri = endpoint.uri();
            // An executor calls its scheduler http, whatever the door is.
            let address = format!("https://{}", uri.authority().map_or("", |authority| authority.as_str()));
            let tls =
                ClientTlsConfig::new().identity(lock.identity.clone()).ca_certificate(lock.authority.clone());
            Ok(Endpoint::from_shared(address)?.tcp_nodelay(true).tls_config(tls)?)
        }))
    }
}
