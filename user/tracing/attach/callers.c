// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/callers.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "attach/links/skeleton.h"
#include "attach/tracer_inside.h"
#include "wire.h"

uint32_t tracer__unwind_tables(const struct tracer *tr)
{
	return tr->tables.unwind_tables_cap ? tr->tables.unwind_tables_cap - 1 : 0;
}

int tracer__sample_program(const struct tracer *tr)
{
	int program = bpf_program__fd(tr->skel->progs.on_sample);

	return tr->tables.samples_cap && program >= 0 ? program : -ENOTSUP;
}

int tracer__put_table(struct tracer *tr, uint32_t number, const struct wire_unwind_page *pages,
		      uint32_t cnt)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_INNER_MAP);
	uint32_t *keys = malloc(cnt * sizeof(*keys)), put = cnt;
	int fd, err = 0;

	if (!keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < cnt; i++)
		keys[i] = i;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_table", sizeof(uint32_t), sizeof(*pages),
			    cnt, &opts);
	if (fd < 0)
		err = -errno;
	if (!err && bpf_map_update_batch(fd, keys, pages, &put, NULL))
		err = -errno;
	free(keys);
	if (!err &&
	    bpf_map_update_elem(bpf_map__fd(tr->skel->maps.unwind_tables), &number, &fd, BPF_ANY))
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

int tracer__put_space(struct tracer *tr, pid_t pid, const struct wire_unwind_space *space)
{
	uint32_t tgid = pid;

	return bpf_map_update_elem(bpf_map__fd(tr->skel->maps.unwind_spaces), &tgid, space, BPF_ANY)
		       ? -errno
		       : 0;
}

void tracer__unwind(struct tracer *tr)
{
	tr->skel->bss->unwinding_on = true;
	tr->skel->bss->seeding_on = true;
}

void tracer__unwind_cost(const struct tracer *tr, uint64_t *ns, uint64_t *cnt)
{
	*ns = tr->skel->data_written->unwind_ns;
	*cnt = tr->skel->data_written->unwind_cnt;
}
