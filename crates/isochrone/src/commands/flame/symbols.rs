//! Names of functions by their addresses, from programs and libraries (ELF), or from what `nm` prints.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Context;
use isochrone_experiment::Function;
use object::{Object as _, ObjectKind, ObjectSegment as _, ObjectSymbol as _, SymbolKind};

use crate::render::plain::plain;

/// What names of the kernel's functions are given for.
pub(super) const KERNEL: &str = "[kernel]";

/// The functions of a file that `--symbols` gives.
#[derive(Debug)]
pub(super) struct NamedSymbols {
    /// Path or name of the file that they are of; `None`: of all that is mapped where it was linked.
    pub(super) binary: Option<String>,
    /// What to read them from, as it was given.
    pub(super) path: String,
    functions: Functions,
    pub(super) program: Option<Program>,
}

/// Functions by address: their sizes, if they are known, and names.
#[derive(Debug, Default, PartialEq, Eq)]
struct Functions(BTreeMap<u64, (Option<u64>, String)>);

/// What a program or a library says of where it is loaded.
#[derive(Debug)]
pub(super) struct Program {
    /// Offset and size in the file, and the address that it is linked to.
    segments: Vec<(u64, u64, u64)>,
    /// Whether it can only be loaded where it is linked to.
    is_fixed: bool,
    /// In hexadecimal digits.
    pub(super) build_id: Option<String>,
}

impl NamedSymbols {
    /// Reads what `--symbols` gives.
    pub(super) fn read(given: &str) -> anyhow::Result<Self> {
        let (binary, path) = match given.split_once('=') {
            Some((binary, path)) => (Some(binary.to_owned()), path),
            None => (None, given),
        };
        let data = fs::read(path).with_context(|| format!("cannot read {}", plain(path)))?;
        let shown = plain(path);
        let (functions, program, what) = if data.starts_with(&object::elf::ELFMAG) {
            let file = object::File::parse(&*data).with_context(|| shown.to_string())?;
            (Functions::of_program(&file), Some(Program::of(&file)?), "no functions: it is stripped")
        } else {
            let functions = Functions::parse(&String::from_utf8_lossy(&data));
            (functions, None, "no functions: neither a program nor what `nm` prints")
        };
        anyhow::ensure!(!functions.0.is_empty(), "{shown}: {what}");
        let binary = binary.or_else(|| program.as_ref().and_then(|_| file_name(path)).map(str::to_owned));
        let is_of_kernel = binary.as_deref() == Some(KERNEL);
        anyhow::ensure!(
            !is_of_kernel || functions.0.len() > 1,
            "{shown}: addresses of the kernel's functions are hidden: copy /proc/kallsyms as root"
        );
        let functions = if is_of_kernel { functions.without_gaps() } else { functions };
        Ok(Self { binary, path: path.to_owned(), functions, program })
    }

    /// Whether no file is named that they are of.
    pub(super) fn is_of_any(&self) -> bool {
        self.binary.is_none()
    }

    /// Whether they are of a file.
    pub(super) fn is_of(&self, path: &str) -> bool {
        self.binary.as_deref().is_some_and(|name| name == path || file_name(path) == Some(name))
    }

    /// The function at an address as it was linked.
    pub(super) fn at(&self, address: u64) -> Option<&str> {
        self.functions.at(address)
    }

    /// The function at an offset in its file. `is_return`: of a call, which is before it.
    pub(super) fn in_file(&self, offset: u64, is_return: bool) -> Option<&str> {
        let address = self.program.as_ref()?.address_of(offset)?;
        self.at(address.checked_sub(u64::from(is_return))?)
    }

    /// A function that a program recorded.
    pub(super) fn of_function(&self, function: &Function<'_>) -> Option<&str> {
        let Some((path, offset)) = function.binary else {
            return self.at(function.address).filter(|_| self.is_of_any());
        };
        match &self.program {
            _ if self.is_of_any() => self.at(function.address),
            _ if !self.is_of(path) => None,
            Some(program) if program.is_fixed => self.at(function.address),
            Some(program) => self.at(program.start()?.checked_add(offset)?),
            // What is no position-independent program is mapped where it was linked.
            None => self.at(offset).or_else(|| self.at(function.address)),
        }
    }
}

pub(super) fn file_name(path: &str) -> Option<&str> {
    Path::new(path).file_name()?.to_str()
}

