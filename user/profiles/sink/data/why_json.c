// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/data/why_json.h"

#include "calls/profile.h"
#include "calls/session_data.h"
#include "sink/listing.h"
#include "sink/why/session_why.h"
#include "sink/why/why_part.h"
#include "sink/text/why_text.h"
#include "timeline/waits.h"
#include "util/json.h"

/* Its id; null: it is not listed. */
static void write_function(struct json *j, const struct profile *p, const struct listing *functions,
			   uint32_t function)
{
	if (function < p->functions_cnt && functions[function].listed) {
		json_member_u64(j, "function", functions[function].id);
		return;
	}
	json_key(j, "function");
	json_null(j);
}

static void write_object(struct json *j, uint32_t kind, uint64_t object, const char *name)
{
	const char *role = wait_object__role(kind);
	char text[128];

	wait_object__text(kind, object, name, text, sizeof(text));
	json_member_string(j, "object", *text ? text : NULL);
	if (role)
		json_member_string(j, "role", role);
}

static void write_wait(struct json *j, const struct profile *p, const struct listing *functions,
		       const struct why_part *part)
{
	const struct session_wait *wait = part->wait;

	json_member_string(j, "reason", wait_reason__word(wait->reason));
	if (part->object)
		write_object(j, wait->kind, wait->object, wait->object_name);
	if (!wait->waker_pid)
		return;
	json_member_open(j, "waker", '{');
	json_member_i64(j, "pid", wait->waker_pid);
	json_member_i64(j, "tid", wait->waker_tid);
	json_member_string(j, "comm", wait->waker);
	write_function(j, p, functions, wait->waker_function);
	json_member_u64(j, "p99_ns", (uint64_t)part->waker_ns);
	json_close(j, '}');
}

/* Writes who did what in a stretch of a critical path. */
static void write_doing(struct json *j, const struct profile *p, const struct listing *functions,
			const struct chain_part *part)
{
	json_member_bool(j, "running", part->runs);
	json_member_i64(j, "pid", part->pid);
	json_member_i64(j, "tid", part->tid);
	json_member_string(j, "comm", part->comm);
	write_function(j, p, functions, part->function);
	json_member_u64(j, "depth", part->depth);
}

static void write_behind(struct json *j, const struct profile *p, const struct listing *functions,
			 const struct why_part *part)
{
	const struct chain_part *b = part->behind;

	json_member_open(j, "behind", '{');
	json_member_u64(j, "p99_ns", (uint64_t)(part->worst_ns * part->behind_part));
	write_doing(j, p, functions, b);
	json_member_string(j, "reason", wait_reason__word(b->reason));
	write_object(j, b->kind, b->object, b->object_name);
	json_close(j, '}');
}

static void write_part(struct json *j, const struct profile *p, const struct listing *functions,
		       const struct why_part *part)
{
	static const char *const kinds[] = {[WHY_RUN] = "run",
					    [WHY_WAIT] = "wait",
					    [WHY_SHORT] = "short",
					    [WHY_QUEUE] = "queue"};
	char text[WHY_TEXT];

	json_open(j, '{');
	json_member_string(j, "kind", kinds[part->kind]);
	json_member_i64(j, "more_ns", (int64_t)part->more_ns);
	json_member_u64(j, "p99_ns", (uint64_t)part->worst_ns);
	json_member_u64(j, "usual_ns", (uint64_t)part->usual_ns);
	write_function(j, p, functions, part->function);
	json_member_double(j, "p99_calls", part->worst_calls);
	json_member_double(j, "usual_calls", part->usual_calls);
	if (part->kind == WHY_WAIT)
		write_wait(j, p, functions, part);
	if (part->behind)
		write_behind(j, p, functions, part);
	json_member_string(j, "text", why_part__text(p, part, text));
	json_close(j, '}');
}

int why_json__write(struct json *j, const struct profile *p, const struct listing *functions,
		    const struct session_ranks *r, const struct session_group *g)
{
	char sentence[WHY_SENTENCE];
	struct session_why why;
	int err = session_why__find(p, r, g, &why);

	if (!err && why.cnt) {
		json_member_open(j, "why", '{');
		json_member_string(j, "sentence", session_why__sentence(p, &why, sentence));
		json_member_u64(j, "sessions", g->worst_cnt);
		json_member_u64(j, "usual_sessions", g->usual_cnt);
		json_member_u64(j, "longer_ns", (uint64_t)why.longer_ns);
		json_member_open(j, "parts", '[');
		for (size_t i = 0; i < why.cnt; i++)
			write_part(j, p, functions, &why.parts[i]);
		json_close(j, ']');
		json_close(j, '}');
	}
	session_why__fini(&why);
	return err;
}

void why_json__chain(struct json *j, const struct profile *p, const struct listing *functions,
		     const struct session *session)
{
	if (!session->chain_cnt)
		return;
	json_member_open(j, "critical_path", '[');
	for (size_t i = 0; i < session->chain_cnt; i++) {
		const struct chain_part *part = &session->chain[i];

		json_open(j, '{');
		json_member_u64(j, "start_ns", part->from_ns);
		json_member_u64(j, "ns", part->to_ns - part->from_ns);
		write_doing(j, p, functions, part);
		json_member_bool(j, "queued", part->queued);
		if (!part->runs || part->depth) {
			json_member_string(j, "reason", wait_reason__word(part->reason));
			write_object(j, part->kind, part->object, part->object_name);
		}
		json_close(j, '}');
	}
	json_close(j, ']');
}
