// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dropper PID TIER EXITS GLOB: profiles the functions of PID that match, and gives some up on
 * command, without the rest of the profiler. On stdin:
 *   drop NAME...  gives these functions up; answered by "dropped" and the microseconds it took
 *   stop          or the end: detaches and prints "CALLS name N" for each function, and the
 * accounts
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attach/life.h"
#include "attach/links/holder/link_holder.h"
#include "attach/tracer.h"
#include "calls/profile.h"
#include "collect/collector.h"
#include "plan/options.h"
#include "plan/plan.h"
#include "planner/planner.h"
#include "select/filter.h"
#include "target/target.h"

#define TICK_MS 20

struct dropper {
	struct link_holder *holder;
	struct target *target;
	struct filter filter;
	struct plan *plan;
	struct tracer *tracer;
	struct collector *collector;
	uint64_t *calls; /* by function, so far */
	bool *dropped;	 /* by function */
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static int prepare(struct dropper *d, pid_t pid, const char *backend, const char *exits, char *glob)
{
	const struct target_spec spec = {.whom = {.pids = &pid, .pids_cnt = 1}};
	const struct plan_options plan_opts = {
		.call_nops = tracer__call_nops(),
		.returns_stop = tracer__returns_stop(backend),
		.exits = *exits ? exits : NULL,
	};
	struct tracer_options tracer_opts = {
		.max_paths = 1 << 16, .backend = backend, .drops = true};
	struct tracer_tables tables;
	int64_t attached;
	int err;

	err = link_holder__new(tracer__needs_events(backend), false, &d->holder);
	tracer_opts.link_holder = d->holder;
	if (!err)
		err = target__open(&spec, &d->target);
	if (!err)
		err = filter__init(&d->filter, &glob, 1, NULL, 0);
	if (!err)
		err = planner__make(d->target, &d->filter, &plan_opts, &d->plan);
	if (!err)
		err = tracer__load(&tracer_opts, d->target, NULL, &d->tracer);
	if (err)
		return err;
	tracer__tables(d->tracer, &tables);
	err = collector__new(&tables, d->plan->functions_cnt, &d->collector);
	if (err)
		return err;
	d->calls = calloc(d->plan->functions_cnt, sizeof(*d->calls));
	d->dropped = calloc(d->plan->functions_cnt, sizeof(*d->dropped));
	if (!d->calls || !d->dropped)
		return -ENOMEM;
	attached = tracer__attach(d->tracer, d->plan, d->target, NULL);
	return attached < 0 ? attached : 0;
}

/* Brings `calls` up to date; *accounting may be NULL. */
static int count_calls(struct dropper *d, struct profile_accounting *accounting)
{
	struct profile *now;
	int err = collector__snapshot(d->collector, now_ns(), &now);

	if (err)
		return err;
	memset(d->calls, 0, d->plan->functions_cnt * sizeof(*d->calls));
	for (size_t i = 1; i < now->nodes_cnt; i++)
		d->calls[now->nodes[i].function] += now->nodes[i].stats.calls;
	if (accounting)
		*accounting = now->accounting;
	profile__free(now);
	return 0;
}

static void tick(struct dropper *d, int timeout_ms)
{
	tracer__drop_poll(d->tracer);
	collector__poll(d->collector);
	poll(NULL, 0, timeout_ms);
}

static int drop(struct dropper *d, char *names)
{
	uint64_t began;
	int err;

	for (char *name = strtok(names, " "); name; name = strtok(NULL, " ")) {
		for (size_t i = 0; i < d->plan->functions_cnt; i++)
			d->dropped[i] |= !strcmp(d->plan->functions[i].symbol, name);
	}
	err = count_calls(d, NULL);
	began = now_ns();
	while (!err) {
		err = tracer__drop(d->tracer, d->plan, d->target, d->dropped, d->calls, false);
		if (err != -EAGAIN)
			break;
		tick(d, TICK_MS);
		err = 0;
	}
	printf("dropped %llu\n", (unsigned long long)(now_ns() - began) / 1000);
	return err;
}

static int stop(struct dropper *d)
{
	struct profile_accounting a;
	uint64_t began;
	int err;

	tracer__close_gate(d->tracer);
	began = now_ns();
	tracer__begin_detach(d->tracer);
	tracer__end_detach(d->tracer);
	printf("DETACH us %llu\n", (unsigned long long)(now_ns() - began) / 1000);
	err = count_calls(d, &a);
	for (size_t i = 0; !err && i < d->plan->functions_cnt; i++)
		printf("CALLS %s %llu\n", d->plan->functions[i].symbol,
		       (unsigned long long)d->calls[i]);
	printf("ACCOUNT entered %llu\nACCOUNT returned %llu\nACCOUNT unwound %llu\n"
	       "ACCOUNT open %lld\nACCOUNT lost %llu\n",
	       (unsigned long long)a.entered, (unsigned long long)a.returned,
	       (unsigned long long)a.unwound, (long long)a.open, (unsigned long long)a.lost);
	return err;
}

static int serve(struct dropper *d)
{
	struct pollfd in = {.fd = 0, .events = POLLIN};
	char line[1 << 16];
	int err = 0;

	while (!err) {
		tick(d, 0);
		if (!poll(&in, 1, TICK_MS))
			continue;
		if (!fgets(line, sizeof(line), stdin))
			break;
		line[strcspn(line, "\n")] = '\0';
		if (!strcmp(line, "stop"))
			break;
		if (!strncmp(line, "drop ", 5))
			err = drop(d, line + 5);
		fflush(stdout);
	}
	return err;
}

int main(int argc, char **argv)
{
	struct dropper d = {0};
	int err;

	if (argc != 5)
		return 2;
	setvbuf(stdin, NULL, _IONBF, 0);
	signal(SIGPIPE, SIG_IGN);
	err = prepare(&d, atoi(argv[1]), argv[2], argv[3], argv[4]);
	if (!err) {
		struct life *life = tracer__life(d.tracer);

		/* Nothing is mapped meanwhile: return probes may be armed. */
		life__caught_up(life, life__generation(life));
		tracer__open_gate(d.tracer);
		printf("ready %zu\n", d.plan->functions_cnt);
		fflush(stdout);
		err = serve(&d);
	}
	if (!err)
		err = stop(&d);
	collector__free(d.collector);
	tracer__free(d.tracer);
	link_holder__free(d.holder);
	plan__free(d.plan);
	filter__clear(&d.filter);
	target__free(d.target);
	free(d.calls);
	free(d.dropped);
	return !!err;
}
