/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hashes for tables and ids. All but hash__keyed() are the same in each process, so whoever chooses
 * what is hashed can choose texts of the same hash, which make a table slow. */
#ifndef PROFTRACE_UTIL_HASH_H
#define PROFTRACE_UTIL_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* FNV-1a, by Fowler, Noll and Vo: what a hash begins with before any bytes are added. */
#define HASH_BEGIN 0xcbf29ce484222325ull

/* Adds bytes to a hash: FNV-1a of all bytes so far. */
static inline uint64_t hash__add(uint64_t hash, const void *data, size_t size)
{
	for (const uint8_t *byte = data; size--; byte++)
		hash = (hash ^ *byte) * 0x100000001b3ull;
	return hash;
}

/* A text's hash, without its NUL. */
static inline uint64_t hash__text(const char *text)
{
	return hash__add(HASH_BEGIN, text, strlen(text));
}

/* The last step of MurmurHash3, by Austin Appleby: each bit of the result depends on all of `x`.
 * One to one, and 0 stays 0. */
static inline uint64_t hash__mix(uint64_t x)
{
	x = (x ^ (x >> 33)) * 0xff51afd7ed558ccd;
	x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53;
	return x ^ (x >> 33);
}

/* A hash for tables in memory of what strangers choose, names in their files for instance: it
 * depends on a random key that each process has for itself. */
uint64_t hash__keyed(const void *data, size_t size);

#endif
