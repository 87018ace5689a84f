// SPDX-License-Identifier: GPL-2.0-or-later
// How long sessions took, what makes slow ones slow, and the slowest, with ways to their calls in
// the pictures. Times are as measured.

import { change, count, duration, percent } from "./format.js";
import { Track } from "./track.js";
import { findPath } from "./tree.js";

const SESSIONS_MAX = 200; // of a function, that are listed
const STEPS_MAX = 5; // innermost calls of a path that are named
const TITLE_MAX = 50; // ... that are when it is pointed at
const NAME_MAX = 80; // characters
const CALLER_MAX = 40; // ... of a path's calls but the last
const FROM_MAX = 1000; // calls of a path, in which its part on another thread may begin

function element(tag, text, className = "") {
	const el = document.createElement(tag);

	el.textContent = text;
	el.className = className;
	return el;
}

function button(text, act) {
	const el = element("button", text);

	el.type = "button";
	el.addEventListener("click", act);
	return el;
}

function shortened(name, most = NAME_MAX) {
	const half = (most - 1) / 2;

	return name.length <= most ? name
		: `${name.slice(0, Math.ceil(half))}\u2026${name.slice(-Math.floor(half))}`;
}

// A path's calls, the session's own first.
function stepsOf(path) {
	const steps = [];

	for (; path; path = path.parent)
		steps.push(path);
	return steps.reverse();
}

// "handle \u203a \u2026 \u203a parse \u203a read"
function namesOf(steps, most) {
	const names = steps.map(({ name }, i) =>
		shortened(name, i + 1 < steps.length ? CALLER_MAX : NAME_MAX));

	return names.length <= most + 1 ? names : [names[0], "\u2026", ...names.slice(-most)];
}

export class Sessions {
	help = "";

	constructor(host, app) {
		const { sessions } = app.profile;

		this.app = app;
		this.profile = app.profile;
		this.box = element("div", "", "about sessions");
		this.box.tabIndex = 0;
		host.append(this.box);
		if (!sessions.length) {
			this.box.append(element("p", "No session was seen: none of these functions has been " +
				"called.", "dim"));
			return;
		}
		const sections = sessions.map((group) => this.#section(group));

		this.#groups(sessions, sections);
		if (app.profile.live)
			this.box.append(element("p", "Single sessions, and what makes slow ones slow, are in " +
				"recordings: proftrace record --session, then report.", "dim"));
		this.box.append(...sections);
	}

	// columns: [text, hint, className], a row of them each.
	#table(className, ...rows) {
		const table = element("table", "", className), head = table.createTHead();

		for (const columns of rows) {
			const row = head.insertRow();

			for (const [text, hint, kind] of columns) {
				const cell = element("th", text, kind ?? "");

				cell.scope = "col";
				cell.title = hint ?? "";
				row.append(cell);
			}
		}
		return table;
	}

	#figure(row, text, exact, className = "") {
		const cell = row.insertCell();

