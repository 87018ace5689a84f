/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The value of --link: 'SUBMIT(VALUE) -> RUN(VALUE)'. */
#ifndef PROFTRACE_CLI_LINK_H
#define PROFTRACE_CLI_LINK_H

#include <stdbool.h>

struct link_option {
	const char *text; /* as given; borrowed */
	/* Globs of functions, and names of values: all in `submit`. */
	char *submit, *submit_value;
	char *run, *run_value;
};

/* Returns false if it is none, or if there is no memory. Free link->submit. */
bool link_option__parse(struct link_option *link, const char *text);

#endif
