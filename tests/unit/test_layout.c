// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Variables that calls write on one CPU are on no cache line that another CPU reads or writes at
 * calls. Here: where tables' entries and variables lie. That programs write to no other variables
 * is checked at each build, by scripts/bpf-writes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <bpf/libbpf.h>

#include "attach/links/skeleton.h"

#define LINE 64

static struct proftrace_bpf *skel;

static int open_programs(void **state)
{
	skel = proftrace_bpf__open();
	return skel ? 0 : -1;
}

static int close_programs(void **state)
{
	proftrace_bpf__destroy(skel);
	return 0;
}

/* Entries that belong to one stack each. They are memory-mapped, so the first one begins a page. */
static void entries_fill_lines(void **state)
{
	const struct bpf_map *const tables[] = {
		skel->maps.callstacks, skel->maps.frames,      skel->maps.nodes,  skel->maps.dists,
		skel->maps.chunks,     skel->maps.frame_rests, skel->maps.values,
	};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		assert_true(bpf_map__map_flags(tables[i]) & BPF_F_MMAPABLE);
		assert_int_equal(bpf_map__value_size(tables[i]) % LINE, 0);
	}
}

/* Variables are memory-mapped as well. */
static void counters_fill_lines(void **state)
{
	assert_int_equal(sizeof(skel->bss->tallies[0]), LINE);
	assert_int_equal(offsetof(struct proftrace_bpf__bss, tallies) % LINE, 0);
	/* No variable follows on the last tally's line. */
	assert_int_equal(sizeof(skel->bss->tallies) % LINE, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_fill_lines),
		cmocka_unit_test(counters_fill_lines),
	};

	return cmocka_run_group_tests(tests, open_programs, close_programs);
}
