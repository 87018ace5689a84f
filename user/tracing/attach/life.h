/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of the processes while they are traced: the kernel side reports that files were
 * mapped, programs replaced and children followed, and keeps return probes off, and threads
 * waiting in the dynamic linker, until the plan has caught up.
 */
#ifndef PROFTRACE_ATTACH_LIFE_H
#define PROFTRACE_ATTACH_LIFE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct life;
struct proftrace_bpf;
struct whom_begins;

enum life_event_kind {
	LIFE_MAPPED,  /* the process has mapped or unmapped files */
	LIFE_EXEC,    /* it has begun a new program */
	LIFE_ENDED,   /* a followed child has ended */
	LIFE_CONTEXT, /* it has made a context, the first one */
	LIFE_STARTED, /* a stranger has begun a program, and may belong to the target */
};

struct life_event {
	enum life_event_kind kind;
	pid_t pid;
	bool relink;	     /* LIFE_EXEC: to the kernel's filter it is another process now */
	uint32_t generation; /* for life__caught_up() */
};

struct life_counts {
	uint32_t forks; /* children that are not followed and may hold copies of probes */
	uint32_t followed, followed_alive;
	uint32_t late;	  /* files whose first calls may have been missed */
	uint32_t unheld;  /* programs likewise: static ones, for instance */
	uint32_t trapped; /* processes that have died of SIGTRAP */
	uint32_t shared;  /* calls whose return another tool's probe has kept us from */
};

/* Before the programs are loaded: whether forked children are followed, and programs that they
 * begin; and whether the target is a command that proftrace has begun: nobody else waits for it, so
 * its threads may be held longer. */
void life__prepare(struct proftrace_bpf *skel, bool children, bool programs, bool command);

/* After. Returns 0 or -errno with one line logged. */
int life__new(struct proftrace_bpf *skel, struct life **out);
void life__free(struct life *l); /* accepts NULL */

/* Who belongs to the target, of the processes that begin programs. Once they are loaded, and again
 * when it has changed. */
void life__choose(struct proftrace_bpf *skel, const struct whom_begins *whom);
void life__choose_anew(struct life *l, const struct whom_begins *whom);

/*
 * A process that was a stranger belongs to the target. As when it maps files, its return addresses
 * are left alone until life__done(*generation). `followed`: as a child is, with all the CPU time
 * that it has had; else as one that was named. Returns whether it did not belong before.
 */
bool life__join(struct life *l, pid_t pid, bool followed, uint32_t *generation);
bool life__knows(const struct life *l, pid_t pid);
/* Followed children, pids[0 .. cap - 1] at most; returns how many. */
size_t life__followed(const struct life *l, pid_t *pids, size_t cap);

/* Events are told from life__listen() to life__ignore(). Begin before the processes are looked
 * at for the last time: then nothing goes unseen. */
void life__listen(struct life *l);
void life__ignore(struct life *l);

/* Readable while there are events. */
int life__fd(const struct life *l);
/* Calls `fn` for each event until it returns nonzero, and returns that, or 0. At most so many
 * events at a time that processes which never stop loading files don't keep the caller for ever. */
int life__events(struct life *l, int (*fn)(const struct life_event *e, void *ctx), void *ctx);

/* The latest change to what is mapped; never 0. */
uint32_t life__generation(const struct life *l);
/* The plan covers all that was mapped up to `generation`. */
void life__caught_up(struct life *l, uint32_t generation);
/* The plan covers what one event has told of. Events may come out of order: only those that follow
 * each other without a gap count as caught up. */
void life__done(struct life *l, uint32_t generation);
/* Whether events were lost, so that what they told of remains unknown. */
bool life__lost_track(const struct life *l);

/* Whether any process has made a context (makecontext), to switch stacks. */
bool life__contexts_made(const struct life *l);
/* Whether return probes are to stop when the first one is made. */
void life__guard_contexts(struct life *l, bool guard);

/* Return probes are not to be used any more. */
void life__stop_returns(struct life *l);

/* Whether threads that have mapped files shall wait: long, so that the functions in them are
 * probed, or briefly, so that no call of others is without its exit. */
void life__hold(struct life *l, bool for_functions, bool for_returns);

void life__counts(const struct life *l, struct life_counts *out);

/* How often the kernel has skipped programs of ours since they were attached, where a thread of
 * whatever process has ended or begun a program, or has forked. */
struct life_skips {
	uint64_t ends, programs, forks;
	uint64_t system_calls; /* begins and ends of them, with --syscalls */
};

/*
 * A program at a tracepoint is skipped on a CPU on which another thread has been preempted amid the
 * same program. On Linux 7.0 and later with preemption that happens to some of a hundred threads
 * that end at once; before, tracepoints kept the CPU.
 */
void life__skips(const struct life *l, struct life_skips *out);

/* Strikes followed children off that have ended, though no event has told of it. */
void life__strike_ended(struct life *l);

#endif
