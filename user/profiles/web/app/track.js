// SPDX-License-Identifier: GPL-2.0-or-later
// One thread's single calls, in rows: of each level of its tree the numbers of its calls, in order
// of time. A place is { track, row, k }: the k-th call of a row.

import { firstIndex } from "./surface.js";

export class Track {
	constructor(profile, number) {
		this.profile = profile;
		this.number = number;
		this.name = profile.threads[number].name;
		this.calls = profile.timeline.threads[number];
		this.found = new Set(); // calls of which a value was searched for
		this.end = 0;
		this.y = 0; // where it is drawn
		this.#fillRows();
	}

	#fillRows() {
		const { calls } = this, rows = [];

		for (let i = 0; i < calls.n; i++) {
			const level = this.#level(i);

			while (rows.length <= level)
				rows.push([]);
			rows[level].push(i);
			this.end = Math.max(this.end, calls.start[i] + calls.length[i]);
		}
		this.rows = rows.map((row) => Int32Array.from(row));
	}

	#level(i) {
		return this.profile.paths.depth[this.calls.path[i]];
	}

	// The number of a call's function.
	fn(i) {
		return this.profile.paths.fn[this.calls.path[i]];
	}

	// What its values are called, and they, in pairs.
	values(i) {
		const names = this.profile.timeline.names.get(this.fn(i)) ?? [];

		return (this.calls.values.get(i) ?? []).map((value, k) => [names[k] ?? "?", value]);
	}

	// In short: "arg1=5", without what it was asked for as ("arg1:x").
	texts(i) {
		return this.values(i).map(([name, value]) => `${name.replace(/:.*/, "")}=${value}`);
	}

	search(words) {
		this.found.clear();
		for (const i of words ? this.calls.values.keys() : [])
			if (this.texts(i).some((text) => text.toLowerCase().includes(words)))
				this.found.add(i);
	}

	// Whether a call is of a function that was found (`matches`, null: nothing is searched), or has
	// a value that was.
	matches(i, matches) {
		return !matches || matches[this.fn(i)] || this.found.has(i);
	}

	// Of the calls [from, to) of a row, which share a pixel, the one to be seen: the first that was
	// searched for, or the first.
	shownOf(row, from, to, matches) {
		for (let k = from; matches && k < to; k++)
			if (this.matches(row[k], matches))
				return row[k];
		return row[from];
	}

	#placeOf(i) {
		const row = this.#level(i), list = this.rows[row];

		return { track: this, row, k: firstIndex(0, list.length, (k) => list[k] >= i) };
	}

	// The place of the next call in time that was found, `step` 1 or -1 from call i on; or null.
	nextFound(i, step, matches) {
		for (let m = i + step; m >= 0 && m < this.calls.n; m += step)
			if (this.matches(m, matches))
				return this.#placeOf(m);
		return null;
	}

	// The call of a row that is open at a time, or null.
	find(row, time) {
		const { calls } = this, list = this.rows[row];
		const k = firstIndex(0, list.length,
			(i) => calls.start[list[i]] + calls.length[list[i]] > time);

		return k < list.length && calls.start[list[k]] <= time ? { track: this, row, k } : null;
	}

	// It may have deep calls only, if the others are not shown.
	first() {
		const row = this.rows.findIndex((list) => list.length);

		return row < 0 ? null : { track: this, row, k: 0 };
	}

	// Of the row below a call's, the first call within it; or null.
	below({ row, k }) {
		const { calls } = this, i = this.rows[row][k], list = this.rows[row + 1] ?? [];
		const inner = firstIndex(0, list.length, (m) => calls.start[list[m]] >= calls.start[i]);

		return inner < list.length && calls.start[list[inner]] < calls.start[i] + calls.length[i]
			? { track: this, row: row + 1, k: inner } : null;
	}

	// Its caller, or null.
	above({ row, k }) {
		return row ? this.find(row - 1, this.calls.start[this.rows[row][k]]) : null;
	}
}
