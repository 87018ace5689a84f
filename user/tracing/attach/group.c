// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attach/costs.h"
#include "attach/links/holder/link_holder.h"
#include "plan/exit_strategy.h"
#include "plan/plan.h"
#include "plan/plan_lines.h"
#include "target/target.h"
#include "util/array.h"
#include "util/log.h"
#include "wire.h"

_Static_assert(WIRE_COST_ENTRY + SITE_STEP == WIRE_COST_ENTRY_LAST, "site classes");
_Static_assert(WIRE_COST_ENTRY + SITE_PUSH == WIRE_COST_ENTRY_PUSH, "site classes");

#define MAX_PER_LINK  (1u << 20) /* the kernel's limit */
#define MAX_REFUSED   64	 /* give up on more: then it is no matter of single functions */
#define REFUSED_SHOWN 5

/* Probes that are to share a link. */
struct batch {
	uint64_t *offsets, *cookies;
	uint64_t *semaphores; /* as in struct link_spec */
	size_t cnt;
	bool guarded; /* there are semaphores */
};

static int batch_alloc(struct batch *b, size_t cap)
{
	*b = (struct batch){.offsets = calloc(cap + 1, sizeof(uint64_t)),
			    .cookies = calloc(cap + 1, sizeof(uint64_t)),
			    .semaphores = calloc(cap + 1, sizeof(uint64_t))};
	return b->offsets && b->cookies && b->semaphores ? 0 : -ENOMEM;
}

static void batch_free(struct batch *b)
{
	free(b->offsets);
	free(b->cookies);
	free(b->semaphores);
}

static void batch_add(struct batch *b, uint64_t offset, uint64_t cookie, uint64_t semaphore)
{
	b->guarded |= semaphore != 0;
	b->semaphores[b->cnt] = semaphore;
	b->offsets[b->cnt] = offset;
	b->cookies[b->cnt++] = cookie;
}

bool group__may_be_one(int err)
{
	switch (err) {
	case -EPERM:
	case -EACCES:
	case -ENOMEM:
	case -EMFILE:
	case -ENFILE:
	case -EBADF:
	case -ESRCH:
	case -EINTR:
	case -EOWNERDEAD: /* the link holder has gone */
	case -EAGAIN:
		return false;
	default:
		return true;
	}
}

static int note_refused(struct attach_ctx *ctx, uint64_t cookie, int err)
{
	const uint32_t function = cookie & WIRE_COOKIE_FUNCTION;
	struct function_outcome *outcome = &ctx->g->outcome.functions[function];

	if (outcome->refused)
		return 0; /* another of its probes, or in another process */
	if (++ctx->refused_cnt > MAX_REFUSED) {
		log_error("the kernel refuses probes in %s: %s", ctx->obj->path,
			  strerror(err == -524 ? EOPNOTSUPP : -err));
		return err;
	}
	outcome->refused = true;
	if (ctx->refused_cnt <= REFUSED_SHOWN)
		log_warn("%s: the kernel refuses the probe at %s: left out", ctx->obj->path,
			 ctx->plan->functions[function].symbol);
	else if (ctx->refused_cnt == REFUSED_SHOWN + 1)
		log_warn("%s: more functions are refused and left out", ctx->obj->path);
	return 0;
}

/* Whether the line, by its number from 1 on, still is. */
static bool is_counted(const struct attach_ctx *ctx, uint32_t line)
{
	return !ctx->plan->lines->lines[line - 1].reason && !ctx->g->outcome.reasons[line - 1];
}

/* The line is counted in part at most, so it does not count. */
static int note_line_refused(struct attach_ctx *ctx, uint64_t cookie, int err)
{
	const struct plan_lines *lines = ctx->plan->lines;
	const uint32_t line = lines->sites[(cookie & WIRE_COOKIE_FUNCTION) - 1].line;

	if (!line || !is_counted(ctx, line))
		return 0;
	if (++ctx->refused_cnt > MAX_REFUSED) {
		log_error("the kernel refuses probes in %s: %s", ctx->obj->path,
			  strerror(err == -524 ? EOPNOTSUPP : -err));
		return err;
	}
	ctx->g->outcome.reasons[line - 1] = "the kernel refuses the probe";
	return 0;
}

