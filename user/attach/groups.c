// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/groups.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/keeper.h"
#include "plan/plan.h"
#include "target/target.h"
#include "util/log.h"
#include "wire.h"

_Static_assert(WIRE_COST_ENTRY + SITE_CLASSES - 1 == WIRE_COST_ENTRY_LAST, "site classes");

#define MAX_PER_LINK  (1u << 20) /* the kernel's limit */
#define MAX_REFUSED   64	 /* give up on more: then it is no matter of single functions */
#define REFUSED_SHOWN 5

/* Probes that are to share a link. */
struct batch {
	uint64_t *offsets, *cookies;
	size_t cnt;
};

struct attach_ctx {
	struct groups *g;
	const struct tier *tier;
	const struct proftrace_bpf *skel;
	const struct target_object *obj;
	uint32_t object; /* its index */
	struct plan *plan;
	struct tier_probe probe;
	pid_t pid;
	size_t refused_cnt;
	bool *ended; /* a process: it was gone when probes were to be attached */
	size_t ended_cnt;
};

static int batch_alloc(struct batch *b, size_t cap)
{
	*b = (struct batch){.offsets = calloc(cap + 1, sizeof(uint64_t)),
			    .cookies = calloc(cap + 1, sizeof(uint64_t))};
	return b->offsets && b->cookies ? 0 : -ENOMEM;
}

static void batch_free(struct batch *b)
{
	free(b->offsets);
	free(b->cookies);
}

static void batch_add(struct batch *b, uint64_t offset, uint64_t cookie)
{
	b->offsets[b->cnt] = offset;
	b->cookies[b->cnt++] = cookie;
}

/* Whether the error can be one function's fault. */
static bool may_be_one(int err)
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
	case -EOWNERDEAD: /* the keeper has gone */
	case -EAGAIN:
		return false;
	default:
		return true;
	}
}

static int note_refused(struct attach_ctx *ctx, uint64_t cookie, int err)
{
	struct plan_function *f = &ctx->plan->functions[cookie & WIRE_COOKIE_FUNCTION];

	if (f->refused)
		return 0; /* another of its probes, or in another process */
	if (++ctx->refused_cnt > MAX_REFUSED) {
		log_error("the kernel refuses probes in %s: %s", ctx->obj->path,
			  strerror(err == -524 ? EOPNOTSUPP : -err));
		return err;
	}
	f->refused = true;
	if (ctx->refused_cnt <= REFUSED_SHOWN)
		log_warn("%s: the kernel refuses the probe at %s: left out", ctx->obj->path,
			 f->symbol);
	else if (ctx->refused_cnt == REFUSED_SHOWN + 1)
		log_warn("%s: more functions are refused and left out", ctx->obj->path);
	return 0;
}

/* Links probes [from, to) of the batch, in as few links as the kernel accepts. */
static int link_range(struct attach_ctx *ctx, const struct batch *b, size_t from, size_t to)
{
	struct link_spec spec = {
		.prog_fd = ctx->probe.prog_fd,
		.attach_type = ctx->probe.attach_type,
		.return_probes = ctx->probe.return_probes,
		.object_fd = ctx->obj->fd,
		.pid = ctx->pid,
		.offsets = b->offsets + from,
		.cookies = b->cookies + from,
		.cnt = to - from,
	};
	int err;

	if (from == to)
		return 0;
	err = to - from > MAX_PER_LINK ? -E2BIG : keeper__link(ctx->g->keeper, &spec);
	if (!err || !may_be_one(err))
		return err;
	if (to - from == 1)
		return note_refused(ctx, b->cookies[from], err);
	err = link_range(ctx, b, from, from + (to - from) / 2);
	return err ? err : link_range(ctx, b, from + (to - from) / 2, to);
}

static uint64_t entry_cookie(const struct plan_function *f, uint32_t index)
{
	uint64_t flags = (f->tail_jumps ? WIRE_ENTRY_TAIL : 0) |
			 (f->loops_to_entry ? WIRE_ENTRY_LOOP : 0) |
			 (f->begins_anew ? WIRE_ENTRY_UNLESS : 0) |
			 (f->exit == EXIT_RETURN ? WIRE_ENTRY_RETURN : 0);

	return index | (uint64_t)f->site_delta << WIRE_COOKIE_DELTA |
	       (uint64_t)f->cond << WIRE_COOKIE_COND | flags << WIRE_COOKIE_FLAGS |
	       (uint64_t)(WIRE_COST_ENTRY + f->site) << WIRE_COOKIE_COST;
}

static uint64_t exit_cost(const struct plan_exit *e)
{
	if (e->steps)
		return WIRE_COST_EXIT_STEP;
	return e->kind == CODE_EXIT_JCC ? WIRE_COST_EXIT_JCC : WIRE_COST_EXIT_JMP;
}

static uint64_t exit_cookie(const struct plan_exit *e, uint32_t index)
{
	uint64_t kind = e->kind == CODE_EXIT_JCC ? WIRE_EXIT_JCC : WIRE_EXIT_RET;

	return index | kind << WIRE_COOKIE_EXIT | (uint64_t)e->cond << WIRE_COOKIE_COND |
	       exit_cost(e) << WIRE_COOKIE_COST;
}

