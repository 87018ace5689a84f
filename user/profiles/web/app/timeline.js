// SPDX-License-Identifier: GPL-2.0-or-later
// Single calls in time, a track a thread, a row a level of its tree. Calls of a row follow one
// another, so what is on the screen is found by bisection, as in the flame graph.

import { CallPanel } from "./call_panel.js";
import { count, duration, percent } from "./format.js";
import { Range } from "./range.js";
import { firstIndex, fitText, Surface } from "./surface.js";
import { MONO, SANS } from "./theme.js";
import { Track } from "./track.js";

const AXIS = 22;
const ROW = 17;
const HEAD = 20; // of a track
const GAP = 8;

export class Timeline {
	help = "arrows: select \u00b7 n p: next, previous found \u00b7 Enter: zoom in \u00b7 " +
		"Esc: zoom out \u00b7 + \u2212 0: zoom \u00b7 Shift+arrows: move \u00b7 Ctrl+wheel: zoom";

	constructor(host, app) {
		this.app = app;
		this.store = app.store;
		this.profile = app.store.profile;
		this.timeline = this.profile.timeline;
		this.tracks = [];
		this.selected = this.pointed = null; // { track, row, k }
		if (!this.timeline) {
			const none = document.createElement("p");

			none.className = "empty";
			none.textContent = "This profile has no single calls: record with --calls to see them " +
				"in time.";
			host.append(none);
			return;
		}
		this.#buildBar(host);
		this.all = this.profile.threads.map((_, i) => new Track(this.profile, i));
		this.range = new Range(10, () => this.#moved());
		const split = this.timeline.names.size ? this.#split(host) : host;

		this.surface = new Surface(split, "Timeline. Arrow keys go from call to call, Enter zooms in, " +
			"Escape zooms out.", this);
		this.panel = split === host ? null : new CallPanel(split);
		this.range.reset(Math.max(this.profile.duration, ...this.all.map((track) => track.end)));
		this.#choose();
		this.#search();
	}

	#split(host) {
		const split = document.createElement("div");

		split.className = "split call-split";
		host.append(split);
		return split;
	}

	#buildBar(host) {
		const bar = document.createElement("div"), note = document.createElement("span");
		const { calls, least, lost, threads } = this.timeline;
		const shown = threads.reduce((n, t) => n + t.n, 0), notes = [];

