// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * doctor: what works on this machine, and what to do where something does not. Nothing is told by
 * the kernel's version: backends and features are tried, on a function of our own.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "attach/links/holder/link_holder.h"
#include "attach/tracer.h"
#include "cli/options.h"
#include "cmd/doctor_needs.h"
#include "security/namespaces.h"
#include "security/privilege.h"
#include "target/hazard.h"
#include "target/target.h"
#include "util/fold.h"
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

/* Parts that the programs for kernels before 6.0 leave out. */
static const struct {
	const char *name, *without;
} whole[] = {
	{"waiting for the plan", "first calls of files that are loaded later may be missing"},
	{"stacks told apart",
	 "coroutines share a call stack: calls are counted, paths cut, lines missed"},
	{"samples in the tree",
	 "no CPU time of code without probes, of libraries and of the kernel, and no waits there"},
	{"callers", "no --callers; outermost calls do not say what had called them"},
	{"single waits", "timelines and sessions do not say what a call waited for"},
	{"names of files", "--syscalls does not say which files and connections"},
};

#define SOME_LATER   "Linux 6.0 or later"
#define LOADS	     (sizeof(loads) / sizeof(*loads))
#define WHOLE	     (sizeof(whole) / sizeof(*whole))
#define MAX_FEATURES (LOADS + WHOLE + 8)

struct examination {
	struct utsname kernel;
	struct tracer_trial backends[MAX_BACKENDS];
	size_t backends_cnt;
	size_t best; /* index of the one that is used; backends_cnt: none works */
	struct feature features[MAX_FEATURES];
	size_t features_cnt;
	struct feature needs[DOCTOR_NEEDS];
};

static struct tracer_options basic_options(struct link_holder *link_holder)
{
	return (struct tracer_options){
		.link_holder = link_holder,
		.max_paths = SOME_PATHS,
		.functions_cnt = 1,
		.emulates = tracer__writes_registers(),
	};
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

static struct feature *add_feature(struct examination *e, bool works, const char *name,
				   const char *without, const char *advice)
{
	struct feature *f = &e->features[e->features_cnt++];

	*f = (struct feature){name, without, advice, works, ""};
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
		f = add_feature(e, trial.works, loads[i].name, loads[i].without, SOME_LATER);
		memcpy(f->why, trial.why, sizeof(f->why));
	}
}

/* Lists what the backend's programs leave out. */
static void examine_programs(struct examination *e)
{
	const struct tracer_trial *best = &e->backends[e->best];

	for (size_t i = 0; i < WHOLE; i++)
		add_feature(e, !best->basic, whole[i].name, whole[i].without, SOME_LATER);
	add_feature(e, best->surveys, "bursts",
		    "functions that the budget drops have the calls up to their drop alone; no "
		    "--burst",
		    "Linux 6.6 or later");
}

static void examine_kernel(struct examination *e)
{
	struct target nobody = {0};
	const char *hazard;
	struct feature *f;

	hazard__look(&nobody);
	hazard = nobody.hazard;

	add_feature(e, !tracer__is_inside(), "all processes",
		    "this is a PID namespace of its own (a container?): those outside are not seen",
		    "run it on the host, or with the host's processes (docker run --pid=host)");
	add_feature(e, tracer__shares_clock(), "the kernel's clock",
		    "this is a time namespace of its own: nothing can be traced in it",
		    "run it outside of that namespace");
	f = add_feature(e, !hazard, "return probes",
			"a probe on each way out of a function instead, several times as dear",
			"Linux 6.14 or later");
	snprintf(f->why, sizeof(f->why), "%s", hazard ? hazard : "");
	add_feature(e, tracer__returns_stop(NULL), "return probes stop at once",
		    "programs that may load code, or handle signals on another stack, have a probe "
		    "on each way out of a function instead, several times as dear; forked children "
		    "are not traced in functions with return probes",
		    "Linux 6.13 or later");
	add_feature(e, tracer__call_nops() != CALL_NOPS_NONE,
		    tracer__call_nops() == CALL_NOPS_10 ? "10-byte nops without a trap"
							: "5-byte nops without a trap",
		    "regions cost what functions cost", "Linux 6.18 or later");
	add_feature(e, tracer__writes_registers(), "returns emulated",
		    "where a return instruction is probed the kernel single-steps it, ten times as "
		    "dear",
		    "Linux 7.0 or later");
}

