// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions of both profiles are sorted together by what identifies them, and those that are side
 * by side then are the same: pass by pass, each asking for less, over what the earlier ones have
 * left. A build moves functions and seldom changes their order, so of several that are alike
 * (static functions of one name) the first is the first, by offset.
 */
#include "diff/same_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "util/text.h"

struct entry {
	const struct profile_function *function;
	const char *module; /* file name; that of the other profile, if it is taken for renamed */
	uint32_t index;
	uint32_t profile;
};

static const char *text(const char *s)
{
	return s ? s : "";
}

static int compare_modules(const struct entry *x, const struct entry *y)
{
	return strcmp(x->module, y->module);
}

/* One that is inlined is another than itself out of line. */
static int compare_kinds(const struct entry *x, const struct entry *y)
{
	int order = compare_modules(x, y);

	return order ? order
		     : (x->function->kind == FUNCTION_INLINED) -
			       (y->function->kind == FUNCTION_INLINED);
}

static int by_symbol(const struct entry *x, const struct entry *y)
{
	int order = compare_kinds(x, y);

	return order ? order : strcmp(text(x->function->symbol), text(y->function->symbol));
}

static int by_symbol_and_file(const struct entry *x, const struct entry *y)
{
	int order = by_symbol(x, y);

	if (order)
		return order;
	return strcmp(path_base(text(x->function->file)), path_base(text(y->function->file)));
}

/* How long the name is without what optimizers add to it, which the next build may do otherwise. */
static size_t plain_length(const char *name)
{
	static const char *const added[] = {" [clone", ".constprop.", ".isra.",	    ".part.",
					    ".cold",   ".llvm.",      ".lto_priv.", ".localalias"};
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(added) / sizeof(*added); i++) {
		const char *at = strstr(name, added[i]);

		if (at && at > name && (size_t)(at - name) < len)
			len = at - name;
	}
	return len;
}

/* Demangled: symbols of Rust end in a hash that changes with the build. */
static int by_plain_name(const struct entry *x, const struct entry *y)
{
	const char *a = text(x->function->name), *b = text(y->function->name);
	size_t a_len = plain_length(a), b_len = plain_length(b);
	int order = compare_kinds(x, y);

	if (!order)
		order = strncmp(a, b, a_len < b_len ? a_len : b_len);
	return order ? order : (a_len > b_len) - (a_len < b_len);
}

typedef int compare_fn(const struct entry *, const struct entry *);

static int compare_entries(const void *a, const void *b, void *compare)
{
	const struct entry *x = a, *y = b;
	int order = (*(compare_fn **)compare)(x, y);

	if (order)
		return order;
	if (x->profile != y->profile)
		return x->profile < y->profile ? -1 : 1;
	if (x->function->offset != y->function->offset)
		return x->function->offset < y->function->offset ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static void sort(struct entry *entries, size_t cnt, compare_fn *compare)
{
	if (cnt)
		qsort_r(entries, cnt, sizeof(*entries), compare_entries, &compare);
}

/* Pairs entries that are alike. `first_cnt` of the `cnt` entries are of the first profile, and
 * stand first. Sets other[] of those that have a counterpart, and moves the rest to `left`, which
 * may overlap. Returns how many these are. */
static size_t pair_alike(struct entry *e, size_t cnt, size_t first_cnt, uint32_t *other,
			 struct entry *left)
{
	size_t second_cnt = cnt - first_cnt, left_cnt = 0;
	size_t pairs = first_cnt < second_cnt ? first_cnt : second_cnt;

	for (size_t i = 0; i < pairs; i++)
		other[e[first_cnt + i].index] = e[i].index;
	for (size_t i = 0; i < cnt; i++) {
		if ((e[i].profile ? i - first_cnt : i) >= pairs)
			left[left_cnt++] = e[i];
	}
	return left_cnt;
}

/* Returns how many are left, in place. */
static size_t pass(struct entry *entries, size_t cnt, compare_fn *compare, uint32_t *other)
{
	size_t left = 0, end, first_cnt;

	sort(entries, cnt, compare);
	for (size_t i = 0; i < cnt; i = end) {
		for (end = i, first_cnt = 0; end < cnt && !compare(&entries[i], &entries[end]);
		     end++)
			first_cnt += !entries[end].profile;
		left += pair_alike(entries + i, end - i, first_cnt, other, entries + left);
	}
	return left;
}

/* If each profile has one module that the other has not, they are taken for one that was renamed,
 * as where two builds of a program are compared. */
static void rename_module(struct entry *entries, size_t cnt)
{
	const char *alone[2] = {NULL, NULL};
	size_t end, alone_cnt[2] = {0, 0};

	sort(entries, cnt, compare_modules);
	for (size_t i = 0; i < cnt; i = end) {
		uint32_t profile = entries[i].profile;

		for (end = i; end < cnt && !compare_modules(&entries[i], &entries[end]); end++)
			;
		if (entries[end - 1].profile != profile)
			continue;
		alone[profile] = entries[i].module;
		alone_cnt[profile]++;
	}
	if (alone_cnt[0] != 1 || alone_cnt[1] != 1)
		return;
	for (size_t i = 0; i < cnt; i++) {
		if (!strcmp(entries[i].module, alone[0]))
			entries[i].module = alone[1];
	}
}

/* Returns how many there are. */
static size_t fill(const struct profile *const profiles[2], struct entry *entries)
{
	size_t cnt = 0;

	for (uint32_t p = 0; p < 2; p++) {
		for (size_t i = 0; i < profiles[p]->functions_cnt; i++) {
			const struct profile_function *f = &profiles[p]->functions[i];

			entries[cnt++] = (struct entry){f, path_base(text(f->module)), i, p};
		}
	}
	return cnt;
}

/* `other` tells for each function of the second profile which one of the first it is. Returns how
 * many pairs there are. */
static size_t list(size_t first_cnt, size_t second_cnt, const uint32_t *other, bool *taken,
		   struct function_pair *pairs)
{
	size_t cnt = 0;

	for (size_t i = 0; i < second_cnt; i++) {
		pairs[cnt++] = (struct function_pair){{other[i], i}};
		if (other[i] != NO_FUNCTION)
			taken[other[i]] = true;
	}
	for (size_t i = 0; i < first_cnt; i++) {
		if (!taken[i])
			pairs[cnt++] = (struct function_pair){{i, NO_FUNCTION}};
	}
	return cnt;
}

int function_pairs__new(const struct profile *const profiles[2], struct function_pair **out,
			size_t *cnt)
{
	static compare_fn *const passes[] = {by_symbol_and_file, by_symbol, by_plain_name};
	size_t first_cnt = profiles[0]->functions_cnt, second_cnt = profiles[1]->functions_cnt;
	size_t all = first_cnt + second_cnt, left;
	struct function_pair *pairs = calloc(all + 1, sizeof(*pairs));
	struct entry *entries = calloc(all + 1, sizeof(*entries));
	uint32_t *other = calloc(second_cnt + 1, sizeof(*other));
	bool *taken = calloc(first_cnt + 1, sizeof(*taken));
	int err = pairs && entries && other && taken ? 0 : -ENOMEM;

	if (!err) {
		memset(other, 0xff, second_cnt * sizeof(*other));
		left = fill(profiles, entries);
		rename_module(entries, left);
		for (size_t i = 0; i < sizeof(passes) / sizeof(*passes); i++)
			left = pass(entries, left, passes[i], other);
		*cnt = list(first_cnt, second_cnt, other, taken, pairs);
		*out = pairs;
		pairs = NULL;
	}
	free(pairs);
	free(entries);
	free(other);
	free(taken);
	return err;
}
