// SPDX-License-Identifier: GPL-2.0-or-later
/* libFuzzer: /proc/PID/maps, whose paths their owner chose. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "target/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int look(const struct mapped_file *file, void *ctx)
{
	if (file->path[0] != '/' || !file->ino)
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	FILE *f = len ? fmemopen((void *)data, len, "r") : NULL;

	if (f) {
		maps__parse(f, look, NULL);
		fclose(f);
	}
	return 0;
}
