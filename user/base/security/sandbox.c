// SPDX-License-Identifier: GPL-2.0-or-later
#include "security/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/log.h"

/* Since Linux 6.2, in the third version of the interface. */
#define TRUNCATE (1ull << 14)

#define FILE_WRITES LANDLOCK_ACCESS_FS_WRITE_FILE
#define FOLDER_WRITES                                                     \
	(LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | \
	 LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |     \
	 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |     \
	 LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |   \
	 LANDLOCK_ACCESS_FS_MAKE_SYM)

struct fence {
	int fd;
	uint64_t file_writes;
};

/* Lets what lies at or below `path` be written to, if it is there. */
static void allow(const struct fence *f, const char *path, uint64_t access)
{
	struct landlock_path_beneath_attr rule = {
		.allowed_access = access,
		.parent_fd = open(path, O_PATH | O_CLOEXEC),
	};

	if (rule.parent_fd < 0)
		return;
	if (syscall(SYS_landlock_add_rule, f->fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0))
		log_debug("sandbox: cannot allow writing to %s: %s", path, strerror(errno));
	close(rule.parent_fd);
}

/* The output may be a link: what that leads to can be written to, not made. */
static void allow_output(const struct fence *f, const char *output)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s", output) >= (int)sizeof(path))
		return;
	allow(f, output, f->file_writes);
	allow(f, dirname(path), f->file_writes | FOLDER_WRITES);
}

static void bar_writing(const char *output)
{
	int version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	struct fence f = {.file_writes = FILE_WRITES | (version >= 3 ? TRUNCATE : 0)};
	const struct landlock_ruleset_attr attr = {.handled_access_fs =
							   f.file_writes | FOLDER_WRITES};
	const char *temporary = getenv("TMPDIR");

	if (version < 1)
		return;
	f.fd = syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (f.fd < 0)
		return;
	if (output)
		allow_output(&f, output);
	if (temporary)
		allow(&f, temporary, f.file_writes | FOLDER_WRITES);
	allow(&f, "/tmp", f.file_writes | FOLDER_WRITES);
	allow(&f, "/dev", f.file_writes);
	if (syscall(SYS_landlock_restrict_self, f.fd, 0))
		log_debug("sandbox: %s", strerror(errno));
	close(f.fd);
}

/* System calls that nobody needs to show a recording. */
static const uint16_t barred[] = {
	SYS_ptrace,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_pidfd_getfd,
	SYS_bpf,
	SYS_perf_event_open,
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
	SYS_kexec_file_load,
	SYS_reboot,
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	SYS_chroot,
	SYS_move_mount,
	SYS_open_tree,
	SYS_fsopen,
	SYS_fsmount,
	SYS_mount_setattr,
	SYS_unshare,
	SYS_setns,
	SYS_socket,
	SYS_socketpair,
	SYS_io_uring_setup,
	SYS_userfaultfd,
	SYS_keyctl,
	SYS_add_key,
	SYS_request_key,
	SYS_setuid,
	SYS_setgid,
	SYS_setreuid,
	SYS_setregid,
	SYS_setresuid,
	SYS_setresgid,
	SYS_setgroups,
	SYS_capset,
	SYS_swapon,
	SYS_swapoff,
	SYS_settimeofday,
	SYS_clock_settime,
	SYS_sethostname,
	SYS_open_by_handle_at,
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#define ALIEN  0x40000000u /* from here on numbers are those of x32 programs */
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#define ALIEN  UINT32_MAX
#endif

/* They fail with EPERM, and so do those of programs for other machines. */
static void bar_system_calls(void)
{
	struct sock_filter code[COUNT(barred) + 6];
	struct sock_fprog program = {.len = COUNT(code), .filter = code};
	size_t at = 0;

	code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						  offsetof(struct seccomp_data, arch));
	code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 0,
						  COUNT(barred) + 3);
	code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						  offsetof(struct seccomp_data, nr));
	code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, ALIEN,
						  COUNT(barred) + 1, 0);
	for (size_t i = 0; i < COUNT(barred); i++)
		code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, barred[i],
							  COUNT(barred) - i, 0);
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
		log_debug("sandbox: no filter of system calls: %s", strerror(errno));
}

void sandbox__enter(const char *output)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return;
	bar_writing(output);
	bar_system_calls();
}
