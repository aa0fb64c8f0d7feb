#!/bin/sh
# Analyses traces in pieces, several at a time on this machine: with GNU parallel where it is installed, else with xargs.
#
#   examples/pieces/parallel.sh ANALYSES PIECES TRACE... > report.json
#
# ISOCHRONE: the program (default: isochrone). JOBS: pieces at a time (default: as many as there are cores). SYNC: a sync.json of
# the traces, for times on one clock.
set -eu

if [ $# -lt 3 ]; then
    echo "usage: $0 ANALYSES PIECES TRACE..." >&2
    exit 2
fi
analyses=$1
pieces=$2
shift 2
program=${ISOCHRONE:-isochrone}
jobs=${JOBS:-$(nproc)}
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

# The traces are kept in a file, one a line, so that both programs start the same process.
printf '%s\n' "$@" > "$directory/traces"
# shellcheck disable=SC2016 # The inner shell expands these.
one='
    program=$1 analyses=$2 pieces=$3 sync=$4 directory=$5 number=$6
    shift 6
    while IFS= read -r trace; do set -- "$@" "$trace"; done < "$directory/traces"
    exec "$program" map -q "$analyses" --piece "$number/$pieces" ${sync:+--sync "$sync"} \
        --threads 1 -o "$directory/$number.piece" "$@"
'
# Another program of that name is in moreutils.
case $(parallel --version 2>/dev/null </dev/null) in
"GNU parallel"*)
    # -q: it would pass the words through a shell again.
    seq "$pieces" | parallel --will-cite -q -j "$jobs" --halt now,fail=1 \
        sh -c "$one" sh "$program" "$analyses" "$pieces" "${SYNC:-}" "$directory"
    ;;
*)
    seq "$pieces" | xargs -n 1 -P "$jobs" sh -c "$one" sh "$program" "$analyses" "$pieces" "${SYNC:-}" "$directory"
    ;;
esac
"$program" merge "$directory"/*.piece -o "$directory/all"
"$program" analyze -q "$analyses" --format json "$directory/all"
