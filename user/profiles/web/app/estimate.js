// SPDX-License-Identifier: GPL-2.0-or-later
// Which figures are estimates, and how good they are, as user/profiles/calls/estimate.h has it: of
// a function, or of a row of a tree, whose figures may be the sums of many paths.

import { count, duration } from "./format.js";

export const HINT = "~ is estimated from samples or bursts; \u00b1 is its standard error";

// Of figures by their names. `totalVaried`: the variance of the inclusive time, if it is known.
export function estimateOf({ calls, self, sampled, varied, burst, callsVaried }, profile,
	totalVaried = 0) {
	const period = profile.estimates?.period ?? 0;
	const source = burst ? "burst" : period && (!calls || sampled > self / 2) ? "sample" : "exact";

	return { source, calls: Math.sqrt(callsVaried), own: Math.sqrt(varied * period),
		all: source === "exact" ? 0 : Math.sqrt(totalVaried * period) };
}

// Of a row of a tree; of threads nothing is.
export function estimateOfRow(tree, i) {
	if (tree.fn[i] < 0 || !tree.profile.estimates)
		return null;
	return estimateOf({ calls: tree.calls[i], self: tree.self[i], sampled: tree.sampled[i],
		varied: tree.varied[i], burst: tree.burst[i], callsVaried: tree.callsVaried[i] },
	tree.profile, tree.totalVaried()[i]);
}

export function estimateOfFunction(f, profile) {
	return profile.estimates && estimateOf(f, profile);
}

// "90,000", "~90,000", or "-" where nobody has counted them.
export function callsText(calls, mark, e) {
	if (e?.source === "sample" && !calls)
		return "-";
	return (e?.source === "burst" ? "~" : mark) + count(calls);
}

// A time with what it is uncertain by: "~1.23 s \u00b1 0.1 s".
export function timeText(ns, error) {
	return error > 0 ? `~${duration(ns)} \u00b1 ${duration(error)}` : duration(ns);
}
