/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the code of an object's ranges says about them: calls, jumps, addresses, jump tables.
 * Inside unwind/ only. */
#ifndef PROFTRACE_UNWIND_EH_CODE_H
#define PROFTRACE_UNWIND_EH_CODE_H

#include "unwind/eh_evidence.h"

/* Decodes all ranges, shared out to a few threads, and adds to `ev` what they refer to. Returns 0
 * or -ENOMEM. */
int eh_code__read(struct eh_evidence *ev);

#endif
