/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that processes have patched in memory. A probe that is put in there runs the file's
 * instruction instead, and as it is taken out, the kernel writes one byte of the file's: what
 * another tracer, a debugger or the program itself has put there is left in pieces.
 */
#ifndef PROFTRACE_TARGET_PATCHES_H
#define PROFTRACE_TARGET_PATCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_segment;
struct target;

struct file_range {
	uint64_t from, to; /* [from, to) in a file */
};

/* Places in the file where the memory of some process differs; in order, apart from each other. */
struct patches {
	struct file_range *items;
	size_t cnt, cap;
};

/* An object to be looked at, and which of its bytes: those of executable segments. */
struct patch_search {
	const struct elf_segment *segments;
	size_t segments_cnt;
	struct patches *found; /* NULL: the object is not looked at; else it is appended to */
};

/*
 * Compares the objects' code, as the processes have it in memory, with the files: of the target's
 * processes, or if `everywhere` of all that there are. `searches` has one for each of the target's
 * objects. What uprobes have changed is none of it, whoever has put them in. A breakpoint is taken
 * for such a change, but for one that only processes have which a debugger is at. What cannot be
 * read counts as patched. Only pages that have been written are read, so that it costs little where
 * there are none. A process of the target's that has moved code to other memory, as onto huge
 * pages, where the kernel puts no probes, is named in a warning. Returns 0, or -errno with a line
 * logged.
 */
int patches__find(const struct target *t, const struct patch_search *searches, bool everywhere);

/* Whether any of `len` bytes at the file offset is patched. */
bool patches__touch(const struct patches *p, uint64_t offset, uint64_t len);

void patches__clear(struct patches *p);

#endif
