// SPDX-License-Identifier: GPL-2.0-or-later
#include "target/vdso.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target/maps.h"
#include "util/io.h"

static int look_for_it(const struct mapping *m, void *ctx)
{
	struct mapping *found = ctx;

	if (strcmp(m->name, VDSO_NAME))
		return 0;
	*found = *m;
	return 1;
}

/* Our own vdso is copied: all processes have the same. */
int vdso__open(void)
{
	struct mapping m = {0};
	int fd, err = maps__for_each_mapping(getpid(), look_for_it, &m);

	if (err <= 0)
		return err ? err : -ENOENT;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = io__write_all(fd, (const void *)(uintptr_t)m.start, m.end - m.start);
	if (!err)
		return fd;
	close(fd);
	return err;
}
