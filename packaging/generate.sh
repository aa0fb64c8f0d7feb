#!/bin/sh
# Builds the release, and what packages have beside it: manual pages, completions. They are put into target/package-files.
set -eu
cd "$(dirname "$0")/.."
cargo build --locked --release -p isochrone "$@"
target="${CARGO_TARGET_DIR:-target}"
program="$target/release/isochrone"
made="target/package-files"
rm -rf "$made"
mkdir -p "$made/man"
"$program" man "$made/man"
gzip -9n "$made"/man/*.1
for shell in bash zsh fish; do
    "$program" completions "$shell" > "$made/isochrone.$shell"
done
cp "$program" "$made/isochrone"
