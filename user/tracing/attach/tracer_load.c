// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loading: the backends are tried, the best first. That may begin while functions are planned, with
 * a guess of what the plan will be.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "attach/life.h"
#include "attach/links/call_probes.h"
#include "attach/links/btf/kernel_btf.h"
#include "attach/links/holder/link_holder.h"
#include "attach/links/refusal.h"
#include "attach/links/skeleton.h"
#include "attach/links/backend.h"
#include "attach/tracer.h"
#include "attach/tracer_inside.h"
#include "security/apart.h"
#include "target/process.h"
#include "target/target.h"
#include "target/whom.h"
#include "util/log.h"

#define FIND_MAP(NAME, ...) tables->NAME##_fd = bpf_map__fd(skel->maps.NAME);

/* Once they are loaded. */
static void find_tables(const struct proftrace_bpf *skel, struct tracer_tables *tables)
{
	WIRE_TABLES(FIND_MAP)
	WIRE_QUEUES(FIND_MAP)
	WIRE_MAPS(FIND_MAP)
	tables->next_callstack = &skel->data_written->next_callstack;
	tables->next_frame = &skel->data_written->next_frame;
	tables->next_node = &skel->data_written->next_node;
	tables->next_dist = &skel->data_written->next_dist;
	tables->tallies = skel->bss->tallies;
	tables->switches_set = &skel->bss->switches_set;
	tables->go_traced = &skel->bss->go_traced;
	tables->callers_lost = (volatile uint64_t *)&skel->data_written->callers_lost;
	tables->samples_half = &skel->bss->samples_half;
	tables->burst_ends_ns = (volatile uint64_t *)skel->bss->burst_ends_ns;
	tables->sample_counts = skel->data_written->sample_counts;
	tables->wait_counts = skel->data_written->wait_counts;
	tables->ring_counts = skel->data_written->ring_counts;
	tables->file_makers = skel->data_written->file_makers;
}

#define TRIAL_COOKIE 0x1234567812345678ull

/* Whether cookies arrive, of entries and returns. The programs find them in structures of the
 * kernel, which may be others some day. */
static int cookie_try(struct tracer *tr, const struct backend *backend)
{
	int err = 0;

	for (uint64_t returns = 0; !err && returns < 2; returns++) {
		const struct backend_probe probe = backend->cookie(tr->skel, returns);

		err = groups__trial(&tr->groups, &probe, TRIAL_COOKIE + returns);
		groups__hit_trial();
		if (!err && tr->skel->bss->trial_cookie != TRIAL_COOKIE + returns)
			err = -EPROTO;
	}
	return err;
}

/* Links on a function of our own: does the kernel know this kind? They stay until the others go,
 * for closing a link takes long. */
static int backend_try(struct tracer *tr, const struct backend *backend)
{
	struct backend_probe probes[BACKEND_MAX_PROBES] = {backend->entry(tr->skel)};
	size_t cnt = tr->returns_spared ? 1 : backend->returns(tr->skel, probes);
	int err = 0;

	for (size_t i = 0; !err && i < cnt; i++)
		err = groups__trial(&tr->groups, &probes[i], 0);
	return err || !backend->cookie ? err : cookie_try(tr, backend);
}

static void unload_backend(struct tracer *tr)
{
	groups__begin_detach(&tr->groups);
	gate__fini(&tr->gate);
	skeleton__free(tr->skel);
	tr->skel = NULL;
	link_holder__unload(tr->groups.link_holder);
}

static void say_failure(const struct backend *backend, int err)
{
	log_debug("backend %s (Linux %s): %s", backend->name, backend->needs,
		  refusal__reason() ? refusal__reason() : strerror(-err));
}

/* Loads the programs of system calls, which tracer__watch_system_calls() attaches later. */
static void choose_system_calls(struct tracer *tr, const struct tracer_options *opts)
{
	bool probed = opts->system_calls && call_probes__known();

	bpf_program__set_autoload(tr->skel->progs.on_call_begin, opts->system_calls);
	bpf_program__set_autoload(tr->skel->progs.on_call_end, opts->system_calls);
	bpf_program__set_autoload(tr->skel->progs.call_begin_probe, probed);
	bpf_program__set_autoload(tr->skel->progs.call_end_probe, probed);
	tr->skel->rodata->keep_system_calls = opts->system_calls;
	tr->skel->rodata->system_calls_first = opts->system_calls_first;
	tr->watches_system_calls = opts->system_calls;
}

