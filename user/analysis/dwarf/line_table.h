/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From addresses to lines of source, and to the inlined calls that code is part of: DWARF 4 and 5,
 * of the file or of its separate debug file. Not for several threads at once.
 */
#ifndef PROFTRACE_DWARF_LINE_TABLE_H
#define PROFTRACE_DWARF_LINE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image;
struct function_traits;
struct line_table;

/* Code of one line: up to the next row. */
struct line_row {
	uint64_t vaddr;
	const char *file; /* the table's; NULL: it is of no line */
	uint32_t line;
};

/* A call that was replaced by the callee's code. */
struct line_inline {
	const char *name; /* of the callee, raw; "" if it has none; the table's, as `file` */
	const char *file; /* where the call stands; NULL: unknown */
	uint32_t line;
	uint32_t parent; /* the inlined call around it: index + 1; 0: none */
};

struct line_inlines {
	struct line_inline *items;
	size_t cnt, cap;
	uint32_t *
		labels; /* lines on which the function has labels, of its own and of inlined code */
	size_t labels_cnt, labels_cap;
};

/* A stretch of a function's code, and to which inlined call each byte of it belongs. */
struct line_piece {
	uint64_t vaddr;
	uint32_t size;
	uint32_t *inlined; /* by byte: index in line_inlines + 1; 0: none */
};

/*
 * Opens what describes the image; `root` as in symtab__load(). Returns 0, or -ENOENT (there are no
 * line tables), -ENOTSUP (they are larger than a program's, or lie in a third file), -ENOMEM; logs
 * nothing. The image must outlive it.
 */
int line_table__open(const struct elf_image *img, const char *root, struct line_table **out);
void line_table__free(struct line_table *t); /* accepts NULL */

/* Whether some of what describes the image was left in files of their own (-gsplit-dwarf), which
 * are not read: lines are known, inlined calls are not. */
bool line_table__is_split(const struct line_table *t);

/* Whether nobody but root can have written what is read, nor chosen the debug file. */
bool line_table__is_roots(const struct line_table *t);

/*
 * Appends the rows of [begin, end), by address, no two at the same one; the first is at `begin`.
 * Zero the array before the first use. Returns 0 or -ENOMEM.
 */
int line_table__rows(struct line_table *t, uint64_t begin, uint64_t end, struct line_row **rows,
		     size_t *cnt, size_t *cap);

/* Calls `fn` for each row that has bytes and is of some line, [row->vaddr, end). Ends when it
 * returns other than 0, with that. */
typedef int (*line_visitor)(void *ctx, const struct line_row *row, uint64_t end);
int line_table__each(struct line_table *t, line_visitor fn, void *ctx);

/* Fills in `inlined` of a function's pieces, which are all 0, and appends the calls and labels.
 * Damaged parts count as not there. Returns 0 or -ENOMEM. */
int line_table__inlined(struct line_table *t, const struct line_piece *pieces, size_t cnt,
			struct line_inlines *out);

/* A function whose code stands at an address in place of a call of it. */
struct line_inlined {
	const char *name; /* raw, never ""; the table's, as `file` */
	const char *file; /* where the function is declared; NULL: unknown */
	uint32_t line;
};

#define LINE_INLINED_MAX 32 /* one within the other */

/* Fills in the functions that were inlined one into the other where the code at `vaddr` is, the
 * outermost first; *cnt: how many. The out-of-line function that holds all of them is not among
 * them. Damaged parts count as not there. Returns 0 or -ENOMEM. */
int line_table__inlined_at(struct line_table *t, uint64_t vaddr,
			   struct line_inlined out[LINE_INLINED_MAX], size_t *cnt);

/* CPU time in ns, roughly, that line_table__open() would take to read what describes the image; 0:
 * there is nothing. */
uint64_t line_table__open_ns(const struct elf_image *img, const char *root);

/* The traits of the function that has code at `vaddr`; none if it is not described. Returns 0 or
 * -ENOMEM. */
int line_table__traits(struct line_table *t, uint64_t vaddr, struct function_traits *out);

/*
 * Where in the source the code at `vaddr` is: where the function that begins there is declared
 * where its code is, else what the line table has. Takes file names from the header of the line
 * table alone where it can: to read all lines takes ten times as long, and much memory. Returns 0
 * or -ENOMEM; out->file NULL: unknown.
 */
int line_table__place(struct line_table *t, uint64_t vaddr, struct line_row *out);

/* Finds inlined calls of functions whose name `matches`: calls `fn` with the address of the code,
 * the enclosing function's name, and the call. Ends as line_table__each() does. */
typedef bool (*line_name_matcher)(void *ctx, const char *name);
typedef int (*line_inline_visitor)(void *ctx, uint64_t begin, uint64_t end, const char *function,
				   const struct line_inline *call);
int line_table__find_inlined(struct line_table *t, line_name_matcher matches,
			     line_inline_visitor fn, void *ctx);

#endif
