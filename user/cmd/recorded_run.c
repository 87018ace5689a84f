// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/recorded_run.h"

#include <errno.h>

#include "cli/options.h"
#include "util/log.h"

static int choose(const struct reader *r, const char *path, uint32_t wanted, size_t *run)
{
	size_t cnt = reader__runs(r);

	if (!cnt) {
		log_error("%s holds no run: it was cut off before one began", path);
		return -ENOENT;
	}
	if (wanted > cnt) {
		log_error("--run %u: %s has no more than %zu", wanted, path, cnt);
		return -ENOENT;
	}
	*run = wanted ? wanted - 1 : cnt - 1;
	if (cnt > 1 && !wanted)
		log_info("%s has %zu runs: this is the last one (--run N chooses)", path, cnt);
	return 0;
}

int recorded_run__load(const char *path, const struct options *o, struct recorded *out)
{
	struct reader *r = NULL;
	size_t run;
	int err = reader__open(path, &r);

	if (!err)
		err = choose(r, path, o->run, &run);
	if (!err)
		err = reader__load(r, run, out);
	if (!err && !out->end.reason)
		log_warn("%s: the run is incomplete: it was cut off while it was recorded", path);
	if (!err && out->forgotten.calls)
		log_info("%s: the timeline holds the newest %llu of %llu calls, from %.6f s on",
			 path, (unsigned long long)out->calls,
			 (unsigned long long)(out->calls + out->forgotten.calls),
			 out->forgotten.until_ns / 1e9);
	reader__free(r);
	return err;
}
