//! A number among the arguments of a call, and its text.

use std::fmt::{self, Write};

use isochrone_ctf::schema::{Base, IntegerClass};

use crate::show::Show;
use crate::tables::{self as t, Flags, Names};

/// `AT_FDCWD`.
const AT_FDCWD: i64 = -100;

/// The ways to show a number that need nothing but the number. Values that are kept name them by their index.
pub(crate) const SHOWN: &[Show] = &[
    Show::Plain,
    Show::Pointer,
    Show::Directory,
    Show::Octal,
    Show::Open,
    Show::SocketType,
    Show::Clone,
    Show::Futex,
    Show::Flags(t::ACCESS, "F_OK"),
    Show::Flags(t::PROT, "PROT_NONE"),
    Show::Flags(t::MAP, "0"),
    Show::Flags(t::MREMAP, "0"),
    Show::Flags(t::CLONE, "0"),
    Show::Flags(t::MESSAGE, "0"),
    Show::Flags(t::SOCKET_FLAGS, "0"),
    Show::Flags(t::OPEN, "0"),
    Show::Flags(t::EVENT_FLAGS, "0"),
    Show::Flags(t::EPOLL_FLAGS, "0"),
    Show::Flags(t::INOTIFY_FLAGS, "0"),
    Show::Flags(t::TIMER_FLAGS, "0"),
    Show::Flags(t::TIMER_SET_FLAGS, "0"),
    Show::Flags(t::SIGNAL_FD_FLAGS, "0"),
    Show::Flags(t::MEMORY_FD_FLAGS, "0"),
    Show::Flags(t::SLEEP_FLAGS, "0"),
    Show::Flags(t::SPLICE, "0"),
    Show::Flags(t::CLOSE_RANGE, "0"),
    Show::Flags(t::AT_UNLINK, "0"),
    Show::Flags(t::AT, "0"),
    Show::Flags(t::WAIT, "0"),
    Show::Names(t::FAMILY),
    Show::Names(t::EPOLL_OP),
    Show::Names(t::FCNTL),
    Show::Names(t::WHENCE),
    Show::Names(t::SHUTDOWN),
    Show::Names(t::MASK_HOW),
    Show::Names(t::CLOCK),
    Show::Names(t::LEVEL),
    Show::Names(t::RESOURCE),
    Show::Names(t::ADVICE),
    Show::Names(t::SIGNAL),
    Show::Command(t::IOCTL),
];

/// The index of a way in [`SHOWN`]. Permissions that matter only for files that are made are kept for these
/// alone.
pub(crate) fn index(show: Show) -> Option<u8> {
    let show = if matches!(show, Show::OctalIfCreated) { Show::Octal } else { show };
    SHOWN.iter().position(|known| *known == show).map(|place| place as u8)
}

/// What of the class of a number decides how it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form {
    bits: u8,
    is_signed: bool,
    base: FormBase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FormBase {
    Decimal,
    Octal,
    Hexadecimal,
}

/// What the class of a number calls a value.
pub(crate) type Labels<'l> = &'l dyn Fn(i64) -> Option<&'l str>;

/// Bits of the numbers that most arguments are.
const USUAL_BITS: [u8; 4] = [8, 16, 32, 64];
const BASES: [FormBase; 3] = [FormBase::Decimal, FormBase::Octal, FormBase::Hexadecimal];

impl Form {
    /// As five bits, if it is a usual one.
    pub(crate) fn code(self) -> Option<u8> {
        let bits = USUAL_BITS.iter().position(|&bits| bits == self.bits)?;
        let base = BASES.iter().position(|&base| base == self.base)?;
        Some((bits | usize::from(self.is_signed) << 2 | base << 3) as u8)
    }

    /// The inverse of [`Self::code`].
    pub(crate) fn of_code(code: u8) -> Self {
        let base = BASES.get(usize::from(code >> 3 & 3)).copied().unwrap_or(FormBase::Decimal);
        Self { bits: USUAL_BITS[usize::from(code & 3)], is_signed: code >> 2 & 1 == 1, base }
    }
}

/// A number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Number {
    pub(crate) form: Form,
    pub(crate) value: i64,
}

impl Number {
    /// A number of a class; those without a sign wrap around.
    pub(crate) fn of(class: &IntegerClass, value: i64) -> Self {
        let base = match class.base {
            Base::Hexadecimal | Base::Binary => FormBase::Hexadecimal,
            Base::Octal => FormBase::Octal,
            Base::Decimal => FormBase::Decimal,
        };
        Self { form: Form { bits: class.size.min(64) as u8, is_signed: class.signed, base }, value }
    }

