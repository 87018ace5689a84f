/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The gate: events count while it is open. Inside attach/ only. */
#ifndef PROFTRACE_ATTACH_GATE_H
#define PROFTRACE_ATTACH_GATE_H

#include <stdint.h>

struct link_holder;
struct proftrace_bpf;

struct gate {
	struct proftrace_bpf *skel; /* borrowed */
	int inner, outer;	    /* see gate__settle() */
};

/* Makes the gate; its maps are made by the link holder. Returns 0 or -errno; silent. */
int gate__init(struct gate *g, struct proftrace_bpf *skel, struct link_holder *k);
void gate__fini(struct gate *g); /* of a zeroed one, too */

/* Opens the gate. Where runs share a turn it is this one's from then on. */
void gate__open(struct gate *g);
/* Opens the gate for processes of our own, whoever's turn it is. */
void gate__open_alone(struct gate *g);
void gate__close(struct gate *g);

/* See tracer__make_turn(). */
int gate__make_turn(void);

/* Returns once no program runs any more that has found the gate as it was before. 0 or -errno. */
int gate__settle(struct gate *g);

/* Closes all frames that are open, as of `at_ns` (CLOCK_MONOTONIC). The gate must be closed, and
 * settled. 0 or -errno. */
int gate__close_frames(struct gate *g, uint64_t at_ns);

#endif
