//! A cluster of processes on this machine answers as one process does, with as many executors as there may
//! be, and when one of them is killed.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use isochrone_analysis::{AnalysisKind, AnalysisSet, Options};
use isochrone_experiment::pieces::{Mapping, PieceSet, ToMap};
use isochrone_experiment::{Experiment, Inputs, Question};
use isochrone_timing::{TimedHost, Times};

use crate::common::{Here, TABLES, certificates, questions, shop, text};

/// Held while a test runs: they measure how long something takes.
static ALONE: Mutex<()> = Mutex::new(());

/// The processes of a cluster, which end with it.
struct Cluster {
    scheduler: Child,
    address: String,
    executors: Vec<(Child, PathBuf)>,
    /// What all of them, and those who ask, are told of certificates.
    keys: Vec<String>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for process in self.executors.iter_mut().map(|(process, _)| process).chain([&mut self.scheduler]) {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_isochrone-sql"))
}

impl Cluster {
    /// A scheduler without executors.
    fn new(keep: &str, keys: &[String]) -> Self {
        let mut command = program();
        command.args(["scheduler", "--listen", "127.0.0.1:0", "--keep", keep]).args(keys);
        let mut scheduler = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(scheduler.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("scheduler listens on ").unwrap_or_else(|| panic!("{line}"));
        let (address, keys) = (address.to_owned(), keys.to_vec());
        Self { scheduler, address, executors: Vec::new(), keys }
    }

    /// Starts an executor of one core, which keeps what it makes in a directory.
    fn start_executor(&mut self, here: &Here) {
        self.start_executor_in(here, "127.0.0.1", &here.path("."));
    }

    /// Starts an executor of one core on an address of this machine, as a machine of its own, in a directory.
    fn start_executor_in(&mut self, here: &Here, address: &str, directory: &Path) {
        let free = TcpListener::bind((address, 0)).unwrap().local_addr().unwrap();
        let work = here.path(&format!("work-{}", free.port()));
        std::fs::create_dir(&work).unwrap();
        let mut command = program();
        command.args([
            "executor",
            "--cores",
            "1",
            "--scheduler",
            &self.address,
            "--listen",
            &free.to_string(),
        ]);
        let executor =
            command.arg("--work").arg(&work).args(&self.keys).current_dir(directory).spawn().unwrap();
        self.executors.push((executor, work));
    }

    /// What the cluster answers.
    fn ask(&self, here: &Here, arguments: &[&str]) -> Output {
        let shop = shop();
        let keys: Vec<&str> = self.keys.iter().map(String::as_str).collect();
        let own = ["-q", "--format", "csv", "--cluster", &self.address];
        here.sql(&[&own, keys.as_slice(), arguments, &[shop.to_str().unwrap()]].concat())
    }
}

/// What one process answers.
fn alone(here: &Here, arguments: &[&str]) -> Output {
    let shop = shop();
    here.sql(&[&["-q", "--format", "csv"], arguments, &[shop.to_str().unwrap()]].concat())
}

/// The answers in CSV, each with its rows sorted.
fn answers(output: &Output) -> Vec<Vec<String>> {
    assert!(output.status.success(), "{}", text(&output.stderr));
    let sorted = |answer: &str| {
        let mut rows: Vec<String> = answer.lines().map(str::to_owned).collect();
        rows.sort_unstable();
        rows
    };
    text(&output.stdout).split("\n\n").map(sorted).collect()
}

/// All statements that documents name, and some more: the rows of all tables, and joins.
fn statements() -> Vec<String> {
    let mut all: Vec<String> = questions().into_values().collect();
    all.extend(TABLES.map(|table| format!("SELECT count(*) AS n FROM {table}")));
    all.extend([
        // Times by functions that know clocks, on the executors.
        "SELECT host, min(common_time(host, begin_time_raw)) AS first, max(bound(host, end_time_raw)['hi']) AS last FROM slices GROUP BY host".to_owned(),
        // Joins of rows of different hosts, in any order.
        "SELECT m.sent_host, c.comm, count(*) AS n FROM messages m JOIN syscalls c ON c.host = m.sent_host AND c.begin_time_raw <= m.sent_time_raw AND c.end_time_raw >= m.sent_time_raw GROUP BY 1, 2".to_owned(),
        "SELECT host, tid, sum(duration_ns) OVER (PARTITION BY host, tid ORDER BY begin_time_raw) AS so_far FROM slices WHERE duration_ns > 1000000".to_owned(),
    ]);
    all
}

#[test]
#[ignore = "takes long: `.ci/nightly sql`"]
fn a_cluster_answers_as_one_process_does() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let here = Here::new();
    let statements = statements();
    let arguments: Vec<&str> = statements.iter().flat_map(|statement| ["-c", statement.as_str()]).collect();
    let expect = answers(&alone(&here, &arguments));
    assert_eq!(expect.len(), statements.len());
    let mut cluster = Cluster::new("300", &[]);
    for executors in [1, 2, 4] {
        while cluster.executors.len() < executors {
            cluster.start_executor(&here);
        }
        let found = answers(&cluster.ask(&here, &arguments));
        assert_eq!(found.len(), expect.len());
        for ((found, expect), statement) in found.iter().zip(&expect).zip(&statements) {
            assert_eq!(found, expect, "{executors} executors: {statement}");
        }
    }
}

/// All analyses that need no other options.
const ANALYSES: &str = "cputop,fds,iolatencyfreq,iolatencystats,iolatencytop,iolog,iousagetop,irqfreq,irqlog,irqstats,memtop,\
                        periodfreq,periodlog,periodstats,periodtop,processes,schedfreq,schedlog,schedstats,schedtop,syscalls,\
                        syscallstats,usage";

#[test]
#[ignore = "takes long: `.ci/nightly sql`"]
fn analyses_of_a_cluster_are_those_of_one_process() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let here = Here::new();
    let shop = shop();
    let kept = here.path("sync.json");
    let kept = kept.to_str().unwrap();
    assert!(here.isochrone_beside(&["sync", "-q", "-o", kept, shop.to_str().unwrap()]).status.success());
    let asked: &[&[&str]] = &[
        &[ANALYSES],
        &[ANALYSES, "--no-sync"],
        &[ANALYSES, "--sync", kept, "--begin", "06:11:22.5", "--end", "06:11:25.5"],
        &["processes,fds,syscalls", "--at", "06:11:25"],
        &["cputop,syscallstats", "--host", "h2,h3", "--procname", "appsrv", "--sort", "pid"],
    ];
    let mut cluster = Cluster::new("300", &[]);
    for executors in [1, 2, 4] {
        while cluster.executors.len() < executors {
            cluster.start_executor(&here);
        }
        for (asked, pieces) in asked.iter().zip(["1", "3", "7", "4", "2"]) {
            let ask = |more: &[&str]| {
                let own = ["analyze", "-q", "--format", "json"];
                here.isochrone_beside(&[&own, *asked, more, &[shop.to_str().unwrap()]].concat())
            };
            let (alone, found) = (ask(&[]), ask(&["--cluster", &cluster.address, "--chunks", pieces]));
            assert!(alone.status.success(), "{}", text(&alone.stderr));
            assert!(found.status.success(), "{}", text(&found.stderr));
            assert!(found.stdout == alone.stdout, "{asked:?}, {executors} executors, {pieces} pieces");
        }
    }
    // What cannot be done is said.
    let refused = |arguments: &[&str]| {
        let output = here.isochrone_beside(&[arguments, &[shop.to_str().unwrap()]].concat());
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()));
        text(&output.stderr)
    };
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    assert!(
        refused(&["analyze", "cputop", "--cluster", &nobody])
            .contains("no scheduler of a cluster answers there")
    );
    assert!(refused(&["analyze", "states", "--cluster", &cluster.address]).contains("--cluster"));
}

