/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells BPF which values to read. Inside attach/ only. */
#ifndef PROFTRACE_ATTACH_LISTS_H
#define PROFTRACE_ATTACH_LISTS_H

struct arguments;

/* Fills the table of lists, which has room for them. Returns 0 or -errno, logged. */
int lists__fill(int fd, const struct arguments *a);

#endif
