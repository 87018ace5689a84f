// SPDX-License-Identifier: GPL-2.0-or-later
#include "security/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
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

/* The folder of the calibration's results (calibrate/cache.h). */
#define OWN_FOLDER "/run/proftrace"

struct fence {
	int fd;
	uint64_t file_writes;
	bool reading; /* is restricted, too */
};

/* Grants what lies at or below `path`, if it is there. */
static void allow(const struct fence *f, const char *path, uint64_t access)
{
	struct landlock_path_beneath_attr rule = {
		.allowed_access = access,
		.parent_fd = open(path, O_PATH | O_CLOEXEC),
	};
	struct stat st;

	if (rule.parent_fd < 0)
		return;
	if (!fstat(rule.parent_fd, &st) && !S_ISDIR(st.st_mode))
		rule.allowed_access &= ~FOLDER_WRITES;
	if (syscall(SYS_landlock_add_rule, f->fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0))
		log_debug("sandbox: cannot allow %s: %s", path, strerror(errno));
	close(rule.parent_fd);
}

/* The output may be a link: what that leads to can be written to, not made. */
static void allow_output(const struct fence *f, const char *output, uint64_t access)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s", output) >= (int)sizeof(path))
		return;
	allow(f, output, access);
	allow(f, dirname(path), access);
}

static void allow_writing(const struct fence *f, const char *output)
{
	/* No disks: root owns them. */
	static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full",   "/dev/tty",
					      "/dev/pts",  "/dev/shm",	"/dev/console"};
	const uint64_t reading = f->reading ? LANDLOCK_ACCESS_FS_READ_FILE : 0;
	const uint64_t all = f->file_writes | FOLDER_WRITES | reading;
	const char *temporary = getenv("TMPDIR");

	if (output)
		allow_output(f, output, all);
	if (temporary)
		allow(f, temporary, all);
	allow(f, "/tmp", all);
	for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++)
		allow(f, devices[i], f->file_writes | reading);
	if (f->reading)
		allow(f, OWN_FOLDER, all);
}

/* All that a program reads by itself, and that everybody may read. */
static void allow_reading(const struct fence *f)
{
	static const char *const common[] = {
		"/usr",		  "/lib",
		"/lib64",	  "/bin",
		"/sbin",	  "/proc",
		"/sys",		  "/etc/passwd",
		"/etc/group",	  "/etc/nsswitch.conf",
		"/etc/localtime", "/etc/ld.so.cache",
		"/etc/terminfo",  "/etc/locale.alias",
		"/var/lib/dpkg",  "/dev/urandom",
		"/dev/random",
	};

	for (size_t i = 0; i < sizeof(common) / sizeof(*common); i++)
		allow(f, common[i], LANDLOCK_ACCESS_FS_READ_FILE);
}

/* Forbids to write files but `output`, and with `reading` to read others than common ones. */
static void bar_files(const char *output, bool reading)
{
	int version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	struct fence f = {.file_writes = FILE_WRITES | (version >= 3 ? TRUNCATE : 0),
			  .reading = reading};
	const struct landlock_ruleset_attr attr = {
		.handled_access_fs = f.file_writes | FOLDER_WRITES |
				     (reading ? LANDLOCK_ACCESS_FS_READ_FILE : 0)};

	if (version < 1)
		return;
	f.fd = syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (f.fd < 0)
		return;
	allow_writing(&f, output);
	if (reading)
		allow_reading(&f);
	if (syscall(SYS_landlock_restrict_self, f.fd, 0))
		log_debug("sandbox: %s", strerror(errno));
	close(f.fd);
}

/* System calls that are needed neither to show a recording nor in a run; but these in a run, whose
 * children give up more. */
static const uint16_t runs_own[] = {SYS_bpf, SYS_ptrace, SYS_socketpair, SYS_capset, SYS_fchown};
static const uint16_t barred[] = {
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_pidfd_getfd,
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
	SYS_swapon,
	SYS_swapoff,
	SYS_settimeofday,
	SYS_clock_settime,
	SYS_sethostname,
	SYS_open_by_handle_at,
	SYS_shmat,
	/* Landlock does not bar these, and programs are root's: a set-user-ID bit on a shell, or an
	 * access control list, would make anybody root. */
	SYS_fchmod,
	SYS_fchmodat,
	SYS_fchownat,
	SYS_setxattr,
	SYS_lsetxattr,
	SYS_fsetxattr,
#if defined(__x86_64__)
	SYS_chmod,
	SYS_chown,
	SYS_lchown,
#endif
};

/* System calls from here on are newer than all that we use (fchmodat2, setxattrat, ...). Libraries
 * that try one do without it on a kernel that does not have it. */
#define TOO_NEW 452

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#define ALIEN  0x40000000u /* from here on numbers are those of x32 programs */
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#define ALIEN  UINT32_MAX
#endif

/* A run reads and writes tables that another process has made: it may use these commands of bpf(2)
 * only. It traces the command that it has started: of ptrace(2) it may use all but these two
 * requests. */
