// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A share of n samples in N is uncertain by sqrt(n) / N: of 100 samples in 1,000 by one percent. So
 * shares below a hundredth are put together, and few samples say nothing.
 *
 * Probes cost the target time in the kernel, which samples see there. As that is known, it is taken
 * out of the kernel's share, and of the whole.
 *
 * Where CPU time was measured for the most part few samples do for the rest.
 */
#include "sink/text/cpu_shares.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "calls/stats.h"
#include "sink/text/printer.h"
#include "util/json.h"
#include "util/text.h"

#define SAMPLES_MIN  50 /* about half a second of CPU time */
#define SHOWN_MAX    5	/* files */
#define SHOWN_SHARE  0.01
#define ADVISE_SHARE 0.05 /* of a file that is worth a look */
#define NAME_COLUMNS 50

struct share {
	const struct profile_cpu_share *file;
	double samples; /* not in traced functions, without the probes' */
};

/* Code that is in no file, or in one that has no name: what a compiler has made at run time. Of
 * mappings with names of their own the kernel says "[anon:NAME]". */
static bool is_made(const struct profile_cpu_share *file)
{
	return !strncmp(file->module, "[anon", strlen("[anon")) ||
	       !strncmp(file->module, "/memfd:", strlen("/memfd:"));
}

static bool is_file(const struct profile_cpu_share *file)
{
	return file->module[0] == '/' && !is_made(file);
}

static int compare_shares(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	return x->samples != y->samples ? x->samples < y->samples ? 1 : -1 : 0;
}

/* Sets shares[], sorted, and *whole and *traced, in samples. */
static void sum(const struct profile *p, struct share *shares, double *whole, double *traced)
{
	const struct profile_accounting *a = &p->accounting;
	double taken = 0, probes;

	*traced = 0;
	for (size_t i = 0; i < p->cpu_shares_cnt; i++) {
		const struct profile_cpu_share *file = &p->cpu_shares[i];

		shares[i] = (struct share){file, (double)(file->samples - file->traced)};
		taken += (double)file->samples;
		*traced += (double)file->traced;
	}
	probes = a->cpu_ns && a->probe_ns < a->cpu_ns
			 ? taken * (double)a->probe_ns / (double)a->cpu_ns
			 : 0;
	for (size_t i = 0; i < p->cpu_shares_cnt; i++) {
		if (!strcmp(p->cpu_shares[i].module, "[kernel]")) {
			if (probes > shares[i].samples)
				probes = shares[i].samples;
			shares[i].samples -= probes;
			taken -= probes;
		}
	}
	*whole = taken;
	qsort(shares, p->cpu_shares_cnt, sizeof(*shares), compare_shares);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Writes a name like "[kernel]" without its brackets. A recording may have any other text there, an
 * empty one, too. Returns the columns it took or -ENOMEM. */
static int print_bracketed(struct printer *pr, const char *module)
{
	char name[NAME_COLUMNS + 1];

	module += *module == '[';
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(module, "]"), module);
	return printer__name(pr, *name ? name : "unknown", NAME_COLUMNS);
}

static int print_share(struct printer *pr, const struct share *s, double whole)
{
	const char *module = s->file->module;
	char percent[32];
	int width = 0;

	fprintf(pr->out, "  %7s  ",
		text_percent(100 * s->samples / whole, percent, sizeof(percent)));
	if (is_file(s->file)) {
		width = printer__name(pr, base_name(module), NAME_COLUMNS);
		fputs(s->file->probed ? ", not traced\n" : "\n", pr->out);
	} else if (is_made(s->file)) {
		fputs("code made at run time (by a JIT): in no file, not traced\n", pr->out);
	} else {
		width = print_bracketed(pr, module);
		fputc('\n', pr->out);
	}
	return width < 0 ? width : 0;
}

/* The dynamic linker looks up symbols, some hundred thousand times as a program begins: tracing its
 * calls would make that last seconds. */
static bool is_dynamic_linker(const struct profile_cpu_share *file)
{
	return !strncmp(base_name(file->module), "ld-", strlen("ld-")) ||
	       !strncmp(base_name(file->module), "ld.so", strlen("ld.so"));
}

