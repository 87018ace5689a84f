// SPDX-License-Identifier: GPL-2.0-or-later
/* The command, with recordings that say less of their runs than ours do. */
#include "fixture.h"

#include <sys/mman.h>
#include <unistd.h>

#include "cli/options.h"
#include "cmd/cmd.h"
#include "record/format/run_info.h"
#include "record/writer.h"

static void record(const char *path, const struct run_info *run_info)
{
	struct profile *p = fixture_small();
	struct writer *w;

	assert_int_equal(writer__open(path, true, &w), 0);
	assert_int_equal(writer__begin(w, run_info), 0);
	assert_int_equal(writer__profile(w, p), 0);
	writer__free(w);
	profile__free(p);
}

static void test_unknown_machines(void **state)
{
	static const struct run_info known = {.host = "host", .kernel = "6.18"}, unknown;
	int file = memfd_create("recording", MFD_CLOEXEC);
	struct options o = {.verb = VERB_DIFF, .sink = &sink_tree, .output = "/dev/null"};
	char path[64];

	assert_true(file >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	record(path, &unknown);
	record(path, &unknown);
	record(path, &known);
	o.inputs[0] = path;
	o.inputs_cnt = 1;
	assert_int_equal(cmd_diff(&o), 0);
	o.run = 2;
	assert_int_equal(cmd_diff(&o), 0);
	o.run = 1;
	assert_int_equal(cmd_diff(&o), 1);
	close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_unknown_machines)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
