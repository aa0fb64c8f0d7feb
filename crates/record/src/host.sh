# Runs on a host that is recorded, as root or, for user space alone, as its user. `isochrone record` speaks to it by lines on
# its stdin, and reads lines `key=value`, each answer ended by `end=`. When stdin ends, whatever the reason, it stops the
# recording and removes everything that it made. Above stand the choices: session, tracers, buffers, lists of events.

main=$$
# One machine may be reached by two names.
session=$session-$main
daemon='' recorder='' reader='' responder='' guard='' created='' probed=''
started='' tracing='' instance=''
for tracing in /sys/kernel/tracing /sys/kernel/debug/tracing; do
    if [ -e "$tracing/trace_clock" ]; then break; fi
done

say() { printf '%s\n' "$*" >&3 2>/dev/null || :; }
one_line() { printf '%s' "$1" | tr '\n\t' '  ' | cut -c 1-300; }
fail() {
    say "error=$(one_line "$1")"
    exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }
# Runs a command; what it says is the reason where it fails.
run() {
    said=$("$@" 2>&1 </dev/null 3>&-) || fail "$*: $said"
}
# The same of what the recording can do without.
attempt() {
    said=$("$@" 2>&1 </dev/null 3>&-) || say "warning=$(one_line "$*: $said")"
}
# Keeps what was made, so that it can be removed without this process.
keep() { printf '%s=%s\n' "$1" "$2" 2>/dev/null >>"$d/state" || :; }
client() { lttng --no-sessiond "$@"; }

# --- What is there -----------------------------------------------------------------------------------------------------------

check() {
    say "host=$(uname -n)"
    say "kernel=$(uname -r)"
    say "arch=$(uname -m)"
    if [ -r /etc/os-release ]; then
        (. /etc/os-release && printf 'os=%s\nlike=%s\nname=%s\n' "${ID:-}" "${ID_LIKE:-}" "${NAME:-} ${VERSION_ID:-}") >&3
    fi
    say "uid=$(id -u)"
    # Where it was reached, and from where.
    say "address=$(printf '%s' "$connection" | cut -d ' ' -f 3)"
    say "peer=$(printf '%s' "$connection" | cut -d ' ' -f 1)"
    say "cpus=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)"
    say "memory_kb=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)"
    say "directory=$d"
    say "free_kb=$(df -Pk "$d" | awk 'NR == 2 { print $4 }')"
    for program in lttng lttng-sessiond trace-cmd zstd gzip tar python3 perl ethtool; do
        if has "$program"; then say "program=$program"; fi
    done
    check_lttng
    check_ftrace
    check_network
    for comm in /proc/[0-9]*/comm; do
        { read -r name <"$comm"; } 2>/dev/null || continue
        case $name in
        chronyd | ntpd | systemd-timesyn | openntpd | ptp4l | phc2sys) say "time=$name" ;;
        esac
    done
}

check_lttng() {
    if has lttng; then say "lttng=$(lttng --version 2>/dev/null | sed -n 's/.* \([0-9][0-9.]*\).*/\1/p' | head -n 1)"; fi
    if has lttng && client list >/dev/null 2>&1; then
        say "daemon=running"
        if client list --kernel >/dev/null 2>&1; then say "kernel_tracer=running"; fi
    fi
    if [ -d /sys/module/lttng_tracer ]; then
        say "modules=loaded"
    elif ! has modprobe || ! modprobe -n -q lttng-tracer 2>/dev/null; then
        say "modules=absent"
    elif [ "$(id -u)" != 0 ]; then
        say "modules=there"
    elif said=$(modprobe lttng-tracer 2>&1); then
        say "modules=there"
        modprobe -r -q lttng-tracer 2>/dev/null || :
    else
        say "modules=refused"
        say "modules_error=$(one_line "$said")"
    fi
}

check_ftrace() {
    [ -e "$tracing/trace_clock" ] || return 0
    say "tracefs=$tracing"
    [ -w "$tracing/set_event" ] || return 0
    say "tracefs_writable=yes"
    if is_busy; then say "tracefs_busy=yes"; fi
    if can_read; then say "tracefs_readable=yes"; fi
    probe_kind
    say "packet_events=$probe_kind"
    case $probe_kind in
    none) ;;
    *) say "skb_data=$(skb_field data)" ;;
    esac
}

