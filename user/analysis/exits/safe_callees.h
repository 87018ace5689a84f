/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Library functions that are known to leave their callers' stack alone. */
#ifndef PROFTRACE_EXITS_SAFE_CALLEES_H
#define PROFTRACE_EXITS_SAFE_CALLEES_H

enum safe_callee_kind {
	SAFE_NOT, /* not known to be */
	SAFE_ALWAYS,
	SAFE_ALLOCATES,	    /* if the allocator is the C library's own */
	SAFE_UNLESS_THROWN, /* no exception comes out, but threads may be cancelled in it, say */
};

/* The kind of a function of the C library (libc.so.6, the dynamic linker), even if another file
 * defines one of that name. */
enum safe_callee_kind safe_callee__libc(const char *name);
/* The kind of a function of the C++ runtime (libstdc++, libc++abi). */
enum safe_callee_kind safe_callee__cxx(const char *name);

#endif
