// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/question.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/answer.h"
#include "fleet/clickhouse_url.h"
#include "fleet/http.h"
#include "fleet/profile_row.h"
#include "fleet/receiver.h"
#include "fleet/url.h"
#include "util/log.h"

#define HTTP_PORT      8123
#define HTTPS_PORT     8443
#define ANSWER_MAX     (256u << 20) /* bytes, each part */
#define QUERY_MAX      12000	    /* bytes; servers take 16384 as a URL */
#define ASK_WAIT_S     120
#define UNKNOWN_COLUMN "Code: 47" /* in all versions */

/* Parts of a question: @ stands for the condition, # for the database, $ for where the rows come
 * from, and ! for sums of row_sums. Questions go by GET, so that the engine refuses to write. */
struct source {
	const char *paths, *functions, *latencies;
};

/* Rows of all hosts that were added up as they came in. */
static const struct source minutes = {
	.paths = "SELECT path, calls, self_ns, off_ns, probe_ns, error_ns, samples, sampled_ns, "
		 "cpu_variance,"
		 " burst_calls, calls_variance FROM #.path_minutes WHERE service <> '(sent)' AND"
		 " (@\n)",
	.functions = "SELECT function, min_ns, max_ns, dropped FROM #.function_minutes WHERE (@\n)",
	.latencies = "SELECT function, bucket, calls FROM #.latency_minutes WHERE (@\n)",
};

/* The profiles themselves. Only those that are asked for are taken apart. */
static const struct source profiles = {
	.paths = "SELECT path, calls, self_ns, off_ns, probe_ns, error_ns, samples, sampled_ns,"
		 " toFloat64(varied_ns) * period_ns AS cpu_variance, burst_calls, calls_variance"
		 " FROM (SELECT p_path, p_calls, p_self_ns, p_off_ns, p_probe_ns, p_error_ns, "
		 "p_samples,"
		 " p_sampled_ns, p_varied_ns, p_burst_calls, p_calls_variance, period_ns"
		 " FROM #.profile_paths WHERE (@\n)) ARRAY JOIN p_path AS path, p_calls AS calls,"
		 " p_self_ns AS self_ns, p_off_ns AS off_ns, p_probe_ns AS probe_ns, p_error_ns AS "
		 "error_ns,"
		 " p_samples AS samples, p_sampled_ns AS sampled_ns, p_varied_ns AS varied_ns,"
		 " p_burst_calls AS burst_calls, p_calls_variance AS calls_variance",
	.functions =
		"SELECT function, minState(least) AS min_ns, maxState(most) AS max_ns,"
		" sum(given_up) AS dropped FROM (SELECT f_function, f_min_ns, f_max_ns,"
		" f_dropped FROM #.profile_functions WHERE (@\n)) ARRAY JOIN f_function AS "
		"function,"
		" f_min_ns AS least, f_max_ns AS most, f_dropped AS given_up GROUP BY function",
	.latencies = "SELECT function, bucket, calls FROM (SELECT l_function, l_bucket, l_calls"
		     " FROM #.profile_latencies WHERE (@\n)) ARRAY JOIN l_function AS function,"
		     " l_bucket AS bucket, l_calls AS calls",
};

/* % is a row more than is read, so that too many are not taken for all. */
static const char *const queries[ANSWER_PARTS] = {
	[ANSWER_PATHS] =
		"SELECT path, parent, function, thread, spans, n1, n2, n3, n4, n5, n6, n7, n8, n9, "
		"n10"
		" FROM (SELECT path, sum(calls) AS n1, sum(self_ns) AS n2, sum(off_ns) AS n3,"
		" sum(probe_ns) AS n4, sum(error_ns) AS n5, sum(samples) AS n6, sum(sampled_ns) AS "
		"n7,"
		" sum(cpu_variance) AS n8, sum(burst_calls) AS n9, sum(calls_variance) AS n10"
		" FROM ($) GROUP BY path) AS s ANY LEFT JOIN (SELECT path, any(parent) AS parent,"
		" any(function) AS function, any(thread) AS thread, any(spans) AS spans"
		" FROM #.paths WHERE path IN (SELECT path FROM ($)) GROUP BY path) AS n USING path"
		" LIMIT % FORMAT RowBinary",
	[ANSWER_NAMES] =
		"SELECT function, any(name), any(symbol), any(module), any(file), any(line),"
		" any(kind) FROM #.functions WHERE function IN (SELECT function FROM #.paths"
		" WHERE path IN (SELECT path FROM ($))) GROUP BY function LIMIT %"
		" FORMAT RowBinary",
	[ANSWER_FUNCTIONS] = "SELECT function, minMerge(min_ns), maxMerge(max_ns), sum(dropped)"
			     " FROM ($) GROUP BY function LIMIT % FORMAT RowBinary",
	[ANSWER_LATENCIES] = "SELECT function, bucket, sum(calls) FROM ($)"
			     " GROUP BY function, bucket LIMIT % FORMAT RowBinary",
	[ANSWER_SUMS] = "SELECT count(), uniq(host), toUInt32(min(time)), max(period_ns),"
			" uniq(service), any(service), uniq(version), any(version)"
			"!"
			" FROM #.profiles WHERE (@\n) LIMIT % FORMAT RowBinary",
};

