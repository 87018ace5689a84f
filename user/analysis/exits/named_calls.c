// SPDX-License-Identifier: GPL-2.0-or-later
#include "exits/named_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/operands.h"
#include "elf/elf_image.h"
#include "elf/elf_inside.h"
#include "elf/linkage.h"
#include "elf/sym_table.h"
#include "unwind/eh_frame.h"

#define MAX_CODE   (256u << 20) /* bytes of a segment */
#define MAX_BEFORE 512		/* bytes of a function without unwind rules before a call */
#define STUB	   16		/* bytes */

static const struct {
	const char *name;
	enum role role;
} names[] = {
	{"setjmp", ROLE_SET},
	{"_setjmp", ROLE_SET},
	{"__setjmp", ROLE_SET},
	{"sigsetjmp", ROLE_SET},
	{"__sigsetjmp", ROLE_SET},
	{"longjmp", ROLE_JUMP},
	{"_longjmp", ROLE_JUMP},
	{"siglongjmp", ROLE_JUMP},
	{"__longjmp_chk", ROLE_JUMP},
	{"__libc_longjmp", ROLE_JUMP},
	{"__libc_siglongjmp", ROLE_JUMP},
	{"memcpy", ROLE_COPY},
	{"memmove", ROLE_COPY},
	{"mempcpy", ROLE_COPY},
	{"bcopy", ROLE_COPY},
	{"__memcpy_chk", ROLE_COPY},
	{"__memmove_chk", ROLE_COPY},
	{"__mempcpy_chk", ROLE_COPY},
	{"mcount", ROLE_COUNT},
	{"_mcount", ROLE_COUNT},
	{"__mcount", ROLE_COUNT},
	{"abort", ROLE_END},
	{"exit", ROLE_END},
	{"_exit", ROLE_END},
	{"_Exit", ROLE_END},
	{"pthread_exit", ROLE_END},
	{"__assert_fail", ROLE_END},
	{"__stack_chk_fail", ROLE_END},
	{"__chk_fail", ROLE_END},
	{"__fortify_fail", ROLE_END},
};

static enum role role_of(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(names[i].name, name))
			return names[i].role;
	}
	return ROLE_NONE;
}

/* The code at `vaddr`, of which *size bytes follow in its segment; NULL: none. */
const uint8_t *named_calls__code(const struct named_calls *c, uint64_t vaddr, size_t *size)
{
	for (size_t i = 0; i < c->segments_cnt; i++) {
		const struct named_calls_segment *s = &c->segments[i];

		if (vaddr - s->vaddr < s->size) {
			*size = s->size - (vaddr - s->vaddr);
			return s->bytes + (vaddr - s->vaddr);
		}
	}
	return NULL;
}

enum role named_calls__role_of_slot(const struct named_calls *c, uint64_t slot)
{
	const char *name = linkage__import(c->linkage, slot);
	enum role role = name ? role_of(name) : ROLE_NONE;

	return name && role == ROLE_NONE ? ROLE_IMPORT : role;
}

/* Stubs of static programs without a name choose between variants of functions such as memcpy(). */
enum role named_calls__role_of(const struct named_calls *c, uint64_t vaddr)
{
	struct arch_transfer t;
	size_t size = 0, at = 0;
	const uint8_t *bytes;
	enum role role;

	for (size_t i = 0; i < c->targets_cnt; i++) {
		if (c->targets[i].vaddr == vaddr)
			return c->targets[i].role;
	}
	bytes = named_calls__code(c, vaddr, &size);
	if (!bytes || size < STUB)
		return ROLE_NONE;
	if (!memcmp(bytes, c->arch->landing, sizeof(c->arch->landing)))
		at = sizeof(c->arch->landing);
	size = c->arch->find_transfer(bytes, at, STUB, &t);
	if (size > at + 1 || !t.by_slot || t.calls) /* a prefix may come before the jump */
		return ROLE_NONE;
	role = named_calls__role_of_slot(c, vaddr + size + t.length + t.distance);
	return role == ROLE_NONE && elf_image__is_static(c->img) ? ROLE_COPY : role;
}

enum role named_calls__role_of_transfer(const struct named_calls *c, const struct operands *in,
					const uint8_t *bytes, uint64_t end, uint64_t *target)
{
	struct arch_transfer t;

	*target = in->relative ? end + in->target : 0;
	if (in->relative)
		return named_calls__role_of(c, *target);
	/* A prefix may come first. */
	if (c->arch->find_transfer(bytes, 0, in->length, &t) == in->length || !t.by_slot)
		return ROLE_NONE;
	return named_calls__role_of_slot(c, end + t.distance);
}

/* The vaddr to read from, so that values are known at `vaddr`. */
uint64_t named_calls__begin(const struct named_calls *c, uint64_t vaddr)
{
	const struct eh_range *range = c->eh ? eh_frame__at(c->eh, vaddr) : NULL;

	if (range)
		return range->start;
	for (size_t i = 0; i < c->segments_cnt; i++) {
		uint64_t begin = c->segments[i].vaddr;

		if (vaddr - begin < c->segments[i].size)
			return vaddr - begin > MAX_BEFORE ? vaddr - MAX_BEFORE : begin;
	}
	return vaddr;
}

static int read_segments(struct named_calls *c)
{
	size_t cnt;
	const struct elf_segment *segments = elf_image__segments(c->img, &cnt);

	c->segments = calloc(cnt + 1, sizeof(*c->segments));
	if (!c->segments)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		struct named_calls_segment *s = &c->segments[c->segments_cnt];

		if (!segments[i].exec || segments[i].filesz > MAX_CODE)
			continue;
		s->bytes = malloc(segments[i].filesz + 1);
		if (!s->bytes)
			return -ENOMEM;
		c->segments_cnt++;
		s->vaddr = segments[i].vaddr;
		if (elf_image__read_vaddr(c->img, s->vaddr, s->bytes, segments[i].filesz))
			s->size = segments[i].filesz;
	}
	return 0;
}

static void read_names(struct named_calls *c, uint32_t type)
{
	struct sym_table tab;
	const char *name;
	Elf64_Sym sym;
	size_t len;

	if (sym_table__open(c->img, type, &tab))
		return;
	while (c->targets_cnt < NAMED_CALLS_TARGETS && sym_table__next(&tab, &sym)) {
		char text[32];
		enum role role;

		name = sym.st_shndx != SHN_UNDEF ? sym_table__name(&tab, &sym, &len) : NULL;
		if (!name || len >= sizeof(text))
			continue;
		memcpy(text, name, len);
		text[len] = '\0';
		role = role_of(text);
		if (role != ROLE_NONE)
			c->targets[c->targets_cnt++] =
				(struct named_calls_target){sym.st_value, role};
	}
	sym_table__close(&tab);
}

int named_calls__read(struct named_calls *c, const struct elf_image *img)
{
	int err;

	*c = (struct named_calls){.img = img, .arch = elf_image__arch(img)};
	err = linkage__load(img, &c->linkage);
	if (!err && eh_frame__load_any(img, &c->eh) == -ENOMEM)
		err = -ENOMEM;
	if (!err)
		err = read_segments(c);
	if (err)
		return err;
	read_names(c, SHT_SYMTAB);
	read_names(c, SHT_DYNSYM);
	return 0;
}

void named_calls__clear(struct named_calls *c)
{
	for (size_t i = 0; i < c->segments_cnt; i++)
		free(c->segments[i].bytes);
	free(c->segments);
	eh_frame__free(c->eh);
	linkage__free(c->linkage);
}
