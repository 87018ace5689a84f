// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/config.h"
#include "agent/health.h"
#include "agent/state.h"
#include "agent/status.h"
#include "recording/share.h"
#include "util/clock.h"
#include "util/log.h"

#define SECOND_NS  1000000000ull
#define LOOK_NS	   (2 * SECOND_NS)
#define LOOK_SHARE 2000 /* of one CPU's time for looking whether somebody is there */
#define UPKEEP_NS  (10 * SECOND_NS)
#define QUICK_NS   20000000 /* while a run takes over from another one */
#define STOP_S	   20	    /* for runs to write their last interval */
#define LEAST_PPM  1000	    /* of a budget that is lowered for the machine's sake */

/* Makes the folders above a file, and the folder of recordings. */
static int make_folders(const char *path, bool whole)
{
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s", path);
	for (char *at = folder + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		if (mkdir(folder, 0755) && errno != EEXIST)
			return -errno;
		*at = '/';
	}
	return whole && mkdir(folder, 0700) && errno != EEXIST ? -errno : 0;
}

/* Recorders hold a second lock, also of an agent that was killed, until they have written what they
 * have: who counted already would have their last calls twice. */
static void await_recorders(struct agent *a, const char *path)
{
	const struct timespec step = {.tv_nsec = QUICK_NS};
	struct flock all = {.l_type = F_WRLCK};
	uint64_t until_ns = now_ns() + STOP_S * SECOND_NS;
	bool told = false;

	a->recorders_lock = open(path, O_RDWR | O_CLOEXEC);
	while (a->recorders_lock >= 0 && fcntl(a->recorders_lock, F_OFD_SETLK, &all) &&
	       (errno == EAGAIN || errno == EACCES)) {
		if (now_ns() > until_ns) {
			log_warn("recorders of an agent that has ended still run: what they "
				 "record is counted twice");
			return;
		}
		if (!told)
			log_info("waits for recorders of an agent that has ended");
		told = true;
		nanosleep(&step, NULL);
	}
}

/* One agent on a machine: the lock is beside the status. */
static int take_lock(struct agent *a)
{
	char path[PATH_MAX], text[32] = "";
	int err = make_folders(a->config.status, false);

	snprintf(path, sizeof(path), "%s.lock", a->config.status);
	a->lock = err ? -1 : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (a->lock < 0) {
		log_error("cannot open %s: %s", path, strerror(err ? -err : errno));
		return -EACCES;
	}
	if (flock(a->lock, LOCK_EX | LOCK_NB)) {
		if (read(a->lock, text, sizeof(text) - 1) < 0)
			*text = '\0';
		log_error("another agent runs on this machine, process %d (%s): end that one, or "
			  "have it read its configuration again by SIGHUP",
			  atoi(text), path);
		return -EBUSY;
	}
	snprintf(text, sizeof(text), "%d\n", getpid());
	if (ftruncate(a->lock, 0) || write(a->lock, text, strlen(text)) < 0)
		log_warn("cannot write %s: %s", path, strerror(errno));
	await_recorders(a, path);
	return 0;
}

/* Makes services and senders, which do nothing yet, from the configuration. */
static int make_services(struct config *c, struct service **services, size_t *cnt)
{
	int err = 0;

	*services = calloc(c->services_cnt, sizeof(**services));
	*cnt = 0;
	if (!*services)
		return -ENOMEM;
	while (!err && *cnt < c->services_cnt) {
		err = service__init(&(*services)[*cnt], c, &c->services[*cnt]);
		++*cnt;
	}
	return err;
}

static int make_senders(struct agent *a)
{
	a->senders = calloc(a->config.receivers_cnt + 1, sizeof(*a->senders));
	if (!a->senders)
		return -ENOMEM;
	a->senders_cnt = a->config.receivers_cnt;
	for (size_t i = 0; i < a->senders_cnt; i++)
		a->senders[i].config = &a->config.receivers[i];
	return 0;
}

/* Hands a service of the old configuration to the new one. If nothing has changed, its run goes on;
 * else the run ends once its successor is ready. Nobody is about to take over: hands_over(). */
