// SPDX-License-Identifier: GPL-2.0-or-later
// What has changed from one run to another: the functions, those first whose own time has changed
// most, and behind them what is noise.

import { change, count, duration, percent } from "./format.js";

const ROWS_MAX = 500;

export class Difference {
	help = "";

	constructor(host, app) {
		const { diff, functions } = app.profile, box = document.createElement("div");
		const title = document.createElement("h2"), runs = document.createElement("p");

		this.app = app;
		box.className = "about";
		box.tabIndex = 0;
		title.textContent = diff.verdict;
		runs.textContent = `${diff.old} \u2192 ${diff.new}: functions by the change of their own ` +
			`${diff.compared}; what is grey has changed within noise` +
			(diff.leftOut ? `. ${count(diff.leftOut)} functions that one run has not traced all ` +
				"of the time are part of their callers" : "");
		box.append(title, runs, this.#table(this.#rows(functions)));
		host.append(box);
	}

	#rows(functions) {
		const size = (f) => Math.abs(f.before.now - f.before.self);
		const called = functions.filter((f) => f.calls || f.before.calls || f.before.uncounted);

		return called.sort((a, b) => a.before.noise - b.before.noise || size(b) - size(a) ||
			a.id - b.id).slice(0, ROWS_MAX);
	}

	#table(rows) {
		const table = document.createElement("table"), head = table.createTHead().insertRow();

		table.className = "difference";
		for (const text of ["Change", "", "Old", "New", "Calls old", "new", "Function"]) {
			const cell = document.createElement("th");

			cell.textContent = text;
			head.append(cell);
		}
		const body = table.createTBody();

		for (const f of rows)
			this.#row(body.insertRow(), f);
		return table;
	}

	#row(row, f) {
		const { before } = f, difference = before.now - before.self;
		const share = before.self > 0 ? percent(Math.abs(difference), before.self) : null;
		const sign = difference < 0 ? "\u2212" : "+";
		const mark = before.estimate ? "~" : "";
		const calls = (cnt, text) => before.uncounted && !cnt ? "-" : text;
		const known = (cnt, run) => cnt || (before.uncounted && before.there & run);
		const time = (ns) => (ns ? mark : "") + duration(ns);
		const texts = [mark + change(difference), before.unseen ? "unseen"
			: !known(before.calls, 1) ? "new" : !known(f.calls, 2) ? "gone"
				: share && sign + share, time(before.self), time(before.now),
		calls(before.calls, count(before.calls)),
		calls(f.calls, before.callsNoise && !before.uncounted ? "=" : count(f.calls))];
		const name = document.createElement("button"), cell = document.createElement("td");

		row.className = before.noise ? "noise" : difference > 0 ? "worse" : "better";
		for (const text of texts)
			row.insertCell().textContent = text ?? "";
		row.cells[0].title = `within \u00b1${duration(before.noiseNs)} it may be chance`;
		name.type = "button";
		name.className = "link";
		name.textContent = f.name;
		name.title = this.app.placeOf(f);
		name.disabled = !f.calls && !f.total;
		name.addEventListener("click", () => this.app.openSandwich(f));
		cell.append(name);
		row.append(cell);
	}

	update() {}

	recolor() {}

	escape() {
		return false;
	}
}
