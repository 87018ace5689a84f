/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The members of an image: elf_image.c fills it, elf_bytes.c reads by it. Inside elf/ only, and
 * there for these two. */
#ifndef PROFTRACE_ELF_ELF_IMAGE_DATA_H
#define PROFTRACE_ELF_ELF_IMAGE_DATA_H

#include <elf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/log.h"

struct arch;
struct elf_section;
struct elf_segment;

#define MAX_TEXTS 64

/* Contents of sections with NULs behind them, in place of libelf's. */
struct texts {
	void *items[MAX_TEXTS];
	size_t cnt;
};

struct elf_image {
	char *label;
	int fd;
	bool is_debug;	      /* opened by elf_image__open_debug() */
	enum log_level level; /* of messages */
	bool owns_fd;
	bool is_static;
	bool is_fixed;
	Elf *elf;
	const struct arch *arch;
	uint64_t size, stored, entry;
	Elf64_Phdr *phdrs;
	size_t phdrs_cnt;
	struct elf_segment *segments;
	size_t segments_cnt;
	struct elf_section *sections;
	size_t sections_cnt;
	char *section_names;
	struct texts *texts;
};

#endif
