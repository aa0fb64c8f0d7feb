//! A stretch of a host's time, in which it is read.

/// Raw time of a host's clock, ns.
pub type Time = i64;

/// From one raw time to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Window {
    /// The first instant in it; [`Time::MIN`] for the begin of everything.
    pub from: Time,
    /// The first instant after it; [`Time::MAX`] for the end of everything, which it holds then.
    pub until: Time,
}

impl Window {
    /// All of a host's time.
    pub const WHOLE: Self = Self { from: Time::MIN, until: Time::MAX };

    /// Whether an instant is in it.
    pub fn contains(self, time: Time) -> bool {
        self.from <= time && (self.until == Time::MAX || time < self.until)
    }

    /// Whether nothing can be in it.
    pub fn is_empty(self) -> bool {
        self.from >= self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_in_one_window() {
        let check = |from, until, time, expect| {
            assert_eq!(Window { from, until }.contains(time), expect, "{from} {until} {time}");
        };
        check(10, 20, 9, false);
        check(10, 20, 10, true);
        check(10, 20, 19, true);
        check(10, 20, 20, false);
        check(Time::MIN, 10, Time::MIN, true);
        check(20, Time::MAX, Time::MAX, true);
        check(10, 10, 10, false);
    }
}
