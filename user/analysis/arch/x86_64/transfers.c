// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls and jumps that name their target, found in much code without decoding all of it. */
#include <string.h>

#include "arch/arch.h"
#include "arch/x86_64/x86_64.h"

enum { CALL = 0xe8, JUMP = 0xe9, INDIRECT = 0xff, CALL_SLOT = 0x15, JUMP_SLOT = 0x25 };

size_t x86_64_transfers__find(const uint8_t *bytes, size_t from, size_t size,
			      struct arch_transfer *out)
{
	int32_t distance;

	for (size_t at = from; at + 6 <= size; at++) {
		uint8_t first = bytes[at], second = bytes[at + 1];
		bool slot = first == INDIRECT && (second == CALL_SLOT || second == JUMP_SLOT);

		if (first != CALL && first != JUMP && !slot)
			continue;
		out->length = slot ? 6 : 5;
		memcpy(&distance, bytes + at + out->length - 4, sizeof(distance));
		out->distance = distance;
		out->by_slot = slot;
		out->calls = first == CALL || second == CALL_SLOT;
		return at;
	}
	return size;
}
