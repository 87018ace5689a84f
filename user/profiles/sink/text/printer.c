// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/text/printer.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calls/estimate.h"
#include "calls/profile.h"
#include "sink/listing.h"
#include "sink/sink.h"
#include "util/cxx_name.h"
#include "util/fold.h"
#include "util/text.h"
#include "util/utf8.h"

#define NARROW 100 /* columns of a terminal: with fewer, names need more of them */

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
	if (!pr->opts->verbose)
		cxx_name__fit(pr->name, columns);
	cnt = utf8_count(pr->name);
	if (pr->opts->verbose || cnt <= columns) {
		fputs(pr->name, pr->out);
		return cnt;
	}
	head = columns / 2;
	fprintf(pr->out, "%.*s…%s", (int)(skip_characters(pr->name, head) - pr->name), pr->name,
		skip_characters(pr->name, cnt - (columns - head - 1)));
	return columns;
}

size_t printer__room(const struct printer *pr, size_t used, size_t usual, size_t least)
{
	size_t columns = pr->opts->columns;

	if (!columns)
		return usual;
	return columns > used + least ? columns - used : least;
}

int printer__place(struct printer *pr, const struct profile_function *f)
{
	int columns;

	if (!pr->opts->verbose || !f->file)
		return 0;
	fprintf(pr->out, "  %s", printer__style(pr, STYLE_DIM));
	columns = printer__name(pr, f->file, 0);
	if (f->line)
		fprintf(pr->out, ":%u", f->line);
	fputs(printer__style(pr, STYLE_PLAIN), pr->out);
	return columns < 0 ? columns : 0;
}

int printer__function(struct printer *pr, const struct profile_function *f, size_t columns)
{
	int width;

	if (f->kind != FUNCTION_REGION)
		return printer__name(pr, f->name, columns);
	fputc('[', pr->out);
	width = printer__name(pr, f->name, columns > 2 ? columns - 2 : columns);
	if (width < 0)
		return width;
	fputc(']', pr->out);
	return width + 2;
}

int printer__row_function(struct printer *pr, const struct profile_function *f, size_t columns)
{
	int width;

	if (!pr->listing || pr->listing[f - pr->profile->functions].whole)
		return printer__function(pr, f, columns);
	width = printer__function(pr, f, columns > 1 ? columns - 1 : columns);
	if (width < 0)
		return width;
	fputc('*', pr->out);
	pr->marked = true;
	return width + 1;
}

bool printer__narrow(const struct printer *pr)
{
	return !printer__fits(NARROW, pr->opts->columns);
}

enum weight printer__time_weight(const struct printer *pr)
{
	return weight__time(pr->opts->weight);
}

enum weight printer__other_time(const struct printer *pr)
{
	return printer__time_weight(pr) == WEIGHT_WALL ? WEIGHT_CPU : WEIGHT_WALL;
}

const char *printer__time_name(enum weight weight)
{
	static const char *const names[] = {
		[WEIGHT_WALL] = "TOTAL",
		[WEIGHT_CPU] = "CPU",
		[WEIGHT_OFF] = "OFF",
	};

	return names[weight];
}

char *printer__share(uint64_t part, uint64_t whole, char *buf, size_t size)
{
	if (!whole)
		snprintf(buf, size, "-");
	else
		text_percent(100.0 * (double)part / (double)whole, buf, size);
	return buf;
}

char *printer__time(const struct printer *pr, uint64_t ns, uint64_t error_ns, char *buf,
		    size_t size)
{
	if (error_ns && ns <= error_ns && !pr->opts->raw)
		return text_below(error_ns, buf, size);
	return text_duration(ns, buf, size);
}

char *printer__estimate(const struct printer *pr, uint64_t ns, char *buf, size_t size)
{
	char text[32];

	snprintf(buf, size, "~%s", printer__time(pr, ns, 0, text, sizeof(text)));
	return buf;
}

struct row_estimate printer__row_estimate(const struct printer *pr, const struct call_stats *s,
					  uint32_t sampled)
{
	const struct estimate e = estimate__of(pr->profile, s);
	/* If no sample has met a dropped function or its callees, its time is that of the few calls
	 * in bursts: 2 us, of 100 calls, beside "~72,404" of the whole run. */
	bool unmet = e.source == SOURCE_BURST && s->total_ns <= e.cpu_error_ns;

	return (struct row_estimate){
		/* "<50 ns" is no more certain with a mark. */
		.total = (sampled && s->total_ns > s->error_ns) ||
			 (e.source != SOURCE_EXACT && !unmet &&
			  !estimate__measured_waits(pr->profile, s)),
		.self = (sampled && s->self_ns > s->self_error_ns) || s->varied_ns ||
			estimate__waits(pr->profile, s),
		.total_error_ns = unmet ? e.cpu_error_ns : s->error_ns,
		.error_ns = e.cpu_error_ns,
	};
}

