// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/live.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "calls/tree.h"
#include "live/minute.h"
#include "live/terminal.h"
#include "top/canvas.h"
#include "util/log.h"
#include "views/delta.h"
#include "views/merge.h"

/* A second has hardly a hundred samples: tables show so many intervals together. */
#define RECENT 5

/* Threads that have ended are in all profiles until they are forgotten: after so many intervals. */
#define FORGET 120

struct live {
	struct top *top;
	struct canvas canvas;
	struct minute minute;
	struct profile *recent[RECENT]; /* of the last intervals, the oldest first */
	size_t recent_cnt;
	unsigned int takes; /* since threads that had ended were forgotten */
	bool on_screen;
	char *told; /* what was told while the screen was in use, as lines */
	size_t told_len;
	FILE *telling;
};

/* The live view that shows the process's messages; NULL: stderr has them. */
static struct live *shown;

static int draw(struct live *l)
{
	size_t rows, columns;
	int err;

	terminal__size(&rows, &columns);
	err = canvas__resize(&l->canvas, rows, columns);
	if (!err)
		err = top__draw(l->top, &l->canvas);
	if (!err)
		terminal__paint(&l->canvas);
	return err;
}

static void take_message(enum log_level level, const char *line)
{
	if (level > LOG_INFO)
		return;
	top__message(shown->top, line);
	if (level < LOG_INFO && shown->telling)
		fprintf(shown->telling, "proftrace: %s\n", line);
	if (shown->on_screen)
		draw(shown);
}

static int make(const char *whom, bool machine, struct live **out)
{
	struct live *l = calloc(1, sizeof(*l));
	int err = l ? terminal__start() : -ENOMEM;

	if (err) {
		free(l);
		return err;
	}
	l->top = machine ? top__machine(whom) : top__new(whom);
	l->telling = open_memstream(&l->told, &l->told_len);
	l->on_screen = true;
	shown = l;
	err = l->top && l->telling ? draw(l) : -ENOMEM;
	if (err) {
		live__free(l);
		return err;
	}
	log_divert(take_message);
	*out = l;
	return 0;
}

int live__new(const char *whom, struct live **out)
{
	return make(whom, false, out);
}

int live__machine(const char *whom, struct live **out)
{
	return make(whom, true, out);
}

void live__sessions(struct live *l, char *const *globs, size_t cnt)
{
	top__sessions(l->top, globs, cnt);
}

pid_t live__opened(const struct live *l)
{
	return top__opened(l->top);
}

void live__nest(struct live *l)
{
	top__nest(l->top);
}

void live__stop(struct live *l)
{
	if (!l || !l->on_screen)
		return;
	log_divert(NULL);
	terminal__stop();
	l->on_screen = false;
	shown = NULL;
	if (l->telling && !fflush(l->telling) && l->told)
		fputs(l->told, stderr);
}

static void forget_recent(struct live *l, size_t but)
{
	while (l->recent_cnt > but) {
		profile__free(l->recent[0]);
		memmove(l->recent, l->recent + 1, --l->recent_cnt * sizeof(*l->recent));
	}
}

void live__free(struct live *l)
{
	if (!l)
		return;
	live__stop(l);
	top__free(l->top);
	canvas__fini(&l->canvas);
	minute__fini(&l->minute);
	forget_recent(l, 0);
	if (l->telling)
		fclose(l->telling);
	free(l->told);
	free(l);
}

/* Keeps `now`, and shows what is new in it since the oldest one that is kept. */
static int show_recent(struct live *l, struct profile *now)
{
	struct profile *delta = NULL;
	int err = profile__delta(now, l->recent_cnt ? l->recent[0] : NULL, &delta);

	forget_recent(l, RECENT - 1);
	l->recent[l->recent_cnt++] = now;
	if (!err)
		err = profile__join_callstacks(&delta);
	if (!err)
		err = profile__summarize(delta);
	if (!err)
		return top__take(l->top, now, delta);
	profile__free(delta);
	return err;
}

int live__take(struct live *l, struct profile *now)
{
	int err = profile__summarize(now);

	if (!err)
		err = minute__take(&l->minute, now);
	if (err) {
		profile__free(now);
		return err;
	}
	err = show_recent(l, now);
	return !err && l->on_screen ? draw(l) : err;
}

bool live__forgets(struct live *l)
{
	if (++l->takes < FORGET)
		return false;
	l->takes = 0;
	forget_recent(l, 1);
	minute__fini(&l->minute);
	return true;
}

int live__keys(struct live *l, enum top_wish *wish)
{
	uint32_t key;

	*wish = TOP_NOTHING;
	if (!l)
		return 0;
	while (*wish == TOP_NOTHING && terminal__key(&key))
		*wish = top__key(l->top, key);
	return draw(l);
}

uint32_t live__zoomed(const struct live *l)
{
	return top__zoomed(l->top);
}

void live__tell_off(struct live *l, bool off)
{
	if (l)
		top__tell_off(l->top, off);
}

int live__last_minute(const struct live *l, const struct profile *now, struct profile **out)
{
	return minute__of(&l->minute, now, out);
}
