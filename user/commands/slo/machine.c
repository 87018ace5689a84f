// SPDX-License-Identifier: GPL-2.0-or-later
#include "slo/machine.h"

/* In windows. */
#define WATCH	  5
#define RECORD	  3
#define REST	  10
#define REST_MOST 600

#define RECOVERED 2 /* healthy windows in a row */

void slo_machine__init(struct slo_machine *m, uint64_t window_ns, uint64_t now_ns)
{
	*m = (struct slo_machine){
		.window_ns = window_ns,
		.since_ns = now_ns,
		.rest_ns = REST * window_ns,
	};
}

static void enter(struct slo_machine *m, enum slo_state state, uint64_t now_ns)
{
	m->state = state;
	m->since_ns = now_ns;
	m->healthy = 0;
}

/* Whether all that is wanted of a broken rule is there. */
static bool is_recorded(const struct slo_machine *m, uint64_t now_ns)
{
	return m->healthy >= RECOVERED || now_ns - m->broken_ns >= RECORD * m->window_ns;
}

static enum slo_action begin(struct slo_machine *m, uint64_t now_ns)
{
	/* After a long healthy time the rest begins at its first length again. */
	if (now_ns - m->since_ns >= m->rest_ns)
		m->rest_ns = REST * m->window_ns;
	m->broken_ns = now_ns;
	enter(m, SLO_WATCHING, now_ns);
	return SLO_LOOK_CLOSER;
}

static enum slo_action finish(struct slo_machine *m, enum slo_action action, uint64_t now_ns)
{
	enter(m, SLO_CALM, now_ns);
	return action;
}

enum slo_action slo_machine__tick(struct slo_machine *m, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - m->since_ns;

	switch (m->state) {
	case SLO_WATCHING:
		if (passed_ns >= WATCH * m->window_ns)
			return finish(m, SLO_LET_GO, now_ns);
		break;
	case SLO_RECORDING:
		if (is_recorded(m, now_ns))
			return finish(m, SLO_WRITE, now_ns);
		break;
	case SLO_CALM:
		if (passed_ns < m->rest_ns)
			break;
		enter(m, SLO_HEALTHY, now_ns);
		m->rest_ns *= 2;
		if (m->rest_ns > REST_MOST * m->window_ns)
			m->rest_ns = REST_MOST * m->window_ns;
		break;
	default:
		break;
	}
	return SLO_NOTHING;
}

enum slo_action slo_machine__judged(struct slo_machine *m, bool broken, uint64_t now_ns)
{
	m->healthy = broken ? 0 : m->healthy + 1;
	if (broken && m->state == SLO_HEALTHY)
		return begin(m, now_ns);
	if (broken && m->state == SLO_WATCHING)
		enter(m, SLO_RECORDING, now_ns);
	return slo_machine__tick(m, now_ns);
}

enum slo_action slo_machine__end(struct slo_machine *m, uint64_t now_ns)
{
	enum slo_state state = m->state;

	enter(m, SLO_CALM, now_ns);
	return state == SLO_RECORDING || state == SLO_WATCHING ? SLO_WRITE : SLO_NOTHING;
}
