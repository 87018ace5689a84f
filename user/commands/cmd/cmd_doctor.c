// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * doctor: what works on this machine. Nothing is told by the kernel's version: backends and
 * features are tried, on a function of our own.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "attach/links/link_holder.h"
#include "attach/tracer.h"
#include "cli/options.h"
#include "security/privilege.h"
#include "target/hazard.h"
#include "target/target.h"
#include "util/json.h"
#include "util/log.h"

#define MAX_BACKENDS 8
#define SOME_PATHS   (1u << 12)
#define SOME_BYTES   (1u << 20)

/* Asks for what a feature takes of the programs. */
static void with_regions(struct tracer_options *opts)
{
	opts->regions = opts->regions_planned = true;
}

static void with_lines(struct tracer_options *opts)
{
	opts->lines = true;
	opts->line_sites_cnt = 1;
}

static void with_calls(struct tracer_options *opts)
{
	opts->calls_bytes = SOME_BYTES;
}

static void with_children(struct tracer_options *opts)
{
	opts->children = opts->follow = true;
}

/* Parts of the programs that a kernel may or may not load. */
static const struct {
	const char *name;
	void (*ask)(struct tracer_options *opts);
	const char *without;
} loads[] = {
	{"regions and marks", with_regions, "no --usdt, no region:NAME"},
	{"lines of source", with_lines, "no --lines"},
	{"single calls", with_calls, "no --calls, no timelines, no sessions, no values"},
	{"children", with_children, "no --follow"},
};

#define LOADS	     (sizeof(loads) / sizeof(*loads))
#define MAX_FEATURES (LOADS + 8)

struct feature {
	const char *name;
	bool works;
	const char *meaning; /* of not having it */
	char why[256];	     /* it does not work; empty: there is nothing more to say */
};

struct examination {
	struct utsname kernel;
	struct tracer_trial backends[MAX_BACKENDS];
	size_t backends_cnt;
	size_t best; /* index of the one that is used; backends_cnt: none works */
	struct feature features[MAX_FEATURES];
	size_t features_cnt;
};

static struct tracer_options basic_options(struct link_holder *link_holder)
{
	return (struct tracer_options){
		.link_holder = link_holder, .max_paths = SOME_PATHS, .functions_cnt = 1};
}

static void examine_backends(struct examination *e, struct link_holder *link_holder)
{
	const struct tracer_options opts = basic_options(link_holder);

	e->best = MAX_BACKENDS;
	while (e->backends_cnt < MAX_BACKENDS &&
	       tracer__try(&opts, e->backends_cnt, &e->backends[e->backends_cnt])) {
		if (e->backends[e->backends_cnt].works && e->best == MAX_BACKENDS)
			e->best = e->backends_cnt;
		e->backends_cnt++;
	}
	if (e->best == MAX_BACKENDS)
		e->best = e->backends_cnt;
}

static struct feature *add_feature(struct examination *e, const char *name, bool works,
				   const char *meaning)
{
	struct feature *f = &e->features[e->features_cnt++];

	*f = (struct feature){.name = name, .works = works, .meaning = meaning};
	return f;
}

/* Loads the best backend again, with more programs or other tables, for each feature. */
static void examine_loads(struct examination *e, struct link_holder *link_holder)
{
	for (size_t i = 0; i < LOADS; i++) {
		struct tracer_options opts = basic_options(link_holder);
		struct tracer_trial trial = {0};
		struct feature *f;

		loads[i].ask(&opts);
		tracer__try(&opts, e->best, &trial);
		f = add_feature(e, loads[i].name, trial.works, loads[i].without);
		memcpy(f->why, trial.why, sizeof(f->why));
	}
}

/* Lists features that the programs for kernels before 6.0 leave out. */
static void examine_programs(struct examination *e)
{
	bool whole = !e->backends[e->best].basic;

	add_feature(e, "waiting for the plan", whole,
		    "first calls of files that are loaded later may be missing");
	add_feature(e, "stacks told apart", whole,
		    "coroutines share a call stack: calls are counted, paths cut, lines missed");
}