/* Links probes [from, to) of the batch, in as few links as the kernel accepts. */
static int link_range(struct attach_ctx *ctx, struct group *grp, const struct backend_probe *probe,
		      const struct batch *b, size_t from, size_t to)
{
	struct link_spec spec = {
		.prog_fd = probe->prog_fd,
		.attach_type = probe->attach_type,
		.return_probes = probe->return_probes,
		.object_fd = ctx->obj->fd,
		.pid = ctx->pid,
		.shared = !ctx->pid && !ctx->g->unbound,
		.offsets = b->offsets + from,
		.cookies = b->cookies + from,
		.semaphores = b->guarded ? b->semaphores + from : NULL,
		.cnt = to - from,
	};
	int err;

	if (from == to)
		return 0;
	if (ARRAY_RESERVE(&grp->links, grp->links_cnt, &grp->links_cap))
		return -ENOMEM;
	err = to - from > MAX_PER_LINK ? -E2BIG : link_holder__link(ctx->g->link_holder, &spec);
	if (err >= 0) {
		grp->links[grp->links_cnt++] = err;
		return 0;
	}
	if (!group__may_be_one(err))
		return err;
	if (to - from == 1)
		return grp->lines ? note_line_refused(ctx, b->cookies[from], err)
				  : note_refused(ctx, b->cookies[from], err);
	err = link_range(ctx, grp, probe, b, from, from + (to - from) / 2);
	return err ? err : link_range(ctx, grp, probe, b, from + (to - from) / 2, to);
}

static uint64_t entry_cookie(const struct plan_function *f, const struct group_member *m)
{
	uint64_t flags = (f->tail_jumps ? WIRE_ENTRY_TAIL : 0) |
			 (f->loops_to_entry ? WIRE_ENTRY_LOOP : 0) |
			 (f->entry.restarts ? WIRE_ENTRY_UNLESS : 0) |
			 (f->exit == EXIT_RETURN ? WIRE_ENTRY_RETURN : 0) |
			 (f->closed_at_entry ? WIRE_ENTRY_CLOSES : 0);

	/* One of values and the number of instructions is 0. */
	return m->function | (uint64_t)f->entry.delta << WIRE_COOKIE_DELTA |
	       (uint64_t)f->entry.cond << WIRE_COOKIE_COND |
	       (uint64_t)(f->arguments | f->closed_at_entry) << WIRE_COOKIE_VALUES |
	       flags << WIRE_COOKIE_FLAGS |
	       cost_class__of_entry(f->entry.site) << WIRE_COOKIE_COST |
	       (uint64_t)m->generation << WIRE_COOKIE_GENERATION;
}

/* The cost class of a region's site. */
static uint64_t site_cost(const struct plan_site *s, bool ends)
{
	if (!ends)
		return WIRE_COST_ENTRY + s->site;
	if (s->site == SITE_NOP5 || s->site == SITE_NOP10)
		return WIRE_COST_EXIT_NOP5;
	return s->site == SITE_STEP ? WIRE_COST_EXIT_STEP : WIRE_COST_EXIT_JMP;
}

/* The cookie of site `number` of a region. */
static uint64_t site_cookie(const struct plan_function *f, const struct plan_site *s,
			    uint32_t number, const struct group_member *m)
{
	bool ends = number >= f->begins_cnt;
	uint64_t flags = (f->kind == PLAN_MARK ? WIRE_REGION_MARK : 0) |
			 (s->by_frame_pointer ? WIRE_REGION_BY_FP : 0) |
			 (s->called ? WIRE_REGION_CALLED : 0) |
			 (f->ordered ? WIRE_REGION_ORDERED : 0);

	return m->function | (uint64_t)(s->up / 8) << WIRE_COOKIE_DELTA |
	       (uint64_t)(number % WIRE_MAX_SITES) << WIRE_COOKIE_SITE |
	       (uint64_t)(ends ? 0 : s->list) << WIRE_COOKIE_VALUES | flags << WIRE_COOKIE_FLAGS |
	       site_cost(s, ends) << WIRE_COOKIE_COST |
	       (uint64_t)m->generation << WIRE_COOKIE_GENERATION;
}

