// SPDX-License-Identifier: GPL-2.0-or-later
/* Call frame information: ranges, augmentations, and the unwind rules that a range begins with. */
#include "unwind/eh_frame.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "elf/dwarf_cursor.h"
#include "elf/elf_image.h"
#include "elf/elf_inside.h"
#include "unwind/cfi.h"
#include "unwind/overlaps.h"
#include "util/array.h"
#include "util/search.h"

#define MAX_SIZE     (256u << 20)
#define MAX_FOLLOWED (256u << 20)

struct eh_frame {
	const struct arch_dwarf *arch;
	struct eh_range *ranges; /* by start, without overlaps */
	size_t cnt, cap;
	struct eh_cfa *wanted; /* by vaddr; NULL: ranges are */
	size_t wanted_cnt;
	const struct eh_row_visitor *visitor; /* NULL: it is ranges or CFAs that are wanted */
	uint64_t budget; /* bytes of CIEs and rules that may still be read, again and again */
};

/* The parts of a CIE that its FDEs need. */
struct cie {
	const uint8_t *at; /* identifies it; NULL: none yet */
	uint8_t fde_encoding, lsda_encoding;
	uint64_t personality;
	bool augmented; /* FDEs carry augmentation data */
	bool signal;	/* of code that signals interrupted: entered by no call */
	bool usable;
	uint64_t code_factor;
	int64_t data_factor;
	uint64_t return_register;
	struct dwarf_cursor rules; /* its instructions */
};

/* One record: its content, without length. Returns false at the end or if it is damaged. */
static bool next_record(struct dwarf_cursor *c, struct dwarf_cursor *record)
{
	uint64_t len = dwarf_fixed(c, 4);

	if (len == UINT32_MAX)
		len = dwarf_fixed(c, 8);
	*record = *c;
	if (c->bad || !len || !dwarf_take(c, len))
		return false;
	record->end = c->at;
	return true;
}

static void read_augmentation(struct dwarf_cursor *c, const char *letters, struct cie *cie)
{
	uint64_t pointer, len = dwarf_uleb128(c);
	uint8_t encoding;

	cie->augmented = true;
	cie->rules = *c;
	c->bad |= !dwarf_take(&cie->rules, len);
	for (const char *l = letters + 1; *l && !c->bad; l++) {
		switch (*l) {
		case 'L':
			cie->lsda_encoding = dwarf_fixed(c, 1);
			break;
		case 'R':
			cie->fde_encoding = dwarf_fixed(c, 1);
			break;
		case 'P':
			encoding = dwarf_fixed(c, 1);
			pointer = dwarf_pointer(c, encoding);
			cie->personality = encoding & EH_PE_INDIRECT ? pointer : 0;
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B':
			break;
		default:
			c->bad = true;
		}
	}
}

/* `c` is behind the CIE's id. */
static void read_cie(struct dwarf_cursor c, const uint8_t *at, struct cie *cie)
{
	const char *letters;
	uint8_t version;

	*cie = (struct cie){.at = at, .lsda_encoding = EH_PE_OMIT};
	version = dwarf_fixed(&c, 1);
	letters = (const char *)c.at;
	while (dwarf_fixed(&c, 1))
		;
	cie->code_factor = dwarf_uleb128(&c);
	cie->data_factor = dwarf_sleb128(&c);
	cie->return_register = version == 1 ? dwarf_fixed(&c, 1) : dwarf_uleb128(&c);
	cie->rules = c;
	if (!c.bad && *letters == 'z')
		read_augmentation(&c, letters, cie);
	else
		c.bad |= *letters != '\0';
	cie->usable = !c.bad && (version == 1 || version == 3);
}

/* Takes the work of reading `len` bytes off the budget. Returns whether there was enough: each of
 * many FDEs may have a long CIE read anew. */
static bool may_read(struct eh_frame *eh, uint64_t len)
{
	if (len > eh->budget)
		return false;
	eh->budget -= len;
	return true;
}

/* Takes the work of following a function's rules once off the budget, as may_read() does. */
static bool may_follow(struct eh_frame *eh, const struct cfi_program *p)
{
	return may_read(eh, 1 + (p->common.end - p->common.at) + (p->own.end - p->own.at));
}