/* Leaves out what the run has no use for. */
static void choose_programs(struct tracer *tr, const struct backend *backend,
			    const struct tracer_options *opts, const struct target *t)
{
	tr->surveys = opts->survey && backend->survey;
	bpf_program__set_autoload(tr->skel->progs.survey, tr->surveys);
	tr->groups.emulates = opts->emulates;
	bpf_program__set_autoload(tr->skel->progs.exit_ret, tr->groups.emulates);
	bpf_program__set_autoload(tr->skel->progs.on_exec_skipped, t->skips_programs);
	tr->returns_spared = opts->returns_spared && backend == backend__at(0);
	tr->skel->rodata->returns_spared = tr->returns_spared;
	if (!tr->returns_spared)
		return;
	log_debug("no function has a return probe: the program of return probes is left out");
	bpf_program__set_autoload(tr->skel->progs.session, false);
}

/* Lets the session program know itself among those who probe an instruction. */
static int tell_session_program(const struct proftrace_bpf *skel)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	if (!bpf_program__autoload(skel->progs.session))
		return 0;
	if (bpf_obj_get_info_by_fd(skeleton__program(skel, skel->progs.session), &info, &size))
		return -errno;
	skel->bss->session_program = info.id;
	return 0;
}

/* Has the programs for the backend of that number be loaded. Returns 0, or -errno, then with
 * nothing to undo. */
static int begin_backend(struct tracer *tr, uint32_t number, const struct tracer_options *opts,
			 const struct target *t)
{
	const struct backend *backend = backend__at(number);
	int err;

	refusal__forget();
	if (!backend__in_kernel(backend)) {
		log_debug("backend %s (Linux %s): not in this kernel", backend->name,
			  backend->needs);
		return -ENOTSUP;
	}
	tr->skel = skeleton__open(backend->lacks);
	if (!tr->skel)
		return -errno;
	tr->groups.link_holder = opts->link_holder;
	err = backend->prepare(tr->skel);
	if (err)
		goto failed;
	choose_programs(tr, backend, opts, t);
	choose_system_calls(tr, opts);
	tracer__size(tr, opts, t->processes_cnt, !backend->lacks);
	tr->groups.unbound = !t->processes_cnt || opts->follow || opts->whom;
	tr->groups.small = opts->drops;
	tr->skel->rodata->has_bursts = tr->surveys && opts->bursts;
	tr->skel->rodata->keep_cpu_clocks = tr->skel->rodata->has_bursts;
	bpf_program__set_autoload(tr->skel->progs.catch_up_clock, tr->skel->rodata->has_bursts);
	tr->groups.children = t->processes_cnt && opts->children;
	tr->skel->rodata->filter_tgids = t->processes_cnt != 0;
	tr->skel->rodata->links_unbound = tr->groups.unbound || tr->groups.children;
	life__prepare(tr->skel, opts->children, opts->follow, opts->command);
	tr->skel->rodata->takes_turns = opts->turn_fd > 0;
	tr->skel->rodata->own_turn = opts->turn;
	err = link_holder__begin_load(opts->link_holder, number, tr->skel, opts->turn_fd);
	if (!err)
		return 0;
failed:
	say_failure(backend, err);
	unload_backend(tr);
	return err;
}

/* Once they are loaded. Returns 0, or -errno, then with nothing left of them. */
static int end_backend(struct tracer *tr, const struct backend *backend)
{
	int err = link_holder__end_load(tr->groups.link_holder, tr->skel);

	if (!err) {
		find_tables(tr->skel, &tr->tables);
		err = tell_session_program(tr->skel);
	}
	if (!err)
		err = gate__init(&tr->gate, tr->skel, tr->groups.link_holder);
	if (!err)
		err = backend_try(tr, backend);
	if (err) {
		say_failure(backend, err);
		unload_backend(tr);
		return err;
	}
	tr->backend = backend;
	log_debug("programs may %swrite registers: what is probed and can be emulated is %s",
		  tr->groups.emulates ? "" : "not ",
		  tr->groups.emulates ? "emulated" : "single-stepped");
	return 0;
}

static int load_backend(struct tracer *tr, uint32_t number, const struct tracer_options *opts,
			const struct target *t)
{
	int err = begin_backend(tr, number, opts, t);

	return err ? err : end_backend(tr, backend__at(number));
}

/* Before 6.10 a link's process filter let other threads through: BPF checks again. */
static int allow_processes(struct tracer *tr, const struct target *t)
{
	for (size_t i = 0; i < t->processes_cnt; i++) {
		int err = tracer__admit(tr, t->processes[i].pid);

		if (err) {
			log_error("too many processes: %s", strerror(-err));
			return err;
		}
	}
	return 0;
}

