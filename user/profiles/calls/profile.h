/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profile: what was measured, as plain data. collect/ fills it, calls/ computes on it, sinks
 * print it. It knows nothing of BPF or ELF. Index 0 of a node array is never a node: 0 means none.
 */
#ifndef PROFTRACE_CALLS_PROFILE_H
#define PROFTRACE_CALLS_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

struct sessions;
struct timeline;
struct waits;

/*
 * Counts and times of a call path, or of a function over all its paths. Times are wall time in ns
 * without what our probes have added, never negative; the raw ones are as measured. off_ns is the
 * part of total_ns that was spent waiting, the rest was on a CPU: off_self_ns <= self_ns, always. A
 * path's inclusive figures are its own and those of its callees, always.
 */
struct call_stats {
	uint64_t calls;	   /* entered */
	uint64_t total_ns; /* from entry to exit; open calls count up to now */
	uint64_t self_ns;  /* total_ns less the total_ns of traced callees */
	uint64_t off_ns, off_self_ns;
	uint64_t raw_total_ns, raw_self_ns;
	uint64_t error_ns, self_error_ns; /* total_ns and self_ns are uncertain by this */
	uint64_t min_ns;		  /* of finished calls; UINT64_MAX: none has finished */
	uint64_t max_ns;		  /* of finished calls; 0: none has finished */
	/* Samples of CPU time: how many met the path itself; what of self_ns is estimated from
	 * them; and that, with what of its own time was given to functions without probes. */
	uint64_t samples, sampled_ns, varied_ns;
	/* Bursts: what of calls was scaled up from them, and its variance, in calls^2, a whole
	 * number: of 20 billion calls known to a quarter it is 2.5e19, which no uint64_t holds. */
	uint64_t burst_calls;
	double calls_varied;
	uint64_t recorded_calls; /* in bursts, not scaled up; recordings do not keep it */
};

static inline uint64_t stats__cpu_ns(const struct call_stats *s)
{
	return s->total_ns > s->off_ns ? s->total_ns - s->off_ns : 0;
}

static inline uint64_t stats__cpu_self_ns(const struct call_stats *s)
{
	return s->self_ns > s->off_self_ns ? s->self_ns - s->off_self_ns : 0;
}

/* How many finished calls of one function took [low, high) ns; the bucket's number gives both
 * bounds: see calls/distribution.h. */
struct profile_bucket {
	uint32_t function;
	uint32_t bucket;
	uint64_t calls;
};

/* The kind of a function of the profile, and so of the nodes of its tree. */
enum function_kind {
	FUNCTION_PLAIN,
	FUNCTION_REGION, /* a stretch of code that its author has named, or a mark in it */
	FUNCTION_CALLER, /* not traced: it is known from stacks alone (--callers, samples) */
	/* Likewise, and its code is part of the function above it, where the compiler has put it in
	 * place of a call. Its name ends in " (inlined)". */
	FUNCTION_INLINED,
	FUNCTION_KINDS,
};

/* Whether functions of that kind are known from stacks alone: nobody counts their calls. */
static inline bool function_kind__of_stacks(uint32_t kind)
{
	return kind == FUNCTION_CALLER || kind == FUNCTION_INLINED;
}

/* The kind's name in the JSON contract: "function", "region", "inlined". */
const char *function_kind__name(enum function_kind kind);

struct profile_function {
	const char *name;   /* demangled; UTF-8 not guaranteed: it comes from the target's file */
	const char *symbol; /* as in the symbol table */
	const char *const *aliases; /* its other symbols, raw */
	size_t aliases_cnt;
	const char *module;	 /* path of the object */
	uint64_t offset;	 /* of the function in that file */
	const char *file;	 /* source file; NULL: unknown */
	uint32_t line;		 /* 0: unknown */
	struct call_stats stats; /* set by profile__summarize(); recursive time counted once */
	uint64_t spent_ns; /* also set by it: as stats.total_ns, but with that of each recursion */
	uint64_t taken_ns; /* also set by it: what the probes took, beside spent_ns */
	/* Also set by it: samples that met the function, or one below it whose calls are counted,
	 * while it had no probe, so that they are part of spent_ns. */
	uint64_t unprobed_samples;
	/* Also set by it: it was dropped for the budget, and no call of it was kept from then on.
	 */
	bool cut;
	uint32_t sampled; /* from its drop on one call in so many was kept, and scaled; 0: exact */
	uint32_t kind;	  /* enum function_kind */
	/* 1: the last instruction may be a jump to another function, which then runs for the caller
	 * when the call has ended; else 0. */
	uint32_t leaves_by_jump;
	bool hidden; /* is not to be listed: see views/prune.h */
	bool chosen; /* is exact as far as can be, as somebody looks at it closely */
};

