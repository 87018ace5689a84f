/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Evidence from an object's data, about the ranges of its .eh_frame: a pointer to a range's start,
 * as in a table of callbacks, makes it a function. Inside unwind/ only. */
#ifndef PROFTRACE_UNWIND_EH_DATA_H
#define PROFTRACE_UNWIND_EH_DATA_H

#include "unwind/eh_evidence.h"

/* Looks through all data, and adds to `ev` what it points to. Returns 0 or -ENOMEM. */
int eh_data__read(struct eh_evidence *ev);

#endif
