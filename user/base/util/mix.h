/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_UTIL_MIX_H
#define PROFTRACE_UTIL_MIX_H

#include <stdint.h>

/* Of MurmurHash3, by Austin Appleby: each bit of the result depends on all of `x`. One to one, and
 * 0 stays 0. */
static inline uint64_t mix64(uint64_t x)
{
	x = (x ^ (x >> 33)) * 0xff51afd7ed558ccd;
	x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53;
	return x ^ (x >> 33);
}

#endif
