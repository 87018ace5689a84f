// SPDX-License-Identifier: GPL-2.0-or-later
#include "calls/session_data.h"

#include <stdlib.h>

static void free_sessions(struct session *sessions, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		for (size_t n = 0; n < sessions[i].calls_cnt; n++)
			free((void *)sessions[i].calls[n].values);
		free(sessions[i].calls);
		free(sessions[i].chain);
		free(sessions[i].id);
	}
	free(sessions);
}

void sessions__free(struct sessions *s)
{
	if (!s)
		return;
	for (size_t i = 0; s->groups && i < s->groups_cnt; i++) {
		free_sessions(s->groups[i].slowest, s->groups[i].slowest_cnt);
		free_sessions(s->groups[i].sample, s->groups[i].sample_cnt);
	}
	free(s->groups);
	free(s->paths);
	free(s->waits);
	free(s->threads);
	free(s->links);
	free(s);
}

const struct session_call *session__own_call(const struct session *session)
{
	for (size_t i = 0; i < session->calls_cnt; i++) {
		const struct session_call *c = &session->calls[i];

		if (c->thread == session->thread && !c->caller)
			return c;
	}
	return NULL;
}
