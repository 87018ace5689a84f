// SPDX-License-Identifier: GPL-2.0-or-later
// A canvas as large as the screen's part of a picture that may be much higher: it stays in place
// while a spacer scrolls behind it. Its owner draws, and hears of pointers and keys.

export class Surface {
	// owner: draw(ctx, width, height, top), range, hover(x, y), leave(), click(x, y), key(event);
	// endStays: if the size changes, what is seen at the bottom is still seen there
	constructor(host, label, owner) {
		this.owner = owner;
		this.box = document.createElement("div");
		this.box.className = "surface";
		this.canvas = document.createElement("canvas");
		this.canvas.tabIndex = 0;
		this.canvas.setAttribute("role", "application");
		this.canvas.setAttribute("aria-label", label);
		this.spacer = document.createElement("div");
		this.box.append(this.canvas, this.spacer);
		host.append(this.box);
		this.width = this.height = this.content = 0;
		this.drawing = false;
		new ResizeObserver(() => this.#resize()).observe(this.box);
		this.box.addEventListener("scroll", () => this.invalidate());
		this.#listen();
	}

	get top() {
		return this.box.scrollTop;
	}

	setContent(height) {
		this.content = height;
		this.#resize();
	}

	#resize() {
		const ratio = devicePixelRatio || 1;
		const rest = Math.max(0, this.content - this.height) - this.top; // below the screen

		this.width = this.box.clientWidth;
		this.height = this.box.clientHeight;
		this.canvas.width = Math.round(this.width * ratio);
		this.canvas.height = Math.round(this.height * ratio);
		this.canvas.style.width = `${this.width}px`;
		this.canvas.style.height = `${this.height}px`;
		this.spacer.style.height = `${Math.max(0, this.content - this.height)}px`;
		if (this.owner.endStays)
			this.box.scrollTop = Math.max(0, this.content - this.height) - rest;
		this.invalidate();
	}

	invalidate() {
		if (this.drawing)
			return;
		this.drawing = true;
		requestAnimationFrame(() => {
			this.drawing = false;
			if (this.width && this.height)
				this.#draw();
		});
	}

	#draw() {
		const ctx = this.canvas.getContext("2d"), ratio = devicePixelRatio || 1;

		ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
		ctx.clearRect(0, 0, this.width, this.height);
		ctx.textBaseline = "middle";
		this.owner.draw(ctx, this.width, this.height, this.top);
	}

	// What of the owner's range lies at x, in CSS pixels.
	at(x) {
		const { range } = this.owner;

		return range.lo + x / this.width * range.length;
	}

	// Scrolls as little as needed for [y, y + height) to be seen below the first `margin` pixels.
	reveal(y, height, margin = 0) {
		if (y - margin < this.top)
			this.box.scrollTop = y - margin;
		else if (y + height > this.top + this.height)
			this.box.scrollTop = y + height - this.height;
	}

	#listen() {
		const { canvas, owner } = this;
		let drag = null;

		canvas.addEventListener("pointerdown", (e) => {
			drag = { x: e.offsetX, y: e.offsetY, moved: false };
			canvas.setPointerCapture(e.pointerId);
		});
		canvas.addEventListener("pointermove", (e) => {
			if (!drag) {
				owner.hover(e.offsetX, e.offsetY);
				return;
			}
			drag.moved ||= Math.hypot(e.offsetX - drag.x, e.offsetY - drag.y) > 4;
			if (drag.moved) {
				owner.range.pan((drag.x - e.offsetX) / this.width * owner.range.length);
				this.box.scrollTop += drag.y - e.offsetY;
				drag.x = e.offsetX;
				drag.y = e.offsetY;
			}
		});
		canvas.addEventListener("pointerup", (e) => {
			if (drag && !drag.moved)
				owner.click(e.offsetX, e.offsetY);
			drag = null;
		});
		canvas.addEventListener("pointercancel", () => { drag = null; });
		canvas.addEventListener("pointerleave", () => owner.leave());
		canvas.addEventListener("wheel", (e) => this.#wheel(e), { passive: false });
		canvas.addEventListener("keydown", (e) => {
			if (!e.altKey && !e.ctrlKey && !e.metaKey && (this.#key(e) || owner.key(e)))
				e.preventDefault();
		});
		canvas.addEventListener("focus", () => this.invalidate());
		canvas.addEventListener("blur", () => this.invalidate());
	}

	// With Ctrl (or by pinching) the wheel zooms, sideways it pans, otherwise the picture scrolls.
	#wheel(e) {
		const { range } = this.owner;

		if (e.ctrlKey || e.metaKey)
			range.zoom(Math.exp(Math.max(-50, Math.min(50, e.deltaY)) * 0.01), this.at(e.offsetX));
		else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
			range.pan((e.deltaX || e.deltaY) / this.width * range.length);
		else
			return;
		e.preventDefault();
	}

	#key(e) {
		const { range } = this.owner;

		switch (e.key) {
		case "+":
		case "=":
			range.zoom(1 / 1.5);
			return true;
		case "-":
			range.zoom(1.5);
			return true;
		case "0":
			range.all();
			return true;
		case "ArrowLeft":
		case "ArrowRight":
			if (!e.shiftKey)
				return false;
			range.pan((e.key === "ArrowLeft" ? -0.2 : 0.2) * range.length);
			return true;
		default:
			return false;
		}
	}
}

// Writes as much of a text as fits: names are in a font of one width, whose characters take `cell`
// pixels; what is not ASCII is measured.
export function fitText(ctx, text, room, cell) {
	let length = Math.floor(room / cell);

	if (length < 2)
		return "";
	if (text.length <= length && /^[ -~]*$/.test(text))
		return text;
	if (text.length <= length && ctx.measureText(text).width <= room)
		return text;
	while (length > 1 && ctx.measureText(`${text.slice(0, length - 1)}\u2026`).width > room + 0.5)
		length--;
	return length > 1 ? `${text.slice(0, length - 1)}\u2026` : "";
}

// The first index in [from, to) for which `later` holds, or `to`; it holds for all behind it.
export function firstIndex(from, to, later) {
	while (from < to) {
		const middle = (from + to) >>> 1;

		if (later(middle))
			to = middle;
		else
			from = middle + 1;
	}
	return from;
}
