// SPDX-License-Identifier: GPL-2.0-or-later
// A forest of call paths as views show it: all threads apart, those of one kind together, or one
// thread. Arrays in the order of a walk; threads are the outermost rows. Paths may be 100,000 levels
// deep, so nothing here recurses.

// Figures that add up over paths.
export const FIELDS = ["calls", "total", "self", "off", "offSelf", "error", "selfError", "sampled",
	"varied", "burst", "callsVaried"];

// Numbers of paths that were met, by their callers' and a name.
const known = new Map();

export class Tree {
	constructor(profile, n) {
		this.profile = profile;
		this.n = n;
		this.depth = new Int32Array(n);
		this.parent = new Int32Array(n).fill(-1);
		this.end = new Int32Array(n); // behind the last row below this one
		this.fn = new Int32Array(n).fill(-1); // -1: a thread
		this.labels = new Map(); // of threads, by row
		this.origins = new Map(); // their names while they live, where labels are others
		for (const field of FIELDS)
			this[field] = new Float64Array(n);
		this.weights = new Map();
	}

	name(i) {
		return this.fn[i] < 0 ? this.labels.get(i) : this.profile.functions[this.fn[i]].name;
	}

	functionOf(i) {
		return this.fn[i] < 0 ? null : this.profile.functions[this.fn[i]];
	}

	// By row, a number that the same path has in all trees of one kind.
	get keys() {
		this.paths ??= new Int32Array(this.n);
		for (let i = this.paths[0] ? this.n : 0; i < this.n; i++) {
			const name = this.functionOf(i)?.key ?? this.origins.get(i) ?? this.labels.get(i);
			const path = `${this.parent[i] < 0 ? 0 : this.paths[this.parent[i]]} ${name}`;

			if (!known.has(path))
				known.set(path, known.size + 1);
			this.paths[i] = known.get(path);
		}
		return this.paths;
	}

	// What rows weigh, with what is below them and by themselves.
	weight(kind) {
		if (!this.weights.has(kind))
			this.weights.set(kind, this.#weigh(kind));
		return this.weights.get(kind);
	}

	#weigh(kind) {
		const { n, total, self, off, offSelf } = this;

		if (kind === "off")
			return { all: off, own: offSelf };
		if (kind === "wall")
			return { all: total, own: self };
		const all = new Float64Array(n), own = new Float64Array(n);

		for (let i = n; i--;) {
			if (kind === "cpu") {
				all[i] = Math.max(0, total[i] - off[i]);
				own[i] = Math.max(0, self[i] - offSelf[i]);
				continue;
			}
			own[i] = this.calls[i];
			all[i] += own[i];
			if (this.parent[i] >= 0)
				all[this.parent[i]] += all[i];
		}
		return { all, own };
	}

	// Variances of inclusive times: what was measured from entry to exit has none, of the others all
	// below them adds up.
	totalVaried() {
		if (!this.variances) {
			const all = this.variances = Float64Array.from(this.varied);

			for (let i = this.n; i--;) {
				if (!this.burst[i] && this.calls[i] && this.sampled[i] <= this.self[i] / 2)
					all[i] = 0;
				if (this.parent[i] >= 0)
					all[this.parent[i]] += all[i];
			}
		}
		return this.variances;
	}

	whole(kind) {
		const { all } = this.weight(kind);
		let sum = 0;

		for (let i = 0; i < this.n; i = this.end[i])
			sum += all[i];
		return sum;
	}

	// Rows below each, those that weigh most first: { first, rows }, where the children of i are
	// rows[first[i]] up to rows[first[i + 1]], and those of none (threads) come from first[n].
	children(values, descending = true) {
		const { n, parent } = this;
		const first = new Int32Array(n + 2), at = new Int32Array(n + 1);
		const order = Int32Array.from({ length: n }, (_, i) => i), rows = new Int32Array(n);

		order.sort(descending ? (a, b) => values[b] - values[a] || a - b
			: (a, b) => values[a] - values[b] || a - b);
		for (let i = 0; i < n; i++)
			first[(parent[i] < 0 ? n : parent[i]) + 1]++;
		for (let i = 0; i <= n; i++)
			first[i + 1] += first[i];
		at.set(first.subarray(0, n + 1));
		for (const i of order)
			rows[at[parent[i] < 0 ? n : parent[i]]++] = i;
		return { first, rows };
	}

	// How much of the whole matches: rows that do, not within another that does.
	matched(kind, matches) {
		const { all } = this.weight(kind);
		let sum = 0;

		for (let i = 0; i < this.n;) {
			const hit = this.fn[i] >= 0 && matches[this.fn[i]];

			if (hit)
				sum += all[i];
			i = hit ? this.end[i] : i + 1;
		}
		return sum;
	}
}

