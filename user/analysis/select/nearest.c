// SPDX-License-Identifier: GPL-2.0-or-later
#include "select/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void nearest__init(struct nearest *n, const char *pattern)
{
	size_t len = 0;

	memset(n, 0, sizeof(*n));
	for (; *pattern && len + 1 < sizeof(n->wanted); pattern++) {
		if (!strchr("*?[]", *pattern))
			n->wanted[len++] = *pattern;
	}
}

/* Levenshtein distance, letters compared without case; names longer than the table are cut. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[129];
	size_t alen = strnlen(a, 128), blen = strnlen(b, 128);

	for (size_t j = 0; j <= blen; j++)
		row[j] = j;
	for (size_t i = 1; i <= alen; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= blen; j++) {
			bool same = tolower((unsigned char)a[i - 1]) ==
				    tolower((unsigned char)b[j - 1]);
			unsigned best = diagonal + !same;

			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			diagonal = row[j];
			row[j] = best;
		}
	}
	return row[blen];
}

/* Lower is nearer; UINT32_MAX: not worth naming. */
static unsigned score(const char *wanted, const char *name)
{
	size_t wlen = strlen(wanted), nlen = strlen(name);
	unsigned d;

	if (!wlen)
		return UINT32_MAX;
	if (strcasestr(name, wanted))
		return nlen - wlen;
	d = distance(wanted, name);
	return d <= wlen / 3 + 1 ? 1000 + d : UINT32_MAX;
}

/* Keeps `shown` if its score is among the best. */
static void keep(struct nearest *n, const char *shown, unsigned s)
{
	size_t at = n->cnt;

	for (size_t i = 0; i < n->cnt; i++) {
		if (!strncmp(n->names[i], shown, NEAREST_NAME - 1))
			return;
	}
	while (at > 0 && n->scores[at - 1] > s)
		at--;
	if (at == NEAREST_MAX)
		return;
	if (n->cnt < NEAREST_MAX)
		n->cnt++;
	memmove(n->names[at + 1], n->names[at], (n->cnt - 1 - at) * sizeof(n->names[0]));
	memmove(&n->scores[at + 1], &n->scores[at], (n->cnt - 1 - at) * sizeof(n->scores[0]));
	snprintf(n->names[at], NEAREST_NAME, "%s", shown);
	n->scores[at] = s;
}

void nearest__offer(struct nearest *n, const char *name)
{
	unsigned s = score(n->wanted, name);

	if (s != UINT32_MAX)
		keep(n, name, s);
}

void nearest__offer_in(struct nearest *n, const char *object, const char *name)
{
	unsigned s = score(n->wanted, name);
	char shown[NEAREST_NAME];

	if (s == UINT32_MAX)
		return;
	snprintf(shown, sizeof(shown), "%s:%s", object, name);
	keep(n, shown, s + 1);
}

char *nearest__text(const struct nearest *n, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < n->cnt && len < size; i++)
		len += snprintf(buf + len, size - len, "%s%s", i ? ", " : "", n->names[i]);
	return buf;
}
