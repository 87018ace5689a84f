/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of an image for this folder alone, beyond elf_image.h: sections, program headers
 * and whole blocks of bytes. Not for other folders.
 */
#ifndef PROFTRACE_ELF_ELF_INSIDE_H
#define PROFTRACE_ELF_ELF_INSIDE_H

#include <elf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image;

/* Nothing in it has been checked against the file: elf_section__read() does that. */
struct elf_section {
	const char *name; /* "" if it cannot be read; the image's */
	uint32_t type, link;
	uint64_t flags, addr, offset, size, entsize;
};

/*
 * Like elf_image__open(), for a file that holds symbols only: its segments may lie outside the file
 * (objcopy --only-keep-debug leaves them without bytes), and what is wrong is a debug message. On
 * success the image owns `fd`.
 */
int elf_image__open_debug(int fd, const char *label, struct elf_image **out);

bool elf_image__is_fixed(
	const struct elf_image *img); /* loaded where it says: nothing is relocated */
bool elf_image__is_roots(const struct elf_image *img); /* as trust__is_roots() says */
uint64_t elf_image__size(const struct elf_image *img); /* of the file, at open */
/* Bytes of the file that are not holes: a stranger can make a file as large as it likes. */
uint64_t elf_image__stored(const struct elf_image *img);
const Elf64_Phdr *elf_image__phdrs(const struct elf_image *img, size_t *cnt);
const struct elf_section *elf_image__sections(const struct elf_image *img, size_t *cnt);

/* File offset of the byte at `vaddr` in any segment. */
bool elf_image__offset(const struct elf_image *img, uint64_t vaddr, uint64_t *offset);

/* Whether the file had all of [off, off+size) when it was opened. */
bool elf_image__has_bytes(const struct elf_image *img, uint64_t off, uint64_t size);

/* Exactly [off, off+size) into a new block with a NUL behind it. Returns 0, -ENOEXEC if the range
 * is not in the file or longer than `max`, -EIO, -ENOMEM; logs nothing. The caller frees *out. */
int elf_image__read_block(const struct elf_image *img, uint64_t off, uint64_t size, uint64_t max,
			  void **out);

/* Has a NUL come behind what libelf has read of a section. Returns 0 or -ENOMEM. */
int elf_image__end_text(const struct elf_image *img, Elf_Data *data);

/*
 * Has libelf take a section that zstd has packed for one that never was: before 0.189 it cannot
 * unpack it. Returns how many bytes it has then, at most `max`; 0: it stays as it is, as it is not
 * packed so, damaged, or larger.
 */
size_t elf_image__unpack(const struct elf_image *img, Elf_Scn *scn, uint64_t max);

/* The section with that number; NULL: there is none, or no table. */
const struct elf_section *elf_section__at(const struct elf_image *img, size_t number);

/* The first such section, or NULL. */
const struct elf_section *elf_section__by_name(const struct elf_image *img, const char *name);
const struct elf_section *elf_section__by_type(const struct elf_image *img, uint32_t type);

/* A part of a section's bytes. */
struct elf_part {
	const char *bytes;
	size_t size;
	bool first; /* of the section */
};

#define ELF_PART_SIZE	 (64u << 10)
#define ELF_PART_OVERLAP 64u

/*
 * Shows the section's bytes to `look`, part by part, until `look` returns true or they end: for
 * sections of which nothing is kept, as a block for all of their bytes is fresh memory each time.
 * Each part begins with the last ELF_PART_OVERLAP bytes of the one before, so that anything
 * that is no longer lies whole in one of them. Takes the section's size off *left, in bytes, and
 * shows nothing of a section that has more. Returns whether `look` returned true.
 */
bool elf_section__look(const struct elf_image *img, const struct elf_section *sec, uint64_t *left,
		       bool (*look)(void *ctx, const struct elf_part *part), void *ctx);

/* elf_image__read_block() of its bytes; -ENOEXEC too if it has none in the file or they are
 * compressed. */
int elf_section__read(const struct elf_image *img, const struct elf_section *sec, uint64_t max,
		      void **out);

/* The section table through libelf. A damaged one counts as empty: the kernel and the loader do
 * without it. Returns 0 or -ENOMEM; the caller frees *items and *names. */
int elf_section__load_all(const struct elf_image *img, struct elf_section **items, size_t *cnt,
			  char **names);

#endif
