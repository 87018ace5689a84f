// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/exporter.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/config_data.h"
#include "agent/ring.h"
#include "agent/service.h"
#include "calls/profile.h"
#include "calls/tree.h"
#include "record/reader.h"
#include "serve/scrape.h"
#include "sink/data/metrics.h"
#include "util/log.h"

#define ROOM	      8192 /* bytes of metrics about the agent as a whole */
#define ROOM_FOR_EACH 4096 /* bytes of metrics about one service or receiver */

struct exporting {
	const struct config *c;
	struct exporter_share *share;
	size_t room;
	struct metrics *metrics;
	struct scrape *scrape;
	struct exporter_place {
		struct ring_place ring;	 /* how far it has come */
		struct timespec changed; /* the folder's time of change, at the last look */
		bool same;		 /* the look before had found the same time */
	} * places;			 /* by service */
	uint32_t seen;			 /* of share::latest */
};

static char *text_at(struct exporter_share *share, size_t room, uint32_t which)
{
	return share->texts + which % 2 * room;
}

static int add_runs(struct exporting *x, struct reader *reader, const char *service)
{
	int err = 0;

	for (size_t i = 0; i < reader__runs(reader) && !err; i++) {
		struct recorded run = {0};

		err = reader__load(reader, i, &run);
		if (!err)
			err = profile__summarize(run.profile);
		if (!err)
			err = metrics__add(x->metrics, run.profile, service);
		recorded__free(&run);
	}
	return err;
}

/* Whether the folder has changed since the last look but one: times of files have steps, within
 * which it may have changed twice. */
static bool has_changed(struct exporter_place *place, const char *folder)
{
	struct stat st;
	bool same;

	if (stat(folder, &st))
		return false;
	same = st.st_mtim.tv_sec == place->changed.tv_sec &&
	       st.st_mtim.tv_nsec == place->changed.tv_nsec;
	if (same && place->same)
		return false;
	place->same = same;
	place->changed = st.st_mtim;
	return true;
}

/* Adds the recordings of a service that have come since. Returns whether there were any. */
static bool add_new(struct exporting *x, size_t service)
{
	const char *name = x->c->services[service].name;
	struct ring_place *place = &x->places[service].ring;
	char folder[PATH_MAX], path[PATH_MAX];
	uint64_t number, waiting, missed = place->missed;
	bool any = false;

	snprintf(folder, sizeof(folder), "%s/%s", x->c->ring, name);
	if (!has_changed(&x->places[service], folder))
		return false;
	while ((number = ring__next(folder, place, path, sizeof(path), &waiting))) {
		struct reader *reader = NULL;

		if (reader__open(path, &reader) || add_runs(x, reader, name))
			place->missed++;
		else
			atomic_fetch_add(&x->share->profiles, 1);
		reader__free(reader);
		place->number = number;
		any = true;
	}
	atomic_fetch_add(&x->share->missed, place->missed - missed);
	return any;
}

/* Writes the agent's text, then the figures. */
static void write_all(struct exporting *x, FILE *out)
{
	uint32_t latest = atomic_load(&x->share->latest);
	char *copy = strndup(text_at(x->share, x->room, latest), x->room - 1);

	/* The agent writes to the other text now, and not to this one for ten seconds. */
	if (copy)
		fputs(copy, out);
	free(copy);
	x->seen = latest;
	fprintf(out,
		"# TYPE proftrace_agent_profiles counter\n"
		"# HELP proftrace_agent_profiles Recordings that are in these figures.\n"
		"proftrace_agent_profiles_total %lu\n"
		"# TYPE proftrace_agent_profiles_missed counter\n"
		"# HELP proftrace_agent_profiles_missed Recordings that could not be read.\n"
		"proftrace_agent_profiles_missed_total %lu\n",
		(unsigned long)atomic_load(&x->share->profiles),
		(unsigned long)atomic_load(&x->share->missed));
	metrics__write(x->metrics, out);
	fputs("# EOF\n", out);
}

static int update(struct exporting *x)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int err = out ? 0 : -ENOMEM;

	if (!err)
		write_all(x, out);
	if (!err && (ferror(out) | fclose(out)))
		err = -ENOMEM;
	if (!err)
		err = scrape__update(x->scrape, text, len);
	free(text);
	return err;
}

static int export_all(struct exporting *x)
{
	const struct timespec step = {.tv_sec = 1};
	int err = update(x);

	while (err != -EPIPE) {
		bool any = atomic_load(&x->share->latest) != x->seen;

		for (size_t i = 0; i < x->c->services_cnt; i++)
			any |= add_new(x, i);
		if (any)
			err = update(x);
		if (err != -EPIPE)
			nanosleep(&step, NULL);
	}
	return err;
}

static void say_as(enum log_level level, const char *line)
{
	if (level <= LOG_WARN)
		fprintf(stderr, "proftrace: %s\n", line);
}

static int run(struct exporting *x)
{
	const struct config_metrics *m = &x->c->metrics;
	const struct metrics_choice choice = {
		.functions = m->functions.items,
		.functions_cnt = m->functions.cnt,
		.sessions = m->sessions.items,
		.sessions_cnt = m->sessions.cnt,
		.max = m->max,
	};
	struct net_address address = m->address;
	char folder[PATH_MAX];
	int err;

	x->places = calloc(x->c->services_cnt, sizeof(*x->places));
	err = x->places ? metrics__new(&choice, &x->metrics) : -ENOMEM;
	for (size_t i = 0; !err && i < x->c->services_cnt; i++) {
		snprintf(folder, sizeof(folder), "%s/%s", x->c->ring, x->c->services[i].name);
		x->places[i].ring.number = ring__last(folder);
	}
	if (!err)
		err = scrape__start(&address, METRICS_CONTENT_TYPE, &x->scrape);
	if (!err)
		err = export_all(x);
	log_unexplained(err);
	return 1;
}

int exporter__begin(struct exporter *e, const struct config *c)
{
	struct exporting x = {.c = c};
	pid_t parent = getpid();

	e->room = ROOM + ROOM_FOR_EACH * (c->services_cnt + c->receivers_cnt);
	if (!e->share) {
		e->share = mmap(NULL, sizeof(*e->share) + 2 * e->room, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (e->share == MAP_FAILED) {
			e->share = NULL;
			return -errno;
		}
	}
	e->pid = fork();
	if (e->pid < 0) {
		e->pid = 0;
		return -errno;
	}
	if (!e->pid) {
		service__become_child(parent, c->lock, c->memory);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		log_divert(say_as);
		x.share = e->share;
		x.room = e->room;
		_exit(run(&x));
	}
	return 0;
}

void exporter__fini(struct exporter *e)
{
	if (e->share)
		munmap(e->share, sizeof(*e->share) + 2 * e->room);
	*e = (struct exporter){0};
}

char *exporter__text(struct exporter *e, size_t *room)
{
	*room = e->room;
	return text_at(e->share, e->room, atomic_load(&e->share->latest) + 1);
}

void exporter__pass_on(struct exporter *e)
{
	atomic_fetch_add(&e->share->latest, 1);
}
