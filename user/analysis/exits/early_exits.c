// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Backwards from each `ret`: an instruction is *final* if it does nothing but compute and go on to
 * final instructions, so that only a few are left before the function returns, whichever way. On
 * the way from one that is not final to a final one a function has done its work. There, or later,
 * its exit can be seen: at the branch that leads over, under its condition; or at the first final
 * instruction that the kernel emulates. A `ret` is seen early if that is so for all ways to it.
 *
 * The slot is told from the code between: backwards from the `ret`, where the stack pointer is at
 * it; or above the frame pointer, before a `leave`.
 */
#include "exits/early_exits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/insn.h"
#include "code/loops.h"
#include "util/array.h"
#include "util/search.h"

#define MAX_FINAL    24	 /* instructions before the return: some ns */
#define MAX_NODES    512 /* instructions that are looked at in a function */
#define MAX_EDGES    (1u << 14)
#define MAX_BRANCHES 6 /* that a `ret` may take: each is hit in most calls, mostly in vain */
#define MAX_INSN     15
#define NONE	     UINT32_MAX
#define INDEX	     1024 /* a power of two, twice MAX_NODES */

enum { LOOPS_MAYBE = 1, LOOPS_NEVER };

/* An instruction before a `ret`. */
struct node {
	uint64_t vaddr;
	uint64_t next[2]; /* where it goes on */
	uint8_t nexts;
	uint8_t depth; /* instructions up to the return, at most; final: it is known */
	bool final;
	bool ret;
	bool place_known; /* it is known where the slot is before it: see `up` */
	bool by_fp;	  /* the slot is found by the frame pointer, not by the stack pointer */
	int32_t up;	  /* bytes from that pointer up to the slot */
	bool covered;	  /* all ways to it have passed an exit */
	bool site;	  /* it is an exit itself */
	bool needed;	  /* some early `ret` relies on what covers it */
	bool early;	  /* it stands for a group whose `ret`s have been replaced */
	uint32_t group;	  /* final: a node on a way to the same `ret`s; itself: it stands for all */
	bool entry;	  /* in the entry block */
	uint8_t loops;	  /* LOOPS_*, once it has been asked for */
	struct insn insn;
};

struct early_exits {
	struct insn_decoder *insn;
	struct node *nodes;
	size_t nodes_cnt, nodes_cap;
	uint32_t index[INDEX]; /* of nodes by vaddr: number + 1 */
	uint32_t *order;       /* final nodes; in the end the farthest from the return first */
	size_t order_cnt, order_cap;
	struct code_edge *edges; /* by `to` */
	size_t edges_cnt, edges_cap;
	struct loops *loop;
	struct code_exit *made; /* exits found */
	size_t made_cnt, made_cap;
	/* of the function at hand */
	const struct code_piece *pieces;
	size_t pieces_cnt;
	const struct code_flow *flow;
	const struct code *code;
};

int early_exits__new(struct insn_decoder *insn, struct early_exits **out)
{
	struct early_exits *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	if (loops__new(&e->loop)) {
		free(e);
		return -ENOMEM;
	}
	e->insn = insn;
	*out = e;
	return 0;
}

void early_exits__free(struct early_exits *e)
{
	if (!e)
		return;
	free(e->nodes);
	free(e->order);
	free(e->edges);
	loops__free(e->loop);
	free(e->made);
	free(e);
}

/* The piece that holds `vaddr`, or NULL; *reached is what the flow says from its start on. */
static const struct code_piece *piece_of(const struct early_exits *e, uint64_t vaddr,
					 const uint8_t **reached)
{
	*reached = e->flow->reached;
	for (size_t i = 0; i < e->pieces_cnt; i++) {
		if (vaddr - e->pieces[i].vaddr < e->pieces[i].size)
			return &e->pieces[i];
		*reached += e->pieces[i].size;
	}
	return NULL;
}

/* The place of `vaddr` in the index, or the free one where it belongs. */
static uint32_t *index_at(struct early_exits *e, uint64_t vaddr)
{
	uint32_t at = vaddr * 0x9e3779b1u % INDEX;

	while (e->index[at] && e->nodes[e->index[at] - 1].vaddr != vaddr)
		at = (at + 1) % INDEX;
	return &e->index[at];
}

