// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/service.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command_line.h"
#include "recording/share.h"
#include "target/whom.h"
#include "util/clock.h"
#include "util/log.h"

#define SECOND_NS   1000000000ull
#define LINGER_NS   (60 * SECOND_NS)
#define LOOK_NS	    (2 * SECOND_NS)
#define BACKOFF_NS  SECOND_NS
#define BACKOFF_MAX (300 * SECOND_NS)
#define HEALTHY_NS  (60 * SECOND_NS) /* who lived so long begins anew with a short back-off */
#define MAX_PATHS   "65536"

static bool add(struct service *sv, const char *word)
{
	char **grown = reallocarray(sv->argv, sv->argv_cnt + 2, sizeof(*grown));

	if (!grown)
		return false;
	sv->argv = grown;
	grown[sv->argv_cnt] = strdup(word);
	grown[sv->argv_cnt + 1] = NULL;
	return grown[sv->argv_cnt] ? ++sv->argv_cnt : false;
}

int service__init(struct service *sv, const struct config *c, struct config_service *s)
{
	char interval[32], overhead[32];
	bool ok;

	*sv = (struct service){.config = s, .backoff_ns = BACKOFF_NS};
	sv->name = strdup(s->name);
	snprintf(sv->folder, sizeof(sv->folder), "%s/%s", c->ring, s->name);
	snprintf(interval, sizeof(interval), "%g", (double)c->interval_ns / 1e9);
	snprintf(overhead, sizeof(overhead), s->overhead > 0 ? "%g" : "none", s->overhead);
	ok = sv->name && add(sv, "proftrace") && add(sv, "record") && add(sv, "-i") &&
	     add(sv, interval) && add(sv, "-o") && add(sv, sv->folder) &&
	     add(sv, "--max-overhead") && add(sv, overhead) && add(sv, "--max-paths") &&
	     add(sv, MAX_PATHS);
	for (size_t i = 0; ok && i < s->words_cnt; i++)
		ok = add(sv, s->words[i]);
	if (ok && options__parse(&sv->options, (int)sv->argv_cnt, sv->argv))
		return -EINVAL;
	return ok ? 0 : -ENOMEM;
}

static void free_run(struct service_run *r)
{
	if (r->share)
		munmap(r->share, sizeof(*r->share));
	*r = (struct service_run){0};
}

void service__fini(struct service *sv)
{
	options__clear(&sv->options);
	for (size_t i = 0; i < sv->argv_cnt; i++)
		free(sv->argv[i]);
	free(sv->argv);
	free(sv->name);
	free_run(&sv->run);
	free_run(&sv->old);
	if (sv->turn_fd)
		close(sv->turn_fd);
	*sv = (struct service){0};
}

bool service__same(const struct service *a, const struct service *b)
{
	bool same = a->argv_cnt == b->argv_cnt;

	for (size_t i = 0; same && i < a->argv_cnt; i++)
		same = !strcmp(a->argv[i], b->argv[i]);
	return same;
}

static void say_nothing(enum log_level level, const char *line)
{
}

bool service__anybody(struct service *sv)
{
	const struct options *o = &sv->options;
	const struct whom_spec spec = {
		.pids = o->pids,
		.pids_cnt = o->pids_cnt,
		.names = o->names,
		.names_cnt = o->names_cnt,
		.unit = o->unit,
		.cgroup = o->cgroup,
		.container = o->container,
		.user = o->user,
	};
	struct whom *w = NULL;
	pid_t *pids = NULL;
	size_t cnt = 0;
	bool more;

	log_divert(say_nothing);
	if (!whom__new(&spec, &w))
		whom__find(w, &pids, &cnt, &more);
	log_divert(NULL);
	whom__free(w);
	free(pids);
	return cnt > 0;
}