static void examine_kernel(struct examination *e)
{
	struct target nobody = {0};
	const char *hazard;
	struct feature *f;

	hazard__look(&nobody);
	hazard = nobody.hazard;

	add_feature(e, "processes by number", tracer__knows_processes(),
		    "this is a PID namespace of its own (a container?): -x alone works");
	add_feature(e, "the kernel's clock", tracer__shares_clock(),
		    "this is a time namespace of its own: nothing can be traced in it");
	f = add_feature(e, "return probes", !hazard,
			"a probe on each way out of a function instead, several times as dear");
	snprintf(f->why, sizeof(f->why), "%s", hazard ? hazard : "");
	add_feature(e, "return probes stop at once", tracer__returns_stop(NULL),
		    "what can unwind, and is loaded while functions have return probes, may meet "
		    "some that are pending");
	add_feature(e,
		    tracer__call_nops() == CALL_NOPS_10 ? "10-byte nops without a trap"
							: "5-byte nops without a trap",
		    tracer__call_nops() != CALL_NOPS_NONE, "regions cost what functions cost");
	add_feature(e, "returns emulated", tracer__writes_registers(),
		    "where a return instruction is probed the kernel single-steps it, ten times as "
		    "dear");
}

static const char *best_name(const struct examination *e)
{
	return e->best < e->backends_cnt ? e->backends[e->best].name : NULL;
}

static void print_text(const struct examination *e)
{
	printf("kernel    Linux %s, %s\n", e->kernel.release, e->kernel.machine);
	printf("backend   %s\n\n", best_name(e) ? best_name(e) : "none works");
	for (size_t i = 0; i < e->backends_cnt; i++) {
		const struct tracer_trial *b = &e->backends[i];

		printf("%-4s %-28s", b->works ? "yes" : "no", b->name);
		if (b->works)
			printf(" %s\n", i == e->best ? "used" : "works, not needed");
		else
			printf(" Linux %s: %s\n", b->since, b->why);
	}
	if (e->features_cnt)
		printf("\n");
	for (size_t i = 0; i < e->features_cnt; i++) {
		const struct feature *f = &e->features[i];

		if (f->works)
			printf("yes  %s\n", f->name);
		else
			printf("no   %-28s %s%s%s%s\n", f->name, f->meaning, *f->why ? " (" : "",
			       f->why, *f->why ? ")" : "");
	}
}

static void json_backend(struct json *j, const struct tracer_trial *b)
{
	json_open(j, '{');
	json_member_string(j, "name", b->name);
	json_member_string(j, "since", b->since);
	json_member_bool(j, "works", b->works);
	json_member_string(j, "why_not", b->works ? NULL : b->why);
	json_close(j, '}');
}

static void json_feature(struct json *j, const struct feature *f)
{
	json_open(j, '{');
	json_member_string(j, "name", f->name);
	json_member_bool(j, "works", f->works);
	json_member_string(j, "without", f->meaning);
	json_member_string(j, "why_not", *f->why ? f->why : NULL);
	json_close(j, '}');
}

static void print_json(const struct examination *e)
{
	struct json j = JSON_INIT(stdout);

	json_open(&j, '{');
	json_member_u64(&j, "schema", 1);
	json_member_string(&j, "proftrace", PROFTRACE_VERSION);
	json_member_string(&j, "kernel", e->kernel.release);
	json_member_string(&j, "machine", e->kernel.machine);
	json_member_string(&j, "backend", best_name(e));
	json_member_open(&j, "backends", '[');
	for (size_t i = 0; i < e->backends_cnt; i++)
		json_backend(&j, &e->backends[i]);
	json_close(&j, ']');
	json_member_open(&j, "features", '[');
	for (size_t i = 0; i < e->features_cnt; i++)
		json_feature(&j, &e->features[i]);
	json_close(&j, ']');
	json_close(&j, '}');
	putchar('\n');
}

int cmd_doctor(const struct options *o)
{
	struct examination e = {0};
	struct link_holder *link_holder = NULL;
	int err = privilege__check();

	if (!err)
		err = link_holder__new(true, &link_holder);
	if (err)
		return 1;
	privilege__drop_for_start();
	uname(&e.kernel);
	examine_backends(&e, link_holder);
	if (best_name(&e)) {
		examine_loads(&e, link_holder);
		examine_programs(&e);
		examine_kernel(&e);
	}
	link_holder__free(link_holder);
	if (o->sink)
		print_json(&e);
	else
		print_text(&e);
	if (fflush(stdout)) {
		log_error("cannot write stdout: %s", strerror(errno));
		return 1;
	}
	return best_name(&e) ? 0 : 1;
}