/* The node of the instruction at `vaddr`; NULL: it has not been looked at. Valid until the next one
 * is made. */
static struct node *find_node(struct early_exits *e, uint64_t vaddr)
{
	uint32_t number = *index_at(e, vaddr);

	return number ? &e->nodes[number - 1] : NULL;
}

static bool in_entry_block(const struct code *code, uint64_t start, uint64_t vaddr)
{
	for (uint32_t i = 0; i < code->sites_cnt; i++) {
		if (start + code->sites[i].offset == vaddr)
			return true;
	}
	return false;
}

/* Has the instruction at `vaddr` decoded, if it has no node yet. Returns 0, -ENODATA if it cannot
 * be, -E2BIG if there are too many, or -ENOMEM. */
static int take_node(struct early_exits *e, uint64_t vaddr)
{
	const struct code_piece *piece;
	const uint8_t *reached;
	struct node *n;
	uint32_t offset;

	if (find_node(e, vaddr))
		return 0;
	piece = piece_of(e, vaddr, &reached);
	if (!piece)
		return -ENODATA;
	if (e->nodes_cnt == MAX_NODES)
		return -E2BIG;
	if (ARRAY_RESERVE(&e->nodes, e->nodes_cnt, &e->nodes_cap))
		return -ENOMEM;
	n = &e->nodes[e->nodes_cnt];
	*n = (struct node){.vaddr = vaddr, .group = e->nodes_cnt};
	offset = vaddr - piece->vaddr;
	if (!insn_decode(e->insn, piece->bytes + offset, piece->size - offset, &n->insn))
		return -ENODATA;
	n->entry = in_entry_block(e->code, e->pieces[0].vaddr, vaddr);
	if (n->insn.flow == FLOW_NEXT || n->insn.flow == FLOW_JCC)
		n->next[n->nexts++] = vaddr + n->insn.length;
	if (n->insn.flow == FLOW_JMP || n->insn.flow == FLOW_JCC)
		n->next[n->nexts++] = vaddr + n->insn.length + n->insn.rel;
	e->nodes_cnt++;
	*index_at(e, vaddr) = e->nodes_cnt;
	return 0;
}

/* Whether code goes on right behind the instruction. */
static bool runs_on(const struct insn *in)
{
	return in->flow == FLOW_NEXT || in->flow == FLOW_JCC || in->flow == FLOW_CALL;
}

/* Whether control may come to `vaddr` from where no edge tells of: the entry, a landing pad, or
 * what lies before the piece. */
static bool comes_from_nowhere(const struct early_exits *e, uint64_t vaddr)
{
	for (size_t i = 0; i < e->pieces_cnt; i++) {
		const struct code_piece *piece = &e->pieces[i];

		if (vaddr == piece->vaddr)
			return true;
		for (size_t k = 0; k < piece->pads_cnt; k++) {
			if (piece->pads[k] == vaddr)
				return true;
		}
	}
	return false;
}

/* Calls `use` with nodes for each instruction that may run right before that at `vaddr`, until it
 * returns nonzero; twice, perhaps. Returns that, 0, -ENODATA if one cannot be decoded, -E2BIG or
 * -ENOMEM. */
static int for_each_before(struct early_exits *e, uint64_t vaddr,
			   int (*use)(struct early_exits *e, struct node *before, struct node *n))
{
	const uint8_t *reached;
	const struct code_piece *piece = piece_of(e, vaddr, &reached);
	uint32_t offset = vaddr - piece->vaddr;
	int err = 0;

	for (uint32_t back = 1; !err && back <= MAX_INSN && back <= offset; back++) {
		if (reached[offset - back] != back)
			continue;
		err = take_node(e, vaddr - back);
		if (!err && runs_on(&find_node(e, vaddr - back)->insn))
			err = use(e, find_node(e, vaddr - back), find_node(e, vaddr));
	}
	for (size_t i = LOWER_BOUND(e->edges_cnt, i, e->edges[i].to < vaddr);
	     !err && i < e->edges_cnt && e->edges[i].to == vaddr; i++) {
		err = take_node(e, e->edges[i].from);
		if (!err)
			err = use(e, find_node(e, e->edges[i].from), find_node(e, vaddr));
	}
	return err;
}

