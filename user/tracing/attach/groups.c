// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/groups.h"

#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/group.h"
#include "attach/grouping.h"
#include "attach/links/cpus/near.h"
#include "attach/links/holder/link_holder.h"
#include "plan/exit_strategy.h"
#include "plan/object.h"
#include "plan/plan.h"
#include "plan/plan_lines.h"
#include "security/opener.h"
#include "target/strangers.h"
#include "target/target.h"
#include "util/log.h"
#include "wire.h"

/* The object's hooks of one kind, by one link. Hooks that are refused are missed, no more. */
static int link_hooks_of(struct attach_ctx *ctx, int kind)
{
	const struct backend_probe probe = ctx->backend->hook(ctx->skel, kind);
	uint64_t offsets[HOOKS_MAX], cookies[HOOKS_MAX];
	struct link_spec spec = {
		.prog_fd = probe.prog_fd,
		.attach_type = probe.attach_type,
		.object_fd = ctx->obj->fd,
		.pid = ctx->pid,
		.shared = !ctx->pid && !ctx->g->unbound,
		.offsets = offsets,
		.cookies = cookies,
	};
	int err;

	for (size_t i = 0; i < ctx->plan->hooks_cnt && spec.cnt < HOOKS_MAX; i++) {
		const struct plan_hook *m = &ctx->plan->hooks[i];

		if (m->object != ctx->object || m->kind != kind)
			continue;
		offsets[spec.cnt] = m->offset;
		cookies[spec.cnt++] = kind == HOOK_MAKECONTEXT ? WIRE_MAKECONTEXT : m->cookie;
	}
	err = spec.cnt ? link_holder__link(ctx->g->link_holder, &spec) : 0;
	if (err >= 0)
		return 0;
	if (!group__may_be_one(err))
		return err;
	ctx->g->contexts_missed |= kind == HOOK_MAKECONTEXT;
	log_warn("%s: the kernel refuses a probe: files that are loaded later, or stacks that are "
		 "made, may go unnoticed",
		 ctx->obj->path);
	return 0;
}

static int link_hooks(struct attach_ctx *ctx)
{
	int err = 0;

	for (int kind = 0; !err && kind < HOOK_KINDS; kind++)
		err = link_hooks_of(ctx, kind);
	return err;
}

/* Sites of lines stay with the object for good: what has lines is never dropped. */
static int attach_lines(struct attach_ctx *ctx)
{
	const struct plan *p = ctx->plan;
	struct group *grp;

	for (size_t i = 0; p->lines && i < p->lines->sites_cnt; i++) {
		if (p->functions[p->lines->sites[i].function].object != ctx->object)
			continue;
		grp = group__new(ctx, false);
		if (!grp)
			return -ENOMEM;
		grp->lines = true;
		return group__link(ctx, grp);
	}
	return 0;
}

/* All probes of the object that are wanted by now, in one process (or in all, ctx->pid 0). */
static int attach_object(struct attach_ctx *ctx)
{
	const struct plan *p = ctx->plan;
	struct grouping gr;
	int err = link_hooks(ctx);

	grouping__begin(&gr, ctx, false, 0);
	for (size_t i = 0; !err && i < p->functions_cnt; i++) {
		const struct function_outcome *outcome = &ctx->g->outcome.functions[i];
		const struct group_member m = {.function = i, .generation = outcome->generation};

		if (p->functions[i].object != ctx->object || outcome->dropped ||
		    !plan_function__has_probe(&p->functions[i]))
			continue;
		err = grouping__add(&gr, outcome->called ? CALLED_SELDOM : CALLED_NEVER, &m);
	}
	if (!err)
		err = grouping__link(&gr);
	return err ? err : attach_lines(ctx);
}

/* Exit sites alone, for functions whose entries are in already, with return probes that have become
 * dangerous since. */
static int attach_exits(struct attach_ctx *ctx)
{
	struct groups *g = ctx->g;
	size_t cnt = g->groups_cnt;
	struct grouping gr;
	int err = 0;

	grouping__begin(&gr, ctx, true, 0);
	for (size_t i = 0; i < cnt; i++) {
		struct group *grp = g->groups[i];

		if (!group__is_live(grp, ctx, false))
			continue;
		for (size_t k = 0; !err && k < grp->members_cnt; k++) {
			struct group_member *m = &grp->members[k];
			const struct group_member exits = {.function = m->function,
							   .generation = m->generation};

			if (!m->returns || m->exits_apart ||
			    ctx->plan->functions[m->function].exit == EXIT_RETURN)
				continue;
			err = grouping__add(&gr, CALLED_NEVER, &exits);
			m->exits_apart = true;
		}
	}
	return err ? err : grouping__link(&gr);
}

