// SPDX-License-Identifier: GPL-2.0-or-later
#include "select/read_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/symtab.h"
#include "util/array.h"

/* Beginnings of the names of a range's first and last byte; the rest of both names is the same, as
 * in
 * __start_probes and __stop_probes. Linkers make the first pair for a section with a name that C
 * allows, if the program asks for them; the others are those of libraries that verify themselves.
 */
static const struct {
	const char *begin, *end;
} pairs[] = {
	{"__start_", "__stop_"},
	{"FIPS_text_start", "FIPS_text_end"},
	{"BORINGSSL_bcm_text_start", "BORINGSSL_bcm_text_end"},
	{"wolfCrypt_FIPS_first", "wolfCrypt_FIPS_last"},
};

#define PAIRS (sizeof(pairs) / sizeof(*pairs))

/* The n-th of the symbol's names; NULL: it has no more. */
static const char *name_of(const struct symbol *sym, size_t n)
{
	if (!n)
		return sym->name;
	return n <= sym->aliases_cnt ? sym->aliases[n - 1] : NULL;
}

/* The vaddr of the symbol whose name is `prefix` and then `rest`; 0: there is none. */
static uint64_t find(const struct symtab *tab, const char *prefix, const char *rest)
{
	size_t len = strlen(prefix);

	for (size_t i = 0; i < symtab__count(tab); i++) {
		const struct symbol *sym = symtab__at(tab, i);
		const char *name;

		for (size_t n = 0; (name = name_of(sym, n)); n++) {
			if (!strncmp(name, prefix, len) && !strcmp(name + len, rest))
				return sym->vaddr;
		}
	}
	return 0;
}

#define LOOKS_MAX 256 /* at all symbols, each for one name that may begin a pair */

static int add(struct read_code *c, const struct symtab *tab, uint64_t begin, const char *name)
{
	for (size_t i = 0; i < PAIRS && c->looks < LOOKS_MAX; i++) {
		size_t len = strlen(pairs[i].begin);
		uint64_t end;

		if (strncmp(name, pairs[i].begin, len))
			continue;
		c->looks++;
		end = find(tab, pairs[i].end, name + len);
		if (end <= begin)
			continue;
		if (ARRAY_RESERVE(&c->ranges, c->cnt, &c->cap))
			return -ENOMEM;
		c->ranges[c->cnt++] = (struct read_code_range){begin, end};
	}
	return 0;
}

int read_code__find(struct read_code *c, const struct symtab *tab)
{
	int err = 0;

	for (size_t i = 0; !err && i < symtab__count(tab); i++) {
		const struct symbol *sym = symtab__at(tab, i);
		const char *name;

		for (size_t n = 0; !err && (name = name_of(sym, n)); n++)
			err = add(c, tab, sym->vaddr, name);
	}
	return err;
}

void read_code__clear(struct read_code *c)
{
	free(c->ranges);
	*c = (struct read_code){0};
}

const char *read_code__reason(const struct read_code *c, const struct symbol *sym)
{
	for (size_t i = 0; i < c->cnt; i++) {
		if (sym->vaddr < c->ranges[i].end && sym->vaddr + sym->size > c->ranges[i].begin)
			return "the program may read its code: it knows where that begins and ends";
	}
	return NULL;
}
