// SPDX-License-Identifier: GPL-2.0-or-later
// The page's frame: tabs, what is weighed, threads, search, the line below, and the keys of all.

import { About } from "./about.js";
import { Colors } from "./colors.js";
import { readEmbedded } from "./data.js";
import { Difference } from "./difference.js";
import { callsText, estimateOfRow, timeText } from "./estimate.js";
import { FlameView } from "./flame_view.js";
import { count, duration, percent, WEIGHTS } from "./format.js";
import { Functions } from "./functions.js";
import { Live } from "./live.js";
import { Lines } from "./lines.js";
import { Sandwich } from "./sandwich.js";
import { Sessions } from "./sessions.js";
import { Store } from "./store.js";
import { Theme } from "./theme.js";
import { Timeline } from "./timeline.js";
import { TreeTable } from "./tree_table.js";

// A view may have a method shortcut(e) for keys that it takes wherever the focus is.
const VIEWS = { flame: FlameView, tree: TreeTable, functions: Functions, sandwich: Sandwich,
	timeline: Timeline, sessions: Sessions, lines: Lines, difference: Difference, about: About };
const SCOPED = ["flame", "sandwich", "tree", "timeline"]; // views that show threads apart
const WEIGHED = ["flame", "sandwich", "tree", "functions"]; // ... that show what was chosen to be weighed
const SEARCH_DELAY_MS = 80;
const byId = (id) => document.getElementById(id);

class App {
	constructor(profile) {
		this.profile = profile;
		this.theme = new Theme(byId("theme"));
		this.colors = new Colors(profile, this.theme);
		this.store = new Store(profile);
		this.views = {};
		this.stale = {}; // by view: what has changed since it was seen
		this.#showTabs();
		if (profile.timeline?.names.size)
			byId("query").placeholder = "Search functions and values";
		this.#describeTarget();
		this.#listThreads();
		this.#listen();
		this.store.onChange((changes) => this.#changed(changes));
		this.theme.onChange(() => Object.values(this.views).forEach((view) => view.recolor()));
		document.querySelector(`#weights [value="${this.store.weight}"]`).checked = true;
		this.open("flame");
	}

	#showTabs() {
		const { diff, lines, live, sessions } = this.profile;

		byId("tab-sessions").hidden = !sessions;
		byId("tab-lines").hidden = !lines;
		byId("tab-difference").hidden = !diff;
		byId("tab-timeline").hidden = Boolean(diff || live);
	}

	// Shows another profile of the same run. A view that cannot do that is made anew.
	renew(profile) {
		this.profile = profile;
		this.colors.renew(profile);
		this.store.renew(profile);
		this.#showTabs();
		this.#describeTarget();
		this.#fillThreads();
		for (const id of Object.keys(this.views)) {
			if (id === this.current)
				this.#renewView(id);
			else
				this.stale[id] = { ...this.stale[id], renew: true };
		}
		this.#tellFound();
	}

