//! Pieces mapped by processes of their own, merged in any order, and analysed: what comes of it is what the
//! whole traces give, to the byte.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use isochrone_testkit::LttngTrace;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::common::shared;

/// All that need no other options, and one that has times on a common clock in its pieces.
const ANALYSES: &str = "cputop,fds,iolatencyfreq,iolatencystats,iolatencytop,iolog,iousagetop,irqfreq,irqlog,irqstats,memtop,\
                        pagefaults,periodfreq,periodlog,periodstats,periodtop,processes,schedfreq,schedlog,schedstats,schedtop,syscalls,\
                        syscallstats,usage";

fn isochrone(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_isochrone")).args(arguments).output().unwrap()
}

/// What a command that succeeds prints.
fn ok(arguments: &[&str]) -> Vec<u8> {
    let output = isochrone(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// What a command that fails says.
fn refused(arguments: &[&str]) -> String {
    let output = isochrone(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// Traces, where their pieces are kept, and what is said of them as a whole.
struct Whole {
    directory: tempfile::TempDir,
    traces: Vec<String>,
    /// Options of `map` that are options of `analyze`, too.
    options: Vec<&'static str>,
}

impl Whole {
    fn new(traces: &[PathBuf], options: &[&'static str]) -> Self {
        let traces: Vec<String> = traces.iter().map(|path| text(path)).collect();
        Self { directory: tempfile::tempdir().unwrap(), traces, options: options.to_vec() }
    }

    fn file(&self, name: &str) -> String {
        text(&self.directory.path().join(name))
    }

    fn command<'c>(&'c self, before: &[&'c str]) -> Vec<&'c str> {
        let traces = self.traces.iter().map(String::as_str);
        before.iter().copied().chain(self.options.iter().copied()).chain(traces).collect()
    }

    fn map(&self, analyses: &str, piece: &[&str], name: &str) -> String {
        let file = self.file(name);
        let piece = if piece.is_empty() { &["--piece", "1/1"] } else { piece };
        ok(&self.command(&[&["map", "-q", analyses, "-o", &file], piece].concat()));
        file
    }

    /// The tables of all analyses, as the traces have them.
    fn json(&self, analyses: &str) -> Vec<u8> {
        let clock: &[&str] = if self.options.contains(&"--sync") { &[] } else { &["--no-sync"] };
        ok(&self.command(&[&["analyze", "-q", analyses, "--format", "json"], clock].concat()))
    }
}

/// Maps in so many pieces, merges in an order and a bracketing that the numbers choose, and compares.
fn check_order(whole: &Whole, analyses: &str, pieces: usize, choices: &[usize], expect: &[u8]) {
    let map = |number: usize| {
        whole.map(analyses, &["--piece", &format!("{number}/{pieces}")], &format!("{number}.piece"))
    };
    let mut files: Vec<String> = (1..=pieces).map(map).collect();
    let kept = files.clone();
    let unmerged: Vec<&str> = kept.iter().rev().map(String::as_str).collect();
    let analyze = ["analyze", "-q", analyses, "--format", "json"];
    assert!(ok(&[&analyze, &unmerged[..]].concat()) == expect, "{pieces} pieces, not merged");
    for (step, choice) in choices.iter().enumerate() {
        if files.len() < 2 {
            break;
        }
        let one = files.remove(choice % files.len());
        let other = files.remove(choice / 7 % files.len());
        let both = whole.file(&format!("step{step}"));
        ok(&["merge", "-q", &one, &other, "-o", &both]);
        files.push(both);
    }
    let merged = whole.file("merged");
    let rest: Vec<&str> = files.iter().map(String::as_str).collect();
    ok(&[&["merge", "-q", "-o", &merged], &rest[..]].concat());
    assert!(ok(&[&analyze[..], &[&merged]].concat()) == expect, "{pieces} pieces, {choices:?}");
    // The file does not tell in which order its pieces came.
    let at_once = whole.file("at-once");
    ok(&[&["merge", "-q", "-o", &at_once], &unmerged[..]].concat());
    assert!(fs::read(&merged).unwrap() == fs::read(&at_once).unwrap(), "{pieces} pieces, {choices:?}");
}

/// Some random numbers of pieces, orders and bracketings.
fn check_orders(whole: &Whole, analyses: &str, cases: u32) {
    let expect = whole.json(analyses);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 0, ..Config::default() };
    let cases = (1_usize..9, prop::collection::vec(0_usize..1000, 0..8));
    TestRunner::new(config)
        .run(&cases, |(pieces, choices)| {
            check_order(whole, analyses, pieces, &choices, &expect);
            Ok(())
        })
        .unwrap();
}

fn corpus(part: &str) -> PathBuf {
    shared().join("data").join(part)
}

fn shop() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop").canonicalize().unwrap()
}

#[test]
fn of_the_example() {
    check_orders(&Whole::new(&[shop()], &[]), ANALYSES, 3);
}

#[test]
fn with_filters_and_times() {
    let options = ["--min", "10us", "--cpu", "0,1", "--begin", "06:10:24", "--end", "06:10:26.5", "--linear"];
    check_orders(&Whole::new(&[shop()], &options), "iolatencyfreq,irqlog,schedfreq,syscallstats,cputop", 2);
    check_orders(&Whole::new(&[shop()], &["--at", "06:10:25"]), "processes,fds,syscalls", 2);
    check_orders(&Whole::new(&[shop()], &["--every", "100ms"]), "usage", 1);
}

#[test]
fn on_one_clock() {
    let directory = tempfile::tempdir().unwrap();
    let sync: &'static str = Box::leak(text(&directory.path().join("sync.json")).into_boxed_str());
    ok(&["sync", "-q", "-o", sync, &text(&shop())]);
    let options = ["--sync", sync, "--begin", "06:10:24"];
    let corrected = Whole::new(&[shop()], &options);
    check_orders(&corrected, "schedlog,usage", 2);
    // Where nothing depends on them, corrections may come later.
    let plain = Whole::new(&[shop()], &[]);
    let file = plain.map("schedlog,iolog", &[], "plain");
    let later = ok(&["analyze", "-q", "iolog", "--bounds", "--sync", sync, "--format", "json", &file]);
    let expect =
        ok(&["analyze", "-q", "iolog", "--bounds", "--sync", sync, "--format", "json", &text(&shop())]);
    assert!(later == expect);
    let fixed = corrected.map("usage", &[], "fixed");
    let said = refused(&["analyze", "usage", "--sync", sync, &fixed]);
    assert!(said.contains("--sync: the pieces were mapped for times on other clocks"), "{said}");
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn of_three_machines() {
    check_orders(&Whole::new(&[corpus("vm/chain3")], &[]), ANALYSES, 1);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn of_rotated_sessions() {
    check_orders(&Whole::new(&[corpus("vm/rot2/h1"), corpus("vm/rot2/h2")], &[]), ANALYSES, 2);
    check_orders(&Whole::new(&[corpus("vm/phases3/h2")], &[]), ANALYSES, 1);
}

/// Cuts where somebody names times, the pieces of one host apart from those of another.
#[test]
fn of_named_times() {
    let hosts = ["client", "app", "db"].map(|name| shop().join(name));
    let whole = Whole::new(&hosts, &[]);
    let expect = whole.json("syscalls,schedlog,cputop");
    let borders = ["06:10:23.9", "06:10:25.000000001", "06:10:26"];
    let mut files = Vec::new();
    for (number, host) in hosts.iter().enumerate() {
        let one = Whole::new(std::slice::from_ref(host), &[]);
        for place in 0..=borders.len() {
            let mut piece = Vec::new();
            if place > 0 {
                piece.extend(["--from", borders[place - 1]]);
            }
            if place < borders.len() {
                piece.extend(["--to", borders[place]]);
            }
            let file = whole.file(&format!("{number}-{place}"));
            ok(&one.command(&[&["map", "-q", "syscalls,schedlog,cputop", "-o", &file], &piece[..]].concat()));
            files.push(file);
        }
    }
    files.rotate_left(5);
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let analyze = ["analyze", "-q", "syscalls,schedlog,cputop", "--format", "json"];
    assert!(ok(&[&analyze[..], &files].concat()) == expect);
}

/// Tables for people and filters on threads are made later, of whatever was mapped.
#[test]
fn tables_are_made_later() {
    let whole = Whole::new(&[shop()], &[]);
    let files = [1, 2]
        .map(|n| whole.map("schedtop,cputop,syscallstats", &["--piece", &format!("{n}/2")], &n.to_string()));
    let files = files.each_ref().map(String::as_str);
    let check = |options: &[&str]| {
        let of_traces = ok(&whole.command(&[&["analyze", "-q"], options, &["--no-sync"]].concat()));
        assert_eq!(
            String::from_utf8(ok(&[&["analyze", "-q"], options, &files].concat())).unwrap(),
            String::from_utf8(of_traces).unwrap(),
            "{options:?}"
        );
    };
    check(&["schedtop"]);
    check(&["schedtop", "--limit", "3", "--host", "h2"]);
    check(&["cputop,schedtop", "--procname", "appsrv*"]);
    check(&["syscallstats", "--by-process", "--sort", "count", "--format", "csv"]);
    check(&["syscallstats", "--format", "jsonl", "--table", "syscalls"]);
    // What is said beside the tables is the same, too.
    let said = |arguments: &[&str]| String::from_utf8(isochrone(arguments).stderr).unwrap();
    let of_traces = said(&whole.command(&["analyze", "cputop", "--tid", "77777", "--no-sync"]));
    assert_eq!(
        said(&[&["analyze", "cputop", "--tid", "77777", "--no-sync"], &files[..]].concat()),
        of_traces
    );
}

#[test]
fn what_is_wrong_is_named() {
    let whole = Whole::new(&[shop()], &[]);
    let piece = |n: usize| whole.map("cputop,irqstats", &["--piece", &format!("{n}/4")], &n.to_string());
    let files = [1, 2, 3, 4].map(piece);
    let [one, two, three, four] = files.each_ref().map(String::as_str);
    let check = |arguments: &[&str], expect: &[&str]| {
        let said = refused(arguments);
        for text in expect {
            assert!(said.contains(text), "`{text}` is not in: {said}");
        }
    };
    let out = whole.file("out");
    check(&["merge", one, two, one, "-o", &out], &["1: is named twice", "from the start to 2026-11-20"]);
    let wide = whole.map("cputop,irqstats", &["--piece", "1/2"], "wide");
    check(&["merge", two, &wide, "-o", &out], &["2 and ", "wide: both have a piece of h2, from 2026-11-20"]);
    check(
        &["analyze", "cputop", one, two, four],
        &["pieces are missing: h1 from 2026-11-20", "; h2 from", "; h3 from"],
    );
    check(&["analyze", "cputop", two, three, four], &["h1 from the start to 2026-11-20"]);
    check(
        &["analyze", "schedtop", one, two, three, four],
        &["the pieces were not mapped for schedtop", "they were mapped for cputop, irqstats"],
    );
    check(&["analyze", "cputop", "--min", "1ms", one], &["--min does not apply to cputop"]);
    check(
        &["analyze", "irqstats", "--min", "1ms", one],
        &["--min does not apply to mapped pieces", "isochrone map"],
    );
    check(&["analyze", "cputop", one, &text(&shop())], &["cannot be combined with traces"]);
    check(&["states", one], &["states does not apply to these pieces", "`isochrone map states`"]);
    check(&["merge", one, two, "-o", one], &["it is an input"]);
    check(&["view", one], &["1: holds what analyses keep", "`isochrone map spans`"]);
    check(&["map", "cputop", "--tid", "7", &text(&shop()), "-o", &out], &["--tid does not apply to map"]);
    check(&["map", "cputop", "--piece", "5/4", &text(&shop()), "-o", &out], &["not a piece K/N"]);
    check(
        &["map", "cputop", "--from", "06:11", "--to", "06:10", &text(&shop()), "-o", &out],
        &["--to is not after --from"],
    );
    let filtered = Whole::new(&[shop()], &["--min", "1ms"]);
    let others = filtered.map("cputop,irqstats", &["--piece", "2/4"], "filtered");
    check(&["merge", one, &others, "-o", &out], &["were mapped with different options"]);
    let other = whole.map("cputop", &["--piece", "2/4"], "fewer");
    check(&["merge", one, &other, "-o", &out], &["were mapped for different analyses"]);
    let trace = text(&shop().join("app/kernel/metadata"));
    check(&["merge", one, &trace, "-o", &out], &["metadata: a file of a trace"]);
    let foreign = whole.file("foreign");
    fs::write(&foreign, "something else").unwrap();
    check(&["merge", one, &foreign, "-o", &out], &["foreign: no mapped piece: the file begins otherwise"]);
    // A file of another version, and one that is damaged.
    let bytes = fs::read(one).unwrap();
    let damage = |place: usize, expect: &[&str]| {
        let (mut bytes, file) = (bytes.clone(), whole.file("changed"));
        bytes[place] ^= 1;
        fs::write(&file, bytes).unwrap();
        check(&["merge", two, &file, "-o", &out], expect);
    };
    damage(8, &["changed holds chunks that were mapped alone, and ", "2 a part of traces"]);
    check(&["merge", &whole.file("changed"), "-o", &out], &["changed: damaged at byte "]);
    damage(12, &["changed: written by a program whose models have another form", "map the pieces again"]);
    damage(400, &["changed: the file is damaged: the checksum is wrong"]);
    assert!(!Path::new(&out).exists());
    // Nothing half done is left beside the files.
    let hidden = fs::read_dir(whole.directory.path())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with('.'));
    assert_eq!(hidden.count(), 0);
}

/// Pieces of one host that were mapped of different traces do not belong together.
#[test]
fn other_traces_are_foreign() {
    let traces = tempfile::tempdir().unwrap();
    let write = |name: &str, events: u64| {
        let mut trace = LttngTrace::kernel("web1");
        for at in 0..events {
            trace.event(0, (1000 + at) * 1_000_000, "sched_switch", &[("next_tid", 9.into())]);
        }
        let path = traces.path().join(name);
        trace.write(&path).unwrap();
        path
    };
    let (whole, part) = (Whole::new(&[write("whole", 100)], &[]), Whole::new(&[write("part", 50)], &[]));
    let (one, two) =
        (whole.map("cputop", &["--piece", "1/2"], "one"), part.map("cputop", &["--piece", "2/2"], "two"));
    let said = refused(&["merge", &one, &two, "-o", &whole.file("out")]);
    assert!(said.contains("what they have of web1 was not mapped of the same traces"), "{said}");
    // More pieces than there are events: most of them are empty, and that is said.
    let expect = part.json("cputop");
    let map = |n: usize| part.map("cputop", &["--piece", &format!("{n}/99")], &format!("{n}.piece"));
    let files: Vec<String> = (1..=99).map(map).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    assert!(ok(&[&["analyze", "-q", "cputop", "--format", "json"], &files[..]].concat()) == expect);
}

/// A directory whose programs come first, without GNU parallel or with it.
fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/pieces").join(name).canonicalize().unwrap()
}

#[test]
fn the_script_for_one_machine() {
    let expect =
        ok(&["analyze", "-q", "cputop,syscallstats", "--no-sync", "--format", "json", &text(&shop())]);
    // Once as this machine has it, once with xargs alone.
    let tools = tempfile::tempdir().unwrap();
    for tool in ["sh", "nproc", "mktemp", "seq", "xargs", "rm", "env"] {
        let found = Command::new("sh").args(["-c", &format!("command -v {tool}")]).output().unwrap();
        let found = String::from_utf8(found.stdout).unwrap();
        std::os::unix::fs::symlink(found.trim_end(), tools.path().join(tool)).unwrap();
    }
    for path in [std::env::var("PATH").unwrap(), text(tools.path())] {
        let output = Command::new("/bin/sh")
            .arg(script("parallel.sh"))
            .args([
                "cputop,syscallstats",
                "5",
                &text(&shop().join("client")),
                &text(&shop().join("app")),
                &text(&shop().join("db")),
            ])
            .env("ISOCHRONE", env!("CARGO_BIN_EXE_isochrone"))
            .env("PATH", path)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout == expect);
    }
}

/// What an error says takes an option does take it.
#[test]
fn what_an_error_names_takes_the_option() {
    let directory = tempfile::tempdir().unwrap();
    let (file, other) = (text(&directory.path().join("p.piece")), text(&directory.path().join("o.piece")));
    let app = text(&shop().join("app"));
    let options: [(&str, &[&str]); 31] = [
        ("cputop", &["--tid", "1"]),
        ("cputop", &["--pid", "1"]),
        ("cputop", &["--procname", "x"]),
        ("cputop", &["--cpu", "0"]),
        ("cputop", &["--by-process"]),
        ("cputop", &["--sort", "percent"]),
        ("cputop", &["--limit", "3"]),
        ("cputop", &["--bounds"]),
        ("cputop", &["--table", "threads"]),
        ("cputop", &["--format", "json"]),
        ("cputop", &["--chunks", "2"]),
        ("cputop", &["--begin", "+1s"]),
        ("cputop", &["--end", "+1s"]),
        ("syscallstats", &["--min", "1ms"]),
        ("syscallstats", &["--max", "1ms"]),
        ("syscallstats", &["--call", "read"]),
        ("syscallstats", &["--period", "x : $evt.$name == \"sched_switch\""]),
        ("iolog", &["--minsize", "1"]),
        ("iolog", &["--maxsize", "100"]),
        ("irqstats", &["--irq"]),
        ("irqstats", &["--softirq"]),
        ("irqfreq", &["--linear"]),
        ("irqfreq", &["--bars", "5"]),
        ("fds", &["--fd", "3"]),
        ("syscalls", &["--errno", "2"]),
        ("syscalls", &["--around", "--limit", "1"]),
        ("usage", &["--every", "1s"]),
        ("processes", &["--at", "+1s"]),
        ("cputop", &["--metadata"]),
        ("cputop", &["--mi-version"]),
        ("cputop", &["--test-compatibility"]),
    ];
    let mut refusals = 0;
    for (analysis, option) in options {
        // A chunk alone does not show how long its steps are.
        let part: &[&str] = if analysis == "usage" { &["--piece", "1/1"] } else { &[] };
        ok(&[&["map", "-q", analysis, "--no-sync", &app, "-o", &file], part].concat());
        let map = [&["map", "-q", analysis], option, &[app.as_str(), "-o", &other]].concat();
        let of_traces = [&["analyze", "-q", analysis], option, &[app.as_str()]].concat();
        let of_piece = [&["analyze", "-q", analysis], option, &[file.as_str()]].concat();
        // A command refuses the option itself, and not its value.
        let refusal = |arguments: &[&str]| {
            let output = isochrone(arguments);
            let said = String::from_utf8(output.stderr).unwrap();
            said.contains(&format!("{} does not apply to", option[0])).then_some(said)
        };
        for arguments in [&map, &of_piece] {
            let Some(said) = refusal(arguments) else { continue };
            refusals += 1;
            let named = match () {
                () if said.contains("`isochrone analyze` with them") => &of_traces,
                () if said.contains("give it to `isochrone analyze`") => &of_piece,
                () if said.contains("give it to `isochrone map`") => &map,
                () => panic!("{said} names nothing"),
            };
            assert_eq!(refusal(named), None, "{said}");
        }
    }
    assert!(refusals > 20, "{refusals}");
}

/// Other bytes are other types, another meaning, or other texts: but for texts, `FORM` in
/// `crates/experiment/src/pieces/mod.rs` has to be one more then, and these numbers those of the new bytes.
/// So no program reads what it does not understand.
#[test]
fn pieces_have_the_bytes_of_their_form() {
    const FORM: u64 = 6;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("p.piece");
    ok(&["map", "-q", ANALYSES, "--piece", "1/1", &text(&shop().join("app")), "-o", &text(&file)]);
    let piece = fs::read(&file).unwrap();
    let form = u64::from_le_bytes(piece[12..20].try_into().unwrap());
    assert_eq!((form, piece.len(), crc32fast::hash(&piece)), (FORM, 982_078, 2_996_333_574));
}

/// A cluster's scheduler is played by a shell function's worth of script: what matters is what the tasks are
/// given.
#[test]
fn the_script_for_slurm() {
    let syntax = Command::new("bash").arg("-n").arg(script("slurm.sh")).status().unwrap();
    assert!(syntax.success());
    let directory = tempfile::tempdir().unwrap();
    let sbatch = directory.path().join("sbatch");
    let played = r#"#!/bin/bash
for word; do
    case $word in
        --array=1-*) last=${word#--array=1-} ;;
        --*) ;;
        *) break ;;
    esac
    shift
done
[ -z "${last:-}" ] || echo 77
for task in $(seq "${last:-1}"); do SLURM_ARRAY_TASK_ID=$task bash "$@" >&2; done
"#;
    fs::write(&sbatch, played).unwrap();
    fs::set_permissions(&sbatch, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let out = directory.path().join("out");
    let path = format!("{}:{}", text(directory.path()), std::env::var("PATH").unwrap());
    let output = Command::new("bash")
        .arg(script("slurm.sh"))
        .args(["cputop", "3", &text(&out), &text(&shop())])
        .env("ISOCHRONE", env!("CARGO_BIN_EXE_isochrone"))
        .env("PATH", path)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let expect = ok(&["analyze", "-q", "cputop", "--no-sync", "--format", "json", &text(&shop())]);
    assert!(fs::read(out.join("report.json")).unwrap() == expect);
}