# Whether another program uses the buffers that trace-cmd takes.
is_busy() { [ "$(cat "$tracing/current_tracer")" != nop ] || [ -n "$(head -c 1 "$tracing/set_event")" ]; }
# Whether buffers of an instance can be read without trace-cmd: `dd` must not wait for what is to come.
can_read() {
    for program in getconf od xargs awk; do has "$program" || return 1; done
    [ -d "$tracing/instances" ] && cp --parents /dev/null "$d" 2>/dev/null && rm -rf "$d/dev" &&
        dd if=/dev/null iflag=nonblock >/dev/null 2>&1
}

# Which dynamic events the kernel takes: event probes (`e`), else probes of functions (`p`).
probe_kind() {
    probe_kind=none
    [ -w "$tracing/dynamic_events" ] || return 0
    for probe_kind in e p; do
        case $probe_kind in
        e) line='e:isochrone_try/tx net/net_dev_queue skb=$skbaddr:x64' ;;
        p) line='p:isochrone_try/tx __dev_queue_xmit skb=$arg1:x64' ;;
        esac
        if printf '%s\n' "$line" 2>/dev/null >>"$tracing/dynamic_events"; then
            printf '%s\n' '-:isochrone_try/tx' >>"$tracing/dynamic_events"
            return 0
        fi
    done
    probe_kind=none
}

# Where `struct sk_buff` has a field, bytes: as BTF says. Nothing where no program reads it.
skb_field() {
    btf=/sys/kernel/btf/vmlinux
    [ -r "$btf" ] || return 0
    if has pahole; then
        pahole -C sk_buff "$btf" 2>/dev/null | sed -n "s/.*[ *]$1; *\/\* *\([0-9][0-9]*\) .*/\1/p" | head -n 1
    elif has bpftool; then
        bpftool btf dump file "$btf" 2>/dev/null | awk -v member="'$1' type_id=" '
            /^\[[0-9]+\] / { inside = $0 ~ /STRUCT .sk_buff. / }
            inside && index($0, member) { sub(/.*bits_offset=/, ""); print int($0 / 8); exit }'
    elif has python3; then
        python3 -c "$read_btf" "$btf" "$1" 2>/dev/null || :
    fi
}

check_network() {
    for interface in /sys/class/net/*; do
        name=${interface##*/}
        [ "$name" != lo ] && [ "$(cat "$interface/operstate" 2>/dev/null)" = up ] && [ -e "$interface/device" ] || continue
        say "interface=$name"
        has ethtool || continue
        ethtool -k "$name" 2>/dev/null | sed -n \
            -e "s/^generic-receive-offload: \(o[nf]*\).*/gro=$name \1/p" \
            -e "s/^large-receive-offload: \(o[nf]*\).*/lro=$name \1/p" >&3
    done
}

# --- Recording ---------------------------------------------------------------------------------------------------------------

start() {
    started=$1
    mkdir "$d/trace"
    keep session "$session"
    watch </dev/null >/dev/null 2>&1 3>&- &
    guard=$!
    case $started in
    lttng) start_lttng ;;
    ftrace) start_ftrace ;;
    *) fail "unknown tracer $started" ;;
    esac
}

start_lttng() {
    if ! client list >/dev/null 2>&1; then
        case $wants_kernel in
        yes) set -- ;;
        *) set -- --no-kernel ;;
        esac
        lttng-sessiond "$@" </dev/null >"$d/sessiond.log" 2>&1 3>&- &
        daemon=$!
        keep daemon "$daemon"
        tries=0
        until client list >/dev/null 2>&1; do
            tries=$((tries + 1))
            [ "$tries" -lt 100 ] || fail "lttng-sessiond does not answer: $(tail -n 3 "$d/sessiond.log")"
            sleep 0.1
        done
    fi
    created=yes
    keep created yes
    set -- create "$session" --output="$d/trace"
    # Its channels overwrite what is oldest.
    if [ "$wants_snapshot" = yes ]; then set -- "$@" --snapshot; fi
    run client "$@"
    if [ -n "$chunk_us" ]; then run client enable-rotation --session="$session" --timer="$chunk_us"; fi
    if [ "$wants_kernel" = yes ]; then
        run client enable-channel --session="$session" --kernel --subbuf-size="$part" --num-subbuf=4 kernel
        kernel_events
    fi
    if [ "$wants_user" = yes ]; then
        run client enable-channel --session="$session" --userspace --subbuf-size="$part" --num-subbuf=4 user
        user_events
    fi
    run client start "$session"
}

