/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function of an ELF file, as its symbol tables name it: what symtab.h lists. */
#ifndef PROFTRACE_SYMBOL_SYMBOL_H
#define PROFTRACE_SYMBOL_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum symbol_kind {
	SYMBOL_FUNC,
	SYMBOL_IFUNC,  /* its address is a resolver's, even if a FUNC names it too */
	SYMBOL_NOTYPE, /* a label in executable text: not a function, but a boundary */
};

/* One address. All names at it are one function. */
struct symbol {
	uint64_t vaddr;
	uint64_t offset; /* in the file */
	uint64_t size;	 /* bytes; 0: unknown */
	enum symbol_kind kind;
	const char *name;	    /* preferred name, raw, version stripped */
	const char *const *aliases; /* the other names at this address, raw, version stripped */
	size_t aliases_cnt;
	/*
	 * A `.cold` piece (NAME.cold, NAME.cold.N; also clang's NAME.cold.N, gcc's
	 * NAME.part.N.cold; and NAME.__part.N of clang's -fbasic-block-sections, cold or not):
	 * index of the symbol it is a piece of, itself no piece; SYMTAB_NONE for everything else. A
	 * piece whose function has no symbol is SYMBOL_NOTYPE.
	 */
	uint32_t piece_of;
	bool nameless; /* found without a symbol: its name says nothing of what it does */
	bool is_go;    /* lies in what the Go toolchain has compiled or linked in */
};

#define SYMTAB_NONE UINT32_MAX

#endif