static uint64_t exit_cost(const struct plan_exit *e)
{
	if (e->emulated)
		return WIRE_COST_EXIT_RET;
	if (e->steps)
		return WIRE_COST_EXIT_STEP;
	return e->kind == CODE_EXIT_JCC ? WIRE_COST_EXIT_JCC : WIRE_COST_EXIT_JMP;
}

/* Whether the exit is seen by the program for `ret`s. */
static bool is_ret(const struct groups *g, const struct plan_exit *e)
{
	return g->emulates && e->kind == CODE_EXIT_RET;
}

static uint64_t exit_kind(const struct plan_exit *e)
{
	if (e->kind == CODE_EXIT_JCC)
		return WIRE_EXIT_JCC;
	return e->kind == CODE_EXIT_JMP ? WIRE_EXIT_JMP : WIRE_EXIT_RET;
}

/* `ret`: the cookie is for the program for `ret`s. */
static uint64_t exit_cookie(const struct plan_exit *e, uint32_t index, bool ret)
{
	uint64_t flags = (e->by_frame_pointer ? WIRE_EXIT_BY_FP : 0) |
			 (e->emulated ? WIRE_EXIT_EMULATED : 0) |
			 (e->goes_on ? WIRE_EXIT_GOES_ON : 0);
	uint64_t where = ret ? e->offset & WIRE_PAGE_MASK : e->up;

	return index | exit_kind(e) << WIRE_COOKIE_EXIT | (uint64_t)e->cond << WIRE_COOKIE_COND |
	       where << WIRE_COOKIE_DELTA | flags << WIRE_COOKIE_FLAGS |
	       exit_cost(e) << WIRE_COOKIE_COST;
}

/* A group's probes by kind. */
struct group_probes {
	struct batch returns, entries, exits, rets, begins, ends;
};

static void region_gather(const struct plan *p, const struct group_member *m,
			  struct group_probes *out)
{
	const struct plan_function *f = &p->functions[m->function];

	for (uint32_t i = 0; i < f->begins_cnt + f->ends_cnt; i++) {
		const struct plan_site *s = &p->sites[f->sites + i];

		batch_add(i < f->begins_cnt ? &out->begins : &out->ends, s->offset,
			  site_cookie(f, s, i, m), s->semaphore);
	}
}

static int probes_gather(const struct attach_ctx *ctx, struct group *grp, struct group_probes *out)
{
	const struct plan *p = ctx->plan;
	size_t exits = 0, begins = 0, ends = 0;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < grp->members_cnt; i++) {
		const struct plan_function *f = &p->functions[grp->members[i].function];

		exits += f->exits_cnt;
		begins += f->begins_cnt;
		ends += f->ends_cnt;
	}
	if (batch_alloc(&out->returns, grp->members_cnt) ||
	    batch_alloc(&out->entries, grp->members_cnt) || batch_alloc(&out->exits, exits) ||
	    batch_alloc(&out->rets, exits) || batch_alloc(&out->begins, begins) ||
	    batch_alloc(&out->ends, ends))
		return -ENOMEM;
	for (size_t i = 0; i < grp->members_cnt; i++) {
		struct group_member *m = &grp->members[i];
		const struct plan_function *f = &p->functions[m->function];

		if (f->kind != PLAN_FUNCTION) {
			if (!grp->exits_only)
				region_gather(p, m, out);
			continue;
		}
		m->returns = f->exit == EXIT_RETURN;
		if (!grp->exits_only)
			batch_add(m->returns ? &out->returns : &out->entries,
				  f->offset + f->entry.offset, entry_cookie(f, m), f->semaphore);
		/* Calls end at the next event above their slot: paths come out right, times do not.
		 */
		if (grp->burst && plan__exits_step(p, f))
			continue;
		for (uint32_t e = 0; e < f->exits_cnt && !m->exits_apart; e++) {
			const struct plan_exit *exit = &p->exits[f->exits + e];
			bool ret = is_ret(ctx->g, exit);

			batch_add(ret ? &out->rets : &out->exits, exit->offset,
				  exit_cookie(exit, m->function, ret), 0);
		}
	}
	return 0;
}

