// src/api.ts
/** What the server says is wrong, in words. */
var ApiError = class extends Error {
	status;
	constructor(status, message) {
		super(message);
		this.status = status;
	}
};
/** What answers have to be of, and what to do when one is of something else. */
var expected = {
	store: null,
	other: () => void 0
};
async function answer(path, init, signal) {
	const response = await fetch(`api/${path}`, {
		...init,
		signal
	}).catch((error) => {
		if (error instanceof DOMException && error.name === "AbortError") throw error;
		throw new ApiError(0, "The server does not answer. Was it stopped? Start it again with the command that you used, and this page goes on.");
	});
	const store = response.headers.get("isochrone-store");
	if (path !== "experiment" && expected.store !== null && store !== null && store !== expected.store) {
		expected.other();
		throw new ApiError(409, "The traces have changed: this page shows them anew in a moment.");
	}
	if (response.ok) return response;
	const said = await response.json().catch(() => ({}));
	throw new ApiError(response.status, said.error ?? `The server answered ${response.status}.`);
}
/** The server takes whole ns; places between pixels have fractions of them. */
var whole = (value) => typeof value === "number" ? Math.round(value) : value;
/** Names may hold signs that turn the direction of a text around, the digits beside them too: these are shown as unknown signs. */
var TURNS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
var parsed = async (response) => JSON.parse((await response.text()).replace(TURNS, "�"));
async function get(path, query = {}, signal) {
	const there = Object.entries(query).filter(([, value]) => value !== null && value !== void 0);
	const text = new URLSearchParams(there.map(([name, value]) => [name, String(whole(value))])).toString();
	return parsed(await answer(text ? `${path}?${text}` : path, void 0, signal));
}
function posted(body) {
	return {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify(body, (_, value) => whole(value))
	};
}
async function post(path, body, signal) {
	return parsed(await answer(path, posted(body), signal));
}
var NO_LABEL = 4294967295;
/** Decodes the binary form of states. */
function decodeStates(buffer) {
	const head = new Uint32Array(buffer, 0, 4);
	if (head[0] !== 827282249) throw new ApiError(0, "The server's answer is of another version: reload the page.");
	const [, rows, states, json] = head;
	let at = 16;
	const u32 = (count) => {
		const it = new Uint32Array(buffer, at, count);
		at += 4 * count;
		return it;
	};
	const f64 = (count) => {
		const it = new Float64Array(buffer, at, count);
		at += 8 * count;
		return it;
	};
	const ids = u32(rows), starts = u32(rows + 1), label = u32(states);
	const style = new Uint8Array(buffer, at, states);
	at = Math.ceil((at + states) / 8) * 8;
	return {
		rows: ids,
		starts,
		label,
		style,
		begin: f64(states),
		end: f64(states),
		labels: JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, at, json)).replace(TURNS, "�"))
	};
}
/** The label of a state; "" if it has none. */
function labelOf(states, place) {
	const label = states.label[place] ?? NO_LABEL;
	return label === NO_LABEL ? "" : states.labels[label] ?? "";
}
var api = {
	experiment: (signal) => get("experiment", {}, signal),
	overview: (bins, signal) => get("overview", { bins }, signal),
	sample: (signal) => get("sample", {}, signal),
	rows: async () => (await get("rows")).rows,
	async states(asked, signal) {
		return decodeStates(await (await answer("states", posted(asked), signal)).arrayBuffer());
	},
	/** `isReceived`: only those that are received in the time, not also those that are sent in it or under way. */
	messages: (begin, end, clock, limit, signal, isReceived = false, ask = null) => get("messages", {
		begin,
		end,
		clock,
		limit,
		received: isReceived,
		ask
	}, signal),
	messageCounts: (signal) => get("message-counts", {}, signal),
	matching: (text, begin, end, clock, list = null, signal) => get("matching", {
		text,
		begin,
		end,
		clock,
		...list
	}, signal),
	wakeups: (begin, end, clock, rows, limit, signal) => get("wakeups", {
		begin,
		end,
		clock,
		rows: rows.join(","),
		limit
	}, signal),
	state: (row, at, clock, signal) => get("state", {
		row,
		at,
		clock
	}, signal),
	step: (row, at, to, clock) => get("step", {
		row,
		at,
		to,
		clock
	}),
	follow: (row, at, what, clock) => get("follow", {
		row,
		at,
		what,
		clock
	}),
	raw: (host, raw) => get("raw", {
		host,
		raw
	}),
	requests: (ask = null, signal) => get("requests", { ask }, signal),
	compared: (service, fromNs, toNs, ask, signal) => post("compared", {
		service,
		from_ns: Math.floor(fromNs),
		to_ns: Math.ceil(toNs),
		ask
	}, signal),
	services: (begin, end, ask, signal) => post("services", {
		begin,
		end,
		ask
	}, signal),
	path: async (of, ask = null, signal) => ({
		...await get("path", {
			...of,
			ask
		}, signal),
		of
	}),
	sql: (query, signal) => post("sql", { query }, signal),
	analyses: async () => (await get("analyses")).analyses,
	table: (asked, signal) => post("table", asked, signal),
	progress: async (ask) => (await get("progress", { ask })).progress,
	statistics: (area, signal) => post("statistics", area, signal),
	instead: (area, signal) => post("instead", area, signal),
	phases: (area, signal) => post("phases", area, signal),
	files: (area, signal) => post("files", area, signal),
	exchanged: (area, signal) => post("exchanged", area, signal),
	/** What comes to these rows and goes from them; times are on the clock that is asked for. */
	flows: (asked, signal) => post("flows", asked, signal),
	/** Waits that end in the time, in full. */
	causes: (area, signal) => post("causes", area, signal),
	activity: (begin, end) => get("activity", {
		begin,
		end
	}),
	usage: (begin, end, points, signal, queue = false, ask = null) => get("usage", {
		begin,
		end,
		points,
		queue,
		ask
	}, signal),
	resources: (begin, end, steps, ask, signal) => get("resources", {
		begin,
		end,
		steps,
		ask
	}, signal),
	lives: (begin, end, steps, limit, ask, signal) => get("lives", {
		begin,
		end,
		steps,
		limit,
		ask
	}, signal),
	accesses: (begin, end, limit, ask, signal) => get("accesses", {
		begin,
		end,
		limit,
		ask
	}, signal),
	events: (asked, signal) => get("events", asked, signal),
	sync: () => get("sync"),
	link: (a, b, points) => get("link", {
		a,
		b,
		points
	})
};
// src/format.ts
var MINUS$1 = "−";
var counts = new Intl.NumberFormat("en-US");
/** 1125 → "1,125". */
function formatCount(count) {
	return counts.format(count).replace("-", MINUS$1);
}
/** Four significant digits at most, without zeros at the end. */
function digits(value) {
	const places = value >= 1e3 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
	const text = value.toFixed(places);
	return places > 0 ? text.replace(/\.?0+$/, "") : text;
}
/** A duration in the unit that suits it: "41.32 ms", "812 ns", "2 min 3.5 s"; "–" for what is unknown. */
function formatDuration(ns) {
	if (ns === null || ns === void 0 || !Number.isFinite(ns)) return "–";
	const sign = ns < 0 ? MINUS$1 : "", size = Math.abs(ns);
	if (size === 0) return "0 s";
	if (size < 1e3) return `${sign}${digits(size)} ns`;
	if (size < 1e6) return `${sign}${digits(size / 1e3)} µs`;
	if (size < 1e9) return `${sign}${digits(size / 1e6)} ms`;
	if (size < 12e10) return `${sign}${digits(size / 1e9)} s`;
	const minutes = Math.floor(size / 6e10), hours = Math.floor(minutes / 60);
	if (hours > 0) return `${sign}${hours} h ${minutes % 60} min`;
	return `${sign}${minutes} min ${digits((size - minutes * 6e10) / 1e9)} s`;
}
/** 12345 → "12.3 kB". */
function formatBytes(bytes) {
	if (bytes === null || bytes === void 0 || !Number.isFinite(bytes)) return "–";
	const units = [
		"B",
		"kB",
		"MB",
		"GB",
		"TB"
	];
	let size = Math.abs(bytes), unit = 0;
	while (size >= 1e3 && unit < units.length - 1) {
		size /= 1e3;
		unit += 1;
	}
	return `${bytes < 0 ? MINUS$1 : ""}${unit === 0 ? Math.round(size) : digits(size)} ${units[unit]}`;
}
/** Whole seconds since 1970 and the ns after them. The origin has whole seconds: no digit is lost. */
function parts(origin, t) {
	const seconds = Math.floor(t / 1e9);
	return [(origin === null ? 0 : Number(origin.slice(0, -9) || "0")) + seconds, Math.round(t - seconds * 1e9)];
}
var shownAs = {
	format: "UTC",
	begin: 0
};
/** How much local time is ahead of UTC at an instant, ns. */
function aheadOfUtc(unix) {
	return -60000000000n * BigInt(new Date(Number(unix / 1000000n)).getTimezoneOffset());
}
/** An instant moved so that its UTC is the local time. */
function localized(origin, t) {
	return t + Number(aheadOfUtc(BigInt(origin ?? "0") + BigInt(Math.round(t))));
}
/** An instant as all instants are shown: "05:54:31.203216897", "12.203216897 s", or "1795154071.203216897". */
function formatTime(origin, t, places = 9) {
	if (shownAs.format === "since begin") return `${((t - shownAs.begin) / 1e9).toFixed(places).replace("-", MINUS$1)} s`;
	if (shownAs.format === "Unix") return formatUnix(origin, t, places);
	return formatUtc(origin, shownAs.format === "local" ? localized(origin, t) : t, places);
}
/** Seconds since 1970: "1795154071.203216897". */
function formatUnix(origin, t, places = 9) {
	const [seconds, ns] = parts(origin, t);
	return places <= 0 ? String(seconds) : `${seconds}.${String(ns).padStart(9, "0").slice(0, places)}`;
}
/** Nanoseconds since 1970: "1795154071203216897". */
function unixNs(origin, t) {
	return String(BigInt(origin ?? "0") + BigInt(Math.round(t)));
}
/** Time of the day (UTC) with as many decimal places as asked for: "05:54:31.203216897". */
function formatUtc(origin, t, places = 9) {
	const [seconds, ns] = parts(origin, t);
	const clock = (/* @__PURE__ */ new Date(seconds * 1e3)).toISOString().slice(11, 19);
	return places <= 0 ? clock : `${clock}.${String(ns).padStart(9, "0").slice(0, places)}`;
}
/** The day and what times are: "2026-11-20 UTC". */
function formatDay(origin, t) {
	if (shownAs.format === "since begin") return "seconds since the begin";
	if (shownAs.format === "Unix") return "seconds since 1970";
	return shownAs.format === "UTC" ? `${formatDate(origin, t)} UTC` : `${formatDate(origin, localized(origin, t))}, local time`;
}
/** The day (UTC): "2026-11-20". */
function formatDate(origin, t) {
	return (/* @__PURE__ */ new Date(parts(origin, t)[0] * 1e3)).toISOString().slice(0, 10);
}
/** How many decimal places of a second are needed to tell times apart that are `step` ns from each other. */
function placesFor(step) {
	return Math.max(0, Math.min(9, 9 - Math.floor(Math.log10(Math.max(step, 1)))));
}
var Layout = class {
	rows;
	/** Of the lines that scroll, in CSS pixels. */
	scrollTop = 0;
	width = 0;
	/** Of the lines, without the axis. */
	height = 0;
	watchers = /* @__PURE__ */ new Set();
	constructor(rows) {
		this.rows = rows;
		rows.watch(() => this.scrollTo(this.scrollTop));
	}
	watch(watcher) {
		this.watchers.add(watcher);
	}
	/** Height of what does not scroll: the pinned lines. */
	get fixed() {
		return this.rows.pinnedCount * 20;
	}
	/** Height of everything that scrolls. */
	get full() {
		return (this.rows.lines.length - this.rows.pinnedCount) * 20;
	}
	get mostScroll() {
		return Math.max(0, this.full - (this.height - this.fixed));
	}
	resize(width, height) {
		if (width === this.width && height === this.height) return;
		this.width = width;
		this.height = height;
		this.scrollTo(this.scrollTop);
	}
	scrollTo(top) {
		this.scrollTop = Math.round(Math.max(0, Math.min(top, this.mostScroll)));
		for (const watcher of this.watchers) watcher();
	}
	scrollBy(by) {
		this.scrollTo(this.scrollTop + by);
	}
	/** Top of a line, below the axis; lines that are scrolled away are above 0 or below the height. */
	top(place) {
		return place < this.rows.pinnedCount ? place * 20 : place * 20 - this.scrollTop;
	}
	/** The line at a height below the axis; −1 if there is none. */
	lineAt(y) {
		if (y < 0 || y >= this.height) return -1;
		const place = Math.floor(y < this.fixed ? y / 20 : (y + this.scrollTop) / 20);
		return place < this.rows.lines.length ? place : -1;
	}
	/** Pinned lines, and those from `first` to `last` (exclusive) that are at least in part on the screen, with a margin. */
	shown(margin = 0) {
		const pinned = this.rows.pinnedCount;
		const first = pinned + Math.floor(this.scrollTop / 20) - margin;
		const last = pinned + Math.ceil((this.scrollTop + this.height - this.fixed) / 20) + margin;
		return {
			first: Math.max(pinned, first),
			last: Math.max(pinned, Math.min(last, this.rows.lines.length))
		};
	}
	/** Scrolls just as far as needed to see a line. */
	see(place) {
		if (place < this.rows.pinnedCount) return;
		const top = this.top(place), room = this.height - this.fixed;
		if (top < this.fixed) this.scrollBy(top - this.fixed - Math.min(40, room / 3));
		else if (top + 20 > this.height) this.scrollBy(top + 20 - this.height + Math.min(40, room / 3));
	}
};
// src/activity.ts
/** Of disks that read or write. */
var DISK_STYLES = [12, 13];
var Activity = class {
	view;
	rows;
	layout;
	status;
	watchers = /* @__PURE__ */ new Set();
	/** Of which time the activity is; null where rows are in the order of the tree. */
	sortedBy = null;
	asked = 0;
	constructor(view, rows, layout, status) {
		this.view = view;
		this.rows = rows;
		this.layout = layout;
		this.status = status;
	}
	watch(watcher) {
		this.watchers.add(watcher);
	}
	renew(renewal) {
		if (this.sortedBy !== null) this.sortedBy = renewal.range(this.sortedBy);
	}
	/** Nothing is asked for. */
	get isIdle() {
		return this.asked === 0;
	}
	async toggle() {
		if (this.rows.isSorted) this.off();
		else await this.sort();
	}
	async group() {
		if (this.rows.isGrouped) this.off();
		else await this.sort(void 0, true);
	}
	off() {
		this.sortedBy = null;
		this.rows.setActivity(null);
		for (const watcher of this.watchers) watcher();
	}
	/** Rows keep the order of the window in which they were sorted: nothing moves by itself. */
	async sort(asked, isGrouped = false) {
		const { window, clock, experiment } = this.view.now;
		const range = asked ?? (clock === "common" ? window : {
			begin: experiment?.begin ?? 0,
			end: experiment?.end ?? 1
		});
		this.asked += 1;
		const [answer, disks] = await Promise.all([api.activity(range.begin, range.end).catch(() => null), isGrouped ? [] : this.busyDisks(range)]);
		this.asked -= 1;
		if (answer === null) {
			if (asked === void 0) this.status.say("The rows could not be sorted: the server does not say what ran.", true);
			return;
		}
		const activity = this.withParents(answer.threads), parts = isGrouped ? this.withParents(answer.messages) : null;
		for (const disk of disks) activity.set(disk, 0);
		this.sortedBy = range;
		const hosts = Math.max(1, experiment?.hosts.length ?? 1);
		this.rows.setActivity(activity, Math.floor(this.layout.height / 20 / hosts) - (isGrouped ? 4 : 2), parts);
		if (asked === void 0) this.status.say(`${isGrouped ? "By messages, then" : "Sorted by"} CPU time in ${formatDuration(range.end - range.begin)}`);
		for (const watcher of this.watchers) watcher();
	}
	/** Disks that did something in that time; all of them, where the server does not say. */
	async busyDisks({ begin, end }) {
		const disks = this.view.now.rows.filter((row) => row.kind === "disk").map((row) => row.id);
		if (disks.length === 0) return disks;
		const states = await api.states({
			rows: disks,
			begin: Math.floor(begin),
			end: Math.ceil(end),
			pixels: 1e3,
			clock: "common"
		}).catch(() => null);
		if (states === null) return disks;
		const isBusy = (place) => states.style.subarray(states.starts[place], states.starts[place + 1]).some((style) => DISK_STYLES.includes(style));
		return [...states.rows].filter((_, place) => isBusy(place));
	}
	/** Figures of rows, and their sums for what they are in. */
	withParents(figures) {
		const all = /* @__PURE__ */ new Map();
		for (const [row, value] of figures) {
			all.set(row, (all.get(row) ?? 0) + value);
			const parent = this.rows.row(row)?.parent ?? null;
			if (parent !== null) all.set(parent, (all.get(parent) ?? 0) + value);
		}
		return all;
	}
};
// src/bookmarks.ts
var Bookmarks = class {
	view;
	list = [];
	watchers = /* @__PURE__ */ new Set();
	constructor(view) {
		this.view = view;
	}
	watch(watcher) {
		this.watchers.add(watcher);
	}
	set(list) {
		this.list = list.slice(-50);
		for (const watcher of this.watchers) watcher();
	}
	renew(renewal) {
		this.set(this.list.map((mark) => ({
			...mark,
			at: renewal.time(mark.at),
			row: mark.row === null ? null : renewal.row(mark.row)
		})));
	}
	/** Marks the begin of the selection, else the instant under the pointer, else the middle of the window. Twice at the same place takes it away. */
	toggle() {
		const { window, selection, hover, row, clock, experiment } = this.view.now, span = window.end - window.begin;
		const at = Math.round(selection?.begin ?? hover ?? (window.begin + window.end) / 2);
		const same = this.list.find((it) => it.clock === clock && Math.abs(it.at - at) < span * .005);
		if (same !== void 0) {
			this.remove(same);
			return null;
		}
		const mark = {
			at,
			row,
			clock,
			span,
			name: formatTime(experiment?.origin_unix_ns ?? null, at, placesFor(span / 1e3))
		};
		this.set([...this.list, mark]);
		return mark;
	}
	remove(mark) {
		this.set(this.list.filter((other) => other !== mark));
	}
	rename(mark, name) {
		this.set(this.list.map((other) => other === mark ? {
			...mark,
			name
		} : other));
	}
};
// src/animate.ts
var still = matchMedia("(prefers-reduced-motion: reduce)");
/** Calls `step` with 0 … 1 (eased) for a time, with 1 at the end always. Gives what jumps to the end. */
function animate(ms, step) {
	if (still.matches || ms <= 0) {
		step(1);
		return () => void 0;
	}
	const start = performance.now();
	let frame = 0, isDone = false;
	const finish = () => {
		if (isDone) return;
		isDone = true;
		cancelAnimationFrame(frame);
		step(1);
	};
	const next = (now) => {
		const t = (now - start) / ms;
		if (t >= 1) {
			finish();
			return;
		}
		step(Math.max(0, t * t * (3 - 2 * t)));
		frame = requestAnimationFrame(next);
	};
	step(0);
	frame = requestAnimationFrame(next);
	return finish;
}
// src/clock.ts
var SLIDE_MS = 400;
/** Hosts whose clocks are further off than this share of the window make it wider, so that all are seen. */
var FAR = .5;
var ClockSwitch = class {
	view;
	navigation;
	/** How much of the way is still to go: 1 … 0. */
	left = 0;
	stop = () => void 0;
	watchers = /* @__PURE__ */ new Set();
	constructor(view, navigation) {
		this.view = view;
		this.navigation = navigation;
	}
	watch(watcher) {
		this.watchers.add(watcher);
	}
	get isSliding() {
		return this.left > 0;
	}
	/** Own time − common time of a host, constant enough for a picture. */
	shift(host) {
		return this.view.now.experiment?.hosts[host]?.shift_ns ?? 0;
	}
	/** What a host's times on `clock` need, to be right on the clock that is shown. */
	convert(host, clock) {
		if (clock === this.view.now.clock) return 0;
		return clock === "own" ? -this.shift(host) : this.shift(host);
	}
	/** What a time that is shown of a host needs to be one of the common clock. */
	back(host) {
		return -this.convert(host, "common");
	}
	/** How far a host's times are moved now, while rows slide. */
	offset(host) {
		return this.left === 0 ? 0 : this.left * (this.view.now.clock === "common" ? this.shift(host) : -this.shift(host));
	}
	toggle() {
		const { clock, window: before, selection, isAbout, row, rows, experiment } = this.view.now;
		if (experiment === null || experiment.hosts.length === 0) return;
		this.stop();
		const to = clock === "own" ? "common" : "own";
		this.navigation.remember();
		const after = this.windowOn(to, before);
		const host = row === null ? void 0 : rows.find((other) => other.id === row)?.host;
		const moved = host === void 0 ? 0 : to === "own" ? this.shift(host) : -this.shift(host);
		this.left = 1;
		this.view.set({
			clock: to,
			selection: selection && {
				begin: selection.begin + moved,
				end: selection.end + moved
			},
			isAbout
		});
		this.stop = animate(SLIDE_MS, (t) => {
			this.left = 1 - t;
			this.view.set({ window: {
				begin: before.begin + (after.begin - before.begin) * t,
				end: before.end + (after.end - before.end) * t
			} });
			for (const watcher of this.watchers) watcher();
		});
	}
	/** The window that shows the same instants of all hosts on the other clock. */
	windowOn(to, before) {
		const hosts = this.view.now.experiment.hosts, span = before.end - before.begin;
		const shifts = hosts.map((host) => to === "own" ? host.shift_ns : -host.shift_ns);
		const least = Math.min(...shifts), most = Math.max(...shifts);
		if (Math.max(-least, most) < span * FAR) return before;
		if (to === "own") return this.navigation.clamp({
			begin: before.begin + least,
			end: before.end + most
		}, to);
		const begin = before.begin + most, end = before.end + least;
		if (end > begin) return this.navigation.clamp({
			begin,
			end
		}, to);
		const middle = (before.begin + before.end) / 2;
		const host = hosts.find((it) => middle >= it.begin + it.shift_ns && middle < it.end + it.shift_ns);
		const moved = host === void 0 ? 0 : -host.shift_ns;
		return this.navigation.clamp({
			begin: before.begin + moved,
			end: before.end + moved
		}, to);
	}
};
// src/losses.ts
var WORDS$2 = {
	"rest of a packet": "the rest of a packet cannot be read",
	"order of packets": "packets are out of order",
	stream: "a stream is missing",
	chunk: "a chunk of the trace is missing",
	CPU: "the CPU was not recorded"
};
/** "1,234 events were lost". */
function lossText({ what, count }) {
	if (count !== null) return `${formatCount(count)} ${count === 1 ? what.replace(/s$/, "") : what} ${count === 1 ? "was" : "were"} lost`;
	return WORDS$2[what] ?? what;
}
/** Whether something is lost, not only recorded for a shorter time than elsewhere. */
function isLost({ what }) {
	return !what.startsWith("the stream ");
}
/** Of a host, or of one of its CPUs (null: of any), at an instant of the common clock or as near to it as `room`. */
function lossesAt(losses, host, cpu, at, room = 0) {
	return losses.filter((it) => it.host === host && (cpu === null || it.cpu === null || it.cpu === cpu) && at >= it.begin - room && at <= it.end + room);
}
/** What the header says: how many events, and how many other losses; "" if nothing is lost. */
function lossesText(losses, total) {
	const lost = losses.filter(isLost), events = lost.reduce((sum, it) => sum + (it.what === "events" ? it.count ?? 0 : 0), 0), others = lost.filter((it) => it.what !== "events").length;
	const parts = [events > 0 ? `${formatCount(events)} events` : "", others > 0 ? `${formatCount(others)} ${others === 1 ? "other loss" : "other losses"}` : ""].filter((part) => part !== "");
	return parts.length === 0 ? "" : `${total > losses.length ? "at least " : ""}${parts.join(", ")}${events > 0 && others === 0 ? " lost" : ""}`;
}
/** Parts of time that do not overlap, in order. */
function joined$1(parts) {
	const all = [];
	for (const [begin, end] of [...parts].sort((a, b) => a[0] - b[0])) {
		const last = all.at(-1);
		if (last !== void 0 && begin <= last[1]) last[1] = Math.max(last[1], end);
		else all.push([begin, end]);
	}
	return all;
}
var lengthOf = (parts) => parts.reduce((sum, [begin, end]) => sum + end - begin, 0);
/** Whether a stream is not there at all, not only some of its events. */
var isAbsent = ({ what }) => [
	"stream",
	"CPU",
	"chunk"
].includes(what) || !isLost({ what });
/** Of each CPU of a host, which was recorded from its begin to its end, in a time; what is missing twice counts once, as absent rather than as lost. */
function coverageOf(losses, { host, cpus, ...recorded }, { begin, end }) {
	const of = losses.filter((it) => it.host === host), named = of.flatMap((it) => it.cpu ?? []), around = [[begin, recorded.begin], [recorded.end, end]];
	return [.../* @__PURE__ */ new Set([...cpus, ...named])].sort((a, b) => a - b).map((cpu) => {
		const times = (some) => some.filter((it) => it.cpu === null || it.cpu === cpu).map((it) => [it.begin, it.end]);
		const inside = ([from, to]) => [Math.max(from, begin), Math.min(to, end)];
		const parts = (some) => joined$1([...times(some), ...around].map(inside).filter(([from, to]) => from < to));
		const absent = parts(of.filter(isAbsent)), missing = lengthOf(parts(of)), [first] = absent, last = absent.at(-1);
		const from = first?.[0] === begin ? first[1] : begin;
		return {
			host,
			cpu,
			begin: from,
			end: last?.[1] === end && from < end ? last[0] : end,
			whole: end - begin - missing,
			lost: missing - lengthOf(absent),
			absent: lengthOf(absent)
		};
	});
}
// src/dom.ts
/** An element with properties (`on…`: listeners; the others: attributes) and children. */
function h(tag, properties = {}, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(properties)) if (typeof value === "function") element.addEventListener(name.slice(2), value);
	else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : String(value));
	element.append(...children.filter((child) => child !== null));
	return element;
}
/** A button with a text, and a longer one for who hovers or listens: its name are its words, if it has any. */
function button(text, title, run, properties = {}) {
	return h("button", {
		type: "button",
		title,
		"aria-label": /\p{L}/u.test(text) ? null : title,
		onclick: () => run(),
		...properties
	}, text);
}
/** A bar between two parts that can be dragged, or moved with the arrow keys: `move` gets pixels; `size` says how large what is resized is. */
function splitter(orientation, label, move, size, done) {
	const isVertical = orientation === "vertical";
	const bar = h("div", {
		class: `splitter ${orientation}`,
		role: "separator",
		"aria-orientation": orientation,
		"aria-label": label,
		"aria-valuenow": Math.round(size()),
		tabindex: 0
	});
	const moved = (by) => {
		move(by);
		bar.setAttribute("aria-valuenow", String(Math.round(size())));
	};
	bar.addEventListener("pointerdown", (event) => {
		bar.setPointerCapture(event.pointerId);
		let last = isVertical ? event.clientX : event.clientY;
		const drag = (event) => {
			const now = isVertical ? event.clientX : event.clientY;
			moved(now - last);
			last = now;
		};
		bar.addEventListener("pointermove", drag);
		bar.addEventListener("pointerup", () => {
			bar.removeEventListener("pointermove", drag);
			done();
		}, { once: true });
		event.preventDefault();
	});
	bar.addEventListener("keydown", (event) => {
		const by = event.key === (isVertical ? "ArrowLeft" : "ArrowUp") ? -16 : event.key === (isVertical ? "ArrowRight" : "ArrowDown") ? 16 : 0;
		if (by === 0) return;
		moved(by);
		done();
		event.preventDefault();
		event.stopPropagation();
	});
	return bar;
}
// src/panels/copy.ts
var TOLD_MS = 1400;
/** Copies a text. Browsers give pages that are not from this machine or https no clipboard: then as it was done before there was one. */
async function copyText(text) {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		const area = h("textarea", {
			class: "unseen",
			"aria-hidden": "true"
		}), focused = document.activeElement;
		area.value = text;
		document.body.append(area);
		area.select();
		const isDone = document.execCommand("copy");
		area.remove();
		if (focused instanceof HTMLElement) focused.focus();
		return isDone;
	}
}
/** A button that copies what `text` gives, and says so. */
function copyButton(shown, title, text, look = "copy") {
	const it = button(shown, title, () => void copyText(text()).then((isDone) => tell(it, shown, isDone)), { class: look });
	return it;
}
function tell(it, shown, isDone) {
	it.textContent = isDone ? "copied ✓" : "not copied";
	setTimeout(() => {
		it.textContent = shown;
	}, TOLD_MS);
}
/** The command line that gives the same, as text; or why there is none. */
var CommandText = class {
	command = "";
	code = h("code", {
		class: "command",
		tabindex: 0,
		"aria-label": "The command that gives the same as text"
	});
	copy = copyButton("as text", "Copy the command that gives the same as text", () => this.command);
	why = h("span", {
		class: "muted",
		hidden: true
	});
	element = h("span", {
		class: "as-text",
		hidden: true
	}, this.code, this.copy, this.why);
	set(command) {
		this.command = command;
		this.code.textContent = this.code.title = command;
		this.element.hidden = command === "";
		this.code.hidden = this.copy.hidden = false;
		this.why.hidden = true;
	}
	/** No command gives the same: says so, and why. */
	none(why) {
		this.set("");
		this.why.textContent = "no command gives this";
		this.why.title = why;
		this.element.hidden = this.why.hidden = false;
		this.code.hidden = this.copy.hidden = true;
	}
	/** The command of an answer, where it has one. */
	setOr(command, why) {
		if (command === void 0 || command === "") this.none(why);
		else this.set(command);
	}
};
// src/theme.ts
var KEPT$5 = "isochrone.theme";
var KEPT_PALETTE = "isochrone.palette";
var system = matchMedia("(prefers-color-scheme: dark)");
var watchers$1 = /* @__PURE__ */ new Set();
var theme = "light";
var clear$1 = localStorage.getItem(KEPT_PALETTE) === "clear";
/** That of the address, which is shown until another one is chosen. */
var given = null;
/** What the reader or the address chose; null: the system's. */
function chosenTheme() {
	if (given !== null) return given;
	const kept = localStorage.getItem(KEPT$5);
	return kept === "light" || kept === "dark" ? kept : null;
}
var isPrinting = false;
/** What is printed is light. */
function setPrinting(printing) {
	isPrinting = printing;
	apply();
}
function apply() {
	const next = isPrinting ? "light" : chosenTheme() ?? (system.matches ? "dark" : "light");
	document.documentElement.dataset.theme = next;
	if (next === theme) return;
	theme = next;
	for (const watcher of watchers$1) watcher();
}
function isDark() {
	return theme === "dark";
}
function switchTheme() {
	given = null;
	localStorage.setItem(KEPT$5, isDark() ? "light" : "dark");
	apply();
}
/** Shows what an address asks for; what a reader chose for other pages stays that. */
function giveTheme(asked, isClearAsked) {
	given = asked ?? given;
	const isOther = isClearAsked && !clear$1;
	clear$1 ||= isClearAsked;
	apply();
	if (isOther) for (const watcher of watchers$1) watcher();
}
/** Whether states have colours that all eyes tell apart. */
function isClear() {
	return clear$1;
}
function switchPalette() {
	clear$1 = !clear$1;
	localStorage.setItem(KEPT_PALETTE, clear$1 ? "clear" : "usual");
	for (const watcher of watchers$1) watcher();
}
/** Calls `watcher` when the theme changes: canvases and charts draw again. Gives what stops it. */
function watchTheme(watcher) {
	watchers$1.add(watcher);
	return () => watchers$1.delete(watcher);
}
system.addEventListener("change", apply);
apply();
// src/commands.ts
var ZOOM = 1.6;
var PAN = .2;
function commandsOf(doers) {
	const { view, rows, layout, navigation, clock, bookmarks, status, activity, tree, graph, search, drawer, inspector, timeField } = doers;
	const pan = (share) => {
		const { begin, end } = navigation.window;
		navigation.pan((end - begin) * share, "glide");
	};
	const zoom = (factor) => navigation.zoom(factor, view.now.hover ?? void 0, "glide");
	const list = [];
	const group = (name, ...commands) => {
		for (const [keys, description, run] of commands) list.push({
			keys: keys === "" ? [] : keys.split("  "),
			description,
			group: name,
			run
		});
	};
	group("Time", [
		"w  +  =",
		"zoom in (at the pointer)",
		() => zoom(1 / ZOOM)
	], [
		"s  -",
		"zoom out",
		() => zoom(ZOOM)
	], [
		"a  ArrowLeft",
		"pan left",
		() => pan(-.2)
	], [
		"d  ArrowRight",
		"pan right",
		() => pan(PAN)
	], [
		"Enter",
		"zoom to the selection",
		() => {
			const { selection } = view.now;
			if (selection !== null) navigation.show(selection);
			else status.say("Nothing is selected.");
		}
	], [
		"Shift+ArrowLeft",
		"select less time, or begin to",
		() => extend(doers, -1)
	], [
		"Shift+ArrowRight",
		"select more time",
		() => extend(doers, 1)
	], [
		"f",
		"fit all",
		() => navigation.fit()
	], [
		"z",
		"undo of zoom",
		() => navigation.undo()
	], [
		"Z",
		"redo",
		() => navigation.redo()
	], [
		"t",
		"type an instant or a window",
		() => timeField.focus()
	], [
		"k",
		"own clocks or the common one",
		() => clock.toggle()
	], [
		"b",
		"bookmark this place, or remove it",
		() => {
			const mark = bookmarks.toggle();
			status.say(mark === null ? "Bookmark removed" : `Bookmark at ${mark.name}`);
		}
	], [
		"B",
		"next bookmark",
		() => nextBookmark(doers)
	]);
	group("States", [
		"[",
		"previous state of the row",
		() => void inspector.step("previous")
	], [
		"]",
		"next state",
		() => void inspector.step("next")
	], [
		"m",
		"follow the message to its other end",
		() => void inspector.follow("message")
	], [
		"e",
		"follow the wake-up: whom it wakes next",
		() => void inspector.follow("wakeup")
	], [
		"E",
		"who woke it",
		() => void inspector.follow("waker")
	], [
		"c",
		"critical path of the thread over the selection",
		() => void inspector.path()
	], [
		"n",
		"next of the list that was used last: matches of the search, events, messages, losses",
		() => drawer.step(1, "matches")
	], [
		"N",
		"the one before of that list",
		() => drawer.step(-1, "matches")
	], [
		"l",
		"next loss of events",
		() => nextLoss(doers)
	], [
		"W",
		"arrows of wake-ups of the row",
		() => {
			graph.arrows.show(graph.arrows.areMessagesOn, !graph.arrows.areWakeupsOn);
			graph.invalidate();
			status.say(graph.arrows.areWakeupsOn ? "Wake-ups of the selected row are shown" : "Wake-ups are not shown");
		}
	], [
		"g",
		"arrows of messages",
		() => {
			graph.arrows.show(!graph.arrows.areMessagesOn, graph.arrows.areWakeupsOn);
			graph.invalidate();
			status.say(graph.arrows.areMessagesOn ? "Messages are shown" : "Messages are not shown");
		}
	], [
		"Escape",
		"stop looking for a path; clear the selection, then the path, then the rows of a request",
		() => clear(doers)
	]);
	group("Rows", [
		"Shift+ArrowUp",
		"select rows, up",
		() => tree.extend(-1)
	], [
		"Shift+ArrowDown",
		"select rows, down",
		() => tree.extend(1)
	], [
		"ArrowUp",
		"row above",
		() => tree.move(-1)
	], [
		"ArrowDown",
		"row below",
		() => tree.move(1)
	], [
		"PageUp",
		"a page up",
		() => tree.move(-Math.floor(layout.height / 20))
	], [
		"PageDown",
		"a page down",
		() => tree.move(Math.floor(layout.height / 20))
	], [
		"Home",
		"first row",
		() => tree.move(-Infinity)
	], [
		"End",
		"last row",
		() => tree.move(Infinity)
	], [
		"x",
		"collapse or expand",
		() => {
			const line = tree.activeLine;
			if (line?.expandable) rows.toggle(line.id);
		}
	], [
		"X",
		"collapse or expand all hosts",
		() => rows.collapseAll()
	], [
		"o",
		"sort by activity in the window",
		() => void activity.toggle()
	], [
		"S",
		"processes of one name together, those with most messages first",
		() => void activity.group()
	], [
		"O",
		"sort again, for the window of now",
		() => void activity.sort()
	], [
		"p",
		"pin to the top, or unpin",
		() => {
			if (view.now.row !== null) rows.pin(view.now.row);
		}
	], [
		"h",
		"hide",
		() => {
			if (view.now.row !== null) {
				const { row } = view.now;
				tree.move(1);
				rows.hide(row);
			}
		}
	], [
		"C",
		"counters of hosts as rows: CPU use, waits, network, disk, memory",
		() => rows.toggleCounters()
	], [
		"H",
		"show hidden rows",
		() => rows.showHidden()
	], [
		"/",
		"search",
		() => {
			search.input.focus();
			search.input.select();
		}
	]);
	group("Page", [
		"v",
		"open or close the drawer",
		() => drawer.toggle()
	], [
		"?",
		"keys, mouse, colours: help",
		() => doers.help()
	], [
		":  Ctrl+k",
		"all commands by name",
		() => doers.palette()
	], [
		"L",
		"legend of the colours",
		() => doers.legend()
	], [
		"",
		"light or dark",
		switchTheme
	], [
		"",
		"colours of states: usual, or for all kinds of colour vision",
		switchPalette
	], [
		"",
		"export the picture as PNG",
		() => doers.exportPng()
	], [
		"",
		"export the picture as SVG",
		() => doers.exportSvg()
	], [
		"",
		"print",
		() => print()
	], [
		"",
		"copy the link to this view",
		() => void copyText(location.href).then((isDone) => status.say(isDone ? "The link is copied" : "The link could not be copied", !isDone))
	]);
	group("Panels", ...drawer.all.map(({ id, title }) => [
		"",
		`open ${title}`,
		() => drawer.open(id)
	]));
	return list;
}
/** Moves the end of the selection; without one, it begins at the pointer, else in the middle. */
function extend({ view }, by) {
	const { window, selection, hover, area, chosen } = view.now, at = hover ?? (window.begin + window.end) / 2, step = by * .02 * (window.end - window.begin), begin = selection?.begin ?? at;
	view.set({
		selection: {
			begin,
			end: Math.max(begin, (selection?.end ?? at) + step)
		},
		area,
		chosen: chosen + 1
	});
}
function clear({ view, search, inspector, status }) {
	if (inspector.stop()) status.say("Stopped.");
	else if (view.now.selection !== null || view.now.area !== null) view.set({ selection: null });
	else if (view.now.path !== null) view.set({ path: null });
	else if (view.now.onlyRows !== null) view.set({ onlyRows: null });
	else if (search.text !== "") search.set("");
	else view.set({ row: null });
}
function nextLoss({ view, graph, navigation, clock, status, rows }) {
	const shown = graph.losses.map((loss) => {
		const moved = clock.convert(loss.host, "common");
		return {
			loss,
			begin: loss.begin + moved,
			end: loss.end + moved
		};
	}).sort((a, b) => a.begin - b.begin);
	const { selection, window } = view.now, at = selection?.begin ?? window.begin - 1, next = shown.find((it) => it.begin > at) ?? shown[0];
	if (next === void 0) {
		status.say("Nothing is missing of these traces.");
		return;
	}
	const host = rows.childrenOf(null).find((row) => row.host === next.loss.host), cpu = rows.childrenOf(host?.id ?? null).find((row) => row.kind === "cpu" && row.cpu === next.loss.cpu);
	navigation.go((cpu ?? host)?.id ?? null, next.begin);
	view.set({ selection: {
		begin: next.begin,
		end: next.end
	} });
	status.say(`${cpu === void 0 ? host?.label ?? "" : rows.fullName(cpu)}: ${lossText(next.loss)}`);
}
function nextBookmark({ view, bookmarks, goToBookmark, status }) {
	const list = [...bookmarks.list].sort((a, b) => a.at - b.at), { window } = view.now, middle = (window.begin + window.end) / 2;
	const next = list.find((mark) => mark.at > middle + (window.end - window.begin) * .01) ?? list[0];
	if (next === void 0) status.say("There are no bookmarks: b makes one.");
	else goToBookmark(next);
}
// src/panels/notice.ts
/** A notice in the middle of where the content would be. Parts in `backquotes` are shown as code. */
function notice(kind, title, text = "", ...actions) {
	return h("div", {
		class: `notice ${kind}`,
		role: kind === "failed" ? "alert" : "status"
	}, h("strong", {}, title), text === "" ? null : h("p", {}, ...withCode(text)), actions.length === 0 ? null : h("p", { class: "acts" }, ...actions));
}
/** "type `this`" with the command as code. */
function withCode(text) {
	return text.split("`").map((part, place) => place % 2 === 1 ? h("code", {}, part) : part);
}
// src/panels/pairs.ts
/** "h1 wget 208" → "h1 wget": of processes, their program. */
function programOf(name) {
	return name.replace(/ \d+$/, "");
}
function summed(pairs) {
	const sums = /* @__PURE__ */ new Map();
	for (const { from, to, count } of pairs) sums.set(`${from}\n${to}`, {
		from,
		to,
		count: (sums.get(`${from}\n${to}`)?.count ?? 0) + count
	});
	return [...sums.values()].sort((a, b) => b.count - a.count);
}
/** Which programs asked which, those with the most requests first. */
function programPairs(requests) {
	return summed(requests.map(({ client, server }) => ({
		from: programOf(client),
		to: programOf(server),
		count: 1
	})));
}
/** Which hosts sent packets to which. */
function hostPairs(pairs, hostOf, name) {
	return summed(pairs.flatMap(({ from, to, is_mpi: isMpi, count }) => {
		if (isMpi) return [];
		const [a, b] = [hostOf(from), hostOf(to)];
		return a === void 0 || b === void 0 || a === b ? [] : [{
			from: name(a),
			to: name(b),
			count
		}];
	}));
}
/** The filter that means these alone. */
function filterOf({ from, to }) {
	return `${from} → ${to}`;
}
/**
* Whether two ends fit a filter: "h1 wget → h2" is what the names of both begin with, word by word; else all words are anywhere in the names, or in what
* else is given.
*/
function fitsFilter(filter, from, to, more = "") {
	const [a, b] = filter.split("→").map((part) => part.trim().toLowerCase()), begins = (name, with_) => `${name.toLowerCase()} `.startsWith(with_ === "" ? "" : `${with_} `);
	if (b !== void 0) return begins(from, a ?? "") && begins(to, b);
	const text = `${more} ${from} ${to}`.toLowerCase();
	return filter.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
// src/panels/services.ts
/** The value of a place in a sorted list: the nearest rank, as the commands do. */
function nearestRank(sorted, percent) {
	return sorted[Math.max(0, Math.ceil(percent / 100 * sorted.length) - 1)] ?? 0;
}
/** Services, those with the most requests first. */
function servicesOf(requests) {
	const groups = /* @__PURE__ */ new Map();
	for (const request of requests) {
		const group = groups.get(request.service);
		if (group === void 0) groups.set(request.service, [request]);
		else group.push(request);
	}
	return [...groups].map(([name, group]) => {
		const totals = group.map((it) => it.total_ns).sort((a, b) => a - b);
		const slowest = group.reduce((a, b) => b.total_ns > a.total_ns ? b : a).request;
		return {
			name,
			count: group.length,
			median: nearestRank(totals, 50),
			p95: nearestRank(totals, 95),
			most: totals.at(-1),
			slowest
		};
	}).sort((a, b) => b.count - a.count);
}
// src/panels/times.ts
function hostOf(view, row) {
	const it = row === null ? void 0 : rowOf(view, row);
	return it === void 0 ? void 0 : view.now.experiment?.hosts[it.host];
}
/** Rows by their numbers: made once for each list of rows. */
var places = /* @__PURE__ */ new WeakMap();
function rowOf(view, id) {
	if (id === null) return void 0;
	const { rows } = view.now;
	let byId = places.get(rows);
	if (byId === void 0) places.set(rows, byId = new Map(rows.map((row) => [row.id, row])));
	return byId.get(id);
}
/** The row that a line of a table is about, by its host and the number of a thread, a process or a CPU; of several threads that had one number, the one that lived at the instant. */
function rowOfLine(view, value, at) {
	const { rows, experiment } = view.now, named = experiment?.hosts.find((it) => it.name === value("host")), hosts = experiment?.hosts ?? [], host = named ?? (hosts.length === 1 ? hosts[0] : void 0);
	if (host === void 0) return null;
	for (const key of [
		"tid",
		"pid",
		"cpu"
	]) {
		const number = value(key);
		if (typeof number !== "number") continue;
		const found = rows.filter((row) => row.host === host.host && row[key] === number && (key === "cpu" || row.kind === "thread" || row.kind === "process"));
		const alive = found.find((row) => at !== null && row.begin !== void 0 && row.end !== void 0 && at >= row.begin && at <= row.end);
		if (found.length > 0) return (alive ?? found[0]).id;
	}
	return host.row;
}
var ENDS = [
	"",
	"from_",
	"to_",
	"client_",
	"server_",
	"by_",
	"parent_"
];
/** What lines of a table are about, by what names of columns begin with: "" for `host`, "from_" and "to_" for `from_host` and `to_host`; two at most. */
function endsOfLines(columns) {
	return ENDS.filter((end) => columns.includes(`${end}host`)).slice(0, 2);
}
/** "h1 wget 228" */
function nameOf$1(view, id) {
	const row = rowOf(view, id);
	if (row === void 0) return "";
	if (row.kind === "host") return row.label;
	const number = row.tid ?? row.pid;
	return `${view.now.experiment?.hosts[row.host]?.name ?? ""} ${row.rank === void 0 ? "" : `rank ${row.rank} · `}${row.label}${number === void 0 ? "" : ` ${number}`}`;
}
/** A command about the same traces as the page is, with the same corrections and store. */
function commandLike(view, command) {
	return `isochrone ${command}${view.now.experiment?.command.replace(/^isochrone view/, "") ?? ""}`;
}
/** An instant as commands take it: Unix seconds. */
function unixSeconds(view, at) {
	const unix = BigInt(view.now.experiment?.origin_unix_ns ?? "0") + BigInt(Math.round(at));
	return `${unix / 1000000000n}.${String(unix % 1000000000n).padStart(9, "0")}`;
}
/** A word of a command line, quoted for a shell where it has to be. */
function quotedWord(word) {
	return /^[\w\-./:=,+@%]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}
/** A time of the common clock on the one that is shown, where a row (its host) is. */
function toShown(view, row, at) {
	return view.now.clock === "common" ? at : at + (hostOf(view, row)?.shift_ns ?? 0);
}
/** A time as it is shown, on the common clock. */
function toCommon(view, row, at) {
	return view.now.clock === "common" ? at : at - (hostOf(view, row)?.shift_ns ?? 0);
}
/** The range on the common clock; not beyond the traces. Own clocks: by the selected row's host, else what any host shows. */
function panelRange(view, scope = "range") {
	const { selection, window, clock, row, experiment } = view.now;
	const isSelected = scope === "range" && selection !== null && selection.end - selection.begin >= 1;
	let { begin, end } = isSelected ? selection : window;
	if (clock === "own") {
		const host = hostOf(view, row), shifts = host !== void 0 ? [host.shift_ns] : experiment?.hosts.map((it) => it.shift_ns) ?? [0];
		begin -= Math.max(...shifts);
		end -= Math.min(...shifts);
	}
	const least = experiment?.begin ?? begin, most = experiment?.end ?? end;
	const inside = {
		begin: Math.max(begin, least),
		end: Math.min(end, most)
	};
	return inside.begin < inside.end ? {
		begin: Math.round(inside.begin),
		end: Math.round(inside.end),
		what: isSelected ? "selection" : "window"
	} : {
		begin: least,
		end: most,
		what: "window"
	};
}
/** The step that a time is in; −1 before the first. */
function stepOf(x, at) {
	let low = 0, high = x.length;
	while (low < high) {
		const middle = low + high >> 1;
		if (x[middle] <= at) low = middle + 1;
		else high = middle;
	}
	return low - 1;
}
// src/panels/firstLook.ts
/**
* Requests of traces with more messages are only looked for when they are asked for: that takes a while. Hosts are asked one by one what their threads
* waited for.
*/
var MANY_MESSAGES = 2e5;
var MANY_HOSTS = 16;
var MOST_SERVICES = 3;
var MOST_PAIRS = 3;
var MOST_HOSTS = 3;
var WAIT_CPU$1 = 4;
/** A panel is asked for, by its name, and what is to be chosen in it (null: what was): the drawer listens. */
var OPEN_PANEL = "openpanel";
/** Opens a panel from an element of another one. */
function openFrom(element, id, kept = null) {
	element.dispatchEvent(new CustomEvent(OPEN_PANEL, {
		bubbles: true,
		detail: {
			id,
			kept
		}
	}));
}
/** A button that opens a panel. */
function panelButton(text, panel, title, properties = {}, kept = null) {
	const it = button(text, title, () => openFrom(it, panel, kept), { ...properties });
	return it;
}
var link = (text, panel, title = `Open the panel that tells more: ${panel}`, kept = null) => panelButton(text, panel, title, { class: "link" }, kept);
/** Parts of a sentence with something between them. */
function joined(parts, between, draw) {
	return parts.flatMap((part, place) => [...place > 0 ? [between] : [], ...draw(part)]);
}
var FirstLook = class {
	view;
	navigator;
	during;
	messages = h("li", { hidden: true });
	services = h("li", {}, link("requests", "critical-path"), " and where they spend their time");
	losses = h("li", {}, "…");
	pairs = h("li", { hidden: true });
	waits = h("li", { hidden: true });
	element;
	experiment;
	/** At once what the page knows. `during`: what a link has to look for. */
	constructor(view, navigator, during) {
		this.view = view;
		this.navigator = navigator;
		this.during = during;
		const { hosts, begin, end, origin_unix_ns: origin, is_synchronized: isSynchronized } = this.experiment = view.now.experiment;
		const clocks = hosts.length < 2 ? "" : isSynchronized ? " on one clock" : ", not all on one clock";
		const list = h("ul", {}, h("li", {}, link(`${formatCount(hosts.length)} ${hosts.length === 1 ? "host" : "hosts"}${clocks}`, "synchronization"), `, ${formatDuration((end ?? 0) - (begin ?? 0))} from ${formatTime(origin, begin ?? 0, 3)}`), this.messages, this.losses, this.services, this.pairs, this.waits, h("li", {}, "what is short: ", link("resources", "resources"), "; what threads did: ", link("statistics", "statistics"), "; everything else: ", link("analyses", "analyses")));
		this.element = h("div", { class: "notice first-look" }, h("strong", {}, "Nothing is selected"), list, h("p", {}, ...withCode("Click a state in the time graph, or a name beside it. `↑` and `↓` go from row to row, `[` and `]` from state to state; `?`: all keys and colours.")));
	}
	/** The rest, as the server answers. */
	async ask(signal) {
		const overview = await api.overview(1, signal).catch(() => null);
		if (overview === null) this.losses.remove();
		else this.losses.replaceChildren(overview.losses.length === 0 ? "nothing is missing of the traces" : link(lossesText(overview.losses, overview.losses_total) || "no event was lost, but not all CPUs were recorded all of the time", "losses"));
		await Promise.all([this.askMessages(signal), this.askWaits(signal)]);
	}
	async askMessages(signal) {
		const { messages } = this, counts = await api.messageCounts(signal).catch((error) => error);
		if (counts instanceof Error) {
			messages.replaceChildren(`messages: ${counts.message}`);
			messages.hidden = signal.aborted;
			return;
		}
		if (counts.count === 0) return;
		messages.replaceChildren(link(`${formatCount(counts.count)} messages between hosts`, "messages"), `, ${formatCount(counts.inverted)} of them arrive before they were sent (${formatCount(counts.inverted_own)} by the hosts' own clocks)`);
		messages.hidden = false;
		if (counts.count > MANY_MESSAGES || signal.aborted) return;
		const { requests } = await api.requests().catch(() => ({ requests: [] }));
		this.services.replaceChildren(link(`${formatCount(requests.length)} ${requests.length === 1 ? "request" : "requests"}`, "critical-path"), ...requests.length === 0 ? [] : [" to "], ...joined(servicesOf(requests).slice(0, MOST_SERVICES), "; ", (it) => [`${it.name}: median ${formatDuration(it.median)}, p95 ${formatDuration(it.p95)}, `, this.slowest(requests.find(({ request }) => request === it.slowest))]));
		if (!signal.aborted) await this.askPairs(requests, signal);
	}
	/** Leads to a request: to its rows, its time, and where that went. */
	slowest(request) {
		const it = button(`the slowest ${formatDuration(request.total_ns)}`, `Show the critical path of request ${request.request}, which took longest`, () => this.during((async () => {
			const path = await api.path({ request: request.request }), begin = toShown(this.view, request.client_row, path.begin), end = toShown(this.view, request.client_row, path.end);
			this.view.set({
				path,
				onlyRows: new Set(path.steps.map((step) => step.row).filter((row) => row !== null))
			});
			this.navigator.go(null, begin, {
				begin,
				end
			});
			openFrom(this.element, "critical-path");
		})().catch((error) => {
			it.after(` (${error instanceof Error ? error.message : ""})`);
		})), { class: "link" });
		return it;
	}
	async askPairs(requests, signal) {
		const { hosts, begin, end } = this.experiment, answer = await api.exchanged({
			begin: begin ?? 0,
			end: (end ?? 0) + 1,
			rows: null
		}, signal).catch(() => null);
		const sent = hostPairs(answer?.pairs ?? [], (row) => rowOf(this.view, row)?.host, (host) => hosts[host]?.name ?? ""), isCut = answer !== null && answer.pairs.length < answer.pair_count;
		const told = (pairs, what, panel, kept, isLeast) => joined(pairs.slice(0, MOST_PAIRS), ", ", (it) => {
			const count = `${isLeast ? "at least " : ""}${formatCount(it.count)} ${it.count === 1 ? what : `${what}s`}`;
			return [link(filterOf(it), panel, `List what ${it.from} sent to ${it.to}: ${count}`, kept(filterOf(it))), ` ${count}`];
		});
		const parts = [told(programPairs(requests), "request", "critical-path", (filter) => `~~${filter}`, false), told(sent, "message", "messages", (filter) => filter, isCut)].filter((part) => part.length > 0);
		this.pairs.replaceChildren("who talks to whom: ", ...joined(parts, "; ", (part) => part));
		this.pairs.hidden = parts.length === 0;
	}
	/** Which hosts are short of CPUs: by what their threads waited for them. */
	async askWaits(signal) {
		const { hosts, begin, end } = this.experiment;
		if (hosts.length > MANY_HOSTS) return;
		const most = (await Promise.all(hosts.map(async (host) => {
			const { states } = await api.statistics({
				begin: begin ?? 0,
				end: end ?? 1,
				rows: [host.row]
			}, signal);
			return {
				host,
				waited: states.find((it) => it.style === WAIT_CPU$1)?.total_ns ?? 0
			};
		})).catch(() => [])).filter((it) => it.waited > 0).sort((a, b) => b.waited - a.waited).slice(0, MOST_HOSTS);
		this.waits.replaceChildren("waits for CPUs: ", ...joined(most, ", ", ({ host, waited }) => {
			const it = button(`${host.name} ${formatDuration(waited)}`, `What ran while threads of ${host.name} waited for a CPU`, () => {
				this.navigator.go(host.row, this.navigator.window.begin);
				openFrom(it, "statistics", "instead,row");
			}, { class: "link" });
			return [it, ` (${(waited / Math.max(1, host.end - host.begin)).toFixed(2)} threads on average)`];
		}));
		this.waits.hidden = most.length === 0;
	}
};
// src/drawer.ts
var KEPT$4 = "isochrone.drawer";
var LEAST$1 = 120;
var LEFT_FOR_GRAPH = 180;
var Drawer = class {
	panels;
	tabs = h("div", {
		class: "tabs",
		role: "tablist",
		"aria-label": "Panels"
	});
	body = h("div", {
		class: "drawer-body",
		role: "tabpanel",
		tabindex: -1
	});
	element;
	shown = null;
	last = null;
	/** The panel whose list was used last: n and N go on in it. */
	lister = null;
	height = Number(localStorage.getItem(KEPT$4) ?? "") || Math.round(innerHeight * .32);
	watchers = /* @__PURE__ */ new Set();
	constructor(panels) {
		this.panels = panels;
		const bar = h("div", { class: "tab-bar" }, this.tabs, button("×", "Close the drawer (v)", () => this.open(null), { class: "close" }));
		this.element = h("section", {
			class: "drawer",
			"aria-label": "Details"
		}, splitter("horizontal", "Height of the drawer", (by) => {
			this.height = this.fitting(this.fitting(this.height) - by);
			this.fit();
		}, () => this.fitting(this.height), () => localStorage.setItem(KEPT$4, String(this.height))), bar, this.body);
		for (const panel of panels) this.tabs.append(h("button", {
			type: "button",
			role: "tab",
			id: `tab-${panel.id}`,
			"data-id": panel.id,
			onclick: () => this.open(this.shown === panel ? null : panel.id)
		}, panel.title));
		for (const panel of panels) panel.watchKept?.(() => {
			for (const watcher of this.watchers) watcher();
		});
		this.tabs.addEventListener("keydown", (event) => this.key(event));
		for (const kind of ["pointerdown", "keydown"]) this.body.addEventListener(kind, () => {
			if (this.shown?.stepList !== void 0) this.lister = this.shown.id;
		});
		this.body.addEventListener(OPEN_PANEL, (event) => {
			const { id, kept } = event.detail;
			this.open(id, kept);
		});
		addEventListener("resize", () => this.fit());
		this.mark();
	}
	watch(watcher) {
		this.watchers.add(watcher);
	}
	/** What was chosen in the panel that is seen; "": nothing. */
	get kept() {
		return this.shown?.kept ?? "";
	}
	/** What was chosen in the others, by their names. */
	get keptOthers() {
		return Object.fromEntries(this.panels.filter((panel) => panel !== this.shown).map((panel) => [panel.id, panel.kept ?? ""]).filter(([, kept]) => kept !== ""));
	}
	/** Chooses in all panels but one what was chosen there. */
	keepOthers(of, kept) {
		for (const panel of this.panels) if (panel.id !== of && (panel.kept ?? "") !== (kept[panel.id] ?? "")) panel.keep?.(kept[panel.id] ?? "");
	}
	get isIdle() {
		return this.shown?.isIdle ?? true;
	}
	/** Which panel is seen. */
	get id() {
		return this.shown?.id ?? null;
	}
	get all() {
		return this.panels;
	}
	get first() {
		return this.panels[0]?.id ?? null;
	}
	/** `kept`: what is to be chosen in it; null: what was. */
	open(id, kept = null) {
		const next = this.panels.find((panel) => panel.id === id) ?? null;
		if (kept !== null && kept !== (next?.kept ?? "")) next?.keep?.(kept);
		if (next === this.shown) return;
		this.shown?.hide();
		this.shown = next;
		this.last = next?.id ?? this.last;
		if (next?.stepList !== void 0) this.lister = next.id;
		this.body.replaceChildren(...next === null ? [] : [next.element]);
		this.mark();
		next?.show();
		for (const watcher of this.watchers) watcher();
	}
	/** What failed may be asked again: the server is back. */
	retry() {
		this.shown?.retry?.();
	}
	/** The list of a panel is the one that is used now. */
	use(id) {
		this.lister = id;
	}
	/** The next of the list that was used last, else of that of a panel. */
	step(by, otherwise) {
		this.open(this.lister ?? otherwise);
		this.shown?.stepList?.(by);
	}
	toggle() {
		this.open(this.shown === null ? this.last ?? this.first : null);
	}
	/** What of a height the page has room for: on a larger page, it has its own height again. */
	fitting(height) {
		return Math.max(LEAST$1, Math.min(height, innerHeight - LEFT_FOR_GRAPH));
	}
	fit() {
		this.element.style.height = this.shown === null ? "" : `${this.fitting(this.height)}px`;
	}
	mark() {
		this.element.classList.toggle("closed", this.shown === null);
		this.fit();
		for (const tab of this.tabs.children) {
			const isShown = tab.dataset.id === this.shown?.id;
			tab.setAttribute("aria-selected", String(isShown));
			tab.tabIndex = isShown || this.shown === null && tab === this.tabs.firstElementChild ? 0 : -1;
		}
		if (this.shown !== null) this.body.setAttribute("aria-labelledby", `tab-${this.shown.id}`);
	}
	key(event) {
		const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0, tabs = [...this.tabs.children];
		const now = tabs.indexOf(document.activeElement);
		if (by === 0 || now < 0) return;
		const next = tabs[(now + by + tabs.length) % tabs.length];
		next.focus();
		this.open(next.dataset.id ?? null);
		event.preventDefault();
		event.stopPropagation();
	}
};
// src/colours.ts
/** How much of its colour is left of what is pale. */
var PALENESS = .18;
/** By the number of the style in the server's answers. */
var LOOKS = [
	{
		name: "unknown",
		light: [
			176,
			176,
			176
		],
		dark: [
			84,
			84,
			90
		],
		height: .33,
		ink: "black"
	},
	{
		name: "usermode",
		light: [
			0,
			200,
			0
		],
		dark: [
			0,
			150,
			0
		],
		height: 1,
		ink: "black"
	},
	{
		name: "system call",
		light: [
			0,
			0,
			200
		],
		dark: [
			60,
			60,
			205
		],
		height: 1,
		ink: "white"
	},
	{
		name: "interrupted",
		light: [
			200,
			0,
			100
		],
		dark: [
			165,
			0,
			83
		],
		height: .75,
		ink: "white"
	},
	{
		name: "waits for a CPU",
		light: [
			200,
			100,
			0
		],
		dark: [
			165,
			83,
			0
		],
		height: .5,
		ink: "black"
	},
	{
		name: "blocked",
		light: [
			200,
			200,
			0
		],
		dark: [
			145,
			145,
			0
		],
		height: .25,
		ink: "black"
	},
	{
		name: "waits for fork",
		light: [
			200,
			200,
			200
		],
		dark: [
			130,
			130,
			130
		],
		height: .5,
		ink: "black"
	},
	{
		name: "dead",
		light: [
			255,
			255,
			255
		],
		dark: [
			0,
			0,
			0
		],
		height: 0,
		ink: "black"
	},
	{
		name: "running",
		light: [
			0,
			170,
			120
		],
		dark: [
			0,
			125,
			90
		],
		height: 1,
		ink: "black"
	},
	{
		name: "idle",
		light: [
			200,
			200,
			200
		],
		dark: [
			70,
			70,
			74
		],
		height: .5,
		ink: "black"
	},
	{
		name: "interrupt",
		light: [
			200,
			0,
			100
		],
		dark: [
			165,
			0,
			83
		],
		height: 1,
		ink: "white"
	},
	{
		name: "softirq",
		light: [
			200,
			150,
			100
		],
		dark: [
			160,
			120,
			80
		],
		height: 1,
		ink: "black"
	},
	{
		name: "disk read",
		light: [
			0,
			140,
			160
		],
		dark: [
			0,
			115,
			130
		],
		height: 1,
		ink: "white"
	},
	{
		name: "disk write",
		light: [
			150,
			60,
			170
		],
		dark: [
			125,
			50,
			142
		],
		height: 1,
		ink: "white"
	},
	{
		name: "phase",
		light: [
			150,
			170,
			190
		],
		dark: [
			90,
			105,
			120
		],
		height: 1,
		ink: "black"
	}
];
/** Then the causes of a critical path; and all of them again, pale: what a filter does not mean. */
var FIRST_CAUSE = 32;
var PALE = 64;
/** The server's mark of a state that a filter does not mean. */
var DIMMED = 128;
var phaseLooks = [
	[[
		60,
		124,
		221
	], [
		71,
		245,
		245
	]],
	[[
		249,
		134,
		249
	], [
		245,
		71,
		245
	]],
	[[
		37,
		244,
		244
	], [
		158,
		245,
		71
	]],
	[[
		249,
		134,
		145
	], [
		37,
		182,
		244
	]],
	[[
		140,
		100,
		180
	], [
		245,
		71,
		71
	]],
	[[
		57,
		149,
		172
	], [
		90,
		131,
		226
	]],
	[[
		168,
		168,
		250
	], [
		244,
		223,
		37
	]],
	[[
		168,
		250,
		201
	], [
		124,
		192,
		158
	]],
	[[
		218,
		11,
		32
	], [
		192,
		124,
		158
	]],
	[[
		85,
		198,
		246
	], [
		245,
		176,
		71
	]],
	[[
		232,
		186,
		218
	], [
		8,
		118,
		145
	]],
	[[
		223,
		37,
		244
	], [
		145,
		8,
		8
	]],
	[[
		180,
		108,
		100
	], [
		148,
		100,
		180
	]],
	[[
		246,
		85,
		166
	], [
		98,
		103,
		50
	]],
	[[
		75,
		91,
		155
	], [
		29,
		165,
		165
	]],
	[[
		139,
		155,
		75
	], [
		87,
		50,
		103
	]]
].map(([light, dark]) => ({
	name: "phase",
	light,
	dark,
	height: 1,
	ink: "black"
}));
/** Colours of states that are at least 15 from each other for all kinds of colour vision, by style: of those that can touch. */
var CLEAR = {
	0: [[
		132,
		132,
		132
	], [
		45,
		45,
		45
	]],
	1: [[
		14,
		194,
		125
	], [
		0,
		137,
		91
	]],
	2: [[
		0,
		70,
		180
	], [
		121,
		107,
		255
	]],
	3: [[
		172,
		0,
		75
	], [
		176,
		47,
		147
	]],
	4: [[
		225,
		105,
		0
	], [
		220,
		48,
		0
	]],
	5: [[
		245,
		225,
		70
	], [
		215,
		200,
		70
	]],
	6: [[
		203,
		203,
		203
	], [
		169,
		169,
		169
	]],
	8: [[
		165,
		174,
		255
	], [
		162,
		183,
		241
	]],
	9: [[
		235,
		235,
		235
	], [
		111,
		111,
		111
	]],
	10: [[
		150,
		0,
		90
	], [
		185,
		72,
		183
	]],
	11: [[
		249,
		216,
		167
	], [
		248,
		240,
		246
	]],
	12: [[
		0,
		158,
		180
	], [
		36,
		145,
		190
	]],
	13: [[
		150,
		0,
		90
	], [
		209,
		95,
		123
	]]
};
/** The same of phases: from each other, and from what threads and CPUs do. So far apart, there are no more; some phases share one. */
var CLEAR_PHASES = [
	[[
		34,
		136,
		153
	], [
		255,
		255,
		187
	]],
	[[
		153,
		102,
		102
	], [
		102,
		255,
		238
	]],
	[[
		187,
		255,
		187
	], [
		136,
		119,
		136
	]],
	[[
		136,
		102,
		255
	], [
		51,
		0,
		238
	]],
	[[
		187,
		34,
		0
	], [
		170,
		170,
		170
	]],
	[[
		187,
		187,
		187
	], [
		51,
		85,
		68
	]],
	[[
		85,
		68,
		85
	], [
		102,
		0,
		0
	]],
	[[
		0,
		0,
		119
	], [
		51,
		0,
		85
	]],
	[[
		51,
		0,
		0
	], [
		119,
		68,
		119
	]]
];
function phaseStyle(label) {
	let hash = 0;
	for (let at = 0; at < label.length; at += 1) hash = hash * 31 + label.charCodeAt(at) >>> 0;
	return 16 + hash % 16;
}
function look(style) {
	const full = style % PALE;
	return (full >= FIRST_CAUSE ? causeLooks[full - FIRST_CAUSE] : full >= 16 ? phaseLooks[full - 16] : LOOKS[full]) ?? LOOKS[0];
}
function rgbOf(style) {
	const it = look(style), full = style % PALE, phase = full - 16;
	const cause = full >= FIRST_CAUSE ? causeRgb(causeNames[full - FIRST_CAUSE] ?? "other") : void 0;
	const clear = !isClear() ? void 0 : phase >= 0 ? CLEAR_PHASES[phase % CLEAR_PHASES.length] : CLEAR[full];
	const [light, dark] = (cause !== void 0 ? [cause, cause] : clear) ?? [it.light, it.dark], rgb = isDark() ? dark : light;
	return style < PALE ? rgb : pale(rgb);
}
/** The colour of text on a bar: of phases, which have many, what is read best there. */
function inkOn(style) {
	const full = style % PALE;
	if (!(full >= 16 && full < FIRST_CAUSE)) return look(style).ink;
	const [r, g, b] = rgbOf(full).map((value) => (value / 255) ** 2.2);
	return .2126 * r + .7152 * g + .0722 * b > .18 ? "black" : "white";
}
function pale(rgb) {
	const { background } = ink(), mix = (place) => Math.round(background[place] + (rgb[place] - background[place]) * PALENESS);
	return [
		mix(0),
		mix(1),
		mix(2)
	];
}
/** The style in which a state is painted: phases have one by label, and what a filter does not mean a pale one. */
function paintStyle(style, label) {
	const full = style & -129, paint = full === 14 ? phaseStyle(label) : full;
	return (style & DIMMED) === 0 ? paint : paint + PALE;
}
function isPale(style) {
	return style >= PALE;
}
/** The colour of a style of states, for CSS. */
function stateColour(style) {
	return css(rgbOf(style));
}
function css(rgb, alpha = 1) {
	return alpha === 1 ? `rgb(${rgb[0]},${rgb[1]},${rgb[2]})` : `rgba(${rgb[0]},${rgb[1]},${rgb[2]},${alpha})`;
}
var CAUSES = {
	cpu: [
		0,
		170,
		0
	],
	"wait-cpu": [
		215,
		110,
		0
	],
	irq: [
		200,
		0,
		100
	],
	softirq: [
		200,
		150,
		100
	],
	network: [
		20,
		130,
		220
	],
	disk: [
		150,
		60,
		170
	],
	sleep: [
		160,
		160,
		60
	],
	lock: [
		220,
		50,
		40
	],
	pipe: [
		0,
		150,
		150
	],
	socket: [
		0,
		110,
		160
	],
	child: [
		110,
		110,
		220
	],
	signal: [
		190,
		90,
		160
	],
	other: [
		130,
		130,
		130
	],
	unknown: [
		130,
		130,
		130
	]
};
/** The same, at least 15 from each other for all kinds of colour vision: on a path, each cause can touch each other one. */
var CLEAR_CAUSES = {
	cpu: [
		14,
		160,
		105
	],
	"wait-cpu": [
		220,
		100,
		0
	],
	irq: [
		94,
		0,
		87
	],
	softirq: [
		104,
		94,
		126
	],
	network: [
		132,
		140,
		255
	],
	disk: [
		253,
		178,
		190
	],
	sleep: [
		202,
		208,
		108
	],
	lock: [
		110,
		2,
		18
	],
	pipe: [
		39,
		109,
		89
	],
	socket: [
		128,
		204,
		244
	],
	child: [
		102,
		80,
		227
	],
	signal: [
		184,
		24,
		2
	],
	other: [
		146,
		143,
		167
	],
	unknown: [
		146,
		143,
		167
	]
};
function causeRgb(cause) {
	const all = isClear() ? CLEAR_CAUSES : CAUSES;
	return all[cause] ?? all.other;
}
/** The colour of a cause of a critical path, for CSS: the same in both themes. */
function causeColour(cause) {
	return css(causeRgb(cause));
}
var causeNames = Object.keys(CAUSES);
var causeLooks = causeNames.map((name) => ({
	name,
	light: CAUSES[name],
	dark: CAUSES[name],
	height: name === "cpu" ? 1 : name === "unknown" ? .33 : .75,
	ink: "white"
}));
/** The style in which a cause is painted. */
function causeStyle(cause) {
	return FIRST_CAUSE + Math.max(0, causeNames.indexOf(CAUSES[cause] === void 0 ? "other" : cause));
}
var LIGHT = {
	background: [
		255,
		255,
		255
	],
	band: [
		245,
		246,
		248
	],
	text: "#1c2026",
	faint: "#6a717c",
	line: "#e3e6ea",
	message: "rgba(60,66,80,0.75)",
	mpi: "rgba(0,120,140,0.9)",
	inverted: "#e0001b",
	sure: "rgba(40,110,230,0.22)",
	likely: "rgba(25,80,190,0.75)",
	wakeup: "rgba(150,60,200,0.9)",
	selection: "rgba(60,120,220,0.13)",
	edge: "#2f6fd6",
	chosen: [
		226,
		236,
		252
	],
	loss: "rgba(214,40,40,0.65)",
	bytes: "#7d94b5",
	lens: "rgba(47,111,214,0.14)",
	mark: "#b06000",
	halo: "rgba(255,255,255,0.85)"
};
var DARK = {
	background: [
		22,
		24,
		29
	],
	band: [
		28,
		31,
		37
	],
	text: "#e4e7ec",
	faint: "#949ca8",
	line: "#30343c",
	message: "rgba(205,210,220,0.7)",
	mpi: "rgba(80,205,225,0.9)",
	inverted: "#ff5060",
	sure: "rgba(110,165,255,0.25)",
	likely: "rgba(130,180,255,0.8)",
	wakeup: "rgba(200,130,255,0.9)",
	selection: "rgba(110,165,255,0.16)",
	edge: "#6ea5ff",
	chosen: [
		36,
		46,
		66
	],
	loss: "rgba(255,90,90,0.6)",
	bytes: "#5d7496",
	lens: "rgba(110,165,255,0.18)",
	mark: "#e0a040",
	halo: "rgba(22,24,29,0.85)"
};
function ink() {
	return isDark() ? DARK : LIGHT;
}
/** How long windows must rest to count as one step of undo. */
var REST_MS$7 = 600;
var MAX_UNDO = 100;
var MOVE_MS = 140;
var Navigation = class {
	view;
	rows;
	layout;
	past = [];
	future = [];
	lastMove = 0;
	stop = () => void 0;
	/** Where the window is going, while it moves. */
	target = null;
	constructor(view, rows, layout) {
		this.view = view;
		this.rows = rows;
		this.layout = layout;
	}
	/** The times that exist, on the clock that is shown. */
	get bounds() {
		return this.boundsOf(this.view.now.clock);
	}
	boundsOf(clock) {
		const experiment = this.view.now.experiment;
		return (clock === "own" ? experiment?.own : null) ?? {
			begin: experiment?.begin ?? 0,
			end: experiment?.end ?? 1
		};
	}
	get isMoving() {
		return this.target !== null;
	}
	/** Where the window is, or is going to. */
	get window() {
		return this.target ?? this.view.now.window;
	}
	/** Shows a window; one that is far enough in time from the one before can be undone. */
	set(range, move = "jump") {
		const to = this.clamp(range), now = performance.now();
		if (now - this.lastMove > REST_MS$7) this.remember();
		this.lastMove = now;
		this.moveTo(to, move);
	}
	/** Times are of another origin now: where the window was, and is going to, stays the same time. */
	renew(renewal) {
		const moved = (it) => ({
			...it,
			...renewal.range(it)
		});
		this.past = this.past.map(moved);
		this.future = this.future.map(moved);
		this.stop();
		if (this.target !== null) this.view.set({ window: this.target });
		this.target = null;
	}
	/** Makes what is shown now a step of undo. */
	remember() {
		this.past.push({
			...this.view.now.window,
			clock: this.view.now.clock
		});
		if (this.past.length > MAX_UNDO) this.past.shift();
		this.future = [];
	}
	zoom(factor, at, move = "jump") {
		const { begin, end } = this.window;
		const centre = at ?? (begin + end) / 2;
		const { begin: low, end: high } = this.bounds;
		const span = Math.max(200, Math.min((end - begin) * factor, (high - low) * 1.1));
		const share = (centre - begin) / (end - begin);
		this.set({
			begin: centre - share * span,
			end: centre + (1 - share) * span
		}, move);
	}
	pan(by, move = "jump") {
		const { begin, end } = this.window;
		this.set({
			begin: begin + by,
			end: end + by
		}, move);
	}
	fit() {
		this.jump(this.padded(this.bounds));
	}
	/** Shows a range with a little room around it. */
	show(range) {
		const room = Math.max((range.end - range.begin) * .05, 100);
		this.jump({
			begin: range.begin - room,
			end: range.end + room
		});
	}
	undo() {
		this.travel(this.past, this.future);
	}
	redo() {
		this.travel(this.future, this.past);
	}
	go(row, at, range) {
		if (row !== null && this.rows.row(row) !== void 0) {
			this.rows.reveal(row);
			this.view.set({ row });
			const place = this.rows.placeOf(row);
			if (place !== void 0) this.layout.see(place);
		}
		if (range !== void 0) {
			this.show(range);
			return;
		}
		const { begin, end } = this.window, span = end - begin;
		if (at < begin + span * .02 || at > end - span * .02) this.jump({
			begin: at - span / 2,
			end: at + span / 2
		});
	}
	/** The window that fits all, with a little room. */
	padded(range) {
		const room = (range.end - range.begin) * .01;
		return {
			begin: range.begin - room,
			end: range.end + room
		};
	}
	clamp({ begin, end }, clock = this.view.now.clock) {
		const { begin: low, end: high } = this.boundsOf(clock);
		const span = Math.min(Math.max(end - begin, 200), (high - low) * 1.1), room = span * .1;
		const middle = (begin + end) / 2, least = low - room + span / 2, most = high + room - span / 2;
		const centre = least > most ? (low + high) / 2 : Math.max(least, Math.min(middle, most));
		return {
			begin: centre - span / 2,
			end: centre + span / 2
		};
	}
	jump(range) {
		this.remember();
		this.moveTo(this.clamp(range), "glide");
		this.lastMove = 0;
	}
	moveTo(to, move) {
		this.target = null;
		this.stop();
		this.target = to;
		if (move === "jump") {
			this.arrive(to);
			return;
		}
		const from = this.view.now.window;
		this.stop = animate(MOVE_MS, (t) => {
			if (this.target !== to) return;
			if (t === 1) this.arrive(to);
			else this.view.set({ window: {
				begin: from.begin + (to.begin - from.begin) * t,
				end: from.end + (to.end - from.end) * t
			} });
		});
	}
	arrive(to) {
		this.target = null;
		this.view.set({ window: to });
	}
	travel(from, to) {
		const place = from.pop();
		if (place === void 0) return;
		to.push({
			...this.view.now.window,
			clock: this.view.now.clock
		});
		this.lastMove = 0;
		this.target = null;
		this.stop();
		this.view.set({
			clock: place.clock,
			window: {
				begin: place.begin,
				end: place.end
			}
		});
	}
};
// src/graph/axis.ts
/** Ticks are at least this far from each other. */
var MIN_GAP = 96;
var FONT$1 = "11px system-ui, sans-serif";
/** A round step of time (1, 2 or 5 of a power of ten; 10, 15, 30 s, 1, 2, 5 … min) of at least `least` ns. */
function roundStep$1(least) {
	const seconds = [
		10,
		15,
		30,
		60,
		120,
		300,
		600,
		900,
		1800,
		3600,
		7200,
		14400,
		43200,
		86400
	].map((it) => it * 1e9);
	if (least > 5e9) return seconds.find((it) => it >= least) ?? Math.ceil(least / 864e11) * 864e11;
	const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
	return [
		1,
		2,
		5,
		10
	].map((it) => it * power).find((it) => it >= least) ?? power * 10;
}
/** Ticks of a window: x and text, the whole second's time in full, the parts of it short. */
function ticks$1(scene) {
	const { origin } = scene, step = roundStep$1(MIN_GAP / scene.scale), places = placesFor(step);
	const list = [];
	let second = "";
	const isSince = shownAs.format === "since begin", zero = isSince ? shownAs.begin : 0;
	for (let t = Math.ceil((scene.begin - zero) / step) * step + zero; t <= scene.end; t += step) {
		const text = formatTime(origin, t, places), [whole = "", fraction] = text.split("."), isFull = isSince || whole !== second;
		second = whole;
		list.push({
			x: scene.x(t),
			text: isFull ? text : grouped(fraction),
			isFull
		});
	}
	return list;
}
/** "203216" → ".203 216": digits that can be read. */
function grouped(fraction = "") {
	return "." + fraction.replace(/(\d{3})(?=\d)/g, "$1 ");
}
function drawGrid(ctx, scene) {
	ctx.fillStyle = ink().line;
	for (const { x } of ticks$1(scene)) ctx.fillRect(Math.round(x), 34, 1, scene.layout.height);
}
function drawAxis(ctx, scene, bookmarks) {
	const colours = ink(), { experiment, selection, clock } = scene.view.now, width = scene.layout.width;
	ctx.fillStyle = css(colours.background);
	ctx.fillRect(0, 0, width, 34);
	ctx.fillStyle = colours.line;
	ctx.fillRect(0, 33, width, 1);
	ctx.font = FONT$1;
	ctx.textBaseline = "alphabetic";
	let free = 0;
	for (const { x, text, isFull } of ticks$1(scene)) {
		ctx.fillStyle = colours.line;
		ctx.fillRect(Math.round(x), 28, 1, 5);
		ctx.fillStyle = isFull ? colours.text : colours.faint;
		const room = ctx.measureText(text).width;
		const left = Math.max(2, Math.min(x - (isFull ? 0 : room / 2), width - room - 2));
		if (left < free) continue;
		ctx.fillText(text, left, 25);
		free = left + room + 8;
	}
	const origin = experiment?.origin_unix_ns ?? null;
	ctx.fillStyle = colours.faint;
	const about = `${formatDay(origin, scene.begin)}, ${clock === "own" ? "each host's own clock" : "common clock"}${doubt(scene)}`;
	ctx.fillText(about, 4, 11);
	const span = `window ${formatDuration(scene.end - scene.begin)}`;
	ctx.fillText(span, width - ctx.measureText(span).width - 6, 11);
	if (selection !== null) drawSelected(ctx, scene, selection.begin, selection.end, 8 + ctx.measureText(about).width, width - ctx.measureText(span).width - 14);
	for (const bookmark of bookmarks) drawFlag(ctx, scene, bookmark);
}
/** Where the window is shorter than what clocks leave open, the picture does not show what came first on different hosts. */
function doubt({ view, begin, end }) {
	const hosts = view.now.experiment?.hosts ?? [], most = hosts.length < 2 ? 0 : Math.max(...hosts.map((host) => host.likely_ns ?? 0)), shortest = end - begin <= 200 ? "; no window is shorter" : "";
	return `${view.now.clock === "common" && most > end - begin ? `; order across hosts is not known here: clocks are ± ${formatDuration(most)}` : ""}${shortest}`;
}
/** The duration of the selection, above it. */
function drawSelected(ctx, scene, begin, end, left, right) {
	const colours = ink(), x0 = Math.max(0, scene.x(begin)), x1 = Math.min(scene.layout.width, scene.x(end));
	if (x1 < 0 || x0 > scene.layout.width) return;
	ctx.fillStyle = colours.edge;
	ctx.fillRect(x0, 31, Math.max(1, x1 - x0), 2);
	const { area, isAbout } = scene.view.now, text = `${isAbout ? "≈ " : ""}${formatDuration(end - begin)}${area === null ? "" : `, ${formatCount(area.size)} ${area.size === 1 ? "row" : "rows"}`}`, room = ctx.measureText(text).width;
	ctx.fillText(text, Math.max(left, Math.min((x0 + x1) / 2 - room / 2, right - room)), 11);
}
function drawFlag(ctx, scene, bookmark) {
	if (bookmark.clock !== scene.view.now.clock) return;
	const x = Math.round(scene.x(bookmark.at));
	if (x < 0 || x > scene.layout.width) return;
	ctx.fillStyle = ink().mark;
	ctx.fillRect(x, 24, 1, 10 + scene.layout.height);
	ctx.beginPath();
	ctx.moveTo(x, 24);
	ctx.lineTo(x + 8, 27);
	ctx.lineTo(x, 31);
	ctx.fill();
}
// src/panels/pathWords.ts
var WORDS$1 = {
	cpu: "computes",
	"wait-cpu": "waits for a CPU",
	irq: "interrupt",
	softirq: "softirq",
	network: "network",
	disk: "waits for a disk",
	sleep: "sleeps",
	lock: "waits for a lock",
	pipe: "waits for a pipe",
	socket: "waits for a socket",
	child: "waits for a child",
	signal: "waits for a signal",
	other: "other",
	unknown: "unknown"
};
var PAST = {
	cpu: (time) => `computed ${time}`,
	"wait-cpu": (time) => `waited ${time} for a CPU`,
	irq: (time) => `was interrupted for ${time}`,
	softirq: (time) => `spent ${time} in softirqs`,
	network: (time) => `network took ${time}`,
	disk: (time) => `waited ${time} for a disk`,
	sleep: (time) => `slept ${time}`,
	lock: (time) => `waited ${time} for a lock`,
	pipe: (time) => `waited ${time} for a pipe`,
	socket: (time) => `waited ${time} for a socket`,
	child: (time) => `waited ${time} for a child`,
	signal: (time) => `waited ${time} for a signal`
};
/** A difference is worth a word from this share of the whole time on. */
var WORTH = .03;
var MOST$4 = 3;
function causeWord(cause) {
	return WORDS$1[cause] ?? cause;
}
function who(cause) {
	return cause.comm === "" ? cause.host : `${cause.host} ${cause.comm}`;
}
/** "h2 appsrv waited 16.5 ms for a CPU (median 1.9 ms)": what took most longer than usual; null for paths of threads. */
function differs(path) {
	const known = path.causes.filter((it) => it.median_ns !== null), all = path.end - path.begin;
	if (path.request === null || known.length === 0) return null;
	const more = known.map((it) => ({
		it,
		by: it.total_ns - it.median_ns
	})).filter(({ by }) => by > WORTH * all).sort((a, b) => b.by - a.by).slice(0, MOST$4);
	if (more.length === 0) return "It does not differ from the others: nothing took much longer than the median of its service.";
	return `Where it differs from the others: ${more.map(({ it }) => `${who(it)} ${(PAST[it.cause] ?? ((time) => `${it.cause} took ${time}`))(formatDuration(it.total_ns))} (median ${formatDuration(it.median_ns)})`).join("; ")}.`;
}
/** An address may be wrong: what is no encoded text stands for itself. */
function decoded(text) {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}
// src/pathRows.ts
/** The number of the line above them; theirs follow, downwards. Rows of the traces have none below 0, folds of hosts −1 − host. */
var PATH_HEAD = -1e6;
var made$1 = /* @__PURE__ */ new WeakMap();
function pathRows(path) {
	if (path === null) return [];
	let rows = made$1.get(path);
	if (rows === void 0) made$1.set(path, rows = rowsOf$1(path));
	return rows;
}
function pathRow(path, id) {
	return id < -1e6 ? pathRows(path)[-1000001 - id] : void 0;
}
/** The step of a row at an instant of the common clock. */
function stepAt$1(row, at) {
	return row.steps.find((step) => at >= step.begin && at < step.end);
}
function rowsOf$1(path) {
	const byRow = /* @__PURE__ */ new Map();
	for (const step of path.steps) {
		if (step.row === null) continue;
		const steps = byRow.get(step.row);
		if (steps === void 0) byRow.set(step.row, [step]);
		else steps.push(step);
	}
	return [...byRow].map(([row, steps], place) => ({
		id: -1000001 - place,
		row,
		host: steps[0].host,
		steps,
		tile: tileOf(steps)
	}));
}
function tileOf(steps) {
	const causes = [...new Set(steps.map((step) => step.cause))];
	return {
		from: steps[0].begin,
		to: steps.at(-1).end,
		level: 0,
		begin: Float64Array.from(steps, (step) => step.begin),
		end: Float64Array.from(steps, (step) => step.end),
		style: Uint8Array.from(steps, (step) => causeStyle(step.cause)),
		label: Uint32Array.from(steps, (step) => causes.indexOf(step.cause)),
		labels: causes.map(causeWord)
	};
}
// src/graph/scene.ts
var Scene = class {
	view;
	rows;
	layout;
	clock;
	begin;
	end;
	/** CSS pixels for a ns. */
	scale;
	constructor(view, rows, layout, clock) {
		this.view = view;
		this.rows = rows;
		this.layout = layout;
		this.clock = clock;
		this.begin = view.now.window.begin;
		this.end = view.now.window.end;
		this.scale = layout.width / (this.end - this.begin);
	}
	get origin() {
		return this.view.now.experiment?.origin_unix_ns ?? null;
	}
	x(t) {
		return (t - this.begin) * this.scale;
	}
	time(x) {
		return this.begin + x / this.scale;
	}
	/** x of a time that was told for a host on a clock: moved as its rows are now. */
	hostX(host, t, clock) {
		return this.x(t + this.clock.convert(host, clock) + this.clock.offset(host));
	}
	/** Top of a line on the canvas. */
	top(place) {
		return 34 + this.layout.top(place);
	}
	middle(place) {
		return this.top(place) + 10;
	}
	/** Middle of the line that shows a row; null if none does. */
	rowY(id) {
		const place = this.rows.lineOf(id);
		return place < 0 ? null : this.middle(place);
	}
	hostOf(id) {
		return this.rows.row(id)?.host ?? 0;
	}
	/** Whether the line of a row is among those that scroll (they are cut below the pinned ones). */
	get linesTop() {
		return 34 + this.layout.fixed;
	}
};
// src/graph/pathOverlay.ts
var HALF = 8;
function drawPath(ctx, scene) {
	const path = scene.view.now.path;
	if (path === null) return;
	const own = new Map(pathRows(path).map(({ id, row }) => [row, scene.rows.placeOf(id)]));
	draw(ctx, scene, path, (row) => scene.rowY(row), true);
	draw(ctx, scene, path, (row) => {
		const place = own.get(row);
		return place === void 0 ? null : scene.middle(place);
	}, false);
}
function draw(ctx, scene, path, rowY, isOutlined) {
	const placed = path.steps.map((step) => ({
		x0: scene.hostX(step.host, step.begin, "common"),
		x1: scene.hostX(step.host, step.end, "common"),
		y: step.row === null ? null : rowY(step.row),
		colour: causeColour(step.cause),
		isTravel: step.row === null
	}));
	const width = scene.layout.width;
	ctx.lineJoin = "round";
	placed.forEach((step, place) => {
		const before = lastWithRow(placed, place - 1, -1), after = lastWithRow(placed, place + 1, 1);
		if (step.isTravel || step.y === null) {
			if (before === null || after === null) return;
			line$1(ctx, Math.max(-9e3, step.x0), before, Math.min(9e3, step.x1), after, step.colour, scene);
			return;
		}
		if (place > 0 && before !== null && before !== step.y && placed[place - 1].y !== null) line$1(ctx, step.x0, before, step.x0, step.y, step.colour, scene);
		if (!isOutlined) return;
		const x0 = Math.max(step.x0, -4), x1 = Math.min(step.x1, width + 4);
		if (x1 < x0) return;
		ctx.strokeStyle = ink().halo;
		ctx.lineWidth = 4;
		ctx.strokeRect(x0, step.y - HALF, Math.max(1, x1 - x0), 2 * HALF);
		ctx.strokeStyle = ctx.fillStyle = step.colour;
		ctx.lineWidth = 2;
		ctx.strokeRect(x0, step.y - HALF, Math.max(1, x1 - x0), 2 * HALF);
		ctx.fillRect(x0, step.y + HALF - 3, Math.max(1, x1 - x0), 3);
	});
}
function lastWithRow(steps, from, by) {
	for (let place = from; place >= 0 && place < steps.length; place += by) {
		const y = steps[place].y;
		if (y !== null) return y;
	}
	return null;
}
function line$1(ctx, x0, y0, x1, y1, colour, scene) {
	if (x0 < 0 && x1 < 0 || x0 > scene.layout.width && x1 > scene.layout.width) return;
	for (const [stroke, width] of [[ink().halo, 5], [colour, 2.5]]) {
		ctx.strokeStyle = stroke;
		ctx.lineWidth = width;
		ctx.beginPath();
		ctx.moveTo(x0, y0);
		ctx.lineTo(x1, y1);
		ctx.stroke();
	}
}
// src/graph/tiles.ts
/** A tile has this many pixels of its level: a level's pixel is 2^level ns. */
var TILE_PIXELS = 1024;
/** Requests at once, and rows in one. */
var MAX_REQUESTS = 3;
var MAX_ROWS = 500;
/** The window has to rest this long before the next request. */
var REST_MS$6 = 45;
/** Number of levels that are searched for a substitute. */
var COARSER = 30;
var FINER = 3;
var RETRY_MS$2 = 2e3;
function levelOf(window, pixels) {
	return Math.max(0, Math.floor(Math.log2((window.end - window.begin) / Math.max(pixels, 1))));
}
var spanOf = (level) => TILE_PIXELS * 2 ** level;
var keyOf$2 = (clock, filterId, row, level, index) => `${clock === "own" ? "o" : "c"}${filterId},${row}/${level}/${index}`;
var Tiles = class {
	arrived;
	failed;
	kept = /* @__PURE__ */ new Map();
	states = 0;
	requests = [];
	wish = null;
	timer = 0;
	restsAt = 0;
	/** The expression that dims states, and its number; 0: there is none. */
	filter = null;
	filterId = 0;
	lastFilterId = 0;
	/** No requests while the picture moves by itself. */
	isPaused = false;
	constructor(arrived, failed) {
		this.arrived = arrived;
		this.failed = failed;
	}
	/** No request is pending or scheduled. */
	get isIdle() {
		return this.requests.length === 0 && this.timer === 0;
	}
	/** Dims the states for which an expression does not hold. Until their tiles arrive, states are shown as they are. */
	setFilter(filter) {
		if (filter === this.filter) return;
		this.evictFilter();
		this.filter = filter;
		this.filterId = filter === null ? 0 : this.lastFilterId += 1;
		this.wish = null;
	}
	evictFilter() {
		if (this.filterId === 0) return;
		for (const [key, tile] of this.kept) {
			if (!key.slice(1).startsWith(`${this.filterId},`)) continue;
			this.kept.delete(key);
			this.states -= tile.begin.length;
		}
	}
	/** Rows have other numbers, and more may have happened: tiles are shown until they have been requested again. Where times are others, all are forgotten. */
	renew(renewal) {
		for (const it of this.requests) it.stop.abort();
		this.requests = [];
		this.wish = null;
		const before = [...this.kept];
		this.kept.clear();
		this.states = 0;
		if (renewal.shift !== 0) return;
		for (const [key, tile] of before) {
			const [, head, row, rest] = /^(.\d+,)(\d+)(\/.*)$/.exec(key) ?? [];
			const now = row === void 0 ? null : renewal.row(Number(row));
			if (now !== null) this.put(`${head}${now}${rest}`, {
				...tile,
				isOld: true
			});
		}
	}
	get size() {
		return {
			tiles: this.kept.size,
			states: this.states,
			requests: this.requests.length
		};
	}
	/** The best cached pieces of a row for a window, in the order of time, with holes where there is none. */
	pieces(row, clock, window, pixels) {
		const level = levelOf(window, pixels), span = spanOf(level), pieces = [];
		for (let index = Math.floor(window.begin / span); index * span < window.end; index += 1) {
			const tile = this.use(keyOf$2(clock, this.filterId, row, level, index));
			const begin = Math.max(index * span, window.begin), end = Math.min((index + 1) * span, window.end);
			if (tile !== void 0) pieces.push({
				tile,
				begin,
				end
			});
			else if (!this.substitute(pieces, row, clock, this.filterId, level, begin, end) && this.filterId !== 0) this.substitute(pieces, row, clock, 0, level, begin, end);
		}
		return pieces;
	}
	/** The state of a row at a time, from cached tiles. */
	stateAt(row, clock, at, window, pixels) {
		for (const { tile, begin, end } of this.pieces(row, clock, window, pixels)) {
			if (at < begin || at >= end) continue;
			const index = firstEndingAfter(tile, at);
			if (index >= tile.begin.length || tile.begin[index] > at) return null;
			return {
				style: tile.style[index],
				label: labelOfTile(tile, index),
				begin: tile.begin[index],
				end: tile.end[index]
			};
		}
		return null;
	}
	/** Sets what is drawn: `rows` are visible, `near` are close to that. Requests what is missing, once the window rests. */
	want(rows, near, window, pixels, clock) {
		const before = this.wish;
		if (before !== null && before.window === window && before.pixels === pixels && before.clock === clock && same$1(before.rows, rows)) return;
		this.wish = {
			rows,
			near,
			window,
			pixels,
			clock
		};
		this.restsAt = performance.now() + (before === null ? 0 : REST_MS$6);
		this.schedule();
	}
	schedule() {
		clearTimeout(this.timer);
		this.timer = window.setTimeout(() => this.request(), Math.max(0, this.restsAt - performance.now()));
	}
	request() {
		clearTimeout(this.timer);
		this.timer = 0;
		const wish = this.wish;
		if (wish === null || this.isPaused) return;
		const level = levelOf(wish.window, wish.pixels), span = spanOf(level);
		const first = Math.floor(wish.window.begin / span), last = Math.ceil(wish.window.end / span) - 1;
		for (const it of this.requests) if (it.clock !== wish.clock || it.filterId !== this.filterId || it.level !== level || it.index < first - 1 || it.index > last + 1) it.stop.abort();
		this.requests = this.requests.filter((it) => !it.stop.signal.aborted);
		const indices = [];
		for (let index = first; index <= last; index += 1) indices.push(index);
		for (const index of indices) if (!this.requestTiles(wish.rows, wish.clock, level, index)) return;
		if (this.requests.length > 0) return;
		for (const index of indices) if (!this.requestTiles(wish.near, wish.clock, level, index)) return;
		for (const index of [first - 1, last + 1]) if (!this.requestTiles(wish.rows, wish.clock, level, index)) return;
	}
	/** False if there are too many requests. */
	requestTiles(rows, clock, level, index) {
		const isThere = (row) => {
			const tile = this.kept.get(keyOf$2(clock, this.filterId, row, level, index));
			return tile !== void 0 && tile.isOld !== true;
		};
		const missing = rows.filter((row) => !isThere(row) && !this.requests.some((it) => it.clock === clock && it.filterId === this.filterId && it.level === level && it.index === index && it.rows.has(row)));
		for (let at = 0; at < missing.length; at += MAX_ROWS) {
			if (this.requests.length >= MAX_REQUESTS) return false;
			this.fetch(missing.slice(at, at + MAX_ROWS), clock, level, index);
		}
		return true;
	}
	async fetch(rows, clock, level, index) {
		const span = spanOf(level), it = {
			clock,
			filterId: this.filterId,
			level,
			index,
			rows: new Set(rows),
			stop: new AbortController()
		};
		this.requests.push(it);
		let wait = 0, wrong = null;
		try {
			const states = await api.states({
				rows,
				begin: index * span,
				end: (index + 1) * span,
				pixels: TILE_PIXELS,
				clock,
				...this.filter === null ? {} : { filter: this.filter }
			}, it.stop.signal);
			if (!it.stop.signal.aborted && it.filterId === this.filterId) this.keep(states, clock, level, index);
		} catch (error) {
			if (it.stop.signal.aborted) return;
			wait = RETRY_MS$2;
			wrong = error instanceof ApiError ? error : new ApiError(0, String(error));
		}
		this.requests = this.requests.filter((other) => other !== it);
		this.failed(wrong);
		this.restsAt = Math.max(this.restsAt, performance.now() + wait);
		this.schedule();
		this.arrived();
	}
	keep(states, clock, level, index) {
		const span = spanOf(level);
		for (let at = 0; at < states.rows.length; at += 1) {
			const from = states.starts[at], to = states.starts[at + 1];
			const style = states.style.slice(from, to), used = /* @__PURE__ */ new Map(), label = new Uint32Array(to - from);
			for (let index = from; index < to; index += 1) {
				const text = labelOf(states, index);
				let known = used.get(text);
				if (known === void 0) used.set(text, known = used.size);
				label[index - from] = known;
				style[index - from] = paintStyle(style[index - from], text);
			}
			this.put(keyOf$2(clock, this.filterId, states.rows[at], level, index), {
				from: index * span,
				to: (index + 1) * span,
				level,
				begin: states.begin.slice(from, to),
				end: states.end.slice(from, to),
				style,
				label,
				labels: [...used.keys()]
			});
		}
		for (const [key, tile] of this.kept) {
			if (this.states <= 2e6 && this.kept.size <= 3e4) break;
			this.kept.delete(key);
			this.states -= tile.begin.length;
		}
	}
	put(key, tile) {
		this.states += tile.begin.length - (this.kept.get(key)?.begin.length ?? 0);
		this.kept.delete(key);
		this.kept.set(key, tile);
	}
	/** A tile that was used is the last to be evicted. */
	use(key) {
		const tile = this.kept.get(key);
		if (tile !== void 0) {
			this.kept.delete(key);
			this.kept.set(key, tile);
		}
		return tile;
	}
	/** Adds substitutes from other levels; false where there are none. */
	substitute(pieces, row, clock, filterId, level, begin, end) {
		for (let up = level + 1; up <= level + COARSER; up += 1) {
			const tile = this.use(keyOf$2(clock, filterId, row, up, Math.floor(begin / spanOf(up))));
			if (tile !== void 0 && tile.to >= end) {
				pieces.push({
					tile,
					begin,
					end
				});
				return true;
			}
		}
		for (let down = level - 1; down >= Math.max(0, level - FINER); down -= 1) {
			const span = spanOf(down);
			let found = false;
			for (let index = Math.floor(begin / span); index * span < end; index += 1) {
				const tile = this.kept.get(keyOf$2(clock, filterId, row, down, index));
				if (tile === void 0) continue;
				found = true;
				pieces.push({
					tile,
					begin: Math.max(begin, tile.from),
					end: Math.min(end, tile.to)
				});
			}
			if (found) return true;
		}
		return false;
	}
};
function labelOfTile(tile, index) {
	return tile.labels[tile.label[index] ?? -1] ?? "";
}
/** The first state of a tile that ends after a time. */
function firstEndingAfter(tile, at) {
	let low = 0, high = tile.end.length;
	while (low < high) {
		const middle = low + high >> 1;
		if (tile.end[middle] <= at) low = middle + 1;
		else high = middle;
	}
	return low;
}
function same$1(a, b) {
	return a.length === b.length && a.every((id, index) => id === b[index]);
}
// src/graph/picture.ts
/** Labels in one picture. */
var MAX_LABELS = 1500;
function drawPicture(ctx, scene, parts) {
	const { width, height } = scene.layout;
	ctx.save();
	ctx.beginPath();
	ctx.rect(0, 34, width, height);
	ctx.clip();
	drawGrid(ctx, scene);
	drawLabels(ctx, scene, parts.labels);
	parts.counters.draw(ctx, scene);
	drawLosses(ctx, scene, parts.losses);
	drawFrontier(ctx, scene);
	parts.arrows.draw(ctx, scene);
	drawPath(ctx, scene);
	drawSelection(ctx, scene);
	ctx.restore();
	drawAxis(ctx, scene, parts.bookmarks);
}
/** A state that goes on in the next tile has one label. */
function addLabel(labels, label) {
	const last = labels.at(-1);
	if (last !== void 0 && last.y === label.y && last.tile !== label.tile && Math.abs(last.x1 - label.x0) < 1 && last.tile.style[last.place] === label.tile.style[label.place] && labelOfTile(last.tile, last.place) === labelOfTile(label.tile, label.place)) labels[labels.length - 1] = {
		...last,
		x1: label.x1
	};
	else labels.push(label);
}
/** Width of texts, kept: measuring is slow. */
var widths = /* @__PURE__ */ new Map();
var MAX_WIDTHS = 5e3;
function widthOf$1(ctx, text) {
	let width = widths.get(text);
	if (width === void 0) {
		if (widths.size > MAX_WIDTHS) widths.clear();
		widths.set(text, width = ctx.measureText(text).width);
	}
	return width;
}
function drawLabels(ctx, scene, labels) {
	ctx.font = FONT$1;
	ctx.textBaseline = "middle";
	let left = MAX_LABELS;
	for (const ink of ["black", "white"]) {
		ctx.fillStyle = ink;
		for (const { x0, x1, y, tile, place } of labels) {
			const { height } = look(tile.style[place]);
			if (inkOn(tile.style[place]) !== ink || height < .5 || isPale(tile.style[place])) continue;
			const text = labelOfTile(tile, place);
			if (text === "" || (left -= 1) < 0) continue;
			const fits = cut(ctx, text, x1 - x0 - 6);
			if (fits !== "" && x0 < scene.layout.width) ctx.fillText(fits, x0 + 3, y);
		}
	}
}
/** As much of a text as has room. */
function cut(ctx, text, room) {
	const width = widthOf$1(ctx, text);
	if (width <= room) return text;
	const count = Math.floor(text.length * room / width) - 1;
	return count < 2 ? "" : `${text.slice(0, count)}…`;
}
/** Where events were lost, the host's lines are hatched: what is drawn there may be wrong. */
function drawLosses(ctx, scene, losses) {
	if (losses.length === 0) return;
	ctx.strokeStyle = ink().loss;
	ctx.lineWidth = 1;
	ctx.beginPath();
	scene.rows.lines.forEach((line, place) => {
		const kind = line.row?.kind;
		if (kind !== "host" && kind !== "cpu") return;
		const y = scene.middle(place);
		if (y < scene.linesTop - 20 || y > 34 + scene.layout.height + 20) return;
		for (const loss of losses) {
			if (loss.host !== line.host || kind === "cpu" && loss.cpu !== null && line.row?.cpu !== loss.cpu) continue;
			const x0 = Math.max(0, scene.hostX(loss.host, loss.begin, "common")), x1 = Math.min(scene.layout.width, Math.max(scene.hostX(loss.host, loss.end, "common"), x0 + 2));
			for (let x = x0; x < x1; x += 4) {
				ctx.moveTo(x, y + 7);
				ctx.lineTo(Math.min(x + 6, x1), y - 7);
			}
		}
	});
	ctx.stroke();
}
/** A line below the pinned rows, and above each host. */
function drawFrontier(ctx, scene) {
	ctx.fillStyle = ink().line;
	if (scene.layout.fixed > 0) ctx.fillRect(0, scene.linesTop - 1, scene.layout.width, 2);
}
/** Whether all rows of a line are in an area. */
function isOf(area, ids) {
	return ids.length > 0 && ids.every((id) => area.has(id));
}
function drawSelection(ctx, scene) {
	const { selection } = scene.view.now;
	if (selection === null) return;
	const x0 = Math.max(-2, scene.x(selection.begin)), x1 = Math.min(scene.layout.width + 2, scene.x(selection.end));
	if (x1 < -1 || x0 > scene.layout.width + 1) return;
	ctx.fillStyle = ink().selection;
	const { area } = scene.view.now;
	if (area === null) ctx.fillRect(x0, 34, x1 - x0, scene.layout.height);
	else scene.rows.lines.forEach((line, place) => {
		if (isOf(area, scene.rows.idsOf(line))) ctx.fillRect(x0, scene.top(place), x1 - x0, 20);
	});
	ctx.fillStyle = ink().edge;
	ctx.fillRect(Math.round(x0), 34, 1, scene.layout.height);
	ctx.fillRect(Math.round(x1), 34, 1, scene.layout.height);
}
// src/graph/svg.ts
var round$1 = (value) => String(Math.round(value * 100) / 100);
/** Signs that XML has no way to write are shown as unknown ones. */
var escaped = (text) => text.replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "�").replace(/[&<>"]/g, (it) => ({
	"&": "&amp;",
	"<": "&lt;",
	">": "&gt;",
	"\"": "&quot;"
})[it]);
var SvgContext = class {
	width;
	height;
	fillStyle = "#000";
	strokeStyle = "#000";
	lineWidth = 1;
	lineJoin = "miter";
	globalAlpha = 1;
	font = "11px sans-serif";
	textBaseline = "alphabetic";
	parts = [];
	path = "";
	clips = 0;
	/** Groups that were opened since each `save`. */
	groups = [];
	measure = document.createElement("canvas").getContext("2d");
	constructor(width, height) {
		this.width = width;
		this.height = height;
	}
	text() {
		return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}">\n${this.parts.join("\n")}\n</svg>\n`;
	}
	translated(x, y, draw) {
		this.parts.push(`<g transform="translate(${x} ${y})">`);
		draw();
		this.parts.push("</g>");
	}
	fillRect(x, y, width, height) {
		this.parts.push(`<rect x="${round$1(x)}" y="${round$1(y)}" width="${round$1(width)}" height="${round$1(height)}" fill="${String(this.fillStyle)}"${this.alpha}/>`);
	}
	strokeRect(x, y, width, height) {
		this.parts.push(`<rect x="${round$1(x)}" y="${round$1(y)}" width="${round$1(width)}" height="${round$1(height)}" fill="none" ${this.line}/>`);
	}
	beginPath() {
		this.path = "";
	}
	moveTo(x, y) {
		this.path += `M${round$1(x)} ${round$1(y)}`;
	}
	lineTo(x, y) {
		this.path += `L${round$1(x)} ${round$1(y)}`;
	}
	closePath() {
		this.path += "Z";
	}
	rect(x, y, width, height) {
		this.path += `M${round$1(x)} ${round$1(y)}h${round$1(width)}v${round$1(height)}h${round$1(-width)}Z`;
	}
	stroke() {
		if (this.path !== "") this.parts.push(`<path d="${this.path}" fill="none" ${this.line}/>`);
	}
	fill() {
		if (this.path !== "") this.parts.push(`<path d="${this.path}" fill="${String(this.fillStyle)}"${this.alpha}/>`);
	}
	clip() {
		this.clips += 1;
		this.parts.push(`<clipPath id="clip${this.clips}"><path d="${this.path}"/></clipPath><g clip-path="url(#clip${this.clips})">`);
		const last = this.groups.length - 1;
		if (last >= 0) this.groups[last] = this.groups[last] + 1;
	}
	save() {
		this.groups.push(0);
	}
	restore() {
		this.parts.push("</g>".repeat(this.groups.pop() ?? 0));
	}
	fillText(text, x, y) {
		const size = /(\d+)px/.exec(this.font)?.[1] ?? "11", middle = this.textBaseline === "middle" ? " dominant-baseline=\"central\"" : "";
		this.parts.push(`<text x="${round$1(x)}" y="${round$1(y)}" font-family="system-ui, sans-serif" font-size="${size}" fill="${String(this.fillStyle)}"${middle}${this.alpha}>${escaped(text)}</text>`);
	}
	measureText(text) {
		this.measure.font = this.font;
		return this.measure.measureText(text);
	}
	get alpha() {
		return this.globalAlpha === 1 ? "" : ` opacity="${round$1(this.globalAlpha)}"`;
	}
	get line() {
		return `stroke="${String(this.strokeStyle)}" stroke-width="${this.lineWidth}"${this.alpha}`;
	}
};
// src/graph/export.ts
/** Width of the names beside the graph. */
var NAMES$1 = 200;
var INDENT$2 = 12;
/** States narrower than this are not drawn alone: a file has to stay readable. */
var MIN_BAR = .4;
function drawNames(ctx, graph) {
	const scene = graph.scene(), colours = ink();
	ctx.save();
	ctx.beginPath();
	ctx.rect(0, 34, 196, scene.layout.height);
	ctx.clip();
	ctx.font = FONT$1;
	ctx.textBaseline = "middle";
	ctx.fillStyle = colours.text;
	for (const place of graph.shownPlaces()) {
		const line = graph.rows.lines[place];
		if (place < graph.rows.pinnedCount || scene.top(place) >= scene.linesTop - 10) ctx.fillText(line.label, 6 + line.depth * INDENT$2, scene.middle(place));
	}
	ctx.restore();
}
function exportPng(graph) {
	const ratio = devicePixelRatio, seen = graph.canvas, canvas = document.createElement("canvas");
	canvas.width = seen.width + Math.round(NAMES$1 * ratio);
	canvas.height = seen.height;
	const ctx = canvas.getContext("2d");
	ctx.fillStyle = css(ink().background);
	ctx.fillRect(0, 0, canvas.width, canvas.height);
	ctx.drawImage(seen, Math.round(NAMES$1 * ratio), 0);
	ctx.scale(ratio, ratio);
	drawNames(ctx, graph);
	canvas.toBlob((blob) => {
		if (blob !== null) save(blob, graph.view, ".png");
	});
}
/** The picture as text of an SVG file. */
function svgOf(graph) {
	const scene = graph.scene(), { layout } = graph, labels = [], svg = new SvgContext(layout.width + NAMES$1, layout.height + 34);
	svg.fillStyle = css(ink().background);
	svg.fillRect(0, 0, layout.width + NAMES$1, layout.height + 34);
	drawNames(svg, graph);
	svg.translated(NAMES$1, 0, () => {
		svg.save();
		svg.beginPath();
		svg.rect(0, 34, layout.width, layout.height);
		svg.clip();
		for (const place of graph.shownPlaces()) {
			const line = graph.rows.lines[place], top = scene.top(place);
			if (place >= graph.rows.pinnedCount && top < scene.linesTop - 10) continue;
			line.sources.forEach((row, stripe) => {
				const share = 14 / line.sources.length, middle = top + 3 + share * (stripe + .5), { pieces, offset } = graph.pieces(row, line.host);
				for (const { tile, begin, end } of pieces) for (let at = firstEndingAfter(tile, begin); at < tile.begin.length && tile.begin[at] < end; at += 1) {
					const x0 = Math.max(0, scene.x(Math.max(tile.begin[at], begin) + offset)), x1 = Math.min(layout.width, scene.x(Math.min(tile.end[at], end) + offset));
					const style = tile.style[at], height = look(style).height * share;
					if (x1 - x0 < MIN_BAR || height === 0) continue;
					svg.fillStyle = css(rgbOf(style));
					svg.fillRect(x0, middle - height / 2, x1 - x0, height);
					if (x1 - x0 >= 26 && line.sources.length === 1) addLabel(labels, {
						x0,
						x1,
						y: middle,
						tile,
						place: at
					});
				}
			});
		}
		svg.restore();
		drawPicture(svg, scene, graph.parts(labels));
	});
	return svg.text();
}
function exportSvg(graph) {
	saveSvg(svgOf(graph), graph.view);
}
/** Saves text of an SVG file, named by the traces and what is seen of them. */
function saveSvg(svg, view, what = "") {
	save(new Blob([svg], { type: "image/svg+xml" }), view, `${what === "" ? "" : `-${what}`}.svg`);
}
function save(blob, view, ending) {
	const link = document.createElement("a"), address = URL.createObjectURL(blob);
	link.href = address;
	link.download = `${view.now.experiment?.name ?? "isochrone"}${ending}`;
	link.click();
	setTimeout(() => URL.revokeObjectURL(address), 1e4);
}
// src/counterRows.ts
var bytesPerSecond = (value) => `${formatBytes(value)}/s`;
var few = (value) => (Math.round(value * 100) / 100).toString();
var COUNTERS = [
	{
		label: "CPU use",
		kinds: ["cpu"],
		words: [""],
		most: 100,
		text: (value) => `${Math.round(value * 10) / 10} %`
	},
	{
		label: "waiting for CPUs",
		kinds: ["run-queue"],
		words: [""],
		most: null,
		text: (value) => `${few(value)} threads`
	},
	{
		label: "network",
		kinds: ["net-sent", "net-received"],
		words: ["sent", "received"],
		most: null,
		text: bytesPerSecond
	},
	{
		label: "disk",
		kinds: ["disk-read", "disk-write"],
		words: ["read", "written"],
		most: null,
		text: bytesPerSecond
	},
	{
		label: "memory",
		kinds: ["memory"],
		words: [""],
		most: null,
		text: formatBytes
	}
];
/** Numbers of their lines go down from here: those of folds are above, that of the critical path is below. */
var FIRST$1 = -5e5;
var PER_HOST = 8;
function counterLine(host, kind) {
	return FIRST$1 - host * PER_HOST - kind;
}
/** The host and the kind of a line; null if it is none of these. */
function counterOf(line) {
	const place = FIRST$1 - line, kind = COUNTERS[place % PER_HOST];
	return place < 0 || place >= 4e5 || kind === void 0 ? null : {
		host: Math.floor(place / PER_HOST),
		kind
	};
}
/** The step of a series that an instant of the common clock is in; −1: none. */
function placeAt(x, at) {
	let low = 0, high = x.length;
	while (low < high) {
		const middle = low + high >> 1;
		if (x[middle] <= at) low = middle + 1;
		else high = middle;
	}
	const last = x.at(-1), before = x.at(-2);
	return last !== void 0 && before !== void 0 && at >= last + (last - before) ? -1 : low - 1;
}
/** "3.2 MB/s sent, 1 kB/s received"; what is unknown is said to be. */
function counterText(kind, series, at) {
	if (series.length === 0) return "not recorded";
	return series.map((it) => {
		const value = it.y[placeAt(it.x, at)], word = kind.words[kind.kinds.indexOf(it.kind)] ?? "";
		return `${value === null || value === void 0 ? "unknown" : kind.text(value)}${word === "" ? "" : ` ${word}`}`;
	}).join(", ");
}
// src/graph/fetched.ts
var REST_MS$5 = 60;
var RETRY_MS$1 = 2e3;
/** What is fetched around the window, as a share of it. */
var MARGIN$1 = .5;
var Fetched = class {
	ask;
	arrived;
	/** What there is, of which range and clock; thinned if there was more than asked for. */
	value = null;
	clock = "common";
	range = null;
	isThinned = false;
	timer = 0;
	stop = null;
	asking = null;
	isBusy = false;
	topic = "";
	constructor(ask, arrived) {
		this.ask = ask;
		this.arrived = arrived;
	}
	/** No request is pending or scheduled. */
	get isIdle() {
		return !this.isBusy;
	}
	/** Forgets what is there: another topic is wanted. */
	setTopic(topic) {
		if (topic === this.topic) return;
		this.topic = topic;
		this.value = null;
		this.range = null;
		this.asking = null;
		this.isBusy = false;
		clearTimeout(this.timer);
		this.stop?.abort();
	}
	/** What is there is of rows and times that are others now. */
	renew() {
		this.topic = "";
		this.setTopic("renewed");
	}
	want(window, clock) {
		const span = window.end - window.begin, range = this.range;
		if (range !== null && clock === this.clock && range.begin <= window.begin && range.end >= window.end && !(this.isThinned && range.end - range.begin > span * 2 * 1.5)) return;
		const key = `${clock} ${window.begin} ${window.end}`;
		if (key === this.asking) return;
		this.asking = key;
		this.isBusy = true;
		clearTimeout(this.timer);
		this.timer = globalThis.setTimeout(() => void this.fetch({
			begin: window.begin - span * MARGIN$1,
			end: window.end + span * MARGIN$1
		}, clock), REST_MS$5);
	}
	async fetch(range, clock) {
		this.stop?.abort();
		const stop = this.stop = new AbortController();
		try {
			const { value, isThinned } = await this.ask(range, clock, stop.signal);
			if (stop.signal.aborted) return;
			this.value = value;
			this.isThinned = isThinned;
			this.range = range;
			this.clock = clock;
			this.isBusy = false;
		} catch {
			if (!stop.signal.aborted) setTimeout(() => {
				this.asking = null;
				this.arrived();
			}, RETRY_MS$1);
			return;
		}
		this.arrived();
	}
};
// src/graph/arrows.ts
/** Asked for, and drawn at most; those that arrive before they were sent are all drawn, as far as the server sends them. */
var MAX_ASKED = 5e3;
var MAX_INVERTED = 2e4;
var MAX_DRAWN = 1e3;
var MIN_OTHERS = 200;
var MAX_WAKEUPS = 2e3;
var HEAD$2 = 5;
var Arrows = class {
	view;
	areMessagesOn = true;
	areWakeupsOn = false;
	watchers = /* @__PURE__ */ new Set();
	watch(watcher) {
		this.watchers.add(watcher);
	}
	/** Which arrows are drawn. */
	show(messages, wakeups) {
		this.areMessagesOn = messages;
		this.areWakeupsOn = wakeups;
		for (const watcher of this.watchers) watcher();
	}
	/** Packets, then what MPI programs sent. */
	messages;
	wakeups;
	/** How many messages there are for each that was sent here, of those that arrive after they were sent. */
	factor = 1;
	/** How many messages arrive before they were sent, where not even all of these are here. */
	red = null;
	/** How many wake-ups there are in all of what was asked for. */
	wakeupTotal = 0;
	constructor(view, arrived) {
		this.view = view;
		this.messages = new Fetched(async (range, clock, signal) => {
			let answer = await api.messages(range.begin, range.end, clock, MAX_ASKED, signal);
			if (answer.inverted > redOf(answer)) answer = await api.messages(range.begin, range.end, clock, MAX_INVERTED, signal);
			const { total, inverted, messages, mpi_total, mpi } = answer, red = redOf(answer);
			this.factor = (total + mpi_total - inverted) / Math.max(1, messages.length + mpi.length - red);
			this.red = inverted > red ? inverted : null;
			return {
				value: [messages, mpi],
				isThinned: total > messages.length || mpi_total > mpi.length
			};
		}, arrived);
		this.wakeups = new Fetched(async (range, clock, signal) => {
			const { total, wakeups } = await api.wakeups(range.begin, range.end, clock, [this.view.now.row ?? 0], MAX_WAKEUPS, signal);
			this.wakeupTotal = total;
			return {
				value: wakeups,
				isThinned: total > wakeups.length
			};
		}, arrived);
	}
	/** No request is pending or scheduled. */
	get isIdle() {
		return this.messages.isIdle && this.wakeups.isIdle;
	}
	/** Rows and times are others now. */
	renew() {
		this.messages.renew();
		this.wakeups.renew();
	}
	/** Asks for what the window lacks. */
	want() {
		const { window, clock, row } = this.view.now;
		if (this.areMessagesOn) this.messages.want(window, clock);
		if (!this.areWakeupsOn || row === null || row < 0) return;
		this.wakeups.setTopic(`${row}`);
		this.wakeups.want(window, clock);
	}
	/** What is seen of the messages now. */
	seen(scene) {
		if (!this.areMessagesOn) return {
			arrows: [],
			left: ""
		};
		const clock = this.messages.clock, width = scene.layout.width, bottom = scene.top(0) + scene.layout.scrollTop + scene.layout.full + scene.layout.fixed;
		const seen = [];
		const [packets, mpi] = this.messages.value ?? [[], []];
		const look = (message, isMpi) => {
			const [from, to, sent, received] = message;
			const x0 = scene.hostX(scene.hostOf(from), sent, clock), x1 = scene.hostX(scene.hostOf(to), received, clock);
			if (x0 < 0 && x1 < 0 || x0 > width && x1 > width) return;
			const y0 = scene.rowY(from), y1 = scene.rowY(to);
			if (y0 === null || y1 === null || y0 === y1 || y0 < 0 && y1 < 0 || y0 > bottom && y1 > bottom) return;
			seen.push({
				x0,
				y0,
				x1,
				y1,
				isInverted: x1 < x0,
				isMpi,
				message
			});
		};
		packets.forEach((message) => look(message, false));
		mpi.forEach((message) => look(message, true));
		const inverted = seen.filter((it) => it.isInverted), others = seen.filter((it) => !it.isInverted);
		const arrows = [...some(others, Math.max(MIN_OTHERS, MAX_DRAWN - inverted.length)), ...inverted];
		if (this.red !== null) return {
			arrows,
			left: redText(inverted.length, this.red)
		};
		return {
			arrows,
			left: leftText(arrows.length, seen.length, seen.length === 0 ? 1 : (inverted.length + others.length * this.factor) / seen.length)
		};
	}
	draw(ctx, scene) {
		const { arrows, left } = this.seen(scene), colours = ink();
		this.bounds(ctx, scene, arrows);
		ctx.globalAlpha = arrows.length > 300 ? .5 : 1;
		drawArrows(ctx, arrows.filter((arrow) => !arrow.isInverted && !arrow.isMpi), colours.message, 1);
		drawArrows(ctx, arrows.filter((arrow) => !arrow.isInverted && arrow.isMpi), colours.mpi, 1);
		ctx.globalAlpha = 1;
		drawArrows(ctx, arrows.filter((arrow) => arrow.isInverted), colours.inverted, 1.25);
		const text = [left, this.areWakeupsOn ? this.drawWakeups(ctx, scene) : ""].filter((it) => it !== "").join("; ");
		if (text !== "") drawLeft(ctx, scene, text);
	}
	/** Bars at the received ends: surely within the light one, likely within the dark one. */
	bounds(ctx, scene, arrows) {
		const colours = ink(), scale = scene.scale;
		for (const [colour, range, height] of [[
			colours.sure,
			sureOf,
			7
		], [
			colours.likely,
			likelyOf,
			1.5
		]]) {
			ctx.fillStyle = colour;
			for (const { x1, y1, message } of arrows) {
				const [low, high] = range(message);
				if ((high - low) * scale >= 2) ctx.fillRect(x1 + low * scale, y1 - height, (high - low) * scale, 2 * height);
			}
		}
	}
	/** Says how many are drawn, if not all. */
	drawWakeups(ctx, scene) {
		const clock = this.wakeups.clock, arrows = [];
		for (const [from, to, at] of this.wakeups.value ?? []) {
			const x = scene.hostX(scene.hostOf(to), at, clock), y1 = scene.rowY(to);
			if (y1 === null || x < 0 || x > scene.layout.width) continue;
			const y0 = from === null ? null : scene.rowY(from);
			arrows.push({
				x0: x,
				y0: y0 === null || y0 === y1 ? y1 - 14 : y0,
				x1: x,
				y1
			});
		}
		drawArrows(ctx, arrows, ink().wakeup, 1);
		return this.wakeups.value === null ? "" : wakeupsText(this.wakeups.value.length, this.wakeupTotal);
	}
};
/** At most so many, evenly chosen. */
function some(all, limit) {
	const count = Math.max(0, Math.min(all.length, limit));
	return Array.from({ length: count }, (_, place) => all[Math.floor(place * all.length / count)]);
}
/** How many arrows are drawn of how many, if not all; of what was not even sent here, about. */
function leftText(drawn, seen, factor) {
	const all = Math.round(seen * factor);
	return all <= drawn ? "" : `${formatCount(drawn)} of ${factor > 1 ? "about " : ""}${formatCount(all)} arrows are drawn`;
}
/** How many red arrows are drawn of those that there are. */
function redText(drawn, all) {
	return `${formatCount(drawn)} of ${formatCount(all)} red arrows in and around the window are drawn`;
}
/** How many wake-ups are known here of how many, if not all: of the window and a margin around it. */
function wakeupsText(known, total) {
	return known >= total ? "" : `${formatCount(known)} of ${formatCount(total)} wake-ups in and around the window are drawn`;
}
/** How many of the messages that are here arrive before they were sent. */
var redOf = ({ messages, mpi }) => [...messages, ...mpi].filter((message) => message[7] === 1).length;
function drawLeft(ctx, scene, text) {
	const colours = ink(), { width, height } = scene.layout;
	ctx.font = FONT$1;
	ctx.textBaseline = "middle";
	const room = ctx.measureText(text).width, x = width - room - 8, y = 34 + height - 12;
	ctx.fillStyle = colours.halo;
	ctx.fillRect(x - 4, y - 8, room + 8, 16);
	ctx.fillStyle = colours.text;
	ctx.fillText(text, x, y);
}
function sureOf(message) {
	return [message[5] ?? 0, message[6] ?? 0];
}
function likelyOf(message) {
	return [-(message[4] ?? 0), message[4] ?? 0];
}
/** Of arrows with the same pixels at both ends one: the others would be drawn over it. */
function unlike(arrows) {
	return [...new Map(arrows.map((it) => [[
		it.x0,
		it.y0,
		it.x1,
		it.y1
	].map(Math.round).join(), it])).values()];
}
function drawArrows(ctx, arrows, colour, width) {
	if (arrows.length === 0) return;
	if (arrows.length > MAX_DRAWN) arrows = unlike(arrows);
	ctx.strokeStyle = ctx.fillStyle = colour;
	ctx.lineWidth = width;
	for (const { x0, y0, x1, y1 } of arrows) {
		ctx.beginPath();
		ctx.moveTo(x0, y0);
		ctx.lineTo(x1, y1);
		ctx.stroke();
	}
	ctx.beginPath();
	for (const { x0, y0, x1, y1 } of arrows) {
		const length = Math.hypot(x1 - x0, y1 - y0) || 1, dx = (x1 - x0) / length, dy = (y1 - y0) / length;
		const bx = x1 - HEAD$2 * dx, by = y1 - HEAD$2 * dy;
		ctx.moveTo(x1, y1);
		ctx.lineTo(bx - dy * HEAD$2 * .45, by + dx * HEAD$2 * .45);
		ctx.lineTo(bx + dy * HEAD$2 * .45, by - dx * HEAD$2 * .45);
		ctx.closePath();
	}
	ctx.fill();
}
// src/panels/hostColours.ts
var HUES = [
	212,
	28,
	140,
	330,
	262,
	178,
	52,
	0
];
function hostColour(host) {
	const round = Math.floor(host / HUES.length);
	return `hsl(${(HUES[host % HUES.length] + 17 * round) % 360} ${isDark() ? 65 : 70}% ${isDark() ? 62 : 42}%)`;
}
// src/graph/counters.ts
/** Steps of a series for a pixel of the window. */
var STEPS = .8;
var MOST_STEPS$2 = 2e3;
var Counters = class {
	view;
	fetched;
	width = 1e3;
	constructor(view, arrived) {
		this.view = view;
		this.fetched = new Fetched(async (range, _, signal) => {
			const { begin, end } = view.now.experiment ?? {}, from = Math.max(range.begin, begin ?? range.begin), to = Math.min(range.end, end ?? range.end);
			return {
				value: to > from ? (await api.usage(from, to, Math.max(60, Math.min(MOST_STEPS$2, Math.round(this.width * STEPS))), signal, true)).series : [],
				isThinned: true
			};
		}, arrived);
	}
	get isIdle() {
		return this.fetched.isIdle;
	}
	renew() {
		this.fetched.renew();
	}
	/** Asks for what the window lacks, if any of their lines is seen. */
	want(isSeen, width) {
		this.width = width;
		const { window, clock } = this.view.now;
		if (!isSeen) return;
		const shifts = clock === "common" ? [0] : this.view.now.experiment?.hosts.map((host) => host.shift_ns) ?? [0];
		this.fetched.want({
			begin: window.begin - Math.max(...shifts),
			end: window.end - Math.min(...shifts)
		}, "common");
	}
	seriesOf(host, kind) {
		return kind.kinds.flatMap((name) => (this.fetched.value ?? []).filter((it) => it.host === host && it.kind === name));
	}
	/** What a line says at an instant of the common clock. */
	text(line, at) {
		const of = counterOf(line);
		if (of === null) return null;
		if (this.fetched.value === null) return "loading …";
		const series = this.seriesOf(of.host, of.kind);
		return series.length === 0 && of.kind === COUNTERS[1] ? "not recorded, or there are too many states here to look at each: zoom in" : counterText(of.kind, series, at);
	}
	draw(ctx, scene) {
		scene.rows.lines.forEach((line, place) => {
			const of = line.id <= -5e5 ? counterOf(line.id) : null, top = scene.top(place);
			if (of === null || top < scene.linesTop - 20 || top > 34 + scene.layout.height) return;
			this.drawLine(ctx, scene, of.kind, this.seriesOf(of.host, of.kind), top + 3);
		});
	}
	drawLine(ctx, scene, kind, series, top) {
		const colours = ink(), width = scene.layout.width, bottom = top + 14, seen = [];
		for (const { x, y } of series) y.forEach((value, at) => {
			if (value !== null && x[at] <= scene.end && (x[at + 1] ?? Infinity) >= scene.begin) seen.push(value);
		});
		const least = Math.min(0, ...seen), most = kind.most ?? Math.max(...seen, least + 1e-9), high = (value) => bottom - 14 * (value - least) / (most - least);
		series.forEach((it, turn) => {
			ctx.fillStyle = ctx.strokeStyle = hostColour(it.host);
			ctx.lineWidth = 1;
			ctx.globalAlpha = turn === 0 ? .45 : 1;
			ctx.beginPath();
			it.x.forEach((at, step) => {
				const value = it.y[step], next = it.x[step + 1] ?? at + (at - (it.x[step - 1] ?? at)), x0 = scene.hostX(it.host, at, "common"), x1 = scene.hostX(it.host, next, "common");
				if (value === null || value === void 0 || x1 < 0 || x0 > width) return;
				if (turn === 0) ctx.rect(x0, high(value), Math.max(x1 - x0, .5), high(Math.min(0, least)) - high(value));
				else {
					ctx.moveTo(x0, high(value));
					ctx.lineTo(x1, high(value));
				}
			});
			if (turn === 0) ctx.fill();
			else ctx.stroke();
			ctx.globalAlpha = 1;
		});
		if (seen.length === 0) return;
		const text = kind.text(most), room = 6 + ctx.measureText(text).width;
		ctx.font = FONT$1;
		ctx.textBaseline = "middle";
		ctx.fillStyle = css(colours.background, .7);
		ctx.fillRect(width - room, top, room, 14);
		ctx.fillStyle = colours.faint;
		ctx.fillText(text, width - room + 3, top + 7);
	}
};
// src/graph/paint.ts
/** Columns that hold no state, and those that hold a mix. */
var EMPTY = 255;
var MIX = 254;
/** In a mix, what ran is never lower than this share of the row. */
var MIN_SHARE = .2;
var Raster = class {
	width;
	height;
	image;
	pixels;
	columns;
	colour = /* @__PURE__ */ new Uint32Array(128);
	/** Of the column that is being filled: how many states have touched it, the first two of them, and, once there are three, share by style and the styles that have one. */
	count = 0;
	style0 = 0;
	share0 = 0;
	style1 = 0;
	share1 = 0;
	share = /* @__PURE__ */ new Float32Array(128);
	touched = /* @__PURE__ */ new Uint8Array(128);
	touchedCount = 0;
	column = -1;
	plans = /* @__PURE__ */ new Map();
	/** Mixed columns of the row: the column, and where its parts begin in the two lists after it (no objects: there may be one for each pixel). */
	mixColumn;
	mixBegin;
	mixes = 0;
	partStyle = /* @__PURE__ */ new Uint8Array(1024);
	partHeight = /* @__PURE__ */ new Float32Array(1024);
	parts = 0;
	/** Height of each style as a share of the row's. */
	heights = /* @__PURE__ */ new Float32Array(128);
	constructor(width, height) {
		this.width = width;
		this.height = height;
		this.image = new ImageData(width, height);
		this.pixels = new Uint32Array(this.image.data.buffer);
		this.columns = new Uint8Array(width);
		this.mixColumn = new Int32Array(width);
		this.mixBegin = new Int32Array(width + 1);
		for (let style = 0; style < 128; style += 1) this.heights[style] = style === 7 ? 0 : look(style).height;
		this.readColours();
	}
	/** Takes over the colours of the theme. */
	readColours() {
		for (let style = 0; style < 128; style += 1) this.colour[style] = packed(rgbOf(style));
		this.plans.clear();
	}
	fill(top, bottom, colour) {
		const from = Math.max(0, top) * this.width, to = Math.min(this.height, bottom) * this.width;
		if (to > from) this.pixels.fill(packed(colour), from, to);
	}
	/**
	* One row of states: `pieces` are drawn from `top` on, `height` pixels high, cut to `clip`. Times are moved by `offset` ns.
	* Bars of at least `labelWidth` pixels go to `bars`.
	*/
	row(pieces, begin, scale, offset, top, height, clip, labelWidth, bars) {
		this.columns.fill(EMPTY);
		this.mixes = this.parts = 0;
		for (const { tile, begin: from, end: to } of pieces) this.piece(tile, from, to, begin - offset, scale, labelWidth, bars);
		this.flush();
		this.lines(top, height, clip[0], clip[1]);
	}
	piece(tile, from, to, origin, scale, labelWidth, bars) {
		const { begin, end, style } = tile, width = this.width, columns = this.columns;
		for (let place = firstEndingAfter(tile, from); place < begin.length && begin[place] < to; place += 1) {
			const x0 = Math.max((Math.max(begin[place], from) - origin) * scale, 0), x1 = Math.min((Math.min(end[place], to) - origin) * scale, width);
			if (x1 <= x0 && (x0 >= width || x1 < 0)) continue;
			const first = Math.floor(x0), last = Math.floor(x1), it = style[place];
			if (first === last) {
				this.touch(first, it, x1 - x0);
				continue;
			}
			this.touch(first, it, first + 1 - x0);
			for (let column = first + 1; column < last; column += 1) columns[column] = it;
			if (x1 > last) this.touch(last, it, x1 - last);
			if (x1 - x0 >= labelWidth) bars.push({
				x0,
				x1,
				tile,
				place
			});
		}
	}
	touch(column, style, share) {
		if (column >= this.width) return;
		if (column !== this.column) {
			this.flush();
			this.column = column;
			this.count = 1;
			this.style0 = style;
			this.share0 = share;
		} else if (this.count === 1) {
			this.count = 2;
			this.style1 = style;
			this.share1 = share;
		} else {
			if (this.count === 2) {
				this.add(this.style0, this.share0);
				this.add(this.style1, this.share1);
			}
			this.count += 1;
			this.add(style, share);
		}
	}
	add(style, share) {
		if (this.share[style] === 0) {
			this.touched[this.touchedCount] = style;
			this.touchedCount += 1;
		}
		this.share[style] = this.share[style] + share + 1e-9;
	}
	flush() {
		const { count, column } = this;
		if (count === 0) return;
		if (count === 1) this.columns[column] = this.style0;
		else if (count === 2) this.columns[column] = this.share1 > this.share0 ? this.style1 : this.style0;
		else {
			this.columns[column] = this.touchedCount === 1 ? this.touched[0] : this.mix(column);
			for (let at = 0; at < this.touchedCount; at += 1) this.share[this.touched[at]] = 0;
			this.touchedCount = 0;
		}
		this.count = 0;
		this.column = -1;
	}
	mix(column) {
		const { touched, touchedCount: count, share, heights } = this;
		if (this.parts + count > this.partStyle.length) this.grow();
		for (let at = 1; at < count; at += 1) {
			const style = touched[at];
			let to = at;
			for (; to > 0 && touched[to - 1] > style; to -= 1) touched[to] = touched[to - 1];
			touched[to] = style;
		}
		let sum = 0;
		for (let at = 0; at < count; at += 1) sum += share[touched[at]];
		this.mixColumn[this.mixes] = column;
		this.mixBegin[this.mixes] = this.parts;
		this.mixes += 1;
		for (let at = 0; at < count; at += 1) {
			const style = touched[at], height = heights[style];
			this.partStyle[this.parts] = style;
			this.partHeight[this.parts] = Math.max(height > .5 ? MIN_SHARE : 0, share[style] / sum * height);
			this.parts += 1;
		}
		this.mixBegin[this.mixes] = this.parts;
		return MIX;
	}
	grow() {
		const styles = new Uint8Array(this.partStyle.length * 2), heights = new Float32Array(this.partHeight.length * 2);
		styles.set(this.partStyle);
		heights.set(this.partHeight);
		this.partStyle = styles;
		this.partHeight = heights;
	}
	/** Pixel lines of the row: those of the same kind are the same, so that each kind is made once and copied. The background below must be even. */
	lines(top, height, clipTop, clipBottom) {
		const { width, pixels, columns } = this, first = Math.max(0, clipTop), last = Math.min(this.height, clipBottom);
		const made = /* @__PURE__ */ new Map(), hatch = this.colour[0], isHatched = columns.includes(0), plan = this.plan(height);
		for (let line = 0; line < height; line += 1) {
			const { lut, kind, mayHatch } = plan[line], hasUnknown = mayHatch && isHatched;
			const y = top + line, from = y * width;
			if (y < first || y >= last) continue;
			const same = made.get(kind);
			if (same !== void 0 && !hasUnknown) {
				pixels.copyWithin(from, same, same + width);
				continue;
			}
			for (let x = 0; x < width; x += 1) {
				const style = columns[x];
				let colour = lut[style];
				if (style === 0 && hasUnknown) colour = (x + y & 3) < 2 ? hatch : 0;
				if (colour !== 0) pixels[from + x] = colour;
			}
			if (!hasUnknown) made.set(kind, from);
		}
		for (let mix = 0; mix < this.mixes; mix += 1) this.mixed(mix, top, height, first, last);
	}
	/** For each pixel line of a row of this height: the colour of each style there (0: none), and the styles as text. */
	plan(height) {
		const known = this.plans.get(height);
		if (known !== void 0) return known;
		const plan = Array.from({ length: height }, (_, line) => {
			const lut = /* @__PURE__ */ new Uint32Array(256), kind = [];
			for (let style = 0; style < 128; style += 1) {
				const bar = Math.max(2, Math.round(look(style).height * height)), gap = Math.floor((height - bar) / 2);
				if (style === 7 || line < gap || line >= gap + bar) continue;
				lut[style] = this.colour[style];
				kind.push(style);
			}
			return {
				lut,
				kind: kind.join(),
				mayHatch: lut[0] !== 0
			};
		});
		this.plans.set(height, plan);
		return plan;
	}
	mixed(mix, top, height, first, last) {
		const { width, pixels, partHeight, partStyle, colour } = this, column = this.mixColumn[mix], begin = this.mixBegin[mix], end = this.mixBegin[mix + 1];
		let sum = 0;
		for (let part = begin; part < end; part += 1) sum += partHeight[part];
		const fit = height / Math.max(sum, 1);
		let y = top + (height - Math.min(sum, 1) * height) / 2;
		for (let part = begin; part < end; part += 1) {
			const next = y + partHeight[part] * fit, to = Math.min(Math.round(next), last), it = colour[partStyle[part]];
			for (let at = Math.max(Math.round(y), first); at < to; at += 1) pixels[at * width + column] = it;
			y = next;
		}
	}
};
function packed(rgb) {
	return (4278190080 | rgb[2] << 16 | rgb[1] << 8 | rgb[0]) >>> 0;
}
// src/graph/phaseNames.ts
var PhaseNames = class {
	tell;
	names = /* @__PURE__ */ new Set();
	tiles = /* @__PURE__ */ new WeakSet();
	told = 0;
	/** `tell` gets the names, in their order, whenever they are others. */
	constructor(tell) {
		this.tell = tell;
	}
	see(line, pieces) {
		if (line.row?.kind !== "phase") return;
		for (const { tile } of pieces) {
			if (this.tiles.has(tile)) continue;
			this.tiles.add(tile);
			for (const name of tile.labels) if (name !== "") this.names.add(name);
		}
	}
	/** The picture is complete. Names stay as long as there are such rows, seen or not: what the legend takes of the height must not depend on what there is room for. */
	drawn(lines) {
		if (this.names.size > 0 && !lines.some((line) => line.row?.kind === "phase")) {
			this.names.clear();
			this.tiles = /* @__PURE__ */ new WeakSet();
		}
		if (this.names.size === this.told) return;
		this.told = this.names.size;
		this.tell([...this.names].sort());
	}
};
// src/graph/graph.ts
/** Rows above and below the screen whose states are fetched, too. */
var NEAR$2 = 20;
var KEPT_FRAMES = 300;
var Graph = class {
	view;
	rows;
	layout;
	clock;
	bookmarks;
	element = document.createElement("div");
	canvas = document.createElement("canvas");
	cursor = document.createElement("div");
	empty = document.createElement("p");
	ctx;
	tiles;
	arrows;
	counters;
	losses = [];
	phaseNames;
	raster = null;
	frame = 0;
	times = [];
	constructor(view, rows, layout, clock, bookmarks, failed, namedPhases) {
		this.view = view;
		this.rows = rows;
		this.layout = layout;
		this.clock = clock;
		this.bookmarks = bookmarks;
		this.phaseNames = new PhaseNames(namedPhases);
		this.element.className = "graph";
		this.canvas.setAttribute("role", "img");
		this.canvas.setAttribute("aria-label", "Time graph: states of the rows over time. The line at the bottom of the page tells the state under the pointer or the selected one.");
		this.cursor.className = "cursor";
		this.empty.className = "empty";
		this.element.append(this.canvas, this.cursor, this.empty);
		this.ctx = this.canvas.getContext("2d", {
			alpha: false,
			willReadFrequently: true
		});
		this.tiles = new Tiles(() => this.invalidate(), failed);
		this.arrows = new Arrows(view, () => this.invalidate());
		this.counters = new Counters(view, () => this.invalidate());
		const again = () => this.invalidate();
		view.watch(again, "window", "selection", "area", "row", "clock", "path", "experiment", "times");
		view.watch(() => this.moveCursor(), "hover", "window");
		view.watch(({ filter }) => {
			this.tiles.setFilter(filter);
			again();
		}, "filter");
		rows.watch(again);
		layout.watch(again);
		clock.watch(again);
		bookmarks.watch(again);
		watchTheme(() => {
			this.raster?.readColours();
			again();
		});
		new ResizeObserver(() => this.fit()).observe(this.element);
	}
	/** Times of the last drawings, in ms. */
	frames() {
		return [...this.times];
	}
	invalidate() {
		if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
	}
	scene() {
		return new Scene(this.view, this.rows, this.layout, this.clock);
	}
	parts(labels) {
		return {
			labels,
			counters: this.counters,
			arrows: this.arrows,
			losses: this.losses,
			bookmarks: this.bookmarks.list
		};
	}
	/** The line and the time at a place of the canvas (CSS pixels), and the row that is drawn there. */
	at(x, y) {
		const place = this.layout.lineAt(y - 34), line = this.rows.lines[place] ?? null, time = this.scene().time(x);
		if (line === null || line.sources.length === 0) return {
			line,
			place,
			row: line?.row?.id ?? null,
			time
		};
		if (line.isOverlaid === true) return {
			line,
			place,
			row: this.alive(line, time),
			time
		};
		const share = (y - 34 - this.layout.top(place) - 3) / 14;
		const stripe = Math.max(0, Math.min(line.sources.length - 1, Math.floor(share * line.sources.length)));
		return {
			line,
			place,
			row: line.sources[stripe],
			time
		};
	}
	/** Of rows that are drawn over each other the one that is seen at a time: the last that lives. */
	alive(line, time) {
		const at = time + this.clock.back(line.host), lives = (id) => {
			const row = this.rows.row(id);
			return row?.begin === void 0 || row.end === void 0 || at >= row.begin && at < row.end;
		};
		return line.sources.filter(lives).at(-1) ?? null;
	}
	/** No request or frame is pending. */
	get isIdle() {
		return this.frame === 0 && this.tiles.isIdle && this.arrows.isIdle && this.counters.isIdle;
	}
	/** What is known here of the state of a row. */
	stateAt(row, time) {
		const { clock, window } = this.view.now;
		return this.tiles.stateAt(row, clock, time, window, this.layout.width);
	}
	/** Colour of a pixel as it is seen: red, green, blue; its place in CSS pixels. */
	pixel(x, y) {
		const ratio = devicePixelRatio;
		return [...this.ctx.getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data.subarray(0, 3)];
	}
	/** Places of the lines that are at least in part on the screen, scrolling ones first: pinned ones are drawn over them. */
	shownPlaces() {
		const { first, last } = this.layout.shown(), places = [];
		for (let place = first; place < last; place += 1) places.push(place);
		for (let place = 0; place < this.rows.pinnedCount; place += 1) places.push(place);
		return places;
	}
	/** The states of a row to draw now, with the ns by which they are moved: of this clock, else of the other, moved. */
	pieces(row, host) {
		const { clock, window, path } = this.view.now, moved = this.clock.offset(host), step = pathRow(path, row);
		if (step !== void 0) return {
			pieces: [{
				tile: step.tile,
				begin: step.tile.from,
				end: step.tile.to
			}],
			offset: moved + this.clock.convert(host, "common")
		};
		const shifted = {
			begin: window.begin - moved,
			end: window.end - moved
		};
		const pieces = this.tiles.pieces(row, clock, shifted, this.layout.width);
		if (pieces.length > 0) return {
			pieces,
			offset: moved
		};
		const other = clock === "own" ? "common" : "own", offset = moved + this.clock.convert(host, other);
		return {
			pieces: this.tiles.pieces(row, other, {
				begin: window.begin - offset,
				end: window.end - offset
			}, this.layout.width),
			offset
		};
	}
	/** Takes the size that there is. */
	fit() {
		const ratio = devicePixelRatio, width = Math.floor(this.element.clientWidth), height = Math.floor(this.element.clientHeight);
		if (width <= 0 || height <= 34) return;
		this.canvas.width = Math.round(width * ratio);
		this.canvas.height = Math.round(height * ratio);
		this.canvas.style.width = `${width}px`;
		this.canvas.style.height = `${height}px`;
		this.raster = new Raster(this.canvas.width, this.canvas.height - Math.round(34 * ratio));
		this.layout.resize(width, height - 34);
		cancelAnimationFrame(this.frame);
		this.draw();
	}
	moveCursor() {
		const { hover } = this.view.now, x = hover === null ? -1 : this.scene().x(hover);
		this.cursor.hidden = x < 0 || x > this.layout.width;
		this.cursor.style.transform = `translateX(${Math.round(x)}px)`;
	}
	draw() {
		this.frame = 0;
		if (this.raster === null || this.view.now.rows.length === 0) return;
		const start = performance.now(), ratio = devicePixelRatio;
		this.tellEmpty();
		const labels = this.drawBars(this.raster, ratio);
		this.ctx.putImageData(this.raster.image, 0, Math.round(34 * ratio));
		this.ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
		drawPicture(this.ctx, this.scene(), this.parts(labels));
		this.phaseNames.drawn(this.rows.lines);
		this.times.push(performance.now() - start);
		if (this.times.length > KEPT_FRAMES) this.times.shift();
		this.tiles.isPaused = this.clock.isSliding;
		if (!this.clock.isSliding) this.want();
	}
	/** An empty graph says why. */
	tellEmpty() {
		this.empty.hidden = this.rows.lines.length > 0;
		if (this.empty.hidden) return;
		const among = this.view.now.onlyRows === null ? "" : " among the rows of the request";
		const unknown = `No long state is known to fit the search${among}; there are too many states here to look at each.`;
		if (this.rows.isFiltered && !this.rows.isFilterWhole) this.empty.textContent = `${unknown} Zoom in to find short ones. Esc in the search box clears it.`;
		else this.empty.textContent = this.rows.isFiltered ? `No row fits the search${among}. Esc in the search box clears it.` : `No row is left to show${among}. H shows hidden rows again.`;
	}
	drawBars(raster, ratio) {
		const { begin, end } = this.view.now.window, scale = raster.width / (end - begin), colours = ink(), labels = [], bars = [];
		raster.fill(0, raster.height, colours.background);
		const fixed = Math.round(this.layout.fixed * ratio);
		for (const place of this.shownPlaces()) {
			const line = this.rows.lines[place], isPinned = place < this.rows.pinnedCount, y = this.layout.top(place), least = isPinned ? 0 : fixed;
			const top = Math.round(y * ratio), bottom = Math.round((y + 20) * ratio);
			const background = line.row !== null && line.row.id === this.view.now.row ? colours.chosen : line.row?.kind === "host" || line.id === -1e6 ? colours.band : colours.background;
			raster.fill(Math.max(top, least), bottom, background);
			const inner = 3, count = line.isOverlaid === true ? 1 : line.sources.length;
			line.sources.forEach((row, source) => {
				const stripe = line.isOverlaid === true ? 0 : source;
				const from = Math.round((y + inner + 14 * stripe / count) * ratio), to = Math.round((y + inner + 14 * (stripe + 1) / count) * ratio);
				const { pieces, offset } = this.pieces(row, line.host);
				this.phaseNames.see(line, pieces);
				bars.length = 0;
				raster.row(pieces, begin, scale, offset, from, to - from - (count > 1 ? 1 : 0), [least, raster.height], 26 * ratio, bars);
				if (count > 1 || top < least) return;
				for (const { x0, x1, tile, place: at } of bars) addLabel(labels, {
					x0: x0 / ratio,
					x1: x1 / ratio,
					y: 34 + y + 10,
					tile,
					place: at
				});
			});
		}
		return labels;
	}
	want() {
		const { window, clock } = this.view.now, seen = /* @__PURE__ */ new Set(), near = /* @__PURE__ */ new Set();
		for (const place of this.shownPlaces()) for (const row of this.rows.lines[place].sources) if (row >= 0) seen.add(row);
		const { first, last } = this.layout.shown(NEAR$2);
		for (let place = first; place < last; place += 1) for (const row of this.rows.lines[place].sources) if (row >= 0 && !seen.has(row)) near.add(row);
		this.tiles.want([...seen], [...near], window, this.layout.width, clock);
		this.arrows.want();
		this.counters.want(this.shownPlaces().some((place) => counterOf(this.rows.lines[place].id) !== null), this.layout.width);
	}
};
// src/graph/pointer.ts
/** Less than this is a click. */
var DRAG$1 = 4;
/** How near to an edge of the selection, or to an arrow, the pointer has to be. */
var EDGE$2 = 5;
var NEAR_ARROW = 3;
var WHEEL_ZOOM$1 = .0022;
var GraphPointer = class {
	graph;
	navigation;
	inspector;
	tooltip;
	element;
	constructor(graph, navigation, inspector, tooltip) {
		this.graph = graph;
		this.navigation = navigation;
		this.inspector = inspector;
		this.tooltip = tooltip;
		const element = this.element = graph.element;
		element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
		element.addEventListener("pointerdown", (event) => this.down(event));
		element.addEventListener("pointermove", (event) => {
			if (event.buttons === 0) this.hover(event);
		});
		element.addEventListener("pointerleave", () => {
			this.tooltip.leave();
			this.graph.view.set({ hover: null });
		});
		element.addEventListener("dblclick", (event) => {
			const { row, time } = this.graph.at(...this.place(event)), step = this.step(row, time);
			if (step !== void 0) this.navigation.show(this.onShown(step));
			else if (row !== null && row >= 0) this.inspector.zoomTo(row, time);
		});
		element.addEventListener("auxclick", (event) => event.preventDefault());
	}
	place(event) {
		const box = this.element.getBoundingClientRect();
		return [event.clientX - box.left, event.clientY - box.top];
	}
	wheel(event) {
		event.preventDefault();
		this.tooltip.hide();
		const [x] = this.place(event), unit = event.deltaMode === 1 ? 20 : 1, scene = this.graph.scene();
		if (event.ctrlKey || event.metaKey) {
			this.navigation.zoom(Math.exp(event.deltaY * unit * WHEEL_ZOOM$1), scene.time(x));
			return;
		}
		const across = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
		if (across !== 0) this.navigation.pan(across * unit / scene.scale);
		if (!event.shiftKey && event.deltaY !== 0) this.graph.layout.scrollBy(event.deltaY * unit);
	}
	down(event) {
		if (event.button === 2) return;
		const [x, y] = this.place(event), { view } = this.graph, start = this.graph.scene().time(x);
		this.tooltip.hide();
		this.element.setPointerCapture(event.pointerId);
		let isMoved = false, moves;
		const edge = this.edgeAt(x);
		if (event.button === 1 || event.shiftKey) {
			event.preventDefault();
			let lastX = x, lastY = y;
			moves = (nowX, nowY) => {
				this.navigation.pan((lastX - nowX) / this.graph.scene().scale);
				this.graph.layout.scrollBy(lastY - nowY);
				lastX = nowX;
				lastY = nowY;
			};
		} else {
			const { selection } = view.now;
			const fixed = edge === "begin" ? selection.end : edge === "end" ? selection.begin : start;
			const first = y < 34 ? -1 : this.graph.at(x, y).place, { area } = view.now;
			moves = (nowX, nowY) => {
				const now = this.graph.scene().time(Math.max(0, Math.min(nowX, this.graph.layout.width)));
				const rows = edge === null ? this.rowsBetween(first, this.graph.at(x, Math.max(34, nowY)).place) : area;
				view.set({
					selection: {
						begin: Math.min(fixed, now),
						end: Math.max(fixed, now)
					},
					area: rows,
					hover: now
				});
			};
		}
		const move = (moved) => {
			if (!isMoved && Math.hypot(moved.clientX - event.clientX, moved.clientY - event.clientY) < DRAG$1) return;
			isMoved = true;
			moves(...this.place(moved));
		};
		const end = (up) => {
			this.element.removeEventListener("pointermove", move);
			this.element.removeEventListener("pointerup", end);
			this.element.removeEventListener("pointercancel", end);
			if (!isMoved && up.type === "pointerup" && event.button === 0 && !event.shiftKey) this.click(x, y);
			else if (isMoved && event.button === 0 && !event.shiftKey) view.set({ chosen: view.now.chosen + 1 });
		};
		this.element.addEventListener("pointermove", move);
		this.element.addEventListener("pointerup", end);
		this.element.addEventListener("pointercancel", end);
	}
	/** The rows of two lines and of those between them; null: of one line, or of none. */
	rowsBetween(first, last) {
		const { rows } = this.graph, to = last < 0 ? rows.lines.length - 1 : last;
		if (first < 0 || first === to) return null;
		return new Set(rows.lines.slice(Math.min(first, to), Math.max(first, to) + 1).flatMap((line) => rows.idsOf(line)));
	}
	click(x, y) {
		if (y < 34) {
			this.graph.view.set({ selection: null });
			return;
		}
		const { row, line, time } = this.graph.at(x, y);
		const step = this.step(row, time);
		if (step !== void 0) {
			this.graph.view.set({
				row: step.row,
				selection: this.onShown(step)
			});
			return;
		}
		if (line !== null && counterOf(line.id) !== null) return;
		if (line !== null && line.row === null && (row === null || line.isOverlaid !== true)) {
			this.graph.rows.toggle(line.id);
			return;
		}
		if (row === null) {
			this.graph.view.set({
				row: null,
				selection: null
			});
			return;
		}
		if (line.row?.kind === "host" || line.row?.kind === "process") {
			this.graph.view.set({
				row: line.id,
				selection: null
			});
			return;
		}
		this.inspector.select(row, time);
	}
	/** The step of the critical path that is drawn in one of its rows. */
	step(row, time) {
		const it = row === null ? void 0 : pathRow(this.graph.view.now.path, row);
		return it === void 0 ? void 0 : stepAt$1(it, time - this.graph.clock.convert(it.host, "common"));
	}
	onShown({ host, begin, end }) {
		const moved = this.graph.clock.convert(host, "common");
		return {
			begin: begin + moved,
			end: end + moved
		};
	}
	edgeAt(x) {
		const { selection } = this.graph.view.now, scene = this.graph.scene();
		if (selection === null) return null;
		const x0 = scene.x(selection.begin), x1 = scene.x(selection.end);
		if (x1 - x0 < 15) return null;
		return Math.abs(x - x0) <= EDGE$2 ? "begin" : Math.abs(x - x1) <= EDGE$2 ? "end" : null;
	}
	hover(event) {
		const [x, y] = this.place(event), { row, line, time } = this.graph.at(x, y);
		this.graph.view.set({ hover: time });
		this.element.style.cursor = this.edgeAt(x) !== null ? "ew-resize" : "";
		if (y < 34 || line === null) {
			this.tooltip.hide();
			return;
		}
		const arrow = this.arrowAt(x, y);
		const step = this.step(row, time);
		if (step !== void 0) this.tooltip.step(step, time, event.clientX, event.clientY);
		else if (arrow !== null) this.tooltip.message(arrow.message, event.clientX, event.clientY);
		else if (row !== null && row >= 0) this.tooltip.state(row, time, event.clientX, event.clientY);
		else if (counterOf(line.id) !== null) this.tooltip.counter(line, time, event.clientX, event.clientY);
		else this.tooltip.hide();
	}
	arrowAt(x, y) {
		let nearest = null, least = NEAR_ARROW;
		for (const arrow of this.graph.arrows.seen(this.graph.scene()).arrows) {
			const dx = arrow.x1 - arrow.x0, dy = arrow.y1 - arrow.y0, along = ((x - arrow.x0) * dx + (y - arrow.y0) * dy) / (dx * dx + dy * dy);
			if (along < .03 || along > .97) continue;
			const distance = Math.abs((x - arrow.x0) * dy - (y - arrow.y0) * dx) / Math.hypot(dx, dy);
			if (distance < least) {
				least = distance;
				nearest = arrow;
			}
		}
		return nearest;
	}
};
// src/renewal.ts
/** A row by what it is of. Several can be of one name: threads of one number, one after the other. */
function keysOf(experiment, rows) {
	const keys = /* @__PURE__ */ new Map(), counts = /* @__PURE__ */ new Map();
	for (const row of rows) {
		const host = experiment.hosts[row.host]?.name ?? "", numbers = [
			row.cpu,
			row.pid,
			row.tid
		];
		const name = numbers.every((number) => number === void 0) ? row.label : "";
		const key = [
			host,
			row.kind,
			...numbers,
			row.container,
			name
		].join("\0"), count = counts.get(key) ?? 0;
		counts.set(key, count + 1);
		keys.set(`${key}\0${count}`, row.id);
	}
	return keys;
}
function renewal(before, after) {
	const now = keysOf(after.experiment, after.rows), ids = /* @__PURE__ */ new Map();
	for (const [key, id] of keysOf(before.experiment, before.rows)) {
		const there = now.get(key);
		if (there !== void 0) ids.set(id, there);
	}
	const hosts = before.experiment.hosts.map(({ name }) => after.experiment.hosts.findIndex((host) => host.name === name));
	const shift = Number(BigInt(before.experiment.origin_unix_ns ?? 0) - BigInt(after.experiment.origin_unix_ns ?? 0));
	const time = (at) => at + shift;
	return {
		shift,
		time,
		row: (id) => ids.get(id) ?? null,
		host: (host) => {
			const there = hosts[host] ?? -1;
			return there < 0 ? null : there;
		},
		range: ({ begin, end }) => ({
			begin: time(begin),
			end: time(end)
		})
	};
}
// src/growth.ts
/** How often it is asked whether there is more. */
var ASK_MS = 1e3;
/** A window that ends in this last part of itself before the end follows the end. */
var NEAR$1 = .05;
/** Corrections of clocks move the ends of a request by less than this from look to look. */
var SAME_NS = 1e6;
/** Where a window is when what it is of ends later: all of it stays all (null), the end stays the end, all else stays. */
function followed(window, bounds, end) {
	const span = window.end - window.begin, isAtEnd = window.end >= bounds.end - NEAR$1 * span;
	if (isAtEnd && window.begin <= bounds.begin + NEAR$1 * span) return null;
	const by = isAtEnd ? end - bounds.end : 0;
	return {
		begin: window.begin + by,
		end: window.end + by
	};
}
var Growth = class {
	view;
	navigation;
	parts;
	after;
	other;
	isAsking = false;
	timer = 0;
	/** `parts` are renewed before the view is, `after` has to do when it was; `other`: the server has other traces. */
	constructor(view, navigation, parts, after, other) {
		this.view = view;
		this.navigation = navigation;
		this.parts = parts;
		this.after = after;
		this.other = other;
	}
	/** Nothing is being asked for or renewed. */
	get isIdle() {
		return !this.isAsking;
	}
	/** Follows the traces that are shown. */
	start(shown) {
		expected.store = shown.store;
		expected.other = () => void this.look();
		if (shown.grows) this.askLater();
	}
	askLater() {
		clearTimeout(this.timer);
		this.timer = window.setTimeout(() => void this.look(), ASK_MS);
	}
	/** Whether there is another look at the traces, or there are other traces; then that is shown. */
	async look() {
		if (this.isAsking) return;
		this.isAsking = true;
		clearTimeout(this.timer);
		try {
			const shown = this.view.now.experiment, now = await api.experiment().catch(() => null);
			if (now !== null && now.stage.name === "ready" && now.hosts.length > 0) {
				if ((now.store !== shown.store || now.look !== shown.look) && (shown.grows || now.grows) && same(shown.traces, now.traces)) await this.renew(shown, now);
				else if (now.store !== shown.store) {
					this.other();
					return;
				}
			}
		} finally {
			this.isAsking = false;
		}
		if (this.view.now.experiment.grows) this.askLater();
	}
	async renew(shown, now) {
		expected.store = now.store;
		const answer = await api.rows().catch(() => null);
		if (answer === null) {
			expected.store = shown.store;
			return;
		}
		const { rows: before, clock, window, selection, isAbout, area, row, onlyRows, path } = this.view.now;
		const bounds = this.navigation.boundsOf(clock), here = this.navigation.window ?? window;
		const by = renewal({
			experiment: shown,
			rows: before
		}, {
			experiment: now,
			rows: answer
		});
		for (const part of this.parts) part.renew(by);
		const end = (clock === "own" ? now.own?.end : null) ?? now.end ?? bounds.end;
		const there = followed(by.range(here), by.range(bounds), end);
		const again = path === null ? null : await pathAgain(path, by);
		this.view.set({
			experiment: now,
			rows: answer,
			hover: null,
			path: again,
			area: area === null ? null : new Set([...area].flatMap((id) => by.row(id) ?? [])),
			selection: selection === null ? null : by.range(selection),
			isAbout,
			row: row === null ? null : by.row(row),
			onlyRows: onlyRows === null || again === null ? null : new Set([...onlyRows].flatMap((id) => by.row(id) ?? []))
		});
		this.view.set({ window: there ?? this.navigation.padded(this.navigation.boundsOf(clock)) });
		await this.after();
	}
};
/** The same path: of the thread, or of the request that has the same time now. */
async function pathAgain(path, by) {
	if ("row" in path.of) {
		const row = by.row(path.of.row);
		return row === null ? null : api.path({
			row,
			...by.range(path.of)
		}).catch(() => null);
	}
	const { begin, end } = by.range(path), requests = (await api.requests().catch(() => null))?.requests ?? [];
	const off = (it) => Math.abs(it.begin - begin) + Math.abs(it.end - end);
	const nearest = requests.reduce((best, it) => best === null || off(it) < off(best) ? it : best, null);
	if (nearest === null || off(nearest) > SAME_NS) return null;
	return api.path({ request: nearest.request }).catch(() => null);
}
function same(a, b) {
	return a.length === b.length && a.every((path, place) => path === b[place]);
}
// src/header.ts
var Header = class {
	view;
	clock;
	bookmarks;
	acts;
	name = h("span", { class: "experiment" });
	growth = h("span", {
		class: "growth",
		title: "The traces are still being recorded; what comes is shown as soon as it was looked at"
	}, "● recording");
	switch;
	count = h("span", {
		class: "inverted",
		role: "status",
		hidden: true
	});
	lost;
	only;
	/** What the counts are of, by the name of its store, and the counts as soon as they are there. */
	countedOf = null;
	messages = null;
	marks = h("div", { class: "items" });
	element;
	constructor(view, clock, search, bookmarks, acts) {
		this.view = view;
		this.clock = clock;
		this.bookmarks = bookmarks;
		this.acts = acts;
		this.switch = h("button", {
			type: "button",
			class: "clock-switch",
			role: "switch",
			"aria-checked": "true",
			title: "Own clocks or the common one (k)",
			onclick: () => clock.toggle()
		}, h("span", { class: "own" }, "own clocks"), h("span", {
			class: "knob",
			"aria-hidden": "true"
		}), h("span", { class: "common" }, "common clock"));
		this.only = button("rows of one request ×", "Show all rows again", () => acts.clearRows(), { class: "chip" });
		this.lost = button("", "What is missing of the traces, and when", () => acts.losses(), {
			class: "chip lost",
			hidden: true
		});
		this.element = h("header", { class: "header" }, h("h1", {}, "isochrone"), this.name, this.growth, this.switch, this.count, this.lost, h("span", { class: "room" }), this.only, search.element, button("requests", "Pick a request: its critical path", () => acts.requests()), this.bookmarkMenu(), this.exportMenu(), button("◐", "Light or dark", switchTheme, { class: "icon" }), button("?", "Keys, mouse, colours (?)", () => acts.help(), { class: "icon" }));
		const draw = () => this.draw();
		view.watch(draw, "experiment", "clock", "onlyRows", "path");
		clock.watch(draw);
		bookmarks.watch(() => this.drawMarks());
		this.draw();
		this.drawMarks();
	}
	/** Says what is lost; nothing, if there is no text. */
	tellLosses(text) {
		this.lost.textContent = text;
		this.lost.hidden = text === "";
	}
	draw() {
		const { experiment, clock, onlyRows, path } = this.view.now;
		document.title = experiment === null ? "isochrone" : `${experiment.name} – isochrone`;
		this.name.textContent = experiment?.name ?? "";
		this.name.title = [...experiment?.traces ?? [], ...experiment?.notes ?? []].join("\n");
		this.growth.hidden = experiment?.grows !== true;
		this.switch.setAttribute("aria-checked", String(clock === "common"));
		this.switch.disabled = (experiment?.hosts.length ?? 0) < 2;
		this.only.hidden = onlyRows === null;
		this.only.textContent = path === null ? "some rows only ×" : "rows of one request ×";
		this.countMessages((experiment?.hosts.length ?? 0) < 2 ? null : experiment?.store ?? null);
		const messages = this.messages;
		if (messages === null) return;
		this.count.hidden = messages.count === 0;
		const [now, before] = clock === "own" ? [messages.inverted_own, messages.inverted] : [messages.inverted, messages.inverted_own];
		const inverted = Math.round(now + (before - now) * this.clock.left);
		this.count.textContent = `${formatCount(inverted)} of ${formatCount(messages.count)} messages arrive before they were sent`;
		this.count.classList.toggle("bad", inverted > 0);
	}
	/** Asks for the counts of what is shown now, once. */
	countMessages(of) {
		if (of === this.countedOf) return;
		this.countedOf = of;
		this.messages = null;
		this.count.hidden = true;
		if (of === null) return;
		api.messageCounts().then((counts) => {
			if (of !== this.countedOf) return;
			this.messages = counts;
			this.draw();
		}, (error) => {
			if (of !== this.countedOf) return;
			this.count.textContent = `messages: ${error.message}`;
			this.count.classList.add("bad");
			this.count.hidden = false;
		});
	}
	bookmarkMenu() {
		return menu("bookmarks", "Bookmarks", [button("Bookmark this place (b)", "Bookmark this place", () => this.acts.bookmark()), this.marks]);
	}
	exportMenu() {
		return menu("export", "Export what is seen", [
			button("as PNG (pixels)", "Export as PNG", () => this.acts.exportPng()),
			button("as SVG (vectors)", "Export as SVG", () => this.acts.exportSvg()),
			button("copy the link to this view", "Copy the link", () => void navigator.clipboard?.writeText(location.href))
		]);
	}
	drawMarks() {
		this.marks.replaceChildren(...this.bookmarks.list.map((mark) => {
			const name = h("input", {
				value: mark.name,
				"aria-label": "Name of the bookmark",
				onchange: () => this.bookmarks.rename(mark, name.value)
			});
			return h("div", { class: "mark" }, name, button("→", `Go to ${mark.name}`, () => this.acts.goTo(mark)), button("×", `Remove ${mark.name}`, () => this.bookmarks.remove(mark)));
		}));
	}
};
/** A button that opens a list; it closes when something else is used. */
function menu(text, title, items) {
	const details = h("details", { class: "menu" }, h("summary", { title }, `${text} ▾`), h("div", { class: "items" }, ...items));
	addEventListener("pointerdown", (event) => {
		if (!details.contains(event.target)) details.open = false;
	});
	details.addEventListener("keydown", (event) => {
		if (event.key !== "Escape") return;
		details.open = false;
		details.querySelector("summary")?.focus();
		event.stopPropagation();
	});
	return details;
}
// src/keys.ts
/** A key as it is written in the list: "Z" has the shift key in it, "Shift+ArrowUp" says so, "Ctrl+k" is with Ctrl or ⌘. */
function keyOf$1(event) {
	if (event.ctrlKey || event.metaKey) return `Ctrl+${event.key.toLowerCase()}`;
	return event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : event.key;
}
function listen(commands) {
	const byKey = new Map(commands.flatMap((command) => command.keys.map((key) => [key, command])));
	addEventListener("keydown", (event) => {
		if (event.altKey || event.defaultPrevented) return;
		const target = event.target, command = byKey.get(keyOf$1(event));
		if (command === void 0 || target.closest("dialog") !== null) return;
		if (!event.ctrlKey && !event.metaKey && target.matches("input, textarea, select, [contenteditable]")) return;
		if (["Enter", " "].includes(event.key) && target.closest("button, a, summary, [role=tab]") !== null) return;
		if (event.key.startsWith("Arrow") && target.closest(".drawer-body, dialog, .menu") !== null) return;
		event.preventDefault();
		command.run();
	});
}
/** A key as people write it. */
function keyText(key) {
	for (const with_ of ["Shift+", "Ctrl+"]) if (key.startsWith(with_) && key !== with_) return `${with_}${keyText(key.slice(with_.length)).toUpperCase()}`;
	return {
		ArrowLeft: "←",
		ArrowRight: "→",
		ArrowUp: "↑",
		ArrowDown: "↓",
		Escape: "Esc",
		" ": "Space",
		PageUp: "Page ↑",
		PageDown: "Page ↓"
	}[key] ?? (/^[A-Z]$/.test(key) ? `Shift+${key}` : key);
}
/** The commands that a text means, those that begin with it first: all of its words are in the name, the group, or the keys. */
function commandsFor(text, commands) {
	const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
	return commands.flatMap((command) => {
		const name = command.description.toLowerCase(), all = `${command.group} ${command.description} ${command.keys.map(keyText).join(" ")}`.toLowerCase();
		if (!words.every((word) => all.includes(word))) return [];
		const first = words[0] ?? "";
		return [{
			command,
			rank: name.startsWith(first) ? 0 : name.split(/\W+/).some((word) => word.startsWith(first)) ? 1 : 2
		}];
	}).sort((a, b) => a.rank - b.rank).map(({ command }) => command);
}
// src/panels/stack.ts
/** Parts side by side; `scale`: how much of the width the whole takes. Its text says the same. */
function stack(parts, scale = 1) {
	const seen = parts.filter((part) => part.share > 0);
	const bar = h("span", {
		class: "stack",
		role: "img",
		"aria-label": seen.map((part) => `${part.name} ${part.text}`).join(", ")
	});
	for (const part of seen) {
		const it = h("span", { title: `${part.name}: ${part.text}` });
		it.style.width = `${part.share * scale * 100}%`;
		it.style.background = part.colour;
		bar.append(it);
	}
	return bar;
}
/** A square of a colour, with a name. */
function swatch(colour, name) {
	const square = h("span", {
		class: "swatch",
		"aria-hidden": "true"
	});
	square.style.background = colour;
	return h("span", { class: "named" }, square, name);
}
// src/help.ts
var GESTURES = [
	["wheel", "scroll rows"],
	["Ctrl or ⌘ + wheel", "zoom at the pointer"],
	["Shift + wheel, or sideways", "pan"],
	["drag", "select time: from the axis or along one row, of all rows; across rows, of these; its edges can be dragged"],
	["middle button or Shift + drag", "pan"],
	["click", "select row and state"],
	["Ctrl or Shift + click", "on a second request: compare it with the one that is shown (Ctrl + Enter); on a line about two ends: go to the other one"],
	["double click", "zoom to the state"],
	["minimap", "drag the lens, its edges, or a new window; double click: all"]
];
var SEARCH = [
	["wget h1", "rows with all these words in their names"],
	["host:h1 pid:199 tid:216", "by host, process, thread"],
	["kind:cpu", "host, cpu, disk, phase, process, thread"],
	["state:blocked", "rows in that state within the window"],
	["duration > 10ms && state == blocked", "rows with such states, the others pale: state, label, duration, host, process, comm, kind, pid, tid, cpu; == != < > contains matches && || ! ( )"],
	["/kworker\\/[01]/", "a regular expression"]
];
var Help = class {
	commands;
	phases;
	element = h("dialog", {
		class: "help",
		"aria-label": "Help"
	});
	constructor(commands, phases) {
		this.commands = commands;
		this.phases = phases;
		this.element.addEventListener("click", (event) => {
			if (event.target === this.element) this.element.close();
		});
	}
	toggle() {
		if (this.element.open) {
			this.element.close();
			return;
		}
		const groups = /* @__PURE__ */ new Map();
		for (const { keys, description, group } of this.commands) if (keys.length > 0) groups.set(group, [...groups.get(group) ?? [], [keys.map(keyText).join("  "), description]]);
		groups.set("Mouse", [...GESTURES]);
		groups.set("Search", [...SEARCH]);
		const lists = [...groups].map(([title, pairs]) => h("section", {}, h("h3", {}, title), definitions(pairs)));
		const colours = h("ul", { class: "legend" }, ...LOOKS.map((look, style) => h("li", {}, swatch(stateColour(style), look.name))), ...this.phases());
		const close = button("×", "Close", () => this.element.close(), {
			class: "close",
			autofocus: true
		});
		this.element.replaceChildren(h("header", {}, h("h2", {}, "Keys, mouse, colours"), close), h("div", { class: "columns" }, ...lists, h("section", {}, h("h3", {}, "Colours"), colours, messages()), h("section", {}, h("h3", {}, "Causes of a critical path"), causes())));
		this.element.showModal();
	}
};
function causes() {
	return h("ul", { class: "legend" }, ...causeNames.map((cause) => h("li", {}, swatch(causeColour(cause), causeWord(cause)))));
}
function messages() {
	return h("p", {}, "Arrows are messages between hosts; those of MPI programs are blue-green, within hosts too. The bar at their end is what the clocks leave open: surely within the light one, likely within the dark one. Red: received before it was sent.");
}
function definitions(pairs) {
	const list = h("dl");
	for (const [key, text] of pairs) list.append(h("dt", {}, ...key.split("  ").flatMap((it, place) => [place > 0 ? " " : null, h("kbd", {}, it)])), h("dd", {}, text));
	return list;
}
// src/inspector.ts
/** A state that is shown takes this share of the window at most, else the window grows. */
var ZOOMED_SHARE = .6;
var Inspector = class {
	view;
	rows;
	graph;
	navigation;
	clock;
	status;
	openPath;
	asked = 0;
	/** Looks for a critical path. */
	finding = null;
	constructor(view, rows, graph, navigation, clock, status, openPath) {
		this.view = view;
		this.rows = rows;
		this.graph = graph;
		this.navigation = navigation;
		this.clock = clock;
		this.status = status;
		this.openPath = openPath;
	}
	/** Nothing is asked for. */
	get isIdle() {
		return this.asked === 0;
	}
	/** Selects the state of a row at an instant: what is known here at once, the exact one when the server has told it. */
	async select(row, at) {
		const here = this.graph.stateAt(row, at);
		const guess = here === null ? null : {
			begin: here.begin,
			end: here.end
		};
		this.view.set({
			row,
			selection: guess,
			isAbout: guess !== null
		});
		const state = await this.ask(() => api.state(row, at, this.view.now.clock), false);
		if (state === null || this.view.now.row !== row || this.view.now.selection !== guess) return state;
		this.take(state);
		return state;
	}
	async zoomTo(row, at) {
		const state = await this.select(row, at);
		if (state !== null) this.navigation.show(state);
	}
	async step(to) {
		const { row, selection, clock } = this.view.now;
		if (row === null) {
			this.status.say("Select a row first.");
			return;
		}
		const at = selection === null ? this.middle() : (selection.begin + selection.end) / 2;
		const state = await this.ask(() => selection === null ? api.state(row, at, clock) : api.step(row, at, to, clock));
		if (state === null) return;
		this.take(state);
		this.see(state.begin, state.end);
	}
	async follow(what) {
		const { row, selection, clock } = this.view.now;
		if (row === null) {
			this.status.say("Select a row first.");
			return;
		}
		const at = selection === null ? this.middle() : (selection.begin + selection.end) / 2;
		const end = await this.ask(() => api.follow(row, at, what, clock));
		if (end === null) return;
		this.navigation.go(end.row, end.at);
		await this.select(end.row, end.at);
		this.status.say(`${this.name(end.row)}: ${end.text}`);
	}
	/** The critical path of the selected thread over the selected time. */
	async path() {
		const { begin, end } = this.view.range, it = this.rows.row(this.view.now.row);
		if (it?.kind !== "thread") {
			this.status.say("Select a thread, and a time if you like, first.");
			return;
		}
		const moved = -this.clock.convert(it.host, "common");
		this.status.say("Looking for the critical path … (Esc stops)");
		this.finding?.abort();
		const finding = this.finding = new AbortController();
		const path = await this.ask(() => api.path({
			row: it.id,
			begin: Math.round(begin + moved),
			end: Math.round(end + moved)
		}, null, finding.signal));
		if (this.finding === finding) this.finding = null;
		if (path === null || finding.signal.aborted) return;
		this.view.set({ path });
		this.openPath();
		this.status.say(`Critical path of ${this.rows.fullName(it)}: ${path.steps.length} steps, ${formatDuration(path.end - path.begin)}`);
	}
	/** Gives up what is looked for; false: nothing is. */
	stop() {
		const { finding } = this;
		this.finding = null;
		finding?.abort();
		return finding !== null;
	}
	name(row) {
		const it = this.rows.row(row);
		return it === void 0 ? "" : this.rows.fullName(it);
	}
	middle() {
		const { begin, end } = this.view.now.window;
		return (begin + end) / 2;
	}
	take(state) {
		this.view.set({
			row: state.row,
			selection: {
				begin: state.begin,
				end: state.end
			}
		});
		const call = state.fields.find(([name]) => name === "call")?.[1];
		this.status.say(`${this.name(state.row)}: ${call ?? state.state ?? look(state.style).name}, ${formatDuration(state.end - state.begin)}`);
	}
	/** Moves the window no further than needed to see a range. */
	see(begin, end) {
		const { window } = this.view.now, span = window.end - window.begin, room = span * .05;
		if (end - begin > span * ZOOMED_SHARE) {
			if (begin < window.begin || end > window.end) this.navigation.show({
				begin,
				end
			});
		} else if (begin < window.begin + room) this.navigation.pan(begin - window.begin - span * .2, "glide");
		else if (end > window.end - room) this.navigation.pan(end - window.end + span * .2, "glide");
		const place = this.rows.placeOf(this.view.now.row ?? -1);
		if (place !== void 0) this.graph.layout.see(place);
	}
	/** null if there is none; why, in the status line. */
	async ask(request, tells = true) {
		this.asked += 1;
		try {
			return await request();
		} catch (error) {
			if (tells && error instanceof ApiError) this.status.say(error.message, error.status !== 404);
			return null;
		} finally {
			this.asked -= 1;
		}
	}
};
// src/legend.ts
var KEPT$3 = "isochrone.legend";
/** Styles that are seen most, of threads first; dead ones are not drawn, phases have a line of their own. */
var SHOWN = [
	1,
	2,
	8,
	4,
	5,
	3,
	0,
	9,
	10,
	11,
	12,
	13
];
/** Names of phases; more do not fit. */
var MOST$3 = 16;
var Legend = class {
	list = h("ul", { "aria-label": "Colours of states" });
	watchers = /* @__PURE__ */ new Set();
	phaseList = h("ul", {
		"aria-label": "Colours of phases",
		hidden: true
	});
	element = h("section", {
		class: "state-legend",
		"aria-label": "Legend"
	}, this.list, this.phaseList);
	phases = [];
	constructor() {
		this.element.hidden = localStorage.getItem(KEPT$3) === "off";
		watchTheme(() => this.draw());
		this.draw();
	}
	watch(watcher) {
		this.watchers.add(watcher);
	}
	get isShown() {
		return !this.element.hidden;
	}
	toggle() {
		this.give(!this.isShown);
		localStorage.setItem(KEPT$3, this.isShown ? "on" : "off");
	}
	/** Shows it, or not, as an address asks for; what a reader chose for other pages stays that. */
	give(isShown) {
		if (isShown === null) return;
		this.element.hidden = !isShown;
		for (const watcher of this.watchers) watcher();
	}
	/** Names of phases and calls of MPI whose rows are shown. */
	name(phases) {
		this.phases = phases;
		this.draw();
	}
	/** Each phase that is named, with its colour. */
	phaseSwatches() {
		return this.phases.map((name) => h("li", {}, swatch(stateColour(paintStyle(14, name)), name)));
	}
	draw() {
		this.list.replaceChildren(...SHOWN.map((style) => h("li", {}, swatch(stateColour(style), LOOKS[style].name))));
		const named = this.phaseSwatches(), beyond = named.length - MOST$3;
		this.phaseList.replaceChildren(...named.slice(0, MOST$3), ...beyond > 0 ? [h("li", {}, `… ${beyond} more: ?`)] : []);
		this.phaseList.hidden = named.length === 0;
	}
};
// src/minimap.ts
var BINS = 1e3;
var USE_POINTS = 500;
/** How near to the edge of the lens the pointer has to be to take it. */
var EDGE$1 = 6;
/** Lanes of this height have the names of their hosts; lower ones only under the pointer. */
var NAMED$1 = 9;
var Minimap = class {
	view;
	navigation;
	clock;
	status;
	canvas = h("canvas", {
		class: "minimap-canvas",
		role: "img",
		"aria-label": "All hosts over the whole time; the window is marked"
	});
	/** The host under the pointer, and how busy it was. */
	under = h("span", {
		class: "minimap-host",
		hidden: true
	});
	element = h("section", {
		class: "minimap",
		"aria-label": "Overview"
	}, this.canvas, this.under);
	overview = null;
	frame = 0;
	/** The hosts' bytes, losses and breaks, drawn once for a size, a clock and a theme; and which. */
	hosts = h("canvas");
	drawn = "";
	/** CPU use in percent of all CPUs, by host, once it is known. */
	use = /* @__PURE__ */ new Map();
	uses = 0;
	constructor(view, navigation, clock, status) {
		this.view = view;
		this.navigation = navigation;
		this.clock = clock;
		this.status = status;
		const again = () => this.invalidate();
		view.watch(again, "window", "clock", "selection", "hover", "experiment", "path", "marks");
		clock.watch(again);
		watchTheme(again);
		new ResizeObserver(() => this.draw()).observe(this.canvas);
		this.canvas.addEventListener("pointerdown", (event) => this.down(event));
		this.canvas.addEventListener("pointermove", (event) => {
			if (event.buttons === 0) this.hover(event);
		});
		this.canvas.addEventListener("pointerleave", () => {
			this.status.show("");
			this.under.hidden = true;
			this.view.set({ hover: null });
		});
		this.canvas.addEventListener("dblclick", () => this.navigation.fit());
		this.canvas.addEventListener("wheel", (event) => {
			event.preventDefault();
			this.navigation.zoom(Math.exp(event.deltaY * .0022), this.time(this.x(event)));
		}, { passive: false });
	}
	async load() {
		this.overview = await api.overview(BINS).catch(() => this.overview);
		this.overview?.hosts.sort((a, b) => names$2.compare(a.name, b.name));
		this.element.style.setProperty("--lanes", String(Math.max(3, this.overview?.hosts.length ?? 1)));
		this.invalidate();
	}
	/** Asks how busy the CPUs were: that takes a while, and is drawn when it is there. */
	async loadUse() {
		const { begin, end } = this.navigation.boundsOf("common"), answer = await api.usage(begin, end, USE_POINTS).catch(() => null);
		this.use.clear();
		for (const series of answer?.series ?? []) if (series.kind === "cpu") this.use.set(series.host, series);
		this.uses += 1;
		this.invalidate();
	}
	/** Draws again with the next frame. */
	invalidate() {
		if (this.frame === 0) this.frame = requestAnimationFrame(() => {
			this.frame = 0;
			this.draw();
		});
	}
	get isReady() {
		return this.view.now.rows.length > 0;
	}
	get span() {
		const it = this.overview;
		return this.isReady || it === null ? this.navigation.padded(this.navigation.bounds) : {
			begin: it.begin,
			end: it.end
		};
	}
	x(event) {
		return event.clientX - this.canvas.getBoundingClientRect().left;
	}
	time(x) {
		const { begin, end } = this.span;
		return begin + x / this.canvas.clientWidth * (end - begin);
	}
	at(t) {
		const { begin, end } = this.span;
		return (t - begin) / (end - begin) * this.canvas.clientWidth;
	}
	draw() {
		const ratio = devicePixelRatio, width = this.canvas.clientWidth, height = this.canvas.clientHeight, it = this.overview;
		if (width === 0 || height === 0) return;
		for (const canvas of [this.canvas, this.hosts]) {
			if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
			if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
		}
		const key = [
			width,
			height,
			ratio,
			this.view.now.clock,
			this.clock.left,
			isDark(),
			this.isReady,
			it?.begin,
			it?.end,
			this.uses
		].join();
		if (key !== this.drawn || !this.isReady) this.drawHosts(width, height, ratio);
		this.drawn = key;
		const ctx = this.canvas.getContext("2d");
		ctx.setTransform(1, 0, 0, 1, 0, 0);
		ctx.drawImage(this.hosts, 0, 0);
		ctx.scale(ratio, ratio);
		if (this.isReady) this.lens(ctx, width, height);
	}
	drawHosts(width, height, ratio) {
		const ctx = this.hosts.getContext("2d"), it = this.overview;
		ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
		ctx.fillStyle = css(ink().background);
		ctx.fillRect(0, 0, width, height);
		if (it === null) return;
		const lane = height / Math.max(it.hosts.length, 1);
		it.hosts.forEach((host, place) => this.lane(ctx, it, host.host, host.bytes, place * lane, lane, lane >= NAMED$1 ? host.name : ""));
	}
	lane(ctx, it, host, bytes, top, height, name) {
		const colours = ink(), moved = this.isReady ? this.clock.convert(host, "common") + this.clock.offset(host) : 0, most = Math.max(...bytes, 1);
		const bin = (it.end - it.begin) / bytes.length, wide = Math.max(1, this.at(bin) - this.at(0) + .5);
		const gap = Math.min(1, height / 8), full = height - 2 * gap, foot = top + height - gap;
		ctx.fillStyle = colours.bytes;
		const use = this.use.get(host);
		if (use === void 0) bytes.forEach((count, place) => {
			const high = Math.sqrt(count / most) * full;
			if (high > 0) ctx.fillRect(this.at(it.begin + place * bin + moved), foot - high, wide, high);
		});
		else use.x.forEach((from, place) => {
			const x = this.at(from + moved), to = this.at((use.x[place + 1] ?? from + (from - (use.x[place - 1] ?? from))) + moved), high = Math.min(100, use.y[place] ?? 0) / 100 * full;
			if (high > 0) ctx.fillRect(x, foot - high, Math.max(1, to - x + .5), high);
		});
		ctx.strokeStyle = colours.loss;
		ctx.beginPath();
		for (const loss of it.losses) {
			if (loss.host !== host) continue;
			const x0 = this.at(loss.begin + moved), x1 = Math.max(this.at(loss.end + moved), x0 + 3);
			for (let x = x0; x < x1; x += 3) {
				ctx.moveTo(x, top + height - 1);
				ctx.lineTo(Math.min(x + 4, x1), top + 1);
			}
		}
		ctx.stroke();
		ctx.fillStyle = colours.mark;
		for (const it2 of it.breaks) {
			if (it2.host !== host && it2.host !== this.view.now.experiment?.hosts[host]?.name) continue;
			const x = this.at(it2.at + moved);
			ctx.beginPath();
			ctx.moveTo(x - 4, top);
			ctx.lineTo(x + 4, top);
			ctx.lineTo(x, top + Math.min(8, height));
			ctx.fill();
		}
		if (name === "") return;
		ctx.font = `${height > 11 ? 10 : NAMED$1}px system-ui, sans-serif`;
		ctx.textBaseline = "middle";
		ctx.strokeStyle = colours.halo;
		ctx.lineWidth = 3;
		ctx.strokeText(name, 4, top + Math.min(height / 2, 8));
		ctx.lineWidth = 1;
		ctx.fillStyle = colours.text;
		ctx.fillText(name, 4, top + Math.min(height / 2, 8));
	}
	lens(ctx, width, height) {
		const colours = ink(), { window, selection, hover, path, marks } = this.view.now, x0 = this.at(window.begin), x1 = Math.max(this.at(window.end), x0 + 2);
		for (const [range, colour] of [[selection, colours.selection], [path, colours.sure]]) {
			if (range === null) continue;
			ctx.fillStyle = colour;
			ctx.fillRect(this.at(range.begin), 0, Math.max(1, this.at(range.end) - this.at(range.begin)), height);
		}
		ctx.fillStyle = css(colours.background, .6);
		ctx.fillRect(0, 0, x0, height);
		ctx.fillRect(x1, 0, width - x1, height);
		ctx.strokeStyle = colours.edge;
		ctx.strokeRect(x0 + .5, .5, x1 - x0 - 1, height - 1);
		ctx.fillStyle = colours.edge;
		for (const x of [x0, x1]) ctx.fillRect(x - 1.5, height / 2 - 8, 3, 16);
		if (hover !== null) ctx.fillRect(this.at(hover), 0, 1, height);
		ctx.fillStyle = colours.mark;
		for (const mark of marks ?? []) ctx.fillRect(Math.round(this.at(mark)) - 1, height - 5, 2, 5);
	}
	hover(event) {
		const x = this.x(event), { begin, end } = this.view.now.window, x0 = this.at(begin), x1 = this.at(end);
		this.canvas.style.cursor = Math.abs(x - x0) <= EDGE$1 || Math.abs(x - x1) <= EDGE$1 ? "ew-resize" : x > x0 && x < x1 ? "grab" : "crosshair";
		if (this.isReady) this.view.set({ hover: this.time(x) });
		this.tellHost(x, event.clientY - this.canvas.getBoundingClientRect().top);
	}
	/** Says which host is under the pointer, how busy it was then, and what is missing of it. */
	tellHost(x, y) {
		const it = this.overview, hosts = it?.hosts ?? [], host = hosts[Math.floor(y * hosts.length / this.canvas.clientHeight)];
		this.under.hidden = host === void 0;
		if (it === null || host === void 0) return;
		const at = this.time(x) + this.clock.back(host.host), use = this.use.get(host.host);
		this.under.textContent = use === void 0 ? host.name : `${host.name}: ${COUNTERS[0].label} ${counterText(COUNTERS[0], [use], at)}`;
		const left = x + 14 + this.under.offsetWidth > this.canvas.clientWidth ? x - 14 - this.under.offsetWidth : x + 14;
		this.under.style.transform = `translate(${left}px, ${Math.max(0, Math.min(y - 9, this.canvas.clientHeight - this.under.offsetHeight))}px)`;
		const room = this.time(2) - this.time(0), losses = lossesAt(it.losses, host.host, null, at, room);
		this.status.show(losses.length === 0 ? host.name : `${host.name}: ${losses.slice(0, 3).map((loss) => `${loss.cpu === null ? "" : `CPU ${loss.cpu}: `}${lossText(loss)}`).join("; ")}`);
	}
	down(event) {
		if (!this.isReady || event.button !== 0) return;
		this.canvas.setPointerCapture(event.pointerId);
		const from = this.x(event), { begin, end } = this.view.now.window, x0 = this.at(begin), x1 = this.at(end), start = this.time(from);
		const isBegin = Math.abs(from - x0) <= EDGE$1 && from < (x0 + x1) / 2, isEnd = !isBegin && Math.abs(from - x1) <= EDGE$1, isInside = from > x0 && from < x1;
		let isMoved = false;
		const move = (moved) => {
			if (!isMoved && Math.abs(this.x(moved) - from) < 3) return;
			isMoved = true;
			const now = this.time(this.x(moved));
			if (isBegin) this.navigation.set(ordered(now, end));
			else if (isEnd) this.navigation.set(ordered(begin, now));
			else if (isInside) this.navigation.set({
				begin: begin + now - start,
				end: end + now - start
			});
			else this.navigation.set(ordered(start, now));
		};
		const done = () => {
			this.canvas.removeEventListener("pointermove", move);
			if (!isMoved && !isInside) this.navigation.set({
				begin: start - (end - begin) / 2,
				end: start + (end - begin) / 2
			}, "glide");
		};
		this.canvas.addEventListener("pointermove", move);
		this.canvas.addEventListener("pointerup", done, { once: true });
	}
};
/** As the rows are. */
var names$2 = new Intl.Collator("en", { numeric: true });
function ordered(a, b) {
	return {
		begin: Math.min(a, b),
		end: Math.max(a, b)
	};
}
// src/palette.ts
var Palette = class {
	commands;
	input = h("input", {
		role: "combobox",
		"aria-expanded": "true",
		"aria-controls": "palette-list",
		"aria-autocomplete": "list",
		"aria-label": "Command",
		placeholder: "command",
		spellcheck: "false",
		autocomplete: "off"
	});
	list = h("ul", {
		id: "palette-list",
		role: "listbox",
		"aria-label": "Commands"
	});
	element = h("dialog", {
		class: "palette",
		"aria-label": "Commands"
	}, this.input, this.list);
	found = [];
	at = 0;
	constructor(commands) {
		this.commands = commands;
		this.input.addEventListener("input", () => this.look());
		this.input.addEventListener("keydown", (event) => this.key(event));
		this.list.addEventListener("click", (event) => {
			const place = event.target.closest("[data-at]")?.dataset.at;
			if (place !== void 0) this.run(Number(place));
		});
		this.element.addEventListener("click", (event) => {
			if (event.target === this.element) this.element.close();
		});
	}
	open() {
		if (this.element.open) {
			this.element.close();
			return;
		}
		this.input.value = "";
		this.element.showModal();
		this.look();
		this.input.focus();
	}
	look() {
		this.found = commandsFor(this.input.value, this.commands);
		this.list.replaceChildren(...this.found.map((command, place) => h("li", {
			role: "option",
			id: `command-${place}`,
			"data-at": place,
			"aria-selected": "false"
		}, h("span", { class: "muted" }, command.group), h("span", { class: "name" }, command.description), h("span", { class: "keys" }, ...command.keys.map((key) => h("kbd", {}, keyText(key)))))));
		if (this.found.length === 0) this.list.append(h("li", {
			role: "option",
			"aria-disabled": "true",
			"aria-selected": "false"
		}, "no command has these words"));
		this.choose(0);
	}
	choose(place) {
		this.list.children[this.at]?.setAttribute("aria-selected", "false");
		this.at = Math.max(0, Math.min(place, this.found.length - 1));
		const chosen = this.list.children[this.at];
		if (this.found.length === 0 || chosen === void 0) {
			this.input.removeAttribute("aria-activedescendant");
			return;
		}
		chosen.setAttribute("aria-selected", "true");
		chosen.scrollIntoView({ block: "nearest" });
		this.input.setAttribute("aria-activedescendant", chosen.id);
	}
	/** The palette is closed first: a command may open another dialog. */
	run(place) {
		const command = this.found[place];
		if (command === void 0) return;
		this.element.close();
		command.run();
	}
	key(event) {
		const by = {
			ArrowDown: 1,
			ArrowUp: -1,
			PageDown: 10,
			PageUp: -10
		}[event.key];
		if (by !== void 0) this.choose(this.at + by);
		else if (event.key === "Enter") this.run(this.at);
		else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") this.element.close();
		else return;
		event.preventDefault();
	}
};
// src/panels/cells.ts
var MINUS = "−";
/** A number with four significant digits: a rate, a share. */
function formatNumber(value) {
	const size = Math.abs(value), places = size === 0 || Number.isInteger(value) ? 0 : Math.max(0, Math.min(6, 3 - Math.floor(Math.log10(size))));
	return value.toFixed(places).replace("-", MINUS);
}
/** A cell as people read it. `–`: unknown. */
function cellText(value, unit, origin) {
	if (value === null) return "–";
	if (typeof value === "boolean") return value ? "yes" : "no";
	if (typeof value === "string") return value;
	switch (unit) {
		case "ns": return formatDuration(value);
		case "time": return formatTime(origin, value);
		case "bytes": return formatBytes(value);
		case "count": return Number.isInteger(value) ? formatCount(value) : formatNumber(value);
		case "percent": return `${formatNumber(Math.round(value * 100) / 100)} %`;
		case "none": return formatNumber(value);
	}
}
var names$1 = new Intl.Collator("en", { numeric: true });
/** Order of two values; what is unknown comes last, whichever way it is sorted. */
function compare(a, b, isDown) {
	if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
	const order = typeof a === "number" && typeof b === "number" ? a - b : names$1.compare(String(a), String(b));
	return isDown ? -order : order;
}
/** "cpu_ns" → "cpu": the unit is with the values. */
function columnTitle(name) {
	return name.replace(/_(ns|bytes|percent|count)$/, "").replace(/_/g, " ");
}
// src/panels/asking.ts
/** Quick answers need no word. */
var SLOW_MS = 250;
var AGAIN_MS = 400;
var asks = 0;
var own = Math.random().toString(36).slice(2);
/** "loading … 37 %"; without percent where it is not known. */
function progressText(progress) {
	if (progress === null || progress[1] <= 0) return "loading …";
	return `loading … ${Math.min(99, Math.floor(100 * progress[0] / progress[1]))} %`;
}
var Asking = class {
	giveUp;
	text = h("span", {
		class: "busy",
		role: "status"
	});
	stop = button("stop", "Give this answer up: the server stops working on it", () => this.giveUp(), {
		class: "stop",
		hidden: true
	});
	element = h("span", { class: "asking" }, this.text, this.stop);
	timer = 0;
	/** The name of the question that is asked now. */
	ask = "";
	constructor(giveUp) {
		this.giveUp = giveUp;
	}
	/** A question is asked, under a name that no other has. */
	begin() {
		this.end();
		this.ask = `${own}-${asks += 1}`;
		this.timer = window.setTimeout(() => void this.tell(this.ask), SLOW_MS);
	}
	end() {
		clearTimeout(this.timer);
		this.timer = 0;
		this.say("");
		this.stop.hidden = true;
	}
	/** Says something else than how far it is. */
	say(text) {
		this.text.textContent = text;
	}
	async tell(ask) {
		if (this.text.textContent === "") this.say(progressText(null));
		this.stop.hidden = false;
		const progress = await api.progress(ask).catch(() => null);
		if (this.ask !== ask || this.timer === 0) return;
		this.say(progressText(progress));
		this.timer = window.setTimeout(() => void this.tell(ask), AGAIN_MS);
	}
};
// src/panels/panel.ts
var REST_MS$4 = 180;
/** Slower answers are not asked for again by themselves when the window moves. */
var QUICK_MS = 1500;
var REST_OF_QUICK_MS = 400;
var AskingPanel = class {
	id;
	title;
	view;
	navigator;
	keys;
	/** What it is about, at the left of the bar. */
	heading = h("span", { class: "about" });
	progress = new Asking(() => this.giveUp());
	command = new CommandText();
	/** Where a panel puts its own controls. */
	controls = h("span", { class: "controls" });
	body;
	element;
	isSeen = false;
	/** How long the last answer took, ms; and since when the next one is waited for. */
	took = 0;
	since = 0;
	/** What is seen is of another time than what is asked for now. */
	isStale = false;
	again = button("the range is another: ask again", "Ask for the answer of the time of now", () => this.release(), { hidden: true });
	/** What the panel is about, and that of then where it stays with it: what is clicked in a panel moves the page, and does not change what the panel is about. */
	covered = null;
	held = null;
	/** A click in the panel is being followed; the window to which the last one led, and the one that was shown before the first one. */
	isGoing = false;
	led = null;
	stayed = null;
	/** No request is pending or scheduled. */
	get isIdle() {
		return this.timer === 0 && this.asking === null && this.works === 0;
	}
	/** Done when what was asked for last is there. */
	loaded = Promise.resolve();
	stops = [];
	timer = 0;
	works = 0;
	asking = null;
	constructor(id, title, view, navigator, keys) {
		this.id = id;
		this.title = title;
		this.view = view;
		this.navigator = navigator;
		this.keys = keys;
		this.body = h("div", { class: "panel-body" });
		this.element = h("section", {
			class: `panel ${id}`,
			"aria-label": title
		}, h("h2", { class: "heard" }, title), h("div", { class: "panel-bar" }, this.heading, this.controls, this.again, this.progress.element, this.command.element), this.body);
	}
	tellsKept = () => void 0;
	watchKept(watcher) {
		this.tellsKept = watcher;
	}
	/** What was chosen in the panel is another now. */
	tellKept() {
		this.tellsKept();
	}
	show() {
		this.isSeen = true;
		if (this.keys.length > 0) this.stops.push(this.view.watch((now, changed) => this.changed(now, changed), ...this.keys));
		this.stops.push(this.view.watch(() => {
			if (this.held !== null) this.release();
		}, "chosen"), this.view.watch(() => this.renewed(), "times"), watchTheme(() => this.themed()), this.view.watch(() => this.renewed(), "experiment"));
		this.shown();
		this.ask();
	}
	hide() {
		this.isSeen = false;
		for (const stop of this.stops) stop();
		this.stops = [];
		clearTimeout(this.timer);
		this.timer = 0;
		this.asking?.abort();
		this.asking = null;
		this.progress.end();
		this.held = this.covered = this.led = null;
		this.forget();
	}
	/** Something that the panel watches is another now. */
	changed(_now, _changed) {
		this.askSoon();
	}
	/** The traces have grown: rows and times may have other numbers. */
	renewed() {
		this.letGo();
		this.askSoon();
	}
	themed() {}
	shown() {}
	watchWhileSeen(stop) {
		this.stops.push(stop);
	}
	/** Stays with the time of now, wherever the page goes, until a time is selected by hand, or it is asked to follow. */
	hold() {
		this.held = this.covered;
	}
	get isHeld() {
		return this.held !== null;
	}
	/** Goes where a click leads, and stays with the time of now. */
	goAndStay(act) {
		this.stayed = this.timesShown();
		this.hold();
		this.isGoing = true;
		try {
			act();
		} finally {
			this.isGoing = false;
		}
		this.led = this.navigator.window;
	}
	/** What is another now is so because of a click in the panel; of the window: it is where that led, or on the way there. */
	get isLed() {
		const { led } = this, { window } = this.navigator;
		return this.isGoing || led !== null && led.begin === window.begin && led.end === window.end;
	}
	/** What pictures in the panel show: the window of the time graph, but where a click in the panel led there. */
	timesShown = () => (this.isHeld ? this.stayed : null) ?? this.view.now.window;
	/** Goes with the page again, from now on. */
	letGo() {
		this.held = this.led = null;
	}
	release() {
		this.letGo();
		this.ask();
	}
	/** Asks when what it is about has changed; while it stays with a time, that is only offered. */
	askSoon(rest = REST_MS$4) {
		if (this.held === null) this.askAgain(rest);
		else this.again.hidden = false;
	}
	/** Asks when nothing has changed for a moment. What was asked for before is no longer wanted. */
	askAgain(rest) {
		this.asking?.abort();
		this.asking = null;
		clearTimeout(this.timer);
		this.timer = window.setTimeout(() => void this.ask(), rest);
	}
	/** The same, or offers to, where the last answer took long: the server goes on with what it was asked for before. */
	askWhenQuick() {
		if (this.held !== null) {
			this.again.hidden = false;
			return;
		}
		const pending = this.asking === null ? 0 : performance.now() - this.since;
		if (Math.max(this.took, pending) <= QUICK_MS) {
			this.askSoon(REST_OF_QUICK_MS);
			return;
		}
		this.isStale = true;
		this.again.hidden = false;
	}
	ask() {
		return this.loaded = this.answered();
	}
	async answered() {
		clearTimeout(this.timer);
		this.timer = 0;
		this.asking?.abort();
		const asking = this.asking = new AbortController();
		if (this.body.childElementCount === 0) this.body.replaceChildren(notice("loading", "Loading …"));
		this.progress.begin();
		this.element.setAttribute("aria-busy", "true");
		if (this.held === null) {
			this.isStale = false;
			this.again.hidden = true;
		}
		this.since = performance.now();
		try {
			await this.load(asking.signal);
			if (!asking.signal.aborted) this.took = performance.now() - this.since;
		} catch (error) {
			if (asking.signal.aborted || error instanceof DOMException && error.name === "AbortError") return;
			this.took = performance.now() - this.since;
			if (!(error instanceof ApiError)) throw error;
			this.failed(error);
		} finally {
			if (this.asking === asking) {
				this.asking = null;
				this.progress.end();
				this.element.removeAttribute("aria-busy");
			}
		}
	}
	/** Nobody waits for the answer any more; what was there before stays. */
	giveUp() {
		this.asking?.abort();
		this.asking = null;
		this.progress.end();
		this.element.removeAttribute("aria-busy");
		this.isStale = true;
		this.body.querySelector(".notice.loading")?.replaceWith(notice("empty", "Stopped", "Nothing is worked on any more.", button("ask again", "Ask the server again", () => void this.ask())));
		if (this.body.querySelector(".notice") === null) this.again.hidden = false;
	}
	/** Work that is not the panel's own question: what a click asks for. */
	async during(work) {
		this.works += 1;
		try {
			return await work;
		} finally {
			this.works -= 1;
		}
	}
	retry() {
		if (this.body.querySelector(".notice.failed") !== null) this.ask();
	}
	failed(error) {
		this.command.set("");
		this.body.replaceChildren(notice("failed", error.status === 503 ? "Not ready yet" : "The server has no answer", error.message, button("try again", "Ask the server again", () => void this.ask())));
	}
	/** Says what time the panel is about, and gives it. */
	showRange(scope = "range") {
		const covered = this.covered = this.held ?? panelRange(this.view, scope), { experiment, clock, isAbout } = this.view.now, origin = experiment?.origin_unix_ns ?? null, about = isAbout && covered.what === "selection" ? "≈ " : "";
		this.heading.textContent = `${covered.what} ${about}${formatDuration(covered.end - covered.begin)} from ${formatTime(origin, covered.begin, Math.min(9, placesFor((covered.end - covered.begin) / 1e3)))}${clock === "own" ? ", by the common clock" : ""}`;
		return covered;
	}
	get origin() {
		return this.view.now.experiment?.origin_unix_ns ?? null;
	}
};
// src/panels/columnsBeside.ts
var ColumnsBeside = class {
	table;
	heads;
	element = button("columns", "Scroll to the columns that are out of sight", () => this.turn(), {
		class: "columns-beside",
		hidden: true
	});
	constructor(table, heads) {
		this.table = table;
		this.heads = heads;
	}
	/** Says what is out of sight now. */
	tell() {
		const count = this.hidden.length, isCut = count > 0;
		this.table.classList.toggle("cut", isCut);
		this.element.hidden = !isCut && this.table.scrollLeft < 1;
		this.element.textContent = isCut ? `${count} more ${count === 1 ? "column" : "columns"} ▸` : "◂ first columns";
	}
	/** The columns right of what is seen. The first one always is. */
	get hidden() {
		const right = this.table.scrollLeft + this.table.clientWidth;
		return this.heads.slice(1).filter((head) => this.leftOf(head) + head.offsetWidth > right + 1);
	}
	/** Where a column is, from the left of all of them. */
	leftOf(head) {
		return head.getBoundingClientRect().left - this.table.getBoundingClientRect().left + this.table.scrollLeft;
	}
	turn() {
		const [next] = this.hidden, { clientWidth, scrollLeft } = this.table, first = this.heads[0].offsetWidth;
		if (next === void 0) {
			this.table.scrollTo({ left: 0 });
			return;
		}
		const left = this.leftOf(next) - first;
		this.table.scrollTo({ left: left > scrollLeft + 1 ? left : scrollLeft + clientWidth - first });
	}
};
// src/panels/orders.ts
var orders = {};
var version = 0;
var watchers = /* @__PURE__ */ new Set();
/** What a table is called, of its label: what a click does there is none of its name. */
function nameOfTable(label) {
	return label.split(": ")[0];
}
function orderOf(table) {
	return orders[table];
}
/** A reader sorts a table. */
function sorted(table, order) {
	orders = {
		...orders,
		[table]: order
	};
	for (const watcher of watchers) watcher();
}
/** The orders that readers chose; other ones are those of an address, which tables see by `ordersVersion`. */
function chosenOrders() {
	return orders;
}
function setOrders(asked) {
	if (JSON.stringify(asked) === JSON.stringify(orders)) return;
	orders = asked;
	version += 1;
	for (const table of document.querySelectorAll(".table")) table.dispatchEvent(new Event(REORDERED));
}
function ordersVersion() {
	return version;
}
/** Tables that are seen are told that the orders are others. */
var REORDERED = "reordered";
function watchOrders(watcher) {
	watchers.add(watcher);
}
// src/panels/table.ts
var ROW$2 = 21;
var SPARE = 10;
var SAMPLE = 400;
var NEAR_END = 60;
/** Of columns, in pixels. */
var MAX_WIDTH = 330;
var PADDING = 13;
var SIGN = 14;
var tables = 0;
var pen = document.createElement("canvas").getContext("2d");
function widthOf(text, isBold) {
	pen.font = `${isBold ? "600 " : ""}12px ${getComputedStyle(document.body).fontFamily}`;
	return pen.measureText(text).width;
}
var DataTable = class {
	options;
	rows = [];
	sorted = [];
	column = null;
	isDown = false;
	/** Of the orders that it has seen. */
	version = -1;
	active = -1;
	picked = null;
	frame = 0;
	isPressed = false;
	/** The row in which it was. */
	pressed = null;
	/** It would have been drawn anew while a button was pressed. */
	isDue = false;
	id = `table-${tables += 1}`;
	name;
	cols = h("colgroup");
	heads;
	tbody = h("tbody");
	table;
	element;
	beside;
	/** What copies the table; before that, where columns are out of sight, what shows them. */
	copy;
	constructor(options) {
		this.options = options;
		this.name = nameOfTable(options.label);
		this.takeOrder();
		this.heads = options.columns.map((column, place) => h("th", {
			scope: "col",
			class: isNumber(column) ? "number" : null,
			title: column.description ?? null
		}, h("button", {
			type: "button",
			onclick: () => this.sortBy(place)
		}, column.title)));
		const canPick = options.pick !== void 0;
		this.table = h("table", {
			"aria-label": options.label,
			role: canPick ? "grid" : null,
			tabindex: canPick ? 0 : null
		}, this.cols, h("thead", {}, h("tr", {}, ...this.heads)), this.tbody);
		this.element = h("div", {
			class: `table${canPick ? " pickable" : ""}`,
			tabindex: canPick ? null : 0
		}, this.table);
		this.beside = new ColumnsBeside(this.element, this.heads);
		this.copy = h("span", { class: "table-acts" }, this.beside.element, copyButton("copy", "Copy this table (tabs between the columns, exact numbers)", () => this.tsv()));
		this.element.addEventListener(REORDERED, () => this.draw());
		this.element.addEventListener("scroll", () => this.drawSoon(), { passive: true });
		this.element.addEventListener("keydown", (event) => this.key(event));
		const isBeside = (event) => options.beside !== void 0 && (event.ctrlKey || event.metaKey || event.shiftKey);
		this.tbody.addEventListener("mousedown", (event) => {
			if (isBeside(event)) event.preventDefault();
		});
		this.tbody.addEventListener("pointerdown", (event) => this.press(lineOf(event)));
		this.tbody.addEventListener("click", (event) => {
			if (isBeside(event)) this.use(event, options.beside);
			else if (getSelection()?.isCollapsed ?? true) this.use(event, options.pick);
		});
		this.tbody.addEventListener("dblclick", (event) => {
			if (!isBeside(event)) this.use(event, options.open);
		});
		new ResizeObserver(() => this.drawSoon()).observe(this.element);
	}
	get count() {
		return this.rows.length;
	}
	set(rows) {
		this.rows = rows;
		this.rearrange();
		this.measure();
		this.draw();
	}
	/** Makes a row the active one, and shows it. */
	activate(row) {
		this.active = row === null ? -1 : this.sorted.indexOf(row);
		if (this.active >= 0) this.see(this.active);
		this.draw();
	}
	/** The place of the active row in the order that is seen; −1 if there is none. */
	get place() {
		return this.active;
	}
	/** The active row. */
	get current() {
		return this.sorted[this.active];
	}
	/** Makes the next row the active one, or the one before; after the last comes the first. */
	step(by) {
		const count = this.sorted.length;
		if (count === 0) return void 0;
		this.activate(this.sorted[this.active < 0 ? by > 0 ? 0 : count - 1 : (this.active + by + count) % count]);
		return this.sorted[this.active];
	}
	redraw() {
		this.draw();
	}
	get first() {
		return this.sorted[0];
	}
	sortBy(place) {
		const column = this.options.columns[place];
		this.isDown = this.column === place ? !this.isDown : isNumber(column);
		this.column = place;
		sorted(this.name, {
			column: column.title,
			isDown: this.isDown
		});
		this.rearrange();
		this.element.scrollTop = 0;
		this.draw();
	}
	/** The order of the address, else its own; of a column that it does not have, its own. */
	takeOrder() {
		const order = orderOf(this.name), place = this.options.columns.findIndex((column) => column.title === order?.column);
		[this.column, this.isDown] = order !== void 0 && place >= 0 ? [place, order.isDown] : this.options.sort ?? [null, false];
		this.version = ordersVersion();
	}
	rearrange() {
		const kept = this.sorted[this.active];
		this.arrange();
		this.active = kept === void 0 ? -1 : this.sorted.indexOf(kept);
	}
	arrange() {
		const column = this.column === null ? void 0 : this.options.columns[this.column];
		this.sorted = column === void 0 ? this.rows : [...this.rows].sort((a, b) => Number(column.isLast?.(a) ?? false) - Number(column.isLast?.(b) ?? false) || compare(column.value(a), column.value(b), this.isDown));
		this.heads.forEach((head, place) => head.setAttribute("aria-sort", place === this.column ? this.isDown ? "descending" : "ascending" : "none"));
		this.table.setAttribute("aria-rowcount", String(this.rows.length + 1));
	}
	text(column, row) {
		return column.text?.(row) ?? cellText(column.value(row), column.unit ?? "none", this.options.origin());
	}
	/** Widths by the texts, so that nothing moves when other rows are seen. */
	measure() {
		const step = Math.max(1, Math.ceil(this.rows.length / SAMPLE));
		let all = 0;
		const grows = this.options.columns.map((column) => column.grow === true).lastIndexOf(true), widths = this.options.columns.map((column, place) => {
			let needed = column.width === void 0 ? 0 : widthOf("0".repeat(column.width), false);
			if (column.width === void 0) for (let at = 0; at < this.rows.length; at += step) needed = Math.max(needed, widthOf(this.text(column, this.rows[at]), false));
			const width = Math.ceil(Math.min(Math.max(needed, widthOf(column.title, true) + SIGN), MAX_WIDTH)) + PADDING;
			all += width;
			return place === grows ? "" : `${width}px`;
		});
		this.cols.replaceChildren(...widths.map((width) => {
			const col = h("col");
			col.style.width = width;
			return col;
		}));
		this.table.style.minWidth = `${all}px`;
	}
	drawSoon() {
		if (this.frame === 0) this.frame = requestAnimationFrame(() => this.drawOrWait());
	}
	/** A click is of the row in which the button was pressed: until it is released, rows stay. */
	drawOrWait() {
		this.frame = 0;
		if (this.isPressed) this.isDue = true;
		else this.draw();
	}
	press(line) {
		this.isPressed = true;
		this.pressed = line;
		const release = () => setTimeout(() => {
			this.isPressed = false;
			if (this.isDue) this.drawSoon();
		});
		for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, release, { once: true });
	}
	draw() {
		cancelAnimationFrame(this.frame);
		this.frame = 0;
		this.isDue = false;
		if (this.version !== ordersVersion()) {
			this.takeOrder();
			this.rearrange();
		}
		const { scrollTop, clientHeight } = this.element, all = this.sorted.length;
		const first = Math.max(0, Math.floor(scrollTop / ROW$2) - SPARE), last = Math.min(all, Math.ceil((scrollTop + clientHeight) / ROW$2) + SPARE);
		const lines = [];
		if (first > 0) lines.push(gap(first * ROW$2, this.heads.length));
		for (let place = first; place < last; place += 1) lines.push(this.line(place));
		if (last < all) lines.push(gap((all - last) * ROW$2, this.heads.length));
		this.tbody.replaceChildren(...lines);
		this.beside.tell();
		if (this.active >= first && this.active < last) this.table.setAttribute("aria-activedescendant", `${this.id}-${this.active}`);
		else this.table.removeAttribute("aria-activedescendant");
		if (last > all - NEAR_END) this.options.nearEnd?.();
	}
	line(place) {
		const row = this.sorted[place], mark = this.options.mark?.(row) ?? null;
		return h("tr", {
			id: `${this.id}-${place}`,
			"data-at": place,
			"aria-rowindex": place + 2,
			class: mark,
			"aria-selected": place === this.active ? "true" : null
		}, ...this.options.columns.map((column) => {
			const text = this.text(column, row), value = column.value(row);
			const exact = typeof value === "number" && text !== String(value) && column.unit !== void 0 && column.unit !== "time" ? `${value}${column.unit === "ns" ? " ns" : ""}` : text;
			return h("td", {
				class: isNumber(column) ? "number" : null,
				title: exact
			}, column.draw?.(row) ?? text);
		}));
	}
	use(event, act) {
		const line = lineOf(event) ?? this.pressed;
		if (line === null || act === void 0) return;
		this.active = Number(line.dataset.at);
		this.picked = this.sorted[this.active];
		act(this.picked);
		this.draw();
	}
	key(event) {
		if ([
			"PageUp",
			"PageDown",
			"Home",
			"End",
			"ArrowUp",
			"ArrowDown"
		].includes(event.key)) event.stopPropagation();
		if (event.target !== this.table || this.options.pick === void 0 || this.sorted.length === 0) return;
		const page = Math.max(1, Math.floor(this.element.clientHeight / ROW$2) - 2), by = {
			ArrowUp: -1,
			ArrowDown: 1,
			PageUp: -page,
			PageDown: page,
			Home: -Infinity,
			End: Infinity
		}[event.key];
		if (by !== void 0) {
			this.active = Math.max(0, Math.min(this.sorted.length - 1, this.active + by));
			this.see(this.active);
			this.draw();
		} else if (event.key === "Enter" && this.active >= 0) {
			const row = this.sorted[this.active], isOpened = event.shiftKey || row === this.picked, { pick, open = pick, beside } = this.options;
			this.picked = row;
			((event.ctrlKey || event.metaKey) && beside !== void 0 ? beside : isOpened ? open : pick)(row);
			this.draw();
		} else return;
		event.preventDefault();
		event.stopPropagation();
	}
	see(place) {
		const { scrollTop, clientHeight } = this.element, top = place * ROW$2, head = 25;
		if (top < scrollTop) this.element.scrollTop = top;
		else if (top + ROW$2 > scrollTop + clientHeight - head) this.element.scrollTop = top + ROW$2 + head - clientHeight;
	}
	/** Tabs between the columns; durations in ns, instants in ns since 1970, as the commands give them. */
	tsv() {
		const { columns } = this.options, origin = BigInt(this.options.origin() ?? "0");
		const cell = (value, unit) => value === null ? "" : unit === "time" && typeof value === "number" ? String(origin + BigInt(Math.round(value))) : String(value).replace(/[\t\n]/g, " ");
		const lines = this.sorted.map((row) => columns.map((column) => cell(column.value(row), column.unit)).join("	"));
		return [columns.map(({ title, unit }) => unit === "ns" ? `${title} (ns)` : unit === "time" ? `${title} (unix ns)` : title).join("	"), ...lines].join("\n");
	}
};
/** The row that an event is in. */
function lineOf({ target }) {
	return target.closest("tr[data-at]");
}
function isNumber(column) {
	return column.isNumber ?? (column.unit !== void 0 && column.unit !== "none");
}
function gap(height, columns) {
	const cell = h("td", { colspan: columns });
	cell.style.height = `${height}px`;
	return h("tr", {
		class: "gap",
		"aria-hidden": "true"
	}, cell);
}
/** A table with its title, its count, and what copies it. */
function titled(title, table, ...beside) {
	return h("section", { class: "block" }, h("div", { class: "block-head" }, title === "" ? null : h("h3", {}, title), ...beside, table.copy), table.element);
}
// src/panels/analyses.ts
var LIMIT$5 = 1e3;
var FIRST = "cputop";
var AnalysesPanel = class extends AskingPanel {
	all = [];
	chosen = FIRST;
	list = h("div", {
		class: "list",
		role: "listbox",
		"aria-label": "Analyses",
		tabindex: 0
	});
	result = h("div", { class: "tables" });
	parts = h("div", { class: "analyses-parts" }, this.list, this.result);
	constructor(view, navigator) {
		super("analyses", "Analyses", view, navigator, [
			"window",
			"selection",
			"clock"
		]);
		this.list.addEventListener("keydown", (event) => this.key(event));
	}
	changed(_now, changed) {
		if (this.view.now.selection !== null && !changed.has("selection") && !changed.has("clock")) return;
		this.askWhenQuick();
	}
	get kept() {
		return this.chosen === FIRST ? "" : this.chosen;
	}
	keep(text) {
		this.chosen = text === "" ? FIRST : text;
		this.result.replaceChildren();
		this.drawList();
		if (this.isSeen) this.ask();
	}
	forget() {
		this.result.replaceChildren();
	}
	async load(signal) {
		if (this.all.length === 0) {
			this.all = await api.analyses();
			this.drawList();
		}
		if (this.body.firstChild !== this.parts) this.body.replaceChildren(this.parts);
		const covered = this.showRange(), { experiment } = this.view.now, isAll = covered.begin <= (experiment?.begin ?? 0) && covered.end >= (experiment?.end ?? 0);
		if (this.result.childElementCount === 0 || this.result.querySelector(".notice") !== null) this.result.replaceChildren(notice("loading", `${this.chosen} …`, "Analyses read the events of the range: of long traces, that takes a while."));
		const answer = await api.table({
			analysis: this.chosen,
			begin: isAll ? null : covered.begin,
			end: isAll ? null : covered.end,
			limit: LIMIT$5,
			ask: this.progress.ask
		}, signal).catch((error) => {
			if (!(error instanceof Error) || error.name === "AbortError") throw error;
			return error;
		});
		if (answer instanceof Error) {
			this.command.set("");
			this.result.replaceChildren(notice("failed", `${this.chosen} has no answer`, answer.message, button("try again", "Ask again", () => void this.ask())));
			return;
		}
		this.command.set(answer.command);
		this.draw(answer);
	}
	draw(answer) {
		const about = this.all.find((it) => it.name === this.chosen)?.about ?? "", top = this.result.scrollTop, isSame = this.result.dataset.of === this.chosen;
		const tables = answer.tables.filter((it) => it.rows.length > 0), empty = answer.tables.filter((it) => it.rows.length === 0);
		this.result.dataset.of = this.chosen;
		this.result.replaceChildren(h("div", { class: "analysis-head" }, h("strong", {}, about), ...answer.notes.map((note) => h("p", { class: "muted" }, ...withCode(note))), empty.length === 0 ? null : h("p", { class: "muted" }, `Empty in this range: ${empty.map((it) => it.title).join(", ")}.`)), ...tables.map((it) => this.table(it)), ...tables.length === 0 ? [notice("empty", "Nothing in this range", "Take more time, or see in the notes what the trace must have.")] : []);
		this.result.scrollTop = isSame ? top : 0;
	}
	table(table) {
		const names = table.columns.map((column) => column.name), [end, farEnd] = endsOfLines(names), far = (line) => this.go(table, line, false, farEnd);
		const linked = (farEnd === void 0 ? [] : [
			"comm",
			"pid",
			"tid",
			"host"
		].map((name) => names.indexOf(`${farEnd}${name}`))).find((place) => place >= 0) ?? -1;
		const shown = new DataTable({
			label: table.title,
			origin: () => this.origin,
			...isSomewhere(table) ? {
				pick: (line) => this.go(table, line, false),
				open: (line) => this.go(table, line, true)
			} : {},
			...farEnd === void 0 ? {} : { beside: far },
			columns: table.columns.map((column, place) => ({
				title: columnTitle(column.name),
				description: column.name,
				unit: column.unit,
				isNumber: column.unit !== "none" || table.rows.every((row) => row[place] === null || typeof row[place] === "number"),
				value: (line) => line[place] ?? null,
				grow: column.unit === "none" && table.rows.some((row) => String(row[place] ?? "").length > 24),
				...place !== linked ? {} : { draw: (line) => line[place] === null ? "–" : farLink(String(line[place]), () => far(line)) }
			}))
		});
		const count = table.rows.length >= LIMIT$5 ? `the first ${formatCount(LIMIT$5)} rows` : `${formatCount(table.rows.length)} ${table.rows.length === 1 ? "row" : "rows"}`;
		const word = (end) => end === "" ? "the process of the line" : `“${end?.replace("_", "")}”`;
		const hint = farEnd === void 0 ? "" : `; a click goes to ${word(end)}, the link (Ctrl + click, Ctrl + Enter) to ${word(farEnd)}`;
		const block = titled(table.title, shown, h("span", {
			class: "muted",
			title: `${count}${hint}`
		}, count, hint));
		block.style.height = `${Math.min(52 + 21 * table.rows.length + 14, 440)}px`;
		shown.set(table.rows);
		return block;
	}
	/** Goes to what a line is about, at its first instant; `isZoomed`: shows its time alone; `end`: which of two ends, else the first. The list stays. */
	go(table, line, isZoomed, end) {
		const times = table.columns.flatMap((column, place) => column.unit === "time" && typeof line[place] === "number" ? [line[place]] : []);
		const { window } = this.view.now, names = table.columns.map((column) => column.name), prefix = end ?? endsOfLines(names)[0] ?? "";
		const row = rowOfLine(this.view, (name) => line[names.indexOf(`${prefix}${name}`)] ?? null, times[0] ?? null);
		this.hold();
		if (times.length === 0) {
			this.navigator.go(row, (window.begin + window.end) / 2);
			return;
		}
		const first = toShown(this.view, row, Math.min(...times)), last = toShown(this.view, row, Math.max(...times));
		this.navigator.go(row, first, isZoomed || last - first > window.end - window.begin ? {
			begin: first,
			end: last
		} : void 0);
		this.view.set(last > first ? { selection: {
			begin: first,
			end: last
		} } : { hover: first });
	}
	drawList() {
		this.list.replaceChildren(...this.all.map((it) => h("div", {
			role: "option",
			id: `analysis-${it.name}`,
			class: "option",
			title: it.about,
			"data-name": it.name,
			"aria-selected": String(it.name === this.chosen),
			onclick: () => this.choose(it.name)
		}, h("b", {}, it.name), h("span", { class: "muted" }, it.about))));
		this.list.setAttribute("aria-activedescendant", `analysis-${this.chosen}`);
	}
	choose(name) {
		if (name === this.chosen && !this.isStale) return;
		this.chosen = name;
		for (const option of this.list.children) option.setAttribute("aria-selected", String(option.dataset.name === name));
		this.list.setAttribute("aria-activedescendant", `analysis-${name}`);
		this.list.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
		this.result.replaceChildren();
		this.took = 0;
		this.tellKept();
		this.askAgain(120);
	}
	key(event) {
		const at = this.all.findIndex((it) => it.name === this.chosen), to = {
			ArrowUp: at - 1,
			ArrowDown: at + 1,
			Home: 0,
			End: this.all.length - 1
		}[event.key];
		if (to === void 0) return;
		this.choose(this.all[Math.max(0, Math.min(this.all.length - 1, to))].name);
		event.preventDefault();
		event.stopPropagation();
	}
};
/** Whether its lines are of an instant, or of a thread, a CPU or a host, or of two of these. */
function isSomewhere({ columns }) {
	return columns.some((it) => it.unit === "time" || [
		"tid",
		"pid",
		"cpu"
	].includes(it.name)) || endsOfLines(columns.map((it) => it.name)).length > 0;
}
/** A name in a line that leads elsewhere than the line. */
function farLink(text, go) {
	const it = button(text, `Go to ${text}, the other end`, go, {
		class: "link",
		tabindex: -1
	});
	it.addEventListener("click", (event) => event.stopPropagation());
	it.addEventListener("dblclick", (event) => event.stopPropagation());
	return it;
}
// src/panels/pathDetails.ts
var PathDetails = class {
	path = null;
	hosts = [];
	title = h("p", { class: "path-title" });
	sentence = h("p", {
		class: "sentence",
		role: "status"
	});
	bar = h("div", { class: "path-bar" });
	causes;
	steps;
	element;
	constructor(go, zoom, origin) {
		const share = (it) => 100 * it.total_ns / Math.max(1, this.path.end - this.path.begin);
		this.causes = new DataTable({
			label: "Time by cause",
			origin,
			sort: [2, true],
			columns: [
				{
					title: "where",
					value: who,
					grow: true
				},
				{
					title: "cause",
					value: (it) => it.cause,
					text: (it) => causeWord(it.cause),
					draw: (it) => swatch(causeColour(it.cause), causeWord(it.cause)),
					width: 15
				},
				{
					title: "time",
					unit: "ns",
					value: (it) => it.total_ns
				},
				{
					title: "median",
					unit: "ns",
					description: "Median of all requests of the service",
					value: (it) => it.median_ns
				},
				{
					title: "more",
					unit: "ns",
					description: "Time beyond the median",
					value: more,
					text: moreText,
					width: 10,
					draw: (it) => h("span", { class: (more(it) ?? 0) > .03 * (this.path.end - this.path.begin) ? "much" : null }, moreText(it))
				},
				{
					title: "share",
					unit: "percent",
					value: share,
					text: (it) => `${share(it).toFixed(1)} %`
				}
			]
		});
		this.steps = new DataTable({
			label: "Steps of the path: a click goes there",
			origin,
			pick: go,
			open: zoom,
			columns: [
				{
					title: "#",
					unit: "count",
					value: (it) => it.place
				},
				{
					title: "at",
					unit: "ns",
					description: "Since the begin of the path",
					value: (it) => it.begin - this.path.begin,
					text: (it) => formatDuration(it.begin - this.path.begin)
				},
				{
					title: "time",
					unit: "ns",
					value: (it) => it.end - it.begin
				},
				{
					title: "where",
					value: (it) => this.where(it)
				},
				{
					title: "cause",
					value: (it) => it.cause,
					text: (it) => causeWord(it.cause),
					draw: (it) => swatch(causeColour(it.cause), causeWord(it.cause)),
					width: 17
				},
				{
					title: "detail",
					value: (it) => it.detail,
					grow: true
				},
				{
					title: "±",
					unit: "ns",
					description: "How much of its time the clocks leave open",
					value: (it) => it.uncertainty_ns
				}
			]
		});
		this.element = h("div", { class: "path-details" }, this.title, this.bar, this.sentence, h("div", { class: "side-by-side" }, titled("Time by cause", this.causes), titled("Steps", this.steps)));
	}
	set(path, title, hosts) {
		this.path = path;
		this.hosts = hosts;
		this.title.textContent = this.title.title = title;
		const all = Math.max(1, path.end - path.begin), sums = /* @__PURE__ */ new Map();
		for (const { cause, total_ns } of path.causes) sums.set(cause, (sums.get(cause) ?? 0) + total_ns);
		const parts = [...sums].sort((a, b) => b[1] - a[1]).map(([cause, total]) => ({
			name: causeWord(cause),
			share: total / all,
			colour: causeColour(cause),
			text: formatDuration(total)
		}));
		this.bar.replaceChildren(stack(parts));
		this.sentence.textContent = differs(path) ?? "";
		this.sentence.hidden = this.sentence.textContent === "";
		this.causes.set(path.causes);
		this.steps.set(path.steps.map((step, place) => ({
			...step,
			place: place + 1
		})));
	}
	clear() {
		this.causes.set([]);
		this.steps.set([]);
	}
	where(it) {
		return `${who({
			host: this.hosts[it.host] ?? "",
			comm: it.comm
		})}${it.tid === null ? "" : ` ${it.tid}`}`;
	}
};
/** Time beyond the median of the others. */
function more(it) {
	return it.median_ns === null ? null : it.total_ns - it.median_ns;
}
function moreText(it) {
	const by = more(it);
	return by === null ? "–" : `${by > 0 ? "+" : ""}${formatDuration(by)}`;
}
// src/panels/pathPair.ts
function pairsOf(first, second) {
	const pairs = /* @__PURE__ */ new Map();
	for (const [place, path] of [["first", first], ["second", second]]) for (const it of path.causes) {
		const key = `${it.host}\n${it.comm}\n${it.cause}`, pair = pairs.get(key) ?? {
			where: who(it),
			cause: it.cause,
			first: 0,
			second: 0
		};
		pair[place] += it.total_ns;
		pairs.set(key, pair);
	}
	return [...pairs.values()].sort((a, b) => Math.abs(b.second - b.first) - Math.abs(a.second - a.first));
}
function pathName(path) {
	return path.request === null ? "thread" : `request ${path.request}`;
}
var PathPair = class {
	strips = h("div", { class: "strips" });
	table;
	element;
	names = ["", ""];
	constructor(close, origin) {
		const more = (it) => it.second - it.first;
		this.table = new DataTable({
			label: "Time of both by cause",
			origin,
			columns: [
				{
					title: "where",
					value: (it) => it.where,
					grow: true
				},
				{
					title: "cause",
					value: (it) => it.cause,
					text: (it) => causeWord(it.cause),
					draw: (it) => swatch(causeColour(it.cause), causeWord(it.cause)),
					width: 17
				},
				{
					title: "first",
					unit: "ns",
					description: "The one that was kept",
					value: (it) => it.first
				},
				{
					title: "second",
					unit: "ns",
					description: "The one that is shown",
					value: (it) => it.second
				},
				{
					title: "more",
					unit: "ns",
					description: "In the second",
					value: more,
					text: (it) => `${more(it) > 0 ? "+" : ""}${formatDuration(more(it))}`
				}
			]
		});
		this.element = h("div", { class: "path-pair" }, this.strips, titled("Both, by cause", this.table, button("end the comparison ×", "Show one path alone again", close)));
	}
	set(first, second) {
		this.names = [pathName(first), pathName(second)];
		const longest = Math.max(1, first.end - first.begin, second.end - second.begin);
		this.strips.replaceChildren(...[first, second].map((path, place) => this.strip(path, this.names[place], longest)));
		this.table.set(pairsOf(first, second));
	}
	/** Both on one scale: the same width is the same time. */
	strip(path, name, longest) {
		const total = path.end - path.begin, bar = h("span", {
			class: "steps",
			role: "img",
			"aria-label": `${name}: ${formatDuration(total)} in ${path.steps.length} steps`
		});
		for (const step of path.steps) {
			const part = h("span", { title: `${causeWord(step.cause)} ${formatDuration(step.end - step.begin)}, ${step.comm} ${step.detail}` });
			part.style.left = `${100 * (step.begin - path.begin) / longest}%`;
			part.style.width = `${100 * (step.end - step.begin) / longest}%`;
			part.style.background = causeColour(step.cause);
			bar.append(part);
		}
		return h("div", { class: "strip" }, h("span", { class: "of" }, `${name} · ${formatDuration(total)}`), bar);
	}
};
// src/panels/requestList.ts
/** How two requests are compared. */
var COMPARES$1 = "With Ctrl or Shift, a click on another request (Ctrl + Enter by keys) compares it with the one that is shown";
var RequestList = class {
	pick;
	filtered;
	all = [];
	services = [];
	most = 1;
	picked = null;
	filter = h("input", {
		type: "search",
		class: "filter",
		placeholder: "filter: host, process, number, a → b",
		"aria-label": "Filter requests",
		oninput: () => this.refilter()
	});
	service = h("select", {
		"aria-label": "Service",
		onchange: () => this.refilter()
	});
	/** The service that is to be chosen once there are some. */
	wanted = null;
	spread = h("p", {
		class: "spread",
		role: "status"
	});
	table;
	element;
	constructor(pick, open, beside, origin, filtered) {
		this.pick = pick;
		this.filtered = filtered;
		this.table = new DataTable({
			label: "Requests",
			origin,
			pick,
			open,
			beside,
			sort: [1, true],
			columns: [
				{
					title: "#",
					unit: "count",
					description: "Number of the request, as in `critical-path --request`",
					value: (it) => it.request,
					text: (it) => String(it.request)
				},
				{
					title: "total",
					unit: "ns",
					description: "From the request to the answer, at the client",
					value: (it) => it.total_ns,
					width: 15,
					draw: (it) => this.drawTotal(it)
				},
				{
					title: "client",
					value: (it) => it.client,
					grow: true
				},
				{
					title: "server",
					value: (it) => it.server,
					grow: true
				},
				{
					title: "begin",
					unit: "time",
					value: (it) => it.begin,
					text: (it) => formatTime(origin(), it.begin, 3)
				},
				{
					title: "service",
					value: (it) => it.service
				}
			],
			mark: (it) => `${it.request === this.picked ? "picked" : ""}${this.isSlowest(it) ? " slowest" : ""}`.trim() || null
		});
		this.element = h("section", { class: "block requests" }, h("div", { class: "block-head" }, h("h3", {}, "Requests"), this.filter, this.service, button("slowest", "Pick the slowest of these", () => this.pickSlowest()), this.table.copy), this.spread, this.table.element);
	}
	/** What requests are filtered by; `service`: null where all are shown. */
	get filters() {
		return {
			text: this.filter.value.trim(),
			service: this.service.selectedIndex > 0 ? this.service.value : this.wanted
		};
	}
	filterBy(text, service) {
		this.filter.value = text;
		this.wanted = service;
		this.chooseWanted();
		this.draw();
	}
	refilter() {
		this.wanted = null;
		this.draw();
		this.filtered();
	}
	chooseWanted() {
		const at = this.services.findIndex((it) => it.name === this.wanted);
		this.service.selectedIndex = at + 1;
		if (at >= 0) this.wanted = null;
	}
	set(requests) {
		this.wanted = this.filters.service;
		this.all = requests;
		this.services = servicesOf(requests);
		this.service.replaceChildren(h("option", { value: "" }, "all services"), ...this.services.map((it) => h("option", { value: it.name }, it.name === "" ? "(no name)" : it.name)));
		this.service.hidden = this.services.length < 2;
		this.chooseWanted();
		this.draw();
	}
	/** Which one is shown beside. */
	choose(number) {
		this.picked = number;
		this.table.redraw();
	}
	serviceOf(number) {
		const request = this.all.find((it) => it.request === number), service = this.services.find((it) => it.name === request?.service);
		if (request === void 0 || service === void 0) return null;
		return {
			request,
			service,
			rank: 1 + this.all.filter((it) => it.service === request.service && it.total_ns > request.total_ns).length
		};
	}
	draw() {
		const filter = this.filter.value.trim(), service = this.service.value;
		const shown = this.all.filter((it) => {
			if (this.service.selectedIndex > 0 && it.service !== service) return false;
			return fitsFilter(filter, it.client, it.server, `${it.request} ${it.service}`);
		});
		this.most = shown.reduce((most, it) => Math.max(most, it.total_ns), 1);
		this.spread.textContent = shown.length === 0 ? "No request has that in its names." : servicesOf(shown).slice(0, 4).map((it) => `${it.name}: ${formatCount(it.count)}, median ${formatDuration(it.median)}, p95 ${formatDuration(it.p95)}, most ${formatDuration(it.most)}`).join(" · ");
		this.table.set(shown);
	}
	isSlowest(it) {
		return this.services.some((service) => service.slowest === it.request && service.count > 1);
	}
	drawTotal(it) {
		const bar = h("span", {
			class: "meter",
			"aria-hidden": "true"
		});
		bar.style.width = `${Math.max(1, 100 * it.total_ns / this.most)}%`;
		return h("span", { class: "metered" }, bar, h("span", {}, this.isSlowest(it) ? h("b", { title: "the slowest of its service" }, "slowest ") : null, formatDuration(it.total_ns)));
	}
	pickSlowest() {
		const { value, selectedIndex } = this.service;
		const slowest = this.all.filter((it) => selectedIndex <= 0 || it.service === value).reduce((a, b) => a === null || b.total_ns > a.total_ns ? b : a, null);
		if (slowest !== null) {
			this.table.activate(slowest);
			this.pick(slowest);
		}
	}
};
// src/panels/criticalPath.ts
/** Lists of more requests than this are not kept while another panel is seen. */
var KEPT$2 = 5e4;
var CriticalPathPanel = class extends AskingPanel {
	requests = null;
	note = "";
	commandOfAll = "";
	/** Looks for a path. */
	finding = null;
	list;
	details;
	detail = h("div", { class: "detail" });
	ofThread = button("path of the thread", "Critical path of the selected thread in the selected time, else in the window (c)", () => void this.pathOfThread());
	only = button("its rows only", "All rows, or only those that the path touches; the path stays", () => this.toggleRows());
	/** Another path that the one that is shown is held against. */
	other = null;
	pair;
	against = button("compare with another", `Keep this path, and hold the next one that is picked against it. ${COMPARES$1}`, () => this.holdAgainst(this.view.now.path));
	orClick = h("span", {
		class: "muted",
		title: COMPARES$1
	}, "or Ctrl + click one");
	/** The one that an address asks for, until it is there. */
	wanted = null;
	leave = button("close the path ×", "Leave the path: all rows again (Esc)", () => this.view.set({
		path: null,
		onlyRows: null
	}));
	constructor(view, navigator) {
		super("critical-path", "Critical path", view, navigator, [
			"path",
			"row",
			"selection",
			"onlyRows"
		]);
		const origin = () => this.origin;
		this.list = new RequestList((it) => void this.pick(it), (it) => void this.pick(it), (it) => void this.pickBeside(it), origin, () => this.tellKept());
		this.details = new PathDetails((step) => this.go(step, false), (step) => this.go(step, true), origin);
		this.pair = new PathPair(() => this.holdAgainst(null), origin);
		this.controls.append(this.ofThread, this.against, this.orClick, this.only, this.leave);
	}
	/** What the list is filtered by, and the path that is held against the one that is shown. */
	get kept() {
		const { text, service } = this.list.filters, of = this.other?.of ?? this.wanted;
		const other = of === null ? "" : "request" in of ? `${of.request}` : `${of.row},${of.begin},${of.end}`;
		return text === "" && service === null && other === "" ? "" : [
			other,
			service === null ? "" : `=${encodeURIComponent(service)}`,
			text
		].join("~");
	}
	keep(text) {
		const [other, service, ...filter] = text.split("~"), numbers = (other ?? "").split(",").map(Number);
		this.list.filterBy(filter.join("~"), service?.startsWith("=") === true ? decoded(service.slice(1)) : null);
		this.other = null;
		this.wanted = other === void 0 || other === "" || numbers.some((it) => !Number.isFinite(it)) ? null : numbers.length === 3 ? {
			row: numbers[0],
			begin: numbers[1],
			end: numbers[2]
		} : { request: numbers[0] };
		if (this.isSeen) this.loadWanted();
	}
	async loadWanted() {
		const { wanted } = this;
		if (wanted === null) {
			this.drawPath();
			return;
		}
		await this.find(async (signal) => {
			const other = await api.path(wanted, this.progress.ask, signal);
			if (this.wanted === wanted) this.holdAgainst(other);
		});
	}
	holdAgainst(other) {
		this.other = other;
		this.wanted = null;
		this.drawPath();
		this.tellKept();
	}
	shown() {
		this.drawPath();
		if (this.wanted !== null) this.loadWanted();
	}
	changed(_now, changed) {
		if (changed.has("path")) this.drawPath();
		else this.drawControls();
	}
	renewed() {
		this.requests = null;
		this.other = this.wanted = null;
		super.renewed();
	}
	forget() {
		this.finding?.abort();
		this.details.clear();
		if ((this.requests?.length ?? 0) > KEPT$2) {
			this.requests = null;
			this.list.set([]);
		}
	}
	async load(signal) {
		if (this.requests === null) {
			const answer = await api.requests(this.progress.ask, signal);
			if (signal.aborted) return;
			this.requests = answer.requests;
			this.note = answer.note;
			this.commandOfAll = answer.command;
			this.list.set(answer.requests);
		}
		this.body.replaceChildren(this.requests.length > 0 ? this.list.element : notice("empty", "No requests were found", this.note), this.detail);
		this.drawPath();
	}
	drawControls() {
		const { path, onlyRows, row } = this.view.now, isThread = rowOf(this.view, row)?.kind === "thread";
		this.ofThread.disabled = !isThread;
		this.ofThread.textContent = isThread ? `path of ${nameOf$1(this.view, row)}` : "path of the thread";
		this.leave.hidden = path === null;
		this.against.hidden = this.orClick.hidden = path === null;
		this.against.setAttribute("aria-pressed", String(this.other !== null));
		this.against.textContent = this.other === null ? "compare with another" : this.other === path ? `${pathName(path)} is kept: pick another` : `compared with ${pathName(this.other)}`;
		this.only.hidden = path === null && onlyRows === null;
		this.only.textContent = onlyRows === null ? "its rows only" : "show all rows";
	}
	drawPath() {
		const { path, experiment } = this.view.now;
		this.drawControls();
		this.list.choose(path?.request ?? null);
		this.command.set(path?.command ?? this.commandOfAll);
		this.heading.textContent = this.requests === null ? "" : `${formatCount(this.requests.length)} requests`;
		if (path === null) {
			this.detail.replaceChildren(notice("empty", "No path is shown", "Pick a request: its critical path is drawn over the time graph, and its time is shown here by cause. With Ctrl or Shift, a click on a second one compares both. Or select a thread, and a time if you like, and press `c`."));
			return;
		}
		if (this.other !== null && this.other !== path) {
			this.pair.set(this.other, path);
			if (this.detail.firstChild !== this.pair.element) this.detail.replaceChildren(this.pair.element);
			return;
		}
		this.details.set(path, this.titleOf(path), experiment?.hosts.map((host) => host.name) ?? []);
		if (this.detail.firstChild !== this.details.element) this.detail.replaceChildren(this.details.element);
	}
	titleOf(path) {
		const total = formatDuration(path.end - path.begin), of = path.request === null ? null : this.list.serviceOf(path.request);
		if (path.request === null) return `Thread ${nameOf$1(this.view, path.steps.at(-1)?.row ?? path.steps[0]?.row ?? null)}: ${total}, ${formatCount(path.steps.length)} steps`;
		if (of === null) return `Request ${path.request}: ${total}`;
		return `Request ${path.request}: ${of.request.client} → ${of.request.server} · ${total} · ${of.rank === 1 ? "the slowest" : `number ${of.rank}`} of ${formatCount(of.service.count)} (median ${formatDuration(of.service.median)}, p95 ${formatDuration(of.service.p95)})`;
	}
	async pick(request) {
		await this.find(async (signal) => {
			const path = await api.path({ request: request.request }, this.progress.ask, signal);
			const row = request.client_row, begin = toShown(this.view, row, path.begin), end = toShown(this.view, row, path.end);
			this.view.set({
				path,
				onlyRows: rowsOf(path)
			});
			this.navigator.go(null, begin, {
				begin,
				end
			});
		});
	}
	/** Holds it against the path that is shown; of two that are compared, it takes the place of the second. */
	async pickBeside(request) {
		const { path } = this.view.now, first = this.other ?? path;
		if (first !== null && first.request !== request.request) {
			this.other = first;
			this.wanted = null;
		}
		await this.pick(request);
		this.tellKept();
	}
	async pathOfThread() {
		const { row } = this.view.now, range = panelRange(this.view);
		if (row === null) return;
		await this.find(async (signal) => this.view.set({ path: await api.path({
			row,
			begin: range.begin,
			end: range.end
		}, this.progress.ask, signal) }));
	}
	/** What a click asks for, in place of what the one before did: its failure is told where its answer would be. */
	async find(act) {
		this.finding?.abort();
		const finding = this.finding = new AbortController();
		this.progress.begin();
		try {
			await this.during(act(finding.signal));
		} catch (error) {
			if (!finding.signal.aborted) this.detail.replaceChildren(notice("failed", "There is no path", error instanceof Error ? error.message : ""));
		} finally {
			if (this.finding === finding) {
				this.finding = null;
				this.progress.end();
			}
		}
	}
	giveUp() {
		if (this.finding === null) {
			super.giveUp();
			return;
		}
		this.finding.abort();
		this.finding = null;
		this.progress.end();
	}
	toggleRows() {
		const { path, onlyRows } = this.view.now;
		this.view.set({ onlyRows: onlyRows !== null || path === null ? null : rowsOf(path) });
	}
	/** Steps between hosts have no row: then only the time is shown. */
	go(step, isZoom) {
		const begin = toShown(this.view, step.row, step.begin), end = toShown(this.view, step.row, step.end), room = (end - begin) * .5;
		this.view.set({ selection: {
			begin,
			end
		} });
		this.navigator.go(step.row, (begin + end) / 2, isZoom ? {
			begin: begin - room,
			end: end + room
		} : void 0);
	}
};
function rowsOf(path) {
	return new Set(path.steps.map((step) => step.row).filter((row) => row !== null));
}
var FORTH = "#1482dc";
var BACK = "#d2691e";
/** Of the band that holds 95 of 100. */
function likelyColour() {
	return isDark() ? "rgba(110,165,255,0.42)" : "rgba(25,80,190,0.32)";
}
function xOf(scene, at) {
	return 64 + (at - scene.window.begin) / (scene.window.end - scene.window.begin) * (scene.width - 64 - 8);
}
function timeOf(scene, x) {
	return scene.window.begin + (x - 64) / (scene.width - 64 - 8) * (scene.window.end - scene.window.begin);
}
function yOf(scene, offset) {
	return 6 + (scene.most - offset) / (2 * scene.most) * (scene.height - 6 - 20);
}
/** How far the picture goes up and down: all messages of the window, or what the clocks leave open, with a little room. */
function mostOf$1(picture, window, isAll) {
	let most = 0;
	const take = (at, value) => {
		if (value !== null && at >= window.begin && at <= window.end) most = Math.max(most, Math.abs(value));
	};
	for (const [at, low, high] of picture.bounds) {
		take(at, low);
		take(at, high);
	}
	if (most === 0) for (const [, low, high] of picture.bounds) most = Math.max(most, Math.abs(low ?? 0), Math.abs(high ?? 0));
	const least = most;
	if (isAll) for (const list of [picture.forth, picture.back]) for (const [at, delay] of list) take(at, delay);
	else for (const list of [picture.upper, picture.lower]) for (const [at, delay] of list) if (Math.abs(delay) < 3 * least || least === 0) take(at, delay);
	return (most === 0 ? 1e3 : most) * 1.25;
}
/** A step of 1, 2 or 5 times a power of ten, of at least so much. */
function roundStep(least) {
	const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-9)));
	return [
		1,
		2,
		5,
		10
	].map((it) => it * power).find((it) => it >= least);
}
function drawLink(ctx, scene) {
	const { picture, width, height } = scene, colours = ink();
	ctx.fillStyle = css(colours.background);
	ctx.fillRect(0, 0, width, height);
	grid$1(ctx, scene);
	ctx.save();
	ctx.beginPath();
	ctx.rect(64, 6, width - 64 - 8, height - 6 - 20);
	ctx.clip();
	area(ctx, scene, picture.upper, picture.lower, "rgba(120,130,150,0.16)");
	const sure = picture.bounds.filter((it) => it[1] !== null && it[2] !== null);
	area(ctx, scene, sure.map(([at, , high]) => [at, high]), sure.map(([at, low]) => [at, low]), colours.sure);
	const likely = picture.bounds.filter((it) => it[3] !== null);
	area(ctx, scene, likely.map((it) => [it[0], it[3]]), likely.map((it) => [it[0], -it[3]]), likelyColour());
	line(ctx, scene, sure.map(([at, , high]) => [at, high]), colours.edge, 1);
	line(ctx, scene, sure.map(([at, low]) => [at, low]), colours.edge, 1);
	dots(ctx, scene, picture.forth, FORTH);
	dots(ctx, scene, picture.back, BACK);
	line(ctx, scene, picture.upper, FORTH, 1.5);
	line(ctx, scene, picture.lower, BACK, 1.5);
	ctx.fillStyle = colours.text;
	ctx.fillRect(64, Math.round(yOf(scene, 0)), width, 1);
	for (const [at, delay] of picture.suspects) cross(ctx, xOf(scene, at), Math.max(11, Math.min(yOf(scene, delay), height - 20 - 5)), colours.inverted);
	ctx.setLineDash([5, 3]);
	ctx.strokeStyle = colours.mark;
	ctx.lineWidth = 1.5;
	for (const it of picture.breaks) stroke(ctx, [[xOf(scene, it.at), 6], [xOf(scene, it.at), height]]);
	ctx.setLineDash([]);
	ctx.restore();
}
function grid$1(ctx, scene) {
	const { window, width, height, most, origin } = scene, colours = ink();
	ctx.font = "11px system-ui, sans-serif";
	ctx.textBaseline = "middle";
	ctx.textAlign = "right";
	const step = roundStep(2 * most / Math.max(2, Math.floor((height - 6 - 20) / 26)));
	for (let offset = Math.ceil(-most / step) * step; offset <= most; offset += step) {
		const y = Math.round(yOf(scene, offset));
		ctx.fillStyle = colours.line;
		ctx.fillRect(64, y, width - 64 - 8, 1);
		ctx.fillStyle = colours.faint;
		ctx.fillText(`${offset > 0 ? "+" : ""}${formatDuration(Math.abs(offset) < step / 2 ? 0 : offset)}`, 60, y);
	}
	ctx.textAlign = "center";
	const by = roundStep((window.end - window.begin) * 84 / Math.max(1, width - 64 - 8));
	for (let at = Math.ceil(window.begin / by) * by; at <= window.end; at += by) {
		const x = Math.round(xOf(scene, at));
		ctx.fillStyle = colours.line;
		ctx.fillRect(x, 6, 1, height - 6 - 20);
		ctx.fillStyle = colours.faint;
		if (x > 84 && x < width - 30) ctx.fillText(formatTime(origin, at, placesFor(by)), x, height - 10);
	}
}
function area(ctx, scene, upper, lower, colour) {
	if (upper.length === 0 || lower.length === 0) return;
	ctx.beginPath();
	for (const [at, value] of upper) ctx.lineTo(xOf(scene, at), yOf(scene, value));
	for (const [at, value] of [...lower].reverse()) ctx.lineTo(xOf(scene, at), yOf(scene, value));
	ctx.closePath();
	ctx.fillStyle = colour;
	ctx.fill();
}
function line(ctx, scene, points, colour, width) {
	ctx.strokeStyle = colour;
	ctx.lineWidth = width;
	stroke(ctx, points.map(([at, value]) => [xOf(scene, at), yOf(scene, value)]));
}
function dots(ctx, scene, points, colour) {
	ctx.fillStyle = colour;
	for (const [at, value] of points) {
		if (at < scene.window.begin || at > scene.window.end || Math.abs(value) > scene.most) continue;
		ctx.fillRect(xOf(scene, at) - 1.5, yOf(scene, value) - 1.5, 3, 3);
	}
}
function cross(ctx, x, y, colour) {
	ctx.strokeStyle = colour;
	ctx.lineWidth = 2;
	stroke(ctx, [[x - 4, y - 4], [x + 4, y + 4]]);
	stroke(ctx, [[x - 4, y + 4], [x + 4, y - 4]]);
}
function stroke(ctx, points) {
	ctx.beginPath();
	for (const [x, y] of points) ctx.lineTo(x, y);
	ctx.stroke();
}
// src/panels/wheel.ts
var WHEEL_ZOOM = .0022;
var DRAG = 4;
var LINE$2 = 20;
/** `time` gives the instant (as it is shown) at an x of the element, null beside the picture. */
function listenTime(element, view, mover, time, options = {}) {
	const x = (event) => event.clientX - element.getBoundingClientRect().left;
	element.addEventListener("wheel", (event) => {
		const at = time(x(event)), unit = event.deltaMode === 1 ? LINE$2 : 1;
		if (at === null) return;
		if (event.ctrlKey || event.metaKey) mover.zoom?.(Math.exp(event.deltaY * unit * WHEEL_ZOOM), at);
		else if (event.shiftKey || event.deltaX !== 0) {
			const { begin, end } = view.now.window, by = event.deltaX === 0 ? event.deltaY : event.deltaX;
			mover.pan?.(by * unit * (end - begin) / Math.max(1, element.clientWidth));
		} else return;
		event.preventDefault();
	}, { passive: false });
	element.addEventListener("pointermove", (event) => {
		if (event.buttons === 0) view.set({ hover: time(x(event)) });
	});
	element.addEventListener("pointerleave", () => view.set({ hover: null }));
	element.addEventListener("pointerdown", (event) => {
		const start = time(x(event)), x0 = x(event);
		if (event.button !== 0 || start === null) return;
		let isMoved = false;
		const move = (moved) => {
			const now = time(x(moved));
			if (now === null || !isMoved && Math.abs(x(moved) - x0) < DRAG) return;
			if (!isMoved) element.setPointerCapture(event.pointerId);
			isMoved = true;
			view.set({
				selection: {
					begin: Math.min(start, now),
					end: Math.max(start, now)
				},
				hover: now
			});
		};
		const end = (up) => {
			element.removeEventListener("pointermove", move);
			element.removeEventListener("pointerup", end);
			element.removeEventListener("pointercancel", end);
			if (!isMoved && up.type === "pointerup") options.isClick?.(x0, up.clientY - element.getBoundingClientRect().top);
		};
		element.addEventListener("pointermove", move);
		element.addEventListener("pointerup", end);
		element.addEventListener("pointercancel", end);
	});
}
// src/panels/timePicture.ts
/** Room for the times below. */
var BELOW = 20;
var LEAST_WIDTH = 60;
var LEAST_HEIGHT = 30;
/** Where a picture has which time; rows are between `top` and `bottom`, moved up by `scrolled`. */
var Frame = class {
	origin;
	left;
	right;
	width;
	top;
	bottom;
	scrolled;
	begin;
	end;
	scale;
	constructor(window, origin, left, right, width, top, bottom, scrolled) {
		this.origin = origin;
		this.left = left;
		this.right = right;
		this.width = width;
		this.top = top;
		this.bottom = bottom;
		this.scrolled = scrolled;
		this.begin = window.begin;
		this.end = window.end;
		this.scale = Math.max(1, this.right - this.left) / (window.end - window.begin);
	}
	x(t) {
		return this.left + (t - this.begin) * this.scale;
	}
	time(x) {
		return this.begin + (x - this.left) / this.scale;
	}
	/** The part of a time that is seen, in whole pixels so that neighbours have no seam: its x and its width, at least a pixel; null if none is. */
	part(begin, end) {
		if (end < this.begin || begin > this.end || end < begin) return null;
		const x0 = Math.round(Math.max(this.left, this.x(begin))), x1 = Math.round(Math.min(this.right, this.x(end)));
		return [x0, Math.max(1, x1 - x0)];
	}
};
var TimePicture = class {
	view;
	shown;
	content = null;
	frameNumber = 0;
	canvas = h("canvas", { role: "img" });
	cursor = h("div", {
		class: "cursor",
		hidden: true
	});
	tip = h("div", {
		class: "tooltip",
		role: "status",
		hidden: true
	});
	seen = h("div", { class: "seen" }, this.canvas, this.cursor);
	whole = h("div", {}, this.seen);
	element = h("div", {
		class: "time-picture",
		tabindex: 0
	}, this.whole, this.tip);
	/** `shown`: the window that it shows. */
	constructor(view, mover, shown) {
		this.view = view;
		this.shown = shown;
		new ResizeObserver(() => this.drawSoon()).observe(this.element);
		this.element.addEventListener("scroll", () => {
			this.tip.hidden = true;
			this.drawSoon();
		}, { passive: true });
		listenTime(this.seen, view, mover, (x) => {
			const frame = this.frame();
			return frame === null || x < frame.left || x > frame.right ? null : frame.time(x);
		}, { isClick: (x, y) => this.at(x, y, (content, ...place) => content.click(...place)) });
		this.seen.addEventListener("dblclick", (event) => this.at(event.offsetX, event.offsetY, (content, ...place) => content.open?.(...place)));
		this.seen.addEventListener("pointermove", (event) => this.hover(event));
		this.seen.addEventListener("pointerleave", () => {
			this.tip.hidden = true;
		});
		this.element.addEventListener("keydown", (event) => {
			if ([
				"PageUp",
				"PageDown",
				"Home",
				"End",
				"ArrowUp",
				"ArrowDown"
			].includes(event.key)) event.stopPropagation();
		});
	}
	/** `about` says the same as the picture, to who cannot see it. */
	set(content, about) {
		this.content = content;
		this.canvas.setAttribute("aria-label", about);
		this.element.setAttribute("aria-label", about);
		this.draw();
	}
	clear() {
		this.content = null;
		this.tip.hidden = true;
		this.canvas.width = this.canvas.height = 0;
	}
	drawSoon() {
		if (this.frameNumber === 0) this.frameNumber = requestAnimationFrame(() => this.draw());
	}
	/** The cursor of all pictures. */
	moveCursor() {
		const frame = this.frame(), { hover } = this.view.now, x = frame === null || hover === null ? -1 : frame.x(hover);
		this.cursor.hidden = frame === null || x < frame.left || x > frame.right;
		this.cursor.style.transform = `translateX(${x}px)`;
	}
	/** All of it, with a title above. */
	svg(title) {
		const { content } = this, width = this.element.clientWidth;
		if (content === null || width < LEAST_WIDTH) return null;
		const rows = content.rows ?? Math.max(LEAST_HEIGHT, this.element.clientHeight - BELOW - content.above), frame = this.frameOf(content, width, content.above + rows + BELOW, 0);
		return {
			width,
			height: content.above + rows + BELOW + 22,
			draw: (svg) => {
				svg.font = FONT$1;
				svg.textBaseline = "middle";
				svg.fillStyle = ink().text;
				svg.fillText(title, 6, 11);
				svg.translated(0, 22, () => this.paint(svg, content, frame));
			}
		};
	}
	frameOf(content, width, height, scrolled) {
		const { experiment } = this.view.now;
		return new Frame(this.shown(), experiment?.origin_unix_ns ?? null, content.left, width - content.right, width, content.above, height - BELOW, scrolled);
	}
	frame() {
		const { content } = this, { clientWidth: width, clientHeight: height, scrollTop } = this.element;
		return content === null || width < LEAST_WIDTH + content.left + content.right || height < 50 ? null : this.frameOf(content, width, height, scrollTop);
	}
	at(x, y, run) {
		const frame = this.frame();
		if (frame !== null && this.content !== null && y <= frame.bottom) run(this.content, frame.time(x), y + frame.scrolled, frame);
	}
	hover(event) {
		let lines = [];
		const box = this.seen.getBoundingClientRect();
		if (event.buttons === 0) this.at(event.clientX - box.left, event.clientY - box.top, (content, ...place) => {
			lines = content.tip(...place);
		});
		this.tip.hidden = lines.length === 0;
		if (lines.length === 0) return;
		this.tip.replaceChildren(...lines.map((line, place) => h(place === 0 ? "strong" : "p", {}, line)));
		const { offsetWidth: width, offsetHeight: height } = this.tip;
		const left = event.clientX + 16 + width > innerWidth ? event.clientX - width - 12 : event.clientX + 16;
		this.tip.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, Math.min(event.clientY + 18, innerHeight - height - 8))}px)`;
	}
	draw() {
		cancelAnimationFrame(this.frameNumber);
		this.frameNumber = 0;
		const { content } = this;
		if (content === null) return;
		this.whole.style.height = content.rows === null ? "100%" : `${content.above + content.rows + BELOW}px`;
		const frame = this.frame(), { clientWidth: width, clientHeight: height } = this.element, scale = devicePixelRatio;
		if (frame === null) return;
		this.seen.style.height = `${height}px`;
		this.canvas.width = Math.round(width * scale);
		this.canvas.height = Math.round(height * scale);
		this.canvas.style.width = `${width}px`;
		this.canvas.style.height = `${height}px`;
		const ctx = this.canvas.getContext("2d");
		ctx.scale(scale, scale);
		this.paint(ctx, content, frame);
		this.moveCursor();
	}
	paint(ctx, content, frame) {
		const colours = ink(), { selection } = this.view.now;
		ctx.fillStyle = css(colours.background);
		ctx.fillRect(0, 0, frame.width, frame.bottom + BELOW);
		drawTimes(ctx, frame);
		ctx.save();
		ctx.beginPath();
		ctx.rect(0, 0, frame.width, frame.bottom);
		ctx.clip();
		content.draw(ctx, frame);
		ctx.restore();
		const selected = selection === null ? null : frame.part(selection.begin, selection.end);
		if (selected === null) return;
		ctx.fillStyle = colours.selection;
		ctx.fillRect(selected[0], 0, selected[1], frame.bottom);
	}
};
function drawTimes(ctx, frame) {
	const colours = ink();
	ctx.font = FONT$1;
	ctx.textBaseline = "middle";
	let free = 0;
	for (const { x, text, isFull } of ticks$1(frame)) {
		if (x < frame.left || x > frame.right) continue;
		ctx.fillStyle = colours.line;
		ctx.fillRect(Math.round(x), frame.top, 1, frame.bottom + 4 - frame.top);
		const room = ctx.measureText(text).width, at = Math.min(x - (isFull ? 0 : room / 2), frame.width - room - 2);
		if (at < free) continue;
		ctx.fillStyle = isFull ? colours.text : colours.faint;
		ctx.fillText(text, at, frame.bottom + BELOW / 2 + 2);
		free = at + room + 8;
	}
}
/** A text that ends at x. */
function endAt(ctx, text, x, y) {
	ctx.fillText(text, x - ctx.measureText(text).width, y);
}
/** A text, cut with "…" where it is wider than so much. */
function fitting$1(ctx, text, most) {
	if (ctx.measureText(text).width <= most) return text;
	let low = 0, high = text.length;
	while (low < high) {
		const middle = low + high + 1 >> 1;
		if (ctx.measureText(`${text.slice(0, middle)}…`).width <= most) low = middle;
		else high = middle - 1;
	}
	return `${text.slice(0, low)}…`;
}
/** Pictures below each other as the text of one SVG file; null where nothing is drawn. */
function svgOfPictures(pictures) {
	const parts = pictures.flatMap(({ picture, title }) => picture.svg(title) ?? []);
	if (parts.length === 0) return null;
	const svg = new SvgContext(Math.max(...parts.map((it) => it.width)), parts.reduce((sum, it) => sum + it.height, 0));
	svg.fillStyle = css(ink().background);
	svg.fillRect(0, 0, Math.max(...parts.map((it) => it.width)), parts.reduce((sum, it) => sum + it.height, 0));
	let top = 0;
	for (const part of parts) {
		svg.translated(0, top, () => part.draw(svg));
		top += part.height;
	}
	return svg.text();
}
// src/panels/diskScene.ts
var LEFT$4 = 78;
var RIGHT$2 = 10;
var ABOVE = 8;
var NEAR = 9;
/** More requests than these have no lines between them. */
var MOST_LINES = 2e3;
var COLOURS$1 = [
	"#1482dc",
	"#d76e00",
	"#2f9e44",
	"#c80064",
	"#963caa",
	"#009696",
	"#b5730a"
];
var OTHERS = "#828282";
/** How many processes have a colour of their own. */
var NAMED = COLOURS$1.length;
function processColour(place) {
	return COLOURS$1[place] ?? OTHERS;
}
function processName(disk, place) {
	const it = disk.processes[place];
	return it === void 0 || it.pid === null ? "unknown" : `${it.comm ?? "?"} ${it.pid}`;
}
/** How requests follow each other, in words; and how many are drawn, if not all. */
function seeksText({ total, follow, elsewhere, mean_bytes, accesses }) {
	const all = `${formatCount(total)} ${total === 1 ? "request" : "requests"}`, away = elsewhere === 0 ? "" : `, ${formatCount(elsewhere)} elsewhere, ${formatBytes(mean_bytes)} away on average`;
	return `${all}${total < 2 ? "" : `, ${formatCount(follow)} ${follow === 1 ? "starts" : "start"} where the one before ends${away}`}${accesses.length < total ? `; ${formatCount(accesses.length)} of ${formatCount(total)} drawn, evenly chosen` : ""}`;
}
/** From the first byte to the last; with a little room. */
function offsetsOf(accesses) {
	let least = Infinity, most = -Infinity;
	for (const [, offset, bytes] of accesses) {
		least = Math.min(least, offset);
		most = Math.max(most, offset + bytes);
	}
	const room = Math.max(1, most - least) * .03;
	return accesses.length === 0 ? [0, 1] : [least - room, most + room];
}
/** Round offsets for about so many marks. */
function marksOf(least, most, about) {
	const by = roundStep((most - least) / Math.max(1, about)), marks = [];
	for (let mark = Math.ceil(Math.max(0, least) / by) * by; mark <= most; mark += by) marks.push(mark);
	return marks;
}
function diskContent(disk, doers) {
	const [least, most] = offsetsOf(disk.accesses), y = (frame, offset) => frame.bottom - (offset - least) / (most - least) * (frame.bottom - frame.top);
	const shift = () => doers.shift(disk.host);
	const nearest = (at, top, frame) => {
		const moved = shift(), x = frame.x(at);
		let best = null, distance = NEAR;
		for (const access of disk.accesses) {
			const far = Math.hypot(frame.x(access[0] + moved) - x, y(frame, access[1]) - top);
			if (far < distance) [best, distance] = [access, far];
		}
		return best;
	};
	return {
		left: LEFT$4,
		right: RIGHT$2,
		above: ABOVE,
		rows: null,
		draw: (ctx, frame) => {
			drawMarks(ctx, frame, least, most, (offset) => y(frame, offset));
			const moved = shift(), seen = disk.accesses.filter(([at]) => at + moved >= frame.begin && at + moved <= frame.end);
			if (disk.accesses.length <= MOST_LINES && disk.accesses.length === disk.total) drawLines(ctx, frame, disk.accesses, moved, (offset) => y(frame, offset));
			for (const [at, offset, , process, isWrite] of seen) drawDot(ctx, frame.x(at + moved), y(frame, offset), processColour(process), isWrite);
		},
		tip: (at, top, frame) => {
			const access = nearest(at, top, frame);
			return access === null ? [] : tipOf$2(disk, access, frame.origin);
		},
		click: (at, top, frame) => {
			const access = nearest(at, top, frame);
			if (access !== null) doers.click(disk, access);
		}
	};
}
function tipOf$2(disk, [at, offset, bytes, process, isWrite, latency], origin) {
	return [
		`${processName(disk, process)} ${isWrite ? "writes" : "reads"} ${formatBytes(bytes)}`,
		`at byte ${formatCount(offset)}`,
		`issued ${formatTime(origin, at)}`,
		latency === null ? "its completion was not seen" : `took ${formatDuration(latency)}`
	];
}
function drawMarks(ctx, frame, least, most, y) {
	const colours = ink(), marks = marksOf(least, most, Math.max(2, Math.floor((frame.bottom - frame.top) / 30)));
	ctx.font = FONT$1;
	ctx.textBaseline = "middle";
	for (const mark of marks) {
		const at = Math.round(y(mark));
		ctx.fillStyle = colours.line;
		ctx.fillRect(frame.left, at, frame.right - frame.left, 1);
		ctx.fillStyle = colours.faint;
		endAt(ctx, formatBytes(mark), frame.left - 5, Math.max(frame.top + 4, Math.min(at, frame.bottom - 4)));
	}
}
/** From the end of each request to the start of the next one. */
function drawLines(ctx, frame, accesses, shift, y) {
	ctx.save();
	ctx.beginPath();
	ctx.rect(frame.left, 0, frame.right - frame.left, frame.bottom);
	ctx.clip();
	ctx.strokeStyle = ink().line;
	ctx.lineWidth = .75;
	ctx.beginPath();
	accesses.forEach(([at, offset, bytes], place) => {
		const x = frame.x(at + shift);
		if (place === 0) ctx.moveTo(x, y(offset));
		else ctx.lineTo(x, y(offset));
		ctx.lineTo(x, y(offset + bytes));
	});
	ctx.stroke();
	ctx.restore();
}
function drawDot(ctx, x, y, colour, isWrite) {
	if (isWrite) {
		ctx.strokeStyle = colour;
		ctx.lineWidth = 1.25;
		ctx.strokeRect(x - 2, y - 2, 4, 4);
	} else {
		ctx.fillStyle = colour;
		ctx.fillRect(x - 1.75, y - 1.75, 3.5, 3.5);
	}
}
// src/panels/picturePanel.ts
var PicturePanel = class extends AskingPanel {
	constructor(id, title, view, navigator) {
		super(id, title, view, navigator, [
			"window",
			"clock",
			"hover",
			"selection"
		]);
		this.controls.append(button("SVG", "Save the pictures of this panel as an SVG file", () => {
			const svg = this.svg();
			if (svg !== null) saveSvg(svg, view, id);
		}, { class: "save" }));
	}
	/** The text of the file. */
	svg() {
		return svgOfPictures(this.pictures());
	}
	changed(_now, changed) {
		if (changed.has("clock") || changed.has("window") && !this.isLed) this.letGo();
		for (const { picture } of this.pictures()) if (changed.has("window") || changed.has("clock") || changed.has("selection")) picture.drawSoon();
		else picture.moveCursor();
		if (changed.has("window") || changed.has("clock")) this.askWhenQuick();
	}
	themed() {
		for (const { picture } of this.pictures()) picture.drawSoon();
	}
};
// src/panels/disks.ts
/** Requests of a disk that are drawn; disks that are. */
var LIMIT$4 = 5e3;
var MOST_DISKS = 16;
var DisksPanel = class extends PicturePanel {
	drawn = [];
	charts = h("div", { class: "disks-charts" });
	table;
	parts;
	constructor(view, navigator) {
		super("disks", "Disks", view, navigator);
		const of = ({ disk, place }) => disk.processes[place];
		this.table = new DataTable({
			label: "Requests to disks by process: a click goes to the disk",
			origin: () => this.origin,
			pick: ({ disk }) => this.goAndStay(() => this.navigator.go(disk.row, (view.now.window.begin + view.now.window.end) / 2)),
			columns: [
				{
					title: "disk",
					value: ({ disk }) => this.nameOf(disk)
				},
				{
					title: "process",
					value: ({ disk, place }) => processName(disk, place),
					draw: ({ disk, place }) => swatch(processColour(place), processName(disk, place)),
					grow: true
				},
				{
					title: "requests",
					unit: "count",
					value: (row) => of(row).requests
				},
				{
					title: "read",
					unit: "bytes",
					value: (row) => of(row).read_bytes
				},
				{
					title: "written",
					unit: "bytes",
					value: (row) => of(row).written_bytes
				}
			]
		});
		this.parts = h("div", { class: "picture-parts" }, this.charts, titled("In this window", this.table));
	}
	pictures() {
		return this.drawn.map(({ disk, picture }) => ({
			picture,
			title: `${this.nameOf(disk)}: ${seeksText(disk)}`
		}));
	}
	forget() {
		this.drawn = [];
		this.charts.replaceChildren();
		this.table.set([]);
		this.body.replaceChildren();
	}
	async load(signal) {
		const range = this.showRange("window");
		const { disks, command } = await api.accesses(range.begin, range.end, LIMIT$4, this.progress.ask, signal);
		this.command.set(command);
		if (disks.length === 0) {
			this.forget();
			this.body.replaceChildren(notice("empty", "No request to a disk was issued in this time", "Or they were not recorded: that needs `block_rq_issue` and `block_rq_complete`."));
			return;
		}
		if (this.body.firstChild !== this.parts) this.body.replaceChildren(this.parts);
		this.drawn = disks.slice(0, MOST_DISKS).map((disk) => ({
			disk,
			picture: this.drawn.find((it) => it.disk.host === disk.host && it.disk.disk === disk.disk)?.picture ?? new TimePicture(this.view, this.navigator, this.timesShown)
		}));
		const left = disks.length - this.drawn.length;
		this.charts.replaceChildren(...this.drawn.map(({ disk, picture }) => h("section", { class: "block" }, h("div", { class: "block-head" }, h("h3", {}, this.nameOf(disk)), h("span", {
			class: "muted seeks",
			title: seeksText(disk)
		}, seeksText(disk))), picture.element, this.legend(disk))), ...left > 0 ? [h("p", { class: "missing muted" }, `${formatCount(left)} more disks with fewer requests are not drawn`)] : []);
		for (const { disk, picture } of this.drawn) picture.set(diskContent(disk, this.doers), `Requests to ${this.nameOf(disk)} by their first byte over time: ${seeksText(disk)}`);
		this.table.set(disks.flatMap((disk) => disk.processes.map((_, place) => ({
			disk,
			place
		}))));
	}
	legend(disk) {
		const others = disk.processes.length - NAMED;
		return h("div", { class: "legend" }, ...disk.processes.slice(0, NAMED).map((_, place) => swatch(processColour(place), processName(disk, place))), others > 0 ? swatch(processColour(NAMED), `${formatCount(others)} others`) : null, h("span", { class: "muted" }, "■ reads  □ writes"));
	}
	doers = {
		shift: (host) => toShown(this.view, this.view.now.experiment?.hosts[host]?.row ?? null, 0),
		click: (disk, [at, , , , , latency]) => {
			const begin = toShown(this.view, disk.row, at);
			this.goAndStay(() => {
				this.view.set({ selection: {
					begin,
					end: begin + (latency ?? 0)
				} });
				this.navigator.go(disk.row, begin);
			});
		}
	};
	nameOf(disk) {
		return `${this.view.now.experiment?.hosts[disk.host]?.name ?? ""} ${disk.disk}`;
	}
};
// src/panels/eventFields.ts
/** "{ cpu_id = 0 }, { prev_comm = \"a, b\", nested = { x = 1 } }": the groups as they are written, the payload last; null where the text is of another form, or cut. */
function groupsOf(text) {
	const groups = [];
	let depth = 0, start = 0, isQuoted = false;
	for (let at = 0; at < text.length; at += 1) {
		const letter = text[at];
		if (letter === "\\") at += 1;
		else if (letter === "\"") isQuoted = !isQuoted;
		else if (!isQuoted && (letter === "{" || letter === "[")) {
			if (depth === 0) start = at;
			depth += 1;
		} else if (!isQuoted && (letter === "}" || letter === "]")) {
			depth -= 1;
			if (depth === 0) groups.push(text.slice(start + 1, at).trim());
		}
	}
	return depth !== 0 || groups.length === 0 ? null : groups;
}
/** The fields of a group, in their order. */
function fieldsOf(group) {
	const fields = [];
	let depth = 0, start = 0, isQuoted = false;
	const add = (end) => {
		const [, name, value] = /^\s*([^\s=]+)\s*=\s*([\s\S]*?)\s*$/.exec(group.slice(start, end)) ?? [];
		if (name !== void 0) fields.push({
			name,
			value: value ?? ""
		});
	};
	for (let at = 0; at < group.length; at += 1) {
		const letter = group[at];
		if (letter === "\\") at += 1;
		else if (letter === "\"") isQuoted = !isQuoted;
		else if (!isQuoted && (letter === "{" || letter === "[")) depth += 1;
		else if (!isQuoted && (letter === "}" || letter === "]")) depth -= 1;
		else if (!isQuoted && depth === 0 && letter === ",") {
			add(at);
			start = at + 1;
		}
	}
	add(group.length);
	return fields;
}
/** `=$event == "sched_switch" && prev_tid == 216`: the search for all events of the name with that value; null where no expression says it. `isContext`: the field is one of the event's contexts. */
function searchFor(event, { name, value }, isContext = false) {
	return (/^-?\d+$/.test(value) || /^"(?:[^"\\]|\\.)*"$/.test(value)) && /^\w+$/.test(name) ? `=$event == ${JSON.stringify(event)} && ${isContext ? "$ctx." : ""}${name} == ${value}` : null;
}
// src/panels/stepper.ts
/** It is not said that there are none: what is cleared is not known to be empty. */
var NONE = {
	count: 0,
	kind: "listed"
};
/** "3 of 106", "– of at least 500". */
function placeText(place, { count, kind }) {
	if (count === 0) return kind === "all" ? "none" : "";
	const of = formatCount(count);
	return `${place < 0 ? "–" : formatCount(place + 1)} of ${kind === "all" ? of : kind === "listed" ? `${of} listed` : `${kind} ${of}`}`;
}
/** Says so where the marks on the strip are not all. */
function markedText(marked, { count, kind }) {
	return marked === 0 || kind === "all" && marked >= count ? "" : `on the strip: these ${formatCount(marked)} only`;
}
var Stepper = class {
	view;
	table;
	at;
	go;
	place = h("span", {
		class: "place",
		role: "status"
	});
	marked = h("span", { class: "marked" });
	elements;
	total = NONE;
	/** What was gone to last, as text: a list that is asked for again has it as another object. */
	last = null;
	/** `at`: the instant of a mark; null: what is listed has none. */
	constructor(view, table, name, at, go) {
		this.view = view;
		this.table = table;
		this.at = at;
		this.go = go;
		const previous = button("◀", `Previous ${name} (N)`, () => this.step(-1)), next = button("▶", `Next ${name} (n)`, () => this.step(1));
		this.elements = [
			previous,
			this.place,
			next,
			this.marked
		];
		for (const kind of ["click", "keydown"]) table.element.addEventListener(kind, () => this.moved());
	}
	/** Shows a list, and marks it; where the page was in it, it is again. */
	set(items, total, areMarked = true) {
		this.total = total;
		this.table.set(items);
		const again = this.table.place >= 0 || this.last === null ? void 0 : items.find((it) => JSON.stringify(it) === this.last);
		if (again !== void 0) this.table.activate(again);
		const { at } = this;
		this.view.set({ marks: areMarked && at !== null ? items.map((it) => at(it)) : null });
		this.marked.textContent = this.marked.title = markedText(areMarked && at !== null ? items.length : 0, total);
		this.tell();
	}
	/** Nothing is listed any more. */
	clear() {
		this.set([], NONE, false);
	}
	step(by) {
		const it = this.table.step(by);
		if (it === void 0) return;
		this.moved();
		this.go(it);
	}
	moved() {
		const { current } = this.table;
		if (current !== void 0) this.last = JSON.stringify(current);
		this.tell();
	}
	tell() {
		this.place.textContent = placeText(this.table.place, this.total);
	}
};
// src/panels/events.ts
var PAGE = 500;
var MOST$2 = 2e4;
var REST_MS$3 = 350;
var EventsPanel = class extends AskingPanel {
	events = [];
	next = null;
	asked = null;
	more = null;
	nearest = null;
	input = h("input", {
		type: "search",
		placeholder: "text, or =prev_tid == 216 && $cpu > 0",
		"aria-label": "Search events: a text, or an expression after =",
		oninput: () => {
			this.tellKept();
			this.askAgain(REST_MS$3);
		}
	});
	hosts = h("select", {
		"aria-label": "Host",
		onchange: () => this.choose()
	});
	scope = h("select", {
		"aria-label": "Of which time",
		onchange: () => this.choose()
	}, h("option", { value: "range" }, "selection / window"), h("option", { value: "window" }, "window"), h("option", { value: "from" }, "from the instant on"));
	count = h("span", {
		class: "muted",
		role: "status"
	});
	table;
	steps;
	/** The fields of the event that was picked. */
	fields = h("section", {
		class: "event-fields",
		"aria-label": "Fields of the event",
		hidden: true
	});
	parts = h("div", { class: "event-parts" });
	constructor(view, navigator) {
		super("events", "Events", view, navigator, [
			"window",
			"selection",
			"clock"
		]);
		this.input.className = "wide";
		this.table = new DataTable({
			label: "Events: a click goes there",
			origin: () => this.origin,
			pick: (it) => this.go(it),
			open: (it) => this.zoom(it),
			mark: (it) => it === this.nearest ? "nearest" : null,
			nearEnd: () => void this.loadMore(),
			columns: [
				{
					title: "time",
					unit: "time",
					value: (it) => it.at
				},
				{
					title: "host",
					value: (it) => this.hostName(it.host)
				},
				{
					title: "CPU",
					unit: "count",
					value: (it) => it.cpu,
					text: (it) => String(it.cpu ?? "–")
				},
				{
					title: "thread",
					description: "That ran",
					value: (it) => nameOf$1(this.view, it.row).replace(/^\S+ /, ""),
					width: 22
				},
				{
					title: "event",
					value: (it) => it.name,
					width: 30
				},
				{
					title: "fields",
					value: (it) => it.text,
					draw: (it) => drawFields(it.text),
					grow: true
				}
			]
		});
		this.parts.append(this.table.element, this.fields);
		this.steps = new Stepper(view, this.table, "event", (it) => toShown(view, this.rowOf(it), it.at), (it) => this.go(it));
		this.controls.append(this.input, this.hosts, this.scope, ...this.steps.elements, this.count, button("⇥", "Show the event next to the selected instant", () => this.jump(), { class: "jump" }), this.table.copy);
	}
	/** What is searched for; with the host and the time before it, where these are others than at first. */
	get kept() {
		const text = this.input.value.trim();
		return this.hosts.value === "" && this.scope.value === "range" && !text.startsWith("~") ? text : `~${this.hosts.value}~${this.scope.value}~${text}`;
	}
	keep(text) {
		const [, host, scope, search] = /^~(\d*)~(range|window|from)~(.*)$/s.exec(text) ?? [
			null,
			"",
			"range",
			text
		];
		this.shown();
		this.input.value = search;
		this.hosts.value = host;
		this.scope.value = scope;
		if (this.hosts.selectedIndex < 0) this.hosts.value = "";
		if (this.isSeen) this.ask();
	}
	choose() {
		this.tellKept();
		this.ask();
	}
	shown() {
		const hosts = this.view.now.experiment?.hosts ?? [];
		if (this.hosts.options.length === hosts.length + 1) return;
		const inOrder = [...hosts].sort((a, b) => compare(a.name, b.name, false));
		this.hosts.replaceChildren(h("option", { value: "" }, "all hosts"), ...inOrder.map((it) => h("option", { value: it.host }, it.name)));
		this.hosts.hidden = hosts.length < 2;
	}
	changed(_now, changed) {
		const { value } = this.scope;
		if (changed.has("selection") && value === "window" && !changed.has("window")) {
			this.find(true);
			return;
		}
		if (value === "from" && changed.has("window") && !changed.has("selection")) return;
		if (value === "range" && this.view.now.selection !== null && !changed.has("selection") && !changed.has("clock")) return;
		this.askSoon();
	}
	forget() {
		this.more?.abort();
		this.more = null;
		this.events = [];
		this.next = null;
		this.nearest = null;
		this.steps.clear();
		this.fields.hidden = true;
	}
	async load(signal) {
		const range = this.rangeOf(), search = this.input.value.trim(), hosts = this.hosts.value;
		this.more?.abort();
		this.more = null;
		this.input.classList.remove("wrong");
		const answer = await api.events({
			begin: range.begin,
			end: range.end,
			limit: PAGE,
			search,
			hosts,
			ask: this.progress.ask
		}, signal).catch((error) => {
			if (search !== "") this.input.classList.add("wrong");
			throw error;
		});
		this.asked = {
			range,
			search,
			hosts
		};
		this.events = answer.events;
		this.next = answer.next;
		this.command.set(answer.command);
		if (this.events.length === 0) {
			this.steps.clear();
			this.count.textContent = "";
			this.body.replaceChildren(notice("empty", search === "" ? "No events in this time" : "No event has that", search === "" ? "Nothing was recorded then." : "Texts are searched in names and fields as they are written, with upper and lower case. `=$event == \"sched_switch\" && prev_tid == 216` is an expression, as in `isochrone events --where`."));
			return;
		}
		if (this.body.firstChild !== this.parts) this.body.replaceChildren(this.parts);
		this.table.element.scrollTop = 0;
		this.list();
		this.find(true);
		this.tell();
	}
	/** Those that were searched for are marked; marks of all events would be everywhere. */
	list() {
		this.steps.set(this.events, {
			count: this.events.length,
			kind: this.next === null ? "all" : "at least"
		}, this.asked?.search !== "");
	}
	rangeOf() {
		const covered = this.showRange(this.scope.value === "window" ? "window" : "range"), { selection, row, experiment } = this.view.now;
		if (this.scope.value !== "from" || selection === null) return covered;
		this.heading.textContent = "from the selected instant on";
		return {
			...covered,
			begin: Math.floor(toCommon(this.view, row, selection.begin)),
			end: experiment?.end ?? covered.end
		};
	}
	async loadMore() {
		const { asked, next } = this;
		if (asked === null || next === null || this.more !== null || this.events.length >= MOST$2 || this.table.count === 0) return;
		const more = this.more = new AbortController();
		const answer = await this.during(api.events({
			begin: asked.range.begin,
			end: asked.range.end,
			limit: PAGE,
			search: asked.search,
			hosts: asked.hosts,
			after: next
		}, more.signal)).catch(() => null);
		if (this.more !== more) return;
		this.more = null;
		if (answer === null || asked !== this.asked) return;
		this.events = [...this.events, ...answer.events];
		this.next = answer.next;
		this.list();
		this.find(false);
		this.tell();
	}
	tell() {
		const count = formatCount(this.events.length);
		this.count.textContent = this.next === null ? `${count} events` : this.events.length >= MOST$2 ? `the first ${count}: search, or take less time` : `the first ${count}, more below`;
	}
	instant() {
		const { selection, row } = this.view.now;
		return selection === null ? null : toCommon(this.view, row, selection.begin);
	}
	/** The event next to the selected instant. */
	find(isSeen) {
		const at = this.instant();
		this.nearest = at === null || this.scope.value === "range" ? null : this.events.reduce((a, b) => a === null || Math.abs(b.at - at) < Math.abs(a.at - at) ? b : a, null);
		if (this.nearest !== null && isSeen) this.table.activate(this.nearest);
		else this.table.redraw();
	}
	/** Goes to the selected instant, wherever in the trace it is. */
	jump() {
		const at = this.instant();
		if (at === null) {
			this.count.textContent = "no instant is selected: click in the time graph";
			return;
		}
		const isLoaded = this.events.length > 0 && at <= this.events.at(-1).at && at >= this.events[0].at;
		this.scope.value = isLoaded && this.scope.value === "window" ? "window" : "from";
		this.tellKept();
		if (isLoaded && this.scope.value === "window") this.find(true);
		else this.ask();
	}
	async stepList(by) {
		await this.during(this.loaded);
		if (by > 0 && this.table.place === this.table.count - 1) await this.loadMore();
		this.steps.step(by);
	}
	hostName(host) {
		return this.view.now.experiment?.hosts[host]?.name ?? String(host);
	}
	rowOf(it) {
		return it.row ?? this.view.now.experiment?.hosts[it.host]?.row ?? null;
	}
	/** All fields of an event, one below the other; a value leads to all events that have it. */
	showFields(it) {
		const groups = groupsOf(it.text), close = button("×", "Close the fields", () => {
			this.fields.hidden = true;
		}, { class: "close" });
		const list = (fields, isContext) => h("dl", {}, ...fields.flatMap((field) => {
			const search = searchFor(it.name, field, isContext), value = search === null ? field.value : button(field.value, `Find the events with this: ${search.slice(1)}`, () => {
				this.input.value = search;
				this.tellKept();
				this.ask();
			}, { class: "value" });
			return [h("dt", {}, field.name), h("dd", {}, value)];
		}));
		const contexts = groups?.slice(0, -1).flatMap(fieldsOf) ?? [];
		this.fields.replaceChildren(h("div", { class: "block-head" }, h("h3", {}, it.name), copyButton("copy", "Copy the fields", () => it.text), close), ...groups === null ? [h("p", { class: "muted" }, it.text)] : [list(fieldsOf(groups.at(-1)), false), ...contexts.length > 0 ? [h("h3", {}, "contexts"), list(contexts, true)] : []]);
		this.fields.hidden = false;
	}
	go(it) {
		this.showFields(it);
		const row = this.rowOf(it), at = toShown(this.view, row, it.at);
		this.hold();
		this.navigator.go(row, at);
		this.view.set({ hover: at });
	}
	zoom(it) {
		const row = this.rowOf(it), at = toShown(this.view, row, it.at), { begin, end } = this.view.now.window, half = Math.min((end - begin) / 20, 5e5);
		this.hold();
		this.navigator.go(row, at, {
			begin: at - half,
			end: at + half
		});
	}
};
/** "{ contexts }, { payload }": the payload first, the contexts paler behind it. */
function drawFields(text) {
	const groups = groupsOf(text);
	return groups === null ? text : h("span", {}, `${groups.at(-1)} `, h("span", { class: "muted" }, groups.slice(0, -1).join(", ")));
}
// src/panels/flows.ts
var LIMIT$3 = 2e3;
var KINDS$1 = {
	message: "message",
	mpi: "message of MPI",
	wakeup: "wake-up"
};
var FlowsPanel = class extends AskingPanel {
	count = h("span", {
		class: "muted",
		role: "status"
	});
	table;
	constructor(view, navigator) {
		super("flows", "Flows", view, navigator, [
			"row",
			"area",
			"selection",
			"window",
			"clock"
		]);
		this.table = new DataTable({
			label: "Messages and wake-ups: a click goes to the other end",
			origin: () => this.origin,
			pick: (it) => this.go(it, false),
			open: (it) => this.go(it, true),
			columns: [
				{
					title: "at",
					unit: "time",
					description: "At the row that the list is about",
					value: (it) => it[3]
				},
				{
					title: "what",
					value: ([kind]) => KINDS$1[kind]
				},
				{
					title: "way",
					value: ([, way]) => way,
					text: ([, way]) => way === "in" ? "← in" : "out →"
				},
				{
					title: "other end",
					value: (it) => nameOf$1(view, it[4]),
					grow: true
				},
				{
					title: "takes",
					unit: "ns",
					description: "From where it comes to where it arrives, on the clock that is shown",
					value: ([kind, way, , at, , other]) => kind === "wakeup" ? null : way === "in" ? at - other : other - at
				},
				{
					title: "details",
					value: (it) => it[6],
					width: 34
				},
				{
					title: "row",
					value: (it) => nameOf$1(view, it[2]),
					width: 20
				}
			]
		});
		this.controls.append(this.count, this.table.copy);
	}
	changed(now, changed) {
		if (this.isGoing) {
			this.askSoon();
			return;
		}
		if (!(changed.has("row") || changed.has("area") || changed.has("selection") || changed.has("clock")) && (now.selection !== null || this.isHeld)) return;
		this.letGo();
		this.askWhenQuick();
	}
	forget() {
		this.table.set([]);
	}
	async load(signal) {
		const { row, area, selection, window, clock } = this.view.now, rows = area !== null ? [...area] : row === null ? [] : [row], covered = this.showRange();
		if (rows.length === 0) {
			this.heading.textContent = this.count.textContent = "";
			this.command.set("");
			this.table.set([]);
			this.body.replaceChildren(notice("empty", "No row is selected", "Click a state in the time graph, or a name beside it: what its thread, CPU or host sent and received, and its wake-ups are listed here, to be followed."));
			return;
		}
		const range = clock === "common" ? covered : covered.what === "selection" && selection !== null ? selection : window, name = rows.length === 1 ? nameOf$1(this.view, rows[0]) : `${formatCount(rows.length)} rows`;
		const { total, flows, not_looked_up: others } = await api.flows({
			rows,
			begin: range.begin,
			end: range.end,
			clock,
			limit: LIMIT$3,
			ask: this.progress.ask
		}, signal);
		this.heading.textContent = `${name}, ${this.heading.textContent}`;
		this.command.none("no command lists both; SQL has them in `messages` and `wakeups`");
		const more = others > 0 ? `; ${formatCount(others)} ends of messages are of what ran then, sockets are not looked up: take less time` : "";
		this.count.textContent = `${formatCount(flows.length)} of ${formatCount(total)} messages and wake-ups${flows.length < total ? ", the first ones" : ""}${more}`;
		this.table.set(flows);
		if (flows.length > 0) {
			if (this.body.firstChild !== this.table.element) this.body.replaceChildren(this.table.element);
			return;
		}
		this.body.replaceChildren(notice("empty", `No message and no wake-up of ${name} is known in this ${covered.what}`, covered.what === "selection" ? "Esc leaves the selection: then it is the whole window. Analyses → ipc says what was not recorded." : "Take more time: `f` shows all there is. Analyses → ipc says what was not recorded."));
	}
	/** Selects what is at the other end; `isZoomed`: shows both ends alone. */
	go([, , , at, row, other], isZoomed) {
		const begin = Math.min(at, other), end = Math.max(at, other), room = Math.max(end - begin, 1e3);
		this.goAndStay(() => {
			this.navigator.go(row, other, isZoomed ? {
				begin: begin - room,
				end: end + room
			} : void 0);
			this.view.set({
				selection: null,
				hover: other
			});
		});
		this.during(this.select(row, other));
	}
	async select(row, at) {
		const state = await api.state(row, at, this.view.now.clock).catch(() => null);
		if (state === null || !this.isSeen || this.view.now.row !== row || this.view.now.selection !== null) return;
		this.goAndStay(() => this.view.set({ selection: {
			begin: state.begin,
			end: state.end
		} }));
	}
};
// src/panels/histogram.ts
/** Bars of a decade. */
var PER_DECADE = 12;
/** The bars of some durations, ns: each holds those from its begin to before its end. */
function barsOf(durations) {
	if (durations.length === 0) return [];
	const place = (ns) => Math.floor(Math.log10(Math.max(1, ns)) * PER_DECADE + 1e-9), edge = (place) => Math.round(10 ** (place / PER_DECADE));
	const counts = /* @__PURE__ */ new Map();
	for (const ns of durations) {
		let at = place(ns);
		if (ns < edge(at)) at -= 1;
		else if (ns >= edge(at + 1)) at += 1;
		counts.set(at, (counts.get(at) ?? 0) + 1);
	}
	const first = Math.min(...counts.keys()), last = Math.max(...counts.keys());
	return Array.from({ length: last - first + 1 }, (_, by) => ({
		from: edge(first + by),
		to: edge(first + by + 1),
		count: counts.get(first + by) ?? 0
	}));
}
var Histogram = class {
	chosen;
	bars = [];
	/** The first and the last bar that are chosen. */
	range = null;
	from = 0;
	columns = h("div", { class: "columns" });
	ends = h("div", { class: "ends muted" }, h("span"), h("span"));
	element = h("div", {
		class: "histogram",
		role: "slider",
		tabindex: 0,
		"aria-label": "Durations: drag over bars, or the arrow keys, with Shift for more of them",
		"aria-valuemin": 0
	}, this.columns, this.ends);
	constructor(chosen) {
		this.chosen = chosen;
		const at = (event) => Math.max(0, Math.min(this.bars.length - 1, Math.floor((event.clientX - this.columns.getBoundingClientRect().left) / Math.max(1, this.columns.clientWidth) * this.bars.length)));
		this.columns.addEventListener("pointerdown", (event) => {
			this.columns.setPointerCapture(event.pointerId);
			this.from = at(event);
			this.mark(this.from, this.from);
		});
		this.columns.addEventListener("pointermove", (event) => {
			if (this.columns.hasPointerCapture(event.pointerId)) this.mark(this.from, at(event));
		});
		this.columns.addEventListener("pointerup", () => this.tell());
		this.element.addEventListener("keydown", (event) => this.key(event));
	}
	/** `from`, `to`: what is chosen of them. */
	set(bars, from, to) {
		this.bars = bars;
		const most = Math.max(1, ...bars.map((bar) => bar.count));
		this.columns.replaceChildren(...bars.map((bar) => {
			const column = h("span", { title: `${formatDuration(bar.from)} to ${formatDuration(bar.to)}: ${formatCount(bar.count)}` }, h("i"));
			column.firstChild.style.height = bar.count === 0 ? "0" : `${Math.max(3, 100 * bar.count / most)}%`;
			return column;
		}));
		const [first, last] = this.ends.children;
		first.textContent = bars.length === 0 ? "" : formatDuration(bars[0].from);
		last.textContent = bars.length === 0 ? "" : formatDuration(bars.at(-1).to);
		this.element.setAttribute("aria-valuemax", String(Math.max(0, bars.length - 1)));
		const inside = bars.flatMap((bar, place) => bar.from >= from && bar.to <= to ? [place] : []);
		if (inside.length > 0) this.mark(inside[0], inside.at(-1));
		else this.mark(bars.length - 1, bars.length - 1);
	}
	mark(a, b) {
		this.range = [Math.min(a, b), Math.max(a, b)];
		const [first, last] = this.range;
		[...this.columns.children].forEach((column, place) => column.classList.toggle("chosen", place >= first && place <= last));
		this.element.setAttribute("aria-valuenow", String(first));
		this.element.setAttribute("aria-valuetext", this.bars.length === 0 ? "none" : `${formatDuration(this.bars[first]?.from)} to ${formatDuration(this.bars[last]?.to)}`);
	}
	tell() {
		const [first, last] = this.range ?? [0, 0], from = this.bars[first], to = this.bars[last];
		if (from !== void 0 && to !== void 0) this.chosen(from.from, to.to);
	}
	key(event) {
		const by = {
			ArrowLeft: -1,
			ArrowRight: 1
		}[event.key];
		if (by === void 0 || this.range === null) return;
		const [first, last] = this.range, inside = (place) => Math.max(0, Math.min(this.bars.length - 1, place));
		if (event.shiftKey) this.mark(inside(first + Math.min(0, by)), inside(last + Math.max(0, by)));
		else this.mark(inside(first + by), inside(first + by));
		this.tell();
		event.preventDefault();
		event.stopPropagation();
	}
};
// src/panels/latency.ts
/** Means of both parts; what the others are compared with is unknown where there are none. */
function meansOf({ chosen, others, causes }) {
	return causes.map((it) => {
		const mean = chosen === 0 ? 0 : it.chosen_ns / chosen, usual = others === 0 ? null : it.others_ns / others;
		return {
			where: who(it),
			cause: it.cause,
			chosen: mean,
			others: usual,
			more: usual === null ? null : mean - usual
		};
	});
}
var LatencyPanel = class extends AskingPanel {
	requests = [];
	range = null;
	/** The service that an address asks for, until services are known. */
	wanted = null;
	service = h("select", {
		"aria-label": "Service",
		onchange: () => {
			this.range = null;
			this.choose();
		}
	});
	said = h("p", {
		class: "sentence muted",
		role: "status"
	});
	histogram = new Histogram((from, to) => {
		this.range = [from, to];
		this.choose();
	});
	table;
	list;
	parts;
	constructor(view, navigator) {
		super("latency", "Latency", view, navigator, []);
		const origin = () => this.origin;
		this.table = new DataTable({
			label: "Time by cause, means of the chosen requests and of the others",
			origin,
			sort: [4, true],
			columns: [
				{
					title: "where",
					value: (it) => it.where,
					grow: true
				},
				{
					title: "cause",
					value: (it) => it.cause,
					text: (it) => causeWord(it.cause),
					draw: (it) => swatch(causeColour(it.cause), causeWord(it.cause)),
					width: 17
				},
				{
					title: "chosen",
					unit: "ns",
					description: "Mean of the chosen requests",
					value: (it) => it.chosen
				},
				{
					title: "others",
					unit: "ns",
					description: "Mean of the others of the service",
					value: (it) => it.others
				},
				{
					title: "more",
					unit: "ns",
					description: "Mean of the chosen beyond that of the others",
					value: (it) => it.more,
					text: (it) => it.more === null ? "–" : `${it.more > 0 ? "+" : ""}${formatDuration(it.more)}`
				}
			]
		});
		this.list = new DataTable({
			label: "The chosen requests: a click shows the critical path",
			origin,
			sort: [1, true],
			pick: (it) => void this.during(this.showPath(it)),
			columns: [
				{
					title: "#",
					value: (it) => it.request,
					isNumber: true
				},
				{
					title: "total",
					unit: "ns",
					value: (it) => it.total_ns
				},
				{
					title: "client",
					value: (it) => it.client,
					grow: true
				},
				{
					title: "server",
					value: (it) => it.server,
					grow: true
				},
				{
					title: "begin",
					unit: "time",
					value: (it) => it.begin
				}
			]
		});
		this.controls.append(this.service);
		this.parts = h("div", { class: "latency-parts" }, h("div", { class: "block" }, this.histogram.element, this.said), titled("Why: all paths together", this.table), titled("The chosen requests", this.list));
	}
	/** The service, where it is not the first, and the durations that were chosen. */
	get kept() {
		const service = this.wanted ?? (this.service.selectedIndex > 0 ? this.service.value : null);
		return service === null && this.range === null ? "" : `${service === null ? "" : `=${encodeURIComponent(service)}`}~${this.range?.join(",") ?? ""}`;
	}
	keep(text) {
		const [, service, from, to] = /^(?:=(.*))?~(?:([\d.]+),([\d.]+))?$/.exec(text) ?? [];
		this.wanted = service === void 0 ? null : decoded(service);
		this.range = from === void 0 ? null : [Number(from), Number(to)];
		if (this.wanted === null && this.service.options.length > 0) this.service.selectedIndex = 0;
		if (this.isSeen) this.ask();
	}
	choose() {
		this.tellKept();
		this.ask();
	}
	renewed() {
		if (this.service.selectedIndex > 0) this.wanted = this.service.value;
		this.requests = [];
		super.renewed();
	}
	forget() {
		this.table.set([]);
		this.list.set([]);
	}
	async load(signal) {
		if (this.requests.length === 0) {
			const answer = await api.requests(this.progress.ask, signal);
			if (signal.aborted) return;
			if (answer.requests.length === 0) {
				this.body.replaceChildren(notice("empty", "No requests were found", answer.note));
				return;
			}
			this.requests = answer.requests;
			this.service.replaceChildren(...servicesOf(answer.requests).map((it) => h("option", { value: it.name }, `${it.name === "" ? "(no name)" : it.name} (${formatCount(it.count)})`)));
		}
		if (this.wanted !== null && [...this.service.options].some((it) => it.value === this.wanted)) this.service.value = this.wanted;
		this.wanted = null;
		const name = this.service.value, of = this.requests.filter((it) => it.service === name), totals = of.map((it) => it.total_ns).sort((a, b) => a - b);
		const bars = barsOf(totals), p90 = nearestRank(totals, 90), slow = bars.find((bar) => bar.to > p90)?.from ?? 0, [from, to] = this.range ?? [slow, bars.at(-1)?.to ?? 1];
		const compared = await api.compared(name, from, to - 1, this.progress.ask, signal);
		if (this.body.firstChild !== this.parts) this.body.replaceChildren(this.parts);
		this.heading.textContent = `${formatCount(of.length)} requests, median ${formatDuration(nearestRank(totals, 50))}, p95 ${formatDuration(nearestRank(totals, 95))}`;
		this.histogram.set(bars, from, to);
		this.command.set(commandLike(this.view, "critical-path --format json --limit 0"));
		this.table.set(meansOf(compared));
		this.list.set(of.filter((it) => it.total_ns >= from && it.total_ns < to));
		const mean = (ns, count) => count === 0 ? "none" : `${formatCount(count)} requests, mean ${formatDuration(ns / count)}`;
		this.said.textContent = `${formatDuration(from)} to ${formatDuration(to)}: ${mean(compared.chosen_ns, compared.chosen)}; the others: ${mean(compared.others_ns, compared.others)}`;
	}
	async showPath(request) {
		const path = await api.path({ request: request.request }).catch(() => null);
		if (path === null || !this.isSeen) return;
		this.view.set({
			path,
			onlyRows: new Set(path.steps.map((step) => step.row).filter((row) => row !== null))
		});
		this.navigator.go(null, path.begin, {
			begin: path.begin,
			end: path.end
		});
	}
};
// src/panels/livesScene.ts
var HEAD$1 = 18;
var ROW$1 = 18;
var BAR$1 = 12;
var LEFT$3 = 170;
var COLUMN$1 = 84;
function cpuColour() {
	return causeColour("cpu");
}
function unknownColour$1() {
	return css(rgbOf(0), .75);
}
/** CPU time; at least so much, where what is unknown would change the text. */
function cpuText(it) {
	const text = formatDuration(it.cpu_ns);
	return text === formatDuration(it.cpu_ns + it.unknown_ns) ? text : `≥ ${text}`;
}
/** "≥ 12" where some may be missing, "–" where they were not recorded. */
function faultsText(it) {
	return it.page_faults === null ? "–" : `${it.is_whole ? "" : "≥ "}${formatCount(it.page_faults)}`;
}
function livesContent(lives, doers) {
	const hasFaults = lives.some((it) => it.page_faults !== null);
	const found = (y, frame) => y - frame.scrolled < frame.top ? void 0 : lives[Math.floor((y - frame.top) / ROW$1)];
	return {
		left: LEFT$3,
		right: hasFaults ? 168 : COLUMN$1,
		above: HEAD$1,
		rows: lives.length * ROW$1,
		draw: (ctx, frame) => {
			const first = Math.max(0, Math.floor(frame.scrolled / ROW$1)), last = Math.min(lives.length, Math.ceil((frame.scrolled + frame.bottom - frame.top) / ROW$1));
			for (let place = first; place < last; place += 1) drawLife(ctx, frame, lives[place], frame.top + place * ROW$1 - frame.scrolled, hasFaults, doers);
			ctx.fillStyle = css(ink().background);
			ctx.fillRect(0, 0, frame.width, frame.top);
			ctx.fillStyle = ink().faint;
			if (hasFaults) endAt(ctx, "page faults", frame.width - 6, HEAD$1 / 2);
			endAt(ctx, "CPU time", frame.width - 6 - (hasFaults ? COLUMN$1 : 0), HEAD$1 / 2);
		},
		tip: (at, y, frame) => {
			const it = found(y, frame);
			return it === void 0 ? [] : tipOf$1(it, at - doers.shift(it.host), doers.nameOf(it), frame.origin);
		},
		click: (at, y, frame) => {
			const it = found(y, frame);
			if (it !== void 0) doers.click(it, at);
		},
		open: (_at, y, frame) => {
			const it = found(y, frame);
			if (it !== void 0) doers.open(it);
		}
	};
}
/** What is known of a process, and of the step that an instant is in. */
function tipOf$1(it, at, name, origin) {
	const places = placesFor((it.end - it.begin) / 1e3), step = it.steps.find(([begin, end]) => begin <= at && at < end);
	const lines = [
		name,
		`${it.is_begin_seen ? "started" : "there at"} ${formatTime(origin, it.begin, places)}, ${it.is_end_seen ? "ended" : "there until"} ${formatTime(origin, it.end, places)} (${formatDuration(it.end - it.begin)})`,
		`CPU time ${cpuText(it)}${it.unknown_ns > 0 ? `; for ${formatDuration(it.unknown_ns)} it is unknown what ran` : ""}`,
		it.page_faults === null ? "page faults were not recorded" : `page faults ${faultsText(it)}${it.is_whole ? "" : ", events are missing"}`
	];
	if (at >= it.begin && at < it.end) {
		const [begin, end, cpu, unknown] = step ?? [
			0,
			1,
			0,
			0
		], percent = (ns) => `${Math.round(1e3 * ns / (end - begin)) / 10} %`;
		lines.push(`here ${percent(cpu)} of a CPU${unknown > 0 ? `, up to ${percent(unknown)} more` : ""}`);
	}
	return lines;
}
function drawLife(ctx, frame, it, top, hasFaults, doers) {
	const colours = ink(), shift = doers.shift(it.host), y = top + 3, middle = top + ROW$1 / 2, bar = frame.part(it.begin + shift, it.end + shift);
	ctx.font = FONT$1;
	ctx.textBaseline = "middle";
	ctx.fillStyle = colours.text;
	endAt(ctx, fitting$1(ctx, doers.nameOf(it), 156), 162, middle);
	ctx.fillStyle = colours.faint;
	if (hasFaults) endAt(ctx, faultsText(it), frame.width - 6, middle);
	endAt(ctx, cpuText(it), frame.width - 6 - (hasFaults ? COLUMN$1 : 0), middle);
	if (bar === null) return;
	ctx.fillStyle = colours.line;
	ctx.fillRect(bar[0], y, bar[1], BAR$1);
	for (const [begin, end, cpu, unknown] of it.steps) {
		const part = frame.part(begin + shift, end + shift), high = (ns) => Math.min(1, ns / Math.max(1, end - begin)) * BAR$1;
		if (part === null) continue;
		const busy = high(cpu), most = high(cpu + unknown);
		ctx.fillStyle = unknownColour$1();
		if (most > busy) ctx.fillRect(part[0], y + BAR$1 - most, part[1], most - busy);
		ctx.fillStyle = cpuColour();
		if (busy > 0) ctx.fillRect(part[0], y + BAR$1 - busy, part[1], busy);
	}
	ctx.fillStyle = colours.text;
	for (const [isSeen, at] of [[it.is_begin_seen, it.begin], [it.is_end_seen, it.end]]) {
		const x = frame.x(at + shift);
		if (isSeen && x >= frame.left && x <= frame.right) ctx.fillRect(Math.round(x) - 1, y - 2, 2, 16);
	}
}
// src/panels/lives.ts
var LIMIT$2 = 100;
var MOST_STEPS$1 = 400;
var PIXELS_OF_A_STEP$1 = 3;
var LivesPanel = class extends PicturePanel {
	picture;
	table;
	legend = h("span", { class: "legend" });
	count = h("span", { class: "muted" });
	parts;
	constructor(view, navigator) {
		super("lives", "Lives", view, navigator);
		this.picture = new TimePicture(view, navigator, this.timesShown);
		const time = (at) => formatTime(this.origin, at, placesFor((view.now.window.end - view.now.window.begin) / 1e3));
		this.table = new DataTable({
			label: "Processes in the window: a click goes to the row",
			origin: () => this.origin,
			pick: (it) => this.go(it, null),
			open: (it) => this.doers.open(it),
			columns: [
				{
					title: "process",
					value: (it) => this.nameOf(it),
					grow: true
				},
				{
					title: "start",
					description: "–: it was there before",
					unit: "time",
					value: (it) => it.is_begin_seen ? it.begin : null,
					text: (it) => it.is_begin_seen ? time(it.begin) : "–"
				},
				{
					title: "end",
					description: "–: it was there after",
					unit: "time",
					value: (it) => it.is_end_seen ? it.end : null,
					text: (it) => it.is_end_seen ? time(it.end) : "–"
				},
				{
					title: "CPU time",
					unit: "ns",
					value: (it) => it.cpu_ns,
					text: cpuText
				},
				{
					title: "page faults",
					unit: "count",
					value: (it) => it.page_faults,
					text: faultsText
				}
			]
		});
		this.parts = h("div", { class: "picture-parts" }, h("section", { class: "block" }, h("div", { class: "block-head" }, this.count, this.legend), this.picture.element), titled("In this window", this.table));
	}
	pictures() {
		return [{
			picture: this.picture,
			title: this.count.textContent ?? ""
		}];
	}
	forget() {
		this.picture.clear();
		this.table.set([]);
		this.body.replaceChildren();
	}
	themed() {
		this.drawLegend();
		super.themed();
	}
	async load(signal) {
		const range = this.showRange("window"), steps = Math.max(60, Math.min(MOST_STEPS$1, Math.round(this.body.clientWidth * .5 / PIXELS_OF_A_STEP$1)));
		const { total, lives, command } = await api.lives(range.begin, range.end, steps, LIMIT$2, this.progress.ask, signal);
		this.command.set(command);
		if (lives.length === 0) {
			this.body.replaceChildren(notice("empty", "No process was seen to run in this time", "`sched_switch` shows what runs; `f` shows all there is."));
			return;
		}
		if (this.body.firstChild !== this.parts) this.body.replaceChildren(this.parts);
		this.count.textContent = `${formatCount(lives.length)} of ${formatCount(total)} processes that ran${lives.length < total ? ", those with the most CPU time" : ""}`;
		this.drawLegend();
		this.table.set(lives);
		this.picture.set(livesContent(lives, this.doers), `Lives of ${this.count.textContent}: ${lives.map((it) => `${this.nameOf(it)}, CPU time ${cpuText(it)}`).join("; ")}`);
	}
	doers = {
		nameOf: (it) => this.nameOf(it),
		shift: (host) => toShown(this.view, this.view.now.experiment?.hosts[host]?.row ?? null, 0),
		click: (it, at) => this.go(it, at),
		open: (it) => {
			const begin = toShown(this.view, it.row, it.begin), end = toShown(this.view, it.row, it.end);
			this.goAndStay(() => this.navigator.go(it.row, begin, {
				begin,
				end
			}));
		}
	};
	/** Goes to the row of a process; without an instant, at the start of its life, if that is not seen now. */
	go(it, at) {
		const { begin, end } = this.view.now.window, from = toShown(this.view, it.row, it.begin), to = toShown(this.view, it.row, it.end);
		this.goAndStay(() => this.navigator.go(it.row, at ?? (to < begin || from > end ? from : (begin + end) / 2)));
	}
	nameOf(it) {
		return `${this.view.now.experiment?.hosts[it.host]?.name ?? ""} ${it.comm ?? "?"} ${it.pid}`;
	}
	drawLegend() {
		this.legend.replaceChildren(swatch(cpuColour(), "of a CPU"), swatch(unknownColour$1(), "unknown: may be more"), h("span", { class: "muted" }, "edges: starts and ends that were seen"));
	}
};
// src/panels/losses.ts
var LossesPanel = class extends AskingPanel {
	count = h("span", {
		class: "muted",
		role: "status"
	});
	table;
	steps;
	coverage;
	note = h("span", { class: "marked" });
	left = h("div", { class: "block" });
	parts;
	/** How long all of the time is; whether shares are exact, or what they are. */
	span = 1;
	sign = "";
	constructor(view, navigator) {
		super("losses", "Losses", view, navigator, []);
		const origin = () => this.origin, host = (it) => this.hostName(it.host), share = (it) => 100 * it.whole / this.span;
		this.table = new DataTable({
			label: "What is missing: a click goes there",
			origin,
			sort: [2, false],
			pick: (it) => this.go(it, false),
			open: (it) => this.go(it, true),
			columns: [
				{
					title: "host",
					value: host
				},
				{
					title: "CPU",
					unit: "count",
					value: (it) => it.cpu,
					text: (it) => String(it.cpu ?? "all")
				},
				{
					title: "begin",
					unit: "time",
					value: (it) => it.begin
				},
				{
					title: "end",
					unit: "time",
					value: (it) => it.end
				},
				{
					title: "lasts",
					unit: "ns",
					value: (it) => it.end - it.begin
				},
				{
					title: "count",
					unit: "count",
					value: (it) => it.count
				},
				{
					title: "what is missing",
					value: (it) => lossText(it),
					grow: true
				}
			]
		});
		this.steps = new Stepper(view, this.table, "loss", (it) => toShown(view, this.rowOf(it), it.begin), (it) => this.go(it, false));
		this.coverage = new DataTable({
			label: "How much was recorded: a click goes to the CPU",
			origin,
			pick: (it) => this.navigator.go(this.rowOf(it), (view.now.window.begin + view.now.window.end) / 2),
			columns: [
				{
					title: "host",
					value: host
				},
				{
					title: "CPU",
					unit: "count",
					value: (it) => it.cpu,
					text: (it) => String(it.cpu)
				},
				{
					title: "whole",
					unit: "percent",
					description: "Part of all of the time in which nothing of this CPU is missing",
					value: share,
					text: (it) => `${this.sign}${shareText(share(it))}`
				},
				{
					title: "lost in",
					unit: "ns",
					description: "Times in which events or packets were lost",
					value: (it) => it.lost,
					text: (it) => this.least(it.lost)
				},
				{
					title: "not recorded",
					unit: "ns",
					description: "Times in which a stream is missing, has not begun or has ended",
					value: (it) => it.absent,
					text: (it) => this.least(it.absent)
				},
				{
					title: "from",
					unit: "time",
					value: (it) => it.begin
				},
				{
					title: "to",
					unit: "time",
					value: (it) => it.end
				}
			]
		});
		this.parts = h("div", { class: "losses-parts" }, this.left, titled("How much was recorded", this.coverage, this.note));
		this.controls.append(...this.steps.elements, this.count, this.table.copy);
	}
	forget() {
		this.steps.clear();
		this.coverage.set([]);
	}
	async load(signal) {
		const { losses, losses_total: total, breaks, hosts: recorded } = await api.overview(1, signal);
		const { experiment } = this.view.now, hosts = experiment?.hosts ?? [];
		const hostOf = (host) => typeof host === "number" ? host : hosts.find((it) => it.name === host)?.host ?? 0;
		const broken = breaks.map((it) => ({
			host: hostOf(it.host),
			cpu: null,
			begin: it.at,
			end: it.at,
			what: it.text,
			count: null
		}));
		this.heading.textContent = "all of the time";
		this.command.set(commandLike(this.view, "sql -c 'SELECT host, cpu, what, count, begin_time, end_time FROM losses ORDER BY begin_time, host, cpu'"));
		this.count.textContent = `${formatCount(losses.length)}${total > losses.length ? ` of ${formatCount(total)}` : ""} times in which something is missing${broken.length === 0 ? "" : `, ${formatCount(broken.length)} breaks of clocks`}`;
		this.count.title = this.count.textContent;
		if (this.body.firstChild !== this.parts) this.body.replaceChildren(this.parts);
		this.left.replaceChildren(losses.length + broken.length === 0 ? notice("empty", "Nothing is missing", "No event was lost, all CPUs of a host were recorded as long as the host was, and no clock was set.") : this.table.element);
		this.steps.set([...losses, ...broken], {
			count: losses.length + broken.length,
			kind: total === losses.length ? "all" : "listed"
		});
		const span = {
			begin: experiment?.begin ?? 0,
			end: experiment?.end ?? 1
		}, isCut = total > losses.length;
		this.span = Math.max(1, span.end - span.begin);
		this.sign = isCut ? "≤ " : "";
		this.note.textContent = this.note.title = isCut ? `${formatCount(total - losses.length)} losses are not listed` : "";
		const packetsOf = (host) => recorded.find((it) => it.host === host);
		this.coverage.set(hosts.flatMap((host) => coverageOf(losses, {
			...host,
			begin: packetsOf(host.host)?.begin ?? span.end,
			end: packetsOf(host.host)?.end ?? span.begin
		}, span)));
	}
	/** Where not all losses are listed, there may be more. */
	least(ns) {
		return `${this.sign === "" ? "" : "≥ "}${formatDuration(ns)}`;
	}
	async stepList(by) {
		await this.during(this.loaded);
		this.steps.step(by);
	}
	hostName(host) {
		return this.view.now.experiment?.hosts[host]?.name ?? String(host);
	}
	rowOf({ host, cpu, begin }) {
		return rowOfLine(this.view, (name) => name === "host" ? this.hostName(host) : name === "cpu" ? cpu : null, begin);
	}
	go(it, isZoom) {
		const row = this.rowOf(it), begin = toShown(this.view, row, it.begin), end = toShown(this.view, row, it.end);
		this.navigator.go(row, begin, isZoom ? {
			begin: begin - Math.max(1e3, (end - begin) / 4),
			end: end + Math.max(1e3, (end - begin) / 4)
		} : void 0);
		this.view.set({ selection: {
			begin,
			end
		} });
	}
};
/** All is only said where it is all. */
function shareText(share) {
	return `${share < 100 ? Math.min(99.99, share).toFixed(2) : "100"} %`;
}
// src/foundText.ts
/** Labels are not looked up in windows with very many states. */
var TOO_MANY = "too many states to look at the label of each; choose a shorter window or list calls in Statistics → by call";
/** "4 states on 2 rows". */
function statesText({ states, rows }) {
	return `${formatCount(states)} ${states === 1 ? "state" : "states"} on ${formatCount(rows.length)} ${rows.length === 1 ? "row" : "rows"}`;
}
/** That there are none is only said where each was looked at. */
function foundText(found, count, kind) {
	if (kind === "unknown") return TOO_MANY;
	if (kind === "whole") return found;
	return count === 0 ? "none is known yet" : `at least ${found}`;
}
// src/panels/matches.ts
var LIMIT$1 = 2e3;
var MatchesPanel = class extends AskingPanel {
	scope = h("select", {
		"aria-label": "Of which time",
		onchange: () => this.choose()
	}, h("option", { value: "all" }, "all of the time"), h("option", { value: "window" }, "window"), h("option", { value: "range" }, "selection / window"));
	order = h("select", {
		"aria-label": "Which come first",
		onchange: () => this.choose()
	}, h("option", { value: "time" }, "earliest first"), h("option", { value: "longest" }, "longest first"));
	each = button("look at each state of the window", "List the states of the window only: as soon as it is short enough, each is looked at", () => {
		this.scope.value = "window";
		this.choose();
	}, { hidden: true });
	count = h("span", {
		class: "muted",
		role: "status"
	});
	table;
	states;
	rowTable;
	rows;
	ofStates;
	ofRows;
	/** Controls that are there. */
	shownControls = [];
	constructor(view, navigator) {
		super("matches", "Matches", view, navigator, [
			"filter",
			"found",
			"window",
			"selection",
			"clock"
		]);
		const name = (style) => LOOKS[style]?.name ?? "", origin = () => this.origin;
		this.table = new DataTable({
			label: "States for which the search holds: a click goes there",
			origin,
			pick: (it) => this.go(it, false),
			open: (it) => this.go(it, true),
			columns: [
				{
					title: "state",
					value: ([, style]) => name(style),
					draw: ([, style]) => swatch(stateColour(style), name(style)),
					width: 16
				},
				{
					title: "lasts",
					unit: "ns",
					value: ([, , , begin, end]) => end - begin
				},
				{
					title: "where",
					value: ([row]) => nameOf$1(view, row),
					grow: true
				},
				{
					title: "begin",
					unit: "time",
					value: ([, , , begin]) => begin
				},
				{
					title: "what",
					value: ([, , label]) => label ?? "",
					width: 30
				}
			]
		});
		this.rowTable = new DataTable({
			label: "Rows that fit the search: a click goes there",
			origin,
			pick: (it) => this.goTo(it),
			columns: [
				{
					title: "row",
					value: (it) => nameOf$1(view, it.id),
					grow: true
				},
				{
					title: "kind",
					value: (it) => it.kind
				},
				{
					title: "from",
					unit: "time",
					value: (it) => it.begin ?? null
				},
				{
					title: "to",
					unit: "time",
					value: (it) => it.end ?? null
				}
			]
		});
		this.states = new Stepper(view, this.table, "match", ([, , , begin, end]) => (begin + end) / 2, (it) => this.go(it, false));
		this.rows = new Stepper(view, this.rowTable, "row", null, (it) => this.goTo(it));
		this.ofStates = [
			this.scope,
			this.order,
			...this.states.elements,
			this.count,
			this.each,
			this.table.copy
		];
		this.ofRows = [
			...this.rows.elements,
			this.count,
			this.rowTable.copy
		];
	}
	/** Of which time, and which come first, where that is another than at first. */
	get kept() {
		return [this.scope.value, this.order.value].filter((it) => it !== "all" && it !== "time").join(",");
	}
	keep(text) {
		const parts = text.split(",");
		this.scope.value = parts.find((part) => part === "window" || part === "range") ?? "all";
		this.order.value = parts.includes("longest") ? "longest" : "time";
		if (this.isSeen) this.ask();
	}
	choose() {
		this.held = null;
		this.tellKept();
		this.ask();
	}
	changed(_now, changed) {
		const isOfTime = changed.has("window") && this.scope.value !== "all" && !(this.scope.value === "range" && this.view.now.selection !== null) || changed.has("selection") && this.scope.value === "range";
		if (changed.has("filter") || changed.has("found") || changed.has("clock")) {
			this.held = null;
			this.askAgain(0);
		} else if (isOfTime && this.view.now.filter !== null) this.askSoon();
	}
	forget() {
		this.states.clear();
		this.rows.clear();
	}
	async load(signal) {
		const { filter, found } = this.view.now;
		this.control(filter !== null ? this.ofStates : found !== null ? this.ofRows : []);
		if (filter !== null) {
			await this.loadStates(filter, signal);
			return;
		}
		this.forget();
		this.command.set("");
		this.heading.textContent = this.heading.title = "";
		if (found !== null) {
			this.showRows(found);
			return;
		}
		this.body.replaceChildren(notice("empty", "Nothing is searched for", "Type words or an expression into the search box (`/`): `wget`, `duration > 10ms && state == wait-cpu`, `label == write && host == h2`. The rows that fit, or the states for which it holds, are listed here; `n` and `N` go from one to the next."));
	}
	/** Those that are there stay: one of them may have the focus. */
	control(controls) {
		if (controls === this.shownControls || controls.length === 0 && this.shownControls.length === 0) return;
		this.shownControls = controls;
		this.controls.replaceChildren(...controls);
	}
	async loadStates(filter, signal) {
		const { clock, window, selection, experiment } = this.view.now, scope = this.scope.value;
		const all = (clock === "own" ? experiment?.own : null) ?? {
			begin: experiment?.begin ?? 0,
			end: experiment?.end ?? 1
		};
		const shown = scope === "all" ? {
			begin: all.begin,
			end: all.end + 1
		} : scope === "range" && selection !== null ? selection : window;
		const range = this.covered = this.held ?? {
			...shown,
			what: shown === selection ? "selection" : "window"
		};
		const answer = await api.matching(filter, range.begin, range.end, clock, {
			limit: LIMIT$1,
			order: this.order.value,
			ask: this.progress.ask
		}, signal);
		this.heading.textContent = this.heading.title = filter;
		this.each.hidden = answer.kind === "whole" || scope === "window";
		this.count.textContent = this.count.title = this.textOf(answer, scope);
		if (answer.kind === "unknown") {
			const calls = button("open Statistics", "Calls of the window, added up", () => openFrom(calls, "statistics", ""));
			this.forget();
			this.command.set("");
			this.body.replaceChildren(notice("empty", "Too many states to look at the label of each", "Choose a shorter window, or list calls in Statistics → by call.", calls));
			return;
		}
		if (this.body.firstChild !== this.table.element) this.body.replaceChildren(this.table.element);
		this.command.none("The search has a language of its own: its expressions are no option of a command. Questions in SQL to `thread_states` find the same");
		this.states.set(answer.matches, {
			count: answer.states,
			kind: answer.kind === "whole" ? "all" : "at least"
		});
	}
	textOf(answer, scope) {
		if (answer.kind === "unknown") return "";
		const listed = formatCount(answer.matches.length), some = answer.kind === "whole" ? `the first ${listed}` : `${listed} of them`;
		const cut = answer.matches.length < answer.states ? `; ${some} are listed` : "";
		const found = foundText(statesText(answer), answer.states, answer.kind);
		if (answer.total_ns !== null) return `${found}, ${formatDuration(answer.total_ns)} in all${cut}`;
		return `${found}: too many states to look at each${scope === "window" ? "; zoom in until all are" : ""}${cut}`;
	}
	showRows(found) {
		const rows = found.flatMap((id) => rowOf(this.view, id) ?? []);
		this.count.textContent = this.count.title = rows.length === 1 ? "1 row" : `${formatCount(rows.length)} rows`;
		if (rows.length === 0) {
			this.body.replaceChildren(notice("empty", "No row is listed", "The search box says why: no row fits, or none is known yet."));
			return;
		}
		if (this.body.firstChild !== this.rowTable.element) this.body.replaceChildren(this.rowTable.element);
		this.rows.set(rows, {
			count: rows.length,
			kind: "all"
		});
	}
	/** Goes to the next match of the list (or the one before), once there is one. */
	async stepList(by) {
		await this.during(this.loaded);
		(this.view.now.filter === null ? this.rows : this.states).step(by);
	}
	go([row, , , begin, end], isZoom) {
		const { window } = this.view.now, room = Math.max(end - begin, 1e3) / 4;
		this.hold();
		this.navigator.go(row, begin, isZoom || end - begin > window.end - window.begin ? {
			begin: begin - room,
			end: end + room
		} : void 0);
		this.view.set({
			row,
			selection: {
				begin,
				end
			}
		});
	}
	/** A row that did not live in the window is shown where it began. */
	goTo({ id, begin, end }) {
		const { window } = this.view.now, from = toShown(this.view, id, begin ?? window.begin), to = toShown(this.view, id, end ?? window.end);
		this.hold();
		this.navigator.go(id, to < window.begin || from > window.end ? from : (window.begin + window.end) / 2);
	}
};
// src/panels/messages.ts
var LIMIT = 5e3;
var MessagesPanel = class extends AskingPanel {
	messages = [];
	total = 0;
	/** Whether there are messages, at whatever time. */
	isAny = false;
	filter = h("input", {
		type: "search",
		placeholder: "filter: host, thread, a → b",
		"aria-label": "Filter messages",
		oninput: () => this.choose()
	});
	inverted = h("input", {
		type: "checkbox",
		onchange: () => this.choose()
	});
	count = h("span", {
		class: "muted",
		role: "status"
	});
	table;
	steps;
	constructor(view, navigator) {
		super("messages", "Messages", view, navigator, [
			"window",
			"selection",
			"clock"
		]);
		const took = ([, , sent, received]) => received - sent;
		this.table = new DataTable({
			label: "Messages: a click goes to the sender",
			origin: () => this.origin,
			sort: [2, false],
			pick: (it) => this.go(it, false),
			open: (it) => this.go(it, true),
			mark: (it) => it[7] === 1 ? "bad" : null,
			columns: [
				{
					title: "from",
					value: (it) => nameOf$1(this.view, it[0]),
					grow: true
				},
				{
					title: "to",
					value: (it) => nameOf$1(this.view, it[1]),
					grow: true
				},
				{
					title: "sent",
					unit: "time",
					value: (it) => it[2]
				},
				{
					title: "received",
					unit: "time",
					value: (it) => it[3]
				},
				{
					title: "latency",
					unit: "ns",
					value: took
				},
				{
					title: "surely",
					unit: "ns",
					description: "What the clocks leave open: the latency is surely within",
					value: (it) => it[6] === null || it[5] === null ? null : it[6] - it[5],
					text: (it) => it[5] === null || it[6] === null ? "–" : `${formatDuration(took(it) + it[5])} … ${formatDuration(took(it) + it[6])}`
				},
				{
					title: "likely ±",
					unit: "ns",
					value: (it) => it[4]
				},
				{
					title: "before sent",
					description: "It is received before it is sent: impossible, so the clocks are wrong",
					value: (it) => it[7] === 1,
					text: (it) => it[7] === 1 ? "yes" : ""
				}
			]
		});
		this.steps = new Stepper(view, this.table, "message", (it) => it[2], (it) => this.go(it, false));
		this.controls.append(this.filter, h("label", {}, this.inverted, " only those that arrive before they were sent"), ...this.steps.elements, this.count, this.table.copy);
	}
	/** The filter; where only impossible ones are listed, that before it. */
	get kept() {
		const filter = this.filter.value.trim();
		return this.inverted.checked || filter.includes("~") ? `${this.inverted.checked ? "inverted" : ""}~${filter}` : filter;
	}
	keep(text) {
		const [, inverted, filter] = /^(inverted)?~(.*)$/s.exec(text) ?? [
			null,
			void 0,
			text
		];
		this.inverted.checked = inverted !== void 0;
		this.filter.value = filter;
		if (this.isSeen) this.ask();
	}
	choose() {
		this.tellKept();
		this.draw();
	}
	forget() {
		this.messages = [];
		this.steps.clear();
	}
	async load(signal) {
		const covered = this.showRange(), { selection, window, clock } = this.view.now, range = clock === "common" ? covered : covered.what === "selection" && selection !== null ? selection : window;
		if (clock === "own") this.heading.textContent = `${covered.what}, by the hosts' own clocks`;
		const answer = await api.messages(range.begin, range.end, clock, LIMIT, signal, true, this.progress.ask);
		this.command.set(answer.command);
		this.messages = answer.messages;
		this.total = answer.total;
		this.isAny = answer.total > 0 || (await api.messageCounts(signal)).count > 0;
		this.draw();
	}
	draw() {
		const filter = this.filter.value.trim();
		const shown = this.messages.filter((it) => (!this.inverted.checked || it[7] === 1) && (filter === "" || fitsFilter(filter, nameOf$1(this.view, it[0]), nameOf$1(this.view, it[1]))));
		const thinned = this.messages.length < this.total ? `, ${formatCount(this.messages.length)} of them, evenly chosen` : "";
		this.count.textContent = `${formatCount(this.total)} messages arrive in it${thinned}${shown.length < this.messages.length ? `; ${formatCount(shown.length)} fit` : ""}`;
		if (shown.length === 0) {
			this.steps.clear();
			this.body.replaceChildren(this.messages.length > 0 ? notice("empty", "No message fits", this.inverted.checked && filter === "" ? "None arrives before it was sent: as it must be. `k` shows the hosts' own clocks." : "Clear the filter to see all.") : this.none());
			return;
		}
		if (this.body.firstChild !== this.table.element) this.body.replaceChildren(this.table.element);
		const areAll = this.messages.length === this.total || this.inverted.checked && this.messages.some((it) => it[7] === 0);
		this.steps.set(shown, {
			count: shown.length,
			kind: areAll ? "all" : "listed"
		});
	}
	async stepList(by) {
		await this.during(this.loaded);
		this.steps.step(by);
	}
	none() {
		if (this.isAny) return notice("empty", `No message arrives in this ${panelRange(this.view).what}`, "There are some at other times: `f` shows all.");
		return notice("empty", "There are no messages between these hosts", "They are packets that two of the hosts recorded: `lttng enable-event --kernel net_dev_queue,net_if_receive_skb` on both.");
	}
	go([from, , sent, received], isZoom) {
		const begin = Math.min(sent, received), end = Math.max(sent, received), room = Math.max(end - begin, 1e3);
		this.hold();
		this.view.set({ hover: sent });
		this.navigator.go(from, sent, isZoom ? {
			begin: begin - room,
			end: end + room
		} : void 0);
	}
};
// src/panels/resourceScene.ts
var HEAD = 22;
var ROW = 36;
var CHART = 26;
var LEFT$2 = 150;
var RIGHT$1 = 104;
var COLOURS = {
	CPU: "cpu",
	disk: "disk",
	network: "network",
	locks: "lock",
	memory: "pipe"
};
function resourceColour(kind) {
	return causeColour(COLOURS[kind] ?? "other");
}
function waitedColour() {
	return causeColour("wait-cpu");
}
function unknownColour() {
	return css(rgbOf(0), .45);
}
function resourceName(it) {
	return it.of === null ? it.resource : `${it.resource} ${it.of}`;
}
/** "12.3 %"; "unknown"; "–" where there is no such thing. */
function percentText(value) {
	return value === void 0 ? "–" : value === null ? "unknown" : `${Math.round(value * 10) / 10} %`;
}
/** All lines, host by host. */
function linesOf$1(verdicts, resources) {
	const lines = [], byHost = /* @__PURE__ */ new Map();
	for (const resource of resources) byHost.set(resource.host, [...byHost.get(resource.host) ?? [], resource]);
	let top = 0;
	for (const verdict of verdicts) {
		lines.push({
			top,
			verdict
		});
		top += HEAD;
		for (const resource of byHost.get(verdict.host) ?? []) {
			lines.push({
				top,
				resource
			});
			top += ROW;
		}
	}
	return {
		lines,
		height: top
	};
}
/** The last line that begins above. */
function lineAt(lines, y) {
	return lines[stepOf(lines.map((line) => line.top), y)];
}
/** The step that an instant is in; −1: none. */
function stepAt({ begin, end }, at) {
	const place = stepOf(begin, at);
	return place >= 0 && at < end[place] ? place : -1;
}
function resourceContent(verdicts, resources, doers) {
	const { lines, height } = linesOf$1(verdicts, resources);
	const found = (at, y, frame) => {
		const line = y < frame.top + frame.scrolled ? void 0 : lineAt(lines, y - frame.top);
		return line === void 0 || !("resource" in line) ? {
			line,
			step: -1
		} : {
			line,
			step: stepAt(line.resource, at - doers.shift(line.resource.host))
		};
	};
	const use = (run) => (at, y, frame) => {
		const { line, step } = found(at, y, frame);
		if (line !== void 0 && "resource" in line && step >= 0) run(line.resource, step);
		else if (line !== void 0) doers.pick("resource" in line ? line.resource.host : line.verdict.host);
	};
	return {
		left: LEFT$2,
		right: RIGHT$1,
		above: 0,
		rows: height,
		draw: (ctx, frame) => {
			for (const line of lines) {
				const top = frame.top + line.top - frame.scrolled;
				if (top > frame.bottom) break;
				if (top + ROW < frame.top) continue;
				if ("verdict" in line) drawVerdict(ctx, frame, line.verdict, top, doers);
				else drawResource(ctx, frame, line.resource, top, doers.shift(line.resource.host));
			}
		},
		tip: (at, y, frame) => {
			const { line, step } = found(at, y, frame);
			if (line === void 0) return [];
			if ("verdict" in line) return [doers.hostName(line.verdict.host), line.verdict.verdict];
			return tipOf(line.resource, step, doers.hostName(line.resource.host), frame.origin);
		},
		click: use(doers.click),
		open: use(doers.open)
	};
}
function tipOf(it, step, host, origin) {
	const name = `${host} ${resourceName(it)}`;
	if (step < 0) return [name, "no host was recorded then"];
	const begin = it.begin[step], end = it.end[step], unknown = it.unknown[step];
	const lines = [name, `${formatTime(origin, begin, placesFor((end - begin) / 100))}, ${formatDuration(end - begin)}`];
	if (it.busy !== void 0) lines.push(`busy ${percentText(it.busy[step])}`);
	if (it.waited !== void 0) lines.push(`waited for ${percentText(it.waited[step])}`);
	if (unknown !== null && unknown !== void 0 && unknown > 0) lines.push(`unknown ${percentText(unknown)}`);
	return lines;
}
function drawVerdict(ctx, frame, verdict, top, doers) {
	const colours = ink(), name = doers.hostName(verdict.host), y = top + HEAD / 2;
	ctx.fillStyle = css(colours.band);
	ctx.fillRect(0, top, frame.width, HEAD);
	ctx.textBaseline = "middle";
	ctx.font = `600 ${FONT$1}`;
	ctx.fillStyle = colours.text;
	ctx.fillText(name, 6, y);
	const from = 6 + ctx.measureText(`${name}  `).width;
	ctx.font = FONT$1;
	ctx.fillStyle = verdict.because === "saturated" || verdict.because === "requests" ? colours.mark : colours.faint;
	ctx.fillText(fitting$1(ctx, verdict.verdict, frame.width - from - 6), from, y);
}
function drawResource(ctx, frame, it, top, shift) {
	const colours = ink(), base = top + 31, high = (percent) => Math.min(100, percent) / 100 * CHART;
	ctx.font = FONT$1;
	ctx.textBaseline = "middle";
	ctx.fillStyle = colours.text;
	endAt(ctx, fitting$1(ctx, resourceName(it), 136), 142, top + ROW / 2);
	it.begin.forEach((begin, step) => {
		const part = frame.part(begin + shift, it.end[step] + shift);
		if (part === null) return;
		const [x, width] = part, busy = it.busy?.[step], unknown = it.unknown[step] ?? 0;
		const isUnknown = busy === null || it.busy === void 0 && it.waited?.[step] === null, from = isUnknown ? 0 : high(busy ?? 0), to = isUnknown ? CHART : high((busy ?? 0) + unknown);
		if (to > from) {
			ctx.fillStyle = unknownColour();
			ctx.fillRect(x, base - to, width, to - from);
		}
		if (!isUnknown && from > 0) {
			ctx.fillStyle = resourceColour(it.resource);
			ctx.fillRect(x, base - from, width, from);
		}
	});
	drawWaited(ctx, frame, it, shift, (percent) => base - high(percent));
	ctx.fillStyle = colours.line;
	ctx.fillRect(frame.left, base, frame.right - frame.left, 1);
	const right = frame.width - 6;
	ctx.fillStyle = colours.faint;
	if (it.busy_percent !== void 0) endAt(ctx, `busy ${percentText(it.busy_percent)}`, right, top + ROW / 2 - 7);
	if (it.waited_percent !== void 0) endAt(ctx, `waited ${percentText(it.waited_percent)}`, right, top + ROW / 2 + 7);
}
/** A line of steps, with a gap where it is unknown. */
function drawWaited(ctx, frame, it, shift, y) {
	ctx.strokeStyle = waitedColour();
	ctx.lineWidth = 1.25;
	ctx.beginPath();
	let isOpen = false;
	it.waited?.forEach((waited, step) => {
		const part = frame.part(it.begin[step] + shift, it.end[step] + shift);
		if (waited === null || part === null) {
			isOpen = false;
			return;
		}
		const [x, width] = part;
		if (isOpen) ctx.lineTo(x, y(waited));
		else ctx.moveTo(x, y(waited));
		ctx.lineTo(x + width, y(waited));
		isOpen = true;
	});
	ctx.stroke();
}
// src/panels/resources.ts
var MOST_STEPS = 200;
var PIXELS_OF_A_STEP = 6;
var ResourcesPanel = class extends PicturePanel {
	picture;
	verdicts;
	table;
	legend = h("span", { class: "legend" });
	notes = h("p", { class: "missing muted" });
	parts;
	constructor(view, navigator) {
		super("resources", "Resources", view, navigator);
		this.picture = new TimePicture(view, navigator, this.timesShown);
		const host = (it) => this.hostName(it.host);
		this.verdicts = new DataTable({
			label: "The bottleneck of each host: a click goes to its row",
			origin: () => this.origin,
			pick: (it) => this.pick(it.host),
			columns: [
				{
					title: "host",
					value: host
				},
				{
					title: "bottleneck",
					value: (it) => it.resource === null ? null : `${it.resource}${it.of === null ? "" : ` ${it.of}`}`
				},
				{
					title: "evidence",
					value: (it) => it.verdict,
					grow: true
				}
			]
		});
		const count = { unit: "count" }, percent = { unit: "percent" };
		this.table = new DataTable({
			label: "Resources in the window: a click goes to the step in which each was busy most",
			origin: () => this.origin,
			pick: (it) => this.goToMost(it),
			columns: [
				{
					title: "host",
					value: host
				},
				{
					title: "resource",
					value: resourceName,
					grow: true
				},
				{
					title: "busy",
					...percent,
					value: (it) => it.busy_percent ?? null,
					text: (it) => percentText(it.busy_percent)
				},
				{
					title: "waited for",
					...percent,
					value: (it) => it.waited_percent ?? null,
					text: (it) => percentText(it.waited_percent)
				},
				{
					title: "queue",
					description: "Mean number that are queued or served",
					...count,
					value: (it) => it.mean_queue ?? null,
					text: (it) => it.mean_queue?.toFixed(2) ?? "–"
				},
				{
					title: "errors",
					...count,
					value: (it) => it.errors ?? null
				},
				{
					title: "unknown",
					unit: "ns",
					value: (it) => it.unknown_ns ?? null
				}
			]
		});
		const tables = h("div", { class: "side-tables" }, titled("Bottlenecks", this.verdicts), titled("In this window", this.table, this.notes));
		this.parts = h("div", { class: "picture-parts" }, h("section", { class: "block" }, h("div", { class: "block-head" }, this.legend), this.picture.element), tables);
	}
	pictures() {
		return [{
			picture: this.picture,
			title: `Resources: ${this.heading.textContent ?? ""}`
		}];
	}
	forget() {
		this.picture.clear();
		this.verdicts.set([]);
		this.table.set([]);
		this.body.replaceChildren();
	}
	themed() {
		this.drawLegend();
		super.themed();
	}
	async load(signal) {
		const range = this.showRange("window"), steps = Math.max(20, Math.min(MOST_STEPS, Math.round(this.body.clientWidth * .5 / PIXELS_OF_A_STEP)));
		const { verdicts, resources, notes, command } = await api.resources(range.begin, range.end, steps, this.progress.ask, signal);
		this.command.set(command);
		if (resources.length === 0) {
			this.body.replaceChildren(notice("empty", "Nothing is known of this time", "No host was recorded then: `f` shows all there is."));
			return;
		}
		if (this.body.firstChild !== this.parts) this.body.replaceChildren(this.parts);
		this.drawLegend();
		this.verdicts.set(verdicts);
		this.table.set(resources);
		this.notes.replaceChildren(...withCode(notes.join("; ")));
		this.notes.title = notes.join("\n");
		const about = verdicts.map((it) => `${this.hostName(it.host)}: ${it.verdict}`).join(". ");
		this.picture.set(resourceContent(verdicts, resources, this.doers), `${formatCount(resources.length)} resources over time. ${about}`);
	}
	doers = {
		hostName: (host) => this.hostName(host),
		shift: (host) => toShown(this.view, this.rowOfHost(host), 0),
		pick: (host) => this.pick(host),
		click: (it, step) => this.go(it, step, false),
		open: (it, step) => this.go(it, step, true)
	};
	/** Selects a step in the time graph; `isZoomed`: shows it alone. */
	go(it, step, isZoomed) {
		const begin = toShown(this.view, it.row, it.begin[step]), end = toShown(this.view, it.row, it.end[step]);
		this.goAndStay(() => {
			this.view.set({ selection: {
				begin,
				end
			} });
			this.navigator.go(it.row, (begin + end) / 2, isZoomed ? {
				begin,
				end
			} : void 0);
		});
	}
	goToMost(it) {
		const values = it.busy ?? it.waited ?? [], most = values.reduce((best, value, step) => value !== null && value > (values[best] ?? -1) ? step : best, 0);
		if (it.begin.length > 0) this.go(it, most, false);
	}
	pick(host) {
		const { begin, end } = this.view.now.window;
		this.goAndStay(() => this.navigator.go(this.rowOfHost(host), (begin + end) / 2));
	}
	rowOfHost(host) {
		return this.view.now.experiment?.hosts[host]?.row ?? null;
	}
	hostName(host) {
		return this.view.now.experiment?.hosts[host]?.name ?? "";
	}
	drawLegend() {
		this.legend.replaceChildren(...[
			"CPU",
			"disk",
			"network",
			"memory"
		].map((kind) => swatch(resourceColour(kind), kind)), swatch(waitedColour(), "waited for"), swatch(unknownColour(), "unknown"));
	}
};
// src/panels/serviceGraph.ts
var SVG$1 = "http://www.w3.org/2000/svg";
var BOX_WIDTH = 130;
var BOX_HEIGHT = 34;
var COLUMN = 290;
var LINE$1 = 62;
var EDGE = 14;
function keyOf({ host, comm }) {
	return `${host ?? "?"} ${comm ?? "?"}`;
}
/** Where each program is: right of all that ask it, as far as they do not ask each other. */
function placed$1(edges) {
	const programs = new Map(edges.flatMap(({ client, server }) => [[keyOf(client), client], [keyOf(server), server]])), columns = new Map([...programs.keys()].map((key) => [key, 0]));
	for (let round = 0; round < programs.size; round += 1) {
		let isChanged = false;
		for (const { client, server } of edges) {
			const to = columns.get(keyOf(client)) + 1;
			if (keyOf(client) === keyOf(server) || to <= columns.get(keyOf(server)) || to >= programs.size) continue;
			columns.set(keyOf(server), to);
			isChanged = true;
		}
		if (!isChanged) break;
	}
	const used = [...new Set(columns.values())].sort((a, b) => a - b), lines = /* @__PURE__ */ new Map();
	return [...programs].map(([key, program]) => {
		const column = used.indexOf(columns.get(key)), line = lines.get(column) ?? 0;
		lines.set(column, line + 1);
		return {
			key,
			program,
			column,
			line
		};
	});
}
/** "24 × 113 ms (p95 204 ms), CPU 12 ms each": medians; what is unknown is left out. */
function edgeText(it) {
	return `${formatCount(it.count)} × ${formatDuration(it.median_ns)}, CPU ${it.cpu_ns === null ? "unknown" : `${formatDuration(it.cpu_ns / it.count)} each`}`;
}
function svg$1(tag, attributes, ...children) {
	const it = document.createElementNS(SVG$1, tag);
	for (const [name, value] of Object.entries(attributes)) it.setAttribute(name, String(value));
	it.append(...children);
	return it;
}
function serviceGraph(edges, picked, pick) {
	const nodes = placed$1(edges), at = new Map(nodes.map((node) => [node.key, [12 + node.column * COLUMN, 18 + node.line * LINE$1]]));
	const width = 154 + Math.max(0, ...nodes.map((node) => node.column)) * COLUMN, height = 58 + Math.max(0, ...nodes.map((node) => node.line)) * LINE$1;
	const picture = svg$1("svg", {
		viewBox: `0 0 ${width} ${height}`,
		width,
		height,
		class: "service-graph",
		role: "group",
		"aria-label": `${nodes.length} programs and whom they ask`
	});
	const most = Math.max(1, ...edges.map((edge) => edge.count)), between = /* @__PURE__ */ new Map();
	for (const edge of edges) {
		const [ax, ay] = at.get(keyOf(edge.client)), [bx, by] = at.get(keyOf(edge.server)), pair = `${keyOf(edge.client)}>${keyOf(edge.server)}`, turn = between.get(pair) ?? 0;
		between.set(pair, turn + 1);
		const isBack = bx <= ax, x0 = ax + BOX_WIDTH, y0 = ay + BOX_HEIGHT / 2, x1 = isBack ? bx + BOX_WIDTH : bx, y1 = by + BOX_HEIGHT / 2 + turn * EDGE, bend = isBack ? 60 : (x1 - x0) / 2;
		const text = `${keyOf(edge.client)} asks ${keyOf(edge.server)}${edge.service === "" ? "" : ` (${edge.service})`}: ${edgeText(edge)}, p95 ${formatDuration(edge.p95_ns)}, most ${formatDuration(edge.max_ns)}`;
		const way = `M${x0},${y0} C${x0 + bend},${y0} ${isBack ? x1 + bend : x1 - bend},${y1} ${x1},${y1}`;
		const line = svg$1("g", {
			class: `edge${edge === picked ? " picked" : ""}`,
			tabindex: 0,
			role: "button",
			"aria-pressed": String(edge === picked),
			"aria-label": text
		}, svg$1("title", {}, text), svg$1("path", {
			d: way,
			class: "grip"
		}), svg$1("path", {
			d: way,
			class: "seen",
			"stroke-width": 1 + 4 * edge.count / most
		}), svg$1("text", {
			x: isBack ? x0 + 50 : (x0 + x1) / 2,
			y: (y0 + y1) / 2 - 5,
			"text-anchor": "middle",
			class: "label"
		}, edgeText(edge)));
		line.addEventListener("click", () => pick(edge));
		line.addEventListener("keydown", (event) => {
			const { key } = event;
			if (key !== "Enter" && key !== " ") return;
			pick(edge);
			event.preventDefault();
			event.stopPropagation();
		});
		picture.append(line);
	}
	for (const { key, program } of nodes) {
		const [x, y] = at.get(key), comm = program.comm ?? "unknown";
		picture.append(svg$1("g", { class: "program" }, svg$1("title", {}, key), svg$1("rect", {
			x,
			y,
			width: BOX_WIDTH,
			height: BOX_HEIGHT,
			rx: 5
		}), svg$1("text", {
			x: x + BOX_WIDTH / 2,
			y: y + 15,
			"text-anchor": "middle",
			class: "name"
		}, comm.length > 16 ? `${comm.slice(0, 15)}…` : comm), svg$1("text", {
			x: x + BOX_WIDTH / 2,
			y: y + 28,
			"text-anchor": "middle",
			class: "said"
		}, (program.host ?? "not traced").slice(0, 20))));
	}
	return picture;
}
// src/panels/servicesPanel.ts
var ServicesPanel = class extends AskingPanel {
	edges = [];
	picked = null;
	place = h("div", { class: "graph-place" });
	table;
	parts;
	constructor(view, navigator) {
		super("services", "Services", view, navigator, [
			"window",
			"selection",
			"clock"
		]);
		this.table = new DataTable({
			label: "Who asks whom",
			origin: () => this.origin,
			sort: [3, true],
			pick: (it) => this.pick(it),
			mark: (it) => it === this.picked ? "picked" : null,
			columns: [
				{
					title: "client",
					value: (it) => keyOf(it.client),
					grow: true
				},
				{
					title: "server",
					value: (it) => keyOf(it.server),
					grow: true
				},
				{
					title: "service",
					value: (it) => it.service
				},
				{
					title: "requests",
					unit: "count",
					value: (it) => it.count
				},
				{
					title: "median",
					unit: "ns",
					value: (it) => it.median_ns
				},
				{
					title: "p95",
					unit: "ns",
					value: (it) => it.p95_ns
				},
				{
					title: "most",
					unit: "ns",
					value: (it) => it.max_ns
				},
				{
					title: "CPU",
					unit: "ns",
					description: "CPU time of the server for all of them",
					value: (it) => it.cpu_ns
				}
			]
		});
		this.parts = h("div", { class: "services-parts" }, this.place, titled("", this.table));
	}
	changed(_now, _changed) {
		this.askWhenQuick();
	}
	forget() {
		this.table.set([]);
		this.place.replaceChildren();
	}
	async load(signal) {
		const covered = this.showRange(), answer = await api.services(covered.begin, covered.end, this.progress.ask, signal);
		this.command.set(answer.command);
		this.edges = answer.edges;
		this.picked = null;
		if (answer.edges.length === 0) {
			this.body.replaceChildren(notice("empty", "Nobody asked anybody in this time", "Requests are found in the calls of both ends of connections: `lttng enable-event --kernel --syscall --all` and `net_dev_queue,net_if_receive_skb`."));
			return;
		}
		if (this.body.firstChild !== this.parts) this.body.replaceChildren(this.parts);
		this.heading.textContent += `: ${formatCount(answer.edges.reduce((sum, it) => sum + it.count, 0))} requests`;
		this.table.set(answer.edges);
		this.draw();
	}
	pick(edge) {
		this.picked = edge;
		this.table.activate(edge);
		this.draw();
	}
	draw() {
		this.place.replaceChildren(serviceGraph(this.edges, this.picked, (edge) => this.pick(edge)));
	}
};
// src/panels/sqlRows.ts
/** "2026-11-20T06:11:21.622128791Z" since the origin; null where it is no instant. */
function sqlInstant(value, origin) {
	const [, seconds, fraction = ""] = (typeof value === "string" ? /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z?$/.exec(value) : null) ?? [];
	const ms = seconds === void 0 ? NaN : Date.parse(`${seconds.replace(" ", "T")}Z`);
	return Number.isNaN(ms) ? null : Number(BigInt(ms) * 1000000n + BigInt(fraction.padEnd(9, "0")) - BigInt(origin));
}
/** The columns of the objects, in their order; a column all of whose values are instants has times. */
function sqlTable({ rows }, origin) {
	const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].map((name) => {
		const values = rows.map((row) => row[name] ?? null).filter((value) => value !== null), areNumbers = values.length > 0 && values.every((value) => typeof value === "number");
		if (values.length > 0 && values.every((value) => sqlInstant(value, origin) !== null)) return {
			name,
			unit: "time"
		};
		return {
			name,
			unit: !areNumbers ? "none" : /_ns$/.test(name) ? "ns" : /bytes$/.test(name) ? "bytes" : "none"
		};
	});
	const cell = (value, unit) => value === null || value === void 0 ? null : unit === "time" ? sqlInstant(value, origin) : typeof value === "object" ? JSON.stringify(value) : value;
	return {
		columns,
		rows: rows.map((row) => columns.map(({ name, unit }) => cell(row[name], unit)))
	};
}
// src/panels/sql.ts
var EXAMPLES$1 = [
	["who ran most", "SELECT host, tid, comm, sum(duration_ns) AS cpu_ns FROM slices JOIN threads USING (host, thread) GROUP BY host, tid, comm ORDER BY cpu_ns DESC LIMIT 50"],
	["longest calls", "SELECT host, tid, comm, name, begin_time, end_time, duration_ns FROM syscalls ORDER BY duration_ns DESC LIMIT 100"],
	["failed calls", "SELECT host, comm, name, errno_name(ret) AS error, count(*) AS count FROM syscalls WHERE ret < 0 GROUP BY 1, 2, 3, 4 ORDER BY count DESC"],
	["segments that were sent again", "SELECT host, max(cpu) AS cpu, source_port, destination_port, seq, payload AS payload_bytes, count(*) AS times, min(time) AS sent_time, max(time) AS again_time, CAST(max(time) AS BIGINT) - CAST(min(time) AS BIGINT) AS after_ns FROM packet_flows WHERE is_sent AND protocol = 6 AND payload > 0 GROUP BY host, source, source_port, destination, destination_port, seq, payload HAVING count(*) > 1 ORDER BY after_ns DESC"],
	["tables", "SHOW TABLES"]
];
var KEPT$1 = "isochrone.sql";
var SqlPanel = class extends AskingPanel {
	text = h("textarea", {
		class: "sql-text",
		rows: 3,
		"aria-label": "A question in SQL",
		placeholder: "SELECT … (Ctrl and Enter asks)",
		spellcheck: "false"
	});
	examples = h("select", {
		"aria-label": "Examples",
		onchange: () => this.example()
	}, h("option", { value: "" }, "examples"), ...EXAMPLES$1.map(([name], place) => h("option", { value: place }, name)));
	count = h("span", { class: "muted" });
	asRows = button("as rows", "Show only the rows of the graph that lines are about", () => this.showRows(), { disabled: true });
	asMarks = button("as marks", "Mark the first instants of lines on the strip", () => this.showMarks(), {
		disabled: true,
		"aria-pressed": "false"
	});
	result = h("div", { class: "sql-result" });
	parts = h("div", { class: "sql-parts" }, this.text, this.result);
	answer = {
		columns: [],
		rows: []
	};
	table = null;
	/** What was asked last. */
	asked = "";
	constructor(view, navigator) {
		super("sql", "SQL", view, navigator, []);
		this.text.value = localStorage.getItem(KEPT$1) ?? EXAMPLES$1[0][1];
		this.text.addEventListener("keydown", (event) => {
			if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
				this.askNow();
				event.preventDefault();
			}
			if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
		});
		this.controls.append(button("ask", "Ask (Ctrl and Enter)", () => void this.askNow()), this.examples, this.asRows, this.asMarks, this.count);
		this.result.append(notice("empty", "Ask in SQL", "The tables are those of `isochrone sql`: `SHOW TABLES` lists them, `DESCRIBE syscalls` the columns of one. What only reads is answered, by the program `isochrone-sql` on the machine of the server."));
	}
	get kept() {
		return this.asked;
	}
	keep(text) {
		if (text === "") return;
		this.text.value = this.asked = text;
		if (this.isSeen) this.ask();
	}
	forget() {
		this.view.set({ marks: null });
		this.asMarks.setAttribute("aria-pressed", "false");
	}
	renewed() {}
	async askNow() {
		this.asked = this.text.value.trim();
		localStorage.setItem(KEPT$1, this.asked);
		this.tellKept();
		await this.ask();
	}
	async load(signal) {
		if (this.body.firstChild !== this.parts) this.body.replaceChildren(this.parts);
		if (this.asked === "") return;
		const answer = await api.sql(this.asked, signal).catch((error) => {
			if (!(error instanceof Error) || error.name === "AbortError") throw error;
			return error;
		});
		if (answer instanceof Error) {
			this.command.set("");
			this.set({
				columns: [],
				rows: []
			});
			this.count.textContent = "";
			this.result.replaceChildren(notice("failed", "There is no answer", answer.message));
			return;
		}
		this.command.set(answer.command);
		this.set(sqlTable(answer, this.origin ?? "0"));
		this.count.textContent = `${answer.is_whole ? "" : "the first "}${formatCount(answer.rows.length)} ${answer.rows.length === 1 ? "row" : "rows"}`;
	}
	set(answer) {
		this.answer = answer;
		this.asRows.disabled = !answer.columns.some((it) => it.name === "host");
		this.asMarks.disabled = !answer.columns.some((it) => it.unit === "time");
		if (this.asMarks.getAttribute("aria-pressed") === "true") this.view.set({ marks: this.asMarks.disabled ? null : this.instants() });
		this.table = answer.rows.length === 0 ? null : new DataTable({
			label: "Answer: a click goes to the row and the instant of a line",
			origin: () => this.origin,
			pick: (line) => this.go(line, false),
			open: (line) => this.go(line, true),
			columns: answer.columns.map((column, place) => ({
				title: columnTitle(column.name),
				description: column.name,
				unit: column.unit,
				value: (line) => line[place] ?? null,
				isNumber: column.unit !== "none" || answer.rows.every((line) => line[place] === null || typeof line[place] === "number")
			}))
		});
		this.result.replaceChildren(...this.table === null ? [notice("empty", "No rows", "")] : [h("div", { class: "block-head" }, this.table.copy), this.table.element]);
		this.table?.set(answer.rows);
	}
	value(line, name) {
		return line[this.answer.columns.findIndex((it) => it.name === name)] ?? null;
	}
	times(line) {
		return this.answer.columns.flatMap((it, place) => it.unit === "time" && typeof line[place] === "number" ? [line[place]] : []);
	}
	rowOf(line) {
		return rowOfLine(this.view, (name) => this.value(line, name), this.times(line)[0] ?? null);
	}
	instants() {
		return this.answer.rows.flatMap((line) => {
			const [at] = this.times(line);
			return at === void 0 ? [] : [toShown(this.view, this.rowOf(line), at)];
		});
	}
	go(line, isZoomed) {
		const row = this.rowOf(line), times = this.times(line).map((at) => toShown(this.view, row, at)), { window } = this.view.now, begin = Math.min(...times), end = Math.max(...times);
		if (times.length === 0) {
			this.navigator.go(row, (window.begin + window.end) / 2);
			return;
		}
		const room = Math.max(end - begin, 1e3) * .5;
		this.navigator.go(row, begin, isZoomed ? {
			begin: begin - room,
			end: end + room
		} : void 0);
		this.view.set(end > begin ? { selection: {
			begin,
			end
		} } : { hover: begin });
	}
	showRows() {
		const rows = new Set(this.answer.rows.map((line) => this.rowOf(line)).filter((row) => row !== null));
		this.view.set({ onlyRows: rows.size > 0 ? rows : null });
	}
	showMarks() {
		const isOn = this.asMarks.getAttribute("aria-pressed") !== "true";
		this.asMarks.setAttribute("aria-pressed", String(isOn));
		this.view.set({ marks: isOn ? this.instants() : null });
	}
	example() {
		const example = EXAMPLES$1[Number(this.examples.value)];
		if (this.examples.value !== "" && example !== void 0) this.text.value = example[1];
		this.examples.value = "";
		this.text.focus();
	}
};
// src/parseTime.ts
var TIME_FORMATS = [
	"UTC",
	"local",
	"since begin",
	"Unix"
];
var UNITS = {
	ns: 1,
	us: 1e3,
	"µs": 1e3,
	ms: 1e6,
	s: 1e9,
	min: 6e10,
	h: 36e11
};
var DAY = 86400n * 1000000000n;
/** ns of a decimal number of seconds, to the last digit. */
function nsOf(seconds) {
	const [whole = "0", fraction = ""] = seconds.split(".");
	return BigInt(whole === "" ? "0" : whole) * 1000000000n + BigInt(fraction.slice(0, 9).padEnd(9, "0"));
}
/** An instant; `start`: that of the window, after which "+40ms" is. Null: it is none. */
function parseInstant(text, base, start = null) {
	const origin = BigInt(base.origin), since = (unix) => Number(unix - origin);
	const [, sign = "", number = "", unit = ""] = /^([+-]?)\s*(\d+(?:\.\d+)?|\.\d+)\s*(ns|us|µs|ms|s|min|h)$/.exec(text) ?? [];
	if (number !== "") return (sign === "" || start === null ? base.begin : start) + (sign === "-" ? -1 : 1) * Number(number) * UNITS[unit];
	if (/^\d{16,20}$/.test(text)) return since(BigInt(text));
	if (/^\d{9,11}(\.\d+)?$/.test(text)) return since(nsOf(text));
	if (base.format === "since begin" && /^\d+(\.\d+)?$/.test(text)) return base.begin + Number(nsOf(text));
	const [, date, hours, minutes, seconds = "0", zone] = /^(?:(\d{4}-\d\d-\d\d)[ T])?(\d{1,2}):(\d\d)(?::(\d\d(?:\.\d+)?))?\s*(Z|UTC)?$/.exec(text) ?? [];
	if (hours === void 0 || minutes === void 0 || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) >= 60) return null;
	const ofDay = (BigInt(hours) * 60n + BigInt(minutes)) * 60000000000n + nsOf(seconds), isLocal = base.format === "local" && zone === void 0;
	const near = origin + BigInt(Math.round(base.near)), shift = isLocal ? aheadOfUtc(near) : 0n;
	if (date !== void 0) {
		const day = Date.parse(`${date}T00:00:00Z`);
		return Number.isNaN(day) ? null : since(BigInt(day) * 1000000n + ofDay - shift);
	}
	const first = (near + shift) / DAY * DAY + ofDay - shift, distance = (unix) => unix > near ? unix - near : near - unix;
	return since([
		first - DAY,
		first,
		first + DAY
	].reduce((best, unix) => distance(unix) < distance(best) ? unix : best));
}
/** An instant (its begin is its end), or a window "A .. B"; null where the text is neither. */
function parseTimes(text, base) {
	const [from = "", to] = text.trim().split(/\s*(?:\.\.|…|\sto\s)\s*/), begin = parseInstant(from, base);
	if (begin === null || to === void 0) return begin === null ? null : {
		begin,
		end: begin
	};
	const end = parseInstant(to, base, begin);
	return end === null || end <= begin ? null : {
		begin,
		end
	};
}
/** "h2 raw 123456789", "h2 raw 1 .. 2": raw times of a host, ns, as events and `--raw` have them; null where the text is none. */
function parseRaw(text) {
	const [, host, from, to] = /^(\S+)\s+raw\s+(-?\d{1,18})(?:\s*(?:\.\.|…|\sto\s)\s*(-?\d{1,18}))?$/.exec(text.trim()) ?? [];
	return host === void 0 || from === void 0 ? null : {
		host,
		raw: [from, ...to === void 0 ? [] : [to]].map(Number)
	};
}
/** A window as a text that means it, with as many digits as it is worth. */
function timesText({ begin, end }, base) {
	const places = Math.max(3, placesFor((end - begin) / 1e3));
	const text = (at) => {
		if (base.format === "since begin") return ((at - base.begin) / 1e9).toFixed(places);
		if (base.format === "Unix") return formatUnix(base.origin, at, places);
		return formatUtc(base.origin, base.format === "local" ? at + Number(aheadOfUtc(BigInt(base.origin) + BigInt(Math.round(at)))) : at, places);
	};
	return `${text(begin)} .. ${text(end)}`;
}
// src/panels/meanwhile.ts
var MOST$1 = 8;
/** "lttng-consumerd 185 31.2 ms, appsrv 219 22 ms, 4 others 4.3 ms". */
function meanwhileText({ ran, unknown_ns: unknown }, most = 3) {
	const shown = ran.slice(0, most), others = ran.slice(most), parts = shown.map((it) => `${it.label} ${formatDuration(it.total_ns)}`);
	if (others.length > 0) parts.push(`${formatCount(others.length)} others ${formatDuration(sum(others))}`);
	if (unknown > 0) parts.push(`unknown ${formatDuration(unknown)}`);
	return parts.length === 0 ? "unknown" : parts.join(", ");
}
/** The threads that ran, longest first; a click goes to one, `showRows` to all of them. */
function meanwhileList({ ran, cpu, unknown_ns: unknown }, cpuName, go, showRows) {
	const shown = ran.slice(0, MOST$1), others = ran.slice(MOST$1), rows = ran.flatMap((it) => it.row ?? []);
	const line = (name, ns) => [h("dt", {}, formatDuration(ns)), h("dd", {}, name)];
	return h("section", { class: "meanwhile" }, h("h3", {}, "Ran instead, on ", button(cpuName, "Go to this CPU", () => go(cpu), { class: "link" })), h("dl", {}, ...shown.flatMap(({ row, label, total_ns: ns }) => line(row === null ? label : button(label, `Go to ${label}, as it was then`, () => go(row), { class: "link" }), ns)), ...others.length === 0 ? [] : line(`${formatCount(others.length)} others`, sum(others)), ...unknown > 0 ? line("unknown what ran", unknown) : []), rows.length === 0 ? null : button("show these rows", "Show only the rows of these threads, and of this one", () => showRows([...rows, cpu])));
}
function sum(ran) {
	return ran.reduce((all, it) => all + it.total_ns, 0);
}
// src/panels/state.ts
var StatePanel = class extends AskingPanel {
	/** What the first look asks for. */
	first = new AbortController();
	/** How times were shown in what there is to see without a selection. */
	look = "";
	/** `common`: the same on the common clock, by which commands take times; null where that was not asked for. */
	said = null;
	constructor(view, navigator) {
		super("state", "State", view, navigator, [
			"row",
			"selection",
			"hover",
			"clock",
			"window"
		]);
	}
	changed(now, changed) {
		if (now.selection !== null && !changed.has("selection") && !changed.has("row") && !changed.has("clock") && !changed.has("window")) return;
		if (now.selection === null && !changed.has("row") && !changed.has("selection") && !changed.has("clock") && now.hover === null) return;
		this.askSoon(90);
	}
	/** The first look is not looked at any more. */
	giveUpFirst() {
		this.first.abort();
		this.look = "";
	}
	hide() {
		super.hide();
		this.giveUpFirst();
	}
	forget() {
		this.said = null;
		this.controls.replaceChildren();
		this.body.replaceChildren();
	}
	async load(signal) {
		const { row, selection, hover, clock, window } = this.view.now, name = nameOf$1(this.view, row);
		this.heading.textContent = name;
		if (row === null) {
			this.controls.replaceChildren();
			this.command.set("");
			const { experiment, times } = this.view.now, key = `${times} ${experiment?.store ?? ""} ${experiment?.look ?? 0}`;
			if (this.body.querySelector(".first-look") !== null && this.look === key) return;
			const first = new FirstLook(this.view, this.navigator, (work) => void this.during(work)), { signal: given } = this.first = new AbortController();
			this.look = key;
			this.body.replaceChildren(first.element);
			this.during(first.ask(given).catch((error) => {
				if (!given.aborted) throw error;
			}));
			return;
		}
		this.giveUpFirst();
		const at = selection?.begin ?? hover ?? (window.begin + window.end) / 2;
		const state = await api.state(row, at, clock, signal).catch((error) => {
			if (error instanceof ApiError && error.status === 404) return error;
			throw error;
		});
		if (state instanceof ApiError) {
			this.command.set("");
			const hasInside = ["host", "process"].includes(rowOf(this.view, row)?.kind ?? "");
			this.body.replaceChildren(notice("empty", hasInside ? `${name} has no states of its own` : "No state there", hasInside ? "It shows those of its CPUs or threads: select one of them. What it did altogether is in Statistics." : `${state.message}: it was not alive, or nothing was recorded. \`[\` and \`]\` go to the states beside.`));
			return;
		}
		const step = (to) => selection === null ? Promise.resolve(null) : api.step(row, (state.begin + state.end) / 2, to, clock).catch(() => null);
		const neighbours = selection === null ? null : await Promise.all([step("previous"), step("next")]);
		const common = clock === "common" ? state : selection === null ? null : await this.onCommon(state, signal);
		if (signal.aborted) return;
		this.said = {
			state,
			neighbours,
			common
		};
		this.tellCommand(state);
		const share = rowOf(this.view, row)?.kind === "thread" && selection !== null ? await this.share(row, signal) : null;
		this.draw(name, share);
	}
	tellCommand({ row, begin, end }) {
		const it = rowOf(this.view, row), host = this.view.now.experiment?.hosts[it?.host ?? -1]?.name ?? "";
		if (it?.kind !== "thread" || it.tid === void 0) this.command.none("`isochrone states` has those of threads, not of CPUs, disks and phases");
		else if (this.view.now.clock === "own") this.command.none("`isochrone states` would need the time on the common clock: `k` goes there");
		else {
			const times = `--begin ${unixSeconds(this.view, begin)} --end ${unixSeconds(this.view, end)}`;
			this.command.set(commandLike(this.view, `states --tid ${quotedWord(`${host}:${it.tid}`)} ${times}`));
		}
	}
	async onCommon(state, signal) {
		const begin = this.origin === null ? null : parseInstant(state.times.common, {
			origin: this.origin,
			begin: 0,
			near: 0,
			format: "UTC"
		});
		return begin === null ? null : api.state(state.row, begin + (state.end - state.begin) / 2, "common", signal).catch(() => null);
	}
	/** What the thread did in the window. */
	async share(row, signal) {
		const range = panelRange(this.view, "window"), { states } = await api.statistics({
			begin: range.begin,
			end: range.end,
			rows: [row]
		}, signal), title = h("h3", {}, `In the window of ${formatDuration(range.end - range.begin)}`);
		const all = states.reduce((sum, it) => sum + it.total_ns, 0);
		if (all === 0) return null;
		const parts = states.map((it) => ({
			name: LOOKS[it.style]?.name ?? it.state,
			share: it.total_ns / all,
			colour: stateColour(it.style),
			text: `${formatDuration(it.total_ns)}, ${(100 * it.total_ns / all).toFixed(1)} %`
		}));
		return h("div", { class: "share" }, title, stack(parts), h("p", {}, parts.filter((it) => it.share > 5e-4).map((it) => `${it.name} ${it.text}`).join("; ")));
	}
	draw(name, share) {
		const { state, neighbours } = this.said, colour = h("span", {
			class: "swatch",
			"aria-hidden": "true"
		});
		colour.style.background = stateColour(state.style);
		const what = this.fieldOf(state);
		const title = h("div", { class: "state-title" }, colour, h("strong", {}, state.state), what === "" ? null : h("span", {}, what), h("span", { class: "muted" }, name), copyButton("copy", "Copy all of this", () => this.asText(name)), this.options === "" ? null : copyButton("copy times", `Copy its times as options of commands: ${this.options}`, () => this.options));
		const fields = [
			["begin", formatTime(this.origin, state.begin)],
			["end", formatTime(this.origin, state.end)],
			["lasts", formatDuration(state.end - state.begin)],
			...state.fields
		];
		const times = [
			["own clock", state.times.own],
			["common clock", state.times.common],
			...this.bounds(state)
		];
		this.controls.replaceChildren(...this.acts(neighbours));
		const { meanwhile, waker } = state, go = (row) => this.navigator.go(row, state.begin);
		const instead = meanwhile === void 0 ? null : meanwhileList(meanwhile, nameOf$1(this.view, meanwhile.cpu) || "a CPU", go, (rows) => this.view.set({ onlyRows: /* @__PURE__ */ new Set([state.row, ...rows]) }));
		this.body.replaceChildren(title, h("div", { class: "state-parts" }, list("What", fields, (key, value) => (key === "woken by" || key === "ended by") && waker !== void 0 ? button(value, `Go to ${value}, as it was then`, () => this.navigator.go(waker, key === "ended by" ? state.end : state.begin), { class: "link" }) : value), instead, list("When, on both clocks", times), share));
	}
	bounds(state) {
		const host = rowOf(this.view, state.row)?.host ?? -1, { sure, likely } = state.times;
		if (this.view.now.experiment?.hosts[host]?.is_reference === true) return [["bounds", "exact: its host is the reference, whose clock is the common one"]];
		return [["surely within", sure ?? "not known: its host is tied to no other"], ["likely within", likely ?? "not known"]];
	}
	/** "read(fd 4)", or what else says most. */
	fieldOf(state) {
		return state.fields.find(([key]) => key === "call" || key === "what")?.[1] ?? "";
	}
	acts(neighbours) {
		const there = (it) => it ? `${it.state}${this.fieldOf(it) === "" ? "" : ` ${this.fieldOf(it).replace(/\(.*/, "")}`} ${formatDuration(it.end - it.begin)}` : "none";
		const beside = (to, it) => {
			const text = neighbours === null ? to : there(it);
			return button(to === "previous" ? `◂ ${text}` : `${text} ▸`, to === "previous" ? "Go to the state before ([)" : "Go to the state after (])", () => void this.step(to), {
				"data-to": to,
				disabled: neighbours !== null && !it
			});
		};
		return [
			beside("previous", neighbours?.[0]),
			beside("next", neighbours?.[1]),
			button("follow the message", "Go to the other end of the message next to it (m)", () => void this.follow("message")),
			button("whom it wakes", "Go to the thread that it wakes next (e)", () => void this.follow("wakeup")),
			button("who woke it", "Go to the thread that woke it (E)", () => void this.follow("waker")),
			panelButton("all of these", "flows", "List the messages and wake-ups that come to it and go from it in this time"),
			h("span", {
				class: "wrong",
				role: "status"
			})
		];
	}
	async step(to) {
		const { state } = this.said;
		const it = this.said.neighbours?.[to === "previous" ? 0 : 1] ?? await this.answer(() => api.step(state.row, (state.begin + state.end) / 2, to, this.view.now.clock));
		if (it !== null) this.go(it);
	}
	async follow(what) {
		const { state } = this.said, { clock } = this.view.now;
		const end = await this.answer(() => api.follow(state.row, (state.begin + state.end) / 2, what, clock));
		if (end === null) return;
		const there = await this.during(api.state(end.row, end.at, clock)).catch(() => null);
		if (there !== null) this.go(there, end.at);
		else {
			this.view.set({ selection: null });
			this.navigator.go(end.row, end.at);
		}
	}
	go(state, at = state.begin) {
		this.view.set({
			row: state.row,
			selection: {
				begin: state.begin,
				end: state.end
			}
		});
		this.navigator.go(state.row, at);
	}
	async answer(request) {
		try {
			return await this.during(request());
		} catch (error) {
			const place = this.controls.querySelector(".wrong");
			if (place !== null) place.textContent = error instanceof Error ? error.message : "";
			return null;
		}
	}
	/** Its begin and end, as options of commands: Unix ns of the common clock. */
	get options() {
		const common = this.said?.common ?? null;
		return common === null ? "" : `--begin ${unixNs(this.origin, common.begin)} --end ${unixNs(this.origin, common.end)}`;
	}
	asText(name) {
		const { state } = this.said, { times } = state;
		return [
			`${name}: ${state.state}, ${state.end - state.begin} ns`,
			...state.fields.map(([key, value]) => `${key}\t${value}`),
			...state.meanwhile === void 0 ? [] : [`ran instead\t${meanwhileText(state.meanwhile, Infinity)}`],
			`own clock\t${times.own}`,
			`common clock\t${times.common}`,
			`surely within\t${times.sure ?? ""}`,
			`likely within\t${times.likely ?? ""}`,
			...this.options === "" ? [] : [`options\t${this.options}`]
		].join("\n");
	}
};
function list(title, fields, draw = (_, value) => value) {
	return h("section", {}, h("h3", {}, title), h("dl", {}, ...fields.flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, draw(key, value))])));
}
// src/panels/areaTables.ts
/** "12 reads of 3 kB, 4 writes of 1.2 MB, 7 others (2 errors), 4.1 ms": all of it, whatever is listed. */
function usesText({ reads, read_bytes: readBytes, writes, written_bytes: writtenBytes, others, errors, total_ns: total }) {
	return `${formatCount(reads)} reads of ${formatBytes(readBytes)}, ${formatCount(writes)} writes of ${formatBytes(writtenBytes)}, ${formatCount(others)} other calls${errors > 0 ? ` (${formatCount(errors)} errors)` : ""}, ${formatDuration(total)}`;
}
/** How many there are of something that lasts, how long in all, on average and at most. */
var SUM_COLUMNS = [
	{
		title: "count",
		unit: "count",
		value: (it) => it.count
	},
	{
		title: "time",
		unit: "ns",
		value: (it) => it.total_ns
	},
	{
		title: "mean",
		unit: "ns",
		value: (it) => it.total_ns / it.count
	},
	{
		title: "longest",
		unit: "ns",
		value: (it) => it.max_ns
	}
];
/** "the first 1,000 of 2,345" where not all are listed. */
function cutText(listed, count) {
	return listed < count ? `; the first ${formatCount(listed)} of ${formatCount(count)}` : "";
}
function usesColumns() {
	return [
		{
			title: "read",
			unit: "bytes",
			description: "What calls that read returned",
			value: (it) => it.read_bytes
		},
		{
			title: "written",
			unit: "bytes",
			value: (it) => it.written_bytes
		},
		{
			title: "reads",
			unit: "count",
			value: (it) => it.reads
		},
		{
			title: "writes",
			unit: "count",
			value: (it) => it.writes
		},
		{
			title: "others",
			unit: "count",
			description: "Calls that do neither",
			value: (it) => it.others
		},
		{
			title: "errors",
			unit: "count",
			value: (it) => it.errors
		},
		{
			title: "time",
			unit: "ns",
			description: "In these calls, from entry to exit",
			value: (it) => it.total_ns
		}
	];
}
var FileTables = class {
	filesNote = h("span", { class: "muted" });
	peersNote = h("span", { class: "muted" });
	files;
	peers;
	/** What came of a click. */
	said = h("span", {
		class: "said",
		role: "status"
	});
	saidOfPeers = h("span", {
		class: "said",
		role: "status"
	});
	answered = [];
	constructor(origin, host, doers) {
		const name = () => ({
			title: "host",
			value: (it) => host(it.host)
		});
		this.files = new DataTable({
			label: "Files: a click goes to the thread that uses it most, at its first call",
			origin,
			sort: [2, true],
			pick: (it) => doers.file(it),
			columns: [
				name(),
				{
					title: "file",
					value: (it) => it.file ?? "unknown: it was open before the trace, or events are missing",
					grow: true
				},
				...usesColumns(),
				{
					title: "kind",
					value: (it) => it.kind ?? "–"
				}
			]
		});
		this.peers = new DataTable({
			label: "Peers: a click goes to the other end, on the other host",
			origin,
			sort: [3, true],
			pick: (it) => doers.peer(it, this.answered),
			columns: [
				name(),
				{
					title: "peer",
					description: "The address at the other end of sockets",
					value: (it) => it.peer,
					grow: true
				},
				{
					title: "connections",
					unit: "count",
					value: (it) => it.connections
				},
				...usesColumns()
			]
		});
	}
	set({ files, file_count: fileCount, peers, peer_count: peerCount, all }) {
		this.filesNote.textContent = this.filesNote.title = `${usesText(all)}${cutText(files.length, fileCount)}`;
		this.answered = files;
		this.say("");
		this.peersNote.textContent = `${formatCount(peerCount)} peers${cutText(peers.length, peerCount)}`;
		this.files.set(files);
		this.peers.set(peers);
	}
	say(text) {
		for (const it of [this.said, this.saidOfPeers]) it.textContent = it.title = text;
	}
};
var ExchangedTable = class {
	note = h("span", { class: "muted" });
	table;
	constructor(origin, go) {
		this.table = new DataTable({
			label: "Messages: a click goes to who sent them",
			origin,
			sort: [2, true],
			pick: (it) => go(it.from),
			columns: [
				{
					title: "from",
					value: (it) => it.from_label,
					grow: true
				},
				{
					title: "to",
					value: (it) => it.to_label,
					grow: true
				},
				{
					title: "messages",
					unit: "count",
					value: (it) => it.count
				},
				{
					title: "of MPI",
					value: (it) => it.is_mpi
				},
				{
					title: "mean latency",
					unit: "ns",
					description: "From the send to the reception, on the common clock",
					value: (it) => it.total_ns / it.count
				},
				{
					title: "least",
					unit: "ns",
					value: (it) => it.min_ns
				},
				{
					title: "most",
					unit: "ns",
					value: (it) => it.max_ns
				},
				{
					title: "inverted",
					unit: "count",
					description: "Received before they were sent",
					value: (it) => it.inverted
				}
			]
		});
	}
	set({ pairs, pair_count: count, total }) {
		this.note.textContent = `${formatCount(total)} messages${cutText(pairs.length, count)}`;
		this.table.set(pairs);
	}
};
// src/panels/causes.ts
/** "a disk": in the words of critical paths, if they have some. */
var waitsFor = ({ cause }) => causeWord(cause).replace(/^waits for /, "");
var CauseTable = class {
	note = h("span", { class: "muted" });
	table;
	constructor(origin) {
		this.table = new DataTable({
			label: "Waits by cause",
			origin,
			sort: [2, true],
			columns: [{
				title: "waits for",
				value: waitsFor,
				draw: (it) => swatch(causeColour(it.cause), waitsFor(it)),
				grow: true
			}, ...SUM_COLUMNS]
		});
	}
	set({ causes }) {
		const sum = (of) => causes.reduce((all, it) => all + of(it), 0);
		this.note.textContent = causes.length === 0 ? "no wait is known; Analyses → blocking says what was not recorded" : `${formatCount(sum((it) => it.count))} waits that end in the time, in full: ${formatDuration(sum((it) => it.total_ns))}`;
		this.note.title = `${this.note.textContent}. A wait counts from its begin, though that be before the time`;
		this.table.set(causes);
	}
};
// src/panels/instead.ts
var InsteadTable = class {
	waited = 1;
	note = h("span", { class: "muted" });
	table;
	constructor(origin, go) {
		const share = (it) => 100 * it.total_ns / this.waited;
		this.table = new DataTable({
			label: "What ran while they waited for a CPU: a click goes there",
			origin,
			sort: [1, true],
			pick: (it) => {
				if (it.row !== null) go(it.row);
			},
			columns: [
				{
					title: "ran instead",
					value: (it) => it.label,
					grow: true
				},
				{
					title: "time",
					unit: "ns",
					value: (it) => it.total_ns
				},
				{
					title: "share",
					unit: "percent",
					value: share,
					text: (it) => `${share(it).toFixed(1)} %`
				}
			]
		});
	}
	set({ waits, wait_ns: waited, unknown_ns: unknown, ran, ran_count: count }) {
		this.waited = Math.max(1, waited);
		const notKnown = unknown > 0 ? `; unknown what ran: ${formatDuration(unknown)}` : "";
		this.note.textContent = `${formatCount(waits)} waits for a CPU, ${formatDuration(waited)}${notKnown}${cutText(ran.length, count)}`;
		this.note.title = `${this.note.textContent}. Of each wait, what ran on the CPU that the thread got in the end`;
		this.table.set(ran);
	}
};
// src/panels/phases.ts
/** Names in the legend. */
var MOST = 12;
var colourOf = (phase) => stateColour(paintStyle(14, phase));
var PhaseTable = class {
	isRank;
	outside = 1;
	/** Those that compute together: the ranks, where there are some, else all. */
	of = [];
	note = h("span", { class: "legend" });
	table;
	constructor(origin, name, isRank, go) {
		this.isRank = isRank;
		this.table = new DataTable({
			label: "Time by phase: a click goes to the thread",
			origin,
			pick: (it) => go(it.row),
			columns: [
				{
					title: "thread",
					value: (it) => name(it.row) || it.label
				},
				{
					title: "in no phase",
					unit: "ns",
					description: "Of MPI programs: what computes",
					value: (it) => it.outside_ns
				},
				{
					title: "of the mean",
					unit: "percent",
					description: "100 %: as much as the ranks have on average, or the threads, where there are no ranks",
					value: (it) => this.ofMean(it),
					text: (it) => this.ofMean(it) === null ? "–" : `${this.ofMean(it).toFixed(0)} %`
				},
				{
					title: "by phase",
					description: "Shares of its life in the range; what is in no phase is pale. Phases in phases count for both",
					value: (it) => it.all_ns - it.outside_ns,
					text: () => "",
					draw: (it) => stack(partsOf(it)),
					width: 22
				},
				{
					title: "most in",
					value: (it) => it.phases.slice(0, 3).map((phase) => `${phase.phase} ${formatDuration(phase.total_ns)} (${formatCount(phase.count)})`).join(", "),
					grow: true
				}
			]
		});
	}
	set({ threads, thread_count: count }) {
		const ranks = threads.filter((it) => this.isRank(it.row)), of = this.of = ranks.length > 0 ? ranks : threads;
		const sum = of.reduce((all, it) => all + it.outside_ns, 0), most = Math.max(0, ...of.map((it) => it.outside_ns));
		this.outside = Math.max(1, sum / Math.max(1, of.length));
		const names = [...new Set(threads.flatMap((it) => it.phases.map((phase) => phase.phase)))];
		const among = ranks.length > 0 ? ` of ${formatCount(ranks.length)} ranks` : "", above = (100 * most / this.outside - 100).toFixed(0);
		const imbalance = of.length < 2 ? "" : `imbalance ${above} % (the most in no phase, above the mean${among})`;
		this.note.replaceChildren(...names.slice(0, MOST).map((name) => swatch(colourOf(name), name)), h("span", { class: "muted" }, threads.length === 0 ? "no thread has phases in this time" : `${imbalance}${threads.length < count ? `; the first ${formatCount(threads.length)} of ${formatCount(count)} threads` : ""}`));
		this.table.set(threads);
	}
	ofMean(it) {
		return this.of.includes(it) ? 100 * it.outside_ns / this.outside : null;
	}
};
/** Parts of the whole; phases that lie in others may make them more than that. */
function partsOf(it) {
	const all = Math.max(1, it.outside_ns + it.phases.reduce((sum, phase) => sum + phase.total_ns, 0));
	return [...it.phases.map(({ phase, total_ns: ns, count }) => ({
		name: phase,
		share: ns / all,
		colour: colourOf(phase),
		text: `${formatDuration(ns)}, ${formatCount(count)} times`
	})), {
		name: "in no phase",
		share: it.outside_ns / all,
		colour: "var(--row)",
		text: formatDuration(it.outside_ns)
	}];
}
// src/panels/pivot.ts
var BYS$1 = [
	"host",
	"process",
	"thread"
];
var DEAD = 7;
var STATES$1 = LOOKS.slice(0, 9).flatMap(({ name }, style) => style === DEAD ? [] : [{
	name,
	style
}]);
var sumOf = (byState) => STATES$1.reduce((sum, { style }) => sum + (byState[style] ?? 0), 0);
/** Lines of an answer: groups of the threads that it lists, the others together, and all. */
function pivotLines({ threads, thread_count: count, states }, by, groupOf) {
	const groups = /* @__PURE__ */ new Map(), listed = [], all = [], isWhole = threads.length === count || by === "thread";
	for (const it of states) all[it.style] = it.total_ns;
	for (const thread of threads) {
		const { row, label } = groupOf(thread.row, by), group = groups.get(row) ?? {
			label,
			byState: []
		};
		groups.set(row, group);
		for (const { style } of STATES$1) {
			const ns = thread.by_state[style] ?? 0;
			group.byState[style] = (group.byState[style] ?? 0) + ns;
			listed[style] = (listed[style] ?? 0) + ns;
		}
	}
	const lines = [...groups].map(([row, group]) => ({
		kind: "one",
		row,
		...group,
		isWhole
	}));
	if (threads.length < count) {
		const rest = [];
		for (const { style } of STATES$1) rest[style] = (all[style] ?? 0) - (listed[style] ?? 0);
		lines.push({
			kind: "rest",
			row: null,
			label: `${formatCount(count - threads.length)} threads that are not listed`,
			byState: rest,
			isWhole: true
		});
	}
	return [...lines, {
		kind: "all",
		row: null,
		label: "all",
		byState: all,
		isWhole: true
	}];
}
var PivotTable = class {
	groupOf;
	chosen;
	answer = {
		threads: [],
		thread_count: 0,
		states: []
	};
	select = h("select", {
		"aria-label": "A line for each",
		onchange: () => {
			this.draw();
			this.chosen();
		}
	}, ...BYS$1.map((by) => h("option", { value: by }, `by ${by}`)));
	note = h("span", { class: "muted" });
	table;
	constructor(origin, groupOf, go, chosen) {
		this.groupOf = groupOf;
		this.chosen = chosen;
		const last = ({ kind }) => [
			"one",
			"rest",
			"all"
		].indexOf(kind), text = (it, ns) => ns === 0 && it.isWhole ? "" : `${it.isWhole ? "" : "≥ "}${formatDuration(ns)}`;
		const time = (title, value, description) => ({
			title,
			unit: "ns",
			description,
			value,
			text: (it) => text(it, value(it)),
			isLast: last
		});
		this.table = new DataTable({
			label: "Pivot: a click goes there",
			origin,
			sort: [1, true],
			pick: (it) => {
				if (it.row !== null) go(it.row);
			},
			mark: (it) => it.kind === "all" ? "sum" : null,
			columns: [
				{
					title: "of",
					value: (it) => it.isWhole ? it.label : `${it.label} (at least)`,
					isLast: last,
					grow: true
				},
				time("on a CPU", (it) => [
					1,
					2,
					3,
					8
				].reduce((sum, style) => sum + (it.byState[style] ?? 0), 0), "User mode, system calls, interrupted, and running where it is unknown which"),
				...STATES$1.map(({ name, style }) => ({
					...time(name, (it) => it.byState[style] ?? 0, name),
					draw: (it) => it.kind === "all" ? swatch(stateColour(style), text(it, it.byState[style] ?? 0)) : text(it, it.byState[style] ?? 0)
				})),
				time("all", (it) => sumOf(it.byState), "All states together")
			]
		});
	}
	get by() {
		return BYS$1.find((by) => by === this.select.value) ?? "host";
	}
	show(by) {
		this.select.value = by;
		this.draw();
	}
	set(answer) {
		this.answer = answer;
		this.draw();
	}
	clear() {
		this.answer = {
			threads: [],
			thread_count: 0,
			states: []
		};
		this.table.set([]);
	}
	draw() {
		const { threads, thread_count: count } = this.answer, isCut = threads.length < count;
		this.note.textContent = isCut ? `${this.by === "thread" ? "" : "≥: "}${formatCount(count - threads.length)} threads with the least CPU time are only in the sums` : "exact, of states";
		this.note.title = this.note.textContent;
		this.table.set(count === 0 ? [] : pivotLines(this.answer, this.by, this.groupOf));
	}
};
// src/panels/users.ts
var PATH = "fd_path(host, coalesce(pid, tid), fd, begin_time)";
var quoted = (text) => `'${text.replace(/'/g, "''")}'`;
/** What a descriptor of a call is, where it is the file of a line. */
function isFile(host, { file }) {
	return `host = ${quoted(host)} AND ${file === null ? `${PATH} IS NULL` : `${PATH} = ${quoted(file)}`}`;
}
/**
* The same of the other end of the sockets to a peer: on other hosts, with the addresses the other way round. `files`: of the same answer, whose sockets
* have the addresses of the host; null: it has none.
*/
function isOtherEnd(hostName, { host, peer }, files) {
	const pairs = files.flatMap((it) => {
		const [local, other] = it.host === host ? it.file?.split("->") ?? [] : [];
		return other?.replace(/:\d+$/, "") === peer ? [local.replace(/:\d+$/, "")] : [];
	});
	const of = [...new Set(pairs)].map((local) => `${PATH} LIKE ${quoted(`${peer}:%->${local}:%`)}`);
	return of.length === 0 ? null : `host <> ${quoted(hostName)} AND (${of.join(" OR ")})`;
}
/** The thread with the most time in such calls that end in a time of the common clock: one of `rows` or below them, if there are any; null: none. */
async function mostOf(view, condition, range, rows) {
	const origin = view.now.experiment?.origin_unix_ns ?? "0", time = (at) => quoted(`${formatDate(origin, at)} ${formatUtc(origin, at)}`), wanted = rows === null ? null : new Set(rows);
	const { rows: found } = await api.sql(`SELECT host, tid, min(begin_time) AS first FROM syscalls
     WHERE fd IS NOT NULL AND end_time >= ${time(range.begin)} AND end_time < ${time(range.end)} AND ${condition}
     GROUP BY host, thread, tid ORDER BY sum(duration_ns) DESC, host, thread`);
	for (const it of found) {
		const at = sqlInstant(it.first, origin), row = rowOfLine(view, (column) => {
			const value = it[column];
			return typeof value === "object" ? null : value ?? null;
		}, at);
		if (at === null || row === null) continue;
		for (let up = rowOf(view, row); up !== void 0; up = rowOf(view, up.parent)) if (wanted === null || wanted.has(up.id)) return {
			row,
			at
		};
	}
	return null;
}
// src/panels/statistics.ts
var BYS = {
	call: ["by call", "System calls"],
	cause: ["by cause", "What threads waited for"],
	instead: ["ran instead", "What ran while they waited for a CPU"],
	phase: ["by phase", "Phases of programs, calls of MPI: a bar for each thread"],
	file: ["files", "What they read and wrote: calls that end in this time"],
	peer: ["peers", "With whom they exchanged bytes by sockets"],
	message: ["messages", "Messages that they sent or received in this time"]
};
var MIDDLES = {
	thread: ["by thread", "Time of threads"],
	process: ["by process", "Time of processes"],
	pivot: ["pivot", "Hosts, processes or threads against states"]
};
/** Why there is no command. */
var NO_QUERY = "The server has no query with these figures, or it would have to name too many threads or hosts: select fewer rows, or look at all threads";
var UNKNOWN = 0;
var USER = 1;
var CALL = 2;
var INTERRUPTED = 3;
var WAIT_CPU = 4;
var BLOCKED = 5;
var RUNNING = 8;
var onCpu = (it) => [
	USER,
	CALL,
	INTERRUPTED,
	RUNNING
].reduce((sum, state) => sum + (it.byState[state] ?? 0), 0);
var StatisticsPanel = class extends AskingPanel {
	range = null;
	/** The query of the sums by state: what the bar has is that of the table at the right. */
	stateCommand = "";
	stateTexts = [0, 1].map(() => copyButton("as text", "", () => this.stateCommand, "query"));
	/** What the answer is of: these rows, or all. */
	rows = null;
	all = 1;
	most = 1;
	of = h("select", {
		"aria-label": "Of which threads",
		onchange: () => {
			this.tellKept();
			this.ask();
		}
	}, h("option", { value: "all" }, "all threads"), h("option", { value: "row" }, "selected row"), h("option", {
		value: "area",
		hidden: true
	}, "selected rows"));
	states;
	threads;
	processes;
	calls;
	/** Of the threads that were looked for, the last one counts. */
	looking = 0;
	causes;
	instead;
	/** What the tables at the right add up by. */
	by = "call";
	count = h("span", { class: "muted" });
	middle = "thread";
	ofMiddle;
	ofStates;
	pivot;
	phases;
	fileTables;
	exchanged;
	ofRight;
	parts;
	constructor(view, navigator) {
		super("statistics", "Statistics", view, navigator, [
			"window",
			"selection",
			"area",
			"row",
			"clock",
			"rows"
		]);
		const origin = () => this.origin, name = (it) => LOOKS[it.style]?.name ?? it.state;
		const share = (it) => 100 * it.total_ns / this.all;
		this.states = new DataTable({
			label: "Time by state",
			origin,
			sort: [1, true],
			columns: [
				{
					title: "state",
					value: name,
					draw: (it) => swatch(stateColour(it.style), name(it)),
					width: 15
				},
				{
					title: "time",
					unit: "ns",
					value: (it) => it.total_ns,
					isLast: (it) => it.style === UNKNOWN,
					draw: (it) => this.metered(it),
					grow: true,
					width: 14
				},
				{
					title: "share",
					unit: "percent",
					value: share,
					text: (it) => `${share(it).toFixed(1)} %`
				}
			]
		});
		const columns = (title) => [
			{
				title,
				value: (it) => it.label,
				grow: true
			},
			{
				title: "on a CPU",
				unit: "ns",
				description: "User mode, system calls, interrupted, and running where it is unknown which",
				value: onCpu
			},
			{
				title: "by state",
				description: "Shares of its time in the range",
				value: onCpu,
				text: () => "",
				draw: (it) => stack(this.partsOf(it)),
				width: 16
			},
			{
				title: "waits for CPU",
				unit: "ns",
				value: (it) => it.byState[WAIT_CPU] ?? 0
			},
			{
				title: "blocked",
				unit: "ns",
				value: (it) => it.byState[BLOCKED] ?? 0
			}
		];
		this.threads = new DataTable({
			label: "Time by thread: a click goes there",
			origin,
			sort: [1, true],
			columns: columns("thread"),
			pick: (it) => this.go(it)
		});
		this.processes = new DataTable({
			label: "Time by process: a click goes there",
			origin,
			sort: [1, true],
			columns: [...columns("process"), {
				title: "threads",
				unit: "count",
				value: (it) => it.threads
			}],
			pick: (it) => this.go(it)
		});
		this.calls = new DataTable({
			label: "System calls",
			origin,
			sort: [2, true],
			columns: [{
				title: "call",
				value: (it) => it.call,
				grow: true
			}, ...SUM_COLUMNS]
		});
		this.causes = new CauseTable(origin);
		this.instead = new InsteadTable(origin, (row) => this.goTo(row));
		this.controls.append(this.of, this.count);
		this.pivot = new PivotTable(origin, (thread, by) => this.groupOf(thread, by), (row) => this.goTo(row), () => this.tellKept());
		const turns = (of) => h("span", { class: "turns" }, ...Object.entries(MIDDLES).map(([to, [text, title]]) => button(text, title, () => {
			this.turn(to);
			this.tellKept();
		}, { "aria-pressed": String(to === of) })));
		this.ofStates = titled("By state", this.states, this.stateTexts[0]);
		this.ofMiddle = {
			thread: titled("", this.threads, turns("thread")),
			process: titled("", this.processes, turns("process")),
			pivot: titled("", this.pivot.table, turns("pivot"), this.pivot.select, this.pivot.note, this.stateTexts[1])
		};
		this.ofMiddle.pivot.classList.add("wide");
		const turnsOf = (by) => h("span", { class: "turns" }, ...Object.entries(BYS).map(([to, [text, title]]) => button(text, title, () => {
			this.turnTo(to);
			this.tellKept();
			this.ask();
		}, { "aria-pressed": String(to === by) })));
		this.phases = new PhaseTable(origin, (row) => nameOf$1(this.view, row), (row) => rowOf(this.view, row)?.rank !== void 0, (row) => this.goTo(row));
		this.fileTables = new FileTables(origin, (host) => this.hostName(host), {
			file: (it) => void this.goToUser(isFile(this.hostName(it.host), it), this.rows, "it is not known which thread uses it"),
			peer: (it, files) => void this.goToUser(isOtherEnd(this.hostName(it.host), it, files), null, `no thread on a traced host is known to be at ${it.peer}`)
		});
		this.exchanged = new ExchangedTable(origin, (row) => this.goTo(row));
		this.ofRight = {
			call: titled("", this.calls, turnsOf("call"), h("span", {
				class: "muted",
				title: "Calls take as long as their host's own clock says, as in syscallstats; states are on the common clock. The two differ by the rates of the clocks, some parts in a million."
			}, "by own clocks")),
			cause: titled("", this.causes.table, turnsOf("cause"), this.causes.note),
			instead: titled("", this.instead.table, turnsOf("instead"), this.instead.note),
			phase: titled("", this.phases.table, turnsOf("phase"), this.phases.note),
			file: titled("", this.fileTables.files, turnsOf("file"), this.fileTables.filesNote, this.fileTables.said),
			peer: titled("", this.fileTables.peers, turnsOf("peer"), this.fileTables.peersNote, this.fileTables.saidOfPeers),
			message: titled("", this.exchanged.table, turnsOf("message"), this.exchanged.note)
		};
		this.parts = h("div", { class: "statistics-parts" }, this.ofStates, ...Object.values(this.ofMiddle), ...Object.values(this.ofRight));
		this.turn("thread");
		this.turnTo("call");
	}
	changed(_now, changed) {
		this.showOf();
		if (changed.size === 1 && changed.has("row") && this.of.value === "all") return;
		this.askWhenQuick();
	}
	/** What the tables add up by, and of which threads, where that is another than at first. */
	get kept() {
		return [
			...this.by === "call" ? [] : [this.by],
			...this.middle === "thread" ? [] : [this.middle === "pivot" ? `pivot-${this.pivot.by}` : this.middle],
			...this.of.value === "row" ? ["row"] : []
		].join(",");
	}
	keep(text) {
		const parts = text.split(",");
		this.turnTo(parts.find((part) => part in BYS) ?? "call");
		const by = parts.find((part) => part.startsWith("pivot-"))?.slice(6);
		if (by !== void 0) this.pivot.show(by);
		this.turn(by !== void 0 ? "pivot" : parts.includes("process") ? "process" : "thread");
		if (this.of.value !== "area") this.of.value = parts.includes("row") ? "row" : "all";
		if (this.isSeen) this.ask();
	}
	shown() {
		this.showOf();
	}
	/** What can be added up: rows that are selected are, until others are. */
	showOf() {
		const { area } = this.view.now, option = this.of.options[2], isNew = option.hidden && area !== null;
		this.of.options[1].textContent = this.rowText();
		option.hidden = area === null;
		option.textContent = `the ${formatCount(area?.size ?? 0)} selected rows`;
		if (isNew) this.of.value = "area";
		else if (area === null && this.of.value === "area") this.of.value = "all";
	}
	themed() {
		for (const table of [
			this.states,
			this.threads,
			this.processes,
			this.pivot.table,
			this.causes.table
		]) table.redraw();
	}
	forget() {
		this.pivot.clear();
		for (const table of [
			this.states,
			this.threads,
			this.processes,
			this.calls,
			this.causes.table,
			this.instead.table,
			this.phases.table,
			this.fileTables.files,
			this.fileTables.peers,
			this.exchanged.table
		]) table.set([]);
	}
	async load(signal) {
		const covered = this.showRange(), { row, area } = this.view.now, isOfRow = this.of.value === "row" && row !== null;
		const rows = isOfRow ? [row] : this.of.value === "area" && area !== null ? [...area] : null, asked = {
			begin: covered.begin,
			end: covered.end,
			rows,
			ask: this.progress.ask
		}, answer = await api.statistics(asked, signal);
		this.range = covered;
		this.rows = rows;
		if (this.by === "call") this.command.setOr(answer.calls_command, NO_QUERY);
		this.stateCommand = answer.command;
		for (const it of this.stateTexts) {
			it.hidden = answer.command === "";
			it.title = answer.command;
		}
		if (answer.threads.length === 0) {
			this.forget();
			this.command.set("");
			this.body.replaceChildren(rows !== null ? notice("empty", `${isOfRow ? nameOf$1(this.view, row) : "These rows"} ${isOfRow ? "has" : "have"} no threads in this time`, "Choose all threads, or another row or time.") : notice("empty", "No states are known in this time", "They come from `sched_switch` and system calls: record `lttng enable-event --kernel 'sched_*'` and `lttng enable-event --kernel --syscall --all`."));
			return;
		}
		this.all = Math.max(1, answer.states.reduce((sum, it) => sum + it.total_ns, 0));
		this.most = Math.max(1, ...answer.states.filter((it) => it.style !== UNKNOWN).map((it) => it.total_ns));
		const threads = answer.threads.map((it) => ({
			row: it.row,
			label: it.label,
			byState: it.by_state,
			threads: 1
		}));
		const isAll = threads.length === answer.thread_count;
		this.count.textContent = isAll ? `${formatCount(threads.length)} threads` : `${formatCount(threads.length)} of ${formatCount(answer.thread_count)} threads, those with the most CPU time; processes are sums of these`;
		this.count.title = this.count.textContent;
		if (this.body.firstChild !== this.parts) this.body.replaceChildren(this.parts);
		this.states.set(answer.states);
		this.threads.set(threads);
		this.processes.set(this.byProcess(threads));
		this.pivot.set(answer);
		this.calls.set(answer.calls);
		if (this.by === "cause") this.command.setOr(shown(this.causes, await api.causes(asked, signal)), "The command `blocking` is of whole processes: choose all threads");
		if (this.by === "phase") this.command.set(shown(this.phases, await api.phases(asked, signal)));
		if (this.by === "instead") this.command.setOr(shown(this.instead, await api.instead(asked, signal)), NO_QUERY);
		if (this.by === "file" || this.by === "peer") this.command.set(shown(this.fileTables, await api.files(asked, signal)));
		if (this.by === "message") this.command.set(shown(this.exchanged, await api.exchanged(asked, signal)));
	}
	/** The process or the host that a thread is of; a thread that is alone stands for its process. */
	groupOf(thread, by) {
		const it = rowOf(this.view, thread), parent = rowOf(this.view, it?.parent ?? null), host = this.view.now.experiment?.hosts[it?.host ?? -1]?.row ?? thread;
		const row = by === "host" ? host : by === "process" && parent?.kind === "process" ? parent.id : thread;
		return {
			row,
			label: nameOf$1(this.view, row)
		};
	}
	byProcess(threads) {
		const groups = /* @__PURE__ */ new Map();
		for (const it of threads) {
			const { row: id } = this.groupOf(it.row, "process");
			const group = groups.get(id);
			if (group === void 0) groups.set(id, {
				byState: [...it.byState],
				threads: 1
			});
			else {
				it.byState.forEach((ns, state) => {
					group.byState[state] = (group.byState[state] ?? 0) + ns;
				});
				group.threads += 1;
			}
		}
		return [...groups].map(([row, group]) => ({
			row,
			label: nameOf$1(this.view, row),
			...group
		}));
	}
	partsOf(it) {
		const all = it.byState.reduce((sum, ns) => sum + ns, 0);
		return it.byState.map((ns, style) => ({
			name: LOOKS[style]?.name ?? "",
			share: ns / Math.max(1, all),
			colour: stateColour(style),
			text: formatDuration(ns)
		}));
	}
	/** The pivot has the sums by state, too: it takes their place. */
	turn(to) {
		this.middle = to;
		for (const [name, part] of Object.entries(this.ofMiddle)) part.hidden = name !== to;
		this.ofStates.hidden = to === "pivot";
	}
	turnTo(by) {
		this.by = by;
		for (const [name, part] of Object.entries(this.ofRight)) part.hidden = name !== by;
	}
	metered(it) {
		const bar = h("span", {
			class: "meter solid",
			"aria-hidden": "true"
		});
		bar.style.width = `calc((100% - 13ch) * ${it.style === UNKNOWN ? 0 : it.total_ns / this.most} + 1px)`;
		bar.style.background = stateColour(it.style);
		return h("span", { class: "metered" }, bar, h("span", { class: "value" }, formatDuration(it.total_ns)));
	}
	rowText() {
		return this.view.now.row === null ? "selected row" : `only ${nameOf$1(this.view, this.view.now.row)}`;
	}
	hostName(host) {
		return this.view.now.experiment?.hosts[host]?.name ?? String(host);
	}
	/** Goes to the thread that has most to do with a line; `none`: what is said where there is none. */
	async goToUser(condition, rows, none) {
		const { range } = this, looking = this.looking += 1;
		if (range === null) return;
		this.fileTables.say("looking for the thread …");
		const user = condition === null ? null : await this.during(mostOf(this.view, condition, range, rows)).catch((error) => {
			if (error instanceof ApiError) return error.message;
			throw error;
		});
		if (!this.isSeen || this.range !== range || this.looking !== looking) return;
		this.fileTables.say(user === null ? none : typeof user === "string" ? user : `${nameOf$1(this.view, user.row)}, its first call`);
		if (user === null || typeof user === "string") return;
		const at = toShown(this.view, user.row, user.at);
		this.goAndStay(() => {
			this.navigator.go(user.row, at);
			this.view.set({ hover: at });
		});
	}
	go(it) {
		this.goTo(it.row);
	}
	goTo(row) {
		this.hold();
		if (this.range !== null) this.navigator.go(row, toShown(this.view, row, (this.range.begin + this.range.end) / 2));
	}
};
/** Shows an answer in its tables; gives its command. */
function shown(tables, answer) {
	tables.set(answer);
	return answer.command;
}
// src/panels/hostGraph.ts
var SVG = "http://www.w3.org/2000/svg";
var RADIUS = 17;
function svg(tag, attributes, ...children) {
	const it = document.createElementNS(SVG, tag);
	for (const [name, value] of Object.entries(attributes)) it.setAttribute(name, String(value));
	it.append(...children);
	return it;
}
/** Green up to 1 µs, over yellow, to red from 10 ms on; grey where nothing is known. */
function sureColour(ns, isReference) {
	if (isReference) return "var(--accent)";
	if (ns === null) return "var(--muted)";
	const share = Math.max(0, Math.min(1, (Math.log10(Math.max(1, ns)) - 3) / 4));
	return `hsl(${Math.round(130 - 130 * share)} 65% ${isDark() ? 45 : 40}%)`;
}
var WIDTHS = {
	accurate: 4,
	approximate: 2,
	incomplete: 2,
	absent: 1,
	refused: 2
};
/** The picture; `pick` gets the link whose line was clicked. */
function hostGraph(hosts, links, picked, pick) {
	const width = 300, height = Math.max(190, Math.min(420, 70 + hosts.length * 40)), places = placed(hosts.length, width, height);
	const at = new Map(hosts.map((host, place) => [host.name, places[place]]));
	const picture = svg("svg", {
		viewBox: `0 0 ${width} ${height}`,
		class: "host-graph",
		role: "group",
		"aria-label": `${hosts.length} hosts and ${links.length} links between them`
	});
	for (const link of links) {
		const a = at.get(link.a), b = at.get(link.b);
		if (a === void 0 || b === void 0) continue;
		const text = `${link.a} ↔ ${link.b}: ${link.quality}${link.likely_ns === null ? "" : `, likely ± ${formatDuration(link.likely_ns)}, surely ± ${formatDuration(link.sure_ns)}`}`;
		const line = svg("g", {
			class: `link ${link.quality}${link === picked ? " picked" : ""}`,
			tabindex: 0,
			role: "button",
			"aria-label": text,
			"aria-pressed": String(link === picked),
			"data-link": `${link.a}-${link.b}`
		}, svg("title", {}, text), svg("line", {
			x1: a[0],
			y1: a[1],
			x2: b[0],
			y2: b[1],
			class: "grip"
		}), svg("line", {
			x1: a[0],
			y1: a[1],
			x2: b[0],
			y2: b[1],
			class: "seen",
			"stroke-width": WIDTHS[link.quality] ?? 1
		}));
		const share = hosts.length > 3 ? .36 : .5, dx = b[0] - a[0], dy = b[1] - a[1], length = Math.hypot(dx, dy), side = dx < 0 || dx === 0 && dy > 0 ? -1 : 1;
		const x = a[0] + dx * share + side * 26 * dy / length, y = a[1] + dy * share - side * 11 * dx / length;
		if (links.length <= 6 || link === picked) line.append(svg("text", {
			x,
			y: y + 4,
			"text-anchor": "middle",
			class: "label"
		}, link.quality === "refused" ? "✗" : link.likely_ns === null ? link.quality : `± ${formatDuration(link.likely_ns)}`));
		line.addEventListener("click", () => pick(link));
		line.addEventListener("keydown", (event) => {
			const { key } = event;
			if (key !== "Enter" && key !== " ") return;
			pick(link);
			event.preventDefault();
			event.stopPropagation();
		});
		picture.append(line);
	}
	for (const host of hosts) {
		const [x, y] = at.get(host.name), said = host.is_reference ? "reference" : host.likely_ns === null ? "not tied" : `± ${formatDuration(host.likely_ns)}`;
		const about = `${host.name}: ${host.is_reference ? "the reference: its clock is the common one" : host.likely_ns === null ? "tied to no other host" : `likely ± ${formatDuration(host.likely_ns)}, surely ± ${formatDuration(host.sure_ns)}`}`;
		picture.append(svg("g", { class: "host" }, svg("title", {}, about), svg("circle", {
			cx: x,
			cy: y,
			r: RADIUS,
			fill: sureColour(host.likely_ns, host.is_reference)
		}), svg("text", {
			x,
			y: y + 4,
			"text-anchor": "middle",
			class: "name"
		}, host.name.length > 5 ? `${host.name.slice(0, 4)}…` : host.name), svg("text", {
			x,
			y: y < height / 2 - 20 ? y - RADIUS - 5 : y + RADIUS + 13,
			"text-anchor": "middle",
			class: "said"
		}, said)));
	}
	return picture;
}
/** On a circle; two side by side. */
function placed(count, width, height) {
	const x = width / 2, y = height / 2;
	if (count === 1) return [[x, y]];
	return Array.from({ length: count }, (_, place) => {
		const angle = (count === 2 ? Math.PI : Math.PI / 2 + Math.PI) + place * 2 * Math.PI / count;
		return [x + Math.cos(angle) * (width / 2 - 44), y + Math.sin(angle) * (height / 2 - RADIUS - 20)];
	});
}
// src/panels/linkPicture.ts
var LinkPictureView = class {
	view;
	picture = null;
	row = null;
	isAll = false;
	frame = 0;
	canvas = h("canvas", { role: "img" });
	cursor = h("div", {
		class: "cursor",
		hidden: true
	});
	place = h("div", { class: "link-canvas" }, this.canvas, this.cursor);
	title = h("h3");
	readout = h("span", { class: "muted readout-text" });
	all = button("all messages", "Show all messages, not only the surroundings of the corridor", () => {
		this.isAll = !this.isAll;
		this.all.setAttribute("aria-pressed", String(this.isAll));
		this.draw();
	}, { "aria-pressed": "false" });
	legend = h("span", { class: "legend" });
	element = h("section", { class: "block link-picture" }, h("div", { class: "block-head" }, this.title, this.legend, this.readout, this.all), this.place);
	constructor(view, mover) {
		this.view = view;
		new ResizeObserver(() => this.drawSoon()).observe(this.place);
		listenTime(this.place, view, mover, (x) => {
			const scene = this.scene();
			return scene === null || x < 64 ? null : toShown(this.view, this.row, timeOf(scene, x));
		});
	}
	set(picture) {
		this.picture = picture;
		this.row = this.view.now.experiment?.hosts.find((it) => it.name === picture.a)?.row ?? null;
		const { a, b, forth, back, suspects, breaks, bounds } = picture, middle = bounds[Math.floor(bounds.length / 2)];
		this.title.textContent = `${a} ↔ ${b}`;
		this.canvas.setAttribute("aria-label", `Offset of the clocks of ${a} and ${b} against time, the estimate taken out. ${formatCount(forth.length)} messages from ${a} to ${b}, ${formatCount(back.length)} back, ${suspects.length} suspects, ${breaks.length} breaks. ` + (middle === void 0 || middle[1] === null ? "Nothing is sure." : `In the middle: surely within ${formatDuration(middle[1])} to ${formatDuration(middle[2])}, likely within ± ${formatDuration(middle[3])}.`));
		this.draw();
		this.moveCursor();
	}
	clear() {
		this.picture = null;
		this.canvas.width = this.canvas.height = 0;
	}
	drawSoon() {
		if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
	}
	/** The cursor of all pictures, and what is known there. */
	moveCursor() {
		const scene = this.scene(), { hover } = this.view.now;
		const at = hover === null ? null : toCommon(this.view, this.row, hover), x = at === null || scene === null ? -1 : xOf(scene, at);
		this.cursor.hidden = x < 64 || scene === null || x > scene.width;
		this.cursor.style.transform = `translateX(${x}px)`;
		this.readout.textContent = at === null || scene === null ? "" : this.textAt(at);
	}
	textAt(at) {
		const { bounds, breaks } = this.picture, near = bounds.reduce((a, b) => Math.abs(b[0] - at) < Math.abs(a[0] - at) ? b : a, bounds[0]), { begin, end } = this.view.now.window;
		const broken = breaks.find((it) => Math.abs(it.at - at) < (end - begin) / 100);
		const text = near[1] === null ? "nothing sure here" : `surely ${formatDuration(near[1])} … +${formatDuration(near[2])}, likely ± ${formatDuration(near[3])}`;
		return `${formatTime(this.view.now.experiment?.origin_unix_ns ?? null, at, 6)}: ${broken?.text ?? text}`;
	}
	scene() {
		const { clientWidth: width, clientHeight: height } = this.place, { window, experiment } = this.view.now;
		if (this.picture === null || width < 120 || height < 40) return null;
		const common = {
			begin: toCommon(this.view, this.row, window.begin),
			end: toCommon(this.view, this.row, window.end)
		};
		return {
			picture: this.picture,
			window: common,
			width,
			height,
			most: this.most,
			origin: experiment?.origin_unix_ns ?? null
		};
	}
	most = 1;
	draw() {
		cancelAnimationFrame(this.frame);
		this.frame = 0;
		const seen = this.scene();
		if (seen === null) return;
		this.legend.replaceChildren(swatch(FORTH, `${seen.picture.a} → ${seen.picture.b}`), swatch(BACK, `${seen.picture.b} → ${seen.picture.a}`), swatch(likelyColour(), "likely"), swatch(ink().sure, "sure"));
		this.most = mostOf$1(seen.picture, seen.window, this.isAll);
		const scene = {
			...seen,
			most: this.most
		}, scale = devicePixelRatio;
		this.canvas.width = Math.round(scene.width * scale);
		this.canvas.height = Math.round(scene.height * scale);
		this.canvas.style.width = `${scene.width}px`;
		this.canvas.style.height = `${scene.height}px`;
		const ctx = this.canvas.getContext("2d");
		ctx.scale(scale, scale);
		drawLink(ctx, scene);
		const { selection } = this.view.now;
		if (selection !== null && rowOf(this.view, this.row) !== void 0) {
			const x0 = Math.max(64, xOf(scene, toCommon(this.view, this.row, selection.begin))), x1 = Math.min(scene.width, xOf(scene, toCommon(this.view, this.row, selection.end)));
			ctx.fillStyle = "rgba(60,120,220,0.13)";
			if (x1 > x0) ctx.fillRect(x0, 0, x1 - x0, scene.height);
		}
	}
};
// src/panels/syncTables.ts
/** Two bounds: "−3.1 … 4 µs". */
function between(bounds, text) {
	return bounds === null || bounds[0] === null || bounds[1] === null ? "–" : `${text(bounds[0])} … ${text(bounds[1])}`;
}
var width = (bounds) => bounds === null || bounds[0] === null || bounds[1] === null ? null : bounds[1] - bounds[0];
function formulaText(formula) {
	if (formula === void 0) return "";
	const isBack = formula.offset_ns.startsWith("-");
	return `${formula.slope} · t ${isBack ? "−" : "+"} ${isBack ? formula.offset_ns.slice(1) : formula.offset_ns} ns`;
}
var SyncTables = class {
	hostName;
	picked = null;
	links;
	hosts;
	breaks;
	suspects;
	refused;
	constructor(pick, go, hostName, origin) {
		this.hostName = hostName;
		this.links = new DataTable({
			label: "Links: a click shows its picture",
			origin,
			pick,
			sort: [0, false],
			mark: (it) => it === this.picked ? "picked" : null,
			columns: [
				{
					title: "link",
					value: (it) => `${it.a} ↔ ${it.b}`
				},
				{
					title: "quality",
					value: (it) => it.quality
				},
				{
					title: "likely ±",
					unit: "ns",
					value: (it) => it.likely_ns
				},
				{
					title: "sure ±",
					unit: "ns",
					value: (it) => it.sure_ns
				},
				{
					title: "→",
					unit: "count",
					description: "Messages from the first to the second",
					value: (it) => it.a_to_b
				},
				{
					title: "←",
					unit: "count",
					description: "Messages from the second to the first",
					value: (it) => it.b_to_a
				},
				{
					title: "least RTT",
					unit: "ns",
					description: "Least round trip",
					value: (it) => it.min_rtt_ns
				},
				{
					title: "rate",
					unit: "count",
					description: "How much faster the second clock runs, in ppm: surely between",
					value: (it) => width(it.rate_ppm),
					text: (it) => `${between(it.rate_ppm, formatNumber)} ppm`
				},
				{
					title: "offset in the middle",
					unit: "ns",
					description: "Surely between",
					value: (it) => width(it.offset_at_middle_ns),
					text: (it) => between(it.offset_at_middle_ns, formatDuration)
				},
				{
					title: "ambiguous",
					unit: "count",
					description: "Packets that fit several",
					value: (it) => it.ambiguous
				},
				{
					title: "suspects",
					unit: "count",
					description: "Messages that contradict the others",
					value: (it) => it.suspects
				},
				{
					title: "dropped",
					unit: "count",
					value: (it) => it.dropped
				},
				{
					title: "inversions",
					unit: "count",
					description: "Messages that arrive before they were sent, by the common clock",
					value: (it) => it.inversions
				}
			]
		});
		this.hosts = new DataTable({
			label: "Hosts and formulas of their clocks",
			origin,
			sort: [0, false],
			columns: [
				{
					title: "host",
					value: (it) => it.name
				},
				{
					title: "likely ±",
					unit: "ns",
					value: (it) => it.likely_ns,
					text: (it) => it.is_reference ? "reference" : formatDuration(it.likely_ns)
				},
				{
					title: "sure ±",
					unit: "ns",
					value: (it) => it.sure_ns,
					text: (it) => it.is_reference ? "" : formatDuration(it.sure_ns)
				},
				{
					title: "own − common",
					unit: "ns",
					description: "How far its own clock is ahead, in the middle of its trace",
					value: (it) => it.shift_ns
				},
				{
					title: "island",
					unit: "count",
					description: "Hosts of one island are on one clock",
					value: (it) => it.island,
					text: (it) => String(it.island ?? "–")
				},
				{
					title: "common clock from t",
					description: "t: its own time in ns since its boot",
					value: (it) => formulaText(it.formula),
					grow: true
				},
				{
					title: "assumed of its clock",
					value: (it) => it.formula?.assumption ?? "",
					grow: true
				}
			]
		});
		this.breaks = new DataTable({
			label: "Breaks: a click goes there",
			origin,
			pick: (it) => go(it.at),
			columns: [
				{
					title: "host",
					value: (it) => this.hostName(it.host)
				},
				{
					title: "at",
					unit: "time",
					value: (it) => it.at
				},
				{
					title: "what",
					value: (it) => it.text,
					grow: true
				}
			]
		});
		this.suspects = new DataTable({
			label: "Suspects: a click goes there",
			origin,
			pick: (it) => {
				if (it.at !== null) go(it.at);
			},
			columns: [
				{
					title: "link",
					value: (it) => it.link.join(" → ")
				},
				{
					title: "at",
					unit: "time",
					value: (it) => it.at
				},
				{
					title: "why",
					value: (it) => it.why,
					grow: true
				}
			]
		});
		this.refused = new DataTable({
			label: "Refused",
			origin,
			columns: [
				{
					title: "what",
					value: (it) => it.what
				},
				{
					title: "name",
					value: (it) => it.name
				},
				{
					title: "why",
					value: (it) => it.why,
					grow: true
				}
			]
		});
	}
	set(sync) {
		const formulas = new Map(sync.formulas.map((it) => [it.host, it]));
		this.links.set(sync.links);
		this.hosts.set(sync.hosts.map((host) => ({
			...host,
			formula: formulas.get(host.name)
		})));
		this.breaks.set(sync.breaks);
		this.suspects.set(sync.suspects);
		this.refused.set(sync.refused);
		const block = (title, table) => {
			const it = titled(table.count === 0 ? `${title}: none` : title, table);
			it.style.height = table.count === 0 ? "28px" : `${50 + 21 * Math.min(table.count, 12) + 14}px`;
			if (table.count === 0) {
				table.element.hidden = true;
				table.copy.hidden = true;
			} else {
				table.element.hidden = false;
				table.copy.hidden = false;
			}
			return it;
		};
		return [
			block("Links", this.links),
			block("Hosts", this.hosts),
			block("Breaks", this.breaks),
			block("Suspects", this.suspects),
			block("Refused", this.refused)
		];
	}
	choose(link) {
		this.picked = link;
		this.links.redraw();
	}
};
// src/panels/synchronization.ts
var POINTS = 4e3;
var SynchronizationPanel = class extends AskingPanel {
	sync = null;
	picked = null;
	tables;
	picture;
	graph = h("div", { class: "graph-place" });
	middle = h("div", { class: "sync-tables" });
	right = h("div", { class: "picture-place" });
	parts = h("div", { class: "sync-parts" }, this.graph, this.middle, this.right);
	constructor(view, navigator) {
		super("synchronization", "Synchronization", view, navigator, [
			"window",
			"hover",
			"clock",
			"selection"
		]);
		this.picture = new LinkPictureView(view, navigator);
		this.tables = new SyncTables((link) => void this.pick(link), (at) => navigator.go(null, toShown(view, null, at)), (host) => typeof host === "number" ? view.now.experiment?.hosts[host]?.name ?? String(host) : host, () => this.origin);
	}
	changed(_now, changed) {
		if (changed.has("window") || changed.has("clock") || changed.has("selection")) this.picture.drawSoon();
		this.picture.moveCursor();
	}
	themed() {
		this.drawGraph();
		this.picture.drawSoon();
	}
	forget() {
		this.picture.clear();
		this.right.replaceChildren();
	}
	async load(signal) {
		if (this.sync === null) {
			const sync = await api.sync();
			if (signal.aborted) return;
			this.sync = sync;
		}
		const { sync } = this;
		this.heading.textContent = this.summary(sync);
		this.command.set(sync.command);
		if (sync.hosts.length < 2) {
			this.body.replaceChildren(notice("empty", "There is one host", "Clocks are put on one where there are several: name the traces of more hosts, `isochrone view web/ app/ db/`."));
			return;
		}
		if (this.body.firstChild !== this.parts) {
			this.body.replaceChildren(this.parts);
			this.middle.replaceChildren(...this.tables.set(sync));
		}
		if (sync.links.length === 0) this.right.replaceChildren(notice("empty", "No two hosts are tied", "No packet was recorded by two of them: `lttng enable-event --kernel net_dev_queue,net_if_receive_skb` on all hosts. Or corrections were given with `--sync`: then links are in that file."));
		else await this.pick(this.picked ?? sync.links.find((it) => it.quality !== "absent" && it.quality !== "refused") ?? sync.links[0]);
		this.drawGraph();
	}
	summary({ hosts, links }) {
		const islands = new Set(hosts.map((it) => it.island)).size;
		return `${hosts.length} hosts, ${links.length} links, ${this.view.now.experiment?.is_synchronized === true ? "one clock" : islands > 1 ? `${islands} islands that are not tied` : "not on one clock"}`;
	}
	drawGraph() {
		if (this.sync === null) return;
		const hadFocus = this.graph.contains(document.activeElement);
		this.graph.replaceChildren(hostGraph(this.sync.hosts, this.sync.links, this.picked, (link) => void this.pick(link)));
		if (hadFocus) this.graph.querySelector(".link.picked")?.focus();
	}
	async pick(link) {
		this.picked = link;
		this.tables.choose(link);
		this.drawGraph();
		try {
			const picture = await this.during(api.link(link.a, link.b, POINTS));
			if (this.picked !== link || !this.isSeen) return;
			if (this.right.firstChild !== this.picture.element) this.right.replaceChildren(this.picture.element);
			this.picture.set(picture);
		} catch (error) {
			if (!(error instanceof ApiError)) throw error;
			this.right.replaceChildren(notice("failed", `${link.a} ↔ ${link.b} has no picture`, error.message));
		}
	}
};
// node_modules/uplot/dist/uPlot.esm.js
/**
* Copyright (c) 2025, Leon Sorokin
* All rights reserved. (MIT Licensed)
*
* uPlot.js (μPlot)
* A small, fast chart for time series, lines, areas, ohlc & bars
* https://github.com/leeoniya/uPlot (v1.6.32)
*/
var FEAT_TIME = true;
var UPLOT = "uplot";
var ORI_HZ = "u-hz";
var ORI_VT = "u-vt";
var TITLE = "u-title";
var WRAP = "u-wrap";
var UNDER = "u-under";
var OVER = "u-over";
var AXIS = "u-axis";
var OFF = "u-off";
var SELECT = "u-select";
var CURSOR_X = "u-cursor-x";
var CURSOR_Y = "u-cursor-y";
var CURSOR_PT = "u-cursor-pt";
var LEGEND = "u-legend";
var LEGEND_LIVE = "u-live";
var LEGEND_INLINE = "u-inline";
var LEGEND_SERIES = "u-series";
var LEGEND_MARKER = "u-marker";
var LEGEND_LABEL = "u-label";
var LEGEND_VALUE = "u-value";
var WIDTH = "width";
var HEIGHT = "height";
var TOP = "top";
var BOTTOM = "bottom";
var LEFT$1 = "left";
var RIGHT = "right";
var hexBlack = "#000";
var transparent = "#0000";
var mousemove = "mousemove";
var mousedown = "mousedown";
var mouseup = "mouseup";
var mouseenter = "mouseenter";
var mouseleave = "mouseleave";
var dblclick = "dblclick";
var resize = "resize";
var scroll = "scroll";
var change = "change";
var dppxchange = "dppxchange";
var LEGEND_DISP = "--";
var domEnv = typeof window != "undefined";
var doc = domEnv ? document : null;
var win = domEnv ? window : null;
var nav = domEnv ? navigator : null;
var pxRatio;
var query;
function setPxRatio() {
	let _pxRatio = devicePixelRatio;
	if (pxRatio != _pxRatio) {
		pxRatio = _pxRatio;
		query && off(change, query, setPxRatio);
		query = matchMedia(`(min-resolution: ${pxRatio - .001}dppx) and (max-resolution: ${pxRatio + .001}dppx)`);
		on(change, query, setPxRatio);
		win.dispatchEvent(new CustomEvent(dppxchange));
	}
}
function addClass(el, c) {
	if (c != null) {
		let cl = el.classList;
		!cl.contains(c) && cl.add(c);
	}
}
function remClass(el, c) {
	let cl = el.classList;
	cl.contains(c) && cl.remove(c);
}
function setStylePx(el, name, value) {
	el.style[name] = value + "px";
}
function placeTag(tag, cls, targ, refEl) {
	let el = doc.createElement(tag);
	if (cls != null) addClass(el, cls);
	if (targ != null) targ.insertBefore(el, refEl);
	return el;
}
function placeDiv(cls, targ) {
	return placeTag("div", cls, targ);
}
var xformCache = /* @__PURE__ */ new WeakMap();
function elTrans(el, xPos, yPos, xMax, yMax) {
	let xform = "translate(" + xPos + "px," + yPos + "px)";
	if (xform != xformCache.get(el)) {
		el.style.transform = xform;
		xformCache.set(el, xform);
		if (xPos < 0 || yPos < 0 || xPos > xMax || yPos > yMax) addClass(el, OFF);
		else remClass(el, OFF);
	}
}
var colorCache = /* @__PURE__ */ new WeakMap();
function elColor(el, background, borderColor) {
	let newColor = background + borderColor;
	if (newColor != colorCache.get(el)) {
		colorCache.set(el, newColor);
		el.style.background = background;
		el.style.borderColor = borderColor;
	}
}
var sizeCache = /* @__PURE__ */ new WeakMap();
function elSize(el, newWid, newHgt, centered) {
	let newSize = newWid + "" + newHgt;
	if (newSize != sizeCache.get(el)) {
		sizeCache.set(el, newSize);
		el.style.height = newHgt + "px";
		el.style.width = newWid + "px";
		el.style.marginLeft = centered ? -newWid / 2 + "px" : 0;
		el.style.marginTop = centered ? -newHgt / 2 + "px" : 0;
	}
}
var evOpts = { passive: true };
var evOpts2 = {
	...evOpts,
	capture: true
};
function on(ev, el, cb, capt) {
	el.addEventListener(ev, cb, capt ? evOpts2 : evOpts);
}
function off(ev, el, cb, capt) {
	el.removeEventListener(ev, cb, evOpts);
}
domEnv && setPxRatio();
function closestIdx(num, arr, lo, hi) {
	let mid;
	lo = lo || 0;
	hi = hi || arr.length - 1;
	let bitwise = hi <= 2147483647;
	while (hi - lo > 1) {
		mid = bitwise ? lo + hi >> 1 : floor((lo + hi) / 2);
		if (arr[mid] < num) lo = mid;
		else hi = mid;
	}
	if (num - arr[lo] <= arr[hi] - num) return lo;
	return hi;
}
function makeIndexOfs(predicate) {
	let indexOfs = (data, _i0, _i1) => {
		let i0 = -1;
		let i1 = -1;
		for (let i = _i0; i <= _i1; i++) if (predicate(data[i])) {
			i0 = i;
			break;
		}
		for (let i = _i1; i >= _i0; i--) if (predicate(data[i])) {
			i1 = i;
			break;
		}
		return [i0, i1];
	};
	return indexOfs;
}
var notNullish = (v) => v != null;
var isPositive = (v) => v != null && v > 0;
var nonNullIdxs = makeIndexOfs(notNullish);
var positiveIdxs = makeIndexOfs(isPositive);
function getMinMax(data, _i0, _i1, sorted = 0, log = false) {
	let getEdgeIdxs = log ? positiveIdxs : nonNullIdxs;
	let predicate = log ? isPositive : notNullish;
	[_i0, _i1] = getEdgeIdxs(data, _i0, _i1);
	let _min = data[_i0];
	let _max = data[_i0];
	if (_i0 > -1) {
		if (sorted == 1) {
			_min = data[_i0];
			_max = data[_i1];
		} else if (sorted == -1) {
			_min = data[_i1];
			_max = data[_i0];
		} else for (let i = _i0; i <= _i1; i++) {
			let v = data[i];
			if (predicate(v)) {
				if (v < _min) _min = v;
				else if (v > _max) _max = v;
			}
		}
	}
	return [_min ?? inf, _max ?? -inf];
}
function rangeLog(min, max, base, fullMags) {
	let minSign = sign(min);
	let maxSign = sign(max);
	if (min == max) {
		if (minSign == -1) {
			min *= base;
			max /= base;
		} else {
			min /= base;
			max *= base;
		}
	}
	let logFn = base == 10 ? log10 : log2;
	let growMinAbs = minSign == 1 ? floor : ceil;
	let growMaxAbs = maxSign == 1 ? ceil : floor;
	let minExp = growMinAbs(logFn(abs(min)));
	let maxExp = growMaxAbs(logFn(abs(max)));
	let minIncr = pow(base, minExp);
	let maxIncr = pow(base, maxExp);
	if (base == 10) {
		if (minExp < 0) minIncr = roundDec(minIncr, -minExp);
		if (maxExp < 0) maxIncr = roundDec(maxIncr, -maxExp);
	}
	if (fullMags || base == 2) {
		min = minIncr * minSign;
		max = maxIncr * maxSign;
	} else {
		min = incrRoundDn(min, minIncr);
		max = incrRoundUp(max, maxIncr);
	}
	return [min, max];
}
function rangeAsinh(min, max, base, fullMags) {
	let minMax = rangeLog(min, max, base, fullMags);
	if (min == 0) minMax[0] = 0;
	if (max == 0) minMax[1] = 0;
	return minMax;
}
var rangePad = .1;
var autoRangePart = {
	mode: 3,
	pad: rangePad
};
var _eqRangePart = {
	pad: 0,
	soft: null,
	mode: 0
};
var _eqRange = {
	min: _eqRangePart,
	max: _eqRangePart
};
function rangeNum(_min, _max, mult, extra) {
	if (isObj(mult)) return _rangeNum(_min, _max, mult);
	_eqRangePart.pad = mult;
	_eqRangePart.soft = extra ? 0 : null;
	_eqRangePart.mode = extra ? 3 : 0;
	return _rangeNum(_min, _max, _eqRange);
}
function ifNull(lh, rh) {
	return lh == null ? rh : lh;
}
function hasData(data, idx0, idx1) {
	idx0 = ifNull(idx0, 0);
	idx1 = ifNull(idx1, data.length - 1);
	while (idx0 <= idx1) {
		if (data[idx0] != null) return true;
		idx0++;
	}
	return false;
}
function _rangeNum(_min, _max, cfg) {
	let cmin = cfg.min;
	let cmax = cfg.max;
	let padMin = ifNull(cmin.pad, 0);
	let padMax = ifNull(cmax.pad, 0);
	let hardMin = ifNull(cmin.hard, -inf);
	let hardMax = ifNull(cmax.hard, inf);
	let softMin = ifNull(cmin.soft, inf);
	let softMax = ifNull(cmax.soft, -inf);
	let softMinMode = ifNull(cmin.mode, 0);
	let softMaxMode = ifNull(cmax.mode, 0);
	let delta = _max - _min;
	let deltaMag = log10(delta);
	let scalarMax = max(abs(_min), abs(_max));
	let scalarMagDelta = abs(log10(scalarMax) - deltaMag);
	if (delta < 1e-24 || scalarMagDelta > 10) {
		delta = 0;
		if (_min == 0 || _max == 0) {
			delta = 1e-24;
			if (softMinMode == 2 && softMin != inf) padMin = 0;
			if (softMaxMode == 2 && softMax != -inf) padMax = 0;
		}
	}
	let nonZeroDelta = delta || scalarMax || 1e3;
	let base = pow(10, floor(log10(nonZeroDelta)));
	let _newMin = roundDec(incrRoundDn(_min - nonZeroDelta * (delta == 0 ? _min == 0 ? .1 : 1 : padMin), base / 10), 24);
	let _softMin = _min >= softMin && (softMinMode == 1 || softMinMode == 3 && _newMin <= softMin || softMinMode == 2 && _newMin >= softMin) ? softMin : inf;
	let minLim = max(hardMin, _newMin < _softMin && _min >= _softMin ? _softMin : min(_softMin, _newMin));
	let _newMax = roundDec(incrRoundUp(_max + nonZeroDelta * (delta == 0 ? _max == 0 ? .1 : 1 : padMax), base / 10), 24);
	let _softMax = _max <= softMax && (softMaxMode == 1 || softMaxMode == 3 && _newMax >= softMax || softMaxMode == 2 && _newMax <= softMax) ? softMax : -inf;
	let maxLim = min(hardMax, _newMax > _softMax && _max <= _softMax ? _softMax : max(_softMax, _newMax));
	if (minLim == maxLim && minLim == 0) maxLim = 100;
	return [minLim, maxLim];
}
var numFormatter = new Intl.NumberFormat(domEnv ? nav.language : "en-US");
var fmtNum = (val) => numFormatter.format(val);
var M = Math;
var PI = M.PI;
var abs = M.abs;
var floor = M.floor;
var round = M.round;
var ceil = M.ceil;
var min = M.min;
var max = M.max;
var pow = M.pow;
var sign = M.sign;
var log10 = M.log10;
var log2 = M.log2;
var sinh = (v, linthresh = 1) => M.sinh(v) * linthresh;
var asinh = (v, linthresh = 1) => M.asinh(v / linthresh);
var inf = Infinity;
function numIntDigits(x) {
	return (log10((x ^ x >> 31) - (x >> 31)) | 0) + 1;
}
function clamp(num, _min, _max) {
	return min(max(num, _min), _max);
}
function isFn(v) {
	return typeof v == "function";
}
function fnOrSelf(v) {
	return isFn(v) ? v : () => v;
}
var noop = () => {};
var retArg0 = (_0) => _0;
var retArg1 = (_0, _1) => _1;
var retNull = (_) => null;
var retTrue = (_) => true;
var retEq = (a, b) => a == b;
var regex6 = /\.\d*?(?=9{6,}|0{6,})/gm;
var fixFloat = (val) => {
	if (isInt(val) || fixedDec.has(val)) return val;
	const str = `${val}`;
	const match = str.match(regex6);
	if (match == null) return val;
	let len = match[0].length - 1;
	if (str.indexOf("e-") != -1) {
		let [num, exp] = str.split("e");
		return +`${fixFloat(num)}e${exp}`;
	}
	return roundDec(val, len);
};
function incrRound(num, incr) {
	return fixFloat(roundDec(fixFloat(num / incr)) * incr);
}
function incrRoundUp(num, incr) {
	return fixFloat(ceil(fixFloat(num / incr)) * incr);
}
function incrRoundDn(num, incr) {
	return fixFloat(floor(fixFloat(num / incr)) * incr);
}
function roundDec(val, dec = 0) {
	if (isInt(val)) return val;
	let p = 10 ** dec;
	return round(val * p * (1 + Number.EPSILON)) / p;
}
var fixedDec = /* @__PURE__ */ new Map();
function guessDec(num) {
	return (("" + num).split(".")[1] || "").length;
}
function genIncrs(base, minExp, maxExp, mults) {
	let incrs = [];
	let multDec = mults.map(guessDec);
	for (let exp = minExp; exp < maxExp; exp++) {
		let expa = abs(exp);
		let mag = roundDec(pow(base, exp), expa);
		for (let i = 0; i < mults.length; i++) {
			let _incr = base == 10 ? +`${mults[i]}e${exp}` : mults[i] * mag;
			let dec = (exp >= 0 ? 0 : expa) + (exp >= multDec[i] ? 0 : multDec[i]);
			let incr = base == 10 ? _incr : roundDec(_incr, dec);
			incrs.push(incr);
			fixedDec.set(incr, dec);
		}
	}
	return incrs;
}
var EMPTY_OBJ = {};
var EMPTY_ARR = [];
var nullNullTuple = [null, null];
var isArr = Array.isArray;
var isInt = Number.isInteger;
var isUndef = (v) => v === void 0;
function isStr(v) {
	return typeof v == "string";
}
function isObj(v) {
	let is = false;
	if (v != null) {
		let c = v.constructor;
		is = c == null || c == Object;
	}
	return is;
}
function fastIsObj(v) {
	return v != null && typeof v == "object";
}
var TypedArray = Object.getPrototypeOf(Uint8Array);
var __proto__ = "__proto__";
function copy(o, _isObj = isObj) {
	let out;
	if (isArr(o)) {
		let val = o.find((v) => v != null);
		if (isArr(val) || _isObj(val)) {
			out = Array(o.length);
			for (let i = 0; i < o.length; i++) out[i] = copy(o[i], _isObj);
		} else out = o.slice();
	} else if (o instanceof TypedArray) out = o.slice();
	else if (_isObj(o)) {
		out = {};
		for (let k in o) if (k != __proto__) out[k] = copy(o[k], _isObj);
	} else out = o;
	return out;
}
function assign(targ) {
	let args = arguments;
	for (let i = 1; i < args.length; i++) {
		let src = args[i];
		for (let key in src) if (key != __proto__) {
			if (isObj(targ[key])) assign(targ[key], copy(src[key]));
			else targ[key] = copy(src[key]);
		}
	}
	return targ;
}
var NULL_REMOVE = 0;
var NULL_RETAIN = 1;
var NULL_EXPAND = 2;
function nullExpand(yVals, nullIdxs, alignedLen) {
	for (let i = 0, xi, lastNullIdx = -1; i < nullIdxs.length; i++) {
		let nullIdx = nullIdxs[i];
		if (nullIdx > lastNullIdx) {
			xi = nullIdx - 1;
			while (xi >= 0 && yVals[xi] == null) yVals[xi--] = null;
			xi = nullIdx + 1;
			while (xi < alignedLen && yVals[xi] == null) yVals[lastNullIdx = xi++] = null;
		}
	}
}
function join(tables, nullModes) {
	if (allHeadersSame(tables)) {
		let table = tables[0].slice();
		for (let i = 1; i < tables.length; i++) table.push(...tables[i].slice(1));
		if (!isAsc(table[0])) table = sortCols(table);
		return table;
	}
	let xVals = /* @__PURE__ */ new Set();
	for (let ti = 0; ti < tables.length; ti++) {
		let xs = tables[ti][0];
		let len = xs.length;
		for (let i = 0; i < len; i++) xVals.add(xs[i]);
	}
	let data = [Array.from(xVals).sort((a, b) => a - b)];
	let alignedLen = data[0].length;
	let xIdxs = /* @__PURE__ */ new Map();
	for (let i = 0; i < alignedLen; i++) xIdxs.set(data[0][i], i);
	for (let ti = 0; ti < tables.length; ti++) {
		let t = tables[ti];
		let xs = t[0];
		for (let si = 1; si < t.length; si++) {
			let ys = t[si];
			let yVals = Array(alignedLen).fill(void 0);
			let nullMode = nullModes ? nullModes[ti][si] : NULL_RETAIN;
			let nullIdxs = [];
			for (let i = 0; i < ys.length; i++) {
				let yVal = ys[i];
				let alignedIdx = xIdxs.get(xs[i]);
				if (yVal === null) {
					if (nullMode != NULL_REMOVE) {
						yVals[alignedIdx] = yVal;
						if (nullMode == NULL_EXPAND) nullIdxs.push(alignedIdx);
					}
				} else yVals[alignedIdx] = yVal;
			}
			nullExpand(yVals, nullIdxs, alignedLen);
			data.push(yVals);
		}
	}
	return data;
}
var microTask = typeof queueMicrotask == "undefined" ? (fn) => Promise.resolve().then(fn) : queueMicrotask;
function sortCols(table) {
	let head = table[0];
	let rlen = head.length;
	let idxs = Array(rlen);
	for (let i = 0; i < idxs.length; i++) idxs[i] = i;
	idxs.sort((i0, i1) => head[i0] - head[i1]);
	let table2 = [];
	for (let i = 0; i < table.length; i++) {
		let row = table[i];
		let row2 = Array(rlen);
		for (let j = 0; j < rlen; j++) row2[j] = row[idxs[j]];
		table2.push(row2);
	}
	return table2;
}
function allHeadersSame(tables) {
	let vals0 = tables[0][0];
	let len0 = vals0.length;
	for (let i = 1; i < tables.length; i++) {
		let vals1 = tables[i][0];
		if (vals1.length != len0) return false;
		if (vals1 != vals0) {
			for (let j = 0; j < len0; j++) if (vals1[j] != vals0[j]) return false;
		}
	}
	return true;
}
function isAsc(vals, samples = 100) {
	const len = vals.length;
	if (len <= 1) return true;
	let firstIdx = 0;
	let lastIdx = len - 1;
	while (firstIdx <= lastIdx && vals[firstIdx] == null) firstIdx++;
	while (lastIdx >= firstIdx && vals[lastIdx] == null) lastIdx--;
	if (lastIdx <= firstIdx) return true;
	const stride = max(1, floor((lastIdx - firstIdx + 1) / samples));
	for (let prevVal = vals[firstIdx], i = firstIdx + stride; i <= lastIdx; i += stride) {
		const v = vals[i];
		if (v != null) {
			if (v <= prevVal) return false;
			prevVal = v;
		}
	}
	return true;
}
var months = [
	"January",
	"February",
	"March",
	"April",
	"May",
	"June",
	"July",
	"August",
	"September",
	"October",
	"November",
	"December"
];
var days = [
	"Sunday",
	"Monday",
	"Tuesday",
	"Wednesday",
	"Thursday",
	"Friday",
	"Saturday"
];
function slice3(str) {
	return str.slice(0, 3);
}
var days3 = days.map(slice3);
var engNames = {
	MMMM: months,
	MMM: months.map(slice3),
	WWWW: days,
	WWW: days3
};
function zeroPad2(int) {
	return (int < 10 ? "0" : "") + int;
}
function zeroPad3(int) {
	return (int < 10 ? "00" : int < 100 ? "0" : "") + int;
}
var subs = {
	YYYY: (d) => d.getFullYear(),
	YY: (d) => (d.getFullYear() + "").slice(2),
	MMMM: (d, names) => names.MMMM[d.getMonth()],
	MMM: (d, names) => names.MMM[d.getMonth()],
	MM: (d) => zeroPad2(d.getMonth() + 1),
	M: (d) => d.getMonth() + 1,
	DD: (d) => zeroPad2(d.getDate()),
	D: (d) => d.getDate(),
	WWWW: (d, names) => names.WWWW[d.getDay()],
	WWW: (d, names) => names.WWW[d.getDay()],
	HH: (d) => zeroPad2(d.getHours()),
	H: (d) => d.getHours(),
	h: (d) => {
		let h = d.getHours();
		return h == 0 ? 12 : h > 12 ? h - 12 : h;
	},
	AA: (d) => d.getHours() >= 12 ? "PM" : "AM",
	aa: (d) => d.getHours() >= 12 ? "pm" : "am",
	a: (d) => d.getHours() >= 12 ? "p" : "a",
	mm: (d) => zeroPad2(d.getMinutes()),
	m: (d) => d.getMinutes(),
	ss: (d) => zeroPad2(d.getSeconds()),
	s: (d) => d.getSeconds(),
	fff: (d) => zeroPad3(d.getMilliseconds())
};
function fmtDate(tpl, names) {
	names = names || engNames;
	let parts = [];
	let R = /\{([a-z]+)\}|[^{]+/gi, m;
	while (m = R.exec(tpl)) parts.push(m[0][0] == "{" ? subs[m[1]] : m[0]);
	return (d) => {
		let out = "";
		for (let i = 0; i < parts.length; i++) out += typeof parts[i] == "string" ? parts[i] : parts[i](d, names);
		return out;
	};
}
var localTz = new Intl.DateTimeFormat().resolvedOptions().timeZone;
function tzDate(date, tz) {
	let date2;
	if (tz == "UTC" || tz == "Etc/UTC") date2 = /* @__PURE__ */ new Date(+date + date.getTimezoneOffset() * 6e4);
	else if (tz == localTz) date2 = date;
	else {
		date2 = new Date(date.toLocaleString("en-US", { timeZone: tz }));
		date2.setMilliseconds(date.getMilliseconds());
	}
	return date2;
}
var onlyWhole = (v) => v % 1 == 0;
var allMults = [
	1,
	2,
	2.5,
	5
];
var decIncrs = genIncrs(10, -32, 0, allMults);
var oneIncrs = genIncrs(10, 0, 32, allMults);
var wholeIncrs = oneIncrs.filter(onlyWhole);
var numIncrs = decIncrs.concat(oneIncrs);
var NL = "\n";
var yyyy = "{YYYY}";
var NLyyyy = NL + yyyy;
var md = "{M}/{D}";
var NLmd = NL + md;
var NLmdyy = NLmd + "/{YY}";
var aa = "{aa}";
var hmmaa = "{h}:{mm}" + aa;
var NLhmmaa = NL + hmmaa;
var ss = ":{ss}";
var _ = null;
function genTimeStuffs(ms) {
	let s = ms * 1e3, m = s * 60, h = m * 60, d = h * 24, mo = d * 30, y = d * 365;
	let timeIncrs = (ms == 1 ? genIncrs(10, 0, 3, allMults).filter(onlyWhole) : genIncrs(10, -3, 0, allMults)).concat([
		s,
		s * 5,
		s * 10,
		s * 15,
		s * 30,
		m,
		m * 5,
		m * 10,
		m * 15,
		m * 30,
		h,
		h * 2,
		h * 3,
		h * 4,
		h * 6,
		h * 8,
		h * 12,
		d,
		d * 2,
		d * 3,
		d * 4,
		d * 5,
		d * 6,
		d * 7,
		d * 8,
		d * 9,
		d * 10,
		d * 15,
		mo,
		mo * 2,
		mo * 3,
		mo * 4,
		mo * 6,
		y,
		y * 2,
		y * 5,
		y * 10,
		y * 25,
		y * 50,
		y * 100
	]);
	const _timeAxisStamps = [
		[
			y,
			yyyy,
			_,
			_,
			_,
			_,
			_,
			_,
			1
		],
		[
			d * 28,
			"{MMM}",
			NLyyyy,
			_,
			_,
			_,
			_,
			_,
			1
		],
		[
			d,
			md,
			NLyyyy,
			_,
			_,
			_,
			_,
			_,
			1
		],
		[
			h,
			"{h}" + aa,
			NLmdyy,
			_,
			NLmd,
			_,
			_,
			_,
			1
		],
		[
			m,
			hmmaa,
			NLmdyy,
			_,
			NLmd,
			_,
			_,
			_,
			1
		],
		[
			s,
			ss,
			NLmdyy + " " + hmmaa,
			_,
			NLmd + " " + hmmaa,
			_,
			NLhmmaa,
			_,
			1
		],
		[
			ms,
			ss + ".{fff}",
			NLmdyy + " " + hmmaa,
			_,
			NLmd + " " + hmmaa,
			_,
			NLhmmaa,
			_,
			1
		]
	];
	function timeAxisSplits(tzDate) {
		return (self, axisIdx, scaleMin, scaleMax, foundIncr, foundSpace) => {
			let splits = [];
			let isYr = foundIncr >= y;
			let isMo = foundIncr >= mo && foundIncr < y;
			let minDate = tzDate(scaleMin);
			let minDateTs = roundDec(minDate * ms, 3);
			let minMin = mkDate(minDate.getFullYear(), isYr ? 0 : minDate.getMonth(), isMo || isYr ? 1 : minDate.getDate());
			let minMinTs = roundDec(minMin * ms, 3);
			if (isMo || isYr) {
				let moIncr = isMo ? foundIncr / mo : 0;
				let yrIncr = isYr ? foundIncr / y : 0;
				let split = minDateTs == minMinTs ? minDateTs : roundDec(mkDate(minMin.getFullYear() + yrIncr, minMin.getMonth() + moIncr, 1) * ms, 3);
				let splitDate = new Date(round(split / ms));
				let baseYear = splitDate.getFullYear();
				let baseMonth = splitDate.getMonth();
				for (let i = 0; split <= scaleMax; i++) {
					let next = mkDate(baseYear + yrIncr * i, baseMonth + moIncr * i, 1);
					let offs = next - tzDate(roundDec(next * ms, 3));
					split = roundDec((+next + offs) * ms, 3);
					if (split <= scaleMax) splits.push(split);
				}
			} else {
				let incr0 = foundIncr >= d ? d : foundIncr;
				let split = minMinTs + (floor(scaleMin) - floor(minDateTs)) + incrRoundUp(minDateTs - minMinTs, incr0);
				splits.push(split);
				let date0 = tzDate(split);
				let prevHour = date0.getHours() + date0.getMinutes() / m + date0.getSeconds() / h;
				let incrHours = foundIncr / h;
				let pctSpace = foundSpace / self.axes[axisIdx]._space;
				while (1) {
					split = roundDec(split + foundIncr, ms == 1 ? 0 : 3);
					if (split > scaleMax) break;
					if (incrHours > 1) {
						let expectedHour = floor(roundDec(prevHour + incrHours, 6)) % 24;
						let dstShift = tzDate(split).getHours() - expectedHour;
						if (dstShift > 1) dstShift = -1;
						split -= dstShift * h;
						prevHour = (prevHour + incrHours) % 24;
						let prevSplit = splits[splits.length - 1];
						if (roundDec((split - prevSplit) / foundIncr, 3) * pctSpace >= .7) splits.push(split);
					} else splits.push(split);
				}
			}
			return splits;
		};
	}
	return [
		timeIncrs,
		_timeAxisStamps,
		timeAxisSplits
	];
}
var [timeIncrsMs, _timeAxisStampsMs, timeAxisSplitsMs] = genTimeStuffs(1);
var [timeIncrsS, _timeAxisStampsS, timeAxisSplitsS] = genTimeStuffs(.001);
genIncrs(2, -53, 53, [1]);
function timeAxisStamps(stampCfg, fmtDate) {
	return stampCfg.map((s) => s.map((v, i) => i == 0 || i == 8 || v == null ? v : fmtDate(i == 1 || s[8] == 0 ? v : s[1] + v)));
}
function timeAxisVals(tzDate, stamps) {
	return (self, splits, axisIdx, foundSpace, foundIncr) => {
		let s = stamps.find((s) => foundIncr >= s[0]) || stamps[stamps.length - 1];
		let prevYear;
		let prevMnth;
		let prevDate;
		let prevHour;
		let prevMins;
		let prevSecs;
		return splits.map((split) => {
			let date = tzDate(split);
			let newYear = date.getFullYear();
			let newMnth = date.getMonth();
			let newDate = date.getDate();
			let newHour = date.getHours();
			let newMins = date.getMinutes();
			let newSecs = date.getSeconds();
			let stamp = newYear != prevYear && s[2] || newMnth != prevMnth && s[3] || newDate != prevDate && s[4] || newHour != prevHour && s[5] || newMins != prevMins && s[6] || newSecs != prevSecs && s[7] || s[1];
			prevYear = newYear;
			prevMnth = newMnth;
			prevDate = newDate;
			prevHour = newHour;
			prevMins = newMins;
			prevSecs = newSecs;
			return stamp(date);
		});
	};
}
function timeAxisVal(tzDate, dateTpl) {
	let stamp = fmtDate(dateTpl);
	return (self, splits, axisIdx, foundSpace, foundIncr) => splits.map((split) => stamp(tzDate(split)));
}
function mkDate(y, m, d) {
	return new Date(y, m, d);
}
function timeSeriesStamp(stampCfg, fmtDate) {
	return fmtDate(stampCfg);
}
var _timeSeriesStamp = "{YYYY}-{MM}-{DD} {h}:{mm}{aa}";
function timeSeriesVal(tzDate, stamp) {
	return (self, val, seriesIdx, dataIdx) => dataIdx == null ? LEGEND_DISP : stamp(tzDate(val));
}
function legendStroke(self, seriesIdx) {
	let s = self.series[seriesIdx];
	return s.width ? s.stroke(self, seriesIdx) : s.points.width ? s.points.stroke(self, seriesIdx) : null;
}
function legendFill(self, seriesIdx) {
	return self.series[seriesIdx].fill(self, seriesIdx);
}
var legendOpts = {
	show: true,
	live: true,
	isolate: false,
	mount: noop,
	markers: {
		show: true,
		width: 2,
		stroke: legendStroke,
		fill: legendFill,
		dash: "solid"
	},
	idx: null,
	idxs: null,
	values: []
};
function cursorPointShow(self, si) {
	let o = self.cursor.points;
	let pt = placeDiv();
	let size = o.size(self, si);
	setStylePx(pt, WIDTH, size);
	setStylePx(pt, HEIGHT, size);
	let mar = size / -2;
	setStylePx(pt, "marginLeft", mar);
	setStylePx(pt, "marginTop", mar);
	let width = o.width(self, si, size);
	width && setStylePx(pt, "borderWidth", width);
	return pt;
}
function cursorPointFill(self, si) {
	let sp = self.series[si].points;
	return sp._fill || sp._stroke;
}
function cursorPointStroke(self, si) {
	let sp = self.series[si].points;
	return sp._stroke || sp._fill;
}
function cursorPointSize(self, si) {
	return self.series[si].points.size;
}
var moveTuple = [0, 0];
function cursorMove(self, mouseLeft1, mouseTop1) {
	moveTuple[0] = mouseLeft1;
	moveTuple[1] = mouseTop1;
	return moveTuple;
}
function filtBtn0(self, targ, handle, onlyTarg = true) {
	return (e) => {
		e.button == 0 && (!onlyTarg || e.target == targ) && handle(e);
	};
}
function filtTarg(self, targ, handle, onlyTarg = true) {
	return (e) => {
		(!onlyTarg || e.target == targ) && handle(e);
	};
}
var cursorOpts = {
	show: true,
	x: true,
	y: true,
	lock: false,
	move: cursorMove,
	points: {
		one: false,
		show: cursorPointShow,
		size: cursorPointSize,
		width: 0,
		stroke: cursorPointStroke,
		fill: cursorPointFill
	},
	bind: {
		mousedown: filtBtn0,
		mouseup: filtBtn0,
		click: filtBtn0,
		dblclick: filtBtn0,
		mousemove: filtTarg,
		mouseleave: filtTarg,
		mouseenter: filtTarg
	},
	drag: {
		setScale: true,
		x: true,
		y: false,
		dist: 0,
		uni: null,
		click: (self, e) => {
			e.stopPropagation();
			e.stopImmediatePropagation();
		},
		_x: false,
		_y: false
	},
	focus: {
		dist: (self, seriesIdx, dataIdx, valPos, curPos) => valPos - curPos,
		prox: -1,
		bias: 0
	},
	hover: {
		skip: [void 0],
		prox: null,
		bias: 0
	},
	left: -10,
	top: -10,
	idx: null,
	dataIdx: null,
	idxs: null,
	event: null
};
var axisLines = {
	show: true,
	stroke: "rgba(0,0,0,0.07)",
	width: 2
};
var grid = assign({}, axisLines, { filter: retArg1 });
var ticks = assign({}, grid, { size: 10 });
var border = assign({}, axisLines, { show: false });
var font = "12px system-ui, -apple-system, \"Segoe UI\", Roboto, \"Helvetica Neue\", Arial, \"Noto Sans\", sans-serif, \"Apple Color Emoji\", \"Segoe UI Emoji\", \"Segoe UI Symbol\", \"Noto Color Emoji\"";
var labelFont = "bold " + font;
var lineGap = 1.5;
var xAxisOpts = {
	show: true,
	scale: "x",
	stroke: hexBlack,
	space: 50,
	gap: 5,
	alignTo: 1,
	size: 50,
	labelGap: 0,
	labelSize: 30,
	labelFont,
	side: 2,
	grid,
	ticks,
	border,
	font,
	lineGap,
	rotate: 0
};
var numSeriesLabel = "Value";
var timeSeriesLabel = "Time";
var xSeriesOpts = {
	show: true,
	scale: "x",
	auto: false,
	sorted: 1,
	min: inf,
	max: -Infinity,
	idxs: []
};
function numAxisVals(self, splits, axisIdx, foundSpace, foundIncr) {
	return splits.map((v) => v == null ? "" : fmtNum(v));
}
function numAxisSplits(self, axisIdx, scaleMin, scaleMax, foundIncr, foundSpace, forceMin) {
	let splits = [];
	let numDec = fixedDec.get(foundIncr) || 0;
	scaleMin = forceMin ? scaleMin : roundDec(incrRoundUp(scaleMin, foundIncr), numDec);
	for (let val = scaleMin; val <= scaleMax; val = roundDec(val + foundIncr, numDec)) splits.push(Object.is(val, -0) ? 0 : val);
	return splits;
}
function logAxisSplits(self, axisIdx, scaleMin, scaleMax, foundIncr, foundSpace, forceMin) {
	const splits = [];
	const logBase = self.scales[self.axes[axisIdx].scale].log;
	foundIncr = pow(logBase, floor((logBase == 10 ? log10 : log2)(scaleMin)));
	if (logBase == 10) foundIncr = numIncrs[closestIdx(foundIncr, numIncrs)];
	let split = scaleMin;
	let nextMagIncr = foundIncr * logBase;
	if (logBase == 10) nextMagIncr = numIncrs[closestIdx(nextMagIncr, numIncrs)];
	do {
		splits.push(split);
		split = split + foundIncr;
		if (logBase == 10 && !fixedDec.has(split)) split = roundDec(split, fixedDec.get(foundIncr));
		if (split >= nextMagIncr) {
			foundIncr = split;
			nextMagIncr = foundIncr * logBase;
			if (logBase == 10) nextMagIncr = numIncrs[closestIdx(nextMagIncr, numIncrs)];
		}
	} while (split <= scaleMax);
	return splits;
}
function asinhAxisSplits(self, axisIdx, scaleMin, scaleMax, foundIncr, foundSpace, forceMin) {
	let linthresh = self.scales[self.axes[axisIdx].scale].asinh;
	let posSplits = scaleMax > linthresh ? logAxisSplits(self, axisIdx, max(linthresh, scaleMin), scaleMax, foundIncr) : [linthresh];
	let zero = scaleMax >= 0 && scaleMin <= 0 ? [0] : [];
	return (scaleMin < -linthresh ? logAxisSplits(self, axisIdx, max(linthresh, -scaleMax), -scaleMin, foundIncr) : [linthresh]).reverse().map((v) => -v).concat(zero, posSplits);
}
var RE_ALL = /./;
var RE_12357 = /[12357]/;
var RE_125 = /[125]/;
var RE_1 = /1/;
var _filt = (splits, distr, re, keepMod) => splits.map((v, i) => distr == 4 && v == 0 || i % keepMod == 0 && re.test(v.toExponential()[v < 0 ? 1 : 0]) ? v : null);
function log10AxisValsFilt(self, splits, axisIdx, foundSpace, foundIncr) {
	let axis = self.axes[axisIdx];
	let scaleKey = axis.scale;
	let sc = self.scales[scaleKey];
	let valToPos = self.valToPos;
	let minSpace = axis._space;
	let _10 = valToPos(10, scaleKey);
	let re = valToPos(9, scaleKey) - _10 >= minSpace ? RE_ALL : valToPos(7, scaleKey) - _10 >= minSpace ? RE_12357 : valToPos(5, scaleKey) - _10 >= minSpace ? RE_125 : RE_1;
	if (re == RE_1) {
		let magSpace = abs(valToPos(1, scaleKey) - _10);
		if (magSpace < minSpace) return _filt(splits.slice().reverse(), sc.distr, re, ceil(minSpace / magSpace)).reverse();
	}
	return _filt(splits, sc.distr, re, 1);
}
function log2AxisValsFilt(self, splits, axisIdx, foundSpace, foundIncr) {
	let axis = self.axes[axisIdx];
	let scaleKey = axis.scale;
	let minSpace = axis._space;
	let valToPos = self.valToPos;
	let magSpace = abs(valToPos(1, scaleKey) - valToPos(2, scaleKey));
	if (magSpace < minSpace) return _filt(splits.slice().reverse(), 3, RE_ALL, ceil(minSpace / magSpace)).reverse();
	return splits;
}
function numSeriesVal(self, val, seriesIdx, dataIdx) {
	return dataIdx == null ? LEGEND_DISP : val == null ? "" : fmtNum(val);
}
var yAxisOpts = {
	show: true,
	scale: "y",
	stroke: hexBlack,
	space: 30,
	gap: 5,
	alignTo: 1,
	size: 50,
	labelGap: 0,
	labelSize: 30,
	labelFont,
	side: 3,
	grid,
	ticks,
	border,
	font,
	lineGap,
	rotate: 0
};
function ptDia(width, mult) {
	return roundDec((3 + (width || 1) * 2) * mult, 3);
}
function seriesPointsShow(self, si) {
	let { scale, idxs } = self.series[0];
	let xData = self._data[0];
	let p0 = self.valToPos(xData[idxs[0]], scale, true);
	let maxPts = abs(self.valToPos(xData[idxs[1]], scale, true) - p0) / (self.series[si].points.space * pxRatio);
	return idxs[1] - idxs[0] <= maxPts;
}
var facet = {
	scale: null,
	auto: true,
	sorted: 0,
	min: inf,
	max: -Infinity
};
var gaps = (self, seriesIdx, idx0, idx1, nullGaps) => nullGaps;
var xySeriesOpts = {
	show: true,
	auto: true,
	sorted: 0,
	gaps,
	alpha: 1,
	facets: [assign({}, facet, { scale: "x" }), assign({}, facet, { scale: "y" })]
};
var ySeriesOpts = {
	scale: "y",
	auto: true,
	sorted: 0,
	show: true,
	spanGaps: false,
	gaps,
	alpha: 1,
	points: {
		show: seriesPointsShow,
		filter: null
	},
	values: null,
	min: inf,
	max: -Infinity,
	idxs: [],
	path: null,
	clip: null
};
function clampScale(self, val, scaleMin, scaleMax, scaleKey) {
	return scaleMin / 10;
}
var xScaleOpts = {
	time: FEAT_TIME,
	auto: true,
	distr: 1,
	log: 10,
	asinh: 1,
	min: null,
	max: null,
	dir: 1,
	ori: 0
};
var yScaleOpts = assign({}, xScaleOpts, {
	time: false,
	ori: 1
});
var syncs = {};
function _sync(key, opts) {
	let s = syncs[key];
	if (!s) {
		s = {
			key,
			plots: [],
			sub(plot) {
				s.plots.push(plot);
			},
			unsub(plot) {
				s.plots = s.plots.filter((c) => c != plot);
			},
			pub(type, self, x, y, w, h, i) {
				for (let j = 0; j < s.plots.length; j++) s.plots[j] != self && s.plots[j].pub(type, self, x, y, w, h, i);
			}
		};
		if (key != null) syncs[key] = s;
	}
	return s;
}
var BAND_CLIP_FILL = 1;
var BAND_CLIP_STROKE = 2;
function orient(u, seriesIdx, cb) {
	const mode = u.mode;
	const series = u.series[seriesIdx];
	const data = mode == 2 ? u._data[seriesIdx] : u._data;
	const scales = u.scales;
	const bbox = u.bbox;
	let dx = data[0], dy = mode == 2 ? data[1] : data[seriesIdx], sx = mode == 2 ? scales[series.facets[0].scale] : scales[u.series[0].scale], sy = mode == 2 ? scales[series.facets[1].scale] : scales[series.scale], l = bbox.left, t = bbox.top, w = bbox.width, h = bbox.height, H = u.valToPosH, V = u.valToPosV;
	return sx.ori == 0 ? cb(series, dx, dy, sx, sy, H, V, l, t, w, h, moveToH, lineToH, rectH, arcH, bezierCurveToH) : cb(series, dx, dy, sx, sy, V, H, t, l, h, w, moveToV, lineToV, rectV, arcV, bezierCurveToV);
}
function bandFillClipDirs(self, seriesIdx) {
	let fillDir = 0;
	let clipDirs = 0;
	let bands = ifNull(self.bands, EMPTY_ARR);
	for (let i = 0; i < bands.length; i++) {
		let b = bands[i];
		if (b.series[0] == seriesIdx) fillDir = b.dir;
		else if (b.series[1] == seriesIdx) {
			if (b.dir == 1) clipDirs |= 1;
			else clipDirs |= 2;
		}
	}
	return [fillDir, clipDirs == 1 ? -1 : clipDirs == 2 ? 1 : clipDirs == 3 ? 2 : 0];
}
function seriesFillTo(self, seriesIdx, dataMin, dataMax, bandFillDir) {
	let mode = self.mode;
	let series = self.series[seriesIdx];
	let scaleKey = mode == 2 ? series.facets[1].scale : series.scale;
	let scale = self.scales[scaleKey];
	return bandFillDir == -1 ? scale.min : bandFillDir == 1 ? scale.max : scale.distr == 3 ? scale.dir == 1 ? scale.min : scale.max : 0;
}
function clipBandLine(self, seriesIdx, idx0, idx1, strokePath, clipDir) {
	return orient(self, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
		let pxRound = series.pxRound;
		const dir = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);
		const lineTo = scaleX.ori == 0 ? lineToH : lineToV;
		let frIdx, toIdx;
		if (dir == 1) {
			frIdx = idx0;
			toIdx = idx1;
		} else {
			frIdx = idx1;
			toIdx = idx0;
		}
		let x0 = pxRound(valToPosX(dataX[frIdx], scaleX, xDim, xOff));
		let y0 = pxRound(valToPosY(dataY[frIdx], scaleY, yDim, yOff));
		let x1 = pxRound(valToPosX(dataX[toIdx], scaleX, xDim, xOff));
		let yLimit = pxRound(valToPosY(clipDir == 1 ? scaleY.max : scaleY.min, scaleY, yDim, yOff));
		let clip = new Path2D(strokePath);
		lineTo(clip, x1, yLimit);
		lineTo(clip, x0, yLimit);
		lineTo(clip, x0, y0);
		return clip;
	});
}
function clipGaps(gaps, ori, plotLft, plotTop, plotWid, plotHgt) {
	let clip = null;
	if (gaps.length > 0) {
		clip = new Path2D();
		const rect = ori == 0 ? rectH : rectV;
		let prevGapEnd = plotLft;
		for (let i = 0; i < gaps.length; i++) {
			let g = gaps[i];
			if (g[1] > g[0]) {
				let w = g[0] - prevGapEnd;
				w > 0 && rect(clip, prevGapEnd, plotTop, w, plotTop + plotHgt);
				prevGapEnd = g[1];
			}
		}
		let w = plotLft + plotWid - prevGapEnd;
		let maxStrokeWidth = 10;
		w > 0 && rect(clip, prevGapEnd, plotTop - maxStrokeWidth / 2, w, plotTop + plotHgt + maxStrokeWidth);
	}
	return clip;
}
function addGap(gaps, fromX, toX) {
	let prevGap = gaps[gaps.length - 1];
	if (prevGap && prevGap[0] == fromX) prevGap[1] = toX;
	else gaps.push([fromX, toX]);
}
function findGaps(xs, ys, idx0, idx1, dir, pixelForX, align) {
	let gaps = [];
	let len = xs.length;
	for (let i = dir == 1 ? idx0 : idx1; i >= idx0 && i <= idx1; i += dir) if (ys[i] === null) {
		let fr = i, to = i;
		if (dir == 1) while (++i <= idx1 && ys[i] === null) to = i;
		else while (--i >= idx0 && ys[i] === null) to = i;
		let frPx = pixelForX(xs[fr]);
		let toPx = to == fr ? frPx : pixelForX(xs[to]);
		let fri2 = fr - dir;
		frPx = align <= 0 && fri2 >= 0 && fri2 < len ? pixelForX(xs[fri2]) : frPx;
		let toi2 = to + dir;
		toPx = align >= 0 && toi2 >= 0 && toi2 < len ? pixelForX(xs[toi2]) : toPx;
		if (toPx >= frPx) gaps.push([frPx, toPx]);
	}
	return gaps;
}
function pxRoundGen(pxAlign) {
	return pxAlign == 0 ? retArg0 : pxAlign == 1 ? round : (v) => incrRound(v, pxAlign);
}
function rect(ori) {
	let moveTo = ori == 0 ? moveToH : moveToV;
	let arcTo = ori == 0 ? (p, x1, y1, x2, y2, r) => {
		p.arcTo(x1, y1, x2, y2, r);
	} : (p, y1, x1, y2, x2, r) => {
		p.arcTo(x1, y1, x2, y2, r);
	};
	let rect = ori == 0 ? (p, x, y, w, h) => {
		p.rect(x, y, w, h);
	} : (p, y, x, h, w) => {
		p.rect(x, y, w, h);
	};
	return (p, x, y, w, h, endRad = 0, baseRad = 0) => {
		if (endRad == 0 && baseRad == 0) rect(p, x, y, w, h);
		else {
			endRad = min(endRad, w / 2, h / 2);
			baseRad = min(baseRad, w / 2, h / 2);
			moveTo(p, x + endRad, y);
			arcTo(p, x + w, y, x + w, y + h, endRad);
			arcTo(p, x + w, y + h, x, y + h, baseRad);
			arcTo(p, x, y + h, x, y, baseRad);
			arcTo(p, x, y, x + w, y, endRad);
			p.closePath();
		}
	};
}
var moveToH = (p, x, y) => {
	p.moveTo(x, y);
};
var moveToV = (p, y, x) => {
	p.moveTo(x, y);
};
var lineToH = (p, x, y) => {
	p.lineTo(x, y);
};
var lineToV = (p, y, x) => {
	p.lineTo(x, y);
};
var rectH = rect(0);
var rectV = rect(1);
var arcH = (p, x, y, r, startAngle, endAngle) => {
	p.arc(x, y, r, startAngle, endAngle);
};
var arcV = (p, y, x, r, startAngle, endAngle) => {
	p.arc(x, y, r, startAngle, endAngle);
};
var bezierCurveToH = (p, bp1x, bp1y, bp2x, bp2y, p2x, p2y) => {
	p.bezierCurveTo(bp1x, bp1y, bp2x, bp2y, p2x, p2y);
};
var bezierCurveToV = (p, bp1y, bp1x, bp2y, bp2x, p2y, p2x) => {
	p.bezierCurveTo(bp1x, bp1y, bp2x, bp2y, p2x, p2y);
};
function points(opts) {
	return (u, seriesIdx, idx0, idx1, filtIdxs) => {
		return orient(u, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
			let { pxRound, points } = series;
			let moveTo, arc;
			if (scaleX.ori == 0) {
				moveTo = moveToH;
				arc = arcH;
			} else {
				moveTo = moveToV;
				arc = arcV;
			}
			const width = roundDec(points.width * pxRatio, 3);
			let rad = (points.size - points.width) / 2 * pxRatio;
			let dia = roundDec(rad * 2, 3);
			let fill = new Path2D();
			let clip = new Path2D();
			let { left: lft, top, width: wid, height: hgt } = u.bbox;
			rectH(clip, lft - dia, top - dia, wid + dia * 2, hgt + dia * 2);
			const drawPoint = (pi) => {
				if (dataY[pi] != null) {
					let x = pxRound(valToPosX(dataX[pi], scaleX, xDim, xOff));
					let y = pxRound(valToPosY(dataY[pi], scaleY, yDim, yOff));
					moveTo(fill, x + rad, y);
					arc(fill, x, y, rad, 0, PI * 2);
				}
			};
			if (filtIdxs) filtIdxs.forEach(drawPoint);
			else for (let pi = idx0; pi <= idx1; pi++) drawPoint(pi);
			return {
				stroke: width > 0 ? fill : null,
				fill,
				clip,
				flags: 3
			};
		});
	};
}
function _drawAcc(lineTo) {
	return (stroke, accX, minY, maxY, inY, outY) => {
		if (minY != maxY) {
			if (inY != minY && outY != minY) lineTo(stroke, accX, minY);
			if (inY != maxY && outY != maxY) lineTo(stroke, accX, maxY);
			lineTo(stroke, accX, outY);
		}
	};
}
var drawAccH = _drawAcc(lineToH);
var drawAccV = _drawAcc(lineToV);
function linear(opts) {
	const alignGaps = ifNull(opts?.alignGaps, 0);
	return (u, seriesIdx, idx0, idx1) => {
		return orient(u, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
			[idx0, idx1] = nonNullIdxs(dataY, idx0, idx1);
			let pxRound = series.pxRound;
			let pixelForX = (val) => pxRound(valToPosX(val, scaleX, xDim, xOff));
			let pixelForY = (val) => pxRound(valToPosY(val, scaleY, yDim, yOff));
			let lineTo, drawAcc;
			if (scaleX.ori == 0) {
				lineTo = lineToH;
				drawAcc = drawAccH;
			} else {
				lineTo = lineToV;
				drawAcc = drawAccV;
			}
			const dir = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);
			const _paths = {
				stroke: new Path2D(),
				fill: null,
				clip: null,
				band: null,
				gaps: null,
				flags: BAND_CLIP_FILL
			};
			const stroke = _paths.stroke;
			let hasGap = false;
			if (idx1 - idx0 >= xDim * 4) {
				let xForPixel = (pos) => u.posToVal(pos, scaleX.key, true);
				let minY = null, maxY = null, inY, outY, drawnAtX;
				let accX = pixelForX(dataX[dir == 1 ? idx0 : idx1]);
				let idx0px = pixelForX(dataX[idx0]);
				let idx1px = pixelForX(dataX[idx1]);
				let nextAccXVal = xForPixel(dir == 1 ? idx0px + 1 : idx1px - 1);
				for (let i = dir == 1 ? idx0 : idx1; i >= idx0 && i <= idx1; i += dir) {
					let xVal = dataX[i];
					let x = (dir == 1 ? xVal < nextAccXVal : xVal > nextAccXVal) ? accX : pixelForX(xVal);
					let yVal = dataY[i];
					if (x == accX) {
						if (yVal != null) {
							outY = yVal;
							if (minY == null) {
								lineTo(stroke, x, pixelForY(outY));
								inY = minY = maxY = outY;
							} else if (outY < minY) minY = outY;
							else if (outY > maxY) maxY = outY;
						} else if (yVal === null) hasGap = true;
					} else {
						if (minY != null) drawAcc(stroke, accX, pixelForY(minY), pixelForY(maxY), pixelForY(inY), pixelForY(outY));
						if (yVal != null) {
							outY = yVal;
							lineTo(stroke, x, pixelForY(outY));
							minY = maxY = inY = outY;
						} else {
							minY = maxY = null;
							if (yVal === null) hasGap = true;
						}
						accX = x;
						nextAccXVal = xForPixel(accX + dir);
					}
				}
				if (minY != null && minY != maxY && drawnAtX != accX) drawAcc(stroke, accX, pixelForY(minY), pixelForY(maxY), pixelForY(inY), pixelForY(outY));
			} else for (let i = dir == 1 ? idx0 : idx1; i >= idx0 && i <= idx1; i += dir) {
				let yVal = dataY[i];
				if (yVal === null) hasGap = true;
				else if (yVal != null) lineTo(stroke, pixelForX(dataX[i]), pixelForY(yVal));
			}
			let [bandFillDir, bandClipDir] = bandFillClipDirs(u, seriesIdx);
			if (series.fill != null || bandFillDir != 0) {
				let fill = _paths.fill = new Path2D(stroke);
				let fillToY = pixelForY(series.fillTo(u, seriesIdx, series.min, series.max, bandFillDir));
				let frX = pixelForX(dataX[idx0]);
				let toX = pixelForX(dataX[idx1]);
				if (dir == -1) [toX, frX] = [frX, toX];
				lineTo(fill, toX, fillToY);
				lineTo(fill, frX, fillToY);
			}
			if (!series.spanGaps) {
				let gaps = [];
				hasGap && gaps.push(...findGaps(dataX, dataY, idx0, idx1, dir, pixelForX, alignGaps));
				_paths.gaps = gaps = series.gaps(u, seriesIdx, idx0, idx1, gaps);
				_paths.clip = clipGaps(gaps, scaleX.ori, xOff, yOff, xDim, yDim);
			}
			if (bandClipDir != 0) _paths.band = bandClipDir == 2 ? [clipBandLine(u, seriesIdx, idx0, idx1, stroke, -1), clipBandLine(u, seriesIdx, idx0, idx1, stroke, 1)] : clipBandLine(u, seriesIdx, idx0, idx1, stroke, bandClipDir);
			return _paths;
		});
	};
}
function stepped(opts) {
	const align = ifNull(opts.align, 1);
	const ascDesc = ifNull(opts.ascDesc, false);
	const alignGaps = ifNull(opts.alignGaps, 0);
	const extend = ifNull(opts.extend, false);
	return (u, seriesIdx, idx0, idx1) => {
		return orient(u, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
			[idx0, idx1] = nonNullIdxs(dataY, idx0, idx1);
			let pxRound = series.pxRound;
			let { left, width } = u.bbox;
			let pixelForX = (val) => pxRound(valToPosX(val, scaleX, xDim, xOff));
			let pixelForY = (val) => pxRound(valToPosY(val, scaleY, yDim, yOff));
			let lineTo = scaleX.ori == 0 ? lineToH : lineToV;
			const _paths = {
				stroke: new Path2D(),
				fill: null,
				clip: null,
				band: null,
				gaps: null,
				flags: BAND_CLIP_FILL
			};
			const stroke = _paths.stroke;
			const dir = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);
			let prevYPos = pixelForY(dataY[dir == 1 ? idx0 : idx1]);
			let firstXPos = pixelForX(dataX[dir == 1 ? idx0 : idx1]);
			let prevXPos = firstXPos;
			let firstXPosExt = firstXPos;
			if (extend && align == -1) {
				firstXPosExt = left;
				lineTo(stroke, firstXPosExt, prevYPos);
			}
			lineTo(stroke, firstXPos, prevYPos);
			for (let i = dir == 1 ? idx0 : idx1; i >= idx0 && i <= idx1; i += dir) {
				let yVal1 = dataY[i];
				if (yVal1 == null) continue;
				let x1 = pixelForX(dataX[i]);
				let y1 = pixelForY(yVal1);
				if (align == 1) lineTo(stroke, x1, prevYPos);
				else lineTo(stroke, prevXPos, y1);
				lineTo(stroke, x1, y1);
				prevYPos = y1;
				prevXPos = x1;
			}
			let prevXPosExt = prevXPos;
			if (extend && align == 1) {
				prevXPosExt = left + width;
				lineTo(stroke, prevXPosExt, prevYPos);
			}
			let [bandFillDir, bandClipDir] = bandFillClipDirs(u, seriesIdx);
			if (series.fill != null || bandFillDir != 0) {
				let fill = _paths.fill = new Path2D(stroke);
				let fillToY = pixelForY(series.fillTo(u, seriesIdx, series.min, series.max, bandFillDir));
				lineTo(fill, prevXPosExt, fillToY);
				lineTo(fill, firstXPosExt, fillToY);
			}
			if (!series.spanGaps) {
				let gaps = [];
				gaps.push(...findGaps(dataX, dataY, idx0, idx1, dir, pixelForX, alignGaps));
				let halfStroke = series.width * pxRatio / 2;
				let startsOffset = ascDesc || align == 1 ? halfStroke : -halfStroke;
				let endsOffset = ascDesc || align == -1 ? -halfStroke : halfStroke;
				gaps.forEach((g) => {
					g[0] += startsOffset;
					g[1] += endsOffset;
				});
				_paths.gaps = gaps = series.gaps(u, seriesIdx, idx0, idx1, gaps);
				_paths.clip = clipGaps(gaps, scaleX.ori, xOff, yOff, xDim, yDim);
			}
			if (bandClipDir != 0) _paths.band = bandClipDir == 2 ? [clipBandLine(u, seriesIdx, idx0, idx1, stroke, -1), clipBandLine(u, seriesIdx, idx0, idx1, stroke, 1)] : clipBandLine(u, seriesIdx, idx0, idx1, stroke, bandClipDir);
			return _paths;
		});
	};
}
function findColWidth(dataX, dataY, valToPosX, scaleX, xDim, xOff, colWid = inf) {
	if (dataX.length > 1) {
		let prevIdx = null;
		for (let i = 0, minDelta = Infinity; i < dataX.length; i++) if (dataY[i] !== void 0) {
			if (prevIdx != null) {
				let delta = abs(dataX[i] - dataX[prevIdx]);
				if (delta < minDelta) {
					minDelta = delta;
					colWid = abs(valToPosX(dataX[i], scaleX, xDim, xOff) - valToPosX(dataX[prevIdx], scaleX, xDim, xOff));
				}
			}
			prevIdx = i;
		}
	}
	return colWid;
}
function bars(opts) {
	opts = opts || EMPTY_OBJ;
	const size = ifNull(opts.size, [
		.6,
		inf,
		1
	]);
	const align = opts.align || 0;
	const _extraGap = opts.gap || 0;
	let ro = opts.radius;
	ro = ro == null ? [0, 0] : typeof ro == "number" ? [ro, 0] : ro;
	const radiusFn = fnOrSelf(ro);
	const gapFactor = 1 - size[0];
	const _maxWidth = ifNull(size[1], inf);
	const _minWidth = ifNull(size[2], 1);
	const disp = ifNull(opts.disp, EMPTY_OBJ);
	const _each = ifNull(opts.each, (_) => {});
	const { fill: dispFills, stroke: dispStrokes } = disp;
	return (u, seriesIdx, idx0, idx1) => {
		return orient(u, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
			let pxRound = series.pxRound;
			let _align = align;
			let extraGap = _extraGap * pxRatio;
			let maxWidth = _maxWidth * pxRatio;
			let minWidth = _minWidth * pxRatio;
			let valRadius, baseRadius;
			if (scaleX.ori == 0) [valRadius, baseRadius] = radiusFn(u, seriesIdx);
			else [baseRadius, valRadius] = radiusFn(u, seriesIdx);
			const _dirX = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);
			let rect = scaleX.ori == 0 ? rectH : rectV;
			let each = scaleX.ori == 0 ? _each : (u, seriesIdx, i, top, lft, hgt, wid) => {
				_each(u, seriesIdx, i, lft, top, wid, hgt);
			};
			let band = ifNull(u.bands, EMPTY_ARR).find((b) => b.series[0] == seriesIdx);
			let fillDir = band != null ? band.dir : 0;
			let fillTo = series.fillTo(u, seriesIdx, series.min, series.max, fillDir);
			let fillToY = pxRound(valToPosY(fillTo, scaleY, yDim, yOff));
			let xShift, barWid, fullGap, colWid = xDim;
			let strokeWidth = pxRound(series.width * pxRatio);
			let multiPath = false;
			let fillColors = null;
			let fillPaths = null;
			let strokeColors = null;
			let strokePaths = null;
			if (dispFills != null && (strokeWidth == 0 || dispStrokes != null)) {
				multiPath = true;
				fillColors = dispFills.values(u, seriesIdx, idx0, idx1);
				fillPaths = /* @__PURE__ */ new Map();
				new Set(fillColors).forEach((color) => {
					if (color != null) fillPaths.set(color, new Path2D());
				});
				if (strokeWidth > 0) {
					strokeColors = dispStrokes.values(u, seriesIdx, idx0, idx1);
					strokePaths = /* @__PURE__ */ new Map();
					new Set(strokeColors).forEach((color) => {
						if (color != null) strokePaths.set(color, new Path2D());
					});
				}
			}
			let { x0, size } = disp;
			if (x0 != null && size != null) {
				_align = 1;
				dataX = x0.values(u, seriesIdx, idx0, idx1);
				if (x0.unit == 2) dataX = dataX.map((pct) => u.posToVal(xOff + pct * xDim, scaleX.key, true));
				let sizes = size.values(u, seriesIdx, idx0, idx1);
				if (size.unit == 2) barWid = sizes[0] * xDim;
				else barWid = valToPosX(sizes[0], scaleX, xDim, xOff) - valToPosX(0, scaleX, xDim, xOff);
				colWid = findColWidth(dataX, dataY, valToPosX, scaleX, xDim, xOff, colWid);
				fullGap = colWid - barWid + extraGap;
			} else {
				colWid = findColWidth(dataX, dataY, valToPosX, scaleX, xDim, xOff, colWid);
				fullGap = colWid * gapFactor + extraGap;
				barWid = colWid - fullGap;
			}
			if (fullGap < 1) fullGap = 0;
			if (strokeWidth >= barWid / 2) strokeWidth = 0;
			if (fullGap < 5) pxRound = retArg0;
			let insetStroke = fullGap > 0;
			let rawBarWid = colWid - fullGap - (insetStroke ? strokeWidth : 0);
			barWid = pxRound(clamp(rawBarWid, minWidth, maxWidth));
			xShift = (_align == 0 ? barWid / 2 : _align == _dirX ? 0 : barWid) - _align * _dirX * ((_align == 0 ? extraGap / 2 : 0) + (insetStroke ? strokeWidth / 2 : 0));
			const _paths = {
				stroke: null,
				fill: null,
				clip: null,
				band: null,
				gaps: null,
				flags: 0
			};
			const stroke = multiPath ? null : new Path2D();
			let dataY0 = null;
			if (band != null) dataY0 = u.data[band.series[1]];
			else {
				let { y0, y1 } = disp;
				if (y0 != null && y1 != null) {
					dataY = y1.values(u, seriesIdx, idx0, idx1);
					dataY0 = y0.values(u, seriesIdx, idx0, idx1);
				}
			}
			let radVal = valRadius * barWid;
			let radBase = baseRadius * barWid;
			for (let i = _dirX == 1 ? idx0 : idx1; i >= idx0 && i <= idx1; i += _dirX) {
				let yVal = dataY[i];
				if (yVal == null) continue;
				if (dataY0 != null) {
					let yVal0 = dataY0[i] ?? 0;
					if (yVal - yVal0 == 0) continue;
					fillToY = valToPosY(yVal0, scaleY, yDim, yOff);
				}
				let xPos = valToPosX(scaleX.distr != 2 || disp != null ? dataX[i] : i, scaleX, xDim, xOff);
				let yPos = valToPosY(ifNull(yVal, fillTo), scaleY, yDim, yOff);
				let lft = pxRound(xPos - xShift);
				let btm = pxRound(max(yPos, fillToY));
				let top = pxRound(min(yPos, fillToY));
				let barHgt = btm - top;
				if (yVal != null) {
					let rv = yVal < 0 ? radBase : radVal;
					let rb = yVal < 0 ? radVal : radBase;
					if (multiPath) {
						if (strokeWidth > 0 && strokeColors[i] != null) rect(strokePaths.get(strokeColors[i]), lft, top + floor(strokeWidth / 2), barWid, max(0, barHgt - strokeWidth), rv, rb);
						if (fillColors[i] != null) rect(fillPaths.get(fillColors[i]), lft, top + floor(strokeWidth / 2), barWid, max(0, barHgt - strokeWidth), rv, rb);
					} else rect(stroke, lft, top + floor(strokeWidth / 2), barWid, max(0, barHgt - strokeWidth), rv, rb);
					each(u, seriesIdx, i, lft - strokeWidth / 2, top, barWid + strokeWidth, barHgt);
				}
			}
			if (strokeWidth > 0) _paths.stroke = multiPath ? strokePaths : stroke;
			else if (!multiPath) {
				_paths._fill = series.width == 0 ? series._fill : series._stroke ?? series._fill;
				_paths.width = 0;
			}
			_paths.fill = multiPath ? fillPaths : stroke;
			return _paths;
		});
	};
}
function splineInterp(interp, opts) {
	const alignGaps = ifNull(opts?.alignGaps, 0);
	return (u, seriesIdx, idx0, idx1) => {
		return orient(u, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
			[idx0, idx1] = nonNullIdxs(dataY, idx0, idx1);
			let pxRound = series.pxRound;
			let pixelForX = (val) => pxRound(valToPosX(val, scaleX, xDim, xOff));
			let pixelForY = (val) => pxRound(valToPosY(val, scaleY, yDim, yOff));
			let moveTo, bezierCurveTo, lineTo;
			if (scaleX.ori == 0) {
				moveTo = moveToH;
				lineTo = lineToH;
				bezierCurveTo = bezierCurveToH;
			} else {
				moveTo = moveToV;
				lineTo = lineToV;
				bezierCurveTo = bezierCurveToV;
			}
			const dir = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);
			let firstXPos = pixelForX(dataX[dir == 1 ? idx0 : idx1]);
			let prevXPos = firstXPos;
			let xCoords = [];
			let yCoords = [];
			for (let i = dir == 1 ? idx0 : idx1; i >= idx0 && i <= idx1; i += dir) if (dataY[i] != null) {
				let xVal = dataX[i];
				let xPos = pixelForX(xVal);
				xCoords.push(prevXPos = xPos);
				yCoords.push(pixelForY(dataY[i]));
			}
			const _paths = {
				stroke: interp(xCoords, yCoords, moveTo, lineTo, bezierCurveTo, pxRound),
				fill: null,
				clip: null,
				band: null,
				gaps: null,
				flags: BAND_CLIP_FILL
			};
			const stroke = _paths.stroke;
			let [bandFillDir, bandClipDir] = bandFillClipDirs(u, seriesIdx);
			if (series.fill != null || bandFillDir != 0) {
				let fill = _paths.fill = new Path2D(stroke);
				let fillToY = pixelForY(series.fillTo(u, seriesIdx, series.min, series.max, bandFillDir));
				lineTo(fill, prevXPos, fillToY);
				lineTo(fill, firstXPos, fillToY);
			}
			if (!series.spanGaps) {
				let gaps = [];
				gaps.push(...findGaps(dataX, dataY, idx0, idx1, dir, pixelForX, alignGaps));
				_paths.gaps = gaps = series.gaps(u, seriesIdx, idx0, idx1, gaps);
				_paths.clip = clipGaps(gaps, scaleX.ori, xOff, yOff, xDim, yDim);
			}
			if (bandClipDir != 0) _paths.band = bandClipDir == 2 ? [clipBandLine(u, seriesIdx, idx0, idx1, stroke, -1), clipBandLine(u, seriesIdx, idx0, idx1, stroke, 1)] : clipBandLine(u, seriesIdx, idx0, idx1, stroke, bandClipDir);
			return _paths;
		});
	};
}
function monotoneCubic(opts) {
	return splineInterp(_monotoneCubic, opts);
}
function _monotoneCubic(xs, ys, moveTo, lineTo, bezierCurveTo, pxRound) {
	const n = xs.length;
	if (n < 2) return null;
	const path = new Path2D();
	moveTo(path, xs[0], ys[0]);
	if (n == 2) lineTo(path, xs[1], ys[1]);
	else {
		let ms = Array(n), ds = Array(n - 1), dys = Array(n - 1), dxs = Array(n - 1);
		for (let i = 0; i < n - 1; i++) {
			dys[i] = ys[i + 1] - ys[i];
			dxs[i] = xs[i + 1] - xs[i];
			ds[i] = dys[i] / dxs[i];
		}
		ms[0] = ds[0];
		for (let i = 1; i < n - 1; i++) if (ds[i] === 0 || ds[i - 1] === 0 || ds[i - 1] > 0 !== ds[i] > 0) ms[i] = 0;
		else {
			ms[i] = 3 * (dxs[i - 1] + dxs[i]) / ((2 * dxs[i] + dxs[i - 1]) / ds[i - 1] + (dxs[i] + 2 * dxs[i - 1]) / ds[i]);
			if (!isFinite(ms[i])) ms[i] = 0;
		}
		ms[n - 1] = ds[n - 2];
		for (let i = 0; i < n - 1; i++) bezierCurveTo(path, xs[i] + dxs[i] / 3, ys[i] + ms[i] * dxs[i] / 3, xs[i + 1] - dxs[i] / 3, ys[i + 1] - ms[i + 1] * dxs[i] / 3, xs[i + 1], ys[i + 1]);
	}
	return path;
}
var cursorPlots = /* @__PURE__ */ new Set();
function invalidateRects() {
	for (let u of cursorPlots) u.syncRect(true);
}
if (domEnv) {
	on(resize, win, invalidateRects);
	on(scroll, win, invalidateRects, true);
	on(dppxchange, win, () => {
		uPlot.pxRatio = pxRatio;
	});
}
var linearPath = linear();
var pointsPath = points();
function setDefaults(d, xo, yo, initY) {
	return (initY ? [d[0], d[1]].concat(d.slice(2)) : [d[0]].concat(d.slice(1))).map((o, i) => setDefault(o, i, xo, yo));
}
function setDefaults2(d, xyo) {
	return d.map((o, i) => i == 0 ? {} : assign({}, xyo, o));
}
function setDefault(o, i, xo, yo) {
	return assign({}, i == 0 ? xo : yo, o);
}
function snapNumX(self, dataMin, dataMax) {
	return dataMin == null ? nullNullTuple : [dataMin, dataMax];
}
var snapTimeX = snapNumX;
function snapNumY(self, dataMin, dataMax) {
	return dataMin == null ? nullNullTuple : rangeNum(dataMin, dataMax, rangePad, true);
}
function snapLogY(self, dataMin, dataMax, scale) {
	return dataMin == null ? nullNullTuple : rangeLog(dataMin, dataMax, self.scales[scale].log, false);
}
var snapLogX = snapLogY;
function snapAsinhY(self, dataMin, dataMax, scale) {
	return dataMin == null ? nullNullTuple : rangeAsinh(dataMin, dataMax, self.scales[scale].log, false);
}
var snapAsinhX = snapAsinhY;
function findIncr(minVal, maxVal, incrs, dim, minSpace) {
	let intDigits = max(numIntDigits(minVal), numIntDigits(maxVal));
	let delta = maxVal - minVal;
	let incrIdx = closestIdx(minSpace / dim * delta, incrs);
	do {
		let foundIncr = incrs[incrIdx];
		let foundSpace = dim * foundIncr / delta;
		if (foundSpace >= minSpace && intDigits + (foundIncr < 5 ? fixedDec.get(foundIncr) : 0) <= 17) return [foundIncr, foundSpace];
	} while (++incrIdx < incrs.length);
	return [0, 0];
}
function pxRatioFont(font) {
	let fontSize, fontSizeCss;
	font = font.replace(/(\d+)px/, (m, p1) => (fontSize = round((fontSizeCss = +p1) * pxRatio)) + "px");
	return [
		font,
		fontSize,
		fontSizeCss
	];
}
function syncFontSize(axis) {
	if (axis.show) [axis.font, axis.labelFont].forEach((f) => {
		let size = roundDec(f[2] * pxRatio, 1);
		f[0] = f[0].replace(/[0-9.]+px/, size + "px");
		f[1] = size;
	});
}
function uPlot(opts, data, then) {
	const self = { mode: ifNull(opts.mode, 1) };
	const mode = self.mode;
	function getHPos(val, scale, dim, off) {
		let pct = scale.valToPct(val);
		return off + dim * (scale.dir == -1 ? 1 - pct : pct);
	}
	function getVPos(val, scale, dim, off) {
		let pct = scale.valToPct(val);
		return off + dim * (scale.dir == -1 ? pct : 1 - pct);
	}
	function getPos(val, scale, dim, off) {
		return scale.ori == 0 ? getHPos(val, scale, dim, off) : getVPos(val, scale, dim, off);
	}
	self.valToPosH = getHPos;
	self.valToPosV = getVPos;
	let ready = false;
	self.status = 0;
	const root = self.root = placeDiv(UPLOT);
	if (opts.id != null) root.id = opts.id;
	addClass(root, opts.class);
	if (opts.title) {
		let title = placeDiv(TITLE, root);
		title.textContent = opts.title;
	}
	const can = placeTag("canvas");
	const ctx = self.ctx = can.getContext("2d");
	const wrap = placeDiv(WRAP, root);
	on("click", wrap, (e) => {
		if (e.target === over) (mouseLeft1 != mouseLeft0 || mouseTop1 != mouseTop0) && drag.click(self, e);
	}, true);
	const under = self.under = placeDiv(UNDER, wrap);
	wrap.appendChild(can);
	const over = self.over = placeDiv(OVER, wrap);
	opts = copy(opts);
	const pxAlign = +ifNull(opts.pxAlign, 1);
	const pxRound = pxRoundGen(pxAlign);
	(opts.plugins || []).forEach((p) => {
		if (p.opts) opts = p.opts(self, opts) || opts;
	});
	const ms = opts.ms || .001;
	const series = self.series = mode == 1 ? setDefaults(opts.series || [], xSeriesOpts, ySeriesOpts, false) : setDefaults2(opts.series || [null], xySeriesOpts);
	const axes = self.axes = setDefaults(opts.axes || [], xAxisOpts, yAxisOpts, true);
	const scales = self.scales = {};
	const bands = self.bands = opts.bands || [];
	bands.forEach((b) => {
		b.fill = fnOrSelf(b.fill || null);
		b.dir = ifNull(b.dir, -1);
	});
	const xScaleKey = mode == 2 ? series[1].facets[0].scale : series[0].scale;
	const drawOrderMap = {
		axes: drawAxesGrid,
		series: drawSeries
	};
	const drawOrder = (opts.drawOrder || ["axes", "series"]).map((key) => drawOrderMap[key]);
	function initValToPct(sc) {
		const getVal = sc.distr == 3 ? (val) => log10(val > 0 ? val : sc.clamp(self, val, sc.min, sc.max, sc.key)) : sc.distr == 4 ? (val) => asinh(val, sc.asinh) : sc.distr == 100 ? (val) => sc.fwd(val) : (val) => val;
		return (val) => {
			let _val = getVal(val);
			let { _min, _max } = sc;
			let delta = _max - _min;
			return (_val - _min) / delta;
		};
	}
	function initScale(scaleKey) {
		let sc = scales[scaleKey];
		if (sc == null) {
			let scaleOpts = (opts.scales || EMPTY_OBJ)[scaleKey] || EMPTY_OBJ;
			if (scaleOpts.from != null) {
				initScale(scaleOpts.from);
				let sc = assign({}, scales[scaleOpts.from], scaleOpts, { key: scaleKey });
				sc.valToPct = initValToPct(sc);
				scales[scaleKey] = sc;
			} else {
				sc = scales[scaleKey] = assign({}, scaleKey == xScaleKey ? xScaleOpts : yScaleOpts, scaleOpts);
				sc.key = scaleKey;
				let isTime = sc.time;
				let rn = sc.range;
				let rangeIsArr = isArr(rn);
				if (scaleKey != xScaleKey || mode == 2 && !isTime) {
					if (rangeIsArr && (rn[0] == null || rn[1] == null)) {
						rn = {
							min: rn[0] == null ? autoRangePart : {
								mode: 1,
								hard: rn[0],
								soft: rn[0]
							},
							max: rn[1] == null ? autoRangePart : {
								mode: 1,
								hard: rn[1],
								soft: rn[1]
							}
						};
						rangeIsArr = false;
					}
					if (!rangeIsArr && isObj(rn)) {
						let cfg = rn;
						rn = (self, dataMin, dataMax) => dataMin == null ? nullNullTuple : rangeNum(dataMin, dataMax, cfg);
					}
				}
				sc.range = fnOrSelf(rn || (isTime ? snapTimeX : scaleKey == xScaleKey ? sc.distr == 3 ? snapLogX : sc.distr == 4 ? snapAsinhX : snapNumX : sc.distr == 3 ? snapLogY : sc.distr == 4 ? snapAsinhY : snapNumY));
				sc.auto = fnOrSelf(rangeIsArr ? false : sc.auto);
				sc.clamp = fnOrSelf(sc.clamp || clampScale);
				sc._min = sc._max = null;
				sc.valToPct = initValToPct(sc);
			}
		}
	}
	initScale("x");
	initScale("y");
	if (mode == 1) series.forEach((s) => {
		initScale(s.scale);
	});
	axes.forEach((a) => {
		initScale(a.scale);
	});
	for (let k in opts.scales) initScale(k);
	const scaleX = scales[xScaleKey];
	const xScaleDistr = scaleX.distr;
	let valToPosX, valToPosY;
	if (scaleX.ori == 0) {
		addClass(root, ORI_HZ);
		valToPosX = getHPos;
		valToPosY = getVPos;
	} else {
		addClass(root, ORI_VT);
		valToPosX = getVPos;
		valToPosY = getHPos;
	}
	const pendScales = {};
	for (let k in scales) {
		let sc = scales[k];
		if (sc.min != null || sc.max != null) {
			pendScales[k] = {
				min: sc.min,
				max: sc.max
			};
			sc.min = sc.max = null;
		}
	}
	const _tzDate = opts.tzDate || ((ts) => new Date(round(ts / ms)));
	const _fmtDate = opts.fmtDate || fmtDate;
	const _timeAxisSplits = ms == 1 ? timeAxisSplitsMs(_tzDate) : timeAxisSplitsS(_tzDate);
	const _timeAxisVals = timeAxisVals(_tzDate, timeAxisStamps(ms == 1 ? _timeAxisStampsMs : _timeAxisStampsS, _fmtDate));
	const _timeSeriesVal = timeSeriesVal(_tzDate, timeSeriesStamp(_timeSeriesStamp, _fmtDate));
	const activeIdxs = [];
	const legend = self.legend = assign({}, legendOpts, opts.legend);
	const cursor = self.cursor = assign({}, cursorOpts, { drag: { y: mode == 2 } }, opts.cursor);
	const showLegend = legend.show;
	const showCursor = cursor.show;
	const markers = legend.markers;
	legend.idxs = activeIdxs;
	markers.width = fnOrSelf(markers.width);
	markers.dash = fnOrSelf(markers.dash);
	markers.stroke = fnOrSelf(markers.stroke);
	markers.fill = fnOrSelf(markers.fill);
	let legendTable;
	let legendHead;
	let legendBody;
	let legendRows = [];
	let legendCells = [];
	let legendCols;
	let multiValLegend = false;
	let NULL_LEGEND_VALUES = {};
	if (legend.live) {
		const getMultiVals = series[1] ? series[1].values : null;
		multiValLegend = getMultiVals != null;
		legendCols = multiValLegend ? getMultiVals(self, 1, 0) : { _: 0 };
		for (let k in legendCols) NULL_LEGEND_VALUES[k] = LEGEND_DISP;
	}
	if (showLegend) {
		legendTable = placeTag("table", LEGEND, root);
		legendBody = placeTag("tbody", null, legendTable);
		legend.mount(self, legendTable);
		if (multiValLegend) {
			legendHead = placeTag("thead", null, legendTable, legendBody);
			let head = placeTag("tr", null, legendHead);
			placeTag("th", null, head);
			for (var key in legendCols) placeTag("th", LEGEND_LABEL, head).textContent = key;
		} else {
			addClass(legendTable, LEGEND_INLINE);
			legend.live && addClass(legendTable, LEGEND_LIVE);
		}
	}
	const son = { show: true };
	const soff = { show: false };
	function initLegendRow(s, i) {
		if (i == 0 && (multiValLegend || !legend.live || mode == 2)) return nullNullTuple;
		let cells = [];
		let row = placeTag("tr", LEGEND_SERIES, legendBody, legendBody.childNodes[i]);
		addClass(row, s.class);
		if (!s.show) addClass(row, OFF);
		let label = placeTag("th", null, row);
		if (markers.show) {
			let indic = placeDiv(LEGEND_MARKER, label);
			if (i > 0) {
				let width = markers.width(self, i);
				if (width) indic.style.border = width + "px " + markers.dash(self, i) + " " + markers.stroke(self, i);
				indic.style.background = markers.fill(self, i);
			}
		}
		let text = placeDiv(LEGEND_LABEL, label);
		if (s.label instanceof HTMLElement) text.appendChild(s.label);
		else text.textContent = s.label;
		if (i > 0) {
			if (!markers.show) text.style.color = s.width > 0 ? markers.stroke(self, i) : markers.fill(self, i);
			onMouse("click", label, (e) => {
				if (cursor._lock) return;
				setCursorEvent(e);
				let seriesIdx = series.indexOf(s);
				if ((e.ctrlKey || e.metaKey) != legend.isolate) {
					let isolate = series.some((s, i) => i > 0 && i != seriesIdx && s.show);
					series.forEach((s, i) => {
						i > 0 && setSeries(i, isolate ? i == seriesIdx ? son : soff : son, true, syncOpts.setSeries);
					});
				} else setSeries(seriesIdx, { show: !s.show }, true, syncOpts.setSeries);
			}, false);
			if (cursorFocus) onMouse(mouseenter, label, (e) => {
				if (cursor._lock) return;
				setCursorEvent(e);
				setSeries(series.indexOf(s), FOCUS_TRUE, true, syncOpts.setSeries);
			}, false);
		}
		for (var key in legendCols) {
			let v = placeTag("td", LEGEND_VALUE, row);
			v.textContent = "--";
			cells.push(v);
		}
		return [row, cells];
	}
	const mouseListeners = /* @__PURE__ */ new Map();
	function onMouse(ev, targ, fn, onlyTarg = true) {
		const targListeners = mouseListeners.get(targ) || {};
		const listener = cursor.bind[ev](self, targ, fn, onlyTarg);
		if (listener) {
			on(ev, targ, targListeners[ev] = listener);
			mouseListeners.set(targ, targListeners);
		}
	}
	function offMouse(ev, targ, fn) {
		const targListeners = mouseListeners.get(targ) || {};
		for (let k in targListeners) if (ev == null || k == ev) {
			off(k, targ, targListeners[k]);
			delete targListeners[k];
		}
		if (ev == null) mouseListeners.delete(targ);
	}
	let fullWidCss = 0;
	let fullHgtCss = 0;
	let plotWidCss = 0;
	let plotHgtCss = 0;
	let plotLftCss = 0;
	let plotTopCss = 0;
	let _plotLftCss = plotLftCss;
	let _plotTopCss = plotTopCss;
	let _plotWidCss = plotWidCss;
	let _plotHgtCss = plotHgtCss;
	let plotLft = 0;
	let plotTop = 0;
	let plotWid = 0;
	let plotHgt = 0;
	self.bbox = {};
	let shouldSetScales = false;
	let shouldSetSize = false;
	let shouldConvergeSize = false;
	let shouldSetCursor = false;
	let shouldSetSelect = false;
	let shouldSetLegend = false;
	function _setSize(width, height, force) {
		if (force || width != self.width || height != self.height) calcSize(width, height);
		resetYSeries(false);
		shouldConvergeSize = true;
		shouldSetSize = true;
		commit();
	}
	function calcSize(width, height) {
		self.width = fullWidCss = plotWidCss = width;
		self.height = fullHgtCss = plotHgtCss = height;
		plotLftCss = plotTopCss = 0;
		calcPlotRect();
		calcAxesRects();
		let bb = self.bbox;
		plotLft = bb.left = incrRound(plotLftCss * pxRatio, .5);
		plotTop = bb.top = incrRound(plotTopCss * pxRatio, .5);
		plotWid = bb.width = incrRound(plotWidCss * pxRatio, .5);
		plotHgt = bb.height = incrRound(plotHgtCss * pxRatio, .5);
	}
	const CYCLE_LIMIT = 3;
	function convergeSize() {
		let converged = false;
		let cycleNum = 0;
		while (!converged) {
			cycleNum++;
			let axesConverged = axesCalc(cycleNum);
			let paddingConverged = paddingCalc(cycleNum);
			converged = cycleNum == CYCLE_LIMIT || axesConverged && paddingConverged;
			if (!converged) {
				calcSize(self.width, self.height);
				shouldSetSize = true;
			}
		}
	}
	function setSize({ width, height }) {
		_setSize(width, height);
	}
	self.setSize = setSize;
	function calcPlotRect() {
		let hasTopAxis = false;
		let hasBtmAxis = false;
		let hasRgtAxis = false;
		let hasLftAxis = false;
		axes.forEach((axis, i) => {
			if (axis.show && axis._show) {
				let { side, _size } = axis;
				let isVt = side % 2;
				let fullSize = _size + (axis.label != null ? axis.labelSize : 0);
				if (fullSize > 0) {
					if (isVt) {
						plotWidCss -= fullSize;
						if (side == 3) {
							plotLftCss += fullSize;
							hasLftAxis = true;
						} else hasRgtAxis = true;
					} else {
						plotHgtCss -= fullSize;
						if (side == 0) {
							plotTopCss += fullSize;
							hasTopAxis = true;
						} else hasBtmAxis = true;
					}
				}
			}
		});
		sidesWithAxes[0] = hasTopAxis;
		sidesWithAxes[1] = hasRgtAxis;
		sidesWithAxes[2] = hasBtmAxis;
		sidesWithAxes[3] = hasLftAxis;
		plotWidCss -= _padding[1] + _padding[3];
		plotLftCss += _padding[3];
		plotHgtCss -= _padding[2] + _padding[0];
		plotTopCss += _padding[0];
	}
	function calcAxesRects() {
		let off1 = plotLftCss + plotWidCss;
		let off2 = plotTopCss + plotHgtCss;
		let off3 = plotLftCss;
		let off0 = plotTopCss;
		function incrOffset(side, size) {
			switch (side) {
				case 1:
					off1 += size;
					return off1 - size;
				case 2:
					off2 += size;
					return off2 - size;
				case 3:
					off3 -= size;
					return off3 + size;
				case 0:
					off0 -= size;
					return off0 + size;
			}
		}
		axes.forEach((axis, i) => {
			if (axis.show && axis._show) {
				let side = axis.side;
				axis._pos = incrOffset(side, axis._size);
				if (axis.label != null) axis._lpos = incrOffset(side, axis.labelSize);
			}
		});
	}
	if (cursor.dataIdx == null) {
		let hov = cursor.hover;
		let skip = hov.skip = new Set(hov.skip ?? []);
		skip.add(void 0);
		let prox = hov.prox = fnOrSelf(hov.prox);
		let bias = hov.bias ??= 0;
		cursor.dataIdx = (self, seriesIdx, cursorIdx, valAtPosX) => {
			if (seriesIdx == 0) return cursorIdx;
			let idx2 = cursorIdx;
			let _prox = prox(self, seriesIdx, cursorIdx, valAtPosX) ?? inf;
			let withProx = _prox >= 0 && _prox < inf;
			let xDim = scaleX.ori == 0 ? plotWidCss : plotHgtCss;
			let cursorLft = cursor.left;
			let xValues = data[0];
			let yValues = data[seriesIdx];
			if (skip.has(yValues[cursorIdx])) {
				idx2 = null;
				let nonNullLft = null, nonNullRgt = null, j;
				if (bias == 0 || bias == -1) {
					j = cursorIdx;
					while (nonNullLft == null && j-- > 0) if (!skip.has(yValues[j])) nonNullLft = j;
				}
				if (bias == 0 || bias == 1) {
					j = cursorIdx;
					while (nonNullRgt == null && j++ < yValues.length) if (!skip.has(yValues[j])) nonNullRgt = j;
				}
				if (nonNullLft != null || nonNullRgt != null) {
					if (withProx) {
						let lftPos = nonNullLft == null ? -Infinity : valToPosX(xValues[nonNullLft], scaleX, xDim, 0);
						let rgtPos = nonNullRgt == null ? Infinity : valToPosX(xValues[nonNullRgt], scaleX, xDim, 0);
						let lftDelta = cursorLft - lftPos;
						let rgtDelta = rgtPos - cursorLft;
						if (lftDelta <= rgtDelta) {
							if (lftDelta <= _prox) idx2 = nonNullLft;
						} else if (rgtDelta <= _prox) idx2 = nonNullRgt;
					} else idx2 = nonNullRgt == null ? nonNullLft : nonNullLft == null ? nonNullRgt : cursorIdx - nonNullLft <= nonNullRgt - cursorIdx ? nonNullLft : nonNullRgt;
				}
			} else if (withProx) {
				if (abs(cursorLft - valToPosX(xValues[cursorIdx], scaleX, xDim, 0)) > _prox) idx2 = null;
			}
			return idx2;
		};
	}
	const setCursorEvent = (e) => {
		cursor.event = e;
	};
	cursor.idxs = activeIdxs;
	cursor._lock = false;
	let points = cursor.points;
	points.show = fnOrSelf(points.show);
	points.size = fnOrSelf(points.size);
	points.stroke = fnOrSelf(points.stroke);
	points.width = fnOrSelf(points.width);
	points.fill = fnOrSelf(points.fill);
	const focus = self.focus = assign({}, opts.focus || { alpha: .3 }, cursor.focus);
	const cursorFocus = focus.prox >= 0;
	const cursorOnePt = cursorFocus && points.one;
	let cursorPts = [];
	let cursorPtsLft = [];
	let cursorPtsTop = [];
	function initCursorPt(s, si) {
		let pt = points.show(self, si);
		if (pt instanceof HTMLElement) {
			addClass(pt, CURSOR_PT);
			addClass(pt, s.class);
			elTrans(pt, -10, -10, plotWidCss, plotHgtCss);
			over.insertBefore(pt, cursorPts[si]);
			return pt;
		}
	}
	function initSeries(s, i) {
		if (mode == 1 || i > 0) {
			let isTime = mode == 1 && scales[s.scale].time;
			let sv = s.value;
			s.value = isTime ? isStr(sv) ? timeSeriesVal(_tzDate, timeSeriesStamp(sv, _fmtDate)) : sv || _timeSeriesVal : sv || numSeriesVal;
			s.label = s.label || (isTime ? timeSeriesLabel : numSeriesLabel);
		}
		if (cursorOnePt || i > 0) {
			s.width = s.width == null ? 1 : s.width;
			s.paths = s.paths || linearPath || retNull;
			s.fillTo = fnOrSelf(s.fillTo || seriesFillTo);
			s.pxAlign = +ifNull(s.pxAlign, pxAlign);
			s.pxRound = pxRoundGen(s.pxAlign);
			s.stroke = fnOrSelf(s.stroke || null);
			s.fill = fnOrSelf(s.fill || null);
			s._stroke = s._fill = s._paths = s._focus = null;
			let _ptDia = ptDia(max(1, s.width), 1);
			let points = s.points = assign({}, {
				size: _ptDia,
				width: max(1, _ptDia * .2),
				stroke: s.stroke,
				space: _ptDia * 2,
				paths: pointsPath,
				_stroke: null,
				_fill: null
			}, s.points);
			points.show = fnOrSelf(points.show);
			points.filter = fnOrSelf(points.filter);
			points.fill = fnOrSelf(points.fill);
			points.stroke = fnOrSelf(points.stroke);
			points.paths = fnOrSelf(points.paths);
			points.pxAlign = s.pxAlign;
		}
		if (showLegend) {
			let rowCells = initLegendRow(s, i);
			legendRows.splice(i, 0, rowCells[0]);
			legendCells.splice(i, 0, rowCells[1]);
			legend.values.push(null);
		}
		if (showCursor) {
			activeIdxs.splice(i, 0, null);
			let pt = null;
			if (cursorOnePt) {
				if (i == 0) pt = initCursorPt(s, i);
			} else if (i > 0) pt = initCursorPt(s, i);
			cursorPts.splice(i, 0, pt);
			cursorPtsLft.splice(i, 0, 0);
			cursorPtsTop.splice(i, 0, 0);
		}
		fire("addSeries", i);
	}
	function addSeries(opts, si) {
		si = si == null ? series.length : si;
		opts = mode == 1 ? setDefault(opts, si, xSeriesOpts, ySeriesOpts) : setDefault(opts, si, {}, xySeriesOpts);
		series.splice(si, 0, opts);
		initSeries(series[si], si);
	}
	self.addSeries = addSeries;
	function delSeries(i) {
		series.splice(i, 1);
		if (showLegend) {
			legend.values.splice(i, 1);
			legendCells.splice(i, 1);
			let tr = legendRows.splice(i, 1)[0];
			offMouse(null, tr.firstChild);
			tr.remove();
		}
		if (showCursor) {
			activeIdxs.splice(i, 1);
			cursorPts.splice(i, 1)[0].remove();
			cursorPtsLft.splice(i, 1);
			cursorPtsTop.splice(i, 1);
		}
		fire("delSeries", i);
	}
	self.delSeries = delSeries;
	const sidesWithAxes = [
		false,
		false,
		false,
		false
	];
	function initAxis(axis, i) {
		axis._show = axis.show;
		if (axis.show) {
			let isVt = axis.side % 2;
			let sc = scales[axis.scale];
			if (sc == null) {
				axis.scale = isVt ? series[1].scale : xScaleKey;
				sc = scales[axis.scale];
			}
			let isTime = sc.time;
			axis.size = fnOrSelf(axis.size);
			axis.space = fnOrSelf(axis.space);
			axis.rotate = fnOrSelf(axis.rotate);
			if (isArr(axis.incrs)) axis.incrs.forEach((incr) => {
				!fixedDec.has(incr) && fixedDec.set(incr, guessDec(incr));
			});
			axis.incrs = fnOrSelf(axis.incrs || (sc.distr == 2 ? wholeIncrs : isTime ? ms == 1 ? timeIncrsMs : timeIncrsS : numIncrs));
			axis.splits = fnOrSelf(axis.splits || (isTime && sc.distr == 1 ? _timeAxisSplits : sc.distr == 3 ? logAxisSplits : sc.distr == 4 ? asinhAxisSplits : numAxisSplits));
			axis.stroke = fnOrSelf(axis.stroke);
			axis.grid.stroke = fnOrSelf(axis.grid.stroke);
			axis.ticks.stroke = fnOrSelf(axis.ticks.stroke);
			axis.border.stroke = fnOrSelf(axis.border.stroke);
			let av = axis.values;
			axis.values = isArr(av) && !isArr(av[0]) ? fnOrSelf(av) : isTime ? isArr(av) ? timeAxisVals(_tzDate, timeAxisStamps(av, _fmtDate)) : isStr(av) ? timeAxisVal(_tzDate, av) : av || _timeAxisVals : av || numAxisVals;
			axis.filter = fnOrSelf(axis.filter || (sc.distr >= 3 && sc.log == 10 ? log10AxisValsFilt : sc.distr == 3 && sc.log == 2 ? log2AxisValsFilt : retArg1));
			axis.font = pxRatioFont(axis.font);
			axis.labelFont = pxRatioFont(axis.labelFont);
			axis._size = axis.size(self, null, i, 0);
			axis._space = axis._rotate = axis._incrs = axis._found = axis._splits = axis._values = null;
			if (axis._size > 0) {
				sidesWithAxes[i] = true;
				axis._el = placeDiv(AXIS, wrap);
			}
		}
	}
	function autoPadSide(self, side, sidesWithAxes, cycleNum) {
		let [hasTopAxis, hasRgtAxis, hasBtmAxis, hasLftAxis] = sidesWithAxes;
		let ori = side % 2;
		let size = 0;
		if (ori == 0 && (hasLftAxis || hasRgtAxis)) size = side == 0 && !hasTopAxis || side == 2 && !hasBtmAxis ? round(xAxisOpts.size / 3) : 0;
		if (ori == 1 && (hasTopAxis || hasBtmAxis)) size = side == 1 && !hasRgtAxis || side == 3 && !hasLftAxis ? round(yAxisOpts.size / 2) : 0;
		return size;
	}
	const padding = self.padding = (opts.padding || [
		autoPadSide,
		autoPadSide,
		autoPadSide,
		autoPadSide
	]).map((p) => fnOrSelf(ifNull(p, autoPadSide)));
	const _padding = self._padding = padding.map((p, i) => p(self, i, sidesWithAxes, 0));
	let dataLen;
	let i0 = null;
	let i1 = null;
	const idxs = mode == 1 ? series[0].idxs : null;
	let data0 = null;
	let viaAutoScaleX = false;
	function setData(_data, _resetScales) {
		data = _data == null ? [] : _data;
		self.data = self._data = data;
		if (mode == 2) {
			dataLen = 0;
			for (let i = 1; i < series.length; i++) dataLen += data[i][0].length;
		} else {
			if (data.length == 0) self.data = self._data = data = [[]];
			data0 = data[0];
			dataLen = data0.length;
			let scaleData = data;
			if (xScaleDistr == 2) {
				scaleData = data.slice();
				let _data0 = scaleData[0] = Array(dataLen);
				for (let i = 0; i < dataLen; i++) _data0[i] = i;
			}
			self._data = data = scaleData;
		}
		resetYSeries(true);
		fire("setData");
		if (xScaleDistr == 2) shouldConvergeSize = true;
		if (_resetScales !== false) {
			let xsc = scaleX;
			if (xsc.auto(self, viaAutoScaleX)) autoScaleX();
			else _setScale(xScaleKey, xsc.min, xsc.max);
			shouldSetCursor = shouldSetCursor || cursor.left >= 0;
			shouldSetLegend = true;
			commit();
		}
	}
	self.setData = setData;
	function autoScaleX() {
		viaAutoScaleX = true;
		let _min, _max;
		if (mode == 1) {
			if (dataLen > 0) {
				i0 = idxs[0] = 0;
				i1 = idxs[1] = dataLen - 1;
				_min = data[0][i0];
				_max = data[0][i1];
				if (xScaleDistr == 2) {
					_min = i0;
					_max = i1;
				} else if (_min == _max) {
					if (xScaleDistr == 3) [_min, _max] = rangeLog(_min, _min, scaleX.log, false);
					else if (xScaleDistr == 4) [_min, _max] = rangeAsinh(_min, _min, scaleX.log, false);
					else if (scaleX.time) _max = _min + round(86400 / ms);
					else [_min, _max] = rangeNum(_min, _max, rangePad, true);
				}
			} else {
				i0 = idxs[0] = _min = null;
				i1 = idxs[1] = _max = null;
			}
		}
		_setScale(xScaleKey, _min, _max);
	}
	let ctxStroke, ctxFill, ctxWidth, ctxDash, ctxJoin, ctxCap, ctxFont, ctxAlign, ctxBaseline;
	let ctxAlpha;
	function setCtxStyle(stroke, width, dash, cap, fill, join) {
		stroke ??= transparent;
		dash ??= EMPTY_ARR;
		cap ??= "butt";
		fill ??= transparent;
		join ??= "round";
		if (stroke != ctxStroke) ctx.strokeStyle = ctxStroke = stroke;
		if (fill != ctxFill) ctx.fillStyle = ctxFill = fill;
		if (width != ctxWidth) ctx.lineWidth = ctxWidth = width;
		if (join != ctxJoin) ctx.lineJoin = ctxJoin = join;
		if (cap != ctxCap) ctx.lineCap = ctxCap = cap;
		if (dash != ctxDash) ctx.setLineDash(ctxDash = dash);
	}
	function setFontStyle(font, fill, align, baseline) {
		if (fill != ctxFill) ctx.fillStyle = ctxFill = fill;
		if (font != ctxFont) ctx.font = ctxFont = font;
		if (align != ctxAlign) ctx.textAlign = ctxAlign = align;
		if (baseline != ctxBaseline) ctx.textBaseline = ctxBaseline = baseline;
	}
	function accScale(wsc, psc, facet, data, sorted = 0) {
		if (data.length > 0 && wsc.auto(self, viaAutoScaleX) && (psc == null || psc.min == null)) {
			let _i0 = ifNull(i0, 0);
			let _i1 = ifNull(i1, data.length - 1);
			let minMax = facet.min == null ? getMinMax(data, _i0, _i1, sorted, wsc.distr == 3) : [facet.min, facet.max];
			wsc.min = min(wsc.min, facet.min = minMax[0]);
			wsc.max = max(wsc.max, facet.max = minMax[1]);
		}
	}
	const AUTOSCALE = {
		min: null,
		max: null
	};
	function setScales() {
		for (let k in scales) {
			let sc = scales[k];
			if (pendScales[k] == null && (sc.min == null || pendScales[xScaleKey] != null && sc.auto(self, viaAutoScaleX))) pendScales[k] = AUTOSCALE;
		}
		for (let k in scales) {
			let sc = scales[k];
			if (pendScales[k] == null && sc.from != null && pendScales[sc.from] != null) pendScales[k] = AUTOSCALE;
		}
		if (pendScales[xScaleKey] != null) resetYSeries(true);
		let wipScales = {};
		for (let k in pendScales) {
			let psc = pendScales[k];
			if (psc != null) {
				let wsc = wipScales[k] = copy(scales[k], fastIsObj);
				if (psc.min != null) assign(wsc, psc);
				else if (k != xScaleKey || mode == 2) {
					if (dataLen == 0 && wsc.from == null) {
						let minMax = wsc.range(self, null, null, k);
						wsc.min = minMax[0];
						wsc.max = minMax[1];
					} else {
						wsc.min = inf;
						wsc.max = -Infinity;
					}
				}
			}
		}
		if (dataLen > 0) {
			series.forEach((s, i) => {
				if (mode == 1) {
					let k = s.scale;
					let psc = pendScales[k];
					if (psc == null) return;
					let wsc = wipScales[k];
					if (i == 0) {
						let minMax = wsc.range(self, wsc.min, wsc.max, k);
						wsc.min = minMax[0];
						wsc.max = minMax[1];
						i0 = closestIdx(wsc.min, data[0]);
						i1 = closestIdx(wsc.max, data[0]);
						if (i1 - i0 > 1) {
							if (data[0][i0] < wsc.min) i0++;
							if (data[0][i1] > wsc.max) i1--;
						}
						s.min = data0[i0];
						s.max = data0[i1];
					} else if (s.show && s.auto) accScale(wsc, psc, s, data[i], s.sorted);
					s.idxs[0] = i0;
					s.idxs[1] = i1;
				} else if (i > 0) {
					if (s.show && s.auto) {
						let [xFacet, yFacet] = s.facets;
						let xScaleKey = xFacet.scale;
						let yScaleKey = yFacet.scale;
						let [xData, yData] = data[i];
						let wscx = wipScales[xScaleKey];
						let wscy = wipScales[yScaleKey];
						wscx != null && accScale(wscx, pendScales[xScaleKey], xFacet, xData, xFacet.sorted);
						wscy != null && accScale(wscy, pendScales[yScaleKey], yFacet, yData, yFacet.sorted);
						s.min = yFacet.min;
						s.max = yFacet.max;
					}
				}
			});
			for (let k in wipScales) {
				let wsc = wipScales[k];
				let psc = pendScales[k];
				if (wsc.from == null && (psc == null || psc.min == null)) {
					let minMax = wsc.range(self, wsc.min == inf ? null : wsc.min, wsc.max == -Infinity ? null : wsc.max, k);
					wsc.min = minMax[0];
					wsc.max = minMax[1];
				}
			}
		}
		for (let k in wipScales) {
			let wsc = wipScales[k];
			if (wsc.from != null) {
				let base = wipScales[wsc.from];
				if (base.min == null) wsc.min = wsc.max = null;
				else {
					let minMax = wsc.range(self, base.min, base.max, k);
					wsc.min = minMax[0];
					wsc.max = minMax[1];
				}
			}
		}
		let changed = {};
		let anyChanged = false;
		for (let k in wipScales) {
			let wsc = wipScales[k];
			let sc = scales[k];
			if (sc.min != wsc.min || sc.max != wsc.max) {
				sc.min = wsc.min;
				sc.max = wsc.max;
				let distr = sc.distr;
				sc._min = distr == 3 ? log10(sc.min) : distr == 4 ? asinh(sc.min, sc.asinh) : distr == 100 ? sc.fwd(sc.min) : sc.min;
				sc._max = distr == 3 ? log10(sc.max) : distr == 4 ? asinh(sc.max, sc.asinh) : distr == 100 ? sc.fwd(sc.max) : sc.max;
				changed[k] = anyChanged = true;
			}
		}
		if (anyChanged) {
			series.forEach((s, i) => {
				if (mode == 2) {
					if (i > 0 && changed.y) s._paths = null;
				} else if (changed[s.scale]) s._paths = null;
			});
			for (let k in changed) {
				shouldConvergeSize = true;
				fire("setScale", k);
			}
			if (showCursor && cursor.left >= 0) shouldSetCursor = shouldSetLegend = true;
		}
		for (let k in pendScales) pendScales[k] = null;
	}
	function getOuterIdxs(ydata) {
		let _i0 = clamp(i0 - 1, 0, dataLen - 1);
		let _i1 = clamp(i1 + 1, 0, dataLen - 1);
		while (ydata[_i0] == null && _i0 > 0) _i0--;
		while (ydata[_i1] == null && _i1 < dataLen - 1) _i1++;
		return [_i0, _i1];
	}
	function drawSeries() {
		if (dataLen > 0) {
			let shouldAlpha = series.some((s) => s._focus) && ctxAlpha != focus.alpha;
			if (shouldAlpha) ctx.globalAlpha = ctxAlpha = focus.alpha;
			series.forEach((s, i) => {
				if (i > 0 && s.show) {
					cacheStrokeFill(i, false);
					cacheStrokeFill(i, true);
					if (s._paths == null) {
						let _ctxAlpha = ctxAlpha;
						if (ctxAlpha != s.alpha) ctx.globalAlpha = ctxAlpha = s.alpha;
						let _idxs = mode == 2 ? [0, data[i][0].length - 1] : getOuterIdxs(data[i]);
						s._paths = s.paths(self, i, _idxs[0], _idxs[1]);
						if (ctxAlpha != _ctxAlpha) ctx.globalAlpha = ctxAlpha = _ctxAlpha;
					}
				}
			});
			series.forEach((s, i) => {
				if (i > 0 && s.show) {
					let _ctxAlpha = ctxAlpha;
					if (ctxAlpha != s.alpha) ctx.globalAlpha = ctxAlpha = s.alpha;
					s._paths != null && drawPath(i, false);
					{
						let _gaps = s._paths != null ? s._paths.gaps : null;
						let show = s.points.show(self, i, i0, i1, _gaps);
						let idxs = s.points.filter(self, i, show, _gaps);
						if (show || idxs) {
							s.points._paths = s.points.paths(self, i, i0, i1, idxs);
							drawPath(i, true);
						}
					}
					if (ctxAlpha != _ctxAlpha) ctx.globalAlpha = ctxAlpha = _ctxAlpha;
					fire("drawSeries", i);
				}
			});
			if (shouldAlpha) ctx.globalAlpha = ctxAlpha = 1;
		}
	}
	function cacheStrokeFill(si, _points) {
		let s = _points ? series[si].points : series[si];
		s._stroke = s.stroke(self, si);
		s._fill = s.fill(self, si);
	}
	function drawPath(si, _points) {
		let s = _points ? series[si].points : series[si];
		let { stroke, fill, clip: gapsClip, flags, _stroke: strokeStyle = s._stroke, _fill: fillStyle = s._fill, _width: width = s.width } = s._paths;
		width = roundDec(width * pxRatio, 3);
		let boundsClip = null;
		let offset = width % 2 / 2;
		if (_points && fillStyle == null) fillStyle = width > 0 ? "#fff" : strokeStyle;
		let _pxAlign = s.pxAlign == 1 && offset > 0;
		_pxAlign && ctx.translate(offset, offset);
		if (!_points) {
			let lft = plotLft - width / 2, top = plotTop - width / 2, wid = plotWid + width, hgt = plotHgt + width;
			boundsClip = new Path2D();
			boundsClip.rect(lft, top, wid, hgt);
		}
		if (_points) strokeFill(strokeStyle, width, s.dash, s.cap, fillStyle, stroke, fill, flags, gapsClip);
		else fillStroke(si, strokeStyle, width, s.dash, s.cap, fillStyle, stroke, fill, flags, boundsClip, gapsClip);
		_pxAlign && ctx.translate(-offset, -offset);
	}
	function fillStroke(si, strokeStyle, lineWidth, lineDash, lineCap, fillStyle, strokePath, fillPath, flags, boundsClip, gapsClip) {
		let didStrokeFill = false;
		flags != 0 && bands.forEach((b, bi) => {
			if (b.series[0] == si) {
				let lowerEdge = series[b.series[1]];
				let lowerData = data[b.series[1]];
				let bandClip = (lowerEdge._paths || EMPTY_OBJ).band;
				if (isArr(bandClip)) bandClip = b.dir == 1 ? bandClip[0] : bandClip[1];
				let gapsClip2;
				let _fillStyle = null;
				if (lowerEdge.show && bandClip && hasData(lowerData, i0, i1)) {
					_fillStyle = b.fill(self, bi) || fillStyle;
					gapsClip2 = lowerEdge._paths.clip;
				} else bandClip = null;
				strokeFill(strokeStyle, lineWidth, lineDash, lineCap, _fillStyle, strokePath, fillPath, flags, boundsClip, gapsClip, gapsClip2, bandClip);
				didStrokeFill = true;
			}
		});
		if (!didStrokeFill) strokeFill(strokeStyle, lineWidth, lineDash, lineCap, fillStyle, strokePath, fillPath, flags, boundsClip, gapsClip);
	}
	const CLIP_FILL_STROKE = 3;
	function strokeFill(strokeStyle, lineWidth, lineDash, lineCap, fillStyle, strokePath, fillPath, flags, boundsClip, gapsClip, gapsClip2, bandClip) {
		setCtxStyle(strokeStyle, lineWidth, lineDash, lineCap, fillStyle);
		if (boundsClip || gapsClip || bandClip) {
			ctx.save();
			boundsClip && ctx.clip(boundsClip);
			gapsClip && ctx.clip(gapsClip);
		}
		if (bandClip) {
			if ((flags & CLIP_FILL_STROKE) == CLIP_FILL_STROKE) {
				ctx.clip(bandClip);
				gapsClip2 && ctx.clip(gapsClip2);
				doFill(fillStyle, fillPath);
				doStroke(strokeStyle, strokePath, lineWidth);
			} else if (flags & BAND_CLIP_STROKE) {
				doFill(fillStyle, fillPath);
				ctx.clip(bandClip);
				doStroke(strokeStyle, strokePath, lineWidth);
			} else if (flags & BAND_CLIP_FILL) {
				ctx.save();
				ctx.clip(bandClip);
				gapsClip2 && ctx.clip(gapsClip2);
				doFill(fillStyle, fillPath);
				ctx.restore();
				doStroke(strokeStyle, strokePath, lineWidth);
			}
		} else {
			doFill(fillStyle, fillPath);
			doStroke(strokeStyle, strokePath, lineWidth);
		}
		if (boundsClip || gapsClip || bandClip) ctx.restore();
	}
	function doStroke(strokeStyle, strokePath, lineWidth) {
		if (lineWidth > 0) {
			if (strokePath instanceof Map) strokePath.forEach((strokePath, strokeStyle) => {
				ctx.strokeStyle = ctxStroke = strokeStyle;
				ctx.stroke(strokePath);
			});
			else strokePath != null && strokeStyle && ctx.stroke(strokePath);
		}
	}
	function doFill(fillStyle, fillPath) {
		if (fillPath instanceof Map) fillPath.forEach((fillPath, fillStyle) => {
			ctx.fillStyle = ctxFill = fillStyle;
			ctx.fill(fillPath);
		});
		else fillPath != null && fillStyle && ctx.fill(fillPath);
	}
	function getIncrSpace(axisIdx, min, max, fullDim) {
		let axis = axes[axisIdx];
		let incrSpace;
		if (fullDim <= 0) incrSpace = [0, 0];
		else {
			let minSpace = axis._space = axis.space(self, axisIdx, min, max, fullDim);
			incrSpace = findIncr(min, max, axis._incrs = axis.incrs(self, axisIdx, min, max, fullDim, minSpace), fullDim, minSpace);
		}
		return axis._found = incrSpace;
	}
	function drawOrthoLines(offs, filts, ori, side, pos0, len, width, stroke, dash, cap) {
		let offset = width % 2 / 2;
		pxAlign == 1 && ctx.translate(offset, offset);
		setCtxStyle(stroke, width, dash, cap, stroke);
		ctx.beginPath();
		let x0, y0, x1, y1, pos1 = pos0 + (side == 0 || side == 3 ? -len : len);
		if (ori == 0) {
			y0 = pos0;
			y1 = pos1;
		} else {
			x0 = pos0;
			x1 = pos1;
		}
		for (let i = 0; i < offs.length; i++) if (filts[i] != null) {
			if (ori == 0) x0 = x1 = offs[i];
			else y0 = y1 = offs[i];
			ctx.moveTo(x0, y0);
			ctx.lineTo(x1, y1);
		}
		ctx.stroke();
		pxAlign == 1 && ctx.translate(-offset, -offset);
	}
	function axesCalc(cycleNum) {
		let converged = true;
		axes.forEach((axis, i) => {
			if (!axis.show) return;
			let scale = scales[axis.scale];
			if (scale.min == null) {
				if (axis._show) {
					converged = false;
					axis._show = false;
					resetYSeries(false);
				}
				return;
			} else if (!axis._show) {
				converged = false;
				axis._show = true;
				resetYSeries(false);
			}
			let side = axis.side;
			let ori = side % 2;
			let { min, max } = scale;
			let [_incr, _space] = getIncrSpace(i, min, max, ori == 0 ? plotWidCss : plotHgtCss);
			if (_space == 0) return;
			let forceMin = scale.distr == 2;
			let _splits = axis._splits = axis.splits(self, i, min, max, _incr, _space, forceMin);
			let splits = scale.distr == 2 ? _splits.map((i) => data0[i]) : _splits;
			let incr = scale.distr == 2 ? data0[_splits[1]] - data0[_splits[0]] : _incr;
			let values = axis._values = axis.values(self, axis.filter(self, splits, i, _space, incr), i, _space, incr);
			axis._rotate = side == 2 ? axis.rotate(self, values, i, _space) : 0;
			let oldSize = axis._size;
			axis._size = ceil(axis.size(self, values, i, cycleNum));
			if (oldSize != null && axis._size != oldSize) converged = false;
		});
		return converged;
	}
	function paddingCalc(cycleNum) {
		let converged = true;
		padding.forEach((p, i) => {
			let _p = p(self, i, sidesWithAxes, cycleNum);
			if (_p != _padding[i]) converged = false;
			_padding[i] = _p;
		});
		return converged;
	}
	function drawAxesGrid() {
		for (let i = 0; i < axes.length; i++) {
			let axis = axes[i];
			if (!axis.show || !axis._show) continue;
			let side = axis.side;
			let ori = side % 2;
			let x, y;
			let fillStyle = axis.stroke(self, i);
			let shiftDir = side == 0 || side == 3 ? -1 : 1;
			let [_incr, _space] = axis._found;
			if (axis.label != null) {
				let shiftAmt = axis.labelGap * shiftDir;
				let baseLpos = round((axis._lpos + shiftAmt) * pxRatio);
				setFontStyle(axis.labelFont[0], fillStyle, "center", side == 2 ? TOP : BOTTOM);
				ctx.save();
				if (ori == 1) {
					x = y = 0;
					ctx.translate(baseLpos, round(plotTop + plotHgt / 2));
					ctx.rotate((side == 3 ? -PI : PI) / 2);
				} else {
					x = round(plotLft + plotWid / 2);
					y = baseLpos;
				}
				let _label = isFn(axis.label) ? axis.label(self, i, _incr, _space) : axis.label;
				ctx.fillText(_label, x, y);
				ctx.restore();
			}
			if (_space == 0) continue;
			let scale = scales[axis.scale];
			let plotDim = ori == 0 ? plotWid : plotHgt;
			let plotOff = ori == 0 ? plotLft : plotTop;
			let _splits = axis._splits;
			let splits = scale.distr == 2 ? _splits.map((i) => data0[i]) : _splits;
			let incr = scale.distr == 2 ? data0[_splits[1]] - data0[_splits[0]] : _incr;
			let ticks = axis.ticks;
			let border = axis.border;
			let _tickSize = ticks.show ? ticks.size : 0;
			let tickSize = round(_tickSize * pxRatio);
			let axisGap = round((axis.alignTo == 2 ? axis._size - _tickSize - axis.gap : axis.gap) * pxRatio);
			let angle = axis._rotate * -PI / 180;
			let basePos = pxRound(axis._pos * pxRatio);
			let finalPos = basePos + (tickSize + axisGap) * shiftDir;
			y = ori == 0 ? finalPos : 0;
			x = ori == 1 ? finalPos : 0;
			let font = axis.font[0];
			setFontStyle(font, fillStyle, axis.align == 1 ? LEFT$1 : axis.align == 2 ? RIGHT : angle > 0 ? LEFT$1 : angle < 0 ? RIGHT : ori == 0 ? "center" : side == 3 ? RIGHT : LEFT$1, angle || ori == 1 ? "middle" : side == 2 ? TOP : BOTTOM);
			let lineHeight = axis.font[1] * axis.lineGap;
			let canOffs = _splits.map((val) => pxRound(getPos(val, scale, plotDim, plotOff)));
			let _values = axis._values;
			for (let i = 0; i < _values.length; i++) {
				let val = _values[i];
				if (val != null) {
					if (ori == 0) x = canOffs[i];
					else y = canOffs[i];
					val = "" + val;
					let _parts = val.indexOf("\n") == -1 ? [val] : val.split(/\n/gm);
					for (let j = 0; j < _parts.length; j++) {
						let text = _parts[j];
						if (angle) {
							ctx.save();
							ctx.translate(x, y + j * lineHeight);
							ctx.rotate(angle);
							ctx.fillText(text, 0, 0);
							ctx.restore();
						} else ctx.fillText(text, x, y + j * lineHeight);
					}
				}
			}
			if (ticks.show) drawOrthoLines(canOffs, ticks.filter(self, splits, i, _space, incr), ori, side, basePos, tickSize, roundDec(ticks.width * pxRatio, 3), ticks.stroke(self, i), ticks.dash, ticks.cap);
			let grid = axis.grid;
			if (grid.show) drawOrthoLines(canOffs, grid.filter(self, splits, i, _space, incr), ori, ori == 0 ? 2 : 1, ori == 0 ? plotTop : plotLft, ori == 0 ? plotHgt : plotWid, roundDec(grid.width * pxRatio, 3), grid.stroke(self, i), grid.dash, grid.cap);
			if (border.show) drawOrthoLines([basePos], [1], ori == 0 ? 1 : 0, ori == 0 ? 1 : 2, ori == 1 ? plotTop : plotLft, ori == 1 ? plotHgt : plotWid, roundDec(border.width * pxRatio, 3), border.stroke(self, i), border.dash, border.cap);
		}
		fire("drawAxes");
	}
	function resetYSeries(minMax) {
		series.forEach((s, i) => {
			if (i > 0) {
				s._paths = null;
				if (minMax) {
					if (mode == 1) {
						s.min = null;
						s.max = null;
					} else s.facets.forEach((f) => {
						f.min = null;
						f.max = null;
					});
				}
			}
		});
	}
	let queuedCommit = false;
	let deferHooks = false;
	let hooksQueue = [];
	function flushHooks() {
		deferHooks = false;
		for (let i = 0; i < hooksQueue.length; i++) fire(...hooksQueue[i]);
		hooksQueue.length = 0;
	}
	function commit() {
		if (!queuedCommit) {
			microTask(_commit);
			queuedCommit = true;
		}
	}
	function batch(fn, _deferHooks = false) {
		queuedCommit = true;
		deferHooks = _deferHooks;
		fn(self);
		_commit();
		if (_deferHooks && hooksQueue.length > 0) queueMicrotask(flushHooks);
	}
	self.batch = batch;
	function _commit() {
		if (shouldSetScales) {
			setScales();
			shouldSetScales = false;
		}
		if (shouldConvergeSize) {
			convergeSize();
			shouldConvergeSize = false;
		}
		if (shouldSetSize) {
			setStylePx(under, LEFT$1, plotLftCss);
			setStylePx(under, TOP, plotTopCss);
			setStylePx(under, WIDTH, plotWidCss);
			setStylePx(under, HEIGHT, plotHgtCss);
			setStylePx(over, LEFT$1, plotLftCss);
			setStylePx(over, TOP, plotTopCss);
			setStylePx(over, WIDTH, plotWidCss);
			setStylePx(over, HEIGHT, plotHgtCss);
			setStylePx(wrap, WIDTH, fullWidCss);
			setStylePx(wrap, HEIGHT, fullHgtCss);
			can.width = round(fullWidCss * pxRatio);
			can.height = round(fullHgtCss * pxRatio);
			axes.forEach(({ _el, _show, _size, _pos, side }) => {
				if (_el != null) {
					if (_show) {
						let posOffset = side === 3 || side === 0 ? _size : 0;
						let isVt = side % 2 == 1;
						setStylePx(_el, isVt ? "left" : "top", _pos - posOffset);
						setStylePx(_el, isVt ? "width" : "height", _size);
						setStylePx(_el, isVt ? "top" : "left", isVt ? plotTopCss : plotLftCss);
						setStylePx(_el, isVt ? "height" : "width", isVt ? plotHgtCss : plotWidCss);
						remClass(_el, OFF);
					} else addClass(_el, OFF);
				}
			});
			ctxStroke = ctxFill = ctxWidth = ctxJoin = ctxCap = ctxFont = ctxAlign = ctxBaseline = ctxDash = null;
			ctxAlpha = 1;
			syncRect(true);
			if (plotLftCss != _plotLftCss || plotTopCss != _plotTopCss || plotWidCss != _plotWidCss || plotHgtCss != _plotHgtCss) {
				resetYSeries(false);
				let pctWid = plotWidCss / _plotWidCss;
				let pctHgt = plotHgtCss / _plotHgtCss;
				if (showCursor && !shouldSetCursor && cursor.left >= 0) {
					cursor.left *= pctWid;
					cursor.top *= pctHgt;
					vCursor && elTrans(vCursor, round(cursor.left), 0, plotWidCss, plotHgtCss);
					hCursor && elTrans(hCursor, 0, round(cursor.top), plotWidCss, plotHgtCss);
					for (let i = 0; i < cursorPts.length; i++) {
						let pt = cursorPts[i];
						if (pt != null) {
							cursorPtsLft[i] *= pctWid;
							cursorPtsTop[i] *= pctHgt;
							elTrans(pt, ceil(cursorPtsLft[i]), ceil(cursorPtsTop[i]), plotWidCss, plotHgtCss);
						}
					}
				}
				if (select.show && !shouldSetSelect && select.left >= 0 && select.width > 0) {
					select.left *= pctWid;
					select.width *= pctWid;
					select.top *= pctHgt;
					select.height *= pctHgt;
					for (let prop in _hideProps) setStylePx(selectDiv, prop, select[prop]);
				}
				_plotLftCss = plotLftCss;
				_plotTopCss = plotTopCss;
				_plotWidCss = plotWidCss;
				_plotHgtCss = plotHgtCss;
			}
			fire("setSize");
			shouldSetSize = false;
		}
		if (fullWidCss > 0 && fullHgtCss > 0) {
			ctx.clearRect(0, 0, can.width, can.height);
			fire("drawClear");
			drawOrder.forEach((fn) => fn());
			fire("draw");
		}
		if (select.show && shouldSetSelect) {
			setSelect(select);
			shouldSetSelect = false;
		}
		if (showCursor && shouldSetCursor) {
			updateCursor(null, true, false);
			shouldSetCursor = false;
		}
		if (legend.show && legend.live && shouldSetLegend) {
			setLegend();
			shouldSetLegend = false;
		}
		if (!ready) {
			ready = true;
			self.status = 1;
			fire("ready");
		}
		viaAutoScaleX = false;
		queuedCommit = false;
	}
	self.redraw = (rebuildPaths, recalcAxes) => {
		shouldConvergeSize = recalcAxes || false;
		if (rebuildPaths !== false) _setScale(xScaleKey, scaleX.min, scaleX.max);
		else commit();
	};
	function setScale(key, opts) {
		let sc = scales[key];
		if (sc.from == null) {
			if (dataLen == 0) {
				let minMax = sc.range(self, opts.min, opts.max, key);
				opts.min = minMax[0];
				opts.max = minMax[1];
			}
			if (opts.min > opts.max) {
				let _min = opts.min;
				opts.min = opts.max;
				opts.max = _min;
			}
			if (dataLen > 1 && opts.min != null && opts.max != null && opts.max - opts.min < 1e-16) return;
			if (key == xScaleKey) {
				if (sc.distr == 2 && dataLen > 0) {
					opts.min = closestIdx(opts.min, data[0]);
					opts.max = closestIdx(opts.max, data[0]);
					if (opts.min == opts.max) opts.max++;
				}
			}
			pendScales[key] = opts;
			shouldSetScales = true;
			commit();
		}
	}
	self.setScale = setScale;
	let xCursor;
	let yCursor;
	let vCursor;
	let hCursor;
	let rawMouseLeft0;
	let rawMouseTop0;
	let mouseLeft0;
	let mouseTop0;
	let rawMouseLeft1;
	let rawMouseTop1;
	let mouseLeft1;
	let mouseTop1;
	let dragging = false;
	const drag = cursor.drag;
	let dragX = drag.x;
	let dragY = drag.y;
	if (showCursor) {
		if (cursor.x) xCursor = placeDiv(CURSOR_X, over);
		if (cursor.y) yCursor = placeDiv(CURSOR_Y, over);
		if (scaleX.ori == 0) {
			vCursor = xCursor;
			hCursor = yCursor;
		} else {
			vCursor = yCursor;
			hCursor = xCursor;
		}
		mouseLeft1 = cursor.left;
		mouseTop1 = cursor.top;
	}
	const select = self.select = assign({
		show: true,
		over: true,
		left: 0,
		width: 0,
		top: 0,
		height: 0
	}, opts.select);
	const selectDiv = select.show ? placeDiv(SELECT, select.over ? over : under) : null;
	function setSelect(opts, _fire) {
		if (select.show) {
			for (let prop in opts) {
				select[prop] = opts[prop];
				if (prop in _hideProps) setStylePx(selectDiv, prop, opts[prop]);
			}
			_fire !== false && fire("setSelect");
		}
	}
	self.setSelect = setSelect;
	function toggleDOM(i) {
		if (series[i].show) showLegend && remClass(legendRows[i], OFF);
		else {
			showLegend && addClass(legendRows[i], OFF);
			if (showCursor) {
				let pt = cursorOnePt ? cursorPts[0] : cursorPts[i];
				pt != null && elTrans(pt, -10, -10, plotWidCss, plotHgtCss);
			}
		}
	}
	function _setScale(key, min, max) {
		setScale(key, {
			min,
			max
		});
	}
	function setSeries(i, opts, _fire, _pub) {
		if (opts.focus != null) setFocus(i);
		if (opts.show != null) series.forEach((s, si) => {
			if (si > 0 && (i == si || i == null)) {
				s.show = opts.show;
				toggleDOM(si);
				if (mode == 2) {
					_setScale(s.facets[0].scale, null, null);
					_setScale(s.facets[1].scale, null, null);
				} else _setScale(s.scale, null, null);
				commit();
			}
		});
		_fire !== false && fire("setSeries", i, opts);
		_pub && pubSync("setSeries", self, i, opts);
	}
	self.setSeries = setSeries;
	function setBand(bi, opts) {
		assign(bands[bi], opts);
	}
	function addBand(opts, bi) {
		opts.fill = fnOrSelf(opts.fill || null);
		opts.dir = ifNull(opts.dir, -1);
		bi = bi == null ? bands.length : bi;
		bands.splice(bi, 0, opts);
	}
	function delBand(bi) {
		if (bi == null) bands.length = 0;
		else bands.splice(bi, 1);
	}
	self.addBand = addBand;
	self.setBand = setBand;
	self.delBand = delBand;
	function setAlpha(i, value) {
		series[i].alpha = value;
		if (showCursor && cursorPts[i] != null) cursorPts[i].style.opacity = value;
		if (showLegend && legendRows[i]) legendRows[i].style.opacity = value;
	}
	let closestDist;
	let closestSeries;
	let focusedSeries;
	const FOCUS_TRUE = { focus: true };
	function setFocus(i) {
		if (i != focusedSeries) {
			let allFocused = i == null;
			let _setAlpha = focus.alpha != 1;
			series.forEach((s, i2) => {
				if (mode == 1 || i2 > 0) {
					let isFocused = allFocused || i2 == 0 || i2 == i;
					s._focus = allFocused ? null : isFocused;
					_setAlpha && setAlpha(i2, isFocused ? 1 : focus.alpha);
				}
			});
			focusedSeries = i;
			_setAlpha && commit();
		}
	}
	if (showLegend && cursorFocus) onMouse(mouseleave, legendTable, (e) => {
		if (cursor._lock) return;
		setCursorEvent(e);
		if (focusedSeries != null) setSeries(null, FOCUS_TRUE, true, syncOpts.setSeries);
	});
	function posToVal(pos, scale, can) {
		let sc = scales[scale];
		if (can) pos = pos / pxRatio - (sc.ori == 1 ? plotTopCss : plotLftCss);
		let dim = plotWidCss;
		if (sc.ori == 1) {
			dim = plotHgtCss;
			pos = dim - pos;
		}
		if (sc.dir == -1) pos = dim - pos;
		let _min = sc._min, _max = sc._max, pct = pos / dim;
		let sv = _min + (_max - _min) * pct;
		let distr = sc.distr;
		return distr == 3 ? pow(10, sv) : distr == 4 ? sinh(sv, sc.asinh) : distr == 100 ? sc.bwd(sv) : sv;
	}
	function closestIdxFromXpos(pos, can) {
		return closestIdx(posToVal(pos, xScaleKey, can), data[0], i0, i1);
	}
	self.valToIdx = (val) => closestIdx(val, data[0]);
	self.posToIdx = closestIdxFromXpos;
	self.posToVal = posToVal;
	self.valToPos = (val, scale, can) => scales[scale].ori == 0 ? getHPos(val, scales[scale], can ? plotWid : plotWidCss, can ? plotLft : 0) : getVPos(val, scales[scale], can ? plotHgt : plotHgtCss, can ? plotTop : 0);
	self.setCursor = (opts, _fire, _pub) => {
		mouseLeft1 = opts.left;
		mouseTop1 = opts.top;
		updateCursor(null, _fire, _pub);
	};
	function setSelH(off, dim) {
		setStylePx(selectDiv, LEFT$1, select.left = off);
		setStylePx(selectDiv, WIDTH, select.width = dim);
	}
	function setSelV(off, dim) {
		setStylePx(selectDiv, TOP, select.top = off);
		setStylePx(selectDiv, HEIGHT, select.height = dim);
	}
	let setSelX = scaleX.ori == 0 ? setSelH : setSelV;
	let setSelY = scaleX.ori == 1 ? setSelH : setSelV;
	function syncLegend() {
		if (showLegend && legend.live) for (let i = mode == 2 ? 1 : 0; i < series.length; i++) {
			if (i == 0 && multiValLegend) continue;
			let vals = legend.values[i];
			let j = 0;
			for (let k in vals) legendCells[i][j++].firstChild.nodeValue = vals[k];
		}
	}
	function setLegend(opts, _fire) {
		if (opts != null) {
			if (opts.idxs) opts.idxs.forEach((didx, sidx) => {
				activeIdxs[sidx] = didx;
			});
			else if (!isUndef(opts.idx)) activeIdxs.fill(opts.idx);
			legend.idx = activeIdxs[0];
		}
		if (showLegend && legend.live) {
			for (let sidx = 0; sidx < series.length; sidx++) if (sidx > 0 || mode == 1 && !multiValLegend) setLegendValues(sidx, activeIdxs[sidx]);
			syncLegend();
		}
		shouldSetLegend = false;
		_fire !== false && fire("setLegend");
	}
	self.setLegend = setLegend;
	function setLegendValues(sidx, idx) {
		let s = series[sidx];
		let src = sidx == 0 && xScaleDistr == 2 ? data0 : data[sidx];
		let val;
		if (multiValLegend) val = s.values(self, sidx, idx) ?? NULL_LEGEND_VALUES;
		else {
			val = s.value(self, idx == null ? null : src[idx], sidx, idx);
			val = val == null ? NULL_LEGEND_VALUES : { _: val };
		}
		legend.values[sidx] = val;
	}
	function updateCursor(src, _fire, _pub) {
		rawMouseLeft1 = mouseLeft1;
		rawMouseTop1 = mouseTop1;
		[mouseLeft1, mouseTop1] = cursor.move(self, mouseLeft1, mouseTop1);
		cursor.left = mouseLeft1;
		cursor.top = mouseTop1;
		if (showCursor) {
			vCursor && elTrans(vCursor, round(mouseLeft1), 0, plotWidCss, plotHgtCss);
			hCursor && elTrans(hCursor, 0, round(mouseTop1), plotWidCss, plotHgtCss);
		}
		let idx;
		let noDataInRange = i0 > i1;
		closestDist = inf;
		closestSeries = null;
		let xDim = scaleX.ori == 0 ? plotWidCss : plotHgtCss;
		let yDim = scaleX.ori == 1 ? plotWidCss : plotHgtCss;
		if (mouseLeft1 < 0 || dataLen == 0 || noDataInRange) {
			idx = cursor.idx = null;
			for (let i = 0; i < series.length; i++) {
				let pt = cursorPts[i];
				pt != null && elTrans(pt, -10, -10, plotWidCss, plotHgtCss);
			}
			if (cursorFocus) setSeries(null, FOCUS_TRUE, true, src == null && syncOpts.setSeries);
			if (legend.live) {
				activeIdxs.fill(idx);
				shouldSetLegend = true;
			}
		} else {
			let mouseXPos, valAtPosX, xPos;
			if (mode == 1) {
				mouseXPos = scaleX.ori == 0 ? mouseLeft1 : mouseTop1;
				valAtPosX = posToVal(mouseXPos, xScaleKey);
				idx = cursor.idx = closestIdx(valAtPosX, data[0], i0, i1);
				xPos = valToPosX(data[0][idx], scaleX, xDim, 0);
			}
			let _ptLft = -10;
			let _ptTop = -10;
			let _ptWid = 0;
			let _ptHgt = 0;
			let _centered = true;
			let _ptFill = "";
			let _ptStroke = "";
			for (let i = mode == 2 ? 1 : 0; i < series.length; i++) {
				let s = series[i];
				let idx1 = activeIdxs[i];
				let yVal1 = idx1 == null ? null : mode == 1 ? data[i][idx1] : data[i][1][idx1];
				let idx2 = cursor.dataIdx(self, i, idx, valAtPosX);
				let yVal2 = idx2 == null ? null : mode == 1 ? data[i][idx2] : data[i][1][idx2];
				shouldSetLegend = shouldSetLegend || yVal2 != yVal1 || idx2 != idx1;
				activeIdxs[i] = idx2;
				if (i > 0 && s.show) {
					let xPos2 = idx2 == null ? -10 : idx2 == idx ? xPos : valToPosX(mode == 1 ? data[0][idx2] : data[i][0][idx2], scaleX, xDim, 0);
					let yPos = yVal2 == null ? -10 : valToPosY(yVal2, mode == 1 ? scales[s.scale] : scales[s.facets[1].scale], yDim, 0);
					if (cursorFocus && yVal2 != null) {
						let mouseYPos = scaleX.ori == 1 ? mouseLeft1 : mouseTop1;
						let dist = abs(focus.dist(self, i, idx2, yPos, mouseYPos));
						if (dist < closestDist) {
							let bias = focus.bias;
							if (bias != 0) {
								let mouseYVal = posToVal(mouseYPos, s.scale);
								let seriesYValSign = yVal2 >= 0 ? 1 : -1;
								let mouseYValSign = mouseYVal >= 0 ? 1 : -1;
								if (mouseYValSign == seriesYValSign && (mouseYValSign == 1 ? bias == 1 ? yVal2 >= mouseYVal : yVal2 <= mouseYVal : bias == 1 ? yVal2 <= mouseYVal : yVal2 >= mouseYVal)) {
									closestDist = dist;
									closestSeries = i;
								}
							} else {
								closestDist = dist;
								closestSeries = i;
							}
						}
					}
					if (shouldSetLegend || cursorOnePt) {
						let hPos, vPos;
						if (scaleX.ori == 0) {
							hPos = xPos2;
							vPos = yPos;
						} else {
							hPos = yPos;
							vPos = xPos2;
						}
						let ptWid, ptHgt, ptLft, ptTop, ptStroke, ptFill, centered = true, getBBox = points.bbox;
						if (getBBox != null) {
							centered = false;
							let bbox = getBBox(self, i);
							ptLft = bbox.left;
							ptTop = bbox.top;
							ptWid = bbox.width;
							ptHgt = bbox.height;
						} else {
							ptLft = hPos;
							ptTop = vPos;
							ptWid = ptHgt = points.size(self, i);
						}
						ptFill = points.fill(self, i);
						ptStroke = points.stroke(self, i);
						if (cursorOnePt) {
							if (i == closestSeries && closestDist <= focus.prox) {
								_ptLft = ptLft;
								_ptTop = ptTop;
								_ptWid = ptWid;
								_ptHgt = ptHgt;
								_centered = centered;
								_ptFill = ptFill;
								_ptStroke = ptStroke;
							}
						} else {
							let pt = cursorPts[i];
							if (pt != null) {
								cursorPtsLft[i] = ptLft;
								cursorPtsTop[i] = ptTop;
								elSize(pt, ptWid, ptHgt, centered);
								elColor(pt, ptFill, ptStroke);
								elTrans(pt, ceil(ptLft), ceil(ptTop), plotWidCss, plotHgtCss);
							}
						}
					}
				}
			}
			if (cursorOnePt) {
				let p = focus.prox;
				if (shouldSetLegend || (focusedSeries == null ? closestDist <= p : closestDist > p || closestSeries != focusedSeries)) {
					let pt = cursorPts[0];
					if (pt != null) {
						cursorPtsLft[0] = _ptLft;
						cursorPtsTop[0] = _ptTop;
						elSize(pt, _ptWid, _ptHgt, _centered);
						elColor(pt, _ptFill, _ptStroke);
						elTrans(pt, ceil(_ptLft), ceil(_ptTop), plotWidCss, plotHgtCss);
					}
				}
			}
		}
		if (select.show && dragging) {
			if (src != null) {
				let [xKey, yKey] = syncOpts.scales;
				let [matchXKeys, matchYKeys] = syncOpts.match;
				let [xKeySrc, yKeySrc] = src.cursor.sync.scales;
				let sdrag = src.cursor.drag;
				dragX = sdrag._x;
				dragY = sdrag._y;
				if (dragX || dragY) {
					let { left, top, width, height } = src.select;
					let sori = src.scales[xKeySrc].ori;
					let sPosToVal = src.posToVal;
					let sOff, sDim, sc, a, b;
					let matchingX = xKey != null && matchXKeys(xKey, xKeySrc);
					let matchingY = yKey != null && matchYKeys(yKey, yKeySrc);
					if (matchingX && dragX) {
						if (sori == 0) {
							sOff = left;
							sDim = width;
						} else {
							sOff = top;
							sDim = height;
						}
						sc = scales[xKey];
						a = valToPosX(sPosToVal(sOff, xKeySrc), sc, xDim, 0);
						b = valToPosX(sPosToVal(sOff + sDim, xKeySrc), sc, xDim, 0);
						setSelX(min(a, b), abs(b - a));
					} else setSelX(0, xDim);
					if (matchingY && dragY) {
						if (sori == 1) {
							sOff = left;
							sDim = width;
						} else {
							sOff = top;
							sDim = height;
						}
						sc = scales[yKey];
						a = valToPosY(sPosToVal(sOff, yKeySrc), sc, yDim, 0);
						b = valToPosY(sPosToVal(sOff + sDim, yKeySrc), sc, yDim, 0);
						setSelY(min(a, b), abs(b - a));
					} else setSelY(0, yDim);
				} else hideSelect();
			} else {
				let rawDX = abs(rawMouseLeft1 - rawMouseLeft0);
				let rawDY = abs(rawMouseTop1 - rawMouseTop0);
				if (scaleX.ori == 1) {
					let _rawDX = rawDX;
					rawDX = rawDY;
					rawDY = _rawDX;
				}
				dragX = drag.x && rawDX >= drag.dist;
				dragY = drag.y && rawDY >= drag.dist;
				let uni = drag.uni;
				if (uni != null) {
					if (dragX && dragY) {
						dragX = rawDX >= uni;
						dragY = rawDY >= uni;
						if (!dragX && !dragY) {
							if (rawDY > rawDX) dragY = true;
							else dragX = true;
						}
					}
				} else if (drag.x && drag.y && (dragX || dragY)) dragX = dragY = true;
				let p0, p1;
				if (dragX) {
					if (scaleX.ori == 0) {
						p0 = mouseLeft0;
						p1 = mouseLeft1;
					} else {
						p0 = mouseTop0;
						p1 = mouseTop1;
					}
					setSelX(min(p0, p1), abs(p1 - p0));
					if (!dragY) setSelY(0, yDim);
				}
				if (dragY) {
					if (scaleX.ori == 1) {
						p0 = mouseLeft0;
						p1 = mouseLeft1;
					} else {
						p0 = mouseTop0;
						p1 = mouseTop1;
					}
					setSelY(min(p0, p1), abs(p1 - p0));
					if (!dragX) setSelX(0, xDim);
				}
				if (!dragX && !dragY) {
					setSelX(0, 0);
					setSelY(0, 0);
				}
			}
		}
		drag._x = dragX;
		drag._y = dragY;
		if (src == null) {
			if (_pub) {
				if (syncKey != null) {
					let [xSyncKey, ySyncKey] = syncOpts.scales;
					syncOpts.values[0] = xSyncKey != null ? posToVal(scaleX.ori == 0 ? mouseLeft1 : mouseTop1, xSyncKey) : null;
					syncOpts.values[1] = ySyncKey != null ? posToVal(scaleX.ori == 1 ? mouseLeft1 : mouseTop1, ySyncKey) : null;
				}
				pubSync(mousemove, self, mouseLeft1, mouseTop1, plotWidCss, plotHgtCss, idx);
			}
			if (cursorFocus) {
				let shouldPub = _pub && syncOpts.setSeries;
				let p = focus.prox;
				if (focusedSeries == null) {
					if (closestDist <= p) setSeries(closestSeries, FOCUS_TRUE, true, shouldPub);
				} else if (closestDist > p) setSeries(null, FOCUS_TRUE, true, shouldPub);
				else if (closestSeries != focusedSeries) setSeries(closestSeries, FOCUS_TRUE, true, shouldPub);
			}
		}
		if (shouldSetLegend) {
			legend.idx = idx;
			setLegend();
		}
		_fire !== false && fire("setCursor");
	}
	let rect = null;
	Object.defineProperty(self, "rect", { get() {
		if (rect == null) syncRect(false);
		return rect;
	} });
	function syncRect(defer = false) {
		if (defer) rect = null;
		else {
			rect = over.getBoundingClientRect();
			fire("syncRect", rect);
		}
	}
	function mouseMove(e, src, _l, _t, _w, _h, _i) {
		if (cursor._lock) return;
		if (dragging && e != null && e.movementX == 0 && e.movementY == 0) return;
		cacheMouse(e, src, _l, _t, _w, _h, _i, false, e != null);
		if (e != null) updateCursor(null, true, true);
		else updateCursor(src, true, false);
	}
	function cacheMouse(e, src, _l, _t, _w, _h, _i, initial, snap) {
		if (rect == null) syncRect(false);
		setCursorEvent(e);
		if (e != null) {
			_l = e.clientX - rect.left;
			_t = e.clientY - rect.top;
		} else {
			if (_l < 0 || _t < 0) {
				mouseLeft1 = -10;
				mouseTop1 = -10;
				return;
			}
			let [xKey, yKey] = syncOpts.scales;
			let syncOptsSrc = src.cursor.sync;
			let [xValSrc, yValSrc] = syncOptsSrc.values;
			let [xKeySrc, yKeySrc] = syncOptsSrc.scales;
			let [matchXKeys, matchYKeys] = syncOpts.match;
			let rotSrc = src.axes[0].side % 2 == 1;
			let xDim = scaleX.ori == 0 ? plotWidCss : plotHgtCss, yDim = scaleX.ori == 1 ? plotWidCss : plotHgtCss, _xDim = rotSrc ? _h : _w, _yDim = rotSrc ? _w : _h, _xPos = rotSrc ? _t : _l, _yPos = rotSrc ? _l : _t;
			if (xKeySrc != null) _l = matchXKeys(xKey, xKeySrc) ? getPos(xValSrc, scales[xKey], xDim, 0) : -10;
			else _l = xDim * (_xPos / _xDim);
			if (yKeySrc != null) _t = matchYKeys(yKey, yKeySrc) ? getPos(yValSrc, scales[yKey], yDim, 0) : -10;
			else _t = yDim * (_yPos / _yDim);
			if (scaleX.ori == 1) {
				let __l = _l;
				_l = _t;
				_t = __l;
			}
		}
		if (snap && (src == null || src.cursor.event.type == mousemove)) {
			if (_l <= 1 || _l >= plotWidCss - 1) _l = incrRound(_l, plotWidCss);
			if (_t <= 1 || _t >= plotHgtCss - 1) _t = incrRound(_t, plotHgtCss);
		}
		if (initial) {
			rawMouseLeft0 = _l;
			rawMouseTop0 = _t;
			[mouseLeft0, mouseTop0] = cursor.move(self, _l, _t);
		} else {
			mouseLeft1 = _l;
			mouseTop1 = _t;
		}
	}
	const _hideProps = {
		width: 0,
		height: 0,
		left: 0,
		top: 0
	};
	function hideSelect() {
		setSelect(_hideProps, false);
	}
	let downSelectLeft;
	let downSelectTop;
	let downSelectWidth;
	let downSelectHeight;
	function mouseDown(e, src, _l, _t, _w, _h, _i) {
		dragging = true;
		dragX = dragY = drag._x = drag._y = false;
		cacheMouse(e, src, _l, _t, _w, _h, _i, true, false);
		if (e != null) {
			onMouse(mouseup, doc, mouseUp, false);
			pubSync(mousedown, self, mouseLeft0, mouseTop0, plotWidCss, plotHgtCss, null);
		}
		let { left, top, width, height } = select;
		downSelectLeft = left;
		downSelectTop = top;
		downSelectWidth = width;
		downSelectHeight = height;
	}
	function mouseUp(e, src, _l, _t, _w, _h, _i) {
		dragging = drag._x = drag._y = false;
		cacheMouse(e, src, _l, _t, _w, _h, _i, false, true);
		let { left, top, width, height } = select;
		let hasSelect = width > 0 || height > 0;
		let chgSelect = downSelectLeft != left || downSelectTop != top || downSelectWidth != width || downSelectHeight != height;
		hasSelect && chgSelect && setSelect(select);
		if (drag.setScale && hasSelect && chgSelect) {
			let xOff = left, xDim = width, yOff = top, yDim = height;
			if (scaleX.ori == 1) xOff = top, xDim = height, yOff = left, yDim = width;
			if (dragX) _setScale(xScaleKey, posToVal(xOff, xScaleKey), posToVal(xOff + xDim, xScaleKey));
			if (dragY) for (let k in scales) {
				let sc = scales[k];
				if (k != xScaleKey && sc.from == null && sc.min != inf) _setScale(k, posToVal(yOff + yDim, k), posToVal(yOff, k));
			}
			hideSelect();
		} else if (cursor.lock) {
			cursor._lock = !cursor._lock;
			updateCursor(src, true, e != null);
		}
		if (e != null) {
			offMouse(mouseup, doc);
			pubSync(mouseup, self, mouseLeft1, mouseTop1, plotWidCss, plotHgtCss, null);
		}
	}
	function mouseLeave(e, src, _l, _t, _w, _h, _i) {
		if (cursor._lock) return;
		setCursorEvent(e);
		let _dragging = dragging;
		if (dragging) {
			let snapH = true;
			let snapV = true;
			let snapProx = 10;
			let dragH, dragV;
			if (scaleX.ori == 0) {
				dragH = dragX;
				dragV = dragY;
			} else {
				dragH = dragY;
				dragV = dragX;
			}
			if (dragH && dragV) {
				snapH = mouseLeft1 <= snapProx || mouseLeft1 >= plotWidCss - snapProx;
				snapV = mouseTop1 <= snapProx || mouseTop1 >= plotHgtCss - snapProx;
			}
			if (dragH && snapH) mouseLeft1 = mouseLeft1 < mouseLeft0 ? 0 : plotWidCss;
			if (dragV && snapV) mouseTop1 = mouseTop1 < mouseTop0 ? 0 : plotHgtCss;
			updateCursor(null, true, true);
			dragging = false;
		}
		mouseLeft1 = -10;
		mouseTop1 = -10;
		activeIdxs.fill(null);
		updateCursor(null, true, true);
		if (_dragging) dragging = _dragging;
	}
	function dblClick(e, src, _l, _t, _w, _h, _i) {
		if (cursor._lock) return;
		setCursorEvent(e);
		autoScaleX();
		hideSelect();
		if (e != null) pubSync(dblclick, self, mouseLeft1, mouseTop1, plotWidCss, plotHgtCss, null);
	}
	function syncPxRatio() {
		axes.forEach(syncFontSize);
		_setSize(self.width, self.height, true);
	}
	on(dppxchange, win, syncPxRatio);
	const events = {};
	events.mousedown = mouseDown;
	events.mousemove = mouseMove;
	events.mouseup = mouseUp;
	events.dblclick = dblClick;
	events["setSeries"] = (e, src, idx, opts) => {
		let seriesIdxMatcher = syncOpts.match[2];
		idx = seriesIdxMatcher(self, src, idx);
		idx != -1 && setSeries(idx, opts, true, false);
	};
	if (showCursor) {
		onMouse(mousedown, over, mouseDown);
		onMouse(mousemove, over, mouseMove);
		onMouse(mouseenter, over, (e) => {
			setCursorEvent(e);
			syncRect(false);
		});
		onMouse(mouseleave, over, mouseLeave);
		onMouse(dblclick, over, dblClick);
		cursorPlots.add(self);
		self.syncRect = syncRect;
	}
	const hooks = self.hooks = opts.hooks || {};
	function fire(evName, a1, a2) {
		if (deferHooks) hooksQueue.push([
			evName,
			a1,
			a2
		]);
		else if (evName in hooks) hooks[evName].forEach((fn) => {
			fn.call(null, self, a1, a2);
		});
	}
	(opts.plugins || []).forEach((p) => {
		for (let evName in p.hooks) hooks[evName] = (hooks[evName] || []).concat(p.hooks[evName]);
	});
	const seriesIdxMatcher = (self, src, srcSeriesIdx) => srcSeriesIdx;
	const syncOpts = assign({
		key: null,
		setSeries: false,
		filters: {
			pub: retTrue,
			sub: retTrue
		},
		scales: [xScaleKey, series[1] ? series[1].scale : null],
		match: [
			retEq,
			retEq,
			seriesIdxMatcher
		],
		values: [null, null]
	}, cursor.sync);
	if (syncOpts.match.length == 2) syncOpts.match.push(seriesIdxMatcher);
	cursor.sync = syncOpts;
	const syncKey = syncOpts.key;
	const sync = _sync(syncKey);
	function pubSync(type, src, x, y, w, h, i) {
		if (syncOpts.filters.pub(type, src, x, y, w, h, i)) sync.pub(type, src, x, y, w, h, i);
	}
	sync.sub(self);
	function pub(type, src, x, y, w, h, i) {
		if (syncOpts.filters.sub(type, src, x, y, w, h, i)) events[type](null, src, x, y, w, h, i);
	}
	self.pub = pub;
	function destroy() {
		sync.unsub(self);
		cursorPlots.delete(self);
		mouseListeners.clear();
		off(dppxchange, win, syncPxRatio);
		root.remove();
		legendTable?.remove();
		fire("destroy");
	}
	self.destroy = destroy;
	function _init() {
		fire("init", opts, data);
		setData(data || opts.data, false);
		if (pendScales[xScaleKey]) setScale(xScaleKey, pendScales[xScaleKey]);
		else autoScaleX();
		shouldSetSelect = select.show && (select.width > 0 || select.height > 0);
		shouldSetCursor = shouldSetLegend = true;
		_setSize(opts.width, opts.height);
	}
	series.forEach(initSeries);
	axes.forEach(initAxis);
	if (then) {
		if (then instanceof HTMLElement) {
			then.appendChild(root);
			_init();
		} else then(self, _init);
	} else _init();
	return self;
}
uPlot.assign = assign;
uPlot.fmtNum = fmtNum;
uPlot.rangeNum = rangeNum;
uPlot.rangeLog = rangeLog;
uPlot.rangeAsinh = rangeAsinh;
uPlot.orient = orient;
uPlot.pxRatio = pxRatio;
uPlot.join = join;
uPlot.fmtDate = fmtDate;
uPlot.tzDate = tzDate;
uPlot.sync = _sync;
{
	uPlot.addGap = addGap;
	uPlot.clipGaps = clipGaps;
	let paths = uPlot.paths = { points };
	paths.linear = linear;
	paths.stepped = stepped;
	paths.bars = bars;
	paths.spline = monotoneCubic;
}
// src/panels/chart.ts
var LEFT = 62;
var FONT = "11px system-ui, sans-serif";
var Chart = class {
	view;
	shown;
	plot = null;
	names = "";
	data = null;
	place = h("div", { class: "chart-place" });
	title = h("h3");
	readout = h("span", { class: "readout" });
	element = h("figure", { class: "chart" }, h("figcaption", {}, this.title, this.readout), this.place);
	/** `shown`: the window that it shows. */
	constructor(view, mover, shown) {
		this.view = view;
		this.shown = shown;
		new ResizeObserver(() => this.fit()).observe(this.place);
		listenTime(this.place, view, mover, (x) => this.timeAt(x));
	}
	set(data) {
		this.data = data;
		this.title.textContent = data.title;
		this.place.setAttribute("role", "img");
		this.place.setAttribute("aria-label", `${data.title}: ${data.lines.map((line) => `${line.name} ${line.way} ${summary(line.y, data)}`).join("; ")}`);
		const names = data.lines.map((line) => `${line.name} ${line.colour}`).join();
		const columns = [data.x, ...data.lines.map((line) => line.y)];
		if (this.plot === null || names !== this.names) {
			this.plot?.destroy();
			this.plot = new uPlot(this.options(data), columns, this.place);
			this.names = names;
		} else this.plot.setData(columns, false);
		this.scale();
		this.cursor();
	}
	/** The window is another: what is there is moved until better comes. */
	scale() {
		if (this.plot === null || this.data === null) return;
		const { begin, end } = this.shown(), most = this.data.most ?? largest(this.data);
		this.plot.batch(() => {
			this.plot.setScale("x", {
				min: begin,
				max: end
			});
			this.plot.setScale("y", {
				min: Math.min(0, smallest(this.data)),
				max: most * 1.05
			});
		});
		this.select();
	}
	/** The cursor of all pictures, and the values there. */
	cursor() {
		const { plot, data } = this, { hover } = this.view.now;
		if (plot === null || data === null) return;
		const left = hover === null ? -10 : plot.valToPos(hover, "x");
		plot.setCursor({
			left: hover === null || left < 0 || left > plot.over.clientWidth ? -10 : left,
			top: 0
		}, false);
		const at = hover === null ? -1 : stepOf(data.x, hover);
		this.readout.replaceChildren(...data.lines.filter((line) => !line.isDashed).map((line) => {
			const key = h("span", {
				class: "key",
				"aria-hidden": "true"
			});
			key.style.borderColor = line.colour;
			const values = at < 0 ? [] : data.lines.filter((it) => it.name === line.name).map((it) => {
				const value = it.y[at];
				return value === null || value === void 0 ? "–" : data.text(value);
			});
			return h("span", {}, key, line.name, values.length === 0 ? "" : ` ${values.join(" / ")}`);
		}));
	}
	select() {
		const { plot } = this, { selection } = this.view.now;
		if (plot === null) return;
		const width = plot.over.clientWidth, x0 = selection === null ? 0 : Math.max(0, plot.valToPos(selection.begin, "x")), x1 = selection === null ? 0 : Math.min(width, plot.valToPos(selection.end, "x"));
		plot.setSelect({
			left: x0,
			width: Math.max(0, x1 - x0),
			top: 0,
			height: plot.over.clientHeight
		}, false);
	}
	clear() {
		this.plot?.destroy();
		this.plot = null;
		this.data = null;
	}
	themed() {
		this.names = "";
	}
	timeAt(x) {
		if (this.plot === null) return null;
		const left = x - this.plot.over.offsetLeft;
		return left < 0 || left > this.plot.over.clientWidth ? null : this.plot.posToVal(left, "x");
	}
	fit() {
		const { clientWidth: width, clientHeight: height } = this.place;
		if (this.plot !== null && width > 0 && height > 0) {
			this.plot.setSize({
				width,
				height
			});
			this.select();
			this.cursor();
		}
	}
	options(data) {
		const colours = ink(), axis = {
			stroke: colours.faint,
			font: FONT,
			grid: {
				stroke: colours.line,
				width: 1
			},
			ticks: {
				stroke: colours.line,
				width: 1,
				size: 4
			}
		};
		const origin = () => this.view.now.experiment?.origin_unix_ns ?? null;
		const stepped = uPlot.paths.stepped({ align: 1 });
		return {
			width: Math.max(50, this.place.clientWidth),
			height: Math.max(40, this.place.clientHeight),
			legend: { show: false },
			padding: [
				4,
				8,
				0,
				0
			],
			cursor: {
				y: false,
				drag: {
					x: false,
					y: false
				},
				points: { show: false },
				bind: {
					mousemove: () => null,
					mousedown: () => null,
					mouseup: () => null,
					dblclick: () => null,
					mouseenter: () => null,
					mouseleave: () => null
				}
			},
			select: {
				show: true,
				left: 0,
				top: 0,
				width: 0,
				height: 0
			},
			scales: {
				x: {
					time: false,
					auto: false
				},
				y: { auto: false }
			},
			axes: [{
				...axis,
				size: 22,
				space: 90,
				gap: 2,
				values: (_, ticks) => ticks.map((t) => formatTime(origin(), t, placesFor((ticks[1] ?? t + 1e9) - ticks[0])))
			}, {
				...axis,
				size: LEFT,
				space: 26,
				gap: 3,
				values: (_, ticks) => ticks.map((value) => data.text(value))
			}],
			series: [{}, ...data.lines.map((line) => ({
				label: line.name,
				stroke: line.colour,
				width: 1.25,
				dash: line.isDashed ? [4, 3] : void 0,
				paths: stepped,
				points: { show: false }
			}))]
		};
	}
};
function known(y) {
	return y.filter((value) => value !== null);
}
function largest(data) {
	return data.lines.reduce((most, line) => known(line.y).reduce((a, b) => Math.max(a, b), most), 1);
}
function smallest(data) {
	return data.lines.reduce((least, line) => known(line.y).reduce((a, b) => Math.min(a, b), least), 0);
}
function meanOf(y) {
	const values = known(y);
	return values.length === 0 ? null : values.reduce((a, b) => a + b, 0) / values.length;
}
function summary(y, data) {
	const mean = meanOf(y);
	return mean === null ? "nothing known" : `mean ${data.text(mean)}, most ${data.text(known(y).reduce((a, b) => Math.max(a, b), 0))}`;
}
// src/panels/usage.ts
var KINDS = [
	{
		title: "CPU, of all CPUs of a host",
		kinds: ["cpu"],
		words: [""],
		needs: "sched_switch"
	},
	{
		title: "Network: sent, dashed received",
		kinds: ["net-sent", "net-received"],
		words: ["sent", "received"],
		needs: "net_dev_queue,net_if_receive_skb"
	},
	{
		title: "Disk: read, dashed written",
		kinds: ["disk-read", "disk-write"],
		words: ["read", "written"],
		needs: "block_rq_issue,block_rq_complete"
	},
	{
		title: "Memory, since the begin of the window",
		kinds: ["memory"],
		words: [""],
		needs: "kmem_mm_page_alloc,kmem_mm_page_free"
	}
];
var UsagePanel = class extends AskingPanel {
	series = [];
	charts;
	table;
	missing = h("p", { class: "missing muted" });
	parts;
	constructor(view, navigator) {
		super("usage", "Usage", view, navigator, [
			"window",
			"clock",
			"hover",
			"selection"
		]);
		this.charts = KINDS.map(() => new Chart(view, navigator, this.timesShown));
		const text = (value, it) => value === null ? "–" : textOf(it.unit)(value);
		this.table = new DataTable({
			label: "Usage in the window: a click goes to the instant of most",
			origin: () => this.origin,
			sort: [0, false],
			pick: ({ at }) => {
				if (at !== null) this.goAndStay(() => {
					this.view.set({ hover: toShown(view, null, at) });
					this.navigator.go(null, toShown(view, null, at));
				});
			},
			columns: [
				{
					title: "host",
					value: (it) => it.host
				},
				{
					title: "what",
					value: (it) => it.what,
					grow: true
				},
				{
					title: "mean",
					unit: "count",
					value: (it) => it.mean,
					text: (it) => text(it.mean, it)
				},
				{
					title: "most",
					unit: "count",
					value: (it) => it.most,
					text: (it) => text(it.most, it)
				},
				{
					title: "most at",
					unit: "time",
					value: (it) => it.at,
					text: (it) => it.at === null ? "–" : formatTime(this.origin, it.at, placesFor((view.now.window.end - view.now.window.begin) / 1e3))
				}
			]
		});
		this.parts = h("div", { class: "picture-parts" }, h("div", { class: "charts" }, ...this.charts.map((it) => it.element)), titled("In this window", this.table, this.missing));
	}
	changed(_now, changed) {
		if (changed.has("hover")) for (const chart of this.charts) chart.cursor();
		if (changed.has("selection")) for (const chart of this.charts) chart.select();
		if (!changed.has("window") && !changed.has("clock")) return;
		if (changed.has("clock") || !this.isLed) this.letGo();
		for (const chart of this.charts) chart.scale();
		this.askSoon();
	}
	themed() {
		for (const chart of this.charts) chart.themed();
		this.draw();
	}
	forget() {
		this.series = [];
		for (const chart of this.charts) chart.clear();
		this.table.set([]);
		this.body.replaceChildren();
	}
	async load(signal) {
		const range = this.showRange("window"), points = Math.max(60, Math.min(1e3, Math.round(this.body.clientWidth / 4)));
		const answer = await api.usage(range.begin, range.end, points, signal, false, this.progress.ask);
		this.series = answer.series;
		this.command.set(answer.command);
		if (this.series.length === 0) {
			this.body.replaceChildren(notice("empty", "Nothing is known of this time", "No host was recorded then: `f` shows all there is."));
			return;
		}
		if (this.body.firstChild !== this.parts) this.body.replaceChildren(this.parts);
		this.draw();
	}
	draw() {
		if (this.series.length === 0) return;
		const rows = [], missing = [];
		KINDS.forEach((kind, place) => {
			const chart = this.charts[place], of = this.series.filter((it) => kind.kinds.includes(it.kind));
			chart.element.hidden = of.length === 0;
			if (of.length === 0) {
				chart.clear();
				missing.push(`${nameOf(kind)} (\`${kind.needs}\`)`);
				return;
			}
			const data = this.dataOf(kind, of);
			chart.set(data);
			for (const [at, it] of of.entries()) rows.push(this.rowOf(kind, it, data.lines[at]));
		});
		this.missing.textContent = missing.length === 0 ? "" : `None in this window, or not recorded: ${missing.join(", ").replace(/`/g, "")}`;
		this.missing.title = this.missing.textContent;
		this.table.set(rows);
	}
	/** The hosts' steps begin at their own times: all on the same ones, at which each has the value of its step. */
	dataOf(kind, of) {
		const shift = (it) => toShown(this.view, this.view.now.experiment?.hosts[it.host]?.row ?? null, 0);
		const x = [...new Set(of.flatMap((it) => it.x.map((at) => at + shift(it))))].sort((a, b) => a - b);
		const lines = of.map((it) => {
			const by = shift(it), last = it.x.at(-1) + (it.x.length > 1 ? it.x.at(-1) - it.x.at(-2) : 0), way = kind.kinds.indexOf(it.kind), word = kind.words[way];
			let place = -1;
			const y = x.map((at) => {
				while (place + 1 < it.x.length && it.x[place + 1] + by <= at) place += 1;
				return place < 0 || at - by > last ? null : it.y[place] ?? null;
			});
			return {
				name: it.name,
				way: word,
				colour: hostColour(it.host),
				isDashed: way === 1,
				y
			};
		});
		return {
			title: kind.title,
			x,
			lines,
			most: kind.kinds[0] === "cpu" ? 100 : null,
			text: textOf(of[0].unit)
		};
	}
	rowOf(kind, it, line) {
		const most = it.y.reduce((a, b) => b === null ? a : a === null || b > a ? b : a, null);
		return {
			host: it.name,
			what: `${nameOf(kind)}${line.way === "" ? "" : ` ${line.way}`}`,
			unit: it.unit,
			mean: meanOf(it.y),
			most,
			at: most === null ? null : it.x[it.y.indexOf(most)]
		};
	}
};
function nameOf(kind) {
	return kind.title.replace(/[,:].*/, "");
}
function textOf(unit) {
	if (unit === "percent") return (value) => `${Math.round(value * 10) / 10} %`;
	return unit === "bytes/s" ? (value) => `${formatBytes(value)}/s` : formatBytes;
}
var panels = [
	StatePanel,
	FlowsPanel,
	CriticalPathPanel,
	LatencyPanel,
	ServicesPanel,
	StatisticsPanel,
	UsagePanel,
	ResourcesPanel,
	LivesPanel,
	DisksPanel,
	MatchesPanel,
	EventsPanel,
	MessagesPanel,
	LossesPanel,
	SynchronizationPanel,
	AnalysesPanel,
	SqlPanel
].map((Made) => (view, navigator) => new Made(view, navigator));
// src/rowGroups.ts
/** Lines that stand for several rows have numbers from here downwards, by their key. */
var BUNDLE = -2e6;
/** Keys of folds by host, and of groups by their first row. */
var QUIET = 0;
var SYSTEM = 1e5;
var DEVICES = 2e5;
var COUNTER = 3e5;
var GROUP = 1e6;
var CONTAINER = 1e9;
/** Whether a key is of the fold of CPUs and disks of a host. */
function isDevices(key) {
	return key >= DEVICES && key < COUNTER;
}
/** The key of the counters of a host. */
function countersKey(host) {
	return COUNTER + host;
}
/** The key of a process that is open: at first sight, they are closed. */
function processKey(row) {
	return GROUP + row;
}
/** So many processes of one name are a group. */
var LEAST = 3;
/** Threads of the kernel and programs of the tracer, by the beginnings of their names. */
var SYSTEM_NAMES = /^(lttng|babeltrace|trace-cmd|kthreadd|ksoftirqd|kworker|rcu|migration|cpuhp|idle_inject|kcompactd|khugepaged|ksmd|kswapd|kauditd|khungtaskd|oom_reaper|writeback|kblockd|watchdogd|jbd2|ext4|scsi_eh|irq\/|kdevtmpfs|inet_frag|mm_percpu|netns|slub_|pool_workqueue|Client manageme|Action executo|Rotation|Event notifie|Health)/;
/** A number that has nothing to do with the host or the row if they get another one. */
function renewedKey(key, row, host) {
	const base = key >= CONTAINER ? CONTAINER : key >= GROUP ? GROUP : key >= COUNTER ? COUNTER : key >= DEVICES ? DEVICES : key >= SYSTEM ? SYSTEM : QUIET, now = base >= GROUP ? row(key - base) : host(key - base);
	return now === null ? null : base + now;
}
/** The children of a host in the order in which they are shown, those of which there is no room in a fold: `room` lines, threads of processes have lines, too. `container`: the pid namespace of a process in one. */
function arranged(host, children, rank, threads, room, kept, container = () => null) {
	const devices = children.filter((row) => row.kind === "cpu" || row.kind === "disk"), others = children.filter((row) => row.kind !== "cpu" && row.kind !== "disk");
	const contained = /* @__PURE__ */ new Map(), outside = [], named = /* @__PURE__ */ new Map();
	for (const row of others) {
		const it = container(row);
		if (it === null) outside.push(row);
		else contained.set(it, [...contained.get(it) ?? [], row]);
	}
	const system = outside.filter((row) => SYSTEM_NAMES.test(row.label));
	for (const row of outside) if (!SYSTEM_NAMES.test(row.label)) named.set(row.label, [...named.get(row.label) ?? [], row]);
	const entries = [...named].flatMap(([label, rows]) => rows.length < LEAST ? rows : [{
		key: GROUP + rows[0].id,
		label: `${label} ×${rows.length}`,
		rows,
		isGroup: true
	}]);
	for (const [namespace, rows] of contained) entries.push({
		key: CONTAINER + rows[0].id,
		label: `container ${namespace} (${rows.length})`,
		rows,
		isGroup: true
	});
	const sum = (it, of) => isBundle(it) ? it.rows.reduce((all, row) => all + of(row), 0) : of(it);
	const keys = new Map(entries.map((it) => [it, [sum(it, rank.parts), sum(it, rank.activity)]]));
	entries.sort((a, b) => {
		const [x, y] = [keys.get(a), keys.get(b)];
		return y[0] - x[0] || y[1] - x[1];
	});
	const shown = [], quiet = [];
	let left = room;
	for (const it of entries) {
		const lines = isBundle(it) ? 1 : 1 + threads(it), isKept = isBundle(it) ? it.rows.some((row) => kept.has(row.id)) : kept.has(it.id), [parts, activity] = keys.get(it);
		if (isKept || lines <= left && parts + activity > 0) {
			shown.push(it);
			left -= lines;
		} else quiet.push(...isBundle(it) ? it.rows : [it]);
	}
	const fold = (key, label, rows) => {
		if (rows.length > 0) shown.push({
			key: key + host,
			label,
			rows,
			isGroup: false
		});
	};
	fold(QUIET, `${quiet.length} less active`, quiet);
	fold(SYSTEM, `tracer and kernel (${system.length})`, system);
	return devices.length > 0 ? [...shown, devicesOf(host, devices)] : shown;
}
/** The fold of CPUs and disks of a host. */
function devicesOf(host, devices) {
	const cpus = devices.filter((row) => row.kind === "cpu").length, disks = devices.length - cpus;
	const parts = [cpus > 0 ? `${cpus} ${cpus === 1 ? "CPU" : "CPUs"}` : "", disks > 0 ? `${disks} ${disks === 1 ? "disk" : "disks"}` : ""];
	return {
		key: DEVICES + host,
		label: parts.filter((text) => text !== "").join(", "),
		rows: devices,
		isGroup: false
	};
}
function isBundle(it) {
	return "key" in it;
}
// src/rows.ts
/** Rows of a group that are drawn in its line. */
var MAX_OVERLAID = 100;
/** More rows than this do not fit one above the other in a line. */
var MAX_STRIPES = 7;
/** A host that is sorted by activity has at least about this many lines before its fold. */
var MIN_LINES = 6;
var Rows = class {
	view;
	lines = [];
	pinnedCount = 0;
	byId = /* @__PURE__ */ new Map();
	children = /* @__PURE__ */ new Map();
	places = /* @__PURE__ */ new Map();
	/** Only the head of the critical path is shown. */
	isPathClosed = false;
	collapsed = /* @__PURE__ */ new Set();
	unfolded = /* @__PURE__ */ new Set();
	hidden = /* @__PURE__ */ new Set();
	pinned = [];
	filter = null;
	/** All states were looked at for the filter: rows that do not fit have none. */
	isFilterWhole = true;
	/** CPU time by row, where rows are sorted by it; and the rows below hosts that are active enough not to be folded. */
	activity = null;
	active = /* @__PURE__ */ new Set();
	/** Number of messages by row, where rows are put together and ranked by them; and on how many lines of a host. */
	parts = null;
	room = 0;
	/** The bundle that a row is in, by the row. */
	bundles = /* @__PURE__ */ new Map();
	watchers = /* @__PURE__ */ new Set();
	constructor(view) {
		this.view = view;
		view.watch(() => {
			this.index();
			this.change();
		}, "rows");
		view.watch(() => this.change(), "onlyRows", "path");
	}
	watch(watcher) {
		this.watchers.add(watcher);
	}
	row(id) {
		return id === null ? void 0 : this.byId.get(id);
	}
	childrenOf(id) {
		return this.children.get(id) ?? [];
	}
	/** The line of a row, else of its nearest ancestor that is shown; −1 if there is none. */
	lineOf(id) {
		for (let row = this.byId.get(id); row !== void 0; row = this.row(row.parent)) {
			const place = this.places.get(row.id);
			if (place !== void 0) return place;
			const bundle = this.bundles.get(row.id), bundled = bundle === void 0 ? void 0 : this.places.get(BUNDLE - bundle.key);
			if (bundled !== void 0) return bundled;
			if (row.parent !== null && this.row(row.parent)?.parent === null) {
				const fold = this.places.get(-1 - row.host);
				if (fold !== void 0 && this.folds(row)) return fold;
			}
		}
		return -1;
	}
	/** The line of exactly this row; undefined if it is not shown. */
	placeOf(id) {
		return this.places.get(id);
	}
	name(row) {
		return row.rank !== void 0 ? `rank ${row.rank} · ${row.label} ${row.tid}` : row.tid !== void 0 ? `${row.label} ${row.tid}` : row.pid !== void 0 ? `${row.label} ${row.pid}` : row.label;
	}
	/** With its host: "h1 wget 228". */
	fullName(row) {
		const host = this.view.now.experiment?.hosts[row.host]?.name ?? "";
		return row.kind === "host" ? row.label : `${host} ${this.name(row)}`;
	}
	/** The rows that a line is about: its own, those of its fold, the thread of a path. */
	idsOf(line) {
		if (line.row !== null) return [line.row.id];
		const thread = pathRow(this.view.now.path, line.id)?.row;
		if (line.id <= -2e6 || counterOf(line.id) !== null) return line.members ?? [];
		return thread !== void 0 ? [thread] : this.foldedOf(line.host).map((row) => row.id);
	}
	foldedOf(host) {
		const top = this.childrenOf(null).find((row) => row.host === host);
		return top === void 0 ? [] : this.childrenOf(top.id).filter((row) => this.folds(row));
	}
	toggle(id) {
		if (id === -1e6) this.isPathClosed = !this.isPathClosed;
		else if (id <= -2e6) flip(this.unfolded, BUNDLE - id);
		else if (id < 0) flip(this.unfolded, -1 - id);
		else if (this.parts !== null && this.byId.get(id)?.kind === "process") flip(this.unfolded, processKey(id));
		else flip(this.collapsed, id);
		this.change();
	}
	get someExpanded() {
		return this.childrenOf(null).some((row) => !this.collapsed.has(row.id));
	}
	collapseAll() {
		if (this.someExpanded) for (const row of this.childrenOf(null)) this.collapsed.add(row.id);
		else this.collapsed.clear();
		this.change();
	}
	pin(id) {
		this.pinned = this.pinned.includes(id) ? this.pinned.filter((other) => other !== id) : [...this.pinned, id];
		this.change();
	}
	hide(id) {
		this.hidden.add(id);
		this.pinned = this.pinned.filter((other) => other !== id);
		this.change();
	}
	get hiddenCount() {
		return this.hidden.size;
	}
	showHidden() {
		this.hidden.clear();
		this.change();
	}
	/** `isWhole`: all states were looked at for it. */
	setFilter(matches, isWhole = true) {
		this.filter = matches;
		this.isFilterWhole = isWhole;
		this.change();
	}
	get isFiltered() {
		return this.filter !== null;
	}
	matches(id) {
		return this.filter?.has(id) ?? false;
	}
	/**
	* Sorts by activity; each host shows the most active of its processes and threads on about `room` lines, and folds the others. With the number of messages of rows (`parts`), processes of one
	* name are put together, and those with most messages come first.
	*/
	setActivity(activity, room = 0, parts = null) {
		this.activity = activity;
		this.parts = parts;
		this.room = Math.max(room, MIN_LINES);
		const active = /* @__PURE__ */ new Set(), chosen = this.top(this.view.now.row);
		if (chosen !== null) active.add(chosen);
		for (const host of activity === null ? [] : this.childrenOf(null)) {
			const isQuiet = (row) => this.isQuietDevice(row, active);
			let left = Math.max(room, MIN_LINES);
			for (const row of this.sorted(this.childrenOf(host.id))) {
				if (isQuiet(row)) continue;
				const lines = 1 + this.childrenOf(row.id).length, isFolding = row.kind === "process" || row.kind === "thread";
				if (isFolding && (lines > left || !activity.has(row.id))) continue;
				left -= lines;
				if (isFolding) active.add(row.id);
			}
		}
		this.active = active;
		this.change();
	}
	get isSorted() {
		return this.activity !== null && this.parts === null;
	}
	get isGrouped() {
		return this.parts !== null;
	}
	/** The row just below the host that a row is, or is in. */
	top(id) {
		let row = this.row(id);
		while (row !== void 0 && row.parent !== null && this.row(row.parent)?.parent !== null) row = this.row(row.parent);
		return row === void 0 || row.parent === null ? null : row.id;
	}
	/** Opens what hides a row, so that it has a line. */
	reveal(id) {
		if (this.places.has(id)) return;
		const row = this.byId.get(id);
		if (row === void 0) return;
		for (let it = row; it !== void 0; it = this.row(it.parent)) {
			this.hidden.delete(it.id);
			if (it !== row) {
				this.collapsed.delete(it.id);
				if (this.parts !== null && it.kind === "process") this.unfolded.add(processKey(it.id));
			}
			const bundle = this.bundles.get(it.id);
			if (bundle !== void 0) this.unfolded.add(bundle.key);
			else if (this.folds(it)) this.unfolded.add(it.host);
		}
		this.change();
	}
	get kept() {
		return {
			collapsed: [...this.collapsed],
			unfolded: [...this.unfolded],
			pinned: this.pinned,
			hidden: [...this.hidden]
		};
	}
	restore(kept, isPathClosed) {
		this.isPathClosed = isPathClosed;
		for (const [set, ids] of [
			[this.collapsed, kept.collapsed],
			[this.unfolded, kept.unfolded],
			[this.hidden, kept.hidden]
		]) {
			set.clear();
			for (const id of ids) set.add(id);
		}
		this.pinned = [...kept.pinned];
		this.change();
	}
	/** Other numbers of rows and hosts come: keeps what was said of them. The rows themselves are set in the view after this. */
	renew(renewal) {
		for (const set of [this.collapsed, this.hidden]) {
			const ids = [...set].map(renewal.row);
			set.clear();
			for (const id of ids) if (id !== null) set.add(id);
		}
		const keys = [...this.unfolded].map((key) => renewedKey(key, renewal.row, renewal.host));
		this.unfolded.clear();
		for (const key of keys) if (key !== null) this.unfolded.add(key);
		this.pinned = this.pinned.flatMap((id) => renewal.row(id) ?? []);
		this.active = new Set([...this.active].flatMap((id) => renewal.row(id) ?? []));
		const moved = (map) => map === null ? null : new Map([...map].flatMap(([id, value]) => {
			const now = renewal.row(id);
			return now === null ? [] : [[now, value]];
		}));
		this.activity = moved(this.activity);
		this.parts = moved(this.parts);
	}
	index() {
		this.byId = /* @__PURE__ */ new Map();
		this.children = /* @__PURE__ */ new Map();
		for (const row of this.view.now.rows) {
			this.byId.set(row.id, row);
			const siblings = this.children.get(row.parent);
			if (siblings) siblings.push(row);
			else this.children.set(row.parent, [row]);
		}
		this.children.get(null)?.sort((a, b) => names.compare(a.label, b.label));
	}
	/** Whether a row goes to the fold of its host: sorted by activity, and it had little. */
	folds(row) {
		return this.activity !== null && this.parts === null && (row.kind === "process" || row.kind === "thread") && this.row(row.parent)?.kind === "host" && !this.active.has(row.id);
	}
	/** Sorted by activity, devices do not take lines from threads: disks that did nothing, and the only CPU of a host, which is what the host's own line shows. */
	isQuietDevice(row, active = this.active) {
		if (this.activity === null || this.parts !== null || active.has(row.id) || this.hidden.has(row.id) || this.pinned.includes(row.id)) return false;
		return row.kind === "disk" ? !this.activity.has(row.id) : row.kind === "cpu" && !this.childrenOf(row.parent).some((it) => it !== row && it.kind === "cpu");
	}
	/** Rows that are shown because of a filter, with their ancestors; null: all. */
	wanted() {
		const only = this.view.now.onlyRows, filter = this.filter;
		if (only === null && filter === null) return null;
		const wanted = /* @__PURE__ */ new Set();
		for (const id of only ?? filter) {
			if (only !== null && filter !== null && !filter.has(id)) continue;
			for (let row = this.byId.get(id); row !== void 0 && !wanted.has(row.id); row = this.row(row.parent)) wanted.add(row.id);
		}
		return wanted;
	}
	change() {
		const lines = [], wanted = this.wanted();
		this.bundles = /* @__PURE__ */ new Map();
		this.pinned = this.pinned.filter((id) => this.byId.has(id));
		for (const id of this.pinned) {
			const row = this.byId.get(id);
			lines.push({
				id,
				row,
				host: row.host,
				label: this.fullName(row),
				depth: 0,
				expandable: false,
				expanded: false,
				pinned: true,
				sources: this.sources(row, false)
			});
		}
		this.pinnedCount = lines.length;
		this.addPath(lines, this.view.now.path);
		for (const host of this.childrenOf(null)) this.add(lines, host, 0, wanted);
		this.lines = lines;
		this.places = new Map(lines.map((line, place) => [line.id, place]));
		for (const watcher of this.watchers) watcher();
	}
	/** The critical path has rows of its own, above all hosts. */
	addPath(lines, path) {
		const rows = pathRows(path), first = rows[0];
		if (path === null || first === void 0) return;
		const plain = {
			row: null,
			pinned: false
		}, thread = this.byId.get("row" in path.of ? path.of.row : -1);
		const label = path.request === null ? `critical path of ${thread === void 0 ? "a thread" : this.name(thread)}` : `critical path of request ${path.request}`;
		lines.push({
			...plain,
			id: PATH_HEAD,
			host: first.host,
			label,
			depth: 0,
			expandable: true,
			expanded: !this.isPathClosed,
			sources: []
		});
		if (this.isPathClosed) return;
		for (const { id, host, row } of rows) {
			const it = this.byId.get(row);
			lines.push({
				...plain,
				id,
				host,
				label: it === void 0 ? "" : this.fullName(it),
				depth: 1,
				expandable: false,
				expanded: false,
				sources: [id]
			});
		}
	}
	add(lines, row, depth, wanted) {
		if (this.hidden.has(row.id) || wanted !== null && !wanted.has(row.id)) return;
		const isPinned = this.pinned.includes(row.id) && row.kind !== "host";
		let children = this.childrenOf(row.id);
		if (wanted !== null) children = children.filter((child) => wanted.has(child.id));
		const expanded = children.length > 0 && (wanted !== null || this.isExpanded(row));
		if (!isPinned) lines.push({
			id: row.id,
			row,
			host: row.host,
			label: this.name(row),
			depth,
			expandable: children.length > 0,
			expanded,
			pinned: false,
			sources: this.sources(row, expanded)
		});
		if (!expanded) return;
		const hasCounters = row.kind === "host" && this.filter === null, areOpen = this.unfolded.has(countersKey(row.host));
		if (hasCounters && areOpen) this.addCounters(lines, row.host, depth + 1);
		if (row.kind === "host" && wanted === null && this.parts !== null) {
			this.addGrouped(lines, row, children, depth);
			return;
		}
		const isPlain = wanted === null && row.kind === "host", folded = isPlain ? children.filter((child) => this.folds(child)) : [];
		const devices = isPlain ? children.filter((child) => this.isQuietDevice(child)) : [];
		const shown = folded.length + devices.length > 0 ? children.filter((child) => !this.folds(child) && !this.isQuietDevice(child)) : children;
		for (const child of this.sorted(shown)) this.add(lines, child, depth + 1, wanted);
		if (folded.length > 0) {
			const isOpen = this.unfolded.has(row.host), label = `${folded.length} less active`;
			lines.push({
				id: -1 - row.host,
				row: null,
				host: row.host,
				label,
				depth: depth + 1,
				expandable: true,
				expanded: isOpen,
				pinned: false,
				sources: []
			});
			if (isOpen) for (const child of folded) this.add(lines, child, depth + 2, wanted);
		}
		if (devices.length > 0) this.addBundle(lines, devicesOf(row.host, devices), depth);
		else if (hasCounters && !areOpen && wanted === null) this.addCounters(lines, row.host, depth + 1);
	}
	/** Opens the counters of all hosts, or closes them. */
	toggleCounters() {
		const keys = this.childrenOf(null).map((host) => countersKey(host.host)), isOpen = keys.some((key) => this.unfolded.has(key));
		for (const key of keys) if (isOpen) this.unfolded.delete(key);
		else this.unfolded.add(key);
		this.change();
	}
	/** What a host used over time: folded, until it is opened. */
	addCounters(lines, host, depth) {
		const key = countersKey(host), isOpen = this.unfolded.has(key), plain = {
			row: null,
			host,
			pinned: false,
			sources: [],
			isOverlaid: true
		};
		lines.push({
			...plain,
			id: BUNDLE - key,
			label: "counters",
			depth,
			expandable: true,
			expanded: isOpen
		});
		if (isOpen) COUNTERS.forEach(({ label }, kind) => lines.push({
			...plain,
			id: counterLine(host, kind),
			label,
			depth: depth + 1,
			expandable: false,
			expanded: false
		}));
	}
	isExpanded(row) {
		return this.parts !== null && row.kind === "process" ? this.unfolded.has(processKey(row.id)) : !this.collapsed.has(row.id);
	}
	/** The children of a host at first sight: groups, single ones, folds. */
	addGrouped(lines, host, children, depth) {
		const kept = this.top(this.view.now.row), rank = {
			parts: (row) => this.parts.get(row.id) ?? 0,
			activity: (row) => this.activity.get(row.id) ?? 0
		};
		const shown = children.filter((row) => !this.hidden.has(row.id) && !this.pinned.includes(row.id));
		for (const it of arranged(host.host, shown, rank, (row) => this.isExpanded(row) ? this.childrenOf(row.id).length : 0, this.room, new Set(kept === null ? [] : [kept]), (row) => row.namespace ?? this.childrenOf(row.id).find((child) => child.namespace !== void 0)?.namespace ?? null)) if (isBundle(it)) this.addBundle(lines, it, depth);
		else this.add(lines, it, depth + 1, null);
	}
	/** Several rows of a host as one line, and what is in it where it is open. */
	addBundle(lines, it, depth) {
		const host = it.rows[0].host, isOpen = this.unfolded.has(it.key), members = it.rows.map((row) => row.id);
		const inside = (row) => row.kind === "process" ? this.childrenOf(row.id).map((child) => child.id) : [row.id];
		const sources = it.isGroup ? it.rows.flatMap(inside).slice(0, MAX_OVERLAID) : [];
		for (const id of members) this.bundles.set(id, it);
		const line = {
			id: BUNDLE - it.key,
			row: null,
			host,
			label: it.label,
			depth: depth + 1,
			expandable: true,
			expanded: isOpen,
			pinned: false
		};
		lines.push({
			...line,
			sources,
			isOverlaid: true,
			members
		});
		if (!isOpen) return;
		for (const row of this.sorted(it.rows)) this.add(lines, row, depth + 2, null);
		if (isDevices(it.key) && !this.unfolded.has(countersKey(host))) this.addCounters(lines, host, depth + 2);
	}
	/** The most active first; CPUs, disks and phases keep their place. */
	sorted(rows) {
		const activity = this.activity;
		if (activity === null) return rows;
		const key = (row) => row.kind === "process" || row.kind === "thread" ? activity.get(row.id) ?? 0 : Infinity;
		return [...rows].sort((a, b) => {
			const x = key(a), y = key(b);
			return x === y ? 0 : y > x ? 1 : -1;
		});
	}
	/** A host shows its CPUs, a collapsed process its threads: what is inside can be seen from outside. */
	sources(row, expanded) {
		if (row.kind !== "host" && row.kind !== "process") return [row.id];
		const inside = this.childrenOf(row.id).filter((child) => child.kind === (row.kind === "host" ? "cpu" : "thread")).map((child) => child.id);
		if (inside.length === 0) return [row.id];
		if (row.kind === "process" && expanded) return [];
		return inside.slice(0, MAX_STRIPES);
	}
};
/** h2 comes before h10. */
var names = new Intl.Collator("en", { numeric: true });
function flip(set, id) {
	if (!set.delete(id)) set.add(id);
}
// src/sample.ts
/** Heights of a line and of its bar, and the width of the names, in CSS pixels: as those of the time graph. */
var LINE = 20;
var BAR = 14;
var NAMES = 170;
var INDENT$1 = 12;
/** More lines make no picture. */
var MAX_LINES = 300;
/** Styles of the shares of a CPU's part after its times, from below: threads, softirqs, interrupts, idle. */
var STYLE_IDLE = 9;
var STYLE_IRQ = 10;
var STYLE_SOFTIRQ = 11;
var STYLE_RUNNING = 8;
var STACK = [
	[4, STYLE_RUNNING],
	[6, STYLE_SOFTIRQ],
	[5, STYLE_IRQ]
];
/** How much is left of the colour of what was not read, and is only likely. */
var LIKELY = .35;
var SamplePicture = class {
	view;
	canvas = h("canvas", { role: "img" });
	caption = h("p", { class: "sample-text" });
	element = h("figure", {
		class: "sample",
		hidden: true
	}, this.caption, h("div", { class: "sample-lines" }, this.canvas));
	lines = [];
	begin = 0;
	end = 1;
	constructor(view) {
		this.view = view;
		watchTheme(() => this.draw());
		new ResizeObserver(() => this.draw()).observe(this.element);
	}
	get isThere() {
		return this.lines.length > 0;
	}
	/** Asks whether it is there; shows it, over the time that the traces have. */
	async load(range) {
		const sample = await api.sample().catch(() => null);
		if (sample === null || !sample.hosts.some((host) => host.cpus.length > 0)) return;
		({begin: this.begin, end: this.end} = range);
		this.lines = linesOf(sample);
		const origin = this.view.now.experiment?.origin_unix_ns ?? null, time = (t) => formatTime(origin, t, 3);
		const share = sample.share < .01 ? "less than 1 %" : `${Math.round(sample.share * 100)} %`;
		this.caption.textContent = `A first sample, of ${share} of the trace: how busy each CPU was, and the threads that ran most; pale where it is only likely. By the hosts' own clocks, from ${time(this.begin)} to ${time(this.end)} UTC.`;
		this.canvas.setAttribute("aria-label", this.lines.map(inWords).join("; "));
		this.element.hidden = false;
		this.draw();
	}
	draw() {
		const ratio = devicePixelRatio, width = this.element.clientWidth, height = this.lines.length * LINE;
		if (width <= NAMES || !this.isThere) return;
		this.canvas.width = Math.round(width * ratio);
		this.canvas.height = Math.round(height * ratio);
		this.canvas.style.width = `${width}px`;
		this.canvas.style.height = `${height}px`;
		const ctx = this.canvas.getContext("2d"), colours = ink();
		ctx.scale(ratio, ratio);
		ctx.fillStyle = css(colours.background);
		ctx.fillRect(0, 0, width, height);
		ctx.font = "11px system-ui, sans-serif";
		ctx.textBaseline = "middle";
		this.lines.forEach((line, place) => {
			const bottom = place * LINE + 3 + BAR;
			if (line.depth === 0) {
				ctx.fillStyle = css(colours.band);
				ctx.fillRect(0, place * LINE, width, LINE);
			}
			ctx.fillStyle = line.thread.length > 0 || line.depth === 0 ? colours.text : colours.faint;
			ctx.fillText(line.label, 6 + line.depth * INDENT$1, place * LINE + LINE / 2, 158 - line.depth * INDENT$1);
			for (const isRead of [false, true]) {
				ctx.globalAlpha = isRead ? 1 : LIKELY;
				for (const part of line.cpu) {
					const [x, wide] = this.across(part, isRead, width), idle = look(STYLE_IDLE).height * BAR;
					fill(ctx, STYLE_IDLE, x, bottom, wide, idle);
					let low = bottom;
					for (const [at, style] of STACK) {
						const high = BAR * part[at] / 1e3;
						fill(ctx, style, x, low, wide, high);
						low -= high;
					}
				}
				for (const part of line.thread) {
					const [x, wide] = this.across(part, isRead, width);
					fill(ctx, STYLE_RUNNING, x, bottom, wide, Math.max(1, BAR * part[3] / 1e3));
				}
			}
		});
	}
	/** Where a part is, as far as it was read, or what follows: its left edge and its width. */
	across([begin, read, end], isRead, width) {
		const scale = (width - NAMES) / Math.max(1, this.end - this.begin), x = (t) => NAMES + (t - this.begin) * scale;
		const from = isRead ? x(begin) : Math.max(x(read), x(begin) + 1);
		return [from, isRead ? Math.max(1, x(read) - from) : Math.max(0, x(end) - from)];
	}
};
function fill(ctx, style, x, bottom, wide, high) {
	ctx.fillStyle = css(rgbOf(style));
	ctx.fillRect(x, bottom - high, wide, high);
}
function linesOf(sample) {
	const lines = [];
	for (const { name, cpus, threads } of sample.hosts) {
		lines.push({
			label: name,
			depth: 0,
			cpu: [],
			thread: []
		});
		for (const { cpu, parts } of cpus) lines.push({
			label: `CPU ${cpu}`,
			depth: 1,
			cpu: parts,
			thread: []
		});
		for (const { label, tid, parts } of threads) lines.push({
			label: `${label} ${tid}`,
			depth: 1,
			cpu: [],
			thread: parts
		});
	}
	return lines.slice(0, MAX_LINES);
}
/** For those who do not see it: how busy it was on average. */
function inWords({ label, cpu, thread }) {
	const parts = cpu.length > 0 ? cpu : thread, all = parts.reduce((sum, part) => sum + part[2] - part[0], 0);
	if (parts.length === 0) return label;
	const busy = parts.reduce((sum, part) => sum + (part[2] - part[0]) * (1e3 - part[3]), 0);
	return cpu.length > 0 ? `${label} ${Math.round(busy / Math.max(1, all) / 10)} % busy` : label;
}
// src/scrollbar.ts
var Scrollbar = class {
	inner = h("div");
	element = h("div", {
		class: "scrollbar",
		"aria-hidden": "true",
		tabindex: -1
	}, this.inner);
	constructor(layout) {
		this.element.addEventListener("scroll", () => {
			if (this.element.scrollTop !== layout.scrollTop) layout.scrollTo(this.element.scrollTop);
		});
		let fixed = -1, full = -1;
		layout.watch(() => {
			if (fixed !== layout.fixed) this.element.style.marginTop = `${34 + (fixed = layout.fixed)}px`;
			if (full !== layout.full) this.inner.style.height = `${full = layout.full}px`;
			if (this.element.scrollTop !== layout.scrollTop) this.element.scrollTop = layout.scrollTop;
		});
	}
};
// src/search.ts
var REST_MS$2 = 120;
/** Names of states as people type them, by style. */
var STATES = [
	["unknown"],
	["usermode", "user"],
	["syscall", "call"],
	["interrupted"],
	[
		"wait-cpu",
		"waiting",
		"preempted"
	],
	["blocked", "sleeping"],
	["wait-fork"],
	["dead"],
	["running"],
	["idle"],
	["irq", "interrupt"],
	["softirq"],
	["disk-read", "read"],
	["disk-write", "write"],
	["phase"]
];
/** What makes a text an expression. */
var COMPARES = /[=<>]|&&|\|\||\s(matches|contains|present)(\s|$)/;
function parseQuery(text) {
	const query = {
		expression: null,
		words: [],
		pattern: null,
		host: [],
		pid: [],
		tid: [],
		kind: [],
		states: [],
		wrong: ""
	};
	const regular = /(?:^|\s)\/(.+)\/(?:\s|$)/.exec(text);
	if (regular !== null) {
		try {
			query.pattern = new RegExp(regular[1], "i");
		} catch {
			query.wrong = `/${regular[1]}/ is no regular expression`;
		}
		text = text.replace(regular[0], " ");
	}
	if (COMPARES.test(text)) {
		query.expression = text.trim();
		return query;
	}
	for (const word of text.toLowerCase().split(/\s+/)) {
		const [, key, value] = /^(host|pid|tid|kind|state):(.*)$/.exec(word) ?? [];
		if (key === void 0 || value === void 0) {
			if (word !== "") query.words.push(word);
			continue;
		}
		if (value === "") continue;
		if (key !== "state") {
			query[key].push(value);
			continue;
		}
		const styles = STATES.flatMap((names, style) => names.some((name) => name.startsWith(value)) ? [style] : []);
		if (styles.length === 0) query.wrong = `No state “${value}”: ${STATES.map((names) => names[0]).join(", ")}`;
		query.states.push(...styles);
	}
	return query;
}
var Search = class {
	view;
	rows;
	tree;
	navigation;
	input = h("input", {
		type: "search",
		class: "search",
		placeholder: "Search rows  ( / )",
		"aria-label": "Search rows: words, host:, pid:, tid:, kind:, state:, /regular expression/, or an expression on states",
		spellcheck: "false",
		autocomplete: "off",
		title: "Words, host:h1, pid:199, tid:216, kind:cpu, state:blocked, /regular expression/; or an expression on states: duration > 10ms && state == blocked"
	});
	count = h("span", {
		class: "count",
		"aria-live": "polite"
	});
	list;
	element;
	timer = 0;
	/** What is looked for now. */
	looking = new AbortController();
	runs = 0;
	found = [];
	watchers = /* @__PURE__ */ new Set();
	typers = /* @__PURE__ */ new Set();
	constructor(view, rows, tree, navigation, openList) {
		this.view = view;
		this.rows = rows;
		this.tree = tree;
		this.navigation = navigation;
		this.list = button("list", "All of them, one after the other (n, N)", openList, { hidden: true });
		this.element = h("div", {
			class: "search-box",
			role: "search"
		}, this.input, this.count, this.list);
		this.input.addEventListener("input", () => {
			this.later(REST_MS$2);
			for (const watcher of this.typers) watcher();
		});
		this.input.addEventListener("keydown", (event) => {
			if (event.key === "Enter") {
				this.jump(event.shiftKey ? -1 : 1);
				event.preventDefault();
			}
			if (event.key === "Escape") {
				this.set("");
				this.input.blur();
				tree.focus();
			}
			if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
		});
		view.watch(() => {
			if (this.input.value !== "") this.run();
		}, "rows", "clock");
		view.watch(() => {
			const query = parseQuery(this.input.value);
			if (query.states.length === 0 && query.expression === null) return;
			this.later(360);
		}, "window");
	}
	/** Looks when nothing has changed for a moment; what is looked for now is no longer wanted. */
	later(rest) {
		this.looking.abort();
		clearTimeout(this.timer);
		this.timer = window.setTimeout(() => void this.run(), rest);
	}
	/** Calls `watcher` when a reader types. */
	watchTyping(watcher) {
		this.typers.add(watcher);
	}
	watch(watcher) {
		this.watchers.add(watcher);
	}
	get text() {
		return this.input.value;
	}
	/** No search is running or scheduled. */
	get isIdle() {
		return this.timer === 0 && this.runs === 0;
	}
	set(text) {
		this.input.value = text;
		this.run();
	}
	async run() {
		clearTimeout(this.timer);
		this.timer = 0;
		this.runs += 1;
		await this.look();
		this.runs -= 1;
	}
	async look() {
		this.looking.abort();
		const { signal } = this.looking = new AbortController(), text = this.input.value.trim(), query = parseQuery(text);
		for (const watcher of this.watchers) watcher();
		this.list.hidden = text === "" || query.wrong !== "";
		this.input.classList.toggle("wrong", query.wrong !== "");
		if (query.expression !== null && text !== "") {
			await this.byExpression(query, signal);
			return;
		}
		if (text === "" || query.wrong !== "") {
			this.view.set({
				filter: null,
				found: null
			});
			this.count.textContent = query.wrong;
			this.show([], text === "" ? null : /* @__PURE__ */ new Set(), query);
			return;
		}
		this.view.set({ filter: null });
		let found = this.view.now.rows.filter((row) => this.fits(row, query)).map((row) => row.id), kind = "whole";
		if (query.states.length > 0) {
			this.count.textContent = "…";
			const { window: { begin, end }, clock } = this.view.now, expression = query.states.map((style) => `state == ${STATES[style][0]}`).join(" || ");
			const inState = await api.matching(expression, begin, end, clock, null, signal).catch(() => null);
			if (signal.aborted) return;
			if (inState === null) {
				this.view.set({ found: null });
				this.count.textContent = "the server has no answer";
				return;
			}
			const rows = new Set(inState.rows);
			found = found.filter((row) => rows.has(row));
			({kind} = inState);
		}
		this.view.set({ found });
		this.tell(found.length === 1 ? "1 row" : `${formatCount(found.length)} rows`, found.length, kind);
		this.show(found, new Set(found), query, kind);
	}
	/** Says what was found; where not all states were looked at, that there may be more. */
	tell(found, count, kind) {
		const text = foundText(found, count, kind);
		this.count.textContent = kind === "whole" || kind === "unknown" ? text : `${text}: zoom in for all`;
		const more = `${text}. The window has too many states to look at each: in a shorter one, all are looked at`;
		this.count.title = kind === "whole" ? "" : kind === "unknown" ? TOO_MANY : more;
	}
	/** Rows by what they did: the server looks at their states. */
	async byExpression(query, signal) {
		const { window: { begin, end }, clock } = this.view.now, expression = query.expression;
		this.count.textContent = "…";
		const answer = await api.matching(expression, begin, end, clock, null, signal).catch((error) => error);
		if (signal.aborted) return;
		if (answer instanceof Error) {
			this.input.classList.add("wrong");
			this.count.textContent = this.count.title = answer.message;
			this.view.set({
				filter: null,
				found: null
			});
			return;
		}
		const found = answer, { rows, states, kind } = found;
		this.tell(statesText(found), states, kind);
		this.view.set({
			filter: expression,
			found: null
		});
		this.show(rows, kind === "unknown" ? null : new Set(rows), query, kind);
	}
	show(found, filter, query, kind = "whole") {
		this.found = found;
		this.tree.marked = [
			...query.words,
			...query.host,
			...query.pid,
			...query.tid
		];
		this.rows.setFilter(filter, kind === "whole");
	}
	async jump(by) {
		const { row, selection } = this.view.now;
		await this.run();
		if (this.view.now.row !== row || this.view.now.selection !== selection) return;
		const shown = this.rows.lines.filter((line) => this.rows.matches(line.id)).map((line) => line.id), all = shown.length > 0 ? shown : this.found;
		if (all.length === 0) return;
		const now = all.indexOf(this.view.now.row ?? -1);
		const to = all[now < 0 ? 0 : (now + by + all.length) % all.length];
		this.navigation.go(to, (this.view.now.window.begin + this.view.now.window.end) / 2);
	}
	fits(row, query) {
		const host = this.view.now.experiment?.hosts[row.host]?.name.toLowerCase() ?? "";
		if (!query.host.every((value) => host.includes(value)) || !query.kind.every((value) => row.kind.startsWith(value))) return false;
		if (!query.pid.every((value) => String(row.pid) === value) || !query.tid.every((value) => String(row.tid) === value)) return false;
		const own = `${this.rows.name(row)} ${row.pid ?? ""}`;
		if (query.pattern !== null && !query.pattern.test(own)) return false;
		const parent = this.rows.row(row.parent);
		const around = `${host} ${parent !== void 0 && parent.kind === "process" ? this.rows.name(parent) : ""} ${row.kind} ${own}`.toLowerCase();
		return query.words.every((word) => around.includes(word));
	}
};
// src/stage.ts
/** How often it is asked how far the work is; and until there is a picture. */
var POLL_MS = 400;
var FIRST_POLL_MS = 100;
var RETRY_MS = 2e3;
var WORDS = {
	opening: "Opening the traces",
	synchronizing: "Putting the clocks on one: matching packets",
	indexing: "Indexing: what each thread and CPU did",
	ready: "Ready",
	failed: "The traces cannot be shown"
};
var pause = (ms) => new Promise((done) => setTimeout(done, ms));
var StagePicture = class {
	minimap;
	sample;
	title = h("h2");
	text = h("p", { class: "stage-text" });
	bar = h("progress", { "aria-label": "Progress" });
	overview = h("div", { class: "stage-overview" });
	element = h("main", {
		class: "stage",
		"aria-live": "polite"
	}, this.title, this.bar, this.text, this.overview);
	banner = h("div", {
		class: "banner",
		role: "alert",
		hidden: true
	});
	began = performance.now();
	isLost = false;
	constructor(minimap, sample) {
		this.minimap = minimap;
		this.sample = sample;
	}
	/** Asks until the traces are indexed; shows how far that is. Gives null if they cannot be shown. */
	async untilReady(seen) {
		let hasOverview = false;
		this.show("Opening the traces", "", null);
		for (;;) {
			const experiment = await api.experiment().catch((error) => error);
			if (experiment instanceof Error) {
				this.show(experiment instanceof ApiError && experiment.status > 0 ? "The server refuses" : "The server does not answer", experiment.message, null);
				await pause(RETRY_MS);
				continue;
			}
			seen(experiment);
			const { stage } = experiment;
			if (stage.name === "ready" && experiment.hosts.length > 0) return experiment;
			if (experiment.grows && (stage.name === "ready" || stage.name === "failed")) {
				this.show("Nothing has come yet", stage.message, null);
				await pause(RETRY_MS);
				continue;
			}
			if (stage.name === "ready") {
				this.show("These traces hold no events", `Nothing was recorded in ${experiment.traces.join(", ")}. \`isochrone info ${experiment.traces[0] ?? "TRACE"}\` says what is in a trace, and what is missing.`, null);
				this.bar.hidden = true;
				return null;
			}
			if (stage.name === "failed") {
				this.show(WORDS.failed, `${stage.message}\nIt was started as: ${experiment.command}`, null);
				this.bar.hidden = true;
				return null;
			}
			if (!hasOverview) {
				await this.minimap.load();
				hasOverview = (this.minimap.overview?.hosts.length ?? 0) > 0;
				if (hasOverview) this.overview.replaceChildren(this.minimap.element, this.sample.element);
			}
			if (hasOverview && !this.sample.isThere) await this.sample.load(this.minimap.overview);
			this.show(WORDS[stage.name], this.progress(stage), stage.total > 0 ? stage.done / stage.total : null);
			await pause(this.sample.isThere ? POLL_MS : FIRST_POLL_MS);
		}
	}
	progress({ done, total, message }) {
		const parts = [message];
		if (total > 0) parts.push(`${formatBytes(done)} of ${formatBytes(total)}`);
		parts.push(formatDuration(performance.now() - this.began < 1e3 ? null : (performance.now() - this.began) * 1e6));
		return parts.filter((part) => part !== "" && part !== "–").join(", ");
	}
	show(title, text, share) {
		this.title.textContent = title;
		this.text.textContent = text;
		if (share === null) this.bar.removeAttribute("value");
		else this.bar.value = share;
	}
	/** Says something above what is shown. */
	say(message) {
		this.banner.textContent = message;
		this.banner.hidden = false;
	}
	/** The server is gone: says so above what is shown, and asks until it is back. */
	async lost(message, back) {
		if (this.isLost) return;
		this.isLost = true;
		this.banner.textContent = message;
		this.banner.hidden = false;
		for (;;) {
			await pause(RETRY_MS);
			const experiment = await api.experiment().catch(() => null);
			if (experiment !== null && experiment.stage.name === "ready") break;
			if (experiment !== null) this.banner.textContent = `${WORDS[experiment.stage.name]} …`;
		}
		this.isLost = false;
		this.banner.hidden = true;
		back();
	}
};
// src/status.ts
/** How long an answer stays before the state comes back. */
var ANSWER_MS = 5e3;
var Status = class {
	heading = h("span", { class: "about" });
	live = h("span", {
		class: "answer",
		role: "status",
		"aria-live": "polite"
	});
	right = h("span", { class: "right" });
	element = h("footer", { class: "status" }, this.heading, this.live, this.right);
	timer = 0;
	/** What is under the pointer: not spoken, it changes with each move. */
	show(text) {
		if (this.heading.textContent !== text) this.heading.textContent = text;
	}
	/** What was selected or answered: spoken. */
	say(text, isWrong = false) {
		this.live.textContent = text;
		this.live.classList.toggle("wrong", isWrong);
		clearTimeout(this.timer);
		this.timer = window.setTimeout(() => {
			this.live.textContent = "";
		}, isWrong ? 2 * ANSWER_MS : ANSWER_MS);
	}
	/** What is going on, at the right. */
	note(text) {
		if (this.right.textContent !== text) this.right.textContent = text;
	}
};
// src/timeField.ts
var KEPT = "isochrone.times";
var EXAMPLES = "06:11:28.259, 06:11:28.25 .. 06:11:28.3, 2.3s .. +40ms (since the begin), 1795155088.259 or 1795155088259000000 (Unix), h2 raw 123456789 (ns of a host's own clock)";
var TimeField = class {
	view;
	navigation;
	status;
	format = TIME_FORMATS.find((it) => it === localStorage.getItem(KEPT)) ?? "UTC";
	input = h("input", {
		class: "times",
		"aria-label": "Window, or an instant to go to",
		title: `Type an instant or a window, Enter goes there, Shift and Enter selects it (t): ${EXAMPLES}`,
		spellcheck: "false",
		autocomplete: "off"
	});
	formats = h("select", {
		"aria-label": "Times are",
		title: "How times are read and shown, on all of the page"
	}, ...TIME_FORMATS.map((it) => h("option", {
		value: it,
		selected: it === this.format
	}, it)));
	element = h("span", { class: "time-field" }, this.input, this.formats);
	constructor(view, navigation, status) {
		this.view = view;
		this.navigation = navigation;
		this.status = status;
		this.formats.addEventListener("change", () => {
			localStorage.setItem(KEPT, this.formats.value);
			this.give(this.formats.value);
		});
		view.watch(() => this.apply(), "experiment", "clock");
		this.input.addEventListener("keydown", (event) => {
			if (event.key === "Enter") {
				this.go(event.shiftKey);
				event.preventDefault();
			}
			if (event.key === "Escape") this.input.blur();
			if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
		});
		this.input.addEventListener("input", () => this.input.classList.remove("wrong"));
		this.input.addEventListener("focus", () => this.input.select());
		this.input.addEventListener("blur", () => this.show());
		view.watch(() => {
			if (document.activeElement !== this.input) this.show();
		}, "window", "experiment", "clock");
	}
	/** How instants are shown. */
	get chosen() {
		return this.format;
	}
	/** Shows instants as an address asks for; what a reader chose for other pages stays that. */
	give(format) {
		if (format === null) return;
		this.format = this.formats.value = format;
		this.apply();
		this.show();
	}
	/** From now on, all instants are shown so. */
	apply() {
		shownAs.format = this.format;
		shownAs.begin = this.navigation.bounds.begin;
		this.view.set({ times: `${this.format} ${shownAs.begin}` });
	}
	focus() {
		this.input.focus();
	}
	get base() {
		const { experiment, window } = this.view.now;
		return experiment?.origin_unix_ns == null ? null : {
			origin: experiment.origin_unix_ns,
			begin: this.navigation.bounds.begin,
			near: (window.begin + window.end) / 2,
			format: this.format
		};
	}
	show() {
		this.input.classList.remove("wrong");
		if (this.base !== null) this.input.value = timesText(this.view.now.window, this.base);
	}
	/** What was typed; raw times of a host are asked of the server. */
	async typed() {
		const text = this.input.value, of = parseRaw(text), host = this.view.now.experiment?.hosts.find((it) => it.name === of?.host);
		if (of === null || host === void 0) return this.base === null ? null : parseTimes(text, this.base);
		const [begin, end] = await Promise.all(of.raw.map((raw) => api.raw(host.host, raw).then((at) => at[this.view.now.clock], () => null)));
		return begin === null || begin === void 0 || end === null || end !== void 0 && end <= begin ? null : {
			begin,
			end: end ?? begin
		};
	}
	/** Goes to what was typed; `isSelected`: selects it, too. */
	async go(isSelected) {
		const times = await this.typed(), { begin, end } = this.navigation.bounds;
		this.input.classList.toggle("wrong", times === null);
		if (times === null) {
			this.status.say(`That is no instant and no window, as these are: ${EXAMPLES}`, true);
			return;
		}
		if (times.end < begin || times.begin > end) {
			this.status.say("Nothing was recorded at that time.", true);
			return;
		}
		const window = this.navigation.window, half = (window.end - window.begin) / 2;
		if (isSelected && times.end > times.begin) this.view.set({
			selection: { ...times },
			chosen: this.view.now.chosen + 1
		});
		if (times.end > times.begin && !(isSelected && times.begin >= window.begin && times.end <= window.end)) this.navigation.set(times, "glide");
		else if (times.end > times.begin) {
			this.input.blur();
			return;
		} else {
			this.view.set({ selection: { ...times } });
			this.navigation.set({
				begin: times.begin - half,
				end: times.begin + half
			}, "glide");
		}
		this.input.blur();
	}
};
// src/tooltip.ts
/** The pointer has to rest this long before the server is asked. */
var REST_MS$1 = 140;
var Tooltip = class {
	view;
	rows;
	graph;
	clock;
	status;
	element = h("div", {
		class: "tooltip",
		role: "tooltip",
		hidden: true
	});
	timer = 0;
	stop = null;
	shown = "";
	exact = null;
	placed = [0, 0];
	constructor(view, rows, graph, clock, status) {
		this.view = view;
		this.rows = rows;
		this.graph = graph;
		this.clock = clock;
		this.status = status;
	}
	hide() {
		this.element.hidden = true;
		this.shown = "";
		clearTimeout(this.timer);
		this.stop?.abort();
	}
	/** The pointer has left the graph. */
	leave() {
		this.hide();
		this.status.show("");
	}
	/** Tells of the state of a row at a time, beside a place of the page. */
	state(row, at, x, y) {
		const it = this.rows.row(row), { clock } = this.view.now;
		if (it === void 0) {
			this.hide();
			return;
		}
		const here = this.graph.stateAt(row, at), key = `${clock} ${row} ${here?.begin ?? "-"} ${here?.end ?? Math.floor(at)}`;
		if (key !== this.shown) {
			this.shown = key;
			this.exact = null;
			clearTimeout(this.timer);
			this.stop?.abort();
			this.timer = window.setTimeout(() => void this.ask(row, at, key), REST_MS$1);
		}
		const name = this.rows.fullName(it);
		if (here === null && this.exact === null) {
			const isAlive = it.begin === void 0 || it.end === void 0 || clock === "own" || at >= it.begin && at < it.end;
			const text = this.missing(it, at) ?? (isAlive ? "nothing known" : "not alive");
			this.fill(name, null, text, [], at);
			this.status.show(`${name}: ${text}`);
		} else {
			const about = this.exact === null ? "≈ " : "", state = this.exact?.state ?? look(here.style).name, begin = this.exact?.begin ?? here.begin, end = this.exact?.end ?? here.end;
			const label = this.exact === null ? here.label : "";
			this.fill(name, this.exact?.style ?? here.style, label === "" ? state : `${state}: ${label}`, [
				["since", about + formatDuration(at - begin)],
				["lasts", about + formatDuration(end - begin)],
				...this.exact?.fields ?? [],
				...this.further(it, at)
			], at);
			this.tell(name, label === "" ? state : `${state} ${label}`, begin, end, this.exact !== null);
		}
		this.place(x, y);
	}
	/** A step of the critical path. */
	step({ row, host, begin, end, cause, detail, uncertainty_ns }, at, x, y) {
		const it = this.rows.row(row), moved = -this.clock.convert(host, "common"), name = it === void 0 ? "" : this.rows.fullName(it), text = causeWord(cause);
		this.hide();
		const fields = [["since", formatDuration(at + moved - begin)], ["lasts", formatDuration(end - begin)]];
		if (detail !== "") fields.push(["detail", detail]);
		if (uncertainty_ns !== null) fields.push(["clocks leave open", `± ${formatDuration(uncertainty_ns)}`]);
		this.fill(name, causeStyle(cause), text, fields, at);
		this.status.show(`${name}: ${text}, ${formatDuration(end - begin)} of the critical path`);
		this.place(x, y);
	}
	/** A counter of a host. */
	counter(line, at, x, y) {
		const host = this.view.now.experiment?.hosts[line.host]?.name ?? "", text = this.graph.counters.text(line.id, at + this.clock.back(line.host)) ?? "";
		this.hide();
		this.fill(`${host} ${line.label}`, null, text, [], at);
		this.status.show(`${host} ${line.label}: ${text}`);
		this.place(x, y);
	}
	message(message, x, y) {
		const [from, to, sent, received, likely, low, high, isInverted] = message, a = this.rows.row(from), b = this.rows.row(to);
		if (a === void 0 || b === void 0) return;
		this.hide();
		const taken = received - sent, name = `${this.rows.fullName(a)} → ${this.rows.fullName(b)}`;
		const fields = [["sent", formatTime(this.origin, sent)], ["received", formatTime(this.origin, received)]];
		if (low !== null && high !== null) fields.push(["surely", `${formatDuration(taken + low)} … ${formatDuration(taken + high)}`]);
		if (likely !== null) fields.push(["likely", `± ${formatDuration(likely)}`]);
		const text = isInverted === 1 ? `received ${formatDuration(-taken)} before it was sent` : `message, ${formatDuration(taken)}`;
		this.fill(name, null, text, fields, null);
		this.status.show(`${name}: ${text}`);
		this.place(x, y);
	}
	/** Says a state in the status line; of one that is cut at pixels, no digits that are not known. */
	tell(name, state, begin, end, isExact) {
		const { window } = this.view.now, places = isExact ? 9 : placesFor((window.end - window.begin) / 1e3);
		this.status.show(`${name}: ${state}, ${isExact ? "" : "≈ "}${formatDuration(end - begin)} from ${formatTime(this.origin, begin, places)}`);
	}
	/** What is missing of a row's host, or of its CPU, at an instant: null if nothing is. */
	missing(it, at) {
		const losses = lossesAt(this.graph.losses, it.host, it.cpu ?? null, at + this.clock.back(it.host));
		return losses.length === 0 ? null : losses.slice(0, 3).map((loss) => `${it.cpu === void 0 && loss.cpu !== null ? `CPU ${loss.cpu}: ` : ""}${lossText(loss)}`).join("; ");
	}
	further(it, at) {
		const missing = this.missing(it, at), meanwhile = this.exact?.meanwhile;
		return [...meanwhile === void 0 ? [] : [["ran instead", meanwhileText(meanwhile)]], ...missing === null ? [] : [["missing", missing]]];
	}
	get origin() {
		return this.view.now.experiment?.origin_unix_ns ?? null;
	}
	async ask(row, at, key) {
		this.stop = new AbortController();
		const exact = await api.state(row, at, this.view.now.clock, this.stop.signal).catch(() => null);
		if (exact === null || key !== this.shown) return;
		this.exact = exact;
		const it = this.rows.row(row);
		const times = [["own clock", exact.times.own], ["common clock", exact.times.common]];
		if (exact.times.sure !== void 0) times.push(["surely within", exact.times.sure]);
		if (exact.times.likely !== void 0) times.push(["likely within", exact.times.likely]);
		this.fill(this.rows.fullName(it), exact.style, exact.state, [
			["begin", formatTime(this.origin, exact.begin)],
			["lasts", formatDuration(exact.end - exact.begin)],
			...exact.fields,
			...this.further(it, at),
			...times
		], at);
		this.tell(this.rows.fullName(it), exact.state, exact.begin, exact.end, true);
		this.place(...this.placed);
	}
	fill(name, style, state, fields, at) {
		const list = h("dl");
		for (const [key, value] of fields) list.append(h("dt", {}, key), h("dd", {}, value));
		const colour = h("span", { class: "swatch" });
		if (style !== null) colour.style.background = stateColour(style);
		this.element.replaceChildren(h("strong", {}, name), h("p", {}, ...style === null ? [] : [colour], state), list);
		if (at !== null) this.element.append(h("p", { class: "when" }, formatTime(this.origin, at)));
	}
	place(x, y) {
		this.element.hidden = false;
		this.placed = [x, y];
		const { offsetWidth: width, offsetHeight: height } = this.element;
		const left = x + 16 + width > innerWidth ? x - width - 12 : x + 16;
		const top = Math.max(4, Math.min(y + 18, innerHeight - height - 8));
		this.element.style.transform = `translate(${Math.max(4, Math.round(left))}px, ${Math.round(top)}px)`;
	}
};
// src/sameNames.ts
var made = /* @__PURE__ */ new WeakMap();
/** The shortest part of the directory of a host's traces that other hosts of its name do not have; "" where it is the only one of its name. */
function directoryOf(hosts, host) {
	let all = made.get(hosts);
	if (all === void 0) made.set(hosts, all = directories(hosts));
	return all.get(host) ?? "";
}
function directories(hosts) {
	const named = /* @__PURE__ */ new Map(), found = /* @__PURE__ */ new Map();
	for (const host of hosts) {
		const name = host.name.replace(/#\d+$/, "");
		named.set(name, [...named.get(name) ?? [], host]);
	}
	for (const same of named.values()) {
		const paths = same.map((host) => (host.traces[0] ?? "").split("/")), first = paths[0], shortest = Math.min(...paths.map((path) => path.length));
		if (same.length < 2) continue;
		let left = 0, right = 0;
		while (left < shortest && paths.every((path) => path[left] === first[left])) left += 1;
		while (right < shortest - left && paths.every((path) => path.at(-1 - right) === first.at(-1 - right))) right += 1;
		same.forEach((host, place) => found.set(host.host, paths[place].slice(left, paths[place].length - right).join("/") || (paths[place].at(-1) ?? "")));
	}
	return found;
}
// src/tree.ts
/** Rows above and below the screen that are elements, too. */
var MARGIN = 3;
var INDENT = 14;
var Tree = class {
	view;
	rows;
	layout;
	list = h("div", {
		class: "lines",
		role: "tree",
		tabindex: 0,
		"aria-label": "Rows"
	});
	scrolling = h("div", {
		class: "scrolling",
		role: "presentation"
	});
	fixed = h("div", {
		class: "fixed",
		role: "presentation"
	});
	hiddenButton = button("", "Show the hidden rows again", () => this.rows.showHidden());
	sortButton;
	groupButton;
	element;
	/** Parts of names that were searched for. */
	marked = [];
	/** The elements that there are, by the line's number. */
	items = /* @__PURE__ */ new Map();
	/** The line that the keyboard is on: a row's number, or a fold. */
	active = null;
	/** The line from which rows are selected. */
	anchor = 0;
	constructor(view, rows, layout, sort, group) {
		this.view = view;
		this.rows = rows;
		this.layout = layout;
		this.groupButton = button("services", "Put processes of one name together, those with most messages first; tracer, kernel and devices go to folds (S)", group, { "aria-pressed": "false" });
		this.sortButton = button("by activity", "Sort rows by their CPU time in the window; those with little of it go to a fold (o)", sort, { "aria-pressed": "false" });
		const head = h("div", { class: "tree-head" }, this.groupButton, this.sortButton, button("collapse", "Collapse or expand all hosts (X)", () => this.rows.collapseAll()), this.hiddenButton);
		head.style.height = `34px`;
		this.list.append(this.scrolling, this.fixed);
		this.element = h("nav", {
			class: "tree",
			"aria-label": "Hosts, processes and threads"
		}, head, this.list);
		rows.watch(() => this.draw());
		layout.watch(() => this.draw());
		view.watch(() => {
			if (this.view.now.row !== null) this.active = this.view.now.row;
			this.draw();
		}, "row", "experiment");
		this.list.addEventListener("wheel", (event) => {
			if (event.ctrlKey) return;
			event.preventDefault();
			this.layout.scrollBy(event.deltaY * (event.deltaMode === 1 ? 20 : 1));
		}, { passive: false });
		this.list.addEventListener("click", (event) => this.click(event));
		this.list.addEventListener("keydown", (event) => this.key(event));
		this.list.addEventListener("scroll", () => {
			this.list.scrollTop = 0;
		});
	}
	focus() {
		this.list.focus();
	}
	/** Goes some lines down (or up); ±Infinity: to the last or first. */
	move(by) {
		const { lines } = this.rows;
		if (lines.length === 0) return;
		const now = this.active === null ? -1 : this.rows.placeOf(this.active) ?? this.rows.lineOf(this.active);
		const from = now < 0 && Number.isFinite(by) ? this.layout.shown().first - Math.sign(by) : now;
		const place = Math.max(0, Math.min(from + by, lines.length - 1));
		this.choose(lines[place]);
		this.layout.see(place);
	}
	/** Makes the selection one of the rows from where that began to a line further up or down. */
	extend(by) {
		const { lines } = this.rows, from = this.active === null ? -1 : this.rows.placeOf(this.active) ?? -1, place = Math.max(0, Math.min(from + by, lines.length - 1));
		if (from < 0) {
			this.move(by);
			return;
		}
		if (this.view.now.area === null) this.anchor = from;
		const ids = lines.slice(Math.min(this.anchor, place), Math.max(this.anchor, place) + 1).flatMap((line) => this.rows.idsOf(line));
		this.active = lines[place].id;
		this.view.set({
			area: new Set(ids),
			chosen: this.view.now.chosen + 1
		});
		this.layout.see(place);
		this.draw();
	}
	choose(line) {
		this.active = line.id;
		const row = line.row === null ? pathRow(this.view.now.path, line.id)?.row ?? null : line.id;
		this.view.set({
			row,
			selection: row === this.view.now.row ? this.view.now.selection : null
		});
		this.active = line.id;
		this.draw();
	}
	renew(renewal) {
		if (this.active !== null) this.active = this.active >= 0 ? renewal.row(this.active) : null;
	}
	get activeLine() {
		return this.active === null ? null : this.rows.lines[this.rows.placeOf(this.active) ?? -1] ?? null;
	}
	/** As in all trees: left closes a line or goes to the one around it, right opens it. Elsewhere these keys pan. */
	key(event) {
		const line = this.activeLine;
		if (line === null || event.key !== "ArrowLeft" && event.key !== "ArrowRight" || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
		event.preventDefault();
		if (line.expandable && line.expanded !== (event.key === "ArrowRight")) this.rows.toggle(line.id);
		else if (event.key === "ArrowRight") this.move(1);
		else if (line.row !== null && line.row.parent !== null) this.move(this.rows.lineOf(line.row.parent) - this.rows.placeOf(line.id));
	}
	click(event) {
		const target = event.target, item = target.closest("[data-id]");
		if (item === null) return;
		const id = Number(item.dataset.id), what = target.closest("[data-do]")?.dataset.do;
		if (what === "pin") this.rows.pin(id);
		else if (what === "hide") this.rows.hide(id);
		else if (what === "toggle" || id < 0 && id >= -1e6 && counterOf(id) === null || id <= -2e6) this.rows.toggle(id);
		else {
			const line = this.rows.lines[this.rows.placeOf(id) ?? -1];
			if (line !== void 0) this.choose(line);
		}
	}
	draw() {
		const { first, last } = this.layout.shown(MARGIN), pinned = this.rows.pinnedCount, items = [], before = new Map(this.items);
		this.items.clear();
		for (let place = first; place < last; place += 1) items.push(this.kept(place, before));
		replace(this.scrolling, items);
		replace(this.fixed, Array.from({ length: pinned }, (_, place) => this.kept(place, before)));
		this.fixed.style.height = `${this.layout.fixed}px`;
		if ((this.active === null ? void 0 : this.rows.placeOf(this.active)) === void 0) this.list.removeAttribute("aria-activedescendant");
		else this.list.setAttribute("aria-activedescendant", `line${this.active}`);
		this.groupButton.setAttribute("aria-pressed", String(this.rows.isGrouped));
		this.sortButton.setAttribute("aria-pressed", String(this.rows.isSorted));
		this.hiddenButton.hidden = this.rows.hiddenCount === 0;
		this.hiddenButton.textContent = `${formatCount(this.rows.hiddenCount)} hidden`;
	}
	/** The element of a line: that of before, moved, where it looks the same. While rows are scrolled, most do. */
	kept(place, before) {
		const line = this.rows.lines[place], marked = this.marked.join("\n"), isActive = line.id === this.active;
		const beside = this.beside(line), directory = this.directory(line);
		const old = before.get(line.id);
		const isSame = old !== void 0 && old.line === line && old.marked === marked && old.isActive === isActive && old.beside === beside && old.directory === directory;
		const element = isSame ? old.element : this.item(line, beside, directory), top = this.layout.top(place);
		if (!isSame || old.top !== top) element.style.transform = `translateY(${top}px)`;
		this.items.set(line.id, {
			line,
			marked,
			isActive,
			directory,
			beside,
			top,
			element
		});
		return element;
	}
	item(line, beside, directory) {
		const { row } = line;
		const item = h("div", {
			class: `line ${row?.kind ?? (line.id === -1e6 ? "host path" : line.id <= -2e6 ? line.sources.length > 0 ? "group" : "fold" : line.id < -1e6 ? "path" : counterOf(line.id) !== null ? "counter" : "fold")}`,
			role: "treeitem",
			id: `line${line.id}`,
			"data-id": line.id,
			"aria-level": line.depth + 1,
			"aria-expanded": line.expandable ? String(line.expanded) : null,
			"aria-selected": String(line.id === this.active)
		});
		item.style.paddingLeft = `${4 + line.depth * INDENT}px`;
		const name = h("span", {
			class: "name",
			title: this.title(line)
		});
		name.append(...this.highlighted(line.label));
		if (directory !== "") name.append(h("span", { class: "directory" }, directory));
		item.append(h("span", {
			class: "twist",
			"data-do": line.expandable ? "toggle" : null,
			"aria-hidden": "true"
		}, line.expandable ? line.expanded ? "▾" : "▸" : ""), name);
		if (beside !== "") item.append(h("span", { class: "beside" }, beside));
		if (row !== null && row.kind !== "host") item.append(h("span", {
			class: "acts",
			"aria-hidden": "true"
		}, h("span", {
			"data-do": "pin",
			title: line.pinned ? "Unpin (p)" : "Pin to the top (p)"
		}, line.pinned ? "⊖" : "⊕"), h("span", {
			"data-do": "hide",
			title: "Hide (h)"
		}, "×")));
		return item;
	}
	/** What tells a host from others of its name. */
	directory(line) {
		return line.row?.kind === "host" ? directoryOf(this.view.now.experiment?.hosts ?? [], line.host) : "";
	}
	beside(line) {
		if (line.row?.kind !== "host") return "";
		const host = this.view.now.experiment?.hosts[line.host];
		if (host === void 0) return "";
		if (host.is_reference) return "reference";
		return host.likely_ns === null ? host.sure_ns === null ? "unsynchronized" : `sure ± ${formatDuration(host.sure_ns)}` : `± ${formatDuration(host.likely_ns)}`;
	}
	title(line) {
		const { row } = line, host = this.view.now.experiment?.hosts[line.host];
		if (counterOf(line.id) !== null) return `${line.label} of ${host?.name ?? "this host"}: means over steps of about a pixel`;
		if (line.id <= -2e6) return line.sources.length > 0 ? `${line.label}: ${line.label.startsWith("container ") ? "processes of one pid namespace" : "processes of one name"} on ${host?.name ?? "this host"}, drawn over each other; ▸ shows each` : `${line.label} of ${host?.name ?? "this host"}`;
		if (line.id < -1e6) return `${line.label}: its steps of the critical path, by cause`;
		if (line.id === -1e6) return "The threads that the path goes through, in the order in which it comes to them; colours are causes";
		if (row === null) return `Processes and threads of ${host?.name ?? "this host"} that had little or no CPU time when rows were sorted`;
		if (row.kind === "host") {
			const clock = host?.is_reference ? "its clock is the common one" : `its clock is right to ± ${formatDuration(host?.likely_ns)} (likely), ± ${formatDuration(host?.sure_ns)} (surely)`;
			return [`${row.label}: ${clock}`, ...host?.traces ?? []].join("\n");
		}
		return [
			this.rows.fullName(row),
			row.pid === void 0 ? "" : `process ${row.pid}`,
			row.tid === void 0 ? "" : `thread ${row.tid}`
		].filter((text) => text !== "").join(", ");
	}
	highlighted(text) {
		const lower = text.toLowerCase();
		let from = -1, word = "";
		for (const it of this.marked) {
			const at = lower.indexOf(it);
			if (it !== "" && at >= 0 && (from < 0 || at < from)) {
				from = at;
				word = it;
			}
		}
		if (from < 0) return [text];
		return [
			text.slice(0, from),
			h("mark", {}, text.slice(from, from + word.length)),
			text.slice(from + word.length)
		];
	}
};
/** Gives an element these children, in this order; those that it has already stay where they are. */
function replace(parent, children) {
	const wanted = new Set(children);
	for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
	let at = parent.firstElementChild;
	for (const child of children) if (child === at) at = at.nextElementSibling;
	else parent.insertBefore(child, at);
}
// src/url.ts
var REST_MS = 250;
var TIMES = {
	UTC: "UTC",
	local: "local",
	begin: "since begin",
	Unix: "Unix"
};
var LISTS = {
	collapsed: "x",
	unfolded: "u",
	pinned: "p",
	hidden: "h"
};
/** [1, 2, 3, 7] → "1-3.7". */
function packIds(ids, isOrdered) {
	const list = isOrdered ? ids : [...ids].sort((a, b) => a - b), parts = [];
	for (let at = 0; at < list.length; at += 1) {
		const first = list[at];
		while (!isOrdered && list[at + 1] === list[at] + 1) at += 1;
		parts.push(list[at] === first ? `${first}` : `${first}-${list[at]}`);
	}
	return parts.join(".");
}
function unpackIds(text) {
	const ids = [];
	for (const part of (text ?? "").split(".")) {
		const [, first, last] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
		if (first === void 0) continue;
		for (let id = Number(first); id <= Number(last ?? first) && ids.length < 1e5; id += 1) ids.push(id);
	}
	return ids;
}
function packRange(range) {
	return `${Math.round(range.begin)},${Math.round(range.end)}`;
}
function unpackRange(text) {
	const [, begin, end] = /^(-?\d+),(-?\d+)$/.exec(text ?? "") ?? [];
	return begin !== void 0 && end !== void 0 && Number(begin) <= Number(end) ? {
		begin: Number(begin),
		end: Number(end)
	} : null;
}
/** `t=System calls~time~down`. */
function unpackOrders(texts) {
	return Object.fromEntries(texts.flatMap((text) => {
		const [, table, column, to] = /^([^~]+)~([^~]+)~(up|down)$/.exec(text) ?? [];
		return table === void 0 ? [] : [[table, {
			column,
			isDown: to === "down"
		}]];
	}));
}
/** `k=messages~inverted~h1`. */
function unpackOthers(texts) {
	return Object.fromEntries(texts.flatMap((text) => {
		const [, panel, kept] = /^([a-z-]+)~(.+)$/s.exec(text) ?? [];
		return panel === void 0 ? [] : [[panel, kept]];
	}));
}
/** `request=14`, or `path=` row, begin and end. */
function unpackPath(values) {
	const request = values.get("request"), [, row, begin, end] = /^(\d+),(-?\d+),(-?\d+)$/.exec(values.get("path") ?? "") ?? [];
	if (request !== null && /^\d+$/.test(request)) return { request: Number(request) };
	return row === void 0 ? null : {
		row: Number(row),
		begin: Number(begin),
		end: Number(end)
	};
}
/** Takes the token out of the address: the cookie has it now, and addresses end up in histories and over shoulders. */
function hideToken() {
	const address = new URL(location.href);
	if (!address.searchParams.has("token")) return;
	address.searchParams.delete("token");
	history.replaceState(history.state, "", address);
}
function readAddress(hash) {
	const values = new URLSearchParams(hash.replace(/^#/, "")), row = values.get("r"), sorted = values.get("sort");
	const bookmarks = [];
	for (const text of values.getAll("b")) {
		const [, at, mark, clock, span, name] = /^(-?\d+)~(\d*)~([co])~(\d+)~(.*)$/.exec(text) ?? [];
		if (at !== void 0) bookmarks.push({
			at: Number(at),
			row: mark === "" ? null : Number(mark),
			clock: clock === "o" ? "own" : "common",
			span: Number(span),
			name: name ?? ""
		});
	}
	return {
		of: values.get("of"),
		window: unpackRange(values.get("w")),
		selection: unpackRange(values.get("s")),
		area: unpackIds(values.get("a")),
		row: row !== null && /^\d+$/.test(row) ? Number(row) : null,
		clock: values.get("c") === "own" ? "own" : "common",
		drawer: values.get("d"),
		inner: values.get("i") ?? "",
		search: values.get("q") ?? "",
		isByCpu: values.get("by") === "cpu",
		sorted: sorted === "0" ? false : unpackRange(sorted),
		arrows: {
			messages: values.get("m") !== "0",
			wakeups: values.get("wake") === "1"
		},
		rows: {
			collapsed: unpackIds(values.get("x")),
			unfolded: unpackIds(values.get("u")),
			pinned: unpackIds(values.get("p")),
			hidden: unpackIds(values.get("h"))
		},
		others: unpackOthers(values.getAll("k")),
		times: TIMES[values.get("time") ?? ""] ?? null,
		legend: values.has("legend") ? values.get("legend") !== "0" : null,
		only: unpackIds(values.get("o")),
		bookmarks,
		path: unpackPath(values),
		isPathClosed: values.get("pc") === "1",
		orders: unpackOrders(values.getAll("t")),
		theme: values.get("theme") === "dark" ? "dark" : values.get("theme") === "light" ? "light" : null,
		isClear: values.get("eyes") === "all"
	};
}
function writeAddress(place) {
	const values = new URLSearchParams();
	if (place.of !== null) values.set("of", place.of);
	if (place.window !== null) values.set("w", packRange(place.window));
	if (place.selection !== null) values.set("s", packRange(place.selection));
	if (place.area.length > 0) values.set("a", packIds(place.area, false));
	if (place.row !== null) values.set("r", String(place.row));
	if (place.clock === "own") values.set("c", "own");
	if (place.path !== null && "request" in place.path) values.set("request", String(place.path.request));
	else if (place.path !== null) values.set("path", `${place.path.row},${place.path.begin},${place.path.end}`);
	if (place.isPathClosed) values.set("pc", "1");
	values.set("d", place.drawer ?? "");
	if (place.inner !== "") values.set("i", place.inner);
	for (const [panel, kept] of Object.entries(place.others)) if (kept !== "") values.append("k", `${panel}~${kept}`);
	if (place.search !== "") values.set("q", place.search);
	if (place.sorted !== null) values.set("sort", place.sorted === false ? "0" : packRange(place.sorted));
	if (place.isByCpu) values.set("by", "cpu");
	if (!place.arrows.messages) values.set("m", "0");
	if (place.arrows.wakeups) values.set("wake", "1");
	for (const [list, key] of Object.entries(LISTS)) if (place.rows[list].length > 0) values.set(key, packIds(place.rows[list], list === "pinned"));
	if (place.only.length > 0) values.set("o", packIds(place.only, false));
	for (const [table, { column, isDown }] of Object.entries(place.orders)) values.append("t", `${table}~${column}~${isDown ? "down" : "up"}`);
	for (const [text, format] of Object.entries(TIMES)) if (format === place.times) values.set("time", text);
	if (place.legend !== null) values.set("legend", place.legend ? "1" : "0");
	if (place.theme !== null) values.set("theme", place.theme);
	if (place.isClear) values.set("eyes", "all");
	for (const it of place.bookmarks) values.append("b", `${it.at}~${it.row ?? ""}~${it.clock === "own" ? "o" : "c"}~${Math.round(it.span)}~${it.name}`);
	return `#${values.toString().replace(/%2C/g, ",").replace(/%3A/g, ":").replace(/%7E/g, "~")}`;
}
/** Whether the browser's Back should lead from one place to the one before: another request, clock or rows, or a window that shares less than half with it. */
function isStep(before, after) {
	if (before.clock !== after.clock || JSON.stringify([before.path, before.only]) !== JSON.stringify([after.path, after.only])) return true;
	const [a, b] = [before.window, after.window];
	if (a === null || b === null) return false;
	return Math.min(a.end, b.end) - Math.max(a.begin, b.begin) < Math.max(a.end - a.begin, b.end - b.begin) / 2;
}
/** Keeps the address up to date, not more often than needed; tells of another one that was typed, pasted, or gone back to. */
var Address = class {
	place;
	typed;
	timer = 0;
	/** What the address says; null before it says anything, and while another one is being gone to: that is no step of its own. */
	last = null;
	text = null;
	going = 0;
	constructor(place, typed) {
		this.place = place;
		this.typed = typed;
		addEventListener("popstate", () => {
			if (this.text !== null && location.hash !== this.text) this.go();
		});
	}
	/** It says what is shown. */
	get isIdle() {
		return this.timer === 0 && this.going === 0;
	}
	async go() {
		clearTimeout(this.timer);
		this.timer = 0;
		this.last = null;
		this.going += 1;
		await this.typed(readAddress(location.hash)).finally(() => {
			this.going -= 1;
		});
		if (this.going === 0) this.changed();
	}
	/** Something has changed. */
	changed() {
		clearTimeout(this.timer);
		this.timer = window.setTimeout(() => this.write(), REST_MS);
	}
	write() {
		this.timer = 0;
		if (this.going > 0) return;
		const place = this.place(), text = this.text = writeAddress(place);
		if (this.last !== null && isStep(this.last, place)) history.pushState(null, "", text);
		else history.replaceState(null, "", text);
		this.last = place;
	}
};
// src/view.ts
var View = class {
	state = {
		experiment: null,
		rows: [],
		clock: "common",
		window: {
			begin: 0,
			end: 1
		},
		selection: null,
		isAbout: false,
		row: null,
		hover: null,
		path: null,
		filter: null,
		found: null,
		area: null,
		marks: null,
		times: "",
		chosen: 0,
		onlyRows: null
	};
	watchers = /* @__PURE__ */ new Map();
	get now() {
		return this.state;
	}
	/** Replaces parts, and calls the watchers of one of them. */
	set(asked) {
		const before = this.state, parts = "selection" in asked ? {
			area: null,
			isAbout: asked.selection === before.selection && before.isAbout,
			...asked
		} : asked;
		const changed = new Set(Object.keys(parts).filter((key) => parts[key] !== before[key]));
		if (changed.size === 0) return;
		this.state = {
			...before,
			...parts
		};
		for (const [watcher, keys] of [...this.watchers]) if (keys === null || [...changed].some((key) => keys.has(key))) watcher(this.state, changed);
	}
	/** Calls `watcher` when one of `keys` changes (any, if none are named). Returns a function that stops it. */
	watch(watcher, ...keys) {
		this.watchers.set(watcher, keys.length > 0 ? new Set(keys) : null);
		return () => this.watchers.delete(watcher);
	}
	/** The selected time, else the window. */
	get range() {
		return this.state.selection ?? this.state.window;
	}
};
// src/main.ts
var TREE_WIDTH = "isochrone.tree";
var PATH_PANEL = "critical-path";
/** Pages lower than this begin without the drawer. */
var ROOM_FOR_DRAWER = 600;
/** How much of the store's name is in the address. */
var OF_LENGTH = 8;
/** How long it is said that there are other traces. */
var OTHERS_MS = 2e3;
var view = new View();
var rows = new Rows(view);
var layout = new Layout(rows);
var navigation = new Navigation(view, rows, layout);
var clock = new ClockSwitch(view, navigation);
var bookmarks = new Bookmarks(view);
var status = new Status();
var legend = new Legend();
var minimap = new Minimap(view, navigation, clock, status);
var stage = new StagePicture(minimap, new SamplePicture(view));
var activity = new Activity(view, rows, layout, status);
var tree = new Tree(view, rows, layout, () => void activity.toggle(), () => void activity.group());
var graph = new Graph(view, rows, layout, clock, bookmarks, noteFailure, (names) => legend.name(names));
var search = new Search(view, rows, tree, navigation, () => drawer.open("matches"));
var drawer = new Drawer(panels.map((make) => make(view, navigation)));
var timeField = new TimeField(view, navigation, status);
var inspector = new Inspector(view, rows, graph, navigation, clock, status, () => drawer.open(PATH_PANEL));
var tooltip = new Tooltip(view, rows, graph, clock, status);
var commands = commandsOf({
	view,
	rows,
	layout,
	navigation,
	clock,
	bookmarks,
	status,
	activity,
	tree,
	graph,
	search,
	drawer,
	inspector,
	timeField,
	goToBookmark,
	help: () => help.toggle(),
	palette: () => palette.open(),
	legend: () => legend.toggle(),
	exportPng: () => exportPng(graph),
	exportSvg: () => exportSvg(graph)
});
var help = new Help(commands, () => legend.phaseSwatches());
var palette = new Palette(commands);
var header = new Header(view, clock, search, bookmarks, {
	requests: () => drawer.open(PATH_PANEL),
	losses: () => drawer.open("losses"),
	help: () => help.toggle(),
	exportPng: () => exportPng(graph),
	exportSvg: () => exportSvg(graph),
	bookmark: () => void bookmarks.toggle(),
	goTo: goToBookmark,
	clearRows: () => view.set({ onlyRows: null })
});
new GraphPointer(graph, navigation, inspector, tooltip);
var growth = new Growth(view, navigation, [
	rows,
	tree,
	bookmarks,
	navigation,
	activity,
	graph.tiles,
	graph.arrows,
	graph.counters
], loadOverview, showOthers);
search.watchTyping(() => drawer.use("matches"));
var isReady = false;
hideToken();
var asked = readAddress(location.hash);
var address = new Address(place, async (typed) => restore(fitting(typed, view.now.experiment)));
var page = document.getElementById("page");
var body = layoutBody();
page.append(header.element, stage.banner, stage.element, tooltip.element, help.element, palette.element);
start();
/** Tree and graph side by side, with what makes one wider. */
function layoutBody() {
	let width = Number(localStorage.getItem(TREE_WIDTH) ?? "") || 230;
	const resize = (by) => {
		width = Math.max(110, Math.min(width + by, innerWidth * .6));
		tree.element.style.width = `${width}px`;
	};
	resize(0);
	const handle = splitter("vertical", "Width of the names", resize, () => width, () => localStorage.setItem(TREE_WIDTH, String(width)));
	return h("main", { class: "body" }, tree.element, handle, graph.element, new Scrollbar(layout).element);
}
async function start() {
	const experiment = await stage.untilReady((experiment) => view.set({ experiment }));
	if (experiment === null) return;
	view.set({
		experiment,
		clock: asked.clock,
		window: navigation.padded(navigation.boundsOf(asked.clock)),
		rows: await api.rows()
	});
	growth.start(experiment);
	await loadOverview();
	status.element.append(timeField.element);
	stage.element.replaceWith(minimap.element, body, legend.element, drawer.element, status.element);
	listen(commands);
	tree.focus();
	await restore(fitting(asked, experiment));
	address.changed();
	minimap.loadUse();
	const changed = () => address.changed();
	view.watch(changed, "window", "selection", "area", "row", "clock", "onlyRows", "path", "times");
	for (const part of [
		rows,
		drawer,
		search,
		bookmarks,
		activity,
		graph.arrows,
		legend
	]) part.watch(changed);
	watchOrders(changed);
	watchTheme(changed);
	isReady = true;
}
async function loadOverview() {
	await minimap.load();
	if (isReady) minimap.loadUse();
	graph.losses = minimap.overview?.losses ?? [];
	header.tellLosses(lossesText(graph.losses, minimap.overview?.losses_total ?? 0));
	graph.invalidate();
}
/** The server has other traces than the page shows: nothing of the place is of these. */
function showOthers() {
	stage.say("The server shows other traces now: this page shows them from the start.");
	history.replaceState(null, "", location.pathname + location.search);
	setTimeout(() => location.reload(), OTHERS_MS);
}
/** What an address asks for, as far as it is of these traces: rows of others are others. */
function fitting(asked, experiment) {
	if (asked.of === null || experiment.store?.startsWith(asked.of) === true) return asked;
	status.say("The link is of other traces, or of these before they changed: what it asks for is not shown.", true);
	return {
		...readAddress(""),
		drawer: asked.drawer
	};
}
/** What the address asks for, else a first sight: all, what was active on top. */
async function restore(asked) {
	const row = asked.row !== null && rows.row(asked.row) !== void 0 ? asked.row : null;
	giveTheme(asked.theme, asked.isClear);
	setOrders(asked.orders);
	timeField.give(asked.times);
	legend.give(asked.legend);
	rows.restore(asked.rows, asked.isPathClosed);
	graph.arrows.show(asked.arrows.messages, asked.arrows.wakeups);
	bookmarks.set(asked.bookmarks);
	view.set({ clock: asked.clock });
	const window = asked.window ?? navigation.padded(navigation.boundsOf(asked.clock));
	if (isReady) navigation.set(window);
	else view.set({ window: navigation.clamp(window) });
	view.set({
		selection: asked.selection,
		area: asked.area.length > 0 ? new Set(asked.area) : null,
		row,
		onlyRows: asked.only.length > 0 ? new Set(asked.only) : null
	});
	await restorePath(asked.path);
	if (asked.search !== search.text) search.set(asked.search);
	const panel = asked.drawer ?? (innerHeight >= ROOM_FOR_DRAWER ? drawer.first : null);
	drawer.keepOthers(panel, asked.others);
	drawer.open(panel, asked.inner);
	graph.fit();
	if (asked.sorted === false) activity.off();
	else if (activity.sortedBy === null || asked.isByCpu !== rows.isSorted || JSON.stringify(asked.sorted) !== JSON.stringify(activity.sortedBy)) await activity.sort(asked.sorted ?? navigation.boundsOf("common"), !asked.isByCpu);
	const place = row === null ? -1 : rows.lineOf(row);
	if (place >= 0) layout.see(place);
}
async function restorePath(of) {
	if (JSON.stringify(of) === JSON.stringify(view.now.path?.of ?? null)) return;
	view.set({ path: null });
	try {
		if (of !== null) view.set({ path: await api.path(of) });
	} catch (error) {
		status.say(`The path in the address cannot be shown: ${error instanceof Error ? error.message : ""}`, true);
	}
}
function place() {
	const { window, selection, isAbout, area, row, clock, onlyRows, path } = view.now;
	return {
		of: view.now.experiment?.store?.slice(0, OF_LENGTH) ?? null,
		window: navigation.window ?? window,
		selection: isAbout ? null : selection,
		area: [...area ?? []],
		row,
		clock,
		drawer: drawer.id,
		inner: drawer.kept,
		others: drawer.keptOthers,
		times: timeField.chosen,
		legend: legend.isShown,
		search: search.text,
		sorted: activity.sortedBy ?? false,
		isByCpu: rows.isSorted,
		arrows: {
			messages: graph.arrows.areMessagesOn,
			wakeups: graph.arrows.areWakeupsOn
		},
		rows: rows.kept,
		only: [...onlyRows ?? []],
		bookmarks: [...bookmarks.list],
		path: path?.of ?? null,
		isPathClosed: path !== null && rows.isPathClosed,
		orders: chosenOrders(),
		theme: chosenTheme(),
		isClear: isClear()
	};
}
function goToBookmark(mark) {
	if (mark.clock !== view.now.clock) clock.toggle();
	navigation.go(mark.row, mark.at, {
		begin: mark.at - mark.span / 2,
		end: mark.at + mark.span / 2
	});
}
/** What the states' requests say: the first thing to fail when the server is gone. */
function noteFailure(error) {
	status.note(graph.tiles.size.requests > 0 ? "loading …" : "");
	if (error === null || error.status === 409) return;
	if (error.status !== 0 && error.status !== 503) {
		status.say(error.message, true);
		return;
	}
	stage.lost(error.message, () => {
		growth.look();
		drawer.retry();
		graph.tiles.request();
		graph.invalidate();
	});
}
/** Paper is light: the picture is drawn anew for it. */
addEventListener("beforeprint", () => {
	setPrinting(true);
	graph.fit();
});
addEventListener("afterprint", () => {
	setPrinting(false);
	graph.fit();
});
window.isochrone = {
	view,
	rows,
	layout,
	navigation,
	graph,
	clock,
	drawer,
	activity,
	frames: () => graph.frames(),
	isReady: () => isReady,
	svg: () => svgOf(graph),
	/** Nothing moves, nothing is asked for, all that was asked for is drawn, the address says so. */
	isIdle: () => isReady && !navigation.isMoving && !clock.isSliding && graph.isIdle && search.isIdle && inspector.isIdle && activity.isIdle && drawer.isIdle && address.isIdle && growth.isIdle,
	/** Colour of a pixel of the time graph, bars and all, in CSS pixels. */
	pixel: (x, y) => graph.pixel(x, y)
};
