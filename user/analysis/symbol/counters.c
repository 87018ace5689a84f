// SPDX-License-Identifier: GPL-2.0-or-later
/* gcc has an array of them for each function, `__gcov0.FUNCTION`, clang one for all of a function
 * or file; linkers keep the names, which are local ones. */
#include "symbol/counters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_image.h"
#include "elf/elf_inside.h"
#include "util/array.h"
#include "util/search.h"

#define MAX_SYMBOLS (256u << 20) /* bytes */
#define MAX_STRINGS (256u << 20)

struct range {
	uint64_t begin, end;
};

struct counters {
	struct range *items; /* in order */
	size_t cnt, cap;
};

static bool is_counter(const char *name)
{
	static const char *const prefixes[] = {"__gcov0.", "__llvm_gcov_ctr", "__profc_"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	}
	return false;
}

static int add_symbols(struct counters *c, const Elf64_Sym *syms, size_t cnt, const char *names,
		       uint64_t names_size)
{
	for (size_t i = 0; i < cnt; i++) {
		uint64_t begin = syms[i].st_value, size = syms[i].st_size;

		if (ELF64_ST_TYPE(syms[i].st_info) != STT_OBJECT || syms[i].st_name >= names_size ||
		    !size || size > UINT64_MAX - begin || !is_counter(names + syms[i].st_name))
			continue;
		if (ARRAY_RESERVE(&c->items, c->cnt, &c->cap))
			return -ENOMEM;
		c->items[c->cnt++] = (struct range){begin, begin + size};
	}
	return 0;
}

static int range_order(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int read_symbols(struct counters *c, const struct elf_image *img)
{
	size_t sections_cnt;
	const struct elf_section *sections = elf_image__sections(img, &sections_cnt);
	const struct elf_section *tab = elf_section__by_type(img, SHT_SYMTAB), *strings;
	void *syms = NULL, *names = NULL;
	int err;

	if (!tab || tab->link >= sections_cnt)
		return 0;
	strings = &sections[tab->link];
	err = elf_section__read(img, strings, MAX_STRINGS, &names);
	if (!err)
		err = elf_section__read(img, tab, MAX_SYMBOLS, &syms);
	if (!err)
		err = add_symbols(c, syms, tab->size / sizeof(Elf64_Sym), names, strings->size);
	free(syms);
	free(names);
	return err == -ENOMEM ? err : 0;
}

int counters__load(const struct elf_image *img, struct counters **out)
{
	struct counters *c = calloc(1, sizeof(*c));
	int err = c ? read_symbols(c, img) : -ENOMEM;

	*out = NULL;
	if (err || !c->cnt) {
		counters__free(c);
		return err;
	}
	qsort(c->items, c->cnt, sizeof(*c->items), range_order);
	*out = c;
	return 0;
}

void counters__free(struct counters *c)
{
	if (c)
		free(c->items);
	free(c);
}

bool counters__hold(const struct counters *c, uint64_t vaddr)
{
	size_t at = c ? LOWER_BOUND(c->cnt, i, c->items[i].begin <= vaddr) : 0;

	return at && vaddr < c->items[at - 1].end;
}
