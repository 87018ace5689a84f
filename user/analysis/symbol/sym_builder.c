// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/sym_builder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/debug_file.h"
#include "elf/elf_image.h"
#include "elf/elf_inside.h"
#include "elf/mini_debug.h"
#include "elf/sym_table.h"
#include "symbol/go.h"
#include "unwind/go_pclntab.h"
#include "symbol/sym_entry.h"
#include "unwind/eh_functions.h"
#include "util/array.h"
#include "util/log.h"
#include "util/search.h"

#define MAX_NAMELESS  (1u << 22)
#define NAMELESS_SIZE sizeof("func_0x0123456789abcdef.cold")

static const struct elf_segment *find_segment(struct sym_builder *b, uint64_t vaddr)
{
	const struct elf_segment *segments;
	size_t cnt, i;

	if (b->segment && vaddr - b->segment->vaddr < b->segment->filesz)
		return b->segment;
	segments = elf_image__segments(b->img, &cnt);
	for (i = 0; i < cnt; i++) {
		if (segments[i].exec && vaddr - segments[i].vaddr < segments[i].filesz)
			return b->segment = &segments[i];
	}
	return NULL;
}

static bool kind_of(const Elf64_Sym *sym, uint8_t *kind)
{
	switch (ELF64_ST_TYPE(sym->st_info)) {
	case STT_FUNC:
		*kind = SYMBOL_FUNC;
		return true;
	case STT_GNU_IFUNC:
		*kind = SYMBOL_IFUNC;
		return true;
	case STT_NOTYPE:
		*kind = SYMBOL_NOTYPE;
		return true;
	default:
		return false;
	}
}

bool sym_builder__is_go(const struct sym_builder *b, uint64_t vaddr)
{
	return vaddr - b->go_start < b->go_end - b->go_start;
}

/* Marks that tools leave in the text, on no boundary of functions; and Go's, which are functions by
 * type, at the address of the first or of what follows. */
static bool is_noise(const struct sym_entry *e)
{
	if (e->kind == SYMBOL_FUNC)
		return !e->size &&
		       (!strcmp(e->name, "runtime.text") || !strcmp(e->name, "runtime.etext"));
	return e->kind == SYMBOL_NOTYPE && e->bind == 2 &&
	       (!strncmp(e->name, ".L", 2) || !strncmp(e->name, ".annobin", 8));
}

static uint8_t count_underscores(const char *name)
{
	size_t cnt = strspn(name, "_");

	return cnt < UINT8_MAX ? cnt : UINT8_MAX;
}

static int add_symbol(struct sym_builder *b, struct sym_table *raw, const Elf64_Sym *sym,
		      uint32_t files_cnt)
{
	int bind = ELF64_ST_BIND(sym->st_info);
	struct sym_entry e = {.vaddr = sym->st_value, .order = raw->next - 1};
	const struct elf_segment *segment;
	uint64_t room;
	size_t len;

	/* An absolute symbol is a number, or an address in another file. */
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || sym->st_shndx == SHN_COMMON ||
	    !kind_of(sym, &e.kind))
		return 0;
	segment = find_segment(b, e.vaddr);
	e.name = segment ? sym_table__name(raw, sym, &len) : NULL;
	if (!e.name) {
		b->tab->unreadable += segment && sym->st_name;
		return 0;
	}
	e.len = len;
	e.size = sym->st_size;
	e.bind = bind == STB_LOCAL ? 2 : bind == STB_WEAK;
	if (is_noise(&e))
		return 0;
	room = segment->filesz - (e.vaddr - segment->vaddr);
	if (e.size > room)
		e.size = room;
	e.file = bind == STB_LOCAL ? files_cnt : NO_FILE;
	/* In Go, "main.cold" is the function `cold` of package `main`. */
	e.is_cold = !(b->go_known && sym_builder__is_go(b, e.vaddr)) &&
		    sym_entry__cold_prefix(e.name, e.len) > 0;
	e.underscores = count_underscores(e.name);
	if (ARRAY_RESERVE(&b->entries, b->len, &b->cap))
		return -ENOMEM;
	b->entries[b->len++] = e;
	return 0;
}

static int note_source(struct symtab *tab, const char *what)
{
	char *joined;

	if (asprintf(&joined, "%s%s%s", tab->source ?: "", tab->source ? " + " : "", what) < 0)
		return -ENOMEM;
	free(tab->source);
	tab->source = joined;
	return 0;
}

int sym_builder__add_table(struct sym_builder *b, const struct elf_image *src, uint32_t type,
			   const char *what)
{
	size_t before = b->len;
	uint32_t files_cnt = 0;
	struct sym_table raw;
	Elf64_Sym sym;
	int err;

	err = sym_table__open(src, type, &raw);
	if (err)
		return err;
	while (!err && sym_table__next(&raw, &sym)) {
		files_cnt += ELF64_ST_TYPE(sym.st_info) == STT_FILE;
		err = add_symbol(b, &raw, &sym, files_cnt);
	}
	if (!err && b->len > before) {
		b->tab->strings[b->tab->strings_cnt++] = raw.strings;
		raw.strings = NULL;
		err = note_source(b->tab, what);
	}
	sym_table__close(&raw);
	if (err)
		log_error("elf: cannot read symbols of '%s': %s", elf_image__label(src),
			  strerror(-err));
	return err;
}