/* The symbol of a function as other programs are told, who may look functions up by it: "" if there
 * is none. Inlined functions have none, as that of their name is another function's, which has
 * calls. */
static inline const char *profile_function__symbol(const struct profile_function *f)
{
	return f->symbol && f->kind != FUNCTION_INLINED ? f->symbol : "";
}

/* Whether it was found without a symbol, so its name says nothing: "func_0x81690". */
static inline bool function__is_nameless(const struct profile_function *f)
{
	return !strncmp(f->symbol, "func_0x", strlen("func_0x"));
}

/* Whether what stands in a path is no code: what a wait is for and who has ended it, as "[timer]",
 * "[lock table_lock]" or "[by writer: main]". */
static inline bool function__is_no_code(const struct profile_function *f)
{
	return f->kind == FUNCTION_CALLER && f->name[0] == '[';
}

/* Whether what stands in a path is a wait or a part of one, as "[timer]". */
static inline bool function__is_wait(const struct profile_function *f)
{
	return f->module && !strcmp(f->module, "[waits]");
}

/* A call that the compiler has replaced by the callee's code. */
struct profile_inline {
	const char *name; /* of the callee; demangled */
	const char *file; /* where the call stands; NULL: unknown */
	uint32_t line;
	uint32_t
		parent; /* the inlined call that this one is part of, as in profile_line; 0: none */
};

/* How often a line of source ran (--lines), and for how long: from its begin to that of the next
 * line of the same call, with all that it called; without what probes have added. */
struct profile_line {
	const char *file;
	uint32_t line;
	uint32_t function; /* whose code it is in */
	uint32_t inlined;  /* the inlined call that it is part of: index in inlines + 1; 0: none */
	uint64_t hits;
	uint64_t ns;
	uint64_t error_ns;  /* ns is uncertain by this */
	const char *reason; /* why it was not probed; NULL: it was. Borrowed */
	/* Its function is optimized, so hits are runs of the line's code, which the compiler may
	 * have moved, merged or multiplied: 1, else 0. */
	uint32_t approximate;
	/* 1 for code that is no run of the line of source, whose statements are in other code: the
	 * begin of a lambda, or code that the compiler has made up. Else 0. */
	uint32_t aside;
};

/*
 * One call path. A profile's nodes are one array, with all threads' trees; index 0 is not used.
 * Those of one GET in redis, which the tree format shows beside them:
 *
 *   node  parent  function  first_child  next_sibling  calls  total  self
 *    2     0       2         3            1             1     8616   4782  getGenericCommand
 *    3     2       1         4            0             1     3834   1734  └─lookupKeyReadOrReply
 *    4     3       0         0            0             1     2100   2100    └─lookupKey
 *    1     0       3         0            0             1       25     25  getCommand
 *
 * The thread's first_root is 2; siblings stand in order of their totals.
 */
struct profile_node {
	uint32_t parent; /* 0: outermost call of its thread */
	uint32_t function;
	uint32_t thread;
	uint32_t first_child;
	uint32_t next_sibling;
	struct call_stats stats;
};

/* profile_thread::callstack_ns of what samples met outside of calls. Threads' own stacks have 0
 * there, and others the time when they were made. */
#define SAMPLED_OUTSIDE 1

