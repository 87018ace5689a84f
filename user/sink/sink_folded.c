// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folded stacks, one line a path: "comm;main;work 1234". The weight is what the path has cost
 * itself, an integer, so that the lines of a profile can be added up. The format knows no escapes
 * (names are made harmless instead) and sums equal lines (so threads with one root are merged).
 * Stacks that differ do so in reverse, too: --reverse prints the same lines from their other end.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "calls/merge.h"
#include "calls/profile.h"
#include "calls/walk.h"
#include "sink/sink.h"
#include "sink/stream.h"
#include "sink/weigh.h"
#include "util/array.h"
#include "util/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* The line up to the current frame. */
struct stack {
	char *path;
	size_t len, cap;
	size_t *ends; /* ends[i]: length of the path with i frames below the root */
	size_t ends_len, ends_cap;
};

/* flamegraph.pl takes a second number at the end of a line for another value: "worker 3" becomes
 * "worker_3", wherever it stands, for it to be one frame. */
static void join_number(char *name, size_t len)
{
	size_t i = len;

	while (i && (isdigit((unsigned char)name[i - 1]) || name[i - 1] == '.'))
		i--;
	if (i && i < len && name[i - 1] == ' ' && name[i] != '.')
		name[i - 1] = '_';
}

/* Writes a frame that no consumer mistakes for something else. `out` has room for 3 bytes for each
 * of `name` and for "[unknown]". Returns its length. */
static size_t sanitize(const char *name, char *out)
{
	size_t len = 0, in;

	while (*name == '#' || (*name > 0 && *name <= ' '))
		name++;
	for (; *name; name += in ? in : 1) {
		uint32_t code = 0;

		in = utf8_decode(name, &code);
		if (!in) {
			memcpy(out + len, REPLACEMENT, strlen(REPLACEMENT));
			len += strlen(REPLACEMENT);
		} else if (utf8_is_control(code)) {
			out[len++] = ' ';
		} else {
			memcpy(out + len, name, in);
			len += in;
			if (code == ';')
				out[len - 1] = ':';
		}
	}
	while (len && out[len - 1] == ' ')
		len--;
	if (!len)
		len = strlen(strcpy(out, "[unknown]"));
	return len;
}

/* Makes room for a frame of `name`, a separator and text of ours behind the path. */
static int reserve(struct stack *s, const char *name)
{
	size_t need = s->len + 3 * strlen(name) + 64;
	char *grown;

	if (need <= s->cap)
		return 0;
	grown = realloc(s->path, 2 * need);
	if (!grown)
		return -ENOMEM;
	s->path = grown;
	s->cap = 2 * need;
	return 0;
}

static int set_root(struct stack *s, const struct profile_thread *t, bool thread_frames)
{
	int err;

	s->len = 0;
	s->ends_len = 0;
	err = reserve(s, t->comm);
	if (!err)
		err = ARRAY_RESERVE(&s->ends, s->ends_len, &s->ends_cap);
	if (err)
		return err;
	s->len = sanitize(t->comm, s->path);
	if (thread_frames && t->goroutine)
		s->len += sprintf(s->path + s->len, "-%d/goroutine_%" PRIu64, t->pid, t->goroutine);
	else if (thread_frames)
		s->len += sprintf(s->path + s->len, "-%d/%d", t->pid, t->tid);
	s->ends[s->ends_len++] = s->len;
	return 0;
}

static int push(struct stack *s, const char *name)
{
	size_t len;
	int err;

	if (!name)
		name = "";
	err = reserve(s, name);
	if (!err)
		err = ARRAY_RESERVE(&s->ends, s->ends_len, &s->ends_cap);
	if (err)
		return err;
	s->path[s->len++] = ';';
	len = sanitize(name, s->path + s->len);
	join_number(s->path + s->len, len);
	s->len += len;
	s->ends[s->ends_len++] = s->len;
	return 0;
}

static void pop(struct stack *s)
{
	s->ends_len--;
	s->len = s->ends[s->ends_len - 1];
}

static void print_line(const struct stack *s, uint64_t value, FILE *out)
{
	fwrite_unlocked(s->path, 1, s->len, out);
	fprintf(out, " %" PRIu64 "\n", value);
}

/* The stack from `node` out to the thread's root, behind what the thread is called. */
static int push_reversed(struct stack *s, const struct profile *p, uint32_t node)
{
	int err = 0;

	s->ends_len = 1;
	s->len = s->ends[0];
	for (; node && !err; node = p->nodes[node].parent)
		err = push(s, p->functions[p->nodes[node].function].name);
	return err;
}

static int write_reversed(const struct profile *p, const struct profile_thread *t,
			  const struct sink_options *opts, struct stack *s, FILE *out)
{
	struct walk w = walk__from(p, t->first_root);
	int err = set_root(s, t, opts->thread_frames);

	while (!err && walk__next(&w) && !ferror_unlocked(out)) {
		uint64_t value = weigh(&p->nodes[w.node].stats, opts->weight);

		if (!w.entering || !value)
			continue;
		err = push_reversed(s, p, w.node);
		if (!err)
			print_line(s, value, out);
	}
	return err;
}

static int write_thread(const struct profile *p, const struct profile_thread *t,
			const struct sink_options *opts, struct stack *s, FILE *out)
{
	struct walk w = walk__from(p, t->first_root);
	int err = set_root(s, t, opts->thread_frames);

	while (!err && walk__next(&w) && !ferror_unlocked(out)) {
		const struct profile_node *n = &p->nodes[w.node];
		uint64_t value = weigh(&n->stats, opts->weight);

		if (!w.entering) {
			pop(s);
			continue;
		}
		err = push(s, p->functions[n->function].name);
		if (!err && value)
			print_line(s, value, out);
	}
	return err;
}

static int write_folded(const struct profile *p, const struct sink_options *opts, FILE *out)
{
	struct stack s = {0};
	struct profile *merged = NULL;
	size_t i;
	int err;

	if (!opts->thread_frames) {
		err = profile__merge_threads(p, MERGE_COMM, &merged);
		if (err)
			return err;
		p = merged;
	}
	stream__begin();
	for (i = 0, err = 0; i < p->threads_cnt && !err; i++)
		err = opts->reverse ? write_reversed(p, &p->threads[i], opts, &s, out)
				    : write_thread(p, &p->threads[i], opts, &s, out);
	free(s.path);
	free(s.ends);
	profile__free(merged);
	return err ? err : stream__end(out);
}

const struct sink sink_folded = {
	.name = "folded",
	.help = "folded stacks, for flame graphs",
	.suffixes = (const char *const[]){".folded", NULL},
	.write = write_folded,
};
