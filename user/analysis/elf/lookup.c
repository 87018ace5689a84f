// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/lookup.h"

#include <elf.h>
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
			if (vaddrs[i] || strncmp(name, names[i], len) || names[i][len])
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
