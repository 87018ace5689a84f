// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code that was compiled without unwind tables. A function begins where a direct call leads that
 * lies in known code, and is read from there to the first instruction that does not go on and that
 * none of its jumps leads behind. Its own calls lead to further ones.
 */
#include "unwind/eh_calls.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "elf/elf_image.h"
#include "elf/elf_inside.h"
#include "unwind/eh_evidence.h"
#include "unwind/eh_frame.h"
#include "util/array.h"
#include "util/search.h"

#define MAX_SIZE   (1u << 16) /* of a function */
#define MAX_BYTES  (256u << 20)
#define MAX_ROUNDS 64
#define MAX_STUBS  64 /* sections of stubs; linkers make five */

struct follower {
	struct eh_evidence *ev;
	const struct elf_section *stubs[MAX_STUBS];
	size_t stubs_cnt;
	uint64_t *done; /* ordered */
	size_t done_cnt;
	uint64_t left; /* bytes that may still be read */
	/* of the function that is read */
	uint64_t start, reach, size;
};

#define STOP 1

/* A code_ref_visitor: of one function. */
static int visit_function(void *ctx, const struct code_ref *ref)
{
	struct follower *f = ctx;
	int err = 0;

	switch (ref->kind) {
	case REF_CALL:
		err = eh_evidence__add_outside(f->ev, ref->to);
		break;
	case REF_BRANCH:
	case REF_JUMP:
		if (ref->to > f->reach && ref->to - f->start < MAX_SIZE)
			f->reach = ref->to;
		break;
	default:
		break;
	}
	f->size = ref->end - f->start;
	if (!err && ref->kind != REF_CALL && ref->kind != REF_BRANCH && ref->kind != REF_ADDRESS &&
	    ref->end > f->reach)
		return STOP;
	return err;
}

/* A code_ref_visitor: of the program's entry, which hands main() over as an address, or calls. */
static int visit_entry(void *ctx, const struct code_ref *ref)
{
	struct follower *f = ctx;

	if (ref->kind == REF_ADDRESS || ref->kind == REF_CALL)
		return eh_evidence__add_outside(f->ev, ref->to);
	return ref->kind == REF_END || ref->kind == REF_JUMP ? STOP : 0;
}

/* The most bytes of code from `vaddr` on: up to the next range, the next function, or the segment's
 * end. */
static uint64_t limit_of(const struct follower *f, uint64_t vaddr)
{
	const struct eh_evidence *ev = f->ev;
	size_t range = LOWER_BOUND(ev->cnt, i, ev->ranges[i].end <= vaddr), cnt;
	size_t next = LOWER_BOUND(f->done_cnt, i, f->done[i] <= vaddr);
	const struct elf_segment *seg = elf_image__segments(ev->img, &cnt);
	uint64_t size = 0;

	for (size_t i = 0; i < cnt; i++) {
		if (seg[i].exec && vaddr - seg[i].vaddr < seg[i].filesz)
			size = seg[i].filesz - (vaddr - seg[i].vaddr);
	}
	if (size > MAX_SIZE)
		size = MAX_SIZE;
	if (range < ev->cnt && ev->ranges[range].start - vaddr < size)
		size = ev->ranges[range].start - vaddr;
	if (next < f->done_cnt && f->done[next] - vaddr < size)
		size = f->done[next] - vaddr;
	return size;
}

/* Finds the sections of the C library's own code, and of the linker's. */
static void find_stubs(struct follower *f)
{
	size_t cnt;
	const struct elf_section *sec = elf_image__sections(f->ev->img, &cnt);

	for (size_t i = 0; i < cnt && f->stubs_cnt < MAX_STUBS; i++) {
		if ((sec[i].flags & SHF_ALLOC) &&
		    (!strncmp(sec[i].name, ".plt", 4) || !strcmp(sec[i].name, ".iplt") ||
		     !strcmp(sec[i].name, ".init") || !strcmp(sec[i].name, ".fini")))
			f->stubs[f->stubs_cnt++] = &sec[i];
	}
}

static bool in_stub_section(const struct follower *f, uint64_t vaddr)
{
	for (size_t i = 0; i < f->stubs_cnt; i++) {
		if (vaddr - f->stubs[i]->addr < f->stubs[i]->size)
			return true;
	}
	return false;
}

/* Import stubs have 16 bytes or 8. */
static bool is_stub(const struct arch *arch, const uint8_t *bytes, uint64_t size)
{
	return (size >= 16 && arch->is_stubs(bytes, 16)) || (size >= 8 && arch->is_stubs(bytes, 8));
}

