/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The top rows of a profile, as the page reads them. Inside serve/ only. */
#ifndef PROFTRACE_SERVE_DOCUMENT_H
#define PROFTRACE_SERVE_DOCUMENT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct profile;
struct sink_options;

/* The shortest total time that no more than `rows` paths have or exceed, but for those that share
 * the longest; 0: there are not so many paths. */
uint64_t document__least_ns(const struct profile *p, size_t rows);

/* Writes *p, which is linked and may be replaced: one line of JSON with the paths that took most
 * time, some `rows`. Returns 0, -ENOMEM, or an error of the stream. */
int document__write(struct profile **p, const struct sink_options *opts, size_t rows, FILE *out);

/* How many rows to show next, if so many took `bytes` and `limit` bytes are to be kept to. */
size_t document__fit(size_t rows, size_t bytes, size_t limit);

#endif
