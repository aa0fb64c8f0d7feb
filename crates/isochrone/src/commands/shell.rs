//! `isochrone completions` and `isochrone man`, made of the definitions of the commands.

use std::fs;
use std::io::Write;

use anyhow::Context;

use crate::arguments::{Arguments, Completions, Man};
use crate::output;
use crate::render::plain::Plain;

pub(crate) fn completions(arguments: &Completions) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command_line(), "isochrone", &mut script);
    output::print(|stdout| Ok(stdout.write_all(&script)?))?;
    Ok(())
}

pub(crate) fn man(arguments: &Man) -> anyhow::Result<()> {
    let directory = &arguments.directory;
    let context = || format!("cannot write to {}", Plain(directory.display()));
    fs::create_dir_all(directory).with_context(context)?;
    clap_mangen::generate_to(Arguments::command_line(), directory).with_context(context)?;
    Ok(())
}
