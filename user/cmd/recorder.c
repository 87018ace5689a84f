// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>

#include "cli/options.h"
#include "record/facts.h"
#include "record/writer.h"

#define FIRST_NS    1000000000ull
#define DISTANCE_NS 30000000000ull /* at most */

struct recorder {
	const struct options *o;
	struct writer *writer;
	uint64_t due_ns;
};

int recorder__open(const struct options *o, struct recorder **out)
{
	struct recorder *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->o = o;
	r->due_ns = FIRST_NS;
	err = writer__open(o->output, o->append, &r->writer);
	if (err)
		free(r);
	else
		*out = r;
	return err;
}

void recorder__free(struct recorder *r)
{
	if (r)
		writer__free(r->writer);
	free(r);
}

int recorder__begin(struct recorder *r)
{
	struct run_facts facts = {
		.version = PROFTRACE_VERSION,
		.raw = r->o->raw,
		.args = (const char *const *)r->o->argv,
	};
	struct utsname host = {0};
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	facts.start_time = now.tv_sec + now.tv_nsec / 1e9;
	uname(&host);
	facts.host = host.nodename;
	facts.kernel = host.release;
	facts.machine = host.machine;
	while (facts.args[facts.args_cnt])
		facts.args_cnt++;
	return writer__begin(r->writer, &facts);
}

bool recorder__due(struct recorder *r, uint64_t elapsed_ns)
{
	if (elapsed_ns < r->due_ns)
		return false;
	while (r->due_ns <= elapsed_ns)
		r->due_ns += r->due_ns < DISTANCE_NS ? r->due_ns : DISTANCE_NS;
	return true;
}

int recorder__write(struct recorder *r, const struct profile *p)
{
	return writer__profile(r->writer, p);
}

int recorder__end(struct recorder *r, const char *reason)
{
	return writer__end(r->writer, &(struct run_end){reason});
}
