//! Lists of CPUs and of names, as notes have them: ranges, and of many the first ones.

/// Number of names, numbers or ranges of a list that are shown.
const SHOWN: usize = 8;

/// `CPU 3`, `CPUs 1, 2 and 5`, `79 CPUs (1–79)`; of many ranges, the first ones.
pub(crate) fn cpu_list(cpus: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(cpu) => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    match cpus {
        [] => "no CPU".to_owned(),
        [cpu] => format!("CPU {cpu}"),
        [first @ .., last] if cpus.len() <= 3 => {
            let first: Vec<String> = first.iter().map(u32::to_string).collect();
            format!("CPUs {} and {last}", first.join(", "))
        }
        _ => {
            let range = |(first, last): &(u32, u32)| match first == last {
                true => first.to_string(),
                false => format!("{first}–{last}"),
            };
            format!("{} CPUs ({})", cpus.len(), first_of(&ranges.iter().map(range).collect::<Vec<_>>()))
        }
    }
}

/// The first entries of a list, and whether there are more.
pub(crate) fn first_of(all: &[String]) -> String {
    let shown = all.len().min(SHOWN);
    format!("{}{}", all[..shown].join(", "), if all.len() > shown { ", …" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_listed_in_ranges() {
        let check = |cpus: &[u32], expect: &str| assert_eq!(cpu_list(cpus), expect);
        check(&[3], "CPU 3");
        check(&[1, 2], "CPUs 1 and 2");
        check(&[1, 2, 5], "CPUs 1, 2 and 5");
        check(&(1..80).collect::<Vec<_>>(), "79 CPUs (1–79)");
        check(&[0, 2, 3, u32::MAX], &format!("4 CPUs (0, 2–3, {})", u32::MAX));
        let odd: Vec<u32> = (0..20).map(|number| 2 * number).collect();
        check(&odd, "20 CPUs (0, 2, 4, 6, 8, 10, 12, 14, …)");
    }
}
