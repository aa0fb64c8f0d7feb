//! The page of an experiment, as it is typed. How it looks in a browser is tested there: `ui/tests/html.test.mjs`.

use super::{check, hosts, on_hosts, run, run_with};

/// How often a part is in a page.
fn count(page: &str, part: &str) -> usize {
    page.matches(part).count()
}

#[test]
fn a_page_says_who_used_what() {
    let said = on_hosts(&["summary"]);
    assert_eq!(said.status, Some(0), "{}", said.err);
    let page = &said.out;
    for heading in [
        "CPUs",
        "Disks and files",
        "Network",
        "Memory",
        "Requests",
        "System calls",
        "Waits for a CPU, and interrupts",
        "Synchronization",
        "What is missing",
    ] {
        assert_eq!(count(page, &format!("<h2>{heading}</h2>")), 1, "{heading}");
    }
    // A strip for each host, bars for the slowest requests, the slowest across its hosts, the graph, and a picture for each link.
    assert_eq!(count(page, "<path class=\"busy\""), 3);
    assert_eq!(count(page, ">request 1"), 5, "of 24 requests, those of two digits that begin so");
    assert!(count(page, "class=\"packet\"") > 10);
    assert_eq!((count(page, "<circle class=\"node "), count(page, "aria-label=\"messages between ")), (3, 2));
    // The figures are those of the commands.
    let of_command = |arguments: &[&str], column: usize| -> String {
        let table = on_hosts(&[arguments, &["-q", "--format", "csv"]].concat()).out;
        table.lines().nth(1).unwrap().split(',').nth(column).unwrap().to_owned()
    };
    let requests = on_hosts(&["critical-path", "-q", "--format", "csv", "--table", "requests"]).out;
    assert!(page.contains(&format!("{} requests: median", requests.lines().count() - 1)), "{page}");
    let busiest = ["analyze", "cputop", "--by-process", "--table", "processes"];
    let (host, comm) = (of_command(&busiest, 0), of_command(&busiest, 3));
    assert!(page.contains(&format!("most was used by {comm} (")), "{comm}");
    assert!(page.contains(&format!(") on {host}, ")), "{host}");
    for foreign in ["<script", "http:", "https:", "src=", "href=", "@import", "<link"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    assert!(page.len() < 500_000, "{}", page.len());
}

#[test]
fn the_page_goes_into_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("shop.html");
    let path = path.to_str().unwrap();
    let said = on_hosts(&["summary", "-o", path]);
    check(&said, 0, &["shop.html is for any browser"]);
    assert_eq!(said.out, "");
    let page = std::fs::read_to_string(path).unwrap();
    // The same again, whoever made the store, on however many threads; and nothing is said of it.
    let cache = tempfile::tempdir().unwrap();
    let [client, app, db] = hosts();
    let typed = ["summary", "-q", "--threads", "1", "-o", path, &client, &app, &db];
    let said = run_with(&[("XDG_CACHE_HOME", cache.path().to_str().unwrap())], &typed);
    assert_eq!((said.status, said.err.as_str()), (Some(0), ""));
    assert_eq!(std::fs::read_to_string(path).unwrap(), page);
}

#[test]
fn what_is_not_there_is_not_shown() {
    // One host has no clock to be put on, and here no request.
    let [.., db] = hosts();
    let one = run(&["summary", &db]);
    assert_eq!(one.status, Some(0), "{}", one.err);
    assert!(!one.out.contains("<h2>Synchronization</h2>") && one.out.contains("<h2>CPUs</h2>"));
    let part = on_hosts(&["summary", "--begin", "06:11:24", "--end", "06:11:26", "--host", "h2"]);
    assert_eq!(part.status, Some(0), "{}", part.err);
    assert!(part.out.contains("1 host, ") && count(&part.out, "<path class=\"busy\"") == 1);
}

#[test]
fn what_cannot_be_written_is_an_error() {
    check(&on_hosts(&["summary", "-o", "-"]), 2, &["leave -o out to write to stdout"]);
    check(&on_hosts(&["summary", "-o", "/nowhere/x"]), 2, &["/nowhere"]);
    check(&on_hosts(&["summary", "--host", "h9"]), 2, &["no host is called `h9`"]);
    check(&run(&["summary", "/nowhere"]), 2, &["no such file or directory"]);
}