static const uint32_t bpf_allowed[] = {
	BPF_MAP_LOOKUP_ELEM,
	BPF_MAP_UPDATE_ELEM,
	BPF_MAP_DELETE_ELEM,
	BPF_MAP_GET_NEXT_KEY,
	BPF_PROG_TEST_RUN,
	BPF_OBJ_GET_INFO_BY_FD,
	BPF_MAP_LOOKUP_BATCH,
	BPF_MAP_UPDATE_BATCH,
	BPF_MAP_DELETE_BATCH,
	BPF_MAP_LOOKUP_AND_DELETE_ELEM,
	BPF_MAP_LOOKUP_AND_DELETE_BATCH,
};
static const uint32_t ptrace_barred[] = {PTRACE_ATTACH, PTRACE_SEIZE};
/* To type on the caller's terminal, as if the caller had: the shell there may be root's. */
static const uint32_t ioctl_barred[] = {TIOCSTI, TIOCLINUX};
#define NEW_NAMESPACES                                                                 \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP | \
	 CLONE_NEWUTS | CLONE_NEWIPC)

#define FILTER_MOST                                                                         \
	(2 * (COUNT(barred) + COUNT(runs_own) + COUNT(bpf_allowed) + COUNT(ptrace_barred) + \
	      COUNT(ioctl_barred)) +                                                        \
	 40)

struct filter {
	struct sock_filter code[FILTER_MOST];
	size_t len;
};

static void put(struct filter *f, uint16_t code, uint32_t k, uint8_t if_true, uint8_t if_false)
{
	f->code[f->len++] = (struct sock_filter){code, if_true, if_false, k};
}

static void put_load(struct filter *f, size_t offset)
{
	put(f, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

static void put_end(struct filter *f, bool allowed)
{
	put(f, BPF_RET | BPF_K, allowed ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EPERM, 0, 0);
}

static void put_missing(struct filter *f)
{
	put(f, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS, 0, 0);
}

/* A system call that is judged by the lower half of one argument. */
struct by_argument {
	uint16_t call;
	unsigned int argument;
	const uint32_t *list;
	size_t cnt;
	bool allowed; /* are those in the list; otherwise all others */
};

/* The number of the call is lost behind it, but there it has been decided. */
static void put_by_argument(struct filter *f, const struct by_argument *b)
{
	put(f, BPF_JMP | BPF_JEQ | BPF_K, b->call, 0, 2 * b->cnt + 2);
	put_load(f, offsetof(struct seccomp_data, args) + b->argument * sizeof(uint64_t));
	for (size_t i = 0; i < b->cnt; i++) {
		put(f, BPF_JMP | BPF_JEQ | BPF_K, b->list[i], 0, 1);
		put_end(f, b->allowed);
	}
	put_end(f, !b->allowed);
}

/* Threads and children, but none in a namespace of its own. The flags of clone3(2) are out of a
 * filter's sight: whoever finds it missing calls clone(2). */
static void put_clone(struct filter *f)
{
	put(f, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1);
	put_missing(f);
	put(f, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4);
	put_load(f, offsetof(struct seccomp_data, args));
	put(f, BPF_JMP | BPF_JSET | BPF_K, NEW_NAMESPACES, 0, 1);
	put_end(f, false);
	put_end(f, true);
}

static void put_barred(struct filter *f, const uint16_t *calls, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		put(f, BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1);
		put_end(f, false);
	}
}

/* Some filter around us refuses prctl(2); errno says how. */
static void tell_open(void)
{
	log_warn("no filter of system calls can be set (prctl: %s): a file that was made to attack "
		 "proftrace could do more harm; read files that you trust",
		 strerror(errno));
}

/* Makes the system calls above, and all of programs for other machines, fail with EPERM. */
static void bar_system_calls(bool run)
{
	static const struct by_argument ioctl = {SYS_ioctl, 1, ioctl_barred, COUNT(ioctl_barred),
						 false},
					bpf = {SYS_bpf, 0, bpf_allowed, COUNT(bpf_allowed), true},
					ptrace = {SYS_ptrace, 0, ptrace_barred,
						  COUNT(ptrace_barred), false};
	struct filter f = {.len = 0};
	struct sock_fprog program = {.filter = f.code};

	put_load(&f, offsetof(struct seccomp_data, arch));
	put(&f, BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0);
	put_end(&f, false);
	put_load(&f, offsetof(struct seccomp_data, nr));
	put(&f, BPF_JMP | BPF_JGE | BPF_K, ALIEN, 0, 1);
	put_end(&f, false);
	put(&f, BPF_JMP | BPF_JGE | BPF_K, TOO_NEW, 0, 1);
	put_missing(&f);
	put_barred(&f, barred, COUNT(barred));
	if (run) {
		put_by_argument(&f, &bpf);
		put_by_argument(&f, &ptrace);
	} else {
		put_barred(&f, runs_own, COUNT(runs_own));
	}
	put_by_argument(&f, &ioctl);
	put_clone(&f);
	put_end(&f, true);
	program.len = f.len;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
		tell_open();
}

static void enter(const char *output, bool run)
{
	if (run)
		mkdir(OWN_FOLDER, 0755);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) {
		tell_open();
		return;
	}
	bar_files(output, run);
	bar_system_calls(run);
}

void sandbox__enter(const char *output)
{
	enter(output, false);
}

void sandbox__enter_run(const char *output)
{
	enter(output, true);
}