/// Each executor has the traces of some hosts, at a path that the others have too, and who asks has none.
#[test]
#[ignore = "takes long: `.ci/nightly sql`"]
fn executors_map_what_lies_on_their_machines() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let here = Here::new();
    let mut cluster = Cluster::new("300", &[]);
    let shop = shop();
    for (address, hosts) in [("127.0.0.1", &["client", "app"][..]), ("127.0.0.2", &["db"][..])] {
        let machine = here.path(address);
        for host in hosts {
            copy(&shop.join(host), &machine.join("traces").join(host));
        }
        cluster.start_executor_in(&here, address, &machine);
    }
    // A third one has the same as pieces.
    let machine = here.path("127.0.0.3");
    std::fs::create_dir_all(machine.join("pieces")).unwrap();
    let piece = machine.join("pieces").join("db.piece");
    let (db, piece) = (shop.join("db"), piece.to_str().unwrap());
    let map = ["map", "-q", "cputop,syscallstats", db.to_str().unwrap(), "-o", piece];
    let output = here.isochrone_beside(&map);
    assert!(output.status.success(), "{}", text(&output.stderr));
    cluster.start_executor_in(&here, "127.0.0.3", &machine);
    let ask = |asked: &[&str], more: &[&str]| {
        here.isochrone_beside(&[&["analyze", "-q", "--format", "json"], asked, more].concat())
    };
    let whole = shop.to_str().unwrap();
    let all = ANALYSES.replace(",usage", "");
    let traces = &["127.0.0.2:traces", "127.0.0.1:traces"][..];
    let asked: &[(&[&str], &[&str])] = &[
        (&[&all], traces),
        (&[&all, "--no-sync", "--min", "1us", "--limit", "7"], traces),
        (&[ANALYSES], traces),
        (&["cputop,syscalls,usage", "--begin", "06:11:22.5", "--end", "06:11:25.5"], traces),
        (&["cputop,periodstats", "--period", "w : $evt.$name == \"syscall_entry_write\""], traces),
        (&["processes,fds", "--at", "06:11:25"], traces),
        (&["states", "--pid", "210"], traces),
        (&["phases"], traces),
        (&["cputop,syscallstats"], &["127.0.0.1:traces", "127.0.0.3:pieces"]),
        (
            &["cputop,syscallstats", "--by-process"],
            &["127.0.0.1:traces/client", "127.0.0.1:traces/app", "127.0.0.3:pieces/db.piece"],
        ),
    ];
    for (asked, traces) in asked {
        let alone = ask(asked, &[whole]);
        let found = ask(asked, &[&["--cluster", &cluster.address], *traces].concat());
        assert!(alone.status.success(), "{}", text(&alone.stderr));
        assert!(found.status.success(), "{asked:?}: {}", text(&found.stderr));
        assert!(found.stdout == alone.stdout, "{asked:?} {traces:?}");
    }
    let check = |asked: &[&str], traces: &[&str], expect: &str| {
        let output = ask(asked, &[&["--cluster", &cluster.address], traces].concat());
        let errors = text(&output.stderr);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()), "{errors}");
        assert!(errors.contains(expect), "{errors}");
    };
    check(&["cputop"], &["127.0.0.2:traces/web"], "127.0.0.2: traces/web: No such file");
    check(&["cputop"], &["127.0.0.9:traces"], "127.0.0.9: traces: no executor of the cluster has this name");
    check(&["cputop"], &["127.0.0.1:traces", whole], "cannot be combined");
    check(&["irqstats"], &["127.0.0.3:pieces"], "the pieces were not mapped for irqstats");
    check(&["cputop", "--chunks", "3"], traces, "--chunks");
    // The head of a capture without frames.
    let words = [0xa1b2_c3d4_u32, 4 << 16 | 2, 0, 0, 65_535, 1];
    let capture: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    std::fs::write(here.path("127.0.0.2/traces/db/eth0.pcap"), capture).unwrap();
    check(&["cputop"], traces, "eth0.pcap: a capture is not taken along: name the traces alone");
}

