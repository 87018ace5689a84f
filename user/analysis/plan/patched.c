// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/patched.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "arch/insn.h"
#include "code/code.h"
#include "elf/elf_image.h"
#include "plan/object.h"
#include "plan/options.h"
#include "plan/plan.h"
#include "target/patches.h"
#include "target/target.h"
#include "util/log.h"

const char patched__reason[] = "patched in memory";

#define HOOK_SIZE 5 /* bytes; a mark is on a function's first instruction */

/* Whether some process may have run the object's code before its probes are put in. An object
 * without a number was found in none. */
static bool may_be_patched(const struct target *t, uint32_t object, bool everywhere)
{
	return t->objects[object].ino && (everywhere || !t->objects[object].watched);
}

int patched__look(struct plan *p, const struct target *t, const struct plan_options *opts,
		  const bool *asked)
{
	/* Links for every process are for strangers, too. */
	const bool everywhere = !t->processes_cnt || opts->new_programs || opts->children;
	struct patch_search *searches = calloc(p->objects_cnt + 1, sizeof(*searches));
	bool any = false;
	int err = 0;

	if (!searches)
		return -ENOMEM;
	for (size_t i = 0; i < p->objects_cnt; i++) {
		struct plan_object *obj = &p->objects[i];

		if (!asked[i] || obj->patches_known || !obj->img)
			continue;
		obj->patches_known = true;
		if (!may_be_patched(t, i, everywhere))
			continue;
		searches[i].segments = elf_image__segments(obj->img, &searches[i].segments_cnt);
		searches[i].found = &obj->patches;
		any = true;
	}
	if (any)
		err = patches__find(t, searches, everywhere);
	free(searches);
	return err;
}

int patched__look_at(struct plan *p, const struct target *t, const struct plan_options *opts,
		     uint32_t object)
{
	bool *asked;
	int err;

	if (p->objects[object].patches_known)
		return 0;
	asked = calloc(p->objects_cnt, sizeof(*asked));
	if (!asked)
		return -ENOMEM;
	asked[object] = true;
	err = patched__look(p, t, opts, asked);
	free(asked);
	return err;
}

void patched__drop_hooks(struct plan *p, size_t first)
{
	size_t cnt = first;

	for (size_t i = first; i < p->hooks_cnt; i++) {
		const struct plan_hook *m = &p->hooks[i];

		if (!patches__touch(&p->objects[m->object].patches, m->offset, HOOK_SIZE))
			p->hooks[cnt++] = *m;
		else if (m->kind == HOOK_LINK_MAP)
			p->loads_unseen = true;
	}
	if (p->hooks_cnt != cnt)
		log_warn("%s in memory, as by a debugger: %s",
			 p->loads_unseen ? "the dynamic linker's code has been changed"
					 : "code that makes stacks has been changed",
			 p->loads_unseen ? "libraries that are loaded from now on may go unnoticed"
					 : "calls on new stacks may be taken for others");
	p->hooks_cnt = cnt;
}

/* Whether the bytes at `vaddr`, or any of them, are patched. */
static bool is_patched(const struct plan_object *obj, uint64_t vaddr, uint64_t size)
{
	uint64_t offset;

	return elf_image__exec_offset(obj->img, vaddr, size, &offset) &&
	       patches__touch(&obj->patches, offset, size);
}

/* Whether the instruction at `vaddr`, which is in one of the pieces, is patched in memory. */
static bool insn_is_patched(const struct plan_object *obj, struct insn_decoder *insn,
			    const struct code_piece *pieces, size_t cnt, uint64_t vaddr)
{
	for (size_t i = 0; i < cnt; i++) {
		uint64_t at = vaddr - pieces[i].vaddr;
		struct insn in;

		if (at < pieces[i].size &&
		    insn_decode(insn, pieces[i].bytes + at, pieces[i].size - at, &in))
			return is_patched(obj, vaddr, in.length);
	}
	return true;
}

void patched__drop_sites(const struct plan_object *obj, struct insn_decoder *insn,
			 const struct code_piece *pieces, size_t cnt, struct code *code)
{
	uint32_t sites = 0;
	size_t exits = 0;

	code->patched = false;
	for (size_t i = 0; i < cnt && obj->patches.cnt; i++)
		code->patched |= is_patched(obj, pieces[i].vaddr, pieces[i].size);
	if (!code->patched)
		return;
	/* The code that was put there may call anything. */
	code->leaf = code->followed = false;
	for (uint32_t i = 0; i < code->sites_cnt; i++) {
		if (!insn_is_patched(obj, insn, pieces, cnt,
				     pieces[0].vaddr + code->sites[i].offset))
			code->sites[sites++] = code->sites[i];
	}
	for (size_t i = 0; i < code->exits_cnt; i++) {
		if (!insn_is_patched(obj, insn, pieces, cnt, code->exits[i].vaddr))
			code->exits[exits++] = code->exits[i];
	}
	if (!exits && code->exits_cnt)
		code->no_exits = "its exits are patched in memory";
	code->sites_cnt = sites;
	code->exits_cnt = exits;
}

static void tell(const char *name, size_t beside, size_t left_out)
{
	const size_t all = beside + left_out;
	char how[96];

	if (!beside)
		snprintf(how, sizeof(how), "%s", all == 1 ? "it is not probed" : "none is probed");
	else if (!left_out)
		snprintf(how, sizeof(how), "%s probed where the code is not patched",
			 all == 1 ? "it is" : "all are");
	else
		snprintf(how, sizeof(how),
			 "%zu of them %s not probed, the other%s where the code is not patched",
			 left_out, left_out == 1 ? "is" : "are", beside == 1 ? " is" : "s are");
	log_warn("%zu function%s (%s%s): patched in memory, as by another tracer or a debugger; %s",
		 all, all == 1 ? "" : "s", name, all == 1 ? "" : ", ...", how);
}

void patched__report(const struct plan *p, size_t first_function, size_t first_skipped)
{
	size_t beside = 0, left_out = 0;
	const char *name = NULL;

	for (size_t i = first_function; i < p->functions_cnt; i++) {
		if (!p->functions[i].patched)
			continue;
		name = name ?: plan__name(p, i);
		beside++;
	}
	for (size_t i = first_skipped; i < p->skipped_cnt; i++) {
		if (p->skipped[i].reason != patched__reason)
			continue;
		name = name ?: plan__skip_name(p, i);
		left_out++;
	}
	if (name)
		tell(name, beside, left_out);
}
