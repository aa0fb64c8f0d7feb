//! The transcripts in the README, in the tutorial and in the pages of analyses, run.

#[test]
fn transcripts_are_true() {
    // The commands write `sync.json` where they run: beside links to what they need.
    let directory = tempfile::tempdir().unwrap();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let work = directory.path().join("work");
    std::fs::create_dir(&work).unwrap();
    std::os::unix::fs::symlink(root.join("examples"), work.join("examples")).unwrap();
    let of_analyses = std::fs::read_dir(root.join("docs/analyses")).unwrap();
    let pages = [
        "README.md",
        "docs/tutorial.md",
        "docs/coming-from.md",
        "docs/flame.md",
        "docs/lami.md",
        "docs/periods.md",
    ]
    .map(|page| root.join(page));
    let pages: Vec<_> = pages.into_iter().chain(of_analyses.map(|page| page.unwrap().path())).collect();
    // As wide as they are, whatever the terminal is.
    let cases = trycmd::TestCases::new();
    cases.env("COLUMNS", "0");
    cases.env("XDG_CACHE_HOME", directory.path().join("cache").to_string_lossy());
    for page in &pages {
        let copy = directory.path().join(page.file_name().unwrap());
        std::fs::copy(page, &copy).unwrap();
        // The commands of `PAGE.md` run in `PAGE.in`.
        std::os::unix::fs::symlink(&work, copy.with_extension("in")).unwrap();
        cases.case(copy);
    }
    cases.run();
}
