// SPDX-License-Identifier: GPL-2.0-or-later
// What the user has chosen, and what follows from it for all views: the tree to show, and which
// functions a search has found.

import { treeApart, treeTogether } from "./tree.js";

export class Store {
	constructor(profile) {
		this.profile = profile;
		this.weight = profile.weight;
		this.scope = profile.threads.length > 1 ? "together" : "apart"; // or a thread's number
		this.query = "";
		this.matches = null; // by function; null: nothing is searched
		this.listeners = [];
		this.trees = new Map();
	}

	// Another profile of the same run: what was chosen stays so.
	renew(profile) {
		const { threads } = this.profile;
		const chosen = typeof this.scope === "number" && threads.length > 1 && threads[this.scope];
		const scope = profile.threads.findIndex((t) => t.origin === chosen?.origin);

		if (profile.threads.length === 1)
			this.scope = 0;
		else if (typeof this.scope === "number")
			this.scope = scope >= 0 ? scope : profile.threads.length ? "together" : "apart";
		else if (!threads.length && profile.threads.length)
			this.scope = "together";
		this.profile = profile;
		this.trees.clear();
		this.matches = this.#search(this.words);
	}

	onChange(listener) {
		this.listeners.push(listener);
	}

	set(changes) {
		Object.assign(this, changes);
		if ("query" in changes)
			this.matches = this.#search(this.words);
		for (const listener of this.listeners)
			listener(changes);
	}

	get words() {
		return this.query.trim().toLowerCase();
	}

	#search(words) {
		if (!words)
			return null;
		return Uint8Array.from(this.profile.functions, (f) => f.searched.includes(words));
	}

	found() {
		return this.matches ? this.matches.reduce((n, hit) => n + hit, 0) : 0;
	}

	get tree() {
		const { profile, scope } = this;

		if (this.trees.has(scope))
			return this.trees.get(scope);
		if (scope === "together")
			return this.#keep(scope, treeTogether(profile));
		return this.#keep(scope, treeApart(profile, scope === "apart" ? profile.threads
			: [profile.threads[scope]]));
	}

	// Of single threads only the last is kept.
	#keep(scope, tree) {
		if (typeof scope === "number")
			for (const key of [...this.trees.keys()].filter((key) => typeof key === "number"))
				this.trees.delete(key);
		this.trees.set(scope, tree);
		return tree;
	}
}
