// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/lookup.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "elf/sym_table.h"

static size_t look_in(const struct elf_image *img, uint32_t type, const char *const *names,
		      size_t cnt, uint64_t *vaddrs)
{
	struct sym_table tab;
	size_t len, found = 0;
	Elf64_Sym sym;

	if (sym_table__open(img, type, &tab))
		return 0;
	while (sym_table__next(&tab, &sym)) {
		const char *name =
			sym.st_shndx != SHN_UNDEF ? sym_table__name(&tab, &sym, &len) : NULL;

		for (size_t i = 0; name && i < cnt; i++) {
			if (vaddrs[i] || *name != *names[i] || strncmp(name, names[i], len) ||
			    names[i][len])
				continue;
			vaddrs[i] = sym.st_value;
			found += sym.st_value != 0;
		}
	}
	sym_table__close(&tab);
	return found;
}

size_t symbol_lookup(const struct elf_image *img, const char *const *names, size_t cnt,
		     uint64_t *vaddrs)
{
	size_t found;

	memset(vaddrs, 0, cnt * sizeof(*vaddrs));
	found = look_in(img, SHT_DYNSYM, names, cnt, vaddrs);
	if (found < cnt)
		found += look_in(img, SHT_SYMTAB, names, cnt, vaddrs);
	return found;
}

static bool is_used_in(const struct elf_image *img, uint32_t type, const char *wanted)
{
	struct sym_table tab;
	bool found = false;
	Elf64_Sym sym;
	size_t len;

	if (sym_table__open(img, type, &tab))
		return false;
	while (!found && sym_table__next(&tab, &sym)) {
		const char *name = sym_table__name(&tab, &sym, &len);

		found = name && !strncmp(name, wanted, len) && !wanted[len];
	}
	sym_table__close(&tab);
	return found;
}

bool symbol_is_used(const struct elf_image *img, const char *name)
{
	return is_used_in(img, SHT_DYNSYM, name) || is_used_in(img, SHT_SYMTAB, name);
}

static void look_for_data(const struct elf_image *img, uint32_t type, uint64_t vaddr,
			  struct data_symbol *out)
{
	struct sym_table tab;
	Elf64_Sym sym;
	size_t len;

	if (sym_table__open(img, type, &tab))
		return;
	while (sym_table__next(&tab, &sym)) {
		const char *name;

		if (ELF64_ST_TYPE(sym.st_info) != STT_OBJECT || sym.st_shndx == SHN_UNDEF ||
		    vaddr - sym.st_value >= sym.st_size || (out->size && out->size <= sym.st_size))
			continue;
		name = sym_table__name(&tab, &sym, &len);
		if (!name)
			continue;
		snprintf(out->name, sizeof(out->name), "%.*s",
			 (int)(len < sizeof(out->name) ? len : sizeof(out->name)), name);
		out->vaddr = sym.st_value;
		out->size = sym.st_size;
	}
	sym_table__close(&tab);
}

bool symbol_lookup_data(const struct elf_image *img, uint64_t vaddr, struct data_symbol *out)
{
	*out = (struct data_symbol){0};
	look_for_data(img, SHT_SYMTAB, vaddr, out);
	look_for_data(img, SHT_DYNSYM, vaddr, out);
	return out->size;
}
