//! What somebody may have meant who typed a name that is not there.

/// Names that are listed.
const MOST: usize = 3;

/// Of the names that there are, those that a wrong one is near to, the nearest first, as the end of a sentence: ``; did you mean `cputop`?``.
/// Nothing where none is.
pub fn did_you_mean<'n>(wrong: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    let lower = wrong.to_lowercase();
    let most = (wrong.chars().count() / 3).clamp(1, 3);
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|name| {
            let distance = strsim::damerau_levenshtein(&lower, &name.to_lowercase());
            let is_part = lower.len() > 2
                && (name.contains(&lower) || (name.len() * 2 >= lower.len() && lower.contains(name)));
            (distance <= most || is_part)
                .then_some((if is_part { distance.min(most) } else { distance }, name))
        })
        .collect();
    near.sort_unstable();
    near.dedup_by_key(|(_, name)| *name);
    let near: Vec<String> = near.iter().take(MOST).map(|(_, name)| format!("`{name}`")).collect();
    match near.as_slice() {
        [] => String::new(),
        [one] => format!("; did you mean {one}?"),
        [first @ .., last] => format!("; did you mean {} or {last}?", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names() {
        let check = |wrong, expect: &str| {
            let known = ["cputop", "schedtop", "syscalls", "syscallstats", "read", "readv"];
            assert_eq!(did_you_mean(wrong, known), expect, "{wrong}");
        };
        check("cputopp", "; did you mean `cputop`?");
        check("syscall", "; did you mean `syscalls` or `syscallstats`?");
        check("sys_read", "; did you mean `read`?");
        check("READ", "; did you mean `read` or `readv`?");
        check("nothing", "");
    }
}
