// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loading: the tables are made as large as the run may need them, and the backends are tried, the
 * best first.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/life.h"
#include "attach/links/kernel_btf.h"
#include "attach/links/refusal.h"
#include "attach/links/link_holder.h"
#include "attach/links/skeleton.h"
#include "attach/links/backend.h"
#include "attach/tracer.h"
#include "attach/tracer_inside.h"
#include "select/arguments.h"
#include "target/target.h"
#include "target/whom.h"
#include "util/log.h"

#define MAX_CALLSTACKS (1u << 15) /* twice as many have room in session_word() */
#define FEW_GOROUTINES 4096	  /* at a time, where they come unexpected */
#define MAX_FRAMES     (1u << 19)
#define MAX_CHUNKS     (1u << 22) /* 4 GB */
#define MAX_FOLLOWED   (1u << 16) /* processes at a time */

static uint32_t power_of_two(uint32_t at_least)
{
	uint32_t n = 1;

	while (n < at_least)
		n <<= 1;
	return n;
}

/* How many shares the CPUs have in a table where each counts apart: a power of two. Fewer than
 * CPUs where so many entries would not do for them all. */
static uint32_t shares_of_cpus(size_t entries, size_t most)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint32_t shares = power_of_two(cpus > 0 && cpus < WIRE_CPUS ? cpus : WIRE_CPUS);

	while (shares > 1 && shares * entries > most)
		shares /= 2;
	return shares;
}

#define MIN_DISTS      (1u << 14)
#define MAX_DISTS      (1u << 17)
#define MOST_DISTS     (1u << 19) /* with more than 8 CPUs; 36 MB */
#define MAX_PASSED     (1u << 23) /* 64 MB */
#define MAX_LINE_CNTS  (1u << 22) /* 128 MB */
#define MORE_FUNCTIONS (1u << 16) /* that may come with files that are loaded later */
#define LINE_OF_CACHE  64

/* So many entries of that size fill whole cache lines: CPUs' shares do not touch. */
static size_t whole_lines(size_t entries, size_t size)
{
	size_t step = LINE_OF_CACHE / size;

	return (entries + step - 1) / step * step;
}

/* Room for the distributions of all functions, each in a few powers of two on each CPU. */
static uint32_t dists_wanted(size_t functions, uint32_t shares)
{
	uint32_t most = MAX_DISTS / 8 * (shares > 8 ? shares : 8);
	size_t wanted = functions * shares * 4;

	if (most > MOST_DISTS)
		most = MOST_DISTS;

	return wanted < MIN_DISTS ? MIN_DISTS : wanted > most ? most : power_of_two(wanted);
}

static void size_calls(struct tracer *tr, size_t bytes)
{
	struct tracer_tables *tables = &tr->tables;
	struct proftrace_bpf *skel = tr->skel;
	size_t chunks = bytes / sizeof(struct wire_chunk);

	tables->chunks_cap = chunks < MAX_CHUNKS ? chunks : MAX_CHUNKS;
	skel->rodata->keep_calls = tables->chunks_cap > 0;
	skel->rodata->chunks_cap = tables->chunks_cap;
}

/* Sizes the tables of values (-A); without, they have one entry. */
static void size_values(struct tracer *tr, const struct tracer_options *opts)
{
	struct tracer_tables *tables = &tr->tables;
	struct proftrace_bpf *skel = tr->skel;

	if (!tables->chunks_cap || !opts->arguments || !opts->arguments->cnt)
		return;
	/* Files that are loaded later may bring more. */
	tables->lists_cap =
		arguments__named(opts->arguments) ? ARGUMENT_LISTS + 1 : opts->arguments->cnt + 1;
	tr->arguments = opts->arguments;
	skel->rodata->keep_values = true;
}

#define MORE_LINES (1u << 15) /* sites, that may come with files that are loaded later */

