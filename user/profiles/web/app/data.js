// SPDX-License-Identifier: GPL-2.0-or-later
// The only module that knows where a profile comes from and what it looks like on its way. A page
// has it as JSON in an element; a server can send the same document.

import { base } from "./format.js";

const SCHEMA = 1;
const FIGURES = { calls: "calls", total: "total", self: "self", off: "off", off_self: "offSelf",
	error: "error", self_error: "selfError", sampled_ns: "sampled", varied_ns: "varied",
	burst_calls: "burst", calls_varied: "callsVaried" };
// Controls, and characters that reorder or break lines: what names must not do to what is around
// them.
const UNSAFE = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

// null: the page has none, its server does.
export function readEmbedded() {
	const doc = JSON.parse(document.getElementById("profile").textContent);

	return doc && decode(doc);
}

// What a server sends: the paths that took most time, and how many there are.
export function decodeLive({ paths, profile }) {
	return { ...decode(profile), live: { paths } };
}

// A stranger's text with what cannot be seen made visible.
function visible(text) {
	return text.replace(UNSAFE, (c) => {
		const code = c.charCodeAt(0).toString(16);

		return code.length > 2 ? `\\u${code.padStart(4, "0")}` : `\\x${code.padStart(2, "0")}`;
	});
}

// Columns in which 0 stands for the value before.
function repeated(column) {
	let before = "";

	return column.map((value) => (before = value === 0 ? before : visible(value)));
}

const REGION = 1; /* of the kinds of functions, a stretch of code that has a name */

function decodeFunctions(doc) {
	const modules = repeated(doc.module), files = repeated(doc.file);
	const objects = [], numbers = new Map();

	for (const path of modules) {
		if (numbers.has(path))
			continue;
		numbers.set(path, objects.length);
		objects.push({ path, name: base(path) || "[unknown]" });
	}
	const functions = doc.name.map((name, i) => ({
		id: i,
		name: doc.kind[i] === REGION ? `[${visible(name)}]` : visible(name) || "[unknown]",
		symbol: doc.symbol[i] === null ? null : visible(doc.symbol[i]),
		object: numbers.get(modules[i]),
		file: files[i],
		line: doc.line[i],
		keptOneIn: doc.sampled[i],
		min: doc.min[i],
		max: doc.max[i],
		p50: doc.p50[i],
		p90: doc.p90[i],
		p99: doc.p99[i],
		tells: doc.tells?.[i] ?? 1,
		histogram: doc.histogram[i],
	}));
	for (const [theirs, ours] of Object.entries(FIGURES))
		functions.forEach((f, i) => { f[ours] = doc[theirs][i]; });
	const keys = new Map();

	for (const f of functions) {
		const key = `${modules[f.id]}\n${f.symbol ?? f.name}\n${f.line}`;
		const twins = keys.get(key) ?? 0;

		// By which it is found in other profiles of the run.
		f.key = twins ? `${key}\n${twins}` : key;
		keys.set(key, twins + 1);
		f.cpu = Math.max(0, f.total - f.off);
		f.cpuSelf = Math.max(0, f.self - f.offSelf);
		f.searched = `${f.name}\n${f.symbol ?? ""}`.toLowerCase();
	}
	return { functions, objects };
}

// Threads of one are shown together. Spans lie beside their thread's calls, and are none of them.
function threadComm(t) {
	return (t.spans ? "spans of " : "") + (visible(t.comm) || "[unknown]");
}

function threadName(t) {
	const comm = threadComm(t);

	if (t.title)
		return visible(t.title);
	if (t.merged > 1)
		return `${comm} (${t.merged} threads)`;
	return `${comm}-${t.pid}/${t.goroutine ? "goroutine_" : ""}${t.tid}${t.stack ? "+stack" : ""}`;
}

// Paths are in the order of a walk, thread after thread: [first, end) are a thread's.
function decodeThreads(doc, paths) {
	const threads = doc.map((t) => ({ name: threadName(t), comm: threadComm(t), pid: t.pid,
		origin: threadName({ ...t, title: "" }), first: 0, end: 0 }));
	let at = 0;

	threads.forEach((t, i) => {
		let roots = paths.roots[i];

		t.first = at;
		while (at < paths.depth.length && (paths.depth[at] > 0 || roots-- > 0))
			at++;
		t.end = at;
	});
	return threads;
}

// Those that have spans as well are one. Each part of a session counts.
function countThreads(doc) {
	const number = (t) => `${t.pid}/${t.tid}`;
	const calling = new Set(doc.filter((t) => !t.spans).map(number));

	return doc.filter((t) => !t.spans || t.title || !calling.has(number(t))).length;
}

// The name of all processes' first threads; null: they have several, or none is known.
function programName(doc) {
	const names = new Set(doc.filter((t) => t.pid === t.tid && t.comm).map((t) => t.comm));

	return names.size === 1 ? visible([...names][0]) : null;
}

function decodePaths(doc) {
	const paths = { depth: Int32Array.from(doc.depth), fn: Int32Array.from(doc.function) };

	for (const [theirs, ours] of Object.entries(FIGURES))
		paths[ours] = Float64Array.from(doc[theirs]);
	return paths;
}

// As it is to be shown: texts in quotes, numbers that JavaScript cannot hold as they came.
function decodeValue(value) {
	return value === null ? "?" : typeof value === "string" ? `"${visible(value)}"`
		: String(Array.isArray(value) ? visible(value[0]) : value);
}

