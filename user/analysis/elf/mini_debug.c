// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/mini_debug.h"

#include <errno.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/elf_image.h"
#include "elf/elf_inside.h"
#include "util/io.h"
#include "util/log.h"

#define MAX_SIZE    (64u << 20)	 /* of the section, and of what comes out of it */
#define MAX_MEMORY  (128u << 20) /* xz -9 needs 65 MiB */
#define OUTPUT_STEP (16u << 10)

/* Returns 0, -ENOEXEC for bad data, or what failed. */
static int run_decoder(lzma_stream *xz, int fd)
{
	uint8_t buf[OUTPUT_STEP];
	lzma_ret ret;
	int err;

	do {
		xz->next_out = buf;
		xz->avail_out = sizeof(buf);
		ret = lzma_code(xz, LZMA_FINISH);
		if (ret == LZMA_MEM_ERROR)
			return -ENOMEM;
		if ((ret != LZMA_OK && ret != LZMA_STREAM_END) || xz->total_out > MAX_SIZE)
			return -ENOEXEC;
		err = io__write_all(fd, buf, sizeof(buf) - xz->avail_out);
		if (err)
			return err;
	} while (ret != LZMA_STREAM_END);
	return 0;
}

static int decompress(const void *data, size_t len, int fd)
{
	lzma_stream xz = LZMA_STREAM_INIT;
	int err;

	if (lzma_stream_decoder(&xz, MAX_MEMORY, 0) != LZMA_OK)
		return -ENOMEM;
	xz.next_in = data;
	xz.avail_in = len;
	err = run_decoder(&xz, fd);
	lzma_end(&xz);
	return err;
}

/* The result goes to a nameless file in memory, so that it is read like any other. */
static int unpack(const struct elf_image *img, const struct elf_section *sec,
		  struct elf_image **out)
{
	char label[4096];
	void *packed;
	int err, fd;

	err = elf_section__read(img, sec, MAX_SIZE, &packed);
	if (err)
		return err;
	fd = memfd_create("proftrace-debugdata", MFD_CLOEXEC);
	err = fd < 0 ? -errno : decompress(packed, sec->size, fd);
	free(packed);
	if (!err) {
		snprintf(label, sizeof(label), "%s(.gnu_debugdata)", elf_image__label(img));
		err = elf_image__open_debug(fd, label, out);
	}
	if (err && fd >= 0)
		close(fd);
	return err;
}

int mini_debug__open(const struct elf_image *img, struct elf_image **out)
{
	const struct elf_section *sec = elf_section__by_name(img, ".gnu_debugdata");
	int err;

	if (!sec)
		return -ENOENT;
	err = unpack(img, sec, out);
	if (err == -ENOEXEC || err == -ENOTSUP) {
		log_warn("elf: '%s': damaged .gnu_debugdata ignored", elf_image__label(img));
		return -ENOENT;
	}
	if (err)
		log_error("elf: cannot unpack .gnu_debugdata of '%s': %s", elf_image__label(img),
			  strerror(-err));
	return err;
}