static void take_over(struct service *now, struct service *before)
{
	bool same = service__same(now, before);

	now->run = same ? before->run : (struct service_run){0};
	now->old = same || before->old.pid ? before->old : before->run;
	now->starts = before->starts;
	now->failures = before->failures;
	now->recordings = before->recordings;
	now->unwritten = before->unwritten;
	now->probe_ns = before->probe_ns;
	now->cpu_ns = before->cpu_ns;
	now->began_ns = before->began_ns;
	now->turn_fd = before->turn_fd;
	now->turns = before->turns;
	before->turn_fd = 0;
	before->run = before->old = (struct service_run){0};
}

static void stop_process(pid_t pid)
{
	int status;

	if (pid && !kill(pid, SIGKILL))
		waitpid(pid, &status, 0);
}

static void stop_sender(struct sender *s)
{
	stop_process(s->pid);
	sender__fini(s);
}

static void stop_exporter(struct exporter *e)
{
	stop_process(e->pid);
	exporter__fini(e);
}

/* Whether an agent can go by a configuration; else that is told. */
static bool is_usable(const struct agent *a, struct config *c)
{
	const char *wrong;

	if (config__tell(c, a->path))
		return false;
	wrong = status__wrong_file(c->status);
	if (wrong)
		log_error("%s: status = %s: %s", a->path, c->status, wrong);
	else
		config__warn(c, a->path);
	return !wrong;
}

static void reload(struct agent *a)
{
	struct config fresh, gone;
	struct service *services = NULL;
	size_t cnt = 0;
	int err = config__read(a->path, &fresh);

	status__notify("RELOADING=1");
	if (err || !is_usable(a, &fresh) || make_services(&fresh, &services, &cnt)) {
		log_warn("the agent goes on with the configuration that it has");
		for (size_t i = 0; i < cnt; i++)
			service__fini(&services[i]);
		free(services);
		config__clear(&fresh);
		status__notify("READY=1");
		return;
	}
	fresh.lock = a->lock;
	for (size_t i = 0; i < a->services_cnt; i++) {
		struct service *old = &a->services[i];

		for (size_t j = 0; j < cnt; j++) {
			if (!strcmp(services[j].name, old->name))
				take_over(&services[j], old);
		}
		/* The run is no service's any more; its end is waited for like that of any child.
		 */
		service_run__end(&old->run);
		service_run__end(&old->old);
		service__fini(old);
	}
	for (size_t i = 0; i < a->senders_cnt; i++)
		stop_sender(&a->senders[i]);
	stop_exporter(&a->exporter);
	free(a->senders);
	free(a->services);
	a->services = services;
	a->services_cnt = cnt;
	a->budget.since_ns = 0; /* services that are gone are in no sum any more */
	gone = a->config;
	a->config = fresh;
	config__clear(&gone);
	if (make_senders(a))
		a->senders_cnt = 0;
	make_folders(a->config.ring, true);
	log_info("the configuration was read again");
	status__notify("READY=1");
}

/* Whether the process is one of those that the agent has now, and not of a removed service. */
static bool is_child(const struct agent *a, pid_t pid)
{
	bool found = a->exporter.pid == pid;

	for (size_t i = 0; i < a->services_cnt; i++)
		found |= a->services[i].run.pid == pid || a->services[i].old.pid == pid;
	for (size_t i = 0; i < a->senders_cnt; i++)
		found |= a->senders[i].pid == pid;
	return found;
}

static void reap(struct agent *a)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		/* From its end on, a removed service's process is in the sum of CPU time again. */
		if (!is_child(a, pid))
			a->budget.since_ns = 0;
		for (size_t i = 0; i < a->services_cnt; i++)
			service__ended(&a->services[i], pid, status);
		if (a->exporter.pid == pid) {
			a->exporter.pid = 0;
			a->exporter.due_ns = now_ns() + UPKEEP_NS;
			log_warn("metrics are not served any more; again in 10 s");
		}
		for (size_t i = 0; i < a->senders_cnt; i++) {
			struct sender *s = &a->senders[i];

			if (s->pid != pid)
				continue;
			s->pid = 0;
			s->due_ns = now_ns() + UPKEEP_NS;
			log_warn("receiver %s: its sender has ended, begins again in 10 s",
				 s->config->name);
		}
	}
}

