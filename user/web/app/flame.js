// SPDX-License-Identifier: GPL-2.0-or-later
// The flame graph, the outermost calls on top. Rows are kept sorted from left to right, so that what
// is on the screen is found by bisection, and of what is narrower than a pixel only one a pixel is
// drawn: the time to draw depends on the screen, not on the profile.

import { percent, WEIGHTS } from "./format.js";
import { Range } from "./range.js";
import { firstIndex, fitText, Surface } from "./surface.js";
import { MONO } from "./theme.js";

const ROW = 19;
const TOP = 2;
const LEGEND_MAX = 10;

export class Flame {
	constructor(host, app) {
		this.app = app;
		this.store = app.store;
		this.selected = -1;
		this.pointed = -1;
		this.#buildBar(host);
		this.range = new Range(1, () => this.#moved());
		this.surface = new Surface(host, "Flame graph. Arrow keys go from call to call, Enter zooms " +
			"in, Escape zooms out.", this);
		this.layout();
	}

	help = "arrows: select \u00b7 Enter: zoom in \u00b7 Esc: zoom out \u00b7 + \u2212 0: zoom \u00b7 " +
		"Ctrl+wheel: zoom \u00b7 drag: move";

	#buildBar(host) {
		const bar = document.createElement("div"), legend = document.createElement("ul");

		bar.className = "viewbar";
		legend.className = "legend";
		legend.setAttribute("aria-label", "Colours of objects");
		this.zoomed = document.createElement("span");
		this.zoomed.className = "zoomed";
		this.reset = document.createElement("button");
		this.reset.type = "button";
		this.reset.textContent = "Reset zoom";
		this.reset.addEventListener("click", () => {
			this.range.all();
			this.surface.canvas.focus();
		});
		bar.append(legend, this.zoomed, this.reset);
		host.append(bar);
		this.legend = legend;
		this.#fillLegend();
	}

	#fillLegend() {
		const { ranked } = this.app.colors;
		const items = ranked.slice(0, LEGEND_MAX).map((object) => {
			const item = document.createElement("li"), swatch = document.createElement("i");

			swatch.style.background = this.app.colors.object(object.id);
			item.title = object.path;
			item.append(swatch, object.name);
			return item;
		});

		if (ranked.length > LEGEND_MAX) {
			const item = document.createElement("li");

			item.textContent = `and ${ranked.length - LEGEND_MAX} more`;
			items.push(item);
		}
		this.legend.replaceChildren(...items);
	}

	// Where each row of the tree begins, level by level.
	layout() {
		const { tree, weight } = this.store, { all } = tree.weight(weight);
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
		this.selected = this.pointed = -1;
		this.surface.setContent((levels.length - 1) * ROW + TOP);
		this.range.least = weight === "calls" ? 1e-3 : 1;
		this.range.reset(sum);
	}

	update(changes) {
		if ("weight" in changes || "scope" in changes)
			this.layout();
		this.surface.invalidate();
	}

	recolor() {
		this.#fillLegend();
		this.surface.invalidate();
	}

	#moved() {
		const { range } = this;

		if (!this.surface)
			return;
		this.zoomed.textContent = range.zoomed ? `Zoomed to ${percent(range.length, range.max)}` : "";
		this.reset.disabled = !range.zoomed;
		this.surface.invalidate();
	}

	draw(ctx, width, height, top) {
		const from = Math.max(0, Math.floor((top - TOP) / ROW));
		const to = Math.min(this.levels.length - 1, Math.ceil((top + height) / ROW));

		ctx.font = `11.5px ${MONO}`;
		this.cell = ctx.measureText("0").width;
		this.scale = width / this.range.length;
		for (let level = from; level < to; level++)
			this.#drawLevel(ctx, level, TOP + level * ROW - top, width);
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

			ctx.globalAlpha = dim ? 0.35 : 1;
			ctx.fillStyle = this.app.colors.function(this.tree.fn[i]);
			if (wide >= 1) {
				const begin = Math.max(0, left), stop = Math.min(width, left + wide);

				ctx.fillRect(begin, y, Math.max(0.5, stop - begin - 0.75), ROW - 1);
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
		ctx.strokeRect(left, TOP + this.tree.depth[i] * ROW - top, Math.max(1, wide - 0.75), ROW - 1);
	}

	// The tree's row at a place of the screen, or -1.
	#hit(px, py) {
		const level = Math.floor((py + this.surface.top - TOP) / ROW), at = this.surface.at(px);

		if (level < 0 || level >= this.levels.length - 1)
			return -1;
		const { x, all, order, levels } = this, end = levels[level + 1];
		const k = firstIndex(levels[level], end, (i) => x[order[i]] + all[order[i]] > at);

		return k < end && x[order[k]] <= at ? order[k] : -1;
	}

	hover(px, py) {
		this.pointed = this.#hit(px, py);
		this.surface.canvas.style.cursor = this.pointed < 0 ? "" : "pointer";
		this.app.tell(this.tree, this.pointed < 0 ? this.selected : this.pointed);
		this.surface.invalidate();
	}

	leave() {
		this.pointed = -1;
		this.app.tell(this.tree, this.selected);
		this.surface.invalidate();
	}

	click(px, py) {
		const i = this.#hit(px, py);

		if (i < 0)
			return;
		this.#select(i, false);
		this.zoomInto(i);
	}

	zoomInto(i) {
		this.range.to(this.x[i], this.x[i] + this.all[i]);
	}

	#select(i, speak = true) {
		if (i < 0)
			return;
		this.selected = i;
		this.range.show(this.x[i], this.x[i] + this.all[i]);
		this.surface.reveal(TOP + this.tree.depth[i] * ROW, ROW, TOP);
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
			this.#select(this.order.length && this.sum ? this.order[0] : -1);
			return true;
		}
		if (selected < 0)
			return false;
		switch (e.key) {
		case "ArrowUp":
			this.#select(tree.parent[selected]);
			return true;
		case "ArrowDown":
			this.#select(this.#below());
			return true;
		case "ArrowLeft":
			this.#select(this.#beside(-1));
			return true;
		case "ArrowRight":
			this.#select(this.#beside(1));
			return true;
		case "Enter":
		case " ":
			this.zoomInto(selected);
			return true;
		case "Backspace":
			if (tree.parent[selected] >= 0) {
				this.#select(tree.parent[selected]);
				this.zoomInto(tree.parent[selected]);
			}
			return true;
		default:
			return false;
		}
	}
}
