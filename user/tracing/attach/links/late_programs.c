// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/late_programs.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "attach/links/skeleton.h"

size_t late_programs__maps(const struct proftrace_bpf *skel, int maps[LATE_MAPS])
{
	const struct bpf_map *map;
	size_t cnt = 0;

	bpf_object__for_each_map (map, skel->obj) {
		if (!skeleton__is_own_stack(map) && cnt < LATE_MAPS)
			maps[cnt++] = bpf_map__fd(map);
	}
	return cnt;
}

/* One object has its maps in one order. */
static int use_maps(struct proftrace_bpf *skel, const int *maps, size_t maps_cnt)
{
	struct bpf_map *map;
	size_t used = 0;
	int err = 0;

	bpf_object__for_each_map (map, skel->obj) {
		if (skeleton__is_own_stack(map))
			err = bpf_map__set_autocreate(map,
						      map == skel->maps.tail_of_region_begin ||
							      map == skel->maps.tail_of_region_end);
		else
			err = used < maps_cnt ? bpf_map__reuse_fd(map, maps[used++]) : -EINVAL;
		if (err)
			return err;
	}
	return used == maps_cnt ? 0 : -EINVAL;
}

int late_programs__load(const struct late_kind *kind, const int *maps, size_t maps_cnt,
			int programs[LATE_PROGRAMS])
{
	struct proftrace_bpf *skel = skeleton__open_to_load(kind->basic);
	struct bpf_program *prog, *wanted[LATE_PROGRAMS];
	int err;

	if (!skel)
		return -errno;
	wanted[LATE_REGION_BEGIN] = skel->progs.region_begin;
	wanted[LATE_REGION_END] = skel->progs.region_end;
	bpf_object__for_each_program (prog, skel->obj)
		bpf_program__set_autoload(prog, false);
	for (int i = 0; i < LATE_PROGRAMS; i++) {
		bpf_program__set_autoload(wanted[i], true);
		bpf_program__set_expected_attach_type(wanted[i], kind->attach_type);
		programs[i] = -1;
	}
	err = use_maps(skel, maps, maps_cnt);
	if (!err)
		err = bpf_object__load(skel->obj);
	for (int i = 0; !err && i < LATE_PROGRAMS; i++) {
		programs[i] = fcntl(bpf_program__fd(wanted[i]), F_DUPFD_CLOEXEC, 0);
		err = programs[i] < 0 ? -errno : 0;
	}
	for (int i = 0; err && i < LATE_PROGRAMS; i++) {
		if (programs[i] >= 0)
			close(programs[i]);
	}
	skeleton__free(skel);
	return err;
}
