// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/asleep.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "asleep.skel.h"
#include "attach/links/btf/kernel_btf.h"
#include "attach/links/typed_programs.h"

/* Opens it with the kernel's types in that file (-1: libbpf finds them). NULL with errno set. */
static struct asleep_bpf *open_with(int types)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", types);
	if (types >= 0)
		opts.btf_custom_path = path;
	return asleep_bpf__open_opts(&opts);
}

/* Has it use the tables of the programs that are loaded, but for variables. Returns 0 or -errno. */
static int share_maps(struct asleep_bpf *asleep, const struct proftrace_bpf *skel)
{
	struct bpf_map *map;
	int err = 0;

	bpf_object__for_each_map (map, asleep->obj) {
		const struct bpf_map *other =
			bpf_object__find_map_by_name(skel->obj, bpf_map__name(map));

		if (!err && other && !bpf_map__is_internal(map))
			err = bpf_map__reuse_fd(map, bpf_map__fd(other));
	}
	return err;
}

static void share_constants(struct asleep_bpf *asleep, const struct proftrace_bpf *skel)
{
	asleep->rodata->waits_cap = skel->rodata->waits_cap;
	asleep->rodata->filter_tgids = skel->rodata->filter_tgids;
	asleep->rodata->pid_ns = skel->rodata->pid_ns;
	asleep->rodata->pid_ns_dev = skel->rodata->pid_ns_dev;
	memcpy((void *)asleep->rodata->call_reasons, (void *)skel->rodata->call_reasons,
	       sizeof(asleep->rodata->call_reasons));
	memcpy((void *)asleep->rodata->call_files, (void *)skel->rodata->call_files,
	       sizeof(asleep->rodata->call_files));
	asleep->rodata->asleep_since = skel->bss->opened_ns;
	/* The other half of the table is for waits that begin. */
	asleep->rodata->asleep_most = skel->rodata->waits_cap / 2;
}

/* Returns 0 or -errno. */
static int load(struct asleep_bpf *asleep, const struct proftrace_bpf *skel)
{
	int err = share_maps(asleep, skel);

	if (err)
		return err;
	share_constants(asleep, skel);
	bpf_program__set_flags(asleep->progs.find_asleep, BPF_F_SLEEPABLE);
	return asleep_bpf__load(asleep);
}

/* Runs it, once for each thread of the machine. Returns 0 or -errno. */
static int run(const struct asleep_bpf *asleep)
{
	int program = bpf_program__fd(asleep->progs.find_asleep), err = 0;
	int link = bpf_link_create(program, 0, BPF_TRACE_ITER, NULL);
	int threads = link >= 0 ? bpf_iter_create(link) : -1;
	char nothing[8];

	if (threads < 0)
		err = -errno;
	/* After a million threads that nothing was written of it may be asked again. */
	while (!err && read(threads, nothing, sizeof(nothing)) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			err = -errno;
	}
	if (threads >= 0)
		close(threads);
	if (link >= 0)
		close(link);
	return err;
}

/* As the programs at switches count them. */
static void count(struct proftrace_bpf *skel, const struct asleep_bpf *asleep)
{
	struct wire_wait_counts *counts = &skel->data_written->wait_counts[0];
	uint32_t noted = asleep->data_written->asleep_noted;
	uint32_t lost = asleep->data_written->asleep_lost;

	__atomic_add_fetch(&counts->taken, noted + lost, __ATOMIC_RELAXED);
	__atomic_add_fetch(&counts->lost, lost, __ATOMIC_RELAXED);
	__atomic_add_fetch(&counts->made, noted, __ATOMIC_RELAXED);
}

int asleep__find(struct proftrace_bpf *skel)
{
	int types = memfd_create("types", MFD_CLOEXEC), err = typed_programs__handle();
	struct asleep_bpf *asleep = err ? NULL : open_with(types);
	uint32_t noted = 0;

	if (!err && !asleep)
		err = -errno;
	if (!err && (types < 0 || skeleton__write_types(asleep->obj, types))) {
		asleep_bpf__destroy(asleep);
		asleep = open_with(-1);
		err = asleep ? 0 : -errno;
	}
	if (!err)
		err = load(asleep, skel);
	if (!err)
		err = run(asleep);
	if (!err) {
		noted = asleep->data_written->asleep_noted;
		count(skel, asleep);
	}
	kernel_btf__forget();
	asleep_bpf__destroy(asleep);
	if (types >= 0)
		close(types);
	return err ? err : (int)noted;
}