/* Sizes the tables of lines (--lines), and leaves its programs out where it was not given. */
static void size_lines(struct tracer *tr, const struct tracer_options *opts)
{
	struct tracer_tables *tables = &tr->tables;
	struct proftrace_bpf *skel = tr->skel;

	bpf_program__set_autoload(skel->progs.line_site, opts->lines);
	tables->lines_cap = opts->lines ? whole_lines(opts->line_sites_cnt + 1 + MORE_LINES,
						      sizeof(struct wire_line_count))
					: 0;
	if (!tables->lines_cap)
		return;
	tables->line_shares = shares_of_cpus(tables->lines_cap, MAX_LINE_CNTS);
	skel->rodata->keep_lines = true;
	skel->rodata->lines_cap = tables->lines_cap;
	skel->rodata->lines_shares_mask = tables->line_shares - 1;
}

/* Sizes the tables that are counted by function and CPU: how long calls took, and those that are
 * passed over. */
static void size_shares(struct tracer *tr, const struct tracer_options *opts)
{
	struct tracer_tables *tables = &tr->tables;
	struct proftrace_bpf *skel = tr->skel;
	uint32_t dist_shares = shares_of_cpus(1, WIRE_CPUS);

	tables->dists_cap = dists_wanted(opts->functions_cnt, dist_shares);
	tables->function_modes_cap =
		whole_lines(opts->functions_cnt + MORE_FUNCTIONS, sizeof(uint64_t));
	tables->passed_shares = shares_of_cpus(tables->function_modes_cap, MAX_PASSED);
	tables->counts = tr->surveys;
	tables->emulates = skel->rodata->emulates_entries = tr->groups.emulates;
	skel->rodata->dists_mask = tables->dists_cap - 1;
	skel->rodata->dists_shares_mask = dist_shares - 1;
	skel->rodata->function_modes_cap = tables->function_modes_cap;
	skel->rodata->passed_shares_mask = tables->passed_shares - 1;
}

#define MAX_CALLERS	  (1u << 14) /* stacks, 1 KB each */
#define MAX_SEEDS	  (1u << 11) /* two for each, 1.5 KB */
#define MAX_UNWIND_TABLES (1u << 12)
#define MAX_SPACES	  (1u << 10) /* processes at a time, 20 KB each */

#define MIN_SAMPLES (1u << 8)
#define MAX_SAMPLES (1u << 14) /* 24 MB, and as much for the other half */
#define WAITS	    (1u << 12) /* 5 MB */

/* Sizes the table of samples for what may come in a quarter of a second; and that of waits. */
static void size_samples(struct tracer *tr, const struct tracer_options *opts, uint32_t hz)
{
	struct tracer_tables *tables = &tr->tables;
	uint64_t wanted = (uint64_t)hz * sysconf(_SC_NPROCESSORS_CONF) / 4;

	tables->samples_cap = !hz		     ? 0
			      : wanted < MIN_SAMPLES ? MIN_SAMPLES
			      : wanted > MAX_SAMPLES ? MAX_SAMPLES
						     : power_of_two(wanted);
	bpf_program__set_autoload(tr->skel->progs.on_sample, hz);
	bpf_program__set_autoload(tr->skel->progs.name_kernel, hz && !opts->samples_bare);
	tr->skel->rodata->samples_cap = tables->samples_cap;
	tr->skel->rodata->samples_bare = opts->samples_bare;
	tables->waits_cap = tables->samples_cap && !opts->samples_bare ? WAITS : 0;
	tr->skel->rodata->waits_cap = tables->waits_cap;
}

#define RING_WAITS  (1u << 14) /* 2.3 MB */
#define RINGS_WAITS (1u << 18) /* of all CPUs: 38 MB */

/* Sizes the rings of single waits, which come with single calls, where programs can look at the
 * registers of threads that do not run; and leaves out what only waits need. */
