// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions get here by what they do not do: call back, throw, unwind, look at the stack or switch
 * it. Cancellation points (pthreads(7)), and what may load a locale's modules, are THROWLESS. What
 * prints or reads by stdio may call a stream's own functions, so it is not here; nor is exit(),
 * which runs what others have registered. abort() ends the process: handlers of SIGABRT are
 * excluded by whoever asks.
 */
#include "exits/quiet.h"

#include <stdlib.h>
#include <string.h>

struct name {
	const char *name;
	enum quiet_kind kind;
};

/* In the order of strcmp(). */
static const struct name libc_names[] = {
	{"__ctype_b_loc", QUIET_ALWAYS},
	{"__ctype_get_mb_cur_max", QUIET_ALWAYS},
	{"__ctype_tolower_loc", QUIET_ALWAYS},
	{"__ctype_toupper_loc", QUIET_ALWAYS},
	{"__errno_location", QUIET_ALWAYS},
	{"__memcpy_chk", QUIET_ALWAYS},
	{"__memmove_chk", QUIET_ALWAYS},
	{"__memset_chk", QUIET_ALWAYS},
	{"__nl_langinfo_l", QUIET_ALWAYS},
	{"__stack_chk_fail", QUIET_ALWAYS},
	{"__strcoll_l", QUIET_THROWLESS},
	{"__strcpy_chk", QUIET_ALWAYS},
	{"__strdup", QUIET_ALLOCATES},
	{"__strftime_l", QUIET_THROWLESS},
	{"__strtod_l", QUIET_ALWAYS},
	{"__strtof_l", QUIET_ALWAYS},
	{"__strxfrm_l", QUIET_THROWLESS},
	{"__tls_get_addr", QUIET_ALLOCATES},
	{"__tolower_l", QUIET_ALWAYS},
	{"__toupper_l", QUIET_ALWAYS},
	{"__towlower_l", QUIET_ALWAYS},
	{"__towupper_l", QUIET_ALWAYS},
	{"__uselocale", QUIET_ALWAYS},
	{"__wcscoll_l", QUIET_THROWLESS},
	{"__wcsftime_l", QUIET_THROWLESS},
	{"__wcsxfrm_l", QUIET_THROWLESS},
	{"__wctype_l", QUIET_ALWAYS},
	{"__xpg_strerror_r", QUIET_THROWLESS},
	{"abort", QUIET_ALWAYS},
	{"abs", QUIET_ALWAYS},
	{"access", QUIET_THROWLESS},
	{"aligned_alloc", QUIET_ALLOCATES},
	{"bcmp", QUIET_ALWAYS},
	{"btowc", QUIET_THROWLESS},
	{"calloc", QUIET_ALLOCATES},
	{"chdir", QUIET_THROWLESS},
	{"chmod", QUIET_THROWLESS},
	{"clock_gettime", QUIET_ALWAYS},
	{"close", QUIET_THROWLESS},
	{"fchmod", QUIET_THROWLESS},
	{"fchmodat", QUIET_THROWLESS},
	{"fesetround", QUIET_ALWAYS},
	{"fileno", QUIET_ALWAYS},
	{"free", QUIET_ALLOCATES},
	{"frexpl", QUIET_ALWAYS},
	{"fstat", QUIET_THROWLESS},
	{"fstat64", QUIET_THROWLESS},
	{"ftruncate64", QUIET_THROWLESS},
	{"get_nprocs", QUIET_ALWAYS},
	{"getcwd", QUIET_THROWLESS},
	{"getentropy", QUIET_ALWAYS},
	{"getenv", QUIET_ALWAYS},
	{"getpid", QUIET_ALWAYS},
	{"gettimeofday", QUIET_ALWAYS},
	{"gmtime", QUIET_THROWLESS},
	{"gmtime_r", QUIET_THROWLESS},
	{"iconv", QUIET_THROWLESS},
	{"ioctl", QUIET_THROWLESS},
	{"isalnum", QUIET_ALWAYS},
	{"isalpha", QUIET_ALWAYS},
	{"isatty", QUIET_THROWLESS},
	{"isdigit", QUIET_ALWAYS},
	{"islower", QUIET_ALWAYS},
	{"isprint", QUIET_ALWAYS},
	{"ispunct", QUIET_ALWAYS},
	{"isspace", QUIET_ALWAYS},
	{"isupper", QUIET_ALWAYS},
	{"iswctype", QUIET_ALWAYS},
	{"isxdigit", QUIET_ALWAYS},
	{"labs", QUIET_ALWAYS},
	{"link", QUIET_THROWLESS},
	{"localeconv", QUIET_ALWAYS},
	{"localtime", QUIET_THROWLESS},
	{"localtime_r", QUIET_THROWLESS},
	{"lseek", QUIET_THROWLESS},
	{"lseek64", QUIET_THROWLESS},
	{"lstat", QUIET_THROWLESS},
	{"lstat64", QUIET_THROWLESS},
	{"malloc", QUIET_ALLOCATES},
	{"malloc_usable_size", QUIET_ALLOCATES},
	{"mbrlen", QUIET_THROWLESS},
	{"mbrtowc", QUIET_THROWLESS},
	{"mbsnrtowcs", QUIET_THROWLESS},
	{"memchr", QUIET_ALWAYS},
	{"memcmp", QUIET_ALWAYS},
	{"memcpy", QUIET_ALWAYS},
	{"memmem", QUIET_ALWAYS},
	{"memmove", QUIET_ALWAYS},
	{"mempcpy", QUIET_ALWAYS},
	{"memrchr", QUIET_ALWAYS},
	{"memset", QUIET_ALWAYS},
	{"mkdir", QUIET_THROWLESS},
	{"mktime", QUIET_THROWLESS},
	{"nanosleep", QUIET_THROWLESS},
	{"nl_langinfo", QUIET_ALWAYS},
	{"open", QUIET_THROWLESS},
	{"open64", QUIET_THROWLESS},
	{"openat", QUIET_THROWLESS},
	{"poll", QUIET_THROWLESS},
	{"posix_memalign", QUIET_ALLOCATES},
	{"pread64", QUIET_THROWLESS},
	{"pthread_cond_broadcast", QUIET_ALWAYS},
	{"pthread_cond_clockwait", QUIET_THROWLESS},
	{"pthread_cond_destroy", QUIET_ALWAYS},
	{"pthread_cond_init", QUIET_ALWAYS},
	{"pthread_cond_signal", QUIET_ALWAYS},
	{"pthread_cond_timedwait", QUIET_THROWLESS},
	{"pthread_cond_wait", QUIET_THROWLESS},
	{"pthread_detach", QUIET_THROWLESS},
	{"pthread_equal", QUIET_ALWAYS},
	{"pthread_getspecific", QUIET_ALWAYS},
	{"pthread_mutex_destroy", QUIET_ALWAYS},
	{"pthread_mutex_init", QUIET_ALWAYS},
	{"pthread_mutex_lock", QUIET_ALWAYS},
	{"pthread_mutex_trylock", QUIET_ALWAYS},
	{"pthread_mutex_unlock", QUIET_ALWAYS},
	{"pthread_rwlock_rdlock", QUIET_THROWLESS},
	{"pthread_rwlock_unlock", QUIET_ALWAYS},
	{"pthread_rwlock_wrlock", QUIET_THROWLESS},
	{"pthread_self", QUIET_ALWAYS},
	{"pthread_setspecific", QUIET_ALLOCATES},
	{"pwrite64", QUIET_THROWLESS},
	{"rawmemchr", QUIET_ALWAYS},
	{"read", QUIET_THROWLESS},
	{"readlink", QUIET_THROWLESS},
	{"readv", QUIET_THROWLESS},
	{"realloc", QUIET_ALLOCATES},
	{"remove", QUIET_THROWLESS},
	{"rename", QUIET_THROWLESS},
	{"rmdir", QUIET_THROWLESS},
	{"sched_yield", QUIET_THROWLESS},
	{"secure_getenv", QUIET_ALWAYS},
	{"sleep", QUIET_THROWLESS},
	{"stat", QUIET_THROWLESS},
	{"stat64", QUIET_THROWLESS},
	{"stpcpy", QUIET_ALWAYS},
	{"strcasecmp", QUIET_ALWAYS},
	{"strcat", QUIET_ALWAYS},
	{"strchr", QUIET_ALWAYS},
	{"strchrnul", QUIET_ALWAYS},
	{"strcmp", QUIET_ALWAYS},
	{"strcoll", QUIET_THROWLESS},
	{"strcpy", QUIET_ALWAYS},
	{"strcspn", QUIET_ALWAYS},
	{"strdup", QUIET_ALLOCATES},
	{"strerror", QUIET_THROWLESS},
	{"strerror_r", QUIET_THROWLESS},
	{"strftime", QUIET_THROWLESS},
	{"strlen", QUIET_ALWAYS},
	{"strncasecmp", QUIET_ALWAYS},
	{"strncat", QUIET_ALWAYS},
	{"strncmp", QUIET_ALWAYS},
	{"strncpy", QUIET_ALWAYS},
	{"strnlen", QUIET_ALWAYS},
	{"strpbrk", QUIET_ALWAYS},
	{"strrchr", QUIET_ALWAYS},
	{"strspn", QUIET_ALWAYS},
	{"strstr", QUIET_ALWAYS},
	{"strtod", QUIET_ALWAYS},
	{"strtod_l", QUIET_ALWAYS},
	{"strtof", QUIET_ALWAYS},
	{"strtof_l", QUIET_ALWAYS},
	{"strtol", QUIET_ALWAYS},
	{"strtold", QUIET_ALWAYS},
	{"strtold_l", QUIET_ALWAYS},
	{"strtoll", QUIET_ALWAYS},
	{"strtoul", QUIET_ALWAYS},
	{"strtoull", QUIET_ALWAYS},
	{"strxfrm", QUIET_THROWLESS},
	{"symlink", QUIET_THROWLESS},
	{"time", QUIET_ALWAYS},
	{"tolower", QUIET_ALWAYS},
	{"toupper", QUIET_ALWAYS},
	{"towlower", QUIET_ALWAYS},
	{"towupper", QUIET_ALWAYS},
	{"truncate", QUIET_THROWLESS},
	{"truncate64", QUIET_THROWLESS},
	{"unlink", QUIET_THROWLESS},
	{"uselocale", QUIET_ALWAYS},
	{"usleep", QUIET_THROWLESS},
	{"utimensat", QUIET_THROWLESS},
	{"wcrtomb", QUIET_THROWLESS},
	{"wcschr", QUIET_ALWAYS},
	{"wcscmp", QUIET_ALWAYS},
	{"wcscoll", QUIET_THROWLESS},
	{"wcscpy", QUIET_ALWAYS},
	{"wcslen", QUIET_ALWAYS},
	{"wcsnlen", QUIET_ALWAYS},
	{"wcsnrtombs", QUIET_THROWLESS},
	{"wcsxfrm", QUIET_THROWLESS},
	{"wctob", QUIET_THROWLESS},
	{"wmemchr", QUIET_ALWAYS},
	{"wmemcmp", QUIET_ALWAYS},
	{"wmemcpy", QUIET_ALWAYS},
	{"wmemmove", QUIET_ALWAYS},
	{"wmemset", QUIET_ALWAYS},
	{"write", QUIET_THROWLESS},
	{"writev", QUIET_THROWLESS},
};

