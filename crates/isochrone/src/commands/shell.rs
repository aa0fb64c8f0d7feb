//! `isochrone completions` and `isochrone man`, made of the definitions of the commands.

use std::fs;
use std::io::Write;

use anyhow::Context;
use clap_complete::env::Shells;

use crate::arguments::{Arguments, Completions, Man};
use crate::completion;
use crate::output;
use crate::render::plain::Plain;

pub(crate) fn completions(arguments: &Completions) -> anyhow::Result<()> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let shell = shells.completer(&arguments.shell.to_string()).context("this shell is not known")?;
    shell.write_registration(completion::VARIABLE, "isochrone", "isochrone", "isochrone", &mut script)?;
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
