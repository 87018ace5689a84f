// SPDX-License-Identifier: GPL-2.0-or-later
#include "select/probe_name.h"

#include <string.h>

static const char *const begins[] = {"begin", "start", "entry", "enter", NULL};
static const char *const ends[] = {
	"end",	    "done",	 "return", "exit",	"leave", "stop",    "finish",	"finished",
	"complete", "completed", "commit", "committed", "abort", "aborted", "rollback", NULL};

/* Length of the name without its last word, and what stands before that, if the word is one of
 * these; 0: it is not. */
static size_t stem_of(const char *name, const char *const *words)
{
	size_t len = strlen(name);

	for (; *words; words++) {
		size_t word = strlen(*words), stem = len - word;

		if (len < word + 2 || strcmp(name + stem, *words))
			continue;
		if (stem > 2 && !memcmp(name + stem - 2, "__", 2))
			return stem - 2;
		if (name[stem - 1] == '_' || name[stem - 1] == '-')
			return stem - 1;
	}
	return 0;
}

static struct probe_name classify(const char *name, size_t begin, size_t end)
{
	if (begin)
		return (struct probe_name){PROBE_BEGIN, begin};
	if (end)
		return (struct probe_name){PROBE_END, end};
	return (struct probe_name){PROBE_MARK, strlen(name)};
}

/* Length of the name without that suffix; 0: it has another one, or nothing else. */
static size_t without(const char *name, const char *suffix)
{
	size_t len = strlen(name), cut = strlen(suffix);

	return len > cut && !strcmp(name + len - cut, suffix) ? len - cut : 0;
}

struct probe_name probe_name__own(const char *name)
{
	return classify(name, without(name, "__begin"), without(name, "__end"));
}

struct probe_name probe_name__foreign(const char *name)
{
	return classify(name, stem_of(name, begins), stem_of(name, ends));
}

bool probe_name__is_assembly(const char *symbol)
{
	return without(symbol, ".abi0");
}

const char *probe_name__of_function(const char *symbol, enum probe_role *role)
{
	static const char begin[] = "proftrace_begin_", end[] = "proftrace_end_";
	const char *name = symbol + strlen(symbol) - (probe_name__is_assembly(symbol) ? 5 : 0);

	while (name > symbol && name[-1] != '.')
		name--;

	if (!strncmp(name, begin, sizeof(begin) - 1) && name[sizeof(begin) - 1]) {
		*role = PROBE_BEGIN;
		return name + sizeof(begin) - 1;
	}
	if (!strncmp(name, end, sizeof(end) - 1) && name[sizeof(end) - 1]) {
		*role = PROBE_END;
		return name + sizeof(end) - 1;
	}
	return NULL;
}
