// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A note's owner is "stapsdt", its type 3. Its content: three addresses (of the nop, of the section
 * .stapsdt.base as it was when the file was linked, of the semaphore or 0) and three strings.
 * prelink moves code but leaves notes alone, as they are not loaded; how far it has moved it the
 * section's present address tells.
 * (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation)
 */
#include "symbol/usdt.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "elf/elf_image.h"
#include "elf/elf_inside.h"
#include "util/array.h"
#include "util/log.h"

#define NOTES	  ".note.stapsdt"
#define BASE	  ".stapsdt.base"
#define OWNER	  "stapsdt"
#define TYPE	  3
#define MAX_SIZE  (16u << 20) /* of all notes; those of postgres take 10 KiB */
#define SEMAPHORE 2	      /* bytes */
/* Linkers that drop a function and not its notes leave of an address what is counted from the
 * function's start. */
#define MAX_DANGLING 0x10000

struct usdt {
	struct usdt_probe *probes;
	size_t cnt, cap;
	char **texts; /* the sections, which hold the strings */
	size_t texts_cnt, texts_cap;
};

struct reading {
	const struct elf_image *img;
	struct usdt *usdt;
	uint64_t base; /* where .stapsdt.base is; 0: the file has none */
	uint64_t left; /* bytes that may still be read */
	size_t damaged;
};

/* The rest of a section, still to be read. */
struct rest {
	const char *at;
	size_t len;
};

/* The next `len` bytes, with what aligns what follows; NULL if they are not there. */
static const char *take(struct rest *r, size_t len)
{
	const char *at = r->at;
	size_t padded = (len + 3) & ~(size_t)3;

	if (len > r->len)
		return NULL;
	/* Behind the last one there may be no padding. */
	padded = padded < r->len ? padded : r->len;
	r->at += padded;
	r->len -= padded;
	return at;
}

static const char *take_string(struct rest *r)
{
	const char *at = r->at, *end = memchr(at, '\0', r->len);

	if (!end)
		return NULL;
	r->len -= end + 1 - at;
	r->at = end + 1;
	return at;
}

/* Finds a semaphore's place in the file: the kernel wants it in a segment that is writable. */
static bool find_semaphore(const struct elf_image *img, uint64_t vaddr, uint64_t *offset)
{
	size_t cnt;
	const Elf64_Phdr *phdrs = elf_image__phdrs(img, &cnt);

	for (size_t i = 0; i < cnt; i++) {
		const Elf64_Phdr *ph = &phdrs[i];
		uint64_t in = vaddr - ph->p_vaddr;

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_W) || vaddr < ph->p_vaddr ||
		    in >= ph->p_filesz || ph->p_filesz - in < SEMAPHORE)
			continue;
		return !__builtin_add_overflow(ph->p_offset, in, offset) &&
		       *offset < elf_image__size(img) &&
		       elf_image__size(img) - *offset >= SEMAPHORE;
	}
	return false;
}

/* Whether a probe can be there: a nop, as assemblers make it. Anything
 * else is a note of code that has changed or gone since, and a breakpoint there would break it. */
static bool is_nop(const struct elf_image *img, uint64_t offset)
{
	uint8_t code[ARCH_PROBE_NOP] = {0};

	return elf_image__read(img, offset, code, sizeof(code)) > 0 &&
	       elf_image__arch(img)->is_probe_nop(code);
}

static bool find_place(const struct elf_image *img, struct usdt_probe *probe)
{
	return elf_image__exec_offset(img, probe->vaddr, 1, &probe->offset) &&
	       is_nop(img, probe->offset);
}

enum note {
	NOTE_PROBE,
	NOTE_DANGLING, /* its function was dropped by the linker */
	NOTE_DAMAGED,
};

static enum note read_content(const struct reading *r, struct rest content, struct usdt_probe *out)
{
	uint64_t addresses[3], moved = 0;
	const char *fixed = take(&content, sizeof(addresses));

