// SPDX-License-Identifier: GPL-2.0-or-later
/* Single waits in order, by thread; and in recordings. */
#include "calls_fixture.h"

#include <sys/mman.h>
#include <unistd.h>

#include "calls/profile.h"
#include "record/calls/call_block.h"
#include "record/format/encode.h"
#include "record/format/format.h"
#include "timeline/rwlocks.h"
#include "timeline/waits.h"

#define WAITS 10000 /* more than a block holds */

static void add(struct waits *w, uint64_t begin_ns, uint64_t took_ns, pid_t tid)
{
	const struct recorded_wait wait = {
		.begin_ns = begin_ns, .took_ns = took_ns, .at = {.pid = 5, .tid = tid}};

	assert_int_equal(waits__add(w, &wait, 0), 0);
}

static struct waits *make(void)
{
	struct waits *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	add(w, 300, 50, 6);
	add(w, 100, 250, 6); /* until into the next one */
	add(w, 120, 10, 7);
	assert_int_equal(waits__settle(w, NULL, 0), 0);
	return w;
}

/* Waits for an rwlock at 0x5000: for which word, for which value, and as reader or writer. */
static void test_roles(void **state)
{
	static const struct {
		const char *word;
		uint32_t offset, kind, told;
	} rows[] = {
		{"__readers", 0, WAIT_OBJECT_FUTEX, WAIT_OBJECT_READ},
		{"__wrphase_futex", 8, WAIT_OBJECT_FUTEX, WAIT_OBJECT_READ},
		{"__wrphase_futex", 8, WAIT_OBJECT_LOCK, WAIT_OBJECT_WRITE},
		{"__writers_futex", 12, WAIT_OBJECT_FUTEX, WAIT_OBJECT_WRITE},
		{"?__wrphase_futex", 8, WAIT_OBJECT_FUTEX, WAIT_OBJECT_READ},
		{"?__writers_futex", 12, WAIT_OBJECT_FUTEX, WAIT_OBJECT_WRITE},
		/* A mutex in a structure as large as an rwlock; a mutex; a file. */
		{"?__wrphase_futex", 0, WAIT_OBJECT_LOCK, WAIT_OBJECT_LOCK},
		{"__lock", 0, WAIT_OBJECT_LOCK, WAIT_OBJECT_LOCK},
		{"", 0, WAIT_OBJECT_FUTEX, WAIT_OBJECT_FUTEX},
		{"__writers_futex", 0, WAIT_OBJECT_FILE, WAIT_OBJECT_FILE},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct recorded_wait w = {.kind = rows[i].kind, .object = 0x5000 + rows[i].offset};

		rwlock__tell(&w, rows[i].word);
		assert_int_equal(w.kind, rows[i].told);
		assert_int_equal(w.object, 0x5000);
	}
	assert_int_equal(rwlock__role("pthread_rwlock_rdlock"), WAIT_OBJECT_READ);
	assert_int_equal(rwlock__role("__pthread_rwlock_clockrdlock64"), WAIT_OBJECT_READ);
	assert_int_equal(rwlock__role("___pthread_rwlock_wrlock"), WAIT_OBJECT_WRITE);
	assert_int_equal(rwlock__role("pthread_rwlock_timedwrlock"), WAIT_OBJECT_WRITE);
	assert_int_equal(rwlock__role("pthread_rwlock_unlock"), WAIT_OBJECT_NONE);
	assert_int_equal(rwlock__role("my_rdlock"), WAIT_OBJECT_NONE);
	assert_string_equal(wait_object__role(WAIT_OBJECT_READ), "reader");
	assert_string_equal(wait_object__role(WAIT_OBJECT_WRITE), "writer");
	assert_null(wait_object__role(WAIT_OBJECT_LOCK));
}

static void test_order(void **state)
{
	struct waits *w = make();
	const struct wait_party *party = waits__party(w, 5, 6);

	assert_non_null(party);
	assert_int_equal(party->cnt, 2);
	assert_null(waits__before(w, party, 100));
	assert_int_equal(waits__before(w, party, 101)->begin_ns, 100);
	assert_int_equal(waits__before(w, party, 300)->end_ns, 300);
	assert_int_equal(waits__before(w, party, UINT64_MAX)->end_ns, 350);
	assert_null(waits__party(w, 5, 8));
	assert_null(waits__party(w, 6, 6));
	waits__free(w);
}

static void test_cut(void **state)
{
	struct waits *w = make();
	const struct wait_party *party;

	waits__cut(w, 125, 320);
	assert_int_equal(w->cnt, 3);
	party = waits__party(w, 5, 6);
	assert_int_equal(waits__before(w, party, 1)->end_ns, 175);
	assert_int_equal(waits__before(w, party, 1000)->end_ns, 195);
	waits__cut(w, 180, 1000);
	assert_int_equal(w->cnt, 1);
	assert_int_equal(waits__party(w, 5, 7)->cnt, 0);
	waits__free(w);
}

static void expect_object(uint32_t kind, uint64_t object, const char *name, const char *expected)
{
	char buf[64];

	assert_string_equal(wait_object__text(kind, object, name, buf, sizeof(buf)), expected);
}

static void test_objects(void **state)
{
	const uint8_t peer[8] = {10, 0, 0, 1, 0x1f, 0x90};
	uint64_t object;

	memcpy(&object, peer, sizeof(object));
	expect_object(WAIT_OBJECT_NONE, 7, NULL, "");
	expect_object(WAIT_OBJECT_LOCK, 0x7f10, NULL, "0x7f10");
	expect_object(WAIT_OBJECT_FUTEX, 0x7f10, "items", "items");
	expect_object(WAIT_OBJECT_FILE, 3, NULL, "descriptor 3");
	expect_object(WAIT_OBJECT_PEER, object, NULL, "10.0.0.1:8080");
}

