// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/system_calls.h"

#include <stddef.h>
#include <sys/syscall.h>

#include "wire.h"

/* The build lists them: [__NR_read] = "[read]", and so on. */
static const char *const names[] = {
#include "system_calls.inc"
};

const char *system_call__name(uint32_t number)
{
	if (number >= sizeof(names) / sizeof(names[0]) || !names[number])
		return "[system call]";
	return names[number];
}

/* The build lists them: [2] = "[ENOENT]", and so on. */
static const char *const errors[WIRE_ERRORS] = {
#include "errors.inc"
	[WIRE_ERRORS_KERNEL] = "[ERESTARTSYS]",
	"[ERESTARTNOINTR]",
	"[ERESTARTNOHAND]",
	"[ENOIOCTLCMD]",
	"[ERESTART_RESTARTBLOCK]",
};

const char *system_call__error_name(uint32_t number)
{
	return number < WIRE_ERRORS && errors[number] ? errors[number] : "[error]";
}

/* The kinds that tell why a thread waits in a call. Calls of older architectures may be missing. */
static const uint8_t reasons[] = {
	[__NR_futex] = WIRE_CALL_FUTEX,
#ifdef __NR_futex_wait
	[__NR_futex_wait] = WIRE_CALL_FUTEX,
#endif
#ifdef __NR_futex_waitv
	[__NR_futex_waitv] = WIRE_REASON_LOCK,
#endif
	[__NR_flock] = WIRE_REASON_LOCK,
	[__NR_fcntl] = WIRE_REASON_LOCK, /* F_SETLKW: no other one waits for long */
	[__NR_semop] = WIRE_REASON_LOCK,
	[__NR_semtimedop] = WIRE_REASON_LOCK,
	[__NR_read] = WIRE_CALL_FILE,
	[__NR_write] = WIRE_CALL_FILE,
	[__NR_readv] = WIRE_CALL_FILE,
	[__NR_writev] = WIRE_CALL_FILE,
	[__NR_pread64] = WIRE_CALL_FILE,
	[__NR_pwrite64] = WIRE_CALL_FILE,
	[__NR_preadv] = WIRE_CALL_FILE,
	[__NR_pwritev] = WIRE_CALL_FILE,
	[__NR_preadv2] = WIRE_CALL_FILE,
	[__NR_pwritev2] = WIRE_CALL_FILE,
	[__NR_recvfrom] = WIRE_CALL_FILE,
	[__NR_recvmsg] = WIRE_CALL_FILE,
	[__NR_recvmmsg] = WIRE_CALL_FILE,
	[__NR_sendto] = WIRE_CALL_FILE,
	[__NR_sendmsg] = WIRE_CALL_FILE,
	[__NR_sendmmsg] = WIRE_CALL_FILE,
	[__NR_sendfile] = WIRE_CALL_FILE,
	[__NR_splice] = WIRE_CALL_FILE,
	[__NR_tee] = WIRE_CALL_FILE,
	[__NR_vmsplice] = WIRE_CALL_FILE,
	[__NR_accept] = WIRE_CALL_FILE,
	[__NR_accept4] = WIRE_CALL_FILE,
	[__NR_connect] = WIRE_CALL_FILE,
	[__NR_ioctl] = WIRE_CALL_FILE,
	[__NR_close] = WIRE_CALL_FILE,
	[__NR_fsync] = WIRE_REASON_DISK,
	[__NR_fdatasync] = WIRE_REASON_DISK,
	[__NR_sync] = WIRE_REASON_DISK,
	[__NR_syncfs] = WIRE_REASON_DISK,
	[__NR_sync_file_range] = WIRE_REASON_DISK,
	[__NR_msync] = WIRE_REASON_DISK,
	[__NR_openat] = WIRE_REASON_DISK,
	[__NR_getdents64] = WIRE_REASON_DISK,
	[__NR_ftruncate] = WIRE_REASON_DISK,
	[__NR_fallocate] = WIRE_REASON_DISK,
	[__NR_newfstatat] = WIRE_REASON_DISK,
	[__NR_unlinkat] = WIRE_REASON_DISK,
	[__NR_nanosleep] = WIRE_REASON_TIMER,
	[__NR_clock_nanosleep] = WIRE_REASON_TIMER,
	[__NR_ppoll] = WIRE_CALL_POLL,
	[__NR_pselect6] = WIRE_CALL_SELECT,
	[__NR_epoll_pwait] = WIRE_CALL_EPOLL,
#ifdef __NR_epoll_pwait2
	[__NR_epoll_pwait2] = WIRE_CALL_EPOLL,
#endif
	[__NR_io_uring_enter] = WIRE_REASON_POLL,
	[__NR_io_getevents] = WIRE_REASON_POLL,
	[__NR_msgrcv] = WIRE_REASON_PIPE,
	[__NR_msgsnd] = WIRE_REASON_PIPE,
	[__NR_mq_timedreceive] = WIRE_REASON_PIPE,
	[__NR_mq_timedsend] = WIRE_REASON_PIPE,
	[__NR_wait4] = WIRE_REASON_CHILD,
	[__NR_waitid] = WIRE_REASON_CHILD,
#ifdef __NR_vfork /* and what is older than the calls above */
	[__NR_vfork] = WIRE_REASON_CHILD,
	[__NR_open] = WIRE_REASON_DISK,
	[__NR_stat] = WIRE_REASON_DISK,
	[__NR_unlink] = WIRE_REASON_DISK,
	[__NR_rename] = WIRE_REASON_DISK,
	[__NR_poll] = WIRE_CALL_POLL,
	[__NR_select] = WIRE_CALL_SELECT,
	[__NR_epoll_wait] = WIRE_CALL_EPOLL,
#endif
	[__NR_kill] = WIRE_CALL_SIGNAL,
	[__NR_tkill] = WIRE_CALL_SIGNAL,
	[__NR_tgkill] = WIRE_CALL_SIGNAL,
	[__NR_rt_sigqueueinfo] = WIRE_CALL_SIGNAL,
	[__NR_rt_tgsigqueueinfo] = WIRE_CALL_SIGNAL,
	[__NR_exit] = WIRE_CALL_EXIT,
	[__NR_exit_group] = WIRE_CALL_EXIT,
	[__NR_clone] = WIRE_REASON_CHILD, /* with CLONE_VFORK, as posix_spawn() has it */
#ifdef __NR_clone3
	[__NR_clone3] = WIRE_REASON_CHILD,
#endif
};

