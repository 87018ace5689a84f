// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>

#include "cli/options.h"
#include "record/format/run_info.h"
#include "record/writer.h"

#define FIRST_NS    1000000000ull
#define DISTANCE_NS 30000000000ull /* at most */
#define FLUSH_NS    1000000000ull

struct recorder {
	const struct options *o;
	struct writer *writer;
	uint64_t due_ns, flush_ns;
};

int recorder__open(const struct options *o, const char *path, struct recorder **out)
{
	struct recorder *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->o = o;
	r->due_ns = FIRST_NS;
	r->flush_ns = FLUSH_NS;
	err = writer__open(path, o->append, &r->writer);
	if (!err && o->max_size)
		err = writer__limit(r->writer, o->max_size);
	if (err)
		recorder__free(r);
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

int recorder__begin(struct recorder *r, double start_time)
{
	struct run_info run_info = {
		.version = PROFTRACE_VERSION,
		.raw = r->o->raw,
		.args = (const char *const *)r->o->argv,
	};
	struct utsname host = {0};
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	run_info.start_time = start_time > 0 ? start_time : now.tv_sec + now.tv_nsec / 1e9;
	uname(&host);
	run_info.host = host.nodename;
	run_info.kernel = host.release;
	run_info.machine = host.machine;
	while (run_info.args[run_info.args_cnt])
		run_info.args_cnt++;
	return writer__begin(r->writer, &run_info);
}

static int take_callstacks(void *ctx, const struct recorded_callstack *callstacks, size_t cnt)
{
	return writer__callstacks(ctx, callstacks, cnt);
}

static int take_paths(void *ctx, const struct recorded_path *paths, size_t cnt)
{
	return writer__paths(ctx, paths, cnt);
}

static int take_calls(void *ctx, uint32_t callstack, const struct timeline_call *calls, size_t cnt)
{
	return writer__calls(ctx, callstack, calls, cnt);
}

static int take_waits(void *ctx, const struct recorded_wait *waits, size_t cnt)
{
	return writer__waits(ctx, waits, cnt);
}

struct call_stream recorder__stream(struct recorder *r)
{
	return (struct call_stream){take_callstacks, take_paths, take_calls, take_waits, r->writer};
}

int recorder__tick(struct recorder *r, uint64_t elapsed_ns)
{
	if (elapsed_ns < r->flush_ns)
		return 0;
	r->flush_ns = elapsed_ns + FLUSH_NS;
	return writer__flush(r->writer);
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

int recorder__flush(struct recorder *r)
{
	return writer__flush(r->writer);
}

int recorder__sync(struct recorder *r)
{
	return writer__sync(r->writer);
}

uint64_t recorder__forgotten(const struct recorder *r)
{
	return writer__forgotten(r->writer);
}

int recorder__copy(struct recorder *r, const char *path, const char *reason)
{
	return writer__copy(r->writer, path, &(struct run_end){reason});
}

int recorder__end(struct recorder *r, const char *reason)
{
	int err = writer__flush(r->writer);

	return err ? err : writer__end(r->writer, &(struct run_end){reason});
}
