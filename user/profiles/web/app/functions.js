// SPDX-License-Identifier: GPL-2.0-or-later
// All functions in one table, with how long their calls took, and beside it all that is known of
// the chosen one.

import { callsText, estimateOfFunction, HINT } from "./estimate.js";
import { callsMark, count, duration, percent } from "./format.js";
import { Grid, setFigure, setShare } from "./grid.js";
import { drawLarge, drawSmall, octaves } from "./histogram.js";
import { setTime } from "./tree_table.js";

const NEIGHBOURS_MAX = 8;

const COLUMNS = [
	{ id: "name", title: "Function", left: true, ascending: true, width: "minmax(220px, 1fr)" },
	{ id: "share", title: "Share", hint: "Of the chosen weight, without callees", width: "80px" },
	{ id: "calls", title: "Calls", width: "108px" },
	{ id: "total", title: "Wall", hint: "From entry to exit; recursion counted once", width: "84px" },
	{ id: "self", title: "Wall self", hint: "Wall time without traced callees", width: "84px" },
	{ id: "cpuSelf", title: "CPU self", hint: "Time on a CPU, without traced callees", width: "84px" },
	{ id: "p50", title: "p50", hint: "Half of the calls took at most this", width: "86px" },
	{ id: "p90", title: "p90", hint: "90% of the calls took at most this", width: "86px" },
	{ id: "p99", title: "p99", hint: "99% of the calls took at most this", width: "86px" },
	{ id: "max", title: "Max", hint: "The longest call", width: "86px" },
	{ id: "shape", title: "Durations", left: true, width: "116px" },
];

const OWN = { wall: "self", cpu: "cpuSelf", off: "offSelf", calls: "calls" };

const SINGLE = ["min", "p50", "p90", "p99", "max"];

// Where calls are scaled up from bursts, single calls are a part of them: "~1.2 us".
function singleText(f, key) {
	return (f.burst ? "~" : "") + duration(f[key]);
}

function singleHint(f) {
	return f.burst ? ": of the calls that were recorded" : "";
}

export class Functions {
	help = "\u2191 \u2193: move \u00b7 headers sort";

	constructor(host, app) {
		const split = document.createElement("div");

		this.app = app;
		this.store = app.store;
		this.sorting = { id: "share", descending: true };
		this.#take();
		this.grid = null;
		COLUMNS.find((c) => c.id === "shape").hint = "How long calls took, from " +
			`${duration(2 ** (this.scale.first + 2))} to ${duration(2 ** (this.scale.end + 2))}, ` +
			"each bar half a power of two; sorts by the median";
		this.#arrange();
		split.className = "split";
		host.append(split);
		this.grid = new Grid(split, { id: "function-grid", label: "Functions", tree: false,
			columns: COLUMNS, sort: "share", source: this });
		this.detail = document.createElement("aside");
		this.detail.tabIndex = 0;
		this.detail.setAttribute("aria-label", "The chosen function");
		split.append(this.detail);
		this.grid.refresh();
		this.#describe(this.rows[0]);
	}

	update() {
		const row = this.rows[this.grid.active];

		this.#arrange();
		this.grid.refresh(Math.max(0, this.rows.indexOf(row)));
		this.#describe(this.rows[this.grid.active]);
	}

	#take() {
		const { functions, objects } = this.store.profile;

