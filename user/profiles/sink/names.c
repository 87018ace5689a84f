// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "calls/profile.h"

char *thread__name(const struct profile_thread *t, char buf[THREAD_NAME_LEN])
{
	const char *of = t->spans ? SPANS_OF : "";

	if (*t->title)
		snprintf(buf, THREAD_NAME_LEN, "%s", t->title);
	else if (t->goroutine)
		snprintf(buf, THREAD_NAME_LEN, "%s%s-%d/goroutine_%" PRIu64, of, t->comm, t->pid,
			 t->goroutine);
	else
		snprintf(buf, THREAD_NAME_LEN, "%s%s-%d/%d%s", of, t->comm, t->pid, t->tid,
			 t->callstack_ns && !t->spans ? "+stack" : "");
	return buf;
}

char *process__name(const struct profile_thread *t, char buf[THREAD_NAME_LEN])
{
	snprintf(buf, THREAD_NAME_LEN, "%s%s-%d", t->spans ? SPANS_OF : "", t->comm, t->pid);
	return buf;
}

uint64_t thread__number(const struct profile_thread *t)
{
	return t->goroutine ? t->goroutine : (uint64_t)t->tid;
}

const char *function__name(const struct profile_function *f)
{
	return f->name && *f->name ? f->name : "[unknown]";
}

char *target__name(const struct profile_target *t, char *buf, size_t size)
{
	char *const *arg;
	size_t len = 0, i;

	*buf = '\0';
	for (arg = t->command; arg && *arg && len < size; arg++)
		len += snprintf(buf + len, size - len, "%s%s", len ? " " : "", *arg);
	if (!len && t->exec)
		len = snprintf(buf, size, "%s", t->exec);
	for (i = 0; !t->command && !t->exec && i < t->pids_cnt && len < size; i++)
		len += snprintf(buf + len, size - len, "%s%d", i ? ", " : "PID ", t->pids[i]);
	return buf;
}

/* The name that the first threads of all processes have; NULL: they have several, or none is
 * known. */
static const char *common_name(const struct profile *p)
{
	const char *name = NULL;

	for (size_t i = 0; i < p->threads_cnt; i++) {
		const struct profile_thread *t = &p->threads[i];

		if (t->pid != t->tid || !*t->comm)
			continue;
		if (name && strcmp(name, t->comm) != 0)
			return NULL;
		name = t->comm;
	}
	return name;
}

char *profile__title(const struct profile *p, char *buf, size_t size)
{
	const struct profile_target *t = &p->target;
	const char *name = t->command || t->exec || !t->pids_cnt ? NULL : common_name(p);
	size_t len = name ? snprintf(buf, size, "%s, ", name) : 0;

	target__name(t, buf + len, size - len);
	return buf;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *service__name(const struct profile *p, char buf[SERVICE_NAME])
{
	const char *found = NULL;

	if (p->target.exec)
		found = base_name(p->target.exec);
	else if (p->target.command && p->target.command[0])
		found = base_name(p->target.command[0]);
	for (size_t i = 0; i < p->threads_cnt && !found; i++) {
		if (p->threads[i].pid == p->threads[i].tid && *p->threads[i].comm)
			found = p->threads[i].comm;
	}
	snprintf(buf, SERVICE_NAME, "%s", found ? found : "unknown");
	return buf;
}
