// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/fork_lock.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/links/link.h"
#include "util/clock.h"

#define FREE_NS	  2000000 /* after its last use; a grace period takes longer */
#define FILE_SIZE 4096

static uint64_t used_ns; /* when it was last */

/* A file that no process maps; -1: none. */
static int own_file(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("nobody-runs-this", MFD_CLOEXEC);
	if (fd >= 0 && ftruncate(fd, FILE_SIZE)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void fork_lock__used(void)
{
	__atomic_store_n(&used_ns, now_ns(), __ATOMIC_RELAXED);
}

int fork_lock__prepare(const struct link_spec *spec)
{
	const uint64_t offset = 0, cookie = 0;
	struct link_spec own = {
		.prog_fd = spec->prog_fd,
		.attach_type = spec->attach_type,
		.return_probes = spec->return_probes,
		.offsets = &offset,
		.cookies = &cookie,
		.cnt = 1,
	};
	int fd;

	if (now_ns() < __atomic_load_n(&used_ns, __ATOMIC_RELAXED) + FREE_NS)
		return -1;
	own.object_fd = own_file();
	fd = own.object_fd < 0 ? -1 : link__create(&own);
	fork_lock__used();
	return fd < 0 ? -1 : fd;
}
