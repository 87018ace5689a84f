// SPDX-License-Identifier: GPL-2.0-or-later
/* The sandbox: what can be done in it, and what cannot. A child tries each, as nobody leaves it
 * again. */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cmocka.h>

#include "security/sandbox.h"

/* Two folders side by side, neither of which is for temporary files: /tmp and $TMPDIR are. The
 * sources may lie there, so it is not the current folder. */
struct place {
	char root[64], in[96], out[96], output[128], other[128];
};

static void place_make(struct place *p)
{
	snprintf(p->root, sizeof(p->root), "/var/tmp/sandbox.%d", getpid());
	snprintf(p->in, sizeof(p->in), "%s/in", p->root);
	snprintf(p->out, sizeof(p->out), "%s/out", p->root);
	snprintf(p->output, sizeof(p->output), "%s/result", p->in);
	snprintf(p->other, sizeof(p->other), "%s/result", p->out);
	assert_int_equal(mkdir(p->root, 0700) | mkdir(p->in, 0700) | mkdir(p->out, 0700), 0);
	setenv("TMPDIR", p->in, 1);
}

static void place_remove(const struct place *p)
{
	unlink(p->output);
	unlink(p->other);
	rmdir(p->in);
	rmdir(p->out);
	rmdir(p->root);
}

/* The result of the child's attempt: 0 or an errno. */
static int behind(void (*enter)(const char *output), int (*attempt)(const struct place *),
		  const struct place *p)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		enter(p->output);
		_exit(attempt(p) ? errno : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int behind_fence(int (*attempt)(const struct place *), const struct place *p)
{
	return behind(sandbox__enter, attempt, p);
}

static int behind_runs_fence(int (*attempt)(const struct place *), const struct place *p)
{
	return behind(sandbox__enter_run, attempt, p);
}

static int write_output(const struct place *p)
{
	return open(p->output, O_WRONLY | O_CREAT | O_TRUNC, 0600) < 0;
}

static int write_again(const struct place *p)
{
	return write_output(p) || unlink(p->output) || write_output(p);
}

static int write_other(const struct place *p)
{
	return open(p->other, O_WRONLY | O_CREAT | O_TRUNC, 0600) < 0;
}

static int read_anything(const struct place *p)
{
	return open("/proc/self/maps", O_RDONLY) < 0 || access("/", R_OK);
}

static int read_other(const struct place *p)
{
	return open(p->other, O_RDONLY) < 0;
}

static int look_at_parent(const struct place *p)
{
	char path[64], program[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", getppid());
	return readlink(path, program, sizeof(program)) < 0;
}

static int write_to_disks(const struct place *p)
{
	return open("/dev/loop-control", O_RDWR) < 0 && open("/dev/random", O_WRONLY) < 0;
}

static int open_socket(const struct place *p)
{
	return socket(AF_UNIX, SOCK_STREAM, 0) < 0;
}

static int trace_parent(const struct place *p)
{
	return ptrace(PTRACE_SEIZE, getppid(), NULL, NULL) != 0;
}

static int load_program(const struct place *p)
{
	return syscall(SYS_bpf, 0, NULL, 0) < 0;
}

static int become_another(const struct place *p)
{
	return setuid(getuid()) != 0;
}

static int make_link(const struct place *p)
{
	return syscall(SYS_bpf, BPF_LINK_CREATE, NULL, 0) < 0;
}

static int attach_to_parent(const struct place *p)
{
	return ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) != 0;
}

/* A command that the run has started: holding it, letting it go on, ending it. */
static int trace_child(const struct place *p)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return 1;
	return ptrace(PTRACE_DETACH, pid, NULL, NULL) || waitpid(pid, &status, 0) != pid;
}

/* A folder of our own, and a file that may only be read: root may change the modes of all of
 * root's files, programs among them. */
static int change_mode(const struct place *p)
{
	return chmod(p->out, 0777);
}

static int change_mode_of_program(const struct place *p)
{
	int fd = open("/bin/sh", O_RDONLY);
	struct stat st;

	return fd < 0 || fstat(fd, &st) || fchmod(fd, st.st_mode);
}

static int change_owner(const struct place *p)
{
	return chown(p->out, getuid(), getgid());
}