start_ftrace() {
    probe_kind
    offset=$(skb_field data)
    group=isochrone_$main
    if [ "$probe_kind" != none ] && [ -n "$offset" ]; then
        probed=$group
        keep probed "$probed"
        case $probe_kind in
        e)
            dynamic "e:$group/tx net/net_dev_queue skb=\$skbaddr:x64 len=\$len:u32 hdr=+0(+$offset(\$skbaddr)):x64[10]"
            dynamic "e:$group/rx net/netif_receive_skb skb=\$skbaddr:x64 len=\$len:u32 hdr=+0(+$offset(\$skbaddr)):x64[8]"
            ;;
        p)
            length=+$(skb_field len)
            dynamic "p:$group/tx __dev_queue_xmit skb=\$arg1:x64 len=$length(\$arg1):u32 hdr=+0(+$offset(\$arg1)):x64[10]"
            dynamic "p:$group/rx ip_rcv_core skb=\$arg1:x64 len=$length(\$arg1):u32 hdr=+0(+$offset(\$arg1)):x64[8]"
            ;;
        esac
    fi
    # What is enabled in the end: `$@`.
    set --
    for system in $ftrace_systems $probed; do
        if [ "$system" = syscalls ] && [ ! -d "$tracing/events/syscalls" ]; then system=raw_syscalls; fi
        if [ -d "$tracing/events/$system" ]; then
            set -- "$@" "$system"
        else
            say "warning=the kernel has no events of $system"
        fi
    done
    why='trace-cmd is not installed, or the tracer is in use, and instances cannot be read'
    if has trace-cmd && ! is_busy && start_trace_cmd "$@"; then
        list_threads "$tracing"
    else
        can_read || fail "$why"
        start_instance "$@"
        list_threads "$instance"
    fi
}

# Not every kernel lets trace-cmd do all that it does.
start_trace_cmd() {
    for system; do
        shift
        set -- "$@" -e "$system"
    done
    trace-cmd record -C mono --date -b "$buffer_kb" "$@" -o "$d/trace/trace.dat" \
        </dev/null >"$d/trace-cmd.log" 2>&1 3>&- &
    recorder=$!
    keep recorder "$recorder"
    tries=0
    while [ "$(cat "$tracing/tracing_on")" = 0 ] || [ -z "$(head -c 1 "$tracing/set_event")" ]; do
        tries=$((tries + 1))
        if [ "$tries" -ge 300 ] || ! kill -0 "$recorder" 2>/dev/null; then
            why="trace-cmd: $(tail -n 3 "$d/trace-cmd.log")"
            stop_recorder
            rm -f "$d"/trace/trace.dat*
            return 1
        fi
        sleep 0.1
    done
}

dynamic() {
    printf '%s\n' "$1" 2>/dev/null >>"$tracing/dynamic_events" ||
        fail "the kernel refuses the event $1: $(tail -n 2 "$tracing/error_log" 2>/dev/null)"
}

# The threads that are there at an instant of the tracer's clock, beside the recording: those that are the same before it
# and after it. Threads that begin or end meanwhile have events.
list_threads() {
    threads >"$d/before"
    at=$(now "$1")
    threads >"$d/after"
    # In a container, numbers of threads are not those of the kernel, whose own threads are not there.
    if [ -n "$at" ] && grep -q '^2 2 0 [0-9]* kthreadd$' "$d/before"; then
        {
            printf 'isochrone threads 1\nat %s\n' "$at"
            # The same number, process and start.
            awk 'NR == FNR { there[$1 " " $2 " " $4] = 1; next } ($1 " " $2 " " $4) in there' "$d/before" "$d/after"
            printf 'end\n'
        } >"$d/trace/trace.dat.threads"
    fi
    rm -f "$d/before" "$d/after"
}

