//! Real recordings hold what `trace-cmd report` and `perf script` print of them: the same events at the same
//! times, with the same numbers in their fields.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;

use isochrone_ctf::schema::Scope;
use isochrone_ctf::{Trace, Value, ValueVisitor};
use isochrone_import::{Format, Imported, import};
use tempfile::TempDir;

/// The recordings of a scenario of the public corpus, unpacked.
pub(crate) fn scenario(name: &str) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let packed = Path::new("../../../shared/data/vm").join(format!("{name}.tar.zst"));
    let tar =
        Command::new("tar").arg("--zstd").arg("-xf").arg(packed).arg("-C").arg(directory.path()).status();
    assert!(tar.unwrap().success());
    let path = directory.path().join(name);
    (directory, path)
}

/// An event as one line of a tool has it: time, ns; name; fields.
struct Line {
    time: u64,
    name: String,
    fields: HashMap<String, String>,
}

impl Line {
    /// `comm-1 [000] 15.246629479: sys_exit_write: ret=0x1`, also with the system before the name.
    fn parse(line: &str) -> Option<Self> {
        let (_, rest) = line.split_once("] ")?;
        let mut words = rest.split_whitespace();
        let (seconds, ns) = words.next()?.strip_suffix(':')?.split_once('.')?;
        let time = seconds.parse::<u64>().ok()? * 1_000_000_000 + ns.parse::<u64>().ok()?;
        let name = words.next()?.strip_suffix(':')?;
        let fields = words.filter_map(|word| word.split_once('='));
        let fields = fields.map(|(name, value)| (name.to_owned(), value.trim_end_matches(',').to_owned()));
        Some(Self { time, name: name.rsplit(':').next()?.to_owned(), fields: fields.collect() })
    }
}

/// What a tool prints, but for the events of the network whose packets probes have.
fn lines(tool: &mut Command) -> Vec<Line> {
    let output = tool.output().expect("trace-cmd and perf are needed: apt-get install trace-cmd linux-perf");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let is_kept = |line: &Line| !matches!(&*line.name, "net_dev_queue" | "netif_receive_skb");
    text.lines().filter_map(Line::parse).filter(is_kept).collect()
}

/// The number in a field, whatever its base.
fn number(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|number| number as i64),
        None => text.parse().ok(),
    }
}

