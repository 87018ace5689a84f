/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BPF links on many uprobes at once, by the system call itself: Debian 12's libbpf (1.1) knows
 * neither uprobe_multi (kernel 6.6) nor session links (6.13). And what stands in for them on older
 * kernels: trace_event.h. */
#ifndef PROFTRACE_ATTACH_LINKS_LINK_H
#define PROFTRACE_ATTACH_LINKS_LINK_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* No link: a trace event with these places. */
#define LINK_TRACE_EVENT 0
/* enum bpf_attach_type of newer kernel headers. */
#define LINK_UPROBE_MULTI   48
#define LINK_UPROBE_SESSION 57

struct link_spec {
	int prog_fd;
	int attach_type;   /* LINK_* */
	int return_probes; /* on returns instead of on the instructions; not LINK_UPROBE_SESSION */
	int object_fd;	   /* the file: probes go by its inode */
	pid_t pid;	   /* 0: every process */
	bool shared; /* with pid 0: for the target's forked children, not for whoever runs it */
	const uint64_t *offsets;
	const uint64_t *cookies;
	/* File offsets of counts that are above 0 while there is a probe, 0: none; NULL: none at
	 * all. */
	const uint64_t *semaphores;
	size_t cnt;
};

/* Not for LINK_TRACE_EVENT. All or nothing. Returns the link's descriptor (closing it detaches) or
 * -errno; silent. */
int link__create(const struct link_spec *spec);

#endif
