/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups of functions whose probes share links. A link is all or nothing: if the kernel refuses one
 * it is halved until the offenders are alone; and no single probe can leave it. So a function that
 * is dropped takes its group along: the others get new links before the old ones are closed, and
 * BPF counts their calls once (bpf/trace.bpf.h, hit_is_claimed()).
 */
#ifndef PROFTRACE_ATTACH_GROUPS_H
#define PROFTRACE_ATTACH_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/group.h"
#include "attach/links/backend.h"

struct plan;
struct target;

/* Puts in what is planned and not in yet. See tracer__attach(). */
int64_t groups__attach(struct groups *g, const struct backend *backend,
		       const struct proftrace_bpf *skel, const struct plan *p,
		       const struct target *t);

/* Has the link holder work near the target's processes: those of `which`, by their place in the
 * target, or all (NULL). */
void groups__be_near(const struct groups *g, const struct target *t, const bool *which);

/* Whether the links of the target's object `index` are for every process. */
bool groups__is_unbound(const struct groups *g, size_t index);

/*
 * Binds links that are for every process, for the sake of children, to the target's own ones: the
 * others get rid of the probes. Calls that are open in children are not seen to return. Returns 0
 * or -errno with one line logged; then they stay as they are.
 */
int groups__bind(struct groups *g, const struct backend *backend, const struct proftrace_bpf *skel,
		 const struct plan *p, const struct target *t);

/* Closes the links that are bound to a process. See tracer__unlink_process(). */
void groups__unlink_process(struct groups *g, const struct target *t, uint32_t process);

/* An instruction of our own program. */
struct own_probe {
	const void *code;
	uint64_t cookie;
};

/* Probes of one kind on our own program, in one process that runs it. 0 or -errno; silent. */
int groups__probe_own(struct groups *g, const struct backend_probe *probe, pid_t pid,
		      const struct own_probe *own, size_t cnt);

/* Takes out the probes of what has been dropped. See tracer__drop(). */
int groups__drop(struct groups *g, const struct backend *backend, const struct proftrace_bpf *skel,
		 const struct plan *p, const struct target *t, const uint64_t *calls);
/* Puts the probes of dropped functions in again; the context names no process. See
 * tracer__restore(). */
int groups__restore(struct attach_ctx *ctx, const struct target *t, const uint32_t *functions,
		    size_t cnt);
/* Closes the links that have been replaced for long enough. Returns whether others are left. */
bool groups__poll(struct groups *g);

/* Takes all probes out; they are gone once link_holder__end_detach() returns. What has become of
 * functions and lines stays known. */
void groups__begin_detach(struct groups *g);

/* Closes the links of all groups, which stay, and puts them in anew; what is attached meanwhile
 * waits for that. See tracer__suspend(). Both return 0 or -errno, with one line logged. */
int groups__suspend(struct groups *g);
int groups__resume(struct groups *g, const struct backend *backend,
		   const struct proftrace_bpf *skel, const struct plan *p, const struct target *t);

/* Links a probe to a function of our own, to learn whether the kernel has this kind. 0 or -errno;
 * silent. */
int groups__trial(struct groups *g, const struct backend_probe *probe, uint64_t cookie);
/* Calls that function. */
void groups__hit_trial(void);

#endif
