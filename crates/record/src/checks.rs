//! What is missing on a host for a recording, by what it answered, and the line that mends it there.

use crate::remote::Answers;
use crate::script::{Kept, Tracer};

/// What must be free on the disk of a host to begin, KiB.
pub const MIN_FREE_KB: u64 = 256 << 10;
/// A recording is stopped where less is free, KiB.
pub const STOP_FREE_KB: u64 = 64 << 10;

/// What is to be recorded.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// The tracer that was asked for; `None`: LTTng where the host has it, else the kernel's own.
    pub tracer: Option<Tracer>,
    /// Whether the kernel is recorded: else programs alone are.
    pub has_kernel: bool,
    /// The buffer of each CPU, bytes.
    pub buffer: u64,
    /// Whether hosts are to be tied by their packets: there are several.
    pub has_others: bool,
    /// What hosts keep of it.
    pub kept: Kept,
}

/// Something that is not as a recording needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub what: String,
    /// The line to type on that host.
    pub mend: Option<String>,
    /// Whether nothing can be recorded so; else the recording is worse.
    pub is_fatal: bool,
}

/// What a host is, and whether it is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Its system and tracer, for people.
    pub system: String,
    /// The tracer that will record it.
    pub tracer: Option<Tracer>,
    /// What is missing, by weight: what is fatal first.
    pub findings: Vec<Finding>,
}

impl Checked {
    /// Whether it can be recorded.
    pub fn is_ready(&self) -> bool {
        self.tracer.is_some() && !self.findings.iter().any(|finding| finding.is_fatal)
    }
}

/// A family of distributions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Debian,
    RedHat,
    Arch,
    Other,
}