		Object.assign(this, { functions, objects, scale: octaves(functions) });
	}

	renew() {
		const key = this.rows[this.grid.active]?.key, { scrollTop } = this.detail;

		this.#take();
		this.#arrange();
		this.grid.refresh(Math.max(0, this.rows.findIndex((f) => f.key === key)));
		if (this.detail.contains(document.activeElement) && this.detail !== document.activeElement)
			return; // a button in it is about to be used
		this.#describe(this.rows[this.grid.active]);
		this.detail.scrollTop = scrollTop;
	}

	recolor() {
		this.grid.draw(true);
	}

	#key(id) {
		return id === "share" ? OWN[this.store.weight] : id === "shape" ? "p50" : id;
	}

	#arrange() {
		const { matches } = this.store, { id, descending } = this.sorting, key = this.#key(id);
		const sign = descending ? -1 : 1, compare = new Intl.Collator("en").compare;
		const own = OWN[this.store.weight];

		this.whole = this.functions.reduce((sum, f) => sum + f[own], 0);
		this.rows = this.functions.filter((f) => !matches || matches[f.id]);
		this.rows.sort(id === "name" ? (a, b) => sign * compare(a.name, b.name)
			: (a, b) => sign * (a[key] - b[key]) || a.id - b.id);
	}

	count() {
		return this.rows.length;
	}

	sort(id, descending) {
		this.sorting = { id, descending };
		this.#arrange();
		this.grid.refresh(0);
		this.grid.setActive(0);
	}

	fill(cells, index) {
		const f = this.rows[index], own = f[OWN[this.store.weight]];
		const { profile } = this.store, { raw } = profile, e = estimateOfFunction(f, profile);
		const some = e && e.source !== "exact", mine = e?.own > 0;

		setShare(cells[1], percent(own, this.whole), this.whole ? own / this.whole : 0);
		setFigure(cells[2], callsText(f.calls, callsMark(f), e),
			e?.calls > 0 ? `${count(f.calls)} \u00b1 ${count(e.calls)}: ${HINT}` : "");
		setTime(cells[3], f.total, f.error, raw, some);
		setTime(cells[4], f.self, f.selfError, raw, mine, e?.own);
		setTime(cells[5], f.cpuSelf, f.selfError, raw, mine, e?.own);
		["p50", "p90", "p99", "max"].forEach((id, i) => {
			const known = f.tells && (id === "max" ? f.max : f.histogram.length);

			setFigure(cells[6 + i], known ? singleText(f, id) : "-",
				known ? `${count(f[id])} ns${singleHint(f)}` : "");
		});
		this.#fillShape(cells[10], f);
		this.#fillName(cells[0], f);
	}

	#fillShape(cell, f) {
		if (!cell.firstChild) {
			cell.append(document.createElement("canvas"));
			cell.firstChild.setAttribute("aria-hidden", "true");
		}
		cell.firstChild.hidden = !f.histogram.length;
		if (f.histogram.length)
			drawSmall(cell.firstChild, f, this.scale, this.app.theme.colors);
	}

	#fillName(cell, f) {
		if (!cell.firstChild) {
			for (const name of ["swatch", "name", "object"]) {
				const el = document.createElement("span");

				el.className = name;
				cell.append(el);
			}
		}
		const [swatch, name, object] = cell.children;

		swatch.style.background = this.app.colors.mark(f.id);
		name.textContent = f.name;
		object.textContent = this.objects[f.object].name;
		cell.title = `${f.name}\n${this.objects[f.object].path}` +
			(f.file ? `\n${f.file}${f.line ? `:${f.line}` : ""}` : "");
	}

	select(index) {
		this.#describe(this.rows[index]);
	}

	// Who calls it, or whom it calls, those with most calls first.
	#neighbours(f, callers) {
		const { paths } = this.store.profile, sums = new Map(), open = [];

		for (let i = 0; i < paths.depth.length; i++) {
			const depth = paths.depth[i], parent = depth ? open[depth - 1] : -1;

			open[depth] = paths.fn[i];
			const [one, other] = callers ? [paths.fn[i], parent] : [parent, paths.fn[i]];

			if (one === f.id)
				sums.set(other, (sums.get(other) ?? 0) + paths.calls[i]);
		}
		return [...sums].filter(([, calls]) => calls).sort((a, b) => b[1] - a[1]);
	}

	#describe(f) {
		const parts = [];
		const add = (tag, text, className) => {
			const el = document.createElement(tag);

			el.textContent = text;
			if (className)
				el.className = className;
			parts.push(el);
			return el;
		};

		if (!f) {
			add("p", "No function matches.", "dim");
			this.detail.replaceChildren(...parts);
			return;
		}
		add("h2", f.name);
		if (f.symbol)
			add("p", f.symbol, "dim mono");
		add("p", this.objects[f.object].path, "dim mono");
		if (f.file)
			add("p", f.line ? `${f.file}:${f.line}` : f.file, "dim mono");
		if (this.store.profile.lines?.blocks.some((b) => b.function === f.id))
			add("button", "Show its lines").addEventListener("click", () => this.app.openLines(f));
		add("button", "Sandwich").addEventListener("click", () => this.app.openSandwich(f));
		this.#zoom(add, f);
		if (f.wholeUntil !== undefined)
			add("p", `Was dropped for the budget after ${duration(f.wholeUntil)}: calls and times ` +
				(f.wholeFrom ? `are those until then, and from ${duration(f.wholeFrom)} on.`
					: "are those until then."), "dim");
		if (f.keptOneIn)
			add("p", `Was dropped for the budget: from then on one call in ${count(f.keptOneIn)} was ` +
				"kept, and scaled.", "dim");
		if (f.histogram.length) {
			add("h3", "How long calls took");
			parts.push(drawLarge(f));
		}
		parts.push(this.#facts(f));
		this.#list(add, parts, "Called by", this.#neighbours(f, true));
		this.#list(add, parts, "Calls", this.#neighbours(f, false));
		this.detail.replaceChildren(...parts);
	}

	// A live page may have one function made exact, and what it calls.
	#zoom(add, f) {
		const { zoom } = this.store.profile;

		// A reason for waiting is no code, and functions of the kernel have no probes.
		if (!zoom || ["[waits]", "[kernel]"].includes(this.objects[f.object].path))
			return;
		const own = zoom.function === f.id;

		if (own)
			add("p", "Zoomed into: it is exact, and what it calls as far as the budget goes.", "dim");
		else if (zoom.chosen.includes(f.id))
			add("p", "It is exact for the sake of the function that is zoomed into.", "dim");

		add("button", own ? "Let go" : "Zoom: make it exact").addEventListener("click", () =>
			this.#ask(own ? "none" : zoom.ids[f.id]));
		if (own)
			add("button", "All of it, whatever it costs").addEventListener("click", () =>
				this.#ask(`${zoom.ids[f.id]}/all`));
	}

	// The server takes few wishes a second; what it refuses for that is asked again, unless there
	// was another click.
	#ask(path, tries = 10) {
		this.asked = path;
		// The panel is not made anew around a button that is used.
		if (this.detail.contains(document.activeElement))
			this.detail.focus({ preventScroll: true });
		fetch(`zoom/${path}`, { method: "POST" }).then(({ status }) => {
			if (status === 503 && tries > 1)
				setTimeout(() => this.asked === path && this.#ask(path, tries - 1), 250);
		}, () => {});
	}

	#facts(f) {
		const list = document.createElement("dl");
		const times = [["Shortest", "min"], ["p50", "p50"], ["p90", "p90"], ["p99", "p99"],
			["Longest", "max"], ["Wall", "total"], ["Wall self", "self"], ["CPU", "cpu"],
			["CPU self", "cpuSelf"], ["Off-CPU", "off"], ["Off self", "offSelf"]];
		const add = (name, text, title = "") => {
			const term = document.createElement("dt"), value = document.createElement("dd");

			term.textContent = name;
			value.textContent = text;
			value.title = title;
			list.append(term, value);
		};

		const e = estimateOfFunction(f, this.store.profile);

		add("Calls", callsText(f.calls, callsMark(f), e));
		if (e?.calls > 0)
			add("Calls \u00b1", count(e.calls), HINT);
		if (e?.own > 0)
			add("CPU self \u00b1", duration(e.own), HINT);
		for (const [name, key] of times)
			if (!SINGLE.includes(key))
				add(name, duration(f[key]), `${count(f[key])} ns`);
			else if (f.histogram.length && f.tells)
				add(name, singleText(f, key), `${count(f[key])} ns${singleHint(f)}`);
		return list;
	}

	#list(add, parts, title, neighbours) {
		if (!neighbours.length)
			return;
		add("h3", title);
		const list = document.createElement("ul");

		list.className = "neighbours";
		for (const [fn, calls] of neighbours.slice(0, NEIGHBOURS_MAX)) {
			const item = document.createElement("li");
			const name = document.createElement(fn < 0 ? "span" : "button");
			const number = document.createElement("span");

			name.className = "name";
			name.textContent = fn < 0 ? "(outermost)" : this.functions[fn].name;
			name.title = name.textContent;
			if (fn >= 0)
				name.addEventListener("click", () => this.#go(this.functions[fn]));
			number.textContent = count(calls);
			item.append(name, number);
			list.append(item);
		}
		parts.push(list);
		if (neighbours.length > NEIGHBOURS_MAX)
			add("p", `and ${neighbours.length - NEIGHBOURS_MAX} more`, "dim");
	}

	// A function that a search hides is described all the same.
	#go(f) {
		const index = this.rows.indexOf(f);

		if (index >= 0)
			this.grid.setActive(index);
		else
			this.#describe(f);
	}

	escape() {
		return false;
	}
}
