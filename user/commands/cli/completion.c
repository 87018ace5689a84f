// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each option is offered where option_suits__verb() takes it. What its value may be is read off
 * the table as well: of "auto|always|never" one of these words, of FILE and PATH a file.
 */
#include "cli/completion.h"

#include <ctype.h>
#include <string.h>

#include "cli/option_suits.h"
#include "cli/option_table.h"
#include "cli/verbs.h"
#include "sink/sink.h"

#define WORDS_SIZE 1024
#define TEXT_SIZE  80

enum value { VALUE_NONE, VALUE_ANY, VALUE_WORDS, VALUE_FILE, VALUE_PROCESS, VALUE_USER };

/* The next option from `a` on; NULL: there is none. */
static const struct argp_option *option_from(const struct argp_option *a)
{
	while (!a->name && (a->doc || a->key))
		a++;
	return a->name ? a : NULL;
}

#define FOR_EACH_OPTION(A) \
	for (const struct argp_option *A = option_from(option_table); A; A = option_from(A + 1))

/* The words that are offered for its value, with spaces between them, are in `words`. */
static enum value value_of(const struct argp_option *a, char words[WORDS_SIZE])
{
	char *c;

	if (!a->arg)
		return VALUE_NONE;
	switch (a->key) {
	case 'f':
		sink__names(words, WORDS_SIZE);
		break;
	case 'p':
		return VALUE_PROCESS;
	case OPT_USER:
		return VALUE_USER;
	default:
		if (!strcmp(a->arg, "FILE") || !strcmp(a->arg, "PATH"))
			return VALUE_FILE;
		if (!strchr(a->arg, '|') || !islower((unsigned char)*a->arg))
			return VALUE_ANY;
		snprintf(words, WORDS_SIZE, "%s", a->arg);
	}
	for (c = words; *c; c++) {
		if (*c == '|' || *c == ',')
			*c = ' ';
	}
	return VALUE_WORDS;
}

static bool has_letter(const struct argp_option *a)
{
	return a->key > ' ' && a->key < 127;
}

/* The option's description, shortened to a few words without characters special to shells. */
static const char *text_of(const struct argp_option *a, char text[TEXT_SIZE])
{
	size_t len = 0, end;

	while (a->doc[len] && len < TEXT_SIZE - 1 && !strchr(";:([", a->doc[len]))
		len++;
	if (a->doc[len] && !strchr(";:([", a->doc[len])) {
		while (len && a->doc[len] != ' ')
			len--;
	}
	for (end = 0; end < len; end++)
		text[end] = strchr("'\"`$\\]", a->doc[end]) ? ' ' : a->doc[end];
	while (end && text[end - 1] == ' ')
		end--;
	text[end] = '\0';
	return text;
}

/* The shell's `case` by verb, each with the options that it takes. */
static void per_verb(FILE *out, const char *begin, const char *end,
		     void (*print)(FILE *out, const struct argp_option *a))
{
	for (int v = VERB_TRACE + 1; v <= VERBS; v++) {
		enum verb verb = v < VERBS ? v : VERB_TRACE;

		fprintf(out, "\t%s) options=%s", verb ? verbs[verb].name : "*", begin);
		FOR_EACH_OPTION(a)
		{
			if (option_suits__verb(verb, a->key) || a->group < 0)
				print(out, a);
		}
		fprintf(out, "%s ;;\n", end);
	}
	fputs("\tesac\n", out);
}

static void bash_option(FILE *out, const struct argp_option *a)
{
	if (has_letter(a))
		fprintf(out, " -%c", a->key);
	fprintf(out, " --%s", a->name);
}

static void bash_values(FILE *out)
{
	static const char *const actions[] = {
		[VALUE_ANY] = "return",
		[VALUE_WORDS] = "COMPREPLY=($(compgen -W \"%s\" -- \"$cur\")); return",
		[VALUE_FILE] = "COMPREPLY=($(compgen -f -- \"$cur\")); return",
		[VALUE_PROCESS] = "COMPREPLY=($(compgen -W \"$(ps -eo comm=)\" -- \"$cur\")); "
				  "return",
		[VALUE_USER] = "COMPREPLY=($(compgen -u -- \"$cur\")); return",
	};

	FOR_EACH_OPTION(a)
	{
		char words[WORDS_SIZE];
		enum value value = value_of(a, words);

		if (value == VALUE_NONE)
			continue;
		fputs("\t", out);
		if (has_letter(a))
			fprintf(out, "-%c|", a->key);
		fprintf(out, "--%s) ", a->name);
		if (value == VALUE_WORDS)
			fprintf(out, actions[value], words);
		else
			fputs(actions[value], out);
		fputs(" ;;\n", out);
	}
}

