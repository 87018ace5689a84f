// SPDX-License-Identifier: GPL-2.0-or-later
// A run that goes on, as its server tells of it (--serve): each event is all that is to be shown. A
// page that nobody sees, or that is held, asks for none.

import { decodeLive } from "./data.js";

export class Live {
	// show(profile) is called with each update.
	constructor(box, show) {
		this.box = box;
		this.show = show;
		this.state = document.createElement("span");
		this.button = document.createElement("button");
		this.button.type = "button";
		this.button.addEventListener("click", () => this.hold(!this.held));
		this.box.append(this.state, this.button);
		this.box.hidden = false;
		this.source = null;
		this.ended = false;
		document.addEventListener("visibilitychange", () => this.#follow());
		this.hold(false);
	}

	// Keeps what is shown as it is, or goes on.
	hold(held) {
		this.held = held;
		this.button.textContent = held ? "Go on" : "Hold";
		this.button.title = held ? "Show what is new again (h)" : "Keep what is shown as it is (h)";
		this.button.setAttribute("aria-pressed", String(held));
		this.#follow();
	}

	#follow() {
		const wanted = !this.held && !this.ended && !document.hidden;

		if (!this.ended && this.held)
			this.#say("held", "held");
		if (wanted === Boolean(this.source))
			return;
		this.source?.close();
		this.source = wanted ? this.#open() : null;
	}

	#open() {
		const source = new EventSource("events");

		this.#say("waiting", "waiting for figures");
		source.addEventListener("profile", ({ data }) => {
			if (source !== this.source)
				return;
			const profile = decodeLive(JSON.parse(data));

			this.show(profile);
			this.#say("running", profile.zoom?.zoomed ? "live, zoomed into a function" : "live");
		});
		source.addEventListener("end", () => this.#end("the run has ended"));
		source.addEventListener("error", () => {
			if (source.readyState === EventSource.CLOSED)
				this.#end("the run is over: nobody serves this page any more");
			else
				this.#say("waiting", "the connection is lost, trying again");
		});
		return source;
	}

	#end(text) {
		this.ended = true;
		this.button.hidden = true;
		this.#follow();
		this.#say("ended", text);
	}

	#say(state, text) {
		this.box.dataset.state = state;
		if (this.state.textContent !== text)
			this.state.textContent = text;
	}
}
