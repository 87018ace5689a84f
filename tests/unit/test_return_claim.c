// SPDX-License-Identifier: GPL-2.0-or-later
/* Claims of runs to have return probes in a file. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "planner/return_claim.h"

struct file {
	char path[32];
	int ours, theirs;
};

static int open_twice(void **state)
{
	static struct file f;

	strcpy(f.path, "/tmp/claim-XXXXXX");
	f.ours = mkstemp(f.path);
	assert_true(f.ours >= 0);
	close(f.ours);
	f.ours = open(f.path, O_RDONLY | O_CLOEXEC);
	f.theirs = open(f.path, O_RDONLY | O_CLOEXEC);
	assert_true(f.ours >= 0 && f.theirs >= 0);
	*state = &f;
	return 0;
}

static int remove_file(void **state)
{
	const struct file *f = *state;

	unlink(f->path);
	return 0;
}

static void one_at_a_time(void **state)
{
	const struct file *f = *state;

	assert_true(return_claim__is_free(f->theirs));
	assert_true(return_claim__take(f->ours));
	assert_true(return_claim__take(f->ours));
	assert_false(return_claim__is_free(f->theirs));
	assert_false(return_claim__take(f->theirs));
	/* who was refused has left nothing behind */
	assert_true(return_claim__is_free(f->ours));
	return_claim__give_back(f->ours);
	assert_true(return_claim__take(f->theirs));
	assert_false(return_claim__take(f->ours));
}

/* The process that holds the links has a copy of the descriptor. */
static void goes_with_the_last_descriptor(void **state)
{
	const struct file *f = *state;
	int copy = dup(f->ours), again;

	assert_true(return_claim__take(f->ours));
	close(f->ours);
	assert_false(return_claim__take(f->theirs));
	/* another opening of the file does not matter */
	again = open(f->path, O_RDONLY | O_CLOEXEC);
	assert_true(again >= 0);
	close(again);
	assert_false(return_claim__take(f->theirs));
	close(copy);
	assert_true(return_claim__take(f->theirs));
}

static void locked_to_be_written(void **state)
{
	const struct file *f = *state;
	struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int writer = open(f->path, O_RDWR | O_CLOEXEC);

	assert_int_equal(fcntl(writer, F_OFD_SETLK, &all), 0);
	assert_false(return_claim__take(f->ours));
	close(writer);
	assert_true(return_claim__take(f->ours));
}

static void without_locks(void **state)
{
	(void)state;
	assert_true(return_claim__take(-1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_at_a_time, open_twice, remove_file),
		cmocka_unit_test_setup_teardown(goes_with_the_last_descriptor, open_twice,
						remove_file),
		cmocka_unit_test_setup_teardown(locked_to_be_written, open_twice, remove_file),
		cmocka_unit_test(without_locks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