/* Does `attach` in processes [from, to) of the object, or once for all that there are; counts those
 * that have ended meanwhile. */
static int for_each_process(struct attach_ctx *ctx, const struct target *t, uint32_t from,
			    uint32_t to, int (*attach)(struct attach_ctx *))
{
	bool unbound = groups__is_unbound(ctx->g, ctx->object);
	int err = 0;

	for (uint32_t i = from; !err && i < to; i++) {
		uint32_t process = unbound ? 0 : ctx->obj->processes[i];

		if (!unbound && ctx->ended[process])
			continue;
		ctx->process = process;
		ctx->pid = unbound ? 0 : t->processes[process].pid;
		err = attach(ctx);
		if (err != -ESRCH || unbound)
			continue;
		ctx->ended[process] = true;
		if (++ctx->ended_cnt < t->processes_cnt) {
			log_warn("process %d ended while probes were being attached", ctx->pid);
			err = 0;
		}
	}
	return err ? group__failed(ctx, err) : 0;
}

bool groups__is_unbound(const struct groups *g, size_t index)
{
	return g->unbound || (index < g->attached_cnt && g->shared[index]);
}

/* Bits that tell of an object of the target: the plan has functions in it, and some of these have
 * return probes. */
enum { HAS_FUNCTIONS = 1, HAS_RETURNS = 2 };

/*
 * Whether the object's links can be for every process, so that children have them too. Where return
 * probes cannot be declined by our program, strangers had them, whatever these do to their stack.
 */
static bool may_be_shared(const struct attach_ctx *ctx, unsigned int has)
{
	return ctx->g->children && has & HAS_FUNCTIONS &&
	       (!(has & HAS_RETURNS) || ctx->backend->declines_returns) &&
	       plan__may_share_links(ctx->plan) && strangers__bear_probes(ctx->obj);
}

/* HAS_* of each of the target's objects; NULL: out of memory. */
static uint8_t *look_at_functions(const struct plan *p, size_t objects)
{
	uint8_t *has = calloc(objects + 1, sizeof(*has));

	for (size_t i = 0; has && i < p->functions_cnt; i++) {
		const struct plan_function *f = &p->functions[i];

		if (f->object < objects)
			has[f->object] |=
				HAS_FUNCTIONS | (f->exit == EXIT_RETURN ? HAS_RETURNS : 0);
	}
	return has;
}

/* Attaches the probes that an object is missing: everything in processes that are new, exits that
 * were planned since in the others. */
static int attach_missing(struct attach_ctx *ctx, const struct target *t)
{
	uint32_t *attached = &ctx->g->attached[ctx->object], to;
	const struct plan *p = ctx->plan;
	int err = 0;

	to = groups__is_unbound(ctx->g, ctx->object) ? 1 : ctx->obj->processes_cnt;

	/* The claim lasts as long as there may be return probes, whoever is killed. */
	if (!*attached && ctx->object < p->objects_cnt && p->objects[ctx->object].claimed)
		err = link_holder__keep(ctx->g->link_holder, ctx->obj->fd);
	if (err)
		return group__failed(ctx, err);
	if (p->returns_replaced && *attached)
		err = for_each_process(ctx, t, 0, *attached, attach_exits);
	if (err || *attached == to)
		return err;
	err = for_each_process(ctx, t, *attached, to, attach_object);
	*attached = to;
	return err;
}

/* Makes room for the target's objects. */
static int attached_grow(struct groups *g, size_t cnt)
{
	uint32_t *grown = reallocarray(g->attached, cnt + 1, sizeof(*grown));
	bool *shared;

	if (!grown)
		return -ENOMEM;
	g->attached = grown;
	shared = reallocarray(g->shared, cnt + 1, sizeof(*shared));
	if (!shared)
		return -ENOMEM;
	g->shared = shared;
	for (; g->attached_cnt < cnt; g->attached_cnt++) {
		grown[g->attached_cnt] = 0;
		shared[g->attached_cnt] = false;
	}
	return 0;
}

