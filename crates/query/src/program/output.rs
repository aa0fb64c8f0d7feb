//! Answers, written in the requested format.

use std::io::{self, IsTerminal, Seek, Write};
use std::path::Path;

use anyhow::Context;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::csv::WriterBuilder as CsvBuilder;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::writer::{FileWriter, StreamWriter};
use datafusion::arrow::json::WriterBuilder as JsonBuilder;
use datafusion::arrow::json::writer::{JsonArray, LineDelimited};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use isochrone::shared;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::arguments::{Arguments, Format};
use super::statements::Batches;

/// Maximum number of rows of an answer that are shown as a table.
const MAX_SHOWN_ROWS: usize = 10_000;

/// Where answers go, and how they are written.
pub(super) struct Target<'o> {
    format: Format,
    file: Option<(&'o Path, &'o mut (dyn Write + Send))>,
    /// Answers that have been written.
    answers: usize,
}

/// The format of the arguments. `is_prompt`: a person types statements.
///
/// # Errors
/// A terminal would be given what is no text.
pub(super) fn format(arguments: &Arguments, is_prompt: bool) -> anyhow::Result<Format> {
    let by_name = arguments.output.as_deref().and_then(Format::of_name);
    let format = arguments.format.or(by_name).unwrap_or(Format::Table);
    let to_terminal = arguments.output.is_none() && (is_prompt || io::stdout().is_terminal());
    anyhow::ensure!(
        !(format.is_binary() && to_terminal),
        "Parquet and Arrow are no text for a terminal; write them to a file with -o FILE"
    );
    Ok(format)
}

impl<'o> Target<'o> {
    /// Stdout, or a file of this name.
    pub(super) fn new(format: Format, file: Option<(&'o Path, &'o mut (dyn Write + Send))>) -> Self {
        Self { format, file, answers: 0 }
    }

    /// Writes an answer.
    ///
    /// # Errors
    /// It cannot be written, or made.
    pub(super) fn write(&mut self, mut batches: Batches<'_>, quiet: bool) -> anyhow::Result<()> {
        let (format, is_first) = (self.format, self.answers == 0);
        anyhow::ensure!(
            is_first || !format.is_binary(),
            "a file of Parquet or Arrow holds one answer, and there are several; ask for each with a file of its own"
        );
        self.answers += 1;
        match &mut self.file {
            Some((path, file)) => {
                let written = match format {
                    Format::Parquet => parquet(&mut batches, file),
                    Format::Arrow => arrow_file(&mut batches, file),
                    _ => text(format, is_first, &mut batches, quiet, file),
                };
                written.with_context(|| format!("cannot write {}", path.display()))
            }
            None if format == Format::Parquet => {
                // Its writer wants to share the file with threads, which stdout cannot.
                let mut whole = tempfile::tempfile().context("cannot make a temporary file")?;
                parquet(&mut batches, &mut whole)?;
                whole.rewind()?;
                shared::print(|stdout| Ok(io::copy(&mut whole, stdout)?))?;
                Ok(())
            }
            None if format == Format::Arrow => {
                shared::print(|stdout| arrow_stream(&mut batches, stdout))?;
                Ok(())
            }
            None => {
                shared::print(|stdout| text(format, is_first, &mut batches, quiet, stdout))?;
                Ok(())
            }
        }
    }
}

fn arrow_file(batches: &mut Batches<'_>, out: &mut impl Write) -> anyhow::Result<()> {
    let mut writer = FileWriter::try_new(out, &batches.stream.schema())?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    Ok(writer.finish()?)
}

fn arrow_stream(batches: &mut Batches<'_>, out: &mut impl Write) -> anyhow::Result<()> {
    let mut writer = StreamWriter::try_new(out, &batches.stream.schema())?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    Ok(writer.finish()?)
}

fn parquet(batches: &mut Batches<'_>, out: &mut (impl Write + Send)) -> anyhow::Result<()> {
    let properties =
        WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    let mut writer = ArrowWriter::try_new(out, batches.stream.schema(), Some(properties))?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    writer.close()?;
    Ok(())
}