/// Copies a directory.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => _ = std::fs::copy(entry.path(), target).unwrap(),
        }
    }
}

/// A machine on which the traces are others says so.
#[test]
#[ignore = "takes long: `.ci/nightly sql`"]
fn a_cluster_maps_the_traces_that_were_named_and_no_others() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let here = Here::new();
    let mut cluster = Cluster::new("300", &[]);
    cluster.start_executor(&here);
    let inputs = Inputs::open(&[shop()]);
    let experiment = Experiment::new(&inputs, None);
    let hosts: Vec<&TimedHost<'_>> = experiment.hosts().iter().collect();
    let (kinds, options) = ([AnalysisKind::of("cputop").unwrap()], Options::default());
    let question = Question { kinds: &kinds, options: &options, times: Times::default(), periods: None };
    let right = Mapping::new(&question, &hosts, (None, false), Some(2)).unwrap();
    let map = |mapping: &Mapping, name: &str| {
        let (file, to) = (here.path(&format!("{name}.json")), here.path(name));
        let what = ToMap::Shared(Box::new(mapping.clone()));
        std::fs::write(&file, serde_json::to_vec(&what).unwrap()).unwrap();
        std::fs::create_dir(&to).unwrap();
        let own =
            ["map", "--cluster", &cluster.address, file.to_str().unwrap(), "--output", to.to_str().unwrap()];
        (here.sql(&own), to)
    };
    let (output, to) = map(&right, "right");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&to).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 6);
    files.sort();
    let set = PieceSet::<AnalysisSet>::read(&files).unwrap().unwrap();
    assert!(set.missing().is_empty());
    assert_eq!(set.hosts().len(), 3);
    // Other bytes, another host, and nothing.
    let mut others = [right.clone(), right.clone(), right];
    others[0].hosts[1].bytes += 1;
    others[1].hosts[0].id = others[1].hosts[1].id.clone();
    others[2].hosts[2].traces = vec![here.path("nowhere")];
    for (number, other) in others.iter().enumerate() {
        let (output, _) = map(other, &format!("other{number}"));
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("the traces are not as they are"), "{}", text(&output.stderr));
    }
}

