// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/ring_reader.h"

#include <string.h>

#include "calls/profile.h"
#include "collect/drain.h"
#include "symbol/system_calls.h"
#include "tables/bpf_tables.h"
#include "tables/file_names.h"
#include "timeline/waits.h"

_Static_assert((int)WAIT_REASONS == WIRE_REASON_WAKER && (int)WAIT_LOCK == WIRE_REASON_LOCK &&
		       (int)WAIT_STOPPED == WIRE_REASON_STOPPED &&
		       (int)WAIT_OBJECT_FUTEX == WIRE_OBJECT_FUTEX,
	       "recordings have the reasons of bpf/wire.h");

static int party_of(struct drain *d, const struct wire_spot *at, struct recorded_party *p)
{
	*p = (struct recorded_party){.pid = at->pid_tgid >> 32, .tid = (uint32_t)at->pid_tgid};
	memcpy(p->comm, at->comm, sizeof(p->comm));
	p->comm[sizeof(p->comm) - 1] = '\0';
	return p->pid ? drain__place(d, at, &p->callstack, &p->path) : 0;
}

static int flush(struct ring_reader *r, struct drain *d)
{
	int err = drain__send_paths(d);

	if (!err && r->batch_cnt)
		err = d->stream.waits(d->stream.ctx, r->batch, r->batch_cnt);
	r->batch_cnt = 0;
	return err;
}

static int take(struct ring_reader *r, const struct bpf_tables *t, struct drain *d,
		const struct wire_single_wait *w)
{
	struct recorded_wait *to = &r->batch[r->batch_cnt];
	uint64_t before_ns = w->since_ns < d->start_ns ? d->start_ns - w->since_ns : 0;
	int err;

	if (before_ns >= w->took_ns)
		return 0;
	*to = (struct recorded_wait){
		.begin_ns = w->since_ns + before_ns - d->start_ns,
		.took_ns = w->took_ns - before_ns,
		.ready_ns =
			w->ready_ns < w->took_ns - before_ns ? w->ready_ns : w->took_ns - before_ns,
		.object = w->object,
		.kind = w->kind,
		.reason = w->reason,
		.call = w->call < WIRE_WAIT_PREEMPTED ? w->call + 1 : 0,
	};
	err = party_of(d, &w->at, &to->at);
	if (!err)
		err = party_of(d, &w->waker, &to->waker);
	if (!err && r->name && wait_object__is_futex(to->kind))
		r->name(r->ctx, to);
	if (w->file)
		to->object_name = file_names__at(r->files, t, w->file - 1);
	/* If nothing else is known of a wait, the name of its system call is told. */
	if (!to->object_name && to->reason == WAIT_OTHER && to->call)
		to->object_name = system_call__name(to->call - 1);
	if (err)
		return err;
	return ++r->batch_cnt < RING_BATCH ? 0 : flush(r, d);
}

/* Reads ring number `ring`. A place whose turn is not the one that is due is still being written,
 * or was written twice, by CPUs that share the ring. */
static int poll_ring(struct ring_reader *r, const struct bpf_tables *t, struct drain *d,
		     uint32_t ring)
{
	volatile struct wire_ring_counts *c = &t->info.ring_counts[ring];
	const struct wire_single_wait *places = &t->single_waits[(size_t)ring * t->info.ring_cap];
	uint64_t taken = __atomic_load_n(&c->taken, __ATOMIC_ACQUIRE), at = c->read;
	int err = 0;

	for (; at < taken && !err; at++) {
		const struct wire_single_wait *w = &places[at & (t->info.ring_cap - 1)];
		uint64_t turn = __atomic_load_n(&w->turn, __ATOMIC_ACQUIRE);

		if (turn < at / t->info.ring_cap + 1)
			break;
		if (turn == at / t->info.ring_cap + 1)
			err = d ? take(r, t, d, w) : 0;
		else
			r->torn++;
	}
	__atomic_store_n(&c->read, at, __ATOMIC_RELEASE);
	return err;
}

int ring_reader__poll(struct ring_reader *r, const struct bpf_tables *t, struct drain *d)
{
	int err = 0;

	if (!t->single_waits || !d->stream.waits)
		return 0;
	for (uint32_t i = 0; i < t->info.rings && !err; i++)
		err = poll_ring(r, t, d, i);
	return err ? err : flush(r, d);
}

void ring_reader__skip(struct ring_reader *r, const struct bpf_tables *t)
{
	uint64_t taken = 0;

	for (uint32_t i = 0; t->single_waits && i < t->info.rings; i++) {
		volatile struct wire_ring_counts *c = &t->info.ring_counts[i];

		poll_ring(r, t, NULL, i);
		taken += c->read;
		c->lost = c->short_cnt = c->short_ns = 0;
	}
	r->skipped = taken;
}

void ring_reader__account(const struct ring_reader *r, const struct bpf_tables *t,
			  struct profile_accounting *a)
{
	if (!t->single_waits)
		return;
	a->waits_lost += r->torn;
	a->waits -= r->skipped;
	for (uint32_t i = 0; i < t->info.rings; i++) {
		const volatile struct wire_ring_counts *c = &t->info.ring_counts[i];

		a->waits += c->taken + c->lost + c->short_cnt;
		a->waits_lost += c->lost;
		a->waits_short += c->short_cnt;
		a->waits_short_ns += c->short_ns;
	}
}
