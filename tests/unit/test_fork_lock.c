// SPDX-License-Identifier: GPL-2.0-or-later
/* The lock that is taken for each probe is made free by a probe in a file of our own. */
#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "attach/links/fork_lock.h"
#include "attach/links/link.h"

#define ATTEMPTS 100   /* we may be without a CPU for longer than the lock stays free */
#define LATER_US 10000 /* than that */

static struct link_spec next; /* the link that is to be made next */

/* A program that does nothing, for uprobe_multi links. */
static int load_program(void)
{
	const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_KPROBE;
	attr.expected_attach_type = LINK_UPROBE_MULTI;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = sizeof(code) / sizeof(*code);
	attr.license = (uintptr_t) "GPL";
	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int setup(void **state)
{
	next = (struct link_spec){.prog_fd = load_program(), .attach_type = LINK_UPROBE_MULTI};
	return 0;
}

static int teardown(void **state)
{
	return next.prog_fd < 0 ? 0 : close(next.prog_fd);
}

/* After a pause it is prepared; -1: that cannot be done here. */
static int prepare_later(void)
{
	usleep(LATER_US);
	return fork_lock__prepare(&next);
}

static void is_prepared_after_a_pause(void **state)
{
	int link = prepare_later();

	if (link < 0)
		skip(); /* there are no such links here, or not for us */
	assert_int_equal(close(link), 0);
	link = prepare_later();
	assert_true(link >= 0);
	assert_int_equal(close(link), 0);
}

/* A lock whose last use was just now is free. */
static void is_free_after_its_use(void **state)
{
	int link = 0;

	for (int i = 0; i < ATTEMPTS && link >= 0; i++) {
		fork_lock__used();
		link = fork_lock__prepare(&next);
		if (link >= 0)
			close(link);
	}
	assert_int_equal(link, -1);
}

/* Where a link is refused there is none to be closed. */
static void may_be_refused(void **state)
{
	const int program = next.prog_fd;

	next.prog_fd = -1;
	assert_int_equal(prepare_later(), -1);
	next.prog_fd = program;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(is_prepared_after_a_pause, setup, teardown),
		cmocka_unit_test_setup_teardown(is_free_after_its_use, setup, teardown),
		cmocka_unit_test_setup_teardown(may_be_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
