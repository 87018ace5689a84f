// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/call_probes.h"

#include <bpf/btf.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/arch.h"
#include "attach/links/btf/btf_view.h"
#include "attach/links/btf/kernel_btf.h"
#include "util/io.h"

#define BEGIN "trace_syscall_enter"
#define END   "trace_syscall_exit"
/* The number of the kind of event that a kprobe is. */
#define EVENT_TYPE "/sys/bus/event_source/devices/kprobe/type"

/* Perf events; -1: there is none. */
static int begin = -1, end = -1;

bool call_probes__known(void)
{
	const struct btf_view *kernel = arch__host()->knows_calls ? kernel_btf() : NULL;

	return kernel && btf_view__find(kernel, BEGIN, BTF_KIND_FUNC) > 0 &&
	       btf_view__find(kernel, END, BTF_KIND_FUNC) > 0;
}

static int open_event(int type, const char *function)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.kprobe_func = (uintptr_t)function,
		.disabled = 1,
	};

	/* pid -1 and one CPU: the program runs wherever the function is called. */
	return syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
}

void call_probes__open(void)
{
	int type = io__read_number(EVENT_TYPE);

	if (type < 0)
		return;
	begin = open_event(type, BEGIN);
	end = open_event(type, END);
}

/* The link closes the descriptor that it is given. */
static struct bpf_link *attach(const struct bpf_program *program, int event)
{
	int fd = fcntl(event, F_DUPFD_CLOEXEC, 0);
	struct bpf_link *link = fd < 0 ? NULL : bpf_program__attach_perf_event(program, fd);

	if (!link && fd >= 0)
		close(fd);
	return link;
}

bool call_probes__attach(struct proftrace_bpf *skel)
{
	if (skel->links.call_begin_probe)
		return true;
	if (begin < 0 || end < 0 || !bpf_program__autoload(skel->progs.call_begin_probe))
		return false;
	skel->links.call_end_probe = attach(skel->progs.call_end_probe, end);
	skel->links.call_begin_probe = attach(skel->progs.call_begin_probe, begin);
	if (skel->links.call_begin_probe && skel->links.call_end_probe)
		return true;
	bpf_link__destroy(skel->links.call_begin_probe);
	bpf_link__destroy(skel->links.call_end_probe);
	skel->links.call_begin_probe = skel->links.call_end_probe = NULL;
	return false;
}
