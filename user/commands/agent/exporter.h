/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that adds up recordings, as they come into the ring, to counters for Prometheus, and
 * has them served at /metrics with what the agent says of itself. What was recorded before it began
 * does not count.
 */
#ifndef PROFTRACE_AGENT_EXPORTER_H
#define PROFTRACE_AGENT_EXPORTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct config;

/* Memory that the process and the agent share. */
struct exporter_share {
	atomic_uint_fast64_t profiles; /* added up */
	atomic_uint_fast64_t missed;   /* gone before they were read, or not to be read */
	/* The agent's text on itself: one of two, `latest` of which is whole. Each is
	 * exporter::room bytes long, with its NUL. */
	atomic_uint_fast32_t latest;
	char texts[];
};

struct exporter {
	pid_t pid;
	struct exporter_share *share;
	size_t room;
	uint64_t due_ns; /* when to begin again */
};

/* Begins its process, as c->metrics has it. Returns 0 or -errno. */
int exporter__begin(struct exporter *e, const struct config *c);
void exporter__fini(struct exporter *e); /* the process is gone */

/* Returns where to write the agent's text on itself, *room bytes at most, with the NUL; then
 * exporter__pass_on() shows it. */
char *exporter__text(struct exporter *e, size_t *room);
void exporter__pass_on(struct exporter *e);

#endif
