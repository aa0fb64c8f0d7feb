//! What can be typed, and the help that teaches it.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use isochrone::shared::{Clock, Keys};

/// Asks traces of many Linux hosts in SQL, all on one clock.
#[derive(Debug, Parser)]
#[command(
    name = "isochrone-sql",
    version,
    max_term_width = 100,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    subcommand_value_name = "PART",
    subcommand_help_heading = "Parts of a cluster",
    disable_help_subcommand = true,
    after_help = "Examples:\n  \
        isochrone-sql web/ app/ db/                                        a prompt\n  \
        isochrone-sql -c 'SELECT * FROM hosts' web/ app/ db/               one answer\n  \
        isochrone-sql -c \"SELECT next_comm, count(*) FROM events('sched_switch') GROUP BY 1\" web/\n  \
        isochrone-sql --file q.sql --format csv web/ app/ db/ > answer.csv\n  \
        isochrone-sql -c 'SELECT * FROM syscalls' -o calls.parquet web/    for pandas, polars, DuckDB\n  \
        isochrone-sql --parquet shop/ web/ app/ db/                        all tables, for DuckDB, Spark\n  \
        isochrone-sql -c 'SELECT * FROM hosts' s3://traces/shop            of these, in a bucket\n  \
        isochrone-sql --listen 127.0.0.1:31337 web/ app/ db/               for ADBC and JDBC drivers\n  \
        isochrone-sql scheduler & isochrone-sql executor &                 a cluster of one machine\n  \
        isochrone-sql --cluster 127.0.0.1:50050 -c 'SELECT …' web/         asks it\n\n\
        SHOW TABLES lists the tables, DESCRIBE syscalls the columns of one. `isochrone sql` is the same. What can be asked is in docs/sql.md, \
        with answers to 20 questions.\n\n\
        Exit status: 0 done; 1 done in part (something was refused, or hosts fall into islands); 2 wrong usage or SQL, nothing could \
        be read, or a result cannot be written."
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) part: Option<Part>,
    /// Traces of the hosts, or a store of them; or what --parquet wrote: a directory, or `s3://BUCKET/PREFIX`
    #[arg(required = true, value_name = "TRACE")]
    pub(super) traces: Vec<PathBuf>,
    /// What to ask; several statements are separated by `;` [default: a prompt, or what stdin says]
    #[arg(long = "command", short = 'c', value_name = "SQL")]
    pub(super) commands: Vec<String>,
    /// A file with statements, which are asked before those of -c
    #[arg(long = "file", short = 'f', value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// How answers are written [default: by the name of the file of -o, else table]
    #[arg(long, value_name = "FORMAT")]
    pub(super) format: Option<Format>,
    /// Where answers go [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Write all tables as Parquet, by host and day, to this directory; it replaces what was written so, and
    /// nothing else
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["commands", "files", "format", "output", "listen", "cluster"]
    )]
    pub(super) parquet: Option<PathBuf>,
    /// Write the table `events` as well, which takes many times the room of all others
    #[arg(long, requires = "parquet")]
    pub(super) events: bool,
    #[command(flatten)]
    pub(super) clock: Clock,
    /// The store to use, built by `isochrone index -o` [default: in the cache, built if it is missing or
    /// stale]
    #[arg(long, value_name = "DIR")]
    pub(super) store: Option<PathBuf>,
    /// Let a cluster answer: the HOST:PORT of its scheduler, whose executors find the traces and their store
    /// at the same paths
    #[arg(long, value_name = "HOST:PORT")]
    pub(super) cluster: Option<String>,
    /// Answer other programs by Arrow Flight SQL, to which ADBC and JDBC drivers connect, until interrupted;
    /// this machine's programs need the token that is printed, others need --cert
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with_all = ["commands", "files", "format", "output"])]
    pub(super) listen: Option<SocketAddr>,
    /// Let in all programs of this machine, whoever's they are, without the token that is printed
    #[arg(long, requires = "listen")]
    pub(super) no_token: bool,
    #[command(flatten)]
    pub(super) keys: Keys,
    /// How many cores to use [default: all]
    #[arg(long, value_name = "N")]
    pub(super) threads: Option<NonZeroUsize>,
    /// Print results only: no notes, no progress
    #[arg(long, short)]
    pub(super) quiet: bool,
}

/// A part of a cluster that answers questions.
#[derive(Debug, Subcommand)]
pub(super) enum Part {
    /// Plan what is asked with --cluster, and give executors their parts
    Scheduler {
        /// Where to listen; addresses of other machines need --cert
        #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50050")]
        listen: SocketAddr,
        /// How others reach this machine [default: the address of --listen]
        #[arg(long, value_name = "HOST")]
        name: Option<String>,
        /// How long executors keep what they have made for a question after it was answered, in seconds:
        /// answers have to be fetched by then
        #[arg(long, value_name = "SECONDS", default_value_t = 300)]
        keep: u64,
        #[command(flatten)]
        keys: Keys,
    },
    /// Have pieces of traces mapped, and write them to files: what `isochrone analyze --cluster` asks
    #[command(hide = true)]
    Map {
        /// The scheduler
        #[arg(long, value_name = "HOST:PORT")]
        cluster: String,
        #[command(flatten)]
        keys: Keys,
        /// What is to be mapped
        #[arg(value_name = "FILE")]
        mapping: PathBuf,
        /// Where the pieces go
        #[arg(long, value_name = "DIR")]
        output: PathBuf,
    },
    /// Read pieces of traces and stores for a scheduler
    Executor {
        /// The scheduler
        #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
        scheduler: String,
        /// Where others fetch what it has made; addresses of other machines need --cert
        #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50051")]
        listen: SocketAddr,
        /// How others reach this machine [default: the address of --listen]
        #[arg(long, value_name = "HOST")]
        name: Option<String>,
        /// How many cores to use [default: all]
        #[arg(long, value_name = "N")]
        cores: Option<NonZeroUsize>,
        /// Where it keeps what it has made until others have fetched it, and a while longer [default: a
        /// temporary directory]
        #[arg(long, value_name = "DIR")]
        work: Option<PathBuf>,
        #[command(flatten)]
        keys: Keys,
    },
}

/// How answers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people: as wide as the terminal
    Table,
    /// Comma-separated values with a header
    Csv,
    /// One array of objects for each answer
    Json,
    /// One object a line
    Jsonl,
    /// Apache Parquet
    Parquet,
    /// Apache Arrow IPC (a file; to stdout, a stream)
    Arrow,
}

impl Format {
    /// The format of the name of a file.
    pub(super) fn of_name(name: &std::path::Path) -> Option<Self> {
        Some(match name.extension()?.to_str()? {
            "csv" => Self::Csv,
            "json" => Self::Json,
            "jsonl" | "ndjson" => Self::Jsonl,
            "parquet" => Self::Parquet,
            "arrow" | "feather" => Self::Arrow,
            "txt" => Self::Table,
            _ => return None,
        })
    }

    /// Whether one file holds one answer, and no text.
    pub(super) fn is_binary(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow)
    }
}