# The time of the tracer's clock, s.
now() { sed -n 's/^now ts: *//p' "$1/per_cpu/cpu0/stats"; }

# Tid, pid, parent, start and name of each thread that has not ended. The names of the kernel's workers stand before what they do.
threads() {
    # Names need not be text.
    printf '%s\0' /proc/[0-9]*/task/[0-9]*/stat | LC_ALL=C xargs -0 grep -asH '' | LC_ALL=C awk '
        $0 ~ /^\/proc\/[0-9]+\/task\/[0-9]+\/stat:[0-9]+ \(/ {
            split($0, path, "/")
            name = rest = substr($0, index($0, "(") + 1)
            while (at = index(rest, ") ")) rest = substr(rest, at + 2)
            name = substr(name, 1, length(name) - length(rest) - 2)
            split(rest, field, " ")
            if (field[1] ~ /[ZXx]/) next
            if (field[2] == 2 && name ~ /^kworker\/[^-+]*:/) sub(/[-+].*/, "", name)
            print path[5], path[3], field[2], field[20], name
        }' || :
}

status() {
    # Until a snapshot is taken, what is recorded is in memory.
    [ "$wants_snapshot" = yes ] || say "used_kb=$(du -sk "$d/trace" | cut -f 1)"
    # What an instance recorded becomes one file, the largest part of it while that still lies there.
    largest=0
    for pages in "$d"/trace/pages/*; do
        if [ -e "$pages" ]; then
            kb=$(($(wc -c <"$pages") >> 10))
            if [ "$kb" -gt "$largest" ]; then largest=$kb; fi
        fi
    done
    say "free_kb=$(df -Pk "$d" | awk -v used="$largest" 'NR == 2 { print ($4 > used ? $4 - used : 0) }')"
    case $started in
    lttng)
        listed=$(client list "$session" 2>/dev/null) || fail "the session is gone: its daemon has ended"
        say "lost=$(printf '%s\n' "$listed" | awk '/Discarded events:/ { lost += $NF } END { print lost + 0 }')"
        ;;
    ftrace)
        if [ -n "$recorder" ] && ! kill -0 "$recorder" 2>/dev/null; then
            fail "trace-cmd has ended: $(tail -n 3 "$d/trace-cmd.log")"
        fi
        if [ -n "$reader" ] && ! kill -0 "$reader" 2>/dev/null; then fail "the buffers are not read any more"; fi
        cat "${instance:-$tracing}"/per_cpu/cpu*/stats | awk '
            /^overrun:|^dropped events:/ { lost += $NF }
            /^entries:|^read events:/ { events += $NF }
            END { printf "lost=%d\nevents=%d\n", lost, events }' >&3
        ;;
    esac
}

stop() {
    # However long it takes, it is no silence of the other side.
    rm -f "$d/spoken"
    case $started in
    lttng)
        if [ "$wants_snapshot" = yes ]; then
            # The list of processes, which was recorded at the start, has been overwritten.
            if [ "$wants_kernel" = yes ]; then attempt client regenerate statedump --session="$session"; fi
            run client snapshot record --session="$session"
        fi
        run client stop "$session"
        status
        run client destroy "$session"
        created=''
        keep created ''
        ;;
    ftrace)
        status
        if [ -n "$instance" ]; then stop_instance; fi
        stop_ftrace
        [ -s "$d/trace/trace.dat" ] || fail "nothing was written: $(tail -n 3 "$d/trace-cmd.log" 2>/dev/null)"
        ;;
    esac
}

