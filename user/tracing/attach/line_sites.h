/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells BPF of the sites of lines. Inside attach/ only. */
#ifndef PROFTRACE_ATTACH_LINE_SITES_H
#define PROFTRACE_ATTACH_LINE_SITES_H

#include <stddef.h>

struct plan_lines;

/* The sites from *told on go into the tables of sites and of functions' entries, before they are
 * attached. Lines of sites that find no room get a reason, and do not count. Returns 0 or -errno
 * with one line logged. */
int line_sites__fill(int sites_fd, int entries_fd, const struct plan_lines *lines,
		     const char **reasons, size_t *told);

#endif
