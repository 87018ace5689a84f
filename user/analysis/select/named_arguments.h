/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists that name parameters: each function that they match gets a list of its own, by numbers. */
#ifndef PROFTRACE_SELECT_NAMED_ARGUMENTS_H
#define PROFTRACE_SELECT_NAMED_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

struct argument_list;
struct arguments;
struct elf_image;
struct parameters;
struct symbol;
struct thread_values;

/* Named values of the functions of one object. */
struct named_arguments {
	struct arguments *arguments;
	const struct elf_image *img;
	struct thread_values *locals;
	const char *root;	       /* as in symtab__load() */
	struct parameters *parameters; /* opened for the first name */
	int err;		       /* from that */
};

void named_arguments__clear(struct named_arguments *n);

/* Replaces the number of a list by that of one that has its values by number. If they cannot be,
 * the list keeps the reason for named_arguments__report(), *list becomes 0, and *refused tells
 * whether the function's calls could not be held against the list's conditions. Returns 0 or
 * -ENOMEM. */
int named_arguments__resolve(struct named_arguments *n, const struct symbol *sym, uint32_t *list,
			     bool *refused);

/* Keeps a list that was made of a given one, once for all that read the same: *number, or 0 if
 * there is no room. Returns 0 or -ENOMEM. */
int named_arguments__keep(struct arguments *a, const struct argument_list *l, uint32_t *number);

/* Keeps, of the first function or region `name` whose values could not be found, the reason. */
void named_arguments__note_failure(struct argument_list *given, const char *name, const char *why);

/* Warns of functions whose values could not be found, of lists for which others' could. */
void named_arguments__report(struct arguments *a);

#endif