// A thread's calls: four numbers each, the first counted from the call before. An array behind them
// has the call's values.
function decodeCalls(flat) {
	const n = flat.reduce((numbers, item) => numbers + !Array.isArray(item), 0) / 4;
	const calls = { n, start: new Float64Array(n), length: new Float64Array(n),
		off: new Float64Array(n), path: new Int32Array(n), values: new Map() };
	let at = 0;

	for (let i = 0, k = 0; i < n; i++, k += 4) {
		at += flat[k];
		calls.start[i] = at;
		calls.length[i] = flat[k + 1];
		calls.off[i] = flat[k + 2];
		calls.path[i] = flat[k + 3];
		if (Array.isArray(flat[k + 4]))
			calls.values.set(i, flat[k++ + 4].map(decodeValue));
	}
	return calls;
}

function decodeTimeline(doc) {
	return { lost: doc.lost, calls: doc.calls, least: doc.least,
		threads: doc.threads.map(decodeCalls),
		// By function: what the values of its calls are called.
		names: new Map((doc.arguments ?? []).map(([fn, ...names]) => [fn, names.map(visible)])) };
}

// Lines of source, with the text of each that a page was given.
function decodeLines(doc) {
	const files = doc.files.map(({ path, why, segments }) => {
		const text = new Map();

		for (const [first, lines] of segments)
			lines.forEach((line, i) => text.set(first + i, visible(line)));
		return { path: visible(path), why: text.size ? null : why ?? "too much for this page", text };
	});
	const blocks = doc.blocks.map((b) => ({ ...b, name: visible(b.name) || "[unknown]",
		file: files[b.file],
		reason: b.reason.map((reason) => reason && visible(reason)),
		inlined: b.inlined.map((call) => ({ name: visible(call.name ?? "") || "[unknown]",
			file: visible(call.file ?? "?"), line: call.line })) }));

	return { blocks, missing: doc.missing };
}

// Sessions by function: how long they took, the slowest, and why. Paths by their number; a function
// that nothing is shown of has a name only. A run that goes on has no single sessions, so it has
// neither paths nor slowest ones.
function decodeSessions(doc, functions) {
	const name = (fn) => typeof fn === "number" ? functions[fn].name : visible(fn) || "[unknown]";
	const paths = new Map();
	let number = 0;

	for (let i = 0; i < (doc.paths?.length ?? 0); i += 3) {
		const [id, parent, fn] = doc.paths.slice(i, i + 3);

		paths.set(id, { parent: paths.get(parent) ?? null, fn, name: name(fn) });
	}
	const costs = (list = []) => list.map((cost) => ({ ...cost, path: paths.get(cost.path) ?? null }));

	return doc.groups.map((g) => ({ ...g, name: name(g.function), perSecond: g.per_second ?? 0,
		slowest: (g.slowest ?? []).map((s) => ({ ...s, number: ++number, dearest: costs(s.dearest) })),
		reasons: costs(g.reasons), reasonCount: g.reasons_cnt ?? 0,
		why: g.why ? { ...g.why, sentence: visible(g.why.sentence),
			parts: g.why.parts.map((part) => ({ ...part, text: visible(part.text) })) }
			: null }));
}

export function decode(doc) {
	if (doc.schema !== SCHEMA)
		throw new Error(`the data has schema ${doc.schema}, this page reads ${SCHEMA}`);
	const paths = decodePaths(doc.paths);

	const { functions, ...rest } = decodeFunctions(doc.functions);

	if (doc.diff)
		functions.forEach((f, i) => {
			f.before = { calls: doc.diff.old_calls[i], self: doc.diff.old_self[i],
				now: doc.diff.new_self[i], noise: doc.diff.noise[i],
				callsNoise: doc.diff.calls_noise[i], noiseNs: doc.diff.noise_ns[i],
				estimate: doc.diff.estimate[i], unseen: doc.diff.unseen[i],
				uncounted: doc.diff.uncounted[i], there: doc.diff.there[i] };
		});

	// What the budget has dropped was counted until then, and is "at least" what is shown.
	for (const d of doc.drops) {
		if (d.function !== null && !d.sampled)
			functions[d.function].wholeUntil ??= d.at;
		if (d.function !== null)
			functions[d.function].wholeFrom = d.back;
	}
	return {
		functions,
		...rest,
		paths,
		threads: decodeThreads(doc.threads, doc.paths),
		threadCount: countThreads(doc.threads),
		// What threads are: where sessions are shown, each is what one of them did on a thread.
		thread: doc.threads.some((t) => t.title) ? "session part" : "thread",
		sessions: doc.sessions && decodeSessions(doc.sessions, functions),
		timeline: doc.timeline && decodeTimeline(doc.timeline),
		lines: doc.lines && decodeLines(doc.lines),
		diff: doc.diff && { verdict: visible(doc.diff.verdict), compared: doc.diff.compared,
			old: visible(doc.diff.old ?? ""), new: visible(doc.diff.new ?? ""),
			leftOut: doc.diff.left_out },
		version: doc.proftrace,
		target: { pids: doc.pids, exec: doc.exec && visible(doc.exec),
			command: doc.command.map(visible), program: programName(doc.threads) },
		startTime: doc.start_time,
		duration: doc.duration,
		paused: doc.paused,
		weight: doc.weight,
		raw: doc.raw,
		estimates: doc.estimates && { period: doc.estimates.period, note: doc.estimates.note },
		accounting: { ...doc.accounting, own_ns: doc.own_ns },
		maxOverhead: doc.budget.max_percent,
		probed: doc.probed,
		skipped: doc.skipped,
		zoom: doc.zoom,
		drops: doc.drops.map((d) => ({ ...d, name: visible(d.name ?? ""),
			reason: visible(d.reason ?? "") })),
	};
}
