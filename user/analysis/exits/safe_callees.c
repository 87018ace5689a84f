// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions get here by what they do not do: call back, throw, unwind, look at the stack or switch
 * it. Cancellation points (pthreads(7)), and what may load a locale's modules, are THROWLESS. What
 * prints or reads by stdio may call a stream's own functions, so it is not here; nor is exit(),
 * which runs what others have registered. abort() ends the process: handlers of SIGABRT are
 * excluded by whoever asks.
 */
#include "exits/safe_callees.h"

#include <stdlib.h>
#include <string.h>

struct name {
	const char *name;
	enum safe_callee_kind kind;
};

/* In the order of strcmp(). */
static const struct name libc_names[] = {
	{"__ctype_b_loc", SAFE_ALWAYS},
	{"__ctype_get_mb_cur_max", SAFE_ALWAYS},
	{"__ctype_tolower_loc", SAFE_ALWAYS},
	{"__ctype_toupper_loc", SAFE_ALWAYS},
	{"__errno_location", SAFE_ALWAYS},
	{"__memcpy_chk", SAFE_ALWAYS},
	{"__memmove_chk", SAFE_ALWAYS},
	{"__memset_chk", SAFE_ALWAYS},
	{"__nl_langinfo_l", SAFE_ALWAYS},
	{"__stack_chk_fail", SAFE_ALWAYS},
	{"__strcoll_l", SAFE_UNLESS_THROWN},
	{"__strcpy_chk", SAFE_ALWAYS},
	{"__strdup", SAFE_ALLOCATES},
	{"__strftime_l", SAFE_UNLESS_THROWN},
	{"__strtod_l", SAFE_ALWAYS},
	{"__strtof_l", SAFE_ALWAYS},
	{"__strxfrm_l", SAFE_UNLESS_THROWN},
	{"__tls_get_addr", SAFE_ALLOCATES},
	{"__tolower_l", SAFE_ALWAYS},
	{"__toupper_l", SAFE_ALWAYS},
	{"__towlower_l", SAFE_ALWAYS},
	{"__towupper_l", SAFE_ALWAYS},
	{"__uselocale", SAFE_ALWAYS},
	{"__wcscoll_l", SAFE_UNLESS_THROWN},
	{"__wcsftime_l", SAFE_UNLESS_THROWN},
	{"__wcsxfrm_l", SAFE_UNLESS_THROWN},
	{"__wctype_l", SAFE_ALWAYS},
	{"__xpg_strerror_r", SAFE_UNLESS_THROWN},
	{"abort", SAFE_ALWAYS},
	{"abs", SAFE_ALWAYS},
	{"access", SAFE_UNLESS_THROWN},
	{"aligned_alloc", SAFE_ALLOCATES},
	{"bcmp", SAFE_ALWAYS},
	{"btowc", SAFE_UNLESS_THROWN},
	{"calloc", SAFE_ALLOCATES},
	{"chdir", SAFE_UNLESS_THROWN},
	{"chmod", SAFE_UNLESS_THROWN},
	{"clock_gettime", SAFE_ALWAYS},
	{"close", SAFE_UNLESS_THROWN},
	{"fchmod", SAFE_UNLESS_THROWN},
	{"fchmodat", SAFE_UNLESS_THROWN},
	{"fesetround", SAFE_ALWAYS},
	{"fileno", SAFE_ALWAYS},
	{"free", SAFE_ALLOCATES},
	{"frexpl", SAFE_ALWAYS},
	{"fstat", SAFE_UNLESS_THROWN},
	{"fstat64", SAFE_UNLESS_THROWN},
	{"ftruncate64", SAFE_UNLESS_THROWN},
	{"get_nprocs", SAFE_ALWAYS},
	{"getcwd", SAFE_UNLESS_THROWN},
	{"getentropy", SAFE_ALWAYS},
	{"getenv", SAFE_ALWAYS},
	{"getpid", SAFE_ALWAYS},
	{"gettimeofday", SAFE_ALWAYS},
	{"gmtime", SAFE_UNLESS_THROWN},
	{"gmtime_r", SAFE_UNLESS_THROWN},
	{"iconv", SAFE_UNLESS_THROWN},
	{"ioctl", SAFE_UNLESS_THROWN},
	{"isalnum", SAFE_ALWAYS},
	{"isalpha", SAFE_ALWAYS},
	{"isatty", SAFE_UNLESS_THROWN},
	{"isdigit", SAFE_ALWAYS},
	{"islower", SAFE_ALWAYS},
	{"isprint", SAFE_ALWAYS},
	{"ispunct", SAFE_ALWAYS},
	{"isspace", SAFE_ALWAYS},
	{"isupper", SAFE_ALWAYS},
	{"iswctype", SAFE_ALWAYS},
	{"isxdigit", SAFE_ALWAYS},
	{"labs", SAFE_ALWAYS},
	{"link", SAFE_UNLESS_THROWN},
	{"localeconv", SAFE_ALWAYS},
	{"localtime", SAFE_UNLESS_THROWN},
	{"localtime_r", SAFE_UNLESS_THROWN},
	{"lseek", SAFE_UNLESS_THROWN},
	{"lseek64", SAFE_UNLESS_THROWN},
	{"lstat", SAFE_UNLESS_THROWN},
	{"lstat64", SAFE_UNLESS_THROWN},
	{"malloc", SAFE_ALLOCATES},
	{"malloc_usable_size", SAFE_ALLOCATES},
	{"mbrlen", SAFE_UNLESS_THROWN},
	{"mbrtowc", SAFE_UNLESS_THROWN},
	{"mbsnrtowcs", SAFE_UNLESS_THROWN},
	{"memchr", SAFE_ALWAYS},
	{"memcmp", SAFE_ALWAYS},
	{"memcpy", SAFE_ALWAYS},
	{"memmem", SAFE_ALWAYS},
	{"memmove", SAFE_ALWAYS},
	{"mempcpy", SAFE_ALWAYS},
	{"memrchr", SAFE_ALWAYS},
	{"memset", SAFE_ALWAYS},
	{"mkdir", SAFE_UNLESS_THROWN},
	{"mktime", SAFE_UNLESS_THROWN},
	{"nanosleep", SAFE_UNLESS_THROWN},
	{"nl_langinfo", SAFE_ALWAYS},
	{"open", SAFE_UNLESS_THROWN},
	{"open64", SAFE_UNLESS_THROWN},
	{"openat", SAFE_UNLESS_THROWN},
	{"poll", SAFE_UNLESS_THROWN},
	{"posix_memalign", SAFE_ALLOCATES},
	{"pread64", SAFE_UNLESS_THROWN},
	{"pthread_cond_broadcast", SAFE_ALWAYS},
	{"pthread_cond_clockwait", SAFE_UNLESS_THROWN},
	{"pthread_cond_destroy", SAFE_ALWAYS},
	{"pthread_cond_init", SAFE_ALWAYS},
	{"pthread_cond_signal", SAFE_ALWAYS},
	{"pthread_cond_timedwait", SAFE_UNLESS_THROWN},
	{"pthread_cond_wait", SAFE_UNLESS_THROWN},
	{"pthread_detach", SAFE_UNLESS_THROWN},
	{"pthread_equal", SAFE_ALWAYS},
	{"pthread_getspecific", SAFE_ALWAYS},
	{"pthread_mutex_destroy", SAFE_ALWAYS},
	{"pthread_mutex_init", SAFE_ALWAYS},
	{"pthread_mutex_lock", SAFE_ALWAYS},
	{"pthread_mutex_trylock", SAFE_ALWAYS},
	{"pthread_mutex_unlock", SAFE_ALWAYS},
	{"pthread_rwlock_rdlock", SAFE_UNLESS_THROWN},
	{"pthread_rwlock_unlock", SAFE_ALWAYS},
	{"pthread_rwlock_wrlock", SAFE_UNLESS_THROWN},
	{"pthread_self", SAFE_ALWAYS},
	{"pthread_setspecific", SAFE_ALLOCATES},
	{"pwrite64", SAFE_UNLESS_THROWN},
	{"rawmemchr", SAFE_ALWAYS},
	{"read", SAFE_UNLESS_THROWN},
	{"readlink", SAFE_UNLESS_THROWN},
	{"readv", SAFE_UNLESS_THROWN},
	{"realloc", SAFE_ALLOCATES},
	{"remove", SAFE_UNLESS_THROWN},
	{"rename", SAFE_UNLESS_THROWN},
	{"rmdir", SAFE_UNLESS_THROWN},
	{"sched_yield", SAFE_UNLESS_THROWN},
	{"secure_getenv", SAFE_ALWAYS},
	{"sleep", SAFE_UNLESS_THROWN},
	{"stat", SAFE_UNLESS_THROWN},
	{"stat64", SAFE_UNLESS_THROWN},
	{"stpcpy", SAFE_ALWAYS},
	{"strcasecmp", SAFE_ALWAYS},
	{"strcat", SAFE_ALWAYS},
	{"strchr", SAFE_ALWAYS},
	{"strchrnul", SAFE_ALWAYS},
	{"strcmp", SAFE_ALWAYS},
	{"strcoll", SAFE_UNLESS_THROWN},
	{"strcpy", SAFE_ALWAYS},
	{"strcspn", SAFE_ALWAYS},
	{"strdup", SAFE_ALLOCATES},
	{"strerror", SAFE_UNLESS_THROWN},
	{"strerror_r", SAFE_UNLESS_THROWN},
	{"strftime", SAFE_UNLESS_THROWN},
	{"strlen", SAFE_ALWAYS},
	{"strncasecmp", SAFE_ALWAYS},
	{"strncat", SAFE_ALWAYS},
	{"strncmp", SAFE_ALWAYS},
	{"strncpy", SAFE_ALWAYS},
	{"strnlen", SAFE_ALWAYS},
	{"strpbrk", SAFE_ALWAYS},
	{"strrchr", SAFE_ALWAYS},
	{"strspn", SAFE_ALWAYS},
	{"strstr", SAFE_ALWAYS},
	{"strtod", SAFE_ALWAYS},
	{"strtod_l", SAFE_ALWAYS},
	{"strtof", SAFE_ALWAYS},
	{"strtof_l", SAFE_ALWAYS},
	{"strtol", SAFE_ALWAYS},
	{"strtold", SAFE_ALWAYS},
	{"strtold_l", SAFE_ALWAYS},
	{"strtoll", SAFE_ALWAYS},
	{"strtoul", SAFE_ALWAYS},
	{"strtoull", SAFE_ALWAYS},
	{"strxfrm", SAFE_UNLESS_THROWN},
	{"symlink", SAFE_UNLESS_THROWN},
	{"time", SAFE_ALWAYS},
	{"tolower", SAFE_ALWAYS},
	{"toupper", SAFE_ALWAYS},
	{"towlower", SAFE_ALWAYS},
	{"towupper", SAFE_ALWAYS},
	{"truncate", SAFE_UNLESS_THROWN},
	{"truncate64", SAFE_UNLESS_THROWN},
	{"unlink", SAFE_UNLESS_THROWN},
	{"uselocale", SAFE_ALWAYS},
	{"usleep", SAFE_UNLESS_THROWN},
	{"utimensat", SAFE_UNLESS_THROWN},
	{"wcrtomb", SAFE_UNLESS_THROWN},
	{"wcschr", SAFE_ALWAYS},
	{"wcscmp", SAFE_ALWAYS},
	{"wcscoll", SAFE_UNLESS_THROWN},
	{"wcscpy", SAFE_ALWAYS},
	{"wcslen", SAFE_ALWAYS},
	{"wcsnlen", SAFE_ALWAYS},
	{"wcsnrtombs", SAFE_UNLESS_THROWN},
	{"wcsxfrm", SAFE_UNLESS_THROWN},
	{"wctob", SAFE_UNLESS_THROWN},
	{"wmemchr", SAFE_ALWAYS},
	{"wmemcmp", SAFE_ALWAYS},
	{"wmemcpy", SAFE_ALWAYS},
	{"wmemmove", SAFE_ALWAYS},
	{"wmemset", SAFE_ALWAYS},
	{"write", SAFE_UNLESS_THROWN},
	{"writev", SAFE_UNLESS_THROWN},
};

