/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One group: functions of an object whose probes share links; and the list of all groups. */
#ifndef PROFTRACE_ATTACH_GROUP_H
#define PROFTRACE_ATTACH_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/links/backend.h"
#include "attach/links/late_programs.h"
#include "attach/outcome.h"

struct link_holder;
struct plan;
struct proftrace_bpf;
struct target;
struct target_object;

struct group_member {
	uint32_t function; /* its index in the plan */
	/* The generation of its entry probe: one more, modulo WIRE_GENERATIONS, than in its last
	 * group. */
	uint8_t generation;
	bool returns; /* its entry was put in with a return probe */
	/* Its exits were planned when its entry was in already: they are in a group of their own.
	 */
	bool exits_apart;
};

/* By how often functions were called: those alike go together. */
enum calls_class { CALLED_NEVER, CALLED_SELDOM, CALLED_OFTEN, CALLED_CLASSES };

struct group {
	uint32_t object;  /* its index in the target */
	uint32_t process; /* the same; 0 if it is for every process */
	bool unbound;	  /* it is for every process */
	bool exits_only;  /* of functions whose entries are elsewhere */
	uint8_t calls;	  /* enum calls_class */
	bool survey;	  /* its calls are counted, and nothing else: entries and begins alone */
	bool burst;	  /* of dropped functions, for a moment */
	bool lines;	  /* the sites of lines that the plan has in the object; no members */
	struct group_member *members;
	size_t members_cnt, members_cap;
	int *links; /* the link holder's numbers */
	size_t links_cnt, links_cap;
	size_t exits_from, exits_to; /* those of exit sites, among them */
	uint8_t attempts;	     /* to replace it that have failed */
	uint64_t retired_ns; /* when others took its place (CLOCK_MONOTONIC); 0: they haven't */
	bool has_returns;    /* calls return through its links, by which they were entered */
};

/* All groups of a run; see groups.h. */
struct groups {
	struct link_holder *link_holder; /* borrowed */
	const int *region_programs; /* [LATE_PROGRAMS]; borrowed; NULL while there are no regions */
	/* By object: how many of its processes have its probes already. */
	uint32_t *attached;
	size_t attached_cnt;
	struct group **groups;
	size_t groups_cnt, groups_cap;
	bool *shared;	  /* by object: its links are for every process, for the sake of children */
	bool unbound;	  /* all links are for every process, not for the target's */
	bool children;	  /* forked children are followed */
	bool small;	  /* functions may be dropped, so few share a group */
	bool hurries;	  /* what is dropped now costs far too much: exits go first */
	bool suspended;	  /* groups have no links for now */
	bool held;	  /* a thread of the target may be, until what is put in now is there */
	bool emulates;	  /* programs may write registers, so `ret`s have one of their own */
	uint8_t counting; /* the generation of probes that only count */
	/* The generation of all line probes: hits of older ones do not count. */
	uint8_t lines_generation;
	bool contexts_missed; /* the kernel refuses the hook on makecontext */
	struct outcome outcome;
};

/* Attaching in one process, or in all. */
struct attach_ctx {
	struct groups *g;
	const struct backend *backend;
	const struct proftrace_bpf *skel;
	const struct target_object *obj;
	uint32_t object; /* its index */
	const struct plan *plan;
	uint32_t process; /* its index; 0 if it is all of them */
	pid_t pid;	  /* 0: all */
	size_t refused_cnt;
	bool *ended; /* a process: it was gone when probes were to be attached */
	size_t ended_cnt;
};

/* Decides whose links are for every process, for the sake of children, of objects that have none
 * yet. Returns 0 or -ENOMEM. */
int groups__share(struct attach_ctx *ctx, const struct target *t);

/* An empty group of the object and process, which `ctx->g` keeps; NULL: out of memory. */
struct group *group__new(const struct attach_ctx *ctx, bool exits_only);
int group__add(struct group *grp, uint32_t function, uint8_t generation); /* 0 or -ENOMEM */

/* Whether it is of the object and process, and nothing has taken its place. */
bool group__is_live(const struct group *grp, const struct attach_ctx *ctx, bool exits_only);

/* Puts all probes of its members in; does nothing while groups are suspended. Functions that the
 * kernel refuses are marked so and left out. Returns 0 or -errno; see group__failed(). Then some
 * may be in. */
int group__link(struct attach_ctx *ctx, struct group *grp);

/* Says why, unless that has been done already. Returns `err`. */
int group__failed(const struct attach_ctx *ctx, int err);

/* Whether the error can be one function's fault. */
bool group__may_be_one(int err);

/* Has the links of its exit sites closed. Calls end at their thread's next event then. */
void group__unlink_exits(struct groups *g, struct group *grp);

/* Has its links closed. */
void group__unlink(struct groups *g, struct group *grp);

/* Has its links closed and frees it. */
void group__close(struct groups *g, struct group *grp);
void group__free(struct group *grp); /* its memory alone */

#endif
