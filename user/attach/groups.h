/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups of probes that share a link. A link is all or nothing, so a group that the kernel refuses
 * is halved until the offenders are alone.
 */
#ifndef PROFTRACE_ATTACH_GROUPS_H
#define PROFTRACE_ATTACH_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/tier.h"

struct keeper;
struct plan;
struct target;

struct groups {
	struct keeper *keeper; /* borrowed */
	/* By object: how many of its processes have its probes already. */
	uint32_t *attached;
	size_t attached_cnt;
	bool unbound; /* links are for every process, not for the target's */
};

/* Puts in what is planned and not in yet. See tracer__attach(). */
int64_t groups__attach(struct groups *g, const struct tier *tier, const struct proftrace_bpf *skel,
		       struct plan *p, const struct target *t);

/* An instruction of our own program. */
struct own_probe {
	const void *code;
	uint64_t cookie;
};

/* Probes of one kind on our own program, in one process that runs it. 0 or -errno; silent. */
int groups__probe_own(struct groups *g, const struct tier_probe *probe, pid_t pid,
		      const struct own_probe *own, size_t cnt);

void groups__detach(struct groups *g);

/* Links a probe to a function of our own, to learn whether the kernel has this kind. 0 or -errno;
 * silent. */
int groups__trial(struct groups *g, const struct tier_probe *probe);

#endif
