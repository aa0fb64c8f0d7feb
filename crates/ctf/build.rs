//! Sets `cfg(shared_data)` where the data are there that tests of this crate need.

fn main() {
    isochrone_shared_data::tell_cargo();
}
