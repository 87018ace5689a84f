/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that are loaded once a probe needs them: those at regions, which take the kernel as long
 * as half of the others. The link holder loads them, with the maps and variables of the others.
 */
#ifndef PROFTRACE_ATTACH_LINKS_LATE_PROGRAMS_H
#define PROFTRACE_ATTACH_LINKS_LATE_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "security/fd_message.h"

struct proftrace_bpf;

enum late_program { LATE_REGION_BEGIN, LATE_REGION_END, LATE_PROGRAMS };

#define LATE_MAPS FD_MESSAGE_MOST

/* How the programs that are loaded already were. */
struct late_kind {
	bool basic;	 /* from basic.bpf.c */
	int attach_type; /* of probes: LINK_* */
};

/* The maps of the programs that are loaded, to be passed on to late_programs__load(). Writes their
 * descriptors to `maps`; returns how many. */
size_t late_programs__maps(const struct proftrace_bpf *skel, int maps[LATE_MAPS]);

/* Loads the programs. Returns 0, their descriptors in `programs`, or -errno; silent. */
int late_programs__load(const struct late_kind *kind, const int *maps, size_t maps_cnt,
			int programs[LATE_PROGRAMS]);

#endif
