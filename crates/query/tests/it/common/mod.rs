//! What several tests need: the two programs, the example's traces, and a cache of their own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// Tables that there have to be.
pub(crate) const TABLES: [&str; 14] = [
    "hosts",
    "threads",
    "thread_states",
    "slices",
    "syscalls",
    "wakeups",
    "irqs",
    "fds",
    "sockets",
    "block_requests",
    "packets",
    "messages",
    "phases",
    "events",
];

/// The questions of `docs/sql.md` by their numbers.
pub(crate) fn questions() -> BTreeMap<u32, String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sql.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, cookbook) = page.split_once("\n## Twenty questions\n").unwrap();
    let parts = cookbook.split("\n### ").skip(1);
    let question = |part: &str| {
        let (number, rest) = part.split_once(". ").unwrap();
        let (_, code) = rest.split_once("```sql\n").unwrap();
        (number.parse().unwrap(), code.split_once("```").unwrap().0.to_owned())
    };
    let questions: BTreeMap<u32, String> = parts.map(question).collect();
    assert_eq!(questions.keys().copied().collect::<Vec<_>>(), (1..=20).collect::<Vec<_>>());
    questions
}

/// The queries of `docs/sql.md` for pictures: lives of processes, requests to disks.
pub(crate) fn for_pictures() -> [String; 2] {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sql.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, part) = page.split_once("\n## For pictures\n").unwrap();
    let (part, _) = part.split_once("\n## ").unwrap();
    let queries = part.split("```sql\n").skip(1).map(|code| code.split_once("```").unwrap().0.to_owned());
    queries.collect::<Vec<_>>().try_into().unwrap()
}

/// A cache in which stores are built, which ends with the test.
pub(crate) struct Here {
    directory: TempDir,
}

/// Where the programs are built.
fn programs() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_isochrone-sql")).parent().unwrap().to_owned()
}

/// The example's traces.
pub(crate) fn shop() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop").canonicalize().unwrap()
}

impl Here {
    pub(crate) fn new() -> Self {
        Self { directory: TempDir::new().unwrap() }
    }

    /// A path below the test's directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn run(&self, program: &Path, arguments: &[&str], input: &str) -> Output {
        let mut command = Command::new(program);
        command.env("XDG_CACHE_HOME", self.path("cache")).env("XDG_STATE_HOME", self.path("state"));
        command.env_remove("COLUMNS").args(arguments).write_stdin(input);
        command.output().unwrap()
    }

    /// Runs `isochrone-sql`, which reads `input`.
    pub(crate) fn sql_with(&self, arguments: &[&str], input: &str) -> Output {
        self.run(Path::new(env!("CARGO_BIN_EXE_isochrone-sql")), arguments, input)
    }

    /// Runs `isochrone-sql`.
    pub(crate) fn sql(&self, arguments: &[&str]) -> Output {
        self.sql_with(arguments, "")
    }

    /// Runs `isochrone` where it finds `isochrone-sql`.
    pub(crate) fn isochrone_beside(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(programs().join("examples/isochrone"));
        command.env("XDG_CACHE_HOME", self.path("cache")).env("PATH", programs());
        command.env_remove("COLUMNS").args(arguments).output().unwrap()
    }

    /// Runs `isochrone`: the example of this package is the same program.
    pub(crate) fn isochrone(&self, arguments: &[&str]) -> Output {
        self.run(&programs().join("examples/isochrone"), arguments, "")
    }

    /// The rows that a query of the example answers.
    pub(crate) fn rows(&self, query: &str) -> Vec<Value> {
        let shop = shop();
        let output = self.sql(&["-q", "--format", "json", "-c", query, shop.to_str().unwrap()]);
        rows_of(&output, query)
    }
}

/// The rows of an answer in JSON.
pub(crate) fn rows_of(output: &Output, query: &str) -> Vec<Value> {
    assert!(output.status.success(), "{query}\n{}", text(&output.stderr));
    match serde_json::from_slice(&output.stdout) {
        Ok(Value::Array(rows)) => rows,
        other => panic!("{query}\n{other:?}\n{}", text(&output.stdout)),
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A certificate for this machine, and who signed it: the options that name their files.
pub(crate) fn certificates(here: &Here, name: &str) -> Vec<String> {
    let directory = here.path(name);
    std::fs::create_dir(&directory).unwrap();
    let mut authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority_key = rcgen::KeyPair::generate().unwrap();
    let authority_certificate = authority.self_signed(&authority_key).unwrap();
    let issuer = rcgen::Issuer::new(authority, authority_key);
    let key = rcgen::KeyPair::generate().unwrap();
    let machine = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = machine.signed_by(&key, &issuer).unwrap();
    let write = |file: &str, contents: String| {
        let path = directory.join(file);
        std::fs::write(&path, contents).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let files = [
        ("--cert", write("cert.pem", certificate.pem())),
        ("--key", write("key.pem", key.serialize_pem())),
        ("--ca", write("ca.pem", authority_certificate.pem())),
    ];
    files.into_iter().flat_map(|(option, file)| [option.to_owned(), file]).collect()
}
