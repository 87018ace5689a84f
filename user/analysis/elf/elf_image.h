/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One ELF file of a stranger, read through a descriptor. Every offset and count in it is checked
 * against the file before use; nothing is memory-mapped, because the owner may truncate the file
 * under us. libelf does the parsing and stays inside this folder.
 */
#ifndef PROFTRACE_ELF_ELF_IMAGE_H
#define PROFTRACE_ELF_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_bytes.h"

struct arch;
struct elf_image;

/*
 * Opens the ELF file behind `fd` (borrowed: it must stay open as long as the image; its file
 * position is not used). `label` names it in messages and is copied. Returns 0, or -ENOEXEC (not
 * ELF, truncated, damaged), -ENOTSUP (32-bit, other machine, not a program or shared library),
 * -ENOMEM, -EIO, with one line logged that says what is wrong and what to try.
 */
int elf_image__open(int fd, const char *label, struct elf_image **out);
/* Like elf_image__open(), for a file that need not be ELF: logs at debug level only. */
int elf_image__try(int fd, const char *label, struct elf_image **out);
void elf_image__free(struct elf_image *img); /* accepts NULL */

const char *elf_image__label(const struct elf_image *img);
const struct arch *elf_image__arch(const struct elf_image *img);
uint64_t elf_image__entry(const struct elf_image *img);	 /* e_entry, a vaddr */
bool elf_image__is_program(const struct elf_image *img); /* PT_INTERP and no DT_SONAME */
bool elf_image__is_static(const struct elf_image *img);	 /* no PT_INTERP and no DT_NEEDED */

/* DT_SONAME, cut to `size`; "" if there is none. Returns buf. */
char *elf_image__soname(const struct elf_image *img, char *buf, size_t size);

/* The build id note. Returns its length in bytes (at most 64), 0 if there is none. */
size_t elf_image__build_id(const struct elf_image *img, uint8_t id[64]);

#endif