static void size_waits(struct tracer *tr, const struct tracer_options *opts, bool looks)
{
	struct tracer_tables *tables = &tr->tables;
	bool waits;

	if (tables->chunks_cap && looks && opts->call_reason) {
		tables->rings = shares_of_cpus(1, WIRE_CPUS);
		tables->ring_cap = RINGS_WAITS / tables->rings;
		if (tables->ring_cap > RING_WAITS)
			tables->ring_cap = RING_WAITS;
	}
	tr->skel->rodata->ring_cap = tables->ring_cap;
	tr->skel->rodata->rings_mask = tables->rings ? tables->rings - 1 : 0;
	waits = tables->waits_cap || tables->ring_cap;
	bpf_program__set_autoload(tr->skel->progs.on_waking, waits);
	for (uint32_t i = 0; waits && i < WIRE_CALLS; i++)
		tr->skel->rodata->call_reasons[i] = opts->call_reason(i);
}

/* Sizes the tables of all that is unwound. `unwinds`: the programs that are loaded can. */
static void size_unwinding(struct tracer *tr, const struct tracer_options *opts, bool unwinds)
{
	struct tracer_tables *tables = &tr->tables;
	struct proftrace_bpf *skel = tr->skel;

	size_samples(tr, opts, unwinds ? opts->samples_hz : 0);
	unwinds = unwinds &&
		  (opts->callers || opts->seeds || (opts->samples_hz && !opts->samples_bare));
	if (!unwinds)
		return;
	tables->unwind_tables_cap = MAX_UNWIND_TABLES;
	tables->unwind_spaces_cap = MAX_SPACES;
	tables->callers_cap = opts->callers ? MAX_CALLERS : 0;
	tables->seeds_cap = opts->seeds ? MAX_SEEDS : 0;
	skel->rodata->keep_spaces = true;
	skel->rodata->keep_seeds = opts->seeds;
	skel->rodata->seeds_cap = tables->seeds_cap;
	skel->rodata->keep_callers = opts->callers;
	skel->rodata->callers_cap = tables->callers_cap;
}

/* `unwinds`: as for size_unwinding(). */
static void size_tables(struct tracer *tr, const struct tracer_options *opts, bool unwinds)
{
	struct tracer_tables *tables = &tr->tables;
	struct proftrace_bpf *skel = tr->skel;

	*tables = (struct tracer_tables){0};
	/* Goroutines are many. */
	tables->callstacks_cap = opts->expects_go ? 2 * MAX_CALLSTACKS : MAX_CALLSTACKS;
	tables->goroutines_cap = opts->expects_go ? 2 * tables->callstacks_cap : FEW_GOROUTINES;
	tables->followed_cap = opts->children || opts->whom ? MAX_FOLLOWED : 0;
	/* Who wants few paths wants little memory. */
	tables->frames_cap = opts->max_paths < MAX_FRAMES / 4 ? MAX_FRAMES / 4 : MAX_FRAMES;
	tables->nodes_cap = opts->max_paths;
	tables->index_cap = power_of_two(tables->nodes_cap) * 2;
	skel->rodata->callstacks_cap = tables->callstacks_cap;
	skel->rodata->frames_cap = tables->frames_cap;
	skel->rodata->nodes_cap = tables->nodes_cap;
	skel->rodata->index_mask = tables->index_cap - 1;
	skel->rodata->keep_cost = opts->keep_cost;
	skel->rodata->has_triggers = opts->triggers;
	skel->rodata->has_untils = opts->untils;
	skel->rodata->has_regions = opts->regions;
	skel->rodata->has_whom = opts->whom;
	bpf_program__set_autoload(skel->progs.region_begin, opts->regions_planned);
	bpf_program__set_autoload(skel->progs.region_end, opts->regions_planned);
	size_shares(tr, opts);
	size_calls(tr, opts->calls_bytes);
	size_values(tr, opts);
	size_lines(tr, opts);
	size_unwinding(tr, opts, unwinds);
	size_waits(tr, opts, unwinds);
	if (opts->max_depth)
		skel->rodata->max_level = opts->max_depth;
}

