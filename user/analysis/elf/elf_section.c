// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/elf_inside.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_bytes.h"

#define MAX_NAMES_SIZE (16u << 20)
#define MAX_STRINGS    (256u << 20) /* of all tables: they may overlap in a file made for it */

/*
 * Names are looked up here and not by elf_strptr(), which searches the whole table for a NUL on
 * each call: quadratic in a file made for it.
 */
static int read_names(const struct elf_image *img, char **names, size_t *names_len)
{
	GElf_Shdr sh;
	size_t index;
	Elf_Scn *scn;
	void *block;
	int err;

	if (elf_getshdrstrndx(elf_image__elf(img), &index) || !index)
		return 0;
	scn = elf_getscn(elf_image__elf(img), index);
	if (!scn || !gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS)
		return 0;
	err = elf_image__read_block(img, sh.sh_offset, sh.sh_size, MAX_NAMES_SIZE, &block);
	if (err)
		return err == -ENOMEM ? err : 0;
	*names = block;
	*names_len = sh.sh_size;
	return 0;
}

int elf_section__load_all(const struct elf_image *img, struct elf_section **items, size_t *cnt,
			  char **names)
{
	size_t total, names_len = 0, i;
	GElf_Shdr sh;
	int err;

	if (elf_getshdrnum(elf_image__elf(img), &total) || !total)
		return 0;
	err = read_names(img, names, &names_len);
	if (err)
		return err;
	*items = calloc(total, sizeof(**items));
	if (!*items)
		return -ENOMEM;
	for (i = 0; i < total; i++) {
		if (!gelf_getshdr(elf_getscn(elf_image__elf(img), i), &sh))
			break;
		(*items)[i] = (struct elf_section){
			.name = sh.sh_name < names_len ? *names + sh.sh_name : "",
			.type = sh.sh_type,
			.link = sh.sh_link,
			.flags = sh.sh_flags,
			.addr = sh.sh_addr,
			.offset = sh.sh_offset,
			.size = sh.sh_size,
			.entsize = sh.sh_entsize,
		};
	}
	*cnt = i;
	return 0;
}

const struct elf_section *elf_section__at(const struct elf_image *img, size_t number)
{
	size_t cnt;
	const struct elf_section *sections = elf_image__sections(img, &cnt);

	return number < cnt ? &sections[number] : NULL;
}

const struct elf_section *elf_section__by_name(const struct elf_image *img, const char *name)
{
	size_t cnt, i;
	const struct elf_section *sections = elf_image__sections(img, &cnt);

	for (i = 0; i < cnt; i++) {
		if (!strcmp(sections[i].name, name))
			return &sections[i];
	}
	return NULL;
}

const struct elf_section *elf_section__by_type(const struct elf_image *img, uint32_t type)
{
	size_t cnt, i;
	const struct elf_section *sections = elf_image__sections(img, &cnt);

	for (i = 0; i < cnt; i++) {
		if (sections[i].type == type)
			return &sections[i];
	}
	return NULL;
}

static bool has_plain_bytes(const struct elf_section *sec)
{
	return sec->type != SHT_NOBITS && !(sec->flags & SHF_COMPRESSED);
}

int elf_section__read(const struct elf_image *img, const struct elf_section *sec, uint64_t max,
		      void **out)
{
	if (!has_plain_bytes(sec))
		return -ENOEXEC;
	return elf_image__read_block(img, sec->offset, sec->size, max, out);
}

bool elf_section__look(const struct elf_image *img, const struct elf_section *sec, uint64_t *left,
		       bool (*look)(void *ctx, const struct elf_part *part), void *ctx)
{
	uint64_t size = sec->size;
	bool found = false;
	char *bytes;

	if (!has_plain_bytes(sec) || size > *left)
		return false;
	bytes = malloc(ELF_PART_SIZE);
	if (!bytes)
		return false;
	*left -= size;
	for (uint64_t at = 0; at < size && !found; at += ELF_PART_SIZE - ELF_PART_OVERLAP) {
		size_t len = size - at < ELF_PART_SIZE ? size - at : ELF_PART_SIZE;
		int64_t got = elf_image__read(img, sec->offset + at, bytes, len);
		struct elf_part part = {bytes, len, !at};

		if (got < 0 || (size_t)got < len) /* the file is cut off */
			break;
		found = look(ctx, &part);
	}
	free(bytes);
	return found;
}

static bool has_text(void *text, const struct elf_part *part)
{
	return memmem(part->bytes, part->size, text, strlen(text)) != NULL;
}

bool elf_image__mentions(const struct elf_image *img, const char *text)
{
	const struct elf_section *sections;
	uint64_t left = MAX_STRINGS;
	bool found = false;
	size_t cnt;

	sections = elf_image__sections(img, &cnt);
	for (size_t i = 0; i < cnt && !found; i++) {
		if (sections[i].type == SHT_STRTAB)
			found = elf_section__look(img, &sections[i], &left, has_text, (char *)text);
	}
	return found;
}
