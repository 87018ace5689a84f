// SPDX-License-Identifier: GPL-2.0-or-later
// A colour for each object, those with most time of their own first, and shades of it for its
// functions.

const HUES = [24, 206, 150, 268, 46, 336, 180, 96, 0, 228, 300, 120];
const SHADES = 5;

// Spreads functions over the shades: nearby names rarely get the same.
function shadeOf(name) {
	let hash = 7;

	for (let i = 0; i < name.length; i++)
		hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
	return ((hash ^ (hash >>> 11)) >>> 0) % SHADES;
}

export class Colors {
	constructor(profile, theme) {
		this.theme = theme;
		this.given = new Map(); // by path, an object's place among the colours
		this.renew(profile);
		theme.onChange(() => this.#mix());
	}

	// An object that has a colour keeps it.
	renew(profile) {
		const own = new Float64Array(profile.objects.length);

		for (const f of profile.functions)
			own[f.object] += f.self;
		this.ranked = profile.objects.map((object, i) => ({ ...object, id: i, own: own[i] }))
			.sort((a, b) => b.own - a.own);
		this.rank = new Int32Array(own.length);
		for (const { id, path } of this.ranked) {
			if (!this.given.has(path))
				this.given.set(path, this.given.size);
			this.rank[id] = this.given.get(path);
		}
		this.shade = profile.functions.map((f) => shadeOf(f.name));
		this.objectOf = profile.functions.map((f) => f.object);
		this.change = profile.diff && this.#changes(profile.functions);
		this.#mix();
	}

	// Of each function's own time: from -1 (much less) to 1 (much more), 0 within noise.
	#changes(functions) {
		const by = functions.map(({ before }) => before.noise ? 0 : before.now - before.self);
		const most = by.reduce((max, ns) => Math.max(max, Math.abs(ns)), 1);

		return by.map((ns) => Math.sign(ns) * Math.sqrt(Math.abs(ns) / most));
	}

	changed(by) {
		const { dark } = this.theme;

		if (!by)
			return this.thread;
		const strong = Math.abs(by), hue = by > 0 ? 4 : 212;

		return dark ? `hsl(${hue} ${35 + 30 * strong}% ${28 + 14 * strong}%)`
			: `hsl(${hue} 80% ${90 - 22 * strong}%)`;
	}

	#mix() {
		const dark = this.theme.dark;

		this.table = Array.from(this.given, (_, rank) => {
			const hue = HUES[rank % HUES.length] + 11 * Math.floor(rank / HUES.length);

			return Array.from({ length: SHADES }, (_, shade) => dark
				? `hsl(${hue + 5 * shade - 10} ${40 + shade}% ${26 + 2.2 * shade}%)`
				: `hsl(${hue + 5 * shade - 10} ${60 + 4 * shade}% ${73 + 2.6 * shade}%)`);
		});
		this.thread = dark ? "hsl(220 6% 24%)" : "hsl(220 8% 88%)";
	}

	// For small marks, which no text stands on.
	object(id) {
		const rank = this.rank[id], hue = HUES[rank % HUES.length] +
			11 * Math.floor(rank / HUES.length);

		return this.theme.dark ? `hsl(${hue} 45% 52%)` : `hsl(${hue} 62% 70%)`;
	}

	mark(fn) {
		return fn < 0 ? this.thread : this.object(this.objectOf[fn]);
	}

	function(fn) {
		if (this.change)
			return this.changed(fn < 0 ? 0 : this.change[fn]);
		return fn < 0 ? this.thread : this.table[this.rank[this.objectOf[fn]]][this.shade[fn]];
	}
}
