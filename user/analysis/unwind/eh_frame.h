/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An object's unwind tables: which ranges it can unwind, and where each range's
 * exception table lies (the language-specific data area, LSDA, of the Itanium C++ ABI).
 */
#ifndef PROFTRACE_UNWIND_EH_FRAME_H
#define PROFTRACE_UNWIND_EH_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/frame_rules.h"

struct eh_frame;
struct elf_image;

/* One FDE. All are vaddrs. */
struct eh_range {
	uint64_t start, end;  /* first: see overlaps.h */
	uint64_t lsda;	      /* 0: none */
	uint64_t personality; /* where the pointer to the personality routine lies; 0: unknown */
	bool as_called; /* at its start the stack is as a call leaves it: it may be a function's */
};

/*
 * Reads the object's .eh_frame as the unwinder finds it, by PT_GNU_EH_FRAME. Ranges that overlap
 * others are left out. Returns 0, -ENOENT (there is none), -ENOEXEC (damaged), -E2BIG (it would
 * take longer than any program's), -EIO, -ENOMEM; logs nothing.
 */
int eh_frame__load(const struct elf_image *img, struct eh_frame **out);
/* Like eh_frame__load(), but by its section if there is no PT_GNU_EH_FRAME, as in static programs.
 */
int eh_frame__load_any(const struct elf_image *img, struct eh_frame **out);
void eh_frame__free(struct eh_frame *eh); /* accepts NULL */

/* All ranges, by address. */
const struct eh_range *eh_frame__ranges(const struct eh_frame *eh, size_t *cnt);

/* The range that holds `vaddr`, or NULL. */
const struct eh_range *eh_frame__at(const struct eh_frame *eh, uint64_t vaddr);

/*
 * Fills in what the object's unwind tables know of these, which are sorted by address; what they
 * do not know stays as it is. Returns 0 or the errors of eh_frame__load().
 */
int eh_frame__find_cfas(const struct elf_image *img, struct eh_cfa *cfas, size_t cnt);

/* Callbacks of a walk over an object's unwind rules. */
struct eh_row_visitor {
	/* An FDE begins, whose rows follow. FDEs come in the file's order, and may overlap. */
	int (*range)(uint64_t start, uint64_t end, void *ctx);
	int (*row)(const struct eh_row *row, void *ctx);
	void *ctx;
};

/*
 * Goes through all rows of the object's .eh_frame (DWARF 5, 6.4.1), by its section if need be.
 * From damage on an FDE's rule is EH_RULE_UNKNOWN. Returns 0, what a callback returned that was not
 * 0, or the errors of eh_frame__load(): -E2BIG, there are more rules than any program has.
 */
int eh_frame__for_each_row(const struct elf_image *img, const struct eh_row_visitor *visitor);

/* The fate of an exception that comes out of a call. */
enum lsda_fate {
	LSDA_PASSES, /* may go on to the caller */
	LSDA_CAUGHT, /* ends in a handler that catches everything */
	LSDA_ENDS,   /* ends the program: the table does not list the call */
};

/* A stretch of calls; where it leads. */
struct lsda_site {
	uint64_t start, end;
	uint64_t pad; /* landing pad; 0: none */
	bool catches; /* every exception */
};

struct lsda {
	struct lsda_site *sites; /* ordered; grows, and is kept from one read to the next */
	size_t cnt, cap;
};

/*
 * Reads a range's LSDA in the format that GCC's, clang's and Rust's personality routines share.
 * `*budget` is lessened by the bytes read; beyond it nothing is read. Zero *out before the first
 * use, and free out->sites after the last. Returns 0, -ENOENT without one, -ENOEXEC (damaged, or of
 * an unknown kind), -ENOMEM; out->cnt is 0 then.
 */
int lsda__read(const struct elf_image *img, const struct eh_range *range, uint64_t *budget,
	       struct lsda *out);

/*
 * The fate of an exception at the call whose last byte is at `vaddr`, within the range of *lsda,
 * which has been read without an error; by __gxx_personality_v0.
 */
enum lsda_fate lsda__fate(const struct lsda *lsda, uint64_t vaddr);

/* The landing pad of that call; 0: it has none. */
uint64_t lsda__landing(const struct lsda *lsda, uint64_t vaddr);

#endif
