/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines that --lines asks for: "[OBJECT:]FUNC", "FILE:LINE" or "FILE:FROM-TO". */
#ifndef PROFTRACE_SELECT_LINE_SPEC_H
#define PROFTRACE_SELECT_LINE_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "select/filter.h"

struct line_spec {
	const char *text; /* as it was given; borrowed */
	char *file;	  /* glob on the end of a path; NULL: it is about functions */
	uint32_t from, to;
	struct filter_pattern pattern; /* functions */
	bool found;		       /* set by the plan: there is code of such lines */
	bool reported;		       /* the same: that there is none has been said */
};

struct line_specs {
	struct line_spec *items;
	size_t cnt;
};

/* Parses what was given with --lines; `texts` must outlive it. Returns 0, or -EINVAL with a line
 * logged, or -ENOMEM. */
int line_specs__parse(struct line_specs *s, char *const *texts, size_t cnt);
void line_specs__clear(struct line_specs *s);

/* Whether it is about lines of a file, whose path ends so, at a slash. */
bool line_spec__names_file(const struct line_spec *s, const char *path);

/* Whether some function of the object may be one that is named. */
bool line_specs__name_object(const struct line_specs *s, const struct filter_object *obj);

/* Whether some names functions of other objects than the main program. */
bool line_specs__name_libraries(const struct line_specs *s);

/* Whether some is about lines of files, which may have code in any object. */
bool line_specs__name_files(const struct line_specs *s);

/* Whether the function is one that is named: then all its lines are wanted. */
bool line_specs__name_function(struct line_specs *s, const struct filter_object *obj,
			       const struct symbol *sym);

/* Notes for what it was named that it has lines. */
void line_specs__note_function(struct line_specs *s, const struct filter_object *obj,
			       const struct symbol *sym);

/* Whether the line is one of a file's that is asked for; notes for what. */
bool line_specs__name_line(struct line_specs *s, const char *file, uint32_t line);

#endif
