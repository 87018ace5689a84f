/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sessions that a profile holds: how long they took, function by function, and of the longest
 * ones all calls. sessions/ finds them, sinks print them. All times are as measured.
 */
#ifndef PROFTRACE_CALLS_SESSION_DATA_H
#define PROFTRACE_CALLS_SESSION_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct call_value;
struct profile_thread;

/* A path below a session's function, whichever thread it was on. Of a function that was not traced
 * all the time that sessions span, as the budget dropped it amid the run, calls count as their
 * caller's time: or sessions before and after that were told apart by nothing else. */
struct session_path {
	uint32_t parent; /* in sessions::paths; 0: the session's own call */
	uint32_t function;
	/* Its own time, without that of its callees, and what of it was off the CPU: of all slow
	 * sessions, and of all usual ones. */
	uint64_t slow_ns, slow_off_ns;
	uint64_t usual_ns, usual_off_ns;
	/* The path's times in the sessions that took longest (session_group::worst_cnt); and for
	 * these and usual ones, how often the path was called, and how much of its time off the
	 * CPU is in sessions::waits. */
	uint64_t worst_ns, worst_off_ns, worst_waited_ns, worst_calls;
	uint64_t usual_waited_ns, usual_calls;
};

/* Waits of sessions that have all this in common. */
struct session_wait {
	uint32_t path;	       /* where they waited, in sessions::paths */
	uint32_t reason, kind; /* enum wait_reason, enum wait_object: see timeline/waits.h */
	uint64_t object;
	const char *object_name; /* borrowed; NULL: it has none */
	/* Who has ended them: the thread, by name, and its innermost call then. pid 0: not known;
	 * function UINT32_MAX: it was in none. Of several threads of that name one. */
	pid_t waker_pid, waker_tid;
	char waker[16];
	uint32_t waker_function;
	bool other_process;	      /* the waker is of another one */
	uint64_t worst_ns, worst_cnt; /* of the sessions that took longest */
	uint64_t usual_ns, usual_cnt; /* of the usual ones */
};

/* The cause of a thread's wait: a lock, a file, a peer. */
struct chain_cause {
	uint32_t reason, kind; /* as in struct session_wait */
	uint64_t object;
	const char *object_name;
};

/* A stretch of what a session's duration consists of: its critical path. */
struct chain_part {
	uint64_t from_ns, to_ns;
	pid_t pid, tid;
	char comm[16];
	uint32_t function; /* the innermost call there, or most of the time; UINT32_MAX: none */
	uint32_t caller;   /* of that call; UINT32_MAX: none is known */
	uint32_t depth;	   /* 0: the session's own thread; 1: one that it waited for, and so on */
	bool runs;
	bool queued; /* the task waited for a thread (--link) */
	/* The reason of the thread's wait and the object that it waits for, a lock for instance. If
	 * the thread runs at depth 1 or more: those of another thread, which waits for this one. */
	uint32_t reason, kind;
	uint64_t object;
	const char *object_name;
	/* At depth 1 or more: what the session's own thread waits for meanwhile; and the thread
	 * that this one wakes. At depth 1 that is the same. */
	struct chain_cause root, held_up;
};

/* A call of a kept session. */
struct session_call {
	uint32_t path;
	uint32_t caller; /* in session::calls, from 1 on; 0: outermost, of its thread's part */
	uint32_t thread; /* in sessions::threads */
	uint32_t values_cnt;
	const struct call_value *values; /* owned by the session */
	uint64_t enter_ns, leave_ns, off_ns;
	uint64_t inside_ns, inside_off_ns; /* of its callees */
	uint64_t number;		   /* of all calls; grows along session::calls */
	/* For a part on another thread: the number of the call that handed it over (0: this is no
	 * such part), and the time from that call's end to the part's begin. */
	uint64_t submit, queue_ns;
};

