// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Layouts after the Go sources, src/runtime/symtab.go and src/cmd/link/internal/ld/pcln.go. All
 * versions have a header, a table of (address, offset of a record) pairs that ends with a lone
 * address, and records that begin with (address, offset of the name). They differ in where these
 * lie, what the offsets count from, and whether addresses are pointers or distances from the start
 * of the text.
 */
#include "unwind/go_pclntab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_image.h"
#include "elf/elf_inside.h"
#include "elf/elf_reloc.h"
#include "util/log.h"

#define MAX_SIZE     (256u << 20)
#define MAX_FUNCS    (8u << 20)
#define MAX_NAME_LEN (64u << 10)
/* Records may share one huge name: without a bound on the sum, reading them is quadratic. */
#define NAME_BUDGET (512u << 20)

#define MAGIC_1_2  0xfffffffb
#define MAGIC_1_16 0xfffffffa
#define MAGIC_1_18 0xfffffff0
#define MAGIC_1_20 0xfffffff1

/* Words of 8 bytes behind the first 8 bytes of the header. */
struct layout {
	uint32_t magic;
	uint8_t addr_size; /* of an address or a distance in the function table: 8 or 4 */
	int8_t text_word;  /* start of the text; -1: addresses are pointers */
	int8_t names_word; /* offset of the names; -1: the header */
	int8_t funcs_word; /* offset of the function table; -1: right behind the header */
	int8_t pcs_word;   /* offset of what is told along code; -1: the header */
	int8_t flags_at;   /* bytes behind the address in a record; -1: there are none */
};

static const struct layout layouts[] = {
	{MAGIC_1_2, 8, -1, -1, -1, -1, -1},
	{MAGIC_1_16, 8, -1, 2, 6, 5, 33},
	{MAGIC_1_18, 4, 2, 3, 7, 6, 33},
	{MAGIC_1_20, 4, 2, 3, 7, 6, 37},
};

#define DEPTHS_AT 12 /* bytes behind the address in a record */

#define HEADER_SIZE   8
#define HEADER_ALIGN  8
#define MAX_HEADERS   16 /* what looks like one is tried, where the table has no section */
#define FUNC_CNT_WORD 0

struct go_pclntab {
	void *block;	/* what was read of the file */
	uint8_t *bytes; /* the table in it, up to the block's end */
	uint64_t len;
	const struct layout *layout;
	uint64_t text;	/* what addresses are counted from */
	uint64_t names; /* offsets in bytes[] of what the table's offsets count from */
	uint64_t pcs;
	uint64_t funcs; /* ... and of the function table, from which those of records count */
	uint64_t records;
	uint64_t cnt, next;
	uint64_t name_budget;
};

/* A little-endian number of `size` bytes, 4 or 8; whether it is within the table. */
static bool read_number(const struct go_pclntab *tab, uint64_t at, uint8_t size, uint64_t *value)
{
	*value = 0;
	if (at > tab->len || size > tab->len - at)
		return false;
	memcpy(value, tab->bytes + at, size);
	return true;
}

static bool read_word(const struct go_pclntab *tab, int word, uint64_t *value)
{
	return read_number(tab, HEADER_SIZE + 8 * word, 8, value);
}

/* Returns 0, or -ENOENT if the layout is not known. */
static int find_layout(struct go_pclntab *tab)
{
	uint32_t magic;

	tab->layout = NULL;
	if (tab->len < HEADER_SIZE)
		return -ENOENT;
	memcpy(&magic, tab->bytes, sizeof(magic));
	/* Two zeros, the least size of an instruction, the size of a pointer. */
	if (tab->bytes[4] || tab->bytes[5] || tab->bytes[6] != 1 || tab->bytes[7] != 8)
		return -ENOENT;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		if (layouts[i].magic == magic)
			tab->layout = &layouts[i];
	}
	return tab->layout ? 0 : -ENOENT;
}

/* Since 1.26 the header leaves the start of the text out; the runtime finds it in its description
 * of the module, as its 23rd word. Returns 0 if it is not there. */
static uint64_t module_text(const struct elf_image *img)
{
	const struct elf_section *sec = elf_section__by_name(img, ".go.module");
	uint64_t text, at = 22 * sizeof(text);

	if (!sec || sec->type == SHT_NOBITS || sec->size < at + sizeof(text) ||
	    elf_image__read(img, sec->offset + at, &text, sizeof(text)) != sizeof(text))
		return 0;
	elf_reloc__apply(img, sec->addr + at, &text, sizeof(text));
	return text;
}

