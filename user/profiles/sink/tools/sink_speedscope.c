// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * speedscope's own format, one of its profiles a thread. Single calls, if there are any, become
 * "evented" profiles: what happened when. Otherwise each path with a weight becomes a sample of a
 * "sampled" one: the stack, outermost first, and what the path weighs itself. Listing every stack
 * takes the square of the depth. Where that gets out of hand the paths are laid out as events, one
 * behind the other: the same tree, but it only looks as if it had happened in this order.
 */
#include <errno.h>
#include <stdlib.h>

#include "calls/estimate.h"
#include "calls/profile.h"
#include "calls/stats.h"
#include "calls/walk.h"
#include "sink/listing.h"
#include "sink/names.h"
#include "sink/sink.h"
#include "sink/stream.h"
#include "timeline/timeline.h"
#include "util/array.h"
#include "util/json.h"
#include "util/text.h"

#define SCHEMA	   "https://www.speedscope.app/file-format-schema.json"
#define MAX_FRAMES 10000000 /* in the stacks of a thread */

struct writer {
	struct json j;
	const struct profile *p;
	enum weight weight;
	struct listing *frames; /* by function */
	uint32_t *stack;	/* frames */
	size_t stack_cap;
};

/* The sum of the paths of a thread. */
struct extent {
	uint64_t weight;
	uint64_t estimated; /* of the weight: of paths that are no exact ones */
	uint64_t frames;    /* of the stacks of all samples */
};

static struct extent measure(const struct writer *s, const struct profile_thread *t)
{
	struct walk w = walk__from(s->p, t->first_root);
	struct extent e = {0};

	while (walk__next(&w)) {
		uint64_t weight = weigh(&s->p->nodes[w.node].stats, s->weight);

		if (!w.entering || !weight)
			continue;
		e.weight += weight;
		if (estimate__of(s->p, &s->p->nodes[w.node].stats).source != SOURCE_EXACT)
			e.estimated += weight;
		e.frames += w.depth + 1;
	}
	return e;
}

static uint32_t frame_of(const struct writer *s, uint32_t node)
{
	return s->frames[s->p->nodes[node].function].id;
}

