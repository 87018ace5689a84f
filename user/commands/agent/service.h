/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A service that is recorded: a process of its own for the run, which is begun when somebody is
 * there, and again, later each time, if it fails.
 */
#ifndef PROFTRACE_AGENT_SERVICE_H
#define PROFTRACE_AGENT_SERVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/config_data.h"
#include "cli/options.h"

struct run_share;

/* Functions that trace for the agent, which knows no probes itself. */
struct service_engine {
	int (*run)(const struct options *o); /* cmd_trace() */
	int (*make_turn)(void);		     /* tracer__make_turn() */
};

/* The one run. */
struct service_run {
	pid_t pid; /* 0: none */
	struct run_share *share;
	bool told; /* to end */
};

struct service {
	struct config_service *config; /* NULL: not in the configuration any more */
	char *name;
	char folder[512];
	char **argv; /* of record; NULL-terminated, owned */
	size_t argv_cnt;
	struct options options;	     /* its words are of argv */
	struct service_run run, old; /* `old`: is to end */
	int turn_fd;		     /* see struct run_share; 0: none has been made */
	uint32_t turns;		     /* the last one that a run has got */
	bool found;		     /* somebody was there at the last look */
	bool told;		     /* that nobody is */
	bool stopping;
	uint64_t due_ns; /* when to look or to begin next */
	uint64_t backoff_ns;
	uint64_t began_ns;
	uint64_t starts, failures;
	uint64_t recordings, unwritten, probe_ns, cpu_ns; /* of runs that have ended */
};

/* Makes a service; `c` and `s` have to last. Returns 0 or -ENOMEM. */
int service__init(struct service *sv, const struct config *c, struct config_service *s);
void service__fini(struct service *sv);

/* Whether both would record the same in the same way. */
bool service__same(const struct service *a, const struct service *b);

/* Whether somebody belongs to it. */
bool service__anybody(struct service *sv);

/* Begins a run; it takes over from the one in `old` if there is one. Returns 0 or -errno. */
int service__begin(struct service *sv, const struct config *c, const struct service_engine *engine);

/* Has a run write what it has, and end. Once. */
void service_run__end(struct service_run *r);

/* Its process has ended with that status of wait(). */
void service__ended(struct service *sv, pid_t pid, int status);

/* Sums up to now. */
struct service_sums {
	uint64_t recordings, unwritten, probe_ns, cpu_ns;
};
struct service_sums service__sums(const struct service *sv);

/* In a child: it ends with us, catches no signals, and has no descriptors of ours. */
void service__become_child(pid_t parent, int lock, uint64_t memory);

#endif
