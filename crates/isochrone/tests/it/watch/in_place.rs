//! Chunks that are mapped in place: whatever happens to the process and to the command that gets the pieces,
//! these are those of `isochrone map`, each chunk is in them once, and nothing is deleted before it was handed
//! over.

use super::*;

/// Where pieces are received.
pub(super) struct Fleet {
    pub(super) sessions: Sessions,
    /// What is mapped.
    map: String,
}

impl Fleet {
    pub(super) fn new(from: &Path, map: &str) -> Self {
        let sessions = Sessions::new(from);
        fs::create_dir(sessions.path("received")).unwrap();
        Self { sessions, map: map.to_owned() }
    }

    pub(super) fn bring_all(&self) {
        (0..self.sessions.chunks.len()).for_each(|chunk| self.sessions.bring(chunk));
    }

    /// A command that copies the piece to where pieces are received, and counts its runs.
    fn copying(&self) -> String {
        let [received, runs] = ["received", "runs"].map(|name| self.sessions.path(name));
        format!("sh -c 'echo \"$0\" >> {} && cp \"$0\" {}' {{}}", text(&runs), text(&received))
    }

    fn arguments(&self, options: &[&str]) -> Vec<String> {
        let (out, watched) = (self.sessions.path("out"), self.sessions.path("watched"));
        let common =
            ["watch", "--map", &self.map, "--out", text(&out), "--retry-at-most", "100ms", "--poll", "50ms"];
        let all = [&common[..], options, &[text(&watched)]].concat();
        all.into_iter().map(str::to_owned).collect()
    }

