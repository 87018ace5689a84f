/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A gzip file, written to a stream as it grows. It tells no time and no name: equal content makes
 * equal files. */
#ifndef PROFTRACE_SINK_GZIP_H
#define PROFTRACE_SINK_GZIP_H

#include <stddef.h>
#include <stdio.h>

struct gzip;

/* `out` stays the caller's, and is where errors of writing show. Returns 0 or -ENOMEM. */
int gzip__open(FILE *out, struct gzip **gz);

void gzip__write(struct gzip *gz, const void *data, size_t len);

/* Writes the end and frees `gz`. Accepts NULL. */
void gzip__close(struct gzip *gz);

#endif
