// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/elf_reloc.h"

#include <string.h>

#include "arch/arch.h"
#include "elf/elf_image.h"
#include "elf/elf_inside.h"

/* Relocations of all sections together: sections may overlap in a file that was made to do harm. */
#define MAX_RELOCS (8u << 20)

static void apply_one(const Elf64_Rela *rela, uint32_t relative, uint64_t vaddr, uint8_t *bytes,
		      size_t len)
{
	uint64_t at = rela->r_offset - vaddr;

	if (ELF64_R_TYPE(rela->r_info) == relative && at < len &&
	    len - at >= sizeof(rela->r_addend))
		memcpy(bytes + at, &rela->r_addend, sizeof(rela->r_addend));
}

/* Whether the dynamic linker reads it, in the form that apply_section() knows. */
static bool is_read(const struct elf_section *sec)
{
	return sec->type == SHT_RELA && sec->entsize == sizeof(Elf64_Rela) &&
	       (sec->flags & SHF_ALLOC) && !(sec->flags & SHF_COMPRESSED);
}

/* Returns how many entries were read. */
static uint64_t apply_section(const struct elf_image *img, const struct elf_section *sec,
			      uint64_t max, uint64_t vaddr, uint8_t *bytes, size_t len)
{
	uint32_t relative = elf_image__arch(img)->relocations.relative;
	uint64_t cnt = sec->size / sizeof(Elf64_Rela), done = 0;
	Elf64_Rela buf[512];

	if (cnt > max)
		cnt = max;
	while (done < cnt) {
		uint64_t want = cnt - done < 512 ? cnt - done : 512;
		int64_t got = elf_image__read(img, sec->offset + done * sizeof(*buf), buf,
					      want * sizeof(*buf));

		if (got < (int64_t)sizeof(*buf))
			break;
		got /= sizeof(*buf);
		for (int64_t i = 0; i < got; i++)
			apply_one(&buf[i], relative, vaddr, bytes, len);
		done += got;
	}
	return done;
}

void elf_reloc__apply(const struct elf_image *img, uint64_t vaddr, void *bytes, size_t len)
{
	uint64_t left = MAX_RELOCS;
	size_t cnt;
	const struct elf_section *sections = elf_image__sections(img, &cnt);

	for (size_t i = 0; i < cnt && left; i++) {
		const struct elf_section *sec = &sections[i];

		if (is_read(sec))
			left -= apply_section(img, sec, left, vaddr, bytes, len);
	}
}

bool elf_reloc__has_all(const struct elf_image *img)
{
	const struct elf_section *sections;
	bool has_some = false;
	size_t cnt;

	sections = elf_image__sections(img, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		if (sections[i].type == SHT_RELR)
			return false;
		has_some |= is_read(&sections[i]);
	}
	return has_some && !elf_image__is_fixed(img);
}
