/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of one ELF file: .symtab and .dynsym, its separate debug file (build id,
 * .gnu_debuglink), mini debug info (.gnu_debugdata), and Go's function table (.gopclntab), merged
 * by address. Where none of them but .dynsym names anything, functions are found by .eh_frame and
 * by calls, and called func_0xVADDR.
 */
#ifndef PROFTRACE_SYMBOL_SYMTAB_H
#define PROFTRACE_SYMBOL_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image;
struct symtab;

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
	 * NAME.part.N.cold): index of the symbol it is a piece of, itself no piece; SYMTAB_NONE for
	 * everything else. A piece whose function has no symbol is SYMBOL_NOTYPE.
	 */
	uint32_t piece_of;
	bool nameless; /* found without a symbol: its name says nothing of what it does */
	bool is_go;    /* lies in what the Go toolchain has compiled or linked in */
};

#define SYMTAB_NONE UINT32_MAX

/*
 * Loads every symbol in an executable PT_LOAD, ordered by vaddr, sizes clipped to the segment.
 * `root` is prefixed to the directories where debug files are looked for ("" for this machine's
 * own, "/proc/PID/root" for a container's, which is tried before this machine's); a debug file
 * counts only if its build id (or the debuglink CRC) matches.
 * Returns 0 (a file without any symbols is a valid, empty table), or -errno with one line logged.
 */
int symtab__load(const struct elf_image *img, const char *root, struct symtab **out);

/* Those of the file's own .symtab and .dynsym alone: for a look at names, which reads no other file
 * and no code. Returns 0, or -errno, silently. */
int symtab__load_named(const struct elf_image *img, struct symtab **out);
void symtab__free(struct symtab *tab); /* accepts NULL; all strings go with it */

size_t symtab__count(const struct symtab *tab);
const struct symbol *symtab__at(const struct symtab *tab, size_t index);
/* Where the names come from, for messages: ".symtab", ".dynsym", "/usr/lib/debug/...", joined by
 * " + "; "" if there are none. */
const char *symtab__source(const struct symtab *tab);

#endif