/* Whether nothing but the return is left behind an instruction, if that is so behind what comes
 * next. */
static bool may_be_final(const struct insn *in)
{
	if (in->system_call || in->dear || in->stack == STACK_UNKNOWN)
		return false;
	return in->flow == FLOW_NEXT || in->flow == FLOW_JMP || in->flow == FLOW_JCC;
}

/* Finds the slot's place before an instruction, from its place behind the instruction. */
static void place_before(struct node *n, const struct node *next)
{
	int64_t up = next->up;

	n->place_known = false;
	if (!next->place_known)
		return;
	n->by_fp = next->by_fp;
	if (n->insn.is_leave && !next->by_fp) {
		n->by_fp = true;
		up += 8;
	} else if (n->by_fp) {
		if (!n->insn.keeps_bp)
			return;
	} else if (n->insn.stack == STACK_MOVES) {
		up -= n->insn.down;
	} else {
		return;
	}
	if (up < 0 || up > UINT16_MAX)
		return;
	n->up = up;
	n->place_known = true;
}

/* Node `n` and those that come next lead to the same `ret`s. */
static void join_groups(struct early_exits *e, uint32_t a, uint32_t b)
{
	while (e->nodes[a].group != a)
		a = e->nodes[a].group;
	while (e->nodes[b].group != b)
		b = e->nodes[b].group;
	e->nodes[a].group = b;
}

static uint32_t group_of(const struct early_exits *e, const struct node *n)
{
	uint32_t at = n - e->nodes;

	while (e->nodes[at].group != at)
		at = e->nodes[at].group;
	return at;
}

/* for_each_before(): makes the one before final, if all that comes behind it is. */
static int become_final(struct early_exits *e, struct node *n,
			__attribute__((unused)) struct node *final)
{
	const struct node *next[2] = {NULL};
	unsigned depth = 0;

	if (n->final || !n->nexts || !may_be_final(&n->insn))
		return 0;
	for (int i = 0; i < n->nexts; i++) {
		next[i] = find_node(e, n->next[i]);
		if (!next[i] || !next[i]->final)
			return 0;
		depth = next[i]->depth > depth ? next[i]->depth : depth;
	}
	if (depth >= MAX_FINAL)
		return 0;
	n->final = true;
	n->depth = depth + 1;
	place_before(n, next[0]);
	if (next[1] && n->place_known) {
		struct node other = *n;

		place_before(&other, next[1]);
		n->place_known = other.place_known && other.by_fp == n->by_fp && other.up == n->up;
	}
	for (int i = 0; i < n->nexts; i++)
		join_groups(e, n - e->nodes, next[i] - e->nodes);
	if (ARRAY_RESERVE(&e->order, e->order_cnt, &e->order_cap))
		return -ENOMEM;
	e->order[e->order_cnt++] = n - e->nodes;
	return 0;
}

/* Finds all final instructions and those before them. */
static int spread(struct early_exits *e)
{
	int err = 0;

	for (size_t i = 0; !err && i < e->order_cnt; i++)
		err = for_each_before(e, e->nodes[e->order[i]].vaddr, become_final);
	return err;
}

/* Whether a branch may be passed more than once in a call: it would be hit in vain each round. */
static bool may_loop(struct early_exits *e, struct node *n)
{
	if (!n->loops)
		n->loops = loops__may_hold(e->loop, n->vaddr) ? LOOPS_MAYBE : LOOPS_NEVER;
	return n->loops == LOOPS_MAYBE;
}

static bool is_emulated(const struct insn *in)
{
	if (!in->probeable || in->may_become_call)
		return false;
	return in->site == SITE_NOP || in->site == SITE_PUSH || in->site == SITE_JMP ||
	       (in->site == SITE_JCC && in->is_jcc_opcode);
}

/* Whether the instruction at node `from`, which is not final, can be probed as the exit that leads
 * to `to`. */