static const char *best_name(const struct examination *e)
{
	return e->best < e->backends_cnt ? e->backends[e->best].name : NULL;
}

/* Explanations go below their rows: beside them terminals have too little room. */
static void print_features(FILE *out, const struct feature *features, size_t cnt)
{
	if (cnt)
		fprintf(out, "\n");
	for (const struct feature *f = features; f < features + cnt; f++) {
		fprintf(out, "%-4s %s\n", f->works ? "yes" : "no", f->name);
		if (f->works)
			continue;
		fprintf(out, "%7s%s%s%s%s\n", "", f->without, *f->why ? " (" : "", f->why,
			*f->why ? ")" : "");
		fprintf(out, "%7sto have it: %s\n", "", f->advice);
	}
}

static void print_text(FILE *out, const struct examination *e)
{
	fprintf(out, "kernel    Linux %s, %s\n", e->kernel.release, e->kernel.machine);
	fprintf(out, "backend   %s\n\n", best_name(e) ? best_name(e) : "none works");
	for (size_t i = 0; i < e->backends_cnt; i++) {
		const struct tracer_trial *b = &e->backends[i];

		if (b->works)
			fprintf(out, "yes  %-18s %s\n", b->name,
				i == e->best ? "used" : "works, not needed");
		else
			fprintf(out, "no   %s\n%7s%s\n", b->name, "", b->why);
		if (!b->works && !b->limited)
			fprintf(out, "%7sit came with Linux %s\n", "", b->since);
	}
	print_features(out, e->features, e->features_cnt);
	print_features(out, e->needs, DOCTOR_NEEDS);
}

/* On a terminal lines are folded. Returns 0 or -errno. */
static int show_text(const struct examination *e)
{
	size_t columns = fold__columns(STDOUT_FILENO);
	FILE *out = stdout;
	int err = columns ? fold__open(stdout, columns > FOLD_MIN ? columns : FOLD_MIN, &out) : 0;

	if (err)
		return err;
	print_text(out, e);
	return out != stdout && fclose(out) ? -errno : 0;
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

static void json_features(struct json *j, const char *key, const struct feature *features,
			  size_t cnt)
{
	json_member_open(j, key, '[');
	for (const struct feature *f = features; f < features + cnt; f++) {
		json_open(j, '{');
		json_member_string(j, "name", f->name);
		json_member_bool(j, "works", f->works);
		json_member_string(j, "without", f->without);
		json_member_string(j, "why_not", *f->why ? f->why : NULL);
		json_member_string(j, "advice", f->advice);
		json_close(j, '}');
	}
	json_close(j, ']');
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
	json_features(&j, "features", e->features, e->features_cnt);
	json_features(&j, "needs", e->needs, DOCTOR_NEEDS);
	json_close(&j, '}');
	putchar('\n');
}

int cmd_doctor(const struct options *o)
{
	struct examination e = {0};
	struct link_holder *link_holder = NULL;
	int err = namespaces__check();

	if (!err)
		err = privilege__check();
	if (!err)
		err = link_holder__new(true, false, &link_holder);
	if (err)
		return 1;
	doctor_needs__examine(e.needs);
	privilege__drop_for_links(false);
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
		err = show_text(&e);
	if (err || fflush(stdout)) {
		log_error("cannot write stdout: %s", strerror(errno));
		return 1;
	}
	return best_name(&e) ? 0 : 1;
}
