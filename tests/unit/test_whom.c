// SPDX-License-Identifier: GPL-2.0-or-later
/* Control groups, units and containers in a made-up system; and who belongs by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "target/cgroups.h"
#include "target/containers.h"
#include "target/whom.h"

#define ID_A "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID_B "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define ID_C "00aa11bb22cc33dd44ee55ff66778899aabbccddeeff00112233445566778899"

static char root[] = "/tmp/test_whom-XXXXXX";

static const struct {
	const char *path, *text; /* NULL: a folder */
} files[] = {
	{"/proc/self/mountinfo",
	 "24 1 0:22 / / rw - ext4 /dev/sda rw\n"
	 "30 24 0:26 / /sys/fs/cgroup/memory rw,nosuid shared:9 - cgroup cgroup rw,memory\n"
	 "31 24 0:27 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n"
	 "32 24 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"},
	{"/sys/fs/cgroup/memory/docker/" ID_A, NULL},
	{"/sys/fs/cgroup/memory/old/inner", NULL},
	{"/sys/fs/cgroup/systemd/system.slice/cron.service", NULL},
	{"/sys/fs/cgroup/unified/system.slice/nginx.service/worker", NULL},
	{"/sys/fs/cgroup/unified/system.slice/docker-" ID_A ".scope", NULL},
	{"/sys/fs/cgroup/unified/machine.slice/libpod-" ID_B ".scope/container", NULL},
	{"/sys/fs/cgroup/unified/machine.slice/libpod-conmon-" ID_B ".scope", NULL},
	{"/sys/fs/cgroup/unified/lxc.payload.box", NULL},
	{"/sys/fs/cgroup/unified/default/" ID_C, NULL},
	{"/var/lib/docker/containers/" ID_A "/config.v2.json",
	 "{\"ID\":\"" ID_A "\",\"Name\":\"/web\"}"},
	{"/var/lib/containers/storage/overlay-containers/containers.json",
	 "[{\"id\":\"" ID_C "\",\"names\":[\"other\"]},{\"id\":\"" ID_B "\",\"names\":[\"db\"]}]"},
	{"/var/lib/nerdctl/1935db59/names/default/shop", ID_C},
};

static int setup(void **state)
{
	char command[4096];

	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		FILE *f;

		snprintf(command, sizeof(command),
			 files[i].text ? "mkdir -p $(dirname '%s%s')" : "mkdir -p '%s%s'", root,
			 files[i].path);
		assert_int_equal(system(command), 0);
		if (!files[i].text)
			continue;
		snprintf(command, sizeof(command), "%s%s", root, files[i].path);
		f = fopen(command, "w");
		assert_non_null(f);
		fputs(files[i].text, f);
		fclose(f);
	}
	return 0;
}