/* A map that is not used stays as it is defined. */
static void map_size(struct bpf_map *map, uint32_t entries)
{
	if (entries)
		bpf_map__set_max_entries(map, entries);
}

#define SIZE_MAP(NAME, ENTRIES)		map_size(skel->maps.NAME, ENTRIES);
#define SIZE_TABLE(NAME, TYPE, ENTRIES) SIZE_MAP(NAME, ENTRIES)
#define FIND_MAP(NAME, ...)		tables->NAME##_fd = bpf_map__fd(skel->maps.NAME);

static void size_maps(const struct proftrace_bpf *skel, const struct tracer_tables *tables)
{
	WIRE_TABLES(SIZE_TABLE)
	WIRE_QUEUES(SIZE_MAP)
	WIRE_MAPS(SIZE_MAP)
}

/* Once they are loaded. */
static void find_tables(const struct proftrace_bpf *skel, struct tracer_tables *tables)
{
	WIRE_TABLES(FIND_MAP)
	WIRE_QUEUES(FIND_MAP)
	WIRE_MAPS(FIND_MAP)
	tables->next_callstack = &skel->data_written->next_callstack;
	tables->next_frame = &skel->data_written->next_frame;
	tables->next_node = &skel->data_written->next_node;
	tables->tallies = skel->bss->tallies;
	tables->switches_set = &skel->bss->switches_set;
	tables->callers_lost = (volatile uint64_t *)&skel->data_written->callers_lost;
	tables->samples_half = &skel->bss->samples_half;
	tables->bursts_gone_ns = &skel->bss->bursts_gone_ns;
	tables->sample_counts = skel->data_written->sample_counts;
	tables->wait_counts = skel->data_written->wait_counts;
	tables->ring_counts = skel->data_written->ring_counts;
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
	groups__detach(&tr->groups);
	gate__fini(&tr->gate);
	skeleton__free(tr->skel);
	tr->skel = NULL;
	link_holder__unload(tr->groups.link_holder);
}

/* They are attached later: see tracer__watch_system_calls(). */
static void choose_system_calls(struct tracer *tr, const struct tracer_options *opts)
{
	struct bpf_program *const programs[] = {tr->skel->progs.on_call_begin,
						tr->skel->progs.on_call_end};

	for (int i = 0; i < 2; i++)
		bpf_program__set_autoload(programs[i], opts->system_calls);
	tr->skel->rodata->keep_system_calls = opts->system_calls;
	tr->skel->rodata->system_calls_first = opts->system_calls_first;
	tr->watches_system_calls = opts->system_calls;
}

