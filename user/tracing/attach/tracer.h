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
#include <sys/types.h>

#include "attach/tracer_tables.h"
#include "plan/plan.h"

struct arguments;
struct plan;
struct link_holder;
struct life;
struct target;
struct tracer;
struct whom;

/* The result of trying one backend. */
struct tracer_trial {
	const char *name;
	const char *since; /* the kernel it came with */
	bool works;
	bool basic;   /* its programs are those for kernels with fewer helpers (before 6.0) */
	bool surveys; /* calls of functions can be counted for a moment, as bursts need (6.6) */
	bool limited; /* it does not work as a limit of ours is too low, not for lack of a kernel */
	char why[256]; /* not: in a line */
};

struct tracer_options {
	uint32_t max_paths;  /* call paths of all threads together */
	uint32_t max_depth;  /* deepest recorded level; 0: no limit */
	const char *backend; /* name of the only backend to try; NULL: the best one that works */
	bool emulates;	     /* programs may write registers: tracer__writes_registers() */
	bool children;	     /* trace the processes' forked children as well */
	bool follow;	     /* trace the programs that children begin */
	bool command;	     /* the target is one that was begun for this run */
	const struct whom *whom; /* others may belong to the target later; NULL: none; borrowed */
	struct link_holder *link_holder; /* of links; borrowed */
	bool expects_go;		 /* many goroutines */
	size_t functions_cnt;		 /* that will be probed, as far as is known */
	bool keep_cost;	       /* leave the probes' cost in distributions, minima and maxima */
	bool triggers, untils; /* some functions begin or end the recording */
	bool whole;	       /* some functions have WIRE_ROLE_WHOLE */
	bool regions;	       /* there are regions, or may be later */
	bool regions_planned;  /* there are regions already */
	size_t calls_bytes;    /* memory for single calls until they are fetched; 0: not kept */
	/* No function will have a return probe: the best backend is loaded without its program. */
	bool returns_spared;
	bool lines;	       /* lines are counted */
	size_t line_sites_cnt; /* sites at which lines are counted, as far as is known */
	/* Values to read with those; borrowed while loading; NULL or empty: none. */
	const struct arguments *arguments;
	bool survey;		     /* calls are to be counted for moments, if that can be */
	bool bursts;		     /* bursts are to be taken, if so */
	bool drops;		     /* functions may be dropped */
	bool callers;		     /* the callers of outermost calls are unwound */
	bool seeds;		     /* what was open below outermost calls is unwound */
	uint32_t samples_hz;	     /* samples are taken so often a second on each CPU; 0: none */
	bool samples_bare;	     /* these tell what probes cost alone: no stacks, no waits */
	bool system_calls;	     /* system calls are traced */
	uint32_t system_calls_first; /* the function that stands for system call 0 */
	/* Why a thread waits in a system call, by its number: enum wire_reason, WIRE_CALL_*. */
	uint8_t (*call_reason)(uint32_t number);
	uint8_t (*call_file)(uint32_t number); /* enum wire_call_file */
	int turn_fd;   /* of tracer__make_turn(), borrowed while loading; 0: none */
	uint32_t turn; /* this run's number there; not 0 */
};

struct own_probe;
struct probe_costs;

/* The nops that this kernel replaces by calls. */
enum call_nops tracer__call_nops(void);

/* Whether the kernel lets programs at uprobes write registers (7.0), so that they can do what the
 * probed instruction would. Tried by loading one: that takes the privileges that tracing takes. */
bool tracer__writes_registers(void);

/* The best backend, if the kernel has it, and `backend`, as in the options, allows it; NULL:
 * another one, or none. */
const char *tracer__best(const char *backend);

/* Whether return probes can be switched off at once: what session links can (6.13). `backend` as in
 * the options. */
bool tracer__returns_stop(const char *backend);

/* Whether the kernel has no links on many uprobes, so that trace events stand in (before 6.6), or
 * the backend is that of trace events. `backend` as in the options. */
bool tracer__needs_events(const char *backend);

/* Tries backend number `index`, best first, with what the options ask for: loads the programs, and
 * probes a function of our own. False: there is no such number. */
bool tracer__try(const struct tracer_options *opts, size_t index, struct tracer_trial *out);

/* Whether this is a PID namespace of its own (a container), in which each call costs more. */
bool tracer__is_inside(void);