/* A thread that is held keeps its CPU, and the lock of its memory while others have it: beside it
 * each probe of sqlite3, begun by a shell's exec, took 8 ms, all of them 3 s. So links are made
 * near no process then. */
void groups__be_near(const struct groups *g, const struct target *t, const bool *which)
{
	const size_t processes = g->held ? 0 : t->processes_cnt;
	struct near near = {.all = processes};
	size_t cnt = 0;

	for (size_t i = 0; i < processes; i++) {
		if (which && !which[i])
			continue;
		if (cnt < NEAR_PROCESSES)
			near.pids[cnt] = t->processes[i].pid;
		cnt++;
	}
	near.cnt = cnt <= NEAR_PROCESSES ? cnt : 0;
	link_holder__be_near(g->link_holder, &near);
}

/* Decides whose links are for every process, of objects that have none yet. */
int groups__share(struct attach_ctx *ctx, const struct target *t)
{
	struct groups *g = ctx->g;
	int err = attached_grow(g, t->objects_cnt);
	uint8_t *has = NULL;

	if (!err)
		err = outcome__grow(&g->outcome, ctx->plan);
	if (!err)
		groups__be_near(g, t, NULL);
	for (ctx->object = 0; !err && ctx->object < t->objects_cnt; ctx->object++) {
		ctx->obj = &t->objects[ctx->object];
		if (g->attached[ctx->object])
			continue;
		if (!has)
			has = look_at_functions(ctx->plan, t->objects_cnt);
		if (has)
			g->shared[ctx->object] = may_be_shared(ctx, has[ctx->object]);
		else
			err = -ENOMEM;
	}
	free(has);
	ctx->object = 0;
	return err;
}

int64_t groups__attach(struct groups *g, const struct backend *backend,
		       const struct proftrace_bpf *skel, const struct plan *p,
		       const struct target *t)
{
	struct attach_ctx ctx = {.g = g, .backend = backend, .skel = skel, .plan = p};
	int64_t attached = 0;
	size_t meant = 0;
	int err;

	ctx.ended = calloc(t->processes_cnt + 1, sizeof(*ctx.ended));
	if (!ctx.ended)
		return -ENOMEM;
	err = groups__share(&ctx, t);
	for (; !err && ctx.object < t->objects_cnt; ctx.object++) {
		ctx.obj = &t->objects[ctx.object];
		err = attach_missing(&ctx, t);
	}
	for (size_t i = 0; !err && i < p->functions_cnt; i++) {
		const bool probed = plan_function__has_probe(&p->functions[i]);

		meant += probed;
		attached += probed && !g->outcome.functions[i].refused;
	}
	free(ctx.ended);
	/* Processes that come later may have what is asked for: until then there may be no
	 * functions but those that samples have met. */
	if (!err && !attached && p->functions_cnt && (meant || !t->whom)) {
		log_error("no function could be probed");
		err = -ENOENT;
	}
	return err ? err : attached;
}

/* Hits of its links, until these are closed, are told by their generation from those of links that
 * are made from now on; those of lines are not. */
static void supersede(struct groups *g, struct group *grp)
{
	const bool lines = grp->lines;

	for (size_t i = 0; i < grp->members_cnt; i++)
		outcome__next_generation(&g->outcome, grp->members[i].function);
	group__close(g, grp);
	if (lines)
		link_holder__settle(g->link_holder);
}

void groups__unlink_process(struct groups *g, const struct target *t, uint32_t process)
{
	for (size_t i = 0; i < g->attached_cnt; i++) {
		const uint32_t attached = groups__is_unbound(g, i) ? 0 : g->attached[i];

		for (uint32_t k = 0; k < attached; k++)
			g->attached[i] -= t->objects[i].processes[k] == process;
	}
	/* Links of a survey or a burst are closed by whoever has made them. */
	for (size_t i = g->groups_cnt; i-- > 0;) {
		struct group *grp = g->groups[i];

		if (!grp->unbound && grp->process == process && !grp->survey && !grp->burst)
			supersede(g, grp);
	}
}

void groups__begin_detach(struct groups *g)
{
	if (g->link_holder)
		link_holder__begin_detach(g->link_holder);
	for (size_t i = 0; i < g->groups_cnt; i++)
		group__free(g->groups[i]);
	free(g->groups);
	free(g->attached);
	free(g->shared);
	*g = (struct groups){.link_holder = g->link_holder,
			     .unbound = g->unbound,
			     .small = g->small,
			     .emulates = g->emulates,
			     .children = g->children,
			     .lines_generation = g->lines_generation,
			     .contexts_missed = g->contexts_missed,
			     .outcome = g->outcome};
}

