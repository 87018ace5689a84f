/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples and waits that were fetched from the kernel, by call stack and path. Those that were
 * taken outside of all calls are kept by thread. */
#ifndef PROFTRACE_COLLECT_SAMPLE_STORE_H
#define PROFTRACE_COLLECT_SAMPLE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/figures.h"
#include "sample/code_functions.h"
#include "sample/sample_tree.h"
#include "wire.h"

struct bpf_tables;
struct profile_accounting;
struct stack_copy;

struct callstack_samples {
	uint32_t lives; /* as in struct wire_callstack */
	struct sample_tree tree;
};

/* Samples outside of calls, by a thread, or by a goroutine, whichever thread ran it. */
struct thread_samples {
	uint64_t pid_tgid, start_ns; /* of a goroutine: tid 0, and its process's start */
	uint64_t goid;		     /* 0: a thread's own */
	char comm[16];
	struct sample_tree tree;
};

struct sample_store {
	struct file_names *files;
	struct callstack_samples *callstacks; /* by number; NULL: no samples are taken */
	uint32_t callstacks_end;	      /* behind the last one that was met */
	struct thread_samples *threads;
	size_t threads_cnt, threads_cap, goroutines_cnt;
	uint32_t *threads_index; /* open addressing: a thread's number plus 1; 0: free */
	size_t threads_index_size;
	struct code_functions names; /* by address, as in struct wire_sample */
	collector_resolver *resolve;
	collector_inlined *inlined; /* NULL: inlined functions are not looked for */
	collector_met *met;	    /* NULL: nobody wants to know */
	void *ctx;
	bool bare;		    /* they tell what probes cost alone, and are shown nowhere */
	uint64_t period_ns;	    /* of the clock */
	uint64_t weight_ns;	    /* CPU time that each stands for */
	bool kernel_named;	    /* functions of the kernel that were met have names */
	double stood_ns, stood_ns2; /* sums of that, and of its squares, over samples so far */
	uint64_t before;	    /* samples, and CPU time, before the clock had that period */
	uint64_t before_ns;
	uint64_t cpu_ns;  /* of all that is traced, when last heard; 0: not known */
	uint64_t probing; /* that met a probe at work, as the kernel's functions tell */
	uint64_t late;	  /* of call stacks that are gone */
	uint64_t ends[WIRE_CALLERS_ENDS];
};

int sample_store__init(struct sample_store *s, const struct bpf_tables *t); /* 0 or -ENOMEM */
void sample_store__fini(struct sample_store *s);

/* The clock's period from now on. */
void sample_store__set_period(struct sample_store *s, const struct bpf_tables *t, uint64_t ns);
/* The CPU time of a sample, in ns, by which the error of sums is told: n samples are uncertain by
 * sqrt(n) of these. Where the clock has had two periods, between the two. */
uint64_t sample_store__period(const struct sample_store *s);
/* How many samples there were, and what they have taken of the target's CPU time. */
struct samples_so_far sample_store__so_far(const struct sample_store *s,
					   const struct bpf_tables *t);
/* All that is traced has had so much CPU time: what samples stand for that are fetched from now on.
 */
void sample_store__weigh(struct sample_store *s, const struct bpf_tables *t, uint64_t cpu_ns);

/* These two return 0, -ENOMEM, or what the resolver returned. The first fetches what was counted up
 * to its last call, the second all. */
int sample_store__poll(struct sample_store *s, const struct bpf_tables *t);
int sample_store__settle(struct sample_store *s, const struct bpf_tables *t);

/* Room for the functions of one place. */
#define CODE_FUNCTIONS (1 + COLLECTOR_INLINED)

/* Sets functions[] to that of the code there, and those that were inlined there, the outermost
 * first; *cnt: how many. Returns 0, -ENOMEM, or what the resolver returned. */
int sample_store__functions_at(struct sample_store *s, const struct code_place *at,
			       uint32_t functions[CODE_FUNCTIONS], size_t *cnt);

#define WAKER_FUNCTIONS 6 /* that are told of where a wait was ended, the innermost */

/* *function = what stands for the place from where a thread was woken; `holds`: where one is that
 * has a lock. Returns as those. */
int sample_store__waker(struct sample_store *s, const struct bpf_tables *t,
			const struct wire_wait *w, bool holds, uint32_t *function);

/* How a wait went on. */
struct wait_end {
	uint32_t reason;       /* enum wire_reason */
	const uint32_t *waker; /* what stands for who has ended it, or can; NULL: not known */
	uint64_t ns;
};

/* The thread has waited for so long at that place. Time of call
 * stacks that are gone stays with their calls. Returns as those. */
int sample_store__add_wait(struct sample_store *s, const struct bpf_tables *t,
			   const struct wire_wait *w, const struct wait_end *end);

/* Puts the samples of call stack `number` into its copy, which is replaced. `scratch` as for
 * stack_copy__read(). Returns 0 or -ENOMEM. */
int sample_store__put(struct sample_store *s, const struct bpf_tables *t, uint32_t number,
		      uint32_t *scratch, struct stack_copy **copy);
/* *out = a copy that has nothing but the samples of thread number `thread` outside of calls. */
int sample_store__thread(const struct sample_store *s, size_t thread, struct stack_copy **out);
/* *function = what stands for CPU time that no sample has met. Returns 0, or what the resolver
 * returned. */
int sample_store__unmet(struct sample_store *s, uint32_t *function);
/* The call stack is given back. */
void sample_store__forget(struct sample_store *s, uint32_t number);

void sample_store__account(const struct sample_store *s, const struct bpf_tables *t,
			   struct profile_accounting *a);

#endif