static int teardown(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

/* The groups' paths, comma between them, those of v1 with their hierarchy. */
static void expect(enum cgroup_by by, const char *name, const char *expected)
{
	struct cgroups found = {0};
	char said[1024] = "";

	assert_int_equal(cgroups__find(root, by, name, &found), 0);
	for (size_t i = 0; i < found.cnt; i++) {
		size_t len = strlen(said);

		snprintf(said + len, sizeof(said) - len, "%s%s%s%s", i ? "," : "",
			 found.items[i].hierarchy, *found.items[i].hierarchy ? ":" : "",
			 found.items[i].path);
		assert_int_equal(!found.items[i].id, *found.items[i].hierarchy != 0);
	}
	assert_string_equal(said, expected);
	cgroups__clear(&found);
}

static void paths(void **state)
{
	const char *nginx = "/system.slice/nginx.service";

	expect(CGROUP_PATH, "/sys/fs/cgroup/unified/system.slice/nginx.service", nginx);
	expect(CGROUP_PATH, "/sys/fs/cgroup/unified/system.slice/nginx.service/", nginx);
	expect(CGROUP_PATH, "unified/system.slice/nginx.service", nginx);
	expect(CGROUP_PATH, nginx, nginx);
	expect(CGROUP_PATH, "memory/old", "memory:/old");
	expect(CGROUP_PATH, "/old/inner", "memory:/old/inner");
	expect(CGROUP_PATH, "no/such", "");
	expect(CGROUP_PATH, "/sys/fs/cgroup", "");
}

static void units(void **state)
{
	expect(CGROUP_UNIT, "nginx", "/system.slice/nginx.service");
	expect(CGROUP_UNIT, "nginx.service", "/system.slice/nginx.service");
	expect(CGROUP_UNIT, "system.slice", "/system.slice");
	expect(CGROUP_UNIT, "cron", "name=systemd:/system.slice/cron.service");
	expect(CGROUP_UNIT, "ngin", "");
	expect(CGROUP_UNIT, "nginx.scope", "");
}

static void containers(void **state)
{
	const char *a = "/system.slice/docker-" ID_A ".scope";
	const char *b = "/machine.slice/libpod-" ID_B ".scope", *c = "/default/" ID_C;

	expect(CGROUP_CONTAINER, ID_A, a);
	expect(CGROUP_CONTAINER, "0123456789ab", a);
	expect(CGROUP_CONTAINER, "web", a);
	expect(CGROUP_CONTAINER, "db", b);
	expect(CGROUP_CONTAINER, "shop", c);
	expect(CGROUP_CONTAINER, ID_C, c);
	expect(CGROUP_CONTAINER, "box", "/lxc.payload.box");
	expect(CGROUP_CONTAINER, "we", "");
	expect(CGROUP_CONTAINER, "0123", ""); /* too short to be one's alone */
}

static void memberships(void **state)
{
	struct cgroups c = {0};

	cgroups__find(root, CGROUP_UNIT, "nginx", &c);
	assert_true(cgroups__have(&c, "4:memory:/\n0::/system.slice/nginx.service\n"));
	assert_true(cgroups__have(&c, "0::/system.slice/nginx.service/worker\n"));
	assert_false(cgroups__have(&c, "0::/system.slice/nginx.service2\n"));
	assert_false(cgroups__have(&c, "4:memory:/system.slice/nginx.service\n0::/\n"));
	assert_false(cgroups__have(&c, ""));
	cgroups__clear(&c);
}

static void check_name(const char *name, bool expected)
{
	char *names[] = {(char *)name};
	const struct whom_spec spec = {.names = names, .names_cnt = 1};
	struct whom *w;

	assert_int_equal(whom__new(&spec, &w), 0);
	assert_int_equal(whom__has(w, getppid()), expected);
	/* A profiler does not trace itself: this is the program that asks. */
	assert_false(whom__has(w, getpid()));
	whom__free(w);
}

/* The parent is whatever runs the test. */
static void names(void **state)
{
	char path[64], name[32];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", getppid());
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(name, sizeof(name), f));
	fclose(f);
	name[strcspn(name, "\n")] = '\0';
	check_name(name, true);
	check_name("*", true);
	check_name("no-such-name", false);
}

static void what_the_kernel_asks(void **state)
{
	char *texts[] = {(char *)"nginx", (char *)"php*", (char *)"systemd-journald"};
	struct whom_spec spec = {.names = texts, .names_cnt = 1};
	const struct whom_begins *b;
	struct whom *w;

	assert_int_equal(whom__new(&spec, &w), 0);
	b = whom__begins(w);
	assert_true(b->certain && b->names_cnt == 1 && b->names[0].whole && b->names[0].len == 5);
	whom__free(w);
	spec.names_cnt = 3;
	assert_int_equal(whom__new(&spec, &w), 0);
	b = whom__begins(w);
	assert_false(b->certain);
	assert_true(b->names[1].len == 3 && !b->names[1].whole);
	assert_true(b->names[2].len == 15 && !b->names[2].whole);
	whom__free(w);
}

/* A number that does not fit is nobody's: cut to 32 bits, 4294967296 would be root's. */
static void users(void **state)
{
	static const struct {
		const char *user;
		int err;
		uid_t uid;
	} cases[] = {
		{"root", 0, 0},
		{"0", 0, 0},
		{"33", 0, 33},
		{"4294967294", 0, 4294967294u},
		{"4294967295", -ERANGE, 0}, /* (uid_t)-1 */
		{"4294967296", -ERANGE, 0},
		{"18446744073709551616", -ERANGE, 0},
		{"99999999999999999999999999", -ERANGE, 0},
		{"-1", -ESRCH, 0},
		{"+1", -ESRCH, 0},
		{"0x10", -ESRCH, 0},
		{"", -ESRCH, 0},
		{"no-such-user", -ESRCH, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uid_t uid = 0;

		assert_int_equal(whom__user(cases[i].user, &uid), cases[i].err);
		assert_int_equal(uid, cases[i].uid);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths),      cmocka_unit_test(units),
		cmocka_unit_test(containers), cmocka_unit_test(memberships),
		cmocka_unit_test(names),      cmocka_unit_test(what_the_kernel_asks),
		cmocka_unit_test(users),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
