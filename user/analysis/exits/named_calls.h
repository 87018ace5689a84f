/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls of the few functions that matter to return addresses, told by their names: setjmp(),
 * memcpy(), mcount(). Calls reach them through stubs, through pointers, or within static programs.
 */
#ifndef PROFTRACE_EXITS_NAMED_CALLS_H
#define PROFTRACE_EXITS_NAMED_CALLS_H

#include <stddef.h>
#include <stdint.h>

struct arch;
struct eh_frame;
struct elf_image;
struct linkage;
struct operands;

#define NAMED_CALLS_TARGETS 64 /* functions in the file that are known by name */

enum role {
	ROLE_NONE,   /* code in the file, or nobody knows */
	ROLE_SET,    /* setjmp() */
	ROLE_JUMP,   /* longjmp() */
	ROLE_COPY,   /* memcpy() */
	ROLE_COUNT,  /* mcount(), which looks at its caller's return address: gprof's */
	ROLE_END,    /* never comes back: exit() */
	ROLE_IMPORT, /* another import */
};

struct named_calls {
	const struct elf_image *img;
	const struct arch *arch;
	struct linkage *linkage;
	struct eh_frame *eh; /* NULL: none */
	struct named_calls_segment {
		uint64_t vaddr, size;
		uint8_t *bytes;
	} * segments; /* that are executable */
	size_t segments_cnt;
	struct named_calls_target {
		uint64_t vaddr;
		enum role role;
	} targets[NAMED_CALLS_TARGETS]; /* functions that are defined in the file */
	size_t targets_cnt;
};

/* Reads the object's code and names. Returns 0 or -ENOMEM; clear *c in either case. */
int named_calls__read(struct named_calls *c, const struct elf_image *img);
void named_calls__clear(struct named_calls *c);

/* The code at `vaddr`, of which *size bytes follow in its segment; NULL: none. */
const uint8_t *named_calls__code(const struct named_calls *c, uint64_t vaddr, size_t *size);

/* The vaddr to read from, so that values are known at `vaddr`: the begin of its function, if there
 * are unwind rules. */
uint64_t named_calls__begin(const struct named_calls *c, uint64_t vaddr);

/* The function that the pointer at `slot` leads to. */
enum role named_calls__role_of_slot(const struct named_calls *c, uint64_t slot);

/* The function at `vaddr`, which may be an import's stub. */
enum role named_calls__role_of(const struct named_calls *c, uint64_t vaddr);

/* The function that the instruction calls or jumps to. The instruction ends at `end`; *target
 * becomes where that function's code is, or 0 if that is not known. */
enum role named_calls__role_of_transfer(const struct named_calls *c, const struct operands *in,
					const uint8_t *bytes, uint64_t end, uint64_t *target);

#endif