/* The file that has most of what is not traced, if more can be traced by naming it. */
static int print_advice(struct printer *pr, const struct share *shares, size_t cnt, double whole)
{
	bool any = pr->profile->probes.functions;

	/* In a run of the whole machine (-a) nothing is probed, nor can be. */
	for (size_t i = 0; i < cnt; i++)
		any |= shares[i].file && shares[i].file->probed;
	for (size_t i = 0; any && i < cnt; i++) {
		const struct profile_cpu_share *file = shares[i].file;
		int width;

		if (shares[i].samples < ADVISE_SHARE * whole)
			break;
		if (!is_file(file) || file->probed || is_dynamic_linker(file))
			continue;
		fputs("  -F '", pr->out);
		width = printer__name(pr, base_name(file->module), NAME_COLUMNS);
		fputs(":*' traces the calls there\n", pr->out);
		return width < 0 ? width : 0;
	}
	return 0;
}

/* Who knows the functions of code that was made at run time: told by what else is mapped. */
static const struct {
	const char *file; /* the beginning of its name */
	const char *help;
} compilers[] = {
	{"beam", "eprof, or here with erl +JPperf true (Erlang, Elixir)"},
	{"libjvm.so", "async-profiler, or JDK Flight Recorder (Java)"},
	{"libnode.so", "node --cpu-prof, or here with node --perf-basic-prof"},
	{"node", "node --cpu-prof, or here with node --perf-basic-prof"},
	{"libcoreclr.so", "dotnet-trace, or here with DOTNET_PerfMapEnabled=1"},
	{"libpypy", "vmprof (PyPy)"},
	{"libruby", "stackprof (Ruby)"},
	{"libluajit", "LuaJIT's own profiler (-jp)"},
	{"libmozjs", "the profiler of its debugger (JavaScript)"},
};

static void print_compiler(struct printer *pr, const struct share *shares, size_t cnt, double whole)
{
	const char *help = "a profiler of their language";
	double made = 0;

	for (size_t i = 0; i < cnt; i++) {
		const struct profile_cpu_share *file = shares[i].file;

		made += is_made(file) ? shares[i].samples : 0;
		for (size_t k = 0; k < sizeof(compilers) / sizeof(*compilers); k++) {
			const char *name = compilers[k].file;

			if (is_file(file) && !strncmp(base_name(file->module), name, strlen(name)))
				help = compilers[k].help;
		}
	}
	if (made >= ADVISE_SHARE * whole)
		fprintf(pr->out, "  functions made at run time are shown by %s\n", help);
}

static int print(struct printer *pr, struct share *shares)
{
	const struct profile *p = pr->profile;
	double whole, traced, rest;
	char percent[32], cnt[32];
	int err = 0;

	sum(p, shares, &whole, &traced);
	if (whole < SAMPLES_MIN)
		return 0;
	rest = whole - traced;
	fprintf(pr->out,
		"CPU time by %s samples: %s in traced functions themselves; the rest, which\n"
		"they may have called:\n",
		text_count((uint64_t)whole, cnt, sizeof(cnt)),
		text_percent(100 * traced / whole, percent, sizeof(percent)));
	for (size_t i = 0; i < p->cpu_shares_cnt && i < SHOWN_MAX && !err; i++) {
		if (shares[i].samples < SHOWN_SHARE * whole)
			break;
		err = print_share(pr, &shares[i], whole);
		rest -= shares[i].samples;
	}
	if (rest >= SHOWN_SHARE * whole)
		fprintf(pr->out, "  %7s  others\n",
			text_percent(100 * rest / whole, percent, sizeof(percent)));
	print_compiler(pr, shares, p->cpu_shares_cnt, whole);
	return err ? err : print_advice(pr, shares, p->cpu_shares_cnt, whole);
}

/* The file of a name among the first `cnt`; one more if it is new. */
static size_t file_of(struct profile_cpu_share *files, size_t cnt, const char *module)
{
	size_t i = 0;

	while (i < cnt && strcmp(files[i].module, module) != 0)
		i++;
	return i;
}

/* By what functions' CPU time has told, measured and sampled: ns in place of samples. Returns how
 * many files there are. */
