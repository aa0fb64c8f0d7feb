//! The list of the files of a directory of Parquet, `_isochrone.json`: what it holds was written by
//! `isochrone index --parquet`, and nothing else in the directory was.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::shape::Shape;

/// Its name. Engines pass over files whose names begin so.
pub(super) const FILE: &str = "_isochrone.json";

/// Bytes of the largest list that is read.
pub(super) const MAX_BYTES: u64 = 1 << 28;

const FORMAT: &str = "isochrone-parquet";

/// The files of a directory.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// What it is: [`FORMAT`].
    format: String,
    /// The version of the program that wrote it.
    version: String,
    /// All tables.
    pub(super) tables: Vec<TableEntry>,
}

/// A table.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TableEntry {
    /// Its name.
    pub(super) name: String,
    /// Its columns as queries have them, with their types.
    columns: Vec<String>,
    /// Its files, at least one.
    pub(super) files: Vec<FileEntry>,
}

/// A file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct FileEntry {
    /// Its path below the directory.
    pub(super) path: String,
    /// The host of its rows.
    pub(super) host: Option<String>,
    /// Its rows.
    pub(super) rows: u64,
    /// Its bytes.
    pub(super) bytes: u64,
}

impl Manifest {
    /// The list of tables that were written.
    pub(super) fn new(tables: Vec<TableEntry>) -> Self {
        Self { format: FORMAT.to_owned(), version: env!("CARGO_PKG_VERSION").to_owned(), tables }
    }

    /// The list of a text.
    ///
    /// # Errors
    /// It is not one.
    pub(super) fn of_text(text: &[u8]) -> anyhow::Result<Self> {
        let manifest: Self = serde_json::from_slice(text)?;
        anyhow::ensure!(manifest.format == FORMAT, "of another format, `{}`", manifest.format);
        Ok(manifest)
    }

    /// The list in a directory.
    ///
    /// # Errors
    /// There is none, or it is damaged.
    fn read(directory: &Path) -> anyhow::Result<Self> {
        let path = directory.join(FILE);
        let text = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::of_text(&text).with_context(|| format!("{}", path.display()))
    }

    /// The tables that this version knows, with their shapes.
    ///
    /// # Errors
    /// One has other columns, or is not known.
    pub(super) fn shapes(&self) -> anyhow::Result<Vec<(Shape, &TableEntry)>> {
        let known = Shape::all(true)?;
        let shape = |table: &TableEntry| {
            let shape = known.iter().find(|shape| shape.name == table.name);
            shape.filter(|shape| shape.columns() == table.columns).cloned().with_context(|| {
                format!(
                    "isochrone-sql {} wrote it, whose table `{}` is another one: write it again with this \
                     version, {}",
                    self.version,
                    table.name,
                    env!("CARGO_PKG_VERSION")
                )
            })
        };
        self.tables.iter().map(|table| Ok((shape(table)?, table))).collect()
    }
}

impl TableEntry {
    /// A table that was written.
    pub(super) fn new(shape: &Shape, files: Vec<FileEntry>) -> Self {
        Self { name: shape.name.to_owned(), columns: shape.columns(), files }
    }

    /// The number of its rows.
    pub(super) fn rows(&self) -> u64 {
        self.files.iter().map(|file| file.rows).sum()
    }

    /// The bytes of its files.
    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// Refuses to replace what is at a path, unless it is an empty directory, or one of this format with nothing
/// in it but what was written with it. Linear in its files.
///
/// # Errors
/// There is something else, which is named, or it cannot be examined.
pub(super) fn refuse_foreign(path: &Path) -> anyhow::Result<()> {
    let is_empty = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.with_context(|| path.display().to_string())?.next().is_none(),
    };
    if is_empty {
        return Ok(());
    }
    anyhow::ensure!(
        path.join(FILE).is_file(),
        "{}: exists and was not written by `isochrone index --parquet`: choose another directory",
        path.display()
    );
    let manifest = Manifest::read(path)?;
    let files = manifest.tables.iter().flat_map(|table| &table.files);
    let known = files.map(|file| (PathBuf::from(&file.path), file.bytes)).collect();
    let foreign = foreign(path, Path::new(""), &known).with_context(|| path.display().to_string())?;
    if let Some(foreign) = foreign {
        anyhow::bail!(
            "{}: is not as `isochrone index --parquet` wrote it: {} would be lost; choose another directory",
            path.display(),
            foreign.display()
        );
    }
    Ok(())
}

/// A file below a directory that is not known with its size. `below`: where in the whole directory.
fn foreign(root: &Path, below: &Path, known: &HashMap<PathBuf, u64>) -> io::Result<Option<PathBuf>> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let (path, kind) = (below.join(entry.file_name()), entry.file_type()?);
        let found = if kind.is_dir() {
            foreign(root, &path, known)?
        } else {
            let is_known = path == Path::new(FILE) || known.get(&path) == Some(&entry.metadata()?.len());
            (!(is_known && kind.is_file())).then_some(path)
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}
