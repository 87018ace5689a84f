// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "calls/profile.h"
#include "calls/tree.h"
#include "machine/code_names.h"
#include "sample/sampler.h"
#include "security/open_files.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"

#define PROCESSES_MAX 65536	    /* that samples have met */
#define PATHS_MAX     262144	    /* functions of processes */
#define ALIVE_NS      1000000000ull /* how often a process's figures are read anew */

/* A process: from when on it was seen tells it from one that had the number before. */
struct seen_process {
	pid_t pid;
	uint64_t started; /* in ticks since the boot; 0: not known */
	char comm[16];
	uint32_t threads;
	uint64_t memory; /* resident, in bytes */
	uint64_t read_ns;
	uint32_t first_path; /* plus 1; 0: none */
	uint32_t next;	     /* with the same hash, plus 1 */
};

struct seen_path {
	uint32_t function;
	uint32_t next; /* of the same process, plus 1 */
	uint64_t samples;
};

#define BUCKETS 4096

struct machine {
	struct sampler *sampler;
	struct code_names *names;
	struct seen_process *processes;
	size_t processes_cnt, processes_cap;
	uint32_t buckets[BUCKETS]; /* processes, by their number; plus 1 */
	struct seen_path *paths;
	size_t paths_cnt, paths_cap;
	uint64_t samples, lost, period_ns;
	uint64_t ring_lost; /* of these, in the rings */
	uint64_t start_ns, stop_ns;
	double start_time;
	int err;
};