/* Adds the .symtab of what `open` finds for the image. Returns -ENOENT if there is none. */
static int add_other(struct sym_builder *b, const char *root, const char *what,
		     int (*open)(const struct elf_image *img, const char *root,
				 struct elf_image **out))
{
	struct elf_image *src = NULL;
	int err = open(b->img, root, &src);

	if (!err)
		err = sym_builder__add_table(b, src, SHT_SYMTAB, what ?: elf_image__label(src));
	elf_image__free(src);
	return err;
}

static int open_mini_debug(const struct elf_image *img, const char *root, struct elf_image **out)
{
	return mini_debug__open(img, out);
}

int sym_builder__add_stripped(struct sym_builder *b, const char *root)
{
	int err = add_other(b, root, NULL, debug_file__find);

	if (err == -ENOENT)
		err = add_other(b, root, ".gnu_debugdata", open_mini_debug);
	/* Go's own table is as good, and nearer. */
	if (err == -ENOENT && !b->go_known)
		err = add_other(b, root, NULL, debug_file__open);
	return err == -ENOENT ? 0 : err;
}

/* Adds what no symbol names, if it is code. */
static int add_unlisted(struct sym_builder *b, struct sym_entry e)
{
	const struct elf_segment *segment = find_segment(b, e.vaddr);
	uint64_t room;

	if (!segment)
		return 0;
	if (ARRAY_RESERVE(&b->entries, b->len, &b->cap))
		return -ENOMEM;
	room = segment->filesz - (e.vaddr - segment->vaddr);
	if (e.size > room)
		e.size = room;
	b->entries[b->len++] = e;
	return 0;
}

int sym_builder__add_go(struct sym_builder *b, struct go_pclntab *pclntab)
{
	size_t before = b->len;
	struct go_func func;
	int err = 0;

	while (!err && go_pclntab__next(pclntab, &func))
		err = add_unlisted(b, (struct sym_entry){.vaddr = func.vaddr,
							 .size = func.size,
							 .name = func.name,
							 .len = func.len,
							 .file = NO_FILE,
							 .kind = SYMBOL_FUNC});
	if (!err && b->len > before) {
		b->tab->strings[b->tab->strings_cnt++] = go_pclntab__take_names(pclntab);
		err = note_source(b->tab, ".gopclntab");
	}
	if (err)
		log_error("elf: cannot read .gopclntab of '%s': %s", elf_image__label(b->img),
			  strerror(-err));
	return err;
}

int sym_builder__find_go(struct sym_builder *b, struct go_pclntab **pclntab)
{
	int err = go_pclntab__open(b->img, pclntab);

	b->go_known = !err;
	if (!err)
		go_pclntab__range(*pclntab, &b->go_start, &b->go_end);
	else if (go_made(b->img))
		b->go_end = UINT64_MAX; /* any of it may be */
	return err == -ENOENT ? 0 : err;
}

/* The addresses that have a name, ordered. Returns NULL without memory. */
static uint64_t *named_vaddrs(const struct sym_builder *b, size_t *cnt)
{
	uint64_t *vaddrs = calloc(b->len + 1, sizeof(*vaddrs));

	*cnt = 0;
	for (size_t i = 0; vaddrs && i < b->len; i++) {
		if (b->entries[i].kind != SYMBOL_NOTYPE)
			vaddrs[(*cnt)++] = b->entries[i].vaddr;
	}
	if (*cnt)
		qsort(vaddrs, *cnt, sizeof(*vaddrs), u64_order);
	return vaddrs;
}

/* Names one by its address, as only the file tells it from others. */
static int add_nameless(struct sym_builder *b, const struct eh_function *func, bool is_piece,
			bool is_lost, char *name)
{
	int len = snprintf(name, NAMELESS_SIZE, "func_0x%" PRIx64 "%s", func->vaddr,
			   is_piece ? ".cold" : "");

	return add_unlisted(b, (struct sym_entry){.vaddr = func->vaddr,
						  .size = func->size,
						  .name = name,
						  .len = len,
						  .file = NO_FILE,
						  .kind = is_lost ? SYMBOL_NOTYPE : SYMBOL_FUNC,
						  .nameless = true});
}

int sym_builder__add_nameless(struct sym_builder *b)
{
	size_t known_cnt, before = b->len;
	uint64_t *known = named_vaddrs(b, &known_cnt);
	char *names = NULL;
	int err =
		known ? eh_functions__find(b->img, known, known_cnt, &b->nameless, &b->nameless_cnt)
		      : -ENOMEM;

	if (!err && b->nameless_cnt > MAX_NAMELESS)
		b->nameless_cnt = MAX_NAMELESS;
	if (!err)
		names = calloc(b->nameless_cnt + 1, NAMELESS_SIZE);
	if (!err && !names)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < b->nameless_cnt; i++) {
		const struct eh_function *func = &b->nameless[i];
		size_t at = LOWER_BOUND(known_cnt, k, known[k] < func->vaddr);

		if (at == known_cnt || known[at] != func->vaddr)
			err = add_nameless(b, func, func->piece_of != EH_FUNCTION_NONE,
					   func->piece_of == i, names + i * NAMELESS_SIZE);
	}
	free(known);
	if (names)
		b->tab->strings[b->tab->strings_cnt++] = names;
	if (!err && b->len > before)
		err = note_source(b->tab, ".eh_frame");
	return err;
}