static const char *source_of(const struct source *s, enum answer_part part)
{
	switch (part) {
	case ANSWER_PATHS:
	case ANSWER_NAMES:
		return s->paths;
	case ANSWER_FUNCTIONS:
		return s->functions;
	case ANSWER_LATENCIES:
		return s->latencies;
	default:
		return "";
	}
}

struct question {
	struct http *http;
	const char *shown; /* the URL */
	const char *where;
	char database[CLICKHOUSE_NAME];
};

static void write_sums(FILE *out)
{
	for (size_t i = 0; i < ROW_SUMS; i++)
		fprintf(out, ", sum(%s)", row_sums[i].name);
}

static void write_query(FILE *out, const struct question *q, const struct source *s,
			enum answer_part part, const char *text)
{
	for (; *text; text++) {
		if (*text == '@')
			fputs(q->where, out);
		else if (*text == '#')
			fputs(q->database, out);
		else if (*text == '$')
			write_query(out, q, s, part, source_of(s, part));
		else if (*text == '!')
			write_sums(out);
		else if (*text == '%')
			fprintf(out, "%u", ANSWER_PATHS_MAX + 1);
		else
			fputc(*text, out);
	}
}

/* Returns the target of the request, or NULL: no memory. */
static char *make_target(const struct question *q, const struct source *s, enum answer_part part)
{
	char *query = NULL, *encoded, *target = NULL;
	size_t len;
	FILE *out = open_memstream(&query, &len);

	if (!out)
		return NULL;
	write_query(out, q, s, part, queries[part]);
	if (fclose(out))
		query = NULL;
	encoded = query ? http__encode(query) : NULL;
	if (!encoded || asprintf(&target, "/?query=%s", encoded) < 0)
		target = NULL;
	free(query);
	free(encoded);
	return target;
}

static int ask_part(const struct question *q, const struct source *s, enum answer_part part,
		    struct answer *a)
{
	char *target = make_target(q, s, part);
	struct http_request request = {.target = target, .answer_max = ANSWER_MAX};
	int status, err = -EIO;

	if (!target)
		return -ENOMEM;
	status = http__ask(q->http, &request);
	free(target);
	if (status / 100 == 2)
		return answer__take(a, part, http__answer(q->http, &a->parts[part].len));
	if (s == &minutes && status > 0 && strstr(http__error(q->http), UNKNOWN_COLUMN))
		err = -ENOENT; /* there may be one in the profiles themselves */
	else
		log_error("%s: %s", q->shown, http__error(q->http));
	return err;
}

static int ask_all(const struct question *q, const struct source *s, struct answer *a)
{
	int err = 0;

	for (int part = 0; part < ANSWER_PARTS && !err; part++)
		err = ask_part(q, s, part, a);
	return err;
}

static int open_question(struct question *q, const struct url *u, const struct receiver_options *o,
			 const char *where)
{
	const struct http_options http = {
		.tls = !strcmp(u->scheme, "clickhouses"),
		.port = http.tls ? HTTPS_PORT : HTTP_PORT,
		.secret = o->secret,
		.ca_file = o->ca_file,
		.timeout_s = o->timeout_s ? o->timeout_s : ASK_WAIT_S,
	};

	q->where = where;
	q->shown = u->shown;
	if (!http.tls && strcmp(u->scheme, "clickhouse")) {
		log_error("--from %s: only ClickHouse can be asked: clickhouse://HOST/DATABASE",
			  u->shown);
		return -EINVAL;
	}
	if (strlen(where) > QUERY_MAX / 6) {
		log_error("--where: longer than %u characters", QUERY_MAX / 6);
		return -EINVAL;
	}
	if (clickhouse_url__database(u, q->database))
		return -EINVAL;
	return http__open(u, &http, &q->http);
}

int question__ask(const char *url, const struct receiver_options *o, const char *where,
		  struct answer **out)
{
	struct question q = {0};
	struct answer *a = calloc(1, sizeof(*a));
	struct url u;
	const char *why;
	int err = url__parse(&u, url, &why);

	if (err == -EINVAL)
		log_error("--from: the URL is none: %s", why);
	if (!err)
		err = a ? open_question(&q, &u, o, where) : -ENOMEM;
	if (!err)
		err = ask_all(&q, &minutes, a);
	if (err == -ENOENT && q.http)
		err = ask_all(&q, &profiles, a);
	http__free(q.http);
	url__clear(&u);
	if (err)
		answer__free(a);
	else
		*out = a;
	return err;
}
