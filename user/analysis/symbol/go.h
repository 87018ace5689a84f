/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A Go program's layout, known before it runs: where its code lies, and how a thread's current
 * goroutine is found. */
#ifndef PROFTRACE_SYMBOL_GO_H
#define PROFTRACE_SYMBOL_GO_H

#include <stdbool.h>
#include <stdint.h>

struct elf_image;

struct go_layout {
	int64_t g_tls_offset; /* of the pointer to the current g, from the thread pointer */
	uint32_t goid_offset; /* of the goroutine's number, 8 bytes, in struct g */
	uint32_t curg_offset; /* in struct m, of the pointer to the g that the thread works for */
};

/* Works for stripped programs too. Returns 0, or -ENOENT: not a Go program, or of a version or a
 * linkage that is not known. Logs nothing. */
int go_layout__of(const struct elf_image *img, struct go_layout *layout);

/* The minor version of a version's text: 19 for "go1.19.8" and for "devel go1.19-0123abcd"; -1 if
 * it says none. */
int go_minor_version(const char *text);

/* Whether a function of a Go program, by its symbol ("runtime.scanobject"), belongs to Go's memory
 * manager: to its garbage collector, or to what this gives memory back to. */
bool go_manages_memory(const char *symbol);

#endif