struct profile_thread {
	/* tid 0: a goroutine, which is on no thread for long; pid 0: all threads of that name, of
	 * any process and machine */
	pid_t pid, tid;
	uint64_t start_ns;     /* with tid, the thread's identity: tids are used again */
	uint64_t goroutine;    /* its number in its process; 0: a thread */
	uint64_t callstack_ns; /* tells call stacks of one thread apart, see views/merge.h; 0: its
				  own stack */
	uint32_t spans; /* 1: its calls are spans, which lie beside the thread's calls; else 0 */
	char comm[16];	/* NUL-terminated */
	char title[64]; /* what it is called instead; empty: by its comm and numbers */
	uint32_t first_root; /* first outermost node */
	/* How many threads profile__merge_threads() made one: pid and tid are those of the first.
	 * 0 or 1: this is a single thread. */
	uint32_t merged_cnt;
	uint32_t merged_pids; /* also set by it: how many processes these are of */
	/* Also set by it: the name of the first threads of these processes; "" if that is not
	 * known. */
	char program[16];
	/* For a process of a whole machine (-a): its number of threads, and bytes of memory that
	 * are resident; 0: not known. */
	uint32_t threads;
	uint64_t memory;
};

/* entered = returned + unwound + open, always. */
struct profile_accounting {
	uint64_t entered;
	uint64_t returned;
	uint64_t unwound; /* left without a seen return: longjmp, exception, lost return */
	int64_t open;	  /* still running when the profile was taken; in a delta, how many more */
	uint64_t lost;	  /* calls seen but not recorded, because a table was full */
	uint64_t deep;	  /* of entered: nested too deeply for the kernel to report their return */
	uint64_t dropped; /* calls of dropped functions, seen and not recorded */
	uint64_t untriggered;	/* calls seen and not recorded: no call of a trigger was open */
	uint64_t probe_ns;	/* what the probes have cost the target, CPU time */
	uint64_t cpu_ns;	/* CPU time of the target, probes included; 0: unknown */
	uint64_t undistributed; /* finished calls that the distributions had no room for */
	uint64_t line_misses;	/* with --lines: probes hit in calls that were not recorded */
	/* With --calls: single calls that were kept, and those for which there was no room. */
	uint64_t timeline_calls, timeline_lost;
	/* With --callers: calls whose stack is known up to a traced call or the thread's outermost
	 * one; where it ends before that, and why; and of which no stack could be kept. */
	uint64_t callers_whole;
	uint64_t callers_no_rule;    /* nothing tells how to go on */
	uint64_t callers_unreadable; /* memory that was not there */
	uint64_t callers_astray;     /* what should be a return address is none */
	uint64_t callers_deep;	     /* more frames than are kept */
	uint64_t callers_lost;
	/* Samples of CPU time; those that are not in the tree: which met a probe at work, or found
	 * no room. Then those in it, by how their stack ends, as above. */
	uint64_t samples_taken, samples_probing, samples_lost;
	uint64_t samples_whole, samples_no_rule, samples_unreadable, samples_astray, samples_deep;
	uint64_t samples_unknown;  /* of processes whose mappings were not known yet */
	uint64_t bursts, burst_ns; /* how often hot functions were probed, and how long in all */
	uint64_t sample_ns;	   /* what taking samples has cost the target */
	/* Waits of the target's threads, also of those outside of calls, while samples are taken;
	 * and those whose place is not known, whose time stays with the innermost call. */
	uint64_t waits, waits_lost;
	uint64_t waits_estimated; /* of these, as they were many and short, from others like them */
	/* With --calls: of these, what was too short to be kept one by one, and its time. */
	uint64_t waits_short, waits_short_ns;
	/* CPU time of the target's threads while they were held until what they had loaded was
	 * planned; not part of cpu_ns. */
	uint64_t held_ns;
};

/* The target's own CPU time, without the probes'. Something of it is its own, however uncertain the
 * probes' cost. */
static inline uint64_t accounting__own_ns(const struct profile_accounting *a)
{
	uint64_t least = a->cpu_ns / 100;

	return a->cpu_ns > a->probe_ns + least ? a->cpu_ns - a->probe_ns : least;
}

/* Cost of the probes, in percent of the target's own CPU time (without theirs). Returns
 * false if that is not known. */
static inline bool accounting__overhead(const struct profile_accounting *a, double *percent)
{
	uint64_t own_ns = accounting__own_ns(a);

	if (!own_ns)
		return false;
	*percent = 100.0 * (double)a->probe_ns / (double)own_ns;
	return true;
}

/* A value that was asked for of a function's calls (-A). */
struct profile_argument {
	uint32_t function;
	const char *name; /* as it was asked for; borrowed */
};

