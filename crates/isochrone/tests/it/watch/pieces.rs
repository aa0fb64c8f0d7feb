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
    check("phases", &[], "phases: steps are made of all spans, and these pieces were mapped for analyses");
    check("cputop,messages", &["--state", text(&state)], "messages: steps are made of all spans");
    check("cputop", &["--cpu", "1"], "--cpu does not apply to mapped pieces");
    check("schedlog", &[], "the pieces were not mapped for schedlog; they were mapped for cputop");
}

/// Pieces of several chunks in a file: the tables are those of all of them, and what is made chunk by chunk
/// leaves the file out and says so.
#[test]
fn a_merged_file_beside_pieces() {
    let directory = tempfile::tempdir().unwrap();
    let collector = Collector::new(&session(directory.path(), 5), "spans");
    let whole = ok(&["analyze", "-q", "cputop", "--no-sync", "--format", "json", text(&collector.from)]);
    let files: Vec<&str> = collector.pieces[1..3].iter().map(|piece| text(piece)).collect();
    ok(&[&["merge", "-q"], &files[..], &["-o", text(&collector.path("arrived/merged"))]].concat());
    for piece in [0, 2, 3, 4] {
        collector.bring(piece, &format!("{piece}.piece"));
    }
    let output = collector.once("cputop", &["-q"]);
    assert!(output.status.success() && output.stdout == whole, "{}", said(&output));
    let state = collector.path("state");
    let output = collector.once("cputop", &["--state", text(&state)]);
    assert!(output.status.code() == Some(1) && output.stdout != whole, "{}", said(&output));
    assert!(said(&output).contains("merged: several chunks are in it, and"), "{}", said(&output));
}

/// Pieces that were mapped go where they are not needed, and what comes late then is left out, as of chunks.
#[test]
fn pieces_that_were_mapped_are_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let collector = Collector::new(&session(directory.path(), 6), "spans");
    let whole = ok(&["analyze", "-q", "cputop", "--no-sync", "--format", "json", text(&collector.from)]);
    let state = collector.path("state");
    let options = ["-q", "--state", text(&state), "--delete-after", "0s"];
    for piece in [0, 1, 2, 4, 5] {
        collector.bring(piece, &format!("{piece}.piece"));
        if piece < 3 {
            collector.bring(piece, &format!("{piece}-again"));
        }
    }
    let without = collector.once("cputop", &options);
    assert!(without.status.success() && without.stdout != whole, "{}", said(&without));
    let left = || {
        let hosts =
            (0..3).flat_map(|host| fs::read_dir(collector.path(&format!("arrived/host{host}"))).unwrap());
        let mut names: Vec<String> = hosts.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    // They go at the look after the one that has mapped them.
    assert!(collector.once("cputop", &options).stdout == without.stdout);
    assert_eq!(left(), ["4.piece", "5.piece"]);
    collector.bring(3, "3.piece");
    let late = collector.once("cputop", &options);
    assert!(said(&late).contains("3.piece: appeared when it had been declared missing; left out"));
    assert!(late.status.code() == Some(1) && late.stdout == without.stdout);
    assert_eq!(left(), ["3.piece", "4.piece", "5.piece"]);
}

/// What `watch` makes of a directory, step by step and chunk by chunk.
#[derive(Debug, PartialEq, Eq)]
struct Made {
    /// What it prints.
    printed: Vec<u8>,
    /// Figures of each chunk and each step, by the names of their files.
    figures: Vec<(String, String)>,
    /// The corrections.
    corrections: Option<String>,
}

impl Made {
    fn of(directory: &Path, analyses: &str, to: &Path) -> Self {
        let [state, kept] = ["state", "kept"].map(|name| to.join(name));
        let options = ["--state", text(&state), "--backfill", text(&kept), "--format", "json"];
        let output =
            isochrone(&[&["watch", "-q", "--once", analyses], &options[..], &[text(directory)]].concat());
        assert!(output.status.success(), "{}", said(&output));
        Self { printed: output.stdout, ..Self::kept(to) }
    }

    /// What is kept of it.
    fn kept(to: &Path) -> Self {
        let mut figures: Vec<(String, String)> = fs::read_dir(to.join("kept"))
            .unwrap()
            .map(|it| it.unwrap())
            .map(|it| (it.file_name().into_string().unwrap(), fs::read_to_string(it.path()).unwrap()))
            .collect();
        figures.sort();
        Self {
            printed: Vec::new(),
            figures,
            corrections: fs::read_to_string(to.join("state/sync.json")).ok(),
        }
    }
}

