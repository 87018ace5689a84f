// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/recorded_run.h"

#include <errno.h>

#include "calls/profile.h"
#include "cli/options.h"
#include "report/input.h"
#include "util/log.h"
#include "util/text.h"

struct input {
	const char *name; /* for messages */
	bool roots;	  /* its word is root's */
	struct reader *reader;
};

static int open_input(const char *path, struct input *in)
{
	int fd = input__open(path, &in->roots);

	in->name = input__name(path);
	return fd < 0 ? fd : reader__open_file(fd, in->name, &in->reader);
}

static int choose(const struct input *in, uint32_t wanted, size_t *run)
{
	size_t cnt = reader__runs(in->reader);

	if (!cnt) {
		log_error("%s holds no run: it was cut off before one began", in->name);
		return -ENOENT;
	}
	if (wanted > cnt) {
		log_error("--run %u: %s has no more than %zu", wanted, in->name, cnt);
		return -ENOENT;
	}
	*run = wanted ? wanted - 1 : cnt - 1;
	if (cnt > 1 && !wanted)
		log_info("%s has %zu runs: this is the last one (--run N chooses)", in->name, cnt);
	return 0;
}

/* `live`: it is being written. */
static int load(const struct input *in, size_t run, bool live, struct recorded *out)
{
	int err = reader__load(in->reader, run, out);
	char kept[32], all[32];

	if (!err && !in->roots)
		out->profile->files_by_root = 0;
	if (!err && !out->end.reason && !live)
		log_warn("%s: the run is incomplete: it was cut off while it was recorded",
			 in->name);
	if (!err && out->forgotten.calls)
		log_info("%s: the timeline holds the newest %s of %s calls, from %.6f s on",
			 in->name, text_count(out->calls, kept, sizeof(kept)),
			 text_count(out->calls + out->forgotten.calls, all, sizeof(all)),
			 out->forgotten.until_ns / 1e9);
	return err;
}

/* *number, if not NULL, is that of the run, from 1 on. */
static int load_chosen(const char *path, uint32_t wanted, bool live, struct recorded *out,
		       size_t *number)
{
	struct input in = {0};
	size_t run = 0;
	int err = open_input(path, &in);

	if (!err)
		err = choose(&in, wanted, &run);
	if (!err)
		err = load(&in, run, live, out);
	reader__free(in.reader);
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
	struct input in = {0};
	size_t cnt, newer;
	int err = open_input(path, &in);

	if (err)
		return err;
	cnt = reader__runs(in.reader);
	newer = wanted ? wanted : cnt;
	if (cnt < 2)
		log_error("%s has %zu run%s, and diff compares two; record --append adds one",
			  in.name, cnt, cnt == 1 ? "" : "s");
	else if (newer > cnt)
		log_error("--run %zu: %s has no more than %zu", newer, in.name, cnt);
	else if (newer < 2)
		log_error("--run 1: %s has none before it to compare it with", in.name);
	if (cnt < 2 || newer < 2 || newer > cnt)
		err = -ENOENT;
	for (size_t i = 0; i < 2 && !err; i++) {
		numbers[i] = newer - 1 + i;
		err = load(&in, numbers[i] - 1, false, &out[i]);
	}
	reader__free(in.reader);
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
