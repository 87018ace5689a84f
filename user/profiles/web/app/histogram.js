// SPDX-License-Identifier: GPL-2.0-or-later
// How long calls took, drawn: small in a table's row, where all have one scale, and large.

import { bucketAt, bucketLow, count, duration } from "./format.js";

const SVG = "http://www.w3.org/2000/svg";
const PER_OCTAVE = 8; // buckets
const BARS_MAX = 64;

// The octaves that any of the functions has calls in: [first, end).
export function octaves(functions) {
	let first = Infinity, end = 0;

	for (const { histogram } of functions) {
		if (!histogram.length)
			continue;
		first = Math.min(first, Math.floor(histogram[0] / PER_OCTAVE));
		end = Math.max(end, Math.floor(histogram[histogram.length - 2] / PER_OCTAVE) + 1);
	}
	return first < end ? { first, end } : { first: 0, end: 1 };
}

// One bar half an octave.
export function drawSmall(canvas, f, scale, colors) {
	const ratio = devicePixelRatio || 1, width = 100, height = 18, merge = PER_OCTAVE / 2;
	const cnt = (scale.end - scale.first) * 2, bars = new Float64Array(cnt);

	canvas.width = width * ratio;
	canvas.height = height * ratio;
	const ctx = canvas.getContext("2d"), step = width / cnt;

	for (let i = 0; i < f.histogram.length; i += 2)
		bars[Math.floor(f.histogram[i] / merge) - scale.first * 2] += f.histogram[i + 1];
	ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
	ctx.fillStyle = colors.line;
	ctx.fillRect(0, height - 1, width, 1);
	const most = Math.max(...bars);

	ctx.fillStyle = colors.accent;
	bars.forEach((calls, i) => {
		// A single call among millions is seen, too.
		const tall = calls ? Math.max(1.5, calls / most * (height - 2)) : 0;

		ctx.fillRect(i * step, height - 1 - tall, Math.max(1, step - 0.75), tall);
	});
}

function draw(parent, tag, attributes, text) {
	const el = document.createElementNS(SVG, tag);

	for (const [name, value] of Object.entries(attributes))
		el.setAttribute(name, value);
	if (text !== undefined)
		el.textContent = text;
	parent.append(el);
	return el;
}

// Marks go from left to right, their texts stand right of them while there is room; one that would
// cover another's stands lower.
function drawQuantiles(svg, f, x, width, height) {
	const room = 26;
	let edge = -Infinity, level = 0;

	for (const [name, ns] of [["p50", f.p50], ["p90", f.p90], ["p99", f.p99]]) {
		const at = Math.max(0, Math.min(width, x(bucketAt(ns)))), turned = at > width - room;
		const begin = turned ? at - room : at;

		level = begin < edge ? level + 1 : 0;
		draw(svg, "line", { class: "mark", x1: at, x2: at, y1: 6 + 11 * level, y2: height });
		draw(svg, "text", { class: "mark", x: turned ? at - 3 : at + 3, y: 12 + 11 * level,
			"text-anchor": turned ? "end" : "start" }, name);
		edge = Math.max(edge, begin + room);
	}
}

// Round durations in [first, last] buckets: powers of ten or, if these are few, 2 and 5 times them,
// too.
function roundDurations(first, last) {
	const list = [];

	for (const digits of [[1], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9]]) {
		list.length = 0;
		for (let power = 1; bucketAt(power) <= last; power *= 10)
			list.push(...digits.map((digit) => digit * power));
		const inside = list.filter((ns) => bucketAt(ns) >= first && bucketAt(ns) <= last);

		if (inside.length > 2 || digits.length > 3)
			return inside;
	}
	return [];
}

// "1.5 ms", "20 us": without the zeros that a duration is written with.
function tickText(ns) {
	return duration(ns).replace(/\.([0-9]*?)0+ /, (_, rest) => rest ? `.${rest} ` : " ");
}

function drawAxis(svg, first, last, x, width, height) {
	let edge = -Infinity;

	for (const ns of roundDurations(first, last)) {
		const at = x(bucketAt(ns)), text = tickText(ns);
		const half = 3 * text.length, begin = Math.max(0, Math.min(width - 2 * half, at - half));

		draw(svg, "line", { class: "axis", x1: at, x2: at, y1: height, y2: height + 3 });
		if (begin < edge)
			continue;
		draw(svg, "text", { class: "axis", x: begin, y: height + 14 }, text);
		edge = begin + 2 * half + 6;
	}
}

// Bars of a bucket each, or of a few, so that there are at most BARS_MAX of them.
function bars(histogram, first, last) {
	let merge = 1;

	while ((last - first) / merge > BARS_MAX && merge < PER_OCTAVE)
		merge *= 2;
	const list = Array.from({ length: (last - first) / merge }, (_, i) => ({
		begin: first + i * merge, end: first + (i + 1) * merge, calls: 0 }));

	for (let i = 0; i < histogram.length; i += 2)
		list[Math.floor((histogram[i] - first) / merge)].calls += histogram[i + 1];
	return list;
}

// Whole octaves wide, with a text for those who cannot see it.
export function drawLarge(f) {
	const width = 308, height = 120, h = f.histogram;
	const svg = document.createElementNS(SVG, "svg");

	svg.setAttribute("viewBox", `0 0 ${width} ${height + 18}`);
	svg.setAttribute("role", "img");
	svg.setAttribute("aria-label", `Durations of ${f.name}: half of the calls took at most ` +
		`${duration(f.p50)}, 90% ${duration(f.p90)}, 99% ${duration(f.p99)}`);
	const first = Math.floor(h[0] / PER_OCTAVE) * PER_OCTAVE;
	const last = Math.ceil((h[h.length - 2] + 1) / PER_OCTAVE) * PER_OCTAVE;
	const x = (bucket) => (bucket - first) / (last - first) * width;
	const list = bars(h, first, last), most = Math.max(...list.map((bar) => bar.calls));

	for (const { begin, end, calls } of list.filter((bar) => bar.calls)) {
		const tall = Math.max(1, calls / most * (height - 30));
		const bar = draw(svg, "rect", { class: "bar", x: x(begin), y: height - tall, height: tall,
			width: Math.max(0.5, x(end) - x(begin) - 0.5) });

		draw(bar, "title", {}, `${duration(bucketLow(begin))} to ${duration(bucketLow(end))}: ` +
			`${count(calls)} call${calls === 1 ? "" : "s"}`);
	}
	draw(svg, "line", { class: "axis", x1: 0, x2: width, y1: height, y2: height });
	drawAxis(svg, first, last, x, width, height);
	drawQuantiles(svg, f, x, width, height);
	return svg;
}