		cell.textContent = text;
		cell.title = exact ?? "";
		cell.className = className;
		return cell;
	}

	#time(row, ns, className) {
		return this.#figure(row, duration(ns), `${count(ns)} ns`, className);
	}

	#groups(groups, sections) {
		// Of a run that goes on it is not known.
		const open = groups.some((g) => g.open !== undefined);
		const table = this.#table("groups", [
			["Sessions", open ? "Those that have ended" : "Those that have begun so far"],
			...open ? [["Open", "Cut off by an end of what is looked at"]] : [],
			["Per s", "That ended in a second", "wide"],
			["p50", "Half of the sessions took at most this"],
			["p90", "90% of the sessions took at most this", "wide"],
			["p99", "99% of the sessions took at most this"], ["Max", "The longest session"],
			["Function"]]);
		const body = table.createTBody();

		groups.forEach((g, i) => {
			const row = body.insertRow(), name = shortened(g.name);

			this.#figure(row, count(g.count));
			if (open)
				this.#figure(row, count(g.open));
			this.#figure(row, g.perSecond >= 10 ? count(Math.floor(g.perSecond))
				: g.perSecond.toFixed(2), "", "wide");
			this.#time(row, g.p50);
			this.#time(row, g.p90, "wide");
			this.#time(row, g.p99);
			this.#time(row, g.max);
			const cell = this.#figure(row, "", g.name, "path");
			const way = groups.length > 1 ? button(name, () => sections[i].scrollIntoView())
				: element("span", name);

			way.classList.add("name");
			cell.append(way);
		});
		this.box.append(table);
	}

	#section(g) {
		const section = element("div", "");

		if (g.why)
			this.#why(section, g);
		if (g.reasons.length)
			this.#reasons(section, g);
		if (g.slowest.length)
			this.#slowest(section, g);
		return section;
	}

	#title(section, before, g, behind, note) {
		const title = element("h2", before), name = element("span", shortened(g.name), "name");

		name.title = g.name;
		title.append(name, behind);
		section.append(title, element("p", note, "dim"));
	}

	// What the slowest take longer for, in a sentence and in times that add up.
	#why(section, g) {
		const table = this.#table("why", [["More", "How much longer p99 sessions take for it"],
			["p99", "In the mean of p99 sessions"], ["Usual", "In the mean of usual ones", "wide"],
			["Share", "Of what p99 sessions take longer"], ["What"]]);
		const body = table.createTBody();

		this.#title(section, "Why p99 sessions of ", g, " take longer", g.why.sentence);
		for (const part of g.why.parts) {
			const row = body.insertRow();

			this.#figure(row, change(part.more), `${count(part.more)} ns`);
			this.#time(row, part.worst);
			this.#time(row, part.usual, "wide");
			this.#figure(row, percent(Math.max(0, part.more), g.why.more), "", "share").style
				.setProperty("--share", String(Math.max(0, Math.min(1, part.more / g.why.more))));
			this.#figure(row, part.text, "", "path");
		}
		section.append(table);
	}

	#reasons(section, g) {
		const table = this.#table("reasons", [["Slow", "Own time in slow sessions, in the mean"],
			["Usual", "Own time in usual sessions, in the mean", "wide"],
			["More", "How much longer slow sessions spend there"],
			["Waiting", "How much of that is off the CPU"],
			["Share", "Of what slow sessions take longer"], ["Path"]]);
		const body = table.createTBody();

		this.#title(section, "What makes sessions of ", g, " slow",
			"Own time of paths, in the mean of the slowest tenth " +
			`(${count(g.slow)}) and of the faster half (${count(g.usual)}).`);
		for (const reason of g.reasons) {
			const row = body.insertRow();

			this.#time(row, reason.slow);
			this.#time(row, reason.usual, "wide");
			this.#figure(row, change(reason.more), `${count(reason.more)} ns`);
			this.#figure(row, change(reason.off), `${count(reason.off)} ns`);
			this.#figure(row, percent(reason.more, g.more), "", "share").style
				.setProperty("--share", String(Math.min(1, reason.more / g.more)));
			if (reason.path)
				this.#path(row, reason.path, g.slowest);
			else
				this.#figure(row, "waiting in queues", "", "path");
		}
		section.append(table);
		if (g.reasonCount > g.reasons.length)
			section.append(element("p", `and ${count(g.reasonCount - g.reasons.length)} paths more`,
				"dim"));
	}

	#slowest(section, g) {
		const table = this.#table("slowest", [["Took"], ["Queued", "Its parts on other threads " +
			"waited so long to begin, in all"], ["After", "From the begin of the run"],
			["Session"]], [["Self", "Own time, without that of traced callees"],
			["Share", "Of the session's time"], ["Waiting", "Own time off the CPU"], ["Path"]]);

		this.#title(section, "The slowest of ", g, "",
			"Each with the paths whose own time was most.");
		for (const session of g.slowest.slice(0, SESSIONS_MAX))
			this.#session(table.createTBody(), session);
		section.append(table);
		if (g.slowest.length > SESSIONS_MAX)
			section.append(element("p", `and ${count(g.slowest.length - SESSIONS_MAX)} more, ` +
				"which the timeline has, too", "dim"));
	}

	#session(body, session) {
		const row = body.insertRow(), { threads } = session;

		body.className = "session";
		this.#time(row, session.duration);
		this.#time(row, session.queue);
		this.#time(row, session.start);
		const about = this.#figure(row, "", "", "path");

		about.append(element("b", `session ${count(session.number)}`),
			...this.#about(session).flatMap(([text, kind]) => [" ", element("span", text, kind)]));
		if (threads.length)
			about.append(this.#ways(session));
		for (const cost of session.dearest) {
			const detail = body.insertRow();

			this.#time(detail, cost.self);
			this.#figure(detail, percent(cost.self, session.duration));
			this.#time(detail, cost.off);
			this.#path(detail, cost.path, [session]);
		}
	}

	// [text, className]
	#about({ id, threads, missing }) {
		const name = id === undefined ? [] : [[`id ${id}`, "name"]];

		if (!threads.length)
			return [...name, ["(none of its calls is in this page)", "dim"]];
		return [...name, [this.profile.threads[threads[0]].origin, "dim"],
			...this.#values(threads[0]).map((text) => [text, "name"]),
			...missing ? [["(not with all its calls)", "dim"]] : []];
	}

	#ways(session) {
		const { threads, start, duration: length } = session, ways = element("span", "", "ways");
		const number = `session ${session.number}`;
		const timeline = button("Timeline", () => this.app.openTimeline(threads, start, length));
		const flame = button("Flame graph", () => this.app.openFlame(threads[0]));

		timeline.setAttribute("aria-label", `Timeline of ${number}`);
		flame.setAttribute("aria-label", `Flame graph of ${number}`);
		ways.append(timeline, flame);
		return ways;
	}

	// Of the session's own call, as "arg1=5".
	#values(thread) {
		if (!this.profile.timeline?.names.size)
			return [];
		const track = new Track(this.profile, thread);

		return track.calls.n ? track.texts(0) : [];
	}

	// A path, and the way to it in that of these sessions that has spent most on it.
	#path(row, path, sessions) {
		const cell = row.insertCell(), steps = stepsOf(path), way = button("", () => {
			if (!this.#openPath(steps, sessions))
				this.app.say({ name: path.name, where: "in no kept session", facts: [] }, true);
		});
		const names = namesOf(steps, STEPS_MAX), last = names.pop();

		way.classList.add("name");
		way.title = `${namesOf(steps, TITLE_MAX).join(" \u203a ")}\nShow it in the flame graph`;
		way.append(...names.flatMap((name) => [element("span", name, "dim"), " \u203a "]),
			element("span", last));
		cell.className = "path";
		cell.append(way);
	}

	// [thread, path]: the first thread of a session that has it. On another than the session's own
	// a path begins with what was run there.
	#find(fns, { threads }) {
		for (let from = 0; from < Math.min(fns.length, FROM_MAX); from++) {
			for (const thread of threads) {
				const path = findPath(this.profile, this.profile.threads[thread], fns, from);

				if (path >= 0)
					return [thread, path];
			}
		}
		return null;
	}

	#openPath(steps, sessions) {
		const { self } = this.profile.paths, fns = steps.map(({ fn }) => fn);
		const found = sessions.map((session) => this.#find(fns, session)).filter(Boolean);

		if (!found.length)
			return false;
		this.app.openFlame(...found.reduce((a, b) => self[b[1]] > self[a[1]] ? b : a));
		return true;
	}

	update() {}

	recolor() {}

	escape() {
		return false;
	}
}
