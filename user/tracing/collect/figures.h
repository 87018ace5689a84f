/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures of functions and lines that the collector takes and gives. */
#ifndef PROFTRACE_COLLECT_FIGURES_H
#define PROFTRACE_COLLECT_FIGURES_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

struct recorded_wait;

#include "wire.h"

/* How a function is probed: cost classes of its entry and its exit. */
struct function_probes {
	uint8_t entry, exit;
	uint8_t leaf_insns; /* it is a leaf of so many instructions; 0: it is none, or a long one */
	uint8_t entry_size; /* bytes of the instruction where its entry is probed; 0: not known */
	bool unseen_in_bursts;		 /* no probe sees its calls leave there */
	struct wire_emulation emulation; /* what that does, if our program is to do it */
};

/* Sums of a function so far, over all paths; as measured, with the probes' cost. */
struct function_usage {
	uint64_t calls;
	uint64_t self_ns, off_ns, probe_ns; /* of finished calls */
	uint64_t total_ns;		    /* self_ns and those of its callees */
	double factor;			    /* how much dearer its probes are than in calibration */
	uint64_t timed_ns, expected_ns;
	uint64_t passed; /* calls that were seen and not recorded, since it was dropped */
	uint64_t strays; /* hits of its exits in no call of it */
};

/* Sums of a line so far; without the probes' cost, unless times are raw. */
struct line_usage {
	uint64_t hits, ns;
	uint64_t error_ns; /* ns is uncertain by this */
};

/* Calls of a function that were not recorded, and the variance of that. */
struct calls_estimate {
	double calls, variance;
	bool guessed; /* no look has met any calls: the rate is that of its drop, or none */
};

/* Told of calls of a function by a thread (tgid << 32 | tid). */
typedef void burst_calls_fn(uint32_t function, uint64_t thread, uint64_t calls, void *ctx);

#define RESOLVE_KERNEL 0xfffffu /* an object: what is named is an address of the kernel's */
#define RESOLVE_CALL   0xfffeu	/* an object: what is named is wire_wait::call */
#define RESOLVE_REASON 0xfffcu	/* an object: what is named is wire_wait::reason */
#define RESOLVE_LOCK   0xfffbu	/* an object: what is named is a lock, by its address */
#define RESOLVE_WAKER  0xfffau	/* an object: what is named has ended a wait */
#define RESOLVE_FILE   0xfff8u	/* an object: what is named is a file, `file` is its name */
#define RESOLVE_UNMET  0xfff9u	/* an object: what is named is CPU time that no sample met */
#define RESOLVE_READ   0xfff7u	/* as RESOLVE_LOCK: an rwlock, of whom waits as a reader */
#define RESOLVE_WRITE  0xfff6u	/* as RESOLVE_READ, of whom waits as a writer */
/* As RESOLVE_LOCK: a condition variable or a barrier, which is waited for at one of two words. */
#define RESOLVE_PAIR 0xfff3u
/* An object: what is wanted is what who waits at the end of the path `waker` waits for: the place's
 * `function` becomes RESOLVE_READ, RESOLVE_WRITE or RESOLVE_PAIR, else RESOLVE_LOCK. */
#define RESOLVE_ROLE	  0xfff5u
#define RESOLVE_NOWHERE	  0xfff4u      /* an object: code of which nothing is known */
#define COLLECTOR_OBJECTS RESOLVE_PAIR /* objects below that are the target's */
#define RESOLVED_PROBING  UINT32_MAX   /* a function: one of the kernel's that works at probes */
#define RESOLVED_NAMELESS (UINT32_MAX - 1) /* one of the kernel's that has no name */

/* From where a thread was woken: functions from the outermost on, of the thread of that name. */
struct waker_path {
	const char *comm;
	const uint32_t *functions;
	size_t cnt;
	bool holds; /* it has not woken it: it is there, and has the lock */
};

/* Code that a function is to be named of: what lies before `vaddr`, which is behind a call. */
struct code_place {
	uint32_t pid;	 /* whose code; matters where no file has it */
	uint32_t object; /* the target's; WIRE_CALLERS_NO_OBJECT: of no file; RESOLVE_* */
	uint64_t vaddr;
	const struct waker_path *waker; /* of RESOLVE_WAKER and RESOLVE_ROLE */
	const char *file;		/* of RESOLVE_FILE */
};

/* A frame as the kernel has it, see struct wire_callers. */
static inline struct code_place code_place(uint32_t pid, uint64_t frame)
{
	return (struct code_place){pid, frame >> 48, frame & ((1ull << 48) - 1), NULL, NULL};
}

/* Sets object_name of a wait for a futex to the name of the variable that it is in; NULL: none that
 * has a name. The name stays as long as the collector. Of an rwlock kind and object become those
 * that timeline/rwlocks.h tells. */
typedef void variable_namer(void *ctx, struct recorded_wait *w);

/* *function = the number of the function at a place, after collector__grow() if it is new. Returns
 * 0 or -errno. */
typedef int collector_resolver(const struct code_place *at, uint32_t *function, void *ctx);

#define COLLECTOR_INLINED 32 /* functions that are told of one place, at most */

/* Sets functions[] to the numbers of those that were inlined at a place of a file, the outermost
 * first; *cnt: how many. Otherwise as a resolver. -EAGAIN: none so far, ask again later. */
typedef int collector_inlined(const struct code_place *at, uint32_t functions[COLLECTOR_INLINED],
			      size_t *cnt, void *ctx);

/* Samples that stand for `ns` of CPU time have met code of the object itself. */
typedef void collector_met(uint32_t object, uint64_t ns, void *ctx);

/* Samples of the target, since some moment. */
struct samples_so_far {
	uint64_t taken;
	uint64_t probing; /* of these, such as have met a probe at work */
	uint64_t ns;	  /* what they have cost, of the target's CPU time */
};

#endif
