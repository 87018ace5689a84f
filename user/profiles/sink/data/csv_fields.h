/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fields of a table (RFC 4180), each with the comma behind it. */
#ifndef PROFTRACE_SINK_DATA_CSV_FIELDS_H
#define PROFTRACE_SINK_DATA_CSV_FIELDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* 0 is written, what is not known is empty. */
void csv__number(FILE *out, uint64_t value);
void csv__known(FILE *out, bool known, uint64_t value);

/* Always in quotes. Spreadsheets calculate what begins like a formula: a stranger's names are not
 * to do that, so an apostrophe makes them text. NULL is empty. */
void csv__text(FILE *out, const char *text);

#endif
