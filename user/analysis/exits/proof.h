/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Proofs that nobody looks at a function's return address before it returns, so that it may keep a
 * cheap return probe among code that throws. Which of a function's calls would have to be harmless
 * is noted while it is decoded; whether they are is decided once all is decoded.
 */
#ifndef PROFTRACE_EXITS_PROOF_H
#define PROFTRACE_EXITS_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code/code.h"

struct landing_pads;
struct return_safety;
struct plan_object;
struct proofs;
struct target;

/* The conditions under which one decoded function may have a return probe. */
struct proof_note {
	uint64_t vaddr;
	size_t calls; /* first in the notes' calls */
	uint32_t calls_cnt;
	bool impossible; /* whatever its calls do */
	bool ends;	 /* exceptions end in it */
	/* of the planned function; not of those that were merely called */
	bool planned;
	size_t function;       /* which it is in the plan */
	struct code_site site; /* where its entry is to be probed then */
};

struct proof_call {
	uint64_t target; /* vaddr of code, or of an import's pointer */
	bool by_slot;
};

/* Notes of one worker or one object. */
struct proof_notes {
	struct proof_note *notes;
	size_t cnt, cap;
	struct proof_call *calls;
	size_t calls_cnt, calls_cap;
};

void proof_notes__clear(struct proof_notes *n);

/* Loads what the objects' proofs need into them; see exits__provable(). `traits` are those of all
 * that is mapped. `t` and
 * `objects` must outlive the proofs. Returns 0 or -ENOMEM. */
int proofs__new(const struct target *t, struct plan_object *objects, size_t cnt, unsigned traits,
		struct proofs **out);
void proofs__free(struct proofs *pr); /* accepts NULL */

/* Notes what must hold for the function of `code`, whose exception tables are `pads`. Threads may
 * do so at once, each for its own `notes`. Returns the note (valid until the next one), or NULL:
 * out of memory. */
struct proof_note *proofs__note(const struct proofs *pr, uint64_t vaddr, const struct code *code,
				const struct landing_pads *pads, struct proof_notes *notes);

/* Takes into account what the function's code does to its frame, and to its callers'. */
void proof_note__judge(struct proof_note *note, const struct proofs *pr,
		       const struct return_safety *plain);

/* Takes over the notes of an object, whose functions begin at `base` in the plan. Returns 0 or
 * -ENOMEM. */
int proofs__add(struct proofs *pr, uint32_t object, const struct proof_notes *notes, size_t base);

/* A planned function that is proven. */
struct proof_result {
	size_t function;
	struct code_site site;
	const char *reason;
};

/* Follows all calls and decides. The results are the proofs'. Returns 0 or -ENOMEM. */
int proofs__decide(struct proofs *pr, const struct proof_result **results, size_t *cnt);

#endif
