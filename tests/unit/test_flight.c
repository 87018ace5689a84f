// SPDX-License-Identifier: GPL-2.0-or-later
/* Recordings that are kept below a size. */
#include "calls_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/calls/block_writer.h"
#include "record/calls/flight.h"
#include "util/array.h"

#define LIMIT	   100000
#define CALLS	   100000 /* some four times of what fits */
#define CALLSTACKS 5

static char folder[] = "/tmp/flight.XXXXXX";
static char path[64], other[64], old[64]; /* `old`: what a recording has replaced */

static int make_folder(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/file", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	snprintf(old, sizeof(old), "%s/file.old", folder);
	/* Messages about refused files, and full ones, are not shown. */
	return !freopen("/dev/null", "w", stderr);
}

static int remove_folder(void **state)
{
	unlink(path);
	unlink(other);
	unlink(old);
	return rmdir(folder);
}

static off_t size_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(name, &st), 0);
	return st.st_size;
}

/* The number of files in the folder, but for a replaced recording. */
static size_t files(void)
{
	DIR *dir = opendir(folder);
	size_t cnt = 0;

	assert_non_null(dir);
	while (readdir(dir))
		cnt++;
	closedir(dir);
	return cnt - 2 - !access(old, F_OK);
}

static void end(struct writer *w)
{
	assert_int_equal(writer__end(w, &(struct run_end){"done"}), 0);
	writer__free(w);
}

/* Writes all, the file being below the limit all the time. */
static void record(struct callstack_calls *callstacks, bool append, bool profiles)
{
	struct writer *w = begin_calls(path, append, LIMIT, CALLSTACKS);
	struct profile *p = calls_profile();

	for (int round = 0; callstacks[0].written < callstacks[0].cnt; round++) {
		for (uint32_t i = 0; i < CALLSTACKS; i++)
			write_some(w, i + 1, &callstacks[i], 200 + 100 * i);
		if (round % 10 == 0) {
			assert_int_equal(writer__flush(w), 0);
			if (profiles)
				assert_int_equal(writer__profile(w, p), 0);
		}
		assert_true(size_of(path) <= LIMIT);
	}
	end(w);
	assert_true(size_of(path) <= LIMIT);
	assert_int_equal(files(), 1);
	profile__free(p);
}

static void make_callstacks(struct callstack_calls *callstacks)
{
	for (uint32_t i = 0; i < CALLSTACKS; i++)
		callstacks[i] = make_calls(i + 1, CALLS / 5 * (i + 1) / 3, i);
}

/* All that ended later than what was forgotten is there, and nothing has got lost without being
 * counted. */
static void expect_newest(const struct callstack_calls *callstacks, size_t run)
{
	uint64_t written = 0, newer = 0, held;
	struct recorded r;

	assert_true(load_calls(path, run, &r));
	assert_non_null(r.profile->timeline);
	held = count_calls(r.profile);
	assert_int_equal(r.calls, held);
	for (uint32_t i = 0; i < CALLSTACKS; i++) {
		uint32_t thread = thread_of(r.profile, i + 1);
		struct timeline_call call;

		written += callstacks[i].written;
		for (size_t c = 0; c < callstacks[i].written; c++)
			newer += callstacks[i].calls[c].leave_ns > r.forgotten.until_ns;
		assert_int_equal(r.profile->timeline->rewind(r.profile->timeline, thread), 0);
		while (r.profile->timeline->next(r.profile->timeline, thread, &call) > 0)
			newer -= call.leave_ns > r.forgotten.until_ns;
	}
	assert_int_equal(newer, 0);
	assert_int_equal(held + r.forgotten.calls, written);
	assert_int_equal(r.profile->timeline->lost, 0);
	recorded__free(&r);
}

static void free_callstacks(struct callstack_calls *callstacks)
{
	for (uint32_t i = 0; i < CALLSTACKS; i++)
		free(callstacks[i].calls);
}

static void test_newest_are_kept(void **state)
{
	struct callstack_calls callstacks[CALLSTACKS];
	struct recorded r;

	make_callstacks(callstacks);
	record(callstacks, false, true);
	expect_newest(callstacks, 0);
	assert_true(load_calls(path, 0, &r));
	assert_string_equal(r.end.reason, "done");
	assert_true(r.forgotten.calls > CALLS / 2 && r.calls > CALLS / 20);
	recorded__free(&r);
	free_callstacks(callstacks);
}

