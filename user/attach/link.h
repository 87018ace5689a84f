/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BPF links on many uprobes at once, by the system call itself: Debian 12's libbpf (1.1) knows
 * neither uprobe_multi (kernel 6.6) nor session links (6.13). */
#ifndef PROFTRACE_ATTACH_LINK_H
#define PROFTRACE_ATTACH_LINK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* enum bpf_attach_type of newer kernel headers. */
#define LINK_UPROBE_MULTI   48
#define LINK_UPROBE_SESSION 57

struct link_spec {
	int prog_fd;
	int attach_type;   /* LINK_* */
	int return_probes; /* LINK_UPROBE_MULTI: on returns instead of on the instructions */
	int object_fd;	   /* the file: probes go by its inode */
	pid_t pid;	   /* 0: every process */
	const uint64_t *offsets;
	const uint64_t *cookies;
	/* File offsets of counts that are above 0 while there is a probe, 0: none; NULL: none at
	 * all. */
	const uint64_t *semaphores;
	size_t cnt;
};

/* All or nothing. Returns the link's descriptor (closing it detaches) or -errno; silent. */
int link__create(const struct link_spec *spec);

#endif
