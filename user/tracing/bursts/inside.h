/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The members of struct bursts, and what its files need of each other. Inside bursts/ only. */
#ifndef PROFTRACE_BURSTS_INSIDE_H
#define PROFTRACE_BURSTS_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bursts/inputs.h"
#include "looks/run_clock.h"
#include "looks/stand_ins.h"
#include "looks/turns.h"

struct calls_estimate;
struct lengths;
struct member;
struct rates;

#define MS 1000000ull

#define WINDOW_COST (3 * MS) /* that ends a window which costs more than was expected */
#define MOST_OTHERS 0.01     /* a window in which others' probes cost more is none */
#define EDGE_PART   0.8 /* of a burst's length: so long threads may take to be in a system call */

struct bursts {
	struct bursts_inputs in;
	struct rates *rates;
	struct member *members;
	size_t cnt, cap;
	size_t dropped; /* of them, now */
	/* By function: which of the members it is, from 1 on; 0: none. */
	uint32_t *places;
	size_t places_cnt;
	/* The functions of a look, by member and by their number in the plan; and their calls, and
	 * how many had been counted when these were read last. */
	uint32_t *list, *functions;
	uint64_t *calls, *read;
	size_t list_cnt, list_cap, functions_cap, calls_cap, read_cap;
	size_t next_burst;
	struct stand_ins stand_ins; /* of the burst that is being taken; else none is chosen */
	uint64_t *clocks;	    /* by process: its CPU time as one was chosen last */
	size_t clocks_cnt;
	uint64_t drawn_ran_ns; /* how long the target had run then */
	double cost_ns;	       /* of all bursts and windows, to the target */
	struct turns bursts, windows;
	/* Functions in wide windows that other windows know: how far they were off, as a sum of
	 * variances, and how many. */
	double wide_apart;
	size_t wide_known;
	struct turns_seen seen;
	uint64_t ended_ns; /* the last burst; 0: it is forgotten */
	uint64_t edge_ns;  /* for so long threads may take to be in a system call as one begins */
	struct run_clock clock;
	uint64_t charged_ran_ns; /* how long the target had run as hits were charged last */
	uint64_t taken, taken_ns;
	uint32_t seed;
	bool held_back; /* looks may cost less for now */
};

/* How long the target has run while it was traced, in ns of CPU time. */
uint64_t bursts__ran_ns(const struct bursts *b);

/* Now, without what bursts and windows have cost. */
struct moment bursts__own_moment(struct bursts *b);

/* The own time, in ns, that the target usually takes for so many reads and writes; 0: not known. */
double bursts__own_by_io(struct bursts *b, const struct lengths *lengths);

/* 0 to 1. Runs with the same looks draw the same numbers. */
double bursts__random(struct bursts *b);

/* CPU time, in ns, that the target loses while so many probes come and go. */
double bursts__linking_cost(double probes, double processes);

/* The member of a function that is dropped, or was; NULL: there is none. Accepts NULL. */
struct member *bursts__member(const struct bursts *b, uint32_t function);

/* A look of a kind has been taken: sets when the next one is due. */
void bursts__turn_taken(struct bursts *b, struct turns *t, const struct look *l);

/* Sets members' rates from all looks so far; *out (NULL: not wanted) = for each member, its calls
 * since it was dropped last, which the caller frees. Returns 0 or -ENOMEM. */
int bursts__set_rates(struct bursts *b, struct calls_estimate **out);

#endif
