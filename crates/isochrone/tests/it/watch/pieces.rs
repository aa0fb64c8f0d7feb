//! Mapped pieces that come in any order, late, twice or never: tables and metrics are those of the chunks.

use super::in_place::{said, wait_until};
use super::*;

/// Pieces of all chunks of some sessions, and the directory to which they come.
struct Collector {
    from: PathBuf,
    pieces: Vec<PathBuf>,
    directory: tempfile::TempDir,
}

impl Collector {
    fn new(from: &Path, map: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (made, arrived) = (directory.path().join("made"), directory.path().join("arrived"));
        fs::create_dir(&arrived).unwrap();
        ok(&["watch", "-q", "--once", "--map", map, "--out", text(&made), text(from)]);
        let entries = fs::read_dir(&made).unwrap().map(|it| it.unwrap().path());
        let mut pieces: Vec<PathBuf> =
            entries.filter(|it| it.extension().is_some_and(|it| it == "piece")).collect();
        pieces.sort();
        Self { from: from.to_owned(), pieces, directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A piece comes under a name, below a directory of its own.
    fn bring(&self, piece: usize, name: &str) {
        let to = self.path("arrived").join(format!("host{}", piece % 3)).join(name);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        let hidden = to.with_file_name(format!(".{name}.part"));
        fs::copy(&self.pieces[piece], &hidden).unwrap();
        fs::rename(hidden, to).unwrap();
    }

    fn once(&self, analyses: &str, options: &[&str]) -> Output {
        let arrived = self.path("arrived");
        isochrone(&[&["watch", analyses, "--once", "--format", "json"], options, &[text(&arrived)]].concat())
    }

    fn start(&self, analyses: &str) -> Child {
        Command::new(env!("CARGO_BIN_EXE_isochrone"))
            .args(["watch", "-q", analyses, "--poll", "50ms", "--metrics-file", text(&self.path("metrics"))])
            .arg(self.path("arrived"))
            .stdout(Stdio::null())
            .stderr(fs::File::create(self.path("log")).unwrap())
            .spawn()
            .unwrap()
    }

    /// The metrics of analyses.
    fn metrics(&self, name: &str) -> String {
        let all = fs::read_to_string(self.path(name)).unwrap_or_default();
        let lines = all.lines().filter(|line| !line.contains("isochrone_watch_"));
        lines.flat_map(|line| [line, "\n"]).collect()
    }
}

/// Pieces come in a random order, some twice; who watches is killed at any instant.
fn check_arrival(from: &Path, map: &str, analyses: &str, kills: u64) {
    let kills = std::env::var(KILLS).ok().and_then(|kills| kills.parse().ok()).unwrap_or(kills);
    let collector = Collector::new(from, map);
    let whole = ok(&["analyze", "-q", analyses, "--no-sync", "--format", "json", text(from)]);
    let chunks = collector.path("of-chunks");
    ok(&["watch", "-q", analyses, "--once", "--metrics-file", text(&chunks), text(from)]);
    let mut random = 0x1234_5678_9abc_def1_u64;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let mut left: Vec<usize> = (0..collector.pieces.len()).collect();
    let count = left.len() as u64;
    for kill in 0..kills {
        for at in kill * count / kills..(kill + 1) * count / kills {
            let piece = left.remove(next(left.len() as u64) as usize);
            collector.bring(piece, &format!("{piece}.piece"));
            if next(3) == 0 {
                collector.bring(piece, &format!("again-{at}"));
            }
        }
        let mut watching = collector.start(analyses);
        thread::sleep(Duration::from_millis(next(400)));
        watching.kill().unwrap();
        watching.wait().unwrap();
    }
    let expect = collector.metrics("of-chunks");
    assert!(expect.lines().count() > 3, "{expect}");
    // That of a process that was killed.
    let _ = fs::remove_file(collector.path("metrics"));
    let mut watching = collector.start(analyses);
    wait_until("the metrics of all pieces", || collector.metrics("metrics") == expect);
    assert!(Command::new("kill").arg(watching.id().to_string()).status().unwrap().success());
    assert!(watching.wait().unwrap().success());
    let output = collector.once(analyses, &["-q"]);
    assert!(output.status.success() && said(&output).is_empty(), "{}", said(&output));
    assert!(output.stdout == whole, "{}", from.display());
}

#[test]
fn pieces_of_a_small_session() {
    let directory = tempfile::tempdir().unwrap();
    let session = session(directory.path(), 6);
    check_arrival(&session, "spans", "cputop,schedlog,processes", 6);
    check_arrival(&session, "cputop,schedlog,processes", "schedlog,cputop", 6);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn pieces_of_two_machines() {
    check_arrival(&corpus("vm/rot2"), "spans", ANALYSES, 9);
    check_arrival(&corpus("vm/rot2"), ANALYSES, ANALYSES, 9);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn pieces_of_programs() {
    check_arrival(&corpus("ust/rotated/single_host"), "spans", "periodstats,processes", 4);
}

/// A piece that has not come is unknown time; one that is on its way is waited for, and one that is cut named.
#[test]
fn pieces_that_are_missing_or_damaged() {
    let directory = tempfile::tempdir().unwrap();
    let collector = Collector::new(&session(directory.path(), 4), "cputop");
    let whole = ok(&["analyze", "-q", "cputop", "--no-sync", "--format", "json", text(&collector.from)]);
    let mut watching = collector.start("cputop");
    let seen = |expect: &str| wait_for(&collector.path("metrics"), expect);
    collector.bring(0, "0.piece");
    seen("isochrone_watch_chunks_total{host=\"web1\"} 1\n");
    collector.bring(3, "3.piece");
    seen("isochrone_watch_chunks_total{host=\"web1\"} 2\n");
    let output = collector.once("cputop", &[]);
    assert!(said(&output).contains("web1: a chunk is missing from "), "{}", said(&output));
    assert!(output.status.success() && output.stdout != whole);
    // It is written where it is read.
    let bytes = fs::read(&collector.pieces[1]).unwrap();
    let slow = collector.path("arrived/slow.piece");
    fs::write(&slow, &bytes[..bytes.len() / 2]).unwrap();
    wait_for(&collector.path("log"), "slow.piece: damaged at byte");
    let output = collector.once("cputop", &[]);
    assert!(output.status.code() == Some(1) && said(&output).contains("; left out"), "{}", said(&output));
    fs::write(&slow, &bytes).unwrap();
    seen("isochrone_watch_chunks_total{host=\"web1\"} 3\n");
    collector.bring(2, "2.piece");
    seen("isochrone_watch_chunks_total{host=\"web1\"} 4\n");
    assert!(collector.once("cputop", &[]).stdout == whole);
    // Pieces of another question do not end what goes on.
    let other = Collector::new(&collector.from, "spans");
    fs::copy(&other.pieces[0], collector.path("arrived/other.piece")).unwrap();
    wait_for(&collector.path("log"), "were mapped for ");
    fs::remove_file(collector.path("arrived/other.piece")).unwrap();
    assert!(Command::new("kill").arg(watching.id().to_string()).status().unwrap().success());
    assert_eq!(watching.wait().unwrap().code(), Some(1));
}

#[test]
fn what_cannot_be_watched_of_pieces_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let collector = Collector::new(&session(directory.path(), 2), "cputop");
    collector.bring(0, "0.piece");
    collector.bring(1, "1.piece");
    let state = collector.path("state");
    let check = |analyses: &str, options: &[&str], expect: &str| {
        let output = collector.once(analyses, options);
        assert!(output.status.code() == Some(2) && said(&output).contains(expect), "{}", said(&output));
    };
    check("phases", &[], "`isochrone phases` of the pieces");
    check("cputop", &["--state", text(&state)], "--state does not apply to pieces");
    check("cputop", &["--cpu", "1"], "--cpu does not apply to mapped pieces");
    check("schedlog", &[], "the pieces were not mapped for schedlog; they were mapped for cputop");
}
