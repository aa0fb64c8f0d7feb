//! Suggestions for names that are unknown.

/// Maximum number of names that are suggested.
const MAX_SUGGESTED: usize = 3;

/// Those of some names that are similar to an unknown one, the nearest first, as the end of a sentence: ``; did you mean `cputop`?``. Empty
/// where none is.
pub fn did_you_mean<'n>(wrong: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    let lower = wrong.to_lowercase();
    let max = (wrong.chars().count() / 3).clamp(1, 3);
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|name| {
            let distance = strsim::damerau_levenshtein(&lower, &name.to_lowercase());
            let is_part = lower.len() > 2
                && (name.contains(&lower) || (name.len() * 2 >= lower.len() && lower.contains(name)));
            (distance <= max || is_part).then_some((if is_part { distance.min(max) } else { distance }, name))
        })
        .collect();
    near.sort_unstable();
    near.dedup_by_key(|(_, name)| *name);
    let near: Vec<String> = near.iter().take(MAX_SUGGESTED).map(|(_, name)| format!("`{name}`")).collect();
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
