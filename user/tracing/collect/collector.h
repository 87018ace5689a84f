/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns the tables that BPF fills into profiles. Reads them through memory maps, so looking costs
 * the target nothing; moves what ended threads have left into memory of its own when the tables run
 * short, and gives their entries back.
 */
#ifndef PROFTRACE_COLLECT_COLLECTOR_H
#define PROFTRACE_COLLECT_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/figures.h"

struct call_stream;
struct collector;

struct probe_costs;
struct profile;
struct tracer_tables;

/* `functions_cnt` is that of the plan: no path may name a function beyond. Returns 0 or -errno with
 * one line logged. The tracer must outlive the collector. */
int collector__new(const struct tracer_tables *tables, uint32_t functions_cnt,
		   struct collector **out);
void collector__free(struct collector *c); /* accepts NULL */

/* The plan has grown to that many functions. Returns 0 or -ENOMEM. */
int collector__grow(struct collector *c, uint32_t functions_cnt);

/* Tells the probes of functions [0, cnt); to be called again when more are known. Returns 0 or
 * -ENOMEM. */
int collector__set_probes(struct collector *c, const struct function_probes *probes, uint32_t cnt);

/* Sets what the program at a function's entry does in the kernel's place, where programs may write
 * registers; collector__set_probes() does so for all functions. */
void collector__set_emulation(struct collector *c, uint32_t function,
			      const struct wire_emulation *e);

/* Times in profiles are without these costs, or, if `raw`, as measured. */
void collector__set_costs(struct collector *c, const struct probe_costs *costs, bool raw);

/* Forgets everything, for a new start. Nothing may be traced meanwhile. */
void collector__reset(struct collector *c);

/* Sets usage[0 .. cnt - 1] by a look at all paths. Returns 0 or -ENOMEM. */
int collector__usage(struct collector *c, struct function_usage *usage, uint32_t cnt);

/* Like collector__usage(), but for those functions alone that have ever been called or passed over,
 * which *used lists: some dozens of a server's thousands. All others have done nothing, and their
 * entries are left as they are. A function that is listed stays so. *used is the collector's and
 * lasts until that grows; functions in it may be cnt and above. Returns 0 or -ENOMEM. */
int collector__usage_of_used(struct collector *c, struct function_usage *usage, uint32_t cnt,
			     const uint32_t **used, uint32_t *used_cnt);

/* Has calls of a function passed over from now on (`every` 1), or all but one in `every`. Returns
 * false if that cannot be. */
bool collector__drop(struct collector *c, uint32_t function, uint32_t every);

/* Threads forget that hits were another probe's business, so that probes of any generation count
 * from now on. Only while the gate is closed, and no program runs that has found it open. */
void collector__forget_hits(struct collector *c);

/* Has calls of dropped functions recorded again, whose probes are in once more. */
void collector__restore(struct collector *c, const uint32_t *functions, size_t cnt);

/* Gives a function WIRE_ROLE_*, before it is attached. Returns false if that cannot be. */
bool collector__add_role(struct collector *c, uint32_t function, uint32_t role);
/* Whether calls of the function begin or end what is recorded (--trigger, --until). */
bool collector__bounds(const struct collector *c, uint32_t function);

/* Sets usage[0 .. cnt - 1] by a look at all sites; lines are numbered as BPF was told, less 1. Open
 * calls have been on their lines until `now_ns` (CLOCK_MONOTONIC). Without lines all are 0. Returns
 * 0 or -ENOMEM. */
int collector__lines(struct collector *c, uint64_t now_ns, struct line_usage *usage, uint32_t cnt);

/* Calls of a function that were seen and not recorded, as it was dropped then. */
uint64_t collector__passed(const struct collector *c, uint32_t function);

/* Hits of exits in no call of their function, of all functions so far. */
uint64_t collector__strays(const struct collector *c);

/* Calls of a function that were counted in surveys so far (tracer__survey()). */
uint64_t collector__surveyed(const struct collector *c, uint32_t function);

/* Estimates of functions [0, cnt), for the next profile: its paths share them as their calls in
 * bursts. Returns 0 or -ENOMEM. */
int collector__set_estimates(struct collector *c, const struct calls_estimate *estimates,
			     uint32_t cnt);

/* Tells of all calls that were recorded in bursts. */
void collector__burst_calls(const struct collector *c, burst_calls_fn *tell, void *ctx);

/* From now on single calls go to `stream`, with times from `start_ns` (CLOCK_MONOTONIC) on. For
 * tracers that keep them (tracer_options::calls_bytes). */
