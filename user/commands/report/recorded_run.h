/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Getting at a recording's run, for the commands that read one. */
#ifndef PROFTRACE_REPORT_RECORDED_RUN_H
#define PROFTRACE_REPORT_RECORDED_RUN_H

#include "record/reader.h"

struct options;

/* Loads the run that --run chooses, or the last one; says if there are others and if it was cut
 * off. Returns 0, or -errno with one line logged. To be freed with recorded__free(). */
int recorded_run__load(const char *path, const struct options *o, struct recorded *out);

/* Loads the two runs that diff compares: from each of two files as above, or, if there is one file,
 * from this the one that --run chooses, or the last one, and the one before it. numbers[] are the
 * runs' in their files, from 1 on. Returns as above; both are to be freed. */
int recorded_run__load_two(const struct options *o, struct recorded out[2], size_t numbers[2]);

#endif
