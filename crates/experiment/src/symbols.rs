//! Names of functions by their addresses, from what `nm` prints.

use std::collections::BTreeMap;

/// The functions of a program or a library.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Symbols {
    /// By address: size, if it is known, and name.
    by_address: BTreeMap<u64, (Option<u64>, String)>,
}

impl Symbols {
    /// Reads what `nm FILE` or `nm -S FILE` prints: an address, with -S a size, a letter for the kind, and a
    /// name. What is not a function is left out. `O(n log n)` in the lines.
    pub fn parse(text: &str) -> Self {
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
        Self { by_address }
    }

    /// The function that is at an address: that starts there, or whose size reaches it.
    pub fn at(&self, address: u64) -> Option<&str> {
        let (start, (size, name)) = self.by_address.range(..=address).next_back()?;
        let offset = address - start;
        (offset == 0 || size.is_some_and(|size| offset < size)).then_some(name)
    }

    /// Whether there is no function.
    pub fn is_empty(&self) -> bool {
        self.by_address.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found() {
        let symbols = Symbols::parse(
            "00000000004007d0 T main\n\
             0000000000400800 0000000000000020 t helper(int, char)\n\
             0000000000601040 B counter\n                 U printf\nnot a symbol\n",
        );
        assert_eq!(symbols.at(0x40_07d0), Some("main"));
        assert_eq!(symbols.at(0x40_07d1), None, "no size is known");
        assert_eq!(symbols.at(0x40_081f), Some("helper(int, char)"));
        assert_eq!(symbols.at(0x40_0820), None);
        assert_eq!(symbols.at(0x60_1040), None, "not a function");
        assert!(Symbols::parse("").is_empty());
    }
}
