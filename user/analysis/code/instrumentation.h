/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code that a compiler was told to put at the entry of a function, for others to patch. Example:
 * the call of __fentry__ by -pg -mfentry. */
#ifndef PROFTRACE_CODE_INSTRUMENTATION_H
#define PROFTRACE_CODE_INSTRUMENTATION_H

#include "symbol/instrumented.h"

struct code_piece;
struct elf_image;
struct insn_decoder;
struct linkage;

/* The object that is looked at. Zero it, set what is given, and clear it after use. */
struct instrumentation {
	const struct elf_image *img;
	const struct instrumented *noted; /* NULL: nothing */
	struct insn_decoder *insn;
	struct linkage *linkage; /* loaded when it is needed, and owned */
};

/*
 * How the function that begins with `entry` is instrumented: by what its file notes, or because it
 * calls __fentry__ before all else. Sets entry->passed if that is a call or a jump, which does not
 * end the entry block. Returns enum instrumented_by or -ENOMEM.
 */
int instrumentation__of(struct instrumentation *ins, struct code_piece *entry);
void instrumentation__clear(struct instrumentation *ins);

#endif