impl Functions {
    /// Reads what `nm FILE` or `nm -S FILE` prints: an address, with -S a size, a letter for the kind, and a
    /// name. What is not a function is left out. `O(n log n)` in the lines.
    fn parse(text: &str) -> Self {
        let mut by_address = BTreeMap::new();
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (address, size, kind, name) = match words.as_slice() {
                [address, size, kind, name @ ..] if kind.len() == 1 && size.len() > 1 => {
                    (address, Some(*size), kind, name)
                }
                [address, kind, name @ ..] => (address, None, kind, name),
                _ => continue,
            };
            let number = |digits: &str| u64::from_str_radix(digits, 16).ok();
            let is_function = matches!(*kind, "t" | "T" | "w" | "W" | "i" | "I" | "u");
            if let (Some(address), true, [_, ..]) = (number(address), is_function, name) {
                by_address.entry(address).or_insert((size.and_then(number), name.join(" ")));
            }
        }
        Self(by_address)
    }

    fn of_program(file: &object::File<'_>) -> Self {
        let symbols = file.symbols().chain(file.dynamic_symbols());
        let functions = symbols.filter(|it| it.kind() == SymbolKind::Text && it.is_definition());
        let mut by_address = BTreeMap::new();
        for symbol in functions {
            if let Some(name) = symbol.name().ok().filter(|name| !name.is_empty()) {
                let size = Some(symbol.size()).filter(|size| *size > 0);
                let known = by_address.entry(symbol.address()).or_insert((size, name.to_owned()));
                known.0 = known.0.max(size);
            }
        }
        Self(by_address)
    }

    /// Functions that reach to the next one, of a list that has all.
    fn without_gaps(self) -> Self {
        let mut next: Option<u64> = None;
        let mut reaching = BTreeMap::new();
        for (start, (_, name)) in self.0.into_iter().rev() {
            reaching.insert(start, (next.map(|next| next - start), name));
            next = Some(start);
        }
        Self(reaching)
    }

    /// The function that is at an address: that starts there, or whose size reaches it.
    fn at(&self, address: u64) -> Option<&str> {
        let (start, (size, name)) = self.0.range(..=address).next_back()?;
        let offset = address - start;
        (offset == 0 || size.is_some_and(|size| offset < size)).then_some(name)
    }
}

impl Program {
    fn of(file: &object::File<'_>) -> anyhow::Result<Self> {
        let segments = file.segments().map(|segment| {
            let (offset, size) = segment.file_range();
            (offset, size, segment.address())
        });
        let digits = |id: &[u8]| {
            id.iter().fold(String::new(), |mut digits, byte| {
                let _ = write!(digits, "{byte:02x}");
                digits
            })
        };
        let build_id = file.build_id()?.map(digits);
        let is_fixed = file.kind() == ObjectKind::Executable;
        Ok(Self { segments: segments.collect(), is_fixed, build_id })
    }

    /// The address that the first segment is linked to.
    fn start(&self) -> Option<u64> {
        self.segments.iter().map(|(_, _, address)| *address).min()
    }

    /// The address that what is at an offset of the file is linked to.
    fn address_of(&self, offset: u64) -> Option<u64> {
        self.segments.iter().find_map(|&(start, size, address)| {
            let within = offset.checked_sub(start).filter(|within| *within < size)?;
            address.checked_add(within)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found() {
        let functions = Functions::parse(
            "00000000004007d0 T main\n\
             0000000000400800 0000000000000020 t helper(int, char)\n\
             0000000000601040 B counter\n                 U printf\nnot a symbol\n",
        );
        assert_eq!(functions.at(0x40_07d0), Some("main"));
        assert_eq!(functions.at(0x40_07d1), None, "no size is known");
        assert_eq!(functions.at(0x40_081f), Some("helper(int, char)"));
        assert_eq!(functions.at(0x40_0820), None);
        assert_eq!(functions.at(0x60_1040), None, "not a function");
        let whole = functions.without_gaps();
        assert_eq!(whole.at(0x40_07ff), Some("main"), "up to the next one");
        assert_eq!(whole.at(0x40_0801), None, "nothing says where the last one ends");
        assert_eq!(Functions::parse(""), Functions::default());
    }

    #[test]
    fn offsets_are_not_addresses() {
        let segments = vec![(0, 0x600, 0), (0x600, 0x200, 0x1600)];
        let program = Program { segments, is_fixed: false, build_id: None };
        assert_eq!(program.address_of(0x5ff), Some(0x5ff));
        assert_eq!(program.address_of(0x600), Some(0x1600));
        assert_eq!(program.address_of(0x800), None);
        assert_eq!(program.start(), Some(0));
    }
}
