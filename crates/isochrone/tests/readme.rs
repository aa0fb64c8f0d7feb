//! The transcripts in the README, run.

#[test]
fn transcripts_are_true() {
    // The commands write `sync.json` where they run: in a copy of what they need.
    let directory = tempfile::tempdir().unwrap();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::copy(root.join("README.md"), directory.path().join("README.md")).unwrap();
    std::os::unix::fs::symlink(
        root.join("examples").canonicalize().unwrap(),
        directory.path().join("examples"),
    )
    .unwrap();
    // The only test of this process: nobody else minds where it stands.
    std::env::set_current_dir(directory.path()).unwrap();
    trycmd::TestCases::new().case("README.md").run();
}