/* A function that was given up for the sake of the budget. */
struct profile_drop {
	uint32_t function;
	uint64_t at_ns;		 /* since the start */
	double calls_per_second; /* of the target's own CPU time, when it was dropped */
	double cost_percent;	 /* what it cost then, in percent of that time */
	uint32_t sampled;	 /* one call in so many is kept; 0: none */
	const char *reason;	 /* borrowed */
	uint64_t back_ns;	 /* since the start: from then on it is exact again; 0: it is not */
};

/*
 * A function's calls as the run's looks tell them, before they are shared among its paths: how many
 * are estimated, with those of paths that a view has left out, and the variance of that number, in
 * calls^2, a whole number. Example: 1,000 calls +- 100 have a variance of 10,000.
 */
struct profile_estimate {
	uint32_t function;
	uint64_t calls;
	double varied;
};

/* A file's share of the samples of CPU time that the target's threads were met with. */
struct profile_cpu_share {
	const char *module; /* path, or "[kernel]", "[unknown]", "[vdso]"; borrowed */
	uint64_t samples;   /* in code of the file */
	uint64_t traced;    /* of these, in functions that were traced at the time */
	uint32_t probed;    /* some functions of the file were probed in the run: 1, else 0 */
};

struct profile_skip {
	const char *name;
	const char *module;
	const char *reason;
};

/* Counts of what was probed: copied from the plan, in the words of the JSON contract. */
struct profile_probes {
	uint64_t functions;
	uint64_t instrumented; /* of them, with entries that were compiled to be patched */
	struct {
		const char *class_name;
		uint64_t count;
	} sites[9];
	size_t sites_cnt;
	uint64_t exits_return, exits_sites, exits_none;
	const struct profile_skip *skipped; /* borrowed */
	size_t skipped_cnt;
};

struct profile_target {
	const pid_t *pids; /* borrowed */
	size_t pids_cnt;
	const char *exec;     /* -x PATH; NULL: not given */
	char *const *command; /* NULL-terminated; NULL: not given */
};

struct profile {
	struct profile_target target;
	double start_time; /* seconds since 1970 */
	uint64_t duration_ns;
	uint64_t paused_ns; /* of that, while tracing was switched off */
	struct profile_function
		*functions; /* all that were probed, called or not; strings borrowed */
	size_t functions_cnt;
	struct profile_thread *threads;
	size_t threads_cnt;
	struct profile_node *nodes;
	size_t nodes_cnt; /* with the unused node 0 */
	/* Buckets of all functions, sorted by function and bucket. */
	struct profile_bucket *buckets;
	size_t buckets_cnt;
	struct profile_drop *drops; /* in order of time */
	size_t drops_cnt;
	struct profile_estimate *estimates; /* sorted by function */
	size_t estimates_cnt;
	/* Sorted by function; a call's values are in the order of its function's. */
	struct profile_argument *arguments;
	size_t arguments_cnt;
	/* Sorted by file, line, function and inlined call. Their strings are borrowed. */
	struct profile_line *lines;
	size_t lines_cnt;
	struct profile_inline *inlines;
	size_t inlines_cnt;
	struct profile_cpu_share *cpu_shares; /* none: no samples were taken */
	size_t cpu_shares_cnt;
	/* Nobody but root can have chosen the names of their files: 1, else 0. */
	uint32_t files_by_root;
	/* 1: the cost of probes could not be measured, so times include it, and accounting.probe_ns
	 * says nothing; else 0. */
	uint32_t cost_unknown;
	struct timeline *timeline; /* single calls; owned; NULL: not recorded */
	/* The number of accounting.timeline_calls, the oldest, that were removed from the
	 * recording, for it to stay small (--max-size). */
	uint64_t calls_forgotten;
	struct waits *waits;	   /* single waits; owned; NULL: not recorded */
	struct sessions *sessions; /* owned; NULL: not asked for */
	uint64_t surveyed_ns; /* calls were counted for so long before the start, for the budget */
	/* CPU time that a sample stands for; 0: none were taken. */
	uint64_t sample_period_ns;
	uint32_t
		zoomed; /* number of the function that somebody looks at closely, plus 1; 0: none */
	double max_overhead; /* the budget, in percent of the target's own CPU time; 0: none */
	struct profile_accounting accounting;
	struct profile_probes probes;
};

/* Frees the arrays, the timeline, the waits, the sessions and p itself; borrowed strings stay.
 * Accepts NULL.
 */
void profile__free(struct profile *p);

#endif
