// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers as text, in the words of the command line's reports.

const UNITS = [[1e3, "us"], [1e6, "ms"], [1e9, "s"]];
const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export function count(n) {
	return grouped.format(n);
}

// Before the calls of a function: "~" where some were kept and scaled, "\u2265" where the budget has
// dropped it, so that there were more.
export function callsMark(f) {
	return f?.keptOneIn ? "~" : f?.wholeUntil !== undefined ? "\u2265" : "";
}

// Three significant digits and a unit: "812 ns", "1.23 us", "123 s".
export function duration(ns) {
	if (ns < 1000)
		return `${Math.round(ns)} ns`;
	for (const [size, unit] of UNITS) {
		for (const decimals of [2, 1, 0]) {
			const text = (ns / size).toFixed(decimals);

			if (Number(text) < 10 ** (3 - decimals))
				return `${text} ${unit}`;
		}
	}
	return `${grouped.format(ns / 1e9)} s`;
}

// "+1.23 ms", "-20 ns", "0 ns".
export function change(ns) {
	return (ns > 0 ? "+" : ns < 0 ? "\u2212" : "") + duration(Math.abs(ns));
}

// A bound for a time that is too short to be known: "<50 ns".
export function below(ns) {
	const power = 10 ** Math.max(0, Math.ceil(Math.log10(ns / 5)));
	const step = [1, 2, 5].find((digit) => ns <= digit * power) ?? 10;

	return `<${duration(step * power)}`;
}

export function percent(part, whole) {
	const value = whole > 0 ? 100 * part / whole : 0;

	if (value > 0 && value < 0.05)
		return "<0.1%";
	return value < 1000 ? `${value.toFixed(1)}%` : `${Math.floor(value)}%`;
}

// What a figure of that weight is called, and how it is written.
export const WEIGHTS = {
	wall: { noun: "wall time", text: duration },
	cpu: { noun: "CPU time", text: duration },
	off: { noun: "time off the CPU", text: duration },
	calls: { noun: "calls", text: count },
};

// The last part of a path.
export function base(path) {
	return path.slice(path.lastIndexOf("/") + 1);
}

// A duration bucket's bounds in ns: user/calls/distribution.h, eight to a power of two.
export function bucketLow(bucket) {
	return bucket < 8 ? bucket : (8 + bucket % 8) * 2 ** (Math.floor(bucket / 8) - 1);
}

// Where a duration lies on a scale of buckets.
export function bucketAt(ns) {
	if (ns < 8)
		return ns;
	const shift = Math.floor(Math.log2(ns)) - 3;

	return (shift + 1) * 8 + ns / 2 ** shift - 8;
}
