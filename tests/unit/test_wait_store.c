// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits from the kernel's table to the paths of call stacks and threads. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "tables/bpf_tables.h"
#include "tables/growing_table.h"
#include "collect/sample_store.h"
#include "collect/wait_store.h"
#include "tables/stack_copy.h"

#define PLACES	   4
#define CALLSTACKS 3
#define NODES	   8
#define CALL	   50 /* a system call, and the function that stands for it */
#define THREAD	   ((7ull << 32) | 8)

static struct wire_wait waits[PLACES];
static struct wire_callstack callstacks[CALLSTACKS];
static struct wire_wait_counts counts[WIRE_CPUS];
static uint32_t scratch[NODES];
static struct growing_table growing[GROWING_TABLES] = {
	[GROWING_CALLSTACKS] = {.cap = CALLSTACKS, .mapped = CALLSTACKS},
};
static struct bpf_tables tables = {
	.growing = growing,
	.info = {.callstacks_cap = CALLSTACKS, .waits_cap = PLACES, .wait_counts = counts},
	.callstacks = callstacks,
	.waits = waits,
};

struct stores {
	struct sample_store samples;
	struct wait_store waits;
};

#define BY 900 /* what stands for a waker in function n, less n */

/* The function behind whose call n is, is number n - 1. */
static int resolve(const struct code_place *at, uint32_t *function, void *ctx)
{
	*function = at->waker ? BY + at->waker->functions[at->waker->cnt - 1] : at->vaddr - 1;
	return 0;
}

static void begin(struct stores *s)
{
	/* Call stacks have trees of samples if there is a table of these. */
	static struct wire_sample none;

	memset(waits, 0, sizeof(waits));
	memset(callstacks, 0, sizeof(callstacks));
	memset(counts, 0, sizeof(counts));
	memset(scratch, 0xff, sizeof(scratch));
	callstacks[1] = (struct wire_callstack){.state = WIRE_CALLSTACK_READY, .lives = 5};
	tables.samples = &none;
	*s = (struct stores){.samples = {.resolve = resolve}};
	assert_int_equal(sample_store__init(&s->samples, &tables), 0);
	assert_int_equal(wait_store__init(&s->waits, &tables), 0);
}

static void end(struct stores *s)
{
	sample_store__fini(&s->samples);
	wait_store__fini(&s->waits);
}

/* A place in `function`, below the path `node` or outside of calls. */
static struct wire_wait *put(uint32_t node, uint64_t function, uint64_t ns)
{
	struct wire_wait *e = waits;

	while (e->hash)
		e++;
	*e = (struct wire_wait){.hash = 1 + function,
				.state = WIRE_WAIT_READY,
				.call = CALL,
				.reason = WIRE_REASON_TIMER,
				.cnt = 1,
				.ns = ns,
				.spot = {.pid_tgid = THREAD,
					 .start_ns = 3,
					 .callstack = node ? 1 : 0,
					 .lives = node ? 5 : 0,
					 .node = node,
					 .comm = "worker"}};
	e->user.cnt = 1;
	e->user.frames[0] = 1ull << 48 | function;
	counts[1].made++;
	counts[1].taken++;
	return e;
}

/* The time of the only wait of the thread outside of calls; 0: none is known. */
static uint64_t outside_ns(const struct stores *s)
{
	struct stack_copy *copy;
	uint64_t ns;

	if (!s->samples.threads_cnt)
		return 0;
	assert_int_equal(sample_store__thread(&s->samples, 0, &copy), 0);
	assert_int_equal(copy->samples_cnt, 1);
	ns = copy->samples[0].off_ns;
	free(copy);
	return ns;
}

/* Below node 6, a call of function 2. */
static void test_below_a_call(void **state)
{
	struct stack_copy *copy = calloc(1, sizeof(*copy) + sizeof(copy->nodes[0]));
	struct stores s;

	begin(&s);
	put(6, 20, 700);
	put(6, 21, 300);
	put(6, 22, 99)->spot.lives = 4; /* of a call stack that is gone */
	assert_int_equal(wait_store__read(&s.waits, &s.samples, &tables, 1000), 0);
	copy->nodes_cnt = 1;
	copy->nodes[0] = (struct stack_copy_node){
		.parent = STACK_COPY_ROOT, .function = 2, .calls = 9, .number = 6};
	assert_int_equal(sample_store__put(&s.samples, &tables, 1, scratch, &copy), 0);
	assert_int_equal(copy->nodes_cnt, 7);
	assert_int_equal(copy->nodes[1].function, 20);
	assert_int_equal(copy->nodes[2].parent, 1);
	assert_int_equal(copy->nodes[2].function, CALL);
	assert_int_equal(copy->nodes[3].function, WIRE_REASON_TIMER);
	assert_int_equal(copy->samples_cnt, 2);
	assert_int_equal(copy->samples[0].base, 0);
	assert_int_equal(copy->samples[0].node, 3);
	assert_int_equal(copy->samples[0].off_ns, 700);
	assert_int_equal(copy->samples[0].cnt, 0);
	assert_int_equal(copy->samples[1].off_ns, 300);
	free(copy);
	end(&s);
}

