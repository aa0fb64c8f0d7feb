//! `isochrone completions` and `isochrone man`: what shells and `man` know of the commands, made of their definitions.

use std::fs;
use std::io::Write;

use anyhow::Context;

use crate::ExitStatus;
use crate::arguments::{Arguments, Completions, Man};
use crate::output;
use crate::render::plain::Plain;

pub(crate) fn completions(arguments: &Completions) -> anyhow::Result<ExitStatus> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command_line(), "isochrone", &mut script);
    output::print(|stdout| Ok(stdout.write_all(&script)?))?;
    Ok(ExitStatus::Done)
}

pub(crate) fn man(arguments: &Man) -> anyhow::Result<ExitStatus> {
    let directory = &arguments.directory;
    let context = || format!("cannot write to {}", Plain(directory.display()));
    fs::create_dir_all(directory).with_context(context)?;
    clap_mangen::generate_to(Arguments::command_line(), directory).with_context(context)?;
    Ok(ExitStatus::Done)
}
