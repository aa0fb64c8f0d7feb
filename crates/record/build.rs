//! Finds out which programs are installed that tests of this crate run. Not part of the published crate.

#[path = "../test_programs.rs"]
mod test_programs;

fn main() {
    test_programs::set_cfgs(&["python3"]);
}