static void probes_free(struct group_probes *probes)
{
	batch_free(&probes->returns);
	batch_free(&probes->entries);
	batch_free(&probes->exits);
	batch_free(&probes->rets);
	batch_free(&probes->begins);
	batch_free(&probes->ends);
}

/* Takes out the probes of functions that were refused before: half a function is none. */
static void batch_drop_refused(const struct attach_ctx *ctx, struct batch *b)
{
	size_t cnt = b->cnt;

	b->cnt = 0;
	for (size_t i = 0; i < cnt; i++) {
		if (!ctx->g->outcome.functions[b->cookies[i] & WIRE_COOKIE_FUNCTION].refused)
			batch_add(b, b->offsets[i], b->cookies[i], b->semaphores[i]);
	}
}

static int link_batch(struct attach_ctx *ctx, struct group *grp, struct backend_probe probe,
		      struct batch *b)
{
	batch_drop_refused(ctx, b);
	return link_range(ctx, grp, &probe, b, 0, b->cnt);
}

static uint64_t line_cookie(const struct groups *g, const struct plan_line_site *site, size_t index)
{
	return (index + 1) | (uint64_t)(WIRE_COST_ENTRY + site->site) << WIRE_COOKIE_COST |
	       (uint64_t)g->lines_generation << WIRE_COOKIE_GENERATION;
}

static int link_lines(struct attach_ctx *ctx, struct group *grp)
{
	const struct backend_probe probe = ctx->backend->line(ctx->skel);
	const struct plan_lines *lines = ctx->plan->lines;
	struct batch b;
	int err = batch_alloc(&b, lines->sites_cnt);

	for (size_t i = 0; !err && i < lines->sites_cnt; i++) {
		const struct plan_line_site *site = &lines->sites[i];
		const struct plan_function *f = &ctx->plan->functions[site->function];

		if (!site->at_entry && f->object == grp->object &&
		    !ctx->g->outcome.functions[site->function].refused &&
		    (!site->line || is_counted(ctx, site->line)))
			batch_add(&b, site->offset, line_cookie(ctx->g, site, i), site->semaphore);
	}
	if (!err)
		err = link_range(ctx, grp, &probe, &b, 0, b.cnt);
	batch_free(&b);
	return err;
}

/* Entries of functions and begins of regions; the cookie is function and generation alone. */
static int link_survey(struct attach_ctx *ctx, struct group *grp)
{
	const struct plan *p = ctx->plan;
	size_t cnt = grp->members_cnt;
	struct batch b;
	int err;

	for (size_t i = 0; i < grp->members_cnt; i++)
		cnt += p->functions[grp->members[i].function].begins_cnt;
	err = batch_alloc(&b, cnt);
	for (size_t i = 0; !err && i < grp->members_cnt; i++) {
		uint32_t function = grp->members[i].function;
		const struct plan_function *f = &p->functions[function];
		uint64_t cookie = function | (uint64_t)grp->members[i].generation
						     << WIRE_COOKIE_GENERATION;

		if (f->kind == PLAN_FUNCTION)
			batch_add(&b, f->offset + f->entry.offset, cookie, f->semaphore);
		for (uint32_t k = 0; f->kind != PLAN_FUNCTION && k < f->begins_cnt; k++) {
			const struct plan_site *site = &p->sites[f->sites + k];

			batch_add(&b, site->offset, cookie, site->semaphore);
		}
	}
	if (!err)
		err = link_batch(ctx, grp, ctx->backend->survey(ctx->skel), &b);
	batch_free(&b);
	return err;
}

/* A region's probes are of the kind that entries have. */
static struct backend_probe region_probe(const struct attach_ctx *ctx, enum late_program program)
{
	struct backend_probe probe = ctx->backend->entry(ctx->skel);

	probe.prog_fd = ctx->g->region_programs[program];
	return probe;
}

