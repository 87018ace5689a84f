/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code that loads the stack pointer with something new, as what switches stacks does. */
#ifndef PROFTRACE_CODE_STACK_LOADS_H
#define PROFTRACE_CODE_STACK_LOADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arch;
struct eh_frame;
struct elf_image;

/* Whether these bytes have such code: they are a function's if `is_code`; else they may be code
 * without unwind tables, or data. */
bool stack_loads__in(const struct arch *arch, const uint8_t *bytes, size_t size, bool is_code);

/* Whether there is some in the object, whose unwind tables are `eh` (NULL: none); true as well if
 * not all of its code can be read. */
bool stack_loads__any(const struct elf_image *img, const struct eh_frame *eh);

#endif