/* Whether our clock is the kernel's: not in a time namespace that has set its own. */
bool tracer__shares_clock(void);

/*
 * Has programs and tables be loaded while the plan is made, which takes about as long, with options
 * as they will probably be: `functions_cnt` is room, whether there are regions, goroutines and
 * return probes are guesses. Until it is given to tracer__load() or called off, nothing else may be
 * asked of the link holder. NULL: nothing was begun.
 */
struct tracer *tracer__begin(const struct tracer_options *opts, const struct target *t);
/* Accepts NULL. */
void tracer__call_off(struct tracer *tr);

/* Loads the programs in the best backend that the kernel has, or takes what was begun (NULL:
 * nothing), if that fits; in any case it is used up. The other options must be those that it was
 * begun with. Returns 0, or -errno with one line logged that says what is missing. */
int tracer__load(const struct tracer_options *opts, const struct target *t, struct tracer *begun,
		 struct tracer **out);

/*
 * Puts in every probe of the plan that is not in yet; so it may be called again when plan or target
 * have grown. A function that the kernel refuses is logged, and left out; the others stay.
 * `called`, by function, tells which were seen to be called and may be dropped soon: so that this
 * goes faster, they are kept apart from others (NULL: nothing that was not told before). Returns
 * the number of functions attached in all, or -errno with one line logged.
 */
int64_t tracer__attach(struct tracer *tr, const struct plan *p, const struct target *t,
		       const bool *called);

/* Like tracer__attach(), while threads of the target are held until what they have loaded has its
 * probes: these are put in on another CPU than theirs. */
int64_t tracer__attach_loaded(struct tracer *tr, const struct plan *p, const struct target *t);

/* Whether the program of return probes was left out, as struct tracer_options had it. */
bool tracer__spares_returns(const struct tracer *tr);

/* Whether the kernel has refused the function's probes, so that it has none. */
bool tracer__is_refused(const struct tracer *tr, size_t function);
/* Whether the function's calls are seen: it was neither refused nor dropped. */
bool tracer__traces(const struct tracer *tr, size_t function);
/* Why a line of the plan is not counted after all, by its index; NULL: as planned. Static. */
const char *tracer__line_reason(const struct tracer *tr, size_t line);
/* Whether contexts may be made (makecontext) that nobody tells of. */
bool tracer__misses_contexts(const struct tracer *tr);

/* Functions whose calls are counted or recorded, by their numbers in the plan, in order. */
struct tracer_survey {
	const uint32_t *functions;
	size_t cnt;
	const bool *processes; /* by their place in the target; NULL: all */
};

/*
 * Before functions are attached, or when they are dropped: puts probes on some that count
 * calls (collector__surveyed()) and do nothing else, in some of the target's processes or in all
 * that true ones would be in. They go soon after they were asked to, not at once, but count no
 * longer when others follow. For tracers that can (tracer__surveys()). Returns 0 or -errno, then
 * without all of them in.
 */
int tracer__survey(struct tracer *tr, const struct plan *p, const struct target *t,
		   const struct tracer_survey *survey);
void tracer__take_out_survey(struct tracer *tr);
/* Nothing is counted any more: hits that are being counted right now may be. */
void tracer__end_survey(struct tracer *tr);
bool tracer__surveys(const struct tracer *tr);

/*
 * Bursts, of functions that are dropped: their probes are put in, some of their calls are recorded
 * (on paths marked WIRE_NODE_BURST, while the phase is not WIRE_BURST_OFF), and their probes taken
 * out again, in the background. For tracers that survey. Returns 0 or -errno,
 * then without all of them in.
 */
int tracer__put_in_burst(struct tracer *tr, const struct plan *p, const struct target *t,
			 const struct tracer_survey *burst);
/* Before a burst begins: after the target has run for `leaves_ns` on one CPU the kernel side ends
 * the burst there, as with WIRE_BURST_ENDS, and after `over_ns` it records no more calls there,
 * however late the phase is set. */
void tracer__bound_burst(struct tracer *tr, uint64_t leaves_ns, uint64_t over_ns);
void tracer__set_burst_phase(struct tracer *tr, enum wire_burst_phase phase);
void tracer__take_out_burst(struct tracer *tr);
/* Calls that were recorded in bursts before `until_ns` (CLOCK_MONOTONIC) and are still open end at
 * their thread's next event: no probe is left to see it. */
