// SPDX-License-Identifier: GPL-2.0-or-later
// Annotated source: how often each line ran, and for how long. In the order of the source, function
// by function, what is inlined into one behind it; or the lines alone, by a figure.

import { base, count, duration, percent } from "./format.js";
import { Grid, setFigure, setShare } from "./grid.js";
import { setTime } from "./tree_table.js";

const CONTEXT = 4; // lines without figures that are shown between others; as in page_lines.c

const COLUMNS = [
	{ id: "hits", title: "Hits", hint: "How often the line ran", width: "104px" },
	{ id: "time", title: "Time", hint: "From its begin to that of the next line, with all it called",
		width: "84px" },
	{ id: "share", title: "Share", hint: "Of the time of all lines of its function", width: "80px" },
	{ id: "line", title: "Line", hint: "In the order of the source", ascending: true, width: "64px" },
	{ id: "source", title: "Source", left: true, ascending: true, width: "minmax(260px, 1fr)" },
];

// Of optimized code they are runs of what is left of the line.
function hitsOf(block, i) {
	return (block.approximate[i] ? "~" : "") + count(block.hits[i]);
}

export class Lines {
	help = "\u2191 \u2193: move \u00b7 n p: next, previous function \u00b7 headers sort";

	constructor(host, app) {
		this.app = app;
		this.store = app.store;
		this.lines = app.store.profile.lines;
		this.sorting = { id: "line", descending: false };
		this.grid = null;
		this.#bar(host);
		this.#arrange();
		this.grid = new Grid(host, { id: "lines-grid", label: "Lines", tree: false, columns: COLUMNS,
			sort: "line", source: this });
		this.grid.sorted.descending = false;
		this.grid.refresh();
	}

	#bar(host) {
		const bar = document.createElement("div"), note = document.createElement("p");
		const { missing } = this.lines;

