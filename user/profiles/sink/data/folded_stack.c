// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/data/folded_stack.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "sink/names.h"
#include "sink/sink.h"
#include "util/array.h"
#include "util/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

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
static int reserve(struct folded_stack *s, const char *name)
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

int folded_stack__begin(struct folded_stack *s, const struct profile_thread *t,
			const struct sink_options *opts)
{
	bool titled = opts->thread_frames && *t->title;
	bool numbered = opts->thread_frames && !titled;
	const char *name = titled ? t->title : t->comm;
	int err;

	s->len = 0;
	s->ends_len = 0;
	err = reserve(s, name);
	if (!err)
		err = ARRAY_RESERVE(&s->ends, s->ends_len, &s->ends_cap);
	if (err)
		return err;
	if (t->spans && !titled)
		s->len = sprintf(s->path, "%s", SPANS_OF);
	s->len += sanitize(name, s->path + s->len);
	if (numbered && t->goroutine)
		s->len += sprintf(s->path + s->len, "-%d/goroutine_%" PRIu64, t->pid, t->goroutine);
	else if (numbered)
		s->len += sprintf(s->path + s->len, "-%d/%d", t->pid, t->tid);
	else if (opts->process_frames && t->pid)
		s->len += sprintf(s->path + s->len, "-%d", t->pid);
	s->ends[s->ends_len++] = s->len;
	return 0;
}

int folded_stack__push(struct folded_stack *s, const char *name)
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

void folded_stack__pop(struct folded_stack *s)
{
	s->ends_len--;
	s->len = s->ends[s->ends_len - 1];
}

void folded_stack__clear(struct folded_stack *s)
{
	free(s->path);
	free(s->ends);
	*s = (struct folded_stack){0};
}
