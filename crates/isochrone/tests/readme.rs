//! The transcripts in the README, in the tutorial and in the pages of analyses, run.

#![allow(clippy::unwrap_used)] // A test may panic.

#[test]
fn transcripts_are_true() {
    // The commands write `sync.json` where they run: in a copy of what they need.
    let directory = tempfile::tempdir().unwrap();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let of_analyses = std::fs::read_dir(root.join("docs/analyses")).unwrap();
    let pages =
        ["README.md", "docs/tutorial.md", "docs/lami.md", "docs/periods.md"].map(|page| root.join(page));
    let pages: Vec<_> = pages.into_iter().chain(of_analyses.map(|page| page.unwrap().path())).collect();
    for page in &pages {
        std::fs::copy(page, directory.path().join(page.file_name().unwrap())).unwrap();
    }
    std::os::unix::fs::symlink(
        root.join("examples").canonicalize().unwrap(),
        directory.path().join("examples"),
    )
    .unwrap();
    // The only test of this process: nobody else minds where it stands.
    std::env::set_current_dir(directory.path()).unwrap();
    // As wide as they are, whatever the terminal is.
    let cases = trycmd::TestCases::new();
    cases.env("COLUMNS", "0");
    cases.env("XDG_CACHE_HOME", directory.path().join("cache").to_string_lossy());
    for page in &pages {
        cases.case(page.file_name().unwrap());
    }
    cases.run();
}
