// SPDX-License-Identifier: GPL-2.0-or-later
// The flame graph of all call paths, the outermost calls on top; or inverted: on top each function
// by what it weighs itself, below it those that called it.

import { Flame } from "./flame.js";
import { HINT } from "./estimate.js";
import { percent } from "./format.js";
import { inverted } from "./merged.js";

const LEGEND_MAX = 10;

export class FlameView {
	constructor(host, app) {
		this.app = app;
		this.store = app.store;
		this.inverted = false;
		this.#buildBar(host);
		this.flame = new Flame(host, app, {
			label: "Flame graph. Arrow keys go from call to call, Enter zooms in, Escape zooms out.",
			moved: () => this.#moved(),
			chosen: (i) => this.#chosen(i),
		});
		this.#layout();
	}

	help = "arrows: select \u00b7 Enter: zoom in \u00b7 Esc: zoom out \u00b7 + \u2212 0: zoom \u00b7 " +
		"i: invert \u00b7 s: sandwich \u00b7 Ctrl+wheel: zoom \u00b7 drag: move";

	#buildBar(host) {
		const bar = document.createElement("div"), legend = document.createElement("ul");
		const button = (text, title, act) => {
			const el = document.createElement("button");

			el.type = "button";
			el.textContent = text;
			el.title = title;
			el.addEventListener("click", act);
			return el;
		};

		bar.className = "viewbar";
		legend.className = "legend";
		legend.setAttribute("aria-label", "Colours of objects");
		this.zoomed = document.createElement("span");
		this.zoomed.className = "zoomed";
		this.reset = button("Reset zoom", "", () => {
			this.flame.range.all();
			this.flame.surface.canvas.focus();
		});
		this.invert = button("Inverted", "On top each function by what it weighs itself, below it " +
			"its callers", () => this.#turn());
		this.invert.setAttribute("aria-pressed", "false");
		this.sandwich = button("Sandwich", "The selected function's callers and callees",
			() => this.#openSandwich());
		bar.append(legend, this.zoomed, this.reset, this.invert, this.sandwich);
		host.append(bar);
		this.legend = legend;
		this.#fillLegend();
	}

	// Of a difference: what the colours mean.
	#fillChanges() {
		const { colors, profile } = this.app;

		this.legend.setAttribute("aria-label", "Colours of changes");
		this.legend.replaceChildren(...[[1, `more own ${profile.diff.compared} than before`],
			[-1, "less"], [0, "within noise"]].map(([by, text]) => {
			const item = document.createElement("li"), swatch = document.createElement("i");

			swatch.style.background = colors.changed(by);
			item.append(swatch, text);
			return item;
		}));
	}

	#fillLegend() {
		if (this.app.colors.change) {
			this.#fillChanges();
			return;
		}
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
		if (this.app.profile.estimates) {
			const item = document.createElement("li");

			item.textContent = "~ paler: estimated";
			item.title = `${this.app.profile.estimates.note}; ${HINT}`;
			items.unshift(item);
		}
		this.legend.replaceChildren(...items);
	}

	#layout(renews = false) {
		const { tree, weight } = this.store;
		const made = this.inverted ? inverted(tree, weight) : { tree, levels: 0 };

		this.invert.textContent = made.levels ? `Inverted, ${made.levels} levels of callers`
			: "Inverted";
		this.flame[renews ? "renew" : "show"](made.tree);
	}

	#turn() {
		this.inverted = !this.inverted;
		this.invert.setAttribute("aria-pressed", String(this.inverted));
		this.#layout();
	}

	#moved() {
		const range = this.flame?.range;

		if (!range)
			return;
		this.zoomed.textContent = range.zoomed ? `Zoomed to ${percent(range.length, range.max)}` : "";
		this.reset.disabled = !range.zoomed;
	}

	#chosen(i) {
		this.sandwich.disabled = i < 0 || this.flame.tree.fn[i] < 0;
	}

	#openSandwich() {
		const { tree, selected } = this.flame;

		if (selected >= 0 && tree.fn[selected] >= 0)
			this.app.openSandwich(tree.functionOf(selected));
	}

	// A row of the tree, the outermost calls on top.
	go(i) {
		if (this.inverted)
			this.#turn();
		this.flame.select(i);
		this.flame.surface.canvas.focus();
	}

	update(changes) {
		if ("weight" in changes || "scope" in changes)
			this.#layout();
		this.flame.invalidate();
	}

	renew() {
		this.#fillLegend();
		this.#layout(true);
	}

	recolor() {
		this.#fillLegend();
		this.flame.invalidate();
	}

	escape() {
		return this.flame.escape();
	}

	shortcut(e) {
		if (e.key === "i")
			this.#turn();
		else if (e.key === "s")
			this.#openSandwich();
		else
			return false;
		return true;
	}
}
