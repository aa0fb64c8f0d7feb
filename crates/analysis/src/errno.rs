//! Errors that calls return, by name and number.

use std::borrow::Cow;

use isochrone_kernel::calls::error_name;

/// The greatest number that a result may mean as an error.
const LAST: u16 = 4095;

/// The name of an error: `ENOENT` of 2. One that has none is shown by its number.
pub fn errno_name(error: u16) -> Cow<'static, str> {
    error_name(error.into()).map_or_else(|| Cow::Owned(error.to_string()), Cow::Borrowed)
}

/// The error of a name, or of a number in digits; `None` where there is none, for parsers of options.
pub fn errno_of(name: &str) -> Option<u16> {
    let name = match name {
        "EWOULDBLOCK" => "EAGAIN",
        "EDEADLOCK" => "EDEADLK",
        "ENOTSUP" => "EOPNOTSUPP",
        name => name,
    };
    let named = (1..=LAST).find(|&error| error_name(error.into()) == Some(name));
    named.or_else(|| name.parse().ok().filter(|error| (1..=LAST).contains(error)))
}

/// The error in a call's result.
pub(crate) fn error_in(ret: i64) -> Option<u16> {
    ret.checked_neg().and_then(|error| u16::try_from(error).ok()).filter(|error| (1..=LAST).contains(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let check = |error, name: &str| {
            assert_eq!(errno_name(error), name);
            assert_eq!(errno_of(name), Some(error), "{name}");
            assert_eq!(error_in(-i64::from(error)), Some(error));
        };
        check(1, "EPERM");
        check(2, "ENOENT");
        check(28, "ENOSPC");
        check(11, "EAGAIN");
        check(41, "41");
        check(110, "ETIMEDOUT");
        check(512, "ERESTARTSYS");
        check(4095, "4095");
        assert_eq!(errno_of("EWOULDBLOCK"), Some(11));
        for name in ["", "enoent", "0", "4096", "-1"] {
            assert_eq!(errno_of(name), None, "{name}");
        }
        for ret in [0, 1, -4096, i64::MIN] {
            assert_eq!(error_in(ret), None, "{ret}");
        }
    }
}
