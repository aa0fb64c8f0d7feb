//! Names of hosts as they are typed: how to reach them, and the directory of their recording.

use std::collections::BTreeSet;

/// A host to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// As it was typed: what `ssh` is given.
    pub name: String,
    /// The directory of its recording: letters, digits, `.`, `-` and `_` alone, and unlike those of others.
    pub directory: String,
    /// This machine, without `ssh`.
    pub is_local: bool,
}

/// Why a name is no host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// `ssh` would take it for an option, or it is empty.
    #[error("`{0}` is not the name of a host")]
    Name(String),
    /// Two recordings of one host at once.
    #[error("{0} is given twice")]
    Twice(String),
}

/// The hosts of these names: `localhost` and `.` are this machine.
///
/// # Errors
/// A name is no host's, or is there twice.
pub fn targets(names: &[String]) -> Result<Vec<Target>, TargetError> {
    let (mut seen, mut directories) = (BTreeSet::new(), BTreeSet::new());
    let mut target = |name: &String| {
        let is_local = name == "." || name == "localhost";
        let host = name.rsplit_once('@').map_or(name.as_str(), |(_, host)| host);
        if host.is_empty() || name.starts_with('-') || name.chars().any(char::is_control) {
            return Err(TargetError::Name(name.escape_debug().to_string()));
        }
        if !seen.insert(if is_local { "localhost".to_owned() } else { name.clone() }) {
            return Err(TargetError::Twice(name.clone()));
        }
        let clean = match is_local {
            true => "localhost".to_owned(),
            false => cleaned(host),
        };
        let numbered = (2..).map(|number| format!("{clean}-{number}"));
        let mut free = std::iter::once(clean.clone()).chain(numbered);
        let directory = free.find(|name| directories.insert(name.clone())).unwrap_or(clean);
        Ok(Target { name: name.clone(), directory, is_local })
    };
    names.iter().map(&mut target).collect()
}

/// A name with nothing in it that a shell or a path would take for something else.
fn cleaned(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let clean: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    match clean.trim_start_matches(['.', '-']) {
        "" => "host".to_owned(),
        rest => rest.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_directories_of_their_own() {
        let names =
            |names: &[&str]| targets(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        let directories = |list: &[&str]| {
            let found = names(list).unwrap();
            found.into_iter().map(|target| target.directory).collect::<Vec<_>>()
        };
        assert_eq!(directories(&["web1", "root@db", "."]), ["web1", "db", "localhost"]);
        assert_eq!(directories(&["a@db", "b@db"]), ["db", "db-2"]);
        assert_eq!(
            directories(&["fe80::1%eth0", "x/../y", "..", "a b;rm"]),
            ["fe80__1_eth0", "x_.._y", "host", "a_b_rm"]
        );
        assert_eq!(names(&["-oProxyCommand=x"]), Err(TargetError::Name("-oProxyCommand=x".to_owned())));
        assert_eq!(names(&["root@"]), Err(TargetError::Name("root@".to_owned())));
        assert_eq!(names(&[".", "localhost"]), Err(TargetError::Twice("localhost".to_owned())));
        assert_eq!(names(&["a", "a"]), Err(TargetError::Twice("a".to_owned())));
    }
}
