// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ClickHouse, by its HTTP interface, with the tables of docs/fleet/clickhouse.sql. What functions
 * and paths are called is sent before a profile that needs it, once: the engine merges what is
 * there twice. The profile itself is a row of each of some tables, and their insertions have an id,
 * of which the engine runs one at a time. So if we do not know how far an earlier attempt has come,
 * we wait until the engine does not work on it any more, and then look. One insertion may write two
 * tables, the paths and their sums: an engine that dies between them has one of these alone.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "fleet/clickhouse_url.h"
#include "fleet/http.h"
#include "fleet/id_set.h"
#include "fleet/kind.h"
#include "fleet/native_block.h"
#include "fleet/path_ids.h"
#include "fleet/profile_row.h"
#include "fleet/receiver.h"
#include "fleet/row_binary.h"
#include "record/reader.h"
#include "util/clock.h"

/* Tables may have been made anew since. */
#define KNOWN_FOR_NS (3600 * 1000000000ull)

struct clickhouse {
	char database[CLICKHOUSE_NAME];
	struct id_set functions, paths; /* that it knows */
	uint64_t since_ns;
};

static int open_database(const struct url *u, void **own)
{
	struct clickhouse *c = calloc(1, sizeof(*c));
	int err = c ? clickhouse_url__database(u, c->database) : -ENOMEM;

	if (err)
		free(c);
	else
		*own = c;
	return err;
}

static void free_database(void *own)
{
	struct clickhouse *c = own;

	id_set__clear(&c->functions);
	id_set__clear(&c->paths);
	free(c);
}

/* Asks `query`, which it frees, with these rows as a body; `id` 0: any. */
static enum receiver_result ask(struct receiver *r, char *query, const struct rows *rows,
				uint64_t id)
{
	char *encoded = query ? http__encode(query) : NULL, *target = NULL, *body = NULL;
	char query_id[64] = "";
	struct http_request request = {.content_type = "application/octet-stream"};
	enum receiver_result result = RECEIVER_LATER;

	if (id)
		snprintf(query_id, sizeof(query_id), "&query_id=proftrace-%016" PRIx64, id);
	if (!encoded || (rows && (rows->failed || native_block__make(rows, &body, &request.len))) ||
	    asprintf(&target, "/?%squery=%s%s", body ? NATIVE_BLOCK_QUERY "&" : "", encoded,
		     query_id) < 0) {
		receiver__fail(r, result, "out of memory");
	} else {
		request.body = body;
		request.target = target;
		result = receiver__judge(r, http__ask(receiver__http(r), &request));
	}
	free(query);
	free(encoded);
	free(target);
	free(body);
	return result;
}

static char *format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static char *format(const char *fmt, ...)
{
	char *text;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	return text;
}

static enum receiver_result insert(struct receiver *r, const char *database, const char *table,
				   const char *columns, const struct rows *rows, uint64_t id)
{
	enum receiver_result result;

	if (!rows->len && !rows->failed)
		return RECEIVER_SENT;
	result = ask(r,
		     columns ? format("INSERT INTO %s.%s (%s) FORMAT RowBinary", database, table,
				      columns)
			     : NULL,
		     rows, id);
	/* ClickHouse's own message on a missing table is long. It speaks of a column where the
	 * tables are those of an older version. */
	if (result != RECEIVER_SENT && strstr(receiver__error(r), "doesn't exist"))
		receiver__fail(r, RECEIVER_LATER,
			       "%s has no database %s, or not the tables of "
			       "docs/fleet/clickhouse.sql in it",
			       receiver__name(r), database);
	else if (result != RECEIVER_SENT && strstr(receiver__error(r), "No such column"))
		result = receiver__fail(r, RECEIVER_LATER,
					"%s has tables of an older version in database %s: run "
					"docs/fleet/clickhouse.sql in it once more",
					receiver__name(r), database);
	return result;
}

/* Sends names of functions and paths that were not sent before. */
static enum receiver_result send_names(struct receiver *r, struct clickhouse *c,
				       const struct profile *p, const struct path_ids *ids)
{
	struct rows functions = {0}, paths = {0};
	enum receiver_result result;

	if (now_ns() - c->since_ns > KNOWN_FOR_NS) {
		id_set__clear(&c->functions);
		id_set__clear(&c->paths);
		c->since_ns = now_ns();
	}
	functions_rows(p, ids, &c->functions, &functions);
	paths_rows(p, ids, &c->paths, &paths);
	result = insert(r, c->database, "functions", functions_columns, &functions, 0);
	if (result == RECEIVER_SENT)
		result = insert(r, c->database, "path_trees", paths_columns, &paths, 0);
	for (size_t i = 1; result == RECEIVER_SENT && i < p->nodes_cnt; i++) {
		id_set__add(&c->functions, ids->functions[p->nodes[i].function]);
		id_set__add(&c->paths, ids->paths[i]);
	}
	rows__free(&functions);
	rows__free(&paths);
	return result;
}

/* The number that a query answers; negative: none, for which *result says why. */
static int64_t ask_number(struct receiver *r, char *query, enum receiver_result *result)
{
	const char *text;
	size_t len;
	char *end;
	int64_t number;

	*result = ask(r, query, NULL, 0);
	if (*result != RECEIVER_SENT)
		return -1;
	text = http__answer(receiver__http(r), &len);
	number = strtoll(text, &end, 10);
	if (len && *end == '\n' && number >= 0)
		return number;
	*result = receiver__fail(r, RECEIVER_LATER, "%s answers, but not as ClickHouse does",
				 receiver__name(r));
	return -1;
}

