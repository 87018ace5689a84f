/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the numbers of unwind tables from a block of bytes: LEB128 and encoded pointers (LSB Core
 * 10.5.1). Reading past the end, or anything that is not understood, sets `bad` and yields 0; so
 * it is enough to look at `bad` once, after a group of reads.
 */
#ifndef PROFTRACE_ELF_DWARF_CURSOR_H
#define PROFTRACE_ELF_DWARF_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
	EH_PE_FORMAT = 0x0f,
	EH_PE_ABSPTR = 0x00,
	EH_PE_ULEB128 = 0x01,
	EH_PE_UDATA2 = 0x02,
	EH_PE_UDATA4 = 0x03,
	EH_PE_UDATA8 = 0x04,
	EH_PE_SLEB128 = 0x09,
	EH_PE_SDATA2 = 0x0a,
	EH_PE_SDATA4 = 0x0b,
	EH_PE_SDATA8 = 0x0c,
	EH_PE_BASE = 0x70,
	EH_PE_PCREL = 0x10,
	EH_PE_INDIRECT = 0x80,
	EH_PE_OMIT = 0xff,
};

struct dwarf_cursor {
	const uint8_t *at, *end;
	uint64_t vaddr; /* of `at` in the object */
	bool absolute;	/* absolute pointers are final: nothing relocates the object */
	bool bad;
};

static inline const uint8_t *dwarf_take(struct dwarf_cursor *c, uint64_t len)
{
	const uint8_t *at = c->at;

	if (c->bad || len > (uint64_t)(c->end - c->at)) {
		c->bad = true;
		return NULL;
	}
	c->at += len;
	c->vaddr += len;
	return at;
}

/* An unsigned number of `len` bytes, at most 8. */
static inline uint64_t dwarf_fixed(struct dwarf_cursor *c, size_t len)
{
	const uint8_t *at = dwarf_take(c, len);
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, len);
	return value;
}

static inline uint64_t dwarf_leb128(struct dwarf_cursor *c, bool is_signed)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 70; shift += 7) {
		const uint8_t *at = dwarf_take(c, 1);

		if (!at)
			return 0;
		if (shift < 64)
			value |= (uint64_t)(*at & 0x7f) << shift;
		if (*at & 0x80)
			continue;
		if (is_signed && (*at & 0x40) && shift + 7 < 64)
			value |= ~0ull << (shift + 7);
		return value;
	}
	c->bad = true;
	return 0;
}

static inline uint64_t dwarf_uleb128(struct dwarf_cursor *c)
{
	return dwarf_leb128(c, false);
}

static inline int64_t dwarf_sleb128(struct dwarf_cursor *c)
{
	return dwarf_leb128(c, true);
}

/* Bytes that a pointer with this encoding takes; 0 if that varies or is unknown. */
static inline size_t dwarf_encoded_size(uint8_t encoding)
{
	switch (encoding & EH_PE_FORMAT) {
	case EH_PE_UDATA2:
	case EH_PE_SDATA2:
		return 2;
	case EH_PE_UDATA4:
	case EH_PE_SDATA4:
		return 4;
	case EH_PE_ABSPTR:
	case EH_PE_UDATA8:
	case EH_PE_SDATA8:
		return 8;
	default:
		return 0;
	}
}

/* The number alone, without the base that the encoding names. */
static inline uint64_t dwarf_encoded_raw(struct dwarf_cursor *c, uint8_t encoding)
{
	size_t size = dwarf_encoded_size(encoding);
	uint64_t value;

	if ((encoding & EH_PE_FORMAT) == EH_PE_ULEB128)
		return dwarf_uleb128(c);
	if ((encoding & EH_PE_FORMAT) == EH_PE_SLEB128)
		return dwarf_sleb128(c);
	c->bad |= !size;
	value = c->bad ? 0 : dwarf_fixed(c, size);
	if (encoding & 0x08 && size == 2)
		return (int64_t)(int16_t)value;
	if (encoding & 0x08 && size == 4)
		return (int64_t)(int32_t)value;
	return value;
}

/*
 * A pointer: a vaddr, or 0 for none. An indirect one yields where the pointer lies. Absolute ones
 * count only in objects that are not relocated, for elsewhere the bytes in the file are not what
 * will be in memory.
 */
static inline uint64_t dwarf_pointer(struct dwarf_cursor *c, uint8_t encoding)
{
	uint64_t from = c->vaddr;
	uint64_t value = dwarf_encoded_raw(c, encoding);
	uint8_t base = encoding & EH_PE_BASE;

	c->bad |= base != EH_PE_PCREL && (base || !c->absolute);
	if (c->bad || !value)
		return 0;
	return base == EH_PE_PCREL ? from + value : value;
}

#endif