/* The object's probes by kind. */
struct object_probes {
	struct batch returns, entries, exits;
};

/* The probes of those of the object's functions that `wants` picks. */
static int probes_gather(const struct plan *p, uint32_t object,
			 bool (*wants)(const struct plan_function *f), struct object_probes *out)
{
	size_t functions = 0, exits = 0;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < p->functions_cnt; i++) {
		const struct plan_function *f = &p->functions[i];

		if (f->object != object || !wants(f))
			continue;
		functions++;
		exits += f->exits_cnt;
	}
	if (batch_alloc(&out->returns, functions) || batch_alloc(&out->entries, functions) ||
	    batch_alloc(&out->exits, exits))
		return -ENOMEM;
	for (size_t i = 0; i < p->functions_cnt; i++) {
		const struct plan_function *f = &p->functions[i];

		if (f->object != object || !wants(f))
			continue;
		batch_add(f->exit == EXIT_RETURN ? &out->returns : &out->entries,
			  f->offset + f->site_offset, entry_cookie(f, i));
		for (uint32_t e = 0; e < f->exits_cnt; e++) {
			const struct plan_exit *exit = &p->exits[f->exits + e];

			batch_add(&out->exits, exit->offset, exit_cookie(exit, i));
		}
	}
	return 0;
}

static void probes_free(struct object_probes *probes)
{
	batch_free(&probes->returns);
	batch_free(&probes->entries);
	batch_free(&probes->exits);
}

/* Takes out the probes of functions that were refused before: half a function is none. */
static void batch_drop_refused(const struct attach_ctx *ctx, struct batch *b)
{
	size_t cnt = b->cnt;

	b->cnt = 0;
	for (size_t i = 0; i < cnt; i++) {
		if (!ctx->plan->functions[b->cookies[i] & WIRE_COOKIE_FUNCTION].refused)
			batch_add(b, b->offsets[i], b->cookies[i]);
	}
}

static int link_batch(struct attach_ctx *ctx, struct tier_probe probe, struct batch *b)
{
	ctx->probe = probe;
	batch_drop_refused(ctx, b);
	return link_range(ctx, b, 0, b->cnt);
}

/* Marks are single probes on functions of libraries. One that is refused is missed, no more. */
static int link_marks(struct attach_ctx *ctx)
{
	for (size_t i = 0; i < ctx->plan->marks_cnt; i++) {
		const struct plan_mark *m = &ctx->plan->marks[i];
		const struct tier_probe probe = ctx->tier->mark(ctx->skel, m->kind);
		const struct link_spec spec = {
			.prog_fd = probe.prog_fd,
			.attach_type = probe.attach_type,
			.object_fd = ctx->obj->fd,
			.pid = ctx->pid,
			.offsets = &m->offset,
			.cookies = &m->cookie,
			.cnt = 1,
		};
		int err;

		if (m->object != ctx->object)
			continue;
		err = keeper__link(ctx->g->keeper, &spec);
		if (err && !may_be_one(err))
			return err;
		if (!err)
			continue;
		ctx->plan->contexts_made |= m->kind == MARK_MAKECONTEXT;
		log_warn("%s: the kernel refuses a probe: files that are loaded later, or stacks "
			 "that are made, may go unnoticed",
			 ctx->obj->path);
	}
	return 0;
}

/* All probes of one object in one process (or in all, ctx->pid 0). */
static int attach_object(struct attach_ctx *ctx, struct object_probes *probes)
{
	struct tier_probe returns[TIER_MAX_PROBES];
	size_t cnt = ctx->tier->returns(ctx->skel, returns);
	int err = link_marks(ctx);

	for (size_t i = 0; !err && i < cnt; i++)
		err = link_batch(ctx, returns[i], &probes->returns);
	/* An instruction can be entry and exit (a lone jmp): the last attached is called first. */
	if (!err)
		err = link_batch(ctx, ctx->tier->exit_site(ctx->skel), &probes->exits);
	if (!err)
		err = link_batch(ctx, ctx->tier->entry(ctx->skel), &probes->entries);
	return err;
}

/* Exit sites alone, for functions whose entries are in already. */
static int attach_exits(struct attach_ctx *ctx, struct object_probes *probes)
{
	return link_batch(ctx, ctx->tier->exit_site(ctx->skel), &probes->exits);
}

static int attach_failed(const struct attach_ctx *ctx, int err)
{
	if (err == -ESRCH)
		log_debug("process %d ended while probes were being attached", ctx->pid);
	else if (err == -EMFILE || err == -ENFILE)
		log_error("too many open files; raise the limit (ulimit -n)");
	else if (may_be_one(err))
		return err; /* said already */
	else if (err == -EOWNERDEAD)
		log_error("the process that holds the probes has been killed");
	else
		log_error("cannot attach to %s: %s", ctx->obj->path, strerror(-err));
	return err;
}