# Ends trace-cmd, which puts the tracer back as it was; where it does not end, it is killed.
stop_recorder() {
    if [ -z "$recorder" ]; then return 0; fi
    kill -INT "$recorder" 2>/dev/null || :
    # Another process may have started it, which cannot be waited for.
    tries=0
    while kill -0 "$recorder" 2>/dev/null && [ "$tries" -lt 600 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    kill -KILL "$recorder" 2>/dev/null || :
    wait "$recorder" 2>/dev/null || :
    recorder=''
    keep recorder ''
}

# Ends what records with the kernel's own tracer, and removes its events.
stop_ftrace() {
    stop_recorder
    if [ -n "$reader" ]; then
        kill -KILL "$reader" 2>/dev/null || :
        wait "$reader" 2>/dev/null || :
        reader=''
        keep reader ''
    fi
    if [ -n "$instance" ]; then
        printf '0\n' 2>/dev/null >"$instance/tracing_on" || :
        # It is in use as long as what was killed reads it.
        tries=0
        until rmdir "$instance" 2>/dev/null || [ ! -d "$instance" ] || [ "$tries" -ge 50 ]; do
            tries=$((tries + 1))
            sleep 0.1
        done
        if [ -d "$instance" ]; then say "warning=$instance cannot be removed"; fi
        instance=''
        keep instance ''
    fi
    if [ -n "$probed" ]; then
        printf '%s\n' "-:$probed/tx" 2>/dev/null >>"$tracing/dynamic_events" || :
        printf '%s\n' "-:$probed/rx" 2>/dev/null >>"$tracing/dynamic_events" || :
        probed=''
    fi
}

# --- Without trace-cmd -------------------------------------------------------------------------------------------------------

# Records in an instance of the kernel's tracer, whose buffers are read page by page.
start_instance() {
    instance=$tracing/instances/$group
    systems=$*
    keep instance "$instance"
    mkdir "$instance" || fail "the kernel's tracer makes no instance"
    printf 'mono\n' >"$instance/trace_clock" || fail "the kernel's tracer has no clock \`mono\`"
    printf '%s\n' "$buffer_kb" 2>/dev/null >"$instance/buffer_size_kb" || fail "buffers of $buffer_kb KiB have no room"
    date_offset
    mkdir "$d/trace/pages"
    for system; do
        printf '1\n' 2>/dev/null >"$instance/events/$system/enable" || say "warning=not all events of $system are recorded"
    done
    printf '1\n' >"$instance/tracing_on"
    read_buffers </dev/null >/dev/null 2>&1 3>&- &
    reader=$!
    keep reader "$reader"
}

# What to add to the clock of the tracer for Unix time, µs: of some readings, the one that was nearest in time to that of a clock.
date_offset() {
    offset_us='' least=''
    for try in 1 2 3 4 5 6 7 8; do
        before=$(date +%s%N)
        at=$(now "$instance")
        after=$(date +%s%N)
        case $before$after$at in *[!0-9.]* | '') return 0 ;; esac
        if [ -z "$least" ] || [ $((after - before)) -lt "$least" ]; then
            least=$((after - before))
            fraction=${at#*.}
            # A number that begins with 0 would be octal.
            offset_us=$(((before + least / 2) / 1000 - ${at%.*} * 1000000 - (1$fraction - 1000000)))
        fi
    done
}

# Appends the pages that are full to a file for each CPU, again and again, and all pages when it was told to end: reading makes
# events, so that it would never find a page that is not full yet to be the last.
read_buffers() {
    set +e
    ends=''
    trap 'ends=yes' TERM
    trap '' HUP INT
    page=$(getconf PAGESIZE)
    while :; do
        last=$ends
        for cpu in "$instance"/per_cpu/cpu[0-9]*; do
            if [ -n "$last" ]; then
                set -- bs="$page"
            else
                bytes=0
                while read -r key value; do
                    if [ "$key" = bytes: ]; then bytes=$value; fi
                done <"$cpu/stats"
                set -- ibs="$page" obs=1M count="$((bytes / page))"
                [ "$bytes" -ge "$page" ] || continue
            fi
            dd if="$cpu/trace_pipe_raw" iflag=nonblock "$@" >>"$d/trace/pages/${cpu##*/cpu}"
        done
        if [ -n "$last" ]; then exit 0; fi
        sleep 0.2
    done
}

# Ends the recording of an instance, and makes a file of it as trace-cmd does.
stop_instance() {
    printf '0\n' >"$instance/tracing_on"
    kill -TERM "$reader" 2>/dev/null || :
    wait "$reader" || :
    reader=''
    keep reader ''
    cp "$tracing/saved_cmdlines" "$d/names" 2>/dev/null || : >"$d/names"
    trace_dat || fail "trace.dat cannot be written"
    rm -rf "$d/trace/pages"
}

# Writes a number in so many bytes, in the order of this machine.
put() {
    number=$1 left=$2 bytes=''
    while [ "$left" -gt 0 ]; do
        octet="\\$((number >> 6 & 3))$((number >> 3 & 7))$((number & 7))"
        case $order in
        0) bytes=$bytes$octet ;;
        *) bytes=$octet$bytes ;;
        esac
        number=$((number >> 8)) left=$((left - 1))
    done
    # It is made of escapes alone.
    # shellcheck disable=SC2059
    printf "$bytes"
}

