// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For each wanted function: decode it whole, take the first instruction of its entry block that the
 * kernel emulates (else the first that it accepts), and choose how the leave is seen. The decoding
 * is nearly all of the work, so the functions of an object are shared out to a few threads.
 */
#include "plan/plan.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plan/deny.h"
#include "plan/exits.h"
#include "plan/filter.h"
#include "plan/nearest.h"
#include "symbol/demangle.h"
#include "symbol/elf_image.h"
#include "symbol/symtab.h"
#include "symbol/traits.h"
#include "target/target.h"
#include "util/array.h"
#include "util/log.h"
#include "util/path.h"

#define MAX_FUNCTION_SIZE (16u << 20) /* larger "functions" are a damaged file's */
#define MAX_PIECES	  16
#define MAX_WORKERS	  8
#define MIN_SHARE	  256 /* functions that are worth a thread */

struct plan_object {
	struct elf_image *img; /* NULL: not ELF, and not wanted */
	struct symtab *tab;    /* NULL: not wanted */
	char soname[128];
};

const char *exit_strategy__name(enum exit_strategy s)
{
	static const char *const names[EXIT_STRATEGIES] = {"return", "sites", "none"};

	return names[s];
}

static char *display_name(const char *symbol)
{
	char *name = demangle(symbol);

	return name ? name : strdup(symbol);
}

const char *plan__name(struct plan_function *f)
{
	if (!f->name)
		f->name = display_name(f->symbol);
	return f->name ? f->name : f->symbol;
}

const char *plan__skip_name(struct plan_skip *s)
{
	if (!s->name)
		s->name = display_name(s->symbol);
	return s->name ? s->name : s->symbol;
}

/* One worker's share of an object's symbols, and what it makes of them. */
struct share {
	const struct plan_object *obj;
	const struct plan_options *opts;
	const struct exit_context *exit_ctx;
	uint32_t object;
	const uint32_t *wanted; /* symbol indexes */
	size_t wanted_cnt;
	const uint32_t *pieces; /* cold pieces: symbol indexes, ordered by what they belong to */
	size_t pieces_cnt;

	struct plan_function *functions;
	size_t functions_cnt, functions_cap;
	struct plan_exit *exits;
	size_t exits_cnt, exits_cap;
	struct plan_skip *skipped;
	size_t skipped_cnt, skipped_cap;
	uint8_t *bytes[MAX_PIECES];
	size_t bytes_cap[MAX_PIECES];
	struct code code;
	struct code_decoder *decoder;
	pthread_t thread;
	int err;
};

static int skip(struct share *sh, const struct symbol *sym, const char *reason)
{
	if (ARRAY_RESERVE(&sh->skipped, sh->skipped_cnt, &sh->skipped_cap))
		return -ENOMEM;
	sh->skipped[sh->skipped_cnt++] =
		(struct plan_skip){.symbol = sym->name, .object = sh->object, .reason = reason};
	return 0;
}

/* Reads the symbol's bytes into buffer `n`. Returns 0, -ENOMEM, or -ENODATA. */
static int piece_read(struct share *sh, const struct symbol *sym, size_t n,
		      struct code_piece *piece)
{
	if (sym->size > sh->bytes_cap[n]) {
		uint8_t *grown = realloc(sh->bytes[n], sym->size * 2);

		if (!grown)
			return -ENOMEM;
		sh->bytes[n] = grown;
		sh->bytes_cap[n] = sym->size * 2;
	}
	if (elf_image__read(sh->obj->img, sym->offset, sh->bytes[n], sym->size) !=
	    (int64_t)sym->size)
		return -ENODATA;
	*piece = (struct code_piece){sym->vaddr, sh->bytes[n], sym->size};
	return 0;
}

