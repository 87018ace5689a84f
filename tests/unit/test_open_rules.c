// SPDX-License-Identifier: GPL-2.0-or-later
/* The files that the opener opens for a process that strangers may have taken over. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "security/open_rules.h"

/* A folder that its owner alone may enter, with files that everybody could read, and one with a
 * file that its owner alone may read. */
struct place {
	char hidden[64], elf[96], text[96], fifo[96], shown[64], secret[96], link[96];
};

static void put(const char *path, const char *content, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	close(fd);
}

static void place_make(struct place *p)
{
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	snprintf(p->hidden, sizeof(p->hidden), "/tmp/rules.%d", getpid());
	snprintf(p->shown, sizeof(p->shown), "/tmp/rules-shown.%d", getpid());
	snprintf(p->elf, sizeof(p->elf), "%s/elf", p->hidden);
	snprintf(p->text, sizeof(p->text), "%s/text", p->hidden);
	snprintf(p->fifo, sizeof(p->fifo), "%s/fifo", p->hidden);
	snprintf(p->secret, sizeof(p->secret), "%s/secret", p->shown);
	snprintf(p->link, sizeof(p->link), "%s/link", p->shown);
	assert_int_equal(mkdir(p->hidden, 0700) | mkdir(p->shown, 0755), 0);
	put(p->elf, "\177ELF and more", 0600);
	put(p->text, "int x;\n", 0644);
	put(p->secret, "root:$6$", 0600);
	assert_int_equal(mkfifo(p->fifo, 0600), 0);
}

static void place_remove(const struct place *p)
{
	unlink(p->elf);
	unlink(p->text);
	unlink(p->fifo);
	unlink(p->secret);
	unlink(p->link);
	assert_int_equal(rmdir(p->hidden) | rmdir(p->shown), 0);
}

static void opens(int fd)
{
	assert_true(fd >= 0);
	close(fd);
}

static void test_files(void **state)
{
	char name[32];
	struct place p;

	place_make(&p);
	opens(open_rules__file("", p.elf));
	opens(open_rules__open(p.elf));
	opens(open_rules__open("/etc/passwd"));
	assert_int_equal(open_rules__file("", p.text), -EACCES);
	assert_int_equal(open_rules__file("", p.secret), -EACCES);
	assert_int_equal(open_rules__open(p.secret), -EACCES);
	assert_int_equal(open_rules__file("", p.fifo), -EINVAL);
	assert_int_equal(open_rules__file("", p.shown), -EISDIR);
	assert_int_equal(open_rules__file("", "/dev/null"), -EINVAL);
	/* The caller is who owns it. */
	snprintf(name, sizeof(name), "%u", geteuid());
	setenv("SUDO_UID", name, 1);
	snprintf(name, sizeof(name), "%u", getegid());
	setenv("SUDO_GID", name, 1);
	opens(open_rules__file("", p.secret));
	place_remove(&p);
}

static void test_links(void **state)
{
	char path[96];
	struct place p;

	place_make(&p);
	assert_int_equal(symlink("/proc/self/environ", p.link), 0);
	assert_int_equal(open_rules__file("", p.link), -EACCES);
	assert_int_equal(open_rules__open(p.link), -EACCES);
	unlink(p.link);
	snprintf(path, sizeof(path), "/proc/%d/exe", getpid());
	assert_int_equal(symlink(path, p.link), 0);
	assert_int_equal(open_rules__file("", p.link), -ELOOP);
	assert_int_equal(open_rules__place(p.link), -EACCES);
	unlink(p.link);
	assert_int_equal(symlink(p.secret, p.link), 0);
	assert_int_equal(open_rules__file("", p.link), -EACCES);
	place_remove(&p);
}

static void test_processes(void **state)
{
	static const char *const allowed[] = {"maps", "auxv", "pagemap", "exe"};
	static const char *const barred[] = {
		"environ",	   "mem",    "fd/0",	    "cwd/x",
		"maps/../environ", "ns/pid", "task/1/maps", "root/etc/../proc/1/environ"};
	char path[96];

	for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", getpid(), allowed[i]);
		opens(open_rules__open(path));
	}
	for (size_t i = 0; i < sizeof(barred) / sizeof(*barred); i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", getpid(), barred[i]);
		assert_true(open_rules__open(path) < 0);
	}
	assert_true(open_rules__open("/proc/self/mem") < 0);
	snprintf(path, sizeof(path), "/proc/%d/exe", getpid());
	opens(open_rules__place(path));
	snprintf(path, sizeof(path), "/proc/%d/root/.", getpid());
	opens(open_rules__place(path));
	snprintf(path, sizeof(path), "/proc/%d/fd/0", getpid());
	assert_int_equal(open_rules__place(path), -EACCES);
	assert_int_equal(open_rules__place("/etc"), -EACCES);
}

