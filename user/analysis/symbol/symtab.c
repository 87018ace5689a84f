// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every name of every table becomes one entry; entries are sorted by address and, at one address,
 * by how good a name they have; each run of equal addresses becomes one symbol. Names point into
 * the string tables, which are kept: a symbol costs no allocation of its own.
 */
#include "symbol/symtab.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_image.h"
#include "unwind/go_pclntab.h"
#include "symbol/sym_builder.h"
#include "symbol/sym_entry.h"
#include "unwind/eh_functions.h"
#include "util/log.h"
#include "util/search.h"

/* Far more than identical code folding produces. */
#define MAX_ALIASES 4096

static struct symbol *symbol_at(const struct symtab *tab, uint64_t vaddr)
{
	size_t at = LOWER_BOUND(tab->cnt, i, tab->symbols[i].vaddr < vaddr);

	return at < tab->cnt && tab->symbols[at].vaddr == vaddr ? &tab->symbols[at] : NULL;
}

/* Links pieces without names, which the others are linked by. */
static void link_nameless(struct sym_builder *b)
{
	for (size_t i = 0; i < b->nameless_cnt; i++) {
		const struct eh_function *func = &b->nameless[i];
		struct symbol *piece, *whole;

		if (func->piece_of == EH_FUNCTION_NONE || func->piece_of >= b->nameless_cnt ||
		    func->piece_of == i)
			continue;
		piece = symbol_at(b->tab, func->vaddr);
		whole = symbol_at(b->tab, b->nameless[func->piece_of].vaddr);
		if (!piece || !piece->nameless)
			continue;
		if (whole && whole != piece && whole->kind != SYMBOL_NOTYPE &&
		    whole->piece_of == SYMTAB_NONE)
			piece->piece_of = whole - b->tab->symbols;
		else
			piece->kind = SYMBOL_NOTYPE;
	}
}

/* A FUNC's name beats an IFUNC's beats a NOTYPE's. A .cold piece without a byte is at the address
 * of whatever follows, so pieces come last. */
static int rank(const struct sym_entry *e)
{
	return e->kind * 4 + (e->is_cold ? 2 + !e->size : 0);
}

static int cmp_entries(const void *pa, const void *pb)
{
	const struct sym_entry *a = pa, *b = pb;
	int cmp;

	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	cmp = rank(a) - rank(b);
	cmp = cmp ?: a->underscores - b->underscores;
	cmp = cmp ?: a->bind - b->bind;
	if (!cmp && a->len != b->len)
		cmp = a->len < b->len ? -1 : 1;
	return cmp ?: strcmp(a->name, b->name);
}

static bool same_name(const struct sym_entry *a, const char *name)
{
	return a->name == name || !strcmp(a->name, name);
}

/* Makes one symbol of entries[0..cnt), which are at one address, the best name first. Returns the
 * number of aliases written to `aliases`. */
static size_t merge(const struct sym_builder *b, struct sym_entry *entries, size_t cnt,
		    const char **aliases, struct symbol *sym)
{
	size_t i, aliases_cnt = 0;

	*sym = (struct symbol){
		.vaddr = entries->vaddr,
		.size = entries->size,
		.kind = entries->kind,
		.name = entries->name,
		.aliases = aliases,
		.piece_of = SYMTAB_NONE,
		.nameless = entries->nameless,
		.is_go = sym_builder__is_go(b, entries->vaddr),
	};
	for (i = 0; i < cnt; i++) {
		entries[i].symbol = sym - b->tab->symbols;
		/* Hand-written assembly often sizes only one of its names. */
		if (!entries->size && entries[i].kind == entries->kind &&
		    entries[i].size > sym->size)
			sym->size = entries[i].size;
		/* glibc calls the same resolver strlen_ifunc, a FUNC, and strlen, an IFUNC. */
		if (entries[i].kind == SYMBOL_IFUNC)
			sym->kind = SYMBOL_IFUNC;
		/* .symtab repeats the names of .dynsym. */
		if (same_name(&entries[i], sym->name) || aliases_cnt == MAX_ALIASES ||
		    (aliases_cnt && same_name(&entries[i], aliases[aliases_cnt - 1])))
			continue;
		aliases[aliases_cnt++] = entries[i].name;
	}
	sym->aliases_cnt = aliases_cnt;
	elf_image__exec_offset(b->img, sym->vaddr, sym->size, &sym->offset);
	return aliases_cnt;
}

