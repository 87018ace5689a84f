// SPDX-License-Identifier: GPL-2.0-or-later
/* How large the tables are made: as the run may need them. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "attach/links/skeleton.h"
#include "attach/tracer.h"
#include "attach/tracer_inside.h"
#include "select/arguments.h"

#define MAX_CALLSTACKS (1u << 15) /* twice as many have room in session_word() */
#define FEW_GOROUTINES 4096	  /* at a time, where they come unexpected */
#define MAX_FRAMES     (1u << 19)
#define MAX_CHUNKS     (1u << 22) /* 4 GB */
#define MAX_FOLLOWED   (1u << 14) /* processes at a time */
#define MIN_FOLLOWED   (1u << 12)
#define MIN_THREADS    (1u << 13) /* at a time */

static uint32_t power_of_two(uint32_t at_least)
{
	uint32_t n = 1;

	while (n < at_least)
		n <<= 1;
	return n;
}

/* The machine's threads; UINT_MAX: not known. */
static unsigned tasks_now(void)
{
	FILE *file = fopen("/proc/loadavg", "re");
	unsigned tasks = UINT_MAX;

	if (file && fscanf(file, "%*s %*s %*s %*u/%u", &tasks) != 1)
		tasks = UINT_MAX;
	if (file)
		fclose(file);
	return tasks;
}

/* Room for so many threads or processes as a run may meet at a time: four times the threads that
 * there are now, but `least` to `most`. An entry of a hash table takes 0.1 to 0.4 us to make. */
static uint32_t tasks_wanted(unsigned tasks, uint32_t least, uint32_t most)
{
	return tasks >= most / 4 ? most : 4 * tasks <= least ? least : power_of_two(4 * tasks);
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
#define MOST_DISTS     (1u << 19) /* with more than 8 CPUs; 40 MB */
#define MAX_PASSED     (1u << 23) /* 64 MB */
#define MAX_LINE_CNTS  (1u << 22) /* 128 MB */
#define MORE_FUNCTIONS (1u << 16) /* that may come with files that are loaded later */
#define LINE_OF_CACHE  64

/* The number of entries of that size that fill whole cache lines: CPUs' shares do not touch. */
static size_t whole_lines(size_t entries, size_t size)
{
	size_t step = LINE_OF_CACHE / size;

	return (entries + step - 1) / step * step;
}

/* Room for the distributions of all functions, each in four powers of two on each CPU. */
static uint32_t dists_wanted(size_t functions, uint32_t shares)
{
	uint32_t most = MAX_DISTS / 8 * (shares > 8 ? shares : 8);
	size_t wanted = functions * shares * WIRE_DIST_OCTAVES;

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
	skel->rodata->dists_cap = tables->dists_cap;
	skel->rodata->dists_shares_mask = dist_shares - 1;
	skel->rodata->function_modes_cap = tables->function_modes_cap;
	skel->rodata->passed_shares_mask = tables->passed_shares - 1;
}

#define MAX_CALLERS	  (1u << 14) /* stacks, 1 KB each */
#define MAX_SEEDS	  (1u << 11) /* two for each, 1.5 KB */
#define MAX_GO_SEEDS	  (1u << 13)
#define MAX_UNWIND_TABLES (1u << 12)
#define MAX_SPACES	  (1u << 10) /* processes at a time, 20 KB each */
#define MIN_SPACES	  (1u << 8)

/* Room for the mappings of so many processes and those that they will fork; 0: any may come. */
static uint32_t spaces_wanted(size_t processes)
{
	if (!processes || processes >= MAX_SPACES / 4)
		return MAX_SPACES;
	return processes <= MIN_SPACES / 4 ? MIN_SPACES : power_of_two(4 * processes);
}

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
	tr->skel->rodata->waits_shared = opts->drops;
	tables->habits_cap = tables->waits_cap && opts->drops ? WIRE_WAIT_HABITS : 0;
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
	/* The programs that cannot unwind cannot name files either. */
	tables->files_cap = looks && (waits || opts->system_calls) ? WIRE_FILES : 0;
	for (uint32_t i = 0; tables->files_cap && i < WIRE_CALLS; i++)
		tr->skel->rodata->call_files[i] = opts->call_file(i);
}

/* Sizes the tables of all that is unwound. `unwinds`: the programs that are loaded can. */
static void size_unwinding(struct tracer *tr, const struct tracer_options *opts, size_t processes,
			   bool unwinds)
{
	struct tracer_tables *tables = &tr->tables;
	struct proftrace_bpf *skel = tr->skel;

	size_samples(tr, opts, unwinds ? opts->samples_hz : 0);
	unwinds = unwinds &&
		  (opts->callers || opts->seeds || (opts->samples_hz && !opts->samples_bare));
	if (!unwinds)
		return;
	tables->unwind_tables_cap = MAX_UNWIND_TABLES;
	tables->unwind_spaces_cap = spaces_wanted(opts->whom || opts->follow ? 0 : processes);
	tables->callers_cap = opts->callers ? MAX_CALLERS : 0;
	tables->seeds_cap = !opts->seeds ? 0 : opts->expects_go ? MAX_GO_SEEDS : MAX_SEEDS;
	skel->rodata->keep_spaces = true;
	skel->rodata->keep_seeds = opts->seeds;
	skel->rodata->seeds_cap = tables->seeds_cap;
	skel->rodata->keep_callers = opts->callers;
	skel->rodata->callers_cap = tables->callers_cap;
}

static void size_tables(struct tracer *tr, const struct tracer_options *opts, size_t processes,
			bool unwinds)
{
	struct tracer_tables *tables = &tr->tables;
	struct proftrace_bpf *skel = tr->skel;
	unsigned tasks = tasks_now();

	*tables = (struct tracer_tables){0};
	/* Goroutines are many. */
	tables->callstacks_cap = opts->expects_go ? 2 * MAX_CALLSTACKS : MAX_CALLSTACKS;
	tables->goroutines_cap = opts->expects_go ? 2 * tables->callstacks_cap : FEW_GOROUTINES;
	tables->threads_cap = tasks_wanted(tasks, MIN_THREADS, tables->callstacks_cap);
	tables->followed_cap =
		opts->children || opts->whom ? tasks_wanted(tasks, MIN_FOLLOWED, MAX_FOLLOWED) : 0;
	/* A run with few paths is to take little memory. */
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
	skel->rodata->keep_whole = opts->whole;
	skel->rodata->has_regions = opts->regions;
	skel->rodata->has_whom = opts->whom;
	bpf_program__set_autoload(skel->progs.region_begin, opts->regions_planned);
	bpf_program__set_autoload(skel->progs.region_end, opts->regions_planned);
	size_shares(tr, opts);
	size_calls(tr, opts->calls_bytes);
	size_values(tr, opts);
	size_lines(tr, opts);
	size_unwinding(tr, opts, processes, unwinds);
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
static void size_maps(const struct proftrace_bpf *skel, const struct tracer_tables *tables)
{
	WIRE_TABLES(SIZE_TABLE)
	WIRE_QUEUES(SIZE_MAP)
	WIRE_MAPS(SIZE_MAP)
}

void tracer__size(struct tracer *tr, const struct tracer_options *opts, size_t processes,
		  bool unwinds)
{
	size_tables(tr, opts, processes, unwinds);
	size_maps(tr->skel, &tr->tables);
}
