// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Single calls as a Perfetto trace: packets of protocol buffers, one behind the other, so that they
 * are written as they come. All are one sequence; a function's name is sent with its first call and
 * known by a number from then on. Times are of the boot clock, which began with the profile.
 * The numbers of fields are those of Perfetto's protos/perfetto/trace.
 */
#include <errno.h>
#include <stdlib.h>

#include "calls/accounting.h"
#include "calls/profile.h"
#include "calls/values.h"
#include "sink/accounts.h"
#include "sink/names.h"
#include "sink/sink.h"
#include "sink/stream.h"
#include "sink/tools/wait_slices.h"
#include "sink/tracks.h"
#include "timeline/timeline.h"
#include "timeline/waits.h"
#include "util/proto.h"
#include "util/search.h"

enum { TRACE_PACKET = 1 };
enum {
	PACKET_CLOCKS = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_TRACK = 60,
};
enum { FLAG_STATE_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { CLOCKS_CLOCK = 1, CLOCKS_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIME = 2 };
enum { CLOCK_OF_REALTIME = 1, CLOCK_OF_BOOT = 6 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum {
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_ID = 10,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_SOURCE_ID = 34,
	EVENT_FLOW = 47,
	EVENT_FLOW_END = 48
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3 };
enum {
	ANNOTATION_NAME_ID = 1,
	ANNOTATION_U64 = 3,
	ANNOTATION_I64 = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_TEXT = 6,
	ANNOTATION_POINTER = 7,
	ANNOTATION_NAME = 10
};
enum { INTERNED_EVENT = 2, INTERNED_ANNOTATION = 3, INTERNED_SOURCE = 4 };
enum { INTERNED_ID = 1, INTERNED_NAME = 2 };
enum { SOURCE_ID = 1, SOURCE_FILE = 2, SOURCE_FUNCTION = 3, SOURCE_LINE = 4 };

#define SEQUENCE    1
#define OFF_NS_NAME 1 /* of the annotation */

struct writer {
	FILE *out;
	const struct profile *p;
	struct proto file, packet, part, inner;
	bool *named;	/* by function */
	uint64_t uuid;	/* the last that was given */
	uint64_t track; /* of the thread that is walked */
	struct wait_slices waits;
};

/* Writes the packet. Returns 0 or -errno. */
static int end_packet(struct writer *w)
{
	proto_message(&w->file, TRACE_PACKET, &w->packet);
	if (w->file.failed)
		return -ENOMEM;
	fwrite_unlocked(w->file.data, 1, w->file.len, w->out);
	w->file.len = 0;
	return ferror_unlocked(w->out) ? -EIO : 0;
}

static void add_clock(struct writer *w, uint64_t clock, uint64_t ns)
{
	proto_u64(&w->inner, CLOCK_ID, clock);
	proto_u64(&w->inner, CLOCK_TIME, ns);
	proto_message(&w->part, CLOCKS_CLOCK, &w->inner);
}

/* The first packet: what the clocks showed at the start, and that nothing is known from before. */
static int write_start(struct writer *w)
{
	/* A recording may claim anything. */
	if (w->p->start_time > 0 && w->p->start_time < 1e10) {
		add_clock(w, CLOCK_OF_BOOT, 0);
		add_clock(w, CLOCK_OF_REALTIME, w->p->start_time * 1e9);
		proto_u64(&w->part, CLOCKS_PRIMARY, CLOCK_OF_BOOT);
		proto_message(&w->packet, PACKET_CLOCKS, &w->part);
	}
	proto_u64(&w->packet, PACKET_SEQUENCE, SEQUENCE);
	proto_u64(&w->packet, PACKET_FLAGS, FLAG_STATE_CLEARED);
	return end_packet(w);
}

/* Names the packet's event, the first time in words, and says where its function is. */
static void add_name(struct writer *w, uint32_t function)
{
	const struct profile_function *f = &w->p->functions[function];

	if (w->named[function])
		return;
	w->named[function] = true;
	proto_u64(&w->inner, INTERNED_ID, function + 1ull);
	proto_text(&w->inner, INTERNED_NAME, function__name(f));
	proto_message(&w->part, INTERNED_EVENT, &w->inner);
	if (f->file) {
		proto_u64(&w->inner, SOURCE_ID, function + 1ull);
		proto_text(&w->inner, SOURCE_FILE, f->file);
		proto_text(&w->inner, SOURCE_FUNCTION, function__name(f));
		proto_u64(&w->inner, SOURCE_LINE, f->line);
		proto_message(&w->part, INTERNED_SOURCE, &w->inner);
	}
	proto_message(&w->packet, PACKET_INTERNED, &w->part);
}

/* Annotates the event with the call's values. */
static void add_values(struct writer *w, uint32_t function, const struct timeline_call *call)
{
	uint32_t cnt;
	const struct profile_argument *args = profile__arguments(w->p, function, &cnt);

	for (uint32_t i = 0; i < cnt && i < call->values_cnt; i++) {
		const struct call_value *v = &call->values[i];
		char buf[VALUE_TEXT_LEN];

		proto_text(&w->inner, ANNOTATION_NAME, args[i].name);
		if (v->kind == VALUE_INT)
			proto_u64(&w->inner, ANNOTATION_I64, v->i);
		else if (v->kind == VALUE_UINT)
			proto_u64(&w->inner,
				  argument__is_hex(&args[i]) ? ANNOTATION_POINTER : ANNOTATION_U64,
				  v->u);
		else if (v->kind == VALUE_FLOAT)
			proto_double(&w->inner, ANNOTATION_DOUBLE, v->f);
		else
			proto_text(&w->inner, ANNOTATION_TEXT, call_value__text(v, false, buf));
		proto_message(&w->part, EVENT_ANNOTATION, &w->inner);
	}
}

static void begin_packet(struct writer *w, uint64_t at_ns)
{
	proto_u64(&w->packet, PACKET_TIMESTAMP, at_ns);
	proto_u64(&w->packet, PACKET_SEQUENCE, SEQUENCE);
	proto_u64(&w->packet, PACKET_FLAGS, FLAG_NEEDS_STATE);
}

static void begin_event(struct writer *w, unsigned int type)
{
	proto_u64(&w->part, EVENT_TYPE, type);
	proto_u64(&w->part, EVENT_TRACK, w->track);
}

/* Writes one end of a wait's slice, of its part that is ready to run, or where a thread is woken.
 */
static int write_slice(const struct wait_slice *s, void *ctx)
{
	struct writer *w = ctx;

	begin_packet(w, s->at_ns);
	begin_event(w, s->kind == SLICE_END    ? TYPE_END
		       : s->kind == SLICE_WAKE ? TYPE_INSTANT
					       : TYPE_BEGIN);
	if (s->kind != SLICE_END)
		proto_text(&w->part, EVENT_NAME, s->name);
	if (s->kind == SLICE_WAKE && s->flow)
		proto_fixed64(&w->part, EVENT_FLOW, s->flow);
	if (s->kind == SLICE_BEGIN && s->flow)
		proto_fixed64(&w->part, EVENT_FLOW_END, s->flow);
	if (*s->waker) {
		proto_text(&w->inner, ANNOTATION_NAME, s->kind == SLICE_WAKE ? "in" : "woken_by");
		proto_text(&w->inner, ANNOTATION_TEXT, s->waker);
		proto_message(&w->part, EVENT_ANNOTATION, &w->inner);
	}
	proto_message(&w->packet, PACKET_EVENT, &w->part);
	return end_packet(w);
}

static int write_event(const struct timeline_event *e, void *ctx)
{
	struct writer *w = ctx;
	uint32_t function = w->p->nodes[e->call->node].function;
	int err = wait_slices__until(&w->waits, e->at_ns, e->depth + !e->begins, write_slice, w);

	if (err)
		return err;

	begin_packet(w, e->at_ns);
	if (e->begins)
		add_name(w, function);
	begin_event(w, e->begins ? TYPE_BEGIN : TYPE_END);
	if (e->begins)
		proto_u64(&w->part, EVENT_NAME_ID, function + 1ull);
	if (e->begins && w->p->functions[function].file)
		proto_u64(&w->part, EVENT_SOURCE_ID, function + 1ull);
	if (e->begins && e->call->off_ns) {
		proto_u64(&w->inner, ANNOTATION_NAME_ID, OFF_NS_NAME);
		proto_u64(&w->inner, ANNOTATION_U64, e->call->off_ns);
		proto_message(&w->part, EVENT_ANNOTATION, &w->inner);
	}
	if (e->begins && e->call->values_cnt)
		add_values(w, function, e->call);
	proto_message(&w->packet, PACKET_EVENT, &w->part);
	return end_packet(w);
}

static void annotate(struct writer *w, const char *name, int64_t value)
{
	proto_text(&w->inner, ANNOTATION_NAME, name);
	proto_u64(&w->inner, ANNOTATION_I64, value);
	proto_message(&w->part, EVENT_ANNOTATION, &w->inner);
}

/* An instant at the very beginning, on a track of its own. */
static int write_accounts(struct writer *w)
{
	char line[ACCOUNTS_LINE];
	int err;

	proto_u64(&w->part, TRACK_UUID, ++w->uuid);
	proto_text(&w->part, TRACK_NAME, "proftrace " PROFTRACE_VERSION);
	proto_message(&w->packet, PACKET_TRACK, &w->part);
	proto_u64(&w->packet, PACKET_SEQUENCE, SEQUENCE);
	err = end_packet(w);
	if (err)
		return err;
	/* The annotation that calls have is named here, too. */
	proto_u64(&w->inner, INTERNED_ID, OFF_NS_NAME);
	proto_text(&w->inner, INTERNED_NAME, "off_ns");
	proto_message(&w->part, INTERNED_ANNOTATION, &w->inner);
	proto_message(&w->packet, PACKET_INTERNED, &w->part);
	proto_u64(&w->packet, PACKET_TIMESTAMP, 0);
	proto_u64(&w->packet, PACKET_SEQUENCE, SEQUENCE);
	proto_u64(&w->packet, PACKET_FLAGS, FLAG_NEEDS_STATE);
	proto_u64(&w->part, EVENT_TYPE, TYPE_INSTANT);
	proto_u64(&w->part, EVENT_TRACK, w->uuid);
	proto_text(&w->part, EVENT_NAME, accounts__calls(w->p, line, sizeof(line)));
	for (size_t i = 0; i < ACCOUNTS; i++)
		if (account__matters(&accounts[i], w->p))
			annotate(w, accounts[i].name, account__of(&accounts[i], &w->p->accounting));
	annotate(w, "calls_missing", w->p->timeline->lost);
	proto_message(&w->packet, PACKET_EVENT, &w->part);
	return end_packet(w);
}

static int write_process(struct writer *w, pid_t pid, const char *comm)
{
	proto_u64(&w->inner, PROCESS_PID, (int64_t)pid);
	proto_text(&w->inner, PROCESS_NAME, comm);
	proto_u64(&w->part, TRACK_UUID, ++w->uuid);
	proto_message(&w->part, TRACK_PROCESS, &w->inner);
	proto_message(&w->packet, PACKET_TRACK, &w->part);
	proto_u64(&w->packet, PACKET_SEQUENCE, SEQUENCE);
	return end_packet(w);
}

/* Perfetto makes one of all tracks of a thread: what is none, or not the first of its number, is a
 * plain track of its process. */
static int write_thread(struct writer *w, const struct track *track, uint64_t process)
{
	const struct profile_thread *t = &w->p->threads[track->thread];
	char name[THREAD_NAME_LEN];

	thread__name(t, name);
	w->track = ++w->uuid;
	proto_u64(&w->part, TRACK_UUID, w->track);
	proto_u64(&w->part, TRACK_PARENT, process);
	if (t->goroutine || t->spans || track->renumbered) {
		proto_text(&w->part, TRACK_NAME, name);
	} else {
		proto_u64(&w->inner, THREAD_PID, (int64_t)t->pid);
		proto_u64(&w->inner, THREAD_TID, (int64_t)t->tid);
		proto_text(&w->inner, THREAD_NAME, name);
		proto_message(&w->part, TRACK_THREAD, &w->inner);
	}
	proto_message(&w->packet, PACKET_TRACK, &w->part);
	proto_u64(&w->packet, PACKET_SEQUENCE, SEQUENCE);
	return end_packet(w);
}

static int write_calls(struct writer *w, uint32_t thread)
{
	int err;

	wait_slices__turn(&w->waits, thread);
	err = timeline__walk(w->p->timeline, thread, write_event, w);
	/* Waits behind the thread's last call. */
	return err ? err : wait_slices__until(&w->waits, UINT64_MAX, 0, write_slice, w);
}

/* Writes tracks; those of processes are noted in `processes`, by track. */
static int write_tracks(struct writer *w, const struct track *tracks, size_t cnt,
			uint64_t *processes)
{
	uint64_t process = 0;
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		if (tracks[i].first) {
			err = write_process(w, tracks[i].pid, w->p->threads[tracks[i].thread].comm);
			process = w->uuid;
		}
		processes[i] = process;
		if (!err)
			err = write_thread(w, &tracks[i], process);
		if (!err)
			err = write_calls(w, tracks[i].thread);
	}
	return err;
}

/* The track of a thread that has woken a session's, and was in none. */
static int write_waker(struct writer *w, const struct wait_party *party, uint64_t process)
{
	char name[THREAD_NAME_LEN];

	snprintf(name, sizeof(name), "%.15s-%d/%d", party->comm, party->pid, party->tid);
	w->track = ++w->uuid;
	proto_u64(&w->part, TRACK_UUID, w->track);
	proto_u64(&w->part, TRACK_PARENT, process);
	proto_text(&w->part, TRACK_NAME, name);
	proto_message(&w->packet, PACKET_TRACK, &w->part);
	proto_u64(&w->packet, PACKET_SEQUENCE, SEQUENCE);
	return end_packet(w);
}

/* Behind the tracks of sessions; their processes may be others. */
static int write_wakers(struct writer *w, const struct track *tracks, size_t cnt,
			const uint64_t *processes)
{
	const struct wait_flows *f = &w->waits.flows;
	uint64_t process = 0;
	pid_t pid = 0;
	int err = 0;

	for (size_t i = 0; i < f->asides_cnt && !err; i++) {
		const struct wait_party *party = &f->waits->parties[f->asides[i]];
		size_t at = LOWER_BOUND(cnt, n, tracks[n].pid < party->pid);

		if (at < cnt && tracks[at].pid == party->pid) {
			process = processes[at];
		} else if (!process || party->pid != pid) {
			err = write_process(w, party->pid, party->comm);
			process = w->uuid;
		}
		pid = party->pid;
		if (!err)
			err = write_waker(w, party, process);
		if (err)
			break;
		wait_slices__turn(&w->waits, w->p->threads_cnt + i);
		err = wait_slices__until(&w->waits, UINT64_MAX, 0, write_slice, w);
	}
	return err;
}

static int write_perfetto(const struct profile *p, const struct sink_options *opts, FILE *out)
{
	struct writer w = {.out = out, .p = p};
	struct track *tracks = NULL;
	uint64_t *processes;
	ssize_t cnt;
	int err, closed;

	if (!p->timeline)
		return -ENODATA;
	cnt = tracks__new(p, &tracks);
	w.named = calloc(p->functions_cnt + 1, sizeof(*w.named));
	processes = calloc(p->threads_cnt + 1, sizeof(*processes));
	err = cnt < 0 ? (int)cnt : w.named && processes ? 0 : -ENOMEM;
	if (!err)
		err = wait_slices__init(&w.waits, p);
	stream__begin();
	if (!err)
		err = write_start(&w);
	if (!err)
		err = write_accounts(&w);
	if (!err)
		err = write_tracks(&w, tracks, cnt, processes);
	if (!err)
		err = write_wakers(&w, tracks, cnt, processes);
	proto_free(&w.file);
	proto_free(&w.packet);
	proto_free(&w.part);
	proto_free(&w.inner);
	wait_slices__fini(&w.waits);
	free(w.named);
	free(processes);
	free(tracks);
	closed = stream__end(out);
	return closed ? closed : err;
}

const struct sink sink_perfetto = {
	.name = "perfetto",
	.help = "single calls for ui.perfetto.dev",
	.suffixes = (const char *const[]){".perfetto-trace", ".pftrace", NULL},
	.whole = true,
	.shows_calls = true,
	.shows_values = true,
	.needs_calls = true,
	.write = write_perfetto,
};
