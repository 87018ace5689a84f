// SPDX-License-Identifier: GPL-2.0-or-later
// A picture of a tree: each row is a bar as wide as it weighs, above those that it calls, or below
// them if it is `flipped`. Rows are kept sorted from left to right, so that what is on the screen is
// found by bisection, and of what is narrower than a pixel only one a pixel is drawn: the time to
// draw depends on the screen, not on the profile.

import { estimateOfRow } from "./estimate.js";
import { WEIGHTS } from "./format.js";
import { Range } from "./range.js";
import { firstIndex, fitText, Surface } from "./surface.js";
import { MONO } from "./theme.js";

const ROW = 19;
const TOP = 2;

export class Flame {
	// options: `label` for those who cannot see, `flipped`, `moved()` when another part of the
	// picture is shown, `chosen(i)` when a row is selected (-1: none).
	constructor(host, app, options) {
		this.app = app;
		this.store = app.store;
		this.options = options;
		this.endStays = Boolean(options.flipped);
		this.selected = -1;
		this.pointed = -1;
		this.pointer = null;
		this.range = new Range(1, () => this.#moved());
		this.surface = new Surface(host, options.label, this);
	}

	// Where each row of the tree begins, level by level.
	show(tree) {
		const { weight } = this.store, { all } = tree.weight(weight);
		const { first, rows } = tree.children(all);
		const x = new Float64Array(tree.n), order = new Int32Array(tree.n), levels = [0];
		let filled = 0, sum = 0;
		const place = (parent, from) => {
			for (let k = first[parent]; k < first[parent + 1]; k++) {
				x[rows[k]] = from;
				from += all[rows[k]];
				// What weighs nothing has no place, nor has what is below it.
				if (all[rows[k]] > 0)
					order[filled++] = rows[k];
			}
			return from;
		};

		sum = place(tree.n, 0);
		while (filled > levels[levels.length - 1]) {
			const begin = levels[levels.length - 1], end = filled;

			levels.push(end);
			for (let k = begin; k < end; k++)
				place(order[k], x[order[k]]);
		}
		Object.assign(this, { tree, x, all, order, levels, sum });
		this.pointed = -1;
		this.#choose(-1);
		this.surface.setContent((levels.length - 1) * ROW + TOP);
		this.range.least = weight === "calls" ? 1e-3 : 1;
		this.range.reset(sum);
	}

	// Another tree of the same kind: what is selected, pointed at and zoomed into stays so.
	renew(tree) {
		const { pointer, range, selected } = this;
		const path = selected >= 0 ? this.tree.keys[selected] : 0;
		const was = selected >= 0 ? [this.x[selected], this.all[selected]] : [0, this.sum];
		const ends = range.zoomed && was[1] > 0 &&
			[range.lo, range.hi].map((at) => (at - was[0]) / was[1]);

		this.show(tree);
		const i = path ? tree.keys.indexOf(path) : -1;
		const now = i >= 0 ? [this.x[i], this.all[i]] : [0, this.sum];

		if (i >= 0 && this.all[i] > 0)
			this.#choose(i);
		if (ends && (!path || this.selected >= 0))
			range.set(...ends.map((end) => now[0] + end * now[1]));
		if (pointer)
			this.hover(...pointer);
		else if (this.selected >= 0)
			this.app.tell(tree, this.selected);
	}

	invalidate() {
		this.surface.invalidate();
	}

	#moved() {
		this.options.moved?.();
		this.surface?.invalidate();
	}

