// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/printer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calls/profile.h"
#include "sink/sink.h"
#include "util/text.h"

#define EMPTY_NAMES_MAX 5 /* probed functions an empty report names */

const char *printer__style(const struct printer *pr, const char *style)
{
	return pr->opts->color ? style : "";
}

/* Escapes into the scratch buffer, whole. */
static int escape_name(struct printer *pr, const char *name)
{
	size_t need;
	char *grown;

	if (!name || !*name)
		name = "[unknown]";
	need = strlen(name) * strlen("\\xNN") + 1;
	if (need > pr->name_cap) {
		grown = realloc(pr->name, need);
		if (!grown)
			return -ENOMEM;
		pr->name = grown;
		pr->name_cap = need;
	}
	text_escape(name, pr->name, need);
	return 0;
}

static bool starts_character(char c)
{
	return (c & 0xc0) != 0x80;
}

static size_t count_characters(const char *s)
{
	size_t cnt = 0;

	for (; *s; s++)
		cnt += starts_character(*s);
	return cnt;
}

/* `s` without its first `cnt` characters. */
static const char *skip_characters(const char *s, size_t cnt)
{
	for (; *s; s++)
		if (starts_character(*s) && !cnt--)
			break;
	return s;
}

int printer__name(struct printer *pr, const char *name, size_t columns)
{
	int err = escape_name(pr, name);
	size_t cnt, head;

	if (err)
		return err;
	cnt = count_characters(pr->name);
	if (pr->opts->verbose || cnt <= columns) {
		fputs(pr->name, pr->out);
		return cnt;
	}
	head = columns / 2;
	fprintf(pr->out, "%.*s…%s", (int)(skip_characters(pr->name, head) - pr->name), pr->name,
		skip_characters(pr->name, cnt - (columns - head - 1)));
	return columns;
}

char *printer__share(uint64_t part, uint64_t whole, char *buf, size_t size)
{
	double percent = whole ? 100.0 * (double)part / (double)whole : 0;
	int tenths = percent < 1000 ? (int)(percent * 10 + 0.5) : 9999;

	if (!whole)
		snprintf(buf, size, "-");
	else if (part && !tenths)
		snprintf(buf, size, "<0.1%%");
	else
		snprintf(buf, size, "%d.%d%%", tenths / 10, tenths % 10);
	return buf;
}

void printer__interval(struct printer *pr)
{
	time_t start = (time_t)pr->profile->start_time;
	char clock[32] = "?", duration[32];
	struct tm tm;

	if (!pr->opts->interval)
		return;
	if (localtime_r(&start, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	text_duration(pr->profile->duration_ns, duration, sizeof(duration));
	fprintf(pr->out, "%s── %s + %s ──%s\n", printer__style(pr, STYLE_BOLD), clock, duration,
		printer__style(pr, STYLE_PLAIN));
}

static int print_probed_names(struct printer *pr)
{
	const struct profile *p = pr->profile;
	size_t i, cnt = p->functions_cnt;
	char more[32];

	if (!cnt)
		return 0;
	if (cnt > EMPTY_NAMES_MAX)
		cnt = EMPTY_NAMES_MAX - 1;
	fputs("  probed: ", pr->out);
	for (i = 0; i < cnt; i++) {
		int width;

		fputs(i ? ", " : "", pr->out);
		width = printer__name(pr, p->functions[i].name, 40);
		if (width < 0)
			return width;
	}
	if (cnt < p->functions_cnt)
		fprintf(pr->out, " and %s more",
			text_count(p->functions_cnt - cnt, more, sizeof(more)));
	fputc('\n', pr->out);
	return 0;
}

static int print_empty(struct printer *pr)
{
	const struct profile *p = pr->profile;
	char duration[32], probed[32];
	int err;

	text_duration(p->duration_ns, duration, sizeof(duration));
	text_count(p->probes.functions, probed, sizeof(probed));
	fprintf(pr->out, "%sno calls were seen%s in %s: %s function%s probed\n",
		printer__style(pr, STYLE_BOLD), printer__style(pr, STYLE_PLAIN), duration, probed,
		p->probes.functions == 1 ? " was" : "s were");
	/* Intervals without calls are normal: no advice. */
	if (pr->opts->interval)
		return 0;
	err = print_probed_names(pr);
	if (err)
		return err;
	fputs("  Was the process busy in that time? A function that the compiler has inlined is\n"
	      "  never called, and one that began earlier is seen at its next call only.\n",
	      pr->out);
	return 0;
}

static void print_accounting(struct printer *pr)
{
	const struct profile_accounting *a = &pr->profile->accounting;
	uint64_t open = a->open < 0 ? -(uint64_t)a->open : (uint64_t)a->open;
	char buf[5][32];

	/* An interval may end with fewer open calls than it began with. */
	fprintf(pr->out, "entered %s = returned %s + unwound %s %c open %s; lost %s\n",
		text_count(a->entered, buf[0], sizeof(buf[0])),
		text_count(a->returned, buf[1], sizeof(buf[1])),
		text_count(a->unwound, buf[2], sizeof(buf[2])), a->open < 0 ? '-' : '+',
		text_count(open, buf[3], sizeof(buf[3])),
		text_count(a->lost, buf[4], sizeof(buf[4])));
}

static void print_probes(struct printer *pr)
{
	const struct profile *p = pr->profile;
	char duration[32], called[32], probed[32], skipped[32];
	size_t i, called_cnt = 0;

	for (i = 0; i < p->functions_cnt; i++)
		called_cnt += p->functions[i].stats.calls || p->functions[i].stats.total_ns;
	fprintf(pr->out, "%s, %s of %s probed functions called",
		text_duration(p->duration_ns, duration, sizeof(duration)),
		text_count(called_cnt, called, sizeof(called)),
		text_count(p->probes.functions, probed, sizeof(probed)));
	if (p->probes.skipped_cnt)
		fprintf(pr->out, ", %s not probed (-l tells why)",
			text_count(p->probes.skipped_cnt, skipped, sizeof(skipped)));
	fputc('\n', pr->out);
}

static void print_summary(struct printer *pr)
{
	const struct profile_accounting *a = &pr->profile->accounting;
	char lost[32];

	fputs(printer__style(pr, STYLE_DIM), pr->out);
	print_accounting(pr);
	print_probes(pr);
	fputs(printer__style(pr, STYLE_PLAIN), pr->out);
	if (a->lost)
		fprintf(pr->out,
			"%swarning: %s call%s not recorded because a table was full: "
			"counts and times are too low%s\n",
			printer__style(pr, STYLE_WARN), text_count(a->lost, lost, sizeof(lost)),
			a->lost == 1 ? " was" : "s were", printer__style(pr, STYLE_PLAIN));
}

int printer__footer(struct printer *pr, bool empty)
{
	const struct profile_accounting *a = &pr->profile->accounting;
	int err = 0;

	if (empty && !a->entered && !a->lost)
		err = print_empty(pr);
	else
		print_summary(pr);
	if (pr->opts->interval)
		fputc('\n', pr->out); /* the next one follows */
	return err;
}

void printer__fini(struct printer *pr)
{
	free(pr->name);
	pr->name = NULL;
}