int machine__new(unsigned int hz, struct machine **out)
{
	struct machine *m = calloc(1, sizeof(*m));
	struct timespec ts;
	int err = m ? code_names__new(&m->names) : -ENOMEM;

	if (!err) {
		err = sampler__new(hz, &m->sampler);
		if (!err)
			err = sampler__keep(m->sampler);
		if (err)
			log_error("the kernel refuses samples of the whole machine: %s%s",
				  strerror(-err),
				  err == -EACCES || err == -EPERM
					  ? "; it takes root, or CAP_PERFMON and CAP_SYS_PTRACE"
					  : "");
	}
	if (err) {
		machine__free(m);
		return err;
	}
	/* Each file that samples have met is kept open, thousands in the end; and once no more can
	 * be opened nothing is known of processes either. */
	open_files__allow_most();
	clock_gettime(CLOCK_REALTIME, &ts);
	m->start_time = (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
	m->start_ns = now_ns();
	m->period_ns = 1000000000ull / hz;
	sampler__start(m->sampler);
	*out = m;
	return 0;
}

void machine__free(struct machine *m)
{
	if (!m)
		return;
	sampler__free(m->sampler);
	code_names__free(m->names);
	free(m->processes);
	free(m->paths);
	free(m);
}

void machine__stop(struct machine *m)
{
	sampler__stop(m->sampler);
	m->stop_ns = now_ns();
}

/* Reads /proc/PID/stat into `line`. Returns the end of the name, which may have anything in it:
 * ") S 1 ..."; NULL: the process has gone. */
static const char *stat_of(pid_t pid, char *line, size_t size)
{
	char path[64];
	size_t len;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return NULL;
	len = fread(line, 1, size - 1, f);
	fclose(f);
	line[len] = '\0';
	return strrchr(line, ')');
}

static void read_stat(struct seen_process *p)
{
	char line[1024];
	const char *at;
	long pages = 0;

	at = stat_of(p->pid, line, sizeof(line));
	if (!at)
		return;
	sscanf(at + 1,
	       " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %u "
	       "%*d %*u %*u %ld",
	       &p->threads, &pages);
	p->memory = pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static uint64_t started(pid_t pid)
{
	char line[1024];
	unsigned long long ticks = 0;
	const char *at;

	at = stat_of(pid, line, sizeof(line));
	if (at)
		sscanf(at + 1,
		       " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*u "
		       "%*d %llu",
		       &ticks);
	return ticks;
}

static void read_comm(struct seen_process *p)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", p->pid);
	f = fopen(path, "re");
	if (f && fgets(p->comm, sizeof(p->comm), f))
		p->comm[strcspn(p->comm, "\n")] = '\0';
	if (f)
		fclose(f);
}

/* The process's figures as of about now: an ended one's stay as they were. */
static void refresh(struct seen_process *p, uint64_t now)
{
	if (p->read_ns && now < p->read_ns + ALIVE_NS)
		return;
	p->read_ns = now;
	read_comm(p);
	read_stat(p);
}

static struct seen_process *process_of(struct machine *m, pid_t pid, uint64_t now)
{
	uint32_t *bucket = &m->buckets[(uint32_t)pid % BUCKETS];
	struct seen_process *p;
	uint64_t ticks;

	for (uint32_t i = *bucket; i; i = m->processes[i - 1].next) {
		p = &m->processes[i - 1];
		if (p->pid != pid)
			continue;
		if (now < p->read_ns + ALIVE_NS)
			return p;
		ticks = started(pid);
		if (!ticks || ticks == p->started)
			return p;
		code_names__forget(m->names, pid);
		break; /* another process has the number now */
	}
	if (m->processes_cnt >= PROCESSES_MAX ||
	    ARRAY_RESERVE(&m->processes, m->processes_cnt, &m->processes_cap))
		return NULL;
	p = &m->processes[m->processes_cnt++];
	*p = (struct seen_process){.pid = pid, .started = started(pid), .next = *bucket};
	snprintf(p->comm, sizeof(p->comm), "ended");
	*bucket = m->processes_cnt;
	return p;
}

static struct seen_path *path_of(struct machine *m, struct seen_process *p, uint32_t function)
{
	struct seen_path *path;

	for (uint32_t i = p->first_path; i; i = m->paths[i - 1].next) {
		if (m->paths[i - 1].function == function)
			return &m->paths[i - 1];
	}
	if (m->paths_cnt >= PATHS_MAX || ARRAY_RESERVE(&m->paths, m->paths_cnt, &m->paths_cap))
		return NULL;
	path = &m->paths[m->paths_cnt++];
	*path = (struct seen_path){.function = function, .next = p->first_path};
	p->first_path = m->paths_cnt;
	return path;
}

static void take(const struct sample *sample, void *ctx)
{
	struct machine *m = ctx;
	struct seen_process *p;
	struct seen_path *path;
	int64_t function;

	if (!sample->pid)
		return; /* interrupts of a CPU that idles, or processes outside the container */
	m->samples++;
	p = process_of(m, sample->pid, now_ns());
	if (!p) {
		m->lost++;
		return;
	}
	refresh(p, now_ns());
	function = code_names__find(m->names, sample->pid, sample->ip, sample->in_kernel);
	path = function < 0 ? NULL : path_of(m, p, (uint32_t)function);
	if (path)
		path->samples++;
	else
		m->lost++;
}

int machine__poll(struct machine *m)
{
	uint64_t lost;

	code_names__round(m->names);
	sampler__read(m->sampler, take, m);
	lost = sampler__lost(m->sampler) - m->ring_lost;
	m->ring_lost += lost;
	m->samples += lost;
	m->lost += lost;
	return 0;
}

static int fill_functions(const struct machine *m, struct profile *p)
{
	size_t cnt = code_names__count(m->names);

	p->functions = calloc(cnt + 1, sizeof(*p->functions));
	if (!p->functions)
		return -ENOMEM;
	p->functions_cnt = cnt;
	for (size_t i = 0; i < cnt; i++) {
		const struct code_name *n = code_names__at(m->names, i);

		p->functions[i] = (struct profile_function){
			.name = n->name,
			.symbol = n->symbol,
			.module = n->module,
			.offset = n->offset,
			.kind = FUNCTION_CALLER,
		};
	}
	return 0;
}

/* A process's paths: each is a function of its own, that was met so many times. */
static void fill_paths(const struct machine *m, const struct seen_process *s, struct profile *p,
		       uint32_t thread)
{
	for (uint32_t i = s->first_path; i; i = m->paths[i - 1].next) {
		const struct seen_path *path = &m->paths[i - 1];
		uint64_t ns = path->samples * m->period_ns;

		p->nodes[p->nodes_cnt++] = (struct profile_node){
			.function = path->function,
			.thread = thread,
			.stats = {.samples = path->samples,
				  .total_ns = ns,
				  .self_ns = ns,
				  .raw_total_ns = ns,
				  .raw_self_ns = ns,
				  .sampled_ns = ns,
				  .varied_ns = ns,
				  .min_ns = UINT64_MAX},
		};
	}
}

int machine__snapshot(struct machine *m, struct profile **out)
{
	struct profile *p = calloc(1, sizeof(*p));
	uint64_t until_ns = m->stop_ns ? m->stop_ns : now_ns();
	int err = p ? fill_functions(m, p) : -ENOMEM;

	if (!err) {
		p->threads = calloc(m->processes_cnt + 1, sizeof(*p->threads));
		p->nodes = calloc(m->paths_cnt + 1, sizeof(*p->nodes));
		err = p->threads && p->nodes ? 0 : -ENOMEM;
	}
	if (err) {
		profile__free(p);
		return err;
	}
	p->nodes_cnt = 1;
	for (size_t i = 0; i < m->processes_cnt; i++) {
		const struct seen_process *s = &m->processes[i];
		struct profile_thread *t = &p->threads[p->threads_cnt];

		*t = (struct profile_thread){.pid = s->pid,
					     .tid = s->pid,
					     .start_ns = s->started,
					     .threads = s->threads,
					     .memory = s->memory};
		memcpy(t->comm, s->comm, sizeof(t->comm));
		fill_paths(m, s, p, p->threads_cnt++);
	}
	p->start_time = m->start_time;
	p->duration_ns = until_ns - m->start_ns;
	p->sample_period_ns = m->period_ns;
	p->accounting.samples_taken = m->samples;
	p->accounting.samples_lost = m->lost;
	p->accounting.cpu_ns = m->samples * m->period_ns;
	err = profile__connect(p);
	if (err)
		profile__free(p);
	else
		*out = p;
	return err;
}
