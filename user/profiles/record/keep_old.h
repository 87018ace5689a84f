/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the recording that a new one replaces. Inside record/ only. */
#ifndef PROFTRACE_RECORD_KEEP_OLD_H
#define PROFTRACE_RECORD_KEEP_OLD_H

struct block_writer;

/* Renames the file that is written to FILE.old, in place of what had that name, and goes on with a
 * new one of the same mode. A file that is empty, another user's, or known by other names stays and
 * is overwritten; so it does if it cannot be renamed, with a warning. */
void keep_old(struct block_writer *w);

#endif
