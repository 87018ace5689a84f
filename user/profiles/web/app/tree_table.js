// SPDX-License-Identifier: GPL-2.0-or-later
// The call tree as a table: rows open and close, the callees of each are sorted among themselves. A
// search leaves the paths that lead to what was found.

import { callsText, estimateOfRow, HINT } from "./estimate.js";
import { below, callsMark, count, duration, percent } from "./format.js";
import { Grid, setFigure, setShare } from "./grid.js";

const INDENT = 14; // pixels
const INDENT_MAX = 30; // levels; deeper ones are numbered
const OPEN_AT_FIRST = 60; // rows
const OPEN_MAX = 200000; // rows that one key opens

const COLUMNS = [
	{ id: "share", title: "Share", hint: "Of the chosen weight, with all callees", width: "92px" },
	{ id: "calls", title: "Calls", width: "108px" },
	{ id: "total", title: "Wall", hint: "Wall time from entry to exit", width: "84px" },
	{ id: "self", title: "Wall self", hint: "Wall time without traced callees", width: "84px" },
	{ id: "cpu", title: "CPU", hint: "Time on a CPU, with callees", width: "84px" },
	{ id: "cpuSelf", title: "CPU self", hint: "Time on a CPU, without traced callees", width: "84px" },
	{ id: "off", title: "Off-CPU", hint: "Time off the CPU, with callees", width: "84px" },
	{ id: "mean", title: "Mean", hint: "Wall time a call", width: "84px" },
	{ id: "name", title: "Function", left: true, ascending: true, width: "minmax(320px, 1fr)" },
];

// A time that is below its own uncertainty is only bounded; one that is an estimate, of which
// `standard` is the standard error (0: unknown), is marked.
export function setTime(cell, ns, error, raw, estimate = false, standard = 0) {
	const unsure = !estimate && error > 0 && ns <= error && !raw;

	setFigure(cell, unsure ? below(error) : (estimate ? "~" : "") + duration(ns), `${count(ns)} ns` +
		(standard > 0 ? ` \u00b1 ${count(standard)} ns: ${HINT}` : ""));
}

export class TreeTable {
	help = "\u2191 \u2193: move \u00b7 \u2192 \u2190: open, close \u00b7 *: open all below \u00b7 " +
		"headers sort";

	constructor(host, app) {
		this.app = app;
		this.store = app.store;
		this.sorting = { id: "share", descending: true };
		this.grid = null;
		this.#renew();
		this.grid = new Grid(host, { id: "tree-grid", label: "Call tree", tree: true,
			columns: COLUMNS, sort: "share", source: this });
		this.grid.refresh();
	}

	update(changes) {
		const row = this.rows[this.grid.active];

		if ("scope" in changes) {
			this.#renew();
		} else {
			if ("weight" in changes)
				this.#arrange();
			if ("query" in changes)
				this.#filter();
		}
		this.#list();
		this.grid.refresh("scope" in changes ? 0 : Math.max(0, this.rows.indexOf(row)));
	}

	// Until the user has opened or closed something, what is heavy is open.
	renew() {
		const { open, shut, touched, tree } = this, opened = new Set(), closed = new Set();
		const active = tree.keys[this.rows[this.grid.active]];

		tree.keys.forEach((key, i) => {
			if (open[i])
				opened.add(key);
			if (shut.has(i))
				closed.add(key);
		});
		this.#renew();
		const { keys } = this.tree;

		if (touched)
			this.open = Uint8Array.from(keys, (key) => opened.has(key) ? 1 : 0);
		keys.forEach((key, i) => closed.has(key) && this.shut.add(i));
		this.touched = touched;
		this.#list();
		this.grid.refresh(Math.max(0, this.rows.findIndex((i) => keys[i] === active)));
	}

	recolor() {
		this.grid.draw(true);
	}

