//! The share of a machine that mapping in place takes: of its cores, and with which priority.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use nix::sys::resource::{UsageWho, getrusage};

use super::CHECK_INTERVAL;

/// Gives this process, and those that it starts, a lower priority.
///
/// # Errors
/// The program `renice` cannot be run, or refuses.
pub(super) fn lower_priority(nice: u8) -> anyhow::Result<()> {
    // There is no safe call for it. Threads that are started from now on have the priority of this one.
    let output = Command::new("renice")
        .args(["-n", &nice.to_string(), "-p", &std::process::id().to_string()])
        .stdin(Stdio::null())
        .output()
        .context("--nice: cannot run `renice`")?;
    let said = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "--nice: {}", said.trim());
    Ok(())
}

/// CPU time of this process so far.
pub(super) fn cpu_time() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok();
    let micros = usage.map_or(0, |usage| {
        let all = [usage.user_time(), usage.system_time()];
        all.iter().map(|time| time.tv_sec() * 1_000_000 + time.tv_usec()).sum()
    });
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

/// The share of the cores for some work.
#[derive(Debug)]
pub(super) struct Share<'s> {
    cores: f64,
    is_stopped: &'s AtomicBool,
    start: Instant,
    cpu_at_start: Duration,
}

impl<'s> Share<'s> {
    /// Begins work that is to take at most `cores` cores.
    pub(super) fn new(cores: f64, is_stopped: &'s AtomicBool) -> Self {
        Self { cores, is_stopped, start: Instant::now(), cpu_at_start: cpu_time() }
    }

    /// CPU time of the work so far.
    pub(super) fn used(&self) -> Duration {
        cpu_time().saturating_sub(self.cpu_at_start)
    }

    /// Sleeps until the work has taken no more than its share; not when the process is to end.
    pub(super) fn pause(&self) {
        // What several threads do is limited by their number.
        if self.cores.fract() == 0.0 {
            return;
        }
        let due = self.used().div_f64(self.cores);
        while let Some(left) = due.checked_sub(self.start.elapsed()).filter(|left| !left.is_zero()) {
            if self.is_stopped.load(Ordering::Relaxed) {
                return;
            }
            thread::sleep(left.min(CHECK_INTERVAL));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_a_core_takes_ten_times_as_long() {
        let is_stopped = AtomicBool::new(false);
        let share = Share::new(0.1, &is_stopped);
        while share.used() < Duration::from_millis(30) {
            std::hint::black_box(());
        }
        share.pause();
        assert!(share.start.elapsed() >= Duration::from_millis(290));
        // Nothing waits in a process that is to end.
        let is_stopped = AtomicBool::new(true);
        let share = Share::new(0.01, &is_stopped);
        while share.used() < Duration::from_millis(10) {
            std::hint::black_box(());
        }
        let begin = Instant::now();
        share.pause();
        assert!(begin.elapsed() < Duration::from_millis(900));
    }
}