/* One that is kept. */
struct session {
	uint64_t number; /* from 1 on, thread by thread */
	uint32_t thread; /* where it began */
	uint64_t start_ns, duration_ns;
	uint64_t queue_ns; /* its parts on other threads have waited so long to begin, in all */
	/* Thread by thread, each in order of time, callers before callees. */
	struct session_call *calls;
	size_t calls_cnt, calls_cap;
	uint64_t calls_missing; /* for which there was no room */
	/* Its critical path, in order of time: the parts add up to its duration. None: no waits
	 * were recorded, or it is not one of the slowest. */
	struct chain_part *chain;
	size_t chain_cnt, chain_cap;
	char *id;	      /* the application's own, if asked for; NULL: not known; owned */
	uint64_t parent_span; /* of the trace that is its id, 8 bytes as in memory; 0: not known */
	/* In profile::threads, if the profile is made of its sessions: the parts of this one, that
	 * of the thread where it began first. */
	uint32_t first_part, parts_cnt;
};

/* All sessions of one function. */
struct session_group {
	uint32_t function;
	uint64_t count; /* those that have ended; all figures are of these */
	uint64_t open;	/* others: cut off by an end of what is looked at, or their thread's */
	double per_second;
	uint64_t min_ns, max_ns;
	/* Quantiles, in ns: half of the sessions took p50_ns or less. Exact, or of more than a
	 * million sessions within their buckets (calls/distribution.h). */
	uint64_t p50_ns, p90_ns, p99_ns;
	uint64_t over; /* took longer than spec::over_ns, kept or not */
	/* The longest sessions, and of those that took more than session_spec::over_ns as many as
	 * there is room for; the longest first. */
	struct session *slowest;
	size_t slowest_cnt;
	/* To compare with: as many of the usual ones, at random, that are not among the slowest. */
	struct session *sample;
	size_t sample_cnt;
	/* Slow sessions took more than p90_ns, or max_ns, usual ones p50_ns or less; what they
	 * waited in queues. */
	uint64_t slow_cnt, slow_total_ns, slow_queue_ns;
	uint64_t usual_cnt, usual_total_ns, usual_queue_ns;
	/* And those that took p99_ns or longer. */
	uint64_t worst_cnt, worst_total_ns, worst_queue_ns;
	uint32_t path;		    /* of its own calls, in sessions::paths */
	uint64_t first_ns, last_ns; /* when the first of them began, and the last one ended */
};

struct sessions {
	struct session_group *groups; /* by function */
	size_t groups_cnt;
	struct session_path *paths; /* the first is none; callers before callees */
	size_t paths_cnt;
	bool has_waits; /* single waits were recorded */
	struct session_wait *waits;
	size_t waits_cnt;
	struct profile_thread *threads; /* those of the profile, without their paths */
	size_t threads_cnt;
	struct session_link_stats *links; /* by spec::links */
	size_t links_cnt;
	uint64_t ids_asked, ids_known; /* kept sessions whose id was asked for, and that have one */
};

/* Counts of one --link: calls that it found, and how many were matched. */
struct session_link_stats {
	uint32_t submit_functions, run_functions; /* that match and have the value */
	uint64_t submits, runs;			  /* calls of these */
	uint64_t keyless;			  /* of both: their value could not be read */
	uint64_t matched;			  /* runs that were found a submit for */
	uint64_t joined;			  /* of these: into a session */
	uint64_t forgotten;			  /* calls of both for which there was no room */
};

/* The call that the session is; NULL: it was not kept. */
const struct session_call *session__own_call(const struct session *session);

/* Accepts NULL. */
void sessions__free(struct sessions *s);

/* A call's own time. */
static inline uint64_t session_call__self_ns(const struct session_call *c)
{
	uint64_t took_ns = c->leave_ns - c->enter_ns;

	return took_ns > c->inside_ns ? took_ns - c->inside_ns : 0;
}

static inline uint64_t session_call__off_self_ns(const struct session_call *c)
{
	return c->off_ns > c->inside_off_ns ? c->off_ns - c->inside_off_ns : 0;
}

#endif