/*
 * std::terminate() calls a handler that the program may choose, and lets no exception out of it;
 * __dynamic_cast() calls methods of type_info, which throw nothing.
 */
static const struct name cxx_names[] = {
	{"_ZSt9terminatev", QUIET_THROWLESS},	   {"__cxa_allocate_exception", QUIET_ALLOCATES},
	{"__cxa_begin_catch", QUIET_THROWLESS},	   {"__cxa_deleted_virtual", QUIET_THROWLESS},
	{"__cxa_free_exception", QUIET_ALLOCATES}, {"__cxa_get_exception_ptr", QUIET_ALWAYS},
	{"__cxa_pure_virtual", QUIET_THROWLESS},   {"__dynamic_cast", QUIET_THROWLESS},
};

static int by_name(const void *key, const void *element)
{
	return strcmp(key, ((const struct name *)element)->name);
}

#define FIND(name, names)                                                            \
	((const struct name *)bsearch(name, names, sizeof(names) / sizeof(*(names)), \
				      sizeof(*(names)), by_name))

enum quiet_kind quiet__libc(const char *name)
{
	const struct name *found = FIND(name, libc_names);

	return found ? found->kind : QUIET_NOT;
}

enum quiet_kind quiet__cxx(const char *name)
{
	const struct name *found = FIND(name, cxx_names);

	return found ? found->kind : QUIET_NOT;
}