void service__become_child(pid_t parent, int lock, uint64_t memory)
{
	const struct rlimit limit = {memory, memory};
	sigset_t none;
	int null;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(0);
	for (int s = 1; s < 32; s++)
		signal(s, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	close(lock);
	/* Keys of a terminal are for the agent. */
	setpgid(0, 0);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0)
		dup2(null, STDIN_FILENO);
	setrlimit(RLIMIT_DATA, &limit);
}

static const char *speaker; /* whose messages this process prints */

static void say_as(enum log_level level, const char *line)
{
	if (level <= LOG_WARN)
		fprintf(stderr, "proftrace: %s: %s\n", speaker, line);
}

/* Returns 0 or -errno. */
static int make_turn(struct service *sv, const struct service_engine *engine)
{
	int fd = sv->turn_fd ? sv->turn_fd : engine->make_turn();

	if (fd < 0)
		return fd;
	sv->turn_fd = fd;
	return 0;
}

int service__begin(struct service *sv, const struct config *c, const struct service_engine *engine)
{
	struct run_share *s;
	pid_t parent = getpid(), pid;
	int err = make_turn(sv, engine);

	if (err)
		return err;
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED)
		return -errno;
	s->linger_ns = LINGER_NS;
	s->turn_fd = sv->turn_fd;
	s->turn = ++sv->turns;
	atomic_store(&s->limit_ppm, (uint64_t)(sv->config->overhead * 1e4));
	pid = fork();
	if (pid < 0) {
		munmap(s, sizeof(*s));
		return -errno;
	}
	if (!pid) {
		service__become_child(parent, c->lock, c->memory);
		speaker = sv->name;
		log_divert(say_as);
		sv->options.share = s;
		_exit(engine->run(&sv->options));
	}
	sv->run = (struct service_run){pid, s, false};
	sv->stopping = false;
	sv->began_ns = now_ns();
	sv->starts++;
	return 0;
}

static void keep_sums(struct service *sv, const struct run_share *s)
{
	sv->recordings += atomic_load(&s->recordings);
	sv->unwritten += atomic_load(&s->unwritten);
	sv->probe_ns += atomic_load(&s->probe_ns);
	sv->cpu_ns += atomic_load(&s->cpu_ns);
}

void service_run__end(struct service_run *r)
{
	if (r->pid && !r->told)
		kill(r->pid, SIGTERM);
	r->told = true;
}

void service__ended(struct service *sv, pid_t pid, int status)
{
	bool failed = !WIFEXITED(status) || WEXITSTATUS(status);

	if (pid == sv->old.pid) {
		keep_sums(sv, sv->old.share);
		free_run(&sv->old);
		return;
	}
	if (pid != sv->run.pid)
		return;
	keep_sums(sv, sv->run.share);
	free_run(&sv->run);
	sv->due_ns = now_ns() + LOOK_NS;
	if (!failed || sv->stopping)
		return;
	if (now_ns() - sv->began_ns > HEALTHY_NS)
		sv->backoff_ns = BACKOFF_NS;
	sv->failures++;
	sv->due_ns = now_ns() + sv->backoff_ns;
	log_warn("%s: its recorder has ended (%s %d), begins again in %.0f s", sv->name,
		 WIFEXITED(status) ? "status" : "signal",
		 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
		 (double)sv->backoff_ns / 1e9);
	sv->backoff_ns = sv->backoff_ns * 2 < BACKOFF_MAX ? sv->backoff_ns * 2 : BACKOFF_MAX;
}

struct service_sums service__sums(const struct service *sv)
{
	struct service_sums sums = {sv->recordings, sv->unwritten, sv->probe_ns, sv->cpu_ns};
	const struct run_share *shares[] = {sv->run.share, sv->old.share};

	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		const struct run_share *s = shares[i];

		if (!s)
			continue;
		sums.recordings += atomic_load(&s->recordings);
		sums.unwritten += atomic_load(&s->unwritten);
		sums.probe_ns += atomic_load(&s->probe_ns);
		sums.cpu_ns += atomic_load(&s->cpu_ns);
	}
	return sums;
}
