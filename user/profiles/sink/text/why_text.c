// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/text/why_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "calls/session_data.h"
#include "sink/names.h"
#include "sink/why/session_why.h"
#include "sink/why/why_part.h"
#include "timeline/waits.h"
#include "util/cxx_name.h"
#include "util/text.h"

#define TOLD_MAX     5	/* parts of a sentence */
#define NAME_COLUMNS 60 /* of a function's name, if it can be made as short */
#define NAME_LEN     128

/* Text on its way, cut to its room. */
struct words {
	char *buf;
	size_t len, size;
};

static void say(struct words *w, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(w->buf + w->len, w->size - w->len, format, args);
	va_end(args);
	if (len > 0)
		w->len = w->len + len < w->size ? w->len + len : w->size - 1;
}

static const char *const waiting[WAIT_REASONS] = {
	[WAIT_OTHER] = "waiting in the kernel",
	[WAIT_LOCK] = "waiting for a lock",
	[WAIT_CPU] = "waiting for a CPU",
	[WAIT_DISK] = "waiting for the disk",
	[WAIT_NETWORK] = "waiting for the network",
	[WAIT_PIPE] = "waiting for a pipe",
	[WAIT_DEVICE] = "waiting for a device",
	[WAIT_TIMER] = "sleeping",
	[WAIT_POLL] = "waiting for one of several files",
	[WAIT_CHILD] = "waiting for a child process",
	[WAIT_STOPPED] = "stopped",
};

/* A function's name as short as it can be told, "std::map<…>::at" say, in `buf`, which it returns;
 * "": there is none. */
static const char *function_at(const struct profile *p, uint32_t function, char buf[NAME_LEN])
{
	const char *name =
		function < p->functions_cnt ? function__name(&p->functions[function]) : "";
	char *copy = strdup(name), *from;
	size_t len;

	*buf = '\0';
	if (!copy)
		return buf;
	from = cxx_name__cut_parameters(copy);
	cxx_name__fit(from, NAME_COLUMNS);
	len = strlen(from);
	if (len >= NAME_LEN) {
		/* Not amid a character: those after its first byte begin with bits 10. */
		for (len = NAME_LEN - sizeof("…"); len && (from[len] & 0xc0) == 0x80;)
			len--;
		snprintf(buf, NAME_LEN, "%.*s…", (int)len, from);
	} else {
		memcpy(buf, from, len + 1);
	}
	free(copy);
	return buf;
}

/* `kind`: WAIT_OBJECT_NONE where it is not told. */
static void say_object(struct words *w, uint32_t reason, uint32_t kind, uint64_t number,
		       const char *name)
{
	const char *what = waiting[reason < WAIT_REASONS ? reason : WAIT_OTHER];
	char object[128] = "";

	if (kind != WAIT_OBJECT_NONE || (reason == WAIT_OTHER && name))
		wait_object__text(kind, number, name, object, sizeof(object));
	if (!*object)
		say(w, "%s", what);
	else if (kind == WAIT_OBJECT_LOCK)
		say(w, "waiting for lock %s", object);
	else if (kind == WAIT_OBJECT_FUTEX)
		say(w, "waiting on %s", object);
	else if (kind == WAIT_OBJECT_READ || kind == WAIT_OBJECT_WRITE)
		say(w, "waiting to %s %s", kind == WAIT_OBJECT_READ ? "read" : "write", object);
	else if (kind == WAIT_OBJECT_PEER && !wait_object__is_many(name))
		say(w, "waiting for a reply of %s", object);
	else
		say(w, "%s (%s)", what, object);
}

/* "in `ProcSleep › WaitLatch`". */
static void say_place(struct words *w, const struct profile *p, const struct why_part *part,
		      const char *name)
{
	char buf[NAME_LEN];
	const char *caller = function_at(p, part->caller, buf);

	say(w, " in `%s%s%s`", caller, *caller ? " › " : "", name);
}

/* Whether most know by its name what is waited for, wherever that is. */
static bool is_named_lock(const struct why_part *part)
{
	return part->object && part->wait->object_name && wait_object__is_futex(part->object_kind);
}

