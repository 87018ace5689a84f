/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What becomes of the plan's functions and lines, by their numbers: the plan itself never changes
 * by being attached. Inside attach/ only.
 */
#ifndef PROFTRACE_ATTACH_OUTCOME_H
#define PROFTRACE_ATTACH_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plan;

struct outcome {
	struct function_outcome {
		bool refused; /* the kernel takes no probe there, so it has none */
		bool called;  /* it was seen to be called, so it may be dropped next */
		bool dropped; /* it was given up: its probes are to be taken out */
		/* The generation of its newest probes, in any process. Probes to come have later
		 * ones, so that a hit of both is one call (hit_is_claimed() in BPF). */
		uint8_t generation;
	} * functions;
	size_t functions_cnt;
	size_t called_cnt;    /* of them, those that were seen to be called */
	const char **reasons; /* by line: why it is not counted after all; static; NULL: it is */
	size_t reasons_cnt;
};

/* Makes room for all that is planned by now. Returns 0 or -ENOMEM. */
int outcome__grow(struct outcome *o, const struct plan *p);
/* Notes which functions were called, and which are to have no probes any more; by number, all that
 * are planned. Return 0 or -ENOMEM. */
int outcome__note_called(struct outcome *o, const struct plan *p, const bool *called);
int outcome__note_dropped(struct outcome *o, const struct plan *p, const bool *dropped);
/* Notes that a function has probes of this generation. */
void outcome__note_generation(struct outcome *o, size_t function, uint8_t generation);
/* The next one for the function's probes, of which it takes note. */
uint8_t outcome__next_generation(struct outcome *o, size_t function);
void outcome__clear(struct outcome *o);

#endif
