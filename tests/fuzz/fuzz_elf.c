// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer: a stranger's ELF file through the whole symbol stage. Run it with -close_fd_mask=2:
 * what is wrong with each input is not news.
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -std=gnu11 -D_GNU_SOURCE -Iuser \
 *     tests/fuzz/fuzz_elf.c user/symbol/?*.c user/util/{log,text}.c -lelf -lz -llzma -liberty
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/demangle.h"
#include "symbol/elf_image.h"
#include "symbol/symtab.h"
#include "symbol/traits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_symbols(const struct elf_image *img, const struct symtab *tab)
{
	size_t i;

	for (i = 0; i < symtab__count(tab); i++) {
		const struct symbol *sym = symtab__at(tab, i);
		uint64_t off;
		char *name;

		if (!elf_image__exec_offset(img, sym->vaddr, sym->size, &off) ||
		    off != sym->offset || (i && symtab__at(tab, i - 1)->vaddr >= sym->vaddr) ||
		    (sym->piece_of != SYMTAB_NONE && sym->piece_of >= symtab__count(tab)))
			abort();
		name = demangle(sym->name);
		if (name)
			demangle_cut_params(name);
		free(name);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct elf_image *img = NULL;
	struct symtab *tab = NULL;
	const char *why;
	uint8_t id[64];

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		abort();
	if (!elf_image__open(fd, "fuzz", &img)) {
		elf_image__build_id(img, id);
		traits__of(img, &why);
		if (!symtab__load(img, "", &tab))
			check_symbols(img, tab);
	}
	symtab__free(tab);
	elf_image__free(img);
	close(fd);
	return 0;
}
