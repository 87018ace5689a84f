// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * clock2 OBJECT PID FILE [each]: attaches the program in OBJECT (clock2.bpf.o, empty.bpf.o) to FILE
 * in process PID (0: in every process) by one link: a session link, or, with `each`, one that runs
 * it at each probe and at no return. stdin has the file offsets of the probes, one a line, and ends
 * with an empty line. Prints "attached N", the nanoseconds that it took to make the link, and stays
 * attached up to the end of stdin.
 */
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attach/links/link.h"

#define MAX_OFFSETS (1u << 20) /* in one link */

static unsigned long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static size_t read_offsets(uint64_t *offsets)
{
	size_t cnt = 0;
	char line[32];

	while (cnt < MAX_OFFSETS && fgets(line, sizeof(line), stdin) && line[0] != '\n')
		offsets[cnt++] = strtoull(line, NULL, 0);
	return cnt;
}

/* Returns the descriptor of the loaded program, or -1. The object stays for as long as we do. */
static int load_program(const char *path, int attach_type)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct bpf_program *program;

	if (!object)
		return -1;
	program = bpf_object__next_program(object, NULL);
	bpf_program__set_expected_attach_type(program, attach_type);
	return bpf_object__load(object) ? -1 : bpf_program__fd(program);
}

int main(int argc, char **argv)
{
	uint64_t *offsets = calloc(MAX_OFFSETS, sizeof(*offsets));
	uint64_t *cookies = calloc(MAX_OFFSETS, sizeof(*cookies));
	int each = argc == 5 && !strcmp(argv[4], "each");
	struct link_spec spec = {.attach_type = each ? LINK_UPROBE_MULTI : LINK_UPROBE_SESSION,
				 .offsets = offsets,
				 .cookies = cookies};
	unsigned long long start;
	int link;

	if (argc != 4 + each || !offsets || !cookies) {
		fprintf(stderr, "usage: clock2 OBJECT PID FILE [each] < OFFSETS\n");
		return 2;
	}
	spec.pid = atoi(argv[2]);
	spec.object_fd = open(argv[3], O_RDONLY | O_CLOEXEC);
	spec.cnt = read_offsets(offsets);
	spec.prog_fd = load_program(argv[1], spec.attach_type);
	if (spec.object_fd < 0 || spec.prog_fd < 0) {
		fprintf(stderr, "clock2: cannot open %s or load %s\n", argv[3], argv[1]);
		return 1;
	}
	start = now_ns();
	link = link__create(&spec);
	if (link < 0) {
		fprintf(stderr, "clock2: cannot attach to %s: %s\n", argv[3], strerror(-link));
		return 1;
	}
	printf("attached %llu\n", now_ns() - start);
	fflush(stdout);
	while (getchar() != EOF)
		;
	close(link);
	return 0;
}