	#renewView(id) {
		if (this.views[id].renew) {
			this.views[id].renew();
			return;
		}
		byId(`view-${id}`).replaceChildren();
		this.views[id] = new VIEWS[id](byId(`view-${id}`), this);
	}

	#describeTarget() {
		const p = this.profile, { command, exec, pids, program } = p.target;
		const processes = `${program ? `${program}, ` : ""}pid ${pids.slice(0, 5).join(", ")}`;
		const name = command.length ? command.join(" ") : exec ??
			(pids.length ? processes : "a profile");
		const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;
		const warnings = p.accounting.lost ? [`${plural(p.accounting.lost, "call")} lost`] : [];

		document.title = `${name} \u2013 proftrace`;
		byId("target").textContent = name;
		byId("target").title = name;
		byId("facts").textContent = [duration(p.duration), this.#calls(plural),
			plural(p.functions.length, "function"), this.#paths(plural),
			plural(p.threadCount, p.thread), ...warnings].join(" \u00b7 ");
		if (p.diff)
			byId("facts").textContent = p.diff.verdict;
	}

	// As the functions' table has them: of those in bursts it has estimates.
	#calls(plural) {
		const { functions, accounting } = this.profile;
		const sum = (figure) => functions.reduce((all, f) => all + f[figure], 0);

		return sum("burst") ? `~${plural(Math.max(sum("calls"), accounting.entered), "call")}`
			: plural(accounting.entered, "call");
	}

	#paths(plural) {
		const { live, paths } = this.profile, cnt = paths.depth.length, all = live?.paths ?? cnt;

		return plural(all, "path") + (all > cnt ? `, the top ${count(cnt)} shown` : "");
	}

	#listThreads() {
		const select = byId("scope");

		select.addEventListener("change", () => this.store.set({
			scope: /^[0-9]+$/.test(select.value) ? Number(select.value) : select.value }));
		if (this.profile.threads.length === 1)
			this.store.scope = 0;
		this.#fillThreads();
	}

	// A list that stays as it is may be open.
	#fillThreads() {
		const { thread, threads, threadCount } = this.profile, select = byId("scope");
		const names = threads.map((t) => t.name).join("\n"), { scope } = this.store;
		const add = (value, text) => select.add(new Option(text, value));

		if (names === this.threadNames && select.value === String(scope))
			return;
		this.threadNames = names;
		select.replaceChildren();
		if (threads.length > 1)
			add("together", threadCount > 1 ? `All ${threadCount} ${thread}s, by name`
				: `The ${thread} and its spans`);
		if (threads.length !== 1)
			add("apart", `All ${thread}s, apart`);
		threads.forEach((t, i) => add(String(i), t.name));
		select.value = String(scope);
	}

	#listen() {
		const query = byId("query");
		let timer = 0;

		for (const id of Object.keys(VIEWS))
			byId(`tab-${id}`).addEventListener("click", () => this.open(id));
		byId("tabs").addEventListener("keydown", (e) => this.#tabKey(e));
		byId("weights").addEventListener("change", (e) => this.store.set({ weight: e.target.value }));
		query.addEventListener("input", () => {
			clearTimeout(timer);
			timer = setTimeout(() => this.store.set({ query: query.value }), SEARCH_DELAY_MS);
		});
		query.addEventListener("keydown", (e) => {
			if (e.key !== "Enter" && e.key !== "Escape")
				return;
			// At once, and with Escape nothing is searched any more.
			clearTimeout(timer);
			if (e.key === "Escape")
				query.value = "";
			this.store.set({ query: query.value });
			this.#focusView();
			e.preventDefault();
			e.stopPropagation();
		});
		document.addEventListener("keydown", (e) => this.#key(e));
	}

	#key(e) {
		const typing = e.target instanceof HTMLInputElement && e.target.type === "search";

		if (e.altKey || e.ctrlKey || e.metaKey || typing)
			return;
		if (e.key === "/") {
			byId("query").focus();
			byId("query").select();
			e.preventDefault();
		} else if (this.views[this.current].shortcut?.(e)) {
			e.preventDefault();
		} else if (e.key === "Escape" && !this.views[this.current].escape() && this.store.query) {
			byId("query").value = "";
			this.store.set({ query: "" });
		}
	}

	#tabKey(e) {
		const ids = Object.keys(VIEWS).filter((id) => !byId(`tab-${id}`).hidden);
		const at = ids.indexOf(this.current);
		const next = { ArrowRight: (at + 1) % ids.length, ArrowLeft: (at + ids.length - 1) % ids.length,
			Home: 0, End: ids.length - 1 }[e.key];

		if (next === undefined)
			return;
		this.open(ids[next]);
		byId(`tab-${ids[next]}`).focus();
		e.preventDefault();
	}

	#focusView() {
		byId(`view-${this.current}`).querySelector('[tabindex="0"]')?.focus();
	}

	// A view is made when it is first seen, and hears of changes while it is.
	open(id) {
		this.current = id;
		for (const other of Object.keys(VIEWS)) {
			const tab = byId(`tab-${other}`);

			tab.setAttribute("aria-selected", String(other === id));
			tab.tabIndex = other === id ? 0 : -1;
			byId(`view-${other}`).hidden = other !== id;
		}
		byId("scope").disabled = !SCOPED.includes(id);
		byId("weights").disabled = !WEIGHED.includes(id);
		this.say(null);
		if (!this.views[id])
			this.views[id] = new VIEWS[id](byId(`view-${id}`), this);
		else if (this.stale[id])
			this.#refresh(id, this.stale[id]);
		delete this.stale[id];
		byId("keys").textContent = this.views[id].help;
	}

	#refresh(id, { renew, ...changes }) {
		if (renew)
			this.#renewView(id);
		if (Object.keys(changes).length)
			this.views[id].update(changes);
	}

	// The lines of a function, where there are any.
	openLines(f) {
		this.open("lines");
		this.views.lines.go(f);
	}

	// A function between its callers and its callees.
	openSandwich(f) {
		this.open("sandwich");
		this.views.sandwich.go(this.profile.functions.find(({ key }) => key === f.key) ?? f);
	}

	// A thread's flame graph, and in it one of the profile's paths, or the thread's first.
	openFlame(thread, path = this.profile.threads[thread].first) {
		this.#choose({ scope: thread, weight: "wall" });
		this.open("flame");
		this.views.flame.go(path - this.profile.threads[thread].first + 1);
	}

	// A time on some threads, and the first call on the first of them.
	openTimeline(threads, start, length) {
		this.#choose({ scope: threads.length > 1 ? "apart" : threads[0] });
		this.open("timeline");
		this.views.timeline.go(threads[0], start, length);
	}

	// As if the user had.
	#choose(changes) {
		byId("scope").value = String(changes.scope);
		if (changes.weight)
			document.querySelector(`#weights [value="${changes.weight}"]`).checked = true;
		this.store.set(changes);
	}

	#changed(changes) {
		for (const id of Object.keys(this.views)) {
			if (id === this.current)
				this.views[id].update(changes);
			else
				this.stale[id] = { ...this.stale[id], ...changes };
		}
		this.#tellFound();
	}

	#tellFound() {
		const { matches, tree, weight } = this.store;

		if (!matches) {
			byId("found").textContent = "";
			return;
		}
		byId("found").textContent = `${count(this.store.found())} found, ` +
			percent(tree.matched(weight, matches), tree.whole(weight));
		byId("found").title = `Functions that match, and their share of ${WEIGHTS[weight].noun}`;
	}

	placeOf(f) {
		const object = this.profile.objects[f.object].name;

		return f.file ? `${object} \u00b7 ${f.file}${f.line ? `:${f.line}` : ""}` : object;
	}

	// Tells of a row of the tree; -1: of none.
	tell(tree, i, speak = false) {
		if (i < 0 || i === undefined) {
			this.say(null);
			return;
		}
		const f = tree.functionOf(i), { weight } = this.store, { all } = tree.weight(weight);
		const cpu = tree.weight("cpu"), ns = (n) => [duration(n), `${count(n)} ns`];
		const e = estimateOfRow(tree, i);
		const facts = [
			["Share", percent(all[i], tree.whole(weight))],
			["Wall", timeText(tree.total[i], e?.all), ns(tree.total[i])[1]],
			["self", timeText(tree.self[i], e?.own), ns(tree.self[i])[1]],
			["CPU", timeText(cpu.all[i], e?.all), ns(cpu.all[i])[1]],
			["Off-CPU", ...ns(tree.off[i])],
		];

		if (f)
			facts.unshift(["Calls", callsText(tree.calls[i], "", e) +
				(e?.calls > 0 ? ` \u00b1 ${count(e.calls)}` : "")]);
		if (f?.before)
			facts.push([`Function's own ${this.profile.diff.compared}`,
				`${duration(f.before.self)} \u2192 ${duration(f.before.now)}`]);
		this.say({ name: tree.name(i), where: f ? this.placeOf(f) : "thread", facts }, speak);
	}

	// The line below: { name, where, facts: [[what, text, exact]] }. What the keyboard has chosen is
	// spoken, too, and `values` of it.
	say(what, speak = false) {
		const parts = [];
		const add = (tag, text, title) => {
			const el = document.createElement(tag);

			el.textContent = text;
			el.title = title ?? "";
			parts.push(el);
		};

		if (what) {
			add("b", what.name, what.name);
			add("em", what.where, what.where);
			for (const [name, text, exact] of what.facts) {
				add("small", name);
				add("data", text, exact);
			}
		}
		byId("status").replaceChildren(...parts);
		if (speak)
			byId("spoken").textContent = `${what.name}: ` +
				[...what.facts, ...what.values ?? []].map(([name, text]) => `${name} ${text}`)
					.join(", ");
	}
}

// An App of what the page has, or of what its server sends.
function begin() {
	const profile = readEmbedded();
	let app = profile && new App(profile);

	if (profile)
		return;
	const live = new Live(byId("live"), (update) => {
		if (app)
			app.renew(update);
		else
			app = new App(update);
	});

	document.addEventListener("keydown", (e) => {
		if (e.key === "h" && !e.altKey && !e.ctrlKey && !e.metaKey && e.target.type !== "search")
			live.hold(!live.held);
	});
}

try {
	begin();
} catch (error) {
	byId("facts").textContent = `This profile cannot be shown: ${error.message}`;
	throw error;
}