/* Mapped files that are no ELF files are told from files that may not be read. */
static void test_mapped(void **state)
{
	char path[96];
	struct place p;
	void *at;
	int fd;

	if (geteuid())
		return; /* map_files is for the privileged */
	place_make(&p);
	fd = open(p.text, O_RDONLY | O_CLOEXEC);
	at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	close(fd);
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIxPTR "-%" PRIxPTR, getpid(),
		 (uintptr_t)at, (uintptr_t)at + 4096);
	assert_int_equal(open_rules__open(path), -ENOEXEC);
	munmap(at, 4096);
	place_remove(&p);
}

static int data = 7;

static void test_memory(void **state)
{
	char buf[16];

	assert_int_equal(open_rules__read_code(getpid(), (uintptr_t)test_memory, buf, 16), 16);
	assert_memory_equal(buf, (const void *)test_memory, 16);
	/* Once more, as that mapping is known now. */
	assert_int_equal(open_rules__read_code(getpid(), (uintptr_t)test_files, buf, 16), 16);
	assert_memory_equal(buf, (const void *)test_files, 16);
	assert_int_equal(open_rules__read_code(getpid(), (uintptr_t)&data, buf, 4), -EACCES);
	assert_int_equal(open_rules__read_code(getpid(), (uintptr_t)buf, buf, 4), -EACCES);
	assert_int_equal(open_rules__read_code(getpid(), 0, buf, 4), -EACCES);
	assert_int_equal(open_rules__read_code(0, (uintptr_t)test_memory, buf, 4), -EINVAL);
	assert_int_equal(open_rules__read_code(INT32_MAX, (uintptr_t)test_memory, buf, 4), 0);
}

static void test_below_a_root(void **state)
{
	char root[64], list[64];
	struct place p;

	place_make(&p);
	snprintf(root, sizeof(root), "/proc/%d/root", getpid());
	opens(open_rules__file(root, p.elf));
	assert_int_equal(open_rules__file(root, p.text), -EACCES);
	assert_int_equal(open_rules__file("/tmp", p.elf), -EACCES);
	assert_int_equal(open_rules__file("/proc/self/root", p.elf), -EACCES);
	snprintf(p.link, sizeof(p.link), "/tmp/perf-%d.map", getpid());
	snprintf(list, sizeof(list), "tmp/perf-%d.map", getpid());
	put(p.link, "1000 10 f\n", 0600);
	opens(open_rules__jit_list(root, list));
	assert_int_equal(open_rules__jit_list("", list), -EACCES);
	assert_int_equal(open_rules__jit_list(root, "etc/passwd"), -EACCES);
	assert_int_equal(open_rules__jit_list(root, "tmp/perf-../../etc/passwd.map"), -EACCES);
	unlink(p.link);
	assert_int_equal(symlink(p.secret, p.link), 0);
	assert_int_equal(open_rules__jit_list(root, list), -ELOOP);
	place_remove(&p);
}

static int list_by(bool (*put_in_place)(const struct place *, const char *), const struct place *p)
{
	char root[64], list[64], path[64];
	pid_t pid = fork();
	int status;

	if (!pid) {
		snprintf(root, sizeof(root), "/proc/%d/root", getpid());
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
		snprintf(list, sizeof(list), "tmp/perf-%d.map", getpid());
		/* 0: not to be done here */
		_exit(put_in_place(p, path) ? -open_rules__jit_list(root, list) : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	unlink(path);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* In namespaces of its own, as every user may. */
static bool mount_secret(const struct place *p, const char *path)
{
	put(path, "", 0600);
	return !unshare(CLONE_NEWUSER | CLONE_NEWNS) &&
	       !mount(p->secret, path, NULL, MS_BIND, NULL);
}

static bool link_secret(const struct place *p, const char *path)
{
	return !link(p->secret, path);
}

static void test_another_file_as_list(void **state)
{
	struct place p;
	int err;

	place_make(&p);
	err = list_by(mount_secret, &p);
	assert_true(!err || err == EXDEV);
	assert_int_equal(list_by(link_secret, &p), EACCES);
	place_remove(&p);
}

/* To open some of these does something already. */
static void test_of_the_kernel(void **state)
{
	assert_int_equal(open_rules__file("", "/sys/kernel/uevent_seqnum"), -EACCES);
}

static void test_source(void **state)
{
	struct place p;

	place_make(&p);
	if (!geteuid()) {
		assert_int_equal(open_rules__source(p.text, false), -EACCES);
		assert_int_equal(open_rules__source(p.secret, false), -EACCES);
		/* Root without sudo, by a file that only root can have made. */
		opens(open_rules__source(p.secret, true));
		setenv("SUDO_UID", "12345", 1);
		assert_int_equal(open_rules__source(p.secret, true), -EACCES);
	}
	opens(open_rules__source("/etc/passwd", false));
	place_remove(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),	      cmocka_unit_test(test_links),
		cmocka_unit_test(test_processes),     cmocka_unit_test(test_below_a_root),
		cmocka_unit_test(test_source),	      cmocka_unit_test(test_memory),
		cmocka_unit_test(test_mapped),	      cmocka_unit_test(test_another_file_as_list),
		cmocka_unit_test(test_of_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
