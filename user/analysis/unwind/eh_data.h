/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the data of an object says about the ranges of its .eh_frame: pointers, and jump tables of
 * pointers. Inside unwind/ only. */
#ifndef PROFTRACE_UNWIND_EH_DATA_H
#define PROFTRACE_UNWIND_EH_DATA_H

#include "unwind/eh_evidence.h"

/* Looks through all data, and adds to `ev` what it points to. Returns 0 or -ENOMEM. */
int eh_data__read(struct eh_evidence *ev);

#endif