uint8_t system_call__reason(uint32_t number)
{
	return number < sizeof(reasons) ? reasons[number] : WIRE_REASON_OTHER;
}

/* System calls that are about one descriptor, beyond those that wait for it. */
static const uint16_t of_files[] = {
	__NR_fcntl,	      __NR_flock,
	__NR_fsync,	      __NR_fdatasync,
	__NR_syncfs,	      __NR_ftruncate,
	__NR_fallocate,	      __NR_getdents64,
	__NR_lseek,	      __NR_fstat,
	__NR_shutdown,	      __NR_setsockopt,
	__NR_getsockopt,      __NR_getpeername,
	__NR_fadvise64,	      __NR_readahead,
	__NR_sync_file_range, __NR_getsockname,
	__NR_fchmod,	      __NR_fchown,
	__NR_timerfd_settime, __NR_inotify_add_watch,
};

/* System calls whose result is a descriptor. */
static const uint16_t make_files[] = {
	__NR_openat,   __NR_accept,	   __NR_accept4,	__NR_dup,	   __NR_dup3,
	__NR_eventfd2, __NR_epoll_create1, __NR_timerfd_create, __NR_memfd_create,
#ifdef __NR_openat2
	__NR_openat2,
#endif
#ifdef __NR_open
	__NR_open,     __NR_creat,	   __NR_dup2,
#endif
};

uint8_t system_call__file(uint32_t number)
{
	for (size_t i = 0; i < sizeof(make_files) / sizeof(make_files[0]); i++) {
		if (make_files[i] == number)
			return WIRE_CALL_MAKES_FILE;
	}
	for (size_t i = 0; i < sizeof(of_files) / sizeof(of_files[0]); i++) {
		if (of_files[i] == number)
			return WIRE_CALL_OF_FILE;
	}
	return number != __NR_close && system_call__reason(number) == WIRE_CALL_FILE
		       ? WIRE_CALL_OF_FILE
		       : WIRE_CALL_NO_FILE;
}

const char *wait_reason__name(uint32_t reason)
{
	static const char *const words[WIRE_REASONS] = {
		[WIRE_REASON_OTHER] = "[other]",     [WIRE_REASON_LOCK] = "[lock]",
		[WIRE_REASON_CPU] = "[cpu]",	     [WIRE_REASON_DISK] = "[disk]",
		[WIRE_REASON_NETWORK] = "[network]", [WIRE_REASON_PIPE] = "[pipe]",
		[WIRE_REASON_DEVICE] = "[device]",   [WIRE_REASON_TIMER] = "[timer]",
		[WIRE_REASON_POLL] = "[poll]",	     [WIRE_REASON_CHILD] = "[child]",
		[WIRE_REASON_STOPPED] = "[stopped]",
	};

	return words[reason < WIRE_REASONS ? reason : WIRE_REASON_OTHER];
}
