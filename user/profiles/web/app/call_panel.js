// SPDX-License-Identifier: GPL-2.0-or-later
// The values of one call, beside a timeline whose calls have some: these may be long.

export class CallPanel {
	constructor(host) {
		this.box = document.createElement("aside");
		this.box.className = "call";
		this.box.tabIndex = 0;
		this.box.setAttribute("aria-label", "The chosen call");
		host.append(this.box);
		this.show(null);
	}

	#add(parent, tag, text, className = "") {
		const el = document.createElement(tag);

		el.textContent = text;
		el.className = className;
		parent.append(el);
		return el;
	}

	// { name, where, values: [[name, text]] }, or null.
	show(what) {
		this.box.replaceChildren();
		if (!what) {
			this.#add(this.box, "p", "Point at a call to see its values, or choose it by a click or " +
				"the arrow keys.", "dim");
			return;
		}
		this.#add(this.box, "h2", what.name);
		this.#add(this.box, "p", what.where, "dim mono");
		if (!what.values.length) {
			this.#add(this.box, "h3", "No values were kept of this call.");
			return;
		}
		this.#add(this.box, "h3", "Values");
		const list = this.#add(this.box, "dl", "", "values");

		for (const [name, text] of what.values) {
			this.#add(list, "dt", name);
			this.#add(list, "dd", text);
		}
	}
}
