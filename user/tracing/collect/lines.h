/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often lines ran, and for how long, out of the tables. Inside collect/ only. */
#ifndef PROFTRACE_COLLECT_LINES_H
#define PROFTRACE_COLLECT_LINES_H

#include <stdint.h>

struct bpf_tables;
struct wire_callstack;

/* Sums of one site, as measured or to be added. */
struct line_sum {
	uint64_t hits;
	uint64_t ns, probe_ns; /* as measured; what of that is the probes' cost */
};

/* Sets sums[0 .. lines_cap - 1], by number of the site, to what BPF has counted so far. */
void lines__read(const struct bpf_tables *t, struct line_sum *sums);

/* Adds the time that the call stack's open calls have been on their lines, until `now_ns` or until
 * it ended. */
void lines__add_open(const struct bpf_tables *t, const struct wire_callstack *callstack,
		     uint64_t now_ns, struct line_sum *sums);

#endif
