// SPDX-License-Identifier: GPL-2.0-or-later
/* Files that a user may reach; and users whose word a file is. */
#include "elf_fixture.h"

#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "security/reach.h"
#include "security/trust.h"

static const struct reader everyone;

/* Opens `path`, below the fixture's directory if it is not absolute. */
static int try_open(const struct reader *r, const char *path)
{
	char whole[512];
	int fd;

	snprintf(whole, sizeof(whole), "%s/%s", fixture_dir, path);
	fd = reach__open(r, *path == '/' ? path : whole);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void expect(const char *path, int err)
{
	int got = try_open(&everyone, path);

	if (got != err)
		fail_msg("%s: %s, not %s", path, strerror(-got), strerror(-err));
}

static void test_files(void **state)
{
	write_text("plain", "");
	write_text("secret", "");
	sh("chmod 755 . && chmod 644 plain && chmod 640 secret && mkfifo fifo && chmod 644 fifo");
	expect("plain", 0);
	expect(".//./plain", 0);
	expect("secret", -EACCES);
	expect("fifo", -EINVAL);
	expect("nothing", -ENOENT);
	expect("plain/below", -ENOTDIR);
	assert_int_equal(reach__open(&everyone, "plain"), -EINVAL);
	sh("mkdir -p a/b && cp plain a/b && chmod 711 a");
	expect("a/b/plain", 0);
	expect("a/b/../../plain", 0);
	expect("a/b", -EINVAL);
}

/* The file is everyone's, the folder above it is not. */
static void test_folders(void **state)
{
	char path[64];
	int fd;

	sh("mkdir closed open && cp plain closed/f && chmod 644 closed/f && chmod 700 closed");
	sh("ln -s ../closed/f open/link && ln -s ../closed open/to-closed");
	sh("ln -s $PWD/closed/f open/absolute && ln -s ../open/../plain open/good");
	expect("closed/f", -EACCES);
	expect("closed/../plain", 0); /* the folder alone is looked up, nothing in it */
	expect("open/link", -EACCES);
	expect("open/to-closed/f", -EACCES);
	expect("open/absolute", -EACCES);
	expect("open/good", 0);
	/* A descriptor that the kernel would follow whatever lies above. */
	fd = open("closed", O_PATH | O_CLOEXEC);
	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d/f", fd);
	assert_int_equal(access(path, F_OK), 0);
	expect(path, -EACCES);
	snprintf(path, sizeof(path), "/proc/%d/cwd/closed/f", getpid());
	assert_int_equal(access(path, F_OK), 0);
	expect(path, -EACCES);
	close(fd);
}

static void test_links(void **state)
{
	char path[600] = "";

	sh("ln -s loop loop && ln -s . here");
	expect("loop", -ELOOP);
	for (int i = 0; i < 50; i++)
		strcat(path, "here/");
	strcat(path, "plain");
	expect(path, -ELOOP);
	expect(path + strlen(path) - strlen("here/here/plain"), 0);
	strcpy(path, "/");
	for (int i = 0; i < 100; i++)
		strcat(path, "../");
	expect(strcat(path, "nothing"), -ENOENT);
}

/* Owners have their own rights alone, and so has the group. */
static void test_owners(void **state)
{
	const struct reader owner = {.known = true, .uid = getuid(), .gid = getgid() + 1};
	const struct reader group = {.known = true, .uid = getuid() + 1, .gid = getgid()};
	const struct reader other = {.known = true, .uid = getuid() + 1, .gid = getgid() + 1};
	const struct {
		mode_t mode;
		bool owner, group, other;
	} cases[] = {
		{0400, true, false, false},
		{0040, false, true, false},
		{0004, false, false, true},
		{0444, true, true, true},
	};

	write_text("owned", "");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(chmod("owned", cases[i].mode), 0);
		assert_int_equal(try_open(&owner, "owned"), cases[i].owner ? 0 : -EACCES);
		assert_int_equal(try_open(&group, "owned"), cases[i].group ? 0 : -EACCES);
		assert_int_equal(try_open(&other, "owned"), cases[i].other ? 0 : -EACCES);
	}
}

static bool is_roots(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is;

	assert_true(fd >= 0);
	is = trust__is_roots(fd);
	close(fd);
	return is;
}

/* In a child: what root owns on a mount that does not count. Returns its status. */
static int look_at_mounts(void)
{
	int fd;

	if (unshare(CLONE_NEWNS) || mount("", "/", "", MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "open", "ramfs", MS_NOSUID, NULL))
		return 2;
	fd = open("open/f", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || trust__is_roots(fd) || mount("", "open", "", MS_REMOUNT | MS_BIND, NULL) ||
	    !trust__is_roots(fd))
		return 3;
	/* In no namespace of ours. */
	return umount2("open", MNT_DETACH) || trust__is_roots(fd) ? 4 : 0;
}

static void test_trust(void **state)
{
	int status = 0;
	pid_t pid;

	write_text("word", "");
	assert_int_equal(chmod("word", 0664), 0);
	assert_false(is_roots("word"));
	assert_int_equal(chmod("word", 0646), 0);
	assert_false(is_roots("word"));
	assert_int_equal(chmod("word", 0755), 0);
	assert_false(is_roots("/dev/null"));
	if (geteuid()) {
		assert_false(is_roots("word"));
		return;
	}
	assert_int_equal(chown("word", 1, 0), 0);
	assert_false(is_roots("word"));
	pid = fork();
	if (!pid)
		_exit(look_at_mounts());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files), cmocka_unit_test(test_folders),
		cmocka_unit_test(test_links), cmocka_unit_test(test_owners),
		cmocka_unit_test(test_trust),
	};

	return cmocka_run_group_tests(tests, fixture_make, fixture_clean);
}
