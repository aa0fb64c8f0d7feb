#!/bin/bash
# Analyses traces in pieces on a Slurm cluster: an array job maps them, a job that depends on it merges and analyses. Traces and
# directory must be on a file system that all nodes see.
#
#   examples/pieces/slurm.sh ANALYSES PIECES DIRECTORY TRACE...
#
# The report is DIRECTORY/report.json. ISOCHRONE: the program (default: isochrone). SYNC: a sync.json of the traces, for times on one
# clock. A piece whose node fails is mapped again by `scontrol requeue`: a file has its name only when it is whole.
set -euo pipefail

if [[ ${1:-} == --map ]]; then
    # What a task of the array does: its number is that of its piece.
    analyses=$2 pieces=$3 directory=$4
    shift 4
    exec "${ISOCHRONE:-isochrone}" map -q "$analyses" --piece "$SLURM_ARRAY_TASK_ID/$pieces" ${SYNC:+--sync "$SYNC"} \
        --threads "${SLURM_CPUS_PER_TASK:-1}" -o "$directory/$SLURM_ARRAY_TASK_ID.piece" "$@"
fi
if [[ ${1:-} == --merge ]]; then
    analyses=$2 directory=$3
    "${ISOCHRONE:-isochrone}" merge "$directory"/*.piece -o "$directory/all"
    "${ISOCHRONE:-isochrone}" analyze -q "$analyses" --format json "$directory/all" > "$directory/report.json"
    exit
fi
if (( $# < 4 )); then
    echo "usage: $0 ANALYSES PIECES DIRECTORY TRACE..." >&2
    exit 2
fi
analyses=$1 pieces=$2 directory=$3
shift 3
mkdir -p "$directory"
script=$(realpath "$0")
array=$(sbatch --parsable --array="1-$pieces" --cpus-per-task=2 --job-name=isochrone-map --export=ALL \
    "$script" --map "$analyses" "$pieces" "$directory" "$@")
sbatch --dependency="afterok:$array" --job-name=isochrone-merge --export=ALL "$script" --merge "$analyses" "$directory"
