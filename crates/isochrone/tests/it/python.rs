//! `docs/python.md`, executed: what it prints is what stands there. Needs Python's `pyarrow` and `polars`.

use std::path::Path;
use std::process::Command;

/// The blocks of a language in a page.
fn blocks<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let fence = format!("```{language}\n");
    page.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// Printed between the blocks.
const MARK: &str = "#####\n";

#[test]
#[cfg_attr(not(python_arrow), ignore = "needs python3 with pyarrow and polars")]
fn the_page_says_what_python_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let page = std::fs::read_to_string(root.join("docs/python.md")).unwrap();
    let (scripts, expect) = (blocks(&page, "python"), blocks(&page, "text"));
    // Paths of traces as the page names them.
    let directory = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(root.join("examples"), directory.path().join("examples")).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_isochrone"));
    for words in [["index", "-o", "shop.store"], ["sync", "-o", "sync.json"]] {
        let made = Command::new(program)
            .args(words)
            .arg("examples/shop")
            .current_dir(directory.path())
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }
    let mark = format!("print({:?})\n", MARK.trim_end());
    let path =
        format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap_or_default());
    let run = Command::new("python3")
        .args(["-c", &scripts.join(&mark)])
        .env("PATH", path)
        .env("PYTHONIOENCODING", "utf-8")
        .current_dir(directory.path())
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let printed = String::from_utf8(run.stdout).unwrap();
    assert!(expect.len() > 3);
    assert_eq!(printed.split(MARK).collect::<Vec<_>>(), expect);
}