#define LEAST_FILES 256 /* that must be allowed to be open for programs, tables and links */

/* Whether so few files may be open that loading fails: the error may name a consequence only. */
static bool files_are_few(void)
{
	struct rlimit files;

	return !getrlimit(RLIMIT_NOFILE, &files) && files.rlim_max < LEAST_FILES;
}

#define LEAST_DATA  (64 << 20)	/* bytes: libbpf reads the kernel's types, some 10 MB, for one */
#define LEAST_SPACE (256 << 20) /* with the tables, which are mapped */

/* Whether so little memory is allowed that loading fails: libbpf then tells of a consequence,
 * "failed to find valid kernel BTF". */
static bool memory_is_little(void)
{
	struct rlimit data, space;

	return (!getrlimit(RLIMIT_DATA, &data) && data.rlim_cur < LEAST_DATA) ||
	       (!getrlimit(RLIMIT_AS, &space) && space.rlim_cur < LEAST_SPACE);
}

/* What a limit, or whoever has killed a process of ours, did not let us do; NULL: neither of them.
 */
static const char *limit_met(int err)
{
	if (err != -EPERM && err != -EMFILE && memory_is_little())
		return "not enough memory to load BPF programs; a limit is too low: see ulimit -d "
		       "and ulimit -v";
	if (err == -ENOMEM || err == -E2BIG)
		return NULL;
	if (err == -EMFILE || files_are_few())
		return "not enough files can be open for BPF programs and tables; try "
		       "`ulimit -n 1024`";
	if (err == -EAGAIN)
		return apart__why_not(err);
	return err == -EOWNERDEAD ? "the process that holds the probes has been killed" : NULL;
}

bool tracer__try(const struct tracer_options *opts, size_t index, struct tracer_trial *out)
{
	const struct backend *backend = backend__at(index);
	const struct target nobody = {0};
	struct tracer tr = {0};
	const char *limit, *reason;
	int err;

	if (!backend)
		return false;
	refusal__listen();
	err = load_backend(&tr, index, opts, &nobody);
	*out = (struct tracer_trial){.name = backend->name,
				     .since = backend->needs,
				     .works = !err,
				     .basic = backend->lacks,
				     .surveys = backend->survey};
	if (!err) {
		unload_backend(&tr);
		return true;
	}
	limit = backend__in_kernel(backend) ? limit_met(err) : NULL;
	reason = limit ? limit : refusal__reason();
	out->limited = limit != NULL;
	snprintf(out->why, sizeof(out->why), "%s",
		 reason				? reason
		 : !backend__in_kernel(backend) ? "not in this kernel"
						: strerror(-err));
	return true;
}

/* libbpf tries a program of two instructions first. */
static bool refuses_any(void)
{
	return refusal__reason() && strstr(refusal__reason(), "trivial BPF program");
}

/* `backend` is the last that was tried. */
static int load_failed(const struct backend *backend, int err)
{
	const char *limit = limit_met(err);

	if (access("/sys/kernel", F_OK))
		log_error("/sys is not there; try `mount -t sysfs sysfs /sys`");
	else if (access("/sys/kernel/btf/vmlinux", R_OK))
		log_error("this kernel has no BTF (/sys/kernel/btf/vmlinux); it needs "
			  "CONFIG_DEBUG_INFO_BTF=y");
	else if (!backend__in_kernel(backend))
		log_error("this kernel has no %s links (Linux %s or later)", backend->name,
			  backend->needs);
	else if (limit)
		log_error("%s", limit);
	else if (err == -ENOMEM || err == -E2BIG)
		log_error("not enough memory for the tables; try a smaller --max-paths");
	else if (!backend->sign && !refusal__reason())
		log_error("cannot probe by trace events: %s; they take a kernel with "
			  "CONFIG_UPROBE_EVENTS, and its tracefs",
			  strerror(-err));
	else if (err == -EPERM && refuses_any())
		log_error("no BPF program may be loaded, even by root (bpf(2): %s): a container's "
			  "filter of system calls, kernel lockdown or a security module forbids "
			  "it; try outside of the container",
			  strerror(-err));
	else if (err == -EPERM)
		log_error("the kernel refuses our BPF programs: %s; kernel lockdown or a security "
			  "module may forbid them",
			  refusal__reason() ? refusal__reason() : strerror(-err));
	else
		log_error("the kernel refuses our BPF programs: %s (-v shows more)",
			  refusal__reason() ? refusal__reason() : strerror(-err));
	return err;
}

