#!/bin/sh
# record.sh TRACER DIRECTORY HOST...: how the recordings beside this file were made. The first host sends requests to the second while
# all are recorded; `server` and `client` are any two programs that do that (here a ping-pong over TCP and UDP).
set -eu
tracer=$1 directory=$2
shift 2
ssh "$2" 'server >/dev/null 2>&1 &'
isochrone record --cpu --tracer "$tracer" --buffer 1M --for 4s -o "$directory" "$@" &
sleep 8
ssh "$1" client "$2"
wait