	if (!fixed)
		return NOTE_DAMAGED;
	memcpy(addresses, fixed, sizeof(addresses));
	if (r->base && addresses[1])
		moved = r->base - addresses[1];
	*out = (struct usdt_probe){.vaddr = addresses[0] + moved};
	if (!find_place(r->img, out))
		return addresses[0] < MAX_DANGLING ? NOTE_DANGLING : NOTE_DAMAGED;
	out->provider = take_string(&content);
	out->name = out->provider ? take_string(&content) : NULL;
	out->arguments = out->name ? take_string(&content) : NULL;
	if (!out->arguments || !*out->provider || !*out->name ||
	    (addresses[2] && !find_semaphore(r->img, addresses[2] + moved, &out->semaphore)))
		return NOTE_DAMAGED;
	return NOTE_PROBE;
}

static int add_note(struct reading *r, const char *content, size_t len)
{
	struct usdt *u = r->usdt;
	struct usdt_probe probe;

	switch (read_content(r, (struct rest){content, len}, &probe)) {
	case NOTE_DANGLING:
		return 0;
	case NOTE_DAMAGED:
		r->damaged++;
		return 0;
	case NOTE_PROBE:
		break;
	}
	if (ARRAY_RESERVE(&u->probes, u->cnt, &u->cap))
		return -ENOMEM;
	u->probes[u->cnt++] = probe;
	return 0;
}

static int read_notes(struct reading *r, struct rest rest)
{
	int err = 0;

	while (!err && rest.len) {
		const char *start = take(&rest, sizeof(Elf64_Nhdr)), *owner, *content;
		Elf64_Nhdr head = {0};

		if (start)
			memcpy(&head, start, sizeof(head));
		owner = start ? take(&rest, head.n_namesz) : NULL;
		content = owner ? take(&rest, head.n_descsz) : NULL;
		if (!content) {
			r->damaged++; /* where the next one begins is not known */
			break;
		}
		if (head.n_type == TYPE && head.n_namesz == sizeof(OWNER) &&
		    !memcmp(owner, OWNER, sizeof(OWNER)))
			err = add_note(r, content, head.n_descsz);
	}
	return err;
}

static int read_section(struct reading *r, const struct elf_section *sec)
{
	struct usdt *u = r->usdt;
	void *block;
	int err;

	if (ARRAY_RESERVE(&u->texts, u->texts_cnt, &u->texts_cap))
		return -ENOMEM;
	err = elf_section__read(r->img, sec, r->left, &block);
	if (err == -ENOEXEC) {
		r->damaged++;
		return 0;
	}
	if (err)
		return err;
	u->texts[u->texts_cnt++] = block;
	r->left -= sec->size;
	return read_notes(r, (struct rest){block, sec->size});
}

static int read_all(struct reading *r)
{
	size_t cnt;
	const struct elf_section *sections = elf_image__sections(r->img, &cnt);
	const struct elf_section *base = elf_section__by_name(r->img, BASE);
	int err = 0;

	r->base = base ? base->addr : 0;
	for (size_t i = 0; i < cnt && !err; i++) {
		if (sections[i].type == SHT_NOTE && sections[i].size &&
		    !strcmp(sections[i].name, NOTES))
			err = read_section(r, &sections[i]);
	}
	return err;
}

int usdt__load(const struct elf_image *img, struct usdt **out)
{
	struct reading r = {.img = img, .left = MAX_SIZE, .usdt = calloc(1, sizeof(*r.usdt))};
	int err = r.usdt ? read_all(&r) : -ENOMEM;

	if (err) {
		usdt__free(r.usdt);
		return err;
	}
	if (r.damaged)
		log_warn("elf: '%s': damaged notes of static probes left out: %zu",
			 elf_image__label(img), r.damaged);
	*out = r.usdt;
	return 0;
}

void usdt__free(struct usdt *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < u->texts_cnt; i++)
		free(u->texts[i]);
	free(u->texts);
	free(u->probes);
	free(u);
}

const struct usdt_probe *usdt__probes(const struct usdt *u, size_t *cnt)
{
	*cnt = u->cnt;
	return u->probes;
}
