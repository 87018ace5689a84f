// SPDX-License-Identifier: GPL-2.0-or-later
// One function between its callers and its callees, of all its calls: above it who called it,
// wherever that was; below it what it called.

import { Flame } from "./flame.js";
import { base, count, duration, percent, WEIGHTS } from "./format.js";
import { calleesOf, callersOf } from "./merged.js";
import { Tree } from "./tree.js";

export class Sandwich {
	help = "arrows: select \u00b7 Enter: zoom in \u00b7 Esc: zoom out \u00b7 s: sandwich of the " +
		"selected function";

	constructor(host, app) {
		this.app = app;
		this.store = app.store;
		this.f = this.#heaviest();
		this.bar = document.createElement("div");
		this.bar.className = "viewbar";
		this.title = document.createElement("h2");
		this.note = document.createElement("p");
		this.note.className = "note";
		this.bar.append(this.title, this.note);
		host.append(this.bar);
		this.callers = new Flame(host, app, { flipped: true,
			label: "Callers, the nearest at the bottom. Arrow keys go from call to call." });
		this.callees = new Flame(host, app, {
			label: "The function on top, and what it calls. Arrow keys go from call to call." });
		for (const flame of [this.callers, this.callees])
			flame.surface.canvas.addEventListener("focus", () => { this.last = flame; });
		this.last = this.callees;
		this.#layout();
	}

	#heaviest() {
		return this.store.profile.functions.reduce((most, f) => !most || f.self > most.self ? f
			: most, null);
	}

	#layout(renews = false) {
		const { tree, weight } = this.store, { f } = this;

		if (!f) {
			this.title.textContent = "There are no functions.";
			this.callers.show(new Tree(this.store.profile, 0));
			this.callees.show(new Tree(this.store.profile, 0));
			return;
		}
		const above = callersOf(tree, f.id, weight), below = calleesOf(tree, f.id, weight);
		const all = below.tree.n ? below.tree.weight(weight).all[0] : 0;
		const object = this.store.profile.objects[f.object];

		this.title.textContent = f.name;
		this.title.title = f.name;
		this.note.textContent = [base(object.path), `${WEIGHTS[weight].text(all)}, ` +
			`${percent(all, tree.whole(weight))} of all ${WEIGHTS[weight].noun}`,
			above.levels ? `callers up to ${count(above.levels)} levels above` : ""].filter(Boolean)
			.join(" \u00b7 ");
		this.note.title = `${object.path}\n${duration(f.total)} in all threads`;
		this.callers[renews ? "renew" : "show"](above.tree);
		this.callees[renews ? "renew" : "show"](below.tree);
		if (!renews)
			this.callers.toBegin();
	}

	// Another function is looked at.
	go(f) {
		this.f = f;
		this.#layout();
		this.callees.surface.canvas.focus();
	}

	update(changes) {
		if ("weight" in changes || "scope" in changes)
			this.#layout();
		this.recolor();
	}

	renew() {
		const f = this.f && this.store.profile.functions.find(({ key }) => key === this.f.key);

		this.f = f ?? this.#heaviest();
		this.#layout(Boolean(f));
	}

	recolor() {
		this.callers.invalidate();
		this.callees.invalidate();
	}

	escape() {
		return this.last.escape();
	}

	shortcut(e) {
		const { tree, selected } = this.last;

		if (e.key !== "s")
			return false;
		if (tree && selected >= 0 && tree.fn[selected] >= 0)
			this.go(tree.functionOf(selected));
		return true;
	}
}