void collector__stream(struct collector *c, const struct call_stream *stream, uint64_t start_ns);

/* Who names the locks and the like that single waits wait for. */
void collector__name_variables(struct collector *c, variable_namer *name, void *ctx);

/* The name of a file or peer that system calls were about, by its number, from 0 to WIRE_FILES - 1;
 * NULL: there is none. Stays as long as the collector. */
const char *collector__file(struct collector *c, uint32_t number);
/* Looks at files that found no room for their name. */
uint64_t collector__files_missing(const struct collector *c);

/* Sends single calls that have ended, and makes room in the tables if they run short; call it a few
 * times a second. Returns 0, or -errno with one line logged. */
int collector__poll(struct collector *c);

/* Sends what is left of single calls when nothing is traced any more; those that are open end at
 * `end_ns`, or with their thread. Returns 0, or -errno with one line logged. */
int collector__last_calls(struct collector *c, uint64_t end_ns);

/* Who names functions that are known from stacks alone: callers (--callers) and what samples met.
 */
void collector__resolve_callers(struct collector *c, collector_resolver *resolve, void *ctx);
/* Who names functions that were inlined where samples and waits met code, and is told first which
 * files' code samples meet; with the same context. */
void collector__look_for_inlined(struct collector *c, collector_inlined *inlined,
				 collector_met *met);
/* Profiles will be subtracted from later ones, so these show paths as the first one does. */
void collector__keep_paths(struct collector *c);

/* Sets the period of the clock by which samples are taken. `bare`: they tell what probes cost
 * alone. */
void collector__set_sample_period(struct collector *c, uint64_t ns, bool bare);
/* Samples of the target, from the start on. */
struct samples_so_far collector__samples(const struct collector *c);
/* How many waits of the target have begun so far that our programs look at. */
uint64_t collector__waits(const struct collector *c);
/* The target has had so much CPU time since the start: samples that are fetched from now on stand
 * for their share of it. */
void collector__weigh_samples(struct collector *c, uint64_t cpu_ns);
/* The CPU time, in ns, that collector__weigh_samples() was told last, to which CPU times of paths
 * add up. 0: none was told. */
uint64_t collector__weighed_ns(const struct collector *c);
/* Looks up the names of all places where threads have waited so far. The first look-ups read
 * symbols and debug information, up to a second long: call it before the time of a snapshot is
 * taken, else the snapshot has calls of a time that is later. Returns 0, or -errno with one line
 * logged. */
int collector__name_waits(struct collector *c);
/* Looks up a few of them, for some 20 ms. Before a first snapshot that is to be on time this is
 * called ten times a second: then the above has little left to do. Returns as that. */
int collector__name_some_waits(struct collector *c);
/* Fetches all samples, when none are taken any more. Returns 0, or -errno with one line logged. */
int collector__last_samples(struct collector *c);
/* Tracing was switched off, so no end of a wait is seen any more: those that last end `at_ns`. */
void collector__end_waits(struct collector *c, uint64_t at_ns);

/* Ends the call stacks of threads that have ended at some time before `now_ns` (CLOCK_MONOTONIC),
 * though the kernel's side does not know it: see life__skips(). */
void collector__end_gone(struct collector *c, uint64_t now_ns);

/* Sets p->buckets, which the caller frees, to how long all calls so far took. Returns 0 or -ENOMEM.
 */
int collector__distributions(const struct collector *c, struct profile *p);

/* For a progress line: calls recorded so far, and functions seen up to the last poll. */
uint64_t collector__calls(const struct collector *c);
uint32_t collector__functions(const struct collector *c);

/* Sets pids[] to the processes that live and have called something, each once and in order;
 * at most `cap`. Returns how many. */
size_t collector__processes(const struct collector *c, pid_t *pids, size_t cap);

/* Drops what reclaimed threads have done, once it has been shown and only news are wanted. Their
 * share of the accounts stays. */
void collector__forget_retired(struct collector *c);

/*
 * Everything recorded so far as a profile with threads (one for each call stack: see
 * profile__join_callstacks()), nodes and accounting; open calls have the time they have had until
 * `now_ns` (CLOCK_MONOTONIC), or until their thread ended. Target, functions and probes are left to
 * the caller. While the target runs, the figures of calls under way may be a moment apart, but
 * entered = returned + unwound + open and a path's total is its self time plus its children's,
 * always. Returns 0, or -errno with one line logged.
 */
int collector__snapshot(struct collector *c, uint64_t now_ns, struct profile **out);

#endif
