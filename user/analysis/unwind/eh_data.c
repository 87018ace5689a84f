// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Data is read word by word: one that is a function's address by chance is rarer than one that is
 * meant. A file that is loaded at any address has addresses only where the dynamic linker writes
 * them: there no other word is looked at, and nine tenths of mariadbd need not be read.
 */
#include "unwind/eh_data.h"

#include <errno.h>
#include <stdlib.h>

#include "elf/elf_image.h"
#include "elf/elf_inside.h"
#include "elf/elf_reloc.h"
#include "unwind/eh_frame.h"

#define MAX_DATA      (256u << 20) /* bytes read of all data */
#define TABLE_ENTRIES 1024	   /* of one jump table, at most */

/* The range that the first word from `i` on, by `step`, leads into the middle of, if it differs
 * from word `i`; or EH_NOBODY. */
static uint32_t middle_beside(const struct eh_evidence *ev, const uint64_t *words, size_t cnt,
			      size_t i, size_t step)
{
	uint64_t word = words[i];
	uint32_t at;

	for (size_t n = 0; n < TABLE_ENTRIES && i < cnt && words[i] == word; n++)
		i += step;
	at = i < cnt ? eh_evidence__at(ev, words[i]) : EH_NOBODY;
	return at != EH_NOBODY && words[i] != ev->ranges[at].start ? at : EH_NOBODY;
}

/* Pointers to starts. One among pointers into a function is a switch's. */
static void read_words(struct eh_evidence *ev, const uint64_t *words, size_t cnt)
{
	uint64_t first = ev->cnt ? ev->ranges[0].start : 0;
	uint64_t size = ev->cnt ? ev->ranges[ev->cnt - 1].end - first : 0;

	for (size_t i = 0; i < cnt; i++) {
		uint32_t at, before, behind;

		/* Most words are no addresses. */
		if (words[i] - first >= size)
			continue;
		at = eh_evidence__at(ev, words[i]);
		if (at == EH_NOBODY || words[i] != ev->ranges[at].start)
			continue;
		before = middle_beside(ev, words, cnt, i, -1);
		behind = middle_beside(ev, words, cnt, i, 1);
		if (before == EH_NOBODY && behind == EH_NOBODY)
			ev->starts[at].taken = true;
		else if (before == behind || behind == EH_NOBODY)
			eh_evidence__note_switch(ev, before, at);
		else
			eh_evidence__note_switch(ev, before == EH_NOBODY ? behind : EH_NOBODY, at);
	}
}

/* *bytes = the data of the segment from `skip` on, with its pointers filled in; the caller's.
 * Returns 0 or -errno. */
static int read_data(const struct eh_evidence *ev, const struct elf_segment *seg, uint64_t skip,
		     bool relocated, void **bytes)
{
	uint64_t size = seg->filesz - skip;
	int err = 0;

	if (relocated)
		*bytes = calloc(1, size);
	else
		err = elf_image__read_block(ev->img, seg->offset + skip, size, MAX_DATA, bytes);
	if (!err && !*bytes)
		err = -ENOMEM;
	if (!err)
		elf_reloc__apply(ev->img, seg->vaddr + skip, *bytes, size);
	return err;
}

int eh_data__read(struct eh_evidence *ev)
{
	bool relocated = elf_reloc__has_all(ev->img);
	const struct elf_segment *seg;
	uint64_t left = MAX_DATA;
	size_t cnt;

	seg = elf_image__segments(ev->img, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		uint64_t skip = -seg[i].vaddr & 7;
		uint64_t size = seg[i].filesz;
		void *bytes = NULL;
		int err;

		/* Constants may lie beside code. */
		if (size <= skip || size > left || (relocated && !seg[i].written))
			continue;
		left -= size;
		err = read_data(ev, &seg[i], skip, relocated, &bytes);
		if (err == -ENOMEM)
			return err;
		if (err)
			continue;
		read_words(ev, bytes, (size - skip) / sizeof(uint64_t));
		free(bytes);
	}
	return 0;
}
