// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/link.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The part of union bpf_attr that BPF_LINK_CREATE reads for these links, as of Linux 6.6. */
struct link_create_attr {
	uint32_t prog_fd;
	uint32_t target_fd;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t ref_ctr_offsets;
	uint64_t cookies;
	uint32_t cnt;
	uint32_t multi_flags;
	uint32_t pid;
	uint32_t pad;
};

_Static_assert(sizeof(struct link_create_attr) == 64, "BPF_LINK_CREATE");

#define UPROBE_MULTI_RETURN 1

int link__create(const struct link_spec *spec)
{
	char path[64];
	struct link_create_attr attr = {
		.prog_fd = spec->prog_fd,
		.attach_type = spec->attach_type,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)spec->offsets,
		.ref_ctr_offsets = (uintptr_t)spec->semaphores,
		.cookies = (uintptr_t)spec->cookies,
		.cnt = spec->cnt,
		.multi_flags = spec->return_probes ? UPROBE_MULTI_RETURN : 0,
		.pid = spec->pid,
	};
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", spec->object_fd);
	fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	return fd < 0 ? -errno : fd;
}
