// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/loader.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "attach/links/backend.h"
#include "attach/links/call_probes.h"
#include "attach/links/btf/kernel_btf.h"
#include "attach/links/refusal.h"
#include "attach/links/typed_programs.h"

void load_spec__of(const struct proftrace_bpf *skel, uint32_t backend, struct load_spec *out)
{
	struct bpf_program *program;
	const struct bpf_map *map;
	size_t at = 0;

	*out = (struct load_spec){.backend = backend, .rodata = *skel->rodata};
	bpf_object__for_each_program (program, skel->obj) {
		if (at < LOAD_PROGRAMS && bpf_program__autoload(program))
			out->programs |= 1ull << at;
		at++;
	}
	at = 0;
	bpf_object__for_each_map (map, skel->obj) {
		if (at < FD_MESSAGE_MOST)
			out->entries[at++] = bpf_map__max_entries(map);
	}
}

/* Returns 0 or -errno. */
static int follow(struct proftrace_bpf *skel, const struct load_spec *spec)
{
	struct bpf_program *program;
	struct bpf_map *map;
	size_t at = 0;
	int err = 0;

	bpf_object__for_each_program (program, skel->obj) {
		if (at >= LOAD_PROGRAMS)
			return -E2BIG;
		bpf_program__set_autoload(program, spec->programs >> at++ & 1);
	}
	at = 0;
	bpf_object__for_each_map (map, skel->obj) {
		if (at >= FD_MESSAGE_MOST)
			return -E2BIG;
		if (spec->entries[at] != bpf_map__max_entries(map))
			err = bpf_map__set_max_entries(map, spec->entries[at]);
		if (err)
			return err;
		at++;
	}
	*skel->rodata = spec->rodata;
	/* TRACEPOINTS_CALLS does that. */
	bpf_program__set_autoattach(skel->progs.on_call_begin, false);
	bpf_program__set_autoattach(skel->progs.on_call_end, false);
	bpf_program__set_autoattach(skel->progs.call_begin_probe, false);
	bpf_program__set_autoattach(skel->progs.call_end_probe, false);
	return 0;
}

/* Closes the tables of bpf/own_stack.bpf.h, which their programs hold. What libbpf has of them is
 * opened on an eventfd instead, so that it closes that in the end. (Not on /dev/null: a chroot may
 * have no such file.)
 *
 * When the last descriptor of such a table is closed, the kernel takes a reference and has a worker
 * clear the table and give the reference back (prog_array_map_clear() in kernel/bpf/arraymap.c). If
 * a descriptor of somebody who lists tables is closed before the worker has run, the worker runs
 * once for two references, and the table stays until the machine is rebooted. Far from our end,
 * when listers see many tables go, that hardly happens. Returns 0 or -errno. */
static int close_stack_tables(struct proftrace_bpf *skel)
{
	int other = eventfd(0, EFD_CLOEXEC);
	struct bpf_map *map;
	int err = other < 0 ? -errno : 0;

	if (err)
		return err;
	bpf_object__for_each_map (map, skel->obj) {
		if (skeleton__is_own_stack(map) && bpf_map__fd(map) >= 0 &&
		    dup3(other, bpf_map__fd(map), O_CLOEXEC) < 0) {
			err = -errno;
			break;
		}
	}
	close(other);
	return err;
}

int loader__load(const struct load_spec *spec, int turn_fd, struct proftrace_bpf **out)
{
	const struct backend *backend = backend__at(spec->backend);
	struct proftrace_bpf *skel;
	int err;

	refusal__listen();
	refusal__forget();
	if (!backend)
		return -EINVAL;
	err = typed_programs__handle();
	if (err)
		return err;
	skel = skeleton__open_to_load(backend->lacks);
	if (!skel)
		return -errno;
	err = backend->prepare(skel);
	if (!err)
		err = follow(skel, spec);
	if (!err && turn_fd >= 0)
		err = bpf_map__reuse_fd(skel->maps.data_turn, turn_fd);
	if (!err)
		err = proftrace_bpf__load(skel);
	/* Data sections stay unmapped if libbpf could not find out whether the kernel can map them.
	 */
	if (!err && (!skel->bss || !skel->data || !skel->data_written || !skel->data_turn))
		err = -ENOMEM;
	if (!err)
		err = close_stack_tables(skel);
	kernel_btf__forget();
	if (err)
		skeleton__free(skel);
	else
		*out = skel;
	return err;
}

