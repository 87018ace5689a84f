/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The variables in which programs count for gcov and its kind, as their compiler makes them do. */
#ifndef PROFTRACE_SYMBOL_COUNTERS_H
#define PROFTRACE_SYMBOL_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

struct counters;
struct elf_image;

/* Finds them by their names in .symtab. Returns 0, *out being NULL if there are none, or -ENOMEM.
 * Damaged tables count as empty. */
int counters__load(const struct elf_image *img, struct counters **out);
void counters__free(struct counters *c); /* accepts NULL */

/* Whether one lies at `vaddr`; `c` may be NULL. */
bool counters__hold(const struct counters *c, uint64_t vaddr);

#endif