/* Returns 0, -ENOENT, or -ENOEXEC for a damaged header. */
static int read_header(struct go_pclntab *tab, const struct elf_image *img)
{
	const struct layout *l;
	uint64_t last;
	int err = find_layout(tab);

	if (err)
		return err;
	l = tab->layout;
	if (!read_word(tab, FUNC_CNT_WORD, &tab->cnt))
		return -ENOEXEC;
	tab->text = tab->names = tab->pcs = 0;
	tab->funcs = HEADER_SIZE + 8;
	if ((l->text_word >= 0 && !read_word(tab, l->text_word, &tab->text)) ||
	    (l->names_word >= 0 && !read_word(tab, l->names_word, &tab->names)) ||
	    (l->pcs_word >= 0 && !read_word(tab, l->pcs_word, &tab->pcs)) ||
	    (l->funcs_word >= 0 && !read_word(tab, l->funcs_word, &tab->funcs)))
		return -ENOEXEC;
	tab->records = l->funcs_word >= 0 ? tab->funcs : 0;
	if (l->text_word >= 0 && !tab->text)
		tab->text = module_text(img);
	if (l->text_word >= 0 && !tab->text)
		return -ENOENT;
	/* The lone address at the end is there: so is everything before it. */
	if (!tab->cnt || tab->cnt > MAX_FUNCS || tab->funcs > tab->len || tab->names > tab->len ||
	    !read_number(tab, tab->funcs + tab->cnt * 2 * l->addr_size, l->addr_size, &last))
		return -ENOEXEC;
	return 0;
}

/* Reads the section that holds the table, pointers filled in. */
static int read_section(struct go_pclntab *tab, const struct elf_image *img,
			const struct elf_section *sec)
{
	int err = elf_section__read(img, sec, MAX_SIZE, &tab->block);

	if (err)
		return err;
	tab->bytes = tab->block;
	tab->len = sec->size;
	tab->name_budget = NAME_BUDGET;
	elf_reloc__apply(img, sec->addr, tab->bytes, tab->len);
	return 0;
}

/* Looks for the table among what else the section holds. */
static int search_section(struct go_pclntab *tab, const struct elf_image *img)
{
	for (int tried = 0; tried < MAX_HEADERS && tab->len > HEADER_ALIGN;) {
		if (!find_layout(tab)) {
			tried++;
			if (!read_header(tab, img))
				return 0;
		}
		tab->bytes += HEADER_ALIGN;
		tab->len -= HEADER_ALIGN;
	}
	return -ENOENT;
}

static int find_table(struct go_pclntab *tab, const struct elf_image *img)
{
	/* Go's linker puts it among what is relocated if the program can be loaded anywhere (not
	 * since 1.26), other linkers mix it with that then. */
	const struct elf_section *sec =
		elf_section__by_name(img, ".gopclntab")
			?: elf_section__by_name(img, ".data.rel.ro.gopclntab");
	int err;

	if (sec) {
		err = read_section(tab, img, sec);
		return err ? err : read_header(tab, img);
	}
	sec = go_made(img) ? elf_section__by_name(img, ".data.rel.ro") : NULL;
	if (!sec)
		return -ENOENT;
	err = read_section(tab, img, sec);
	return err ? err : search_section(tab, img);
}

int go_pclntab__try(const struct elf_image *img, struct go_pclntab **out)
{
	struct go_pclntab *tab = calloc(1, sizeof(*tab));
	int err = tab ? find_table(tab, img) : -ENOMEM;

	if (err)
		go_pclntab__free(tab);
	else
		*out = tab;
	return err;
}

int go_pclntab__open(const struct elf_image *img, struct go_pclntab **out)
{
	int err = go_pclntab__try(img, out);

	if (err == -ENOEXEC) {
		log_warn("elf: '%s': damaged .gopclntab ignored", elf_image__label(img));
		return -ENOENT;
	}
	if (err && err != -ENOENT)
		log_error("elf: cannot read .gopclntab of '%s': %s", elf_image__label(img),
			  strerror(-err));
	return err;
}

void go_pclntab__free(struct go_pclntab *tab)
{
	if (!tab)
		return;
	free(tab->block);
	free(tab);
}

/* The address of function `index`, or of the end of the last; the table has been found to hold it.
 */
