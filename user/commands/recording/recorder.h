/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The run goes into a recording: what it has found so far, again and again, and single calls as
 * they end.
 */
#ifndef PROFTRACE_RECORDING_RECORDER_H
#define PROFTRACE_RECORDING_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "timeline/stream.h"

struct options;
struct profile;
struct recorder;

/* All return 0, or -errno with one line logged. */

/* `path` is borrowed. */
int recorder__open(const struct options *o, const char *path, struct recorder **out);
void recorder__free(struct recorder *r); /* accepts NULL */

/* The file begins, with what was found from `start_time` on (seconds since 1970; 0: now). Once all
 * is attached. */
int recorder__begin(struct recorder *r, double start_time);

/* The stream that takes single calls. */
struct call_stream recorder__stream(struct recorder *r);

/* Whether it is time to write what is known, `elapsed_ns` after the start: after 1, 2, 4, 8, 16,
 * then every 30 seconds. A killed profiler has lost no more than that. */
bool recorder__due(struct recorder *r, uint64_t elapsed_ns);

/* A few times a second: single calls of the last second are written. */
int recorder__tick(struct recorder *r, uint64_t elapsed_ns);

int recorder__write(struct recorder *r, const struct profile *p);

/* All that was passed on is in the file when it returns. */
int recorder__flush(struct recorder *r);

/* And on the disk. */
int recorder__sync(struct recorder *r);

/* Single calls that went to keep the file below its limit. */
uint64_t recorder__forgotten(const struct recorder *r);

/* Makes a recording at `path` of what was written so far, as writer__copy(). */
int recorder__copy(struct recorder *r, const char *path, const char *reason);

/* Nothing follows; `reason` is said by reports. */
int recorder__end(struct recorder *r, const char *reason);

#endif