		bar.className = "viewbar";
		this.chooser = document.createElement("select");
		this.chooser.setAttribute("aria-label", "Function");
		this.chooser.addEventListener("change", () => {
			this.grid.setActive(this.heads[Number(this.chooser.value)]);
			this.#top();
		});
		note.className = "note";
		note.textContent = missing ? `${count(missing)} lines are not in this page.` : "";
		bar.append(this.chooser, note);
		host.append(bar);
	}

	#found() {
		const { matches } = this.store, words = this.store.query.trim().toLowerCase();

		return this.lines.blocks.filter((b) => !matches || (b.function !== null && matches[b.function])
			|| b.inlined.some(({ name }) => name.toLowerCase().includes(words)));
	}

	// Rows: { block } is a heading, { block, i } a line with figures, { block, line } one without,
	// { block } with `gap` what is left out.
	#arrange() {
		const blocks = this.#found(), { id, descending } = this.sorting;

		this.rows = [];
		this.heads = []; // by function that is listed, its first row
		this.chooser.replaceChildren();
		if (id !== "line" && id !== "source") {
			this.#arrangeByFigure(blocks, id, descending);
		} else {
			for (const block of descending ? [...blocks].reverse() : blocks)
				this.#addBlock(block);
		}
		this.chooser.disabled = !this.heads.length;
	}

	#arrangeByFigure(blocks, id, descending) {
		const sign = descending ? -1 : 1;
		const figure = { hits: (b, i) => b.hits[i], time: (b, i) => b.ns[i],
			share: (b, i) => b.whole ? b.ns[i] / b.whole : 0 }[id];

		for (const block of blocks)
			block.line.forEach((line, i) => this.rows.push({ block, line, i, key: figure(block, i) }));
		this.rows.sort((a, b) => sign * (a.key - b.key));
	}

	#addBlock(block) {
		let at = block.head;

		if (!block.inlined.length) {
			this.chooser.add(new Option(block.name, String(this.heads.length)));
			this.heads.push(this.rows.length);
		}
		this.rows.push({ block, heading: true });
		block.line.forEach((line, i) => {
			this.#addBetween(block, at, line);
			this.rows.push({ block, line, i });
			at = line + 1;
		});
	}

	#addBetween(block, from, until) {
		if (from >= until || !block.file.text.size)
			return;
		if (until - from > CONTEXT) {
			this.rows.push({ block, gap: true });
			return;
		}
		for (; from < until; from++)
			this.rows.push({ block, line: from });
	}

	update() {
		this.#arrange();
		this.grid.refresh(0);
	}

	recolor() {
		this.grid.draw(true);
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

	fill(cells, index, element) {
		const row = this.rows[index], { block, i } = row, [hits, time, share, line] = cells;

		element.classList.toggle("heading", Boolean(row.heading));
		element.classList.toggle("aside", i === undefined && !row.heading);
		element.classList.toggle("idle", i !== undefined && !block.reason[i] && !block.hits[i]);
		if (i === undefined || block.reason[i]) {
			setFigure(hits, i === undefined ? "" : "-");
			setFigure(time, "");
			setShare(share, "", 0);
		} else {
			setFigure(hits, hitsOf(block, i));
			setTime(time, block.ns[i], block.error[i]);
			setShare(share, percent(block.ns[i], block.whole), block.whole ? block.ns[i] / block.whole : 0);
		}
		line.textContent = row.line ?? "";
		this.#fillSource(cells[4], row);
	}

	#fillSource(cell, row) {
		const { block } = row, { file } = block;

		if (!cell.firstChild) {
			for (const name of ["name", "object"]) {
				const el = document.createElement("span");

				el.className = name;
				cell.append(el);
			}
		}
		const [text, where] = cell.children;
		const flat = this.sorting.id !== "line" && this.sorting.id !== "source";

		text.textContent = row.heading ? block.inlined[0]?.name ?? block.name
			: row.gap ? "\u2026" : file.text.get(row.line) ?? "";
		where.textContent = row.heading ? this.#origin(block)
			: [flat && this.#place(row), row.i !== undefined && block.reason[row.i] &&
				`not counted: ${block.reason[row.i]}`].filter(Boolean).join(", ");
		cell.title = row.heading ? `${text.textContent}\n${where.textContent}`
			: row.line ? `${file.path}:${row.line}` : "";
	}

	#place({ block, line }) {
		return `${base(block.file.path)}:${line} in ${block.inlined[0]?.name ?? block.name}`;
	}

	// Where a block's lines are, and for which calls.
	#origin({ name, inlined, file }) {
		const why = file.why ? ` (no source: ${file.why})` : "";
		const calls = inlined.map((call, i) => `${i ? "in" : "inlined from"} ` +
			`${inlined[i + 1]?.name ?? name} at ${call.file}:${call.line}`);

		return [file.path + why, ...calls].join(", ");
	}

	select(index) {
		const row = this.rows[index];

		if (!row || row.i === undefined) {
			this.app.say(null);
			return;
		}
		const { block, i } = row, reason = block.reason[i];
		const facts = reason ? [["Not counted", reason]] : [["Hits", hitsOf(block, i)],
			["Time", duration(block.ns[i]), `${count(block.ns[i])} ns`],
			["Uncertain by", duration(block.error[i]), `${count(block.error[i])} ns`],
			["Share", percent(block.ns[i], block.whole)]];

		this.app.say({ name: block.inlined[0]?.name ?? block.name,
			where: `${block.file.path}:${row.line}`, facts }, true);
	}

	key(e, index) {
		const step = { n: 1, p: -1 }[e.key];

		if (!step || !this.heads.length)
			return false;
		const at = step > 0 ? this.heads.find((head) => head > index)
			: this.heads.findLast((head) => head < index);

		if (at !== undefined) {
			this.grid.setActive(at);
			this.#top();
		}
		return true;
	}

	// The active row, a heading, is to be the first on the screen.
	#top() {
		const at = this.heads.indexOf(this.grid.active);

		if (at >= 0)
			this.chooser.value = String(at);
		this.grid.toTop();
	}

	go(f) {
		if (this.sorting.id !== "line") {
			this.grid.sorted = { id: "line", descending: false };
			this.sort("line", false);
		}
		const at = this.rows.findIndex(({ block, heading }) => heading && block.function === f.id);

		if (at < 0)
			return;
		this.grid.setActive(at);
		this.#top();
		this.grid.box.focus();
	}

	escape() {
		return false;
	}
}