static size_t count_addresses(const struct sym_entry *entries, size_t cnt)
{
	size_t addresses = 0, i;

	for (i = 0; i < cnt; i++)
		addresses += !i || entries[i].vaddr != entries[i - 1].vaddr;
	return addresses;
}

static int build(struct sym_builder *b)
{
	struct symtab *tab = b->tab;
	size_t i, end, addresses, aliases_cnt = 0;

	if (!b->len)
		return 0;
	qsort(b->entries, b->len, sizeof(*b->entries), cmp_entries);
	addresses = count_addresses(b->entries, b->len);
	tab->symbols = calloc(addresses, sizeof(*tab->symbols));
	tab->aliases = calloc(b->len - addresses + 1, sizeof(*tab->aliases));
	if (!tab->symbols || !tab->aliases)
		return -ENOMEM;
	for (i = 0; i < b->len; i = end) {
		for (end = i + 1; end < b->len && b->entries[end].vaddr == b->entries[i].vaddr;)
			end++;
		aliases_cnt += merge(b, b->entries + i, end - i, tab->aliases + aliases_cnt,
				     &tab->symbols[tab->cnt++]);
	}
	return sym_entry__link_pieces(b->entries, b->len, tab->symbols);
}

int symtab__load_named(const struct elf_image *img, struct symtab **out)
{
	struct sym_builder b = {.img = img, .tab = calloc(1, sizeof(*b.tab))};
	int err = b.tab ? sym_builder__add_table(&b, img, SHT_SYMTAB, ".symtab") : -ENOMEM;

	if (!err || err == -ENOENT)
		err = sym_builder__add_table(&b, img, SHT_DYNSYM, ".dynsym");
	if (!err || err == -ENOENT)
		err = build(&b);
	free(b.entries);
	if (err)
		symtab__free(b.tab);
	else
		*out = b.tab;
	return err;
}

int symtab__load(const struct elf_image *img, const char *root, struct symtab **out)
{
	struct sym_builder b = {.img = img};
	struct go_pclntab *pclntab = NULL;
	bool nameless;
	int err;

	b.tab = calloc(1, sizeof(*b.tab));
	if (!b.tab) {
		log_error("elf: cannot read symbols of '%s': out of memory", elf_image__label(img));
		return -ENOMEM;
	}
	err = sym_builder__find_go(&b, &pclntab);
	if (err)
		goto out;
	err = sym_builder__add_table(&b, img, SHT_SYMTAB, ".symtab");
	if (err == -ENOENT)
		err = sym_builder__add_stripped(&b, root);
	if (!err && !b.len && pclntab)
		err = sym_builder__add_go(&b, pclntab);
	nameless = !b.len;
	if (!err)
		err = sym_builder__add_table(&b, img, SHT_DYNSYM, ".dynsym");
	if (err && err != -ENOENT)
		goto out;
	err = nameless ? sym_builder__add_nameless(&b) : 0;
	if (!err)
		err = build(&b);
	if (!err)
		link_nameless(&b);
	else
		log_error("elf: cannot read symbols of '%s': out of memory", elf_image__label(img));
out:
	go_pclntab__free(pclntab);
	free(b.entries);
	free(b.nameless);
	if (err)
		symtab__free(b.tab);
	else
		*out = b.tab;
	return err;
}

void symtab__free(struct symtab *tab)
{
	size_t i;

	if (!tab)
		return;
	for (i = 0; i < tab->strings_cnt; i++)
		free(tab->strings[i]);
	free(tab->symbols);
	free(tab->aliases);
	free(tab->source);
	free(tab);
}

size_t symtab__count(const struct symtab *tab)
{
	return tab->cnt;
}

size_t symtab__unreadable(const struct symtab *tab)
{
	return tab->unreadable;
}

const struct symbol *symtab__at(const struct symtab *tab, size_t index)
{
	return &tab->symbols[index];
}

const char *symtab__source(const struct symtab *tab)
{
	return tab->source ?: "";
}