/* Escapes a text to stand between quotes. NULL: no memory. The caller frees it. */
static char *quote(const char *text)
{
	char *quoted = malloc(2 * strlen(text) + 1), *to = quoted;

	for (; quoted && *text; *to++ = *text++) {
		if (*text == '\'' || *text == '\\')
			*to++ = '\\';
	}
	if (quoted)
		*to = 0;
	return quoted;
}

/* Whether an earlier attempt has come through to a table: 1, 0, or negative if that cannot be told
 * now. */
static int is_there(struct receiver *r, const struct clickhouse *c, const struct shipment *s,
		    enum row_table table, enum receiver_result *result)
{
	char *service = quote(s->service), *host = quote(s->host), *query = NULL;
	int64_t cnt;

	if (service && host)
		query = format("SELECT count() FROM %s.%s WHERE service = '%s' AND "
			       "time = toDateTime(%u) AND host = '%s' AND id = %" PRIu64,
			       c->database, profile_row__table(table), service,
			       profile_row__time(s), host, s->id);
	free(service);
	free(host);
	cnt = ask_number(r, query, result);
	return cnt < 0 ? -1 : cnt > 0;
}

/* Whether the sums of paths have the profile: as above. */
static int is_summed(struct receiver *r, const struct clickhouse *c, const struct shipment *s,
		     enum receiver_result *result)
{
	int64_t cnt = ask_number(r,
				 format("SELECT count() FROM %s.path_minutes WHERE service = "
					"'(sent)' AND time = toStartOfMinute(toDateTime(%u)) AND "
					"path = %" PRIu64,
					c->database, profile_row__time(s), profile_row__mark(s)),
				 result);

	return cnt < 0 ? -1 : cnt > 0;
}

/* Which tables lack a row, and are to be sent it: an enum row_lack, or negative if that cannot be
 * told now. */
static int find_lack(struct receiver *r, const struct clickhouse *c, const struct shipment *s,
		     enum row_table table, enum receiver_result *result)
{
	int there, summed;

	if (s->fresh)
		return LACKS_BOTH;
	there = summed = is_there(r, c, s, table, result);
	if (there >= 0 && table == ROW_PATHS)
		summed = is_summed(r, c, s, result);
	if (there < 0 || summed < 0)
		return -1;
	if (there)
		return summed ? LACKS_NOTHING : LACKS_SUMS;
	return summed ? LACKS_ROW : LACKS_BOTH;
}

/* Whether the engine works on an earlier attempt: as above. */
static int is_coming(struct receiver *r, const struct shipment *s, enum receiver_result *result)
{
	int64_t cnt = ask_number(r,
				 format("SELECT count() FROM system.processes WHERE query_id = "
					"'proftrace-%016" PRIx64 "'",
					s->id),
				 result);

	if (cnt <= 0)
		return cnt;
	*result = receiver__fail(r, RECEIVER_LATER, "%s still works on the last attempt",
				 receiver__name(r));
	return 1;
}

static enum receiver_result send_row(struct receiver *r, const struct clickhouse *c,
				     const struct shipment *s, enum row_table table,
				     const struct rows *row)
{
	char *columns = profile_row__columns(table);
	enum receiver_result result =
		insert(r, c->database, profile_row__sent_to(table), columns, row, s->id);

	free(columns);
	return result;
}

/* Sends those of the profile's rows that are not there. */
static enum receiver_result send_rows(struct receiver *r, const struct clickhouse *c,
				      const struct shipment *s, const struct profile *p,
				      const struct path_ids *ids)
{
	enum receiver_result result = RECEIVER_SENT;

	for (int table = 0; table < ROW_TABLES && result == RECEIVER_SENT; table++) {
		struct rows row = {0};
		int lack = find_lack(r, c, s, table, &result);

		if (lack < 0 || lack == LACKS_NOTHING)
			continue;
		if (profile_row(s, table, lack, p, ids, &row))
			row.failed = true;
		result = send_row(r, c, s, table, &row);
		rows__free(&row);
	}
	return result;
}

static enum receiver_result send_profile(struct receiver *r, void *own, const struct shipment *s)
{
	struct clickhouse *c = own;
	struct profile *merged = NULL;
	struct path_ids ids = {0};
	enum receiver_result result;

	if (!s->fresh && is_coming(r, s, &result))
		return result;
	if (!s->fresh && is_there(r, c, s, ROW_PROFILE, &result))
		return result;
	if (merge_kinds(s->run->profile, &merged) || path_ids__make(&ids, merged))
		result = receiver__fail(r, RECEIVER_LATER, "out of memory");
	else
		result = send_names(r, c, merged, &ids);
	if (result == RECEIVER_SENT)
		result = send_rows(r, c, s, merged, &ids);
	path_ids__clear(&ids);
	profile__free(merged);
	return result;
}

const struct receiver_kind receiver_clickhouse = {
	.scheme = "clickhouse",
	.tls_scheme = "clickhouses",
	.port = 8123,
	.tls_port = 8443,
	.open = open_database,
	.free = free_database,
	.send = send_profile,
};
