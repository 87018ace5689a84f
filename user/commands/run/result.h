/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a run, on its way to the output or the recording. */
#ifndef PROFTRACE_RUN_RESULT_H
#define PROFTRACE_RUN_RESULT_H

#include <stdbool.h>
#include <stdint.h>

struct output;
struct profile;
struct run;

/* All return 0, or -errno with one line logged; what writes, -EPIPE where nobody reads any more. */

/* Opens a recording, or the output; what shows single calls is a recording first. Before anything
 * of the target is looked at. */
int result__open(struct run *r);

/* Gives viewers of the live page what is known by now, if there are some. */
int result__serve(struct run *r);

/* Writes what comes before all profiles, once all is attached. */
int result__begin(struct run *r);

/* Looks closely at a function of the plan: zoom__in() with what is known by now. Returns 0 or
 * -errno. */
int result__zoom(struct run *r, uint32_t function, bool all);

/* Does what viewers of the live page wish; call it a few times a second. Returns 0 or -errno. */
int result__wishes(struct run *r);

/* Writes what is known up to `until_ns` (CLOCK_MONOTONIC); with -i what is new of it. `figures`, if
 * not NULL, gets a shallow copy of the profile: numbers only, its pointers are not valid, and
 * drops_cnt is how many functions were dropped. */
int result__emit(struct run *r, uint64_t until_ns, struct profile *figures);

/* The result so far, because somebody wants it: one more profile in the recording; with -i the
 * interval ends early; else all of it. */
int result__last_minute(struct run *r);
int result__on_demand(struct run *r);

/* Writes the last profile, once nothing is traced any more, and the run's last words on stderr. A
 * recording keeps the reason why the run has ended. */
int result__finish(struct run *r, const char *reason);

/* Writes to `out` what the run's own recording holds, as `report` would show it. */
int result__show_recorded(struct run *r, struct output *out);

#endif
