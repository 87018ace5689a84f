// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/callers.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "attach/links/holder/link_holder.h"
#include "attach/links/skeleton.h"
#include "attach/tracer_inside.h"
#include "util/array.h"
#include "wire.h"

uint32_t tracer__unwind_tables(const struct tracer *tr)
{
	return tr->tables.unwind_tables_cap ? tr->tables.unwind_tables_cap - 1 : 0;
}

int tracer__sample_program(const struct tracer *tr)
{
	int program = skeleton__program(tr->skel, tr->skel->progs.on_sample);

	return tr->tables.samples_cap && program >= 0 ? program : -ENOTSUP;
}

int tracer__put_table(struct tracer *tr, uint32_t number, const struct wire_unwind_page *pages,
		      uint32_t cnt)
{
	uint32_t *keys = malloc(cnt * sizeof(*keys)), put = cnt;
	int fd, err = 0;

	if (!keys ||
	    ARRAY_RESERVE(&tr->new_tables.numbers, tr->new_tables.cnt,
			  &tr->new_tables.numbers_cap) ||
	    ARRAY_RESERVE(&tr->new_tables.fds, tr->new_tables.cnt, &tr->new_tables.fds_cap)) {
		free(keys);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < cnt; i++)
		keys[i] = i;
	fd = link_holder__make_map(tr->groups.link_holder, LOOSE_UNWIND_TABLE, cnt, -1);
	if (fd < 0)
		err = fd;
	if (!err && bpf_map_update_batch(fd, keys, pages, &put, NULL))
		err = -errno;
	free(keys);
	if (err && fd >= 0)
		close(fd);
	if (err)
		return err;
	tr->new_tables.numbers[tr->new_tables.cnt] = number;
	tr->new_tables.fds[tr->new_tables.cnt++] = fd;
	return 0;
}

/* Puts new tables to where programs find them. The kernel waits for an RCU grace period, once for a
 * call. Returns 0 or -errno. */
static int put_new_tables(struct tracer *tr)
{
	struct new_tables *t = &tr->new_tables;
	uint32_t cnt = t->cnt;
	int err = 0;

	if (cnt && bpf_map_update_batch(bpf_map__fd(tr->skel->maps.unwind_tables), t->numbers,
					t->fds, &cnt, NULL))
		err = -errno;
	while (t->cnt)
		close(t->fds[--t->cnt]);
	return err;
}

void new_tables__free(struct new_tables *t)
{
	while (t->cnt)
		close(t->fds[--t->cnt]);
	free(t->numbers);
	free(t->fds);
}

int tracer__put_space(struct tracer *tr, pid_t pid, const struct wire_unwind_space *space)
{
	uint32_t tgid = pid;
	int err = put_new_tables(tr);

	return err ? err
	       : bpf_map_update_elem(bpf_map__fd(tr->skel->maps.unwind_spaces), &tgid, space,
				     BPF_ANY)
		       ? -errno
		       : 0;
}

bool tracer__say_kernel(void *tracer, uint64_t address, char *said, size_t size)
{
	const struct tracer *tr = tracer;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &address, .ctx_size_in = sizeof(address));
	int program = skeleton__program(tr->skel, tr->skel->progs.name_kernel);

	if (program < 0 || bpf_prog_test_run_opts(program, &opts) || opts.retval)
		return false;
	snprintf(said, size, "%s", tr->skel->data_written->kernel_name);
	return true;
}

void tracer__unwind(struct tracer *tr)
{
	tr->skel->bss->unwinding_on = true;
	tr->skel->bss->seeding_on = true;
}

uint64_t tracer__unwind_astray(const struct tracer *tr, pid_t *pid)
{
	*pid = tr->skel->data_written->unwind_astray_pid;
	return tr->skel->data_written->unwind_astray_cnt;
}

void tracer__unwind_cost(const struct tracer *tr, uint64_t *ns, uint64_t *cnt)
{
	*ns = tr->skel->data_written->unwind_ns;
	*cnt = tr->skel->data_written->unwind_cnt;
}