int groups__suspend(struct groups *g)
{
	g->suspended = true;
	for (size_t i = g->groups_cnt; i-- > 0;) {
		if (g->groups[i]->retired_ns || g->groups[i]->survey || g->groups[i]->burst)
			group__close(g, g->groups[i]);
		else
			group__unlink(g, g->groups[i]);
	}
	return 0;
}

/* Links that were closed a moment ago may still be there: as when groups are replaced, the
 * generation tells a hit's probes apart. */
static void renew(struct group *grp, struct outcome *o)
{
	size_t cnt = 0;

	for (size_t i = 0; i < grp->members_cnt; i++) {
		struct group_member m = grp->members[i];

		if (o->functions[m.function].dropped)
			continue;
		m.generation = (m.generation + 1 + grp->attempts) % WIRE_GENERATIONS;
		outcome__note_generation(o, m.function, m.generation);
		grp->members[cnt++] = m;
	}
	grp->members_cnt = cnt;
	grp->attempts = 0;
}

int groups__resume(struct groups *g, const struct backend *backend,
		   const struct proftrace_bpf *skel, const struct plan *p, const struct target *t)
{
	struct attach_ctx ctx = {.g = g, .backend = backend, .skel = skel, .plan = p};
	int err = 0;

	g->suspended = false;
	g->lines_generation = (g->lines_generation + 1) % WIRE_GENERATIONS;
	for (size_t i = 0; !err && i < g->groups_cnt; i++) {
		struct group *grp = g->groups[i];

		ctx.object = grp->object;
		ctx.obj = &t->objects[grp->object];
		ctx.process = grp->process;
		ctx.pid = grp->unbound ? 0 : t->processes[grp->process].pid;
		renew(grp, &g->outcome);
		err = group__link(&ctx, grp);
		if (err == -ESRCH) /* that needs no probes any more */
			err = 0;
		if (err)
			return group__failed(&ctx, err);
	}
	return 0;
}

/* The function that trial links probe. */
static __attribute__((noinline, noclone)) int trial_function(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x;
}

/* The place of our own program's code in its file. */
struct own_code {
	uintptr_t at;
	uint64_t offset;
};

static int find_offset(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct own_code *own = arg;
	uintptr_t vaddr = own->at - info->dlpi_addr;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && vaddr - ph->p_vaddr < ph->p_filesz) {
			own->offset = vaddr - ph->p_vaddr + ph->p_offset;
			return 1;
		}
	}
	return 0;
}

int groups__probe_own(struct groups *g, const struct backend_probe *probe, pid_t pid,
		      const struct own_probe *own, size_t cnt)
{
	struct link_spec spec = {
		.prog_fd = probe->prog_fd,
		.attach_type = probe->attach_type,
		.return_probes = probe->return_probes,
		.pid = pid,
	};
	uint64_t *offsets = calloc(2 * cnt + 1, sizeof(*offsets)), *cookies = offsets + cnt;
	int err = offsets ? 0 : -ENOMEM;
	char exe[64];

	for (size_t i = 0; !err && i < cnt; i++) {
		struct own_code code = {.at = (uintptr_t)own[i].code};

		if (!dl_iterate_phdr(find_offset, &code))
			err = -ENOENT;
		offsets[i] = code.offset;
		cookies[i] = own[i].cookie;
	}
	snprintf(exe, sizeof(exe), "/proc/%d/exe", getpid());
	spec.object_fd = err ? -1 : opener__open(exe);
	if (!err && spec.object_fd < 0)
		err = spec.object_fd;
	if (!err) {
		spec.offsets = offsets;
		spec.cookies = cookies;
		spec.cnt = cnt;
		err = link_holder__link(g->link_holder, &spec);
		close(spec.object_fd);
	}
	free(offsets);
	return err < 0 ? err : 0;
}

int groups__trial(struct groups *g, const struct backend_probe *probe, uint64_t cookie)
{
	const struct own_probe own = {(const void *)trial_function, cookie};

	return groups__probe_own(g, probe, getpid(), &own, 1);
}

void groups__hit_trial(void)
{
	trial_function(0);
}
