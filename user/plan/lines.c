// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A line is counted only if each of its segments is seen; else its count would be too low, so it
 * gets a reason instead. A segment that cannot be probed does more: to whoever counts, the line
 * before goes on in it. That costs this line time, which is an instruction's; but if control may
 * come back to it from there, a run is missed, so it gets a reason, too.
 */
#include "plan/lines.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "plan/insn.h"
#include "plan/line_doubts.h"
#include "plan/line_keys.h"
#include "plan/line_runs.h"
#include "plan/line_spec.h"
#include "plan/object.h"
#include "plan/pads.h"
#include "plan/pieces.h"
#include "plan/plan.h"
#include "plan/returning.h"
#include "plan/segments.h"
#include "symbol/counters.h"
#include "symbol/demangle.h"
#include "symbol/elf_image.h"
#include "symbol/line_table.h"
#include "symbol/linkage.h"
#include "symbol/symtab.h"
#include "util/array.h"
#include "util/log.h"

#define MAX_CODE   (4u << 20) /* bytes of a function */
#define MAX_LABELS 4096	      /* symbols within a function */
#define MAX_SITES  (1u << 20)
#define MAX_STEPS  (1u << 24)  /* from segment to segment, in one function */
#define MAX_TABLES (64u << 20) /* bytes of exception tables of an object */

static const char uncertain[] = "its function has a jump that may lead anywhere in it";
static const char too_large[] = "its function is too large";
static const char no_site[] = "some of its code cannot be probed";
static const char before_entry[] = "runs before the place where its function is probed";
static const char not_reached[] = "no way is seen to lead to its code";
static const char comes_back[] = "goes on behind code that cannot be probed";

/* What is decided of a key. */
struct choice {
	const char *reason;
	bool wanted;
	uint32_t line; /* in plan.lines + 1; 0: not there yet */
};

struct planner {
	struct plan *p;
	struct plan_lines *out;
	const struct plan_object *obj;
	const struct filter_object *fobj;
	struct line_specs *specs;
	struct line_table *table;
	struct counters *counters; /* NULL: none */
	struct linkage *linkage;
	struct cold_pieces cold;
	struct piece_bytes bytes;
	struct pads pads;
	uint64_t tables; /* bytes of exception tables that may still be read */
	struct code code;
	struct code_decoder *decoder;
	struct insn_decoder *insn;
	/* The function that is planned. */
	uint32_t function;
	struct code_piece pieces[CODE_MAX_PIECES];
	size_t pieces_cnt;
	struct line_keys keys;
	struct choice *choices; /* by key; [0] is no line's */
	size_t choices_cap;
	struct segments segs;
	uint32_t entry;	  /* segment that the function's entry stands for + 1; 0: none */
	uint8_t *fences;  /* by segment: it is to be probed though its line is not wanted */
	uint32_t *stamps; /* by segment: the walk that it was seen by */
	uint8_t *behind;  /* by segment: there is a way to it through what cannot be probed */
	uint32_t *stack;
	const char **doubts; /* by key */
	size_t doubts_cap;
	uint64_t *returning; /* where calls end that do not end a basic block */
	size_t returning_cnt, returning_cap;
	size_t segs_cap[4], stack_cnt;
	uint32_t steps;
	uint32_t *inlines; /* by inlined call of the function: in plan.inlines + 1 */
	size_t inlines_cap;
};

