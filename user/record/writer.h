/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a recording, block by block. What has been written holds, whatever becomes of us. */
#ifndef PROFTRACE_RECORD_WRITER_H
#define PROFTRACE_RECORD_WRITER_H

#include <stdbool.h>

struct profile;
struct run_end;
struct run_facts;
struct writer;

/* All return 0, or -errno with one line logged. */

/* Opens the file, which stays as it is until writer__begin(). With `append` it must be a recording
 * already, or empty, or not be there yet. `path` is borrowed. */
int writer__open(const char *path, bool append, struct writer **out);
void writer__free(struct writer *w); /* accepts NULL */

/* Begins a run: in place of what the file held, or behind it. What a cut has left at its end goes.
 */
int writer__begin(struct writer *w, const struct run_facts *f);

/* All that is known so far; it replaces what was written of this run before. Needs nothing linked.
 */
int writer__profile(struct writer *w, const struct profile *p);

/* Nothing of this run follows. */
int writer__end(struct writer *w, const struct run_end *e);

#endif