static void find_cfas(struct eh_frame *eh, const struct cfi_program *p)
{
	size_t i = LOWER_BOUND(eh->wanted_cnt, k, eh->wanted[k].vaddr < p->start);

	for (; i < eh->wanted_cnt && eh->wanted[i].vaddr < p->end && may_follow(eh, p); i++)
		cfi_find_cfa(p, &eh->wanted[i]);
}

static int visit_rows(struct eh_frame *eh, const struct cie *cie, const struct cfi_program *p)
{
	int err;

	if (!may_follow(eh, p))
		return -E2BIG;
	if (cie->return_register != CFI_RETURN_ADDRESS)
		return 0;
	err = eh->visitor->range(p->start, p->end, eh->visitor->ctx);
	return err ? err : cfi_for_each_row(p, eh->visitor->row, eh->visitor->ctx);
}

/* `c` is behind the FDE's CIE pointer. */
static int read_fde(struct eh_frame *eh, struct dwarf_cursor *c, const struct cie *cie)
{
	struct eh_range range = {.personality = cie->personality};
	struct cfi_program program = {
		.arch = eh->arch,
		.common = cie->rules,
		.code_factor = cie->code_factor,
		.data_factor = cie->data_factor,
		.signal = cie->signal,
	};
	uint64_t size;

	range.start = dwarf_pointer(c, cie->fde_encoding);
	size = dwarf_encoded_raw(c, cie->fde_encoding);
	program.own = *c;
	if (cie->augmented) {
		uint64_t len = dwarf_uleb128(c);

		program.own = *c;
		dwarf_take(&program.own, len);
		if (cie->lsda_encoding != EH_PE_OMIT)
			range.lsda = dwarf_pointer(c, cie->lsda_encoding);
	}
	/* A function that the linker has dropped stays as a range at 0. */
	if (c->bad || !range.start || !size ||
	    __builtin_add_overflow(range.start, size, &range.end))
		return 0;
	program.start = range.start;
	program.end = range.end;
	if (eh->wanted) {
		find_cfas(eh, &program);
		return 0;
	}
	if (eh->visitor)
		return visit_rows(eh, cie, &program);
	if (!may_follow(eh, &program))
		return -E2BIG;
	range.as_called = !cie->signal && cfi_begins_as_called(&program);
	if (ARRAY_RESERVE(&eh->ranges, eh->cnt, &eh->cap))
		return -ENOMEM;
	eh->ranges[eh->cnt++] = range;
	return 0;
}

/* The FDEs from `c` on, `limit` at most: not every linker puts an end mark behind the last. */
static int read_records(struct eh_frame *eh, struct dwarf_cursor c, uint64_t limit)
{
	const uint8_t *begin = c.at;
	struct cie cie = {0};
	struct dwarf_cursor record, before, cie_record;

	while (limit && c.at < c.end && next_record(&c, &record)) {
		const uint8_t *id_at = record.at;
		uint64_t back = dwarf_fixed(&record, 4);
		int err;

		if (record.bad || !back) /* a CIE itself */
			continue;
		if (back > (uint64_t)(id_at - begin))
			return -ENOEXEC;
		limit--;
		if (cie.at != id_at - back) {
			before = c;
			before.at = id_at - back;
			before.vaddr = c.vaddr - (c.at - before.at);
			if (!next_record(&before, &cie_record) || dwarf_fixed(&cie_record, 4))
				return -ENOEXEC;
			if (!may_read(eh, cie_record.end - cie_record.at))
				return -E2BIG;
			read_cie(cie_record, id_at - back, &cie);
		}
		err = cie.usable ? read_fde(eh, &record, &cie) : 0;
		if (err)
			return err;
	}
	return c.bad ? -ENOEXEC : 0;
}

/* All bytes from `vaddr` to the end of its segment. */
static int read_from(const struct elf_image *img, uint64_t vaddr, void **out, uint64_t *size)
{
	const struct elf_segment *seg;
	size_t cnt;

	seg = elf_image__segments(img, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		uint64_t skip = vaddr - seg[i].vaddr;

		if (vaddr < seg[i].vaddr || skip >= seg[i].filesz)
			continue;
		*size = seg[i].filesz - skip;
		return elf_image__read_block(img, seg[i].offset + skip, *size, MAX_SIZE, out);
	}
	return -ENOEXEC;
}

