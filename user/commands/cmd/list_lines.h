/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -l with --lines: where each line is probed, or why it is not. */
#ifndef PROFTRACE_CMD_LIST_LINES_H
#define PROFTRACE_CMD_LIST_LINES_H

#include <stdio.h>

struct json;
struct plan;

/* Both write nothing if no lines were asked for. */
void list_lines__text(FILE *out, const struct plan *p);
void list_lines__json(struct json *j, const struct plan *p); /* the member "lines" */

#endif
