/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stream that folds lines which are too long for a terminal. */
#ifndef PROFTRACE_UTIL_FOLD_H
#define PROFTRACE_UTIL_FOLD_H

#include <stddef.h>
#include <stdio.h>

#define FOLD_MIN 20 /* columns that any terminal is taken to have */

/*
 * *folded = a stream whose lines go on to `out`. One of more than `columns` columns (at least
 * FOLD_MIN) is cut at its last blank that leaves no more, else anywhere; what follows is indented
 * by two columns more than the line. A character of UTF-8 counts as one column, an escape sequence
 * that sets colours as none. Closing the stream writes what is left and leaves `out` open; errors
 * of `out` become those of the stream. Returns 0 or -ENOMEM.
 */
int fold__open(FILE *out, size_t columns, FILE **folded);

/* The columns that lines for `fd` may have: what COLUMNS in the environment says, else what the
 * terminal has; 0: it is none, and lines may have any length. */
size_t fold__columns(int fd);

#endif