static void print_bash(FILE *out)
{
	fputs("# bash completion of proftrace; made by proftrace --completion bash\n"
	      "_proftrace()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i options\n"
	      "\tCOMPREPLY=()\n"
	      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	      "\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then\n"
	      "\t\t\tif declare -F _command_offset >/dev/null; then _command_offset $((i + 1))\n"
	      "\t\t\telif ((i + 1 == COMP_CWORD)); then COMPREPLY=($(compgen -c -- \"$cur\"))\n"
	      "\t\t\telse COMPREPLY=($(compgen -f -- \"$cur\")); fi\n"
	      "\t\t\treturn\n"
	      "\t\tfi\n"
	      "\tdone\n"
	      "\tif [[ $cur == = ]]; then cur=\n"
	      "\telif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
	      "\tcase $prev in\n",
	      out);
	bash_values(out);
	fputs("\tesac\n\tcase ${COMP_WORDS[1]} in\n", out);
	per_verb(out, "\"", "\"", bash_option);
	fputs("\tif [[ $cur == -* ]]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
	      "\telif ((COMP_CWORD == 1)); then\n"
	      "\t\tCOMPREPLY=($(compgen -c -W \"",
	      out);
	FOR_EACH_VERB(v)
	{
		fprintf(out, "%s%s", v > VERB_TRACE + 1 ? " " : "", verbs[v].name);
	}
	fputs("\" -- \"$cur\"))\n"
	      "\telse\n\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n\tfi\n}\n"
	      "complete -o filenames -F _proftrace proftrace\n",
	      out);
}

static void zsh_option(FILE *out, const struct argp_option *a)
{
	static const char *const actions[] = {[VALUE_ANY] = ": ",
					      [VALUE_FILE] = ":_files",
					      [VALUE_USER] = ":_users",
					      [VALUE_PROCESS] =
						      ":{compadd -- ${(f)\"$(ps -eo comm=)\"}}"};
	char text[TEXT_SIZE], words[WORDS_SIZE];
	enum value value = value_of(a, words);

	text_of(a, text);
	for (int letter = has_letter(a); letter >= 0; letter--) {
		if (letter)
			fprintf(out, "\t\t'*-%c%s[%s]", a->key, value ? "+" : "", text);
		else
			fprintf(out, "\t\t'*--%s%s[%s]", a->name, value ? "=" : "", text);
		if (value)
			fputs(":value", out);
		if (value == VALUE_WORDS)
			fprintf(out, ":(%s)", words);
		else if (value)
			fputs(actions[value], out);
		fputs("'\n", out);
	}
}

static void print_zsh(FILE *out)
{
	fputs("#compdef proftrace\n# made by proftrace --completion zsh\n"
	      "_proftrace()\n{\n\tlocal -a options verbs\n\tverbs=(\n",
	      out);
	FOR_EACH_VERB(v)
	{
		fprintf(out, "\t\t'%s:%s'\n", verbs[v].name, verbs[v].text);
	}
	fputs("\t)\n\tcase $words[2] in\n", out);
	per_verb(out, "(\n", "\t\t)", zsh_option);
	fputs("\tif ((CURRENT == 2)) && [[ $words[2] != -* ]]; then\n"
	      "\t\t_describe verb verbs\n\t\t_command_names -e\n\t\treturn\n\tfi\n"
	      "\tif ((${words[(I)--]} == 0)) && (($verbs[(I)$words[2]:*])); then\n"
	      "\t\t_arguments $options '*:file:_files'\n"
	      "\telse\n\t\t_arguments $options '*::command:_normal'\n\tfi\n}\n"
	      "_proftrace \"$@\"\n",
	      out);
}

/* Behind which verbs it may stand, as a condition. */
static void fish_condition(FILE *out, const struct argp_option *a)
{
	bool live = option_suits__verb(VERB_TRACE, a->key);
	size_t cnt = 0;

	FOR_EACH_VERB(v)
	{
		cnt += option_suits__verb(v, a->key) != live;
	}
	if (!cnt || a->group < 0)
		return;
	fprintf(out, " -n '%s__fish_seen_subcommand_from", live ? "not " : "");
	FOR_EACH_VERB(v)
	{
		if (option_suits__verb(v, a->key) != live)
			fprintf(out, " %s", verbs[v].name);
	}
	fputs("'", out);
}

static void print_fish(FILE *out)
{
	char text[TEXT_SIZE], words[WORDS_SIZE];

	fputs("# made by proftrace --completion fish\n", out);
	FOR_EACH_VERB(v)
	{
		fprintf(out, "complete -c proftrace -n __fish_is_first_arg -a %s -d '%s'\n",
			verbs[v].name, verbs[v].text);
	}
	fputs("complete -c proftrace -n __fish_is_first_arg -xa '(__fish_complete_command)'\n",
	      out);
	FOR_EACH_OPTION(a)
	{
		enum value value = value_of(a, words);

		fputs("complete -c proftrace", out);
		fish_condition(out, a);
		if (has_letter(a))
			fprintf(out, " -s %c", a->key);
		fprintf(out, " -l %s", a->name);
		if (value == VALUE_WORDS)
			fprintf(out, " -xa '%s'", words);
		else if (value == VALUE_PROCESS)
			fputs(" -xa '(ps -eo comm=)'", out);
		else if (value == VALUE_USER)
			fputs(" -xa '(__fish_complete_users)'", out);
		else if (value)
			fputs(value == VALUE_FILE ? " -rF" : " -x", out);
		fprintf(out, " -d '%s'\n", text_of(a, text));
	}
}

bool completion__print(const char *shell, FILE *out)
{
	static const struct {
		const char *name;
		void (*print)(FILE *out);
	} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++) {
		if (strcmp(shell, shells[i].name) != 0)
			continue;
		shells[i].print(out);
		return true;
	}
	return false;
}