/* Begins, or replaces, the run of a service. Returns whether it is about to take over. */
static bool tend(struct agent *a, struct service *sv)
{
	uint64_t looked_ns = now_ns(), took_ns;
	int err;

	if (sv->run.pid && sv->old.pid && atomic_load(&sv->run.share->ready))
		service_run__end(&sv->old);
	if (sv->run.pid || a->stopping || looked_ns < sv->due_ns)
		return sv->old.pid != 0;
	sv->found = service__anybody(sv);
	took_ns = now_ns() - looked_ns;
	sv->due_ns = now_ns() + (took_ns * LOOK_SHARE > LOOK_NS ? took_ns * LOOK_SHARE : LOOK_NS);
	if (!sv->found) {
		if (!sv->told)
			log_info("%s: nobody is there yet", sv->name);
		sv->told = true;
		return sv->old.pid != 0;
	}
	sv->told = false;
	a->budget.since_ns = 0; /* a start is no measure of what follows */
	err = service__begin(sv, &a->config, a->engine);
	if (err)
		log_error("%s: cannot begin: %s", sv->name, strerror(-err));
	return sv->old.pid != 0;
}

/* The probes of all and what we take ourselves may take so much of the machine. Sums of probes
 * change with each interval. */
static void keep_budget(struct agent *a)
{
	double allowed = (double)sysconf(_SC_NPROCESSORS_ONLN) * a->config.overhead / 100;
	uint64_t spent_ns = a->cpu_ns, now = now_ns();
	struct machine_budget *b = &a->budget;

	for (size_t i = 0; i < a->services_cnt; i++)
		spent_ns += service__sums(&a->services[i]).probe_ns;
	if (b->since_ns && now - b->since_ns < 2 * a->config.interval_ns)
		return;
	machine_budget__judge(b, spent_ns, allowed, now);
	for (size_t i = 0; i < a->services_cnt; i++) {
		const struct service *sv = &a->services[i];
		double ppm = sv->config->overhead * 1e4 * b->scale;

		if (sv->run.share)
			atomic_store(&sv->run.share->limit_ppm,
				     (uint64_t)(ppm < LEAST_PPM ? LEAST_PPM : ppm));
	}
}

static void bound_ring(struct agent *a)
{
	const struct ring_time now = {
		.set = time(NULL),
		.steady = a->clock_ahead_s + (int64_t)(clock_ns(CLOCK_BOOTTIME) / SECOND_NS),
	};

	ring__bound(a->config.ring, a->config.size, a->config.keep_s, now, &a->ring);
}

static void upkeep(struct agent *a)
{
	uint64_t now = now_ns();
	char line[160];

	if (now < a->upkeep_due_ns)
		return;
	bound_ring(a);
	status__measure(a, (double)(now - a->upkeep_due_ns + UPKEEP_NS) / 1e9);
	keep_budget(a);
	status__write(a);
	health__write(a);
	snprintf(line, sizeof(line),
		 "STATUS=%zu services, %lu recordings, %.2f %% of a CPU, %lu MB", a->services_cnt,
		 (unsigned long)a->ring.recordings, a->cpu_percent,
		 (unsigned long)((a->memory + a->kernel) >> 20));
	status__notify(line);
	a->upkeep_due_ns = now + UPKEEP_NS;
}

