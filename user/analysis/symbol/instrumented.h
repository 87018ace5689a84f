/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the room for instrumentation that compilers note in sections, as
 * -fpatchable-function-entry, -mrecord-mcount and -fxray-instrument have them do. */
#ifndef PROFTRACE_SYMBOL_INSTRUMENTED_H
#define PROFTRACE_SYMBOL_INSTRUMENTED_H

#include <stdint.h>

enum instrumented_by {
	INSTRUMENTED_NOT,
	INSTRUMENTED_PATCHABLE, /* nops, perhaps some before the function */
	INSTRUMENTED_FENTRY,	/* a nop, or a call of __fentry__ */
	INSTRUMENTED_XRAY,	/* a jump over nops */
	INSTRUMENTED_WAYS,
};

/* "patchable", "fentry", "xray"; NULL for INSTRUMENTED_NOT. */
const char *instrumented_by__name(enum instrumented_by by);

struct elf_image;
struct instrumented;

/* Reads what the image has of them. What is damaged counts as empty. Returns 0, *out being NULL if
 * there is none, or -ENOMEM. */
int instrumented__load(const struct elf_image *img, struct instrumented **out);
void instrumented__free(struct instrumented *in); /* accepts NULL */

/* The first place that is noted in [from, to): its vaddr goes to *at. INSTRUMENTED_NOT: there is
 * none. `in` may be NULL. */
enum instrumented_by instrumented__within(const struct instrumented *in, uint64_t from, uint64_t to,
					  uint64_t *at);

#endif
