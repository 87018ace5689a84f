/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The value of --link: 'SUBMIT(VALUE) -> RUN(VALUE)'. */
#ifndef PROFTRACE_CLI_LINK_H
#define PROFTRACE_CLI_LINK_H

#include <stdbool.h>
#include <stddef.h>

struct link_option {
	const char *text; /* as given; borrowed */
	/* Globs of functions, and names of values: all in `submit`. */
	char *submit, *submit_value;
	char *run, *run_value;
};

/* Returns false if it is none, or if there is no memory. Free link->submit. */
bool link_option__parse(struct link_option *link, const char *text);

/* Adds a value, as "arg1", of functions that match `glob` to those that are to be read, which are
 * like those of link_option__want(). */
bool link__want_value(const char *glob, const char *value, char ***arguments, size_t *cnt);

/* Adds the link's values to those that are to be read (-A), which are texts of their own, each
 * freed by the caller. Of each function the first text counts that matches it: so one of the same
 * glob is added to. Returns false if there is no memory. */
bool link_option__want(const struct link_option *link, char ***arguments, size_t *cnt);

#endif
