/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the dynamic linker of a process has put a library's thread-local variables: the one number
 * of another process's data that is read. It takes privileges: whoever has none asks by
 * opener__tls_offset().
 */
#ifndef PROFTRACE_SECURITY_LINK_MAP_H
#define PROFTRACE_SECURITY_LINK_MAP_H

#include <stdint.h>
#include <sys/types.h>

#define LINK_MAP_LIBRARIES 4096	      /* that are looked at in a process, at most */
#define LINK_MAP_FIELD	   8192	      /* bytes into a library's entry, at most */
#define LINK_MAP_OFFSET	   (16 << 20) /* bytes, at most */

/* All of it is said by somebody who may not be trusted. */
struct link_map_query {
	uint64_t list;	  /* address of `_r_debug`, the list of libraries */
	uint64_t dynamic; /* of the library's dynamic section: by it, its entry is known */
	uint32_t
		field; /* so many bytes into the entry the number lies, as glibc's version has it */
};

/*
 * Returns the distance between the thread pointer and the library's variables in bytes, as glibc
 * counts it (x86-64: they lie below). -ERANGE: each thread has them elsewhere, as the library was
 * loaded by dlopen(). -ENOENT: there is no such library in the list. Else -errno. What is no such
 * distance is never returned, so that by a query nothing else of a process's memory can be read.
 */
int64_t link_map__tls_offset(pid_t pid, const struct link_map_query *q);

#endif
