/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code that a compiler has put in to count for gcov: it is no line's. Inside lines/ only. */
#ifndef PROFTRACE_LINES_COUNTING_H
#define PROFTRACE_LINES_COUNTING_H

#include <stdint.h>

#include "code/code.h"

struct counters;
struct insn_decoder;

enum counting {
	COUNTING_NOT,
	COUNTING,
	COUNTING_JUMP, /* behind such code, unless the line table says that it is of a line */
};

/* Sets marks[], by byte of the piece, where instructions begin that count; `reached` as in struct
 * code_flow. */
void counting__mark(const struct counters *c, const struct code_piece *piece,
		    const uint8_t *reached, struct insn_decoder *insn, uint8_t *marks);

#endif
