/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's functions, by address (/proc/kallsyms), its modules' and BPF programs among them. */
#ifndef PROFTRACE_SYMBOL_KALLSYMS_H
#define PROFTRACE_SYMBOL_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kallsyms;

/* Opens the list: whether it shows addresses is decided by the privileges of now. It is read at the
 * first look for a name. `path` NULL: /proc/kallsyms. Returns 0 or -errno. */
int kallsyms__open(const char *path, struct kallsyms **out);
void kallsyms__free(struct kallsyms *k); /* accepts NULL */

/* Writes what the kernel says of an address: "vfs_read+0x1a/0x340", with " [ext4]" behind it where
 * that is a module's. False: it cannot be asked. */
typedef bool (*kallsyms_say)(void *ctx, uint64_t address, char *said, size_t size);

/* Has the kernel asked for each name in place of reading the list, whose 200,000 lines take 60 ms;
 * but where the list hides addresses, there are no names from the kernel either. */
void kallsyms__ask(struct kallsyms *k, kallsyms_say say, void *ctx);

/* The name of the function whose code is at `address`, and where it begins; NULL: not known, as
 * where kernel.kptr_restrict hides addresses. The list keeps the name, until it is
 * freed. */
const char *kallsyms__find(struct kallsyms *k, uint64_t address, uint64_t *start);

#endif