/* Has all recorders write what they have, and waits for that. */
static void stop_all(struct agent *a)
{
	uint64_t until_ns = now_ns() + STOP_S * SECOND_NS;
	const struct timespec step = {.tv_nsec = QUICK_NS};
	bool alive = true;

	a->stopping = true;
	status__notify("STOPPING=1");
	for (size_t i = 0; i < a->services_cnt; i++) {
		a->services[i].stopping = true;
		service_run__end(&a->services[i].run);
		service_run__end(&a->services[i].old);
	}
	while (alive && now_ns() < until_ns) {
		nanosleep(&step, NULL);
		reap(a);
		alive = false;
		for (size_t i = 0; i < a->services_cnt; i++)
			alive |= a->services[i].run.pid || a->services[i].old.pid;
	}
	bound_ring(a);
	status__write(a);
	for (size_t i = 0; i < a->senders_cnt; i++)
		stop_sender(&a->senders[i]);
	stop_exporter(&a->exporter);
}

static void begin_exporter(struct agent *a)
{
	struct exporter *e = &a->exporter;

	if (!a->config.metrics.line || e->pid || now_ns() < e->due_ns)
		return;
	e->due_ns = now_ns() + UPKEEP_NS;
	if (exporter__begin(e, &a->config))
		log_error("metrics: cannot begin: %s", strerror(errno));
	else
		health__write(a);
}

static void begin_senders(struct agent *a)
{
	for (size_t i = 0; i < a->senders_cnt; i++) {
		struct sender *s = &a->senders[i];

		if (s->pid || now_ns() < s->due_ns)
			continue;
		s->due_ns = now_ns() + UPKEEP_NS;
		if (sender__begin(s, &a->config))
			log_error("receiver %s: cannot begin: %s", s->config->name,
				  strerror(errno));
	}
}

/* Whether a run is about to replace another one. Neither may be told to end: calls would count in
 * none. */
static bool hands_over(const struct agent *a)
{
	for (size_t i = 0; i < a->services_cnt; i++) {
		if (a->services[i].run.pid && a->services[i].old.pid)
			return true;
	}
	return false;
}

static void go_on(struct agent *a, const sigset_t *signals)
{
	bool quick = false, changed = false;

	for (;;) {
		const struct timespec wait = {quick ? 0 : 1, quick ? QUICK_NS : 0};
		int s = sigtimedwait(signals, NULL, &wait);

		if (s == SIGTERM || s == SIGINT)
			return;
		changed |= s == SIGHUP;
		reap(a);
		if (changed && !hands_over(a)) {
			reload(a);
			changed = false;
		}
		quick = false;
		for (size_t i = 0; i < a->services_cnt; i++)
			quick |= tend(a, &a->services[i]);
		begin_senders(a);
		begin_exporter(a);
		upkeep(a);
	}
}

static int prepare(struct agent *a)
{
	int err = config__read(a->path, &a->config);

	if (!err && !is_usable(a, &a->config))
		err = -EINVAL;
	if (!err)
		err = take_lock(a);
	if (err)
		return err;
	a->config.lock = a->lock;
	err = make_folders(a->config.ring, true);
	if (err) {
		log_error("cannot make %s: %s", a->config.ring, strerror(-err));
		return err;
	}
	err = make_services(&a->config, &a->services, &a->services_cnt);
	return err ? err : make_senders(a);
}

int agent__run(const char *path, const struct service_engine *engine)
{
	struct agent a = {
		.path = path,
		.engine = engine,
		.lock = -1,
		.recorders_lock = -1,
		.clock_ahead_s = time(NULL) - (int64_t)(clock_ns(CLOCK_BOOTTIME) / SECOND_NS),
		.budget.scale = 1,
	};
	sigset_t signals;
	int err = prepare(&a);

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	if (!err) {
		log_info("agent: %zu service%s, recordings in %s, status in %s", a.services_cnt,
			 a.services_cnt == 1 ? "" : "s", a.config.ring, a.config.status);
		status__notify("READY=1");
		go_on(&a, &signals);
		stop_all(&a);
	}
	log_unexplained(err);
	for (size_t i = 0; i < a.services_cnt; i++)
		service__fini(&a.services[i]);
	free(a.services);
	free(a.senders);
	config__clear(&a.config);
	if (a.recorders_lock >= 0)
		close(a.recorders_lock);
	if (a.lock >= 0)
		close(a.lock);
	return err ? 1 : 0;
}