/// Writes an answer as text; there is an empty line between tables.
fn text(
    format: Format,
    is_first: bool,
    batches: &mut Batches<'_>,
    quiet: bool,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    match format {
        Format::Csv | Format::Table if !is_first => writeln!(out)?,
        _ => {}
    }
    match format {
        Format::Csv => csv(batches, out),
        Format::Json => {
            let mut writer = JsonBuilder::new().with_explicit_nulls(true).build::<_, JsonArray>(&mut *out);
            for batch in batches {
                writer.write(&batch?)?;
            }
            writer.finish()?;
            Ok(writeln!(out)?)
        }
        Format::Jsonl => {
            let mut writer = JsonBuilder::new().with_explicit_nulls(true).build::<_, LineDelimited>(out);
            for batch in batches {
                writer.write(&batch?)?;
            }
            Ok(writer.finish()?)
        }
        Format::Table | Format::Parquet | Format::Arrow => table(batches, quiet, out),
    }
}

fn csv(batches: &mut Batches<'_>, out: &mut impl Write) -> anyhow::Result<()> {
    let schema = batches.stream.schema();
    if let Some(field) = schema.fields().iter().find(|field| field.data_type().is_nested()) {
        anyhow::bail!(
            "CSV has no cells for `{}`, which holds several values: name one of them, as in bound(host, raw)['lo']",
            field.name()
        );
    }
    let mut writer = CsvBuilder::new().with_header(true).build(out);
    // An answer without rows has a header nevertheless.
    writer.write(&RecordBatch::new_empty(schema))?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    Ok(())
}

/// How values are shown in tables: unknown ones as `?`, as in the tables of all other commands; times in UTC.
fn shown() -> FormatOptions<'static> {
    const TIME: &str = "%Y-%m-%d %H:%M:%S%.9f";
    FormatOptions::default()
        .with_null(UNKNOWN)
        .with_timestamp_tz_format(Some(TIME))
        .with_timestamp_format(Some(TIME))
}

const UNKNOWN: &str = "?";

fn table(batches: &mut Batches<'_>, quiet: bool, out: &mut impl Write) -> anyhow::Result<()> {
    let schema = batches.stream.schema();
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut count = 0;
    for batch in batches {
        let batch = batch?;
        count += batch.num_rows();
        let room = MAX_SHOWN_ROWS.saturating_sub(rows.len()).min(batch.num_rows());
        add_rows(&batch.slice(0, room), &mut rows)?;
    }
    if schema.fields().iter().map(|field| field.name().as_str()).eq(["plan_type", "plan"]) {
        return plan(&rows, out);
    }
    let header: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    shared::table(&header, &rows, &|column| is_number(&schema, column), out)?;
    if count > rows.len() && !quiet {
        out.flush()?;
        shared::note(&format!("{} of {count} rows are shown; --format csv writes all", rows.len()));
    }
    Ok(())
}

/// Prints what `EXPLAIN` answers: plans have several lines.
fn plan(rows: &[Vec<String>], out: &mut impl Write) -> anyhow::Result<()> {
    for row in rows {
        let [kind, plan] = row.as_slice() else { continue };
        writeln!(out, "{}", shared::plain(kind))?;
        for line in plan.lines() {
            writeln!(out, "  {}", shared::plain(line))?;
        }
    }
    Ok(())
}

fn is_number(schema: &SchemaRef, column: usize) -> bool {
    schema.fields().get(column).is_some_and(|field| field.data_type().is_numeric())
}

fn add_rows(batch: &RecordBatch, rows: &mut Vec<Vec<String>>) -> Result<(), ArrowError> {
    let options = shown();
    let columns: Vec<ArrayFormatter<'_>> = batch
        .columns()
        .iter()
        .map(|column| ArrayFormatter::try_new(column, &options))
        .collect::<Result<_, _>>()?;
    for row in 0..batch.num_rows() {
        let cells = columns.iter().map(|column| column.value(row).try_to_string());
        rows.push(cells.collect::<Result<_, _>>()?);
    }
    Ok(())
}