/* Most of the time is that waker's, or it is not told. */
static bool is_waker_told(const struct why_part *part)
{
	return part->wait->waker_pid && part->waker_ns >= part->worst_ns / 2;
}

/* Threads of the process can wake each other from a futex, and those are traced: else it was the
 * time that the wait was given. */
static bool is_timeout(const struct why_part *part)
{
	return !part->wait->waker_pid && part->wait->reason == WAIT_LOCK &&
	       wait_object__is_futex(part->wait->kind) && part->waker_ns >= part->worst_ns / 2;
}

static void say_waker(struct words *w, const struct profile *p, const struct why_part *part)
{
	const struct session_wait *wait = part->wait;
	char buf[NAME_LEN];
	const char *name = function_at(p, wait->waker_function, buf);

	if (is_timeout(part))
		say(w, ", woken by nobody that is traced, as when its time is up");
	if (!is_waker_told(part))
		return;
	say(w, ", %s by ",
	    wait_object__is_held(part->object_kind) && part->object ? "held" : "woken");
	if (*name)
		say(w, "`%s` in ", name);
	say(w, "%s %.15s", wait->other_process ? "process" : "thread", wait->waker);
}

/* ", which spent 28 ms in `vacuum` (thread janitor) holding db_lock". */
static void say_behind(struct words *w, const struct profile *p, const struct why_part *part)
{
	const struct session_wait *wait = part->wait;
	const struct chain_part *b = part->behind;
	bool by_waker = is_waker_told(part), same;
	char ns[32], buf[NAME_LEN], caller_buf[NAME_LEN];
	const char *name, *caller;

	if (!b || part->more_ns < 1)
		return;
	same = by_waker && b->pid == wait->waker_pid && !strcmp(b->comm, wait->waker);
	text_duration((uint64_t)(part->more_ns * part->behind_part), ns, sizeof(ns));
	say(w, by_waker ? ", which spent %s" : ", of which %s were", ns);
	if (!b->runs) {
		say(w, " ");
		say_object(w, b->reason, b->kind, b->object, b->object_name);
	}
	name = function_at(p, b->function, buf);
	caller = b->caller == wait->waker_function ? "" : function_at(p, b->caller, caller_buf);
	if (*name && (b->runs || !same || b->function != wait->waker_function))
		say(w, " in `%s%s%s`", caller, *caller ? " › " : "", name);
	else if (b->runs)
		say(w, " running");
	if (!same)
		say(w, " (%s %.15s)",
		    b->pid == wait->waker_pid || !wait->other_process ? "thread" : "process",
		    b->comm);
	if (b->depth > 1 && wait_object__is_held(b->held_up.kind) && b->held_up.object_name)
		say(w, " holding %.60s", b->held_up.object_name);
}

/* Whether it is rather that there are more calls than that each takes longer. That there is one
 * where there was none needs no words. */
static bool has_more_calls(const struct why_part *part)
{
	double each = part->worst_calls > 0 ? part->worst_ns / part->worst_calls : 0;

	return part->worst_calls >= 1.5 && part->worst_calls >= part->usual_calls * 1.2 + 0.5 &&
	       each * (part->worst_calls - part->usual_calls) >= part->more_ns / 2;
}

static void say_count(struct words *w, double count)
{
	if (count >= 9.95 || count < 0.05 || count - (double)(uint64_t)count < 0.05)
		say(w, "%.0f", count);
	else
		say(w, "%.1f", count);
}

static void say_calls(struct words *w, const struct why_part *part)
{
	say(w, ", called ");
	say_count(w, part->worst_calls);
	say(w, " times instead of ");
	if (part->usual_calls < 0.05)
		say(w, "never");
	else
		say_count(w, part->usual_calls);
}

/* "in the queue to `run`, while thread worker-2 ran `copy`". */
static void say_queue(struct words *w, const struct profile *p, const struct why_part *part)
{
	const struct chain_part *c = part->queued;
	char buf[NAME_LEN];
	const char *name;

	say(w, "in the queue to `%s`", function_at(p, part->function, buf));
	if (!c)
		return;
	say(w, ", while thread %.15s was ", c->comm);
	if (c->runs)
		say(w, "running");
	else
		say_object(w, c->reason, c->kind, c->object, c->object_name);
	name = function_at(p, c->function, buf);
	if (*name)
		say(w, " %s`%s`", c->runs ? "" : "in ", name);
}