/* Leaves out what the run has no use for. */
static void choose_programs(struct tracer *tr, const struct backend *backend,
			    const struct tracer_options *opts)
{
	tr->surveys = opts->survey && backend->survey;
	bpf_program__set_autoload(tr->skel->progs.survey, tr->surveys);
	tr->groups.emulates = opts->emulates;
	bpf_program__set_autoload(tr->skel->progs.exit_ret, tr->groups.emulates);
	tr->returns_spared = opts->returns_spared && backend == backend__at(0);
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

/* Loads the programs for the backend of that number. */
static int load_backend(struct tracer *tr, uint32_t number, const struct tracer_options *opts,
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
	choose_programs(tr, backend, opts);
	choose_system_calls(tr, opts);
	size_tables(tr, opts, !backend->lacks);
	size_maps(tr->skel, &tr->tables);
	tr->groups.unbound = !t->processes_cnt || opts->follow || opts->whom;
	tr->groups.small = opts->drops;
	tr->skel->rodata->has_bursts = tr->surveys && opts->bursts;
	tr->skel->rodata->keep_cpu_clocks = tr->skel->rodata->has_bursts;
	tr->groups.children = t->processes_cnt && opts->children;
	tr->skel->rodata->filter_tgids = t->processes_cnt != 0;
	tr->skel->rodata->links_unbound = tr->groups.unbound || tr->groups.children;
	life__prepare(tr->skel, opts->children, opts->follow);
	err = link_holder__load(opts->link_holder, number, tr->skel);
	if (!err) {
		find_tables(tr->skel, &tr->tables);
		err = tell_session_program(tr->skel);
	}
	if (!err)
		err = gate__init(&tr->gate, tr->skel, opts->link_holder);
	if (!err)
		err = backend_try(tr, backend);
	if (err)
		goto failed;
	tr->backend = backend;
	log_debug("programs may %swrite registers: what is probed and can be emulated is %s",
		  tr->groups.emulates ? "" : "not ",
		  tr->groups.emulates ? "emulated" : "single-stepped");
	return 0;
failed:
	log_debug("backend %s (Linux %s): %s", backend->name, backend->needs,
		  refusal__reason() ? refusal__reason() : strerror(-err));
	unload_backend(tr);
	return err;
}

bool tracer__try(const struct tracer_options *opts, size_t index, struct tracer_trial *out)
{
	const struct backend *backend = backend__at(index);
	const struct target nobody = {0};
	struct tracer tr = {0};
	const char *reason;
	int err;

	if (!backend)
		return false;
	refusal__listen();
	err = load_backend(&tr, index, opts, &nobody);
	*out = (struct tracer_trial){.name = backend->name,
				     .since = backend->needs,
				     .works = !err,
				     .basic = backend->lacks};
	if (!err) {
		unload_backend(&tr);
		return true;
	}
	reason = refusal__reason();
	snprintf(out->why, sizeof(out->why), "%s",
		 reason				? reason
		 : !backend__in_kernel(backend) ? "not in this kernel"
						: strerror(-err));
	return true;
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

/* `backend` is the last that was tried. */
static int load_failed(const struct backend *backend, int err)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		log_error("this kernel has no BTF (/sys/kernel/btf/vmlinux); it needs "
			  "CONFIG_DEBUG_INFO_BTF=y");
	else if (!backend__in_kernel(backend))
		log_error("this kernel has no %s links (Linux %s or later)", backend->name,
			  backend->needs);
	else if (err == -ENOMEM || err == -E2BIG)
		log_error("not enough memory for the tables; try a smaller --max-paths");
	else if (err == -EOWNERDEAD)
		log_error("the process that holds the probes has been killed");
	else if (!backend->sign && !refusal__reason())
		log_error("cannot probe by trace events: %s; they take a kernel with "
			  "CONFIG_UPROBE_EVENTS, and its tracefs",
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

#define INIT_PID_NS_INO 0xeffffffcu /* PROC_PID_INIT_INO in the kernel's proc_ns.h */

/* BPF knows processes by the numbers that they have in the initial namespace. With others nothing
 * would match, silently. */
bool tracer__knows_processes(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) || st.st_ino == INIT_PID_NS_INO;
}

/* Returns 0 or -errno with one line logged. */
static int check_pid_namespace(void)
{
	if (tracer__knows_processes())
		return 0;
	log_error("this is a PID namespace of its own (a container?), in which only -x without -p "
		  "works; run proftrace in the host's");
	return -ENOTSUP;
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

int tracer__load(const struct tracer_options *opts, const struct target *t, struct tracer **out)
{
	const struct backend *backend, *tried = NULL;
	struct tracer *tr;
	int err;

	err = t->processes_cnt ? check_pid_namespace() : 0;
	if (!err)
		err = check_clock();
	if (err)
		return err;
	tr = calloc(1, sizeof(*tr));
	if (!tr)
		return -ENOMEM;
	refusal__listen();
	err = -ENOTSUP;
	for (size_t i = 0; err && (backend = backend__at(i)); i++) {
		if (opts->backend && strcmp(opts->backend, backend->name))
			continue;
		tried = backend;
		err = load_backend(tr, i, opts, t);
	}
	if (err) {
		tracer__free(tr);
		return load_failed(tried, err);
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
