// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/outcome.h"

#include <errno.h>
#include <stdlib.h>

#include "plan/plan.h"
#include "plan/plan_lines.h"
#include "wire.h"

int outcome__grow(struct outcome *o, const struct plan *p)
{
	size_t lines = p->lines ? p->lines->lines_cnt : 0;
	struct function_outcome *functions;
	const char **reasons;

	functions = reallocarray(o->functions, p->functions_cnt + 1, sizeof(*functions));
	if (!functions)
		return -ENOMEM;
	o->functions = functions;
	for (; o->functions_cnt < p->functions_cnt; o->functions_cnt++)
		functions[o->functions_cnt] = (struct function_outcome){0};
	reasons = reallocarray(o->reasons, lines + 1, sizeof(*reasons));
	if (!reasons)
		return -ENOMEM;
	o->reasons = reasons;
	while (o->reasons_cnt < lines)
		reasons[o->reasons_cnt++] = NULL;
	return 0;
}

int outcome__note_called(struct outcome *o, const struct plan *p, const bool *called)
{
	int err = outcome__grow(o, p);

	for (size_t i = 0; !err && i < p->functions_cnt; i++) {
		o->called_cnt += called[i] - o->functions[i].called;
		o->functions[i].called = called[i];
	}
	return err;
}

int outcome__note_dropped(struct outcome *o, const struct plan *p, const bool *dropped)
{
	int err = outcome__grow(o, p);

	for (size_t i = 0; !err && i < p->functions_cnt; i++)
		o->functions[i].dropped = dropped[i];
	return err;
}

void outcome__note_generation(struct outcome *o, size_t function, uint8_t generation)
{
	uint8_t *newest = &o->functions[function].generation;

	if ((uint8_t)(generation - *newest) % WIRE_GENERATIONS < WIRE_GENERATIONS / 2)
		*newest = generation;
}

uint8_t outcome__next_generation(struct outcome *o, size_t function)
{
	uint8_t *newest = &o->functions[function].generation;

	*newest = (*newest + 1) % WIRE_GENERATIONS;
	return *newest;
}

void outcome__clear(struct outcome *o)
{
	free(o->functions);
	free(o->reasons);
	*o = (struct outcome){0};
}