/* The begin of .eh_frame and its number of FDEs, from .eh_frame_hdr. */
static int find_records(const struct elf_image *img, bool absolute, uint64_t *vaddr, uint64_t *fdes)
{
	const Elf64_Phdr *phdrs;
	uint8_t bytes[12];
	struct dwarf_cursor c = {.at = bytes, .end = bytes + sizeof(bytes), .absolute = absolute};
	size_t cnt, i;
	uint8_t encoding;

	phdrs = elf_image__phdrs(img, &cnt);
	for (i = 0; i < cnt && phdrs[i].p_type != PT_GNU_EH_FRAME; i++)
		;
	if (i == cnt)
		return -ENOENT;
	if (!elf_image__read_vaddr(img, phdrs[i].p_vaddr, bytes, sizeof(bytes)) || bytes[0] != 1)
		return -ENOEXEC;
	encoding = bytes[1];
	dwarf_take(&c, 4);
	c.vaddr = phdrs[i].p_vaddr + 4;
	*vaddr = dwarf_pointer(&c, encoding);
	*fdes = bytes[2] == EH_PE_OMIT ? UINT64_MAX : dwarf_encoded_raw(&c, bytes[2]);
	return c.bad || (encoding & EH_PE_INDIRECT) ? -ENOEXEC : 0;
}

/* Finds .eh_frame by the section table, which knows its size: not all have an end mark. */
static int find_section(const struct elf_image *img, uint64_t *vaddr, uint64_t *size)
{
	const struct elf_section *sec = elf_section__by_name(img, ".eh_frame");

	if (!sec || !(sec->flags & SHF_ALLOC))
		return -ENOENT;
	*vaddr = sec->addr;
	*size = sec->size;
	return 0;
}

/* Reads all records, for what is wanted of them. */
static int read_all(const struct elf_image *img, bool any, struct eh_frame *eh)
{
	struct dwarf_cursor c = {.absolute = elf_image__is_fixed(img)};
	uint64_t size, fdes = UINT64_MAX, max = UINT64_MAX;
	void *block = NULL;
	int err;

	eh->arch = &elf_image__arch(img)->dwarf;
	err = find_records(img, c.absolute, &c.vaddr, &fdes);
	if (err == -ENOENT && any)
		err = find_section(img, &c.vaddr, &max);
	if (!err)
		err = read_from(img, c.vaddr, &block, &size);
	if (!err) {
		c.at = block;
		c.end = c.at + (size < max ? size : max);
		err = read_records(eh, c, fdes);
	}
	free(block);
	return err;
}

static int load(const struct elf_image *img, bool any, struct eh_frame **out)
{
	struct eh_frame *eh = calloc(1, sizeof(*eh));
	int err = -ENOMEM;

	if (eh) {
		eh->budget = MAX_FOLLOWED;
		err = read_all(img, any, eh);
	}
	if (err) {
		eh_frame__free(eh);
		return err;
	}
	eh->cnt = overlaps__drop(eh->ranges, eh->cnt, sizeof(*eh->ranges));
	*out = eh;
	return 0;
}

int eh_frame__find_cfas(const struct elf_image *img, struct eh_cfa *cfas, size_t cnt)
{
	struct eh_frame eh = {.wanted = cfas, .wanted_cnt = cnt, .budget = MAX_FOLLOWED};

	return cnt ? read_all(img, true, &eh) : 0;
}

int eh_frame__for_each_row(const struct elf_image *img, const struct eh_row_visitor *visitor)
{
	struct eh_frame eh = {.visitor = visitor, .budget = MAX_FOLLOWED};

	return read_all(img, true, &eh);
}

int eh_frame__load(const struct elf_image *img, struct eh_frame **out)
{
	return load(img, false, out);
}

int eh_frame__load_any(const struct elf_image *img, struct eh_frame **out)
{
	return load(img, true, out);
}

const struct eh_range *eh_frame__ranges(const struct eh_frame *eh, size_t *cnt)
{
	*cnt = eh->cnt;
	return eh->ranges;
}

void eh_frame__free(struct eh_frame *eh)
{
	if (eh)
		free(eh->ranges);
	free(eh);
}

const struct eh_range *eh_frame__at(const struct eh_frame *eh, uint64_t vaddr)
{
	size_t lo = LOWER_BOUND(eh->cnt, i, eh->ranges[i].end <= vaddr);

	return lo < eh->cnt && eh->ranges[lo].start <= vaddr ? &eh->ranges[lo] : NULL;
}