int group__link(struct attach_ctx *ctx, struct group *grp)
{
	struct backend_probe returns[BACKEND_MAX_PROBES];
	size_t cnt = ctx->backend->returns(ctx->skel, returns);
	struct group_probes probes;
	int err;

	if (ctx->g->suspended)
		return 0;
	if (grp->lines)
		return link_lines(ctx, grp);
	if (grp->survey)
		return link_survey(ctx, grp);
	err = probes_gather(ctx, grp, &probes);
	grp->has_returns = probes.returns.cnt;
	/* An instruction can be entry and exit (a lone jmp), or a region may begin at its
	 * function's entry: the last attached is called first. */
	if (!err && probes.ends.cnt)
		err = link_batch(ctx, grp, region_probe(ctx, LATE_REGION_END), &probes.ends);
	if (!err && probes.begins.cnt)
		err = link_batch(ctx, grp, region_probe(ctx, LATE_REGION_BEGIN), &probes.begins);
	for (size_t i = 0; !err && i < cnt; i++)
		err = link_batch(ctx, grp, returns[i], &probes.returns);
	grp->exits_from = grp->links_cnt;
	if (!err)
		err = link_batch(ctx, grp, ctx->backend->exit_site(ctx->skel, false),
				 &probes.exits);
	if (!err && probes.rets.cnt)
		err = link_batch(ctx, grp, ctx->backend->exit_site(ctx->skel, true), &probes.rets);
	grp->exits_to = grp->links_cnt;
	if (!err)
		err = link_batch(ctx, grp, ctx->backend->entry(ctx->skel), &probes.entries);
	probes_free(&probes);
	return err;
}

int group__failed(const struct attach_ctx *ctx, int err)
{
	if (err == -ESRCH)
		log_debug("process %d ended while probes were being attached", ctx->pid);
	else if (err == -EMFILE || err == -ENFILE)
		log_error("too many open files; raise the limit (ulimit -n)");
	else if (group__may_be_one(err))
		return err; /* said already */
	else if (err == -EOWNERDEAD)
		log_error("the process that holds the probes has been killed");
	else
		log_error("cannot attach to %s: %s", ctx->obj->path, strerror(-err));
	return err;
}

struct group *group__new(const struct attach_ctx *ctx, bool exits_only)
{
	struct groups *g = ctx->g;
	struct group *grp;

	if (ARRAY_RESERVE(&g->groups, g->groups_cnt, &g->groups_cap))
		return NULL;
	grp = calloc(1, sizeof(*grp));
	if (!grp)
		return NULL;
	grp->object = ctx->object;
	grp->process = ctx->process;
	grp->unbound = !ctx->pid;
	grp->exits_only = exits_only;
	g->groups[g->groups_cnt++] = grp;
	return grp;
}

int group__add(struct group *grp, uint32_t function, uint8_t generation)
{
	if (ARRAY_RESERVE(&grp->members, grp->members_cnt, &grp->members_cap))
		return -ENOMEM;
	grp->members[grp->members_cnt++] =
		(struct group_member){.function = function, .generation = generation};
	return 0;
}

bool group__is_live(const struct group *grp, const struct attach_ctx *ctx, bool exits_only)
{
	return grp->object == ctx->object && grp->process == ctx->process &&
	       grp->unbound == !ctx->pid && grp->exits_only == exits_only && !grp->retired_ns &&
	       !grp->survey && !grp->burst;
}

void group__unlink_exits(struct groups *g, struct group *grp)
{
	size_t cnt = grp->exits_to - grp->exits_from;

	for (size_t i = grp->exits_from; i < grp->exits_to; i++)
		link_holder__close(g->link_holder, grp->links[i]);
	for (size_t i = grp->exits_to; i < grp->links_cnt; i++)
		grp->links[i - cnt] = grp->links[i];
	grp->links_cnt -= cnt;
	grp->exits_to = grp->exits_from;
}

void group__unlink(struct groups *g, struct group *grp)
{
	for (size_t i = 0; i < grp->links_cnt; i++)
		link_holder__close(g->link_holder, grp->links[i]);
	grp->links_cnt = grp->exits_from = grp->exits_to = 0;
}

void group__close(struct groups *g, struct group *grp)
{
	for (size_t i = 0; i < g->groups_cnt; i++) {
		if (g->groups[i] != grp)
			continue;
		g->groups[i] = g->groups[--g->groups_cnt];
		break;
	}
	group__unlink(g, grp);
	group__free(grp);
}

void group__free(struct group *grp)
{
	free(grp->members);
	free(grp->links);
	free(grp);
}