static bool leads_over(struct early_exits *e, struct node *from, const struct node *to)
{
	const struct insn *in = &from->insn;
	const struct node *other;

	if (!to->place_known || !is_emulated(in) || may_loop(e, from))
		return false;
	if (in->flow == FLOW_JMP)
		return true;
	if (in->flow != FLOW_JCC || from->next[0] == from->next[1])
		return false;
	other = find_node(e, from->next[from->next[0] == to->vaddr]);
	return !other || !other->final;
}

/* for_each_before(): 1 if that way passes no exit. */
static int way_is_open(struct early_exits *e, struct node *from, struct node *to)
{
	if (from->final)
		return !(from->covered || from->site);
	return !leads_over(e, from, to);
}

static int compare_depths(const void *a, const void *b, void *ctx)
{
	const struct node *nodes = ctx;
	int x = nodes[*(const uint32_t *)a].depth, y = nodes[*(const uint32_t *)b].depth;

	return y - x;
}

/* Finds out, from the farthest on, which final instructions no call comes to unseen. */
static int cover(struct early_exits *e)
{
	qsort_r(e->order, e->order_cnt, sizeof(*e->order), compare_depths, e->nodes);
	for (size_t i = 0; i < e->order_cnt; i++) {
		struct node *n = &e->nodes[e->order[i]];
		int open = comes_from_nowhere(e, n->vaddr) ||
			   for_each_before(e, n->vaddr, way_is_open);

		if (open < 0)
			return open;
		n->covered = !open;
		n->site = open && !n->ret && !n->entry && n->place_known && is_emulated(&n->insn);
	}
	return 0;
}

static int add_exit(struct early_exits *e, const struct node *at, const struct node *place,
		    uint8_t kind, uint8_t cond)
{
	for (size_t i = 0; i < e->made_cnt; i++) {
		if (e->made[i].vaddr == at->vaddr)
			return 0;
	}
	if (ARRAY_RESERVE(&e->made, e->made_cnt, &e->made_cap))
		return -ENOMEM;
	e->made[e->made_cnt++] = (struct code_exit){
		.vaddr = at->vaddr,
		.kind = kind,
		.cond = cond,
		.early = true,
		.by_frame_pointer = place->by_fp,
		.up = place->up,
	};
	return 0;
}

/* for_each_before(): adds the exit on that way, or goes on looking for it before that. */
static int use_way(struct early_exits *e, struct node *from, struct node *to)
{
	if (from->final) {
		from->needed = true;
		return 0;
	}
	if (from->insn.flow == FLOW_JMP)
		return add_exit(e, from, to, CODE_EXIT_JMP, 0);
	/* The way on is taken if the condition does not hold. */
	return add_exit(e, from, to, CODE_EXIT_JCC,
			from->next[1] == to->vaddr ? from->insn.cond : from->insn.cond ^ 1);
}

/* Adds the exits that the `ret`s of a group rely on. Returns 0 or -ENOMEM. */
static int use_group(struct early_exits *e, uint32_t group)
{
	int err = 0;

	for (size_t i = 0; i < e->nodes_cnt; i++)
		e->nodes[i].needed = e->nodes[i].ret && group_of(e, &e->nodes[i]) == group;
	/* The nearest first: what it needs lies farther off. */
	for (size_t i = e->order_cnt; !err && i-- > 0;) {
		struct node *n = &e->nodes[e->order[i]];

		if (!n->needed)
			continue;
		err = n->site ? add_exit(e, n, n, CODE_EXIT_JMP, 0)
			      : for_each_before(e, n->vaddr, use_way);
	}
	return err;
}

/* Takes the `ret`s for what all begins at. */
static int take_rets(struct early_exits *e)
{
	int err = 0;

	for (size_t i = 0; !err && i < e->code->exits_cnt; i++) {
		const struct code_exit *exit = &e->code->exits[i];
		struct node *n;

		if (exit->kind != CODE_EXIT_RET)
			continue;
		err = ARRAY_RESERVE(&e->order, e->order_cnt, &e->order_cap);
		if (!err)
			err = take_node(e, exit->vaddr);
		if (err)
			break;
		n = find_node(e, exit->vaddr);
		n->ret = n->final = n->place_known = true;
		e->order[e->order_cnt++] = n - e->nodes;
	}
	return err;
}