/* A wait that lasts counts up to now, and once. */
static void test_lasting(void **state)
{
	struct profile_accounting a = {0};
	struct stores s;
	struct wire_wait *e;

	begin(&s);
	e = put(0, 20, 100);
	e->since = 5000;
	assert_int_equal(wait_store__read(&s.waits, &s.samples, &tables, 5030), 0);
	assert_int_equal(outside_ns(&s), 130);
	assert_int_equal(wait_store__read(&s.waits, &s.samples, &tables, 0), 0);
	assert_int_equal(outside_ns(&s), 130);
	e->since = 0;
	e->ns += 70;
	assert_int_equal(wait_store__read(&s.waits, &s.samples, &tables, 6000), 0);
	assert_int_equal(outside_ns(&s), 170);
	e->since = 7000;
	wait_store__end(&tables, 7005);
	assert_int_equal(wait_store__read(&s.waits, &s.samples, &tables, 9000), 0);
	assert_int_equal(outside_ns(&s), 175);
	counts[3].lost = 2;
	counts[2].shared = 3;
	wait_store__account(&tables, &a);
	assert_int_equal(a.waits, 1);
	assert_int_equal(a.waits_lost, 2);
	assert_int_equal(a.waits_estimated, 3);
	end(&s);
}

static unsigned int resolved;

static int count_resolved(const struct code_place *at, uint32_t *function, void *ctx)
{
	resolved++;
	return resolve(at, function, ctx);
}

/* All places are named after a few turns, and add up as if they had been read at once. */
static void test_named_beforehand(void **state)
{
	struct stores s;
	struct wire_wait *first, *last;
	unsigned int named;

	begin(&s);
	s.samples.resolve = count_resolved;
	resolved = 0;
	first = put(0, 20, 100);
	last = first + PLACES - 1;
	*last = *first; /* a place of the same name */
	for (int i = 0; i < PLACES; i++)
		assert_int_equal(wait_store__name_some(&s.waits, &s.samples, &tables), 0);
	named = resolved;
	assert_true(named > 0);
	assert_int_equal(outside_ns(&s), 200);
	first->ns += 30;
	last->ns += 5;
	/* Not before the next reading: they are in the tree already. */
	for (int i = 0; i < PLACES; i++)
		assert_int_equal(wait_store__name_some(&s.waits, &s.samples, &tables), 0);
	assert_int_equal(outside_ns(&s), 200);
	assert_int_equal(wait_store__read(&s.waits, &s.samples, &tables, 0), 0);
	assert_int_equal(outside_ns(&s), 235);
	assert_int_equal(resolved, named);
	end(&s);
}

#define LONG_NS WIRE_WAIT_LONG_NS

/* Where not each wait is looked at, one that lasts counts as soon as it is long. */
static void test_lasting_and_shared(void **state)
{
	struct stores s;
	struct wire_wait *e;

	begin(&s);
	tables.info.habits_cap = WIRE_WAIT_HABITS;
	e = put(0, 20, 100);
	e->since = 5000;
	assert_int_equal(wait_store__read(&s.waits, &s.samples, &tables, 5030), 0);
	assert_int_equal(outside_ns(&s), 100);
	assert_int_equal(wait_store__read(&s.waits, &s.samples, &tables, 5030 + LONG_NS), 0);
	assert_int_equal(outside_ns(&s), 130 + LONG_NS);
	e->since = 0;
	e->ns += 70 + LONG_NS;
	assert_int_equal(wait_store__read(&s.waits, &s.samples, &tables, 6000 + LONG_NS), 0);
	assert_int_equal(outside_ns(&s), 170 + LONG_NS);
	e->since = 7000 + LONG_NS;
	wait_store__end(&tables, 7005 + LONG_NS);
	assert_int_equal(wait_store__read(&s.waits, &s.samples, &tables, 9000 + LONG_NS), 0);
	assert_int_equal(outside_ns(&s), 170 + LONG_NS);
	e->since = 7000 + LONG_NS;
	wait_store__end(&tables, 7005 + 2 * LONG_NS);
	assert_int_equal(wait_store__read(&s.waits, &s.samples, &tables, 9000 + 2 * LONG_NS), 0);
	assert_int_equal(outside_ns(&s), 175 + 2 * LONG_NS);
	tables.info.habits_cap = 0;
	end(&s);
}

