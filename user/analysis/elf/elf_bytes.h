/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of an open image, by offset in the file and by address. */
#ifndef PROFTRACE_ELF_ELF_BYTES_H
#define PROFTRACE_ELF_ELF_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct Elf; /* libelf's handle */
struct elf_image;

/* One PT_LOAD. */
struct elf_segment {
	uint64_t vaddr, offset, filesz;
	bool exec, written; /* may be executed; may be written to, and so be relocated */
};

struct Elf *elf_image__elf(const struct elf_image *img);
const struct elf_segment *elf_image__segments(const struct elf_image *img, size_t *cnt);

/* File offset of `vaddr`, if [vaddr, vaddr+size) lies wholly within the file bytes of one
 * executable PT_LOAD. */
bool elf_image__exec_offset(const struct elf_image *img, uint64_t vaddr, uint64_t size,
			    uint64_t *offset);

/* The other way: the vaddr of the byte at a file offset, in the first executable PT_LOAD that has
 * it. */
bool elf_image__exec_vaddr(const struct elf_image *img, uint64_t offset, uint64_t *vaddr);

/* Reads up to `len` bytes at file offset `off`. Returns the bytes read (short at the end of the
 * file), or -errno. */
int64_t elf_image__read(const struct elf_image *img, uint64_t off, void *buf, size_t len);

/* Reads `len` bytes at `vaddr`, from whatever PT_LOAD holds them all. Returns whether one does. */
bool elf_image__read_vaddr(const struct elf_image *img, uint64_t vaddr, void *buf, size_t len);

/*
 * Pages of a file that have been read, for a reader of many small pieces, in any order: functions
 * and jump tables. Of redis-server's 3,669 functions all are in 220 pages. Of one image, and one
 * thread.
 */
struct elf_pages;

struct elf_pages *elf_pages__new(const struct elf_image *img); /* borrowed; NULL: out of memory */
void elf_pages__free(struct elf_pages *p);		       /* accepts NULL */
/* Reads `len` bytes, at least one, at a file offset, or as elf_image__read_vaddr() does. Returns
 * whether the file has them all. */
bool elf_pages__read(struct elf_pages *p, uint64_t offset, void *buf, size_t len);
bool elf_pages__read_vaddr(struct elf_pages *p, uint64_t vaddr, void *buf, size_t len);

/* Whether the text, of at most 64 bytes, occurs in a table of symbols' names. */
bool elf_image__mentions(const struct elf_image *img, const char *text);

#endif
