//! Where a cluster is that does the work, and by what it is let in.

use std::path::PathBuf;

use clap::Args;

/// The files of a machine's certificate, in PEM.
#[derive(Debug, Clone, Default, Args)]
pub struct Keys {
    /// The certificate of this machine, PEM; with it, all connections of a cluster are encrypted, and none is accepted without one
    #[arg(long, value_name = "FILE", requires_all = ["key", "ca"], help_heading = "Cluster")]
    pub cert: Option<PathBuf>,
    /// The private key of the certificate, PEM
    #[arg(long, value_name = "FILE", requires = "cert", help_heading = "Cluster")]
    pub key: Option<PathBuf>,
    /// The authority that has signed the certificates of all machines of the cluster, PEM
    #[arg(long, value_name = "FILE", requires = "cert", help_heading = "Cluster")]
    pub ca: Option<PathBuf>,
}

/// A cluster that maps pieces of traces.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Cluster {
    /// Let a cluster read the traces: the HOST:PORT of its scheduler (`isochrone-sql scheduler`), whose executors find the traces at the same
    /// paths; the result is the same
    #[arg(long, value_name = "HOST:PORT", help_heading = "Cluster")]
    pub(crate) cluster: Option<String>,
    #[command(flatten)]
    pub(crate) keys: Keys,
}

impl Cluster {
    /// The options by which `isochrone-sql` is told the same.
    pub(crate) fn options(&self) -> Vec<std::ffi::OsString> {
        let Self { cluster, keys: Keys { cert, key, ca } } = self;
        let mut options = Vec::new();
        if let Some(cluster) = cluster {
            options.extend(["--cluster".into(), cluster.into()]);
        }
        for (option, file) in [("--cert", cert), ("--key", key), ("--ca", ca)] {
            if let Some(file) = file {
                options.extend([option.into(), file.into()]);
            }
        }
        options
    }
}
