// SPDX-License-Identifier: GPL-2.0-or-later
/* Descriptors are closed, whatever the kernel lets us do. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "security/open_files.h"

enum { FIRST = 10, BEHIND = 200 };

/* As old container engines do with calls that they do not know. */
static bool refuse_close_range(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* In a child, as cmocka has descriptors of its own. */
static void close_in_child(bool refused)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (refused && !refuse_close_range())
			_exit(2);
		dup2(STDIN_FILENO, FIRST - 1);
		dup2(STDIN_FILENO, FIRST);
		dup2(STDIN_FILENO, BEHIND);
		open_files__close_from(FIRST);
		_exit(is_open(FIRST - 1) && !is_open(FIRST) && !is_open(BEHIND) ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_close_range(void **state)
{
	close_in_child(false);
}

static void test_close_range_refused(void **state)
{
	close_in_child(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_close_range),
		cmocka_unit_test(test_close_range_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
