/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loading programs in the link holder, which has the privileges for it, as the run wants them. The
 * run opens the same object, sets its variables and sizes, and sends what it has set (struct
 * load_spec); what is loaded comes back as descriptors.
 */
#ifndef PROFTRACE_ATTACH_LINKS_LOADER_H
#define PROFTRACE_ATTACH_LINKS_LOADER_H

#include <stdint.h>

#include "attach/links/loads.h"
#include "attach/links/skeleton.h"
#include "security/fd_message.h"

#define LOAD_PROGRAMS 64 /* at most */

struct load_spec {
	uint32_t backend;  /* its number: backend__at() */
	uint64_t programs; /* those to be loaded, a bit each, in the object's order */
	uint32_t entries[FD_MESSAGE_MOST]; /* of each map, likewise */
	struct proftrace_bpf__rodata rodata;
};

/* Fills *out with the run's settings, from a skeleton that is not loaded. */
void load_spec__of(const struct proftrace_bpf *skel, uint32_t backend, struct load_spec *out);

/* Loads by it. `turn_fd`: the map of tracer__make_turn(), borrowed; -1: none is shared. Returns 0
 * or -errno, of which refusal.h knows the reason. */
int loader__load(const struct load_spec *spec, int turn_fd, struct proftrace_bpf **out);

/* The descriptors of what is loaded, borrowed, for skeleton__take(). */
void loader__descriptors(const struct proftrace_bpf *skel, struct fds *maps, struct fds *programs);

/* Returns 0 or -errno. */
int loader__tracepoints(struct proftrace_bpf *skel, enum tracepoints what);

/* Makes a map with `cnt` entries; `inner`: the descriptor of a map like those that it will hold,
 * for LOOSE_GATE_OUTER. Returns a descriptor or -errno. */
int loader__make_map(enum loose_map kind, uint32_t cnt, int inner);

#endif