/* Reads the function at `vaddr`. f->size becomes 0 if there is none. */
static int read_function(struct follower *f, uint64_t vaddr, code_ref_visitor visit)
{
	uint64_t limit = limit_of(f, vaddr), offset;
	void *bytes;
	int err;

	f->start = f->reach = vaddr;
	f->size = 0;
	if (!limit || limit > f->left || !elf_image__exec_offset(f->ev->img, vaddr, limit, &offset))
		return 0;
	err = elf_image__read_block(f->ev->img, offset, limit, limit, &bytes);
	if (err)
		return err == -ENOMEM ? err : 0;
	if (!is_stub(elf_image__arch(f->ev->img), bytes, limit)) {
		err = elf_image__arch(f->ev->img)->visit_refs(NULL, bytes, limit, vaddr, visit, f);
		if (err != STOP)
			f->size = limit;
		f->left -= f->size;
	}
	free(bytes);
	return err == STOP ? 0 : err;
}

/* Moves what is new in ev->outside to f->done, and to *fresh, which the caller frees. */
static int take_new(struct follower *f, uint64_t **fresh, size_t *fresh_cnt)
{
	struct eh_evidence *ev = f->ev;
	uint64_t *all = calloc(f->done_cnt + ev->outside_cnt + 1, sizeof(*all));
	size_t cnt = 0;

	*fresh = calloc(ev->outside_cnt + 1, sizeof(**fresh));
	*fresh_cnt = 0;
	if (!all || !*fresh) {
		free(all);
		return -ENOMEM;
	}
	if (ev->outside_cnt)
		qsort(ev->outside, ev->outside_cnt, sizeof(*ev->outside), u64_order);
	for (size_t i = 0; i < ev->outside_cnt; i++) {
		uint64_t vaddr = ev->outside[i];
		size_t at = LOWER_BOUND(f->done_cnt, k, f->done[k] < vaddr);

		if ((i && ev->outside[i - 1] == vaddr) ||
		    (at < f->done_cnt && f->done[at] == vaddr) || in_stub_section(f, vaddr))
			continue;
		(*fresh)[(*fresh_cnt)++] = vaddr;
	}
	for (size_t i = 0; i < f->done_cnt; i++)
		all[cnt++] = f->done[i];
	for (size_t i = 0; i < *fresh_cnt; i++)
		all[cnt++] = (*fresh)[i];
	qsort(all, cnt, sizeof(*all), u64_order);
	free(f->done);
	f->done = all;
	f->done_cnt = cnt;
	ev->outside_cnt = 0;
	return 0;
}

/* Reads the address that a program's entry hands over to libc: that of main(). */
static int read_entry(struct follower *f)
{
	uint8_t bytes[64]; /* the C library's are shorter */
	uint64_t entry = elf_image__entry(f->ev->img);
	int err;

	if (!elf_image__read_vaddr(f->ev->img, entry, bytes, sizeof(bytes)))
		return 0;
	err = elf_image__arch(f->ev->img)
		      ->visit_refs(NULL, bytes, sizeof(bytes), entry, visit_entry, f);
	return err == STOP ? 0 : err;
}

/* Finds the functions that those found so far call. Returns 0 or -errno. */
static int find_round(struct follower *f, bool *any)
{
	uint64_t *fresh;
	size_t cnt;
	int err = take_new(f, &fresh, &cnt);

	for (size_t i = 0; !err && i < cnt; i++)
		err = read_function(f, fresh[i], visit_function);
	*any = cnt > 0;
	free(fresh);
	return err;
}

/* A code_ref_visitor that adds nothing: all functions are known. */
static int visit_known(void *ctx, const struct code_ref *ref)
{
	return ref->kind == REF_CALL ? 0 : visit_function(ctx, ref);
}

int eh_calls__follow(struct eh_evidence *ev, eh_call_visitor visit, void *ctx)
{
	struct follower f = {.ev = ev, .left = MAX_BYTES};
	bool any = true;
	int err = 0;

	find_stubs(&f);
	if (elf_image__is_program(ev->img) || elf_image__is_static(ev->img))
		err = read_entry(&f);
	for (int round = 0; !err && any && round < MAX_ROUNDS; round++)
		err = find_round(&f, &any);
	f.left = MAX_BYTES;
	/* Only now it is known where each must end. */
	for (size_t i = 0; !err && i < f.done_cnt; i++) {
		err = read_function(&f, f.done[i], visit_known);
		if (!err && f.size)
			err = visit(ctx, f.done[i], f.size);
	}
	free(f.done);
	return err;
}
