/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Library functions that are known to leave their callers' stack alone. */
#ifndef PROFTRACE_EXITS_QUIET_H
#define PROFTRACE_EXITS_QUIET_H

enum quiet_kind {
	QUIET_NOT, /* not known to be */
	QUIET_ALWAYS,
	QUIET_ALLOCATES, /* if the allocator is the C library's own */
	QUIET_THROWLESS, /* no exception comes out, but threads may be cancelled in it, say */
};

/* Of the C library's function (libc.so.6, the dynamic linker), whoever else may have one of that
 * name. */
enum quiet_kind quiet__libc(const char *name);
/* Of the C++ runtime's (libstdc++, libc++abi). */
enum quiet_kind quiet__cxx(const char *name);

#endif