/// Lines for Debian, RHEL and Arch, and their relatives.
type Lines = [&'static str; 3];

const INSTALL_LTTNG: Lines = [
    "apt-get install lttng-tools",
    "dnf install epel-release && dnf install lttng-tools",
    "git clone https://aur.archlinux.org/lttng-tools.git && cd lttng-tools && makepkg -si",
];
const INSTALL_MODULES: Lines = [
    "apt-get install lttng-modules-dkms linux-headers-$(uname -r)",
    "dnf install kernel-devel-$(uname -r) gcc make     (then https://lttng.org/docs/#doc-build-from-source)",
    "git clone https://aur.archlinux.org/lttng-modules-dkms.git && cd lttng-modules-dkms && makepkg -si",
];
const INSTALL_TRACE_CMD: Lines =
    ["apt-get install trace-cmd", "dnf install trace-cmd", "pacman -S trace-cmd"];
const INSTALL_PAHOLE: Lines = ["apt-get install pahole", "dnf install dwarves", "pacman -S pahole"];

/// The line of a family; where none is known, the program's name says what to install.
fn line(lines: Lines, family: Family) -> Option<String> {
    let found = match family {
        Family::Debian => lines[0],
        Family::RedHat => lines[1],
        Family::Arch => lines[2],
        Family::Other => return None,
    };
    Some(found.to_owned())
}

fn family(answers: &Answers) -> Family {
    [answers.get("os"), answers.get("like")]
        .into_iter()
        .flatten()
        .flat_map(str::split_whitespace)
        .find_map(|name| match name {
            "debian" | "ubuntu" => Some(Family::Debian),
            "rhel" | "fedora" | "centos" => Some(Family::RedHat),
            "arch" => Some(Family::Arch),
            _ => None,
        })
        .unwrap_or(Family::Other)
}

/// What a host that answered `check` is, and what is missing.
pub fn check(answers: &Answers, wanted: &Wanted) -> Checked {
    let family = family(answers);
    let lttng = of_lttng(answers, wanted, family);
    let ftrace = || of_ftrace(answers, wanted, family);
    let is_fatal = |findings: &[Finding]| findings.iter().any(|finding| finding.is_fatal);
    let (tracer, mut findings) = match wanted.tracer {
        Some(Tracer::Lttng) => (Tracer::Lttng, lttng),
        Some(Tracer::Ftrace) => (Tracer::Ftrace, ftrace()),
        None if !wanted.has_kernel || has_modules(answers) => (Tracer::Lttng, lttng),
        None => match ftrace() {
            found if is_fatal(&found) => (Tracer::Lttng, [lttng, found].concat()),
            found => (Tracer::Ftrace, found),
        },
    };
    findings.extend(of_machine(answers, wanted));
    findings.dedup();
    findings.sort_by_key(|finding| !finding.is_fatal);
    let is_ready = !is_fatal(&findings);
    Checked { system: system(answers, tracer, wanted), tracer: is_ready.then_some(tracer), findings }
}

fn system(answers: &Answers, tracer: Tracer, wanted: &Wanted) -> String {
    let name = answers.get("name").unwrap_or("Linux").replace("GNU/Linux ", "");
    let kernel = answers.get("kernel").unwrap_or("unknown");
    let lttng = answers.get("lttng").filter(|version| !version.is_empty());
    let tracer = match (tracer, lttng) {
        (Tracer::Ftrace, _) if wanted.tracer.is_none() => ", no LTTng modules: ftrace".to_owned(),
        (Tracer::Ftrace, _) => ", ftrace".to_owned(),
        (Tracer::Lttng, Some(version)) if wanted.has_kernel && has_modules(answers) => {
            format!(", LTTng {version} with modules")
        }
        (Tracer::Lttng, Some(version)) => format!(", LTTng {version}"),
        (Tracer::Lttng, None) => String::new(),
    };
    format!("{name}, kernel {kernel}{tracer}")
}

/// Whether LTTng can record the kernel, or could with what can be mended on a host that has it.
fn has_modules(answers: &Answers) -> bool {
    let is_installed = has_program(answers, "lttng") && has_program(answers, "lttng-sessiond");
    is_installed && has_kernel_tracer(answers)
}

fn has_kernel_tracer(answers: &Answers) -> bool {
    answers.get("kernel_tracer") == Some("running")
        || matches!(answers.get("modules"), Some("loaded" | "there"))
}

fn has_program(answers: &Answers, program: &str) -> bool {
    answers.all("program").any(|name| name == program)
}

fn fatal(what: impl Into<String>, mend: Option<String>) -> Finding {
    Finding { what: what.into(), mend, is_fatal: true }
}

fn lesser(what: impl Into<String>, mend: Option<String>) -> Finding {
    Finding { what: what.into(), mend, is_fatal: false }
}

fn of_lttng(answers: &Answers, wanted: &Wanted, family: Family) -> Vec<Finding> {
    let mut found = Vec::new();
    if !has_program(answers, "lttng") || !has_program(answers, "lttng-sessiond") {
        found.push(fatal("LTTng is not installed", line(INSTALL_LTTNG, family)));
    }
    if !wanted.has_kernel {
        return found;
    }
    if answers.get("kernel_tracer") != Some("running") {
        match answers.get("modules") {
            Some("loaded" | "there") if answers.get("uid") != Some("0") => {
                found.push(fatal(NO_ROOT, Some(ROOT.to_owned())));
            }
            Some("loaded" | "there") if answers.get("daemon") == Some("running") => found.push(fatal(
                "its session daemon has no kernel tracer: it runs without root, or was started before the \
                 modules were installed",
                Some("systemctl restart lttng-sessiond".to_owned()),
            )),
            Some("loaded" | "there") => {}
            Some("refused") => {
                let why = answers.get("modules_error").unwrap_or("unknown");
                found.push(fatal(format!("the kernel refuses LTTng's modules: {why}"), None));
            }
            _ => {
                found.push(fatal("LTTng's kernel modules are not installed", line(INSTALL_MODULES, family)));
            }
        }
    }
    // LTTng reads the headers of what arrives where receive offload has set them.
    if wanted.has_others {
        for off in answers.all("gro").filter_map(|gro| gro.strip_suffix(" off")) {
            found.push(fatal(
                format!("GRO is off on {off}: packets would have no headers"),
                Some(format!("ethtool -K {off} gro on     (or --tracer ftrace, which does not mind)")),
            ));
        }
    }
    found
}

const NO_ROOT: &str = "no root: neither the login nor `sudo -n` is root";
const ROOT: &str = "echo \"$(id -un) ALL=(root) NOPASSWD: ALL\" | sudo tee /etc/sudoers.d/isochrone     \
                    (or record root@HOST; or --user-space, which needs no root)";

/// Why the kernel's own tracer records neither chunks nor a snapshot.
pub const FTRACE_KEEPS_ALL: &str =
    "the kernel's own tracer records from start to end: --rotate and --snapshot need LTTng";

fn of_ftrace(answers: &Answers, wanted: &Wanted, family: Family) -> Vec<Finding> {
    if wanted.kept != Kept::All {
        return vec![fatal(FTRACE_KEEPS_ALL, None)];
    }
    let mut found = Vec::new();
    if answers.get("uid") != Some("0") {
        return vec![fatal(NO_ROOT, Some(ROOT.to_owned()))];
    }
    if answers.get("tracefs").is_none() {
        found.push(fatal(
            "tracefs is not there",
            Some("mount -t tracefs nodev /sys/kernel/tracing".to_owned()),
        ));
        return found;
    }
    if answers.get("tracefs_writable").is_none() {
        found.push(fatal("tracefs cannot be written, not even by root: the kernel is locked down", None));
        return found;
    }
    // An instance of the tracer does not disturb others; reading its buffers needs what `dd` of coreutils
    // can.
    if answers.get("tracefs_readable").is_none() {
        if !has_program(answers, "trace-cmd") {
            found.push(fatal(
                "neither trace-cmd nor `dd` with iflag=nonblock is there to read the kernel's buffers",
                line(INSTALL_TRACE_CMD, family),
            ));
        } else if answers.get("tracefs_busy").is_some() {
            found.push(fatal(
                "the kernel's tracer is in use by another program",
                Some("trace-cmd reset".to_owned()),
            ));
        }
    }
    let packets = |what: &str, mend| Finding {
        what: format!("{what}: packets would have no headers, and hosts are tied by these"),
        mend,
        is_fatal: wanted.has_others,
    };
    match answers.get("packet_events") {
        Some("none") | None => found.push(packets(
            "the kernel takes neither event probes nor function probes (CONFIG_EPROBE_EVENTS, \
             CONFIG_KPROBE_EVENTS)",
            None,
        )),
        Some(_) if answers.get("skb_data").is_none_or(|offset| offset.parse::<u32>().is_err()) => {
            found.push(packets(
                "where packets are in memory is unknown: none of pahole, bpftool and python3 read \
                 /sys/kernel/btf/vmlinux",
                line(INSTALL_PAHOLE, family),
            ));
        }
        Some(_) => {}
    }
    if wanted.has_others {
        for name in answers.all("gro").filter_map(|gro| gro.strip_suffix(" on")) {
            found.push(lesser(
                format!(
                    "GRO is on on {name}: packets are joined before they are recorded, so that some \
                         do not tie hosts"
                ),
                Some(format!("ethtool -K {name} gro off")),
            ));
        }
    }
    found
}

fn of_machine(answers: &Answers, wanted: &Wanted) -> Vec<Finding> {
    let mut found = Vec::new();
    if !has_program(answers, "tar") {
        found.push(fatal("tar is not installed", None));
    }
    let directory =
        answers.get("directory").map_or("unknown", |path| path.rsplit_once('/').map_or(path, |it| it.0));
    match answers.number("free_kb") {
        Some(free) if free >= MIN_FREE_KB => {}
        Some(free) => found.push(fatal(
            format!(
                "only {} MiB are free in {directory}, of {} that a recording needs",
                free >> 10,
                MIN_FREE_KB >> 10
            ),
            Some("choose another directory there: --on-host DIR".to_owned()),
        )),
        None => found.push(lesser(format!("how much is free in {directory} is unknown"), None)),
    }
    if let Some((cpus, memory)) = answers.number("cpus").zip(answers.number("memory_kb")) {
        let buffers = cpus.saturating_mul(wanted.buffer >> 10);
        if buffers > memory / 2 {
            found.push(fatal(
                format!(
                    "buffers for {cpus} CPUs take {} MiB, more than half of the {} MiB that are free",
                    buffers >> 10,
                    memory >> 10
                ),
                Some("a smaller --buffer".to_owned()),
            ));
        }
    }
    for name in answers.all("lro").filter_map(|lro| lro.strip_suffix(" on")).filter(|_| wanted.has_others) {
        found.push(lesser(
            format!("LRO is on on {name}: the device joins packets, and those do not tie hosts"),
            Some(format!("ethtool -K {name} lro off")),
        ));
    }
    let daemons: Vec<&str> = answers.all("time").collect();
    if wanted.has_others && !daemons.is_empty() {
        found.push(lesser(
            format!(
                "{} steers the clock: bounds are wider than of a clock that runs free",
                daemons.join(", ")
            ),
            None,
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const READY: &str = "host=web1;kernel=6.1.0-56;os=debian;like=;name=Debian GNU/Linux 12;uid=0;cpus=4;\
                         memory_kb=8000000;directory=/var/tmp/isochrone.x;free_kb=9000000;program=lttng;\
                         program=lttng-sessiond;program=tar;program=trace-cmd;lttng=2.13.9;modules=there;\
                         tracefs=/sys/kernel/tracing;tracefs_writable=yes;packet_events=e;skb_data=208;\
                         gro=ens3 on";

    /// What a host is that answers so, with some answers changed: `key=` leaves one out.
    fn checked(changes: &[&str], wanted: &Wanted) -> Checked {
        let mut answers = Answers::default();
        for (key, value) in READY.split(';').filter_map(|answer| answer.split_once('=')) {
            let is_changed = |change: &&str| change.split_once('=').is_some_and(|(name, _)| name == key);
            if !changes.iter().any(is_changed) {
                answers.0.push((key.to_owned(), value.to_owned()));
            }
        }
        let set =
            changes.iter().filter_map(|change| change.split_once('=')).filter(|(_, value)| !value.is_empty());
        answers.0.extend(set.map(|(key, value)| (key.to_owned(), value.to_owned())));
        check(&answers, wanted)
    }

    const WANTED: Wanted =
        Wanted { tracer: None, has_kernel: true, buffer: 8 << 20, has_others: true, kept: Kept::All };

    #[test]
    fn a_host_is_ready() {
        let found = checked(&[], &WANTED);
        assert!(found.is_ready() && found.findings.is_empty(), "{found:?}");
        assert_eq!(found.system, "Debian 12, kernel 6.1.0-56, LTTng 2.13.9 with modules");
        let ftrace = checked(&["modules=absent", "gro=ens3 off"], &WANTED);
        assert_eq!((ftrace.tracer, ftrace.findings.len()), (Some(Tracer::Ftrace), 0), "{ftrace:?}");
        assert_eq!(ftrace.system, "Debian 12, kernel 6.1.0-56, no LTTng modules: ftrace");
        // Neither without trace-cmd nor beside another program is it needed.
        let readable = ["program=tar", "tracefs_busy=yes", "tracefs_readable=yes", "gro=ens3 off"];
        let ftrace = checked(&readable, &Wanted { tracer: Some(Tracer::Ftrace), ..WANTED });
        assert!(ftrace.is_ready() && ftrace.findings.is_empty(), "{ftrace:?}");
        // Where LTTng needs something, it is said, and no other tracer is taken.
        let mended = checked(&["gro=ens3 off"], &WANTED);
        assert!(!mended.is_ready() && mended.findings[0].what.contains("GRO is off"), "{mended:?}");
    }

    /// Each thing that is missing is said, with the line that mends it.
    #[test]
    fn what_is_missing_is_said() {
        let lttng = Wanted { tracer: Some(Tracer::Lttng), ..WANTED };
        let ftrace = Wanted { tracer: Some(Tracer::Ftrace), ..WANTED };
        let table: [(&[&str], &Wanted, &str, &str); 12] = [
            (&["gro=ens3 off"], &lttng, "GRO is off on ens3", "ethtool -K ens3 gro on"),
            (
                &["modules=absent"],
                &lttng,
                "LTTng's kernel modules are not",
                "apt-get install lttng-modules-dkms",
            ),
            (
                &["modules=absent", "os=arch"],
                &lttng,
                "LTTng's kernel modules are not",
                "lttng-modules-dkms.git",
            ),
            (&["program=tar"], &lttng, "LTTng is not installed", "apt-get install lttng-tools"),
            (&["program=tar", "os=rocky", "like=rhel centos fedora"], &lttng, "LTTng is not", "dnf install"),
            (&["uid=1000"], &lttng, "no root", "NOPASSWD"),
            (&["free_kb=1024"], &lttng, "only 1 MiB are free in /var/tmp, of 256", "--on-host DIR"),
            (&["memory_kb=40000"], &lttng, "buffers for 4 CPUs take 32 MiB", "a smaller --buffer"),
            (&["program=tar"], &ftrace, "neither trace-cmd nor `dd`", "apt-get install trace-cmd"),
            (&["skb_data="], &ftrace, "where packets are in memory is unknown", "apt-get install pahole"),
            (&["tracefs="], &ftrace, "tracefs is not there", "mount -t tracefs"),
            (&["tracefs_busy=yes"], &ftrace, "in use by another program", "trace-cmd reset"),
        ];
        for (changes, wanted, what, mend) in table {
            let found = checked(changes, wanted);
            assert!(!found.is_ready(), "{changes:?}");
            let first = &found.findings[0];
            let is_said = first.what.contains(what) && first.mend.as_deref().unwrap_or("").contains(mend);
            assert!(is_said, "{changes:?}: {first:?}");
        }
    }

    /// A host without LTTng's modules does not record another thing than was asked for.
    #[test]
    fn ftrace_keeps_all() {
        let snapshot = Wanted { kept: Kept::Last, ..WANTED };
        assert!(checked(&[], &snapshot).is_ready());
        let found = checked(&["modules=absent"], &snapshot);
        let what: Vec<&str> = found.findings.iter().map(|finding| finding.what.as_str()).collect();
        assert!(!found.is_ready(), "{found:?}");
        assert_eq!(what, ["LTTng's kernel modules are not installed", FTRACE_KEEPS_ALL]);
    }

    /// One host has no others to be tied to; programs need neither root nor modules.
    #[test]
    fn what_is_not_needed_is_not_missed() {
        let alone = Wanted { has_others: false, ..WANTED };
        assert!(checked(&["gro=ens3 off"], &alone).findings.is_empty());
        let ftrace = Wanted { tracer: Some(Tracer::Ftrace), ..alone };
        let without = checked(&["packet_events=none"], &ftrace);
        assert!(without.is_ready() && without.findings.len() == 1, "{without:?}");
        let user = Wanted { has_kernel: false, ..WANTED };
        let found = checked(&["uid=1000", "modules=absent", "gro=ens3 off", "time=chronyd"], &user);
        assert!(found.is_ready(), "{found:?}");
        assert_eq!(found.system, "Debian 12, kernel 6.1.0-56, LTTng 2.13.9");
    }
}
