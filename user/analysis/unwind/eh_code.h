/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Evidence from an object's code, about the ranges of its .eh_frame: a call of a range's start
 * makes it a function, for one; jumps, addresses and jump tables tell as well. Inside unwind/ only.
 */
#ifndef PROFTRACE_UNWIND_EH_CODE_H
#define PROFTRACE_UNWIND_EH_CODE_H

#include "unwind/eh_evidence.h"

/* Decodes all ranges, shared out to a few threads, and adds to `ev` what they refer to. Returns 0
 * or -ENOMEM. */
int eh_code__read(struct eh_evidence *ev);

#endif
