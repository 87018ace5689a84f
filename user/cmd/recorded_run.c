// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/recorded_run.h"

#include <errno.h>
#include <sys/stat.h>

#include "calls/profile.h"
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

/* A recording's word is its writer's. */
static bool is_roots(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !st.st_uid && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* `live`: it is being written. */
static int load(struct reader *r, const char *path, size_t run, bool live, struct recorded *out)
{
	int err = reader__load(r, run, out);

	if (!err && !is_roots(path))
		out->profile->files_by_root = 0;
	if (!err && !out->end.reason && !live)
		log_warn("%s: the run is incomplete: it was cut off while it was recorded", path);
	if (!err && out->forgotten.calls)
		log_info("%s: the timeline holds the newest %llu of %llu calls, from %.6f s on",
			 path, (unsigned long long)out->calls,
			 (unsigned long long)(out->calls + out->forgotten.calls),
			 out->forgotten.until_ns / 1e9);
	return err;
}

/* *number, if not NULL, is that of the run, from 1 on. */
static int load_chosen(const char *path, uint32_t wanted, bool live, struct recorded *out,
		       size_t *number)
{
	struct reader *r = NULL;
	size_t run = 0;
	int err = reader__open(path, &r);

	if (!err)
		err = choose(r, path, wanted, &run);
	if (!err)
		err = load(r, path, run, live, out);
	reader__free(r);
	if (number)
		*number = run + 1;
	return err;
}

int recorded_run__load(const char *path, const struct options *o, struct recorded *out)
{
	return load_chosen(path, o->run, o->verb == VERB_TRACE, out, NULL);
}

static int load_last_two(const char *path, uint32_t wanted, struct recorded out[2],
			 size_t numbers[2])
{
	struct reader *r = NULL;
	size_t cnt, newer;
	int err = reader__open(path, &r);

	if (err)
		return err;
	cnt = reader__runs(r);
	newer = wanted ? wanted : cnt;
	if (cnt < 2)
		log_error("%s has %zu run%s, and diff compares two; record --append adds one", path,
			  cnt, cnt == 1 ? "" : "s");
	else if (newer > cnt)
		log_error("--run %zu: %s has no more than %zu", newer, path, cnt);
	else if (newer < 2)
		log_error("--run 1: %s has none before it to compare it with", path);
	if (cnt < 2 || newer < 2 || newer > cnt)
		err = -ENOENT;
	for (size_t i = 0; i < 2 && !err; i++) {
		numbers[i] = newer - 1 + i;
		err = load(r, path, numbers[i] - 1, false, &out[i]);
	}
	reader__free(r);
	return err;
}

int recorded_run__load_two(const struct options *o, struct recorded out[2], size_t numbers[2])
{
	int err = 0;

	if (o->inputs_cnt == 1)
		return load_last_two(o->inputs[0], o->run, out, numbers);
	for (size_t i = 0; i < 2 && !err; i++)
		err = load_chosen(o->inputs[i], o->run, false, &out[i], &numbers[i]);
	return err;
}