/* An access control list is one. */
static int set_attribute(const struct place *p)
{
	return setxattr(p->out, "user.test", "1", 1, 0);
}

/* The standard input of a child is no terminal. */
static int type_on_terminal(const struct place *p)
{
	return ioctl(STDIN_FILENO, TIOCSTI, "x");
}

static int clone_into_namespace(const struct place *p)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

	if (!pid)
		_exit(0);
	return pid < 0;
}

static int call_new_number(const struct place *p)
{
	return syscall(463, -1, NULL, 0, NULL, NULL, 0) < 0; /* setxattrat(2) */
}

static void assert_files_stay(void (*enter)(const char *output), const struct place *p)
{
	assert_int_equal(behind(enter, change_mode, p), EPERM);
	assert_int_equal(behind(enter, change_mode_of_program, p), EPERM);
	assert_int_equal(behind(enter, change_owner, p), EPERM);
	assert_int_equal(behind(enter, set_attribute, p), EPERM);
	assert_int_equal(behind(enter, call_new_number, p), ENOSYS);
}

static void test_modes_of_files(void **state)
{
	struct place p;

	place_make(&p);
	assert_files_stay(sandbox__enter, &p);
	assert_files_stay(sandbox__enter_run, &p);
	place_remove(&p);
}

static void test_ways_out(void **state)
{
	struct place p;

	place_make(&p);
	assert_int_equal(behind_runs_fence(type_on_terminal, &p), EPERM);
	assert_int_equal(behind_fence(type_on_terminal, &p), EPERM);
	assert_int_equal(behind_runs_fence(clone_into_namespace, &p), EPERM);
	assert_int_equal(behind_fence(clone_into_namespace, &p), EPERM);
	place_remove(&p);
}

/* Whether the kernel has Landlock switched on. */
static bool bars_writing(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) >= 1;
}

static void test_what_it_needs(void **state)
{
	struct place p;

	place_make(&p);
	assert_int_equal(behind_fence(write_output, &p), 0);
	assert_int_equal(behind_fence(write_again, &p), 0);
	assert_int_equal(behind_fence(read_anything, &p), 0);
	place_remove(&p);
}

static void test_what_it_does_not_need(void **state)
{
	struct place p;

	place_make(&p);
	assert_int_equal(behind_fence(write_other, &p), bars_writing() ? EACCES : 0);
	assert_int_equal(behind_fence(open_socket, &p), EPERM);
	assert_int_equal(behind_fence(trace_parent, &p), EPERM);
	assert_int_equal(behind_fence(load_program, &p), EPERM);
	assert_int_equal(behind_fence(become_another, &p), EPERM);
	place_remove(&p);
}

static void test_of_a_run(void **state)
{
	struct place p;

	place_make(&p);
	assert_int_equal(behind_runs_fence(write_again, &p), 0);
	assert_int_equal(behind_runs_fence(read_anything, &p), 0);
	assert_int_equal(behind_runs_fence(trace_child, &p), 0);
	assert_int_equal(behind_runs_fence(write_other, &p), bars_writing() ? EACCES : 0);
	close(open(p.other, O_WRONLY | O_CREAT, 0600));
	assert_int_equal(behind_runs_fence(read_other, &p), bars_writing() ? EACCES : 0);
	assert_int_equal(behind_runs_fence(look_at_parent, &p), bars_writing() ? EACCES : 0);
	assert_int_equal(behind_runs_fence(open_socket, &p), EPERM);
	assert_int_equal(behind_runs_fence(trace_parent, &p), EPERM);
	assert_int_equal(behind_runs_fence(attach_to_parent, &p), EPERM);
	assert_int_equal(behind_runs_fence(load_program, &p), EPERM);
	assert_int_equal(behind_runs_fence(make_link, &p), EPERM);
	assert_int_equal(behind_runs_fence(become_another, &p), EPERM);
	place_remove(&p);
}

static void test_devices(void **state)
{
	struct place p;

	place_make(&p);
	if (bars_writing())
		assert_int_not_equal(behind_fence(write_to_disks, &p), 0);
	place_remove(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_it_needs),  cmocka_unit_test(test_what_it_does_not_need),
		cmocka_unit_test(test_of_a_run),       cmocka_unit_test(test_devices),
		cmocka_unit_test(test_modes_of_files), cmocka_unit_test(test_ways_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