/// Reads an import of a recording, and holds each event against a line. Returns how many numbers were equal.
fn check(recording: &Path, format: Format, lines: &[Line]) -> (Imported, u64) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace");
    let imported = import(recording, format, &path, &|_| ()).unwrap();
    let trace = Trace::open(&path).unwrap();
    assert!(trace.diagnostics().is_empty(), "{:?}", trace.diagnostics());
    assert_eq!(trace.streams().len(), 1, "one CPU");
    let (mut index, mut equal) = (0, 0);
    for event in trace.events(0) {
        let name = event.name().unwrap();
        if name.starts_with("lttng_statedump_") {
            continue;
        }
        let line = &lines[index];
        index += 1;
        assert_eq!(event.cycles(), Some(line.time), "{name} at {index}");
        let known =
            [("syscall_entry_", "sys_enter_"), ("syscall_exit_", "sys_exit_"), ("irq_softirq", "softirq")];
        let own = known.iter().find_map(|(ours, own)| Some(format!("{own}{}", name.strip_prefix(ours)?)));
        let own = own.unwrap_or_else(|| match name {
            "net_if_receive_skb" => "rx".to_owned(),
            "net_dev_queue" => "tx".to_owned(),
            _ => name.trim_start_matches("timer_h").to_owned(),
        });
        let is_raw = matches!(&*line.name, "sys_enter" | "sys_exit") && own.starts_with(&line.name);
        assert!(is_raw || own == line.name || line.name == format!("h{own}"), "{own} is {}", line.name);
        let mut visitor = ValueVisitor::default();
        event.visit(Scope::Payload, &mut visitor).unwrap();
        let Some(Value::Struct(values)) = visitor.into_value() else { panic!("{name}") };
        let isochrone_ctf::plan::NodeKind::Struct(members) = &event.node(Scope::Payload).unwrap().kind else {
            panic!("{name}")
        };
        for ((member, _), value) in members.iter().zip(&values) {
            let shown = member.shown();
            let printed = line.fields.get(shown).or_else(|| line.fields.get(&shown.replace("tid", "pid")));
            // The first stands there in base 16, without a sign of that; the second is the thread's number.
            let printed = printed.filter(|_| !matches!(shown, "clone_flags" | "child_pid"));
            let Some(printed) = printed.and_then(|text| number(text)) else { continue };
            let value = match value {
                Value::Unsigned(number) => *number as i64,
                Value::Signed(number) => *number,
                _ => continue,
            };
            let printed = if shown.ends_with("prio") { printed - 100 } else { printed };
            // Of arguments of calls the tools print the whole word.
            let is_same = value == printed || value as i32 == printed as i32;
            assert!(
                is_same || shown == "tid" && name.starts_with("block"),
                "{name} {shown}: {value} {printed}"
            );
            equal += 1;
        }
    }
    assert_eq!(index, lines.len(), "events");
    assert_eq!(imported.events, index as u64);
    (imported, equal)
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn trace_cmd_prints_the_same() {
    let (_directory, path) = scenario("ftrace2");
    for host in ["h1", "h2"] {
        let recording = path.join(format!("{host}.trace.dat"));
        let printed = lines(Command::new("trace-cmd").args(["report", "-t", "-R"]).arg(&recording));
        assert!(printed.len() > 10_000);
        let (imported, equal) = check(&recording, Format::TraceDat, &printed);
        assert!(equal > 20_000, "{equal}");
        assert_eq!((imported.lost, imported.unknown, &*imported.clock), (0, 0, "mono"));
        assert!(!imported.has_unix_time && !imported.is_clock_of_cpu && !imported.are_calls_numbers);
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn perf_script_prints_the_same() {
    let (_directory, path) = scenario("perf2");
    for host in ["h1", "h2"] {
        let recording = path.join(format!("{host}.perf.data"));
        let mut perf = Command::new("perf");
        perf.args(["script", "--ns", "-F", "comm,tid,cpu,time,event,trace", "-i"]).arg(&recording);
        // It refuses files of others.
        perf.arg("--force");
        let printed = lines(&mut perf);
        assert!(printed.len() > 10_000);
        let (imported, equal) = check(&recording, Format::PerfData, &printed);
        assert!(equal > 10_000, "{equal}");
        assert_eq!((imported.lost, imported.unknown, &*imported.clock), (0, 0, "mono"));
        assert!(imported.has_unix_time && !imported.is_clock_of_cpu && imported.are_calls_numbers);
    }
}

/// Numbers of process and parent, and the name, of each thread of a dump.
type Listed = BTreeMap<i64, (i64, i64, String)>;

/// The threads of a trace's dump, and the process of each new one.
fn threads(trace: &Trace) -> (Listed, BTreeMap<i64, i64>) {
    let (mut listed, mut new) = (BTreeMap::new(), BTreeMap::new());
    for event in (0..trace.streams().len()).flat_map(|stream| trace.events(stream)) {
        let class = event.class();
        let number = |name: &str| {
            let field = class.payload_field(event.stream_plan(), &[name])?;
            event.signed(&field)
        };
        match event.name() {
            Some("lttng_statedump_process_state") => {
                let name = class.payload_field(event.stream_plan(), &["name"]).unwrap();
                let name = String::from_utf8_lossy(event.text(&name).unwrap()).into_owned();
                listed
                    .insert(number("tid").unwrap(), (number("pid").unwrap(), number("ppid").unwrap(), name));
            }
            Some("sched_process_fork") => {
                new.insert(number("child_tid").unwrap(), number("child_pid").unwrap());
            }
            _ => {}
        }
    }
    (listed, new)
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn threads_are_those_of_lttng() {
    let (directory, path) = scenario("perf2");
    for host in ["h1", "h2"] {
        let to = directory.path().join(format!("{host}-imported"));
        import(&path.join(format!("{host}.perf.data")), Format::PerfData, &to, &|_| ()).unwrap();
        let (listed, new) = threads(&Trace::open(&to).unwrap());
        let (expect_listed, expect_new) = threads(&Trace::open(&path.join(host).join("kernel")).unwrap());
        // Some began or ended between both lists; workers get other work, programs start others.
        let both = listed.keys().filter(|tid| expect_listed.contains_key(tid));
        let different: Vec<_> = both.filter(|tid| listed[tid] != expect_listed[tid]).collect();
        assert_eq!(different, Vec::<&i64>::new(), "{listed:?} {expect_listed:?}");
        assert!(listed.len() > 80, "{}", listed.len());
        let both: Vec<_> = new.keys().filter(|tid| expect_new.contains_key(tid)).collect();
        assert!(both.iter().all(|tid| new[tid] == expect_new[tid]), "{new:?} {expect_new:?}");
        assert!(both.len() > 2, "{new:?} {expect_new:?}");
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn versions_and_compressions_are_the_same_trace() {
    let (directory, path) = scenario("ftrace2");
    let recording = path.join("h2.trace.dat");
    let stream = |recording: &Path, name: &str| {
        let to = directory.path().join(name);
        import(recording, Format::TraceDat, &to, &|_| ()).unwrap();
        std::fs::read(to.join("ch_0")).unwrap()
    };
    let expect = stream(&recording, "zstd");
    for (version, compression) in [("6", None), ("7", Some("none"))] {
        let converted = directory.path().join(format!("{version}.dat"));
        let mut trace_cmd = Command::new("trace-cmd");
        trace_cmd
            .args(["convert", "--file-version", version, "-i"])
            .arg(&recording)
            .arg("-o")
            .arg(&converted);
        trace_cmd.args(compression.iter().flat_map(|name| ["--compression", name]));
        assert!(trace_cmd.output().unwrap().status.success());
        assert!(stream(&converted, version) == expect, "version {version}");
    }
}
