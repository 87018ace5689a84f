// SPDX-License-Identifier: GPL-2.0-or-later
// What part of a scale from 0 to `max` is on the screen, and how it moves there.

const GLIDE_MS = 140;

export class Range {
	constructor(least, onChange) {
		this.least = least; // shortest part that is shown
		this.onChange = onChange;
		this.max = 1;
		this.lo = 0;
		this.hi = 1;
		this.still = matchMedia("(prefers-reduced-motion: reduce)");
	}

	reset(max) {
		this.max = Math.max(max, this.least);
		this.#place(0, this.max);
	}

	// At once.
	set(lo, hi) {
		this.#place(lo, hi);
	}

	get length() {
		return this.hi - this.lo;
	}

	get zoomed() {
		return this.length < this.max * 0.999999;
	}

	#place(lo, hi) {
		const length = Math.min(this.max, Math.max(this.least, hi - lo));

		this.target = null;
		this.lo = Math.min(Math.max(0, (lo + hi - length) / 2), this.max - length);
		this.hi = this.lo + length;
		this.onChange();
	}

	// Glides there, unless the user wants things to stay still.
	to(lo, hi) {
		if (this.still.matches) {
			this.#place(lo, hi);
			return;
		}
		const from = [this.lo, this.hi], begin = performance.now(), target = [lo, hi];
		const step = (now) => {
			const t = Math.min(1, Math.max(0, (now - begin) / GLIDE_MS)), eased = t * (2 - t);

			if (this.target !== target)
				return;
			this.#place(from[0] + (lo - from[0]) * eased, from[1] + (hi - from[1]) * eased);
			if (t < 1) {
				this.target = target;
				requestAnimationFrame(step);
			}
		};

		this.target = target;
		requestAnimationFrame(step);
	}

	all() {
		this.to(0, this.max);
	}

	// `at` stays where it is on the screen.
	zoom(factor, at = (this.lo + this.hi) / 2) {
		const length = Math.min(this.max, Math.max(this.least, this.length * factor));
		const share = (at - this.lo) / this.length;

		this.#place(at - share * length, at + (1 - share) * length);
	}

	pan(distance) {
		this.#place(this.lo + distance, this.hi + distance);
	}

	// Moves as little as needed for [lo, hi] to be seen.
	show(lo, hi) {
		if (hi <= this.lo || lo >= this.hi)
			this.pan((lo + hi) / 2 - (this.lo + this.hi) / 2);
	}
}