# A file behind its length in so many bytes; the tracer's own files say that they are empty.
put_file() {
    cp "$1" "$d/part"
    put "$(wc -c <"$d/part")" "$2"
    cat "$d/part"
}

# The formats of all events of a system, each behind its length. There are hundreds: no process is made for each.
put_formats() {
    rm -rf "$d/parts"
    mkdir "$d/parts" || return 1
    (
        cd "$tracing/events/$1" || exit 1
        set -- */format
        put "$#" 4
        cp --parents "$@" "$d/parts" && cd "$d/parts" || exit 1
        # The last line is the sum of several.
        wc -c "$@" | while read -r size format; do
            [ "$format" != total ] || continue
            put "$size" 8 >"${format%format}size"
            printf '%s\0%s\0' "${format%format}size" "$format"
        done | xargs -0 cat
    )
}

put_option() {
    put "$1" 2
    put "$((${#2} + 1))" 4
    printf '%s\0' "$2"
}

# The pages and what describes them, in version 6 of the format of trace-cmd.
trace_dat() {
    order=0
    if [ "$(printf '\001\000' | od -An -tx2 | tr -d ' ')" != 0001 ]; then order=1; fi
    page=$(getconf PAGESIZE)
    cpus=0
    [ "$(ls "$d/trace/pages")" ] || return 1
    for file in "$d"/trace/pages/[0-9]*; do
        if [ "${file##*/}" -ge "$cpus" ]; then cpus=$((${file##*/} + 1)); fi
    done
    {
        printf '\027\010\104tracing6\0'
        put "$order" 1
        put "$(($(getconf LONG_BIT) / 8))" 1
        put "$page" 4
        for file in header_page header_event; do
            printf '%s\0' "$file"
            put_file "$tracing/events/$file" 8
        done
        put_formats ftrace || return 1
        # Their names hold no spaces.
        # shellcheck disable=SC2086
        set -- $systems
        put "$#" 4
        for system; do
            printf '%s\0' "$system"
            put_formats "$system" || return 1
        done
        # Neither addresses of functions nor texts.
        put 0 8
        put_file "$d/names" 8
        put "$cpus" 4
        printf 'options  \0'
        put_option 4 "$(cat "$instance/trace_clock")"
        put_option 5 "$(uname -snrm)"
        if [ -n "$offset_us" ]; then put_option 1 "$offset_us"; fi
        put 0 2
        printf 'flyrecord\0'
    } >"$d/head" || return 1
    at=$(($(wc -c <"$d/head") + 16 * cpus))
    start=$(((at + page - 1) / page * page))
    {
        cat "$d/head"
        next=$start
        cpu=0
        while [ "$cpu" -lt "$cpus" ]; do
            size=0
            if [ -e "$d/trace/pages/$cpu" ]; then size=$(wc -c <"$d/trace/pages/$cpu"); fi
            put "$next" 8
            put "$size" 8
            next=$((next + size)) cpu=$((cpu + 1))
        done
        head -c "$((start - at))" /dev/zero
        cpu=0
        while [ "$cpu" -lt "$cpus" ]; do
            if [ -e "$d/trace/pages/$cpu" ]; then
                cat "$d/trace/pages/$cpu" || return 1
                rm -f "$d/trace/pages/$cpu"
            fi
            cpu=$((cpu + 1))
        done
    } >"$d/trace/trace.dat"
}

# The recording on stdout, after the line that says how it is packed; nothing follows.
collect() {
    rm -f "$d/failed" "$d/spoken"
    if has zstd; then
        say "data=zstd"
        { tar -C "$d/trace" -cf - . || : >"$d/failed"; } | zstd -q -3 -c || : >"$d/failed"
    else
        say "data=plain"
        tar -C "$d/trace" -cf - . || : >"$d/failed"
    fi
    [ ! -e "$d/failed" ] || exit 1
}

# --- Round trips -------------------------------------------------------------------------------------------------------------

# Answers UDP packets, at a port that the system chooses.
respond() {
    rm -f "$d/port"
    if has python3; then
        python3 -c "$respond_in_python" "$d/port" </dev/null >/dev/null 2>&1 3>&- &
    elif has perl; then
        perl -e "$respond_in_perl" "$d/port" </dev/null >/dev/null 2>&1 3>&- &
    else
        say "warning=neither python3 nor perl is there to send packets: its clock is tied by those of programs alone"
        return 0
    fi
    responder=$!
    keep responder "$responder"
    tries=0
    until [ -s "$d/port" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 50 ] || return 0
        sleep 0.1
    done
    say "port=$(cat "$d/port")"
}

# Sends so many packets one after the other to each ADDRESS/PORT, and says how many came back and how fast.
probe() {
    count=$1
    shift
    if has python3; then
        python3 -c "$probe_in_python" "$count" "$@" </dev/null 2>/dev/null >&3 || say "warning=round trips failed"
    elif has perl; then
        perl -e "$probe_in_perl" "$count" "$@" </dev/null 2>/dev/null >&3 || say "warning=round trips failed"
    fi
}

# --- The end -----------------------------------------------------------------------------------------------------------------

# Removes what this script made on the host, or one that was killed.
remove() {
    if [ -e "$d/state" ]; then . "$d/state"; fi
    if [ -n "$created" ]; then client destroy --no-wait "$session" >/dev/null 2>&1; fi
    created=''
    stop_ftrace
    if [ -n "$responder" ]; then kill "$responder" 2>/dev/null; fi
    if [ -n "$daemon" ]; then
        kill "$daemon" 2>/dev/null
        wait "$daemon" 2>/dev/null
    fi
    rm -rf "$d"
}

end() {
    result=$?
    trap - EXIT
    trap '' HUP INT TERM
    set +e
    if [ -n "$guard" ]; then kill "$guard" 2>/dev/null; fi
    remove
    exit "$result"
}

# Ends the recording where this script was killed, or where nobody has said anything for two minutes.
watch() {
    trap 'kill "$nap" 2>/dev/null; exit 0' TERM
    trap '' HUP INT
    set +e
    while :; do
        sleep 5 &
        nap=$!
        wait "$nap"
        if ! kill -0 "$main" 2>/dev/null; then
            remove
            exit 0
        fi
        if [ -n "$(find "$d/spoken" -mmin +2 2>/dev/null)" ]; then kill "$main" 2>/dev/null; fi
    done
}

talk() {
    : >"$d/spoken"
    while IFS= read -r line; do
        : >"$d/spoken"
        # Words of the other side hold no spaces of their own.
        # shellcheck disable=SC2086
        set -- $line
        case ${1:-} in
        check | status | stop | respond) "$1" ;;
        start | probe) "$@" ;;
        collect)
            collect
            return 0
            ;;
        esac
        : >"$d/spoken"
        say "end="
    done
    return 1
}

# Without anyone to speak to: records for a time, or until Ctrl-C, and writes the packed recording to stdout.
alone() {
    trap 'stopped=yes' INT TERM
    stopped=''
    check
    start "$1"
    say "recording, $2 s"
    left=$2
    while [ -z "$stopped" ] && [ "$left" != 0 ]; do
        sleep 1 || :
        left=$((left - 1))
    done
    stop
    collect
}

# Where it is run by hand, there is no directory yet.
if [ "$#" = 0 ]; then
    exec 3>&2
    d=$(mktemp -d "${TMPDIR:-/var/tmp}/isochrone.XXXXXX")
    connection=''
else
    exec 3>&1
    d=$1
    connection=$2
fi
trap end EXIT
trap 'exit 1' HUP INT TERM
trap '' PIPE
