// SPDX-License-Identifier: GPL-2.0-or-later
// What was profiled, where its calls went, and what the measuring has cost.

import { HINT } from "./estimate.js";
import { count, duration, percent } from "./format.js";

function moment(seconds) {
	const date = new Date(seconds * 1000);

	// What a broken file says may be no date at all.
	return Number.isNaN(date.getTime()) ? "unknown"
		: `${date.toISOString().replace("T", " ").replace(/\..*/, "")} UTC`;
}

export class About {
	help = "";

	constructor(host, app) {
		this.store = app.store;
		this.box = document.createElement("div");
		this.box.className = "about";
		this.box.tabIndex = 0;
		host.append(this.box);
		this.renew();
	}

	renew() {
		const { profile } = this.store, { scrollTop } = this.box;

		this.box.replaceChildren();
		this.#table("Run", this.#run(profile));
		this.#table("Calls", this.#calls(profile));
		this.#table("What the probes cost", this.#cost(profile));
		this.#drops(profile.drops);
		this.box.scrollTop = scrollTop;
	}

	#title(text) {
		const title = document.createElement("h2");

		title.textContent = text;
		this.box.append(title);
	}

	#table(title, rows) {
		const list = document.createElement("dl");

		this.#title(title);
		for (const [name, text, exact] of rows.filter(Boolean)) {
			const term = document.createElement("dt"), value = document.createElement("dd");

			term.textContent = name;
			value.textContent = text;
			value.title = exact ?? "";
			list.append(term, value);
		}
		this.box.append(list);
	}

	#run(p) {
		const { command, exec, pids } = p.target;

		return [
			command.length && ["Command", command.join(" ")],
			exec && ["Executable", exec],
			pids.length && ["Processes", pids.join(", ")],
			["Begun", moment(p.startTime)],
			["Lasted", duration(p.duration), `${count(p.duration)} ns`],
			p.paused > 0 && ["Switched off", `${duration(p.paused)} of that time`,
				`${count(p.paused)} ns`],
			[`${p.thread[0].toUpperCase()}${p.thread.slice(1)}s`, count(p.threadCount)],
			["Call paths", count(p.paths.depth.length)],
			["Functions", `${count(p.functions.length)} called of ${count(p.probed)} probed` +
				(p.skipped ? `, ${count(p.skipped)} not probed (proftrace -l tells why)` : "")],
			["Written by", `proftrace ${p.version}`],
		];
	}

	#calls(p) {
		const a = p.accounting;

		return [
			["Entered", count(a.entered)],
			["Returned", count(a.returned)],
			["Unwound", `${count(a.unwound)} ended without a seen return`],
			["Open", `${count(a.open)} still running at the end`],
			["Lost", `${count(a.lost)}${a.lost ? " not recorded, as a table was full: counts and " +
				"times are too low" : ""}`],
			["Dropped", `${count(a.dropped)}${a.dropped ? " seen, not recorded, for the budget" : ""}`],
			a.untriggered && ["Untriggered", `${count(a.untriggered)} seen, not recorded: not below a ` +
				"trigger"],
			a.deep && ["Too deep", `${count(a.deep)} whose return the kernel could not report`],
			a.line_misses && ["Lines", `${count(a.line_misses)} hit in calls that were not recorded`],
			a.undistributed && ["Undistributed", `${count(a.undistributed)} not in the distributions`],
			p.estimates && ["Estimates", `${p.estimates.note}; ${HINT}`],
			p.timeline && ["Single calls",
				`${count(p.timeline.calls)}, ${count(p.timeline.lost)} lost`],
		];
	}

	#cost(p) {
		const a = p.accounting;

		return [
			a.probe_cost_unknown ? ["Probes", "their cost is not known: all times include it"]
				: ["Probes", `${duration(a.probe_ns)} of CPU time, ${p.raw
					? "left in all times" : "taken out of all times"}`,
				`${count(a.probe_ns)} ns`],
			a.own_ns > 0 && ["Target", `${duration(a.own_ns)} of CPU time of its own`,
				`${count(a.own_ns)} ns`],
			a.own_ns > 0 && !a.probe_cost_unknown && ["Overhead", percent(a.probe_ns, a.own_ns)],
			["Budget", p.maxOverhead ? percent(p.maxOverhead, 100) : "none"],
		];
	}

	#drops(drops) {
		if (!drops.length)
			return;
		const table = document.createElement("table"), head = table.createTHead().insertRow();

		this.#title("Functions dropped to keep to the budget; exact before and after");
		for (const title of ["After", "Until", "Calls/s", "Cost", "Kept", "Function", "Reason"]) {
			const cell = document.createElement("th");

			cell.scope = "col";
			cell.textContent = title;
			head.append(cell);
		}
		const body = table.createTBody();

		for (const d of drops) {
			const row = body.insertRow();

			for (const text of [duration(d.at), d.back ? duration(d.back) : "the end",
				count(d.rate ?? 0), percent(d.cost ?? 0, 100), d.sampled
					? `1 in ${count(d.sampled)}` : "none", d.name, d.reason])
				row.insertCell().textContent = text;
		}
		this.box.append(table);
	}

	update() {}

	recolor() {}

	escape() {
		return false;
	}
}
