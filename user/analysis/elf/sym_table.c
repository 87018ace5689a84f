// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/sym_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_dynamic.h"
#include "elf/elf_image.h"
#include "elf/elf_inside.h"
#include "util/log.h"

#define MAX_SYMBOLS	 (4u << 20) /* browsers and databases have one or two million */
#define MAX_STRINGS_SIZE (256u << 20)
#define MAX_NAME_LEN	 (64u << 10)
/* Symbols may share one huge string: without a bound on the sum, reading names is quadratic. */
#define NAME_BUDGET (512u << 20)

struct ranges {
	uint64_t off, size, strings_off, strings_size;
};

static int find_by_section(const struct elf_image *img, uint32_t type, struct ranges *r)
{
	const struct elf_section *sections, *sec, *str;
	size_t cnt;

	sec = elf_section__by_type(img, type);
	if (!sec)
		return -ENOENT;
	sections = elf_image__sections(img, &cnt);
	if (sec->link >= cnt || sec->entsize != sizeof(Elf64_Sym))
		return -ENOEXEC;
	str = &sections[sec->link];
	if (str->type != SHT_STRTAB || ((sec->flags | str->flags) & SHF_COMPRESSED))
		return -ENOEXEC;
	*r = (struct ranges){sec->offset, sec->size, str->offset, str->size};
	return 0;
}

static int find_by_dynamic(const struct elf_image *img, struct ranges *r)
{
	struct elf_dynamic dyn;
	uint64_t symtab, strtab;
	int err = elf_dynamic__load(img, &dyn);

	if (err)
		return err;
	err = -ENOENT;
	if (elf_dynamic__get(&dyn, DT_SYMTAB, &symtab) &&
	    elf_dynamic__get(&dyn, DT_STRTAB, &strtab) &&
	    elf_dynamic__get(&dyn, DT_STRSZ, &r->strings_size) &&
	    elf_image__offset(img, symtab, &r->off) &&
	    elf_image__offset(img, strtab, &r->strings_off)) {
		r->size = elf_dynamic__symbols_cnt(&dyn, img) * sizeof(Elf64_Sym);
		err = r->size ? 0 : -ENOENT;
	}
	elf_dynamic__free(&dyn);
	return err;
}

static int load(struct sym_table *tab, const struct ranges *r)
{
	const struct elf_image *img = tab->img;
	void *strings;
	int err;

	if (r->off > elf_image__size(img) || r->size > elf_image__size(img) - r->off)
		return -ENOEXEC;
	err = elf_image__read_block(img, r->strings_off, r->strings_size, MAX_STRINGS_SIZE,
				    &strings);
	if (err)
		return err;
	tab->strings = strings;
	tab->strings_len = r->strings_size;
	tab->off = r->off;
	tab->cnt = r->size / sizeof(Elf64_Sym);
	if (tab->cnt > MAX_SYMBOLS) {
		log_once(LOG_WARN, "elf: '%s' has %llu symbols: only the first %u are read",
			 elf_image__label(img), (unsigned long long)tab->cnt, MAX_SYMBOLS);
		tab->cnt = MAX_SYMBOLS;
	}
	return 0;
}

int sym_table__open(const struct elf_image *img, uint32_t type, struct sym_table *tab)
{
	const char *label = elf_image__label(img);
	const char *what = type == SHT_SYMTAB ? ".symtab" : ".dynsym";
	struct ranges r;
	int err;

	tab->img = img;
	tab->versioned = type == SHT_SYMTAB;
	tab->strings = NULL;
	tab->next = tab->buf_len = tab->buf_pos = 0;
	tab->name_budget = NAME_BUDGET;
	err = find_by_section(img, type, &r);
	if (err == -ENOENT && type == SHT_DYNSYM)
		err = find_by_dynamic(img, &r);
	if (!err)
		err = load(tab, &r);
	if (err == -ENOEXEC) {
		log_once(LOG_WARN, "elf: '%s': damaged %s ignored", label, what);
		return -ENOENT;
	}
	if (err && err != -ENOENT)
		log_error("elf: cannot read %s of '%s': %s", what, label, strerror(-err));
	return err;
}

void sym_table__close(struct sym_table *tab)
{
	free(tab->strings);
	tab->strings = NULL;
}

static bool fill(struct sym_table *tab)
{
	uint64_t left = tab->cnt - tab->next;
	size_t max = sizeof(tab->buf) / sizeof(tab->buf[0]);
	size_t want = (left < max ? left : max) * sizeof(tab->buf[0]);
	int64_t got;

	if (!want)
		return false;
	got = elf_image__read(tab->img, tab->off + tab->next * sizeof(tab->buf[0]), tab->buf, want);
	if (got != (int64_t)want)
		log_warn("elf: '%s' was truncated while its symbols were read",
			 elf_image__label(tab->img));
	tab->buf_pos = 0;
	tab->buf_len = got < 0 ? 0 : got / sizeof(tab->buf[0]);
	return tab->buf_len;
}

bool sym_table__next(struct sym_table *tab, Elf64_Sym *sym)
{
	if (tab->buf_pos == tab->buf_len && !fill(tab))
		return false;
	*sym = tab->buf[tab->buf_pos++];
	tab->next++;
	return true;
}

const char *sym_table__name(struct sym_table *tab, const Elf64_Sym *sym, size_t *len)
{
	uint64_t max;
	char *name, *version;

	if (sym->st_name >= tab->strings_len || !tab->name_budget)
		return NULL;
	name = tab->strings + sym->st_name;
	max = tab->strings_len - sym->st_name;
	if (max > MAX_NAME_LEN)
		max = MAX_NAME_LEN;
	*len = strnlen(name, max + 1);
	if (*len > tab->name_budget) {
		log_once(LOG_WARN, "elf: '%s': the names are too long, some are left out",
			 elf_image__label(tab->img));
		tab->name_budget = 0;
		return NULL;
	}
	tab->name_budget -= *len;
	if (!*len || *len > max || (tab->versioned && *name == '@'))
		return NULL;
	/* Cutting in place is safe: strings that share this tail end at this '@' or before. */
	version = tab->versioned ? memchr(name, '@', *len) : NULL;
	if (version) {
		*version = '\0';
		*len = version - name;
	}
	return name;
}
