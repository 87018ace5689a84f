// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libdw parses, and checks what it parses against the sections. Left to us: how much there may be
 * of it, references in circles, and that it opens no file that a stranger names (DWZ's common file,
 * which it would look for by path; split units are never asked for).
 */
#include "dwarf/dwarf_file.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <search.h>
#include <string.h>

#include "elf/debug_file.h"
#include "elf/elf_image.h"
#include "elf/elf_inside.h"

/* Bytes of debug information, unpacked: compilers' shrinks to a third or a sixth. */
#define MAX_SECTIONS (2ull << 30)
#define MIN_SECTIONS (64ull << 20) /* granted to every file */
#define MAX_UNPACKED 16		   /* ... and for each of its bytes */

/* Compilers' units have hundreds of bytes; libdw keeps 1.4 kB for each. */
#define MIN_UNITS  4096
#define UNIT_BYTES 64

/* Memory, in bytes, that libdw takes for each byte of a line table: at most a row. */
#define ROW_BYTES 90

/* Nobody here asks for these. Location lists alone are a quarter of python3's debug information. */
static bool is_unread(const struct elf_section *sec)
{
	static const char *const unread[] = {".debug_loclists", ".debug_loc",	  ".debug_macro",
					     ".debug_macinfo",	".debug_aranges", ".debug_names"};

	for (size_t i = 0; i < sizeof(unread) / sizeof(*unread); i++) {
		if (!strcmp(sec->name, unread[i]))
			return true;
	}
	return false;
}

static bool is_debug(const struct elf_section *sec)
{
	return !strncmp(sec->name, ".debug_", strlen(".debug_")) && !is_unread(sec);
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

static uint64_t sections_limit(const struct elf_image *img)
{
	uint64_t limit = MIN_SECTIONS + MAX_UNPACKED * elf_image__stored(img);

	return limit < MAX_SECTIONS ? limit : MAX_SECTIONS;
}

/* Returns 0, -ENOENT or -ENOTSUP. */
static int check_sections(const struct elf_image *img, struct dwarf_sizes *total)
{
	const struct elf_section *info = elf_section__by_name(img, ".debug_info"), *sec;
	uint64_t left = sections_limit(img);
	size_t cnt;

	*total = (struct dwarf_sizes){0};

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
		*(sec[i].flags & SHF_COMPRESSED ? &total->packed : &total->plain) += size;
	}
	return 0;
}

/* libdw has unpacked them in place. Texts at their ends need not end themselves, so a NUL comes
 * behind each; what is returned is the image's. Returns 0 or -ENOMEM. */
static int find_sections(struct dwarf_file *f, const struct elf_image *from)
{
	const struct {
		const char *name;
		struct line_section *section;
	} wanted[] = {
		{".debug_info", &f->sections.info},	    {".debug_types", NULL},
		{".debug_line", &f->sections.lines},	    {".debug_str", &f->sections.strings},
		{".debug_line_str", &f->sections.line_str},
	};
	bool seen[sizeof(wanted) / sizeof(*wanted)] = {false};
	Elf *elf = dwarf_getelf(f->dwarf);
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		const struct elf_section *sec = elf_section__at(from, elf_ndxscn(scn));
		Elf_Data *data, *raw;

		for (size_t i = 0; sec && i < sizeof(wanted) / sizeof(*wanted); i++) {
			/* libdw takes the first one that has bytes, too. */
			if (seen[i] || strcmp(sec->name, wanted[i].name))
				continue;
			/* libelf has two descriptions of the bytes. libdw goes by the first, and
			 * newer ones by the second. */
			data = elf_getdata(scn, NULL);
			raw = elf_rawdata(scn, NULL);
			if (!data || !data->d_buf || !data->d_size)
				continue;
			seen[i] = true;
			if (elf_image__end_text(from, data))
				return -ENOMEM;
			if (raw && raw->d_size == data->d_size)
				raw->d_buf = data->d_buf;
			if (wanted[i].section)
				*wanted[i].section =
					(struct line_section){data->d_buf, data->d_size};
		}
	}
	return 0;
}

/* libdw makes all units up to the one that is asked for in one go: here they come one by one. */
static int make_units(struct dwarf_file *f)
{
	uint64_t cnt = 0, limit = MIN_UNITS + f->sections.info.size / UNIT_BYTES;
	Dwarf_Off at = 0;
	Dwarf_Die unit;

	dwarf_budget__enter(&f->budget);
	while (cnt <= limit && dwarf_file__unit(f, &at, &unit))
		cnt++;
	dwarf_budget__leave(&f->budget);
	return cnt > limit || f->budget.used_up ? -ENOTSUP : 0;
}

/* Lets libdw take the sections that nobody here reads for ones without bytes: it would unpack them
 * all. */
static void leave_out_unread(Elf *elf, const struct elf_image *from)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	while ((scn = elf_nextscn(elf, scn))) {
		const struct elf_section *sec = elf_section__at(from, elf_ndxscn(scn));

		if (!sec || !is_unread(sec) || !gelf_getshdr(scn, &header))
			continue;
		header.sh_type = SHT_NOBITS; /* in memory alone */
		gelf_update_shdr(scn, &header);
	}
}