/*
 * std::terminate() calls a handler that the program may choose, and lets no exception out of it;
 * __dynamic_cast() calls methods of type_info, which throw nothing.
 */
static const struct name cxx_names[] = {
	{"_ZSt9terminatev", SAFE_UNLESS_THROWN},    {"__cxa_allocate_exception", SAFE_ALLOCATES},
	{"__cxa_begin_catch", SAFE_UNLESS_THROWN},  {"__cxa_deleted_virtual", SAFE_UNLESS_THROWN},
	{"__cxa_free_exception", SAFE_ALLOCATES},   {"__cxa_get_exception_ptr", SAFE_ALWAYS},
	{"__cxa_pure_virtual", SAFE_UNLESS_THROWN}, {"__dynamic_cast", SAFE_UNLESS_THROWN},
};

static int by_name(const void *key, const void *element)
{
	return strcmp(key, ((const struct name *)element)->name);
}

#define FIND(name, names)                                                            \
	((const struct name *)bsearch(name, names, sizeof(names) / sizeof(*(names)), \
				      sizeof(*(names)), by_name))

enum safe_callee_kind safe_callee__libc(const char *name)
{
	const struct name *found = FIND(name, libc_names);

	return found ? found->kind : SAFE_NOT;
}

enum safe_callee_kind safe_callee__cxx(const char *name)
{
	const struct name *found = FIND(name, cxx_names);

	return found ? found->kind : SAFE_NOT;
}
