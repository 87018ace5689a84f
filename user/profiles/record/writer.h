/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a recording, block by block. What has been written holds, whatever becomes of us. */
#ifndef PROFTRACE_RECORD_WRITER_H
#define PROFTRACE_RECORD_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timeline/stream.h"

struct profile;
struct timeline_call;
struct run_end;
struct run_info;
struct writer;

/* All return 0, or -errno with one line logged. */

/* Opens the file, which stays as it is until writer__begin(), for nobody else to write: -EBUSY if
 * somebody does. With `append` it must be a recording already, or empty, or not be there yet; one
 * that is damaged in its middle is refused (-EINVAL), of one that was cut the last part goes.
 * `path` is borrowed. */
int writer__open(const char *path, bool append, struct writer **out);
void writer__free(struct writer *w); /* accepts NULL */

/*
 * Keeps the file below so many bytes, by forgetting the oldest single calls of the run: it is
 * written anew then, beside itself, and renamed. Other things are not forgotten; if they take more
 * than three quarters, no calls are kept, and the file is as large as it has to be, or twice that.
 * To be called before writer__begin(). The file must be one that can be replaced: -EINVAL or -errno
 * if not. What that takes is needed later too: where directory or file are another user's,
 * CAP_DAC_OVERRIDE and CAP_CHOWN, and CAP_FOWNER if the directory is sticky.
 */
int writer__limit(struct writer *w, uint64_t max_bytes);

/* Begins a run: in place of what the file held, or behind it. What a cut has left at its end goes.
 */
int writer__begin(struct writer *w, const struct run_info *f);

/* All that is known so far; it replaces what was written of this run before. Needs nothing linked.
 */
int writer__profile(struct writer *w, const struct profile *p);

/* With --calls, what single calls refer to: each is written once, before the first call of it.
 * Numbers go on from those written before in this run. */
int writer__callstacks(struct writer *w, const struct recorded_callstack *callstacks, size_t cnt);
int writer__paths(struct writer *w, const struct recorded_path *paths, size_t cnt);

/* Finished calls of one call stack, in order of their ends, none before those written of it before;
 * `node` is the path's number. They are gathered, until there is enough for a block. */
int writer__calls(struct writer *w, uint32_t callstack, const struct timeline_call *calls,
		  size_t cnt);

/* Single waits, after the call stacks and paths that they name. They are gathered likewise; names
 * are borrowed until they are written. */
int writer__waits(struct writer *w, const struct recorded_wait *waits, size_t cnt);

/* Writes what is gathered. A killed profiler has lost no more than what came after. */
int writer__flush(struct writer *w);

/* Has what is written on the disk: it outlives the machine's end, too. */
int writer__sync(struct writer *w);

/* Calls of this run that went to keep the file below its limit. */
uint64_t writer__forgotten(const struct writer *w);

/* Makes a recording at `path`, which must not be there yet, of all that was written so far, with an
 * end: the run goes on here. For writers with a limit. If it fails nothing of it is left. */
int writer__copy(struct writer *w, const char *path, const struct run_end *e);

/* Nothing of this run follows. -ESTALE: the file has been removed. */
int writer__end(struct writer *w, const struct run_end *e);

#endif
