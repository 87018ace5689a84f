// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two sections are arrays of addresses, which the dynamic linker fills in where code may lie
 * anywhere. XRay's has 32 bytes a sled: its address, the function's, what it is for, a flag, and
 * the version of all that (clang's documentation, "XRay Instrumentation"; xray_interface_internal.h
 * of compiler-rt).
 */
#include "symbol/instrumented.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_image.h"
#include "elf/elf_inside.h"
#include "elf/elf_reloc.h"
#include "util/array.h"
#include "util/log.h"
#include "util/search.h"

#define MAX_SECTION  (64u << 20) /* bytes; a function takes 8, a sled 32 */
#define MAX_SECTIONS 64		 /* linkers make one, but nothing says that they must */

struct place {
	uint64_t vaddr;
	uint8_t by; /* enum instrumented_by */
};

struct instrumented {
	struct place *places; /* in order of vaddr */
	size_t places_cnt, places_cap;
};

struct xray_sled {
	uint64_t address, function;
	uint8_t kind, always, version, padding[13];
};

_Static_assert(sizeof(struct xray_sled) == 32, "as it is in files");

enum { XRAY_ENTRY = 0, XRAY_ENTRY_LOGGING_ARGUMENTS = 3 };

const char *instrumented_by__name(enum instrumented_by by)
{
	static const char *const names[INSTRUMENTED_WAYS] = {NULL, "patchable", "fentry", "xray"};

	return names[by];
}

static int add_place(struct instrumented *in, uint64_t vaddr, enum instrumented_by by)
{
	/* A function that the linker has dropped leaves a 0. */
	if (!vaddr)
		return 0;
	if (ARRAY_RESERVE(&in->places, in->places_cnt, &in->places_cap))
		return -ENOMEM;
	in->places[in->places_cnt++] = (struct place){vaddr, by};
	return 0;
}

static int add_addresses(struct instrumented *in, const struct elf_section *sec, const void *bytes,
			 enum instrumented_by by)
{
	const uint64_t *addresses = bytes;
	int err = 0;

	for (size_t i = 0; !err && i < sec->size / sizeof(*addresses); i++)
		err = add_place(in, addresses[i], by);
	return err;
}

static int add_sleds(struct instrumented *in, const struct elf_section *sec, const void *bytes,
		     enum instrumented_by by)
{
	const struct xray_sled *sleds = bytes;
	int err = 0;

	for (size_t i = 0; !err && i < sec->size / sizeof(*sleds); i++) {
		uint64_t address = sleds[i].address;

		if (sleds[i].kind != XRAY_ENTRY && sleds[i].kind != XRAY_ENTRY_LOGGING_ARGUMENTS)
			continue;
		/* Since version 2 it counts from its own place. */
		if (sleds[i].version >= 2)
			address += sec->addr + i * sizeof(*sleds);
		err = add_place(in, address, by);
	}
	return err;
}

static const struct {
	const char *section;
	enum instrumented_by by;
	int (*add)(struct instrumented *in, const struct elf_section *sec, const void *bytes,
		   enum instrumented_by by);
} ways[] = {
	{"__patchable_function_entries", INSTRUMENTED_PATCHABLE, add_addresses},
	{"__mcount_loc", INSTRUMENTED_FENTRY, add_addresses},
	{"xray_instr_map", INSTRUMENTED_XRAY, add_sleds},
};

static int add_section(struct instrumented *in, const struct elf_image *img,
		       const struct elf_section *sec, size_t way)
{
	void *bytes;
	int err = elf_section__read(img, sec, MAX_SECTION, &bytes);

	if (err == -ENOMEM)
		return err;
	if (err) {
		log_debug("%s: %s cannot be read", elf_image__label(img), sec->name);
		return 0;
	}
	elf_reloc__apply(img, sec->addr, bytes, sec->size);
	err = ways[way].add(in, sec, bytes, ways[way].by);
	free(bytes);
	return err;
}

static int place_order(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

int instrumented__load(const struct elf_image *img, struct instrumented **out)
{
	struct instrumented *in = calloc(1, sizeof(*in));
	size_t cnt, left = MAX_SECTIONS;
	const struct elf_section *sections = elf_image__sections(img, &cnt);
	int err = in ? 0 : -ENOMEM;

	*out = NULL;
	for (size_t i = 0; !err && i < cnt; i++) {
		for (size_t way = 0; !err && way < sizeof(ways) / sizeof(*ways); way++) {
			if ((sections[i].flags & SHF_ALLOC) && left &&
			    !strcmp(sections[i].name, ways[way].section)) {
				left--;
				err = add_section(in, img, &sections[i], way);
			}
		}
	}
	if (err || !in->places_cnt) {
		instrumented__free(in);
		return err;
	}
	qsort(in->places, in->places_cnt, sizeof(*in->places), place_order);
	*out = in;
	return 0;
}

void instrumented__free(struct instrumented *in)
{
	if (in)
		free(in->places);
	free(in);
}

enum instrumented_by instrumented__within(const struct instrumented *in, uint64_t from, uint64_t to,
					  uint64_t *at)
{
	size_t i;

	if (!in)
		return INSTRUMENTED_NOT;
	i = LOWER_BOUND(in->places_cnt, i, in->places[i].vaddr < from);
	if (i == in->places_cnt || in->places[i].vaddr >= to)
		return INSTRUMENTED_NOT;
	*at = in->places[i].vaddr;
	return in->places[i].by;
}