void loader__descriptors(const struct proftrace_bpf *skel, struct fds *maps, struct fds *programs)
{
	struct bpf_program *program;
	const struct bpf_map *map;

	maps->cnt = programs->cnt = 0;
	bpf_object__for_each_map (map, skel->obj) {
		if (!skeleton__is_own_stack(map) && maps->cnt < FD_MESSAGE_MOST)
			maps->fd[maps->cnt++] = bpf_map__fd(map);
	}
	bpf_object__for_each_program (program, skel->obj) {
		if (bpf_program__autoload(program) && programs->cnt < FD_MESSAGE_MOST)
			programs->fd[programs->cnt++] = bpf_program__fd(program);
	}
}

static void detach(struct bpf_link **link)
{
	bpf_link__destroy(*link);
	*link = NULL;
}

static void pause_dear(struct proftrace_bpf *skel)
{
	detach(&skel->links.on_switch);
	detach(&skel->links.on_waking);
	detach(&skel->links.on_call_begin);
	detach(&skel->links.on_call_end);
	detach(&skel->links.call_begin_probe);
	detach(&skel->links.call_end_probe);
}

static int attach_again(struct bpf_link **link, const struct bpf_program *program)
{
	if (*link || !bpf_program__autoload(program))
		return 0;
	*link = bpf_program__attach(program);
	return *link ? 0 : -errno;
}

/* Attaches the programs of system calls. The kernel runs those of the kprobes only where the
 * tracepoints have some. */
static int attach_calls(struct proftrace_bpf *skel)
{
	int err;

	__atomic_store_n(&skel->bss->system_calls_probed, call_probes__attach(skel),
			 __ATOMIC_SEQ_CST);
	/* Ends first: a begin without an end would stay open. */
	err = attach_again(&skel->links.on_call_end, skel->progs.on_call_end);
	return err ? err : attach_again(&skel->links.on_call_begin, skel->progs.on_call_begin);
}

int loader__tracepoints(struct proftrace_bpf *skel, enum tracepoints what)
{
	int err;

	switch (what) {
	case TRACEPOINTS_ATTACH:
		return proftrace_bpf__attach(skel);
	case TRACEPOINTS_DETACH:
		proftrace_bpf__detach(skel);
		return 0;
	case TRACEPOINTS_PAUSE:
		pause_dear(skel);
		return 0;
	case TRACEPOINTS_RESUME:
		err = attach_again(&skel->links.on_switch, skel->progs.on_switch);
		return err ? err : attach_again(&skel->links.on_waking, skel->progs.on_waking);
	case TRACEPOINTS_CALLS:
		return attach_calls(skel);
	default:
		return -EINVAL;
	}
}

int loader__make_map(enum loose_map kind, uint32_t cnt, int inner)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	const uint32_t size = sizeof(uint32_t);
	int fd;

	switch (kind) {
	case LOOSE_GATE_INNER:
		fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "gate_inner", size, size, 1, NULL);
		break;
	case LOOSE_GATE_OUTER:
		opts.inner_map_fd = inner;
		fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "gate_outer", size, size, 1, &opts);
		break;
	case LOOSE_UNWIND_TABLE:
		opts.map_flags = BPF_F_INNER_MAP;
		fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_table", size,
				    sizeof(struct wire_unwind_page), cnt, &opts);
		break;
	default:
		return -EINVAL;
	}
	return fd < 0 ? -errno : fd;
}
