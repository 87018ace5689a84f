// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/thread_variable.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "elf/elf_image.h"
#include "elf/elf_inside.h"
#include "elf/sym_table.h"
#include "security/link_map.h"
#include "security/opener.h"
#include "symbol/demangle.h"

static const Elf64_Phdr *find_tls(const struct elf_image *img)
{
	const Elf64_Phdr *phdrs;
	size_t cnt;

	phdrs = elf_image__phdrs(img, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		if (phdrs[i].p_type == PT_TLS)
			return &phdrs[i];
	}
	return NULL;
}

static bool is_called(const char *symbol, const char *name)
{
	char *plain = demangle(symbol);
	const char *last = plain ? strrchr(plain, ':') : NULL;
	bool found = !strcmp(symbol, name) ||
		     (plain && (!strcmp(plain, name) || (last && !strcmp(last + 1, name))));

	free(plain);
	return found;
}

static bool find_symbol(const struct elf_image *img, uint32_t type, const char *wanted,
			uint64_t *value, uint64_t *size)
{
	struct sym_table tab;
	bool found = false;
	Elf64_Sym sym;
	size_t len;

	if (sym_table__open(img, type, &tab))
		return false;
	while (!found && sym_table__next(&tab, &sym)) {
		const char *name;
		char *copy;

		if (ELF64_ST_TYPE(sym.st_info) != STT_TLS || sym.st_shndx == SHN_UNDEF ||
		    !sym.st_size)
			continue;
		name = sym_table__name(&tab, &sym, &len);
		copy = name ? strndup(name, len) : NULL;
		found = copy && is_called(copy, wanted);
		free(copy);
		*value = sym.st_value;
		*size = sym.st_size;
	}
	sym_table__close(&tab);
	return found;
}

/* Not so a library that needs no other one. */
static bool is_program(const struct elf_image *img)
{
	return elf_image__is_program(img) || (elf_image__is_static(img) && elf_image__entry(img));
}

/* The variable and what all of the object's take, if both can be. */
static bool find_inside(const struct elf_image *img, const char *name, const Elf64_Phdr *tls,
			uint64_t *value, uint64_t *size)
{
	const uint64_t bytes = tls->p_memsz, align = tls->p_align;

	if (!find_symbol(img, SHT_SYMTAB, name, value, size) &&
	    !find_symbol(img, SHT_DYNSYM, name, value, size))
		return false;
	return bytes <= INT32_MAX / 2 && align <= INT32_MAX / 2 && !(align & (align - 1)) &&
	       *size <= bytes && *value <= bytes - *size;
}

bool thread_variable__find(const struct elf_image *img, const char *name,
			   struct thread_variable *out)
{
	const Elf64_Phdr *tls = find_tls(img);
	uint64_t value, align, header;

	if (!tls || !is_program(img) || !find_inside(img, name, tls, &value, &out->size))
		return false;
	align = tls->p_align ? tls->p_align : 1;
	header = elf_image__arch(img)->thread_header;
	out->offset = header ? (int64_t)(((header + align - 1) & -align) + value)
			     : (int64_t)value - (int64_t)((tls->p_memsz + align - 1) & -align);
	return true;
}

bool thread_variable__in_library(const struct elf_image *img, const char *name,
				 struct thread_variable *out)
{
	const Elf64_Phdr *tls = find_tls(img);
	uint64_t value;

	if (!tls || is_program(img) || !find_inside(img, name, tls, &value, &out->size))
		return false;
	out->offset = value;
	return true;
}

int thread_variable__place(const struct elf_image *img, const struct thread_library *in,
			   struct thread_variable *v)
{
	const struct link_map_query q = {in->list, in->dynamic, in->field};
	const int64_t distance = opener__tls_offset(in->pid, &q);

	if (distance < 0 || distance > LINK_MAP_OFFSET)
		return distance < 0 ? (int)distance : -ERANGE;
	v->offset += elf_image__arch(img)->thread_header ? (int32_t)distance : -(int32_t)distance;
	return 0;
}