/* A run is kept that was in the file before, with its calls. */
static void test_behind_another_run(void **state)
{
	struct callstack_calls callstacks[CALLSTACKS], before = make_calls(1, 5000, 9);
	struct recorded r;
	struct writer *w;

	/* Without a limit, what is there would be kept beside it. */
	assert_int_equal(unlink(path), 0);
	w = begin_calls(path, false, 0, 1);

	write_some(w, 1, &before, 5000);
	end(w);
	make_callstacks(callstacks);
	record(callstacks, true, false);
	expect_newest(callstacks, 1);
	assert_true(load_calls(path, 0, &r));
	expect_calls(r.profile, 0, before.calls, 5000);
	assert_int_equal(r.forgotten.calls, 0);
	recorded__free(&r);
	free(before.calls);
	free_callstacks(callstacks);
}

/* A run that never ends is as good as the one of a profiler that is killed, at any time. */
static void test_never_ends(void **state)
{
	struct callstack_calls callstacks[CALLSTACKS];
	struct writer *w;

	make_callstacks(callstacks);
	w = begin_calls(path, false, LIMIT, CALLSTACKS);
	for (int round = 0; round < 40; round++) {
		for (uint32_t i = 0; i < CALLSTACKS; i++)
			write_some(w, i + 1, &callstacks[i], 300);
		assert_int_equal(writer__flush(w), 0);
		expect_newest(callstacks, 0);
	}
	writer__free(w);
	free_callstacks(callstacks);
}

static void test_no_room_for_calls(void **state)
{
	struct callstack_calls callstack = make_calls(1, CALLS, 1);
	struct writer *w = begin_calls(path, false, 1000, 1);
	struct profile *p = calls_profile();
	struct recorded r;
	off_t one;

	one = size_of(path);
	for (int i = 0; i < 50; i++) {
		write_some(w, 1, &callstack, CALLS / 50);
		assert_int_equal(writer__flush(w), 0);
		assert_int_equal(writer__profile(w, p), 0);
		assert_true(size_of(path) <= 2000 + 2 * one);
	}
	end(w);
	assert_true(load_calls(path, 0, &r));
	assert_int_equal(r.calls, 0);
	assert_int_equal(r.forgotten.calls, CALLS);
	assert_int_equal(r.forgotten.until_ns, callstack.calls[CALLS - 1].leave_ns);
	assert_non_null(r.profile->timeline);
	recorded__free(&r);
	profile__free(p);
	free(callstack.calls);
}

static void put_packed(struct flight *f, struct block_writer *w, enum block_type type, size_t len,
		       uint64_t calls)
{
	const struct flight_entry e = {.type = type, .calls = calls, .until_ns = 1000 * calls};

	assert_int_equal(ARRAY_RESERVE_MORE(&w->packed.data, 0, len, &w->packed.cap), 0);
	memset(w->packed.data, type, len);
	w->packed.len = len;
	assert_int_equal(flight__put(f, w, &e), 0);
}

/* Notes on forgotten calls make the file too large themselves, so that more calls are forgotten:
 * the rewritten file says so, and nothing that is older comes behind that. */
static void test_gap_that_makes_room(void **state)
{
	struct block_writer w;
	struct flight *f;
	off_t before;

	assert_int_equal(block_writer__init(&w, path, open(path, O_CREAT | O_RDWR | O_TRUNC, 0600)),
			 0);
	assert_int_equal(flight__open(&w, LIMIT, &f), 0);
	flight__fix(f, &w);
	for (int i = 0; i < 10; i++)
		put_packed(f, &w, BLOCK_CALLS, LIMIT / 10 - 10, 1);
	flight__forget(f, 1, 1);
	assert_true(flight__unsaid(f));
	before = size_of(path);
	put_packed(f, &w, BLOCK_FORGOTTEN, 200, 0);
	assert_true(flight__gap(f)->calls > 1);
	assert_false(flight__unsaid(f));
	assert_true(size_of(path) < before);
	/* Calls only, and what the rewritten file begins with. */
	assert_true(size_of(path) % (LIMIT / 10 - 10) < 150);
	flight__forget(f, 1, 1);
	put_packed(f, &w, BLOCK_FORGOTTEN, 200, 0);
	assert_false(flight__unsaid(f));
	flight__free(f);
	block_writer__fini(&w);
}

