//! System calls: the fields of their entries and exits, by generation.
//!
//! The rows are those of [`super::call_table`], the notation that of [`super::spec`]. Every exit also has the result, before
//! all else.

use std::borrow::Cow;

use super::call_table::{CALLS, COMPAT, IN_2_8, YOUNG};
use super::generation::{Generation, split_compat};

/// A system call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) name: &'static str,
    /// Number on x86-64: calls without a class of their own are known by it.
    pub(crate) number: i32,
    entry: &'static str,
    /// Without the result.
    exit: &'static str,
    /// Entry of tracers whose exits record the result only; `None`: they know no such call.
    old: Option<&'static str>,
    /// Whether it is younger than the tables of calls of 2.8 and 2.13.
    young: bool,
}

/// The result in exits.
const RET: &str = "long ret";
/// The fields of a call without a class of its own.
pub(crate) const UNKNOWN_OLD: &str = "u32 id, ulong args[6]";
pub(crate) const UNKNOWN_ENTRY: &str = "i32 id, ulong args[6]";
pub(crate) const UNKNOWN_EXIT: &str = "i32 id, long ret, ulong args[6]";

/// A system call by its name; the prefix `compat_` does not matter.
pub(crate) fn find(name: &str) -> Option<Call> {
    all().find(|call| call.name == split_compat(name).1)
}

fn all() -> impl Iterator<Item = Call> {
    let grown = CALLS.iter().map(|&(name, number, entry, exit, old)| Call {
        name,
        number,
        entry,
        exit,
        old: Some(old),
        young: false,
    });
    let young = YOUNG.iter().map(|&(name, number, fields)| Call {
        name,
        number,
        entry: fields,
        exit: fields,
        old: None,
        young: true,
    });
    grown.chain(young)
}

/// The event classes of all calls of a generation: names and fields.
pub(crate) fn of(generation: Generation) -> Vec<(String, Cow<'static, str>)> {
    let mut classes = Vec::new();
    for call in all().filter(|call| call.has_class(generation)) {
        let compat = COMPAT.contains(&call.name).then(|| format!("compat_{}", call.name));
        for name in [Some(call.name.to_owned()), compat].into_iter().flatten() {
            let mut entry = Cow::Borrowed(call.entry(generation));
            if generation.names_exits() && name != call.name {
                // 32-bit programs have wider modes.
                entry = entry.replace("u16 mode", "i32 mode").into();
            }
            classes.push((generation.entry_class(&name), entry));
            if generation.names_exits() {
                classes.push((generation.exit_class(&name), call.exit(generation)));
            }
        }
    }
    for name in ["unknown", "compat_unknown"] {
        if generation.names_exits() {
            classes.push((generation.entry_class(name), UNKNOWN_ENTRY.into()));
            classes.push((generation.exit_class(name), UNKNOWN_EXIT.into()));
        } else {
            classes.push((generation.entry_class(name), UNKNOWN_OLD.into()));
        }
    }
    if !generation.names_exits() {
        classes.push(("exit_syscall".to_owned(), RET.into()));
    }
    classes
}

impl Call {
    /// Whether tracers of this generation have a class for it: else it is one of the `unknown`.
    pub(crate) fn has_class(&self, generation: Generation) -> bool {
        if generation.names_exits() {
            !self.young || generation >= Generation::V2_14
        } else {
            self.old.is_some()
        }
    }

    /// The fields of its entry.
    pub(crate) fn entry(&self, generation: Generation) -> &'static str {
        match (generation, self.override_2_8()) {
            (Generation::V2_1 | Generation::V2_5, _) => self.old.unwrap_or_default(),
            (Generation::V2_8, Some((entry, _))) => entry,
            _ => self.entry,
        }
    }

    /// The fields of its exit, the result included.
    pub(crate) fn exit(&self, generation: Generation) -> Cow<'static, str> {
        let exit = match (generation, self.override_2_8()) {
            (Generation::V2_1 | Generation::V2_5, _) => "",
            (Generation::V2_8, Some((_, exit))) => exit,
            _ => self.exit,
        };
        let ret = if self.name == "mmap" && generation >= Generation::V2_13 { "ptr ret" } else { RET };
        if exit.is_empty() { ret.into() } else { format!("{ret}, {exit}").into() }
    }

    fn override_2_8(&self) -> Option<(&'static str, &'static str)> {
        IN_2_8.iter().find(|row| row.0 == self.name).map(|row| (row.1, row.2))
    }
}
