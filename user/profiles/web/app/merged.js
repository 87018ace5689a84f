// SPDX-License-Identifier: GPL-2.0-or-later
// Trees that are made of another tree's rows: who the callers of functions are, and what one
// function calls wherever it is called. Rows of equal names below one row are one row there.
//
// Example: main calls parse (self 3 ms), which calls read (self 5 ms); main calls read (self 2 ms).
//   inverted()     read 7 ms: parse 5 ms: main 5 ms; main 2 ms.   parse 3 ms: main 3 ms
//   callersOf(read)  parse 5 ms: main 5 ms; main 2 ms
//   calleesOf(parse) parse 8 ms: read 5 ms

import { FIELDS, link, Tree } from "./tree.js";

const LEVELS_MAX = 200; // of callers
const STEPS_MAX = 4e6; // from a row to its caller, for one tree

// Builds a tree row by row. A node is { id, sums, below }, where `id` is a function's number, or
// -1 - i for the thread in the source's row i, as two threads may have one name.
class Merger {
	constructor(source, kind) {
		this.source = source;
		this.kind = kind;
		this.top = this.#node(0);
		this.count = 0;
	}

	#node(id) {
		return { id, ...Object.fromEntries(FIELDS.map((field) => [field, 0])), all: 0, own: 0,
			below: new Map() };
	}

	below(node, i) {
		const id = this.source.fn[i] < 0 ? -1 - i : this.source.fn[i];

		if (!node.below.has(id)) {
			node.below.set(id, this.#node(id));
			this.count++;
		}
		return node.below.get(id);
	}

	// All that was gathered, as a tree that views can show.
	tree() {
		const { source, kind } = this, tree = new Tree(source.profile, this.count);
		const all = new Float64Array(this.count), own = new Float64Array(this.count);
		const rest = [[this.top, -1]];
		let at = 0;

		while (rest.length) {
			const [node, depth] = rest.pop();

			if (depth >= 0) {
				tree.depth[at] = depth;
				tree.fn[at] = Math.max(-1, node.id);
				if (node.id < 0)
					tree.labels.set(at, source.name(-1 - node.id));
				for (const field of FIELDS)
					tree[field][at] = node[field];
				all[at] = node.all;
				own[at] = node.own;
				at++;
			}
			for (const child of node.below.values())
				rest.push([child, depth + 1]);
		}
		tree.weights.set(kind, { all, own });
		link(tree);
		return tree;
	}
}

// How many levels of callers can be followed for so many rows.
function levelsFor(rows) {
	return Math.max(1, Math.min(LEVELS_MAX, Math.floor(STEPS_MAX / Math.max(1, rows))));
}

// Adds to `node`, and to those below it for row i's callers, what row i has. `begin` is the first
// row to add. Returns whether there were more callers than `levels`.
function addCallers(merger, begin, levels, add) {
	const { source } = merger;
	let node = merger.top, j = begin;

	for (; j >= 0 && levels > 0; j = source.parent[j], levels--) {
		node = merger.below(node, j);
		add(node);
	}
	return j >= 0;
}

// Each function by what it weighs itself; below it who called it, and so on. `cut`: some had more
// callers than are shown.
export function inverted(source, kind) {
	const { own } = source.weight(kind), merger = new Merger(source, kind);
	const rows = Array.from({ length: source.n }, (_, i) => i).filter((i) => own[i] > 0);
	const levels = levelsFor(rows.length);
	let cut = 0;

	for (const i of rows)
		cut += addCallers(merger, i, levels, (node) => {
			node.all += own[i];
			node.total += source.self[i];
			node.off += source.offSelf[i];
			node.error += source.selfError[i];
			node.calls += source.calls[i];
		});
	return { tree: merger.tree(), levels: cut ? levels : 0 };
}

// The outermost rows of a function: those not below another of its rows.
function outermost(source, fn) {
	const rows = [];

	for (let i = 0; i < source.n;) {
		if (source.fn[i] === fn)
			rows.push(i);
		i = source.fn[i] === fn ? source.end[i] : i + 1;
	}
	return rows;
}

// Who calls a function, by what it weighs with all that it calls; recursion counts once.
export function callersOf(source, fn, kind) {
	const { all } = source.weight(kind), merger = new Merger(source, kind);
	const rows = outermost(source, fn), levels = levelsFor(rows.length);
	let cut = 0;

	for (const i of rows)
		cut += addCallers(merger, source.parent[i], levels, (node) => {
			node.all += all[i];
			node.total += source.total[i];
			node.off += source.off[i];
			node.error += source.error[i];
			node.calls += source.calls[i];
		});
	return { tree: merger.tree(), levels: cut ? levels : 0 };
}

// What a function calls, wherever it is called.
export function calleesOf(source, fn, kind) {
	const { all, own } = source.weight(kind), merger = new Merger(source, kind);

	for (const begin of outermost(source, fn)) {
		const open = [merger.top];

		for (let i = begin; i < source.end[begin]; i++) {
			const level = source.depth[i] - source.depth[begin];
			const node = merger.below(open[level], i);

			open[level + 1] = node;
			node.all += all[i];
			node.own += own[i];
			for (const field of FIELDS)
				node[field] += source[field][i];
		}
	}
	return { tree: merger.tree(), levels: 0 };
}