bool tracer__is_inside(void)
{
	return process__namespace().ino != 0;
}

/* BPF's times are those of the initial namespace of clocks, ours are compared with them. */
bool tracer__shares_clock(void)
{
	long long seconds, nanoseconds;
	char clock[16];
	bool same = true;
	FILE *f;

	f = fopen("/proc/self/timens_offsets", "re");
	if (!f)
		return true; /* the kernel has no such namespaces (before 5.6) */
	while (same && fscanf(f, "%15s %lld %lld", clock, &seconds, &nanoseconds) == 3)
		same = !seconds && !nanoseconds;
	fclose(f);
	return same;
}

/* Returns 0 or -errno with one line logged. */
static int check_clock(void)
{
	if (tracer__shares_clock())
		return 0;
	log_error("this is a time namespace of its own, whose clock is not the kernel's; run "
		  "proftrace in the host's (nsenter --time=/proc/1/ns/time)");
	return -ENOTSUP;
}

/* The first backend that would be tried. */
static uint32_t first_backend(const struct tracer_options *opts)
{
	const struct backend *backend;
	uint32_t number = 0;

	while ((backend = backend__at(number)) && opts->backend &&
	       strcmp(opts->backend, backend->name) != 0)
		number++;
	return number;
}

struct tracer *tracer__begin(const struct tracer_options *opts, const struct target *t)
{
	uint32_t number = first_backend(opts);
	struct tracer *tr = backend__at(number) ? calloc(1, sizeof(*tr)) : NULL;

	refusal__listen();
	if (!tr || begin_backend(tr, number, opts, t)) {
		free(tr);
		return NULL;
	}
	tr->begun =
		(struct tracer_begun){opts->functions_cnt, opts->regions_planned, opts->expects_go};
	return tr;
}

void tracer__call_off(struct tracer *tr)
{
	if (!tr)
		return;
	skeleton__free(tr->skel);
	free(tr);
}

/* Whether what was begun is what is wanted now. */
static bool fits(const struct tracer *tr, const struct tracer_options *opts)
{
	return opts->functions_cnt <= tr->begun.functions_room &&
	       opts->regions_planned == tr->begun.regions_planned &&
	       opts->expects_go == tr->begun.expects_go &&
	       (opts->returns_spared || !tr->returns_spared);
}

/* Waits for what was begun. Returns the tracer, or NULL if it is of no use. */
static struct tracer *end_begun(struct tracer *tr, const struct tracer_options *opts)
{
	if (tr && fits(tr, opts) && !end_backend(tr, backend__at(first_backend(opts))))
		return tr;
	if (tr)
		log_debug("what was loaded while functions were planned is not used");
	tracer__call_off(tr);
	return NULL;
}

/* Tries backends, the best first. */
static int load_best(struct tracer *tr, const struct tracer_options *opts, const struct target *t)
{
	const struct backend *backend, *tried = NULL;
	int err = -ENOTSUP;

	for (size_t i = 0; err && (backend = backend__at(i)); i++) {
		if (opts->backend && strcmp(opts->backend, backend->name))
			continue;
		tried = backend;
		err = load_backend(tr, i, opts, t);
	}
	return err ? load_failed(tried, err) : 0;
}

int tracer__load(const struct tracer_options *opts, const struct target *t, struct tracer *begun,
		 struct tracer **out)
{
	struct tracer *tr;
	int err;

	err = check_clock();
	if (err) {
		tracer__call_off(begun);
		return err;
	}
	refusal__listen();
	tr = end_begun(begun, opts);
	if (!tr) {
		tr = calloc(1, sizeof(*tr));
		err = tr ? load_best(tr, opts, t) : -ENOMEM;
	}
	if (err) {
		tracer__free(tr);
		return err;
	}
	kernel_btf__forget();
	if (tr->backend->lacks)
		log_info("on this kernel %s (proftrace doctor tells more)", tr->backend->lacks);
	if (opts->whom)
		life__choose(tr->skel, whom__begins(opts->whom));
	err = allow_processes(tr, t);
	if (!err && tr->tables.lists_cap)
		err = tracer__tell_lists(tr);
	if (!err)
		err = life__new(tr->skel, &tr->life);
	/* Ends of threads and programs, for accounts and for using tables again. */
	if (!err) {
		err = link_holder__tracepoints(opts->link_holder, TRACEPOINTS_ATTACH);
		if (err)
			log_error("cannot attach to the scheduler's tracepoints: %s",
				  strerror(-err));
	}
	if (err) {
		tracer__free(tr);
		return err;
	}
	*out = tr;
	return 0;
}