    /// Writes it. `show` is one of [`SHOWN`]; any other shows what the class defines. `labels`: what its
    /// class calls a value.
    pub(crate) fn show(self, show: Show, labels: Labels<'_>, out: &mut impl Write) -> fmt::Result {
        let (value, raw) = (self.value, self.raw());
        match show {
            Show::Pointer if raw == 0 => out.write_str("NULL"),
            Show::Pointer => write!(out, "{raw:#x}"),
            Show::Directory if value == AT_FDCWD => out.write_str("AT_FDCWD"),
            Show::Octal => write!(out, "0{raw:o}"),
            Show::Open => {
                let access = ["O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"][(raw & 3) as usize];
                out.write_str(access)?;
                put_flags(t::OPEN, raw & !3, "", true, out)
            }
            Show::Flags(flags, none) => put_flags(flags, raw, none, false, out),
            Show::Names(names) => self.name(names, value, labels, out),
            Show::Command(names) => match t::name(names, value) {
                Some(name) => out.write_str(name),
                None => write!(out, "{raw:#x}"),
            },
            Show::SocketType => {
                self.name(t::SOCKET_TYPE, value & 0xf, labels, out)?;
                put_flags(t::SOCKET_FLAGS, raw & !0xf, "", true, out)
            }
            Show::Clone => {
                put_flags(t::CLONE, raw & !0xff, "", false, out)?;
                match (raw & 0xff, raw & !0xff) {
                    (0, 0) => out.write_str("0"),
                    (0, _) => Ok(()),
                    (signal, flags) => {
                        if flags != 0 {
                            out.write_str("|")?;
                        }
                        self.name(t::SIGNAL, signal as i64, labels, out)
                    }
                }
            }
            Show::Futex => {
                self.name(t::FUTEX, (raw & 0x7f) as i64, labels, out)?;
                put_flags(t::FUTEX_FLAGS, raw & !0x7f, "", true, out)
            }
            Show::Skip | Show::Plain | Show::Directory | Show::OctalIfCreated | Show::FdSet => {
                self.plain(value, labels, out)
            }
        }
    }

    /// Its bits.
    pub(crate) fn raw(self) -> u64 {
        low_bits(self.value as u64, u32::from(self.form.bits))
    }

    /// A value as the class defines.
    fn plain(self, value: i64, labels: Labels<'_>, out: &mut impl Write) -> fmt::Result {
        if let Some(label) = labels(value) {
            return out.write_str(label);
        }
        let raw = low_bits(value as u64, u32::from(self.form.bits));
        match self.form.base {
            FormBase::Hexadecimal if value == 0 => out.write_str("0"),
            FormBase::Hexadecimal => write!(out, "{raw:#x}"),
            FormBase::Octal => write!(out, "0{raw:o}"),
            FormBase::Decimal if self.form.is_signed => write!(out, "{value}"),
            FormBase::Decimal => write!(out, "{}", value as u64),
        }
    }

    fn name(self, names: Names, value: i64, labels: Labels<'_>, out: &mut impl Write) -> fmt::Result {
        match t::name(names, value) {
            Some(name) => out.write_str(name),
            None => self.plain(value, labels, out),
        }
    }
}

/// The names of all bits that are set; bits without a name in hexadecimal. `more`: something was written
/// before.
fn put_flags(flags: Flags, value: u64, none: &str, more: bool, out: &mut impl Write) -> fmt::Result {
    if value == 0 {
        return if more { Ok(()) } else { out.write_str(none) };
    }
    let mut left = value;
    let mut bar = more;
    for &(bits, name) in flags {
        if left & bits == bits {
            left &= !bits;
            if bar {
                out.write_str("|")?;
            }
            bar = true;
            out.write_str(name)?;
        }
    }
    if left != 0 {
        if bar {
            out.write_str("|")?;
        }
        write!(out, "{left:#x}")?;
    }
    Ok(())
}

/// The low bits of a number.
fn low_bits(value: u64, size: u32) -> u64 {
    if size < 64 { value & ((1 << size) - 1) } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_bits_are_shown_as_numbers() {
        let check = |value: u64, expect: &str| {
            let mut text = String::new();
            put_flags(t::PROT, value, "PROT_NONE", false, &mut text).unwrap();
            assert_eq!(text, expect);
        };
        check(0, "PROT_NONE");
        check(5, "PROT_READ|PROT_EXEC");
        check(0x11, "PROT_READ|0x10");
        check(0x10, "0x10");
    }

    #[test]
    fn each_way_has_a_number() {
        for (place, show) in SHOWN.iter().enumerate() {
            assert_eq!(index(*show), Some(place as u8), "{show:?}");
        }
        assert_eq!(index(Show::FdSet), None);
    }

    #[test]
    fn forms_come_back() {
        for bits in USUAL_BITS {
            for (is_signed, base) in [false, true].into_iter().flat_map(|sign| BASES.map(|base| (sign, base)))
            {
                let form = Form { bits, is_signed, base };
                assert_eq!(form.code().map(Form::of_code), Some(form));
            }
        }
        assert_eq!(Form { bits: 4, is_signed: false, base: FormBase::Decimal }.code(), None);
    }
}
