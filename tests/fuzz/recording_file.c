// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "calls/profile.h"
#include "record/calls/block_writer.h"
#include "record/format/run_info.h"
#include "record/reader.h"
#include "record/writer.h"

void check(bool holds)
{
	if (!holds)
		abort();
}

static void begin_file(const char *path)
{
	struct profile_function functions[2] = {{.name = "f"}, {.name = "g"}};
	struct profile_argument values[2] = {{0, "v"}, {1, "v"}};
	struct profile p = {.duration_ns = 1ull << 40,
			    .functions = functions,
			    .functions_cnt = 2,
			    .arguments = values,
			    .arguments_cnt = 2};
	struct writer *w;

	check(!writer__open(path, false, &w));
	check(!writer__begin(w, &(struct run_info){.host = "h"}) && !writer__profile(w, &p));
	writer__free(w);
}

static void append_blocks(const char *path, int file, const uint8_t *data, size_t len)
{
	struct block_writer w;

	check(!block_writer__init(&w, path, dup(file)) && lseek(file, 0, SEEK_END) > 0);
	while (len >= RECORDING_BLOCK_HEAD) {
		size_t part = data[2] | data[3] << 8;
		struct bytes content = {0};

		len -= RECORDING_BLOCK_HEAD;
		part = part < len ? part : len;
		content.data = malloc(part + 1);
		content.len = content.cap = part;
		memcpy(content.data, data + RECORDING_BLOCK_HEAD, part);
		check(!block_writer__pack(&w, data[0], &content, 0));
		check(!block_writer__put(&w));
		data += RECORDING_BLOCK_HEAD + part;
		len -= part;
	}
	block_writer__fini(&w);
}

int recording_file__open(const uint8_t *data, size_t len, struct reader **out)
{
	static int file = -1;
	/* Outlives the reader, as messages name it. */
	static char path[64];

	if (file < 0)
		file = memfd_create("recording", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	begin_file(path);
	append_blocks(path, file, data, len);
	return reader__open(path, out);
}