void printer__put_time(const struct printer *pr, uint64_t ns, uint64_t error_ns, bool estimate)
{
	char text[32];

	fprintf(pr->out, " %8s",
		estimate ? printer__estimate(pr, ns, text, sizeof(text))
			 : printer__time(pr, ns, error_ns, text, sizeof(text)));
}

/* Like printer__calls(), "-" if nobody has counted them. */
static const char *row_calls(const struct printer *pr, const struct call_stats *s, uint32_t sampled,
			     char *buf, size_t size)
{
	char cnt[32];

	if (!s->calls && estimate__any(pr->profile))
		return "-";
	if (!printer__narrow(pr) || !(sampled || s->burst_calls))
		return printer__calls(s, sampled, buf, size);
	snprintf(buf, size, "~%s", text_rough_count(s->calls, cnt, sizeof(cnt)));
	return buf;
}

#define LARGE_PERCENT 20  /* an error that is shown beside its figure */
#define MOST_PERCENT  999 /* more is no figure */
#define CALLS_MIN     9	  /* "1,234,567" */
#define CALLS_LEAST   7	  /* "123,456", where lines are narrow */

/* " ±55%", or "" if the error is small. */
static const char *row_calls_error(const struct printer *pr, const struct call_stats *s, char *buf,
				   size_t size)
{
	const int most = printer__narrow(pr) ? 99 : MOST_PERCENT;
	double percent;

	if (printer__errors(pr) || !s->calls || !(s->calls_varied > 0))
		return "";
	percent = 100 * sqrt(s->calls_varied) / (double)s->calls;
	if (percent < LARGE_PERCENT)
		return "";
	if (percent > most)
		snprintf(buf, size, " ±>%d%%", most);
	else
		snprintf(buf, size, " ±%.0f%%", percent);
	return buf;
}

struct calls_columns printer__calls_columns(const struct printer *pr)
{
	return (struct calls_columns){.count = printer__narrow(pr) ? CALLS_LEAST : CALLS_MIN};
}

void printer__fit_calls(const struct printer *pr, struct calls_columns *c,
			const struct call_stats *s, uint32_t sampled)
{
	char buf[32];
	size_t count = strlen(row_calls(pr, s, sampled, buf, sizeof(buf)));
	size_t error = utf8_count(row_calls_error(pr, s, buf, sizeof(buf)));

	c->count = count > c->count ? count : c->count;
	c->error = error > c->error ? error : c->error;
}

void printer__put_calls(const struct printer *pr, const struct calls_columns *c,
			const struct call_stats *s, uint32_t sampled)
{
	char count[32], buf[32];
	const char *error = row_calls_error(pr, s, buf, sizeof(buf));

	fprintf(pr->out, "%*s%s%*s", (int)c->count, row_calls(pr, s, sampled, count, sizeof(count)),
		error, (int)(c->error - utf8_count(error)), "");
}

char *printer__calls(const struct call_stats *s, uint32_t sampled, char *buf, size_t size)
{
	char cnt[32];

	snprintf(buf, size, "%s%s", sampled || s->burst_calls ? "~" : "",
		 text_count(s->calls, cnt, sizeof(cnt)));
	return buf;
}

bool printer__errors(const struct printer *pr)
{
	return pr->opts->verbose && !pr->opts->raw;
}

bool printer__calls_errors(const struct printer *pr)
{
	return printer__errors(pr) && pr->profile->accounting.bursts;
}

void printer__put_calls_error(const struct printer *pr, const struct call_stats *s)
{
	char cnt[32] = "-";

	if (s->burst_calls)
		text_count(estimate__of(pr->profile, s).calls_error, cnt, sizeof(cnt));
	fprintf(pr->out, "  %7s", cnt);
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

int printer__begin_prose(struct printer *pr, FILE **table)
{
	*table = pr->out;
	if (pr->opts->columns || !pr->opts->prose_columns)
		return 0;
	return fold__open(*table, pr->opts->prose_columns, &pr->out);
}

int printer__end_prose(struct printer *pr, FILE *table, int err)
{
	FILE *prose = pr->out;

	pr->out = table;
	errno = 0;
	if (prose != table && fclose(prose) && !err)
		err = errno ? -errno : -EIO;
	return err;
}

void printer__fini(struct printer *pr)
{
	free(pr->name);
	pr->name = NULL;
	free(pr->listing);
	pr->listing = NULL;
}