/* The time that a woken thread waited for a CPU is a leaf of its own, beside the lock's. */
static void test_reasons(void **state)
{
	struct stack_copy *copy;
	struct stores s;
	struct wire_wait *e;

	begin(&s);
	e = put(0, 20, 100);
	e->reason = WIRE_REASON_LOCK;
	e->lock = 0x60;
	e->ready_ns = 30;
	e->since = 5000;
	assert_int_equal(wait_store__read(&s.waits, &s.samples, &tables, 5050), 0);
	e->since = 0;
	e->ns += 50;
	e->ready_ns += 20; /* of which 10 were taken for sleep when it lasted */
	assert_int_equal(wait_store__read(&s.waits, &s.samples, &tables, 6000), 0);
	assert_int_equal(sample_store__thread(&s.samples, 0, &copy), 0);
	assert_int_equal(copy->samples_cnt, 2);
	assert_int_equal(copy->nodes[copy->samples[0].node].function, 0x60);
	assert_int_equal(copy->samples[0].off_ns, 120);
	assert_int_equal(copy->nodes[copy->samples[1].node].function, WIRE_REASON_CPU);
	assert_int_equal(copy->samples[1].off_ns, 30);
	free(copy);
	end(&s);
}

/* Waits with different wakers are told apart, and add up to no more than all waits. */
static void test_wakers(void **state)
{
	struct stack_copy *copy;
	struct stores s;
	struct wire_wait *e;

	begin(&s);
	e = put(0, 20, 100);
	put(0, 30, 0)->reason = WIRE_REASON_WAKER;
	put(0, 31, 0)->reason = WIRE_REASON_WAKER;
	e->wakers[0] = (struct wire_waker){.place = 2, .ns = 60};
	e->wakers[1] = (struct wire_waker){.place = 3, .ns = 10};
	assert_int_equal(wait_store__read(&s.waits, &s.samples, &tables, 0), 0);
	e->ns += 50;
	e->wakers[1].ns += 70;
	assert_int_equal(wait_store__read(&s.waits, &s.samples, &tables, 0), 0);
	assert_int_equal(sample_store__thread(&s.samples, 0, &copy), 0);
	assert_int_equal(copy->samples_cnt, 3);
	assert_int_equal(copy->nodes[copy->samples[0].node].function, WIRE_REASON_TIMER);
	assert_int_equal(copy->samples[0].off_ns, 30);
	assert_int_equal(copy->nodes[copy->samples[1].node].function, BY + 30);
	assert_int_equal(copy->samples[1].off_ns, 60);
	assert_int_equal(copy->nodes[copy->samples[2].node].function, BY + 31);
	assert_int_equal(copy->samples[2].off_ns, 60);
	free(copy);
	end(&s);
}

static void poll(struct stores *s)
{
	assert_int_equal(wait_store__poll(&s->waits, &s->samples, &tables), 0);
}

/* Once half of the places are in use, idle ones are left, and freed when nobody waits there. */
static void test_room(void **state)
{
	struct stores s;
	struct wire_wait *idle, *busy;

	begin(&s);
	idle = put(0, 20, 100);
	busy = put(0, 20, 100);
	for (int i = 0; i < 3; i++)
		poll(&s);
	assert_int_equal(idle->state, WIRE_WAIT_READY);
	put(6, 21, 1)->since = 9;
	for (int i = 0; i < 2; i++, busy->cnt++)
		poll(&s);
	assert_int_equal(idle->state, WIRE_WAIT_LEFT);
	assert_int_equal(busy->state, WIRE_WAIT_READY);
	idle->since = 7; /* the thread was about to */
	poll(&s);
	assert_int_equal(idle->state, WIRE_WAIT_LEFT);
	idle->since = 0;
	idle->ns += 11;
	poll(&s);
	assert_int_equal(idle->hash, 0);
	assert_int_equal(outside_ns(&s), 211); /* all are read before any is freed */
	assert_int_equal(waits[2].state, WIRE_WAIT_READY);
	put(0, 20, 5);
	assert_int_equal(wait_store__read(&s.waits, &s.samples, &tables, 0), 0);
	assert_int_equal(outside_ns(&s), 216);
	wait_store__clear(&s.waits, &tables);
	assert_int_equal(waits[1].hash, 0);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_below_a_call),
		cmocka_unit_test(test_lasting),
		cmocka_unit_test(test_named_beforehand),
		cmocka_unit_test(test_lasting_and_shared),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_wakers),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
