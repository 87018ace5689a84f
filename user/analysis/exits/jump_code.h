/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An object's code in memory, and what its calls of setjmp(), longjmp() and their helpers reach, by
 * their names: through stubs, pointers, or within static programs. */
#ifndef PROFTRACE_EXITS_JUMP_CODE_H
#define PROFTRACE_EXITS_JUMP_CODE_H

#include <stddef.h>
#include <stdint.h>

struct arch;
struct eh_frame;
struct elf_image;
struct linkage;
struct operands;

#define JUMP_CODE_TARGETS 64 /* functions in the file that are known by name */

enum role {
	ROLE_NONE,   /* code in the file, or nobody knows */
	ROLE_SET,    /* setjmp() */
	ROLE_JUMP,   /* longjmp() */
	ROLE_COPY,   /* memcpy() */
	ROLE_END,    /* never comes back: exit() */
	ROLE_IMPORT, /* another import */
};

struct jump_code {
	const struct elf_image *img;
	const struct arch *arch;
	struct linkage *linkage;
	struct eh_frame *eh; /* NULL: none */
	struct jump_segment {
		uint64_t vaddr, size;
		uint8_t *bytes;
	} * segments; /* that are executable */
	size_t segments_cnt;
	struct jump_target {
		uint64_t vaddr;
		enum role role;
	} targets[JUMP_CODE_TARGETS]; /* functions that are defined in the file */
	size_t targets_cnt;
};

/* Reads it. Returns 0 or -ENOMEM; is to be cleared in either case. */
int jump_code__read(struct jump_code *c, const struct elf_image *img);
void jump_code__clear(struct jump_code *c);

/* The code at `vaddr`, of which *size bytes follow in its segment; NULL: none. */
const uint8_t *jump_code__at(const struct jump_code *c, uint64_t vaddr, size_t *size);

/* Where to read from, to know what is known at `vaddr`: where its function begins, if there are
 * unwind rules. */
uint64_t jump_code__begin(const struct jump_code *c, uint64_t vaddr);

/* What the pointer at `slot` leads to. */
enum role jump_code__role_of_slot(const struct jump_code *c, uint64_t slot);

/* What the function at `vaddr` is, which may be an import's stub. */
enum role jump_code__role_of(const struct jump_code *c, uint64_t vaddr);

/* What is called or jumped to by the instruction, which ends at `end`; *target: where the code is,
 * 0: that is not known. */
enum role jump_code__role_of_transfer(const struct jump_code *c, const struct operands *in,
				      const uint8_t *bytes, uint64_t end, uint64_t *target);

#endif