/* Unpacks what libdw may not be able to, within the limit that check_sections() goes by. */
static void unpack(Elf *elf, const struct elf_image *from)
{
	uint64_t left = sections_limit(from);
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		const struct elf_section *sec = elf_section__at(from, elf_ndxscn(scn));

		if (sec && is_debug(sec))
			left -= elf_image__unpack(from, scn, left);
	}
}

static int begin(struct dwarf_file *f, const struct elf_image *from, uint64_t sections,
		 const char *label)
{
	uint64_t bytes = elf_image__stored(from);
	int err;

	dwarf_budget__begin(&f->budget, bytes, label);
	if (!dwarf_budget__grants(&f->budget, sections))
		return -ENOTSUP;
	f->lines_left = dwarf_budget__share(bytes) / ROW_BYTES;
	leave_out_unread(elf_image__elf(from), from);
	unpack(elf_image__elf(from), from);
	f->dwarf = dwarf_begin_elf(elf_image__elf(from), DWARF_C_READ, NULL);
	if (!f->dwarf)
		return -ENOENT;
	err = find_sections(f, from);
	return err ? err : make_units(f);
}

/* Finds the sections in the image, or in its separate debug file, which becomes *debug (NULL: they
 * are in the image). Returns 0, or as dwarf_file__open(). */
static int find_sections_of(const struct elf_image *img, const char *root, struct elf_image **debug,
			    struct dwarf_sizes *sizes)
{
	int err = check_sections(img, sizes);

	*debug = NULL;
	if (err != -ENOENT)
		return err;
	err = debug_file__open(img, root, debug);
	return err ? err : check_sections(*debug, sizes);
}

int dwarf_file__open(struct dwarf_file *f, const struct elf_image *img, const char *root)
{
	const struct elf_image *from;
	struct dwarf_sizes sizes;
	int err;

	*f = (struct dwarf_file){0};
	err = find_sections_of(img, root, &f->debug, &sizes);
	from = f->debug ? f->debug : img;
	/* A container's own root folder says which debug file belongs to root's object. */
	if (!err)
		f->is_roots = elf_image__is_roots(img) &&
			      (from == img || (!*root && elf_image__is_roots(from)));
	return err ? err : begin(f, from, sizes.plain + sizes.packed, elf_image__label(img));
}

struct dwarf_sizes dwarf_file__sizes(const struct elf_image *img, const char *root)
{
	struct elf_image *debug = NULL;
	struct dwarf_sizes sizes;
	int err = find_sections_of(img, root, &debug, &sizes);

	elf_image__free(debug);
	return err ? (struct dwarf_sizes){0} : sizes;
}

static void forget_table(void *table)
{
}

void dwarf_file__close(struct dwarf_file *f)
{
	tdestroy(f->tables, forget_table);
	dwarf_end(f->dwarf);
	dwarf_budget__end(&f->budget);
	elf_image__free(f->debug);
}

bool dwarf_file__attribute(const Dwarf_Die *die, unsigned int name, Dwarf_Attribute *out)
{
	Dwarf_Die at = *die;

	for (int i = 0; i < DWARF_CHAIN; i++) {
		Dwarf_Attribute ref;

		if (dwarf_attr(&at, name, out))
			return true;
		if ((!dwarf_attr(&at, DW_AT_abstract_origin, &ref) &&
		     !dwarf_attr(&at, DW_AT_specification, &ref)) ||
		    !dwarf_formref_die(&ref, &at))
			return false;
	}
	return false;
}

bool dwarf_file__sibling(struct dwarf_file *f, Dwarf_Die *die)
{
	return dwarf_budget__lasts(&f->budget) && !dwarf_siblingof(die, die);
}

bool dwarf_file__unit(struct dwarf_file *f, Dwarf_Off *at, Dwarf_Die *unit)
{
	Dwarf_Off next, from = *at;
	size_t header;

	while (dwarf_budget__lasts(&f->budget) &&
	       !dwarf_nextcu(f->dwarf, from, &next, &header, NULL, NULL, NULL)) {
		bool found = dwarf_offdie(f->dwarf, from + header, unit);

		if (next <= from)
			return false;
		*at = from = next;
		if (found)
			return true;
	}
	return false;
}

static int table_order(const void *a, const void *b)
{
	return (uintptr_t)a < (uintptr_t)b ? -1 : (uintptr_t)a > (uintptr_t)b;
}

bool dwarf_file__may_read_lines(struct dwarf_file *f, Dwarf_Die *unit)
{
	const struct line_section *lines = &f->sections.lines;
	uint64_t size = 0;
	Dwarf_Attribute attr;
	Dwarf_Word at;

	if (!dwarf_attr(unit, DW_AT_stmt_list, &attr) || dwarf_formudata(&attr, &at) ||
	    lines->size < 12 || at > lines->size - 12)
		return false;
	/* No pointers, and none of them NULL. */
	if (tfind((void *)(uintptr_t)(at + 1), &f->tables, table_order))
		return true;
	memcpy(&size, lines->bytes + at, 4);
	if (size == UINT32_MAX)
		memcpy(&size, lines->bytes + at + 4, 8);
	if (size > lines->size)
		return false;
	if (!dwarf_budget__grants(&f->budget,
				  size <= f->lines_left ? size * ROW_BYTES : UINT64_MAX))
		return false;
	f->lines_left -= size;
	return tsearch((void *)(uintptr_t)(at + 1), &f->tables, table_order);
}