	#choose(i) {
		this.selected = i;
		this.options.chosen?.(i);
	}

	// Where a level's bars are in the whole picture, in pixels from its top. What is flipped stands
	// on the bottom of the screen, or of the picture if that is higher.
	#y(level) {
		const high = Math.max(this.surface.height, this.surface.content);

		return this.options.flipped ? high - TOP - (level + 1) * ROW : TOP + level * ROW;
	}

	#levelAt(y) {
		const high = Math.max(this.surface.height, this.surface.content);

		return Math.floor((this.options.flipped ? high - TOP - y : y - TOP) / ROW);
	}

	// The outermost calls, next to which the picture begins.
	toBegin() {
		this.surface.box.scrollTop = this.options.flipped ? this.surface.box.scrollHeight : 0;
	}

	draw(ctx, width, height, top) {
		const ends = [this.#levelAt(top), this.#levelAt(top + height)];
		const from = Math.max(0, Math.min(...ends));
		const to = Math.min(this.levels.length - 1, Math.max(...ends) + 1);

		ctx.font = `11.5px ${MONO}`;
		this.cell = ctx.measureText("0").width;
		this.scale = width / this.range.length;
		for (let level = from; level < to; level++)
			this.#drawLevel(ctx, level, this.#y(level) - top, width);
		this.#outline(ctx, this.pointed, top, 1);
		this.#outline(ctx, this.selected, top, 2);
		if (!this.sum) {
			ctx.fillStyle = this.app.theme.colors.dim;
			ctx.fillText(`There is no ${WEIGHTS[this.store.weight].noun} to show.`, 12, 24);
		}
	}

	#drawLevel(ctx, level, y, width) {
		const { x, all, order, levels, range, scale, store } = this;
		const end = levels[level + 1];
		let k = firstIndex(levels[level], end, (i) => x[order[i]] + all[order[i]] > range.lo);

		while (k < end && x[order[k]] < range.hi) {
			const i = order[k], left = (x[i] - range.lo) * scale, wide = all[i] * scale;
			const dim = store.matches && !(this.tree.fn[i] >= 0 && store.matches[this.tree.fn[i]]);

			const pale = this.#isEstimate(i);

			ctx.globalAlpha = dim ? 0.35 : pale ? 0.6 : 1;
			ctx.fillStyle = this.app.colors.function(this.tree.fn[i]);
			if (wide >= 1) {
				const begin = Math.max(0, left), stop = Math.min(width, left + wide);

				ctx.fillRect(begin, y, Math.max(0.5, stop - begin - 0.75), ROW - 1);
				ctx.globalAlpha = dim ? 0.35 : 1;
				this.#label(ctx, i, begin, stop, y);
				k++;
				continue;
			}
			ctx.fillRect(left, y, 0.6, ROW - 1);
			// The next that is seen begins a pixel later, or is wider.
			const next = range.lo + (left + 1) / scale;

			k = Math.max(k + 1, firstIndex(k + 1, end,
				(m) => x[order[m]] + all[order[m]] >= next));
		}
		ctx.globalAlpha = 1;
	}

	// Drawn paler.
	#isEstimate(i) {
		const e = estimateOfRow(this.tree, i);

		return e !== null && (this.store.weight === "calls" ? e.calls > 0 : e.source !== "exact");
	}

	#label(ctx, i, begin, stop, y) {
		const text = stop - begin > 24 && fitText(ctx, this.tree.name(i), stop - begin - 9, this.cell);

		if (!text)
			return;
		ctx.fillStyle = this.app.theme.colors.text;
		ctx.fillText(text, begin + 4, y + ROW / 2);
	}

	#outline(ctx, i, top, thick) {
		if (i < 0)
			return;
		const left = (this.x[i] - this.range.lo) * this.scale, wide = this.all[i] * this.scale;

		ctx.strokeStyle = thick > 1 ? this.app.theme.colors.accent : this.app.theme.colors.text;
		ctx.lineWidth = thick;
		ctx.strokeRect(left, this.#y(this.tree.depth[i]) - top, Math.max(1, wide - 0.75), ROW - 1);
	}

	// The tree's row at a place of the screen, or -1.
	#hit(px, py) {
		const level = this.#levelAt(py + this.surface.top), at = this.surface.at(px);

		if (level < 0 || level >= this.levels.length - 1)
			return -1;
		const { x, all, order, levels } = this, end = levels[level + 1];
		const k = firstIndex(levels[level], end, (i) => x[order[i]] + all[order[i]] > at);

		return k < end && x[order[k]] <= at ? order[k] : -1;
	}

	hover(px, py) {
		this.pointer = [px, py];
		this.pointed = this.#hit(px, py);
		this.surface.canvas.style.cursor = this.pointed < 0 ? "" : "pointer";
		this.app.tell(this.tree, this.pointed < 0 ? this.selected : this.pointed);
		this.surface.invalidate();
	}

	leave() {
		this.pointer = null;
		this.pointed = -1;
		this.app.tell(this.tree, this.selected);
		this.surface.invalidate();
	}

	click(px, py) {
		const i = this.#hit(px, py);

		if (i < 0)
			return;
		this.select(i, false);
		this.zoomInto(i);
	}

	zoomInto(i) {
		this.range.to(this.x[i], this.x[i] + this.all[i]);
	}

	select(i, speak = true) {
		if (i < 0)
			return;
		this.#choose(i);
		this.range.show(this.x[i], this.x[i] + this.all[i]);
		this.surface.reveal(this.#y(this.tree.depth[i]), ROW, TOP);
		this.app.tell(this.tree, i, speak);
		this.surface.invalidate();
	}

	// The row `step` places from the selected one on its level.
	#beside(step) {
		const { levels, order, tree, x, selected } = this, level = tree.depth[selected];
		const k = firstIndex(levels[level], levels[level + 1], (i) => x[order[i]] >= x[selected]);
		const wanted = k + step;

		return wanted >= levels[level] && wanted < levels[level + 1] ? order[wanted] : -1;
	}

	// The first row below the selected one: the heaviest.
	#below() {
		const { levels, order, tree, x, selected } = this, level = tree.depth[selected] + 1;

		if (level >= levels.length - 1)
			return -1;
		const k = firstIndex(levels[level], levels[level + 1], (i) => x[order[i]] >= x[selected]);

		return k < levels[level + 1] && tree.parent[order[k]] === selected ? order[k] : -1;
	}

	escape() {
		if (!this.range.zoomed)
			return false;
		this.range.all();
		return true;
	}

	key(e) {
		const { tree, selected } = this;

		if (e.key === "Home" || (selected < 0 && e.key.startsWith("Arrow"))) {
			this.select(this.order.length && this.sum ? this.order[0] : -1);
			return true;
		}
		if (selected < 0)
			return false;
		switch (e.key) {
		case "ArrowUp":
		case "ArrowDown":
			this.select((e.key === "ArrowDown") === !this.options.flipped ? this.#below()
				: tree.parent[selected]);
			return true;
		case "ArrowLeft":
			this.select(this.#beside(-1));
			return true;
		case "ArrowRight":
			this.select(this.#beside(1));
			return true;
		case "Enter":
		case " ":
			this.zoomInto(selected);
			return true;
		case "Backspace":
			if (tree.parent[selected] >= 0) {
				this.select(tree.parent[selected]);
				this.zoomInto(tree.parent[selected]);
			}
			return true;
		default:
			return false;
		}
	}
}
