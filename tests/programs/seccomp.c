// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * seccomp strict|filter|killed [TIMES]: may do no more than read, write and end: by strict mode, or
 * by a filter that kills on anything else; `killed` does something else at its end.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "target.h"

#define ALLOW(name)                                                                                \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1),                                     \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static unsigned long outer_cnt, leaf_cnt;

TRACED void leaf(void)
{
	leaf_cnt++;
}

TRACED void outer(void)
{
	outer_cnt++;
	leaf();
	leaf();
}

static int confine(const char *how)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(read),
		ALLOW(write),
		ALLOW(exit),
		ALLOW(exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {.len = sizeof(rules) / sizeof(*rules), .filter = rules};

	if (!strcmp(how, "strict"))
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	static char buffer[4096];

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	target_begin(&argc, &argv);
	const char *how = argc > 1 ? argv[1] : "filter";
	unsigned long times = target_arg(argc, argv, 2, 100);

	if (confine(how))
		return 1;
	for (unsigned long i = 0; i < times; i++)
		outer();
	target_count("outer", outer_cnt);
	target_count("leaf", leaf_cnt);
	fflush(stdout);
	if (!strcmp(how, "killed"))
		syscall(SYS_getppid);
	target_end();
	/* Strict mode lets nobody leave by exit_group. */
	syscall(SYS_exit, 0);
}
