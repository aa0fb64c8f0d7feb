//! `isochrone-sql --listen`, asked by Arrow's own ADBC driver for Flight SQL: the questions of `docs/sql.md`, what drivers list, parameters, what
//! is refused, certificates. Needs Python's `adbc_driver_flightsql` and `pyarrow`.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::common::{Here, TABLES, certificates, questions, shop, text};

/// A server that ends with the test.
struct Server {
    process: Child,
    address: String,
    /// What drivers send as `authorization`.
    line: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    fn new(here: &Here, arguments: &[String]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_isochrone-sql"))
            .env("XDG_CACHE_HOME", here.path("cache"))
            .args(["-q", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .arg(shop())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("Flight SQL on ").unwrap_or_else(|| panic!("{line}"));
        let (address, line) = address.split_once(", authorization: ").unwrap_or((address, ""));
        Self { address: address.to_owned(), line: line.to_owned(), process }
    }
}

/// What a script prints, which is given the address of the server and other arguments.
fn python(script: &str, arguments: &[&str]) -> String {
    let output = Command::new("python3").args(["-c", script]).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// Asks all questions of a file by several connections at once, and compares each answer with a file.
const QUESTIONS: &str = r#"
import concurrent.futures, json, sys
import adbc_driver_flightsql.dbapi as flight, pyarrow as pa
address, questions = sys.argv[1], json.load(open(sys.argv[2]))
same = []
def rows(table):
    # Rows come in no order that is not asked for, and floats of a sum depend on it.
    show = lambda value: f"{value:.9g}" if isinstance(value, float) else str(value)
    ns = lambda column: column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column
    return sorted(zip(*([show(value) for value in ns(column).to_pylist()] for column in table.columns)))
def ask():
    with flight.connect(address, db_kwargs={"adbc.flight.sql.authorization_header": sys.argv[3]}) as connection, connection.cursor() as cursor:
        for sql, path in questions:
            cursor.execute(sql)
            answer = cursor.fetch_arrow_table()
            expect = pa.ipc.open_file(path).read_all()
            assert answer.schema.names == expect.schema.names, (sql, answer.schema, expect.schema)
            assert answer.schema.types == expect.schema.types, (sql, answer.schema, expect.schema)
            assert rows(answer) == rows(expect), sql
            same.append(sql)
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    for done in [pool.submit(ask) for _ in range(4)]:
        done.result()
print(len(same))
"#;

#[test]
#[ignore = "takes long: `.ci/nightly sql`"]
fn a_driver_gets_the_answers_of_the_program() {
    let here = Here::new();
    let mut all = Vec::new();
    for (number, question) in questions() {
        let file = here.path(&format!("{number}.arrow"));
        let (file, shop) = (file.to_str().unwrap(), shop());
        let output = here.sql(&["-q", "-c", &question, "-o", file, shop.to_str().unwrap()]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let question = question.trim().trim_end_matches(';').to_owned();
        all.push((question, file.to_owned()));
    }
    let list = here.path("questions.json");
    std::fs::write(&list, serde_json::to_vec(&all).unwrap()).unwrap();
    let server = Server::new(&here, &[]);
    let said = python(QUESTIONS, &[&server.address, list.to_str().unwrap(), &server.line]);
    assert_eq!(said.trim(), "80");
}

/// What drivers list, parameters, and what is refused.
const DRIVER: &str = r#"
import json, sys
import adbc_driver_flightsql.dbapi as flight
connection = flight.connect(sys.argv[1], db_kwargs={"adbc.flight.sql.authorization_header": sys.argv[2]})
cursor = connection.cursor()
info = connection.adbc_get_info()
print(info["vendor_name"])
catalogs = connection.adbc_get_objects(depth="columns").read_all().to_pylist()
tables = {
    table["table_name"]: [column["column_name"] for column in table["table_columns"]]
    for catalog in catalogs for schema in catalog["catalog_db_schemas"]
    if schema["db_schema_name"] == "public" for table in schema["db_schema_tables"]
}
print(json.dumps(tables))
print(json.dumps(connection.adbc_get_table_types()))
print(connection.adbc_get_table_schema("slices").names[0])
def one(sql, parameters=None):
    cursor.execute(sql, parameters)
    return cursor.fetchone()[0]
assert one("SELECT count(*) FROM syscalls WHERE name = $1", ["read"]) == one("SELECT count(*) FROM syscalls WHERE name = 'read'")
both = one("SELECT count(*) FROM syscalls WHERE name = $1 AND duration_ns > $2", ["read", 100000])
assert 0 < both < one("SELECT count(*) FROM syscalls WHERE name = 'read'"), both
assert one("SELECT common_time('h1', begin_time_raw) = begin_time FROM slices WHERE host = 'h1' LIMIT 1")
plan = one("EXPLAIN SELECT * FROM hosts")
for wrong in [
    "SELECT * FROM sysclls", "SELECT nmae FROM syscalls", "SELEC 1", "SELECT 1; SELECT 2",
    "CREATE TABLE t AS SELECT 1", "CREATE VIEW v AS SELECT 1", "DROP TABLE hosts", "INSERT INTO hosts SELECT * FROM hosts",
    "COPY (SELECT 1) TO '/tmp/stolen.csv'", "EXPLAIN ANALYZE COPY (SELECT 1) TO '/tmp/stolen.csv'",
    "CREATE EXTERNAL TABLE passwd STORED AS CSV LOCATION '/etc/passwd'", "SELECT * FROM '/etc/passwd'",
    "SET datafusion.catalog.information_schema = false", "SELECT to_time_that_is_not(1)", "SELECT $1 + $2",
]:
    try:
        cursor.execute(wrong)
        cursor.fetchall()
    except Exception as error:
        print(f"{wrong}: {error}".replace(chr(10), " "))
    else:
        print(f"{wrong}: done")
# The connection is as good as before.
assert one("SELECT 1") == 1
"#;

#[test]
#[ignore = "takes long: `.ci/nightly sql`"]
fn a_driver_lists_what_there_is_and_can_only_read() {
    let here = Here::new();
    let server = Server::new(&here, &[]);
    let said = python(DRIVER, &[&server.address, &server.line]);
    let lines: Vec<&str> = said.lines().collect();
    let [vendor, tables, types, first, refused @ ..] = lines.as_slice() else { panic!("{said}") };
    assert_eq!((*vendor, *first), ("isochrone-sql", "host"));
    assert_eq!(*types, r#"["LOCAL TEMPORARY", "TABLE", "VIEW"]"#);
    let tables: std::collections::BTreeMap<String, Vec<String>> = serde_json::from_str(tables).unwrap();
    for table in TABLES {
        let columns = tables.get(table).unwrap_or_else(|| panic!("{table} is not in {tables:?}"));
        assert!(columns[0].ends_with("host"), "{table}: {columns:?}");
    }
    assert_eq!(refused.len(), 15, "{said}");
    for (line, text) in refused.iter().zip([
        "there is no table `sysclls`; did you mean `syscalls`?",
        "there is no column `nmae`; did you mean `name`?",
        "not SQL that is understood",
        "single SQL statement",
        "DDL not supported",
        "DDL not supported",
        "DDL not supported",
        "DML not supported",
        "DML not supported",
        "DML not supported",
        "DDL not supported",
        "there is no table `/etc/passwd`",
        "Statement not supported",
        "to_time_that_is_not",
        "laceholder",
    ]) {
        assert!(line.contains(text), "`{text}` is not in: {line}");
    }
    assert!(!std::path::Path::new("/tmp/stolen.csv").exists());
}

/// Connects with certificates, and without.
const CERTIFICATES: &str = r#"
import sys
import adbc_driver_flightsql.dbapi as flight
address, cert, key, ca = sys.argv[1:5]
read = lambda path: open(path).read()
option = "adbc.flight.sql.client_option."
roots = {option + "tls_root_certs": read(ca)}
own = {option + "mtls_cert_chain": read(cert), option + "mtls_private_key": read(key)}
def count(options):
    with flight.connect(address, db_kwargs=options) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM hosts")
        return cursor.fetchone()[0]
print(count({**roots, **own}))
for options in [roots, {}]:
    try:
        print(count(options))
    except Exception as error:
        print("refused")
"#;

/// Asks with one line of `authorization` after the other; none where it is empty.
const TOKENS: &str = r#"
import sys
import adbc_driver_flightsql.dbapi as flight
for line in sys.argv[2:]:
    options = {"adbc.flight.sql.authorization_header": line} if line else {}
    try:
        with flight.connect(sys.argv[1], db_kwargs=options) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM hosts")
            print(cursor.fetchone()[0])
    except Exception as error:
        print("refused" if "authorization" in str(error) else error)
"#;

#[test]
#[ignore = "takes long: `.ci/nightly sql`"]
fn programs_of_this_machine_need_the_token() {
    let here = Here::new();
    let server = Server::new(&here, &[]);
    assert!(server.line.starts_with("Bearer ") && server.line.len() == 39, "{}", server.line);
    let wrong = format!("Bearer {}", "0".repeat(32));
    assert_eq!(python(TOKENS, &[&server.address, &server.line, "", &wrong]), "3\nrefused\nrefused\n");
    let open = Server::new(&here, &["--no-token".to_owned()]);
    assert_eq!((open.line.as_str(), &*python(TOKENS, &[&open.address, ""])), ("", "3\n"));
}

#[test]
#[ignore = "takes long: `.ci/nightly sql`"]
fn others_need_a_certificate() {
    let here = Here::new();
    let shop = shop();
    let shop = shop.to_str().unwrap();
    let open = here.sql(&["--listen", "0.0.0.0:0", shop]);
    assert_eq!(open.status.code(), Some(2));
    assert!(
        text(&open.stderr).contains("0.0.0.0:0: others than this machine could connect"),
        "{}",
        text(&open.stderr)
    );
    let both = here.sql(&["--listen", "127.0.0.1:0", "-c", "SELECT 1", shop]);
    assert_eq!(both.status.code(), Some(2));
}

#[test]
#[ignore = "takes long: `.ci/nightly sql`"]
fn a_driver_of_another_machine_connects_with_the_certificate() {
    let here = Here::new();
    let keys = certificates(&here, "keys");
    let server = Server::new(&here, &keys);
    assert!(server.address.starts_with("grpc+tls://"), "{}", server.address);
    let files: Vec<&str> = keys.iter().skip(1).step_by(2).map(String::as_str).collect();
    let said = python(CERTIFICATES, &[&[server.address.as_str()], &files[..]].concat());
    assert_eq!(said, "3\nrefused\nrefused\n");
}
