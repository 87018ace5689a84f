// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/line_sites.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "plan/plan_lines.h"
#include "util/log.h"
#include "wire.h"

static int fill_one(int sites_fd, int entries_fd, const struct plan_line_site *site,
		    uint32_t number)
{
	const struct wire_line_site wire = {
		.function = site->function,
		.line = site->line,
		.repeats = site->repeats,
		.cycles = site->lands ? WIRE_LINE_LANDS : site->cycles,
		.declared = site->declared,
	};
	uint64_t entry = number;
	int err = bpf_map_update_elem(sites_fd, &number, &wire, BPF_ANY);

	if (!err && site->at_entry)
		err = bpf_map_update_elem(entries_fd, &site->function, &entry, BPF_ANY);
	return err;
}

int line_sites__fill(int sites_fd, int entries_fd, const struct plan_lines *lines,
		     const char **reasons, size_t *told)
{
	size_t left_out = 0;

	for (; *told < lines->sites_cnt; ++*told) {
		const struct plan_line_site *site = &lines->sites[*told];
		int err = fill_one(sites_fd, entries_fd, site, *told + 1);

		if (err == -E2BIG) {
			left_out++;
			if (site->line)
				reasons[site->line - 1] = "too many lines";
		} else if (err) {
			log_error("cannot tell BPF of lines: %s", strerror(-err));
			return err;
		}
	}
	if (left_out)
		log_warn("too many lines in files that were loaded later: %zu places are not "
			 "probed",
			 left_out);
	return 0;
}