static void write_frames(struct writer *s)
{
	struct json *j = &s->j;
	size_t i;

	json_member_open(j, "shared", '{');
	json_member_open(j, "frames", '[');
	for (i = 0; i < s->p->functions_cnt; i++) {
		const struct profile_function *f = &s->p->functions[i];

		if (!s->frames[i].listed)
			continue;
		json_open(j, '{');
		json_member_string(j, "name", function__name(f));
		/* Frames are told apart, and coloured, by their file. */
		if (f->file || f->module)
			json_member_string(j, "file", f->file ? f->file : f->module);
		if (f->line)
			json_member_u64(j, "line", f->line);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

static void write_event(struct writer *s, bool opens, uint32_t node, uint64_t at)
{
	struct json *j = &s->j;

	json_open(j, '{');
	json_member_string(j, "type", opens ? "O" : "C");
	json_member_u64(j, "frame", frame_of(s, node));
	json_member_u64(j, "at", at);
	json_close(j, '}');
}

/* `e` NULL: all is exact. */
static void begin_profile(struct writer *s, const char *type, const struct profile_thread *t,
			  const struct extent *e)
{
	char name[THREAD_NAME_LEN], marked[THREAD_NAME_LEN + 32], share[32];
	struct json *j = &s->j;

	snprintf(marked, sizeof(marked), "%s", thread__name(t, name));
	if (e && e->estimated)
		snprintf(marked, sizeof(marked), "%s (~%s estimated)", name,
			 text_percent(100.0 * (double)e->estimated / (double)e->weight, share,
				      sizeof(share)));

	json_open(j, '{');
	json_member_string(j, "type", type);
	json_member_string(j, "name", marked);
	json_member_string(j, "unit", s->weight == WEIGHT_CALLS ? "none" : "nanoseconds");
	json_member_u64(j, "startValue", 0);
}

static void end_profile(struct writer *s, uint64_t end_value)
{
	json_member_u64(&s->j, "endValue", end_value);
	json_close(&s->j, '}');
}

/* The stacks of all paths that weigh something. */
static int write_stacks(struct writer *s, const struct profile_thread *t)
{
	struct walk w = walk__from(s->p, t->first_root);
	uint32_t i;

	while (walk__next(&w) && !ferror_unlocked(s->j.out)) {
		if (!w.entering)
			continue;
		if (ARRAY_RESERVE(&s->stack, w.depth, &s->stack_cap))
			return -ENOMEM;
		s->stack[w.depth] = frame_of(s, w.node);
		if (!weigh(&s->p->nodes[w.node].stats, s->weight))
			continue;
		json_open(&s->j, '[');
		for (i = 0; i <= w.depth; i++)
			json_u64(&s->j, s->stack[i]);
		json_close(&s->j, ']');
	}
	return 0;
}

static void write_weights(struct writer *s, const struct profile_thread *t)
{
	struct walk w = walk__from(s->p, t->first_root);

	while (walk__next(&w)) {
		uint64_t weight = weigh(&s->p->nodes[w.node].stats, s->weight);

		if (w.entering && weight)
			json_u64(&s->j, weight);
	}
}

static int write_sampled(struct writer *s, const struct profile_thread *t, const struct extent *e)
{
	int err;

	begin_profile(s, "sampled", t, e);
	json_member_open(&s->j, "samples", '[');
	err = write_stacks(s, t);
	json_close(&s->j, ']');
	json_member_open(&s->j, "weights", '[');
	write_weights(s, t);
	json_close(&s->j, ']');
	end_profile(s, e->weight);
	return err;
}

/* Paths one behind the other, each as long as it weighs. */
static void write_laid_out(struct writer *s, const struct profile_thread *t, const struct extent *e)
{
	struct walk w = walk__from(s->p, t->first_root);
	uint64_t at = 0;

	begin_profile(s, "evented", t, e);
	json_member_open(&s->j, "events", '[');
	while (walk__next(&w) && !ferror_unlocked(s->j.out)) {
		write_event(s, w.entering, w.node, at);
		if (w.entering)
			at += weigh(&s->p->nodes[w.node].stats, s->weight);
	}
	json_close(&s->j, ']');
	end_profile(s, at);
}

struct calls {
	struct writer *writer;
	const struct profile_thread *thread;
	bool begun;
	uint64_t end_ns;
};

static int write_call(const struct timeline_event *e, void *ctx)
{
	struct calls *c = ctx;

	if (!c->begun) {
		begin_profile(c->writer, "evented", c->thread, NULL);
		json_member_open(&c->writer->j, "events", '[');
	}
	c->begun = true;
	c->end_ns = e->at_ns;
	write_event(c->writer, e->begins, e->call->node, e->at_ns);
	return ferror_unlocked(c->writer->j.out) ? -EIO : 0;
}

/* Sets *written if the thread has calls. */
static int write_calls(struct writer *s, size_t thread, bool *written)
{
	struct calls c = {.writer = s, .thread = &s->p->threads[thread]};
	int err = timeline__walk(s->p->timeline, thread, write_call, &c);

	if (c.begun) {
		json_close(&s->j, ']');
		end_profile(s, c.end_ns);
	}
	*written = c.begun;
	return ferror_unlocked(s->j.out) ? 0 : err;
}

/* Sets *dearest to which of the profiles weighs most. */
static int write_profiles(struct writer *s, uint64_t *dearest)
{
	/* Single calls are known as they passed: of weights they have none but their time. */
	bool timed = s->p->timeline && s->weight == WEIGHT_WALL;
	uint64_t most = 0, cnt = 0;
	int err = 0;
	size_t i;

	json_member_open(&s->j, "profiles", '[');
	for (i = 0; i < s->p->threads_cnt && !err; i++) {
		const struct profile_thread *t = &s->p->threads[i];
		struct extent e = measure(s, t);
		bool written = timed || e.weight;

		if (!t->first_root) /* its calls, if there are any, are not shown */
			continue;
		if (timed)
			err = write_calls(s, i, &written);
		else if (!written)
			continue;
		else if (e.frames > MAX_FRAMES)
			write_laid_out(s, t, &e);
		else
			err = write_sampled(s, t, &e);
		if (written && e.weight > most) {
			most = e.weight;
			*dearest = cnt;
		}
		cnt += written;
	}
	json_close(&s->j, ']');
	return err;
}

static int write_document(struct writer *s)
{
	struct json *j = &s->j;
	uint64_t dearest = 0;
	char name[256];
	int err;

	stream__begin();
	json_open(j, '{');
	json_member_string(j, "$schema", SCHEMA);
	json_member_string(j, "exporter", "proftrace " PROFTRACE_VERSION);
	json_member_string(j, "name", profile__title(s->p, name, sizeof(name)));
	write_frames(s);
	err = write_profiles(s, &dearest);
	json_member_u64(j, "activeProfileIndex", dearest);
	json_close(j, '}');
	fputc('\n', j->out);
	return err ? err : stream__end(j->out);
}

static int write_speedscope(const struct profile *p, const struct sink_options *opts, FILE *out)
{
	struct writer s = {.j = JSON_INIT(out), .p = p, .weight = opts->weight};
	int err;

	s.frames = listing__new(p);
	if (!s.frames)
		return -ENOMEM;
	err = write_document(&s);
	free(s.frames);
	free(s.stack);
	return err;
}

const struct sink sink_speedscope = {
	.name = "speedscope",
	.help = "for speedscope: a flame graph a thread, with single calls in order of time",
	.suffixes = (const char *const[]){".speedscope.json", NULL},
	.whole = true,
	.shows_calls = true,
	.weighs = true,
	.write = write_speedscope,
};