    fn once(&self, options: &[&str]) -> Output {
        let arguments = self.arguments(&[&["--once"], options].concat());
        isochrone(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    pub(super) fn command(&self, options: &[&str]) -> Command {
        let log = fs::File::create(self.sessions.path("log")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
        command.args(self.arguments(options)).stdout(Stdio::null()).stderr(log);
        command
    }

    fn start(&self, options: &[&str]) -> Child {
        self.command(options).spawn().unwrap()
    }

    /// Pieces in a directory, by name.
    pub(super) fn pieces(&self, directory: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.sessions.path(directory)).unwrap().map(|it| it.unwrap().path());
        let mut found: Vec<PathBuf> =
            entries.filter(|it| it.extension().is_some_and(|it| it == "piece")).collect();
        found.sort();
        found
    }

    /// Chunks that are still there.
    fn chunks_left(&self) -> usize {
        self.sessions.chunks.iter().filter(|chunk| self.sessions.path("watched").join(chunk).exists()).count()
    }

    /// The figures of what was received are those of the whole sessions.
    pub(super) fn check_received(&self, analyses: &str) {
        let pieces = self.pieces("received");
        assert_eq!(pieces.len(), self.sessions.chunks.len());
        let merged = self.sessions.path("merged");
        let files: Vec<&str> = pieces.iter().map(|piece| text(piece)).collect();
        ok(&[&["merge", "-q"], &files[..], &["-o", text(&merged)]].concat());
        let analyze = ["analyze", "-q", analyses, "--no-sync", "--format", "json"];
        let found = ok(&[&analyze[..], &[text(&merged)]].concat());
        assert!(found == self.sessions.whole(analyses), "{}", self.sessions.from.display());
        // Nobody has to merge them first.
        let found = ok(&[&analyze[..], &files].concat());
        assert!(found == self.sessions.whole(analyses), "{}", self.sessions.from.display());
    }

    fn runs(&self) -> usize {
        fs::read_to_string(self.sessions.path("runs")).map_or(0, |runs| runs.lines().count())
    }

    fn journal(&self) -> String {
        fs::read_to_string(self.sessions.path("out/journal.jsonl")).unwrap()
    }
}

pub(super) fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub(super) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Pieces of all chunks, in any order of arrival, a process for each of them.
fn check_arrivals(from: &Path, map: &str, analyses: &str) {
    let fleet = Fleet::new(from, map);
    let count = fleet.sessions.chunks.len();
    for place in 0..count {
        // The last one comes first.
        fleet.sessions.bring(count - 1 - place);
        let output = fleet.once(&["--exec", &fleet.copying()]);
        assert!(output.status.success() && said(&output).is_empty(), "{}", said(&output));
        assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1);
    }
    assert_eq!(fleet.runs(), count);
    fleet.check_received(analyses);
    // What `isochrone map` makes of a chunk.
    let alone = fleet.sessions.path("alone");
    let chunks = fleet.sessions.chunks.iter().map(|chunk| fleet.sessions.path("watched").join(chunk));
    let mut expect: Vec<Vec<u8>> = chunks
        .map(|chunk| {
            ok(&[
                "map",
                "-q",
                map,
                "--threads",
                "1",
                text(&chunk.canonicalize().unwrap()),
                "-o",
                text(&alone),
            ]);
            fs::read(&alone).unwrap()
        })
        .collect();
    let mut found: Vec<Vec<u8>> = fleet.pieces("received").iter().map(|it| fs::read(it).unwrap()).collect();
    expect.sort();
    found.sort();
    assert!(found == expect);
}

#[test]
fn a_small_session_is_mapped_in_place() {
    let directory = tempfile::tempdir().unwrap();
    let session = session(directory.path(), 5);
    check_arrivals(&session, "spans", "cputop,schedlog,processes");
    check_arrivals(&session, "cputop,schedlog,processes", "cputop,schedlog,processes");
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn two_machines_are_mapped_in_place() {
    check_arrivals(&corpus("vm/rot2"), "spans", ANALYSES);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn programs_are_mapped_in_place() {
    check_arrivals(&corpus("ust/rotated/single_host"), "spans", "periodstats,processes");
}

/// Killed at any instant, a process loses no chunk, and hands each over as the same file.
fn check_kills_in_place(from: &Path, analyses: &str, kills: u64, options: &[&str]) {
    let kills = std::env::var(KILLS).ok().and_then(|kills| kills.parse().ok()).unwrap_or(kills);
    let fleet = Fleet::new(from, analyses);
    let copying = fleet.copying();
    let options = &[&["--exec", &copying], options].concat()[..];
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let chunks = fleet.sessions.chunks.len() as u64;
    for kill in 0..kills {
        let due = (kill + 1) * chunks / kills;
        (kill * chunks / kills..due).for_each(|chunk| fleet.sessions.bring(chunk as usize));
        let mut watching = fleet.start(options);
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        thread::sleep(Duration::from_millis((random >> 33) % 400));
        watching.kill().unwrap();
        watching.wait().unwrap();
    }
    let output = fleet.once(options);
    assert!(output.status.success(), "{}", said(&output));
    fleet.check_received(analyses);
    // Each kill has at most one command run once more.
    let most = fleet.sessions.chunks.len() + kills as usize;
    assert!(fleet.runs() <= most, "{} runs, {most} at most", fleet.runs());
}

#[test]
fn killed_in_place() {
    let directory = tempfile::tempdir().unwrap();
    let session = session(directory.path(), 10);
    check_kills_in_place(&session, "cputop,schedlog,processes", 12, &[]);
    check_kills_in_place(
        &session,
        "cputop,schedlog,processes",
        12,
        &["--delete-above", "0", "--delete-pieces"],
    );
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn killed_in_place_with_two_machines() {
    check_kills_in_place(&corpus("vm/rot2"), ANALYSES, 12, &["--delete-above", "0"]);
}

/// While a command fails, chunks are mapped and kept; when it succeeds, all of them go their way, in order.
#[test]
fn a_command_that_fails_is_run_again() {
    let directory = tempfile::tempdir().unwrap();
    let fleet = Fleet::new(&session(directory.path(), 4), "cputop");
    let ready = fleet.sessions.path("ready");
    let exec = format!("sh -c 'test -e {} && {}", text(&ready), &fleet.copying()["sh -c '".len()..]);
    let mut watching = fleet.start(&[
        "--exec",
        &exec,
        "--delete-above",
        "0",
        "--delete-pieces",
        "--nice",
        "5",
        "--cpus",
        "0.5",
    ]);
    fleet.bring_all();
    let log = fleet.sessions.path("log");
    wait_for(&log, "exit status: 1: 4 pieces to hand over; next attempt in 0.1 s");
    assert_eq!((fleet.pieces("out").len(), fleet.chunks_left(), fleet.runs()), (4, 4, 0));
    fs::write(&ready, "").unwrap();
    wait_until("pieces and chunks go", || fleet.pieces("out").is_empty() && fleet.chunks_left() == 0);
    let runs = fs::read_to_string(fleet.sessions.path("runs")).unwrap();
    assert!(runs.lines().is_sorted() && runs.lines().count() == 4, "{runs}");
    let nice = |process: &str| -> i32 {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
        stat.rsplit(") ").next().unwrap().split(' ').nth(16).unwrap().parse().unwrap()
    };
    assert_eq!(nice(&watching.id().to_string()), 19.min(nice("self") + 5));
    assert!(Command::new("kill").arg(watching.id().to_string()).status().unwrap().success());
    assert!(watching.wait().unwrap().success());
    fleet.check_received("cputop");
}

/// A command that never succeeds keeps everything where it is, and the next run tries again.
#[test]
fn a_command_that_never_succeeds_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let fleet = Fleet::new(&session(directory.path(), 3), "spans");
    fleet.bring_all();
    for exec in ["false", "/no/such/program", "sh -c 'kill -9 $$'"] {
        let output = fleet.once(&["--exec", exec, "--delete-above", "0", "--delete-pieces"]);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert_eq!(said.matches(" to hand over; the next run tries again").count(), 3, "{said}");
        assert_eq!((fleet.pieces("out").len(), fleet.chunks_left()), (3, 3));
    }
    // Asked to end while it waits, a process ends.
    let mut watching = fleet.start(&["--exec", "false"]);
    wait_for(&fleet.sessions.path("log"), "next attempt in 0.1 s");
    assert!(Command::new("kill").arg(watching.id().to_string()).status().unwrap().success());
    assert!(watching.wait().unwrap().success());
    assert!(fleet.once(&["--exec", &fleet.copying()]).status.success());
    fleet.check_received("cputop,processes");
}

/// Whatever is left of the journal, each chunk is received once.
#[test]
fn a_damaged_journal_costs_work_and_no_chunk() {
    let directory = tempfile::tempdir().unwrap();
    let fleet = Fleet::new(&session(directory.path(), 4), "cputop");
    fleet.bring_all();
    let copying = fleet.copying();
    assert!(fleet.once(&["--exec", &copying]).status.success());
    let before: Vec<Vec<u8>> = fleet.pieces("received").iter().map(|it| fs::read(it).unwrap()).collect();
    let whole = fleet.journal();
    for (damaged, complains) in [
        (whole[..whole.len() / 2].to_owned(), true),
        (whole.replace("\"mapped\"", "\"m\u{0}pped\""), true),
        (whole[..whole.len() - 1].to_owned(), false),
        (String::new(), false),
    ] {
        fs::write(fleet.sessions.path("out/journal.jsonl"), &damaged).unwrap();
        let output = fleet.once(&["--exec", &copying]);
        assert!(output.status.success(), "{}", said(&output));
        assert_eq!(said(&output).contains("of its journal cannot be read"), complains, "{}", said(&output));
        let after: Vec<Vec<u8>> = fleet.pieces("received").iter().map(|it| fs::read(it).unwrap()).collect();
        assert!(before == after);
    }
    fleet.check_received("cputop");
    // A piece that somebody has deleted before it was handed over is mapped again.
    let fleet = Fleet::new(&session(&directory.path().join("other"), 2), "cputop");
    fleet.bring_all();
    assert_eq!(fleet.once(&["--exec", "false"]).status.code(), Some(1));
    fs::remove_file(&fleet.pieces("out")[0]).unwrap();
    let output = fleet.once(&["--exec", &copying]);
    assert!(said(&output).contains("it is gone, and was not handed over"), "{}", said(&output));
    assert!(fleet.once(&["--exec", &fleet.copying()]).status.success());
}

/// A chunk that cannot be mapped is reported and written down, and tried again by the next process.
#[test]
fn a_chunk_that_cannot_be_mapped() {
    let directory = tempfile::tempdir().unwrap();
    let fleet = Fleet::new(&session(directory.path(), 3), "cputop");
    fleet.bring_all();
    let broken = fleet.sessions.path("watched").join(&fleet.sessions.chunks[1]);
    let [kept, away] = [broken.join("kernel/metadata"), fleet.sessions.path("metadata")];
    fs::rename(&kept, &away).unwrap();
    for _ in 0..2 {
        let output = fleet.once(&["--format", "jsonl"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(said(&output).contains("no CTF trace found"), "{}", said(&output));
        assert!(String::from_utf8(output.stdout).unwrap().contains("\"event\":\"refused\""));
    }
    assert_eq!(fleet.journal().matches("\"refused\"").count(), 2);
    assert_eq!(fleet.pieces("out").len(), 2);
    // One that is missing is missing, and no figure is wrong.
    fs::rename(&away, &kept).unwrap();
    let output = fleet.once(&["--format", "jsonl"]);
    let lines = String::from_utf8(output.stdout).unwrap();
    let events: Vec<String> = lines
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["event"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(events, ["mapped", "handed_over"]);
    for piece in fleet.pieces("out") {
        fs::rename(&piece, fleet.sessions.path("received").join(piece.file_name().unwrap())).unwrap();
    }
    fleet.check_received("cputop");
}

/// The kernel and the programs of a host in two sessions do not fit when each is mapped alone.
#[test]
fn two_sessions_at_a_time_are_reported() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["one", "other"] {
        session_of("web1", &directory.path().join(name), 2, Some((1, 0)));
    }
    let fleet = Fleet::new(directory.path(), "spans");
    fleet.bring_all();
    let output = fleet.once(&[]);
    assert_eq!(said(&output).matches("two sessions record web1 at a time").count(), 1, "{}", said(&output));
}

#[test]
fn what_cannot_be_mapped_in_place_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let session = session(directory.path(), 2);
    let (here, out) = (text(&session), directory.path().join("out"));
    let check = |arguments: &[&str], expect: &str| {
        let output = isochrone(&[&["watch"], arguments].concat());
        assert!(
            output.status.code() == Some(2) && said(&output).contains(expect),
            "{arguments:?}: {}",
            said(&output)
        );
        assert!(!out.exists());
    };
    let map = ["--map", "spans", "--out", text(&out)];
    check(&["--map", "spans", here], "--out <DIR>");
    check(&map, "no directory to map the chunks of");
    check(&["--out", "x", "cputop", here], "--map <WHAT>");
    check(&["--exec", "x", "cputop", here], "--map <WHAT>");
    check(&[&map[..], &["--state", "x", here]].concat(), "cannot be used with");
    check(&[&map[..], &["--listen", "127.0.0.1:0", here]].concat(), "cannot be used with");
    check(&[&map[..], &["--delete-pieces", here]].concat(), "--exec <COMMAND>");
    check(&[&map[..], &["--exec", "a 'b", here]].concat(), "a quote is not closed");
    check(&[&map[..], &["--cpus", "0", here]].concat(), "not a number of cores");
    check(&[&map[..], &["--nice", "20", here]].concat(), "20 is not in 1..=19");
    check(&[&map[..], &["--host", "web1", here]].concat(), "--host does not apply to --map");
    check(&[&map[..], &["--limit", "3", here]].concat(), "--limit does not apply to pieces with spans");
    check(&[&map[..], &["--format", "csv", here]].concat(), "--format: --map prints");
    check(&[&map[..], &["/no/such"]].concat(), "cannot read /no/such");
    check(&["--map", "usage", "--out", text(&out), here], "usage divides the time");
    check(&["--map", "cputo", "--out", text(&out), here], "invalid value 'cputo'");
    check(&["cputo", here], "invalid value 'cputo' for '<NAME>'");
    check(&[here], "DIR");
    // A directory has pieces of one kind, and one process that writes there.
    ok(&[&["watch", "--once"], &map[..], &[here]].concat());
    let output = isochrone(&["watch", "--once", "--map", "cputop", "--out", text(&out), here]);
    assert!(said(&output).contains("its pieces were mapped for other analyses"), "{}", said(&output));
    let fleet = Fleet::new(&session, "spans");
    let mut watching = fleet.start(&[]);
    wait_until("the journal", || fleet.sessions.path("out/journal.jsonl").exists());
    let output = fleet.once(&[]);
    assert!(
        output.status.code() == Some(2) && said(&output).contains("another process"),
        "{}",
        said(&output)
    );
    watching.kill().unwrap();
    watching.wait().unwrap();
}
