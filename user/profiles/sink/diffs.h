/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formats of differences of two profiles: see struct sink::write_diff. Inside sink/ only. */
#ifndef PROFTRACE_SINK_DIFFS_H
#define PROFTRACE_SINK_DIFFS_H

#include <stdio.h>

struct diff;
struct sink_options;

/* Tables for people: of functions and of paths, or of functions alone. */
int diff_text__write(const struct diff *d, const struct sink_options *opts, FILE *out);
int diff_text__write_functions(const struct diff *d, const struct sink_options *opts, FILE *out);

int diff_json__write(const struct diff *d, const struct sink_options *opts, FILE *out);
int diff_csv__write(const struct diff *d, const struct sink_options *opts, FILE *out);
int diff_html__write(const struct diff *d, const struct sink_options *opts, FILE *out);
int diff_folded__write(const struct diff *d, const struct sink_options *opts, FILE *out);

#endif