static int compare_targets(const void *a, const void *b)
{
	const struct code_edge *x = a, *y = b;

	return x->to < y->to ? -1 : x->to > y->to;
}

static int take_function(struct early_exits *e, const struct code_piece *pieces, size_t cnt,
			 const struct code_flow *flow, const struct code *code)
{
	e->nodes_cnt = e->made_cnt = e->edges_cnt = e->order_cnt = 0;
	memset(e->index, 0, sizeof(e->index));
	e->pieces = pieces;
	e->pieces_cnt = cnt;
	e->flow = flow;
	e->code = code;
	loops__look_at(e->loop, pieces, cnt, flow);
	if (ARRAY_RESERVE_MORE(&e->edges, 0, flow->edges_cnt + 1, &e->edges_cap))
		return -ENOMEM;
	if (flow->edges_cnt) {
		memcpy(e->edges, flow->edges, flow->edges_cnt * sizeof(*e->edges));
		qsort(e->edges, flow->edges_cnt, sizeof(*e->edges), compare_targets);
	}
	e->edges_cnt = flow->edges_cnt;
	return take_rets(e);
}

/* Whether all `ret`s of a group are covered. One that is not would be hit by calls that have been
 * seen to leave before. */
static bool is_covered(const struct early_exits *e, uint32_t group, size_t *rets)
{
	*rets = 0;
	for (size_t i = 0; i < e->nodes_cnt; i++) {
		const struct node *n = &e->nodes[i];

		if (!n->ret || group_of(e, n) != group)
			continue;
		if (!n->covered)
			return false;
		++*rets;
	}
	return *rets > 0;
}

/* Finds the groups whose `ret`s are seen early, and their exits. */
static int use_groups(struct early_exits *e)
{
	int err = 0;

	for (size_t g = 0; !err && g < e->nodes_cnt; g++) {
		size_t made = e->made_cnt, rets;

		if (e->nodes[g].group != g || !e->nodes[g].final || !is_covered(e, g, &rets))
			continue;
		err = use_group(e, g);
		if (!err && e->made_cnt - made <= rets * MAX_BRANCHES)
			e->nodes[g].early = true;
		else
			e->made_cnt = made;
	}
	return err;
}

/* Replaces the `ret`s of such groups. */
static int replace(struct early_exits *e, struct code *code)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < code->exits_cnt; i++) {
		const struct node *n = code->exits[i].kind == CODE_EXIT_RET
					       ? find_node(e, code->exits[i].vaddr)
					       : NULL;

		if (!n || !e->nodes[group_of(e, n)].early)
			code->exits[kept++] = code->exits[i];
	}
	code->exits_cnt = kept;
	for (size_t i = 0; !err && i < e->made_cnt; i++) {
		err = ARRAY_RESERVE(&code->exits, code->exits_cnt, &code->exits_cap);
		if (!err)
			code->exits[code->exits_cnt++] = e->made[i];
	}
	return err;
}

/* Whether some `ret` costs more than what comes before it. */
static bool has_steps(const struct code *code)
{
	for (size_t i = 0; i < code->exits_cnt; i++) {
		if (code->exits[i].kind == CODE_EXIT_RET && code->exits[i].steps)
			return true;
	}
	return false;
}

int early_exits__find(struct early_exits *e, const struct code_piece *pieces, size_t pieces_cnt,
		      const struct code_flow *flow, struct code *code)
{
	int err;

	if (!has_steps(code) || !flow->certain || code->patched || code->bad || code->no_exits ||
	    pieces[0].passed || flow->edges_cnt > MAX_EDGES)
		return 0;
	err = take_function(e, pieces, pieces_cnt, flow, code);
	if (!err)
		err = spread(e);
	if (!err)
		err = cover(e);
	if (!err)
		err = use_groups(e);
	/* Exits of a function that cannot be looked at as a whole stay as they are. */
	if (err)
		return err == -ENOMEM ? err : 0;
	return replace(e, code);
}
