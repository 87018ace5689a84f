// SPDX-License-Identifier: GPL-2.0-or-later
#include "slo/explain.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls/profile.h"
#include "cli/options.h"
#include "report/recorded_run.h"
#include "security/privilege.h"
#include "security/sandbox.h"
#include "sessions/sessions.h"
#include "sink/text/sessions_summary.h"
#include "timeline/timeline_view.h"
#include "util/io.h"
#include "util/log.h"
#include "views/range.h"

#define ANSWER_MAX 4096
#define SLOWEST	   10

/* Returns p->functions_cnt if there is none. */
static uint32_t find_function(const struct profile *p, const struct explain_question *q)
{
	uint32_t i = 0;

	while (i < p->functions_cnt && (strcmp(p->functions[i].symbol, q->symbol) ||
					strcmp(p->functions[i].module, q->module)))
		i++;
	return i;
}

/* Whether the usual sessions are healthy, so that slow ones can be compared with them. */
static bool has_healthy(const struct sessions *s, uint32_t function, uint64_t limit_ns)
{
	for (size_t i = 0; i < s->groups_cnt; i++) {
		if (s->groups[i].function == function)
			return s->groups[i].usual_cnt && s->groups[i].p50_ns <= limit_ns;
	}
	return false;
}

/* Explains the sessions of the recording from then on; *healthy as above. */
static int explain_from(const struct explain_question *q, uint64_t from_ns, bool *healthy,
			char **text)
{
	const struct options o = {.verb = VERB_REPORT};
	struct session_spec spec = {.slowest = SLOWEST, .cut_at_start = from_ns};
	struct recorded run = {0};
	bool *functions = NULL;
	uint32_t function = 0;
	int err = recorded_run__load(q->path, &o, &run);

	if (!err && !run.profile->timeline)
		err = -ENODATA;
	if (!err && from_ns)
		err = profile__cut(run.profile, &(struct time_range){from_ns, UINT64_MAX});
	if (!err) {
		function = find_function(run.profile, q);
		functions = calloc(run.profile->functions_cnt + 1, sizeof(*functions));
		err = !functions ? -ENOMEM : function == run.profile->functions_cnt ? -ENOENT : 0;
	}
	if (!err) {
		functions[function] = true;
		spec.functions = functions;
		err = sessions__find(run.profile, &spec, &run.profile->sessions);
	}
	if (!err) {
		*healthy = has_healthy(run.profile->sessions, function, q->limit_ns);
		err = sessions_summary__text(run.profile, function, text);
	}
	free(functions);
	recorded__free(&run);
	return err;
}

/* Sessions from when all was exact are best compared with each other. If they were all slow, those
 * before are the healthy ones, of which nothing is known but how long they took. */
static void answer(const struct explain_question *q, int fd)
{
	char *text = NULL, *all = NULL;
	bool healthy = false;
	int err = explain_from(q, q->from_ns, &healthy, &text);

	if ((err || !healthy) && !explain_from(q, 0, &healthy, &all) && healthy && *all) {
		free(text);
		text = all;
	}
	if (text)
		io__write_all(fd, text, strnlen(text, ANSWER_MAX - 1));
}

int explain__start(const struct explain_question *q, struct explainer *e)
{
	int ends[2], err;

	if (pipe2(ends, O_CLOEXEC)) {
		err = -errno;
		log_warn("slow sessions cannot be explained: %s", strerror(-err));
		return err;
	}
	e->pid = fork();
	if (!e->pid) {
		close(ends[0]);
		log_set_level(LOG_ERROR);
		privilege__drop_for_report();
		sandbox__enter(NULL);
		answer(q, ends[1]);
		_exit(0);
	}
	err = e->pid < 0 ? -errno : 0;
	close(ends[1]);
	e->fd = ends[0];
	if (err) {
		log_warn("slow sessions cannot be explained: %s", strerror(-err));
		close(e->fd);
		e->pid = 0;
	}
	return err;
}

static void reap(struct explainer *e)
{
	close(e->fd);
	while (waitpid(e->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*e = (struct explainer){0};
}

bool explain__answer(struct explainer *e, bool wait, char **text)
{
	struct pollfd fd = {.fd = e->fd, .events = POLLIN};
	char buf[ANSWER_MAX];
	ssize_t len;

	if (!e->pid || (!wait && poll(&fd, 1, 0) <= 0))
		return false;
	/* The answer comes in one piece, as it is shorter than a pipe's room. */
	len = io__read_up_to(e->fd, buf, sizeof(buf) - 1);
	buf[len < 0 ? 0 : len] = '\0';
	reap(e);
	*text = strdup(buf);
	return true;
}

void explain__cancel(struct explainer *e)
{
	if (!e->pid)
		return;
	kill(e->pid, SIGKILL);
	reap(e);
}