void tracer__forget_bursts(struct tracer *tr, uint64_t until_ns);

/* The time, in ns, that CPUs have spent with the target, to the microsecond: for differences over
 * milliseconds. Interrupts are in it. For tracers that survey. */
uint64_t tracer__ran_ns(const struct tracer *tr);

/* The system calls by which the target has read and written meanwhile: read(2), write(2) and their
 * like (pread, writev, sendfile; not recv and send). 0 where the kernel does not count them. */
struct tracer_io {
	uint64_t reads, writes;
};
struct tracer_io tracer__io(struct tracer *tr);

enum tracer_probe {
	TRACER_ENTRY,
	TRACER_RETURN, /* entry and return */
	TRACER_EXIT,   /* an exit site */
	TRACER_RET,    /* a `ret` that is emulated: only if tracer__emulates() */
};

/*
 * For calibration, before anything else is attached: probes on code of our own, in a child of ours.
 * The probes stay until tracer__free(). The child's calls count, with all that is done at calls of
 * the target, from tracer__rehearse() to tracer__end_rehearsal(). Return 0 or -errno; silent.
 */
int tracer__probe_own(struct tracer *tr, pid_t child, enum tracer_probe kind,
		      const struct own_probe *own, size_t cnt);
int tracer__rehearse(struct tracer *tr, pid_t child);
/* Meanwhile: whether all entries are timed, or one in some as always. */
void tracer__time_all(struct tracer *tr, bool all);
void tracer__end_rehearsal(struct tracer *tr, pid_t child);

/* From here on calls are charged with what their probes cost. */
void tracer__set_costs(struct tracer *tr, const struct probe_costs *costs);

/* Whether its programs emulate `ret`s. */
bool tracer__emulates(const struct tracer *tr);

/* The backend's name. */
const char *tracer__backend(const struct tracer *tr);

/* Whether single calls are kept, so that calls cost more. */
bool tracer__keeps_calls(const struct tracer *tr);

/*
 * Takes out the probes of functions that are dropped, by their numbers: all that are by now. They
 * get none in processes that come later, either. The others' calls go on being counted, each once.
 * Their probes move to new links, and the old ones are closed by tracer__drop_poll() a little
 * later, for the sake of calls that were entered through them: those that are still open then end
 * as unwound, at their thread's next event. `calls`, by function, tells which were called how often
 * so far: those that are likely to be dropped next are kept apart, so that this goes faster then
 * (NULL: no idea). `hurry`: exits are taken out first, so calls that begin meanwhile of functions
 * that have not been called so far end at their thread's next event. Returns 0, -EAGAIN if too many
 * links wait to be closed (try again after a poll), or -errno with one line logged: then the probes
 * stay where they were, and a later call tries again.
 */
int tracer__drop(struct tracer *tr, const struct plan *p, const struct target *t,
		 const bool *dropped, const uint64_t *calls, bool hurry);
/*
 * Puts the probes of functions that were dropped in again, given by their numbers: in all processes
 * that have the others, and those that come later. Their calls are still passed over, until
 * collector__restore(). Neither of regions, which would have to be put in before their functions,
 * nor of what has no probes. Returns 0, or -errno with one line logged: then they stay dropped, and
 * tracer__drop() takes out what is in.
 */
int tracer__restore(struct tracer *tr, const struct plan *p, const struct target *t,
		    const uint32_t *functions, size_t cnt);
/* Call it a few times a second. Returns whether links still wait to be closed. */
bool tracer__drop_poll(struct tracer *tr);

/* Events count from the first to the second of these. */
void tracer__open_gate(struct tracer *tr);
/* Once the gate is open: notes the waits of the target's threads that were asleep before, where
 * waits are kept; so they are counted from the opening on. Takes some 30 ms. */
void tracer__find_asleep(const struct tracer *tr);
/* Makes the turn of runs that replace each other, as at a reload of the agent: a map with the
 * number of the run whose calls count. Each run has a number of its own (struct tracer_options);
 * opening the gate of one closes that of the other, at once. Takes CAP_BPF. Returns a descriptor
 * that is the caller's, or -errno. */
int tracer__make_turn(void);
void tracer__close_gate(struct tracer *tr);

/* When a call of a function that ends the recording has closed the gate (CLOCK_MONOTONIC); 0: none
 * has since it was opened. */
uint64_t tracer__stopped_ns(const struct tracer *tr);

