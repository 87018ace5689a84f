// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What glibc 2.28 lacks of what we call, and how a program of its time begins: linked to the
 * program of `make tarball` alone (packaging/glibc-stubs).
 */
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv, char **environment);

/* Before 2.33 these were what stat() and its like called, with the version of struct stat. */
#define STAT_VERSION 1
int __xstat(int version, const char *path, struct stat *s);
int __lxstat(int version, const char *path, struct stat *s);
int __fxstat(int version, int fd, struct stat *s);
int __fxstatat(int version, int fd, const char *path, struct stat *s, int flags);

int stat(const char *path, struct stat *s)
{
	return __xstat(STAT_VERSION, path, s);
}

int lstat(const char *path, struct stat *s)
{
	return __lxstat(STAT_VERSION, path, s);
}

int fstat(int fd, struct stat *s)
{
	return __fxstat(STAT_VERSION, fd, s);
}

int fstatat(int fd, const char *path, struct stat *s, int flags)
{
	return __fxstatat(STAT_VERSION, fd, path, s, flags);
}

#undef stat64
#undef lstat64
#undef fstat64
int stat64(const char *path, struct stat64 *s) __attribute__((alias("stat")));
int lstat64(const char *path, struct stat64 *s) __attribute__((alias("lstat")));
int fstat64(int fd, struct stat64 *s) __attribute__((alias("fstat")));

/* System calls that had no function yet. */
int close_range(unsigned int first, unsigned int last, int flags)
{
	return syscall(SYS_close_range, first, last, flags);
}

int fsopen(const char *type, unsigned int flags)
{
	return syscall(SYS_fsopen, type, flags);
}

int fsconfig(int fd, unsigned int command, const char *key, const void *value, int aux)
{
	return syscall(SYS_fsconfig, fd, command, key, value, aux);
}

int fsmount(int fd, unsigned int flags, unsigned int attributes)
{
	return syscall(SYS_fsmount, fd, flags, attributes);
}

/* For atexit(): that of the program. */
__attribute__((visibility("hidden"))) void *__dso_handle;

/* Constructors: since 2.34 libc calls a program's own, before it left that to the program. */
typedef void constructor(int argc, char **argv, char **environment);
extern __attribute__((visibility("hidden"))) constructor *__init_array_start[], *__init_array_end[];

static void construct(int argc, char **argv, char **environment)
{
	for (constructor **c = __init_array_start; c < __init_array_end; c++)
		(*c)(argc, argv, environment);
}

int __libc_start_main(int (*program)(int, char **, char **), int argc, char **argv,
		      constructor *begin, void (*end)(void), void (*unload)(void), void *stack);

/* `stack`: as the kernel left it, the number of arguments first. */
__attribute__((used)) static void start(long *stack, void (*unload)(void))
{
	__libc_start_main(main, *stack, (char **)(stack + 1), construct, NULL, unload, stack);
}

__asm__(".globl _start\n"
	"_start:\n"
	"	xor %ebp, %ebp\n"
	"	mov %rsp, %rdi\n"
	"	mov %rdx, %rsi\n"
	"	and $-16, %rsp\n"
	"	call start\n"
	"	hlt\n");
