// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "elf/elf_image.h"
#include "elf/elf_inside.h"

#define MAX_BUILD_ID  64
#define MAX_NOTE_SIZE (64u << 10)

static uint64_t pad(uint64_t len, uint64_t align)
{
	return (len + align - 1) & ~(align - 1);
}

static size_t find_in_notes(const char *notes, uint64_t len, uint64_t align, uint8_t id[64])
{
	uint64_t at = 0;

	while (at <= len && len - at >= sizeof(Elf64_Nhdr)) {
		const char *name = notes + at + sizeof(Elf64_Nhdr);
		uint64_t desc_at;
		Elf64_Nhdr note;

		memcpy(&note, notes + at, sizeof(note));
		desc_at = pad(at + sizeof(note) + note.n_namesz, align);
		if (desc_at > len || note.n_descsz > len - desc_at)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
		    !memcmp(name, "GNU", sizeof("GNU")) && note.n_descsz <= MAX_BUILD_ID) {
			memcpy(id, notes + desc_at, note.n_descsz);
			return note.n_descsz;
		}
		at = pad(desc_at + note.n_descsz, align);
	}
	return 0;
}

static size_t find_in_range(const struct elf_image *img, uint64_t off, uint64_t size,
			    uint64_t align, uint8_t id[64])
{
	void *notes;
	size_t len;

	if (elf_image__read_block(img, off, size, MAX_NOTE_SIZE, &notes))
		return 0;
	len = find_in_notes(notes, size, align == 8 ? 8 : 4, id);
	free(notes);
	return len;
}

/* The section first: in a separate debug file the segments' offsets may mean nothing. */
size_t elf_image__build_id(const struct elf_image *img, uint8_t id[64])
{
	const struct elf_section *sec = elf_section__by_name(img, ".note.gnu.build-id");
	const Elf64_Phdr *phdrs;
	size_t cnt, i, len = 0;

	if (sec && sec->type == SHT_NOTE)
		len = find_in_range(img, sec->offset, sec->size, 4, id);
	phdrs = elf_image__phdrs(img, &cnt);
	for (i = 0; i < cnt && !len; i++) {
		if (phdrs[i].p_type == PT_NOTE)
			len = find_in_range(img, phdrs[i].p_offset, phdrs[i].p_filesz,
					    phdrs[i].p_align, id);
	}
	return len;
}