static size_t files_of_functions(const struct profile *p, struct profile_cpu_share *files)
{
	size_t cnt = 0;

	for (size_t i = 0; i < p->functions_cnt; i++) {
		const struct profile_function *f = &p->functions[i];
		uint64_t ns = stats__cpu_self_ns(&f->stats);
		size_t at;

		if (!ns && !f->stats.calls)
			continue;
		at = file_of(files, cnt, f->module ? f->module : "[unknown]");
		if (at == cnt)
			files[cnt++] = (struct profile_cpu_share){
				.module = f->module ? f->module : "[unknown]"};
		files[at].samples += ns;
		files[at].probed |= f->stats.calls > 0;
	}
	return cnt;
}

bool cpu_shares__known(const struct profile *p)
{
	double whole = 0, varied = 0;

	for (size_t i = 1; i < p->nodes_cnt; i++) {
		const struct profile_node *n = &p->nodes[i];

		if (p->threads[n->thread].spans)
			continue;
		whole += (double)stats__cpu_self_ns(&n->stats);
		varied += (double)n->stats.varied_ns;
	}
	/* Of n samples alone `whole` and `varied` are both n periods. */
	return varied * (double)p->sample_period_ns * SAMPLES_MIN <= whole * whole;
}

/* One line, where the tree has all that there is to tell. */
static int print_files(struct printer *pr, struct profile_cpu_share *files, struct share *shares)
{
	size_t cnt = files_of_functions(pr->profile, files);
	const char *between = "CPU time by file:";
	double whole = 0, rest;
	char percent[32];
	int err = 0;

	for (size_t i = 0; i < cnt; i++) {
		shares[i] = (struct share){&files[i], (double)files[i].samples};
		whole += (double)files[i].samples;
	}
	if (!(whole > 0))
		return 0;
	qsort(shares, cnt, sizeof(*shares), compare_shares);
	rest = whole;
	for (size_t i = 0; err >= 0 && i < cnt && i < SHOWN_MAX; i++, between = ",") {
		const char *module = shares[i].file->module;

		if (shares[i].samples < SHOWN_SHARE * whole)
			break;
		fprintf(pr->out, "%s %s ", between,
			text_percent(100 * shares[i].samples / whole, percent, sizeof(percent)));
		err = is_file(shares[i].file) ? printer__name(pr, base_name(module), NAME_COLUMNS)
		      : is_made(shares[i].file)
			      ? fprintf(pr->out, "code made at run time (by a JIT)")
			      : print_bracketed(pr, module);
		rest -= shares[i].samples;
	}
	if (rest >= SHOWN_SHARE * whole)
		fprintf(pr->out, "%s %s others", between,
			text_percent(100 * rest / whole, percent, sizeof(percent)));
	fputc('\n', pr->out);
	print_compiler(pr, shares, cnt, whole);
	return err < 0 ? err : print_advice(pr, shares, cnt, whole);
}

static int print_sampled(struct printer *pr)
{
	size_t cnt = pr->profile->functions_cnt + 1;
	struct profile_cpu_share *files = calloc(cnt, sizeof(*files));
	struct share *shares = calloc(cnt, sizeof(*shares));
	int err = files && shares ? print_files(pr, files, shares) : -ENOMEM;

	free(files);
	free(shares);
	return err;
}

int cpu_shares__print(struct printer *pr)
{
	struct share *shares;
	int err;

	if (pr->profile->sample_period_ns)
		return cpu_shares__known(pr->profile) ? print_sampled(pr) : 0;
	if (!pr->profile->cpu_shares_cnt)
		return 0;
	shares = calloc(pr->profile->cpu_shares_cnt, sizeof(*shares));
	if (!shares)
		return -ENOMEM;
	err = print(pr, shares);
	free(shares);
	return err;
}

void cpu_shares__json(struct json *j, const struct profile *p)
{
	if (!p->cpu_shares_cnt)
		return;
	json_member_open(j, "cpu_samples", '[');
	for (size_t i = 0; i < p->cpu_shares_cnt; i++) {
		const struct profile_cpu_share *file = &p->cpu_shares[i];

		if (!file->samples)
			continue;
		json_open(j, '{');
		json_member_string(j, "module", file->module);
		json_member_u64(j, "samples", file->samples);
		json_member_u64(j, "traced", file->traced);
		json_member_bool(j, "probed", file->probed);
		json_close(j, '}');
	}
	json_close(j, ']');
}
