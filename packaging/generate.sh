#!/bin/sh
# Builds the program, optimized across crates, and what packages have beside it: manual pages, completions. They are put into target/package-files.
set -eu
cd "$(dirname "$0")/.."
cargo build --locked --profile dist -p isochrone "$@"
target="${CARGO_TARGET_DIR:-target}"
program="$target/dist/isochrone"
made="target/package-files"
rm -rf "$made"
mkdir -p "$made/man"
"$program" man "$made/man"
gzip -9n "$made"/man/*.1
for shell in bash zsh fish; do
    "$program" completions "$shell" > "$made/isochrone.$shell"
done
cp "$program" "$made/isochrone"
