/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waiting for what can happen while tracing: signals, the targets' ends, and the clock. */
#ifndef PROFTRACE_RUN_WATCH_H
#define PROFTRACE_RUN_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct target;
struct watch;

enum watch_event {
	WATCH_TICK,	/* a few times a second */
	WATCH_LOOK,	/* watch__look_in() */
	WATCH_INTERVAL, /* another interval has passed */
	WATCH_SIGNAL,	/* SIGINT or SIGTERM, of which the next one ends us at once; or key q */
	WATCH_DURATION, /* the time is up */
	WATCH_ENDED,	/* all targets have ended; told once */
	WATCH_LIFE,	/* something has happened to a process: life__events() */
	WATCH_CLOSED,	/* nobody reads the output any more */
	WATCH_LOST,	/* the probes have gone: link_holder__fd() */
	WATCH_SWITCH,	/* tracing is to be switched: SIGUSR1, or space or p */
	WATCH_SNAPSHOT, /* the result so far is wanted: SIGUSR2, or s */
	WATCH_KEYS,	/* with a screen: there are keys, or it has another size */
	WATCH_SKIPPED,	/* the time at the start that was to be left out is over */
};

/*
 * Starts to catch SIGUSR1, SIGUSR2 and SIGWINCH, which each ask for something: none is forgotten,
 * whenever it comes. And SIGINT and SIGTERM, which have their usual effect at first, whatever we
 * are busy with. `supervised`: see watch__end_in_order(). Returns 0 or -errno with one line logged.
 */
int watch__new(bool supervised, struct watch **out);

/* From here on SIGINT and SIGTERM end a run in order (WATCH_SIGNAL); a second one ends us at once,
 * at any time, if it does not come within 0.1 s of the first. It has no effect on a supervised run:
 * an agent that dies sends one to a recorder that it may just have told to end. Before, there is
 * nothing that has to be undone: see prepare.c. */
void watch__end_in_order(void);

void watch__free(struct watch *w); /* accepts NULL */

/* From the start of watching; 0: none. */
struct watch_times {
	uint64_t duration_ns, interval_ns, skip_ns;
	uint64_t first_ns; /* the first interval; 0: as long as the others */
	uint64_t tick_ns;  /* from one WATCH_TICK to the next; 0: a tenth of a second */
};

/* How long the first interval is, in ns, so that its result is there as early as if the start,
 * which took `start_ns`, had taken no time; but a quarter of an interval at least. */
uint64_t watch__first_interval(uint64_t interval_ns, uint64_t start_ns);

/* Descriptors to watch beside the targets; -1: not there. Borrowed. */
struct watch_fds {
	int out;	 /* for a closed pipe */
	int life;	 /* for events */
	int link_holder; /* for its end */
	int keys;	 /* for what is pressed */
	bool screen;	 /* which are for the live view, and not read here */
};

/* Begins to watch. Returns 0 or -ENOMEM. */
int watch__start(struct watch *w, const struct target *t, const struct watch_fds *fds,
		 const struct watch_times *times);

/* WATCH_LOOK is to come once, so long from now; 0: not at all. */
void watch__look_in(struct watch *w, uint64_t ns);

/* Waits for the next event. */
enum watch_event watch__next(struct watch *w);

#endif
