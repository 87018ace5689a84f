// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/landing_pads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/linkage.h"
#include "util/array.h"

static bool is_cxx(const struct linkage *linkage, const struct eh_range *range)
{
	const char *name = NULL;

	if (linkage && range->personality)
		name = linkage__initial(linkage, range->personality);
	return name && !strcmp(name, "__gxx_personality_v0");
}

static bool inside(const struct code_piece *pieces, size_t cnt, uint64_t vaddr)
{
	for (size_t i = 0; i < cnt; i++) {
		if (vaddr - pieces[i].vaddr < pieces[i].size)
			return true;
	}
	return false;
}

int landing_pads__read(struct landing_pads *p, const struct pads_source *from,
		       struct code_piece *pieces, size_t cnt)
{
	p->cnt = from->eh ? cnt : 0;
	p->outside = false;
	for (size_t i = 0; i < p->cnt; i++) {
		const struct eh_range *range = eh_frame__at(from->eh, pieces[i].vaddr);
		struct lsda_piece *piece = &p->pieces[i];
		size_t pads_cnt = 0;
		int err;

		piece->range = NULL;
		if (!range || !range->lsda)
			continue;
		err = lsda__read(from->img, range, from->budget, &piece->lsda);
		if (err == -ENOMEM)
			return err;
		if (err)
			continue;
		piece->range = range;
		piece->is_cxx = is_cxx(from->linkage, range);
		if (ARRAY_RESERVE_MORE(&piece->pads, 0, piece->lsda.cnt, &piece->pads_cap))
			return -ENOMEM;
		for (size_t k = 0; k < piece->lsda.cnt; k++) {
			uint64_t pad = piece->lsda.sites[k].pad;

			if (!pad || (pads_cnt && pad == piece->pads[pads_cnt - 1]))
				continue;
			p->outside |= !inside(pieces, cnt, pad);
			piece->pads[pads_cnt++] = pad;
		}
		pieces[i].pads = piece->pads;
		pieces[i].pads_cnt = pads_cnt;
	}
	return 0;
}

void landing_pads__clear(struct landing_pads *p)
{
	for (size_t i = 0; i < CODE_MAX_PIECES; i++) {
		free(p->pieces[i].lsda.sites);
		free(p->pieces[i].pads);
	}
}

enum lsda_fate landing_pads__fate(const struct landing_pads *p, uint64_t end)
{
	/* The unwinder looks for the byte before the return address, which may be another range's.
	 */
	for (size_t i = 0; i < p->cnt; i++) {
		const struct lsda_piece *piece = &p->pieces[i];

		if (piece->range && piece->is_cxx && end - 1 >= piece->range->start &&
		    end - 1 < piece->range->end)
			return lsda__fate(&piece->lsda, end - 1);
	}
	return LSDA_PASSES;
}

uint64_t landing_pads__landing(const struct landing_pads *p, uint64_t end)
{
	for (size_t i = 0; i < p->cnt; i++) {
		const struct lsda_piece *piece = &p->pieces[i];

		if (piece->range && end - 1 >= piece->range->start && end - 1 < piece->range->end)
			return lsda__landing(&piece->lsda, end - 1);
	}
	return 0;
}
