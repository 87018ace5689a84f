// SPDX-License-Identifier: GPL-2.0-or-later
#include "security/link_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

/* struct r_debug and struct link_map of <link.h>, in programs of 64 bits. */
struct list {
	uint32_t version, pad;
	uint64_t first;
};

struct entry {
	uint64_t address, name, dynamic, next, previous;
};

static bool read_all(int mem, uint64_t at, void *buf, size_t size)
{
	return at <= INT64_MAX - size && pread(mem, buf, size, (off_t)at) == (ssize_t)size;
}

/* Both ways of one architecture to say that there is none, 0 or -1 and -2, are out of bounds. */
static int64_t check(uint64_t offset)
{
	return offset && offset <= LINK_MAP_OFFSET ? (int64_t)offset : -ERANGE;
}

static int64_t find(int mem, const struct link_map_query *q)
{
	uint64_t at, offset;
	struct entry entry;
	struct list list;

	if (!read_all(mem, q->list, &list, sizeof(list)))
		return -EIO;
	at = list.first;
	for (int i = 0; at && i < LINK_MAP_LIBRARIES; i++, at = entry.next) {
		if (!read_all(mem, at, &entry, sizeof(entry)))
			return -EIO;
		if (entry.dynamic != q->dynamic)
			continue;
		if (!read_all(mem, at + q->field, &offset, sizeof(offset)))
			return -EIO;
		return check(offset);
	}
	return -ENOENT;
}

int64_t link_map__tls_offset(pid_t pid, const struct link_map_query *q)
{
	char path[64];
	int64_t offset;
	int mem;

	if (pid <= 0 || q->field > LINK_MAP_FIELD || q->field < sizeof(struct entry))
		return -EINVAL;
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	if (mem < 0)
		return -errno;
	offset = find(mem, q);
	close(mem);
	return offset;
}
