/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "MiniDebugInfo": an xz-compressed ELF file with a .symtab, in the section .gnu_debugdata. */
#ifndef PROFTRACE_ELF_MINI_DEBUG_H
#define PROFTRACE_ELF_MINI_DEBUG_H

struct elf_image;

/* Returns 0; -ENOENT if there is none or (with a warning) it is damaged or over 64 MiB; -ENOMEM,
 * -EIO with an error logged. Free *out with elf_image__free(). */
int mini_debug__open(const struct elf_image *img, struct elf_image **out);

#endif
