// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The function is followed from its entry along all branches, jump tables included. Bytes that no
 * flow reaches may be data, so nothing in them is ever probed; they may also be landing pads of
 * exceptions or cases of a table that could not be read, so their branches are still looked at
 * before an instruction is taken for one that runs once.
 */
#include "code/code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/insn.h"
#include "code/code_scan.h"

void code_decoder__spare_nop5(struct code_decoder *d)
{
	insn_decoder__spare_nop5(d->insn);
}

void code_decoder__spare_calls(struct code_decoder *d)
{
	insn_decoder__spare_calls(d->insn);
}

int code_decoder__new(const struct arch *arch, enum call_nops call_nops, code_reader read,
		      void *read_ctx, struct code_decoder **out)
{
	struct code_decoder *d = calloc(1, sizeof(*d));

	if (!d || insn_decoder__new(arch, call_nops, &d->insn)) {
		free(d);
		return -ENOMEM;
	}
	d->arch = arch;
	d->read = read;
	d->read_ctx = read_ctx;
	*out = d;
	return 0;
}

struct insn_decoder *code_decoder__insn(const struct code_decoder *d)
{
	return d->insn;
}

void code_decoder__free(struct code_decoder *d)
{
	if (!d)
		return;
	insn_decoder__free(d->insn);
	free(d->reached);
	free(d->work);
	free(d->edges);
	free(d->stops);
	free(d);
}

static int scan_work(struct code_scan *s)
{
	struct code_decoder *d = s->d;
	int err = 0;

	while (!err && d->work_cnt)
		err = code_scan__follow(s, d->work[--d->work_cnt]);
	return err;
}

/* Follows what runs when an exception has been caught, and nothing else does. */
static int scan_pads(struct code_scan *s)
{
	int err = 0;

	s->in_pad = true;
	for (size_t i = 0; i < s->pieces_cnt; i++) {
		for (size_t k = 0; !err && k < s->pieces[i].pads_cnt; k++) {
			code_scan__note_target(s, s->pieces[i].pads[k]);
			err = code_scan__follow_later(s, s->pieces[i].pads[k], 0);
		}
	}
	return err ? err : scan_work(s);
}

/*
 * Bytes that no flow has reached: padding, data, landing pads, or cases of an unread table. Nothing
 * there is probed, but it is assumed to be code for the worst that it could do to the entry block.
 */
static void scan_rest(struct code_scan *s, const struct code_piece *piece, const uint8_t *reached)
{
	struct insn in;
	uint32_t at = 0;

	while (at < piece->size) {
		if (reached[at]) {
			at++;
			continue;
		}
		if (!insn_decode(s->d->insn, piece->bytes + at, piece->size - at, &in)) {
			s->code->leaf = false;
			s->has_rest = true;
			at++;
			continue;
		}
		if (in.site != SITE_NOP && in.site != SITE_NOP5 && in.flow != FLOW_STOP &&
		    !in.is_nop) {
			s->code->leaf = false;
			s->has_rest = true;
		}
		if (in.flow == FLOW_JMP || in.flow == FLOW_JCC)
			code_scan__note_target(s, piece->vaddr + at + in.length + in.rel);
		at += in.length;
	}
}

static int reached_clear(struct code_decoder *d, const struct code_piece *pieces, size_t cnt)
{
	size_t size = 0;

	for (size_t i = 0; i < cnt; i++)
		size += pieces[i].size;
	if (size > d->reached_cap) {
		uint8_t *grown = realloc(d->reached, size * 2);

		if (!grown)
			return -ENOMEM;
		d->reached = grown;
		d->reached_cap = size * 2;
	}
	memset(d->reached, 0, size);
	d->work_cnt = d->edges_cnt = d->stops_cnt = 0;
	return 0;
}

/* A jump through a register or memory is a callee's call, or leads to a label whose address was
 * taken: that is a frame's work, or such labels would be what nothing else leads to. */
static bool flow_is_certain(const struct code_scan *s)
{
	/* Amid exclusive accesses nothing may trap: as if nobody knew how to get there. */
	if (s->code->bad || s->unread_table || s->exclusive)
		return false;
	return !(s->left_framed && s->framed) && !(s->left_indirectly && s->has_rest);
}

int code_decode(struct code_decoder *d, const struct code_piece *pieces, size_t pieces_cnt,
		uint64_t next_label, struct code *code)
{
	struct code_scan s = {
		.d = d,
		.pieces = pieces,
		.pieces_cnt = pieces_cnt,
		.code = code,
		.first_target = UINT64_MAX,
		.entry = {.code = code, .start = pieces[0].vaddr, .open = true, .only_nops = true},
	};
	const uint8_t *reached;
	int err;

	code->sites_cnt = 0;
	code->exits_cnt = code->calls_cnt = 0;
	code->loops_to_entry = code->insns = 0;
	code->tail_jumps = code->loops = code->dear = code->traps = false;
	code->leaf = code->followed = true;
	code->exits_missing = false;
	code->no_exits = code->bad = NULL;
	err = reached_clear(d, pieces, pieces_cnt);
	if (!err)
		err = code_scan__follow(&s, (struct code_work){pieces[0].vaddr, 0});
	s.entry.open = false;
	if (!err)
		err = scan_work(&s);
	if (!err)
		err = scan_pads(&s);
	if (err)
		return err;
	reached = d->reached;
	for (size_t i = 0; i < pieces_cnt; i++) {
		scan_rest(&s, &pieces[i], reached);
		reached += pieces[i].size;
	}
	if (code->bad) {
		/* Code behind the bad bytes is unknown, and may jump to anywhere. */
		code_scan__lose_track(&s);
		if (code->sites_cnt)
			code->sites_cnt = code->sites[0].offset ? 0 : 1;
	}
	if (!code->exits_cnt && !code->no_exits && !code->bad)
		code->no_exits = s.unread_table ? "leaves behind a jump table that cannot be read"
						: "never leaves by a return or a jump";
	entry_sites__cut(&s.entry, s.first_target < next_label ? s.first_target : next_label,
			 s.unread_table);
	d->certain = flow_is_certain(&s);
	d->has_rest = s.has_rest;
	return 0;
}

void code_decoder__note_edges(struct code_decoder *d)
{
	d->notes_edges = true;
}

struct code_flow code_decoder__flow(const struct code_decoder *d)
{
	return (struct code_flow){
		.reached = d->reached,
		.edges = d->edges,
		.edges_cnt = d->edges_cnt,
		.stops = d->stops,
		.stops_cnt = d->stops_cnt,
		.certain = d->certain,
		.has_rest = d->has_rest,
	};
}
