// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * speedscope knows Firefox's format as the developer tools wrote it before 2018: a document with
 * the members "systemHost" and "profile", and one thread in it, whose frames are called
 * "name (file:line)". profiler.firefox.com looks at "meta" first, and leaves these members alone.
 * So they are written behind its own, with the paths of all threads, each below a frame of its
 * thread's name. Paths and their weights come twice so, single calls do not.
 */
#include <errno.h>
#include <stdlib.h>

#include "calls/profile.h"
#include "calls/stats.h"
#include "calls/walk.h"
#include "sink/listing.h"
#include "sink/names.h"
#include "sink/sink.h"
#include "sink/tools/firefox.h"
#include "sink/tracks.h"
#include "util/utf8.h"

/* speedscope passes over a frame whose name has a line's end: controls become blanks. */
static void make_plain(char *text)
{
	const char *from = text;

	while (*from) {
		uint32_t code = 0;
		size_t len = utf8_decode(from, &code);

		if (len && utf8_is_control(code)) {
			*text++ = ' ';
			from += len;
			continue;
		}
		for (len = len ? len : 1; len; len--)
			*text++ = *from++;
	}
	*text = '\0';
}

/* Returns 0 or -ENOMEM. */
static int write_location(struct json *j, const char *name, const char *file, uint32_t line)
{
	char at_line[16] = "", *location;

	if (line)
		snprintf(at_line, sizeof(at_line), ":%u", line);
	if (asprintf(&location, "%s (%s%s)", name, file, at_line) < 0)
		return -ENOMEM;
	make_plain(location);
	json_string(j, location);
	free(location);
	return 0;
}

static const char *file_of(const struct profile_function *f)
{
	const char *file = f->file ? f->file : f->module;

	return file && *file ? file : "unknown";
}

/* The functions' names, then the threads'. Returns 0 or -ENOMEM. */
static int write_strings(struct firefox *w)
{
	const struct profile *p = w->p;
	char name[THREAD_NAME_LEN];
	int err = 0;
	size_t i;

	json_member_open(&w->j, "stringTable", '[');
	for (i = 0; i < p->functions_cnt && !err; i++)
		if (w->functions[i].listed)
			err = write_location(&w->j, function__name(&p->functions[i]),
					     file_of(&p->functions[i]), p->functions[i].line);
	for (i = 0; i < w->tracks_cnt && !err; i++)
		err = write_location(&w->j, thread__name(&p->threads[w->tracks[i].thread], name),
				     "thread", 0);
	json_close(&w->j, ']');
	return err;
}

static void open_table(struct json *j, const char *key)
{
	json_member_open(j, key, '{');
	json_member_open(j, "data", '[');
}

static void close_table(struct json *j)
{
	json_close(j, ']');
	json_close(j, '}');
}

static void write_pair(struct json *j, const uint64_t *first, uint64_t second)
{
	json_open(j, '[');
	if (first)
		json_u64(j, *first);
	else
		json_null(j);
	json_u64(j, second);
	json_close(j, ']');
}

static void write_frames(struct firefox *w)
{
	open_table(&w->j, "frameTable");
	for (size_t i = 0; i < w->listed_cnt + w->tracks_cnt; i++) {
		json_open(&w->j, '[');
		json_u64(&w->j, i);
		json_close(&w->j, ']');
	}
	close_table(&w->j);
}

/* The threads, then the paths, in the order that has numbered them. */
static void write_stacks(struct firefox *w)
{
	const struct profile_node *nodes = w->p->nodes;
	uint64_t i;

	open_table(&w->j, "stackTable");
	for (i = 0; i < w->tracks_cnt; i++)
		write_pair(&w->j, NULL, w->listed_cnt + i);
	for (i = 0; i < w->tracks_cnt; i++) {
		struct walk walk = walk__from(w->p, w->p->threads[w->tracks[i].thread].first_root);

		while (walk__next(&walk)) {
			uint32_t parent = nodes[walk.node].parent;
			uint64_t caller = parent ? w->tracks_cnt + w->stacks[parent] : i;

			if (walk.entering)
				write_pair(&w->j, &caller,
					   w->functions[nodes[walk.node].function].id);
		}
	}
	close_table(&w->j);
}

static void write_sample(struct json *j, const uint64_t *stack, uint64_t at_ns)
{
	json_open(j, '[');
	if (stack)
		json_u64(j, *stack);
	else
		json_null(j);
	json_decimal(j, at_ns, 6);
	json_close(j, ']');
}

/* A path is a stretch of time as long as it weighs, one behind the other. Returns all their time.
 */
static uint64_t write_samples(struct firefox *w)
{
	uint64_t at_ns = 0;

	open_table(&w->j, "samples");
	for (size_t i = 0; i < w->tracks_cnt; i++) {
		struct walk walk = walk__from(w->p, w->p->threads[w->tracks[i].thread].first_root);

		while (walk__next(&walk)) {
			uint64_t weight = weigh(&w->p->nodes[walk.node].stats, w->opts->weight);
			uint64_t stack = w->tracks_cnt + w->stacks[walk.node];

			if (!walk.entering || !weight)
				continue;
			write_sample(&w->j, &stack, at_ns);
			at_ns += weight;
		}
	}
	write_sample(&w->j, NULL, at_ns);
	close_table(&w->j);
	return at_ns;
}

int firefox_devtools__write(struct firefox *w)
{
	struct json *j = &w->j;
	uint64_t all_ns;
	int err;

	if (w->opts->weight == WEIGHT_CALLS)
		return 0; /* the format knows nothing but milliseconds */
	json_member_open(j, "systemHost", '{');
	json_member_string(j, "name", "Firefox");
	json_close(j, '}');
	json_member_open(j, "profile", '{');
	json_member_open(j, "threads", '[');
	json_open(j, '{');
	json_member_string(j, "name", "GeckoMain");
	err = write_strings(w);
	write_frames(w);
	write_stacks(w);
	all_ns = write_samples(w);
	json_close(j, '}');
	json_close(j, ']');
	json_close(j, '}');
	json_member_decimal(j, "duration", all_ns, 6);
	return err;
}