	// Another tree: what is heavy is open.
	#renew() {
		this.tree = this.store.tree;
		this.open = new Uint8Array(this.tree.n);
		this.touched = false;
		this.#arrange();
		const { all } = this.tree.weight(this.store.weight), whole = this.whole;
		const rest = [...this.#below(this.tree.n)];
		let opened = 0;

		while (rest.length && opened < OPEN_AT_FIRST) {
			const i = rest.shift();

			if (all[i] < 0.05 * whole)
				continue;
			this.open[i] = 1;
			opened += this.first[i + 1] - this.first[i];
			rest.push(...this.#below(i));
		}
		this.#filter();
		this.#list();
	}

	#below(i) {
		return this.order.subarray(this.first[i], this.first[i + 1]);
	}

	// The figures of a column, by row.
	#values(id) {
		const { tree, store } = this;

		switch (id) {
		case "share":
			return tree.weight(store.weight).all;
		case "cpu":
			return tree.weight("cpu").all;
		case "cpuSelf":
			return tree.weight("cpu").own;
		case "mean":
			return tree.total.map((total, i) => tree.calls[i] ? total / tree.calls[i] : 0);
		case "name":
			return this.#nameRanks();
		default:
			return tree[id];
		}
	}

	#nameRanks() {
		const { functions } = this.store.profile, ranks = new Float64Array(functions.length);
		const compare = new Intl.Collator("en").compare;

		functions.map((f) => f).sort((a, b) => compare(a.name, b.name))
			.forEach((f, rank) => { ranks[f.id] = rank; });
		return Float64Array.from(this.tree.fn, (fn, i) => fn < 0 ? i : ranks[fn]);
	}

	#arrange() {
		const { id, descending } = this.sorting;
		const { first, rows } = this.tree.children(this.#values(id), descending);

		this.first = first;
		this.order = rows;
		this.whole = this.tree.whole(this.store.weight);
	}

	// keep: rows that match, or lead to one that does; null: all.
	#filter() {
		const { tree, store: { matches } } = this;

		this.shut = new Set(); // of these, what the user has closed
		this.keep = matches && new Uint8Array(tree.n);
		this.led = matches && new Uint8Array(tree.n); // to a match below
		if (!matches)
			return;
		for (let i = tree.n; i--;) {
			this.keep[i] = this.led[i] || (tree.fn[i] >= 0 && matches[tree.fn[i]]) ? 1 : 0;
			if (this.keep[i] && tree.parent[i] >= 0)
				this.led[tree.parent[i]] = 1;
		}
	}

	// While a search lasts, ways to what it found are open, and what was found opens as usual.
	#isOpen(i) {
		return this.keep && this.led[i] ? !this.shut.has(i) : this.open[i];
	}

	#list() {
		const { first, order, keep, tree } = this, rows = [];
		const rest = [];
		const push = (parent) => {
			for (let k = first[parent + 1]; k-- > first[parent];)
				if (!keep || keep[order[k]] || this.#found(parent))
					rest.push(order[k]);
		};

		push(tree.n);
		while (rest.length) {
			const i = rest.pop();

			rows.push(i);
			if (this.#isOpen(i))
				push(i);
		}
		this.rows = rows;
	}

	// Below a match all may be looked at.
	#found(i) {
		const { tree, store: { matches } } = this;

		return i < tree.n && tree.fn[i] >= 0 && matches[tree.fn[i]];
	}

	count() {
		return this.rows.length;
	}

	sort(id, descending) {
		const row = this.rows[this.grid.active];

		this.sorting = { id, descending };
		this.#arrange();
		this.#list();
		this.grid.refresh(this.rows.indexOf(row));
	}

	fill(cells, index, row) {
		const { tree, whole } = this, i = this.rows[index], raw = this.store.profile.raw;
		const { all } = tree.weight(this.store.weight), cpu = tree.weight("cpu");
		const calls = tree.calls[i], thread = tree.fn[i] < 0;
		const e = estimateOfRow(tree, i), some = e && e.source !== "exact", own = e?.own > 0;

		setShare(cells[0], percent(all[i], whole), whole ? all[i] / whole : 0);
		setFigure(cells[1], thread ? "" : callsText(calls, callsMark(tree.functionOf(i)), e),
			e?.calls > 0 ? `${count(calls)} \u00b1 ${count(e.calls)}: ${HINT}` : "");
		setTime(cells[2], tree.total[i], tree.error[i], raw, some, e?.all);
		setTime(cells[3], tree.self[i], tree.selfError[i], raw, own, e?.own);
		setTime(cells[4], cpu.all[i], tree.error[i], raw, some, e?.all);
		setTime(cells[5], cpu.own[i], tree.selfError[i], raw, own, e?.own);
		setTime(cells[6], tree.off[i], 0, raw);
		if (thread || !calls)
			setFigure(cells[7], "");
		else
			setTime(cells[7], Math.round(tree.total[i] / calls), tree.error[i] / calls, raw);
		this.#fillName(cells[8], i, row);
	}

	#fillName(cell, i, row) {
		const { tree, app } = this, level = tree.depth[i];

		if (!cell.firstChild) {
			for (const name of ["deep", "twisty", "swatch", "name", "object"]) {
				const el = document.createElement("span");

				el.className = name;
				cell.append(el);
			}
		}
		const [deep, twisty, swatch, name, object] = cell.children;
		const f = tree.functionOf(i), open = this.#isOpen(i), leaf = tree.end[i] === i + 1;

		cell.style.paddingLeft = `${8 + INDENT * Math.min(level, INDENT_MAX)}px`;
		deep.textContent = level > INDENT_MAX ? `${level} ` : "";
		twisty.textContent = leaf ? "" : open ? "\u25be" : "\u25b8";
		swatch.style.background = app.colors.mark(tree.fn[i]);
		name.textContent = tree.name(i);
		object.textContent = f ? app.store.profile.objects[f.object].name : "";
		cell.title = f ? `${f.name}\n${app.store.profile.objects[f.object].path}` : "";
		row.classList.toggle("thread", !f);
		row.classList.toggle("match", !!f && !!this.store.matches && this.store.matches[f.id] === 1);
		row.setAttribute("aria-level", String(level + 1));
		if (leaf)
			row.removeAttribute("aria-expanded");
		else
			row.setAttribute("aria-expanded", String(!!open));
	}

	select(index) {
		this.app.tell(this.tree, this.rows[index]);
	}

	activate(index) {
		const i = this.rows[index];

		this.#set(i, !this.#isOpen(i));
		this.#show(i);
	}

	#set(i, open) {
		this.touched = true;
		if (this.keep && this.led[i]) {
			this.shut[open ? "delete" : "add"](i);
		} else {
			this.open[i] = open ? 1 : 0;
		}
	}

	#show(i) {
		this.#list();
		this.grid.refresh(this.rows.indexOf(i));
		this.grid.setActive(this.grid.active);
	}

	key(e, index) {
		const { tree, rows } = this, i = rows[index];

		if (i === undefined)
			return false;
		const leaf = tree.end[i] === i + 1, open = this.#isOpen(i);

		switch (e.key) {
		case "ArrowRight":
			if (leaf)
				return true;
			if (open) {
				this.grid.setActive(index + 1);
			} else {
				this.#set(i, true);
				this.#show(i);
			}
			return true;
		case "ArrowLeft":
			if (open && !leaf) {
				this.#set(i, false);
				this.#show(i);
			} else if (tree.parent[i] >= 0) {
				this.grid.setActive(rows.indexOf(tree.parent[i]));
			}
			return true;
		case "*":
			for (let k = i; k < Math.min(tree.end[i], i + OPEN_MAX); k++)
				this.#set(k, true);
			this.#show(i);
			return true;
		default:
			return false;
		}
	}

	escape() {
		return false;
	}
}
