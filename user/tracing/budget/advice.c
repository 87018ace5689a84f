// SPDX-License-Identifier: GPL-2.0-or-later
#include "budget/advice.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "budget/budget.h"
#include "plan/plan.h"
#include "util/log.h"
#include "util/text.h"

#define NAMED_MAX 3 /* functions that a message names */
#define NAME_ROOM 400

/* The dearest, and what all of them cost together. */
struct dearest {
	uint32_t items[NAMED_MAX];
	size_t cnt;
	double sum_ns;
};

enum which { ALL, BY_OPTIONS, CHOSEN };

static bool is_one(const struct budget_function *f, enum which which)
{
	return which == ALL || (which == CHOSEN ? f->chosen : f->kept && !f->chosen);
}

static struct dearest find_dearest(const struct budget_function *functions, size_t cnt,
				   enum which which)
{
	struct dearest d = {0};

	for (size_t i = 0; i < cnt; i++) {
		double cost = budget__cost_ns(&functions[i]);
		size_t at;

		if (functions[i].gone || !(cost > 0) || !is_one(&functions[i], which))
			continue;
		d.sum_ns += cost;
		for (at = d.cnt; at && budget__cost_ns(&functions[d.items[at - 1]]) < cost; at--) {
			if (at < NAMED_MAX)
				d.items[at] = d.items[at - 1];
		}
		if (at == NAMED_MAX)
			continue;
		d.items[at] = i;
		d.cnt += d.cnt < NAMED_MAX;
	}
	return d;
}

/* "memcpy (210%), memset (90.0%)" */
static const char *name_dearest(const struct plan *p, const struct budget_function *functions,
				const struct dearest *d, double own_ns, char buf[NAME_ROOM])
{
	size_t len = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < d->cnt; i++) {
		char name[100], share[32];

		text_escape(plan__name(p, d->items[i]), name, sizeof(name));
		len += snprintf(
			buf + len, NAME_ROOM - len, "%s%s (%s)", i ? ", " : "", name,
			text_percent(100 * budget__cost_ns(&functions[d->items[i]]) / own_ns, share,
				     sizeof(share)));
	}
	return buf;
}

void advice__unlimited(const struct plan *p, const struct budget_function *functions, size_t cnt,
		       double own_ns)
{
	struct dearest d = find_dearest(functions, cnt, ALL);
	char names[NAME_ROOM], share[32];

	log_warn("the probes cost %s of the target's own CPU time, and -F sets no budget; most of "
		 "it: %s; -N leaves functions out, --max-overhead 5 keeps to 5 %%",
		 text_percent(100 * d.sum_ns / own_ns, share, sizeof(share)),
		 name_dearest(p, functions, &d, own_ns, names));
}

bool advice__kept(const struct plan *p, const struct budget_function *functions, size_t cnt,
		  double own_ns, double limit)
{
	struct dearest d = find_dearest(functions, cnt, BY_OPTIONS);
	char names[NAME_ROOM], share[32], most[32];

	if (d.sum_ns <= limit * own_ns)
		return false;
	log_warn("what options name costs %s of the target's own CPU time, more than the budget of "
		 "%s, and is not dropped: %s; one call in %.0f would keep to it",
		 text_percent(100 * d.sum_ns / own_ns, share, sizeof(share)),
		 text_percent(100 * limit, most, sizeof(most)),
		 name_dearest(p, functions, &d, own_ns, names), ceil(d.sum_ns / (limit * own_ns)));
	return true;
}

bool advice__chosen(const struct plan *p, const struct budget_function *functions, size_t cnt,
		    double own_ns, double limit)
{
	struct dearest d = find_dearest(functions, cnt, CHOSEN);
	char names[NAME_ROOM], share[32], most[32];

	if (d.sum_ns <= limit * own_ns)
		return false;
	log_warn("what is made exact costs %s of the target's CPU time; the budget is %s: %s",
		 text_percent(100 * d.sum_ns / own_ns, share, sizeof(share)),
		 text_percent(100 * limit, most, sizeof(most)),
		 name_dearest(p, functions, &d, own_ns, names));
	return true;
}