		notes.push(shown < calls ? `${count(shown)} of ${count(calls)} calls: the longest, from ` +
			`${duration(least)}` : `${count(calls)} call${calls === 1 ? "" : "s"}`);
		if (this.profile.thread !== "thread")
			notes.push("of sessions that were kept: the slowest, and some usual ones to compare with");
		if (lost)
			notes.push(`${count(lost)} lost`);
		notes.push("times as measured, with what the probes cost");
		note.textContent = notes.join(" \u00b7 ");
		note.className = "note";
		this.found = document.createElement("span");
		this.found.className = "found";
		this.zoomed = document.createElement("span");
		this.zoomed.className = "zoomed";
		this.reset = document.createElement("button");
		this.reset.type = "button";
		this.reset.textContent = "Reset zoom";
		this.reset.addEventListener("click", () => {
			this.range.all();
			this.surface.canvas.focus();
		});
		bar.className = "viewbar";
		bar.append(note, this.found, this.zoomed, this.reset);
		host.append(bar);
	}

	#choose() {
		const { scope } = this.store;
		let y = AXIS;

		this.tracks = this.all.filter((track) => track.calls.n &&
			(typeof scope !== "number" || track.number === scope));
		for (const track of this.tracks) {
			track.y = y;
			y += HEAD + track.rows.length * ROW + GAP;
		}
		this.selected = this.pointed = null;
		this.surface.setContent(y);
	}

	update(changes) {
		if (!this.timeline)
			return;
		if ("scope" in changes) {
			this.#choose();
			this.#tell(null);
		}
		if ("query" in changes)
			this.#search();
		this.surface.invalidate();
	}

	#search() {
		let sum = 0;

		for (const track of this.all) {
			track.search(this.store.words);
			sum += track.found.size;
		}
		this.found.textContent = sum ? `${count(sum)} call${sum === 1 ? " has" : "s have"} such a value`
			: "";
	}

	recolor() {
		this.surface?.invalidate();
	}

	#moved() {
		const { range } = this;

		if (!this.surface)
			return;
		this.zoomed.textContent = range.zoomed ? `${duration(range.length)} of ${duration(range.max)}`
			: "";
		this.reset.disabled = !range.zoomed;
		this.surface.invalidate();
	}

	draw(ctx, width, height, top) {
		const { colors } = this.app.theme;

		this.scale = width / this.range.length;
		ctx.font = `11.5px ${MONO}`;
		this.cell = ctx.measureText("0").width;
		this.#drawGrid(ctx, width, height);
		for (const track of this.tracks) {
			const y = track.y - top;

			if (y > height || y + HEAD + track.rows.length * ROW < 0)
				continue;
			ctx.font = `11.5px ${MONO}`;
			const from = Math.max(0, Math.floor((AXIS - y - HEAD) / ROW));
			const to = Math.min(track.rows.length, Math.ceil((height - y - HEAD) / ROW));

			for (let level = from; level < to; level++)
				this.#drawRow(ctx, track, level, y + HEAD + level * ROW, width);
			this.#drawName(ctx, track, y);
		}
		this.#outline(ctx, this.pointed, top, 1);
		this.#outline(ctx, this.selected, top, 2);
		this.#drawAxis(ctx, width);
	}

	// A track's name stays on the screen as long as any of its rows does.
	#drawName(ctx, track, y) {
		const { colors } = this.app.theme;
		const at = Math.min(Math.max(y, AXIS), y + track.rows.length * ROW);

		ctx.font = `12px ${SANS}`;
		if (at > y) {
			ctx.fillStyle = colors.page;
			ctx.fillRect(0, at - 1, ctx.measureText(track.name).width + 12, HEAD);
		}
		ctx.fillStyle = colors.dim;
		ctx.fillText(track.name, 6, at + HEAD / 2 + 1);
	}

	// Steps of 1, 2 or 5 times a power of ten, at least 90 pixels wide.
	#step() {
		const least = 90 / this.scale, power = 10 ** Math.floor(Math.log10(least));

		return Math.max(1, power * ([1, 2, 5].find((digit) => digit * power >= least) ?? 10));
	}

	#ticks(draw) {
		const step = this.#step();

		for (let k = Math.ceil(this.range.lo / step); k * step <= this.range.hi; k++)
			draw(k * step, (k * step - this.range.lo) * this.scale, step);
	}

	#drawGrid(ctx, width, height) {
		ctx.fillStyle = this.app.theme.colors.faint;
		this.#ticks((_, x) => ctx.fillRect(Math.round(x), 0, 1, height));
	}

	#drawAxis(ctx, width) {
		const { colors } = this.app.theme;

		ctx.fillStyle = colors.panel;
		ctx.fillRect(0, 0, width, AXIS - 2);
		ctx.fillStyle = colors.line;
		ctx.fillRect(0, AXIS - 2, width, 1);
		ctx.font = `11px ${SANS}`;
		ctx.fillStyle = colors.dim;
		this.#ticks((ns, x, step) => {
			const text = atTime(ns, step);

			// None is cut off at the right.
			if (x + 4 + ctx.measureText(text).width <= width)
				ctx.fillText(text, x + 4, AXIS / 2 - 1);
		});
	}

	#drawRow(ctx, track, level, y, width) {
		const { calls } = track, row = track.rows[level], { range, scale } = this;
		let k = firstIndex(0, row.length, (i) => calls.start[row[i]] + calls.length[row[i]] > range.lo);

		while (k < row.length && calls.start[row[k]] < range.hi) {
			const i = row[k];
			const left = (calls.start[i] - range.lo) * scale, wide = calls.length[i] * scale;

			if (wide >= 1) {
				const begin = Math.max(0, left), stop = Math.min(width, left + wide);

				this.#setColor(ctx, track, i);
				ctx.fillRect(begin, y, Math.max(0.75, stop - begin - 0.5), ROW - 1);
				this.#label(ctx, track, i, begin, stop, y);
				k++;
				continue;
			}
			const next = range.lo + (left + 1) / scale;
			const end = Math.max(k + 1, firstIndex(k + 1, row.length,
				(m) => calls.start[row[m]] + calls.length[row[m]] >= next));

			this.#setColor(ctx, track, track.shownOf(row, k, end, this.store.matches));
			ctx.fillRect(left, y, 0.75, ROW - 1);
			k = end;
		}
		ctx.globalAlpha = 1;
	}

	#setColor(ctx, track, i) {
		ctx.globalAlpha = track.matches(i, this.store.matches) ? 1 : 0.35;
		ctx.fillStyle = this.app.colors.function(track.fn(i));
	}

	// The function's name, then the call's values.
	#label(ctx, track, i, begin, stop, y) {
		if (stop - begin <= 24)
			return;
		const { name } = this.profile.functions[track.fn(i)];
		const text = fitText(ctx, [name, ...track.texts(i)].join("  "), stop - begin - 8, this.cell);

		if (!text)
			return;
		ctx.fillStyle = this.app.theme.colors.text;
		ctx.fillText(text, begin + 4, y + ROW / 2);
	}

	#outline(ctx, at, top, thick) {
		if (!at)
			return;
		const i = at.track.rows[at.row][at.k], { calls } = at.track;

		ctx.strokeStyle = thick > 1 ? this.app.theme.colors.accent : this.app.theme.colors.text;
		ctx.lineWidth = thick;
		ctx.strokeRect((calls.start[i] - this.range.lo) * this.scale, this.#yOf(at) - top,
			Math.max(1, calls.length[i] * this.scale), ROW - 1);
	}

	#yOf(at) {
		return at.track.y + HEAD + at.row * ROW;
	}

	#hit(px, py) {
		const y = py + this.surface.top, time = this.surface.at(px);
		const track = this.tracks.find((t) => y >= t.y + HEAD && y < t.y + HEAD + t.rows.length * ROW);

		if (!track || py < AXIS)
			return null;
		return track.find(Math.floor((y - track.y - HEAD) / ROW), time);
	}

	#describe(at) {
		if (!at)
			return null;
		const { calls } = at.track, i = at.track.rows[at.row][at.k], length = calls.length[i];
		const f = this.profile.functions[at.track.fn(i)];

		return { name: f.name, where: this.app.placeOf(f), facts: [
			["Took", duration(length), `${count(length)} ns`],
			["Off-CPU", `${duration(calls.off[i])} (${percent(calls.off[i], length)})`,
				`${count(calls.off[i])} ns`],
			["At", duration(calls.start[i]), `${count(calls.start[i])} ns`],
			["In", at.track.name],
		], values: at.track.values(i) };
	}

	#tell(at, speak = false) {
		const what = this.#describe(at);

		this.app.say(what, speak);
		this.panel?.show(what);
	}

	hover(px, py) {
		this.pointed = this.#hit(px, py);
		this.surface.canvas.style.cursor = this.pointed ? "pointer" : "";
		this.#tell(this.pointed ?? this.selected);
		this.surface.invalidate();
	}

	leave() {
		this.pointed = null;
		this.#tell(this.selected);
		this.surface.invalidate();
	}

	click(px, py) {
		const at = this.#hit(px, py), again = at && this.selected && at.track === this.selected.track &&
			at.row === this.selected.row && at.k === this.selected.k;

		this.selected = at;
		this.#tell(at);
		if (again)
			this.#zoomInto(at);
		this.surface.invalidate();
	}

	#zoomInto(at) {
		const { calls } = at.track, i = at.track.rows[at.row][at.k];
		const margin = Math.max(this.range.least, calls.length[i] * 0.05);

		this.range.to(calls.start[i] - margin, calls.start[i] + calls.length[i] + margin);
	}

	#select(at) {
		if (!at)
			return;
		const { calls } = at.track, i = at.track.rows[at.row][at.k];

		this.selected = at;
		this.range.show(calls.start[i], calls.start[i] + calls.length[i]);
		this.surface.reveal(this.#yOf(at), ROW, AXIS + HEAD);
		this.#tell(at, true);
		this.surface.invalidate();
	}

	// A time, and the first call of a thread.
	go(thread, start, length) {
		const margin = Math.max(this.range.least, length * 0.05);
		const track = this.tracks.find(({ number }) => number === thread);

		this.#select(track?.first());
		this.surface.box.scrollTop = (track?.y ?? AXIS) - AXIS;
		this.range.to(start - margin, start + length + margin);
		this.surface.canvas.focus();
	}

	#trackBy(track, step) {
		return this.tracks[this.tracks.indexOf(track) + step];
	}

	// The next call that was found, of this track or of another one.
	#nextFound(step) {
		const { matches } = this.store, { track, row, k } = this.selected ?? {};
		let on = track ?? this.tracks[0], i = track ? track.rows[row][k] : -1, next = null;

		while (matches && on && !(next = on.nextFound(i, step, matches))) {
			on = this.#trackBy(on, step);
			i = step > 0 ? -1 : on?.calls.n;
		}
		this.#select(next);
	}

	key(e) {
		const at = this.selected;

		if (e.key === "Home" || (!at && e.key.startsWith("Arrow"))) {
			this.#select(this.tracks[0]?.first());
			return true;
		}
		if (e.key === "n" || e.key === "p") {
			this.#nextFound(e.key === "n" ? 1 : -1);
			return true;
		}
		if (!at)
			return false;
		switch (e.key) {
		case "ArrowUp":
			this.#select(at.row ? at.track.above(at) : this.#trackBy(at.track, -1)?.first());
			return true;
		case "ArrowDown":
			this.#select(at.track.below(at) ?? this.#trackBy(at.track, 1)?.first());
			return true;
		case "ArrowLeft":
			this.#select(at.k ? { ...at, k: at.k - 1 } : null);
			return true;
		case "ArrowRight":
			this.#select(at.k + 1 < at.track.rows[at.row].length ? { ...at, k: at.k + 1 } : null);
			return true;
		case "Enter":
		case " ":
			this.#zoomInto(at);
			return true;
		default:
			return false;
		}
	}

	escape() {
		if (!this.timeline || !this.range.zoomed)
			return false;
		this.range.all();
		return true;
	}
}

// A moment with as many digits as the step between marks needs.
function atTime(ns, step) {
	const [size, unit] = step >= 1e9 ? [1e9, "s"] : step >= 1e6 ? [1e6, "ms"]
		: step >= 1e3 ? [1e3, "us"] : [1, "ns"];

	return `${count(ns / size)} ${unit}`;
}
