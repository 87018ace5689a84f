/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Remembers byte strings of up to 8 bytes of which none begins another, as machine instructions
 * are: an instruction's length follows from its bytes. So what has been found out about one of them
 * can be found again without decoding the bytes: in large programs four instructions of five have
 * been seen before, byte by byte ("48 89 e5": mov %rsp,%rbp).
 *
 * Where an instruction has a distance, as the first of these two, all else about it follows from
 * the bytes before that: any four bytes may come behind the string "8b 05".
 *
 *	8b 05 78 56 34 12	mov 0x12345678(%rip),%eax
 *	48 89 e5		mov %rsp,%rbp
 *
 * The memo gives each string a slot, below PREFIX_MEMO_ENTRIES, in which the caller keeps what it
 * knows of the string. A later string may take the slot over: then the earlier one is forgotten.
 */
#ifndef PROFTRACE_ARCH_PREFIX_MEMO_H
#define PROFTRACE_ARCH_PREFIX_MEMO_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PREFIX_MEMO_BITS    13
#define PREFIX_MEMO_ENTRIES (1u << PREFIX_MEMO_BITS)
#define PREFIX_MEMO_LONGEST 8 /* bytes */

struct prefix_memo {
	/* By the first two bytes: a bit for each length that was seen, bit 0 for one byte. */
	uint8_t lengths[1 << 16];
	uint64_t strings[PREFIX_MEMO_ENTRIES]; /* their bytes, zeros behind */
	uint8_t length[PREFIX_MEMO_ENTRIES];   /* 0: the slot is free */
	uint8_t any[PREFIX_MEMO_ENTRIES];      /* bytes that come behind, whatever they are */
};

static inline uint64_t prefix_memo__bytes(const uint8_t *at, size_t size)
{
	uint64_t bytes = 0;

	if (size >= sizeof(bytes))
		memcpy(&bytes, at, sizeof(bytes));
	else
		memcpy(&bytes, at, size);
	return bytes;
}

static inline uint64_t prefix_memo__cut(uint64_t bytes, unsigned int length)
{
	return bytes & (~0ull >> (64 - 8 * length));
}

/* Fibonacci hashing (Knuth, The Art of Computer Programming, volume 3, 6.4), of bytes and length.
 */
static inline uint32_t prefix_memo__slot(uint64_t string, unsigned int length)
{
	return (string + length) * 0x9e3779b97f4a7c15ull >> (64 - PREFIX_MEMO_BITS);
}

/* The slot of the string that the `size` bytes at `at` begin with; -1: none is known. */
static inline int prefix_memo__find(const struct prefix_memo *m, const uint8_t *at, size_t size)
{
	uint64_t bytes = prefix_memo__bytes(at, size);

	for (unsigned int lengths = m->lengths[bytes & 0xffff]; lengths; lengths &= lengths - 1) {
		unsigned int length = __builtin_ctz(lengths) + 1;
		uint64_t string = prefix_memo__cut(bytes, length);
		uint32_t slot = prefix_memo__slot(string, length);

		if (m->strings[slot] == string && m->length[slot] == length &&
		    length + m->any[slot] <= size)
			return slot;
	}
	return -1;
}

/* Gives the `length` bytes at `at`, behind which any `any` bytes may come, a slot; `size` bytes can
 * be read there. -1: they are too many. */
static inline int prefix_memo__add(struct prefix_memo *m, const uint8_t *at, size_t size,
				   unsigned int length, unsigned int any)
{
	uint64_t bytes = prefix_memo__bytes(at, size), string;
	uint32_t slot;

	if (!length || length > PREFIX_MEMO_LONGEST || length > size)
		return -1;
	string = prefix_memo__cut(bytes, length);
	slot = prefix_memo__slot(string, length);
	m->strings[slot] = string;
	m->length[slot] = length;
	m->any[slot] = any;
	/* The second byte of a string of one byte is what comes behind it: any. */
	m->lengths[bytes & 0xffff] |= 1u << (length - 1);
	return slot;
}

#endif
