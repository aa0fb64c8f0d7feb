//! Programs that steer the clock, by the names that the kernel gives their threads.
//!
//! `super::watch` looks the two names of every `sched_switch` up here, so the answer "no" must cost next to
//! nothing: the first two bytes of a name decide nearly always.

/// The name of a thread as the kernel keeps it: at most 15 bytes, then a NUL. What comes after the NUL means
/// nothing.
pub type Comm = [u8; 16];

/// How a program changes the rate of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// Only while it calls `adjtimex` or `clock_adjtime`: between two calls the rate is constant.
    Calls,
    /// It leaves the work to the kernel (its PLL or FLL, or `adjtime`), which then changes the rate at any
    /// time.
    Kernel,
}

/// A program that steers the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Daemon {
    /// Name of its threads.
    pub comm: &'static str,
    /// How it changes the rate.
    pub means: Means,
}

const fn calls(comm: &'static str) -> Daemon {
    Daemon { comm, means: Means::Calls }
}

const fn kernel(comm: &'static str) -> Daemon {
    Daemon { comm, means: Means::Kernel }
}

/// All that are known. Who is in doubt is taken for the weaker [`Means::Kernel`].
pub const DAEMONS: [Daemon; 21] = [
    // Sets the frequency and the length of a tick itself, and ends each slew with a call.
    calls("chronyd"),
    // linuxptp sets the frequency, once for each message of its master. ptp4l does so on the system's clock
    // where it stamps in software; of hardware clocks nothing needs to be known.
    calls("ptp4l"),
    calls("phc2sys"),
    // The reference implementation, NTPsec's and OpenNTPD's all are called so, and that of busybox through
    // its link: adjtime() each second, or the kernel's PLL.
    kernel("ntpd"),
    kernel("openntpd"),
    // ntpd-rs calls its threads so. It sets the frequency, but may slew by the kernel.
    kernel("ntp-daemon"),
    kernel("ntpd-rs"),
    // systemd-timesyncd: the kernel's PLL; it sleeps for up to 34 minutes meanwhile.
    kernel("systemd-timesyn"),
    // PTPd hands offsets to the kernel or sets the frequency, by its configuration; sfptpd is Solarflare's.
    kernel("ptpd"),
    kernel("ptpd2"),
    kernel("sfptpd"),
    // Those that set the clock once; small offsets are slewed by adjtime().
    kernel("ntpdate"),
    kernel("sntp"),
    kernel("msntp"),
    kernel("rdate"),
    kernel("htpdate"),
    // Sets what its arguments say, the PLL too.
    kernel("adjtimex"),
    // Guests that take the time of their hosts: slewed by adjtime(), or by the PLL.
    kernel("vmtoolsd"),
    kernel("VBoxService"),
    kernel("prltoolsd"),
    // RADclock steers through the kernel, too.
    kernel("radclock"),
];

/// Programs that call `adjtimex` to ask how the clock stands, and change nothing.
const READERS: [&str; 4] = [
    // Exports what the kernel says of the clock.
    "node_exporter",
    // Ask whether the clock is synchronized; systemd's own daemon for NTP is another program.
    "timedatectl",
    "systemd-timedat",
    // Shows what the kernel says of the clock.
    // Talks to chronyd, which does the work.
    "chronyc",
];

/// Which first two bytes the names of daemons have: a bit for each pair of their lower five bits.
const FIRST_TWO: [u64; 16] = first_two();

const fn first_two() -> [u64; 16] {
    let mut bits = [0; 16];
    let mut index = 0;
    while index < DAEMONS.len() {
        let name = DAEMONS[index].comm.as_bytes();
        let place = place(name[0], name[1]);
        bits[place / 64] |= 1 << (place % 64);
        index += 1;
    }
    bits
}

const fn place(first: u8, second: u8) -> usize {
    (first as usize & 31) << 5 | (second as usize & 31)
}

/// Whether a thread of this name may be one of a daemon. Wrong for few names, and then with "yes".
#[inline]
pub(super) fn may_be(comm: &Comm) -> bool {
    let place = place(comm[0], comm[1]);
    FIRST_TWO[place / 64] >> (place % 64) & 1 != 0
}

/// The index in [`DAEMONS`] of the program that has threads of this name.
pub fn find(comm: &Comm) -> Option<usize> {
    DAEMONS.iter().position(|daemon| daemon.comm.as_bytes() == shown(comm))
}

/// Whether a program only asks how the clock stands.
pub fn is_reader(comm: &Comm) -> bool {
    READERS.iter().any(|reader| reader.as_bytes() == shown(comm))
}

/// The bytes of a name before its end.
pub fn shown(comm: &Comm) -> &[u8] {
    let end = comm.iter().position(|&byte| byte == 0).unwrap_or(comm.len());
    &comm[..end]
}

/// A name with nothing after its end, as it can be compared; what does not fit is cut off.
pub fn named(name: &[u8]) -> Comm {
    let mut comm = Comm::default();
    let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len()).min(comm.len() - 1);
    comm[..end].copy_from_slice(&name[..end]);
    comm
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_up_to_their_end() {
        let check = |comm: &[u8; 16], expect: Option<&str>| {
            assert_eq!(find(comm).map(|daemon| DAEMONS[daemon].comm), expect);
            assert!(may_be(comm) || expect.is_none());
        };
        check(b"chronyd\0\0\0\0\0\0\0\0\0", Some("chronyd"));
        check(b"chronyd\0/0:1-ev\0", Some("chronyd"));
        check(b"chronyc\0\0\0\0\0\0\0\0\0", None);
        check(b"systemd-timesyn\0", Some("systemd-timesyn"));
        check(b"systemd-timedat\0", None);
        check(&[0; 16], None);
        assert!(is_reader(&named(b"chronyc")) && is_reader(&named(b"systemd-timedated")));
    }

    #[test]
    fn usual_threads_are_reported_by_two_bytes() {
        for usual in
            ["swapper/0", "kworker/0:1", "rcu_preempt", "ksoftirqd/0", "migration/0", "nginx", "java", "bash"]
        {
            assert!(!may_be(&named(usual.as_bytes())), "{usual}");
        }
        for daemon in &DAEMONS {
            assert!(daemon.comm.len() < 16 && may_be(&named(daemon.comm.as_bytes())), "{}", daemon.comm);
        }
    }
}
