#!/bin/sh
# From rotated chunks to a dashboard, by one command: a thumbnail service on three machines, traced with user-space phases and the kernel,
# whose session was rotated every two seconds. Usage: demo.sh [--serve] [DIR]
#
# It unpacks the bundled chunks into DIR (default: a new one), has `isochrone watch` map them one by one as if they came now, puts the
# figures into Prometheus, with the times of the traces, and asks for what the first panels of dashboard.json show. With --serve
# Prometheus goes on until Ctrl-C, for Grafana: add it as a data source, and import dashboard.json.
#
# It needs isochrone (or ISOCHRONE=path/to/it), prometheus (Debian's has promtool with it), tar and xz.
set -eu

here="$(cd "$(dirname "$0")" && pwd)"
isochrone="${ISOCHRONE:-isochrone}"
address="${PROMETHEUS_ADDRESS:-127.0.0.1:9190}"
serve=
if [ "${1:-}" = "--serve" ]; then
    serve=yes
    shift
fi
directory="${1:-$(mktemp -d)}"
mkdir -p "$directory/chunks"

tar -xJf "$here/thumbnails.tar.xz" -C "$directory/chunks"
"$isochrone" watch -q cputop,phases,messages,accounting --once --backfill "$directory/figures" "$directory/chunks" \
    > "$directory/tables.txt"

for file in "$directory"/figures/*.om; do
    promtool tsdb create-blocks-from openmetrics "$file" "$directory/tsdb" > "$directory/promtool.log"
done
echo "global: {}" > "$directory/prometheus.yml"
prometheus --config.file="$directory/prometheus.yml" --storage.tsdb.path="$directory/tsdb" \
    --storage.tsdb.retention.time=100y --web.listen-address="$address" 2> "$directory/prometheus.log" &
prometheus=$!
trap 'kill "$prometheus"' EXIT
url="http://$address"
tries=100
until promtool query instant "$url" 1 > "$directory/ready.log" 2>&1 || [ "$tries" -eq 0 ]; do
    kill -0 "$prometheus" 2> "$directory/ready.log" || { cat "$directory/prometheus.log" >&2; exit 1; }
    tries=$((tries - 1))
    sleep 0.1
done

# Files are named by the ns of their instants, in order.
last="$(ls "$directory/figures" | sort | tail -n 1 | cut -d- -f1 | sed 's/^0*//')"
end="${last%?????????}"
ask() {
    echo "$1"
    promtool query instant --time="$((end + 1))" "$url" "$2" | sed 's/^/  /'
    echo
}
ask "Seconds of each phase in system calls (- is outside of them):" \
    'sort_desc(sum by (phase, call) (isochrone_phase_call_seconds_total{phase=~"thumb:phase.*"}) > 0.01)'
ask "Seconds of each phase by cause:" \
    'sort_desc(sum by (phase, cause) (isochrone_phase_cause_seconds_total{phase=~"thumb:phase.*"}) > 0.01)'
ask "Seconds of CPU of each client, and of what worked for it on other hosts:" \
    'sum by (host, comm, used_by) (isochrone_payer_cpu_seconds_total{role="client"})'
ask "Uncertainty of clocks, in seconds:" 'isochrone_clock_uncertainty_seconds'

echo "Tables of each step: $directory/tables.txt. The dashboard for Grafana: $here/dashboard.json"
if [ -n "$serve" ]; then
    echo "Prometheus is at $url; the traces are of 2026-11-20, 07:16:11 to 07:16:24 UTC. Ctrl-C ends it."
    wait "$prometheus"
fi
