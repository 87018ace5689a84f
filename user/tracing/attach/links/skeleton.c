// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/skeleton.h"

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/links/btf/kernel_btf.h"
#include "attach/links/btf/kernel_types.h"
#include "basic.skel.h"
#include "security/fd_message.h"
#include "util/clock.h"
#include "util/io.h"

struct opened {
	struct proftrace_bpf skel; /* first, as libbpf frees it */
	/* Descriptors of programs that another process has loaded, in their object's order. libbpf
	 * has no place for them. */
	int programs[FD_MESSAGE_MOST];
	int types; /* file of the kernel's types, which is read as programs are loaded; -1: none */
};

static struct opened *opened_of(const struct proftrace_bpf *skel)
{
	return (struct opened *)skel;
}

/* `types`: the file of the kernel's types, or -1; it belongs to the skeleton from then on. */
static struct proftrace_bpf *open_with(bool basic, int types)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	struct opened *o = calloc(1, sizeof(*o));
	char path[32];
	int err;

	if (!o) {
		if (types >= 0)
			close(types);
		return NULL;
	}
	o->types = types;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", types);
	if (types >= 0)
		opts.btf_custom_path = path;
	for (size_t i = 0; i < FD_MESSAGE_MOST; i++)
		o->programs[i] = -1;
	err = proftrace_bpf__create_skeleton(&o->skel);
	/* A skeleton finds programs and maps by name, so that of the others fits. The build checks
	 * that the variables lie alike in both. */
	if (!err && basic)
		o->skel.skeleton->data = (void *)basic_bpf__elf_bytes(&o->skel.skeleton->data_sz);
	if (!err)
		err = bpf_object__open_skeleton(o->skel.skeleton, &opts);
	if (err) {
		skeleton__free(&o->skel);
		errno = -err;
		return NULL;
	}
	return &o->skel;
}

struct proftrace_bpf *skeleton__open(bool basic)
{
	return open_with(basic, -1);
}

int skeleton__write_types(const struct bpf_object *object, int file)
{
	const struct btf *programs = bpf_object__btf(object);
	const struct btf_view *kernel = kernel_btf();
	struct btf *types = programs && kernel ? kernel_types__of(programs, kernel) : NULL;
	const void *data;
	uint32_t size;
	int err;

	if (!types)
		return -ENODATA;
	data = btf__raw_data(types, &size);
	err = data ? io__write_all(file, data, size) : -ENOMEM;
	btf__free(types);
	return err;
}

struct proftrace_bpf *skeleton__open_to_load(bool basic)
{
	struct proftrace_bpf *skel = open_with(basic, memfd_create("types", MFD_CLOEXEC));
	int err = skel ? 0 : -errno;

	if (!err && opened_of(skel)->types >= 0 &&
	    !skeleton__write_types(skel->obj, opened_of(skel)->types))
		return skel;
	/* libbpf finds them by itself, too. */
	skeleton__free(skel);
	return err == -ENOMEM ? NULL : open_with(basic, -1);
}

void skeleton__free(struct proftrace_bpf *skel)
{
	if (!skel)
		return;
	for (size_t i = 0; i < FD_MESSAGE_MOST; i++) {
		if (opened_of(skel)->programs[i] >= 0)
			close(opened_of(skel)->programs[i]);
	}
	if (opened_of(skel)->types >= 0)
		close(opened_of(skel)->types);
	proftrace_bpf__destroy(skel);
}

bool skeleton__is_own_stack(const struct bpf_map *map)
{
	return bpf_map__type(map) == BPF_MAP_TYPE_PROG_ARRAY;
}

/* Maps a section of variables where it was before it was loaded, as bpf_object__load_skeleton()
 * does. */
static int map_variables(const struct bpf_map_skeleton *variables)
{
	const struct bpf_map *map = *variables->map;
	size_t page = sysconf(_SC_PAGESIZE);
	size_t size = (bpf_map__value_size(map) + page - 1) / page * page;
	int protection =
		bpf_map__map_flags(map) & BPF_F_RDONLY_PROG ? PROT_READ : PROT_READ | PROT_WRITE;

	/* Constants that have no name, as those of vector instructions, stay in the kernel. */
	if (!(bpf_map__map_flags(map) & BPF_F_MMAPABLE)) {
		*variables->mmaped = NULL;
		return 0;
	}
	if (!*variables->mmaped || mmap(*variables->mmaped, size, protection,
					MAP_SHARED | MAP_FIXED, bpf_map__fd(map), 0) == MAP_FAILED)
		return *variables->mmaped ? -errno : -ENOMEM;
	return 0;
}

static int take_maps(struct proftrace_bpf *skel, const struct fds *maps)
{
	struct bpf_map *map;
	size_t used = 0;
	int err = 0;

	bpf_object__for_each_map (map, skel->obj) {
		if (skeleton__is_own_stack(map))
			continue;
		err = used < maps->cnt ? bpf_map__reuse_fd(map, maps->fd[used++]) : -EINVAL;
		if (err)
			return err;
	}
	for (int i = 0; !err && i < skel->skeleton->map_cnt; i++) {
		if (skel->skeleton->maps[i].mmaped)
			err = map_variables(&skel->skeleton->maps[i]);
	}
	return used == maps->cnt ? err : -EINVAL;
}

int skeleton__take(struct proftrace_bpf *skel, struct fds *maps, struct fds *programs)
{
	struct bpf_program *program;
	size_t at = 0, used = 0;

	bpf_object__for_each_program (program, skel->obj) {
		if (at == FD_MESSAGE_MOST)
			return -E2BIG;
		if (bpf_program__autoload(program)) {
			if (used == programs->cnt)
				return -EINVAL;
			opened_of(skel)->programs[at] = programs->fd[used++];
		}
		at++;
	}
	if (used != programs->cnt) {
		for (size_t i = 0; i < at; i++)
			opened_of(skel)->programs[i] = -1;
		return -EINVAL;
	}
	programs->cnt = 0;
	return take_maps(skel, maps);
}

int skeleton__program(const struct proftrace_bpf *skel, const struct bpf_program *program)
{
	struct bpf_program *p;
	size_t at = 0;

	bpf_object__for_each_program (p, skel->obj) {
		if (p == program)
			break;
		at++;
	}
	if (at < FD_MESSAGE_MOST && opened_of(skel)->programs[at] >= 0)
		return opened_of(skel)->programs[at];
	return bpf_program__fd(program);
}

/* Reads one clock: again if it was written to meanwhile. */
static uint64_t cpu_clock_ns(const volatile struct wire_cpu_clock *c)
{
	uint64_t since, ran, now;
	bool runs;

	for (int i = 0; i < 100; i++) {
		since = __atomic_load_n(&c->since_ns, __ATOMIC_ACQUIRE);
		ran = c->ran_ns;
		runs = c->runs;
		now = now_ns();
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (since && since == c->since_ns)
			return ran + (runs && now > since ? now - since : 0);
	}
	return c->ran_ns;
}

uint64_t skeleton__ran_ns(const struct proftrace_bpf *skel)
{
	uint64_t sum = 0;

	for (int i = 0; i < WIRE_CPU_CLOCKS; i++) {
		if (skel->data_written->cpu_clocks[i].since_ns ||
		    skel->data_written->cpu_clocks[i].ran_ns)
			sum += cpu_clock_ns(&skel->data_written->cpu_clocks[i]);
	}
	return sum;
}
