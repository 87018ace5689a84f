// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/link.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The part of union bpf_attr that BPF_LINK_CREATE reads for these links, as of Linux 7.2. */
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
	uint32_t path_fd; /* since 7.2; before, what is here must be 0 */
};

_Static_assert(sizeof(struct link_create_attr) == 64, "BPF_LINK_CREATE");

#define UPROBE_MULTI_RETURN  1
#define UPROBE_MULTI_PATH_FD 2 /* since 7.2 */

static int create(const struct link_create_attr *attr)
{
	int fd = syscall(SYS_bpf, BPF_LINK_CREATE, attr, sizeof(*attr));

	return fd < 0 ? -errno : fd;
}

/* The file by its descriptor, so that no path is looked up. */
static int create_by_descriptor(struct link_create_attr attr, int object_fd)
{
	attr.path = 0;
	attr.path_fd = object_fd;
	attr.multi_flags |= UPROBE_MULTI_PATH_FD;
	return create(&attr);
}

int link__create(const struct link_spec *spec)
{
	/* Whether this kernel takes descriptors: not, if it has refused one and then taken the path
	 * of the same file. */
	static bool by_path;
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
	int fd = by_path ? -EINVAL : create_by_descriptor(attr, spec->object_fd);

	if (fd != -EINVAL)
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", spec->object_fd);
	fd = create(&attr);
	by_path |= fd >= 0;
	return fd;
}
