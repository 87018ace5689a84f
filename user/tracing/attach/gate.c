// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/gate.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

#include "attach/links/holder/link_holder.h"
#include "attach/links/skeleton.h"
#include "util/clock.h"

int gate__init(struct gate *g, struct proftrace_bpf *skel, struct link_holder *k)
{
	*g = (struct gate){.skel = skel, .inner = -1, .outer = -1};
	g->inner = link_holder__make_map(k, LOOSE_GATE_INNER, 1, -1);
	if (g->inner < 0)
		return g->inner;
	g->outer = link_holder__make_map(k, LOOSE_GATE_OUTER, 1, g->inner);
	return g->outer < 0 ? g->outer : 0;
}

void gate__fini(struct gate *g)
{
	if (!g->skel)
		return;
	if (g->inner >= 0)
		close(g->inner);
	if (g->outer >= 0)
		close(g->outer);
	g->skel = NULL;
}

static void set(struct gate *g, enum wire_gate state)
{
	__atomic_store_n(&g->skel->bss->gate, state, __ATOMIC_SEQ_CST);
}

void gate__open(struct gate *g)
{
	__atomic_store_n(&g->skel->bss->stopped_ns, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&g->skel->bss->opened_ns, now_ns(), __ATOMIC_SEQ_CST);
	if (!g->skel->rodata->takes_turns) {
		set(g, WIRE_GATE_OPEN);
		return;
	}
	/* The other run's gate is closed as this one's is opened. */
	set(g, WIRE_GATE_BY_TURN);
	__atomic_store_n(&g->skel->data_turn->turn, g->skel->rodata->own_turn, __ATOMIC_SEQ_CST);
}

void gate__open_alone(struct gate *g)
{
	set(g, WIRE_GATE_OPEN);
}

void gate__close(struct gate *g)
{
	set(g, WIRE_GATE_CLOSED);
}

int gate__make_turn(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	const uint32_t size = sizeof(((struct proftrace_bpf *)NULL)->data_turn->turn);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "turn", sizeof(uint32_t), size, 1, &opts);

	return fd < 0 ? -errno : fd;
}

/* The kernel promises it to whoever changes a map in a map: the update returns when the programs
 * that may have seen the old one have ended (maybe_wait_bpf_programs() in kernel/bpf/syscall.c).
 * All that touch frames are of the kind that this holds for: they do not sleep. */
int gate__settle(struct gate *g)
{
	uint32_t first = 0;

	return bpf_map_update_elem(g->outer, &first, &g->inner, BPF_ANY) ? -errno : 0;
}

int gate__close_frames(struct gate *g, uint64_t at_ns)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	g->skel->bss->closed_ns = at_ns;
	return bpf_prog_test_run_opts(skeleton__program(g->skel, g->skel->progs.close_open), &opts)
		       ? -errno
		       : 0;
}