static void test_mode_stays_and_links_are_followed_once(void **state)
{
	struct callstack_calls callstack = make_calls(1, CALLS, 1);
	struct stat before, after, link;
	struct writer *w;
	int held;

	unlink(path);
	held = open(other, O_CREAT | O_WRONLY, 0600); /* nobody else gets its number */
	assert_true(held >= 0);
	assert_int_equal(chmod(other, 0624), 0);
	assert_int_equal(symlink("other", path), 0);
	assert_int_equal(stat(other, &before), 0);
	w = begin_calls(path, false, LIMIT, 1);
	write_some(w, 1, &callstack, CALLS);
	end(w);
	assert_int_equal(stat(other, &after), 0);
	assert_int_equal(lstat(path, &link), 0);
	assert_true(S_ISLNK(link.st_mode));
	assert_true(before.st_ino != after.st_ino);
	assert_int_equal(after.st_mode & 07777, 0624);
	assert_true(after.st_size <= LIMIT);
	assert_int_equal(unlink(path), 0);
	close(held);
	free(callstack.calls);
}

/* Somebody has put another file in its place. */
static void test_strangers_file_stays(void **state)
{
	struct callstack_calls callstack = make_calls(1, CALLS, 1);
	struct writer *w = begin_calls(path, false, LIMIT, 1);

	assert_int_equal(rename(path, other), 0);
	assert_int_equal(symlink("elsewhere", path), 0);
	assert_int_equal(writer__calls(w, 1, callstack.calls, CALLS), -ESTALE);
	writer__free(w);
	assert_int_equal(files(), 2);
	assert_int_equal(unlink(path), 0);
	free(callstack.calls);
}

/* Whether there is to be a limit or not. */
static void test_removed_file(void **state)
{
	struct callstack_calls callstack = make_calls(1, CALLS, 1);
	struct writer *w = begin_calls(path, false, LIMIT, 1);

	unlink(other);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(writer__calls(w, 1, callstack.calls, CALLS), -ENOENT);
	writer__free(w);
	w = begin_calls(path, false, 0, 1);
	assert_int_equal(unlink(path), 0);
	write_some(w, 1, &callstack, CALLS);
	assert_int_equal(writer__end(w, &(struct run_end){"done"}), -ESTALE);
	writer__free(w);
	assert_int_equal(files(), 0);
	/* A file under another name is as good. */
	w = begin_calls(path, false, 0, 1);
	assert_int_equal(rename(path, other), 0);
	end(w);
	assert_int_equal(files(), 1);
	free(callstack.calls);
}

/* A file that is being written is refused to a second writer, also once it is another file. */
static void test_two_writers(void **state)
{
	struct callstack_calls callstack = make_calls(1, CALLS, 1);
	struct writer *w = begin_calls(path, false, LIMIT, 1), *second;

	for (int round = 0; round < 2; round++) {
		assert_int_equal(writer__open(path, round, &second), -EBUSY);
		write_some(w, 1, &callstack, CALLS);
	}
	end(w);
	assert_int_equal(writer__open(path, true, &second), 0);
	writer__free(second);
	free(callstack.calls);
}

static void test_nobody_waits_for_a_reader(void **state)
{
	struct writer *w;

	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(writer__open(path, false, &w), -ENXIO);
	assert_int_equal(unlink(path), 0);
}

static void refuse(const char *name)
{
	struct writer *w;

	assert_int_equal(writer__open(name, false, &w), 0);
	assert_true(writer__limit(w, LIMIT) < 0);
	writer__free(w);
}

static void test_what_cannot_be_replaced(void **state)
{
	int memory = memfd_create("recording", MFD_CLOEXEC), pipes[2];
	char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", memory);
	refuse(name);
	assert_int_equal(pipe(pipes), 0);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", pipes[1]);
	refuse(name);
	refuse("/dev/null");
	close(memory);
	close(pipes[0]);
	close(pipes[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newest_are_kept),
		cmocka_unit_test(test_behind_another_run),
		cmocka_unit_test(test_never_ends),
		cmocka_unit_test(test_no_room_for_calls),
		cmocka_unit_test(test_gap_that_makes_room),
		cmocka_unit_test(test_mode_stays_and_links_are_followed_once),
		cmocka_unit_test(test_strangers_file_stays),
		cmocka_unit_test(test_two_writers),
		cmocka_unit_test(test_removed_file),
		cmocka_unit_test(test_nobody_waits_for_a_reader),
		cmocka_unit_test(test_what_cannot_be_replaced),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
