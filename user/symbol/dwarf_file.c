// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libdw parses, and checks what it parses against the sections. Left to us: how much there may be
 * of it, references in circles, and that it opens no file that a stranger names (DWZ's common file,
 * which it would look for by path; split units are never asked for).
 */
#include "symbol/dwarf_file.h"

#include <errno.h>
#include <string.h>

#include "symbol/debug_file.h"
#include "symbol/elf_image.h"
#include "symbol/elf_inside.h"

#define MAX_SECTIONS (2ull << 30) /* bytes of debug information, unpacked */

static bool is_debug(const struct elf_section *sec)
{
	return !strncmp(sec->name, ".debug_", strlen(".debug_"));
}

/* Bytes that the section takes once it is unpacked. */
static uint64_t unpacked_size(const struct elf_image *img, const struct elf_section *sec)
{
	Elf64_Chdr header;

	if (!(sec->flags & SHF_COMPRESSED))
		return sec->size;
	if (elf_image__read(img, sec->offset, &header, sizeof(header)) != sizeof(header))
		return UINT64_MAX;
	return header.ch_size;
}

/* Returns 0, -ENOENT or -ENOTSUP. */
static int check_sections(const struct elf_image *img)
{
	const struct elf_section *info = elf_section__by_name(img, ".debug_info"), *sec;
	uint64_t left = MAX_SECTIONS;
	size_t cnt;

	/* Debug files have the names of all sections, of code too, without their bytes. */
	if (!info || info->type == SHT_NOBITS)
		return -ENOENT;
	if (elf_section__by_name(img, ".gnu_debugaltlink"))
		return -ENOTSUP;
	sec = elf_image__sections(img, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		uint64_t size = is_debug(&sec[i]) ? unpacked_size(img, &sec[i]) : 0;

		if (size > left || !strncmp(sec[i].name, ".zdebug_", strlen(".zdebug_")))
			return -ENOTSUP;
		left -= size;
	}
	return 0;
}

int dwarf_file__open(struct dwarf_file *f, const struct elf_image *img, const char *root)
{
	const struct elf_image *from = img;
	int err = check_sections(img);

	*f = (struct dwarf_file){0};
	if (err == -ENOENT) {
		err = debug_file__open(img, root, &f->debug);
		from = f->debug;
		if (!err)
			err = check_sections(from);
	}
	/* A container's own root folder says which debug file belongs to root's object. */
	if (!err)
		f->is_roots = elf_image__is_roots(img) &&
			      (from == img || (!*root && elf_image__is_roots(from)));
	if (!err)
		f->dwarf = dwarf_begin_elf(elf_image__elf(from), DWARF_C_READ, NULL);
	return err || f->dwarf ? err : -ENOENT;
}

void dwarf_file__close(struct dwarf_file *f)
{
	dwarf_end(f->dwarf);
	elf_image__free(f->debug);
}

uint64_t dwarf_file__size(const struct dwarf_file *f, const struct elf_image *img,
			  const char *section)
{
	const struct elf_image *from = f->debug ? f->debug : img;
	const struct elf_section *sec = elf_section__by_name(from, section);

	return sec && sec->type != SHT_NOBITS ? unpacked_size(from, sec) : 0;
}
