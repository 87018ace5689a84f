/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps tracing within its budget: looks several times a second at what the probes cost the target,
 * and drops functions if it is too much.
 */
#ifndef PROFTRACE_BUDGET_CONTROLLER_H
#define PROFTRACE_BUDGET_CONTROLLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct budget_inputs;
struct forecast_function;
struct profile;
struct controller;

/* Without a limit it only takes the target's CPU time. Borrows its inputs. Returns 0 or -ENOMEM. */
int controller__new(const struct budget_inputs *in, struct controller **out);
void controller__free(struct controller *s); /* accepts NULL */

/* Before the start: drops what would be too much. `forecast` by function. Returns 0 or -ENOMEM. */
int controller__expect(struct controller *s, const struct forecast_function *forecast);

/* Before the start: where a target of several processes would have very many probes, drops what was
 * not called (by function). A probe takes 10 us or more in each busy process, to come and to go,
 * and 57 processes of postgres with 12,465 functions were at it for two minutes. Returns 0 or
 * -ENOMEM.
 */
int controller__leave_out(struct controller *s, const bool *called);

/* The calibrated cost of a call of the function to the target, in ns. */
double controller__call_ns(struct controller *s, uint32_t function);

/* The function is never dropped, as an option names it. Returns 0 or -ENOMEM. */
int controller__keep(struct controller *s, uint32_t function);

/*
 * Functions that are to be exact, chosen while the target runs: those that were dropped get their
 * probes again, and the others have to pay for them.
 *
 *   CHOICE_FIRM  is never dropped; if such functions alone cost more than the budget, that is said.
 *   CHOICE_LAST  is dropped after all that is not chosen: exact as far as the budget goes; what
 * does not fit in yet comes back when it has become cheaper.
 */
enum controller_choice { CHOICE_LAST = 1, CHOICE_FIRM };

/* How far what is chosen is exact; shares are of the target's own CPU time, 0.05 being 5 %. */
struct controller_chosen {
	size_t exact, left; /* functions; `left`: they stay dropped */
	double exact_share; /* cost of those that are exact */
	double left_share;  /* cost that the others would have, as far as is known */
};

/* Chooses functions, by their numbers in the plan, in addition to those that are; a firm choice
 * stays firm. What cannot have probes again (a region, or what the kernel has refused) is left.
 * Returns 0, -ENOMEM, or -errno with one line logged: then no function has come back. */
int controller__choose(struct controller *s, const uint32_t *functions, size_t cnt,
		       enum controller_choice choice, uint64_t now_ns);
/* Whether it is exact now: it has probes, and its calls are recorded. */
bool controller__is_exact(const struct controller *s, uint32_t function);
struct controller_chosen controller__chosen(const struct controller *s);
/* Nothing is chosen any more: all functions are judged alike again. */
void controller__release(struct controller *s);

/* Has all functions go for a while that are neither kept nor chosen: they come back as they are
 * chosen. Regions stay, as they could not. Before the start they get no probes at all. Returns 0 or
 * -ENOMEM. */
int controller__hold(struct controller *s);

/* From here on time counts: when the gate is open and before the target runs. */
void controller__start(struct controller *s, uint64_t now_ns);

/* Tracing is switched off, and on: what the target does in between is none of the budget's
 * business, and its CPU time then not counted. */
void controller__off(struct controller *s, uint64_t now_ns);
void controller__on(struct controller *s, uint64_t now_ns);

/* Has another limit from now on, as a share of the target's CPU time; what was dropped stays so.
 * `spared`: what probes may cost in any case, in CPUs (0.05: 50 ms in a second); 0: BUDGET_SPARED,
 * less where the limit is lower than at the start. */
void controller__limit(struct controller *s, double limit, double spared);

/* Has a look. Returns 0, or -errno with one line logged if functions could not be dropped. */
int controller__look(struct controller *s, uint64_t now_ns);

/* How long from a look to the next one, in ns; 0: none is needed. */
uint64_t controller__pace_ns(const struct controller *s);

/* The target has loaded a file, or begun a program. A thread that waits until what it has loaded is
 * planned holds up whoever puts probes into its process, and is held up by that, so there are no
 * looks at dropped functions amid a row of files. */
void controller__loads(struct controller *s, uint64_t now_ns);

/* A process belongs to the target from here on that has run before. */
void controller__joined(struct controller *s, pid_t pid);

/* A followed child has ended, or is followed no longer. */
void controller__child_ended(struct controller *s, pid_t pid);

/* Whether a process's CPU time counts: it is one of the target's, or a followed child. */
bool controller__watches(const struct controller *s, pid_t pid);

/* The target's CPU time while it was traced, in ns. */
uint64_t controller__cpu_ns(struct controller *s);

/* Before a profile is made: tells the collector how often functions were called that were dropped.
 * Returns 0 or -ENOMEM. */
int controller__estimate(struct controller *s);

/* Puts the target's CPU time up to now, and what bursts took of it, into a profile that has just
 * been made: clocks go on while the names of its functions are looked up. */
void controller__account(struct controller *s, struct profile *p);

/* Puts the budget and the functions that were dropped into the profile. Returns 0 or -ENOMEM. */
int controller__apply(struct controller *s, struct profile *p);

#endif
