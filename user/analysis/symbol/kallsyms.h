/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's functions, by address (/proc/kallsyms), its modules' and BPF programs among them. */
#ifndef PROFTRACE_SYMBOL_KALLSYMS_H
#define PROFTRACE_SYMBOL_KALLSYMS_H

#include <stdint.h>

struct kallsyms;

/* Opens the list: whether it shows addresses is decided by the privileges of now. It is read at the
 * first look for a name. `path` NULL: /proc/kallsyms. Returns 0 or -errno. */
int kallsyms__open(const char *path, struct kallsyms **out);
void kallsyms__free(struct kallsyms *k); /* accepts NULL */

/* The name of the function whose code is at `address`, and where it begins; NULL: not known, as
 * where kernel.kptr_restrict hides addresses. The list keeps the name. */
const char *kallsyms__find(struct kallsyms *k, uint64_t address, uint64_t *start);

#endif