/// A question that takes some seconds.
const LONG: &str = "SELECT count(*) AS n, max(md5(concat(e.event, t.comm, t.tid))) AS last FROM events e CROSS JOIN (SELECT comm, tid FROM threads WHERE host = 'h1' AND tid BETWEEN 1 AND 8) t";

#[test]
#[ignore = "takes long: `.ci/nightly sql`"]
fn a_killed_executor_costs_seconds_and_nothing_else() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let kills = std::env::var("ISOCHRONE_KILLS").map_or(1, |kills| kills.parse().unwrap());
    let here = Here::new();
    let expect = answers(&alone(&here, &["-c", LONG]));
    let mut cluster = Cluster::new("2", &[]);
    cluster.start_executor(&here);
    // What one executor needs.
    let begun = Instant::now();
    assert_eq!(answers(&cluster.ask(&here, &["-c", LONG])), expect);
    let usual = begun.elapsed();
    for round in 0..kills {
        cluster.start_executor(&here);
        // Both have work.
        let begun = Instant::now();
        let found = std::thread::scope(|scope| {
            let asked = scope.spawn(|| cluster.ask(&here, &["-c", LONG]));
            std::thread::sleep(usual / 3);
            asked.is_finished().then(|| panic!("it was answered before anything could be killed"));
            let (victim, _) = &cluster.executors[0];
            kill(victim.id());
            asked.join().unwrap()
        });
        assert_eq!(answers(&found), expect, "kill {round}");
        // Whoever is left has done all of it, perhaps twice, after it was known that the other one is gone.
        let took = begun.elapsed();
        assert!(took < usual * 2 + Duration::from_secs(20), "kill {round}: {took:?}, usually {usual:?}");
        let (mut dead, _) = cluster.executors.remove(0);
        dead.wait().unwrap();
    }
    // What was made on the way is deleted soon after.
    let (_, work) = &cluster.executors[0];
    let deadline = Instant::now() + Duration::from_secs(45);
    while files_below(work) > 0 {
        assert!(Instant::now() < deadline, "{} files are left", files_below(work));
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// How many files there are in a directory, and in those in it.
fn files_below(directory: &Path) -> usize {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| if entry.path().is_dir() { files_below(&entry.path()) } else { 1 }).sum()
}

/// SIGKILL.
fn kill(process: u32) {
    let status = Command::new("kill").args(["-KILL", &process.to_string()]).status().unwrap();
    assert!(status.success());
}

#[test]
#[ignore = "takes long: `.ci/nightly sql`"]
fn only_this_machine_and_certificates_get_in() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let here = Here::new();
    let refused = here.sql(&["scheduler", "--listen", "0.0.0.0:0"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("--cert, --key and --ca"), "{}", text(&refused.stderr));
    let refused = here.sql(&["executor", "--listen", "0.0.0.0:0"]);
    assert_eq!(refused.status.code(), Some(2));

    let keys = certificates(&here, "cluster");
    let mut cluster = Cluster::new("300", &keys);
    cluster.start_executor(&here);
    let query = ["-c", "SELECT host, count(*) AS n FROM slices GROUP BY host"];
    assert_eq!(answers(&cluster.ask(&here, &query)), answers(&alone(&here, &query)));
    // Neither without a certificate, nor with one of another authority.
    for keys in [Vec::new(), certificates(&here, "others")] {
        cluster.keys = keys;
        let output = cluster.ask(&here, &query);
        assert!(!output.status.success(), "{}", text(&output.stdout));
        assert!(text(&output.stdout).lines().count() <= 1, "no row: {}", text(&output.stdout));
    }
}
