// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A line is "ffffffff81000000 T _stext", of a module with "\t[module]" behind. The list has no
 * sizes: a function ends where the next symbol begins, or soon.
 */
#include "symbol/kallsyms.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/search.h"

#define LINE_MAX_BYTES 1024
#define MOST_BYTES     (1u << 20) /* that a function may have, if nothing follows */
#define MOST_SYMBOLS   (1u << 22)

struct kernel_symbol {
	uint64_t start;
	size_t name; /* in the names; NO_NAME: it is no function */
};

#define NO_NAME SIZE_MAX

/* A function whose name the kernel has told. */
struct told_symbol {
	uint64_t start;
	char *name;
};

struct kallsyms {
	FILE *file;		       /* NULL: it has been read */
	struct kernel_symbol *symbols; /* by start */
	size_t cnt, cap;
	char *names;
	size_t names_len, names_cap;
	kallsyms_say say; /* NULL: the list tells */
	void *ctx;
	struct told_symbol *told;
	size_t told_cnt, told_cap;
};

int kallsyms__open(const char *path, struct kallsyms **out)
{
	struct kallsyms *k = calloc(1, sizeof(*k));
	int err = 0;

	if (!k)
		return -ENOMEM;
	k->file = fopen(path ? path : "/proc/kallsyms", "re");
	if (!k->file) {
		err = -errno;
		free(k);
		return err;
	}
	*out = k;
	return 0;
}

void kallsyms__free(struct kallsyms *k)
{
	if (!k)
		return;
	if (k->file)
		fclose(k->file);
	for (size_t i = 0; i < k->told_cnt; i++)
		free(k->told[i].name);
	free(k->told);
	free(k->symbols);
	free(k->names);
	free(k);
}

static int take(struct kallsyms *k, uint64_t start, char type, const char *name)
{
	size_t len = strlen(name) + 1;
	bool is_code = strchr("tTwW", type);

	if (k->cnt == MOST_SYMBOLS || ARRAY_RESERVE(&k->symbols, k->cnt, &k->cap) ||
	    ARRAY_RESERVE_MORE(&k->names, k->names_len, len, &k->names_cap))
		return -ENOMEM;
	k->symbols[k->cnt++] = (struct kernel_symbol){start, is_code ? k->names_len : NO_NAME};
	if (is_code) {
		memcpy(k->names + k->names_len, name, len);
		k->names_len += len;
	}
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct kernel_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* If several symbols are at one address, the first one counts, a function before others. */
static void drop_aliases(struct kallsyms *k)
{
	size_t cnt = 0;

	for (size_t i = 0; i < k->cnt; i++) {
		if (!cnt || k->symbols[cnt - 1].start != k->symbols[i].start)
			k->symbols[cnt++] = k->symbols[i];
	}
	k->cnt = cnt;
}

/* Takes the line apart; false: it is none of a symbol. There are 200,000: sscanf() takes longer for
 * them than the kernel does. */
static bool parse(char *line, uint64_t *start, char *type, const char **name)
{
	char *at;

	*start = strtoull(line, &at, 16);
	if (!*start || at[0] != ' ' || !at[1] || at[2] != ' ')
		return false;
	*type = at[1];
	*name = at + 3;
	at[3 + strcspn(at + 3, "\t\n ")] = '\0';
	return **name;
}

static bool is_sorted(const struct kallsyms *k)
{
	for (size_t i = 1; i < k->cnt; i++) {
		if (by_start(&k->symbols[i - 1], &k->symbols[i]) > 0)
			return false;
	}
	return true;
}

static void load(struct kallsyms *k)
{
	char line[LINE_MAX_BYTES], type;
	const char *name;
	uint64_t start;

	while (fgets(line, sizeof(line), k->file)) {
		/* Without memory for more, the symbols that have been read so far serve. */
		if (parse(line, &start, &type, &name) && take(k, start, type, name))
			break;
	}
	fclose(k->file);
	k->file = NULL;
	if (!is_sorted(k))
		qsort(k->symbols, k->cnt, sizeof(*k->symbols), by_start);
	drop_aliases(k);
}

#define FIRST_LINES 256 /* the first one may well be at 0: variables of CPUs, before Linux 6.15 */

/* Whether the list shows addresses. */
static bool shows_addresses(struct kallsyms *k)
{
	char line[LINE_MAX_BYTES], type;
	const char *name;
	uint64_t start;
	bool shown = false;

	for (int i = 0; !shown && i < FIRST_LINES && fgets(line, sizeof(line), k->file); i++)
		shown = parse(line, &start, &type, &name);
	rewind(k->file);
	return shown;
}

void kallsyms__ask(struct kallsyms *k, kallsyms_say say, void *ctx)
{
	k->say = k->file && shows_addresses(k) ? say : NULL;
	k->ctx = ctx;
}

/* The name of the function that begins at `start`, which is kept. NULL: no memory. */
static const char *keep(struct kallsyms *k, uint64_t start, const char *name, size_t len)
{
	char *copy;

	for (size_t i = 0; i < k->told_cnt; i++) {
		if (k->told[i].start == start)
			return k->told[i].name;
	}
	if (ARRAY_RESERVE(&k->told, k->told_cnt, &k->told_cap))
		return NULL;
	copy = strndup(name, len);
	if (copy)
		k->told[k->told_cnt++] = (struct told_symbol){start, copy};
	return copy;
}

/* Takes what the kernel says apart: a name, the distance from its start, and the function's size;
 * where there is no name, a number alone. */
static const char *take_told(struct kallsyms *k, uint64_t address, const char *said,
			     uint64_t *start)
{
	const char *distance = strrchr(said, '+');

	if (!distance || distance == said || strncmp(distance, "+0x", 3))
		return NULL;
	*start = address - strtoull(distance + 1, NULL, 16);
	return keep(k, *start, said, distance - said);
}

const char *kallsyms__find(struct kallsyms *k, uint64_t address, uint64_t *start)
{
	char said[LINE_MAX_BYTES];
	const struct kernel_symbol *s;
	size_t after;

	if (k->say && k->say(k->ctx, address, said, sizeof(said)))
		return take_told(k, address, said, start);
	if (k->file)
		load(k);
	after = LOWER_BOUND(k->cnt, i, k->symbols[i].start <= address);
	if (!after)
		return NULL;
	s = &k->symbols[after - 1];
	if (s->name == NO_NAME || (after == k->cnt && address - s->start >= MOST_BYTES))
		return NULL;
	*start = s->start;
	return k->names + s->name;
}
