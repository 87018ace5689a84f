/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings as the command line names them. */
#ifndef PROFTRACE_REPORT_INPUT_H
#define PROFTRACE_REPORT_INPUT_H

#include <stdbool.h>

struct options;

/* Opens a recording for reading at any place: what comes through a pipe goes into a file without a
 * name first. "-" is the standard input. Sets *roots if root alone can have written it. Returns a
 * descriptor, or -errno with one line logged. */
int input__open(const char *path, bool *roots);

/* Whether -o is none of the recordings, which it would destroy. Returns 0, or -EINVAL with one line
 * logged. */
int input__spare(const struct options *o);

/* The name of an input in messages: its path, or "the standard input". */
const char *input__name(const char *path);

#endif