/* The n-th that is recorded. */
static struct recorded_wait wait_of(uint32_t n)
{
	return (struct recorded_wait){
		.begin_ns = 1000000ull - n * 10, /* in any order */
		.took_ns = 9,
		.ready_ns = n % 10,
		.object = 0x1000 + n % 3 * 8,
		.kind = WAIT_OBJECT_LOCK,
		.reason = WAIT_LOCK,
		.call = 203,
		.object_name = n % 3 ? "table_lock" : NULL,
		.at = {100, 101, 1 + n % 2, path_number(1 + n % 2, 0), "reader"},
		.waker = {n % 5 ? 100 : 0, 102, 0, 0, "writer"},
	};
}

static int open_file(char path[64])
{
	int file = memfd_create("recording", MFD_CLOEXEC);

	assert_true(file >= 0);
	snprintf(path, 64, "/proc/self/fd/%d", file);
	return file;
}

static void test_recorded(void **state)
{
	struct callstack_calls calls = make_calls(1, 10, 1);
	char path[64];
	int file = open_file(path);
	struct writer *w = begin_calls(path, false, 0, 2);
	struct recorded r;

	write_some(w, 1, &calls, 10);
	for (uint32_t i = 0; i < WAITS; i++) {
		struct recorded_wait wait = wait_of(i);

		assert_int_equal(writer__waits(w, &wait, 1), 0);
	}
	assert_int_equal(writer__end(w, &(struct run_end){"done"}), 0);
	writer__free(w);
	assert_true(load_calls(path, 0, &r));
	assert_non_null(r.profile->waits);
	assert_int_equal(r.profile->waits->cnt, WAITS);
	assert_int_equal(r.profile->waits->parties_cnt, 2);
	for (uint32_t i = 0; i < WAITS; i++) {
		const struct single_wait *got = &r.profile->waits->all[WAITS - 1 - i];
		struct recorded_wait wait = wait_of(i);

		assert_int_equal(got->begin_ns, wait.begin_ns);
		assert_int_equal(got->end_ns, wait.begin_ns + 9);
		assert_int_equal(got->ready_ns, wait.ready_ns);
		assert_int_equal(got->object, wait.object);
		assert_int_equal(got->thread, thread_of(r.profile, 1 + i % 2) + 1);
		assert_int_equal(got->path, wait.at.path);
		assert_int_equal(!got->waker, !wait.waker.pid);
		assert_true(i % 3 ? !strcmp(got->object_name, "table_lock") : !got->object_name);
	}
	recorded__free(&r);
	free(calls.calls);
	close(file);
}

/* Names may need more room than a block has: then the waits are in several. */
static void test_long_names(void **state)
{
	struct callstack_calls calls = make_calls(1, 10, 1);
	char path[64], names[WAIT_BLOCK_WAITS][300];
	int file = open_file(path);
	struct writer *w = begin_calls(path, false, 0, 2);
	struct recorded r;

	assert_true(sizeof(names) > BLOCK_RAW_MAX);
	write_some(w, 1, &calls, 10);
	for (uint32_t i = 0; i < WAIT_BLOCK_WAITS; i++) {
		struct recorded_wait wait = wait_of(i);

		snprintf(names[i], sizeof(names[i]), "%0299u", i);
		wait.object_name = names[i];
		assert_int_equal(writer__waits(w, &wait, 1), 0);
	}
	assert_int_equal(writer__end(w, &(struct run_end){"done"}), 0);
	writer__free(w);
	assert_true(load_calls(path, 0, &r));
	assert_int_equal(r.profile->waits->cnt, WAIT_BLOCK_WAITS);
	for (uint32_t i = 0; i < WAIT_BLOCK_WAITS; i++)
		assert_string_equal(r.profile->waits->all[WAIT_BLOCK_WAITS - 1 - i].object_name,
				    names[i]);
	recorded__free(&r);
	free(calls.calls);
	close(file);
}

/* A changed block may hold anything, but not more than there is room for. */
static void test_mutations(void **state)
{
	struct recorded_wait waits[50], *got;
	struct bytes content = {0};
	uint32_t seed = 1;
	uint8_t *data;
	size_t cnt;

	for (uint32_t i = 0; i < 50; i++)
		waits[i] = wait_of(i);
	assert_int_equal(encode__waits(waits, 50, &content), 0);
	data = malloc(content.len);
	for (int round = 0; round < 5000; round++) {
		struct memory memory = {.room = 1 << 20};
		struct waits *w = calloc(1, sizeof(*w));

		memcpy(data, content.data, content.len);
		for (int i = 0; i < 3; i++) {
			seed = seed * 1664525 + 1013904223;
			data[(seed >> 8) % content.len] = seed >> 24;
		}
		if (!decode__waits(data, content.len, &memory, &got, &cnt)) {
			for (size_t i = 0; i < cnt; i++)
				assert_int_equal(waits__add(w, &got[i], 0), 0);
			assert_int_equal(waits__settle(w, NULL, 0), 0);
			for (size_t i = 1; i < w->cnt; i++)
				assert_true(w->all[i].party != w->all[i - 1].party ||
					    w->all[i].begin_ns >= w->all[i - 1].end_ns);
			free(got);
		}
		waits__free(w);
		memory__free(&memory);
	}
	free(data);
	free(content.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_roles),	  cmocka_unit_test(test_order),
		cmocka_unit_test(test_cut),	  cmocka_unit_test(test_objects),
		cmocka_unit_test(test_recorded),  cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
