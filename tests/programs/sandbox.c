// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions called before and under seccomp: `sandbox strict` or `sandbox filter`, whose list of
 * allowed system calls has neither uprobe nor uretprobe and kills for all others. Some functions
 * begin with a 5-byte nop, which Linux 6.18 turns into a call.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLS 1000

int padded(int n);
int pushes(int n);
int steps(int n);

__asm__(".text\n.globl padded\n.type padded,@function\n"
	"padded: .byte 0x0f, 0x1f, 0x44, 0, 0\n"
	"lea 1(%rdi), %eax\n ret\n.size padded, . - padded\n"
	".globl pushes\n.type pushes,@function\n"
	"pushes: push %rbx\n mov %edi, %ebx\n lea 1(%rbx), %eax\n pop %rbx\n ret\n"
	".size pushes, . - pushes\n"
	".globl steps\n.type steps,@function\n"
	"steps: lea 1(%rdi), %eax\n ret\n.size steps, . - steps\n");

static void filter(void)
{
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {sizeof(insns) / sizeof(*insns), insns};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &program))
		syscall(SYS_exit, 9);
}

static int rounds(void)
{
	int sum = 0;

	for (int i = 0; i < CALLS; i++)
		sum += padded(i) + pushes(i) + steps(i);
	return sum;
}

int main(int argc, char **argv)
{
	char text[256];
	int len, sum = rounds();

	if (argc > 1 && !strcmp(argv[1], "strict")) {
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
			return 9;
	} else {
		filter();
	}
	sum += rounds();
	len = snprintf(text, sizeof(text), "COUNT padded %d\nCOUNT pushes %d\nCOUNT steps %d\nsum %d\n",
		       2 * CALLS, 2 * CALLS, 2 * CALLS, sum);
	if (write(STDOUT_FILENO, text, len) != len)
		return 9;
	syscall(SYS_exit, 0); /* strict mode knows no exit_group */
	return 9;
}
