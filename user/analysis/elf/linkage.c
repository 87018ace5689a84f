// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/linkage.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "elf/elf_dynamic.h"
#include "elf/elf_image.h"
#include "elf/elf_inside.h"
#include "elf/sym_table.h"
#include "util/array.h"
#include "util/search.h"

#define MAX_RELOCATIONS_SIZE (256u << 20)
#define MAX_NEEDED	     1024
#define MAX_NAME	     256

/* A pointer that is bound to a symbol. */
struct slot {
	uint64_t vaddr;
	uint32_t symbol;
	bool is_import; /* of the global offset table: not a variable */
};

struct linkage {
	char *strings;
	const char **names; /* by index in .dynsym; NULL: none */
	size_t names_cnt, names_cap;
	struct linkage_definition *definitions;
	size_t definitions_cnt, definitions_cap;
	struct slot *slots; /* by vaddr */
	size_t slots_cnt, slots_cap;
	char **needed;
	size_t needed_cnt, needed_cap;
	bool is_program;
};

static bool is_definition(const Elf64_Sym *sym)
{
	unsigned type = ELF64_ST_TYPE(sym->st_info), bind = ELF64_ST_BIND(sym->st_info);

	return sym->st_shndx != SHN_UNDEF && bind != STB_LOCAL &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

static int add_symbol(struct linkage *l, const Elf64_Sym *sym, const char *name)
{
	if (ARRAY_RESERVE(&l->names, l->names_cnt, &l->names_cap))
		return -ENOMEM;
	l->names[l->names_cnt++] = name;
	if (!name || !is_definition(sym))
		return 0;
	if (ARRAY_RESERVE(&l->definitions, l->definitions_cnt, &l->definitions_cap))
		return -ENOMEM;
	l->definitions[l->definitions_cnt++] = (struct linkage_definition){
		name, ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC ? 0 : sym->st_value};
	return 0;
}

static int read_symbols(struct linkage *l, const struct elf_image *img)
{
	struct sym_table tab;
	Elf64_Sym sym;
	size_t len;
	int err = sym_table__open(img, SHT_DYNSYM, &tab);

	if (err)
		return err == -ENOMEM ? err : 0;
	while (!err && sym_table__next(&tab, &sym))
		err = add_symbol(l, &sym, sym_table__name(&tab, &sym, &len));
	l->strings = tab.strings;
	tab.strings = NULL;
	sym_table__close(&tab);
	return err;
}

static int add_relocations(struct linkage *l, const struct arch_relocations *types,
			   const Elf64_Rela *rela, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		uint32_t type = ELF64_R_TYPE(rela[i].r_info), sym = ELF64_R_SYM(rela[i].r_info);
		bool import = type == types->function || type == types->data;

		if ((!import && type != types->absolute) || sym >= l->names_cnt || !l->names[sym])
			continue;
		if (ARRAY_RESERVE(&l->slots, l->slots_cnt, &l->slots_cap))
			return -ENOMEM;
		l->slots[l->slots_cnt++] = (struct slot){rela[i].r_offset, sym, import};
	}
	return 0;
}

static int read_relocations(struct linkage *l, const struct elf_image *img,
			    const struct elf_dynamic *dyn, int64_t tag, int64_t size_tag)
{
	uint64_t vaddr, size, offset;
	void *block;
	int err;

	if (!elf_dynamic__get(dyn, tag, &vaddr) || !elf_dynamic__get(dyn, size_tag, &size) ||
	    !elf_image__offset(img, vaddr, &offset))
		return 0;
	err = elf_image__read_block(img, offset, size, MAX_RELOCATIONS_SIZE, &block);
	if (err)
		return err == -ENOMEM ? err : 0;
	err = add_relocations(l, &elf_image__arch(img)->relocations, block,
			      size / sizeof(Elf64_Rela));
	free(block);
	return err;
}

static int read_needed(struct linkage *l, const struct elf_image *img,
		       const struct elf_dynamic *dyn)
{
	char name[MAX_NAME];

	for (size_t i = 0; i < dyn->cnt && l->needed_cnt < MAX_NEEDED; i++) {
		if (dyn->entries[i].d_tag != DT_NEEDED)
			continue;
		elf_dynamic__string(dyn, img, dyn->entries[i].d_un.d_val, name, sizeof(name));
		if (ARRAY_RESERVE(&l->needed, l->needed_cnt, &l->needed_cap))
			return -ENOMEM;
		l->needed[l->needed_cnt] = strdup(name);
		if (!l->needed[l->needed_cnt])
			return -ENOMEM;
		l->needed_cnt++;
	}
	return 0;
}

static int by_vaddr(const void *pa, const void *pb)
{
	const struct slot *a = pa, *b = pb;

	return (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

int linkage__load(const struct elf_image *img, struct linkage **out)
{
	struct linkage *l = calloc(1, sizeof(*l));
	struct elf_dynamic dyn = {0};
	int err = l ? read_symbols(l, img) : -ENOMEM;

	if (!err && elf_dynamic__load(img, &dyn) == -ENOMEM)
		err = -ENOMEM;
	if (!err)
		err = read_relocations(l, img, &dyn, DT_RELA, DT_RELASZ);
	if (!err)
		err = read_relocations(l, img, &dyn, DT_JMPREL, DT_PLTRELSZ);
	if (!err)
		err = read_needed(l, img, &dyn);
	if (err) {
		elf_dynamic__free(&dyn);
		linkage__free(l);
		return err;
	}
	l->is_program = elf_image__is_program(img);
	elf_dynamic__free(&dyn);
	if (l->slots_cnt)
		qsort(l->slots, l->slots_cnt, sizeof(*l->slots), by_vaddr);
	*out = l;
	return 0;
}

void linkage__free(struct linkage *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->needed_cnt; i++)
		free(l->needed[i]);
	free(l->needed);
	free(l->strings);
	free(l->names);
	free(l->definitions);
	free(l->slots);
	free(l);
}

const struct linkage_definition *linkage__definitions(const struct linkage *l, size_t *cnt)
{
	*cnt = l->definitions_cnt;
	return l->definitions;
}

const char *const *linkage__needed(const struct linkage *l, size_t *cnt)
{
	*cnt = l->needed_cnt;
	return (const char *const *)l->needed;
}

static const char *name_at(const struct linkage *l, uint64_t vaddr, bool import)
{
	size_t lo = LOWER_BOUND(l->slots_cnt, i, l->slots[i].vaddr < vaddr);

	/* Two relocations of one pointer: which of them holds depends on their order. */
	if (lo == l->slots_cnt || l->slots[lo].vaddr != vaddr ||
	    (lo + 1 < l->slots_cnt && l->slots[lo + 1].vaddr == vaddr) ||
	    (import && !l->slots[lo].is_import))
		return NULL;
	return l->names[l->slots[lo].symbol];
}

const char *linkage__import(const struct linkage *l, uint64_t vaddr)
{
	return name_at(l, vaddr, true);
}

const char *linkage__initial(const struct linkage *l, uint64_t vaddr)
{
	return name_at(l, vaddr, false);
}

bool linkage__is_program(const struct linkage *l)
{
	return l->is_program;
}