char *why_part__text(const struct profile *p, const struct why_part *part, char buf[WHY_TEXT])
{
	char name_buf[NAME_LEN];
	const char *name = function_at(p, part->function, name_buf);
	struct words w = {.buf = buf, .size = WHY_TEXT};
	bool more_calls = has_more_calls(part);

	*buf = '\0';
	switch (part->kind) {
	case WHY_QUEUE:
		say_queue(&w, p, part);
		return buf;
	case WHY_RUN:
		say(&w, "more in `%s`", name);
		break;
	case WHY_SHORT:
		say(&w, part->parked ? "parked, as a goroutine," : "in short waits");
		say_place(&w, p, part, name);
		break;
	case WHY_WAIT:
		say_object(&w, part->wait->reason,
			   part->object ? part->object_kind : WAIT_OBJECT_NONE, part->wait->object,
			   part->wait->object_name);
		if (part->wait->reason == WAIT_CPU)
			return buf;
		if (!is_named_lock(part) || !part->wait->waker_pid || more_calls)
			say_place(&w, p, part, name);
		say_waker(&w, p, part);
		if (!more_calls)
			say_behind(&w, p, part);
		break;
	}
	if (more_calls)
		say_calls(&w, part);
	return buf;
}

char *session_why__sentence(const struct profile *p, const struct session_why *why,
			    char buf[WHY_SENTENCE])
{
	struct words w = {.buf = buf, .size = WHY_SENTENCE};
	size_t cnt = session_why__telling(why);
	double rest_ns = why->longer_ns;
	char ns[32], text[WHY_TEXT];

	*buf = '\0';
	say(&w, "p99 sessions take %s longer",
	    text_duration((uint64_t)why->longer_ns, ns, sizeof(ns)));
	for (size_t i = 0; i < cnt && i < TOLD_MAX; i++) {
		const struct why_part *part = &why->parts[i];

		rest_ns -= part->more_ns;
		say(&w, "%s %s %s", i ? ";" : ":",
		    text_duration((uint64_t)part->more_ns, ns, sizeof(ns)),
		    why_part__text(p, part, text));
	}
	if (rest_ns >= why->longer_ns / 100)
		say(&w, "%s %s elsewhere", cnt ? ";" : ":",
		    text_duration((uint64_t)rest_ns, ns, sizeof(ns)));
	else if (rest_ns <= -why->longer_ns / 100)
		say(&w, "; and %s less elsewhere",
		    text_duration((uint64_t)-rest_ns, ns, sizeof(ns)));
	return buf;
}

/* Says what a thread waits for, at any depth. */
static void say_cause(struct words *w, const struct chain_part *part)
{
	const char *role = wait_object__role(part->kind);
	char object[128];

	wait_object__text(part->kind, part->object, part->object_name, object, sizeof(object));
	if (role)
		say(w, "lock %s, as a %s", object, role);
	else if (part->kind == WAIT_OBJECT_LOCK && part->reason == WAIT_LOCK)
		say(w, "lock %s", object);
	else if (*object)
		say(w, "%s %s", wait_reason__word(part->reason), object);
	else
		say(w, "%s", wait_reason__word(part->reason));
}

char *chain_part__text(const struct profile *p, const struct chain_part *part, char buf[WHY_TEXT])
{
	char name_buf[NAME_LEN];
	const char *name = function_at(p, part->function, name_buf);
	struct words w = {.buf = buf, .size = WHY_TEXT};

	*buf = '\0';
	if (!part->runs && part->reason == WAIT_CPU)
		say(&w, "waiting for a CPU");
	else if (!part->runs)
		say(&w, "waiting for ");
	if (!part->runs && part->reason != WAIT_CPU)
		say_cause(&w, part);
	if (!part->runs)
		say(&w, " in ");
	say(&w, "%s", *name ? name : "no traced call");
	if (part->queued)
		say(&w, ", while the session is queued");
	if (!part->depth)
		return buf;
	say(&w, " in thread %.15s", part->comm);
	if (part->runs) {
		say(&w, ", which is waited for: ");
		say_cause(&w, part);
	}
	return buf;
}