static uint64_t address(const struct go_pclntab *tab, uint64_t index)
{
	uint8_t size = tab->layout->addr_size;
	uint64_t value;

	read_number(tab, tab->funcs + index * 2 * size, size, &value);
	return tab->text + value;
}

void go_pclntab__range(const struct go_pclntab *tab, uint64_t *start, uint64_t *end)
{
	*start = address(tab, 0);
	*end = address(tab, tab->cnt);
}

/* The place of the record of function `index`. */
static bool record_of(const struct go_pclntab *tab, uint64_t index, uint64_t *at)
{
	uint8_t size = tab->layout->addr_size;

	read_number(tab, tab->funcs + (index * 2 + 1) * size, size, at);
	if (*at > tab->len)
		return false;
	*at += tab->records;
	return true;
}

static bool read_name(struct go_pclntab *tab, uint64_t record, struct go_func *func)
{
	uint64_t offset, max;

	if (!read_number(tab, record + tab->layout->addr_size, 4, &offset))
		return false;
	offset += tab->names;
	if (offset >= tab->len || !tab->name_budget)
		return false;
	/* A NUL stands behind the last byte. */
	func->name = (char *)tab->bytes + offset;
	max = tab->len - offset < MAX_NAME_LEN ? tab->len - offset : MAX_NAME_LEN;
	func->len = strnlen(func->name, max + 1);
	tab->name_budget -= func->len < tab->name_budget ? func->len : tab->name_budget;
	return func->len && func->len <= max;
}

static uint8_t flags_of(const struct go_pclntab *tab, uint64_t record)
{
	uint64_t at = record + tab->layout->addr_size + tab->layout->flags_at;

	return tab->layout->flags_at >= 0 && at < tab->len ? tab->bytes[at] : 0;
}

static uint64_t depths_of(const struct go_pclntab *tab, uint64_t record)
{
	uint64_t offset;

	if (!read_number(tab, record + tab->layout->addr_size + DEPTHS_AT, 4, &offset) || !offset)
		return 0;
	return tab->pcs + offset;
}

bool go_pclntab__next(struct go_pclntab *tab, struct go_func *func)
{
	while (tab->next < tab->cnt) {
		uint64_t index = tab->next++, end = address(tab, index + 1), record;

		func->vaddr = address(tab, index);
		func->size = end - func->vaddr;
		if (end <= func->vaddr || !record_of(tab, index, &record) ||
		    !read_name(tab, record, func))
			continue;
		func->flags = flags_of(tab, record);
		func->depths = depths_of(tab, record);
		return true;
	}
	return false;
}

char *go_pclntab__take_names(struct go_pclntab *tab)
{
	char *names = tab->block;

	tab->block = tab->bytes = NULL;
	return names;
}

bool go_pclntab__has_flags(const struct go_pclntab *tab)
{
	for (uint64_t i = 0; i < tab->cnt; i++) {
		uint64_t record;

		if (record_of(tab, i, &record) && flags_of(tab, record) & GO_FUNC_OUTERMOST)
			return true;
	}
	return false;
}

/* A number in groups of seven bits, the least first; false: the table ends. */
static bool read_groups(const struct go_pclntab *tab, uint64_t *at, uint32_t *value)
{
	*value = 0;
	for (int shift = 0; shift < 32 && *at < tab->len; shift += 7) {
		uint8_t byte = tab->bytes[(*at)++];

		*value |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* Pairs of what the depth grows by, its sign in the lowest bit, and of how long it holds; the first
 * grows from -1, and 0 is the end. */
bool go_depths__next(const struct go_pclntab *tab, struct go_depths *d)
{
	bool first = !d->at;
	uint32_t more, bytes;

	if (first) {
		d->at = d->func->depths;
		d->end = d->func->vaddr;
		d->depth = -1;
	}
	if (!d->at || !read_groups(tab, &d->at, &more) || (!more && !first) ||
	    !read_groups(tab, &d->at, &bytes))
		return false;
	d->depth += more & 1 ? -(int64_t)(more >> 1) - 1 : (int64_t)(more >> 1);
	d->start = d->end;
	d->end += bytes;
	if (d->end > d->func->vaddr + d->func->size)
		d->end = d->func->vaddr + d->func->size;
	return d->start < d->end;
}

bool go_made(const struct elf_image *img)
{
	return elf_section__by_name(img, ".go.buildinfo") ||
	       elf_section__by_name(img, ".note.go.buildid") ||
	       elf_section__by_name(img, ".gopclntab") ||
	       elf_section__by_name(img, ".data.rel.ro.gopclntab");
}