const STEPS: &str = "cputop,syscallstats,periodstats,phases,messages,accounting";

/// Steps, figures of the past and corrections of pieces are those of the chunks, to the byte.
fn check_steps(from: &Path, has_corrections: bool) {
    let collector = Collector::new(from, "spans");
    let expect = Made::of(from, STEPS, &collector.path("of-chunks"));
    assert!(expect.figures.len() > 5 && expect.corrections.is_some() == has_corrections);
    assert!(
        expect.figures.iter().any(|(name, text)| name.contains("-steps") && text.contains("isochrone_payer"))
    );
    // In another order, and twice.
    for piece in (0..collector.pieces.len()).rev() {
        collector.bring(piece, &format!("{piece}.piece"));
        collector.bring(piece, &format!("again-{piece}"));
    }
    let arrived = collector.path("arrived");
    let found = Made::of(&arrived, STEPS, &collector.path("of-pieces"));
    assert!(found == expect, "{}", from.display());
    // One never comes, of either.
    let sessions = Sessions::new(from);
    let (middle, other) = (2, Collector::new(from, "spans"));
    let key = sessions.chunks[middle].file_name().unwrap().to_str().unwrap();
    let host = sessions.chunks[middle].iter().next().unwrap().to_str().unwrap();
    let is_it = |piece: &&PathBuf| {
        let name = piece.file_name().unwrap().to_str().unwrap();
        name.contains(&format!("_{key}_")) && name.starts_with(host)
    };
    let lost = other.pieces.iter().position(|piece| is_it(&piece)).unwrap();
    (0..sessions.chunks.len()).filter(|&chunk| chunk != middle).for_each(|chunk| sessions.bring(chunk));
    (0..other.pieces.len())
        .filter(|&piece| piece != lost)
        .for_each(|piece| other.bring(piece, &piece.to_string()));
    let expect = Made::of(&sessions.path("watched"), STEPS, &other.path("of-chunks"));
    assert!(Made::of(&other.path("arrived"), STEPS, &other.path("of-pieces")) == expect, "one is missing");
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn steps_of_pieces_of_two_machines() {
    check_steps(&corpus("vm/rot2"), true);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn steps_of_pieces_of_kernel_and_programs() {
    let directory = tempfile::tempdir().unwrap();
    let copied = Command::new("cp").arg("-r").arg(corpus("vm/phases3/h2")).arg(directory.path()).status();
    assert!(copied.unwrap().success());
    check_steps(directory.path(), false);
}

/// Who watches is killed at any instant, while pieces come one by one; a chunk comes whenever its piece does,
/// to another who watches.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn steps_of_pieces_go_on_after_kills() {
    let from = corpus("vm/rot2");
    let (sessions, collector) = (Sessions::new(&from), Collector::new(&from, "spans"));
    // Both hosts in turns, each in order but for two.
    let order = [0, 6, 2, 1, 3, 7, 4, 5, 8];
    let is_it = |chunk: &Path, piece: &Path| {
        let (host, name) = (chunk.iter().next().unwrap(), chunk.file_name().unwrap());
        let piece = piece.file_name().unwrap().to_str().unwrap();
        piece.starts_with(host.to_str().unwrap()) && piece.contains(name.to_str().unwrap())
    };
    let start = |directory: &Path, to: &Path| {
        Command::new(env!("CARGO_BIN_EXE_isochrone"))
            .args(["watch", "-q", STEPS, "--poll", "50ms", "--wait-missing", "1000s"])
            .args(["--state", text(&to.join("state")), "--backfill", text(&to.join("kept"))])
            .arg(directory)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let files = |to: &Path| {
        let mut all = Vec::new();
        for entry in ["state", "kept"].iter().filter_map(|name| fs::read_dir(to.join(name)).ok()).flatten() {
            let entry = entry.unwrap();
            let metadata = entry.metadata().ok();
            all.push((entry.path(), metadata.map(|it| (it.len(), it.modified().unwrap()))));
        }
        all.sort();
        all
    };
    // A process is killed soon after it began; the next one ends what is to be done.
    let watched = |directory: &Path, to: &Path, soon: u64| {
        for is_first in [true, false] {
            let mut watching = start(directory, to);
            thread::sleep(Duration::from_millis(if is_first { soon } else { 500 }));
            let mut before = Vec::new();
            while !is_first && before != files(to) {
                before = files(to);
                thread::sleep(Duration::from_millis(700));
            }
            watching.kill().unwrap();
            watching.wait().unwrap();
        }
    };
    for (at, &chunk) in order.iter().enumerate() {
        let piece = collector.pieces.iter().position(|piece| is_it(&sessions.chunks[chunk], piece)).unwrap();
        sessions.bring(chunk);
        collector.bring(piece, &piece.to_string());
        if at % 2 == 1 {
            collector.bring(piece, &format!("again-{piece}"));
        }
        watched(&sessions.path("watched"), &sessions.path("made"), at as u64 * 37 % 200);
        watched(&collector.path("arrived"), &collector.path("made"), at as u64 * 53 % 200);
    }
    let expect = Made::kept(&sessions.path("made"));
    assert!(expect.figures.iter().filter(|(name, _)| name.ends_with("-steps.om")).count() > 3);
    assert!(expect.corrections.is_some() && Made::kept(&collector.path("made")) == expect);
}

/// A piece whose time was taken for missing is in the tables when it comes, and in no step that was
/// published.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn a_late_piece_is_in_the_tables() {
    let from = corpus("vm/rot2/h1");
    let collector = Collector::new(&from, "spans");
    let tables = "cputop,syscallstats";
    let whole = ok(&["analyze", "-q", tables, "--no-sync", "--format", "json", text(&from)]);
    let expect = Made::of(&from, tables, &collector.path("of-chunks"));
    let to = collector.path("of-pieces");
    let [state, kept] = ["state", "kept"].map(|name| to.join(name));
    let options = ["--state", text(&state), "--backfill", text(&kept)];
    for piece in [0, 1, 3, 4, 5] {
        collector.bring(piece, &piece.to_string());
    }
    let output = collector.once(tables, &options);
    assert!(said(&output).contains("chunk 2 is missing: that time is unknown"), "{}", said(&output));
    assert!(output.stdout != whole);
    collector.bring(2, "late");
    let output = collector.once(tables, &options);
    assert!(output.status.success() && !said(&output).contains("missing"), "{}", said(&output));
    assert!(output.stdout == whole && Made::kept(&to).figures == expect.figures);
    // Steps are not taken back.
    let collector = Collector::new(&from, "spans");
    let state = collector.path("state");
    for piece in [0, 1, 3, 4, 5] {
        collector.bring(piece, &piece.to_string());
    }
    let steps = collector.once("accounting,cputop", &["-q", "--state", text(&state)]);
    assert!(steps.status.success(), "{}", said(&steps));
    collector.bring(2, "late");
    let late = collector.once("accounting,cputop", &["-q", "--state", text(&state)]);
    assert!(
        said(&late).contains(
            "late: appeared when it had been declared missing; it is in the tables, and in no step"
        )
    );
    assert_eq!(late.status.code(), Some(1));
    let table = ok(&["analyze", "-q", "cputop", "--no-sync", "--format", "json", text(&from)]);
    assert!(late.stdout.ends_with(&table));
}

/// Pieces, and events of each CPU in each.
fn size() -> (u64, u64) {
    let text = std::env::var("ISOCHRONE_PIECES").unwrap_or_else(|_| "60x20".to_owned());
    let (pieces, events) = text.split_once('x').expect("PIECESxEVENTS");
    (pieces.parse().unwrap(), events.parse().unwrap())
}

/// A look costs what is new: however many pieces there are, of one more a few are read.
#[test]
fn a_look_reads_what_is_new() {
    let directory = tempfile::tempdir().unwrap();
    let (pieces, events) = size();
    let collector = Collector::new(
        &session_of_events("web1", &directory.path().join("s"), (pieces, events), None),
        "spans",
    );
    (0..collector.pieces.len() - 1).for_each(|piece| collector.bring(piece, &piece.to_string()));
    let mut watching = collector.start("cputop");
    let seen = |count: u64| {
        wait_for(
            &collector.path("metrics"),
            &format!("isochrone_watch_chunks_total{{host=\"web1\"}} {count}\n"),
        );
    };
    let read = || -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/io", watching.id())).unwrap();
        text.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse().unwrap()
    };
    seen(pieces - 1);
    let before = read();
    collector.bring(collector.pieces.len() - 1, "last");
    seen(pieces);
    let (least, most) =
        (read() - before, collector.pieces.iter().map(|it| it.metadata().unwrap().len()).max());
    assert!(least <= 12 * most.unwrap() + (64 << 10), "{least} bytes for a piece of at most {most:?}");
    watching.kill().unwrap();
    watching.wait().unwrap();
}