static int order(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The one copy of such a string; takes the string. NULL: no memory. */
static const char *intern(struct plan_lines *l, char *text)
{
	char **node = text ? tsearch(text, &l->strings, order) : NULL;

	if (!node || *node != text)
		free(text);
	return node ? *node : NULL;
}

void plan_lines__free(struct plan_lines *l)
{
	if (!l)
		return;
	tdestroy(l->strings, free);
	free(l->lines);
	free(l->sites);
	free(l->inlines);
	free(l);
}

/* A read_object for jump tables, as in object.c. */
static bool read_object(void *ctx, uint64_t vaddr, void *buf, size_t len)
{
	const struct planner *pl = ctx;

	return elf_image__read_vaddr(pl->obj->img, vaddr, buf, len);
}

/* Puts the inlined call, and those around it, into the plan. *out is its index + 1. */
static int put_inline(struct planner *pl, uint32_t number, uint32_t *out)
{
	const struct line_inline *call = &pl->keys.inlines.items[number - 1];
	struct plan_inline *in;
	uint32_t parent = 0;
	char *name;
	int err;

	*out = pl->inlines[number - 1];
	if (*out)
		return 0;
	/* Calls around it have lower numbers. */
	err = call->parent ? put_inline(pl, call->parent, &parent) : 0;
	if (err)
		return err;
	if (ARRAY_RESERVE(&pl->out->inlines, pl->out->inlines_cnt, &pl->out->inlines_cap))
		return -ENOMEM;
	name = demangle(call->name);
	in = &pl->out->inlines[pl->out->inlines_cnt];
	*in = (struct plan_inline){
		.name = intern(pl->out, name ? name : strdup(call->name)),
		.file = call->file ? intern(pl->out, strdup(call->file)) : NULL,
		.line = call->file ? call->line : 0,
		.parent = parent,
	};
	if (!in->name || (call->file && !in->file))
		return -ENOMEM;
	*out = pl->inlines[number - 1] = ++pl->out->inlines_cnt;
	return 0;
}

/* Puts the line of a key into the plan. */
static int put_line(struct planner *pl, uint32_t key)
{
	const struct line_key *k = &pl->keys.items[key - 1];
	struct choice *c = &pl->choices[key];
	uint32_t inlined = 0;
	const char *file;
	int err;

	if (c->line)
		return 0;
	err = k->inlined ? put_inline(pl, k->inlined, &inlined) : 0;
	if (err)
		return err;
	file = intern(pl->out, strdup(k->file));
	if (!file || ARRAY_RESERVE(&pl->out->lines, pl->out->lines_cnt, &pl->out->lines_cap))
		return -ENOMEM;
	pl->out->lines[pl->out->lines_cnt++] = (struct plan_line){
		.file = file,
		.line = k->line,
		.function = pl->function,
		.inlined = inlined,
		.reason = c->reason,
	};
	c->line = pl->out->lines_cnt;
	return 0;
}

/* Says `reason` of all that is wanted. */
static void refuse_all(struct planner *pl, const char *reason)
{
	for (size_t i = 1; i <= pl->keys.cnt; i++) {
		if (pl->choices[i].wanted)
			pl->choices[i].reason = reason;
	}
}

/* Symbols within the function: other code may jump there. */
static size_t find_labels(const struct planner *pl, uint64_t *labels)
{
	const struct plan_function *f = &pl->p->functions[pl->function];
	const struct symtab *tab = pl->obj->tab;
	uint64_t end = pl->pieces[0].vaddr + pl->pieces[0].size;
	size_t cnt = 0;

	for (size_t i = f->symbol_index + 1; i < symtab__count(tab) && cnt < MAX_LABELS; i++) {
		if (symtab__at(tab, i)->vaddr >= end)
			break;
		labels[cnt++] = symtab__at(tab, i)->vaddr;
	}
	return cnt;
}

/* Whether the segment's line is wanted and can be counted, so far. */
static bool counts(const struct planner *pl, uint32_t seg)
{
	const struct choice *c = &pl->choices[pl->segs.items[seg].key];

	return c->wanted && !c->reason;
}

/* A Go function whose stack is too small begins anew, and is not counted as called before: what
 * runs then is none of its lines'. */
static void hide_beginnings(struct planner *pl)
{
	struct segment *segs = pl->segs.items;
	uint64_t from = 0;
	size_t begin = 0;

	if (!pl->p->functions[pl->function].begins_anew)
		return;
	/* It is in one place only, or it would not be known as such. */
	for (size_t k = 0; k < pl->segs.edges_cnt; k++) {
		if (pl->segs.edges[k].to == pl->pieces[0].vaddr)
			from = pl->segs.edges[k].from;
	}
	for (size_t i = 0; from && i < pl->segs.cnt; i++) {
		begin = segs[i].begins_block ? i : begin;
		if (segs[i].last != from)
			continue;
		for (size_t n = begin; n <= i; n++)
			segs[n].key = 0;
	}
}

/* Lets the function's entry stand for the line that it lies in. */
static void choose_entry(struct planner *pl)
{
	const struct plan_function *f = &pl->p->functions[pl->function];
	uint64_t at = pl->pieces[0].vaddr + f->site_offset;
	const struct segment *segs = pl->segs.items;
	uint32_t last = 0;

	pl->entry = 0;
	for (uint32_t i = 0; i < pl->segs.cnt && segs[i].vaddr <= at; i++) {
		if (i && segs[i].begins_block)
			break;
		if (segs[i].key)
			last = i + 1;
	}
	if (!last)
		return;
	/* Of a line that goes on there no run is missed. */
	for (uint32_t i = 0; i + 1 < last; i++) {
		struct choice *c = &pl->choices[segs[i].key];

		if (segs[i].key && segs[i].key != segs[last - 1].key)
			c->reason = c->reason ?: before_entry;
	}
	pl->entry = last;
	pl->segs.items[last - 1].site = at;
	pl->segs.items[last - 1].class = f->site;
	/* Each call passes a branch that counts when it is not taken, and only once; but if control
	 * comes back to where the function begins, its entry is no entry any more. */
	if (!pl->code.loops_to_entry || f->begins_anew)
		return;
	pl->segs.items[last - 1].site = 0;
	for (size_t i = 0; i < pl->segs.cnt; i++)
		pl->segs.items[i].needless = false;
}

/* Whether what counts knows nothing of the segment, so that the line before goes on in it. */
static bool is_passed(const struct planner *pl, uint32_t seg)
{
	const struct segment *s = &pl->segs.items[seg];

	return !s->key || !s->site || (pl->entry && seg + 1 < pl->entry);
}

struct walk {
	struct planner *pl;
	uint32_t from; /* segment */
	bool behind;   /* something was passed that is of a line */
	bool found;    /* a way back */
};

static void walk_to(void *ctx, uint32_t to)
{
	struct walk *w = ctx;
	struct planner *pl = w->pl;

	pl->steps++;
	if (pl->stamps[to] == w->from + 1 && pl->behind[to] >= w->behind)
		return;
	pl->stamps[to] = w->from + 1;
	pl->behind[to] = w->behind;
	if (is_passed(pl, to)) {
		pl->stack[pl->stack_cnt++] = to;
		return;
	}
	if (!counts(pl, to))
		pl->fences[to] = 1;
	else if (w->behind && pl->segs.items[to].key == pl->segs.items[w->from].key)
		w->found = true;
}

/* Looks at all that may come directly behind a segment. Each is put on the stack twice at most. */
static bool walk_from(struct planner *pl, uint32_t seg)
{
	struct walk w = {.pl = pl, .from = seg};

	pl->stack_cnt = 0;
	segments__successors(&pl->segs, seg, walk_to, &w);
	while (pl->stack_cnt && pl->steps < MAX_STEPS) {
		uint32_t at = pl->stack[--pl->stack_cnt];

		w.behind = pl->behind[at] || pl->segs.items[at].key;
		segments__successors(&pl->segs, at, walk_to, &w);
	}
	return w.found;
}

/* Finds the fences. Returns whether none of the lines had to be given a reason for what lies
 * between its segments: then it is a fence itself, perhaps. */
static bool look_behind(struct planner *pl)
{
	bool done = true;

	memset(pl->fences, 0, pl->segs.cnt);
	memset(pl->stamps, 0, pl->segs.cnt * sizeof(*pl->stamps));
	for (uint32_t i = 0; i < pl->segs.cnt && pl->steps < MAX_STEPS; i++) {
		if (is_passed(pl, i) || !counts(pl, i) || !walk_from(pl, i))
			continue;
		pl->choices[pl->segs.items[i].key].reason = comes_back;
		done = false;
	}
	return done;
}

static int reserve_segments(struct planner *pl)
{
	size_t cnt = pl->segs.cnt + 1;

	return ARRAY_RESERVE_MORE(&pl->fences, 0, cnt, &pl->segs_cap[0]) ||
			       ARRAY_RESERVE_MORE(&pl->stamps, 0, cnt, &pl->segs_cap[1]) ||
			       ARRAY_RESERVE_MORE(&pl->behind, 0, cnt, &pl->segs_cap[2]) ||
			       ARRAY_RESERVE_MORE(&pl->stack, 0, 2 * cnt, &pl->segs_cap[3])
		       ? -ENOMEM
		       : 0;
}

/* Decides which lines can be counted. */
static void judge(struct planner *pl)
{
	for (size_t i = 1; i <= pl->keys.cnt; i++) {
		pl->choices[i].reason = pl->keys.items[i - 1].reached ? pl->doubts[i] : not_reached;
	}
	hide_beginnings(pl);
	choose_entry(pl);
	for (uint32_t i = 0; i < pl->segs.cnt; i++) {
		const struct segment *s = &pl->segs.items[i];
		struct choice *c = &pl->choices[s->key];

		/* One that is no new run has nothing to be counted. */
		if (s->key && !s->site && !s->repeats)
			c->reason = c->reason ?: no_site;
	}
	pl->steps = 0;
	while (!look_behind(pl) && pl->steps < MAX_STEPS)
		;
	if (pl->steps >= MAX_STEPS)
		refuse_all(pl, too_large);
}

/* The number of a key's line, if that counts; else 0. */
static uint32_t line_of(const struct planner *pl, uint32_t key)
{
	const struct choice *c = &pl->choices[key];

	return key && c->wanted && !c->reason ? c->line : 0;
}

static int put_site(struct planner *pl, uint32_t seg)
{
	const struct segment *s = &pl->segs.items[seg];
	bool wanted = counts(pl, seg), at_entry = pl->entry == seg + 1;
	struct plan_line_site site = {
		.function = pl->function,
		.line = wanted ? pl->choices[s->key].line : 0,
		.site = s->class,
		.repeats = s->repeats && !at_entry,
		.twice = s->twice,
		.cycles = s->cycles,
		.goes_on_as = line_of(pl, s->goes_on_as),
		.at_entry = at_entry,
		.on_exit = s->on_exit && !at_entry,
	};

	/* A call that begins in a line that is not wanted is in no line yet. */
	if (is_passed(pl, seg) || (s->needless && !at_entry) ||
	    (!wanted && (at_entry || !pl->fences[seg])) ||
	    !elf_image__exec_offset(pl->obj->img, s->site, 1, &site.offset))
		return 0;
	if (pl->out->sites_cnt == MAX_SITES) {
		log_error("more than %u places are to be probed for lines; ask for fewer (--lines)",
			  MAX_SITES);
		return -E2BIG;
	}
	if (ARRAY_RESERVE(&pl->out->sites, pl->out->sites_cnt, &pl->out->sites_cap))
		return -ENOMEM;
	pl->out->sites[pl->out->sites_cnt++] = site;
	return 0;
}

/* Puts what was decided into the plan. */
static int put_all(struct planner *pl)
{
	int err = 0;

	for (uint32_t i = 1; !err && i <= pl->keys.cnt; i++) {
		if (pl->choices[i].wanted)
			err = put_line(pl, i);
	}
	for (uint32_t i = 0; !err && i < pl->segs.cnt; i++)
		err = put_site(pl, i);
	return err;
}

/* Which of the function's lines are wanted. */
static int choose_lines(struct planner *pl, const struct symbol *sym)
{
	bool all = line_specs__name_function(pl->specs, pl->fobj, sym);

	if (ARRAY_RESERVE_MORE(&pl->choices, 1, pl->keys.cnt, &pl->choices_cap) ||
	    ARRAY_RESERVE_MORE(&pl->inlines, 1, pl->keys.inlines.cnt, &pl->inlines_cap))
		return -ENOMEM;
	memset(pl->choices, 0, (pl->keys.cnt + 1) * sizeof(*pl->choices));
	memset(pl->inlines, 0, pl->keys.inlines.cnt * sizeof(*pl->inlines));
	for (size_t i = 1; i <= pl->keys.cnt; i++) {
		const struct line_key *k = &pl->keys.items[i - 1];

		pl->choices[i].wanted = line_specs__name_line(pl->specs, k->file, k->line) || all;
	}
	if (all && pl->keys.cnt)
		line_specs__note_function(pl->specs, pl->fobj, sym);
	return 0;
}

/* The pointer that the code at `vaddr` jumps through, as an import's stub does; 0: it is no stub.
 */
static uint64_t stub_slot(const struct planner *pl, uint64_t vaddr)
{
	uint8_t bytes[16];
	struct insn in;
	size_t at = 0;

	if (!elf_image__read_vaddr(pl->obj->img, vaddr, bytes, sizeof(bytes)) ||
	    !insn_decode(pl->insn, bytes, sizeof(bytes), &in))
		return 0;
	if (in.endbr) {
		at = in.length;
		if (!insn_decode(pl->insn, bytes + at, sizeof(bytes) - at, &in))
			return 0;
	}
	return in.flow == FLOW_JMP_TAIL && in.by_slot ? vaddr + at + in.length + in.slot : 0;
}

/* The name of what is called, if it is another object's. */
static const char *callee_of(const struct planner *pl, const struct code_call *call)
{
	uint64_t slot = call->target;

	if (call->kind == CODE_CALL_UNKNOWN)
		return NULL;
	if (call->kind == CODE_CALL_DIRECT)
		slot = stub_slot(pl, call->target);
	return slot ? linkage__import(pl->linkage, slot) : NULL;
}

static int address_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int find_returning(struct planner *pl)
{
	pl->returning_cnt = 0;
	for (size_t i = 0; i < pl->code.calls_cnt; i++) {
		const char *name = callee_of(pl, &pl->code.calls[i]);

		if (!name || !returning__knows(name))
			continue;
		if (ARRAY_RESERVE(&pl->returning, pl->returning_cnt, &pl->returning_cap))
			return -ENOMEM;
		pl->returning[pl->returning_cnt++] = pl->code.calls[i].end;
	}
	if (pl->returning_cnt)
		qsort(pl->returning, pl->returning_cnt, sizeof(*pl->returning), address_order);
	return 0;
}

static int find_doubts(struct planner *pl)
{
	if (ARRAY_RESERVE_MORE(&pl->doubts, 1, pl->keys.cnt, &pl->doubts_cap))
		return -ENOMEM;
	memset(pl->doubts, 0, (pl->keys.cnt + 1) * sizeof(*pl->doubts));
	return line_doubts__find(&pl->segs, &pl->keys, pl->doubts);
}

/* Cuts the function into segments; without any if that cannot be done for sure. */
static int make_segments(struct planner *pl)
{
	uint64_t *labels = malloc(MAX_LABELS * sizeof(*labels));
	struct segments_input in = {
		.pieces = pl->pieces,
		.pieces_cnt = pl->pieces_cnt,
		.flow = code_decoder__flow(pl->decoder),
		.labels = labels,
		.keys = pl->keys.by_byte,
		.keys_cnt = pl->keys.cnt,
		.returning = pl->returning,
		.returning_cnt = pl->returning_cnt,
		.insn = pl->insn,
	};
	int err = 0;

	if (!labels)
		return -ENOMEM;
	in.labels_cnt = find_labels(pl, labels);
	if (!in.flow.certain || pl->pads.outside || in.labels_cnt == MAX_LABELS) {
		refuse_all(pl, uncertain);
	} else {
		err = segments__build(&in, &pl->segs);
		if (!err)
			err = line_runs__mark(&pl->segs, pl->keys.items, pl->keys.cnt);
		if (!err)
			err = find_doubts(pl);
		if (!err)
			err = reserve_segments(pl);
		if (!err)
			judge(pl);
	}
	free(labels);
	return err;
}

static size_t size_of_pieces(const struct planner *pl)
{
	size_t size = 0;

	for (size_t i = 0; i < pl->pieces_cnt; i++)
		size += pl->pieces[i].size;
	return size;
}

/* What gcc adds to have gcov's counters registered and written; it is on the line that ends the
 * file's last function. */
static bool is_for_counters(const struct planner *pl, const struct symbol *sym)
{
	return pl->counters &&
	       (!strncmp(sym->name, "_sub_I_", 7) || !strncmp(sym->name, "_sub_D_", 7));
}

static int plan_function(struct planner *pl, uint32_t index)
{
	const struct plan_function *f = &pl->p->functions[index];
	const struct symbol *sym = symtab__at(pl->obj->tab, f->symbol_index);
	int err;

	if (is_for_counters(pl, sym))
		return 0;
	pl->function = index;
	err = pieces__read(pl->obj, &pl->cold, f->symbol_index, &pl->bytes, pl->pieces,
			   &pl->pieces_cnt);
	if (err)
		return err == -ENODATA ? 0 : err;
	if (size_of_pieces(pl) > MAX_CODE) {
		log_warn("--lines: %s is too large", plan__name(&pl->p->functions[index]));
		return 0;
	}
	err = pads__read(&pl->pads, pl->obj->img, pl->obj->eh, NULL, &pl->tables, pl->pieces,
			 pl->pieces_cnt);
	if (!err)
		err = code_decode(pl->decoder, pl->pieces, pl->pieces_cnt, UINT64_MAX, &pl->code);
	if (!err)
		err = line_keys__find(&pl->keys, pl->table, pl->pieces, pl->pieces_cnt,
				      code_decoder__flow(pl->decoder).reached);
	if (!err)
		err = choose_lines(pl, sym);
	if (!err)
		err = find_returning(pl);
	if (!err)
		err = make_segments(pl);
	if (!err)
		err = put_all(pl);
	segments__clear(&pl->segs);
	return err;
}

static void planner_clear(struct planner *pl)
{
	cold_pieces__clear(&pl->cold);
	piece_bytes__clear(&pl->bytes);
	pads__clear(&pl->pads);
	code_clear(&pl->code);
	code_decoder__free(pl->decoder);
	insn_decoder__free(pl->insn);
	line_keys__clear(&pl->keys);
	counters__free(pl->counters);
	free(pl->choices);
	free(pl->inlines);
	free(pl->fences);
	free(pl->stamps);
	free(pl->behind);
	free(pl->stack);
	free(pl->doubts);
	free(pl->returning);
	linkage__free(pl->linkage);
}

int plan_lines__plan(struct plan *p, uint32_t index, const struct filter_object *fobj, size_t first,
		     const struct plan_options *opts)
{
	struct plan_object *obj = &p->objects[index];
	struct planner pl = {
		.p = p,
		.out = p->lines,
		.obj = obj,
		.fobj = fobj,
		.specs = opts->lines,
		.table = obj->lines.table,
		.tables = MAX_TABLES,
	};
	int err;

	if (!obj->lines.table)
		return 0;
	err = plan_object__load_eh_frame(obj);
	if (!err)
		err = cold_pieces__init(&pl.cold, obj->tab);
	if (!err)
		err = code_decoder__new(opts->nop5_emulated, read_object, &pl, &pl.decoder);
	if (!err)
		err = insn_decoder__new(opts->nop5_emulated, &pl.insn);
	if (!err)
		err = counters__load(obj->img, &pl.counters);
	if (!err)
		err = linkage__load(obj->img, &pl.linkage);
	pl.keys.counters = pl.counters;
	pl.keys.insn = pl.insn;
	if (!err)
		code_decoder__note_edges(pl.decoder);
	for (size_t i = first; !err && i < p->functions_cnt; i++) {
		if (p->functions[i].object == index && p->functions[i].has_lines)
			err = plan_function(&pl, i);
	}
	planner_clear(&pl);
	return err;
}
