/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A piece of the stream of events, compressed once for all viewers. Inside serve/ only. */
#ifndef PROFTRACE_SERVE_UPDATE_H
#define PROFTRACE_SERVE_UPDATE_H

#include <stddef.h>

/* Never changed. Deflate's blocks that refer to nothing before them and end with a whole byte: they
 * can follow any others of their kind, so a viewer may miss some. */
struct update {
	size_t users; /* it goes with the last */
	size_t len;
	unsigned char bytes[];
};

/* How a stream begins: gzip's header, which a stream of updates follows, and how soon a browser is
 * to come back. */
struct update *update__first(void);

/* "event: NAME", with `text` as its data, one line. NULL: no memory. It has one user. */
struct update *update__new(const char *name, const char *text, size_t len);

struct update *update__use(struct update *u);
void update__release(struct update *u); /* accepts NULL */

#endif
