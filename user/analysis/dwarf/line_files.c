// SPDX-License-Identifier: GPL-2.0-or-later
/* DWARF 5, 6.2.4; before that, DWARF 4, 6.2.4. */
#include "dwarf/line_files.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "elf/dwarf_cursor.h"
#include "util/array.h"

#define MAX_FORMATS 16

struct header {
	const struct line_sections *sections;
	struct dwarf_cursor at;
	size_t offset_size; /* 4 or 8 */
	uint16_t version;
	uint32_t *left;
};

/* The parts of an entry, in order: what each means and how it is written. */
struct format {
	uint64_t content[MAX_FORMATS], form[MAX_FORMATS];
	size_t cnt;
};

static const char *inline_string(struct dwarf_cursor *c)
{
	const uint8_t *at = c->at;
	const uint8_t *end = c->bad ? NULL : memchr(at, '\0', c->end - at);

	if (!end) {
		c->bad = true;
		return "";
	}
	dwarf_take(c, end + 1 - at);
	return (const char *)at;
}

static const char *string_at(struct dwarf_cursor *c, const struct line_section *sec,
			     uint64_t offset)
{
	if (c->bad || !sec->bytes || offset >= sec->size ||
	    !memchr(sec->bytes + offset, '\0', sec->size - offset)) {
		c->bad = true;
		return "";
	}
	return (const char *)sec->bytes + offset;
}

static int add_dir(struct header *h, struct line_files *f, const char *dir)
{
	if (!*h->left)
		return -ENOEXEC;
	--*h->left;
	if (ARRAY_RESERVE(&f->dirs, f->dirs_cnt, &f->dirs_cap))
		return -ENOMEM;
	f->dirs[f->dirs_cnt++] = dir;
	return 0;
}

static int add_file(struct header *h, struct line_files *f, const char *name, uint64_t dir)
{
	if (!*h->left)
		return -ENOEXEC;
	--*h->left;
	if (ARRAY_RESERVE(&f->items, f->cnt, &f->cap))
		return -ENOMEM;
	f->items[f->cnt++] = (struct line_file){name, dir < f->dirs_cnt ? f->dirs[dir] : NULL};
	return 0;
}

/* Both lists end with an empty string. Directory 0 is the unit's, and there is no file 0. */
static int read_old(struct header *h, struct line_files *f)
{
	const char *text;
	int err = add_dir(h, f, NULL);

	while (!err && *(text = inline_string(&h->at)))
		err = add_dir(h, f, text);
	if (!err)
		err = add_file(h, f, "", 0);
	while (!err && *(text = inline_string(&h->at))) {
		uint64_t dir = dwarf_uleb128(&h->at);

		dwarf_uleb128(&h->at); /* time */
		dwarf_uleb128(&h->at); /* size */
		err = add_file(h, f, text, dir);
	}
	return err;
}

static void read_format(struct header *h, struct format *format)
{
	format->cnt = dwarf_fixed(&h->at, 1);
	h->at.bad |= format->cnt > MAX_FORMATS;
	for (size_t i = 0; i < format->cnt && !h->at.bad; i++) {
		format->content[i] = dwarf_uleb128(&h->at);
		format->form[i] = dwarf_uleb128(&h->at);
	}
}

/* A string is in *text, a number in *number, all else is passed over. */
static void read_form(struct header *h, uint64_t form, const char **text, uint64_t *number)
{
	struct dwarf_cursor *c = &h->at;

	switch (form) {
	case DW_FORM_string:
		*text = inline_string(c);
		break;
	case DW_FORM_line_strp:
		*text = string_at(c, &h->sections->line_str, dwarf_fixed(c, h->offset_size));
		break;
	case DW_FORM_strp:
		*text = string_at(c, &h->sections->strings, dwarf_fixed(c, h->offset_size));
		break;
	case DW_FORM_udata:
		*number = dwarf_uleb128(c);
		break;
	case DW_FORM_data1:
		*number = dwarf_fixed(c, 1);
		break;
	case DW_FORM_data2:
		*number = dwarf_fixed(c, 2);
		break;
	case DW_FORM_data4:
		*number = dwarf_fixed(c, 4);
		break;
	case DW_FORM_data8:
		*number = dwarf_fixed(c, 8);
		break;
	case DW_FORM_data16: /* MD5 */
		dwarf_take(c, 16);
		break;
	case DW_FORM_block:
		dwarf_take(c, dwarf_uleb128(c));
		break;
	default:
		c->bad = true;
	}
}

static int read_list(struct header *h, struct line_files *f, bool dirs)
{
	struct format format;
	uint64_t cnt;
	int err = 0;

	read_format(h, &format);
	cnt = dwarf_uleb128(&h->at);
	h->at.bad |= cnt && !format.cnt; /* entries of no bytes */
	for (uint64_t i = 0; i < cnt && !err && !h->at.bad; i++) {
		const char *path = "", *other;
		uint64_t dir = 0, skipped;

		for (size_t k = 0; k < format.cnt && !h->at.bad; k++) {
			bool is_path = format.content[k] == DW_LNCT_path;
			bool is_dir = format.content[k] == DW_LNCT_directory_index;

			read_form(h, format.form[k], is_path ? &path : &other,
				  is_dir ? &dir : &skipped);
		}
		err = dirs ? add_dir(h, f, path) : add_file(h, f, path, dir);
	}
	return err;
}

static void read_header(struct header *h)
{
	struct dwarf_cursor *c = &h->at;
	uint64_t size = dwarf_fixed(c, 4);

	h->offset_size = size == UINT32_MAX ? 8 : 4;
	if (size == UINT32_MAX)
		size = dwarf_fixed(c, 8);
	c->bad |= size > (uint64_t)(c->end - c->at);
	if (c->bad)
		return;
	c->end = c->at + size;
	h->version = dwarf_fixed(c, 2);
	c->bad |= h->version < 2 || h->version > 5;
	if (h->version == 5)
		dwarf_fixed(c, 2); /* sizes of addresses and segments */
	size = dwarf_fixed(c, h->offset_size);
	c->bad |= size > (uint64_t)(c->end - c->at);
	if (c->bad)
		return;
	c->end = c->at + size;
	/* Five bytes on instructions: their length, how many at once (since version 4), is_stmt,
	 * and two for special opcodes. */
	dwarf_take(c, h->version >= 4 ? 5 : 4);
	size = dwarf_fixed(c, 1);
	dwarf_take(c, size ? size - 1 : 0); /* how many operands each opcode has */
}

int line_files__read(struct line_files *f, const struct line_sections *sections, uint64_t offset,
		     uint32_t *left)
{
	const struct line_section *lines = &sections->lines;
	struct header h = {.sections = sections, .left = left};
	int err;

	f->cnt = f->dirs_cnt = 0;
	if (!lines->bytes || offset >= lines->size)
		return -ENOEXEC;
	h.at = (struct dwarf_cursor){.at = lines->bytes + offset,
				     .end = lines->bytes + lines->size};
	read_header(&h);
	if (h.at.bad)
		return -ENOEXEC;
	if (h.version < 5) {
		err = read_old(&h, f);
	} else {
		err = read_list(&h, f, true);
		if (!err)
			err = read_list(&h, f, false);
	}
	return !err && h.at.bad ? -ENOEXEC : err;
}

void line_files__clear(struct line_files *f)
{
	free(f->items);
	free(f->dirs);
	*f = (struct line_files){0};
}