/*
 * Closes the gate while the target runs, to be opened again: calls that are open are closed as
 * unwound, at *at_ns (CLOCK_MONOTONIC, set here; if it is closed, when that was), so that the time
 * until then is theirs and none after. Returns 0 or -errno with one line logged.
 */
int tracer__switch_off(struct tracer *tr, uint64_t *at_ns);

/*
 * With the gate closed: takes the probes out for a while, and puts them in again, with those that
 * tracer__attach() was asked for meanwhile. Hooks, and what tells of processes, stay. Probes go
 * soon, not at once, and functions that the kernel refuses now are left out from now on. Returns 0
 * or -errno with one line logged.
 */
int tracer__suspend(struct tracer *tr);
/* Like tracer__suspend(), for moments: what is attached to the scheduler stays, too. */
int tracer__rest(struct tracer *tr);
int tracer__resume(struct tracer *tr, const struct plan *p, const struct target *t);

/* The CPU time that an ended process has had, in ns; false: not known. */
bool tracer__cpu_of_ended(const struct tracer *tr, pid_t pid, uint64_t *ns);
/* The CPU time, in ns, of all processes that nobody asks by number: followed children that have
 * ended, or are followed no longer as they have begun a program; or processes that mapped the file
 * of -x. */
uint64_t tracer__cpu_of_others(const struct tracer *tr);
/* CPU time, in ns, of threads that were held until what they had loaded was planned. */
uint64_t tracer__held_ns(const struct tracer *tr);

/* CPU time, in ns, that putting probes in and taking them out has taken of the link holder. */
uint64_t tracer__linking_ns(const struct tracer *tr);
/* CPU time, in ns, that putting probes in has taken of the link holder, without taking them out. */
uint64_t tracer__making_ns(const struct tracer *tr);

/* Counts a process as one of the target's own; it has no return probes if its pages of code are
 * more or fewer. False: it is followed already, or there are too many. */
bool tracer__adopt(struct tracer *tr, pid_t pid, uint32_t code_pages);

/* Decides whose probes are to be in every process, before they are attached. Returns 0 or -ENOMEM.
 */
int tracer__share(struct tracer *tr, const struct plan *p, const struct target *t);
/* Whether the probes in the target's object `index` are, or will be, in every process that maps
 * it. */
bool tracer__is_unbound(const struct tracer *tr, size_t index);
/* Whether it has probes. */
bool tracer__is_attached(const struct tracer *tr, size_t index);
/* How often processes that are not traced have hit probes. */
uint64_t tracer__stranger_hits(const struct tracer *tr);
/* Takes probes that are in every process for the sake of children out of all but the target's own.
 * Returns 0 or -errno with one line logged. */
int tracer__bind(struct tracer *tr, const struct plan *p, const struct target *t);
/* Takes out the probes that are bound to the process at that place of the target, in the
 * background. To tracer__attach() it has none from then on, and what that puts in is told from
 * them. */
void tracer__unlink_process(struct tracer *tr, const struct target *t, uint32_t process);

/* Calls that were not recorded, by conditions on their values. */
uint64_t tracer__refused_calls(const struct tracer *tr);

/* From here on, with tracer_options::system_calls, events of system calls come by: it slows all of
 * the machine's by some 50 ns. Returns 0, or -errno with one line logged. */
int tracer__watch_system_calls(struct tracer *tr);
/* Whether it does, or will. */
bool tracer__watches_system_calls(const struct tracer *tr);
/* The function that stands for system call 0, as tracer_options has it. */
uint32_t tracer__first_system_call(const struct tracer *tr);

/* Whether single waits are kept, of tracers that keep single calls (at first they are): switches of
 * threads cost more then. */
void tracer__keep_waits(struct tracer *tr, bool keep);

/* Closes the gate, waits for programs that found it open, so that the tables are at rest when it
 * returns, and begins to take all probes out: of thousands that takes a second, and minutes where
 * the machine forks all the time. */
void tracer__begin_detach(struct tracer *tr);
/* Returns when all probes are out, and our programs at tracepoints. */
void tracer__end_detach(struct tracer *tr);

/* The source of events of the processes; the tracer owns it. */
struct life *tracer__life(const struct tracer *tr);

void tracer__tables(const struct tracer *tr, struct tracer_tables *out);
void tracer__free(struct tracer *tr); /* accepts NULL */

#endif