/* Does `attach` in processes [from, to) of the object, or once for all that there are; counts those
 * that have ended meanwhile. */
static int for_each_process(struct attach_ctx *ctx, const struct target *t, uint32_t from,
			    uint32_t to, int (*attach)(struct attach_ctx *, struct object_probes *),
			    struct object_probes *probes)
{
	int err = 0;

	for (uint32_t i = from; !err && i < to; i++) {
		uint32_t process = ctx->g->unbound ? 0 : ctx->obj->processes[i];

		if (ctx->ended[process])
			continue;
		ctx->pid = ctx->g->unbound ? 0 : t->processes[process].pid;
		err = attach(ctx, probes);
		if (err != -ESRCH || ctx->g->unbound)
			continue;
		ctx->ended[process] = true;
		if (++ctx->ended_cnt < t->processes_cnt) {
			log_warn("process %d ended while probes were being attached", ctx->pid);
			err = 0;
		}
	}
	return err ? attach_failed(ctx, err) : 0;
}

static bool wants_pending(const struct plan_function *f)
{
	return f->exits_pending;
}

static bool wants_all(const struct plan_function *f __attribute__((unused)))
{
	return true;
}

/* What the object is missing: everything in processes that are new, pending exits in the others. */
static int attach_missing(struct attach_ctx *ctx, const struct target *t)
{
	uint32_t *attached = &ctx->g->attached[ctx->object];
	uint32_t to = ctx->g->unbound ? 1 : ctx->obj->processes_cnt;
	struct object_probes probes;
	int err = 0;

	if (ctx->plan->exits_pending && *attached) {
		err = probes_gather(ctx->plan, ctx->object, wants_pending, &probes);
		if (!err)
			err = for_each_process(ctx, t, 0, *attached, attach_exits, &probes);
		probes_free(&probes);
	}
	if (err || *attached == to)
		return err;
	err = probes_gather(ctx->plan, ctx->object, wants_all, &probes);
	if (!err)
		err = for_each_process(ctx, t, *attached, to, attach_object, &probes);
	probes_free(&probes);
	*attached = to;
	return err;
}

/* Makes room for the target's objects. */
static int attached_grow(struct groups *g, size_t cnt)
{
	uint32_t *grown = reallocarray(g->attached, cnt + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	g->attached = grown;
	while (g->attached_cnt < cnt)
		grown[g->attached_cnt++] = 0;
	return 0;
}

int64_t groups__attach(struct groups *g, const struct tier *tier, const struct proftrace_bpf *skel,
		       struct plan *p, const struct target *t)
{
	struct attach_ctx ctx = {.g = g, .tier = tier, .skel = skel, .plan = p};
	int64_t attached = 0;
	int err;

	ctx.ended = calloc(t->processes_cnt + 1, sizeof(*ctx.ended));
	if (!ctx.ended)
		return -ENOMEM;
	err = attached_grow(g, t->objects_cnt);
	for (; !err && ctx.object < t->objects_cnt; ctx.object++) {
		ctx.obj = &t->objects[ctx.object];
		err = attach_missing(&ctx, t);
	}
	for (size_t i = 0; i < p->functions_cnt; i++) {
		p->functions[i].exits_pending = false;
		attached += !p->functions[i].refused;
	}
	p->exits_pending = false;
	free(ctx.ended);
	if (!err && !attached && p->functions_cnt) {
		log_error("no function could be probed");
		err = -ENOENT;
	}
	return err ? err : attached;
}

void groups__detach(struct groups *g)
{
	if (g->keeper)
		keeper__detach(g->keeper);
	free(g->attached);
	*g = (struct groups){.keeper = g->keeper, .unbound = g->unbound};
}

/* What a trial probes. */
static __attribute__((noinline, noclone)) int trial_function(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x;
}

/* Where code of our own program lies in its file. */
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

int groups__probe_own(struct groups *g, const struct tier_probe *probe, pid_t pid,
		      const struct own_probe *own, size_t cnt)
{
	struct link_spec spec = {
		.prog_fd = probe->prog_fd,
		.attach_type = probe->attach_type,
		.return_probes = probe->return_probes,
		.pid = pid,
	};
	struct batch b;
	int err;

	err = batch_alloc(&b, cnt);
	for (size_t i = 0; !err && i < cnt; i++) {
		struct own_code code = {.at = (uintptr_t)own[i].code};

		if (dl_iterate_phdr(find_offset, &code))
			batch_add(&b, code.offset, own[i].cookie);
		else
			err = -ENOENT;
	}
	spec.object_fd = err ? -1 : open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (!err && spec.object_fd < 0)
		err = -errno;
	if (!err) {
		spec.offsets = b.offsets;
		spec.cookies = b.cookies;
		spec.cnt = b.cnt;
		err = keeper__link(g->keeper, &spec);
		close(spec.object_fd);
	}
	batch_free(&b);
	return err;
}

int groups__trial(struct groups *g, const struct tier_probe *probe)
{
	const struct own_probe own = {(const void *)trial_function, 0};

	return groups__probe_own(g, probe, getpid(), &own, 1);
}