// Sets parent and end from depth.
export function link(tree) {
	const open = [];

	for (let i = 0; i < tree.n; i++) {
		while (open.length > tree.depth[i])
			tree.end[open.pop()] = i;
		tree.parent[i] = open.length ? open[open.length - 1] : -1;
		open.push(i);
	}
	for (const i of open)
		tree.end[i] = tree.n;
}

// A thread's row has what its outermost calls have.
function addThread(tree, row, label, origin, roots) {
	tree.labels.set(row, label);
	tree.origins.set(row, origin);
	for (const root of roots)
		for (const field of ["total", "off", "error"])
			tree[field][row] += tree[field][root];
}

// The number of a thread's path, of which the functions from fns[from] on are known; -1: none.
export function findPath({ paths }, thread, fns, from) {
	let at = from;

	for (let i = thread.first; i < thread.end && paths.depth[i] >= at - from; i++)
		if (paths.depth[i] === at - from && paths.fn[i] === fns[at] && ++at === fns.length)
			return i;
	return -1;
}

export function treeApart(profile, threads) {
	const { paths } = profile;
	const tree = new Tree(profile, threads.reduce((n, t) => n + t.end - t.first + 1, 0));
	let at = 0;

	for (const t of threads) {
		const row = at++, roots = [];

		for (let i = t.first; i < t.end; i++, at++) {
			tree.depth[at] = paths.depth[i] + 1;
			tree.fn[at] = paths.fn[i];
			for (const field of FIELDS)
				tree[field][at] = paths[field][i];
			if (!paths.depth[i])
				roots.push(at);
		}
		addThread(tree, row, t.name, t.origin, roots);
	}
	link(tree);
	return tree;
}

// Threads whose names differ by a number at the end are of one kind: worker-1 and worker-2.
function kindOf(comm) {
	return comm.replace(/(?<=[-_:/# ])[0-9]+$/, "");
}

// "nginx (4 processes)", "worker-* (2 processes, 8 threads)": what threads of one kind are of.
function labelOf(profile, threads) {
	const [first] = threads, names = new Set(threads.map((t) => t.comm));
	const pids = new Set(threads.map((t) => t.pid)), parts = [];

	if (threads.length === 1)
		return first.name;
	if (pids.size > 1 && profile.thread === "thread")
		parts.push(`${pids.size} processes`);
	if (!parts.length || pids.size < threads.length)
		parts.push(`${threads.length} ${profile.thread}s`);
	return `${names.size > 1 ? `${kindOf(first.comm)}*` : first.comm} (${parts.join(", ")})`;
}

// One tree for all threads of a kind: equal paths are one.
export function treeTogether(profile) {
	const { paths, threads } = profile;
	const found = new Map(), kinds = new Map(), nodes = []; // nodes: { fn, sources, below }
	const below = (parent, fn) => {
		const key = parent * profile.functions.length + fn;

		if (!found.has(key)) {
			found.set(key, nodes.length);
			nodes[parent].below.push(nodes.length);
			nodes.push({ fn, sources: [], below: [] });
		}
		return found.get(key);
	};

	for (const t of threads) {
		const kind = kindOf(t.comm);

		if (!kinds.has(kind)) {
			kinds.set(kind, { node: nodes.length, threads: [] });
			nodes.push({ fn: -1, sources: [], below: [] });
		}
		const open = [kinds.get(kind).node];

		kinds.get(kind).threads.push(t);
		for (let i = t.first; i < t.end; i++) {
			const node = below(open[paths.depth[i]], paths.fn[i]);

			nodes[node].sources.push(i);
			open[paths.depth[i] + 1] = node;
		}
	}
	return treeOf(profile, nodes, kinds);
}

function treeOf(profile, nodes, kinds) {
	const tree = new Tree(profile, nodes.length);
	let at = 0;

	for (const [kind, { node, threads }] of kinds) {
		const row = at, roots = [], rest = [[node, 0]];

		while (rest.length) {
			const [id, depth] = rest.pop();

			tree.depth[at] = depth;
			tree.fn[at] = nodes[id].fn;
			for (const field of FIELDS)
				for (const source of nodes[id].sources)
					tree[field][at] += profile.paths[field][source];
			if (depth === 1)
				roots.push(at);
			for (const child of nodes[id].below.reverse())
				rest.push([child, depth + 1]);
			at++;
		}
		addThread(tree, row, labelOf(profile, threads), kind, roots);
	}
	link(tree);
	return tree;
}
