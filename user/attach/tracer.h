/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracer: our BPF programs in the kernel, the probes that call them, and the gate that lets
 * events count. Nothing is pinned, so all of it goes when the process does, however it ends.
 */
#ifndef PROFTRACE_ATTACH_TRACER_H
#define PROFTRACE_ATTACH_TRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plan;
struct keeper;
struct life;
struct target;
struct tracer;

struct tracer_options {
	uint32_t max_paths;    /* call paths of all threads together */
	uint32_t max_depth;    /* deepest recorded level; 0: no limit */
	const char *tier;      /* name of the only tier to try; NULL: the best one that works */
	bool follow;	       /* trace the processes' children as well */
	struct keeper *keeper; /* of links; borrowed */
	bool expects_go;       /* many goroutines */
};

/* The shared tables, for collect/. */
struct tracer_tables {
	int lanes_fd, frames_fd, nodes_fd, index_fd;
	int free_lanes_fd, free_frames_fd, free_nodes_fd;
	uint32_t lanes_cap, frames_cap, nodes_cap, index_cap;
	/* Live counters, written by BPF. */
	const volatile uint32_t *next_lane, *next_frame, *next_node;
	const volatile uint64_t *lost; /* [WIRE_LOSSES] */
};

/* Whether the kernel emulates 5-byte nops (6.18). */
bool tracer__nop5_emulated(void);

/* Whether return probes can be switched off at once: what session links can (6.13). `tier` as in
 * the options. */
bool tracer__returns_stop(const char *tier);

/* Loads the programs in the best tier that the kernel has. Returns 0, or
 * -errno with one line logged that says what is missing. */
int tracer__load(const struct tracer_options *opts, const struct target *t, struct tracer **out);

/*
 * Puts in every probe of the plan that is not in yet; so it may be called again when plan or target
 * have grown. A function that the kernel refuses is marked so, logged, and left out; the others
 * stay. Returns the number of functions attached in all, or -errno with one line logged.
 */
int64_t tracer__attach(struct tracer *tr, struct plan *p, const struct target *t);

/* Events count from the first to the second of these. */
void tracer__open_gate(struct tracer *tr);
void tracer__close_gate(struct tracer *tr);

/* Takes all probes out and waits for programs still running: the tables are at rest afterwards. */
void tracer__detach(struct tracer *tr);

/* What happens to the processes. The tracer's. */
struct life *tracer__life(const struct tracer *tr);

void tracer__tables(const struct tracer *tr, struct tracer_tables *out);
void tracer__free(struct tracer *tr); /* accepts NULL */

#endif
