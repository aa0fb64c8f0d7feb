//! The transcripts in the README and in the tutorial, run.

#[test]
fn transcripts_are_true() {
    // The commands write `sync.json` where they run: in a copy of what they need.
    let directory = tempfile::tempdir().unwrap();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for page in ["README.md", "docs/tutorial.md"] {
        let name = std::path::Path::new(page).file_name().unwrap();
        std::fs::copy(root.join(page), directory.path().join(name)).unwrap();
    }
    std::os::unix::fs::symlink(
        root.join("examples").canonicalize().unwrap(),
        directory.path().join("examples"),
    )
    .unwrap();
    // The only test of this process: nobody else minds where it stands.
    std::env::set_current_dir(directory.path()).unwrap();
    // As wide as they are, whatever the terminal is.
    trycmd::TestCases::new().env("COLUMNS", "0").case("README.md").case("tutorial.md").run();
}
