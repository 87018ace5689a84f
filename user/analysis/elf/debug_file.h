/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The separate debug file that `strip` and distributions leave: found on disk, or fetched. */
#ifndef PROFTRACE_ELF_DEBUG_FILE_H
#define PROFTRACE_ELF_DEBUG_FILE_H

struct elf_image;

/*
 * Looks for a file with a .symtab that belongs to `img`: by build id, then by .gnu_debuglink, below
 * `root` first if that is not "". Its label is its path. Returns 0; -ENOENT if there is none, which
 * is usual and not logged; -ENOMEM, logged. Free *out with elf_image__free().
 */
int debug_file__find(const struct elf_image *img, const char *root, struct elf_image **out);

/* Like debug_file__find(); if this machine has no such file, asks the servers of DEBUGINFOD_URLS
 * for it: see debug_fetch.h. */
int debug_file__open(const struct elf_image *img, const char *root, struct elf_image **out);

/* Another plan begins: what its debug files' checksums may cost is counted anew. */
void debug_file__renew(void);

#endif
