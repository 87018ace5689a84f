// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/help.h"

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/option_suits.h"
#include "cli/option_table.h"
#include "cli/verbs.h"
#include "sink/sink.h"

#define TABLE_MAX   160 /* rows of option_table, with headings */
#define FORMAT_TEXT 512 /* of -f, with the names of all formats */

static bool is_last(const struct argp_option *a)
{
	return !a->name && !a->doc && !a->key;
}

static bool takes(enum verb verb, const struct argp_option *a)
{
	return verb == VERB_TRACE || a->group < 0 || option_suits__verb(verb, a->key);
}

/* The help of -f: the table's text and the verb's own formats. `buf` has room for both. */
static const char *format_text(enum verb verb, const char *text, char buf[FORMAT_TEXT])
{
	char names[FORMAT_NAMES];

	if (verb == VERB_DOCTOR)
		return "the form of the result, text (the default) or json";
	if (verb == VERB_DIFF)
		snprintf(buf, FORMAT_TEXT,
			 "the form of the result (default: what the name of -o's FILE ends in, "
			 "else tree); FMT is one of %s",
			 sink__diff_names(names, sizeof(names)));
	else
		snprintf(buf, FORMAT_TEXT, "%s%s", text, sink__names(names, sizeof(names)));
	return buf;
}

/* The table's options that a verb takes, each below its heading; a heading without any goes. */
static void select_options(enum verb verb, struct argp_option kept[TABLE_MAX],
			   char formats[FORMAT_TEXT])
{
	const struct argp_option *heading = NULL;
	size_t cnt = 0;

	for (const struct argp_option *a = option_table; !is_last(a) && cnt < TABLE_MAX - 2; a++) {
		if (!a->name) {
			heading = a;
			continue;
		}
		if (!takes(verb, a))
			continue;
		if (heading && a->group >= 0)
			kept[cnt++] = *heading;
		heading = NULL;
		kept[cnt++] = *a;
		if (a->key == 'f')
			kept[cnt - 1].doc = format_text(verb, a->doc, formats);
	}
	kept[cnt] = (struct argp_option){0};
}

/* Each line of "[OPTION...] -p NAME\n[OPTION...] -x PATH" is a usage of its own. */
static void print_usage(enum verb verb, bool *first, FILE *out)
{
	const char *at = verbs[verb].usage;

	while (*at) {
		int len = (int)strcspn(at, "\n");

		fprintf(out, "%s proftrace %s%s%.*s\n",
			*first ? "Usage:" : "  or: ", verbs[verb].name,
			*verbs[verb].name ? " " : "", len, at);
		*first = false;
		at += len + (at[len] == '\n');
	}
}

void help__print(enum verb verb, FILE *out)
{
	struct argp_option kept[TABLE_MAX];
	struct argp argp = {.options = kept, .doc = option_table_doc};
	char formats[FORMAT_TEXT];
	bool first = true;
	char *doc = NULL;

	select_options(verb, kept, formats);
	print_usage(verb, &first, out);
	if (verb == VERB_TRACE) {
		FOR_EACH_VERB(v)
		{
			print_usage(v, &first, out);
		}
	} else if (asprintf(&doc,
			    "proftrace %s: %s.\vproftrace --help lists all verbs and options; man "
			    "proftrace-%s explains those of this verb.",
			    verbs[verb].name, verbs[verb].text, verbs[verb].name) >= 0) {
		argp.doc = doc;
	}
	argp_help(&argp, out, ARGP_HELP_DOC | ARGP_HELP_LONG, (char *)"proftrace");
	free(doc);
}