/* The first entry in `pieces` that belongs to symbol `index` or a later one. */
static size_t pieces_from(const struct share *sh, uint32_t index)
{
	size_t lo = 0, hi = sh->pieces_cnt;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (symtab__at(sh->obj->tab, sh->pieces[mid])->piece_of < index)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Reads a function with all its cold pieces. */
static int function_read(struct share *sh, uint32_t index, struct code_piece *pieces, size_t *cnt)
{
	int err = piece_read(sh, symtab__at(sh->obj->tab, index), 0, &pieces[0]);

	*cnt = 1;
	for (size_t i = pieces_from(sh, index); !err && i < sh->pieces_cnt && *cnt < MAX_PIECES;
	     i++) {
		const struct symbol *cold = symtab__at(sh->obj->tab, sh->pieces[i]);

		if (cold->piece_of != index)
			break;
		if (!cold->size || cold->size > MAX_FUNCTION_SIZE)
			continue;
		err = piece_read(sh, cold, *cnt, &pieces[*cnt]);
		++*cnt;
	}
	return err;
}

/* The best site that suits the exit strategy; NULL: there is none. */
static const struct code_site *site_choose(const struct code *code, enum exit_strategy exit)
{
	const struct code_site *fallback = NULL;

	for (uint32_t i = 0; i < code->sites_cnt; i++) {
		const struct code_site *site = &code->sites[i];

		/* The kernel takes the word at the stack pointer for the return address. */
		if (exit == EXIT_RETURN && site->delta)
			continue;
		if (site->site != SITE_STEP)
			return site;
		if (!fallback)
			fallback = site;
	}
	return fallback;
}

static int add_function(struct share *sh, const struct symbol *sym, const struct code_site *site,
			const struct exit_choice *exit)
{
	const struct code *code = &sh->code;
	struct plan_function *f;

	if (ARRAY_RESERVE(&sh->functions, sh->functions_cnt, &sh->functions_cap))
		return -ENOMEM;
	f = &sh->functions[sh->functions_cnt++];
	*f = (struct plan_function){
		.symbol = sym->name,
		.aliases = sym->aliases,
		.aliases_cnt = sym->aliases_cnt,
		.object = sh->object,
		.offset = sym->offset,
		.size = sym->size,
		.site_offset = site->offset,
		.site_delta = site->delta,
		.site = site->site,
		.exit = exit->strategy,
		.reason = exit->reason,
		.tail_jumps = code->tail_jumps,
		.loops_to_entry = code->loops_to_entry,
		.exits = sh->exits_cnt,
	};
	if (exit->strategy != EXIT_SITES)
		return 0;
	for (size_t i = 0; i < code->exits_cnt; i++) {
		const struct code_exit *e = &code->exits[i];
		uint64_t offset;

		if (!elf_image__exec_offset(sh->obj->img, e->vaddr, 1, &offset))
			continue;
		if (ARRAY_RESERVE(&sh->exits, sh->exits_cnt, &sh->exits_cap))
			return -ENOMEM;
		sh->exits[sh->exits_cnt++] = (struct plan_exit){offset, e->kind, e->cond};
		f->exits_cnt++;
	}
	return 0;
}

static uint64_t label_after(const struct symtab *tab, uint32_t index)
{
	return index + 1 < symtab__count(tab) ? symtab__at(tab, index + 1)->vaddr : UINT64_MAX;
}

static int plan_symbol(struct share *sh, uint32_t index)
{
	const struct symbol *sym = symtab__at(sh->obj->tab, index);
	struct code_piece pieces[MAX_PIECES];
	const struct code_site *site;
	struct exit_choice exit;
	const char *reason;
	enum deny_verdict deny;
	size_t cnt;
	int err;

	if (sym->kind == SYMBOL_IFUNC)
		return skip(sh, sym, "is an IFUNC resolver");
	if (!sym->size)
		return skip(sh, sym, "its size is unknown");
	if (sym->size > MAX_FUNCTION_SIZE)
		return skip(sh, sym, "is too large to be a function");
	deny = deny__verdict(sym, &reason);
	if (deny == DENY_PROBE)
		return skip(sh, sym, reason);
	err = function_read(sh, index, pieces, &cnt);
	if (err)
		return err == -ENODATA ? skip(sh, sym, "cannot be read from the file") : err;
	err = code_decode(sh->decoder, pieces, cnt, label_after(sh->obj->tab, index), &sh->code);
	if (err)
		return err;
	exit = exits__choose(sh->exit_ctx, &sh->code, deny);
	site = site_choose(&sh->code, exit.strategy);
	if (!site)
		return skip(sh, sym,
			    sh->code.bad ? sh->code.bad
					 : "no instruction in its entry block can be probed");
	return add_function(sh, sym, site, &exit);
}

static void *share_run(void *arg)
{
	struct share *sh = arg;

	sh->err = code_decoder__new(sh->opts->nop5_emulated, &sh->decoder);
	for (size_t i = 0; !sh->err && i < sh->wanted_cnt; i++)
		sh->err = plan_symbol(sh, sh->wanted[i]);
	return NULL;
}

static void share_clear(struct share *sh)
{
	for (size_t i = 0; i < MAX_PIECES; i++)
		free(sh->bytes[i]);
	free(sh->code.exits);
	free(sh->functions);
	free(sh->exits);
	free(sh->skipped);
	code_decoder__free(sh->decoder);
}

#define APPEND(plan, sh, list)                                                                \
	({                                                                                    \
		void *grown_ =                                                                \
			reallocarray((plan)->list, (plan)->list##_cnt + (sh)->list##_cnt + 1, \
				     sizeof(*(plan)->list));                                  \
		if (grown_) {                                                                 \
			(plan)->list = grown_;                                                \
			if ((sh)->list##_cnt)                                                 \
				memcpy((plan)->list + (plan)->list##_cnt, (sh)->list,         \
				       (sh)->list##_cnt * sizeof(*(plan)->list));             \
			(plan)->list##_cnt += (sh)->list##_cnt;                               \
		}                                                                             \
		grown_ ? 0 : -ENOMEM;                                                         \
	})

/* Moves what a worker has made behind what the plan has. */
static int plan_append(struct plan *p, const struct share *sh)
{
	size_t exits_base = p->exits_cnt, first = p->functions_cnt;

	if (APPEND(p, sh, exits) || APPEND(p, sh, functions) || APPEND(p, sh, skipped))
		return -ENOMEM;
	for (size_t i = first; i < p->functions_cnt; i++)
		p->functions[i].exits += exits_base;
	return 0;
}

/* Shares the wanted symbols out, waits, and collects. */
static int plan_shares(struct plan *p, const struct share *model)
{
	struct share shares[MAX_WORKERS];
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t workers = cpus < 1 ? 1 : cpus > MAX_WORKERS ? MAX_WORKERS : cpus;
	size_t done = 0, started = 0;
	int err = 0;

	if (workers > model->wanted_cnt / MIN_SHARE + 1)
		workers = model->wanted_cnt / MIN_SHARE + 1;
	for (size_t i = 0; i < workers; i++) {
		size_t end = model->wanted_cnt * (i + 1) / workers;

		shares[i] = *model;
		shares[i].wanted = model->wanted + done;
		shares[i].wanted_cnt = end - done;
		done = end;
	}
	for (; started + 1 < workers; started++) {
		if (pthread_create(&shares[started].thread, NULL, share_run, &shares[started]))
			break;
	}
	for (size_t i = started; i < workers; i++)
		share_run(&shares[i]);
	for (size_t i = 0; i < workers; i++) {
		if (i < started)
			pthread_join(shares[i].thread, NULL);
		if (!err)
			err = shares[i].err;
		if (!err)
			err = plan_append(p, &shares[i]);
		share_clear(&shares[i]);
	}
	return err;
}

static int piece_order(const void *a, const void *b, void *tab)
{
	uint32_t x = symtab__at(tab, *(const uint32_t *)a)->piece_of;
	uint32_t y = symtab__at(tab, *(const uint32_t *)b)->piece_of;

	return x < y ? -1 : x > y;
}

/* Plans the wanted functions of one loaded object. */
static int plan_object(struct plan *p, const struct filter_object *fobj, uint32_t index,
		       struct filter *filter, const struct plan_options *opts,
		       const struct exit_context *exit_ctx)
{
	const struct plan_object *obj = &p->objects[index];
	size_t cnt = symtab__count(obj->tab);
	uint32_t *wanted = calloc(cnt + 1, sizeof(*wanted));
	uint32_t *pieces = calloc(cnt + 1, sizeof(*pieces));
	struct share model = {
		.obj = obj,
		.opts = opts,
		.exit_ctx = exit_ctx,
		.object = index,
		.wanted = wanted,
		.pieces = pieces,
	};
	int err = wanted && pieces ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < cnt; i++) {
		const struct symbol *sym = symtab__at(obj->tab, i);

		if (sym->piece_of != SYMTAB_NONE)
			pieces[model.pieces_cnt++] = i;
		else if (sym->kind != SYMBOL_NOTYPE && filter__wants(filter, fobj, sym))
			wanted[model.wanted_cnt++] = i;
	}
	if (!err) {
		qsort_r(pieces, model.pieces_cnt, sizeof(*pieces), piece_order, obj->tab);
		err = plan_shares(p, &model);
	}
	free(wanted);
	free(pieces);
	return err;
}

/* Opens every object: what is not wanted may still be able to unwind. */
static int objects_open(struct plan *p, const struct target *t)
{
	p->objects = calloc(t->objects_cnt, sizeof(*p->objects));
	if (!p->objects)
		return -ENOMEM;
	p->objects_cnt = t->objects_cnt;
	for (size_t i = 0; i < t->objects_cnt; i++) {
		const struct target_object *tobj = &t->objects[i];
		struct plan_object *obj = &p->objects[i];
		int err = tobj->is_main ? elf_image__open(tobj->fd, tobj->path, &obj->img)
					: elf_image__try(tobj->fd, tobj->path, &obj->img);

		if (err && tobj->is_main)
			return err;
		if (!err)
			elf_image__soname(obj->img, obj->soname, sizeof(obj->soname));
	}
	return 0;
}

/* What everything the target maps can do to return addresses; so can a process not known yet. */
static void exit_context_make(struct plan *p, const struct target *t, struct exit_context *ctx)
{
	*ctx = (struct exit_context){.reason = "nothing mapped unwinds or switches stacks"};
	for (size_t i = 0; i < p->objects_cnt; i++) {
		const char *evidence = NULL;
		unsigned traits;

		if (!p->objects[i].img)
			continue;
		traits = traits__of(p->objects[i].img, &evidence);
		if ((traits & TRAIT_LIBC) || !(traits & EXIT_UNSAFE_TRAITS))
			continue;
		if (!ctx->traits) {
			snprintf(p->why, sizeof(p->why), "%s can unwind or switch stacks (%s)",
				 path_base(t->objects[i].path), evidence ? evidence : "?");
			ctx->reason = p->why;
		}
		ctx->traits |= traits;
	}
	if (!t->processes_cnt && !ctx->traits) {
		ctx->traits = TRAIT_UNWINDS;
		ctx->reason = "any process may map it, also one that unwinds";
	}
}

static int plan_objects(struct plan *p, const struct target *t, struct filter *filter,
			const struct plan_options *opts)
{
	struct exit_context exit_ctx;
	int err = 0;

	exit_context_make(p, t, &exit_ctx);
	for (size_t i = 0; !err && i < t->objects_cnt; i++) {
		struct plan_object *obj = &p->objects[i];
		const struct filter_object fobj = {t->objects[i].path, obj->soname,
						   t->objects[i].is_main};

		if (!obj->img || t->objects[i].barred || !filter__wants_object(filter, &fobj))
			continue;
		err = symtab__load(obj->img, t->objects[i].root, &obj->tab);
		if (!err)
			err = plan_object(p, &fobj, i, filter, opts, &exit_ctx);
	}
	if (!err && p->functions_cnt >= PLAN_MAX_FUNCTIONS) {
		log_error("%zu functions are too many; narrow the filter (-F)", p->functions_cnt);
		err = -E2BIG;
	}
	return err;
}

/* The names most like the pattern's among all functions of the loaded objects. */
static char *nearest_names(const struct plan *p, const char *pattern, char *buf, size_t size)
{
	struct nearest nearest;

	nearest__init(&nearest, pattern);
	for (size_t i = 0; i < p->objects_cnt; i++) {
		for (size_t k = 0; p->objects[i].tab && k < symtab__count(p->objects[i].tab); k++) {
			const struct symbol *sym = symtab__at(p->objects[i].tab, k);
			char *demangled = demangle(sym->name);

			if (sym->kind == SYMBOL_FUNC)
				nearest__offer(&nearest, demangled ? demangle_cut_params(demangled)
								   : sym->name);
			free(demangled);
		}
	}
	return nearest__text(&nearest, buf, size);
}

/* Patterns that match nothing are said: a misspelt one must not go unnoticed among others. */
static void report_unmatched(const struct plan *p, const struct filter *filter)
{
	enum log_level level = p->functions_cnt ? LOG_WARN : LOG_ERROR;
	char names[NEAREST_MAX * (NEAREST_NAME + 2)];
	bool loaded = false;

	for (size_t i = 0; i < p->objects_cnt; i++)
		loaded |= p->objects[i].tab != NULL;
	for (size_t i = 0; i < filter->in_cnt; i++) {
		const struct filter_pattern *pat = &filter->in[i];

		if (pat->matched)
			continue;
		if (pat->object && !loaded)
			log_at(level, "no mapped file matches '%s'; /proc/PID/maps lists them",
			       pat->object);
		else if (nearest_names(p, pat->func, names, sizeof(names))[0])
			log_at(level, "no function matches '%s'; the nearest: %s", pat->func,
			       names);
		else
			log_at(level, "no function matches '%s'; -l lists what there is",
			       pat->func);
	}
}

/* Says why nothing can be probed although every pattern matched. */
static void report_nothing(const struct plan *p, const struct target *t,
			   const struct filter *filter)
{
	size_t symbols = 0, at = 0;

	for (size_t i = 0; i < p->objects_cnt; i++) {
		symbols += p->objects[i].tab ? symtab__count(p->objects[i].tab) : 0;
		at = t->objects[i].is_main ? i : at;
	}
	if (p->skipped_cnt)
		log_error("none of the %zu matching functions can be probed; the first, %s, %s",
			  p->skipped_cnt, p->skipped[0].symbol, p->skipped[0].reason);
	else if (!symbols)
		log_error("%s has no function symbols (stripped); install its debug symbols, or "
			  "name a "
			  "library: -F 'OBJECT:*'",
			  t->objects[at].path);
	else
		log_error("no function is left to trace; see -F and -N");
}

int plan__new(const struct target *t, struct filter *filter, const struct plan_options *opts,
	      struct plan **out)
{
	struct plan *p = calloc(1, sizeof(*p));
	bool all_matched = true;
	int err;

	if (!p)
		return -ENOMEM;
	err = objects_open(p, t);
	if (!err)
		err = plan_objects(p, t, filter, opts);
	if (!err) {
		report_unmatched(p, filter);
		for (size_t i = 0; i < filter->in_cnt; i++)
			all_matched &= filter->in[i].matched;
		if (!p->functions_cnt && all_matched)
			report_nothing(p, t, filter);
		err = p->functions_cnt ? 0 : -ENOENT;
	}
	if (err) {
		plan__free(p);
		return err;
	}
	*out = p;
	return 0;
}

void plan__free(struct plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->functions_cnt; i++)
		free(p->functions[i].name);
	for (size_t i = 0; i < p->skipped_cnt; i++)
		free(p->skipped[i].name);
	for (size_t i = 0; i < p->objects_cnt; i++) {
		symtab__free(p->objects[i].tab);
		elf_image__free(p->objects[i].img);
	}
	free(p->functions);
	free(p->exits);
	free(p->skipped);
	free(p->objects);
	free(p);
}
